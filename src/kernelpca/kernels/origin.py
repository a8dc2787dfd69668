"""Where rows lie, and what they lose when they are moved there or rounded."""

from __future__ import annotations

import numpy as np

from kernelpca.kernels.base import ENTRY, Kernel, Rows, shifted, spread_numbers
from kernelpca.remote import RemoteRows
from kernelpca.tall import by_rows
from kernelpca.tiles import row_blocks

MANY = 4096  # rows that are not copied without need
FEW_NUMBERS = 2**20  # of rows whose digits are looked at together
LOOKED_AT, LOOKED_AT_ROWS = 2**17, (33, 127)  # numbers that tell where rows lie, and of how many rows


def rows_looked_at(d: int) -> int:
    """Return how many rows of d numbers tell where rows lie."""
    return int(np.clip(LOOKED_AT // max(d, 1), *LOOKED_AT_ROWS))


def origin_of(kernel: Kernel, X: Rows, center: bool) -> np.ndarray | None:
    """(n, d) -> (d,): what can be taken off all rows without changing anything but the digits that are lost.

    The median of some rows: a few rows far away drag the mean along, and the digits of all others would be lost. It is
    rounded as the largest numbers are, so that these lose nothing. None where a shift would change something, or cost
    more than it saves: many rows, and a median no longer than rows differ from it; or rows much nearer to zero.
    """
    numbers = isinstance(X, np.ndarray | RemoteRows) and X.ndim == 2
    if not (numbers and len(X) and (kernel.stationary or (center and kernel.movable))):
        return None
    sample = X[spread_numbers(len(X), rows_looked_at(X.shape[1]))]
    middle = np.sort(np.ascontiguousarray(sample.T), axis=1)[:, len(sample) // 2]  # faster than NumPy's median
    with np.errstate(over="ignore", invalid="ignore"):
        if len(X) >= MANY:
            apart = np.square(sample - middle, dtype=np.float64).sum(axis=1)
            if float(np.square(middle, dtype=np.float64).sum()) <= np.median(apart):
                return None
        low, high = column_ranges(X)
        grid = np.spacing(np.maximum(np.abs(low), np.abs(high)).astype(X.dtype))
        middle = (np.round(middle / grid) * grid).astype(X.dtype)
        if not np.isfinite(middle).all() or not middle.any():
            return None
        corner = np.spacing(np.maximum(np.abs(low - middle), np.abs(high - middle)).astype(X.dtype)) / 2
        allowed = ENTRY * float(np.finfo(X.dtype).eps) / max(kernel.steepness(X.shape[1]), 1e-300)
        if float(np.linalg.norm(corner.astype(np.float64))) > allowed and lost_by_shift(X, middle) > allowed:
            return None
    return middle


def column_ranges(X: Rows) -> np.ndarray:
    """(n, d) -> (2, d): the smallest and the largest number of each column, looked for on all cores."""
    if isinstance(X, RemoteRows):
        return X.ranges()
    found: list[tuple[np.ndarray, np.ndarray]] = []
    by_rows(len(X), lambda rows: found.append((X[rows].min(axis=0), X[rows].max(axis=0))))
    lows, highs = zip(*found, strict=True)
    return np.stack([np.min(lows, axis=0), np.max(highs, axis=0)])


def lost_by_shift(X: Rows, origin: np.ndarray) -> float:
    """Return the length of the largest rounding error that a row makes as it is moved; of rows elsewhere, no limit."""
    if isinstance(X, RemoteRows):
        return np.inf
    largest = 0.0
    for rows in row_blocks(X, FEW_NUMBERS, MANY):
        moved = X[rows] - origin
        back = moved - X[rows]
        error = (X[rows] - (moved - back)) - (origin + back)
        largest = max(largest, float(np.square(error, dtype=np.float64).sum(axis=1).max()))
    return float(np.sqrt(largest))


def fits_single(kernel: Kernel, X: Rows, origin: np.ndarray | None, scale: float) -> bool:
    """Whether rows (n, d), less an origin, tell kernel values of this size to the rounding of float32 once in float32.

    Of rows elsewhere two at the corner of the smallest and largest numbers are looked at, which is on the safe side.
    """
    single = np.dtype(np.float32)
    limits = np.finfo(single)
    least, most = float(np.sqrt(limits.tiny / limits.eps)), float(np.sqrt(limits.max / X.shape[1]))
    if isinstance(X, RemoteRows):
        corner = np.abs(column_ranges(X) - (0.0 if origin is None else origin)).max(axis=0)
        parts = iter([np.stack([corner, corner])])
    else:
        parts = (shifted(X[rows], origin) for rows in row_blocks(X, FEW_NUMBERS, MANY))
    largest = lost = 0.0
    for part in parts:
        largest = max(largest, float(abs(part).max()))
        if not largest < most:
            return False
        lost = max(lost, kernel.rounding(part, single))
    return (largest == 0 or largest > least) and lost <= ENTRY * float(limits.eps) * scale


def longest_with_partner(lengths: np.ndarray, apart: float, relative: float = 0.0) -> float:
    """(n,) -> the largest length that another is near: within `apart` and this part of itself; 0 where none is."""
    lengths = np.sort(lengths)
    near = np.diff(lengths) <= apart + relative * lengths[1:]
    partner = np.append(near, False) | np.insert(near, 0, False)
    return float(lengths[: len(partner)][partner[: len(lengths)]].max(initial=0.0))
