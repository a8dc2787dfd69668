"""Random numbers that frequencies of a stationary kernel are made of, and ways of drawing them.

Bochner's theorem: k(x, y) = k(0) E cos(w'(x - y)) for a random frequency w. A kernel says how to make w of normal and
uniform numbers (`Kernel.spectral`); a `Draw` hands these out, so that every kernel meets every way of drawing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from scipy.special import erfinv, gammaincinv, ndtr, ndtri

if TYPE_CHECKING:
    from kernelpca.kernels.base import Kernel

T = TypeVar("T")

SAMPLINGS = ("iid", "orthogonal", "quasi")
WITH_SPECTRUM = "RBF, Laplacian, Matern, Cauchy, RationalQuadratic, their sums, products, multiples and shifts (>= 0)"
SOBOL_BITS = 32  # digits of a quasi-random number; half a digit is added, so that none is 0 or 1
LEAST_MIXING = 1e-30  # of a variance drawn: frequencies 1e15 times the usual look like noise in every precision


class Draw(ABC):
    """Hands out fresh numbers, independent of all before: r rows for d columns, float64."""

    def __init__(self, rows: int, width: int) -> None:
        self.rows = rows
        self.width = width

    @abstractmethod
    def normals(self) -> np.ndarray:
        """Return (r, d): each row is N(0, I); how the rows hang together is the way of drawing."""

    @abstractmethod
    def uniforms(self) -> np.ndarray:
        """Return (r,): each is uniform on (0, 1), never 0 or 1."""


class Independent(Draw):
    """All rows independent."""

    def __init__(self, rows: int, width: int, rng: np.random.Generator) -> None:
        super().__init__(rows, width)
        self.rng = rng

    def normals(self) -> np.ndarray:
        """Return (r, d): independent normal numbers."""
        return self.rng.standard_normal((self.rows, self.width))

    def uniforms(self) -> np.ndarray:
        """Return (r,): independent uniform numbers."""
        return np.maximum(self.rng.random(self.rows), 2.0**-54)  # the generator gives multiples of 2^-53 below 1


class Orthogonal(Independent):
    """Rows orthogonal to each other in blocks of d: random orthogonal directions, each with the length of N(0, I).

    References
    ----------
    Yu, Suresh, Choromanski, Holtmann-Rice and Kumar (2016), Orthogonal random features, section 3.
    """

    def normals(self) -> np.ndarray:
        """Return (r, d): a stack of blocks, the last one cut."""
        r, d = self.rows, self.width
        Q, R = np.linalg.qr(self.rng.standard_normal((-(-r // d), d, min(r, d))))
        signs = np.where(np.diagonal(R, axis1=1, axis2=2) < 0, -1.0, 1.0)  # makes the directions uniform
        directions = np.swapaxes(Q * signs[:, None, :], 1, 2).reshape(-1, d)[:r]
        return directions * np.sqrt(self.rng.chisquare(d, size=(r, 1)))


class QuasiRandom(Draw):
    """All numbers of a row from one point of a scrambled Sobol sequence: points that fill the cube evenly.

    Each point alone is uniform on the cube, so features stay unbiased.
    """

    def __init__(self, rows: int, width: int, dimensions: int, rng: np.random.Generator) -> None:
        super().__init__(rows, width)
        from scipy.stats import qmc  # here: it takes long to import

        if dimensions > qmc.Sobol.MAXDIM:
            raise ValueError(
                f"sampling='quasi' needs {dimensions} quasi-random numbers for each frequency of {width} columns, and "
                f"Sobol's sequence has {qmc.Sobol.MAXDIM}. Use sampling='orthogonal', which has no such limit."
            )
        sequence = qmc.Sobol(dimensions, scramble=True, bits=SOBOL_BITS, seed=rng)
        self.points = sequence.random_base2((rows - 1).bit_length())[:rows]
        self.points += 0.5**SOBOL_BITS / 2
        self.used = 0

    def normals(self) -> np.ndarray:
        """Return (r, d): normal quantiles of the next d coordinates."""
        return ndtri(self._take(self.width))

    def uniforms(self) -> np.ndarray:
        """Return (r,): the next coordinate."""
        return self._take(1)[:, 0]

    def _take(self, count: int) -> np.ndarray:
        self.used += count
        return self.points[:, self.used - count : self.used]


class _Count(Draw):
    """Draws nothing (no rows) and counts the numbers that a row would need."""

    def __init__(self, width: int) -> None:
        super().__init__(0, width)
        self.dimensions = 0

    def normals(self) -> np.ndarray:
        self.dimensions += self.width
        return np.empty((0, self.width))

    def uniforms(self) -> np.ndarray:
        self.dimensions += 1
        return np.empty(0)


def sample(recipe: Callable[[Draw], T], sampling: str, rows: int, width: int, rng: np.random.Generator) -> T:
    """Return recipe(draw) for r rows and d columns; `recipe` must not depend on the numbers in what it asks for."""
    if sampling == "iid":
        return recipe(Independent(rows, width, rng))
    if sampling == "orthogonal":
        return recipe(Orthogonal(rows, width, rng))
    if sampling == "quasi":
        count = _Count(width)
        recipe(count)
        return recipe(QuasiRandom(rows, width, count.dimensions, rng))
    raise ValueError(
        f"sampling={sampling!r} is no way of drawing frequencies. Choose 'orthogonal' (small error at any number of "
        "columns), 'iid' (independent) or 'quasi' (Sobol, for few columns)."
    )


def at_zero(kernel: Kernel) -> float:
    """Return k(x, x) of a stationary kernel."""
    return float(kernel.diag(np.zeros((1, 1)))[0])


def share(first: Kernel, second: Kernel | float) -> float:
    """Return the first's share of k1(0) + k2(0); a number c is the kernel that is c everywhere."""
    a = at_zero(first)
    b = float(second) if isinstance(second, int | float | np.number) else at_zero(second)
    return a / (a + b) if a + b > 0 else 1.0


def mixing(shape: float, u: np.ndarray) -> np.ndarray:
    """(r,) -> (r, 1): Gamma quantiles with mean one and the given shape, the variance that Gaussians are mixed by."""
    return np.maximum(gammaincinv(shape, u) / shape, LEAST_MIXING)[:, None]


def half_normal(u: np.ndarray) -> np.ndarray:
    """(r,) -> (r, 1): quantiles of |z|, z normal, exact near zero."""
    return np.sqrt(2.0) * erfinv(u)[:, None]


def cauchy_of_normal(Z: np.ndarray) -> np.ndarray:
    """Turn normal numbers into Cauchy numbers: tan(pi (Phi(z) - 1/2)), exact in the tails too."""
    return np.copysign(1.0 / np.tan(np.pi * ndtr(-np.abs(Z))), Z)
