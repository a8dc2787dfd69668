"""From rows and a kernel, or a given matrix, to a decomposition: the exact path, for every estimator."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from kernelpca.decomposition import Decomposition
from kernelpca.estimators.components import Components
from kernelpca.estimators.cost import Shape, calibrate
from kernelpca.estimators.dual import Pursuit, pursue, with_pursuit
from kernelpca.estimators.plan import GIVEN, Plan, advise, make_plan
from kernelpca.estimators.support import Coefficients, keep_support
from kernelpca.features.kernel import GivenFeatures, KernelFeatures
from kernelpca.features.protocol import Features, move
from kernelpca.gram import CenteredGram, DenseGram, Gram, TiledGram, WeightedGram
from kernelpca.gram.budget import BUDGET
from kernelpca.gram.tiled import row_bytes
from kernelpca.kernels.base import Kernel, Rows, dtype_of, n_rows, shifted, spread_numbers
from kernelpca.kernels.origin import fits_single, origin_of
from kernelpca.memory import granted_bytes, readable_bytes
from kernelpca.remote import RemoteRows
from kernelpca.solvers.dense import FEW, Dense
from kernelpca.solvers.solution import Dual, Solution
from kernelpca.solvers.watch import Callback
from kernelpca.tiles import one_blas_thread

TIMED = 4000  # rows from which measuring the machine costs little beside the fit
SAMPLED, FEW_OF = 1000, 4  # rows that tell how many components a rule needs, where they are a small part of all
SQUARES = 5  # matrices of these rows that are held at a time
MORE = 1.4  # times as many components as some rows need, all do
PIECE = 4  # part of the rows that tell how fast kernel values are made, in a sixteenth of the time that all would take

# of the first eigenvalue, by item size: below it lies noise, as in scikit-learn
RELATIVE_ZERO = {4: 2e-7, 8: 1e-12}


@dataclass(frozen=True)
class Request:
    """What the user asked of the decomposition, whatever the data."""

    components: Components
    solver: Any = "auto"
    center: bool = True
    tol: float = 1e-4
    memory_limit: int | float | str | None = None
    rng: np.random.Generator | None = None
    callback: Callback | None = None
    scores: bool = False  # whether scores of the training rows will be asked for
    pursuit: Pursuit | None = None  # what is maximized, if not the variance

    @property
    def options(self) -> dict[str, Any]:
        """What every solver is given."""
        return {"tol": self.tol, "rng": self.rng, "callback": self.callback}

    def beside(self, held: int) -> Request:
        """Return the same where so many bytes of the memory granted are taken by a copy of rows."""
        if not held:
            return self
        limit = granted_bytes(self.memory_limit)
        if held >= limit:
            raise MemoryError(
                f"Copies of rows take {readable_bytes(held)}, of those with a positive weight or for the pre-image; "
                f"{readable_bytes(limit)} are granted. Leave rows of no weight out, X[sample_weight > 0], choose a "
                "pre-image that keeps no rows, or raise memory_limit."
            )
        return replace(self, memory_limit=limit - held)

    @property
    def expect(self) -> Callable[[float, str], object] | None:
        """What is to be told how many seconds something is likely to take, if the callback asks for that."""
        return getattr(self.callback, "expect", None)

    def announce(self, seconds: float | None, what: str = "kernel PCA") -> None:
        """Tell a callback that asks for it how long something is likely to take, where that is known."""
        if seconds is not None and self.expect is not None:
            self.expect(seconds, what)


@dataclass(frozen=True)
class Fit:
    """A decomposition with what is known of the training rows only.

    Attributes
    ----------
    decomposition : Decomposition
        The result.
    plan : Plan
        How it was found.
    make_scores : callable
        Returns the scores of the training rows, without kernel values that are known already.
    vectors : ndarray of shape (n, k) or None
        Eigenvectors of the matrix, where it was decomposed itself.
    dual : Dual or None
        The dual solution, for an objective other than the variance.
    residuals : ndarray of shape (n,) or None
        Squared distances of the training rows from the subspace, where they cost nothing to tell.
    path : tuple of Fit
        All fits, where there are several objectives; this is the last of them.
    """

    decomposition: Decomposition
    plan: Plan
    make_scores: Callable[[], np.ndarray]
    vectors: np.ndarray | None = None
    dual: Dual | None = None
    residuals: np.ndarray | None = None
    path: tuple[Fit, ...] = ()

    @cached_property
    def scores(self) -> np.ndarray:
        """(n, k): the scores of the training rows."""
        return self.make_scores()


def fit_rows(kernel: Kernel, X: Rows, request: Request, weights: np.ndarray | None = None) -> Fit:
    """Decompose the kernel matrix of rows X; `kernel` is resolved, X is not changed."""
    if isinstance(X, RemoteRows):
        return fit_remote(kernel, X, request, weights)
    request = with_likely_count(kernel, X, request, weights)
    planner = plan_rows(kernel, X, request)
    # on small matrices a second BLAS thread only gets in the way
    with one_blas_thread if n_rows(X) <= FEW else nullcontext():
        plan = planner(request.components.first_guess(n_rows(X)))
        request.announce(plan.predicted_seconds)
        positive = _positive(kernel, request.center)
        kernel = kernel.for_centering() if request.center else kernel
        features = KernelFeatures(kernel, *_moved_to_origin(kernel, X, request.center), plan.tile_budget or BUDGET)
        if plan.tile_budget:
            gram: Gram = TiledGram(kernel, features.anchors, plan.tile_budget, cache=plan.cache)
        else:
            K = kernel.matrix(features.anchors)
            gram = DenseGram(K, kernel.positive_definite, f"The kernel {kernel!r}", symmetric=True)
        gram.blur = kernel.rounding(features.anchors, gram.dtype)
        return _decompose(gram, features, planner, request, weights, positive)


def fit_remote(kernel: Kernel, X: RemoteRows, request: Request, weights: np.ndarray | None = None) -> Fit:
    """Decompose the kernel matrix of rows that lie elsewhere: products are made there, all else is done here."""
    positive = _positive(kernel, request.center)
    kernel = kernel.for_centering() if request.center else kernel
    features = KernelFeatures(kernel, *_moved_to_origin(kernel, X, request.center))
    gram = features.anchors.gram(kernel)
    gram.fits_single = gram.dtype == np.float32 or fits_single(kernel, X, features.origin, gram.magnitude())

    def planner(k: int) -> Plan:
        return plan_remote(gram, request, k)

    return _decompose(gram, features, planner, request, weights, positive)


def plan_remote(gram: Any, request: Request, k: int | None = None) -> Plan:
    """Return how the matrix of rows that lie elsewhere would be decomposed, and what each pass moves."""
    plan = plan_gram(gram, request, k)
    number = plan.solver.working_dtype(gram.dtype, request.tol, gram.shape[0])
    return replace(plan, path="remote", reason=f"{plan.reason.removesuffix(GIVEN)}; {gram.traffic(number.itemsize)}")


def fit_gram(gram: Gram, request: Request, weights: np.ndarray | None = None) -> Fit:
    """Decompose a given matrix."""

    def planner(k: int) -> Plan:
        return plan_gram(gram, request, k)

    return _decompose(gram, GivenFeatures(gram.shape[0]), planner, request, weights, gram.positive_definite)


def plan_gram(gram: Gram, request: Request, k: int | None = None) -> Plan:
    """Return how a given matrix would be decomposed."""
    k = request.components.first_guess(gram.shape[0]) if k is None else k
    shape = Shape(
        gram.shape[0],
        k,
        0,
        gram.dtype.itemsize,
        gram.positive_definite,
        gram.cheap_columns,
        in_memory=gram.in_memory,
        counted=request.components.is_count,
    )
    return make_plan(shape, request.solver, request.memory_limit, request.tol, given=True)


def plan_rows(kernel: Kernel, X: Rows, request: Request) -> Callable[[int], Plan]:
    """Return how a fit of k components on X is done, as a function of k; with its time where somebody would wait."""
    rates = None
    if is_timed(n_rows(X), request):
        rates = calibrate(kernel.for_centering() if request.center else kernel, X, n_rows(X) // PIECE)

    @cache
    def planner(k: int) -> Plan:
        return make_plan(
            shape_of(kernel, X, k, request), request.solver, request.memory_limit, request.tol, rates=rates
        )

    return planner


def with_likely_count(kernel: Kernel, X: Rows, request: Request, weights: np.ndarray | None = None) -> Request:
    """Return the request with about how many components its rule will need, as the spectrum of some rows tells.

    All rows need some more, for a few have fewer directions. So what cannot fit is refused before the work.
    """
    rule, n = request.components, n_rows(X)
    m = min(SAMPLED, math.isqrt(granted_bytes(request.memory_limit) // (8 * SQUARES)))
    if rule.kind not in ("fraction", "relative") or n < SAMPLED * FEW_OF:
        return request
    some = spread_numbers(n, m)
    rows = shifted(X[some], origin_of(kernel, X[some], request.center))
    gram = DenseGram(kernel.matrix(rows), kernel.positive_definite, f"The kernel {kernel!r}", symmetric=True)
    own = None if weights is None else weights[some]
    target: Gram = CenteredGram(gram, own) if request.center else gram
    target = target if own is None else WeightedGram(target, own)
    values = np.linalg.eigvalsh(target.dense())[::-1]
    total = float(values.sum())
    count = rule.select(values, total, zero_level(values, 0.0, values.dtype), m) if total > 0 else None
    if not count:
        return request
    likely = min(int(MORE * count) + 1, n)
    try:
        make_plan(shape_of(kernel, X, likely, request), request.solver, request.memory_limit, request.tol)
    except MemoryError as error:
        raise MemoryError(f"n_components={rule} takes about {likely}, as {m} of the rows tell. {error}") from error
    return replace(request, components=replace(rule, likely=likely))


def is_timed(n: int, request: Request) -> bool:
    """Whether the time of a fit on n rows is predicted: it is large, or its callback asks for that."""
    return n >= TIMED or request.expect is not None


def explain_rows(kernel: Kernel, X: Rows, request: Request) -> Plan:
    """Return the plan of a fit, with a prediction of its time and advice; nothing large is allocated."""
    if isinstance(X, RemoteRows):
        return plan_remote(X.gram(kernel), request)
    request = with_likely_count(kernel, X, request)
    k = request.components.first_guess(n_rows(X))
    rates = calibrate(kernel.for_centering() if request.center else kernel, X)
    shape = shape_of(kernel, X, k, request)
    plan = make_plan(shape, request.solver, request.memory_limit, request.tol, rates=rates)
    return advise(plan, shape, request.solver, request.tol, rates)


def shape_of(kernel: Kernel, X: Rows, k: int, request: Request) -> Shape:
    """Return the size of the problem."""
    positive, counted = _positive(kernel, request.center), request.components.is_count
    return Shape(n_rows(X), k, row_bytes(X), dtype_of(X).itemsize, positive, counted=counted)


def _positive(kernel: Kernel, center: bool) -> bool:
    return kernel.positive_once_centered if center else kernel.positive_definite


def _moved_to_origin(kernel: Kernel, X: Rows, center: bool) -> tuple[Rows, np.ndarray | None]:
    """Copy X; where a common shift changes nothing take off the mean, which saves digits."""
    origin = origin_of(kernel, X, center)
    return (X.copy() if origin is None else move(X, origin)), origin


def _decompose(
    gram: Gram,
    features: Features,
    plan_for: Callable[[int], Plan],
    request: Request,
    weights: np.ndarray | None,
    positive_definite: bool,
) -> Fit:
    """Solve, choose the number of components, and fold centring into W and b, for every objective asked for.

    Directions are combinations of centered features: with A = S^(1/2) Kc S^(1/2) and A u = theta u their coefficients
    are alpha = S^(1/2) u / sqrt(theta). Since sum_i alpha_i (phi_i - m) = sum_i (alpha - w 1'alpha)_i phi_i, the same
    directions are combinations W = alpha - w 1'alpha of the features themselves, whose columns sum to zero.
    """
    centered = CenteredGram(gram, weights, positive_definite) if request.center else None
    target: Gram = centered or gram
    target = target if weights is None else WeightedGram(target, weights)
    n, count = gram.shape[0], request.components.count
    if count is not None:
        with_pursuit(plan_for(count), request.pursuit, n, count)  # says if there is no room, before the work
    square, plan = solve_for(target, plan_for, request, target.trace)
    solutions = [square]
    if request.pursuit is not None:
        plan = with_pursuit(plan, request.pursuit, gram.shape[0], len(square.values))
        solutions = pursue(target, square, request.pursuit, weights, request.options)
    model = Model(gram, centered, features, weights, target.trace(), positive_definite)
    reduce = request.pursuit is not None and request.pursuit.reduce
    fits = tuple(model.fit(solution, plan, reduce) for solution in solutions)
    return replace(fits[-1], path=fits)


@dataclass(frozen=True)
class Model:
    """All of a model but its directions: the matrix and its centered form, features, weights, the whole variance."""

    gram: Gram
    centered: CenteredGram | None
    features: Features
    weights: np.ndarray | None
    total: float
    positive_definite: bool

    def fit(self, solution: Solution, plan: Plan, reduce: bool) -> Fit:
        """Fold centring into W and b; with `reduce` only rows of nonzero coefficients are kept."""
        n, dtype = self.gram.shape[0], self.gram.dtype
        values, certificate, features = solution.values, solution.certificate, self.features
        signs = np.sign(values)
        inverse = np.divide(signs, np.sqrt(np.abs(values)), out=np.zeros_like(values), where=values != 0)
        roots = np.ones((n, 1)) if self.weights is None else np.sqrt(self.weights)[:, None]
        found = Coefficients(solution.vectors * roots * inverse, solution.products / roots * inverse)
        if reduce:
            kept = keep_support(found, self.gram, self.centered)
            features, certificate = features.only(kept.rows), kept.certify(certificate)
            W, scores, mean_weights, mean_square, b = kept.W, kept.scores, kept.mean_weights, kept.mean_square, kept.b
            w = roots[:, 0] ** 2
            values = w @ np.square(scores - (w @ scores / w.sum() if self.centered else 0.0))
        else:
            W, scores = found.alpha, found.scores
            b, mean_weights, mean_square = np.zeros(len(values)), np.zeros(n), 0.0
            if self.centered:
                mean_weights, mean_square = self.centered.w, self.centered.mean_total
                W -= np.outer(mean_weights, W.sum(axis=0))
                b = -(self.centered.mean_column @ W)
        decomposition = Decomposition(
            features=features,
            W=W.astype(dtype),
            b=b.astype(dtype),
            signs=signs,
            eigenvalues=values,
            total=self.total,
            mean_weights=mean_weights.astype(dtype),
            mean_square=mean_square,
            certificate=certificate,
            positive_definite=self.positive_definite,
        )
        residuals = None
        if solution.dual is not None and not reduce:
            lengths = (self.centered or self.gram).diagonal().astype(np.float64)
            residuals = np.maximum(lengths - np.square(scores, dtype=np.float64).sum(axis=1), 0.0)
        make = lambda: scores.astype(dtype, copy=False)  # noqa: E731
        return Fit(decomposition, plan, make, solution.vectors, solution.dual, residuals)


def solve_for(
    gram: Gram, plan_for: Callable[[int], Plan], request: Request, total: Callable[[], float]
) -> tuple[Solution, Plan]:
    """Solve for as many eigenpairs as the rule needs, planning anew as they become more; `total` is the variance."""
    n, rule = gram.shape[0], request.components
    k, start = min(rule.first_guess(n), n), None
    plan = plan_for(k)

    def keep(values: np.ndarray, rounding: float, dtype: np.dtype) -> int | None:
        chosen = rule.select(values, total(), zero_level(values, rounding, dtype), n)
        return None if chosen is None else min(chosen, len(values))

    while True:
        if isinstance(plan.solver, Dense) and rule.kind in ("fraction", "relative"):
            k = n  # LAPACK reduces the whole matrix anyway: once is enough
            plan = plan_for(k)
            if start is not None:  # passes in float32 may have left a mean that is not exact enough for LAPACK
                gram.matmat(start[:, :1])
        if plan.tile_budget or plan.cache:
            gram.grant(plan.tile_budget or BUDGET, plan.cache)
        solution = plan.solver.solve(gram, k, start=start, keep=keep, **request.options)
        if solution.enough or solution.stopped:
            level, dtype = solution.certificate.rounding, solution.vectors.dtype
            noise = zero_level(solution.values, level, dtype)
            values = np.where(np.abs(solution.values) <= noise, 0.0, solution.values)
            return replace(solution, values=values), plan
        least, start = min(max(k + 1, rule.least(solution.values, total())), n), solution.vectors
        del solution  # its products, before there are more
        k = min(max(2 * k, least), n)
        try:
            plan = plan_for(k)
        except MemoryError:  # twice as many may be far more than are needed
            k = min(k, int(MORE * least))
            plan = plan_for(k)


def zero_level(values: np.ndarray, rounding: float, dtype: np.dtype) -> float:
    """Return the size below which an eigenvalue is noise; what is above the stated rounding, and not tiny, is kept."""
    return max(RELATIVE_ZERO[dtype.itemsize] * float(values.max(initial=0.0)), rounding)
