"""One reader for each format: the shape of a file, and any block of its rows, without the rest."""

from __future__ import annotations

import stat
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from kernelpca.progress import Done, Parts
from kernelpca.tiles import blocks

BLOCK = 2**25  # bytes of a block of rows
# what a path may lead to besides a file
KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class BadFile(ValueError):
    """A file that cannot be read as rows of numbers; it says what is wrong with it."""


class TextColumns(BadFile):
    """A file of which some columns hold no numbers: `wrong` names those, `good` the others, `hint` what to do."""

    def __init__(self, path: str, wrong: list[str], good: list[str], hint: str = "") -> None:
        self.path, self.wrong, self.good, self.hint = path, wrong, good, hint
        remedy = f"Choose others with columns={good[:4]!r}." if good else "Encode them as numbers first."
        super().__init__(f"{path} has columns that are no numbers: {_some(wrong)}. {hint or remedy}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self.wrong, self.good, self.hint)  # workers send errors as pickles


def say_no_file(mode: int, what: str) -> str:
    """Say what a path of this mode leads to, and that `what` one file; nothing of a file.

    What comes out of a pipe may never come, and comes once: it must not even be opened.
    """
    kind = KINDS.get(stat.S_IFMT(mode))
    if kind is None:
        return ""
    save = "Save what comes out of it in a file first, and give that."
    return f"is {kind}, and {what} one file. {'Give a file in it.' if stat.S_ISDIR(mode) else save}"


def check_file(path: Path) -> None:
    """Refuse to read rows from what is not a file."""
    wrong = say_no_file(path.stat().st_mode, "a table of this format is")
    if wrong:
        raise BadFile(f"{path} {wrong}")


def check_once(path: str | Path, have: Sequence[str], wanted: Iterable[str | int]) -> None:
    """Refuse names of columns that stand for more than one."""
    times, asked = Counter(have), set(wanted)
    for name in times:
        if times[name] > 1 and name in asked:
            places = " and ".join(str(i) for i, other in enumerate(have) if other == name)
            raise BadFile(
                f"{path} has {times[name]} columns named {name!r} (columns {places}, counted from 0), so that it is "
                "not known which one is meant: rename one, or choose columns by their numbers."
            )


def _some(names: list[str]) -> str:
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")


@dataclass(frozen=True)
class Reader(ABC):
    """Rows of numbers in a file; it can be sent to another process that sees the same file.

    Parameters
    ----------
    path : str
        Where it is.
    wanted : tuple of str or int, or None
        The columns to read, by name or number; all when not given.
    key : str or None
        Which array of the file, where it may have several.

    Attributes
    ----------
    takes_key, in_folders : bool
        Whether a file may have several arrays, and whether it may be a folder.
    """

    takes_key: ClassVar[bool] = False
    in_folders: ClassVar[bool] = False
    path: str
    wanted: tuple[str | int, ...] | None = None
    key: str | None = None

    @property
    @abstractmethod
    def rows(self) -> int:
        """How many rows there are."""

    @property
    @abstractmethod
    def file_columns(self) -> Sequence[str] | int:
        """Names of all columns of the file, or how many there are."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype:
        """The type of the numbers."""

    @abstractmethod
    def read(self, start: int, stop: int) -> np.ndarray:
        """Return these rows of the chosen columns."""

    @property
    def step(self) -> int:
        """Rows in which the file is stored: blocks of multiples of that are read without waste."""
        return 1

    @cached_property
    def columns(self) -> tuple[str, ...] | None:
        """Names of the chosen columns, where the file has names."""
        have = self.file_columns
        return None if isinstance(have, int) else tuple(have[i] for i in self.chosen)

    @cached_property
    def chosen(self) -> tuple[int, ...]:
        """Numbers of the chosen columns."""
        return self.among(self.file_columns)

    def among(self, have: Sequence[str] | int) -> tuple[int, ...]:
        """Return the numbers of the wanted columns among those of the file, given by name or only counted."""
        if not isinstance(have, int):
            check_once(self.path, have, have if self.wanted is None else self.wanted)
        count = have if isinstance(have, int) else len(have)
        if self.wanted is None:
            return tuple(range(count))
        places: dict[str | int, int] = {i: i % count for i in range(-count, count)}
        if not isinstance(have, int):
            places |= {name: i for i, name in enumerate(have)}
        missing = [name for name in self.wanted if name not in places]
        if missing:
            named = [name for name in places if isinstance(name, str)]
            shown = ", ".join(named[:12]) + (", ..." if len(named) > 12 else "") if named else f"0 to {count - 1}"
            raise BadFile(f"{self.path} has no column {missing[0]!r}; it has {shown}.")
        return tuple(places[name] for name in self.wanted)

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d) of the chosen columns."""
        return self.rows, len(self.chosen)

    @property
    def nbytes(self) -> int:
        """Bytes of all rows in memory."""
        return self.rows * len(self.chosen) * self.dtype.itemsize

    def pieces(self) -> list[slice]:
        """Return rows that are well read together, piece by piece."""
        return blocks(self.rows, self.block_rows())

    def read_all(self, done: Done | None = None) -> np.ndarray:
        """Return all rows of the chosen columns; `done` is told how many pieces of all are read."""
        values = np.empty(self.shape, self.dtype)
        pieces = self.pieces()
        read = Parts(done, len(pieces))
        for rows in pieces:
            values[rows] = read(self.take(rows.start, rows.stop))
        return values

    def take(self, start: int, stop: int) -> np.ndarray:
        """Return these rows of the chosen columns, or say which file cannot be read."""
        try:
            return self.read(start, stop)
        except (BadFile, MemoryError):
            raise
        except Exception as error:  # each format has errors of many kinds for what is broken
            raise BadFile(f"{self.path} is damaged: rows {start} to {stop - 1} cannot be read ({error}).") from error

    def block_rows(self, most: int = BLOCK) -> int:
        """Return rows of a block of a good size, of at most so many bytes."""
        fitting = max(min(BLOCK, most) // max(len(self.chosen) * self.dtype.itemsize, 1), 1)
        return max(fitting // self.step, 1) * self.step

    def __getstate__(self) -> dict[str, Any]:
        """Leave what was found out behind: files are opened anew in another process."""
        return {part.name: getattr(self, part.name) for part in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def _all_columns(self) -> bool:
        have = self.file_columns
        return self.chosen == tuple(range(have if isinstance(have, int) else len(have)))

    def _pick(self, block: np.ndarray) -> np.ndarray:
        return block if self._all_columns() else block[:, list(self.chosen)]
