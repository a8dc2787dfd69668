"""A Gram matrix given by explicit features."""

from __future__ import annotations

import numpy as np

from kernelpca.gram.protocol import Gram, check_block, check_finite


class LowRankGram(Gram):
    """F F' for features F (n, r).

    Parameters
    ----------
    F : ndarray of shape (n, r)
        One row of features for each sample; not copied.
    """

    positive_definite = True

    def __init__(self, F: np.ndarray) -> None:
        if F.ndim != 2:
            raise ValueError(f"LowRankGram needs features of shape (n, r); got {F.shape}.")
        F = F if F.dtype in (np.float32, np.float64) else F.astype(np.float64)
        self.F = check_finite(F, "The feature matrix")
        self.shape = (F.shape[0], F.shape[0])
        self.dtype = F.dtype

    def matmat(self, V: np.ndarray) -> np.ndarray:
        """(n, p) -> (n, p): F (F'V)."""
        return self.F @ (self.F.T @ check_block(V, self.shape[0]).astype(self.dtype, copy=False))

    def diagonal(self) -> np.ndarray:
        """() -> (n,)."""
        return np.einsum("ij,ij->i", self.F, self.F)

    def columns(self, idx: np.ndarray) -> np.ndarray:
        """(m,) -> (n, m)."""
        return self.F @ self.F[idx].T

    def frobenius_squared(self) -> float:
        """Return |F'F|_F^2."""
        covariance = self.F.T @ self.F
        return self.rounded_up(float(np.square(covariance, dtype=np.float64).sum()))
