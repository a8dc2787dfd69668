"""Learning the way back: kernel ridge regression from scores to inputs (Bakir, Weston and Schölkopf 2004)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.linalg import LinAlgError, solve

from kernelpca.gram.tiled import cross_product
from kernelpca.kernels.base import Kernel, dtype_of
from kernelpca.kernels.names import as_kernel
from kernelpca.kernels.stationary import RBF
from kernelpca.parts import Part


class Ridge(Part):
    """Pre-images by kernel ridge regression, as in scikit-learn's `fit_inverse_transform`.

    The training inputs are regressed on their scores once, at fit; after that an inverse is one matrix product.

    Parameters
    ----------
    ridge : float, default=1.0
        Added to the diagonal of the kernel matrix of the scores (scikit-learn's `alpha`).
    kernel : str or Kernel, optional
        Kernel between scores. When not given it is the model's own, as in scikit-learn, or a Gaussian where that
        does not take scores (kernels of histograms, or of a model of the inputs).
    center : bool, default=True
        Whether the mean of the inputs is taken off before and added after, so that strong ridges shrink towards the
        mean and not towards zero. scikit-learn's form is False.
    """

    def __init__(self, ridge: float = 1.0, kernel: Any = None, center: bool = True) -> None:
        self.ridge = ridge
        self.kernel = kernel
        self.center = center

    def fit(self, Z: np.ndarray, X: np.ndarray, kernel: Kernel) -> Self:
        """Learn the map from scores Z (n, k) to inputs X (n, d); `kernel` is the model's, resolved."""
        if not isinstance(self.ridge, int | float | np.number) or not 0 <= self.ridge < np.inf:
            raise ValueError(f"Ridge(ridge={self.ridge!r}): ridge must be a number >= 0, such as 0.01.")
        if not hasattr(X, "ndim") or X.ndim != 2 or hasattr(X, "tocsr"):
            raise TypeError(
                "A ridge pre-image comes back to dense rows of numbers, and was given sparse or other input: give "
                "X.toarray(), or do without a pre-image."
            )
        self.kernel_ = _kernel_of_scores(kernel if self.kernel is None else as_kernel(self.kernel), Z)
        self.mean_ = X.mean(axis=0) if self.center else np.zeros(X.shape[1], dtype=X.dtype)
        self.scores_ = Z
        if Z.shape[1] == 0:  # no components: the mean is all there is
            self.dual_coef_ = np.zeros_like(X)
            return self
        K = self.kernel_(Z)
        K.flat[:: len(K) + 1] += self.ridge
        try:
            self.dual_coef_ = solve(K, X - self.mean_, assume_a="pos", overwrite_a=True)
        except LinAlgError as error:
            raise ValueError(
                f"The ridge pre-image could not be solved: the kernel matrix of the scores with ridge={self.ridge} is "
                "singular. Raise ridge (try 1e-3 or 1)."
            ) from error
        return self

    def points(self, Z: np.ndarray) -> np.ndarray:
        """(n, k) -> (n, d): inputs for scores Z."""
        if self.scores_.shape[1] == 0:
            return np.tile(self.mean_, (len(Z), 1))
        Z = np.ascontiguousarray(Z, dtype=dtype_of(self.scores_))
        return cross_product(self.kernel_, Z, self.scores_, self.dual_coef_) + self.mean_


def _kernel_of_scores(kernel: Kernel, Z: np.ndarray) -> Kernel:
    """Return the kernel resolved on scores, or a Gaussian if it does not take them."""
    try:
        kernel.check(Z)
    except (TypeError, ValueError):
        kernel = RBF()
    return kernel.resolve(Z) if Z.shape[1] else kernel
