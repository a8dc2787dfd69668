"""How kernels change with their first sample, and what their values tell of distances and dot products.

Every kernel under the contract meets its naive twin there; here are combinations, singular points, laws and limits.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.gaussian_process import kernels as gp

from kernelpca.kernels import (
    KERNELS,
    RBF,
    AdditiveChiSquare,
    ArcCosine,
    Cauchy,
    ChiSquare,
    Cosine,
    Custom,
    ExponentialChiSquare,
    Hellinger,
    HistogramIntersection,
    JensenShannon,
    Laplacian,
    Linear,
    Matern,
    Outer,
    Polynomial,
    Precomputed,
    RationalQuadratic,
    Sigmoid,
    Spectrum,
    as_kernel,
)
from kernelpca.kernels.inverse import EPS, minus_log
from kernelpca.kernels.less_one import LessOne
from reference import gradient_of_kernel_sum

law = settings(deadline=None, max_examples=40, derandomize=True)

NUS = (0.2, 0.5, 0.7, 1.0, 1.000001, 1.2, 1.5, 2.5, 3.3, 49.9, 50.5, 51.3, 1e3)
EUCLIDEAN = Laplacian(0.4, norm="euclidean")
WITHOUT = {  # names of kernels that have no gradient
    "laplacian",
    "histogram_intersection",
    "generalized_histogram_intersection",
    "spectrum",
    "subsequence",
    "precomputed",
}
RADIAL = [
    RBF(0.3),
    EUCLIDEAN,
    *(Matern(nu, 0.3) for nu in NUS),
    Cauchy(0.3),
    RationalQuadratic(0.7, 0.3),
    RBF(0.3) + Cauchy(0.2),
    RBF(0.3) * EUCLIDEAN,
    -2 * RBF(0.3) + 3,
    LessOne(RBF(0.3)),
    LessOne(EUCLIDEAN),
    LessOne(Cauchy(0.2)),
    (2 * RBF(0.3) + 1).normalize(),
    Matern(2.5, 0.2).rbf(0.5),
]
ROTATABLE = [
    Linear(),
    Polynomial(1, 0.5, 1.5),
    Polynomial(2, 0.5, 1.5),
    Polynomial(5, 0.2, -0.5),
    Polynomial(2.5, 0.1, 9.0),
    Polynomial(0.5, 0.1, 9.0),
    Sigmoid(0.3, -0.5),
    Cosine(),
    ArcCosine(1),
    Linear() + RBF(0.3),
    Linear() * Cauchy(0.3),
    Polynomial(2, 0.5, 1.0) * ArcCosine(1) + 2.0,
    3 * Cosine() * Sigmoid(0.3, 0.1),
    Polynomial(2, 0.5, 1.0).normalize(),
    (RBF(0.3) + Linear()).normalize(),
    Linear().rbf(0.2),
    Sigmoid(0.3, 0.1).rbf(0.4),
    (ArcCosine(1) * 2 + RBF(0.3)).rbf(0.1).normalize() * Linear(),
    *RADIAL,
]
HISTOGRAM = [
    ChiSquare(),
    AdditiveChiSquare(),
    ExponentialChiSquare(0.4),
    Hellinger(),
    JensenShannon(),
    ChiSquare() + RBF(0.3),
    Hellinger() * Cauchy(0.3),
    JensenShannon() * ChiSquare() * 2 + 1.0,
    -0.5 * Hellinger(),
    ChiSquare().normalize(),
    (JensenShannon() + Linear()).normalize(),
    Hellinger().rbf(0.5),
    AdditiveChiSquare().rbf(0.5),
    (ExponentialChiSquare(0.2) * Polynomial(2, 0.1, 1.0)).rbf(0.3),
]
SMOOTH = ROTATABLE + HISTOGRAM


def samples(n, seed, d=3):
    """Rows that lie in every domain, away from zero and from each other."""
    return 0.2 + np.abs(np.random.default_rng(seed).standard_normal((n, d)))


def pair(kernel):
    return lambda x, y: kernel(x[None], y[None], threads=1)[0, 0]


def assert_close(ours, truth, rtol, least=1.0):
    np.testing.assert_allclose(ours, truth, rtol=rtol, atol=rtol * max(np.abs(truth).max(), least))


def short(value):
    return repr(value)[:70]


# gradients are those of finite differences


@pytest.mark.parametrize("kernel", SMOOTH, ids=short)
def test_gradients_are_finite_differences(kernel):
    X, Y, C = samples(4, 0), samples(5, 1), np.random.default_rng(2).standard_normal((4, 5))
    assert kernel.differentiable
    sums, gradients = kernel.pull(X, Y, C)
    np.testing.assert_allclose(sums, (C * kernel(X, Y)).sum(axis=1), rtol=1e-10, atol=1e-12)
    assert_close(gradients, gradient_of_kernel_sum(pair(kernel), X, Y, C), rtol=1e-6)
    own = [gradient_of_kernel_sum(lambda x, _: kernel.diag(x[None])[0], [x], [x], np.eye(1))[0] for x in X]
    assert_close(kernel.pull_diagonal(X), np.array(own), rtol=1e-6)
    single = [array.astype(np.float32) for array in (X, Y, C)]
    for ours, truth in zip(kernel.pull(*single), (sums, gradients), strict=True):
        assert ours.dtype == np.float32
        assert_close(ours, truth, rtol=2e-3 if isinstance(kernel, Matern) and kernel.nu > 100 else 1e-4)
    assert kernel.pull_diagonal(single[0]).dtype == np.float32


@pytest.mark.parametrize("name", KERNELS)
def test_every_name_has_gradients_or_says_who_has(name):
    kernel = as_kernel(name)
    assert kernel.differentiable == (name not in WITHOUT)
    if kernel.differentiable:
        X, Y, C = samples(4, 0), samples(5, 1), np.random.default_rng(2).standard_normal((4, 5))
        kernel = kernel.resolve(Y)
        assert_close(kernel.pull(X, Y, C)[1], gradient_of_kernel_sum(pair(kernel), X, Y, C), rtol=1e-6)


@pytest.mark.parametrize("nu", [0.5, 0.9, 1.0, 1.5, 2.5, 4.2])
def test_gradients_of_scikit_learns_functions(nu):
    X, Y, C = samples(4, 0), samples(5, 1), np.random.default_rng(2).standard_normal((4, 5))
    length = 1.3
    gamma = 1 / (2 * length**2)
    for ours, theirs in (
        (Matern(nu, gamma), gp.Matern(length, nu=nu)),
        (RationalQuadratic(nu, gamma), gp.RationalQuadratic(length, alpha=nu)),
        (RBF(gamma), gp.RBF(length)),
    ):
        truth = gradient_of_kernel_sum(lambda x, y, k=theirs: k(x[None], y[None])[0, 0], X, Y, C)
        assert_close(ours.pull(X, Y, C)[1], truth, rtol=1e-6)


@pytest.mark.parametrize("kernel", [k for k in RADIAL if hasattr(k, "fall")], ids=short)
def test_fall_is_the_derivative_of_the_profile(kernel):
    s = np.linspace(0.05, 6, 40)[None]
    values, ahead, behind = s.copy(), s + 1e-5, s - 1e-5
    for tile in (values, ahead, behind):
        kernel.profile(tile)
    np.testing.assert_allclose(kernel.fall(s.copy(), values), (behind - ahead) / 2e-5, rtol=1e-6, atol=1e-7)


def test_slopes_of_matern_tend_to_those_of_the_gaussian():
    X, Y = samples(6, 0), samples(5, 1)
    for nu in (1e3, 1e5, 1e6):
        ours, limit = Matern(nu, 0.3).slopes(X, Y), RBF(0.3).slopes(X, Y)
        np.testing.assert_allclose(ours.toward, limit.toward, atol=2 / nu)
        squared = Matern(nu, 0.3).distances_from(limit.values)
        np.testing.assert_allclose(squared, RBF(0.3).distances_from(limit.values), rtol=20 / nu)
    below, above = Matern(51.0, 0.3).slopes(X, Y), Matern(51.0 + 1e-9, 0.3).slopes(X, Y)  # Bessel and Debye
    np.testing.assert_allclose(below.toward, above.toward, rtol=1e-7)


@pytest.mark.parametrize("kernel", SMOOTH, ids=short)
def test_large_blocks_are_small_blocks(kernel):
    """Above a size exponentials are compiled code."""
    X, Y, C = samples(130, 0), samples(120, 1), np.random.default_rng(2).standard_normal((130, 120))
    sums, gradients = kernel.pull(X, Y, C)
    parts = [kernel.pull(X[:9], Y[j : j + 40], C[:9, j : j + 40]) for j in (0, 40, 80)]
    assert_close(sums[:9], sum(part[0] for part in parts), rtol=1e-10)
    assert_close(gradients[:9], sum(part[1] for part in parts), rtol=1e-10)


# slopes


@pytest.mark.parametrize("kernel", ROTATABLE, ids=short)
def test_slopes_and_pulls_of_parts_agree(kernel):
    X, Y, C = samples(4, 0), samples(5, 1), np.random.default_rng(2).standard_normal((4, 5))
    slopes = kernel.slopes(X, Y)
    assert kernel.rotatable
    assert kernel.radial == (kernel in RADIAL)
    assert (slopes.along is None) == kernel.radial
    np.testing.assert_allclose(slopes.values, kernel(X, Y), rtol=1e-11, atol=1e-13)
    for array in (slopes.values, slopes.toward, slopes.get_along()):
        assert array.shape == (4, 5)
        assert array.dtype == np.float64
        array[...] = 0  # fresh: nothing else depends on it
    sums, gradients = kernel.pull(X, Y, C)
    if hasattr(kernel, "combine_pulls"):
        other_sums, other_gradients = kernel.combine_pulls(X, Y, C)
        assert_close(other_sums, sums, rtol=1e-11)
        assert_close(other_gradients, gradients, rtol=1e-11)
    single = kernel.slopes(X.astype(np.float32), Y.astype(np.float32))
    assert {single.values.dtype, single.toward.dtype, single.get_along().dtype} == {np.dtype(np.float32)}


def test_input_is_not_modified():
    X, Y, C = samples(4, 0), samples(5, 1), np.random.default_rng(2).standard_normal((4, 5))
    values = np.linspace(-0.5, 1.5, 7)
    before = [array.copy() for array in (X, Y, C, values)]
    for kernel in SMOOTH:
        kernel.pull(X, Y, C)
        kernel.pull_diagonal(X)
        if kernel.tells_distance:
            assert not np.shares_memory(kernel.distances_from(values), values)
        if kernel.tells_product:
            assert not np.shares_memory(kernel.products_from(values), values)
    for array, copy in zip((X, Y, C, values), before, strict=True):
        np.testing.assert_array_equal(array, copy)


# singular points


def test_equal_rows_count_as_nearly_equal_where_slopes_have_no_bound():
    X = samples(1, 0)
    for dtype in (np.float64, np.float32):
        x, least = X.astype(dtype), np.sqrt(np.finfo(dtype).eps)
        assert EUCLIDEAN.slopes(x, x).toward[0, 0] == pytest.approx(0.4**2 / least, rel=1e-3)
        # z = sqrt(2 gamma) r for nu = 1/2: the same kernel
        toward = Matern(0.5, 0.4**2 / 2).slopes(x, x).toward[0, 0]
        assert toward == pytest.approx(0.4**2 / least, rel=1e-3)
        for nu in (0.1, 0.3, 0.999, 1.0):
            slopes = Matern(nu, 0.3).slopes(x, x)
            assert slopes.values[0, 0] == 1
            assert np.isfinite(slopes.toward).all()
    assert Matern(0.3, 0.3).slopes(X, X + 1e12).toward[0, 0] == 0
    assert Polynomial(0.5, 1.0, 0.0).slopes(0 * X, X).toward[0, 0] == pytest.approx(0.5 * EPS**-0.25)


def test_zero_rows_have_finite_slopes():
    X, zero = samples(3, 0), np.zeros((1, 3))
    assert not Cosine().pull(zero, X, np.ones((1, 3)))[1].any()
    np.testing.assert_allclose(ArcCosine(1).pull(zero, X, np.ones((1, 3)))[1], X.sum(axis=0)[None] / 2)
    assert not Linear().normalize().pull(zero, X, np.ones((1, 3)))[1].any()
    assert not ChiSquare().normalize().pull(zero, X, np.ones((1, 3)))[1].any()
    np.testing.assert_allclose(ArcCosine(1).pull(X[:1], X[:1], np.ones((1, 1)))[1], X[:1], rtol=1e-7)


@pytest.mark.parametrize("kernel", [ChiSquare(), AdditiveChiSquare(), ExponentialChiSquare(0.4)], ids=short)
def test_zero_entries_have_the_slope_to_the_right(kernel):
    x, h = np.array([[0.0, 0.0, 0.7]]), 1e-7
    Y = np.array([[0.0, 0.5, 0.2], [0.0, 0.0, 0.4]])
    C = np.array([[1.5, -0.4]])
    slope = [((kernel(x + h * e, Y) - kernel(x, Y)) * C).sum() / h for e in np.eye(3)]
    np.testing.assert_allclose(kernel.pull(x, Y, C)[1][0], slope, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kernel", [Hellinger(), JensenShannon()], ids=short)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_zero_entries_count_as_eps_where_slopes_have_no_bound(kernel, dtype):
    x, y = np.array([[0.0, 0.0]], dtype), np.array([[0.0, 0.5]], dtype)
    one = np.ones((1, 1), dtype)
    eps = np.finfo(dtype).eps
    expected = 0.5 * np.sqrt(0.5 / eps) if isinstance(kernel, Hellinger) else np.log2(1 + 0.5 / eps)
    np.testing.assert_allclose(kernel.pull(x, y, one)[1], [[0, expected]], rtol=1e-6)
    np.testing.assert_allclose(kernel.pull(x + eps, y, one)[1], [[0, expected]], rtol=1e-6)


def test_tiny_histograms_do_not_underflow():
    x, one = np.full((1, 2), 1e-200), np.ones((1, 1))
    np.testing.assert_allclose(ChiSquare().pull(x, x, one)[1], 0.25)
    np.testing.assert_allclose(AdditiveChiSquare().pull(x, 3 * x, one)[1], 1.25)


# laws

numbers = st.floats(0.125, 4, width=32).map(lambda x: round(x, 3))


@st.composite
def problems(draw):
    n, m, d = (draw(st.integers(1, 5)) for _ in range(3))
    X, Y = (draw(arrays(np.float64, (rows, d), elements=numbers)) for rows in (n, m))
    C, D = (draw(arrays(np.float64, (n, m), elements=st.floats(-2, 2, width=32))) for _ in range(2))
    return X, Y, C, D


@law
@given(problems(), st.sampled_from(SMOOTH))
def test_pull_is_linear_in_the_weights(problem, kernel):
    X, Y, C, D = problem
    both, first, second = (kernel.pull(X, Y, W) for W in (2 * C - D, C, D))
    for total, a, b in zip(both, first, second, strict=True):
        scale = 1e-9 * max(1.0, np.abs(a).max(), np.abs(b).max())
        # equal rows of kernels without a slope there have huge weights that cancel
        np.testing.assert_allclose(total, 2 * a - b, rtol=1e-7, atol=1e2 * scale)


@law
@given(problems(), st.sampled_from(SMOOTH))
def test_rows_are_pulled_one_by_one(problem, kernel):
    X, Y, C, _ = problem
    sums, gradients = kernel.pull(X, Y, C)
    for i in range(len(X)):
        alone = kernel.pull(X[i : i + 1], Y, C[i : i + 1])
        assert_close(alone[0], sums[i : i + 1], rtol=1e-7)
        assert_close(alone[1], gradients[i : i + 1], rtol=1e-7)


@law
@given(problems(), st.sampled_from(SMOOTH), st.sampled_from(SMOOTH))
def test_product_rule(problem, k1, k2):
    X, Y, C, _ = problem
    sums, gradients = (k1 * k2).pull(X, Y, C)
    first, second = k1.pull(X, Y, C * k2(X, Y)), k2.pull(X, Y, C * k1(X, Y))
    assert_close(sums, first[0], rtol=1e-9)
    assert_close(sums, second[0], rtol=1e-9)
    assert_close(gradients, first[1] + second[1], rtol=1e-6)


@law
@given(problems(), st.sampled_from(ROTATABLE), st.integers(0, 99))
def test_turning_all_samples_turns_the_gradients(problem, kernel, seed):
    X, Y, C, _ = problem
    d = X.shape[1]
    turn, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((d + 1, d)))
    turned, gradients = kernel.pull(X @ turn.T, Y @ turn.T, C), kernel.pull(X, Y, C)
    assert_close(turned[0], gradients[0], rtol=1e-7)
    assert_close(turned[1], gradients[1] @ turn.T, rtol=1e-6)


@law
@given(problems(), st.sampled_from(RADIAL))
def test_radial_kernels_do_not_pull_a_sample_toward_itself(problem, kernel):
    X, *_ = problem
    one = np.ones((1, 1))
    for x in X:
        assert np.abs(kernel.pull(x[None], x[None], one)[1]).max() <= 1e-12
        assert not kernel.pull_diagonal(x[None]).any()


@law
@given(problems(), st.sampled_from(SMOOTH))
def test_the_diagonal_changes_by_both_arguments(problem, kernel):
    """k is symmetric, so the gradient of k(x, x) is twice that of k(x, y) at y = x."""
    X, *_ = problem
    for x in X:
        twice = 2 * kernel.pull(x[None], x[None], np.ones((1, 1)))[1]
        np.testing.assert_allclose(kernel.pull_diagonal(x[None]), twice, rtol=1e-5, atol=1e-5)


# distances and dot products from values


@pytest.mark.parametrize("kernel", [k for k in RADIAL if k.tells_distance], ids=short)
def test_distances_come_back(kernel):
    distances = np.array([[0.03, 0.2, 0.7], [1.3, 2.9, 5.0]])
    values = kernel(np.zeros((1, 1)), distances.reshape(-1, 1)).reshape(2, 3)
    squared = kernel.distances_from(values)
    assert squared.shape == (2, 3)
    # near one, and where Debye's expansion is used, values say less of distances
    loose = isinstance(kernel, Matern) and kernel.nu not in (0.5, 1.5, 2.5)
    np.testing.assert_allclose(squared, distances**2, rtol=2e-8 if loose else 1e-10)
    again = kernel(np.zeros((1, 1)), np.sqrt(squared).reshape(-1, 1)).reshape(2, 3)
    np.testing.assert_allclose(again, values, rtol=1e-11)


@pytest.mark.parametrize("nu", NUS)
def test_matern_distances_are_accurate(nu):
    """The solution is exact to ten digits: from there the kernel falls by as much as it should."""
    kernel = Matern(nu, 1.0)
    values = np.array([0.9, 0.5, 0.1, 1e-3, 1e-8, 1e-15])
    squared = kernel.distances_from(values)
    for factor, falls in ((1 + 1e-10, True), (1 - 1e-10, False)):
        there = kernel(np.zeros((1, 1)), np.sqrt(squared * factor)[:, None])[0]
        slack = 1e-14 * values * (1 + nu if nu > 50 else 50)  # rounding of the kernel itself
        assert ((there < values + slack) if falls else (there > values - slack)).all()
    assert (np.diff(squared) > 0).all()


@pytest.mark.parametrize("kernel", [k for k in RADIAL if k.tells_distance], ids=short)
def test_values_that_no_distance_gives(kernel):
    top = kernel.diag(np.zeros((1, 1)))[0]
    bottom = -1.0 if isinstance(kernel, LessOne) else 0.0
    farthest = kernel.distances_from(np.array([bottom, bottom - 1.0, bottom - 1e6]))
    assert np.isfinite(farthest).all()
    assert (np.diff(farthest) == 0).all()
    assert farthest[0] > kernel.distances_from(np.array([0.5 * (bottom + top)]))[0]
    np.testing.assert_array_equal(kernel.distances_from(np.array([top, top + 1e-3, 1e9])), 0)


def test_values_below_eps_count_as_eps():
    for kernel in (RBF(0.3), EUCLIDEAN, Cauchy(0.3), RationalQuadratic(2.0, 0.3), Matern(1.5, 0.3)):
        expected = kernel.distances_from(np.array(EPS))
        assert kernel.distances_from(np.array(0.0)) == expected
        np.testing.assert_allclose((4 * kernel).distances_from(np.array([-1.0])), expected)
        np.testing.assert_allclose((4 * kernel + 3).distances_from(np.array([3.0])), expected)
    assert RBF(0.3).distances_from(np.array(0.0)) == pytest.approx(-np.log(EPS) / 0.3)
    assert np.isfinite(RationalQuadratic(0.01, 0.3).distances_from(np.zeros(1))).all()


@pytest.mark.parametrize("kernel", [RBF(0.3), EUCLIDEAN, Cauchy(0.3)], ids=short)
def test_wide_kernels_less_one_keep_the_digits_of_distances(kernel):
    distances = np.array([[1e-6], [1e-5], [1.0]])
    less = kernel.for_centering()
    values = less(np.zeros((1, 1)), distances)[0]
    np.testing.assert_allclose(less.distances_from(values), distances[:, 0] ** 2, rtol=1e-9)
    np.testing.assert_allclose((3 * less).distances_from(3 * values), distances[:, 0] ** 2, rtol=1e-9)
    assert less.distances_from(np.array([-2.0])) == pytest.approx(kernel.distances_from(np.array([0.0])))
    assert less.distances_from(np.array([0.5])) == 0


def test_minus_log_has_digits_at_both_ends():
    digits = minus_log(np.array([3 * EPS, 1.0]), np.array([1 - EPS, 1e-300]))
    np.testing.assert_allclose(digits, [52 * np.log(2) - np.log(3), 1e-300], rtol=1e-14)


@pytest.mark.parametrize(
    "kernel",
    [Linear(), Polynomial(1, 0.4), Polynomial(3, 0.4, 1.5), 2 * Polynomial(5, 0.1, -1.0) + 3, -3 * Linear() + 1],
    ids=short,
)
def test_dot_products_come_back(kernel):
    X, Y = np.random.default_rng(0).standard_normal((2, 6, 3))
    products = kernel.products_from(kernel(X, Y))
    np.testing.assert_allclose(products, X @ Y.T, rtol=1e-8, atol=1e-9)
    assert kernel.products_from(kernel(X.astype(np.float32))).dtype == np.float64


# flags and refusals


def test_flags_follow_those_of_the_parts():
    gaussian, dot, histogram, rough = RBF(0.3), Linear(), ChiSquare(), HistogramIntersection()
    assert (gaussian + gaussian).radial
    assert (gaussian * Cauchy(1.0)).radial
    assert not (gaussian * dot).radial
    assert (gaussian * dot).rotatable
    assert not (gaussian * histogram).rotatable
    assert (gaussian * histogram).differentiable
    assert not (gaussian + rough).differentiable
    assert not (rough * 2).differentiable
    assert not rough.rbf(0.1).differentiable
    assert ArcCosine(0).rotatable
    assert not ArcCosine(0).differentiable
    assert not Laplacian(0.1).radial
    assert not Laplacian(0.1).rotatable
    assert not LessOne(Laplacian(0.1)).differentiable
    assert (2 * gaussian).tells_distance
    assert (gaussian + 1).tells_distance
    assert not (-2 * gaussian).tells_distance
    assert not (gaussian + Cauchy(1.0)).tells_distance
    assert not gaussian.normalize().tells_distance
    assert not Laplacian(0.1).tells_distance
    assert (-2 * dot + 1).tells_product
    assert not (0 * dot).tells_product
    assert not Polynomial(2).tells_product
    assert not Polynomial(2.5).tells_product


ROUGH = [
    Laplacian(0.3),
    ArcCosine(0),
    HistogramIntersection(),
    Spectrum(),
    Precomputed(),
    Custom(float),
    Outer(float),
    RBF(0.3) + Laplacian(0.3),
    RBF(0.3) * HistogramIntersection(),
    HistogramIntersection().normalize(),
    2 * (HistogramIntersection() + 1).rbf(0.2),
]


@pytest.mark.parametrize("kernel", ROUGH, ids=short)
def test_kernels_without_gradients_say_who_has_them(kernel):
    X = samples(3, 0)
    for call in (
        lambda: kernel.pull(X, X, np.ones((3, 3))),
        lambda: kernel.pull_diagonal(X),
        lambda: kernel.slopes(X, X),
    ):
        with pytest.raises(ValueError, match=r"Kernels that have (one|them): RBF, Laplacian\(norm=") as error:
            call()
        assert str(error.value).startswith(repr(kernel))


@pytest.mark.parametrize("kernel", HISTOGRAM, ids=short)
def test_histogram_kernels_have_gradients_but_no_slopes(kernel):
    with pytest.raises(ValueError, match=r"has no slopes along x and toward y.*Kernels that have them: RBF") as error:
        kernel.slopes(samples(3, 0), samples(3, 1))
    assert str(error.value).startswith(repr(kernel))


@pytest.mark.parametrize(
    "kernel", [Linear(), -1 * RBF(0.3), Laplacian(0.3), RBF(0.3) + RBF(0.1), Spectrum()], ids=short
)
def test_kernels_that_do_not_tell_distances(kernel):
    with pytest.raises(ValueError, match=r"does not tell the distance of two samples.*: RBF, Laplacian") as error:
        kernel.distances_from(np.ones(3))
    assert repr(kernel) in str(error.value)


@pytest.mark.parametrize(
    "kernel", [RBF(0.3), Polynomial(2, 0.3), 0 * Linear(), Linear() + Linear(), Cosine()], ids=short
)
def test_kernels_that_do_not_tell_dot_products(kernel):
    with pytest.raises(ValueError, match=r"does not tell the dot product of two samples.*: Linear, Poly") as error:
        kernel.products_from(np.ones(3))
    assert repr(kernel) in str(error.value)


def test_mixed_dtypes_are_computed_in_the_wider_one():
    X, Y = samples(4, 0).astype(np.float32), samples(5, 1)
    for kernel in (Linear() + Linear(), Linear() * Linear()):
        np.testing.assert_allclose(kernel(X, Y), kernel(X.astype(np.float64), Y), rtol=1e-14)
