"""The rows that come back best and worst, and the columns that come back well or badly."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelpca.pages import figures
from kernelpca.pages.chosen import Chosen, Labels
from kernelpca.pages.display import MOST_BARS, Display
from kernelpca.pages.quality import Reconstruction

FEW = {"image": 8, "signal": 4, "table": 4}  # rows that are shown as best, and as worst
VALUES = 8  # columns of a row that are shown
WORTH_MARKING = 0.5  # standard deviations
LEAST, MOST = 1e-4, 1e6  # deviations of columns whose values are written out, without powers of ten


def show_extremes(found: Reconstruction, chosen: Chosen, display: Display, labels: Labels | None) -> dict[str, Any]:
    """Return the rows that come back best and worst, as images, curves or values."""
    numbers = chosen.numbers
    groups = dict(zip(("best", "worst"), found.extremes(FEW[display.kind]), strict=True))
    content: dict[str, Any] = {"kind": display.kind, "labeled": labels is not None, "marked": WORTH_MARKING}
    look = figures.look_of(found.rows) if display.kind == "image" else {}
    roots = found.root(found.own)
    for which, shown in groups.items():
        cards = [_card(found, place, roots, numbers, labels) for place in shown]
        if display.kind == "image":
            pairs = [figures.as_pictures(part[shown], display) for part in (found.rows, found.points)]
            addresses = [figures.picture_addresses(pictures, look) for pictures in pairs]
            for card, original, answer in zip(cards, *addresses, strict=True):
                card |= {"original": original, "answer": answer}
        elif display.kind == "table":
            for card, place in zip(cards, shown, strict=True):
                card |= _values(found.rows[place], found.points[place], display)
        else:
            content[f"{which}_figure"] = figures.draw_signals(found, shown, numbers, which == "best")
        content[which] = cards
    return content


def _card(
    found: Reconstruction, place: int, roots: np.ndarray, numbers: np.ndarray, labels: Labels | None
) -> dict[str, Any]:
    """Return what is said of one row."""
    row = found.places[place]
    return {
        "number": int(numbers[row]),
        "label": None if labels is None else labels.texts[row],
        "error": float(roots[place]),
        "reliability": float(found.reliability[place]),
    }


def _values(row: np.ndarray, answer: np.ndarray, display: Display) -> dict[str, Any]:
    """Return a row as values by column, in standard deviations where they are off; all columns, or the worst ones."""
    assert display.names is not None
    unit = np.where(display.deviation > 0, display.deviation, 1.0)
    off = (answer - row) / unit
    size = np.abs(off)
    shown = np.arange(len(row)) if len(row) <= VALUES else np.argsort(-size, kind="stable")[:VALUES]
    marked = (size >= 0.5 * size.max()) & (size >= WORTH_MARKING)
    values = [
        {
            "name": display.names[j],
            "original": written(float(row[j]), float(unit[j])),
            "answer": written(float(answer[j]), float(unit[j])),
            "off": float(off[j]),
            "marked": bool(marked[j]),
        }
        for j in shown
    ]
    return {"values": values, "left_out": len(row) - len(shown)}


def written(value: float, deviation: float) -> str:
    """Write a value of a column to two digits below what the column varies by, so that differences are seen."""
    if not LEAST <= deviation < MOST:
        return f"{value:.3g}"
    return f"{value:.{max(2 - int(np.floor(np.log10(deviation))), 0)}f}"


def list_columns(found: Reconstruction, display: Display) -> dict[str, Any]:
    """Return how well each column comes back; of very many the worst."""
    assert display.names is not None
    rows = [{"name": display.names[column.place], "column": column} for column in found.columns()]
    return {"rows": rows[:MOST_BARS], "left_out": max(len(rows) - MOST_BARS, 0)}
