"""Kernel, width and number of components at once, by errors of rows held out."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, MetaEstimatorMixin, TransformerMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from kernelpca.estimators import KernelPCA
from kernelpca.kernels.base import n_rows
from kernelpca.selection.candidates import list_candidates, once, probe
from kernelpca.selection.criteria import Projection, as_criterion
from kernelpca.selection.error_curve import FEWEST, check_components, check_splits
from kernelpca.selection.family import check_estimator
from kernelpca.selection.folds import check_rows, divide, divisions, splitter
from kernelpca.selection.steps import counted
from kernelpca.selection.trials import Found, Trial, try_all
from kernelpca.validation import as_generator, check_numbers
from kernelpca.warn import warn


def _offers(name: str) -> Any:
    """Whether the estimator has a method of this name."""

    def check(search: KernelPCACV) -> bool:
        return hasattr(getattr(search, "best_estimator_", None) or search._given(), name)

    return available_if(check)


def _scores(search: KernelPCACV) -> bool:
    """Whether new rows can be scored: of a matrix of kernel values, k(x, x) of new rows is not known."""
    return not get_tags(search).input_tags.pairwise


class KernelPCACV(ClassNamePrefixFeaturesOutMixin, MetaEstimatorMixin, TransformerMixin, BaseEstimator):
    """Kernel PCA with kernel, width and number of components chosen without labels, on rows held out.

    Each kernel and width is fitted once for each fold, whatever the number of components; the best of all is fitted
    again on all rows.

    Parameters
    ----------
    estimator : KernelPCA or its kin, InvertibleKernelPCA, PCA or None, default=None
        What is to be chosen for; None for `KernelPCA()`. It says everything that is not searched: approximation,
        pre-image, centring. The search spends its time on the way back.
    kernels : list of str or Kernel, optional
        Kernels to compare; the estimator's own when not given.
    gammas : "auto", int, list of numbers or rules, or None, default="auto"
        Widths for each kernel that has one: "auto" for `gamma_grid` where the kernel's own gamma is a rule ("scale",
        as by default) and its own number where it has one; a number of values of that grid; these values; or None for
        what the kernels say.
    n_components : "auto" or iterable of int, default="auto"
        Numbers of components; "auto" for 1, 2, 4, 8 and so on up to 256 or as many as there are.
    criterion : {"denoising", "masked", "reconstruction", "projection"} or Criterion, default="denoising"
        What is best: see the classes of those names, and their parameters. "projection" is measured with each kernel's
        own yardstick and is refused where there are several kernels or widths.
    rule : {"minimum", "one_std_error"}, default="minimum"
        The lowest mean error, or the fewest components within one standard error of it.
    cv : int, splitter or iterable, default=5
        Folds, in random order; or a splitter of scikit-learn or pairs of row numbers. `ShuffleSplit(3, test_size=500)`
        bounds the number of rows that are denoised; splitters that look at labels get y; for those that look at groups
        give `list(cv.split(X, y, groups))`.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the order of rows; None is a fixed one.
    callback : callable, "bar" or None, default=None
        Told a `Step` after each fit; if it returns True the search ends with the fold that it is at.

    Attributes
    ----------
    best_estimator_ : estimator
        Fitted on all rows with what was chosen.
    best_params_ : dict
        What that is: parameters of the estimator.
    best_index_ : int
        Where it is in `cv_results_`.
    best_score_ : float
        Minus its mean error.
    cv_results_ : dict of arrays
        One entry for each kernel, width and number of components, under scikit-learn's names: param_kernel,
        param_gamma, param_n_components, params, split0_test_score and so on, mean_test_score, std_test_score,
        rank_test_score, mean_fit_time (of the fit that all numbers of components share) and mean_score_time; and
        `fraction`, the mean error as a part of the noise or of the variance. Scores are minus errors.
    curves_ : list of ErrorCurve
        The same for each kernel and width, by the number of components.
    n_splits_ : int
        How many folds were looked at.
    criterion_ : Criterion
        What was measured.
    refit_time_ : float
        Seconds of the last fit.
    n_features_in_ : int
        Number of features seen in fit (for numeric data).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelpca.selection import Denoising, KernelPCACV
    >>> X = load_digits().data[:300] / 16
    >>> search = KernelPCACV(gammas=3, n_components=[5, 20, 60], criterion=Denoising(0.3), cv=3).fit(X)
    >>> search.best_params_
    {'kernel': RBF(gamma=0.0591), 'n_components': 60}
    >>> search.denoise(X[:2]).shape
    (2, 64)
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        kernels: Any = None,
        gammas: Any = "auto",
        n_components: Any = "auto",
        criterion: Any = "denoising",
        rule: str = "minimum",
        cv: Any = 5,
        random_state: Any = None,
        callback: Any = None,
    ) -> None:
        self.estimator = estimator
        self.kernels = kernels
        self.gammas = gammas
        self.n_components = n_components
        self.criterion = criterion
        self.rule = rule
        self.cv = cv
        self.random_state = random_state
        self.callback = callback

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose, and fit what was chosen on all of X; y is for a `cv` that looks at labels, and else ignored."""
        before = self.__dict__.copy()
        try:
            self._fit(X, y)
        except BaseException:  # leave everything as it was
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    def transform(self, X: Any) -> Any:
        """(n, d) -> (n, k): scores of the best model."""
        return self._best.transform(self._rows(X))

    @_offers("inverse_transform")
    def inverse_transform(self, Z: Any, reference: Any = None) -> Any:
        """(n, k) -> (n, d): inputs for scores, by the best model; `reference` is what they came from, if known."""
        return self._best.inverse_transform(Z) if reference is None else self._best.inverse_transform(Z, reference)

    @_offers("denoise")
    def denoise(self, X: Any) -> Any:
        """(n, d) -> (n, d): rows projected on the components of the best model and brought back."""
        return self._best.denoise(self._rows(X))

    @_offers("score_samples")
    def score_samples(self, X: Any) -> Any:
        """(n, d) -> (n,): minus the squared distances from the best model's subspace."""
        return self._best.score_samples(self._rows(X))

    @available_if(_scores)
    def score(self, X: Any, y: Any = None) -> float:
        """Return minus the error of the best model on rows X, by the criterion; y is ignored."""
        return float(self.criterion_(self._best, self._rows(X)))

    # the parts

    def _given(self) -> Any:
        return KernelPCA() if self.estimator is None else self.estimator

    @property
    def _best(self) -> Any:
        check_is_fitted(self)
        return self.best_estimator_

    @property
    def _n_features_out(self) -> int:
        return self.best_estimator_.n_components_

    def _rows(self, X: Any) -> Any:
        """Return rows for the best model once names and number of columns are compared."""
        check_is_fitted(self)
        if hasattr(self, "n_features_in_"):
            check_numbers(self, X, reset=False, sparse=True)
        return X

    def _fit(self, X: Any, y: Any) -> None:
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        estimator, self.criterion_ = self._given(), clone(as_criterion(self.criterion))
        if not (isinstance(self.rule, str) and self.rule in ("minimum", FEWEST)):
            raise ValueError(f'rule={self.rule!r} is not known: give "minimum" or "{FEWEST}".')
        asked = None if _is_auto(self.n_components) else [k for k in check_components(self.n_components) if k]
        check_estimator(estimator)
        kernels, gammas = once(self.kernels), once(self.gammas)
        shown, rng = probe(estimator, kernels), as_generator(self.random_state)
        rows = check_rows(shown, X, self)
        candidates = list_candidates(estimator, rows, kernels, gammas)
        if self.criterion_.own_yardstick and len(candidates) > 1:
            raise ValueError(
                f"criterion={self.criterion_.name!r} measures with each kernel's own yardstick, so that it cannot "
                f"compare {len(candidates)} kernels or widths: the widest would win. Take 'denoising', 'masked' or "
                "'reconstruction', which measure in the units of X, or give one kernel and gammas=None."
            )
        pairs = divisions(splitter(self.cv, rng), n_rows(rows), y)
        check_splits(self.rule, len(pairs))
        trials: list[list[Trial]] = []  # of each fold
        with counted(self.callback, len(candidates) * len(pairs)) as step:
            for fold in divide(shown, rows, pairs):
                trials.append(try_all(candidates, fold, asked, self.criterion_, step))
                if step.stopped:
                    break
        found = Found.of(candidates, trials, self.criterion_)
        _tell_left_out(asked, found.curves[0].k)
        self.curves_, self.cv_results_, self.n_splits_ = found.curves, found.table(), len(trials)
        self.best_index_ = found.best(self.rule)
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        began = time.perf_counter()
        self.best_estimator_ = clone(estimator).set_params(**self.best_params_).fit(X)  # with its names
        self.refit_time_ = time.perf_counter() - began

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        kernels = None if isinstance(self.kernels, Iterator) else self.kernels  # which must not be used up here
        given = getattr(self, "best_estimator_", None) or probe(self._given(), kernels)
        if not hasattr(given, "__sklearn_tags__"):  # no estimator at all, as the fit will say
            return tags
        inner = get_tags(given)
        tags.input_tags = inner.input_tags
        tags.input_tags.sparse &= isinstance(self.criterion, Projection) or self.criterion == Projection.name
        tags.transformer_tags = inner.transformer_tags
        return tags


def _tell_left_out(asked: list[int] | None, tried: np.ndarray) -> None:
    """Warn of numbers of components that were asked for, and could not be tried."""
    left_out = [k for k in asked or [] if k not in tried]
    if left_out:
        warn(
            f"n_components={left_out} is more than some fold has rows or features for, and was not tried: give at most "
            "as many as the smallest fold can have, or other folds (cv)."
        )


def _is_auto(given: Any) -> bool:
    return isinstance(given, str) and given == "auto"
