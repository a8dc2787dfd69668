"""Pre-images by descent: the distance in feature space is minimized directly, by quasi-Newton steps."""

from __future__ import annotations

import numpy as np

from kernelpca.features import FeatureMap
from kernelpca.kernels.base import Kernel
from kernelpca.parts import check_whole
from kernelpca.preimage.invertible import rough_inverse
from kernelpca.preimage.protocol import Answer, Preimage, Target, check_tol, clip, expands
from kernelpca.preimage.quasi_newton import PAIRS, Function, minimize
from kernelpca.preimage.space import Space
from kernelpca.preimage.starts import mean_of_nearest, nearest_samples

LEAST = 1e-6  # of a row's largest entry: where entries of histograms start at least


class Gradient(Preimage):
    """Pre-images by minimizing |phi(x) - p|^2 over inputs x, for any differentiable kernel and for random features.

    All points descend at once, each with its own limited-memory BFGS steps. They start at the best of the reference, if
    there is one, the nearest sample in feature space and the mean of the ten nearest; where no samples are known, at
    a rough inverse of the random features. Answers for kernels of histograms are nonnegative.

    Parameters
    ----------
    max_iter : int, default=200
        Most steps.
    tol : float, default=1e-6
        A point is done when two steps in a row decrease its squared distance in feature space by less than this part
        of it.
    bounds : (low, high), optional
        Limits of the answer, which are kept on the way; (0, None) for nonnegative answers.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelpca import KernelPCA
    >>> from kernelpca.preimage import Gradient
    >>> X, _ = load_digits(return_X_y=True)
    >>> model = KernelPCA(n_components=20, preimage=Gradient(bounds=(0, 16))).fit(X[:500])
    >>> found = model.invert(model.transform(X[500:510]))
    >>> bool((found.points >= 0).all())
    True
    """

    keeps_rows = True
    rotates = True

    def __init__(self, max_iter: int = 200, tol: float = 1e-6, bounds: tuple | None = None) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.bounds = bounds

    def refusal(self, kernel: Kernel, approximation: FeatureMap | None) -> str | None:
        """Random features have slopes whatever their kernel."""
        self._check()
        if not expands(approximation):
            return None
        if not kernel.differentiable:
            return "a kernel that can be differentiated, such as rbf, polynomial or chi2"
        if not kernel.positive_once_centered:
            return "a positive definite kernel: squared distances of an indefinite one have no least value"
        return None

    def numbers_per_row(self, space: Space) -> int:
        """Coefficients, tiles, and curvature pairs."""
        kept = 4 * len(space.samples) if space.knows_samples else 0
        return 6 * len(space.decomposition.W) + kept + (2 * PAIRS + 14) * space.width

    def prepare(self, space: Space, referenced: bool) -> None:
        """Project the samples, where there are any: they may be the start."""
        if space.knows_samples:
            space.project_samples()

    def solve(self, target: Target) -> Answer:
        """Descend from the best start."""
        max_iter, tol = self._check()
        space, C = target.space, target.coefficients
        low, high = self.limits(space, space.width)

        def squared_distances(X: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            values, gradients = space.features.discrepancy(X, C if len(rows) == len(C) else C[rows])
            return values + target.squared_norms[rows], gradients

        starts = [clip(X, low, high) for X in _starts(target)]
        X, everything = starts[0], np.arange(len(target))
        if len(starts) > 1:
            values = np.stack([squared_distances(X, everything)[0] for X in starts])
            X = np.stack(starts)[values.argmin(axis=0), everything]
        lengths = np.abs(target.squared_norms) + space.features.squared_norms(X)
        rounding = 4 * np.finfo(X.dtype).eps * (lengths + 2 * space.spread).astype(X.dtype)
        options = {"tol": tol, "max_iter": max_iter, "floor": rounding}
        if space.kernel.domain == "nonnegative":
            found = minimize(*_by_roots(squared_distances, X, low, high), **options)
            return Answer(clip(np.square(found.points), low, high), found.iterations, found.converged)
        found = minimize(squared_distances, X, low, high, **options)
        return Answer(found.points, found.iterations, found.converged)

    def _check(self) -> tuple[int, float]:
        """Return the most steps and the tolerance, if they are allowed."""
        return check_whole(self.max_iter, "max_iter", self), check_tol(self.tol, self)


def _by_roots(
    function: Function, X: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[Function, np.ndarray, np.ndarray, np.ndarray]:
    """Return the problem with x = u^2: slopes of kernels of histograms may have no bound at zero, and u is free there.

    Where u is zero the value is level whatever the slope in x, so no variable starts there.
    """

    def of_roots(U: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, gradients = function(np.square(U), rows)
        return values, 2 * U * gradients

    start = np.sqrt(np.maximum(X, LEAST * X.max(axis=1, keepdims=True)))
    return of_roots, start, np.where(low > 0, np.sqrt(np.maximum(low, 0)), -np.sqrt(high)), np.sqrt(high)


def _starts(target: Target) -> list[np.ndarray]:
    """Return places to start from, each (n, d)."""
    starts = [] if target.reference is None else [target.reference]
    if target.space.knows_samples:
        starts += [nearest_samples(target), mean_of_nearest(target)]
    elif not starts:
        starts = [rough_inverse(target.space.features, target.coefficients)]
    return starts
