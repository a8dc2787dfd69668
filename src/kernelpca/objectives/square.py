"""The square objective: ordinary kernel PCA."""

from __future__ import annotations

import numpy as np

from kernelpca.objectives.protocol import Objective


class Square(Objective):
    """f(Y) = 1/2 |Y|^2: the variance. Psi is zero at zero and infinite elsewhere."""

    def value(self, Y: np.ndarray) -> float:
        """(n, s) -> 0 or infinity."""
        return float("inf") if Y.any() else 0.0

    def conjugate(self, H: np.ndarray) -> float:
        """(n, s) -> 0."""
        return 0.0

    def prox_conjugate(self, Y: np.ndarray) -> np.ndarray:
        """(n, s) -> (n, s): Y."""
        return Y

    def weighted(self, roots: np.ndarray) -> Square:
        """Return the same: weights are in the rows already."""
        return self
