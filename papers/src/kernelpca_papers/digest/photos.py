"""Photographs in a grid, each with a title, all on one gray scale."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kernelpca_papers.drawing import new_figure


def draw_photos(photos: Mapping[str, np.ndarray], columns: int, width: float = 1.75) -> Any:
    """{title: (height, width)} with values from 0 (black) to 1 (white) -> a figure."""
    rows = -(-len(photos) // columns)
    shape = next(iter(photos.values())).shape
    height = width * shape[0] / shape[1] + 0.1 + 0.16 * max(title.count("\n") + 1 for title in photos)
    figure, axes = new_figure(rows, columns, columns * width, rows * height, squeeze=False)
    for axis in axes.flat:
        axis.set_axis_off()
    for axis, (title, photo) in zip(axes.flat, photos.items(), strict=False):
        axis.imshow(photo, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
        axis.set_title(title, fontsize=8)
    return figure
