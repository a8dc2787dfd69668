"""Learning the way back: kernel ridge regression from scores to inputs (Bakir, Weston and Schölkopf 2004)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any, Self

import numpy as np

from kernelpca.gram.budget import BUDGET
from kernelpca.gram.tiled import cross_product
from kernelpca.kernels.base import Kernel, dtype_of
from kernelpca.kernels.names import as_kernel
from kernelpca.kernels.stationary import RBF
from kernelpca.memory import readable_bytes
from kernelpca.parts import check_whole
from kernelpca.preimage.protocol import Answer, Preimage, Target, clip
from kernelpca.preimage.regression import (
    LEFT_OUT,
    RATIOS,
    SMALL,
    Curve,
    Factor,
    Landmarked,
    Outputs,
    SingularError,
    Spectrum,
    leave_out_of_all,
    precision_to_apply,
    precision_to_solve,
)
from kernelpca.preimage.space import Space
from kernelpca.tiles import TILE, blocks

MANY = 10000  # rows beyond which "auto" takes landmarks
LANDMARKS = 1000  # for many rows
UNLIMITED = 2**62  # bytes
MODEL = "model"
RAISED, ATTEMPTS = 10.0, 12  # by how much a ridge that was chosen is raised where the matrix is singular, how often


class Ridge(Preimage):
    """Pre-images by kernel ridge regression: the training inputs are regressed on their scores once, at fit.

    After that an inverse is one matrix product. It works with every model of dense rows, and fits the training inputs
    in the mean, where iterative methods seek the nearest point in feature space; it is called kPCA+SL (supervised
    learning) in the literature. Sample weights of the model are not used.

    Parameters
    ----------
    ridge : float or None, default=None
        Added to the diagonal of the kernel matrix of the scores (scikit-learn's `alpha`). None chooses it by the error
        of training rows that are left out one at a time, in closed form, among multiples of 1e-8 to 10, two for each
        factor of ten, of the mean of that diagonal: `ridge_`, `loo_error_` and `loo_curve_` tell. A row is left out
        of the regression alone: scores and the mean of the inputs are those with it, so new rows do somewhat worse
        where kernels are narrow. With landmarks at most 2000 random rows are left out; an exact solution of more than
        1500 rows takes the ridge of 1000 random rows by themselves, which is nearly the best for all, and `loo_error_`
        is then theirs.
    kernel : str or Kernel, optional
        Kernel between scores, its width resolved on the scores where it is not a number: `RBF()`, when not given, has
        a width that fits them. "model" is the model's own with its numbers, as in scikit-learn, or `RBF()` where that
        does not take scores (kernels of histograms, or of a model of the inputs); its width fits inputs and may be far
        from one that fits scores.
    center : bool, default=True
        Whether the mean of the inputs is taken off before and added after, so that strong ridges shrink towards the
        mean and not towards zero. scikit-learn's form is False.
    n_landmarks : int, "auto" or None, default="auto"
        None solves with the kernel matrix of all scores; a number regresses on Nyström features of so many of them,
        which takes n n_landmarks^2 operations instead of n^3 / 3 and so many kernel values for each inverse. "auto" is
        None up to 10000 rows if memory allows, else 1000 or as many as memory allows.
    bounds : (low, high), optional
        Limits of the answer, to which it is clipped.

    Attributes
    ----------
    ridge_ : float
        What was given or chosen.
    loo_error_ : float or None
        Mean squared error, summed over columns, of rows left out with that ridge; None where the ridge was given.
    loo_curve_ : (ndarray, ndarray) or None
        All ridges that were tried, and that error for each.
    kernel_ : Kernel
        The kernel between scores, every parameter a number.
    mean_ : ndarray of shape (d,)
        Of the inputs; zeros without centring.
    scores_ : ndarray of shape (m, k)
        Those of the training rows or landmarks.
    dual_coef_ : ndarray of shape (m, d)
        Inputs are kernel_(Z, scores_) @ dual_coef_ + mean_.

    Notes
    -----
    The ridge that is chosen is the best for coming back to inputs like the training rows. Where these are noisy
    themselves and noise is to be left behind, a larger one serves better: choose it by the error against clean inputs.

    References
    ----------
    Bakir, Weston and Schölkopf (2004), Learning to find pre-images. Gedon, Ribeiro, Wahlström and Schön (2023),
    Invertible kernel PCA with random Fourier features, compare with it for one kernel both ways.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelpca import KernelPCA
    >>> from kernelpca.kernels import RBF
    >>> from kernelpca.preimage import Ridge
    >>> X, _ = load_digits(return_X_y=True)
    >>> model = KernelPCA(n_components=20, preimage=Ridge(kernel=RBF())).fit(X[:500])
    >>> model.denoise(X[500:510]).shape
    (10, 64)
    >>> ridges, errors = model.preimage_.loo_curve_
    >>> bool(errors.min() < X.var(axis=0).sum() / 2)
    True
    """

    learns = True

    def __init__(
        self,
        ridge: float | None = None,
        kernel: Any = None,
        center: bool = True,
        n_landmarks: int | str | None = "auto",
        bounds: tuple | None = None,
    ) -> None:
        self.ridge = ridge
        self.kernel = kernel
        self.center = center
        self.n_landmarks = n_landmarks
        self.bounds = bounds

    def fit(self, space: Space, X: np.ndarray, Z: np.ndarray) -> Self:
        """Learn the map from the training scores to the training rows."""
        self.limits(space, X.shape[1])
        kept = Kept(space.samples, np.asarray(space.origin)) if X.shape[1] > len(X) and _keeps(space, X) else None
        own = isinstance(self.kernel, str) and self.kernel == MODEL
        return self._learn(Z, X, space.kernel if own else RBF(), space.memory_limit, kept)

    def operations(self, n: int, d: int) -> float:
        """Count a factor and a solution, or sums over rows on landmarks; and the choice of a ridge."""
        choice = 0.0 if self.ridge is not None else len(RATIOS) * 2.0 * LEFT_OUT * LANDMARKS * min(LANDMARKS, d)
        m = self.n_landmarks if isinstance(self.n_landmarks, int) else LANDMARKS
        if self.n_landmarks is None or (self.n_landmarks == "auto" and n <= MANY):
            return n**3 / 3 + 2.0 * n * n * d + choice
        return 2.0 * n * m * (m + d) + 10.0 * m**3 + choice

    def learn(self, Z: np.ndarray, X: np.ndarray, kernel: Kernel) -> Self:
        """Learn the map from scores Z (n, k) to inputs X (n, d) without a model; `kernel` is used if none was set."""
        return self._learn(Z, X, kernel, UNLIMITED, None)

    def solve(self, target: Target) -> Answer:
        """Apply the map."""
        space = target.space
        X = self._points(target.Z, np.asarray(space.origin), space.budget, threads=1)
        return Answer(clip(X, *self.limits(space, X.shape[1])))

    def points(self, Z: np.ndarray) -> np.ndarray:
        """(n, k) -> (n, d): inputs for scores Z, in the units of the input."""
        return self._points(Z, np.zeros(1))

    def numbers_per_row(self, space: Space) -> int:
        """Count kernel values of a tile, weights of samples where these are combined, and a few points."""
        return 2 * TILE + 2 * self._map.held + 6 * space.width

    @property
    def dual_coef_(self) -> np.ndarray:
        """(m, d): coefficients of kernel values with `scores_`; made when asked for where rows are long."""
        if "_map" not in self.__dict__:
            raise AttributeError("This Ridge is not fitted: it has no dual_coef_.")
        return self._map.coefficients()

    def _points(
        self, Z: np.ndarray, origin: np.ndarray, budget: int = BUDGET, threads: int | None = None
    ) -> np.ndarray:
        """(n, k) -> (n, d): inputs less an origin."""
        Z = np.ascontiguousarray(Z, dtype=self.scores_.dtype)
        if not Z.shape[1]:
            return np.tile((self.mean_ - origin).astype(self._dtype), (len(Z), 1))
        X = self._map.points(lambda V: cross_product(self.kernel_, Z, self.scores_, V, budget, threads), origin)
        return X.astype(self._dtype, copy=False)

    def _learn(self, Z: np.ndarray, X: np.ndarray, kernel: Kernel, memory_limit: int, kept: Kept | None) -> Self:
        self._check(X)
        n, d = X.shape
        Z = np.array(Z, dtype=dtype_of(X), order="C")  # a copy: scores are the user's
        self.kernel_ = self._kernel_of_scores(kernel, Z)
        self.scores_, self._dtype = Z, Z.dtype
        self.mean_ = X.mean(axis=0, dtype=np.float64) if self.center else np.zeros(d)
        self.ridge_ = 0.0 if self.ridge is None else float(self.ridge)
        self.loo_error_: float | None = None
        self.loo_curve_: tuple[np.ndarray, np.ndarray] | None = None
        if not Z.shape[1]:  # no components: the mean is all there is
            self._map: Coefficients | Combinations = Coefficients(np.zeros((n, d), Z.dtype), self.mean_)
            return self
        outputs, m = Outputs(X, self.mean_), self._landmarks_for(Z, d, memory_limit)
        try:
            if m is not None:
                self._solve_on_landmarks(Landmarked.of(self.kernel_, Z, outputs, m, self.ridge))
            else:
                self._solve_exactly(outputs, kept)
        except SingularError as error:
            raise ValueError(
                "The ridge pre-image could not be solved: the kernel matrix of the scores with "
                f"ridge={self.ridge_:.3g} is singular. Raise ridge (try 1e-3 or 1)."
            ) from error
        return self

    def _solve_on_landmarks(self, problem: Landmarked) -> None:
        if self.ridge is None:
            self._choose(problem.leave_one_out())
        dtype = precision_to_apply(self.kernel_, self.scores_, self.ridge_)
        Z, coef = problem.solve(self.ridge_)
        self.scores_, self._map = Z.astype(dtype), Coefficients(coef.astype(dtype, copy=False), self.mean_)

    def _solve_exactly(self, outputs: Outputs, kept: Kept | None) -> None:
        Z = self.scores_
        if self.ridge is None and len(Z) <= SMALL:
            spectrum = Spectrum.of(self.kernel_, Z)
            self._choose(spectrum.leave_one_out(outputs))
            matrix: Spectrum | Factor = spectrum.plus(self.ridge_)
        else:
            if self.ridge is None:
                self._choose(leave_out_of_all(self.kernel_, Z, outputs))
            matrix = self._factorize()
        dtype = precision_to_apply(self.kernel_, Z, self.ridge_)
        self.scores_ = Z.astype(dtype, copy=False)
        if kept is None:
            self._map = Coefficients(np.ascontiguousarray(matrix.solve(outputs.rows()), dtype=dtype), self.mean_)
        else:
            self._map = Combinations.of(matrix.inverse(), kept, bool(self.center), dtype)

    def _factorize(self) -> Factor:
        """Factorize the matrix; a ridge that was chosen is raised where an indefinite kernel needs that."""
        for _ in range(ATTEMPTS if self.ridge is None else 0):
            try:
                return Factor.of(self.kernel_, self.scores_, self.ridge_)
            except SingularError:
                self.ridge_ *= RAISED
        return Factor.of(self.kernel_, self.scores_, self.ridge_)

    def _choose(self, curve: Curve) -> None:
        self.loo_curve_ = (curve.ridges, curve.errors)
        self.ridge_, self.loo_error_ = float(curve.ridges[curve.best]), float(curve.errors[curve.best])

    def _landmarks_for(self, Z: np.ndarray, d: int, memory_limit: int) -> int | None:
        """Return how many landmarks stand for the rows, or None where the matrix of all rows is used."""
        n = len(Z)
        arrays = 5 if self.ridge is None and n <= SMALL else 2
        needed = arrays * precision_to_solve(self.kernel_, Z, self.ridge_).itemsize * n**2
        if self.n_landmarks is None:
            if needed > memory_limit:
                raise MemoryError(
                    f"A ridge pre-image of {n} rows needs about {readable_bytes(needed)}; "
                    f"{readable_bytes(memory_limit)} are granted. Raise memory_limit, set n_landmarks, fit on fewer "
                    "rows, or choose another pre-image."
                )
            return None
        if isinstance(self.n_landmarks, str) and self.n_landmarks == "auto":
            if n <= MANY and needed <= memory_limit:
                return None
            return min(LANDMARKS, _affordable(memory_limit, d), n)
        if isinstance(self.n_landmarks, str):
            raise ValueError(
                f"Ridge(n_landmarks={self.n_landmarks!r}): n_landmarks must be 'auto', a whole number >= 1, or None "
                "for all rows."
            )
        m = check_whole(self.n_landmarks, "n_landmarks", self)
        if m > n:
            raise ValueError(
                f"Ridge(n_landmarks={m}): more landmarks than the {n} rows. Give at most {n}, or None for all."
            )
        return m

    def _kernel_of_scores(self, kernel: Kernel, Z: np.ndarray) -> Kernel:
        """Return the kernel between scores, resolved: the one given, the model's, or a Gaussian in its place."""
        if self.kernel is not None and not (isinstance(self.kernel, str) and self.kernel == MODEL):
            kernel = as_kernel(self.kernel)
            if kernel.domain not in ("real", "any"):
                raise ValueError(
                    f"Ridge(kernel={self.kernel!r}): scores are real numbers of either sign, which it does not take. "
                    "Give a kernel of real numbers, such as 'rbf', or None."
                )
        elif not _takes(kernel, Z):
            kernel = RBF()
        return kernel.resolve(Z) if Z.shape[1] else kernel

    def _check(self, X: np.ndarray) -> None:
        """Refuse parameters that have no meaning, and inputs that are no rows of numbers."""
        ridge = self.ridge
        number = isinstance(ridge, int | float | np.number) and not isinstance(ridge, bool)
        if ridge is not None and not (number and 0 <= ridge < np.inf):
            raise ValueError(
                f"Ridge(ridge={ridge!r}): ridge must be a number >= 0, such as 0.01, or None to choose it by leaving "
                "rows out."
            )
        if not isinstance(self.center, bool | np.bool_):
            raise ValueError(f"Ridge(center={self.center!r}): center must be True or False.")
        if not hasattr(X, "ndim") or X.ndim != 2 or hasattr(X, "tocsr"):
            raise TypeError(
                "A ridge pre-image comes back to dense rows of numbers, and was given sparse or other input: give "
                "X.toarray(), or do without a pre-image."
            )


# what is learned


@dataclass(frozen=True)
class Coefficients:
    """Inputs as kernel values times coefficients (m, d), plus a mean (d,)."""

    coef: np.ndarray
    mean: np.ndarray
    held = 0  # numbers for each point besides the point

    def points(self, times: Callable[[np.ndarray], np.ndarray], origin: np.ndarray) -> np.ndarray:
        """(n, d): inputs less `origin`; `times` multiplies the kernel values (n, m) by a matrix."""
        X = times(self.coef)
        X += (self.mean - origin).astype(X.dtype)
        return X

    def coefficients(self) -> np.ndarray:
        """(m, d)."""
        return self.coef


@dataclass(frozen=True)
class Kept:
    """Training rows (n, d) that a model keeps anyway, less an origin (d,) or ()."""

    samples: np.ndarray
    origin: np.ndarray


@dataclass(frozen=True)
class Combinations:
    """Inputs as combinations of the training rows, for long rows: no second array of their size is held.

    With A = (K + ridge I)^-1 and centring, k(z)'A (X - 1 mean') + mean' = (k(z)'(A - A 1 1'/n) + 1'/n) X.

    Attributes
    ----------
    weights : ndarray of shape (n, n)
        A, or with centring A - A 1 1'/n: of its products with kernel values come the weights of rows.
    base : float
        What each weight has besides: 1/n with centring.
    kept : Kept
        The rows.
    """

    weights: np.ndarray
    base: float
    kept: Kept

    @classmethod
    def of(cls, A: np.ndarray, kept: Kept, center: bool, dtype: np.dtype) -> Combinations:
        """(n, n): take centring into the inverse A, which is overwritten; `dtype` is the precision to keep."""
        if center:
            A -= A.mean(axis=1, keepdims=True)
        return cls(A.astype(dtype, copy=False), 1.0 / len(A) if center else 0.0, kept)

    @property
    def held(self) -> int:
        """Numbers for each point besides the point."""
        return len(self.weights)

    def points(self, times: Callable[[np.ndarray], np.ndarray], origin: np.ndarray) -> np.ndarray:
        """(n, d): inputs less `origin`; `times` multiplies the kernel values (n, m) by a matrix."""
        w = times(self.weights)
        w += w.dtype.type(self.base)
        return self._combine(w, 1.0 if self.base else None, origin)

    def coefficients(self) -> np.ndarray:
        """(n, d)."""
        return self._combine(self.weights, 0.0 if self.base else None, np.zeros(1))

    def _combine(self, w: np.ndarray, total: float | None, origin: np.ndarray) -> np.ndarray:
        """(b, n) -> (b, d): w X less `origin`; `total` is what weights sum to, if that is known."""
        X = w.astype(self.kept.samples.dtype, copy=False) @ self.kept.samples
        sums = w.sum(axis=1, keepdims=True, dtype=np.float64) if total is None else total
        moved = sums * self.kept.origin - origin
        if moved.any():
            X += moved.astype(X.dtype)
        return X


def _keeps(space: Space, X: np.ndarray) -> bool:
    """Whether the model keeps rows X, all of them and in their order."""
    if not space.expands or space.samples.shape != X.shape or space.samples.dtype != X.dtype:
        return False
    level = 8 * float(np.finfo(X.dtype).eps) * max(abs(float(X.min())), abs(float(X.max())))
    parts = blocks(len(X), max(1, 2**20 // X.shape[1]))
    return all(np.abs(space.local(X[rows]) - space.samples[rows]).max() <= level for rows in parts)


def _takes(kernel: Kernel, Z: np.ndarray) -> bool:
    """Whether the model's kernel takes scores: kernels of histograms and of models of the inputs do not."""
    try:
        kernel.check(Z)
    except (TypeError, ValueError):
        return False
    return kernel.domain in ("real", "any")


def _affordable(memory_limit: int, d: int) -> int:
    """Return the largest number of landmarks m with 8 (10 m^2 + 4 m d) <= memory_limit, and some in any case."""
    return max(int((sqrt(16.0 * d**2 + 5.0 * memory_limit) - 4.0 * d) / 20.0), 16)
