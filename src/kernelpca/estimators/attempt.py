"""A fit that succeeds, or leaves the estimator as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kernelpca.progress import ProgressBar


@contextmanager
def attempt(estimator: Any) -> Iterator[Any]:
    """Give the callback of a fit, and undo what it did to the estimator if it fails or is interrupted (Ctrl-C)."""
    before = estimator.__dict__.copy()
    wanted = estimator.callback
    callback = ProgressBar() if isinstance(wanted, str) and wanted == "bar" else wanted
    try:
        yield callback
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise
    finally:
        if isinstance(callback, ProgressBar):
            callback.close()
