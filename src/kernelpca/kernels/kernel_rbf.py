"""A Gaussian in the feature space of another kernel."""

from __future__ import annotations

from typing import Self

import numpy as np

from kernelpca.kernels.base import HasGamma, Kernel, Rows, dtype_of, n_rows, spread_rows, values_of
from kernelpca.kernels.combined import Wrapped
from kernelpca.kernels.exponential import exponential
from kernelpca.kernels.slopes import Slopes, chain, lean, rates_of


class KernelRBF(Wrapped, HasGamma):
    """exp(-gamma (k(x, x) + k(y, y) - 2 k(x, y))): a Gaussian in the feature space of another kernel.

    Parameters
    ----------
    kernel : Kernel
        The kernel whose feature space it is.
    gamma : float, "scale" or "median", default="scale"
        Inverse squared width; "scale" is one over the total variance in that feature space, which for the linear
        kernel is one over the summed variances of the columns.
    """

    unit_diagonal = True

    def __init__(self, kernel: Kernel, gamma: float | str = "scale") -> None:
        self.kernel = kernel
        self.gamma = gamma

    def resolve(self, X: Rows, weights: np.ndarray | None = None) -> Self:
        """Resolve the inner kernel on X, then gamma in its feature space."""
        inner = type(self)(self.kernel.resolve(X, weights), self.gamma)
        return HasGamma.resolve(inner, X, weights)

    def scale_gamma(self, X: Rows, weights: np.ndarray | None) -> float:
        """One over the total variance in feature space (half the mean squared distance), on at most 1000 rows."""
        sample = spread_rows(X)
        w = np.ones(n_rows(sample)) if weights is None else spread_rows(weights)
        variance = float(w @ self.measure(sample, sample) @ w) / float(w.sum()) ** 2 / 2
        return 1.0 / variance if variance > 0 else 1.0

    def measure(self, X: Rows, Y: Rows) -> np.ndarray:
        """(n, d), (m, d) -> (n, m): squared distances in feature space."""
        out = values_of(self.kernel, X, Y)
        self._squared_distances(X, Y, out)
        return out

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """Write the Gaussian of the distances in feature space."""
        self.kernel.compute(X, Y, out)
        self._profile(X, Y, out)

    def diag(self, X: Rows) -> np.ndarray:
        """Ones."""
        return np.ones(n_rows(X), dtype=dtype_of(X))

    def combine_slopes(self, X: np.ndarray, Y: np.ndarray) -> Slopes:
        """Slopes of the inner kernel times 2 gamma k, less what x gains in length."""
        inner, gamma = self.kernel.slopes(X, Y), self.number()
        values = inner.values
        self._profile(X, Y, values)
        slopes = chain(values, (inner, 2 * gamma * values))
        if self.radial:
            return slopes
        return lean(slopes, -gamma * rates_of(self.kernel.pull_diagonal(X), X))

    def combine_pulls(self, X: np.ndarray, Y: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The inner pull with weights 2 gamma k, less what x gains in length."""
        gamma = self.number()
        weights = C * values_of(self, X, Y)
        sums = weights.sum(axis=1)
        gradients = 2 * gamma * self.kernel.pull(X, Y, weights)[1]
        return sums, gradients - (gamma * sums)[:, None] * self.kernel.pull_diagonal(X)

    def combine_diagonals(self, X: np.ndarray) -> np.ndarray:
        """Zeros."""
        return np.zeros_like(X)

    def _profile(self, X: Rows, Y: Rows, K: np.ndarray) -> None:
        """Turn values of the inner kernel into those of the Gaussian, in place."""
        self._squared_distances(X, Y, K)
        K *= -self.number()
        if self.kernel.positive_definite:
            exponential(K)
        else:  # squared distances may be negative
            np.exp(K, out=K)

    def _squared_distances(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """Turn values of the inner kernel into squared distances, in place."""
        out *= -2.0
        out += self.kernel.diag(X)[:, None]
        out += self.kernel.diag(Y)
        if self.kernel.positive_definite:
            np.maximum(out, 0.0, out=out)
