"""Directions among features: of the largest variance, in the form that is smaller, or for another objective."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kernelpca.estimators.dual import Pursuit, check_rank, pursue, with_pursuit
from kernelpca.estimators.exact import Request, solve_for
from kernelpca.estimators.mapped import Mapped
from kernelpca.estimators.plan import Plan
from kernelpca.estimators.row_map import RemoteFeatureGram
from kernelpca.features.moments import Moments
from kernelpca.gram import BlockedGram, CenteredGram, DenseGram, Gram, WeightedGram
from kernelpca.solvers.certificate import Certificate, find_clusters, reached, relative
from kernelpca.solvers.solution import Dual, Solution
from kernelpca.tall import by_rows, inner
from kernelpca.tiles import blocks

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
        else signs[:, None] * (root @ solution.vectors) * over_roots(solution.values)
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
    alpha = solution.vectors * np.sqrt(w)[:, None] * over_roots(solution.values)
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


def pursue_features(
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

    plan = with_pursuit(found.plan, pursuit, mapped.n, len(found.values))
    if mapped.elsewhere is None:
        shift(-mean)
        gram: BlockedGram | RemoteFeatureGram = BlockedGram(mapped.n, mapped.size, mapped.dtype, block, rows)
    else:
        gram = RemoteFeatureGram(mapped.n, mapped.size, mapped.elsewhere.in_blocks_of(rows), mean, roots)
    check_rank(pad(found.values, (request.components.count or 0) - len(found.values)))
    vectors = gram.expand(found.U / np.sqrt(found.values)).astype(np.float64)
    square = Solution(found.values, vectors, vectors * found.values, found.certificate)
    pairs: list[tuple[Directions, Dual | None]] = []
    for solution in pursue(gram, square, pursuit, weights, request.options):
        U = gram.combine(solution.vectors * over_roots(solution.values))
        changed = {"U": U, "values": solution.values, "certificate": solution.certificate, "plan": plan}
        pairs.append((replace(found, **changed), solution.dual))  # type: ignore[arg-type]
    shift(mean)
    return pairs


def over_roots(values: np.ndarray) -> np.ndarray:
    """(k,) -> (k,): 1 / sqrt|value|, and 0 for 0."""
    sizes = np.sqrt(np.abs(values))
    return np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)


def pad(values: np.ndarray, missing: int) -> np.ndarray:
    """Add zeros at the end of the last axis: components that the features have no variance for."""
    return np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, max(missing, 0))])
