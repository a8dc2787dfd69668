"""Training time of five solvers, each until its own eta is below the target: tables 2, 3 and 5."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelpca_papers.drawing import legend_below, look, new_figure
from kernelpca_papers.dualization.contest import (
    EXACT,
    FULL,
    LANCZOS,
    LBFGS,
    OURS,
    RSVD,
    SETTINGS,
    Problem,
    enter,
    once,
    take_turns,
)
from kernelpca_papers.dualization.tasks import gram_matrix, load_rows
from kernelpca_papers.dualization.training_outcome import (
    COMPONENTS,
    PRINTED_COLUMN,
    SOLVERS,
    TABLES,
    TARGETS,
    TITLES,
    Outcome,
)
from kernelpca_papers.dualization.training_time_claims import claims_of
from kernelpca_papers.experiment import Experiment, Findings, Found, Picture, Setting, Table


def pieces(rows: dict[str, int], most: int, repeats: int) -> list[dict[str, Any]]:
    """One matrix each: a data set and a kernel."""
    return [
        {"data": data, "n": n, "kernel": kernel, "most": most, "repeats": repeats}
        for data, n in rows.items()
        for kernel in TARGETS
    ]


def run(data: str, n: int, kernel: str, most: int, repeats: int) -> dict[str, np.ndarray]:
    """Return what each solver takes for each target; all eigenpairs are found of at most so many rows."""
    X = load_rows(data, n)
    problem = Problem(gram_matrix(kernel, X), COMPONENTS)
    targets = TARGETS[kernel]
    results = {
        name: np.full((len(targets), len(SOLVERS)), np.nan)
        for name in ("seconds", "eta", "products", "setting", "reached")
    }
    size = problem.G.nbytes
    entries, seconds = {}, {}
    for name in (EXACT, FULL) if len(problem.G) <= most else (EXACT,):
        entries[name], seconds[name] = once(problem, name)
    for i, target in enumerate(targets):
        for name in (LANCZOS, RSVD, LBFGS, OURS):
            easier = entries[name].setting if name in entries else np.nan
            entries[name] = enter(problem, target, name, easier)
        timed = {name: entry for name, entry in entries.items() if name not in (EXACT, FULL)}
        seconds |= take_turns(timed, size, repeats)
        for name, entry in entries.items():
            j = SOLVERS.index(name)
            results["seconds"][i, j], results["eta"][i, j] = seconds[name], entry.eta
            results["products"][i, j], results["setting"][i, j] = entry.products, entry.setting
            results["reached"][i, j] = entry.eta < target
    return {**results, "random": np.array(problem.eta_at_random()), "shape": np.array(X.shape)}


def conclude(found: Found) -> Findings:
    """Compare with the three tables."""
    outcomes = {table: [Outcome(found, table, data) for data in found.options("data")] for table in TABLES}
    return Findings(
        claims_of(found, outcomes),
        [time_table(table, outcomes[table]) for table in TABLES] + [effort_table(outcomes)],
        [draw(outcomes)],
        NOTES,
    )


def time_table(table: str, outcomes: list[Outcome]) -> Table:
    """Our times beside the printed ones."""
    rows: list[list[str | float]] = []
    for outcome in outcomes:
        for name in SOLVERS:
            seconds = outcome.seconds(name)
            column = PRINTED_COLUMN.get(name)
            printed = np.nan if column is None else outcome.printed[column]
            rows.append(
                [
                    f"{TITLES[outcome.data]}, {outcome.n} x {outcome.d}",
                    name,
                    figure(seconds, "{:.3f}") + outcome.remark(name),
                    figure(outcome.factor(name), "{:.2f}"),
                    figure(printed, "{:.2f}"),
                    figure(np.nan if column is None else outcome.printed_factor(name), "{:.2f}"),
                ]
            )
    kernel, target = TABLES[table]
    return Table(
        f"Table {table}: {kernel.capitalize()} kernel, eta below {target:.0e}, s = {COMPONENTS}",
        ["data", "solver", "seconds", "over L-BFGS", "printed seconds", "printed over L-BFGS"],
        rows,
        "Printed figures are those of the paper's set, which has more rows than ours but for Synth 1. '-': not timed "
        "here or not printed. 'Not enough': the target was not reached with the most oversamples or restarts that were "
        "tried.",
    )


def figure(number: float, form: str) -> str:
    """Return a number as text, or a dash."""
    return form.format(number) if np.isfinite(number) else "-"


def effort_table(outcomes: dict[str, list[Outcome]]) -> Table:
    """What each solver needed, which does not depend on the machine; and what random directions have."""
    rows: list[list[str | float]] = []
    for table, those in outcomes.items():
        for outcome in those:
            of = outcome.of
            rows.append(
                [
                    table,
                    TITLES[outcome.data],
                    f"{outcome.random:.1e}",
                    f"{of[EXACT]['products']:.0f}",
                    f"{of[LANCZOS]['products']:.0f} ({of[LANCZOS]['eta']:.0e})",
                    f"{of[RSVD]['setting']:.0f} ({of[RSVD]['eta']:.0e})",
                    f"{of[LBFGS]['products']:.0f} ({of[LBFGS]['eta']:.0e})",
                    f"{of[OURS]['products']:.0f} ({of[OURS]['eta']:.0e})",
                ]
            )
    return Table(
        "Effort: products with one column of Lanczos, oversamples of the randomized SVD, and products with 20 columns "
        "or more of L-BFGS and block Krylov, with the eta that was reached in brackets",
        ["table", "data", "eta of random directions", EXACT, LANCZOS, RSVD, LBFGS, OURS],
        rows,
        "Where random directions are as good as the target, a table says nothing of a solver: the matrix is nearly the "
        "identity. The randomized SVD takes 16 products, each with 20 columns and the oversamples.",
    )


def draw(outcomes: dict[str, list[Outcome]]) -> Picture:
    """Draw all times over those of L-BFGS."""
    shown = {FULL: 6, LANCZOS: 0, RSVD: 1, OURS: 2}
    figure_, axes = new_figure(1, 3, 10, 3.6, sharey=True)
    for axis, (table, those) in zip(axes, outcomes.items(), strict=True):
        heights = np.arange(len(those))[::-1]
        for name, i in shown.items():
            style = {**look(i), "linestyle": "none", "markersize": 6}
            axis.plot([outcome.factor(name) for outcome in those], heights + 0.12, label=name, **style)
            if name in PRINTED_COLUMN:
                printed = [outcome.printed_factor(name) for outcome in those]
                axis.plot(printed, heights - 0.18, markerfacecolor="none", label=f"{name}, printed", **style)
        axis.axvline(1, color="#999999", linewidth=0.8)
        kernel, target = TABLES[table]
        axis.set(title=f"table {table}: {kernel.capitalize()}, {target:.0e}", xscale="log", xlabel="time over L-BFGS's")
        axis.set_yticks(heights, [TITLES[outcome.data] for outcome in those])
        axis.set_ylim(-0.6, len(those) - 0.4)
    legend_below(figure_, *axes, columns=4)
    return Picture(
        "times",
        figure_,
        "Tables 2, 3 and 5: every other solver takes longer than L-BFGS, the randomized SVD 3.4 to 14.7 times as long.",
        "Full marks are ours, open ones printed. Whatever lies left of the line is faster than L-BFGS.",
    )


NOTES = (
    "The Laplace kernel of the printed width makes nearly an identity of sparse rows: random directions have an eta of "
    "7e-4 on RCV1 and of 0.02 to 0.06 on protein, so that tables 2 and 3 say little of solvers there.",
    "L-BFGS is that of this library; written down plainly with scipy and NumPy it takes 1.5 to 2.1 times as long with "
    "the same products. Eigenpairs and a certificate are part of its time and of that of block Krylov.",
    "eta of the randomized SVD is measured on its own singular values, as printed: they are no Ritz values, and on "
    "flat spectra power iterations gain little. Where the most oversamples that were tried are not enough, its time is "
    "a lower bound, and so are factors and their ratios.",
    "Block Krylov, this library's own solver, takes 1 to 11 products.",
    "Equal rows make eigenvalues repeat: on Reuters with the Laplace kernel 2 is one as often as there are pairs of "
    "equal news. A Krylov space of a single vector has each eigenvalue once, so that Lanczos' method misses copies "
    "and is content (4000 rows: 36.2 of a sum of 43.1). The judge therefore takes the better of it and a block method.",
)

EXPERIMENT = Experiment(
    name="dualization/training-time",
    title="Training time of L-BFGS on the dual beside other eigensolvers",
    source="tables 2, 3 and 5",
    settings=(
        *SETTINGS,
        Setting("components", "20", "printed, section 5.1"),
        Setting("targets", "eta below 1e-2 and 1e-4", "printed, section 5.1"),
        Setting("Gaussian kernel", "exp(-|x - y|^2 / (2 d var X))", "not printed, width chosen by the mean distance"),
        Setting(
            "Synth 1",
            "7000 x 10000 normal, neighbors correlated by 0.9; quick 1500 rows",
            "partly printed: the shape; the covariance is chosen by us",
        ),
        Setting(
            "Protein", "the validation part, 2871 rows; quick 1500", "printed: 14895 rows, which are not to be had"
        ),
        Setting("RCV1", "a sample of 1747 rows; quick without it", "printed: 20242 rows, which are not to be had"),
        Setting(
            "Reuters-21578 for RCV1",
            "11069 x 8315; quick 1500 rows",
            "not printed, chosen as a larger set of sparse text",
        ),
        Setting(
            "USPS for CIFAR-10",
            "9298 x 256; quick 1500 rows",
            "printed: 60000 x 512 ResNet18 features, which are not to be had",
        ),
        Setting(
            "all pairs", "LAPACK's eigh, of at most 7000 rows; quick 1500", "printed: SVD, given up after 30 minutes"
        ),
        Setting(
            "Lanczos",
            "ARPACK, the loosest of 9 tolerances from 1 to 0 that is enough",
            "printed: stopped at eta; how is not",
        ),
        Setting(
            "Lanczos, exact",
            "ARPACK with tolerance 0, at most 30 restarts, once",
            "not printed, chosen by the published script: the default",
        ),
        Setting("repeats", "the shortest of 3, quick of 2, in turns", "printed: mean of 5"),
    ),
    null="Random directions: eta of the best directions in the span of 20 random vectors is in the table of efforts. "
    "All eigenpairs by LAPACK are the plain solver, as in the paper.",
    sizes={
        "full": {
            "rows": {"synth": 7000, "protein": 2871, "rcv1": 1747, "reuters": 11069, "usps": 9298},
            "most": 7000,
            "repeats": 3,
        },
        "quick": {
            "rows": {"synth": 1500, "protein": 1500, "reuters": 1500, "usps": 1500},
            "most": 1500,
            "repeats": 2,
        },
        "tiny": {"rows": {"synth": 100, "protein": 100, "usps": 100}, "most": 100, "repeats": 1},
    },
    pieces=pieces,
    run=run,
    conclude=conclude,
    data=("protein_val.npz", "rcv1_vw_subset.npz", "reuters_tick.npz", "usps.npz"),
    seconds={"full": 1200, "quick": 55},
    alone=True,
)
