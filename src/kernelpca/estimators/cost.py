"""What a fit will cost, in bytes and in seconds, before anything large is allocated.

Bytes follow from shapes. Seconds follow from how fast this machine makes tiles of this kernel on this data and how fast
it multiplies: both are measured on a small piece.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from kernelpca.estimators.layout import Layout
from kernelpca.features.nystrom import MOST as LANDMARKS
from kernelpca.features.nystrom import Nystrom
from kernelpca.gram.protocol import STORED
from kernelpca.gram.tiled import made_cost
from kernelpca.kernels.base import Kernel, Rows, dtype_of, n_rows
from kernelpca.solvers import BlockKrylov, Dense, Lanczos, Solver
from kernelpca.solvers.lanczos import EASY
from kernelpca.solvers.landmarks import KEPT
from kernelpca.tiles import TILE, available_threads, half_tiles, share_out

PACKING = 8  # columns whose time a thin product spends on bringing the matrix in
SAMPLE = 1024  # rows of which tiles are made for a calibration
SLOW_LAPACK = 8.0  # how much slower a dense eigensolver runs than a matrix product of as many operations


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


def landmarks_of(solver: Solver, shape: Shape, stored: bool) -> int:
    """Return how many landmarks a solver will start from."""
    if not isinstance(solver, BlockKrylov) or not (shape.definite and shape.cheap_columns):
        return 0
    return solver.landmark_count(shape.n, shape.k, _entry_cost(shape, stored))


def block_of(solver: Solver, shape: Shape, stored: bool) -> int:
    """Return how many columns its passes will have."""
    return solver.block_width(shape.n, shape.k, _entry_cost(shape, stored))


def _entry_cost(shape: Shape, stored: bool) -> float:
    return STORED if stored else made_cost(shape.width)


def passes_of(solver: Solver, shape: Shape, tol: float) -> int:
    """Return how many passes a solver is likely to take where the spectrum decays; slow spectra take more."""
    digits = -np.log10(max(tol, 1e-15))
    if isinstance(solver, BlockKrylov):
        started = landmarks_of(solver, shape, stored=True) > 0
        if solver.criterion == "residual":
            return int(np.ceil(0.75 * digits + (0.5 if started else 3.0)))
        first = 1 if solver.criterion == "variance" else 2
        return first + max(int(np.ceil((digits - 4) / 3)), 0) + (0 if started else 3)
    name = type(solver).__name__
    return int({"Lanczos": 3 * shape.k + 20, "Lbfgs": 10 * digits, "Dense": 2, "Sketch": 2}.get(name, 4 * digits + 4))


def block_bytes(solver: Solver, shape: Shape, stored: bool, passes: int | None = None) -> int:
    """Return the memory of an iterative solver after so many passes, beside its products.

    Or the most that it may take: with a full basis, in float64 if float32 should turn out not to be enough.
    """
    n, k = shape.n, shape.k
    item = shape.number if passes is not None or solver.criterion == "variance" else shape.itemsize
    p, m = block_of(solver, shape, stored), landmarks_of(solver, shape, stored)
    if isinstance(solver, BlockKrylov):
        basis = min(solver.basis_size(k, p), n)
        used = basis if passes is None else min(p * passes, basis)
    else:
        used = {"Lanczos": 2 * k + 20, "Lbfgs": 12 * k}.get(type(solver).__name__, 3 * p)
    columns = widest(p)
    working = min(m, KEPT * p) + 2 * used + 5 * columns
    copied = n if stored and isinstance(solver, Lanczos) and n <= EASY else 0
    return n * item * (working + copied) + 4 * n * k * 8


def start_bytes(solver: Solver, shape: Shape, stored: bool) -> int:
    """Return the memory of a start from landmarks, which is given back before the first pass."""
    return 2 * shape.n * landmarks_of(solver, shape, stored) * shape.number + sum_bytes(solver, shape, stored)


def product_bytes(solver: Solver, shape: Shape, stored: bool) -> int:
    """Return what workers hold in a pass: a tile, as much for the kernel's own work, prepared rows, a partial sum."""
    rows = 2 * TILE * shape.width * shape.number
    return available_threads() * (2 * shape.number * TILE * TILE + rows + sum_bytes(solver, shape, stored))


def sum_bytes(solver: Solver, shape: Shape, stored: bool) -> int:
    """Return what a worker holds of a product."""
    return shape.n * widest(block_of(solver, shape, stored)) * shape.number


def widest(p: int) -> int:
    """Return the columns of the widest pass with blocks of p: probes and the mean ride along, vectors are filled up."""
    return 8 * -(-(p + 9) // 8)


def dense_bytes(n: int, k: int, matrix: int) -> int:
    """Return what LAPACK needs: the matrix, a float64 copy, its work space, vectors and their products."""
    work = 3 * n * n * 8 if 3 * (k + 1) > n else 26 * n * 8
    return matrix + n * n * 8 + work + 5 * n * k * 8


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
    n, k = shape.n, shape.k
    if shape.for_solver(solver, tol).single:
        rates = Rates(2 * rates.entries, 2 * rates.flops)
    making = 0.0 if path == "given" else n * n / 2 / rates.entries
    if isinstance(solver, Dense):
        flops = SLOW_LAPACK * (4 / 3 * n**3 + (4 * n**3 if 3 * (k + 1) > n else 4 * n * n * k))
        return making + flops / product_rate(8) + 2 * n * n * k / rates.flops
    stored = path != "tiled"
    p, m = block_of(solver, shape, stored), landmarks_of(solver, shape, stored)
    passes = passes_of(solver, shape, tol)
    thin = 2 * n * n * (p + PACKING) / rates.flops
    start = n * m / rates.entries + 4 * n * m * m / rates.flops
    algebra = 12 * n * (m + p * (passes + 1) / 2) * p / rates.flops + 2e-9 * (m + p * passes) ** 3 / 10
    repeated = passes * (thin + algebra) + start
    return making + repeated if stored else passes * making + repeated


def approximation_that_fits(shape: Shape, limit: int) -> str:
    """Say which approximation would fit where no exact path does."""
    part = Nystrom(min(LANDMARKS, shape.n // 2))
    m, dtype = part.size_of(shape.n), np.dtype(f"f{shape.itemsize}")
    layout = Layout(shape.n, m, shape.width, m, dtype, limit, part.candidates(shape.n)).fewer()
    if not layout.fits or layout.r < shape.k:
        return "Even an approximation with landmarks would hardly fit: raise memory_limit."
    return f"Or use approximation=Nystrom({layout.r}), which fits."
