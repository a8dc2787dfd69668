"""Rows that lie elsewhere, in chunks: what every path may ask of them, whoever holds them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Self

import numpy as np

from kernelpca.extras import require


class RemoteRows(ABC):
    """Rows (n, d) of numbers in chunks that are worked on where they are; only what follows from them is brought here.

    They look enough like an array (shape, dtype, a few rows by index, mean and variance) for code that asks no more.
    Functions that are sent to chunks must be such that they can be pickled.

    Attributes
    ----------
    shape : tuple of int
        (n, d).
    dtype : dtype
        float32 or float64.
    edges : ndarray of shape (number of chunks + 1,)
        The first row of each chunk, and n.
    """

    shape: tuple[int, int]
    dtype: np.dtype
    edges: np.ndarray
    ndim = 2
    __array_ufunc__ = None  # NumPy must not walk through them row by row

    @abstractmethod
    def reduce(
        self,
        function: Callable[..., Any],
        merge: Callable[[Any, Any], Any],
        *aligned: np.ndarray,
        numbered: bool = False,
    ) -> Any:
        """Return the merged results of `function(rows, *parts)` on all chunks.

        Arrays with n rows that are `aligned` are cut as the rows are; with `numbered` the number of the chunk's first
        row is given too. Results are merged in pairs, in an order that is fixed.
        """

    @abstractmethod
    def collect(self, function: Callable[..., np.ndarray], *aligned: np.ndarray) -> np.ndarray:
        """Return the results of `function(rows, *parts)`, as many rows as the chunk has, one below the other."""

    @abstractmethod
    def lazily(
        self, function: Callable[..., np.ndarray], model: Any, width: int | None, dtype: Any, *others: Any
    ) -> Any:
        """Return what `function(model, rows, *parts)` will give, in the caller's kind of array; nothing is computed.

        The result has `width` columns, or is one number for each row where that is None. `others` are remote rows of
        the same length, or None. A model whose own rows lie elsewhere (`model.elsewhere`) is given them where it is
        used (`model.with_anchors`).
        """

    @abstractmethod
    def around(self, X: np.ndarray) -> Self:
        """Return rows that are here as such rows too."""

    @abstractmethod
    def below(self, X: np.ndarray) -> Self:
        """Return these rows below others that are here."""

    @abstractmethod
    def gram(self, kernel: Any) -> Any:
        """Return the kernel matrix of these rows, for products with blocks of columns."""

    @abstractmethod
    def only(self, counted: np.ndarray) -> Self:
        """Return the rows for which a mask (n,) holds."""

    @abstractmethod
    def take(self, rows: np.ndarray) -> np.ndarray:
        """(m,) row numbers -> (m, d): these rows, brought here."""

    @abstractmethod
    def astype(self, dtype: Any, copy: bool = True) -> Self:
        """Return the same rows in another precision."""

    @abstractmethod
    def __sub__(self, origin: np.ndarray) -> Self: ...

    @abstractmethod
    def moments(self) -> tuple[np.ndarray, float]:
        """Return the mean (d,), and the variance of all numbers about their mean."""

    @abstractmethod
    def ranges(self) -> np.ndarray:
        """(2, d): the smallest and the largest number of each column."""

    @abstractmethod
    def weighted_var(self, weights: np.ndarray) -> float:
        """Return the variance of all numbers, with weights (n,) of the rows."""

    @abstractmethod
    def checked_by(self, part: Any) -> Self:
        """Return the rows as `part.check` returns each chunk, once it is used."""

    @abstractmethod
    def sample_of_none(self) -> Any:
        """Return a table of no rows with the same columns, names included."""

    def fetch(self, rows: np.ndarray) -> None:
        """Bring rows here that will be asked for one after the other."""
        self.take(rows)

    def __getitem__(self, rows: Any) -> np.ndarray:
        if isinstance(rows, slice):
            return self.take(np.arange(*rows.indices(self.shape[0])))
        numbers = np.asarray(rows)
        return self.take(np.where(numbers < 0, numbers + self.shape[0], numbers))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise TypeError("Rows that lie elsewhere are brought here only on purpose, by rows[...].")

    @property
    @abstractmethod
    def threads(self) -> int:
        """How many chunks are worked on at a time."""

    @property
    def parts(self) -> list[slice]:
        """The rows of each chunk."""
        return [slice(int(a), int(b)) for a, b in pairwise(self.edges)]

    def __len__(self) -> int:
        return self.shape[0]

    def mean(self, axis: int = 0, dtype: Any = None) -> np.ndarray:
        """(d,): the mean of the rows."""
        return self.moments()[0].astype(dtype or self.dtype)

    def var(self, dtype: Any = None) -> float:
        """Return the variance of all numbers."""
        return self.moments()[1]

    def min(self) -> float:
        """Return the smallest number."""
        return float(self.ranges()[0].min())

    def copy(self) -> Self:
        """Return these rows, which nobody changes."""
        return self


def is_remote(X: Any) -> bool:
    """Whether X lies elsewhere: remote rows, or a collection of Dask's that can be made such."""
    return isinstance(X, RemoteRows) or hasattr(X, "__dask_graph__") or getattr(X, "is_lazy", False)


def as_remote(X: Any, **options: Any) -> RemoteRows:
    """Return a collection of Dask's as remote rows, or say what is wrong with it."""
    if isinstance(X, RemoteRows):
        return X
    return require("kernelpca.dask", "dask", "Data in Dask").as_rows(X, **options)


def gathered(X: Any) -> Any:
    """Bring rows here if they are elsewhere."""
    return X[:] if isinstance(X, RemoteRows) else X
