"""Kernel PCA that is exact when it can be, and always able to say how good its answer is.

>>> from kernelpca import KernelPCA
>>> KernelPCA(n_components=2, kernel="rbf").fit_transform([[0.0], [1.0], [3.0]]).shape
(3, 2)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from kernelpca.persistence import load

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
    "load",
    "open_data",
]
_ELSEWHERE = {"load": "kernelpca.persistence", "open_data": "kernelpca.io"}
_PACKAGES = {
    "datasets",
    "features",
    "gram",
    "io",
    "kernels",
    "metrics",
    "objectives",
    "plotting",
    "preimage",
    "selection",
    "solvers",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is: the command line answers `--help` without the whole library."""
    if name in _PACKAGES:
        return import_module(f"kernelpca.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'kernelpca' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_ELSEWHERE.get(name, "kernelpca.estimators")), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PACKAGES})
