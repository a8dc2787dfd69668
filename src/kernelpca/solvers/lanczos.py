"""ARPACK's implicitly restarted Lanczos method, through scipy."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from inspect import signature

import numpy as np
from scipy.linalg import get_blas_funcs
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh

from kernelpca.solvers.cost import Cost, Size, iterative
from kernelpca.solvers.dense import Dense
from kernelpca.solvers.protocol import Solver
from kernelpca.solvers.rayleigh_ritz import rayleigh_ritz
from kernelpca.solvers.solution import Ritz
from kernelpca.solvers.watch import Stopped, Watch

SEEDED = "rng" in signature(eigsh).parameters  # from scipy 1.17 on; before, ARPACK has a seed of its own
EASY = 2000  # rows up to which a matrix in memory is copied, centered and all: passes cost next to nothing then


class Lanczos(Solver):
    """scipy's `eigsh`: one column at a time, so many passes, but little memory.

    Parameters
    ----------
    max_iter : int, optional
        Restarts at most; ARPACK's default of 10 n when not given.
    ncv : int, optional
        Lanczos vectors kept; max(2k + 1, 24) when not given: a few more than ARPACK's default, which saves restarts.
    indefinite : {"warn", "raise", "clip", "keep"}, default="warn"
        What to do with negative eigenvalues among the wanted ones.
    """

    wide = False

    def __init__(self, max_iter: int | None = None, ncv: int | None = None, indefinite: str = "warn") -> None:
        self.max_iter = max_iter
        self.ncv = ncv
        self.indefinite = indefinite

    def cost(self, size: Size, tol: float) -> Cost:
        """Return the cost of many passes of one column; a small matrix is copied."""
        copied = size.n if size.stored and size.n <= EASY else 0
        return iterative(size, 3 * size.k + 20, 1, basis=2 * size.k + 20, kept=copied)

    def run(self, watch: Watch, k: int, start: np.ndarray | None, rng: np.random.Generator) -> Ritz:
        """Let ARPACK read the matrix one column at a time."""
        n = watch.gram.shape[0]
        usual = max(2 * k + 1, 24)
        ncv = self.ncv or usual
        if ncv <= k:
            raise ValueError(
                f"Lanczos(ncv={ncv}) cannot find {k} components: ncv must be larger than their number, such as "
                f"{usual}; or leave it out."
            )
        if ncv >= n:  # the Lanczos basis would be the whole space
            return Dense().run(watch, k, start, rng)
        dtype = watch.gram.dtype
        v0 = rng.uniform(-1, 1, n).astype(dtype) if start is None else start.sum(axis=1).astype(dtype)

        seen: deque[np.ndarray] = deque(maxlen=2 * ncv)  # what may have to do if the user stops the solver
        copied = watch.gram.dense() if n <= EASY and watch.gram.in_memory else None
        symv = get_blas_funcs("symv", dtype=dtype)

        def matvec(v: np.ndarray) -> np.ndarray:
            if copied is None:
                product = watch.matmat(np.reshape(v, (-1, 1)))[:, 0]
            else:
                product = symv(1.0, copied.T, v)  # reads half of the matrix
                watch.passes += 1
            if watch.callback is not None:
                seen.append(v.copy().ravel())
            watch.tick()
            return product

        tol = 0.0 if n <= EASY else watch.tol / 2  # where passes cost nothing: repeated eigenvalues are found late
        operator = _Plain(n, dtype, matvec)
        seed = {"rng": rng} if SEEDED else {}  # of new directions, where the first are used up: matrices of low rank
        try:
            values, vectors = eigsh(operator, k, which="LA", v0=v0, tol=tol, maxiter=self.max_iter, ncv=ncv, **seed)
        except ArpackNoConvergence as stopped:
            return _complete(stopped.eigenvectors, watch, k, rng)
        except Stopped:
            return _complete(np.column_stack(seen), watch, k, rng)
        except ArpackError:  # a matrix that annihilates its start vector is, for all we can see, zero
            return _complete(np.empty((n, 0)), watch, k, rng)
        return Ritz(values, vectors, None if copied is None else copied @ vectors)


class _Plain(LinearOperator):
    """A function of a vector, called as it is: scipy's own checks take longer than the product of a small matrix."""

    def __init__(self, n: int, dtype: np.dtype, matvec: Callable[[np.ndarray], np.ndarray]) -> None:
        super().__init__(dtype, (n, n))
        self.matvec = matvec

    def _matvec(self, v: np.ndarray) -> np.ndarray:
        return self.matvec(v)


def _complete(found: np.ndarray, watch: Watch, k: int, rng: np.random.Generator) -> Ritz:
    """Fill up what ARPACK found with random directions, and take the Ritz pairs: honest, if poor."""
    extra = rng.standard_normal((watch.gram.shape[0], max(k - found.shape[1], 0)))
    Q = np.linalg.qr(np.column_stack([found, extra]))[0].astype(watch.gram.dtype)
    return Ritz(*rayleigh_ritz(Q, watch.matmat(Q)))
