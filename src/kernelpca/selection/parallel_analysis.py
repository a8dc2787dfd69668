"""How many components are more than chance: eigenvalues compared with those of data whose columns are unrelated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from kernelpca.estimators import KernelPCA
from kernelpca.kernels import as_kernel
from kernelpca.parts import explain_unknown
from kernelpca.selection.family import check_estimator, label, with_known_width
from kernelpca.selection.folds import check_rows
from kernelpca.selection.steps import counted
from kernelpca.validation import as_generator


@dataclass(frozen=True)
class ParallelAnalysis:
    """Eigenvalues of data, and of data whose columns are unrelated.

    Attributes
    ----------
    eigenvalues : ndarray of shape (k,)
        Of the data.
    null : ndarray of shape (n_permutations, k)
        Of each set of unrelated columns.
    null_mean, null_quantile : ndarray of shape (k,)
        Their mean, and the quantile that an eigenvalue must exceed.
    p_values : ndarray of shape (k,)
        How often chance does as well: (1 + number of `null` that are as large) / (1 + n_permutations).
    n_components : int
        How many leading eigenvalues exceed the quantile, up to the first that does not.
    quantile : float
        Which quantile it is.
    method : {"permutation", "signflip"}
        How columns were made unrelated.
    model : str
        What was fitted.
    """

    eigenvalues: np.ndarray
    null: np.ndarray
    null_mean: np.ndarray
    null_quantile: np.ndarray
    p_values: np.ndarray
    n_components: int
    quantile: float
    method: str
    model: str

    def table(self) -> dict[str, np.ndarray]:
        """Return columns: component (from 1), eigenvalue, null_mean, null_quantile, p_value and retained."""
        number = np.arange(1, len(self.eigenvalues) + 1)
        return {
            "component": number,
            "eigenvalue": self.eigenvalues,
            "null_mean": self.null_mean,
            "null_quantile": self.null_quantile,
            "p_value": self.p_values,
            "retained": number <= self.n_components,
        }

    def __str__(self) -> str:
        k, looked_at = self.n_components, len(self.eigenvalues)
        text = (
            f"{k} of the {looked_at} components of {self.model} that were looked at are more than chance: their "
            f"eigenvalues exceed the {self.quantile:g} quantile of {len(self.null)} data sets with unrelated columns "
            f"({self.method})."
        )
        return text + (" There may be more: look at a larger n_components." if k == looked_at else "")


def parallel_analysis(
    model: Any,
    X: Any,
    *,
    n_permutations: int = 40,
    quantile: float = 0.95,
    method: str = "permutation",
    random_state: Any = None,
    callback: Any = None,
) -> ParallelAnalysis:
    """Count the components that are more than chance (Horn's parallel analysis, in feature space).

    Columns are made unrelated, which leaves each of them as it is and takes away what they have in common; the same
    kernel, with the same width, is decomposed again. A component counts if its eigenvalue is larger than nearly all of
    those in its place, and so are all before it. Components that are weaker than what a strong one would give by chance
    go unnoticed, so the answer is rather too small than too large.

    With the linear kernel it finds the number of directions in which columns vary together. With other kernels a
    component is a function of the columns, and what is found is how many functions have more variance than they would
    have if columns were unrelated.

    Parameters
    ----------
    model : KernelPCA or its kin, InvertibleKernelPCA or PCA
        What to fit; it is cloned. Its `n_components` is how many components are looked at.
    X : array-like of shape (n, d)
        The data.
    n_permutations : int, default=40
        How many data sets with unrelated columns, each of which is one more fit.
    quantile : float, default=0.95
        Which of their eigenvalues a component must exceed.
    method : {"permutation", "signflip"}, default="permutation"
        How columns are made unrelated: each is brought into an order of its own, or every entry changes sides of its
        column's mean at random. The latter also keeps how large each row is, and suits noise that differs from entry
        to entry.
    random_state : int, Generator, RandomState or None, default=None
        Seed; None is a fixed one.
    callback : callable, "bar" or None, default=None
        Told a `Step` after each fit; if it returns True, those before are all that are compared with.

    References
    ----------
    Horn (1965), A rationale and test for the number of factors in factor analysis. Hong, Sheng and Dobriban (2020),
    Selecting the number of components in PCA via random signflips.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpca import KernelPCA
    >>> from kernelpca.selection import parallel_analysis
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 3)) @ rng.standard_normal((3, 20)) + rng.standard_normal((300, 20))
    >>> parallel_analysis(KernelPCA(10, kernel="linear"), X).n_components
    3
    """
    check_estimator(model)
    unrelated = _check(n_permutations, quantile, method)
    rows, rng = _columns(model, X), as_generator(random_state)
    if unrelated is signflipped:
        _check_sides(model, rows)
    with counted(callback, n_permutations + 1) as step:
        model = with_known_width(model, rows)
        fitted = clone(model).fit(rows)
        step("the data")
        again = clone(model).set_params(n_components=max(fitted.n_components_, 1))
        null: list[np.ndarray] = []
        while len(null) < n_permutations:
            null.append(again.fit(unrelated(rows, rng)).eigenvalues_)
            if step("unrelated columns"):
                break
    found, chance = fitted.eigenvalues_, np.array(null)[:, : fitted.n_components_]
    return _compare(found, chance, float(quantile), method, label(fitted))


def permuted(rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(n, d) -> (n, d): each column in an order of its own."""
    return rng.permuted(rows, axis=0)


def signflipped(rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(n, d) -> (n, d): every entry on a random side of its column's mean."""
    mean = rows.mean(axis=0, dtype=np.float64).astype(rows.dtype)
    return mean + (rows - mean) * rng.choice(np.array([-1, 1], rows.dtype), rows.shape)


METHODS: dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    "permutation": permuted,
    "signflip": signflipped,
}


def _compare(values: np.ndarray, null: np.ndarray, quantile: float, method: str, model: str) -> ParallelAnalysis:
    """Count leading eigenvalues (k,) above the quantile of those (p, k) of unrelated columns."""
    limit = np.quantile(null, quantile, axis=0)
    above = np.append(values > limit, False)
    p_values = (1 + (null >= values).sum(axis=0)) / (1 + len(null))
    return ParallelAnalysis(
        values, null, null.mean(axis=0), limit, p_values, int(np.argmin(above)), quantile, method, model
    )


def _columns(model: Any, X: Any) -> np.ndarray:
    """Return dense rows of numbers, whose columns can be made unrelated."""
    rows = check_rows(model, X)
    if not isinstance(rows, np.ndarray) or rows.dtype.kind != "f" or get_tags(model).input_tags.pairwise:
        raise TypeError(
            "Parallel analysis changes the columns of dense rows of numbers, and was given a kernel matrix, sparse "
            "rows, texts or other objects. Give X.toarray() if it is sparse; else choose by error_curve(model, X)."
        )
    return rows


def _check_sides(model: Any, rows: np.ndarray) -> None:
    """Refuse to change sides where a kernel of histograms would then be given negative numbers."""
    if isinstance(model, KernelPCA) and as_kernel(model.kernel).domain == "nonnegative":
        lowest = (2 * rows.mean(axis=0, dtype=np.float64) - rows).min()
        if lowest < 0:
            raise ValueError(
                f'method="signflip" puts entries on the other side of their column\'s mean, down to {lowest:.3g} here, '
                f'and {model.kernel!r} compares histograms, which have no negative entries: take method="permutation".'
            )


def _check(n_permutations: Any, quantile: Any, method: Any) -> Callable[[np.ndarray, np.random.Generator], np.ndarray]:
    """Return how columns are made unrelated, or say what is wrong with the parameters."""
    if isinstance(n_permutations, bool) or not isinstance(n_permutations, int | np.integer) or n_permutations < 1:
        raise ValueError(f"n_permutations={n_permutations!r}: give a whole number >= 1, such as 40.")
    if isinstance(quantile, bool) or not isinstance(quantile, int | float | np.number) or not 0 < quantile <= 1:
        raise ValueError(f"quantile={quantile!r}: give a number above 0 and up to 1, such as 0.95.")
    if not (isinstance(method, str) and method in METHODS):
        raise ValueError(explain_unknown(method, "method", "this list", METHODS, {}))
    return METHODS[method]
