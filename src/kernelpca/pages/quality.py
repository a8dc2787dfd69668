"""How well rows come back from their scores, beside models that know nothing or are linear."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernelpca.estimators import PCA, InvertibleKernelPCA
from kernelpca.estimators.way_back import rows_at_a_time
from kernelpca.plotting.fitted import Fitted
from kernelpca.plotting.rows import spread_rows
from kernelpca.preimage.inversion import joined
from kernelpca.progress import Parts
from kernelpca.tiles import blocks

BROUGHT_BACK = 500  # rows of which pre-images are sought
NUMBERS = 2_000_000  # that they may have in all
LEAST = 20  # rows, however long they are
LINEAR = 30_000_000  # numbers of which linear PCA is cheap
ROUNDING = 1e-12  # of the size of numbers: what varies by less does not
SAME = 0.01  # part of an error by which two are not told apart


@contextmanager
def unwarned() -> Iterator[None]:
    """Leave out warnings of what a page says itself, or has taken care of."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*answers (have a reliability below|had not converged)", UserWarning)
        warnings.filterwarnings("ignore", ".*does not have valid feature names.*", UserWarning)
        warnings.filterwarnings("ignore", ".*Glyph.*missing from.*", UserWarning)
        yield


@dataclass(frozen=True)
class Reconstruction:
    """Rows that were projected and brought back.

    Attributes
    ----------
    places : ndarray of shape (m,)
        Which of the chosen rows these are.
    rows, points : ndarray of shape (m, d)
        The rows, and what came back.
    errors : dict of str to ndarray of shape (m,)
        Squared distances between rows and what each model makes of them; the first is this model.
    feature : ndarray of shape (m,) or None
        Squared distance in feature space between what came back and the projection that it is to be the pre-image of.
    reliability : ndarray of shape (m,)
        Between 0 and 1, as in `Inversion`.
    unfinished : int
        How many answers the method had not finished.
    method : str
        The way back.
    notes : list of str
        What is to be known about the models beside.
    """

    places: np.ndarray
    rows: np.ndarray
    points: np.ndarray
    errors: dict[str, np.ndarray]
    feature: np.ndarray | None
    reliability: np.ndarray
    unfinished: int
    method: str
    notes: list[str] = field(default_factory=list)

    @property
    def own(self) -> np.ndarray:
        """(m,): squared distances of this model."""
        return next(iter(self.errors.values()))

    @property
    def null(self) -> np.ndarray:
        """(m,): squared distances from the mean."""
        return self.errors[MEAN]

    @property
    def varies(self) -> bool:
        """Whether rows differ from their mean by more than rounding."""
        size = float(np.square(self.rows, dtype=np.float64).sum(axis=1).max(initial=0.0))
        return float(self.null.mean()) > ROUNDING**2 * size

    def lost(self, errors: np.ndarray) -> float | None:
        """(m,) -> the mean of errors as a part of that of the mean; None where rows do not vary."""
        return float(errors.mean()) / float(self.null.mean()) if self.varies else None

    def root(self, errors: np.ndarray) -> np.ndarray:
        """(m,) squared distances -> (m,): differences of a number, root mean squares over the columns."""
        return np.sqrt(errors / self.rows.shape[1])

    def extremes(self, few: int) -> tuple[np.ndarray, np.ndarray]:
        """Return places, among these m, of the rows that came back best (best first) and worst (worst first)."""
        order = np.argsort(self.own, kind="stable")
        few = max(min(few, len(order) // 2), 1)
        return order[:few], order[::-1][:few]

    def columns(self) -> list[Column]:
        """List how well each column comes back, the worst first."""
        off = np.square(self.points - self.rows, dtype=np.float64).mean(axis=0)
        deviation = self.rows.std(axis=0, dtype=np.float64)
        varies = deviation > ROUNDING * np.abs(self.rows).max(axis=0, initial=0.0)
        lost = np.where(varies, off / np.where(varies, deviation, 1.0) ** 2, np.nan)
        order = np.argsort(-np.nan_to_num(lost, nan=-1.0), kind="stable")
        found = zip(order, np.sqrt(off)[order], deviation[order], lost[order], strict=True)
        return [Column(int(j), float(e), float(s), None if np.isnan(part) else float(part)) for j, e, s, part in found]


MEAN, ALONE = "the mean of these rows", "this model, from the scores alone"


@dataclass(frozen=True)
class Column:
    """How well a column comes back.

    Attributes
    ----------
    place : int
        Which one.
    error, deviation : float
        Root mean square difference, and standard deviation of the column, both in its unit.
    lost : float or None
        The part of its variance that does not come back: 0 for all of it, 1 for no better than the mean; None for a
        column without variance.
    """

    place: int
    error: float
    deviation: float
    lost: float | None


def places_of(rows: np.ndarray) -> np.ndarray:
    """(n, d) -> (m,): the rows that are brought back."""
    return spread_rows(len(rows), int(np.clip(NUMBERS // rows.shape[1], LEAST, BROUGHT_BACK)))


def cut(model: Any, rows: np.ndarray) -> list[slice]:
    """Return blocks of the rows that are brought back, each of which takes some seconds at most."""
    return blocks(len(places_of(rows)), rows_at_a_time(model))


def bring_back(fitted: Fitted, rows: np.ndarray, Z: np.ndarray, part: Parts) -> Reconstruction:
    """Bring some of the rows (n, d) back from their scores Z (n, k), and compare; raises where there is no way back.

    Each block is a part of the work, with and without the row to start from.
    """
    fitted.check_invertible()
    model, places = fitted.last, places_of(rows)
    parts = cut(model, rows)
    X, Z = rows[places], Z[places]
    feature, unfinished = None, 0
    if hasattr(model, "invert"):
        answers = joined([part(model.invert(Z[some], X[some])) for some in parts])
        points, reliability, method = answers.points, answers.reliability, answers.method
        feature, unfinished = np.square(answers.distance), int((~answers.converged).sum())
    else:
        points, reliability = fitted.pre_images(Z)
        method = "the projection itself" if isinstance(model, PCA) else "ridge regression from scores to inputs"
    errors = {"this model": _squared(points, X)}
    notes: list[str] = []
    if hasattr(model, "invert"):
        errors |= _from_scores_alone(model, X, Z, errors["this model"], notes, part)
    if isinstance(model, InvertibleKernelPCA):
        notes.append(
            "This way back looks up the training row whose scores are nearest, to tell which of many inputs is meant. "
            "Of a row that the model was fitted on it finds that row itself: judge it by other rows."
        )
    errors |= {MEAN: _squared(rows.mean(axis=0, dtype=np.float64), X)}
    found = Reconstruction(places, X, points, errors, feature, reliability, unfinished, method, notes)
    if not found.varies:
        many = "There is one row" if len(rows) == 1 else f"The {len(rows)} rows are all the same"
        notes.append(f"{many}: nothing varies, so there is no variance of which a part could be lost.")
    elif not isinstance(model, PCA):
        errors |= _linear(rows, X, fitted.n_components, notes)
    return found


def _squared(points: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """(m, d), (m, d) -> (m,)."""
    return np.square(rows - points, dtype=np.float64).sum(axis=1)


def _from_scores_alone(
    model: Any, X: np.ndarray, Z: np.ndarray, known: np.ndarray, notes: list[str], part: Parts
) -> dict[str, np.ndarray]:
    """Return the errors of a way back that is not told the rows that scores came from, where it makes a difference."""
    try:
        errors = _squared(np.concatenate([part(model.inverse_transform(Z[some])) for some in cut(model, X)]), X)
    except ValueError:  # a method that needs them
        return {}
    if abs(errors.mean() - known.mean()) <= SAME * known.mean():
        return {}
    notes.append(
        "This model comes back as denoise(X) does: its way back starts at the row itself, or takes from it what scores "
        "do not tell. From the scores alone, as inverse_transform(Z) does, errors are others."
    )
    return {ALONE: errors}


def _linear(rows: np.ndarray, X: np.ndarray, k: int, notes: list[str]) -> dict[str, np.ndarray]:
    """Return the errors of linear PCA with as many components, fitted on the same rows."""
    n, d = rows.shape
    most = min(n - 1, d)
    if rows.size > LINEAR:
        notes.append(f"Linear PCA is left out: {n} rows of {d} numbers would take too long.")
        return {}
    if k >= most:
        notes.append(
            f"Linear PCA has no error here: {k} components are no fewer than the {most} that these rows span. In "
            "feature space there are more directions than columns."
        )
    else:
        notes.append(
            f"Linear PCA is fitted on the {n} rows of this page, and no other linear map to as many numbers has less "
            "error on them. Where it does better than the model, straight directions are enough to bring rows back."
        )
    linear = PCA(min(k, most)).fit(rows)
    return {f"linear PCA, {min(k, most)} component{'s' if min(k, most) != 1 else ''}": linear.residuals(X)}
