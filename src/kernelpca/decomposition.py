"""The fitted result: features, an affine map of them to scores, and what was captured.

    scores(X) = features(X) @ W + b

Centring is folded into W and b once, at fit time, so projecting is written once for every estimator.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernelpca.features.protocol import Features
from kernelpca.kernels.base import Rows, n_rows
from kernelpca.remote import RemoteRows
from kernelpca.solvers.certificate import Certificate
from kernelpca.tiles import blocks, row_blocks

RESIDUALS = 2**16  # rows whose residuals are worked out at a time: their scores are held for that


@dataclass(frozen=True)
class Decomposition:
    """A subspace of feature space and how to project on it.

    Attributes
    ----------
    features : Features
        The map that W acts on.
    W : ndarray of shape (m, k)
        Coefficients of orthonormal directions; with centring its columns sum to zero.
    b : ndarray of shape (k,)
        Minus the scores of the origin of feature space: -mean_k'W.
    signs : ndarray of shape (k,)
        1, or -1 for a direction of negative eigenvalue (indefinite kernels), or 0 for one of eigenvalue zero.
    eigenvalues : ndarray of shape (k,)
        Of the (centered) Gram matrix.
    total : float
        Sum of all eigenvalues: the trace of the (centered) Gram matrix.
    mean_weights : ndarray of shape (m,)
        The mean of the mapped data is the sum of features with these weights; zeros without centring.
    mean_square : float
        Squared length of that mean.
    certificate : Certificate
        How far from exact the directions are.
    positive_definite : bool
        Whether squared distances can be relied on not to be negative.
    """

    features: Features
    W: np.ndarray
    b: np.ndarray
    signs: np.ndarray
    eigenvalues: np.ndarray
    total: float
    mean_weights: np.ndarray
    mean_square: float
    certificate: Certificate
    positive_definite: bool

    @property
    def elsewhere(self) -> RemoteRows | None:
        """The rows that features are kernel values with, where they are not here."""
        anchors = getattr(self.features, "anchors", None)
        return anchors if isinstance(anchors, RemoteRows) else None

    def with_anchors(self, anchors: Rows) -> Decomposition:
        """Return the same with these rows in their place."""
        return replace(self, features=replace(self.features, anchors=anchors))  # type: ignore[type-var]

    @property
    def ratio(self) -> np.ndarray:
        """(k,): eigenvalues as fractions of the total; zeros where there is no variance at all."""
        return self.eigenvalues / self.total if self.total > 0 else np.zeros_like(self.eigenvalues)

    def scores(self, X: Rows) -> np.ndarray:
        """(n, d) -> (n, k): coordinates on the directions."""
        return added(self.features.product(X, self.W), self.b)

    def residuals(self, X: Rows, diagonal: np.ndarray | None = None) -> np.ndarray:
        """(n, d) -> (n,): squared distance of each mapped sample from the subspace through the mean."""
        parts = blocks(n_rows(X), RESIDUALS)
        known = [None if diagonal is None else diagonal[rows] for rows in parts]
        return np.concatenate([self.project(X[rows], own)[1] for rows, own in zip(parts, known, strict=True)])

    def project(self, X: Rows, diagonal: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """(n, d) -> (n, k), (n,): scores and residuals; `diagonal` is k(x, x) where the features do not tell it."""
        products = self.features.product(X, np.column_stack([self.W, self.mean_weights]))
        scores, to_mean = added(products[:, :-1], self.b), products[:, -1]
        squared = self.features.squared_norms(X) if diagonal is None else np.asarray(diagonal)
        inside = np.empty(len(scores))
        for rows in row_blocks(scores):
            inside[rows] = np.square(scores[rows], dtype=np.float64) @ self.signs
        distances = squared - 2 * to_mean + self.mean_square - inside
        return scores, np.maximum(distances, 0.0) if self.positive_definite else distances


def added(products: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(n, k), (k,) -> (n, k): the sum, in the place of the products where it has their precision."""
    return np.add(products, b, out=products if np.result_type(products, b) == products.dtype else None)
