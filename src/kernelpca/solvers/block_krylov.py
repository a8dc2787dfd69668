"""Block Krylov iteration with Rayleigh-Ritz over all blocks, thick restarts and full reorthogonalization.

What costs is a pass over the matrix; a pass with twenty columns costs little more than one with a single column. So
each pass multiplies a whole block, and everything learned so far takes part in the Rayleigh-Ritz step.
"""

from __future__ import annotations

import numpy as np

from kernelpca.solvers.protocol import Ritz, Solver, Watch
from kernelpca.solvers.rayleigh_ritz import residual_matrix, starting_block
from kernelpca.tiles import blocks

BASIS_BLOCKS = 10  # blocks kept before a restart


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
        p = min(self.block_size or default_block(k), n)
        block = starting_block(n, p, start, rng, dtype)
        most = max(self.max_basis or BASIS_BLOCKS * p, k + 2 * block.shape[1])
        basis, products = np.empty((2, n, min(most, n)), dtype)  # memory is taken once
        T = np.empty((0, 0))
        while True:
            q = len(T) + block.shape[1]
            Q, KQ = basis[:, :q], products[:, :q]
            Q[:, len(T) :] = block
            KQ[:, len(T) :] = Y = watch.matmat(block)
            T = _extended(T, (Q.T @ Y).astype(np.float64))
            values, S = np.linalg.eigh(T)
            values, S = values[::-1], S[:, ::-1]
            lead = S[:, :k].astype(dtype)
            residuals = np.linalg.norm(residual_matrix(values[:k], Q @ lead, KQ @ lead), axis=0)
            complete = q >= n or watch.passes >= self.max_iter
            if q >= k and (watch.report(values[:k], residuals) or complete):
                return Ritz(values, Q @ lead, KQ @ lead, _coupling(Q, KQ, S, values))
            watch.see(values)
            block = orthonormal(Y, Q, watch.rounding)
            if block.shape[1] == 0:  # the basis is invariant: look elsewhere
                block = orthonormal(rng.standard_normal((n, min(p, n - q))).astype(dtype), Q, 0.0)
            if q + block.shape[1] > basis.shape[1]:
                kept = min(k + p, basis.shape[1] - block.shape[1])
                keep = S[:, :kept].astype(dtype)
                basis[:, :kept], products[:, :kept] = Q @ keep, KQ @ keep
                T = np.diag(values[:kept])


def default_block(k: int) -> int:
    """Return how many columns a pass for k components has."""
    return max(k + 8, 16)


def _coupling(Q: np.ndarray, KQ: np.ndarray, S: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(n, q), (n, q), (q, q), (q,) -> (q, q): R'R of the residuals of all Ritz pairs, a block of rows at a time."""
    total = np.zeros_like(S)
    for rows in blocks(len(Q), 4096):
        R = KQ[rows].astype(np.float64) @ S - Q[rows].astype(np.float64) @ (S * values)
        total += R.T @ R
    return total


def orthonormal(W: np.ndarray, Q: np.ndarray, smallest: float) -> np.ndarray:
    """(n, p), (n, q) -> (n, r <= p): an orthonormal basis of W without Q, directions below `smallest` left out."""
    room = Q.shape[0] - Q.shape[1]
    for _ in range(2):
        W = W - Q @ (Q.T @ W)
    block, R = np.linalg.qr(W)
    U, sizes, _ = np.linalg.svd(R)  # small, and tells the rank for certain
    block = block @ U[:, : min(int((sizes > smallest).sum()), room)]
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
