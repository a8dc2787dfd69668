"""Sums over features that no matrix product gives: compiled loops, no n*m*d temporaries, safe to run in threads.

Each function takes (n, d) and (m, d) and writes into `out` (n, m). They are compiled by numba on first use. Those that
pull take weights (n, m) besides and return the gradients (n, d) of the weighted sums of such values.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

FAST = {"reassoc", "contract", "nsz", "nnan"}  # sums in any order; no reciprocals, which overflow for small numbers
PAIRWISE_TILE = 256  # rows of a tile: a pair is costly, so many small tiles share out evenly


@cache
def _compiled(term: Callable) -> Callable:
    """Compile the sum over features of `term(x, y)`; the loop releases the GIL."""
    import numba

    inline = numba.njit(inline="always", fastmath=FAST)(term)

    @numba.njit(nogil=True, fastmath=FAST, error_model="numpy")
    def loop(X: Any, Y: Any, out: Any) -> None:
        for i in range(X.shape[0]):
            for j in range(Y.shape[0]):
                total = 0.0
                for f in range(X.shape[1]):
                    total += inline(X[i, f], Y[j, f])
                out[i, j] = total

    return loop


@cache
def _compiled_pull(slope: Callable) -> Callable:
    """Compile the sum over the rows of Y of weights times `slope(x, y)`; the loop releases the GIL."""
    import numba

    inline = numba.njit(inline="always", fastmath=FAST)(slope)

    @numba.njit(nogil=True, fastmath=FAST, error_model="numpy")
    def loop(X: Any, Y: Any, C: Any, out: Any) -> None:
        for i in range(X.shape[0]):
            for j in range(Y.shape[0]):
                for f in range(X.shape[1]):
                    out[i, f] += C[i, j] * inline(X[i, f], Y[j, f])

    return loop


def _pull(slope: Callable, X: np.ndarray, Y: np.ndarray, C: np.ndarray) -> np.ndarray:
    out = np.zeros_like(X)
    _compiled_pull(slope)(X, Y, C, out)
    return out


def _sum_over_features(term: Callable, X: np.ndarray, Y: np.ndarray, out: np.ndarray) -> None:
    _compiled(term)(X, Y, out)


def _absolute_difference(x: float, y: float) -> float:
    return abs(x - y)


def _minimum(x: float, y: float) -> float:
    return min(x, y)


def _harmonic(x: float, y: float) -> float:
    return x * (y / (x + y)) if x + y > 0 else 0.0


def _chi_square(x: float, y: float) -> float:
    return (x - y) * ((x - y) / (x + y)) if x + y > 0 else 0.0


def _mixed_entropy(x: float, y: float) -> float:
    large = max(x, y)
    part = min(x, y) / large if large > 0 else 0.0
    return large * ((1 + part) * np.log1p(part) - part * np.log(part)) if part > 0 else 0.0


def _harmonic_slope(x: float, y: float) -> float:
    return (y / (x + y)) * (y / (x + y)) if x + y > 0 else 0.0


def _chi_square_slope(x: float, y: float) -> float:
    return (x - y) / (x + y) * (1 + 2 * y / (x + y)) if x + y > 0 else 1.0


def _entropy_slope(x: float, y: float) -> float:
    return np.log1p(y / x)


def manhattan(X: np.ndarray, Y: np.ndarray, out: np.ndarray) -> None:
    """Sum of |x - y|."""
    _sum_over_features(_absolute_difference, X, Y, out)


def minima(X: np.ndarray, Y: np.ndarray, out: np.ndarray) -> None:
    """Sum of min(x, y)."""
    _sum_over_features(_minimum, X, Y, out)


def harmonic(X: np.ndarray, Y: np.ndarray, out: np.ndarray) -> None:
    """Sum of x y / (x + y), with 0 for 0 / 0."""
    _sum_over_features(_harmonic, X, Y, out)


def chi_square(X: np.ndarray, Y: np.ndarray, out: np.ndarray) -> None:
    """Sum of (x - y)^2 / (x + y), with 0 for 0 / 0."""
    _sum_over_features(_chi_square, X, Y, out)


def mixed_entropy(X: np.ndarray, Y: np.ndarray, out: np.ndarray) -> None:
    """Sum of x log((x + y) / x) + y log((x + y) / y), with 0 log 0 = 0."""
    _sum_over_features(_mixed_entropy, X, Y, out)


def pull_harmonic(X: np.ndarray, Y: np.ndarray, C: np.ndarray) -> np.ndarray:
    """Slopes y^2 / (x + y)^2, with 0 for 0 / 0, as for x > 0."""
    return _pull(_harmonic_slope, X, Y, C)


def pull_chi_square(X: np.ndarray, Y: np.ndarray, C: np.ndarray) -> np.ndarray:
    """Slopes (x - y) (x + 3 y) / (x + y)^2, with 1 for 0 / 0, as for x > 0."""
    return _pull(_chi_square_slope, X, Y, C)


def pull_entropy(X: np.ndarray, Y: np.ndarray, C: np.ndarray) -> np.ndarray:
    """Slopes log((x + y) / x) of (x + y) log(x + y) - x log x, for x > 0."""
    return _pull(_entropy_slope, X, Y, C)
