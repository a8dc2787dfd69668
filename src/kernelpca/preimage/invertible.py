"""Pre-images of random features, step by step backwards: directions, nonlinearity, linear map."""

from __future__ import annotations

import numpy as np

from kernelpca.features import FeatureMap, RandomFourier, RandomReLU
from kernelpca.features.fourier import FourierFeatures
from kernelpca.features.protocol import Features
from kernelpca.features.relu import ReLUFeatures
from kernelpca.kernels.base import Kernel
from kernelpca.preimage.protocol import Answer, Preimage, Target, clip
from kernelpca.preimage.space import Space
from kernelpca.preimage.starts import nearest_by_scores
from kernelpca.tiles import blocks

BRANCHES = ("reflected", "added")
TOGETHER = 1024  # features that are inverted at a time
OF_START = 1e-2  # ridge of a rough inverse, as a part of the largest squared singular value

LayerFeatures = FourierFeatures | ReLUFeatures


class Invertible(Preimage):
    """Pre-images for random Fourier and ReLU features sigma(W x + b): each step of the way there is taken back.

    Scores z give feature values beta = mean + U z. The nonlinearity sigma is inverted where it can be, and what it
    hides (for a sine: on which of its branches an angle lies) is taken from a reference: the input that the scores
    came from, as in `denoise(X)`. From the angles alpha ridge regression finds the input, argmin |W x + b - alpha|^2 +
    ridge |x|^2. Nothing is learned and nothing is iterated.

    Without a reference the training sample with the nearest scores takes its place, which is our extension of the
    method; training rows are kept for it. Where they are not known it is their mean (with ReLU features: zero).

    Parameters
    ----------
    ridge : float, default=1.0
        Strength of the ridge regression; 0 for the pseudo-inverse of W. Singular values up to max(W.shape) eps times
        the largest count as zero. For a Gaussian kernel and m frequencies (n_features, or half for "paired") W'W is
        about 2 gamma m I, so answers are drawn to the mean of the training rows (with ReLU features: to zero) by a
        factor of about 1 / (1 + ridge / (2 gamma m)).
    branch : {"reflected", "added"}, default="reflected"
        How an angle is found from its sine (or cosine) b and the angle a of the reference. "reflected" stays on the
        branch of the reference: (-1)^k arcsin(b) + k pi, where a = (-1)^k arcsin(sin(a)) + k pi. "added" is equation
        4b to the letter: arcsin(b) + (a - arcsin(sin(a))); see the notes. "paired" and ReLU features have no branches.
    bounds : (low, high), optional
        Limits of the answer, to which it is clipped.

    Notes
    -----
    To first order, a change d of sin(a) is a change d / cos(a) of the angle. "reflected" gives this. "added" gives
    d / |cos(a)|, which has the wrong sign where the sine descends: for half of the features, since phases are uniform.
    Summed over many features right and wrong signs cancel, and what is left of the projection in the answer falls as
    n_features^(-1/2): the answer is the reference itself, noise and all, drawn to the mean by the ridge. Both agree
    where nothing was projected away, and where the ridge is so strong that the answer is the mean.
    Only "reflected" comes to what the paper reports; `kernelpca reproduce ikpca` has the figures.

    Pairs of cosine and sine give the angle in the plane; of all angles that differ by whole turns the one nearest to
    that of the reference is taken. ReLU features take the negative part of W x from the reference.

    References
    ----------
    Gedon, Ribeiro, Wahlström and Schön (2023), Invertible kernel PCA with random Fourier features, section III.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelpca import KernelPCA
    >>> from kernelpca.features import RandomFourier
    >>> from kernelpca.preimage.invertible import Invertible
    >>> X, _ = load_digits(return_X_y=True)
    >>> features = RandomFourier(2000, form="sin")
    >>> model = KernelPCA(30, approximation=features, preimage=Invertible(ridge=0.1)).fit(X[:500])
    >>> model.denoise(X[500:510]).shape
    (10, 64)
    """

    keeps_rows = True

    def __init__(self, ridge: float = 1.0, branch: str = "reflected", bounds: tuple | None = None) -> None:
        self.ridge = ridge
        self.branch = branch
        self.bounds = bounds

    def refusal(self, kernel: Kernel, approximation: FeatureMap | None) -> str | None:
        """Only these features can be inverted; parameters that have no meaning are refused with an error."""
        self._check()
        if isinstance(approximation, RandomFourier | RandomReLU):
            return None
        return 'random Fourier or ReLU features (approximation="fourier" or "relu")'

    def numbers_per_row(self, space: Space) -> int:
        """All features, some that are inverted, rows, and distances from the samples."""
        r, m = len(space.decomposition.W), space.n if space.knows_samples else 0
        return 2 * r + 6 * min(r, TOGETHER) + 4 * space.width + 3 * m

    def prepare(self, space: Space, referenced: bool) -> None:
        """Decompose the weights; project the samples, where one of them is the reference."""
        _invertible(space.features).factors  # noqa: B018
        if not referenced and space.knows_samples:
            space.project_samples()

    def solve(self, target: Target) -> Answer:
        """Go back step by step, for a block of points at a time."""
        self._check()
        space, reference = target.space, target.reference
        if reference is None:
            known = space.knows_samples
            reference = nearest_by_scores(target) if known else np.zeros((len(target), space.width), space.dtype)
        X = step_back(_invertible(space.features), target.coefficients, reference, float(self.ridge), self.branch)
        return Answer(clip(X, *self.limits(space, space.width)))

    def _check(self) -> None:
        """Refuse parameters that have no meaning."""
        ridge = self.ridge
        if isinstance(ridge, bool) or not isinstance(ridge, int | float | np.number) or not 0 <= ridge < np.inf:
            raise ValueError(
                f"Invertible(ridge={ridge!r}): ridge must be a number >= 0, such as 1.0, or 0 for the pseudo-inverse."
            )
        if self.branch not in BRANCHES:
            raise ValueError(
                f"Invertible(branch={self.branch!r}): branch must be 'reflected' (the branch of the reference) or "
                "'added' (the formula of the paper)."
            )


def rough_inverse(features: Features, C: np.ndarray) -> np.ndarray:
    """(n, r) -> (n, d): inputs whose features are roughly C, as if none were far from the origin: a place to start."""
    features = _invertible(features)
    origin = np.zeros((len(C), features.W.shape[1]), C.dtype)
    return step_back(features, C, origin, OF_START * features.factors.largest**2, "reflected")


def step_back(features: LayerFeatures, C: np.ndarray, reference: np.ndarray, ridge: float, branch: str) -> np.ndarray:
    """(n, r), (n, d) -> (n, d): inputs for feature values C, with what these do not tell taken from the reference.

    Both are in local coordinates. Features are inverted a few at a time: what is made of them stays in the cache.
    """
    factors = features.factors
    T = np.zeros((len(C), len(factors.s)), C.dtype)
    for part in blocks(len(features.W), TOGETHER):
        phases = reference @ features.W[part].T.astype(C.dtype, copy=False)
        T += _undo(features, C, part, phases, branch) @ factors.U[part].astype(C.dtype, copy=False)
    return factors.finish(T, ridge)


def _undo(features: LayerFeatures, C: np.ndarray, part: slice, phases: np.ndarray, branch: str) -> np.ndarray:
    """(n, r), (n, p) -> (n, p): W x of the answer for some rows of W, from feature values and from the reference's."""
    values = C[:, part] / features.amplitude
    if isinstance(features, ReLUFeatures):
        return undo_relu(values, phases)
    if features.b is None:
        return undo_pair(values, C[:, len(features.W) :][:, part] / features.amplitude, phases)
    b = features.b[part].astype(C.dtype)
    phases += b
    angles = (undo_sine if features.form == "sin" else undo_cosine)(values, phases, branch)
    return np.subtract(angles, b, out=angles)


# the nonlinearities; `values` and the reference's `phases` may be written to


def undo_sine(values: np.ndarray, phases: np.ndarray, branch: str) -> np.ndarray:
    """(n, p), (n, p) -> (n, p): angles with these sines; sines beyond one are taken for one."""
    angles = np.arcsin(np.clip(values, -1.0, 1.0, out=values), out=values)
    if branch == "added":
        phases -= np.arcsin(np.sin(phases))
        return np.add(angles, phases, out=angles)
    phases *= 1 / np.pi
    k = np.rint(phases, out=phases)
    halves = k / 2
    np.negative(angles, out=angles, where=halves != np.rint(halves))
    k *= np.pi
    return np.add(angles, k, out=angles)


def undo_cosine(values: np.ndarray, phases: np.ndarray, branch: str) -> np.ndarray:
    """(n, p), (n, p) -> (n, p): angles with these cosines: arccos(b) = pi/2 - arcsin(b)."""
    angles = undo_sine(values, np.subtract(np.pi / 2, phases, out=phases), branch)
    return np.subtract(np.pi / 2, angles, out=angles)


def undo_pair(cosines: np.ndarray, sines: np.ndarray, phases: np.ndarray) -> np.ndarray:
    """Three (n, p) -> (n, p): angles with these cosines and sines, within half a turn of the reference's."""
    turns = np.arctan2(sines, cosines, out=cosines)
    turns -= phases
    turns -= 2 * np.pi * np.rint(turns / (2 * np.pi))
    return np.add(turns, phases, out=turns)


def undo_relu(values: np.ndarray, products: np.ndarray) -> np.ndarray:
    """(n, p), (n, p) -> (n, p): the positive part from the features, the negative one from the reference's products."""
    np.maximum(values, 0.0, out=values)
    values += np.minimum(products, 0.0, out=products)
    return values


def _invertible(features: Features) -> LayerFeatures:
    if isinstance(features, FourierFeatures | ReLUFeatures):
        return features
    raise TypeError(
        f"{type(features).__name__} cannot be inverted step by step: random Fourier or ReLU features can "
        '(approximation="fourier" or "relu").'
    )
