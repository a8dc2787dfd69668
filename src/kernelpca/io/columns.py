"""Tables of columns, as Arrow has them, as matrices of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelpca.io.protocol import TextColumns


def numpy_type(kind: Any) -> np.dtype:
    """Return the type of NumPy's for one of Arrow's; what is no number is an object, and what is empty a number."""
    if str(kind) == "null":
        return np.dtype(np.float64)
    try:
        return np.dtype(kind.to_pandas_dtype())
    except (NotImplementedError, TypeError):
        return np.dtype(object)


def common_type(path: str, types: dict[str, Any]) -> np.dtype:
    """Return a type that holds the numbers of all columns, or say which columns hold none."""
    wrong = [name for name, kind in types.items() if np.dtype(kind).kind not in "biuf"]
    if wrong:
        raise TextColumns(path, wrong, [name for name in types if name not in wrong])
    dtype = np.result_type(*types.values()) if types else np.dtype(np.float64)
    return np.dtype(np.float32) if dtype == np.float32 else np.dtype(np.float64)


def as_matrix(table: Any, dtype: np.dtype) -> np.ndarray:
    """Return the columns of an arrow table side by side; what is missing is NaN."""
    matrix = np.empty((table.num_rows, table.num_columns), dtype)
    for i, column in enumerate(table.columns):
        matrix[:, i] = column.cast("double").to_numpy() if column.null_count else column.to_numpy()
    return matrix
