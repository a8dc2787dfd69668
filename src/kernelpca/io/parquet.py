"""The reader of parquet files."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from kernelpca.extras import require
from kernelpca.io.columns import as_matrix, common_type, numpy_type
from kernelpca.io.protocol import BadFile, Reader, check_file, check_once

UNNAMED = re.compile(r"__index_level_\d+__")  # what pandas calls an index without a name


@dataclass(frozen=True)
class Parquet(Reader):
    """A parquet file, or a folder of them."""

    in_folders = True

    @cached_property
    def facts(self) -> tuple[tuple[str, ...], list[dict[str, Any]], tuple[int, ...], tuple[tuple[str, int], ...]]:
        """Names, types of all columns in each file, first rows of the row groups, and where each is."""
        parquet = require("pyarrow.parquet", "io", "Reading parquet files")
        files = sorted(Path(self.path).glob("*.parquet")) if Path(self.path).is_dir() else [Path(self.path)]
        edges, places, names = [0], [], None
        types: list[dict[str, Any]] = []
        for file in files:
            try:
                check_file(file)
                metadata = parquet.ParquetFile(file)
            except BadFile:
                raise
            except Exception as error:  # pyarrow has many kinds of errors for what is no such file
                raise BadFile(f"{file} is no parquet file that can be read: {error}") from error
            schema = without_index(metadata.schema_arrow)
            types.append({part.name: numpy_type(part.type) for part in schema})
            if names is None:
                names = tuple(schema.names)
                check_once(file, names, names)
            elif tuple(schema.names) != names:
                raise BadFile(f"{file} has other columns than {files[0]}: give files of one table.")
            for group in range(metadata.num_row_groups):
                edges.append(edges[-1] + metadata.metadata.row_group(group).num_rows)
                places.append((str(file), group))
        if names is None:
            raise BadFile(f"{self.path} has no parquet files in it.")
        return names, types, tuple(edges), tuple(places)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.facts[2][-1]

    @property
    def file_columns(self) -> Sequence[str]:
        """Names of all columns."""
        return self.facts[0]

    @cached_property
    def dtype(self) -> np.dtype:
        """A type that holds the numbers of the chosen columns."""
        chosen = self.columns or ()
        return np.result_type(*(common_type(self.path, {name: of[name] for name in chosen}) for of in self.facts[1]))

    @property
    def step(self) -> int:
        """Rows of a row group."""
        return max(int(np.diff(self.facts[2]).max(initial=1)), 1)

    def read(self, start: int, stop: int) -> np.ndarray:
        """Return rows: of all row groups that have some of them."""
        parquet = require("pyarrow.parquet", "io", "Reading parquet files")
        edges, parts = self.facts[2], []
        for (file, group), (first, end) in zip(self.facts[3], pairwise(edges), strict=True):
            if first < stop and end > start:
                names = list(self.columns or ())
                # Arrow's threads may abort the process where it ends soon after
                table = parquet.ParquetFile(file).read_row_group(group, columns=names, use_threads=False)
                block = as_matrix(table.select(names), self.dtype)
                parts.append(block[max(start - first, 0) : stop - first])
        return np.concatenate(parts) if parts else np.empty((0, self.shape[1]), self.dtype)


def without_index(schema: Any) -> Any:
    """Return a schema without the columns that hold the index of a data frame and have no name of their own."""
    pandas = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    unnamed = {name for name in pandas.get("index_columns", ()) if isinstance(name, str) and UNNAMED.fullmatch(name)}
    for name in unnamed & set(schema.names):
        schema = schema.remove(schema.get_field_index(name))
    return schema
