"""Kernels of the difference x - y: all but one are functions of the squared Euclidean distance."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from kernelpca.kernels.base import HasGamma, Kernel, Rows, check_positive, dtype_of, n_rows, values_of
from kernelpca.kernels.exponential import exponential, gaussian
from kernelpca.kernels.inverse import EPS, minus_log, solve_falling
from kernelpca.kernels.less_one import LessOne
from kernelpca.kernels.matern import SMOOTHEST, matern_function, singular_slope
from kernelpca.kernels.origin import longest_with_partner
from kernelpca.kernels.pairwise import PAIRWISE_TILE, manhattan
from kernelpca.kernels.products import (
    dot,
    level_of,
    losses,
    near_pairs,
    relative_reach,
    remake,
    squared_distances,
    squared_norms,
)
from kernelpca.kernels.slopes import Slopes
from kernelpca.kernels.spectral import Draw, cauchy_of_normal, half_normal, mixing
from kernelpca.tiles import TILE

VANISHING = 6.0  # widths apart at which the Gaussian is rounding
ORDINARY = {4: (1e-20, 1e30), 8: (1e-200, 1e280)}  # numbers, by item size, whose products and sums are normal ones
TINY = float(np.finfo(np.float64).tiny)
FAR = 1e30  # scaled squared distances count as this at most, so that no profile overflows: its value is zero, or nearly


class Stationary(HasGamma):
    """k(x, y) = g(x - y) with g(0) = 1."""

    stationary = True
    movable = True
    unit_diagonal = True

    def diag(self, X: Rows) -> np.ndarray:
        """(n, d) -> (n,): ones."""
        return np.ones(n_rows(X), dtype=dtype_of(X))

    def distances_from(self, values: np.ndarray) -> np.ndarray:
        """Kernel values of any shape -> squared distances; values count as eps at least and as one at most."""
        if not self.tells_distance:
            return super().distances_from(values)
        values = np.clip(np.asarray(values, dtype=np.float64), EPS, 1.0)
        return self.distances_at(values, 1.0 - values)

    def distances_from_less_one(self, values: np.ndarray) -> np.ndarray:
        """Kernel values less one -> squared distances, with all digits of values near zero."""
        rest = np.clip(-np.asarray(values, dtype=np.float64), 0.0, 1.0 - EPS)
        return self.distances_at(1.0 - rest, rest)

    def distances_at(self, values: np.ndarray, rest: np.ndarray) -> np.ndarray:
        """Kernel values in (0, 1], and one less these -> squared distances; for kernels that tell them."""
        raise NotImplementedError


class Radial(Stationary):
    """k(x, y) = g(gamma |x - y|^2) with the Euclidean norm; a subclass writes g, in place, and -g'."""

    takes_sparse = True
    differentiable = True
    rotatable = True
    radial = True
    tells_distance = True
    steepest: float = 1.0  # -g'(0)

    @abstractmethod
    def profile(self, S: np.ndarray) -> None:
        """Turn the scaled squared distances gamma |x - y|^2 in S into kernel values, in place."""

    @abstractmethod
    def fall(self, S: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return -g'(s) as a new array, or in S, where the values g(s) are known."""

    def measure(self, X: Rows, Y: Rows) -> np.ndarray:
        """(n, d), (m, d) -> (n, m): squared distances."""
        S = np.empty((n_rows(X), n_rows(Y)), dtype=dtype_of(X))
        squared_distances(X, Y, S)
        return S

    def rounding(self, X: Rows, dtype: np.dtype) -> float:
        """Rows that are rounded move by eps of their length, in widths; g falls with it, or with its product with s."""
        if dtype_of(X) == dtype:
            return 0.0
        lengths = np.sqrt(self.number() * squared_norms(X).astype(np.float64))
        longest = longest_with_partner(lengths, VANISHING)
        return float(np.finfo(dtype).eps) * longest * min(1.0, 4 * self.steepest * max(longest, TINY))

    def steepness(self, d: int) -> float:
        """A width at most."""
        return float(np.sqrt(self.number()))

    def reach(self, loss: np.ndarray, level: float) -> np.ndarray:
        """Return the s up to which g is off by more than `level` where s may be off by `loss`: zero if none is."""
        return relative_reach(np.where(self.steepest * loss > level, loss, 0), level)

    def scaled_distances(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """(n, d), (m, d) -> write gamma |x_i - y_j|^2 into `out`, as exactly as g needs it."""
        lost = squared_distances(X, Y, out, self.number(), self.reach)
        if not lost <= FAR * np.finfo(X.dtype).eps:
            np.minimum(out, FAR, out=out)

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """(n, d), (m, d) -> write g(gamma |x_i - y_j|^2) into `out`."""
        self.scaled_distances(X, Y, out)
        self.profile(out)

    def slopes(self, X: np.ndarray, Y: np.ndarray) -> Slopes:
        """(n, d), (m, d) -> values and slopes -2 gamma g'(s) toward y."""
        S = np.empty((n_rows(X), n_rows(Y)), dtype=dtype_of(X))
        self.scaled_distances(X, Y, S)
        values, fall = self._fall_at(S)
        return Slopes(values, 2 * self.number() * fall)

    def distances_at(self, values: np.ndarray, rest: np.ndarray) -> np.ndarray:
        """Kernel values in (0, 1] -> squared distances, by Newton's method."""

        def fall(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            tile, slopes = self._fall_at(s[None].copy())
            return tile[0], slopes[0]

        return solve_falling(fall, values.ravel()).reshape(values.shape) / self.number()

    def _fall_at(self, S: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return g(s) and -g'(s); S may be written over."""
        values = S.copy()
        self.profile(values)
        return values, self.fall(S, values)


class RBF(Radial):
    """The Gaussian kernel exp(-gamma |x - y|^2).

    Parameters
    ----------
    gamma : float, "scale" or "median", default="scale"
        Inverse squared width. "scale" is 1/(d var X); "median" makes k = 1/e at the median distance.

    Examples
    --------
    >>> from kernelpca.kernels import RBF
    >>> RBF(gamma=0.5)([[0.0]], [[0.0], [2.0]]).round(3)
    array([[1.   , 0.135]])
    """

    has_spectrum = True

    def __init__(self, gamma: float | str = "scale") -> None:
        self.gamma = gamma

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """(n, d), (m, d) -> write exp(2 gamma x'y - gamma |x|^2 - gamma |y|^2): one product, one pass over the tile."""
        self._compute(X, Y, out, less_one=False)

    def compute_less_one(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """(n, d), (m, d) -> write the kernel less one."""
        self._compute(X, Y, out, less_one=True)

    def for_centering(self) -> Kernel:
        """Return the kernel less one."""
        return LessOne(self)

    def _compute(self, X: Rows, Y: Rows, out: np.ndarray, less_one: bool) -> None:
        """Write the kernel, or that less one; pairs so near that what rounding takes matters are made once more."""
        scale, level = self.number(), level_of(X, Y)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            x, y, gamma = squared_norms(X), squared_norms(Y), X.dtype.type(scale)
            lost = losses(x, scale, X), losses(y, scale, Y)
            most = lost[0] + lost[1].max(initial=0.0)
            near = np.where(most > level, np.log(level / np.maximum(most, level)) - most, np.inf)
            dot(X, Y, out)
            rows = gaussian(out, 2 * gamma, -gamma * x, -gamma * y, less_one, near)
        if len(rows):

            def matters(values: np.ndarray, loss: np.ndarray) -> np.ndarray:
                return ~(values < level / np.maximum(loss, level) * np.exp(-loss) - less_one)  # NaN is not less

            pairs = near_pairs(out, rows, lost, matters)
            remake(X, Y, out, *pairs, scale, lambda S: exponential(np.negative(S, out=S), less_one))

    def profile(self, S: np.ndarray) -> None:
        """Write exp(-s)."""
        exponential(np.negative(S, out=S))

    def fall(self, S: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return exp(-s)."""
        return values.copy()

    def slopes(self, X: np.ndarray, Y: np.ndarray) -> Slopes:
        """(n, d), (m, d) -> values k and slopes 2 gamma k toward y: no other exponential."""
        values = values_of(self, X, Y)
        return Slopes(values, 2 * self.number() * values)

    def slopes_less_one(self, X: np.ndarray, Y: np.ndarray) -> Slopes:
        """(n, d), (m, d) -> the same with values less one: still no other exponential."""
        values = values_of(LessOne(self), X, Y)
        toward = values + 1.0
        toward *= 2 * self.number()
        return Slopes(values, toward)

    def distances_at(self, values: np.ndarray, rest: np.ndarray) -> np.ndarray:
        """Return -log(k) / gamma."""
        return minus_log(values, rest) / self.number()

    def spectral(self, draw: Draw) -> np.ndarray:
        """Return (r, d): N(0, 2 gamma I)."""
        return np.sqrt(2.0 * self.number()) * draw.normals()


class Laplacian(Stationary):
    """exp(-gamma |x - y|) with the Manhattan norm (scikit-learn's) or the Euclidean norm (the papers').

    Parameters
    ----------
    gamma : float, "scale" or "median", default="scale"
        Inverse width. "scale" is 1/(d var X) as for every kernel; since gamma multiplies a distance and not its
        square here, "median" adapts better to data in unusual units.
    norm : {"manhattan", "euclidean"}, default="manhattan"
        Which norm. The name "laplacian" is scikit-learn's kernel (Manhattan); "laplacian_euclidean" is the other.
    """

    has_spectrum = True

    def __init__(self, gamma: float | str = "scale", norm: str = "manhattan") -> None:
        self.gamma = gamma
        self.norm = norm

    radial = property(lambda self: self.norm == "euclidean")
    differentiable = radial
    rotatable = radial
    tells_distance = radial
    takes_sparse = radial  # only the Euclidean norm comes from dot products

    @property
    def tile(self) -> int:  # type: ignore[override]
        """The Manhattan norm is a loop over pairs."""
        return TILE if self.norm == "euclidean" else PAIRWISE_TILE

    def measure(self, X: Rows, Y: Rows) -> np.ndarray:
        """(n, d), (m, d) -> (n, m): distances in this kernel's norm."""
        out = np.empty((n_rows(X), n_rows(Y)), dtype=dtype_of(X))
        self._distances(X, Y, out, 1.0)
        return out

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """(n, d), (m, d) -> write exp(-gamma |x_i - y_j|) into `out`."""
        self._distances(X, Y, out, -self.number())
        exponential(out)

    def compute_less_one(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """(n, d), (m, d) -> write the kernel less one."""
        self._distances(X, Y, out, -self.number())
        exponential(out, less_one=True)

    def for_centering(self) -> Kernel:
        """Return the kernel less one."""
        return LessOne(self)

    def slopes(self, X: np.ndarray, Y: np.ndarray) -> Slopes:
        """(n, d), (m, d) -> values k and slopes gamma k / |x - y| toward y, for the Euclidean norm.

        They have no bound between equal rows: distances count as sqrt(eps) / gamma at least.
        """
        if not self.differentiable:
            return super().slopes(X, Y)
        toward = np.empty((n_rows(X), n_rows(Y)), dtype=dtype_of(X))
        self._distances(X, Y, toward, self.number())
        values = -toward
        exponential(values)
        np.maximum(toward, np.sqrt(np.finfo(toward.dtype).eps), out=toward)
        np.divide(values, toward, out=toward)
        toward *= self.number() ** 2
        return Slopes(values, toward)

    def distances_at(self, values: np.ndarray, rest: np.ndarray) -> np.ndarray:
        """Return (log(k) / gamma)^2."""
        return np.square(minus_log(values, rest) / self.number())

    def rounding(self, X: Rows, dtype: np.dtype) -> float:
        """Rows that are rounded move by eps of their length."""
        if dtype_of(X) == dtype:
            return 0.0
        lengths = np.sqrt(squared_norms(X).astype(np.float64)) if self.norm == "euclidean" else np.abs(X).sum(axis=1)
        return float(np.finfo(dtype).eps) * longest_with_partner(self.number() * lengths, VANISHING**2)

    def steepness(self, d: int) -> float:
        """Gamma for each unit of the norm."""
        return self.number() * (1.0 if self.norm == "euclidean" else float(np.sqrt(d)))

    def _distances(self, X: Rows, Y: Rows, out: np.ndarray, factor: float) -> None:
        """(n, d), (m, d) -> write `factor` |x_i - y_j|."""
        unit = _unit_for(X, Y, abs(factor))
        if unit != 1.0:
            X, Y, factor = X * X.dtype.type(unit), Y * Y.dtype.type(unit), factor / unit
        if self.norm == "euclidean":
            squared_distances(X, Y, out)
            np.sqrt(out, out=out)
        elif self.norm == "manhattan":
            manhattan(X, Y, out)
        else:
            raise self._unknown_norm()
        with np.errstate(over="ignore"):
            out *= factor

    def spectral(self, draw: Draw) -> np.ndarray:
        """Return (r, d): Cauchy numbers of width gamma, one for each column or (Euclidean) jointly: z / |z0|."""
        if self.norm == "euclidean":
            return self.number() / half_normal(draw.uniforms()) * draw.normals()
        if self.norm == "manhattan":
            return self.number() * cauchy_of_normal(draw.normals())
        raise self._unknown_norm()

    def _unknown_norm(self) -> ValueError:
        return ValueError(
            f"Laplacian(norm={self.norm!r}): norm must be 'manhattan' (scikit-learn's laplacian kernel) or "
            "'euclidean' (the papers')."
        )


def _unit_for(X: Rows, Y: Rows, factor: float) -> float:
    """Return a power of two for rows whose squares, or whose `factor`, are no ordinary numbers; else one.

    Scaled distances are then near one where they matter, or the longest rows are.
    """
    with np.errstate(over="ignore"):
        norms = [float(squared_norms(rows).max(initial=0.0)) for rows in (X, Y)]
    least, most = ORDINARY[X.dtype.itemsize]
    if least < max(norms) < most and least < factor < most:
        return 1.0
    largest = max(float(abs(rows).max()) for rows in (X, Y))
    if not 0 < largest < np.inf:
        return 1.0
    limits = np.finfo(X.dtype)
    power = np.round(np.log2(max(factor, 1.0 / largest)))
    return float(2.0 ** np.clip(power, limits.minexp, limits.maxexp - 1))


class Matern(Radial):
    """The Matérn kernel of smoothness nu, with gamma in the units of the Gaussian that it tends to as nu grows.

    With z = 2 sqrt(nu gamma) |x - y|, k = 2^(1-nu) / Gamma(nu) z^nu K_nu(z); scikit-learn's Gaussian-process
    kernel has length_scale = 1/sqrt(2 gamma).

    Parameters
    ----------
    nu : float, default=1.5
        Smoothness, up to 1e7; 0.5, 1.5 and 2.5 are computed in closed form.
    gamma : float, "scale" or "median", default="scale"
        Inverse squared width.
    """

    has_spectrum = True

    def __init__(self, nu: float = 1.5, gamma: float | str = "scale") -> None:
        self.nu = nu
        self.gamma = gamma

    @property
    def steepest(self) -> float:  # type: ignore[override]
        """nu / (nu - 1); without bound up to nu = 1."""
        nu = self._number_nu()
        return nu / (nu - 1.0) if nu > 1 else np.inf

    def profile(self, S: np.ndarray) -> None:
        """Write the Matérn function of z = sqrt(4 nu s)."""
        nu = self._number_nu()
        S *= 4.0 * nu
        z = np.sqrt(S, out=S)
        if nu == 0.5:
            exponential(np.negative(z, out=z))
        elif nu in (1.5, 2.5):
            polynomial = 1.0 + z if nu == 1.5 else 1.0 + z + z * z / 3.0
            exponential(np.negative(z, out=z))
            z *= polynomial
        else:
            z[...] = matern_function(nu, z.astype(np.float64))

    def fall(self, S: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Write nu / (nu - 1) times the Matérn function of nu - 1 at the same z.

        Up to nu = 1 it has no bound at z = 0, and z counts as sqrt(eps) at least.
        """
        nu = self._number_nu()
        if nu > 1:
            S *= nu / (nu - 1.0)
            Matern(nu - 1.0, self.gamma).profile(S)
            S *= nu / (nu - 1.0)
            return S
        z = np.sqrt(np.maximum(4.0 * nu * S, np.finfo(S.dtype).eps))
        return values / z if nu == 0.5 else singular_slope(nu, z.astype(np.float64)).astype(S.dtype)

    def spectral(self, draw: Draw) -> np.ndarray:
        """Return (r, d): Student's t with 2 nu degrees: N(0, 2 gamma / g I), g of Gamma(nu) with mean one."""
        return np.sqrt(2.0 * self.number() / mixing(self._number_nu(), draw.uniforms())) * draw.normals()

    def _number_nu(self) -> float:
        allowed = f"a positive number up to {SMOOTHEST:g} (beyond it, and for nu = infinity, use RBF)"
        nu = check_positive(self.nu, "nu", self, allowed)
        if nu > SMOOTHEST:
            raise ValueError(f"Matern(nu={self.nu!r}): nu must be {allowed}.")
        return nu


class Cauchy(Radial):
    """The Cauchy kernel 1 / (1 + gamma |x - y|^2).

    Parameters
    ----------
    gamma : float, "scale" or "median", default="scale"
        Inverse squared width.
    """

    has_spectrum = True

    def __init__(self, gamma: float | str = "scale") -> None:
        self.gamma = gamma

    def profile(self, S: np.ndarray) -> None:
        """Write 1 / (1 + s)."""
        S += 1.0
        np.reciprocal(S, out=S)

    def fall(self, S: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return 1 / (1 + s)^2."""
        return np.square(values)

    def distances_at(self, values: np.ndarray, rest: np.ndarray) -> np.ndarray:
        """Return (1 / k - 1) / gamma."""
        return rest / values / self.number()

    def spectral(self, draw: Draw) -> np.ndarray:
        """Return (r, d): N(0, 2 gamma t I), t exponential with mean one."""
        return np.sqrt(2.0 * self.number() * mixing(1.0, draw.uniforms())) * draw.normals()

    def compute_less_one(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """(n, d), (m, d) -> write -s / (1 + s)."""
        self.scaled_distances(X, Y, out)
        out /= -1.0 - out

    def for_centering(self) -> Kernel:
        """Return the kernel less one."""
        return LessOne(self)


class RationalQuadratic(Radial):
    """The rational quadratic kernel (1 + gamma |x - y|^2 / alpha)^-alpha: Gaussians of many widths mixed.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the tails; as it grows the kernel tends to RBF(gamma); 1 is the Cauchy kernel.
    gamma : float, "scale" or "median", default="scale"
        Inverse squared width.
    """

    has_spectrum = True

    def __init__(self, alpha: float = 1.0, gamma: float | str = "scale") -> None:
        self.alpha = alpha
        self.gamma = gamma

    def profile(self, S: np.ndarray) -> None:
        """Write (1 + s / alpha)^-alpha."""
        alpha = check_positive(self.alpha, "alpha", self)
        S /= alpha
        np.log1p(S, out=S)
        S *= -alpha
        exponential(S)

    def fall(self, S: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Write k / (1 + s / alpha)."""
        S /= check_positive(self.alpha, "alpha", self)
        S += 1.0
        return np.divide(values, S, out=S)

    def distances_at(self, values: np.ndarray, rest: np.ndarray) -> np.ndarray:
        """Return alpha (k^(-1 / alpha) - 1) / gamma, and no more than about 1e304 alpha / gamma."""
        alpha = check_positive(self.alpha, "alpha", self)
        return np.expm1(np.minimum(minus_log(values, rest) / alpha, 700.0)) * alpha / self.number()

    def spectral(self, draw: Draw) -> np.ndarray:
        """Return (r, d): N(0, 2 gamma t I), t of Gamma(alpha) with mean one."""
        alpha = check_positive(self.alpha, "alpha", self)
        return np.sqrt(2.0 * self.number() * mixing(alpha, draw.uniforms())) * draw.normals()
