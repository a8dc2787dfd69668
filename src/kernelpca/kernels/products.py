"""Matrix products of rows, dense or sparse, and the squared distances made from them."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from kernelpca.kernels.base import Rows

LONG = 4096  # columns that are added up at a time


def dot(X: Rows, Y: Rows, out: np.ndarray) -> None:
    """(n, d), (m, d) -> write X Y' into `out` (n, m)."""
    if sparse.issparse(X) or sparse.issparse(Y):
        product = X @ Y.T
        out[...] = product.toarray() if sparse.issparse(product) else product
    else:
        np.matmul(X, Y.T, out=out)


def squared_norms(X: Rows) -> np.ndarray:
    """(n, d) -> (n,): |x_i|^2.

    Long rows are added up block by block in float64: one sum of two million squares in float32 is off by 1e-4, fifty
    times as much as a matrix product, and distances are the difference of the two.
    """
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=X.dtype).ravel()
    if X.shape[1] <= LONG:
        return np.einsum("ij,ij->i", X, X)
    total = np.zeros(len(X))
    for start in range(0, X.shape[1], LONG):
        block = X[:, start : start + LONG]
        total += np.einsum("ij,ij->i", block, block)
    return total.astype(X.dtype)


def squared_distances(X: Rows, Y: Rows, out: np.ndarray, scale: float = 1.0, forgive: int = 0) -> None:
    """(n, d), (m, d) -> write scale |x_i - y_j|^2 into `out` (n, m), never negative.

    One product of matrices; the scale goes into the smaller of rows and result. Cancellation costs about eps |x|^2:
    rows far from the origin should be shifted there first (a stationary kernel does not notice, and `KernelPCA` does).
    Where a square root follows, that error would become sqrt(eps) |x| between equal rows: `forgive` takes so many
    eps of the norms off all squared distances, so that those of equal rows are zero.
    """
    scale = X.dtype.type(scale)
    keep = X.dtype.type(1 - forgive * np.finfo(X.dtype).eps)
    if X.shape[1] <= out.shape[1]:
        dot(X * (-2 * scale), Y, out)
    else:
        dot(X, Y, out)
        out *= -2 * scale
    out += (keep * scale * squared_norms(X))[:, None]
    out += keep * scale * squared_norms(Y)
    np.maximum(out, 0, out=out)
