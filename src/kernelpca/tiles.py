"""Work on an n x m matrix tile by tile, on every core, with BLAS kept to one thread per worker."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import lru_cache
from itertools import pairwise
from math import prod
from os import cpu_count
from threading import Event, Lock, current_thread, get_ident
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from kernelpca.progress import Done, Parts

Tile = tuple[slice, slice]
State = TypeVar("State")

TILE = 768  # rows of a tile: large enough for BLAS, small enough for the shared cache
NUMBERS = 2**18  # of rows that are looked at together: what is made of them, in float64, stays in the cache
HELPER = "kernelpca-helper"
MOST_HELPERS = 256


@lru_cache(maxsize=1)
def _blas() -> list[Any]:
    """Return what counts and sets the threads of each BLAS library in this process."""
    return [library for library in ThreadpoolController().lib_controllers if library.user_api == "blas"]


def available_threads() -> int:
    """As many workers as BLAS may use now: the user's own limits (environment, threadpoolctl) hold for us too."""
    return one_blas_thread.granted_here() or _blas_threads()


def _blas_threads() -> int:
    return max((library.num_threads for library in _blas()), default=0) or cpu_count() or 1


def blocks(n: int, size: int) -> list[slice]:
    """Cut `range(n)` into slices of nearly equal length, none longer than `size`."""
    count = max(1, -(-n // size))
    edges = [n * i // count for i in range(count + 1)]
    return [slice(a, b) for a, b in pairwise(edges)]


def row_blocks(X: Any, numbers: int = NUMBERS, most: int = 2**62) -> list[slice]:
    """Cut the rows of X, whatever it is, into blocks of about so many numbers, and of so many rows at most.

    So what is made of a block is small.
    """
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    held = getattr(X, "nnz", None) or prod(getattr(X, "shape", (n,)))
    return blocks(n, max(min(numbers * n // max(held, 1), most), 1))


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
    done: Done | None = None,
) -> list[State]:
    """Run `work(state, rows, cols)` on every tile and return the states, one for each worker.

    A worker owns its state (scratch buffers, partial sums), so none needs a lock. Which worker gets which tile is fixed
    by position, so that sums do not depend on timing. The caller is a worker too. An error or an interrupt (Ctrl-C)
    stops every worker at its next tile. `done` is told how many tiles of all the caller has worked on, who does his
    share.
    """
    workers = 1 if len(tiles) == 1 or _is_helper() else max(1, min(threads or available_threads(), len(tiles)))
    stop = Event()

    def run(which: int) -> State:
        try:
            state = make_state()
            own = tiles[which::workers]
            count = Parts(None if which else done, len(own))
            for rows, cols in own:
                if stop.is_set():
                    break
                work(state, rows, cols)
                count(None)
        except BaseException:
            stop.set()
            raise
        return state

    if workers == 1:
        return [run(0)]
    futures: list[Future[State]] = []
    with one_blas_thread:
        try:
            futures += [_helpers().submit(run, which) for which in range(1, workers)]
            return [run(0), *(future.result() for future in futures)]
        finally:  # after an error or an interrupt the helpers finish their tile and no more
            stop.set()
            wait(futures)


@lru_cache(maxsize=1)
def _helpers() -> ThreadPoolExecutor:
    """Return threads that wait for work; as many are started as are needed at once."""
    return ThreadPoolExecutor(MOST_HELPERS, thread_name_prefix=HELPER)


def _is_helper() -> bool:
    """Whether this thread is one of the helpers, which must not wait for others."""
    return current_thread().name.startswith(HELPER)


if hasattr(os, "register_at_fork"):  # a forked process has none of its parent's threads
    os.register_at_fork(after_in_child=_helpers.cache_clear)


class _OneBlasThread:
    """Keeps BLAS to one thread, so that the cores are ours to share out.

    Threads of BLAS wait for work by spinning and would take turns with our workers on the same cores: a pass right
    after a product that BLAS spread over two cores took twice its time. So a long computation enters once and shares
    out everything that is worth it.

    The limit is global, and callers may be threads themselves: the first to enter sets it, and may go on to start as
    many workers as BLAS had threads; the last to leave restores what was. Those who enter in between see one thread
    available and start no workers of their own.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._owner: int | None = None
        self._granted = 1
        self._before: list[tuple[Any, int]] = []

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._granted, self._before = _blas_threads(), [(library, library.num_threads) for library in _blas()]
                try:
                    for library, _ in self._before:
                        library.set_num_threads(1)
                except BaseException:  # an interrupt
                    self._restore()
                    raise
                self._owner = get_ident()
            self._inside += 1  # last: an interrupt before it leaves nothing half done

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._restore()
                self._owner = None

    def _restore(self) -> None:
        for library, threads in self._before:
            library.set_num_threads(threads)

    def granted_here(self) -> int | None:
        """Return how many workers the thread that entered first may start; None for all others."""
        return self._granted if self._owner == get_ident() else None


one_blas_thread = _OneBlasThread()
