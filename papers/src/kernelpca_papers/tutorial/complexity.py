"""What approximate kernel PCA costs as samples and landmarks become more: section 5.4 as measured curves."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from kernelpca_papers.claims import Claim, Relation
from kernelpca_papers.drawing import draw_curves, new_figure
from kernelpca_papers.experiment import Experiment, Findings, Found, Picture, Setting, Table
from kernelpca_papers.tutorial.timed_stages import (
    COLUMNS,
    CONVERSION,
    DIAGONAL,
    EIGEN,
    MATRIX,
    PROJECTION,
    SCATTER,
    STAGES,
    UNIFORM,
    WIDTH,
    seconds,
)

Q, N = 200, 2000  # the one while the other grows
RATE = 2.0  # times that the speed of one and the same operation may change over the sizes that are measured


def pieces(n: list[int], q: list[int], rows: list[int], exact: list[int], repeats: int) -> list[dict[str, Any]]:
    """Sketches and samplings of n samples, or with q numbers; Nyström of more rows; exact kernel PCA."""
    plan: dict[str, list[tuple[int, int]]] = {
        "sketch": [(m, Q) for m in n] + [(N, p) for p in q],
        "Nyström": [(m, Q) for m in dict.fromkeys([*n, *rows])] + [(rows[0], p) for p in q],
        "sampling": [(m, Q) for m in n],
        "exact": [(m, Q) for m in exact],
    }
    return [{"method": method, "n": m, "q": p, "repeats": repeats} for method, at in plan.items() for m, p in at]


def run(method: str, n: int, q: int, repeats: int) -> dict[str, float]:
    """-> seconds of each stage on one core: the shortest of some repeats, stages taking turns."""
    rng = np.random.default_rng([n, q])
    with threadpool_limits(1):
        stages = STAGES[method](rng.standard_normal((n, WIDTH)), q, rng)
        runs = [{name: seconds(stage) for name, stage in stages.items()} for _ in range(repeats)]
    return {name: min(one[name] for one in runs) for name in stages}


class Curves:
    """Seconds by method, stage and size."""

    def __init__(self, found: Found) -> None:
        self.cells = {
            (piece["method"], piece["n"], piece["q"]): {name: float(v) for name, v in values.items()}
            for piece, values in zip(found.pieces, found.values, strict=True)
        }

    def sizes(self, method: str, over: str) -> list[int]:
        """List n at the usual q, or q at the n that has several."""
        at = [(n, q) for one, n, q in self.cells if one == method]
        return [n for n, q in at if q == Q] if over == "n" else [q for n, q in at if q != Q]

    def curve(self, method: str, stage: str, over: str) -> np.ndarray:
        """Return seconds of a stage, or of all of a method ("total"), for each size."""
        cells = [self.cells[method, n, q] for one, n, q in self.cells if one == method and (q == Q) == (over == "n")]
        stages = [name for name in cells[0] if name not in (UNIFORM, DIAGONAL)] if stage == "total" else [stage]
        return np.array([sum(cell[name] for name in stages) for cell in cells])


def slope_of(sizes: list[int], seconds: np.ndarray) -> float:
    """Return the exponent p of the power law that fits best, seconds = c sizes^p."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def conclude(found: Found) -> Findings:
    """Fit exponents, compare totals, draw curves."""
    curves = Curves(found)
    laws = [law(curves, *given) for given in LAWS]
    small = curves.sizes("sampling", "n")  # where sketch, all samplings and Nyström were measured
    totals = total_seconds(curves, small)
    exact = curves.sizes("exact", "n")
    at = exact[-1]
    stages = {name: curves.curve("sketch", name, "n")[-1] for name in (MATRIX, PROJECTION, EIGEN, CONVERSION)}
    n = small[-1]
    claims = [claim for claim, _ in laws]
    claims += [
        ordering(f"Nyström with {way} sampling costs less than Approx-KPCA", totals[way][-1], totals["sketch"][-1], n)
        for way in (UNIFORM, DIAGONAL, COLUMNS)
    ]
    chosen = {way: totals[f"{way} sampling"][-1] for way in (UNIFORM, DIAGONAL, COLUMNS)}
    claims += [
        ordering("Uniform sampling costs less than diagonal sampling", chosen[UNIFORM], chosen[DIAGONAL], n),
        ordering("Diagonal sampling costs less than column-norm sampling", chosen[DIAGONAL], chosen[COLUMNS], n),
        Claim(
            f"The highest cost of Approx-KPCA is in eigen-decomposition and conversion: the larger of them over the "
            f"larger of kernel matrix and projection (n = {n}, q = {Q})",
            "section 5.4",
            1.0,
            max(stages[EIGEN], stages[CONVERSION]) / max(stages[MATRIX], stages[PROJECTION]),
            "at least",
            expected="differ",
            evidence=PROJECTING,
        ),
    ]
    if at in small:
        whole = curves.curve("exact", "total", "n")[-1]
        text = "The eigenproblem of the whole matrix is what Approx-KPCA spares: its cost over that of exact kernel PCA"
        claims.append(ordering(text, totals["sketch"][small.index(at)], whole, at, "section 5.1 and 5.2"))
    tables = [
        Table("Exponents of measured curves", COLUMN_NAMES, [row for _, row in laws]),
        tabulate(totals, curves, small),
    ]
    return Findings(claims, tables, [draw(curves, totals, small)], NOTES)


def law(
    curves: Curves, method: str, stage: str, over: str, power: float, relation: Relation
) -> tuple[Claim, list[Any]]:
    """A term of the complexity: its exponent, fitted and by theory."""
    sizes = curves.sizes(method, over)
    fitted = slope_of(sizes, curves.curve(method, stage, over))
    span = f"{sizes[0]} to {sizes[-1]}"
    claim = Claim(
        f"Time of {method}, {stage}, grows as {over}^{power:g}: exponent fitted over {over} = {span}",
        "section 5.4",
        power,
        fitted,
        relation,
        log(RATE) / log(sizes[-1] / sizes[0]),
        f"the same operation may run up to {RATE:g} times slower or faster at other sizes (caches, overhead of calls), "
        f"which over a range of {sizes[-1] / sizes[0]:g} is so much of an exponent"
        + (
            "; O(...) is a bound from above, and what hardly grows weighs more at small sizes"
            if relation == "at most"
            else ""
        ),
    )
    return claim, [method, stage, over, span, fitted, power]


def total_seconds(curves: Curves, sizes: list[int]) -> dict[str, np.ndarray]:
    """Return seconds of whole methods, and of samplings, for each n where all were measured."""
    where = [curves.sizes("Nyström", "n").index(n) for n in sizes]
    rest = curves.curve("Nyström", "total", "n")[where]
    chosen = {way: curves.curve("Nyström", way, "n")[where] for way in (UNIFORM, DIAGONAL)}
    chosen[COLUMNS] = curves.curve("sampling", COLUMNS, "n")
    totals = {"sketch": curves.curve("sketch", "total", "n")}
    totals |= {way: rest + seconds for way, seconds in chosen.items()}
    return totals | {f"{way} sampling": seconds for way, seconds in chosen.items()}


def ordering(text: str, less: float, more: float, n: int, source: str = "section 5.4") -> Claim:
    """One time is at most another."""
    return Claim(f"{text}: ratio of times (n = {n}, q = {Q})", source, 1.0, float(less / more), "at most")


def tabulate(totals: dict[str, np.ndarray], curves: Curves, sizes: list[int]) -> Table:
    """Times of whole methods."""
    exact = dict(zip(curves.sizes("exact", "n"), curves.curve("exact", "total", "n"), strict=True))
    rows: list[list[str | float]] = [["exact kernel PCA (null)", *(float(exact.get(n, np.nan)) for n in sizes)]]
    rows += [[name, *map(float, seconds)] for name, seconds in totals.items()]
    names = {"sketch": "Approx-KPCA (g)", UNIFORM: "Nyström (r)", DIAGONAL: "Nyström (d)", COLUMNS: "Nyström (c)"}
    rows = [[names.get(str(row[0]), row[0]), *row[1:]] for row in rows]
    notes = "Seconds of one core, all q pairs. The paper prints no times."
    parts = (MATRIX, PROJECTION, SCATTER, EIGEN, CONVERSION)
    rows += [[f"Approx-KPCA (g): {name}", *map(float, curves.curve("sketch", name, "n"))] for name in parts]
    return Table(f"Times, q = {Q}", ["method", *(f"n = {n}" for n in sizes)], rows, notes)


def draw(curves: Curves, totals: dict[str, np.ndarray], small: list[int]) -> Picture:
    """Totals and samplings against n, stages against q."""
    figure, axes = new_figure(1, 3, 11, 4.2)
    exact = curves.sizes("exact", "n")
    named = {"Approx-KPCA (g)": "sketch", "Nyström (r)": UNIFORM, "Nyström (d)": DIAGONAL, "Nyström (c)": COLUMNS}
    draw_curves(axes[0], small, {name: totals[key] for name, key in named.items()})
    draw_curves(axes[0], exact, {"exact (null)": curves.curve("exact", "total", "n")}, first=6)
    axes[0].set(title=f"whole methods (q = {Q})", xlabel="n", ylabel="seconds of one core")
    stages = {"sketch": (PROJECTION, CONVERSION, EIGEN), "Nyström": (MATRIX, CONVERSION)}
    curved = {f"{m}: {s}": curves.curve(m, s, "q") for m, chosen in stages.items() for s in chosen}
    draw_curves(axes[1], curves.sizes("sketch", "q"), curved)
    rows = next(n for method, n, q in curves.cells if method == "Nyström" and q != Q)
    axes[1].set(title=f"stages (n = {N}; Nyström: {rows})", xlabel="q")
    for i, way in enumerate((UNIFORM, DIAGONAL), 1):
        draw_curves(axes[2], curves.sizes("Nyström", "n"), {way: curves.curve("Nyström", way, "n")}, first=i)
    draw_curves(axes[2], small, {COLUMNS: curves.curve("sampling", COLUMNS, "n")}, first=3)
    axes[2].set(title=f"choice of {Q} landmarks", xlabel="n")
    ticks = (small, curves.sizes("sketch", "q"), curves.sizes("Nyström", "n")[::2])
    for axis, sizes in zip(axes, ticks, strict=True):
        axis.set(xscale="log", yscale="log")
        axis.minorticks_off()
        axis.set_xticks(sizes, [str(size) for size in sizes])
        axis.legend(loc="upper left", fontsize=7)
        low, high = axis.get_ylim()
        axis.set_ylim(low, high * 30)
    return Picture(
        "times",
        figure,
        "No figure: section 5.4 states orders of growth.",
        "Times grow as they say. Nyström costs least, with every sampling; most of what column norms cost is the "
        "kernel matrix, which Approx-KPCA needs as well.",
    )


COLUMN_NAMES = ("method", "stage", "grows with", "sizes", "ours", "theory")
LAWS: tuple[tuple[str, str, str, float, Relation], ...] = (
    ("sketch", MATRIX, "n", 2, "equal to"),
    ("sketch", PROJECTION, "n", 2, "equal to"),
    ("sketch", CONVERSION, "n", 2, "equal to"),
    ("sketch", "total", "n", 2, "at most"),
    ("sketch", PROJECTION, "q", 1, "equal to"),
    ("sketch", CONVERSION, "q", 1, "equal to"),
    ("sketch", EIGEN, "q", 3, "at most"),
    ("Nyström", EIGEN, "q", 3, "at most"),
    ("Nyström", CONVERSION, "q", 2, "equal to"),
    ("Nyström", CONVERSION, "n", 1, "equal to"),
    ("Nyström", UNIFORM, "n", 0, "equal to"),
    ("Nyström", DIAGONAL, "n", 1, "at most"),
    ("sampling", COLUMNS, "n", 2, "equal to"),
)
PROJECTING = (
    "A row of the kernel matrix has n numbers, so the Gaussian projection costs q n^2 products, as many as the "
    "conversion of all q vectors (the printed q n d has d = n here): at n = 4000, q = 200 they take 0.19 and 0.18 s "
    "of one core. The kernel matrix itself takes more with this kernel, and the ratio is about 0.5; with (x'y/16)^2, "
    "which is cheap, it was 0.93 to 0.98 in three runs."
)
NOTES = (
    PROJECTING,
    "The scatter of the projected rows, q^2 n, is left out of the printed sum; it is in our totals.",
    "Orders of growth count kernel values. With the cheap kernel (x'y/16)^2 memory is what counts: the matrix of 500 "
    "samples stays in the cache and that of 2000 does not, and the exponent of the kernel matrix came out as 1.9, 2.0 "
    "and 2.6 in three runs, that of column norms of a stored matrix as 2.5. Hence a kernel whose values take longer "
    "than storing them, and column norms in tiles of 250 x 250.",
    "The total of Approx-KPCA is a sum of n^2, of q^2 n and of q^3, which does not grow with n: its exponent is below "
    "2 (1.8 to 1.9 from 500 to 4000 samples), and only a bound from above can be claimed.",
    "Times are those of one core (processor time), so that other programs do not disturb exponents and ratios.",
)

EXPERIMENT = Experiment(
    name="tutorial/complexity",
    title="Time of approximate kernel PCA and of Nyström against n and q",
    source="section 5.4",
    settings=(
        Setting(
            "data", f"independent N(0, 1) entries, {WIDTH} columns", "not printed, chosen: time hangs on size alone"
        ),
        Setting("kernel", "(x'y/16)^5", "printed: the degree, section 5.5; diagonal sampling is not uniform with it"),
        Setting(
            "n", "500, 1000, 2000, 4000 (q = 200); Nyström also 8000 to 64000 (quick 32000)", "not printed, chosen"
        ),
        Setting("q", "128, 256, 512, 1024 (n = 2000; Nyström 8000)", "not printed, chosen"),
        Setting("pairs", "all q", "printed, section 5.4: conversion costs q n^2 and q^2 n"),
        Setting("time", "of one core, shortest of 10 repeats in turns; quick 2", "not printed, chosen by us"),
        Setting(
            "rate", "2", "not printed, ours: how much the speed of an operation may change over a range of 8 in size"
        ),
    ),
    null="Exact kernel PCA, which decomposes the whole matrix, stands beside the approximations.",
    sizes={
        "full": {
            "n": [500, 1000, 2000, 4000],
            "q": [128, 256, 512, 1024],
            "rows": [8000, 16000, 32000, 64000],
            "exact": [250, 500, 1000, 2000],
            "repeats": 10,
        },
        "quick": {
            "n": [500, 1000, 2000, 4000],
            "q": [128, 256, 512, 1024],
            "rows": [8000, 16000, 32000],
            "exact": [250, 500, 1000],
            "repeats": 2,
        },
        "tiny": {"n": [300, 600], "q": [32, 64], "rows": [1000, 2000], "exact": [150, 300], "repeats": 1},
    },
    pieces=pieces,
    run=run,
    conclude=conclude,
    seconds={"full": 140, "quick": 18},
    alone=True,
)
