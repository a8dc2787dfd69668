"""What the competitors share: from rows to a kernel matrix, and from any coefficients to orthonormal directions."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_array, check_is_fitted

from kernelpca.decomposition import Decomposition
from kernelpca.features.kernel import GivenFeatures, KernelFeatures
from kernelpca.features.protocol import Features, move
from kernelpca.gram import CenteredGram, DenseGram
from kernelpca.kernels import Kernel, as_kernel
from kernelpca.kernels.base import Rows, n_rows
from kernelpca.kernels.custom import Precomputed, as_samples
from kernelpca.kernels.origin import origin_of
from kernelpca.solvers.certificate import Certificate
from kernelpca.solvers.solution import leading_signs
from kernelpca.validation import check_common, check_numbers

ZERO = 1e-10  # of the largest eigenvalue: below it a direction is rounding
NEGATIVE = 1e-6  # of the largest eigenvalue: beyond it a negative one is none of rounding


@dataclass(frozen=True)
class MappedRows:
    """The training rows in feature space, less their mean if that is wanted, known by their inner products.

    Attributes
    ----------
    K : ndarray of shape (n, n)
        The (centered) kernel matrix Phi Phi'; rows of Phi are mapped rows.
    values, vectors : ndarray of shape (r,), (n, r)
        Its positive eigenvalues, largest first, and their eigenvectors.
    """

    K: np.ndarray
    values: np.ndarray
    vectors: np.ndarray

    @classmethod
    def of(cls, K: np.ndarray, scale: float) -> Self:
        """(n, n) -> mapped rows, or say why there are none with this matrix; `scale` is its size before centring."""
        values, vectors = eigh(K)
        values, vectors = values[::-1], vectors[:, ::-1]
        if values[0] <= len(K) * np.finfo(np.float64).eps * scale:
            raise ValueError(
                "All samples are the same point in feature space: there is no variance to find. Check the data, or the "
                "kernel's parameters (a gamma far too small makes all points alike)."
            )
        if values[-1] < -NEGATIVE * np.abs(values).max():
            raise ValueError(
                f"The (centered) kernel matrix has the eigenvalue {values[-1]:.3g}; the largest is {values[0]:.3g}. "
                "These methods need a positive semi-definite kernel: choose one such as 'rbf' or 'linear'."
            )
        positive = values > ZERO * values[0]
        return cls(K, values[positive], np.ascontiguousarray(vectors[:, positive]))


class Competitor(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """An estimator of directions in feature space, all n mapped rows in memory.

    A subclass has the parameters `n_components`, `kernel` and `center`, and writes `_find`.
    """

    n_components: Any
    kernel: Any
    center: Any

    @abstractmethod
    def _find(self, mapped: MappedRows, k: int) -> tuple[np.ndarray, dict[str, Any]]:
        """Return coefficients (n, k) of k directions over mapped rows, and attributes to store."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the directions.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), list of str, or matrix
            The data, as the kernel takes it; with kernel="precomputed" the (n_samples, n_samples) kernel matrix.
        y : ignored
        """
        check_common(None, self.center)
        kernel = clone(as_kernel(self.kernel))
        rows = self._check_rows(kernel, X, reset=True)
        kernel = kernel.resolve(rows)
        gram, features = _gram_and_features(kernel, rows, bool(self.center))
        centered = CenteredGram(gram) if self.center else None
        mapped = MappedRows.of((centered or gram).dense(), float(np.abs(gram.K).max()))
        k = _check_components(self.n_components, n_rows(rows), len(mapped.values))
        coefficients, found = self._find(mapped, k)
        decomposition = decompose(mapped, coefficients, features, centered)
        if len(decomposition.eigenvalues) < k:
            warnings.warn(
                f"Only {len(decomposition.eigenvalues)} of {k} directions are left: the others have zero coefficients "
                "only, or lie in the span of these. Ask for fewer components or a smaller penalty.",
                UserWarning,
                stacklevel=2,
            )
        self.kernel_ = kernel
        self.coefficients_ = coefficients
        for name, value in found.items():
            setattr(self, name, value)
        self._decomposition = decomposition
        self.eigenvalues_ = decomposition.eigenvalues
        self.explained_variance_ratio_ = decomposition.ratio
        self.components_ = decomposition.W.T
        self.n_components_ = len(decomposition.eigenvalues)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """(n, d) -> (n, n_components_): scores, the coordinates on orthonormal directions in feature space.

        With a precomputed kernel X is the (n, n_samples) matrix of kernel values with the training samples.
        """
        check_is_fitted(self)
        return self._decomposition.scores(self._check_rows(self.kernel_, X, reset=False))

    def residuals(self, X: Any, diagonal: Any = None) -> np.ndarray:
        """(n, d) -> (n,): squared distance of each mapped sample from the subspace: what the model leaves out.

        With a precomputed kernel, `diagonal` gives k(x, x) of each sample.
        """
        check_is_fitted(self)
        rows = self._check_rows(self.kernel_, X, reset=False)
        if diagonal is not None:
            diagonal = check_array(diagonal, ensure_2d=False, dtype=np.float64, input_name="diagonal")
            if diagonal.shape != (n_rows(rows),):
                raise ValueError(
                    f"diagonal has shape {diagonal.shape}; one number for each of {n_rows(rows)} rows is needed."
                )
        return self._decomposition.residuals(rows, diagonal)

    def _check_rows(self, kernel: Kernel, X: Any, *, reset: bool) -> Rows:
        """Return X as float64 rows for the kernel, or as what else it takes."""
        numeric = sparse.issparse(X) or kernel.domain != "any" or as_samples(X).dtype.kind in "biufc"
        if kernel.domain == "text" or not numeric:
            return kernel.check(X)
        least = 2 if reset and self.center else 1
        rows = check_numbers(self, X, reset=reset, sparse=kernel.takes_sparse, least_rows=least)
        return kernel.check(rows.astype(np.float64, copy=False))

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            kernel = as_kernel(self.kernel)
        except (TypeError, ValueError):  # reported by fit
            return tags
        tags.input_tags.pairwise = kernel.domain == "precomputed"
        tags.input_tags.sparse = kernel.takes_sparse
        return tags


def decompose(
    mapped: MappedRows, coefficients: np.ndarray, features: Features, centered: CenteredGram | None
) -> Decomposition:
    """Turn coefficients (n, k) into orthonormal directions and fold centring into W and b.

    Since sum_i c_i (phi_i - m) = sum_i (c - w 1'c)_i phi_i with m = sum_i w_i phi_i, directions are combinations of the
    mapped rows themselves whose coefficients sum to zero.
    """
    W, Z = principal_directions(mapped.K, coefficients)
    n, k = W.shape
    b, mean_weights, mean_square = np.zeros(k), np.zeros(n), 0.0
    if centered is not None:
        mean_weights, mean_square = centered.w, centered.mean_total
        W = W - np.outer(mean_weights, W.sum(axis=0))
        b = -(centered.mean_column @ W)
    return Decomposition(
        features=features,
        W=W,
        b=b,
        signs=np.ones(k),
        eigenvalues=np.square(Z).sum(axis=0),
        total=float(np.trace(mapped.K)),
        mean_weights=mean_weights,
        mean_square=mean_square,
        certificate=_compare_with_best(mapped, Z),
        positive_definite=True,
    )


def principal_directions(K: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n, n), (n, k) -> (n, r), (n, r): coefficients W with W'KW = I and the span of C, and scores K W.

    Directions are the principal axes of the scores, so that scores are uncorrelated and the largest come first.
    """
    lengths = np.sqrt(np.maximum(np.einsum("ij,ij->j", C, K @ C), 0.0))
    kept = lengths > 0
    W = C[:, kept] / lengths[kept]
    for _ in range(2):  # the second time takes off what rounding left in nearly parallel directions
        values, V = eigh(W.T @ K @ W) if W.shape[1] else (np.zeros(0), np.zeros((0, 0)))
        positive = values > ZERO * values.max(initial=0.0)
        W = W @ (V[:, positive] / np.sqrt(values[positive]))
    if not W.shape[1]:
        raise ValueError("All coefficients are zero: no direction is left. Ask for a smaller penalty.")
    Z = K @ W
    R = np.linalg.svd(Z, full_matrices=False)[2].T
    W, Z = W @ R, Z @ R
    signs = leading_signs(Z)
    return W * signs, Z * signs


def check_number(estimator: Any, name: str, least: float = 0.0, below: float = np.inf, open_end: bool = False) -> float:
    """Return the parameter of that name, a number from `least` (not itself if `open_end`) to below `below`."""
    value = getattr(estimator, name)
    number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    if not number or not least <= float(value) < below or (open_end and float(value) == least):
        allowed = f"{'>' if open_end else '>='} {least:g}" + (f" and < {below:g}" if np.isfinite(below) else "")
        raise ValueError(f"{type(estimator).__name__}({name}={value!r}): {name} must be a number {allowed}.")
    return float(value)


def check_count(estimator: Any, name: str) -> int:
    """Return the parameter of that name, a whole number >= 1."""
    value = getattr(estimator, name)
    if not isinstance(value, Integral) or isinstance(value, bool | np.bool_) or int(value) < 1:
        raise ValueError(f"{type(estimator).__name__}({name}={value!r}): {name} must be a whole number >= 1.")
    return int(value)


def _check_components(given: Any, n: int, rank: int) -> int:
    """Return n_components as a number that is possible."""
    if not isinstance(given, Integral) or isinstance(given, bool | np.bool_) or not 1 <= int(given) <= n:
        raise ValueError(
            f"n_components={given!r} is not possible with n_samples = {n}: give an int from 1 to {min(n, rank)}."
        )
    if int(given) > rank:
        raise ValueError(
            f"n_components={given} is not possible: the mapped samples span {rank} dimensions. Give an int from 1 to "
            f"{rank}, or choose a kernel with more features, such as 'rbf'."
        )
    return int(given)


def _gram_and_features(kernel: Kernel, rows: Rows, center: bool) -> tuple[DenseGram, Features]:
    """Return the matrix of the rows, or the rows as the matrix that they are, and the features that go with it."""
    if isinstance(kernel, Precomputed):
        return DenseGram(rows), GivenFeatures(n_rows(rows))
    kernel = kernel.for_centering() if center else kernel
    origin = origin_of(kernel, rows, center)
    anchors = rows.copy() if origin is None else move(rows, origin)
    K = kernel.matrix(anchors).astype(np.float64, copy=False)
    return DenseGram(K, source=f"The kernel {kernel!r}", symmetric=True), KernelFeatures(kernel, anchors, origin)


def _compare_with_best(mapped: MappedRows, Z: np.ndarray) -> Certificate:
    """Compare the captured variance with that of square kernel PCA: what robustness or sparsity cost."""
    k, values = Z.shape[1], np.square(Z).sum(axis=0)
    U = Z / np.sqrt(values)
    residuals = np.linalg.norm(mapped.K @ U - values * U, axis=0)
    return Certificate(
        grade="estimated",
        residuals=residuals,
        relative_residual=float((residuals / values).max()),
        orthogonality_loss=float(np.abs(U.T @ U - np.eye(k)).max()),
        lower=float(values.sum()),
        upper=float(mapped.values[:k].sum()),
        clusters=(),
        passes=0,
        seconds=0.0,
        tol=np.inf,
        rounding=float(np.finfo(np.float64).eps * mapped.values[0]),
        satisfied=True,
    )
