"""Landmarks and the features made of them, against the formulas."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import reference
from kernelpca.features import (
    LANDMARKS,
    ColumnNorm,
    Diagonal,
    Farthest,
    Leverage,
    Nystrom,
    RPCholesky,
    Uniform,
)
from kernelpca.features.landmark_names import as_landmarks
from kernelpca.features.landmarks import draw, leverage_scores
from kernelpca.features.span import landmark_space
from kernelpca.gram import DenseGram
from kernelpca.kernels import RBF, Laplacian, Linear, Polynomial, Sigmoid


def rows(n=60, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def center_all(K):
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


def features_of(kernel, X, idx, center=True, form="ritz"):
    return Nystrom(landmarks=idx, form=form).fit(kernel, X, np.random.default_rng(0), center)


# features


@pytest.mark.parametrize("kernel", [RBF(0.3), Laplacian(0.5, "euclidean"), Polynomial(2, 0.5), Linear()])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("form", ["ritz", "extension"])
def test_features_make_the_nystrom_approximation(kernel, center, form):
    X, idx = rows(), np.arange(5, 25)
    F = features_of(kernel, X, idx, center, form).map(X)
    F = F - F.mean(axis=0) if center else F
    expected = reference.landmark_approximation(kernel(X), idx, center)
    np.testing.assert_allclose(F @ F.T, expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("center", [True, False])
def test_indefinite_kernels_have_features_of_both_signs(center):
    X, idx, kernel = rows(80, 4), np.arange(30), Sigmoid(0.3, 0.0)
    features = features_of(kernel, X, idx, center)
    assert set(features.signs) == {1.0, -1.0}
    F = features.map(X[idx])
    K = kernel(X[idx])
    truth = reference.about_landmarks(K, np.arange(30)) if center else K
    values, Q = np.linalg.eigh(truth)
    kept = np.abs(values) > 1e-3 * np.abs(values).max()
    expected = Q[:, kept] * values[kept] @ Q[:, kept].T  # small eigenvalues, whose inverses would be noise, are cut
    np.testing.assert_allclose(F * features.signs @ F.T, expected, atol=1e-12)


@pytest.mark.parametrize("center", [True, False])
def test_squares_are_squared_distances_from_the_origin_of_the_features(center):
    X, idx, kernel = rows(), np.arange(12), RBF(0.4)
    F, squares = features_of(kernel, X, idx, center).map_and_squares(X)
    K = reference.about_landmarks(kernel(X), idx) if center else kernel(X)
    np.testing.assert_allclose(squares, K.diagonal(), atol=1e-12)
    assert (np.square(F).sum(axis=1) <= squares + 1e-12).all()  # a projection is never longer


def test_error_is_the_true_kernel_value_less_that_of_the_features():
    X, idx, kernel = rows(), np.arange(12), RBF(0.4)
    features = features_of(kernel, X, idx)
    K = reference.about_landmarks(kernel(X), idx)
    F = features.map(X)
    np.testing.assert_allclose(features.error(X[:7], X[20:30]), (K - F @ F.T)[:7, 20:30], atol=1e-12)
    np.testing.assert_allclose(features.error(X[idx], X), 0, atol=1e-12)  # landmarks are in their own span


def test_folding_gives_the_same_scores_from_kernel_values():
    X, idx, kernel = rows(), np.arange(15), RBF(0.4)
    features = features_of(kernel, X, idx)
    rng = np.random.default_rng(3)
    U, mean = rng.standard_normal((features.size, 4)), rng.standard_normal(features.size)
    folded = features.fold(U, mean)
    np.testing.assert_allclose(folded.features.product(X, folded.W) + folded.b, (features.map(X) - mean) @ U, atol=1e-9)
    np.testing.assert_allclose(folded.W.sum(axis=0), 0, atol=1e-10)
    assert folded.mean_weights.sum() == pytest.approx(1)


def test_blocks_and_precisions_agree():
    X, kernel = rows(50), RBF(0.3)
    features = features_of(kernel, X, np.arange(20))
    whole = features.map(X)
    np.testing.assert_allclose(np.vstack([features.map(X[:13]), features.map(X[13:])]), whole, atol=1e-12)
    single = features.map(X, np.dtype(np.float32))
    assert single.dtype == np.float32
    assert np.abs(single @ single.T - whole @ whole.T).max() < 1e-4


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 30), st.integers(0, 1000), st.booleans())
def test_more_landmarks_leave_less(m, seed, center):
    """What is left over is positive semi-definite, and shrinks as landmarks are added."""
    X, kernel = rows(40, 3, seed), RBF(0.3)
    K = kernel(X)
    few, more = (reference.landmark_approximation(K, np.arange(count), center) for count in (m, m + 5))
    truth = center_all(K) if center else K
    assert np.linalg.eigvalsh(truth - more).min() > -1e-8
    assert np.trace(truth - more) <= np.trace(truth - few) + 1e-8
    F = features_of(kernel, X, np.arange(m), center).map(X)
    F = F - F.mean(axis=0) if center else F
    np.testing.assert_allclose(F @ F.T, few, atol=1e-6)


def test_equal_landmarks_and_wide_kernels_do_no_harm():
    X = np.vstack([rows(10), rows(10)])  # every row twice
    features = features_of(RBF(0.3), X, np.arange(20))
    assert features.size == 9  # differences of ten points
    F = features.map(X)
    F -= F.mean(axis=0)
    np.testing.assert_allclose(F @ F.T, center_all(RBF(0.3)(X)), atol=1e-9)
    wide = RBF(1e-9)
    F = features_of(wide, rows(), np.arange(20)).map(rows())
    F -= F.mean(axis=0)
    linear = center_all(2e-9 * rows() @ rows().T)  # what a very wide Gaussian is
    np.testing.assert_allclose(F @ F.T, linear, atol=1e-6 * np.abs(linear).max())


def test_sums_are_whitened_only_where_digits_allow_it():
    """Narrow kernels: sums of products are enough. Wide ones in float32: their leading digits are all alike."""
    X = rows(2000, 5)
    narrow, wide = (
        Nystrom(landmarks=np.arange(300)).fit(kernel, X, np.random.default_rng(0)) for kernel in (RBF(1.0), RBF(1e-3))
    )
    single, double = (float(np.finfo(dtype).eps) / 2 for dtype in (np.float32, np.float64))
    assert narrow.space.keeps_digits(single, 10, 60_000, 1e-4)
    assert narrow.space.keeps_digits(double, 10, 2000, 1e-8)
    assert not narrow.space.keeps_digits(single, 10, 60_000, 1e-7)
    assert not wide.space.keeps_digits(single, 10, 60_000, 1e-4)
    assert not narrow.space.keeps_digits(single, 200, 2000, 1e-4)
    eigen = features_of(RBF(0.5), X, np.arange(30), form="extension")
    assert not eigen.space.keeps_digits(double, 3, 2000, 1e-4)
    C, squares = narrow.values_and_squares(X)
    np.testing.assert_allclose(narrow.space.inner_products(C) @ narrow.space.R, narrow.map(X), atol=1e-8)
    np.testing.assert_allclose(squares, narrow.map_and_squares(X)[1])


def test_one_point_has_one_coordinate_which_is_zero():
    X = np.ones((10, 3))
    features = features_of(RBF(0.3), X, np.arange(4))
    assert features.size == 1
    assert not features.map(X).any()
    space, _ = landmark_space(np.ones((4, 4)), True, False, True, 1e-16)
    assert space.size == 1


# ways to choose landmarks


@pytest.mark.parametrize("name", sorted(set(LANDMARKS) - {"kmeans", "kmeans||"}))
@pytest.mark.parametrize("m", [1, 7, 40])
def test_landmarks_are_distinct_rows_and_repeat(name, m):
    gram = DenseGram(RBF(0.5)(rows(40)), True)
    chosen = LANDMARKS[name]().select(gram, m, np.random.default_rng(1))
    assert len(set(chosen.tolist())) == m
    assert chosen.min() >= 0
    assert chosen.max() < 40
    np.testing.assert_array_equal(chosen, LANDMARKS[name]().select(gram, m, np.random.default_rng(1)))


def frequencies(way, K, m, repeats=3000):
    """How often each row is among the landmarks."""
    gram = DenseGram(K, True)
    counts = np.zeros(len(K))
    for seed in range(repeats):
        counts[way.select(gram, m, np.random.default_rng(seed))] += 1
    return counts


@pytest.mark.parametrize(
    ("way", "likelihood"),
    [
        (Uniform(), lambda K: np.ones(len(K))),
        (Diagonal(), lambda K: K.diagonal() ** 2),
        (ColumnNorm(), lambda K: np.square(K).sum(axis=0)),
    ],
)
def test_single_draws_have_the_stated_probabilities(way, likelihood):
    K = Polynomial(2, 1.0)(rows(8, 2))
    p = likelihood(K) / likelihood(K).sum()
    assert chisquare(frequencies(way, K, 1), 3000 * p).pvalue > 1e-3


@pytest.mark.parametrize("block", [1, 3, 50])
def test_blocks_of_pivots_have_the_distribution_of_single_ones(block):
    """The first two pivots, as a pair: those of blocks thinned out, against one at a time."""
    K = RBF(0.5)(rows(6, 2)) * np.outer(*2 * [np.array([1.0, 1.5, 0.7, 1.0, 2.0, 1.2])])
    gram = DenseGram(K, True)
    counts, expected = np.zeros((6, 6)), np.zeros((6, 6))
    for seed in range(2500):
        counts[tuple(RPCholesky(block).select(gram, 2, np.random.default_rng(seed)))] += 1
    for i in range(6):
        rest = np.maximum(K.diagonal() - K[:, i] ** 2 / K[i, i], 0)
        rest[i] = 0
        expected[i] = K[i, i] / np.trace(K) * rest / rest.sum()
    off = ~np.eye(6, dtype=bool)
    assert chisquare(counts[off], 2500 * expected[off]).pvalue > 1e-3


def test_pivots_leave_what_single_ones_leave_on_average():
    K = RBF(0.2)(rows(80, 3))
    gram = DenseGram(K, True)

    def left(idx):
        return np.trace(K - reference.landmark_approximation(K, np.asarray(idx), False))

    ours = [left(RPCholesky().select(gram, 12, np.random.default_rng(seed))) for seed in range(60)]
    twin = [left(reference.rpcholesky(K, 12, np.random.default_rng(seed))) for seed in range(60)]
    error = np.hypot(np.std(ours), np.std(twin)) / np.sqrt(60)
    assert abs(np.mean(ours) - np.mean(twin)) < 4 * error
    uniform = [left(Uniform().select(gram, 12, np.random.default_rng(seed))) for seed in range(60)]
    assert np.mean(ours) < np.mean(uniform)


def test_pivots_of_a_matrix_of_low_rank_are_filled_up():
    K = Linear()(rows(30, 2))
    chosen = RPCholesky().select(DenseGram(K, True), 10, np.random.default_rng(0))
    assert len(set(chosen.tolist())) == 10
    np.testing.assert_allclose(reference.landmark_approximation(K, chosen[:2], False), K, atol=1e-9)


def test_leverage_scores_of_all_rows_are_exact():
    K = RBF(0.3)(rows(30))
    everything = np.arange(30)
    scores = leverage_scores(DenseGram(K, True), K.diagonal(), everything, everything, np.ones(30))
    ridge = np.linalg.eigvalsh(K).mean()
    np.testing.assert_allclose(scores, reference.ridge_leverage_scores(K, ridge), atol=1e-10)


def test_leverage_sampling_prefers_rows_that_others_do_not_explain():
    """A far cluster of four among 400: uniform sampling often misses it."""
    X = np.vstack([0.1 * rows(396, 2), 8 + 0.1 * rows(4, 2)])
    gram = DenseGram(RBF(1.0)(X), True)
    found = sum((Leverage().select(gram, 20, np.random.default_rng(s)) >= 396).any() for s in range(20))
    missed = sum((Uniform().select(gram, 20, np.random.default_rng(s)) >= 396).any() for s in range(20))
    assert found > missed


def test_farthest_rows_cover_the_data():
    X = rows(100, 2)
    K = RBF(0.01)(X)
    chosen = Farthest().select(DenseGram(K, True), 5, np.random.default_rng(0)).tolist()
    for i in range(1, 5):
        distances = np.linalg.norm(X[:, None] - X[chosen[:i]], axis=2).min(axis=1)
        assert distances[chosen[i]] == pytest.approx(distances.max())


def test_centers_of_clusters_are_points():
    X = np.vstack([rows(50, 2) * 0.01 + shift for shift in ([0, 0], [5, 0], [0, 5])])
    features = Nystrom(3, landmarks="kmeans").fit(RBF(0.1), X, np.random.default_rng(4))
    assert features.indices is None
    centers = features.landmarks + (0 if features.origin is None else features.origin)
    assert sorted(centers.round(0).tolist()) == [[0.0, 0.0], [0.0, 5.0], [5.0, 0.0]]


def test_many_rows_are_looked_at_in_part():
    assert Nystrom(100).candidates(10**6) == 3000
    assert Nystrom(2000).candidates(10**6) == 6000
    assert Nystrom(2000, "kmeans").candidates(10**6) == 40_000
    assert Nystrom(100).candidates(300) == 300
    assert Nystrom(100, "uniform").candidates(10**6) == 0
    assert Nystrom(landmarks=[1, 2]).candidates(10**6) == 0


def test_huge_and_zero_likelihoods_can_be_drawn_from():
    rng = np.random.default_rng(0)
    assert sorted(draw(np.array([0.0, 1.0, 0.0]), 2, rng))[0] in (0, 1)
    assert draw(np.array([1e308, 1e308, 1e308]), 2, rng).size == 2


# the rule


def test_the_rule_follows_the_kernel():
    even, uneven = np.ones(10), np.array([1.0] * 9 + [1e3])
    assert isinstance(as_landmarks("auto", True, even)[0], RPCholesky)
    assert isinstance(as_landmarks("auto", False, even)[0], Uniform)
    assert isinstance(as_landmarks("auto", True, uneven)[0], Diagonal)
    assert isinstance(as_landmarks("auto", False, uneven)[0], Diagonal)
    assert isinstance(as_landmarks("auto", True, np.zeros(3))[0], RPCholesky)


# bad input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_landmarks": 61}, "more landmarks than the 60 rows"),
        ({"n_landmarks": 0}, "n_landmarks must be a whole number >= 1"),
        ({"n_landmarks": 2.5}, "whole number"),
        ({"landmarks": "uniformly"}, "Did you mean 'uniform'"),
        ({"landmarks": RPCholesky}, "with parentheses"),
        ({"landmarks": 7}, "row numbers"),
        ({"landmarks": [1, 1]}, "row 1 is given more than once"),
        ({"landmarks": [0, 60]}, "below the number of rows, 60"),
        ({"landmarks": np.zeros((2, 3))}, "only 1 are different"),
        ({"landmarks": np.zeros((2, 4))}, "landmarks have 4 columns, and X has 3"),
        ({"landmarks": [[0.0, np.nan, 1.0]]}, "landmarks: Input contains NaN"),
        ({"landmarks": np.ones(60, dtype=bool)}, "flatnonzero"),
        ({"form": "best"}, "form must be 'ritz'"),
    ],
)
def test_bad_parameters_are_explained(parameters, message):
    with pytest.raises(ValueError, match=message):
        Nystrom(**parameters).fit(RBF(0.3), rows(), np.random.default_rng(0))


def test_ways_that_need_definite_kernels_say_so():
    with pytest.raises(ValueError, match="needs a positive definite kernel"):
        Nystrom(5, landmarks="rpcholesky").fit(Sigmoid(0.3, 0.0), rows(), np.random.default_rng(0))


def test_centers_need_numbers():
    with pytest.raises(ValueError, match="needs rows of numbers"):
        LANDMARKS["kmeans"]().select(DenseGram(np.eye(3)), 2, np.random.default_rng(0))
