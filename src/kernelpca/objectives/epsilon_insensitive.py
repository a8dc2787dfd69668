"""The epsilon-insensitive objective: scores up to epsilon do not count, so that most rows can be left out."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelpca.objectives.protocol import Objective, check_norm, read_amount, row_norms, share_within

NORMS = {"2": "rows of H become zero", "inf": "entries of H become zero"}


class EpsilonInsensitive(Objective):
    """Psi is zero in the ball of radius epsilon and infinite outside: a penalty epsilon |H|_* that makes H sparse.

    Parameters
    ----------
    epsilon : float or str, default="0.3max"
        Scores whose row ("2") or entry ("inf") is at most this large do not count: 0 for the square objective, or a
        fraction of the largest useful one, from which on nothing of the square solution counts.
    norm : {"2", "inf"}, default="2"
        Largest length of a row, or largest entry. Rows of H that are zero need not be kept; zero entries in other rows
        save nothing, since every direction is a combination of all columns of H.

    References
    ----------
    Tonin, Lambert, Patrinos, Suykens (2023), definition 4.2.
    """

    def __init__(self, epsilon: Any = "0.3max", norm: str = "2") -> None:
        self.epsilon = epsilon
        self.norm = norm

    def value(self, Y: np.ndarray) -> float:
        """(n, s) -> 0 within epsilon, else infinity."""
        return 0.0 if (self._sizes(Y) <= self._width()).all() else float("inf")

    def conjugate(self, H: np.ndarray) -> float:
        """(n, s) -> epsilon times the sum of the lengths of rows, or of absolute entries."""
        return float((self._width() * self._sizes(H)).sum())

    def prox_conjugate(self, Y: np.ndarray) -> np.ndarray:
        """(n, s) -> (n, s): Y, with rows or entries shortened by epsilon."""
        return Y * (1 - share_within(self._width(), self._sizes(Y)))

    def check(self) -> None:
        """Refuse a limit or a norm that has no meaning."""
        check_norm(self.norm, NORMS, self)
        if not isinstance(self.epsilon, np.ndarray):
            read_amount(self.epsilon, "epsilon", self, zero=True)

    @property
    def relative(self) -> bool:
        """Whether epsilon is a fraction of the largest useful one."""
        return isinstance(self.epsilon, str) and read_amount(self.epsilon, "epsilon", self, zero=True)[1]

    def resolve(self, Y: np.ndarray) -> EpsilonInsensitive:
        """Return the same with a number for epsilon; Y (n, s) are the scores of the square solution, by axes."""
        if isinstance(self.epsilon, np.ndarray):
            return self
        epsilon, fraction = read_amount(self.epsilon, "epsilon", self, zero=True)
        return EpsilonInsensitive(epsilon * self.largest(Y) if fraction else epsilon, self.norm)

    def largest(self, Y: np.ndarray) -> float:
        """Return epsilon_max for scores Y (n, s) of the square solution: the least epsilon at which none counts."""
        return float(self._sizes(Y).max())

    def weighted(self, roots: np.ndarray) -> EpsilonInsensitive:
        """Return the same with the epsilon of row i times roots_i."""
        return EpsilonInsensitive(self._width() * roots[:, None], self.norm)

    def majorant(self, Y: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, float]:
        """(n, s), (n,) -> (n,), 0: the chord up to lengths_i^2 of f as a convex function of |y_i|^2."""
        share = 1 - share_within(self._width(), lengths[:, None])
        return np.square(share[:, 0]), 0.0

    def _sizes(self, Y: np.ndarray) -> np.ndarray:
        """What is shortened: (n, 1) lengths of rows, or (n, s) sizes of entries."""
        self.check()
        return row_norms(Y) if self.norm == "2" else np.abs(Y)

    def _width(self) -> Any:
        """Return epsilon, a number or one for each row (n, 1)."""
        if isinstance(self.epsilon, np.ndarray):
            return self.epsilon
        epsilon, fraction = read_amount(self.epsilon, "epsilon", self, zero=True)
        if fraction:
            raise ValueError(f"{self!r} is a fraction of what the square solution gives: call resolve(scores) first.")
        return epsilon
