"""Rows in the chunks of a Dask array: checked, summed up and mapped where they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from operator import getitem
from typing import Any

import dask
import dask.array as da
import numpy as np

from kernelpca.dask.cluster import run, send, total_threads
from kernelpca.io.table import frame_of
from kernelpca.kernels.base import spread_numbers
from kernelpca.kernels.origin import rows_looked_at
from kernelpca.remote import RemoteRows

FAN_IN = 8  # results that are merged by one task
MERGED_HERE = 3  # results at most that are brought here and merged
KNOWN = 6  # sets of rows that were brought here and are remembered
HEAD = 1024  # first rows that are brought together: several questions are about them
IN_MEMORY = 2**24  # bytes of a chunk that rows given in memory are cut into


class DaskRows(RemoteRows):
    """The rows of a Dask array.

    Parameters
    ----------
    array : dask.array.Array of shape (n, d)
        One chunk of columns.
    name : str, default="X"
        What to call it in messages.
    names : ndarray of str, optional
        Names of the columns.
    checked : bool, default=False
        Whether chunks have been checked to be finite numbers of one kind.
    """

    def __init__(
        self, array: da.Array, name: str = "X", names: np.ndarray | None = None, checked: bool = False
    ) -> None:
        self.name = name
        self.names = names
        self.dtype = np.dtype(np.float32 if array.dtype == np.float32 else np.float64)
        self._plain = array.astype(self.dtype)
        if not checked:
            check = partial(checked_chunk, array.dtype, self.dtype, name)
            array = array.map_blocks(check, dtype=self.dtype, meta=np.empty((0, 0), self.dtype))
        self.array = array
        self.shape = array.shape
        self.edges = np.concatenate([[0], np.cumsum(array.chunks[0])])
        self.held = False  # by the workers already: nothing is left to optimize, and some releases of Dask fail at it
        self._known: list[tuple[np.ndarray, np.ndarray]] = []

    @property
    def threads(self) -> int:
        """How many chunks are worked on at a time."""
        return total_threads()

    @property
    def chunks(self) -> list[Any]:
        """The chunks, each a task of its own."""
        return self.array.to_delayed(optimize_graph=not self.held).ravel().tolist()

    def reduce(
        self,
        function: Callable[..., Any],
        merge: Callable[[Any, Any], Any],
        *aligned: np.ndarray,
        numbered: bool = False,
    ) -> Any:
        """Return the merged results of `function(rows, *parts)` on all chunks: a tree of tasks, of which the last few
        are merged here, since bringing two results here is faster than one to the other and then here.
        """

        def tree() -> list[Any]:
            found = self._tasks(function, aligned, numbered)
            while len(found) > MERGED_HERE:
                found = [dask.delayed(merged)(merge, found[i : i + FAN_IN]) for i in range(0, len(found), FAN_IN)]
            return found

        return merged(merge, run(tree))

    def collect(self, function: Callable[..., np.ndarray], *aligned: np.ndarray) -> np.ndarray:
        """Return the results of `function(rows, *parts)` one below the other."""
        return np.concatenate(run(lambda: self._tasks(function, aligned)))

    def lazily(
        self,
        function: Callable[..., np.ndarray],
        model: Any,
        width: int | None,
        dtype: Any,
        *others: DaskRows | None,
    ) -> da.Array:
        """Return what `function(model, rows, *parts)` will give, as a Dask array in the chunks of these rows."""
        elsewhere = model.elsewhere
        if elsewhere is None:
            there = dask.delayed(model, pure=False, traverse=False)
        else:
            anchors = dask.delayed(np.concatenate)(elsewhere.chunks)
            there = dask.delayed(type(model).with_anchors)(
                dask.delayed(model.with_anchors(None), traverse=False), anchors
            )
        arrays = [self.array if other is None else other.in_chunks_of(self).array for other in (self, *others)]
        given = [True, *(other is not None for other in others)]
        return da.map_blocks(
            applied,
            *arrays,
            function=function,
            model=there,
            given=given,
            dtype=dtype,
            meta=np.empty((0,) * (1 if width is None else 2), dtype),
            **({"drop_axis": 1} if width is None else {"chunks": (self.array.chunks[0], (width,))}),
        )

    def around(self, X: np.ndarray) -> DaskRows:
        """Return rows that are here as such rows too."""
        rows = max(IN_MEMORY // max(X.shape[1] * X.itemsize, 1), 1)
        return DaskRows(da.from_array(X, chunks=(rows, -1)), checked=True)

    def below(self, X: np.ndarray) -> DaskRows:
        """Return these rows below others that are here."""
        return self._like(da.concatenate([self.around(X).array, self.array]))

    def gram(self, kernel: Any) -> Any:
        """Return the kernel matrix of these rows."""
        from kernelpca.dask.gram import DaskGram

        return DaskGram(kernel, self)

    def only(self, counted: np.ndarray) -> DaskRows:
        """Return the rows for which a mask (n,) holds."""
        array = self.array[np.flatnonzero(counted)]
        return self._like(array.rechunk({0: "auto"}) if 0 in array.chunks[0] else array)

    def take(self, rows: np.ndarray) -> np.ndarray:
        """(m,) row numbers -> (m, d): these rows, brought here; the last that were are remembered."""
        rows = np.asarray(rows)
        if rows.size and rows.max() < min(HEAD, self.shape[0]):
            rows, wanted = np.arange(min(HEAD, self.shape[0])), rows
            return self.take_known(rows)[wanted]
        return self.take_known(rows)

    def take_known(self, rows: np.ndarray) -> np.ndarray:
        """(m,) row numbers -> (m, d): from those remembered, or from where they are."""
        for known, values in self._known:
            places = np.searchsorted(known, rows)
            places[places == len(known)] = 0
            if len(known) and np.array_equal(known[places], rows):
                return values[places]
        needed = np.unique(rows)
        places = np.searchsorted(needed, self.edges)
        wanted = [(i, needed[a:b] - self.edges[i]) for i, (a, b) in enumerate(pairwise(places)) if b > a]

        def tasks() -> list[Any]:
            chunks, pick = self.chunks, dask.delayed(getitem, pure=False)
            return [pick(chunks[i], numbers) for i, numbers in wanted]

        values = np.concatenate([np.empty((0, self.shape[1]), self.dtype), *run(tasks)])
        if len(needed) < self.shape[0]:
            self._known = [(needed, values), *self._known[: KNOWN - 1]]
        return values[np.searchsorted(needed, rows)]

    def astype(self, dtype: Any, copy: bool = True) -> DaskRows:
        """Return the same rows in another precision."""
        return self if dtype == self.dtype else self._like(self.array.astype(dtype))

    def __sub__(self, origin: np.ndarray) -> DaskRows:
        return self._like(self.array - origin.astype(self.dtype))

    def moments(self) -> tuple[np.ndarray, float]:
        """Return the mean (d,), and the variance of all numbers: one look at all chunks."""
        survey = self._survey
        overall = float(survey.mean.mean())
        spread = float(survey.squares.sum() + survey.n * np.square(survey.mean - overall).sum())
        return survey.mean, spread / (survey.n * len(survey.mean))

    def ranges(self) -> np.ndarray:
        """(2, d): the smallest and the largest number of each column, from the same look."""
        return np.stack([self._survey.low, self._survey.high])

    def weighted_var(self, weights: np.ndarray) -> float:
        """Return the variance of all numbers, with weights (n,) of the rows."""
        sums = partial(_weighted_sums, float(self.moments()[0].mean()))
        total = self.reduce(sums, np.add, weights) / (weights.sum() * self.shape[1])
        return float(total[1] - total[0] ** 2)

    def kept(self, rows: int) -> DaskRows:
        """Return the same in chunks of about so many rows, held by the workers from now on."""
        strips = self._like(self.array.rechunk((rows, -1)).persist())
        strips.held = True
        return strips

    def in_chunks_of(self, other: DaskRows) -> DaskRows:
        """Return the same in the chunks of other rows."""
        if self.array.chunks[0] == other.array.chunks[0]:
            return self
        if self.shape[0] != other.shape[0]:
            raise ValueError(
                f"{self.name} has {self.shape[0]} rows and {other.name} has {other.shape[0]}: both need a row for each "
                "sample."
            )
        return self._like(self.array.rechunk({0: other.array.chunks[0]}))

    def checked_by(self, part: Any) -> DaskRows:
        """Return the rows as `part.check` returns each chunk, once it is used; what is finite has been checked."""
        if part.domain != "nonnegative":
            return self
        return self._like(self.array.map_blocks(part.check, dtype=self.dtype, meta=np.empty((0, 0), self.dtype)))

    def sample_of_none(self) -> Any:
        """Return a table of no rows with the same columns."""
        empty = np.empty((0, self.shape[1]), self.dtype)
        return empty if self.names is None else frame_of(empty, self.names)

    @cached_property
    def _survey(self) -> Survey:
        """One look at all chunks, which also brings some rows here that are asked for soon."""
        spread = spread_numbers(self.shape[0], rows_looked_at(self.shape[1]))
        survey: Survey = self.reduce(partial(Survey.of, spread), Survey.merge, numbered=True)
        self._known[:0] = [(np.arange(len(survey.head)), survey.head), (spread, survey.spread)]
        self.array = self._plain  # what has been checked need not be checked again
        return survey

    def _like(self, array: da.Array) -> DaskRows:
        return DaskRows(array, self.name, self.names, checked=True)

    def _tasks(self, function: Callable[..., Any], aligned: Sequence[np.ndarray], numbered: bool = False) -> list[Any]:
        """List a task for each chunk, with its part of every aligned array, and the number of its first row."""
        (there,) = send([function])
        parts = [send([array[part] for part in self.parts]) for array in aligned]
        parts += [[part.start for part in self.parts]] if numbered else []
        call = dask.delayed(called, pure=False)
        return [call(there, chunk, *(part[i] for part in parts)) for i, chunk in enumerate(self.chunks)]


@dataclass(frozen=True)
class Survey:
    """Of rows: count; by column mean, squares about it, smallest and largest number; the first, and some others."""

    n: int
    mean: np.ndarray
    squares: np.ndarray
    low: np.ndarray
    high: np.ndarray
    head: np.ndarray
    spread: np.ndarray

    @classmethod
    def of(cls, numbers: np.ndarray, X: np.ndarray, start: int) -> Survey:
        """Return that of a chunk which begins with this row, and the rows of it with these numbers among all.

        Blocks of it are read once, while they are near.
        """
        origin = X[:HEAD].mean(axis=0, dtype=np.float64)
        low, high = np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
        sums, squares = np.zeros_like(origin), np.zeros_like(origin)
        for first in range(0, len(X), HEAD):
            block = X[first : first + HEAD] - origin  # sums of differences keep their digits
            sums += block.sum(axis=0)
            squares += np.einsum("ij,ij->j", block, block)
            low = np.minimum(low, X[first : first + HEAD].min(axis=0))
            high = np.maximum(high, X[first : first + HEAD].max(axis=0))
        squares -= np.square(sums) / len(X)
        head = X[: HEAD if start == 0 else 0].copy()
        spread = X[numbers[(start <= numbers) & (numbers < start + len(X))] - start]
        return cls(len(X), origin + sums / len(X), squares, low, high, head, spread)

    def merge(self, other: Survey) -> Survey:
        """Return that of both."""
        n, apart = self.n + other.n, other.mean - self.mean
        mean = self.mean + apart * (other.n / n)
        squares = self.squares + other.squares + np.square(apart) * (self.n * other.n / n)
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return Survey(n, mean, squares, low, high, self.head, np.concatenate([self.spread, other.spread]))


def _weighted_sums(about: float, X: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(b, d), (b,) -> (2,): weighted sums of all numbers about one near their mean, and of their squares."""
    total = np.zeros(2)
    for first in range(0, len(X), HEAD):
        block, w = X[first : first + HEAD] - np.float64(about), weights[first : first + HEAD]
        total += w @ block.sum(axis=1), w @ np.einsum("ij,ij->i", block, block)
    return total


def checked_chunk(given: np.dtype, dtype: np.dtype, name: str, block: Any, block_info: Any = None) -> np.ndarray:
    """Return a chunk as finite numbers, or say which chunk and row is to blame."""
    place, (start, stop) = block_info[0]["chunk-location"][0], block_info[0]["array-location"][0]
    width = block_info[0]["shape"][1]
    if not isinstance(block, np.ndarray) or block.ndim != 2:
        raise TypeError(f"Chunk {place} of {name} is a {type(block).__name__}; dense arrays of numbers are needed.")
    if block.shape[1] != width or (stop == stop and block.shape[0] != stop - start):
        raise ValueError(
            f"Chunk {place} of {name} has shape {block.shape}, and {(stop - start, width)} was declared. See what "
            f"makes it: {name}.blocks[{place}].compute()."
        )
    if block.dtype != given:
        raise ValueError(
            f"Chunk {place} of {name} holds {block.dtype}, and {given} was declared. Make all chunks alike: "
            f"{name}.map_blocks(lambda block: block.astype('{given}'), dtype='{given}')."
        )
    if not np.isfinite(block.sum(dtype=np.float64)):
        wrong = np.argwhere(~np.isfinite(block))
        if len(wrong):
            row, column = wrong[0]
            where = f" (row {int(start) + row} of all)" if start == start else ""
            raise ValueError(
                f"{name} has NaN or infinity: {block[row, column]} in chunk {place}, row {row} of it{where}, column "
                f"{column}; {len(np.unique(wrong[:, 0]))} rows of that chunk are affected. Drop or fill such rows "
                "first."
            )
    return block.astype(dtype, copy=False)


def called(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function that was sent ahead."""
    return function(*arguments)


def merged(merge: Callable[[Any, Any], Any], results: list[Any]) -> Any:
    """Merge results, first to last."""
    total = results[0]
    for result in results[1:]:
        total = merge(total, result)
    return total


def applied(*blocks: np.ndarray, function: Callable[..., np.ndarray], model: Any, given: list[bool]) -> np.ndarray:
    """Apply a model to blocks of rows that belong together; those that were not given are None."""
    return function(model, *(block if there else None for block, there in zip(blocks, given, strict=True)))
