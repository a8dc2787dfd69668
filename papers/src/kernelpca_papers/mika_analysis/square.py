"""A noisy square denoised: figure 1, lower part."""

from __future__ import annotations

import numpy as np

from kernelpca.datasets import square
from kernelpca_papers.claims import Claim
from kernelpca_papers.experiment import Experiment, Findings, Found, Picture, Setting, Table
from kernelpca_papers.mika_analysis import shapes
from kernelpca_papers.mika_analysis.methods import squared_distance
from kernelpca_papers.mika_analysis.principal_curves import circle, first_component
from kernelpca_papers.mika_analysis.shapes import BEST, CURVE, KERNEL, LINEAR, NOISY

NOISE = 0.1
ROUND = f"{CURVE}, from a circle"
METHODS = (NOISY, LINEAR, KERNEL, CURVE, ROUND)
NAMES = (NOISY, LINEAR, KERNEL, CURVE, ROUND, ROUND + BEST)
SOURCE = "section 3.1, figure 1"
NEAR = np.pi / 16  # of a diagonal or an axis
SQUARE = 1.296  # what `corners` gives for the square itself


def run(seed: int, tuning: bool, points: int) -> dict[str, np.ndarray]:
    """Denoise one sample by every method and setting."""
    X, clean = square(points, NOISE, np.random.default_rng([seed, 2]))
    answers = shapes.all_answers(X, {CURVE: first_component(X), ROUND: circle(X)})
    found = {}
    for name in METHODS:
        found[f"off, {name}"] = squared_distance(answers[name], onto_square(answers[name]))
        found[f"apart, {name}"] = squared_distance(answers[name], clean)
        found[f"corners, {name}"] = np.array([corners(points) for points in answers[name]])
        if not seed:
            found[f"answers, {name}"] = answers[name]
    ends = answers[f"curve, {CURVE}"]
    found[f"gap, {CURVE}"] = np.linalg.norm(ends[:, 0] - ends[:, -1], axis=1)
    return found


def onto_square(X: np.ndarray) -> np.ndarray:
    """(..., 2) -> (..., 2): the nearest point of the sides of the square from -1 to 1."""
    inner = np.clip(X, -1, 1)
    axis = np.abs(inner).argmax(axis=-1)[..., None] == np.arange(2)
    return np.where(axis, np.where(inner < 0, -1.0, 1.0), inner)


def corners(X: np.ndarray) -> float:
    """(n, 2) -> mean distance from the middle near the diagonals over that near the axes: 1 for a circle."""
    radius = np.linalg.norm(X, axis=1)
    turn = np.abs(np.mod(np.arctan2(X[:, 1], X[:, 0]), np.pi / 2) - np.pi / 4)  # 0 on diagonals, pi/4 on axes
    near, far = radius[turn < NEAR], radius[turn > np.pi / 4 - NEAR]
    return float(near.mean() / far.mean()) if len(near) and len(far) else np.nan


def conclude(found: Found) -> Findings:
    """Compare the methods, and draw the lower part of figure 1."""
    off, shape = (shapes.measured(found, NAMES, what) for what in ("off", "corners"))
    gap = found(f"gap, {CURVE}", tuning=False)[:, shapes.SPANS.index(shapes.SPAN)]
    table = Table(
        f"Mean squared distance over {len(off[KERNEL])} samples of a square",
        ["method", "setting", "from the square", "from the point without noise", "corners"],
        [[*row, "" if row[0] == LINEAR else shapes.spread(shape[str(row[0])])] for row in shapes.rows(found, NAMES)],
        "Mean and standard deviation over samples. The figure prints no numbers. Corners: mean distance from the "
        f"middle near the diagonals over that near the axes, {SQUARE} for the square and 1 for a circle. "
        "Kernel PCA and the best span are those that are best on other samples.",
    )
    rivals = (LINEAR, CURVE, ROUND)
    claims = [
        shapes.quotient(
            f"Kernel PCA is better than {name}: its mean squared distance from the square over the other's",
            SOURCE,
            off[KERNEL],
            off[name],
        )
        for name in rivals
    ]
    claims += [
        shapes.quotient(
            f"Linear PCA is worst: the mean squared distance of {name} over linear PCA's",
            SOURCE,
            off[name],
            off[LINEAR],
        )
        for name in (CURVE, ROUND)
    ]
    claims.append(
        shapes.quotient(
            "Kernel PCA is best also where the curve from a circle has its best span: mean squared distance from the "
            "square over the curve's",
            SOURCE,
            off[KERNEL],
            off[ROUND + BEST],
            expected="differ",
            evidence="Hastie and Stuetzle's span of 0.3 cuts the corners; with spans of 0.1 to 0.15, chosen on other "
            "samples as kernel PCA's setting is, the closed curve is nearer to the square than kernel PCA with the "
            "best of 54 settings (0.00095 against 0.0010, 50 samples). It knows that the curve is closed; kernel "
            "PCA does not.",
        )
    )
    claims.append(
        Claim(
            "The standard principal curve is open: the median distance of its two ends is at least the noise",
            SOURCE,
            NOISE,
            float(np.median(gap)),
            "at least",
        )
    )
    claims.append(
        Claim(
            "The principal curve from a circle is rounder than kernel PCA's answers: its corners over kernel PCA's",
            SOURCE,
            1.0,
            float(shape[ROUND].mean() / shape[KERNEL].mean()),
            "at most",
        )
    )
    picture = Picture(
        "square",
        shapes.draw(found, NAMES, outline(), 6.4),
        "Figure 1 shows a noisy square and its points denoised by kernel PCA, linear PCA and principal curves, one of "
        "them started from a circle; the text calls kernel PCA best, the standard curve open, the other one too round.",
        "With a span of 0.3 the same: the curve that starts from the first principal component, a diagonal, is open "
        "and folds back through the middle, and the one from a circle has round corners. With a span of 0.1 its "
        "corners are as good as kernel PCA's.",
    )
    return Findings(claims, [table], [picture], [NOTE])


NOTE = (
    "Kernel PCA leaves gaps between its answers where data are few (the lower left corner of the drawn sample): with a "
    "narrow kernel its answers gather where training points do. Linear PCA with one component is no null model of "
    "interest here; the noisy points themselves are, and the usual principal curves are hardly better than they."
)


def outline() -> np.ndarray:
    """-> (5, 2): the square."""
    return np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]], float)


EXPERIMENT = Experiment(
    name="mika-analysis/square",
    title="A noisy square, denoised",
    source="figure 1, lower part",
    settings=(
        Setting("noise", f"normal across the side, deviation {NOISE}", "printed: across the side; size not printed"),
        *shapes.SETTINGS,
    ),
    null="The noisy points themselves stand beside the methods, and linear PCA.",
    sizes={
        "full": {"repetitions": 50, "tuning": 10},
        "quick": {"repetitions": 4, "tuning": 3},
        "tiny": {"repetitions": 2, "tuning": 1, "points": 120},
    },
    pieces=shapes.pieces,
    run=run,
    conclude=conclude,
    seconds={"full": 68, "quick": 10},
)
