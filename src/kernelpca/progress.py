"""How far long work has come: a line in a terminal or a notebook, with a bar, the time taken and the time left."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, TypeVar

from kernelpca.extras import require

# is told how many parts of how many are finished; a count that begins again is that of another stage
Done = Callable[[int, int], object]
Part = TypeVar("Part")

LATE = 1.0  # seconds past its end after which a countdown was wrong
FULL = 0.999  # of a bar: at the end of it rich stops the clock, and more work may follow


class Countdown:
    """The time that is left, as it was told last and counted down since; formatted, it is that in words."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._ends: float | None = None

    def set(self, left: float) -> None:
        """Begin anew, with so many seconds."""
        self._ends = time.perf_counter() + left

    def part(self) -> float | None:
        """Return which part of all the time has gone by since this was made, if that is known."""
        if self._ends is None:
            return None
        now = time.perf_counter()
        return (now - self._began) / max(self._ends - self._began, now - self._began, 1e-9)

    def __format__(self, spec: str) -> str:
        if self._ends is None:
            return ""
        left = self._ends - time.perf_counter()
        return "longer than expected" if left < -LATE else f"about {readable_seconds(max(round(left), 0))} left"


class Bar:
    """A line on a terminal: what is done, a bar, the time taken and the time left.

    What is told before `delay` seconds have gone by is kept, and drawn then. Use it in a `with` block, or close it.

    Parameters
    ----------
    what : str
        What is done.
    console : rich.console.Console, optional
        Where to draw; standard error when not given.
    delay : float, default=0
        Seconds that go by without a bar.
    stays : bool, default=True
        Whether the line is still there when all is done.
    """

    def __init__(self, what: str, console: Any = None, delay: float = 0.0, stays: bool = True) -> None:
        self.what, self.console, self.delay, self.stays = what, console, delay, stays
        self._line: Any = None
        self._task: Any = None
        self._late: threading.Timer | None = None
        self._stage = self._told = 0.0  # when what is counted began, and when it was counted last
        self._parts = 0
        self._left = Countdown()
        self._counts = False  # parts; a bar without a count follows the time

    def open(self) -> None:
        """Begin to count the time, if that has not begun."""
        if self._line is not None:
            return
        rich = require("rich.progress", "cli", "A progress bar")
        console = self.console or require("rich.console", "cli", "A progress bar").Console(stderr=True)
        columns = (
            rich.TextColumn("{task.description}", markup=False),
            rich.BarColumn(),
            rich.TaskProgressColumn(),
            rich.TimeElapsedColumn(),
            rich.TextColumn("{task.fields[left]}"),
        )
        self._stage = self._told = time.perf_counter()
        self._parts, self._left, self._counts = 0, Countdown(), False
        move = self._move

        class Line(rich.Progress):  # type: ignore[name-defined]
            def get_renderables(self) -> Any:  # many times a second
                move()
                return super().get_renderables()

        self._line = Line(*columns, console=console, transient=not self.stays)
        self._task = self._line.add_task(self.what, total=None, left=self._left)
        if not self.delay:
            self._line.start()
            return
        self._late = threading.Timer(self.delay, self._line.start)  # also where nothing is told for longer
        self._late.daemon = True
        self._late.start()

    def show(self, left: float | None = None, part: float | None = None, what: str | None = None) -> None:
        """Draw how many seconds are left, and which part of the work is done; what is not known stays as it was."""
        self.open()
        if left is not None:
            self._left.set(left)
        self._counts = part is not None
        self._fill(part)
        self._line.update(self._task, description=what)

    def _move(self) -> None:
        if not self._counts:
            self._fill(self._left.part())

    def _fill(self, part: float | None) -> None:
        if part is not None and self._line is not None:
            self._line.update(self._task, completed=min(part, FULL), total=1.0)

    def done(self, parts: int, total: int) -> None:
        """Draw that so many parts of a stage are finished; the others are taken to last as long as these."""
        self.open()
        if parts < self._parts:
            self._stage = self._told
        self._parts, self._told = parts, time.perf_counter()
        taken = self._told - self._stage
        self.show(taken / parts * (total - parts) if parts else None, parts / max(total, 1))

    def close(self) -> None:
        """Take the bar down; what is told later opens another."""
        if self._late is not None:
            self._late.cancel()
            self._late.join()
            self._late = None
        if self._line is not None and self._line.live.is_started:
            self._line.stop()
        self._line = None

    def __deepcopy__(self, memo: Any) -> Self:
        return self  # clones of an estimator draw on the same bar

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class ProgressBar(Bar):
    """A callback that draws a bar: passes so far, components converged, the error, time taken and time left.

    `KernelPCA(callback="bar")` makes one for each fit and closes it; with a solver, use it in a `with` block.

    Parameters
    ----------
    console : rich.console.Console, optional
        Where to draw; standard error when not given.
    delay : float, default=0
        Seconds of a fit that go by without a bar. In a `with` block the bar is then there even before a solver tells of
        its first pass.
    stays : bool, default=True
        Whether the line is still there when all is done.
    """

    def __init__(self, console: Any = None, delay: float = 0.0, stays: bool = True) -> None:
        super().__init__("kernel PCA", console, delay, stays)

    def __call__(self, event: Any) -> None:
        """Draw the state after a pass."""
        self.show(event.remaining, what=describe(event))

    def expect(self, seconds: float, what: str) -> None:
        """Count down from what a stage of a fit is likely to take, until a solver knows better."""
        self.show(seconds, what=what)


def describe(event: Any) -> str:
    """Put an event into a few words."""
    text = f"pass {event.passes}"
    if event.converged is not None:
        text += f", {event.converged} of {event.wanted} components"
    for name, value in (("bound", event.bound), ("estimate", event.estimate), ("residual", event.relative_residual)):
        if value is not None:
            text += f", {name} {value:.0e}"
            break
    return text


class Parts:
    """Counts parts of some work as they are finished, and tells `done`; a part that it is called with is given back."""

    def __init__(self, done: Done | None, total: int) -> None:
        self.done, self.total, self.finished = done, total, 0

    def __call__(self, part: Part) -> Part:
        """Note that a part is finished."""
        self.reach(self.finished + 1)
        return part

    def reach(self, finished: int) -> None:
        """Note that so many are finished."""
        told, self.finished = self.finished, finished
        if self.done is not None and finished > told:
            self.done(finished, self.total)


def readable_seconds(seconds: float) -> str:
    """Write a time for a person."""
    if seconds == 0:
        return "0 s"
    if seconds < 0.0995:
        return f"{1000 * seconds:.2g} ms"
    if seconds < 99.5:
        return f"{seconds:.2g} s"
    return f"{seconds / 60:.0f} min"
