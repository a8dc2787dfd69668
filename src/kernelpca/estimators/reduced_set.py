"""Directions of feature space over fewer points: their projections, and points moved to where these are nearest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, OptimizeResult, minimize

from kernelpca.features.span import landmark_space
from kernelpca.gram.tiled import cross_product
from kernelpca.kernels.base import Kernel, Rows
from kernelpca.tall import by_rows
from kernelpca.tiles import available_threads, blocks

EPS = float(np.finfo(np.float64).eps)
MEAN = 3.0  # times the most that a direction counts: residuals feel errors of the mean
LOOK = 5  # steps of a descent after which it is looked whether points are good enough


@dataclass(frozen=True)
class Expansion:
    """Orthonormal directions v_j = sum_i V_ij phi(x_i), and the mean of the mapped data, the last column of V.

    Attributes
    ----------
    kernel : Kernel
        Resolved.
    rows : rows
        The n points x_i.
    V : ndarray of shape (n, k + 1)
        With centring the directions' columns sum to zero and that of the mean to one; without it the latter is zero.
    b : ndarray of shape (k,)
        Minus the inner products of the mean with the directions.
    mean_square : float
        Squared length of the mean.
    centered : bool
        Whether new directions are combinations of differences, too.
    scale : ndarray of shape (k,)
        Root mean square scores: what an error of each direction is relative to.
    spread : float
        Mean squared distance of mapped samples from the mean.
    """

    kernel: Kernel
    rows: Rows
    V: np.ndarray
    b: np.ndarray
    mean_square: float
    centered: bool
    scale: np.ndarray
    spread: float

    @property
    def weights(self) -> np.ndarray:
        """(k + 1,): what squared errors of the directions and of the mean count."""
        of_directions = 1.0 / np.square(self.scale)
        return np.append(of_directions, MEAN * of_directions.max())

    def products(self, Z: Rows) -> np.ndarray:
        """(m, d) -> (m, k + 1): inner products of mapped points with the directions and with the mean."""
        return cross_product(self.kernel, Z, self.rows, self.V)

    def onto(self, Z: Rows) -> Projection:
        """(m, d) -> the directions and the mean projected on the span of mapped points, or of their differences.

        The mean less its projection is orthogonal to differences of points, so new scores, too, are about the mean.
        """
        C = self.products(Z)
        space, order = landmark_space(self.kernel.matrix(Z), self.centered, True, False, EPS)
        inner = C[order, :-1] - (C[:, :-1].mean(axis=0) if self.centered else 0.0)
        U = space.R.T @ inner[: len(space.R)]
        mean = space.coordinates(C[order, -1][None])[0] if self.centered else np.zeros(space.size)
        values, Q = np.linalg.eigh(U.T @ U)
        roots = np.sqrt(np.maximum(values, 0.0))
        inverse = np.divide(1.0, roots, out=np.zeros_like(roots), where=values > EPS * len(C))
        W, b, c, square = space.fold(U @ (Q * inverse @ Q.T), mean)
        far = self.mean_square - 2.0 * float(c @ C[order, -1]) + square if self.centered else 0.0
        back = np.argsort(order)
        plain = space.fold(U, mean)[0]
        return Projection(Z, plain[back], W[back], b, c[back], square, Q * roots @ Q.T, float(np.sqrt(max(far, 0.0))))


@dataclass(frozen=True)
class Projection:
    """Directions and mean in the span of points z.

    Attributes
    ----------
    points : rows
        The m points.
    plain : ndarray of shape (m, k)
        The directions' projections, which are shorter than one.
    W, b : ndarray of shape (m, k), (k,)
        The orthonormal directions nearest to those, and minus their inner products with the mean.
    mean_weights, mean_square : ndarray of shape (m,), float
        The combination with weights of sum one that is nearest to the mean, and its squared length.
    overlap : ndarray of shape (k, k)
        Inner products of the old directions with the new ones: (U'U)^(1/2), U being the projections' coordinates.
    center_error : float
        How far the new mean is from the old one.
    """

    points: Rows
    plain: np.ndarray
    W: np.ndarray
    b: np.ndarray
    mean_weights: np.ndarray
    mean_square: float
    overlap: np.ndarray
    center_error: float

    def products(self, kernel: Kernel, X: Rows) -> np.ndarray:
        """(n, d) -> (n, k + 1): inner products of mapped samples with the new directions and the new mean."""
        return cross_product(kernel, X, self.points, np.column_stack([self.W, self.mean_weights]))


def move_points(
    expansion: Expansion,
    Z: np.ndarray,
    steps: int,
    good: Callable[[Projection], bool] = lambda _: False,
    step: Callable[[int], object] = lambda _: None,
) -> Projection:
    """(m, d) -> the projection on points moved from these to where it is nearest, by quasi-Newton steps.

    With B the coefficients of the projections, the squared distances of directions from them have the gradient
    -2 sum_j weight_j B_sj (sum_i V_ij dk(z_s, x_i) - sum_t B_tj dk(z_s, z_t)): B is the best there is, so that its own
    change does not count. In every column points stay within the range of the rows. It ends early where `good` says so;
    `step` is told the number of each.

    References
    ----------
    Burges (1996), Simplified support vector decision rules. Schölkopf, Mika, Burges, Knirsch, Müller, Rätsch and Smola
    (1999), Input space versus feature space in kernel-based methods: section V.
    """
    seen: list[Projection] = []

    def function(z: np.ndarray) -> tuple[float, np.ndarray]:
        projection = expansion.onto(z.reshape(Z.shape))
        seen[:] = [projection]
        return distance(expansion, projection), gradient(expansion, projection).ravel()

    def look(intermediate_result: OptimizeResult) -> None:
        taken.append(intermediate_result.fun)
        step(len(taken))
        at_hand = np.array_equal(seen[0].points.ravel(), intermediate_result.x)
        if len(taken) % LOOK == 0 and at_hand and good(seen[0]):
            raise StopIteration

    taken: list[float] = []
    within = Bounds(np.tile(expansion.rows.min(axis=0), len(Z)), np.tile(expansion.rows.max(axis=0), len(Z)))
    options = {"maxiter": steps, "maxfun": 2 * steps}
    found = minimize(function, Z.ravel(), jac=True, method="L-BFGS-B", bounds=within, callback=look, options=options)
    return expansion.onto(found.x.reshape(Z.shape))


def distance(expansion: Expansion, projection: Projection) -> float:
    """Return the weighted sum of squared distances of directions and mean from their projections."""
    squares = 1.0 - np.einsum("ij,ji->i", projection.overlap, projection.overlap)  # |v|^2 - |P v|^2
    return float(expansion.weights @ np.append(squares, projection.center_error**2))


def gradient(expansion: Expansion, projection: Projection) -> np.ndarray:
    """Return (m, d): how that sum changes with the points."""
    Z, kernel = projection.points, expansion.kernel
    B = np.column_stack([projection.plain, projection.mean_weights])
    parts = ((expansion.rows, expansion.V), (Z, -B))  # what is left of the directions, over all points
    result = np.zeros_like(Z)

    def work(rows: slice) -> None:
        for Y, coefficients in parts:
            for cols in blocks(len(Y), kernel.tile):
                pulled = kernel.pull(Z[rows], Y[cols], (B[rows] * expansion.weights) @ coefficients[cols].T)[1]
                result[rows] -= 2.0 * pulled

    by_rows(len(Z), work, max(-(-len(Z) // available_threads()), 1))
    return result
