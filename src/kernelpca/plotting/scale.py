"""The scale of scores: where their middle is, and how far they usually lie from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np


@dataclass(frozen=True)
class Scale:
    """Middle and spread of the scores on each component, and what they are called.

    Attributes
    ----------
    middle, spread : ndarray of shape (k,)
        Of the scores of the training rows; of a model without centering that does not keep these rows, zeros and the
        root of the mean square.
    middle_name : {"mean", "origin"}
        What the middle is.
    unit : {"standard deviations", "root mean squares"}
        What the spread is.
    """

    middle: np.ndarray
    spread: np.ndarray
    middle_name: str = "mean"
    unit: str = "standard deviations"

    @classmethod
    def of(cls, scores: np.ndarray) -> Self:
        """(n, k) -> mean and standard deviation of these scores."""
        scores = np.asarray(scores, np.float64)
        return cls(scores.mean(axis=0), scores.std(axis=0, ddof=min(1, len(scores) - 1)))

    def distances(self, scores: np.ndarray) -> np.ndarray:
        """(n, k) -> (n,): from the middle, with each component in its own unit; those without spread do not count."""
        used = self.spread > 0
        return np.linalg.norm((np.asarray(scores, np.float64) - self.middle)[:, used] / self.spread[used], axis=1)
