"""Rows to fit on and rows that are held out, whatever the estimator takes for rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator
from sklearn.base import clone
from sklearn.model_selection import KFold, check_cv
from sklearn.utils import _safe_indexing, get_tags

from kernelpca.gram import Gram
from kernelpca.io.table import Table
from kernelpca.remote import is_remote
from kernelpca.validation import check_numbers


@dataclass(frozen=True)
class Fold:
    """One division of the data.

    Attributes
    ----------
    train, test : rows
        Those to fit on, and those held out; of a kernel matrix, its values with the rows to fit on.
    diagonal : ndarray or None
        k(x, x) of the rows held out, where a kernel matrix was given.
    """

    train: Any
    test: Any
    diagonal: np.ndarray | None = None


def check_rows(estimator: Any, X: Any, owner: Any = None) -> Any:
    """Return X as rows that can be divided, as an estimator takes them; what it is named is noted at the `owner`."""
    if is_remote(X):
        raise TypeError(
            "Choices are made here, in memory, and a Dask collection was given: choose on some of its rows, such as "
            "X[:10000].compute(), and fit on all of them with what was chosen."
        )
    if isinstance(X, Gram | LinearOperator):
        raise TypeError(
            f"A {type(X).__name__} cannot be divided into rows to fit on and rows held out: give the kernel matrix as "
            "an array, or rows with a kernel."
        )
    tags = get_tags(estimator).input_tags
    X = X.named() if isinstance(X, Table) else X
    if tags.string or (getattr(X, "dtype", None) is None and _is_text(X)):
        return X
    taken = sparse.issparse(X) and not tags.pairwise
    rows = check_numbers(clone(estimator) if owner is None else owner, X, reset=True, sparse=taken)
    if tags.pairwise and rows.shape[0] != rows.shape[1]:
        raise ValueError(
            f"A kernel matrix of shape {rows.shape} cannot be divided: the square matrix of all samples is needed."
        )
    return rows


def divisions(cv: Any, n: int, y: Any = None) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the row numbers to fit on and those held out, fold by fold; y is for splitters that look at labels."""
    try:
        return list(cv.split(np.empty((n, 0)), y))
    except (TypeError, AttributeError, ValueError) as error:
        if isinstance(error, ValueError) and "groups" not in str(error):
            raise
        raise ValueError(
            f"cv={cv!r} looks at labels or groups, which it was not given ({error}). Give the folds themselves: "
            "cv=list(splitter.split(X, y, groups)); or a number of folds."
        ) from error


def divide(estimator: Any, X: Any, pairs: list[tuple[np.ndarray, np.ndarray]]) -> Iterator[Fold]:
    """Yield the folds of checked rows one after the other."""
    pairwise = get_tags(estimator).input_tags.pairwise
    for train, test in pairs:
        if pairwise:
            yield Fold(X[np.ix_(train, train)], X[np.ix_(test, train)], np.diag(X)[test].astype(np.float64))
        else:
            yield Fold(_safe_indexing(X, train), _safe_indexing(X, test))


def splitter(cv: Any, rng: np.random.Generator) -> Any:
    """Return what divides row numbers; so many folds take them in random order, since files are often sorted."""
    if cv is None or (isinstance(cv, int | np.integer) and not isinstance(cv, bool)):
        folds = 5 if cv is None else int(cv)
        if folds < 2:
            raise ValueError(
                f"cv={cv!r}: at least 2 folds are needed, 5 are usual. For one division give "
                "ShuffleSplit(1, test_size=0.25) of sklearn.model_selection."
            )
        return KFold(folds, shuffle=True, random_state=int(rng.integers(2**31)))
    return check_cv(cv)


def _is_text(X: Any) -> bool:
    return isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], str)
