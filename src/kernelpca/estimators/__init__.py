"""Estimators: thin faces over the parts."""

from kernelpca.estimators.dual_kernel_pca import DualKernelPCA
from kernelpca.estimators.incremental import IncrementalKernelPCA
from kernelpca.estimators.invertible import InvertibleKernelPCA
from kernelpca.estimators.kernel_pca import KernelPCA
from kernelpca.estimators.pca import PCA
from kernelpca.estimators.robust import RobustKernelPCA
from kernelpca.estimators.sparse import SparseKernelPCA

__all__ = [
    "PCA",
    "DualKernelPCA",
    "IncrementalKernelPCA",
    "InvertibleKernelPCA",
    "KernelPCA",
    "RobustKernelPCA",
    "SparseKernelPCA",
]
