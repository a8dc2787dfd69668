"""Training data as a fit uses it: the rows that count, and how much."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernelpca.kernels.base import n_rows
from kernelpca.remote import RemoteRows


@dataclass(frozen=True)
class Training:
    """Training data as a fit uses it.

    Attributes
    ----------
    rows : rows or matrix
        Those that count.
    weights : ndarray of shape (n,) or None
        Their weights, with mean one.
    counted : ndarray of bool, or slice
        Which of the rows given they are.
    seen : int or None
        How many rows there were, where `rows` are only some of them.
    copied : int
        Bytes of the rows where they are not those given.
    """

    rows: Any
    weights: np.ndarray | None = None
    counted: Any = field(default_factory=lambda: slice(None))
    seen: int | None = None
    copied: int = 0

    @property
    def n(self) -> int:
        """How many rows count."""
        return n_rows(self.rows) if self.seen is None else self.seen

    @property
    def all_count(self) -> bool:
        """Whether no row was left out."""
        return self.weights is None or bool(self.counted.all())

    @property
    def numbers(self) -> np.ndarray:
        """(n,): the numbers of the rows that count, among those given."""
        return np.arange(n_rows(self.rows)) if self.weights is None else np.flatnonzero(self.counted)

    def spread(self, values: np.ndarray, rest: float = np.nan) -> np.ndarray:
        """(n, ...) one for each row that counts -> one for each row given, and `rest` for the others."""
        if self.all_count:
            return values
        result = np.full((len(self.counted), *values.shape[1:]), rest, values.dtype)
        result[self.counted] = values
        return result


def counted_rows(rows: Any, counted: np.ndarray) -> Any:
    """Keep the rows that count, wherever they are."""
    if isinstance(rows, RemoteRows):
        return rows.only(counted)
    return rows if counted.all() else rows[counted]


def is_block(K: Any) -> bool:
    """Whether a given matrix is not square: kernel values of all samples with some of them."""
    return isinstance(K, np.ndarray) and K.shape[0] != K.shape[1]


def submatrix(K: Any, counted: np.ndarray) -> Any:
    """Keep the rows and columns that count."""
    if counted.all():
        return K
    if isinstance(K, np.ndarray):
        return K[np.ix_(counted, counted)]
    raise ValueError(
        "Zero sample weights need a kernel matrix given as an array; drop the rows from your operator instead."
    )
