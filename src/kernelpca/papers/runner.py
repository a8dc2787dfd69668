"""Run experiments: pieces on all cores, each kept once done, so that an interrupted run goes on where it stopped."""

from __future__ import annotations

import signal
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from joblib.externals.loky import get_reusable_executor
from threadpoolctl import threadpool_limits

from kernelpca.datasets import DataError, MissingData, find
from kernelpca.papers.drawing import styled
from kernelpca.papers.experiment import Experiment, Findings, Found, Piece
from kernelpca.papers.measure import measured
from kernelpca.papers.store import Done, Store


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
    wall: float = 0.0  # seconds that this run took
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
    """Yield the result of each experiment as it is finished.

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
    for experiment in experiments:
        result = _reproduce_one(experiment, size, store, jobs, told)
        told(Event("finished", experiment, result=result))
        yield result


def _reproduce_one(experiment: Experiment, size: str, store: Store, jobs: int, watch: Watch) -> Result:
    began = time.perf_counter()
    try:
        for name in experiment.data:
            find(name)
    except MissingData as error:
        return Result(experiment, size, skipped=str(error))
    except DataError as error:
        return Result(experiment, size, error=str(error))
    pieces = experiment.plan(size)
    watch(Event("began", experiment, pieces=len(pieces)))
    try:
        done = _finish(experiment, pieces, store, 1 if experiment.alone else jobs, jobs > 1, watch)
        with styled():
            findings = experiment.conclude(Found(pieces, [one.values for one in done]))
    except Exception as error:  # one experiment's failure must not cost the others: it is reported, and fails the run
        text = f"{type(error).__name__}: {error}"
        return Result(experiment, size, error=text, trace=traceback.format_exc())
    return Result(
        experiment,
        size,
        findings,
        seconds=sum(one.seconds for one in done),
        wall=time.perf_counter() - began,
        peak=max(one.peak for one in done),
        pieces=len(pieces),
    )


def _finish(
    experiment: Experiment, pieces: list[Piece], store: Store, jobs: int, elsewhere: bool, watch: Watch
) -> list[Done]:
    """Return what every piece gave, from the store or computed now."""
    done = {i: kept for i, piece in enumerate(pieces) if (kept := store.get(experiment, piece))}
    for _ in done:
        watch(Event("piece", experiment, from_store=True))
    missing = [i for i in range(len(pieces)) if i not in done]
    calls = {i: partial(_run, experiment.run, pieces[i]) for i in missing}
    for i, one in _in_processes(calls, jobs, not experiment.alone) if elsewhere else _here(calls):
        store.put(experiment, pieces[i], one)
        done[i] = one
        watch(Event("piece", experiment))
    return [done[i] for i in range(len(pieces))]


Calls = Mapping[int, Callable[[], Done]]


def _here(calls: Calls) -> Iterator[tuple[int, Done]]:
    for i, call in calls.items():
        yield i, call()


def _in_processes(calls: Calls, jobs: int, one_thread: bool) -> Iterator[tuple[int, Done]]:
    if not calls:
        return
    executor = get_reusable_executor(max_workers=jobs, initializer=_prepare, initargs=(one_thread,), reuse=False)
    try:
        futures = {executor.submit(call): i for i, call in calls.items()}
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:
        executor.shutdown(wait=True, kill_workers=True)


def _prepare(one_thread: bool) -> None:
    """Leave interrupts to the process that waits, and share the cores between pieces."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if one_thread:
        threadpool_limits(1)


def _run(run: Callable[..., Any], piece: Piece) -> Done:
    """Run one piece; what it warns of is the experiment's business, which says so in its notes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values, seconds, peak = measured(partial(run, **piece))
    arrays = {name: np.asarray(value) for name, value in values.items()}
    for name, array in arrays.items():
        if array.dtype == object or name.startswith("_"):
            raise TypeError(f"A piece gave {name!r} of type {array.dtype}: give arrays of numbers or text.")
    return Done(arrays, seconds, peak)
