"""Maps that keep dot products: against loops, against their expectations, and against the bounds of section 4.2."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits

from kernelpca.features.projections import (
    DRAWN,
    Downsample,
    FeatureGrouping,
    FeatureHashing,
    FittedProjection,
    GaussianProjection,
    SparseProjection,
    averages,
)

RANDOM = [
    GaussianProjection(),
    FeatureHashing(),
    FeatureHashing(n_hashes=3),
    SparseProjection(),
    SparseProjection(density=1 / 3),
    SparseProjection(density=1.0),
]
ALL = [*RANDOM, FeatureHashing(signed=False), Downsample((24, 30)), Downsample((12, 20, 3)), FeatureGrouping()]
D = 720


def data(n=40, d=D, seed=1):
    return np.random.default_rng(seed).standard_normal((n, d))


def fitted(projection, q=50, seed=0, X=None):
    X = data() if X is None else X
    return projection.fit(X.shape[1], q, np.random.default_rng(seed), X)


def whole(projection: FittedProjection):
    P = projection.part(slice(None))
    return P.toarray() if sparse.issparse(P) else P


# naive twins


def naive_product(X, P):
    result = np.zeros((len(X), P.shape[1]))
    for i in range(len(X)):
        for a in range(P.shape[0]):
            for b in range(P.shape[1]):
                result[i, b] += X[i, a] * P[a, b]
    return result


def naive_resize(image, height, width):
    """Average over areas, pixel by pixel: (H, W, C) -> (height, width, C)."""
    H, W, C = image.shape
    small = np.zeros((height, width, C))
    for i in range(height):
        for j in range(width):
            top, bottom, left, right = i * H / height, (i + 1) * H / height, j * W / width, (j + 1) * W / width
            for y in range(H):
                for x in range(W):
                    tall = max(min(bottom, y + 1) - max(top, y), 0)
                    wide = max(min(right, x + 1) - max(left, x), 0)
                    small[i, j] += tall * wide * image[y, x]
            small[i, j] /= (bottom - top) * (right - left)
    return small


# what all have in common


@pytest.mark.parametrize("projection", ALL, ids=repr)
class TestContract:
    def test_products_are_those_of_its_matrix(self, projection):
        X = data()
        f = fitted(projection)
        P = whole(f)
        assert P.shape == (f.n_inputs, f.n_outputs) == (D, f.n_outputs)
        np.testing.assert_allclose(f.apply(X), X @ P, atol=1e-12)
        np.testing.assert_allclose(f.apply(X[:2, :])[:, :3], naive_product(X[:2], P[:, :3]), atol=1e-12)

    def test_sparse_rows_give_the_same(self, projection):
        X = data() * (np.random.default_rng(2).random((40, D)) < 0.1)
        f = fitted(projection)
        for kind in (sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix):
            np.testing.assert_allclose(f.apply(kind(X)), f.apply(X), atol=1e-12)
        origin = np.linspace(0, 1, D)
        np.testing.assert_allclose(f.apply(sparse.csr_matrix(X), origin), f.apply(X, origin), atol=1e-11)

    def test_precision_follows_the_data(self, projection):
        X = data()
        f = fitted(projection)
        single = f.apply(X.astype(np.float32))
        assert single.dtype == np.float32
        assert f.apply(X).dtype == np.float64
        assert f.apply(sparse.csr_matrix(X.astype(np.float32))).dtype == np.float32
        np.testing.assert_allclose(single, f.apply(X), atol=1e-4 * np.abs(f.apply(X)).max())

    def test_order_in_memory_does_not_matter_and_nothing_is_changed(self, projection):
        X = data()
        kept = X.copy()
        f = fitted(projection)
        np.testing.assert_allclose(f.apply(np.asfortranarray(X)), f.apply(X), atol=1e-12)
        np.testing.assert_allclose(f.apply(data(80)[::2]), f.apply(data(80))[::2], atol=1e-12)
        np.testing.assert_array_equal(X, kept)

    def test_an_origin_far_from_zero_costs_no_digits(self, projection):
        X = data()
        f = fitted(projection)
        far = X + 2.0**20
        np.testing.assert_allclose(f.apply(far, np.full(D, 2.0**20)), f.apply(far - 2.0**20), atol=1e-12)

    def test_a_seed_fixes_it_and_the_part_stays_as_it_was(self, projection):
        X = data()
        before = projection.get_params()
        np.testing.assert_array_equal(fitted(projection, seed=3).apply(X), fitted(clone(projection), seed=3).apply(X))
        assert projection.get_params() == before

    def test_it_is_frozen(self, projection):
        with pytest.raises(AttributeError):
            fitted(projection).n_outputs = 3

    def test_the_wrong_number_of_columns_is_refused(self, projection):
        with pytest.raises(ValueError, match=r"X has 719 columns; this projection takes 720\."):
            fitted(projection).apply(data()[:, :-1])

    @pytest.mark.parametrize("q", [0, -3, 2.5, True])
    def test_no_outputs_are_refused(self, projection, q):
        with pytest.raises(ValueError, match=r"cannot map to n_outputs=.* dimension 0 .* whole number of at least 1"):
            projection.fit(D, q, np.random.default_rng(0), data())

    def test_one_output_is_enough(self, projection):
        if getattr(projection, "n_hashes", 1) == 1:
            assert fitted(projection, q=1).apply(data()).shape[1] in (1, 3)  # three channels stay


@given(start=st.integers(0, 3 * DRAWN), length=st.integers(0, 2 * DRAWN), which=st.integers(0, len(ALL) - 1))
@settings(max_examples=60, deadline=None)
def test_parts_do_not_depend_on_how_they_are_cut(start, length, which):
    f = fitted(ALL[which])
    part = f.part(slice(start, start + length))
    part = part.toarray() if sparse.issparse(part) else part
    np.testing.assert_array_equal(part, whole(f)[start : start + length])


def test_a_part_with_a_step_is_refused():
    with pytest.raises(ValueError, match=r"has a step of 2; parts of a projection are slices without a step"):
        fitted(GaussianProjection()).part(slice(0, 10, 2))


def test_blocks_of_gaussian_inputs_are_independent():
    P = fitted(GaussianProjection(), q=400).part(slice(0, 3 * DRAWN))
    first, second = P[:DRAWN], P[DRAWN : 2 * DRAWN]
    assert abs(np.corrcoef(first.ravel(), second.ravel())[0, 1]) < 0.02
    assert abs(P.std() * np.sqrt(400) - 1) < 0.01
    assert abs(P.mean()) * np.sqrt(400) < 0.01


def test_a_gaussian_projection_is_never_held_whole():
    d, q = 200_000, 300
    X = np.ones((4, d), np.float32)
    f = GaussianProjection().fit(d, q, np.random.default_rng(0))
    tracemalloc.start()
    try:
        f.apply(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < d * q * 4 / 6


def test_x_is_not_copied():
    X = data(2000, 1000)
    for projection in (GaussianProjection(), FeatureHashing(), Downsample((20, 50))):
        f = fitted(projection, q=10, X=X)
        tracemalloc.start()
        try:
            f.apply(X, np.ones(1000))
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 1.1 * X.nbytes, projection  # blocks of 2^20 numbers, twice, of 2^21


# expectations


@pytest.mark.parametrize("projection", RANDOM, ids=repr)
def test_random_projections_keep_dot_products_in_expectation(projection):
    X, draws = data(6, 60), 1500
    grams = np.empty((draws, 6, 6))
    for seed in range(draws):
        Y = fitted(projection, q=16, seed=seed, X=X).apply(X)
        grams[seed] = Y @ Y.T
    error = (grams.mean(axis=0) - X @ X.T) / (grams.std(axis=0) / np.sqrt(draws) + 1e-12)
    assert np.abs(error).max() < 4.5


def test_hashing_without_signs_is_biased_as_it_should_be():
    """E = x'y + (sum x sum y - x'y) / b for b buckets of each hash function."""
    rng = np.random.default_rng(0)
    X, draws = rng.random((4, 40)), 2000
    for hashes, q in ((1, 8), (2, 16)):
        grams = np.empty((draws, 4, 4))
        for seed in range(draws):
            Y = fitted(FeatureHashing(hashes, signed=False), q=q, seed=seed, X=X).apply(X)
            grams[seed] = Y @ Y.T
        exact, sums = X @ X.T, X.sum(axis=1)
        expected = exact + (np.outer(sums, sums) - exact) / 8
        error = (grams.mean(axis=0) - expected) / (grams.std(axis=0) / np.sqrt(draws))
        assert np.abs(error).max() < 4.5
        assert (grams.mean(axis=0) > 2 * exact).all()


def test_hashing_puts_each_feature_into_one_bucket_of_each_function():
    P = whole(fitted(FeatureHashing(n_hashes=3), q=50))
    widths = [17, 17, 16]  # the remainder is spread
    first = np.cumsum([0, *widths])
    for i in range(3):
        part = P[:, first[i] : first[i + 1]]
        assert ((part != 0).sum(axis=1) == 1).all()
        assert (part != 0).any(axis=0).all()
    np.testing.assert_allclose(np.abs(P[P != 0]), 1 / np.sqrt(3))


def test_density_is_what_was_asked_for():
    for density, expected in (("auto", 1 / np.sqrt(D)), (1 / 3, 1 / 3), (1.0, 1.0)):
        P = whole(fitted(SparseProjection(density), q=200))
        assert (P != 0).mean() == pytest.approx(expected, rel=0.05)
        np.testing.assert_allclose(np.abs(P[P != 0]), 1 / np.sqrt(expected * 200))
        assert abs(np.sign(P[P != 0]).mean()) < 0.05


def test_more_outputs_keep_more():
    X = data()
    K = X @ X.T

    def error(projection, q):
        return np.mean([np.linalg.norm(Y @ Y.T - K) for Y in (fitted(projection, q, s).apply(X) for s in range(5))])

    for projection in RANDOM:  # the error falls as 1/sqrt(q)
        few, more, many = (error(projection, q) for q in (20, 180, 1620))
        assert 2 < few / more < 4.5, projection
        assert 2 < more / many < 4.5, projection


# images


@pytest.mark.parametrize(("shape", "q"), [((8, 8), 16), ((7, 9), 20), ((6, 5, 3), 30), ((5, 5), 25), ((5, 5), 99)])
def test_images_are_averaged_over_areas(shape, q):
    d = int(np.prod(shape))
    image = data(1, d).reshape(shape)
    f = Downsample(shape).fit(d, q, np.random.default_rng(0))
    H, W, C = (*shape, 1)[:3]
    ratio = min(np.sqrt(q / d), 1)
    height, width = round(H * ratio), round(W * ratio)
    small = naive_resize(image.reshape(H, W, C), height, width)
    assert f.n_outputs == height * width * C
    expected = small.ravel() * np.sqrt(d / f.n_outputs)
    np.testing.assert_allclose(f.apply(image.reshape(1, d))[0], expected, atol=1e-12)


def test_dot_products_of_smooth_images_are_kept_and_would_not_be_without_the_factor():
    y, x = np.mgrid[:40, :60] / 60
    images = np.array([np.cos(3 * a * x + b * y).ravel() + 0.5 for a, b in ((1, 0), (0, 2), (1, 2), (2, 1))])
    f = Downsample((40, 60)).fit(2400, 600, np.random.default_rng(0))
    assert f.n_outputs == 600
    K, small = images @ images.T, f.apply(images) @ f.apply(images).T
    np.testing.assert_allclose(small, K, rtol=0.01)
    plain = images.reshape(4, 20, 2, 30, 2).mean(axis=(2, 4)).reshape(4, 600)
    np.testing.assert_allclose(plain @ plain.T * 4, K, rtol=0.01)  # off by d/q = 4
    constant = np.ones((1, 2400))
    assert np.square(f.apply(constant)).sum() == pytest.approx(2400)


def test_averages_sum_to_one():
    for length, parts in ((10, 3), (7, 7), (5, 1), (1080, 270)):
        A = averages(length, parts).toarray()
        np.testing.assert_allclose(A.sum(axis=1), 1)
        np.testing.assert_allclose(A.sum(axis=0), parts / length)


@pytest.mark.parametrize("shape", [(10, 10), (720,), "720", (24, 30, 1, 1), (-24, -30), (24.0, 30.0), None])
def test_wrong_shapes_are_refused(shape):
    with pytest.raises(ValueError, match=r"Downsample\(shape=.*(Give the shape of one row|give \(height, width\))"):
        Downsample(shape).fit(D, 20, np.random.default_rng(0))


# groups (section 4.2)


def test_the_error_of_replacing_a_feature_is_that_of_equation_35():
    X = data(30, 12)
    X[:, 1] = 0.9 * X[:, 0] + 0.1 * X[:, 1]
    C = X.T @ X
    for a, b in ((0, 1), (2, 3), (1, 7)):
        replaced = X.copy()
        replaced[:, a] = X[:, b]
        difference = X @ X.T - replaced @ replaced.T
        formula = C[a, a] ** 2 + C[b, b] ** 2 - 2 * C[a, b] ** 2
        sums = sum((X[i, a] * X[j, a] - X[i, b] * X[j, b]) ** 2 for i in range(len(X)) for j in range(len(X)))  # eq. 32
        assert formula == pytest.approx(np.square(difference).sum()) == pytest.approx(sums)
        shift = np.abs(np.linalg.eigvalsh(X @ X.T) - np.linalg.eigvalsh(replaced @ replaced.T)).max()
        assert shift <= np.linalg.norm(difference, 2) * (1 + 1e-12) <= np.sqrt(formula) * (1 + 1e-12)  # eq. 30


def test_groups_are_the_texts_construction_and_obey_its_bound():
    X = load_digits().data[:400]
    X = X - X.mean(axis=0)
    f = fitted(FeatureGrouping(), q=24, X=X)
    P = f.matrix.tocsc()
    representatives, sizes = P.indices, np.square(P.data)
    assert f.n_outputs == 24
    assert len(set(representatives)) == 24
    assert sizes.sum() == pytest.approx(64)
    replaced = np.repeat(X[:, representatives], np.round(sizes).astype(int), axis=1)  # every member by its own
    Y = f.apply(X)
    np.testing.assert_allclose(Y @ Y.T, replaced @ replaced.T, atol=1e-8)
    difference = X @ X.T - Y @ Y.T
    shift = np.abs(np.linalg.eigvalsh(X @ X.T) - np.linalg.eigvalsh(Y @ Y.T)).max()
    assert shift <= np.linalg.norm(difference, 2) * (1 + 1e-9) <= np.linalg.norm(difference) * (1 + 1e-9)


def test_groups_are_better_than_features_at_random():
    X = load_digits().data[:600]
    X = X - X.mean(axis=0)
    K = X @ X.T
    Y = fitted(FeatureGrouping(), q=24, X=X).apply(X)
    rng, others = np.random.default_rng(0), []
    for _ in range(20):
        chosen = rng.choice(64, 24, replace=False)
        others.append(np.linalg.norm(X[:, chosen] @ X[:, chosen].T * 64 / 24 - K))
    assert np.linalg.norm(Y @ Y.T - K) < min(others)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_copies_of_a_feature_are_one_group(kind):
    rng = np.random.default_rng(0)
    base = rng.standard_normal((100, 5))
    base = (base - base.mean(axis=0)) / base.std(axis=0)
    order = rng.permutation(60)
    X = np.repeat(base, 12, axis=1)[:, order] * rng.choice([-1.0, 1.0], 60)  # either sign
    f = FeatureGrouping().fit(60, 5, np.random.default_rng(1), kind(X))
    np.testing.assert_allclose(f.apply(X) @ f.apply(X).T, X @ X.T, atol=1e-9)
    assert f.n_outputs == 5
    more = FeatureGrouping().fit(60, 20, np.random.default_rng(1), kind(X))  # there are no more than five
    assert more.n_outputs == 5


def test_constant_columns_and_as_many_groups_as_features():
    assert FeatureGrouping().fit(9, 3, np.random.default_rng(0), np.ones((5, 9))).n_outputs == 1
    X = data(20, 9)
    f = FeatureGrouping().fit(9, 9, np.random.default_rng(0), X)
    np.testing.assert_array_equal(f.apply(X), X)


# bad input


def test_groups_need_data():
    with pytest.raises(ValueError, match=r"FeatureGrouping finds its groups in data: give X to fit"):
        FeatureGrouping().fit(10, 3, np.random.default_rng(0))


def test_data_of_another_width_is_refused():
    with pytest.raises(ValueError, match=r"X has 720 columns, but d=10 inputs were announced"):
        FeatureGrouping().fit(10, 3, np.random.default_rng(0), data())


def test_hash_functions_need_a_bucket_each():
    with pytest.raises(ValueError, match=r"2 features cannot hold n_hashes=3 hash functions.*n_features=3"):
        fitted(FeatureHashing(n_hashes=3), q=2)
    for count in (0, 1.5, True, "two"):
        with pytest.raises(ValueError, match=r"FeatureHashing\(n_hashes=.*whole number of at least 1"):
            fitted(FeatureHashing(n_hashes=count))


@pytest.mark.parametrize("density", [0, -0.1, 1.1, "sparse", None, True])
def test_unknown_densities_are_refused(density):
    with pytest.raises(ValueError, match=r"SparseProjection\(density=.*above 0 and up to 1.*'auto'"):
        fitted(SparseProjection(density))


def test_no_inputs_are_refused():
    with pytest.raises(ValueError, match=r"GaussianProjection cannot map to n_inputs=0"):
        GaussianProjection().fit(0, 3, np.random.default_rng(0))
