"""How large a tile may be."""

from __future__ import annotations

import math

from kernelpca.memory import readable_bytes
from kernelpca.tiles import TILE

BUDGET = 2**28  # bytes of working memory when the user sets none
SMALLEST = 64


def tile_size(budget: int, n: int, p: int, itemsize: int, threads: int, row_bytes: int = 0, most: int = TILE) -> int:
    """Return the rows of the largest tile that keeps a product with p columns within `budget` bytes, `most` at most.

    Each worker holds one tile, as much again for the kernel's own work, two blocks of prepared rows and a partial
    sum of n x p numbers.
    """
    room = budget / threads - n * p * itemsize
    if room > 0:
        b = 2 * row_bytes  # 2 itemsize t^2 + b t <= room
        a = 2 * itemsize
        size = int((math.sqrt(b * b + 4 * a * room) - b) / (2 * a))
        if size >= SMALLEST:
            return min(size, most)
    least = threads * (n * p * itemsize + 2 * itemsize * SMALLEST**2 + 2 * row_bytes * SMALLEST)
    raise MemoryError(
        f"A product of the {n} x {n} kernel matrix with {p} columns needs at least {readable_bytes(least)} of working "
        f"memory; {readable_bytes(budget)} are granted. Raise memory_limit, or ask for fewer components."
    )
