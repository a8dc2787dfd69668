"""The product of a tile and of its mirror image with a thin block, near the full speed of the cores.

BLAS copies a matrix into an order of its own before it multiplies. For a product of two large matrices that is little;
for a block of thirty columns it takes as long as the multiplying itself, and a symmetric product does it twice. Here a
tile is read where it lies. A few of its rows and a panel of a few columns of the block are multiplied at a time, with
all their sums in registers: for each entry one fused multiply-add of a whole vector, and no other work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernelpca.machine_code import Code, once, vector_bytes

SUMS = {32: (12, 60), 64: (24, 96)}  # by bytes of a vector: how many vectors of sums fill the registers; and rows and
# columns of the part of a tile that both products read while it is in the nearest cache
PANELS = (3, 2, 1)  # vectors of a panel
WORTH = 4096  # rows of a matrix from which translating pays


class ThinBlock:
    """A block of columns, to be multiplied by tiles of a symmetric matrix.

    Parameters
    ----------
    V : ndarray of shape (n, p)
        The block, float32 or float64; copied.
    """

    def __init__(self, V: np.ndarray) -> None:
        self.columns = V.shape[1]
        self._code = _machine_code(V.dtype.itemsize) if len(V) >= WORTH else None
        lanes = vector_bytes() // V.dtype.itemsize if self._code else 1
        self.V = np.zeros((len(V), -(-self.columns // lanes) * lanes), V.dtype)
        self.V[:, : self.columns] = V

    def zeros(self) -> np.ndarray:
        """Return a sum for `add` to add to."""
        return np.zeros_like(self.V)

    def add(self, T: np.ndarray, rows: slice, cols: slice, total: np.ndarray) -> None:
        """Add T V[cols] to total[rows] and, off the diagonal, T'V[rows] to total[cols]; rows of T lie together."""
        if self._code:
            parts = [array[part] for array in (self.V, total) for part in (rows, cols)]
            mirrored = rows != cols
            width = self.V.shape[1]
            panels = _panels(self.V.strides[0] // vector_bytes())
            self._code(T, T.strides[0] // T.itemsize, *T.shape, *parts, mirrored, width, *panels)
            return
        total[rows] += T @ self.V[cols]
        if rows != cols:
            total[cols] += T.T @ self.V[rows]

    def result(self, total: np.ndarray) -> np.ndarray:
        """Return a finished sum (n, p)."""
        return total[:, : self.columns]


def _panels(vectors: int) -> tuple[int, int, int]:
    """Return how many panels of three, two and one vectors make so many: two twos rather than a three and a one."""
    threes, left = divmod(vectors, 3)
    if left == 1 and threes:
        return threes - 1, 2, 0
    return threes, left // 2, left % 2


@once
def _machine_code(itemsize: int) -> Callable[..., None] | None:
    """Write the loops, from the rows that are multiplied at a time up to a whole tile."""
    code = Code(itemsize)
    sums, part = SUMS[vector_bytes()]
    kernels = [{rows: _rows_times_panel(code, rows, vectors) for rows in (sums // vectors, 1)} for vectors in PANELS]
    _tile(code, _strip(code, kernels), part)
    return code.translate("tile")


def _rows_times_panel(code: Code, rows: int, vectors: int) -> Any:
    """Write out[r] += sum over j of t[r, j] V[j], for so many rows r and a panel of so many vectors.

    Entry t[r, j] is at t + r down + j along, so that a tile and its mirror image are read alike. Rows of V and `out`
    lie `width` numbers apart; `length` is the number of j, one or more.
    """
    function, b, args = code.function(f"rows{rows}x{vectors}", "piiippi")
    t, down, along, length, V, out, width = args
    integer, lanes = code.integer, code.lanes
    before, body, after = b.block, function.append_basic_block(), function.append_basic_block()
    b.branch(body)
    b.position_at_end(body)
    j = b.phi(integer)
    sums = [[b.phi(code.vector(lanes)) for _ in range(vectors)] for _ in range(rows)]
    entries, row_of_V = b.gep(t, [b.mul(j, along)]), b.gep(V, [b.mul(j, width)])
    panel = [code.load(b, b.gep(row_of_V, [integer(v * lanes)]), lanes) for v in range(vectors)]
    following = b.add(j, integer(1))
    j.add_incoming(integer(0), before)
    j.add_incoming(following, body)
    grown = []
    for r, row in enumerate(sums):
        entry = code.spread(b, b.load(b.gep(entries, [b.mul(integer(r), down)])), lanes)
        grown.append([code.multiply_add(b, entry, part, total) for part, total in zip(panel, row, strict=True)])
        for total, value in zip(row, grown[r], strict=True):
            total.add_incoming(code.constant(lanes, 0.0), before)
            total.add_incoming(value, body)
    b.cbranch(b.icmp_signed("<", following, length), body, after)
    b.position_at_end(after)
    for r, row in enumerate(grown):
        for v, value in enumerate(row):
            place = b.gep(out, [b.add(b.mul(integer(r), width), integer(v * lanes))])
            code.store(b, b.fadd(code.load(b, place, lanes), value), place)
    b.ret_void()
    return function


def _strip(code: Code, kernels: list[dict[int, Any]]) -> Any:
    """Write the loops over panels and over `count` rows: as many as there are registers for, then one by one."""
    function, b, args = code.function("strip", "piiiippiiii")
    t, down, along, count, length, V, out, width, *panels = args
    integer = code.integer
    first = integer(0)
    for number, vectors, kernel in zip(panels, PANELS, kernels, strict=True):
        many, one = kernel
        step = vectors * code.lanes
        last = b.add(first, b.mul(number, integer(step)))
        whole = b.sub(count, b.srem(count, integer(many)))
        with code.counting(b, first, last, step) as c:
            for rows, start, stop in ((many, integer(0), whole), (one, whole, count)):
                with code.counting(b, start, stop, rows) as r:
                    into = b.gep(out, [b.add(b.mul(r, width), c)])
                    here = [b.gep(t, [b.mul(r, down)]), down, along, length, b.gep(V, [c]), into, width]
                    b.call(kernel[rows], here)
        first = last
    b.ret_void()
    return function


def _tile(code: Code, strip: Any, side: int) -> None:
    """Write the loop over parts of a tile: each is multiplied as it is and, unless it is on the diagonal, mirrored."""
    _, b, args = code.function("tile", "piiippppiiiii")
    t, apart, rows, cols, V_rows, V_cols, out_rows, out_cols, mirrored, width, *panels = args
    integer = code.integer
    part, one = integer(side), integer(1)

    def least(x: Any, y: Any) -> Any:
        return b.select(b.icmp_signed("<", x, y), x, y)

    with code.counting(b, integer(0), rows, side) as i, code.counting(b, integer(0), cols, side) as j:
        height, length = least(part, b.sub(rows, i)), least(part, b.sub(cols, j))
        here = b.gep(t, [b.add(b.mul(i, apart), j)])
        row, col = [b.mul(i, width)], [b.mul(j, width)]
        b.call(strip, [here, apart, one, height, length, b.gep(V_cols, col), b.gep(out_rows, row), width, *panels])
        with b.if_then(b.icmp_signed("!=", mirrored, integer(0))):
            b.call(strip, [here, one, apart, length, height, b.gep(V_rows, row), b.gep(out_cols, col), width, *panels])
    b.ret_void()
