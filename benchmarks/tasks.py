"""The problems: rows and kernels of the dualization paper, and real data.

The Laplace kernel is exp(-|x - y| / sigma2) with sigma2 = 0.01 d var X, the Gaussian exp(-|x - y|^2 / sigma2) with
sigma2 = 2 d var X, as in the published demonstration of the paper.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from kernelpca.datasets import find, load_mnist, load_usps
from kernelpca.gram import CenteredGram, DenseGram
from kernelpca.kernels import RBF, Kernel, Laplacian
from kernelpca_papers.dualization.tasks import correlated, variance


@dataclass(frozen=True)
class Task:
    """Rows and a kernel, or a matrix."""

    name: str
    rows: Callable[[], Any]
    kernel: Callable[[Any], Kernel] | None

    def matrix(self) -> np.ndarray:
        """() -> (n, n): the centered Gram matrix in float64, exactly symmetric; decay tasks are it already."""
        X = self.rows()
        if self.kernel is None:
            return X
        X = X.astype(np.float64)
        K = CenteredGram(DenseGram(self.kernel(X)(X), symmetric=True)).dense()
        for start in range(0, len(K), 512):
            stop = start + 512
            K[start:stop, start:] = (K[start:stop, start:] + K[start:, start:stop].T) / 2
            K[start:, start:stop] = K[start:stop, start:].T
        return K


def laplace(X: Any) -> Kernel:
    """Return the paper's Laplace kernel for X."""
    return Laplacian(1 / (0.01 * X.shape[1] * variance(X)), norm="euclidean")


def gaussian(X: Any) -> Kernel:
    """Return the Gaussian kernel for X."""
    return RBF(1 / (2 * X.shape[1] * variance(X)))


def median(X: Any) -> Kernel:
    """Return the Gaussian kernel of median width."""
    return RBF("median").resolve(X)


def noise(n: int, d: int = 256) -> np.ndarray:
    """Return standard normal rows."""
    return np.random.default_rng(1).standard_normal((n, d))


def decaying(c: float, n: int = 3000) -> np.ndarray:
    """Return a matrix with eigenvalues exp(-c i); without the paper's noise, which makes it indefinite."""
    Q = np.linalg.qr(np.random.default_rng(3).standard_normal((n, n)))[0]
    K = Q * np.exp(-c * np.arange(n)) @ Q.T
    return (K + K.T) / 2


def usps() -> np.ndarray:
    """Return 9298 x 256 handwritten digits."""
    return load_usps()[0].astype(np.float32)


def mnist(n: int = 60_000) -> np.ndarray:
    """Return n x 784 handwritten digits between 0 and 1."""
    return load_mnist()[0][:n].astype(np.float32) / 255


def text(name: str) -> sparse.csr_matrix:
    """Return sparse rows."""
    return sparse.load_npz(find(name)).tocsr()


REQUIRED = [
    Task("normal 10000 x 256, Laplace", lambda: noise(10_000), laplace),
    Task("normal 10000 x 256, Gaussian", lambda: noise(10_000), gaussian),
    Task("USPS 9298 x 256, Gaussian (median)", usps, median),
]
MORE = [
    Task("normal 15000 x 256, Laplace", lambda: noise(15_000), laplace),
    Task("normal 15000 x 256, Gaussian", lambda: noise(15_000), gaussian),
    Task("correlated 7000 x 10000, Laplace", correlated, laplace),
    Task("correlated 7000 x 10000, Gaussian", correlated, gaussian),
    Task("USPS 9298 x 256, Laplace", usps, laplace),
    Task("Reuters 11069 x 8315, Laplace", lambda: text("reuters_tick.npz"), laplace),
    Task("Reuters 11069 x 8315, Gaussian", lambda: text("reuters_tick.npz"), gaussian),
    Task("protein 2871 x 357, Laplace", lambda: text("protein_val.npz"), laplace),
    Task("protein 2871 x 357, Gaussian", lambda: text("protein_val.npz"), gaussian),
    Task("rcv1 1747 x 47236, Laplace", lambda: text("rcv1_vw_subset.npz"), laplace),
    Task("rcv1 1747 x 47236, Gaussian", lambda: text("rcv1_vw_subset.npz"), gaussian),
    *(Task(f"decay exp(-{c} i), n = 3000", lambda c=c: decaying(c), None) for c in (0.01, 0.03, 0.1, 0.3)),
]
