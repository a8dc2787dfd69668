"""Kernels of the dot product x'y (and the norms of x and y)."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from kernelpca.kernels.base import HasGamma, Kernel, Rows, check_positive, dtype_of, n_rows, values_of
from kernelpca.kernels.differences import pair_distances
from kernelpca.kernels.products import dot, squared_distances, squared_norms
from kernelpca.kernels.slopes import Slopes

FLAT = 1e3  # t beyond which tanh(t) is one, also for most pairs of longer with shorter rows
NARROW = 0.95  # cosines beyond which angles are made from differences


class Linear(Kernel):
    """The dot product x'y: kernel PCA with it is PCA."""

    takes_sparse = True
    movable = True
    differentiable = True
    rotatable = True
    tells_product = True
    exact_distances = True

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """(n, d), (m, d) -> write X Y'."""
        dot(X, Y, out)

    def feature_distances(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """(n, d), (m, d) -> write squared distances of the rows themselves."""
        squared_distances(X, Y, out)

    def diag(self, X: Rows) -> np.ndarray:
        """(n, d) -> (n,): squared norms."""
        return squared_norms(X)

    def slopes(self, X: np.ndarray, Y: np.ndarray) -> Slopes:
        """(n, d), (m, d) -> dot products, whose gradients are the y_j."""
        values = values_of(self, X, Y)
        return Slopes(values, np.ones_like(values), np.zeros_like(values))

    def pull(self, X: np.ndarray, Y: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, d), (m, d), (n, m) -> (n,), (n, d): one product, C Y."""
        gradients = C @ Y
        return np.einsum("ij,ij->i", gradients, X), gradients

    def pull_diagonal(self, X: np.ndarray) -> np.ndarray:
        """(n, d) -> (n, d): 2 x."""
        return 2 * X

    def products_from(self, values: np.ndarray) -> np.ndarray:
        """A copy: the values are the dot products."""
        return np.array(values, dtype=np.float64)


class _ScaledDot(HasGamma):
    """A function of gamma x'y + coef0; a subclass writes `profile`, in place, and its derivative `rise`."""

    takes_sparse = True
    differentiable = True
    rotatable = True
    coef0: float

    def profile(self, T: np.ndarray) -> np.ndarray:
        """Turn gamma x'y + coef0 in T into kernel values, in place."""
        raise NotImplementedError

    def rise(self, T: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the derivative of `profile` at T, where its values are known; T may be written over."""
        raise NotImplementedError

    def measure(self, X: Rows, Y: Rows) -> np.ndarray:
        """(n, d), (m, d) -> (n, m): products of norms, the largest that the dot products can be."""
        return np.sqrt(np.outer(squared_norms(X), squared_norms(Y)))

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """(n, d), (m, d) -> write the function of gamma X Y' + coef0."""
        dot(X, Y, out)
        self.profile(self._scale(out))

    def diag(self, X: Rows) -> np.ndarray:
        """(n, d) -> (n,): the function of gamma |x|^2 + coef0."""
        return self.profile(self._scale(squared_norms(X)))

    def slopes(self, X: np.ndarray, Y: np.ndarray) -> Slopes:
        """(n, d), (m, d) -> values and slopes: gamma times the derivative, toward y."""
        T = np.empty((n_rows(X), n_rows(Y)), dtype=dtype_of(X))
        dot(X, Y, T)
        self._scale(T)
        values = self.profile(T.copy())
        return Slopes(values, self.number() * self.rise(T, values), np.zeros_like(values))

    def pull_diagonal(self, X: np.ndarray) -> np.ndarray:
        """(n, d) -> (n, d): 2 gamma times the derivative at |x|^2, times x."""
        t = self._scale(squared_norms(X))
        return (2 * self.number() * self.rise(t, self.profile(t.copy())))[:, None] * X

    def _scale(self, T: np.ndarray) -> np.ndarray:
        T *= self.number()
        T += self._number_coef0()
        return T

    def _number_coef0(self) -> float:
        known = isinstance(self.coef0, int | float | np.number) and not isinstance(self.coef0, bool)
        if not known or not abs(self.coef0) < np.inf:
            raise ValueError(f"{type(self).__name__}(coef0={self.coef0!r}): coef0 must be a finite number.")
        return float(self.coef0)


class Polynomial(_ScaledDot):
    """(gamma x'y + coef0)^degree, as in scikit-learn; gamma=1, coef0=0 is the tutorial's form.

    Parameters
    ----------
    degree : int, default=3
        The exponent, positive. With an exponent that is no integer the kernel is not positive definite.
    gamma : float, "scale" or "median", default="scale"
        Factor of the dot product.
    coef0 : float, default=1
        Added constant; the kernel is positive definite when it is not negative.
    """

    def __init__(self, degree: float = 3, gamma: float | str = "scale", coef0: float = 1.0) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    @property
    def positive_definite(self) -> bool:  # type: ignore[override]
        """True for whole exponents and coef0 >= 0."""
        return self._number_degree().is_integer() and self._number_coef0() >= 0

    def profile(self, T: np.ndarray) -> np.ndarray:
        """Write t^degree."""
        degree = self._number_degree()
        if degree.is_integer():
            return np.power(T, int(degree), out=T)
        if T.min(initial=0.0) < 0:
            raise ValueError(
                f"Polynomial(degree={self.degree!r}): a power that is no whole number is undefined for negative "
                f"gamma x'y + coef0 (smallest: {T.min():.3g}). Use a whole degree, or raise coef0."
            )
        return np.power(T, degree, out=T)

    def rise(self, T: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return degree t^(degree - 1); below degree 1 it has no bound at t = 0, and t counts as sqrt(eps) at least."""
        degree = self._number_degree()
        if degree.is_integer():
            return int(degree) * np.power(T, int(degree) - 1, out=T)
        if degree < 1:
            np.maximum(T, np.sqrt(np.finfo(T.dtype).eps), out=T)
        return degree * np.power(T, degree - 1.0, out=T)

    @property
    def tells_product(self) -> bool:  # type: ignore[override]
        """True for odd whole exponents."""
        return self._number_degree() % 2 == 1

    def products_from(self, values: np.ndarray) -> np.ndarray:
        """Dot products: the root, with its sign, less coef0 and over gamma."""
        if not self.tells_product:
            return super().products_from(values)
        values = np.asarray(values, dtype=np.float64)
        root = np.copysign(np.abs(values) ** (1.0 / self._number_degree()), values)
        return (root - self._number_coef0()) / self.number()

    def _number_degree(self) -> float:
        return check_positive(self.degree, "degree", self, "a positive number, such as 2 or 3")


class Sigmoid(_ScaledDot):
    """tanh(gamma x'y + coef0), the hyperbolic tangent of neural networks. It is not positive definite.

    Parameters
    ----------
    gamma : float, "scale" or "median", default="scale"
        Factor of the dot product.
    coef0 : float, default=1
        Added constant.
    """

    positive_definite = False

    def __init__(self, gamma: float | str = "scale", coef0: float = 1.0) -> None:
        self.gamma = gamma
        self.coef0 = coef0

    def rounding(self, X: Rows, dtype: np.dtype) -> float:
        """Some eps of gamma x'y and of coef0, which may cancel; where t is large tanh is flat."""
        t = min(self.number() * float(squared_norms(X).max(initial=0.0)), FLAT)
        return 4 * float(np.finfo(dtype).eps) * (t + abs(self._number_coef0()))

    def profile(self, T: np.ndarray) -> np.ndarray:
        """Write tanh(t)."""
        return np.tanh(T, out=T)

    def rise(self, T: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return 1 - tanh(t)^2."""
        return (1 - values) * (1 + values)


class Cosine(Kernel):
    """x'y / (|x| |y|); a zero row has kernel value 0 with everything, itself included, and slopes 0."""

    takes_sparse = True
    differentiable = True
    rotatable = True

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """(n, d), (m, d) -> write cosines of angles."""
        cosines(X, Y, out)

    def diag(self, X: Rows) -> np.ndarray:
        """(n, d) -> (n,): ones, and zeros for zero rows."""
        return (squared_norms(unit_rows(X)) > 0).astype(dtype_of(X))

    def slopes(self, X: np.ndarray, Y: np.ndarray) -> Slopes:
        """(n, d), (m, d) -> cosines c, and their slopes 1 / (|x| |y|) toward y and -c / |x|^2 along x."""
        values = values_of(self, X, Y)
        lengths = inverse_lengths(X)
        along = values * -np.square(lengths)[:, None]
        return Slopes(values, np.multiply.outer(lengths, inverse_lengths(Y)), along)

    def pull_diagonal(self, X: np.ndarray) -> np.ndarray:
        """(n, d) -> (n, d): zeros."""
        return np.zeros_like(X)


class ArcCosine(Kernel):
    """The arc-cosine kernel (Cho and Saul 2009): an infinitely wide layer of step units or of ReLUs.

    With the angle t between x and y: order 0 is 1 - t/pi; order 1 is |x||y| (sin t + (pi - t) cos t) / pi.
    The angle to a zero row counts as a right angle.

    Parameters
    ----------
    order : {0, 1}, default=1
        0 for step units, 1 for ReLUs.
    """

    takes_sparse = True
    rotatable = True
    differentiable = property(lambda self: self.order == 1)

    def __init__(self, order: int = 1) -> None:
        self.order = order

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """(n, d), (m, d) -> write the kernel."""
        self._check_order()
        if self.order == 0:
            angles(unit_rows(X), unit_rows(Y), out)
            out /= -np.pi
            out += 1.0
        else:
            cosines(X, Y, out)
            np.clip(out, -1.0, 1.0, out=out)
            angle = np.arccos(out)
            out *= np.pi - angle
            out += np.sin(angle, out=angle)
            out *= np.sqrt(squared_norms(X))[:, None] / out.dtype.type(np.pi)
            out *= np.sqrt(squared_norms(Y))

    def diag(self, X: Rows) -> np.ndarray:
        """(n, d) -> (n,): |x|^2 for order 1, and 1 (1/2 for a zero row) for order 0."""
        self._check_order()
        if self.order == 1:
            return squared_norms(X)
        return np.where(squared_norms(unit_rows(X)) > 0, 1.0, 0.5).astype(dtype_of(X))

    def slopes(self, X: np.ndarray, Y: np.ndarray) -> Slopes:
        """(n, d), (m, d) -> slopes 1 - t/pi toward y and sin t |y| / (pi |x|) along x, which is 0 for a zero row x.

        Order 0 has none: its slope has no bound where the angle t is zero, as it is between equal rows.
        """
        if not self.differentiable:
            return super().slopes(X, Y)
        products = np.empty((n_rows(X), n_rows(Y)), dtype=dtype_of(X))
        dot(X, Y, products)
        toward = products * inverse_lengths(X)[:, None]
        toward *= inverse_lengths(Y)
        np.arccos(np.clip(toward, -1.0, 1.0, out=toward), out=toward)
        along = np.sin(toward)
        along *= inverse_lengths(X)[:, None]
        along *= np.sqrt(squared_norms(Y)) / toward.dtype.type(np.pi)
        toward /= -np.pi
        toward += 1.0
        values = toward * products  # k is homogeneous, so it is x times its gradient
        values += along * squared_norms(X)[:, None]
        return Slopes(values, toward, along)

    def pull_diagonal(self, X: np.ndarray) -> np.ndarray:
        """(n, d) -> (n, d): 2 x for order 1."""
        return 2 * X if self.differentiable else super().pull_diagonal(X)

    def _check_order(self) -> None:
        if self.order not in (0, 1):
            raise ValueError(f"ArcCosine(order={self.order!r}): order must be 0 (step units) or 1 (ReLUs).")


def angles(X: Rows, Y: Rows, out: np.ndarray) -> None:
    """(n, d), (m, d) -> write the angles between rows of length one into `out`.

    The cosine of a small angle, or of one near pi, has lost half of its digits: the length of the difference has not.
    """
    dot(X, Y, out)
    np.clip(out, -1.0, 1.0, out=out)
    small, flat = np.nonzero(out > NARROW), np.nonzero(out < -NARROW)
    np.arccos(out, out=out)
    out[small] = _small_angles(X, Y, *small)
    out[flat] = np.pi - _small_angles(X, -Y, *flat)


def _small_angles(X: Rows, Y: Rows, rows: np.ndarray, cols: np.ndarray) -> np.ndarray:
    return 2.0 * np.arcsin(np.sqrt(pair_distances(X, Y, rows, cols)) / 2.0)


def cosines(X: Rows, Y: Rows, out: np.ndarray) -> None:
    """(n, d), (m, d) -> write x'y / (|x| |y|) into `out`, with 0 for zero rows."""
    dot(unit_rows(X), unit_rows(Y), out)


def unit_rows(X: Rows) -> Rows:
    """(n, d) -> (n, d): x / |x|, and zero rows as they are; rows whose squares are no numbers are scaled first."""
    with np.errstate(over="ignore"):
        norms = squared_norms(X)
    kind = np.finfo(X.dtype)
    odd = ~((norms > kind.tiny / kind.eps) & (norms < kind.max))
    if odd.any():
        sizes = np.asarray(abs(X).max(axis=1).todense()).ravel() if sparse.issparse(X) else np.abs(X).max(axis=1)
        X = _times_rows(X, np.divide(1, sizes, out=np.ones_like(sizes), where=odd & (sizes >= kind.tiny)))
        norms = squared_norms(X)
    return _times_rows(X, _inverse_roots(norms))


def inverse_lengths(X: Rows) -> np.ndarray:
    """(n, d) -> (n,): 1 / |x_i|, and 0 for zero rows."""
    return _inverse_roots(squared_norms(X))


def _inverse_roots(norms: np.ndarray) -> np.ndarray:
    return np.divide(1.0, np.sqrt(norms), out=np.zeros_like(norms), where=norms > 0)


def _times_rows(X: Rows, factors: np.ndarray) -> Rows:
    return sparse.diags(factors) @ X if sparse.issparse(X) else X * factors[:, None]
