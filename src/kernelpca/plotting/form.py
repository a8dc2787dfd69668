"""What a row of numbers is: an image, a signal, or a record of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelpca.plotting.images import check_image_shape

FEW = 40  # columns up to which rows without names are taken for records, not for signals


@dataclass(frozen=True)
class Form:
    """How rows of d numbers are drawn.

    Attributes
    ----------
    kind : {"images", "signals", "table"}
        As images, as curves over positions, or by column.
    image_shape : tuple of int
        (height, width), or (height, width, 3); empty for others.
    positions : ndarray of shape (d,)
        Where the numbers of a signal belong, such as times.
    names : tuple of str
        Names of the columns of a table; where there are none, "column 0", "column 1", ..., as Python counts.
    x_name, y_name : str
        What the axes of signals and tables say.
    """

    kind: str
    image_shape: tuple[int, ...]
    positions: np.ndarray
    names: tuple[str, ...]
    x_name: str
    y_name: str


def find_form(
    d: int, image_shape: Any, positions: Any, feature_names: Any, known_names: Any, x_name: str | None, y_name: str
) -> Form:
    """Take rows of d numbers for what the user says that they are, or for what they look like."""
    given = {"image_shape": image_shape, "positions": positions, "feature_names": feature_names}
    said = [name for name, value in given.items() if value is not None]
    if len(said) > 1:
        raise ValueError(
            f"{' and '.join(said)} are given, and rows are one thing only: image_shape for images, positions for "
            "signals, feature_names for tables."
        )
    shape: tuple[int, ...] = () if image_shape is None else check_image_shape(image_shape, d)
    table = feature_names is not None or (not said and (known_names is not None or d <= FEW))
    places, names = np.arange(d, dtype=np.float64), tuple(f"column {i}" for i in range(d))
    if positions is not None:
        places = np.asarray(positions, np.float64)
    chosen = feature_names if feature_names is not None else known_names if table else None
    if chosen is not None:
        names = tuple(str(name) for name in chosen)
    for name, have in (("positions", places.shape), ("feature_names", (len(names),))):
        if have != (d,):
            raise ValueError(f"{name} has shape {have}, and a row has {d} columns: give one for each of them.")
    kind = "images" if shape else "table" if table else "signals"
    return Form(kind, shape, places, names, x_name or ("" if table else "position"), y_name)
