"""The tutorial's own approximations of kernel PCA, as printed: algorithm 6 (sketches) and eq. 62 to 65 (Nyström)."""

from __future__ import annotations

import numpy as np

Pairs = tuple[np.ndarray, np.ndarray]  # eigenvalues (k,), eigenvectors (n, k) of any length


def centered(K: np.ndarray) -> np.ndarray:
    """(n, n) -> (n, n): kernel values about the mean of the mapped samples (eq. 52)."""
    means = K.mean(axis=0)
    return K - means - means[:, None] + means.mean()


def leading_pairs(K: np.ndarray, k: int) -> Pairs:
    """(n, n) -> (k,), (n, k): the algebraically largest eigenvalues of a symmetric matrix, largest first."""
    values, vectors = np.linalg.eigh(K)
    return values[: -k - 1 : -1], vectors[:, : -k - 1 : -1]


def gaussian_map(n: int, q: int, rng: np.random.Generator) -> np.ndarray:
    """-> (n, q): independent N(0, 1/q) entries (eq. 36)."""
    return rng.standard_normal((n, q)) / np.sqrt(q)


def hashing_map(n: int, q: int, rng: np.random.Generator, hashes: int = 5, power: float = 1.0) -> np.ndarray:
    """-> (n, q): `hashes` blocks of q/hashes buckets with random signs, each times hashes^-power.

    Eq. 46 prints the power 1; for dot products without bias it must be 1/2.
    """
    buckets = q // hashes
    P = np.zeros((n, buckets * hashes))
    for block in range(hashes):
        columns = block * buckets + rng.integers(0, buckets, n)
        P[np.arange(n), columns] = rng.choice([-1.0, 1.0], n) / hashes**power
    return P


def sketch_pairs(K: np.ndarray, P: np.ndarray, k: int) -> Pairs:
    """(n, n) centered, (n, q) -> (k,), (n, k): algorithm 6, rows of the matrix projected by P.

    The scatter Z'Z of the projected rows has about the leading eigenvalues of K^2; a product with K gives vectors.
    """
    Z = K @ P
    squares, U = leading_pairs(Z.T @ Z, k)
    return np.sqrt(np.maximum(squares, 0.0)), K @ (Z @ U)


def nystrom_pairs(K: np.ndarray, rows: np.ndarray, k: int) -> Pairs:
    """(n, n), (q,) -> (k,), (n, k): eq. 62 and 63, the landmarks' own pairs extended to all rows.

    Centered about the landmarks' mean, since nothing else of the matrix is known to the method.
    """
    n, q = len(K), len(rows)
    W = K[np.ix_(rows, rows)]
    values, U = leading_pairs(centered(W), k)
    C = K[:, rows] - W.mean(axis=0)
    C -= C.mean(axis=1, keepdims=True)
    return values * (n / q), C @ U / values


def sampling_chances(K: np.ndarray, way: str) -> np.ndarray:
    """(n, n) -> (n,): chances of rows to be landmarks: "uniform", "diagonal" (eq. 64) or "column norm" (eq. 65).

    The sum below eq. 64 is taken over the diagonal, without which it gives no probabilities.
    """
    weights = {
        "uniform": lambda: np.ones(len(K)),
        "diagonal": lambda: np.square(K.diagonal()),
        "column norm": lambda: np.square(K).sum(axis=0),
    }[way]()
    return weights / weights.sum()


def draw_rows(chances: np.ndarray, q: int, rng: np.random.Generator) -> np.ndarray:
    """(n,) -> (q,): distinct rows, drawn one after the other with these chances."""
    return rng.choice(len(chances), q, replace=False, p=chances)
