"""New kernels from old ones (tutorial, appendix B); flags follow from those of the parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from kernelpca.kernels.base import HasGamma, Kernel, Rows, dtype_of, n_rows, spread_rows
from kernelpca.kernels.exponential import exponential
from kernelpca.kernels.spectral import Draw, share


def add(kernel: Kernel, other: Kernel | float) -> Kernel:
    """Return k1 + k2, or k + c."""
    if isinstance(other, Kernel):
        _common_domain(kernel, other)
        return Sum(kernel, other)
    if _is_number(other):
        return Shift(kernel, float(other))
    _not_a_class(other)
    return NotImplemented


def multiply(kernel: Kernel, other: Kernel | float) -> Kernel:
    """Return k1 * k2, or c * k."""
    if isinstance(other, Kernel):
        _common_domain(kernel, other)
        return Product(kernel, other)
    if _is_number(other):
        return Scale(kernel, float(other))
    _not_a_class(other)
    return NotImplemented


def _not_a_class(other: Any) -> None:
    if isinstance(other, type) and issubclass(other, Kernel):
        raise TypeError(f"{other.__name__} is a class: write {other.__name__}(), with parentheses.")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _common_domain(a: Kernel, b: Kernel) -> str:
    """The samples that both kernels accept."""
    domains = {a.domain, b.domain} - {"any"}
    if not domains:
        return "any"
    if len(domains) == 1:
        return domains.pop()
    if domains == {"real", "nonnegative"}:
        return "nonnegative"
    raise ValueError(
        f"{a!r} and {b!r} cannot be combined: one takes {a.domain} samples, the other {b.domain} samples. Combine "
        "kernels that accept the same data."
    )


class _Pair(Kernel):
    """Two kernels of the same samples."""

    def __init__(self, k1: Kernel, k2: Kernel) -> None:
        self.k1 = k1
        self.k2 = k2

    positive_definite = property(lambda self: self.k1.positive_definite and self.k2.positive_definite)
    stationary = property(lambda self: self.k1.stationary and self.k2.stationary)
    has_spectrum = property(lambda self: self.k1.has_spectrum and self.k2.has_spectrum)
    takes_sparse = property(lambda self: self.k1.takes_sparse and self.k2.takes_sparse)
    parallel = property(lambda self: self.k1.parallel and self.k2.parallel)
    tile = property(lambda self: min(self.k1.tile, self.k2.tile))
    domain = property(lambda self: _common_domain(self.k1, self.k2))

    def resolve(self, X: Rows, weights: np.ndarray | None = None) -> Self:
        """Resolve both parts on X."""
        return type(self)(self.k1.resolve(X, weights), self.k2.resolve(X, weights))

    def check(self, X: Rows) -> Rows:
        """Return rows that both parts accept."""
        return super().check(self.k2.check(self.k1.check(X)))

    def _second(self, X: Rows, Y: Rows, like: np.ndarray) -> np.ndarray:
        values = np.empty(like.shape, dtype=like.dtype)
        self.k2.compute(X, Y, values)
        return values


class Sum(_Pair):
    """k1(x, y) + k2(x, y): the feature spaces side by side.

    Parameters
    ----------
    k1, k2 : Kernel
        The terms; their parameters are reached as `k1__gamma` and so on.
    """

    movable = property(lambda self: self.k1.movable and self.k2.movable)
    positive_once_centered = property(lambda self: self.k1.positive_once_centered and self.k2.positive_once_centered)

    def for_centering(self) -> Kernel:
        """Return the sum of the terms without their constants."""
        return Sum(self.k1.for_centering(), self.k2.for_centering())

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """Write the sum."""
        self.k1.compute(X, Y, out)
        out += self._second(X, Y, out)

    def diag(self, X: Rows) -> np.ndarray:
        """Sum of the diagonals."""
        return self.k1.diag(X) + self.k2.diag(X)

    def spectral(self, draw: Draw) -> np.ndarray:
        """Return (r, d): frequencies of either term, in proportion to k1(0) and k2(0)."""
        if not self.has_spectrum:
            return super().spectral(draw)
        first = draw.uniforms()[:, None] < share(self.k1, self.k2)
        return np.where(first, self.k1.spectral(draw), self.k2.spectral(draw))


class Product(_Pair):
    """k1(x, y) k2(x, y): the tensor product of the feature spaces.

    Parameters
    ----------
    k1, k2 : Kernel
        The factors; their parameters are reached as `k1__gamma` and so on.
    """

    unit_diagonal = property(lambda self: self.k1.unit_diagonal and self.k2.unit_diagonal)
    movable = property(lambda self: self.stationary)

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """Write the product."""
        self.k1.compute(X, Y, out)
        out *= self._second(X, Y, out)

    def diag(self, X: Rows) -> np.ndarray:
        """Product of the diagonals."""
        return self.k1.diag(X) * self.k2.diag(X)

    def spectral(self, draw: Draw) -> np.ndarray:
        """Return (r, d): sums of independent frequencies of both factors."""
        if not self.has_spectrum:
            return super().spectral(draw)
        return self.k1.spectral(draw) + self.k2.spectral(draw)


class _Wrapped(Kernel):
    """One kernel changed; domain and flags of the inner one unless said otherwise."""

    kernel: Kernel

    positive_definite = property(lambda self: self.kernel.positive_definite)
    stationary = property(lambda self: self.kernel.stationary)
    movable = property(lambda self: self.kernel.stationary)
    takes_sparse = property(lambda self: self.kernel.takes_sparse)
    parallel = property(lambda self: self.kernel.parallel)
    tile = property(lambda self: self.kernel.tile)
    domain = property(lambda self: self.kernel.domain)

    def resolve(self, X: Rows, weights: np.ndarray | None = None) -> Self:
        """Resolve the inner kernel on X."""
        return type(self)(**(self.get_params(deep=False) | {"kernel": self.kernel.resolve(X, weights)}))

    def check(self, X: Rows) -> Rows:
        """Return rows that the inner kernel accepts."""
        return self.kernel.check(X)


def _finite(value: Any, name: str, kernel: Kernel) -> float:
    if not _is_number(value) or not np.isfinite(value):
        raise ValueError(f"{type(kernel).__name__}({name}={value!r}): {name} must be a finite number.")
    return float(value)


class Scale(_Wrapped):
    """c k(x, y).

    Parameters
    ----------
    kernel : Kernel
        What is scaled.
    factor : float
        The factor c; positive definite only for c >= 0.
    """

    def __init__(self, kernel: Kernel, factor: float = 1.0) -> None:
        self.kernel = kernel
        self.factor = factor

    movable = property(lambda self: self.kernel.movable)
    positive_definite = property(lambda self: self.kernel.positive_definite and self.factor >= 0)
    unit_diagonal = property(lambda self: self.kernel.unit_diagonal and self.factor == 1)
    has_spectrum = property(lambda self: self.kernel.has_spectrum and self.factor >= 0)

    positive_once_centered = property(lambda self: self.kernel.positive_once_centered and self.factor >= 0)

    def for_centering(self) -> Kernel:
        """Return the scaled kernel without its constant."""
        return Scale(self.kernel.for_centering(), self.factor)

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """Write c times the kernel."""
        self.kernel.compute(X, Y, out)
        out *= _finite(self.factor, "factor", self)

    def diag(self, X: Rows) -> np.ndarray:
        """Scaled diagonal."""
        return self.kernel.diag(X) * _finite(self.factor, "factor", self)

    def spectral(self, draw: Draw) -> np.ndarray:
        """Return (r, d): frequencies of the inner kernel; the factor is in k(0)."""
        return self.kernel.spectral(draw) if self.has_spectrum else super().spectral(draw)


class Shift(_Wrapped):
    """k(x, y) + c: one more constant feature, which centring removes again.

    Parameters
    ----------
    kernel : Kernel
        What is shifted.
    constant : float
        The constant c; positive definite only for c >= 0.
    """

    def __init__(self, kernel: Kernel, constant: float = 0.0) -> None:
        self.kernel = kernel
        self.constant = constant

    movable = property(lambda self: self.kernel.movable)
    positive_definite = property(lambda self: self.kernel.positive_definite and self.constant >= 0)
    unit_diagonal = property(lambda self: self.kernel.unit_diagonal and self.constant == 0)
    has_spectrum = property(lambda self: self.kernel.has_spectrum and self.constant >= 0)

    positive_once_centered = property(lambda self: self.kernel.positive_once_centered)

    def for_centering(self) -> Kernel:
        """Return the kernel without the constant."""
        return self.kernel.for_centering()

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """Write the kernel plus c."""
        self.kernel.compute(X, Y, out)
        out += _finite(self.constant, "constant", self)

    def diag(self, X: Rows) -> np.ndarray:
        """Shifted diagonal."""
        return self.kernel.diag(X) + _finite(self.constant, "constant", self)

    def spectral(self, draw: Draw) -> np.ndarray:
        """Return (r, d): frequencies of the inner kernel, and zeros in proportion to the constant."""
        if not self.has_spectrum:
            return super().spectral(draw)
        inner = draw.uniforms()[:, None] < share(self.kernel, _finite(self.constant, "constant", self))
        return np.where(inner, self.kernel.spectral(draw), 0.0)


class LessOne(_Wrapped):
    """k(x, y) - 1 for a kernel with k(x, x) = 1, computed without losing the digits of values near one.

    Parameters
    ----------
    kernel : Kernel
        One that offers `compute_less_one`.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    positive_definite = False
    positive_once_centered = property(lambda self: self.kernel.positive_definite)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return repr(self.kernel)  # what the user gave

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """Write the kernel less one."""
        self.kernel.compute_less_one(X, Y, out)

    def diag(self, X: Rows) -> np.ndarray:
        """Zeros."""
        return np.zeros(n_rows(X), dtype=dtype_of(X))


class Normalized(_Wrapped):
    """k(x, y) / sqrt(k(x, x) k(y, y)): the cosine of the angle in feature space.

    A sample with k(x, x) = 0 has value 0 with everything, as a zero row has in `Cosine`; where the inner kernel has
    a unit diagonal nothing changes.

    Parameters
    ----------
    kernel : Kernel
        What is normalized; it must be positive definite for the square roots to exist.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    unit_diagonal = property(lambda self: self.kernel.unit_diagonal)
    has_spectrum = property(lambda self: self.kernel.has_spectrum)

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """Write the cosines."""
        self.kernel.compute(X, Y, out)
        out *= self._inverse_lengths(X)[:, None]
        out *= self._inverse_lengths(Y)

    def diag(self, X: Rows) -> np.ndarray:
        """Ones, and zeros where k(x, x) = 0."""
        return (self._inverse_lengths(X) > 0).astype(dtype_of(X))

    def spectral(self, draw: Draw) -> np.ndarray:
        """Return (r, d): frequencies of the inner kernel, whose diagonal is constant."""
        return self.kernel.spectral(draw) if self.has_spectrum else super().spectral(draw)

    def _inverse_lengths(self, X: Rows) -> np.ndarray:
        squared = self.kernel.diag(X)
        if squared.min(initial=0.0) < 0:
            raise ValueError(
                f"{self.kernel!r} cannot be normalized: k(x, x) is negative for some samples (smallest "
                f"{squared.min():.3g}). Normalize a positive definite kernel."
            )
        lengths = np.sqrt(squared)
        return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)


class KernelRBF(_Wrapped, HasGamma):
    """exp(-gamma (k(x, x) + k(y, y) - 2 k(x, y))): a Gaussian in the feature space of another kernel.

    Parameters
    ----------
    kernel : Kernel
        The kernel whose feature space it is.
    gamma : float, "scale" or "median", default="scale"
        Inverse squared width; "scale" is one over the total variance in that feature space, which for the linear
        kernel is one over the summed variances of the columns.
    """

    unit_diagonal = True

    def __init__(self, kernel: Kernel, gamma: float | str = "scale") -> None:
        self.kernel = kernel
        self.gamma = gamma

    def resolve(self, X: Rows, weights: np.ndarray | None = None) -> Self:
        """Resolve the inner kernel on X, then gamma in its feature space."""
        inner = type(self)(self.kernel.resolve(X, weights), self.gamma)
        return HasGamma.resolve(inner, X, weights)

    def scale_gamma(self, X: Rows, weights: np.ndarray | None) -> float:
        """One over the total variance in feature space (half the mean squared distance), on at most 1000 rows."""
        sample = spread_rows(X)
        w = np.ones(n_rows(sample)) if weights is None else spread_rows(weights)
        variance = float(w @ self.measure(sample, sample) @ w) / float(w.sum()) ** 2 / 2
        return 1.0 / variance if variance > 0 else 1.0

    def measure(self, X: Rows, Y: Rows) -> np.ndarray:
        """(n, d), (m, d) -> (n, m): squared distances in feature space."""
        out = np.empty((n_rows(X), n_rows(Y)), dtype=dtype_of(X))
        self._squared_distances(X, Y, out)
        return out

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """Write the Gaussian of the distances in feature space."""
        self._squared_distances(X, Y, out)
        out *= -self.number()
        if self.kernel.positive_definite:
            exponential(out)
        else:  # squared distances may be negative
            np.exp(out, out=out)

    def diag(self, X: Rows) -> np.ndarray:
        """Ones."""
        return np.ones(n_rows(X), dtype=dtype_of(X))

    def _squared_distances(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        self.kernel.compute(X, Y, out)
        out *= -2.0
        out += self.kernel.diag(X)[:, None]
        out += self.kernel.diag(Y)
        if self.kernel.positive_definite:
            np.maximum(out, 0.0, out=out)


class Outer(Kernel):
    """f(x) f(y) for a function f of samples: a kernel with one feature.

    Parameters
    ----------
    function : callable
        Takes rows (n, d) and returns n numbers.
    """

    domain = "any"
    parallel = False

    def __init__(self, function: Callable[[Rows], Any]) -> None:
        self.function = function

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """Write the outer product of f(X) and f(Y)."""
        np.multiply.outer(self._values(X), self._values(Y), out=out)

    def diag(self, X: Rows) -> np.ndarray:
        """f(x)^2."""
        return self._values(X) ** 2

    def _values(self, X: Rows) -> np.ndarray:
        values = np.asarray(self.function(X), dtype=dtype_of(X))
        if values.shape != (n_rows(X),):
            raise ValueError(
                f"Outer: the function returned shape {values.shape} for {n_rows(X)} rows; it must return one number "
                "for each row."
            )
        return values
