"""How far long work has come: a bar for fits, in terminals and notebooks, and a count of parts for all else."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, TypeVar

from kernelpca.extras import require

Done = Callable[[int, int], object]  # is told how many parts of how many are finished
Part = TypeVar("Part")


class ProgressBar:
    """A callback that draws a bar: passes so far, components converged, the error, time taken and time left.

    `KernelPCA(callback="bar")` makes one for each fit and closes it; with a solver, use it in a `with` block.

    Parameters
    ----------
    console : rich.console.Console, optional
        Where to draw; standard error when not given.
    delay : float, default=0
        Seconds of a fit that go by without a bar. In a `with` block the bar is then there even before a solver tells of
        its first pass.
    """

    def __init__(self, console: Any = None, delay: float = 0.0) -> None:
        self.console = console
        self.delay = delay
        self._bar: Any = None
        self._task: Any = None
        self._late: threading.Timer | None = None
        self._opening = threading.Lock()

    def __call__(self, event: Any) -> None:
        """Draw the state after a pass."""
        if event.seconds < self.delay:
            return
        self._open()
        done = event.seconds
        left = event.remaining
        self._bar.update(
            self._task,
            completed=done,
            total=None if left is None else max(done + left, 1e-9),
            description=describe(event),
        )

    def _open(self) -> None:
        with self._opening:
            if self._bar is not None:
                return
            rich = require("rich.progress", "cli", "A progress bar")
            console = self.console or require("rich.console", "cli", "A progress bar").Console(stderr=True)
            columns = rich.TextColumn("{task.description}"), rich.BarColumn(), rich.TimeElapsedColumn()
            bar = rich.Progress(*columns, console=console)
            bar.start()
            self._task = bar.add_task("kernel PCA", total=None)
            self._bar = bar

    def close(self) -> None:
        """Take the bar down; the next event opens another."""
        if self._late is not None:
            self._late.cancel()
            self._late.join()
            self._late = None
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def __deepcopy__(self, memo: Any) -> Self:
        return self  # clones of an estimator draw on the same bar

    def __enter__(self) -> Self:
        self._late = threading.Timer(self.delay, self._open)
        self._late.daemon = True
        self._late.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def describe(event: Any) -> str:
    """Put an event into a few words."""
    text = f"pass {event.passes}"
    if event.converged is not None:
        text += f", {event.converged} of {event.wanted} components"
    for name, value in (("bound", event.bound), ("estimate", event.estimate), ("residual", event.relative_residual)):
        if value is not None:
            text += f", {name} {value:.0e}"
            break
    if event.remaining is not None:
        text += f", about {event.remaining:.0f} s left"
    return text


def count_parts(done: Done | None, total: int) -> Callable[[Part], Part]:
    """Return a function that gives back its argument and tells `done` that one more of `total` parts is finished."""
    finished = 0

    def count(part: Part) -> Part:
        nonlocal finished
        finished += 1
        if done is not None:
            done(finished, total)
        return part

    return count
