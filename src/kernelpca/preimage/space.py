"""A fitted model as its pre-images see it: the points that scores stand for, and samples that are known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kernelpca.decomposition import Decomposition
from kernelpca.features.kernel import KernelFeatures
from kernelpca.features.protocol import Features
from kernelpca.gram.budget import BUDGET
from kernelpca.kernels.base import Kernel
from kernelpca.tall import row_products

WIDE = 1.5  # columns for each sample from which coordinates in the samples' span are worth while
FLAT = 1e-13  # of the largest eigenvalue of the samples' dot products: below it lies no direction


@dataclass(frozen=True)
class Space:
    """The feature space of a model, with everything in local coordinates: rows less `origin`.

    Scores z stand for the point p = m + sum_k z_k v_k of feature space, m the mean of the mapped data and v_k the
    model's directions; over features it is the combination c = mean_weights + W z, in which the mean is kept.

    Attributes
    ----------
    decomposition : Decomposition
        The model.
    kernel : Kernel
        As the user gave it, resolved.
    n, width : int
        The number of training samples, and that of columns of the input.
    rows : ndarray of shape (m, d) or None
        Samples that are known where the model itself keeps none: training rows, in the units of the input.
    budget, memory_limit : int
        Bytes of working memory, and all that the user grants.
    """

    decomposition: Decomposition
    kernel: Kernel
    n: int
    width: int
    rows: np.ndarray | None = None
    budget: int = BUDGET
    memory_limit: int = 2**62

    @property
    def expands(self) -> bool:
        """Whether the model keeps rows that p is a combination of (exact and Nyström models)."""
        return isinstance(self.decomposition.features, KernelFeatures)

    @cached_property
    def features(self) -> Features:
        """The model's features as functions of local coordinates."""
        return self.decomposition.features.at_origin()

    @property
    def origin(self) -> np.ndarray | float:
        """(d,) or 0: what is taken off rows."""
        origin = self.decomposition.features.origin
        return 0.0 if origin is None else origin

    def local(self, X: np.ndarray) -> np.ndarray:
        """(n, d) -> (n, d): rows in local coordinates."""
        origin = self.decomposition.features.origin
        return X if origin is None else X - origin.astype(X.dtype)

    @cached_property
    def samples(self) -> np.ndarray:
        """(m, d): samples that are known, local."""
        if self.expands:
            return self.decomposition.features.anchors  # type: ignore[attr-defined]
        assert self.rows is not None, "a pre-image without samples asked for them"
        return self.local(self.rows)

    @property
    def knows_samples(self) -> bool:
        """Whether there are any."""
        return self.expands or self.rows is not None

    @property
    def dtype(self) -> np.dtype:
        """The precision that points are found in."""
        return self.decomposition.W.dtype

    @cached_property
    def _projected(self) -> tuple[np.ndarray, np.ndarray]:
        return self.project(self.samples)

    def project_samples(self) -> None:
        """Find scores and residuals of the samples, if that was not done before."""
        self._projected  # noqa: B018

    @property
    def scores(self) -> np.ndarray:
        """(m, k): those of the samples."""
        return self._projected[0]

    @property
    def residuals(self) -> np.ndarray:
        """(m,): squared distances of the mapped samples from the subspace."""
        return self._projected[1]

    def project(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, d) local -> (n, k), (n,): scores, and squared distances from the subspace."""
        return replace(self.decomposition, features=self.features).project(X)

    def coefficients(self, Z: np.ndarray) -> np.ndarray:
        """(n, k) -> (n, m): p as combinations of features; with centring they sum to one."""
        model = self.decomposition
        C = (Z * model.signs.astype(Z.dtype)) @ model.W.T.astype(Z.dtype, copy=False)
        C += model.mean_weights
        return C

    def squared_norms(self, Z: np.ndarray) -> np.ndarray:
        """(n, k) -> (n,): |p|^2 = |m|^2 + sum_k s_k z_k (z_k - 2 b_k), since <m, v_k> = -b_k."""
        model = self.decomposition
        return model.mean_square + (Z * (Z - 2 * model.b)) @ model.signs

    @property
    def spread(self) -> float:
        """Mean squared length of the training samples' scores."""
        return float(np.abs(self.decomposition.eigenvalues).sum()) / self.n

    def from_samples(self, Z: np.ndarray) -> np.ndarray:
        """(n, k) -> (n, m): squared distances of p from each mapped sample, without kernel values."""
        S, signs = self.scores, self.decomposition.signs
        squares = np.square(Z) @ signs
        D = (Z * (-2 * signs).astype(Z.dtype)) @ S.T.astype(Z.dtype, copy=False)
        D += squares[:, None].astype(Z.dtype)
        D += (np.square(S, dtype=np.float64) @ signs + self.residuals).astype(Z.dtype)
        return np.maximum(D, 0.0, out=D) if self.decomposition.positive_definite else D

    @cached_property
    def narrow(self) -> Narrow | None:
        """The same space with samples by their coordinates in their own span, where rows are long and that is no loss.

        Dot products and distances are all that such kernels see, and every answer is a combination of samples.
        """
        if not (self.expands and self.kernel.rotatable and self.samples.shape[1] > WIDE * len(self.samples)):
            return None
        return Narrow.of(self)


@dataclass(frozen=True)
class Narrow:
    """Samples in coordinates along the principal axes of their span; one more for what of a point lies outside.

    Attributes
    ----------
    space : Space
        With samples (m, r + 1).
    wide : ndarray of shape (m, d)
        The samples.
    back : ndarray of shape (m, r)
        Axes as combinations of samples: axis_j = sum_i back_ij x_i.
    """

    space: Space
    wide: np.ndarray
    back: np.ndarray

    @classmethod
    def of(cls, space: Space) -> Narrow:
        """Find the coordinates from the samples' dot products."""
        X = space.samples
        values, U = np.linalg.eigh(_dot_products(X, X))
        kept = values > FLAT * max(values[-1], 0.0)
        roots = np.sqrt(values[kept])
        L = np.column_stack([U[:, kept] * roots, np.zeros(len(X))]).astype(X.dtype)
        features = replace(space.features, anchors=L)  # type: ignore[type-var]
        decomposition = replace(space.decomposition, features=features)
        return cls(
            replace(space, decomposition=decomposition, width=L.shape[1]), X, (U[:, kept] / roots).astype(X.dtype)
        )

    def enter(self, X: np.ndarray) -> np.ndarray:
        """(n, d) -> (n, r + 1): local rows in these coordinates."""
        T = (_dot_products(X, self.wide) @ self.back).astype(X.dtype)
        outside = np.einsum("ij,ij->i", X, X) - np.einsum("ij,ij->i", T, T)
        return np.column_stack([T, np.sqrt(np.maximum(outside, 0.0))])

    def leave(self, T: np.ndarray, reference: np.ndarray | None, entered: np.ndarray | None) -> np.ndarray:
        """(n, r + 1) -> (n, d): back to rows; what lies outside is along what the reference had there.

        `entered` is the reference in these coordinates.
        """
        if reference is None or entered is None or not T[:, -1].any():
            return T[:, :-1] @ self.back.T @ self.wide
        outside = entered[:, -1]
        share = np.divide(T[:, -1], outside, out=np.zeros_like(outside), where=outside > 0)[:, None]
        return (T - share * entered)[:, :-1] @ self.back.T @ self.wide + share * reference


def _dot_products(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """(n, d), (m, d) -> (n, m): X Y' of long rows, in float64 whatever they are."""

    def block(cols: slice) -> tuple[np.ndarray, np.ndarray]:
        return X[:, cols].astype(np.float64), Y[:, cols].astype(np.float64)

    return row_products(X.shape[1], (len(X), len(Y)), block)
