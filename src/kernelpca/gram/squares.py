"""The sum of the squares of a tile, in float64 whatever its numbers are, at the speed at which it is read.

A sum of half a million squares in float32 was seen to be off by hundreds of units in the last place, always downward
where the entries are alike; a bound that must hold cannot rest on that.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelpca.machine_code import Code, once

WORTH = 2**16  # entries from which translating pays
SIDE = 4  # numbers of float64 side by side
CHAINS = 4  # sums that grow at the same time


def sum_of_squares(T: np.ndarray) -> float:
    """(n, m) -> the sum of all t_ij^2; rows are added up one by one, so that errors stay those of one row."""
    code = _machine_code(T.itemsize) if T.size >= WORTH and T.strides[1] == T.itemsize else None
    if code is None:
        return float(np.einsum("ij,ij->i", T, T, dtype=np.float64).sum())
    sums = np.empty(len(T))
    code(T, T.strides[0] // T.itemsize, *T.shape, sums)
    return float(sums.sum())


@once
def _machine_code(itemsize: int) -> Callable[..., None] | None:
    """Write the loop over rows: a few vectors at a time, then what is left of a row number by number."""
    code = Code(itemsize)
    ir = code.ir
    double = ir.DoubleType()
    _, b, (t, apart, rows, cols, sums) = code.function("rows", "piiid")
    several = ir.VectorType(double, SIDE)
    totals = [b.alloca(several) for _ in range(CHAINS)]
    rest = b.alloca(double)
    zero, step = code.integer(0), SIDE * CHAINS
    whole = b.sub(cols, b.srem(cols, code.integer(step)))
    with code.counting(b, zero, rows, 1) as i:
        row = b.gep(t, [b.mul(i, apart)])
        b.store(double(0.0), rest)
        for total in totals:
            b.store(ir.Constant(several, [0.0] * SIDE), total)
        with code.counting(b, zero, whole, step) as j:
            for number, total in enumerate(totals):
                place = b.gep(row, [b.add(j, code.integer(number * SIDE))])
                values = code.load(b, place, SIDE)
                values = b.fpext(values, several) if itemsize == 4 else values
                b.store(b.fadd(b.load(total), b.fmul(values, values)), total)
        with code.counting(b, whole, cols, 1) as j:
            value = b.load(b.gep(row, [j]))
            value = b.fpext(value, double) if itemsize == 4 else value
            b.store(b.fadd(b.load(rest), b.fmul(value, value)), rest)
        total = b.load(totals[0])
        for other in totals[1:]:
            total = b.fadd(total, b.load(other))
        result = b.load(rest)
        for lane in range(SIDE):
            result = b.fadd(result, b.extract_element(total, ir.IntType(32)(lane)))
        b.store(result, b.gep(sums, [i]))
    b.ret_void()
    return code.translate("rows")
