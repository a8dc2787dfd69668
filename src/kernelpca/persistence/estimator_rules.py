"""What makes a fitted estimator consistent: all of a fit or nothing of it, and figures of one and the same model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernelpca.persistence import catalogue
from kernelpca.persistence.demands import array, demand, is_a, number, rows, whole
from kernelpca.persistence.part_rules import check_belongs, try_kernel, width_of
from kernelpca.persistence.provenance import samples_of

CONTAINERS = ("default", "pandas", "polars")


def is_fitted(model: Any, required: str) -> bool:
    """Whether a model has what a fit gives; refuse one that has some of it and not all."""
    missing = set(required.split()) - vars(model).keys()
    have = vars(model).keys() & catalogue.blueprint(catalogue.name_of(model)).fitted - {"_sklearn_output_config"}
    demand(not have or not missing, f"a {type(model).__name__} is half fitted: it lacks {min(missing, default='')}")
    config = vars(model).get("_sklearn_output_config", {})
    known = isinstance(config, dict) and all(type(way) is str and way in CONTAINERS for way in config.values())
    demand(known, "the container of its output is not known")
    return bool(have)


def columns_of(model: Any, d: int | None) -> None:
    """Refuse names and numbers of columns that are not those of the model's rows."""
    if "n_features_in_" in vars(model):
        demand(d is None or whole(model.n_features_in_, "n_features_in_") == d, "it was fitted on other columns")
    names = vars(model).get("feature_names_in_")
    if names is not None:
        array(names, "feature_names_in_", d, kinds="O")


def variance_of(model: Any, k: int) -> None:
    """Refuse figures that are not those of k components."""
    for name in ("eigenvalues_", "explained_variance_", "explained_variance_ratio_"):
        if name in vars(model):
            array(getattr(model, name), name, k)
    if "n_components_" in vars(model):
        demand(whole(model.n_components_, "n_components_") == k, "it has another number of components")
    demand(is_a(model.certificate_, "solvers") and hasattr(model.certificate_, "residuals"), "there is no certificate")
    demand(len(model.certificate_.residuals) == k, "the certificate is of other components")
    demand("plan_" not in vars(model) or is_a(model.plan_, "estimators.Plan"), "there is no plan")


def _kernel_pca(model: Any) -> None:
    figures = "n_components_ eigenvalues_ explained_variance_ explained_variance_ratio_ total_variance_ components_"
    if not is_fitted(model, f"{figures} certificate_ plan_ kernel_ _decomposition _inverse _counted"):
        return
    found = model._decomposition
    demand(is_a(found, "decomposition.Decomposition") and is_a(model.kernel_, "kernels"), "there is no decomposition")
    m, k = found.W.shape
    variance_of(model, k)
    number(model.total_variance_, "total_variance_")
    array(model.components_, "components_", k, m)
    given = is_a(found.features, "features.GivenFeatures")
    if model._counted is not None:
        counted = array(model._counted, "counted", None, kinds="b")
        demand(given and counted.sum() == found.features.size, "rows that count are not those of the matrix")
        columns_of(model, len(counted))
    else:
        columns_of(model, width_of(found.features))
    demand(given == is_a(model.kernel_, "kernels.Precomputed"), "the kernel does not belong to the features")
    if not given:
        try_kernel(model.kernel_, found.features)
    if model._inverse is not None:
        inverse = model._inverse
        demand(is_a(inverse, "estimators.Inverse"), "there is no way back")
        demand(inverse.space.decomposition.W.shape == (m, k), "the way back is that of another model")
        demand(_fitted_on(model, inverse.space.n), "the way back is that of other rows")
    for name in ("kappa_", "kappa_max_", "offset_", "epsilon_", "epsilon_max_", "sparsity_", "entry_sparsity_"):
        if name in vars(model):
            number(getattr(model, name), name, infinite=True)
    if "objective_" in vars(model):
        demand(is_a(model.objective_, "objectives"), "there is no objective")
    _of_rows(model, k)


def _of_rows(model: Any, k: int) -> None:
    """Refuse what is told of training rows, by an objective other than the variance, where it is told of others."""
    known = vars(model)
    coef = array(known["dual_coef_"], "dual_coef_", None, k) if "dual_coef_" in known else None
    if "support_" in known:
        kept = len(array(model.support_, "support_", None, kinds="iu"))
        if coef is not None:
            demand(len(coef) == kept, "there are coefficients of other rows")
        else:  # of a compressed model: anchors are some of these rows, or were moved, or all of them stayed
            compression = model.certificate_.compression
            demand(compression is not None, "there are no coefficients")
            stayed = compression.rows is not None and compression.anchors == compression.of
            anchors = 0 if compression.rows is None else compression.anchors
            demand(stayed or kept == anchors, "the rows that support the model are others")
    elif coef is not None:
        few, many = int(coef.any(axis=1).sum()), len(coef)  # rows of weight zero have none, and others may have none
        demand(_fitted_on(model, few, many), "there are coefficients of other rows")
    if "outlier_weights_" in known:
        weights = array(model.outlier_weights_, "outlier_weights_", None, infinite=True)
        demand(coef is None or len(coef) == len(weights), "there are weights of other rows")
        demand(_fitted_on(model, int((~np.isnan(weights)).sum())), "there are weights of other rows")


def _fitted_on(model: Any, least: int, most: int | None = None) -> bool:
    """Whether a model was fitted on so many rows, or on some number between, as far as that is known.

    Of one row the variances, from which it is known, are those of two.
    """
    n = samples_of(model)
    return n is None or least <= n <= max(least if most is None else most, 2)


def _incremental(model: Any) -> None:
    if "_waiting" in vars(model):  # for rows enough to choose features on
        demand(not {"_stream", "kernel_"} & vars(model).keys(), "it has begun, and waits to begin")
        demand(is_a(model._waiting, "estimators.Waiting"), "no rows are waiting")
        n, d = rows(model._waiting.rows, "rows")
        demand(whole(vars(model).get("n_samples_seen_"), "n_samples_seen_") == n, "it has seen other rows")
        if model._waiting.weights is not None:
            demand((array(model._waiting.weights, "weights", n) > 0).all(), "a row that waits has no weight")
        columns_of(model, d)
    elif is_fitted(model, "kernel_ n_samples_seen_ _stream"):
        demand(is_a(model._stream, "estimators.Stream") and is_a(model.kernel_, "kernels"), "there is no stream")
        demand(whole(model.n_samples_seen_, "n_samples_seen_") == model._stream.n, "it has seen other rows")
        columns_of(model, width_of(model._stream.map.features))
        try_kernel(model.kernel_, model._stream.map.features)


def _invertible(model: Any) -> None:
    if not is_fitted(model, "layers_ n_components_ eigenvalues_ components_ certificate_ plan_ n_features_in_"):
        return
    demand(isinstance(model.layers_, list) and model.layers_, "there are no layers")
    d = whole(model.n_features_in_, "n_features_in_", 1)
    columns_of(model, d)
    for layer in model.layers_:
        fitted = is_a(layer, "estimators.KernelPCA") and vars(layer).get("_inverse") is not None
        demand(fitted and layer._inverse.space.width == d, "a layer is not that of the one before")
        d = layer.n_components_
    variance_of(model, d)
    array(model.components_, "components_", *layer.components_.shape)


def _pca(model: Any) -> None:
    figures = "n_components_ eigenvalues_ explained_variance_ explained_variance_ratio_ total_variance_"
    if is_fitted(model, f"{figures} components_ certificate_ plan_ mean_ method_ n_features_in_"):
        k, d = array(model.components_, "components_", None, None).shape
        demand(d >= 1, "there are no columns")
        array(model.mean_, "mean_", d)
        variance_of(model, k)
        number(model.total_variance_, "total_variance_")
        columns_of(model, d)


def _drop_in(model: Any) -> None:
    if not is_fitted(model, "gamma_ eigenvalues_ eigenvectors_ certificate_ X_fit_ _decomposition n_features_in_"):
        return
    demand(is_a(model._decomposition, "decomposition.Decomposition"), "there is no decomposition")
    k, (n, d) = model._decomposition.W.shape[1], rows(model.X_fit_, "X_fit_")
    demand(d is not None and width_of(model._decomposition.features) == d, "the rows are those of another model")
    array(model.eigenvectors_, "eigenvectors_", n, k)
    demand(len(model._decomposition.W) == n, "the anchors are not the rows")
    variance_of(model, k)
    columns_of(model, d)
    if "_preimage" in vars(model):
        demand(is_a(model._preimage, "preimage.Ridge"), "there is no way back")
        check_belongs(model._preimage, d, k)
        demand(len(model._preimage.scores_) == n, "the way back is that of other rows")
        array(model.dual_coef_, "dual_coef_", n, d)
        array(model.X_transformed_fit_, "X_transformed_fit_", n, k)


ESTIMATORS: dict[str, Callable[[Any], None]] = {
    "estimators.KernelPCA": _kernel_pca,
    "estimators.DualKernelPCA": _kernel_pca,
    "estimators.RobustKernelPCA": _kernel_pca,
    "estimators.SparseKernelPCA": _kernel_pca,
    "estimators.IncrementalKernelPCA": _incremental,
    "estimators.InvertibleKernelPCA": _invertible,
    "estimators.PCA": _pca,
    "sklearn.KernelPCA": _drop_in,
}
