"""Every numeric kernel and every combination, under one contract."""

from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics import pairwise

import reference
from contracts.kernel import KernelCase, KernelContract
from kernelpca import kernels
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
    GeneralizedHistogramIntersection,
    Hellinger,
    HistogramIntersection,
    JensenShannon,
    KernelRBF,
    Laplacian,
    Linear,
    Matern,
    Normalized,
    Outer,
    Polynomial,
    Precomputed,
    Product,
    RationalQuadratic,
    Scale,
    Shift,
    Sigmoid,
    Spectrum,
    Subsequence,
    Sum,
    as_kernel,
)
from kernelpca.kernels.base import values_of
from kernelpca.kernels.stationary import matern_function


def real(n, seed):
    X = np.random.default_rng(seed).standard_normal((n, 4))
    X[0] = 0.0  # a zero row
    if n > 3:
        X[3] = X[2]  # a repeated row
    return X


def histogram(n, seed):
    return np.abs(np.round(real(n, seed), 1))  # with zeros


def text(n, seed):
    rng = np.random.default_rng(seed)
    return np.array(["".join(rng.choice(list("abc"), rng.integers(0, 7))) for _ in range(n)], dtype=object)


def row_sums(X):
    return np.asarray(X).sum(axis=1)


def feature_distance(twin):
    return lambda x, y: twin(x, x) + twin(y, y) - 2 * twin(x, y)


rbf = partial(reference.rbf, gamma=0.3)
CASES = {
    "linear": KernelCase(Linear(), reference.linear, real),
    "polynomial": KernelCase(
        Polynomial(3, 0.5, 1.5), partial(reference.polynomial, degree=3, gamma=0.5, coef0=1.5), real
    ),
    "polynomial, tutorial": KernelCase(
        Polynomial(2, 1.0, 0.0), partial(reference.polynomial, degree=2, gamma=1.0, coef0=0.0), real
    ),
    "polynomial, odd power": KernelCase(
        Polynomial(1.5, 0.1, 2.0), partial(reference.polynomial, degree=1.5, gamma=0.1, coef0=2.0), histogram
    ),
    "rbf": KernelCase(RBF(0.3), rbf, real),
    "laplacian": KernelCase(Laplacian(0.3), partial(reference.laplacian_manhattan, gamma=0.3), real),
    "laplacian, euclidean": KernelCase(
        Laplacian(0.3, norm="euclidean"), partial(reference.laplacian_euclidean, gamma=0.3), real
    ),
    **{
        f"matern {nu}": KernelCase(
            Matern(nu, 0.3), partial(reference.matern, nu=nu, length_scale=1 / np.sqrt(0.6)), real
        )
        for nu in (0.5, 1.5, 2.5, 0.8, 3.3)
    },
    "cauchy": KernelCase(Cauchy(0.3), partial(reference.cauchy, gamma=0.3), real),
    "rational quadratic": KernelCase(
        RationalQuadratic(0.7, 0.3), partial(reference.rational_quadratic, alpha=0.7, gamma=0.3), real
    ),
    "sigmoid": KernelCase(Sigmoid(0.3, -0.5), partial(reference.sigmoid, gamma=0.3, coef0=-0.5), real),
    "cosine": KernelCase(Cosine(), reference.cosine, real),
    "arc-cosine 0": KernelCase(ArcCosine(0), partial(reference.arc_cosine, order=0), real),
    "arc-cosine 1": KernelCase(ArcCosine(1), partial(reference.arc_cosine, order=1), real),
    "histogram intersection": KernelCase(HistogramIntersection(), reference.histogram_intersection, histogram),
    "generalized intersection": KernelCase(
        GeneralizedHistogramIntersection(0.6), partial(reference.generalized_histogram_intersection, alpha=0.6), real
    ),
    "chi-square": KernelCase(ChiSquare(), reference.chi_square, histogram),
    "additive chi-square": KernelCase(
        AdditiveChiSquare(), lambda x, y: -reference.chi_square_distance(x, y), histogram
    ),
    "exponential chi-square": KernelCase(
        ExponentialChiSquare(0.4), partial(reference.exponential_chi_square, gamma=0.4), histogram
    ),
    "hellinger": KernelCase(Hellinger(), reference.hellinger, histogram),
    "jensen-shannon": KernelCase(JensenShannon(), reference.jensen_shannon, histogram),
    "spectrum": KernelCase(Spectrum(2, 0.7), partial(reference.spectrum, length=2, decay=0.7), text),
    "subsequence": KernelCase(Subsequence(2, 0.7), partial(reference.subsequence, length=2, decay=0.7), text),
    "custom, rows": KernelCase(Custom(lambda x, y: float(x @ y)), reference.linear, real),
    "custom, matrices": KernelCase(Custom(lambda X, Y: X @ Y.T, vectorized=True), reference.linear, real),
    "sum": KernelCase(RBF(0.3) + Linear(), lambda x, y: rbf(x, y) + reference.linear(x, y), real),
    "product": KernelCase(RBF(0.3) * Cauchy(0.2), lambda x, y: rbf(x, y) * reference.cauchy(x, y, 0.2), real),
    "scaled": KernelCase(3 * RBF(0.3), lambda x, y: 3 * rbf(x, y), real),
    "shifted": KernelCase(RBF(0.3) + 2, lambda x, y: rbf(x, y) + 2, real),
    "shifted below": KernelCase(RBF(0.3) + -2, lambda x, y: rbf(x, y) - 2, real),
    "outer": KernelCase(Outer(row_sums), lambda x, y: sum(x) * sum(y), real),
    "normalized": KernelCase(
        Polynomial(2, 0.5, 1.0).normalize(),
        lambda x, y: (
            (0.5 * reference.linear(x, y) + 1) ** 2
            / ((0.5 * reference.linear(x, x) + 1) * (0.5 * reference.linear(y, y) + 1))
        ),
        real,
    ),
    "normalized linear": KernelCase(Linear().normalize(), reference.cosine, real),
    "rbf of a kernel": KernelCase(
        ChiSquare().rbf(0.5), lambda x, y: np.exp(-0.5 * feature_distance(reference.chi_square)(x, y)), histogram
    ),
    "a mixture of all": KernelCase(
        2 * (RBF(0.3) + HistogramIntersection() * 0.5) + 1,
        lambda x, y: 2 * (rbf(x, y) + 0.5 * reference.histogram_intersection(x, y)) + 1,
        histogram,
    ),
}


class TestKernels(KernelContract):
    @pytest.fixture(params=CASES)
    def case(self, request):
        return CASES[request.param]


def test_every_public_kernel_is_under_the_contract():
    covered = {type(case.kernel).__name__ for case in CASES.values()}
    elsewhere = {"Fisher", "Precomputed", "Kernel"}  # Fisher has a test file of its own
    public = {name for name in kernels.__all__ if isinstance(getattr(kernels, name), type)}
    assert public - elsewhere == covered


# scikit-learn's names mean scikit-learn's numbers


@pytest.mark.parametrize(
    ("name", "function", "params"),
    [
        ("linear", pairwise.linear_kernel, {}),
        ("poly", pairwise.polynomial_kernel, {"degree": 2, "gamma": 0.2, "coef0": 0.5}),
        ("polynomial", pairwise.polynomial_kernel, {"gamma": 0.2}),
        ("rbf", pairwise.rbf_kernel, {"gamma": 0.2}),
        ("laplacian", pairwise.laplacian_kernel, {"gamma": 0.2}),
        ("sigmoid", pairwise.sigmoid_kernel, {"gamma": 0.2}),
        ("cosine", pairwise.cosine_similarity, {}),
        ("chi2", pairwise.chi2_kernel, {"gamma": 0.2}),
        ("additive_chi2", pairwise.additive_chi2_kernel, {}),
    ],
)
def test_names_mean_what_they_mean_in_scikit_learn(name, function, params):
    X, Y = histogram(20, 0), histogram(15, 1)
    kernel = as_kernel(name).set_params(**params)
    np.testing.assert_allclose(kernel(X, Y), function(X, Y, **params), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5, 0.9])
def test_matern_and_rational_quadratic_match_the_gaussian_process_kernels(nu):
    X, Y = real(20, 0), real(15, 1)
    length = 1.3
    np.testing.assert_allclose(Matern(nu, 1 / (2 * length**2))(X, Y), gp.Matern(length, nu=nu)(X, Y), rtol=1e-8)
    ours = RationalQuadratic(nu, 1 / (2 * length**2))
    np.testing.assert_allclose(ours(X, Y), gp.RationalQuadratic(length, alpha=nu)(X, Y), rtol=1e-10)


def test_matern_of_any_smoothness():
    z = np.concatenate([[0.0], np.logspace(-8, 2.5, 60)])
    for nu in (49.0, 50.0):  # where scipy's Bessel function still works, the expansion agrees with it
        exact = matern_function(nu, z)
        np.testing.assert_allclose(matern_function(nu + 1.1e0, z), exact, atol=0.02)
    near = matern_function(50.0, z), matern_function(50.0 + 1e-9, z)
    np.testing.assert_allclose(near[0], near[1], atol=1e-7)
    X = real(20, 0)
    for nu in (100.0, 1e3, 1e6):
        for dtype in (np.float64, np.float32):
            rows = X.astype(dtype)
            np.testing.assert_allclose(Matern(nu, 0.2)(rows), RBF(0.2)(rows), atol=0.5 / nu + 1e-5)
    np.testing.assert_allclose(Matern(0.3, 0.2)(X * 1e-150), 1)
    assert (Matern(0.3, 0.2)(X * 1e5)[1, 2:3] < 1e-300).all()


def test_rbf_of_an_indefinite_kernel_does_not_depend_on_tiles():
    X = np.random.default_rng(0).standard_normal((1200, 3))
    kernel = Sigmoid(0.5, -1.0).rbf(0.5)
    np.testing.assert_allclose(kernel(X)[:300, :300], kernel(X[:300]), rtol=1e-9)


def test_limits():
    X = real(20, 0)
    np.testing.assert_allclose(RationalQuadratic(1e7, 0.2)(X), RBF(0.2)(X), atol=1e-6)
    np.testing.assert_allclose(RationalQuadratic(1.0, 0.2)(X), Cauchy(0.2)(X), rtol=1e-12)
    np.testing.assert_allclose(Matern(0.5, 0.2)(X), Laplacian(np.sqrt(0.4), norm="euclidean")(X), rtol=1e-12)
    np.testing.assert_allclose(Linear().rbf(0.2)(X), RBF(0.2)(X), rtol=1e-10)
    H = histogram(20, 0)
    np.testing.assert_allclose(
        4 * ChiSquare()(H) - H.sum(axis=1)[:, None] - H.sum(axis=1), AdditiveChiSquare()(H), atol=1e-12
    )


def test_arc_cosine_is_the_mean_over_random_units():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 3))
    W = rng.standard_normal((400_000, 3))
    for order in (0, 1):
        unit = (lambda t: (t > 0) * 1.0) if order == 0 else (lambda t: np.maximum(t, 0))
        estimate = 2 * np.mean(unit(W @ x) * unit(W @ y))
        assert ArcCosine(order)(x[None], y[None])[0, 0] == pytest.approx(estimate, abs=0.02)


# gamma


@pytest.mark.parametrize(
    "kernel", [RBF(), Laplacian(), Matern(), Cauchy(), RationalQuadratic(), Polynomial(), Sigmoid()]
)
def test_gamma_scale(kernel):
    X = real(30, 0) * 3
    assert kernel.gamma == "scale"
    assert kernel.resolve(X).gamma == pytest.approx(1 / (4 * X.var()), rel=1e-12)
    assert kernel.gamma == "scale"  # the original is untouched
    with pytest.raises(ValueError, match=r"depends on data: call kernel.resolve\(X_train\)"):
        kernel(X)


def test_gamma_median():
    X = real(30, 0)
    upper = np.triu_indices(30, 1)
    squared = np.array([[reference.squared_distance(x, y) for y in X] for x in X])[upper]
    assert RBF("median").resolve(X).gamma == pytest.approx(1 / np.median(squared))
    assert Laplacian("median", "euclidean").resolve(X).gamma == pytest.approx(1 / np.median(np.sqrt(squared)))
    assert ExponentialChiSquare("median").resolve(np.abs(X)).gamma > 0
    assert Polynomial(gamma="median").resolve(X).gamma > 0
    mostly_equal = np.zeros((30, 2))
    mostly_equal[0] = [3.0, 4.0]
    assert RBF("median").resolve(mostly_equal).gamma == pytest.approx(1 / 25)


@pytest.mark.parametrize("rule", ["scale", "median"])
def test_gamma_of_constant_data(rule):
    assert RBF(rule).resolve(np.ones((5, 2))).gamma == 1.0


def test_gamma_of_sparse_data_is_that_of_dense_data():
    X = real(30, 0) * (np.random.default_rng(1).random((30, 4)) < 0.3)
    for rule in ("scale", "median"):
        assert RBF(rule).resolve(sparse.csr_array(X)).gamma == pytest.approx(RBF(rule).resolve(X).gamma)


def test_nested_gamma_is_resolved_and_tunable():
    X = real(30, 0)
    kernel = (2 * RBF() + Polynomial(2)) * Cauchy("median")
    resolved = kernel.resolve(X)
    assert resolved.k1.k1.kernel.gamma == RBF().resolve(X).gamma
    assert resolved.k2.gamma == Cauchy("median").resolve(X).gamma
    params = kernel.get_params(deep=True)
    assert params["k1__k1__kernel__gamma"] == "scale"
    kernel.set_params(k1__k1__kernel__gamma=0.1, k1__k2__degree=4)
    assert kernel.k1.k1.kernel == RBF(0.1)
    assert kernel.k1.k2.degree == 4
    assert RBF().rbf("median").resolve(X).gamma > 0
    assert isinstance(Linear().rbf().resolve(X).gamma, float)
    total = X.var(axis=0).sum()
    assert Linear().rbf().resolve(X).gamma == pytest.approx(1 / total)


# sparse rows


@pytest.mark.parametrize("name", sorted(set(KERNELS) - {"spectrum", "subsequence", "precomputed"}))
@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_rows_equal_dense_rows_or_are_refused(name, container):
    X, Y = histogram(12, 0), histogram(9, 1)
    kernel = as_kernel(name).resolve(X)
    if kernel.takes_sparse:
        np.testing.assert_allclose(kernel(container(X), container(Y)), kernel(X, Y), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(kernel(container(X)), kernel(X), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(kernel.diag(container(X)), kernel.diag(X), rtol=1e-9, atol=1e-12)
    else:
        with pytest.raises(TypeError, match=r"does not take sparse input.*toarray"):
            kernel(container(X))


def test_long_rows_in_single_precision_keep_their_distances():
    rng = np.random.default_rng(0)
    base = rng.random((1, 1_000_000))
    X = base + 0.01 * rng.standard_normal((4, base.size))
    X32 = X.astype(np.float32)
    kernel = RBF(gamma=0.005)  # squared distances are about 200, squared norms about 333,000
    np.testing.assert_allclose(kernel(X32), kernel(X32.astype(np.float64)), atol=0.01)


def test_sparse_rows_are_never_made_dense():
    rng = np.random.default_rng(0)
    places = rng.integers(40, size=400), rng.integers(10_000_000, size=400)
    wide = sparse.csr_array((rng.random(400), places), shape=(40, 10_000_000))
    assert RBF(1.0)(wide).shape == (40, 40)  # 3 GB if made dense
    assert Hellinger()(abs(wide)).shape == (40, 40)


# flags


def test_flags_propagate():
    good, bad = RBF(0.1), Sigmoid(0.1)
    assert (good + good).positive_definite
    assert not (good + bad).positive_definite
    assert not (good * bad).positive_definite
    assert not (-1 * good).positive_definite
    assert not (good + -1).positive_definite
    assert (good + 1).positive_definite
    assert (good * good).unit_diagonal
    assert not (good + good).unit_diagonal
    assert (good * Cauchy(1.0)).stationary
    assert not (good * Linear()).stationary
    assert bad.rbf(0.1).unit_diagonal
    assert not bad.rbf(0.1).positive_definite
    assert (good + HistogramIntersection()).domain == "nonnegative"
    assert not (good + HistogramIntersection()).takes_sparse
    assert (Outer(row_sums) + good).domain == "real"
    assert not (Outer(row_sums) + good).parallel
    assert not Polynomial(2, coef0=-1).positive_definite
    assert not Polynomial(2.5).positive_definite
    assert (good * good).normalize().unit_diagonal
    assert isinstance(good + good, Sum)
    assert isinstance(good * good, Product)
    assert isinstance(2 * good, Scale)
    assert isinstance(good + 2, Shift)
    assert isinstance(good.normalize(), Normalized)
    assert isinstance(good.rbf(), KernelRBF)


def test_text_and_numbers_do_not_mix():
    for combine in (lambda a, b: a + b, lambda a, b: a * b):
        with pytest.raises(ValueError, match=r"cannot be combined: one takes real samples, the other text"):
            combine(RBF(0.1), Spectrum())
    with pytest.raises(TypeError, match="unsupported operand"):
        _ = RBF(0.1) + "rbf"


# bad input


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (RBF(0.0), r"RBF\(gamma=0.0\): gamma must be a positive number"),
        (RBF(-1.0), "gamma must be a positive number"),
        (RBF(float("nan")), "gamma must be a positive number"),
        (RBF(True), "gamma must be a positive number"),
        (RBF("wide"), "gamma must be a positive number"),
        (RBF("auto"), "is gamma=1/X.shape"),
        (RBF(None), "is gamma=1/X.shape"),
        (RBF(np.ones(3)), "an array of shape"),
        (Laplacian(1.0, norm="l3"), "norm must be 'manhattan'"),
        (Matern(0.0, 1.0), "nu must be"),
        (RationalQuadratic(-1.0, 1.0), "alpha must be"),
        (Polynomial(-1, 1.0), "degree must be"),
        (Polynomial(2, 1.0, float("inf")), "coef0 must be"),
        (Polynomial(1.5, 1.0, -9.0), "no whole number is undefined for negative"),
        (ArcCosine(2), "order must be 0"),
        (GeneralizedHistogramIntersection(0), "alpha must be"),
        (RBF(1.0) * float("nan"), "factor must be a finite number"),
        (RBF(1.0) + float("inf"), "constant must be a finite number"),
        (Sigmoid(1.0, -5.0).normalize(), "cannot be normalized"),
        (Outer(lambda X: X), "one number for each row"),
        (Custom(lambda x, y: x), "must return a number"),
        (Custom(lambda X, Y: X, vectorized=True), "without vectorized=True"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_bad_parameters_are_explained(kernel, message):
    X = np.abs(real(6, 0))
    with pytest.raises(ValueError, match=message):
        kernel.resolve(X)(X)


@pytest.mark.parametrize(
    "name", ["histogram_intersection", "chi_square", "chi2", "additive_chi2", "hellinger", "jensen_shannon"]
)
def test_negative_histograms_are_refused(name):
    X = real(6, 0)
    with pytest.raises(ValueError, match=r"Negative values in data.*Shift or clip"):
        as_kernel(name).resolve(X)(X)


def test_generalized_intersection_takes_absolute_values():
    X = real(6, 0)
    np.testing.assert_array_equal(GeneralizedHistogramIntersection(1.0)(X), HistogramIntersection()(np.abs(X)))


def test_unknown_kernels():
    with pytest.raises(ValueError, match=r"Did you mean 'rbf'\? Known names: additive_chi2"):
        as_kernel("gauss")
    with pytest.raises(TypeError, match="stands for no kernel"):
        as_kernel(3)
    with pytest.raises(TypeError, match=r"kernel=RBF is a class: write RBF\(\), with parentheses"):
        as_kernel(RBF)
    with pytest.raises(TypeError, match="Linear is a class"):
        _ = RBF() + Linear
    with pytest.raises(ValueError, match=r"Did you mean 'polynomial'\?"):
        as_kernel("polynomal")
    with pytest.raises(TypeError, match="no function behind it"):
        Precomputed()(np.eye(2))


def test_every_name_gives_a_kernel():
    for name in KERNELS:
        assert as_kernel(name) == as_kernel(as_kernel(name))


def test_large_tiles_use_the_compiled_exponential():
    """Above a size the exponential is compiled code: the numbers must not tell."""
    X = np.random.default_rng(0).standard_normal((1500, 3))
    for kernel in (RBF(0.5), Laplacian(0.5, norm="euclidean"), Matern(1.5, 0.2), RBF(1e3)):
        for dtype in (np.float64, np.float32):
            rows = X.astype(dtype)
            whole = values_of(kernel, rows, rows)
            pieces = np.block(
                [
                    [values_of(kernel, rows[i : i + 300], rows[j : j + 300]) for j in range(0, 1500, 300)]
                    for i in range(0, 1500, 300)
                ]
            )
            # an argument of -87 is known to 87 eps at best
            np.testing.assert_allclose(whole, pieces, rtol=1e-3 if dtype == np.float32 else 1e-11, atol=1e-30)


@pytest.mark.parametrize("kernel", [RBF(0.3), Laplacian(0.3), Laplacian(0.3, "euclidean"), Cauchy(0.3)], ids=repr)
@pytest.mark.parametrize("n", [20, 1500])  # NumPy and compiled
def test_less_one(kernel, n):
    X = real(n, 0)
    less = kernel.for_centering()
    np.testing.assert_allclose(less(X, X) + 1, kernel(X, X), atol=1e-14)
    tiny = less(X * 1e-9, X * 1e-9)[1, 2]
    truth = kernel.measure(X[1:2] * 1e-9, X[2:3] * 1e-9)[0, 0] * -0.3
    assert tiny == pytest.approx(truth, rel=1e-6, abs=0)
    assert less.positive_once_centered
    assert not less.positive_definite
    assert repr(less) == repr(kernel)
    combined = (2 * kernel + Linear() + 3).for_centering()
    np.testing.assert_allclose(combined(X, X), 2 * less(X, X) + X @ X.T, atol=1e-12)


def test_custom_kernels_of_any_samples():
    ragged = [np.arange(3.0), np.arange(4.0), np.arange(5.0)]
    lengths = Custom(lambda a, b: float(len(a) * len(b)))
    np.testing.assert_array_equal(lengths(ragged), np.outer([3, 4, 5], [3, 4, 5]))
    rows = sparse.csr_array(real(5, 0))
    np.testing.assert_allclose(Custom(lambda a, b: a @ b.T)(sparse.csr_matrix(rows)), (rows @ rows.T).toarray())
    with pytest.raises(ValueError, match=r"(?s)failed on two single samples: .*Custom\(function, vectorized=True\)"):
        Custom(pairwise.rbf_kernel)(real(5, 0))
    with pytest.raises(ValueError, match="must return a number"):
        Custom(lambda a, b: None)(real(5, 0))
    calls = []
    Custom(lambda a, b: calls.append(1) or 0.0)(real(300, 0))
    assert len(calls) < 0.65 * 300**2  # half of the pairs, and the diagonal tiles


def test_custom_parameters_reach_the_function():
    kernel = Custom(lambda x, y, power: float(x @ y) ** power, params={"power": 2})
    X = real(5, 0)
    np.testing.assert_allclose(kernel(X), (X @ X.T) ** 2)
    np.testing.assert_allclose(kernel.diag(X), ((X @ X.T) ** 2).diagonal())
