"""Checks that every estimator makes of what it is given."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_array, validate_data

from kernelpca.io.table import Table
from kernelpca.tiles import row_blocks

SHOWN = 5  # rows or columns that a message names
HOLES = (  # what scikit-learn calls them, what we do, which they are, and what to do
    (
        "Input X contains NaN",
        "missing",
        np.isnan,
        "Fill them (scikit-learn's SimpleImputer), or drop those rows: X.dropna() of a data frame, "
        "X[~numpy.isnan(X).any(axis=1)] of an array.",
    ),
    (
        "Input X contains infinity",
        "infinite",
        np.isinf,
        "Replace them by numbers, or drop those rows: X[numpy.isfinite(X).all(axis=1)].",
    ),
)


def as_generator(random_state: Any) -> np.random.Generator:
    """Return a Generator for a seed, a Generator or a RandomState; None is a fixed seed, so that fits repeat."""
    if random_state is None:
        return np.random.default_rng(0)
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"random_state={random_state!r} is no seed: give None, a non-negative int, a numpy Generator or a "
            "RandomState."
        ) from error


def check_numbers(estimator: Any, X: Any, *, reset: bool, sparse: bool = False, least_rows: int = 1) -> Any:
    """Return X as a float array (or CSR matrix), with names and number of features noted or compared."""
    if isinstance(X, str | PathLike):
        raise ValueError(
            f"X is one text where numbers are needed. If it names a file: kernelpca.open_data({str(X)!r})."
        )
    X = X.named() if isinstance(X, Table) else X
    try:
        return validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr" if sparse else False,
            dtype=[np.float64, np.float32],
            ensure_min_samples=least_rows,
        )
    except (TypeError, ValueError) as error:
        better = explain(X, " ".join(str(error).split()), isinstance(error, TypeError))
        if better is None:
            raise
        raise ValueError(better) from error


def explain(X: Any, error: str, of_type: bool) -> str | None:
    """Say more of what is wrong with X, and what to do, than scikit-learn's error of type or value; None if it is all.

    Its own words about NaN and infinity stay, for others look for them.
    """
    is_text = "could not convert" in error or "not compatible with arrays of bytes/strings" in error
    if (is_text or of_type) and (found := say_columns(X)):
        return found
    if is_text:
        return (
            f"X holds text where numbers are needed ({error}). Encode text columns as numbers (scikit-learn's "
            "OneHotEncoder), or use a kernel for strings: kernel='spectrum' or 'subsequence'."
        )
    if error.startswith("Found array with dim"):
        return f"{error} It has shape {np.shape(X)}: make a row of each image, or other part, by X.reshape(len(X), -1)."
    for start, what, test, remedy in HOLES:
        if error.startswith(start):
            values = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False)
            found = say_places(test, values, getattr(X, "columns", None), what)
            return f"{start}: {found}. {remedy}" if found else None
    return None


def say_columns(X: Any) -> str | None:
    """Say which columns of a data frame hold no numbers, and what to do; None if it is none, or all do."""
    if not hasattr(X, "select_dtypes"):
        return None
    wrong = [name for i, name in enumerate(X.columns) if not _holds_numbers(X.iloc[:, i])]
    if not wrong:
        return None
    more = f" and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
    drop = "X.select_dtypes('number')" if more else f"X.drop(columns={wrong!r}), or X.select_dtypes('number')"
    leave = f"leave them out: {drop}" if len(wrong) < X.shape[1] else "use a kernel for strings on one of them"
    return (
        f"X has columns that hold no numbers: {', '.join(map(str, wrong[:SHOWN]))}{more}. Encode them as numbers "
        f"(scikit-learn's OneHotEncoder; of dates, days since one of them), or {leave}."
    )


def _holds_numbers(column: Any) -> bool:
    if column.dtype.kind in "mM":
        return False
    try:
        check_array(column.to_numpy(), ensure_2d=False, dtype=np.float64, ensure_all_finite=False)
    except (TypeError, ValueError):
        return column.dtype.kind in "biuf"
    return True


def places(test: Any, values: Any) -> tuple[np.ndarray, np.ndarray]:
    """(n, d) -> numbers of the rows in which some value passes a test, and (d,) how many do in each column."""
    counts = np.zeros(values.shape[1], int)
    if issparse(values):
        stored = values.tocoo()
        passed = test(stored.data)
        np.add.at(counts, stored.col[passed], 1)
        return np.unique(stored.row[passed]), counts
    rows = [np.empty(0, int)]
    for part in row_blocks(values):
        passed = test(values[part])
        rows.append(np.flatnonzero(passed.any(axis=1)) + part.start)
        counts += passed.sum(axis=0)
    return np.concatenate(rows), counts


def say_places(test: Any, values: Any, names: Any, what: str) -> str | None:
    """Say how many values pass a test, and where; None if none does."""
    rows, counts = places(test, values)
    if not rows.size:
        return None
    worst, total = counts.argsort(kind="stable")[::-1], int((counts > 0).sum())
    label = [f"column {i}" for i in range(len(counts))] if names is None else names
    columns = ", ".join(f"{label[i]} ({counts[i]})" for i in worst[: min(SHOWN, total)])
    shown = ", ".join(map(str, rows[:SHOWN])) + (", ..." if len(rows) > SHOWN else "")
    many = "s" if counts.sum() > 1 else ""
    return (
        f"{counts.sum()} {what} value{many} in {len(rows)} of {values.shape[0]} rows (rows {shown}, "
        f"counted from 0), in {'' if names is None else 'columns '}{columns}{', ...' if total > SHOWN else ''}"
    )


def check_weights(sample_weight: Any, n: int, some: bool = True) -> np.ndarray | None:
    """Return sample weights as n finite numbers >= 0, `some` of which are to be positive, or None."""
    if sample_weight is None:
        return None
    weights = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}; one weight for each of the {n} samples is needed.")
    if weights.min() < 0 or (some and weights.sum() <= 0):
        raise ValueError(
            f"sample_weight must be >= 0 and not all zero; the smallest is {weights.min():.3g}. Leave rows out with a "
            "weight of 0."
        )
    return weights


def check_common(callback: Any, center: Any) -> None:
    """Refuse a callback that cannot be called, and a `center` that is neither True nor False."""
    if callback is not None and not callable(callback):
        raise TypeError(
            f'callback={callback!r} cannot be called: give a function of one argument, "bar" for a progress bar, or '
            "None."
        )
    if not isinstance(center, bool | np.bool_):
        raise ValueError(f"center={center!r}: center must be True or False.")


def check_scores(Z: Any, k: int) -> np.ndarray:
    """Return scores as an array of numbers with k columns."""
    Z = check_array(Z, dtype=[np.float64, np.float32], ensure_min_features=0, input_name="Z")
    if Z.shape[1] != k:
        raise ValueError(f"Z has {Z.shape[1]} columns; this model has {k} components.")
    return Z


def check_reference(reference: Any, n: int, d: int) -> np.ndarray | None:
    """Return the inputs (n, d) that n rows of scores came from, if they are given."""
    if reference is None:
        return None
    rows = check_array(reference, dtype=[np.float64, np.float32], input_name="reference")
    if rows.shape != (n, d):
        raise ValueError(
            f"reference has shape {rows.shape}; {n} rows of scores need a reference of shape {(n, d)}: the input that "
            "each row of Z came from."
        )
    return rows
