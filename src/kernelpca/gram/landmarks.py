"""Features from a few columns of a Gram matrix: the Nyström approximation K ~ F F' that never exceeds K."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from kernelpca.tall import times
from kernelpca.tiles import one_blas_thread

STRANGERS = 0.9  # effective rank over number of landmarks from which each speaks for itself alone


def nystrom_features(C: np.ndarray, idx: np.ndarray, scale: float | None = None) -> np.ndarray:
    """(n, m) columns K[:, idx] of a positive semi-definite matrix -> (n, r <= m): F with F F' <= K.

    F F' = C W^-1 C' with W = K[idx, idx]. A Cholesky factorization with pivots chooses landmarks that are independent
    up to rounding (the others add nothing but noise), so that duplicated rows and wide kernels do no harm. `scale`
    is the size of the entries that C was made of, where centring has taken away their leading digits. Where the
    landmarks are nearly orthogonal, as for narrow kernels on noise, they tell nothing of the other rows, and no
    features are made.
    """
    W = C[idx].astype(np.float64)
    eps, tiny = float(np.finfo(C.dtype).eps), float(np.finfo(np.float64).tiny)
    largest = float(np.abs(W.diagonal()).max(initial=0.0))
    level = 10 * eps * np.sqrt(len(idx)) * max(largest, scale or 0.0)
    rank = float(np.trace(W)) ** 2 / max(float(np.square(W).sum()), tiny)
    if largest <= level or rank > STRANGERS * len(idx) > STRANGERS:
        return np.zeros((len(C), 0), dtype=C.dtype)
    with one_blas_thread:  # scipy's BLAS has threads of its own, which NumPy's, still spinning, would hold up
        factor, order, rank, _ = lapack.dpstrf((W + W.T) / 2, tol=level, lower=1)
        combination = np.zeros((len(idx), rank))
        combination[order[:rank] - 1] = np.linalg.inv(np.tril(factor[:rank, :rank])).T
    return times(C, combination)
