"""What a kernel is: a similarity of two rows, computed for blocks of rows at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array

from kernelpca.kernels.slopes import COMBINED, WITH_DISTANCE, WITH_PRODUCT, WITH_PULL, WITH_SLOPES, Slopes, pull_from
from kernelpca.kernels.spectral import WITH_SPECTRUM, Draw
from kernelpca.parts import Part
from kernelpca.remote import RemoteRows, gathered
from kernelpca.tiles import TILE, all_tiles, blocks, half_tiles, row_blocks, share_out

if TYPE_CHECKING:
    from kernelpca.kernels.algebra import Normalized
    from kernelpca.kernels.kernel_rbf import KernelRBF

Rows = Any  # (n, d) array or sparse matrix, or n strings: whatever the kernel's domain says


FEW = 512  # rows up to which waking another thread takes longer than it saves
PARTS = 3  # that a small matrix is cut into, each way
WHOLE = 256  # rows up to which it is not
DIAGONAL, DIAGONAL_NUMBERS = 4 * TILE, 2**20  # rows, and numbers in them, of which k(x, x) is made at a time
FORGIVEN = 8  # eps of squared lengths that a difference of them may be off by
ENTRY = 10  # eps of the largest that kernel values may be off by without being called wrong


class Kernel(Part, ABC):
    """A similarity k(x, y) of two samples.

    A subclass writes `compute`, `diag` and its flags; calling, algebra, parameters, comparison and printing are
    here. Flags may be properties where they depend on parameters.

    Attributes
    ----------
    positive_definite : bool
        Whether every matrix of this kernel is positive semi-definite.
    positive_once_centered : bool
        Whether every centered matrix of it is: positive definite up to a constant or to terms that centring removes.
    stationary : bool
        Whether k(x, y) depends on x - y alone.
    movable : bool
        Whether a common shift of all samples changes nothing once the features are centered: true of stationary
        kernels, of the linear kernel and of their sums.
    unit_diagonal : bool
        Whether k(x, x) = 1 for every x.
    has_spectrum : bool
        Whether `spectral` can draw its frequencies.
    differentiable : bool
        Whether `pull` can say how sums of kernel values change with the first sample.
    rotatable : bool
        Whether k depends on dot products and norms alone, so that turning all samples changes nothing. With
        `differentiable` it means that there are `slopes`.
    radial : bool
        Whether k depends on the Euclidean distance |x - y| alone; the slopes are then toward and away from y.
    tells_distance : bool
        Whether `distances_from` can tell the Euclidean distance of two samples from their kernel value.
    tells_product : bool
        Whether `products_from` can tell their dot product from it.
    exact_distances : bool
        Whether `feature_distances` are made without the difference of large numbers.
    domain : {"real", "nonnegative", "text", "any", "precomputed"}
        What a sample may be.
    takes_sparse : bool
        Whether scipy sparse rows are accepted (and never made dense).
    parallel : bool
        Whether `compute` may run in several threads at once.
    tile : int
        Most rows of a block given to `compute`; smaller where a single pair is costly.
    """

    positive_definite: bool = True
    positive_once_centered = property(lambda self: self.positive_definite)
    stationary: bool = False
    movable: bool = False
    unit_diagonal: bool = False
    has_spectrum: bool = False
    differentiable: bool = False
    rotatable: bool = False
    radial: bool = False
    tells_distance: bool = False
    tells_product: bool = False
    exact_distances: bool = False
    domain: str = "real"
    takes_sparse: bool = False
    parallel: bool = True
    tile: int = TILE

    @abstractmethod
    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """(n, d), (m, d) -> write k(x_i, y_j) into `out` (n, m). No checks: rows come from `check`."""

    @abstractmethod
    def diag(self, X: Rows) -> np.ndarray:
        """(n, d) -> (n,): k(x_i, x_i)."""

    def feature_distances(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """(n, d), (m, d) -> write |phi(x_i) - phi(y_j)|^2 into `out`: k(x, x) + k(y, y) - 2 k(x, y).

        Kernels that can tell it without the difference of large numbers do. Of others what may be rounding is taken
        off, so that equal samples are at distance zero.
        """
        self.compute(X, Y, out)
        keep = out.dtype.type(1 - FORGIVEN * np.finfo(out.dtype).eps if self.positive_definite else 1)
        with np.errstate(over="ignore", invalid="ignore"):
            out *= -2.0
            out += (keep * self.diag(X))[:, None]
            out += keep * self.diag(Y)
        if self.positive_definite:
            np.maximum(out, 0.0, out=out)

    def steepness(self, d: int) -> float:
        """Return by how much a kernel value may change, as a part of k(x, x), where a row of d numbers moves by one.

        Zero for kernels that are not stationary: what rows lose there is no more than what products lose.
        """
        return 0.0

    def rounding(self, X: Rows, dtype: np.dtype) -> float:
        """Return by how much kernel values of rows X may be off that are worked on in `dtype`.

        Beyond a few eps of the largest, which everything here loses: rows in another precision are rounded first, and a
        kernel may be steep where its argument is known badly.
        """
        return 0.0

    def for_centering(self) -> Kernel:
        """Return a kernel that differs by a constant only, which centring removes, and loses fewer digits.

        Where all kernel values are near one, what centring leaves is in the last digits of k and in the first of
        k - 1.
        """
        return self

    def resolve(self, X: Rows, weights: np.ndarray | None = None) -> Self:
        """Return this kernel with every default that depends on data made a number.

        With sample weights, means over the data are weighted means; medians are not weighted.
        """
        return self

    def __call__(self, X: Rows, Y: Rows | None = None, *, threads: int | None = None) -> np.ndarray:
        """(n, d), (m, d) -> (n, m): the kernel matrix; with X alone it is exactly symmetric.

        The matrix is filled tile by tile on all cores, in the dtype of the input.
        """
        X = self.check(X)
        from kernelpca.kernels.origin import origin_of

        if Y is None:
            return self.matrix(shifted(X, origin_of(self, X, center=False)), threads)
        workers = threads if self.parallel else 1
        Y = self.check(Y)
        check_same_width(X, Y)
        origin = origin_of(self, Y, center=False)
        X, Y = shifted(X, origin), shifted(Y, origin)
        K = np.empty((n_rows(X), n_rows(Y)), dtype=np.promote_types(dtype_of(X), dtype_of(Y)))

        def work_on_pair(_: None, rows: slice, cols: slice) -> None:
            self.compute(X[rows], Y[cols], K[rows, cols])

        share_out(all_tiles(n_rows(X), n_rows(Y), self.tile), work_on_pair, lambda: None, workers)
        return K

    def matrix(self, X: Rows, threads: int | None = None) -> np.ndarray:
        """(n, d) -> (n, n): exactly symmetric. No checks: rows come from `check`."""
        n = n_rows(X)
        K = np.empty((n, n), dtype=dtype_of(X))

        def work(_: None, rows: slice, cols: slice) -> None:
            self.compute(X[rows], X[cols], K[rows, cols])
            if rows == cols:
                tile = K[rows, cols]
                np.copyto(tile, tile.T.copy(), where=np.tri(len(tile), k=-1, dtype=bool))
            else:
                K[cols, rows] = K[rows, cols].T

        size = min(self.tile, max(-(-n // PARTS), WHOLE))  # small matrices are cut too: half of them is enough
        workers = threads if self.parallel and n > FEW else 1
        share_out(half_tiles(n, size), work, lambda: None, workers)
        np.fill_diagonal(K, self.diag(X))
        return K

    def check(self, X: Rows) -> Rows:
        """Return X as rows this kernel can work on, or say what is wrong with it."""
        if self.domain in ("any", "precomputed"):
            return X
        if self.domain == "text":
            return check_text(X, self)
        if sparse.issparse(X) and not self.takes_sparse:
            raise TypeError(
                f"{type(self).__name__} does not take sparse input: it is not a function of dot products. "
                "Give X.toarray(), or use a kernel that is one (linear, polynomial, rbf, cosine, hellinger)."
            )
        if not (isinstance(X, RemoteRows) or _is_clean(X)):
            X = check_array(X, accept_sparse="csr" if self.takes_sparse else False, dtype=[np.float64, np.float32])
        if self.domain == "nonnegative":
            check_nonnegative(X, self)
        return X

    def spectral(self, draw: Draw) -> np.ndarray:
        """Return (r, d): random frequencies w with k(x, y) = k(0) E cos(w'(x - y)), from a resolved kernel."""
        raise ValueError(
            f"{self!r} has no spectrum that frequencies could be drawn from. Kernels that have one: {WITH_SPECTRUM}."
        )

    # slopes: see kernels/slopes.py; no checks, one thread, dense rows of one dtype

    def slopes(self, X: np.ndarray, Y: np.ndarray) -> Slopes:
        """(n, d), (m, d) -> kernel values (n, m) and how they change with x_i, along x_i and toward y_j."""
        raise ValueError(
            f"{self!r} has no slopes along x and toward y: it has no gradient, or is no function of dot products and "
            f"norms alone. Kernels that have them: {WITH_SLOPES}; {COMBINED}."
        )

    def slopes_less_one(self, X: np.ndarray, Y: np.ndarray) -> Slopes:
        """(n, d), (m, d) -> values less one, with the same slopes; for kernels that offer `compute_less_one`."""
        return replace(self.slopes(X, Y), values=values_of(self.for_centering(), X, Y))

    def pull(self, X: np.ndarray, Y: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, d), (m, d), (n, m) -> (n,), (n, d): sum_j C_ij k(x_i, y_j), and its gradient in x_i."""
        if self.differentiable and self.rotatable:
            return pull_from(self.slopes(X, Y), X, Y, C)
        raise self._no_gradient()

    def pull_diagonal(self, X: np.ndarray) -> np.ndarray:
        """(n, d) -> (n, d): the gradient of k(x_i, x_i) in x_i."""
        if self.differentiable and (self.stationary or self.unit_diagonal):
            return np.zeros_like(X)
        raise self._no_gradient()

    def _no_gradient(self) -> ValueError:
        return ValueError(f"{self!r} has no gradient in its samples. Kernels that have one: {WITH_PULL}; {COMBINED}.")

    def distances_from(self, values: np.ndarray) -> np.ndarray:
        """Kernel values of any shape -> squared Euclidean distances of the samples, float64.

        Values that no distance gives count as the nearest that one gives: those above k(x, x) as distance zero, those
        too low as the distance at which the kernel has fallen to eps of its height.
        """
        raise ValueError(
            f"{self!r} does not tell the distance of two samples. Kernels that do, falling as the distance grows: "
            f"{WITH_DISTANCE}."
        )

    def products_from(self, values: np.ndarray) -> np.ndarray:
        """Kernel values of any shape -> dot products of the samples, float64."""
        raise ValueError(
            f"{self!r} does not tell the dot product of two samples. Kernels that do, rising or falling with it: "
            f"{WITH_PRODUCT}."
        )

    # algebra: see kernels/algebra.py

    def __add__(self, other: Kernel | float) -> Kernel:
        from kernelpca.kernels.algebra import add

        return add(self, other)

    __radd__ = __add__

    def __mul__(self, other: Kernel | float) -> Kernel:
        from kernelpca.kernels.algebra import multiply

        return multiply(self, other)

    __rmul__ = __mul__

    def rbf(self, gamma: float | str = "scale") -> KernelRBF:
        """Return exp(-gamma |phi(x) - phi(y)|^2): a Gaussian in this kernel's feature space."""
        from kernelpca.kernels.kernel_rbf import KernelRBF

        return KernelRBF(self, gamma)

    def normalize(self) -> Normalized:
        """Return k(x, y) / sqrt(k(x, x) k(y, y)): the cosine in this kernel's feature space."""
        from kernelpca.kernels.algebra import Normalized

        return Normalized(self)


def _is_clean(X: Rows) -> bool:
    """Whether X is an array of finite numbers, as an estimator has checked it: looking twice would take its time."""
    return type(X) is np.ndarray and X.ndim == 2 and X.dtype.char in "fd" and X.size > 0 and bool(np.isfinite(X.sum()))


def n_rows(X: Rows) -> int:
    """Count the rows of an array, a sparse matrix or a list."""
    return X.shape[0] if hasattr(X, "shape") else len(X)


def spread_rows(X: Rows, most: int = 1000) -> Rows:
    """Return at most `most` rows, spread evenly over X; X itself where it has no more."""
    return gathered(X) if n_rows(X) <= most else X[spread_numbers(n_rows(X), most)]


def spread_numbers(n: int, most: int) -> np.ndarray:
    """Return at most `most` of n row numbers, spread evenly."""
    return np.linspace(0, n - 1, min(n, most)).astype(int)  # steps are one at least: none comes twice


def dtype_of(X: Rows) -> np.dtype:
    """Return the floating dtype that kernels of X are computed in."""
    return np.dtype(np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64)


def total_variance(X: Rows, weights: np.ndarray | None = None) -> float:
    """(n, d), (n,) -> the variance of all numbers in rows, with weights of the rows.

    A block of rows at a time, about its own mean: no copy of X is made, and no digits cancel.
    """
    if isinstance(X, RemoteRows):
        return X.var() if weights is None else X.weighted_var(weights)
    count = mean = squares = 0.0
    for rows in row_blocks(X):
        w = None if weights is None else weights[rows]
        own, here, spread = _spread_of(X[rows], w)
        if own > 0:
            apart, part = here - mean, own / (count + own)
            squares += spread + apart * apart * count * part
            mean, count = mean + apart * part, count + own
    return squares / count if count > 0 else 0.0


def _spread_of(X: Rows, weights: np.ndarray | None) -> tuple[float, float, float]:
    """(b, d), (b,) -> weight and mean of all numbers, and the sum of their weighted squares about it, in float64."""
    if weights is None and not sparse.issparse(X):
        mean = float(X.mean(dtype=np.float64))
        apart = np.subtract(X, mean, dtype=np.float64).ravel()
        return float(X.size), mean, float(np.einsum("i,i->", apart, apart))
    w = np.ones(X.shape[0]) if weights is None else weights
    total = float(w.sum()) * X.shape[1]
    if total == 0:
        return 0.0, 0.0, 0.0
    if not sparse.issparse(X):
        mean = float(w @ X.sum(axis=1, dtype=np.float64)) / total
        apart = np.subtract(X, mean, dtype=np.float64)
        return total, mean, float(w @ np.einsum("ij,ij->i", apart, apart))
    X = X.tocsr()
    X.sum_duplicates()
    counts = np.diff(X.indptr)
    each = np.repeat(w, counts)
    mean = float(np.dot(each, X.data)) / total
    stored = float(np.dot(each, np.square(np.subtract(X.data, mean, dtype=np.float64))))
    return total, mean, stored + mean**2 * float(w @ (X.shape[1] - counts))


def shifted(X: Rows, origin: np.ndarray | None) -> Rows:
    """Return rows less the origin, where there is one."""
    if origin is None:
        return X
    with np.errstate(over="ignore"):  # what is too far for a number is infinitely far
        return X - origin


def diagonal(kernel: Kernel, X: Rows, origin: np.ndarray | None = None) -> np.ndarray:
    """(n, d) -> (n,): k(x, x) of rows, less an origin where there is one, a block of them at a time."""
    return np.concatenate([kernel.diag(shifted(X[rows], origin)) for rows in row_blocks(X, DIAGONAL_NUMBERS, DIAGONAL)])


def values_of(kernel: Kernel, X: Rows, Y: Rows, dtype: np.dtype | None = None) -> np.ndarray:
    """(n, d), (m, d) -> (n, m): a block of kernel values, in the dtype of X or a given one. No checks, one thread."""
    out = np.empty((n_rows(X), n_rows(Y)), dtype=dtype or dtype_of(X))
    kernel.compute(X, Y, out)
    return out


def check_same_width(X: Rows, Y: Rows) -> None:
    """Refuse two sets of rows with different numbers of columns."""
    if getattr(X, "ndim", 1) == 2 and X.shape[1] != Y.shape[1]:
        raise ValueError(
            f"X has {X.shape[1]} features and Y has {Y.shape[1]}: the rows of both must have the same columns."
        )


def check_text(X: Rows, kernel: Kernel) -> np.ndarray:
    """Return strings as an object array, or refuse what is no string."""
    if isinstance(X, str):
        raise TypeError(f"{type(kernel).__name__} needs a list of strings, one string was given: wrap it in a list.")
    if isinstance(X, dict) or getattr(X, "ndim", 1) > 1:
        array = np.asarray(X)
        if array.ndim != 2 or array.shape[1] != 1:
            raise TypeError(
                f"{type(kernel).__name__} needs one string for each sample; got {type(X).__name__} of shape "
                f"{array.shape}. Choose one column of text, such as X['title']."
            )
        X = array[:, 0]
    texts = list(X)
    if not texts:
        raise ValueError(f"{type(kernel).__name__} needs at least one string; an empty list was given.")
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(
                f"{type(kernel).__name__} needs strings; row {i} is {type(text).__name__}. Give a list of str, or "
                'choose a kernel for numbers, such as "rbf".'
            )
    result = np.empty(len(texts), dtype=object)
    result[:] = texts
    return result


def check_nonnegative(X: Rows, kernel: Kernel) -> None:
    """Refuse rows with negative entries."""
    lowest = X.min()
    if lowest < 0:
        raise ValueError(
            f"Negative values in data passed to {type(kernel).__name__}, which compares histograms (smallest value "
            f"{lowest:.3g}). Shift or clip the data to be nonnegative, or choose a kernel for real numbers, such as "
            '"rbf".'
        )


def check_positive(value: Any, name: str, kernel: Kernel, allowed: str = "a positive number") -> float:
    """Return `value` as a float if it is a positive finite number, or say what is allowed."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 < value < np.inf:
        shown = f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else repr(value)
        usual = value is None or (isinstance(value, str) and value == "auto")
        hint = " scikit-learn's default, 1/n_features, is gamma=1/X.shape[1]." if usual else ""
        raise ValueError(f"{type(kernel).__name__}({name}={shown}): {name} must be {allowed}.{hint}")
    return float(value)


GAMMAS = 'a positive number, "scale" for 1/(d var X), or "median" for 1/median of what gamma multiplies'


class HasGamma(Kernel):
    """A kernel with a width `gamma`: a number, "scale" for 1/(d var X), or "median"."""

    gamma: float | str

    @abstractmethod
    def measure(self, X: Rows, Y: Rows) -> np.ndarray:
        """(n, d), (m, d) -> (n, m): the nonnegative quantity that gamma multiplies."""

    def resolve(self, X: Rows, weights: np.ndarray | None = None) -> Self:
        """Make gamma a number for data X."""
        if not isinstance(self.gamma, str):
            check_positive(self.gamma, "gamma", self, GAMMAS)
            return self
        X = self.check(X)
        if self.gamma == "scale":
            gamma = self.scale_gamma(X, weights)
        elif self.gamma == "median":
            gamma = self.median_gamma(X)
        else:
            check_positive(self.gamma, "gamma", self, GAMMAS)
            gamma = float(self.gamma)
        params = self.get_params(deep=False) | {"gamma": gamma}
        return type(self)(**params)

    def number(self) -> float:
        """Return gamma as a number, or say how to make it one."""
        if isinstance(self.gamma, str):
            raise ValueError(
                f"{type(self).__name__}(gamma={self.gamma!r}) depends on data: call kernel.resolve(X_train) first, "
                "or give gamma a number."
            )
        return check_positive(self.gamma, "gamma", self, GAMMAS)

    def scale_gamma(self, X: Rows, weights: np.ndarray | None) -> float:
        """1 / (d var X), as in scikit-learn's SVC; 1 for constant data."""
        variance = total_variance(X, weights)
        return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0

    def median_gamma(self, X: Rows) -> float:
        """1 / median of `measure` over pairs of rows, on at most 1000 rows; 1 where all rows are equal."""
        sample = spread_rows(X)
        n = n_rows(sample)
        values = np.concatenate(
            [
                self.measure(sample[rows], sample)[~np.tri(rows.stop - rows.start, n, rows.start, dtype=bool)]
                for rows in blocks(n, WHOLE)
            ]
        )
        positive = values[values > 0]
        if positive.size == 0:
            return 1.0
        median = float(np.median(values))
        return 1.0 / (median if median > 0 else float(np.mean(positive)))
