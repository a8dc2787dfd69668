"""How many bytes there are, and how many a user grants."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from numbers import Real
from pathlib import Path
from threading import Event, Thread

_UNITS = {
    "": 1,
    "k": 10**3,
    "m": 10**6,
    "g": 10**9,
    "t": 10**12,
    "ki": 2**10,
    "mi": 2**20,
    "gi": 2**30,
    "ti": 2**40,
}
SHARE = 0.5  # of the free memory, when the user sets no limit


def parse_bytes(limit: int | float | str) -> int:
    """Read a number of bytes, or a string such as "4GB", "500 MiB"."""
    if isinstance(limit, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?(?:e\d+)?)\s*([kmgt]i?)?b?\s*", limit.lower())
        if match:
            limit = float(match[1]) * _UNITS[match[2] or ""]
    if isinstance(limit, bool) or not isinstance(limit, Real) or not 1 <= limit < float("inf"):
        raise ValueError(
            f"memory_limit={limit!r} is not an amount of memory. Give a number of bytes or a string such as "
            '"4GB" or "500MiB", or None for half of what is free.'
        )
    return int(limit)


@contextmanager
def blaming_the_function(rows: int, columns: int) -> Iterator[None]:
    """Say whose allocation failed, where a user's kernel function asks for more memory than there is."""
    try:
        yield
    except MemoryError as error:
        raise MemoryError(
            f"The kernel function asked for more memory than there is, for blocks of {rows} and {columns} rows "
            f"({error}). It is given small blocks and must return an array of shape ({rows}, {columns}): look for a "
            "larger array inside it, such as one of all pairs and all features, and loop over features instead."
        ) from error


def free_bytes() -> int:
    """Memory that can still be used by this process, cgroup limits included."""
    free = [_free_of_machine()]
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        try:
            held = int(Path(used).read_text()) - _cached_files(Path(used).with_name("memory.stat"))
            free.append(int(Path(limit).read_text()) - held)
        except (OSError, ValueError):  # no cgroup, or "max": no limit there
            continue
    return max(min(free), 2**26)


def _cached_files(statistics: Path) -> int:
    """Return the bytes of files that were read and that the system forgets when memory is asked for."""
    try:
        found = re.search(r"^inactive_file (\d+)$", statistics.read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) if found else 0


def _free_of_machine() -> int:
    try:
        text = Path("/proc/meminfo").read_text()
        return int(re.search(r"MemAvailable:\s+(\d+) kB", text)[1]) * 1024  # type: ignore[index]
    except (OSError, TypeError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return 2**32


def granted_bytes(memory_limit: int | float | str | None) -> int:
    """Resolve the user's `memory_limit`; None stands for a share of the free memory."""
    return int(SHARE * _free_lately(int(time.monotonic()))) if memory_limit is None else parse_bytes(memory_limit)


@lru_cache(maxsize=1)
def _free_lately(second: int) -> int:
    """Ask the system once a second at most: small fits take less than the answer."""
    return free_bytes()


def readable_bytes(count: float) -> str:
    """Write a number of bytes for a person."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 999.5:  # which three digits would round up
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"


class PeakMemory:
    """The most memory that this process held while watched, beyond what it held before.

    Where it was more than ever before the system knows the peak itself; else it is seen by looking often. Files that
    are mapped into memory do not count: neither rows that are read from one, nor a library that is loaded.

    Attributes
    ----------
    bytes : int or None
        None where the system does not tell (no /proc).
    """

    INTERVAL = 0.02  # seconds between two looks

    def __init__(self) -> None:
        self.bytes: int | None = None
        self._peak = 0
        self._done = Event()

    def _look(self) -> None:
        self._peak = max(self._peak, resident_bytes() or 0)

    def _watch(self) -> None:
        while not self._done.wait(self.INTERVAL):
            self._look()

    @classmethod
    @contextmanager
    def watched(cls) -> Iterator[PeakMemory]:
        """Watch in a thread of its own until the block ends."""
        peak, before, most = cls(), resident_bytes(), _sizes().get("VmHWM", 0)
        if before is None:
            yield peak
            return
        thread = Thread(target=peak._watch, name="kernelpca-memory", daemon=True)
        thread.start()
        try:
            yield peak
        finally:
            peak._done.set()
            thread.join()
            peak._look()
            now = _sizes()
            if now.get("VmHWM", 0) > most:
                peak._peak = max(peak._peak, now["VmHWM"] - now.get("RssFile", 0))
            peak.bytes = peak._peak - before


def resident_bytes() -> int | None:
    """Memory that this process holds now, mapped files apart; None where the system does not tell."""
    sizes = _sizes()
    return sizes["VmRSS"] - sizes.get("RssFile", 0) if "VmRSS" in sizes else None


def _sizes() -> dict[str, int]:
    """Return the kinds of memory of this process that the system tells of, in bytes; none where it does not."""
    try:
        lines = (line.split() for line in Path("/proc/self/status").read_text().splitlines())
        return {words[0].rstrip(":"): 1024 * int(words[1]) for words in lines if words[-1] == "kB"}
    except (OSError, ValueError):
        return {}
