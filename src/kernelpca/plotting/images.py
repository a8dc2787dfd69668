"""Rows of numbers as images, on one sheet that needs a single pair of axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelpca.extras import require
from kernelpca.plotting.style import COLORS, GRAY, NOTE, TICKS

GAP = 0.1  # between images, in widths of one
BAR = 0.10  # height of the bar below an image, in widths of one
LETTER = 0.62  # of the size of a font: the width of a letter in names, at most
EDGE = 0.04  # inches
PAPER = 0.4  # of the range of values: where half of all pixels lie below, images are ink on paper


def check_image_shape(image_shape: Any, d: int) -> tuple[int, ...]:
    """Return (height, width) or (height, width, 3), or say what does not fit to d columns; one channel is gray."""
    try:
        shape = tuple(int(side) for side in image_shape)
    except (TypeError, ValueError) as error:
        raise ValueError(f"image_shape={image_shape!r}: give (height, width), such as (8, 8).") from error
    if len(shape) not in (2, 3) or min(shape) < 1 or (len(shape) == 3 and shape[2] not in (1, 3, 4)):
        raise ValueError(
            f"image_shape={image_shape!r}: give (height, width) for gray images, or (height, width, 3) for color."
        )
    if int(np.prod(shape)) != d:
        side = round(d**0.5)
        advice = f" {(side, side)} would fit." if side * side == d else ""
        raise ValueError(
            f"image_shape={image_shape!r} has {int(np.prod(shape))} numbers, and a row has {d} columns: both must "
            f"agree.{advice}"
        )
    return shape[:2] if shape[2:] == (1,) else shape


def as_images(rows: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """(n, d) -> (n, *shape)."""
    return np.asarray(rows, np.float64).reshape(len(rows), *shape)


def image_look(reference: np.ndarray, ink: bool | None = None, outside: float = 0.0) -> dict[str, Any]:
    """Return how images on the scale of `reference` are drawn: its range, and dark ink on white paper or light on dark.

    The part `outside` of all values may lie beyond each end of the scale. Where `ink` is None, images with half of
    their pixels in the lower part of the range are ink on paper.
    """
    low, high = (float(value) for value in np.quantile(reference, (outside, 1 - outside)))
    if high <= low:
        high = low + 1.0
    if ink is None:
        ink = bool(np.median(reference) < low + PAPER * (high - low))
    return {"cmap": "gray_r" if ink else "gray", "vmin": low, "vmax": high, "interpolation": "nearest"}


def prepared(image: np.ndarray, look: dict[str, Any]) -> np.ndarray:
    """Return an image as matplotlib takes it: colors between 0 and 1, gray as it is."""
    if image.ndim == 2:
        return image
    return np.clip((image - look["vmin"]) / (look["vmax"] - look["vmin"]), 0.0, 1.0)


@dataclass(frozen=True)
class Sheet:
    """Rows of images, and where they lie in a figure of their own.

    Parameters
    ----------
    rows : list of ndarray of shape (n, height, width) or (n, height, width, 3)
        The images.
    names : sequence of str
        Written at the left of each row.
    titles : sequence of str
        Written above the columns.
    bars : ndarray of shape (number of rows, n) or None
        Numbers between 0 and 1, drawn as bars below the images.
    remark : str
        Written below.
    """

    rows: list[np.ndarray]
    names: Sequence[str]
    titles: Sequence[str] = ()
    bars: np.ndarray | None = None
    remark: str = ""

    @property
    def size(self) -> tuple[float, float]:
        """Width and height, in widths of an image."""
        right, down = self._pitch
        return max(len(images) for images in self.rows) * right - GAP, len(self.rows) * down - GAP

    @property
    def _pitch(self) -> tuple[float, float]:
        """From image to image: to the right, and down."""
        shape = self.rows[0].shape[1:]
        return 1 + GAP, shape[0] / shape[1] + GAP + (BAR + GAP / 2 if self.bars is not None else 0.0)

    @property
    def margins(self) -> tuple[float, float, float, float]:
        """Inches at the left, right, bottom and top."""
        longest = max(len(line) for name in self.names for line in name.split("\n"))
        left = longest * LETTER * TICKS / 72 + 0.1
        return left, EDGE, 0.2 if self.remark else EDGE, 0.2 if self.titles else EDGE

    def height(self, width: float) -> float:
        """Return how many inches high a figure of so many inches is."""
        left, right, bottom, top = self.margins
        wide, high = self.size
        return (width - left - right) * high / wide + bottom + top

    def place(self, axis: Any) -> None:
        """Put the axes where they belong in a figure of that size."""
        width, height = axis.figure.get_size_inches()
        left, right, bottom, top = self.margins
        axis.set_position(
            (left / width, bottom / height, (width - left - right) / width, (height - bottom - top) / height)
        )

    def draw(self, axis: Any, look: dict[str, Any]) -> None:
        """Draw all images on one pair of axes."""
        shape = self.rows[0].shape[1:]
        (right, down), tall = self._pitch, shape[0] / shape[1]
        for i, images in enumerate(self.rows):
            for j, image in enumerate(images):
                left, top = j * right, i * down
                axis.imshow(prepared(image, look), extent=(left, left + 1, top + tall, top), **look)
                if self.bars is not None:
                    place = (left, top + tall + GAP / 2)
                    _add_bar(axis, place, 1.0, "#e3e3e3")
                    _add_bar(axis, place, float(self.bars[i, j]), COLORS[0])
        width, height = self.size
        axis.set(xlim=(0, width), ylim=(height, 0), aspect="equal")
        axis.set_yticks([i * down + tall / 2 for i in range(len(self.rows))], self.names, fontsize=TICKS)
        axis.xaxis.tick_top()
        axis.set_xticks([j * right + 0.5 for j in range(len(self.titles))], self.titles, fontsize=NOTE)
        axis.tick_params(length=0, pad=2)
        axis.spines[:].set_visible(False)
        if self.remark:
            below = {"ha": "right", "va": "top", "fontsize": NOTE, "color": GRAY, "transform": axis.transAxes}
            axis.text(1.0, -0.02, self.remark, **below)


def _add_bar(axis: Any, place: tuple[float, float], length: float, color: str) -> None:
    patches = require("matplotlib.patches", "plot", "A picture")
    axis.add_patch(patches.Rectangle(place, length, BAR, facecolor=color, linewidth=0))
