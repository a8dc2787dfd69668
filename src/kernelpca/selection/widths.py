"""Which gamma: rules that look at the data once, and a grid that holds every width worth trying."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelpca.kernels import as_kernel
from kernelpca.kernels.base import HasGamma, Rows, n_rows, spread_rows

DIGITS = 3  # of a width: more would make no difference that could be seen
NEARLY_LINEAR = 0.1  # gamma times the largest measure, at which a kernel is almost linear in what gamma multiplies
STRANGERS = 5.0  # gamma times the median measure, at which most rows have nothing in common: exp(-5) = 0.007
NEARLY_HOMOGENEOUS = 10.0  # gamma times the median product of norms, at which coef0 no longer counts


def gamma_scale(X: Any, kernel: Any = "rbf") -> float:
    """Return gamma="scale" as a number: 1 / (number of columns * variance of X).

    Parameters
    ----------
    X : array-like of shape (n, d)
        The data.
    kernel : str or Kernel, default="rbf"
        A kernel with a width. For a Gaussian of another kernel the variance is that in its feature space.
    """
    return _resolved(kernel, X, "scale").number()


def gamma_median(X: Any, kernel: Any = "rbf") -> float:
    """Return gamma="median" as a number: 1 / median of what gamma multiplies, over pairs of at most 1000 rows.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The data.
    kernel : str or Kernel, default="rbf"
        A kernel with a width: gamma multiplies squared distances in "rbf", sums of differences in "laplacian".
    """
    return _resolved(kernel, X, "median").number()


def gamma_grid(kernel: Any, X: Any, n: int = 7) -> np.ndarray:
    """(n,): widths worth trying, from nearly linear to one row at a time, in equal ratios, smallest gamma first.

    Beyond its ends nothing new happens. At the lower end gamma times the largest distance (as the kernel measures it)
    is 0.1: the kernel is almost linear in that distance, and a smaller gamma gives the same components. At the upper
    end gamma times the distance of a typical row from its nearest neighbor is 1, or gamma times the median distance is
    5 if that is more: with a larger one rows are alone, and a new row has nothing to be projected on. For functions of
    dot products, gamma times products of norms goes from 0.1, where all but the first powers vanish, to 10, where
    `coef0` does.

    Parameters
    ----------
    kernel : str or Kernel
        A kernel with a width; its own gamma does not matter.
    X : array-like of shape (n, d)
        The data; at most 1000 rows, spread evenly, are looked at.
    n : int, default=7
        How many; with one it is `gamma_median`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelpca.selection import gamma_grid
    >>> gamma_grid("rbf", load_digits().data / 16, n=4)
    array([0.00431, 0.0251 , 0.146  , 0.849  ])
    """
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise ValueError(f"gamma_grid(n={n!r}): n must be a whole number >= 1: how many widths to try.")
    part = _resolved(kernel, X, "median")
    if n == 1:
        return np.array([part.number()])
    sample = spread_rows(part.check(X))
    measures = np.asarray(part.measure(sample, sample), dtype=np.float64)
    apart = measures[~np.eye(n_rows(sample), dtype=bool)]
    if not (apart > 0).any():  # all rows are equal, and every width is as good
        return np.ones(1)
    if part.unit_diagonal:
        np.fill_diagonal(measures, np.inf)
        nearest = np.where(measures > 0, measures, np.inf).min(axis=1)  # of a row that is there twice, the next one
        narrow = max(1.0 / float(np.median(nearest[np.isfinite(nearest)])), STRANGERS * part.number())
    else:
        narrow = NEARLY_HOMOGENEOUS * part.number()
    grid = np.geomspace(NEARLY_LINEAR / float(apart.max()), narrow, n)
    return np.array([float(f"{gamma:.{DIGITS}g}") for gamma in grid])


def has_width(kernel: Any) -> bool:
    """Whether a kernel has a gamma of its own."""
    return isinstance(as_kernel(kernel), HasGamma)


def with_gamma(kernel: Any, gamma: float | str) -> HasGamma:
    """Return a kernel with another gamma, or say that it has none."""
    part = as_kernel(kernel)
    if not isinstance(part, HasGamma):
        raise ValueError(
            f"{part!r} has no gamma of its own. Give a kernel that has one (rbf, laplacian, matern, cauchy, "
            "rational_quadratic, chi2, poly, sigmoid); of a sum or product, list the kernels to compare themselves, "
            "such as [RBF(g) + Linear() for g in gamma_grid('rbf', X)]."
        )
    return type(part)(**(part.get_params(deep=False) | {"gamma": gamma}))


def _resolved(kernel: Any, X: Rows, rule: str) -> HasGamma:
    part = with_gamma(kernel, rule)
    return part.resolve(part.check(X))
