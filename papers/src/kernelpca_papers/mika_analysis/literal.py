"""Equations 4 to 8 to the letter: the mean of the mapped data is left out of the expansion, and no step is checked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import eigh
from scipy.spatial.distance import cdist

from kernelpca.tiles import blocks

ROWS = 200  # points that take a step at a time: their weights stay in the cache
LEAST = 1e-12  # of the sum of weights, relative to their sizes: below it the quotient of equation 8 is rounding


def denoise_literally(
    X: np.ndarray,
    Y: np.ndarray,
    c: float,
    components: Sequence[int],
    restart: np.random.Generator | None,
    max_iter: int = 100,
    tol: float = 1e-4,
) -> np.ndarray:
    """(n, d), (m, d) -> (len(components), m, d): Y denoised by the text's own formulas, from Y itself.

    Where the denominator of equation 8 vanishes, the point goes on from a training sample drawn by `restart`; with None
    it stays where it is. A point is done when a step is shorter than `tol`.
    """
    A, B = directions(X, Y, c, max(components))
    gammas = np.concatenate([B[:, :k] @ A[:, :k].T for k in components])
    z = np.tile(Y, (len(components), 1))
    rows = np.arange(len(z))
    for _ in range(max_iter):
        parts = [step(gammas[rows[part]], X, z[rows[part]], c) for part in blocks(len(rows), ROWS)]
        new, lost = (np.concatenate(found) for found in zip(*parts, strict=True))
        new[lost] = z[rows[lost]] if restart is None else X[restart.integers(0, len(X), lost.sum())]
        moved = np.linalg.norm(new - z[rows], axis=1) > tol
        z[rows] = new
        rows = rows[moved]
        if not len(rows):
            break
    return z.reshape(len(components), *Y.shape)


def directions(X: np.ndarray, Y: np.ndarray, c: float, k: int) -> tuple[np.ndarray, np.ndarray]:
    """(n, d), (m, d) -> (n, k), (m, k): coefficients alpha of the first directions, and the scores beta of Y."""
    K, K_test = np.exp(-cdist(X, X, "sqeuclidean") / c), np.exp(-cdist(Y, X, "sqeuclidean") / c)
    means = K.mean(axis=0)
    centered = K - means - means[:, None] + means.mean()
    n = len(X)
    values, vectors = eigh(centered, subset_by_index=[n - k, n - 1])
    A = vectors[:, ::-1] / np.sqrt(values[::-1])
    return A, (K_test - means - K_test.mean(axis=1, keepdims=True) + means.mean()) @ A


def step(gammas: np.ndarray, X: np.ndarray, z: np.ndarray, c: float) -> tuple[np.ndarray, np.ndarray]:
    """(m, n), (n, d), (m, d) -> (m, d), (m,): equation 8, and where its denominator vanishes."""
    weights = cdist(z, X, "sqeuclidean")
    weights /= -c
    weights = np.multiply(gammas, np.exp(weights, out=weights), out=weights)
    total, moments = weights.sum(axis=1), weights @ X
    lost = np.abs(total) <= LEAST * np.abs(weights, out=weights).sum(axis=1)
    return moments / np.where(lost, 1.0, total)[:, None], lost
