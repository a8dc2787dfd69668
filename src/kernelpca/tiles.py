"""Work on an n x m matrix tile by tile, on every core, with BLAS kept to one thread per worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from functools import lru_cache
from itertools import pairwise
from os import cpu_count
from threading import Event, Lock
from typing import TypeVar

from threadpoolctl import ThreadpoolController

Tile = tuple[slice, slice]
State = TypeVar("State")

TILE = 768  # rows of a tile: large enough for BLAS, small enough for the shared cache


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def available_threads() -> int:
    """As many workers as BLAS may use now: the user's own limits (environment, threadpoolctl) hold for us too."""
    blas = [lib["num_threads"] for lib in _controller().info() if lib["user_api"] == "blas"]
    return max(blas, default=cpu_count() or 1)


def blocks(n: int, size: int) -> list[slice]:
    """Cut `range(n)` into slices of nearly equal length, none longer than `size`."""
    count = max(1, -(-n // size))
    edges = [n * i // count for i in range(count + 1)]
    return [slice(a, b) for a, b in pairwise(edges)]


def all_tiles(n: int, m: int, size: int = TILE) -> list[Tile]:
    """List the tiles that cover an n x m matrix; where it is low, they are longer."""
    length = max(size, size * size // max(min(n, size), 1))
    return [(rows, cols) for rows in blocks(n, size) for cols in blocks(m, length)]


def half_tiles(n: int, size: int = TILE) -> list[Tile]:
    """List the tiles on and above the diagonal of an n x n matrix."""
    return [(rows, cols) for rows in blocks(n, size) for cols in blocks(n, size) if cols.start >= rows.start]


def share_out(
    tiles: Sequence[Tile],
    work: Callable[[State, slice, slice], None],
    make_state: Callable[[], State],
    threads: int | None = None,
) -> list[State]:
    """Run `work(state, rows, cols)` on every tile and return the states, one for each worker.

    A worker owns its state (scratch buffers, partial sums), so none needs a lock. Which worker gets which
    tile is fixed by position, so that sums do not depend on timing. An error or an interrupt (Ctrl-C) stops every
    worker at its next tile.
    """
    workers = max(1, min(threads or available_threads(), len(tiles)))

    stop = Event()

    def run(which: int) -> State:
        state = make_state()
        for rows, cols in tiles[which::workers]:
            if stop.is_set():
                break
            work(state, rows, cols)
        return state

    if workers == 1:
        return [run(0)]
    with one_blas_thread, ThreadPoolExecutor(workers, thread_name_prefix="kernelpca") as pool:
        futures = [pool.submit(run, which) for which in range(workers)]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:  # after an error or an interrupt the workers should not go on to the end
            stop.set()
        return [future.result() for future in futures]


class _OneBlasThread:
    """Keeps BLAS to one thread while any pool of ours works.

    The limit is global, and callers may be threads themselves: the first to enter sets it, and the last to leave
    restores what was. Those who enter in between see one thread available and start no pool of their own.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._limit: AbstractContextManager[object] | None = None

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._limit = _controller().limit(limits=1, user_api="blas")
                self._limit.__enter__()

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0 and self._limit is not None:
                self._limit.__exit__(None, None, None)
                self._limit = None


one_blas_thread = _OneBlasThread()
