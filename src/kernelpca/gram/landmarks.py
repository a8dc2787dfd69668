"""Features from a few columns of a Gram matrix: the Nyström approximation K ~ F F' that never exceeds K."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from kernelpca.tiles import one_blas_thread

STRANGERS = 0.9  # effective rank over number of landmarks from which each speaks for itself alone


def whitening(W: np.ndarray, scale: float | None = None) -> np.ndarray:
    """(m, m) entries K[idx, idx] -> (m, r <= m): R with R R' = W^-1, so that F = K[:, idx] R has F F' <= K.

    A Cholesky factorization with pivots chooses landmarks that are independent up to rounding (the others add nothing
    but noise), so that duplicated rows and wide kernels do no harm. `scale` is the size of the entries that W was made
    of, where centring has taken away their leading digits. Where the landmarks are nearly orthogonal, as for narrow
    kernels on noise, they tell nothing of the other rows, and r is zero.
    """
    eps, tiny = float(np.finfo(W.dtype).eps), float(np.finfo(np.float64).tiny)
    W = W.astype(np.float64)
    largest = float(np.abs(W.diagonal()).max(initial=0.0))
    level = 10 * eps * np.sqrt(len(W)) * max(largest, scale or 0.0)
    rank = float(np.trace(W)) ** 2 / max(float(np.square(W).sum()), tiny)
    if largest <= level or rank > STRANGERS * len(W) > STRANGERS:
        return np.zeros((len(W), 0))
    with one_blas_thread:  # scipy's BLAS has threads of its own, which NumPy's, still spinning, would hold up
        factor, order, rank, _ = lapack.dpstrf((W + W.T) / 2, tol=level, lower=1)
        R = np.zeros((len(W), rank))
        R[order[:rank] - 1] = np.linalg.inv(np.tril(factor[:rank, :rank])).T
    return R
