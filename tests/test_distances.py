"""Pre-images from distances, against the paper's formulas point by point, and against what must hold."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits

import reference
from contracts.preimage import PreimageContract
from kernelpca import KernelPCA
from kernelpca.features import Nystrom, RandomFourier
from kernelpca.kernels import RBF, Cauchy, Laplacian, Linear, Matern, Polynomial, RationalQuadratic
from kernelpca.preimage.distances import Distances
from kernelpca.preimage.protocol import Target

DIGITS = load_digits(return_X_y=True)[0] / 16
TELL_DISTANCE = [RBF(0.1), Cauchy(0.2), Matern(1.5, 0.1), RationalQuadratic(2.0, 0.1), Laplacian(0.3, "euclidean")]
TELL_DISTANCE += [2.0 * RBF(0.1) + 0.5, RBF(1e-6)]
TELL_PRODUCT = [
    Linear(),
    Polynomial(3, 0.1, 1.0),
    Polynomial(5, 0.1, 1.0),
    Polynomial(3, 0.1, 0.0),
    2.0 * Linear() + 1.0,
]
MODELS = {
    "exact": {"kernel": RBF(0.05)},
    "uncentered": {"kernel": Matern(1.5, 0.05), "center": False},
    "nystrom": {"kernel": RBF(0.05), "approximation": Nystrom(40)},
    "nystrom, uncentered": {"kernel": Cauchy(0.05), "approximation": Nystrom(40), "center": False},
    "polynomial": {"kernel": Polynomial(3, 0.05, 1.0)},
    "linear": {"kernel": Linear()},
}


def cloud(n=25, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d)) + 2.0


def space_of(model):
    return model._inverse.space


@pytest.fixture(params=MODELS)
def settings_of(request):
    return MODELS[request.param]


@pytest.fixture
def method():
    return Distances()


@pytest.fixture
def X():
    return DIGITS[:150]


@pytest.fixture
def new():
    return DIGITS[300:330]


@pytest.fixture
def model(settings_of, method, X):
    return KernelPCA(8, preimage=method, **settings_of).fit(X)


class TestDistances(PreimageContract):
    pass


# the formulas


@pytest.mark.parametrize("kernel", [*TELL_DISTANCE, *TELL_PRODUCT], ids=repr)
@pytest.mark.parametrize("center", [True, False])
def test_points_are_those_of_the_formulas(kernel, center):
    X, q = cloud(), 6
    model = KernelPCA(4, kernel=kernel, center=center, preimage=Distances(q)).fit(X)
    Z = model.transform(cloud(5, seed=1))
    K, n = kernel(X), len(X)
    values, V = np.linalg.eigh(reference.center(K) if center else K)
    directions = V[:, ::-1][:, :4] / np.sqrt(values[::-1][:4])
    scores = (reference.center(K) if center else K) @ directions
    directions = directions * np.sign((scores * model.transform(X)).sum(axis=0))
    found = model.inverse_transform(Z)
    for z, x in zip(Z, found, strict=True):
        c = reference.projected_point(K, z, directions) if center else directions @ z
        squares = reference.squared_distances_in_feature_space(K, c)
        near = np.argsort(squares)[:q]
        if kernel.tells_distance:
            distances = kernel.distances_from(kernel.diag(X)[near] - squares[near] / 2)
        else:
            own = sum(c[a] * c[b] * K[a, b] for a in range(n) for b in range(n))
            products = kernel.products_from((kernel.diag(X)[near] + own - squares[near]) / 2)
            distances = np.square(X[near]).sum(axis=1) + kernel.products_from(np.array(own)) - 2 * products
        expected = reference.point_from_distances(X[near], distances)
        np.testing.assert_allclose(x, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kernel", TELL_DISTANCE, ids=repr)
@pytest.mark.parametrize("q", [4, 9])
def test_points_in_the_hull_of_their_neighbors_are_found(kernel, q):
    X = cloud(q, 3) if q == 4 else cloud(q, 12)  # in all directions, and in fewer than there are
    model = KernelPCA(2, kernel=kernel, preimage=Distances(q)).fit(X)
    shares = np.random.default_rng(1).dirichlet(np.ones(q), 20)
    points = shares @ X
    target = Target(space_of(model), np.zeros((20, 2)))
    target.__dict__["from_samples"] = 2 * (kernel.diag(X)[0] - kernel(points, X))  # as if p were their images
    found = Distances(q).solve(target).points + space_of(model).origin
    digits = 1e-5 if kernel == RBF(1e-6) else 1e-9  # 1 - k has lost the others
    np.testing.assert_allclose(found, points, atol=digits)


def test_points_outside_the_hull_have_their_foot_there():
    X, new, q = cloud(30, 6), cloud(8, 6, seed=1), 4
    model = KernelPCA(6, kernel="linear", preimage=Distances(q)).fit(X)
    for x, found in zip(new, model.denoise(new), strict=True):
        near = X[np.argsort(np.square(X - x).sum(axis=1))[:q]]
        A = (near - near.mean(axis=0)).T
        foot = near.mean(axis=0) + A @ np.linalg.lstsq(A, x - near.mean(axis=0), rcond=None)[0]
        np.testing.assert_allclose(found, foot, atol=1e-9)


@pytest.mark.parametrize("kernel", [*TELL_DISTANCE, *TELL_PRODUCT], ids=repr)
@pytest.mark.parametrize("center", [True, False])
def test_samples_come_back_where_nothing_was_left_out(kernel, center):
    X = DIGITS[:60]
    model = KernelPCA(kernel=kernel, center=center, preimage=Distances()).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-5)


def test_a_point_at_distance_zero_is_the_sample():
    X = DIGITS[:60]
    model = KernelPCA(preimage=Distances()).fit(X)
    space = space_of(model)
    found = Distances().solve(Target(space, space.scores)).points
    np.testing.assert_array_equal(found, space.samples)


def test_wide_kernels_lose_no_digits():
    X = cloud(40, 5)
    wide, usual = (
        KernelPCA(39, kernel=RBF(gamma), preimage=Distances(8)).fit(X).denoise(cloud(9, 5, seed=3))
        for gamma in (1e-7, 1e-5)
    )
    np.testing.assert_allclose(wide, usual, atol=1e-3)


# neighbors that span little


@pytest.mark.parametrize("d", [1, 2])
def test_more_neighbors_than_dimensions(d):
    X = cloud(40, d)
    model = KernelPCA(20, kernel=RBF(0.5), preimage=Distances(12)).fit(X)
    np.testing.assert_allclose(model.denoise(X), X, atol=1e-2)


def test_equal_samples():
    X = np.repeat(cloud(6, 3), 10, axis=0)
    model = KernelPCA(4, kernel=RBF(0.1), preimage=Distances(10)).fit(X)
    found = model.denoise(cloud(20, 3, seed=2))
    from_rows = np.square(found[:, None] - X[None]).sum(axis=2).min(axis=1)
    np.testing.assert_allclose(from_rows, 0, atol=1e-18)  # ten equal neighbors span a point


def test_fewer_samples_than_neighbors():
    X = cloud(5, 3)
    model = KernelPCA(4, kernel=RBF(0.1), preimage=Distances(10)).fit(X)
    np.testing.assert_allclose(model.denoise(X), X, atol=1e-8)


# laws


@settings(deadline=None, max_examples=25, derandomize=True)
@given(st.integers(0, 10**6), st.floats(-50, 50), st.sampled_from([RBF(0.1), Cauchy(0.2), Linear()]))
def test_answers_turn_and_move_with_the_data(seed, shift, kernel):
    rng = np.random.default_rng(seed)
    X, new = rng.standard_normal((20, 4)), rng.standard_normal((5, 4))
    R = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    here = KernelPCA(3, kernel=kernel, solver="dense", preimage=Distances(3)).fit(X).denoise(new)
    there = (
        KernelPCA(3, kernel=kernel, solver="dense", preimage=Distances(3)).fit(X @ R + shift).denoise(new @ R + shift)
    )
    np.testing.assert_allclose(there, here @ R + shift, atol=1e-6 * (1 + np.abs(here).max()))


def test_odd_polynomials_turn_with_the_data():
    X, new = DIGITS[:80], DIGITS[200:220]
    R = np.linalg.qr(np.random.default_rng(0).standard_normal((64, 64)))[0]
    here, there = (
        KernelPCA(10, kernel=Polynomial(3, 0.05), preimage=Distances()).fit(A).denoise(B)
        for A, B in ((X, new), (X @ R, new @ R))
    )
    np.testing.assert_allclose(there, here @ R, atol=1e-7)


@pytest.mark.parametrize("kernel", [RBF(0.01), Polynomial(3, 0.01)], ids=repr)
def test_long_rows(kernel):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 400)) + 1
    model = KernelPCA(8, kernel=kernel, preimage=Distances(6)).fit(X)
    assert space_of(model).narrow is not None
    plain = KernelPCA(8, kernel=kernel, preimage=Distances(6, bounds=(None, None))).fit(X)
    Z = model.transform(X[:10] + 0.1)
    np.testing.assert_allclose(model.inverse_transform(Z), plain.inverse_transform(Z), atol=1e-7)


def test_blocks_of_any_size_give_the_same():
    model = KernelPCA(8, preimage=Distances()).fit(DIGITS[:100])
    Z = model.transform(DIGITS[200:230])
    expected = model.inverse_transform(Z)
    model._inverse.space = replace(space_of(model), budget=1)
    np.testing.assert_allclose(model.inverse_transform(Z), expected, atol=1e-10)


# refusals


@pytest.mark.parametrize(
    ("settings_of", "message"),
    [
        ({"kernel": Polynomial(2)}, "a kernel whose values tell distances or dot products, such as rbf"),
        ({"kernel": "cosine"}, "a polynomial of odd degree"),
        ({"kernel": RBF(), "approximation": RandomFourier(50)}, "rows that the model keeps"),
    ],
)
def test_models_without_what_it_needs(settings_of, message):
    with pytest.raises(ValueError, match=message):
        KernelPCA(3, preimage=Distances(), **settings_of).fit(DIGITS[:50])


@pytest.mark.parametrize("n_neighbors", [0, 2.5, True, None])
def test_numbers_of_neighbors_that_make_no_sense(n_neighbors):
    with pytest.raises(ValueError, match=r"Distances\(n_neighbors=.*must be a whole number >= 1"):
        KernelPCA(3, preimage=Distances(n_neighbors)).fit(DIGITS[:50])
