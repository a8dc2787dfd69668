"""Kernel PCA that is exact when it can be, and always able to say how good its answer is.

>>> from kernelpca import KernelPCA
>>> KernelPCA(n_components=2, kernel="rbf").fit_transform([[0.0], [1.0], [3.0]]).shape
(3, 2)
"""

from kernelpca.estimators import (
    PCA,
    DualKernelPCA,
    IncrementalKernelPCA,
    InvertibleKernelPCA,
    KernelPCA,
    RobustKernelPCA,
    SparseKernelPCA,
)
from kernelpca.io import open_data

__version__ = "0.1.0.dev0"
__all__ = [
    "PCA",
    "DualKernelPCA",
    "IncrementalKernelPCA",
    "InvertibleKernelPCA",
    "KernelPCA",
    "RobustKernelPCA",
    "SparseKernelPCA",
    "__version__",
    "open_data",
]
