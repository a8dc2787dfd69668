"""How many components: errors of rows held out for every number of them, and rules that choose one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from kernelpca.kernels.base import n_rows
from kernelpca.selection.criteria import as_criterion
from kernelpca.selection.criterion import Criterion
from kernelpca.selection.family import Family, check_estimator, label, largest_size, with_known_width
from kernelpca.selection.folds import check_rows, divide, divisions, splitter
from kernelpca.selection.steps import counted
from kernelpca.validation import as_generator
from kernelpca.warn import warn

FEWEST = "one_std_error"
ROUNDING = 1e-12  # of the baseline: errors that differ by less are equal
RULES = f'"minimum", "{FEWEST}", or the part to do away with, such as 0.9'


@dataclass(frozen=True)
class ErrorCurve:
    """Errors of rows held out, by the number of components.

    Attributes
    ----------
    k : ndarray of shape (m,)
        Numbers of components; 0 stands for the mean of the training rows.
    mean, std_error : ndarray of shape (m,)
        Mean error over folds, and the standard error of that mean (NaN for a single fold).
    fraction : ndarray of shape (m,)
        `mean` over `baseline`.
    per_fold : ndarray of shape (folds, m)
        Errors of each fold.
    baseline : float
        What `fraction` is a fraction of.
    of : str
        What that is: the variance about the training mean, or the noise.
    criterion : str
        What was measured.
    model : str
        Of what.
    rule : str or float
        How `best` was chosen.
    best : int
        The number of components that the rule chooses.
    """

    k: np.ndarray
    mean: np.ndarray
    std_error: np.ndarray
    fraction: np.ndarray
    per_fold: np.ndarray
    baseline: float
    of: str
    criterion: str
    model: str
    rule: str | float
    best: int

    @classmethod
    def from_folds(
        cls, k: Any, per_fold: np.ndarray, baselines: np.ndarray, criterion: Criterion, model: str, rule: Any
    ) -> ErrorCurve:
        """Make a curve of the errors (folds, m) of each fold, and of what they are fractions of (folds,)."""
        folds, baseline = len(per_fold), float(np.mean(baselines))
        mean = per_fold.mean(axis=0)
        spread = per_fold.std(axis=0, ddof=1) / np.sqrt(folds) if folds > 1 else np.full(len(mean), np.nan)
        fraction = mean / baseline if baseline > 0 else np.zeros_like(mean)
        known = (np.asarray(k), mean, spread, fraction, per_fold, baseline, criterion.of, criterion.name, model)
        return cls(*known, "minimum", 0).with_rule(rule)

    def with_rule(self, rule: str | float) -> ErrorCurve:
        """Return the same with the choice of another rule; see `choose_components`."""
        return replace(self, rule=rule, best=choose_components(self, rule))

    @property
    def at_best(self) -> int:
        """Where in the arrays the choice is."""
        return int(np.flatnonzero(self.k == self.best)[0])

    def table(self) -> dict[str, np.ndarray]:
        """Return columns: k, mean, std_error, fraction and the error of each fold."""
        folds = {f"fold{i}": errors for i, errors in enumerate(self.per_fold)}
        return {name: getattr(self, name) for name in ("k", "mean", "std_error", "fraction")} | folds

    def __str__(self) -> str:
        at, last = self.at_best, self.best == self.k[-1] and self.rule == "minimum"
        text = (
            f"{self.model} with {self.best} of up to {self.k[-1]} components (rule: {self.rule}) leaves "
            f"{self.fraction[at]:.3g} of {self.of} in rows held out ({self.criterion}, {len(self.per_fold)} folds)."
        )
        if last and self.criterion == "projection":
            text += (
                " In feature space every component lowers the error, so the lowest is the last: choose a part of the "
                "variance to keep (rule=0.9), or a criterion that has a minimum ('denoising', 'masked')."
            )
        elif last:
            text += " The error is lowest at the largest number that was tried: try more."
        elif self.k[0] == 0 and self.mean[0] <= self.mean[at]:
            text += " The mean of the training rows does no worse."
        return text


def choose_components(curve: ErrorCurve, rule: str | float = "minimum") -> int:
    """Choose a number of components, at least one, from a curve of errors.

    Parameters
    ----------
    curve : ErrorCurve
        The errors.
    rule : {"minimum", "one_std_error"} or float, default="minimum"
        The lowest mean error; the fewest components whose mean error is within one standard error of the lowest; or the
        fewest that do away with this part of the baseline, such as 0.9 of the variance or of the noise. The error
        of "projection" falls with every component, so that only a part makes sense there; the others have a minimum
        where more components begin to fit noise.
    """
    usable = curve.k > 0
    k, mean = curve.k[usable], curve.mean[usable]
    lowest = int(np.argmin(mean))
    if isinstance(rule, str) and rule == "minimum":
        return int(k[mean <= mean[lowest] + ROUNDING * curve.baseline].min())
    if isinstance(rule, str) and rule == FEWEST:
        allowed = curve.std_error[usable][lowest]
        if np.isnan(allowed):
            raise ValueError(
                f"rule={rule!r} needs a standard error, and there is one fold only: give cv at least 2 folds, or take "
                '"minimum".'
            )
        return int(k[mean <= mean[lowest] + allowed].min())
    if isinstance(rule, Real) and not isinstance(rule, bool) and 0 < rule < 1:
        enough = curve.fraction[usable] <= 1 - rule + ROUNDING
        if enough.any():
            return int(k[enough].min())
        raise ValueError(
            f"rule={rule}: no number of components up to {k.max()} does away with so much of {curve.of}; "
            f"{1 - curve.fraction[usable].min():.3g} is the most. Ask for less, or look at more components."
        )
    raise ValueError(f"rule={rule!r} is not known: give {RULES}.")


def error_curve(
    model: Any,
    X: Any,
    *,
    cv: Any = 5,
    components: Any = None,
    criterion: Any = "projection",
    rule: str | float = "minimum",
    random_state: Any = None,
    callback: Any = None,
) -> ErrorCurve:
    """Measure errors of rows held out for every number of components, from one fit for each fold.

    Parameters
    ----------
    model : KernelPCA or its kin, InvertibleKernelPCA or PCA
        What to fit; it is cloned. Its `n_components` is the largest number looked at, and a width that is a rule
        ("scale") is made a number on all of X. Objectives other than the variance (`RobustKernelPCA`,
        `SparseKernelPCA`) need a fit for each number.
    X : array-like, sparse matrix, list of str, or square kernel matrix
        The data, as the model takes them.
    cv : int, splitter or iterable, default=5
        Folds, in random order; or a splitter of scikit-learn or pairs of row numbers. For splitters that look at labels
        or groups give `list(cv.split(X, y, groups))`.
    components : iterable of int, optional
        Numbers of components to look at; all from 0 to n_components where they cost nothing (criterion "projection"),
        else 0, 1, 2, 3, 4, 6, 8, 12, 16 and so on.
    criterion : {"projection", "reconstruction", "denoising", "masked"} or Criterion, default="projection"
        What is measured; see the classes of those names.
    rule : {"minimum", "one_std_error"} or float, default="minimum"
        How `best` is chosen; see `choose_components`.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the order of rows; None is a fixed one.
    callback : callable, "bar" or None, default=None
        Told a `Step` after each fold; if it returns True no other fold follows.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelpca import KernelPCA
    >>> from kernelpca.selection import error_curve
    >>> X = load_digits().data[:500] / 16
    >>> curve = error_curve(KernelPCA(60), X, rule=0.7)
    >>> curve.best, curve.fraction[[0, 10, 20, 40]].round(2)
    (29, array([1.  , 0.48, 0.36, 0.26]))
    """
    check_estimator(model)
    part, rng = as_criterion(criterion), as_generator(random_state)
    rows = check_rows(model, X)
    model, pairs = with_known_width(model, rows), divisions(splitter(cv, rng), n_rows(rows))
    whole = _count(model.n_components)
    asked = None if components is None else check_components(components)
    found: list[dict[int, float]] = []
    baselines, sizes = [], []
    check_splits(rule, len(pairs))
    with counted(callback, len(pairs)) as step:
        for fold in divide(model, rows, pairs):
            possible = largest_size(model, fold.train)
            sizes.append(possible)
            most = whole if asked is None else max(asked)
            family = Family(model, fold.train, None if most is None else max(min(most, possible), 1))
            ks = [k for k in (asked or grid(family.size, part.every)) if k <= family.size]
            values, baseline = part.errors(family, ks, part.prepare(fold.test, fold.diagonal))
            found.append(dict(zip(ks, values, strict=True)))
            baselines.append(baseline)
            if step(f"{family.size} components"):
                break
    shared = sorted(set.intersection(*(set(errors) for errors in found)))
    if not any(shared):
        raise ValueError(
            f"No number of components that was asked for ({asked}) is possible in every fold: the smallest has at most "
            f"{min(sizes)}. Ask for fewer."
        )
    left_out = sorted(set(asked or ()) - set(shared))
    if left_out:
        warn(
            f"components={left_out} are not looked at: the model has no more than {max(shared)} in every fold: rows, "
            "features or the rank of the matrix allow no more. Ask for fewer."
        )
    per_fold = np.array([[errors[k] for k in shared] for errors in found])
    rule = "minimum" if stopped_early(rule, len(found)) else rule
    return ErrorCurve.from_folds(shared, per_fold, np.array(baselines), part, label(family.whole), rule)


def check_splits(rule: Any, splits: int) -> None:
    """Refuse a rule that needs several folds before any is looked at."""
    if isinstance(rule, str) and rule == FEWEST and splits < 2:
        raise ValueError(
            f"rule={rule!r} needs a standard error, and there is one fold only: give cv at least 2 folds, or take "
            '"minimum".'
        )


def stopped_early(rule: Any, folds: int) -> bool:
    """Whether there are too few folds for a rule, as a callback has stopped; warn if so."""
    if not (isinstance(rule, str) and rule == FEWEST and folds < 2):
        return False
    warn(
        f"rule={rule!r} needs a standard error, and the callback has stopped after one fold: the lowest error is taken "
        'instead (rule="minimum").'
    )
    return True


def grid(most: int, every: bool = False) -> list[int]:
    """Return numbers of components from 0 to `most`: all of them, or each about 1.4 times the one before.

    Examples
    --------
    >>> grid(20)
    [0, 1, 2, 3, 4, 6, 8, 12, 16, 20]
    """
    if every:
        return list(range(most + 1))
    powers = [2**i for i in range(most.bit_length())]
    return sorted({0, most, *(k for power in powers for k in (power, 3 * power // 2) if k <= most)})


def check_components(components: Any) -> list[int]:
    """Return numbers of components in order, each once, or say what is wrong with them."""
    given = [components] if isinstance(components, int | np.integer) else components
    if isinstance(given, Iterable) and not isinstance(given, str):
        numbers = list(given)
        good = all(isinstance(k, int | np.integer) and not isinstance(k, bool) and k >= 0 for k in numbers)
        if good and any(numbers):
            return sorted({int(k) for k in numbers})
    raise ValueError(
        f"{components!r} are no numbers of components: give whole numbers such as range(1, 21) or [2, 5, 10], at least "
        "one of them above 0."
    )


def _count(n_components: Any) -> int | None:
    """Return a number of components; None for rules that a fit must decide."""
    whole = isinstance(n_components, int | np.integer) and not isinstance(n_components, bool)
    return int(n_components) if whole and n_components > 0 else None
