"""Stages of approximate kernel PCA (algorithm 6), of Nyström (eq. 62 to 65) and of exact kernel PCA, to be timed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from kernelpca.kernels import Polynomial
from kernelpca.kernels.base import values_of
from kernelpca.tiles import blocks
from kernelpca_papers.tutorial.approximations import centered, draw_rows, gaussian_map, leading_pairs

WIDTH = 16  # columns of the data
KERNEL = Polynomial(5, 1 / WIDTH, 0.0)
TILE = 250  # rows and columns of the matrix that are looked at together: they stay in the cache
SHORT = 0.01  # seconds: what is shorter is called again
MATRIX, PROJECTION, SCATTER, EIGEN, CONVERSION = "kernel matrix", "projection", "scatter", "eigen", "conversion"
UNIFORM, DIAGONAL, COLUMNS = "uniform", "diagonal", "column norm"
Stages = dict[str, Callable[[], Any]]


def seconds(call: Callable[[], Any]) -> float:
    """Return what a call takes of the processor, whatever else the machine does.

    Short calls are repeated for 10 ms and averaged: the clock may not tell a single one from zero.
    """
    began, spent, count = time.process_time(), 0.0, 0
    while spent < SHORT:
        call()
        count += 1
        spent = time.process_time() - began
    return spent / count


def sketch_stages(X: np.ndarray, q: int, rng: np.random.Generator) -> Stages:
    """Algorithm 6, all q pairs."""
    n, K = len(X), centered(values_of(KERNEL, X, X))
    Z = K @ gaussian_map(n, q, rng)
    S = Z.T @ Z
    V = Z @ leading_pairs(S, q)[1]
    return {
        MATRIX: lambda: values_of(KERNEL, X, X),
        PROJECTION: lambda: K @ gaussian_map(n, q, rng),
        SCATTER: lambda: Z.T @ Z,
        EIGEN: lambda: np.linalg.eigh(S),
        CONVERSION: lambda: K @ V,
    }


def nystrom_stages(X: np.ndarray, q: int, rng: np.random.Generator) -> Stages:
    """Eq. 62 and 63, all q pairs, and the two samplings that need no more than n kernel values."""
    rows = rng.choice(len(X), q, replace=False)
    C = values_of(KERNEL, X, X[rows])
    W = centered(C[rows])
    U = leading_pairs(W, q)[1]
    return {
        UNIFORM: lambda: rng.choice(len(X), q, replace=False),
        DIAGONAL: lambda: draw_rows(by_diagonal(X), q, rng),
        MATRIX: lambda: values_of(KERNEL, X, X[rows]),
        EIGEN: lambda: np.linalg.eigh(W),
        CONVERSION: lambda: C @ U,
    }


def sampling_stages(X: np.ndarray, q: int, rng: np.random.Generator) -> Stages:
    """The sampling that looks at the whole matrix."""
    return {COLUMNS: lambda: draw_rows(by_columns(X), q, rng)}


def exact_stages(X: np.ndarray, q: int, rng: np.random.Generator) -> Stages:
    """Algorithm 5: the whole matrix decomposed."""
    K = centered(values_of(KERNEL, X, X))
    return {MATRIX: lambda: values_of(KERNEL, X, X), EIGEN: lambda: np.linalg.eigh(K)}


def by_diagonal(X: np.ndarray) -> np.ndarray:
    """(n, d) -> (n,): chances in proportion to k(x, x)^2 (eq. 64), from n kernel values."""
    weights = np.square(KERNEL.diag(X))
    return weights / weights.sum()


def by_columns(X: np.ndarray) -> np.ndarray:
    """(n, d) -> (n,): chances in proportion to squared norms of columns (eq. 65), from n^2 kernel values, in tiles."""
    weights = np.zeros(len(X))
    for columns in blocks(len(X), TILE):
        for rows in blocks(len(X), TILE):
            K = values_of(KERNEL, X[rows], X[columns])
            weights[columns] += np.einsum("ij,ij->j", K, K)
    return weights / weights.sum()


STAGES = {"sketch": sketch_stages, "Nyström": nystrom_stages, "sampling": sampling_stages, "exact": exact_stages}
