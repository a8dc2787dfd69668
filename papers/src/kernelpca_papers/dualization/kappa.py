"""Error on contaminated Iris against the limit kappa of both Huber objectives: figure 3."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kernelpca import KernelPCA, RobustKernelPCA
from kernelpca_papers.claims import Claim
from kernelpca_papers.drawing import COLORS, legend_below, look, new_figure
from kernelpca_papers.dualization.contaminated_iris import (
    CENTERED,
    DUAL,
    GAUSSIAN,
    HUBER,
    KERNELS,
    SETTINGS,
    TOL,
    UNCENTERED,
    Split,
    come_back,
    name_of,
    short,
    shortened,
    squared_error,
)
from kernelpca_papers.experiment import Experiment, Findings, Found, Picture, Setting, Table

TAU, COMPONENTS = 100, 2
BLOCK = 4  # splits of a piece
SCORINGS = (DUAL, CENTERED, UNCENTERED)
QUICKLY = 2.0  # times the least error, for a growth that the text calls quick
RECOVERED = 1e-3  # of the error: solutions are critical to 1e-5, and errors known to about a tenth of this


def fractions(points: int) -> list[float]:
    """Return so many fractions of kappa max, large to small."""
    return [round((points - i) / points, 4) for i in range(points)]


def pieces(splits: int, points: int) -> list[dict[str, Any]]:
    """Blocks of splits."""
    firsts = range(0, splits, BLOCK)
    return [{"first": first, "stop": min(first + BLOCK, splits), "points": points} for first in firsts]


def run(first: int, stop: int, points: int) -> dict[str, np.ndarray]:
    """Return errors (splits, points) of each scoring and method; the square solution's do not depend on kappa."""
    paths = [one_split(seed, points) for seed in range(first, stop)]
    return {name: np.array([path[name] for path in paths]) for name in paths[0]}


def one_split(seed: int, points: int) -> dict[str, list[float]]:
    """Fit a path of kappa to one split."""
    split, kernel = Split.draw(seed), KERNELS[GAUSSIAN]
    X = split.contaminated(TAU)
    K, K_new = kernel(X, X), kernel(split.test, X)
    errors: dict[str, list[float]] = {}

    def keep(scoring: str, method: str, Z: np.ndarray, Z_new: np.ndarray) -> None:
        error = squared_error(come_back(kernel, Z, X, Z_new), split.test)
        errors.setdefault(name_of(scoring, method), []).append(error)

    for center in (True, False):
        scoring = CENTERED if center else UNCENTERED
        square = KernelPCA(COMPONENTS, kernel="precomputed", center=center).fit(K)
        H0 = square.transform(K)
        for method, (_, norm) in HUBER.items():
            model = RobustKernelPCA(COMPONENTS, kernel="precomputed", center=center, norm=norm, tol=TOL, random_state=0)
            for robust in model.kappa_path(K, [f"{fraction}max" for fraction in fractions(points)]):
                keep(scoring, method, robust.transform(K), robust.transform(K_new))
                if not center:
                    H = robust.dual_coef_
                    for name, dual in ((method, H), (short(method), shortened(H0, H))):
                        keep(DUAL, name, K @ dual, K_new @ dual)
        for _ in range(points):
            keep(scoring, "square", H0, square.transform(K_new))
            if not center:
                keep(DUAL, "square", K @ H0, K_new @ H0)
    return errors


def conclude(found: Found) -> Findings:
    """See whether the curves have the shape that is described."""
    errors = {name: np.concatenate(list(found(name))) for name in found.where()[0]}
    kappas = np.array(fractions(found.options("points")[0]))
    claims = [claim for scoring in SCORINGS for method in HUBER for claim in shape(errors, kappas, scoring, method)]
    claims += [left(errors, method) for method in HUBER]
    return Findings(claims, [tabulate(errors, kappas)], [draw(errors, kappas)], NOTES)


def relative(errors: dict[str, np.ndarray], scoring: str, method: str) -> np.ndarray:
    """-> (points,): error over that of the square objective, geometric mean over splits."""
    return np.exp(np.log(errors[name_of(scoring, method)] / errors[name_of(scoring, "square")]).mean(axis=0))


def shape(errors: dict[str, np.ndarray], kappas: np.ndarray, scoring: str, method: str) -> Iterator[Claim]:
    """Large kappa is the square objective, small kappa harms, and between them it is better."""
    ratio, words = relative(errors, scoring, method), f"{method}, {scoring}"
    yield Claim(
        f"At kappa max the error is that of the square objective: ratio, {words}",
        "figure 3",
        1.0,
        float(ratio[0]),
        tolerance=RECOVERED,
        reason="solutions are found to a criticality of 1e-5, which leaves about 1e-4 of the error open",
    )
    yield Claim(
        f"A balanced kappa gives a lower error: least ratio to square, {words}",
        "figure 3",
        1.0 - RECOVERED,
        float(ratio.min()),
        "at most",
    )
    yield Claim(
        f"With small kappa the error grows quickly: at {kappas[-1]:g} kappa max over the least, {words}",
        "figure 3",
        QUICKLY,
        float(ratio[-1] / ratio.min()),
        "at least",
        expected="pass" if scoring == DUAL else "differ",
        evidence="" if scoring == DUAL else NO_HARM,
    )


def left(errors: dict[str, np.ndarray], method: str) -> Claim:
    """A scaled square solution has no such minimum."""
    huber, scaled = (relative(errors, DUAL, name).min() for name in (method, short(method)))
    return Claim(
        f"The minimum is that of more robust components: least error of {method} over that of the square solution "
        f"scaled to the same lengths, {DUAL}",
        "section 5.2",
        1.0,
        float(huber / scaled),
        "at most",
    )


def methods_of(scoring: str) -> list[str]:
    """List what has a curve."""
    return [*HUBER, *(map(short, HUBER) if scoring == DUAL else ())]


def tabulate(errors: dict[str, np.ndarray], kappas: np.ndarray) -> Table:
    """Medians over splits."""
    rows: list[list[str | float]] = []
    for scoring in SCORINGS:
        square = np.median(errors[name_of(scoring, "square")][:, 0])
        rows.append([scoring, "square", f"{square:.3g}", *[""] * (len(kappas) - 1)])
        for method in methods_of(scoring):
            medians = np.median(errors[name_of(scoring, method)], axis=0)
            rows.append([scoring, method, *(f"{error:.3g}" for error in medians)])
    splits = len(errors[name_of(DUAL, "square")])
    return Table(
        f"Squared distance of clean test rows by kappa / kappa max, median of {splits} splits",
        ["scores", "objective", *(f"{kappa:g}" for kappa in kappas)],
        rows,
        f"tau = {TAU}, s = {COMPONENTS}. The mean of the clean training rows has about 4.6.",
    )


def draw(errors: dict[str, np.ndarray], kappas: np.ndarray) -> Picture:
    """Figure 3 for each scoring, relative to the square objective."""
    figure, axes = new_figure(1, 3, 10.5, 3.9)
    for axis, scoring in zip(axes, SCORINGS, strict=True):
        for i, method in enumerate(HUBER):
            axis.plot(kappas, relative(errors, scoring, method), label=method, **look(i))
            if scoring == DUAL:
                style = {"color": look(i)["color"], "linestyle": ":"}
                axis.plot(kappas, relative(errors, scoring, short(method)), label=short(method), **style)
        axis.axhline(1.0, color=COLORS[6], linestyle="--", linewidth=1, label="square")
        axis.set(title=f"scores {scoring}", xlabel="kappa / kappa max")
    axes[0].set(ylabel="error / that of the square objective", yscale="log", yticks=(0.5, 1, 2, 5, 10))
    axes[0].minorticks_off()
    axes[0].yaxis.set_major_formatter("{x:g}")
    legend_below(figure, axes[0], columns=5)
    return Picture(
        "kappa",
        figure,
        "Figure 3: the error of both Huber objectives meets that of the square one near kappa max, is lower for "
        "smaller kappa, and grows quickly where kappa is small.",
        "With G_x'H the same. With eq. 8, which takes no notice of the length of the dual variable, a small kappa does "
        "no harm, and a balanced one changes little. Dotted: the square solution scaled to the length of Huber's. "
        "Geometric means over splits.",
    )


NO_HARM = (
    "Scores of eq. 8 are coordinates on orthonormal directions: they do not depend on the length of the dual variable, "
    "and where kappa limits all rows, a smaller one changes nothing but that length. Over 60 splits errors at 0.05 "
    "kappa max are 1.03 and 1.05 (Huber 2 and 1, centered) and 1.00 (not centered) of the least along the path."
)
NOTES = (
    "What harms at small kappa with G_x'H is that scores shrink with the dual variable: all come near to zero, where "
    "the outliers' are, and the way back gives to clean rows what it learned from outliers.",
    "At the limits of table 4 (0.8 and 0.6 of kappa max) a square solution of the same length does as well. At the "
    "minimum, near a quarter of kappa max, it does not: over 60 splits Huber's least error is 0.62 of the least that "
    "scaling gives. The directions alone, which eq. 8 keeps, gain 2 to 7% along the path, so most of it comes from the "
    "lengths of the components relative to each other.",
)

EXPERIMENT = Experiment(
    name="dualization/kappa",
    title="Contaminated Iris: error against kappa",
    source="figure 3",
    settings=(
        *SETTINGS,
        Setting("tau", str(TAU), "printed, section 5.2"),
        Setting(
            "components s", str(COMPONENTS), "not printed, the level of table 4; with one the curves would coincide"
        ),
        Setting("kappa", "20 fractions of kappa max from 1 to 0.05", "not printed, chosen to show the rise"),
        Setting("splits", "60; quick 8", "not printed, chosen to give the spread"),
    ),
    null="The square solution scaled to the length of Huber's, and the square solution itself, are drawn beside.",
    sizes={
        "full": {"splits": 60, "points": 20},
        "quick": {"splits": 8, "points": 20},
        "tiny": {"splits": 1, "points": 4},
    },
    pieces=pieces,
    run=run,
    conclude=conclude,
    seconds={"full": 35, "quick": 5},
)
