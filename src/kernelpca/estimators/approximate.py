"""From features that stand for a kernel to a decomposition: linear PCA on them, in the form that is smaller."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kernelpca.decomposition import Decomposition
from kernelpca.estimators.cost import SAMPLE, Rates, calibrate
from kernelpca.estimators.dual import Pursuit, check_rank, pursue, with_pursuit
from kernelpca.estimators.exact import TIMED, Fit, Request, measured, solve_for
from kernelpca.estimators.feature_plan import lay_out, lay_out_columns, plan_features
from kernelpca.estimators.layout import Layout
from kernelpca.estimators.mapped import Mapped, map_columns, map_rows
from kernelpca.estimators.plan import Plan
from kernelpca.features.error import estimate_error
from kernelpca.features.moments import Moments, gather
from kernelpca.features.nystrom import Nystrom
from kernelpca.features.protocol import FeatureMap, move
from kernelpca.gram import BlockedGram, CenteredGram, DenseGram, Gram, WeightedGram
from kernelpca.kernels.base import Kernel, Rows, dtype_of, n_rows
from kernelpca.solvers.certificate import Approximation, Certificate, find_clusters, reached, relative
from kernelpca.solvers.dual_certificate import DualCertificate
from kernelpca.solvers.protocol import Dual, Solution, leading_signs
from kernelpca.tall import by_rows, inner
from kernelpca.tiles import all_tiles, blocks, one_blas_thread

PILOT = 256  # rows whose mean is near that of all
LOOKED_AT = 1024  # rows whose largest score says which sign a component has

Planner = Callable[[int, int], Plan]


@dataclass(frozen=True)
class Directions:
    """What was found among the features.

    Attributes
    ----------
    U : ndarray of shape (r, k)
        Directions.
    values : ndarray of shape (k,)
        Their eigenvalues.
    mean : ndarray of shape (r,)
        The mean of the features; zeros without centring.
    total, inside : float
        The variance in the kernel's feature space, and the part of it that the features have.
    certificate, plan : Certificate, Plan
        Of the small eigenproblem.
    """

    U: np.ndarray
    values: np.ndarray
    mean: np.ndarray
    total: float
    inside: float
    certificate: Certificate
    plan: Plan


def fit_features(
    approximation: FeatureMap, kernel: Kernel, X: Rows, request: Request, weights: np.ndarray | None = None
) -> Fit:
    """Decompose features of rows X that stand for a resolved kernel; X is not changed.

    Float32 is left for the data's own precision where it turns out not to tell the wanted components.
    """
    layout = lay_out(approximation, kernel, X, request)
    rng = request.rng or np.random.default_rng(0)
    large = n_rows(X) >= TIMED
    rates = _rates(kernel, X, layout) if large else None
    with one_blas_thread, measured(large) as taken:
        mapped = map_rows(approximation, kernel, X, request, layout.dtype, rng)
        found, kept = _find(mapped, layout, request, weights, rates)
        if mapped.dtype != dtype_of(X) and mapped.digits_lost(found.values, request.tol):
            layout = replace(layout, dtype=dtype_of(X))
            layout.check()
            mapped = map_rows(approximation, kernel, X, request, layout.dtype, rng)
            found, kept = _find(mapped, layout, request, weights, rates)
        fit = _finish(mapped, found, request, layout, kept, weights, dtype_of(X), rng)
    return replace(fit, plan=fit.plan.measured(*taken()))


def fit_columns(
    approximation: Nystrom, matrix: Gram | np.ndarray, request: Request, weights: np.ndarray | None = None
) -> Fit:
    """Decompose the Nyström approximation of a given matrix, or of a block of its columns (an array (n, m))."""
    rng = request.rng or np.random.default_rng(0)
    large = matrix.shape[0] >= TIMED
    layout = lay_out_columns(approximation, matrix, request)
    with one_blas_thread, measured(large) as taken:
        mapped = map_columns(approximation, matrix, request, rng)
        found, kept = _find(mapped, layout, request, weights)
        fit = _finish(mapped, found, request, layout, kept, weights, mapped.dtype, rng)
    return replace(fit, plan=fit.plan.measured(*taken()))


def explain_features(approximation: FeatureMap, kernel: Kernel, X: Rows, request: Request) -> Plan:
    """Return the plan of a fit through features; nothing large is allocated."""
    layout = lay_out(approximation, kernel, X, request)
    if not isinstance(approximation, Nystrom):
        approximation.fit(kernel, X[:2], np.random.default_rng(0))  # says what is wrong with it
    return _explain(approximation, layout, request, _rates(kernel, X, layout))


def explain_columns(approximation: Nystrom, matrix: Gram | np.ndarray, request: Request) -> Plan:
    """Return the plan of a fit on columns of a given matrix."""
    if isinstance(matrix, np.ndarray):
        approximation.indices_of(matrix)  # says what is wrong with it
    return _explain(approximation, lay_out_columns(approximation, matrix, request), request, None)


def _explain(approximation: FeatureMap, layout: Layout, request: Request, rates: Rates | None) -> Plan:
    size = layout.matrix_size
    k = min(request.components.first_guess(size), size)
    return plan_features(layout, f"{layout.r} features of {type(approximation).__name__}", size, k, request, rates)


def _rates(kernel: Kernel, X: Rows, layout: Layout) -> Rates:
    """Return the speed of this machine in the precision that features are made in."""
    return calibrate(kernel, move(X[: min(n_rows(X), SAMPLE)], None, layout.dtype))


def _find(
    mapped: Mapped, layout: Layout, request: Request, weights: np.ndarray | None, rates: Rates | None = None
) -> tuple[Directions, np.ndarray | None]:
    """Find directions among the features; also return what blocks had for all samples, if that is kept."""

    def planner(size: int, k: int) -> Plan:
        return plan_features(layout, mapped.name, size, k, request, rates)

    again = request.scores or request.pursuit is not None
    kept = np.empty((mapped.n, mapped.width), mapped.dtype) if again and layout.keeps else None
    if layout.through_gram:
        return through_gram(mapped, layout.rows, request, weights, planner, kept), kept

    def block(part: slice) -> tuple[np.ndarray, np.ndarray]:
        F, squares = mapped.block(part)
        if kept is not None:
            kept[part] = F
        return F, squares

    pilot = mapped.block(slice(0, PILOT))[0].mean(axis=0, dtype=np.float64)
    moments = gather(all_tiles(mapped.n, 1, layout.rows), pilot, block, weights)
    if mapped.whitening is not None:
        moments = moments.under(mapped.whitening)
    form = through_covariance if mapped.own_values is None else extension
    return form(mapped, moments, request, planner), kept


def through_covariance(mapped: Mapped, moments: Moments, request: Request, planner: Planner) -> Directions:
    """Decompose the scatter S of the features (r, r); J are their signs.

    The matrix F J F' has the eigenvalues of S^(1/2) J S^(1/2), and an eigenvector y of that gives scores
    F J S^(1/2) y / sqrt|theta|; where all signs are positive this is the eigenvector of S itself.
    """
    S, signs = moments.scatter(request.center), mapped.signs
    mean, total, inside = _variances(mapped, moments, S, request.center)
    root = np.eye(0)
    if not mapped.definite:
        values, Q = np.linalg.eigh(S)
        root = Q * np.sqrt(np.maximum(values, 0.0)) @ Q.T
        S = root @ (signs[:, None] * root)
        S = (S + S.T) / 2
    gram = DenseGram(S, mapped.definite, "The covariance of the features", symmetric=True)
    solution, plan = solve_for(gram, lambda k: planner(len(S), k), request, lambda: total)
    U = (
        solution.vectors
        if mapped.definite
        else signs[:, None] * (root @ solution.vectors) * _over_roots(solution.values)
    )
    return Directions(U, solution.values, mean, total, inside, solution.certificate, plan)


def extension(mapped: Mapped, moments: Moments, request: Request, planner: Planner) -> Directions:
    """Take the landmarks' own components as they are: the first axes (tutorial, eq. 62 and 63).

    Their eigenvalues are those of the landmarks' own matrix times the number of samples over that of landmarks. How far
    from eigenvectors of M = F J F' they are: M F e - theta F e = F r with r = J S e - theta e, of length sqrt(r'S r).
    """
    began = time.perf_counter()
    S = moments.scatter(request.center)
    mean, total, inside = _variances(mapped, moments, S, request.center)
    values = np.asarray(mapped.own_values) * (moments.weight / mapped.landmarks)
    k = request.components.select(values, total, 0.0, len(values)) or 0
    k = min(k, len(values))
    values, U = values[:k], np.eye(len(S), k)
    R = mapped.signs[:, None] * S[:, :k] - U * values
    lengths = np.sqrt(np.maximum(np.einsum("ij,ij->j", U, S @ U), np.finfo(np.float64).tiny))
    residuals = np.sqrt(np.maximum(np.einsum("ij,ij->j", R, S @ R), 0.0)) / lengths
    captured, rounding = float(np.square(lengths).sum()), 1e-12 * float(np.abs(values).max(initial=0.0))
    certificate = Certificate(
        grade="estimated",
        residuals=residuals,
        relative_residual=relative(values, residuals, rounding),
        orthogonality_loss=0.0,
        lower=min(captured, inside),
        upper=max(captured, inside),
        clusters=find_clusters(values, residuals, None),
        passes=1,
        seconds=time.perf_counter() - began,
        tol=request.tol,
        rounding=rounding,
        satisfied=bool(reached(values, residuals, request.tol, rounding).all()),
    )
    return Directions(U, values, mean, total, inside, certificate, planner(len(S), max(k, 1)))


def _variances(mapped: Mapped, moments: Moments, S: np.ndarray, center: bool) -> tuple[np.ndarray, float, float]:
    """Return the mean of the features, the whole variance, and what the features have of it.

    With landmarks the whole is that about the model's center, the point of their affine hull nearest to the mean.
    """
    mean = moments.mean if center else np.zeros(len(S))
    inside = float(mapped.signs @ S.diagonal())
    if not mapped.landmarks:
        return mean, inside, inside
    total = moments.squares - (moments.weight * float(mapped.signs @ mean**2) if center else 0.0)
    return mean, max(total, inside), inside


def through_gram(
    mapped: Mapped,
    rows: int,
    request: Request,
    weights: np.ndarray | None,
    planner: Planner,
    kept: np.ndarray | None,
) -> Directions:
    """Decompose the Gram matrix F F' (n, n) of positive features, of which there are more than samples (ikpca V b)."""
    n = mapped.n
    parts = blocks(n, rows if kept is None else n)
    K = np.empty((n, n))
    for i, first in enumerate(parts):
        F = mapped.block(first)[0]
        if kept is not None:
            kept[first] = F
        for second in parts[i:]:
            other = F if second == first else mapped.block(second)[0]
            K[first, second] = inner(F.T, other.T)
            K[second, first] = K[first, second].T
    gram: Gram = DenseGram(K, True, "The features", symmetric=True)
    gram = CenteredGram(gram, weights) if request.center else gram
    gram = gram if weights is None else WeightedGram(gram, weights)
    solution, plan = solve_for(gram, lambda k: planner(n, k), request, gram.trace)
    w = np.ones(n) if weights is None else weights
    alpha = solution.vectors * np.sqrt(w)[:, None] * _over_roots(solution.values)
    U, mean = np.zeros((mapped.size, alpha.shape[1])), np.zeros(mapped.size)
    for part in parts:
        F = kept[part] if kept is not None else mapped.block(part)[0]
        U += F.T @ alpha[part]
        mean += (w[part] @ F) / w.sum()
    if request.center:
        U -= np.outer(mean, alpha.sum(axis=0))
    else:
        mean[:] = 0.0
    total = gram.trace()
    return Directions(U, solution.values, mean, total, total, solution.certificate, plan)


def _finish(
    mapped: Mapped,
    found: Directions,
    request: Request,
    layout: Layout,
    kept: np.ndarray | None,
    weights: np.ndarray | None,
    dtype: np.dtype,
    rng: np.random.Generator,
) -> Fit:
    """Go on from the square solution to what is asked for, and assemble models."""
    pairs: list[tuple[Directions, Dual | None]] = [(found, None)]
    if request.pursuit is not None:
        pairs = _pursue(mapped, found, request, request.pursuit, layout.rows, kept, weights)
    fits = []
    for directions, dual in pairs:
        fits.append(replace(_assemble(mapped, directions, request, layout.rows, kept, dtype, rng), dual=dual))
    return replace(fits[-1], path=tuple(fits))


def _pursue(
    mapped: Mapped,
    found: Directions,
    request: Request,
    pursuit: Pursuit,
    rows: int,
    kept: np.ndarray | None,
    weights: np.ndarray | None,
) -> list[tuple[Directions, Dual | None]]:
    """Find directions for other objectives on the matrix Fc Fc' of centered and weighted features."""
    if not mapped.definite:
        raise ValueError(
            "The landmarks' kernel matrix is indefinite, and robust and sparse objectives need one that is positive "
            "semi-definite. Choose a positive definite kernel such as 'rbf'."
        )
    mean = found.mean.astype(mapped.dtype)
    roots = None if weights is None else np.sqrt(weights).astype(mapped.dtype)[:, None]

    def shift(by: np.ndarray) -> None:
        """Move the features that are kept, so that they need not be copied in each pass."""
        if kept is not None:
            by_rows(mapped.n, lambda part: np.add(kept[part], by, out=kept[part]), rows)

    def block(part: slice) -> np.ndarray:
        F = mapped.block(part)[0] - mean if kept is None else kept[part]
        return F if roots is None else F * roots[part]

    shift(-mean)

    plan = with_pursuit(found.plan, pursuit, mapped.n, len(found.values))
    gram = BlockedGram(mapped.n, mapped.size, mapped.dtype, block, rows)
    check_rank(_pad(found.values, (request.components.count or 0) - len(found.values)))
    vectors = np.empty((mapped.n, len(found.values)))
    over_roots = found.U / np.sqrt(found.values)

    def work(part: slice) -> None:
        vectors[part] = block(part) @ over_roots

    by_rows(mapped.n, work, rows)
    square = Solution(found.values, vectors, vectors * found.values, found.certificate)
    pairs: list[tuple[Directions, Dual | None]] = []
    for solution in pursue(gram, square, pursuit, weights, request.options):
        U = gram.combine(solution.vectors * _over_roots(solution.values))
        changed = {"U": U, "values": solution.values, "certificate": solution.certificate, "plan": plan}
        pairs.append((replace(found, **changed), solution.dual))  # type: ignore[arg-type]
    shift(mean)
    return pairs


def _assemble(
    mapped: Mapped,
    found: Directions,
    request: Request,
    rows: int,
    kept: np.ndarray | None,
    dtype: np.dtype,
    rng: np.random.Generator,
) -> Fit:
    """Fold directions into an affine map of new samples; components that the features have no variance for are zero."""
    first = mapped.block(slice(0, LOOKED_AT))[0] if kept is None else kept[:LOOKED_AT]
    some = first @ mapped.from_block(found.U) - found.mean @ found.U
    U, mean, values = found.U * leading_signs(some), found.mean, found.values
    folded = mapped.fold(U, mean)
    missing = (request.components.count or 0) - len(values)
    error = estimate_error(mapped.pairs, mapped.n, rng, mapped.used) if mapped.pairs else (np.nan, np.nan, np.nan)
    evidence = Approximation(mapped.name, *error, _missed(mapped, found))
    decomposition = Decomposition(
        features=folded.features,
        W=_pad(folded.W, missing).astype(dtype),
        b=_pad(folded.b, missing).astype(dtype),
        signs=_pad(np.sign(values), missing),
        eigenvalues=_pad(values, missing),
        total=found.total,
        mean_weights=folded.mean_weights.astype(dtype),
        mean_square=folded.mean_square,
        certificate=replace(found.certificate, approximation=evidence),
        positive_definite=mapped.definite,
    )
    _warn_of_what_is_out_of_reach(decomposition, request)
    combination, offset = mapped.from_block(U).astype(mapped.dtype), (mean @ U).astype(mapped.dtype)

    def scores() -> np.ndarray:
        result = np.zeros((mapped.n, len(decomposition.eigenvalues)), dtype)

        def work(part: slice) -> None:
            F = kept[part] if kept is not None else mapped.block(part)[0]
            result[part, : U.shape[1]] = F @ combination - offset

        by_rows(mapped.n, work, rows)
        return result

    return Fit(decomposition, found.plan, scores)


def _missed(mapped: Mapped, found: Directions) -> float | None:
    """Bound what exact kernel PCA captures beyond this, as a fraction: the sum of k eigenvalues of K = F F' + E.

    It is at most that of F F', which the small eigenproblem tells where it was solved (all of the trace where not),
    and the trace of E.
    """
    captured = float(found.values.sum())
    of_variance = not isinstance(found.certificate, DualCertificate)
    if not (mapped.bounded and of_variance) or mapped.own_values is not None or captured <= 0:
        return None
    errors = float(np.finfo(mapped.dtype).eps) * (found.total + mapped.noise * np.sqrt(found.total))
    solved = found.certificate.satisfied
    inside = captured + float(found.certificate.residuals.sum()) if solved else found.inside
    return float((inside + found.total - found.inside + 10 * errors) / captured - 1)


def _warn_of_what_is_out_of_reach(decomposition: Decomposition, request: Request) -> None:
    """Say so where a fraction of the variance was asked for that the features do not have."""
    rule, kept = request.components, float(decomposition.ratio.sum())
    if rule.kind == "fraction" and kept < rule.amount * (1 - 1e-6):
        warnings.warn(
            f"n_components={rule.amount} asks for that part of the variance, and the features have {kept:.3g} of it: "
            f"all {len(decomposition.eigenvalues)} components are kept. Take more landmarks or features.",
            UserWarning,
            stacklevel=7,
        )


def _over_roots(values: np.ndarray) -> np.ndarray:
    """(k,) -> (k,): 1 / sqrt|value|, and 0 for 0."""
    sizes = np.sqrt(np.abs(values))
    return np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)


def _pad(values: np.ndarray, missing: int) -> np.ndarray:
    """Add zeros at the end of the last axis: components that the features have no variance for."""
    return np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, max(missing, 0))])
