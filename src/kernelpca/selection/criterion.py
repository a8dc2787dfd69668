"""What makes one model better than another without labels: an error on rows that it has not seen."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from kernelpca.io.table import frame_of
from kernelpca.parts import Part
from kernelpca.selection.family import Family


class Criterion(Part):
    """How far models are from what they should make of rows held out: the smaller the better.

    It is also a scorer: `GridSearchCV(KernelPCA(), grid, scoring=Denoising("0.5std"))`.

    Attributes
    ----------
    name : str
        What it is called.
    of : str
        What errors are given as a fraction of.
    own_yardstick : bool
        Whether errors are measured with the kernel itself, so that they do not compare kernels.
    every : bool
        Whether all numbers of components cost no more than one.
    """

    name: str
    of: str = "the variance about the training mean"
    own_yardstick: bool = False
    every: bool = False

    @abstractmethod
    def prepare(self, rows: Any, diagonal: np.ndarray | None = None) -> Any:
        """Make of rows held out the task that all models are given; `diagonal` is their k(x, x), for a matrix."""

    @abstractmethod
    def error(self, model: Any, task: Any) -> float:
        """Return the error of a fitted model."""

    @abstractmethod
    def errors(self, family: Family, ks: Iterable[int], task: Any) -> tuple[np.ndarray, float]:
        """Return the errors with these numbers of components, and what they are to be a fraction of."""

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        """Return minus the error of a fitted model on rows X, as scikit-learn's searches want it; y is ignored."""
        return -self.error(estimator, self.prepare(X))


@dataclass(frozen=True)
class Task:
    """Rows that a model is given, and what it should make of them.

    Attributes
    ----------
    given, wanted : ndarray of shape (n, d)
        What the model sees, and what its answer is compared with.
    hidden : ndarray of bool of shape (n, d) or None
        Entries of `given` that were hidden, and are alone compared; None where all are.
    unavoidable : float
        Mean squared error, summed over columns, of `wanted` itself.
    before : float or None
        That of `given`; None where there was none.
    """

    given: np.ndarray
    wanted: np.ndarray
    hidden: np.ndarray | None = None
    unavoidable: float = 0.0
    before: float | None = None

    def error(self, answer: np.ndarray) -> float:
        """(n, d) -> mean squared error of a row, summed over its columns."""
        off = np.square(answer - self.wanted, dtype=np.float64)
        return float((off if self.hidden is None else off * self.hidden).sum(axis=1).mean()) - self.unavoidable


class InputCriterion(Criterion):
    """An error in the units of the input, which compares any two models. A subclass writes `prepare`."""

    def errors(self, family: Family, ks: Iterable[int], task: Task) -> tuple[np.ndarray, float]:
        """Find the way back for each number of components; without any it leads to the mean of the training rows."""
        mean = family.rows.mean(axis=0, dtype=np.float64)
        nothing = task.error(np.broadcast_to(mean, task.wanted.shape))
        values = [self.error(family.first(k), task) if k else nothing for k in ks]
        return np.array(values), nothing if task.before is None else task.before

    def error(self, model: Any, task: Task) -> float:
        """Return the mean squared error of the model's answer."""
        with warnings.catch_warnings():  # models that are far off are what a search is to find out
            warnings.filterwarnings("ignore", ".*answers (have a reliability below|had not converged)", UserWarning)
            return task.error(self.answer(model, task))

    def answer(self, model: Any, task: Task) -> np.ndarray:
        """(n, d): what the model makes of what it is given."""
        return denoised(model, task.given)


def denoised(model: Any, rows: np.ndarray) -> np.ndarray:
    """(n, d) -> (n, d): project and come back, by `denoise` where there is one."""
    rows = with_names(rows, model)
    if hasattr(model, "denoise"):
        return np.asarray(model.denoise(rows))
    return np.asarray(model.inverse_transform(np.asarray(model.transform(rows))))


def with_names(rows: np.ndarray, model: Any) -> Any:
    """(n, d) -> the same, under the names that a model was fitted on, if it has any and pandas is there."""
    names = getattr(model, "feature_names_in_", None)
    return rows if names is None or find_spec("pandas") is None else frame_of(rows, names)


def as_numbers(rows: Any, criterion: Criterion) -> np.ndarray:
    """Return dense rows of numbers, which alone can be compared in the units of the input."""
    array = None if hasattr(rows, "tocsr") else np.asarray(rows)
    if array is None or array.ndim != 2 or array.dtype.kind not in "biuf":
        raise TypeError(
            f"The criterion {criterion.name!r} compares dense rows of numbers, and was given {type(rows).__name__}: "
            "give X.toarray() if it is sparse; for texts, kernel matrices and other objects only the criterion "
            "'projection' is possible."
        )
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
