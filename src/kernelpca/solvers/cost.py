"""What a solver takes: passes, memory and time, told from the size of a problem before it is solved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelpca.gram.protocol import STORED


@dataclass(frozen=True)
class Size:
    """The size of a problem, as far as the price of a solver depends on it.

    Attributes
    ----------
    n, k : int
        Rows of the matrix, and eigenpairs.
    itemsize, working : int
        Bytes of a number of the data, and of one that most of the work is done with.
    entry_cost : float
        Multiply-adds that making an entry of the matrix takes, or bringing it in where it is stored.
    landmarks : bool
        Whether the matrix is definite and has cheap columns, so that landmarks can be a start.
    """

    n: int
    k: int
    itemsize: int = 8
    working: int = 8
    entry_cost: float = STORED
    landmarks: bool = False

    @property
    def stored(self) -> bool:
        """Whether the entries are there."""
        return self.entry_cost <= STORED


@dataclass(frozen=True)
class Cost:
    """What a solver is likely to take where the spectrum decays, beside the matrix and its products.

    Attributes
    ----------
    passes : int
        Products with the matrix.
    columns : int
        Columns of each.
    landmarks : int
        Rows that it starts from.
    start : int
        Bytes of the start, which are given back before the first pass.
    likely, most : int
        Bytes after that many passes, and at worst.
    flops : float
        Operations of matrix products in the working precision, beside the passes.
    lapack : float
        Operations in float64 beside them, each of which takes as long as one of a matrix product.
    """

    passes: int
    columns: int
    landmarks: int
    start: int
    likely: int
    most: int
    flops: float
    lapack: float


def digits_of(tol: float) -> float:
    """Return how many digits a target asks for."""
    return float(-np.log10(max(tol, 1e-15)))


def widest(p: int) -> int:
    """Return the columns of the widest pass with blocks of p: probes and the mean ride along, vectors are filled up."""
    return 8 * -(-(p + 9) // 8)


def iterative(
    size: Size, passes: int, columns: int, basis: int, *, most: int | None = None, landmarks: int = 0, kept: int = 0
) -> Cost:
    """Return the cost of an iterative method.

    Parameters
    ----------
    size : Size
        The problem.
    passes, columns : int
        Of the products.
    basis, most : int
        Columns of the basis after that many passes, and at most, if that is more; each is kept with its product.
    landmarks : int
        Rows that it starts from.
    kept : int
        Columns kept besides: features, or a copy of the matrix.
    """
    n, p, m = size.n, columns, landmarks
    answer = 4 * n * size.k * 8

    def bytes_with(columns: int, itemsize: int) -> int:
        return n * itemsize * (kept + 2 * columns + 5 * widest(p)) + answer

    return Cost(
        passes=passes,
        columns=p,
        landmarks=m,
        start=(2 * m + widest(p)) * n * size.working,
        likely=bytes_with(basis, size.working),
        most=bytes_with(basis if most is None else most, size.itemsize),
        flops=4.0 * n * m * m + 12.0 * n * (m + p * (passes + 1) / 2) * p * passes,
        lapack=20.0 * passes * (m + p * passes) ** 3,
    )
