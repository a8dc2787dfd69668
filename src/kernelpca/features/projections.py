"""Linear maps R^d -> R^q that keep dot products: x'y is about (P'x)'(P'y), with q far below d.

Random ones keep them in expectation, whatever the data; averages of neighboring pixels and one feature for a group of
correlated ones keep them as far as the data allows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from math import prod
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse

from kernelpca.kernels.base import Rows, dtype_of, n_rows, spread_rows
from kernelpca.parts import Part
from kernelpca.remote import RemoteRows
from kernelpca.tiles import blocks, share_out

DRAWN = 256  # inputs whose random numbers come from one generator: results do not depend on how parts are cut
STEP_BYTES = 2**24  # of the rows of a Gaussian projection that are held at a time
BLOCK_SIZE = 2**20  # numbers of a block of X
SAMPLE, SAMPLE_SIZE = 512, 2**24  # rows that groups are found in, at most, and numbers in them
ROUNDS = 8  # in which representatives are drawn, and in which groups are improved


@dataclass(frozen=True)
class FittedProjection(ABC):
    """A matrix P (d, q), known by its rows and by products X P.

    Attributes
    ----------
    n_inputs, n_outputs : int
        d and q.
    """

    n_inputs: int
    n_outputs: int

    @abstractmethod
    def part(self, cols: slice, dtype: Any = np.float64) -> Any:
        """Return the rows of P for a slice of inputs, (len, q): an array or a CSR matrix."""

    @abstractmethod
    def _product(self, X: Rows, origin: np.ndarray | None) -> np.ndarray:
        """(n, d) -> (n, q): (X - origin) P, or X P if X is sparse."""

    def apply(self, X: Rows, origin: np.ndarray | None = None) -> np.ndarray:
        """(n, d) -> (n, q): X P in the precision of X, block by block; rows less `origin` (d,) where that is given.

        Taking off an origin here, not from the result, spares rows far from zero their last digits.
        """
        if X.shape[1] != self.n_inputs:
            raise ValueError(f"X has {X.shape[1]} columns; this projection takes {self.n_inputs}.")
        if isinstance(X, RemoteRows):
            return X.collect(partial(self.apply, origin=origin))
        if sparse.issparse(X):
            result = self._product(X.tocsr(), None)
            if origin is not None:
                result -= self._product(np.asarray(origin, dtype=np.float64)[None, :], None).astype(result.dtype)
            return result
        return self._product(np.asarray(X), origin)

    def _bounds(self, cols: slice) -> tuple[int, int]:
        start, stop, step = cols.indices(self.n_inputs)
        if step != 1:
            raise ValueError(f"{cols} has a step of {step}; parts of a projection are slices without a step.")
        return start, max(start, stop)


@dataclass(frozen=True)
class MatrixProjection(FittedProjection):
    """A sparse projection, held whole.

    Attributes
    ----------
    matrix : CSR matrix of shape (d, q)
        P.
    """

    matrix: Any

    def part(self, cols: slice, dtype: Any = np.float64) -> Any:
        """Return rows of P, (len, q), as CSR."""
        return self.matrix[slice(*self._bounds(cols))].astype(dtype, copy=False)

    def _product(self, X: Rows, origin: np.ndarray | None) -> np.ndarray:
        dtype = dtype_of(X)
        P = self.matrix.astype(dtype, copy=False)
        result = np.empty((n_rows(X), self.n_outputs), dtype)

        def work(_: None, rows: slice, __: slice) -> None:
            if sparse.issparse(X):
                result[rows] = (X[rows] @ P).toarray()
            else:
                result[rows] = _shifted(X[rows], origin, slice(None), dtype) @ P

        size = max(BLOCK_SIZE // self.n_inputs, 1)
        share_out([(rows, slice(0, 1)) for rows in blocks(n_rows(X), size)], work, lambda: None)
        return result


@dataclass(frozen=True)
class GaussianMatrix(FittedProjection):
    """Independent N(0, 1/q) entries, drawn when they are needed and never all at once.

    Attributes
    ----------
    seed : int
        Inputs are cut into fixed groups; the generator of each is keyed by this and by the number of the group.
    """

    seed: int

    def part(self, cols: slice, dtype: Any = np.float64) -> np.ndarray:
        """Return rows of P, (len, q)."""
        start, stop = self._bounds(cols)
        result = np.empty((stop - start, self.n_outputs), dtype)
        scale = 1.0 / np.sqrt(self.n_outputs)

        def work(_: None, group: slice, __: slice) -> None:
            first = group.start * DRAWN
            low, high = max(start, first), min(stop, first + DRAWN)
            # the same numbers in both precisions
            drawn = self._generator(group.start).standard_normal((DRAWN, self.n_outputs), dtype=np.float32)
            np.multiply(drawn[low - first : high - first], scale, out=result[low - start : high - start])

        if stop > start:
            groups = range(start // DRAWN, -(-stop // DRAWN))
            share_out([(slice(g, g + 1), slice(0, 1)) for g in groups], work, lambda: None)
        return result

    def _generator(self, group: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(group,)))

    def _product(self, X: Rows, origin: np.ndarray | None) -> np.ndarray:
        dtype = dtype_of(X)
        result = np.zeros((n_rows(X), self.n_outputs), dtype)
        step = max(STEP_BYTES // (self.n_outputs * dtype.itemsize * DRAWN), 1) * DRAWN
        for first in range(0, self.n_inputs, step):
            cols = slice(first, min(first + step, self.n_inputs))
            self._add_product(result, X, origin, cols, self.part(cols, dtype))
        return result

    def _add_product(self, result: np.ndarray, X: Rows, origin: np.ndarray | None, cols: slice, P: np.ndarray) -> None:
        def work(_: None, rows: slice, __: slice) -> None:
            tile = X[rows, cols]
            result[rows] += (tile if sparse.issparse(X) else _shifted(tile, origin, cols, result.dtype)) @ P

        size = max(BLOCK_SIZE // len(P), 16)
        share_out([(rows, slice(0, 1)) for rows in blocks(n_rows(X), size)], work, lambda: None)


class Projection(Part, ABC):
    """How a linear map that keeps dot products is chosen.

    A subclass writes `choose`; what all share is checked here.
    """

    def fit(self, d: int, q: int, rng: np.random.Generator, X: Rows | None = None) -> FittedProjection:
        """Choose a map from d inputs to (about) q outputs; X (n, d) is looked at by those that depend on data."""
        for name, value in (("n_inputs", d), ("n_outputs", q)):
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
                raise ValueError(
                    f"{type(self).__name__} cannot map to {name}={value!r} features: dimension 0 (an empty hash "
                    "table) keeps nothing. Give a whole number of at least 1, such as 500."
                )
        if X is not None and X.shape[1] != d:
            raise ValueError(f"X has {X.shape[1]} columns, but d={d} inputs were announced: they must be the same.")
        return self.choose(int(d), int(q), rng, X)

    @abstractmethod
    def choose(self, d: int, q: int, rng: np.random.Generator, X: Rows | None) -> FittedProjection:
        """Choose the map; d and q are sound."""


class GaussianProjection(Projection):
    """Independent Gaussian entries of variance 1/q: the most accurate of the random maps for its size.

    P is never held whole, so d may be in the millions.

    References
    ----------
    Marukatat (2022), Tutorial on PCA and approximate PCA and approximate kernel PCA, 4.3.1, eq. 36.
    """

    def choose(self, d: int, q: int, rng: np.random.Generator, X: Rows | None) -> FittedProjection:
        """Draw a seed; entries follow when they are needed."""
        return GaussianMatrix(d, q, int(rng.integers(2**63)))


class FeatureHashing(Projection):
    """Add up features that fall into the same bucket of a random hash function, with random signs.

    The fastest of the random maps: one product and sum for each entry of X and hash function, sparse or dense.

    Parameters
    ----------
    n_hashes : int, default=1
        Hash functions, each with q / n_hashes buckets. Dot products are divided by their number: each block is
        multiplied by 1/sqrt(n_hashes), which keeps the dot product unbiased.
    signed : bool, default=True
        Whether signs are random. Without, dot products of features that share a bucket add up: the biased hash kernel.

    References
    ----------
    Marukatat (2022), 4.3.2, eq. 40 to 46 (the factor 1/l of eq. 46 would divide dot products by l once too often);
    Weinberger et al. (2009) with signs, Shi et al. (2009) without.
    """

    def __init__(self, n_hashes: int = 1, signed: bool = True) -> None:
        self.n_hashes = n_hashes
        self.signed = signed

    def choose(self, d: int, q: int, rng: np.random.Generator, X: Rows | None) -> FittedProjection:
        """Draw a bucket and a sign for each feature and hash function."""
        count = self.n_hashes
        if not isinstance(count, Integral) or isinstance(count, bool) or count < 1:
            raise ValueError(f"FeatureHashing(n_hashes={count!r}): give a whole number of at least 1.")
        if q < count:
            raise ValueError(
                f"{q} features cannot hold n_hashes={count} hash functions, which need a bucket each: give at least "
                f"n_features={count}, or fewer hash functions."
            )
        widths = np.array([len(range(i, q, count)) for i in range(count)])
        first = np.cumsum(widths) - widths
        columns = rng.integers(0, widths, size=(d, count)) + first
        signs = rng.choice([-1.0, 1.0], size=(d, count)) if self.signed else np.ones((d, count))
        starts = np.arange(d + 1) * count
        P = sparse.csr_matrix((signs.ravel() / np.sqrt(count), columns.ravel(), starts), shape=(d, q))
        return MatrixProjection(d, q, P)


class SparseProjection(Projection):
    """Few entries, +-1/sqrt(density q), the others zero.

    Parameters
    ----------
    density : float or "auto", default="auto"
        The part of the entries that is not zero; 1/sqrt(d) when "auto".

    References
    ----------
    Achlioptas (2003), Database-friendly random projections (density 1/3); Li, Hastie, Church (2006), Very sparse random
    projections (density 1/sqrt(d)).
    """

    def __init__(self, density: float | str = "auto") -> None:
        self.density = density

    def choose(self, d: int, q: int, rng: np.random.Generator, X: Rows | None) -> FittedProjection:
        """Draw the gaps between entries that are not zero, which are geometric, and their signs."""
        density = self._density(d)
        where = _successes(d * q, density, rng)
        values = rng.choice([-1.0, 1.0], size=len(where)) / np.sqrt(density * q)
        rows, columns = np.divmod(where, q)
        starts = np.searchsorted(rows, np.arange(d + 1))
        return MatrixProjection(d, q, sparse.csr_matrix((values, columns, starts), shape=(d, q)))

    def _density(self, d: int) -> float:
        if isinstance(self.density, str) and self.density == "auto":
            return 1 / np.sqrt(d)
        if isinstance(self.density, Real) and not isinstance(self.density, bool) and 0 < float(self.density) <= 1:
            return float(self.density)
        raise ValueError(
            f"SparseProjection(density={self.density!r}): give a number above 0 and up to 1, such as 1/3, or 'auto' "
            "for 1/sqrt(d)."
        )


class Downsample(Projection):
    """Make images smaller by averaging over areas, with the same ratio of sides.

    The small images are multiplied by sqrt(d/q), so that dot products of smooth images are kept. The number of
    outputs is that of the size that fits best, near q and never above d.

    Parameters
    ----------
    shape : tuple of int
        (height, width) or (height, width, channels) of an image whose pixels are a row of X, in this order.

    References
    ----------
    Marukatat (2022), 4.1 and algorithm 3, where the factor is missing.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape

    def choose(self, d: int, q: int, rng: np.random.Generator, X: Rows | None) -> FittedProjection:
        """Average along both sides: P' = A_height x A_width x I_channels, scaled."""
        height, width, channels = self._checked(d)
        ratio = np.sqrt(min(q / d, 1.0))
        rows, columns = (max(round(side * ratio), 1) for side in (height, width))
        small = rows * columns * channels
        area = sparse.kron(averages(height, rows), averages(width, columns))
        P = sparse.kron(area, sparse.identity(channels)).T.tocsr() * np.sqrt(d / small)
        return MatrixProjection(d, small, sparse.csr_matrix(P))

    def _checked(self, d: int) -> tuple[int, int, int]:
        sizes = tuple(self.shape) if isinstance(self.shape, tuple | list) else ()
        if len(sizes) not in (2, 3) or not all(isinstance(side, Integral) and side > 0 for side in sizes):
            raise ValueError(
                f"Downsample(shape={self.shape!r}): give (height, width) or (height, width, channels), like (28, 28)."
            )
        if prod(sizes) != d:
            raise ValueError(
                f"Downsample(shape={self.shape!r}): images of this shape have {prod(sizes)} pixels, but X has {d} "
                "columns. Give the shape of one row of X."
            )
        height, width, channels = (int(side) for side in (*sizes, 1)[:3])
        return height, width, channels


class FeatureGrouping(Projection):
    """One feature stands for each group of correlated ones.

    Replacing every member of a group by its representative b leaves dot products as those of one feature,
    sqrt(group size) x_b. What replacing a by b changes is D with |D|_F^2 = s_aa^2 + s_bb^2 - 2 s_ab^2 (s the
    covariance), little where they are strongly correlated, with either sign, and of one size. Groups and
    representatives are chosen to make the sum of these small (k-medoids on a sample of rows). There are fewer than q
    groups where fewer features differ.

    References
    ----------
    Marukatat (2022), 4.2, eq. 26 to 35.
    """

    def choose(self, d: int, q: int, rng: np.random.Generator, X: Rows | None) -> FittedProjection:
        """Group the columns of X."""
        if X is None:
            raise ValueError(
                "FeatureGrouping finds its groups in data: give X to fit, or use GaussianProjection() or "
                "FeatureHashing(), which need none."
            )
        chosen, sizes = _group(_sampled_columns(X), q, rng)
        m = len(chosen)
        P = sparse.csr_matrix((np.sqrt(sizes), (chosen, np.arange(m))), shape=(d, m))
        return MatrixProjection(d, m, P)


def averages(length: int, parts: int) -> Any:
    """Return the (parts, length) CSR matrix that averages over equal parts of a line of pixels."""
    edges = np.arange(parts + 1) * (length / parts)
    pixels = np.arange(length)
    overlap = np.minimum(edges[1:, None], pixels + 1) - np.maximum(edges[:-1, None], pixels)
    return sparse.csr_matrix(np.where(overlap > 1e-9, overlap, 0.0) * (parts / length))


def _successes(trials: int, probability: float, rng: np.random.Generator) -> np.ndarray:
    """Return which of so many independent trials succeed, without drawing the others."""
    found: list[np.ndarray] = []
    last = -1
    while last < trials:
        expected = (trials - last) * probability
        gaps = rng.geometric(probability, size=int(expected + 4 * np.sqrt(expected)) + 8)
        positions = last + np.cumsum(gaps)
        found.append(positions)
        last = int(positions[-1])
    everything = np.concatenate(found)
    return everything[everything < trials]


def _shifted(tile: np.ndarray, origin: np.ndarray | None, cols: slice, dtype: np.dtype) -> np.ndarray:
    """Return a tile of X less the origin, in this precision."""
    if origin is None:
        return tile.astype(dtype, copy=False)
    return (tile - origin[cols]).astype(dtype, copy=False)


def _sampled_columns(X: Rows) -> np.ndarray:
    """(n, d) -> (m, d): some rows of X, centered, in float32 and of a size near 1."""
    rows = spread_rows(X, int(np.clip(SAMPLE_SIZE // X.shape[1], 32, SAMPLE)))
    Z = rows.toarray() if sparse.issparse(rows) else rows
    Z = Z - Z.mean(axis=0, dtype=np.float64)
    largest = np.sqrt(np.square(Z).sum(axis=0).max(initial=0.0))
    return (Z / largest if largest > 0 else Z).astype(np.float32)


def _group(Z: np.ndarray, q: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(m, d) -> representatives (q',) and sizes (q',): k-medoids of columns a with distance |z_a z_a' - z_b z_b'|_F.

    The first representatives are drawn with chances in proportion to the squared distance from those there are.
    """
    squares = np.square(np.einsum("ij,ij->j", Z, Z, dtype=np.float64))  # of the matrices z_a z_a'
    if q >= Z.shape[1]:
        return np.arange(Z.shape[1]), np.ones(Z.shape[1])
    distance, chosen = squares.copy(), np.zeros(0, dtype=np.intp)
    while len(chosen) < q and distance.any():
        count = min(-(-q // ROUNDS), q - len(chosen), int((distance > 0).sum()))
        drawn = rng.choice(len(distance), size=count, replace=False, p=distance / distance.sum())
        chosen = np.concatenate([chosen, drawn])
        distance = np.minimum(distance, _nearest(Z, squares, drawn)[1])
    if not len(chosen):  # constant columns: any one stands for all
        return np.zeros(1, dtype=np.intp), np.array([float(Z.shape[1])])
    owner, distance = _nearest(Z, squares, chosen)
    best = float(distance.sum())
    for _ in range(ROUNDS):
        moved = np.array([_medoid(Z, squares, np.flatnonzero(owner == g), int(c)) for g, c in enumerate(chosen)])
        new_owner, distance = _nearest(Z, squares, moved)
        if not distance.sum() < best:
            break
        chosen, owner, best = moved, new_owner, float(distance.sum())
    sizes = np.bincount(owner, minlength=len(chosen))
    return chosen[sizes > 0], sizes[sizes > 0].astype(np.float64)


def _nearest(Z: np.ndarray, squares: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for each column the nearest of the chosen ones, and the squared distance (eq. 35)."""
    owner, distance = np.empty(Z.shape[1], np.intp), np.empty(Z.shape[1])
    R = np.ascontiguousarray(Z[:, chosen].T)
    for cols in blocks(Z.shape[1], max(BLOCK_SIZE // len(chosen), 1)):
        common = np.square(R @ Z[:, cols], dtype=np.float64)
        apart = squares[chosen, None] - 2 * common
        owner[cols] = apart.argmin(axis=0)
        distance[cols] = apart.min(axis=0) + squares[cols]
    noise = 1e-6 * squares  # of sums in float32
    return owner, np.where(distance > noise, distance, 0.0)


def _medoid(Z: np.ndarray, squares: np.ndarray, members: np.ndarray, now: int) -> int:
    """Return the member whose squared distances from the others sum to least: s_aa^2 - 2 mean_b s_ab^2."""
    if len(members) < 3:
        return now
    Zg = Z[:, members]
    if len(members) <= len(Z):
        common = np.square(Zg.T @ Zg).mean(axis=1)
    else:
        common = np.einsum("ij,ij->j", Zg, (Zg @ Zg.T) @ Zg) / len(members)
    return int(members[np.argmin(squares[members] - 2 * common)])
