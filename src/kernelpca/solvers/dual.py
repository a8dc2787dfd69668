"""The dual of kernel PCA: tr sqrt(H'G H), its gradient, and what H tells of directions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelpca.solvers.rayleigh_ritz import orthonormal, rayleigh_ritz
from kernelpca.solvers.solution import Ritz
from kernelpca.solvers.watch import Watch
from kernelpca.tall import column_norms, inner, times

LOST = 100  # eps: directions of columns of length one that are shorter, squared, are rounding
STALLED, SLOWER = 30, 0.9  # passes after which the criticality is less than this part of what it was, or rounding rules
NEAR = {4: 1e-3, 8: 1e-6}  # a criticality that rounding may keep from falling further
NEGATIVE = 1e-6  # of the largest eigenvalue of H'G H: those below minus this are no rounding


@dataclass(frozen=True)
class Polar:
    """The decomposition of G^(1/2) H = V diag(roots) axes' that everything is read off, from s x s matrices alone.

    Attributes
    ----------
    roots : ndarray of shape (r,)
        Its singular values, largest first: the square roots of the eigenvalues of H'G H.
    axes : ndarray of shape (s, r)
        The eigenvectors.
    inverse : ndarray of shape (s, s)
        (H'G H)^(-1/2), zero along directions that are lost: G H times this is the gradient of tr sqrt(H'G H), and where
        H'G H is singular, so that there is no gradient, the subgradient of least size. Directions without any row stay
        without, and everything else goes on.
    """

    roots: np.ndarray
    axes: np.ndarray
    inverse: np.ndarray

    @property
    def nuclear(self) -> float:
        """tr sqrt(H'G H)."""
        return float(self.roots.sum())

    @property
    def rank(self) -> int:
        """Directions that are left."""
        return len(self.roots)


def polar(H: np.ndarray, GH: np.ndarray, solver: str, real_parts: bool = False, dtype: np.dtype | None = None) -> Polar:
    """(n, s), (n, s) G H -> the decomposition; `dtype` is the precision of the products, that of GH where not given.

    Columns are brought to length one first: those of small components would otherwise drown in the rounding of large
    ones. `real_parts` takes square roots of negative values as zero instead of refusing them.
    """
    M = inner(H, GH.astype(np.float64, copy=False))
    M = (M + M.T) / 2
    values = np.linalg.eigvalsh(M)
    largest = float(values[-1])
    if not real_parts and (values[0] < -NEGATIVE * largest or largest <= 0 < -values[0]):
        raise ValueError(
            f"{solver} needs a positive semi-definite matrix: the dual of kernel PCA takes the square root of H'KH, "
            "which has negative eigenvalues. Choose a positive definite kernel, or solver='block_krylov', or "
            f"{solver}(real_parts=True) to go on with real parts of roots."
        )
    lost = LOST * float(np.finfo(dtype or GH.dtype).eps)
    if largest <= 0:  # nothing is left
        return Polar(np.zeros(0), np.zeros((len(M), 0)), np.zeros_like(M))
    lengths = np.sqrt(np.maximum(M.diagonal(), lost**2 * largest))
    squares, V = np.linalg.eigh(M / lengths / lengths[:, None])
    kept = squares > lost
    squares, V = squares[kept], V[:, kept]
    P, roots, axes = np.linalg.svd(np.sqrt(squares)[:, None] * V.T * lengths, full_matrices=False)
    return Polar(roots, axes.T, (V / np.sqrt(squares) / lengths[:, None]) @ P @ axes)


def stalled(history: list[float], dtype: np.dtype) -> bool:
    """Whether the criticality of the last passes has not fallen for so long that rounding is what is left."""
    if len(history) <= STALLED:
        return False
    before, lately = min(history[: -STALLED // 2]), min(history[-STALLED // 2 :])
    return lately > SLOWER * before and before < NEAR[dtype.itemsize]


def ritz_values(HH: np.ndarray, M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(k, k) H'H, (k, k) H'G H -> Ritz values (p,) of the span of H, largest first; H times the (k, p) are vectors.

    There are fewer than k where H is nearly dependent.
    """
    sizes, Z = np.linalg.eigh(HH)
    kept = sizes > 1e-10 * sizes[-1]
    W = Z[:, kept] / np.sqrt(sizes[kept])  # H W is orthonormal
    T = W.T @ M @ W
    values, S = np.linalg.eigh((T + T.T) / 2)
    return values[::-1], W @ S[:, ::-1]


def residual_norms(H: np.ndarray, GH: np.ndarray, values: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """(p,): |G u - theta u| of each pair, u a column of H turn."""
    scaled = turn * values
    return column_norms(len(H), len(values), lambda rows: GH[rows] @ turn - H[rows] @ scaled)


def ritz_pairs(H: np.ndarray, GH: np.ndarray) -> Ritz:
    """Return the Ritz pairs of the span of H, whose product is known; fewer where H is nearly dependent."""
    values, turn = ritz_values(inner(H, H), inner(H, GH.astype(np.float64, copy=False)))
    return Ritz(values, times(H, turn).astype(GH.dtype, copy=False), times(GH, turn))


def complete(ritz: Ritz, k: int, watch: Watch, rng: np.random.Generator) -> Ritz:
    """Return k Ritz pairs: H may have lost columns, and for a matrix of lower rank others are as good as they were."""
    missing = k - len(ritz.values)
    if missing <= 0:
        return ritz
    n, dtype = watch.gram.shape[0], watch.gram.dtype
    extra = orthonormal(rng.standard_normal((n, missing)).astype(dtype), ritz.vectors, 0.0)
    Q = np.hstack([ritz.vectors, extra])
    return Ritz(*rayleigh_ritz(Q, watch.matmat(Q)))
