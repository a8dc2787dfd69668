"""Where to start: the leading directions of a Nyström approximation from a few landmarks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelpca.gram.protocol import Gram
from kernelpca.solvers.rayleigh_ritz import inner

MOST = 600  # landmarks when the user sets no number
WORTH = 0.7  # of what is captured after the first pass, which landmarks must have captured before it
DECAYING = 0.5  # of the mean of the leading eigenvalues, below which the last of a block must be


@dataclass(frozen=True)
class Start:
    """Directions to multiply first.

    Attributes
    ----------
    directions : ndarray of shape (n, p)
        The leading directions of F F', orthonormal.
    F, FF : ndarrays of shape (n, m) and (m, m)
        The features and F'F.
    values : ndarray of shape (p,)
        The leading eigenvalues of F F'.
    """

    directions: np.ndarray
    F: np.ndarray
    FF: np.ndarray
    values: np.ndarray

    def is_worth(self, captured: float, k: int) -> bool:
        """Whether the features are worth keeping, after a pass that captured so much with k components.

        Spectra that decay slowly, as of narrow kernels on noise, do not profit: either the pass captures far more
        than the landmarks did, or there is hardly any decay to be seen.
        """
        lead = self.values[:k]
        decays = len(self.values) <= k or self.values[-1] < DECAYING * lead.mean()
        return bool(decays and lead.sum() >= WORTH * captured)


def default_count(n: int, k: int) -> int:
    """Return how many landmarks to take for k components of n rows; 0 where they would not be few."""
    m = min(max(10 * k, n // 30, 100), MOST)
    return m if 4 * m <= n else 0


def landmark_start(gram: Gram, m: int, p: int, rng: np.random.Generator) -> Start:
    """Take m landmarks at random and return the p leading directions of the Nyström approximation from them."""
    n = gram.shape[0]
    F = gram.landmark_features(np.sort(rng.choice(n, m, replace=False)))
    r = F.shape[1]
    FF = inner(F, F)
    values, S = np.linalg.eigh(FF)
    values, S = values[max(r - p, 0) :], S[:, max(r - p, 0) :]
    positive = values > 10 * float(np.finfo(F.dtype).eps) * values.max(initial=0.0)
    values, S = values[positive][::-1], S[:, positive][:, ::-1]
    return Start(F @ (S / np.sqrt(values)).astype(F.dtype), F, FF, values)
