"""Centered rows that lie elsewhere, as linear PCA sees them: each chunk does what rows in memory do."""

from __future__ import annotations

from functools import partial
from operator import add
from typing import Any

import numpy as np

from kernelpca.estimators.linear import CenteredRows, DenseRows
from kernelpca.kernels.dot import Linear
from kernelpca.remote import RemoteRows
from kernelpca.tiles import one_blas_thread


class DistantRows(CenteredRows):
    """A of rows that lie elsewhere.

    Parameters
    ----------
    X : RemoteRows of shape (n, d)
        The rows.
    mean : ndarray of shape (d,)
        What is taken off every row, float64.
    roots : ndarray of shape (n,), optional
        Square roots of the weights.
    """

    X: RemoteRows

    def tile(self, rows: slice, cols: slice) -> np.ndarray:
        """Return a small part of A, in float64, brought here."""
        return DenseRows(self.X[rows], self.mean, None if self.roots is None else self.roots[rows]).tile(
            slice(None), cols
        )

    def times(self, C: np.ndarray) -> np.ndarray:
        """(k, d) -> (n, k): A C', in the precision of C."""
        return self.X.collect(partial(_in_chunk, "times", self.mean, (C,)), *self._aligned())

    def adjoint(self, V: np.ndarray, dtype: np.dtype | None = None) -> np.ndarray:
        """(n, k) -> (k, d): V'A, worked out in the precision of V, returned in that or another."""
        total = self.X.reduce(partial(_adjoint_in_chunk, self.mean), add, V, *self._aligned())
        return total.astype(dtype or V.dtype)

    def squares(self, axis: int) -> np.ndarray:
        """Return the sums of squares of columns (axis 0) or rows (axis 1) of A, in float64."""
        function = partial(_in_chunk, "squares", self.mean, (axis,))
        if axis == 1:
            return self.X.collect(function, *self._aligned())
        return self.X.reduce(function, add, *self._aligned())

    def small(self, by: str) -> np.ndarray:
        """Return A'A (d, d), by="covariance", or A A' (n, n), by="dot", in float64."""
        if by == "covariance":
            return self.X.reduce(partial(_in_chunk, "small", self.mean, (by,)), add, *self._aligned())
        K = (self.X.astype(np.float64) - self.mean).gram(Linear()).dense()
        return K if self.roots is None else K * self.roots * self.roots[:, None]

    def triangle(self, by: str) -> np.ndarray:
        """Return R (s, s), upper triangular, with R'R = A'A or A A'; the latter brings columns here."""
        if by == "dot":
            return super().triangle(by)
        return self.X.reduce(partial(_in_chunk, "triangle", self.mean, (by,)), _stacked, *self._aligned())

    def _aligned(self) -> tuple[np.ndarray, ...]:
        return () if self.roots is None else (self.roots,)


def distant_rows(X: RemoteRows, weights: np.ndarray | None, center: bool) -> DistantRows:
    """Return A of rows X with weights, about their mean or about zero."""
    mean, roots = np.zeros(X.shape[1]), None if weights is None else np.sqrt(weights)
    if center:
        mean = X.mean(dtype=np.float64)
        if roots is not None and weights is not None:  # sums of differences keep more digits
            mean = mean + DistantRows(X, mean, roots).adjoint(roots[:, None])[0] / weights.sum()
    return DistantRows(X, mean, roots)


def _in_chunk(
    method: str, mean: np.ndarray, arguments: tuple[Any, ...], X: np.ndarray, roots: np.ndarray | None = None
) -> np.ndarray:
    """Call a method of the centered rows of a chunk."""
    with one_blas_thread:
        return getattr(DenseRows(X, mean, roots), method)(*arguments)


def _adjoint_in_chunk(mean: np.ndarray, X: np.ndarray, V: np.ndarray, roots: np.ndarray | None = None) -> np.ndarray:
    """(b, d), (b, k) -> (k, d): V'A of a chunk, in float64."""
    return _in_chunk("adjoint", mean, (V, np.dtype(np.float64)), X, roots)


def _stacked(R: np.ndarray, S: np.ndarray) -> np.ndarray:
    """(s, s), (s, s) -> (s, s): the triangular factor of both."""
    return np.asarray(np.linalg.qr(np.vstack([R, S]), mode="r"))
