"""The reader of text files."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from csv import reader as lines_of
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from kernelpca.extras import require
from kernelpca.io.columns import as_matrix, common_type, numpy_type
from kernelpca.io.protocol import BadFile, Reader, TextColumns

STEP = 2**20  # bytes between two places of the index
LINES = 64  # that a block has at least, about
MISSING = ("", " ", "?", "#N/A", "#NA", "-NaN", "-nan", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null")
SEEN = 100  # cells of a column that are looked at for decimal commas
# cut at the comma where that is more frequent than the semicolons between cells
DECIMAL_COMMA = re.compile(r"[+-]?[\d.]*\d(?:[,;][+-]?\d+)?(?:[eE][+-]?\d+)?")
QUOTED = re.compile(r'(^|[,;\t])\s*"(?:[^"]|"")*"')


@dataclass(frozen=True)
class Csv(Reader):
    """Text with a line for each row, separated by commas (or tabs, or semicolons), with or without names above."""

    header: bool | None = None
    offsets: tuple[int, ...] = field(default=(), repr=False)
    edges: tuple[int, ...] = field(default=(), repr=False)

    @cached_property
    def head(self) -> tuple[str, tuple[str, ...] | None, int, bool]:
        """What separates, names of columns, how many there are, and whether the names could be numbers as well."""
        with Path(self.path).open("rb") as file:
            line = file.readline()
            more = bool(file.readline().strip())
        if line.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in line:
            raise BadFile(
                f"{self.path} is no text in UTF-8; it looks like UTF-16. Convert it: iconv -f UTF-16 -t UTF-8 old.csv "
                '> new.csv, or save it as "CSV UTF-8" where it was made.'
            )
        try:
            first = line.decode("utf-8-sig").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise BadFile(
                f"{self.path} is no text in UTF-8; it looks like Latin-1. Convert it: iconv -f LATIN1 -t UTF-8 old.csv "
                '> new.csv, or save it as "CSV UTF-8" where it was made.'
            ) from error
        if not first:
            raise BadFile(
                f"{self.path} is empty, or begins with an empty line: look at what wrote it, or remove empty lines at "
                "the top."
            )
        bare = QUOTED.sub(r'\1"', first)  # what is quoted is a name, and does not separate
        mark = max(",;\t", key=bare.count)
        cells = [cell.strip() for cell in bare.split(mark)]
        counted = self.header is None and is_numbering(cells)
        named = counted or any(not _is_value(cell) for cell in cells) if self.header is None else self.header
        if named and not more:
            raise BadFile(f"{self.path} has names of columns and no rows. (header=False says that these are numbers.)")
        names = tuple(cell.strip() for cell in next(lines_of([first], delimiter=mark, skipinitialspace=True)))
        return mark, names if named else None, len(names), counted

    def doubts(self) -> Iterator[str]:
        """Say what was guessed, or looks like a mistake, in the names of the chosen columns."""
        mark, names, count, counted = self.head
        if names is None:
            if self.header is None and count == 1 and self._begins_with_zero():
                yield (
                    f"{self.path} begins with 0, and other rows have decimals: taken for a row. If it is the name that "
                    "pandas gives to a column without one, say header=True (--header on the command line)."
                )
            return
        if counted:
            shown = mark.join(names[:5]) + (f"{mark}..." if len(names) > 5 else "")
            yield (
                f"{self.path} begins with {shown}: taken for the numbers of its columns, not for a row. header=True "
                "says that they are, header=False that it is a row (--header and --no-header on the command line)."
            )
        for place in self.chosen:
            if not names[place]:
                yield (
                    f"{self.path} has a column without a name, column {place} counted from 0, such as pandas writes "
                    "for the index of a table. It is read like the others; if it is none of the data leave it out: "
                    "columns=[...], or --exclude '' on the command line."
                )

    def _begins_with_zero(self) -> bool:
        """Whether the first line is 0 alone, and the second a number with decimals."""
        with Path(self.path).open("rb") as file:
            first, second = file.readline().strip(), file.readline().strip()
        return first == b"0" and b"." in second

    @cached_property
    def index(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Places in the file where blocks of lines begin, and the row that each begins with; empty lines are none."""
        if self.offsets:
            return self.offsets, self.edges
        with Path(self.path).open("rb") as file:
            begin = len(file.readline()) if self.head[1] is not None else 0
            file.seek(begin)
            offsets, edges, position, rest = [begin], [0], begin, b""
            step = max(STEP, LINES * len(file.readline()))  # a block of few long lines takes as long as one of many
            file.seek(begin)
            while chunk := file.read(step):
                lines, _, rest = (rest + chunk).rpartition(b"\n")
                position += len(chunk)
                rows = edges[-1] + count_lines(lines)
                if rows > edges[-1]:
                    offsets.append(position - len(rest))
                    edges.append(rows)
            if rest.strip():  # the last line has no end
                offsets.append(position)
                edges.append(edges[-1] + 1)
        return tuple(offsets), tuple(edges)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.index[1][-1]

    @property
    def file_columns(self) -> Sequence[str] | int:
        """Names of all columns, or how many there are."""
        return self.head[2] if self.head[1] is None else self.head[1]

    @property
    def dtype(self) -> np.dtype:
        """float64."""
        return np.dtype(np.float64)

    def pieces(self) -> list[slice]:
        """Return the rows of each block of lines."""
        return [slice(first, end) for first, end in pairwise(self.index[1])]

    def read(self, start: int, stop: int) -> np.ndarray:
        """Return rows: all blocks of lines that have some of them are parsed."""
        offsets, edges = self.index
        values = np.empty((max(stop - start, 0), self.shape[1]), self.dtype)
        with Path(self.path).open("rb") as file:
            for i in range(bisect_right(edges, start) - 1, bisect_left(edges, stop)):
                first, end = edges[i], edges[i + 1]
                file.seek(offsets[i])
                block = self._parse(file.read(offsets[i + 1] - offsets[i]), first)
                if len(block) != end - first:
                    raise BadFile(
                        f"{self.path} has {end - first} lines from row {first} on, and {len(block)} rows: text "
                        "with line breaks within quotes cannot be read."
                    )
                values[max(first - start, 0) : end - start] = block[max(start - first, 0) : stop - first]
        return values

    def _parse(self, text: bytes, first: int) -> np.ndarray:
        """Return the chosen columns of some lines."""
        arrow, csv = (require(name, "io", "Reading CSV files") for name in ("pyarrow", "pyarrow.csv"))
        names = [str(i) for i in range(self.head[2])]
        chosen = [names[i] for i in self.chosen]
        try:
            table = csv.read_csv(
                arrow.BufferReader(text),
                # Arrow's threads may abort the process where it ends soon after
                read_options=csv.ReadOptions(column_names=names, use_threads=False, block_size=len(text) + 1),
                parse_options=csv.ParseOptions(delimiter=self.head[0], ignore_empty_lines=True),
                convert_options=csv.ConvertOptions(include_columns=chosen, null_values=list(MISSING)),
            )
        except arrow.ArrowInvalid as error:
            raise BadFile(f"{self.path} cannot be read from row {first} on: {error}") from error
        labels = self.columns or tuple(f"column {i}" for i in self.chosen)
        kinds = dict(zip(labels, map(numpy_type, table.schema.types), strict=True))
        try:
            common_type(self.path, kinds)
        except TextColumns as error:
            raise TextColumns(
                error.path, error.wrong, error.good, comma_hint(table, self.path, self.head[0])
            ) from error
        return as_matrix(table, self.dtype)


def count_lines(text: bytes) -> int:
    """Count the lines that are not empty."""
    return sum(1 for line in text.split(b"\n") if line and line != b"\r")


def comma_hint(table: Any, path: str, mark: str) -> str:
    """Say what to do where some column of text looks like numbers with a decimal comma; nothing where none does."""
    for column in table.columns:
        cells = [str(cell).strip() for cell in column[:SEEN].to_pylist() if cell is not None]
        shown = next((cell for cell in cells if "," in cell or ";" in cell), None)
        if shown is not None and all(DECIMAL_COMMA.fullmatch(cell) for cell in cells):
            return (
                f"Cells such as {shown} look like numbers with a decimal comma; a point is needed. In Python: "
                f"pandas.read_csv({Path(path).name!r}, sep={mark if ',' in shown else ';'!r}, decimal=',')"
                ".to_csv('points.csv', index=False)."
            )
    return ""


def is_numbering(cells: Sequence[str]) -> bool:
    """Whether cells count columns from 0 or 1, as pandas does above a table without names; one may be empty before.

    A single number is none: a column of numbers begins with 0 or 1 too often.
    """
    index = bool(cells) and not cells[0]
    count = list(cells[index:])
    return len(cells) > 1 and any(count == [str(i + first) for i in range(len(count))] for first in (0, 1))


def _is_value(cell: str) -> bool:
    """Whether a cell holds a number, a truth value or nothing; what is quoted is a name."""
    try:
        float(cell)
    except ValueError:
        return cell in MISSING or cell.lower() in ("true", "false")
    return True
