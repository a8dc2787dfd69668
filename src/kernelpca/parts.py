"""A part: a small object with named parameters that an estimator is composed of (kernel, solver, pre-image)."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator


class Part(BaseEstimator):
    """Parameters by name, readable, comparable and tunable: `get_params`, `set_params`, `repr`, `==`.

    `__init__` only stores what it is given, under the same names; checks happen when the part is used.
    So scikit-learn's `clone` and `GridSearchCV` treat parts like any nested estimator.
    """

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """List the names of the parameters: reading the signature each time would take longer than a small fit."""
        return super()._get_param_names()

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.get_params(deep=False).items())
        return f"{type(self).__name__}({given})"

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        mine, theirs = self.get_params(deep=False), other.get_params(deep=False)
        return mine.keys() == theirs.keys() and all(_same(mine[name], theirs[name]) for name in mine)

    def __hash__(self) -> int:
        return hash((type(self).__name__, tuple(self.get_params(deep=False))))


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    return a is b or bool(a == b)


def explain_unknown(given: Any, what: str, where: str, known: Iterable[str], aliases: dict[str, str]) -> str:
    """Say why `given` stands for no part: a class without parentheses, or a name that is none."""
    if isinstance(given, type):
        return f"{what}={given.__name__} is a class: write {given.__name__}(), with parentheses."
    text = f"{what}={given!r} stands for no {what}."
    if isinstance(given, str):
        near = aliases.get(given.lower()) or next(iter(get_close_matches(given.lower(), known, n=1, cutoff=0.6)), None)
        text += f" Did you mean {near!r}?" if near else ""
    return f"{text} Known names: {', '.join(sorted(known))}; or give an object of {where}."


def check_whole(value: Any, name: str, part: Part, least: int = 1) -> int:
    """Return a whole number that is at least so large, or say what is allowed."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{type(part).__name__}({name}={value!r}): {name} must be a whole number >= {least}.")
    return int(value)
