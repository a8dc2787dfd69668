"""Names that stand for pre-image methods, and which of them works with which model."""

from __future__ import annotations

from typing import Any

from kernelpca.features import FeatureMap
from kernelpca.kernels.base import Kernel
from kernelpca.parts import explain_unknown
from kernelpca.preimage.combination import Combination
from kernelpca.preimage.distances import Distances
from kernelpca.preimage.fixed_point import FixedPoint
from kernelpca.preimage.gradient import Gradient
from kernelpca.preimage.invertible import Invertible
from kernelpca.preimage.protocol import Preimage
from kernelpca.preimage.ridge import Ridge
from kernelpca.preimage.weights import Weights

PREIMAGES: dict[str, type[Preimage]] = {
    "combination": Combination,
    "distances": Distances,
    "fixed_point": FixedPoint,
    "gradient": Gradient,
    "invertible": Invertible,
    "ridge": Ridge,
    "weights": Weights,
}


def as_preimage(preimage: Any) -> Preimage:
    """Return the pre-image method that a name or an object stands for."""
    if isinstance(preimage, Preimage):
        return preimage
    if isinstance(preimage, str) and preimage in PREIMAGES:
        return PREIMAGES[preimage]()
    raise ValueError(explain_unknown(preimage, "preimage", "kernelpca.preimage", PREIMAGES, {}))


def best_for(kernel: Kernel, approximation: FeatureMap | None) -> Preimage:
    """Return the method that comes nearest in feature space: exact, by descent, or else learned."""
    order: tuple[Preimage, ...] = (Combination(), Gradient(), Ridge())
    return next(method for method in order if method.refusal(kernel, approximation) is None)


def check_fitting(method: Preimage, kernel: Kernel, approximation: FeatureMap | None) -> None:
    """Refuse a method that does not work with such a model, and name those that do."""
    missing = method.refusal(kernel, approximation)
    if missing is None:
        return
    fitting = [name for name, other in PREIMAGES.items() if other().refusal(kernel, approximation) is None]
    model = f"kernel={kernel!r}" + (f" and approximation={approximation!r}" if approximation is not None else "")
    raise ValueError(
        f"{method!r} is not compatible with {model}: it needs {missing}. Methods that work with this model: "
        f"{', '.join(sorted(fitting))}."
    )
