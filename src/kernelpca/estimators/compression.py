"""A fitted model over fewer anchors, with the error of that stated: small and fast, for deployment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from kernelpca.decomposition import Decomposition
from kernelpca.estimators.anchor_search import Reduced, Search
from kernelpca.estimators.elsewhere import bring
from kernelpca.estimators.exact import Fit
from kernelpca.estimators.reduced_set import Expansion
from kernelpca.estimators.training import Training
from kernelpca.estimators.way_back import Inverse
from kernelpca.features.kernel import GivenFeatures, KernelFeatures
from kernelpca.features.protocol import move
from kernelpca.kernels.base import Rows, n_rows
from kernelpca.preimage import as_preimage
from kernelpca.progress import Done
from kernelpca.solvers.certificate import Compression
from kernelpca.tiles import one_blas_thread
from kernelpca.validation import as_generator
from kernelpca.warn import warn

TOL = 0.01  # when neither an error nor a number of anchors is asked for
SAME = 1e-3  # relative difference of variances up to which the anchors are the training rows
OF_ROWS = ("dual_coef_", "outlier_weights_", "n_samples_seen_")  # what estimators know of training rows alone


class Compressible:
    """A method of estimators whose directions are combinations of mapped rows."""

    def compress(
        self,
        tol: float | None = None,
        *,
        n_anchors: int | None = None,
        move: bool | None = None,
        done: Done | None = None,
    ) -> Self:
        """Return this model over fewer anchors, the rows that kernel values are computed with: smaller and faster.

        Each direction is replaced by what comes nearest to it in the span of the new anchors, on the same axes.
        `certificate_.compression` states what that costs, also for samples never seen. This model stays as it is.

        Parameters
        ----------
        tol : float, optional
            How much scores may change: root mean square over the anchors, as a part of the root mean square score, in
            the component where it is most; also how much squared distances from the subspace may, as a part of the
            mean squared distance from the mean. About as few anchors are kept as that allows. 0.01 if nothing is given.
        n_anchors : int, optional
            Instead: how many to keep.
        move : bool, optional
            Whether anchors may leave the rows that they were: about a third of them is then enough for the same error.
            It needs dense rows of real numbers and a kernel with a gradient, and is done where there are, unless this
            is False.
        done : callable, optional
            Called as done(steps, all_steps) as the search goes on, to show or log how far it has come. It has several
            stages, of which each counts from the beginning and may end before all steps are taken.

        Returns
        -------
        model : estimator of the same class
            Fitted. Of `IncrementalKernelPCA` it is a `KernelPCA`: no more rows can be added.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from kernelpca import KernelPCA
        >>> X, _ = load_digits(return_X_y=True)
        >>> model = KernelPCA(n_components=5).fit(X)
        >>> small = model.compress(tol=0.02)
        >>> small.certificate_.compression.anchors < len(X) // 10
        True
        """
        return compress(self, tol, n_anchors, move, done)


def compress(
    model: Any, tol: float | None, n_anchors: int | None, may_move: bool | None, done: Done | None = None
) -> Any:
    """Return a fitted model over fewer anchors; `Compressible.compress` says how."""
    check_is_fitted(model)
    old: Decomposition = model._decomposition
    check_compressible(model, old)
    anchors = bring(old.features.anchors, model.plan_.memory_limit)  # type: ignore[attr-defined]
    n, k = n_rows(anchors), int((old.signs > 0).sum())
    tol = check_wishes(tol, n_anchors, k, n, bool(model.center))
    movable = check_movable(may_move, model, old, anchors)
    found = None
    with one_blas_thread:
        if n_anchors != n:
            rng = as_generator(model.random_state)
            search = Search(expansion_of(model, anchors), movable, old.W.dtype, rng, n_anchors, done)
            found = search.with_anchors(n_anchors) if n_anchors else search.within(tol)
        if found is None and not n_anchors:
            warn(
                f"All {n} anchors are kept: fewer do not hold {k} components to within tol={tol:.2g}, for the spectrum "
                "decays too slowly. Raise tol, ask for fewer components, or say how many anchors you can afford "
                "(n_anchors=...)."
            )
        return assemble(model, anchors, found)


def score_bounds(model: Any, X: Any) -> np.ndarray:
    """(n, d) -> (n, k): by how much each score of a compressed model can differ from that of the model it came from.

    A score changes by <phi(x) - m, v' - v>: by |v' - v| times the distance of phi(x) from the old mean at most. That
    distance is at most the one from the new mean, which the compressed model knows, and that between the two.
    """
    check_is_fitted(model)
    stated = model.certificate_.compression
    if stated is None:
        raise ValueError("This model was not compressed: give the result of model.compress().")
    scores, residuals = model._decomposition.project(model._check_rows(X, reset=False))
    far = np.sqrt(residuals + np.square(scores, dtype=np.float64).sum(axis=1)) + stated.center_error
    return far[:, None] * stated.off


# what is compressed


def samples_of(model: Any) -> int:
    """Return how many rows a model was fitted on."""
    total = model._decomposition.total
    return round(total / model.total_variance_) + 1


def expansion_of(model: Any, anchors: Rows) -> Expansion:
    """Return a model's directions over its anchors, in float64."""
    old, samples = model._decomposition, samples_of(model)
    kept = old.signs > 0
    return Expansion(
        kernel=old.features.kernel,
        rows=move(anchors, None, np.dtype(np.float64)),
        V=np.column_stack([old.W[:, kept], old.mean_weights]).astype(np.float64),
        b=old.b[kept].astype(np.float64),
        mean_square=float(old.mean_square),
        centered=bool(model.center),
        scale=np.sqrt(old.eigenvalues[kept] / samples),
        spread=old.total / samples,
    )


def check_compressible(model: Any, old: Decomposition) -> None:
    """Say why a model cannot be compressed, if it cannot."""
    if isinstance(old.features, GivenFeatures):
        raise ValueError(
            "A model of a precomputed kernel matrix cannot be compressed: it has no samples, so that kernel values "
            "between its anchors are not known. Fit on the samples, with the kernel itself or a function as kernel=, "
            "or with approximation=Nystrom(m), which reads m columns of the matrix only."
        )
    if not isinstance(old.features, KernelFeatures):
        raise ValueError(
            f"With approximation={model.approximation!r} a model keeps random features and no anchors: there is "
            "nothing to compress. Fit with fewer features, or with approximation=None or 'nystrom'."
        )
    if not old.positive_definite:
        raise ValueError(
            f"A model of kernel={model.kernel_!r} cannot be compressed: it is not known to be positive definite, so "
            "that there are no distances for the error. Choose a kernel that is, such as 'rbf'; say so of a function "
            "of your own: Custom(function, positive_definite=True)."
        )
    before = model.certificate_.compression
    if before is not None and before.anchors < before.of:
        raise ValueError(
            "This model was compressed already: what a second time costs can only be stated with the rows of the "
            "original. Compress that, with the error or the number of anchors that you want."
        )
    if not (old.signs > 0).any():
        raise ValueError("This model has no component with any variance: there is nothing to compress.")


def check_wishes(tol: Any, n_anchors: Any, k: int, n: int, centered: bool) -> float:
    """Return the error asked for, or say what is wrong with what was asked for."""
    if n_anchors is None:
        number = isinstance(tol, int | float | np.number) and not isinstance(tol, bool)
        if tol is not None and not (number and 0 < tol < 1):
            raise ValueError(
                f"tol={tol!r}: give the part of the root mean square score that scores may change by, above 0 and "
                "below 1, such as 0.01."
            )
        return TOL if tol is None else float(tol)
    if tol is not None:
        raise ValueError(f"tol={tol!r} and n_anchors={n_anchors!r} both say how many anchors are kept: give one.")
    whole = isinstance(n_anchors, int | np.integer) and not isinstance(n_anchors, bool)
    least = min(k + centered, n)
    if not whole or not least <= n_anchors <= n:
        raise ValueError(
            f"n_anchors={n_anchors!r}: give a whole number from {least}, which the {k} components need at least, to "
            f"{n}, which the model has."
        )
    return 0.0


def check_movable(wanted: Any, model: Any, old: Decomposition, anchors: Rows) -> bool:
    """Return whether anchors are to be moved, or say why they cannot be."""
    if wanted is not None and not isinstance(wanted, bool | np.bool_):
        raise ValueError(f"move={wanted!r}: give True or False, or None to move anchors where that is possible.")
    numbers = isinstance(anchors, np.ndarray) and anchors.ndim == 2 and anchors.dtype.kind == "f"
    kernel = old.features.kernel  # type: ignore[attr-defined]
    possible = numbers and kernel.domain == "real" and kernel.differentiable
    if wanted and not possible:
        raise ValueError(
            f"move=True is not possible with kernel={model.kernel_!r} on such rows: dense rows of real numbers are "
            "needed, and a kernel with a gradient. Leave move=None: anchors then stay rows of the training data."
        )
    return bool(possible and wanted is not False)


# the result


def assemble(model: Any, anchors: Rows, found: Reduced | None) -> Any:
    """Return a fitted estimator over the anchors that were found, or over all of them."""
    from kernelpca.estimators.kernel_pca import KernelPCA  # which is made of this

    old = model._decomposition
    own = model if "_decomposition" in vars(model) else model._stream.answers[0]  # a stream has its model inside
    result = clone(own)
    for name, value in (vars(model) | vars(own)).items():
        if name.endswith("_") and name not in OF_ROWS:
            setattr(result, name, value)
    if found is not None and hasattr(model, "support_"):
        result.support_ = model.support_[found.rows] if found.rows is not None else np.empty(0, int)
    stated = statement(old, n_rows(anchors), found)
    decomposition = replace(
        old.with_anchors(anchors) if found is None else over_fewer(model, found),
        certificate=replace(old.certificate, compression=stated),
    )
    plan = replace(model.plan_, reason=f"{model.plan_.reason}; then compressed, so that {stated.kept()}")
    result.preimage = None
    training = Training(anchors, seen=samples_of(model))
    KernelPCA._store(result, Fit(decomposition, plan, lambda: decomposition.scores(anchors)), training)
    result.preimage = clone(own.preimage, safe=False)
    if own.preimage is not None:
        method = as_preimage(own.preimage)  # what it has learned depends on scores alone, which are nearly the same
        method = model._inverse.method if method.learns else clone(method)
        result._inverse = Inverse(result._inverse.space, method, model._feature_map())
    return result


def over_fewer(model: Any, found: Reduced) -> Decomposition:
    """Return the decomposition over other anchors, on the same axes.

    Where the anchors are the training rows, as their scores tell, eigenvalues are what new scores have of the variance;
    else what the old components, of known variance, have along the new directions: those capture at least that.
    """
    old, projection = model._decomposition, found.projection
    kept, dtype = old.signs > 0, old.W.dtype
    weights = old.mean_weights if model.center else np.full(len(old.W), 1.0 / len(old.W))
    values, before = old.eigenvalues.copy(), weights @ np.square(found.before)
    if np.allclose(before * samples_of(model), values[kept], rtol=SAME, atol=0.0):
        captured = values[kept] * (weights @ np.square(found.scores)) / before
    else:
        captured = values[kept] @ np.square(projection.overlap)
    values[kept] = captured
    W, b = np.zeros((len(projection.W), len(kept)), dtype), np.zeros(len(kept), dtype)
    W[:, kept], b[kept] = projection.W, projection.b
    points = move(projection.points, None, getattr(old.features.anchors, "dtype", None))
    return replace(
        old.with_anchors(points),
        W=W,
        b=b,
        eigenvalues=values,
        mean_weights=projection.mean_weights.astype(dtype),
        mean_square=projection.mean_square,
    )


def statement(old: Decomposition, n: int, found: Reduced | None) -> Compression:
    """Return what was lost."""
    if found is None:
        return Compression(n, n, np.arange(n), 0.0, 0.0, 0.0, np.zeros(len(old.signs)), 0.0)
    off, rounding = np.zeros(len(old.signs)), 10 * float(np.finfo(old.W.dtype).eps)
    off[old.signs > 0] = np.sqrt(np.square(found.off) + rounding)
    return Compression(
        anchors=len(found.projection.W),
        of=n,
        rows=found.rows,
        error=found.error,
        worst=found.worst,
        residual_error=found.residual_error,
        off=off,
        center_error=found.projection.center_error,
    )
