"""Which samples count for a point, by the distance of scores, and weights that are a plain function of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelpca.kernels.products import squared_distances
from kernelpca.preimage.protocol import Target

FALLING = ("inverse", "inverse_square", "exponential")  # rules whose weights fall with the distance
FORGIVE = 16  # eps of the squared lengths of scores: squared distances up to this are zero


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
            inside = (squares < threshold**2) | (squares == squares.min(axis=1, keepdims=True))
            columns = _smallest(squares, int(inside.sum(axis=1).max()))
            return cls(_take(squares, columns), columns, _take(inside, columns))
        if n_neighbors is None or n_neighbors >= squares.shape[1]:
            return cls(squares)
        columns = _smallest(squares, n_neighbors)
        return cls(_take(squares, columns), columns)

    def weigh(self, rule: str) -> np.ndarray:
        """(n, q): weights that fall with the distance and sum to one.

        Under the inverse rules samples at distance zero, which are infinitely heavy, share all the weight.
        """
        squares = self.squares if self.mask is None else np.where(self.mask, self.squares, np.inf)
        nearest = squares.min(axis=1, keepdims=True)
        if rule == "exponential":
            weights = np.exp(np.sqrt(nearest) - np.sqrt(squares))
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
    squared_distances(Z, S, D, forgive=FORGIVE)
    return D


def _smallest(values: np.ndarray, count: int) -> np.ndarray:
    """(n, m) -> (n, count): where the smallest of each row are."""
    return np.argpartition(values, count - 1, axis=1)[:, :count]


def _take(values: np.ndarray, columns: np.ndarray) -> np.ndarray:
    return np.take_along_axis(values, columns, axis=1)
