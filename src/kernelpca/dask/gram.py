"""The kernel matrix of rows in chunks: half the tiles, spread evenly over all workers, one graph for each pass."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import dask
import numpy as np

from kernelpca.dask.cluster import n_workers, run, send, total_threads
from kernelpca.dask.rows import DaskRows
from kernelpca.gram.protocol import Gram, check_block, check_finite
from kernelpca.gram.tiled import CrossGram, TiledGram, made_cost
from kernelpca.kernels.base import Kernel, diagonal, values_of
from kernelpca.memory import readable_bytes

TASKS = 4  # for each thread in a pass: enough to even out, few enough to cost nothing
STRIP = 2**27  # bytes of rows that a task takes at most from either side
LEAST = 512  # rows of a strip that is worth a task
FEW = 16  # rows of which entries are looked at


class DaskGram(Gram):
    """The kernel matrix of rows in chunks, made in tiles whenever it is multiplied.

    Rows are cut into strips, whatever their chunks, so that results do not depend on these. A task makes the product
    with the block of two strips and with its mirror image. Strip i meets i, i + 1, ... up to half way around, so that
    every strip has the same work. Only columns of V and of the product move, and each strip to the tasks that it
    meets.

    Parameters
    ----------
    kernel : Kernel
        Resolved: every parameter a number.
    rows : DaskRows
        The rows.
    n_strips : int, optional
        How many strips the rows are cut into; as many as keep all threads busy when not given. It stays as it is, also
        when workers die: sums do not change then.
    """

    fits_single = True  # whether rows in float32 tell kernel values to its rounding

    def __init__(self, kernel: Kernel, rows: DaskRows, n_strips: int | None = None) -> None:
        n = rows.shape[0]
        self.n_strips = n_strips or strips_for(rows)
        self.kernel = kernel
        self.rows = rows
        self.shape = (n, n)
        self.dtype = rows.dtype
        self.positive_definite = kernel.positive_definite
        self.single_is_fast = rows.dtype == np.float64
        self.entry_cost = made_cost(rows.shape[1])
        self.source = f"The kernel {kernel!r}"
        self._squares: float | None = None
        self._single: DaskGram | None = None

    @cached_property
    def strips(self) -> DaskRows:
        """The rows in strips, held by the workers."""
        return self.rows.kept(-(-self.shape[0] // self.n_strips))

    def traffic(self, itemsize: int) -> str:
        """Say what a pass moves: blocks of columns to and fro, and strips that meet those of other workers."""
        (n, d), workers, count = self.rows.shape, n_workers(), self.n_strips
        columns = n * itemsize * (workers + (count + 3) // 2)
        rows = (workers - 1) * n * d * itemsize
        return (
            f"tiles are made by {workers} worker{'s' * (workers > 1)} with {total_threads()} threads in all, from "
            f"{count} strips of rows; a pass moves {readable_bytes(columns)} for each column"
            + (f" and at most {readable_bytes(rows)} of rows" if rows else "")
        )

    def matmat(self, V: np.ndarray) -> np.ndarray:
        """(n, p) -> (n, p): one graph, in which every block of two strips is made once."""
        V = check_block(V, self.shape[0]).astype(self.dtype, copy=False)
        cut, first = self.strips.parts, self._squares is None

        def tasks() -> list[Any]:
            (kernel,), parts, chunks = send([self.kernel]), send([V[part] for part in cut]), self.strips.chunks
            shares: list[list[Any]] = [[] for _ in cut]
            squares = []
            for i, j in meetings(len(cut)):
                pair = dask.delayed(pair_product, nout=3, pure=False)(
                    kernel, chunks[i], parts[i], *((chunks[j], parts[j]) if j != i else (None, None)), first
                )
                shares[i].append(pair[0])
                if j != i:
                    shares[j].append(pair[1])
                squares.append(pair[2])
            sums = [dask.delayed(sum, pure=False)(share) for share in shares]
            return [*sums, dask.delayed(sum)(squares)]

        *blocks, squares = run(tasks)
        if first:
            self._squares = float(squares)
        return check_finite(np.concatenate(blocks), self.source)

    def dense(self) -> np.ndarray:
        """() -> (n, n): products with all unit vectors, so that rows stay where they are."""
        return self.matmat(np.eye(self.shape[0], dtype=self.dtype))

    def single(self) -> Gram:
        """Return the same with tiles made in float32."""
        if self.dtype == np.float32:
            return self
        if not self.fits_single:
            return super().single()
        if self._single is None:
            self._single = DaskGram(self.kernel, self.rows.astype(np.float32), self.n_strips)
        return self._single

    def diagonal(self) -> np.ndarray:
        """() -> (n,)."""
        return self._diagonal

    @cached_property
    def _diagonal(self) -> np.ndarray:
        return check_finite(self.rows.collect(Diagonal(self.kernel)), self.source)

    def columns(self, idx: np.ndarray) -> np.ndarray:
        """(m,) -> (n, m): kernel values of all rows with some, which are sent to all chunks."""
        chosen = self.rows.take(idx)
        block = self.rows.collect(Columns(self.kernel, chosen))
        block[idx, np.arange(len(idx))] = self.kernel.diag(chosen)
        return check_finite(block, self.source)

    def magnitude(self) -> float:
        """Return about the size of the entries, from a few of them."""
        n = self.shape[0]
        block = values_of(self.kernel, self.rows[: min(FEW, n)], self.rows[max(n - FEW, 0) :])
        return max(self.scale(), float(np.abs(check_finite(block, self.source)).max()))

    def frobenius_squared(self) -> float | None:
        """Return the sum of squared entries, which the first pass adds up; None before it."""
        return None if self._squares is None else self.rounded_up(self._squares)


def strips_for(rows: DaskRows) -> int:
    """Return how many strips keep all threads busy, and fit into memory."""
    n, d = rows.shape
    wanted = max(math.isqrt(2 * TASKS * total_threads()) + 1, n * d * rows.dtype.itemsize // STRIP + 1)
    return min(wanted, -(-n // LEAST))


class Columns:
    """Kernel values of a chunk with some rows."""

    def __init__(self, kernel: Kernel, chosen: np.ndarray) -> None:
        self.kernel, self.chosen = kernel, chosen

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """(b, d) -> (b, m)."""
        return self.kernel(X, self.chosen, threads=1)


class Diagonal:
    """k(x, x) of a chunk."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """(b, d) -> (b,)."""
        return diagonal(self.kernel, X)


def meetings(count: int) -> list[tuple[int, int]]:
    """List the pairs (i, j) of strips such that each unordered pair comes once and every i leads equally many."""
    pairs = [(i, (i + step) % count) for step in range((count + 1) // 2) for i in range(count)]
    if count % 2 == 0:
        pairs += [(i, i + count // 2) for i in range(count // 2)]
    return pairs


def pair_product(
    kernel: Kernel, X: np.ndarray, V: np.ndarray, Y: np.ndarray | None, W: np.ndarray | None, squared: bool
) -> tuple[np.ndarray, np.ndarray | None, float]:
    """(a, d), (a, p), (b, d), (b, p) -> K W (a, p), K'V (b, p), and the squares of all entries, if they are asked for.

    Without Y and W: the symmetric product with a block on the diagonal.
    """
    gram = TiledGram(kernel, X, threads=1) if Y is None else CrossGram(kernel, X, Y, threads=1)
    gram.adds_squares = squared
    result = gram.matmat(V if W is None else np.concatenate([V, W]))
    return result[: len(X)], None if Y is None else result[len(X) :], gram.frobenius_squared() or 0.0
