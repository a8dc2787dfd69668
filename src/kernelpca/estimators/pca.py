"""Linear PCA for every shape of data, as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from kernelpca.estimators.attempt import attempt
from kernelpca.estimators.axes import (
    N_FEATURES,
    Axes,
    approximate_axes,
    choose_method,
    exact_axes,
    factorized_axes,
)
from kernelpca.estimators.components import as_components
from kernelpca.estimators.elsewhere import apply, check_remote_rows, check_remote_scores
from kernelpca.estimators.exact import Request
from kernelpca.estimators.linear import BLOCK_SIZE, CenteredRows, DenseRows, SparseRows, centered_rows, fix_signs
from kernelpca.estimators.remote_linear import distant_rows
from kernelpca.features.projections import Downsample, GaussianProjection, Projection
from kernelpca.memory import granted_bytes
from kernelpca.parts import explain_unknown
from kernelpca.persistence.savable import Savable
from kernelpca.remote import RemoteRows, is_remote
from kernelpca.solvers import Dense
from kernelpca.solvers.watch import Callback
from kernelpca.tiles import blocks
from kernelpca.validation import as_generator, check_common, check_numbers, check_scores, check_weights
from kernelpca.warn import warn

METHODS = ("auto", "svd", "covariance", "dot", "downsample", "project")


@dataclass(frozen=True)
class Subspace:
    """Orthonormal directions (k, d) through a point (d,): how rows are projected and come back."""

    components: np.ndarray
    mean: np.ndarray
    elsewhere: None = None

    def with_anchors(self, anchors: Any) -> Subspace:
        """Return the same: it has no rows of its own."""
        return self

    def rows(self, X: Any) -> CenteredRows:
        """Return rows about the mean."""
        return (SparseRows if sparse.issparse(X) else DenseRows)(X, self.mean)

    def scores(self, X: Any) -> np.ndarray:
        """(n, d) -> (n, k)."""
        return self.rows(X).times(self.components).astype(X.dtype, copy=False)

    def points(self, Z: np.ndarray) -> np.ndarray:
        """(n, k) -> (n, d): the points that have these scores."""
        points = np.empty((len(Z), len(self.mean)), Z.dtype)
        for cols in blocks(points.shape[1], max(BLOCK_SIZE // len(Z), 1)):
            points[:, cols] = Z @ self.components[:, cols] + self.mean[cols]
        return points

    def residuals(self, X: Any) -> np.ndarray:
        """(n, d) -> (n,): squared distances."""
        rows, C = self.rows(X), self.components
        if sparse.issparse(X):
            return np.maximum(rows.squares(1) - np.square(rows.times(C), dtype=np.float64).sum(axis=1), 0.0)
        distances = np.empty(len(X))
        for part in blocks(len(X), max(BLOCK_SIZE // X.shape[1], 1)):
            left = rows.tile(part, slice(None)).astype(C.dtype, copy=False)
            left -= (left @ C.T) @ C
            distances[part] = np.square(left, dtype=np.float64).sum(axis=1)
        return distances


class PCA(Savable, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Principal component analysis: the directions of largest variance, for every shape of data.

    Parameters
    ----------
    n_components : int, float, ("relative", eps) or None, default=None
        How many components: that many; the smallest number that keeps this fraction of the variance; all with
        eigenvalues above eps times the first; or all that are positive.
    method : {"auto", "svd", "covariance", "dot", "downsample", "project"}, default="auto"
        "covariance" decomposes the (n_features, n_features) matrix, "dot" the (n_samples, n_samples) one; "auto" takes
        the smaller, or neither, multiplying by it only, where it would not fit into memory or take far longer than the
        few components wanted. "svd" factorizes the rows themselves, which keeps twice the digits of small components.
        "downsample" and "project" are approximate: dot products are taken of images made smaller, or of projected
        rows.
    n_features : int, optional
        To how many features the approximate methods reduce a row: the more, the nearer to exact. 500 or ten for each
        component, when not given.
    projection : Projection, optional
        How they do it: `Downsample(shape)` for "downsample"; any of `kernelpca.features.projections` for "project",
        where `GaussianProjection()` is the default.
    center : bool, default=True
        Whether the mean is taken off.
    tol : float, default=1e-4
        Wanted relative residual of every component, where an iterative solver is used; 0 for machine precision.
    memory_limit : int, str or None, default=None
        Memory that the fit may use beside X, in bytes or as "4GB"; half of what is free when not given.
    random_state : int, Generator, RandomState or None, default=None
        Seed of random projections and starts; None is a fixed seed, so that fits repeat.
    callback : callable, "bar" or None, default=None
        Told a `kernelpca.solvers.Progress` after each pass of an iterative solver; if it returns True the fit stops.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components_,)
        Sums of squares of the scores, largest first: eigenvalues of the covariance matrix times n_samples, and of the
        matrix of dot products. For approximate methods they are what the components capture, never above the
        exact ones; those of the small matrix, which algorithms 3 and 4 return, may be.
    explained_variance_ : ndarray of shape (n_components_,)
        Eigenvalues over n_samples - 1.
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        As fractions of the whole variance, kept or not.
    total_variance_ : float
        The whole variance.
    components_ : ndarray of shape (n_components_, n_features)
        Orthonormal directions; in each the entry of largest size is positive, as in scikit-learn.
    mean_ : ndarray of shape (n_features,)
        What was taken off, in float64; zeros without centering.
    n_components_ : int
        How many components were kept.
    method_ : str
        The method that was used; "matrix-free" where "auto" made neither matrix.
    certificate_ : Certificate
        How far from exact PCA this answer can be.
    plan_ : Plan
        Which path was taken and why.
    n_features_in_ : int
        Number of features seen in fit.

    Notes
    -----
    X is neither copied nor changed, sparse rows stay sparse, and no (n_features, n_features) matrix is made where
    n_features > n_samples, unless asked for.

    References
    ----------
    Marukatat (2022), Tutorial on PCA and approximate PCA and approximate kernel PCA: algorithm 1 ("covariance"), 2
    ("dot"), 3 ("downsample") and 4 ("project"). García-González et al. (2021), A kernel PCA digest, 2.1 to 2.5.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelpca.estimators.pca import PCA
    >>> X, _ = load_digits(return_X_y=True)
    >>> model = PCA(n_components=0.9).fit(X)
    >>> model.n_components_, model.method_
    (21, 'covariance')
    """

    def __init__(
        self,
        n_components: Any = None,
        *,
        method: str = "auto",
        n_features: int | None = None,
        projection: Projection | None = None,
        center: bool = True,
        tol: float = 1e-4,
        memory_limit: int | float | str | None = None,
        random_state: Any = None,
        callback: Callback | str | None = None,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.n_features = n_features
        self.projection = projection
        self.center = center
        self.tol = tol
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.callback = callback

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the components of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The data.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            Relative weights. A weight of 2 counts like a row given twice, 0 like a row left out. Only ratios matter:
            weights are scaled to sum to the number of samples that count, and `eigenvalues_` is on that scale.
        """
        self._fit(X, sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit on X and return its scores, (n_samples, n_components_)."""
        return self._scores(self._fit(X, sample_weight))

    def transform(self, X: Any) -> np.ndarray:
        """(n, d) -> (n, n_components_): scores, the coordinates on the components."""
        return self._scores(self._check(X))

    def inverse_transform(self, Z: Any) -> np.ndarray:
        """(n, n_components_) -> (n, d): the points of the subspace that have these scores."""
        check_is_fitted(self)
        if is_remote(Z):
            Z, _ = check_remote_scores(Z, None, self.n_components_, self.n_features_in_)
        else:
            Z = check_scores(Z, self.n_components_)
        return apply(Subspace.points, self._subspace, self.n_features_in_, Z.dtype, Z)

    def denoise(self, X: Any) -> np.ndarray:
        """(n, d) -> (n, d): the points of the subspace that are nearest to the samples."""
        return self.inverse_transform(self._scores(self._check(X)))

    def residuals(self, X: Any) -> np.ndarray:
        """(n, d) -> (n,): squared distance of each sample from the subspace: what the model leaves out."""
        rows = self._check(X)
        return apply(Subspace.residuals, self._subspace, None, np.float64, rows)

    def score_samples(self, X: Any) -> np.ndarray:
        """(n, d) -> (n,): minus the residuals; low values are outliers, as everywhere in scikit-learn."""
        return -self.residuals(X)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean of `score_samples`: higher is better, 0 is best."""
        return float(self.score_samples(X).mean())

    # the parts

    @property
    def _subspace(self) -> Subspace:
        return Subspace(self.components_, self.mean_)

    def _check(self, X: Any) -> Any:
        check_is_fitted(self)
        if is_remote(X):
            return check_remote_rows(self, X, reset=False)
        return check_numbers(self, X, reset=False, sparse=True)

    def _scores(self, X: Any) -> np.ndarray:
        return apply(Subspace.scores, self._subspace, self.n_components_, X.dtype, X)

    def _fit(self, X: Any, sample_weight: Any) -> Any:
        """Fit, or leave everything as it was; return the rows as they were checked."""
        with attempt(self, X) as callback:
            return self._fit_anew(X, sample_weight, callback)

    def _fit_anew(self, X: Any, sample_weight: Any, callback: Callback | None) -> Any:
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        self._check_parameters(callback)
        if is_remote(X):
            X = check_remote_rows(self, X, reset=True)
        else:
            X = check_numbers(self, X, reset=True, sparse=True, least_rows=2 if self.center else 1)
        weights = check_weights(sample_weight, X.shape[0])
        n = X.shape[0]
        if weights is not None:
            n = int((weights > 0).sum())
            weights = weights * (n / weights.sum())
        if self.center and n < 2:
            raise ValueError(f"Only n_samples = {n} sample counts (has a positive weight): 2 are needed to center.")
        request = self._request(n, X.shape[1], callback)
        centered = distant_rows if isinstance(X, RemoteRows) else centered_rows
        rows = centered(X, weights, bool(self.center))
        axes = self._find(rows, request)
        fix_signs(axes.components)
        self._store(axes, rows, n)
        self.plan_ = axes.plan
        return X

    def _check_parameters(self, callback: Callback | None) -> None:
        """Refuse what has no meaning, whatever the data."""
        check_common(callback, self.center)
        if not (isinstance(self.method, str) and self.method in METHODS):
            raise ValueError(f"method={self.method!r} is not known: choose one of {', '.join(METHODS)}.")
        Dense().check_parameters(self.tol)
        approximate = self.method in ("downsample", "project")
        for name in ("n_features", "projection"):
            if getattr(self, name) is not None and not approximate:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} is for approximate PCA only, but method={self.method!r} is "
                    f"exact. Set method='project' (or 'downsample'), or leave {name} out."
                )
        if self.n_features is not None and (
            not isinstance(self.n_features, Integral) or isinstance(self.n_features, bool) or self.n_features < 1
        ):
            raise ValueError(
                f"n_features={self.n_features!r}: give a whole number of at least 1, such as {N_FEATURES}, or None."
            )
        if self.method == "downsample" and not isinstance(self.projection, Downsample):
            raise ValueError(
                f"method='downsample' with projection={self.projection!r}: the shape of the images must be known. Give "
                "projection=Downsample((height, width)), or use method='project'."
            )
        if self.projection is not None and not isinstance(self.projection, Projection):
            known = ("GaussianProjection", "FeatureHashing", "SparseProjection", "Downsample", "FeatureGrouping")
            raise TypeError(explain_unknown(self.projection, "projection", "kernelpca.features.projections", known, {}))

    def _request(self, n: int, d: int, callback: Callback | None) -> Request:
        """Gather what is asked of the decomposition of n rows (that count) of d features."""
        wanted = self.n_components
        if (
            isinstance(wanted, Integral)
            and not isinstance(wanted, bool | np.bool_)
            and not 1 <= int(wanted) <= min(n, d)
        ):
            raise ValueError(
                f"n_components={wanted} is not possible with n_samples = {n} and n_features = {d}: give an int from 1 "
                f"to {min(n, d)}, a fraction of the variance such as 0.95, or None for all."
            )
        return Request(
            components=as_components(wanted, min(n, d)),
            center=False,
            tol=self.tol,
            memory_limit=granted_bytes(self.memory_limit),
            rng=as_generator(self.random_state),
            callback=callback,
        )

    def _find(self, rows: CenteredRows, request: Request) -> Axes:
        """Find the axes by the method that was asked for, or by the one that suits the shape."""
        by = "covariance" if rows.shape[0] > rows.shape[1] else "dot"
        if self.method in ("downsample", "project"):
            projection = GaussianProjection() if self.projection is None else clone(self.projection)
            return approximate_axes(rows, projection, self.n_features, request, self.method)
        if self.method == "svd":
            return factorized_axes(rows, by, request)
        if self.method in ("covariance", "dot"):
            return exact_axes(rows, self.method, request, self.method, f"method={self.method!r} was asked for")
        return exact_axes(rows, by, request, *choose_method(rows, by, request))

    def _store(self, axes: Axes, rows: CenteredRows, n: int) -> None:
        self.components_ = axes.components
        self.eigenvalues_ = axes.values
        self.n_components_ = len(axes.values)
        self.explained_variance_ = axes.values / max(n - 1, 1)
        self.total_variance_ = axes.total / max(n - 1, 1)
        self.explained_variance_ratio_ = axes.values / axes.total if axes.total > 0 else np.zeros_like(axes.values)
        self.mean_ = rows.mean
        self.certificate_ = axes.certificate
        self.method_ = axes.plan.path
        if not axes.values.any():
            warn("All samples are the same point: there is no variance to find. Check the data.")

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = True
        return tags
