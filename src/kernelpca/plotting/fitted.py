"""What a picture asks of a fitted model, whichever estimator it is, alone or at the end of a pipeline."""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from kernelpca.kernels import Kernel, Linear
from kernelpca.kernels.custom import Precomputed
from kernelpca.plotting.rows import as_matrix, n_rows, spread_rows, take
from kernelpca.plotting.scale import Scale
from kernelpca.remote import is_remote

ENOUGH = 1000  # training rows whose scores tell their middle and spread


class Fitted:
    """A fitted model with the same questions for all: kernel PCA in every form, linear PCA, scikit-learn's own.

    Parameters
    ----------
    model : estimator
        With `transform`; fitted.
    """

    def __init__(self, model: Any) -> None:
        if isinstance(model, type) or not hasattr(model, "transform"):
            raise TypeError(
                f"{model!r} is no fitted model: give an estimator of kernelpca, such as KernelPCA(2).fit(X), or a "
                "pipeline that ends in one."
            )
        check_is_fitted(model)
        model = getattr(model, "best_estimator_", model)  # of a search
        self.model = model
        piped = isinstance(model, Pipeline) and len(model.steps) > 1
        self.before = model[:-1] if piped else None
        self.last = model[-1] if isinstance(model, Pipeline) else model
        if not hasattr(self.last, "eigenvalues_") and not hasattr(self.last, "explained_variance_"):
            raise TypeError(
                f"{type(self.last).__name__} has no components to draw: give an estimator of kernelpca such as "
                "KernelPCA, or a pipeline that ends in one."
            )

    @property
    def name(self) -> str:
        """The class of the model."""
        return type(self.last).__name__

    @property
    def n_components(self) -> int:
        """How many components there are."""
        return len(self.eigenvalues)

    @property
    def eigenvalues(self) -> np.ndarray:
        """(k,): eigenvalues, or variances where the model knows no others."""
        values = getattr(self.last, "eigenvalues_", None)
        return np.asarray(self.last.explained_variance_ if values is None else values, np.float64)

    @property
    def ratio(self) -> np.ndarray | None:
        """(k,): fractions of the `whole`; None where the model does not know it."""
        ratio = getattr(self.last, "explained_variance_ratio_", None)
        return None if ratio is None else np.asarray(ratio, np.float64)

    @property
    def whole(self) -> str:
        """What `ratio` is a fraction of: the variance, or without centering the mean square."""
        return "variance" if self.centered else "mean square"

    @property
    def centered(self) -> bool:
        """Whether scores are measured from the mean of the training rows, not from the origin of feature space."""
        layers = getattr(self.last, "layers_", None)
        return bool(getattr(layers[-1] if layers else self.last, "center", True))

    @property
    def variances(self) -> np.ndarray:
        """(k,): variances of the scores; without centering their mean squares."""
        variances = getattr(self.last, "explained_variance_", None)
        if variances is not None and getattr(self.last, "whiten", False):
            return np.ones(len(variances))  # of scikit-learn's PCA, whose scores are divided by their deviations
        if variances is not None:
            return np.asarray(variances, np.float64)
        return self.eigenvalues / max(n_rows(self.last.X_fit_) - 1, 1)

    @cached_property
    def scale(self) -> Scale:
        """Middle and spread of the scores: mean and standard deviations wherever the model knows them."""
        zeros, roots = np.zeros(self.n_components), np.sqrt(np.abs(self.variances))
        if self.centered:
            return Scale(zeros, roots)
        known = self._training_scores()
        return Scale(zeros, roots, "origin", "root mean squares") if known is None else Scale.of(known)

    def _training_scores(self) -> np.ndarray | None:
        """(m, k): scores of training rows, spread evenly, where the model keeps all of these rows; else None."""
        decomposition = getattr(self.last, "_decomposition", None)
        anchors = getattr(getattr(decomposition, "features", None), "anchors", None)
        if decomposition is None or anchors is None or is_remote(anchors) or not self.variances.any():
            return None
        n = n_rows(anchors)
        if not np.allclose(self.variances * (n - 1), self.eigenvalues):  # fewer rows than the model was fitted on
            return None
        rows = take(anchors, spread_rows(n, ENOUGH))
        return np.asarray(decomposition.features.at_origin().product(rows, decomposition.W) + decomposition.b)

    @property
    def sentence(self) -> str:
        """What the certificate says; empty where there is none."""
        return str(getattr(self.last, "certificate_", ""))

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the input's columns, where the model knows them."""
        names = getattr(self.model, "feature_names_in_", None)
        return None if names is None else tuple(str(name) for name in names)

    def scores(self, X: Any) -> np.ndarray:
        """(n, d) -> (n, k): coordinates on the components."""
        with warnings.catch_warnings():  # pre-images have no names of columns
            warnings.filterwarnings("ignore", ".*does not have valid feature names.*", UserWarning)
            return np.asarray(self.model.transform(X))

    def residuals(self, X: Any) -> np.ndarray:
        """(n, d) -> (n,): squared distances from the subspace, or say that the model does not know them."""
        rows = self.enter(X)
        if hasattr(self.last, "residuals"):
            return np.asarray(self.last.residuals(rows), np.float64)
        if hasattr(self.last, "reconstruction_error"):
            return np.asarray(self.last.reconstruction_error(rows).projection, np.float64)
        raise TypeError(
            f"{self.name} does not know how far samples lie from its subspace: use kernelpca.KernelPCA, which has "
            "residuals(X)."
        )

    def kernel_matrix(self, X: Any, rows: np.ndarray) -> np.ndarray:
        """(n, d) or (n, n), (m,) -> (m, m): kernel values of these rows with one another."""
        kernel: Any = getattr(self.last, "kernel_", None)
        layers = getattr(self.last, "layers_", [])
        if layers:
            kernel = layers[-1].kernel_
        elif hasattr(self.last, "_kernel"):
            kernel = self.last._kernel()
        elif kernel is None and not hasattr(self.last, "kernel"):
            kernel = Linear()
        if isinstance(kernel, Precomputed) or getattr(self.last, "kernel", None) == "precomputed":
            block = as_matrix(take(X, rows))
            if block.shape[1] != n_rows(X):
                shape = (n_rows(X), block.shape[1])
                raise ValueError(
                    f"The model was fitted on a kernel matrix, and X has shape {shape}: to draw a matrix give that of "
                    "all samples with one another, which is square."
                )
            return block[:, rows]
        samples = self.enter(take(X, rows))
        for layer in layers[:-1]:
            samples = layer.transform(samples)
        if not isinstance(kernel, Kernel):
            raise TypeError(f"{self.name} has no kernel that can be drawn: use an estimator of kernelpca.")
        return np.asarray(kernel(samples, samples), np.float64)

    def pre_images(self, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(m, k) -> (m, d), (m,): inputs for scores, and their reliability, which the picture is to show."""
        self.check_invertible()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*have a reliability below.*", UserWarning)
            if self.before is None and hasattr(self.last, "invert"):
                found = self.last.invert(Z)
                return np.asarray(found.points), np.asarray(found.reliability)
            points = np.asarray(self.model.inverse_transform(Z))
        off = np.square(self.scores(points) - Z, dtype=np.float64).sum(axis=1)
        whole = max(float(self.variances.sum()), float(np.finfo(np.float64).tiny))
        return points, 1.0 / (1.0 + off / whole)

    def denoised(self, X: Any) -> np.ndarray:
        """(n, d) -> (n, d): samples projected and brought back."""
        self.check_invertible()
        if not hasattr(self.last, "denoise"):
            return np.asarray(self.model.inverse_transform(self.model.transform(X)))
        cleaned = self.last.denoise(self.enter(X))
        return np.asarray(cleaned if self.before is None else self.before.inverse_transform(cleaned))

    def enter(self, X: Any) -> Any:
        """Return what the last step of a pipeline is given for X."""
        return X if self.before is None else self.before.transform(X)

    def check_invertible(self) -> None:
        """Say why a model has no way back, and what to do."""
        if not hasattr(self.model, "inverse_transform"):
            step = "" if self.before is None else ", or one of the steps before it,"
            raise TypeError(
                f"{self.name}{step} has no inverse_transform, so there are no pre-images to draw: use "
                "kernelpca.KernelPCA on rows of numbers."
            )
        if getattr(self.last, "_inverse", self) is None or not getattr(self.last, "fit_inverse_transform", True):
            raise ValueError(
                "This model has no way back, so there are no pre-images to draw: it was fitted on a kernel matrix, on "
                "texts or on other objects, or without fit_inverse_transform=True. Fit kernelpca.KernelPCA on rows of "
                "numbers, with a kernel of such rows."
            )

    def check_components(self, components: Any, count: tuple[int, ...] = ()) -> tuple[int, ...]:
        """Return numbers of components, counted from 0, or say which there are."""
        given = np.atleast_1d(np.asarray(components))
        k = self.n_components
        if given.ndim != 1 or given.dtype.kind not in "iu" or (count and len(given) not in count):
            many = f"{' or '.join(str(c) for c in count)} whole numbers" if count else "whole numbers"
            raise ValueError(f"components={components!r}: give {many}, counted from 0, such as {(0, 1)}.")
        if len(given) == 0 or given.min() < 0 or given.max() >= k:
            have = f"{k} component{'s' if k != 1 else ''} ({'0' if k == 1 else f'0 to {k - 1}'})"
            raise ValueError(
                f"components={components!r}, and the model has {have}: choose among them, or fit with more "
                "(n_components)."
            )
        return tuple(int(i) for i in given)
