"""How well features stand for a kernel, estimated from kernel values of random pairs of rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

GROUPS = 12  # of pairs that are independent of each other
SIDE = 16  # rows on either side of a group: all pairs of them count


def estimate_error(
    pairs: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]],
    n: int,
    rng: np.random.Generator,
    used: np.ndarray | None = None,
    fetch: Callable[[np.ndarray], None] | None = None,
) -> tuple[float, float, float]:
    """Return the root mean square error of kernel values, its standard error, and that of the values themselves.

    `pairs(a, b)` takes two sets of row numbers and returns errors and kernel values of all pairs. Rows that were `used`
    to choose the features are left out where enough others remain. `fetch` is told all row numbers beforehand.
    """
    taken = np.empty(0, int) if used is None else np.unique(used)
    if n - len(taken) < min(n, 8):
        taken = np.empty(0, int)
    left = n - len(taken)
    side = max(1, min(SIDE, left // 8))
    groups = max(1, min(GROUPS, left // (2 * side)))
    chosen = unused_rows(n, taken, min(2 * side * groups, left), rng)
    chosen = (chosen if left > 1 else chosen.repeat(2)).reshape(groups, 2, side)
    if fetch is not None:
        fetch(chosen.ravel())
    squares, values = [], []
    for first, second in chosen:
        error, value = pairs(first, second)
        squares.append(float(np.mean(np.square(error, dtype=np.float64))))
        values.append(float(np.mean(np.square(value, dtype=np.float64))))
    rms = float(np.sqrt(np.mean(squares)))
    spread = float(np.std(squares, ddof=1)) / np.sqrt(groups) if groups > 1 else rms**2
    return rms, spread / (2 * rms) if rms > 0 else 0.0, float(np.sqrt(np.mean(values)))


def unused_rows(n: int, used: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return distinct random row numbers below n that are not among those `used`, without a list of all."""
    drawn = rng.choice(n, min(n, count + len(used)), replace=False)
    return drawn[~np.isin(drawn, used)][:count]
