"""What every Gram operator must do. A new one gives itself and its dense truth, and inherits all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from kernelpca.gram import Gram


@dataclass(frozen=True)
class GramCase:
    """A Gram operator and the matrix it stands for."""

    gram: Gram
    truth: np.ndarray


class GramContract:
    """Subclass, and give a fixture `case` (usually parametrized)."""

    def close(self, case, actual, expected):
        eps = np.finfo(case.gram.dtype).eps
        np.testing.assert_allclose(actual, expected, rtol=200 * eps, atol=200 * eps * np.abs(case.truth).max())

    def test_shape_and_dtype(self, case):
        n = len(case.truth)
        assert case.gram.shape == (n, n)
        assert case.gram.dtype in (np.float32, np.float64)
        assert isinstance(case.gram.positive_definite, bool)
        assert case.gram.matmat(np.ones((n, 2))).dtype == case.gram.dtype

    @pytest.mark.parametrize("p", [1, 3, 20])
    def test_products(self, case, p):
        V = np.random.default_rng(p).standard_normal((len(case.truth), p))
        before = V.copy()
        self.close(case, case.gram.matmat(V), case.truth @ V)
        self.close(case, case.gram.matmat(V), case.truth @ V)  # and again: the first may differ inside
        np.testing.assert_array_equal(V, before)

    def test_diagonal_trace_and_columns(self, case):
        self.close(case, case.gram.diagonal(), case.truth.diagonal())
        assert case.gram.trace() == pytest.approx(np.trace(case.truth), rel=1e-5)
        idx = np.array([3, 0, len(case.truth) - 1])
        self.close(case, case.gram.columns(idx), case.truth[:, idx])

    def test_dense_is_a_fresh_array(self, case):
        first = case.gram.dense()
        self.close(case, first, case.truth)
        first[...] = np.nan
        self.close(case, case.gram.dense(), case.truth)

    def test_frobenius_norm_where_known(self, case):
        case.gram.matmat(np.ones((len(case.truth), 1)))  # a pass may be needed to know it
        known = case.gram.frobenius_squared()
        if known is not None:
            assert known == pytest.approx(np.square(case.truth).sum(), rel=1e-4)

    def test_rounding_level_is_small_and_positive(self, case):
        assert 0 < case.gram.rounding() < 1e-3 * np.abs(case.truth).sum()

    def test_scipy_view(self, case):
        operator = case.gram.linear_operator()
        v = np.random.default_rng(0).standard_normal(len(case.truth))
        self.close(case, operator @ v, case.truth @ v)
        self.close(case, operator.T @ v, case.truth @ v)
        self.close(case, operator @ np.column_stack([v, v]), case.truth @ np.column_stack([v, v]))

    def test_a_block_of_the_wrong_height_is_refused(self, case):
        with pytest.raises(ValueError, match="A block of shape"):
            case.gram.matmat(np.ones((len(case.truth) + 1, 2)))
