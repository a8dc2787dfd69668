"""Kernel PCA that outliers do not ruin."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import OutlierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from kernelpca.decomposition import Decomposition
from kernelpca.estimators.dual import Pursuit
from kernelpca.estimators.dual_kernel_pca import POINTS, DualKernelPCA, path_points
from kernelpca.estimators.elsewhere import apply
from kernelpca.estimators.exact import Fit
from kernelpca.estimators.kernel_pca import KernelPCA, knows_own_similarity
from kernelpca.estimators.training import Training
from kernelpca.kernels.custom import Precomputed
from kernelpca.objectives import Huber
from kernelpca.quantile import limit_between, quantile
from kernelpca.solvers.watch import Callback
from kernelpca.warn import warn

HALF = 0.5  # of a row: where all count less, kappa is taken for too small
RESIDUE = 1000  # eps of the squared distances from the mean: residuals below it are rounding
FENCE = 1.5  # interquartile ranges above the upper quartile of the residuals, beyond which a row is an outlier


class RobustKernelPCA(OutlierMixin, DualKernelPCA):
    """Kernel PCA in which rows with large scores count less: Huber's objective instead of the variance.

    Rows count by the square of their scores as long as these are small, and only in proportion to them beyond `kappa`.
    A row that is far enough away still has its way, and the mean in feature space is the ordinary one. Models also tell
    outliers: `score_samples` and `predict` by the distance from the subspace, `outlier_weights_` by how much a training
    row was limited. With kernels that fall off with distance (RBF) isolated rows have small scores, and it is the
    former that finds them; with the linear kernel both do.

    Parameters
    ----------
    n_components : int, float, ("relative", eps) or None, default=2
        How many components; rules other than a number are applied to ordinary kernel PCA.
    kernel : str, Kernel or callable, default="rbf"
        What similarity means, as in `KernelPCA`; it must be positive definite.
    kappa : float or str, default="0.8max"
        The limit: a positive number, or a fraction of the largest useful one (`kappa_max_`), from which on this is
        ordinary kernel PCA.
    norm : {"2", "1", "fro"}, default="2"
        What is limited: the length of each row of the dual variable, each of its entries, or its length as a whole
        (which leaves the directions as they are). With "2" the optimum found can mostly be proved global.
    approximation, preimage, center, tol, memory_limit, random_state, callback
        As in `KernelPCA`; `tol` is also the wanted criticality of the dual solution.
    solver : str or Solver, default="auto"
        How the dual is solved: "auto" for `kernelpca.solvers.Dca`, or such an object.
    contamination : float or "auto", default="auto"
        For `predict`: the part of the training rows that are outliers, at most 0.5; or "auto" for those whose distance
        from the subspace is more than one and a half interquartile ranges above the upper quartile.

    Attributes
    ----------
    kappa_, kappa_max_ : float
        The limit, and the least that limits nothing.
    outlier_weights_ : ndarray of shape (n_samples,)
        How much of each training row counts: 1 where it is not limited, less for outliers; NaN for rows of weight zero.
    offset_ : float
        `decision_function` is `score_samples` less this.
    dual_coef_ : ndarray of shape (n_samples, n_components_)
        The dual variable.
    objective_ : Huber
        What was maximized.
    certificate_ : DualCertificate
        How nearly critical the solution is, and whether it is known to be global.
    eigenvalues_, explained_variance_, explained_variance_ratio_, components_, kernel_, n_components_, plan_, preimage_
        As in `KernelPCA`.

    References
    ----------
    Tonin, Lambert, Patrinos, Suykens (2023), Extending kernel PCA through dualization: sections 4 and 5.2.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpca import RobustKernelPCA
    >>> X = np.random.default_rng(0).standard_normal((100, 2)) * [1.0, 0.1]
    >>> X[:3] = [[0.0, 9.0], [0.5, 11.0], [-0.5, 10.0]]
    >>> model = RobustKernelPCA(n_components=1, kernel="linear", kappa="0.2max", contamination=0.03).fit(X)
    >>> print(np.flatnonzero(model.predict(X) == -1), model.outlier_weights_[:3].max() < 1)
    [0 1 2] True
    """

    def __init__(
        self,
        n_components: Any = 2,
        *,
        kernel: Any = "rbf",
        kappa: float | str = "0.8max",
        norm: str = "2",
        approximation: Any = None,
        solver: Any = "auto",
        preimage: Any = None,
        center: bool = True,
        contamination: float | str = "auto",
        tol: float = 1e-4,
        memory_limit: int | float | str | None = None,
        random_state: Any = None,
        callback: Callback | str | None = None,
    ) -> None:
        KernelPCA.__init__(
            self,
            n_components,
            kernel=kernel,
            approximation=approximation,
            solver=solver,
            preimage=preimage,
            center=center,
            tol=tol,
            memory_limit=memory_limit,
            random_state=random_state,
            callback=callback,
        )
        self.kappa = kappa
        self.norm = norm
        self.contamination = contamination

    def kappa_path(self, X: Any, kappas: Any = POINTS, sample_weight: Any = None) -> list[Self]:
        """Fit a model for each kappa, each from the solution of the one before; kernel values are worked out once.

        Parameters
        ----------
        X : array-like
            The data, as for `fit`.
        kappas : int or list of float or str, default=10
            How many fractions of the largest useful kappa, or the values, in the order in which they are solved: from
            large to small is fast.
        sample_weight : array-like of shape (n_samples,), optional
            As for `fit`.
        """
        points = path_points(kappas, "kappa")
        objectives = [Huber(kappa, self.norm) for kappa in points]
        return self._path(X, [{"kappa": kappa} for kappa in points], objectives, sample_weight)

    @available_if(knows_own_similarity)
    def decision_function(self, X: Any) -> np.ndarray:
        """(n, d) -> (n,): `score_samples` less `offset_`; negative for outliers."""
        return self.score_samples(X) - self.offset_

    @available_if(knows_own_similarity)
    def predict(self, X: Any) -> np.ndarray:
        """(n, d) -> (n,): 1 for inliers, -1 for outliers: rows farther from the subspace than `offset_` allows."""
        check_is_fitted(self)
        return np.where(self.decision_function(X) < 0, -1, 1)

    @available_if(knows_own_similarity)
    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> np.ndarray:
        """Fit on X and tell its outliers: (n,) of 1 and -1."""
        return self.fit(X, **kwargs).predict(X)

    # the parts

    def _pursuit(self) -> Pursuit | None:
        part = self.contamination
        auto = isinstance(part, str) and part == "auto"
        if not auto and not (isinstance(part, float | np.floating) and 0 < part <= 0.5):
            raise ValueError(
                f"contamination={part!r}: give the part of the training rows that are outliers, above 0 and at most "
                f"0.5, "
                'or "auto".'
            )
        return Pursuit((Huber(self.kappa, self.norm),), self.solver)

    def _store(self, fitted: Fit, training: Training) -> None:
        super()._store(fitted, training)
        dual = fitted.dual
        assert dual is not None
        self.kappa_, self.kappa_max_ = float(dual.objective.kappa), dual.largest
        limited = np.minimum(dual.shares, 1.0)
        self.outlier_weights_ = training.spread(limited)
        if limited.max() < HALF and self.norm != "fro":
            warn(
                f"kappa={self.kappa_:.4g} takes all {len(limited)} rows for outliers: none counts by more than "
                f"{limited.max():.2g}, and a smaller kappa would change little more than a factor. Raise it; it "
                f"limits nothing from {self.kappa_max_:.4g} on."
            )
        self.__dict__.pop("offset_", None)  # of an earlier fit
        if isinstance(self.kernel_, Precomputed):
            return
        residuals = fitted.residuals
        if residuals is None:
            model = fitted.decomposition
            residuals = np.asarray(apply(Decomposition.residuals, model, None, np.float64, training.rows))
        level = RESIDUE * float(np.finfo(fitted.scores.dtype).eps)
        level *= float((residuals + np.square(fitted.scores).sum(axis=1)).max())
        if isinstance(self.contamination, str):
            lower, upper = (quantile(residuals, part, training.weights) for part in (0.25, 0.75))
            limit = upper + FENCE * (upper - lower)
        else:
            limit = limit_between(residuals, 1 - self.contamination, training.weights)
        self.offset_ = -max(limit, level)
