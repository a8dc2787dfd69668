"""What a fit will cost, in bytes and in seconds, before anything large is allocated.

Bytes follow from shapes. Seconds follow from how fast this machine makes tiles of this kernel on this data and how fast
it multiplies: both are measured on a small piece.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from kernelpca.estimators.layout import Layout
from kernelpca.features.nystrom import MOST as LANDMARKS
from kernelpca.features.nystrom import Nystrom
from kernelpca.gram.protocol import STORED
from kernelpca.gram.tiled import made_cost
from kernelpca.kernels.base import Kernel, Rows, dtype_of, n_rows
from kernelpca.solvers import Solver
from kernelpca.solvers.cost import Cost, Size, widest
from kernelpca.tiles import TILE, available_threads, half_tiles, share_out

PACKING = 8  # columns whose time a thin product spends on bringing the matrix in
SAMPLE = 1024  # rows of which tiles are made for a calibration


@dataclass(frozen=True)
class Shape:
    """The size of a problem.

    Attributes
    ----------
    n, k : int
        Rows and components.
    row_bytes : int
        Bytes of a row of the training data.
    itemsize : int
        Bytes of a number.
    definite, cheap_columns : bool
        Whether landmarks can be a start.
    single : bool
        Whether float64 data is worked on in float32.
    in_memory : bool
        Whether a given matrix is stored, so that a copy in float32 makes passes faster.
    counted : bool
        Whether k is what was asked for, and not a guess at what a rule will keep.
    """

    n: int
    k: int
    row_bytes: int
    itemsize: int
    definite: bool = True
    cheap_columns: bool = True
    single: bool = False
    in_memory: bool = False
    counted: bool = True

    def for_solver(self, solver: Solver, tol: float) -> Shape:
        """Return the same, worked on in the precision that the solver chooses."""
        worked_on = solver.working_dtype(np.dtype(f"f{self.itemsize}"), tol, self.n)
        return replace(self, single=worked_on.itemsize < self.itemsize)

    @property
    def number(self) -> int:
        """Bytes of a number that is worked on."""
        return 4 if self.single else self.itemsize

    @property
    def anchors(self) -> int:
        """Bytes of the rows that are kept, and of their copy in float32."""
        return self.n * (self.row_bytes + (self.width * self.number if self.single else 0))

    @property
    def matrix(self) -> int:
        """Bytes of the whole matrix."""
        return self.n * self.n * self.number

    @property
    def tiles(self) -> int:
        """Bytes of the tiles on and above the diagonal."""
        return self.n * (self.n + TILE) // 2 * self.number

    @property
    def width(self) -> int:
        """Numbers in a row."""
        return self.row_bytes // self.itemsize

    def cost(self, solver: Solver, tol: float, stored: bool) -> Cost:
        """Return what a solver takes, on a matrix that is stored or made in tiles."""
        return solver.cost(self._size(stored), tol)

    def frugal(self, solver: Solver) -> Iterator[tuple[Solver, str]]:
        """Return solvers that need less memory beside tiles, each with what it goes without."""
        return solver.frugal(self._size(False))

    def product(self, cost: Cost) -> int:
        """Return what workers hold in a pass: a tile, as much for the kernel, prepared rows, a partial sum."""
        rows = 2 * TILE * self.width * self.number
        return available_threads() * (2 * self.number * TILE * TILE + rows + self.sum(cost))

    def sum(self, cost: Cost) -> int:
        """Return what a worker holds of a product."""
        return self.n * widest(cost.columns) * self.number

    def _size(self, stored: bool) -> Size:
        entry_cost = STORED if stored else made_cost(self.width)
        return Size(self.n, self.k, self.itemsize, self.number, entry_cost, self.definite and self.cheap_columns)


@dataclass(frozen=True)
class Rates:
    """How fast this machine is.

    Attributes
    ----------
    entries : float
        Kernel values in tiles, a second, on all cores.
    flops : float
        Operations of a matrix product in the working precision, a second, on all cores.
    """

    entries: float
    flops: float


def calibrate(kernel: Kernel, X: Rows, enough: int = SAMPLE) -> Rates:
    """Measure how fast tiles of this kernel are made of so many of these rows, and how fast matrices are multiplied."""
    sample = X[: min(n_rows(X), SAMPLE, max(enough, 1))]
    m, dtype = n_rows(sample), dtype_of(X)
    size = min(kernel.tile, max(m // 3, 1))
    tiles = half_tiles(m, size)

    def work(tile: np.ndarray, rows: slice, cols: slice) -> None:
        height, width = rows.stop - rows.start, cols.stop - cols.start
        kernel.compute(sample[rows], sample[cols], tile[: height * width].reshape(height, width))

    def make() -> np.ndarray:
        return np.empty(size * size, dtype)

    workers = None if kernel.parallel else 1
    share_out(tiles[:2], work, make, workers)  # the first use may compile
    began = time.perf_counter()
    share_out(tiles, work, make, workers)
    seconds = max(time.perf_counter() - began, 1e-6)
    made = sum((r.stop - r.start) * (c.stop - c.start) for r, c in tiles)
    return Rates(made / seconds, product_rate(dtype.itemsize))


@lru_cache(maxsize=2)
def product_rate(itemsize: int) -> float:
    """Operations a second of a matrix product on all cores."""
    A = np.ones((512, 512), dtype={4: np.float32, 8: np.float64}[itemsize])
    best = np.inf
    for _ in range(3):
        began = time.perf_counter()
        A @ A
        best = min(best, time.perf_counter() - began)
    return 2 * 512**3 / best


def seconds_of(path: str, solver: Solver, shape: Shape, tol: float, rates: Rates) -> float:
    """Predict the time of a fit where the spectrum decays; `rates` are those of the data's own precision."""
    n = shape.n
    if shape.for_solver(solver, tol).single:
        rates = Rates(2 * rates.entries, 2 * rates.flops)
    stored = path != "tiled"
    cost = shape.cost(solver, tol, stored)
    made = 0.0 if path == "given" else n * n / 2 / rates.entries * (1 if stored else cost.passes)
    products = cost.passes * 2 * n * n * (cost.columns + PACKING) / rates.flops
    start = n * cost.landmarks / rates.entries
    return made + products + start + cost.flops / rates.flops + cost.lapack / product_rate(8)


def approximation_that_fits(shape: Shape, limit: int) -> str:
    """Say which approximation would fit where no exact path does."""
    part = Nystrom(min(LANDMARKS, shape.n // 2))
    m, dtype = part.size_of(shape.n), np.dtype(f"f{shape.itemsize}")
    layout = Layout(shape.n, m, shape.width, m, dtype, limit, part.candidates(shape.n)).fewer()
    if not layout.fits or layout.r < shape.k:
        return "Even an approximation with landmarks would hardly fit: raise memory_limit."
    return f"Or use approximation=Nystrom({layout.r}), which fits."
