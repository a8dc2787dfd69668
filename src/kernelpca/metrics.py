"""How alike two answers are: dot products, eigenvectors, eigenvalues and subspaces."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import subspace_angles
from sklearn.utils.validation import check_array


def mean_absolute_proportional_error(exact: Any, approximate: Any) -> float:
    """Return the mean of |exact - approximate| / |exact| over all entries whose exact value is not zero.

    The measure of the tutorial's figure 6, where the entries are dot products before and after a projection.

    Parameters
    ----------
    exact, approximate : array-like of the same shape
        Such as kernel matrices.

    Examples
    --------
    >>> from kernelpca.metrics import mean_absolute_proportional_error
    >>> round(mean_absolute_proportional_error([[1.0, 2.0]], [[1.1, 1.9]]), 3)
    0.075
    """
    exact, approximate = _pair(exact, approximate)
    counted = exact != 0
    if not counted.any():
        raise ValueError("All exact values are zero: a proportional error has no meaning. Compare absolute errors.")
    return float(np.mean(np.abs(exact[counted] - approximate[counted]) / np.abs(exact[counted])))


def eigenvector_similarity(exact: Any, approximate: Any) -> np.ndarray:
    """(n, k), (n, k) -> (k,): |v'v'| / (|v| |v'|) of each pair of columns, whatever their lengths and signs.

    Scores of training rows are eigenvectors up to a factor, so they can be compared as they are. A column of zeros is
    like none. Tutorial, eq. 66.
    """
    exact, approximate = (_unit_columns(V) for V in _pair(exact, approximate))
    return np.minimum(np.abs(np.einsum("ij,ij->j", exact, approximate)), 1.0)


def eigenvalue_difference(exact: Any, approximate: Any) -> np.ndarray:
    """(k,), (k,) -> (k,): |exact - approximate| / |exact| of each pair; infinite where only one is zero.

    Tutorial, eq. 67.
    """
    exact, approximate = _pair(exact, approximate)
    difference = np.abs(exact - approximate)
    unknown = np.where(difference > 0, np.inf, 0.0)
    return np.divide(difference, np.abs(exact), out=unknown, where=exact != 0)


def principal_angles(A: Any, B: Any) -> np.ndarray:
    """(n, a), (n, b) -> (min(a, b),): angles in radians between the spans of the columns, smallest first.

    They do not depend on the bases: components that are too close together to be told apart are compared by their
    span.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpca.metrics import principal_angles
    >>> principal_angles(np.eye(3)[:, :2], np.eye(3)[:, 1:]).round(3)
    array([0.   , 1.571])
    """
    A, B = (check_array(M, dtype=np.float64, input_name=name) for M, name in ((A, "A"), (B, "B")))
    if len(A) != len(B):
        raise ValueError(f"A has {len(A)} rows and B has {len(B)}: subspaces of one space have columns of one length.")
    return subspace_angles(A, B)[::-1]


def _unit_columns(V: np.ndarray) -> np.ndarray:
    """(n, k) or (n,) -> (n, k): columns of length one, and of zero if they are zero, whatever their size was."""
    V = V.reshape(len(V), -1)
    for size in (lambda V: np.abs(V).max(axis=0), lambda V: np.linalg.norm(V, axis=0)):
        lengths = size(V)
        V = V / np.where(lengths > 0, lengths, 1.0)
    return V


def _pair(exact: Any, approximate: Any) -> tuple[np.ndarray, np.ndarray]:
    pair = [
        check_array(values, dtype=np.float64, ensure_2d=False, allow_nd=True, input_name=name)
        for values, name in ((exact, "exact"), (approximate, "approximate"))
    ]
    if pair[0].shape != pair[1].shape:
        raise ValueError(
            f"exact has shape {pair[0].shape} and approximate {pair[1].shape}: both must have the same. Cut the longer "
            "one, such as scores[:, :k]."
        )
    return pair[0], pair[1]
