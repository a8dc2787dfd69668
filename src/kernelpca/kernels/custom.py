"""Kernels that the user brings: a function of two samples or of one, or the matrix itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from kernelpca.kernels.base import Kernel, Rows, dtype_of, n_rows
from kernelpca.memory import blaming_the_function


class Custom(Kernel):
    """A kernel given as a function.

    Parameters
    ----------
    function : callable
        By default it takes two single rows and returns a number, as in scikit-learn's `KernelPCA`. With
        `vectorized=True` it takes two blocks of rows (n, d), (m, d) and returns the (n, m) matrix: much faster.
    vectorized : bool, default=False
        Which of the two.
    params : dict, optional
        Keyword arguments for the function.
    positive_definite : bool, default=False
        Whether you know that it is: bounds on the captured variance are then tighter.

    Examples
    --------
    >>> from kernelpca.kernels import Custom
    >>> Custom(lambda X, Y: X @ Y.T, vectorized=True)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    domain = "any"
    takes_sparse = True
    tile = 64  # small, so that hardly a pair is computed twice
    parallel = False  # a user's function need not be safe in threads

    def __init__(
        self,
        function: Callable[..., Any],
        vectorized: bool = False,
        params: dict[str, Any] | None = None,
        positive_definite: bool = False,
    ) -> None:
        self.function = function
        self.vectorized = vectorized
        self.params = params
        self.positive_definite = positive_definite

    def check(self, X: Rows) -> Rows:
        """Return rows that can be indexed by slices."""
        rows = X if sparse.issparse(X) else as_samples(X)
        if rows.ndim == 0:
            raise ValueError(f"A kernel function needs a list or array of samples; got {X!r}.")
        return rows

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """Write the function's values."""
        params = self.params or {}
        if self.vectorized:
            with blaming_the_function(*out.shape):
                values = np.asarray(self.function(X, Y, **params))
            if values.shape != out.shape:
                raise ValueError(
                    f"The kernel function returned shape {values.shape} for {out.shape[0]} and {out.shape[1]} rows; "
                    f"it must return {out.shape}. If it takes single rows, use Custom(function) without "
                    "vectorized=True."
                )
            out[...] = values
        else:
            for i in range(n_rows(X)):
                for j in range(n_rows(Y)):
                    out[i, j] = self._value(X[i], Y[j], params)

    def diag(self, X: Rows) -> np.ndarray:
        """The function of each row with itself."""
        result = np.empty(n_rows(X))
        for i in range(n_rows(X)):
            if self.vectorized:
                self.compute(X[i : i + 1], X[i : i + 1], result[i : i + 1, None])
            else:
                result[i] = self._value(X[i], X[i], self.params or {})
        return result

    def _value(self, x: Any, y: Any, params: dict[str, Any]) -> float:
        try:
            value = self.function(x, y, **params)
        except (TypeError, ValueError, IndexError) as error:
            raise ValueError(
                f"The kernel function failed on two single samples: {error}. It must take two samples and return a "
                "number; if it takes blocks of rows, use kernelpca.kernels.Custom(function, vectorized=True)."
            ) from error
        value = value.toarray() if sparse.issparse(value) else value
        if value is None or (np.ndim(value) and np.size(value) != 1):
            raise ValueError(
                f"The kernel function returned an array of shape {np.shape(value)} for two single rows; it must "
                "return a number. If it takes blocks of rows, use kernelpca.kernels.Custom(function, vectorized=True)."
            )
        return float(np.asarray(value).reshape(()))


class Precomputed(Kernel):
    """The kernel matrix is given instead of data: (n, n) at fit, (m, n) at transform."""

    domain = "precomputed"
    positive_definite = False  # unknown: nothing is assumed

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """Refuse: there is nothing to compute from."""
        raise TypeError("A precomputed kernel matrix has no function behind it: give the matrix itself to fit.")

    def diag(self, X: Rows) -> np.ndarray:
        """Refuse: k(x, x) is not in the matrix of new rows against training rows."""
        raise TypeError(
            "With a precomputed kernel k(x, x) of new samples is unknown: pass it as `diagonal`, an array of one "
            "number for each sample."
        )


def as_samples(X: Any) -> np.ndarray:
    """Return samples as an array: of numbers or strings where they are alike, else of objects."""
    try:
        return np.asarray(X)
    except ValueError:  # samples of different lengths
        samples = np.empty(len(X), dtype=object)
        samples[:] = list(X)
        return samples


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
