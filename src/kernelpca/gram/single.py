"""A Gram matrix whose products are kept in float32, where the target allows it."""

from __future__ import annotations

import numpy as np

from kernelpca.gram.protocol import Gram


class SingleGram(Gram):
    """A float64 matrix, as it is, with blocks in float32 around it: all work besides the product itself is halved.

    Parameters
    ----------
    inner : Gram
        The matrix.
    """

    dtype = np.dtype(np.float32)

    def __init__(self, inner: Gram) -> None:
        self.inner = inner
        self.shape = inner.shape
        self.positive_definite = inner.positive_definite
        self.entry_cost = inner.entry_cost
        self.cheap_columns = inner.cheap_columns

    def matmat(self, V: np.ndarray) -> np.ndarray:
        """(n, p) -> (n, p)."""
        return self.inner.matmat(V).astype(self.dtype)

    def release(self) -> None:
        """Give back what the inner matrix keeps."""
        self.inner.release()

    def diagonal(self) -> np.ndarray:
        """() -> (n,)."""
        return self.inner.diagonal().astype(self.dtype)

    def columns(self, idx: np.ndarray) -> np.ndarray:
        """(m,) -> (n, m)."""
        return self.inner.columns(idx).astype(self.dtype)

    def trace(self) -> float:
        """Return the sum of all eigenvalues."""
        return self.inner.trace()

    def frobenius_squared(self) -> float | None:
        """Return the sum of squared eigenvalues, where it is known."""
        return self.inner.frobenius_squared()
