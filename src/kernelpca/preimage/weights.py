"""Pre-images as weighted combinations of samples: the digest's backward mapping."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from kernelpca.features import FeatureMap
from kernelpca.features.kernel import KernelFeatures
from kernelpca.kernels.base import Kernel, values_of
from kernelpca.kernels.products import squared_distances
from kernelpca.kernels.slopes import pull_from
from kernelpca.kernels.stationary import RBF
from kernelpca.parts import check_whole
from kernelpca.preimage.protocol import Answer, Preimage, Target, check_tol, clip, expands
from kernelpca.preimage.quasi_newton import PAIRS, minimize
from kernelpca.preimage.space import Space
from kernelpca.preimage.weight_rules import FALLING, Counted, FromMean, Shares, score_factors, squared_score_distances
from kernelpca.tiles import blocks

RULES = ("discrepancy", "log_discrepancy", *FALLING)
SCALINGS = ("scores", "digest")
LEAST = 1e-6  # of a point's largest kernel value: those up to this have no logarithm worth fitting
NEIGHBORS = 30  # samples that count when the user does not say
LOST = 0.99  # of the discrepancy that points far away have: an answer with more than this is none

Objective = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


class Weights(Preimage):
    """Pre-images x = sum_j w_j x_j: combinations of samples with nonnegative weights.

    "inverse", "inverse_square" and "exponential" weights are 1/d, 1/d^2 and exp(-d), d the distance between the scores
    asked for and those of the sample, made to sum to one. They need no kernel. Samples at distance zero share all the
    weight: scores of a sample return that sample.

    "discrepancy" weights minimize J(w) = |z - s(x)|^2, s(x) the scores that the model gives the combination x. They
    start at inverse_square weights, and stay near them where there are more weights than scores: many combinations
    have the same scores then.

    "log_discrepancy" weights, for the Gaussian kernel without centring, minimize J(w) = sum_i (log g_i + gamma
    |x_i - x|^2)^2, g_i = <phi(x_i), p> the kernel value of sample x_i with the point that the scores stand for. Values
    up to 1e-6 of the point's largest, negative ones among them, are left out of the sum. Where nothing is left the
    answer is that of inverse_square, and `converged` is False.

    Weights that sum to one keep the answer among the samples. There it was seen to lie nearer in feature space, since
    equal scores say nothing of what lies outside the components. The digest's weights are nonnegative and nothing else
    (sum_to_one=False). Then sum_j w_j x_j would depend on where zero is; samples count from their mean, x = mean +
    sum_j w_j (x_j - mean), so that answers move with the data: for centered data, which section 2.1 of the digest
    advises, that is its formula. A stationary kernel vanishes far away, and J has a plateau there, down to which a
    search without sums can run. So where inverse_square weights are above it the start is the sample with the nearest
    scores; where the end is not below it (by a hundredth), the start is the answer, and `converged` is False. J may
    have several minima: the answer is one of them.

    Parameters
    ----------
    rule : {"discrepancy", "log_discrepancy", "inverse", "inverse_square", "exponential"}, default="discrepancy"
        What weights are.
    n_neighbors : int, "auto" or None, default="auto"
        Only so many samples count, those with the nearest scores; None for all, and "auto" for 30 where there is no
        threshold.
    threshold : float, optional
        Only samples whose scores are nearer than this count, and the nearest one in any case. Not with a number of
        neighbors.
    scaling : {"scores", "digest"}, default="scores"
        Units of scores in distances and in "discrepancy": the model's own, or the digest's, which are sqrt(eigenvalue)
        times these, so that the leading components count more.
    sum_to_one : bool, default=True
        Whether minimizing weights are made to sum to one, as the others are; False for the digest's, which are
        nonnegative and nothing else.
    max_iter : int, default=500
        Most steps.
    tol : float, default=1e-6
        Weights are done when two steps in a row decrease J by less than this part of it.
    bounds : (low, high), optional
        Limits of the answer, to which combinations are clipped, on the way too.

    References
    ----------
    García-González, Huerta, Zlotnik and Díez (2021), A kernel PCA digest with a new backward mapping strategy,
    equations 31 to 36.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelpca import KernelPCA
    >>> from kernelpca.preimage.weights import Weights
    >>> X, _ = load_digits(return_X_y=True)
    >>> model = KernelPCA(n_components=20, preimage=Weights(n_neighbors=40)).fit(X[:500])
    >>> found = model.invert(model.transform(X[500:510]))
    >>> bool(found.reliability.min() > 0.9)
    True
    """

    rotates = True

    def __init__(
        self,
        rule: str = "discrepancy",
        n_neighbors: int | str | None = "auto",
        threshold: float | None = None,
        scaling: str = "scores",
        sum_to_one: bool = True,
        max_iter: int = 500,
        tol: float = 1e-6,
        bounds: tuple | None = None,
    ) -> None:
        self.rule = rule
        self.n_neighbors = n_neighbors
        self.threshold = threshold
        self.scaling = scaling
        self.sum_to_one = sum_to_one
        self.max_iter = max_iter
        self.tol = tol
        self.bounds = bounds

    learns = property(lambda self: self.rule == "log_discrepancy")  # nothing, but is asked about centring at fit

    def refusal(self, kernel: Kernel, approximation: FeatureMap | None) -> str | None:
        """What is missing depends on the rule; all need samples."""
        self._check()
        falling = ", ".join(map(repr, FALLING))
        if self.rule == "discrepancy" and not kernel.differentiable:
            return f"a kernel that can be differentiated, such as rbf, polynomial or chi2 (rules for any: {falling})"
        if self.rule == "log_discrepancy" and not isinstance(kernel, RBF):
            return (
                "the Gaussian kernel, whose logarithm is a squared distance (rule='discrepancy' takes all that can be "
                f"differentiated, and any kernel will do for {falling})"
            )
        if not expands(approximation):
            return "rows that the model keeps, which random features do not"
        return None

    def fit(self, space: Space, X: np.ndarray, Z: np.ndarray) -> Self:
        """Refuse centring where the rule does."""
        self._check_centering(space)
        return self

    def numbers_per_row(self, space: Space) -> int:
        """Distances, weights, slopes and coefficients of all samples, and curvature pairs of the unknown weights."""
        m = len(space.samples)
        if self.rule in FALLING:
            return 8 * m + 4 * space.width
        unknown = min(self._count() or m, m)
        return 14 * m + (2 * PAIRS + 14) * unknown + 8 * space.width

    def prepare(self, space: Space, referenced: bool) -> None:
        """Project the samples."""
        space.project_samples()

    def solve(self, target: Target) -> Answer:
        """Weigh all points at once."""
        max_iter, tol = self._check()
        self._check_centering(target.space)
        space, everything = target.space, np.arange(len(target))
        samples, limits = space.samples, self.limits(space, space.width)
        factors = score_factors(space.decomposition.eigenvalues, self.scaling)
        counted = Counted.among(squared_score_distances(target, factors), self._count(), self.threshold)
        if self.rule in FALLING:
            weights = counted.spread(counted.weigh(self.rule), everything, len(samples))
            return Answer(clip(weights @ samples, *limits))
        problem = _discrepancy(target, np.square(factors)) if self.rule == "discrepancy" else _log_discrepancy(target)
        blend = Shares(samples) if self.sum_to_one else FromMean(samples)

        def by_weights(weights: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            weights = counted.spread(weights, rows, len(samples))
            X = blend.combine(weights)
            inside = clip(X, *limits)
            values, gradients = problem.objective(inside, rows)
            if inside is not X:
                gradients = gradients * (inside == X)
            values[blend.means_nothing(weights)] = np.inf
            return values, counted.gather(blend.slopes(gradients, X, weights), rows)

        start = counted.weigh("inverse_square")
        far_away = np.full(len(target), np.inf) if self.sum_to_one else problem.far_away
        poor = by_weights(start, everything)[0] >= far_away
        start[poor] = counted.nearest()[poor]
        reached = by_weights(start, everything)[0]
        low, high = np.zeros(start.shape[1]), np.full(start.shape[1], np.inf)
        found = minimize(by_weights, start, low, high, tol=tol, max_iter=max_iter, floor=problem.rounding)
        lost = (found.values > reached) | (found.values >= LOST * far_away - problem.rounding)
        weights = counted.spread(np.where(lost[:, None], start, found.points), everything, len(samples))
        X = blend.combine(weights)
        return Answer(clip(X, *limits), found.iterations, found.converged & problem.known & ~lost)

    def _count(self) -> int | None:
        """Return how many samples count, or None where their number is no limit."""
        if isinstance(self.n_neighbors, str):
            return NEIGHBORS if self.threshold is None else None
        return self.n_neighbors

    def _check(self) -> tuple[int, float]:
        """Return the most steps and the tolerance, if all parameters are allowed."""
        if self.rule not in RULES:
            raise ValueError(f"Weights(rule={self.rule!r}): rule must be one of {', '.join(map(repr, RULES))}.")
        if self.scaling not in SCALINGS:
            raise ValueError(
                f"Weights(scaling={self.scaling!r}): scaling must be 'scores' (the model's) or 'digest' (the paper's, "
                "sqrt(eigenvalue) times these)."
            )
        automatic = isinstance(self.n_neighbors, str) and self.n_neighbors == "auto"
        if isinstance(self.n_neighbors, str) and not automatic:
            raise ValueError(
                f"Weights(n_neighbors={self.n_neighbors!r}): n_neighbors must be a whole number >= 1, 'auto', or None "
                "for all samples."
            )
        if self.n_neighbors is not None and not automatic:
            check_whole(self.n_neighbors, "n_neighbors", self)
        if not isinstance(self.sum_to_one, bool | np.bool_):
            raise ValueError(f"Weights(sum_to_one={self.sum_to_one!r}): sum_to_one must be True or False.")
        if self.threshold is not None:
            if self.n_neighbors is not None and not automatic:
                raise ValueError(
                    f"Weights(n_neighbors={self.n_neighbors!r}, threshold={self.threshold!r}): both say which samples "
                    "count. Give one of them, or neither for all samples."
                )
            number = isinstance(self.threshold, int | float | np.number) and not isinstance(self.threshold, bool)
            if not number or not 0 < self.threshold < np.inf:
                raise ValueError(
                    f"Weights(threshold={self.threshold!r}): threshold must be a positive number, a distance between "
                    "scores."
                )
        return check_whole(self.max_iter, "max_iter", self), check_tol(self.tol, self)

    def _check_centering(self, space: Space) -> None:
        if self.rule == "log_discrepancy" and space.decomposition.mean_weights.any():
            raise ValueError(
                "Weights(rule='log_discrepancy') needs a model without centring: centered kernel values are negative "
                "in part and have no logarithm. Fit with center=False, or set rule='discrepancy'."
            )


@dataclass(frozen=True)
class _Problem:
    """What is minimized for n points.

    Attributes
    ----------
    objective : callable
        Takes inputs X (a, d) for points `rows` (a,); returns values (a,) and their gradients in X (a, d).
    rounding : ndarray of shape (n,)
        Differences of values that tell nothing.
    far_away : ndarray of shape (n,)
        What values tend to as inputs go to infinity.
    known : ndarray of shape (n,)
        False where there is nothing to fit.
    """

    objective: Objective
    rounding: np.ndarray
    far_away: np.ndarray
    known: np.ndarray


def _discrepancy(target: Target, factors: np.ndarray) -> _Problem:
    """Equations 33 and 34: sum_k factors_k (s_k(x) - z_k)^2, s(x) = features(x) W + b.

    Far away, where a stationary kernel is zero, scores are b.
    """
    features, model, Z = target.space.features, target.space.decomposition, target.Z
    assert isinstance(features, KernelFeatures)
    kernel, anchors = features.kernel, features.anchors
    W, b, t = (array.astype(Z.dtype, copy=False) for array in (model.W, model.b, factors))
    tiles = list(blocks(len(anchors), kernel.tile))

    def objective(X: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        slopes = [kernel.slopes(X, anchors[cols]) for cols in tiles] if kernel.rotatable else None
        off = b - Z[rows]
        for i, cols in enumerate(tiles):
            off += (values_of(kernel, X, anchors[cols]) if slopes is None else slopes[i].values) @ W[cols]
        weighted = off * t
        C = 2 * weighted @ W.T
        gradients = np.zeros_like(X)
        for i, cols in enumerate(tiles):
            y, c = anchors[cols], C[:, cols]
            gradients += (kernel.pull(X, y, c) if slopes is None else pull_from(slopes[i], X, y, c))[1]
        return np.einsum("ij,ij->i", weighted, off), gradients

    usual = float(np.abs(model.eigenvalues) @ factors) / target.space.n
    rounding = np.finfo(Z.dtype).eps * np.maximum(np.square(Z) @ t, usual)
    vanishes = target.space.kernel.stationary
    far_away = np.square(b - Z) @ t if vanishes else np.full(len(Z), np.inf)
    return _Problem(objective, rounding, far_away, np.ones(len(Z), bool))


def _log_discrepancy(target: Target) -> _Problem:
    """Equations 35 and 36: sum_i (log g_i + gamma |x_i - x|^2)^2 over values g_i that have a logarithm.

    The digest's V z is g_i = <phi(x_i), p>: its z is sqrt(eigenvalue) times the scores, and sqrt(eigenvalue_k) V_ik is
    the k-th score of x_i. So g = scores of the samples times scores asked for.
    """
    space, Z = target.space, target.Z
    assert isinstance(space.kernel, RBF)
    samples, gamma = space.samples, space.kernel.number()
    g = (Z * space.decomposition.signs.astype(Z.dtype)) @ space.scores.T.astype(Z.dtype, copy=False)
    largest = g.max(axis=1, keepdims=True)
    fitted = g > LEAST * np.maximum(largest, 0)
    logs = np.log(g, out=np.zeros_like(g), where=fitted)

    def objective(X: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        R = np.empty((len(X), len(samples)), X.dtype)
        squared_distances(X, samples, R, gamma)
        R += logs[rows]
        R *= fitted[rows]
        gradients = R.sum(axis=1)[:, None] * X - R @ samples
        return np.einsum("ij,ij->i", R, R), 4 * gamma * gradients

    rounding = np.finfo(Z.dtype).eps * (1 + np.einsum("ij,ij->i", logs, logs))
    return _Problem(objective, rounding, np.full(len(Z), np.inf), fitted.any(axis=1))
