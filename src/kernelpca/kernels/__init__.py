"""Kernels: what similarity means. Objects with parameters, flags and an algebra; see `Kernel`."""

from kernelpca.kernels.algebra import Normalized, Product, Scale, Shift, Sum
from kernelpca.kernels.base import Kernel
from kernelpca.kernels.custom import Custom, Outer, Precomputed
from kernelpca.kernels.dot import ArcCosine, Cosine, Linear, Polynomial, Sigmoid
from kernelpca.kernels.fisher import Fisher
from kernelpca.kernels.histogram import (
    AdditiveChiSquare,
    ChiSquare,
    ExponentialChiSquare,
    GeneralizedHistogramIntersection,
    Hellinger,
    HistogramIntersection,
    JensenShannon,
)
from kernelpca.kernels.kernel_rbf import KernelRBF
from kernelpca.kernels.names import KERNELS, as_kernel
from kernelpca.kernels.stationary import RBF, Cauchy, Laplacian, Matern, RationalQuadratic
from kernelpca.kernels.strings import Spectrum, Subsequence

__all__ = [
    "KERNELS",
    "RBF",
    "AdditiveChiSquare",
    "ArcCosine",
    "Cauchy",
    "ChiSquare",
    "Cosine",
    "Custom",
    "ExponentialChiSquare",
    "Fisher",
    "GeneralizedHistogramIntersection",
    "Hellinger",
    "HistogramIntersection",
    "JensenShannon",
    "Kernel",
    "KernelRBF",
    "Laplacian",
    "Linear",
    "Matern",
    "Normalized",
    "Outer",
    "Polynomial",
    "Precomputed",
    "Product",
    "RationalQuadratic",
    "Scale",
    "Shift",
    "Sigmoid",
    "Spectrum",
    "Subsequence",
    "Sum",
    "as_kernel",
]
