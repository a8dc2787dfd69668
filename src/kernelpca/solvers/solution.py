"""What a solver found, and what becomes of it: order, signs, the evidence, and negative eigenvalues."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kernelpca.gram.protocol import Gram
from kernelpca.objectives import Objective
from kernelpca.solvers.bounds import rigorous_bound
from kernelpca.solvers.certificate import (
    Approximation,
    Certificate,
    drowned,
    find_clusters,
    reached,
    relative,
    variance_gap,
)
from kernelpca.solvers.evidence import SAFETY, Evidence, second_order
from kernelpca.solvers.rayleigh_ritz import orthogonality_loss, residual_matrix
from kernelpca.solvers.watch import Progress, Watch, unit_of
from kernelpca.warn import warn

NEGLIGIBLE = 1e-5  # of the largest eigenvalue: negative ones smaller than this are noise, as in scikit-learn
BLURRED = 100  # eps of the entries: errors of them beyond what is usual, which every component has to stand
ORTHOGONAL = 1e-3  # what products of different vectors may be at most, if an answer is to be called good


class IndefiniteKernelWarning(UserWarning):
    """The kernel matrix has significant negative eigenvalues among the wanted ones."""


@dataclass
class Ritz:
    """What a solver found: pairs of a projected problem, in any order.

    `values` may hold more than the wanted ones (they tell gaps and sharpen the bound); `vectors` and `products`
    (the matrix times the vectors) hold at least the k largest, in the order of the values. `coupling` is R'R of the
    residuals of all values, where the solver knows it; `evidence` knows more. Where `residuals` are given they are
    estimates, and the products are not known. `approximation` is what a sketch knows of its own error.
    """

    values: np.ndarray
    vectors: np.ndarray
    products: np.ndarray | None = None
    coupling: np.ndarray | None = None
    exact: bool = False
    residuals: np.ndarray | None = None
    evidence: Evidence | None = None
    approximation: Approximation | None = None


@dataclass(frozen=True)
class Dual:
    """A solution of the dual problem.

    Attributes
    ----------
    objective : Objective
        What was maximized, with every parameter a number.
    H : ndarray of shape (n, k)
        The dual variable.
    Y : ndarray of shape (n, k)
        The scores that belong to it, not yet turned to principal axes.
    shares : ndarray of shape (n,)
        The part of each row of Y that counts: its length after the proximal operator over that before.
    largest : float
        The largest useful value of the objective's parameter, where it has one.
    """

    objective: Objective
    H: np.ndarray
    Y: np.ndarray
    shares: np.ndarray
    largest: float = float("nan")


@dataclass
class Solution:
    """The k algebraically largest eigenpairs of a Gram matrix, largest first, with their evidence.

    Attributes
    ----------
    values : ndarray of shape (k,)
        Eigenvalues, float64.
    vectors : ndarray of shape (n, k)
        Orthonormal eigenvectors; in each the entry of largest size is positive.
    products : ndarray of shape (n, k)
        The matrix times the vectors; vectors times values where the answer was read off fewer passes than that takes.
    history : list of Progress
        What the callback was told.
    certificate : Certificate
        How good all this is.
    enough : bool
        False if the rule `keep` needs more eigenpairs to decide.
    stopped : bool
        Whether the user's callback stopped the solver.
    dual : Dual or None
        The dual solution, for an objective other than the variance. Then `values` are the squared lengths of the scores
        by principal axes, `vectors` the coefficients of orthonormal directions times the roots of the values, and
        `products` the matrix times that: for the variance this is the same as above.
    """

    values: np.ndarray
    vectors: np.ndarray
    products: np.ndarray
    certificate: Certificate
    history: list[Progress] = field(default_factory=list)
    enough: bool = True
    stopped: bool = False
    dual: Dual | None = None


def leading(ritz: Ritz, k: int, watch: Watch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Put the k largest in order, fix their signs, and make sure their products are known."""
    order = np.argsort(-ritz.values[: ritz.vectors.shape[1]], kind="stable")[:k]
    vectors = np.ascontiguousarray(ritz.vectors[:, order])
    signs = leading_signs(vectors)
    vectors *= signs
    if ritz.residuals is not None:
        products = vectors * ritz.values[order].astype(vectors.dtype)
    else:
        products = watch.matmat(vectors) if ritz.products is None else ritz.products[:, order] * signs
    watch.see(ritz.values)
    values = ritz.values[order].astype(np.float64)
    if ritz.exact:  # LAPACK is backward stable: what it leaves is rounding
        left = ritz.residuals
        if left is None:
            left = np.linalg.norm(residual_matrix(values, vectors, products), axis=0)
        watch.rounding = max(watch.rounding, 2 * float(left.max()))
    return values, vectors, products


def leading_signs(vectors: np.ndarray) -> np.ndarray:
    """(n, k) -> (k,): the signs that make the entry of largest size positive; of equal ones, the first."""
    sizes = np.abs(vectors)
    first = np.argmax(sizes >= sizes.max(axis=0) * (1 - 1e-5), axis=0)
    return np.where(vectors[first, np.arange(vectors.shape[1])] < 0, -1.0, 1.0).astype(vectors.dtype)


def certify(ritz: Ritz, values: np.ndarray, vectors: np.ndarray, products: np.ndarray, watch: Watch) -> Certificate:
    """Gather the evidence for the leading pairs, which may be fewer than the Ritz pairs known."""
    k, rounding, tol = len(values), watch.rounding, watch.tol
    R = residual_matrix(values, vectors, products)
    residuals = np.linalg.norm(R, axis=0) if ritz.residuals is None else ritz.residuals[:k]
    loss = orthogonality_loss(vectors)
    following = np.sort(ritz.values)[::-1][k] if len(ritz.values) > k else None
    slack = k * rounding
    captured = float(np.einsum("ij,ij->", vectors, products, dtype=np.float64))
    lower = captured - slack - loss * float(np.abs(values).sum())
    exact = ritz.exact or k == 0
    probability = 0.0
    if exact:
        upper, estimate = float(values.sum()) + slack, 0.0
    elif ritz.evidence is not None:
        upper = slack + ritz.evidence.upper(k)
        estimate = min(ritz.evidence.estimate(k), variance_gap(lower, upper))  # what is bounded need not be estimated
        probability = ritz.evidence.failure_probability
    else:
        known, coupling = (values, R.T @ R) if ritz.coupling is None else (ritz.values, ritz.coupling)
        upper = slack + rigorous_bound(known, coupling, k, watch.gram, rounding)
        estimate = _estimate(values, residuals, watch.gram) / lower if lower > 0 else 0.0
    met = reached(values, residuals, tol, rounding)
    if watch.criterion == "residual" or exact:
        small = reached(values, residuals, max(tol, unit_of(watch.gram.dtype)), 0.0) | (np.abs(values) <= rounding)
        satisfied = bool(met.all() if exact or tol == 0 else (met & small).all())
    else:
        satisfied = (estimate if watch.criterion == "variance" else variance_gap(lower, upper)) <= tol
    gram = watch.gram
    blurred = gram.blur > BLURRED * float(np.finfo(gram.dtype).eps) * gram.magnitude()
    told = values if k else np.sort(ritz.values)[-1:]  # a rule may keep none of them
    rounded = drowned(told, tol and max(tol, unit_of(gram.dtype)), rounding, blurred)
    satisfied = satisfied and loss <= ORTHOGONAL and not rounded
    grade = "exact" if exact else "certified" if variance_gap(lower, upper) <= tol else "estimated"
    return Certificate(
        grade="rounded" if rounded else grade,
        residuals=residuals,
        relative_residual=relative(values, residuals, rounding),
        orthogonality_loss=loss,
        lower=lower,
        upper=upper,
        clusters=find_clusters(values, np.maximum(residuals, rounding), following),
        passes=watch.passes,
        seconds=watch.seconds(),
        tol=tol,
        rounding=rounding,
        satisfied=satisfied,
        limited=rounded or (bool(met.all()) and not satisfied),
        estimate=estimate,
        criterion=watch.criterion,
        failure_probability=probability,
        approximation=ritz.approximation,
    )


def _estimate(values: np.ndarray, residuals: np.ndarray, gram: Gram) -> float:
    """Estimate by how much the sum of the largest eigenvalues exceeds that of these Ritz values."""
    rest = max(gram.shape[0] - len(values), 1)
    return SAFETY * second_order(values, residuals, (gram.trace() - float(values.sum())) / rest)


def treat_negative(values: np.ndarray, rounding: float, indefinite: str) -> np.ndarray:
    """(k,) -> (k,): values with what is zero up to rounding made zero, and negative ones treated as asked."""
    values = np.where(np.abs(values) <= rounding, 0.0, values)
    if indefinite == "keep" or not (values < 0).any():
        return values
    largest = float(values.max(initial=0.0))
    significant = values < -NEGLIGIBLE * largest
    if indefinite == "clip" or not significant.any():
        return np.maximum(values, 0.0)
    ratio = f" ({-values.min() / largest:.2g} of the largest)" if largest > 0 else ""
    text = (
        f"There are significant negative eigenvalues{ratio}: {int(significant.sum())} of {len(values)} components. The "
        "kernel is not positive definite on this data, so these components are no directions of variance. Ask for "
        "fewer components, choose a positive definite kernel, or set the solver's indefinite='clip' or 'keep'."
    )
    if indefinite == "raise":
        raise ValueError(text)
    warn(text, IndefiniteKernelWarning)
    return values


def say_rounded(certificate: Certificate, dtype: np.dtype) -> str:
    """Say what rounding of kernel values leaves open, and what helps."""
    more = "give float64 data, " if dtype == np.float32 else "ask for fewer components, "
    return (
        f"R{certificate.rounded()[1:]}; {certificate.tol:.0e} of the first was asked for. That is as good as rounding "
        f"in {dtype} allows: {more}bring rows that are far from the others nearer (scale columns, drop outliers), "
        "widen the kernel's spectrum (a larger gamma), or raise tol."
    )


def warn_of_shares(values: np.ndarray, total: float, rounding: float) -> None:
    """Say so if the largest eigenvalues (k,) sum to more than all of them do: then others are negative."""
    found = float(np.maximum(values, 0.0).sum())
    if found <= total + NEGLIGIBLE * found + max(len(values), 1) * rounding:
        return
    warn(
        f"There are negative eigenvalues: the {len(values)} found sum to {found:.3g}, and all of them to {total:.3g}. "
        "The kernel is not positive definite on this data: explained_variance_ratio_ are no parts of a whole, and "
        "squared distances from the subspace may be negative. Choose a positive definite kernel, or set the solver's "
        "indefinite='keep' if you know that.",
        IndefiniteKernelWarning,
    )
