"""The three methods of the paper, each denoising with many numbers of components from one decomposition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kernelpca import PCA, InvertibleKernelPCA, KernelPCA
from kernelpca.kernels import RBF
from kernelpca.preimage import Ridge


def mse(answer: np.ndarray, truth: np.ndarray) -> float:
    """Return the mean squared error of an entry."""
    return float(np.square(answer - truth).mean())


def by_pca(X: np.ndarray, Y: np.ndarray, components: Sequence[int]) -> list[np.ndarray]:
    """Denoise Y by linear PCA of X."""
    model = PCA(max(components)).fit(X)
    Z = model.transform(Y)
    return [model.inverse_transform(Z * (np.arange(Z.shape[1]) < k)) for k in components]


def by_kpca(X: np.ndarray, Y: np.ndarray, gamma: float, ridge: float, components: Sequence[int]) -> list[np.ndarray]:
    """Denoise Y by kPCA+SL: kernel ridge regression learns the way back, one kernel both ways as in scikit-learn."""
    kernel = RBF(gamma)
    model = KernelPCA(max(components), kernel=kernel)
    Z, Z_new = model.fit_transform(X), model.transform(Y)
    return [Ridge(ridge).learn(Z[:, :k], X, kernel).points(Z_new[:, :k]) for k in components]


def by_ikpca(
    model: InvertibleKernelPCA, Y: np.ndarray, components: Sequence[int], **way_back: object
) -> list[np.ndarray]:
    """Denoise Y by a fitted ikPCA, scores of further components taken as zero.

    Parameters of the way back (`ridge`, `branch`) can be changed: features, components and the factors of the linear
    map stay.
    """
    model.layers_[0].preimage_.set_params(**way_back)
    layer = model.layers_[0]
    Z = layer.transform(Y)
    return [layer.inverse_transform(Z * (np.arange(Z.shape[1]) < k), reference=Y) for k in components]


def by_ridges(
    model: InvertibleKernelPCA, Y: np.ndarray, components: Sequence[int], ridges: Sequence[float]
) -> dict[float, list[np.ndarray]]:
    """Denoise Y by a fitted ikPCA with many ridges at the price of one.

    The ridge matters in the last step alone: with o the origin and x the answer without ridge, the answer is
    o + (W'W + ridge I)^-1 W'W (x - o).
    """
    answers = by_ikpca(model, Y, components, ridge=0.0)
    features: Any = model.layers_[0]._decomposition.features
    gram = features.W.T @ features.W
    shrinks = {ridge: np.linalg.solve(gram + ridge * np.eye(len(gram)), gram).T for ridge in ridges if ridge}
    found = {ridge: [features.origin + (X - features.origin) @ S for X in answers] for ridge, S in shrinks.items()}
    return found | {ridge: answers for ridge in ridges if not ridge}
