"""Squared distances of chosen pairs of rows, from differences: right where products of rows lose the digits.

A product of rows tells |x - y|^2 only to eps |x|^2. Pairs for which that matters are few on ordinary data, and all of
some clusters far from everything else; so the loop is compiled, and sums are float64 whatever the rows are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from kernelpca.kernels.base import Rows
from kernelpca.machine_code import Code, once

SIDE = 8  # numbers of float64 side by side
CHAINS = 2  # sums that grow at the same time
WORTH = 2**17  # differences from which translating pays
PART = 2**18  # differences that are made at a time without it


def pair_distances(X: Rows, Y: Rows, rows: np.ndarray, cols: np.ndarray, scale: float = 1.0) -> np.ndarray:
    """(n, d), (m, d), (p,), (p,) -> (p,): scale |x_i - y_j|^2 of the pairs of these numbers, in float64.

    Differences are scaled before they are squared: a distance overflows only where the result does.
    """
    root = float(np.sqrt(scale))
    if sparse.issparse(X) or sparse.issparse(Y):
        return _of_sparse_rows(sparse.csr_matrix(X), sparse.csr_matrix(Y), rows, cols, root)
    d = X.shape[1]
    result = np.empty(len(rows))
    alike = X.dtype == Y.dtype and X.strides[1] == Y.strides[1] == X.itemsize
    code = _machine_code(X.itemsize) if alike and len(rows) * d >= WORTH else None
    if code:
        rows, cols = (np.ascontiguousarray(numbers, np.int64) for numbers in (rows, cols))
        code(X, Y, rows, cols, root, X.strides[0] // X.itemsize, Y.strides[0] // Y.itemsize, d, len(rows), result)
        return result
    step = max(PART // max(d, 1), 1)
    for first in range(0, len(rows), step):
        part = slice(first, first + step)
        difference = np.subtract(X[rows[part]], Y[cols[part]], dtype=np.float64) * root
        result[part] = np.einsum("ij,ij->i", difference, difference)
    return result


def _of_sparse_rows(
    X: sparse.csr_matrix, Y: sparse.csr_matrix, rows: np.ndarray, cols: np.ndarray, root: float
) -> np.ndarray:
    """The same for sparse rows, as many at a time as have about as many entries as a part."""
    result = np.empty(len(rows))
    step = max(int(PART * min(X.shape[0], Y.shape[0]) / (X.nnz + Y.nnz + 1)), 1)
    for first in range(0, len(rows), step):
        part = slice(first, first + step)
        difference = (X[rows[part]] - Y[cols[part]]).astype(np.float64) * root
        result[part] = np.asarray(difference.multiply(difference).sum(axis=1)).ravel()
    return result


@once
def _machine_code(itemsize: int) -> Callable[..., None] | None:
    """Write the loop over pairs: a few vectors of differences at a time, then one number after the other."""
    code = Code(itemsize)
    ir, integer = code.ir, code.integer
    double = ir.DoubleType()
    several = ir.VectorType(double, SIDE)
    _, b, args = code.function("pairs", "ppnnyiiiid")
    x, y, rows, cols, root, x_apart, y_apart, d, count, out = args
    sums, rest = [b.alloca(several) for _ in range(CHAINS)], b.alloca(double)
    step = SIDE * CHAINS
    whole = b.sub(d, b.srem(d, integer(step)))
    roots = b.insert_element(ir.Constant(several, ir.Undefined), root, ir.IntType(32)(0))
    roots = b.shuffle_vector(roots, roots, ir.Constant(ir.VectorType(ir.IntType(32), SIDE), [0] * SIDE))

    def squared(factor: Any, left: Any, right: Any) -> Any:
        left, right = (b.fpext(side, factor.type) if itemsize == 4 else side for side in (left, right))
        difference = b.fmul(b.fsub(left, right), factor)
        return b.fmul(difference, difference)

    with code.counting(b, integer(0), count, 1) as p:
        left = b.gep(x, [b.mul(b.load(b.gep(rows, [p])), x_apart)])
        right = b.gep(y, [b.mul(b.load(b.gep(cols, [p])), y_apart)])
        b.store(double(0.0), rest)
        for total in sums:
            b.store(ir.Constant(several, [0.0] * SIDE), total)
        with code.counting(b, integer(0), whole, step) as f:
            for number, total in enumerate(sums):
                here = [b.add(f, integer(number * SIDE))]
                sides = (code.load(b, b.gep(side, here), SIDE) for side in (left, right))
                b.store(b.fadd(b.load(total), squared(roots, *sides)), total)
        with code.counting(b, whole, d, 1) as f:
            sides = (b.load(b.gep(side, [f])) for side in (left, right))
            b.store(b.fadd(b.load(rest), squared(root, *sides)), rest)
        total = b.load(sums[0])
        for other in sums[1:]:
            total = b.fadd(total, b.load(other))
        result = b.load(rest)
        for lane in range(SIDE):
            result = b.fadd(result, b.extract_element(total, ir.IntType(32)(lane)))
        b.store(result, b.gep(out, [p]))
    b.ret_void()
    return code.translate("pairs")
