"""A fitted model as a page can evaluate it: the way back from scores to inputs, and the way forth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernelpca.estimators.elsewhere import brought_here
from kernelpca.estimators.invertible import InvertibleKernelPCA
from kernelpca.estimators.pca import PCA
from kernelpca.estimators.way_back import Inverse, WayBack
from kernelpca.kernels.stationary import RBF
from kernelpca.pages.kernel_terms import describe
from kernelpca.pages.model_parts import CannotExport, Parts, Written, bounds_of, limits_of
from kernelpca.pages.packed import pack
from kernelpca.plotting.rows import spread_rows
from kernelpca.preimage import FixedPoint, Gradient, Ridge
from kernelpca.preimage.inversion import find_points
from kernelpca.preimage.protocol import clip
from kernelpca.preimage.space import Space
from kernelpca.sklearn import KernelPCA as DropIn

LEARNED = 10_000  # rows that a map is learned from


@dataclass(frozen=True)
class Export:
    """A model in a page.

    Attributes
    ----------
    way : dict
        How inputs are found for scores.
    forth : list of dict, or None
        How scores of inputs are found, layer by layer; None where a page cannot evaluate the kernel.
    arrays : dict
        What both refer to by name.
    spread : float
        Mean squared length of the training samples' scores.
    method : str
        Which pre-image the page computes.
    own : bool
        Whether it is the model's own.
    notes : list of str
        What the page does otherwise than the model, and why.
    points : callable
        (n, k) -> (n, d): the same inputs by the library.
    rows : dict or None
        Names of the arrays that hold the rows X, less an origin, where the model keeps them.
    """

    way: Written
    forth: list[Written] | None
    arrays: dict[str, Written]
    spread: float
    method: str
    own: bool
    notes: list[str]
    points: Callable[[np.ndarray], np.ndarray]
    rows: Written | None = None


def export(model: Any, X: np.ndarray, Z: np.ndarray, max_anchors: int | None = None) -> Export:
    """Return a fitted model for a page; what must be replaced is learned from rows X (n, d) and their scores Z (n, k).

    The way back is the model's own where a page can compute it: combinations for the linear kernel, descent, fixed
    points, ridge regression, inverted random features. Otherwise ridge regression is learned in its place, and the
    first of `notes` says so.
    """
    if isinstance(model, PCA):
        return _of_pca(model, Z)
    layers = layers_of(model)
    parts = Parts(X.shape[1], max_anchors)
    own = True
    try:
        ways = [parts.back(layer.method, layer.space, i) for i, layer in enumerate(layers)]
        way = ways[0] if len(ways) == 1 else {"kind": "chain", "ways": ways[::-1]}
        method, points, notes = ", then ".join(_names(layers, repr)), _points_of(layers), _single(layers)
    except CannotExport as reason:
        own = False
        parts.arrays.clear()
        way, method, points, note = _learn(layers, X, Z, parts, str(reason))
        notes = [note]
    try:
        forth: list[Written] | None = [parts.forth(layer.space, i) for i, layer in enumerate(layers)]
    except CannotExport as reason:
        forth, note = _learn_forth(layers, X, Z, parts, str(reason))
        notes.append(note)
    rows = parts.rows_of(layers[0].space, X)
    return Export(way, forth, parts.arrays, layers[-1].space.spread, method, own, notes, points, rows)


def layers_of(model: Any) -> list[Inverse]:
    """Return the ways back of a fitted model's layers, first to last, or say why it has none."""
    if isinstance(model, InvertibleKernelPCA | WayBack | DropIn):
        check_is_fitted(model)
    if isinstance(model, InvertibleKernelPCA):
        return [brought_here(layer._checked_inverse()) for layer in model.layers_]
    if isinstance(model, WayBack):
        return [brought_here(model._checked_inverse())]
    if isinstance(model, DropIn):
        if not model.fit_inverse_transform:
            raise ValueError(
                "This model has no way back: set fit_inverse_transform=True and fit again, or use kernelpca.KernelPCA, "
                "which has one without being asked."
            )
        space = Space(model._decomposition, model._kernel(), len(model.X_fit_), model.X_fit_.shape[1])
        return [Inverse(space, model._preimage, None)]
    raise TypeError(
        f"{type(model).__name__} cannot be shown in a page: give a fitted estimator of kernelpca, such as KernelPCA."
    )


def _of_pca(model: PCA, Z: np.ndarray) -> Export:
    """Linear PCA: its axes are rows of the input space already."""
    arrays = {"axes": pack(model.components_, np.float64), "mean": pack(model.mean_, np.float64)}
    way: Written = {"kind": "linear", "axes": "axes", "center": "mean", "signs": [1.0] * model.n_components_}
    way |= {"low": None, "high": None}
    forth = {"kind": "linear", "axes": "axes", "origin": "mean", "b": [0.0] * model.n_components_}
    spread = float(np.square(Z, dtype=np.float64).sum(axis=1).mean())
    return Export(way, [forth], arrays, spread, "the combination of axes that it is", True, [], model.inverse_transform)


def _points_of(layers: list[Inverse]) -> Callable[[np.ndarray], np.ndarray]:
    """The model's own pre-images, from the last layer to the first."""

    def points(scores: np.ndarray) -> np.ndarray:
        for layer in reversed(layers):
            scores = find_points(layer.method, layer.space, scores)
        return scores

    return points


def _learn(
    layers: list[Inverse], X: np.ndarray, Z: np.ndarray, parts: Parts, reason: str
) -> tuple[Written, str, Callable[[np.ndarray], np.ndarray], str]:
    """Learn a ridge regression from scores to inputs in place of the model's own way back."""
    first = layers[0]
    try:
        method, way, count = _learn_from_own(layers, parts)
    except CannotExport:
        parts.arrays.clear()
        method, way, count = _learn_from(layers, X, Z, parts)
    limits = limits_of(method, first.space)
    note = (
        f"The model's own way back ({', then '.join(_names(layers, _name))}) is not in this page: {reason}. The page "
        f"computes a kernel ridge regression from scores to inputs instead, learned from {count} rows when it was made."
    )

    def points(scores: np.ndarray) -> np.ndarray:
        return clip(method.points(scores), *limits)

    return way | bounds_of(method, first.space), repr(method), points, note


def _learn_from_own(layers: list[Inverse], parts: Parts) -> tuple[Ridge, Written, int]:
    """Learn from the model's own rows, which the page holds in any case, if they are all there."""
    space = layers[0].space
    if len(layers) > 1 or not space.expands or len(space.samples) < space.n:
        raise CannotExport("the model does not keep all training rows")
    if not parts.has_room(space.n, 8 * space.n * min(space.n, space.width)):
        raise CannotExport("they are too many")
    rows = space.samples + np.asarray(space.origin, space.dtype)
    method = Ridge(n_landmarks=None, bounds=layers[0].chosen.bounds).fit(space, rows, space.scores)
    return method, parts.ridge(method, space), space.n


def _learn_from(layers: list[Inverse], X: np.ndarray, Z: np.ndarray, parts: Parts) -> tuple[Ridge, Written, int]:
    """Learn from rows X (n, d) and their scores Z (n, k), on landmarks where they are many."""
    some, most = spread_rows(len(X), LEARNED), parts.landmarks(0.4)
    rows, scores = X[some], Z[some]
    method = Ridge(n_landmarks=most if len(rows) > most else None, bounds=layers[0].chosen.bounds)
    method = method.fit(layers[0].space, rows, scores) if len(layers) == 1 else method.learn(scores, rows, RBF())
    return method, parts.ridge(method, None), len(rows)


def _learn_forth(
    layers: list[Inverse], X: np.ndarray, Z: np.ndarray, parts: Parts, reason: str
) -> tuple[list[Written] | None, str]:
    """Learn the way from inputs to scores, where a page knows the model's kernel and only its rows are too many."""
    space = layers[0].space
    if len(layers) > 1 or not space.expands or describe(space.kernel) is None:
        return None, (
            f"Reliability is not computed in this page: {reason}. It shows instead how near the scores of samples are."
        )
    some = spread_rows(len(X), LEARNED)
    rows, scores = X[some], Z[some]
    method = Ridge(kernel=space.kernel, n_landmarks=min(parts.landmarks(0.6), len(rows))).learn(
        rows, scores, space.kernel
    )
    off = float(np.square(method.points(rows) - scores, dtype=np.float64).sum(axis=1).mean())
    error = np.sqrt(off / max(space.spread, float(np.finfo(np.float64).tiny)))
    return [parts.regressed(method)], (
        f"Reliability is an estimate in this page: {reason}, and {len(method.scores_)} landmarks stand for them. "
        f"Scores of the samples are off by {100 * error:.2g} % of their usual length."
    )


def _single(layers: list[Inverse]) -> list[str]:
    """What to say of steps in single precision."""
    if not any(isinstance(layer.chosen, FixedPoint | Gradient) and layer.space.dtype == np.float32 for layer in layers):
        return []
    return [
        "The model works in single precision and the page in double: answers may stop a step earlier or later, and "
        "differ by some 0.001 of the range of the data."
    ]


def _names(layers: list[Inverse], name: Callable[[Any], str]) -> list[str]:
    return [name(layer.chosen) for layer in reversed(layers)]


def _name(method: Any) -> str:
    return type(method).__name__
