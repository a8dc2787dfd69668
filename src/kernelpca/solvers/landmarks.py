"""Where to start: the leading directions of a Nyström approximation from a few landmarks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelpca.gram.protocol import Gram
from kernelpca.tall import inner, times

ENOUGH = 2500  # rows from which landmarks save more than they cost
MOST = 500  # landmarks when the user sets no number
WORTH = 0.7  # of what is captured after the first pass, which landmarks must have captured before it
SEEN = 2048  # rows that tell which combinations of the features lead
KEPT = 4  # blocks of leading directions of the features that are kept; more were seen to add nothing
DECAYING = 0.5  # of the mean of the wanted eigenvalues, below which the last of a block must be


@dataclass(frozen=True)
class Start:
    """Directions to multiply first.

    Attributes
    ----------
    directions : ndarray of shape (n, p)
        The leading directions of F F', orthonormal.
    F : ndarray of shape (n, r)
        The features, turned so that F'F is diagonal, and cut to a few blocks of leading directions; none (r = 0) where
        the spectrum hardly decays: features are not worth their memory then.
    captured : float
        The sum of the k leading eigenvalues of F F'.
    """

    directions: np.ndarray
    F: np.ndarray
    captured: float

    def is_worth(self, captured: float) -> bool:
        """Whether the features are worth keeping, after a pass that captured so much: not if far more than they did."""
        return self.captured >= WORTH * captured


def default_count(n: int, k: int, few: bool = False) -> int:
    """Return how many landmarks to take for k components of n rows; 0 where they would not be few.

    More of them save passes; `few` where passes cost so little that a good start is enough.
    """
    m = min(max(10 * k, 0 if few else n // 30, 100), MOST)
    return m if n >= ENOUGH and 4 * m <= n else 0


def landmark_start(gram: Gram, m: int, k: int, p: int, rng: np.random.Generator) -> Start:
    """Take m landmarks at random and return the p leading directions of the Nyström approximation from them.

    Which combinations of the features lead is told by some of the rows; no others are made of all rows.
    """
    n = gram.shape[0]
    idx = np.sort(rng.choice(n, m, replace=False))
    C, R = gram.landmark_factors(idx)
    seen = times(C if n <= 2 * SEEN else C[rng.choice(n, SEEN, replace=False)], R)
    F = times(C, R @ _leading(seen)[1][:, : KEPT * p])
    values, S = _leading(F)
    lead, last = values[:k], values[:p]
    decays = len(last) <= k or last[-1] < DECAYING * lead.mean()
    F = times(F, S if decays else S[:, :p])
    directions = F[:, :p] / np.sqrt(last).astype(F.dtype)
    return Start(directions, F if decays else F[:, :0], float(lead.sum()))


def _leading(F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n, r) -> (s,), (r, s): the eigenvalues of F'F above rounding, largest first, and their vectors."""
    values, S = np.linalg.eigh(inner(F, F))
    positive = values > 10 * float(np.finfo(F.dtype).eps) * values.max(initial=0.0)
    return values[positive][::-1], S[:, positive][:, ::-1]
