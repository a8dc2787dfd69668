"""Matrix products of rows, dense or sparse, and the squared distances made from them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from kernelpca.kernels.base import Rows
from kernelpca.kernels.differences import pair_distances
from kernelpca.kernels.exponential import falling

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


NARROW = 4  # columns up to which a product of rows is no faster than their differences
UNITS = 8  # eps of the squared lengths: what rounding may take from a squared distance that is read off products
LEVEL = 64  # eps: errors of kernel values that are left alone
STEEP = 0.37  # s |g'(s)| is at most 1/e for every kernel value g(s) here: each is a mixture of exp(-t s)

Reach = Callable[[np.ndarray, float], np.ndarray]


def squared_distances(X: Rows, Y: Rows, out: np.ndarray, scale: float = 1.0, reach: Reach | None = None) -> float:
    """(n, d), (m, d) -> write scale |x_i - y_j|^2 into `out` (n, m), never negative; return the largest loss.

    One product of matrices. Cancellation costs about eps |x|^2:
    rows far from the origin should be shifted there first (a stationary kernel does not notice, and `KernelPCA` does).
    Pairs for which that still matters are made by differences: those below `reach(loss, level)`, which is what loses
    more than a part `level` of itself when not given.
    """
    if X.shape[1] <= NARROW and _by_columns(X, Y, out, scale):
        return 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        x, y, factor = squared_norms(X), squared_norms(Y), X.dtype.type(scale)
        lost, level, reach = (losses(x, scale, X), losses(y, scale, Y)), level_of(X, Y), reach or relative_reach
        most = lost[0] + lost[1].max(initial=0.0)
        far = reach(most, level)
        dot(X, Y, out)
        rows = falling(out, 2 * factor, -factor * x, -factor * y, np.where(far > 0, -far, np.inf))
    if len(rows):

        def matters(distances: np.ndarray, loss: np.ndarray) -> np.ndarray:
            return ~(distances > reach(loss, level))  # NaN, where products overflow, is not larger

        remake(X, Y, out, *near_pairs(out, rows, lost, matters), scale)
    return float(most.max(initial=0.0))


def near_pairs(
    T: np.ndarray,
    rows: np.ndarray,
    lost: tuple[np.ndarray, np.ndarray],
    matters: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """(n, m), rows of it, (n,) and (m,) -> rows and columns of the entries for which what their rows lose matters."""
    most = lost[0][rows, None] + lost[1].max(initial=0.0)
    # flat: ten times as fast as NumPy looks through two dimensions
    found, cols = np.divmod(np.flatnonzero(matters(T[rows], most)), max(T.shape[1], 1))
    rows = rows[found]
    near = matters(T[rows, cols], lost[0][rows] + lost[1][cols])
    return rows[near], cols[near]


def _by_columns(X: Rows, Y: Rows, out: np.ndarray, scale: float) -> bool:
    """Write `scale` |x_i - y_j|^2 column by column, without a loss; False where squares are no ordinary numbers."""
    if sparse.issparse(X) or sparse.issparse(Y):
        return False
    out[...] = 0
    difference = np.empty_like(out)
    with np.errstate(over="ignore", under="ignore"):
        for f in range(X.shape[1]):
            np.subtract.outer(X[:, f], Y[:, f], out=difference)
            np.square(difference, out=difference)
            out += difference
        largest = float(out.max(initial=0.0))
        kind = np.finfo(out.dtype)
        if scale != 1.0:
            out *= out.dtype.type(scale)
    return largest * max(scale, 1.0) < float(kind.max) and float(kind.tiny) * max(scale, 1.0) < float(kind.eps)


def remake(
    X: Rows,
    Y: Rows,
    out: np.ndarray,
    rows: np.ndarray,
    cols: np.ndarray,
    scale: float,
    profile: Callable[[np.ndarray], object] | None = None,
) -> None:
    """Write `scale` |x_i - y_j|^2, or what `profile` makes of a row of them in place, over these entries of `out`."""
    with np.errstate(over="ignore"):
        values = pair_distances(X, Y, rows, cols, scale).astype(out.dtype)
    if profile is not None:
        profile(values[None])
    out[rows, cols] = values


def losses(norms: np.ndarray, scale: float, X: Rows) -> np.ndarray:
    """(n,) squared norms of rows X -> (n,): what a row adds to what rounding may take from `scale` |x - y|^2.

    Squares may be too small for their digits, and the scale too large or too small for the numbers of X.
    """
    kind = np.finfo(X.dtype)
    if not float(kind.tiny) <= scale <= float(kind.max):
        return np.full(len(norms), np.inf, X.dtype)
    with np.errstate(over="ignore"):  # more than a number can say is an infinite loss
        lost = UNITS * float(kind.eps) * norms.astype(np.float64) + X.shape[1] * float(kind.tiny)
        return (scale * lost).astype(X.dtype)


def level_of(X: Rows, Y: Rows) -> float:
    """Return what errors of kernel values of these rows are left alone: some eps of the coarser numbers."""
    return LEVEL * float(max(np.finfo(X.dtype).eps, np.finfo(Y.dtype).eps))


def relative_reach(loss: np.ndarray, level: float) -> np.ndarray:
    """Return the squared distances up to which a loss is more than a part `level`: of themselves, and of g(s)."""
    return STEEP / level * loss
