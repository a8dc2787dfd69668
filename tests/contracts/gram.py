"""What every Gram operator must do. A new one gives itself and its dense truth, and inherits all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import reference
from kernelpca.gram import CenteredGram, Gram, WeightedGram


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

    # what the fast path asks of a matrix

    def test_single_is_the_same_matrix_in_float32(self, case):
        single = case.gram.single()
        assert single.dtype == np.float32
        assert single.shape == case.gram.shape
        assert single.positive_definite == case.gram.positive_definite
        assert single.cheap_columns == case.gram.cheap_columns
        V = np.random.default_rng(1).standard_normal((len(case.truth), 3)).astype(np.float32)
        size = np.abs(case.truth).max()
        idx = np.array([0, 2])
        for actual, expected in (
            (single.matmat(V), case.truth @ V),
            (single.matmat(V), case.truth @ V),
            (single.diagonal(), case.truth.diagonal()),
            (single.columns(idx), case.truth[:, idx]),
        ):
            np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5 * size)
        assert single.matmat(V).dtype == single.columns(idx).dtype == np.float32
        assert single.trace() == pytest.approx(np.trace(case.truth), rel=1e-5)
        assert single.single() is single

    def test_landmark_features_are_the_nystrom_approximation_and_stay_below(self, case):
        gram, n = case.gram, len(case.truth)
        if not gram.positive_definite:
            pytest.skip("features are for matrices that are known to be positive semi-definite")
        if not gram.cheap_columns:
            pytest.skip("columns of this matrix are not cheap: no solver asks for features")
        idx = np.array([1, 4, 9, 16, 25, 36])
        F = gram.landmark_features(idx)
        assert F.dtype == gram.dtype
        assert F.shape[0] == n
        assert F.shape[1] <= len(idx)
        FF = F.astype(float) @ F.T.astype(float)
        expected = reference.nystrom(case.truth, landmark_combinations(gram, idx))
        allowed = 1e4 * float(np.finfo(gram.dtype).eps) * np.abs(case.truth).max()
        np.testing.assert_allclose(FF, expected, atol=allowed)
        assert np.linalg.eigvalsh(FF - case.truth)[-1] <= 10 * gram.rounding()

    def test_landmarks_given_twice_do_no_harm(self, case):
        if not (case.gram.positive_definite and case.gram.cheap_columns):
            pytest.skip("no features are asked of this matrix")
        once, twice = np.array([1, 4, 9]), np.array([1, 4, 9, 1, 4])
        for idx in (once, twice):
            F = case.gram.landmark_features(idx).astype(float)
            assert np.isfinite(F).all()
            assert np.linalg.eigvalsh(F @ F.T - case.truth)[-1] <= 10 * case.gram.rounding()

    def test_keeping_and_giving_back_changes_no_result(self, case):
        V = np.random.default_rng(2).standard_normal((len(case.truth), 3))
        case.gram.release()  # before there is anything to give back
        before = case.gram.matmat(V)
        case.gram.release()
        self.close(case, case.gram.matmat(V), before)
        self.close(case, case.gram.matmat(V), case.truth @ V)
        self.close(case, case.gram.diagonal(), case.truth.diagonal())


def landmark_combinations(gram, idx):
    """(n, m): the combinations of samples that span the features of landmarks.

    They are the landmarks themselves; of a centered matrix what is left of them without their own mean (the mean of
    all samples is not known yet); of a weighted one the same, with each sample scaled by the root of its weight.
    """
    n, m = gram.shape[0], len(idx)
    if isinstance(gram, WeightedGram):
        return landmark_combinations(gram.inner, idx) / gram.roots[:, None].astype(float)
    units = np.zeros((n, m))
    units[idx, np.arange(m)] = 1.0
    return units - units.mean(axis=1, keepdims=True) if isinstance(gram, CenteredGram) else units
