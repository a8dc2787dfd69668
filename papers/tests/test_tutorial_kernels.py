"""Helpers of the tutorial's kernel experiments: the printed approximations, and what is asked of every kernel."""

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture

from kernelpca import KernelPCA
from kernelpca.features import Nystrom
from kernelpca.kernels import RBF, Fisher, Sigmoid
from kernelpca.metrics import eigenvector_similarity
from kernelpca_papers.experiment import Found
from kernelpca_papers.tutorial import complexity, timed_stages
from kernelpca_papers.tutorial.approximate_kernel_pca import of_values
from kernelpca_papers.tutorial.approximations import (
    centered,
    draw_rows,
    gaussian_map,
    hashing_map,
    leading_pairs,
    nystrom_pairs,
    sampling_chances,
    sketch_pairs,
)
from kernelpca_papers.tutorial.kernel_catalogue import distance_error
from kernelpca_papers.tutorial.kernel_checks import examine, leave_one_out, validity
from kernelpca_papers.tutorial.string_kernels import chain_strings, number_words


@pytest.fixture
def matrix():
    """A kernel matrix and its rows."""
    X = np.random.default_rng(0).standard_normal((60, 4))
    return RBF(0.2)(X), X


def test_centered_is_the_projection(matrix):
    K, _ = matrix
    C = np.eye(60) - 1 / 60
    np.testing.assert_allclose(centered(K), C @ K @ C, atol=1e-14)


def test_maps_keep_dot_products_on_average(matrix):
    rng, x = np.random.default_rng(1), matrix[0][0]
    for draw in (gaussian_map, lambda n, q, rng: hashing_map(n, q, rng, power=0.5)):
        squares = [np.square(x @ draw(60, 20, rng)).sum() for _ in range(1500)]
        error = np.std(squares) / np.sqrt(len(squares))
        assert abs(np.mean(squares) - x @ x) < 4 * error


def test_the_printed_factor_of_hashing_shrinks_eigenvalues_by_sqrt_l(matrix):
    K = centered(matrix[0])
    printed, right = (
        sketch_pairs(K, hashing_map(60, 40, np.random.default_rng(2), power=power), 5) for power in (1.0, 0.5)
    )
    np.testing.assert_allclose(printed[0] * np.sqrt(5), right[0])
    np.testing.assert_allclose(eigenvector_similarity(printed[1], right[1]), 1.0)


def test_hashing_puts_each_row_into_one_bucket_of_each_block():
    P = hashing_map(30, 20, np.random.default_rng(0))
    assert (np.count_nonzero(P.reshape(30, 5, 4), axis=2) == 1).all()
    np.testing.assert_allclose(np.abs(P[P != 0]), 0.2)


def test_a_sketch_with_an_orthogonal_map_is_exact(matrix):
    K = centered(matrix[0])
    P = np.linalg.qr(np.random.default_rng(3).standard_normal((60, 60)))[0]
    values, vectors = sketch_pairs(K, P, 5)
    exact = leading_pairs(K, 5)
    np.testing.assert_allclose(values, exact[0])
    np.testing.assert_allclose(eigenvector_similarity(exact[1], vectors), 1.0)


def test_nystrom_with_all_rows_is_exact_and_with_some_is_the_library_s_extension(matrix):
    K, X = matrix
    exact = leading_pairs(centered(K), 5)
    values, vectors = nystrom_pairs(K, np.arange(60), 5)
    np.testing.assert_allclose(values, exact[0])
    np.testing.assert_allclose(eigenvector_similarity(exact[1], vectors), 1.0)
    rows = np.arange(0, 60, 3)
    values, vectors = nystrom_pairs(K, rows, 5)
    model = KernelPCA(5, kernel=RBF(0.2), approximation=Nystrom(landmarks=rows, form="extension"))
    scores = model.fit_transform(X)
    np.testing.assert_allclose(values, model.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(eigenvector_similarity(vectors - vectors.mean(axis=0), scores), 1.0, rtol=1e-6)


def test_chances_against_loops(matrix):
    K = matrix[0] * np.outer(np.arange(60), np.arange(60))
    columns = np.array([sum(K[i, j] ** 2 for i in range(60)) for j in range(60)])
    np.testing.assert_allclose(sampling_chances(K, "column norm"), columns / columns.sum())
    diagonal = np.array([K[j, j] ** 2 for j in range(60)])
    np.testing.assert_allclose(sampling_chances(K, "diagonal"), diagonal / diagonal.sum())
    rows = draw_rows(sampling_chances(K, "diagonal"), 40, np.random.default_rng(0))
    assert len(set(rows.tolist())) == 40
    assert 0 not in rows  # whose chance is zero


def test_tiles_give_the_column_norms():
    X = np.random.default_rng(0).standard_normal((601, timed_stages.WIDTH))
    np.testing.assert_allclose(timed_stages.by_columns(X), sampling_chances(timed_stages.KERNEL(X), "column norm"))
    np.testing.assert_allclose(timed_stages.by_diagonal(X), sampling_chances(timed_stages.KERNEL(X), "diagonal"))


def test_short_calls_take_more_than_no_time():
    calls = []
    assert 0 < timed_stages.seconds(lambda: calls.append(1)) < timed_stages.SHORT
    assert len(calls) > 1


def test_slope_of_a_power_law():
    assert complexity.slope_of([1, 2, 4, 8], 3.0 * np.array([1, 2, 4, 8]) ** 2.5) == pytest.approx(2.5)


def test_a_slope_that_is_too_steep_fails():
    pieces = complexity.pieces([100, 800], [10, 80], [1000, 8000], [100], 1)
    names = ("kernel matrix", "projection", "scatter", "eigen", "conversion", "uniform", "diagonal", "column norm")

    def verdict(power):
        found = Found(pieces, [dict.fromkeys(names, np.array(float(piece["n"]) ** power)) for piece in pieces])
        return complexity.law(complexity.Curves(found), "sampling", "column norm", "n", 2, "equal to")[0].verdict

    assert [verdict(power) for power in (1.6, 1.7, 2.3, 2.4)] == ["differ", "pass", "pass", "differ"]


def test_leave_one_out_against_loops():
    rng = np.random.default_rng(0)
    Z, labels = rng.standard_normal((40, 2)), rng.integers(0, 3, 40)
    hits = 0
    for i in range(40):
        nearest = min((j for j in range(40) if j != i), key=lambda j: np.linalg.norm(Z[i] - Z[j]))
        hits += labels[nearest] == labels[i]
    assert leave_one_out(Z, labels) == hits / 40


@pytest.mark.filterwarnings("ignore:There are negative eigenvalues")
def test_an_indefinite_kernel_is_found_out():
    X = np.random.default_rng(0).standard_normal((50, 2))
    labels = np.arange(50) % 2
    pieces = [{"data": "points", "kernel": name} for name in ("RBF", "tanh")]
    found = Found(pieces, [examine(kernel, X, labels) for kernel in (RBF(1.0), Sigmoid(1.0, -1.0))])
    definite, indefinite, symmetric = validity(found, "points", {})
    assert [claim.verdict for claim in (definite, indefinite, symmetric)] == ["pass", "differ", "pass"]
    assert indefinite.fails
    assert examine(RBF(1.0), X, labels)["chance"] == 0.5


def test_distances_in_feature_space():
    assert distance_error(np.random.default_rng(0).standard_normal((30, 2))) < 1e-14


def test_chains_have_equal_letters_and_opposite_steps():
    strings, labels = chain_strings(200)
    letters = [sum(string.count(letter) for string in strings) / 12_000 for letter in "acgt"]
    np.testing.assert_allclose(letters, 0.25, atol=0.02)
    ahead = np.array([sum(string.count(pair) for pair in ("ac", "cg", "gt", "ta")) for string in strings])
    assert ahead[labels == 1].min() > ahead[labels == 0].max()


def test_number_words_are_a_hundred():
    words, languages = number_words()
    assert len(words) == 100
    assert np.bincount(languages).tolist() == [20] * 5


def test_whole_information_of_the_same_samples_leaves_a_projection():
    X = np.random.default_rng(0).standard_normal((200, 2)) + np.repeat([[0.0], [6.0]], 100, axis=0)
    model = GaussianMixture(2, covariance_type="diag", random_state=0).fit(X)
    values = np.linalg.eigvalsh(Fisher(model, "empirical", 1e-9).resolve(X)(X))
    np.testing.assert_allclose(values[-9:], 200, rtol=1e-5)  # 10 parameters, of which the weights' sum says nothing
    assert np.abs(values[:-9]).max() < 1e-6


def test_claims_of_eigenvalues_can_fail():
    methods = ("Approx-KPCA (g)", "Approx-KPCA (f)", "Nyström (r)", "Nyström (d)", "Nyström (c)", "(f), unbiased")
    same = {kernel: dict.fromkeys(methods, 1.0) for kernel in ("tanh", "RBF", "polynomial", "sum")}
    for by in same.values():
        by["Approx-KPCA (g)"] = 2.0
    assert sum(claim.fails for claim in of_values(same)) == 5
