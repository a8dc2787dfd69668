"""How rows are shown in a page: as images, as curves or as tables, with names and labels; and checks of all that."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from kernelpca.io.table import Table
from kernelpca.pages.packed import pack
from kernelpca.remote import is_remote

KINDS = ("auto", "image", "signal", "table")
FEW_COLUMNS = 40  # up to which rows are tables, unless told otherwise
MOST_BARS = 200  # columns that a table shows
CLASSES = 20  # different labels up to which whole numbers are names of classes
NAMED = 19  # classes that have a color; the others share one


@dataclass(frozen=True)
class Display:
    """What a page must know to draw a row.

    Attributes
    ----------
    kind : {"image", "signal", "table"}
        How.
    names : list of str or None
        Of the columns, for tables.
    image : dict or None
        Height, width, channels, and whether channels come first.
    low, high : float
        Numbers that are drawn darkest and lightest, or lowest and highest.
    mean, deviation : ndarray of shape (d,)
        Of the columns.
    """

    kind: str
    names: list[str] | None
    image: dict[str, Any] | None
    low: float
    high: float
    mean: np.ndarray
    deviation: np.ndarray

    def record(self, X: np.ndarray) -> dict[str, Any]:
        """Return it as JSON; X (n, d) are the rows whose usual range is drawn behind curves."""
        record: dict[str, Any] = {"kind": self.kind, "low": self.low, "high": self.high, "image": self.image}
        record["mean"], record["deviation"] = pack(self.mean, np.float64), pack(self.deviation, np.float64)
        if self.kind == "signal":
            record["band"] = pack(np.quantile(X, [0.1, 0.9], axis=0))
        if self.kind == "table":
            assert self.names is not None
            record |= {"names": self.names[:MOST_BARS], "left_out": max(len(self.names) - MOST_BARS, 0)}
            scaled = np.abs(X - self.mean) / np.where(self.deviation > 0, self.deviation, 1.0)
            record["reach"] = float(np.clip(np.ceil(np.quantile(scaled, 0.999)), 3, 6))
        return record


def check_samples(model: Any, X: Any) -> np.ndarray:
    """Return X as rows (n, d) of numbers with the columns that the model was fitted on, or say what is wrong."""
    X = X.values if isinstance(X, Table) else X
    if is_remote(X):
        raise TypeError(
            "A page holds its samples, so it cannot take a Dask collection: give a part, X[:5000].compute()."
        )
    if hasattr(X, "toarray"):
        raise TypeError("A page shows dense rows of numbers, and sparse ones were given: give X.toarray().")
    rows = check_array(X, dtype=[np.float64, np.float32], input_name="X")
    d = getattr(model, "n_features_in_", rows.shape[1])
    if rows.shape[1] != d:
        raise ValueError(
            f"X has {rows.shape[1]} columns, and the model was fitted on {d}: give the same columns in the same order."
        )
    return rows


def display_of(
    X: np.ndarray, kind: str = "auto", image_shape: Any = None, names: Any = None, given: Any = None
) -> Display:
    """Decide how rows X (n, d) are shown; `given` is X as the user gave it, which may have names of columns."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"kind={kind!r} is not known: choose one of {', '.join(map(repr, KINDS))}.")
    d = X.shape[1]
    if kind == "image" and image_shape is None:
        raise ValueError(
            f"kind='image' needs the shape of the images: give image_shape=(height, width) for {d} pixels."
        )
    if image_shape is not None and kind not in ("auto", "image"):
        raise ValueError(f"kind={kind!r} has no image_shape: leave image_shape out, or set kind='image'.")
    image = None if image_shape is None else check_shape(image_shape, d)
    columns = check_names(names, d, given)
    if kind == "auto":
        kind = "image" if image else "table" if columns or d <= FEW_COLUMNS else "signal"
    if kind == "table" and columns is None:
        columns = [f"column {j + 1}" for j in range(d)]
    low, high = float(X.min()), float(X.max())
    mean, deviation = X.mean(axis=0, dtype=np.float64), X.std(axis=0, dtype=np.float64)
    return Display(kind, columns, image, low, high if high > low else low + 1.0, mean, deviation)


def check_shape(image_shape: Any, d: int) -> dict[str, Any]:
    """Return height, width and channels of images with d numbers, or say what is wrong with their shape."""
    advice = f"Give (height, width) or (height, width, 3) with a product of {d}."
    try:
        shape = tuple(int(side) for side in image_shape)
    except (TypeError, ValueError) as error:
        raise ValueError(f"image_shape={image_shape!r} is no shape. {advice}") from error
    if len(shape) not in (2, 3) or min(shape) < 1 or int(np.prod(shape)) != d:
        raise ValueError(f"image_shape={image_shape!r} does not fit rows of {d} numbers. {advice}")
    first = len(shape) == 3 and shape[2] not in (1, 3) and shape[0] in (1, 3)
    if len(shape) == 3 and not first and shape[2] not in (1, 3):
        raise ValueError(f"image_shape={image_shape!r} has {shape[2]} channels; 1 or 3 can be drawn. {advice}")
    height, width = shape[1:] if first else shape[:2]
    channels = 1 if len(shape) == 2 else shape[0] if first else shape[2]
    return {"height": height, "width": width, "channels": channels, "channels_first": first}


def check_names(names: Any, d: int, given: Any = None) -> list[str] | None:
    """Return names of d columns: those that were given, else those of a data frame or a table, else None."""
    if names is None:
        own = getattr(given, "columns", None)
        return None if own is None else [str(name) for name in own]
    if isinstance(names, str) or len(names) != d:
        count = "one text" if isinstance(names, str) else f"{len(names)}"
        raise ValueError(f"names has {count} for {d} columns: give a list with one name for each column, or None.")
    return [str(name) for name in names]


def record_of_labels(labels: np.ndarray | None) -> dict[str, Any] | None:
    """Return labels as JSON: classes with their names, the commonest first where not all have a color; or numbers."""
    if labels is None:
        return None
    labels = as_numbers(labels)
    whole = labels.dtype.kind in "iub" and len(np.unique(labels)) <= CLASSES
    if labels.dtype.kind in "iuf" and not whole:
        numbers = labels.astype(np.float64)
        finite = numbers[np.isfinite(numbers)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        return {"kind": "numbers", "values": pack(numbers), "low": low, "high": high}
    counts = Counter(labels.tolist())
    classes = sorted(counts, key=lambda label: (label is None, str(label) if not whole else label))
    if len(classes) > CLASSES:
        kept = {label for label, _ in counts.most_common(NAMED)}
        classes = [label for label in classes if label in kept]
    places = {label: i for i, label in enumerate(classes)}
    texts = [str(label) for label in classes] + (["others"] if len(counts) > len(classes) else [])
    numbers = np.array([places.get(label, len(classes)) for label in labels.tolist()])
    return {"kind": "classes", "values": pack(numbers, np.uint8), "names": texts}


def as_numbers(labels: np.ndarray) -> np.ndarray:
    """Return labels that are numbers written as text, as those of a file are, as numbers; others as they are."""
    if labels.dtype.kind not in "OUS" or len(set(labels.tolist())) <= CLASSES:
        return labels
    try:
        return np.array([float(label) for label in labels.tolist()])
    except (TypeError, ValueError):
        return labels
