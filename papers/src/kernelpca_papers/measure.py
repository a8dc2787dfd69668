"""What a call takes: seconds of processor time, and the peak of memory of its process."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
SELF = Path("/proc/self")
RESET_PEAK = "5"


def measured(call: Callable[[], T]) -> tuple[T, float, int]:
    """Call it; return its answer, the seconds of all its threads, and the peak of resident memory meanwhile, in bytes.

    Processor time does not depend on what else the machine does. Where the system has no peak that can be reset, the
    peak is that of the process since it began.
    """
    reset_peak()
    began = time.process_time()
    answer = call()
    return answer, time.process_time() - began, peak_memory()


def reset_peak() -> None:
    """Begin a new peak, where the system can."""
    with suppress(OSError):
        (SELF / "clear_refs").write_text(RESET_PEAK)


def peak_memory() -> int:
    """Return the peak of resident memory in bytes."""
    try:
        return 1024 * int((SELF / "status").read_text().split("VmHWM:")[1].split()[0])
    except (OSError, IndexError):
        unit = 1 if sys.platform == "darwin" else 1024
        return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
