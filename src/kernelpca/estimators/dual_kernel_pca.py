"""Kernel PCA for objectives other than the variance, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from kernelpca.estimators.attempt import attempt
from kernelpca.estimators.dual import Pursuit, with_pursuit
from kernelpca.estimators.exact import Fit, Request
from kernelpca.estimators.kernel_pca import KernelPCA
from kernelpca.estimators.plan import Plan
from kernelpca.estimators.training import Training
from kernelpca.kernels.base import n_rows
from kernelpca.objectives import Objective, Square
from kernelpca.solvers.watch import Callback

POINTS = 10  # of a path, when no values are given


class DualKernelPCA(KernelPCA):
    """Kernel PCA that maximizes an objective of your choice, solved through its dual.

    It starts from ordinary kernel PCA and goes on from there; transform, pre-images, explained variance and all else
    are as in `KernelPCA`. `RobustKernelPCA` and `SparseKernelPCA` are this with the paper's objectives.

    Parameters
    ----------
    n_components : int, float, ("relative", eps) or None, default=2
        How many components; rules other than a number are applied to ordinary kernel PCA.
    objective : Objective or None, default=None
        What to maximize: an object of `kernelpca.objectives`, or of a class of your own with three methods; None for
        the variance.
    kernel, approximation, preimage, center, tol, memory_limit, random_state, callback
        As in `KernelPCA`; `tol` is also the wanted criticality of the dual solution.
    solver : str or Solver, default="auto"
        How the dual is solved: "auto" for `kernelpca.solvers.Dca`, or such an object.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples, n_components_)
        The dual variable H; zero for rows of weight zero.
    objective_ : Objective
        What was maximized, with every parameter a number.
    certificate_ : DualCertificate
        How nearly critical the solution is, and whether it is known to be global.
    eigenvalues_ : ndarray of shape (n_components_,)
        Sums of squares of the training scores, by principal axes: what they are in `KernelPCA`.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpca import DualKernelPCA
    >>> from kernelpca.objectives import Objective
    >>> class Half(Objective):
    ...     "f = 1/4 |.|^2, from Psi = Psi* = 1/2 |.|^2: the directions are those of the variance."
    ...     def value(self, Y):
    ...         return 0.5 * np.vdot(Y, Y)
    ...     def conjugate(self, H):
    ...         return 0.5 * np.vdot(H, H)
    ...     def prox_conjugate(self, Y):
    ...         return Y / 2
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> model = DualKernelPCA(n_components=2, objective=Half()).fit(X)
    >>> model.certificate_.scope
    'local'
    """

    def __init__(
        self,
        n_components: Any = 2,
        *,
        objective: Objective | None = None,
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
        super().__init__(
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
        self.objective = objective

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of parts (`objective__kappa`)."""
        nested = next((name for name in params if name.startswith("objective__")), None)
        if nested and params.get("objective", getattr(self, "objective", None)) is None:
            raise ValueError(f"{nested} cannot be set: objective is None. Give an object such as Huber() first.")
        return super().set_params(**params)

    def explain_plan(self, X: Any) -> Plan:
        """Tell how `fit(X)` would go: the path of ordinary kernel PCA, and what follows it."""
        plan = super().explain_plan(X)
        rows = clone(self)._check_rows(X, reset=True)
        n = n_rows(rows)
        request = self._request(n)
        return with_pursuit(plan, request.pursuit, n, request.components.first_guess(n))

    def path(self, X: Any, objectives: Iterable[Objective], sample_weight: Any = None) -> list[Self]:
        """Fit a model for each of some objectives, each from the solution of the one before.

        Kernel values and ordinary kernel PCA are worked out once.

        Parameters
        ----------
        X : array-like
            The data, as for `fit`.
        objectives : iterable of Objective
            In the order in which they are to be solved.
        sample_weight : array-like of shape (n_samples,), optional
            As for `fit`.
        """
        given = list(objectives)
        return self._path(X, [{"objective": objective} for objective in given], given, sample_weight)

    # the parts

    def _pursuit(self) -> Pursuit | None:
        """Return what is maximized instead of the variance; None for the variance."""
        if self.objective is None or isinstance(self.objective, Square):
            return None
        if not isinstance(self.objective, Objective):
            raise TypeError(
                f"objective={self.objective!r} is no objective: give an object of kernelpca.objectives such as "
                "Huber(), or None for the variance."
            )
        return Pursuit((self.objective,), self.solver)

    def _request(self, n: int, callback: Callback | None = None) -> Request:
        pursuit = self._pursuit()
        if pursuit is None:
            return super()._request(n, callback)
        for objective in pursuit.objectives:
            objective.check()
        solver = pursuit.dual_solver
        if not solver.any_objective:
            raise ValueError(solver.refusal(pursuit.objectives[0]))
        solver.check_parameters(self.tol)
        return replace(super()._request(n, callback), solver="auto", pursuit=pursuit)

    def _store(self, fitted: Fit, training: Training) -> None:
        super()._store(fitted, training)
        if fitted.dual is None:
            self.objective_: Objective = Square()
            self.__dict__.pop("dual_coef_", None)  # of an earlier fit
            return
        self.objective_ = fitted.dual.objective
        self.dual_coef_ = training.spread(fitted.dual.H.astype(fitted.decomposition.W.dtype), 0.0)

    def _path(
        self, X: Any, parameters: list[dict[str, Any]], objectives: list[Objective], sample_weight: Any
    ) -> list[Self]:
        """Fit one model for each set of parameters, whose objectives are given in the same order."""
        if not objectives:
            return []
        first = clone(self).set_params(**parameters[0])
        with attempt(first, X) as callback:
            training = first._check_training(X, sample_weight)
            request = first._request(n_rows(training.rows), callback)
            if request.pursuit is None:
                raise ValueError(
                    "A path needs objectives other than the variance, such as Huber() with different kappa."
                )
            for objective in objectives:
                objective.check()
            pursuit = replace(request.pursuit, objectives=tuple(objectives))
            fits = first._decompose(training, replace(request, scores=True, pursuit=pursuit)).path
        models = []
        for given, fit in zip(parameters, fits, strict=True):
            model = clone(self).set_params(**given)
            for name in ("kernel_", "n_features_in_", "feature_names_in_"):
                if hasattr(first, name):
                    setattr(model, name, getattr(first, name))
            model._store(fit, training)
            models.append(model)
        return models


def path_points(given: Any, name: str) -> list[Any]:
    """Return the values of a path: those given, or so many fractions of the largest useful one, largest first."""
    many = isinstance(given, Integral) and not isinstance(given, bool)
    if isinstance(given, str) or not (many or isinstance(given, Iterable)) or (many and given < 1):
        raise ValueError(f"{name}s={given!r}: give how many values, at least 1, or a list of the values themselves.")
    if many:
        return [f"{fraction:.4g}max" for fraction in np.linspace(1.0, 0.0, given, endpoint=False)]
    return list(given)
