"""A Gaussian in the feature space of another kernel."""

from __future__ import annotations

from typing import Self

import numpy as np

from kernelpca.kernels.base import HasGamma, Kernel, Rows, diagonal, dtype_of, n_rows, spread_rows, values_of
from kernelpca.kernels.combined import Wrapped
from kernelpca.kernels.exponential import exponential
from kernelpca.kernels.less_one import LessOne
from kernelpca.kernels.origin import longest_with_partner
from kernelpca.kernels.products import UNITS
from kernelpca.kernels.slopes import Slopes, chain, lean, rates_of
from kernelpca.kernels.stationary import VANISHING


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
    stationary = property(lambda self: self.kernel.movable)  # distances in feature space do not know of a shift
    movable = stationary

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
        out = np.empty((n_rows(X), n_rows(Y)), dtype_of(X))
        self.kernel.for_centering().feature_distances(X, Y, out)
        return out

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """Write the Gaussian of the distances in feature space."""
        self._compute(X, Y, out, less_one=False)

    def compute_less_one(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """Write the Gaussian less one."""
        self._compute(X, Y, out, less_one=True)

    def for_centering(self) -> Kernel:
        """Return the kernel less one."""
        return LessOne(self)

    def steepness(self, d: int) -> float:
        """A width at most, where the inner kernel moves as rows do; else as steep as that."""
        inner = self.kernel.steepness(d)
        return float(np.sqrt(self.number())) * max(inner, 1.0)

    def rounding(self, X: Rows, dtype: np.dtype) -> float:
        """Where squared distances are differences of large numbers, they are known to some eps of these.

        That matters between samples near each other, whose lengths are alike: one that is longer than all others has
        the value zero with them.
        """
        inner, gamma = self.kernel.for_centering(), self.number()
        lengths = np.sqrt(gamma * np.abs(diagonal(self.kernel, X)).astype(np.float64))
        eps = float(np.finfo(dtype).eps)
        if inner.exact_distances and dtype_of(X) == dtype:
            return gamma * inner.rounding(X, dtype)
        if inner.exact_distances:
            longest = longest_with_partner(lengths, VANISHING)
            return eps * longest * min(1.0, 4 * longest) + gamma * inner.rounding(X, dtype)
        lost = 2 * UNITS * eps
        return min(lost * longest_with_partner(lengths, VANISHING, float(np.sqrt(lost))) ** 2, 1.0)

    def _compute(self, X: Rows, Y: Rows, out: np.ndarray, less_one: bool) -> None:
        self.kernel.for_centering().feature_distances(X, Y, out)
        out *= -self.number()
        if self.kernel.positive_definite:
            exponential(out, less_one)
        else:  # squared distances may be negative
            (np.expm1 if less_one else np.exp)(out, out=out)

    def diag(self, X: Rows) -> np.ndarray:
        """Ones."""
        return np.ones(n_rows(X), dtype=dtype_of(X))

    def combine_slopes(self, X: np.ndarray, Y: np.ndarray) -> Slopes:
        """Slopes of the inner kernel times 2 gamma k, less what x gains in length."""
        inner, gamma, values = self.kernel.slopes(X, Y), self.number(), values_of(self, X, Y)
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
