"""LAPACK on the whole matrix: exact, for problems that fit."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
from scipy.linalg import eigh

from kernelpca.solvers.cost import Cost, Size
from kernelpca.solvers.protocol import Solver
from kernelpca.solvers.rayleigh_ritz import MANY, PROBES, probed_residuals
from kernelpca.solvers.solution import Ritz
from kernelpca.solvers.watch import Watch
from kernelpca.tiles import one_blas_thread

SLOW = 8.0  # how much slower a dense eigensolver runs than a matrix product of as many operations
FEW = 512  # rows up to which a second thread of BLAS gets in the way more than it helps


class Dense(Solver):
    """Solve densely with LAPACK, in float64, computing only the wanted eigenpairs.

    Residuals are measured by a product with the matrix; those of more than 128 components are estimated from 32 random
    combinations of its rows, each to about an eighth.

    Parameters
    ----------
    indefinite : {"warn", "raise", "clip", "keep"}, default="warn"
        What to do with negative eigenvalues among the wanted ones.
    """

    advice = "the precision of the data (float64)"
    spreads_itself = True
    wide = False

    def __init__(self, indefinite: str = "warn") -> None:
        self.indefinite = indefinite

    def cost(self, size: Size, tol: float) -> Cost:
        """Return what LAPACK takes: a float64 copy of the matrix, its work space, vectors and their products."""
        n, k = size.n, size.k
        all_of_them = 3 * (k + 1) > n
        held = n * n * 8 + (3 * n * n * 8 if all_of_them else 26 * n * 8) + 5 * n * k * 8
        lapack = SLOW * (4 / 3 * n**3 + (4 * n**3 if all_of_them else 4 * n * n * k))
        return Cost(0, 0, 0, 0, held, held, flops=2.0 * n * n * k, lapack=lapack)

    def run(self, watch: Watch, k: int, start: np.ndarray | None, rng: np.random.Generator) -> Ritz:
        """One pass to make the matrix, one to measure the residuals."""
        n = watch.gram.shape[0]
        with one_blas_thread:  # NumPy's threads would still be awake, and in the way, when scipy's begin
            A = watch.dense().astype(np.float64, copy=False)
        wanted = min(k + 1, n)  # one more tells the last gap
        if wanted > n // 3:  # divide and conquer finds all of them faster than bisection finds many
            values, vectors = np.linalg.eigh(A)
            values, vectors = values[n - wanted :], vectors[:, n - wanted :]
        else:
            with one_blas_thread if n <= FEW else nullcontext():
                values, vectors = eigh(
                    A, driver="evr", subset_by_index=(n - wanted, n - 1), overwrite_a=True, check_finite=False
                )
            if len(values) < wanted:  # bisection was seen to lose some of many equal ones
                values, vectors = np.linalg.eigh(watch.gram.dense().astype(np.float64, copy=False))
                values, vectors = values[n - wanted :], vectors[:, n - wanted :]
        values, vectors = values[::-1][:wanted], vectors[:, ::-1][:, :k].astype(watch.gram.dtype, copy=False)
        residuals = None
        if k > MANY:
            Z = rng.standard_normal((n, PROBES)).astype(watch.gram.dtype)
            residuals = probed_residuals(values[:k], vectors, Z, watch.matmat(Z))
        return Ritz(values, vectors, residuals=residuals, exact=True)
