"""From scores back to inputs, for every estimator that has a decomposition."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, validate_data

from kernelpca.estimators.elsewhere import apply, bring, brought_here, check_remote_scores, here
from kernelpca.estimators.exact import Fit
from kernelpca.estimators.training import Training
from kernelpca.features import FeatureMap
from kernelpca.gram.budget import BUDGET
from kernelpca.kernels.base import Kernel, Rows
from kernelpca.preimage import Preimage, as_preimage, best_for, check_fitting
from kernelpca.preimage.inversion import Inversion, find_points, invert
from kernelpca.preimage.protocol import expands
from kernelpca.preimage.space import Space
from kernelpca.remote import RemoteRows, is_remote
from kernelpca.validation import check_reference, check_scores

WORK = 2**31  # multiplications for one step of all rows: with a hundred steps these are some seconds
FEWEST = 256  # rows that are brought back together at full speed: all anchors are read for every step of theirs


@dataclass(frozen=True)
class ReconstructionError:
    """What is lost on the way to the components and back, for each sample.

    Attributes
    ----------
    input : ndarray of shape (n,)
        Squared distance between the sample and its reconstruction.
    feature : ndarray of shape (n,)
        Squared distance in feature space between the mapped reconstruction and the sample's projection, which it was
        to be the pre-image of.
    projection : ndarray of shape (n,)
        Squared distance in feature space between the mapped sample and its projection: what the components leave out.
    """

    input: np.ndarray
    feature: np.ndarray
    projection: np.ndarray


class Inverse:
    """The way back of one fitted model; a method that was not asked for at fit is prepared when it is first used."""

    def __init__(self, space: Space, method: Preimage | None, approximation: FeatureMap | None) -> None:
        self.space = space
        self.chosen = best_for(space.kernel, approximation) if method is None else method
        self._ready = method is not None

    @property
    def elsewhere(self) -> RemoteRows | None:
        """The model's own rows, where they are not here."""
        return self.space.decomposition.elsewhere

    def with_anchors(self, anchors: Rows) -> Inverse:
        """Return the same with these rows in their place."""
        there = copy(self)
        there.space = replace(self.space, decomposition=self.space.decomposition.with_anchors(anchors))
        return there

    def points(self, Z: np.ndarray, reference: np.ndarray | None = None) -> np.ndarray:
        """(n, k), (n, d) -> (n, d): inputs for scores."""
        return find_points(self.method, self.space, Z, reference)

    def denoised(self, rows: np.ndarray) -> np.ndarray:
        """(n, d) -> (n, d): rows projected and brought back."""
        return find_points(self.method, self.space, self.space.decomposition.scores(rows), rows)

    @property
    def method(self) -> Preimage:
        """The method, prepared."""
        if not self._ready and self.chosen.learns:
            space = self.space
            self.chosen.fit(space, space.samples + np.asarray(space.origin, space.dtype), space.scores)
        self._ready = True
        return self.chosen


class WayBack:
    """Methods of an estimator that has an `Inverse`, or None where there are no rows of numbers to come back to."""

    _inverse: Inverse | None
    n_components_: int

    def inverse_transform(self, Z: Any, reference: Any = None) -> np.ndarray:
        """(n, n_components_) -> (n, d): inputs whose scores are near Z, by the pre-image method.

        Parameters
        ----------
        Z : array-like of shape (n, n_components_)
            Scores.
        reference : array-like of shape (n, d), optional
            Inputs that the scores came from, where they are known: iterative methods start there, and `Invertible`
            takes from them what scores do not hold.
        """
        inverse = self._checked_inverse()
        Z, reference = self._check_asked(Z, reference, inverse)
        width = inverse.space.width
        return apply(Inverse.points, inverse, width, inverse.space.dtype, Z, reference)

    def invert(self, Z: Any, reference: Any = None) -> Inversion:
        """Do as `inverse_transform` does, and say how good each answer is."""
        inverse = brought_here(self._checked_inverse())
        Z, reference = self._check_asked(here(Z, "invert"), here(reference, "invert"), inverse)
        return invert(inverse.method, inverse.space, Z, reference)

    def denoise(self, X: Any) -> np.ndarray:
        """(n, d) -> (n, d): project on the components and come back, with the samples themselves as reference."""
        inverse = self._checked_inverse()
        rows = _dense(self._check_rows(X, reset=False))
        return apply(Inverse.denoised, inverse, inverse.space.width, inverse.space.dtype, rows)

    def reconstruction_error(self, X: Any) -> ReconstructionError:
        """(n, d) -> squared errors of `denoise` for each sample, in input space and in feature space."""
        inverse = brought_here(self._checked_inverse())
        rows = _dense(self._check_rows(here(X, "reconstruction_error"), reset=False))
        space = inverse.space
        Z, projection = space.project(space.local(rows))
        found = invert(inverse.method, space, Z, rows)
        off = np.square(rows - found.points, dtype=np.float64).sum(axis=1)
        return ReconstructionError(off, np.square(found.distance), projection)

    @property
    def preimage_(self) -> Preimage:
        """The pre-image method: the one that was asked for, or the best for this kernel."""
        check_is_fitted(self)
        if self._inverse is None:
            raise AttributeError("This model has no pre-image method: it was not fitted on dense rows of numbers.")
        return self._inverse.chosen

    def _checked_inverse(self) -> Inverse:
        check_is_fitted(self)
        if self._inverse is None:
            raise ValueError(
                "This model has no way back: pre-images are dense rows of numbers, and it was fitted on a kernel "
                "matrix, on sparse rows, on texts or on other objects. Fit on dense rows of numbers (X.toarray() of "
                "sparse ones), with a kernel of such rows."
            )
        return self._inverse

    def _check_asked(self, Z: Any, reference: Any, inverse: Inverse) -> tuple[Any, Any]:
        if is_remote(Z):
            return check_remote_scores(Z, reference, self.n_components_, inverse.space.width)
        Z = check_scores(Z, self.n_components_)
        rows = check_reference(reference, len(Z), inverse.space.width)
        if rows is not None:
            validate_data(self, reference, reset=False, skip_check_array=True)  # names of columns
        return Z, rows

    def _check_rows(self, X: Any, *, reset: bool) -> Rows:
        raise NotImplementedError


def make_inverse(
    preimage: Any, kernel: Kernel, approximation: FeatureMap | None, fitted: Fit, training: Training
) -> Inverse | None:
    """Prepare the way back of a fitted model; None where there is none and none was asked for."""
    rows = training.rows
    if not is_invertible(kernel, rows):
        return None
    method = None if preimage is None else clone(as_preimage(preimage))
    keeps = keeps_rows(preimage, approximation)
    limit = fitted.plan.memory_limit
    space = Space(
        fitted.decomposition,
        kernel,
        training.n,
        rows.shape[1],
        bring(rows, limit).copy() if keeps else None,
        min(BUDGET, limit // 2),
        limit,
    )
    if method is not None and method.learns:
        method.fit(space, bring(rows, limit), fitted.scores)
    return Inverse(space, method, approximation)


def keeps_rows(preimage: Any, approximation: FeatureMap | None) -> bool:
    """Whether a copy of the training rows is kept for a pre-image method, of a model that keeps none itself."""
    return preimage is not None and as_preimage(preimage).keeps_rows and not expands(approximation)


def rows_at_a_time(model: Any) -> int:
    """Return how many pre-images a fitted model may be asked for at once, so that it takes some seconds at most."""
    anchors = model.components_.shape[1] if hasattr(model, "components_") else len(model.X_fit_)
    return max(WORK // max(anchors * model.n_features_in_, 1), FEWEST)


def is_invertible(kernel: Kernel, rows: Rows) -> bool:
    """Whether there are dense rows of numbers to come back to."""
    numbers = isinstance(rows, np.ndarray | RemoteRows) and rows.dtype.kind == "f"
    return kernel.domain in ("real", "nonnegative", "any") and numbers


def check_preimage(preimage: Any, kernel: Kernel, approximation: FeatureMap | None, rows: Rows) -> None:
    """Refuse a method that does not work with such a model, before anything is computed."""
    if preimage is None:
        return
    method = as_preimage(preimage)
    if kernel.domain in ("precomputed", "text"):
        raise ValueError(
            f"preimage={preimage!r} needs numeric inputs to come back to; with kernel={kernel!r} there are none. Set "
            "preimage=None."
        )
    if not is_invertible(kernel, rows):
        raise TypeError(
            "A pre-image comes back to dense rows of numbers, and was given sparse or other input: give X.toarray(), "
            "or do without a pre-image."
        )
    check_fitting(method, kernel, approximation)


def _dense(rows: Rows) -> Any:
    if not isinstance(rows, np.ndarray | RemoteRows):
        raise TypeError(
            "A pre-image comes back to dense rows of numbers, and was given sparse input: give X.toarray()."
        )
    return rows
