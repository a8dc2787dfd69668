"""Rows of numbers with the names of their columns, in memory or not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelpca.extras import require

SHOWN = 5  # names of columns that are printed


@dataclass(frozen=True)
class Table:
    """Rows (n, d) as a file has them; every estimator takes it.

    Attributes
    ----------
    values : ndarray, memmap or dask array of shape (n, d)
        The numbers.
    columns : tuple of str or None
        Names of the columns, where the file has them.
    path : str
        Where they come from.
    """

    values: Any
    columns: tuple[str, ...] | None = None
    path: str = ""

    @property
    def shape(self) -> tuple[int, ...]:
        """(n, d)."""
        return self.values.shape

    @property
    def ndim(self) -> int:
        """2."""
        return self.values.ndim

    @property
    def dtype(self) -> np.dtype:
        """The type of the numbers."""
        return self.values.dtype

    @property
    def is_lazy(self) -> bool:
        """Whether the numbers are a Dask array, of which nothing has been read yet."""
        return hasattr(self.values, "__dask_graph__")

    def __repr__(self) -> str:
        names = None if self.columns is None else ", ".join(self.columns[:SHOWN])
        more = ", ..." if self.columns is not None and len(self.columns) > SHOWN else ""
        parts = [
            " x ".join(map(str, self.shape)),
            str(self.dtype),
            *(["not read yet"] if self.is_lazy else []),
            *([] if names is None else [f"columns {names}{more}"]),
            *([f"from {self.path}"] if self.path else []),
        ]
        return f"Table({', '.join(parts)})"

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Any:
        return self.values[rows]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        values = np.asarray(self.values, dtype)
        return values.copy() if copy and values is self.values else values

    def named(self) -> Any:
        """Return the values with the names of their columns: a data frame, or an array where there are no names."""
        return self.values if self.columns is None else frame_of(self.values, self.columns)


def frame_of(values: np.ndarray, columns: Iterable[str]) -> Any:
    """(n, d) -> a data frame of pandas, in which scikit-learn finds names."""
    pandas = require("pandas", "io", "Keeping names of columns")
    return pandas.DataFrame(values, columns=list(columns), copy=False)
