"""A Gram matrix whose products are kept in float32, where the target allows it."""

from __future__ import annotations

import numpy as np

from kernelpca.gram.budget import BUDGET
from kernelpca.gram.protocol import Gram, WrappedGram
from kernelpca.gram.tiled import Tiles


class SingleGram(WrappedGram):
    """A float64 matrix, as it is, with blocks in float32 around it: all work besides the product itself is halved.

    Parameters
    ----------
    inner : Gram
        The matrix.
    """

    def __init__(self, inner: Gram) -> None:
        super().__init__(inner)
        self.dtype = np.dtype(np.float32)

    def matmat(self, V: np.ndarray) -> np.ndarray:
        """(n, p) -> (n, p)."""
        return self.inner.matmat(V).astype(self.dtype)

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


class SingleTiles(Tiles):
    """A stored float64 matrix, multiplied in tiles of float32: half of it is read, and twice as fast.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        The matrix, symmetric; neither copied nor changed.
    positive_definite : bool
        Whether it is known to be positive semi-definite.
    cache : int
        Bytes of tiles to keep in float32 for later passes.
    """

    dtype = np.dtype(np.float32)
    source = "The kernel matrix"

    def __init__(self, K: np.ndarray, positive_definite: bool, cache: int = 0) -> None:
        self.K = K
        self.shape = (len(K), len(K))
        self.positive_definite = positive_definite
        self.budget = BUDGET
        self.threads = None
        self.cache = cache

    def tile(self, rows: slice, cols: slice, out: np.ndarray) -> None:
        """Write a tile."""
        np.copyto(out, self.K[rows, cols], casting="same_kind")

    def diagonal(self) -> np.ndarray:
        """() -> (n,)."""
        return self.K.diagonal().astype(self.dtype)

    def columns(self, idx: np.ndarray) -> np.ndarray:
        """(m,) -> (n, m): rows, which lie together in memory, are as good."""
        return self.K[idx].astype(self.dtype).T
