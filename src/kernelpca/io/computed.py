"""Rows that are worked out a block at a time, when they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Computed:
    """What a function makes of rows; `write_data` writes it block by block, so that it never has to fit into memory.

    Attributes
    ----------
    function : callable
        Takes a block of rows, returns as many rows (or numbers).
    rows : array-like with n rows
        What it is given, a slice at a time.
    block_rows : int
        Rows of a block.
    """

    function: Callable[[Any], np.ndarray]
    rows: Any
    block_rows: int

    @property
    def like(self) -> np.ndarray:
        """What becomes of the first row: it has the width and the type of all."""
        return self[:1]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, part: slice) -> np.ndarray:
        return np.asarray(self.function(self.rows[part]))
