"""The Gram matrix of centered or weighted features, around any other."""

from __future__ import annotations

import numpy as np

from kernelpca.gram.landmarks import whitening
from kernelpca.gram.protocol import Gram, WrappedGram, check_block
from kernelpca.tall import by_rows, inner


class CenteredGram(WrappedGram):
    """(I - 1w') K (I - w1'): what K becomes when the mean of the mapped data is taken off.

    With equal weights w = 1/n this is H K H with H = I - 11'/n. The column K w is found in the first product,
    where w rides along as one more column, so that centring costs no pass of its own.

    Parameters
    ----------
    inner : Gram
        The matrix K.
    weights : ndarray of shape (n,), optional
        Sample weights, scaled to sum to one here; equal when not given.
    positive_definite : bool, optional
        Whether the centered matrix is known to be positive semi-definite; as the inner one when not given.
    """

    def __init__(self, inner: Gram, weights: np.ndarray | None = None, positive_definite: bool | None = None) -> None:
        super().__init__(inner)
        n = inner.shape[0]
        if positive_definite is not None:
            self.positive_definite = positive_definite
        self.equal = weights is None
        self.w = (np.full(n, 1.0 / n) if weights is None else weights / weights.sum()).astype(self.dtype)
        self._mean: np.ndarray | None = None
        self._single: CenteredGram | None = None

    def single(self) -> Gram:
        """Return this matrix in float32; what it learns of the mean is known here too."""
        if self.dtype == np.float32:
            return self
        if self._single is None:
            self._single = CenteredGram(self.inner.single(), None if self.equal else self.w, self.positive_definite)
        return self._single

    @property
    def mean_column(self) -> np.ndarray:
        """(n,): K w, the similarity of each sample to the mean."""
        if self._mean is None and self._single is not None and self._single._mean is not None:
            return self._single._mean.astype(self.dtype)
        if self._mean is None:
            self._mean = self.inner.matmat(self.w[:, None])[:, 0]
        return self._mean

    @property
    def mean_total(self) -> float:
        """w'K w: the squared length of the mean."""
        return float(np.dot(self.w.astype(np.float64), self.mean_column))

    def matmat(self, V: np.ndarray) -> np.ndarray:
        """(n, p) -> (n, p)."""
        V = check_block(np.asarray(V, dtype=self.dtype), self.shape[0])
        if self._mean is None:
            product = self.inner.matmat(np.column_stack([V, self.w]))
            self._mean, Y = product[:, -1].copy(), product[:, :-1]
        else:
            Y = self.inner.matmat(V)
        mean, sums, result = -self.mean_column, V.sum(axis=0), np.empty(V.shape, self.dtype)

        def work(rows: slice) -> None:
            np.multiply(mean[rows, None], sums, out=result[rows])
            result[rows] += Y[rows]

        by_rows(len(V), work)
        self._take_off_mean(result)
        return result

    def _take_off_mean(self, Y: np.ndarray) -> None:
        """(n, p): Y - 1 w'Y, in place."""
        mean = inner(self.w[:, None], Y).astype(Y.dtype)

        def work(rows: slice) -> None:
            Y[rows] -= mean

        by_rows(len(Y), work)

    def diagonal(self) -> np.ndarray:
        """() -> (n,)."""
        return self.inner.diagonal() - 2 * self.mean_column + self.dtype.type(self.mean_total)

    def columns(self, idx: np.ndarray) -> np.ndarray:
        """(m,) -> (n, m)."""
        return self._center(self.inner.columns(idx), idx)

    def landmark_factors(self, idx: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(m,) -> (n, m), (m, r): without the mean column, which only a pass can tell.

        Taking the mean of the landmarks off instead gives a matrix that is positive semi-definite whenever the
        centered one is, and whose features need only be centered themselves.
        """
        C = self.inner.columns(idx)
        scale = float(np.abs(C[idx]).max(initial=0.0))
        means = C[idx].mean(axis=1)
        means -= means.mean()

        def center(rows: slice) -> None:
            C[rows] -= C[rows].mean(axis=1)[:, None]
            C[rows] -= means

        by_rows(len(C), center)
        R = whitening(C[idx], scale)
        self._take_off_mean(C)
        return C, R

    def dense(self) -> np.ndarray:
        """() -> (n, n): centered twice, for what rounding of the mean leaves is alike in all entries, and adds up."""
        K = self._center(self.inner.dense(), np.arange(self.shape[0]))
        left = K @ self.w
        K -= (left - left @ self.w)[:, None]
        K -= left
        return K

    def frobenius_squared(self) -> float | None:
        """Return |HKH|_F^2 = |K|_F^2 - 2n |Kw|^2 + n^2 (w'Kw)^2, known for equal weights only."""
        inner = self.inner.frobenius_squared()
        if inner is None or not self.equal:
            return None
        n, mean = self.shape[0], self.mean_column.astype(np.float64)
        return self.rounded_up(inner, -2 * n * float(mean @ mean), (n * self.mean_total) ** 2)

    def scale(self) -> float:
        """Return the size of the inner matrix."""
        return self.inner.scale()

    def rounding(self) -> float:
        """Return the rounding level of the matrix before centring: that is where the digits are lost.

        n w'Kw is about the largest eigenvalue that centring removes, and products were seen to be known to a quarter of
        eps of that (Gaussian, polynomial and linear kernels, near the origin and far away).
        """
        level = self.inner.rounding()
        if self._mean is not None:
            unit = 2 * float(np.finfo(self.dtype).eps)
            level = max(level, unit * self.shape[0] * abs(self.mean_total))
        return level

    def _center(self, block: np.ndarray, idx: np.ndarray) -> np.ndarray:
        block -= (self.mean_column - self.dtype.type(self.mean_total))[:, None]
        block -= self.mean_column[idx]
        return block


class WeightedGram(WrappedGram):
    """S^(1/2) K S^(1/2) with S = diag(s): samples count s times.

    With whole-number weights its eigenvalues are those of the data with rows repeated.

    Parameters
    ----------
    inner : Gram
        The matrix K, centered with the same weights or not at all.
    weights : ndarray of shape (n,)
        Positive sample weights s.
    """

    def __init__(self, inner: Gram, weights: np.ndarray) -> None:
        super().__init__(inner)
        self.roots = np.sqrt(weights).astype(self.dtype)

    def single(self) -> Gram:
        """Return this matrix in float32."""
        return self if self.dtype == np.float32 else WeightedGram(self.inner.single(), np.square(self.roots))

    def matmat(self, V: np.ndarray) -> np.ndarray:
        """(n, p) -> (n, p)."""
        roots = self.roots[:, None]
        return self.inner.matmat(check_block(V, self.shape[0]) * roots) * roots

    def diagonal(self) -> np.ndarray:
        """() -> (n,)."""
        return self.inner.diagonal() * self.roots**2

    def columns(self, idx: np.ndarray) -> np.ndarray:
        """(m,) -> (n, m)."""
        return self._weigh(self.inner.columns(idx), idx)

    def landmark_factors(self, idx: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(m,) -> (n, m), (m, r)."""
        C, R = self.inner.landmark_factors(idx)
        return C * self.roots[:, None], R

    def dense(self) -> np.ndarray:
        """() -> (n, n)."""
        return self._weigh(self.inner.dense(), np.arange(self.shape[0]))

    def scale(self) -> float:
        """Return the size of the inner matrix at the largest weight."""
        return float(self.roots.max()) ** 2 * self.inner.scale()

    def rounding(self) -> float:
        """Return the rounding level of the inner matrix at the largest weight."""
        return float(self.roots.max()) ** 2 * self.inner.rounding()

    def _weigh(self, block: np.ndarray, idx: np.ndarray) -> np.ndarray:
        block *= self.roots[:, None]
        block *= self.roots[idx]
        return block
