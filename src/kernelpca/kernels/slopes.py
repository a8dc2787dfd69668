"""How kernel values change with the first sample: what moves a point in search of a pre-image.

A function of dot products and norms can change along x and toward y only, so two numbers for each pair say it all:

    d k(x_i, y_j) / d x_i = along[i, j] x_i + toward[i, j] y_j

Sums of kernels and functions of them have slopes by the chain rule (`chain`, `lean`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

WITH_SLOPES = (
    'RBF, Laplacian(norm="euclidean"), Matern, Cauchy, RationalQuadratic, Linear, Polynomial, Sigmoid, Cosine, '
    "ArcCosine(order=1)"
)
WITH_PULL = f"{WITH_SLOPES}, ChiSquare, AdditiveChiSquare, ExponentialChiSquare, Hellinger, JensenShannon"
WITH_DISTANCE = (
    'RBF, Laplacian(norm="euclidean"), Matern, Cauchy, RationalQuadratic, their positive multiples and shifts'
)
WITH_PRODUCT = "Linear, Polynomial of an odd whole degree, their multiples (not 0) and shifts"
COMBINED = "their sums, products, multiples and shifts, what is normalized of them and Gaussians of them"


@dataclass(frozen=True)
class Slopes:
    """Kernel values and their slopes, (n, m) each.

    Attributes
    ----------
    values : ndarray of shape (n, m)
        k(x_i, y_j).
    toward : ndarray of shape (n, m)
        How much of y_j is in the gradient.
    along : ndarray of shape (n, m) or None
        How much of x_i is in it; None stands for -toward: the gradient is a multiple of y_j - x_i, as it is for
        kernels that are functions of the distance.
    """

    values: np.ndarray
    toward: np.ndarray
    along: np.ndarray | None = None

    def get_along(self) -> np.ndarray:
        """Return `along` as an array in any case."""
        return -self.toward if self.along is None else self.along


def pull_from(slopes: Slopes, X: np.ndarray, Y: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n, m) slopes, (n, d), (m, d), (n, m) -> (n,), (n, d): sum_j C_ij k(x_i, y_j), and its gradient in x_i."""
    sums = np.einsum("ij,ij->i", C, slopes.values)
    weights = C * slopes.toward
    along = -weights.sum(axis=1) if slopes.along is None else np.einsum("ij,ij->i", C, slopes.along)
    gradients = weights @ Y
    gradients += along[:, None] * X
    return sums, gradients


def chain(values: np.ndarray, *parts: tuple[Slopes, np.ndarray | float]) -> Slopes:
    """Return the slopes of a function of kernels: its values, and each kernel with the derivative by that kernel."""
    toward = sum_of([derivative * slopes.toward for slopes, derivative in parts])
    if all(slopes.along is None for slopes, _ in parts):
        return Slopes(values, toward)
    return Slopes(values, toward, sum_of([derivative * slopes.get_along() for slopes, derivative in parts]))


def sum_of(arrays: list[np.ndarray]) -> np.ndarray:
    """Return the sum, written over the first of them."""
    total, *others = arrays
    for other in others:
        total += other
    return total


def lean(slopes: Slopes, rates: np.ndarray) -> Slopes:
    """Add values[i, j] rates[i] x_i to the gradients: a factor that depends on x_i alone changes at that rate."""
    return Slopes(slopes.values, slopes.toward, slopes.get_along() + rates[:, None] * slopes.values)


def rates_of(gradients: np.ndarray, X: np.ndarray) -> np.ndarray:
    """(n, d), (n, d) -> (n,): r with gradients_i = r_i x_i, as those of a function of |x_i| are; 0 for zero rows."""
    norms = np.einsum("ij,ij->i", X, X)
    products = np.einsum("ij,ij->i", gradients, X)
    return np.divide(products, norms, out=np.zeros_like(norms), where=norms > 0)
