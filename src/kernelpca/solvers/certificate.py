"""The evidence that comes with every answer: how far from exact it can be."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import eigvalsh

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
    failure_probability: float = field(default=0.0)

    @property
    def variance_gap(self) -> float:
        """(upper - lower) / lower: the captured variance is optimal to within this fraction."""
        return (self.upper - self.lower) / self.lower if self.lower > 0 else 0.0

    def first(self, k: int, values: np.ndarray) -> Certificate:
        """Return the certificate of the first k of these components, whose eigenvalues are `values`.

        The bounds shrink by what is known of the components left out: the k largest eigenvalues sum to at least the
        Ritz values, and to at most the old upper bound less the Ritz values that are left out.
        """
        m = len(self.residuals)
        if k == m:
            return self
        dropped = tuple(group[: sum(i < k for i in group)] for group in self.clusters)
        slack = self.upper - self.lower
        lower = float(values[:k].sum()) - k * self.rounding
        return replace(
            self,
            residuals=self.residuals[:k],
            relative_residual=relative(values[:k], self.residuals[:k], self.rounding),
            lower=lower,
            upper=lower + slack + k * self.rounding,
            clusters=tuple(group for group in dropped if group),
        )

    def __str__(self) -> str:
        k = len(self.residuals)
        count = f"{k} component{'s' if k != 1 else ''}"
        if self.grade == "exact":
            text = f"{count}, solved densely: exact up to rounding (relative residual {self.relative_residual:.1e})."
        else:
            verdict = f"within the {self.tol:.0e} asked for" if self.satisfied else f"NOT the {self.tol:.0e} asked for"
            text = (
                f"{count} after {self.passes} passes: relative residual {self.relative_residual:.1e}, {verdict}; the "
                f"variance captured is within {max(self.variance_gap, 0):.1e} of the best possible, by a bound that "
                "holds for certain."
            )
        if self.clusters:
            groups = "; ".join(", ".join(str(i) for i in group) for group in self.clusters)
            text += f" Components {groups} are too close together to be told apart: trust their span, not each alone."
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


def upper_bound(
    values: np.ndarray, coupling: np.ndarray, k: int, n: int, trace: float, squares: float | None, psd: bool
) -> float:
    """Bound the sum of the k largest eigenvalues of K from above, rigorously.

    Parameters
    ----------
    values : (q,)
        Ritz values: K seen from an orthonormal basis Q in which it is diagonal.
    coupling : (q, q)
        R'R of the residuals R = K Q - Q diag(values).
    k, n, trace, squares : numbers
        How many, the size of K, its trace and its squared Frobenius norm (None if unknown).
    psd : bool
        Whether K is known to be positive semi-definite.

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
    candidates = [max(tau, 0.0)] if psd else []
    if squares is not None:
        f = squares - float(np.square(values).sum()) - 2 * float(np.trace(coupling))
        mean = tau / rest
        candidates.append(mean + np.sqrt(max((rest - 1) * (f / rest - mean**2), 0.0)))
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
    return min(bound, trace) if psd else bound
