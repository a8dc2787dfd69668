"""Linear and kernel PCA that denoise with many numbers of components from one decomposition, and the null models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.distance import cdist

from kernelpca import PCA, KernelPCA
from kernelpca.kernels import RBF
from kernelpca.preimage import FixedPoint


def by_pca(X: np.ndarray, Y: np.ndarray, components: Sequence[int]) -> np.ndarray:
    """(n, d), (m, d) -> (len(components), m, d): Y projected on principal components of X."""
    model = PCA(max(components)).fit(X)
    Z = model.transform(Y)
    return np.array([model.inverse_transform(Z * (np.arange(Z.shape[1]) < k)) for k in components])


def by_kernel_pca(
    X: np.ndarray,
    Y: np.ndarray,
    c: float,
    components: Sequence[int],
    start: np.ndarray | None = None,
    method: FixedPoint | None = None,
) -> np.ndarray:
    """(n, d), (m, d) -> (len(components), m, d): Y projected on components of the kernel exp(-|x - y|^2 / c), and back.

    The way back is the fixed point of equation 8 with the mean of the mapped data kept, from Y itself or from `start`.
    Scores of further components are taken as zero.
    """
    model = KernelPCA(max(components), kernel=RBF(1 / c), preimage=method or FixedPoint()).fit(X)
    Z = model.transform(Y)
    kept = np.concatenate([Z * (np.arange(Z.shape[1]) < k) for k in components])
    begin = np.tile(Y if start is None else start, (len(components), 1))
    return model.inverse_transform(kept, reference=begin).reshape(len(components), *Y.shape)


def nearest(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """(n, d), (m, d) -> (m, d): the training sample that is nearest to each."""
    return X[cdist(Y, X, "sqeuclidean").argmin(axis=1)]


def squared_distance(answers: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """(..., m, d), (m, d) -> (...): mean squared distance of points from where they should be."""
    return np.square(answers - truth).sum(axis=-1).mean(axis=-1)


def twice_variance(X: np.ndarray) -> float:
    """(n, d) -> twice the variance of a coordinate, on average over coordinates."""
    return float(2 * X.var(axis=0).mean())
