"""Principal curves of Hastie and Stuetzle: each point of the curve is the mean of the data that project onto it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

VERTICES = 150  # of the polygonal line that stands for a curve
LEAST_WEIGHT = 1e-12


@dataclass(frozen=True)
class Curve:
    """A polygonal line through vertices (m, d) in order; a closed one goes on from the last to the first."""

    vertices: np.ndarray
    closed: bool = False

    @property
    def corners(self) -> np.ndarray:
        """(m, d), or (m + 1, d) where it is closed: the vertices, the first again at the end."""
        return np.concatenate([self.vertices, self.vertices[:1]]) if self.closed else self.vertices

    @property
    def positions(self) -> np.ndarray:
        """Arc length at each corner."""
        return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(self.corners, axis=0), axis=1))])

    @property
    def length(self) -> float:
        """Arc length in all."""
        return float(self.positions[-1])

    def project(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, d) -> (n, d), (n,): the nearest point of the curve to each, and its arc length."""
        starts, sides = self.corners[:-1], np.diff(self.corners, axis=0)
        lengths = np.linalg.norm(sides, axis=1)
        along = np.einsum("nmd,md->nm", X[:, None] - starts, sides) / np.maximum(lengths**2, LEAST_WEIGHT)
        feet = starts + np.clip(along, 0, 1)[..., None] * sides
        side = np.square(X[:, None] - feet).sum(axis=2).argmin(axis=1)
        rows = np.arange(len(X))
        return feet[rows, side], self.positions[side] + np.clip(along[rows, side], 0, 1) * lengths[side]

    def error(self, X: np.ndarray) -> float:
        """Return the mean squared distance of points from the curve."""
        return float(np.square(X - self.project(X)[0]).sum(axis=1).mean())


def first_component(X: np.ndarray) -> Curve:
    """(n, d) -> the first principal component, as far as the data reach."""
    mean = X.mean(axis=0)
    direction = np.linalg.svd(X - mean, full_matrices=False)[2][0]
    reach = (X - mean) @ direction
    return Curve(mean + np.linspace(reach.min(), reach.max(), VERTICES)[:, None] * direction)


def circle(X: np.ndarray) -> Curve:
    """(n, 2) -> the circle about the mean with the mean distance from it as radius."""
    mean = X.mean(axis=0)
    radius = np.linalg.norm(X - mean, axis=1).mean()
    angle = np.linspace(0, 2 * np.pi, VERTICES, endpoint=False)
    return Curve(mean + radius * np.column_stack([np.cos(angle), np.sin(angle)]), closed=True)


def fit_curve(X: np.ndarray, start: Curve, span: float, max_iter: int = 50, tol: float = 1e-3) -> Curve:
    """(n, d) -> a principal curve: project the data, smooth coordinates against arc length, until the error settles.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    start : Curve
        Open or closed; the answer is of the same kind.
    span : float
        The part of the data that the smoother sees at a time.
    max_iter : int
        Most rounds.
    tol : float
        Relative change of the mean squared distance that counts as none, as in Hastie and Stuetzle's algorithm.
    """
    curve, error = start, start.error(X)
    for _ in range(max_iter):
        _, along = curve.project(X)
        curve = smooth(along, X, span, curve.length if start.closed else None)
        before, error = error, curve.error(X)
        if abs(before - error) <= tol * error:
            break
    return curve


def smooth(along: np.ndarray, X: np.ndarray, span: float, period: float | None) -> Curve:
    """(n,), (n, d) -> the curve of local straight lines through coordinates against arc length (tricube weights)."""
    first, last = (0.0, period) if period else (float(along.min()), float(along.max()))
    at = np.linspace(first, last, VERTICES, endpoint=period is None)
    off = along - at[:, None]
    if period:
        off -= period * np.round(off / period)
    count = min(max(int(np.ceil(span * len(X))), 3), len(X))
    width = np.partition(np.abs(off), count - 1, axis=1)[:, count - 1 : count]
    weights = np.clip(1 - (np.abs(off) / np.maximum(1.0001 * width, LEAST_WEIGHT)) ** 3, 0, None) ** 3
    weights /= weights.sum(axis=1, keepdims=True)
    middle = (weights * off).sum(axis=1, keepdims=True)
    spread = weights * (off - middle)
    slope = spread @ X / np.maximum((spread * off).sum(axis=1, keepdims=True), LEAST_WEIGHT)
    return Curve(weights @ X - middle * slope, closed=period is not None)
