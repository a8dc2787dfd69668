"""Helpers of the ikPCA experiments against naive twins."""

from __future__ import annotations

import numpy as np
import pytest

from kernelpca import InvertibleKernelPCA
from kernelpca_papers.ikpca import digits, errors, forms, s_curve, usps_noise
from kernelpca_papers.ikpca.methods import by_ikpca, by_kpca, by_pca, by_ridges


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(1.0, 1.0, (60, 5)), rng.normal(1.0, 1.0, (7, 5))


@pytest.mark.parametrize("n_features", [40, pytest.param(3, marks=pytest.mark.filterwarnings("ignore:n_features"))])
def test_ridges_from_one_way_back_are_those_of_each_ridge(rows, n_features):
    X, Y = rows
    model = InvertibleKernelPCA(3, gamma=0.05, n_features=n_features, random_state=0).fit(X)
    found = by_ridges(model, Y, (1, 3), (0.0, 0.3, 50.0))
    for ridge, answers in found.items():
        for k, answer in zip((1, 3), answers, strict=True):
            Z = model.transform(Y)
            Z[:, k:] = 0
            model.layers_[0].preimage_.set_params(ridge=ridge)
            np.testing.assert_allclose(answer, model.inverse_transform(Z, reference=Y), atol=1e-9)


def test_all_components_without_ridge_give_the_rows_back(rows):
    X, Y = rows
    model = InvertibleKernelPCA(30, gamma=0.05, n_features=30, random_state=0).fit(X)
    np.testing.assert_allclose(by_ikpca(model, Y, (30,), ridge=0.0)[0], Y, atol=1e-6)
    np.testing.assert_allclose(by_pca(X, Y, (5,))[0], Y, atol=1e-12)


def test_strong_ridges_give_the_training_mean(rows):
    X, Y = rows
    model = InvertibleKernelPCA(3, gamma=0.05, n_features=40, random_state=0).fit(X)
    mean = np.tile(X.mean(axis=0), (len(Y), 1))
    np.testing.assert_allclose(by_ridges(model, Y, (3,), (1e9,))[1e9][0], mean, atol=1e-6)
    np.testing.assert_allclose(by_kpca(X, Y, 0.1, 1e9, (3,))[0], mean, atol=1e-6)


def test_ridges_in_proportion_to_features_shrink_alike():
    rng = np.random.default_rng(1)
    shrunk = []
    for r in (4000, 20_000):
        W = np.sqrt(2 * digits.GAMMA) * rng.normal(size=(r, 4))
        gram = W.T @ W
        shrunk.append(np.linalg.solve(gram + digits.strength(1.3, r) * np.eye(4), gram))
    np.testing.assert_allclose(shrunk[0], shrunk[1], atol=0.02)
    np.testing.assert_allclose(np.diag(shrunk[1]), 1 / (1 + 1.3 / 6), atol=0.02)


def test_best_is_chosen_by_the_mean_over_runs():
    curves = np.array([[1.0, 2.0, 3.0], [9.0, 3.0, 2.0]])
    np.testing.assert_array_equal(errors.at_best(curves), [2.0, 3.0])
    assert errors.least(curves) == 2.5
    value, error = errors.ratio(curves, np.array([[4.0], [6.0]]))
    assert value == 0.5
    assert error == pytest.approx(0.0)
    assert np.isnan(errors.ratio(curves[:1], curves[:1])[1])


def test_setting_of_least_mean_is_chosen():
    tried = np.array([[[5.0, 1.0], [2.0, 2.0]], [[5.0, 4.0], [2.0, 2.0]]])  # runs, settings, components
    assert usps_noise.chosen(tried) == 1
    np.testing.assert_array_equal(usps_noise.tuned(tried), [[2.0, 2.0], [2.0, 2.0]])


def test_excess_is_counted_in_deviations_over_runs():
    curve = np.array([[1.0, 1.0], [3.0, 3.0]])
    assert s_curve.excess(curve, curve - np.sqrt(2)) == pytest.approx(1.0)


def test_both_forms_find_the_same_eigenvalues_and_directions():
    F = np.random.default_rng(2).normal(size=(40, 25))
    values, directions = forms.through_covariance(F)
    others, raw = forms.through_gram(F)
    np.testing.assert_allclose(others[-25:], values, rtol=1e-9)
    unit = raw / np.linalg.norm(raw, axis=0)
    aligned = np.abs(np.einsum("ij,ij->j", directions[:, -forms.COMPONENTS :], unit))
    np.testing.assert_allclose(aligned, 1.0, rtol=1e-9)


def test_exponent_is_that_of_the_larger_sizes():
    sizes = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    assert forms.exponent(sizes, np.where(sizes < 4, 1.0, 5 * sizes**3)) == pytest.approx(3.0)


def test_what_is_added_leaves_a_constant_out():
    sizes = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    assert forms.added(sizes, 7.0 + 2 * sizes) == pytest.approx(1.0)


def test_timed_calls_take_turns():
    called: list[str] = []
    least = forms.shortest({"a": lambda: called.append("a"), "b": lambda: called.append("b")}, 3)
    assert called == ["a", "b"] * 3
    assert set(least) == {"a", "b"}
    assert min(least.values()) >= 0
