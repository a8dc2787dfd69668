"""Table 1 as printed, the readings of what the text leaves open, and how far results are from the table."""

from __future__ import annotations

import numpy as np

from kernelpca_papers.experiment import Found

SIGMAS = (0.05, 0.1, 0.2, 0.4, 0.8)
PRINTED = {  # table 1: (a) the analysis, (b) the original paper; rows are sigmas, columns n = 1 to 9
    "a": np.array(
        [
            [496.24, 1614.73, 1816.32, 1598.64, 972.89, 623.70, 364.37, 153.05, 90.50],
            [178.33, 752.52, 803.60, 586.85, 396.99, 259.77, 152.16, 104.50, 89.89],
            [37.65, 63.62, 18.41, 5.16, 3.35, 2.82, 2.73, 2.30, 3.43],
            [6.03, 4.06, 1.77, 1.78, 1.87, 2.08, 5.49, 9.24, 9.54],
            [0.62, 0.98, 1.25, 1.54, 1.83, 1.80, 1.75, 1.57, 1.53],
        ]
    ),
    "b": np.array(
        [
            [2058.42, 1238.36, 846.14, 565.41, 309.64, 170.36, 125.97, 104.40, 92.23],
            [10.22, 31.32, 21.51, 29.24, 27.66, 23.53, 29.64, 40.07, 63.41],
            [0.99, 1.12, 1.18, 1.50, 2.11, 2.73, 3.72, 5.09, 6.32],
            [1.07, 1.26, 1.44, 1.64, 1.91, 2.08, 2.22, 2.34, 2.47],
            [1.23, 1.39, 1.54, 1.70, 1.80, 1.96, 2.10, 2.25, 2.39],
        ]
    ),
}
NAMES = (  # what sigma is, c over its square (or twice the variance of a coordinate), and the expansion or the start
    MAIN := "deviation, 20, mean kept",
    WIDE := "deviation, 100, mean kept",
    RANDOM := "deviation, 20, random start",
    "deviation, 2, mean kept",
    "deviation, 50, mean kept",
    "deviation, 2 var, mean kept",
    "deviation, 2, mean left out",
    "deviation, 20, mean left out",
    "deviation, 2 var, mean left out",
    "deviation, 20, no restart",
    "variance, 2, mean kept",
    "variance, 20, mean kept",
    "variance, 20, mean left out",
)
OFTEN = (MAIN, WIDE, RANDOM)
SHOWN = 9  # numbers of components in the table
NINE_TENTHS = (10, 90)


def ratios(found: Found, reading: str) -> np.ndarray:
    """-> (repetitions, sigmas, 9): linear PCA's error over kernel PCA's."""
    return (found("linear", reading=reading) / found("kernel", reading=reading))[..., :SHOWN]


def apart(values: np.ndarray) -> dict[str, np.ndarray]:
    """(sigmas, 9) -> (sigmas,) for "a" and "b": mean distance from the printed figures, in logarithms."""
    return {key: np.abs(np.log(values / printed)).mean(axis=1) for key, printed in PRINTED.items()}


def inside(values: np.ndarray, key: str) -> float:
    """(repetitions, sigmas, 9) -> the part of the printed figures that lie between our 10% and 90%."""
    low, high = np.percentile(values, NINE_TENTHS, axis=0)
    return float(((PRINTED[key] >= low) & (PRINTED[key] <= high)).mean())
