"""USPS digits to train on and to test, so many of each, and noise for them."""

from __future__ import annotations

import numpy as np

from kernelpca.datasets import load_usps

SIDE = 16
GAUSSIAN, SPECKLE = "Gaussian", "speckle"
NOISE, PROBABILITY = 0.5, 0.4


def split(seed: int, train: int, test: int) -> tuple[np.ndarray, np.ndarray]:
    """-> (10 * train, 256), (10 * test, 256): digits from -1 (paper) to 1 (ink), digit by digit."""
    X, y = load_usps()
    rng = np.random.default_rng([seed, 256])
    rows = np.array([rng.permutation(np.flatnonzero(y == digit))[: train + test] for digit in range(10)])
    return 2 * X[rows[:, :train].ravel()] - 1, 2 * X[rows[:, train:].ravel()] - 1


def with_noise(X: np.ndarray, kind: str, rng: np.random.Generator) -> np.ndarray:
    """(n, d) -> (n, d): with Gaussian noise, or with pixels turned white or black, each as often."""
    if kind == GAUSSIAN:
        return X + rng.normal(0, NOISE, X.shape)
    return np.where(rng.random(X.shape) < PROBABILITY, rng.choice([-1.0, 1.0], X.shape), X)


def as_images(X: np.ndarray) -> list[np.ndarray]:
    """(n, 256) -> n times (16, 16)."""
    return list(X.reshape(-1, SIDE, SIDE))
