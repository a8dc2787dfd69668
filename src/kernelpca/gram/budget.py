"""How large a tile may be, and how many workers may hold one."""

from __future__ import annotations

import math

from kernelpca.memory import readable_bytes
from kernelpca.tiles import TILE

BUDGET = 2**28  # bytes of working memory when the user sets none
SMALLEST = 8  # rows of a tile that is still worth making
COMFORTABLE = 256  # rows of a tile below which fewer workers with larger tiles are better


def tile_size(
    budget: int, block_bytes: int, itemsize: int, workers: int, row_bytes: int = 0, most: int = TILE
) -> tuple[int, int]:
    """Return the rows of a tile and the number of workers that keep a product within `budget` bytes.

    Each worker holds one tile, as much again for the kernel's own work, two blocks of prepared rows (of `row_bytes`
    a row) and a partial sum of `block_bytes`.
    """
    for count in range(workers, 0, -1):
        room = budget / count - block_bytes
        size = min(_fitting(room, itemsize, row_bytes), most)
        if size >= min(COMFORTABLE, most) or (count == 1 and size >= SMALLEST):
            return size, count
    least = block_bytes + 2 * itemsize * SMALLEST**2 + 2 * row_bytes * SMALLEST
    raise MemoryError(
        f"A product with the kernel matrix needs at least {readable_bytes(least)} of working memory; "
        f"{readable_bytes(budget)} are granted. Raise memory_limit, or ask for fewer components."
    )


def _fitting(room: float, itemsize: int, row_bytes: int) -> int:
    """Return the largest t with 2 itemsize t^2 + 2 row_bytes t <= room."""
    if room <= 0:
        return 0
    a, b = 2 * itemsize, 2 * row_bytes
    return int((math.sqrt(b * b + 4 * a * room) - b) / (2 * a))
