"""Centered rows as a matrix A that is never written down, and what linear PCA asks of it.

    A = S^(1/2) (X - 1 mean')      A'A: the covariance (times n)      A A': the matrix of dot products

S holds weights. Blocks of A are made when they are needed, so X is neither copied nor changed; sums over blocks are in
float64. Sparse rows stay sparse: the mean is taken off products.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
from scipy import sparse

from kernelpca.gram.dense import DenseGram
from kernelpca.gram.protocol import Gram, check_block
from kernelpca.kernels.base import Rows, dtype_of
from kernelpca.tiles import blocks, half_tiles, share_out

BLOCK_SIZE = 2**20  # numbers in a block of A
TILE_ROWS = 1024
EPS = float(np.finfo(np.float64).eps)
NEAR_TIE = {4: 1e-5, 8: 1e-10}  # by item size: entries of a component that count as equal


class CenteredRows(ABC):
    """The matrix A (n, d) of rows X, less their mean, times roots of weights.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Kept as it is.
    mean : ndarray of shape (d,)
        What is taken off every row, float64; zeros for nothing.
    roots : ndarray of shape (n,), optional
        Square roots of the weights.
    """

    def __init__(self, X: Rows, mean: np.ndarray, roots: np.ndarray | None = None) -> None:
        self.X = X
        self.mean = mean
        self.roots = roots
        self.shape: tuple[int, int] = X.shape
        self.dtype = dtype_of(X)

    @abstractmethod
    def tile(self, rows: slice, cols: slice) -> np.ndarray:
        """Return a small part of A, in float64."""

    @abstractmethod
    def times(self, C: np.ndarray) -> np.ndarray:
        """(k, d) -> (n, k): A C', in the precision of C."""

    @abstractmethod
    def adjoint(self, V: np.ndarray, dtype: np.dtype | None = None) -> np.ndarray:
        """(n, k) -> (k, d): V'A, worked out in the precision of V, returned in that or another."""

    @abstractmethod
    def squares(self, axis: int) -> np.ndarray:
        """Return the sums of squares of columns (axis 0) or rows (axis 1) of A, in float64."""

    @abstractmethod
    def small(self, by: str) -> np.ndarray:
        """Return A'A (d, d), by="covariance", or A A' (n, n), by="dot", in float64."""

    def taken_off(self) -> float:
        """Return the sum of squares that is taken off products, which costs digits: none if it is taken off rows."""
        return 0.0

    def long_blocks(self, by: str, least: int = 256) -> Iterator[np.ndarray]:
        """Cut A (by="covariance") or A' (by="dot") into blocks of rows, in float64."""
        long, short = self.shape if by == "covariance" else self.shape[::-1]
        everything = slice(0, short)
        for part in blocks(long, max(BLOCK_SIZE // short, least)):
            yield self.tile(part, everything) if by == "covariance" else self.tile(everything, part).T

    def triangle(self, by: str) -> np.ndarray:
        """Return R (s, s), upper triangular, with R'R = A'A or A A': a QR factorization, block after block."""
        short = self.shape[1] if by == "covariance" else self.shape[0]
        R = np.zeros((0, short))
        for block in self.long_blocks(by, 2 * short):
            R = np.asarray(np.linalg.qr(np.vstack([R, block]), mode="r"))
        return R


class DenseRows(CenteredRows):
    """A of an array X."""

    def tile(self, rows: slice, cols: slice) -> np.ndarray:
        """Return a small part of A, in float64."""
        tile = self.X[rows, cols] - self.mean[cols]
        if self.roots is not None:
            tile *= self.roots[rows, None]
        return tile

    def times(self, C: np.ndarray) -> np.ndarray:
        """(k, d) -> (n, k): A C', in the precision of C."""
        n, d = self.shape
        result = np.empty((n, len(C)), C.dtype)
        height, width = _tile_shape(n, d)

        def work(_: None, rows: slice, __: slice) -> None:
            total = np.zeros((rows.stop - rows.start, len(C)))
            for cols in blocks(d, width):
                total += self.tile(rows, cols).astype(C.dtype, copy=False) @ C[:, cols].T
            result[rows] = total

        share_out([(rows, slice(0, 1)) for rows in blocks(n, height)], work, lambda: None)
        return result

    def adjoint(self, V: np.ndarray, dtype: np.dtype | None = None) -> np.ndarray:
        """(n, k) -> (k, d): V'A, worked out in the precision of V, returned in that or another."""
        n, d = self.shape
        result = np.empty((V.shape[1], d), dtype or V.dtype)
        height, width = _tile_shape(n, d)

        def work(_: None, cols: slice, __: slice) -> None:
            total = np.zeros((V.shape[1], cols.stop - cols.start))
            for rows in blocks(n, height):
                total += V[rows].T @ self.tile(rows, cols).astype(V.dtype, copy=False)
            result[:, cols] = total

        share_out([(cols, slice(0, 1)) for cols in blocks(d, width)], work, lambda: None)
        return result

    def squares(self, axis: int) -> np.ndarray:
        """Return the sums of squares of columns (axis 0) or rows (axis 1) of A, in float64."""
        total = np.zeros(self.shape[1 - axis])
        height, width = _tile_shape(*self.shape)
        for rows in blocks(self.shape[0], height):
            for cols in blocks(self.shape[1], width):
                total[cols if axis == 0 else rows] += np.square(self.tile(rows, cols)).sum(axis=axis)
        return total

    def small(self, by: str) -> np.ndarray:
        """Return A'A (d, d), by="covariance", or A A' (n, n), by="dot", in float64: half of it, mirrored."""
        size = self.shape[1] if by == "covariance" else self.shape[0]
        total = np.zeros((size, size))
        tiles = half_tiles(size)
        for block in self.long_blocks(by):

            def work(_: None, rows: slice, cols: slice, block: np.ndarray = block) -> None:
                total[rows, cols] += block[:, rows].T @ block[:, cols]

            share_out(tiles, work, lambda: None)
        return _mirrored(total)


class SparseRows(CenteredRows):
    """A of a CSR matrix X, which stays sparse."""

    def tile(self, rows: slice, cols: slice) -> np.ndarray:
        """Return a small part of A, in float64."""
        tile = self.X[rows, cols].toarray() - self.mean[cols]
        if self.roots is not None:
            tile *= self.roots[rows, None]
        return tile

    def times(self, C: np.ndarray) -> np.ndarray:
        """(k, d) -> (n, k): A C', in the precision of C."""
        shift = np.zeros(len(C))
        for cols in blocks(self.shape[1], max(BLOCK_SIZE // max(len(C), 1), 1)):
            shift += C[:, cols] @ self.mean[cols]
        result = self.X @ C.T - shift
        return (result if self.roots is None else result * self.roots[:, None]).astype(C.dtype, copy=False)

    def adjoint(self, V: np.ndarray, dtype: np.dtype | None = None) -> np.ndarray:
        """(n, k) -> (k, d): V'A, worked out in the precision of V, returned in that or another."""
        weighted = V if self.roots is None else (V * self.roots[:, None]).astype(V.dtype, copy=False)
        result = np.ascontiguousarray((self.X.T @ weighted).T, dtype=dtype or V.dtype)
        sums = weighted.sum(axis=0, dtype=np.float64)
        for cols in blocks(self.shape[1], max(BLOCK_SIZE // max(len(sums), 1), 1)):
            result[:, cols] -= np.outer(sums, self.mean[cols]).astype(result.dtype)
        return result

    def squares(self, axis: int) -> np.ndarray:
        """Return the sums of squares of columns (axis 0) or rows (axis 1) of A, in float64."""
        X = self.X.astype(np.float64, copy=False)
        weights = np.ones(self.shape[0]) if self.roots is None else np.square(self.roots)
        if axis == 0:
            total = X.multiply(X).T @ weights - 2 * self.mean * (X.T @ weights) + weights.sum() * np.square(self.mean)
        else:
            total = weights * (
                np.asarray(X.multiply(X).sum(axis=1)).ravel() - 2 * (X @ self.mean) + self.mean @ self.mean
            )
        return np.maximum(total, 0.0)

    def small(self, by: str) -> np.ndarray:
        """Return A'A (d, d), by="covariance", or A A' (n, n), by="dot", in float64."""
        X = self.X.astype(np.float64, copy=False)
        if self.roots is not None:
            X = sparse.diags(self.roots) @ X
        left = (X.T if by == "covariance" else X).tocsr()
        right = (X if by == "covariance" else X.T).tocsr()
        roots = np.ones(self.shape[0]) if self.roots is None else self.roots
        # A = X - roots mean', so both products are X's less terms a b' + b a' - c a a'
        if by == "covariance":
            a, b, c = self.mean, X.T @ roots, float(roots @ roots)
        else:
            a, b, c = roots, X @ self.mean, float(self.mean @ self.mean)
        total = np.empty((left.shape[0], right.shape[1]))
        for rows in blocks(len(total), max(BLOCK_SIZE // len(total), 1)):
            total[rows] = (left[rows] @ right).toarray()
            total[rows] -= np.outer(a[rows], b) + np.outer(b[rows] - c * a[rows], a)
        return _mirrored(total)

    def taken_off(self) -> float:
        """Return the sum of squares that is taken off products, which costs digits."""
        count = self.shape[0] if self.roots is None else float(self.roots @ self.roots)
        return count * float(self.mean @ self.mean)


class SmallGram(DenseGram):
    """A'A or A A', held in memory.

    Parameters
    ----------
    rows : CenteredRows
        The matrix A.
    by : {"covariance", "dot"}
        Which of the two.
    """

    def __init__(self, rows: CenteredRows, by: str) -> None:
        super().__init__(rows.small(by), True, f"The {by} matrix of the data", symmetric=True)
        self._least = 16 * EPS * rows.taken_off()

    def rounding(self) -> float:
        """Return the size below which an eigenvalue is rounding error."""
        return max(super().rounding(), self._least)


class RowsGram(Gram):
    """A A' (n, n) or A'A (d, d) that is only ever multiplied by: for problems where neither fits or both are slow.

    Parameters
    ----------
    rows : CenteredRows
        The matrix A.
    by : {"covariance", "dot"}
        Which of the two.
    """

    positive_definite = True
    cheap_columns = False  # each costs as much as in any product

    def __init__(self, rows: CenteredRows, by: str) -> None:
        self.rows = rows
        self.by = by
        size = rows.shape[1] if by == "covariance" else rows.shape[0]
        self.shape = (size, size)
        self.dtype = rows.dtype
        self._diagonal: np.ndarray | None = None

    def matmat(self, V: np.ndarray) -> np.ndarray:
        """(s, p) -> (s, p)."""
        V = check_block(V, self.shape[0])
        if self.by == "covariance":
            return self.rows.adjoint(self.rows.times(np.ascontiguousarray(V.T))).T
        return self.rows.times(self.rows.adjoint(V))

    def diagonal(self) -> np.ndarray:
        """() -> (s,)."""
        if self._diagonal is None:
            self._diagonal = self.rows.squares(0 if self.by == "covariance" else 1)
        return self._diagonal.astype(self.dtype)

    def rounding(self) -> float:
        """Return the size below which an eigenvalue is rounding error.

        Products of rows with vectors are known to a few eps of the largest singular value, and what the mean adds to
        them to eps of its own; for dense and sparse rows of decaying and flat spectra that was seen to hold.
        """
        taken, size = self.rows.taken_off(), self.scale()
        level = 10 * float(np.finfo(self.dtype).eps) * float(np.sqrt(size * max(size, taken)))
        return max(level, 4 * EPS * taken)

    def trace(self) -> float:
        """Return the sum of all eigenvalues, in float64."""
        self.diagonal()
        assert self._diagonal is not None
        return float(self._diagonal.sum())

    def columns(self, idx: np.ndarray) -> np.ndarray:
        """(m,) -> (s, m): products with unit vectors."""
        units = np.zeros((self.shape[0], len(idx)), self.dtype)
        units[idx, np.arange(len(idx))] = 1.0
        return self.matmat(units)


def centered_rows(X: Rows, weights: np.ndarray | None, center: bool) -> CenteredRows:
    """Return A of rows X with weights, about their mean or about zero."""
    n, d = X.shape
    mean = np.zeros(d)
    if center:
        w = np.full(n, 1.0 / n) if weights is None else weights / weights.sum()
        if sparse.issparse(X):
            mean = X.T.astype(np.float64, copy=False) @ w
        else:
            height, width = _tile_shape(n, d)
            for cols in blocks(d, width):
                origin = X[0, cols].astype(np.float64)  # far from zero, sums of differences keep more digits
                for rows in blocks(n, height):
                    mean[cols] += w[rows] @ (X[rows, cols] - origin)
                mean[cols] += origin
    kind = SparseRows if sparse.issparse(X) else DenseRows
    return kind(X, mean, None if weights is None else np.sqrt(weights))


def rotate(C: np.ndarray, W: np.ndarray) -> None:
    """(k, d), (k, k): C becomes W'C, in place."""
    for cols in blocks(C.shape[1], max(BLOCK_SIZE // max(len(C), 1), 1)):
        C[:, cols] = W.T @ C[:, cols]


def products(C: np.ndarray) -> np.ndarray:
    """(k, d) -> (k, k): C C', in float64."""
    total = np.zeros((len(C), len(C)))
    for cols in blocks(C.shape[1], max(BLOCK_SIZE // max(len(C), 1), 1)):
        part = C[:, cols].astype(np.float64, copy=False)
        total += part @ part.T
    return total


def orthonormalize(C: np.ndarray, sound: np.ndarray, rng: np.random.Generator) -> None:
    """Make the rows of C (k, d) orthonormal, in place, changing them as little as possible.

    Rows that are not `sound` (k,), having no length or no direction of their own, become directions orthogonal to
    all others.
    """
    for _ in range(4 if len(C) else 0):
        C[~sound] = 0
        lengths = np.sqrt(np.diag(products(C)))
        rotate(C, np.diag(np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)))
        for i in np.flatnonzero(~(sound & (lengths > 0))):
            _draw(C, int(i), rng)
        values, U = np.linalg.eigh(products(C))
        sound = values > 1e-12 * len(C)
        if sound.all():
            rotate(C, (U / np.sqrt(values)) @ U.T)
            if values[0] > 0.5:  # else once more: rounding counted for more
                return
        else:  # some rows lie in the span of others: turn all, and draw those anew
            rotate(C, U)


def _draw(C: np.ndarray, i: int, rng: np.random.Generator) -> None:
    """Make row i of C a random direction, nearly orthogonal to the other rows if they are to each other."""
    C[i] = rng.standard_normal(C.shape[1])
    others = np.arange(len(C)) != i
    for _ in range(2):
        C[i] /= np.linalg.norm(C[i])
        C[i] -= np.where(others, C @ C[i], 0.0) @ C


def fix_signs(C: np.ndarray) -> None:
    """Make the entry of largest size in each row of C positive, in place; of equal ones, the first."""
    for row in C:
        sizes = np.abs(row)
        first = int(np.argmax(sizes >= sizes.max() * (1 - NEAR_TIE[C.dtype.itemsize])))
        if row[first] < 0:
            np.negative(row, out=row)


def _tile_shape(n: int, d: int) -> tuple[int, int]:
    """Return the rows and columns of a tile of an (n, d) matrix."""
    height = min(n, TILE_ROWS)
    return height, max(BLOCK_SIZE // height, 1)


def _mirrored(S: np.ndarray) -> np.ndarray:
    """Write the upper half of S into the lower one."""
    for rows in blocks(len(S), TILE_ROWS):
        for cols in blocks(len(S), TILE_ROWS):
            if cols.start > rows.start:
                S[cols, rows] = S[rows, cols].T
    for rows in blocks(len(S), TILE_ROWS):
        tile = S[rows, rows]
        S[rows, rows] = np.triu(tile) + np.triu(tile, 1).T
    return S
