"""Count, mean and scatter of features, added up block by block in float64."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernelpca.tall import times
from kernelpca.tiles import Tile, share_out


@dataclass
class Moments:
    """Sums over rows f of features, taken about a shift s near their mean so that no digits cancel.

    Attributes
    ----------
    shift : ndarray of shape (r,)
        The point s.
    weight : float
        Sum of the weights (the number of rows where there are none).
    first : ndarray of shape (r,)
        Sum of w (f - s).
    second : ndarray of shape (r, r)
        Sum of w (f - s)(f - s)'.
    squares : float
        Sum of w |x|^2 over the squared lengths that belong to the rows.
    """

    shift: np.ndarray
    weight: float
    first: np.ndarray
    second: np.ndarray
    squares: float = 0.0

    @classmethod
    def about(cls, shift: np.ndarray) -> Moments:
        """Return the sums over no rows."""
        shift = np.asarray(shift, dtype=np.float64)
        return cls(shift, 0.0, np.zeros_like(shift), np.zeros((len(shift), len(shift))))

    def add(self, F: np.ndarray, squares: np.ndarray, weights: np.ndarray | None = None) -> None:
        """(b, r), (b,), (b,): add rows, which are overwritten; products are in their precision, sums in float64."""
        F -= self.shift.astype(F.dtype)
        self.squares += float(squares.sum(dtype=np.float64) if weights is None else weights @ squares)
        if weights is None:
            self.weight += len(F)
            self.first += F.sum(axis=0, dtype=np.float64)
        else:
            self.weight += float(weights.sum())
            self.first += weights @ F
            F *= np.sqrt(weights).astype(F.dtype)[:, None]
        self.second += F.T @ F  # NumPy sees that this is symmetric and makes half of it

    def under(self, R: np.ndarray) -> Moments:
        """Return the sums over the rows f R."""
        second = times(np.ascontiguousarray(R.T), times(self.second, R))
        return Moments(self.shift @ R, self.weight, self.first @ R, second, self.squares)

    def moved(self, shift: np.ndarray) -> Moments:
        """Return the same sums taken about another point."""
        d = np.asarray(shift, dtype=np.float64) - self.shift
        cross = np.outer(d, self.first)
        second = self.second - cross - cross.T + self.weight * np.outer(d, d)
        return Moments(self.shift + d, self.weight, self.first - self.weight * d, second, self.squares)

    def scaled(self, factor: float) -> Moments:
        """Return the sums with all weights multiplied by a factor."""
        return Moments(
            self.shift, factor * self.weight, factor * self.first, factor * self.second, factor * self.squares
        )

    def merge(self, other: Moments) -> Moments:
        """Return the sums over the rows of both."""
        if not np.array_equal(self.shift, other.shift):
            other = other.moved(self.shift)
        return Moments(
            self.shift,
            self.weight + other.weight,
            self.first + other.first,
            self.second + other.second,
            self.squares + other.squares,
        )

    @property
    def mean(self) -> np.ndarray:
        """(r,): the mean of the rows."""
        return self.shift + self.first / self.weight

    def scatter(self, center: bool) -> np.ndarray:
        """(r, r): the sum of (f - c)(f - c)' about the mean, or about zero."""
        result = self.moved(self.mean if center else np.zeros_like(self.shift)).second
        return (result + result.T) / 2


def gather(
    tiles: list[Tile],
    shift: np.ndarray,
    block: Callable[[slice], tuple[np.ndarray, np.ndarray]],
    weights: np.ndarray | None = None,
) -> Moments:
    """Add up blocks of rows on all cores; `block(rows)` returns features that may be overwritten, and squares."""

    def work(own: Moments, rows: slice, _: slice) -> None:
        own.add(*block(rows), None if weights is None else weights[rows])

    parts = share_out(tiles, work, lambda: Moments.about(shift))
    total = parts[0]
    for part in parts[1:]:
        total = total.merge(part)
    return total
