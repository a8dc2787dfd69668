"""Orthonormal blocks, and the best that can be said of a matrix from its products with one."""

from __future__ import annotations

import numpy as np

from kernelpca.tall import add_product, inner, times

CLEAN = 0.01  # of the length of a column: what it may have had inside the basis before the last time
MANY, PROBES = 128, 32  # columns from which evidence about each costs a good part of finding them; probes that tell it
WELL = 0.3  # smallest over largest pivot from which one round of Cholesky is enough


def starting_block(n: int, p: int, start: np.ndarray | None, rng: np.random.Generator, dtype: np.dtype) -> np.ndarray:
    """Return an orthonormal block (n, p or more): the given vectors first, filled up with random ones."""
    given = np.empty((n, 0), dtype) if start is None else start.astype(dtype, copy=False)
    extra = rng.standard_normal((max(p - given.shape[1], 0), n)).T.astype(dtype)
    return orthonormal_columns(np.hstack([given, extra / np.sqrt(dtype.type(n))]))


def orthonormal_columns(W: np.ndarray) -> np.ndarray:
    """(n, p) -> (n, p): an orthonormal basis of the columns, which should be independent.

    By Cholesky factors of W'W, twice, which is all matrix products; by Householder's method where columns are so
    nearly dependent that squaring would lose them.
    """
    V = W
    for _ in range(2):
        try:
            L = np.linalg.cholesky(inner(V, V))
        except np.linalg.LinAlgError:
            return np.linalg.qr(W)[0]
        evenness = L.diagonal().min(initial=1.0) / L.diagonal().max(initial=1.0)
        if evenness < 100 * np.sqrt(np.finfo(W.dtype).eps):
            return np.linalg.qr(W)[0]
        V = times(V, np.linalg.inv(L).T)
        if evenness > WELL and np.abs(L - np.diag(L.diagonal())).max(initial=0.0) < WELL * L.diagonal().max():
            break
    return V


def orthonormal(W: np.ndarray, Q: np.ndarray, smallest: float, inside: np.ndarray | None = None) -> np.ndarray:
    """(n, p), (n, q) -> (n, r <= p): an orthonormal basis of W without Q, directions below `smallest` left out.

    `inside` is Q'W (q, p), where it is known. Q is taken off again, from columns of length one, until little was left
    of it: then what is left now is rounding.
    """
    room = Q.shape[0] - Q.shape[1]
    W = W.copy()
    add_product(W, Q, -(inner(Q, W) if inside is None else inside))
    squares, Z = np.linalg.eigh(inner(W, W))
    if squares.min(initial=np.inf) > max(smallest**2, 1e4 * float(np.finfo(W.dtype).eps) * squares.max(initial=0.0)):
        block = times(W, (Z[:, ::-1] / np.sqrt(squares[::-1]))[:, :room])
    else:
        block, R = np.linalg.qr(W)
        U, sizes, _ = np.linalg.svd(R)  # small, and tells the rank for certain
        block = times(block, U[:, : min(int((sizes > smallest).sum()), room)])
    while block.shape[1]:
        inside = inner(Q, block)
        add_product(block, Q, -inside)
        block = orthonormal_columns(block)
        if np.abs(inside).max(initial=0.0) < CLEAN:
            break
    return block


def rayleigh_ritz(Q: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(n, p) orthonormal, (n, p) its product -> Ritz values (p,), vectors and products (n, p), largest first."""
    T = (Q.T @ Y).astype(np.float64)
    values, S = np.linalg.eigh((T + T.T) / 2)
    S = S[:, ::-1].astype(Q.dtype)
    return values[::-1], Q @ S, Y @ S


def residual_matrix(values: np.ndarray, vectors: np.ndarray, products: np.ndarray) -> np.ndarray:
    """(p,), (n, p), (n, p) -> (n, p): K U - U diag(values), in float64."""
    return products.astype(np.float64) - vectors * values


def probed_residuals(values: np.ndarray, U: np.ndarray, Z: np.ndarray, KZ: np.ndarray) -> np.ndarray:
    """(k,), (n, k), (n, r) normal numbers, (n, r) -> (k,): |K u_i - theta_i u_i|, from Z'(K U - U diag(values)).

    A residual times a row of normal numbers has the residual's squared length as its mean square, so that r columns
    tell the lengths of all residuals to about 1 / sqrt(2 r), for a product of r columns instead of k.
    """
    seen = inner(KZ, U) - inner(Z, U) * values
    return np.sqrt(np.square(seen).mean(axis=0))


def orthogonality_loss(U: np.ndarray) -> float:
    """(n, k) -> the largest entry of U'U - I; of many columns a bound that signs at random tell, too large if anything.

    Row i of U'U - I times random signs has the length of that row as its root mean square, which is no less than its
    largest entry.
    """
    k = U.shape[1]
    if k <= MANY:
        return float(np.abs(inner(U, U) - np.eye(k)).max(initial=0.0))
    Z = np.random.default_rng(0).choice([-1.0, 1.0], (k, PROBES))
    return float(np.abs(inner(U, times(U.astype(np.float64, copy=False), Z)) - Z).max())
