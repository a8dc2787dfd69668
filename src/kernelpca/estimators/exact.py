"""From rows and a kernel, or a given matrix, to a decomposition: the exact path, for every estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernelpca.decomposition import Decomposition, Features, GivenFeatures, KernelFeatures
from kernelpca.estimators.components import Components
from kernelpca.estimators.plan import Plan, make_plan
from kernelpca.gram import CenteredGram, DenseGram, Gram, TiledGram, WeightedGram
from kernelpca.kernels.base import Kernel, Rows, dtype_of, n_rows
from kernelpca.solvers.dense import Dense
from kernelpca.solvers.protocol import Callback, Solution

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


@dataclass(frozen=True)
class Fit:
    """A decomposition with what is known of the training rows only."""

    decomposition: Decomposition
    vectors: np.ndarray
    scores: np.ndarray
    plan: Plan


def fit_rows(kernel: Kernel, X: Rows, request: Request, weights: np.ndarray | None = None) -> Fit:
    """Decompose the kernel matrix of rows X; `kernel` is resolved, X is not changed."""
    n, itemsize = n_rows(X), dtype_of(X).itemsize

    def plan_for(k: int) -> Plan:
        return make_plan(n, k, itemsize, request.solver, request.memory_limit)

    plan = plan_for(request.components.first_guess(n))
    positive = kernel.positive_once_centered if request.center else kernel.positive_definite
    kernel = kernel.for_centering() if request.center else kernel
    features = KernelFeatures(kernel, *_moved_to_origin(kernel, X, request.center), plan.tile_budget)
    if plan.path == "tiled":
        gram: Gram = TiledGram(kernel, features.anchors, plan.tile_budget)
    else:
        K = kernel(features.anchors)
        gram = DenseGram(K, kernel.positive_definite, f"The kernel {kernel!r}", symmetric=True)
    return _decompose(gram, features, plan_for, request, weights, positive)


def fit_gram(gram: Gram, request: Request, weights: np.ndarray | None = None) -> Fit:
    """Decompose a given matrix."""
    n, itemsize = gram.shape[0], gram.dtype.itemsize

    def plan_for(k: int) -> Plan:
        return make_plan(n, k, itemsize, request.solver, request.memory_limit, given=True)

    return _decompose(gram, GivenFeatures(n), plan_for, request, weights, gram.positive_definite)


def _moved_to_origin(kernel: Kernel, X: Rows, center: bool) -> tuple[Rows, np.ndarray | None]:
    """Copy X; where a common shift changes nothing take off the mean, which saves digits."""
    if (kernel.stationary or (center and kernel.movable)) and isinstance(X, np.ndarray) and X.ndim == 2:
        origin = X.mean(axis=0, dtype=np.float64).astype(X.dtype)
        return X - origin, origin
    return X.copy(), None


def _decompose(
    gram: Gram,
    features: Features,
    plan_for: Callable[[int], Plan],
    request: Request,
    weights: np.ndarray | None,
    positive_definite: bool,
) -> Fit:
    """Solve, choose the number of components, and fold centring into W and b.

    Directions are combinations of centered features: with A = S^(1/2) Kc S^(1/2) and A u = theta u their coefficients
    are alpha = S^(1/2) u / sqrt(theta). Since sum_i alpha_i (phi_i - m) = sum_i (alpha - w 1'alpha)_i phi_i, the same
    directions are combinations W = alpha - w 1'alpha of the features themselves, whose columns sum to zero.
    """
    n = gram.shape[0]
    centered = CenteredGram(gram, weights, positive_definite) if request.center else None
    target: Gram = centered or gram
    if weights is not None:
        target = WeightedGram(target, weights)
    solution, plan, total = _solve(target, plan_for, request)
    values = solution.values
    signs = np.sign(values)
    inverse = np.divide(signs, np.sqrt(np.abs(values)), out=np.zeros_like(values), where=values != 0)
    roots = np.ones((n, 1)) if weights is None else np.sqrt(weights)[:, None]
    W = solution.vectors * roots * inverse
    scores = solution.products / roots * inverse
    b, mean_weights, mean_square = np.zeros(len(values)), np.zeros(n), 0.0
    if centered:
        mean_weights, mean_square = centered.w, centered.mean_total
        W -= np.outer(mean_weights, W.sum(axis=0))
        b = -(centered.mean_column @ W)
    decomposition = Decomposition(
        features=features,
        W=W.astype(gram.dtype),
        b=b.astype(gram.dtype),
        signs=signs,
        eigenvalues=values,
        total=total,
        mean_weights=mean_weights.astype(gram.dtype),
        mean_square=mean_square,
        certificate=solution.certificate,
        positive_definite=positive_definite,
    )
    return Fit(decomposition, solution.vectors, scores.astype(gram.dtype), plan)


def _solve(gram: Gram, plan_for: Callable[[int], Plan], request: Request) -> tuple[Solution, Plan, float]:
    """Solve for as many eigenpairs as the rule needs, planning anew as they become more; also return the trace."""
    n, rule = gram.shape[0], request.components

    def keep(values: np.ndarray, rounding: float) -> int | None:
        return rule.select(values, gram.trace(), zero_level(values, rounding, gram.dtype), n)

    k, start = rule.first_guess(n), None
    while True:
        plan = plan_for(k)
        if isinstance(plan.solver, Dense) and rule.kind in ("fraction", "relative"):
            k = n  # LAPACK reduces the whole matrix anyway: once is enough
            plan = plan_for(k)
        options: Any = {"tol": request.tol, "rng": request.rng, "callback": request.callback}
        solution = plan.solver.solve(gram, k, start=start, keep=keep, **options)
        if solution.enough or solution.stopped:
            zero = zero_level(solution.values, solution.certificate.rounding, gram.dtype)
            values = np.where(np.abs(solution.values) <= zero, 0.0, solution.values)
            return replace(solution, values=values), plan, gram.trace()
        k, start = min(2 * k, n), solution.vectors


def zero_level(values: np.ndarray, rounding: float, dtype: np.dtype) -> float:
    """Return the size below which an eigenvalue is noise.

    The score of a component with eigenvalue theta is off by about rounding / sqrt(theta): the last term keeps that
    below sqrt(eps) of the largest score.
    """
    largest = float(values.max(initial=0.0))
    if largest <= 0:
        return rounding
    eps = float(np.finfo(dtype).eps)
    return max(RELATIVE_ZERO[dtype.itemsize] * largest, rounding, (0.2 * rounding) ** 2 / (eps * largest))
