"""The digest's experiments: formulas in the paper's letters against naive twins and the library, and laws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.spatial.distance import cdist

from kernelpca import KernelPCA
from kernelpca.kernels import RBF
from kernelpca.preimage import Weights
from kernelpca_papers.digest.backward import Digest, inverse_square
from kernelpca_papers.digest.centering import center, extra, left_out, square_features, whole_extra
from kernelpca_papers.digest.curve import dimension, next_in_time, path_length, shuffled_lengths
from kernelpca_papers.digest.frames import SHAPE, enlarge
from kernelpca_papers.digest.identities import CHECKS, PRINTED, Forms, check, printed
from kernelpca_papers.digest.ways_back import by_nulls, split
from kernelpca_papers.digest.width import find_width, kept

BETA, K = 0.1, 3


@pytest.fixture
def X(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(20, 6))


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


# kernel PCA as printed


@pytest.mark.parametrize("centered", [True, False])
def test_scores_are_the_librarys_times_the_root_of_the_eigenvalues(X, rng, centered):
    new = rng.normal(size=6)
    ours, theirs = Digest(X, BETA, K, centered), KernelPCA(K, kernel=RBF(BETA), center=centered).fit(X)
    factors = np.sqrt(theirs.eigenvalues_)
    np.testing.assert_allclose(np.abs(ours.Z), np.abs(theirs.transform(X) * factors), atol=1e-10)
    np.testing.assert_allclose(np.abs(ours.forward(new)), np.abs(theirs.transform(new[None])[0] * factors), atol=1e-10)
    assert ours.kept == pytest.approx(theirs.explained_variance_ratio_.sum())


@pytest.mark.parametrize("centered", [True, False])
def test_the_discrepancy_is_that_of_the_combined_point(X, rng, centered):
    model, w, z = Digest(X, BETA, K, centered), rng.uniform(0, 0.2, 20), rng.normal(size=K)
    value, _ = model.discrepancy(w, z)
    assert value == pytest.approx(np.square(z - model.forward(w @ X)).sum())


def test_the_logarithmic_discrepancy_is_the_printed_sum(X, rng):
    model, w = Digest(X, BETA, K, center=False), rng.uniform(0, 0.2, 20)
    z = model.forward(X.mean(axis=0))
    Vz = model.V @ z
    assert (Vz > 0).all()
    naive = sum((np.log(Vz[i]) + BETA * np.square(X[i] - w @ X).sum()) ** 2 for i in range(20))
    assert model.log_discrepancy(w, z)[0] == pytest.approx(naive)


def test_entries_without_a_logarithm_are_left_out(X):
    model = Digest(X, BETA, K, center=True)
    residuals = model.log_residuals(np.ones(20), model.forward(X[0]))
    negative = model.V @ model.forward(X[0]) <= 0
    assert negative.any()
    assert not residuals[negative].any()
    assert residuals[~negative].all()


@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("name", ["discrepancy", "log_discrepancy"])
def test_gradients_are_differences(X, rng, name, centered):
    model, w = Digest(X, BETA, K, centered), rng.uniform(0, 0.1, 20)
    function, z = getattr(model, name), model.forward(X[0])
    off = check_grad(lambda w: function(w, z)[0], lambda w: function(w, z)[1], w)
    assert off < 1e-5 * np.linalg.norm(function(w, z)[1])


def test_weights_found_are_nonnegative_and_reach_the_scores_of_a_mixture(X):
    model = Digest(X, BETA, K, center=True)
    z = model.forward(0.6 * X[0] + 0.4 * X[1])
    found = model.backward(z, inverse_square(model.distances(z)))
    assert (found.weights >= 0).all()
    assert found.discrepancy < 1e-12
    np.testing.assert_allclose(model.forward(found.weights @ X), z, atol=1e-5)


def test_inverse_square_weights_are_the_librarys(X, rng):
    new = rng.normal(size=6)
    ours, weights = Digest(X, BETA, K, center=True), Weights("inverse_square", n_neighbors=None, scaling="digest")
    theirs = KernelPCA(K, kernel=RBF(BETA), preimage=weights).fit(X)
    answer = theirs.inverse_transform(theirs.transform(new[None]))[0]
    np.testing.assert_allclose(inverse_square(ours.distances(ours.forward(new))) @ X, answer, atol=1e-9)


def test_a_sample_at_distance_zero_takes_all_the_weight():
    np.testing.assert_array_equal(inverse_square(np.array([0.0, 1.0, 0.0])), [0.5, 0.0, 0.5])


@pytest.mark.parametrize("centered", [True, False])
def test_the_width_keeps_what_is_asked_for(X, centered):
    squares = cdist(X, X, "sqeuclidean")
    beta = find_width(squares, 0.6, K, centered)
    assert kept(np.exp(-beta * squares), K, centered) == pytest.approx(0.6, abs=1e-9)
    assert Digest(X, beta, K, centered).kept == pytest.approx(0.6, abs=1e-9)


# frames and curves


def test_enlarged_frames_repeat_pixels(rng):
    frames = rng.normal(size=(3, SHAPE[0] * SHAPE[1])).astype(np.float32)
    large = enlarge(frames, (2, 3))
    naive = np.kron(frames[1].reshape(SHAPE), np.ones((2, 3), np.float32))
    np.testing.assert_array_equal(large[1].reshape(2 * SHAPE[0], 3 * SHAPE[1]), naive)
    np.testing.assert_allclose(cdist(large, large, "sqeuclidean"), 6 * cdist(frames, frames, "sqeuclidean"), rtol=1e-6)


def test_null_models_are_what_they_say(X):
    nulls = by_nulls(X, 4, BETA)
    rest, y = split(X, 4)
    np.testing.assert_allclose(nulls["mean frame"], rest.mean(axis=0))
    np.testing.assert_allclose(nulls["mean of neighbors in time"], (X[3] + X[5]) / 2)
    assert np.linalg.norm(nulls["nearest frame"] - y) == pytest.approx(cdist(rest, y[None]).min())


def test_points_of_a_curve_in_order(rng):
    t = np.sort(rng.uniform(0, 2, 200))
    curve = np.column_stack([np.cos(t), np.sin(t), t])
    assert path_length(curve) == pytest.approx(np.sqrt(2) * np.ptp(t), rel=1e-3)
    assert path_length(curve) < shuffled_lengths(curve, 50, rng).min()
    assert next_in_time(curve) == 1
    assert dimension(curve) == pytest.approx(1, abs=3 / np.sqrt(200))
    assert dimension(rng.uniform(size=(1000, 3))) == pytest.approx(3, abs=9 / np.sqrt(1000) + 0.2)


# both diagonalizations


@pytest.mark.parametrize("shape", [(8, 30), (30, 8), (12, 12)])
def test_identities_hold_to_rounding_and_fail_as_printed(rng, shape):
    M = rng.normal(size=shape)
    forms = Forms.of(M - M.mean(axis=1, keepdims=True))
    errors, slips = check(forms), printed(forms)
    assert errors.keys() == CHECKS.keys()
    assert max(errors.values()) < 1
    assert slips["printed_14"] * forms.sigma[0] == pytest.approx(1)
    assert slips["printed_18"] == pytest.approx(forms.sigma[0])
    assert slips["printed_16"] == pytest.approx(forms.sigma[0])
    assert forms.rank == min(shape[0], shape[1] - 1)
    assert slips.keys() == PRINTED.keys() - (set() if shape[0] == shape[1] else {"printed_appendix"})


def test_a_wrong_vector_is_seen(rng):
    M = rng.normal(size=(8, 30))
    forms = Forms.of(M)
    tilted = forms.U + 1e-9 * forms.U[:, ::-1]
    assert forms.compared(-forms.U, forms.U) == 0
    assert forms.compared(tilted, forms.U) > 1


# centering


def test_eq_24_is_the_gram_matrix_of_centered_features(X):
    F = square_features(X)
    np.testing.assert_allclose(F @ F.T, (X @ X.T + 1) ** 2)
    centered = F - F.mean(axis=0)
    np.testing.assert_allclose(center(F @ F.T), centered @ centered.T, atol=1e-11)


def test_uncentered_pca_needs_between_none_and_one_more(rng):
    M = rng.normal(size=(100, 40)) * np.linspace(2, 0.3, 40) + rng.normal(size=40)
    values = {"with": left_out(center(M @ M.T)), "without": left_out(M @ M.T)}
    assert values["with"][0] == pytest.approx(np.square(M - M.mean(axis=0)).sum())
    assert ((extra(values) > 0) & (extra(values) < 1)).all()
    np.testing.assert_array_equal(whole_extra(values), 1)
    same = {"with": values["with"], "without": values["with"]}
    np.testing.assert_array_equal(extra(same), 0)
    np.testing.assert_array_equal(whole_extra(same), 0)
