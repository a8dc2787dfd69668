"""Centers of clusters as landmarks: of a random part of the rows, or of all of them in a few passes."""

from __future__ import annotations

from dataclasses import dataclass
from operator import add

import numpy as np
from sklearn.cluster import KMeans as ScikitKMeans
from sklearn.metrics import pairwise_distances_argmin_min

from kernelpca.features.landmarks import Landmarks
from kernelpca.gram.protocol import Gram
from kernelpca.kernels.base import Rows, n_rows
from kernelpca.remote import RemoteRows
from kernelpca.tiles import all_tiles, one_blas_thread, share_out

BLOCK = 4096  # rows whose nearest centers are sought at a time
WORDS = 4  # random numbers that the generator makes in each step
SAMPLE = 4096  # rows that tell how far rows are from centers


class Centers(Landmarks):
    """Landmarks that are centers of clusters: they need rows of numbers, and are no rows themselves."""

    def select(self, gram: Gram, m: int, rng: np.random.Generator) -> np.ndarray:
        """Refuse: centers are no rows."""
        raise ValueError(
            f"landmarks={self!r} needs rows of numbers, and a kernel matrix was given: choose 'rpcholesky', 'farthest' "
            "or another way that asks for kernel values only."
        )

    def check_rows(self, X: Rows) -> None:
        """Refuse what is no table of numbers."""
        if getattr(X, "ndim", 1) != 2 or getattr(X, "dtype", np.dtype(object)).kind != "f":
            raise ValueError(f"landmarks={self!r} needs rows of numbers: choose 'rpcholesky' or 'farthest' instead.")


class KMeans(Centers):
    """The centers of as many clusters as landmarks (Zhang, Tsang and Kwok 2008); needs rows of numbers.

    Parameters
    ----------
    max_iter : int, default=10
        Iterations of scikit-learn's KMeans; few are enough.
    """

    candidates = 20

    def __init__(self, max_iter: int = 10) -> None:
        self.max_iter = max_iter

    def choose(self, gram: Gram, X: Rows, m: int, rng: np.random.Generator) -> tuple[Rows, None]:
        """Return the centers."""
        self.check_rows(X)
        seed = int(rng.integers(2**31 - 1))
        model = ScikitKMeans(min(m, n_rows(X)), init="random", n_init=1, max_iter=self.max_iter, random_state=seed)
        return within(model.fit(X).cluster_centers_, X), None


class ParallelKMeans(Centers):
    """The centers of clusters of all rows, however many and wherever they are, in a few passes: k-means||.

    In each round every row is drawn with a probability in proportion to its squared distance from those drawn before,
    independently of the others; what was drawn, weighted by how many rows are nearest, is clustered (Bahmani and
    others 2012). Draws belong to row numbers, so that chunks do not matter.

    Parameters
    ----------
    rounds : int, default=4
        Passes that draw; two more look at a sample and count.
    oversampling : float, default=1.0
        Rows that a round draws for each landmark, about.
    max_iter : int, default=10
        Iterations of scikit-learn's KMeans on what was drawn.
    """

    candidates = None

    def __init__(self, rounds: int = 4, oversampling: float = 1.0, max_iter: int = 10) -> None:
        self.rounds = rounds
        self.oversampling = oversampling
        self.max_iter = max_iter

    def choose(self, gram: Gram, X: Rows, m: int, rng: np.random.Generator) -> tuple[Rows, None]:
        """Return the centers."""
        self.check_rows(X)
        n, seed = n_rows(X), int(rng.integers(2**31 - 1))
        sample = X[np.sort(rng.choice(n, min(n, SAMPLE), replace=False))]  # tells how far rows are from those drawn
        numbers = rng.integers(n, size=1)
        drawn = X[numbers]
        for turn in range(self.rounds):
            far = float(nearest(sample, drawn)[1].mean(dtype=np.float64))
            if far > 0:
                numbers = np.union1d(numbers, drawn_from(X, Draw(drawn, seed, turn, self.oversampling * m / (n * far))))
                drawn = X[numbers]
        weights = counted_in(X, Count(drawn))
        clusters = min(m, len(np.unique(drawn, axis=0)))
        model = ScikitKMeans(clusters, n_init=1, max_iter=self.max_iter, random_state=seed)
        return within(model.fit(drawn, sample_weight=weights).cluster_centers_, drawn), None


@dataclass(frozen=True)
class Draw:
    """Draw rows with a probability in proportion to their squared distance from centers."""

    centers: np.ndarray
    seed: int
    turn: int
    rate: float

    def __call__(self, X: np.ndarray, start: int) -> np.ndarray:
        """(b, d), number of the first row -> (t,): numbers of the rows drawn."""
        before, skipped = divmod(start, WORDS)
        source = np.random.Philox(key=[self.seed, self.turn]).advance(before)
        chances = np.random.Generator(source).random(skipped + len(X))[skipped:]
        return start + np.flatnonzero(chances < self.rate * nearest(X, self.centers)[1])


@dataclass(frozen=True)
class Count:
    """Count the rows that are nearest to each center."""

    centers: np.ndarray

    def __call__(self, X: np.ndarray, start: int) -> np.ndarray:
        """(b, d) -> (c,)."""
        return np.bincount(nearest(X, self.centers)[0], minlength=len(self.centers)).astype(np.float64)


def nearest(X: np.ndarray, centers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(b, d), (c, d) -> (b,), (b,): which center is nearest to each row, and its squared distance."""
    origin = centers.mean(axis=0)  # far from zero squared distances would lose their digits
    with one_blas_thread:
        which, distance = pairwise_distances_argmin_min(X - origin, centers - origin, metric="sqeuclidean")
    return which, distance


def drawn_from(X: Rows, draw: Draw) -> np.ndarray:
    """Return the numbers of the rows that are drawn from all."""
    return X.reduce(draw, join, numbered=True) if isinstance(X, RemoteRows) else np.concatenate(_of_blocks(X, draw))


def counted_in(X: Rows, count: Count) -> np.ndarray:
    """Return how many rows are nearest to each center."""
    return X.reduce(count, add, numbered=True) if isinstance(X, RemoteRows) else np.sum(_of_blocks(X, count), axis=0)


def _of_blocks(X: np.ndarray, function: Draw | Count) -> list[np.ndarray]:
    """Return what a function gives for blocks of rows, in order."""
    found: dict[int, np.ndarray] = {}

    def work(_: None, rows: slice, __: slice) -> None:
        found[rows.start] = function(X[rows], rows.start)

    share_out(all_tiles(len(X), 1, BLOCK), work, lambda: None)
    return [found[start] for start in sorted(found)]


def join(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return two lists as one."""
    return np.concatenate([a, b])


def within(centers: np.ndarray, X: np.ndarray) -> np.ndarray:
    """(m, d) -> (m, d): centers in the precision of rows X (n, d), and within their limits but for rounding."""
    return np.clip(centers, X.min(axis=0), X.max(axis=0)).astype(X.dtype, copy=False)
