"""The linear map of random features, x -> W x, and its inverse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np


@dataclass(frozen=True)
class Factors:
    """The singular value decomposition of weights, W = U diag(s) V: (r, q), (q,), (q, d) with q = min(r, d)."""

    U: np.ndarray
    s: np.ndarray
    V: np.ndarray

    @classmethod
    def of(cls, W: np.ndarray) -> Self:
        """Decompose weights (r, d)."""
        U, s, V = np.linalg.svd(W, full_matrices=False)
        return cls(np.ascontiguousarray(U), s, V)

    @property
    def largest(self) -> float:
        """The largest singular value."""
        return float(self.s.max(initial=0.0))

    def finish(self, T: np.ndarray, ridge: float) -> np.ndarray:
        """(n, q) -> (n, d): argmin |W x - y|^2 + ridge |x|^2 where T is Y U; without ridge the shortest of them.

        Singular values that are rounding beside the largest count as zero.
        """
        rounding = self.largest * max(len(self.U), self.V.shape[1]) * np.finfo(np.float64).eps
        scale = np.divide(self.s, self.s**2 + ridge, out=np.zeros_like(self.s), where=self.s > rounding)
        return (T * scale.astype(T.dtype)) @ self.V.astype(T.dtype, copy=False)
