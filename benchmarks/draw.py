"""Pictures of the results: how many times longer than ours each contestant takes, and growth with the number of rows.

python benchmarks/draw.py
"""

from __future__ import annotations

import csv

import matplotlib.pyplot as plt

from tables import RESULTS

COLORS = ["#0072b2", "#56b4e9", "#999999", "#d55e00", "#cc79a7", "#e69f00", "#009e73", "#f0e442"]


def rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a table of results."""
    with (RESULTS / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def eigensolvers(name: str = "eigensolvers") -> None:
    """One panel a task and target, one bar a contestant, on a logarithmic scale."""
    table = rows(name)
    panels = list(dict.fromkeys((row["task"], row["target eta"]) for row in table))
    figure, axes = plt.subplots(len(panels) // 2, 2, figsize=(11, 2.6 * (len(panels) // 2)), sharex=True, squeeze=False)
    for axis, (task, target) in zip(axes.flat, panels, strict=True):
        chosen = [row for row in table if (row["task"], row["target eta"]) == (task, target)][::-1]
        times = [float(row["times ours"]) for row in chosen]
        labels = [row["contestant"].replace("kernelpca", "ours") for row in chosen]
        colors = [COLORS[0] if label.startswith("ours") else COLORS[2] for label in labels]
        axis.barh(labels, [0.5 if t != t else t for t in times], color=colors)
        for i, (t, row) in enumerate(zip(times, chosen, strict=True)):
            text = "target not reached" if t != t else f"{t:.1f}"
            text += " (stopped after 30 passes)" if "not reached" in row["eta reached"] else ""
            axis.text(0.55 if t != t else t * 1.05, i, text, va="center", fontsize=8)
        axis.set_xscale("log")
        axis.set_xlim(0.5, 200)
        axis.set_title(f"{task}, eta = {target}", fontsize=9)
        axis.tick_params(labelsize=8)
        axis.spines[["top", "right"]].set_visible(False)
    for axis in axes[-1]:
        axis.set_xlabel("time over ours (stopped at the true eta), logarithmic")
    figure.tight_layout()
    figure.savefig(RESULTS / f"{name}.png", dpi=110)


def growth() -> None:
    """Time and memory against the number of rows."""
    table = [row for row in rows("large") if row["stopping"] == "variance"]
    n = [int(row["rows"]) for row in table]
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4))
    for axis, column, label, color in (
        (axes[0], "seconds", "seconds of the fit", COLORS[0]),
        (axes[0], "bare half pass", "one bare half pass", COLORS[2]),
        (axes[1], "peak of the process, GB", "peak of the process, GB", COLORS[3]),
    ):
        values = [float(row[column]) for row in table]
        axis.plot(n, values, "o-", color=color, label=label)
        for x, y in zip(n, values, strict=True):
            axis.annotate(f"{y:.2g}", (x, y), (6, -10), textcoords="offset points", fontsize=8, color=color)
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_yticks([])
        axis.margins(0.12, 0.15)
        axis.set_xticks(n, [f"{rows // 1000}k" for rows in n])
        axis.minorticks_off()
        axis.set_xlabel("rows of MNIST")
        axis.legend(frameon=False, fontsize=8)
        axis.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(RESULTS / "large.png", dpi=110)


def main() -> None:
    """Draw what has been measured."""
    for name in ("eigensolvers", "eigensolvers_all"):
        if (RESULTS / f"{name}.csv").exists():
            eigensolvers(name)
    if (RESULTS / "large.csv").exists():
        growth()


if __name__ == "__main__":
    main()
