"""Names that stand for ways to choose landmarks, and the rule that chooses one."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelpca.features.kmeans import KMeans, ParallelKMeans
from kernelpca.features.landmarks import ColumnNorm, Diagonal, Farthest, Landmarks, Leverage, RPCholesky, Uniform
from kernelpca.parts import explain_unknown

UNEVEN = 4.0  # largest over mean k(x, x), from which few rows hold most of the variance

LANDMARKS: dict[str, type[Landmarks]] = {
    "uniform": Uniform,
    "diagonal": Diagonal,
    "column_norm": ColumnNorm,
    "leverage": Leverage,
    "kmeans": KMeans,
    "kmeans||": ParallelKMeans,
    "farthest": Farthest,
    "rpcholesky": RPCholesky,
}
ALIASES = {
    "random": "uniform",
    "k-means": "kmeans",
    "k-means||": "kmeans||",
    "cholesky": "rpcholesky",
    "kcenter": "farthest",
}


def as_landmarks(given: Any, definite: bool, diagonal: np.ndarray) -> tuple[Landmarks, str]:
    """Return a way to choose landmarks, and why, for a kernel with these k(x, x); "auto" is a rule.

    Where some rows are far longer than most they are the leading components, and drawing by k(x, x)^2 finds them.
    A matrix that is not definite has no Cholesky factor: every row is as good as any other then.
    """
    if isinstance(given, str) and given == "auto":
        mean = float(np.abs(diagonal).mean(dtype=np.float64))
        spread = float(np.abs(diagonal).max()) / mean if mean > 0 else 1.0
        if spread > UNEVEN:
            return Diagonal(), f"k(x, x) is up to {spread:.2g} times its mean, so long rows are preferred"
        if not definite:
            return Uniform(), "the kernel is not known to be positive definite, so all rows count alike"
        return RPCholesky(), "rows that others do not explain are preferred"
    chosen = LANDMARKS[given]() if isinstance(given, str) and given in LANDMARKS else given
    if not isinstance(chosen, Landmarks):
        raise ValueError(
            explain_unknown(given, "landmarks", "kernelpca.features", ["auto", *LANDMARKS], ALIASES)
            + " An array of row numbers, or of the landmarks themselves, will do, too."
        )
    if chosen.needs_definite and not definite:
        raise ValueError(
            f"landmarks={given!r} needs a positive definite kernel, and this one is not known to be: choose 'uniform' "
            "or 'diagonal', or leave landmarks='auto'."
        )
    return chosen, "asked for"
