"""A fit that succeeds and is measured, or leaves the estimator as it was."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from math import prod
from typing import Any

import numpy as np

from kernelpca.memory import PeakMemory
from kernelpca.progress import ProgressBar

ROWS, NUMBERS = 4000, 2**22  # from which a thread that watches memory costs little beside the fit


@contextmanager
def attempt(estimator: Any, X: Any) -> Iterator[Any]:
    """Give the callback of a fit on X, and undo what it did to the estimator if it fails or is interrupted (Ctrl-C).

    The plan of a fit that succeeds tells what all of it took, the first look at X included.
    """
    before = estimator.__dict__.copy()
    wanted = estimator.callback
    callback = ProgressBar() if isinstance(wanted, str) and wanted == "bar" else wanted
    began = time.perf_counter()
    try:
        with (
            PeakMemory.watched() if _is_large(X) else nullcontext(PeakMemory()) as peak,
            callback if isinstance(callback, ProgressBar) else nullcontext(),
        ):
            yield Remembering(callback) if callable(callback) else callback
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise
    plan = estimator.__dict__.get("plan_")
    if plan is not None and plan is not before.get("plan_"):
        estimator.plan_ = plan.measured(time.perf_counter() - began, peak.bytes)


def _is_large(X: Any) -> bool:
    """Whether rows, or a matrix, are worth watching what a fit on them takes."""
    shape = getattr(X, "shape", None) or (len(X) if hasattr(X, "__len__") else 0,)
    if not isinstance(shape[0], int):  # Dask may not know how many rows there are
        return True
    return shape[0] >= ROWS or prod(shape) >= NUMBERS


class Remembering:
    """A callback that asks to stop in every later stage of a fit once it has asked to."""

    def __init__(self, callback: Any) -> None:
        self.callback = callback
        self.stopped = False

    @property
    def expect(self) -> Any:
        """What is to be told how long a stage of the fit is likely to take, if the callback asks for that."""
        return getattr(self.callback, "expect", None)

    def __call__(self, event: Any) -> bool:
        """Tell the callback, until it has asked to stop; True from then on."""
        if not self.stopped:
            answer = self.callback(event)
            self.stopped = isinstance(answer, bool | np.bool_) and bool(answer)
        return self.stopped
