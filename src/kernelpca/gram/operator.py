"""A Gram matrix behind scipy's LinearOperator, and whatever else a user may give as one."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from kernelpca.gram.dense import DenseGram, check_square
from kernelpca.gram.protocol import Gram, check_block, check_finite
from kernelpca.tiles import blocks


class OperatorGram(Gram):
    """A symmetric LinearOperator as a Gram matrix.

    Parameters
    ----------
    operator : LinearOperator of shape (n, n)
        It must be symmetric; that is not checked.
    diagonal : ndarray of shape (n,), optional
        Its diagonal. Without it n products with unit vectors are needed to know the total variance.
    positive_definite : bool, default=False
        Whether it is known to be positive semi-definite.
    """

    cheap_columns = False

    def __init__(
        self, operator: LinearOperator, diagonal: np.ndarray | None = None, positive_definite: bool = False
    ) -> None:
        check_square(operator.shape)
        self.operator = operator
        self.shape = (operator.shape[0], operator.shape[0])
        self.dtype = np.dtype(np.float32 if operator.dtype == np.float32 else np.float64)
        self.positive_definite = positive_definite
        self._diagonal = None if diagonal is None else np.asarray(diagonal, dtype=self.dtype)

    def matmat(self, V: np.ndarray) -> np.ndarray:
        """(n, p) -> (n, p)."""
        product = np.asarray(self.operator.matmat(check_block(V, self.shape[0])), dtype=self.dtype)
        return check_finite(product, "The LinearOperator")

    def diagonal(self) -> np.ndarray:
        """() -> (n,)."""
        if self._diagonal is None:
            pieces = [
                self.columns(np.arange(part.start, part.stop))[part].diagonal() for part in blocks(self.shape[0], 256)
            ]
            self._diagonal = np.concatenate(pieces)
        return self._diagonal

    def columns(self, idx: np.ndarray) -> np.ndarray:
        """(m,) -> (n, m): products with unit vectors."""
        units = np.zeros((self.shape[0], len(idx)), dtype=self.dtype)
        units[idx, np.arange(len(idx))] = 1.0
        return self.matmat(units)


def as_gram(given: Any) -> Gram:
    """Return a Gram, a LinearOperator or a square array as a Gram."""
    if isinstance(given, Gram):
        return given
    if isinstance(given, LinearOperator):
        return OperatorGram(given)
    if callable(given):
        raise TypeError(
            "A function cannot be fitted by itself: its number of samples is unknown. Give "
            "kernelpca.gram.CallableGram(function, n), where function(rows, cols) takes row and column numbers."
        )
    return DenseGram(np.asarray(given))
