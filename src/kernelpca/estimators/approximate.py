"""From features that stand for a kernel to a decomposition: linear PCA on them, in the form that is smaller."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernelpca.decomposition import Decomposition
from kernelpca.estimators.cost import SAMPLE, Rates, calibrate
from kernelpca.estimators.exact import TIMED, Fit, Request, measured, solve_for
from kernelpca.estimators.feature_plan import lay_out, plan_features
from kernelpca.estimators.layout import Layout
from kernelpca.estimators.mapped import Mapped, map_columns, map_rows
from kernelpca.estimators.plan import Plan
from kernelpca.features.error import estimate_error
from kernelpca.features.moments import gather
from kernelpca.features.nystrom import Nystrom
from kernelpca.features.protocol import FeatureMap, move
from kernelpca.gram import CenteredGram, DenseGram, Gram, WeightedGram
from kernelpca.kernels.base import Kernel, Rows, n_rows
from kernelpca.memory import granted_bytes
from kernelpca.solvers.certificate import Approximation
from kernelpca.solvers.protocol import Ritz, Solution, Solver, Watch, leading_signs
from kernelpca.tall import inner
from kernelpca.tiles import Tile, blocks, one_blas_thread, share_out

PILOT = 256  # rows whose mean is near that of all


@dataclass(frozen=True)
class Directions:
    """What was found among the features.

    Attributes
    ----------
    U : ndarray of shape (r, k)
        Directions.
    mean : ndarray of shape (r,)
        The mean of the features; zeros without centring.
    total, inside : float
        The variance in the kernel's feature space, and the part of it that the features have.
    solution : Solution
        Of the small eigenproblem.
    plan : Plan
        How it was solved.
    """

    U: np.ndarray
    mean: np.ndarray
    total: float
    inside: float
    solution: Solution
    plan: Plan


class Extension(Solver):
    """The eigenpairs of the landmarks' own matrix, taken as they are: the coordinate axes (tutorial, eq. 62 and 63).

    Parameters
    ----------
    values : ndarray
        Its eigenvalues, times the number of samples over that of landmarks.
    """

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def run(self, watch: Watch, k: int, start: np.ndarray | None, rng: np.random.Generator) -> Ritz:
        """Return the first k axes; their product with the matrix shows how far from eigenvectors they are."""
        vectors = np.eye(watch.gram.shape[0], k)
        return Ritz(self.values[:k], vectors, watch.matmat(vectors))

    def _warn(self, certificate: Any, watch: Watch) -> None:
        """Say nothing: this is what was asked for."""


def fit_features(
    approximation: FeatureMap, kernel: Kernel, X: Rows, request: Request, weights: np.ndarray | None = None
) -> Fit:
    """Decompose features of rows X that stand for a resolved kernel; X is not changed."""
    layout = _layout(approximation, X, request)
    rng = request.rng or np.random.default_rng(0)
    large = n_rows(X) >= TIMED
    rates = _rates(kernel, X, layout) if large else None
    with one_blas_thread, measured(large) as taken:
        mapped = map_rows(approximation, kernel, X, request.center, layout.dtype, rng, _count(request))
        fit = _fit(mapped, layout, request, weights, rates, rng)
    return replace(fit, plan=fit.plan.measured(*taken()))


def fit_columns(
    approximation: Nystrom, matrix: Gram | np.ndarray, request: Request, weights: np.ndarray | None = None
) -> Fit:
    """Decompose the Nyström approximation of a given matrix, or of a block of its columns (an array (n, m))."""
    rng = request.rng or np.random.default_rng(0)
    large = matrix.shape[0] >= TIMED
    with one_blas_thread, measured(large) as taken:
        mapped = map_columns(approximation, matrix, request.center, rng)
        layout = Layout(mapped.n, mapped.size, 0, mapped.size, mapped.dtype, granted_bytes(request.memory_limit))
        layout.check()
        fit = _fit(mapped, layout, request, weights, None, rng)
    return replace(fit, plan=fit.plan.measured(*taken()))


def explain_features(approximation: FeatureMap, kernel: Kernel, X: Rows, request: Request) -> Plan:
    """Return the plan of a fit through features; nothing large is allocated."""
    layout = _layout(approximation, X, request)
    size = min(layout.n, layout.r)
    k = min(request.components.first_guess(size), size)
    rates = _rates(kernel, X, layout)
    return plan_features(layout, f"{approximation!r}", size, k, request, rates)


def _layout(approximation: FeatureMap, X: Rows, request: Request) -> Layout:
    return lay_out(approximation, X, _count(request), request)


def _count(request: Request) -> int | None:
    """Return how many components are wanted, or None if a rule says it later."""
    rule = request.components
    return int(rule.amount) if rule.kind == "count" else None


def _rates(kernel: Kernel, X: Rows, layout: Layout) -> Rates:
    """Return the speed of this machine in the precision that features are made in."""
    return calibrate(kernel, move(X[: min(n_rows(X), SAMPLE)], None, layout.dtype))


def _fit(
    mapped: Mapped,
    layout: Layout,
    request: Request,
    weights: np.ndarray | None,
    rates: Rates | None,
    rng: np.random.Generator,
) -> Fit:
    """Find directions among the features, and say how good they are."""

    def planner(size: int, k: int) -> Plan:
        solver = request.solver
        if mapped.own_values is not None:
            solver = Extension(mapped.own_values * (mapped.n / len(mapped.used) if mapped.used is not None else 1.0))
        return plan_features(layout, mapped.name, size, k, replace(request, solver=solver), rates)

    kept = np.empty((mapped.n, mapped.width), mapped.dtype) if request.scores and layout.keeps else None
    find = through_gram if mapped.size > mapped.n else through_covariance
    found = find(mapped, layout.rows, request, weights, planner, kept)
    error = estimate_error(mapped.pairs, mapped.n, rng, mapped.used) if mapped.pairs else (np.nan, np.nan, np.nan)
    return _assemble(mapped, found, error, request, layout.rows, kept)


def through_covariance(
    mapped: Mapped,
    rows: int,
    request: Request,
    weights: np.ndarray | None,
    planner: Callable[[int, int], Plan],
    kept: np.ndarray | None,
) -> Directions:
    """Decompose the scatter S of the features (r, r); J are their signs.

    The matrix F J F' has the eigenvalues of S^(1/2) J S^(1/2), and an eigenvector y of that gives scores
    F J S^(1/2) y / sqrt|theta|; where all signs are positive this is the eigenvector of S itself.
    """

    def block(part: slice) -> tuple[np.ndarray, np.ndarray]:
        F, squares = mapped.block(part)
        if kept is not None:
            kept[part] = F
        return F, squares

    pilot = mapped.block(slice(0, PILOT))[0].mean(axis=0, dtype=np.float64)
    moments = gather(_row_tiles(mapped.n, rows), pilot, block, weights)
    if mapped.whitening is not None:
        moments = moments.under(mapped.whitening)
    S, signs = moments.scatter(request.center), mapped.signs
    mean = moments.mean if request.center else np.zeros(len(S))
    definite = bool((signs > 0).all())
    inside = float(signs @ S.diagonal())
    total = moments.squares - (moments.weight * float(signs @ mean**2) if request.center else 0.0)
    root = np.eye(0)
    if not definite:
        values, Q = np.linalg.eigh(S)
        root = Q * np.sqrt(np.maximum(values, 0.0)) @ Q.T
        S = root @ (signs[:, None] * root)
        S = (S + S.T) / 2
    gram = DenseGram(S, definite, "The covariance of the features", symmetric=True)
    solution, plan = solve_for(gram, lambda k: planner(len(S), k), request, lambda: max(total, inside))
    U = solution.vectors
    if not definite:
        sizes = np.sqrt(np.abs(solution.values))
        U = signs[:, None] * (root @ U) * np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    return Directions(U, mean, max(total, inside), inside, solution, plan)


def through_gram(
    mapped: Mapped,
    rows: int,
    request: Request,
    weights: np.ndarray | None,
    planner: Callable[[int, int], Plan],
    kept: np.ndarray | None,
) -> Directions:
    """Decompose the Gram matrix F F' (n, n) of positive features, of which there are more than samples (ikpca V b)."""
    n = mapped.n
    parts = blocks(n, rows if kept is None else n)
    K, squares = np.empty((n, n)), np.empty(n)
    for i, first in enumerate(parts):
        F, squares[first] = mapped.block(first)
        if kept is not None:
            kept[first] = F
        for second in parts[i:]:
            other = F if second == first else mapped.block(second)[0]
            K[first, second] = inner(F.T, other.T)
            K[second, first] = K[first, second].T
    w = np.ones(n) if weights is None else weights
    centered = CenteredGram(DenseGram(K, True, "The features", symmetric=True), weights) if request.center else None
    target: Gram = centered or DenseGram(K, True, "The features", symmetric=True)
    target = target if weights is None else WeightedGram(target, weights)
    mean = np.zeros(mapped.size)
    solution, plan = solve_for(target, lambda k: planner(n, k), request, target.trace)
    sizes = np.sqrt(np.abs(solution.values))
    alpha = solution.vectors * np.sqrt(w)[:, None] * np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    U = np.zeros((mapped.size, alpha.shape[1]))
    for part in parts:
        F = kept[part] if kept is not None else mapped.block(part)[0]
        U += F.T @ alpha[part]
        mean += (w[part] @ F) / w.sum()
    if request.center:
        U -= np.outer(mean, alpha.sum(axis=0))
    else:
        mean[:] = 0.0
    total = float(w @ squares) - float(w.sum()) * float(mean @ mean)
    return Directions(U, mean, total, total, solution, plan)


def _assemble(
    mapped: Mapped,
    found: Directions,
    error: tuple[float, float, float],
    request: Request,
    rows: int,
    kept: np.ndarray | None,
) -> Fit:
    """Fold directions into an affine map of new samples; components that the features have no variance for are zero."""
    values = found.solution.values
    folded = mapped.fold(found.U, found.mean)
    flips = leading_signs(folded.W) if folded.W.size else np.ones(folded.W.shape[1])
    U, mean = found.U * flips, found.mean
    missing = int(request.components.amount) - len(values) if request.components.kind == "count" else 0
    dtype = mapped.dtype
    missed = None
    if mapped.bounded:
        captured = float(values.sum())
        missed = max(found.total - found.inside, 0.0) / captured if captured > 0 else 0.0
    decomposition = Decomposition(
        features=folded.features,
        W=_pad(folded.W * flips, missing).astype(dtype),
        b=_pad(folded.b * flips, missing).astype(dtype),
        signs=_pad(np.sign(values), missing),
        eigenvalues=_pad(values, missing),
        total=found.total,
        mean_weights=folded.mean_weights.astype(dtype),
        mean_square=folded.mean_square,
        certificate=replace(found.solution.certificate, approximation=Approximation(mapped.name, *error, missed)),
        positive_definite=bool((mapped.signs > 0).all()),
    )

    combination, offset = mapped.from_block(U).astype(dtype), (mean @ U).astype(dtype)

    def scores() -> np.ndarray:
        result = np.zeros((mapped.n, len(decomposition.eigenvalues)), dtype)

        def work(_: None, part: slice, __: slice) -> None:
            F = kept[part] if kept is not None else mapped.block(part)[0]
            result[part, : U.shape[1]] = F @ combination - offset

        share_out(_row_tiles(mapped.n, rows), work, lambda: None)
        return result

    return Fit(decomposition, found.plan, scores)


def _pad(values: np.ndarray, missing: int) -> np.ndarray:
    """Add zeros at the end of the last axis: components that the features have no variance for."""
    return np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, max(missing, 0))])


def _row_tiles(n: int, rows: int) -> list[Tile]:
    return [(part, slice(0, 1)) for part in blocks(n, max(rows, 1))]
