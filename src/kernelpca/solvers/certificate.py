"""The evidence that comes with every answer: how far from exact it can be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigvalsh

from kernelpca.gram.protocol import Gram

USEFUL = 0.1  # a bound on the captured variance wider than this says nothing to a user
CLUSTERED = 0.05  # residual over gap beyond which single components are not told apart


@dataclass(frozen=True)
class Certificate:
    """How good the eigenpairs of a symmetric matrix are, from residuals alone.

    Attributes
    ----------
    grade : {"exact", "certified", "estimated"}
        "exact": solved densely; "certified": the rigorous bounds on the captured variance agree to within `tol`;
        "estimated": the residuals say how good it is, but the bounds are wider than that.
    residuals : ndarray of shape (k,)
        |K u_i - theta_i u_i|: some eigenvalue lies within this distance of theta_i.
    relative_residual : float
        The largest residual over its eigenvalue; on real data the worst score is good to about this.
    orthogonality_loss : float
        Largest entry of |U'U - I|.
    lower, upper : float
        The sum of the k largest eigenvalues lies between these; both are rigorous, up to the rounding level.
    clusters : tuple of tuples
        Components (counted from 0) too close together to be told apart: only their span is determined.
    passes : int
        How often the matrix was read.
    seconds : float
        Time taken.
    tol, rounding : float
        What was asked for; residuals below `rounding` are rounding error.
    satisfied : bool
        Whether what was asked for was reached.
    limited : bool
        Whether it was not reached because rounding does not allow it.
    failure_probability : float
        0: no random probe was used for the bounds.
    """

    grade: str
    residuals: np.ndarray
    relative_residual: float
    orthogonality_loss: float
    lower: float
    upper: float
    clusters: tuple[tuple[int, ...], ...]
    passes: int
    seconds: float
    tol: float
    rounding: float
    satisfied: bool
    limited: bool = False
    failure_probability: float = 0.0

    @property
    def variance_gap(self) -> float:
        """(upper - lower) / lower: the captured variance is optimal to within this fraction."""
        return variance_gap(self.lower, self.upper)

    def __str__(self) -> str:
        k = len(self.residuals)
        count = f"{k} component{'s' if k != 1 else ''}"
        if self.grade == "exact":
            text = f"{count}, solved densely: exact up to rounding (relative residual {self.relative_residual:.1e})."
        else:
            verdict = f"within the {self.tol:.0e} asked for" if self.satisfied else f"NOT the {self.tol:.0e} asked for"
            if self.limited:
                verdict += ", as good as rounding allows"
            text = f"{count} after {self.passes} passes: relative residual {self.relative_residual:.1e}, {verdict}"
            if self.variance_gap <= USEFUL:
                text += (
                    f"; the variance captured is within {self.variance_gap:.1e} of the best possible, by a bound that "
                    "holds for certain"
                )
            else:
                text += "; no useful bound on the variance left out is known (the spectrum decays too slowly for one)"
            text += "."
        for group in self.clusters:
            if len(group) == 1:
                text += f" Component {group[0]} is hard to tell from those that follow and are left out."
            else:
                numbers = ", ".join(str(i) for i in group)
                text += f" Components {numbers} are too close together to be told apart: trust their span only."
        return text


def reached(values: np.ndarray, residuals: np.ndarray, tol: float, rounding: float) -> np.ndarray:
    """(k,), (k,) -> (k,): which components have a residual within tol of their eigenvalue, or of rounding."""
    return residuals <= np.maximum(tol * np.abs(values), rounding)


def relative(values: np.ndarray, residuals: np.ndarray, rounding: float) -> float:
    """Return the largest residual over its eigenvalue; components at the rounding level do not count."""
    size = np.abs(values)
    counted = size > rounding
    return float((residuals[counted] / size[counted]).max(initial=0.0))


def find_clusters(values: np.ndarray, residuals: np.ndarray, following: float | None) -> tuple[tuple[int, ...], ...]:
    """Group neighboring components whose residuals reach across the gap between them."""
    if len(values) == 0:
        return ()
    ends = np.append(values, values[-1:] if following is None else following)
    close = np.maximum(residuals, np.append(residuals[1:], 0.0)) > CLUSTERED * np.abs(np.diff(ends))
    if following is None:
        close[-1] = False
    groups: list[tuple[int, ...]] = []
    start = 0
    for i in range(len(values)):
        if not close[i] or i == len(values) - 1:
            if i > start or (close[i] and i == len(values) - 1):
                groups.append(tuple(range(start, i + 1)))
            start = i + 1
    return tuple(groups)


def variance_gap(lower: float, upper: float) -> float:
    """(upper - lower) / lower; infinite where the lower bound says nothing."""
    if upper <= lower:
        return 0.0
    return (upper - lower) / lower if lower > 0 else float("inf")


def best_upper_bound(values: np.ndarray, coupling: np.ndarray, k: int, n: int, gram: Gram, rounding: float) -> float:
    """Bound the sum of the k largest eigenvalues of a Gram matrix from above, whatever it is known to be.

    A bound below the Ritz values cannot be: then the matrix is not positive semi-definite after all.
    """
    trace, squares = gram.trace(), gram.frobenius_squared()
    error = rounding * np.sqrt(n)  # n diagonal entries, each known to rounding / sqrt(n)
    bound = upper_bound(values, coupling, k, n, trace, squares, gram.positive_definite, error)
    if bound < np.sort(values)[::-1][:k].sum() - k * rounding:
        bound = upper_bound(values, coupling, k, n, trace, squares, False, error)
    return bound


def upper_bound(
    values: np.ndarray,
    coupling: np.ndarray,
    k: int,
    n: int,
    trace: float,
    squares: float | None,
    psd: bool,
    trace_error: float = 0.0,
) -> float:
    """Bound the sum of the k largest eigenvalues of K from above, rigorously.

    Parameters
    ----------
    values : (q,)
        Ritz values: K seen from an orthonormal basis Q in which it is diagonal.
    coupling : (q, q)
        R'R of the residuals R = K Q - Q diag(values).
    k, n, trace : numbers
        How many, the size of K, and its trace.
    squares : float or None
        Its squared Frobenius norm, rounded up; None if unknown.
    psd : bool
        Whether K is known to be positive semi-definite.
    trace_error : float
        How far off the trace may be.

    Notes
    -----
    With C the part of K outside the basis and C <= mu I, K <= [[T, B'], [B, mu I]] in the Loewner order. B is
    reduced to its range; the other eigenvalues of the right-hand side equal mu and count as well. mu is the trace
    of C (for a positive semi-definite K) or the bound of Wolkowicz and Styan from the trace and Frobenius norm.
    """
    q = len(values)
    if q >= n:
        return float(np.sort(values)[::-1][:k].sum())
    rest = n - q
    tau = trace - float(values.sum())
    candidates = [max(tau, 0.0) + trace_error] if psd else []
    if squares is not None:
        f = squares - float(np.square(values).sum()) - 2 * float(np.trace(coupling))
        least = max(abs(tau) - trace_error, 0.0) / rest
        candidates.append((tau + trace_error) / rest + np.sqrt(max((rest - 1) * (f / rest - least**2), 0.0)))
    if not candidates:
        return float("inf")
    mu = min(candidates)
    strengths, directions = np.linalg.eigh(coupling)
    root = np.sqrt(np.maximum(strengths, 0.0))[:, None] * directions.T  # root' root = coupling
    root = root[strengths > 0]
    s = min(len(root), rest)
    root = root[len(root) - s :]
    M = np.block([[np.diag(values), root.T], [root, mu * np.eye(s)]])
    spectrum = np.concatenate([eigvalsh(M), np.full(min(rest - s, k), mu)])
    bound = float(np.sort(spectrum)[::-1][:k].sum())
    return min(bound, trace + trace_error) if psd else bound
