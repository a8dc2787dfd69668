"""What candidates did on each fold, as a table, and which of them is best."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.stats import rankdata

from kernelpca.selection.candidates import Candidate
from kernelpca.selection.criterion import Criterion
from kernelpca.selection.error_curve import FEWEST, ROUNDING, ErrorCurve, stopped_early
from kernelpca.selection.family import Family, largest_size
from kernelpca.selection.folds import Fold

MOST = 256  # components that are tried when the user does not say


@dataclass(frozen=True)
class Trial:
    """One candidate on one fold.

    Attributes
    ----------
    errors : dict
        By the number of components.
    baseline : float
        What they are to be a fraction of.
    fit_time, score_time : float
        Seconds of the fit, and of each number of components.
    """

    errors: dict[int, float]
    baseline: float
    fit_time: float
    score_time: float


def try_all(
    candidates: list[Candidate], fold: Fold, asked: list[int] | None, criterion: Criterion, step: Callable[[str], Any]
) -> list[Trial]:
    """Fit each candidate once, and measure it with every number of components on the same task."""
    task = criterion.prepare(fold.test, fold.diagonal)
    trials = []
    for candidate in candidates:
        possible = largest_size(candidate.estimator, fold.train)
        ks = [k for k in (doubled(min(MOST, possible)) if asked is None else asked) if k <= possible]
        if not ks:
            raise ValueError(
                f"n_components={asked} is not possible with n_samples = {possible} in a fold: give at most that many, "
                "or fewer folds (cv)."
            )
        began = time.perf_counter()
        family = Family(candidate.estimator, fold.train, ks[-1])
        fitted = time.perf_counter()
        errors, baseline = criterion.errors(family, ks, task)
        seconds = (time.perf_counter() - fitted) / len(ks)
        trials.append(Trial(dict(zip(ks, errors.tolist(), strict=True)), baseline, fitted - began, seconds))
        step(candidate.name)
    return trials


def doubled(most: int) -> list[int]:
    """Return 1, 2, 4, 8 and so on up to `most`, and that."""
    return sorted({most, *(2**i for i in range(most.bit_length()))})


@dataclass(frozen=True)
class Found:
    """What a search has found.

    Attributes
    ----------
    candidates : list of Candidate
        What was tried.
    trials : list of list of Trial
        What each did, fold by fold.
    curves : list of ErrorCurve
        Errors of each candidate, by the number of components.
    """

    candidates: list[Candidate]
    trials: list[list[Trial]]
    curves: list[ErrorCurve]

    @classmethod
    def of(cls, candidates: list[Candidate], trials: list[list[Trial]], criterion: Criterion) -> Found:
        """Put folds together; numbers of components count that were possible in all of them."""
        ks = sorted(set.intersection(*(set(trial.errors) for fold in trials for trial in fold)))
        curves = []
        for i, candidate in enumerate(candidates):
            per_fold = np.array([[fold[i].errors[k] for k in ks] for fold in trials])
            baselines = np.array([fold[i].baseline for fold in trials])
            curves.append(ErrorCurve.from_folds(ks, per_fold, baselines, criterion, candidate.name, "minimum"))
        return cls(candidates, trials, curves)

    @cached_property
    def per_fold(self) -> np.ndarray:
        """(folds, candidates * numbers of components): all errors."""
        return np.concatenate([curve.per_fold for curve in self.curves], axis=1)

    def best(self, rule: str) -> int:
        """Return which entry has the lowest mean error, and the fewest components of those that are as good."""
        mean = self.per_fold.mean(axis=0)
        lowest = int(mean.argmin())
        k = np.concatenate([curve.k for curve in self.curves])
        if rule == FEWEST and not stopped_early(rule, len(self.per_fold)):
            allowed = np.concatenate([curve.std_error for curve in self.curves])[lowest]
        else:
            allowed = ROUNDING * self.curves[lowest // len(self.curves[0].k)].baseline
        good = np.flatnonzero(mean <= mean[lowest] + allowed)
        return int(good[np.lexsort((mean[good], k[good]))[0]])

    def table(self) -> dict[str, Any]:
        """Return one entry for each candidate and number of components, under scikit-learn's names."""
        pairs = [(i, int(k)) for i, curve in enumerate(self.curves) for k in curve.k]
        of, scores = np.array([i for i, _ in pairs]), -self.per_fold
        table: dict[str, Any] = {}
        for name in ("fit_time", "score_time"):
            seconds = np.array([[getattr(trial, name) for trial in fold] for fold in self.trials])
            table[f"mean_{name}"], table[f"std_{name}"] = seconds.mean(axis=0)[of], seconds.std(axis=0)[of]
        table["param_kernel"] = np.array([self.candidates[i].name for i in of], dtype=object)
        table["param_gamma"] = np.array([self.candidates[i].gamma for i in of])
        table["param_n_components"] = np.array([k for _, k in pairs])
        table["params"] = [self.candidates[i].params | {"n_components": k} for i, k in pairs]
        table |= {f"split{i}_test_score": row for i, row in enumerate(scores)}
        table["mean_test_score"], table["std_test_score"] = scores.mean(axis=0), scores.std(axis=0)
        table["rank_test_score"] = rankdata(-table["mean_test_score"], method="min").astype(np.int32)
        table["fraction"] = np.concatenate([curve.fraction for curve in self.curves])
        return table
