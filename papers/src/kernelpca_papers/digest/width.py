"""The width of a Gaussian kernel at which the first components keep a wanted part of the variance."""

from __future__ import annotations

import numpy as np

WIDEST, NARROWEST = 1e-4, 1e4  # beta times the median squared distance
HALVINGS = 60


def kept(G: np.ndarray, k: int, center: bool) -> float:
    """(n, n) kernel matrix -> which part of its variance, about the mean or about zero, k components keep."""
    if center:
        G = G - G.mean(axis=0) - G.mean(axis=1)[:, None] + G.mean()
    eigenvalues = np.linalg.eigvalsh(G)
    return float(eigenvalues[-k:].sum() / eigenvalues.sum())


def find_width(squares: np.ndarray, share: float, k: int, center: bool = True) -> float:
    """(n, n) squared distances -> beta of exp(-beta |x - y|^2), by halving an interval of log beta.

    The wider the kernel the more a few components keep.
    """
    low, high = np.log([WIDEST, NARROWEST]) - np.log(np.median(squares[squares > 0]))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if kept(np.exp(-np.exp(middle) * squares), k, center) > share:
            low = middle
        else:
            high = middle
    return float(np.exp((low + high) / 2))
