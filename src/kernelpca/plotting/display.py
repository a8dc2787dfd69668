"""What every display shares: numbers that are computed once, a figure that can be drawn again, files."""

from __future__ import annotations

import textwrap
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np

from kernelpca.atomic import write_atomically
from kernelpca.extras import require
from kernelpca.plotting.images import Sheet
from kernelpca.plotting.style import (
    COMPACT,
    GRAY,
    LETTER,
    NOTE,
    TICKS,
    as_bytes,
    as_inches,
    legend_outside,
    new_figure,
    styled,
)

KINDS = ("png", "svg", "pdf")
LINE = 1.2  # from line to line, in sizes of the font


class Display(ABC):
    """Numbers and how to draw them. Subclasses are dataclasses whose fields are the numbers.

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure
        Where it was drawn last.
    axes_ : list of matplotlib.axes.Axes
        The panels.
    ax_ : matplotlib.axes.Axes
        The first of them.
    """

    figure_: Any
    axes_: list[Any]
    ax_: Any
    _own: bool

    @abstractmethod
    def plot(self, ax: Any = None, *, width: float | str = "column") -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure when not given. Displays of several panels take a list with one for each.
        width : "column", "full" or float, default="column"
            Of the new figure, in inches: 3.4, 7.0, or a number.
        """

    def save(self, path: Any, *, dpi: float = 300) -> None:
        """Write the figure into a file, as its suffix says (.png, .svg or .pdf): whole, or not at all.

        `dpi` counts for .png, and for points that are drawn as pixels because they are many.
        """
        path = Path(path)
        kind = path.suffix.lower().removeprefix(".")
        if kind not in KINDS:
            raise ValueError(f"{path.name!r} has no suffix of a picture: name it .png, .svg or .pdf.")
        if not path.parent.is_dir():
            raise FileNotFoundError(f"The folder {str(path.parent)!r} does not exist: make it first.")
        write_atomically(path, self.to_bytes(kind, dpi=dpi))

    def to_bytes(self, kind: str = "png", *, dpi: float = 144) -> bytes:
        """Return the figure as "png", "svg" or "pdf"; the same numbers give the same bytes."""
        if kind not in KINDS:
            raise ValueError(f"kind={kind!r} is not known: choose one of {', '.join(KINDS)}.")
        if not hasattr(self, "figure_"):
            self.plot()
        return as_bytes(self.figure_, kind, dpi, COMPACT)

    def _repr_png_(self) -> bytes | None:
        """Show a figure of our own in a notebook; one that holds the caller's axes is shown by the caller."""
        return self.to_bytes() if getattr(self, "_own", True) else None

    def __repr__(self) -> str:
        parts = (f"{name}={_brief(value)}" for name, value in vars(self).items() if not name.endswith("_"))
        shown = ", ".join(part for part in parts if not part.startswith("_"))
        return f"{type(self).__name__}({shown})"

    # for subclasses

    @contextmanager
    def _canvas(
        self, ax: Any, width: float | str, height: float, rows: int = 1, columns: int = 1, **options: Any
    ) -> Iterator[list[Any]]:
        """Give axes to draw on: the caller's in the caller's look, or those of a new figure in ours.

        `height` is in inches; where it is negative, in widths.
        """
        inches = as_inches(width)
        self._own = ax is None
        if ax is not None:
            self.axes_ = _as_axes(ax, rows * columns)
            self.ax_ = self.axes_[0]
            self.figure_ = self.ax_.figure.figure  # of a subfigure the whole
            yield self.axes_
            return
        height = height if height > 0 else -height * inches
        with styled(COMPACT):
            self.figure_, axes = new_figure(rows, columns, inches, height, squeeze=False, **options)
            self.axes_ = list(axes.flat)
            self.ax_ = self.axes_[0]
            for axis in self.axes_:
                if axis.name != "3d":
                    axis.tick_params(labelsize=TICKS)  # ticks are made when they are drawn
            yield self.axes_

    @contextmanager
    def _sheet(self, ax: Any, width: float | str, sheet: Sheet) -> Iterator[list[Any]]:
        """Give axes for a sheet of images, in a figure that it fills."""
        with self._canvas(ax, width, sheet.height(as_inches(width)), layout=None) as axes:
            if self._own:
                sheet.place(self.ax_)
            yield axes

    def _legend(self, columns: int = 4, **options: Any) -> None:
        """Put a legend where it covers nothing: outside a figure of our own, beside the caller's axes."""
        if self._own:
            legend_outside(self.figure_, *self.axes_, columns=columns, **options)
        else:
            options.pop("side", None)
            self.axes_[-1].legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), **options)

    def _note(self, text: str, axis: Any = None) -> None:
        """Write a remark above the upper right corner, if there is one."""
        if not text:
            return
        axis = axis or self.ax_
        place = {"transform": axis.transAxes, "ha": "right", "va": "bottom", "fontsize": NOTE, "color": GRAY}
        write = axis.text2D if axis.name == "3d" else axis.text
        write(1.0, 1.01, text, **place)

    def _color_bar(self, colored: Any, name: str, **options: Any) -> Any:
        """Put a color bar beside all panels."""
        bar = self.ax_.figure.colorbar(colored, ax=self.axes_, label=name, pad=0.02, **options)
        bar.outline.set_visible(False)
        if self._own:
            bar.ax.tick_params(labelsize=TICKS)
        return bar

    def _whole_numbers(self) -> None:
        """Let the horizontal axis count."""
        ticker = require("matplotlib.ticker", "plot", "A picture")
        self.ax_.xaxis.set_major_locator(ticker.MaxNLocator(integer=True, min_n_ticks=1))

    def _mark_number(self, k: float, text: str) -> None:
        """Draw a line at a number of components that was chosen, and say above it what it is; limits must be set."""
        self.ax_.axvline(k, color=GRAY, linestyle=":", linewidth=1.0, zorder=1)
        across = self.ax_.transAxes.inverted().transform(self.ax_.transData.transform((k, 1.0)))[0]
        side = "left" if across < 0.3 else "right" if across > 0.7 else "center"
        above = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "xytext": (0, 2)}
        self.ax_.annotate(text, (k, 1.0), ha=side, va="bottom", fontsize=TICKS, **above)

    def _caption(self, text: str) -> None:
        """Write sentences below a figure of our own, which grows by them."""
        if not (self._own and text):
            return
        letters = int(self.figure_.get_figwidth() * 72 / (NOTE * LETTER)) - 2
        lines = textwrap.wrap(text, letters)
        self.figure_.set_figheight(self.figure_.get_figheight() + len(lines) * LINE * NOTE / 72)
        self.figure_.supxlabel("\n".join(lines), x=0.02, ha="left", fontsize=NOTE, color=GRAY)


def _as_axes(ax: Any, count: int) -> list[Any]:
    """Return the caller's axes as a list, or say how many are needed."""
    axes = list(np.ravel(np.asarray(ax, dtype=object)))
    wrong = next((axis for axis in axes if not hasattr(axis, "transAxes")), None)
    if wrong is not None:
        raise TypeError(f"ax={wrong!r} is no matplotlib axes: give axes such as figure.subplots() makes, or None.")
    if len(axes) != count:
        raise ValueError(
            f"ax has {len(axes)} axes, and this picture has {count} panel{'s' if count != 1 else ''}: give a list of "
            f"{count}, such as figure.subplots(1, {count}), or None for a new figure."
        )
    return axes


def _brief(value: Any) -> str:
    """Say what an attribute is, in a few letters."""
    if isinstance(value, np.ndarray):
        return f"array{value.shape}"
    text = repr(value)
    return text if len(text) < 60 else f"{type(value).__name__} of {len(value)}" if hasattr(value, "__len__") else "..."
