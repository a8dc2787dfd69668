"""A Gram matrix held in memory."""

from __future__ import annotations

import numpy as np

from kernelpca.gram.protocol import Gram, check_block, check_finite
from kernelpca.gram.squares import sum_of_squares
from kernelpca.tall import times
from kernelpca.tiles import blocks


class DenseGram(Gram):
    """A stored symmetric matrix; it is neither copied nor changed.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        The matrix, float32 or float64.
    positive_definite : bool, default=False
        Whether it is known to be positive semi-definite.
    source : str
        What to call it in messages.
    symmetric : bool, default=False
        Whether it is known to be symmetric, so that this need not be checked.
    cache : int, default=0
        Bytes that a copy of half of it in float32 may take, for targets that float32 can reach.
    """

    in_memory = True

    def __init__(
        self,
        K: np.ndarray,
        positive_definite: bool = False,
        source: str = "The kernel matrix",
        symmetric: bool = False,
        cache: int = 0,
    ) -> None:
        check_square(K.shape)
        K = K if K.dtype in (np.float32, np.float64) else K.astype(np.float64)
        check_finite(K, source)
        if not symmetric:
            check_symmetric(K)
        self.K = K
        self.cache = cache
        self._squares: float | None = None
        self.shape = (K.shape[0], K.shape[0])
        self.dtype = K.dtype
        self.positive_definite = positive_definite

    def matmat(self, V: np.ndarray) -> np.ndarray:
        """(n, p) -> (n, p)."""
        return times(self.K, check_block(V, self.shape[0]))

    def single(self) -> Gram:
        """Return this matrix in tiles of float32."""
        from kernelpca.gram.single import SingleTiles

        return self if self.dtype == np.float32 else SingleTiles(self.K, self.positive_definite, self.cache)

    def diagonal(self) -> np.ndarray:
        """() -> (n,)."""
        return self.K.diagonal()

    def columns(self, idx: np.ndarray) -> np.ndarray:
        """(m,) -> (n, m): rows, which lie together in memory, are as good."""
        return self.K[idx].T

    def dense(self) -> np.ndarray:
        """() -> (n, n)."""
        return self.K.copy()

    def frobenius_squared(self) -> float:
        """Return the sum of squared entries, blocks of rows added up in float64."""
        if self._squares is None:
            self._squares = sum(sum_of_squares(self.K[rows]) for rows in blocks(self.shape[0], 64))
        return self.rounded_up(self._squares)


def check_square(shape: tuple[int, ...]) -> None:
    """Refuse the shape of what is no square matrix."""
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(
            f"A precomputed kernel matrix must be a square matrix of shape (n_samples, n_samples); got {shape}. To "
            "fit on "
            'data instead, choose a kernel such as "rbf".'
        )


def check_symmetric(K: np.ndarray) -> None:
    """Refuse a matrix that is not symmetric up to rounding."""
    n = K.shape[0]
    largest = max(abs(float(K.max(initial=0.0))), abs(float(K.min(initial=0.0))))
    allowed = 100 * float(np.finfo(K.dtype).eps) ** 0.75 * largest
    for rows in blocks(n, 512):
        difference = np.abs(K[rows, rows.start :] - K[rows.start :, rows].T)
        if difference.max(initial=0.0) > allowed:
            i, j = np.unravel_index(int(difference.argmax()), difference.shape)
            i, j = int(i) + rows.start, int(j) + rows.start
            raise ValueError(
                f"The kernel matrix is not symmetric: K[{i}, {j}] = {K[i, j]:.6g} but K[{j}, {i}] = {K[j, i]:.6g}. If "
                "that is rounding or noise, give (K + K.T) / 2."
            )
