"""A number that a wanted part of others lies below, whatever their weights."""

from __future__ import annotations

import numpy as np

ROUNDING = 1e-9  # of the wanted weight: sums that are nearer to it are equal to it


def quantile(values: np.ndarray, part: float, weights: np.ndarray | None = None) -> float:
    """Return a number that values of this part of the whole weight lie below, halfway to the next value.

    A weight of two counts like a value given twice.

    Examples
    --------
    >>> quantile(np.array([1.0, 2.0, 4.0, 8.0]), 0.5)
    3.0
    >>> quantile(np.array([1.0, 2.0, 4.0, 8.0]), 0.6)
    4.0
    """
    order = np.argsort(values, kind="stable")
    sums = np.cumsum(np.ones(len(values)) if weights is None else weights[order])
    wanted, last = part * sums[-1], len(values) - 1
    below = min(int(np.searchsorted(sums, wanted * (1 - ROUNDING))), last)
    above = min(int(np.searchsorted(sums, wanted * (1 + ROUNDING))), last)
    return float(values[order[below]] + values[order[above]]) / 2
