"""Checks that every estimator makes of what it is given."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, validate_data

from kernelpca.io.table import Table


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
    except ValueError as error:
        if "could not convert" in str(error) or "not compatible with arrays of bytes/strings" in str(error):
            raise ValueError(
                f"X holds text where numbers are needed ({error}). Encode text columns as numbers (scikit-learn's "
                "OneHotEncoder), or use a kernel for strings: kernel='spectrum' or 'subsequence'."
            ) from error
        raise


def check_weights(sample_weight: Any, n: int) -> np.ndarray | None:
    """Return sample weights as n finite numbers >= 0 with a positive sum, or None."""
    if sample_weight is None:
        return None
    weights = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}; one weight for each of the {n} samples is needed.")
    if weights.min() < 0 or weights.sum() <= 0:
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
