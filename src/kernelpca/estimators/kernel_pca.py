"""Kernel PCA as a scikit-learn estimator: resolve the parts, compose them, store the result."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted

from kernelpca.decomposition import Decomposition
from kernelpca.estimators.approximate import explain_columns, explain_features, fit_columns, fit_features
from kernelpca.estimators.attempt import attempt
from kernelpca.estimators.components import as_components
from kernelpca.estimators.compression import Compressible
from kernelpca.estimators.cost import product_rate
from kernelpca.estimators.elsewhere import apply, check_remote_rows, here
from kernelpca.estimators.exact import Fit, Request, explain_rows, fit_gram, fit_rows, plan_gram
from kernelpca.estimators.plan import Plan
from kernelpca.estimators.training import Training, counted_rows, is_block, submatrix
from kernelpca.estimators.way_back import WayBack, check_preimage, keeps_rows, make_inverse
from kernelpca.features import FeatureMap, KernelSketch, Nystrom, as_approximation
from kernelpca.gram import Gram, as_gram
from kernelpca.kernels import Kernel, as_kernel
from kernelpca.kernels.base import Rows, dtype_of, n_rows
from kernelpca.kernels.custom import Precomputed, as_samples
from kernelpca.persistence.savable import Savable
from kernelpca.preimage import as_preimage
from kernelpca.remote import RemoteRows, is_remote
from kernelpca.solvers import as_solver
from kernelpca.solvers.solution import warn_of_shares
from kernelpca.solvers.watch import Callback
from kernelpca.validation import as_generator, check_common, check_numbers, check_weights
from kernelpca.warn import warn


def knows_own_similarity(estimator: KernelPCA) -> bool:
    """Whether k(x, x) of new samples can be computed: not from a precomputed matrix."""
    if isinstance(as_kernel(estimator.kernel), Precomputed):
        raise AttributeError(
            "With a precomputed kernel k(x, x) of new samples is unknown: use -residuals(K, diagonal=...) instead."
        )
    return True


class KernelPCA(Savable, Compressible, WayBack, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Kernel principal component analysis: the directions of largest variance in a kernel's feature space.

    Parameters
    ----------
    n_components : int, float, ("relative", eps) or None, default=None
        How many components: that many; the smallest number that keeps this fraction of the variance; all with
        eigenvalues above eps times the first; or all that are positive.
    kernel : str, Kernel or callable, default="rbf"
        What similarity means: a name (see `kernelpca.kernels.KERNELS`), an object such as `RBF(gamma=0.1)` or
        `RBF() + Linear()`, a function of two rows, or "precomputed" with a matrix, a LinearOperator or a
        `kernelpca.gram.Gram` given to `fit`.
    approximation : str, feature map or None, default=None
        None for exact kernel PCA; or features that stand for the kernel, for data of any size: "nystrom", "fourier",
        "relu", "sketch", or an object of `kernelpca.features` such as `Nystrom(500)`. `certificate_` says how well
        they do, and `solver` is then used on their covariance.
    solver : str or Solver, default="auto"
        How the eigenproblem is solved: "dense", "lanczos", "randomized", "block_krylov", "lobpcg", "lbfgs", an object
        of `kernelpca.solvers`, or "auto" to choose; `plan_` says what was chosen and why.
    preimage : str, pre-image object or None, default=None
        How `inverse_transform`, `invert` and `denoise` find the way back: a name (see `kernelpca.preimage.PREIMAGES`)
        or an object of `kernelpca.preimage`; None for the best that the kernel allows, which `preimage_` names.
    center : bool, default=True
        Whether the mean in feature space is taken off.
    tol : float, default=1e-4
        Wanted relative residual of every component, which is about the relative error of the worst score; 0 for
        machine precision. Small problems are solved to machine precision whatever it is; from 4096 rows on, float64
        data is worked on in float32 where tol >= 1e-5 and rounding allow it.
    memory_limit : int, str or None, default=None
        Memory that the fit may use beside X, in bytes or as "4GB"; half of what is free when not given.
    random_state : int, Generator, RandomState or None, default=None
        Seed of random starts; None is a fixed seed, so that fits repeat.
    callback : callable, "bar" or None, default=None
        Told a `kernelpca.solvers.Progress` after each pass (how many components have converged, the error, the time
        that is likely to remain); if it returns True the fit stops with what it has. "bar" draws a progress bar.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components_,)
        Largest eigenvalues of the (centered) kernel matrix, largest first.
    explained_variance_ : ndarray of shape (n_components_,)
        Eigenvalues over n_samples - 1: variances of the scores.
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        As fractions of the whole variance in feature space, kept or not: it sums to at most one (for an indefinite
        kernel, whose negative eigenvalues count against the whole, it may sum to more).
    components_ : ndarray of shape (n_components_, n_samples)
        Each direction's coefficients over the mapped training samples; with an approximation, over its landmarks or
        features.
    kernel_ : Kernel
        The kernel with every parameter a number.
    n_components_ : int
        How many components were kept.
    certificate_ : Certificate
        How far from exact this answer can be; `print(model.certificate_)` says it in a sentence.
    plan_ : Plan
        Which path was taken and why.
    preimage_ : Preimage
        The way back: what was asked for, or the best for this kernel.
    n_features_in_ : int
        Number of features seen in fit (for numeric data).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelpca import KernelPCA
    >>> X, _ = load_digits(return_X_y=True)
    >>> model = KernelPCA(n_components=10, kernel="rbf").fit(X)
    >>> model.transform(X[:2]).shape
    (2, 10)
    >>> print(f"{model.explained_variance_ratio_.sum():.2f} of the variance")
    0.49 of the variance
    """

    def __init__(
        self,
        n_components: Any = None,
        *,
        kernel: Any = "rbf",
        approximation: Any = None,
        solver: Any = "auto",
        preimage: Any = None,
        center: bool = True,
        tol: float = 1e-4,
        memory_limit: int | float | str | None = None,
        random_state: Any = None,
        callback: Callback | str | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.approximation = approximation
        self.solver = solver
        self.preimage = preimage
        self.center = center
        self.tol = tol
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.callback = callback

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of parts (`kernel__gamma`); a part given by name becomes an object for that."""
        names = {"kernel": as_kernel, "approximation": as_approximation, "solver": as_solver, "preimage": as_preimage}
        for part, find in names.items():
            given = params.get(part, getattr(self, part))
            nested = next((name for name in params if name.startswith(part + "__")), None)
            if given is None and nested:
                raise ValueError(f"{nested} cannot be set: {part} is None. Give {part} a name or an object first.")
            if isinstance(given, str) and given == "auto" and nested:
                raise ValueError(f"{nested} cannot be set: {part} is 'auto'. Give {part} a name or an object first.")
            if isinstance(given, str) and nested:
                params = {part: find(given), **{name: value for name, value in params.items() if name != part}}
        return super().set_params(**params)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the components of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), list of str, or matrix
            The data, as the kernel takes it; with kernel="precomputed" the (n_samples, n_samples) kernel matrix, a
            LinearOperator or a Gram.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            Relative weights. A weight of 2 counts like a row given twice, 0 like a row left out. Only ratios matter:
            weights are scaled to sum to the number of samples that count, and `eigenvalues_` is on that scale.
        """
        self._fit(X, sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit on X and return its scores, (n_samples, n_components_), without computing kernel values twice."""
        fitted = self._fit(X, sample_weight, scores=not is_remote(X))
        return self.transform(X) if fitted is None or is_remote(X) else fitted.scores

    def explain_plan(self, X: Any) -> Plan:
        """Tell how `fit(X)` would go, before anything large is allocated: the path and why, memory, time, and advice.

        The machine's speed is measured on a small piece of X. The time holds where the spectrum decays; slow spectra
        (narrow kernels on noise) take more passes. Print the plan to read it.
        """
        rows = clone(self)._check_rows(X, reset=True)
        kernel = as_kernel(self.kernel)
        callback: Any = None if isinstance(self.callback, str) and self.callback == "bar" else self.callback
        request = self._request(n_rows(rows), callback)
        approximation, exact = self._feature_map(), self._sketched(request, n_rows(rows))
        if not isinstance(kernel, Precomputed):
            if approximation is not None:
                return explain_features(approximation, kernel.resolve(rows), rows, request)
            return explain_rows(kernel.resolve(rows), rows, exact)
        if approximation is None:
            return plan_gram(self._gram(rows), exact)
        matrix = rows if is_block(rows) else self._gram(rows)
        return explain_columns(_of_columns(approximation), matrix, request)

    def transform(self, X: Any) -> np.ndarray:
        """(n, d) -> (n, n_components_): scores, the coordinates on orthonormal directions in feature space.

        With a precomputed kernel X is the (n, n_samples) matrix of kernel values with the training samples.
        """
        return self._scores(X)

    def residuals(self, X: Any, diagonal: Any = None) -> np.ndarray:
        """(n, d) -> (n,): squared distance of each mapped sample from the subspace: what the model leaves out.

        With a precomputed kernel, `diagonal` gives k(x, x) of each sample. For an indefinite kernel, which has no
        feature space with distances, they may be negative.
        """
        check_is_fitted(self)
        rows = self._check_rows(X, reset=False)
        if diagonal is not None:
            diagonal = check_array(diagonal, ensure_2d=False, dtype=np.float64, input_name="diagonal")
            if diagonal.shape != (n_rows(rows),):
                raise ValueError(
                    f"diagonal has shape {diagonal.shape}; one number for each of {n_rows(rows)} rows is needed."
                )
        if diagonal is not None:
            return self._decomposition.residuals(here(rows, "residuals"), diagonal)
        return apply(Decomposition.residuals, self._decomposition, None, np.float64, rows)

    @available_if(knows_own_similarity)
    def score_samples(self, X: Any) -> np.ndarray:
        """(n, d) -> (n,): minus the residuals; low values are outliers, as everywhere in scikit-learn."""
        return -self.residuals(X)

    @available_if(knows_own_similarity)
    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean of `score_samples`: higher is better, 0 is best.

        It compares models with the same kernel only: a wider kernel has less variance in all, so it always scores
        higher. To choose a kernel's parameters, score what follows in a pipeline, or the error of `denoise`.
        """
        return float(self.score_samples(X).mean())

    # the parts

    def _scores(self, X: Any) -> np.ndarray:
        """Return the scores as an array; `transform` may wrap them in the container that `set_output` chose."""
        check_is_fitted(self)
        rows = self._check_rows(X, reset=False)
        return apply(Decomposition.scores, self._decomposition, self.n_components_, dtype_of(rows), rows)

    def _fit(self, X: Any, sample_weight: Any, scores: bool = False) -> Fit | None:
        """Fit, or leave everything as it was: an error or an interrupt (Ctrl-C) must not leave half a model."""
        with attempt(self, X) as callback:
            return self._fit_anew(X, sample_weight, callback, scores)

    def _fit_anew(self, X: Any, sample_weight: Any, callback: Callback | None, scores: bool) -> Fit | None:
        """Fit; return what is known of the training rows, or None if some of them did not count."""
        training = self._check_training(X, sample_weight)
        learns = self.preimage is not None and as_preimage(self.preimage).learns
        request = replace(self._request(n_rows(training.rows), callback), scores=scores or learns)
        kept = keeps_rows(self.preimage, self._feature_map()) and not isinstance(training.rows, RemoteRows)
        request = request.beside(training.copied + (getattr(training.rows, "nbytes", 0) if kept else 0))
        fitted = self._decompose(training, request)
        if learns and request.expect is not None:
            operations = as_preimage(self.preimage).operations(*training.rows.shape)
            request.announce(operations / product_rate(8), "learning the way back")
        self._store(fitted, training)
        if not training.all_count:
            return None
        if scores:
            _ = fitted.scores  # they are kept, and belong to what the fit took
        return fitted

    def _check_training(self, X: Any, sample_weight: Any) -> Training:
        """Check data and weights, resolve the kernel, and leave out rows that do not count."""
        kernel = clone(as_kernel(self.kernel))  # setting parameters later must not change a fitted model
        rows = self._check_rows(X, reset=True)
        weights = check_weights(sample_weight, n_rows(rows))
        counted: Any = slice(None)
        given = rows
        if weights is not None:
            counted = weights > 0
            whole = isinstance(kernel, Precomputed) and not is_block(rows)
            rows = submatrix(rows, counted) if whole else counted_rows(rows, counted)
            weights = weights[counted] * (counted.sum() / weights.sum())
        n = n_rows(rows)
        if self.center and n < 2:
            raise ValueError(
                f"Only n_samples = {n} sample counts (1 sample with a positive weight): at least 2 are needed to "
                "center."
            )
        self.kernel_ = kernel.resolve(rows, weights)
        check_preimage(self.preimage, self.kernel_, self._feature_map(), rows)
        return Training(rows, weights, counted, copied=0 if rows is given else getattr(rows, "nbytes", 0))

    def _decompose(self, training: Training, request: Request) -> Fit:
        """Take the path that kernel and approximation ask for."""
        rows, weights, counted = training.rows, training.weights, training.counted
        approximation, exact = self._feature_map(), self._sketched(request, n_rows(rows))
        if approximation is not None and weights is not None:
            approximation = approximation.among(counted)
        if not isinstance(self.kernel_, Precomputed):
            if approximation is not None:
                return fit_features(approximation, self.kernel_, rows, request, weights)
            return fit_rows(self.kernel_, rows, exact, weights)
        if approximation is None:
            return fit_gram(self._gram(rows), exact, weights)
        matrix = rows if is_block(rows) else self._gram(rows)
        return fit_columns(_of_columns(approximation), matrix, request, weights)

    def _gram(self, rows: Any) -> Gram:
        """Return a given matrix as a Gram, or say what is wrong with it."""
        try:
            return as_gram(rows)
        except ValueError:
            check_numbers(self, rows, reset=False)  # says where NaN or infinity is, if it is that
            raise

    def _feature_map(self) -> FeatureMap | None:
        """Return the features that stand for the kernel, or None where its matrix is used."""
        part = None if self.approximation is None else as_approximation(self.approximation)
        return part if isinstance(part, FeatureMap) else None

    def _sketched(self, request: Request, n: int) -> Request:
        """Return what is asked of the matrix's decomposition: a sketch is a solver of its own."""
        part = None if self.approximation is None else as_approximation(self.approximation)
        if not isinstance(part, KernelSketch):
            return request
        if not (isinstance(request.solver, str) and request.solver == "auto"):
            raise ValueError(
                f"solver={request.solver!r} is not used with {part!r}, which has its own: leave solver='auto'."
            )
        return replace(request, solver=part.solver(n, request.components.count))

    def _request(self, n: int, callback: Callback | None = None) -> Request:
        """Check the parameters that are no parts, and gather what is asked of the decomposition."""
        check_common(callback, self.center)
        return Request(
            components=as_components(self.n_components, n),
            solver=self.solver,
            center=bool(self.center),
            tol=self.tol,
            memory_limit=self.memory_limit,
            rng=as_generator(self.random_state),
            callback=callback,
        )

    def _store(self, fitted: Fit, training: Training) -> None:
        """Keep what was fitted."""
        decomposition, rows = fitted.decomposition, training.rows
        n = training.n
        self._decomposition = decomposition
        self.eigenvalues_ = decomposition.eigenvalues
        self.n_components_ = len(self.eigenvalues_)
        self.explained_variance_ = self.eigenvalues_ / max(n - 1, 1)
        self.total_variance_ = decomposition.total / max(n - 1, 1)
        self.explained_variance_ratio_ = decomposition.ratio
        self.components_ = decomposition.W.T
        self.certificate_ = decomposition.certificate
        self.plan_ = fitted.plan
        certificate = decomposition.certificate
        nothing = not decomposition.eigenvalues.any() and decomposition.total <= certificate.rounding * n
        if nothing and certificate.grade != "rounded":
            warn(
                "All samples are the same point in feature space: there is no variance to find. Check the data, or the "
                "kernel's parameters (a gamma far too small makes all points alike)."
            )
        if not decomposition.positive_definite and fitted.plan.solver.indefinite not in ("keep", "clip"):
            warn_of_shares(self.eigenvalues_, decomposition.total, decomposition.certificate.rounding)
        self._inverse = make_inverse(self.preimage, self.kernel_, self._feature_map(), fitted, training)
        whole = isinstance(self.kernel_, Precomputed) and not is_block(rows)
        self._counted = None if training.all_count or not whole else training.counted

    def _check_rows(self, X: Any, *, reset: bool) -> Rows:
        """Return X as rows for the kernel, or say what is wrong with it."""
        kernel: Kernel = as_kernel(self.kernel) if reset else self.kernel_
        if reset:
            for name in ("n_features_in_", "feature_names_in_"):
                self.__dict__.pop(name, None)
        least = 2 if reset and self.center else 1
        if is_remote(X):
            return self._check_remote(X, kernel, reset=reset)
        if isinstance(kernel, Precomputed):
            return self._check_matrix(X, reset=reset, least=least)
        if kernel.domain == "text" or (kernel.domain == "any" and not _is_numeric(X)):
            return kernel.check(X)
        rows = check_numbers(self, X, reset=reset, sparse=kernel.takes_sparse or sparse.issparse(X), least_rows=least)
        return kernel.check(rows)

    def _check_remote(self, X: Any, kernel: Kernel, *, reset: bool) -> RemoteRows:
        if kernel.domain in ("precomputed", "text"):
            raise TypeError(
                f"kernel={kernel!r} does not work on Dask's collections: rows of numbers are needed. Bring it into "
                "memory with X.compute(), or choose a kernel of numbers such as 'rbf'."
            )
        rows = check_remote_rows(self, X, reset=reset)
        return kernel.check(rows) if reset else rows.checked_by(kernel)

    def _check_matrix(self, X: Any, *, reset: bool, least: int) -> Any:
        if reset and (isinstance(X, Gram | LinearOperator) or callable(X)):
            gram = as_gram(X)
            self.n_features_in_ = gram.shape[0]
            return gram
        square = reset and type(X) is np.ndarray and X.ndim == 2 and X.shape[0] == X.shape[1]
        with config_context(assume_finite=True) if square else nullcontext():  # which its check for symmetry tells
            K = check_numbers(self, X, reset=reset, least_rows=least)
        if reset and is_block(K):
            approximation = self._feature_map()
            if approximation is None or not approximation.spans_rows:
                as_gram(K)  # says what is wrong with it
        return K if reset or self._counted is None else K[:, self._counted]

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        try:
            kernel = as_kernel(self.kernel)
            tags.input_tags.pairwise = kernel.domain == "precomputed"
        except (TypeError, ValueError):  # reported by fit
            return tags
        tags.input_tags.sparse = kernel.takes_sparse and self.preimage is None
        tags.input_tags.positive_only = kernel.domain == "nonnegative"
        tags.input_tags.string = kernel.domain == "text"
        return tags


def _of_columns(approximation: FeatureMap) -> Nystrom:
    """Return an approximation that works on columns of a given matrix, or say which ones do."""
    if not isinstance(approximation, Nystrom):
        raise ValueError(
            f"{approximation!r} is a map of samples, and a kernel matrix was given: use approximation=Nystrom(...), "
            "which chooses among its columns, or KernelSketch(...)."
        )
    return approximation


def _is_numeric(X: Any) -> bool:
    return sparse.issparse(X) or as_samples(X).dtype.kind in "biufc"
