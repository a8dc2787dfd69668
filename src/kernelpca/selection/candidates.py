"""Which kernels and widths are compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from kernelpca.estimators import PCA, KernelPCA
from kernelpca.kernels import as_kernel
from kernelpca.kernels.base import HasGamma, Kernel
from kernelpca.selection.family import check_estimator, shortened
from kernelpca.selection.widths import gamma_grid, has_width, with_gamma

WIDTHS = 7  # for each kernel, when the user does not say


@dataclass(frozen=True)
class Candidate:
    """An estimator with one kernel and one width, its number of components still open.

    Attributes
    ----------
    estimator : estimator
        Not fitted.
    params : dict
        What of it was set.
    name : str
        The kernel, as it is printed.
    gamma : float
        Its width; NaN where it has none.
    """

    estimator: Any
    params: dict[str, Any]
    name: str
    gamma: float = np.nan


def once(given: Any) -> Any:
    """Return the items of an iterator as a list, which can be gone through again; anything else as it is."""
    return list(given) if isinstance(given, Iterator) else given


def probe(estimator: Any, kernels: Any) -> Any:
    """Return the estimator with the first of the kernels, which shows what rows must be."""
    if kernels is None or not isinstance(estimator, KernelPCA):
        return estimator
    return clone(estimator).set_params(kernel=as_kernel(_listed(kernels)[0]))


def list_candidates(estimator: Any, rows: Any, kernels: Any, gammas: Any) -> list[Candidate]:
    """Return the estimator with every kernel and width that is to be compared; rules are made numbers on all rows."""
    if isinstance(estimator, KernelPCA):
        given = [estimator.kernel] if kernels is None else _listed(kernels)
        parts = [part for kernel in given for part in _widths_of(as_kernel(kernel), rows, gammas)]
        return [_candidate(estimator, {"kernel": part}, part) for part in parts]
    check_estimator(estimator)
    if kernels is not None:
        raise ValueError(
            f"kernels={kernels!r}: {type(estimator).__name__} has a kernel of its own. Leave kernels out, or give a "
            "KernelPCA."
        )
    if isinstance(estimator, PCA):
        return [Candidate(clone(estimator), {}, "PCA()")]
    parts = _widths_of(with_gamma("rbf", estimator.gamma), rows, gammas)
    return [_candidate(estimator, {"gamma": part.number()}, part) for part in parts]


def _candidate(estimator: Any, params: dict[str, Any], part: Kernel) -> Candidate:
    gamma = part.number() if isinstance(part, HasGamma) else np.nan
    return Candidate(clone(estimator).set_params(**params), params, shortened(part), gamma)


def _listed(kernels: Any) -> list[Any]:
    if isinstance(kernels, str | Kernel) or callable(kernels):
        return [kernels]
    listed = list(kernels) if isinstance(kernels, Iterable) else []
    if not listed:
        raise ValueError(
            f"kernels={kernels!r}: give a list of names or kernels, such as ['rbf', 'laplacian'], or None for the "
            "estimator's own."
        )
    return listed


def _widths_of(kernel: Kernel, rows: Any, gammas: Any) -> list[Any]:
    """Return a kernel with each of the widths to try, resolved."""
    if not has_width(kernel) or gammas is None:
        return [kernel.resolve(rows)]
    if isinstance(gammas, str) and gammas == "auto":
        if not isinstance(kernel.gamma, str):
            return [kernel.resolve(rows)]
        values: Any = gamma_grid(kernel, rows, WIDTHS)
    elif isinstance(gammas, int | np.integer) and not isinstance(gammas, bool):
        values = gamma_grid(kernel, rows, int(gammas))
    else:
        values = list(gammas) if isinstance(gammas, Iterable) and not isinstance(gammas, str) else []
    if not len(values) or not all(_is_width(value) for value in values):
        raise ValueError(
            f'gammas={gammas!r}: give "auto", how many widths to try, a list of them such as [0.01, 0.1, "median"], or '
            "None for what the kernels say."
        )
    values = [value if isinstance(value, str) else float(value) for value in values]
    return [with_gamma(kernel, value).resolve(rows) for value in values]


def _is_width(value: Any) -> bool:
    return isinstance(value, str | int | float | np.number) and not isinstance(value, bool)
