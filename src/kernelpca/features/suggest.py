"""How many random features a uniform error of kernel values needs."""

from __future__ import annotations

from functools import singledispatch
from math import ceil, inf, log, sqrt
from numbers import Integral

import numpy as np

from kernelpca.kernels.algebra import Normalized, Product, Scale, Shift, Sum
from kernelpca.kernels.base import Kernel
from kernelpca.kernels.spectral import at_zero, share
from kernelpca.kernels.stationary import RBF, Cauchy, Matern, RationalQuadratic


def suggest_n_features(
    eps: float, diameter: float, n_inputs: int, kernel: Kernel, failure_probability: float = 0.01
) -> int:
    """Return how many features keep the error of every kernel value below `eps`, by Rahimi and Recht's Claim 1.

    For rows in a set of the given diameter D in d dimensions, and k(0) = 1,

        P(sup |z(x)'z(y) - k(x, y)| >= eps) <= 2^8 (sigma D / eps)^2 exp(-r eps^2 / (4 (d + 2))),

    where sigma^2 = E|w|^2 is the trace of minus the Hessian of k at 0. The number is the smallest even r for which
    the right side is at most `failure_probability`. The bound is loose: a tenth of it is often enough. Its proof
    is about the mean of r independent cosines cos(w'(x - y)); to the letter it therefore covers "paired" with r
    frequencies, which are 2 r features, and "iid".

    Parameters
    ----------
    eps : float
        The largest error wanted; for k(0) other than 1 it counts relative to k(0) inside the formula.
    diameter : float
        The largest distance between two rows. The formula needs sigma D >= eps; a smaller set counts as that large.
    n_inputs : int
        The number of columns d.
    kernel : Kernel
        Resolved, with frequencies of finite variance: not `Laplacian`, nor `Matern` with nu <= 1.
    failure_probability : float, default=0.01
        The probability that the error is larger somewhere.

    References
    ----------
    Rahimi and Recht (2008), Random features for large-scale kernel machines, Claim 1; cited in section V of
    "Invertible kernel PCA with random Fourier features".

    Examples
    --------
    >>> from kernelpca.features import suggest_n_features
    >>> from kernelpca.kernels import RBF
    >>> suggest_n_features(0.1, diameter=4.0, n_inputs=3, kernel=RBF(gamma=0.5))
    37254
    """
    for name, value in (("eps", eps), ("diameter", diameter)):
        if not isinstance(value, int | float | np.number) or not 0 < value < np.inf:
            raise ValueError(f"suggest_n_features({name}={value!r}): {name} must be a positive number.")
    if isinstance(n_inputs, bool) or not isinstance(n_inputs, Integral) or n_inputs < 1:
        raise ValueError(
            f"suggest_n_features(n_inputs={n_inputs!r}): n_inputs must be a positive whole number, X.shape[1]."
        )
    if not isinstance(failure_probability, int | float | np.number) or not 0 < failure_probability < 1:
        raise ValueError(
            f"suggest_n_features(failure_probability={failure_probability!r}): failure_probability must be between "
            "0 and 1, such as 0.01."
        )
    if not kernel.has_spectrum:
        raise _no_variance(kernel)
    sigma = sqrt(n_inputs * frequency_variance(kernel))
    k0 = at_zero(kernel)
    relative = float(eps) / k0 if k0 > 0 else inf
    spread = max(sigma * float(diameter) / relative, 1.0)
    r = 4.0 * (n_inputs + 2) / relative**2 * log(2.0**8 * spread**2 / failure_probability)
    return 2 * max(ceil(r / 2), 1)


def _no_variance(kernel: Kernel) -> ValueError:
    return ValueError(
        f"{kernel!r} has no frequencies of finite variance, which Rahimi and Recht's bound needs. Kernels that have: "
        "RBF, Matern with nu > 1, Cauchy, RationalQuadratic and their combinations. For others try a few n_features."
    )


@singledispatch
def frequency_variance(kernel: Kernel) -> float:
    """Return E w_j^2 of one coordinate of a resolved kernel's frequencies: minus k''(0) / k(0) along a coordinate."""
    raise _no_variance(kernel)


@frequency_variance.register(RBF)
@frequency_variance.register(Cauchy)
@frequency_variance.register(RationalQuadratic)
def _(kernel: RBF | Cauchy | RationalQuadratic) -> float:
    return 2.0 * kernel.number()


@frequency_variance.register
def _(kernel: Matern) -> float:
    if not kernel.nu > 1:
        raise _no_variance(kernel)
    return 2.0 * kernel.number() * kernel.nu / (kernel.nu - 1.0)


@frequency_variance.register
def _(kernel: Product) -> float:
    return frequency_variance(kernel.k1) + frequency_variance(kernel.k2)


@frequency_variance.register
def _(kernel: Sum) -> float:
    first = share(kernel.k1, kernel.k2)
    return first * frequency_variance(kernel.k1) + (1.0 - first) * frequency_variance(kernel.k2)


@frequency_variance.register(Scale)
@frequency_variance.register(Normalized)
def _(kernel: Scale | Normalized) -> float:
    return frequency_variance(kernel.kernel)


@frequency_variance.register
def _(kernel: Shift) -> float:
    return share(kernel.kernel, kernel.constant) * frequency_variance(kernel.kernel)
