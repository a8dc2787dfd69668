"""What all kernels made of other kernels share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Self

import numpy as np

from kernelpca.kernels.base import Kernel, Rows
from kernelpca.kernels.slopes import Slopes


class Combined(Kernel):
    """A kernel made of others: it has gradients if they do, and slopes if they do."""

    def slopes(self, X: np.ndarray, Y: np.ndarray) -> Slopes:
        """(n, d), (m, d) -> values and slopes, from those of the parts."""
        if not (self.differentiable and self.rotatable):
            return super().slopes(X, Y)
        return self.combine_slopes(X, Y)

    def pull(self, X: np.ndarray, Y: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, d), (m, d), (n, m) -> (n,), (n, d): by slopes where there are any, else from the parts' own pulls."""
        if self.rotatable or not self.differentiable:
            return super().pull(X, Y, C)
        return self.combine_pulls(X, Y, C)

    def pull_diagonal(self, X: np.ndarray) -> np.ndarray:
        """(n, d) -> (n, d): the gradient of k(x, x), from those of the parts."""
        if not self.differentiable:
            return super().pull_diagonal(X)
        return self.combine_diagonals(X)

    @abstractmethod
    def combine_slopes(self, X: np.ndarray, Y: np.ndarray) -> Slopes:
        """(n, d), (m, d) -> values and slopes, where all parts have slopes."""

    @abstractmethod
    def combine_pulls(self, X: np.ndarray, Y: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, d), (m, d), (n, m) -> (n,), (n, d): weighted sums and gradients, where all parts have gradients."""

    @abstractmethod
    def combine_diagonals(self, X: np.ndarray) -> np.ndarray:
        """(n, d) -> (n, d): gradients of k(x, x), where all parts have gradients."""


class Wrapped(Combined):
    """One kernel changed; domain and flags of the inner one unless said otherwise."""

    kernel: Kernel

    positive_definite = property(lambda self: self.kernel.positive_definite)
    stationary = property(lambda self: self.kernel.stationary)
    movable = property(lambda self: self.kernel.stationary)
    differentiable = property(lambda self: self.kernel.differentiable)
    rotatable = property(lambda self: self.kernel.rotatable)
    radial = property(lambda self: self.kernel.radial)
    takes_sparse = property(lambda self: self.kernel.takes_sparse)
    parallel = property(lambda self: self.kernel.parallel)
    tile = property(lambda self: self.kernel.tile)
    domain = property(lambda self: self.kernel.domain)

    def steepness(self, d: int) -> float:
        """As steep as the inner kernel."""
        return self.kernel.steepness(d)

    def rounding(self, X: Rows, dtype: np.dtype) -> float:
        """As far as those of the inner kernel."""
        return self.kernel.rounding(X, dtype)

    def resolve(self, X: Rows, weights: np.ndarray | None = None) -> Self:
        """Resolve the inner kernel on X."""
        return type(self)(**(self.get_params(deep=False) | {"kernel": self.kernel.resolve(X, weights)}))

    def check(self, X: Rows) -> Rows:
        """Return rows that the inner kernel accepts."""
        return self.kernel.check(X)

    def undo(self, values: np.ndarray) -> np.ndarray:
        """Values of this kernel -> those of the inner one, float64; for kernels that tell distances or products."""
        raise NotImplementedError

    def distances_from(self, values: np.ndarray) -> np.ndarray:
        """Squared distances, from values of the inner kernel."""
        if not self.tells_distance:
            return super().distances_from(values)
        return self.kernel.distances_from(self.undo(values))

    def products_from(self, values: np.ndarray) -> np.ndarray:
        """Dot products, from values of the inner kernel."""
        if not self.tells_product:
            return super().products_from(values)
        return self.kernel.products_from(self.undo(values))
