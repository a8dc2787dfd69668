"""From rows and a kernel, or a given matrix, to a decomposition: the exact path, for every estimator."""

from __future__ import annotations

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

RELATIVE_ZERO = {
    4: 2e-7,
    8: 1e-12,
}  # of the first eigenvalue, by item size: below it lies noise, as in scikit-learn


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

    def first(self, k: int) -> Fit:
        """Return the fit with its first k components only."""
        return Fit(self.decomposition.first(k), self.vectors[:, :k], self.scores[:, :k], self.plan)


def fit_rows(kernel: Kernel, X: Rows, request: Request, weights: np.ndarray | None = None) -> Fit:
    """Decompose the kernel matrix of rows X; `kernel` is resolved, X is not changed."""
    n = n_rows(X)
    plan = make_plan(n, request.components.first_guess(n), dtype_of(X).itemsize, request.solver, request.memory_limit)
    features = KernelFeatures(kernel, *_moved_to_origin(kernel, X, request.center), plan.tile_budget)
    if plan.path == "tiled":
        gram: Gram = TiledGram(kernel, features.anchors, plan.tile_budget)
    else:
        gram = DenseGram(kernel(features.anchors), kernel.positive_definite, f"The kernel {kernel!r}")
    return _decompose(gram, features, plan, request, weights)


def fit_gram(gram: Gram, request: Request, weights: np.ndarray | None = None) -> Fit:
    """Decompose a given matrix."""
    n = gram.shape[0]
    guess = request.components.first_guess(n)
    plan = make_plan(n, guess, gram.dtype.itemsize, request.solver, request.memory_limit, given=True)
    return _decompose(gram, GivenFeatures(n), plan, request, weights)


def _moved_to_origin(kernel: Kernel, X: Rows, center: bool) -> tuple[Rows, np.ndarray | None]:
    """Copy X; where a common shift changes nothing take off the mean, which saves digits."""
    if (kernel.stationary or (center and kernel.movable)) and isinstance(X, np.ndarray) and X.ndim == 2:
        origin = X.mean(axis=0, dtype=np.float64).astype(X.dtype)
        return X - origin, origin
    return X.copy(), None


def _decompose(gram: Gram, features: Features, plan: Plan, request: Request, weights: np.ndarray | None) -> Fit:
    """Solve, choose the number of components, and fold centring into W and b.

    Directions are combinations of centered features: with A = S^(1/2) Kc S^(1/2) and A u = theta u their coefficients
    are alpha = S^(1/2) u / sqrt(theta). Since sum_i alpha_i (phi_i - m) = sum_i (alpha - w 1'alpha)_i phi_i, the same
    directions are combinations W = alpha - w 1'alpha of the features themselves, whose columns sum to zero.
    """
    n = gram.shape[0]
    centered = CenteredGram(gram, weights) if request.center else None
    target: Gram = centered or gram
    if weights is not None:
        target = WeightedGram(target, weights)
    solution, total = _solve(target, plan, request)
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
        positive_definite=gram.positive_definite,
    )
    return Fit(decomposition, solution.vectors, scores.astype(gram.dtype), plan)


def _solve(gram: Gram, plan: Plan, request: Request) -> tuple[Solution, float]:
    """Solve for as many eigenpairs as the rule needs, and keep those it chooses; return them and the trace."""
    n = gram.shape[0]
    k, start = request.components.first_guess(n), None
    if isinstance(plan.solver, Dense) and request.components.kind != "count":
        k = n  # LAPACK reduces the whole matrix anyway: once is enough
    while True:
        solution = plan.solver.solve(gram, k, tol=request.tol, start=start, rng=request.rng, callback=request.callback)
        total = gram.trace()
        zero = max(RELATIVE_ZERO[gram.dtype.itemsize] * solution.values.max(), solution.certificate.rounding)
        chosen = request.components.select(solution.values, total, zero, n)
        if chosen is not None:
            return _first(solution, chosen, zero), total
        k, start = min(2 * k, n), solution.vectors


def _first(solution: Solution, k: int, zero: float) -> Solution:
    """Keep the first k components; what is zero up to noise becomes zero."""
    values = solution.values[:k]
    certificate = solution.certificate.first(k, values)
    return replace(
        solution,
        values=np.where(np.abs(values) <= zero, 0.0, values),
        vectors=solution.vectors[:, :k],
        products=solution.products[:, :k],
        certificate=certificate,
    )
