"""Squared distances in feature space from the span of the first j directions, for all j in one pass."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from kernelpca.estimators import PCA, InvertibleKernelPCA, KernelPCA
from kernelpca.estimators.elsewhere import brought_here, here
from kernelpca.gram.budget import BUDGET
from kernelpca.kernels.base import n_rows
from kernelpca.selection.family import refusal
from kernelpca.tiles import blocks

Projected = tuple[np.ndarray, np.ndarray, np.ndarray]


def projection_errors(model: Any, X: Any, diagonal: Any = None) -> np.ndarray:
    """(n, d) -> (n, k + 1): squared distance of each mapped row from the span of the first j directions, j = 0 to k.

    With z the scores and r_k what all k directions leave, r_j = r_k + z_{j+1}^2 + ... + z_k^2, so that one projection
    tells them all; r_0 is the squared distance from the mean of the training rows. For an indefinite kernel a direction
    of negative eigenvalue counts negatively.

    Parameters
    ----------
    model : fitted KernelPCA or its kin, InvertibleKernelPCA (in the feature space of its last layer) or PCA
        The model.
    X : rows
        New ones, as the model takes them.
    diagonal : array-like of shape (n,), optional
        k(x, x) of each row, for a precomputed kernel.
    """
    scores, left, signs = project(model, X, None if diagonal is None else np.asarray(diagonal, dtype=np.float64))
    errors = np.empty((len(left), scores.shape[1] + 1))
    errors[:, -1] = left
    errors[:, :-1] = np.square(scores, dtype=np.float64) * signs
    return np.cumsum(errors[:, ::-1], axis=1)[:, ::-1]


def mean_projection_errors(model: Any, X: Any, diagonal: np.ndarray | None = None) -> np.ndarray:
    """(n, d) -> (k + 1,): means of `projection_errors`, a block of rows at a time."""
    n, k = n_rows(X), model.n_components_
    total = np.zeros(k + 1)
    for rows in blocks(n, max(BUDGET // (32 * (k + 1)), 1)):
        part = None if diagonal is None else diagonal[rows]
        total += projection_errors(model, _safe_indexing(X, rows), part).sum(axis=0)
    return total / n


@singledispatch
def project(model: Any, X: Any, diagonal: np.ndarray | None) -> Projected:
    """(n, d) -> (n, k), (n,), (k,): scores, squared distances from the subspace, and signs of the directions."""
    raise TypeError(refusal(model))


@project.register
def _(model: KernelPCA, X: Any, diagonal: np.ndarray | None) -> Projected:
    check_is_fitted(model)
    decomposition = brought_here(model._decomposition)
    scores, left = decomposition.project(model._check_rows(here(X, "residuals"), reset=False), diagonal)
    return scores, left, decomposition.signs


@project.register
def _(model: PCA, X: Any, diagonal: np.ndarray | None) -> Projected:
    rows = model._check(X)
    return model._scores(rows), model.residuals(rows), np.ones(model.n_components_)


@project.register
def _(model: InvertibleKernelPCA, X: Any, diagonal: np.ndarray | None) -> Projected:
    return project(model.layers_[-1], model._inputs(model._check_rows(X))[-2], None)
