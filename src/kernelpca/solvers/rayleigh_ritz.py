"""Orthonormal blocks, and the best that can be said of a matrix from its products with one."""

from __future__ import annotations

import numpy as np


def starting_block(n: int, p: int, start: np.ndarray | None, rng: np.random.Generator, dtype: np.dtype) -> np.ndarray:
    """Return an orthonormal block (n, p or more): the given vectors first, filled up with random ones."""
    block = rng.standard_normal((n, p))
    if start is not None:
        block = np.column_stack([start, block[:, start.shape[1] :]])
    return np.linalg.qr(block)[0].astype(dtype)


def rayleigh_ritz(Q: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(n, p) orthonormal, (n, p) its product -> Ritz values (p,), vectors and products (n, p), largest first."""
    T = (Q.T @ Y).astype(np.float64)
    values, S = np.linalg.eigh((T + T.T) / 2)
    S = S[:, ::-1].astype(Q.dtype)
    return values[::-1], Q @ S, Y @ S


def residual_matrix(values: np.ndarray, vectors: np.ndarray, products: np.ndarray) -> np.ndarray:
    """(p,), (n, p), (n, p) -> (n, p): K U - U diag(values), in float64."""
    return products.astype(np.float64) - vectors * values
