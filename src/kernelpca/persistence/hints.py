"""Whether a value is what the annotation of a field says."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import numpy as np

NUMBERS: dict[Any, tuple[type, ...]] = {
    float: (int, float, np.integer, np.floating),
    int: (int, np.integer),
    bool: (bool, np.bool_),
}


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of the type of an annotation; numbers of NumPy and of Python are alike."""
    if hint is Any:
        return True
    if hint in (None, NoneType):
        return value is None
    if hint in NUMBERS:
        return isinstance(value, NUMBERS[hint]) and (hint is bool or not isinstance(value, bool))
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(fits(value, one) for one in inner)
    if origin is list:
        return isinstance(value, list) and all(fits(item, inner[0]) for item in value)
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        kinds = inner[:1] * len(value) if inner[1:] == (Ellipsis,) else inner
        return len(kinds) == len(value) and all(fits(item, kind) for item, kind in zip(value, kinds, strict=True))
    return isinstance(value, origin or hint)
