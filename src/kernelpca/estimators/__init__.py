"""Estimators behind scikit-learn's contract."""

from kernelpca.estimators.invertible import InvertibleKernelPCA
from kernelpca.estimators.kernel_pca import KernelPCA
from kernelpca.estimators.pca import PCA

__all__ = ["PCA", "InvertibleKernelPCA", "KernelPCA"]
