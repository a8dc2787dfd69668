"""The classes that a model file may hold, by names that stay when modules move; no other is ever made."""

from __future__ import annotations

import inspect
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from importlib import import_module
from typing import Any, get_type_hints

from kernelpca.persistence.errors import ModelFileError

# module: its classes. In files a class is called after its package, such as "kernels.RBF".
_MODULES = {
    "estimators.kernel_pca": "KernelPCA",
    "estimators.dual_kernel_pca": "DualKernelPCA",
    "estimators.robust": "RobustKernelPCA",
    "estimators.sparse": "SparseKernelPCA",
    "estimators.incremental": "IncrementalKernelPCA Stream Waiting",
    "estimators.invertible": "InvertibleKernelPCA",
    "estimators.pca": "PCA",
    "sklearn": "KernelPCA",
    "estimators.plan": "Plan",
    "estimators.layout": "Layout",
    "estimators.row_map": "RowMap",
    "estimators.way_back": "Inverse",
    "decomposition": "Decomposition",
    "kernels.dot": "ArcCosine Cosine Linear Polynomial Sigmoid",
    "kernels.stationary": "Cauchy Laplacian Matern RBF RationalQuadratic",
    "kernels.histogram": (
        "AdditiveChiSquare ChiSquare ExponentialChiSquare GeneralizedHistogramIntersection Hellinger "
        "HistogramIntersection JensenShannon"
    ),
    "kernels.strings": "Spectrum Subsequence",
    "kernels.fisher": "Fisher",
    "kernels.algebra": "Normalized Product Scale Shift Sum",
    "kernels.kernel_rbf": "KernelRBF",
    "kernels.less_one": "LessOne",
    "kernels.custom": "Precomputed",
    "features.fourier": "FourierFeatures RandomFourier",
    "features.relu": "RandomReLU ReLUFeatures",
    "features.kernel": "GivenFeatures KernelFeatures",
    "features.nystrom": "Nystrom NystromFeatures",
    "features.span": "LandmarkSpace",
    "features.moments": "Moments",
    "features.landmarks": "ColumnNorm Diagonal Farthest Leverage RPCholesky Uniform",
    "features.kmeans": "KMeans ParallelKMeans",
    "features.projections": "Downsample FeatureGrouping FeatureHashing GaussianProjection SparseProjection",
    "features.sketch": "KernelSketch Sketch",
    "objectives.square": "Square",
    "objectives.huber": "Huber",
    "objectives.epsilon_insensitive": "EpsilonInsensitive",
    "solvers.block_krylov": "BlockKrylov",
    "solvers.dca": "Dca",
    "solvers.dense": "Dense",
    "solvers.lanczos": "Lanczos",
    "solvers.lbfgs": "Lbfgs",
    "solvers.lobpcg": "Lobpcg",
    "solvers.randomized": "Randomized",
    "solvers.certificate": "Approximation Certificate Compression",
    "solvers.dual_certificate": "DualCertificate",
    "preimage.space": "Space",
    "preimage.combination": "Combination",
    "preimage.distances": "Distances",
    "preimage.fixed_point": "FixedPoint",
    "preimage.gradient": "Gradient",
    "preimage.invertible": "Invertible",
    "preimage.weights": "Weights",
    "preimage.ridge": "Coefficients Combinations Kept Ridge",
}
MIXTURE = "sklearn.mixture.GaussianMixture"

CLASSES = {
    f"{module.split('.')[0]}.{name}": f"kernelpca.{module}:{name}"
    for module, names in _MODULES.items()
    for name in names.split()
} | {MIXTURE: "sklearn.mixture:GaussianMixture"}

_NAMES = {path: name for name, path in CLASSES.items()}

_COLUMNS = "n_features_in_ feature_names_in_ _sklearn_output_config "
_VARIANCE = "n_components_ eigenvalues_ explained_variance_ explained_variance_ratio_ components_ certificate_ plan_ "
_KERNEL = _COLUMNS + _VARIANCE + "kernel_ total_variance_ _decomposition _inverse _counted "
_DUAL = _KERNEL + "objective_ dual_coef_ "
# what a fit adds to the parameters
_FITTED = {
    "estimators.KernelPCA": _KERNEL,
    "estimators.DualKernelPCA": _DUAL,
    "estimators.RobustKernelPCA": _DUAL + "kappa_ kappa_max_ outlier_weights_ offset_",
    "estimators.SparseKernelPCA": _DUAL + "epsilon_ epsilon_max_ support_ sparsity_ entry_sparsity_",
    "estimators.IncrementalKernelPCA": _COLUMNS + "kernel_ n_samples_seen_ _stream _waiting",
    "estimators.InvertibleKernelPCA": _COLUMNS + _VARIANCE + "layers_",
    "estimators.PCA": _COLUMNS + _VARIANCE + "total_variance_ mean_ method_",
    "sklearn.KernelPCA": _COLUMNS + "gamma_ eigenvalues_ eigenvectors_ explained_variance_ratio_ certificate_ X_fit_ "
    "dual_coef_ X_transformed_fit_ _decomposition _preimage",
    "estimators.Inverse": "space chosen _ready",
    "preimage.Ridge": "kernel_ scores_ mean_ ridge_ loo_error_ loo_curve_ _dtype _map",
    MIXTURE: "weights_ means_ covariances_ precisions_ precisions_cholesky_ converged_ n_iter_ lower_bound_ "
    "n_features_in_ feature_names_in_",
}
# what older files hold and nothing reads any more
_FORMER = {"estimators.Plan": "keep_after"}
# what belongs to a running program and is no part of a model
LEFT_OUT = {"callback": None, "_metadata_request": None}


@dataclass(frozen=True)
class Blueprint:
    """What instances of a class are made of.

    Attributes
    ----------
    name : str
        What the class is called in files.
    cls : type
        The class.
    parameters : dict
        Names that every instance has, with the value of those that may be missing in an older file.
    fitted : frozenset of str
        Names that it may have besides.
    hints : dict
        Types of the fields of a dataclass.
    """

    name: str
    cls: type
    parameters: dict[str, Any]
    fitted: frozenset[str]
    hints: dict[str, Any]


REQUIRED = object()


def skops_types() -> list[str]:
    """Return the types that kernelpca's models are made of, to be given to `skops.io.load` as `trusted`."""
    return sorted({*(path.replace(":", ".") for path in CLASSES.values()), "numpy.dtype"})


def name_of(value: Any) -> str:
    """Return what the class of a value is called in files, or nothing where it is none of those listed here."""
    cls = type(value)
    module = "sklearn.mixture" if cls.__module__.startswith("sklearn.mixture.") else cls.__module__
    return _NAMES.get(f"{module}:{cls.__qualname__}", "")


def former(name: str) -> frozenset[str]:
    """Return the attributes of a class that older files hold and nothing reads any more."""
    return frozenset(_FORMER.get(name, "").split())


@cache
def blueprint(name: str) -> Blueprint:
    """Return what instances of a class are made of, or refuse a class that is not listed here."""
    if name not in CLASSES:
        raise ModelFileError(
            f"It holds an object of a class that this version does not know, {name[:80]!r}. If a newer version of "
            "kernelpca wrote it, update: pip install --upgrade kernelpca"
        )
    cls: type = _class(CLASSES[name])
    fitted = frozenset(_FITTED.get(name, "").split())
    if is_dataclass(cls):
        parameters = {field.name: _default(field) for field in fields(cls)}
        return Blueprint(name, cls, parameters, fitted, get_type_hints(cls))
    if name == "estimators.Inverse":
        return Blueprint(name, cls, dict.fromkeys(fitted, REQUIRED), frozenset(), {})
    signature = inspect.signature(cls).parameters.values()
    parameters = {p.name: REQUIRED if p.default is p.empty else p.default for p in signature}
    return Blueprint(name, cls, parameters, fitted, {})


def _default(field: Any) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return REQUIRED if field.default is MISSING else field.default


def _class(path: str) -> Any:
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)
