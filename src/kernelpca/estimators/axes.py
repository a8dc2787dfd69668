"""Principal axes of rows, by the method that suits their shape: the algorithms of the tutorial, and what they cost."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernelpca.estimators.components import Components
from kernelpca.estimators.cost import Rates, Shape, product_rate
from kernelpca.estimators.exact import Request, fit_gram, zero_level
from kernelpca.estimators.linear import (
    BLOCK_SIZE,
    EPS,
    CenteredRows,
    DenseRows,
    RowsGram,
    SmallGram,
    orthonormalize,
    rotate,
)
from kernelpca.estimators.plan import GIVEN, Plan, make_plan
from kernelpca.features.projections import Projection
from kernelpca.memory import granted_bytes, readable_bytes
from kernelpca.solvers import Dense
from kernelpca.solvers.bounds import rigorous_bound
from kernelpca.solvers.certificate import Certificate, find_clusters, reached, relative, variance_gap
from kernelpca.solvers.cost import Size
from kernelpca.solvers.evidence import SAFETY, second_order
from kernelpca.tall import inner

N_FEATURES = 500  # that a projection keeps, at least, when the user says nothing
SLOW, FEW = 4096, 64  # the smaller matrix is not made from so many rows on, if that is so many times a block or more


@dataclass(frozen=True)
class Axes:
    """Principal axes and what is known of them.

    Attributes
    ----------
    components : ndarray of shape (k, d)
        Orthonormal.
    values : ndarray of shape (k,)
        Sums of squares along them.
    total : float
        Sum of squares in all.
    certificate, plan : Certificate, Plan
        How good they are, and how they were found.
    """

    components: np.ndarray
    values: np.ndarray
    total: float
    certificate: Certificate
    plan: Plan


def choose_method(rows: CenteredRows, by: str, request: Request) -> tuple[str, str]:
    """Return how the exact axes are found, and why: from the smaller matrix, or by products with it."""
    (n, d), size = rows.shape, min(rows.shape)
    rule, limit = request.components, granted_bytes(request.memory_limit)
    k = rule.first_guess(size)
    smaller = f"{n} samples of {d} features: the {by} matrix is the smaller one"
    needed = held_bytes(rows, size, k) + 8 * size * size
    if needed > limit and rule.kind != "positive":
        why = f"the smaller matrix would take {readable_bytes(needed)}, so it is only multiplied by"
        return "matrix-free", why
    if rule.kind == "count" and size >= SLOW and size >= FEW * (k + 8):
        return "matrix-free", f"{k} of {size} components are few, so the smaller matrix is only multiplied by"
    return by, smaller


def exact_axes(rows: CenteredRows, by: str, request: Request, path: str, why: str) -> Axes:
    """Decompose A'A or A A', in memory or as an operator, to the tolerance (algorithms 1 and 2)."""
    free = path == "matrix-free"
    size = rows.shape[1] if by == "covariance" else rows.shape[0]
    k = request.components.first_guess(size)
    limit, held = granted_bytes(request.memory_limit), held_bytes(rows, 0 if free else size, k)
    if held > limit:
        raise MemoryError(
            f"{k} components of {rows.shape[0]} samples of {rows.shape[1]} features need about {readable_bytes(held)} "
            f"with method='{path}'; {readable_bytes(limit)} are granted. Use method='auto', ask for fewer components "
            "(n_components), or raise memory_limit."
        )
    if not free and isinstance(rows, DenseRows):
        request.announce(small_seconds(rows, size, k, request))
    gram = RowsGram(rows, by) if free else SmallGram(rows, by)
    request = replace(request, memory_limit=max(limit - held, 1), solver="block_krylov" if free else "auto")
    found = fit_gram(gram, request)
    values, vectors = found.decomposition.eigenvalues, np.asarray(found.vectors)
    plan = replace(
        found.plan,
        path=path,
        reason=f"{why}; {found.plan.reason.removesuffix(GIVEN)}",
        predicted_bytes=held + found.plan.predicted_bytes,
        memory_limit=limit,
    )
    C = axes_of(rows, by, vectors, values, request.rng)
    return Axes(C, values, found.decomposition.total, found.decomposition.certificate, plan)


def small_seconds(rows: CenteredRows, size: int, k: int, request: Request) -> float | None:
    """Predict how long it takes to make the smaller matrix and to decompose it, if somebody wants to know."""
    if request.expect is None:
        return None
    rates = Rates(np.inf, product_rate(8))
    shape = Shape(size, min(k, size), 0, 8, cheap_columns=False)
    plan = make_plan(shape, "auto", None, request.tol, given=True, rates=rates)
    return rows.shape[0] * rows.shape[1] * size / rates.flops + (plan.predicted_seconds or 0.0)


def factorized_axes(rows: CenteredRows, by: str, request: Request) -> Axes:
    """Find singular values of A itself from a triangular factor: nothing is squared (digest 2.3)."""
    began = time.perf_counter()
    eps, size, rule = float(np.finfo(np.float64).eps), min(rows.shape), request.components
    limit, needed = granted_bytes(request.memory_limit), held_bytes(rows, 8 * size, rule.first_guess(size))
    if needed > limit:
        raise MemoryError(
            f"A singular value decomposition of {rows.shape[0]} samples of {rows.shape[1]} features needs about "
            f"{readable_bytes(needed)}; {readable_bytes(limit)} are granted. Use method='auto', or raise memory_limit."
        )
    R = rows.triangle(by)
    _, sigma, Vt = np.linalg.svd(R)
    level = eps * max(max(rows.shape) * sigma[0], np.sqrt(rows.shape[0]) * float(np.linalg.norm(rows.mean)))
    values = np.where(sigma > level, np.square(sigma), 0.0)
    total = float(values.sum())
    k = rule.select(values, total, 0.0, size) or 0
    V = Vt[:k].T
    residuals = np.linalg.norm(R.T @ (R @ V) - V * values[:k], axis=0)
    rounding = max(float(level * sigma[0]), 2 * float(residuals.max(initial=0.0)))
    certificate = Certificate(
        grade="exact",
        residuals=residuals,
        relative_residual=relative(values[:k], residuals, rounding),
        orthogonality_loss=float(np.abs(V.T @ V - np.eye(k)).max(initial=0.0)),
        lower=float(values[:k].sum()) - k * rounding,
        upper=float(values[:k].sum()) + k * rounding,
        clusters=find_clusters(values[:k], np.full(k, level * sigma[0]), values[k] if k < size else None),
        passes=1,
        seconds=time.perf_counter() - began,
        tol=request.tol,
        rounding=rounding,
        satisfied=True,
    )
    why = "method='svd' was asked for; LAPACK on a triangular factor of the rows"
    C = axes_of(rows, by, V, values[:k], request.rng)
    return Axes(C, values[:k], total, certificate, Plan("svd", Dense(), why, needed, limit))


def approximate_axes(
    rows: CenteredRows, projection: Projection, n_features: int | None, request: Request, path: str
) -> Axes:
    """Find axes in projected rows and bring them back (algorithms 3 and 4).

    With A~ = A P and left singular vectors v of A~ the axes are A'v; made orthonormal and turned to the principal axes
    of what they span (a Rayleigh-Ritz step), their eigenvalues are the variances they capture.
    """
    began = time.perf_counter()
    d, rule, limit = rows.shape[1], request.components, granted_bytes(request.memory_limit)
    rng = request.rng or np.random.default_rng(0)
    asked = int(rule.amount) if rule.kind == "count" else 0
    wished = min(d, max(N_FEATURES, 10 * asked)) if n_features is None else int(n_features)
    fitted = projection.fit(d, wished, rng, rows.X)
    if asked > fitted.n_outputs:
        raise ValueError(
            f"n_components={asked} of {fitted.n_outputs} projected features is not possible: raise n_features (several "
            "for each component), or ask for fewer components."
        )
    n, q = rows.shape[0], fitted.n_outputs
    size = min(n, q)
    work = n * q * rows.dtype.itemsize + Dense().cost(Size(size, size), 0.0).most
    needed = held_bytes(rows, size, 3 * min(rule.first_guess(size), size)) + work
    if needed > limit:
        raise MemoryError(
            f"Approximate PCA with {q} projected features needs about {readable_bytes(needed)}; "
            f"{readable_bytes(limit)} are granted. Lower n_features, or raise memory_limit."
        )
    small = DenseRows(fitted.apply(rows.X, rows.mean), np.zeros(q), rows.roots)
    V, solver = _left_vectors(small, asked, request)
    C, values, total, k = _refined(rows, V, rule, rng)
    certificate = certify(rows, C[:k], values[:k], total, request.tol, began)
    why = f"method={path!r} was asked for; {q} features of {projection!r} stand for {d}"
    plan = Plan(path, solver, why, needed, limit)
    return Axes(C if k == len(C) else C[:k].copy(), values[:k], total, certificate, plan)


def _left_vectors(small: DenseRows, k: int, request: Request) -> tuple[np.ndarray, Any]:
    """(n, q) -> (n, k): left singular vectors, k of them or all that are there (k = 0), from the smaller matrix."""
    by = "covariance" if small.shape[0] > small.shape[1] else "dot"
    wanted = Components("count", k) if k else Components("positive", min(small.shape))
    found = fit_gram(SmallGram(small, by), replace(request, components=wanted))
    values, V = found.decomposition.eigenvalues, np.asarray(found.vectors)
    if by == "covariance":
        V = small.times(np.ascontiguousarray(V.T.astype(np.float64)))
        V /= np.sqrt(np.where(values > 0, values, 1.0))
    return V, found.plan.solver


def _refined(
    rows: CenteredRows, V: np.ndarray, rule: Components, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, float, int]:
    """Bring V (n, m) to axes C (k, d), as many as the rule needs; also the values, the total and how many to keep."""
    total, rounding = float(rows.squares(0).sum()), 4 * EPS * rows.taken_off()
    k = min(rule.first_guess(V.shape[1]), V.shape[1])
    while True:
        C = rows.adjoint(V[:, :k].astype(np.float64, copy=False), rows.dtype)
        orthonormalize(C, np.ones(k, bool), rng)
        Z = rows.times(C)
        values, U = np.linalg.eigh(inner(Z, Z))
        values, U = np.maximum(values[::-1], 0.0), U[:, ::-1]
        rotate(C, U)
        values[values <= zero_level(values, rounding, rows.dtype)] = 0.0
        kept = rule.select(values, total, 0.0, V.shape[1])
        if kept is not None:
            return C, values, total, kept
        k = min(2 * k, V.shape[1])


def certify(
    rows: CenteredRows, C: np.ndarray, values: np.ndarray, total: float, tol: float, began: float
) -> Certificate:
    """Say how far axes C (k, d) with their captured `values` can be from exact PCA, from one more pass."""
    k, gram = len(C), RowsGram(rows, "covariance")
    R = rows.adjoint(rows.times(C))
    for row, axis, value in zip(R, C, values, strict=True):
        row -= (value * axis).astype(row.dtype, copy=False)
    coupling = inner(R.T, R.T) if k else np.zeros((0, 0))
    residuals = np.sqrt(np.diag(coupling))
    rounding = max(gram.rounding(), 10 * float(np.finfo(rows.dtype).eps) * float(values.max(initial=0.0)))
    lower = float(values.sum()) - k * rounding
    upper = k * rounding + (rigorous_bound(values, coupling, k, gram, rounding) if k else 0.0)
    typical = (total - float(values.sum())) / max(min(rows.shape) - k, 1)
    estimate = SAFETY * second_order(values, residuals, typical) / lower if lower > 0 else 0.0
    gap = variance_gap(lower, upper)
    return Certificate(
        grade="certified" if gap <= tol else "estimated",
        residuals=residuals,
        relative_residual=relative(values, residuals, rounding),
        orthogonality_loss=0.0,
        lower=lower,
        upper=upper,
        clusters=find_clusters(values, np.maximum(residuals, rounding), None),
        passes=6,  # projected, squared, brought back, turned, and twice here
        seconds=time.perf_counter() - began,
        tol=tol,
        rounding=rounding,
        satisfied=bool(reached(values, residuals, tol, rounding).all()),
        estimate=min(estimate, gap),
    )


def axes_of(
    rows: CenteredRows, by: str, vectors: np.ndarray, values: np.ndarray, rng: np.random.Generator | None
) -> np.ndarray:
    """Turn eigenvectors (s, k) of A'A or A A' into axes (k, d): themselves, or A'v / sqrt(lambda) (eq. 21)."""
    if by == "covariance":
        return np.ascontiguousarray(vectors.T, dtype=rows.dtype)
    V = vectors.astype(np.float64) / np.sqrt(np.where(values > 0, values, 1.0))
    C = rows.adjoint(V, rows.dtype)
    orthonormalize(C, values > 0, rng or np.random.default_rng(0))
    return C


def held_bytes(rows: CenteredRows, size: int, k: int) -> int:
    """Return the memory of a matrix of this size, of k components and of the blocks of X that are worked on."""
    n, d = rows.shape
    return 8 * size * size + k * d * rows.dtype.itemsize + 8 * (2 * min(BLOCK_SIZE, n * d) + d)
