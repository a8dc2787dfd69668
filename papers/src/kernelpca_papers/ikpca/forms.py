"""Forms of the decomposition, the time that calls take, and how it grows."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.linalg import eigh

from kernelpca.kernels import RBF

COMPONENTS = 20
TICK = 1e-6  # seconds, below which none are told apart


def decompose(K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(m, m) -> (m,), (m, m): all eigenvalues and eigenvectors, as the paper counts them."""
    return eigh(K, overwrite_a=True, check_finite=False)


def through_covariance(F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n, r) -> (r,), (r, r): eigenvalues and directions of F'F."""
    return decompose(F.T @ F)


def through_gram(F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n, r) -> (n,), (r, 20): eigenvalues of F F', and the first directions of F'F, up to their length."""
    values, vectors = decompose(F @ F.T)
    return values, F.T @ vectors[:, -COMPONENTS:]


def through_kernel(X: np.ndarray, gamma: float) -> tuple[np.ndarray, np.ndarray]:
    """(n, d) -> (n,), (n, n): eigenvalues and eigenvectors of the kernel matrix in closed form."""
    return decompose(RBF(gamma)(X, X))


def shortest(calls: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Call them in turns, so often; return the fewest seconds of processor time of each."""
    least = dict.fromkeys(calls, np.inf)
    for _ in range(repeats):
        for name, call in calls.items():
            began = time.process_time()
            call()
            least[name] = min(least[name], time.process_time() - began)
    return least


def exponent(sizes: np.ndarray, seconds: np.ndarray) -> float:
    """(m,), (m,) -> slope of the logarithms over the larger half of the sizes."""
    half = max(2, (len(sizes) + 1) // 2)
    return float(np.polyfit(np.log(sizes[-half:]), np.log(np.maximum(seconds[-half:], TICK)), 1)[0])


def added(sizes: np.ndarray, seconds: np.ndarray) -> float:
    """(m,), (m,) -> exponent of what larger sizes add to the first: that of the term that grows, without the other."""
    return exponent(sizes[1:] - sizes[0], seconds[1:] - seconds[0])
