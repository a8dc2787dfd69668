"""A kernel less one: all digits of values near one."""

from __future__ import annotations

import numpy as np

from kernelpca.kernels.base import Kernel, Rows, dtype_of, n_rows, values_of
from kernelpca.kernels.combined import Wrapped
from kernelpca.kernels.slopes import Slopes


class LessOne(Wrapped):
    """k(x, y) - 1 for a kernel with k(x, x) = 1, computed without losing the digits of values near one.

    Parameters
    ----------
    kernel : Kernel
        One that offers `compute_less_one`.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    positive_definite = False
    exact_distances = True
    tells_distance = property(lambda self: self.kernel.tells_distance)
    positive_once_centered = property(lambda self: self.kernel.positive_definite)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return repr(self.kernel)  # what the user gave

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """Write the kernel less one."""
        self.kernel.compute_less_one(X, Y, out)

    def feature_distances(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """Minus twice the kernel less one, with all digits of small distances."""
        self.compute(X, Y, out)
        out *= -2.0

    def diag(self, X: Rows) -> np.ndarray:
        """Zeros."""
        return np.zeros(n_rows(X), dtype=dtype_of(X))

    def combine_slopes(self, X: np.ndarray, Y: np.ndarray) -> Slopes:
        """The kernel less one, with the same slopes."""
        return self.kernel.slopes_less_one(X, Y)

    def combine_pulls(self, X: np.ndarray, Y: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sums of the kernel less one, the same gradients."""
        return np.einsum("ij,ij->i", C, values_of(self, X, Y)), self.kernel.pull(X, Y, C)[1]

    def combine_diagonals(self, X: np.ndarray) -> np.ndarray:
        """Zeros."""
        return np.zeros_like(X)

    def distances_from(self, values: np.ndarray) -> np.ndarray:
        """Squared distances, with all digits of values near zero."""
        if not self.tells_distance:
            return super().distances_from(values)
        return self.kernel.distances_from_less_one(values)
