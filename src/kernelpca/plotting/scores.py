"""A map of the samples: their scores on two or three components, with pre-images along the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from kernelpca.extras import require
from kernelpca.plotting.display import Display
from kernelpca.plotting.fitted import Fitted
from kernelpca.plotting.rows import check_labels, check_values, groups_of, n_rows, note_of, spread_rows, take
from kernelpca.plotting.style import COLORS, IN_ORDER, LETTER, TICKS, as_inches, as_percent, as_written, group_look
from kernelpca.plotting.thumbnails import Thumbnails, of_pre_images, of_samples

MANY = 1000  # points from which on they are drawn as pixels, also in files that hold curves
LEGEND_ROW, LEGEND_MARK = 0.16, 16.0  # inches, and square points


@dataclass(eq=False, repr=False)
class ScoresDisplay(Display):
    """Scatter of scores in two or three dimensions.

    Make one with `from_estimator`; all parameters are attributes.

    Parameters
    ----------
    scores : ndarray of shape (m, 2) or (m, 3)
        What is drawn.
    components : tuple of int
        Which components these are, counted from 0; the picture counts from 1.
    ratio : ndarray of shape (2,) or (3,), or None
        Their fractions of the `whole`.
    labels : ndarray of shape (m,) or None
        Groups: each has a color and a mark.
    values : ndarray of shape (m,) or None
        A quantity, shown by color.
    values_name : str
        What it is, with its unit.
    thumbnails : Thumbnails or None
        Small images at places of the map.
    rows : ndarray of shape (m,)
        Which rows of the data these are.
    n_rows : int
        How many there are in all.
    whole : str
        What `ratio` is a fraction of: "variance", or "mean square" without centering.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernelpca import KernelPCA
    >>> from kernelpca.plotting import ScoresDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = ScoresDisplay.from_estimator(KernelPCA(2).fit(X), X, labels=y)
    >>> display.scores.shape, display.ax_.get_xlabel()
    ((150, 2), 'component 1 (74% of variance)')
    """

    scores: np.ndarray
    components: tuple[int, ...]
    ratio: np.ndarray | None = None
    labels: np.ndarray | None = None
    values: np.ndarray | None = None
    values_name: str = "value"
    thumbnails: Thumbnails | None = None
    rows: np.ndarray | None = None
    n_rows: int = 0
    whole: str = "variance"

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        *,
        components: tuple[int, ...] = (0, 1),
        labels: Any = None,
        values: Any = None,
        values_name: str = "value",
        image_shape: tuple[int, ...] | None = None,
        thumbnails: str = "pre-images",
        others: str = "near",
        grid: int = 7,
        ink: bool | None = None,
        max_points: int = 5000,
        ax: Any = None,
        width: float | str = "column",
    ) -> Self:
        """Project samples and draw them.

        Parameters
        ----------
        model : estimator
            Fitted; or a pipeline that ends in one.
        X : array-like of shape (n, d)
            Samples, as the model takes them.
        components : tuple of two or three int, default=(0, 1)
            Which components, counted from 0; three make a picture in three dimensions.
        labels : array-like of shape (n,), optional
            Groups of the samples.
        values : array-like of shape (n,), optional
            A quantity instead of groups.
        values_name : str, default="value"
            Written beside the color bar; name the unit too. Formulas stand between dollars.
        image_shape : tuple, optional
            (height, width) of samples that are images: small images are then drawn over the map.
        thumbnails : {"pre-images", "samples"}, default="pre-images"
            What they are: the model's pre-images at places of a grid, or samples at their own places.
        others : {"near", "zero"}, default="near"
            What pre-images have for components that are not on the map: the mean of the samples near that place, or
            zero, the mean of all training rows (of a model without centering, the origin).
        grid : int, default=7
            How many of them fit along each axis. Places without samples are left empty.
        ink : bool, optional
            Whether images are dark ink on white paper; when not given, they are if most of their pixels are near the
            lowest value.
        max_points : int, default=5000
            Of more rows so many are projected and drawn, spread evenly; the picture says so.
        ax : matplotlib.axes.Axes, optional
            Where to draw; of three dimensions where there are three components.
        width : "column", "full" or float, default="column"
            Of a new figure, in inches.
        """
        fitted = Fitted(model)
        chosen = fitted.check_components(components, (2, 3))
        if labels is not None and values is not None:
            raise ValueError("Both labels and values are given, and a point has one color: give one of them.")
        n = n_rows(X)
        labels, values = check_labels(labels, n), check_values(values, n)
        rows = spread_rows(n, max_points)
        samples = take(X, rows)
        known = fitted.scores(samples)
        scores = known[:, list(chosen)]
        small = None
        if image_shape is not None:
            if len(chosen) == 3:
                raise ValueError(
                    "Small images are drawn in two dimensions only: give two components, or leave image_shape out."
                )
            choices = {"thumbnails": (thumbnails, ("pre-images", "samples")), "others": (others, ("near", "zero"))}
            for name, (given, allowed) in choices.items():
                if given not in allowed:
                    raise ValueError(f"{name}={given!r} is not known: choose {' or '.join(map(repr, allowed))}.")
            if thumbnails == "samples":
                small = of_samples(samples, scores, image_shape, grid, ink)
            else:
                small = of_pre_images(fitted, samples, known, chosen, image_shape, grid, ink, others)
        ratio = None if fitted.ratio is None else fitted.ratio[list(chosen)]
        labels = None if labels is None else labels[rows]
        values = None if values is None else values[rows]
        display = cls(scores, chosen, ratio, labels, values, values_name, small, rows, n, fitted.whole)
        return display.plot(ax, width=width)

    def plot(self, ax: Any = None, *, width: float | str = "column") -> Self:
        """Draw the map; see `Display.plot`."""
        solid = len(self.components) == 3
        groups = [] if self.labels is None else groups_of(self.labels)
        longest = max((len(name) for name, _ in groups), default=0)
        columns = max(int(as_inches(width) / max(0.62, 0.35 + LETTER * TICKS / 72 * longest)), 1)
        below = LEGEND_ROW * -(-len(groups) // columns)
        options: dict[str, Any] = {"subplot_kw": {"projection": "3d"}} if solid else {}
        if ax is not None and (getattr(ax, "name", "") == "3d") != solid:
            raise ValueError(
                f"There are {len(self.components)} components, and ax has {2 if solid else 3} dimensions: make it with "
                + ("figure.add_subplot(projection='3d')." if solid else "figure.subplots().")
            )
        with self._canvas(ax, width, self._height(as_inches(width)) + below, **options):
            self._draw_points(groups)
            self._label_axes()
            self._note(note_of(len(self.scores), self.n_rows))
            if groups:
                self._legend(columns, markerscale=(LEGEND_MARK / point_size(len(self.scores))) ** 0.5)
            if len(groups) > len(COLORS):
                self._name_groups(groups)
            if self.thumbnails is not None:
                self.thumbnails.draw(self.ax_, *self._axis_size())
        return self

    def _draw_points(self, groups: list[tuple[str, np.ndarray]]) -> None:
        look: dict[str, Any] = {"s": point_size(len(self.scores)), "rasterized": len(self.scores) > MANY, "alpha": 0.8}
        for i, (name, members) in enumerate(groups):
            self.ax_.scatter(*self.scores[members].T, label=as_written(name), **group_look(i), **look)
        if groups:
            return
        if self.values is None:
            self.ax_.scatter(*self.scores.T, color=COLORS[0], linewidth=0, **look)
            return
        colormap = require("matplotlib", "plot", "A picture").colormaps[IN_ORDER].with_extremes(bad="#bbbbbb")
        look |= {"cmap": colormap, "plotnonfinite": True, "linewidth": 0}
        points = self.ax_.scatter(*self.scores.T, c=self.values, **look)
        self._color_bar(points, self.values_name, aspect=30).solids.set_alpha(1.0)

    def _name_groups(self, groups: list[tuple[str, np.ndarray]]) -> None:
        """Write the name of each group at its middle: so many colors are hard to tell apart."""
        if len(self.components) == 3 or self.thumbnails is not None:
            return
        effects = require("matplotlib.patheffects", "plot", "A picture")
        outline = [effects.withStroke(linewidth=2.5, foreground="white")]
        self.figure_.draw_without_rendering()  # puts the axes where they will be
        taken: list[Any] = []
        for i, (name, members) in enumerate(groups):
            middle = np.median(self.scores[members], axis=0)
            place = {"ha": "center", "va": "center", "fontweight": "bold", "path_effects": outline}
            text = self.ax_.text(*middle, as_written(name), color=COLORS[i % len(COLORS)], **place)
            box = text.get_window_extent()
            if box.count_overlaps(taken):
                text.remove()  # the legend has it
            else:
                taken.append(box)

    def _label_axes(self) -> None:
        solid = len(self.components) == 3
        axes = [self.ax_.xaxis, self.ax_.yaxis, *([self.ax_.zaxis] if solid else [])]
        for i, (axis, component) in enumerate(zip(axes, self.components, strict=True)):
            part = "" if self.ratio is None else f" ({as_percent(self.ratio[i])} of {self.whole})"
            axis.set_label_text(f"component {component + 1}{part}".replace(" (", "\n(" if solid else " ("))
            if solid and self._own:
                axis.set_pane_color((1.0, 1.0, 1.0, 0.0))
                axis.set_tick_params(labelsize=6, pad=-3)
                axis.labelpad = 1
                axis.set_major_locator(require("matplotlib.ticker", "plot", "A picture").MaxNLocator(4))
        if solid and self._own:
            self.ax_.set_box_aspect(None, zoom=0.9)

    def _height(self, width: float) -> float:
        """Return the height of a figure without its legend; with images cells are to be square."""
        if self.thumbnails is not None:
            return min(0.92 * width, 6.0)
        return min((0.85 if len(self.components) == 3 else 0.8) * width, 4.2)

    def _axis_size(self) -> tuple[float, float]:
        """Return about how many inches wide and high the axes are."""
        if not self._own:
            box = self.ax_.get_window_extent()
            return float(box.width / self.figure_.dpi), float(box.height / self.figure_.dpi)
        self.figure_.draw_without_rendering()  # the layout is made when it is drawn
        box = self.ax_.get_position()
        return float(box.width * self.figure_.get_figwidth()), float(box.height * self.figure_.get_figheight())


def point_size(n: int) -> float:
    """Return the area of a point, in square points, where there are n: from 16 down to 3."""
    return float(np.clip(16 * (150 / max(n, 1)) ** 0.5, 3.0, 16.0))
