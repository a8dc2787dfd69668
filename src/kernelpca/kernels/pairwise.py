"""Sums over features that no matrix product gives: compiled loops, no n*m*d temporaries, safe to run in threads.

Each function takes (n, d) and (m, d) and writes into `out` (n, m). They are compiled by numba on first use.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

PAIRWISE_TILE = 256  # rows of a tile: a pair is costly, so many small tiles share out evenly


@cache
def _compiled(term: Callable) -> Callable:
    """Compile the sum over features of `term(x, y)`; the loop releases the GIL."""
    import numba

    inline = numba.njit(inline="always", fastmath=True)(term)

    @numba.njit(nogil=True, fastmath=True, error_model="numpy")
    def loop(X: Any, Y: Any, out: Any) -> None:
        for i in range(X.shape[0]):
            for j in range(Y.shape[0]):
                total = 0.0
                for f in range(X.shape[1]):
                    total += inline(X[i, f], Y[j, f])
                out[i, j] = total

    return loop


def _sum_over_features(term: Callable, X: np.ndarray, Y: np.ndarray, out: np.ndarray) -> None:
    _compiled(term)(X, Y, out)


def _absolute_difference(x: float, y: float) -> float:
    return abs(x - y)


def _minimum(x: float, y: float) -> float:
    return min(x, y)


def _harmonic(x: float, y: float) -> float:
    return x * y / (x + y) if x + y > 0 else 0.0


def _chi_square(x: float, y: float) -> float:
    return (x - y) * (x - y) / (x + y) if x + y > 0 else 0.0


def _mixed_entropy(x: float, y: float) -> float:
    return (x + y) * np.log(x + y) if x + y > 0 else 0.0


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
    """Sum of (x + y) log(x + y), with 0 log 0 = 0."""
    _sum_over_features(_mixed_entropy, X, Y, out)
