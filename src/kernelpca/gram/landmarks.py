"""Features from a few columns of a Gram matrix: the Nyström approximation K ~ F F' that never exceeds K."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from kernelpca.tiles import one_blas_thread


def nystrom_features(C: np.ndarray, idx: np.ndarray, scale: float | None = None) -> np.ndarray:
    """(n, m) columns K[:, idx] of a positive semi-definite matrix -> (n, r <= m): F with F F' <= K.

    F F' = C W^-1 C' with W = K[idx, idx]. A Cholesky factorization with pivots chooses landmarks that are independent
    up to rounding (the others add nothing but noise), so that duplicated rows and wide kernels do no harm. Fast if C
    is in Fortran order, as F will be. `scale` is the size of the entries that C was made of, where centring has taken
    away their leading digits.
    """
    W = C[idx].astype(np.float64)
    eps = float(np.finfo(C.dtype).eps)
    largest = float(np.abs(W.diagonal()).max(initial=0.0))
    level = 10 * eps * np.sqrt(len(idx)) * max(largest, scale or 0.0)
    if largest <= level:
        return np.zeros((len(C), 0), dtype=C.dtype)
    with one_blas_thread:  # scipy's BLAS has threads of its own, which NumPy's, still spinning, would hold up
        factor, order, rank, _ = lapack.dpstrf((W + W.T) / 2, tol=level, lower=1)
    inverse = np.linalg.inv(np.tril(factor[:rank, :rank])).astype(C.dtype)
    return (inverse @ C.T[order[:rank] - 1]).T
