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
    rows = np.arange(n) if used is None else np.setdiff1d(np.arange(n), used)
    if len(rows) < min(n, 8):
        rows = np.arange(n)
    side = max(1, min(SIDE, len(rows) // 8))
    groups = max(1, min(GROUPS, len(rows) // (2 * side)))
    rows = rows if len(rows) > 1 else rows.repeat(2)
    chosen = rng.permutation(rows)[: 2 * side * groups].reshape(groups, 2, side)
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
