"""Numbers that a wanted part of others lies below, whatever their weights."""

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


def limit_between(values: np.ndarray, part: float, weights: np.ndarray | None = None) -> float:
    """Return a number halfway between two values, that as nearly as possible this part of the weight lies below.

    No value lies at the limit, where rounding would decide on which side it is. Where all are the same it is theirs.

    Examples
    --------
    >>> limit_between(np.array([1.0, 2.0, 4.0, 8.0]), 0.6)
    3.0
    """
    order = np.argsort(values, kind="stable")
    ascending, sums = values[order], np.cumsum(np.ones(len(values)) if weights is None else weights[order])
    gaps = np.flatnonzero(np.diff(ascending) > ROUNDING * np.abs(ascending).max(initial=0.0))
    if not gaps.size:
        return float(ascending[-1])
    at = gaps[np.abs(sums[gaps] - part * sums[-1]).argmin()]
    return float(ascending[at] + ascending[at + 1]) / 2
