"""Run experiments: pieces on all cores, each kept once done, so that an interrupted run goes on where it stopped."""

from __future__ import annotations

import signal
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from joblib.externals.loky import get_reusable_executor
from threadpoolctl import threadpool_limits

from kernelpca.datasets import DataError, MissingData, find
from kernelpca_papers.drawing import styled
from kernelpca_papers.experiment import Experiment, Findings, Found, Piece
from kernelpca_papers.measure import measured
from kernelpca_papers.store import Done, Store, keep

IDLE = 600.0  # seconds after which a process without work ends
AHEAD = 4  # experiments whose pieces are in line


@dataclass(frozen=True)
class Event:
    """Something happened: an experiment began, a piece was finished, or all of an experiment."""

    kind: str  # "began", "piece", "finished"
    experiment: Experiment
    pieces: int = 0
    from_store: bool = False
    result: Result | None = None


@dataclass(frozen=True)
class Result:
    """An experiment that was run, skipped for want of data, or that failed."""

    experiment: Experiment
    size: str
    findings: Findings | None = None
    seconds: float = 0.0  # of processor time, all pieces added up
    wall: float = 0.0  # seconds that this run waited for it
    peak: int = 0  # of the piece that took most
    pieces: int = 0
    skipped: str = ""
    error: str = ""
    trace: str = field(default="", repr=False)

    @property
    def fails(self) -> bool:
        """Whether something that should come out did not."""
        claims = self.findings.claims if self.findings else ()
        return bool(self.error) or any(claim.fails for claim in claims)


Watch = Callable[[Event], None]


def reproduce(
    experiments: Sequence[Experiment], size: str, store: Store, jobs: int, watch: Watch | None = None
) -> Iterator[Result]:
    """Yield the result of each experiment as it is finished: first those that share the cores, then the timed ones.

    Parameters
    ----------
    experiments : sequence of Experiment
    size : {"full", "quick", "tiny"}
    store : Store
        Where finished pieces are kept, and found again.
    jobs : int
        Processes at a time; 1 runs everything in this one.
    watch : callable, optional
        Told of every Event.
    """
    told = watch or (lambda event: None)
    rest = deque(sorted(experiments, key=lambda one: one.alone))
    line: deque[_Work] = deque()
    try:
        while line or rest:
            # the pieces of the next ones wait in line, so that no core is idle while one ends and is drawn
            while rest and (not line or (jobs > 1 and len(line) < AHEAD and not rest[0].alone)):
                line.append(_Work(rest.popleft(), size, store, jobs))
            result = line.popleft().finish(told)
            told(Event("finished", result.experiment, result=result))
            yield result
    finally:
        if jobs > 1:
            _workers(jobs).shutdown(wait=True, kill_workers=True)


class _Work:
    """An experiment under way: pieces that are in the store, and those that are being computed."""

    def __init__(self, experiment: Experiment, size: str, store: Store, jobs: int) -> None:
        self.experiment, self.size, self.jobs = experiment, size, jobs
        self.skipped = self.error = ""
        try:
            for name in experiment.data:
                find(name)
        except MissingData as error:
            self.skipped = str(error)
        except DataError as error:
            self.error = str(error)
        usable = not (self.skipped or self.error)
        self.pieces = experiment.plan(size) if usable else []
        paths = [store.path(experiment, piece) for piece in self.pieces]
        self.done = {i: kept for i, path in enumerate(paths) if (kept := store.get(path))}
        threads = 1 if jobs > 1 and not experiment.alone else None
        self.calls = {
            i: partial(_run, experiment.run, piece, threads, path)
            for i, (piece, path) in enumerate(zip(self.pieces, paths, strict=True))
            if i not in self.done
        }
        self.futures = {} if threads is None else {_workers(jobs).submit(call): i for i, call in self.calls.items()}

    def finish(self, watch: Watch) -> Result:
        """Wait for all pieces and conclude."""
        if self.skipped or self.error:
            return Result(self.experiment, self.size, skipped=self.skipped, error=self.error)
        began = time.perf_counter()
        watch(Event("began", self.experiment, pieces=len(self.pieces)))
        for _ in self.done:
            watch(Event("piece", self.experiment, from_store=True))
        try:
            for i, one in self._computed():
                self.done[i] = one
                watch(Event("piece", self.experiment))
            done = [self.done[i] for i in range(len(self.pieces))]
            with styled():
                findings = self.experiment.conclude(Found(self.pieces, [one.values for one in done]))
        except Exception as error:  # it must not cost the other experiments: it is reported, and fails the run
            text = f"{type(error).__name__}: {error}"
            return Result(self.experiment, self.size, error=text, trace=traceback.format_exc())
        finally:
            for future in self.futures:
                future.cancel()
        return Result(
            self.experiment,
            self.size,
            findings,
            seconds=sum(one.seconds for one in done),
            wall=time.perf_counter() - began,
            peak=max(one.peak for one in done),
            pieces=len(self.pieces),
        )

    def _computed(self) -> Iterator[tuple[int, Done]]:
        """Yield the missing pieces: in any order where they share the cores, else one after the other.

        A process that dies, for want of memory perhaps, takes along whatever was in line: that is tried once more, one
        piece at a time.
        """
        with suppress(BrokenProcessPool):
            for future in as_completed(self.futures):
                yield self.futures[future], future.result()
        for i, call in self.calls.items():
            if i not in self.done:
                yield i, call() if self.jobs == 1 else _workers(self.jobs).submit(call).result()


def _workers(jobs: int) -> Any:
    """Return the processes that serve all experiments: starting them takes seconds."""
    return get_reusable_executor(max_workers=jobs, timeout=IDLE, initializer=_leave_interrupts)


def _leave_interrupts() -> None:
    """Leave interrupts to the process that waits."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run(run: Callable[..., Any], piece: Piece, threads: int | None, path: Path) -> Done:
    """Run one piece on so many threads of BLAS and keep it.

    What it warns of is the experiment's business, which notes it.
    """
    with warnings.catch_warnings(), threadpool_limits(threads):
        warnings.simplefilter("ignore")
        values, seconds, peak = measured(partial(run, **piece))
    arrays = {name: np.asarray(value) for name, value in values.items()}
    for name, array in arrays.items():
        if array.dtype == object or name.startswith("_"):
            raise TypeError(f"A piece gave {name!r} of type {array.dtype}: give arrays of numbers or text.")
    done = Done(arrays, seconds, peak)
    keep(path, done)
    return done
