"""Estimators: thin classes that resolve parts, compose them and store the result."""

from kernelpca.estimators.kernel_pca import KernelPCA

__all__ = ["KernelPCA"]
