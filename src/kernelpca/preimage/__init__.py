"""Pre-images: the way back from scores to inputs."""

from kernelpca.preimage.combination import Combination
from kernelpca.preimage.distances import Distances
from kernelpca.preimage.fixed_point import FixedPoint
from kernelpca.preimage.gradient import Gradient
from kernelpca.preimage.inversion import Inversion
from kernelpca.preimage.invertible import Invertible
from kernelpca.preimage.names import PREIMAGES, as_preimage, best_for, check_fitting
from kernelpca.preimage.protocol import Preimage
from kernelpca.preimage.ridge import Ridge
from kernelpca.preimage.weights import Weights

__all__ = [
    "PREIMAGES",
    "Combination",
    "Distances",
    "FixedPoint",
    "Gradient",
    "Inversion",
    "Invertible",
    "Preimage",
    "Ridge",
    "Weights",
    "as_preimage",
    "best_for",
    "check_fitting",
]
