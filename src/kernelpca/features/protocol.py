"""What samples become before directions are found in them: features, and the maps that make them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from kernelpca.gram.budget import BUDGET
from kernelpca.kernels.base import Kernel, Rows, dtype_of, n_rows, shifted
from kernelpca.parts import Part, check_whole
from kernelpca.tall import by_rows
from kernelpca.tiles import available_threads

BLOCK_ROWS = 2048  # rows whose features are made at a time, where memory allows


class Features(ABC):
    """x -> features(x), known by their products with a matrix.

    Attributes
    ----------
    origin : ndarray of shape (d,) or None
        What is taken off rows first.
    """

    origin: np.ndarray | None

    def at_origin(self) -> Features:
        """Return the same features of rows from which the origin has been taken off."""
        return self if self.origin is None else replace(self, origin=None)  # type: ignore[type-var]

    def only(self, rows: np.ndarray) -> Features:
        """Return the features that belong to some of the training rows, where each has one."""
        raise ValueError(f"{type(self).__name__} have no training rows that could be left out.")

    @abstractmethod
    def product(self, X: Rows, V: np.ndarray) -> np.ndarray:
        """(n, d), (r, p) -> (n, p): features(X) V, in bounded memory."""

    @abstractmethod
    def squared_norms(self, X: Rows) -> np.ndarray:
        """(n, d) -> (n,): the squared length of each mapped sample."""

    def discrepancy(self, X: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, d), (n, m) -> (n,), (n, d): |phi(x)|^2 - 2 phi(x)'p with p = sum c_j phi_j, and its gradient in x.

        With |p|^2 added it is the squared distance of phi(x) from p. No threads: blocks of rows come from workers.
        """
        raise ValueError(f"{type(self).__name__} cannot be differentiated: choose a pre-image that needs no gradient.")


@dataclass(frozen=True)
class Folded:
    """Scores as features(X) @ W + b: what directions in a feature space become.

    Attributes
    ----------
    features : Features
        What W acts on.
    W, b : ndarray of shape (m, k), (k,)
        The affine map.
    mean_weights, mean_square : ndarray of shape (m,), float
        The mean as a combination of features, and its squared length.
    """

    features: Features
    W: np.ndarray
    b: np.ndarray
    mean_weights: np.ndarray
    mean_square: float


class ExplicitFeatures(Features):
    """Features that are so few that a block of rows of them can be written down.

    A subclass sets `size`, their number r, and writes `map`.
    """

    size: int
    kernel: Kernel
    name: str  # what they are, for the user
    budget: int = BUDGET

    @abstractmethod
    def map(self, X: Rows, dtype: np.dtype | None = None, out: np.ndarray | None = None) -> np.ndarray:
        """(n, d) -> (n, r): in the precision of X, or in that which is asked for; a fresh array, or `out`."""

    @property
    def signs(self) -> np.ndarray:
        """(r,): ones; -1 for features that count negatively, as indefinite kernels have them."""
        return np.ones(self.size)

    @property
    def width(self) -> int:
        """Numbers that are held for a row while its features are made."""
        return 2 * self.size

    def map_and_squares(
        self, X: Rows, dtype: np.dtype | None = None, out: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """(n, d) -> (n, r), (n,): features, and the squared lengths of the mapped samples."""
        F = self.map(X, dtype, out)
        return F, np.einsum("ij,ij->i", F, F)

    def error(self, A: Rows, B: Rows) -> np.ndarray:
        """(a, d), (b, d) -> (a, b): k(x, y) less what the features say it is."""
        return self.kernel(A, B) - self.map(A) @ self.map(B).T

    def blur(self, X: Rows, dtype: np.dtype) -> float:
        """Return how many times the rounding of this precision the features of rows X may be off by."""
        return 1.0

    def fold(self, U: np.ndarray, mean: np.ndarray) -> Folded:
        """(r, k), (r,): directions U and the mean (zeros without centring) as an affine map."""
        return Folded(self, U, -(mean @ U), mean, float(mean @ mean))

    def product(self, X: Rows, V: np.ndarray) -> np.ndarray:
        """(n, d), (r, p) -> (n, p): a block of rows at a time."""
        dtype = dtype_of(X)
        V = V.astype(dtype, copy=False)
        result = np.empty((n_rows(X), V.shape[1]), dtype)

        def work(rows: slice) -> None:
            np.matmul(self.map(X[rows]), V, out=result[rows])

        by_rows(n_rows(X), work, self.block_rows(dtype))
        return result

    def squared_norms(self, X: Rows) -> np.ndarray:
        """(n, d) -> (n,): a block of rows at a time."""
        result = np.empty(n_rows(X), dtype_of(X))

        def work(rows: slice) -> None:
            result[rows] = self.map_and_squares(X[rows])[1]

        by_rows(n_rows(X), work, self.block_rows(dtype_of(X)))
        return result

    def block_rows(self, dtype: np.dtype) -> int:
        """Return how many rows have features that, with as much again to make them, stay within the budget."""
        room = self.budget // (available_threads() * max(self.width, 1) * dtype.itemsize)
        return int(np.clip(room, 16, BLOCK_ROWS))


class FeatureMap(Part, ABC):
    """How features that stand for a kernel are chosen: z(x)'z(y) is about k(x, y).

    Attributes
    ----------
    spans_rows : bool
        Whether features are coordinates in the span of some rows, which the model keeps: then columns of a given matrix
        are as good as rows.
    count_name : str
        The parameter that says how many there are.
    """

    spans_rows: bool = False
    count_name: str = "n_features"

    @abstractmethod
    def fit(
        self, kernel: Kernel, X: Rows, rng: np.random.Generator, center: bool = True, dtype: np.dtype | None = None
    ) -> ExplicitFeatures:
        """Choose features for a resolved kernel and training rows; `dtype` is the precision they are made in."""

    @abstractmethod
    def size_of(self, n: int) -> int:
        """Return how many features n rows give, or say what is wrong with the number asked for."""

    def check_for(self, kernel: Kernel, X: Rows) -> None:
        """Refuse parameters that have no meaning for this kernel and such rows."""
        self.fit(kernel, X[:2], np.random.default_rng(0))

    def candidates(self, n: int) -> int:
        """Return how many of n rows are at most looked at to choose the features."""
        return 0

    def among(self, counted: np.ndarray) -> FeatureMap:
        """Return the same where only some of the rows count."""
        return self

    def least_rows(self, k: int) -> tuple[int, str]:
        """Return from how many rows features for k components can be chosen, and what so many are for."""
        return 1, "to begin with"


class RandomFeatures(FeatureMap):
    """Features that are drawn, as many as asked for."""

    n_features: int

    def size_of(self, n: int) -> int:
        """Return the number asked for."""
        return check_whole(self.n_features, "n_features", self)


def check_width(X: Rows, width: int) -> None:
    """Refuse rows with another number of columns than those that features were chosen for."""
    if X.shape[1] != width:
        raise ValueError(
            f"X has {X.shape[1]} columns, and these features were chosen for rows of {width}. Give rows with the same "
            "columns, or fit the features again."
        )


def move(X: Rows, origin: np.ndarray | None, dtype: np.dtype | None = None) -> Rows:
    """Return rows less the origin, in the precision asked for; strings and the like as they are."""
    X = shifted(X, origin)
    if dtype is None or getattr(X, "dtype", np.dtype(object)).kind != "f":
        return X
    return X.astype(dtype, copy=False)
