"""Names that stand for approximations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kernelpca.features.fourier import RandomFourier
from kernelpca.features.nystrom import Nystrom
from kernelpca.features.protocol import FeatureMap
from kernelpca.features.relu import RandomReLU
from kernelpca.features.sketch import KernelSketch
from kernelpca.parts import explain_unknown

APPROXIMATIONS: dict[str, Callable[[], FeatureMap | KernelSketch]] = {
    "nystrom": Nystrom,
    "fourier": RandomFourier,
    "relu": RandomReLU,
    "sketch": KernelSketch,
}
ALIASES = {"nystroem": "nystrom", "nyström": "nystrom", "rff": "fourier", "random_fourier": "fourier", "rks": "fourier"}


def as_approximation(given: Any) -> FeatureMap | KernelSketch:
    """Return the approximation that a name or an object stands for."""
    if isinstance(given, FeatureMap | KernelSketch):
        return given
    if isinstance(given, str) and given in APPROXIMATIONS:
        return APPROXIMATIONS[given]()
    raise ValueError(explain_unknown(given, "approximation", "kernelpca.features", APPROXIMATIONS, ALIASES))
