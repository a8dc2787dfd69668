"""The Matérn function and its slope."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, kve

SMOOTHEST = 1e7  # nu: beyond it the logarithms cancel more digits than the Gaussian differs by, some 1e-7
FAR = 1e3  # beyond it exp(-z) is zero, and scipy's Bessel function no number


def matern_function(nu: float, z: np.ndarray) -> np.ndarray:
    """2^(1-nu) / Gamma(nu) z^nu K_nu(z), float64.

    For nu up to 50 from scipy's Bessel function; beyond, where that overflows, from Debye's uniform expansion of
    log K_nu(nu x), whose error is below 1e-8 there.
    """
    value = np.ones_like(z)
    inside = z > 0
    z = z[inside]
    logarithm = nu * np.log(z) + (1.0 - nu) * np.log(2.0) - gammaln(nu)
    if nu <= 50:
        with np.errstate(divide="ignore", over="ignore"):
            logarithm += np.log(kve(nu, z)) - z
        logarithm = np.where(np.isfinite(logarithm), logarithm, np.where(z < nu, 0.0, -np.inf))
    else:
        x = z / nu
        root = np.sqrt(1.0 + x * x)
        p = 1.0 / root
        eta = root + np.log(x / (1.0 + root))
        u1 = (3 * p - 5 * p**3) / 24
        u2 = (81 * p**2 - 462 * p**4 + 385 * p**6) / 1152
        u3 = (30375 * p**3 - 369603 * p**5 + 765765 * p**7 - 425425 * p**9) / 414720
        series = -u1 / nu + u2 / nu**2 - u3 / nu**3
        logarithm += 0.5 * np.log(np.pi / (2 * nu)) - nu * eta - 0.5 * np.log(root) + np.log1p(series)
    value[inside] = np.exp(np.minimum(logarithm, 0.0))
    return value


def singular_slope(nu: float, z: np.ndarray) -> np.ndarray:
    """-(2 nu / z) times the derivative of `matern_function`, for nu <= 1 and z > 0, float64.

    From d/dz [z^nu K_nu(z)] = -z^nu K_(nu-1)(z); it has no bound at z = 0. For nu > 1 it is nu / (nu - 1) times the
    Matérn function of nu - 1.
    """
    logarithm = np.log(2.0 * nu) + (1.0 - nu) * (np.log(2.0) - np.log(z)) - gammaln(nu)
    return np.exp(logarithm - z) * kve(1.0 - nu, np.minimum(z, FAR))
