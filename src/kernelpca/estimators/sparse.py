"""Kernel PCA that keeps only the rows that matter."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from kernelpca.estimators.dual import Pursuit
from kernelpca.estimators.dual_kernel_pca import POINTS, DualKernelPCA, path_points
from kernelpca.estimators.exact import Fit
from kernelpca.estimators.kernel_pca import KernelPCA
from kernelpca.estimators.training import Training
from kernelpca.objectives import EpsilonInsensitive
from kernelpca.solvers.sparsity import zero_rows
from kernelpca.solvers.watch import Callback

SPARSITY = 0.5  # when neither epsilon nor a sparsity is given


class SparseKernelPCA(DualKernelPCA):
    """Kernel PCA whose directions are combinations of few training rows: the epsilon-insensitive objective.

    Rows whose scores are at most `epsilon` long do not count and are not kept: `transform` and the model itself shrink
    in proportion. The mean of the mapped rows, which involves all of them, is fitted on those that are kept;
    `certificate_` says by how much that can change scores. With an approximation the model keeps its landmarks or
    frequencies instead, and `support_` only tells which rows matter.

    Parameters
    ----------
    n_components : int, float, ("relative", eps) or None, default=2
        How many components; rules other than a number are applied to ordinary kernel PCA.
    kernel : str, Kernel or callable, default="rbf"
        What similarity means, as in `KernelPCA`; it must be positive definite.
    epsilon : float, str or None, default=None
        Scores up to this do not count: 0 for ordinary kernel PCA, or a fraction of the largest useful one such as
        "0.3max".
    sparsity : float or None, default=None
        Instead of epsilon: the part of the rows to leave out, from 0 to below 1. Half of them where neither is given.
    norm : {"2", "inf"}, default="2"
        Whether rows or entries of the dual variable become zero. Only rows that are zero as a whole can be left out:
        every direction is a combination of all columns, so that single zeros do not survive in `components_`.
    approximation, preimage, center, tol, memory_limit, random_state, callback
        As in `KernelPCA`; `tol` is also the wanted criticality of the dual solution.
    solver : str or Solver, default="auto"
        How the dual is solved: "auto" for `kernelpca.solvers.Dca`, or such an object.

    Attributes
    ----------
    epsilon_, epsilon_max_ : float
        What was used, and the least that leaves nothing of the square solution.
    support_ : ndarray of shape (n_support,)
        Numbers of the training rows that matter.
    sparsity_, entry_sparsity_ : float
        The part of zero rows of the dual variable, by their weights, and of zero entries.
    dual_coef_ : ndarray of shape (n_support, n_components_)
        The dual variable of those rows.
    components_ : ndarray of shape (n_components_, n_support)
        Each direction's coefficients over the rows that are kept.
    objective_ : EpsilonInsensitive
        What was maximized.
    certificate_ : DualCertificate
        How nearly critical the solution is, and how exact the mean.
    eigenvalues_, explained_variance_, explained_variance_ratio_, kernel_, n_components_, plan_, preimage_
        As in `KernelPCA`.

    References
    ----------
    Tonin, Lambert, Patrinos, Suykens (2023), Extending kernel PCA through dualization: sections 4 and 5.3.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelpca import SparseKernelPCA
    >>> X = load_digits(return_X_y=True)[0][:500]
    >>> model = SparseKernelPCA(n_components=3, sparsity=0.6).fit(X)
    >>> len(model.support_), model.components_.shape
    (200, (3, 200))
    """

    def __init__(
        self,
        n_components: Any = 2,
        *,
        kernel: Any = "rbf",
        epsilon: float | str | None = None,
        sparsity: float | None = None,
        norm: str = "2",
        approximation: Any = None,
        solver: Any = "auto",
        preimage: Any = None,
        center: bool = True,
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
        self.epsilon = epsilon
        self.sparsity = sparsity
        self.norm = norm

    def epsilon_path(self, X: Any, epsilons: Any = POINTS, sample_weight: Any = None) -> list[Self]:
        """Fit a model for each epsilon, each from the solution of the one before; kernel values are worked out once.

        Parameters
        ----------
        X : array-like
            The data, as for `fit`.
        epsilons : int or list of float or str, default=10
            How many fractions of the largest useful epsilon (from 0 up), or the values, in the order in which they are
            solved: from small to large is fast.
        sample_weight : array-like of shape (n_samples,), optional
            As for `fit`.
        """
        points = path_points(epsilons, "epsilon")
        if points and isinstance(points[0], str) and np.ndim(epsilons) == 0:
            points = [0.0, *points[:0:-1]]
        objectives = [EpsilonInsensitive(epsilon, self.norm) for epsilon in points]
        parameters = [{"epsilon": epsilon, "sparsity": None} for epsilon in points]
        return self._path(X, parameters, objectives, sample_weight)

    # the parts

    def _pursuit(self) -> Pursuit | None:
        sparsity = self.sparsity
        if sparsity is not None:
            if self.epsilon is not None:
                raise ValueError(
                    f"epsilon={self.epsilon!r} and sparsity={sparsity!r} both say how many rows are left out: give "
                    "one of them, and None for the other."
                )
            if isinstance(sparsity, bool) or not isinstance(sparsity, int | float | np.number) or not 0 <= sparsity < 1:
                raise ValueError(
                    f"sparsity={sparsity!r}: give the part of the rows to leave out, from 0 to below 1, such as 0.6."
                )
        elif self.epsilon is None:
            sparsity = SPARSITY
        epsilon = 0.0 if self.epsilon is None else self.epsilon
        return Pursuit((EpsilonInsensitive(epsilon, self.norm),), self.solver, sparsity, reduce=True)

    def _store(self, fitted: Fit, training: Training) -> None:
        super()._store(fitted, training)
        dual = fitted.dual
        assert dual is not None
        self.epsilon_, self.epsilon_max_ = float(dual.objective.epsilon), dual.largest
        rows = np.flatnonzero(~zero_rows(dual))
        self.support_ = training.numbers[rows]
        self.sparsity_ = float(np.average(zero_rows(dual), weights=training.weights))
        self.entry_sparsity_ = float((dual.H == 0).mean())
        self.dual_coef_ = self.dual_coef_[self.support_]
