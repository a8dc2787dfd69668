"""Randomized subspace iteration (Halko, Martinsson and Tropp 2011), stopped by its residuals."""

from __future__ import annotations

import numpy as np

from kernelpca.solvers.dense import Dense
from kernelpca.solvers.protocol import Solver
from kernelpca.solvers.rayleigh_ritz import rayleigh_ritz, residual_matrix, starting_block
from kernelpca.solvers.solution import Ritz
from kernelpca.solvers.watch import Watch


class Randomized(Solver):
    """Multiply a random block again and again until the residuals are small.

    Parameters
    ----------
    oversampling : int, default=10
        Columns beyond the wanted ones.
    max_iter : int, default=300
        Passes at most.
    indefinite : {"warn", "raise", "clip", "keep"}, default="warn"
        What to do with negative eigenvalues among the wanted ones.
    """

    def __init__(self, oversampling: int = 10, max_iter: int = 300, indefinite: str = "warn") -> None:
        self.oversampling = oversampling
        self.max_iter = max_iter
        self.indefinite = indefinite

    def run(self, watch: Watch, k: int, start: np.ndarray | None, rng: np.random.Generator) -> Ritz:
        """Each pass gives both the Ritz pairs of the block and the next block."""
        n = watch.gram.shape[0]
        if k + self.oversampling >= n:  # the block would be the whole space
            return Dense().run(watch, k, start, rng)
        Q = starting_block(n, k + self.oversampling, start, rng, watch.gram.dtype)
        while True:
            Y = watch.matmat(Q)
            values, vectors, products = rayleigh_ritz(Q, Y)
            R = residual_matrix(values, vectors, products)
            if watch.report(values[:k], np.linalg.norm(R[:, :k], axis=0)) or watch.passes >= self.max_iter:
                return Ritz(values, vectors[:, :k], products[:, :k], R.T @ R)
            Q = np.linalg.qr(Y)[0]
