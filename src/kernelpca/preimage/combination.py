"""The way back where there is nothing to invert: the feature space of the linear kernel is the input space."""

from __future__ import annotations

from kernelpca.features import FeatureMap
from kernelpca.kernels.base import Kernel
from kernelpca.kernels.dot import Linear
from kernelpca.preimage.protocol import Answer, Preimage, Target, clip, expands


class Combination(Preimage):
    """The point itself, for the linear kernel: the combination of samples that it is in feature space, PCA's inverse.

    Parameters
    ----------
    bounds : (low, high), optional
        Limits of the answer, to which it is clipped.
    """

    rotates = True

    def __init__(self, bounds: tuple | None = None) -> None:
        self.bounds = bounds

    def refusal(self, kernel: Kernel, approximation: FeatureMap | None) -> str | None:
        """Only the linear kernel's points are inputs."""
        if isinstance(kernel, Linear) and expands(approximation):
            return None
        return "the linear kernel, whose feature space is the input space"

    def solve(self, target: Target) -> Answer:
        """Combine samples as the points combine their images."""
        X = target.coefficients @ target.space.samples
        return Answer(clip(X, *self.limits(target.space, X.shape[1])))
