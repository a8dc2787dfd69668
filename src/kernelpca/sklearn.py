"""`KernelPCA` with scikit-learn's own signature, defaults and attributes: changing one import line is enough.

    from kernelpca.sklearn import KernelPCA  # was: from sklearn.decomposition import KernelPCA

It differs in what it can tell (`certificate_`, `explained_variance_ratio_`) and in three points:

- eigen_solver="randomized" finds the algebraically largest eigenvalues (scikit-learn: the largest in size), and
  iterates until they have converged where `iterated_power="auto"`;
- what ARPACK or the randomized solver does not reach is a ConvergenceWarning, not an exception;
- `n_jobs` is accepted and ignored: all cores are used, within the limits set for BLAS.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
import sklearn.decomposition
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from kernelpca.estimators.components import Components
from kernelpca.estimators.exact import Fit, Request, fit_gram, fit_rows
from kernelpca.gram import DenseGram
from kernelpca.io.table import Table
from kernelpca.kernels import RBF, Cosine, Custom, Kernel, Linear, Polynomial, Sigmoid
from kernelpca.persistence.savable import Savable
from kernelpca.preimage import Ridge
from kernelpca.solvers import Dense, Lanczos, Randomized, Solver
from kernelpca.validation import as_generator

EVERYTHING = 2**62  # bytes: like scikit-learn, this class sets no limit


class KernelPCA(Savable, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Drop-in replacement for `sklearn.decomposition.KernelPCA`; see there for the parameters.

    Attributes
    ----------
    eigenvalues_, eigenvectors_ : ndarray
        Eigenpairs of the centered kernel matrix; the vectors have length one.
    dual_coef_, X_transformed_fit_ : ndarray
        The inverse transform, if `fit_inverse_transform`.
    X_fit_ : array or sparse matrix
        The training data.
    gamma_ : float
        `gamma`, or 1 / n_features.
    explained_variance_ratio_ : ndarray
        Fractions of the whole variance in feature space (not in scikit-learn).
    certificate_ : Certificate
        How far from exact the answer can be (not in scikit-learn).
    """

    _parameter_constraints = sklearn.decomposition.KernelPCA._parameter_constraints

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        iterated_power: int | str = "auto",
        remove_zero_eig: bool = False,
        random_state: Any = None,
        copy_X: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components of X (n_samples, n_features), or of a kernel matrix if kernel="precomputed"."""
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> np.ndarray:
        """Fit on X and return its scores."""
        return self._fit(X, **params).scores

    def transform(self, X: Any) -> np.ndarray:
        """(n, d) -> (n, k): scores."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        return self._decomposition.scores(X)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """(n, k) -> (n, d): inputs for scores X, by kernel ridge regression."""
        if not self.fit_inverse_transform:
            raise NotFittedError("The inverse transform was not fitted: set fit_inverse_transform=True and fit again.")
        check_is_fitted(self)
        return self._preimage.points(check_array(X, dtype=[np.float64, np.float32]))

    def _checked(self, X: Any, **how: Any) -> Any:
        """Return X as numbers, with names and number of features noted or compared."""
        X = X.named() if isinstance(X, Table) else X
        return validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], **how)

    def _fit(self, X: Any) -> Fit:
        if isinstance(self.kernel, Kernel):
            raise TypeError(
                f"kernel={self.kernel!r} is an object of kernelpca: give it to kernelpca.KernelPCA. This class takes "
                "scikit-learn's names and callables."
            )
        self._validate_params()  # scikit-learn's own checks, from the constraints above
        precomputed = isinstance(self.kernel, str) and self.kernel == "precomputed"
        if self.fit_inverse_transform and precomputed:
            raise ValueError(
                "Cannot fit_inverse_transform with a precomputed kernel: there are no inputs to come back to. Set "
                "fit_inverse_transform=False."
            )
        X = self._checked(X, copy=self.copy_X)
        self.gamma_ = 1 / X.shape[1] if self.gamma is None else self.gamma
        n = X.shape[0]
        count = n if self.n_components is None else min(n, int(self.n_components))
        request = Request(
            components=Components("positive" if self.remove_zero_eig or self.n_components is None else "count", count),
            memory_limit=EVERYTHING,
            solver=self._solver(n, count),
            tol=self._goal(),
            rng=as_generator(self.random_state),
        )
        with warnings.catch_warnings():
            if self.iterated_power != "auto":
                warnings.simplefilter("ignore", ConvergenceWarning)  # as many passes as asked for, no more
            if precomputed:
                K = X.toarray() if sparse.issparse(X) else X
                if K.ndim == 2 and K.shape[0] == K.shape[1]:
                    K = (K + K.T) / 2  # scikit-learn takes matrices that are symmetric only once centered
                fitted = fit_gram(DenseGram(K), request)
            else:
                fitted = fit_rows(self._kernel(), X, request)
        self._store(fitted, X)
        return fitted

    def _store(self, fitted: Fit, X: Any) -> None:
        decomposition = fitted.decomposition
        self._decomposition = decomposition
        self.eigenvalues_ = decomposition.eigenvalues.astype(X.dtype)
        self.eigenvectors_ = fitted.vectors
        self.explained_variance_ratio_ = decomposition.ratio
        self.certificate_ = decomposition.certificate
        self.X_fit_ = X
        if self.fit_inverse_transform:
            self._preimage = Ridge(self.alpha, center=False, n_landmarks=None).learn(fitted.scores, X, self._kernel())
            self.dual_coef_ = self._preimage.dual_coef_
            self.X_transformed_fit_ = fitted.scores

    def _kernel(self) -> Kernel:
        """Return the kernel with scikit-learn's parameters."""
        if callable(self.kernel):
            return Custom(self.kernel, params=self.kernel_params)
        kernels = {
            "linear": Linear,
            "poly": lambda: Polynomial(self.degree, self.gamma_, self.coef0),
            "rbf": lambda: RBF(self.gamma_),
            "sigmoid": lambda: Sigmoid(self.gamma_, self.coef0),
            "cosine": Cosine,
        }
        return kernels[self.kernel]()

    def _goal(self) -> float:
        """The randomized solver cannot reach machine precision in reasonable time; the others can."""
        tol = min(float(self.tol), 0.5)
        return max(tol, 1e-8) if self.eigen_solver == "randomized" else tol

    def _solver(self, n: int, count: int) -> Solver:
        name = self.eigen_solver
        if name == "auto":
            name = "arpack" if n > 200 and count < 10 else "dense"
        if name == "dense":
            return Dense(indefinite="raise")
        if name == "arpack":
            return Lanczos(max_iter=self.max_iter, indefinite="raise")
        passes = 1000 if isinstance(self.iterated_power, str) else int(self.iterated_power) + 1
        return Randomized(max_iter=passes, indefinite="raise")

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.fit_inverse_transform
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags
