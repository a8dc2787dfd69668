"""Small images at places of a map: what the model sees there, or what the samples there look like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelpca.extras import require
from kernelpca.plotting.fitted import Fitted
from kernelpca.plotting.images import as_images, check_image_shape, image_look, prepared
from kernelpca.plotting.rows import as_matrix

SHARE = 0.76  # of the distance of two places, that an image takes
UNRELIABLE = 0.5  # below it an image has a dashed frame: the mean of all samples would do as well


@dataclass(eq=False)
class Thumbnails:
    """Images and where they belong.

    Attributes
    ----------
    places : ndarray of shape (m, 2)
        Scores.
    images : ndarray of shape (m, height, width) or (m, height, width, 3)
        The images.
    reliability : ndarray of shape (m,)
        Of pre-images: whether their own scores are those of the place, from 0 to 1; 1 for samples.
    look : dict
        How they are drawn.
    grid : int
        How many fit beside each other.
    """

    places: np.ndarray
    images: np.ndarray
    reliability: np.ndarray
    look: dict[str, Any]
    grid: int

    def draw(self, axis: Any, width: float, height: float) -> None:
        """Draw them on axes of so many inches."""
        boxes = require("matplotlib.offsetbox", "plot", "A picture")
        tall, wide = self.images.shape[1:3]
        zoom = SHARE * 72 / self.grid * min(width / wide, height / tall)
        look = {name: value for name, value in self.look.items() if name not in ("vmin", "vmax")}
        norm = require("matplotlib.colors", "plot", "A picture").Normalize(self.look["vmin"], self.look["vmax"])
        for place, image, reliability in zip(self.places, self.images, self.reliability, strict=True):
            small = boxes.OffsetImage(prepared(image, self.look), zoom=zoom, norm=norm, **look)
            frame = {"lw": 0.6, "edgecolor": "#555555", "linestyle": "-" if reliability >= UNRELIABLE else ":"}
            axis.add_artist(boxes.AnnotationBbox(small, tuple(place), pad=0.04, bboxprops=frame))


def of_pre_images(
    fitted: Fitted,
    samples: Any,
    scores: np.ndarray,
    components: tuple[int, ...],
    image_shape: Any,
    grid: int,
    ink: bool | None,
    others: str,
) -> Thumbnails:
    """Find pre-images at places of a grid that have samples near them.

    `scores` (n, k) are all of the samples'. Components that are not on the map have, for others="near", the mean that
    they have among the samples of that cell, and for others="zero" the mean that they have in all.
    """
    rows = as_matrix(samples)
    shape = check_image_shape(image_shape, rows.shape[1])
    cells, places = _cells(scores[:, list(components)], grid)
    occupied = np.unique(cells)
    Z = np.zeros((len(occupied), fitted.n_components))
    if others == "near":
        Z += np.array([scores[cells == cell].mean(axis=0) for cell in occupied])
    Z[:, list(components)] = places[occupied]
    points, reliability = fitted.pre_images(Z)
    return Thumbnails(places[occupied], as_images(points, shape), reliability, image_look(rows, ink), grid)


def of_samples(samples: Any, scores: np.ndarray, image_shape: Any, grid: int, ink: bool | None) -> Thumbnails:
    """Choose samples, one after the other, that lie a cell of the grid or more from those chosen before."""
    rows = as_matrix(samples)
    shape = check_image_shape(image_shape, rows.shape[1])
    places = scores / _cell_size(scores, grid)
    chosen: list[int] = []
    free = np.ones(len(scores), bool)
    while free.any():
        chosen.append(int(free.argmax()))
        free &= np.abs(places - places[chosen[-1]]).max(axis=1) >= 1
    return Thumbnails(scores[chosen], as_images(rows[chosen], shape), np.ones(len(chosen)), image_look(rows, ink), grid)


def _cell_size(scores: np.ndarray, grid: int) -> np.ndarray:
    """(n, 2) -> (2,): how large a cell is, where so many lie along each axis."""
    if isinstance(grid, bool) or not isinstance(grid, int | np.integer) or not 1 <= grid <= 50:
        raise ValueError(f"grid={grid!r}: give how many small images fit along an axis, from 1 to 50.")
    size = np.ptp(scores, axis=0) / grid
    return np.where(size > 0, size, 1.0)


def _cells(scores: np.ndarray, grid: int) -> tuple[np.ndarray, np.ndarray]:
    """(n, 2) -> (n,), (grid^2, 2): the cell of each sample, and the middles of all cells."""
    low, size = scores.min(axis=0), _cell_size(scores, grid)
    cells = np.minimum((scores - low) / size, grid - 1).astype(int)
    steps = np.arange(grid) + 0.5
    middles = np.stack(np.meshgrid(low[0] + steps * size[0], low[1] + steps * size[1], indexing="ij"), axis=-1)
    return cells[:, 0] * grid + cells[:, 1], middles.reshape(-1, 2)
