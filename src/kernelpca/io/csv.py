"""The reader of text files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np

from kernelpca.extras import require
from kernelpca.io.columns import as_matrix, common_type
from kernelpca.io.protocol import BLOCK, BadFile, Reader


@dataclass(frozen=True)
class Csv(Reader):
    """Text with a line for each row, separated by commas (or tabs, or semicolons), with or without names above."""

    offsets: tuple[int, ...] = field(default=(), repr=False)
    edges: tuple[int, ...] = field(default=(), repr=False)

    @cached_property
    def head(self) -> tuple[str, tuple[str, ...] | None, int]:
        """What separates, names of columns, and how many there are."""
        with Path(self.path).open("rb") as file:
            first = file.readline().decode("utf-8-sig", errors="replace").rstrip("\r\n")
            second = file.readline().decode("utf-8", errors="replace").rstrip("\r\n")
        if not first:
            raise BadFile(f"{self.path} is empty.")
        mark = max(",;\t", key=first.count)
        cells = [cell.strip().strip('"') for cell in first.split(mark)]
        named = any(not _is_number(cell) for cell in cells) and bool(second)
        return mark, tuple(cells) if named else None, len(cells)

    @cached_property
    def index(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Places in the file where blocks of lines begin, and the row that each begins with."""
        if self.offsets:
            return self.offsets, self.edges
        offsets, edges, line_start, rows = [], [0], 0, 0
        with Path(self.path).open("rb") as file:
            if self.head[1] is not None:
                line_start = len(file.readline())
            offsets.append(line_start)
            position = line_start
            while chunk := file.read(BLOCK):
                lines = chunk.count(b"\n")
                end = chunk.rfind(b"\n") + 1
                rows += lines
                position += len(chunk)
                if end:
                    offsets.append(position - len(chunk) + end)
                    edges.append(rows)
            if position > offsets[-1]:  # the last line has no end
                offsets.append(position)
                edges.append(rows + 1)
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

    def read(self, start: int, stop: int) -> np.ndarray:
        """Return rows: all blocks of lines that have some of them are parsed."""
        offsets, edges = self.index
        parts = []
        with Path(self.path).open("rb") as file:
            for i, (first, end) in enumerate(pairwise(edges)):
                if first < stop and end > start:
                    file.seek(offsets[i])
                    block = self._parse(file.read(offsets[i + 1] - offsets[i]), first)
                    if len(block) != end - first:
                        raise BadFile(
                            f"{self.path} has {end - first} lines from row {first} on, and {len(block)} rows: lines "
                            "within quotes or empty lines cannot be read in blocks."
                        )
                    parts.append(block[max(start - first, 0) : stop - first])
        return np.concatenate(parts) if parts else np.empty((0, self.shape[1]))

    def _parse(self, text: bytes, first: int) -> np.ndarray:
        """Return the chosen columns of some lines."""
        arrow, csv = (require(name, "io", "Reading CSV files") for name in ("pyarrow", "pyarrow.csv"))
        names = [str(i) for i in range(self.head[2])]
        chosen = [names[i] for i in self.chosen]
        try:
            table = csv.read_csv(
                arrow.BufferReader(text),
                read_options=csv.ReadOptions(column_names=names),
                parse_options=csv.ParseOptions(delimiter=self.head[0], ignore_empty_lines=False),
                convert_options=csv.ConvertOptions(
                    include_columns=chosen, null_values=["", "NA", "N/A", "nan", "NaN", "null"]
                ),
            )
        except arrow.ArrowInvalid as error:
            raise BadFile(f"{self.path} cannot be read from row {first} on: {error}") from error
        labels = self.columns or tuple(f"column {i}" for i in self.chosen)
        common_type(
            self.path,
            {
                label: np.float64 if arrow.types.is_null(kind) else kind.to_pandas_dtype()
                for label, kind in zip(labels, table.schema.types, strict=True)
            },
        )
        return as_matrix(table, self.dtype)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text == ""
    return True
