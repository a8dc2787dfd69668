"""What tables 4, 6 and 7 say of robustness, as claims about errors on many splits of contaminated Iris."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kernelpca_papers.claims import Claim
from kernelpca_papers.dualization.contaminated_iris import (
    CENTERED,
    COMPETITORS,
    DUAL,
    GAUSSIAN,
    HUBER,
    LAPLACIAN,
    NARROW,
    SCORINGS,
    UNCENTERED,
    name_of,
    short,
)
from kernelpca_papers.experiment import Found

PRINTED = {
    "table 4": {
        "square": (7.591059, 7.910846, 8.691805, 9.782740, 11.183650),
        "Huber 2": (6.833484, 7.182663, 8.045477, 9.259353, 10.824293),
        "Huber 1": (7.381284, 7.687518, 8.430957, 9.465706, 10.791766),
    },
    "table 6": {
        "square": (3.024668, 4.580805, 8.998080, 15.695008, 24.671558),
        "Huber 2": (2.862165, 4.415508, 8.824152, 15.507481, 24.671039),
        "Huber 1": (2.762514, 4.337033, 8.808865, 15.590248, 24.671153),
    },
    "table 7": {
        "unsquared": (6.965341, 7.437400, 8.113397, 9.734140, 10.934794),  # l2,1-RKPCA in the paper
        "L1": (6.829537, 7.598856, 8.085395, 9.547392, 10.855314),
    },
}
TITLES = {
    "square": "square",
    "Huber 2": "Huber 2",
    "Huber 1": "Huber 1",
    "unsquared": "unsquared (for l2,1-RKPCA)",
    "L1": "L1 (for L1-KPCA)",
}
READINGS = (  # table, kernel, scores and s whose errors are nearest to the printed ones
    ("table 4", GAUSSIAN, DUAL, 2),
    ("table 4", NARROW, DUAL, 2),
    ("table 6", LAPLACIAN, UNCENTERED, 1),
    ("table 7", GAUSSIAN, CENTERED, 2),
)
TIE = 1e-3  # errors that differ by less than this part are equal: solutions are known to about a tenth of it
OFTEN, RANGE = 0.95, (0.1, 0.9)

LENGTH = (
    "This is hardly robustness: over 200 splits the square solution has the same error with and without outliers "
    "(7.20 and 7.20, Gaussian kernel, s = 2), and scaled to the length of Huber 2 it does as well or better (6.46 "
    "against 6.73 at s = 2, 16.72 against 16.72 at s = 4). A shorter dual variable brings scores nearer together, "
    "and the ridge regression of the way back shrinks less."
)
MIXED = (
    "Coordinates on orthonormal directions do not depend on the length of the dual variable. What is left is small "
    "and changes sign with s and centering. Over 200 splits median ratios at tau = 100 and s = 2 to 5 are 0.98 to "
    "1.02 (Gaussian kernel) and 0.95 to 1.00 (Laplacian). Outliers are nearly orthogonal to all other rows in "
    "feature space and cost kernel PCA no more than 3% of its residual on clean rows."
)
AT_LEVEL = (
    "With one component eq. 8 has the level of table 6 (a factor of 1.08 off, medians over splits), and Huber's "
    "objectives lose: median ratios are 1.12 and 1.27 at tau = 10 (12 and 9% of 100 splits won), 1.07 and 1.15 at "
    "tau = 100 (38 and 34% of 200 splits won)."
)
NO_GROWTH = (
    "With exp(-|x - y|^2 / 2) kernel values of outliers vanish and their scores are zero, far from those of clean "
    "rows, so that the way back does not mix them: medians over 200 splits are 6.6, 6.1 and 6.2 (square, Huber 2, "
    "Huber 1) at every tau. With exp(-|x - y|^2), the width of the published demonstration, they grow, from 7.0 to "
    "19.1 (square), and Huber 2 stays ahead of Huber 1 (18.5 and 18.9 at tau = 100)."
)
OTHERS = (
    "The order changes with s and centering: over 200 splits at tau = 100 the unsquared loss wins 72 to 90% against "
    "square for s = 1, 3, 4, 5 and 18% for s = 2 about the mean, without centering 95% for s = 1 and 14 to 26% else; "
    "L1 wins 32 to 62% and 24 to 88%. Errors of eq. 8 grow to hundreds at tau = 100, where 11 is printed. Which "
    "scores the paper gave to its competitors is not said, and the unsquared loss is that of l2,1-RKPCA with another "
    "algorithm."
)


class Errors:
    """All errors with one kernel."""

    def __init__(self, found: Found, kernel: str) -> None:
        blocks = found.where(kernel=kernel)
        self.values = {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}

    def __call__(self, scoring: str, method: str) -> np.ndarray:
        """-> (splits, s, tau)."""
        return self.values[name_of(scoring, method)]

    def has(self, scoring: str, method: str = "square") -> bool:
        """Whether there are such errors."""
        return name_of(scoring, method) in self.values

    def held(self, scoring: str, method: str) -> np.ndarray:
        """-> (s,): the part of the splits in which a method is no worse than the square objective at every tau."""
        return (self(scoring, method) <= (1 + TIE) * self(scoring, "square")).all(axis=2).mean(axis=0)

    def ratio(self, scoring: str, method: str) -> np.ndarray:
        """-> (s, tau): error over that of the square objective, geometric mean over splits."""
        return np.exp(np.log(self(scoring, method) / self(scoring, "square")).mean(axis=0))


def better(errors: Errors, kernel: str) -> Iterator[Claim]:
    """Huber's objectives are better than the square one at every tau."""
    source = "section 5.2, table 4" if kernel == GAUSSIAN else "appendix B.1, table 6"
    for scoring in SCORINGS:
        for method in HUBER:
            ratio = errors.ratio(scoring, method)[1:]
            seen = f"Here the ratio of errors (geometric mean over splits) is {ratio.min():.3f} to {ratio.max():.3f}. "
            yield Claim(
                f"{method} is no worse than square at every tau, {kernel}, scores {scoring}: part of the splits, "
                "least of s = 2 to 5",
                source,
                OFTEN,
                float(errors.held(scoring, method)[1:].min()),
                "at least",
                printed="5 of 5 tau, on one split",
                expected="pass" if scoring == DUAL else "differ",
                evidence=seen + (LENGTH if scoring == DUAL else MIXED),
            )
    if kernel == LAPLACIAN:
        for method in HUBER:
            yield Claim(
                f"{method} is no worse than square at every tau, {kernel}, scores {UNCENTERED}, s = 1 (the level of "
                "table 6): part of the splits",
                "appendix B.1, table 6",
                OFTEN,
                float(errors.held(UNCENTERED, method)[0]),
                "at least",
                printed="5 of 5 tau, on one split",
                expected="differ",
                evidence=AT_LEVEL,
            )


def directions(errors: Errors, kernel: str) -> Iterator[Claim]:
    """What is gained is gained by better directions, not by a shorter dual variable."""
    for method in HUBER:
        square, huber, scaled = (errors(DUAL, m)[:, 1, -1].mean() for m in ("square", method, short(method)))
        yield Claim(
            f"{method} is better because its components are more robust: part of its gain over square that is left "
            f"against the square solution scaled to the same length, {kernel}, {DUAL}, s = 2, tau = 100",
            "section 5.2",
            0.5,
            float((scaled - huber) / (square - huber)),
            "at least",
            expected="differ",
            evidence=LENGTH,
        )


def order(errors: Errors) -> Iterator[Claim]:
    """Rows limited at low noise, entries at high noise."""
    ratio = np.exp(np.log(errors(DUAL, "Huber 2") / errors(DUAL, "Huber 1")).mean(axis=0))[1]
    words = f"{GAUSSIAN}, {DUAL}, s = 2"
    yield Claim(
        f"Huber 2 is better than Huber 1 at lower noise: largest ratio of errors for tau = 10 to 75, {words}",
        "section 5.2, table 4", 1.0, float(ratio[:-1].max()), "at most", printed="0.926 to 0.978",
    )  # fmt: skip
    yield Claim(
        f"Huber 1 is better than Huber 2 at the highest noise: error of Huber 1 over Huber 2's at tau = 100, {words}",
        "section 5.2, table 4", 1.0, float(1 / ratio[-1]), "at most", printed="0.997", expected="differ",
        evidence=NO_GROWTH,
    )  # fmt: skip


def competitors(errors: Errors) -> Iterator[Claim]:
    """Both competitors beat the square objective, and one of Huber's beats both."""
    for method in COMPETITORS:
        yield Claim(
            f"{TITLES[method]} is no worse than square at every tau, {GAUSSIAN}, scores of eq. 8: part of the splits, "
            "least of s = 1 to 5, centered or not",
            "table 7",
            OFTEN,
            float(min(errors.held(scoring, method).min() for scoring in (CENTERED, UNCENTERED))),
            "at least",
            printed="5 of 5 tau, on one split",
            expected="differ",
            evidence=OTHERS,
        )
    best = []
    for scoring in (CENTERED, UNCENTERED):
        huber, other = (np.min([errors(scoring, m) for m in methods], axis=0) for methods in (HUBER, COMPETITORS))
        best.append((huber <= (1 + TIE) * other)[:, :, 1:].all(axis=2).mean(axis=0).min())
    yield Claim(
        "The better of Huber's objectives is no worse than both competitors for tau = 25 to 100, "
        f"{GAUSSIAN}, scores of eq. 8: part of the splits, least of s = 1 to 5, centered or not",
        "table 7", OFTEN, float(min(best)), "at least", printed="4 of 4 tau, on one split", expected="differ",
        evidence=OTHERS,
    )  # fmt: skip


def growth(errors: np.ndarray, table: str, kernel: str, reading: str) -> Claim:
    """(splits, tau) -> how errors of the square objective grow with tau."""
    ratios = np.log(errors[:, -1] / errors[:, 0])
    printed = PRINTED[table]["square"]
    middle = float(np.median(ratios))
    return Claim(
        f"Logarithm of the error of square at tau = 100 over that at tau = 10, {reading}: median of splits",
        table,
        float(np.log(printed[-1] / printed[0])),
        middle,
        tolerance=float(np.quantile(np.abs(ratios - middle), RANGE[1] - RANGE[0])),
        reason="the printed numbers are one split, and four fifths of the splits here are so near to their median",
        printed=f"{printed[-1]:.2f} / {printed[0]:.2f}",
        expected="differ" if kernel == GAUSSIAN else "pass",
        evidence=NO_GROWTH if kernel == GAUSSIAN else "",
    )


def level(errors: np.ndarray, table: str, method: str, reading: str) -> Claim:
    """(splits, tau) -> how many of the printed numbers could be one of our splits."""
    low, high = np.quantile(errors, RANGE, axis=0)
    printed = np.array(PRINTED[table][method])
    return Claim(
        f"Printed errors of {TITLES[method]} ({reading}): part within the 10 to 90% range of splits here",
        table,
        RANGE[1] - RANGE[0],
        float(((low <= printed) & (printed <= high)).mean()),
        "at least",
        printed=", ".join(f"{x:.2f}" for x in printed),
        expected="differ" if table == "table 7" else "pass",
        evidence=OTHERS if table == "table 7" else "",
    )
