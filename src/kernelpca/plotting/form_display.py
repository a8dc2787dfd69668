"""Displays of rows, each drawn as what it is: an image, a signal, or a record of a table."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

from kernelpca.plotting.display import Display
from kernelpca.plotting.form import Form
from kernelpca.plotting.style import TICKS


class FormDisplay(Display):
    """A display with one way of drawing for each kind of row; `form` says of which kind they are."""

    form: Form

    def plot(self, ax: Any = None, *, width: float | str = "column") -> Self:
        """Draw the rows; see `Display.plot`."""
        draw = {"images": self._plot_images, "signals": self._plot_signals, "table": self._plot_table}
        draw[self.form.kind](ax, width)
        return self

    @abstractmethod
    def _plot_images(self, ax: Any, width: float | str) -> None: ...

    @abstractmethod
    def _plot_signals(self, ax: Any, width: float | str) -> None: ...

    @abstractmethod
    def _plot_table(self, ax: Any, width: float | str) -> None: ...

    def _label_panels(self, titles: Sequence[str], x_name: str) -> None:
        """Write titles above the panels, and what their axes are."""
        for axis, title in zip(self.axes_, titles, strict=True):
            axis.set_title(title, fontsize=TICKS, loc="left", pad=2)
            axis.set_ylabel(self.form.y_name)
        self.axes_[-1].set_xlabel(x_name)
