"""One estimator with every number of components: by one fit, where the first components of many are those of few."""

from __future__ import annotations

import re
from copy import copy
from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np
from sklearn.base import clone

from kernelpca.decomposition import Decomposition
from kernelpca.estimators import PCA, DualKernelPCA, InvertibleKernelPCA, KernelPCA
from kernelpca.estimators.invertible import N_FEATURES
from kernelpca.estimators.way_back import Inverse
from kernelpca.kernels import as_kernel
from kernelpca.kernels.base import n_rows
from kernelpca.objectives import Square

ALONG = ("eigenvalues_", "explained_variance_", "explained_variance_ratio_", "components_")  # one for each component


class Family:
    """An estimator fitted on some rows, with as many components as asked for or with fewer.

    Parameters
    ----------
    estimator : KernelPCA or its kin
        It is cloned.
    rows : rows
        To fit on.
    most : int or None
        The largest number of components; None for what the estimator says.

    Attributes
    ----------
    whole : estimator
        The largest of them.
    size : int
        How many components it has.
    """

    def __init__(self, estimator: Any, rows: Any, most: int | None = None) -> None:
        self.estimator, self.rows = estimator, rows
        self.nested = is_nested(estimator)
        self.whole = self._fitted(most)
        self.size: int = self.whole.n_components_

    def first(self, k: int) -> Any:
        """Return the model with k components."""
        if k == self.size:
            return self.whole
        return truncated(self.whole, k, self.rows) if self.nested else self._fitted(k)

    def _fitted(self, k: int | None) -> Any:
        model = clone(self.estimator)
        if k is not None:
            model.set_params(n_components=k)
        return model.fit(self.rows)


def with_known_width(estimator: Any, rows: Any) -> Any:
    """Return an estimator whose kernel has numbers where it had rules such as "scale", so that folds do not differ."""
    if not isinstance(estimator, KernelPCA):
        return estimator
    kernel = as_kernel(estimator.kernel)
    return clone(estimator).set_params(kernel=clone(kernel).resolve(kernel.check(rows)))


def largest_size(estimator: Any, rows: Any) -> int:
    """Return how many components such rows can have."""
    n = n_rows(rows)
    if isinstance(estimator, PCA):
        return min(n, rows.shape[1])
    if isinstance(estimator, InvertibleKernelPCA):
        return min(n, _features_of(estimator, rows.shape[1]))
    features = estimator._feature_map() if isinstance(estimator, KernelPCA) else None
    return n if features is None else min(n, features.size_of(n))


def _features_of(estimator: InvertibleKernelPCA, d: int) -> int:
    """Return how many features the last layer has; what is no number of them is refused by the fit."""
    given = estimator._stack()[-1]["n_features"]
    return int(given) if isinstance(given, int | np.integer) and given > 0 else max(N_FEATURES, 2 * d)


def is_nested(estimator: Any) -> bool:
    """Whether the first components of a larger model are those of a smaller one.

    So it is where the variance is maximized; other objectives (Huber's, the epsilon-insensitive one) judge all
    components of a row at once, and every number of them is a fit of its own.
    """
    if not isinstance(estimator, DualKernelPCA):
        return True
    return type(estimator) is DualKernelPCA and (estimator.objective is None or isinstance(estimator.objective, Square))


@singledispatch
def truncated(model: Any, k: int, rows: Any) -> Any:
    """Return a fitted model with its first k components only, which shares everything else with the one given.

    Its certificate and plan are those of the whole. A pre-image that is learned is learned anew, from the training
    `rows` (n, d).
    """
    raise TypeError(refusal(model))


@truncated.register
def _(model: KernelPCA, k: int, rows: Any) -> KernelPCA:
    small = _along(model, k)
    small._decomposition = first(model._decomposition, k)
    small._inverse = None if model._inverse is None else _way_back(model, small._decomposition, rows)
    return small


@truncated.register
def _(model: PCA, k: int, rows: Any) -> PCA:
    return _along(model, k)


@truncated.register
def _(model: InvertibleKernelPCA, k: int, rows: Any) -> InvertibleKernelPCA:
    small = _along(model, k)
    small.layers_ = [*model.layers_[:-1], truncated(model.layers_[-1], k, None)]
    return small


def label(model: Any) -> str:
    """Return what a fitted model is called: its kernel, or its class."""
    return shortened(model.kernel_) if hasattr(model, "kernel_") else type(model).__name__


def shortened(kernel: Any) -> str:
    """Print a kernel with numbers of four digits."""
    return re.sub(r"\d+\.\d{4,}(e[-+]?\d+)?", lambda number: f"{float(number[0]):.4g}", repr(kernel))


def check_estimator(model: Any) -> None:
    """Refuse what there are no choices for."""
    if not isinstance(model, KernelPCA | InvertibleKernelPCA | PCA):
        raise TypeError(refusal(model))


def refusal(model: Any) -> str:
    """Say which estimators there are choices for."""
    return (
        f"{type(model).__name__} is no estimator that components can be chosen for: give kernelpca's KernelPCA or one "
        "of its kin, InvertibleKernelPCA or PCA. A search belongs at the end of a pipeline, not around it."
    )


def first(decomposition: Decomposition, k: int) -> Decomposition:
    """Return the subspace of the first k directions."""
    cut = {name: getattr(decomposition, name)[..., :k] for name in ("W", "b", "signs", "eigenvalues")}
    return replace(decomposition, **cut)


def _along(model: Any, k: int) -> Any:
    """Return a copy with the first k of what there is one of for each component."""
    small = copy(model)
    for name in ALONG:
        setattr(small, name, getattr(model, name)[:k])
    small.n_components_ = k
    return small


def _way_back(model: KernelPCA, decomposition: Decomposition, rows: Any) -> Inverse:
    """Return the model's way back from fewer scores."""
    whole: Any = model._inverse
    space = replace(whole.space, decomposition=decomposition)
    method = None if model.preimage is None else clone(whole.chosen)
    if method is not None and method.learns:
        scores = whole.space.decomposition.scores(rows)[:, : len(decomposition.b)]
        method.fit(space, rows, np.ascontiguousarray(scores))
    return Inverse(space, method, model._feature_map())
