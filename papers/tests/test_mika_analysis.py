"""Helpers of the analysis of Mika et al. against laws and naive twins."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from kernelpca.datasets import gaussians, half_circle, square
from kernelpca_papers.mika_analysis.digits import GAUSSIAN, SPECKLE, with_noise
from kernelpca_papers.mika_analysis.half_circle import covered, onto_half_circle, outline
from kernelpca_papers.mika_analysis.literal import denoise_literally, directions, step
from kernelpca_papers.mika_analysis.methods import by_kernel_pca, by_pca, nearest, squared_distance
from kernelpca_papers.mika_analysis.principal_curves import Curve, circle, first_component, fit_curve
from kernelpca_papers.mika_analysis.square import SQUARE, corners, onto_square
from kernelpca_papers.mika_analysis.square import outline as square_outline


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


# principal curves


def test_projection_is_the_nearest_point_of_a_fine_grid(rng):
    curve = Curve(rng.normal(size=(6, 2)))
    X = rng.normal(size=(40, 2))
    at = np.linspace(0, 1, 2001)[:, None]
    grid = np.concatenate([a + at * (b - a) for a, b in pairwise(curve.vertices)])
    feet, along = curve.project(X)
    naive = np.sqrt(np.square(X[:, None] - grid).sum(axis=2).min(axis=1))
    np.testing.assert_allclose(np.linalg.norm(X - feet, axis=1), naive, atol=1e-5)
    assert (along >= 0).all()
    assert (along <= curve.length).all()


def test_closed_curve_has_a_side_from_last_to_first():
    triangle = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    feet, along = Curve(triangle, closed=True).project(np.array([[-0.5, 0.25]]))
    np.testing.assert_allclose(feet, [[0.0, 0.25]])
    np.testing.assert_allclose(along, [1 + np.sqrt(2) + 0.75])
    np.testing.assert_allclose(Curve(triangle).project(np.array([[-0.5, 0.25]]))[0], [[0.0, 0.0]])


def test_curve_without_noise_stays_where_it_is(rng):
    X = half_circle(400, 0.0, rng)[1]
    start = Curve(outline())
    fitted = fit_curve(X, start, span=0.05)
    assert np.abs(np.linalg.norm(fitted.vertices, axis=1) - 1).max() < 3e-3
    assert fitted.length == pytest.approx(np.pi, rel=0.02)


def test_straight_data_give_the_first_component(rng):
    along = rng.uniform(-3, 3, 2000)
    X = np.column_stack([along, 0.5 * along]) + rng.normal(0, 0.05, (2000, 2))
    line = first_component(X)
    fitted = fit_curve(X, line, span=0.5)
    assert np.linalg.norm(fitted.project(X)[0] - line.project(X)[0], axis=1).max() < 0.05


@pytest.mark.parametrize("closed", [False, True])
def test_fitting_brings_the_curve_nearer_to_the_data(rng, closed):
    X = square(300, 0.1, rng)[0] if closed else half_circle(300, 0.1, rng)[0]
    start = circle(X) if closed else first_component(X)
    fitted = fit_curve(X, start, span=0.2)
    assert fitted.closed == closed
    assert fitted.error(X) < 0.8 * start.error(X)


def test_closed_smoothing_knows_no_first_point(rng):
    angle = rng.uniform(0, 2 * np.pi, 400)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    fitted = fit_curve(X, circle(X), span=0.1)
    assert np.abs(np.linalg.norm(fitted.vertices, axis=1) - 1).max() < 0.02
    sides = np.linalg.norm(np.diff(fitted.corners, axis=0), axis=1)
    assert sides.max() < 2 * sides.min()


# shapes


def test_nearest_points_of_shapes_lie_on_them_and_are_nearest(rng):
    X = rng.uniform(-1.5, 1.5, (200, 2))
    angle = np.linspace(0, np.pi, 5001)
    fine_half = np.column_stack([np.cos(angle), np.sin(angle)])
    at = np.linspace(0, 1, 2001)[:, None]
    frame = square_outline()
    fine_square = np.concatenate([a + at * (b - a) for a, b in pairwise(frame)])
    for onto, fine in ((onto_half_circle, fine_half), (onto_square, fine_square)):
        naive = np.sqrt(np.square(X[:, None] - fine).sum(axis=2).min(axis=1))
        np.testing.assert_allclose(np.linalg.norm(X - onto(X), axis=1), naive, atol=1e-3)


def test_measures_of_shapes(rng):
    angle = np.linspace(0, 2 * np.pi, 1001)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    assert corners(ring) == pytest.approx(1.0)
    assert corners(square(200_000, 0.0, rng)[1]) == pytest.approx(SQUARE, abs=2e-3)
    assert covered(outline()) == pytest.approx(np.pi)


# the Gaussians and equation 8


def test_gaussians_have_their_centers_and_their_noise(rng):
    X, Y, centers = gaussians(200, 300, 0.1, rng)
    assert X.shape == (2200, 10)
    assert Y.shape == centers.shape == (3300, 10)
    assert np.abs(centers).max() <= 1
    assert len(np.unique(centers, axis=0)) == 11
    assert (Y - centers).std() == pytest.approx(0.1, rel=0.02)
    assert (X - np.repeat(centers[::300], 200, axis=0)).std() == pytest.approx(0.1, rel=0.02)


def test_equation_8_is_the_naive_sum(rng):
    X, Y = rng.normal(size=(12, 3)), rng.normal(size=(4, 3))
    gammas = rng.normal(size=(4, 12))
    new, lost = step(gammas, X, Y, 2.0)
    for m in range(4):
        weights = [gammas[m, i] * np.exp(-np.sum((Y[m] - X[i]) ** 2) / 2.0) for i in range(12)]
        np.testing.assert_allclose(new[m], sum(w * x for w, x in zip(weights, X, strict=True)) / sum(weights))
    assert not lost.any()
    assert step(np.zeros((4, 12)), X, Y, 2.0)[1].all()


def test_literal_directions_have_unit_length_and_the_librarys_scores(rng):
    from kernelpca import KernelPCA
    from kernelpca.kernels import RBF

    X, Y = rng.normal(size=(60, 3)), rng.normal(size=(5, 3))
    A, B = directions(X, Y, 4.0, 3)
    model = KernelPCA(3, kernel=RBF(0.25)).fit(X)
    np.testing.assert_allclose(np.abs(B), np.abs(model.transform(Y)), atol=1e-8)
    np.testing.assert_allclose(np.abs(A.sum(axis=0)), 0, atol=1e-8)


def test_both_ways_back_reach_the_center_of_a_tight_group(rng):
    X, Y, centers = gaussians(30, 5, 0.05, rng)
    for answers in (
        by_kernel_pca(X, Y, 20 * 0.05**2, (9,)),
        denoise_literally(X, Y, 20 * 0.05**2, (9,), np.random.default_rng(0)),
    ):
        assert squared_distance(answers, centers)[0] < 0.1 * squared_distance(Y, centers)


def test_all_linear_components_give_the_point_back(rng):
    X, Y = rng.normal(size=(40, 5)), rng.normal(size=(7, 5))
    one, every = by_pca(X, Y, (1, 5))
    np.testing.assert_allclose(every, Y, atol=1e-10)
    assert np.linalg.matrix_rank(one - X.mean(axis=0), tol=1e-8) == 1


def test_nearest_sample_of_a_sample_is_itself(rng):
    X = rng.normal(size=(40, 5))
    np.testing.assert_array_equal(nearest(X, X), X)


# digits


def test_noise_of_digits(rng):
    X = np.full((100, 256), 0.25)
    off = with_noise(X, GAUSSIAN, rng) - X
    assert off.mean() == pytest.approx(0, abs=0.02)
    assert off.std() == pytest.approx(0.5, rel=0.02)
    speckled = with_noise(X, SPECKLE, rng)
    assert set(np.unique(speckled)) == {-1.0, 0.25, 1.0}
    assert (speckled != X).mean() == pytest.approx(0.4, abs=0.02)
    assert (speckled == 1).mean() == pytest.approx(0.2, abs=0.02)
