"""Kernel PCA through the dual: L-BFGS on a smooth problem whose solution spans the leading eigenvectors."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from scipy.optimize import minimize

from kernelpca.solvers.cost import Cost, Size, digits_of, iterative
from kernelpca.solvers.dense import Dense
from kernelpca.solvers.dual import complete, polar, residual_norms, ritz_values
from kernelpca.solvers.protocol import Solver
from kernelpca.solvers.solution import Ritz
from kernelpca.solvers.watch import Watch
from kernelpca.tall import add_product, inner, times

SMALL = 1e-15  # of the largest eigenvalue: no smaller one is divided by
WELL = 1e-8  # smallest over largest eigenvalue of H'G H from which every one has digits enough


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

    def cost(self, size: Size, tol: float) -> Cost:
        """Return the cost of ten passes a digit, and of the pairs that are kept."""
        return iterative(size, int(10 * digits_of(tol)), size.k, basis=12 * size.k)

    def run(self, watch: Watch, k: int, start: np.ndarray | None, rng: np.random.Generator) -> Ritz:
        """Let scipy minimize; after each evaluation look at the Ritz pairs of the span of H."""
        n, dtype = watch.gram.shape[0], watch.gram.dtype
        if 2 * k >= n:  # the dual variable would be as large as the matrix
            return Dense().run(watch, k, start, rng)
        H = rng.standard_normal((n, k))
        if start is not None:
            H[:, : start.shape[1]] = start[:, :k]
        found: list[Ritz] = []
        latest: list[np.ndarray] = []

        def evaluate(h: np.ndarray) -> tuple[float, np.ndarray]:
            H = h.reshape(n, k)
            GH = watch.matmat(H.astype(dtype, copy=False))
            M = inner(H, GH)
            cost, gradient = dual_cost(H, GH, self.real_parts, M)
            values, turn = ritz_values(inner(H, H), M)
            if not len(values):
                raise ValueError(
                    "Lbfgs has lost every direction: H'KH has no positive eigenvalue for the H it started from. Use "
                    "solver='block_krylov', which takes indefinite matrices."
                )
            latest[:] = [GH, turn, values]
            left, lost = self.max_iter - watch.passes, len(values) < k
            stop = watch.report(values, residual_norms(H, GH, values, turn), captured=-2 * cost)
            stop = stop or left <= lost  # to replace lost columns takes a pass
            if (stop or left == 1) and not (found and lost):
                found[:] = [Ritz(values, times(H, turn).astype(dtype, copy=False), times(GH, turn))]
            if stop:
                raise StopIteration
            return cost, gradient.ravel()

        options = {"maxcor": self.memory, "maxiter": self.max_iter, "maxfun": self.max_iter, "ftol": 0.0, "gtol": 0.0}
        with suppress(StopIteration):
            while True:  # where a line search loses its way in rounding, a step H = G H (H'G H)^(-1/2) helps it on
                minimize(evaluate, H.ravel(), jac=True, method="L-BFGS-B", options=options)
                GH, turn, values = latest
                H = np.zeros((n, k))
                H[:, : len(values)] = times(GH, turn / np.sqrt(np.maximum(values, SMALL * np.abs(values).max())))
        return complete(found[0], k, watch, rng)


def dual_cost(
    H: np.ndarray, GH: np.ndarray, real_parts: bool = False, M: np.ndarray | None = None
) -> tuple[float, np.ndarray]:
    """(n, k), (n, k) G H -> the cost 1/2 tr H'H - tr sqrt(H'G H) and its gradient H - G H (H'G H)^(-1/2), (n, k).

    `M` (k, k) is H'G H, where it is known.
    """
    M = inner(H, GH) if M is None else M
    values, U = np.linalg.eigh((M + M.T) / 2)
    if real_parts or values[0] > WELL * values[-1]:
        kept = values > SMALL * np.abs(values).max()
        roots, U = np.sqrt(values[kept]), U[:, kept]
        nuclear, inverse = float(roots.sum()), U / roots @ U.T
    else:  # small values have lost digits: with more care
        P = polar(H, GH, "Lbfgs")
        nuclear, inverse = P.nuclear, P.inverse
    gradient = H.copy()
    add_product(gradient, GH, -inverse)
    return 0.5 * float(np.vdot(H, H)) - nuclear, gradient
