"""Choices without labels: which kernel, which width, how many components.

>>> from sklearn.datasets import load_digits
>>> from kernelpca.selection import KernelPCACV, gamma_median
>>> X = load_digits().data / 16
>>> round(gamma_median(X), 3)
0.107
"""

from kernelpca.selection.criteria import (
    CRITERIA,
    Denoising,
    Masked,
    Projection,
    Reconstruction,
    denoising_score,
    masked_score,
    reconstruction_score,
)
from kernelpca.selection.criterion import Criterion
from kernelpca.selection.distances import projection_errors
from kernelpca.selection.error_curve import ErrorCurve, choose_components, error_curve
from kernelpca.selection.parallel_analysis import ParallelAnalysis, parallel_analysis
from kernelpca.selection.search import KernelPCACV
from kernelpca.selection.steps import Step
from kernelpca.selection.widths import gamma_grid, gamma_median, gamma_scale

__all__ = [
    "CRITERIA",
    "Criterion",
    "Denoising",
    "ErrorCurve",
    "KernelPCACV",
    "Masked",
    "ParallelAnalysis",
    "Projection",
    "Reconstruction",
    "Step",
    "choose_components",
    "denoising_score",
    "error_curve",
    "gamma_grid",
    "gamma_median",
    "gamma_scale",
    "masked_score",
    "parallel_analysis",
    "projection_errors",
    "reconstruction_score",
]
