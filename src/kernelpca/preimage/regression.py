"""Kernel ridge regression, on all rows or on landmarks, and the ridge that leaving rows out tells."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import get_lapack_funcs

from kernelpca.features import Nystrom
from kernelpca.features.nystrom import NystromFeatures
from kernelpca.gram.protocol import check_finite
from kernelpca.kernels.base import Kernel, diagonal
from kernelpca.tall import row_products, times
from kernelpca.tiles import all_tiles, blocks, half_tiles, share_out

RATIOS = np.logspace(-8, 1, 19)  # ridges that are tried, over the mean of the kernel matrix's diagonal
COARSE = 10.0  # roundings of the whole matrix, below which a ridge is solved with in float64
FINE = 30.0  # roundings of a sum of kernel values, below which a ridge has answers made in float64
INDEFINITE = 1e-10  # of the largest eigenvalue: negative ones beyond it are no rounding
SMALL = 1500  # rows up to which the matrix is decomposed to choose a ridge, and solved in float64
SAMPLE = 1000  # rows on which the ridge of more rows is chosen
LEFT_OUT = 2000  # rows that are left out, one at a time, where regression is on landmarks
COLUMNS = 1024  # of long rows, multiplied at a time
ALL = slice(None)


class SingularError(ValueError):
    """The kernel matrix with the ridge on its diagonal is not positive definite."""


@dataclass(frozen=True)
class Outputs:
    """What is regressed: rows X (n, d) less their mean (d,), made a block at a time."""

    X: np.ndarray
    mean: np.ndarray

    def rows(self, which: slice | np.ndarray = ALL) -> np.ndarray:
        """(b, d): some rows or all, in their own precision."""
        return self.X[which] - self.mean.astype(self.X.dtype)

    def products(self, which: slice | np.ndarray, B: np.ndarray | None = None) -> np.ndarray:
        """(b, d), (c, d) -> (b, c): dot products of some rows with B, or with each other, in float64."""
        count = len(self.X[which, :1])

        def block(cols: slice) -> tuple[np.ndarray, np.ndarray]:
            A = self.X[which, cols] - self.mean[cols]
            return A, A if B is None else B[:, cols]

        return row_products(self.X.shape[1], (count, count if B is None else len(B)), block)

    def squares(self, which: slice | np.ndarray) -> np.ndarray:
        """(b,): squared lengths of some rows, in float64."""
        parts = (self.X[which, cols] - self.mean[cols] for cols in blocks(self.X.shape[1], COLUMNS))
        return sum(np.einsum("ij,ij->i", A, A) for A in parts)


@dataclass(frozen=True)
class Curve:
    """Mean squared errors of rows left out, summed over columns, (r,) for each of the ridges (r,) that were tried."""

    ridges: np.ndarray
    errors: np.ndarray

    @property
    def best(self) -> int:
        """Which has the smallest error; of equal ones the largest ridge."""
        return int(np.flatnonzero(self.errors <= self.errors.min() * (1 + 1e-9))[-1])


def ridges_for(kernel: Kernel, Z: np.ndarray) -> np.ndarray:
    """Return the ridges to try for scores Z: multiples of the mean k(z, z), none below the rounding of the scores."""
    return np.unique(np.maximum(RATIOS, float(np.finfo(Z.dtype).eps))) * mean_diagonal(kernel, Z)


def mean_diagonal(kernel: Kernel, Z: np.ndarray) -> float:
    """(n, k) -> the mean of k(z, z) in size, or 1 where all are zero."""
    return float(np.abs(diagonal(kernel, Z).astype(np.float64)).mean()) or 1.0


def precision_to_solve(kernel: Kernel, Z: np.ndarray, ridge: float) -> np.dtype:
    """Return the precision that tells the kernel matrix plus a ridge from a singular one; float64 for few rows."""
    level = COARSE * float(np.finfo(Z.dtype).eps) * len(Z) * mean_diagonal(kernel, Z)
    return Z.dtype if len(Z) > SMALL and ridge >= level else np.dtype(np.float64)


def precision_to_apply(kernel: Kernel, Z: np.ndarray, ridge: float) -> np.dtype:
    """Return the precision of kernel values and coefficients in which answers are still those of the ridge.

    A coefficient is what is left of a row over the ridge: a sum of n of them times kernel values is off by about
    eps sqrt(n) k(z, z) / ridge of what is left.
    """
    level = FINE * float(np.finfo(Z.dtype).eps) * np.sqrt(len(Z)) * mean_diagonal(kernel, Z)
    return Z.dtype if ridge >= level else np.dtype(np.float64)


# all rows


@dataclass(frozen=True)
class Spectrum:
    """The kernel matrix of scores Z, K = U diag(values) U' (n, n), in float64: every ridge is solved by products."""

    kernel: Kernel
    Z: np.ndarray
    values: np.ndarray
    U: np.ndarray

    @classmethod
    def of(cls, kernel: Kernel, Z: np.ndarray) -> Spectrum:
        """Decompose the matrix; negative eigenvalues that are rounding become zero."""
        K = kernel.matrix(Z.astype(np.float64, copy=False))
        values, U = np.linalg.eigh(check_finite(K, f"The kernel {kernel!r}"))
        definite = values[0] >= -INDEFINITE * np.abs(values).max()
        return cls(kernel, Z, np.maximum(values, 0.0) if definite else values, U)

    def leave_one_out(self, outputs: Outputs, rows: slice | np.ndarray = ALL) -> Curve:
        """Leave out every row of Y in turn: its error is (A Y)_i / A_ii, with A = (K + ridge I)^-1.

        A ridge takes n^2 min(n, d) operations: of Y (n, d), only U'Y or U'YY'U is needed. Indefinite matrices are
        lifted above zero first. `rows` says which of the outputs belong to Z.
        """
        ridges = ridges_for(self.kernel, self.Z) + 2.0 * max(-float(self.values[0]), 0.0)
        wide = outputs.X.shape[1] > len(self.U)
        T = np.ascontiguousarray(self.U.T)
        R = times(T, times(outputs.products(rows), self.U) if wide else outputs.rows(rows))
        errors = np.empty(len(ridges))
        for i, ridge in enumerate(ridges):
            A = self.U / (self.values + ridge)
            C = times(A, R)
            squares = np.maximum(np.einsum("ij,ij->i", C, A if wide else C), 0.0)
            errors[i] = (squares / np.square(np.einsum("ij,ij->i", A, self.U))).mean()
        return Curve(ridges, errors)

    def plus(self, ridge: float) -> Spectrum:
        """Return the spectrum of K + ridge I."""
        return replace(self, values=self.values + ridge)

    def solve(self, Y: np.ndarray) -> np.ndarray:
        """(n, d) -> (n, d): K^-1 Y."""
        return times(self.U, times(np.ascontiguousarray(self.U.T), Y) / self.values[:, None])

    def inverse(self) -> np.ndarray:
        """(n, n): K^-1."""
        return times(self.U / self.values, np.ascontiguousarray(self.U.T))


def leave_out_of_all(kernel: Kernel, Z: np.ndarray, outputs: Outputs) -> Curve:
    """Leave out rows of a random sample of many: a ridge that is best for it is nearly so for all rows."""
    rows = sample_rows(len(Z), SAMPLE)
    return Spectrum.of(kernel, Z[rows]).leave_one_out(outputs, rows)


def sample_rows(n: int, size: int) -> np.ndarray:
    """Return the numbers of all rows or of so many random ones, always the same."""
    return np.sort(np.random.default_rng(0).choice(n, size, replace=False)) if n > size else np.arange(n)


@dataclass(frozen=True)
class Factor:
    """The lower Cholesky factor of K = kernel matrix + ridge I, as LAPACK orders it; `inverse` uses it up."""

    L: np.ndarray

    @classmethod
    def of(cls, kernel: Kernel, Z: np.ndarray, ridge: float) -> Factor:
        """Factorize; in float64 where float32 would not do, or saves no time."""
        Z = Z.astype(precision_to_solve(kernel, Z, ridge), copy=False)
        K = check_finite(kernel.matrix(Z), f"The kernel {kernel!r}")
        K.flat[:: len(K) + 1] += ridge
        (potrf,) = get_lapack_funcs(("potrf",), (K,))
        L, info = potrf(K.T, lower=True, overwrite_a=True, clean=False)
        if info:
            raise SingularError
        return cls(L)

    def solve(self, Y: np.ndarray) -> np.ndarray:
        """(n, d) -> (n, d): K^-1 Y."""
        (potrs,) = get_lapack_funcs(("potrs",), (self.L,))
        return potrs(self.L, np.asfortranarray(Y, dtype=self.L.dtype), lower=True, overwrite_b=True)[0]

    def inverse(self) -> np.ndarray:
        """(n, n): K^-1."""
        (potri,) = get_lapack_funcs(("potri",), (self.L,))
        A = potri(self.L, lower=True, overwrite_c=True)[0].T  # what LAPACK leaves alone is below the diagonal now
        for rows, cols in half_tiles(len(A)):
            if rows == cols:
                tile = A[rows, cols]
                np.copyto(tile, tile.T.copy(), where=np.tri(len(tile), k=-1, dtype=bool))
            else:
                A[cols, rows] = A[rows, cols].T
        return A


# landmarks


@dataclass(frozen=True)
class Landmarked:
    """Regression on Nyström features F (n, r) of scores Z: what it needs, added up over blocks of rows in float64.

    Attributes
    ----------
    features : NystromFeatures
        Coordinates in the span of the mapped landmarks, which are some of the scores.
    Z, outputs : ndarray of shape (n, k), Outputs
        What is regressed on what.
    dtype : dtype
        The precision of features and their products.
    second : ndarray of shape (r, r)
        F'F.
    cross : ndarray of shape (r, d)
        F'Y.
    """

    features: NystromFeatures
    Z: np.ndarray
    outputs: Outputs
    dtype: np.dtype
    second: np.ndarray
    cross: np.ndarray

    @classmethod
    def of(cls, kernel: Kernel, Z: np.ndarray, outputs: Outputs, m: int, ridge: float | None) -> Landmarked:
        """Choose m landmarks, all rows alike and always the same ones, and go over the rows once.

        Landmarks that explain the others better were seen to lower errors by 0 to 4%, for as much time as the rest.

        Where the ridge is yet to be chosen (None), or is small, features are made in float64.
        """
        dtype = precision_to_solve(kernel, Z, ridge or 0.0)
        features = Nystrom(m, "uniform").fit(kernel, Z, np.random.default_rng(0), center=False, dtype=dtype)
        shapes = (features.size, features.size), (features.size, outputs.X.shape[1])

        def work(sums: tuple[np.ndarray, np.ndarray], rows: slice, _: slice) -> None:
            F = features.map(Z[rows], dtype)
            for total, product in zip(sums, (F.T @ F, F.T @ outputs.rows(rows)), strict=True):
                total += product

        tiles = all_tiles(len(Z), 1, features.block_rows(dtype))
        parts = share_out(tiles, work, lambda: (np.zeros(shapes[0]), np.zeros(shapes[1])))
        for part in parts[1:]:
            for total, other in zip(parts[0], part, strict=True):
                total += other
        return cls(features, Z, outputs, dtype, *parts[0])

    def leave_one_out(self) -> Curve:
        """Leave out rows in turn, all or a random 2000: (y_i - f_i'w) / (1 - f_i'(F'F + ridge I)^-1 f_i).

        With F'F = V diag(s) V' and G = F V a ridge takes the product of G (2000, r) with V'F'Y (r, d), or with
        V'F'Y Y'F V where that is smaller.
        """
        s, V = np.linalg.eigh(self.second)
        s = np.maximum(s, 0.0)
        r, d = self.cross.shape
        ridges = ridges_for(self.features.kernel, self.Z)
        rows = sample_rows(len(self.Z), LEFT_OUT)
        G = times(self.features.map(self.Z[rows], self.dtype).astype(np.float64, copy=False), V)
        T = np.ascontiguousarray(V.T)
        wide = d > r
        if wide:
            own, S = self.outputs.squares(rows), times(self.outputs.products(rows, self.cross), V)
            Q = times(T, times(_gram(self.cross), V))
        else:
            Y, Q = self.outputs.rows(rows), times(T, self.cross)
        errors = np.empty(len(ridges))
        for i, ridge in enumerate(ridges):
            A = G / (s + ridge)
            P = times(A, Q)
            if wide:
                squares = own - 2 * np.einsum("ij,ij->i", A, S) + np.einsum("ij,ij->i", A, P)
            else:
                squares = np.square(Y - P).sum(axis=1)
            kept = np.maximum(1.0 - np.einsum("ij,ij->i", A, G), float(np.finfo(np.float64).eps))
            errors[i] = (np.maximum(squares, 0.0) / np.square(kept)).mean()
        return Curve(ridges, errors)

    def solve(self, ridge: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the landmarks (m, k) and the coefficients (m, d) of their kernel values."""
        potrf, potrs = get_lapack_funcs(("potrf", "potrs"), (self.second,))
        L, info = potrf(self.second + ridge * np.eye(len(self.second)), lower=True, overwrite_a=True)
        if info:
            raise SingularError
        w = potrs(L, self.cross, lower=True)[0]
        space, idx = self.features.space, self.features.indices
        assert idx is not None, "landmarks are rows"
        return self.Z[idx], space.fold(w, np.zeros(space.size))[0]


def _gram(A: np.ndarray) -> np.ndarray:
    """(r, d) -> (r, r): A A', a block of columns at a time."""
    return Outputs(A, np.zeros(A.shape[1])).products(ALL)
