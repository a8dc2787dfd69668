"""Pre-images from distances (Kwok and Tsang): feature space tells how far the answer lies from a few samples."""

from __future__ import annotations

import numpy as np

from kernelpca.features import FeatureMap
from kernelpca.features.kernel import KernelFeatures
from kernelpca.kernels.base import Kernel, diagonal
from kernelpca.kernels.products import squared_norms
from kernelpca.parts import check_whole
from kernelpca.preimage.protocol import Answer, Preimage, Target, clip, expands
from kernelpca.preimage.space import Space

MEAN = 4  # eps of the rows' lengths: what taking off their mean may be wrong by
EQUAL = 16  # eps of the squared lengths: squared distances in feature space up to this are rounding


class Distances(Preimage):
    """Pre-images from distances to the nearest samples, without iterations.

    A kernel that tells distances turns how far p lies from a mapped sample into how far its pre-image would lie from
    that sample. The answer is the point of the affine hull of the `n_neighbors` nearest samples that fits these
    distances (classical scaling of those samples): exact where p is the image of a point in this hull, and the foot of
    that point on the hull where it lies outside. Kernels that tell dot products do as well: only differences of squared
    distances count, so that dot products with the neighbors are enough.

    A direction in which the neighbors' dot products, about their mean, have an eigenvalue of at most `n_neighbors` eps
    times the largest is no direction of their hull, eps that of the model's precision; nor is one of at most
    `n_neighbors` (4 eps)^2 times the largest squared length, as equal samples have them. A point at distance zero, up
    to rounding, from a mapped sample has that sample for an answer.

    Parameters
    ----------
    n_neighbors : int, default=10
        How many samples, the nearest in feature space; all where there are fewer.
    bounds : (low, high), optional
        Limits of the answer, to which it is clipped.

    References
    ----------
    Kwok and Tsang (2004), The pre-image problem in kernel methods: distance constraints, and the solution for
    neighbors by classical scaling.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelpca import KernelPCA
    >>> from kernelpca.preimage.distances import Distances
    >>> X, _ = load_digits(return_X_y=True)
    >>> model = KernelPCA(n_components=20, preimage=Distances(n_neighbors=10)).fit(X[:500])
    >>> model.inverse_transform(model.transform(X[500:510])).shape
    (10, 64)
    """

    rotates = True

    def __init__(self, n_neighbors: int = 10, bounds: tuple | None = None) -> None:
        self.n_neighbors = n_neighbors
        self.bounds = bounds

    def refusal(self, kernel: Kernel, approximation: FeatureMap | None) -> str | None:
        """Only kernels that can be turned back tell distances, and only models that keep rows have samples."""
        check_whole(self.n_neighbors, "n_neighbors", self)
        if not (kernel.tells_distance or kernel.tells_product):
            return (
                "a kernel whose values tell distances or dot products, such as rbf, matern, cauchy, "
                "rational_quadratic, linear or a polynomial of odd degree"
            )
        if not expands(approximation):
            return "rows that the model keeps, which random features do not"
        return None

    def numbers_per_row(self, space: Space) -> int:
        """Distances from samples, neighbors about their mean, and their dot products with what eigh makes of them."""
        q = min(check_whole(self.n_neighbors, "n_neighbors", self), len(space.samples))
        return 4 * len(space.samples) + (q + 4) * space.width + 8 * q * q

    def prepare(self, space: Space, referenced: bool) -> None:
        """Project the samples."""
        space.project_samples()

    def solve(self, target: Target) -> Answer:
        """Place all points among their neighbors."""
        samples = target.space.samples
        near = target.nearest(check_whole(self.n_neighbors, "n_neighbors", self))
        squares = np.take_along_axis(target.from_samples, near, axis=1)
        N = samples[near]  # (n, q, d)
        mean = N.mean(axis=1)
        N -= mean[:, None]
        G = np.matmul(N, N.transpose(0, 2, 1)).astype(np.float64)
        longest = squared_norms(samples)[near].max(axis=1)
        a = _solve(G, _overlaps(target, near, squares, N, mean, G), longest, float(np.finfo(N.dtype).eps))
        X = np.einsum("nq,nqd->nd", a.astype(N.dtype), N)
        X += mean
        same = squares[:, 0] <= _rounding(target, near[:, 0])
        X[same] = samples[near[same, 0]]
        return Answer(clip(X, *self.limits(target.space, X.shape[1])))


def _overlaps(
    target: Target, near: np.ndarray, squares: np.ndarray, N: np.ndarray, mean: np.ndarray, G: np.ndarray
) -> np.ndarray:
    """(n, q): dot products of neighbors and answer, both about the neighbors' mean, but for a constant in each row.

    With squared distances d_i^2 from the answer and d0_i^2 from the mean they are (d0_i^2 - d_i^2) / 2. Distances in
    feature space are `squares` (n, q), squared; neighbors about their mean N (n, q, d), and their dot products G.
    """
    features = target.space.features
    assert isinstance(features, KernelFeatures)
    kernel, lengths = features.kernel, diagonal(features.kernel, target.space.samples).astype(np.float64)[near]
    if kernel.tells_distance:
        return (np.diagonal(G, axis1=1, axis2=2) - kernel.distances_from(lengths - squares / 2)) / 2
    values = (lengths + target.squared_norms[:, None] - squares) / 2
    return kernel.products_from(values) - np.einsum("nqd,nd->nq", N, mean)


def _solve(G: np.ndarray, overlaps: np.ndarray, longest: np.ndarray, eps: float) -> np.ndarray:
    """(n, q, q), (n, q), (n,) -> (n, q): G^+ overlaps, by eigenvalues of G that are no rounding.

    `longest` are the squared lengths of the longest rows that G was made of, before their mean was taken off. Rows of G
    sum to zero, and a constant in the overlaps changes nothing: it is taken off, for the sake of digits.
    """
    values, U = np.linalg.eigh(G)
    flat = G.shape[1] * np.maximum(eps * values[:, -1], np.square(MEAN * eps) * longest)
    along = np.einsum("nij,ni->nj", U, overlaps - overlaps.mean(axis=1, keepdims=True))
    shares = np.divide(along, values, out=np.zeros_like(along), where=values > flat[:, None])
    return np.einsum("nij,nj->ni", U, shares)


def _rounding(target: Target, near: np.ndarray) -> np.ndarray:
    """(n,): squared distances from samples `near` (n,) that are no more than rounding."""
    space = target.space
    lengths = np.square(space.scores, dtype=np.float64).sum(axis=1) + np.abs(space.residuals)
    return EQUAL * np.finfo(target.Z.dtype).eps * (np.square(target.Z).sum(axis=1) + lengths[near])
