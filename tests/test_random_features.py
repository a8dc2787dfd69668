"""Random Fourier and ReLU features: frequencies, maps, and how far z(x)'z(y) is from k(x, y).

Theory used below, for k(0) = 1, delta = x - y and r features of independent frequencies. Paired: the mean of r/2 terms
cos(w'delta), whose variance is E cos^2 - k^2 = (1 + k(2 delta)) / 2 - k(delta)^2. With phases: the mean of r terms
2 cos(w'x + b) cos(w'y + b) = cos(w'delta) + cos(w'(x + y) + 2b), where the second adds 1/2. So the variance is

    paired     (1 + k(2 delta) - 2 k(delta)^2) / r
    cos, sin   (1 + k(2 delta) / 2 - k(delta)^2) / r

and k(0)^2 times that in general. A mean of squared errors over all pairs and S seeds is known to about its spread over
seeds / sqrt(S), at most sqrt(2 / S) of it, the spread of one squared normal number; tolerances are 4.5 times that.
"""

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats
from sklearn.exceptions import ConvergenceWarning

from kernelpca import KernelPCA
from kernelpca.features.fourier import FourierFeatures, RandomFourier
from kernelpca.features.relu import RandomReLU, ReLUFeatures
from kernelpca.features.suggest import frequency_variance, suggest_n_features
from kernelpca.kernels import (
    RBF,
    ArcCosine,
    Cauchy,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
)
from kernelpca.kernels.spectral import SAMPLINGS, Independent, Orthogonal, QuasiRandom, at_zero, sample

FORMS = ("paired", "cos", "sin")
FEW, MANY = 64, 1024
SEEDS = 50
SIGMAS = 4.5

KERNELS = {
    "rbf": RBF(0.3),
    "laplacian": Laplacian(0.3),
    "laplacian, euclidean": Laplacian(0.5, "euclidean"),
    "matern 0.5": Matern(0.5, 0.3),
    "matern 1.5": Matern(1.5, 0.3),
    "matern 2.5": Matern(2.5, 0.3),
    "matern 0.8": Matern(0.8, 0.3),
    "cauchy": Cauchy(0.4),
    "rational quadratic 0.5": RationalQuadratic(0.5, 0.4),
    "rational quadratic 1": RationalQuadratic(1.0, 0.4),
    "rational quadratic 3": RationalQuadratic(3.0, 0.4),
    "sum": RBF(0.3) + 2 * Matern(1.5, 0.1),
    "product": RBF(0.2) * Laplacian(0.2),
    "scale": 3 * Cauchy(0.3),
    "shift": RBF(0.4) + 0.5,
    "normalized": (RBF(0.3) + 2 * Cauchy(0.2)).normalize(),
    "nested": 2 * (RBF(0.2) * (Matern(2.5, 0.2) + 0.3) + 0.5 * Laplacian(0.3, "euclidean")) + 0.1,
}


def rows(n=8, d=3, seed=1):
    return np.random.default_rng(seed).standard_normal((n, d))


def fourier(kernel, X, r=FEW, sampling="orthogonal", form="paired", seed=0):
    return RandomFourier(r, sampling, form).fit(kernel, X, np.random.default_rng(seed))


# naive twins: one number at a time, from the formula


def naive_fourier(features, X):
    functions = {"paired": (math.cos, math.sin), "cos": (math.cos,), "sin": (math.sin,)}[features.form]
    m = len(features.W)
    Z = np.empty((len(X), m * len(functions)))
    for i, x in enumerate(X):
        for f, function in enumerate(functions):
            for j in range(m):
                phase = 0.0 if features.b is None else features.b[j]
                for c, value in enumerate(x):
                    origin = 0.0 if features.origin is None else features.origin[c]
                    phase += features.W[j, c] * (value - origin)
                Z[i, f * m + j] = features.amplitude * function(phase)
    return Z


def naive_relu(features, X):
    Z = np.empty((len(X), len(features.W)))
    for i, x in enumerate(X):
        for j, w in enumerate(features.W):
            Z[i, j] = math.sqrt(2 / len(features.W)) * max(sum(a * b for a, b in zip(w, x, strict=True)), 0.0)
    return Z


@cache
def errors(name, sampling, form, r):
    """(seeds, pairs): z(x)'z(y) - k(x, y) of each pair of different rows."""
    X, kernel = rows(), KERNELS[name]
    K, pairs = kernel(X), np.triu_indices(8, 1)
    found = []
    for seed in range(SEEDS):
        Z = fourier(kernel, X, r, sampling, form, [list(KERNELS).index(name), seed]).map(X)
        found.append((Z @ Z.T - K)[pairs])
    return np.array(found)


def variances(name, form, r):
    """(pairs,): of the error with independent frequencies, from theory."""
    X, kernel = rows(), KERNELS[name]
    pairs, k0 = np.triu_indices(8, 1), at_zero(kernel)
    once, twice = kernel(X)[pairs] / k0, kernel(2 * X)[pairs] / k0
    return k0**2 * (1 + twice - 2 * once**2 if form == "paired" else 1 + twice / 2 - once**2) / r


every_case = pytest.mark.parametrize(
    ("name", "sampling", "form"),
    [(name, sampling, form) for name in KERNELS for sampling in SAMPLINGS for form in FORMS],
)


@every_case
def test_features_are_unbiased(name, sampling, form):
    E = errors(name, sampling, form, FEW)
    spread = np.sqrt(variances(name, form, FEW)) if sampling == "iid" else E.std(axis=0, ddof=1)
    assert np.abs(E.mean(axis=0) / spread).max() * math.sqrt(SEEDS) < 5


def mean_square(E):
    """(seeds, pairs) -> the mean squared error and how much of it may be chance."""
    squares = np.mean(E**2, axis=1)
    return squares.mean(), SIGMAS * squares.std(ddof=1) / math.sqrt(len(E)) / squares.mean()


def assert_falls_as_theory_says(few, many):
    """Check that the mean squared error is inversely proportional to the number of features."""
    (much, chance), (little, other) = mean_square(few), mean_square(many)
    assert much / little > MANY / FEW * (1 - min(math.hypot(chance, other), 0.75))


@every_case
def test_the_error_is_what_theory_says_and_falls_with_the_root_of_the_number_of_features(name, sampling, form):
    for r in (FEW, MANY):
        mean, chance = mean_square(errors(name, sampling, form, r))
        ratio = mean / np.mean(variances(name, form, r))
        if sampling == "iid":
            assert 1 - chance < ratio < 1 + chance
        else:  # no worse
            assert ratio < (1 + chance if sampling == "orthogonal" else 1.0)
    assert_falls_as_theory_says(errors(name, sampling, form, FEW), errors(name, sampling, form, MANY))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_over_all_kernels_the_error_is_closer_still_to_theory(sampling, form):
    """Each kernel has its own seeds, so that chance falls with the root of their number: to some 5 %."""
    ratios = {
        r: [mean_square(errors(name, sampling, form, r))[0] / np.mean(variances(name, form, r)) for name in KERNELS]
        for r in (FEW, MANY)
    }
    falls = MANY / FEW * np.array(ratios[FEW]) / ratios[MANY]
    assert stats.gmean(falls) > 0.85 * MANY / FEW
    if sampling == "quasi":
        assert stats.gmean(falls) > 1.5 * MANY / FEW
    else:
        assert stats.gmean(falls) < MANY / FEW / 0.85
    for r in (FEW, MANY):
        assert (0.88 if sampling == "iid" else 0) < np.mean(ratios[r]) < (1.12 if sampling == "iid" else 1.05)


@pytest.mark.parametrize("form", FORMS)
def test_the_variance_of_independent_frequencies_is_that_of_theory_in_every_entry(form):
    X, kernel, seeds = rows(), KERNELS["rbf"], 2000
    K, pairs = kernel(X), np.triu_indices(8, 1)
    E = np.empty((seeds, len(pairs[0])))
    for seed in range(seeds):
        Z = fourier(kernel, X, FEW, "iid", form, seed).map(X)
        E[seed] = (Z @ Z.T - K)[pairs]
    # a mean of 32 or 64 bounded terms is nearly normal: its variance over S seeds is known to sqrt(2 / S)
    ratio = np.mean(E**2, axis=0) / variances("rbf", form, FEW)
    assert np.abs(ratio - 1).max() < 5.5 * math.sqrt(2 / seeds)
    assert np.abs(E.mean(axis=0) / np.sqrt(variances("rbf", form, FEW))).max() * math.sqrt(seeds) < 4.5


@pytest.mark.parametrize("d", [16, 64])
def test_orthogonal_frequencies_have_less_error_than_independent_ones(d):
    X = rows(12, d, seed=3)
    kernel = RBF(1 / (2 * d))
    K, mean = kernel(X), {}
    for sampling in ("iid", "orthogonal"):
        gaps = []
        for seed in range(60):
            Z = fourier(kernel, X, 2 * d, sampling, "paired", seed).map(X)
            gaps.append(np.mean((Z @ Z.T - K) ** 2))
        mean[sampling] = np.mean(gaps)
    assert mean["orthogonal"] < 0.75 * mean["iid"]


def test_quasi_random_frequencies_of_few_columns_have_far_less_error():
    X, kernel = rows(12, 2, seed=3), RBF(0.5)
    K, mean = kernel(X), {}
    for sampling in ("iid", "quasi"):
        Z = [fourier(kernel, X, 512, sampling, seed=seed).map(X) for seed in range(20)]
        mean[sampling] = np.mean([np.mean((z @ z.T - K) ** 2) for z in Z])
    assert mean["quasi"] < 0.1 * mean["iid"]


# frequencies

MARGINALS = {  # of one coordinate, and of the squared length over d
    "rbf": (RBF(0.3), stats.norm(scale=math.sqrt(0.6)), stats.chi2(3, scale=0.6 / 3)),
    "laplacian": (Laplacian(0.7), stats.cauchy(scale=0.7), None),
    "laplacian, euclidean": (Laplacian(0.7, "euclidean"), stats.cauchy(scale=0.7), stats.f(3, 1, scale=0.49)),
    "matern 0.5": (Matern(0.5, 0.3), stats.cauchy(scale=math.sqrt(0.6)), stats.f(3, 1, scale=0.6)),
    "matern 0.8": (Matern(0.8, 0.3), stats.t(1.6, scale=math.sqrt(0.6)), stats.f(3, 1.6, scale=0.6)),
    "matern 2.5": (Matern(2.5, 0.3), stats.t(5, scale=math.sqrt(0.6)), stats.f(3, 5, scale=0.6)),
    "cauchy": (Cauchy(0.4), stats.laplace(scale=math.sqrt(0.4)), None),
    "rational quadratic 1": (RationalQuadratic(1.0, 0.4), stats.laplace(scale=math.sqrt(0.4)), None),
    "product of gaussians": (RBF(0.1) * RBF(0.2), stats.norm(scale=math.sqrt(0.6)), stats.chi2(3, scale=0.2)),
    "product of laplacians": (Laplacian(0.3) * Laplacian(0.4), stats.cauchy(scale=0.7), None),
    "scale": (5 * RBF(0.3), stats.norm(scale=math.sqrt(0.6)), stats.chi2(3, scale=0.2)),
}


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("name", MARGINALS)
def test_frequencies_have_the_kernels_distribution(name, sampling):
    kernel, coordinate, length = MARGINALS[name]
    n = 4096
    W = sample(kernel.spectral, sampling, n, 3, np.random.default_rng(7))
    assert W.shape == (n, 3)
    assert W.dtype == np.float64
    limit = 1.95 / math.sqrt(n)  # Kolmogorov's distance of independent numbers is larger with probability 0.001
    for column in W.T:
        assert stats.kstest(column, coordinate.cdf).statistic < limit
    if length is not None:
        assert stats.kstest((W**2).mean(axis=1), length.cdf).statistic < limit


@pytest.mark.parametrize("alpha", [0.5, 3.0])
def test_frequencies_of_the_rational_quadratic_kernel_are_gaussians_of_gamma_variance(alpha):
    W = sample(RationalQuadratic(alpha, 0.4).spectral, "iid", 4000, 3, np.random.default_rng(2))
    rng = np.random.default_rng(3)
    tau = stats.gamma(alpha, scale=1 / alpha).rvs(20_000, random_state=rng)
    truth = 0.8 * tau * stats.chi2(3).rvs(20_000, random_state=rng)
    assert stats.ks_2samp((W**2).sum(axis=1), truth).pvalue > 0.001


def test_coordinates_of_manhattan_frequencies_are_independent_and_those_of_euclidean_are_not():
    def dependence(kernel):
        W = np.abs(sample(kernel.spectral, "iid", 4000, 2, np.random.default_rng(5)))
        return stats.spearmanr(W[:, 0], W[:, 1]).statistic

    assert abs(dependence(Laplacian(1.0))) < 4 / math.sqrt(4000)
    assert dependence(Laplacian(1.0, "euclidean")) > 0.2


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_terms_of_a_sum_share_the_frequencies_by_their_weight(sampling):
    n, slow, fast = 4096, RBF(1e-8), RBF(1e8)
    tall = 4.5 * math.sqrt(0.25 / n)

    def fast_share(kernel):
        W = sample(kernel.spectral, sampling, n, 2, np.random.default_rng(11))
        return np.mean(np.linalg.norm(W, axis=1) > 1)

    assert abs(fast_share(slow + fast) - 1 / 2) < tall
    assert abs(fast_share(slow + 3 * fast) - 3 / 4) < tall
    assert abs(fast_share(fast + 3.0) - 1 / 4) < tall
    assert abs(fast_share(((fast + slow) * 0.5 + 1.0).normalize()) - 1 / 4) < tall
    zeros = sample((fast + 3.0).spectral, sampling, n, 2, np.random.default_rng(11)) == 0
    assert abs(zeros.all(axis=1).mean() - 3 / 4) < tall
    assert (zeros.all(axis=1) == zeros.any(axis=1)).all()


def test_weights_of_zero_are_allowed():
    X = rows()
    assert not fourier(0 * RBF(0.5), X).map(X).any()
    assert not fourier(0 * RBF(0.5) + 0 * Cauchy(0.5), X).map(X).any()
    np.testing.assert_array_equal(fourier(RBF(0.5) + 0 * Cauchy(0.5), X).W, fourier(RBF(0.5) + 0 * RBF(9.0), X).W)


@settings(max_examples=40, deadline=None)
@given(r=st.integers(1, 40), d=st.integers(1, 12), seed=st.integers(0, 100))
def test_orthogonal_rows_are_so_in_blocks(r, d, seed):
    Z = Orthogonal(r, d, np.random.default_rng(seed)).normals()
    assert Z.shape == (r, d)
    for start in range(0, r, d):
        block = Z[start : start + d]
        inner = block @ block.T
        np.testing.assert_allclose(inner, np.diag(np.diag(inner)), atol=1e-12 * d * np.diag(inner).max())


@pytest.mark.parametrize(("r", "d"), [(1, 1), (1, 5), (3, 5), (5, 5), (7, 5)])
def test_each_row_of_orthogonal_draws_is_a_normal_vector(r, d):
    draws = np.array([Orthogonal(r, d, np.random.default_rng(seed)).normals() for seed in range(1500)])
    limit = 2.2 / math.sqrt(1500)
    for i in (0, r - 1):
        assert stats.kstest(draws[:, i, 0], "norm").statistic < limit
        assert stats.kstest(draws[:, i, d - 1], "norm").statistic < limit
        assert stats.kstest((draws[:, i] ** 2).sum(axis=1), stats.chi2(d).cdf).statistic < limit


@pytest.mark.parametrize("r", [1, 2, 3, 5, 64, 100])
def test_quasi_random_numbers_are_inside_the_cube_whatever_their_number(r):
    for seed in range(20):
        draw = QuasiRandom(r, 4, 6, np.random.default_rng(seed))
        first, Z, last = draw.uniforms(), draw.normals(), draw.uniforms()
        assert Z.shape == (r, 4)
        assert np.isfinite(Z).all()
        for u in (first, last):
            assert u.shape == (r,)
            assert ((u > 0) & (u < 1)).all()


def test_quasi_random_numbers_at_the_edge_of_the_cube_are_moved_inside(monkeypatch):
    corners = np.repeat([[0.0], [1 - 2.0**-32]], 3, axis=1)
    monkeypatch.setattr(stats.qmc.Sobol, "random_base2", lambda self, m: corners.copy())
    draw = QuasiRandom(2, 2, 3, np.random.default_rng(0))
    u, Z = draw.uniforms(), draw.normals()
    assert 0 < u[0] < 2.0**-32
    assert 1 - 2.0**-32 < u[1] < 1
    assert np.isfinite(Z).all()


def test_quasi_random_numbers_fill_every_interval_once():
    u = QuasiRandom(64, 2, 1, np.random.default_rng(0)).uniforms()
    np.testing.assert_array_equal(np.sort(np.floor(u * 64)), np.arange(64))


def test_uniform_numbers_are_never_zero():
    class Zeros:
        def random(self, n):
            return np.zeros(n)

    assert (Independent(3, 2, Zeros()).uniforms() > 0).all()


def test_very_rough_kernels_have_finite_features_in_every_precision():
    X = rows()
    for kernel in (Matern(0.01, 1.0), RationalQuadratic(0.01, 1.0), Laplacian(1e3), Laplacian(1e3, "euclidean")):
        for sampling in SAMPLINGS:
            features = fourier(kernel, X, 512, sampling)
            assert np.isfinite(features.W).all()
            assert np.isfinite(features.map(X.astype(np.float32))).all()


def test_a_kernel_says_whether_it_has_a_spectrum():
    for kernel in KERNELS.values():
        assert kernel.has_spectrum is True
    rbf = RBF(0.5)
    without = [Linear(), ArcCosine(), Polynomial(2), rbf.rbf(1.0), rbf * Linear(), rbf + Linear(), Linear().normalize()]
    for kernel in [*without, -1 * rbf, rbf + (-0.5), (-1 * rbf) + rbf, (rbf + (-1)).normalize(), rbf.for_centering()]:
        assert not kernel.has_spectrum
        with pytest.raises(ValueError, match=r"no spectrum that frequencies .* Kernels that have one"):
            kernel.spectral(Independent(4, 2, np.random.default_rng(0)))


def test_frequencies_need_a_resolved_kernel_with_valid_parameters():
    draw = Independent(4, 2, np.random.default_rng(0))
    for kernel, message in [
        (RBF(), "depends on data: call kernel.resolve"),
        (Laplacian(1.0, "max"), "norm must be 'manhattan'"),
        (Matern(-1.0, 1.0), "nu must be a positive number"),
        (RationalQuadratic(0.0, 1.0), "alpha must be a positive number"),
    ]:
        with pytest.raises(ValueError, match=message):
            kernel.spectral(draw)


# maps


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_map_is_its_naive_twin(sampling, form):
    X, new = rows(9) + 2.0, rows(5, seed=4)
    features = fourier(2 * Matern(1.5, 0.4), X, 10, sampling, form)
    assert features.size == 10
    assert len(features.W) == (5 if form == "paired" else 10)
    assert math.isclose(features.amplitude, math.sqrt(2 * 2 / 10))
    np.testing.assert_allclose(features.map(new), naive_fourier(features, new), rtol=0, atol=1e-13)
    np.testing.assert_allclose(features.origin, X.mean(axis=0), rtol=1e-7)
    if form == "paired":
        assert features.b is None
    else:
        assert features.b.shape == (10,)
        assert (np.abs(features.b) < np.pi).all()


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_phases_are_uniform(sampling):
    b = fourier(RBF(0.5), rows(), 2048, sampling, "cos").b
    assert stats.kstest(b, stats.uniform(-np.pi, 2 * np.pi).cdf).statistic < 1.95 / math.sqrt(2048)


@pytest.mark.parametrize("form", FORMS)
def test_precision_follows_the_rows(form):
    X = rows(20, 4)
    features = fourier(RBF(0.4), X, 128, form=form)
    single = features.map(X.astype(np.float32))
    assert single.dtype == np.float32
    assert features.map(X).dtype == np.float64
    assert features.W.dtype == np.float64
    np.testing.assert_allclose(single, features.map(X.astype(np.float32).astype(np.float64)), atol=2e-6)
    again = fourier(RBF(0.4), X.astype(np.float32), 128, form=form)
    np.testing.assert_array_equal(again.W, features.W)  # drawn in float64 whatever the data


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", FORMS)
def test_sparse_rows_give_what_dense_rows_give(form, dtype):
    X = rows(20, 6) * (rows(20, 6, seed=9) > 0.5)
    X = X.astype(dtype)
    tolerance = 1e-13 if dtype == np.float64 else 3e-6
    from_sparse = fourier(RBF(0.4), sparse.csr_matrix(X), 64, form=form)
    from_dense = fourier(RBF(0.4), X, 64, form=form)
    assert from_sparse.origin is None
    for features in (from_sparse, from_dense):
        F = features.map(sparse.csr_array(X))
        assert type(F) is np.ndarray
        assert F.dtype == dtype
        np.testing.assert_allclose(F, features.map(X), atol=tolerance)


@pytest.mark.parametrize("form", FORMS)
def test_rows_far_from_zero_keep_their_digits(form):
    near = rows(30, 3)
    far = near + 1e9
    near = far - 1e9  # exact
    kernel = RBF(0.4)
    there, here = fourier(kernel, far, form=form), fourier(kernel, near, form=form)
    np.testing.assert_array_equal(there.W, here.W)
    shifted = FourierFeatures(there.W, there.b, there.origin - 1e9, there.amplitude, form, kernel, "")
    np.testing.assert_allclose(there.map(far), shifted.map(near), atol=1e-12)

    single = (near + 1e5).astype(np.float32)
    features = fourier(kernel, single, form=form)
    np.testing.assert_allclose(features.map(single), features.map(single.astype(np.float64)), atol=3e-6)


def test_rows_beyond_float32_have_an_origin():
    X = rows(5, 2) * 1e300
    origin = fourier(RBF(0.5), X).origin
    np.testing.assert_allclose(origin, X.mean(axis=0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sentinels_do_not_cost_rows_their_digits(dtype):
    """A mean is dragged along by a few rows far away; and phases of many turns are more than float32 can tell."""
    near = rows(200, 3).astype(np.float32)
    X, far = near.copy(), np.arange(200) % 7 == 0
    X[far, 2] = near[far, 2] = 1e9
    features = fourier(RBF(0.4), X.astype(dtype))
    near[far, 2] = 0.0  # the same for all of them: only their differences count
    usual = FourierFeatures(features.W, None, None, features.amplitude, "paired", RBF(0.4), "")
    for group in (far, ~far):
        F, wanted = features.map(X[group].astype(dtype)), usual.map(near[group].astype(float))
        np.testing.assert_allclose(F @ F.T, wanted @ wanted.T, atol=1e-4)
    model = KernelPCA(2, kernel=RBF(0.4), approximation=RandomFourier(2000), preimage=None).fit(X.astype(dtype))
    truth = KernelPCA(2, kernel=RBF(0.4), preimage=None).fit(X.astype(float))
    np.testing.assert_allclose(model.eigenvalues_, truth.eigenvalues_, rtol=0.1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_phases_of_more_turns_than_digits_are_said(dtype):
    X = rows(200, 3).astype(dtype)
    model = KernelPCA(2, kernel=RBF(0.4), approximation=RandomFourier(500))
    assert model.fit(X).certificate_.satisfied
    X[::7, 2] = 1e15
    with pytest.warns(ConvergenceWarning, match="Rounding"):
        certificate = model.fit(X).certificate_
    assert (certificate.grade, certificate.satisfied) == ("rounded", False)


@pytest.mark.parametrize("part", [RandomFourier(64), RandomFourier(64, form="sin"), RandomReLU(64)], ids=str)
def test_blocks_products_and_norms_agree_with_the_map(part):
    X = rows(2500, 4)
    kernel = ArcCosine() if isinstance(part, RandomReLU) else RBF(0.4)
    features = part.fit(kernel, X, np.random.default_rng(0))
    before = X.copy()
    F = features.map(X)
    V = np.random.default_rng(5).standard_normal((64, 3))
    np.testing.assert_allclose(np.vstack([features.map(X[i : i + 700]) for i in range(0, 2500, 700)]), F, atol=1e-12)
    np.testing.assert_allclose(features.product(X, V), F @ V, atol=1e-11)
    np.testing.assert_allclose(features.squared_norms(X), (F**2).sum(axis=1), rtol=1e-12)
    assert features.squared_norms(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("part", [RandomFourier(64), RandomFourier(64, form="sin"), RandomReLU(64)], ids=str)
@pytest.mark.parametrize("asked", [np.float32, np.float64])
@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_features_are_made_in_the_precision_asked_for(part, asked, as_rows):
    X = rows(20, 4) + 1e4
    kernel = ArcCosine() if isinstance(part, RandomReLU) else 2 * RBF(0.4)
    fitted_on = X if as_rows is np.asarray else X - 1e4
    features = part.fit(kernel, as_rows(fitted_on), np.random.default_rng(0), center=False, dtype=np.dtype(asked))
    for given_dtype in (np.float32, np.float64):
        given_rows = as_rows(fitted_on.astype(given_dtype))
        F, squares = features.map_and_squares(given_rows, np.dtype(asked))
        assert F.dtype == squares.dtype == asked
        np.testing.assert_array_equal(F, features.map(given_rows, np.dtype(asked)))
        truth = features.map(fitted_on.astype(given_dtype).astype(np.float64))
        close = {"rtol": 1e-5, "atol": 1e-5 * np.abs(truth).max()}
        np.testing.assert_allclose(F, truth, **close)
        np.testing.assert_allclose(squares, (truth**2).sum(axis=1), rtol=1e-5)
    assert features.kernel is kernel
    assert features.name.startswith("64 random ")


@pytest.mark.parametrize("part", [RandomFourier(64), RandomFourier(64, form="sin"), RandomReLU(64)], ids=str)
def test_the_error_is_that_of_kernel_values(part):
    near, new = rows(20, 4), rows(7, 4, seed=8)
    kernel = ArcCosine() if isinstance(part, RandomReLU) else RBF(0.4)
    far = 0.0 if isinstance(part, RandomReLU) else 1e8
    A, B = near + far, new + far
    features = part.fit(kernel, A, np.random.default_rng(0))
    truth = kernel(A - far, B - far) - features.map(A) @ features.map(B).T
    np.testing.assert_allclose(features.error(A, B), truth, atol=1e-11)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 1000), d=st.integers(1, 6), half=st.integers(1, 20), factor=st.floats(0.01, 100))
def test_paired_features_have_the_kernels_norm_and_ignore_a_common_shift(seed, d, half, factor):
    X = rows(6, d, seed)
    features = fourier(factor * RBF(0.3), X, 2 * half, seed=seed)
    F, moved = features.map(X), features.map(X + 1.7)
    np.testing.assert_allclose((F**2).sum(axis=1), factor, rtol=1e-12)
    np.testing.assert_allclose(features.squared_norms(X), factor, rtol=1e-14)
    np.testing.assert_allclose(F @ F.T, moved @ moved.T, atol=1e-11 * factor)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_features_repeat_with_the_seed_and_leave_the_part_alone(sampling):
    X = rows()
    for part, kernel in ((RandomFourier(32, sampling, "cos"), RBF(0.4)), (RandomReLU(32, sampling), ArcCosine())):
        shown = repr(part)
        one, two, other = (part.fit(kernel, X, np.random.default_rng(seed)).map(X) for seed in (3, 3, 4))
        np.testing.assert_array_equal(one, two)
        assert np.abs(one - other).max() > 0.01
        assert repr(part) == shown


def test_a_single_feature_and_a_single_column_work():
    for X in (rows(4, 1), rows(4, 7)):
        for sampling in SAMPLINGS:
            assert fourier(RBF(0.4), X, 1, sampling, "cos").map(X).shape == (4, 1)
            assert fourier(RBF(0.4), X, 2, sampling).map(X).shape == (4, 2)
            assert fourier(RBF(0.4), X, 33, sampling, "sin").map(X).shape == (4, 33)


# ReLU


@cache
def relu_errors(sampling, r):
    X, pairs = rows(8, 4), np.triu_indices(8)
    K, found = ArcCosine(order=1)(X), []
    for seed in range(SEEDS):
        Z = RandomReLU(r, sampling).fit(ArcCosine(), X, np.random.default_rng(seed)).map(X)
        found.append((Z @ Z.T - K)[pairs])
    return np.array(found)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_relu_features_are_unbiased_and_converge(sampling):
    E = relu_errors(sampling, FEW)
    assert np.abs(E.mean(axis=0) / E.std(axis=0, ddof=1)).max() * math.sqrt(SEEDS) < 5
    assert_falls_as_theory_says(E, relu_errors(sampling, MANY))


def test_the_variance_of_a_relu_norm_is_that_of_theory():
    """Of the mean of r terms 2 max(w'x, 0)^2: (4 * 3/2 - 1) |x|^4 / r."""
    X = rows(3, 4)
    lengths = []
    for seed in range(2000):
        features = RandomReLU(64, "iid").fit(ArcCosine(), X, np.random.default_rng(seed))
        lengths.append(features.squared_norms(X))
    norms = (X**2).sum(axis=1)
    np.testing.assert_allclose(np.var(lengths, axis=0), 5 * norms**2 / 64, rtol=0.2)
    np.testing.assert_allclose(np.mean(lengths, axis=0), norms, rtol=4.5 * math.sqrt(5 / 64 / 2000))


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_relu_map_is_its_naive_twin(sampling):
    X = rows(6, 3)
    X[2] = 0.0
    features = RandomReLU(9, sampling).fit(ArcCosine(order=1), X, np.random.default_rng(0))
    assert isinstance(features, ReLUFeatures)
    assert features.size == 9
    assert math.isclose(features.amplitude, math.sqrt(2 / 9))
    np.testing.assert_allclose(features.map(X), naive_relu(features, X), atol=1e-14)
    np.testing.assert_allclose(features.map(sparse.csr_array(X)), features.map(X), atol=1e-14)
    single = X.astype(np.float32)
    for given_rows in (single, sparse.csr_matrix(single)):
        F = features.map(given_rows)
        assert F.dtype == np.float32
        np.testing.assert_allclose(F, features.map(X), atol=1e-5)


def test_weights_of_relu_features_are_normal():
    W = RandomReLU(4096, "iid").fit(ArcCosine(), rows(3, 4), np.random.default_rng(0)).W
    assert stats.kstest(W.ravel(), "norm").pvalue > 0.001


# how many


def test_the_suggested_number_is_the_smallest_even_one_that_the_bound_allows():
    def bound(r, eps, D, d, gamma):
        return 2**8 * (math.sqrt(2 * gamma * d) * D / eps) ** 2 * math.exp(-r * eps**2 / (4 * (d + 2)))

    for eps, D, d, gamma, p in [(0.1, 4.0, 3, 0.5, 0.01), (0.3, 1.0, 10, 2.0, 0.1), (0.05, 20.0, 1, 0.1, 1e-6)]:
        r = suggest_n_features(eps, D, d, RBF(gamma), p)
        assert isinstance(r, int)
        assert r % 2 == 0
        assert bound(r, eps, D, d, gamma) <= p < bound(r - 2, eps, D, d, gamma)


def test_the_suggested_number_counts_errors_relative_to_the_diagonal():
    assert suggest_n_features(0.2, 3.0, 4, 2 * RBF(0.5)) == suggest_n_features(0.1, 3.0, 4, RBF(0.5))


def test_small_sets_count_as_large_as_the_bound_needs():
    sigma = math.sqrt(2 * 0.5 * 4)
    at_least = suggest_n_features(0.1, 0.1 / sigma, 4, RBF(0.5))
    assert suggest_n_features(0.1, 1e-9, 4, RBF(0.5)) == at_least > 0


def test_next_to_nothing_still_takes_a_pair_of_features():
    assert suggest_n_features(1e9, 1.0, 3, RBF(0.5)) == suggest_n_features(0.1, 1.0, 3, 0 * RBF(0.5)) == 2


def test_the_suggested_number_keeps_its_promise():
    eps, kernel = 0.25, RBF(0.5)
    X = np.random.default_rng(0).uniform(-1, 1, (60, 2))
    r = suggest_n_features(eps, 2 * math.sqrt(2), 2, kernel)
    K = kernel(X)
    for form in FORMS:
        for seed in range(5):
            Z = fourier(kernel, X, r, "iid", form, seed).map(X)
            assert np.abs(Z @ Z.T - K).max() < eps


@pytest.mark.parametrize(
    "kernel",
    [
        RBF(0.3),
        Matern(2.5, 0.3),
        Matern(1.5, 0.3),
        Cauchy(0.4),
        RationalQuadratic(0.5, 0.4),
        RBF(0.3) * Cauchy(0.2),
        RBF(0.3) + 2 * Matern(2.5, 1.0),
        3 * RBF(0.2) + 1.5,
        (RBF(0.3) + 2.0).normalize(),
    ],
    ids=str,
)
def test_the_variance_of_frequencies_is_the_curvature_at_zero(kernel):
    h = 2e-4
    k0, k1 = (float(kernel(np.array([[0.0, 0.0]]), np.array([[0.0, t]]))[0, 0]) for t in (0.0, h))
    np.testing.assert_allclose(frequency_variance(kernel), 2 * (k0 - k1) / h**2 / k0, rtol=1e-3)


# refusals


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (RandomFourier(0), "n_features=0.*whole number >= 1"),
        (RandomFourier(10.0), "n_features=10.0.*whole number >= 1"),
        (RandomFourier("many"), "n_features='many'.*whole number >= 1"),
        (RandomFourier(True), "n_features=True.*whole number >= 1"),
        (RandomFourier(7), "must be even. Use 8, or form='cos'"),
        (RandomFourier(8, form="tan"), "form='tan'.*'paired'.*'cos' or 'sin'"),
        (RandomFourier(8, "sobol"), "sampling='sobol' is no way.*'orthogonal'.*'iid'.*'quasi'"),
    ],
)
def test_parameters_are_checked_at_fit(part, message):
    with pytest.raises(ValueError, match=message):
        part.fit(RBF(0.4), rows(), np.random.default_rng(0))


def test_relu_parameters_are_checked_at_fit():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"RandomReLU\(n_features=-1\).*whole number >= 1"):
        RandomReLU(-1).fit(ArcCosine(), rows(), rng)
    with pytest.raises(ValueError, match="sampling='halton' is no way"):
        RandomReLU(8, "halton").fit(ArcCosine(), rows(), rng)
    for kernel in (ArcCosine(order=0), RBF(0.4), 2 * ArcCosine()):
        with pytest.raises(ValueError, match=r"ArcCosine\(order=1\) alone; .* was given.*RandomFourier.*nystrom"):
            RandomReLU(8).fit(kernel, rows(), rng)


def test_kernels_without_spectrum_are_refused_with_a_way_out():
    with pytest.raises(ValueError, match=r'Polynomial.*no spectrum.*RBF, Laplacian, Matern.*approximation="nystrom"'):
        RandomFourier(8).fit(Polynomial(2, 1.0), rows(), np.random.default_rng(0))


def test_too_many_columns_for_sobol_are_refused():
    for kernel, d in ((RBF(0.4), 21_202), (RBF(0.4) * Cauchy(0.4), 10_601)):
        with pytest.raises(ValueError, match=r"sampling='quasi' needs 2120\d quasi-random.*sampling='orthogonal'"):
            RandomFourier(4, "quasi").fit(kernel, sparse.csr_array((3, d)), np.random.default_rng(0))


def test_rows_of_another_width_are_refused():
    X = rows()
    for features in (fourier(RBF(0.4), X), RandomReLU(8).fit(ArcCosine(), X, np.random.default_rng(0))):
        for other in (X[:, :1], rows(4, 5), sparse.csr_array(X[:, :2])):
            with pytest.raises(ValueError, match=r"X has \d columns, and these features were chosen for rows of 3"):
                features.map(other)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"eps": 0.0}, "eps=0.0.*positive"),
        ({"eps": "small"}, "eps='small'.*positive"),
        ({"diameter": -1.0}, "diameter=-1.0.*positive"),
        ({"diameter": math.inf}, "diameter=inf.*positive"),
        ({"n_inputs": 0}, "n_inputs=0.*positive whole number"),
        ({"n_inputs": 2.5}, "n_inputs=2.5.*positive whole number"),
        ({"failure_probability": 1.0}, "failure_probability=1.0.*between 0 and 1"),
        ({"kernel": Laplacian(0.5)}, "Laplacian.*no frequencies of finite variance.*Matern with nu > 1"),
        ({"kernel": Matern(0.5, 1.0)}, "Matern.*no frequencies of finite variance"),
        ({"kernel": RBF(0.5) + Matern(1.0, 1.0)}, "Matern.*no frequencies of finite variance"),
        ({"kernel": -1 * RBF(0.5)}, "Scale.*no frequencies of finite variance"),
        ({"kernel": Linear()}, "Linear.*no frequencies of finite variance"),
        ({"kernel": RBF()}, "depends on data"),
    ],
)
def test_suggestions_are_refused_where_they_would_mean_nothing(changes, message):
    with pytest.raises(ValueError, match=message):
        suggest_n_features(**({"eps": 0.1, "diameter": 1.0, "n_inputs": 3, "kernel": RBF(0.5)} | changes))
