"""What users have, Dask arrays and data frames, as rows that every path can work on."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np

from kernelpca.dask.rows import DaskRows
from kernelpca.io.table import Table


def as_rows(X: Any, name: str = "X", lengths: bool = True) -> DaskRows:
    """Return a Dask array or data frame as rows, checked as far as its shape tells; its numbers are looked at later.

    Parameters
    ----------
    X : dask.array or dask.dataframe
        One chunk of columns, any number of chunks of rows.
    name : str
        What to call it in messages.
    lengths : bool
        Whether the number of rows in each chunk must be known; those of a data frame are counted.
    """
    names, mend = None, f"{name}.rechunk({{0: 'auto', 1: -1}})"
    if isinstance(X, Table):
        names = None if X.columns is None else np.asarray(X.columns, dtype=object)
        X = X.values
    elif hasattr(X, "to_dask_array"):
        names = np.asarray(X.columns, dtype=object)
        _check_numeric(X, name)
        mend = f"{name}.to_dask_array(lengths=True).rechunk({{0: 'auto', 1: -1}}), or drop empty partitions"
        X = X.to_dask_array(lengths=True if lengths else None)
    if not isinstance(X, da.Array):
        raise TypeError(
            f"{name} is a {type(X).__name__}; of Dask's collections arrays and data frames are taken. A bag becomes "
            "one by bag.to_dataframe()."
        )
    if X.ndim != 2:
        raise ValueError(f"{name} has {X.ndim} dimensions, and rows of numbers have 2: try {name}.reshape(-1, 1).")
    rows, columns = X.chunks
    if len(columns) > 1:
        raise ValueError(
            f"{name} is cut into {len(columns)} chunks along its columns, and each chunk must have whole rows: give "
            f"{name}.rechunk({{1: -1}})."
        )
    if lengths and np.isnan(rows).any():
        raise ValueError(
            f"The number of rows in each chunk of {name} is not known, as after a filter or df.values: call "
            f"{name}.compute_chunk_sizes() first, or give df.to_dask_array(lengths=True)."
        )
    if 0 in rows:
        raise ValueError(
            f"Chunk {rows.index(0)} of {name} is empty ({len(rows)} chunks of {_some(rows)} rows): join chunks with "
            f"{mend}."
        )
    if X.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} has numbers of type {X.dtype}: give {name}.astype('float64'), or choose columns of numbers."
        )
    return DaskRows(X, name=name, names=names)


def _check_numeric(X: Any, name: str) -> None:
    """Refuse a data frame with columns that are no numbers."""
    wrong = [str(column) for column, dtype in X.dtypes.items() if getattr(dtype, "kind", "O") not in "biuf"]
    if wrong:
        raise ValueError(
            f"{name} has columns that are no numbers: {', '.join(wrong[:8])}{', ...' if len(wrong) > 8 else ''}. Give "
            f"the others: {name}[[...]] or {name}.select_dtypes('number')."
        )


def _some(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers[:6])) + (", ..." if len(numbers) > 6 else "")
