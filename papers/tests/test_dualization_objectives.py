"""Helpers of the robustness and sparsity experiments, against naive twins and laws."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.decomposition import KernelPCA as ScikitLearn

from kernelpca import KernelPCA
from kernelpca.kernels import RBF
from kernelpca_papers.dualization import contaminated_iris as iris
from kernelpca_papers.dualization import epsilon, kappa, robustness_claims
from kernelpca_papers.dualization.sparse_problem import SparseProblem
from kernelpca_papers.experiment import Found


@pytest.fixture(scope="module")
def problem():
    return SparseProblem(seed=3, s=3, rows=120)


def test_splits_are_parts_of_iris_with_multiples_of_rows_in_front():
    split = iris.Split.draw(5)
    rows = np.vstack([split.clean, split.test])
    np.testing.assert_array_equal(np.sort(rows, axis=0), np.sort(load_iris().data, axis=0))
    X = split.contaminated(10.0)
    np.testing.assert_array_equal(X[iris.OUTLIERS :], split.clean[iris.OUTLIERS :])
    np.testing.assert_allclose(
        X[: iris.OUTLIERS] / split.clean[: iris.OUTLIERS], 10 * split.factors[:, None] + 0 * X[:9]
    )
    np.testing.assert_allclose(split.contaminated(20.0)[:9], 2 * X[:9])
    assert len(split.test) == 30


@pytest.mark.parametrize("s", [1, 3])
def test_way_back_is_that_of_scikit_learn(s):
    split = iris.Split.draw(0)
    X = split.contaminated(10)
    peer = ScikitLearn(s, kernel="rbf", gamma=0.5, fit_inverse_transform=True, alpha=iris.RIDGE).fit(X)
    wanted = peer.inverse_transform(peer.transform(split.test))
    ours = iris.come_back(RBF(0.5), peer.transform(X), X, peer.transform(split.test))
    np.testing.assert_allclose(ours, wanted, atol=1e-9)
    naive = np.mean(
        [sum((a - b) ** 2 for a, b in zip(*rows, strict=True)) for rows in zip(ours, split.test, strict=True)]
    )
    assert iris.squared_error(ours, split.test) == pytest.approx(naive)


def test_square_scores_are_kernel_pca_and_its_dual_variable():
    split = iris.Split.draw(1)
    kernel = iris.KERNELS[iris.GAUSSIAN]
    K, K_new = kernel(split.clean, split.clean), kernel(split.test, split.clean)
    H, Z_new = iris.squares(K, K_new, center=False, most=3)[2]
    np.testing.assert_allclose(H @ (H.T @ H), K @ H, atol=1e-8)  # proposition 3.6: critical
    wanted = KernelPCA(3, kernel=kernel, center=False).fit(split.clean).transform(split.test)
    np.testing.assert_allclose(np.abs(Z_new), np.abs(wanted), atol=1e-8)


def test_errors_without_outliers_are_the_same_at_every_tau_and_those_of_a_direct_fit():
    errors = iris.split_errors(2, iris.GAUSSIAN, (True,), most=1)
    clean = errors[iris.name_of(iris.CENTERED, iris.CLEAN_ROWS)]
    assert clean.shape == (1, len(iris.TAUS))
    assert np.ptp(clean) == 0
    split = iris.Split.draw(2)
    model = ScikitLearn(1, kernel="rbf", gamma=0.5, fit_inverse_transform=True).fit(split.clean[iris.OUTLIERS :])
    answers = model.inverse_transform(model.transform(split.test))
    assert clean[0, 0] == pytest.approx(iris.squared_error(answers, split.test))
    zero = errors[iris.ZERO]
    assert zero[0, 0] == pytest.approx(np.square(split.test).sum(axis=1).mean())
    assert np.all(np.diff(errors[iris.MEAN][0]) > 0)


def test_shortened_has_the_length_and_the_directions():
    rng = np.random.default_rng(0)
    square, H = rng.standard_normal((2, 20, 3))
    scaled = iris.shortened(square, H)
    assert np.linalg.norm(scaled) == pytest.approx(np.linalg.norm(H))
    np.testing.assert_allclose(scaled / square, (scaled / square)[0, 0])


def test_held_counts_splits_that_win_at_every_tau():
    name = iris.name_of
    values = {
        name("x", "square"): np.ones((4, 1, 2)),
        name("x", "Huber 2"): np.array([[[0.9, 0.9]], [[0.9, 1.1]], [[1.0, 1.0005]], [[1.1, 1.1]]]),
    }
    errors = robustness_claims.Errors(Found([{"kernel": "k"}], [values]), "k")
    assert errors.held("x", "Huber 2") == pytest.approx([0.5])
    wanted = np.prod(values[name("x", "Huber 2")][:, 0], axis=0) ** 0.25
    np.testing.assert_allclose(errors.ratio("x", "Huber 2")[0], wanted)


def test_growth_and_level_judge_a_printed_split_by_the_spread_of_ours():
    printed = np.array(robustness_claims.PRINTED["table 6"]["square"])
    same = np.outer(np.linspace(0.5, 2, 31), printed)
    assert robustness_claims.level(same, "table 6", "square", "").holds
    assert not robustness_claims.level(10 * same, "table 6", "square", "").holds
    assert robustness_claims.growth(same, "table 6", iris.LAPLACIAN, "").measured == pytest.approx(
        np.log(8.1567), abs=1e-4
    )


def test_fractions_of_kappa_go_from_one_to_small():
    assert kappa.fractions(4) == [1.0, 0.75, 0.5, 0.25]


def test_the_square_solution_leaves_what_the_eigenvalues_leave(problem):
    values = np.linalg.eigvalsh(problem.G)
    assert problem.errors[1] == pytest.approx(values[:-3].sum())
    np.testing.assert_allclose(problem.scores(problem.square), problem.square, atol=1e-8)
    np.testing.assert_allclose(problem.ratios(problem.square), 1.0)


def test_scores_are_coordinates_on_orthonormal_directions(problem):
    H = np.random.default_rng(1).standard_normal((120, 3))
    Z = problem.scores(H)
    root = np.linalg.cholesky(problem.G + 1e-12 * np.eye(120))
    Q = np.linalg.qr(root.T @ H)[0]  # of the span of the directions, in other coordinates
    np.testing.assert_allclose(Z @ Z.T, (root @ Q) @ (root @ Q).T, atol=1e-7)
    assert problem.measure(2 * H)[1] == pytest.approx(problem.measure(H)[1])  # lengths do not matter in feature space


def test_input_error_is_that_of_ridge_regression_by_loops(problem):
    Z = problem.G @ problem.square
    K = np.array([[np.exp(-0.1 * sum((a - b) ** 2)) for b in Z] for a in Z])
    answers = K @ np.linalg.inv(K + np.eye(120)) @ problem.X
    assert problem.input_error(Z) == pytest.approx(np.mean((answers - problem.X) ** 2))


@pytest.mark.parametrize("part", [0.2, 0.5])
def test_methods_have_the_zeros_that_were_asked_for(problem, part):
    rows = problem.without_rows(part)
    assert 1 - rows.any(axis=1).mean() == pytest.approx(part, abs=0.02)
    assert (problem.without_entries(part) == 0).mean() == pytest.approx(part, abs=0.02)
    assert 1 - problem.shortest_rows_dropped(part).any(axis=1).mean() == pytest.approx(part, abs=0.01)
    assert (problem.smallest_entries_dropped(part) == 0).mean() == pytest.approx(part, abs=0.01)


def test_dropping_nothing_is_the_square_solution(problem):
    nearly_all = problem.smallest_entries_dropped(0.0)
    assert (nearly_all != problem.square).sum() == 1  # the smallest entry itself
    assert problem.ratios(nearly_all)[1] == pytest.approx(1.0, abs=1e-4)


def test_sparsity_between_points_is_interpolated():
    path = {"sparsity": np.array([0.0, 0.2, 0.6]), "ratios": np.array([[1.0, 1.0], [1.1, 1.0], [1.3, 1.0]])}
    found = Found([{"norm": "2", "s": 5}], [path])
    assert epsilon.at_sparsity(found, "2", 5, 0.4) == pytest.approx([1.2])


def test_whole_puts_rows_back(problem):
    model = SimpleNamespace(support_=np.array([3, 7]), dual_coef_=np.ones((2, 3)))
    H = problem.whole(model)
    assert H.shape == (120, 3)
    assert np.flatnonzero(H.any(axis=1)).tolist() == [3, 7]
