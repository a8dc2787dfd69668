"""What the values of a model must be, and the refusal of those that are not."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse

from kernelpca.persistence import catalogue
from kernelpca.persistence.arrays import in_memory_order
from kernelpca.persistence.errors import damaged

BLOCK = 2**20  # numbers that are looked at together
MOST = 2**62  # of counts and of bytes


def demand(condition: Any, what: str) -> None:
    """Refuse unless a condition holds."""
    if not condition:
        raise damaged(f"It is not consistent: {what}")


def is_a(value: Any, package: str) -> bool:
    """Whether a value is of a class of this package, or of this class."""
    name = catalogue.name_of(value)
    return name == package or name.startswith(package + ".")


def whole(value: Any, what: str, least: int = 0, most: int = MOST) -> int:
    """Return an integer within limits."""
    good = isinstance(value, int | np.integer) and not isinstance(value, bool) and least <= value <= most
    demand(good, f"{what} is no whole number from {least} to {most}")
    return int(value)


def number(value: Any, what: str, infinite: bool = False) -> None:
    """Refuse what is no number, or not finite."""
    good = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    demand(good and (infinite or np.isfinite(float(value))), f"{what} is no finite number")


def array(value: Any, what: str, *shape: int | None, kinds: str = "f", infinite: bool = False) -> np.ndarray:
    """Return an array of this shape (None: any length) and kind, with finite numbers."""
    good = isinstance(value, np.ndarray) and value.dtype.kind in kinds and value.ndim == len(shape)
    demand(good and all(want is None or n == want for n, want in zip(value.shape, shape, strict=True)), (
        f"{what} is no array of the shape that it should have, "
        f"({', '.join('any' if n is None else str(n) for n in shape)})"
    ))  # fmt: skip
    demand(infinite or is_finite(value), f"{what} has entries that are not finite")
    return value


def is_finite(value: np.ndarray) -> bool:
    """Whether all numbers are finite, a block of them at a time."""
    flat = in_memory_order(value)[0].reshape(-1)
    return value.dtype.kind != "f" or all(
        bool(np.isfinite(flat[i : i + BLOCK]).all()) for i in range(0, len(flat), BLOCK)
    )


def rows(value: Any, what: str) -> tuple[int, int | None]:
    """Return the numbers of rows and of columns of rows of numbers; None for the columns of texts."""
    if sparse.issparse(value):
        demand(value.format == "csr", f"{what} is stored by columns")  # so that its rows are there, and not just said
        array(value.data, what, None)
        demand(min(value.shape) >= 1, f"{what} has no rows")
        return value.shape
    if isinstance(value, np.ndarray) and value.dtype == object:
        demand(value.ndim == 1 and len(value), f"{what} is no list of texts")
        return len(value), None
    n, d = array(value, what, None, None).shape
    demand(n >= 1, f"{what} has no rows")
    return n, d


def origin(value: Any, d: int | None) -> None:
    """Refuse an origin that does not belong to rows of d columns."""
    if value is not None:
        demand(d is not None, "texts have no origin")
        array(value, "origin", d)


@contextmanager
def trying() -> Iterator[None]:
    """Refuse a model that fails on rows it is known to take, for whatever reason."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except Exception as error:
        if isinstance(error, MemoryError) and not (type(error) is MemoryError and error.args):
            raise  # there is no memory left, which is no fault of the file
        cause = " ".join(str(error).split())[:300]
        raise damaged(f"It cannot be used ({type(error).__name__}: {cause})") from error
