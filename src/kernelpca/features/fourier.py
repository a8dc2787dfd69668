"""Random Fourier features: cosines and sines of random frequencies stand for a stationary kernel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np
from scipy import sparse

from kernelpca.features.factors import Factors
from kernelpca.features.protocol import ExplicitFeatures, RandomFeatures, check_width
from kernelpca.gram.budget import BUDGET
from kernelpca.kernels.base import Kernel, Rows, dtype_of, n_rows, spread_numbers
from kernelpca.kernels.origin import column_ranges, rows_looked_at
from kernelpca.kernels.spectral import WITH_SPECTRUM, Draw, at_zero, sample

FORMS = ("cos", "sin", "paired")
DRAGGED = 100  # median deviations from the median: a mean farther away is that of a few rows
BLURRED = 1e-3  # radians that rounding to float32 may move a phase by


class RandomFourier(RandomFeatures):
    """Random Fourier features of a stationary kernel: z(x)'z(y) is an unbiased estimate of k(x, y).

    With random frequencies W drawn from the kernel's spectrum, z(x) = sqrt(2 k(0) / r) cos(W x + b), or the same with
    sines, or cosines and sines of half as many frequencies. The error falls as r^-1/2. With independent frequencies
    its variance is (1 + k(2 delta) - 2 k(delta)^2) / r for "paired" and (1 + k(2 delta) / 2 - k(delta)^2) / r for the
    others, where delta = x - y and k(0) = 1: "paired" is better where k(2 delta) < 2 k(delta)^2, and has no error
    in k(x, x).

    Parameters
    ----------
    n_features : int, default=1024
        The number of features r; even for "paired". `suggest_n_features` gives the number that a uniform error needs.
    sampling : {"orthogonal", "iid", "quasi"}, default="orthogonal"
        Frequencies that are orthogonal to each other in blocks of d, independent ones, or ones from a scrambled
        Sobol sequence. All are unbiased.
    form : {"paired", "cos", "sin"}, default="paired"
        Cosines and sines without phases, or one of them with random phases b on (-pi, pi).

    References
    ----------
    Rahimi and Recht (2008), Random features for large-scale kernel machines. Gedon, Ribeiro, Wahlström and Schön,
    Invertible kernel PCA with random Fourier features, section II.B ("sin"). Yu et al. (2016), Orthogonal random
    features.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpca.features.fourier import RandomFourier
    >>> from kernelpca.kernels import RBF
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0]])
    >>> Z = RandomFourier(4096).fit(RBF(gamma=0.5), X, np.random.default_rng(0)).map(X)
    >>> bool(abs(Z[0] @ Z[1] - np.exp(-1.0)) < 0.05)
    True
    """

    def __init__(self, n_features: int = 1024, sampling: str = "orthogonal", form: str = "paired") -> None:
        self.n_features = n_features
        self.sampling = sampling
        self.form = form

    def fit(
        self, kernel: Kernel, X: Rows, rng: np.random.Generator, center: bool = True, dtype: np.dtype | None = None
    ) -> FourierFeatures:
        """Draw frequencies of a resolved kernel for rows X (n, d), in float64 whatever `dtype`."""
        r = self.size_of(n_rows(X))
        if not kernel.has_spectrum:
            raise ValueError(
                f"{kernel!r} has no spectrum to draw frequencies from. Kernels that have one: {WITH_SPECTRUM}. For any "
                'other kernel use Nyström features: approximation="nystrom".'
            )

        def recipe(draw: Draw) -> tuple[np.ndarray, np.ndarray | None]:
            W = kernel.spectral(draw)
            return W, None if self.form == "paired" else (2.0 * draw.uniforms() - 1.0) * np.pi

        n_frequencies = r // 2 if self.form == "paired" else r
        W, b = sample(recipe, self.sampling, n_frequencies, X.shape[1], rng)
        amplitude = sqrt(2.0 * at_zero(kernel) / r)
        name = f"{r} random Fourier features ({self.sampling}, {self.form})"
        return FourierFeatures(np.asfortranarray(W), b, _origin(X), amplitude, self.form, kernel, name)

    def size_of(self, n: int) -> int:
        """Return the number of features, whatever n, or say what is wrong with it."""
        r = super().size_of(n)
        if self.form not in FORMS:
            raise ValueError(
                f"RandomFourier(form={self.form!r}): form must be 'paired' (cosines and sines), 'cos' or 'sin' (with "
                "random phases)."
            )
        if self.form == "paired" and r % 2:
            raise ValueError(
                f"RandomFourier(n_features={r}, form='paired') has a cosine and a sine for each frequency: n_features "
                f"must be even. Use {r + 1}, or form='cos'."
            )
        return r


@dataclass(frozen=True, eq=False)
class FourierFeatures(ExplicitFeatures):
    """x -> amplitude * cos(W (x - origin) + b), the same with sines, or cosines and then sines without phases.

    Attributes
    ----------
    W : ndarray of shape (r, d), or (r/2, d) for "paired"
        The frequencies, float64, with columns contiguous: products with sparse rows then need no copy.
    b : ndarray of shape (r,) or None
        The phases, on (-pi, pi); None for "paired".
    origin : ndarray of shape (d,) or None
        The mean of the training rows, where they were dense, rounded to a float32 number so that rows of both
        precisions have the same one. Taken off before the product it spares rows far from zero their digits.
    amplitude : float
        sqrt(2 k(0) / r).
    form : {"paired", "cos", "sin"}
        Which functions.
    kernel : Kernel
        What they stand for.
    name : str
        What they are.
    budget : int
        Bytes of working memory.
    """

    W: np.ndarray
    b: np.ndarray | None
    origin: np.ndarray | None
    amplitude: float
    form: str
    kernel: Kernel
    name: str
    budget: int = BUDGET

    @property
    def size(self) -> int:  # type: ignore[override]
        """The number of features r."""
        return len(self.W) * (2 if self.form == "paired" else 1)

    def map(self, X: Rows, dtype: np.dtype | None = None, out: np.ndarray | None = None) -> np.ndarray:
        """(n, d) -> (n, r): in the precision of X, or in that which is asked for; a fresh array, or `out`."""
        F = np.empty((n_rows(X), self.size), dtype_of(X) if dtype is None else dtype) if out is None else out
        if self.form == "paired":
            cosines, sines = F[:, : len(self.W)], F[:, len(self.W) :]
            self.phases(X, cosines)
            np.sin(cosines, out=sines)
            np.cos(cosines, out=cosines)
        else:
            self.phases(X, F)
            (np.cos if self.form == "cos" else np.sin)(F, out=F)
        F *= self.amplitude
        return F

    def phases(self, X: Rows, out: np.ndarray) -> None:
        """(n, d) -> write W (x - origin) + b into `out`, (n, number of frequencies), in its precision."""
        check_width(X, self.W.shape[1])
        X = self._moved(X)
        if out.dtype == np.float32 and not self._tells(X):
            turns = np.empty(out.shape)
            self._phases(X, turns, self.W, self.b)
            np.remainder(turns, 2 * np.pi, out=turns)
            out[...] = turns
        else:
            self._phases(X, out, *(self._single if out.dtype == np.float32 else (self.W, self.b)))

    def _phases(self, X: Rows, out: np.ndarray, W: np.ndarray, b: np.ndarray | None) -> None:
        """Write the phases of moved rows into `out`, in its precision."""
        if sparse.issparse(X):
            out[...] = X.astype(out.dtype, copy=False) @ W.T
            if self.origin is not None:
                out -= (self.W @ self.origin).astype(out.dtype)
        else:
            np.matmul(X.astype(out.dtype, copy=False), W.T, out=out)
        if b is not None:
            out += b

    def _tells(self, X: Rows) -> bool:
        """Whether float32 tells the phases of moved rows: those of rows far from the others are many turns."""
        numbers = X.data if sparse.issparse(X) else X
        return float(np.abs(numbers).max(initial=0.0)) * self._steepest * float(np.finfo(np.float32).eps) <= BLURRED

    def blur(self, X: Rows, dtype: np.dtype) -> float:
        """Return the largest phase over one radian: its rounding error is that much larger, even in float64."""
        origin = 0.0 if self.origin is None else self.origin
        if sparse.issparse(X):
            largest = float(np.abs(X.data).max(initial=0.0)) + float(np.abs(origin).max())
        else:
            largest = float(np.abs(np.subtract(column_ranges(X), origin)).max())
        units = float(np.finfo(np.float64).eps) / float(np.finfo(dtype).eps)
        return max(largest * self._steepest * units, 1.0)

    def _moved(self, X: Rows) -> Rows:
        """(n, d) -> (n, d): dense rows less the origin, in their own precision."""
        if self.origin is None or sparse.issparse(X):
            return X
        return X - self.origin.astype(dtype_of(X))

    def discrepancy(self, X: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, d), (n, r) -> (n,), (n, d): |z(x)|^2 - 2 z(x)'c, and its gradient."""
        phases = np.empty((n_rows(X), len(self.W)), X.dtype)
        self.phases(X, phases)
        F, turned = self.amplitude * np.cos(phases), self.amplitude * np.sin(phases)
        if self.form == "paired":
            of_cosines, of_sines = C[:, : len(self.W)], C[:, len(self.W) :]
            sums = np.einsum("ij,ij->i", F, of_cosines) + np.einsum("ij,ij->i", turned, of_sines)
            squares, slopes = self.squared_norms(X), F * of_sines - turned * of_cosines
        else:
            F, derivative = (F, -turned) if self.form == "cos" else (turned, F)
            sums, squares = np.einsum("ij,ij->i", F, C), np.einsum("ij,ij->i", F, F)
            slopes = derivative * (C - F)
        return squares - 2 * sums, -2 * slopes @ self.W.astype(X.dtype, copy=False)

    def error(self, A: Rows, B: Rows) -> np.ndarray:
        """(a, d), (b, d) -> (a, b): k(x, y) less what the features say it is."""
        return self.kernel(A, B) - self.map(A) @ self.map(B).T

    def map_and_squares(
        self, X: Rows, dtype: np.dtype | None = None, out: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """(n, d) -> (n, r), (n,): features and their squared lengths."""
        if self.form != "paired":
            return super().map_and_squares(X, dtype, out)
        F = self.map(X, dtype, out)
        return F, self.squared_norms(X).astype(F.dtype, copy=False)

    def squared_norms(self, X: Rows) -> np.ndarray:
        """(n, d) -> (n,): exactly k(0) for "paired"."""
        if self.form != "paired":
            return super().squared_norms(X)
        return np.full(n_rows(X), self.amplitude**2 * len(self.W), dtype_of(X))

    @cached_property
    def factors(self) -> Factors:
        """The decomposition of W, made when it is first asked for."""
        return Factors.of(self.W)

    @cached_property
    def _steepest(self) -> float:
        """The length of the longest frequency: how fast phases change."""
        return float(np.sqrt(np.square(self.W).sum(axis=1).max(initial=0.0)))

    @cached_property
    def _single(self) -> tuple[np.ndarray, np.ndarray | None]:
        """W and b in float32."""
        return self.W.astype(np.float32), None if self.b is None else self.b.astype(np.float32)


def _origin(X: Rows) -> np.ndarray | None:
    """(n, d) -> (d,): the mean of dense rows, rounded to float32 numbers where they reach so far.

    Where a few rows far away drag the mean along, the digits of all others would be lost: then it is the median.
    """
    if sparse.issparse(X):
        return None
    some = X[spread_numbers(n_rows(X), rows_looked_at(X.shape[1]))].astype(np.float64)
    middle, mean = np.median(some, axis=0), X.mean(axis=0, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        spread = np.median(np.abs(some - middle), axis=0).max()
        origin = middle if np.abs(mean - middle).max() > DRAGGED * spread else mean
        rounded = origin.astype(np.float32).astype(np.float64)
    return np.where(np.isfinite(rounded), rounded, origin)
