"""Kernels between histograms: rows of nonnegative numbers, whether or not they sum to one.

Those that are smooth for positive entries have gradients. At an entry x = 0 these are slopes to the right; where such a
slope has no bound (Hellinger and Jensen-Shannon, y > 0) x counts as eps.
"""

from __future__ import annotations

from math import log

import numpy as np
from scipy import sparse

from kernelpca.kernels.base import HasGamma, Kernel, Rows, check_positive, dtype_of, n_rows, values_of
from kernelpca.kernels.exponential import exponential
from kernelpca.kernels.less_one import LessOne
from kernelpca.kernels.pairwise import (
    PAIRWISE_TILE,
    chi_square,
    harmonic,
    minima,
    mixed_entropy,
    pull_chi_square,
    pull_entropy,
    pull_harmonic,
)
from kernelpca.kernels.products import dot


class HistogramIntersection(Kernel):
    """The sum of min(x_f, y_f) over features (Barla et al. 2003)."""

    domain = "nonnegative"
    tile = PAIRWISE_TILE

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """(n, d), (m, d) -> write sums of minima."""
        minima(X, Y, out)

    def diag(self, X: Rows) -> np.ndarray:
        """(n, d) -> (n,): row sums."""
        return np.asarray(X).sum(axis=1)


class GeneralizedHistogramIntersection(Kernel):
    """The sum of min(|x_f|^alpha, |y_f|^alpha) (Boughorbel et al. 2005); defined for negative entries too.

    Parameters
    ----------
    alpha : float, default=1.0
        The exponent, positive.
    """

    tile = PAIRWISE_TILE

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """(n, d), (m, d) -> write sums of minima of the powers."""
        minima(self._power(X), self._power(Y), out)

    def diag(self, X: Rows) -> np.ndarray:
        """(n, d) -> (n,): sums of |x|^alpha."""
        return self._power(np.asarray(X)).sum(axis=1)

    def _power(self, X: np.ndarray) -> np.ndarray:
        alpha = check_positive(self.alpha, "alpha", self)
        return np.abs(X) ** X.dtype.type(alpha)


class ChiSquare(Kernel):
    """The chi-square kernel of the tutorial: the sum of x_f y_f / (x_f + y_f), with 0 for 0/0.

    It is a quarter of (sum of x + sum of y) less the chi-square distance (Hein and Bousquet 2005).
    """

    domain = "nonnegative"
    differentiable = True
    tile = PAIRWISE_TILE

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """(n, d), (m, d) -> write sums of x y / (x + y)."""
        harmonic(X, Y, out)

    def diag(self, X: Rows) -> np.ndarray:
        """(n, d) -> (n,): half the row sums."""
        return np.asarray(X).sum(axis=1) / 2

    def pull(self, X: np.ndarray, Y: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, d), (m, d), (n, m) -> (n,), (n, d): weighted sums, with slopes y^2 / (x + y)^2."""
        return np.einsum("ij,ij->i", C, values_of(self, X, Y)), pull_harmonic(X, Y, C)

    def pull_diagonal(self, X: np.ndarray) -> np.ndarray:
        """(n, d) -> (n, d): halves."""
        return np.full_like(X, 0.5)


class AdditiveChiSquare(Kernel):
    """Minus the chi-square distance, the sum of (x - y)^2 / (x + y): scikit-learn's `additive_chi2`.

    It is only conditionally positive definite: centring makes it so.
    """

    domain = "nonnegative"
    differentiable = True
    tile = PAIRWISE_TILE
    positive_definite = False
    positive_once_centered = True

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """(n, d), (m, d) -> write minus the chi-square distances."""
        chi_square(X, Y, out)
        np.negative(out, out=out)

    def diag(self, X: Rows) -> np.ndarray:
        """(n, d) -> (n,): zeros."""
        return np.zeros(n_rows(X), dtype=dtype_of(X))

    def pull(self, X: np.ndarray, Y: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, d), (m, d), (n, m) -> (n,), (n, d): weighted sums, with slopes of the chi-square distance."""
        return np.einsum("ij,ij->i", C, values_of(self, X, Y)), -pull_chi_square(X, Y, C)

    def pull_diagonal(self, X: np.ndarray) -> np.ndarray:
        """(n, d) -> (n, d): zeros."""
        return np.zeros_like(X)


class ExponentialChiSquare(HasGamma):
    """exp(-gamma times the sum of (x - y)^2 / (x + y)): scikit-learn's `chi2`.

    Parameters
    ----------
    gamma : float, "scale" or "median", default="scale"
        Inverse width.
    """

    domain = "nonnegative"
    differentiable = True
    tile = PAIRWISE_TILE
    unit_diagonal = True

    def __init__(self, gamma: float | str = "scale") -> None:
        self.gamma = gamma

    def measure(self, X: Rows, Y: Rows) -> np.ndarray:
        """(n, d), (m, d) -> (n, m): chi-square distances."""
        out = np.empty((n_rows(X), n_rows(Y)), dtype=dtype_of(X))
        chi_square(X, Y, out)
        return out

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """(n, d), (m, d) -> write exp(-gamma chi^2)."""
        self._compute(X, Y, out, less_one=False)

    def compute_less_one(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """(n, d), (m, d) -> write the kernel less one."""
        self._compute(X, Y, out, less_one=True)

    def for_centering(self) -> Kernel:
        """Return the kernel less one."""
        return LessOne(self)

    def rounding(self, X: Rows, dtype: np.dtype) -> float:
        """Rows that are brought to another precision move, and the distance by no more than twice as much."""
        if dtype_of(X) == dtype:
            return 0.0
        return 2 * float(np.finfo(dtype).eps) * self.number() * float(X.sum(axis=1).max(initial=0.0))

    def _compute(self, X: Rows, Y: Rows, out: np.ndarray, less_one: bool) -> None:
        chi_square(X, Y, out)
        out *= -self.number()
        exponential(out, less_one)

    def diag(self, X: Rows) -> np.ndarray:
        """(n, d) -> (n,): ones."""
        return np.ones(n_rows(X), dtype=dtype_of(X))

    def pull(self, X: np.ndarray, Y: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, d), (m, d), (n, m) -> (n,), (n, d): weighted sums, with slopes -gamma k times those of the distance."""
        weights = C * values_of(self, X, Y)
        return weights.sum(axis=1), -self.number() * pull_chi_square(X, Y, weights)


class Hellinger(Kernel):
    """The sum of sqrt(x_f y_f): a dot product of square roots (Hein and Bousquet 2005)."""

    domain = "nonnegative"
    differentiable = True
    takes_sparse = True

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """(n, d), (m, d) -> write sqrt(X) sqrt(Y)'."""
        dot(np.sqrt(X), np.sqrt(Y), out)

    def diag(self, X: Rows) -> np.ndarray:
        """(n, d) -> (n,): row sums."""
        return np.asarray(X.sum(axis=1)).ravel() if sparse.issparse(X) else np.asarray(X).sum(axis=1)

    def pull(self, X: np.ndarray, Y: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, d), (m, d), (n, m) -> (n,), (n, d): weighted sums, with slopes sqrt(y / x) / 2."""
        roots, products = np.sqrt(X), C @ np.sqrt(Y)
        return np.einsum("ij,ij->i", roots, products), 0.5 * products / np.sqrt(above_zero(X))

    def pull_diagonal(self, X: np.ndarray) -> np.ndarray:
        """(n, d) -> (n, d): ones."""
        return np.ones_like(X)


class JensenShannon(Kernel):
    """The Jensen-Shannon kernel (Hein and Bousquet 2005), with 0 log 0 = 0.

    -(1/log 2) times the sum of x log(x / (x + y)) + y log(y / (x + y)). Written with entropies it would need one
    logarithm for each pair of entries, and lose the digits of small values beside large ones.
    """

    domain = "nonnegative"
    differentiable = True
    tile = PAIRWISE_TILE

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """(n, d), (m, d) -> write the kernel."""
        mixed_entropy(X, Y, out)
        out /= log(2.0)

    def diag(self, X: Rows) -> np.ndarray:
        """(n, d) -> (n,): twice the row sums."""
        return 2 * np.asarray(X).sum(axis=1)

    def pull(self, X: np.ndarray, Y: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, d), (m, d), (n, m) -> (n,), (n, d): weighted sums, with slopes log(1 + y / x) / log 2."""
        return np.einsum("ij,ij->i", C, values_of(self, X, Y)), pull_entropy(above_zero(X), Y, C) / log(2.0)

    def pull_diagonal(self, X: np.ndarray) -> np.ndarray:
        """(n, d) -> (n, d): twos."""
        return np.full_like(X, 2.0)


def above_zero(X: np.ndarray) -> np.ndarray:
    """Return X with entries of eps at least: slopes that have no bound at zero are those at eps there."""
    return np.maximum(X, np.finfo(X.dtype).eps)
