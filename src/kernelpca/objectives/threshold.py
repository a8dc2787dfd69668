"""Objectives with one number, at which rows or entries of the scores begin to count less, or at all."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from kernelpca.objectives.protocol import Objective


class Threshold(Objective):
    """An objective with a threshold, given as a number or as a fraction of the largest useful one.

    A subclass names its parameter (`parameter`), its norms with what each does (`norms`), says whether zero is allowed
    (`zero`), and measures what is compared with the threshold (`sizes`).
    """

    parameter: ClassVar[str]
    norms: ClassVar[dict[str, str]]
    zero: ClassVar[bool] = False
    norm: str

    @abstractmethod
    def sizes(self, Y: np.ndarray) -> np.ndarray:
        """(n, s) -> what is compared with the threshold: (n, 1) for rows, (n, s) for entries, (1, 1) for the whole."""

    @property
    def threshold(self) -> Any:
        """The number, or one for each row (n, 1)."""
        given = getattr(self, self.parameter)
        if isinstance(given, np.ndarray):
            return given
        number, fraction = self._read()
        if fraction:
            raise ValueError(f"{self!r} is a fraction of what the square solution gives: call resolve(scores) first.")
        return number

    def check(self) -> None:
        """Refuse a threshold or a norm that has no meaning."""
        if not (isinstance(self.norm, str) and self.norm in self.norms):
            listed = ", ".join(f"{name!r} ({what})" for name, what in self.norms.items())
            raise ValueError(f"{type(self).__name__}(norm={self.norm!r}): choose one of {listed}.")
        if not isinstance(getattr(self, self.parameter), np.ndarray):
            self._read()

    @property
    def relative(self) -> bool:
        """Whether the threshold is a fraction of the largest useful one."""
        return not isinstance(getattr(self, self.parameter), np.ndarray) and self._read()[1]

    def resolve(self, Y: np.ndarray) -> Self:
        """Return the same with a number; Y (n, s) are the scores of the square solution, by axes."""
        if isinstance(getattr(self, self.parameter), np.ndarray):
            return self
        number, fraction = self._read()
        return self._with(number * self.largest(Y) if fraction else number)

    def largest(self, Y: np.ndarray) -> float:
        """Return the least threshold that nothing of the scores Y (n, s) of the square solution exceeds."""
        return float(self.sizes(Y).max())

    def weighted(self, roots: np.ndarray) -> Self:
        """Return the same with the threshold of row i times roots_i."""
        return self._with(self.threshold * roots[:, None])

    def _with(self, threshold: Any) -> Self:
        return clone(self).set_params(**{self.parameter: threshold})

    def _read(self) -> tuple[float, bool]:
        """Return the number, and whether it is a fraction of the largest useful one ("0.8max")."""
        given = getattr(self, self.parameter)
        number, fraction = given, False
        if isinstance(given, str) and given.endswith("max"):
            fraction = True
            try:
                number = float(given.removesuffix("max") or 1)
            except ValueError:
                number = None
        is_number = isinstance(number, int | float | np.number) and not isinstance(number, bool)
        if is_number and (number > 0 or (self.zero and number == 0)):
            return float(number), fraction
        least = "0 (the square objective) or more" if self.zero else "positive"
        raise ValueError(
            f"{type(self).__name__}({self.parameter}={given!r}): {self.parameter} must be {least}: a number, or a "
            'fraction of the largest useful one such as "0.5max".'
        )


def row_norms(Y: np.ndarray) -> np.ndarray:
    """(n, s) -> (n, 1): the length of each row."""
    return np.linalg.norm(Y, axis=1, keepdims=True)


def share_within(limit: Any, sizes: np.ndarray) -> np.ndarray:
    """limit / size, at most one: the part of each size that lies within the limit."""
    return np.divide(limit, sizes, out=np.ones(np.broadcast(limit, sizes).shape), where=sizes > limit)
