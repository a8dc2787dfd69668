"""A Gram matrix of features that are made a block of rows at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelpca.gram.protocol import Gram, check_block
from kernelpca.tall import by_rows
from kernelpca.tiles import all_tiles, share_out


class BlockedGram(Gram):
    """F F' for features F (n, r) of which a block of rows is made, or looked up, whenever it is needed.

    Parameters
    ----------
    n, r : int
        Rows and features.
    dtype : dtype
        Of the features.
    block : callable
        `block(rows)` returns the features of a slice of rows; they are not changed.
    rows : int
        Rows of a block.
    """

    positive_definite = True
    cheap_columns = False

    def __init__(self, n: int, r: int, dtype: np.dtype, block: Callable[[slice], np.ndarray], rows: int) -> None:
        self.shape = (n, n)
        self.dtype = dtype
        self.r = r
        self.block = block
        self.rows = rows
        self._diagonal: np.ndarray | None = None

    def matmat(self, V: np.ndarray) -> np.ndarray:
        """(n, p) -> (n, p): F (F'V)."""
        return self.expand(self.combine(check_block(V, self.shape[0]).astype(self.dtype, copy=False)))

    def expand(self, inner: np.ndarray) -> np.ndarray:
        """(r, p) -> (n, p): F times a matrix."""
        inner = inner.astype(self.dtype)
        result = np.empty((self.shape[0], inner.shape[1]), self.dtype)
        by_rows(self.shape[0], lambda rows: np.matmul(self.block(rows), inner, out=result[rows]), self.rows)
        return result

    def combine(self, V: np.ndarray) -> np.ndarray:
        """(n, p) -> (r, p): F'V, added up in float64."""

        def work(total: np.ndarray, rows: slice, _: slice) -> None:
            total += self.block(rows).T @ V[rows]

        totals = share_out(all_tiles(self.shape[0], 1, self.rows), work, lambda: np.zeros((self.r, V.shape[1])))
        return sum(totals[1:], start=totals[0])

    def diagonal(self) -> np.ndarray:
        """() -> (n,)."""
        if self._diagonal is None:
            result = np.empty(self.shape[0], self.dtype)

            def work(rows: slice) -> None:
                F = self.block(rows)
                result[rows] = np.einsum("ij,ij->i", F, F)

            by_rows(self.shape[0], work, self.rows)
            self._diagonal = result
        return self._diagonal

    def columns(self, idx: np.ndarray) -> np.ndarray:
        """(m,) -> (n, m)."""
        chosen = np.concatenate([np.empty((0, self.r), self.dtype), *(self.block(slice(i, i + 1)) for i in idx)])
        return self.expand(chosen.T)
