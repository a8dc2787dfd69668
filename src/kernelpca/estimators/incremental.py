"""Kernel PCA of a stream: features that never change, sums over rows that are merged, a model when it is asked for."""

from __future__ import annotations

import inspect
import sys
from copy import copy
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from kernelpca.estimators.approximate import assemble, find_in_moments, near_mean
from kernelpca.estimators.attempt import attempt
from kernelpca.estimators.components import as_components
from kernelpca.estimators.exact import Request
from kernelpca.estimators.feature_plan import check_count, lay_out, plan_features
from kernelpca.estimators.kernel_pca import KernelPCA
from kernelpca.estimators.layout import Layout
from kernelpca.estimators.mapped import choose_map, rows_under
from kernelpca.estimators.plan import Plan
from kernelpca.estimators.row_map import RowMap
from kernelpca.estimators.training import Training, counted_rows
from kernelpca.estimators.way_back import check_preimage
from kernelpca.features import FeatureMap
from kernelpca.features.moments import Moments, gather
from kernelpca.kernels import as_kernel
from kernelpca.kernels.base import Rows, dtype_of, n_rows
from kernelpca.kernels.custom import Precomputed
from kernelpca.preimage import as_preimage
from kernelpca.remote import RemoteRows, as_remote, gathered, is_remote
from kernelpca.solvers.watch import Callback
from kernelpca.tiles import all_tiles, available_threads, one_blas_thread
from kernelpca.validation import as_generator, check_weights

KEPT = 1024  # rows that are kept, the first that came, to say how good the features are
LONGER = 10  # times the first batch: streams are at least so long, or rounding may count for all of the tolerance
COLUMNS = ("n_features_in_", "feature_names_in_")
FOLLOWS = {  # what follows from the sums, and is worked out when it is asked for
    "_decomposition",
    "_inverse",
    "_counted",
    "eigenvalues_",
    "n_components_",
    "explained_variance_",
    "total_variance_",
    "explained_variance_ratio_",
    "components_",
    "certificate_",
    "plan_",
}


@dataclass(frozen=True)
class Stream:
    """What is known of a stream of rows.

    Attributes
    ----------
    map : RowMap
        What rows become.
    layout : Layout
        How a batch is worked on.
    rows : rows
        The first of them.
    moments : Moments
        Sums over all of them.
    n : int
        How many they were, rows of weight zero not counted.
    dtype : dtype
        The precision of the answer.
    answers : list of KernelPCA
        The model, once it was asked for.
    """

    map: RowMap
    layout: Layout
    rows: Rows
    moments: Moments
    n: int
    dtype: np.dtype
    answers: list[KernelPCA] = field(default_factory=list, repr=False)

    def add(self, X: Rows, weights: np.ndarray | None, forget: float | None) -> Stream:
        """Return the stream with a batch of rows added, each of which makes those before it count for less."""
        n, moments = n_rows(X), self.moments
        if forget is not None:
            weights, left = forgotten(np.ones(n) if weights is None else weights, forget)
            moments = moments.scaled(left)
        batch = gather(
            all_tiles(n, 1, even_rows(n, self.layout.rows)), moments.shift, lambda rows: self.map(X[rows]), weights
        )
        room = KEPT - n_rows(self.rows)
        rows = stacked(self.rows, gathered(X[:room])) if room > 0 else self.rows
        return replace(self, rows=rows, moments=moments.merge(batch), n=self.n + n)

    def empty(self) -> Stream:
        """Return the same with no rows."""
        return replace(self, moments=Moments.about(self.moments.shift), n=0)


@dataclass(frozen=True)
class Waiting:
    """Rows of a stream that are kept, as they are too few to choose its features.

    Attributes
    ----------
    rows : rows
        All that came.
    weights : ndarray of shape (n,) or None
        Their weights.
    """

    rows: Rows
    weights: np.ndarray | None

    def above(self, X: Rows, weights: np.ndarray | None) -> tuple[Rows, np.ndarray | None]:
        """Return rows X and their weights with these before them."""
        rows = stacked(self.rows, X)
        if self.weights is None and weights is None:
            return rows, None
        before, now = (
            np.ones(n_rows(part)) if w is None else w for part, w in ((self.rows, self.weights), (X, weights))
        )
        return rows, np.concatenate([before, now])


def stacked(above: Rows, below: Rows) -> Rows:
    """Return rows one below the other, wherever and of whatever form they are."""
    if isinstance(below, RemoteRows):
        return below.below(above.toarray() if sparse.issparse(above) else above)
    if sparse.issparse(above) or sparse.issparse(below):
        return sparse.vstack([above, below], format="csr")
    return np.concatenate([above, below])


def forgotten(weights: np.ndarray, forget: float) -> tuple[np.ndarray, float]:
    """(n,) -> (n,), float: what rows weigh once those after them have come, and what is left of all rows before.

    A row of weight w is like w rows of weight one: the last of them weighs 1, the one before 1 - forget, and so on.
    """
    rate = np.log1p(-forget)
    after = weights[::-1].cumsum()[::-1] - weights
    return np.exp(rate * after) * np.expm1(rate * weights) / np.expm1(rate), float(np.exp(rate * weights.sum()))


class IncrementalKernelPCA(KernelPCA):
    """Kernel PCA of rows that come in batches and are not kept.

    The first batch fixes the features (random ones, or landmarks chosen from it or given) and the kernel's defaults;
    from then on count, mean and covariance of the features are added up in float64. The model is that of `KernelPCA`
    on all rows with the same features, whatever the order and the size of the batches; it is worked out when it is
    asked for, so that `partial_fit` costs no more than its rows. A first batch with too few rows to choose landmarks
    from is kept until others bring enough: together they count as the first batch.

    Parameters
    ----------
    n_components : int, float, ("relative", eps) or None, default=2
        How many components, as in `KernelPCA`.
    kernel : str, Kernel or callable, default="rbf"
        What similarity means. Defaults such as gamma="scale" are made numbers on the first batch, whose rows landmarks
        are chosen from, too.
    approximation : str or feature map, default="fourier"
        Features that stand for the kernel: "fourier", "nystrom", "relu", or an object of `kernelpca.features`. With
        `Nystrom(n_landmarks)` rows are kept until there are so many. With "nystrom" they are kept until there is one
        more than components; then all of them (at most 1000) are landmarks, so say how many you want where batches are
        small.
    forget : float or None, default=None
        How much of its weight a row loses with each row that comes after it, for data that drift: about the last
        1/forget rows count. None to remember all alike.
    solver, center, tol, memory_limit, random_state, callback
        As in `KernelPCA`.
    preimage : str, pre-image object or None, default=None
        As in `KernelPCA`, but for methods that learn from training rows, which are not kept.

    Attributes
    ----------
    n_samples_seen_ : int
        How many rows came, those of weight zero not counted.
    eigenvalues_, explained_variance_, explained_variance_ratio_, components_, certificate_, plan_, ...
        As in `KernelPCA`; worked out when they are asked for.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpca import IncrementalKernelPCA
    >>> rng = np.random.default_rng(0)
    >>> model = IncrementalKernelPCA(n_components=3)
    >>> for _ in range(5):
    ...     model = model.partial_fit(rng.standard_normal((200, 4)))
    >>> model.n_samples_seen_, model.transform(rng.standard_normal((2, 4))).shape
    (1000, (2, 3))
    """

    def __init__(
        self,
        n_components: Any = 2,
        *,
        kernel: Any = "rbf",
        approximation: Any = "fourier",
        forget: float | None = None,
        solver: Any = "auto",
        preimage: Any = None,
        center: bool = True,
        tol: float = 1e-4,
        memory_limit: int | float | str | None = None,
        random_state: Any = None,
        callback: Callback | str | None = None,
    ) -> None:
        super().__init__(
            n_components,
            kernel=kernel,
            approximation=approximation,
            solver=solver,
            preimage=preimage,
            center=center,
            tol=tol,
            memory_limit=memory_limit,
            random_state=random_state,
            callback=callback,
        )
        self.forget = forget

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add a batch of rows, of any size.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows, with the same columns in every batch.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            How many times each row counts, on one scale for all batches; 0 for all of them changes nothing.
        """
        with attempt(self, X) as callback:
            approximation = self._check_parts()
            rows, weights = self._check_batch(X, sample_weight)
            if not n_rows(rows):
                return self
            if "_waiting" in vars(self):
                rows, weights = self._waiting.above(rows, weights)
            if "_stream" in vars(self) or n_rows(rows) >= self._needed(approximation)[0]:
                self._take(approximation, rows, weights, callback)
            else:
                self._wait(approximation, rows, weights)
        return self

    def merge(self, other: IncrementalKernelPCA) -> Self:
        """Add the rows that another model has seen, which must have the same features: one made by `fork`.

        Returns
        -------
        self : IncrementalKernelPCA
            The model of the rows of both.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        if self.forget is not None or other.forget is not None:
            raise ValueError(
                "Models that forget cannot be merged: which rows came first is not known. Set forget=None in both, or "
                "give all batches to one model."
            )
        if not same(self._stream.map, other._stream.map):
            raise ValueError(
                "The two models have different features, so their sums cannot be added. Start one model with "
                "partial_fit(first_batch), give each worker a model.fork(), and merge those."
            )
        merged = self._stream.moments.merge(other._stream.moments)
        self._keep(replace(self._stream, moments=merged, n=self._stream.n + other._stream.n))
        return self

    def fork(self) -> Self:
        """Return a model with the same features that has seen no rows: for another worker, to be merged later."""
        check_is_fitted(self)
        model = clone(self)
        for name in ("kernel_", *COLUMNS):
            if hasattr(self, name):
                setattr(model, name, getattr(self, name))
        model._keep(self._stream.empty())
        return model

    def explain_plan(self, X: Any) -> Plan:
        """Tell how the first batch X would be worked on, before anything large is allocated."""
        approximation, X = self._check_parts(), as_remote(X) if is_remote(X) else X
        self._check_enough(approximation, n_rows(clone(self)._check_rows(X, reset=True)))
        return super().explain_plan(X)

    # the parts

    _stream: Stream
    _waiting: Waiting

    def __getattr__(self, name: str) -> Any:
        """Return what follows from the sums, worked out once for each state of them."""
        if name not in FOLLOWS or not {"_stream", "_waiting"} & vars(self).keys():
            return object.__getattribute__(self, name)
        self.__sklearn_is_fitted__()
        answers = self._stream.answers
        if not answers:
            answers.append(self._conclude())
        return getattr(answers[0], name)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether the features are chosen; say what a model is waiting for."""
        if "_waiting" in vars(self):
            needed, purpose = self._needed(self._check_parts())
            seen = n_rows(self._waiting.rows)
            raise NotFittedError(
                f"This {type(self).__name__} has seen {seen} of the {needed} rows that it needs {purpose}. Give at "
                f"least {max(needed - seen, 1)} more to partial_fit first."
            )
        return "_stream" in vars(self)

    def _fit_anew(self, X: Any, sample_weight: Any, callback: Callback | None, scores: bool) -> None:
        for name in [name for name in vars(self) if name == "_stream" or name.endswith("_")]:
            delattr(self, name)
        approximation = self._check_parts()
        rows, weights = counted(self._check_rows(X, reset=True), sample_weight)
        self._check_enough(approximation, n_rows(rows))
        self._take(approximation, rows, weights, callback)

    def _take(
        self, approximation: FeatureMap, rows: Rows, weights: np.ndarray | None, callback: Callback | None
    ) -> None:
        """Add rows to the sums; the first choose the features."""
        with one_blas_thread:
            if "_stream" not in vars(self):
                self.kernel_ = clone(as_kernel(self.kernel)).resolve(rows, weights)
                check_preimage(self.preimage, self.kernel_, approximation, rows)
                self._keep(self._begin(approximation, rows, callback))
                self.__dict__.pop("_waiting", None)
            self._keep(self._stream.add(rows, weights, self.forget))

    def _wait(self, approximation: FeatureMap, rows: Rows, weights: np.ndarray | None) -> None:
        """Keep a copy of rows that are too few; what is wrong with the parameters is said at once."""
        if "_waiting" not in vars(self):
            kernel, r = as_kernel(self.kernel), approximation.size_of(self._needed(approximation)[0])
            kernel = kernel.resolve(rows, weights)
            check_preimage(self.preimage, kernel, approximation, rows)
            check_count(self._request(sys.maxsize), r, approximation.count_name)
            approximation.check_for(kernel, rows)
        self._waiting = Waiting(gathered(rows).copy(), None if weights is None else weights.copy())
        self.n_samples_seen_ = n_rows(rows)

    def _needed(self, approximation: FeatureMap) -> tuple[int, str]:
        """Return how many rows features can be chosen from, and what so many are for."""
        k = as_components(self.n_components, sys.maxsize).count or 1
        # centered features have one direction less than there are rows
        reasons = [approximation.least_rows(k + bool(self.center))]
        if self.center:
            reasons.append((2, "to be centered"))
        return max(reasons)

    def _check_enough(self, approximation: FeatureMap, n: int) -> None:
        """Refuse so few rows that features cannot be chosen from them."""
        needed, purpose = self._needed(approximation)
        if n < needed:
            fewer = "; or take fewer landmarks, or some of your own: Nystrom(landmarks=rows)"
            raise ValueError(
                f"X has {n} rows that count, and at least {needed} are needed {purpose}. Give more rows, or batches to "
                f"partial_fit, which waits until there are enough{fewer if approximation.spans_rows else ''}."
            )

    def _begin(self, approximation: FeatureMap, rows: Rows, callback: Callback | None) -> Stream:
        """Choose features on the first rows; float32 is taken where it tells their components apart."""
        # more rows will come: components are limited by features alone
        request = self._request(max(n_rows(rows), approximation.size_of(n_rows(rows))), callback)
        layout = lay_out(approximation, self.kernel_, rows, request)

        def begun(layout: Layout) -> Stream:
            rng = as_generator(self.random_state)
            make = choose_map(approximation, self.kernel_, rows, request, layout.dtype, rng, LONGER * n_rows(rows))
            mapped = rows_under(make, approximation, self.kernel_, rows)
            none = gathered(rows[:1])[:0]
            return Stream(make, layout, none, Moments.about(near_mean(mapped)), 0, dtype_of(rows))

        stream = begun(layout)
        if layout.dtype != dtype_of(rows):
            mapped, found = self._find(stream.add(rows, None, None), request)
            if mapped.digits_lost(found.values, request.tol):
                stream = begun(replace(layout, dtype=dtype_of(rows)))
        return stream

    def _find(self, stream: Stream, request: Request) -> tuple[Any, Any]:
        """Return the rows of a stream under its map, and the directions that their sums have."""
        mapped = replace(rows_under(stream.map, self._check_parts(), self.kernel_, stream.rows), n=stream.n)
        moments = stream.moments.scaled(stream.n / stream.moments.weight)

        def planner(size: int, k: int) -> Plan:
            return plan_features(stream.layout, mapped.name, size, k, request)

        return mapped, find_in_moments(mapped, moments, request, planner)

    def _conclude(self) -> KernelPCA:
        """Work out the model that the sums have."""
        stream = self._stream
        count = as_components(self.n_components, sys.maxsize).count or 1
        least = max(count, 2 if self.center else 1)
        if stream.n < least:
            purpose = f" for {count} components" if count > 2 else ""
            raise NotFittedError(
                f"{stream.n} rows have been seen, and {least} are needed{purpose}: give a batch to partial_fit first."
            )
        request = self._request(stream.n)
        with one_blas_thread:
            mapped, found = self._find(stream, request)
            kept = n_rows(stream.rows)
            used = None if mapped.used is None else mapped.used[mapped.used < kept]
            of_rows = replace(mapped, n=kept, used=used)
            rng = as_generator(self.random_state)
            fit = assemble(of_rows, found, request, stream.layout.rows, None, stream.dtype, rng)
        names = inspect.signature(KernelPCA).parameters
        answer = KernelPCA(**{name: getattr(self, name) for name in names})
        answer.kernel_ = self.kernel_
        answer._store(fit, Training(stream.rows, seen=stream.n))
        return answer

    def _keep(self, stream: Stream) -> None:
        """Keep the sums."""
        self._stream = replace(stream, answers=[])
        self.n_samples_seen_ = stream.n

    def _check_parts(self) -> FeatureMap:
        """Return the features, or say what a stream cannot have."""
        approximation = self._feature_map()
        if approximation is None or isinstance(as_kernel(self.kernel), Precomputed):
            raise ValueError(
                f"approximation={self.approximation!r} with kernel={self.kernel!r} is not possible for a stream: its "
                "rows are not kept, so features must stand for the kernel. Give approximation='fourier' or 'nystrom' "
                "(or an object of kernelpca.features), and a kernel of rows."
            )
        if self.preimage is not None and as_preimage(self.preimage).learns:
            raise ValueError(
                f"preimage={self.preimage!r} learns from training rows, which a stream does not keep: choose "
                "'gradient', 'fixed_point' (with landmarks) or 'invertible' (with random features), or None."
            )
        good = isinstance(self.forget, int | float | np.number) and not isinstance(self.forget, bool)
        if self.forget is not None and not (good and 0 < self.forget < 1):
            raise ValueError(
                f"forget={self.forget!r}: give the part of its weight that a row loses with each later one, above 0 "
                "and below 1, such as 1e-4 for the last 10,000 rows or so; or None."
            )
        return approximation

    def _check_batch(self, X: Any, sample_weight: Any) -> tuple[Rows, np.ndarray | None]:
        """Return the rows of a batch that count, and their weights."""
        begun, first = "_stream" in vars(self), not {"_stream", "_waiting"} & vars(self).keys()
        single = copy(self)  # one row is a batch, though not enough to be centered on its own
        single.center = False
        if not begun:
            single.kernel_ = as_kernel(self.kernel)
        try:
            rows = single._check_rows(as_remote(X) if is_remote(X) else X, reset=first)
        except ValueError as error:
            if not first and "expecting" in str(error):
                raise ValueError(
                    f"{str(error).rstrip('.')}. Every batch needs the columns of the first one; for other columns "
                    "begin a new model with sklearn.base.clone(model)."
                ) from error
            raise
        self.__dict__.update((name, value) for name, value in vars(single).items() if name in COLUMNS)
        return counted(rows, sample_weight, some=False)


def counted(rows: Rows, sample_weight: Any, some: bool = True) -> tuple[Rows, np.ndarray | None]:
    """Return the rows that count, `some` of which there must be, and their weights."""
    weights = check_weights(sample_weight, n_rows(rows), some)
    if weights is None or weights.all():
        return rows, weights
    return counted_rows(rows, weights > 0), weights[weights > 0]


def even_rows(n: int, most: int) -> int:
    """Return rows of a block, at most so many, that give every worker the same number of blocks."""
    rounds = -(-n // (most * available_threads()))
    return max(-(-n // (rounds * available_threads())), 1)


def same(a: Any, b: Any) -> bool:
    """Whether two parts, made of dataclasses and arrays, are the same."""
    if type(a) is not type(b):
        return False
    if is_dataclass(a):
        return all(same(getattr(a, part.name), getattr(b, part.name)) for part in fields(a))
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b)
    return bool(a is b or (repr(a) == repr(b) and np.all(a == b)))
