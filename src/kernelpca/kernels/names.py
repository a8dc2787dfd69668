"""Names that stand for kernels; scikit-learn's names mean scikit-learn's functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kernelpca.kernels.base import Kernel
from kernelpca.kernels.custom import Custom, Precomputed
from kernelpca.kernels.dot import ArcCosine, Cosine, Linear, Polynomial, Sigmoid
from kernelpca.kernels.expression import is_expression, parse_kernel
from kernelpca.kernels.histogram import (
    AdditiveChiSquare,
    ChiSquare,
    ExponentialChiSquare,
    GeneralizedHistogramIntersection,
    Hellinger,
    HistogramIntersection,
    JensenShannon,
)
from kernelpca.kernels.stationary import RBF, Cauchy, Laplacian, Matern, RationalQuadratic
from kernelpca.kernels.strings import Spectrum, Subsequence
from kernelpca.parts import explain_unknown

KERNELS: dict[str, Callable[[], Kernel]] = {
    "linear": Linear,
    "poly": Polynomial,
    "polynomial": Polynomial,
    "rbf": RBF,
    "laplacian": Laplacian,
    "laplacian_euclidean": lambda: Laplacian(norm="euclidean"),
    "matern": Matern,
    "cauchy": Cauchy,
    "rational_quadratic": RationalQuadratic,
    "sigmoid": Sigmoid,
    "cosine": Cosine,
    "arc_cosine": ArcCosine,
    "histogram_intersection": HistogramIntersection,
    "generalized_histogram_intersection": GeneralizedHistogramIntersection,
    "chi_square": ChiSquare,
    "additive_chi2": AdditiveChiSquare,
    "chi2": ExponentialChiSquare,
    "hellinger": Hellinger,
    "jensen_shannon": JensenShannon,
    "spectrum": Spectrum,
    "subsequence": Subsequence,
    "precomputed": Precomputed,
}


ALIASES = {"gaussian": "rbf", "gauss": "rbf", "tanh": "sigmoid", "laplace": "laplacian_euclidean"}


def as_kernel(kernel: Any) -> Kernel:
    """Return the kernel that a name, a text such as "rbf(gamma=0.1) + 2*linear", an object or a callable stands for."""
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str) and kernel in KERNELS:
        return KERNELS[kernel]()
    if isinstance(kernel, str) and is_expression(kernel):
        return parse_kernel(kernel, KERNELS, ALIASES)
    if callable(kernel) and not isinstance(kernel, type):
        return Custom(kernel)
    text = explain_unknown(kernel, "kernel", "kernelpca.kernels", KERNELS, ALIASES)
    raise (ValueError if isinstance(kernel, str) else TypeError)(text + " A callable will do, too.")
