"""Naive twins of the string kernels and the Fisher kernel: loops to be read, straight from the formulas."""

from __future__ import annotations

from itertools import combinations
from math import exp, log, pi

import numpy as np


def spectrum(x: str, y: str, length: int, decay: float = 1.0, up_to: bool = False) -> float:
    """The sum over contiguous substrings u of psi_u(x) psi_u(y)."""
    total = 0.0
    for n in range(1, length + 1) if up_to else [length]:
        for i in range(len(x) - n + 1):
            for j in range(len(y) - n + 1):
                if x[i : i + n] == y[j : j + n]:
                    total += decay**n * decay**n
    return total


def subsequence(x: str, y: str, length: int, decay: float) -> float:
    """The sum over all index tuples of x and of y that spell the same string, weighted by their spans."""
    total = 0.0
    for a in combinations(range(len(x)), length):
        for b in combinations(range(len(y)), length):
            if all(x[i] == y[j] for i, j in zip(a, b, strict=True)):
                total += decay ** (a[-1] - a[0] + 1) * decay ** (b[-1] - b[0] + 1)
    return total


def mixture_log_density(x: np.ndarray, w: np.ndarray, mu: np.ndarray, sigma: np.ndarray) -> float:
    """Log p(x) of a mixture of Gaussians with diagonal covariances."""
    density = 0.0
    for k in range(len(w)):
        component = log(w[k])
        for f in range(len(x)):
            component -= (x[f] - mu[k, f]) ** 2 / (2 * sigma[k, f] ** 2) + log(2 * pi * sigma[k, f] ** 2) / 2
        density += exp(component)
    return log(density)


def fisher_gradient(x: np.ndarray, w: np.ndarray, mu: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """The gradient of log p(x) in alpha (w = softmax(alpha)), means and standard deviations."""
    by_alpha, by_mean, by_deviation = [], [], []
    for k in range(len(w)):
        alone = mixture_log_density(x, w[[k]], mu[[k]], sigma[[k]])
        posterior = exp(alone - mixture_log_density(x, w, mu, sigma))
        by_alpha.append(posterior - w[k])
        for f in range(len(x)):
            by_mean.append(posterior * (x[f] - mu[k, f]) / sigma[k, f] ** 2)
            by_deviation.append(posterior * ((x[f] - mu[k, f]) ** 2 / sigma[k, f] ** 3 - 1 / sigma[k, f]))
    return np.array(by_alpha + by_mean + by_deviation)


def fisher_information(w: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """The diagonal of the information matrix, for components that do not overlap."""
    by_alpha, by_mean, by_deviation = [], [], []
    for k in range(len(w)):
        by_alpha.append(w[k])
        for f in range(sigma.shape[1]):
            by_mean.append(w[k] / sigma[k, f] ** 2)
            by_deviation.append(2 * w[k] / sigma[k, f] ** 2)
    return np.array(by_alpha + by_mean + by_deviation)
