"""The matrices of the speed tasks: rows of the paper's data sets, or what stands for them, and its two kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.signal import lfilter

from kernelpca.datasets import load_protein, load_rcv1, load_reuters, load_usps
from kernelpca.kernels import RBF, Kernel, Laplacian
from kernelpca.tiles import blocks

CORRELATION = 0.9  # of neighboring features of Synth 1: its covariance is not printed
ROWS = 512  # of a block that is made symmetric at a time


def correlated(n: int = 7000, d: int = 10_000) -> np.ndarray:
    """-> (n, d): normal rows of one covariance, neighboring features correlated by 0.9."""
    Z = np.random.default_rng(2).standard_normal((n, d))
    Z[:, 1:] *= np.sqrt(1 - CORRELATION**2)
    return lfilter([1.0], [1.0, -CORRELATION], Z, axis=1)


def normal(n: int, d: int = 256) -> np.ndarray:
    """-> (n, d): standard normal rows."""
    return np.random.default_rng(1).standard_normal((n, d))


def load_rows(data: str, n: int) -> Any:
    """-> (n, d): rows of "synth", "protein", "rcv1", "reuters" or "usps", dense or sparse.

    Of real data so many rows are drawn if there are more, without replacement and in their order.
    """
    if data == "synth":
        return correlated(n)
    X = {"protein": load_protein, "rcv1": load_rcv1, "reuters": load_reuters, "usps": lambda: load_usps()[0]}[data]()
    if n >= X.shape[0]:
        return X
    return X[np.sort(np.random.default_rng(4).choice(X.shape[0], n, replace=False))]


def variance(X: Any) -> float:
    """Return the variance of all entries of a dense or sparse matrix."""
    if sparse.issparse(X):
        return float(X.multiply(X).mean() - X.mean() ** 2)
    return float(X.var())


def choose_kernel(name: str, X: Any) -> Kernel:
    """Return the "laplace" kernel exp(-|x - y| / (0.02 d var X)) or "gaussian" exp(-|x - y|^2 / (2 d var X))."""
    width = X.shape[1] * variance(X)
    return Laplacian(1 / (0.02 * width), norm="euclidean") if name == "laplace" else RBF(1 / (2 * width))


def gram_matrix(kernel: str, X: Any) -> np.ndarray:
    """(n, d) -> (n, n): the centered kernel matrix, exactly symmetric."""
    G = choose_kernel(kernel, X)(X)
    means = G.mean(axis=0)
    G -= means
    G -= (means - means.mean())[:, None]
    return made_symmetric(G)


def made_symmetric(G: np.ndarray) -> np.ndarray:
    """(n, n) -> (n, n): the mean of a matrix and its transpose, in place."""
    for rows in blocks(len(G), ROWS):
        rest = slice(rows.start, None)
        G[rows, rest] = (G[rows, rest] + G[rest, rows].T) / 2
        G[rest, rows] = G[rows, rest].T
    return G
