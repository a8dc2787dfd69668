"""What rows become under features that stand for a kernel, and sums and products of it made where rows are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from operator import add
from typing import Any

import numpy as np

from kernelpca.features.moments import Moments
from kernelpca.features.nystrom import NystromFeatures
from kernelpca.features.protocol import BLOCK_ROWS, ExplicitFeatures
from kernelpca.gram.protocol import Gram, check_block
from kernelpca.kernels.base import Rows, n_rows
from kernelpca.remote import RemoteRows
from kernelpca.tiles import blocks, one_blas_thread


@dataclass(frozen=True)
class RowMap:
    """What a block of rows becomes; it can be sent to where rows are.

    Attributes
    ----------
    features : ExplicitFeatures
        The features.
    dtype : dtype
        The precision they are made in.
    raw : bool
        Whether, instead of features, inner products with landmarks are made, whose sums are whitened later.
    """

    features: ExplicitFeatures
    dtype: np.dtype
    raw: bool = False

    @property
    def width(self) -> int:
        """Numbers that are made of a row first."""
        features = self.features
        return n_rows(features.landmarks) if isinstance(features, NystromFeatures) else features.size

    def light(self) -> RowMap:
        """Return a map that makes the same of rows, without what whitening alone needs: less to send."""
        features = self.features
        if not (self.raw and isinstance(features, NystromFeatures)):
            return self
        space = replace(features.space, R=np.empty((len(features.space.R), 0)), factor=None, lengths=None)
        return replace(self, features=replace(features, space=space))

    def __call__(self, X: Rows, out: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """(b, d) -> (b, r), (b,): features, and squared lengths of the rows in the kernel's own feature space.

        Work is done in `out` (b, width) where that is given: fresh memory for each block would have to be made present.
        """
        if not isinstance(self.features, NystromFeatures):
            return self.features.map_and_squares(X, self.dtype, out)
        C, squares = self.features.values_and_squares(X, self.dtype, out)
        space = self.features.space
        return (space.inner_products if self.raw else space.coordinates)(C), squares


@dataclass(frozen=True)
class RemoteMap:
    """Rows that lie elsewhere under a map: what is asked of all of them is worked out chunk by chunk, where they are.

    Attributes
    ----------
    make : RowMap
        The map.
    X : RemoteRows
        The rows.
    rows : int
        Rows that are mapped at a time.
    """

    make: RowMap
    X: RemoteRows
    rows: int = BLOCK_ROWS

    def in_blocks_of(self, rows: int) -> RemoteMap:
        """Return the same with so many rows at a time."""
        return replace(self, rows=rows)

    def gather(self, shift: np.ndarray, weights: np.ndarray | None) -> Moments:
        """Return the sums over all rows about a point."""
        aligned = () if weights is None else (weights,)
        return self.X.reduce(_SumUp(self.make.light(), self.rows, shift), Moments.merge, *aligned)

    def collect(self, function: Callable[..., np.ndarray], *aligned: np.ndarray) -> np.ndarray:
        """Return `function(features, *parts)` of all rows, one below the other; arrays with n rows are cut alike."""
        return self.X.collect(_Join(self.make.light(), self.rows, function, np.concatenate), *aligned)

    def add_up(self, function: Callable[..., np.ndarray], *aligned: np.ndarray) -> np.ndarray:
        """Return the sum of `function(features, *parts)` over blocks of all rows."""
        return self.X.reduce(_Join(self.make.light(), self.rows, function, added), add, *aligned)


@dataclass(frozen=True)
class _Blocks:
    """Some rows of a chunk at a time, on one thread."""

    make: RowMap
    rows: int

    def results(self, function: Callable[..., Any], X: np.ndarray, aligned: tuple[np.ndarray, ...]) -> list[Any]:
        """Return `function(features, squares, *parts)` of each block; it must not keep the features."""
        cut = blocks(len(X), self.rows)
        scratch = np.empty((max(part.stop - part.start for part in cut), self.make.width), self.make.dtype)
        with one_blas_thread:
            return [function(*self.make(X[p], scratch[: p.stop - p.start]), *(a[p] for a in aligned)) for p in cut]


@dataclass(frozen=True)
class _SumUp(_Blocks):
    """The moments of a chunk."""

    shift: np.ndarray

    def __call__(self, X: np.ndarray, *weights: np.ndarray) -> Moments:
        total = Moments.about(self.shift)
        self.results(total.add, X, weights)
        return total


@dataclass(frozen=True)
class _Join(_Blocks):
    """A function of the features of blocks, its results joined."""

    function: Callable[..., np.ndarray]
    join: Callable[[list[np.ndarray]], np.ndarray]

    def __call__(self, X: np.ndarray, *aligned: np.ndarray) -> np.ndarray:
        return self.join(self.results(lambda F, _, *parts: self.function(F, *parts), X, aligned))


def added(arrays: list[np.ndarray]) -> np.ndarray:
    """Return the sum of arrays, first to last."""
    return sum(arrays[1:], start=arrays[0])


class RemoteFeatureGram(Gram):
    """F F' of centered and weighted features of rows that lie elsewhere.

    Parameters
    ----------
    n, r : int
        Rows and features.
    there : RemoteMap
        The features.
    mean : ndarray of shape (r,)
        What is taken off them.
    roots : ndarray of shape (n, 1) or None
        Square roots of the weights.
    """

    positive_definite = True
    cheap_columns = False

    def __init__(self, n: int, r: int, there: RemoteMap, mean: np.ndarray, roots: np.ndarray | None) -> None:
        self.shape = (n, n)
        self.dtype = there.make.dtype
        self.r = r
        self.there = there
        self.mean = mean.astype(self.dtype)
        self.roots = () if roots is None else (roots.astype(self.dtype),)

    def matmat(self, V: np.ndarray) -> np.ndarray:
        """(n, p) -> (n, p): F (F'V)."""
        return self.expand(self.combine(check_block(V, self.shape[0]).astype(self.dtype, copy=False)))

    def combine(self, V: np.ndarray) -> np.ndarray:
        """(n, p) -> (r, p): F'V, added up in float64."""
        return self.there.add_up(_Combine(self.mean), V, *self.roots)

    def expand(self, inner: np.ndarray) -> np.ndarray:
        """(r, p) -> (n, p): F times a matrix."""
        return self.there.collect(_Expand(self.mean, inner.astype(self.dtype)), *self.roots)

    def diagonal(self) -> np.ndarray:
        """() -> (n,)."""
        return self._diagonal

    @cached_property
    def _diagonal(self) -> np.ndarray:
        return self.there.collect(_Squares(self.mean), *self.roots)

    def columns(self, idx: np.ndarray) -> np.ndarray:
        """(m,) -> (n, m)."""
        chosen = self.there.make(self.there.X.take(idx))[0] - self.mean
        return self.expand((chosen if not self.roots else chosen * self.roots[0][idx]).T)


@dataclass(frozen=True)
class _Moved:
    """Features less their mean, times roots of weights."""

    mean: np.ndarray

    def moved(self, F: np.ndarray, *roots: np.ndarray) -> np.ndarray:
        F -= self.mean
        return F * roots[0] if roots else F


class _Combine(_Moved):
    def __call__(self, F: np.ndarray, V: np.ndarray, *roots: np.ndarray) -> np.ndarray:
        return (self.moved(F, *roots).T @ V).astype(np.float64)


@dataclass(frozen=True)
class _Expand(_Moved):
    inner: np.ndarray

    def __call__(self, F: np.ndarray, *roots: np.ndarray) -> np.ndarray:
        return self.moved(F, *roots) @ self.inner


class _Squares(_Moved):
    def __call__(self, F: np.ndarray, *roots: np.ndarray) -> np.ndarray:
        F = self.moved(F, *roots)
        return np.einsum("ij,ij->i", F, F)
