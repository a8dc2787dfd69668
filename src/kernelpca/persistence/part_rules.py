"""What makes the parts of a fitted model consistent: shapes that agree, finite numbers, scores that come out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from kernelpca.persistence import catalogue
from kernelpca.persistence.demands import array, demand, is_a, number, origin, rows, trying, whole

TRIED = 2  # rows that a model is tried on
FARTHEST = 1e150  # distance: its square is a number, too


def _combined(kernel: Any) -> None:
    for name in ("k1", "k2", "kernel"):
        if name in vars(kernel):
            demand(is_a(getattr(kernel, name), "kernels"), f"{name} is no kernel")


def _kernel_features(features: Any) -> None:
    origin(features.origin, rows(features.anchors, "anchors")[1])
    demand(features.origin is None or not sparse.issparse(features.anchors), "sparse rows have no origin")
    whole(features.budget, "budget", 1)


def _given_features(features: Any) -> None:
    whole(features.size, "size", 1)
    if features.columns is not None:
        columns = array(features.columns, "columns", None, kinds="iu")
        demand(len(columns) and columns.min() >= 0 and columns.max() < features.size, "columns are out of range")


def _fourier_features(features: Any) -> None:
    r, d = array(features.W, "W", None, None).shape
    demand(r and d and features.form in ("paired", "cos", "sin"), "there are no frequencies, or of no known form")
    demand((features.b is None) == (features.form == "paired"), "phases do not belong to the form")
    if features.b is not None:
        array(features.b, "b", r)
    origin(features.origin, d)
    _amplitude(features)


def _relu_features(features: Any) -> None:
    demand(array(features.W, "W", None, None).size, "there are no weights")
    _amplitude(features)


def _amplitude(features: Any) -> None:
    number(features.amplitude, "amplitude")
    whole(features.budget, "budget", 1)


def _landmark_space(space: Any) -> None:
    r0, r = array(space.R, "R", None, None).shape
    m = len(array(space.offset, "offset", None))
    demand(1 <= r0 <= m, "there are more coordinates than landmarks")
    array(space.signs, "signs", r)
    if space.values is not None:
        array(space.values, "values", r)
    demand(r0 == (r if space.values is None else m), "coordinates are those of other landmarks")
    demand((space.factor is None) == (space.lengths is None), "the factor of the landmarks' matrix has no lengths")
    if space.factor is not None:
        array(space.factor, "factor", r, r0)
        array(space.lengths, "lengths", r0)
    for name in ("square", "entry", "level"):
        number(getattr(space, name), name)


def _nystrom_features(features: Any) -> None:
    m, d = rows(features.landmarks, "landmarks")
    origin(features.origin, d)
    demand(len(features.space.offset) == m, "the span does not belong to the landmarks")
    if features.indices is not None:
        array(features.indices, "indices", m, kinds="iu")


def _moments(moments: Any) -> None:
    r = len(array(moments.shift, "shift", None))
    array(moments.first, "first", r)
    array(moments.second, "second", r, r)
    number(moments.weight, "weight")
    demand(moments.weight >= 0, "weights are negative")
    number(moments.squares, "squares")


def _row_map(make: Any) -> None:
    demand(make.dtype.kind == "f", "features are made in no floating type")
    demand(not make.raw or is_a(make.features, "features.NystromFeatures"), "these features have no inner products")
    with trying():
        slim = replace(make, features=narrowed(make.features))
        some = known_rows(slim.features)
        mapped, squares = slim(some)
        good = np.isfinite(mapped).all() and np.isfinite(squares).all()
    demand(good and mapped.shape == (len(squares), sums_of(make)), "features of rows do not come out")


def _stream(stream: Any) -> None:
    demand(len(stream.moments.shift) == sums_of(stream.map), "the sums do not belong to the features")
    demand(rows(stream.rows, "rows")[1] == width_of(stream.map.features), "the rows do not belong to the features")
    demand((stream.moments.weight > 0) == (whole(stream.n, "n") > 0), "the sums are those of other rows")
    demand(stream.dtype.kind == "f", "answers are of no floating type")
    demand(len(stream.answers) <= 1, "there is more than one answer")
    for answer in stream.answers:
        demand("_decomposition" in vars(answer), "the answer is not fitted")
        same = width_of(answer._decomposition.features) == width_of(stream.map.features)
        demand(same, "the answer is that of other rows")


def _layout(layout: Any) -> None:
    for name in ("n", "r", "limit"):
        whole(getattr(layout, name), name, 1)
    for name in ("width", "landmarks", "candidates", "chunks"):
        whole(getattr(layout, name), name)
    demand(layout.dtype.kind == "f", "features are made in no floating type")


def sums_of(make: Any) -> int:
    """Return how many numbers a map makes of a row."""
    return len(make.features.space.R) if make.raw else make.features.size


def count_of(features: Any) -> int:
    """Return how many features a row has."""
    if hasattr(features, "anchors"):
        return features.anchors.shape[0]
    columns = getattr(features, "columns", None)
    return features.size if columns is None else len(columns)


def width_of(features: Any) -> int | None:
    """Return how many columns features need; None for texts."""
    for name in ("anchors", "landmarks"):
        if hasattr(features, name):
            found = getattr(features, name)
            return found.shape[1] if found.ndim == 2 else None
    return features.W.shape[1] if hasattr(features, "W") else features.size


def known_rows(features: Any) -> Any:
    """Return a few rows that features are known to take."""
    kept = getattr(features, "anchors", getattr(features, "landmarks", None))
    if kept is not None:
        return kept[:TRIED] if features.origin is None else kept[:TRIED] + features.origin
    if features.origin is not None:
        return np.stack([np.zeros_like(features.origin), features.origin])
    return np.broadcast_to(np.zeros(1), (TRIED, width_of(features) or 1))


def narrowed(features: Any) -> Any:
    """Return features whose sparse rows have no empty columns, which add nothing to dot products.

    A file may say that there are any number of them, and products of sparse rows take memory for each.
    """
    for name in ("anchors", "landmarks"):
        kept: Any = getattr(features, name, None)
        if sparse.issparse(kept):
            used, places = np.unique(kept.indices, return_inverse=True)
            shape = (kept.shape[0], max(len(used), 1))
            return replace(features, **{name: type(kept)((kept.data, places, kept.indptr), shape=shape)})
    return features


def try_kernel(kernel: Any, features: Any) -> None:
    """Refuse a kernel that has no finite values for rows that features take."""
    with trying():
        some = known_rows(narrowed(features))
        good = np.isfinite(kernel(some, some)).all()
    demand(good, "values of the kernel do not come out")


def _decomposition(model: Any) -> None:
    m, k = array(model.W, "W", None, None).shape
    for name, shape in (("b", k), ("signs", k), ("eigenvalues", k), ("mean_weights", m)):
        array(getattr(model, name), name, shape)
    demand(np.isin(model.signs, (-1, 0, 1)).all(), "signs are none")
    number(model.total, "total")
    number(model.mean_square, "mean_square")
    demand(len(model.certificate.residuals) == k, "the certificate is of other components")
    compression = model.certificate.compression
    demand(compression is None or compression.anchors == m, "the compression is of other anchors")
    features = model.features
    demand(count_of(features) == m, "W has not one row for each feature")
    given = is_a(features, "features.GivenFeatures")
    with trying():
        slim = replace(model, features=narrowed(features))
        some = known_rows(slim.features)
        scores = slim.scores(some)
        good = np.isfinite(scores).all() and (given or np.isfinite(slim.residuals(some)).all())
    demand(good and scores.shape == (some.shape[0], k), "scores do not come out")


def _certificate(certificate: Any) -> None:
    k = len(array(certificate.residuals, "residuals", None, infinite=True))
    compression = certificate.compression
    demand(compression is None or len(compression.off) == k, "the compression is of other components")
    with trying():
        str(certificate)


def _compression(compression: Any) -> None:
    array(compression.off, "off", None, infinite=True)
    whole(compression.anchors, "anchors")
    whole(compression.of, "of")
    if compression.rows is not None:
        array(compression.rows, "rows", compression.anchors, kinds="iu")


def _plan(plan: Any) -> None:
    with trying():
        str(plan)


def _space(space: Any) -> None:
    d = width_of(space.decomposition.features)
    demand(d is not None and whole(space.width, "width", 1) == d, "the way back leads to other columns")
    n = whole(space.n, "n", 1)
    if space.rows is not None:
        known = len(array(space.rows, "rows", None, d))
        demand(1 <= known <= n, "more rows are known than there were")
    whole(space.budget, "budget", 1)
    whole(space.memory_limit, "memory_limit", 1)


def _inverse(inverse: Any) -> None:
    method = is_a(inverse.chosen, "preimage") and hasattr(inverse.chosen, "solve")
    demand(is_a(inverse.space, "preimage.Space") and method, "there is no way back")
    demand(isinstance(inverse._ready, bool), "the way back is neither ready nor not")
    if is_a(inverse.chosen, "preimage.Ridge") and inverse._ready:
        check_belongs(inverse.chosen, inverse.space.width, inverse.space.decomposition.W.shape[1])


def _weights(weights: Any) -> None:
    threshold = weights.threshold
    if isinstance(threshold, int | float | np.number):  # else it is refused by name, when it is used
        demand(abs(float(threshold)) <= FARTHEST, f"threshold is no distance up to {FARTHEST:g}")


def _ridge(ridge: Any) -> None:
    fitted = catalogue.blueprint("preimage.Ridge").fitted
    have = vars(ridge).keys() & fitted
    demand(not have or have == fitted, "a ridge regression is half fitted")
    if not have:
        return
    m = len(array(ridge.scores_, "scores_", None, None))
    d = len(array(ridge.mean_, "mean_", None))
    demand(is_a(ridge.kernel_, "kernels"), "a ridge regression has no kernel")
    demand(isinstance(ridge._dtype, np.dtype) and ridge._dtype.kind == "f", "a ridge regression has no floating type")
    number(ridge.ridge_, "ridge_")
    if ridge.loo_curve_ is not None:
        demand(isinstance(ridge.loo_curve_, tuple) and len(ridge.loo_curve_) == 2, "a curve is not two arrays")
        ridges, errors = ridge.loo_curve_
        array(errors, "errors", len(array(ridges, "ridges", None)), infinite=True)
    if is_a(ridge._map, "preimage.Coefficients"):
        array(ridge._map.coef, "coef", m, d)
        array(ridge._map.mean, "mean", d)
    else:
        demand(is_a(ridge._map, "preimage.Combinations"), "a ridge regression has no coefficients")
        array(ridge._map.weights, "weights", m, m)
        number(ridge._map.base, "base")
        array(ridge._map.kept.samples, "samples", m, d)
        demand(array(ridge._map.kept.origin, "origin", *ridge._map.kept.origin.shape).shape in ((), (d,)), "no origin")
    with trying():
        points = ridge.points(ridge.scores_[:TRIED])
        good = np.isfinite(points).all() and points.shape == (len(ridge.scores_[:TRIED]), d)
    demand(good, "points do not come out")


def check_belongs(ridge: Any, d: int | None, k: int) -> None:
    """Refuse a fitted ridge regression that does not lead from k scores to d columns."""
    demand("scores_" in vars(ridge), "the way back is not fitted")
    demand((len(ridge.mean_), ridge.scores_.shape[1]) == (d, k), "the way back is that of another model")


def _mixture(mixture: Any) -> None:
    if "weights_" not in vars(mixture):
        return
    demand(vars(mixture).keys() >= {"means_", "covariances_"}, "a mixture is half fitted")
    k = len(array(mixture.weights_, "weights_", None, kinds="fiu"))
    d = array(mixture.means_, "means_", k, None, kinds="fiu").shape[1]
    shapes = {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}
    demand(mixture.covariance_type in shapes, "covariances of a mixture are of no known type")
    columns = whole(vars(mixture).get("n_features_in_", d), "n_features_in_")
    demand(columns == d, "a mixture was fitted on other columns")
    for name in ("covariances_", "precisions_", "precisions_cholesky_"):
        if name in vars(mixture):
            array(getattr(mixture, name), name, *shapes[mixture.covariance_type], kinds="fiu")
    if "feature_names_in_" in vars(mixture):
        array(mixture.feature_names_in_, "feature_names_in_", d, kinds="O")


PARTS: dict[str, Callable[[Any], None]] = {
    **{
        f"kernels.{name}": _combined
        for name in ("KernelRBF", "LessOne", "Normalized", "Product", "Scale", "Shift", "Sum")
    },
    "features.KernelFeatures": _kernel_features,
    "features.GivenFeatures": _given_features,
    "features.FourierFeatures": _fourier_features,
    "features.ReLUFeatures": _relu_features,
    "features.LandmarkSpace": _landmark_space,
    "features.NystromFeatures": _nystrom_features,
    "features.Moments": _moments,
    "estimators.RowMap": _row_map,
    "estimators.Layout": _layout,
    "estimators.Stream": _stream,
    "decomposition.Decomposition": _decomposition,
    "solvers.Certificate": _certificate,
    "solvers.DualCertificate": _certificate,
    "solvers.Compression": _compression,
    "estimators.Plan": _plan,
    "preimage.Space": _space,
    "preimage.Ridge": _ridge,
    "preimage.Weights": _weights,
    "estimators.Inverse": _inverse,
    catalogue.MIXTURE: _mixture,
}
