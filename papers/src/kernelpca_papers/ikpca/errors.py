"""Errors of runs against the number of components: the best of them, tables, and what counts as similar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kernelpca_papers.claims import Claim
from kernelpca_papers.experiment import Table
from kernelpca_papers.ikpca.methods import mse

SIMILAR = 2.78 / 2.57 - 1
WHY_SIMILAR = (
    "what the paper calls similar: in table A-1, of which it says that ikPCA and kPCA+SL perform similarly, their "
    "errors differ by up to 2.78 / 2.57, and a factor of 1.38 (3.20 / 2.32) is slightly higher"
)


def errors_of(answers: Sequence[np.ndarray], truth: np.ndarray) -> np.ndarray:
    """-> (components,): mean squared errors."""
    return np.array([mse(answer, truth) for answer in answers])


def at_best(errors: np.ndarray) -> np.ndarray:
    """(runs, components) -> (runs,): errors with the number of components that is best in the mean over runs."""
    return errors[:, errors.mean(axis=0).argmin()]


def least(errors: np.ndarray) -> float:
    """(runs, components) -> the least mean over runs."""
    return float(errors.mean(axis=0).min())


def ratio(errors: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """(runs, k), (runs, l) -> ratio of the least means, and its standard error over runs (paired)."""
    a, b = at_best(errors), at_best(other)
    value = a.mean() / b.mean()
    if len(a) < 2:
        return float(value), float("nan")
    return float(value), float((a - value * b).std(ddof=1) / b.mean() / np.sqrt(len(a)))


def claim_similar(statement: str, source: str, errors: np.ndarray, other: np.ndarray) -> Claim:
    """Two methods are similar, each with its best number of components."""
    value, error = ratio(errors, other)
    return Claim(statement, source, 1.0, value, tolerance=SIMILAR, reason=WHY_SIMILAR, error=error)


def claim_better(statement: str, source: str, errors: np.ndarray, other: np.ndarray) -> Claim:
    """One method is better than the other, each with its best number of components."""
    value, error = ratio(errors, other)
    return Claim(statement, source, 1.0, value, "at most", error=error)


def tabulate(
    title: str, curves: Mapping[str, np.ndarray], components: Sequence[int], beside: str, notes: str = "", **own: Any
) -> Table:
    """Tabulate for each method the least mean error over runs, and how many components and what spread it has there.

    `own` gives a method's own numbers of components.
    """
    rows: list[list[str | float]] = []
    for method, errors in curves.items():
        best = at_best(errors)
        k = str(own.get(method, components)[int(errors.mean(axis=0).argmin())]) if errors.shape[1] > 1 else "none"
        rows.append([method, f"{best.mean():.4f} ± {best.std():.4f}", k, f"{best.mean() / least(curves[beside]):.3f}"])
    runs = len(next(iter(curves.values())))
    return Table(
        f"{title}, {runs} runs",
        ["method", "mean squared error ± deviation over runs", "best number of components", f"over {beside}"],
        rows,
        f"The paper prints no numbers for this figure. {notes}".strip(),
    )
