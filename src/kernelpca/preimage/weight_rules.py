"""Which samples count for a point, by the distance of scores, and weights that are a plain function of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kernelpca.kernels.products import squared_distances, squared_norms
from kernelpca.preimage.protocol import Target

FALLING = ("inverse", "inverse_square", "exponential")  # rules whose weights fall with the distance
FORGIVE = 16  # eps of the squared lengths of scores: scores of the same row, found on two ways, differ by as much


def score_factors(eigenvalues: np.ndarray, scaling: str) -> np.ndarray:
    """(k,): what scores are multiplied by; "digest" has z = V'g, in which scores count by sqrt(eigenvalue)."""
    return np.sqrt(np.abs(eigenvalues)) if scaling == "digest" else np.ones_like(eigenvalues)


@dataclass(frozen=True)
class Counted:
    """Samples that count for each of n points.

    Attributes
    ----------
    squares : ndarray of shape (n, q)
        Squared distances of their scores.
    columns : ndarray of shape (n, q) or None
        Which samples they are; None for all of them, in order.
    mask : ndarray of shape (n, q) or None
        False for entries that fill up a row with fewer samples; None where there are none.
    """

    squares: np.ndarray
    columns: np.ndarray | None = None
    mask: np.ndarray | None = None

    @classmethod
    def among(cls, squares: np.ndarray, n_neighbors: int | None, threshold: float | None) -> Counted:
        """(n, m) squared distances -> the nearest few, those nearer than the threshold and the nearest one, or all."""
        if threshold is not None:
            inside = (squares < threshold * threshold) | (squares == squares.min(axis=1, keepdims=True))
            columns = _smallest(squares, int(inside.sum(axis=1).max()))
            return cls(_take(squares, columns), columns, _take(inside, columns))
        if n_neighbors is None or n_neighbors >= squares.shape[1]:
            return cls(squares)
        columns = _smallest(squares, n_neighbors)
        return cls(_take(squares, columns), columns)

    def weigh(self, rule: str) -> np.ndarray:
        """(n, q): weights that fall with the distance and sum to one; samples at distance zero share all of them."""
        squares = self.squares if self.mask is None else np.where(self.mask, self.squares, np.inf)
        nearest = squares.min(axis=1, keepdims=True)
        if rule == "exponential":
            weights = np.where(nearest > 0, np.exp(np.sqrt(nearest) - np.sqrt(squares)), squares == 0)
        else:  # over the largest, so that nothing overflows; 0/0 is a sample at distance zero
            weights = np.divide(nearest, squares, out=np.ones_like(squares), where=squares > 0)
            weights = np.sqrt(weights) if rule == "inverse" else weights
        return weights / weights.sum(axis=1, keepdims=True)

    def nearest(self) -> np.ndarray:
        """(n, q): all the weight on the sample with the nearest scores."""
        weights = np.zeros_like(self.squares)
        np.put_along_axis(weights, self.squares.argmin(axis=1, keepdims=True), 1, axis=1)
        return weights

    def spread(self, weights: np.ndarray, rows: np.ndarray, m: int) -> np.ndarray:
        """(a, q) weights of points `rows` (a,) -> (a, m): the same with a place for every sample."""
        if self.columns is None:
            return weights
        full = np.zeros((len(weights), m), weights.dtype)
        np.put_along_axis(full, self.columns[rows], weights, axis=1)
        return full

    def gather(self, full: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """(a, m) -> (a, q): of numbers for every sample those of the ones that count, and 0 for what fills up."""
        if self.columns is None:
            return full
        taken = _take(full, self.columns[rows])
        return taken if self.mask is None else taken * self.mask[rows]


def squared_score_distances(target: Target, factors: np.ndarray) -> np.ndarray:
    """(n, m): squared distances of the scores, times `factors` (k,), from those of the samples; rounding is zero."""
    Z = target.Z * factors.astype(target.Z.dtype)
    S = (target.space.scores * factors).astype(Z.dtype)
    D = np.empty((len(Z), len(S)), Z.dtype)
    squared_distances(Z, S, D)
    D -= (FORGIVE * np.finfo(D.dtype).eps) * np.add.outer(squared_norms(Z), squared_norms(S))
    return np.maximum(D, 0, out=D)


def _smallest(values: np.ndarray, count: int) -> np.ndarray:
    """(n, m) -> (n, count): where the smallest of each row are."""
    return np.argpartition(values, count - 1, axis=1)[:, :count]


def _take(values: np.ndarray, columns: np.ndarray) -> np.ndarray:
    return np.take_along_axis(values, columns, axis=1)


# what weights make of samples (m, d)


@dataclass(frozen=True)
class Shares:
    """x = sum_j w_j x_j / sum_j w_j: a point of the samples' convex hull."""

    samples: np.ndarray

    def combine(self, weights: np.ndarray) -> np.ndarray:
        """(a, m) -> (a, d)."""
        return (weights / self._total(weights)) @ self.samples

    def slopes(self, gradients: np.ndarray, X: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """(a, d), (a, d), (a, m) -> (a, m): gradients in the weights, from those in x."""
        along = np.einsum("ij,ij->i", gradients, X)[:, None]
        return (gradients @ self.samples.T - along) / self._total(weights)

    def means_nothing(self, weights: np.ndarray) -> np.ndarray:
        """(a,): whether all weights are zero."""
        return np.logical_not(weights.any(axis=1))

    def _total(self, weights: np.ndarray) -> np.ndarray:
        total = weights.sum(axis=1, keepdims=True)
        return np.where(total > 0, total, 1)


@dataclass(frozen=True)
class FromMean:
    """x = mean + sum_j w_j (x_j - mean), mean that of the samples: weights of any sum, and x moves with the data."""

    samples: np.ndarray

    @cached_property
    def mean(self) -> np.ndarray:
        """(d,)."""
        return self.samples.mean(axis=0)

    def combine(self, weights: np.ndarray) -> np.ndarray:
        """(a, m) -> (a, d)."""
        return weights @ self.samples + (1 - weights.sum(axis=1))[:, None] * self.mean

    def slopes(self, gradients: np.ndarray, X: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """(a, d), (a, d), (a, m) -> (a, m): gradients in the weights, from those in x."""
        return gradients @ self.samples.T - (gradients @ self.mean)[:, None]

    def means_nothing(self, weights: np.ndarray) -> np.ndarray:
        """(a,): nowhere; weights of zero are the mean."""
        return np.zeros(len(weights), bool)
