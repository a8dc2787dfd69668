"""Sparse kernel PCA as an estimator: what is left out does not matter, and what that costs is stated."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

import reference
from kernelpca import KernelPCA, SparseKernelPCA
from kernelpca.estimators.support import Coefficients, keep_support
from kernelpca.features import Nystrom, RandomFourier
from kernelpca.gram import CenteredGram, DenseGram
from kernelpca.kernels import RBF
from kernelpca.preimage import Ridge
from kernelpca.quantile import quantile

DIGITS = load_digits(return_X_y=True)[0] / 16
KERNEL = RBF(0.02)


def noise(n=300, d=5, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def true_scores(model, X, new, kernel, center):
    """Scores on the directions of the dual solution about the mean of all rows, turned to the model's axes."""
    K, K_new = kernel(X), kernel(new, X)
    if center:
        mean, total = K.mean(axis=0), K.mean()
        K_new = K_new - mean - K_new.mean(axis=1)[:, None] + total
        K = K - mean - mean[:, None] + total
    H = np.zeros((len(X), model.n_components_))
    H[model.support_] = model.dual_coef_
    root = np.linalg.inv(reference.matrix_root(H.T @ K @ H))
    own, scores = K @ H @ root, K_new @ H @ root
    U, _, Vt = np.linalg.svd(own.T @ (model.transform(X) - (model.transform(X).mean(axis=0) if center else 0)))
    return scores @ (U @ Vt)


@pytest.mark.parametrize("norm", ["2", "inf"])
@pytest.mark.parametrize("sparsity", [0.0, 0.2, 0.5, 0.8])
def test_the_wanted_part_of_the_rows_is_left_out(norm, sparsity):
    X = noise()
    model = SparseKernelPCA(3, kernel=RBF(0.1), sparsity=sparsity, norm=norm).fit(X)
    assert model.sparsity_ == pytest.approx(sparsity, abs=0.011)
    assert len(model.support_) == len(X) - round(model.sparsity_ * len(X))
    assert model.components_.shape == (3, len(model.support_))
    assert model.dual_coef_.shape == (len(model.support_), 3)
    assert model.entry_sparsity_ >= model.sparsity_ - 1e-12


def test_half_of_the_rows_by_default():
    assert SparseKernelPCA(2).fit(noise()).sparsity_ == pytest.approx(0.5, abs=0.011)


def test_a_sparsity_between_two_branches_of_a_path():
    """On these digits the part of zero rows jumps from 0.57 to 0.65 as epsilon grows; 0.6 can be had all the same."""
    X = load_digits(return_X_y=True)[0][:500]
    model = SparseKernelPCA(3, sparsity=0.6).fit(X)
    assert model.sparsity_ == pytest.approx(0.6)
    assert model.certificate_.satisfied


@pytest.mark.parametrize("norm", ["2", "inf"])
def test_epsilon_zero_is_ordinary_kernel_pca(norm):
    X = noise()
    model = SparseKernelPCA(3, kernel=RBF(0.1), epsilon=0.0, norm=norm, tol=1e-9).fit(X)
    classical = KernelPCA(3, kernel=RBF(0.1), tol=0).fit(X)
    assert model.sparsity_ == 0
    np.testing.assert_allclose(model.transform(X), classical.transform(X), atol=1e-6)
    np.testing.assert_allclose(model.eigenvalues_, classical.eigenvalues_, rtol=1e-6)
    assert model.certificate_.score_error < 1e-4


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("sparsity", [0.2, 0.5, 0.8])
def test_scores_are_within_the_stated_error(center, sparsity):
    X, new = DIGITS[:400], DIGITS[400:600]
    model = SparseKernelPCA(4, kernel=KERNEL, sparsity=sparsity, center=center, tol=1e-7).fit(X)
    for rows in (X, new):
        difference = np.linalg.norm(model.transform(rows) - true_scores(model, X, rows, KERNEL, center), axis=1).max()
        assert difference <= model.certificate_.score_error + 1e-6
    if not center:
        assert model.certificate_.score_error == 0
    else:
        assert 0 < model.certificate_.score_error < 2


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 3), kept=st.integers(5, 25))
def test_the_error_of_the_mean_is_what_it_is_said_to_be(seed, k, kept):
    """Any coefficients on any rows: directions stay orthonormal, and distances and scores are those of the formulas."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 2))
    K = RBF(0.5)(X)
    gram = DenseGram(K, positive_definite=True)
    centered = CenteredGram(gram)
    Kc = centered.dense()
    alpha = np.zeros((30, k))
    rows = rng.choice(30, kept, replace=False)
    alpha[rows] = rng.standard_normal((kept, k))
    alpha = alpha @ np.linalg.inv(np.linalg.cholesky(alpha.T @ Kc @ alpha)).T
    found = keep_support(Coefficients(alpha, Kc @ alpha), gram, centered)
    np.testing.assert_array_equal(found.rows, np.sort(rows))
    block = K[np.ix_(found.rows, found.rows)]
    np.testing.assert_allclose(found.W.T @ block @ found.W, np.eye(k), atol=1e-6)
    np.testing.assert_allclose(found.W.sum(axis=0), 0, atol=1e-6)
    assert found.mean_weights.sum() == pytest.approx(1.0)
    full = np.zeros(30)
    full[found.rows] = found.mean_weights
    apart = full - 1 / 30
    assert found.center_error == pytest.approx(np.sqrt(max(apart @ K @ apart, 0)), abs=1e-6)
    np.testing.assert_allclose(K[:, found.rows] @ found.W + found.b, found.scores, atol=1e-6)
    assert np.linalg.norm(found.scores - Kc @ alpha @ found.turn, axis=1).max() <= found.score_error + 1e-6


def test_what_is_left_out_does_not_matter():
    """The model of the kept rows alone, and a model that never saw the others' columns."""
    X = noise()
    model = SparseKernelPCA(2, kernel=RBF(0.1), sparsity=0.6, center=False, tol=1e-8).fit(X)
    kept = model.support_
    np.testing.assert_allclose(model.transform(X), RBF(0.1)(X, X[kept]) @ model.components_.T, atol=1e-10)
    K = RBF(0.1)(X)
    given = SparseKernelPCA(2, kernel="precomputed", sparsity=0.6, center=False, tol=1e-8).fit(K)
    np.testing.assert_array_equal(given.support_, kept)
    blind = K.copy()
    blind[:, np.setdiff1d(np.arange(len(X)), kept)] = 1e6
    np.testing.assert_array_equal(given.transform(blind), given.transform(K))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_model_shrinks_with_its_support(dtype):
    """What is stored follows the rows that are kept."""
    X = np.random.default_rng(0).standard_normal((1000, 60)).astype(dtype)
    whole = len(pickle.dumps(KernelPCA(5, kernel=RBF(0.01)).fit(X)))
    for center in (True, False):
        half = SparseKernelPCA(5, kernel=RBF(0.01), sparsity=0.5, center=center).fit(X)
        assert len(pickle.dumps(half)) <= 0.6 * whole
        again = pickle.loads(pickle.dumps(half))
        np.testing.assert_array_equal(again.transform(X[:5]), half.transform(X[:5]))


@pytest.mark.parametrize("sparsity", [0.3, 0.6])
def test_fit_transform_equals_transform(sparsity):
    X = DIGITS[:300]
    model = SparseKernelPCA(3, kernel=KERNEL, sparsity=sparsity)
    Z = model.fit_transform(X)
    np.testing.assert_allclose(Z, model.transform(X), atol=1e-9)
    np.testing.assert_allclose(model.eigenvalues_, np.square(Z - Z.mean(axis=0)).sum(axis=0))
    assert 0 < model.explained_variance_ratio_.sum() < 1
    square = KernelPCA(3, kernel=KERNEL, tol=0).fit(X)
    assert model.explained_variance_ratio_.sum() <= square.explained_variance_ratio_.sum()
    assert (model.residuals(X) >= 0).all()
    assert f"{len(model.support_)} rows are kept" in str(model.certificate_)


def test_the_way_back():
    X = DIGITS[:400]
    for preimage in (None, Ridge()):
        model = SparseKernelPCA(15, kernel=KERNEL, sparsity=0.4, preimage=preimage).fit(X)
        back = model.inverse_transform(model.transform(X[:50]))
        assert np.mean((back - X[:50]) ** 2) < 0.7 * np.mean((X.mean(axis=0) - X[:50]) ** 2)
        assert model._inverse.space.samples.shape == (len(model.support_), 64)


@pytest.mark.parametrize("approximation", [Nystrom(80), RandomFourier(300)], ids=repr)
def test_approximations_keep_their_own_points(approximation):
    X = DIGITS[:400]
    model = SparseKernelPCA(3, kernel=KERNEL, sparsity=0.5, approximation=approximation).fit(X)
    assert model.sparsity_ == pytest.approx(0.5, abs=0.011)
    assert len(model.support_) == 200
    np.testing.assert_allclose(model.fit_transform(X), model.transform(X), atol=1e-8)


def test_sample_weights_count_like_repetitions():
    X = noise(60, 3)
    counts = np.random.default_rng(0).integers(0, 4, len(X))
    settings = {"kernel": RBF(0.2), "epsilon": 0.15, "tol": 1e-9}
    weighted = SparseKernelPCA(2, **settings).fit(X, sample_weight=counts)
    whole = SparseKernelPCA(2, **settings).fit(np.repeat(X, counts, axis=0))
    np.testing.assert_allclose(weighted.transform(X), whole.transform(X), atol=1e-5)
    np.testing.assert_array_equal(weighted.support_, np.unique(np.repeat(np.arange(60), counts)[whole.support_]))
    assert weighted.sparsity_ == pytest.approx(whole.sparsity_)


def test_a_path_grows_sparser():
    X = noise(150)
    base = SparseKernelPCA(2, kernel=RBF(0.1), tol=1e-6, center=False)
    path = base.epsilon_path(X, 5)
    assert [model.epsilon for model in path] == [0.0, "0.2max", "0.4max", "0.6max", "0.8max"]
    sparsity = [model.sparsity_ for model in path]
    assert sparsity[0] == 0
    assert sparsity == sorted(sparsity)
    assert sparsity[-1] > 0.5
    captured = [model.explained_variance_ratio_.sum() for model in path]
    assert captured[0] > captured[-1]
    single = clone(path[1]).fit(X)
    assert path[1].certificate_.loss == pytest.approx(single.certificate_.loss, rel=1e-5)
    two = base.epsilon_path(X, [0.05, "0.3max"])
    assert [model.epsilon_ for model in two] == pytest.approx([0.05, 0.3 * two[0].epsilon_max_])


def test_float32():
    X = DIGITS[:300].astype(np.float32)
    model = SparseKernelPCA(3, kernel=KERNEL, sparsity=0.5).fit(X)
    assert model.transform(X).dtype == np.float32
    fine = SparseKernelPCA(3, kernel=KERNEL, sparsity=0.5).fit(X.astype(np.float64))
    assert np.mean(np.isin(model.support_, fine.support_)) > 0.97
    np.testing.assert_allclose(model.explained_variance_ratio_, fine.explained_variance_ratio_, rtol=1e-2)


# bad input


def test_an_epsilon_that_leaves_nothing_tells_the_largest_useful():
    X = noise(100)
    largest = SparseKernelPCA(2, epsilon=0.0).fit(X).epsilon_max_
    with pytest.raises(
        ValueError, match=rf"epsilon=50 leaves nothing: the largest useful value is below {largest:.4g}"
    ):
        SparseKernelPCA(2, epsilon=50.0).fit(X)
    with pytest.raises(ValueError, match=r"leaves nothing.*Try epsilon=\"0.5max\", or sparsity=0.5"):
        SparseKernelPCA(2, epsilon="1max").fit(X)


def test_directions_without_rows_are_said():
    X = noise(100)
    with pytest.warns(UserWarning, match=r"sparsity=0.99 leaves rows for 1 of 3 directions. Take a smaller one"):
        model = SparseKernelPCA(3, kernel=RBF(0.1), sparsity=0.99, center=False).fit(X)
    assert len(model.support_) == 1
    assert np.isfinite(model.transform(X)).all()
    assert model.eigenvalues_[0] > 0
    assert (model.eigenvalues_[1:] == 0).all()


@pytest.mark.parametrize(("sparsity", "left"), [(0.9, 2), (0.97, 0)])
def test_few_rows_about_a_mean_of_their_own_have_fewer_directions(sparsity, left):
    """Three rows less their mean span a plane; one row less itself is nothing."""
    X = noise(30, 3)
    with pytest.warns(
        UserWarning, match=r"The mean cannot be fitted well on the .* rows that are kept.*Keep more rows"
    ):
        model = SparseKernelPCA(3 if left else 1, kernel=RBF(0.1), sparsity=sparsity).fit(X)
    assert model.certificate_.rank == left
    lengths = np.diag(model.components_ @ RBF(0.1)(X[model.support_]) @ model.components_.T)
    np.testing.assert_allclose(lengths, np.arange(model.n_components_) < left, atol=1e-9)
    assert (model.eigenvalues_[left:] == 0).all()
    assert (model.transform(X)[:, left:] == 0).all()


def test_a_narrow_kernel_whose_mean_is_fitted_already():
    X = 10 * noise(40, 30)
    model = SparseKernelPCA(2, kernel=RBF(1.0)).fit(X)
    assert np.isfinite(model.transform(X)).all()
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(2), atol=1e-9)


def test_scores_of_a_reduced_model_are_by_principal_axes():
    X = DIGITS[:300]
    model = SparseKernelPCA(4, kernel=KERNEL, sparsity=0.7).fit(X)
    Z = model.transform(X)
    Z = Z - Z.mean(axis=0)
    np.testing.assert_allclose(Z.T @ Z, np.diag(model.eigenvalues_), atol=1e-8)
    assert (np.diff(model.eigenvalues_) < 0).all()


def test_rows_that_are_all_alike_cannot_be_left_out():
    X = noise(2)
    assert len(SparseKernelPCA(1, kernel=RBF(1.0)).fit(X).support_) == 2
    assert len(SparseKernelPCA(1, center=False).fit(X[:1]).support_) == 1


def test_a_wanted_sparsity_holds_with_weights_too():
    X = noise(150, 4)
    for seed in range(5):
        weights = np.random.default_rng(seed).integers(1, 4, len(X))
        model = SparseKernelPCA(3, kernel=RBF(0.3), sparsity=0.4).fit(X, sample_weight=weights)
        assert model.sparsity_ == pytest.approx(0.4, abs=0.02)


def test_as_good_as_rounding_allows():
    model = SparseKernelPCA(2, kernel=RBF(0.1), tol=0).fit(noise(100))
    assert model.certificate_.satisfied
    assert model.certificate_.criticality < 1e-12
    assert model.certificate_.passes < 500


def test_a_callback_stops_every_stage():
    events = []

    def stop(event):
        events.append(event)
        return len(events) == 30

    with pytest.warns(ConvergenceWarning, match="The callback asked it to stop"):
        model = SparseKernelPCA(3, kernel=RBF(0.1), sparsity=0.5, tol=1e-8, callback=stop).fit(noise(150))
    assert len(events) == 30
    assert not model.certificate_.satisfied
    assert "not yet critical" in str(model.certificate_)


@pytest.mark.parametrize("epsilon", [-0.1, "-0.1max", "tiny"])
def test_a_negative_epsilon(epsilon):
    with pytest.raises(ValueError, match=r"epsilon must be 0 \(the square objective\) or more"):
        SparseKernelPCA(2, epsilon=epsilon).fit(noise())


@pytest.mark.parametrize("sparsity", [1.0, -0.1, "half", True])
def test_a_sparsity_that_is_no_part(sparsity):
    with pytest.raises(ValueError, match="give the part of the rows to leave out, from 0 to below 1"):
        SparseKernelPCA(2, sparsity=sparsity).fit(noise())


def test_other_bad_parameters():
    with pytest.raises(ValueError, match=r"epsilon=0.1 and sparsity=0.5 both say how many rows are left out"):
        SparseKernelPCA(2, epsilon=0.1, sparsity=0.5).fit(noise())
    with pytest.raises(ValueError, match=r"choose one of '2' \(rows of H become zero\)"):
        SparseKernelPCA(2, norm="1").fit(noise())
    with pytest.raises(ValueError, match="above the rank of the kernel matrix"):
        SparseKernelPCA(7, kernel="linear").fit(noise())


def test_quantiles_by_weight():
    values = np.array([3.0, 1.0, 2.0, 10.0])
    counts = np.array([1, 2, 3, 1])
    for part in (0.01, 0.3, 0.5, 0.7, 0.99):
        assert quantile(values, part, counts.astype(float)) == quantile(np.repeat(values, counts), part)
        below = np.repeat(values, counts) < quantile(values, part, counts.astype(float)) + 1e-12
        assert below.mean() >= part


def test_a_plan_does_not_name_an_epsilon_that_is_yet_to_be_found():
    X = np.random.default_rng(0).standard_normal((40, 3))
    model = SparseKernelPCA(2, sparsity=0.6).fit(X)
    assert "EpsilonInsensitive with the epsilon that leaves out 60% of the rows" in model.plan_.reason
    assert "EpsilonInsensitive(epsilon=0.1" in SparseKernelPCA(2, epsilon=0.1).fit(X).plan_.reason
