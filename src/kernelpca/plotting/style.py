"""The look of every picture: a palette that color-blind readers can tell apart, sizes of a journal, nothing global."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from io import BytesIO
from typing import Any

from kernelpca.extras import require

# Okabe and Ito's palette, and marks and lines so that no meaning hangs on color alone
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", "-.", ":")
GRAY = "#666666"  # of notes and of what is only there to compare with
IN_ORDER = "viridis"  # colormap of a quantity
AROUND_ZERO = "PuOr"  # colormap of a quantity with a sign
COLUMN, FULL = 3.4, 7.0  # inches: a column of a journal, and its page
WIDTHS = {"column": COLUMN, "full": FULL}
STYLE: Mapping[str, Any] = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "svg.hashsalt": "kernelpca",
    "svg.fonttype": "none",
}
TICKS, NOTE = 7, 6.5  # points: numbers at axes, and remarks
LETTER = 0.61  # of the size of a font: the width of a letter, on average
COMPACT: Mapping[str, Any] = {  # for a column of a journal, at the size it is printed
    **STYLE,
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "legend.fontsize": 7,
    "legend.handlelength": 1.6,
    "legend.columnspacing": 1.2,
    "xtick.labelsize": TICKS,
    "ytick.labelsize": TICKS,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "grid.color": "#d8d8d8",
    "grid.linewidth": 0.4,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.5,
}


def styled(style: Mapping[str, Any] = STYLE) -> AbstractContextManager[None]:
    """Draw in this look within a `with` block; what was set before is set again after it."""
    return require("matplotlib", "plot", "A picture").rc_context(dict(style))


def new_figure(
    rows: int = 1,
    columns: int = 1,
    width: float = 6.4,
    height: float = 3.8,
    layout: str | None = "constrained",
    **options: Any,
) -> Any:
    """Return a figure and its axes, as matplotlib's `subplots` does; `options` go there (`sharex`, `squeeze` ...)."""
    figure = require("matplotlib.figure", "plot", "A picture").Figure(figsize=(width, height), layout=layout)
    return figure, figure.subplots(rows, columns, **options)


def legend_outside(figure: Any, *axes: Any, columns: int = 4, side: str = "lower", **options: Any) -> Any:
    """Put one legend for all axes below or above ("upper") them; of curves with the same name the first is shown."""
    shown: dict[str, Any] = {}
    for axis in axes:
        for line, name in zip(*axis.get_legend_handles_labels(), strict=True):
            shown.setdefault(name, line)
    return figure.legend(shown.values(), shown.keys(), loc=f"outside {side} center", ncols=columns, **options)


def legend_below(figure: Any, *axes: Any, columns: int = 4) -> Any:
    """Put one legend for all axes below them."""
    return legend_outside(figure, *axes, columns=columns)


def look(i: int) -> dict[str, Any]:
    """Return color, mark and line of the i-th curve."""
    return {
        "color": COLORS[i % len(COLORS)],
        "marker": MARKS[i % len(MARKS)],
        "linestyle": LINES[i // len(COLORS) % len(LINES)],
    }


def group_look(i: int) -> dict[str, Any]:
    """Return color and mark of the i-th group of points; from the ninth on marks are hollow, and others."""
    turn, color = divmod(i, len(COLORS))
    mark = MARKS[(i + 3 * turn) % 6]  # those that have an inside
    if turn % 2:
        return {"facecolor": "none", "edgecolor": COLORS[color], "linewidth": 0.7, "marker": mark}
    return {"facecolor": COLORS[color], "linewidth": 0.0, "marker": MARKS[i % len(MARKS)] if turn == 0 else mark}


def line_look(i: int) -> dict[str, Any]:
    """Return color and line of the i-th of curves that have too many points for marks."""
    return {"color": COLORS[i % len(COLORS)], "linestyle": LINES[i % len(LINES)]}


def as_inches(width: Any) -> float:
    """Read a width: "column", "full", or inches."""
    if isinstance(width, str) and width in WIDTHS:
        return WIDTHS[width]
    if isinstance(width, int | float) and not isinstance(width, bool) and 1 <= width <= 40:
        return float(width)
    raise ValueError(
        f'width={width!r} is no width of a picture: give "column" ({COLUMN} inches), "full" ({FULL} inches), or '
        "inches between 1 and 40."
    )


def as_written(name: Any) -> str:
    """Return the name of a group, a column, a row or a model so that matplotlib writes it as it is.

    Dollars begin no formula, and names that begin with "_", or are empty, are seen in legends too. What was returned
    once is returned again as it is.
    """
    text = re.sub(r"(?<!\\)\$", r"\\$", str(name))
    return f" {text}" if text.startswith("_") else text or "(empty)"


def as_percent(fraction: float) -> str:
    """Write a fraction with two digits or so: 23%, 2.3%, 0.04%."""
    percent = 100 * float(fraction)
    size = abs(percent)
    return f"{percent:.0f}%" if size >= 9.95 or size == 0 else f"{percent:.2g}%"


def as_error(value: float) -> str:
    """Write an error with three digits, small ones with a power of ten."""
    return f"{value:.3g}" if value >= 1e-3 or value == 0 else f"{value:.1e}"


def as_bytes(figure: Any, kind: str, dpi: float = 144, style: Mapping[str, Any] = STYLE) -> bytes:
    """Return a figure as "png", "svg" or "pdf"; the same figure gives the same bytes."""
    buffer = BytesIO()
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {"Software": None})
    with styled(style):
        figure.savefig(buffer, format=kind, dpi=dpi, metadata=metadata)
    return buffer.getvalue()
