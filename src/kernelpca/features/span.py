"""The span of a few mapped samples: orthonormal coordinates in it, from kernel values with them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from kernelpca.features.protocol import BLOCK_ROWS
from kernelpca.tiles import blocks, one_blas_thread

PANELS = 8  # that a product with a triangular matrix is cut into
INDEFINITE = 1e-3  # of the largest eigenvalue in size: smaller ones of an indefinite block are left out


@dataclass(frozen=True)
class LandmarkSpace:
    """The span of mapped landmarks phi(z_j), and orthonormal coordinates in it.

    With centring it is the span of their differences from their mean, which is the origin of the coordinates: then a
    constant in the kernel does not matter, and directions are combinations whose coefficients sum to zero.

    Attributes
    ----------
    R : ndarray of shape (r0, r)
        Coordinates are g R, where g are the inner products with the first r0 landmarks; upper triangular where it
        comes from a Cholesky factor.
    offset : ndarray of shape (m,)
        Inner products of the landmarks with the origin; zeros without centring.
    square : float
        Squared length of the origin.
    signs : ndarray of shape (r,)
        Ones; -1 for directions in which an indefinite kernel is negative.
    values : ndarray of shape (r,) or None
        Eigenvalues of the landmarks' own matrix, where coordinates are along its eigenvectors.
    centered : bool
        Whether the origin is the mean of the landmarks.
    entry : float
        The largest kernel value of two landmarks, in size.
    level : float
        Eigenvalues of the landmarks' own matrix below this were left out as rounding.
    factor, lengths : ndarray of shape (r, r), (r,), or None
        The Cholesky factor of the landmarks' own matrix, and the squared lengths of its rows.
    """

    R: np.ndarray
    offset: np.ndarray
    square: float
    signs: np.ndarray
    values: np.ndarray | None
    centered: bool
    entry: float
    level: float
    factor: np.ndarray | None = None
    lengths: np.ndarray | None = None

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return self.R.shape[1]

    def inner_products(self, C: np.ndarray) -> np.ndarray:
        """(b, m) kernel values with the landmarks, overwritten -> (b, r0): inner products g, about the origin."""
        if self.centered:
            C -= self.offset.astype(C.dtype)
            C -= C.mean(axis=1, keepdims=True)
        return C[:, : len(self.R)]

    def keeps_digits(self, eps: float, k: int, n: int, tol: float) -> bool:
        """Whether sums of products g g' over n samples, rounded to eps, are as good as sums over features g R.

        An entry (i, j) of the sums is off by about eps sqrt(d_i d_j), d their diagonal, less where many blocks are
        added up; the landmarks themselves, a sample of the rows, tell d, the leading k directions u and their
        eigenvalues theta. Random errors E move R'E R u by sqrt(sum_i d_i |R_i|^2) sqrt(sum_j d_j (R u)_j^2) eps, and
        the trace by |D^(1/2) R R' D^(1/2)|_F eps; and they add eigenvalues of about max_j sum_i d_i R_ij^2 eps, which
        must not come before theirs.
        """
        if self.factor is None or self.lengths is None or not 2 * k <= self.size:
            return False
        unit = eps * min(np.sqrt(BLOCK_ROWS / n), 1.0)
        rng = np.random.default_rng(0)
        V = rng.standard_normal((self.size, 2 * k))
        for _ in range(2):
            V = np.linalg.qr(self.factor.T @ (self.factor @ V))[0]
        values, U = np.linalg.eigh(V.T @ (self.factor.T @ (self.factor @ V)))
        U, theta = V @ U[:, -k:], np.maximum(values[-k:], np.finfo(np.float64).tiny)
        P = np.sqrt(self.lengths)[:, None] * self.R
        residual = unit * float(np.linalg.norm(P)) * float((np.linalg.norm(P @ U, axis=0) / theta).max())
        signs = rng.choice([-1.0, 1.0], (self.size, 16))
        trace = unit * float(np.sqrt(np.square(P.T @ (P @ signs)).sum() / 16)) / float(np.square(self.factor).sum())
        added = unit * float(np.square(P).sum(axis=0).max()) / float(theta.min())
        return max(residual, trace) < 0.3 * max(tol, 1e-10) and added < 0.3

    def coordinates(self, C: np.ndarray) -> np.ndarray:
        """(b, m) kernel values with the landmarks, overwritten -> (b, r)."""
        C, R = self.inner_products(C), self.R.astype(C.dtype, copy=False)
        if self.factor is None:
            return C @ R
        F = np.empty((len(C), R.shape[1]), C.dtype)
        for panel in blocks(R.shape[1], max(-(-R.shape[1] // PANELS), 64)):
            np.matmul(C[:, : panel.stop], R[: panel.stop, panel], out=F[:, panel])
        return F

    def squares(self, diagonal: np.ndarray, C: np.ndarray) -> np.ndarray:
        """(b,) k(x, x), (b, m) -> (b,): squared distance of each mapped sample from the origin."""
        if not self.centered:
            return diagonal
        return diagonal - 2.0 * C.mean(axis=1) + C.dtype.type(self.square)

    def error(self, true: np.ndarray, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """(a, b), (a, m), (b, m) kernel values -> (a, b): true ones less what coordinates say they are."""
        if self.centered:
            true = true + true.dtype.type(self.square) - A.mean(axis=1)[:, None] - B.mean(axis=1)
        return true - self.coordinates(A.copy()) * self.signs.astype(true.dtype) @ self.coordinates(B.copy()).T

    def fold(self, U: np.ndarray, mean: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """(r, k), (r,) -> W (m, k), b (k,), weights of the mean (m,), its squared length: in terms of kernel values."""
        m = len(self.offset)
        A = np.zeros((m, self.size))
        A[: len(self.R)] = self.R
        if not self.centered:
            return A @ U, np.zeros(U.shape[1]), np.zeros(m), 0.0
        A -= A.mean(axis=0)
        W = A @ U
        center = 1.0 / m + A @ mean
        square = self.square + 2.0 * float(self.offset @ (A @ mean)) + float(self.signs @ mean**2)
        return W, -(self.offset @ W) - mean @ U, center, square


def landmark_space(
    W: np.ndarray, center: bool, definite: bool, eigen: bool, eps: float
) -> tuple[LandmarkSpace, np.ndarray]:
    """(m, m) kernel matrix of the landmarks -> their space, and the order (m,) in which it takes them.

    A Cholesky factorization with pivots leaves out landmarks that are combinations of others up to rounding; with
    `eigen`, and where the matrix may be indefinite, eigenvectors are the coordinates instead. Where all landmarks are
    one point, there is one coordinate, which is always zero.
    """
    W = (W + W.T) / 2
    m = len(W)
    offset, square = (W.mean(axis=0), float(W.mean())) if center else (np.zeros(m), 0.0)
    inner = W - offset - offset[:, None] + square if center else W
    largest = float(np.abs(inner.diagonal()).max(initial=0.0))
    entry = float(np.abs(W).max(initial=0.0))
    scale = max(largest, 1e-3 * entry if center else 0.0)
    level = 10.0 * max(eps * np.sqrt(m), float(np.finfo(np.float64).eps) * m) * scale
    with one_blas_thread:
        if definite and not eigen:
            factor, order, rank, _ = lapack.dpstrf(inner, tol=level, lower=1)
            order, rank = order - 1, min(rank, m - 1) if center else rank  # m points span m - 1 differences
            if not rank or largest <= level:
                R = np.zeros((1, 1))
                return LandmarkSpace(R, offset[order], square, np.ones(1), None, center, entry, level), order
            L = np.tril(factor[:rank, :rank])
            R = np.ascontiguousarray(lapack.dtrtri(L, lower=1)[0].T)
            lengths = np.square(inner[order[:rank]]).sum(axis=1)
            signs = np.ones(rank)
            space = LandmarkSpace(R, offset[order], square, signs, None, center, entry, level, L, lengths)
            return space, order
        values, Q = np.linalg.eigh(inner)
    if not definite:
        level = max(level, INDEFINITE * float(np.abs(values).max(initial=0.0)))
    kept = np.flatnonzero(np.abs(values) > level)[::-1]
    values, Q = values[kept], Q[:, kept]
    if definite:
        values, Q = values[values > 0], Q[:, values > 0]
    if not values.size:
        R, values, signs = np.zeros((m, 1)), np.zeros(1), np.ones(1)
    else:
        R, signs = Q / np.sqrt(np.abs(values)), np.sign(values)
    return LandmarkSpace(R, offset, square, signs, values, center, entry, level), np.arange(m)
