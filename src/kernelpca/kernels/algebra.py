"""New kernels from old ones (tutorial, appendix B); flags follow from those of the parts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np

from kernelpca.kernels.base import Kernel, Rows, diagonal, dtype_of, values_of
from kernelpca.kernels.combined import Combined, Wrapped
from kernelpca.kernels.slopes import Slopes, chain, lean, rates_of
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


class _Pair(Combined):
    """Two kernels of the same samples."""

    def __init__(self, k1: Kernel, k2: Kernel) -> None:
        self.k1 = k1
        self.k2 = k2

    positive_definite = property(lambda self: self.k1.positive_definite and self.k2.positive_definite)
    stationary = property(lambda self: self.k1.stationary and self.k2.stationary)
    has_spectrum = property(lambda self: self.k1.has_spectrum and self.k2.has_spectrum)
    differentiable = property(lambda self: self.k1.differentiable and self.k2.differentiable)
    rotatable = property(lambda self: self.k1.rotatable and self.k2.rotatable)
    radial = property(lambda self: self.k1.radial and self.k2.radial)
    takes_sparse = property(lambda self: self.k1.takes_sparse and self.k2.takes_sparse)
    parallel = property(lambda self: self.k1.parallel and self.k2.parallel)
    tile = property(lambda self: min(self.k1.tile, self.k2.tile))
    domain = property(lambda self: _common_domain(self.k1, self.k2))

    def steepness(self, d: int) -> float:
        """As steep as both together."""
        return self.k1.steepness(d) + self.k2.steepness(d)

    def resolve(self, X: Rows, weights: np.ndarray | None = None) -> Self:
        """Resolve both parts on X."""
        return type(self)(self.k1.resolve(X, weights), self.k2.resolve(X, weights))

    def check(self, X: Rows) -> Rows:
        """Return rows that both parts accept."""
        return super().check(self.k2.check(self.k1.check(X)))


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

    exact_distances = property(lambda self: self.k1.exact_distances and self.k2.exact_distances)

    def rounding(self, X: Rows, dtype: np.dtype) -> float:
        """The sum of both."""
        return self.k1.rounding(X, dtype) + self.k2.rounding(X, dtype)

    def feature_distances(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """Write the sum of both."""
        self.k1.feature_distances(X, Y, out)
        other = np.empty_like(out)
        self.k2.feature_distances(X, Y, other)
        out += other

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """Write the sum."""
        self.k1.compute(X, Y, out)
        out += values_of(self.k2, X, Y, out.dtype)

    def diag(self, X: Rows) -> np.ndarray:
        """Sum of the diagonals."""
        return self.k1.diag(X) + self.k2.diag(X)

    def combine_slopes(self, X: np.ndarray, Y: np.ndarray) -> Slopes:
        """Slopes of both, added."""
        first, second = self.k1.slopes(X, Y), self.k2.slopes(X, Y)
        return chain(first.values + second.values, (first, 1.0), (second, 1.0))

    def combine_pulls(self, X: np.ndarray, Y: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Both pulls, added."""
        (sums, gradients), (more_sums, more_gradients) = self.k1.pull(X, Y, C), self.k2.pull(X, Y, C)
        return sums + more_sums, gradients + more_gradients

    def combine_diagonals(self, X: np.ndarray) -> np.ndarray:
        """Both gradients, added."""
        return self.k1.pull_diagonal(X) + self.k2.pull_diagonal(X)

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

    def rounding(self, X: Rows, dtype: np.dtype) -> float:
        """Those of each times the largest value of the other."""
        sizes = [float(np.abs(diagonal(kernel, X)).max(initial=0.0)) for kernel in (self.k2, self.k1)]
        return sizes[0] * self.k1.rounding(X, dtype) + sizes[1] * self.k2.rounding(X, dtype)

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """Write the product."""
        self.k1.compute(X, Y, out)
        out *= values_of(self.k2, X, Y, out.dtype)

    def diag(self, X: Rows) -> np.ndarray:
        """Product of the diagonals."""
        return self.k1.diag(X) * self.k2.diag(X)

    def combine_slopes(self, X: np.ndarray, Y: np.ndarray) -> Slopes:
        """Slopes of each times the values of the other."""
        first, second = self.k1.slopes(X, Y), self.k2.slopes(X, Y)
        return chain(first.values * second.values, (first, second.values), (second, first.values))

    def combine_pulls(self, X: np.ndarray, Y: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The pull of each, weighted by the values of the other."""
        sums, gradients = self.k1.pull(X, Y, C * values_of(self.k2, X, Y))
        return sums, gradients + self.k2.pull(X, Y, C * values_of(self.k1, X, Y))[1]

    def combine_diagonals(self, X: np.ndarray) -> np.ndarray:
        """Gradients of each times the diagonal of the other."""
        first = self.k1.pull_diagonal(X) * self.k2.diag(X)[:, None]
        return first + self.k2.pull_diagonal(X) * self.k1.diag(X)[:, None]

    def spectral(self, draw: Draw) -> np.ndarray:
        """Return (r, d): sums of independent frequencies of both factors."""
        if not self.has_spectrum:
            return super().spectral(draw)
        return self.k1.spectral(draw) + self.k2.spectral(draw)


def _finite(value: Any, name: str, kernel: Kernel) -> float:
    if not _is_number(value) or not np.isfinite(value):
        raise ValueError(f"{type(kernel).__name__}({name}={value!r}): {name} must be a finite number.")
    return float(value)


class Scale(Wrapped):
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
    tells_distance = property(lambda self: self.kernel.tells_distance and self.factor > 0)
    tells_product = property(lambda self: self.kernel.tells_product and self.factor != 0)

    positive_once_centered = property(lambda self: self.kernel.positive_once_centered and self.factor >= 0)

    def for_centering(self) -> Kernel:
        """Return the scaled kernel without its constant."""
        return Scale(self.kernel.for_centering(), self.factor)

    exact_distances = property(lambda self: self.kernel.exact_distances)

    def rounding(self, X: Rows, dtype: np.dtype) -> float:
        """As far as those of the inner kernel, scaled."""
        return abs(_finite(self.factor, "factor", self)) * self.kernel.rounding(X, dtype)

    def feature_distances(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """Write c times those of the kernel."""
        self.kernel.feature_distances(X, Y, out)
        out *= _finite(self.factor, "factor", self)

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """Write c times the kernel."""
        self.kernel.compute(X, Y, out)
        out *= _finite(self.factor, "factor", self)

    def diag(self, X: Rows) -> np.ndarray:
        """Scaled diagonal."""
        return self.kernel.diag(X) * _finite(self.factor, "factor", self)

    def combine_slopes(self, X: np.ndarray, Y: np.ndarray) -> Slopes:
        """Scaled slopes."""
        inner, factor = self.kernel.slopes(X, Y), _finite(self.factor, "factor", self)
        return chain(inner.values * factor, (inner, factor))

    def combine_pulls(self, X: np.ndarray, Y: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Scaled pull."""
        return self.kernel.pull(X, Y, C * _finite(self.factor, "factor", self))

    def combine_diagonals(self, X: np.ndarray) -> np.ndarray:
        """Scaled gradients."""
        return self.kernel.pull_diagonal(X) * _finite(self.factor, "factor", self)

    def undo(self, values: np.ndarray) -> np.ndarray:
        """Divide by c."""
        return np.divide(values, self.factor, dtype=np.float64)

    def spectral(self, draw: Draw) -> np.ndarray:
        """Return (r, d): frequencies of the inner kernel; the factor is in k(0)."""
        return self.kernel.spectral(draw) if self.has_spectrum else super().spectral(draw)


class Shift(Wrapped):
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
    tells_distance = property(lambda self: self.kernel.tells_distance)
    tells_product = property(lambda self: self.kernel.tells_product)

    positive_once_centered = property(lambda self: self.kernel.positive_once_centered)

    def for_centering(self) -> Kernel:
        """Return the kernel without the constant."""
        return self.kernel.for_centering()

    exact_distances = property(lambda self: self.kernel.exact_distances)

    def feature_distances(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """Write those of the kernel: a constant feature tells nothing apart."""
        self.kernel.feature_distances(X, Y, out)

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """Write the kernel plus c."""
        self.kernel.compute(X, Y, out)
        out += _finite(self.constant, "constant", self)

    def diag(self, X: Rows) -> np.ndarray:
        """Shifted diagonal."""
        return self.kernel.diag(X) + _finite(self.constant, "constant", self)

    def combine_slopes(self, X: np.ndarray, Y: np.ndarray) -> Slopes:
        """Shifted values, the same slopes."""
        inner = self.kernel.slopes(X, Y)
        return replace(inner, values=inner.values + _finite(self.constant, "constant", self))

    def combine_pulls(self, X: np.ndarray, Y: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Shifted sums, the same gradients."""
        sums, gradients = self.kernel.pull(X, Y, C)
        return sums + C.sum(axis=1) * _finite(self.constant, "constant", self), gradients

    def combine_diagonals(self, X: np.ndarray) -> np.ndarray:
        """The same gradients."""
        return self.kernel.pull_diagonal(X)

    def undo(self, values: np.ndarray) -> np.ndarray:
        """Subtract c."""
        return np.subtract(values, self.constant, dtype=np.float64)

    def spectral(self, draw: Draw) -> np.ndarray:
        """Return (r, d): frequencies of the inner kernel, and zeros in proportion to the constant."""
        if not self.has_spectrum:
            return super().spectral(draw)
        inner = draw.uniforms()[:, None] < share(self.kernel, _finite(self.constant, "constant", self))
        return np.where(inner, self.kernel.spectral(draw), 0.0)


class Normalized(Wrapped):
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

    def combine_slopes(self, X: np.ndarray, Y: np.ndarray) -> Slopes:
        """Slopes of the inner kernel over both lengths, less what x gains in length."""
        inner, lengths = self.kernel.slopes(X, Y), self._inverse_lengths(X)
        scale = np.multiply.outer(lengths, self._inverse_lengths(Y))
        slopes = chain(inner.values * scale, (inner, scale))
        if self.radial:
            return slopes
        return lean(slopes, -0.5 * lengths**2 * rates_of(self.kernel.pull_diagonal(X), X))

    def combine_pulls(self, X: np.ndarray, Y: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The inner pull over both lengths, less what x gains in length."""
        lengths = self._inverse_lengths(X)
        sums, gradients = self.kernel.pull(X, Y, C * np.multiply.outer(lengths, self._inverse_lengths(Y)))
        return sums, gradients - (0.5 * lengths**2 * sums)[:, None] * self.kernel.pull_diagonal(X)

    def combine_diagonals(self, X: np.ndarray) -> np.ndarray:
        """Zeros: the diagonal is constant but for samples with k(x, x) = 0."""
        return np.zeros_like(X)

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
