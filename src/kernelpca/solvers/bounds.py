"""Bounds from above on the sum of the k largest eigenvalues, from what is known of a matrix.

In an orthonormal basis Q a symmetric matrix is [[T, B'], [B, C]]. Two statements about the rest bound all of it in
the Loewner order, and so the sum of its largest eigenvalues:

- C <= mu I gives K <= [[T, B'], [B, mu I]];
- for a positive semi-definite K with Nyström approximation L <= K, exact on Q: K - L <= mu I gives
  K <= L + mu (I - Q Q').

What remains of the space, where the right-hand side is mu, counts as well: without it the bounds would fail.
"""

from __future__ import annotations

import numpy as np

from kernelpca.gram.protocol import Gram
from kernelpca.solvers.subspace import Readout, Subspace

CONVERGED = 1e-12  # of the largest Ritz value: residuals below it are simply added


def largest_outside(
    values: np.ndarray,
    coupling: np.ndarray,
    n: int,
    trace: float,
    squares: float | None,
    psd: bool,
    trace_error: float = 0.0,
) -> float:
    """Return mu with C <= mu I, for certain; infinity if nothing is known.

    It is the trace of C, if K is positive semi-definite, or the bound of Wolkowicz and Styan from trace and Frobenius
    norm, whichever is less.

    Parameters
    ----------
    values : (q,)
        Ritz values: K seen from an orthonormal basis in which it is diagonal.
    coupling : (q, q)
        R'R = B'B of the residuals of all Ritz pairs.
    n, trace : numbers
        The size of K, and its trace.
    squares : float or None
        Its squared Frobenius norm, rounded up; None if unknown.
    psd : bool
        Whether K is known to be positive semi-definite.
    trace_error : float
        How far off the trace may be.
    """
    rest = n - len(values)
    tau = trace - float(values.sum())
    candidates = [max(tau, 0.0) + trace_error] if psd else []
    if squares is not None:
        f = squares - float(np.square(values).sum()) - 2 * float(np.trace(coupling))
        least = max(abs(tau) - trace_error, 0.0) / rest
        candidates.append((tau + trace_error) / rest + np.sqrt(max((rest - 1) * (f / rest - least**2), 0.0)))
    return min(candidates, default=float("inf"))


def ritz_bound(values: np.ndarray, coupling: np.ndarray, k: int, n: int, mu: float) -> float:
    """Bound the sum of the k largest eigenvalues of [[diag(values), B'], [B, mu I]], coupling = B'B, of size n."""
    if not np.isfinite(mu):
        return float("inf")
    rest, weak = n - len(values), float(np.sqrt(max(np.trace(coupling), 0.0)))
    if weak <= CONVERGED * float(np.abs(values).max()):  # |B| more than without B
        return _largest_sum(values, mu, rest, k) + k * weak
    strengths, directions = np.linalg.eigh(coupling)
    root = np.sqrt(np.maximum(strengths, 0.0))[:, None] * directions.T  # root' root = coupling
    root = root[strengths > 0]
    s = min(len(root), rest)
    root = root[len(root) - s :]
    M = np.block([[np.diag(values), root.T], [root, mu * np.eye(s)]])
    return _largest_sum(np.linalg.eigvalsh(M), mu, rest - s, k)


def nystrom_bound(subspace: Subspace, readout: Readout, k: int, n: int, mu: float) -> float:
    """Bound the sum of the k largest eigenvalues of L + mu (I - Q Q'), L the (whole) Nyström approximation.

    In the basis of L's eigenvectors, and of what Q has outside of them, L is diagonal and Q has the coordinates
    [c, d] with c'c + d'd = I.
    """
    positive = readout.values > 0
    values = readout.values[positive]
    c = subspace.readout_on_basis(readout)[positive]
    left, V = np.linalg.eigh(np.eye(subspace.size) - c.T @ c)
    kept = left > 1e-12
    coordinates = np.vstack([c, np.sqrt(left[kept])[:, None] * V[:, kept].T])
    H = -mu * coordinates @ coordinates.T
    H[np.diag_indices_from(H)] += mu
    H[np.diag_indices(len(values))] += values
    return _largest_sum(np.linalg.eigvalsh(H), mu, n - len(H), k)


def rigorous_bound(values: np.ndarray, coupling: np.ndarray, k: int, gram: Gram, rounding: float) -> float:
    """Bound the sum of the k largest eigenvalues of a Gram matrix from its Ritz pairs, for certain."""
    n = gram.shape[0]
    if len(values) >= n:
        return float(np.sort(values)[::-1][:k].sum())
    error = trace_error(rounding, n)
    bound = _rigorous(values, coupling, k, gram, gram.positive_definite, error)
    if bound < np.sort(values)[::-1][:k].sum() - k * rounding:  # the matrix is not positive semi-definite after all
        bound = _rigorous(values, coupling, k, gram, False, error)
    return bound


def _rigorous(values: np.ndarray, coupling: np.ndarray, k: int, gram: Gram, psd: bool, error: float) -> float:
    n, trace = gram.shape[0], gram.trace()
    mu = largest_outside(values, coupling, n, trace, gram.frobenius_squared(), psd, error)
    bound = ritz_bound(values, coupling, k, n, mu)
    return min(bound, trace + error) if psd else bound


def trace_error(rounding: float, n: int) -> float:
    """Return how far off the trace may be: n diagonal entries, each known to rounding / sqrt(n)."""
    return rounding * float(np.sqrt(n))


def _largest_sum(spectrum: np.ndarray, mu: float, others: int, k: int) -> float:
    """Add up the k largest of a spectrum and so many others that equal mu."""
    padded = np.concatenate([spectrum, np.full(min(max(others, 0), k), mu)])
    return float(np.sort(padded)[::-1][:k].sum())
