"""What products with a few vectors tell of a matrix: Rayleigh-Ritz from below, and Nyström, which is nearer.

Small matrices are factored with NumPy alone: scipy brings a BLAS with threads of its own, and two pools of threads
that wait for work by spinning slow each other down tenfold.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelpca.solvers.rayleigh_ritz import ROWS, inner, small_eigh
from kernelpca.tiles import blocks

DEPENDENT = {4: 1e-4, 8: 1e-13}  # of the largest T, by item size: a readout divides by nothing smaller


@dataclass(frozen=True)
class Readout:
    """The Nyström approximation F F' + Y R R'Y' of a matrix, by its eigenpairs.

    Attributes
    ----------
    values : ndarray of shape (s,)
        Its eigenvalues, largest first; none exceeds that of the matrix.
    on_features, on_excess : ndarrays of shape (m, s) and (q, s)
        The eigenvectors are F on_features + Y on_excess.
    root : ndarray of shape (q, r)
        R with R R' = T^-1 on the range of T.
    trace : float
        The sum of all eigenvalues.
    """

    values: np.ndarray
    on_features: np.ndarray
    on_excess: np.ndarray
    root: np.ndarray
    trace: float


class Subspace:
    """An orthonormal basis Q with the products K Q, beside features F with F F' <= K (or none).

    Kept are Q and the excess Y = K Q - F F'Q, from which no digits cancel when F F' is near K. All else is made of
    small matrices that grow with each block: A = F'Q, P = F'Y, T = Q'Y, N = Y'Y, and F'F.

    Parameters
    ----------
    n, most : int
        Rows, and columns of the basis at most.
    dtype : dtype
        Of the basis.
    F : ndarray of shape (n, m), optional
        Features.
    """

    def __init__(self, n: int, most: int, dtype: np.dtype, F: np.ndarray | None = None) -> None:
        self._basis, self._excess = (np.empty((most, n), dtype).T for _ in range(2))  # columns lie together
        self.F = np.empty((n, 0), dtype) if F is None else F
        self.FF = inner(self.F, self.F)
        m = self.F.shape[1]
        self.A, self.P = np.empty((m, 0)), np.empty((m, 0))
        self.T, self.N = np.empty((0, 0)), np.empty((0, 0))

    @property
    def size(self) -> int:
        """Columns of the basis."""
        return len(self.T)

    @property
    def room(self) -> int:
        """Columns for which memory is left."""
        return self._basis.shape[1] - self.size

    @property
    def Q(self) -> np.ndarray:
        """(n, q)."""
        return self._basis[:, : self.size]

    @property
    def Y(self) -> np.ndarray:
        """(n, q)."""
        return self._excess[:, : self.size]

    def add(self, block: np.ndarray, product: np.ndarray) -> None:
        """Take in a block (n, p) that is orthonormal to the basis, and its product with K."""
        new = slice(self.size, self.size + block.shape[1])
        dtype = self._basis.dtype
        A = inner(self.F, block)
        self._basis[:, new] = block
        self._excess[:, new] = product
        if len(A):
            self._excess[:, new] -= self.F @ A.astype(dtype)
        Y = self._excess[:, new]
        self.A = np.hstack([self.A, A])
        self.P = np.hstack([self.P, inner(self.F, Y)])
        T = extended(self.T, inner(self._basis[:, : new.stop], Y))
        self.N = extended(self.N, inner(self._excess[:, : new.stop], Y))
        self.T = T

    def ritz(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the Ritz values (q,), largest first, and their coefficients (q, q) on the basis."""
        values, S = small_eigh(self.T + self.A.T @ self.A)
        return values[::-1], S[:, ::-1]

    def vectors(self, S: np.ndarray) -> np.ndarray:
        """(q, s) -> (n, s): Q S."""
        return self.Q @ S.astype(self._basis.dtype)

    def products(self, S: np.ndarray) -> np.ndarray:
        """(q, s) -> (n, s): K Q S."""
        dtype = self._basis.dtype
        result = self.Y @ S.astype(dtype)
        if len(self.A):
            result += self.F @ (self.A @ S).astype(dtype)
        return result

    def coupling(self, values: np.ndarray, S: np.ndarray) -> np.ndarray:
        """(q,), (q, q) -> (q, q): R'R of the residuals R = K Q S - Q S diag(values) of all Ritz pairs."""
        total = S.T @ self._squares() @ S - np.diag(np.square(values))
        return (total + total.T) / 2

    def _squares(self) -> np.ndarray:
        """(q, q): (K Q)'K Q."""
        cross = self.P.T @ self.A
        return self.N + cross + cross.T + self.A.T @ self.FF @ self.A

    def nystrom(self, level: float) -> Readout:
        """Return the Nyström approximation by the features and the basis together.

        K - F F' is positive semi-definite and known on Q, so F F' + Y T^-1 Y' lies between F F' and K, nearer to K
        than Rayleigh-Ritz on Q. Directions in which T is below `level` are rounding error; so, in what is divided by T,
        are those of much smaller T than others: for a direction of size t the products are known to eps sqrt(t max T).

        Parameters
        ----------
        level : float
            Rounding level.
        """
        sizes, Z = small_eigh(self.T)
        kept = sizes > max(level, DEPENDENT[self._basis.dtype.itemsize] * sizes.max(initial=0.0))
        R = Z[:, kept] / np.sqrt(sizes[kept])
        M = extended(self.FF, np.vstack([self.P @ R, R.T @ self.N @ R]))
        m = len(self.FF)
        values, S = small_eigh(M)
        values, S = values[::-1], S[:, ::-1]
        scaled = S / np.sqrt(np.where(values > 0, values, np.inf))
        return Readout(values, scaled[:m], R @ scaled[m:], R, float(np.trace(M)))

    def readout_vectors(self, readout: Readout, count: int) -> np.ndarray:
        """Return the leading eigenvectors (n, count) of the Nyström approximation."""
        dtype = self._basis.dtype
        U = self.Y @ readout.on_excess[:, :count].astype(dtype)
        if len(self.A):
            U += self.F @ readout.on_features[:, :count].astype(dtype)
        return U

    def excess(self, X: np.ndarray, product: np.ndarray) -> np.ndarray:
        """(n, r), (n, r) K X -> (n, r): K X - F F'X."""
        return product - self.F @ inner(self.F, X).astype(product.dtype) if len(self.A) else product

    def unexplained(self, X: np.ndarray, excess: np.ndarray, root: np.ndarray) -> np.ndarray:
        """(n, r), (n, r) excess, (q, s) -> (n, r): E X, what the Nyström approximation with that root leaves of K X."""
        Y = self._excess[:, : len(root)]
        return excess - Y @ (root @ (root.T @ inner(Y, X))).astype(excess.dtype)

    def outside(self, X: np.ndarray) -> np.ndarray:
        """(n, r) -> (n, r): X less its part in the basis."""
        return X - self.Q @ (self.Q.T @ X)

    def drop_features(self) -> None:
        """Forget F: the excess is the whole product then."""
        self._excess[:, : self.size] += self.F @ self.A.astype(self.F.dtype)
        self.T, self.N = self.T + self.A.T @ self.A, self._squares()
        self.F = self.F[:, :0]
        self.FF, self.A, self.P = self.FF[:0, :0], self.A[:0], self.P[:0]

    def restart(self, S: np.ndarray) -> None:
        """Keep the part Q S of the basis, S (q, s) with orthonormal columns."""
        small, s = S.astype(self._basis.dtype), S.shape[1]
        for rows in blocks(len(self._basis), ROWS):
            self._basis[rows, :s] = self.Q[rows] @ small
            self._excess[rows, :s] = self.Y[rows] @ small
        self.T, self.N = S.T @ self.T @ S, S.T @ self.N @ S
        self.A, self.P = self.A @ S, self.P @ S


def extended(old: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Put new columns beside a symmetric matrix, and their mirror below it."""
    q, total = len(old), len(columns)
    grown = np.empty((total, total))
    grown[:q, :q] = old
    grown[:, q:] = columns
    grown[q:, :q] = columns[:q].T
    corner = grown[q:, q:]
    grown[q:, q:] = (corner + corner.T) / 2
    return grown
