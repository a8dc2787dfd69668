"""Huber's objective: quadratic for small scores, linear for large ones, so that outliers have a limited say."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelpca.objectives.threshold import Threshold, row_norms, share_within

INWARD = 1 - 4 * float(np.finfo(np.float64).eps)


class Huber(Threshold):
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

    parameter = "kappa"
    norms = {  # noqa: RUF012
        "2": "the length of each row is limited",
        "1": "each entry is limited",
        "fro": "the whole is limited",
    }

    def __init__(self, kappa: Any = "0.8max", norm: str = "2") -> None:
        self.kappa = kappa
        self.norm = norm

    @property
    def by_rows(self) -> bool:  # type: ignore[override]
        """Whether rows are limited one by one."""
        return self.norm != "fro"

    def value(self, Y: np.ndarray) -> float:
        """(n, s) -> kappa |Y|."""
        sizes = self.sizes(Y)
        return float(np.multiply(self.threshold, sizes, out=np.zeros_like(sizes), where=sizes > 0).sum())

    def conjugate(self, H: np.ndarray) -> float:
        """(n, s) -> 0 where the limit holds, else infinity."""
        return 0.0 if (self.sizes(H) <= self.threshold).all() else float("inf")

    def prox_conjugate(self, Y: np.ndarray) -> np.ndarray:
        """(n, s) -> (n, s): the nearest H within the limit, which then holds to the last digit."""
        kappa = self.threshold
        if self.norm == "1":
            return np.clip(Y, -kappa, kappa)
        H = Y * share_within(kappa, self.sizes(Y))
        while (over := self.sizes(H) > kappa).any():  # rounding
            H *= np.where(over, INWARD, 1.0)
        return H

    def weighted(self, roots: np.ndarray) -> Huber:
        """Return the same with the limit of row i times roots_i; the length of the whole has the weights already."""
        return self if self.norm == "fro" else super().weighted(roots)

    def majorant(self, Y: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, float]:
        """(n, s), (n,) -> (n,), c: the tangent at Y of f as a function of |y_i|^2, in which it is concave.

        With "2" and "fro" it touches f at Y. Entries of one row are at best equally large, so for "1" a row counts as s
        entries of size |y_i| / sqrt(s).
        """
        kappa, entries = self.threshold, Y.shape[1] if self.norm == "1" else 1
        t = self.sizes(Y) if self.norm == "fro" else row_norms(Y) / np.sqrt(entries)
        constant = np.where(t > kappa, kappa * (t - kappa) / 2, 0.0)
        return np.broadcast_to(share_within(kappa, t), (len(Y), 1))[:, 0], entries * float(constant.sum())

    def sizes(self, Y: np.ndarray) -> np.ndarray:
        """(n, s) -> what is limited: lengths of rows, sizes of entries, or the length of the whole."""
        self.check()
        if self.norm == "fro":
            return np.linalg.norm(Y, axis=None, keepdims=True)
        return row_norms(Y) if self.norm == "2" else np.abs(Y)
