"""The rows that a page looks at: at most so many, spread evenly, as the model takes them, with their labels."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline

from kernelpca.io.table import Table
from kernelpca.pages.display import CLASSES, NAMED, as_numbers, check_names, check_samples
from kernelpca.pages.model_kernels import kernels_of
from kernelpca.persistence.savable import Savable
from kernelpca.plotting.rows import check_labels, n_rows, spread_rows, take

SHOWN = 5  # names that a message lists
LONGEST = 24  # letters of a label in a legend


@dataclass(frozen=True)
class Chosen:
    """Rows of a data set.

    Attributes
    ----------
    numbers : ndarray of shape (m,)
        Which rows these are, counted from 0.
    total : int
        How many there are in all.
    given : array-like of m rows
        As the model takes them.
    rows : ndarray of shape (m, d) or None
        The same as dense rows of numbers; None where they are something else.
    what : str
        What rows are where they are no dense numbers: "texts", "rows of a kernel matrix" or "sparse rows".
    names : list of str or None
        Names of the columns, from the data or else from the model.
    """

    numbers: np.ndarray
    total: int
    given: Any
    rows: np.ndarray | None
    what: str = ""
    names: list[str] | None = None

    def texts(self) -> list[str] | None:
        """Return the rows where they are texts."""
        return [str(row) for row in self.given] if self.what == "texts" else None


def check_model(model: Any, page: str) -> None:
    """Refuse what the function `page` cannot make a page of."""
    if isinstance(model, Pipeline):
        raise TypeError(
            "A page is about one model, and a pipeline was given: give its last step and what that is given, "
            f"{page}(pipeline[-1], pipeline[:-1].transform(X))."
        )
    if isinstance(model, type) or not isinstance(model, Savable):
        raise TypeError(
            f"{model!r} is no fitted model of kernelpca: give an estimator such as KernelPCA(2).fit(X). "
            "kernelpca.sklearn.KernelPCA takes the place of scikit-learn's."
        )


def choose(model: Any, X: Any, max_rows: int) -> Chosen:
    """Take at most so many rows of X, spread evenly, and check that they are what the model was fitted on."""
    if isinstance(X, str) or not (hasattr(X, "shape") or hasattr(X, "__len__")):
        raise TypeError(f"X={X!r} is no data: give rows as the model takes them, an array, a data frame or a table.")
    total = n_rows(X)
    if not total:
        raise ValueError("X has no rows: give at least one.")
    names = check_names(None, 0, X)
    _check_names(model, names)
    numbers = spread_rows(total, max_rows)
    given = take(X.values if isinstance(X, Table) else X, numbers)
    kernels = kernels_of(model)
    domain = kernels[0].domain if kernels else "real"
    if domain in ("text", "precomputed"):
        what = {"text": "texts", "precomputed": "rows of a kernel matrix"}[domain]
        return Chosen(numbers, total, given, None, what)
    if sparse.issparse(given):
        return Chosen(numbers, total, given, None, "sparse rows")
    rows = np.ascontiguousarray(check_samples(model, given))  # so that sums round alike, wherever rows come from
    known = getattr(model, "feature_names_in_", None)
    if names is None and known is not None:
        names = [str(name) for name in known]
    return Chosen(numbers, total, rows, rows, "", names)


def _check_names(model: Any, names: list[str] | None) -> None:
    """Refuse columns with other names than those that the model was fitted on."""
    known = getattr(model, "feature_names_in_", None)
    if names is None or known is None or names == [str(name) for name in known]:
        return
    wanted = [str(name) for name in known]
    lacking = [name for name in wanted if name not in names]
    if lacking:
        raise ValueError(
            f"X lacks {len(lacking)} of the {len(wanted)} columns that the model was fitted on: {_some(lacking)}. It "
            f"has {_some(names)}: give the same columns."
        )
    raise ValueError(
        "X has other columns than those that the model was fitted on, or the same in another order: give "
        "X[list(model.feature_names_in_)]."
    )


def _some(names: list[str]) -> str:
    return ", ".join(repr(name) for name in names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")


@dataclass(frozen=True)
class Labels:
    """What is known of rows beside their numbers.

    Attributes
    ----------
    texts : list of str
        One for each row.
    groups : ndarray of shape (m,) or None
        Classes, with names that a legend can show.
    values : ndarray of shape (m,) or None
        Or a quantity.
    """

    texts: list[str]
    groups: np.ndarray | None
    values: np.ndarray | None


def choose_labels(labels: Any, chosen: Chosen) -> Labels | None:
    """Return the labels of the chosen rows: as classes, or as a quantity where they are numbers of many kinds."""
    array = check_labels(labels, chosen.total)
    if array is None:
        return None
    array = array[chosen.numbers]
    texts = [str(label) for label in array.tolist()]
    array = as_numbers(array)
    if array.dtype.kind in "iub" and len(set(texts)) <= CLASSES:
        return Labels(texts, array.astype(np.int64) if array.dtype.kind != "b" else np.array(texts), None)
    if array.dtype.kind in "iuf":
        return Labels(texts, None, array.astype(np.float64))
    return Labels(texts, _legible(texts), None)


def _legible(texts: list[str]) -> np.ndarray:
    """Return names for a legend: the commonest, others as "others", not too long, and nothing that means formulas."""
    counts = Counter(texts)
    kept = {name for name, _ in counts.most_common(NAMED if len(counts) > CLASSES else CLASSES)}
    names = {name: " ".join(name.split()) for name in kept}
    short = {name: text if len(text) <= LONGEST else text[: LONGEST - 1] + "…" for name, text in names.items()}
    names = short if len(set(short.values())) == len(kept) else names
    drawn = {name: (" " if text.startswith("_") else "") + text.replace("$", r"\$") for name, text in names.items()}
    return np.array([drawn.get(text, "others") for text in texts])
