"""What follows from the eleven Gaussians: table 1 beside ours, readings of what the text leaves open, and claims."""

from __future__ import annotations

import numpy as np

from kernelpca_papers.claims import Claim
from kernelpca_papers.drawing import COLORS, legend_below, look, new_figure
from kernelpca_papers.experiment import Findings, Found, Picture, Table
from kernelpca_papers.mika_analysis.table_one import (
    MAIN,
    NINE_TENTHS,
    PRINTED,
    RANDOM,
    SHOWN,
    SIGMAS,
    WIDE,
    apart,
    inside,
    ratios,
)

LINEAR, KERNEL = "linear PCA", "kernel PCA"
NULLS = {"noisy": "test point itself", "mean": "training mean", "nearest": "nearest training point"}
SOURCE = "table 1"
FAR = 10.0  # an order of magnitude is taken for "far" and "extreme"
INSIDE = 0.8  # of the figures would lie in a range of 10 to 90%, had they been made alike


def conclude(found: Found) -> Findings:
    """Put both printed tables beside ours, and say which reading is nearest to each."""
    ours = {reading: ratios(found, reading) for reading in found.options("reading")}
    near = {reading: apart(np.median(values, axis=0)) for reading, values in ours.items()}
    tables = [ratio_table(ours[MAIN]), reading_table(near), best_table(found)]
    return Findings(claims(found, ours), tables, [draw(ours)], [note(near), *NOTES])


def ratio_table(values: np.ndarray) -> Table:
    """Table 1: ours, with its spread, over both printed ones."""
    low, high = np.percentile(values, NINE_TENTHS, axis=0)
    lines = {
        "ours, median": np.median(values, axis=0),
        "ours, 10%": low,
        "ours, 90%": high,
        "ours, geometric mean": np.exp(np.log(values).mean(axis=0)),
        "printed (a)": PRINTED["a"],
        "printed (b), original": PRINTED["b"],
    }
    return Table(
        f"Linear PCA's mean squared distance from the centers over kernel PCA's, {len(values)} draws of the centers",
        ["sigma", "", *(f"n = {n}" for n in range(1, SHOWN + 1))],
        [
            [f"{sigma:g}", name, *(f"{value:.2f}" for value in cells[i])]
            for i, sigma in enumerate(SIGMAS)
            for name, cells in lines.items()
        ],
        "c = 20 sigma^2, the mean of the mapped data kept, from the test point. The printed figures are of one draw.",
    )


def reading_table(near: dict[str, dict[str, np.ndarray]]) -> Table:
    """How far each reading is from the printed tables, row by row."""
    columns = [f"({key}) {name}" for key in PRINTED for name in ("all", *(f"{sigma:g}" for sigma in SIGMAS))]
    rows: list[list[str | float]] = []
    for reading, distance in near.items():
        cells = [value for key in PRINTED for value in (distance[key].mean(), *distance[key])]
        rows.append([reading, *(f"{np.exp(cell):.2f}" for cell in cells)])
    return Table(
        "Readings of what the text leaves open: by which factor the medians are off the printed figures",
        ["sigma is, c / sigma^2, expansion", *columns],
        rows,
        'Geometric means of factors over n = 1 to 9, for all sigmas and for each; 1 would be equal. c of "2 var" is '
        'twice the variance of a coordinate of the data. "No restart": the mean left out, and points that are lost '
        "stay where they are.",
    )


def best_table(found: Found) -> Table:
    """Each method at its own best number of components, beside the null models."""
    rows: list[list[str | float]] = []
    for i, sigma in enumerate(SIGMAS):
        linear, kernel, lost = (
            np.median(found(name, reading=reading)[:, i], axis=0)
            for name, reading in (("linear", MAIN), ("kernel", MAIN), ("kernel", RANDOM))
        )
        nulls = [np.median(found(name, reading=MAIN)[:, i]) for name in NULLS]
        best = [f"{errors.min():.3g} (n = {errors.argmin() + 1})" for errors in (linear, kernel, lost)]
        rows.append([f"{sigma:g}", *best, *(f"{null:.3g}" for null in nulls), f"{linear.min() / kernel.min():.2f}"])
    return Table(
        "Each method at its own best n from 1 to 10, as section 4 asks: mean squared distance from the centers",
        ["sigma", LINEAR, KERNEL, f"{KERNEL}, random start", *NULLS.values(), "linear over kernel"],
        rows,
        "Medians over draws of the centers; nothing of this is printed.",
    )


def claims(found: Found, ours: dict[str, np.ndarray]) -> list[Claim]:
    """What the text and both tables say."""
    middle = np.median(ours[MAIN], axis=0)
    better = {key: int((printed > 1).sum()) for key, printed in PRINTED.items()}
    worse = np.median(found("kernel", reading=RANDOM) / found("kernel", reading=MAIN), axis=0)[:2, :SHOWN]
    missed = np.median(found("uncovered", reading=MAIN) / found("kernel", reading=MAIN), axis=0)[0, :SHOWN]
    smallest = {key: printed[0].min() for key, printed in PRINTED.items()}
    return [
        Claim(
            "Kernel PCA is better for almost all sigma and n: the part of the 45 cells with a median ratio above 1",
            "section 3.1",
            min(better.values()) / middle.size,
            float((middle > 1).mean()),
            "at least",
            printed=f"(a) {better['a']} of 45, (b) {better['b']} of 45",
        ),
        Claim(
            "Extreme superiority for small sigma: the least median ratio at sigma = 0.05 (10 is taken for extreme)",
            "section 3.1",
            FAR,
            float(middle[0].min()),
            "at least",
            printed=f"(a) {smallest['a']:.2f}, (b) {smallest['b']:.2f}",
        ),
        Claim(
            "Linear PCA cannot cover 11 centers with fewer than 10 components, kernel PCA can: squared distance of the "
            "centers themselves from linear PCA's components over kernel PCA's whole error, least median for n of 1 to "
            "9 at sigma = 0.05",
            "section 3.1",
            1.0,
            float(missed.min()),
            "at least",
        ),
        Claim(
            "A random start is far worse: its error over that from the test point, least median for sigma of 0.05 and "
            "0.1 (10 is taken for far)",
            "section 3.1",
            FAR,
            float(worse.min()),
            "at least",
        ),
        Claim(
            "At sigma = 0.05 the ratio falls from n = 3 on: the largest quotient of neighbors",
            SOURCE,
            1.0,
            float((middle[0, 3:] / middle[0, 2:-1]).max()),
            "at most",
            printed="(a) 0.88, (b) 0.88",
        ),
        Claim(
            "At sigma = 0.8 the ratio rises from n = 1 to 5: the least quotient of neighbors",
            SOURCE,
            1.0,
            float((middle[4, 1:5] / middle[4, :4]).min()),
            "at least",
            printed="(a) 1.19, (b) 1.06",
        ),
        Claim(
            "The ratio at sigma = 0.05 is above that at 0.2, for every n: the least quotient",
            SOURCE,
            1.0,
            float((middle[0] / middle[2]).min()),
            "at least",
            printed="(a) 13.2, (b) 14.6",
        ),
        Claim(
            "Original paper: at sigma = 0.05 the ratio falls from n = 1 to 3",
            "table 1 (b)",
            1.0,
            float(middle[0, 2] / middle[0, 0]),
            "at most",
            printed="0.41",
        ),
        Claim(
            "Analysis: at sigma = 0.05 the ratio rises from n = 1 to 3",
            "table 1 (a)",
            1.0,
            float(middle[0, 2] / middle[0, 0]),
            "at least",
            printed="3.66",
            expected="differ",
            evidence="With the mean of the mapped data kept, kernel PCA stays at the right center with one component "
            "already, for every width tried (ratios of 560 to 9000), while linear PCA's error falls with n. The ratio "
            "rises as printed only with the mean left out, as the text's formulas have it, and a wide kernel: 250, "
            "1934 and 1273 for n = 1, 2 and 3 with c = 0.5 (two draws), where some centers have next to no weight in "
            "one component. So did the printed figures come about, it seems.",
        ),
        share_inside(ours[MAIN], "a", MAIN),
        share_inside(ours[WIDE], "b", WIDE),
    ]


def share_inside(values: np.ndarray, key: str, reading: str) -> Claim:
    """Whether the printed figures look like one more draw of ours."""
    return Claim(
        f"The figures of table 1 ({key}) could be one more draw of ours ({reading}): the part of the 45 cells that lie "
        "between our 10% and 90%",
        f"table 1 ({key})",
        INSIDE,
        inside(values, key),
        "at least",
        printed="one draw of the centers",
        expected="differ",
        evidence=EVIDENCE[key],
    )


EVIDENCE = {
    "a": "About two fifths of the cells do, with the nearest of twelve readings. Those of sigma = 0.05 and 0.1 do not "
    "for n up to 3 (ours are 2 to 17 times larger, see the claim on the rise), nor those of sigma = 0.8 from n = 6 "
    "on, where the printed ratio falls and that of every reading rises. Sigma as a variance, five widths, the mean "
    "left out and restarts were tried: the table of readings says how far each is off, row by row.",
    "b": "About a fifth of the cells do, though medians of rows 0.2 and 0.4 are within a factor of 1.3: over draws of "
    "the centers ratios at large sigma vary by a few percent only, so that the width would have to be known to a "
    "tenth. No width gives row 0.05 (ours are three times larger: kernel PCA is here as good as the mean of the "
    "training points of the center) together with row 0.1.",
}


def draw(ours: dict[str, np.ndarray]) -> Picture:
    """Ratios against the number of components, a panel for each sigma."""
    figure, axes = new_figure(2, 3, 9.5, 5.6, sharex=True)
    n = np.arange(1, SHOWN + 1)
    for i, (axis, sigma) in enumerate(zip(axes.flat, SIGMAS, strict=False)):
        for k, (reading, name) in enumerate(((MAIN, r"ours, c = 20 $\sigma^2$"), (WIDE, r"ours, c = 100 $\sigma^2$"))):
            values = ours[reading][:, i]
            axis.fill_between(n, *np.percentile(values, NINE_TENTHS, axis=0), color=COLORS[k], alpha=0.2)
            axis.plot(n, np.median(values, axis=0), label=f"{name}: median, 10 to 90%", **look(k))
        axis.plot(n, np.median(ours[RANDOM][:, i], axis=0), label="ours, random start", **look(2))
        axis.plot(n, PRINTED["a"][i], label="printed (a)", **{**look(6), "linestyle": "--"})
        axis.plot(n, PRINTED["b"][i], label="printed (b), original", **{**look(7), "linestyle": "--"})
        axis.axhline(1, color=COLORS[6], linewidth=0.6)
        axis.set(title=rf"$\sigma$ = {sigma:g}", yscale="log", xticks=n)
    axes.flat[-1].set_visible(False)
    for axis in (axes[0, 2], axes[1, 0], axes[1, 1]):
        axis.set_xlabel("components n")
        axis.tick_params(labelbottom=True)
    for line in axes:
        line[0].set_ylabel("linear PCA's error over\nkernel PCA's")
    legend_below(figure, axes[0, 0], columns=3)
    return Picture(
        "ratios",
        figure,
        "Table 1 gives these ratios for one draw of the centers, (a) of the analysis, (b) of the original paper.",
        "With c = 20 sigma^2 ours follow (a) from n = 3 on for sigma of 0.05 and 0.1 and (b) for 0.8; with c = 100 "
        "sigma^2 they follow (b) for 0.2 and 0.4. At sigma = 0.2 the spread over draws of the centers is largest: a "
        "single draw says little there. A random start loses by orders of magnitude where sigma is small, and nothing "
        "at 0.8, where there is one basin.",
    )


def note(near: dict[str, dict[str, np.ndarray]]) -> str:
    """Say which reading is nearest to each table."""
    parts = []
    for key in PRINTED:
        best = min(near, key=lambda reading: near[reading][key].mean())
        parts.append(f'table 1 ({key}) is "{best}", off by a factor of {np.exp(near[best][key].mean()):.2f}')
    return f"Nearest to {'; nearest to '.join(parts)} (geometric mean over cells, medians over draws)."


NOTES = (
    "What the text leaves open. Sigma: as a variance it cannot be meant for small sigma: even the mean of the 100 "
    "training points of a center is off by a tenth of the variance (squared, ten coordinates together), so that with "
    "a variance of 0.05 linear PCA's error of about 2 over kernel PCA's is at most some 400, where up to 1816 and "
    "2058 are printed. Rows 0.2 to 0.8 of (b) alone would fit a variance well (within a tenth, c = 20 sigma^2). "
    "Width: no single factor c / sigma^2 gives all rows of either table. Centering: without the mean of the mapped "
    "data kernel PCA's error is larger in nine of ten cells; at sigma = 0.8 its ratio then falls below 1 for few "
    "components, as in (a). Restarts: they decide what happens at sigma from 0.2 on with few components and nothing "
    "at 0.05 and 0.1.",
    "At its own best n, as section 4 asks, kernel PCA is better for every sigma; with small sigma its error, a tenth "
    "of sigma^2, is that of the mean of the center's training points. Beyond the table, with n = 10, kernel PCA comes "
    "near to that also at sigma = 0.2. The nearest training point has 0.7 to 0.9 of the error of the test point "
    "itself.",
)
