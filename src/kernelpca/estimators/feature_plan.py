"""Which path a fit through features takes: precision, memory, covariance or Gram form, and what it will cost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernelpca.estimators.cost import Rates, Shape
from kernelpca.estimators.exact import Request
from kernelpca.estimators.layout import Layout
from kernelpca.estimators.plan import GIVEN, Plan, make_plan
from kernelpca.features.nystrom import Nystrom
from kernelpca.features.protocol import FeatureMap
from kernelpca.gram import Gram
from kernelpca.gram.tiled import row_bytes
from kernelpca.kernels.base import Kernel, Rows, dtype_of, n_rows, spread_rows
from kernelpca.kernels.origin import fits_single, origin_of
from kernelpca.memory import granted_bytes, readable_bytes
from kernelpca.remote import RemoteRows
from kernelpca.solvers.block_krylov import LARGE, SINGLE
from kernelpca.solvers.protocol import fits_into


def lay_out(approximation: FeatureMap, kernel: Kernel, X: Rows, request: Request) -> Layout:
    """Choose how a fit through features of rows X that stand for a kernel is done within the memory granted."""
    n, dtype = n_rows(X), dtype_of(X)
    r = approximation.size_of(n)
    check_count(request, r, approximation.count_name)
    width = row_bytes(X) // dtype.itemsize
    single = np.dtype(np.float32)
    if request.tol >= SINGLE and n >= LARGE:
        largest = 1.0 if kernel.unit_diagonal else float(np.abs(kernel.diag(spread_rows(X))).max())
        fits = dtype == single or fits_single(kernel, X, origin_of(kernel, X, request.center), largest)
        dtype = single if fits and fits_into(largest, n, single) else dtype
    landmarks, candidates = r if approximation.spans_rows else 0, approximation.candidates(n)
    chunks = len(X.parts) if isinstance(X, RemoteRows) else 0
    layout = Layout(n, r, width, landmarks, dtype, granted_bytes(request.memory_limit), candidates, chunks)
    layout.check()
    return layout


def lay_out_columns(approximation: Nystrom, matrix: Gram | np.ndarray, request: Request) -> Layout:
    """Choose how a fit on columns of a given matrix is done, and see that they fit beside it."""
    n, m = matrix.shape[0], approximation.size_of(matrix.shape[0])
    check_count(request, m, "n_landmarks")
    held = 2 * n * m * matrix.dtype.itemsize  # as they come, and in order
    limit = granted_bytes(request.memory_limit) - held
    layout = Layout(n, m, 0, m, matrix.dtype, limit)
    if limit <= 0 or not layout.fits:
        raise MemoryError(
            f"{m} columns of a matrix of {n} rows need about {readable_bytes(held + layout.bytes)} beside it; "
            f"{readable_bytes(limit + held)} are granted. Raise memory_limit, or take fewer landmarks."
        )
    return layout


def check_count(request: Request, r: int, what: str) -> None:
    """Refuse more components than features."""
    k = request.components.count
    if k is not None and k > r:
        raise ValueError(
            f"n_components={k} needs at least as many features, and {what}={r} were asked for. Raise {what} (ten for "
            "each component are a good start), or ask for fewer components."
        )


def plan_features(layout: Layout, name: str, size: int, k: int, request: Request, rates: Rates | None = None) -> Plan:
    """Return the plan of a fit of k components through features whose smaller matrix has this size."""
    shape = Shape(size, min(k, size), 0, 8, counted=request.components.is_count)
    inner = make_plan(shape, request.solver, request.memory_limit, request.tol, given=True)
    matrix = "Gram matrix" if layout.through_gram else "covariance"
    by = type(inner.solver).__name__
    if not (isinstance(request.solver, str) and request.solver == "auto"):
        by += f" ({inner.reason.removesuffix(GIVEN)})"
    sums = f"; the sums that {layout.chunks} chunks move are {readable_bytes(8 * layout.r**2)} each"
    return replace(
        inner,
        path="features",
        reason=(
            f"{name}; their {matrix}, {size} x {size}, is decomposed with {by}; features are "
            f"made for {layout.rows} rows at a time in {layout.dtype}{sums if layout.chunks else ''}"
        ),
        predicted_bytes=layout.bytes + inner.predicted_bytes,
        predicted_seconds=None if rates is None else layout.seconds(rates.entries, rates.flops),
    )
