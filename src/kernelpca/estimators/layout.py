"""How features of rows are made and added up within the memory granted, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernelpca.features.protocol import BLOCK_ROWS
from kernelpca.memory import readable_bytes
from kernelpca.tiles import available_threads

SMALLEST = 64  # rows of a block of features that is still worth making


@dataclass(frozen=True)
class Layout:
    """How features of rows are made, added up and decomposed.

    Attributes
    ----------
    n, r, width : int
        Rows, features, and numbers in a row.
    landmarks : int
        Landmarks that the features come from; 0 for random features.
    dtype : dtype
        The precision that features are made in.
    limit : int
        Bytes granted.
    candidates : int
        Rows that landmarks are chosen from.
    chunks : int
        Parts of the rows that lie elsewhere; 0 where they are here.
    """

    n: int
    r: int
    width: int
    landmarks: int
    dtype: np.dtype
    limit: int
    candidates: int = 0
    chunks: int = 0

    @property
    def through_gram(self) -> bool:
        """Whether the Gram matrix of random features is decomposed: it is smaller where there are more than rows."""
        return self.r > self.n and not self.landmarks

    @property
    def matrix_size(self) -> int:
        """Rows of the matrix that is decomposed."""
        return self.n if self.through_gram else self.r

    @property
    def numbers(self) -> int:
        """Numbers that are held for a row while its features are made."""
        return self.width + 2 * self.r + self.landmarks

    @property
    def start_bytes(self) -> int:
        """What choosing the features takes: candidates and what is explained of them, or frequencies."""
        if not self.landmarks:
            return 2 * self.r * self.width * 8
        return self.candidates * (self.width + 2 * self.landmarks) * self.dtype.itemsize + 4 * self.landmarks**2 * 8

    @property
    def sum_bytes(self) -> int:
        """What the small matrix takes: a sum for each worker, or the whole, and what is made of it."""
        if self.through_gram:
            return self.n * self.n * 8 * 3
        return self.r * self.r * max(available_threads() * (8 + self.dtype.itemsize), 5 * 8)

    @property
    def rows(self) -> int:
        """Rows whose features a worker makes at a time."""
        room = self.limit - max(self.start_bytes, self.sum_bytes)
        return int(min(room / (available_threads() * self.numbers * self.dtype.itemsize), BLOCK_ROWS, self.n))

    @property
    def bytes(self) -> int:
        """Peak memory, beyond the rows and without features that are kept."""
        blocks = available_threads() * max(self.rows, 1) * self.numbers * self.dtype.itemsize
        return max(self.start_bytes, self.sum_bytes + blocks)

    @property
    def keeps(self) -> bool:
        """Whether there is room for the features of all rows."""
        return self.bytes + self.n * self.r * self.dtype.itemsize <= self.limit

    @property
    def fits(self) -> bool:
        """Whether blocks of rows that are worth making fit into the memory granted."""
        return self.rows >= min(SMALLEST, self.n)

    def fewer(self) -> Layout:
        """Return the same with so few features that they fit, or with two, an even number as pairs need it."""
        smaller = self
        while smaller.r > 2 and not smaller.fits:
            r = max(smaller.r // 4 * 2, 2)
            smaller = replace(smaller, r=r, landmarks=r if smaller.landmarks else 0)
        return smaller

    def check(self) -> None:
        """Refuse more features than the memory granted has room for."""
        if not self.fits:
            what, smaller = "landmarks" if self.landmarks else "features", self.fewer()
            advice = f"Raise memory_limit, or give fewer {what}, such as {smaller.r}."
            raise MemoryError(
                f"{self.r} {what} of {self.n} rows need about {readable_bytes(self.bytes)} or more; "
                f"{readable_bytes(self.limit)} are granted. {advice if smaller.fits else 'Raise memory_limit.'}"
            )

    def seconds(self, entries: float, flops: float) -> float:
        """Predict the time of a fit on a machine that makes so many kernel values and operations a second."""
        n, r, m = self.n, self.r, self.landmarks
        if self.through_gram:
            return 2 * n * r * (self.width + n) / flops + n * r / entries
        if not m:
            return n * r * (2 * self.width + r) / flops + n * r / entries
        looked = self.candidates
        return (n + looked) * m / entries + (2.2 * n + looked) * m * m / flops + 1e-10 * m**3
