"""Kernel PCA through the dual: L-BFGS on a smooth problem whose solution spans the leading eigenvectors."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from scipy.optimize import minimize

from kernelpca.solvers.dense import Dense
from kernelpca.solvers.protocol import Ritz, Solver, Watch
from kernelpca.solvers.rayleigh_ritz import orthonormal, rayleigh_ritz, residual_matrix
from kernelpca.tall import inner, times


class Lbfgs(Solver):
    """Minimize the dual of kernel PCA, 1/2 tr H'H - tr sqrt(H'K H), over H (n, k).

    It needs about one pass an iteration, with k columns, and many more passes than block Krylov: it is here because
    the dual admits other objectives, and to be compared with.

    Parameters
    ----------
    memory : int, default=10
        Pairs of steps and gradients that L-BFGS keeps.
    max_iter : int, default=1000
        Passes at most.
    indefinite : {"warn", "raise", "clip", "keep"}, default="warn"
        What to do with negative eigenvalues among the wanted ones; the matrix itself must be positive
        semi-definite up to rounding.

    References
    ----------
    Tonin, Lambert, Patrinos, Suykens (2023), Extending kernel PCA through dualization: problem 6 with the gradient of
    proposition 3.4, from a standard normal start. At the optimum -2 times the cost is the captured variance.
    """

    needs_definite = True

    def __init__(self, memory: int = 10, max_iter: int = 1000, indefinite: str = "warn") -> None:
        self.memory = memory
        self.max_iter = max_iter
        self.indefinite = indefinite

    def block_width(self, n: int, k: int, entry_cost: float) -> int:
        """Return the columns of a pass: as many as components."""
        return k

    def run(self, watch: Watch, k: int, start: np.ndarray | None, rng: np.random.Generator) -> Ritz:
        """Let scipy minimize; after each evaluation look at the Ritz pairs of the span of H."""
        n, dtype = watch.gram.shape[0], watch.gram.dtype
        if 2 * k >= n:  # the dual variable would be as large as the matrix
            return Dense().run(watch, k, start, rng)
        H = rng.standard_normal((n, k))
        if start is not None:
            H[:, : start.shape[1]] = start[:, :k]
        found: list[Ritz] = []

        def evaluate(h: np.ndarray) -> tuple[float, np.ndarray]:
            H = h.reshape(n, k)
            GH = watch.matmat(H.astype(dtype, copy=False))
            cost, gradient = dual_cost(H, GH)
            values, vectors, products = _ritz_pairs(H, GH)
            R = residual_matrix(values, vectors, products)
            found[:] = [Ritz(values, vectors, products)]
            if watch.report(values, np.linalg.norm(R, axis=0), captured=-2 * cost):
                raise StopIteration
            return cost, gradient.ravel()

        with suppress(StopIteration):
            while True:  # where a line search loses its way in rounding, a step H = G H (H'G H)^(-1/2) helps it on
                before = watch.passes
                limit = self.max_iter - before
                options = {"maxcor": self.memory, "maxiter": limit, "maxfun": limit, "ftol": 0.0, "gtol": 0.0}
                minimize(evaluate, H.ravel(), jac=True, method="L-BFGS-B", options=options)
                if watch.passes >= self.max_iter:
                    break
                products, values = found[0].products, found[0].values
                H = np.zeros((n, k))
                H[:, : len(values)] = products / np.sqrt(np.maximum(values, 1e-15 * values[0]))
        ritz = found[0]
        missing = k - len(ritz.values)
        if missing > 0:  # a matrix of lower rank: H has lost columns, which are as good as any others
            extra = orthonormal(rng.standard_normal((n, missing)).astype(dtype), ritz.vectors, 0.0)
            Q = np.hstack([ritz.vectors, extra])
            return Ritz(*rayleigh_ritz(Q, watch.matmat(Q)))
        return ritz


def dual_cost(H: np.ndarray, GH: np.ndarray) -> tuple[float, np.ndarray]:
    """(n, k), (n, k) G H -> the cost 1/2 tr H'H - tr sqrt(H'G H) and its gradient H - G H (H'G H)^(-1/2), (n, k)."""
    M = inner(H, GH.astype(np.float64, copy=False))
    values, U = np.linalg.eigh((M + M.T) / 2)
    largest = float(values.max(initial=0.0))
    if values[0] < -1e-6 * largest or largest <= 0 < -values[0]:
        raise ValueError(
            "Lbfgs needs a positive semi-definite matrix: the dual of kernel PCA takes the square root of H'KH, which "
            "has negative eigenvalues. Choose a positive definite kernel, or solver='block_krylov'."
        )
    roots = np.sqrt(np.maximum(values, 1e-300))
    cost = 0.5 * float(np.vdot(H, H)) - float(roots.sum())
    inverse = np.where(values > 1e-15 * largest, 1 / roots, 0.0)
    return cost, H - times(GH, U * inverse @ U.T)


def _ritz_pairs(H: np.ndarray, GH: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the Ritz pairs of the span of H, whose product is known; fewer where H is nearly dependent."""
    sizes, Z = np.linalg.eigh(inner(H, H))
    kept = sizes > 1e-10 * sizes[-1]
    W = Z[:, kept] / np.sqrt(sizes[kept])  # H W is orthonormal
    T = W.T @ inner(H, GH.astype(np.float64, copy=False)) @ W
    values, S = np.linalg.eigh((T + T.T) / 2)
    turn = W @ S[:, ::-1]
    return values[::-1], times(H, turn).astype(GH.dtype, copy=False), times(GH, turn)
