"""Random probes of what an approximation leaves out: how large it can be, with a stated probability of error."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import chi2

Apply = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Probes:
    """Gaussian columns that ride along in the passes and never enter the basis.

    For a symmetric matrix E that does not depend on them, Lanczos' method from the block of probes (in the inner
    product tr X'Y) gives polynomials pi_0, pi_1, ... orthonormal for the spectrum of E, each eigenvalue weighted by
    |u'Omega|^2. For the largest eigenvalue e that weight is chi-squared with as many degrees of freedom as there are
    probes, and sum_l pi_l(e)^2 <= 1 / |u'Omega|^2 whatever the degree. So with probability 1 - delta no eigenvalue
    exceeds the largest e with sum_l pi_l(e)^2 <= 1 / q, q the delta-quantile.

    E shrinks as the basis grows: from time to time it is taken anew (`freeze`). The j-th E gets delta 2^-j of the
    failure probability, so that all of them together fail with probability delta at most.

    Parameters
    ----------
    n, count : int
        Rows and probes.
    dtype : dtype
        Of the columns.
    rng : numpy Generator
        Their source.
    failure_probability : float
        delta.
    """

    def __init__(
        self, n: int, count: int, dtype: np.dtype, rng: np.random.Generator, failure_probability: float
    ) -> None:
        self.Omega = rng.standard_normal((n, count)).astype(dtype)
        self.product: np.ndarray | None = None  # K Omega, known after the first pass
        self.failure_probability = failure_probability
        self._freezes = 0
        self._apply: Apply | None = None
        self._blocks: list[np.ndarray] = []  # orthonormal in the trace inner product
        self._alpha: list[float] = []
        self._beta: list[float] = []

    def riders(self) -> np.ndarray:
        """Return the columns to multiply next."""
        return self._blocks[-1] if self.frozen else self.Omega

    def take(self, product: np.ndarray) -> None:
        """Take K times the riders; the matrix E is the one of the last `freeze`."""
        if self.product is None:
            self.product = product
        elif self._apply is not None:
            self._step(self._apply(self._blocks[-1], product))

    def freeze(self, apply: Apply, rest: np.ndarray) -> None:
        """Take E anew: `apply(X, K X)` gives E X, `rest` is E Omega. E must not depend on the probes."""
        self._freezes += 1
        self._apply = apply
        norm = float(np.linalg.norm(self.Omega))
        self._blocks, self._alpha, self._beta = [self.Omega / norm], [], [norm]
        self._step(rest / norm)

    def thaw(self) -> None:
        """Forget E, which is not what it was; K Omega stays known."""
        self._apply = None

    def _step(self, W: np.ndarray) -> None:
        """Go on with Lanczos' method by E times the last block."""
        self._alpha.append(_trace(self._blocks[-1], W))
        for _ in range(2):
            for Z in self._blocks:
                W = W - _trace(Z, W) * Z
        beta = float(np.linalg.norm(W))
        self._beta.append(beta)
        self._blocks.append(W / beta if beta > 0 else W)

    @property
    def frozen(self) -> bool:
        """Whether there is an E to bound."""
        return self._apply is not None

    def largest(self) -> float:
        """Return a number that no eigenvalue of the last frozen E exceeds, unless the probes fail."""
        delta = self.failure_probability * 0.5**self._freezes
        limit = 1.0 / float(chi2.ppf(delta, self.Omega.shape[1]))
        jacobi = np.diag(self._alpha) + np.diag(self._beta[1:-1], 1) + np.diag(self._beta[1:-1], -1)
        low = float(np.linalg.eigvalsh(jacobi)[-1])
        if self._beta[-1] <= 1e-14 * max(abs(low), 1e-300) or self._christoffel(low) >= limit:
            return low  # an invariant block: the spectrum that the probes see is known
        step = max(abs(low), self._beta[-1])
        while self._christoffel(low + step) < limit:
            step *= 2
        high = low + step
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self._christoffel(middle) < limit else (low, middle)
        return high

    def _christoffel(self, e: float) -> float:
        """Return sum_l pi_l(e)^2; beyond the zeros of all pi_l it grows with e."""
        previous, current = 0.0, 1.0 / self._beta[0]
        total = current**2
        for i, alpha in enumerate(self._alpha):
            back = self._beta[i] * previous if i else 0.0
            previous, current = current, ((e - alpha) * current - back) / self._beta[i + 1]
            total += current**2
        return total


def _trace(X: np.ndarray, Y: np.ndarray) -> float:
    """Return tr X'Y in float64."""
    return float(np.einsum("ij,ij->", X, Y, dtype=np.float64))
