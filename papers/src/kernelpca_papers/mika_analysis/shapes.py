"""Points about a curve in the plane, denoised by kernel PCA, linear PCA and principal curves, settings chosen apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kernelpca_papers.claims import Claim
from kernelpca_papers.drawing import COLORS, legend_below, new_figure
from kernelpca_papers.experiment import Found, Setting
from kernelpca_papers.mika_analysis.methods import by_kernel_pca, by_pca
from kernelpca_papers.mika_analysis.principal_curves import Curve, fit_curve

COUNTS = (2, 3, 4, 6, 8, 12, 16, 24, 32)  # components of kernel PCA that are tried
WIDTHS = (0.06, 0.12, 0.25, 0.5, 1.0, 2.0)  # c of its kernel
SPANS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.5)  # of the smoother of principal curves
SPAN = 0.3  # that Hastie and Stuetzle end with
BEST = ", best span"  # after a principal curve's name
KERNEL, LINEAR, NOISY, CURVE = "kernel PCA", "linear PCA", "noisy points", "principal curve"
POINTS = 300
TUNING = 1000  # seeds from here on choose settings, the others measure


def all_answers(X: np.ndarray, starts: Mapping[str, Curve]) -> dict[str, np.ndarray]:
    """(n, 2) -> every method's answers, (settings, n, 2) each; curves as well, (settings, vertices, 2)."""
    answers = {NOISY: X[None], LINEAR: by_pca(X, X, (1,))}
    answers[KERNEL] = np.concatenate([by_kernel_pca(X, X, c, COUNTS) for c in WIDTHS])
    for name, start in starts.items():
        curves = [fit_curve(X, start, span) for span in SPANS]
        answers[name] = np.array([curve.project(X)[0] for curve in curves])
        answers[f"curve, {name}"] = np.array([curve.vertices for curve in curves])
    return answers


def bare(name: str) -> str:
    """Return a method's name without what is said of its setting."""
    return name.removesuffix(BEST)


def setting(name: str, which: int) -> str:
    """Say which setting of a method this is."""
    if name == KERNEL:
        return f"{COUNTS[which % len(COUNTS)]} components, c = {WIDTHS[which // len(COUNTS)]:g}"
    if name in (LINEAR, NOISY):
        return "1 component" if name == LINEAR else ""
    return f"span {SPANS[which]:g}"


def chosen(found: Found, names: Sequence[str]) -> dict[str, int]:
    """Return the setting of each method: the usual span of curves, of others and of the "best span" the best.

    The best has the least mean squared distance from the points without noise in the tuning repetitions.
    """
    best = {name: int(found(f"apart, {bare(name)}", tuning=True).mean(axis=0).argmin()) for name in names}
    usual = [name for name in names if name.startswith(CURVE) and not name.endswith(BEST)]
    return {name: SPANS.index(SPAN) if name in usual else best[name] for name in names}


def measured(found: Found, names: Sequence[str], what: str) -> dict[str, np.ndarray]:
    """-> (repetitions,) by method: one measure, with the chosen settings, in the other repetitions."""
    which = chosen(found, names)
    return {name: found(f"{what}, {bare(name)}", tuning=False)[:, which[name]] for name in names}


def pieces(repetitions: int, tuning: int, points: int = POINTS) -> list[dict[str, Any]]:
    """Repetitions that choose settings, and repetitions that measure; the first of these is drawn."""
    seeds = [(TUNING + seed, True) for seed in range(tuning)] + [(seed, False) for seed in range(repetitions)]
    return [{"seed": seed, "tuning": tunes, "points": points} for seed, tunes in seeds]


def rows(found: Found, names: Sequence[str]) -> list[list[str | float]]:
    """One row for each method: setting, and both errors with their spread over repetitions."""
    which = chosen(found, names)
    off, apart = measured(found, names, "off"), measured(found, names, "apart")
    return [[name, setting(name, which[name]), spread(off[name]), spread(apart[name])] for name in names]


def spread(values: np.ndarray) -> str:
    """Say mean and standard deviation."""
    return f"{values.mean():.2g} ± {values.std():.1g}"


def quotient(statement: str, source: str, better: np.ndarray, worse: np.ndarray, **options: Any) -> Claim:
    """One method's error over another's, means over repetitions, is at most one."""
    error = float(np.std(better / worse.mean(), ddof=1) / np.sqrt(len(better))) if len(better) > 1 else None
    return Claim(statement, source, 1.0, float(better.mean() / worse.mean()), "at most", error=error, **options)


def draw(found: Found, names: Sequence[str], outline: np.ndarray, height: float) -> Any:
    """Draw the first repetition: noisy points, the true curve, and each method's answers."""
    which = chosen(found, names)
    columns = (len(names) + 1) // 2
    figure, axes = new_figure(2, columns, 3.1 * columns, height, sharex=True, sharey=True)
    noisy = found.one(f"answers, {NOISY}", tuning=False)[0]
    for axis, name in zip(axes.flat, names, strict=False):
        answers = found.one(f"answers, {bare(name)}", tuning=False)[which[name]]
        axis.plot(*noisy.T, ".", color=COLORS[7], markersize=2, label="noisy points")
        axis.plot(*outline.T, color=COLORS[6], linewidth=0.8, label="without noise")
        if name != NOISY:
            axis.plot(*answers.T, "o", color=COLORS[1], markersize=2.5, label="denoised")
        axis.set(title=f"{name}\n{setting(name, which[name])}", aspect="equal", xlim=(-1.45, 1.45))
    for axis in axes.flat[len(names) :]:
        axis.set_visible(False)
    for axis in axes[-1]:
        axis.set_xlabel("x")
    for line in axes:
        line[0].set_ylabel("y")
    legend_below(figure, axes.flat[1])
    return figure


SETTINGS = (
    Setting("points", f"{POINTS}", "not printed, chosen so that the shape is well covered"),
    Setting("linear PCA", "1 component", "not printed, the only number that leaves something out in the plane"),
    Setting(
        "kernel PCA",
        f"exp(-|x - y|^2 / c) with c of {', '.join(map(str, WIDTHS))}, {', '.join(map(str, COUNTS))} components; fixed "
        "point from the noisy point",
        "not printed, chosen as the best on samples that are not measured",
    ),
    Setting(
        "principal curves",
        f"Hastie and Stuetzle's algorithm, local straight lines with tricube weights, span {SPAN}; at most 50 rounds, "
        "until the mean squared distance changes by less than 0.001 of it",
        "not printed, the span that Hastie and Stuetzle end with",
    ),
    Setting(
        "principal curves, best span",
        f"the same, span of {', '.join(map(str, SPANS))}",
        "not printed, chosen as the best on samples that are not measured",
    ),
    Setting(
        "samples",
        "50, and 10 to choose settings; quick 4 and 3",
        "printed: one; chosen so that orderings have a spread",
    ),
)
