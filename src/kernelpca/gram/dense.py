"""A Gram matrix held in memory."""

from __future__ import annotations

import math

import numpy as np

from kernelpca.gram.protocol import Gram, check_block, check_finite
from kernelpca.gram.squares import sum_of_squares
from kernelpca.gram.thin import WORTH, ThinBlock
from kernelpca.tall import by_rows, times
from kernelpca.tiles import NUMBERS, Tile, half_tiles, share_out

LOOKED_AT = 512  # rows of a tile that is compared with its mirror image


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
        if symmetric or not is_plainly_symmetric(K):
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
        """(n, p) -> (n, p): of a large matrix half is read, each tile for its mirror image too."""
        n = self.shape[0]
        check_block(V, n)
        if n < WORTH or self.K.strides[1] != self.K.itemsize:
            return times(self.K, V)
        block = ThinBlock(V.astype(self.dtype, copy=False))

        def work(total: np.ndarray, rows: slice, cols: slice) -> None:
            block.add(self.K[rows, cols], rows, cols, total)

        totals = share_out(half_tiles(n), work, block.zeros)
        return block.result(sum(totals[1:], start=totals[0]))

    def single(self) -> Gram:
        """Return this matrix in tiles of float32."""
        from kernelpca.gram.single import SingleTiles

        return self if self.dtype == np.float32 else SingleTiles(self.K, self.positive_definite, self.cache)

    def grant(self, budget: int, cache: int) -> None:
        """Say how many bytes a copy in float32 may take from now on."""
        self.cache = cache

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
            sums: list[float] = []
            height = max(NUMBERS // max(self.shape[1], 1), 1)
            by_rows(self.shape[0], lambda rows: sums.append(sum_of_squares(self.K[rows])), height)
            self._squares = math.fsum(sums)  # whatever their order
        return self.rounded_up(self._squares)


def check_square(shape: tuple[int, ...]) -> None:
    """Refuse the shape of what is no square matrix."""
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(
            f"A precomputed kernel matrix must be a square matrix of shape (n_samples, n_samples); got {shape}. To "
            "fit on "
            'data instead, choose a kernel such as "rbf".'
        )


def is_plainly_symmetric(K: np.ndarray) -> bool:
    """Whether K is finite and equal to its transpose to the last bit: one read of it, on all cores."""
    different: list[Tile] = []

    def work(_: None, rows: slice, cols: slice) -> None:
        tile = K[rows, cols]
        if not different and not (np.array_equal(tile, K[cols, rows].T) and np.isfinite(tile.sum())):
            different.append((rows, cols))

    share_out(half_tiles(len(K), LOOKED_AT), work, lambda: None)
    return not different


def check_symmetric(K: np.ndarray) -> None:
    """Refuse a matrix of finite numbers that is not symmetric up to rounding."""
    found: list[tuple[float, int, int]] = []  # in each tile: the largest difference, and where it is

    def work(sizes: list[float], rows: slice, cols: slice) -> None:
        tile = K[rows, cols]
        difference = np.abs(tile - K[cols, rows].T)
        i, j = np.unravel_index(int(difference.argmax()), difference.shape)
        found.append((float(difference[i, j]), rows.start + int(i), cols.start + int(j)))
        sizes += [abs(float(tile.max())), abs(float(tile.min()))]

    largest = max(max(sizes, default=0.0) for sizes in share_out(half_tiles(len(K), LOOKED_AT), work, list))
    worst, i, j = max(found, default=(0.0, 0, 0))
    if worst > 100 * float(np.finfo(K.dtype).eps) ** 0.75 * largest:
        raise ValueError(
            f"The kernel matrix is not symmetric: K[{i}, {j}] = {K[i, j]:.6g} but K[{j}, {i}] = {K[j, i]:.6g}. If "
            "that is rounding or noise, give (K + K.T) / 2."
        )
