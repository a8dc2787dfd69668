"""Files as Dask arrays, and Dask arrays as blocks to write."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import dask.array as da
import numpy as np

from kernelpca.dask.cluster import run, total_threads
from kernelpca.io.protocol import Reader


def from_reader(reader: Reader, rows: int) -> da.Array:
    """Return a file as an array in chunks of so many rows; each is read by whoever works on it."""
    n, d = reader.shape
    chunks = (tuple(min(rows, n - start) for start in range(0, n, rows)), (d,))
    return da.map_blocks(
        read_chunk, reader=reader, chunks=chunks, dtype=reader.dtype, meta=np.empty((0, 0), reader.dtype)
    )


def read_chunk(reader: Reader, block_info: Any = None) -> np.ndarray:
    """Return the rows of a chunk."""
    (start, stop), _ = block_info[None]["array-location"]
    return reader.take(start, stop)


def computed_blocks(array: da.Array, missing: list[int]) -> Iterator[tuple[int, np.ndarray]]:
    """Compute some chunks of rows, as many at a time as there are threads, and yield them in order."""
    together = max(total_threads(), 1)
    for first in range(0, len(missing), together):
        numbers = missing[first : first + together]
        yield from zip(numbers, run(partial(_blocks, array, numbers)), strict=True)


def _blocks(array: da.Array, numbers: list[int]) -> list[da.Array]:
    return [array.blocks[i] for i in numbers]
