"""Helpers of the tutorial's experiments on PCA, against naive twins and laws."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler

from kernelpca import PCA
from kernelpca.features import GaussianProjection
from kernelpca_papers.tutorial import approximate_pca, dot_products, eigenfaces, outlier_digit, pixel_grouping, spectra
from kernelpca_papers.tutorial.images import filtered, grouped, resized, rows_of, standardized


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_standardized_is_that_of_scikit_learn_and_keeps_constant_columns_at_zero():
    X = np.c_[load_iris().data, np.full(150, 7.0)]
    np.testing.assert_allclose(standardized(X), StandardScaler().fit_transform(X), atol=1e-12)
    assert not standardized(X)[:, -1].any()


def test_resized_averages_squares_and_keeps_the_mean(rng):
    images = rng.normal(size=(3, 8, 6))
    small = resized(images, 4, 3)
    for i, j in ((0, 0), (3, 2), (1, 2)):
        np.testing.assert_allclose(small[:, i, j], images[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2].mean(axis=(1, 2)))
    np.testing.assert_allclose(resized(images, 5, 4).mean(axis=(1, 2)), images.mean(axis=(1, 2)))
    np.testing.assert_allclose(resized(small, 8, 6), small.repeat(2, axis=1).repeat(2, axis=2))


def test_grouped_takes_the_top_left_pixel_also_at_odd_edges(rng):
    images = rng.normal(size=(2, 5, 7))
    answer = grouped(images)
    for i in range(5):
        for j in range(7):
            np.testing.assert_array_equal(answer[:, i, j], images[:, i - i % 2, j - j % 2])


def test_filtered_is_a_convolution_rectified_and_averaged(rng):
    images = rng.integers(0, 256, size=(2, 10, 9, 3)).astype(np.uint8)
    answer = filtered(images, 2, 4, seed=3)
    filters = np.random.default_rng(3).standard_normal((75, 4), np.float32).reshape(3, 5, 5, 4)
    maps = np.empty((2, 6, 5, 4))
    for i in range(6):
        for j in range(5):
            patch = images[:, i : i + 5, j : j + 5].transpose(0, 3, 1, 2) / 255
            patch = patch - patch.mean(axis=(1, 2, 3), keepdims=True)
            maps[:, i, j] = np.maximum(np.einsum("ncij,cijf->nf", patch, filters), 0)
    rows = np.stack([maps[:, :3].mean(axis=1), maps[:, 3:].mean(axis=1)], axis=1)
    halves = (
        (rows[:, :, :2].sum(axis=2) + rows[:, :, 2] / 2) / 2.5,
        (rows[:, :, 3:].sum(axis=2) + rows[:, :, 2] / 2) / 2.5,
    )
    np.testing.assert_allclose(answer, np.stack(halves, axis=2).reshape(2, -1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_axes_needed_are_those_of_the_estimator(load):
    Z = standardized(load().data)
    counts = spectra.axes_needed(PCA().fit(Z).explained_variance_)
    assert counts == [PCA(n_components=share).fit(Z).n_components_ for share in spectra.SHARES]


def test_axes_needed_take_a_share_that_is_met_exactly():
    assert spectra.axes_needed(np.full(100, 0.5)) == [90, 95, 99]


def test_spectrum_of_wide_and_of_tall_rows_agree(rng):
    X = rng.normal(size=(30, 12))
    values = spectra.spectrum(X, spectra.Z_SCORE)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(np.corrcoef(X.T))[::-1], atol=1e-12)
    np.testing.assert_allclose(spectra.spectrum(X[:8], spectra.CENTERED).sum(), X[:8].var(axis=0).sum())


def test_parts_share_no_row_and_leave_none_out():
    parts = [spectra.chosen(np.arange(10), 1, 4, number) for number in range(4)]
    assert sorted(np.concatenate(parts)) == list(range(10))


def test_extrapolation_is_exact_for_parabolas():
    truth = np.poly1d([3.0, -20.0, 100.0])
    means = np.array([[truth(parts)] for parts in spectra.PARTS])
    np.testing.assert_allclose(spectra.extrapolated(means, 5), [truth(0.2)])


def test_dot_is_ink_apart_from_the_digit_on_the_left():
    image = np.zeros((28, 28))
    image[5:20, 12:15] = 200
    image[14, 1] = image[14, 25] = 90
    assert np.argwhere(outlier_digit.dot_of(image)).tolist() == [[14, 1]]
    assert not outlier_digit.dot_of(np.zeros((28, 28))).any()


def test_sharpness_leaves_the_dot_out():
    image = np.zeros((28, 28))
    image[5:20, 12:15] = 200
    dotted = image.copy()
    dotted[14, 1] = 90
    assert outlier_digit.sharpness(dotted, dotted == 90) == outlier_digit.sharpness(image, image < 0)


def test_alone_at_left_finds_the_only_image_with_ink():
    X = np.zeros((4, 28, 28), np.uint8)
    X[:2, 3, 0] = 255  # two images: not alone
    X[2, 9, 0], X[3, 11, 0] = 30, 80
    assert outlier_digit.alone_at_left(X.reshape(4, -1)) == 3


@pytest.mark.parametrize("q", [15, 60])
def test_projected_axes_of_an_exact_map_are_exact(rng, q):
    """A map that keeps dot products exactly, shorter or longer than there are rows."""
    X = rows_of(rng.normal(size=(40, 3, 5)) * np.arange(1, 6))
    Q = np.linalg.qr(rng.normal(size=(q, 15)))[0].T
    values, vectors, axes = approximate_pca.projected_axes(X, X @ Q, 4)
    model = PCA(4).fit(X)
    np.testing.assert_allclose(values, model.eigenvalues_)
    np.testing.assert_allclose(eigenfaces.likeness(axes, model.components_), np.eye(4), atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(axes, axis=1), 1.0)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(4), atol=1e-10)


def test_two_norm_follows_from_three_dot_products(rng):
    a, b = rng.normal(size=(2, 9))
    truth = np.linalg.norm(np.outer(a, a) - np.outer(b, b), 2)
    np.testing.assert_allclose(pixel_grouping.two_norm(a @ a, b @ b, a @ b), truth)


def test_replacing_a_pixel_is_what_is_measured(rng):
    X = rows_of(rng.normal(size=(20, 4, 5)))
    found = pixel_grouping.replace(X, (4, 5), 6, seed=2)
    assert (found["change"] <= found["two_norm"] * (1 + 1e-9)).all()
    np.testing.assert_allclose(found["formula"], found["frobenius"])


def test_random_grouping_keeps_a_quarter_of_the_values(rng):
    faces = rng.permutation(64).reshape(1, 8, 8)
    answer = pixel_grouping.changed(faces, pixel_grouping.SHUFFLED)
    assert len(np.unique(answer)) == 16
    assert set(np.unique(answer)) <= set(range(64))


def test_centered_dot_products(rng):
    X = rng.normal(size=(7, 3)) + 5
    Y = X - X.mean(axis=0)
    np.testing.assert_allclose(dot_products.centered(X @ X.T), Y @ Y.T, atol=1e-12)


def test_cut_projections_keep_dot_products_on_average(rng):
    X = rng.normal(size=(4, 30))
    found = [H for _, q, H in dot_products.by_gauss(X, 0) if q == 500]
    assert len(found) == 10
    error = np.sqrt(2 / 5000) * np.linalg.norm(X, axis=1).max() ** 2
    np.testing.assert_allclose(np.mean(found, axis=0), X @ X.T, atol=4 * error)
    whole = GaussianProjection().fit(30, 5000, np.random.default_rng(0)).apply(X)
    np.testing.assert_allclose(np.mean(found, axis=0), whole @ whole.T)


def test_slope_of_a_power():
    fitted, error = dot_products.slope([np.full(3, q**-0.5) for q in dot_products.SIZES])
    assert fitted == pytest.approx(-0.5)
    assert error == pytest.approx(0.0)
