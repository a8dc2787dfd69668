"""The way back: every method against formulas written out, against scipy, and against what must hold."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sklearn.decomposition
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize as scipy_minimize
from scipy.optimize import rosen, rosen_der
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning

import reference
from contracts.preimage import PreimageContract
from kernelpca import KernelPCA
from kernelpca.features import Nystrom, RandomFourier, RandomReLU
from kernelpca.kernels import (
    RBF,
    ArcCosine,
    Cauchy,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
)
from kernelpca.preimage import (
    PREIMAGES,
    Combination,
    Distances,
    FixedPoint,
    Gradient,
    Invertible,
    Ridge,
    Weights,
    as_preimage,
)
from kernelpca.preimage.fixed_point import pull
from kernelpca.preimage.inversion import judge
from kernelpca.preimage.protocol import Target
from kernelpca.preimage.quasi_newton import _search, minimize

DIGITS = load_digits(return_X_y=True)[0] / 16
IRIS = load_iris(return_X_y=True)[0]
EVERY_KIND = {
    "exact": {"kernel": RBF(0.05)},
    "exact, wide kernel": {"kernel": RBF(1e-5)},
    "uncentered": {"kernel": RBF(0.05), "center": False},
    "polynomial": {"kernel": Polynomial(3, 0.05, 1.0)},
    "linear": {"kernel": Linear()},
    "sum": {"kernel": RBF(0.05) + Linear()},
    "nystrom": {"kernel": RBF(0.05), "approximation": Nystrom(40)},
    "nystrom, uncentered": {"kernel": Cauchy(0.05), "approximation": Nystrom(40), "center": False},
    "fourier": {"kernel": RBF(0.05), "approximation": RandomFourier(200)},
    "fourier, sines": {"kernel": RBF(0.05), "approximation": RandomFourier(200, form="sin")},
    "fourier, cosines": {"kernel": RBF(0.05), "approximation": RandomFourier(200, form="cos"), "center": False},
    "relu": {"kernel": ArcCosine(), "approximation": RandomReLU(200)},
}
RADIAL = [RBF(0.05), Cauchy(0.05), RationalQuadratic(2.0, 0.05), Matern(1.5, 0.05), Matern(2.5, 0.05)]
RADIAL += [RBF(0.05) + 2.0 * Cauchy(0.1), RBF(0.02) * RationalQuadratic(1.0, 0.02)]


def space_of(model):
    return model._inverse.space


def combined(target, new):
    """Squared distances from points by the definition, with kernel values of everything."""
    space, model = target.space, target.space.decomposition
    F = space.features.product(new, np.eye(len(model.W)))
    gram = None
    if space.expands:
        gram = space.features.product(space.samples, np.eye(len(model.W)))
    C = np.array([model.mean_weights + model.W @ (model.signs * z) for z in target.Z])
    inside = np.einsum("ij,ij->i", C, C if gram is None else C @ gram)
    return space.features.squared_norms(new) - 2 * np.einsum("ij,ij->i", F, C) + inside


# what scores stand for


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_distances_are_those_of_the_definition(kind):
    model = KernelPCA(5, **EVERY_KIND[kind]).fit(DIGITS[:100])
    space = space_of(model)
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((7, 5)) * np.sqrt(model.explained_variance_)
    new = space.local(DIGITS[200:207])
    distance, _ = judge(space, new, Z)
    expected = combined(Target(space, Z), new)
    np.testing.assert_allclose(distance**2, expected, rtol=1e-7, atol=1e-9 * space.features.squared_norms(new).max())


def test_distances_equal_the_naive_twin():
    X = IRIS[::15]
    model = KernelPCA(3, kernel=RBF(0.3)).fit(X)
    values, vectors = reference.jacobi(reference.center(RBF(0.3)(X)))
    directions = vectors[:, :3] / np.sqrt(values[:3])
    directions *= np.sign((directions * model.components_.T).sum(axis=0))
    new = IRIS[7:10] + 0.1
    Z = model.transform(new)
    found = model.invert(Z)
    for i in range(len(new)):
        c = reference.projected_point(RBF(0.3)(X), Z[i], directions)
        np.testing.assert_allclose(space_of(model).coefficients(Z[i : i + 1])[0], c, atol=1e-9)
        distance = reference.distance_in_feature_space(lambda a, b: reference.rbf(a, b, 0.3), found.points[i], X, c)
        np.testing.assert_allclose(found.distance[i], distance, atol=1e-7)


@pytest.mark.parametrize("kind", ["exact", "uncentered", "polynomial", "nystrom", "sum"])
def test_distances_from_samples_need_no_kernel_values(kind):
    model = KernelPCA(5, **EVERY_KIND[kind]).fit(DIGITS[:100])
    space = space_of(model)
    Z = model.transform(DIGITS[200:204])
    D = space.from_samples(Z)
    for j in (0, 17, 39):
        sample = np.repeat(space.samples[j : j + 1], 4, axis=0)
        np.testing.assert_allclose(D[:, j], combined(Target(space, Z), sample), rtol=1e-6, atol=1e-8)
    nearest = Target(space, Z).nearest(3)
    np.testing.assert_array_equal(np.sort(D, axis=1)[:, :3], np.take_along_axis(D, nearest, axis=1))


def test_negative_directions_count_negatively():
    model = KernelPCA(None, kernel=Sigmoid(0.01, -1.0), solver="dense", tol=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(DIGITS[:60])
    space = space_of(model)
    Z = model.transform(DIGITS[100:103])
    C = space.coefficients(Z)
    inside = np.einsum("ij,ij->i", C @ model.kernel_(DIGITS[:60]), C)
    np.testing.assert_allclose(space.squared_norms(Z), inside, rtol=1e-8)


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_slopes_of_the_distance(kind):
    model = KernelPCA(5, **EVERY_KIND[kind]).fit(DIGITS[:100])
    space = space_of(model)
    C = space.coefficients(model.transform(DIGITS[200:203]))
    X = space.local(DIGITS[300:303] + 0.01)
    _, gradients = space.features.discrepancy(X, C)
    rng, h = np.random.default_rng(0), 1e-6
    for _ in range(3):
        v = rng.standard_normal(X.shape)
        up, down = (space.features.discrepancy(X + s * h * v, C)[0] for s in (1, -1))
        np.testing.assert_allclose((up - down) / (2 * h), (gradients * v).sum(axis=1), rtol=2e-4, atol=1e-7)


# each method meets the contract


METHODS = {
    "fixed point": (FixedPoint(), {"kernel": RBF(0.05)}),
    "fixed point on landmarks": (FixedPoint(), {"kernel": RBF(0.05), "approximation": Nystrom(80)}),
    "gradient": (Gradient(), {"kernel": RBF(0.05)}),
    "gradient of a polynomial": (Gradient(), {"kernel": Polynomial(2, 0.05, 1.0)}),
    "gradient on landmarks": (Gradient(), {"kernel": Cauchy(0.05), "approximation": Nystrom(80)}),
    "gradient on random features": (Gradient(), {"kernel": RBF(0.05), "approximation": RandomFourier(400)}),
    "ridge": (Ridge(0.01), {"kernel": RBF(0.05)}),
    "ridge on random features": (Ridge(0.01), {"kernel": RBF(0.05), "approximation": RandomFourier(400)}),
    "combination": (Combination(), {"kernel": Linear()}),
    "distances": (Distances(), {"kernel": RBF(0.05)}),
    "distances on landmarks": (Distances(), {"kernel": Polynomial(3, 0.05, 1.0), "approximation": Nystrom(80)}),
    "weights": (Weights(n_neighbors=20), {"kernel": RBF(0.05)}),
    "weights on landmarks": (Weights("inverse"), {"kernel": RBF(0.05), "approximation": Nystrom(80)}),
    "invertible": (Invertible(0.1), {"kernel": RBF(0.01), "approximation": RandomFourier(2000, form="sin")}),
    "invertible pairs": (Invertible(0.1), {"kernel": RBF(0.01), "approximation": RandomFourier(2000)}),
}


@pytest.fixture(params=METHODS, scope="module")
def case(request):
    return METHODS[request.param]


@pytest.fixture(scope="module")
def method(case):
    return case[0]


@pytest.fixture(scope="module")
def X():
    return DIGITS[:200]


@pytest.fixture(scope="module")
def new():
    return DIGITS[300:312]


@pytest.fixture(scope="module")
def model(case, X):
    return KernelPCA(15, preimage=case[0], **case[1]).fit(X)


class TestEveryMethod(PreimageContract):
    def test_every_parameter_is_a_parameter(self, model, method):
        assert as_preimage(method) is method
        assert model.preimage_.get_params() == method.get_params()


# the linear kernel


@pytest.mark.parametrize("settings_of", [{}, {"approximation": Nystrom(100)}], ids=str)
def test_the_linear_kernel_gives_the_inverse_of_pca(settings_of):
    X, new = DIGITS[:100], DIGITS[200:220]
    model = KernelPCA(10, kernel="linear", **settings_of).fit(X)
    pca = sklearn.decomposition.PCA(10).fit(X)
    assert isinstance(model.preimage_, Combination)
    np.testing.assert_allclose(model.denoise(new), pca.inverse_transform(pca.transform(new)), atol=1e-8)
    signs = np.sign((model.transform(new) * pca.transform(new)).sum(axis=0))
    Z = np.random.default_rng(0).standard_normal((4, 10))
    np.testing.assert_allclose(model.inverse_transform(Z), pca.inverse_transform(Z * signs), atol=1e-8)


def test_gradient_finds_the_inverse_of_pca_too():
    X, new = DIGITS[:100], DIGITS[200:210]
    exact = KernelPCA(10, kernel="linear").fit(X).denoise(new)
    np.testing.assert_allclose(
        KernelPCA(10, kernel="linear", preimage=Gradient(tol=1e-12)).fit(X).denoise(new), exact, atol=1e-5
    )


def test_without_centring_nothing_is_added():
    X, new = DIGITS[:100], DIGITS[200:210]
    model = KernelPCA(10, kernel="linear", center=False).fit(X)
    axes = np.linalg.svd(X, full_matrices=False)[2][:10]
    np.testing.assert_allclose(model.denoise(new), new @ axes.T @ axes, atol=1e-8)


# the fixed point


def test_a_step_is_that_of_the_paper():
    X = IRIS[::15]
    model = KernelPCA(3, kernel=RBF(0.3)).fit(X)
    space = space_of(model)
    new = IRIS[7:10] + 0.1
    target = Target(space, model.transform(new))
    found = pull(target, space.local(new), np.arange(3))
    for i in range(3):
        step = reference.fixed_point_step(new[i], X, target.coefficients[i], 0.3)
        np.testing.assert_allclose(found.goal[i] + space.origin, step, atol=1e-8)
    np.testing.assert_allclose(found.rho, judge(space, space.local(new), target.Z)[0] ** 2, atol=1e-10)


@pytest.mark.parametrize("kernel", [*RADIAL, Laplacian(0.2, norm="euclidean")], ids=str)
@pytest.mark.parametrize("center", [True, False])
def test_the_slope_is_zero_at_the_fixed_point(kernel, center):
    model = KernelPCA(10, kernel=kernel, center=center, preimage=FixedPoint(tol=1e-13, max_iter=2000)).fit(DIGITS[:150])
    space = space_of(model)
    Z = model.transform(DIGITS[300:306])
    found = model.invert(Z)
    assert found.converged.all()
    C = space.coefficients(Z)
    _, at_start = space.features.discrepancy(space.samples[:6], C)
    _, at_end = space.features.discrepancy(space.local(found.points), C)
    assert np.linalg.norm(at_end) < 1e-3 * np.linalg.norm(at_start)


@pytest.mark.parametrize("kernel", RADIAL, ids=str)
def test_fixed_point_and_descent_agree(kernel):
    X, new = DIGITS[:150], DIGITS[300:320]
    by_steps = KernelPCA(20, kernel=kernel, preimage=FixedPoint(tol=1e-9)).fit(X)
    by_descent = KernelPCA(20, kernel=kernel, preimage=Gradient(tol=1e-9)).fit(X)
    Z = by_steps.transform(new)
    a, b = by_steps.invert(Z).distance, by_descent.invert(Z).distance
    assert (b <= a * (1 + 1e-4)).all()
    assert (a <= b * 1.05).all()


@pytest.mark.parametrize("start", ["auto", "nearest", "mean"])
def test_starts(start):
    model = KernelPCA(20, kernel=RBF(0.05), preimage=FixedPoint(start=start, tol=1e-10)).fit(DIGITS[:150])
    Z = model.transform(DIGITS[300:310])
    auto = KernelPCA(20, kernel=RBF(0.05), preimage=FixedPoint(tol=1e-10)).fit(DIGITS[:150])
    np.testing.assert_allclose(model.inverse_transform(Z), auto.inverse_transform(Z), atol=1e-3)


def test_a_start_where_nothing_pulls_starts_again():
    """All kernel values underflow at the reference: the iteration goes on from the nearest sample."""
    model = KernelPCA(10, kernel=RBF(1.0), preimage=FixedPoint(tol=1e-10)).fit(DIGITS[:150])
    Z = model.transform(DIGITS[:5])
    far = model.invert(Z, reference=np.full((5, 64), 1e3))
    near = model.invert(Z)
    assert far.converged.all()
    np.testing.assert_allclose(far.points, near.points, atol=1e-4)
    hopeless = KernelPCA(10, kernel=RBF(1.0), preimage=FixedPoint(max_restarts=0)).fit(DIGITS[:150])
    with pytest.warns(ConvergenceWarning, match="5 of 5 answers .* try another method"):
        stranded = hopeless.invert(Z, reference=np.full((5, 64), 1e3))
    assert not stranded.converged.any()
    np.testing.assert_array_equal(stranded.points, np.full((5, 64), 1e3))


def test_the_best_point_is_the_answer():
    """However a run ends, no point that it saw is nearer than its answer."""
    model = KernelPCA(40, kernel=RBF(0.5), preimage=FixedPoint(max_iter=30)).fit(DIGITS[:150])
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((20, 40)) * np.sqrt(model.explained_variance_)  # no image is near such a point
    start = judge(
        space_of(model), Target(space_of(model), Z).space.samples[Target(space_of(model), Z).nearest(1)[:, 0]], Z
    )[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert (model.invert(Z).distance <= start * (1 + 1e-9)).all()


# descent


def test_rows_are_minimized_side_by_side():
    centers = np.random.default_rng(0).standard_normal((8, 5)) * 3
    scales = np.array([1.0, 10.0, 100.0, 0.1, 5.0])

    def bowls(X, rows):
        off = X - centers[rows]
        return (scales * off**2).sum(axis=1), 2 * scales * off

    free, limit = np.full(5, np.inf), np.array([0.5] * 5)
    found = minimize(bowls, np.zeros((8, 5)), -free, free, tol=1e-14, max_iter=200, floor=np.zeros(8))
    np.testing.assert_allclose(found.points, centers, atol=1e-5)
    assert found.converged.all()
    held = minimize(bowls, np.zeros((8, 5)), -limit, limit, tol=1e-14, max_iter=200, floor=np.zeros(8))
    np.testing.assert_allclose(held.points, np.clip(centers, -0.5, 0.5), atol=1e-5)


def test_curved_valleys_as_well_as_scipy():
    rng = np.random.default_rng(1)
    starts = rng.uniform(-1.5, 1.5, (10, 4))
    low, high = np.full(4, -2.0), np.array([0.8, 2.0, 2.0, 2.0])

    def valleys(X, rows):
        return np.array([rosen(x) for x in X]), np.array([rosen_der(x) for x in X])

    ours = minimize(valleys, starts, low, high, tol=1e-12, max_iter=500, floor=np.zeros(10))
    bounds = list(zip(low, high, strict=True))
    theirs = [scipy_minimize(rosen, x, jac=rosen_der, method="L-BFGS-B", bounds=bounds).fun for x in starts]
    assert (ours.values <= np.array(theirs) * (1 + 1e-3) + 1e-6).all()
    assert (ours.points <= high).all()


def test_a_step_that_the_bounds_bend_upwards_is_no_descent():
    def slope(X, rows):
        gradients = np.column_stack([np.full(len(X), 1e6), 1 / (1 + X[:, 1] ** 2)])
        return 1e6 * X[:, 0] + np.arctan(X[:, 1]), gradients

    x = np.array([[1e-9, 0.0]])
    f, g = slope(x, np.arange(1))
    p = np.array([[-1.0, 9e5]])  # downhill, but for the bound that leaves only its second part
    assert (g * p).sum() < 0
    found = _search(slope, np.arange(1), x, f, g, p, (np.zeros(2), np.full(2, np.inf)))
    assert found.f[0] <= f[0]


def test_a_row_that_is_cut_off_says_so():
    def valleys(X, rows):
        return np.array([rosen(x) for x in X]), np.array([rosen_der(x) for x in X])

    free = np.full(4, np.inf)
    found = minimize(valleys, np.full((2, 4), -1.0), -free, free, tol=1e-12, max_iter=3, floor=np.zeros(2))
    assert not found.converged.any()
    np.testing.assert_array_equal(found.iterations, 3)


@pytest.mark.parametrize("bounds", [None, (0.0, 0.5)])
@pytest.mark.parametrize("kernel", [RBF(0.05), Polynomial(3, 0.05, 1.0), RBF(0.05) + 0.01 * Linear()], ids=str)
def test_descent_is_as_good_as_scipy(kernel, bounds):
    X, new = DIGITS[:100], DIGITS[300:305]
    model = KernelPCA(10, kernel=kernel, preimage=Gradient(tol=1e-9, bounds=bounds)).fit(X)
    space = space_of(model)
    Z = model.transform(new)
    found = model.invert(Z)
    C, squares = space.coefficients(Z), space.squared_norms(Z)
    origin = np.broadcast_to(space.origin, 64)
    limits = None if bounds is None else [(a, b) for a, b in zip(bounds[0] - origin, bounds[1] - origin, strict=True)]
    for i in range(len(Z)):

        def squared(x, i=i):
            value, slope = space.features.discrepancy(x[None], C[i : i + 1])
            return value[0] + squares[i], slope[0]

        start = space.samples[Target(space, Z).nearest(1)[i, 0]]
        best = scipy_minimize(squared, start, jac=True, method="L-BFGS-B", bounds=limits, options={"ftol": 1e-14}).fun
        assert found.distance[i] ** 2 <= best * (1 + 1e-4) + 1e-12


def test_descent_on_histograms_stays_nonnegative():
    X = DIGITS[:120] + 0.01
    model = KernelPCA(8, kernel="chi2").fit(X)
    assert isinstance(model.preimage_, Gradient)
    found = model.invert(model.transform(X[:5]))
    assert (found.points >= 0).all()
    assert (found.reliability > 0.8).all()


def test_random_features_without_samples_start_somewhere():
    model = KernelPCA(30, kernel=RBF(0.01), approximation=RandomFourier(2000)).fit(DIGITS[:300])
    assert isinstance(model.preimage_, Gradient)
    found = model.invert(model.transform(DIGITS[300:310]))
    assert np.median(found.reliability) > 0.9


# laws


@pytest.mark.parametrize("method", [FixedPoint(tol=1e-10), Gradient(tol=1e-10)], ids=repr)
def test_a_sample_comes_back_where_all_components_are_kept(method):
    X = DIGITS[:60]
    model = KernelPCA(59, kernel=RBF(0.05), preimage=method, solver="dense").fit(X)
    found = model.invert(model.transform(X))
    np.testing.assert_allclose(found.points, X, atol=1e-5)
    assert (found.distance < 1e-5).all()
    assert (found.reliability > 1 - 1e-9).all()


@pytest.mark.filterwarnings("ignore:.*had not converged")
@given(seed=st.integers(0, 10**6), shift=st.floats(-100, 100))
@settings(max_examples=15, deadline=None)
def test_moving_and_turning_the_data_moves_and_turns_the_answers(seed, shift):
    rng = np.random.default_rng(seed)
    X, new = rng.standard_normal((40, 4)), rng.standard_normal((6, 4))
    Q = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    for method in (FixedPoint(tol=1e-9), Gradient(tol=1e-9)):
        plain = KernelPCA(5, kernel=RBF(0.3), preimage=method).fit(X)
        moved = KernelPCA(5, kernel=RBF(0.3), preimage=method).fit(X @ Q + shift)
        a, b = plain.invert(plain.transform(new)), moved.invert(moved.transform(new @ Q + shift))
        np.testing.assert_allclose(a.distance, b.distance, rtol=1e-3, atol=1e-6)
        same = np.abs(a.distance - b.distance) < 1e-7  # of two minima of equal depth either may be found
        np.testing.assert_allclose((a.points @ Q + shift)[same], b.points[same], atol=0.05)


@pytest.mark.parametrize(
    ("method", "kernel"),
    [
        (FixedPoint(tol=1e-10), RBF(1e-3)),
        (Gradient(tol=1e-10), RBF(1e-3)),
        (Gradient(tol=1e-10), RBF(1e-3) + Linear()),
        (Distances(), RBF(1e-3)),
        (Weights(tol=1e-10), RBF(1e-3)),
    ],
    ids=repr,
)
@pytest.mark.parametrize("with_reference", [True, False])
def test_long_rows_are_worked_on_in_their_span(method, kernel, with_reference):
    rng = np.random.default_rng(0)
    X, new = rng.standard_normal((20, 300)) + 5, rng.standard_normal((4, 300)) + 5
    model = KernelPCA(6, kernel=kernel, preimage=method).fit(X)
    space = space_of(model)
    assert space.narrow is not None
    assert space.narrow.space.samples.shape[1] <= 21
    Z, given_too = model.transform(new), new if with_reference else None
    narrow = model.invert(Z, reference=given_too)
    method_of_the_model = model._inverse.method
    type(method_of_the_model).rotates, before = False, type(method_of_the_model).rotates
    try:
        wide = model.invert(Z, reference=given_too)
    finally:
        type(method_of_the_model).rotates = before
    np.testing.assert_allclose(narrow.distance, wide.distance, rtol=1e-4)
    np.testing.assert_allclose(narrow.points, wide.points, atol=0.05)
    entered = space.narrow.enter(space.local(new))
    back = space.narrow.leave(entered, space.local(new), entered)
    np.testing.assert_allclose(back, space.local(new), atol=1e-8)
    np.testing.assert_allclose(space.narrow.space.project(entered)[0], space.project(space.local(new))[0], atol=1e-9)


def test_little_memory_gives_the_same_answers():
    X, new = DIGITS[:300], DIGITS[300:340]
    ample = KernelPCA(10, kernel=RBF(0.05), preimage="fixed_point").fit(X)
    tight = KernelPCA(10, kernel=RBF(0.05), preimage="fixed_point", memory_limit="3MB").fit(X)
    tight._inverse.space = replace(space_of(tight), budget=100_000)
    np.testing.assert_allclose(tight.denoise(new), ample.denoise(new), atol=1e-3)


def test_denoising_brings_digits_back():
    rng = np.random.default_rng(0)
    train, test = DIGITS[:1000], DIGITS[1000:]
    noisy = test + rng.normal(0, 0.25, test.shape)
    for method in (Ridge(0.01), "fixed_point", "gradient"):
        model = KernelPCA(30, kernel=RBF(0.03), preimage=method).fit(train)
        cleaned = model.denoise(noisy)
        assert np.square(cleaned - test).mean() < 0.5 * np.square(noisy - test).mean(), method


def test_all_come_nearer_than_the_nearest_sample():
    """And none nearer than descent; the fixed point comes as near."""
    train, test = DIGITS[:400], DIGITS[1000:1100]
    kernel = RBF(0.05)
    distances = {}
    for name in ("fixed_point", "gradient", "ridge", "distances", "weights"):
        model = KernelPCA(20, kernel=kernel, preimage=name).fit(train)
        Z = model.transform(test)
        distances[name] = np.square(model.invert(Z).distance).mean()
    nearest = space_of(model).from_samples(Z).min(axis=1).mean()
    assert max(distances.values()) < nearest
    assert distances["gradient"] <= min(distances.values()) * (1 + 1e-6)
    assert distances["fixed_point"] <= 1.05 * distances["gradient"]


def test_reconstruction_errors():
    model = KernelPCA(10, kernel=RBF(0.05), preimage="fixed_point").fit(DIGITS[:200])
    new = DIGITS[300:320]
    errors, points = model.reconstruction_error(new), model.denoise(new)
    np.testing.assert_allclose(errors.input, np.square(points - new).sum(axis=1), rtol=1e-6)
    np.testing.assert_allclose(errors.projection, model.residuals(new), rtol=1e-6)
    Z = model.transform(new)
    distances = model.residuals(points) + np.square(model.transform(points) - Z).sum(axis=1)
    np.testing.assert_allclose(errors.feature, distances, rtol=1e-6)


def test_sample_weights_count():
    X = DIGITS[:80]
    weights = np.ones(80)
    weights[:20] = 2.0
    weighted = KernelPCA(6, kernel=RBF(0.05), preimage="fixed_point").fit(X, sample_weight=weights)
    repeated = KernelPCA(6, kernel=RBF(0.05), preimage="fixed_point").fit(np.vstack([X, X[:20]]))
    new = DIGITS[200:210]
    np.testing.assert_allclose(weighted.denoise(new), repeated.denoise(new), atol=1e-6)


# what went wrong once


def test_indefinite_kernels_have_no_descent():
    """Squared distances of an indefinite kernel have no least value."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KernelPCA(3, kernel="sigmoid").fit(IRIS)
        assert isinstance(model.preimage_, Ridge)
        assert np.median(model.invert(model.transform(IRIS)).reliability) > 0.3
        with pytest.raises(ValueError, match="needs a positive definite kernel"):
            KernelPCA(3, kernel="sigmoid", preimage="gradient").fit(IRIS)
        found = KernelPCA(3, kernel="sigmoid", preimage="weights").fit(IRIS).invert(np.full((1, 3), 5.0))
    assert np.isnan(found.distance[0]) or found.distance[0] > 0  # never a false zero


def test_slopes_without_a_bound_at_zero():
    """The Hellinger kernel's feature space is the square roots: where all components are kept, inputs come back."""
    P = np.random.default_rng(0).dirichlet(np.ones(6), 250)
    model = KernelPCA(6, kernel="hellinger").fit(P[:200])
    found = model.invert(model.transform(P[200:]))
    assert found.converged.all()
    np.testing.assert_allclose(found.points, P[200:], atol=1e-3)


def test_a_search_that_fails_has_not_converged():
    def cusp(X, rows):  # the gradient leads nowhere
        return np.abs(X).sum(axis=1), -np.sign(X) - 0.5

    free = np.full(3, np.inf)
    found = minimize(cusp, np.ones((2, 3)), -free, free, tol=1e-6, max_iter=50, floor=np.zeros(2))
    assert not found.converged.any()


@pytest.mark.parametrize("kernel", [Matern(0.5), Laplacian("median", norm="euclidean")], ids=repr)
def test_cusps_do_not_hold_scores_at_samples(kernel):
    model = KernelPCA(10, kernel=kernel, preimage="fixed_point").fit(DIGITS[:200])
    best = KernelPCA(10, kernel=kernel, preimage="gradient").fit(DIGITS[:200])
    Z = model.transform(DIGITS[300:330])
    assert (model.invert(Z).distance <= best.invert(Z).distance * 1.05).all()


@pytest.mark.filterwarnings("ignore:.*had not converged")
def test_plateaus_are_no_fixed_points():
    """Where the kernel is narrow and a reference far, distances hardly change at first; descent gains nothing after."""
    rng = np.random.default_rng(0)
    noisy = DIGITS[600:700] + rng.normal(0, 0.35, (100, 64))
    model = KernelPCA(40, kernel=RBF(1.0), preimage="fixed_point").fit(DIGITS[:500])
    space, Z = space_of(model), model.transform(noisy)
    found = model.invert(Z, noisy)
    C, squares = space.coefficients(Z), space.squared_norms(Z)

    def squared(X, rows):
        values, gradients = space.features.discrepancy(X, C[rows])
        return values + squares[rows], gradients

    free = np.full(64, np.inf)
    start = space.local(found.points[found.converged])
    rows = np.flatnonzero(found.converged)
    lower = minimize(
        lambda X, some: squared(X, rows[some]), start, -free, free, tol=1e-9, max_iter=300, floor=np.zeros(len(rows))
    )
    assert found.converged.mean() > 0.9
    assert (lower.values > 0.999 * found.distance[rows] ** 2).mean() > 0.95


def test_rows_are_kept_where_they_are_needed_only():
    landmarks = KernelPCA(3, approximation=Nystrom(50), preimage="gradient").fit(DIGITS[:200])
    assert space_of(landmarks).rows is None
    random = KernelPCA(3, approximation=RandomFourier(50), preimage="gradient").fit(DIGITS[:200])
    assert space_of(random).rows.shape == (200, 64)
    assert random.preimage_.numbers_per_row(space_of(random)) > 4 * 200


def test_asking_for_the_method_trains_nothing():
    model = KernelPCA(3, kernel="laplacian").fit(DIGITS[:100])
    assert isinstance(model.preimage_, Ridge)
    assert not hasattr(model.preimage_, "ridge_")
    assert not hasattr(KernelPCA(2, kernel="precomputed").fit(DIGITS[:9] @ DIGITS[:9].T), "preimage_")


@pytest.mark.parametrize("ask", ["inverse_transform", "invert", "denoise", "reconstruction_error"])
@pytest.mark.parametrize("method", [FixedPoint(max_iter=1), Gradient(max_iter=1), Weights(max_iter=1)], ids=repr)
def test_answers_that_had_not_converged_are_counted_once(method, ask):
    """However many blocks there are, there is one warning, which counts all rows and points at the caller."""
    model = KernelPCA(5, kernel=RBF(0.05), preimage=method).fit(DIGITS[:200])
    rows = DIGITS[200:]
    given = rows if ask in ("denoise", "reconstruction_error") else model.transform(rows)
    with pytest.warns(ConvergenceWarning) as caught:
        getattr(model, ask)(given)
    name = type(method).__name__
    assert [str(one.message) for one in caught] == [
        f"{len(rows)} of {len(rows)} answers had not converged when {name} stopped; invert(Z).converged tells which. "
        f"{len(rows)} took all steps that max_iter=1 allows: raise it, as in {name}(max_iter=10)."
    ]
    assert caught[0].filename == __file__


def test_a_number_of_steps_that_was_asked_for_is_no_reason_to_warn():
    model = KernelPCA(5, kernel=RBF(0.05), preimage=FixedPoint(max_iter=3, tol=0)).fit(DIGITS[:200])
    assert not model.invert(model.transform(DIGITS[:5])).converged.any()


def test_names_of_a_reference_are_checked():
    frame = pd.DataFrame(IRIS, columns=list("abcd"))
    model = KernelPCA(2, preimage="fixed_point").fit(frame)
    Z = model.transform(frame)
    with pytest.raises(ValueError, match="feature names"):
        model.inverse_transform(Z, reference=frame[list("dcba")])


@pytest.mark.filterwarnings("ignore:.*had not converged")
def test_bounds_hold_to_the_last_digit():
    for dtype in (np.float64, np.float32):
        X = DIGITS[:150].astype(dtype)
        model = KernelPCA(10, kernel=RBF(0.05), preimage=FixedPoint(bounds=(0.1, 0.7))).fit(X)
        points = model.denoise(X)
        assert points.min() >= dtype(0.1)
        assert points.max() <= dtype(0.7)


# which method, and which not


@pytest.mark.filterwarnings("ignore:.*had not converged")
@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"kernel": "linear"}, Combination),
        ({"kernel": "rbf"}, Gradient),
        ({"kernel": "polynomial", "approximation": Nystrom(50)}, Gradient),
        ({"kernel": "laplacian"}, Ridge),
        ({"kernel": lambda x, y: float(x @ y)}, Ridge),
        ({"kernel": "laplacian", "approximation": RandomFourier(100)}, Gradient),
    ],
    ids=["linear", "rbf", "landmarks", "no slopes", "function", "random features"],
)
def test_without_a_method_the_best_is_taken(params, expected):
    model = KernelPCA(3, **params).fit(DIGITS[:80])
    found = model.invert(model.transform(DIGITS[100:103]))
    assert type(model.preimage_) is expected
    assert found.method.startswith(expected.__name__)
    assert found.points.shape == (3, 64)


def test_methods_that_do_not_fit_name_those_that_do():
    with pytest.raises(ValueError, match=r"FixedPoint.* needs a kernel of the Euclidean distance.*: .*gradient.*ridge"):
        KernelPCA(2, kernel="polynomial", preimage="fixed_point").fit(DIGITS[:50])
    with pytest.raises(ValueError, match=r"FixedPoint.*random features do not.*work with this model: .*gradient"):
        KernelPCA(2, approximation=RandomFourier(50), preimage="fixed_point").fit(DIGITS[:50])
    with pytest.raises(ValueError, match=r"Gradient.* needs a kernel that can be differentiated"):
        KernelPCA(2, kernel="laplacian", preimage="gradient").fit(DIGITS[:50])
    with pytest.raises(ValueError, match=r"Combination.* needs the linear kernel"):
        KernelPCA(2, preimage="combination").fit(DIGITS[:50])


def test_pre_images_that_cannot_be():
    X = DIGITS[:50]
    with pytest.raises(ValueError, match=r"preimage='magic' stands for no preimage. Known names: .*ridge"):
        KernelPCA(2, preimage="magic").fit(X)
    with pytest.raises(ValueError, match=r"write FixedPoint\(\), with parentheses"):
        KernelPCA(2, preimage=FixedPoint).fit(X)
    with pytest.raises(ValueError, match="needs numeric inputs"):
        KernelPCA(2, kernel="precomputed", preimage="ridge").fit(np.eye(4))
    with pytest.raises(ValueError, match="no way back"):
        KernelPCA(2, kernel="precomputed").fit(X @ X.T).inverse_transform(np.zeros((1, 2)))
    with pytest.raises(TypeError, match="comes back to dense rows"):
        KernelPCA(2, preimage="ridge").fit(sparse.csr_array(X))
    with pytest.raises(ValueError, match="no way back"):
        KernelPCA(2).fit(sparse.csr_array(X)).inverse_transform(np.zeros((1, 2)))


def test_scores_far_outside_are_answered_with_a_warning():
    model = KernelPCA(5, kernel=RBF(0.05)).fit(DIGITS[:200])
    far = 100 * model.transform(DIGITS[:3])
    with pytest.warns(UserWarning, match=r"3 of 3 answers have a reliability below 0.1"):
        found = model.invert(far)
    assert (found.reliability < 0.1).all()
    assert np.isfinite(found.points).all()
    with pytest.warns(UserWarning, match=r"reliability below 0.1"):
        model.inverse_transform(far)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.inverse_transform(model.transform(DIGITS[:200]))


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (FixedPoint(bounds=(1, 0)), r"the lower limit must not be above the upper one"),
        (Gradient(bounds=(1, 0)), r"the lower limit must not be above the upper one"),
        (Gradient(bounds=0.5), r"bounds are two limits. Give \(low, high\)"),
        (Gradient(bounds=("a", 1)), r"each limit is a number or has one for each of 64 columns"),
        (Gradient(bounds=(np.zeros(3), None)), r"one for each of 64 columns"),
        (Gradient(bounds=(np.nan, 1)), r"the lower limit must not be above"),
        (FixedPoint(max_iter=0), r"max_iter must be a whole number >= 1"),
        (FixedPoint(tol=-1), r"tol must be a number from 0 to below 1"),
        (FixedPoint(start="somewhere"), r"start must be one of 'auto'"),
        (FixedPoint(start="reference"), r"needs one: give inverse_transform\(Z, reference=X\)"),
        (FixedPoint(max_restarts=-1), r"max_restarts must be a whole number >= 0"),
        (Ridge(-1.0), r"ridge must be a number >= 0"),
    ],
    ids=repr,
)
def test_bad_parameters(method, message):
    with pytest.raises(ValueError, match=message):
        KernelPCA(2, preimage=method).fit(DIGITS[:50]).inverse_transform(np.zeros((1, 2)))


def test_limits_of_each_column():
    low, high = np.zeros(64), np.linspace(0.1, 1, 64)
    model = KernelPCA(10, kernel=RBF(0.05), preimage=Gradient(bounds=(low, high))).fit(DIGITS[:150])
    points = model.denoise(DIGITS[200:210])
    assert (points >= low - 1e-12).all()
    assert (points <= high + 1e-12).all()
    nonnegative = KernelPCA(10, kernel=RBF(0.05), preimage=Gradient(bounds=(0, None))).fit(DIGITS[:150])
    assert (nonnegative.denoise(DIGITS[200:210]) >= 0).all()


def test_every_name_stands_for_a_method():
    for name, kind in PREIMAGES.items():
        assert isinstance(as_preimage(name), kind)
    assert as_preimage("weights") == Weights()
