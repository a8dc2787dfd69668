"""The epsilon that leaves out a wanted part of the rows."""

from __future__ import annotations

import numpy as np

from kernelpca.objectives import EpsilonInsensitive
from kernelpca.quantile import quantile
from kernelpca.solvers.dual import polar, stalled
from kernelpca.solvers.extrapolation import Extrapolation, Step
from kernelpca.solvers.solution import Dual
from kernelpca.solvers.watch import Watch
from kernelpca.tall import times


def find_epsilon(
    watch: Watch, H: np.ndarray, sparsity: float, norm: str, roots: np.ndarray, max_iter: int
) -> tuple[float, np.ndarray]:
    """Return an epsilon, and a dual variable (n, k) critical for it whose part of zero rows is `sparsity`.

    The iteration H <- prox(G H (H'G H)^(-1/2)) with epsilon chosen anew in each step, halfway between the longest row
    that is to be left out and the shortest that is to stay. Where it comes to rest, epsilon does too. Along a path of
    growing epsilon the number of zero rows may jump; here every number can be had.

    Parameters
    ----------
    watch : Watch
        The matrix, rows times `roots`, and the criticality wanted.
    H : ndarray of shape (n, k)
        The dual variable of the square solution.
    sparsity : float
        The wanted part, from 0 to below 1; rows count by their weights.
    norm : {"2", "inf"}
        Of the objective.
    roots : ndarray of shape (n,)
        Square roots of the sample weights.
    max_iter : int
        Passes at most.
    """
    extrapolation = Extrapolation()
    weights = roots**2

    def look(H: np.ndarray) -> tuple[float, Step, float]:
        GH = watch.matmat(H.astype(watch.gram.dtype, copy=False)).astype(np.float64, copy=False)
        Y = times(GH, polar(H, GH, "Dca", dtype=watch.gram.dtype).inverse)
        epsilon = _epsilon(_sizes(Y, norm) / roots, weights, sparsity)
        step = Step(H, GH, Y, _shorten(Y, epsilon, norm, roots) - H)
        size = float(np.linalg.norm(H))
        return epsilon, step, float(np.linalg.norm(step.R)) / size if size else 0.0

    epsilon, step, criticality = look(H)
    history: list[float] = []
    while criticality > watch.tol and watch.passes < max_iter and not stalled(history, watch.gram.dtype):
        history.append(criticality)
        if watch.note(criticality, float(np.square(step.Y).sum())):
            break
        mixed = extrapolation.mix(step)
        if mixed is not None:
            epsilon = _epsilon(_sizes(mixed, norm) / roots, weights, sparsity)
            then = look(_shorten(mixed, epsilon, norm, roots))
            if then[2] <= criticality:
                epsilon, step, criticality = then
                continue
            extrapolation.misled()
        epsilon, step, criticality = look(step.H + step.R)
    return epsilon, step.H + step.R


def zero_rows(dual: Dual) -> np.ndarray:
    """(n,): which rows of the dual variable are zero."""
    return np.logical_not(dual.H.any(axis=1))


def _shorten(Y: np.ndarray, epsilon: float, norm: str, roots: np.ndarray) -> np.ndarray:
    return EpsilonInsensitive(epsilon * roots[:, None], norm).prox_conjugate(Y)


def _sizes(Y: np.ndarray, norm: str) -> np.ndarray:
    """(n, k) -> (n,): the epsilon from which on each row is zero, times its root."""
    return np.linalg.norm(Y, axis=1) if norm == "2" else np.abs(Y).max(axis=1)


def _epsilon(sizes: np.ndarray, weights: np.ndarray, sparsity: float) -> float:
    """Return the epsilon that leaves out this part of the rows, but for the last that is left."""
    largest = float(sizes.max())
    smaller = sizes[sizes < largest * (1 - 1e-9)]
    if sparsity == 0 or not smaller.size:  # where all are as large, none can be left out
        return 0.0
    return min(quantile(sizes, sparsity, weights), (largest + float(smaller.max())) / 2)
