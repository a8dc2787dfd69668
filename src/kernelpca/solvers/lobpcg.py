"""Locally optimal block preconditioned conjugate gradients, through scipy."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.sparse.linalg import LinearOperator, lobpcg

from kernelpca.solvers.dense import Dense
from kernelpca.solvers.protocol import Solver
from kernelpca.solvers.rayleigh_ritz import rayleigh_ritz, residual_matrix, starting_block
from kernelpca.solvers.solution import Ritz
from kernelpca.solvers.watch import Stopped, Watch


class Lobpcg(Solver):
    """scipy's `lobpcg`, run in rounds until the residuals are small.

    Parameters
    ----------
    max_iter : int, default=500
        Passes at most, about.
    oversampling : int, default=4
        Columns beyond the wanted ones.
    indefinite : {"warn", "raise", "clip", "keep"}, default="warn"
        What to do with negative eigenvalues among the wanted ones.
    """

    ROUND = 50  # iterations before the block is orthonormalized afresh and the goal is looked at

    def __init__(self, max_iter: int = 500, oversampling: int = 4, indefinite: str = "warn") -> None:
        self.max_iter = max_iter
        self.oversampling = oversampling
        self.indefinite = indefinite

    def run(self, watch: Watch, k: int, start: np.ndarray | None, rng: np.random.Generator) -> Ritz:
        """Rounds of scipy's iteration; its own stopping rule is absolute, ours is relative."""
        n, dtype = watch.gram.shape[0], watch.gram.dtype
        p = k + self.oversampling
        if 5 * p > n:  # scipy's own limit
            return Dense().run(watch, k, start, rng)
        Q = starting_block(n, p, start, rng, dtype)

        def matmat(V: np.ndarray) -> np.ndarray:
            product = watch.matmat(np.reshape(V, (n, -1)))
            watch.tick()
            return product

        operator = LinearOperator((n, n), matvec=matmat, matmat=matmat, dtype=dtype)
        while True:
            Y = watch.matmat(Q)
            values, vectors, products = rayleigh_ritz(Q, Y)
            R = residual_matrix(values, vectors, products)
            if watch.report(values[:k], np.linalg.norm(R[:, :k], axis=0)) or watch.passes >= self.max_iter:
                return Ritz(values, vectors[:, :k], products[:, :k], R.T @ R)
            goal = max(watch.tol * float(np.abs(values[k - 1])), watch.rounding) / 2
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what it does not reach, or reaches badly, is measured above
                rounds = min(self.ROUND, max(self.max_iter - watch.passes, 1))
                try:
                    block = lobpcg(operator, vectors[:, :p], largest=True, tol=goal, maxiter=rounds)[1]
                except Stopped:
                    return Ritz(values, vectors[:, :k], products[:, :k], R.T @ R)
            # scipy's iteration breaks down where its own blocks become dependent: with the products beside its answer,
            # each round gains at least a step of subspace iteration
            Q = np.linalg.qr(np.column_stack([block, products[:, :p]]))[0]
