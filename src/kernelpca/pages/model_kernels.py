"""The kernels of a model, layer by layer, and how a page names them."""

from __future__ import annotations

import re
from typing import Any

from kernelpca.kernels.base import Kernel
from kernelpca.kernels.custom import Custom


def kernels_of(model: Any) -> list[Kernel]:
    """Return the kernels of a fitted model with their numbers, one for each layer, first to last; PCA has none."""
    layers = getattr(model, "layers_", None)
    if layers:
        return [layer.kernel_ for layer in layers]
    kernel = getattr(model, "kernel_", None)
    if kernel is None and hasattr(model, "_kernel") and model.kernel != "precomputed":
        kernel = model._kernel()  # of the class with scikit-learn's signature
    return [kernel] if isinstance(kernel, Kernel) else []


def name_kernels(model: Any) -> str:
    """Write the kernels with four digits of their numbers; nothing for none."""
    return ", then ".join(map(_in_short, kernels_of(model)))


def _in_short(kernel: Kernel) -> str:
    if isinstance(kernel, Custom):
        return type(kernel).__name__
    return re.sub(r"\d+\.\d+(e[+-]?\d+)?", lambda found: f"{float(found[0]):.4g}", repr(kernel))
