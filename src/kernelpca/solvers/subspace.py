"""What products with a few vectors tell of a matrix: Rayleigh-Ritz from below, and Nyström, which is nearer.

Small matrices are factored with NumPy alone: scipy brings a BLAS with threads of its own, and two pools of threads
that wait for work by spinning slow each other down tenfold.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelpca.tall import add_product, by_rows, column_norms, inner, times

EVEN = 0.05  # least over largest pivot from which Cholesky factors serve as well as eigenvectors
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
        self._factored: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None  # T, its eigenvalues and vectors
        self._lower: tuple[np.ndarray, np.ndarray | None] | None = None  # T, and its Cholesky factor

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
        A = inner(self.F, block)
        self._basis[:, new] = block
        self._excess[:, new] = product
        Y = self._excess[:, new]
        add_product(Y, self.F, -A)
        self.A = np.hstack([self.A, A])
        self.P = np.hstack([self.P, inner(self.F, Y)])
        T = extended(self.T, inner(self._basis[:, : new.stop], Y))
        self.N = extended(self.N, inner(self._excess[:, : new.stop], Y))
        self.T = T

    def ritz(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the Ritz values (q,), largest first, and their coefficients (q, q) on the basis."""
        values, S = np.linalg.eigh(self.T + self.A.T @ self.A) if len(self.A) else self._factors()
        return values[::-1], S[:, ::-1]

    def _factors(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the eigenvalues (q,) of T, smallest first, and its eigenvectors (q, q)."""
        if self._factored is None or self._factored[0] is not self.T:
            self._factored = self.T, *np.linalg.eigh(self.T)
        return self._factored[1:]

    def _cholesky(self) -> np.ndarray | None:
        """Return the Cholesky factor (q, q) of T, or None where T is not positive definite."""
        if self._lower is None or self._lower[0] is not self.T:
            try:
                self._lower = self.T, np.linalg.cholesky(self.T)
            except np.linalg.LinAlgError:
                self._lower = self.T, None
        return self._lower[1]

    def vectors(self, S: np.ndarray) -> np.ndarray:
        """(q, s) -> (n, s): Q S."""
        return times(self.Q, S)

    def products(self, S: np.ndarray) -> np.ndarray:
        """(q, s) -> (n, s): K Q S."""
        result = times(self.Y, S)
        add_product(result, self.F, self.A @ S)
        return result

    def residual_norms(self, values: np.ndarray, S: np.ndarray) -> np.ndarray:
        """(s,), (q, s) -> (s,): |K Q S - Q S diag(values)|, column by column."""
        dtype = self._basis.dtype
        F, Q, Y = self.F, self.Q, self.Y
        on_basis, on_excess, on_features = ((M.astype(dtype)) for M in (-S * values, S, self.A @ S))

        def block(rows: slice) -> np.ndarray:
            R = Y[rows] @ on_excess
            R += Q[rows] @ on_basis
            if len(on_features):
                R += F[rows] @ on_features
            return R

        return column_norms(len(Q), S.shape[1], block)

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
        R = self._root(level)
        M = extended(self.FF, np.vstack([self.P @ R, R.T @ self.N @ R]))
        m = len(self.FF)
        values, S = np.linalg.eigh(M)
        values, S = values[::-1], S[:, ::-1]
        scaled = S / np.sqrt(np.where(values > 0, values, np.inf))
        return Readout(values, scaled[:m], R @ scaled[m:], R, float(np.trace(M)))

    def _root(self, level: float) -> np.ndarray:
        """(q, r): R with R R' = T^-1, directions in which T is too small left out."""
        L = self._cholesky()
        if L is not None:
            pivots = np.square(L.diagonal())
            if pivots.min(initial=np.inf) > max(EVEN * pivots.max(initial=0.0), level):  # a slow spectrum
                return np.linalg.inv(L).T
        sizes, Z = self._factors()
        kept = sizes > max(level, DEPENDENT[self._basis.dtype.itemsize] * sizes.max(initial=0.0))
        return Z[:, kept] / np.sqrt(sizes[kept])

    def readout_vectors(self, readout: Readout, count: int) -> np.ndarray:
        """Return the leading eigenvectors (n, count) of the Nyström approximation."""
        U = times(self.Y, readout.on_excess[:, :count])
        add_product(U, self.F, readout.on_features[:, :count])
        return U

    def readout_inner(self, readout: Readout, k: int, X: np.ndarray) -> np.ndarray:
        """(n, r) -> (k, r): U'X, U the k leading eigenvectors of the Nyström approximation."""
        on_features, on_excess = readout.on_features[:, :k], readout.on_excess[:, :k]
        return on_features.T @ inner(self.F, X) + on_excess.T @ inner(self.Y, X)

    def readout_on_basis(self, readout: Readout, k: int | None = None) -> np.ndarray:
        """() -> (k, q): U'Q of the k leading eigenvectors, or of all."""
        return readout.on_features[:, :k].T @ self.A + readout.on_excess[:, :k].T @ self.T

    def excess(self, X: np.ndarray, product: np.ndarray) -> np.ndarray:
        """(n, r), (n, r) K X -> (n, r): K X - F F'X."""
        result = product.copy()
        add_product(result, self.F, -inner(self.F, X))
        return result

    def unexplained(self, X: np.ndarray, excess: np.ndarray, root: np.ndarray) -> np.ndarray:
        """(n, r), (n, r) excess, (q, s) -> (n, r): E X, what the Nyström approximation with that root leaves of K X."""
        Y = self._excess[:, : len(root)]
        result = excess.copy()
        add_product(result, Y, -(root @ (root.T @ inner(Y, X))))
        return result

    def features_exceed(self, level: float) -> bool:
        """Whether rounding has made F F' larger than the matrix, by more than `level`: it bounds nothing then."""
        return len(self.FF) > 0 and self._cholesky() is None and bool(self._factors()[0][0] < -level)

    def drop_features(self) -> None:
        """Forget F: the excess is the whole product then."""
        add_product(self.Y, self.F, self.A)
        self.T, self.N = self.T + self.A.T @ self.A, self._squares()
        self.F = self.F[:, :0]
        self.FF, self.A, self.P = self.FF[:0, :0], self.A[:0], self.P[:0]

    def restart(self, S: np.ndarray) -> None:
        """Keep the part Q S of the basis, S (q, s) with orthonormal columns."""
        small, s = S.astype(self._basis.dtype), S.shape[1]
        Q, Y = self.Q, self.Y

        def turn(rows: slice) -> None:
            self._basis[rows, :s] = Q[rows] @ small
            self._excess[rows, :s] = Y[rows] @ small

        by_rows(len(Q), turn)
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
