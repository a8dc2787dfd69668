"""Block Krylov iteration with Rayleigh-Ritz over all blocks, thick restarts and full reorthogonalization.

What costs is a pass over the matrix; a pass with twenty columns costs little more than one with a single column. So
each pass multiplies a whole block, and everything learned so far takes part in the Rayleigh-Ritz step.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr

from kernelpca.solvers.protocol import Ritz, Solver, Watch
from kernelpca.solvers.rayleigh_ritz import residual_matrix, starting_block


class BlockKrylov(Solver):
    """The default solver for problems that are too large for a dense one.

    Parameters
    ----------
    block_size : int, optional
        Columns of a pass; k + 8, at least 16, when not given.
    max_basis : int, optional
        Columns kept before a restart; ten blocks when not given. Memory is 2 n max_basis numbers.
    max_iter : int, default=200
        Passes at most.
    indefinite : {"warn", "raise", "clip", "keep"}, default="warn"
        What to do with negative eigenvalues among the wanted ones.

    Notes
    -----
    A restart keeps the leading Ritz vectors and the block that was to come next, which is orthogonal to all of them
    (the block form of the Krylov-Schur method), so that nothing is lost of the convergence so far.
    """

    def __init__(
        self,
        block_size: int | None = None,
        max_basis: int | None = None,
        max_iter: int = 200,
        indefinite: str = "warn",
    ) -> None:
        self.block_size = block_size
        self.max_basis = max_basis
        self.max_iter = max_iter
        self.indefinite = indefinite

    def run(self, watch: Watch, k: int, start: np.ndarray | None, rng: np.random.Generator) -> Ritz:
        """Grow the basis by one block a pass until the residuals are small."""
        n, dtype = watch.gram.shape[0], watch.gram.dtype
        p = min(self.block_size or max(k + 8, 16), n)
        most = max(self.max_basis or 10 * p, k + 2 * p)
        Q, KQ = np.empty((n, 0), dtype), np.empty((n, 0), dtype)
        T = np.empty((0, 0))
        block = starting_block(n, p, start, rng, dtype)
        while True:
            Y = watch.matmat(block)
            Q, KQ = np.column_stack([Q, block]), np.column_stack([KQ, Y])
            T = _extended(T, (Q.T @ Y).astype(np.float64))
            values, S = np.linalg.eigh(T)
            values, S = values[::-1], S[:, ::-1]
            lead = S[:, :k].astype(dtype)
            residuals = np.linalg.norm(residual_matrix(values[:k], Q @ lead, KQ @ lead), axis=0)
            complete = Q.shape[1] >= n or watch.passes >= self.max_iter
            if Q.shape[1] >= k and (watch.report(values[:k], residuals) or complete):
                vectors, products = Q @ S.astype(dtype), KQ @ S.astype(dtype)
                R = residual_matrix(values, vectors, products)
                return Ritz(values, vectors[:, :k], products[:, :k], R.T @ R)
            watch.see(values)
            block = orthonormal(Y, Q, watch.rounding)
            if block.shape[1] == 0:  # the basis is invariant: look elsewhere
                block = orthonormal(rng.standard_normal((n, min(p, n - Q.shape[1]))).astype(dtype), Q, 0.0)
            if Q.shape[1] + block.shape[1] > most:
                keep = S[:, : min(k + p, most - p)].astype(dtype)
                Q, KQ = Q @ keep, KQ @ keep
                T = np.diag(values[: keep.shape[1]])


def orthonormal(W: np.ndarray, Q: np.ndarray, smallest: float) -> np.ndarray:
    """(n, p), (n, q) -> (n, r <= p): an orthonormal basis of W without Q, directions below `smallest` left out."""
    room = Q.shape[0] - Q.shape[1]
    for _ in range(2):
        W = W - Q @ (Q.T @ W)
    block, R, _ = qr(W, mode="economic", pivoting=True, check_finite=False)
    sizes = np.abs(np.diag(R))
    block = block[:, : min(int((sizes > smallest).sum()), room)]
    if block.shape[1]:
        block = block - Q @ (Q.T @ block)  # what was small has lost digits
        block = np.linalg.qr(block)[0]
    return block


def _extended(T: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Put new columns Q'Y beside the projected matrix, and their mirror below it."""
    old, total = T.shape[0], columns.shape[0]
    grown = np.empty((total, total))
    grown[:old, :old] = T
    grown[:, old:] = columns
    grown[old:, :old] = columns[:old].T
    corner = grown[old:, old:]
    grown[old:, old:] = (corner + corner.T) / 2
    return grown
