"""The pictures of a report: figures as PNG, each with a caption that says what to look for; samples as images."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np

from kernelpca.extras import require
from kernelpca.pages.chosen import Chosen, Labels
from kernelpca.pages.display import Display
from kernelpca.pages.page import data_address
from kernelpca.pages.quality import Reconstruction
from kernelpca.plotting import PreimageDisplay, ResidualsDisplay, ScoresDisplay, SpectrumDisplay
from kernelpca.plotting.fitted import Fitted
from kernelpca.plotting.form import Form
from kernelpca.plotting.images import image_look, prepared
from kernelpca.plotting.rows import groups_of
from kernelpca.plotting.style import (
    COLORS,
    COMPACT,
    GRAY,
    TICKS,
    as_bytes,
    as_error,
    as_percent,
    legend_below,
    line_look,
    new_figure,
    styled,
)
from kernelpca.plotting.thumbnails import UNRELIABLE, of_pre_images

SHARP = 220  # dots per inch: a column of 3.4 inches has 748, for phones too
WIDTH = 3.4  # inches
SIDE = 160  # pixels along which a sample is shown at most
MANY_BINS = 40


@dataclass(frozen=True)
class Figure:
    """A picture on the page.

    Attributes
    ----------
    address : str
        The picture itself.
    alt : str
        What it shows, for those who do not see it.
    caption : str
        What to look for.
    invertible : bool
        Whether light and dark may be exchanged, where the page is dark.
    """

    address: str
    alt: str
    caption: str
    invertible: bool = True


def draw_spectrum(fitted: Fitted) -> Figure:
    """Draw eigenvalues and what they add up to."""
    name = "eigenvalue" if hasattr(fitted.last, "eigenvalues_") else "variance"
    k, whole = fitted.n_components, fitted.whole
    display = SpectrumDisplay(fitted.eigenvalues, fitted.ratio, k, "", name, whole).plot(width=WIDTH)
    they = "It keeps" if k == 1 else "Together they keep"
    kept = "" if fitted.ratio is None else f" {they} {as_percent(fitted.ratio.sum())} of the {whole}."
    caption = (
        f"The {name} of each component (blue dots, left scale) and the part of the whole {whole} that they "
        "add up to (orange squares, right scale). Look for an elbow: where the dots level off, further components add "
        "little; "
        f"where the squares still climb at the right end, more components would keep more.{kept}"
    )
    return Figure(_png(display.figure_), f"spectrum of {k} component{'s' if k != 1 else ''}", caption)


def draw_map(fitted: Fitted, Z: np.ndarray, labels: Labels | None, chosen: Chosen) -> Figure:
    """Draw the scores on the first two components, or the distribution of those on the only one."""
    groups = None if labels is None else labels.groups
    values = None if labels is None else labels.values
    if Z.shape[1] == 1:
        figure = _draw_single(Z[:, 0], groups)
        colored = "" if groups is None else ", colored by label"
        caption = f"Scores on the only component{colored}. Look for separate heaps, and for rows far from all others."
        return Figure(_png(figure), "distribution of the scores", caption)
    colored = "" if labels is None else ", colored by label"
    colored = ", colored by the quantity given as label" if values is not None else colored
    ratio = None if fitted.ratio is None else fitted.ratio[:2]
    known: dict[str, Any] = {"rows": chosen.numbers, "n_rows": chosen.total, "whole": fitted.whole}
    display = ScoresDisplay(Z[:, :2], (0, 1), ratio, groups, values, "label", **known).plot(width=WIDTH)
    alike = "color" if groups is None or len(groups_of(groups)) <= len(COLORS) else "color and mark"
    caption = (
        f"Each point is a row, placed by its scores on the first two components{colored}. Look for groups and for the "
        "shape of the cloud: rows that lie close together are alike to the model"
        + (f", and groups of one {alike} are what it separates." if groups is not None else ".")
    )
    return Figure(_png(display.figure_), "map of the scores on components 1 and 2", caption)


def draw_thumbnails(fitted: Fitted, Z: np.ndarray, chosen: Chosen, display: Display) -> Figure | None:
    """Draw the map with pre-images at places of a grid, where rows are images that the picture can take."""
    image = display.image
    if image is None or image["channels_first"] or Z.shape[1] < 2 or chosen.rows is None:
        return None
    shape = (image["height"], image["width"]) + ((3,) if image["channels"] == 3 else ())
    small = of_pre_images(fitted, chosen.rows, Z, (0, 1), shape, 7, None, "near")
    ratio = None if fitted.ratio is None else fitted.ratio[:2]
    known: dict[str, Any] = {"rows": chosen.numbers, "n_rows": chosen.total, "whole": fitted.whole}
    drawn = ScoresDisplay(Z[:, :2], (0, 1), ratio, thumbnails=small, **known).plot(width=WIDTH)
    caption = (
        "The same map with pre-images: what the model takes an input at that place to look like. Look for how images "
        "change from left to right and from bottom to top: that is what the two components mean. A dotted frame marks "
        "a pre-image that is not to be relied on."
    )
    return Figure(_png(drawn.figure_), "map of the scores with pre-images", caption, invertible=False)


def draw_errors(found: Reconstruction) -> Figure:
    """Draw the distribution of the errors in input space, of this model and of those beside it."""
    curves = {name: found.root(errors) for name, errors in found.errors.items()}
    figure = _draw_distributions(curves, "error of a row (root mean square over its columns)")
    caption = (
        "In input space: the part of the rows (upward) that come back with at most a given error (to the right), in "
        "the unit of the data. The further left a curve, the better; look for the gap between this model and the mean "
        "of the rows, which knows nothing of the row, and for a long tail at the upper end: a few rows that fail."
    )
    return Figure(_png(figure), "distribution of reconstruction errors in input space", caption)


def draw_feature_errors(curves: Mapping[str, np.ndarray], centered: bool) -> Figure:
    """Draw the distribution of squared distances in feature space."""
    figure = _draw_distributions(curves, "squared distance in feature space")
    caption = (
        "In feature space: the part of the rows (upward) whose squared distance is at most a given one (to the right). "
        "Left out by the components: from the row to the subspace. Look for its gap to "
        + ("the mean: that is the variance " if centered else "the origin: that is the mean square ")
        + "captured, row by row."
    )
    return Figure(_png(figure), "distribution of errors in feature space", caption)


def draw_reliability(found: Reconstruction, centered: bool) -> Figure:
    """Draw the histogram of the reliability of pre-images."""
    with styled(COMPACT):
        figure, axis = new_figure(width=WIDTH, height=2.3)
        axis.hist(found.reliability, np.linspace(0, 1, 21), color=COLORS[0])
        axis.axvline(UNRELIABLE, color=GRAY, linestyle="--", linewidth=0.9)
        axis.set(xlim=(0, 1), xlabel="reliability of the pre-image", ylabel="rows")
    caption = (
        "Reliability compares the scores of what came back with those asked for: 1 where they agree, 0.5 (dashed) "
        f"where they are as far apart as scores usually are from the {'mean' if centered else 'origin'}. Look for rows "
        "at the left: no input was found that has their scores."
    )
    return Figure(_png(figure), "histogram of the reliability of pre-images", caption)


def draw_outliers(display: ResidualsDisplay) -> Figure:
    """Draw residuals, with the row numbers of the data at the largest."""
    caption = (
        f"Each row by its distance from the {display.middle_name} within the subspace (to the right) and its squared "
        "distance from the "
        "subspace (upward). Rows above the dashed limit are not explained by the components; row numbers stand beside "
        "the strangest. Rows far to the right are extreme, but of a kind that the model knows."
    )
    return Figure(_png(display.figure_), "residuals against distances within the subspace", caption)


def draw_signals(found: Reconstruction, shown: np.ndarray, numbers: np.ndarray, best: bool) -> Figure:
    """Draw rows as curves, the originals and what came back."""
    d = found.rows.shape[1]
    form = Form("signals", (), np.arange(d, dtype=np.float64), (), "position in the row", "value")
    answers = {"original": found.rows, "reconstruction": found.points}
    display = PreimageDisplay(answers, numbers[found.places], shown, {}, form).plot(width=WIDTH)
    roots = found.root(found.own)
    for axis, place in zip(display.axes_, shown, strict=True):
        title = f"row {numbers[found.places[place]]}: error {as_error(roots[place])}"
        axis.set_title(title, fontsize=TICKS, loc="left", pad=2)
    which, look = (
        ("best", "what the model is at ease with")
        if best
        else ("worst", "parts of the curve that no component follows, and for rows that should not be there at all")
    )
    caption = f"The rows that come back {which}, original and reconstruction over each other. Look for {look}."
    return Figure(_png(display.figure_), f"the {which} reconstructed rows", caption)


def as_pictures(rows: np.ndarray, display: Display) -> np.ndarray:
    """(n, d) -> (n, height, width) or (n, height, width, 3), smaller where they are large."""
    image = display.image
    assert image is not None
    height, width, channels = image["height"], image["width"], image["channels"]
    if image["channels_first"]:
        pictures = np.moveaxis(rows.reshape(len(rows), channels, height, width), 1, -1)
    else:
        pictures = rows.reshape(len(rows), height, width, channels)
    step = -(-max(height, width) // SIDE)
    pictures = pictures[:, ::step, ::step]
    return pictures[..., 0] if channels == 1 else pictures


def picture_addresses(pictures: np.ndarray, look: dict[str, Any]) -> list[str]:
    """Return each image as an address that holds it."""
    save = require("matplotlib.image", "plot", "A picture").imsave
    found = []
    for picture in pictures:
        buffer = BytesIO()
        gray = {name: look[name] for name in ("cmap", "vmin", "vmax")} if picture.ndim == 2 else {}
        save(buffer, prepared(picture, look), format="png", metadata={"Software": None}, **gray)
        found.append(data_address(buffer.getvalue()))
    return found


def look_of(rows: np.ndarray) -> dict[str, Any]:
    """Return how images are drawn: their range, and ink on paper or light on dark."""
    return image_look(rows)


def _draw_single(scores: np.ndarray, groups: np.ndarray | None) -> Any:
    """Draw the histogram of one component's scores, stacked by group."""
    parts = [("rows", np.ones(len(scores), bool))] if groups is None else groups_of(groups)
    edges = np.histogram_bin_edges(scores, "auto")
    edges = np.linspace(edges[0], edges[-1], int(np.clip(len(edges), 10, MANY_BINS)))
    with styled(COMPACT):
        figure, axis = new_figure(width=WIDTH, height=2.5)
        colors = [COLORS[i % len(COLORS)] for i in range(len(parts))]
        values, names = [scores[mask] for _, mask in parts], [name for name, _ in parts]
        axis.hist(values, edges, stacked=True, color=colors, label=names)
        axis.set(xlabel="score on component 1", ylabel="rows")
        if groups is not None:
            legend_below(figure, axis, columns=5)
    return figure


def _draw_distributions(curves: Mapping[str, np.ndarray], xlabel: str) -> Any:
    """Draw the part of the rows that lie below each error, one curve for each name."""
    with styled(COMPACT):
        figure, axis = new_figure(width=WIDTH, height=2.5 + 0.15 * len(curves))
        known = {name: np.sort(values[np.isfinite(values)]) for name, values in curves.items()}
        whole = np.concatenate(list(known.values()))
        largest = float(whole.max(initial=0.0))
        floor = 1e-6 * largest
        small = float(np.quantile(whole, 0.02)) if whole.size else 0.0
        logarithmic = largest > 0 and small > floor and largest / small > 20
        for i, (name, values) in enumerate(known.items()):
            if logarithmic:
                values = np.maximum(values, floor)
            steps = np.arange(1, len(values) + 1) / max(len(values), 1)
            axis.step(values, steps, where="post", label=name, **line_look(i))
        if logarithmic:
            _scale_by_powers(axis, max(0.7 * float(np.quantile(whole, 0.005)), floor), 1.1 * largest)
        else:
            axis.set_xlim(left=min(0.0, float(whole.min(initial=0.0))))
            axis.xaxis.set_major_formatter(_written_out())
        axis.set(xlabel=xlabel, ylabel="part of the rows", ylim=(0, 1.02))
        axis.yaxis.set_major_formatter(require("matplotlib.ticker", "plot", "A picture").PercentFormatter(1.0, 0))
        axis.grid(True)
        legend_below(figure, axis, columns=1)
    return figure


def _scale_by_powers(axis: Any, low: float, high: float) -> None:
    """Give an axis a logarithmic scale with few numbers, written out."""
    ticker = require("matplotlib.ticker", "plot", "A picture")
    axis.set_xscale("log")
    axis.set_xlim(low, high)
    steps = (1.0, 2.0, 5.0) if high / low < 30 else (1.0, 3.0) if high / low < 300 else (1.0,)
    axis.xaxis.set_major_locator(ticker.LogLocator(subs=steps))
    axis.xaxis.set_major_formatter(_written_out())
    axis.xaxis.set_minor_formatter(ticker.NullFormatter())


def _written_out() -> Any:
    """Return what writes each number of an axis as it is, and no factor beside the axis."""
    return require("matplotlib.ticker", "plot", "A picture").FuncFormatter(lambda value, _: f"{value:g}")


def _png(figure: Any) -> str:
    return data_address(as_bytes(figure, "png", SHARP, COMPACT))
