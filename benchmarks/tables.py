"""Tables of a benchmark run as Markdown and CSV, with the machine they were measured on."""

from __future__ import annotations

import csv
import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import scipy
import sklearn
from threadpoolctl import threadpool_info

RESULTS = Path(__file__).parent / "results"
ASLEEP = 0.15  # seconds after which no thread of BLAS is looking for work
PRESENT = 2 * 2**30  # bytes that are made present before each run


def machine() -> str:
    """Describe this machine in one sentence."""
    cpu = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    blas = next((lib for lib in threadpool_info() if lib["user_api"] == "blas"), {})
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{cpu}, {os.cpu_count()} cores, {memory:.0f} GiB; {blas.get('internal_api', 'BLAS')} "
        f"{blas.get('version', '')} on {blas.get('num_threads', '?')} threads; Python {platform.python_version()}, "
        f"NumPy {np.__version__}, SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}."
    )


@dataclass
class Table:
    """Rows of text under a title."""

    title: str
    columns: Sequence[str]
    rows: list[list[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, *cells: object) -> None:
        """Add a row and show it."""
        self.rows.append([_text(cell) for cell in cells])
        print(" | ".join(self.rows[-1]), flush=True)

    def markdown(self) -> str:
        """Return the table as a page."""
        lines = [f"# {self.title}", "", machine(), ""]
        lines += ["| " + " | ".join(self.columns) + " |", "|" + "---|" * len(self.columns)]
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        return "\n".join([*lines, "", *self.notes, ""])

    def write(self, name: str) -> None:
        """Write NAME.md and NAME.csv into the folder of results."""
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{name}.md").write_text(self.markdown())
        with (RESULTS / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(self.columns)
            writer.writerows(self.rows)


def _text(cell: object) -> str:
    if isinstance(cell, float):
        return f"{cell:.3g}"
    return str(cell)


def prepare(present: int = PRESENT) -> None:
    """Make the machine the same for whoever is timed next.

    Threads of whoever came before look for more work for a while: wait until they are asleep. And touch and free
    `present` bytes of memory: virtual machines give memory that has been free for seconds back to their host, and
    getting it again was seen to cost fifteen times as much as touching it (0.4 s instead of 0.02 s for 200 MB), which
    would be paid by whoever comes after a contestant that takes long.
    """
    np.ones(present // 8)
    time.sleep(ASLEEP)


def timed(
    runs: dict[str, Callable[[], object]],
    repeats: int = 3,
    pick: Callable[[list[float]], float] = min,
    present: int = PRESENT,
) -> dict[str, tuple[float, object]]:
    """Return the shortest time (or another pick) of each run, and what it gave.

    They take turns, so that none has the quieter machine, each prepared in the same way.
    """
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    answers = {}
    for _ in range(repeats):
        for name, run in runs.items():
            prepare(present)
            began = time.perf_counter()
            answers[name] = run()
            seconds[name].append(time.perf_counter() - began)
    return {name: (float(pick(seconds[name])), answers[name]) for name in runs}


def mse(A: np.ndarray, B: np.ndarray) -> float:
    """Return the mean squared error of an entry."""
    return float(np.square(A - B).mean())
