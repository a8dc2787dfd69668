"""Which path a fit through features takes: precision, memory, covariance or Gram form, and what it will cost."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernelpca.estimators.cost import Rates, Shape
from kernelpca.estimators.exact import Request
from kernelpca.estimators.plan import Plan, make_plan
from kernelpca.features.nystrom import Nystrom, candidate_count
from kernelpca.features.protocol import BLOCK_ROWS, FeatureMap
from kernelpca.gram.tiled import row_bytes
from kernelpca.kernels.base import Rows, dtype_of, n_rows
from kernelpca.memory import granted_bytes, readable_bytes
from kernelpca.solvers.block_krylov import LARGE, SINGLE
from kernelpca.tiles import available_threads

SMALLEST = 64  # rows of a block of features that is still worth making


@dataclass(frozen=True)
class Layout:
    """How features of rows are made, added up and decomposed.

    Attributes
    ----------
    n, r, width : int
        Rows, features, and numbers in a row.
    landmarks : int
        Landmarks that the features come from; 0 for random features.
    dtype : dtype
        The precision that features are made in.
    limit : int
        Bytes granted.
    """

    n: int
    r: int
    width: int
    landmarks: int
    dtype: np.dtype
    limit: int

    @property
    def through_gram(self) -> bool:
        """Whether the Gram matrix of the features is decomposed: it is smaller where there are more than rows."""
        return self.r > self.n

    @property
    def numbers(self) -> int:
        """Numbers that are held for a row while its features are made."""
        return self.width + 2 * self.r + self.landmarks

    @property
    def start_bytes(self) -> int:
        """What choosing the features takes: candidates and what is explained of them, or frequencies."""
        if not self.landmarks:
            return 2 * self.r * self.width * 8
        candidates = candidate_count(self.n, self.landmarks)
        return candidates * (self.width + 2 * self.landmarks) * self.dtype.itemsize + 4 * self.landmarks**2 * 8

    @property
    def sum_bytes(self) -> int:
        """What the small matrix takes: a sum for each worker, or the whole, and what is made of it."""
        if self.through_gram:
            return self.n * self.n * 8 * 3
        return self.r * self.r * (available_threads() * (8 + self.dtype.itemsize) + 4 * 8)

    @property
    def rows(self) -> int:
        """Rows whose features a worker makes at a time."""
        room = self.limit - max(self.start_bytes, self.sum_bytes)
        return int(min(room / (available_threads() * self.numbers * self.dtype.itemsize), BLOCK_ROWS, self.n))

    @property
    def bytes(self) -> int:
        """Peak memory, beyond the rows and without features that are kept."""
        blocks = available_threads() * max(self.rows, 1) * self.numbers * self.dtype.itemsize
        return max(self.start_bytes, self.sum_bytes + blocks)

    @property
    def keeps(self) -> bool:
        """Whether there is room for the features of all rows."""
        return self.bytes + self.n * self.r * self.dtype.itemsize <= self.limit

    def check(self) -> None:
        """Refuse more features than the memory granted has room for."""
        if self.rows >= min(SMALLEST, self.n):
            return
        what = "landmarks" if self.landmarks else "features"
        fewer = self
        while fewer.r > 1 and fewer.rows < min(SMALLEST, self.n):
            fewer = replace(fewer, r=fewer.r // 2, landmarks=fewer.landmarks // 2)
        raise MemoryError(
            f"{self.r} {what} of {self.n} rows need about {readable_bytes(self.bytes)} or more; "
            f"{readable_bytes(self.limit)} are granted. Raise memory_limit, or give fewer {what}, such as {fewer.r}."
        )

    def seconds(self, rates: Rates) -> float:
        """Predict the time of a fit; `rates` are those of the precision worked in."""
        n, r, m = self.n, self.r, self.landmarks
        if self.through_gram:
            return 2 * n * r * (self.width + n) / rates.flops + n * r / rates.entries
        if not m:
            return n * r * (2 * self.width + r) / rates.flops + n * r / rates.entries
        chosen = candidate_count(n, m)
        return (n + chosen) * m / rates.entries + (2.2 * n + chosen) * m * m / rates.flops + 1e-10 * m**3


def lay_out(approximation: FeatureMap, X: Rows, k: int | None, request: Request) -> Layout:
    """Choose how a fit of k components (None: as many as a rule says) through features of rows X is done."""
    n, dtype = n_rows(X), dtype_of(X)
    landmarks = approximation.count(n) if isinstance(approximation, Nystrom) else 0
    r = landmarks or approximation.size_of(n)
    if k is not None and k > r:
        what = "n_landmarks" if landmarks else "n_features"
        raise ValueError(
            f"n_components={k} needs at least as many features, and {what}={r} were asked for. Raise {what} (ten for "
            "each component are a good start), or ask for fewer components."
        )
    width = row_bytes(X) // dtype.itemsize
    if request.tol >= SINGLE and n >= LARGE:
        dtype = np.dtype(np.float32)
    layout = Layout(n, r, width, landmarks, dtype, granted_bytes(request.memory_limit))
    layout.check()
    return layout


def plan_features(layout: Layout, name: str, size: int, k: int, request: Request, rates: Rates | None = None) -> Plan:
    """Return the plan of a fit of k components through features whose smaller matrix has this size."""
    shape = Shape(size, min(k, size), 0, 8)
    inner = make_plan(shape, request.solver, request.memory_limit, request.tol, given=True)
    matrix = "Gram matrix" if layout.through_gram else "covariance"
    return replace(
        inner,
        path="features",
        reason=(
            f"{name}; their {matrix}, {size} x {size}, is decomposed ({inner.reason.split(';')[0]}); features are made "
            f"for {layout.rows} rows at a time in {layout.dtype}"
        ),
        predicted_bytes=min(layout.bytes + inner.predicted_bytes, layout.limit),
        predicted_seconds=None if rates is None else layout.seconds(rates),
    )
