"""How many components: a number, a share of the variance, a threshold, or all there are."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

FIRST_GUESS = 32


@dataclass(frozen=True)
class Components:
    """A rule that picks the number of components from the eigenvalues.

    Attributes
    ----------
    kind : {"count", "fraction", "relative", "positive"}
        A fixed number; the smallest number that keeps a fraction of the variance (digest eq. 3; tutorial 2.5, where
        p is the part kept); all eigenvalues above a fraction of the first (tutorial 2.5, third rule); all that are
        positive among the first so many.
    amount : float
        The number or the fraction.
    likely : int
        About how many it will be, where the number is not fixed.
    """

    kind: str
    amount: float = 0.0
    likely: int = FIRST_GUESS

    def __str__(self) -> str:
        amount = int(self.amount) if self.is_count else self.amount
        return str((self.kind, amount) if self.kind == "relative" else amount)

    @property
    def count(self) -> int | None:
        """The number of components, where it is fixed."""
        return int(self.amount) if self.is_count else None

    @property
    def is_count(self) -> bool:
        """Whether the number is fixed."""
        return self.kind == "count"

    def first_guess(self, n: int) -> int:
        """Return how many eigenpairs to ask for at first."""
        return int(self.amount) if self.kind in ("count", "positive") else min(self.likely, n)

    def select(self, values: np.ndarray, total: float, zero: float, n: int) -> int | None:
        """(k,) largest eigenvalues -> how many of them to keep, or None if more are needed to tell."""
        if self.kind == "count":
            return int(self.amount)
        positive = int((values > zero).sum())
        if self.kind == "fraction":
            if total <= 0 < positive:
                raise ValueError(
                    f"n_components={self.amount}: there is no whole to keep a part of, for all eigenvalues sum to "
                    f"{total:.3g}: many are negative, as the kernel is not positive definite on this data. Give a "
                    "number of components, or choose a positive definite kernel."
                )
            kept = np.cumsum(np.maximum(values[:positive], 0.0))
            enough = np.flatnonzero(kept >= self.amount * total * (1 - 1e-12))
            if enough.size:
                return int(enough[0]) + 1
        elif self.kind == "relative":
            above = int((values[:positive] >= self.amount * values[0]).sum()) if positive else 0
            if above < len(values):
                return above
        if self.kind == "positive" or positive < len(values) or len(values) == n:
            return positive
        return None

    def least(self, values: np.ndarray, total: float) -> int:
        """(k,) largest eigenvalues that are too few -> how many are needed at least, as none after them is larger."""
        if self.kind != "fraction":
            return len(values) + 1
        missing = self.amount * total - float(np.maximum(values, 0.0).sum())
        return len(values) + int(np.ceil(missing / values[-1]))


def as_components(given: Any, n: int) -> Components:
    """Read the parameter `n_components` for n samples."""
    if given is None:
        return Components("positive", n)
    if isinstance(given, Integral) and not isinstance(given, bool | np.bool_):
        if 1 <= int(given) <= n:
            return Components("count", int(given))
        raise ValueError(
            f"n_components={given} is not possible with n_samples = {n}: at least 1, and at most one for each "
            f"sample. Give an int from 1 to {n}, a fraction of the variance such as 0.95, or None for all."
        )
    if isinstance(given, Real) and not isinstance(given, bool | np.bool_):
        if 0 < float(given) < 1:
            return Components("fraction", float(given))
    elif isinstance(given, tuple | list) and len(given) == 2 and given[0] == "relative":
        if isinstance(given[1], Real) and 0 < float(given[1]) < 1:
            return Components("relative", float(given[1]))
        raise ValueError(
            f"n_components={given!r}: the threshold must lie between 0 and 1, such as ('relative', 1e-3) for all "
            "eigenvalues above a thousandth of the first."
        )
    raise ValueError(
        f"n_components={given!r} is not understood. Give an int (that many), a float between 0 and 1 (the smallest "
        "number that keeps this fraction of the variance), ('relative', eps) (all eigenvalues above eps times the "
        "first) or None (all that are positive)."
    )
