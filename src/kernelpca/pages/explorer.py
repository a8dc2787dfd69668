"""A page to explore a model: a map of the scores, and at every place of it the input that belongs there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from kernelpca.atomic import write_atomically
from kernelpca.estimators.pca import PCA
from kernelpca.memory import readable_bytes
from kernelpca.pages.chosen import check_model, choose
from kernelpca.pages.display import Display, display_of, record_of_labels
from kernelpca.pages.export import LEARNED, export, layers_of
from kernelpca.pages.model_kernels import name_kernels
from kernelpca.pages.packed import pack, pack_shades
from kernelpca.pages.page import render
from kernelpca.plotting.fitted import Fitted
from kernelpca.plotting.rows import check_labels, spread_rows
from kernelpca.progress import Done, Parts

EXTRA = "pages"  # brings jinja2
ORIGINALS = 1_500_000  # bytes of samples that can be looked at beside their pre-images
MARGIN = 0.15  # of the samples' range, that map and sliders reach beyond it
PARTS = 4  # of the work, of which `done` is told
NEIGHBORS = 2000  # samples whose distance from the next is looked at


def explore(
    model: Any,
    X: Any,
    *,
    labels: Any = None,
    names: Any = None,
    image_shape: Any = None,
    kind: str = "auto",
    title: str | None = None,
    max_points: int = 5000,
    max_anchors: int | None = None,
    done: Done | None = None,
) -> str:
    """Return a page of HTML in which a model can be explored: one file that needs no server and no network.

    It shows a map of the scores of X. At the place of the pointer, or of one slider for each component, the page
    computes the pre-image, and how reliable it is, from the model that it holds.

    Parameters
    ----------
    model : estimator
        A fitted estimator of kernelpca with a way back: `KernelPCA`, `InvertibleKernelPCA`, `RobustKernelPCA`,
        `SparseKernelPCA`, `IncrementalKernelPCA`, `PCA`, or the drop-in class with fit_inverse_transform=True.
    X : array-like of shape (n, d), data frame, Table or Dask collection
        Samples to show, with the columns that the model was fitted on; usually the training rows.
    labels : array-like of shape (n,), optional
        Classes or numbers that samples are colored by.
    names : list of str, optional
        Names of the columns; those of a data frame when not given.
    image_shape : tuple, optional
        (height, width) or (height, width, 3) of rows that are images.
    kind : {"auto", "image", "signal", "table"}, default="auto"
        How rows are drawn: as images, as curves, or as bars in units of standard deviations. "auto" draws images where
        `image_shape` is given, tables where there are names or at most 40 columns, and curves otherwise.
    title : str, optional
        Heading of the page.
    max_points : int, default=5000
        Most samples on the map; of more, so many are taken, spread evenly.
    max_anchors : int, optional
        Most rows of the model that the page holds; a larger model is replaced by a ridge regression on so many
        landmarks, and the page says so. When not given, as many as a page of about 10 MB has room for.
    done : callable, optional
        Called as done(parts, all_parts) when a part of the work is finished, to show or log how far it has come.

    Returns
    -------
    page : str
        The HTML text.

    Notes
    -----
    The page computes what `model.inverse_transform` does, step for step: combinations, descent, fixed points, ridge
    regression, inverted features. Where it cannot (distances, weights, kernels that it does not know, more rows than it
    has room for), a `Ridge` is learned in their place, and the page says so above the map.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelpca import KernelPCA
    >>> from kernelpca.pages.explorer import explore
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KernelPCA(n_components=20).fit(X[:300])
    >>> page = explore(model, X[:300], labels=y[:300], image_shape=(8, 8))
    >>> page.startswith("<!doctype html>")
    True
    """
    check_model(model, "explore")
    if not isinstance(model, PCA):
        layers_of(model)  # or say why there is no way back
    fitted = Fitted(model)
    for name, most in (("max_points", max_points), ("max_anchors", max_anchors)):
        if most is not None and (isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 1):
            raise ValueError(f"{name}={most!r}: give a whole number of at least 1.")
    part = Parts(done, PARTS)
    chosen = part(choose(model, X, max(max_points, LEARNED)))
    rows = chosen.rows
    if rows is None:
        raise TypeError(f"An explorer shows dense rows of numbers, and X holds {chosen.what}: give X.toarray().")
    tags = check_labels(labels, chosen.total)
    display = display_of(rows, kind, image_shape, chosen.names if names is None else names)
    Z = part(fitted.scores(chosen.given).astype(np.float64))
    if not Z.shape[1]:
        raise ValueError("This model has no components, so there is nothing to explore: fit with n_components >= 1.")
    exported = part(export(model, rows, Z, max_anchors))
    shown = spread_rows(len(rows), max_points)
    numbers = chosen.numbers[shown]
    data = {
        "display": display.record(rows[shown]),
        "components": _components(fitted, Z),
        "samples": {
            **_samples(rows, Z, shown, display, exported.rows),
            "numbers": pack(numbers, np.float64),
            "labels": record_of_labels(None if tags is None else tags[numbers]),
        },
        "model": {"way": exported.way, "forth": exported.forth, "spread": exported.spread},
        "arrays": exported.arrays,
        "width": rows.shape[1],
        "own": exported.own,
        "centered": fitted.centered,
    }
    held = readable_bytes(_size(data))
    about = {
        "estimator": fitted.name,
        "kernel": name_kernels(model),
        "components": Z.shape[1],
        "kept": float(model.explained_variance_ratio_.sum()),
        "whole": fitted.whole,
        "middle": "mean" if fitted.centered else "origin",
        "shown": len(shown),
        "samples": chosen.total,
        "columns": rows.shape[1],
        "method": exported.method,
        "own": exported.own,
        "notes": exported.notes,
        "size": held,
        "judged": exported.forth is not None and exported.way["kind"] != "linear",
    }
    heading = f"{fitted.name} of {chosen.total} samples" if title is None else str(title)
    return part(render("explorer.html", EXTRA, title=heading, about=about, data=data))


def write_explorer(path: str | Path, model: Any, X: Any, **options: Any) -> Path:
    """Write the page of `explore(model, X, **options)` to a file, whole or not at all, and return its path."""
    page = explore(model, X, **options)
    path = Path(path)
    write_atomically(path, page.encode("utf-8"))
    return path


def _components(fitted: Fitted, Z: np.ndarray) -> dict[str, Any]:
    """Variance of each component, the range of the samples' scores, and their middle: of centered models 0."""
    low, high = Z.min(axis=0), Z.max(axis=0)
    width = np.where(high > low, high - low, np.maximum(np.abs(high), 1.0))
    return {
        "ratio": [float(part) for part in fitted.last.explained_variance_ratio_],
        "whole": fitted.whole,
        "middle": (np.zeros(Z.shape[1]) if fitted.centered else Z.mean(axis=0)).tolist(),
        "low": (low - MARGIN * width).tolist(),
        "high": (high + MARGIN * width).tolist(),
    }


def _samples(X: np.ndarray, Z: np.ndarray, shown: np.ndarray, display: Display, held: Any) -> dict[str, Any]:
    """Scores of the samples on the map, and as many of their rows as there is room for, or are `held`."""
    each = X.shape[1] * (1 if display.kind == "image" else 4)
    kept = spread_rows(len(shown), max(ORIGINALS // each, 1))
    rows, originals = X[shown[kept]], None
    if held is None:
        originals = pack_shades(rows, display.low, display.high) if display.kind == "image" else pack(rows)
    some = Z[shown[spread_rows(len(shown), NEIGHBORS)]]
    usual = float(np.median(cKDTree(Z[shown]).query(some, k=2)[0][:, 1])) if len(shown) > 1 else 1.0
    return {
        "scores": pack(Z[shown]),
        "held": held,
        "originals": originals,
        "kept": pack(kept, np.float64),
        "usual": usual,
    }


def _size(data: Any) -> int:
    """Characters of all texts in nested JSON: nearly the size of the page."""
    if isinstance(data, dict):
        return sum(map(_size, data.values()))
    if isinstance(data, list):
        return sum(map(_size, data))
    return len(data) if isinstance(data, str) else 18
