"""Figures of experiments, in the look that all pictures here have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kernelpca.extras import require
from kernelpca.plotting.style import (
    COLORS,
    IN_ORDER,
    LINES,
    MARKS,
    STYLE,
    as_bytes,
    legend_below,
    look,
    new_figure,
    styled,
)

__all__ = [
    "COLORS",
    "IN_ORDER",
    "LINES",
    "MARKS",
    "STYLE",
    "as_bytes",
    "draw_curves",
    "draw_images",
    "legend_below",
    "look",
    "new_figure",
    "styled",
]

LABEL, TITLE, EDGE = 1.4, 0.25, 0.06  # inches beside rows of images, above them, and around them


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
    figure = require("matplotlib.figure", "plot", "A figure").Figure(figsize=(width, height))  # constrained is slow
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
