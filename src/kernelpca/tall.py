"""Products of tall matrices, a block of rows at a time: in the cache, and on every core."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelpca.tiles import Tile, all_tiles, share_out

ROWS = 1024  # rows of a block; sums within one are in the working precision, sums over blocks in float64
LOW, PARTS = 256, 4  # rows of a block, and blocks, that a matrix of few rows is cut into, so that all cores have some


def cuts(n: int, size: int = ROWS) -> list[Tile]:
    """Cut n rows into blocks of at most `size`, so that every core has some."""
    return all_tiles(n, 1, min(size, max(-(-n // PARTS), LOW)))


def by_rows(n: int, work: Callable[[slice], object], size: int = ROWS) -> None:
    """Call `work(rows)` for every block of n rows, each of at most `size`, on all cores."""

    def work_on(_: None, rows: slice, __: slice) -> None:
        work(rows)

    share_out(cuts(n, size), work_on, lambda: None)


def inner(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """(n, a), (n, b) -> (a, b): A'B in float64, at the speed of the working precision."""
    if not (A.shape[1] and B.shape[1]):
        return np.zeros((A.shape[1], B.shape[1]))

    def work(total: np.ndarray, rows: slice, _: slice) -> None:
        total += A[rows].T @ B[rows]

    totals = share_out(cuts(len(A)), work, lambda: np.zeros((A.shape[1], B.shape[1])))
    return sum(totals[1:], start=totals[0])


def times(A: np.ndarray, S: np.ndarray) -> np.ndarray:
    """(n, a), (a, s) -> (n, s): A S, in the precision of A."""
    result = np.empty((len(A), S.shape[1]), A.dtype)
    S = S.astype(A.dtype, copy=False)
    by_rows(len(A), lambda rows: np.matmul(A[rows], S, out=result[rows]))
    return result


def add_product(W: np.ndarray, A: np.ndarray, S: np.ndarray) -> None:
    """(n, s) += (n, a), (a, s): W + A S, in place."""
    if not A.shape[1]:
        return
    S = S.astype(A.dtype, copy=False)

    def work(rows: slice) -> None:
        W[rows] += A[rows] @ S

    by_rows(len(A), work)


def row_products(d: int, shape: tuple[int, int], block: Callable[[slice], tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """(a, b): A B' of long rows (a, d) and (b, d), added up in float64; `block(cols)` makes some columns of both."""

    def work(total: np.ndarray, cols: slice, _: slice) -> None:
        A, B = block(cols)
        total += A @ B.T

    totals = share_out(cuts(d), work, lambda: np.zeros(shape))
    return sum(totals[1:], start=totals[0])


def column_norms(n: int, p: int, block: Callable[[slice], np.ndarray]) -> np.ndarray:
    """Return the norms (p,) of the columns of an (n, p) matrix whose blocks of rows are made when needed."""

    def work(total: np.ndarray, rows: slice, _: slice) -> None:
        total += np.square(block(rows), dtype=np.float64).sum(axis=0)

    totals = share_out(all_tiles(n, 1, ROWS), work, lambda: np.zeros(p))
    return np.sqrt(sum(totals[1:], start=totals[0]))
