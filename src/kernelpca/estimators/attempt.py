"""A fit that succeeds, or leaves the estimator as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from kernelpca.progress import ProgressBar


@contextmanager
def attempt(estimator: Any) -> Iterator[Any]:
    """Give the callback of a fit, and undo what it did to the estimator if it fails or is interrupted (Ctrl-C)."""
    before = estimator.__dict__.copy()
    wanted = estimator.callback
    callback = ProgressBar() if isinstance(wanted, str) and wanted == "bar" else wanted
    try:
        with callback if isinstance(callback, ProgressBar) else nullcontext():
            yield Remembering(callback) if callable(callback) else callback
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise


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
