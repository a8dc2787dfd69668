"""Kernel PCA through the dual: L-BFGS on a smooth problem whose solution spans the leading eigenvectors."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from scipy.optimize import minimize

from kernelpca.solvers.dense import Dense
from kernelpca.solvers.dual import complete, polar, residual_norms, ritz_pairs
from kernelpca.solvers.protocol import Ritz, Solver, Watch
from kernelpca.tall import times


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
    real_parts : bool, default=False
        Whether to go on where H'K H has negative eigenvalues, with real parts of its square roots, as one must for the
        matrices of the paper's figure 1, which are indefinite.
    indefinite : {"warn", "raise", "clip", "keep"}, default="warn"
        What to do with negative eigenvalues among the wanted ones; the matrix itself must be positive
        semi-definite up to rounding.

    References
    ----------
    Tonin, Lambert, Patrinos, Suykens (2023), Extending kernel PCA through dualization: problem 6 with the gradient of
    proposition 3.4, from a standard normal start. At the optimum -2 times the cost is the captured variance.
    """

    needs_definite = True

    def __init__(
        self, memory: int = 10, max_iter: int = 1000, real_parts: bool = False, indefinite: str = "warn"
    ) -> None:
        self.memory = memory
        self.max_iter = max_iter
        self.real_parts = real_parts
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
            cost, gradient = dual_cost(H, GH, self.real_parts)
            ritz = ritz_pairs(H, GH)
            found[:] = [ritz]
            if watch.report(ritz.values, residual_norms(ritz), captured=-2 * cost):
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
        return complete(found[0], k, watch, rng)


def dual_cost(H: np.ndarray, GH: np.ndarray, real_parts: bool = False) -> tuple[float, np.ndarray]:
    """(n, k), (n, k) G H -> the cost 1/2 tr H'H - tr sqrt(H'G H) and its gradient H - G H (H'G H)^(-1/2), (n, k)."""
    P = polar(H, GH, "Lbfgs", real_parts)
    return 0.5 * float(np.vdot(H, H)) - P.nuclear, H - times(GH, P.inverse)
