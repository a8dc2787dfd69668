"""What becomes of a tile of products in one go over it: squared distances, or their exponential.

The exponential is several times faster than NumPy's on machines without AVX-512.

exp(x) = 2^k exp(r) with k = round(x / log 2) and |r| <= log(2) / 2, where a polynomial is enough: no branch, so whole
vectors are computed at a time. The smallest tiles are left to NumPy: translating the loop takes some 50 ms, once in a
process, and they would win it back too late.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial
from typing import Any, NamedTuple

import numpy as np

from kernelpca.machine_code import Code, once

SMALL = 2**13  # entries; below it NumPy is fast enough

WIDE = -0.7  # above it exp(t) - 1 would lose digits


class _Format(NamedTuple):
    """What is known of numbers of one width."""

    real: type
    fraction: int  # bits of it
    bias: int  # of the exponent
    log2_high: float  # log 2 in two parts, the first with trailing zeros
    log2_low: float
    degree: int  # of the polynomial
    least: float  # argument; below it exp(x) is no normal number


_FORMATS = {
    4: _Format(np.float32, 23, 127, 0.693359375, -2.12194440e-4, 7, -87.0),
    8: _Format(np.float64, 52, 1023, 6.93145751953125e-1, 1.42860682030941723212e-6, 13, -708.0),
}


def gaussian(
    T: np.ndarray,
    scale: float,
    a: np.ndarray,
    b: np.ndarray,
    less_one: bool = False,
    near: np.ndarray | None = None,
) -> np.ndarray:
    """Write exp(min(scale t_ij + a_i + b_j, 0)) over T (n, m), or that less one with all its digits near zero.

    Return the numbers of the rows that have an argument that is not below `near` (n,), NaN included.
    """
    return _finish(T, "less one" if less_one else "exponential", scale, a, b, near)


def falling(T: np.ndarray, scale: float, a: np.ndarray, b: np.ndarray, near: np.ndarray | None = None) -> np.ndarray:
    """Write max(-(scale t_ij + a_i + b_j), 0) over T (n, m); return the same."""
    return _finish(T, "distance", scale, a, b, near)


def exponential(T: np.ndarray, less_one: bool = False) -> None:
    """Write exp(t) over T (n, m), for t <= 0, or that less one."""
    if _code_for(T, "less one" if less_one else "exponential"):
        zeros = np.zeros(max(T.shape), dtype=T.dtype)
        gaussian(T, 1.0, zeros[: T.shape[0]], zeros[: T.shape[1]], less_one)
    else:
        _by_numpy(T, less_one)


def _finish(
    T: np.ndarray, kind: str, scale: float, a: np.ndarray, b: np.ndarray, near: np.ndarray | None
) -> np.ndarray:
    """Write what becomes of scale t_ij + a_i + b_j over T; return the rows in which one is not below `near`."""
    near = np.full(len(T), np.inf) if near is None else near
    code = _code_for(T, kind)
    if code:
        a, b, near = (np.ascontiguousarray(added, T.dtype) for added in (a, b, near))
        found = np.empty(len(T), T.dtype)
        code(T, T.strides[0] // T.itemsize, *T.shape, float(scale), a, b, near, found)
        return np.flatnonzero(found)
    T *= T.dtype.type(scale)
    T += a[:, None]
    T += b
    found = np.flatnonzero(~(T.max(axis=1, initial=-np.inf) < near))
    np.minimum(T, 0, out=T)
    if kind == "distance":
        np.abs(T, out=T)
    else:
        _by_numpy(T, kind == "less one")
    return found


def _code_for(T: np.ndarray, kind: str) -> Callable[..., None] | None:
    """Return machine code for a large tile whose rows lie together; else NumPy is as good."""
    large = T.size >= SMALL and T.strides[1] == T.itemsize
    return _machine_code(T.itemsize, kind) if large else None


def _by_numpy(T: np.ndarray, less_one: bool) -> None:
    """Write exp(t) over T, or that less one.

    expm1 is slow. It is taken where t is near zero, entry by entry: what is far from zero tells nothing of the others.
    """
    if not less_one:
        np.exp(T, out=T)
        return
    near = T > WIDE
    if near.all():
        np.expm1(T, out=T)
        return
    values = np.expm1(T[near])
    np.exp(T, out=T)
    T -= 1
    T[near] = values


@once
def _machine_code(itemsize: int, kind: str) -> Callable[..., None] | None:
    """Write the loop over a tile: whole vectors, then what is left of a row."""
    code = Code(itemsize)
    _, b, args = code.function("tile", "piiixpppp")
    t, apart, rows, cols, scale, a, c, near, found = args
    zero, lanes = code.integer(0), code.lanes
    whole = b.sub(cols, b.srem(cols, code.integer(lanes)))
    sums = [b.alloca(code.vector(side_by_side)) for side_by_side in (lanes, 1)]
    with code.counting(b, zero, rows, 1) as i:
        row = b.gep(t, [b.mul(i, apart)])
        added, limit = (b.load(b.gep(array, [i])) for array in (a, near))
        for seen, start, stop, side_by_side in ((sums[0], zero, whole, lanes), (sums[1], whole, cols, 1)):
            nothing, something = (code.constant(side_by_side, number) for number in (0.0, 1.0))
            b.store(nothing, seen)
            with code.counting(b, start, stop, side_by_side) as j:
                place = b.gep(row, [j])
                scales, firsts, limits = (code.spread(b, number, side_by_side) for number in (scale, added, limit))
                x = code.multiply_add(b, scales, code.load(b, place, side_by_side), firsts)
                x = b.fadd(x, code.load(b, b.gep(c, [j]), side_by_side))
                b.store(b.select(b.fcmp_unordered(">=", x, limits), something, b.load(seen)), seen)
                result = _distance(code, b, x) if kind == "distance" else _exp(code, b, x, kind == "less one")
                code.store(b, result, place)
        total = b.extract_element(b.load(sums[1]), code.ir.IntType(32)(0))
        for lane in range(lanes):
            total = b.fadd(total, b.extract_element(b.load(sums[0]), code.ir.IntType(32)(lane)))
        b.store(total, b.gep(found, [i]))
    b.ret_void()
    return code.translate("tile")


def _distance(code: Code, b: Any, x: Any) -> Any:
    """Write max(-x, 0); NaN stays NaN."""
    zero = code.constant(x.type.count, 0.0)
    return b.fsub(zero, b.select(b.fcmp_ordered(">", x, zero), zero, x))


def _exp(code: Code, b: Any, x: Any, less_one: bool) -> Any:
    """Write exp(min(x, 0)), or that less one; NaN stays NaN.

    Adding 1.5 times 2^fraction rounds x / log 2 to a whole number k, which is then in the lowest bits: moved to where
    the exponent is they are 2^k.
    """
    lanes, form = x.type.count, _FORMATS[code.itemsize]

    def number(value: float) -> Any:
        return code.constant(lanes, value)

    def bits(value: int) -> Any:
        return code.ir.Constant(integers, [value] * lanes)

    integers = code.ir.VectorType(code.ir.IntType(8 * code.itemsize), lanes)
    x = b.select(b.fcmp_ordered(">", x, number(0.0)), number(0.0), x)
    x = b.select(b.fcmp_ordered("<", x, number(form.least)), number(form.least), x)
    rounder = number(1.5 * 2.0**form.fraction)
    shifted = code.multiply_add(b, x, number(form.real(1 / np.log(2))), rounder)
    minus_k = b.fsub(rounder, shifted)
    r = code.multiply_add(b, minus_k, number(form.log2_high), x)
    r = code.multiply_add(b, minus_k, number(form.log2_low), r)
    # Taylor's series: its first neglected term is below the rounding error for |r| <= log(2) / 2
    taylor = [number(form.real(1 / factorial(i))) for i in range(form.degree, 0, -1)]
    value = taylor[0]
    for coefficient in taylor[1:]:
        value = code.multiply_add(b, value, r, coefficient)
    value = b.fmul(value, r)  # exp(r) - 1
    exponent = b.add(b.bitcast(shifted, integers), bits(form.bias))
    power = b.bitcast(b.shl(exponent, bits(form.fraction)), x.type)
    return code.multiply_add(b, value, power, b.fsub(power, number(1.0)) if less_one else power)
