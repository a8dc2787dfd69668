"""From features that stand for a kernel to a decomposition: linear PCA on them, in the form that is smaller."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernelpca.decomposition import Decomposition
from kernelpca.estimators.cost import SAMPLE, Rates, calibrate
from kernelpca.estimators.directions import (
    Directions,
    Planner,
    extension,
    pad,
    pursue_features,
    through_covariance,
    through_gram,
)
from kernelpca.estimators.exact import PIECE, Fit, Request, is_timed
from kernelpca.estimators.feature_plan import lay_out, lay_out_columns, plan_features
from kernelpca.estimators.layout import Layout
from kernelpca.estimators.mapped import Mapped, map_columns, map_rows
from kernelpca.estimators.plan import Plan
from kernelpca.features.error import estimate_error
from kernelpca.features.kernel import KernelFeatures
from kernelpca.features.moments import Moments, gather
from kernelpca.features.nystrom import Nystrom
from kernelpca.features.protocol import FeatureMap, Folded, move
from kernelpca.gram import Gram
from kernelpca.kernels.base import Kernel, Rows, dtype_of, n_rows
from kernelpca.remote import RemoteRows
from kernelpca.solvers.certificate import Approximation
from kernelpca.solvers.dual_certificate import DualCertificate
from kernelpca.solvers.solution import Dual, leading_signs, say_rounded
from kernelpca.tall import by_rows
from kernelpca.tiles import all_tiles, available_threads, one_blas_thread
from kernelpca.warn import warn

PILOT = 256  # rows whose mean is near that of all


def fit_features(
    approximation: FeatureMap, kernel: Kernel, X: Rows, request: Request, weights: np.ndarray | None = None
) -> Fit:
    """Decompose features of rows X that stand for a resolved kernel; X is not changed.

    Float32 is left for the data's own precision where it turns out not to tell the wanted components.
    """
    layout = lay_out(approximation, kernel, X, request)
    rng = request.rng or np.random.default_rng(0)
    rates = None
    if is_timed(n_rows(X), request):
        rates = _rates(kernel, X, layout, int(np.sqrt(n_rows(X) * layout.r)) // PIECE)
    request.announce(None if rates is None else layout.seconds(rates.entries, rates.flops))
    with one_blas_thread:
        mapped = map_rows(approximation, kernel, X, request, layout.dtype, rng)
        found, kept = _find(mapped, layout, request, weights, rates)
        if mapped.dtype != dtype_of(X) and mapped.digits_lost(found.values, request.tol):
            layout = replace(layout, dtype=dtype_of(X))
            layout.check()
            mapped = map_rows(approximation, kernel, X, request, layout.dtype, rng)
            found, kept = _find(mapped, layout, request, weights, rates)
        return _finish(mapped, found, request, layout, kept, weights, dtype_of(X), rng)


def fit_columns(
    approximation: Nystrom, matrix: Gram | np.ndarray, request: Request, weights: np.ndarray | None = None
) -> Fit:
    """Decompose the Nyström approximation of a given matrix, or of a block of its columns (an array (n, m))."""
    rng = request.rng or np.random.default_rng(0)
    layout = lay_out_columns(approximation, matrix, request)
    with one_blas_thread:
        mapped = map_columns(approximation, matrix, request, rng)
        found, kept = _find(mapped, layout, request, weights)
        return _finish(mapped, found, request, layout, kept, weights, mapped.dtype, rng)


def explain_features(approximation: FeatureMap, kernel: Kernel, X: Rows, request: Request) -> Plan:
    """Return the plan of a fit through features; nothing large is allocated."""
    layout = lay_out(approximation, kernel, X, request)
    approximation.check_for(kernel, X)
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


def _rates(kernel: Kernel, X: Rows, layout: Layout, enough: int = SAMPLE) -> Rates:
    """Return the speed of this machine, or of as many threads as there are elsewhere, in the features' precision."""
    rates = calibrate(kernel, move(X[: min(n_rows(X), SAMPLE)], None, layout.dtype), enough)
    if not isinstance(X, RemoteRows):
        return rates
    times = X.threads / available_threads()
    return Rates(rates.entries * times, rates.flops * times)


def _find(
    mapped: Mapped, layout: Layout, request: Request, weights: np.ndarray | None, rates: Rates | None = None
) -> tuple[Directions, np.ndarray | None]:
    """Find directions among the features; also return what blocks had for all samples, if that is kept."""

    def planner(size: int, k: int) -> Plan:
        return plan_features(layout, mapped.name, size, k, request, rates)

    again = request.scores or request.pursuit is not None
    keeps = again and layout.keeps and mapped.elsewhere is None
    kept = np.empty((mapped.n, mapped.width), mapped.dtype) if keeps else None
    if layout.through_gram:
        return through_gram(mapped, layout.rows, request, weights, planner, kept), kept

    def block(part: slice) -> tuple[np.ndarray, np.ndarray]:
        F, squares = mapped.block(part)
        if kept is not None:
            kept[part] = F
        return F, squares

    shift = near_mean(mapped)
    if mapped.elsewhere is not None:
        moments = mapped.elsewhere.in_blocks_of(layout.rows).gather(shift, weights)
    else:
        moments = gather(all_tiles(mapped.n, 1, layout.rows), shift, block, weights)
    return find_in_moments(mapped, moments, request, planner), kept


def near_mean(mapped: Mapped) -> np.ndarray:
    """(width,): a point near the mean of what blocks have, about which sums lose no digits."""
    return mapped.block(slice(0, PILOT))[0].mean(axis=0, dtype=np.float64)


def find_in_moments(mapped: Mapped, moments: Moments, request: Request, planner: Planner) -> Directions:
    """Find directions from the sums over all samples of what blocks have."""
    if mapped.whitening is not None:
        moments = moments.under(mapped.whitening)
    form = through_covariance if mapped.own_values is None else extension
    return form(mapped, moments, request, planner)


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
        pairs = pursue_features(mapped, found, request, request.pursuit, layout.rows, kept, weights)
    fits = []
    for directions, dual in pairs:
        fits.append(replace(assemble(mapped, directions, request, layout.rows, kept, dtype, rng), dual=dual))
    return replace(fits[-1], path=tuple(fits))


def assemble(
    mapped: Mapped,
    found: Directions,
    request: Request,
    rows: int,
    kept: np.ndarray | None,
    dtype: np.dtype,
    rng: np.random.Generator,
) -> Fit:
    """Fold directions into an affine map of new samples; components that the features have no variance for are zero."""
    mean, values = found.mean, found.values
    folded = mapped.fold(found.U, mean)
    signs = _signs(folded)
    U = found.U * signs
    missing = (request.components.count or 0) - len(values)
    error = (np.nan, np.nan, np.nan)
    if mapped.pairs:
        fetch = None if mapped.elsewhere is None else mapped.elsewhere.X.fetch
        error = estimate_error(mapped.pairs, mapped.n, rng, mapped.used, fetch)
    evidence = Approximation(mapped.name, *error, _missed(mapped, found))
    certificate = found.certificate
    if certificate.satisfied:
        certificate = certificate.rounded_to(mapped.rounding(float(values.max(initial=0.0))), values)
        if not certificate.satisfied:
            warn(say_rounded(certificate, mapped.dtype), ConvergenceWarning)
    residuals = pad(found.certificate.residuals, missing)
    decomposition = Decomposition(
        features=folded.features,
        W=pad(folded.W * signs, missing).astype(dtype),
        b=pad(folded.b * signs, missing).astype(dtype),
        signs=pad(np.sign(values), missing),
        eigenvalues=pad(values, missing),
        total=found.total,
        mean_weights=folded.mean_weights.astype(dtype),
        mean_square=folded.mean_square,
        certificate=replace(certificate, residuals=residuals, approximation=evidence),
        positive_definite=mapped.definite,
    )
    _warn_of_what_is_out_of_reach(decomposition, request)
    combination, offset = mapped.from_block(U).astype(mapped.dtype), (mean @ U).astype(mapped.dtype)

    def scores() -> np.ndarray:
        if mapped.elsewhere is not None:
            affine = partial(_scores_of, combination, offset, missing)
            return mapped.elsewhere.in_blocks_of(rows).collect(affine).astype(dtype)
        result = np.zeros((mapped.n, len(decomposition.eigenvalues)), dtype)

        def work(part: slice) -> None:
            F = kept[part] if kept is not None else mapped.block(part)[0]
            result[part, : U.shape[1]] = F @ combination - offset

        by_rows(mapped.n, work, rows)
        return result

    return Fit(decomposition, found.plan, scores)


def _signs(folded: Folded) -> np.ndarray:
    """(k,): signs by the scores of the landmarks, or by coefficients of features that have none.

    Other rows, their order and how they are cut change neither, so that streams have the signs of batch fits.
    """
    features = folded.features
    if isinstance(features, KernelFeatures):
        return leading_signs(features.at_origin().product(features.anchors, folded.W) + folded.b)
    return leading_signs(folded.W)


def _scores_of(combination: np.ndarray, offset: np.ndarray, missing: int, F: np.ndarray) -> np.ndarray:
    """(b, width) -> (b, k): scores of a block."""
    return pad(F @ combination - offset, missing)


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
        warn(
            f"n_components={rule.amount} asks for that part of the variance, and the features have {kept:.3g} of it: "
            f"all {len(decomposition.eigenvalues)} components are kept. Take more landmarks or features."
        )
