"""Where a fixed-point iteration is likely to go: mixing of its last steps, or momentum where those mislead."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MIXED = 5  # differences of past steps that are mixed
PATIENCE = 16  # steps by momentum after mixing has misled once; twice as many after each further time
RIDGE = 1e-12  # of the trace of the small system


@dataclass
class Step:
    """A point, and where the plain iteration goes from there.

    `H` (n, s) the point, `GH` its product, `Y` the gradient at it, and `R` what the plain step would add to H.
    """

    H: np.ndarray
    GH: np.ndarray
    Y: np.ndarray
    R: np.ndarray


class Extrapolation:
    """Proposes the next point of H <- prox(Y(H)), as a gradient that is then given to the proximal operator.

    Mixing (Anderson's): the combination of the last gradients whose steps cancel best. It is far ahead where the
    iteration is smooth, and misled where rows change sides. Then momentum (Nesterov's) takes over for a while: the
    gradient at H + b (H - H before), whose product with the matrix is known without a pass.
    """

    def __init__(self) -> None:
        self._steps: list[Step] = []
        self._rest = 0  # steps until mixing is tried again
        self._patience = PATIENCE
        self._pace = 1.0
        self._mixed = False

    def mix(self, step: Step) -> np.ndarray | None:
        """Take note of a step; return the (n, s) gradient that mixing proposes, or None where it has a rest."""
        self._steps = [*self._steps[-MIXED:], step]
        self._mixed = self._rest == 0 and len(self._steps) > 1
        if not self._mixed:
            self._rest = max(self._rest - 1, 0)
            return None
        pairs = list(zip(self._steps[:-1], self._steps[1:], strict=True))
        D = np.stack([(after.R - before.R).ravel() for before, after in pairs])
        A = D @ D.T
        weights = np.linalg.solve(A + (RIDGE * np.trace(A) + np.finfo(float).tiny) * np.eye(len(A)), D @ step.R.ravel())
        Y = step.Y.copy()
        for weight, (before, after) in zip(weights, pairs, strict=True):
            Y -= weight * (after.Y - before.Y)
        return Y

    def momentum(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return a point ahead (n, s) and its product, or None where there is nothing to go on from."""
        pace = (1 + np.sqrt(1 + 4 * self._pace**2)) / 2
        ahead, self._pace = (self._pace - 1) / pace, pace
        if len(self._steps) < 2 or ahead == 0:
            return None
        before, now = self._steps[-2:]
        return now.H + ahead * (now.H - before.H), now.GH + ahead * (now.GH - before.GH)

    def misled(self) -> None:
        """Say that the last proposal led uphill."""
        self._pace = 1.0
        if self._mixed:
            self._rest, self._patience = self._patience, 2 * self._patience
