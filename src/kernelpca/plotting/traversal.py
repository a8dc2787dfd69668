"""What each component does to an input: a row of pre-images along it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from kernelpca.extras import require
from kernelpca.plotting.fitted import Fitted
from kernelpca.plotting.form import Form, find_form
from kernelpca.plotting.form_display import FormDisplay
from kernelpca.plotting.images import Sheet, as_images, image_look
from kernelpca.plotting.rows import as_matrix
from kernelpca.plotting.scale import Scale
from kernelpca.plotting.style import IN_ORDER, as_percent, as_written, look

PANEL = 1.25  # inches high, of curves
MOST_COLUMNS = 8  # of a table, that are drawn: those that change most
REMARK = "bars: reliability, full = 1"
MINUS = "\N{MINUS SIGN}"
DARK = 0.92  # of the colormap: what follows is hard to see as a line on white
OUTSIDE = 0.005  # of the values of images, beyond each end of the gray scale
UNRELIABLE = 0.5  # below it curves are dashed: the mean of all samples would do as well


@dataclass(eq=False, repr=False)
class TraversalDisplay(FormDisplay):
    """Pre-images along components, from minus to plus so many standard deviations, with their reliability.

    Parameters
    ----------
    points : ndarray of shape (number of components, steps, d)
        The pre-images.
    reliability : ndarray of shape (number of components, steps)
        Between 0 and 1: whether the scores of a pre-image are those that were asked for.
    steps : ndarray of shape (steps,)
        How many standard deviations of the component's scores (or what `unit` says).
    components : tuple of int
        Which components, counted from 0; the picture counts from 1.
    ratio : ndarray or None
        Their fractions of the `whole`.
    form : Form
        What a row is.
    ink : bool or None
        Whether images are dark ink on white paper.
    unit : str
        What steps are measured in: "standard deviations", or "root mean squares" where only these are known.
    whole : str
        What `ratio` is a fraction of: "variance", or "mean square" without centering.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelpca import KernelPCA
    >>> from kernelpca.plotting import TraversalDisplay
    >>> X = load_digits(return_X_y=True)[0] / 16
    >>> model = KernelPCA(10, preimage="ridge").fit(X)
    >>> display = TraversalDisplay.from_estimator(model, components=(0, 1), steps=5, image_shape=(8, 8))
    >>> display.points.shape, display.reliability.shape
    ((2, 5, 64), (2, 5))
    """

    points: np.ndarray
    reliability: np.ndarray
    steps: np.ndarray
    components: tuple[int, ...]
    ratio: np.ndarray | None
    form: Form
    ink: bool | None = None
    unit: str = "standard deviations"
    whole: str = "variance"

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        around: Any = None,
        *,
        components: Any = None,
        spread: float = 2.0,
        steps: int = 7,
        image_shape: tuple[int, ...] | None = None,
        positions: Any = None,
        feature_names: Any = None,
        x_name: str | None = None,
        y_name: str = "value",
        ink: bool | None = None,
        ax: Any = None,
        width: float | str = "column",
    ) -> Self:
        """Find pre-images along components and draw them.

        Parameters
        ----------
        model : estimator
            Fitted, with a way back.
        around : array-like of shape (d,) or (n, d), optional
            A sample to start from, whose other scores stay as they are; of several, the mean of their scores. When not
            given, the mean of the training data in feature space. A model without centering may not know that mean
            (a sparse one keeps few of its rows): the start is the origin then, and steps are root mean squares. Give
            rows, and it is their mean and their standard deviations.
        components : sequence of int, optional
            Which components, counted from 0; the first four when not given.
        spread : float, default=2.0
            How far to go, in standard deviations of the component's scores.
        steps : int, default=7
            How many pre-images along each; an odd number has the start in the middle.
        image_shape, positions, feature_names, x_name, y_name, ink
            What rows are: see `PreimageDisplay.from_estimator`.
        ax, width
            See `Display.plot`; images need one pair of axes, curves one for each component.
        """
        fitted = Fitted(model)
        fitted.check_invertible()
        k = fitted.n_components
        chosen = fitted.check_components(range(min(k, 4)) if components is None else components)
        if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 2:
            raise ValueError(f"steps={steps!r}: give a whole number of at least 2, such as 7.")
        if not isinstance(spread, int | float | np.number) or not 0 < spread < np.inf:
            raise ValueError(f"spread={spread!r}: give a positive number of standard deviations, such as 2.")
        scale = fitted.scale
        start = scale.middle
        if around is not None:
            scores = fitted.scores(as_matrix(np.atleast_2d(around), "around"))
            start = scores.mean(axis=0)
            if scale.middle_name == "origin" and len(scores) > 1:
                scale = Scale.of(scores)
        amounts = np.linspace(-spread, spread, steps)
        Z = np.tile(start, (len(chosen), steps, 1))
        for row, component in zip(Z, chosen, strict=True):
            row[:, component] += amounts * scale.spread[component]
        points, reliability = fitted.pre_images(Z.reshape(-1, k))
        d = points.shape[1]
        form = find_form(d, image_shape, positions, feature_names, fitted.feature_names, x_name, y_name)
        ratio = None if fitted.ratio is None else fitted.ratio[list(chosen)]
        shape = (len(chosen), int(steps))
        found = points.reshape(*shape, d), reliability.reshape(shape)
        return cls(*found, amounts, chosen, ratio, form, ink, scale.unit, fitted.whole).plot(ax, width=width)

    def _name(self, i: int) -> str:
        part = "" if self.ratio is None else f"\n{as_percent(self.ratio[i])} of {self.whole}"
        return f"component {self.components[i] + 1}{part}"

    def _plot_images(self, ax: Any, width: float | str) -> None:
        rows = [as_images(points, self.form.image_shape) for points in self.points]
        names = [self._name(i) for i in range(len(rows))]
        titles, remark = [_signed(amount) for amount in self.steps], f"above: {self.unit}; {REMARK}"
        sheet = Sheet(rows, names, titles, self.reliability, remark)
        with self._sheet(ax, width, sheet):
            sheet.draw(self.ax_, image_look(self.points, self.ink, OUTSIDE))

    def _plot_signals(self, ax: Any, width: float | str) -> None:
        whole = require("matplotlib", "plot", "A picture").colormaps[IN_ORDER]
        colors = require("matplotlib.colors", "plot", "A picture")
        colormap = colors.LinearSegmentedColormap.from_list("dark", whole(np.linspace(0, DARK, 64)))
        scale = colors.Normalize(self.steps[0], self.steps[-1])
        count = len(self.components)
        with self._canvas(ax, width, PANEL * count + 0.35, count, sharex=True):
            for i, axis in enumerate(self.axes_):
                for amount, curve, sure in zip(self.steps, self.points[i], self.reliability[i], strict=True):
                    dash = "-" if sure >= UNRELIABLE else ":"
                    axis.plot(self.form.positions, curve, color=colormap(scale(amount)), linestyle=dash)
                axis.margins(x=0)
            self._label_panels(self._titles(), self.form.x_name)
            levels = require("matplotlib.cm", "plot", "A picture").ScalarMappable(scale, colormap)
            self._color_bar(levels, self.unit, aspect=40)

    def _titles(self) -> list[str]:
        parts = [""] * len(self.components) if self.ratio is None else [f" ({as_percent(part)})" for part in self.ratio]
        least = np.floor(100 * self.reliability.min(axis=1)) / 100
        return [
            f"component {component + 1}{part}, reliability ≥ {sure:.2f}"
            for component, part, sure in zip(self.components, parts, least, strict=True)
        ]

    def _plot_table(self, ax: Any, width: float | str) -> None:
        count, d = len(self.components), len(self.form.names)
        with self._canvas(ax, width, PANEL * count + 0.35 + 0.16 * -(-min(d, MOST_COLUMNS) // 2), count, sharex=True):
            change = np.ptp(self.points, axis=1).max(axis=0)
            columns = np.sort(np.argsort(-change, kind="stable")[:MOST_COLUMNS])
            for i, axis in enumerate(self.axes_):
                for j, column in enumerate(columns):
                    name = as_written(self.form.names[column])
                    axis.plot(self.steps, self.points[i, :, column], label=name, **look(j))
            self._label_panels(self._titles(), f"{self.unit} along the component")
            if len(columns) < d:
                self._note(f"the {len(columns)} of {d} columns that change most")
            self._legend(2)


def _signed(amount: float) -> str:
    """Write a number of standard deviations, with a sign that is as wide as a plus."""
    text = f"{abs(amount):.2g}"
    return "0" if text == "0" else ("+" if amount > 0 else MINUS) + text
