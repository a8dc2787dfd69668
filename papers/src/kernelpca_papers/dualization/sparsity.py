"""What sparsity costs: both epsilon-insensitive objectives and two competitors, table 8."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from kernelpca_papers.claims import NORMAL, Claim
from kernelpca_papers.drawing import draw_curves, legend_below, look, new_figure
from kernelpca_papers.dualization.sparse_problem import (
    COMPETITORS,
    FEW_ROWS,
    INPUTS,
    MEASURES,
    ROWS,
    SETTINGS,
    VARIANCE,
    SparseProblem,
)
from kernelpca_papers.experiment import Experiment, Findings, Found, Picture, Setting, Table

LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5)
PRINTED = {
    "l2": (1.04675, 1.06966, 1.08153, 1.09440, 1.10164),
    "linf": (1.01685, 1.03824, 1.04247, 1.06308, 1.08127),
    "SKPCA": (1.19053, 1.67440, 1.83307, 2.30358, 2.75248),
    "SSKPCA": (1.17019, 1.18649, 1.18794, 1.20480, 1.22205),
}
OBJECTIVES = ("l2", "linf")
NULLS = ("rows dropped", "entries dropped")
TITLES = {
    "l2": "l2-epsilon (zero rows)",
    "linf": "linf-epsilon (zero entries)",
    "SKPCA": "elastic nets (for SKPCA)",
    "SSKPCA": "sequential elastic nets (for SSKPCA)",
    "rows dropped": "square, shortest rows dropped",
    "entries dropped": "square, smallest entries dropped",
}
COMPONENTS = 5


def pieces(seeds: int, competitor_seeds: int, rows: int = ROWS, levels: int = len(LEVELS)) -> list[dict[str, Any]]:
    """One method on one set of rows each."""
    own = [{"method": method, "seed": seed} for seed in range(seeds) for method in (*OBJECTIVES, *NULLS)]
    own += [{"method": method, "seed": seed} for seed in range(competitor_seeds) for method in COMPETITORS]
    return [{**piece, "rows": rows, "levels": levels} for piece in own]


def run(method: str, seed: int, rows: int, levels: int) -> dict[str, np.ndarray]:
    """Return ratios (levels, measures) and the parts of zero rows and entries (levels, 2)."""
    problem = SparseProblem(seed, COMPONENTS, rows)
    methods: dict[str, Callable[[float], np.ndarray]] = {
        "l2": problem.without_rows,
        "linf": problem.without_entries,
        "rows dropped": problem.shortest_rows_dropped,
        "entries dropped": problem.smallest_entries_dropped,
        **{name: partial(problem.competitor, name) for name in COMPETITORS},
    }
    duals = [methods[method](level) for level in LEVELS[:levels]]
    zeros = [(1 - H.any(axis=1).mean(), (H == 0).mean()) for H in duals]
    return {"ratios": np.array([problem.ratios(H) for H in duals]), "zeros": np.array(zeros)}


def conclude(found: Found) -> Findings:
    """Compare with table 8, in the paper's measure and in feature space."""
    ratios = {method: found("ratios", method=method) for method in TITLES}
    inputs = {method: values[:, :, 0] for method, values in ratios.items()}
    claims = [claim for method in OBJECTIVES for claim in columns(method, inputs[method])]
    claims += list(orders(inputs, INPUTS))
    claims += list(orders({method: values[:, :, 1] for method, values in ratios.items()}, VARIANCE))
    claims += [competitor(method, inputs[method]) for method in COMPETITORS]
    return Findings(claims, [tabulate(ratios, found)], [draw(ratios)], NOTES)


def columns(method: str, ratios: np.ndarray) -> Iterator[Claim]:
    """(seeds, levels) -> the printed ratios of an objective beside ours, and that they grow."""
    n = len(ratios)
    deviations = ratios.std(axis=0, ddof=1) if n > 1 else np.zeros(ratios.shape[1])
    for level, mean, deviation, printed in zip(LEVELS, ratios.mean(axis=0), deviations, PRINTED[method], strict=False):
        yield Claim(
            f"Reconstruction error ratio of {TITLES[method]} at {level:.0%} sparsity, {INPUTS}",
            "table 8",
            printed,
            float(mean),
            tolerance=float(NORMAL * deviation * np.sqrt(1 + 1 / n)),
            reason="three standard errors of the difference between one set of rows and the mean of ours",
            printed=f"{printed:.5f}",
            error=float(deviation / np.sqrt(n)),
            expected="pass" if method == "l2" else "differ",
            evidence="" if method == "l2" else LOWER,
        )
    yield Claim(
        f"The ratio of {TITLES[method]} grows with sparsity: least step, {INPUTS}",
        "table 8",
        0.0,
        float(np.diff(ratios.mean(axis=0)).min(initial=np.inf)),
        "at least",
        printed=f"{np.diff(PRINTED[method]).min():.4f}",
    )


def orders(ratios: dict[str, np.ndarray], measure: str) -> Iterator[Claim]:
    """linf is better than l2, and both are better than the competitors."""
    means = {method: values.mean(axis=0) for method, values in ratios.items()}
    yield Claim(
        f"linf-epsilon costs less than l2-epsilon: largest difference of ratios over levels, {measure}",
        "table 8",
        0.0,
        float((means["linf"] - means["l2"]).max()),
        "at most",
        printed=f"{np.subtract(PRINTED['linf'], PRINTED['l2']).max():.4f}",
    )
    for method in OBJECTIVES:
        worst = max(float((means[method] - means[other]).max()) for other in COMPETITORS)
        yield Claim(
            f"{TITLES[method]} costs less than both competitors: largest difference of ratios over levels, {measure}",
            "table 8",
            0.0,
            worst,
            "at most",
            printed=f"{max(np.subtract(PRINTED[method], PRINTED[other]).max() for other in COMPETITORS):.4f}",
            expected="differ",
            evidence=OTHERS,
        )


def competitor(method: str, ratios: np.ndarray) -> Claim:
    """(seeds, levels) -> the largest printed ratio of a competitor beside ours."""
    last = ratios.shape[1] - 1
    return Claim(
        f"Reconstruction error ratio of {TITLES[method]} at {LEVELS[last]:.0%} sparsity, {INPUTS}",
        "table 8",
        PRINTED[method][last],
        float(ratios[:, last].mean()),
        tolerance=5e-6,
        reason="rounding of the printed figure",
        printed=f"{PRINTED[method][last]:.5f}",
        expected="differ",
        evidence=OTHERS,
    )


def tabulate(ratios: dict[str, np.ndarray], found: Found) -> Table:
    """Ratios by measure and method, printed and ours."""
    rows: list[list[str | float]] = []
    levels = ratios["l2"].shape[1]
    for i, measure in enumerate(MEASURES):
        for method, title in TITLES.items():
            if i == 0 and method in PRINTED:
                rows.append(["printed", title, "", *(f"{ratio:.3f}" for ratio in PRINTED[method][:levels]), ""])
            values = ratios[method][:, :, i]
            digits = 3 if measure == INPUTS else 4
            means, zeros = values.mean(axis=0), found("zeros", method=method)[:, -1].mean(axis=0)
            cells = [f"{mean:.{digits}f}" for mean in means]
            rows.append([measure, title, str(len(values)), *cells, f"{zeros[0]:.0%} / {zeros[1]:.0%}"])
    return Table(
        "Error over that of the square objective, mean over seeds",
        ["measure", "method", "seeds", *(f"{level:.0%}" for level in LEVELS[:levels]), "zero rows / entries at last"],
        rows,
        "Sparsity is the part of zero rows for l2 and 'shortest rows dropped', of zero entries or coefficients for the "
        "others. Where a measure needs a dual variable, columns of the competitors are as long as the square "
        "solution's would be.",
    )


def draw(ratios: dict[str, np.ndarray]) -> Picture:
    """Ratios against sparsity, in both measures."""
    figure, axes = new_figure(1, 2, 9.5, 4.2)
    levels = 100 * np.array(LEVELS[: ratios["l2"].shape[1]])
    for i, (axis, measure) in enumerate(zip(axes, MEASURES, strict=True)):
        draw_curves(axis, list(levels), {title: ratios[method][:, :, i] for method, title in TITLES.items()})
        axis.set(title=measure, xlabel="zeros (%)", xticks=levels)
    for j, method in enumerate(OBJECTIVES):
        style = {**look(j), "linestyle": "--", "markerfacecolor": "white"}
        axes[0].plot(levels, PRINTED[method][: len(levels)], label=f"{method}-epsilon, printed", **style)
    axes[0].set_ylabel("error / that of the square objective")
    legend_below(figure, axes[0], columns=3)
    return Picture(
        "ratios",
        figure,
        "Table 8: linf-epsilon costs least, then l2-epsilon; SSKPCA (1.17 to 1.22) and SKPCA (1.19 to 2.75) cost more.",
        "Our epsilon-insensitive objectives lie near the printed ratios in this reading; our elastic nets, which are "
        "other algorithms than the cited ones, cost less than both.",
    )


LOWER = (
    "Over 10 sets of rows ours are 0.008 to 0.019 lower than the printed ratios, more than sets of rows differ; with "
    "3 sets the spread is known so badly that 40 and 50% may pass. The start is not the reason: random ones with "
    "plain steps, as in the paper, give 1.022 to 1.027 at 21 to 22% zeros, where 1.038 is printed at 20%, and 1.032 "
    "to 1.039 at 30% (two sets of rows, two starts each). Width, measure and s are readings, not printed."
)
OTHERS = (
    "Our elastic nets stand for SKPCA and SSKPCA and are not the same algorithms, which could not be established "
    "from what the paper says of them. They choose coefficients for the directions themselves, which are then made "
    "orthonormal, and cost 1.001 to 1.016 (inputs from G H) and at most 1.0013 (variance left) at 10 to 50% zeros, "
    "over 5 seeds; the epsilon-insensitive objectives cost 1.009 to 1.109, and up to 1.0034, over 10."
)
NOTES = (
    "No new objective is needed for these zeros: the square solution with its shortest rows set to zero costs 1.003 to "
    "1.028 where l2-epsilon costs 1.05 to 1.11, and with its smallest entries set to zero at most 1.012 where "
    "linf-epsilon costs up to 1.063; in feature space dropping costs less as well.",
    "Width, measure and number of components are not printed: of seven measures and 24 settings the one used here is "
    "nearest to table 8, and the best of so many is near by selection too.",
    "In feature space nothing of this matters: five components leave 92% of the variance whatever is done, and all "
    "methods are within 0.4% of the square objective at half of the rows or entries.",
)

EXPERIMENT = Experiment(
    name="dualization/sparsity",
    title="What sparse dual variables cost",
    source="table 8",
    settings=(
        *SETTINGS,
        Setting("components s", str(COMPONENTS), "not printed, chosen as the nearest to table 8 of 5, 10 and 15"),
        Setting("sparsity", "10 to 50%", "printed, table 8"),
        Setting("seeds", "10, competitors 5; quick 3 and 1", "not printed, chosen to give the spread"),
        Setting(
            "competitors",
            "penalty by search for the wanted part of zeros, ridge 0.1",
            "partly printed: the search, B.2; the ridge is our default",
        ),
    ),
    null="The square solution with its shortest rows, or smallest entries, set to zero stands beside the methods.",
    sizes={
        "full": {"seeds": 10, "competitor_seeds": 5},
        "quick": {"seeds": 3, "competitor_seeds": 1},
        "tiny": {"seeds": 1, "competitor_seeds": 1, "rows": FEW_ROWS, "levels": 2},
    },
    pieces=pieces,
    run=run,
    conclude=conclude,
    seconds={"full": 75, "quick": 18},
)
