"""A Gram matrix that is never stored: tiles are made, multiplied and forgotten."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernelpca.gram.budget import BUDGET, tile_size
from kernelpca.gram.protocol import STORED, Gram, check_block, check_finite
from kernelpca.gram.squares import sum_of_squares
from kernelpca.gram.thin import ThinBlock
from kernelpca.kernels.base import Kernel, Rows, diagonal, dtype_of, n_rows, shifted
from kernelpca.kernels.origin import fits_single
from kernelpca.memory import blaming_the_function
from kernelpca.progress import Done
from kernelpca.remote import RemoteRows
from kernelpca.tiles import TILE, Tile, all_tiles, available_threads, blocks, half_tiles, share_out

FEW = 16  # rows of which entries are looked at


@dataclass
class _Partial:
    """What one worker owns: a tile to write into and its share of the sum."""

    tile: np.ndarray
    sum: np.ndarray
    squares: float = 0.0


class Tiles(Gram):
    """The symmetric product by half the tiles; a subclass makes a tile.

    Tiles may be kept for the next pass, as many as fit into `cache` bytes: with room for all of them the matrix is
    stored, at half the size of a square one.
    """

    source: str
    threads: int | None
    budget: int
    cache: int = 0  # bytes of tiles to keep
    adds_squares: bool = True  # whether the first pass adds up the squares of all entries
    _squares: float | None = None
    _size: int = 0  # rows of a kept tile
    _kept: dict[tuple[int, int], np.ndarray]  # memory of the tiles to keep
    _made: set[tuple[int, int]]  # those that are in it

    @abstractmethod
    def tile(self, rows: slice, cols: slice, out: np.ndarray) -> None:
        """Write the entries of rows x cols into `out`; only called on and above the diagonal."""

    def _workers(self) -> int:
        return self.threads or available_threads()

    def _row_bytes(self) -> int:
        return 0

    def _most_rows(self) -> int:
        return TILE

    def _tiles(self, size: int) -> list[Tile]:
        """List the tiles of a product, none larger than this; each serves its mirror image too."""
        return half_tiles(self.shape[0], size)

    def _prepare(self, size: int) -> None:
        """Set memory aside for the tiles that are to be kept."""
        if self._size != size:
            self._size, self._kept, self._made = size, {}, set()
        if self._kept or self.cache == 0:
            return
        tiles = self._tiles(size)
        ends = np.cumsum([(r.stop - r.start) * (c.stop - c.start) for r, c in tiles])
        fitting = int(np.searchsorted(ends * self.dtype.itemsize, self.cache, side="right"))
        if fitting:
            arena = np.empty(ends[fitting - 1], self.dtype)
            for (rows, cols), end in zip(tiles[:fitting], ends, strict=False):
                entries = (rows.stop - rows.start) * (cols.stop - cols.start)
                self._kept[rows.start, cols.start] = _shaped(arena[end - entries : end], rows, cols)

    def matmat(self, V: np.ndarray, done: Done | None = None) -> np.ndarray:
        """(n, p) -> (n, p): each tile above the diagonal serves its mirror image too; `done` is told how many are."""
        n, itemsize = self.shape[0], self.dtype.itemsize
        block = ThinBlock(check_block(V, n).astype(self.dtype, copy=False))
        block_bytes = block.V.nbytes
        most = self._size if self._size and self._kept else self._most_rows()  # kept tiles have the size they have
        size, workers = tile_size(self.budget, block_bytes, itemsize, self._workers(), self._row_bytes(), most)
        self._prepare(size)
        count_squares = self.adds_squares and self._squares is None

        def work(own: _Partial, rows: slice, cols: slice) -> None:
            key = (rows.start, cols.start)
            T = self._kept.get(key)
            if T is None:
                T = _shaped(own.tile, rows, cols)
            if key not in self._made:
                self.tile(rows, cols, T)
            if key in self._kept:
                self._made.add(key)
            block.add(T, rows, cols, own.sum)
            if count_squares:
                own.squares += (1.0 if rows == cols else 2.0) * sum_of_squares(T)

        def make() -> _Partial:
            return _Partial(np.empty(size * size, self.dtype), block.zeros())

        partials = share_out(self._tiles(size), work, make, workers, done)
        total = partials[0].sum
        for other in partials[1:]:
            total += other.sum
        check_finite(total, self.source)
        self._squares = sum(own.squares for own in partials) if count_squares else self._squares
        return block.result(total)

    def release(self) -> None:
        """Forget the tiles that were kept."""
        self._kept, self._made = {}, set()

    def grant(self, budget: int, cache: int) -> None:
        """Work within other limits from now on; tiles for which there is no room any more are forgotten."""
        if cache < self.cache:
            self.release()
        self.budget, self.cache = budget, cache

    def frobenius_squared(self) -> float | None:
        """Return the sum of squared entries, which the first pass adds up; None before it."""
        return None if self._squares is None else self.rounded_up(self._squares)


class TiledGram(Tiles):
    """The kernel matrix of rows X, made in tiles on all cores whenever it is multiplied.

    Parameters
    ----------
    kernel : Kernel
        Resolved: every parameter a number.
    X : rows
        As `kernel.check` returns them; not copied.
    budget : int
        Bytes of working memory for one product.
    threads : int, optional
        Workers; as many as BLAS may use when not given.
    cache : int, default=0
        Bytes of tiles to keep for later passes.
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Rows,
        budget: int = BUDGET,
        threads: int | None = None,
        cache: int = 0,
    ) -> None:
        self.cache = cache
        self._single: TiledGram | None = None
        self.kernel = kernel
        self.X = X
        self.budget = budget
        self.threads = threads if kernel.parallel else 1
        self.shape = (n_rows(X), n_rows(X))
        self.dtype = dtype_of(X)
        self.positive_definite = kernel.positive_definite
        kept = cache >= self.shape[0] * (self.shape[0] + self.kernel.tile) // 2 * self.dtype.itemsize
        self.single_is_fast = not kept and getattr(X, "dtype", None) == np.float64
        self.entry_cost = STORED if kept else made_cost(X.shape[1] if isinstance(X, np.ndarray) and X.ndim == 2 else 0)
        self.source = f"The kernel {kernel!r}"
        self._diagonal: np.ndarray | None = None
        self._magnitude: float | None = None

    def single(self) -> Gram:
        """Return the same with tiles made in float32, which takes half the time, where rows are numbers that fit."""
        if self.dtype == np.float32 or getattr(self.X, "dtype", None) != np.float64:
            return super().single()
        if self._single is None:
            if not fits_single(self.kernel, self.X, None, self.magnitude()):
                return super().single()
            X = self.X.astype(np.float32)
            self._single = TiledGram(self.kernel, X, self.budget, self.threads, self.cache)
        return self._single

    def grant(self, budget: int, cache: int) -> None:
        """Work within other limits from now on, in float32 too."""
        super().grant(budget, cache)
        if self._single is not None:
            self._single.grant(budget, cache)

    def tile(self, rows: slice, cols: slice, out: np.ndarray) -> None:
        """Write a tile; its diagonal, where it has one, is exact."""
        self.kernel.compute(self.X[rows], self.X[cols], out)
        if rows == cols:
            np.fill_diagonal(out, self.kernel.diag(self.X[rows]))

    def diagonal(self) -> np.ndarray:
        """() -> (n,)."""
        if self._diagonal is None:
            self._diagonal = check_finite(diagonal(self.kernel, self.X), self.source)
        return self._diagonal

    def magnitude(self) -> float:
        """Return about the size of the entries, from a few of them."""
        if self._magnitude is None:
            first, last = self.X[:FEW], self.X[-FEW:]
            block = np.empty((n_rows(first), n_rows(last)), self.dtype)
            self.kernel.compute(first, last, block)
            self._magnitude = max(self.scale(), float(np.abs(check_finite(block, self.source)).max()))
        return self._magnitude

    def columns(self, idx: np.ndarray) -> np.ndarray:
        """(m,) -> (n, m)."""
        block = np.empty((len(idx), self.shape[0]), dtype=self.dtype)
        chosen = self.X[idx]

        def work(_: None, rows: slice, cols: slice) -> None:
            self.kernel.compute(chosen[rows], self.X[cols], block[rows, cols])

        share_out(all_tiles(len(idx), self.shape[0], self.kernel.tile), work, lambda: None, self.threads)
        block[np.arange(len(idx)), idx] = self.kernel.diag(chosen)
        return check_finite(block, self.source).T

    def _most_rows(self) -> int:
        return self.kernel.tile

    def _row_bytes(self) -> int:
        return row_bytes(self.X)


class CrossGram(TiledGram):
    """[[0, C], [C', 0]] with C the kernel values of rows X with rows Y: what two parts of the data add to a product.

    Parameters
    ----------
    kernel : Kernel
        Resolved.
    X, Y : arrays of shape (n, d), (m, d)
        The rows of both parts.
    threads : int, optional
        Workers.
    """

    def __init__(self, kernel: Kernel, X: np.ndarray, Y: np.ndarray, threads: int | None = None) -> None:
        super().__init__(kernel, np.concatenate([X, Y]), threads=threads)
        self.split = len(X)

    def _tiles(self, size: int) -> list[Tile]:
        rows, cols = blocks(self.split, size), blocks(self.shape[0] - self.split, size)
        return [(part, slice(self.split + c.start, self.split + c.stop)) for part in rows for c in cols]


class CallableGram(Tiles):
    """A kernel matrix given as a function of row and column numbers.

    Parameters
    ----------
    function : callable
        `function(rows, cols)` takes two integer arrays and returns the matrix of their kernel values.
    n : int
        The number of samples.
    positive_definite : bool, default=False
        Whether the matrix is known to be positive semi-definite.
    budget : int
        Bytes of working memory for one product.
    cache : int, default=0
        Bytes of tiles to keep for later passes.
    """

    def __init__(
        self,
        function: Callable[[np.ndarray, np.ndarray], np.ndarray],
        n: int,
        positive_definite: bool = False,
        budget: int = BUDGET,
        cache: int = 0,
    ) -> None:
        self.function = function
        self.cache = cache
        self.shape = (n, n)
        self.dtype = np.dtype(np.float64)
        self.positive_definite = positive_definite
        self.budget = budget
        self.threads = 1  # a user's function need not be safe in threads
        self.entry_cost = 256.0
        self.source = "The kernel function"
        self._diagonal: np.ndarray | None = None

    def tile(self, rows: slice, cols: slice, out: np.ndarray) -> None:
        """Write a tile."""
        out[...] = self._values(np.arange(rows.start, rows.stop), np.arange(cols.start, cols.stop))

    def diagonal(self) -> np.ndarray:
        """() -> (n,)."""
        if self._diagonal is None:
            numbers = np.arange(self.shape[0])
            values = np.concatenate([self._values(i, i).ravel() for i in numbers[:, None]])
            self._diagonal = check_finite(values, self.source)
        return self._diagonal

    def columns(self, idx: np.ndarray) -> np.ndarray:
        """(m,) -> (n, m): a copy, for the function may have given a part of what is the user's."""
        return check_finite(self._values(np.arange(self.shape[0]), np.asarray(idx)).copy(), self.source)

    def _values(self, rows: np.ndarray, cols: np.ndarray) -> np.ndarray:
        with blaming_the_function(len(rows), len(cols)):
            values = np.asarray(self.function(rows, cols), dtype=self.dtype)
        if values.shape != (len(rows), len(cols)):
            raise ValueError(
                f"The kernel function returned shape {values.shape} for {len(rows)} row and {len(cols)} column "
                f"numbers; it must return ({len(rows)}, {len(cols)})."
            )
        return values


def cross_product(
    kernel: Kernel,
    X: Rows,
    Y: Rows,
    V: np.ndarray,
    budget: int = BUDGET,
    threads: int | None = None,
    origin: np.ndarray | None = None,
) -> np.ndarray:
    """(n, d), (m, d), (m, p) -> (n, p): k(X - origin, Y) V, tile by tile; rows are moved as they are needed."""
    dtype = np.promote_types(dtype_of(X), dtype_of(Y))
    n, m, p = n_rows(X), n_rows(Y), V.shape[1]
    result = np.zeros((n, p), dtype=np.promote_types(dtype, V.dtype))
    workers = (threads or available_threads()) if kernel.parallel else 1
    size, workers = tile_size(budget, 0, dtype.itemsize, workers, row_bytes(Y), kernel.tile)

    def work(tile: np.ndarray, rows: slice, _: slice) -> None:
        part = shifted(X[rows], origin)
        for cols in blocks(m, size):
            T = _shaped(tile, rows, cols)
            kernel.compute(part, Y[cols], T)
            result[rows] += T @ V[cols]

    height = min(size, max(1, -(-n // workers)))  # rows are shared out: every worker gets some
    share_out(all_tiles(n, 1, height), work, lambda: np.empty(size * size, dtype), workers)
    return check_finite(result, f"The kernel {kernel!r}")


def _shaped(scratch: np.ndarray, rows: slice, cols: slice) -> np.ndarray:
    """Return the start of a flat scratch array as a contiguous tile of rows x cols."""
    height, width = rows.stop - rows.start, cols.stop - cols.start
    return scratch[: height * width].reshape(height, width)


def made_cost(d: int) -> float:
    """Return the multiply-adds that an entry takes which is made of rows of d numbers."""
    return 64.0 + d


def row_bytes(X: Rows) -> int:
    """Return the bytes of one row that a kernel may copy; sparse rows and strings hardly count."""
    return X.dtype.itemsize * X.shape[1] if isinstance(X, np.ndarray | RemoteRows) and X.ndim == 2 else 0
