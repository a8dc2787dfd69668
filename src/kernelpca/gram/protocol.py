"""The n x n matrix of a kernel as an operator: all that a solver may know of it."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.sparse.linalg import LinearOperator

from kernelpca.gram.landmarks import whitening
from kernelpca.kernels.base import ENTRY
from kernelpca.tall import times

STORED = 16.0  # multiply-adds that bringing in an entry of a stored matrix costs as much as


class Gram(ABC):
    """A symmetric n x n matrix that can be multiplied from the left.

    A subclass sets `shape`, `dtype` and `positive_definite` and writes `matmat`, `diagonal` and `columns`.
    """

    shape: tuple[int, int]
    dtype: np.dtype
    positive_definite: bool = False  # True only where it is known
    entry_cost: float = STORED  # multiply-adds that one entry takes; up to about so many columns hardly slow a pass
    single_is_fast: bool = False  # whether passes in float32 are worth a finish in float64
    cheap_columns: bool = True  # whether m columns cost about m/n of a pass
    in_memory: bool = False  # whether `dense` merely copies
    blur: float = 0.0  # by how much entries may be off, where that is more than a few eps of the largest
    _scale: float | None = None

    @abstractmethod
    def matmat(self, V: np.ndarray) -> np.ndarray:
        """(n, p) -> (n, p): the product with a block of columns; one call is one pass."""

    @abstractmethod
    def diagonal(self) -> np.ndarray:
        """() -> (n,)."""

    @abstractmethod
    def columns(self, idx: np.ndarray) -> np.ndarray:
        """(m,) indices -> (n, m)."""

    def dense(self) -> np.ndarray:
        """() -> (n, n): a fresh array that the caller may overwrite."""
        return self.columns(np.arange(self.shape[0]))

    def landmark_features(self, idx: np.ndarray) -> np.ndarray:
        """(m,) indices -> (n, r <= m): F with F F' <= K, the Nyström approximation; K must be positive definite.

        None (r = 0) where the landmarks tell nothing of the other rows.
        """
        return times(*self.landmark_factors(idx))

    def landmark_factors(self, idx: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(m,) indices -> (n, m), (m, r): C and R, whose product is what `landmark_features` returns."""
        C = self.columns(idx)
        return C, whitening(C[idx])

    def single(self) -> Gram:
        """Return this matrix in float32, at least as fast: itself where it is in float32 already."""
        from kernelpca.gram.single import SingleGram

        return self if self.dtype == np.float32 else SingleGram(self)

    def release(self) -> None:  # noqa: B027
        """Give back memory that only makes later passes faster."""

    def grant(self, budget: int, cache: int) -> None:  # noqa: B027
        """Say how many bytes a product may use from now on, and how many may be kept for later ones."""

    def trace(self) -> float:
        """Return the sum of all eigenvalues."""
        return float(self.diagonal().sum(dtype=np.float64))

    def frobenius_squared(self) -> float | None:
        """Return the sum of squared eigenvalues, rounded up, where it is known without another pass, else None."""
        return None

    def rounded_up(self, *terms: float) -> float:
        """Return the sum of terms, made larger by the rounding error that each may have."""
        error = 8 * float(np.finfo(self.dtype).eps) * sum(abs(term) for term in terms)
        return max(sum(terms), 0.0) + error

    def rounding(self) -> float:
        """Return the size below which an eigenvalue or a residual is rounding error.

        Entries are known to about eps max|k_ii|, or less well (`blur`); random errors of that size have a spectral norm
        of about sqrt(n) times it. The factor of ten leaves room for errors that are not random.
        """
        return float(np.sqrt(self.shape[0])) * max(self.known_to(), self.blur)

    def known_to(self) -> float:
        """Return what errors of entries are allowed to be, without being called a blur."""
        return ENTRY * float(np.finfo(self.dtype).eps) * self.scale()

    def scale(self) -> float:
        """Return the size of the largest entry on the diagonal (before centring)."""
        if self._scale is None:
            self._scale = float(np.abs(self.diagonal()).max())
        return self._scale

    def magnitude(self) -> float:
        """Return about the size of the entries; the diagonal may be smaller, where a constant was taken off."""
        return self.scale()

    def linear_operator(self) -> LinearOperator:
        """Return a scipy view of this matrix."""
        return _GramOperator(self)


class WrappedGram(Gram):
    """Another form of a matrix that knows no more of how it is made.

    Parameters
    ----------
    inner : Gram
        The matrix.
    """

    def __init__(self, inner: Gram) -> None:
        self.inner = inner
        self.shape = inner.shape
        self.dtype = inner.dtype
        self.positive_definite = inner.positive_definite
        self.entry_cost = inner.entry_cost
        self.cheap_columns = inner.cheap_columns
        self.single_is_fast = inner.single_is_fast
        self.in_memory = inner.in_memory
        self.blur = inner.blur

    def magnitude(self) -> float:
        """Return about the size of the inner matrix's entries."""
        return max(self.inner.magnitude(), self.scale())

    def release(self) -> None:
        """Give back what the inner matrix keeps."""
        self.inner.release()

    def grant(self, budget: int, cache: int) -> None:
        """Say how much memory the inner matrix may use."""
        self.inner.grant(budget, cache)


class _GramOperator(LinearOperator):
    """scipy's interface over a Gram matrix."""

    def __init__(self, gram: Gram) -> None:
        super().__init__(gram.dtype, gram.shape)
        self._gram = gram

    def _matmat(self, V: np.ndarray) -> np.ndarray:
        return self._gram.matmat(np.asarray(V, dtype=self._gram.dtype))

    def _matvec(self, v: np.ndarray) -> np.ndarray:
        return self._matmat(np.reshape(v, (-1, 1))).reshape(np.shape(v))

    def _adjoint(self) -> _GramOperator:
        return self


def check_finite(values: np.ndarray, source: str) -> np.ndarray:
    """Return `values` if all are finite, or say what was not."""
    if not np.isfinite(values.sum()) and not np.isfinite(values).all():
        raise ValueError(
            f"{source} returned NaN or infinity. Check its parameters (a large degree or gamma can overflow), scale "
            "the data, or look at what it returns for single samples."
        )
    return values


def check_block(V: np.ndarray, n: int) -> np.ndarray:
    """Return V if it is a block of n-vectors."""
    if V.ndim != 2 or V.shape[0] != n:
        raise ValueError(f"A block of shape ({n}, p) is needed; got {V.shape}.")
    return V
