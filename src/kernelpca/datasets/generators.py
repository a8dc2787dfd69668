"""Made data: points with noise, and the same points without it."""

from __future__ import annotations

import numpy as np


def half_circle(n: int, noise: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """-> (n, 2), (n, 2): points on the upper half of the unit circle with noise along the radius, and without it."""
    angle = rng.uniform(0, np.pi, n)
    clean = np.column_stack([np.cos(angle), np.sin(angle)])
    return clean * (1 + rng.normal(0, noise, (n, 1))), clean


def square(n: int, noise: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """-> (n, 2), (n, 2): points on the sides of the square from -1 to 1 with noise across the side, and without it."""
    along, side = rng.uniform(-1, 1, n), rng.integers(0, 4, n)
    rows, axis, sign = np.arange(n), side // 2, 2.0 * (side % 2) - 1
    clean = np.empty((n, 2))
    clean[rows, axis], clean[rows, 1 - axis] = sign, along
    noisy = clean.copy()
    noisy[rows, axis] += rng.normal(0, noise, n)
    return noisy, clean


def s_curve(n: int, noise: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """-> (n, 3), (n, 3), (n,): points on the s-curve with noise, without it, and where on the curve they are."""
    t = rng.uniform(-1.5 * np.pi, 1.5 * np.pi, n)
    clean = np.column_stack([np.sin(t), rng.uniform(0, 2, n), np.sign(t) * (np.cos(t) - 1)])
    return clean + rng.normal(0, noise, clean.shape), clean, t


def gaussians(
    train: int, test: int, noise: float, rng: np.random.Generator, centers: int = 11, dimension: int = 10
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """-> (centers * train, dimension), (centers * test, dimension) twice: points around centers, and the test centers.

    The centers are uniform in [-1, 1]^dimension; around each there are so many points to train on and to test, normal
    with standard deviation `noise` in each coordinate. Last comes the center of each test point.
    """
    middle = rng.uniform(-1, 1, (centers, dimension))
    X, clean = np.repeat(middle, train, axis=0), np.repeat(middle, test, axis=0)
    return X + rng.normal(0, noise, X.shape), clean + rng.normal(0, noise, clean.shape), clean
