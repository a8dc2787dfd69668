"""The fixed point of Mika et al.: a weighted mean of the samples, with weights that depend on where it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelpca.features import FeatureMap
from kernelpca.features.kernel import KernelFeatures
from kernelpca.kernels.base import Kernel
from kernelpca.parts import check_whole
from kernelpca.preimage.protocol import Answer, Preimage, Target, check_tol, clip, expands
from kernelpca.preimage.space import Space
from kernelpca.preimage.starts import mean_of_nearest, nearest_samples
from kernelpca.tiles import blocks

STARTS = ("auto", "reference", "nearest", "mean")
TILES = 2  # that samples are taken at a time: few rows against many samples
SHORTEST = 2**-6  # of a step, before a point that gets no better is taken for the answer


class FixedPoint(Preimage):
    """Pre-images for kernels of the distance, k = g(|x - y|^2): the fixed point of a weighted mean.

    Where phi(z) is nearest to p = sum c_i phi(x_i), z = sum c_i w_i x_i / sum c_i w_i with w_i = -g'(|z - x_i|^2): for
    the Gaussian kernel w_i is k(z, x_i) but for a factor (equation 8 of the analysis of Mika et al., here with the mean
    of the mapped data kept in c). This is iterated. It is a step along the negative gradient, of length one over the
    denominator: where a step leads away from p, half of it is taken.

    Where the denominator is not above rounding (all samples far away, or coefficients that cancel), or is negative (the
    step would go up the gradient), the iteration starts again at the nearest sample in feature space, then at the next
    nearest, and so on; the best point of all is the answer.

    Parameters
    ----------
    max_iter : int, default=100
        Most iterations.
    tol : float, default=1e-5
        A point is done when a step decreases its squared distance in feature space by less than this part of it, and
        the next step would move it by less than sqrt(tol) of its length.
    start : {"auto", "reference", "nearest", "mean"}, default="auto"
        The reference (the sample to denoise), the nearest sample in feature space, or the mean of the ten nearest;
        "auto" is the reference where one is given, else that mean. Kernels with a cusp at distance zero
        (`laplacian_euclidean`, `matern` with nu = 0.5) hold on to samples: a start at one of them ends there.
    max_restarts : int, default=5
        How often a point may start again.
    bounds : (low, high), optional
        Limits of the answer: every iterate is clipped to them.

    References
    ----------
    Mika, Schölkopf, Smola, Müller, Scholz and Rätsch (1998), Kernel PCA and de-noising in feature spaces. Baldassarre,
    Brodard, Fanghella and Rodés i Guirao, Analysis of it, section 2.3.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelpca import KernelPCA
    >>> X, _ = load_digits(return_X_y=True)
    >>> model = KernelPCA(n_components=20, preimage="fixed_point").fit(X[:500])
    >>> model.denoise(X[500:510]).shape
    (10, 64)
    """

    rotates = True

    def __init__(
        self,
        max_iter: int = 100,
        tol: float = 1e-5,
        start: str = "auto",
        max_restarts: int = 5,
        bounds: tuple | None = None,
    ) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.start = start
        self.max_restarts = max_restarts
        self.bounds = bounds

    def refusal(self, kernel: Kernel, approximation: FeatureMap | None) -> str | None:
        """Only kernels of the distance pull towards samples, and only models that keep rows have samples to combine."""
        self._check()
        if not kernel.radial:
            return "a kernel of the Euclidean distance, such as rbf, matern, cauchy or rational_quadratic"
        if not expands(approximation):
            return "rows that the model keeps, which random features do not"
        return None

    def numbers_per_row(self, space: Space) -> int:
        """Coefficients, distances from samples, tiles of weights, and a few points."""
        return 4 * len(space.samples) + 8 * space.width

    def prepare(self, space: Space, referenced: bool) -> None:
        """Project the samples, where they are the start."""
        if not referenced or self.start not in ("auto", "reference"):
            space.project_samples()

    def solve(self, target: Target) -> Answer:
        """Iterate all points that are not done."""
        max_iter, restarts, tol = self._check()
        limits = self.limits(target.space, target.space.width)
        X = clip(self._start(target), *limits).copy()
        n = len(X)
        best, rho = X.copy(), np.full(n, np.inf)  # the best point of each, and its squared distance
        here = np.full(n, np.inf)  # squared distance of the point that the present step started from
        origin, goal, step = X.copy(), X.copy(), np.ones(n, X.dtype)
        iterations, converged, tries = np.zeros(n, int), np.zeros(n, bool), np.zeros(n, int)
        rows = np.arange(n)
        for _ in range(max_iter):
            pulled = pull(target, X[rows], rows)
            iterations[rows] += 1
            better = pulled.rho < rho[rows]
            best[rows[better]], rho[rows[better]] = X[rows[better]], pulled.rho[better]
            gained = here[rows] - pulled.rho
            small = (np.abs(gained) <= tol * np.abs(pulled.rho)) & _near(pulled.goal, X[rows], np.sqrt(tol))
            lost = pulled.lost & ~small
            worse = (gained < 0) & ~small & ~lost
            onward = ~(worse | lost | small)
            forward = rows[onward]
            origin[forward], here[forward], step[forward] = X[forward], pulled.rho[onward], 1.0
            goal[forward] = clip(pulled.goal[onward], *limits)
            back = rows[worse]
            step[back] /= 2
            X[forward] = goal[forward]
            X[back] = origin[back] + step[back, None] * (goal[back] - origin[back])
            restarting = lost & (tries[rows] < restarts)
            again = rows[restarting]
            if len(again):
                X[again] = clip(self._again(target, again, tries), *limits)
                here[again], step[again] = np.inf, 1.0
                tries[again] += 1
            done = small | (worse & (step[rows] < SHORTEST))
            converged[rows[done]] = True
            rows = rows[~(done | (lost & ~restarting))]
            if not len(rows):
                break
        return Answer(best, iterations, converged)

    def _check(self) -> tuple[int, int, float]:
        """Return the most iterations and restarts and the tolerance, if all parameters are allowed."""
        if self.start not in STARTS:
            raise ValueError(f"FixedPoint(start={self.start!r}): start must be one of {', '.join(map(repr, STARTS))}.")
        restarts = check_whole(self.max_restarts, "max_restarts", self, 0)
        return check_whole(self.max_iter, "max_iter", self), restarts, check_tol(self.tol, self)

    def _start(self, target: Target) -> np.ndarray:
        if target.reference is not None and self.start in ("auto", "reference"):
            return target.reference
        if self.start == "reference":
            raise ValueError(
                "FixedPoint(start='reference') needs one: give inverse_transform(Z, reference=X), use denoise(X), or "
                "set start='auto'."
            )
        return nearest_samples(target) if self.start == "nearest" else mean_of_nearest(target)

    def _again(self, target: Target, rows: np.ndarray, tries: np.ndarray) -> np.ndarray:
        """(a, d): the nearest samples of points that start again, and the next nearest of those that did so before."""
        part = Target(target.space, target.Z[rows])
        near = part.nearest(int(tries[rows].max()) + 1)
        which = np.minimum(tries[rows], near.shape[1] - 1)
        return target.space.samples[near[np.arange(len(rows)), which]]


def _near(A: np.ndarray, B: np.ndarray, part: float) -> np.ndarray:
    """(n, d), (n, d) -> (n,): whether rows differ by no more than this part of their length."""
    return np.linalg.norm(A - B, axis=1) <= part * np.maximum(np.linalg.norm(A, axis=1), np.linalg.norm(B, axis=1))


@dataclass(frozen=True)
class Pull:
    """Where samples pull points: squared distances (n,), weighted means (n, d), whether weights tell nothing (n,)."""

    rho: np.ndarray
    goal: np.ndarray
    lost: np.ndarray


def pull(target: Target, X: np.ndarray, rows: np.ndarray) -> Pull:
    """Weigh the samples at points X (a, d), tile by tile; `rows` says which of the target's points they are for."""
    features = target.space.features
    assert isinstance(features, KernelFeatures)
    kernel, samples, C = features.kernel, features.anchors, target.coefficients
    whole = len(rows) == len(C)
    sums, denominators, lengths = (np.zeros(len(X), X.dtype) for _ in range(3))
    numerators = np.zeros_like(X)
    for cols in blocks(len(samples), TILES * kernel.tile):
        c = C[:, cols] if whole else C[rows, cols]
        slopes = kernel.slopes(X, samples[cols])
        sums += np.einsum("ij,ij->i", c, slopes.values)
        weights = np.multiply(c, slopes.toward, out=slopes.toward)
        denominators += weights.sum(axis=1)
        lengths += np.einsum("ij,ij->i", weights, weights)
        numerators += weights @ samples[cols]
    rho = kernel.diag(X) - 2 * sums + target.squared_norms[rows]
    lost = denominators <= np.sqrt(np.finfo(X.dtype).eps * lengths)
    return Pull(rho, numerators / np.where(lost, 1.0, denominators)[:, None], lost)
