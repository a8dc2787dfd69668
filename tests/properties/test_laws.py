"""Laws that hold for any data; Hypothesis looks for the exception."""

import warnings

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import reference
from kernelpca import KernelPCA
from kernelpca.gram import CenteredGram, DenseGram
from kernelpca.kernels import (
    RBF,
    ArcCosine,
    Cauchy,
    Cosine,
    HistogramIntersection,
    JensenShannon,
    Laplacian,
    Linear,
    Polynomial,
)

settings.register_profile("laws", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("laws")

numbers = st.floats(-10, 10, allow_nan=False, width=32).map(lambda x: round(x, 3))
kernels = st.sampled_from(
    [
        Linear(),
        RBF(0.1),
        Cauchy(0.3),
        Laplacian(0.2),
        Laplacian(0.2, norm="euclidean"),
        Polynomial(2, 0.05, 1.0),
        Cosine(),
        ArcCosine(1),
        RBF(0.1) + 0.5 * Linear(),
        RBF(0.1) * Polynomial(2, 0.1, 1.0),
    ]
)


@st.composite
def matrices(draw, least=2, most=12, elements=numbers):
    n, d = draw(st.integers(least, most)), draw(st.integers(1, 4))
    return draw(arrays(np.float64, (n, d), elements=elements))


def fit(X, k=None, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # equal rows have no variance, and say so
        return KernelPCA(k, solver="dense", **options).fit(X)


@given(matrices(), kernels)
def test_kernel_matrices_are_symmetric_and_positive(X, kernel):
    K = kernel(X)
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K).min() >= -1e-9 * max(np.abs(K).max() * len(K), 1e-300)


@given(matrices(elements=numbers.map(abs)), st.sampled_from([HistogramIntersection(), JensenShannon()]))
def test_histogram_kernels_obey_cauchy_schwarz(X, kernel):
    K = kernel(X)
    bound = np.sqrt(np.outer(K.diagonal(), K.diagonal()))
    assert (np.abs(K) <= bound * (1 + 1e-9) + 1e-9).all()


@given(matrices(), kernels)
def test_centering_is_its_own_square(X, kernel):
    K = kernel(X)
    once = CenteredGram(DenseGram(K)).dense()
    size = max(np.abs(K).max(), 1e-300)
    np.testing.assert_allclose(once, reference.center(K), atol=1e-12 * size)
    np.testing.assert_allclose(CenteredGram(DenseGram((once + once.T) / 2)).dense(), once, atol=1e-12 * size)
    np.testing.assert_allclose(once.sum(axis=0), 0, atol=1e-11 * size)


@given(matrices(), kernels)
def test_scores_reproduce_the_centered_matrix(X, kernel):
    """With all components kept, inner products of scores are inner products of centered features."""
    model = fit(X, kernel=kernel)
    Z = model.transform(X)
    K = kernel(X)
    np.testing.assert_allclose(Z @ Z.T, reference.center(K), atol=1e-6 * max(np.abs(K).max(), 1e-9))
    assert model.residuals(X).max() <= 1e-6 * max(np.abs(K).max(), 1e-9)


@given(matrices(least=4), kernels, st.integers(0, 2**32 - 1))
def test_order_of_rows_does_not_matter(X, kernel, seed):
    order = np.random.default_rng(seed).permutation(len(X))
    one, other = fit(X, 2, kernel=kernel), fit(X[order], 2, kernel=kernel)
    size = max(one.eigenvalues_[0], 1e-9)
    np.testing.assert_allclose(one.eigenvalues_, other.eigenvalues_, atol=1e-9 * max(size, np.abs(kernel(X)).max()))


@given(matrices(least=3), kernels, st.floats(0.1, 10))
def test_scaling_the_kernel_scales_the_eigenvalues(X, kernel, factor):
    one, other = fit(X, 2, kernel=kernel), fit(X, 2, kernel=factor * kernel)
    size = max(np.abs(kernel(X)).max(), 1e-9) * factor
    np.testing.assert_allclose(factor * one.eigenvalues_, other.eigenvalues_, atol=1e-8 * size)


@given(matrices(least=3), kernels, st.floats(0, 10))
def test_a_constant_in_the_kernel_is_centered_away(X, kernel, constant):
    one, other = fit(X, 2, kernel=kernel), fit(X, 2, kernel=kernel + constant)
    size = max(np.abs(kernel(X)).max() + constant, 1e-9)
    np.testing.assert_allclose(one.eigenvalues_, other.eigenvalues_, atol=1e-8 * size)


@given(matrices(least=3), kernels)
def test_variance_is_conserved(X, kernel):
    model = fit(X, 2, kernel=kernel)
    captured = model.eigenvalues_.sum()
    left = model.residuals(X).sum()
    total = model.total_variance_ * (len(X) - 1)
    np.testing.assert_allclose(captured + left, total, atol=1e-7 * max(np.abs(kernel(X)).max() * len(X), 1e-9))
    assert (np.diff(model.eigenvalues_) <= 1e-12 * max(model.eigenvalues_[0], 1)).all()
    assert model.explained_variance_ratio_.sum() <= 1 + 1e-6


@given(matrices(least=3), kernels)
def test_fit_transform_is_fit_then_transform(X, kernel):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = KernelPCA(kernel=kernel)
        Z = model.fit_transform(X)
    size = np.sqrt(max(np.abs(kernel(X)).max(), 1e-9) * len(X))
    np.testing.assert_allclose(model.transform(X), Z, atol=1e-7 * size)
    assert np.isfinite(Z).all()


@given(matrices(least=4), kernels, st.lists(st.integers(1, 3), min_size=12, max_size=12))
def test_weights_are_repetitions(X, kernel, counts):
    counts = np.array(counts[: len(X)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        weighted = KernelPCA(2, kernel=kernel, solver="dense").fit(X, sample_weight=counts)
        repeated = KernelPCA(2, kernel=kernel, solver="dense").fit(np.repeat(X, counts, axis=0))
    size = max(np.abs(kernel(X)).max(), 1e-9)
    np.testing.assert_allclose(weighted.eigenvalues_ / len(X), repeated.eigenvalues_ / counts.sum(), atol=1e-8 * size)


@given(matrices(least=3, most=8), kernels)
def test_lapack_agrees_with_jacobi(X, kernel):
    K = kernel(X)
    values, _ = reference.jacobi(reference.center(K))
    model = fit(X, 2, kernel=kernel)
    np.testing.assert_allclose(model.eigenvalues_, np.maximum(values[:2], 0), atol=1e-8 * max(np.abs(K).max(), 1e-9))
