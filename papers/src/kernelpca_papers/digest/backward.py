"""Kernel PCA and its backward mapping as printed (sections 3 and 4), in the paper's letters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from kernelpca.kernels import RBF

LEAST = 1e-6  # of the largest of V z: entries up to this, negative ones among them, have no logarithm worth fitting
STEPS = 20_000
Slope = tuple[float, np.ndarray]


@dataclass(frozen=True)
class Minimum:
    """Weights w (n,), the discrepancy that they reach, and the steps."""

    weights: np.ndarray
    discrepancy: float
    steps: int


class Digest:
    """A Gaussian kernel's components with eigenvectors of unit length: scores are z = V'g (equations 26 to 30).

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Samples.
    beta : float
        The kernel is exp(-beta |x - y|^2).
    k : int
        How many components.
    center : bool
        Whether the kernel is centered (equations 24 and 25).
    """

    def __init__(self, X: np.ndarray, beta: float, k: int, center: bool) -> None:
        self.X, self.beta, self.center = X, beta, center
        self.S = X @ X.T
        G = RBF(beta)(X, X)
        self.average, self.whole = G.mean(axis=1), float(G.mean())
        G = self.centered(G)
        eigenvalues, V = np.linalg.eigh((G + G.T) / 2)
        self.V = V[:, : -k - 1 : -1]
        self.kept = float(eigenvalues[-k:].sum() / eigenvalues.sum())
        self.Z = G @ self.V

    def centered(self, g: np.ndarray) -> np.ndarray:
        """(n, ...) columns of kernel values with the samples -> the same, centered by equation 25 if this model is."""
        if not self.center:
            return g
        average = self.average if g.ndim == 1 else self.average[:, None]
        return g - average - g.mean(axis=0) + self.whole

    def forward(self, x: np.ndarray) -> np.ndarray:
        """(d,) -> (k,): equation 30."""
        return self.V.T @ self.centered(RBF(self.beta)(self.X, x[None])[:, 0])

    def distances(self, z: np.ndarray) -> np.ndarray:
        """(k,) -> (n,): from the scores of the samples."""
        return np.linalg.norm(self.Z - z, axis=1)

    def squares(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n,) -> (n,), (n,): squared distances of the samples from X'w, and S w."""
        Sw = self.S @ w
        return np.diag(self.S) - 2 * Sw + w @ Sw, Sw

    def discrepancy(self, w: np.ndarray, z: np.ndarray) -> Slope:
        """Equation 33, and its gradient in the weights."""
        squares, Sw = self.squares(w)
        g = np.exp(-self.beta * squares)
        off = z - self.V.T @ self.centered(g)
        pull = self.V @ off
        if self.center:
            pull = pull - pull.mean()
        return float(off @ off), self._slope(2 * self.beta * g * pull, Sw)

    def log_discrepancy(self, w: np.ndarray, z: np.ndarray) -> Slope:
        """Equation 35 in the form of 36, and its gradient; samples without a logarithm of V z are left out."""
        squares, Sw = self.squares(w)
        off = self.log_residuals(squares, z)
        return float(off @ off), self._slope(2 * self.beta * off, Sw)

    def log_residuals(self, squares: np.ndarray, z: np.ndarray) -> np.ndarray:
        """(n,) squared distances of a point from the samples -> (n,): log (V z)_i + beta |x_i - x|^2."""
        Vz = self.V @ z
        fitted = Vz > LEAST * max(Vz.max(), 0.0)
        logs = np.log(Vz, out=np.zeros_like(Vz), where=fitted)
        return (logs + self.beta * squares) * fitted

    def backward(self, z: np.ndarray, start: np.ndarray, logarithm: bool = False) -> Minimum:
        """(k,), (n,) -> the nonnegative weights to which the search from `start` comes down (equation 34)."""
        found = minimize(
            self.log_discrepancy if logarithm else self.discrepancy,
            start,
            args=(z,),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0, None)] * len(start),
            options={"maxiter": STEPS, "maxfun": 2 * STEPS, "ftol": 1e-14, "gtol": 1e-10},
        )
        return Minimum(found.x, float(found.fun), int(found.nit))

    def _slope(self, pull: np.ndarray, Sw: np.ndarray) -> np.ndarray:
        """Gradient in w of a function whose slopes in the squared distances are `pull`."""
        return 2 * (pull.sum() * Sw - self.S @ pull)


def inverse_square(distances: np.ndarray) -> np.ndarray:
    """(n,) -> (n,): weights 1/d^2 that sum to one; samples at distance zero share all of it."""
    zero = distances == 0
    weights = zero.astype(float) if zero.any() else distances**-2.0
    return weights / weights.sum()
