"""A model that keeps only the rows with coefficients, with the mean of all rows fitted on them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from kernelpca.gram import CenteredGram, Gram
from kernelpca.solvers.block_krylov import LARGE
from kernelpca.solvers.certificate import Certificate
from kernelpca.solvers.solution import leading_signs
from kernelpca.warn import warn

STEPS = 100  # products that fitting the mean may take
LOST = 1e-8  # squared length of a direction about the fitted mean, below which it is none
CLOSE = 1e-3  # relative residual at which the mean is within a hundredth of the best


@dataclass(frozen=True)
class Coefficients:
    """Orthonormal directions sum_i alpha_i (phi_i - m) as combinations (n, k), and the scores (n, k) on them."""

    alpha: np.ndarray
    scores: np.ndarray


@dataclass(frozen=True)
class Support:
    """The same directions over fewer rows, about a mean m^ = sum_i c_i phi_i that these rows have.

    Attributes
    ----------
    rows : ndarray of shape (m,)
        The rows that are kept.
    W, b : ndarray of shape (m, k), (k,)
        The affine map of kernel values with them.
    scores : ndarray of shape (n, k)
        Of all training rows.
    mean_weights, mean_square : ndarray of shape (m,), float
        c, and the squared length of m^.
    rank : int
        Directions that are left.
    turn : ndarray of shape (k, k)
        From the axes of the directions given to those of the answer.
    center_error, score_error : float
        |m - m^|, and how far scores can be from those about m.
    """

    rows: np.ndarray
    W: np.ndarray
    b: np.ndarray
    scores: np.ndarray
    mean_weights: np.ndarray
    mean_square: float
    rank: int
    turn: np.ndarray
    center_error: float = 0.0
    score_error: float = 0.0

    def certify(self, certificate: Any) -> Certificate:
        """Return a dual certificate with what fitting the mean cost."""
        size = float(np.sqrt(np.square(self.scores).sum(axis=1).mean()))
        if self.score_error > size:
            warn(
                f"The mean cannot be fitted well on the {len(self.rows)} rows that are kept: it is off by "
                f"{self.center_error:.2g} in feature space, and scores, of length {size:.2g} on average, may be off by "
                f"{self.score_error:.2g}. Keep more rows (a smaller sparsity or epsilon), or set center=False."
            )
        return replace(
            certificate,
            rows=len(self.rows),
            center_error=self.center_error,
            score_error=self.score_error,
            rank=min(self.rank, certificate.rank),
        )


def keep_support(found: Coefficients, gram: Gram, centered: CenteredGram | None) -> Support:
    """Leave out rows whose coefficients are zero.

    Directions are sum_i alpha_i (phi_i - m), and m involves all rows. With m^ instead, delta = m - m^, sigma = alpha'1
    and v = B'delta, where B are the directions: B + delta sigma' has the Gram matrix M = I + v sigma' + sigma v' +
    |delta|^2 sigma sigma', so (B + delta sigma') M^(-1/2) are the orthonormal directions nearest to it. They are turned
    to principal axes.
    """
    alpha, Z = found.alpha, found.scores.astype(np.float64)
    rows = np.flatnonzero(alpha.any(axis=1))
    alpha = alpha[rows]
    k = alpha.shape[1]
    if centered is None:
        return Support(rows, alpha, np.zeros(k), Z, np.zeros(len(rows)), 0.0, int(alpha.any(axis=0).sum()), np.eye(k))
    c, Kc = fit_mean(rows, gram, centered)
    w, mean = centered.w.astype(np.float64), centered.mean_column.astype(np.float64)
    square, cross, true = float(c @ Kc[rows]), float(w @ Kc), float(w @ mean)
    off = max(true - 2 * cross + square, 0.0)  # |delta|^2
    sigma, v = alpha.sum(axis=0), -(c @ Z[rows])
    M = np.eye(k) + np.outer(v, sigma) + np.outer(sigma, v) + off * np.outer(sigma, sigma)
    values, U = np.linalg.eigh(M)
    left = values > LOST  # few rows about a mean of their own have fewer directions
    P = U[:, left] / np.sqrt(values[left]) @ U[:, left].T
    along = mean - Kc - true + cross  # delta'(phi_i - m)
    scores = (Z + v + np.outer(along + off, sigma)) @ P
    turned = (np.eye(k) + np.outer(v, sigma)) @ P  # old directions times new ones
    far = (np.eye(k) + P @ M @ P) - turned - turned.T
    apart = np.sqrt(max(float(np.linalg.eigvalsh(far)[-1]), 0.0))
    radius = np.sqrt(max(float((gram.diagonal().astype(np.float64) - 2 * Kc).max()) + square, 0.0))
    R = principal_axes(scores, w, int(left.sum()))
    W = (alpha - np.outer(c, sigma)) @ P @ R
    error = float(apart * radius + np.linalg.norm(v))
    return Support(rows, W, -(Kc[rows] @ W), scores @ R, c, square, int(left.sum()), R, float(np.sqrt(off)), error)


def principal_axes(scores: np.ndarray, w: np.ndarray, rank: int) -> np.ndarray:
    """(n, k) scores, (n,) weights of sum one -> (k, k): the turn to principal axes; zero beyond the rank."""
    about = scores - w @ scores
    R = np.linalg.eigh(about.T @ (w[:, None] * about))[1][:, ::-1]
    R = R * leading_signs(about @ R)
    R[:, rank:] = 0.0
    return R


def fit_mean(rows: np.ndarray, gram: Gram, centered: CenteredGram) -> tuple[np.ndarray, np.ndarray]:
    """Return weights c (m,) with sum one, of a point in the span of some rows near the mean, and K c for all rows (n,).

    Conjugate gradients on the rows' own matrix, about their mean, lessen the distance from the mean with each product.
    """
    n, m = gram.shape[0], len(rows)
    base = np.full(m, 1.0 / m)

    def product(c: np.ndarray, gram: Gram = gram) -> np.ndarray:
        padded = np.zeros((n, 1))
        padded[rows, 0] = c
        return gram.matmat(padded.astype(gram.dtype))[:, 0].astype(np.float64)

    def centered_product(d: np.ndarray) -> np.ndarray:
        y = product(d - d.mean(), worked)[rows] + ridge * d
        return y - y.mean()

    worked = gram.single() if n >= LARGE else gram  # where tiles are kept; what is off is told by the last product
    ridge = worked.rounding()
    Kb = product(base)
    toward = (centered.mean_column.astype(np.float64) - Kb)[rows]
    operator = LinearOperator((m, m), matvec=centered_product, dtype=np.float64)
    aim, d = toward - toward.mean(), np.zeros(m)
    level = float(np.finfo(np.float64).eps) * float(np.abs(Kb).max()) * np.sqrt(m)
    if np.linalg.norm(aim) > 10 * level:
        found = cg(operator, aim, rtol=CLOSE, atol=level, maxiter=STEPS)[0]
        d = found if np.isfinite(found).all() else d
    c = base + d - d.mean()
    return c, product(c)
