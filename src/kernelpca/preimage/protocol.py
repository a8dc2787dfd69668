"""What a pre-image is asked for, what it answers, and what every method of finding one is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from kernelpca.features import FeatureMap
from kernelpca.kernels.base import Kernel
from kernelpca.parts import Part
from kernelpca.preimage.space import Space


@dataclass(frozen=True)
class Target:
    """Points of feature space that are to be inverted, in local coordinates.

    Attributes
    ----------
    space : Space
        The model.
    Z : ndarray of shape (n, k)
        Their scores.
    reference : ndarray of shape (n, d) or None
        Inputs that they came from, if these are known: a place to start, or to take from what scores do not hold.
    """

    space: Space
    Z: np.ndarray
    reference: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.Z)

    @cached_property
    def coefficients(self) -> np.ndarray:
        """(n, m): the points as combinations of features."""
        return self.space.coefficients(self.Z)

    @cached_property
    def squared_norms(self) -> np.ndarray:
        """(n,): their squared lengths."""
        return self.space.squared_norms(self.Z)

    @cached_property
    def from_samples(self) -> np.ndarray:
        """(n, m): their squared distances from each mapped sample."""
        return self.space.from_samples(self.Z)

    def nearest(self, count: int) -> np.ndarray:
        """(n, count): the samples that are nearest to each in feature space, nearest first."""
        D = self.from_samples
        count = min(count, D.shape[1])
        near = np.argpartition(D, count - 1, axis=1)[:, :count]
        return np.take_along_axis(near, np.take_along_axis(D, near, axis=1).argsort(axis=1, kind="stable"), axis=1)


@dataclass(frozen=True)
class Answer:
    """What a method found for one block of points.

    Attributes
    ----------
    points : ndarray of shape (n, d)
        Inputs, in local coordinates.
    iterations : ndarray of shape (n,), optional
        How many were needed for each; zeros for methods that do not iterate.
    converged : ndarray of shape (n,), optional
        Whether each was finished when it stopped; all true for methods that do not iterate.
    """

    points: np.ndarray
    iterations: np.ndarray | None = None
    converged: np.ndarray | None = None


class Preimage(Part, ABC):
    """A way back from scores to inputs.

    A subclass writes `solve`, for a block of points at a time, with matrix products and no loop over points, and
    `refusal`, where it does not work with every model.

    Attributes
    ----------
    keeps_rows : bool
        Whether it needs samples also of models that keep none (random features): then training rows are kept for it.
    learns : bool
        Whether `fit` needs the training rows and their scores.
    rotates : bool
        Whether it sees samples by their dot products alone, so that long rows can be replaced by short ones.
    bounds : (low, high) or None
        Limits of the answer: numbers, arrays with one number for each column, or None for no limit.
    """

    keeps_rows: bool = False
    learns: bool = False
    rotates: bool = False
    bounds: Any = None

    def refusal(self, kernel: Kernel, approximation: FeatureMap | None) -> str | None:
        """Return what is missing for this method to work with such a model, or None where it works."""
        return None

    def fit(self, space: Space, X: np.ndarray, Z: np.ndarray) -> Self:
        """Prepare on the training rows X (n, d), in the units of the input, and their scores Z (n, k)."""
        return self

    def operations(self, n: int, d: int) -> float:
        """Return about how many multiplications and additions `fit` takes on n rows of d numbers."""
        return 0.0

    def prepare(self, space: Space, referenced: bool) -> None:
        """Make what all blocks will share, before workers begin; `referenced` says whether there is a reference."""

    @abstractmethod
    def solve(self, target: Target) -> Answer:
        """Find inputs, in local coordinates, for a block of points."""

    def numbers_per_row(self, space: Space) -> int:
        """Count the numbers that are held for each point while `solve` works."""
        return 4 * len(space.decomposition.W) + 8 * space.width

    def limits(self, space: Space, d: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (d,), (d,): the bounds in local coordinates, or say what is wrong with them."""
        low, high = check_bounds(self.bounds, d, self)
        if space.kernel.domain == "nonnegative":
            low = np.maximum(low, 0.0)
        return low - space.origin, high - space.origin


def expands(approximation: FeatureMap | None) -> bool:
    """Whether such a model keeps rows that its points are combinations of."""
    return approximation is None or approximation.spans_rows


def check_bounds(bounds: Any, d: int, part: Part) -> tuple[np.ndarray, np.ndarray]:
    """Return (d,), (d,): the lower and the upper limit of each column."""
    if bounds is None:
        return np.full(d, -np.inf), np.full(d, np.inf)
    name, advice = type(part).__name__, "Give (low, high), such as (0, 1), or (0, None) for nonnegative answers."
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise ValueError(f"{name}(bounds={bounds!r}): bounds are two limits. {advice}")
    sides = []
    for side, without in zip(bounds, (-np.inf, np.inf), strict=True):
        try:
            given = np.asarray(without if side is None else side, dtype=np.float64)
            sides.append(np.broadcast_to(given, (d,)))
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{name}(bounds=...): each limit is a number or has one for each of {d} columns; got {side!r}. {advice}"
            ) from error
    low, high = sides
    if np.isnan(low).any() or np.isnan(high).any() or (low > high).any():
        raise ValueError(f"{name}(bounds={bounds!r}): the lower limit must not be above the upper one. {advice}")
    return low, high


def clip(X: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """(n, d) -> (n, d): within the limits; X itself where there are none."""
    if np.isinf(low).all() and np.isinf(high).all():
        return X
    return np.clip(X, low, high).astype(X.dtype, copy=False)


def check_tol(tol: Any, part: Part) -> float:
    """Return a tolerance, or say what is allowed."""
    if isinstance(tol, bool) or not isinstance(tol, int | float | np.number) or not 0 <= tol < 1:
        raise ValueError(f"{type(part).__name__}(tol={tol!r}): tol must be a number from 0 to below 1, such as 1e-5.")
    return float(tol)
