"""Many small minimizations side by side: limited-memory BFGS with bounds, one problem a row, in matrix products.

Each row has its own curvature pairs, step length and end; what all rows share is the call that evaluates those that are
still under way. Variables that rest on a bound against which the gradient pushes are held; the others move by the
quasi-Newton step of the free ones, projected on the bounds (Bertsekas' two-metric projection).

References
----------
Nocedal and Wright (2006), Numerical optimization, algorithm 7.4. Bertsekas (1982), Projected Newton methods for
optimization problems with simple constraints.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

PAIRS = 16  # curvature pairs that each row remembers
DESCENT = 1e-4  # of the decrease that the slope promises, which a step must reach
HALVINGS = 25  # of a step before it counts as too small to matter
CURVED = 1e-10  # least cosine between step and change of slope for the pair to be used
TRIAL = 1e-3  # of a row's size: the first step, which shows the scale
LONGER = 2.0  # times that, and times again: steps after those that showed no positive curvature
LONGEST = 1 / TRIAL  # times in all, which makes the first step as long as the row
STUCK = 2  # searches that fail: with what is known of the curvature, and with the plain gradient
QUIET = 2  # steps in a row that hardly decrease the value, after which a row is done

Function = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Minimum:
    """Where rows ended: points (n, d), values, iterations and whether each was done, all (n,)."""

    points: np.ndarray
    values: np.ndarray
    iterations: np.ndarray
    converged: np.ndarray


def minimize(
    function: Function,
    X: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    *,
    tol: float,
    max_iter: int,
    floor: np.ndarray,
) -> Minimum:
    """Minimize each row's function from X (n, d), within low <= x <= high.

    `function(X, rows)` returns values (a,) and gradients (a, d) of the problems `rows` (a,) at X (a, d). A row is done
    when two steps in a row decrease its value by less than `tol` of it, or by less than `floor` (n,), its rounding; or
    when its slope promises no more than rounding over its whole size, the greatest length that it has had (one for
    zeros).

    A row of which no positive curvature is known tries a short step along its gradient. Every step that helps and shows
    none is followed by a longer one. Short steps that hardly decrease the value say nothing, those of the row's own
    size do. Where no step helps, what is known of the curvature is forgotten; where the plain gradient does not help
    either, the row ends. It has converged only if no more than that was to be gained by the step that failed, or is by
    its slope over a thousandth of its size, or if its value is zero up to rounding.
    """
    bounded = bool(np.isfinite(low).any() or np.isfinite(high).any())
    X = np.clip(X, low, high).astype(X.dtype, copy=False) if bounded else X.copy()
    n = len(X)
    values, iterations, converged = np.empty(n, X.dtype), np.zeros(n, int), np.zeros(n, bool)
    rows = np.arange(n)  # those under way
    x, quiet, stuck, stretch, size = X, np.zeros(n, int), np.zeros(n, int), np.ones(n, X.dtype), _lengths(X)
    size[size == 0] = 1
    hoped = np.full(n, np.inf, X.dtype)  # what the last step of known curvature was to gain
    f, g = function(x, rows)
    pairs = Pairs()
    for iteration in range(max_iter + 1):
        free = _free(x, g, low, high) if bounded else None
        slope = g if free is None else g * free
        enough = np.maximum(tol * np.abs(f), floor[rows])
        size = np.maximum(size, _lengths(x))
        promised = size * _lengths(slope)  # over the row's whole size
        level = (np.minimum(TRIAL * promised, hoped) <= enough) | (np.abs(f) <= floor[rows])
        done = (quiet >= QUIET) | (promised <= floor[rows]) | ((stuck >= STUCK) & level)
        over = done | (stuck >= STUCK)
        if over.any() or iteration == max_iter:
            ended = over if iteration < max_iter else np.ones(len(rows), bool)
            gone = rows[ended]
            X[gone], values[gone], converged[gone] = x[ended], f[ended], done[ended]
            going = ~ended
            if not going.any():
                break
            rows, x, f, g, quiet, stuck = rows[going], x[going], f[going], g[going], quiet[going], stuck[going]
            free, slope = None if free is None else free[going], slope[going]
            stretch, size, hoped = stretch[going], size[going], hoped[going]
            pairs.keep(going)
        iterations[rows] += 1
        p, unknown = pairs.direction(slope, free)
        descent = np.einsum("ij,ij->i", p, slope)
        lost = descent >= 0
        if lost.any():
            pairs.forget(lost)
            p[lost], unknown[lost] = -slope[lost], True
        hoped = np.where(unknown, np.where(stuck > 0, hoped, np.inf), -descent / 2).astype(x.dtype, copy=False)
        steep = np.maximum(_lengths(slope), np.finfo(x.dtype).tiny)
        p *= (stretch * np.where(unknown, TRIAL * size / steep, 1))[:, None]
        new = _search(function, rows, x, f, g, p, (low, high) if bounded else None)
        changed = new.x - x
        failed = ~changed.any(axis=1)
        curved = pairs.add(changed, new.g - g)
        pairs.forget(failed)
        small = f - new.f <= np.maximum(tol * np.abs(new.f), floor[rows])
        stuck = np.where(failed, stuck + 1 + unknown, 0)  # the plain gradient has failed where nothing was known
        quiet = np.where(small & ~failed & (~unknown | (stretch >= LONGEST)), quiet + 1, 0)
        stretch = np.where(failed | curved, 1, np.minimum(LONGER * stretch, LONGEST)).astype(x.dtype, copy=False)
        x, f, g = new.x, new.f, new.g
    return Minimum(X, values, iterations, converged)


def _free(x: np.ndarray, g: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """(a, d): 1 for variables that may move, 0 for those that their gradient pushes against a bound."""
    held = ((x <= low) & (g > 0)) | ((x >= high) & (g < 0))
    return (~held).astype(x.dtype)


def _lengths(X: np.ndarray) -> np.ndarray:
    """(a, d) -> (a,)."""
    return np.asarray(np.linalg.norm(X, axis=1))


@dataclass
class _Step:
    x: np.ndarray
    f: np.ndarray
    g: np.ndarray


def _search(
    function: Function,
    rows: np.ndarray,
    x: np.ndarray,
    f: np.ndarray,
    g: np.ndarray,
    p: np.ndarray,
    bounds: tuple[np.ndarray, np.ndarray] | None,
) -> _Step:
    """Halve each row's step until it decreases the value enough; a row that no step helps stays where it is."""
    found = _Step(x.copy(), f.copy(), g.copy())
    todo = np.arange(len(rows))
    t = np.ones(len(rows), x.dtype)
    for _ in range(HALVINGS):
        tried = x[todo] + t[todo, None] * p[todo]
        if bounds is not None:
            tried = np.clip(tried, *bounds).astype(x.dtype, copy=False)
        value, gradient = function(tried, rows[todo])
        promised = np.minimum(np.einsum("ij,ij->i", g[todo], tried - x[todo]), 0.0)  # projected steps may go up
        enough = np.isfinite(value) & (value <= f[todo] + DESCENT * promised)
        done = todo[enough]
        found.x[done], found.f[done], found.g[done] = tried[enough], value[enough], gradient[enough]
        todo = todo[~enough]
        if not len(todo):
            break
        t[todo] *= 0.5
    return found


class Pairs:
    """Steps (a, d) and changes of slope (a, d), the latest few, and which rows they count for: what shows curvature."""

    def __init__(self) -> None:
        self.latest: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def keep(self, rows: np.ndarray) -> None:
        """Forget rows that have ended."""
        for i, (s, y, counts) in enumerate(self.latest):
            self.latest[i] = s[rows], y[rows], counts[rows]

    def forget(self, rows: np.ndarray) -> None:
        """Forget what is known of some rows."""
        for _, _, counts in self.latest:
            counts[rows] = False

    def add(self, s: np.ndarray, y: np.ndarray) -> np.ndarray:
        """(a, d), (a, d) -> (a,): remember a pair, and tell where it has positive curvature; others do not count."""
        curved = np.einsum("ij,ij->i", s, y) > CURVED * _lengths(s) * _lengths(y)
        if not curved.all():
            s, y = np.where(curved[:, None], s, 0), np.where(curved[:, None], y, 0)
        self.latest = [*self.latest[-PAIRS + 1 :], (s, y, curved)]
        return curved.copy()

    def direction(self, g: np.ndarray, free: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """(a, d) -> (a, d), (a,): -H g, on the free variables as g is, with H the inverse Hessian that the pairs tell.

        And where they tell nothing: there it is -g, and how long a step is to be remains open.
        """
        q, scale, steps = -g, np.zeros(len(g), g.dtype), []
        for s, y, counts in reversed(self.latest):
            free_y = y if free is None else y * free
            sy, yy = np.einsum("ij,ij->i", s, free_y), np.einsum("ij,ij->i", free_y, free_y)
            counts = counts & (sy > np.finfo(sy.dtype).tiny)
            rho = np.divide(1.0, sy, out=np.zeros_like(sy), where=counts)
            np.divide(sy, yy, out=scale, where=counts & (scale == 0))  # the latest pair that counts tells the scale
            alpha = rho * np.einsum("ij,ij->i", s, q)
            q -= alpha[:, None] * free_y
            steps.append((s, y, rho, alpha))
        q *= np.where(scale > 0, scale, 1)[:, None]
        for s, y, rho, alpha in reversed(steps):
            free_s = s if free is None else s * free
            q += (alpha - rho * np.einsum("ij,ij->i", y, q))[:, None] * free_s
        return q, scale == 0
