"""The distance at which a falling function has a given value."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

EPS = float(np.finfo(np.float64).eps)
LOGS = 690.0  # the solution is sought between exp(-690) and exp(690)
CLOSE = 1e-12  # relative change of the solution at which it is found
MOST_STEPS = 100


def solve_falling(fall: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]], values: np.ndarray) -> np.ndarray:
    """(m,) values in (0, 1] -> (m,) numbers s >= 0 with g(s) = value, for a function that falls from g(0) = 1 to 0.

    `fall` takes s and returns g(s) and -g'(s). Newton's method on log(-log g) as a function of log s: a straight line
    for the Gaussian and nearly one for its kin. A step that leaves the bracket becomes a bisection. Values near one
    determine s no better than rounding of g allows.
    """
    result = np.zeros_like(values)
    active = np.flatnonzero(values < 1)
    depth = -np.log(values[active])
    w = np.log(depth)  # the Gaussian's answer
    low, high = np.full_like(w, -LOGS), np.full_like(w, LOGS)
    for _ in range(MOST_STEPS):
        s = np.exp(w)
        g, slope = fall(s)
        with np.errstate(divide="ignore", invalid="ignore"):
            reached = -np.log(g)
            error = np.log(reached / depth)
            step = error * g * reached / (s * slope)
        low, high = np.where(error < 0, w, low), np.where(error < 0, high, w)
        inside = (low <= w - step) & (w - step <= high)
        new = np.where(inside, w - step, (low + high) / 2)
        result[active] = np.exp(new)
        going = (np.abs(new - w) > CLOSE) & (np.abs(reached - depth) > EPS)
        if not going.any():
            break
        active, depth, w, low, high = (array[going] for array in (active, depth, new, low, high))
    return result


def minus_log(values: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """-log(v), from v or from 1 - v, whichever has more digits."""
    return np.where(values < 0.5, -np.log(values), -np.log1p(-rest))
