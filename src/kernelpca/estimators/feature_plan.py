"""Which path a fit through features takes: precision, memory, covariance or Gram form, and what it will cost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernelpca.estimators.cost import Rates, Shape
from kernelpca.estimators.exact import Request
from kernelpca.estimators.layout import Layout
from kernelpca.estimators.plan import Plan, make_plan
from kernelpca.features.nystrom import Nystrom
from kernelpca.features.protocol import FeatureMap
from kernelpca.gram.tiled import row_bytes
from kernelpca.kernels.base import Rows, dtype_of, n_rows
from kernelpca.memory import granted_bytes
from kernelpca.solvers.block_krylov import LARGE, SINGLE


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
    candidates = approximation.candidates(n) if isinstance(approximation, Nystrom) else 0
    layout = Layout(n, r, width, landmarks, dtype, granted_bytes(request.memory_limit), candidates)
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
        predicted_seconds=None if rates is None else layout.seconds(rates.entries, rates.flops),
    )
