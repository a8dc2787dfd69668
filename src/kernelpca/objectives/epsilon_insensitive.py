"""The epsilon-insensitive objective: scores up to epsilon do not count, so that most rows can be left out."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelpca.objectives.threshold import Threshold, row_norms, share_within


class EpsilonInsensitive(Threshold):
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

    parameter = "epsilon"
    norms = {"2": "rows of H become zero", "inf": "entries of H become zero"}  # noqa: RUF012
    zero = True

    def __init__(self, epsilon: Any = "0.3max", norm: str = "2") -> None:
        self.epsilon = epsilon
        self.norm = norm

    def value(self, Y: np.ndarray) -> float:
        """(n, s) -> 0 within epsilon, else infinity."""
        return 0.0 if (self.sizes(Y) <= self.threshold).all() else float("inf")

    def conjugate(self, H: np.ndarray) -> float:
        """(n, s) -> epsilon times the sum of the lengths of rows, or of absolute entries."""
        return float((self.threshold * self.sizes(H)).sum())

    def prox_conjugate(self, Y: np.ndarray) -> np.ndarray:
        """(n, s) -> (n, s): Y, with rows or entries shortened by epsilon."""
        return Y * (1 - share_within(self.threshold, self.sizes(Y)))

    def majorant(self, Y: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, float]:
        """(n, s), (n,) -> (n,), 0: the chord up to lengths_i^2 of f as a convex function of |y_i|^2."""
        share = 1 - share_within(self.threshold, lengths[:, None])
        return np.square(share[:, 0]), 0.0

    def sizes(self, Y: np.ndarray) -> np.ndarray:
        """(n, s) -> what is shortened: lengths of rows, or sizes of entries."""
        self.check()
        return row_norms(Y) if self.norm == "2" else np.abs(Y)
