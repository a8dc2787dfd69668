"""Kernel values as features: x -> k(x, anchors), or a row of a matrix that holds them already."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernelpca.features.protocol import Features, move
from kernelpca.gram.budget import BUDGET
from kernelpca.gram.protocol import check_finite
from kernelpca.gram.tiled import cross_product
from kernelpca.kernels.base import Kernel, Rows, diagonal, n_rows
from kernelpca.tiles import blocks


@dataclass(frozen=True)
class KernelFeatures(Features):
    """x -> k(x, anchors).

    Attributes
    ----------
    kernel : Kernel
        Resolved.
    anchors : rows
        The training rows, shifted by `origin`.
    origin : ndarray of shape (d,) or None
        Where a common shift changes nothing, a median of training rows: taking it off spares dot products and
        squared distances the cancellation that rows far from zero would cost.
    budget : int
        Bytes of working memory.
    """

    kernel: Kernel
    anchors: Rows
    origin: np.ndarray | None = None
    budget: int = BUDGET

    def only(self, rows: np.ndarray) -> KernelFeatures:
        """Return the kernel values with some of the anchors alone."""
        return replace(self, anchors=self.anchors[rows])

    def product(self, X: Rows, V: np.ndarray) -> np.ndarray:
        """(n, d), (m, p) -> (n, p): k(X, anchors) V, tile by tile."""
        return cross_product(self.kernel, X, self.anchors, V, self.budget, origin=self.origin)

    def discrepancy(self, X: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, d), (n, m) -> (n,), (n, d): k(x, x) - 2 sum_j c_j k(x, y_j), and its gradient, tile by tile."""
        X = move(X, self.origin)
        values = self.kernel.diag(X).astype(X.dtype)
        gradients = self.kernel.pull_diagonal(X)
        for cols in blocks(n_rows(self.anchors), self.kernel.tile):
            sums, pulls = self.kernel.pull(X, self.anchors[cols], C[:, cols])
            values -= 2 * sums
            gradients -= 2 * pulls
        return values, gradients

    def squared_norms(self, X: Rows) -> np.ndarray:
        """(n, d) -> (n,): k(x, x)."""
        return check_finite(diagonal(self.kernel, X, self.origin), f"The kernel {self.kernel!r}")


@dataclass(frozen=True)
class GivenFeatures(Features):
    """Rows of a precomputed kernel matrix: they, or some of their columns, are the features already.

    Attributes
    ----------
    size : int
        The number of columns of such a row: one for each training sample.
    columns : ndarray or None
        Those that count; None for all.
    """

    origin = None
    size: int
    columns: np.ndarray | None = None

    def only(self, rows: np.ndarray) -> GivenFeatures:
        """Return some of the columns alone."""
        return replace(self, columns=rows if self.columns is None else self.columns[rows])

    def product(self, X: Rows, V: np.ndarray) -> np.ndarray:
        """(n, size), (m, p) -> (n, p)."""
        chosen = X if self.columns is None else X[:, self.columns]
        return chosen @ V.astype(X.dtype, copy=False)

    def squared_norms(self, X: Rows) -> np.ndarray:
        """Refuse: k(x, x) of new samples is not in their kernel values with the training samples."""
        raise ValueError(
            "With a precomputed kernel k(x, x) of new samples is unknown. Pass it as diagonal=..., an array with one "
            "number for each sample."
        )
