"""Rows for a picture: so many as can be seen, spread evenly, and what belongs to them."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from kernelpca.io.table import Table
from kernelpca.remote import as_remote, is_remote

MISSING, NO_LABEL = "missing", "(no label)"  # the group of rows without a label, and where another has that name
MOST_GROUPS = 24  # that a reader can be asked to tell apart


def n_rows(X: Any) -> int:
    """Return how many rows there are, of whatever kind."""
    if is_remote(X):
        return int(as_remote(X).shape[0])
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def spread_rows(n: int, most: int) -> np.ndarray:
    """Return numbers of at most so many of n rows: one at random from each of that many stretches of equal length.

    So every part of the data is seen, and an order that repeats (0, 1, ..., 9, 0, 1, ...) does no harm. The same rows
    are chosen each time.
    """
    if isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 1:
        raise ValueError(f"At most {most!r} rows cannot be drawn: give a whole number of at least 1.")
    if n <= most:
        return np.arange(n)
    edges = np.arange(most + 1) * n // most
    return edges[:-1] + (np.random.default_rng(0).random(most) * np.diff(edges)).astype(int)


def take(X: Any, rows: np.ndarray) -> Any:
    """Return these rows of arrays, sparse matrices, data frames, lists, files or Dask's collections, in memory."""
    X = as_samples(X)
    if is_remote(X):
        return as_remote(X)[rows]
    return _safe_indexing(X, rows)


def as_samples(X: Any) -> Any:
    """Return a table as something that scikit-learn knows, and everything else as it is."""
    return X.named() if isinstance(X, Table) and not X.is_lazy else X


def as_matrix(X: Any, name: str = "X") -> np.ndarray:
    """Return rows of numbers as an array (n, d), or say what is wrong with them."""
    X = X.toarray() if hasattr(X, "toarray") else X
    try:
        array = np.asarray(X, np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} holds something else than numbers ({error}): give rows of numbers.") from error
    if array.ndim != 2:
        raise ValueError(f"{name} has shape {array.shape}: give rows of numbers, (number of rows, columns).")
    return array


def check_labels(labels: Any, n: int, name: str = "labels") -> np.ndarray | None:
    """Return one label for each of n rows, or None."""
    if labels is None:
        return None
    array = np.asarray(labels)
    if array.shape != (n,):
        raise ValueError(
            f"{name} has shape {array.shape}; one for each of the {n} rows of X is needed, in the same order."
        )
    return array


def check_values(values: Any, n: int) -> np.ndarray | None:
    """Return one number for each of n rows, or None."""
    array = check_labels(values, n, "values")
    if array is None:
        return None
    if array.dtype.kind not in "biuf":
        raise TypeError(f"values holds {array.dtype}, and a quantity needs numbers: give groups as labels=... instead.")
    return array.astype(np.float64)


def groups_of(labels: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """(n,) -> the name of each group and a mask (n,) of its rows, sorted where that is possible.

    Rows without a label come last.
    """
    given = labels.tolist()
    absent = np.array([label is None or label != label for label in given], bool)
    keys = list(dict.fromkeys(label for label, lacks in zip(given, absent, strict=True) if not lacks))
    with suppress(TypeError):  # of different kinds: in the order in which they come
        keys = sorted(keys)
    if len(keys) > MOST_GROUPS:
        raise ValueError(
            f"labels has {len(keys)} different values, more than a reader can tell apart ({MOST_GROUPS}): give a "
            "quantity as values=... instead, or merge groups."
        )
    groups = [(str(key), np.array([label == key for label in given]) & ~absent) for key in keys]
    if absent.any():
        groups.append((MISSING if MISSING not in keys else NO_LABEL, absent))
    return groups


def note_of(shown: int, n: int) -> str:
    """Say that not all rows are shown; empty where they are."""
    return f"{shown} of {n} rows shown" if shown < n else ""
