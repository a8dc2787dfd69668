"""How far a search has come: an event after each fit, and a bar that shows them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelpca.progress import Bar
from kernelpca.validation import check_common


@dataclass(frozen=True)
class Step:
    """What a callback is told.

    Attributes
    ----------
    done, total : int
        Fits that are finished, and all of them; None where their number is not known.
    seconds : float
        Since the beginning.
    what : str
        What was fitted last.
    """

    done: int
    total: int | None
    seconds: float
    what: str

    @property
    def remaining(self) -> float | None:
        """Seconds that are likely to be left, if fits take as long as those before."""
        return None if self.total is None else self.seconds / self.done * (self.total - self.done)

    @property
    def words(self) -> str:
        """What was done."""
        of = "" if self.total is None else f" of {self.total}"
        return f"fit {self.done}{of}: {self.what}"

    def __str__(self) -> str:
        left = "" if self.remaining is None else f", about {self.remaining:.0f} s left"
        return self.words + left


class StepBar(Bar):
    """A progress bar for steps."""

    def __init__(self, console: Any = None) -> None:
        super().__init__("kernel PCA", console)

    def __call__(self, event: Step) -> None:
        """Draw the state after a step."""
        self.show(event.remaining, None if event.total is None else event.done / event.total, event.words)


class Steps:
    """Counts fits and tells the callback.

    Attributes
    ----------
    stopped : bool
        Whether the callback has asked to stop.
    """

    def __init__(self, callback: Callable[[Step], Any] | None, total: int | None) -> None:
        self.callback, self.total = callback, total
        self.done, self.stopped, self._began = 0, False, time.perf_counter()

    def __call__(self, what: str) -> bool:
        """Note that a fit is finished; return whether to stop."""
        self.done += 1
        if self.callback is not None:
            answer = self.callback(Step(self.done, self.total, time.perf_counter() - self._began, what))
            self.stopped |= isinstance(answer, bool | np.bool_) and bool(answer)
        return self.stopped


@contextmanager
def counted(callback: Any, total: int | None) -> Iterator[Steps]:
    """Give a counter of steps for a callback: a function of a `Step`, "bar" or None."""
    if isinstance(callback, str) and callback == "bar":
        with StepBar() as bar:
            yield Steps(bar, total)
        return
    check_common(callback, True)
    yield Steps(callback, total)
