"""Elastic nets that share one matrix, and the penalty at which a wanted fraction of coefficients is zero."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import brentq
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import enet_path

LEAST = 1e-6  # the smallest penalty that a search tries, as a fraction of the one at which all coefficients are zero
SWEEPS = 20_000  # most sweeps of coordinate descent


@dataclass(frozen=True)
class Regressions:
    """min_b |y - X b|^2 / 2 + ridge |b|^2 / 2 + penalty |b|_1 for one matrix X = diag(s) U' and many y.

    Attributes
    ----------
    s, U : ndarray of shape (r,), (n, r)
        Singular values and right singular vectors of X: it has n columns, one for each training row.
    ridge : float
        Strength of the square penalty.
    tol : float
        Coordinate descent ends at a duality gap of this fraction of |y|^2.
    """

    s: np.ndarray
    U: np.ndarray
    ridge: float
    tol: float

    @cached_property
    def X(self) -> np.ndarray:
        """(r, n)."""
        return np.asfortranarray(self.s[:, None] * self.U.T)

    @cached_property
    def gram(self) -> np.ndarray:
        """(n, n): X'X."""
        return np.ascontiguousarray((self.U * self.s**2) @ self.U.T)

    def largest_penalty(self, y: np.ndarray) -> float:
        """(r,) -> the smallest penalty at which all coefficients are zero."""
        return float(np.abs(self.U @ (self.s * y)).max())

    def solve(self, y: np.ndarray, penalty: float, start: np.ndarray) -> tuple[np.ndarray, bool]:
        """(r,), (n,) -> (n,), bool: coefficients b from a start, and whether the duality gap is as small as wanted."""
        if penalty == 0:  # ridge regression
            return self.U @ (self.s / (self.s**2 + self.ridge) * y), True
        strength, r = penalty + self.ridge, len(self.s)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the gap tells
            _, coefficients, gaps = enet_path(
                self.X,
                y,
                l1_ratio=penalty / strength,
                alphas=[strength / r],
                precompute=self.gram,
                Xy=self.U @ (self.s * y),
                coef_init=start.copy(),  # it is overwritten
                check_input=False,
                tol=self.tol,
                max_iter=SWEEPS,
                random_state=0,  # unused, but without it numpy's global state would be drawn from
            )
        return coefficients[:, 0], bool(gaps[0] * r <= self.tol * (y @ y))


def reach_sparsity(
    solve: Callable[[float], np.ndarray], sparsity: float, slack: float, name: str
) -> tuple[float, np.ndarray]:
    """Return alpha and coefficients solve(alpha) of which that fraction is zero, to within `slack`; or warn.

    Brent's method on log alpha: a sparsity of 0 is taken to belong to the least alpha and 1 to alpha = 1.
    """
    if sparsity == 0:
        return 0.0, solve(0.0)
    slack *= 1 + 1e-9  # k / n - (k - 1) / n may be more than 1 / n
    tried: list[tuple[float, float, np.ndarray]] = []

    def excess(log_alpha: float) -> float:
        alpha = float(np.exp(log_alpha))
        if alpha <= LEAST or alpha >= 1:
            return -sparsity if alpha <= LEAST else 1 - sparsity
        B = solve(alpha)
        off = float((B == 0).mean()) - sparsity
        tried.append((abs(off), alpha, B))
        return 0.0 if abs(off) <= slack else off

    brentq(excess, np.log(LEAST) - 1e-9, 1e-9, xtol=1e-5, maxiter=60, disp=False)
    off, alpha, B = min(tried, key=lambda attempt: attempt[0])
    if off > slack:
        warnings.warn(
            f"sparsity={sparsity:g} was not reached: {(B == 0).mean():.4g} of {name} are zero at alpha={alpha:.3g}, "
            "the nearest that was found. Change ridge or the number of components, or take it as it is.",
            UserWarning,
            stacklevel=5,
        )
    return alpha, B
