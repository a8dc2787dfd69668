"""Whether points in order lie along a curve: length of the path through them, and their dimension."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist


def path_length(Z: np.ndarray) -> float:
    """(n, k) -> length of the path through the points in their order."""
    return float(np.linalg.norm(np.diff(Z, axis=0), axis=1).sum())


def shuffled_lengths(Z: np.ndarray, shuffles: int, rng: np.random.Generator) -> np.ndarray:
    """(n, k) -> (shuffles,): lengths of paths through the same points in random orders."""
    return np.array([path_length(rng.permutation(Z)) for _ in range(shuffles)])


def next_in_time(Z: np.ndarray) -> float:
    """(n, k) -> the part of the points whose nearest other point is the one before or after."""
    D = cdist(Z, Z)
    np.fill_diagonal(D, np.inf)
    return float((np.abs(D.argmin(axis=1) - np.arange(len(Z))) == 1).mean())


def dimension(Z: np.ndarray) -> float:
    """(n, k) -> maximum-likelihood dimension from the ratios of the distances of the two nearest points.

    Its standard error is the dimension over sqrt(n).

    References
    ----------
    Facco, d'Errico, Rodriguez and Laio (2017), Estimating the intrinsic dimension of datasets by a minimal
    neighborhood information.
    """
    D = np.sort(cdist(Z, Z), axis=1)
    return float(len(Z) / np.log(D[:, 2] / D[:, 1]).sum())
