"""Figures of one look: a palette that color-blind readers can tell apart, labels that can be read, nothing global."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from io import BytesIO
from typing import Any

import numpy as np

from kernelpca.extras import require

# Okabe and Ito's palette, and marks and lines so that no meaning hangs on color alone
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", "-.", ":")
LABEL, TITLE, EDGE = 1.4, 0.25, 0.06  # inches beside rows of images, above them, and around them
IN_ORDER = "viridis"  # colormap of a quantity
STYLE = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "svg.hashsalt": "kernelpca",
    "svg.fonttype": "none",
}


def styled() -> AbstractContextManager[None]:
    """Draw in this look within a `with` block; experiments conclude in one."""
    return require("matplotlib", "papers", "A figure").rc_context(STYLE)


def new_figure(rows: int = 1, columns: int = 1, width: float = 6.4, height: float = 3.8, **options: Any) -> Any:
    """Return a figure and its axes, as matplotlib's `subplots` does; `options` go there (`sharex`, `squeeze` ...)."""
    figure = require("matplotlib.figure", "papers", "A figure").Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, **options)


def legend_below(figure: Any, *axes: Any, columns: int = 4) -> None:
    """Put one legend for all axes below them; of curves with the same name the first is shown."""
    shown = {name: line for axis in axes for line, name in zip(*axis.get_legend_handles_labels(), strict=True)}
    figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=columns)


def look(i: int) -> dict[str, Any]:
    """Return color, mark and line of the i-th curve."""
    return {
        "color": COLORS[i % len(COLORS)],
        "marker": MARKS[i % len(MARKS)],
        "linestyle": LINES[i // len(COLORS) % len(LINES)],
    }


def draw_curves(
    axis: Any, x: Sequence[float], curves: Mapping[str, np.ndarray], spread: bool = True, first: int = 0
) -> None:
    """Draw (runs, points) for each name: means, with bars of one standard deviation over runs."""
    for i, (name, values) in enumerate(curves.items()):
        values = np.atleast_2d(values)
        mean, deviation = values.mean(axis=0), values.std(axis=0)
        if spread and len(values) > 1:
            axis.errorbar(x, mean, deviation, capsize=2, elinewidth=0.8, label=name, **look(first + i))
        else:
            axis.plot(x, mean, label=name, **look(first + i))


def draw_images(
    rows: Mapping[str, Sequence[np.ndarray]], size: float = 0.62, stretch: bool = False, titles: Sequence[str] = ()
) -> Any:
    """Return a figure with a labelled row of gray images for each name, dark ink on white, and titles of the columns.

    All have one scale, from the least to the largest value of the first row; with `stretch` each image has its own.
    """
    columns = max(len(images) for images in rows.values())
    top = TITLE if titles else EDGE
    width, height = columns * size + LABEL, len(rows) * size + EDGE + top
    figure = require("matplotlib.figure", "papers", "A figure").Figure(figsize=(width, height))  # constrained is slow
    edges = {
        "left": (LABEL - EDGE) / width,
        "right": 1 - EDGE / width,
        "bottom": EDGE / height,
        "top": 1 - top / height,
    }
    axes = figure.subplots(len(rows), columns, squeeze=False, gridspec_kw={**edges, "wspace": 0.08, "hspace": 0.08})
    first = next(iter(rows.values()))
    low, high = min(image.min() for image in first), max(image.max() for image in first)
    for line, (name, images) in zip(axes, rows.items(), strict=True):
        for axis in line:
            axis.set(xticks=[], yticks=[])
            axis.spines[:].set_visible(False)
        for axis, image in zip(line, images, strict=False):
            limits = {} if stretch else {"vmin": low, "vmax": high}
            axis.imshow(image, cmap="gray_r", interpolation="nearest", **limits)
        line[0].set_ylabel(name, rotation=0, ha="right", va="center", fontsize=8)
    for axis, title in zip(axes[0], titles, strict=False):
        axis.set_title(title, fontsize=8)
    return figure


def as_bytes(figure: Any, kind: str) -> bytes:
    """Return a figure as "png" or "svg"; the same figure gives the same bytes."""
    buffer = BytesIO()
    metadata = {"Date": None} if kind == "svg" else {"Software": None}
    with styled():
        figure.savefig(buffer, format=kind, dpi=144, metadata=metadata)
    return buffer.getvalue()
