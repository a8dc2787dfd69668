"""Which rows to take as landmarks: the ways to choose them through kernel values alone."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.linalg import solve_triangular

from kernelpca.gram.protocol import Gram
from kernelpca.kernels.base import Rows
from kernelpca.parts import Part
from kernelpca.tall import add_product, times
from kernelpca.tiles import blocks

COLUMNS = 256  # columns looked at together
EXHAUSTED = 1e-7  # of the trace: what is left of it is rounding


class Landmarks(Part, ABC):
    """A way to choose m of n rows, through the Gram matrix alone."""

    candidates: int | None = 3  # random rows looked at for each landmark, where there are many; None: all, or none
    needs_definite: bool = False

    @abstractmethod
    def select(self, gram: Gram, m: int, rng: np.random.Generator) -> np.ndarray:
        """(n, n) matrix -> (m,): distinct row numbers."""

    def choose(self, gram: Gram, X: Rows, m: int, rng: np.random.Generator) -> tuple[Rows, np.ndarray | None]:
        """(n, n) matrix, (n, d) rows behind it -> (m, d), (m,): landmarks, and their numbers if they are rows."""
        chosen = self.select(gram, m, rng)
        return X[chosen], chosen


class Uniform(Landmarks):
    """Every row is as likely as any other."""

    candidates = None

    def select(self, gram: Gram, m: int, rng: np.random.Generator) -> np.ndarray:
        """Draw without replacement."""
        return rng.choice(gram.shape[0], m, replace=False)


class Diagonal(Landmarks):
    """With probability in proportion to k(x, x)^2 (tutorial, eq. 64, with the sum over the diagonal below).

    Right where a few rows are much longer in feature space than all others, as with polynomials: they are the leading
    components.
    """

    candidates = None

    def select(self, gram: Gram, m: int, rng: np.random.Generator) -> np.ndarray:
        """Draw without replacement."""
        return draw(np.square(gram.diagonal(), dtype=np.float64), m, rng)


class ColumnNorm(Landmarks):
    """With probability in proportion to the squared length of a column of the matrix (tutorial, eq. 65).

    All of the matrix is looked at, or that of three random rows for each landmark.
    """

    def select(self, gram: Gram, m: int, rng: np.random.Generator) -> np.ndarray:
        """Draw without replacement."""
        n = gram.shape[0]
        norms = np.empty(n)
        for part in blocks(n, COLUMNS):
            norms[part] = np.square(gram.columns(np.arange(n)[part]), dtype=np.float64).sum(axis=0)
        return draw(norms, m, rng)


class Farthest(Landmarks):
    """Each the farthest, in feature space, from all before it; the first at random (Gonzalez 1985).

    Covers the data evenly, outliers first.
    """

    def select(self, gram: Gram, m: int, rng: np.random.Generator) -> np.ndarray:
        """Take the farthest row m times."""
        diagonal = gram.diagonal().astype(np.float64)
        chosen = [int(rng.integers(len(diagonal)))]
        nearest = np.full(len(diagonal), np.inf)
        while len(chosen) < m:
            last = chosen[-1]
            column = gram.columns(np.array([last]))[:, 0]
            nearest = np.minimum(nearest, diagonal + diagonal[last] - 2.0 * column)
            nearest[chosen] = -np.inf
            chosen.append(int(nearest.argmax()))
        return np.array(chosen)


class RPCholesky(Landmarks):
    """Randomly pivoted Cholesky: each with probability in proportion to what those before it leave of k(x, x).

    Landmarks that others make superfluous are hardly ever chosen, so fewer are needed (Chen, Epperly, Tropp and Webber
    2023). Blocks of proposals are thinned out by rejection, which leaves the distribution as it is and turns nearly
    all of the work into products of matrices (Epperly, Tropp and Webber 2024).

    Parameters
    ----------
    block_size : int, optional
        Proposals at a time.
    """

    needs_definite = True

    def __init__(self, block_size: int | None = None) -> None:
        self.block_size = block_size

    def select(self, gram: Gram, m: int, rng: np.random.Generator) -> np.ndarray:
        """Choose pivots until there are m; where nothing is left but rounding, the rest at random."""
        n = gram.shape[0]
        left = gram.diagonal().astype(np.float64)
        G = np.zeros((n, m), dtype=gram.dtype)
        chosen: list[int] = []
        least = EXHAUSTED * max(float(left.sum()), 0.0) * (1e-6 if gram.dtype == np.float64 else 1.0)
        block = self.block_size or int(np.clip(m // 8, 8, 128))
        while len(chosen) < m and left.sum() > least:
            proposed = rng.choice(n, block, p=left / left.sum())
            done = len(chosen)
            columns = gram.columns(proposed)
            R = columns[proposed].astype(np.float64) - G[proposed, :done].astype(np.float64) @ G[proposed, :done].T
            accepted, L = thin_out(R, left[proposed], rng, m - done)
            if not accepted.size:
                continue
            new = columns[:, accepted]
            pivots = proposed[accepted]
            add_product(new, G[:, :done], -G[pivots, :done].T)
            inverse = solve_triangular(L, np.eye(len(L)), lower=True).T
            G[:, done : done + len(pivots)] = times(new, inverse)
            chosen += pivots.tolist()
            left -= np.square(G[:, done : len(chosen)], dtype=np.float64).sum(axis=1)
            np.maximum(left, 0.0, out=left)
            left[chosen] = 0.0
        others = np.setdiff1d(np.arange(n), chosen)
        return np.array(chosen + rng.choice(others, m - len(chosen), replace=False).tolist(), dtype=int)


def thin_out(R: np.ndarray, before: np.ndarray, rng: np.random.Generator, most: int) -> tuple[np.ndarray, np.ndarray]:
    """(b, b), (b,) -> accepted (t,), (t, t): accept each with the part of its diagonal that those before it leave.

    R is what earlier pivots leave of the matrix of the proposals, `before` its diagonal when they were drawn; L is the
    Cholesky factor of the accepted ones.
    """
    R, L = R.copy(), np.zeros_like(R)
    accepted: list[int] = []
    for i, chance in enumerate(rng.random(len(R))):
        rest = R[i, i]
        if chance * before[i] < rest and rest > EXHAUSTED * before[i] and len(accepted) < most:
            column = R[:, i] / np.sqrt(rest)
            L[:, len(accepted)] = column
            R -= np.outer(column, column)
            accepted.append(i)
    return np.array(accepted, dtype=int), np.tril(L[accepted, : len(accepted)])


class Leverage(Landmarks):
    """By ridge leverage scores, estimated by recursive sampling (Musco and Musco 2017).

    The score of a row is how much of it the other rows cannot explain, at a ridge for which about as many rows as
    landmarks count. A random half of the rows is scored first, in the same way; landmarks from it score the next half.
    """

    needs_definite = True

    def select(self, gram: Gram, m: int, rng: np.random.Generator) -> np.ndarray:
        """Score nested random subsets, each twice as large as the one before; draw from the scores of all rows."""
        order = rng.permutation(gram.shape[0])
        size = min(m, len(order))
        chosen, weights = order[:size], np.ones(size)
        diagonal = gram.diagonal().astype(np.float64)
        while True:
            size = min(2 * size, len(order))
            rows = order[:size]
            scores = leverage_scores(gram, diagonal, rows, chosen, weights)
            if size == len(order):
                total = np.zeros(len(order))
                total[rows] = scores
                return draw(total, m, rng)
            kept = draw(scores, m, rng)
            chosen, weights = rows[kept], 1.0 / np.sqrt(np.minimum(m * scores[kept] / scores.sum(), 1.0))


def leverage_scores(
    gram: Gram, diagonal: np.ndarray, rows: np.ndarray, chosen: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Return the ridge leverage scores (size,) of some rows, as a weighted sample of rows sees them."""
    columns = gram.columns(chosen) * weights.astype(gram.dtype)
    C, W = columns[rows], columns[chosen] * weights[:, None]
    values, Q = np.linalg.eigh(W.astype(np.float64))
    ridge = max(float(np.maximum(values, 0.0).sum()) / len(values), float(np.finfo(np.float64).tiny))
    explained = np.square(C.astype(np.float64) @ Q) @ (1.0 / (np.maximum(values, 0.0) + ridge))
    left = np.maximum(diagonal[rows] - explained, 0.0) / ridge
    return np.clip(left, 1e-12, 1.0)


def draw(likelihood: np.ndarray, m: int, rng: np.random.Generator) -> np.ndarray:
    """(n,) -> (m,): distinct numbers with probability in proportion; rows of likelihood zero only if others run out."""
    likelihood = likelihood / max(float(likelihood.max()), float(np.finfo(np.float64).tiny))
    likely = np.flatnonzero(likelihood > 0)
    if len(likely) < m:
        others = np.setdiff1d(np.arange(len(likelihood)), likely)
        return np.concatenate([likely, rng.choice(others, m - len(likely), replace=False)]).astype(int)
    return rng.choice(len(likelihood), m, replace=False, p=likelihood / likelihood.sum())
