"""Huber's objective: quadratic for small scores, linear for large ones, so that outliers have a limited say."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelpca.objectives.protocol import Objective, check_norm, read_amount, row_norms, share_within

NORMS = {
    "2": "the length of each row is limited",
    "1": "each entry is limited",
    "fro": "the whole is limited",
}
INWARD = 1 - 4 * float(np.finfo(np.float64).eps)


class Huber(Objective):
    """Psi = kappa |.|: a dual variable H whose rows (or entries, or which as a whole) are at most kappa long.

    Parameters
    ----------
    kappa : float or str, default="0.8max"
        The limit: a positive number, or a fraction of the largest useful one, from which on nothing is limited: the
        largest length of a row ("2") or entry ("1", in principal axes, since entries change with rotations) or the
        length of the whole ("fro") of the square solution.
    norm : {"2", "1", "fro"}, default="2"
        The norm of Psi: sum of the lengths of rows, sum of absolute entries, length of the whole matrix. The dual norm
        is what is limited. "fro" changes lengths only, not directions.

    References
    ----------
    Tonin, Lambert, Patrinos, Suykens (2023), definition 4.1. The paper names the largest length of a row as the norm
    for "2"; limiting every row to kappa belongs to their sum.
    """

    def __init__(self, kappa: Any = "0.8max", norm: str = "2") -> None:
        self.kappa = kappa
        self.norm = norm

    def value(self, Y: np.ndarray) -> float:
        """(n, s) -> kappa |Y|."""
        sizes = self._sizes(Y)
        return float(np.multiply(self._limit(), sizes, out=np.zeros_like(sizes), where=sizes > 0).sum())

    def conjugate(self, H: np.ndarray) -> float:
        """(n, s) -> 0 where the limit holds, else infinity."""
        return 0.0 if (self._sizes(H) <= self._limit()).all() else float("inf")

    def prox_conjugate(self, Y: np.ndarray) -> np.ndarray:
        """(n, s) -> (n, s): the nearest H within the limit, which then holds to the last digit."""
        kappa = self._limit()
        if self.norm == "1":
            return np.clip(Y, -kappa, kappa)
        H = Y * share_within(kappa, self._sizes(Y))
        while (over := self._sizes(H) > kappa).any():  # rounding
            H *= np.where(over, INWARD, 1.0)
        return H

    def check(self) -> None:
        """Refuse a limit or a norm that has no meaning."""
        check_norm(self.norm, NORMS, self)
        if not isinstance(self.kappa, np.ndarray):
            read_amount(self.kappa, "kappa", self, zero=False)

    @property
    def relative(self) -> bool:
        """Whether kappa is a fraction of the largest useful one."""
        return isinstance(self.kappa, str) and read_amount(self.kappa, "kappa", self, zero=False)[1]

    def resolve(self, Y: np.ndarray) -> Huber:
        """Return the same with a number for kappa; Y (n, s) are the scores of the square solution, by axes."""
        if isinstance(self.kappa, np.ndarray):
            return self
        kappa, fraction = read_amount(self.kappa, "kappa", self, zero=False)
        return Huber(kappa * self.largest(Y) if fraction else kappa, self.norm)

    def largest(self, Y: np.ndarray) -> float:
        """Return kappa_max for scores Y (n, s) of the square solution: the least kappa that limits nothing."""
        return float(self._sizes(Y).max())

    def weighted(self, roots: np.ndarray) -> Huber:
        """Return the same with the limit of row i times roots_i."""
        return self if self.norm == "fro" else Huber(self._limit() * roots[:, None], self.norm)

    def majorant(self, Y: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, float]:
        """(n, s), (n,) -> (n,), c: the tangent at Y of f as a function of |y_i|^2, in which it is concave.

        With "2" and "fro" it touches f at Y. Entries of one row are at best equally large, so for "1" a row counts as s
        entries of size |y_i| / sqrt(s).
        """
        kappa = self._limit()
        if self.norm == "fro":
            t, entries = np.linalg.norm(Y, axis=None, keepdims=True), 1
        else:
            entries = Y.shape[1] if self.norm == "1" else 1
            t = row_norms(Y) / np.sqrt(entries)
        weights = share_within(kappa, t)
        constant = np.where(t > kappa, kappa * (t - kappa) / 2, 0.0)
        return np.broadcast_to(weights, (len(Y), 1))[:, 0], entries * float(constant.sum())

    def _sizes(self, Y: np.ndarray) -> np.ndarray:
        """What is limited: (n, 1) lengths of rows, (n, s) sizes of entries, or (1, 1) the length of the whole."""
        self.check()
        if self.norm == "fro":
            return np.linalg.norm(Y, axis=None, keepdims=True)
        return row_norms(Y) if self.norm == "2" else np.abs(Y)

    def _limit(self) -> Any:
        """Return kappa, a number or one for each row (n, 1)."""
        if isinstance(self.kappa, np.ndarray):
            return self.kappa
        kappa, fraction = read_amount(self.kappa, "kappa", self, zero=False)
        if fraction:
            raise ValueError(f"{self!r} is a fraction of what the square solution gives: call resolve(scores) first.")
        return kappa
