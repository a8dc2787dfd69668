"""Invertible kernel PCA as a scikit-learn estimator: random features whose every step can be taken back."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from kernelpca.estimators.attempt import attempt
from kernelpca.estimators.elsewhere import apply, check_remote_rows, check_remote_scores, here
from kernelpca.estimators.kernel_pca import KernelPCA
from kernelpca.estimators.plan import Plan
from kernelpca.estimators.way_back import Inverse, ReconstructionError
from kernelpca.features import RandomFourier
from kernelpca.kernels import RBF
from kernelpca.persistence.savable import Savable
from kernelpca.preimage.inversion import Inversion, judge
from kernelpca.preimage.invertible import Invertible
from kernelpca.remote import as_remote, is_remote
from kernelpca.solvers.certificate import Certificate
from kernelpca.solvers.watch import Callback
from kernelpca.validation import as_generator, check_numbers, check_reference, check_scores
from kernelpca.warn import warn

LAYER = ("n_components", "gamma", "n_features", "ridge", "form", "sampling", "branch", "center")
N_FEATURES = 512  # when none are asked for, or two for each column if that is more


class InvertibleKernelPCA(Savable, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Kernel PCA of the Gaussian kernel through random sines, with a way back that need not be learned.

    The kernel exp(-gamma |x - y|^2) is replaced by random Fourier features sin(W x + b), their principal components are
    found, and each of these steps is inverted in turn: directions, sine, linear map. Layers of it can be stacked.
    It is `KernelPCA(kernel=RBF(gamma), approximation=RandomFourier(n_features, sampling, form),
    preimage=Invertible(ridge, branch))` with the paper's parameters.

    Parameters
    ----------
    n_components : int, float, ("relative", eps) or None, default=2
        How many components: that many; the smallest number that keeps this fraction of the variance; all with
        eigenvalues above eps times the first; or all that are positive.
    gamma : float or "scale", default="scale"
        Width of the kernel; "scale" is 1 / (number of columns * variance of X). Wide kernels come back better, since
        angles stay on one branch of the sine: try a tenth or a hundredth of it, as the paper does.
    n_features : int or None, default=None
        How many random features; None for 512, or two for each column of X where that is more. Fewer than there are
        columns cannot be inverted: what they do not see of a sample comes back as the mean.
    ridge : float, default=1.0
        Strength of the ridge regression that inverts the linear map; 0 for the pseudo-inverse. W'W is about
        2 gamma n_features I ("paired": half of that): a ridge far below 2 gamma n_features changes little, one far
        above it brings every answer back to the mean of the training rows.
    form : {"sin", "cos", "paired"}, default="sin"
        Sines or cosines with random phases, or both without; an even number of features for "paired".
    sampling : {"iid", "orthogonal", "quasi"}, default="iid"
        How frequencies are drawn; see `RandomFourier`.
    branch : {"reflected", "added"}, default="reflected"
        How angles are found from sines, "added" being the paper's formula to the letter; see `Invertible`.
    center : bool, default=True
        Whether the mean of the features is taken off. Rows are moved to their mean in any case, which is added back.
    layers : list of dict or of InvertibleKernelPCA, optional
        Several layers, each of the scores of the one before; the last has the components of the whole. A dict gives
        parameters of a layer, such as {"n_components": 30, "gamma": 0.01}, and what it leaves out is as above; of an
        estimator all of them are taken. tol, memory_limit, random_state and callback are those given here.
    tol : float, default=1e-4
        Wanted relative residual of every component; 0 for machine precision.
    memory_limit : int, str or None, default=None
        Memory that the fit may use beside X, in bytes or as "4GB"; half of what is free when not given.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the features; None is a fixed seed, so that fits repeat.
    callback : callable, "bar" or None, default=None
        Told a `kernelpca.solvers.Progress` after each pass; if it returns True the fit stops with what it has. "bar"
        draws a progress bar.

    Attributes
    ----------
    layers_ : list of KernelPCA
        The fitted layers; one where `layers` is not given.
    eigenvalues_, explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components_,)
        Of the last layer, as in `KernelPCA`.
    components_ : ndarray of shape (n_components_, number of features)
        The last layer's directions: orthonormal rows.
    n_components_ : int
        How many components were kept.
    certificate_ : Certificate
        How well the last layer's features stand for the kernel, and how exact their components are.
    plan_ : Plan
        Which path the last layer took and why.
    n_features_in_ : int
        Number of columns seen in fit.

    References
    ----------
    Gedon, Ribeiro, Wahlström and Schön (2023), Invertible kernel PCA with random Fourier features.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_s_curve
    >>> from kernelpca import InvertibleKernelPCA
    >>> truth, _ = make_s_curve(2000, random_state=0)
    >>> X = truth + np.random.default_rng(0).normal(0, 0.25, truth.shape)
    >>> model = InvertibleKernelPCA(n_components=12, gamma=0.5, n_features=500).fit(X[:1000])
    >>> cleaned = model.denoise(X[1000:])
    >>> bool(np.mean((cleaned - truth[1000:]) ** 2) < 0.8 * np.mean((X[1000:] - truth[1000:]) ** 2))
    True
    """

    eigenvalues_: np.ndarray
    explained_variance_: np.ndarray
    explained_variance_ratio_: np.ndarray
    components_: np.ndarray
    n_components_: int
    certificate_: Certificate
    plan_: Plan
    n_features_in_: int

    def __init__(
        self,
        n_components: Any = 2,
        *,
        gamma: float | str = "scale",
        n_features: int | None = None,
        ridge: float = 1.0,
        form: str = "sin",
        sampling: str = "iid",
        branch: str = "reflected",
        center: bool = True,
        layers: Any = None,
        tol: float = 1e-4,
        memory_limit: int | float | str | None = None,
        random_state: Any = None,
        callback: Callback | str | None = None,
    ) -> None:
        self.n_components = n_components
        self.gamma = gamma
        self.n_features = n_features
        self.ridge = ridge
        self.form = form
        self.sampling = sampling
        self.branch = branch
        self.center = center
        self.layers = layers
        self.tol = tol
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.callback = callback

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components of X (n_samples, n_features); y is ignored."""
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit on X and return its scores, (n_samples, n_components_), without computing features twice."""
        return self._fit(X, scores=True)

    def transform(self, X: Any) -> np.ndarray:
        """(n, d) -> (n, n_components_): scores, the coordinates on the components of the last layer."""
        return self._inputs(self._check_rows(X))[-1]

    def inverse_transform(self, Z: Any, reference: Any = None) -> np.ndarray:
        """(n, n_components_) -> (n, d): inputs whose scores are near Z.

        Parameters
        ----------
        Z : array-like of shape (n, n_components_)
            Scores.
        reference : array-like of shape (n, d), optional
            Inputs that the scores came from: what scores do not tell is taken from them, layer by layer. Without it, it
            is taken from the nearest training sample.
        """
        return self._back(*self._check_asked(Z, reference))

    def invert(self, Z: Any, reference: Any = None) -> Inversion:
        """Do as `inverse_transform` does, and say how good each answer is, in the feature space of the last layer."""
        Z, rows = self._check_asked(here(Z, "invert"), here(reference, "invert"))
        points = self._back(Z, rows)
        space = self._last.space
        distance, reliability = judge(space, space.local(self._inputs(points)[-2]), Z)
        method = ", then ".join(repr(layer.preimage_) for layer in reversed(self.layers_))
        n = len(Z)
        return Inversion(points, distance, reliability, np.zeros(n, int), np.ones(n, bool), method)

    def denoise(self, X: Any) -> np.ndarray:
        """(n, d) -> (n, d): project on the components and come back, with the samples themselves as reference."""
        rows = self._check_rows(X)
        inputs = self._inputs(rows)
        return self._back(inputs[-1], rows, inputs)

    def residuals(self, X: Any) -> np.ndarray:
        """(n, d) -> (n,): squared distance from the subspace in the feature space of the last layer."""
        return self.layers_[-1].residuals(self._inputs(self._check_rows(X))[-2])

    def score_samples(self, X: Any) -> np.ndarray:
        """(n, d) -> (n,): minus the residuals; low values are outliers, as everywhere in scikit-learn."""
        return -self.residuals(X)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean of `score_samples`: higher is better, 0 is best, for models with the same features."""
        return float(self.score_samples(X).mean())

    def reconstruction_error(self, X: Any) -> ReconstructionError:
        """(n, d) -> squared errors of `denoise` for each sample, in input space and in that of the last features."""
        rows = self._check_rows(here(X, "reconstruction_error"))
        space = self._last.space
        Z, projection = space.project(space.local(self._inputs(rows)[-2]))
        found = self.invert(Z, rows)
        off = np.square(rows - found.points, dtype=np.float64).sum(axis=1)
        return ReconstructionError(off, np.square(found.distance), projection)

    # the parts

    def _fit(self, X: Any, scores: bool = False) -> Any:
        """Fit layer after layer, or leave everything as it was; return the scores of X where they are asked for."""
        with attempt(self, X) as callback:
            for name in ("n_features_in_", "feature_names_in_"):
                self.__dict__.pop(name, None)
            rows: Any = self._check_training(X)
            stack = self._stack()
            seeds: Any = [self.random_state]
            if len(stack) > 1:
                seeds = as_generator(self.random_state).integers(2**32, size=len(stack))
            self.layers_ = []
            for parameters, seed in zip(stack, seeds, strict=True):
                layer = self._layer(parameters, rows.shape[1], seed, callback)
                self.layers_.append(layer)
                if scores or len(self.layers_) < len(stack):
                    rows = layer.fit_transform(rows)
                else:
                    layer.fit(rows)
            for name in ("eigenvalues_", "explained_variance_", "explained_variance_ratio_", "components_"):
                setattr(self, name, getattr(layer, name))
            self.n_components_, self.certificate_, self.plan_ = layer.n_components_, layer.certificate_, layer.plan_
            return rows

    def _stack(self) -> list[dict[str, Any]]:
        """Return the parameters of each layer, or say what is wrong with `layers`."""
        own = {name: getattr(self, name) for name in LAYER}
        if self.layers is None:
            return [own]
        advice = (
            'Give a list with a dict of parameters for each layer, such as [{"n_components": 30}, {"n_components": '
            "5}], or with InvertibleKernelPCA objects; or None for one layer."
        )
        if not isinstance(self.layers, list | tuple) or not self.layers:
            raise ValueError(f"layers={self.layers!r} is no list of layers. {advice}")
        stack = []
        for i, layer in enumerate(self.layers):
            if isinstance(layer, InvertibleKernelPCA):
                if layer.layers is not None:
                    raise ValueError(f"layers[{i}] has layers itself: list them all in one list of layers.")
                stack.append({name: getattr(layer, name) for name in LAYER})
            elif isinstance(layer, dict):
                unknown = sorted(str(name) for name in layer if name not in LAYER)
                if unknown:
                    raise ValueError(f"layers[{i}] has {', '.join(unknown)}; a layer has {', '.join(LAYER)}.")
                stack.append({**own, **layer})
            else:
                raise ValueError(f"layers[{i}]={layer!r} is no layer. {advice}")
        return stack

    def _layer(self, given: dict[str, Any], d: int, seed: Any, callback: Callback | None) -> KernelPCA:
        """Compose a layer for rows of d columns."""
        r = max(N_FEATURES, 2 * d) if given["n_features"] is None else given["n_features"]
        features = RandomFourier(r, given["sampling"], given["form"])
        frequencies = features.size_of(0) // (2 if given["form"] == "paired" else 1)
        if frequencies < d:
            pairs = " ('paired': half as many frequencies)" if given["form"] == "paired" else ""
            warn(
                f"n_features={r}{pairs} is too few for {d} columns: what they do not see of a sample comes back as the "
                f"mean of the training rows. Give at least {r // frequencies * d}, better twice that, or None."
            )
        return KernelPCA(
            given["n_components"],
            kernel=RBF(given["gamma"]),
            approximation=features,
            preimage=Invertible(given["ridge"], given["branch"]),
            center=given["center"],
            tol=self.tol,
            memory_limit=self.memory_limit,
            random_state=seed,
            callback=callback,
        ).set_output(transform="default")

    @property
    def _last(self) -> Inverse:
        return self.layers_[-1]._checked_inverse()

    def _inputs(self, rows: np.ndarray) -> list[np.ndarray]:
        """(n, d) -> what each layer is given, and at the end the scores."""
        inputs = [rows]
        for layer in self.layers_:
            inputs.append(layer.transform(inputs[-1]))
        return inputs

    def _back(self, Z: Any, rows: Any, inputs: list[Any] | None = None) -> Any:
        """(n, k), (n, d) -> (n, d): from the last layer to the first, each with what it was given as reference."""
        if rows is not None and inputs is None:
            inputs = self._inputs(rows)
        points = Z
        for i in reversed(range(len(self.layers_))):
            inverse = self.layers_[i]._checked_inverse()
            pair = (points, None if inputs is None else inputs[i])
            there = (as_remote(part) if is_remote(part) else part for part in pair)
            points = apply(Inverse.points, inverse, inverse.space.width, inverse.space.dtype, *there)
        return points

    def _check_training(self, X: Any) -> Any:
        if is_remote(X):
            return check_remote_rows(self, X, reset=True)
        return check_numbers(self, X, reset=True, least_rows=2 if self.center else 1)

    def _check_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return check_remote_rows(self, X, reset=False) if is_remote(X) else check_numbers(self, X, reset=False)

    def _check_asked(self, Z: Any, reference: Any) -> tuple[Any, Any]:
        check_is_fitted(self)
        if is_remote(Z):
            return check_remote_scores(Z, reference, self.n_components_, self.n_features_in_)
        Z = check_scores(Z, self.n_components_)
        rows = check_reference(reference, len(Z), self.n_features_in_)
        if rows is not None:
            validate_data(self, reference, reset=False, skip_check_array=True)  # names of columns
        return Z, rows

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
