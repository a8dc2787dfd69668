"""Kernel ridge regression as a way back: against naive twins, scikit-learn, and itself in its several forms."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.decomposition import KernelPCA as ScikitKernelPCA
from sklearn.kernel_ridge import KernelRidge

import kernelpca.sklearn
import reference
from kernelpca import KernelPCA
from kernelpca.features import Nystrom
from kernelpca.kernels import RBF, ChiSquare, Laplacian, Linear, Polynomial, Sigmoid
from kernelpca.preimage import Ridge, regression, ridge
from kernelpca.preimage.ridge import Coefficients, Combinations

DIGITS = load_digits().data / 16
IRIS = load_iris().data
LAWS = settings(deadline=None, max_examples=40, derandomize=True)


def scores_and_rows(n=40, k=3, d=5, seed=0):
    """Scores, and rows that depend on them smoothly but for some noise."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, k))
    return Z, np.sin(Z @ rng.standard_normal((k, d))) + 0.1 * rng.standard_normal((n, d)) + 3


def mean_square(errors):
    return np.square(errors).sum(axis=1).mean()


def landmarks_of(model, Z):
    """The row numbers of a fitted model's landmarks."""
    return np.array([np.flatnonzero((row == Z).all(axis=1))[0] for row in model.scores_])


# leaving one row out


@pytest.mark.parametrize("d", [5, 60])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("kernel", [RBF(0.2), Polynomial(2, 0.5, 1.0), Linear()])
def test_errors_of_rows_left_out_are_those_of_solving_anew(d, center, kernel):
    Z, X = scores_and_rows(d=d)
    model = Ridge(center=center).learn(Z, X, kernel)
    Y = X - X.mean(axis=0) if center else X
    K = kernel(Z)
    ridges, errors = model.loo_curve_
    np.testing.assert_allclose(ridges, np.logspace(-8, 1, 19) * K.diagonal().mean())
    for r, error in zip(ridges[6:], errors[6:], strict=True):
        np.testing.assert_allclose(error, mean_square(reference.ridge_left_out(K, Y, r)), rtol=1e-7)
    assert model.ridge_ == ridges[errors.argmin()]
    assert model.loo_error_ == errors.min()


@pytest.mark.parametrize("d", [5, 60])
@pytest.mark.parametrize("center", [True, False])
def test_on_landmarks_they_are_too(d, center):
    Z, X = scores_and_rows(d=d)
    kernel = RBF(0.2)
    model = Ridge(center=center, n_landmarks=12).learn(Z, X, kernel)
    Y = X - X.mean(axis=0) if center else X
    idx = landmarks_of(model, Z)
    assert len(set(idx)) == 12
    K = kernel(Z)
    C, W = K[:, idx], K[np.ix_(idx, idx)]
    ridges, errors = model.loo_curve_
    for r, error in zip(ridges[6:], errors[6:], strict=True):
        np.testing.assert_allclose(error, mean_square(reference.landmark_ridge_left_out(C, W, Y, r)), rtol=1e-5)
    expected = C @ reference.landmark_ridge(C, W, Y, model.ridge_) + (X - Y)[0]
    np.testing.assert_allclose(model.points(Z), expected, atol=1e-6)


def test_with_many_rows_only_some_are_left_out(monkeypatch):
    monkeypatch.setattr(regression, "LEFT_OUT", 100)
    Z, X = scores_and_rows(400)
    model = Ridge(n_landmarks=30).learn(Z, X, RBF(0.2))
    rows = regression.sample_rows(400, 100)
    assert len(np.unique(rows)) == 100
    idx = landmarks_of(model, Z)
    K = RBF(0.2)(Z)
    C, W, Y = K[:, idx], K[np.ix_(idx, idx)], X - X.mean(axis=0)
    r = model.loo_curve_[0][10]
    left_out = reference.landmark_ridge_left_out(C, W, Y, r)[rows]
    np.testing.assert_allclose(model.loo_curve_[1][10], mean_square(left_out), rtol=1e-6)


def test_the_ridge_chosen_is_near_the_best_of_true_refits():
    Z, X = scores_and_rows(60, d=3)
    kernel = RBF(0.5)
    model = Ridge().learn(Z, X, kernel)
    K, Y = kernel(Z), X - X.mean(axis=0)
    best = min(mean_square(reference.ridge_left_out(K, Y, r)) for r in np.logspace(-6, 2, 60))
    assert mean_square(reference.ridge_left_out(K, Y, model.ridge_)) < 1.03 * best


@pytest.mark.parametrize("gamma", [0.02, 0.5])
def test_the_ridge_of_a_sample_is_near_the_best_for_all(monkeypatch, gamma):
    everything = KernelPCA(10, preimage=Ridge(kernel=RBF(gamma))).fit(DIGITS[:900]).preimage_
    monkeypatch.setattr(ridge, "SMALL", 500)
    monkeypatch.setattr(regression, "SMALL", 500)
    monkeypatch.setattr(regression, "SAMPLE", 300)
    sampled = KernelPCA(10, preimage=Ridge(kernel=RBF(gamma))).fit(DIGITS[:900]).preimage_
    ridges, errors = everything.loo_curve_
    np.testing.assert_allclose(ridges, sampled.loo_curve_[0])
    assert errors[np.argmin(np.abs(ridges - sampled.ridge_))] < 1.05 * errors.min()
    assert sampled.loo_error_ > everything.loo_error_  # fewer rows know less


def test_a_ridge_that_was_given_is_taken():
    model = Ridge(0.3).learn(*scores_and_rows(), RBF(0.2))
    assert (model.ridge_, model.loo_error_, model.loo_curve_) == (0.3, None, None)


def test_of_equal_errors_the_largest_ridge_is_taken():
    Z, X = scores_and_rows()
    model = Ridge().learn(Z, np.ones_like(X), RBF(0.2))
    assert model.ridge_ == model.loo_curve_[0][-1]
    np.testing.assert_array_equal(model.points(Z), 1)


# against scikit-learn


@pytest.mark.parametrize("kernel", [RBF(0.2), Polynomial(2, 0.5, 1.0), Linear()])
@pytest.mark.parametrize("alpha", [1e-3, 1.0])
def test_equals_kernel_ridge(kernel, alpha):
    Z, X = scores_and_rows()
    new = Z[:7] + 0.3
    theirs = KernelRidge(alpha=alpha, kernel="precomputed").fit(kernel(Z), X)
    ours = Ridge(alpha, center=False).learn(Z, X, kernel)
    np.testing.assert_allclose(ours.points(new), theirs.predict(kernel(new, Z)), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=1e-6, atol=1e-6)
    landmarks = Ridge(alpha, center=False, n_landmarks=len(Z)).learn(Z, X, kernel)
    np.testing.assert_allclose(landmarks.points(new), theirs.predict(kernel(new, Z)), atol=1e-6)


@pytest.mark.parametrize("alpha", [0.01, 1.0])
@pytest.mark.parametrize("wide", [False, True])
def test_equals_kernel_pca_with_its_inverse(alpha, wide):
    X = DIGITS[:50] if wide else DIGITS[:300]
    theirs = ScikitKernelPCA(8, kernel="rbf", gamma=0.05, alpha=alpha, fit_inverse_transform=True)
    Z = theirs.fit_transform(X)
    expected = theirs.inverse_transform(theirs.transform(DIGITS[300:340]))
    ours = KernelPCA(8, kernel=RBF(0.05), preimage=Ridge(alpha, kernel="model", center=False)).fit(X)
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(DIGITS[300:340])), expected, atol=1e-6)
    np.testing.assert_allclose(ours.preimage_.dual_coef_, theirs.dual_coef_, atol=1e-6 * max(1 / alpha, 1))
    dropin = kernelpca.sklearn.KernelPCA(8, kernel="rbf", gamma=0.05, alpha=alpha, fit_inverse_transform=True).fit(X)
    np.testing.assert_allclose(dropin.inverse_transform(dropin.transform(DIGITS[300:340])), expected, atol=1e-6)
    np.testing.assert_allclose(np.abs(dropin.X_transformed_fit_), np.abs(Z), atol=1e-6)


# forms of the same


@pytest.mark.parametrize("d", [5, 60])
def test_all_rows_as_landmarks_are_the_exact_form(d):
    Z, X = scores_and_rows(d=d)
    kernel = RBF(0.2)
    for strength in (0.01, None):
        exact, landmarks = (Ridge(strength, n_landmarks=m).learn(Z, X, kernel) for m in (None, len(Z)))
        np.testing.assert_allclose(landmarks.points(Z[:9] + 0.1), exact.points(Z[:9] + 0.1), atol=1e-6)
    np.testing.assert_allclose(landmarks.loo_curve_[1][6:], exact.loo_curve_[1][6:], rtol=1e-6)
    assert landmarks.ridge_ == exact.ridge_


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("strength", [0.01, None])
@pytest.mark.parametrize("kernel", [RBF(0.1), Linear(), Polynomial(2, 1e-3, 1.0)])
def test_long_rows_are_combined_from_those_that_the_model_keeps(center, strength, kernel):
    X = np.random.default_rng(0).standard_normal((30, 80)) + np.linspace(0, 20, 80)
    model = KernelPCA(4, kernel=kernel, solver="dense", preimage=Ridge(strength, kernel="model", center=center))
    Z = model.fit_transform(X)
    learned = model.preimage_
    assert isinstance(learned._map, Combinations)
    assert learned._map.kept.samples is model._decomposition.features.anchors
    tall = clone(learned).learn(Z, X, model.kernel_)
    assert isinstance(tall._map, Coefficients)
    assert learned.ridge_ == tall.ridge_
    size = np.abs(tall.points(Z)).max()
    np.testing.assert_allclose(learned.points(Z), tall.points(Z), atol=1e-9 * size)
    np.testing.assert_allclose(model.inverse_transform(Z), tall.points(Z), atol=1e-9 * size)
    scale = np.abs(tall.dual_coef_).max()
    np.testing.assert_allclose(learned.dual_coef_, tall.dual_coef_, atol=1e-8 * scale)
    rebuilt = learned.kernel_(Z, learned.scores_) @ learned.dual_coef_ + learned.mean_
    np.testing.assert_allclose(rebuilt, tall.points(Z), atol=1e-8 * size)


def test_an_inverse_of_several_tiles():
    Z = scores_and_rows(800)[0]
    A = regression.Factor.of(RBF(0.2), Z, 0.1).inverse()
    np.testing.assert_array_equal(A, A.T)
    np.testing.assert_allclose(A, np.linalg.inv(RBF(0.2)(Z) + 0.1 * np.eye(800)), atol=1e-10)


def test_nothing_of_the_size_of_long_rows_is_kept_twice():
    X = np.random.default_rng(0).standard_normal((20, 5000))
    learned = KernelPCA(4, preimage="ridge").fit(X).preimage_
    own = [value for value in vars(learned).values() if isinstance(value, np.ndarray)]
    own += [learned._map.weights]
    assert sum(array.nbytes for array in own) < X.nbytes / 10


def test_rows_that_the_model_keeps_in_another_order_are_not_mixed_up():
    X = np.random.default_rng(0).standard_normal((30, 80))
    model = KernelPCA(4, kernel=RBF(0.01), approximation=Nystrom(30), preimage=Ridge(0.01, kernel="model"))
    Z = model.fit_transform(X)
    assert not np.array_equal(model._decomposition.features.anchors[0], model._inverse.space.local(X)[0])
    np.testing.assert_allclose(model.inverse_transform(Z), Ridge(0.01).learn(Z, X, RBF(0.01)).points(Z), atol=1e-9)


@pytest.mark.parametrize("approximation", ["nystrom", "fourier"])
def test_with_approximate_models(approximation):
    X = DIGITS[:600]
    model = KernelPCA(20, kernel=RBF(0.05), approximation=approximation, preimage=Ridge(kernel=RBF()), random_state=0)
    back = model.fit(X).inverse_transform(model.transform(X))
    assert np.square(back - X).mean() < 0.15 * X.var(axis=0).mean()


def test_memory_decides_between_the_forms(monkeypatch):
    X = DIGITS[:600]
    monkeypatch.setattr(ridge, "MANY", 500)
    assert len(KernelPCA(5, preimage=Ridge(0.1)).fit(X).preimage_.scores_) == 600  # at most 1000 landmarks: all
    monkeypatch.undo()
    assert len(KernelPCA(5, preimage=Ridge(0.1)).fit(X).preimage_.scores_) == 600
    few = KernelPCA(5, preimage=Ridge(0.1), memory_limit="4MB").fit(X)
    assert len(few.preimage_.scores_) < 250
    whole = KernelPCA(5, preimage=Ridge(0.1)).fit(X)
    Z = whole.transform(X)
    off = np.square(few.inverse_transform(Z) - whole.inverse_transform(Z)).mean()
    assert off < 0.01 * X.var(axis=0).mean()
    with pytest.raises(
        MemoryError, match=r"A ridge pre-image of 600 rows needs about 5.76 MB; 4 MB are granted. Raise"
    ):
        KernelPCA(5, preimage=Ridge(0.1, n_landmarks=None), memory_limit="4MB").fit(X)


# precision


@pytest.mark.parametrize("options", [{}, {"n_landmarks": 200}, {"kernel": RBF()}], ids=str)
@pytest.mark.parametrize("strength", [None, 0.1, 1e-6])
def test_float32(options, strength):
    X = DIGITS[:400]
    fits = [KernelPCA(15, kernel=RBF(0.02), preimage=Ridge(strength, **options)).fit(T) for T in (X, X.astype("f"))]
    wanted, found = (model.denoise(T) for model, T in zip(fits, (X, X.astype("f")), strict=True))
    assert found.dtype == np.float32
    assert fits[0].preimage_.ridge_ == pytest.approx(fits[1].preimage_.ridge_, rel=1e-4)
    np.testing.assert_allclose(found, wanted, atol=3e-3 if strength == 1e-6 else 1e-3)


def test_float32_products_where_the_ridge_allows_them(monkeypatch):
    monkeypatch.setattr(regression, "SMALL", 100)
    Z, X = (array.astype("f") for array in scores_and_rows(200))
    plain, fine = Ridge(0.1).learn(Z, X, RBF(0.2)), Ridge(1e-6).learn(Z, X, RBF(0.2))
    assert (plain.dual_coef_.dtype, fine.dual_coef_.dtype) == (np.float32, np.float64)
    for learned in (plain, fine):
        assert learned.points(Z).dtype == np.float32
        wanted = clone(learned).learn(Z.astype(float), X.astype(float), RBF(0.2)).points(Z)
        np.testing.assert_allclose(learned.points(Z), wanted, atol=3e-5)


def test_float32_far_from_zero():
    X = (IRIS + 1e4).astype(np.float32)
    model = KernelPCA(3, kernel=RBF(0.3), preimage=Ridge(1e-3)).fit(X)
    expected = KernelPCA(3, kernel=RBF(0.3), preimage=Ridge(1e-3)).fit(X.astype(float)).denoise(X.astype(float))
    np.testing.assert_allclose(model.denoise(X), expected, atol=5e-3)  # a unit in the last place is 1e-3


# laws

numbers = st.floats(-5, 5, allow_nan=False, width=32).map(lambda x: round(x, 3))


@st.composite
def pairs(draw):
    n, k, d = draw(st.integers(2, 12)), draw(st.integers(1, 3)), draw(st.integers(1, 4))
    return draw(arrays(np.float64, (n, k), elements=numbers)), draw(arrays(np.float64, (n, d), elements=numbers))


@given(pairs(), st.randoms(use_true_random=False), st.sampled_from([RBF(0.1), Linear(), Laplacian(0.2)]))
@LAWS
def test_the_order_of_rows_does_not_matter(pair, random, kernel):
    Z, X = pair
    order = list(range(len(Z)))
    random.shuffle(order)
    one, other = (Ridge(0.1).learn(*both, kernel) for both in (pair, (Z[order], X[order])))
    np.testing.assert_allclose(other.points(Z), one.points(Z), atol=1e-8)
    one, other = (Ridge().learn(*both, kernel) for both in (pair, (Z[order], X[order])))
    np.testing.assert_allclose(other.loo_curve_[1][8:], one.loo_curve_[1][8:], rtol=1e-6, atol=1e-9)


@given(pairs(), st.lists(st.integers(-50, 50), min_size=4, max_size=4), st.floats(0.1, 10))
@LAWS
def test_answers_move_and_stretch_with_the_inputs(pair, shift, factor):
    Z, X = pair
    shift = np.array(shift[: X.shape[1]], dtype=float)
    plain, moved, stretched = (Ridge(0.1).learn(Z, Y, RBF(0.1)) for Y in (X, X + shift, factor * X))
    np.testing.assert_allclose(moved.points(Z), plain.points(Z) + shift, atol=1e-8)
    np.testing.assert_allclose(stretched.points(Z), factor * plain.points(Z), atol=1e-8)


@given(pairs())
@LAWS
def test_a_strong_ridge_gives_the_mean(pair):
    Z, X = pair
    np.testing.assert_allclose(Ridge(1e12).learn(Z, X, RBF(0.1)).points(Z), X.mean(axis=0) + 0 * X, atol=1e-8)


@given(pairs())
@LAWS
def test_any_scores_have_a_ridge(pair):
    Z, X = pair
    for form in ({}, {"n_landmarks": 1}, {"kernel": RBF()}, {"kernel": "linear"}):
        learned = Ridge(**form).learn(Z, X, RBF(0.1))
        assert np.isfinite(learned.points(Z)).all()
        assert np.isfinite(learned.loo_curve_[1]).all()


# kernels between scores


def test_a_kernel_of_its_own_is_resolved_on_the_scores():
    X = DIGITS[:300]
    for kernel in ("rbf", RBF(), RBF("median")):
        model = KernelPCA(10, kernel=RBF(0.02), preimage=Ridge(0.01, kernel=kernel))
        Z = model.fit_transform(X)
        wanted = RBF("median" if kernel == RBF("median") else "scale").resolve(Z)
        assert model.preimage_.kernel_.gamma == pytest.approx(wanted.gamma, rel=1e-9)
    same = KernelPCA(10, kernel=RBF(0.02), preimage=Ridge(0.01, kernel="model")).fit(X)
    assert same.preimage_.kernel_ == RBF(0.02)
    default = KernelPCA(10, kernel=RBF(0.02), preimage=Ridge(0.01)).fit(X)
    wanted = RBF().resolve(default.transform(X))
    assert type(default.preimage_.kernel_) is RBF
    assert default.preimage_.kernel_.gamma == pytest.approx(wanted.gamma, rel=1e-12)


def test_another_kernel_between_scores_than_the_models_denoises_better():
    rng = np.random.default_rng(0)
    rows = rng.permutation(DIGITS)
    train, clean = rows[:1000], rows[1000:]
    noisy = clean + rng.normal(0, 0.25, clean.shape)

    def error(kernel):
        model = KernelPCA(30, kernel=RBF(0.02), preimage=Ridge(kernel=kernel)).fit(train)
        return np.square(model.denoise(noisy) - clean).mean()

    symmetric, own, laplacian = error("model"), error(RBF()), error(Laplacian(norm="euclidean"))
    # 0.0296 with the model's own kernel, 0.0206 and 0.0219 with these; the noise itself is 0.0625
    assert own < 0.75 * symmetric
    assert laplacian < 0.8 * symmetric


def test_kernels_that_do_not_take_scores():
    model = KernelPCA(1, kernel=ChiSquare(), center=False, preimage="ridge").fit(IRIS)
    assert isinstance(model.preimage_.kernel_, RBF)  # though these scores are all of one sign
    assert model.inverse_transform(model.transform(IRIS)).min() >= 0  # a histogram again
    with pytest.raises(ValueError, match=r"Ridge\(kernel='chi2'\): scores are real numbers.*such as 'rbf', or None"):
        KernelPCA(2, preimage=Ridge(kernel="chi2")).fit(IRIS)
    with pytest.raises(ValueError, match="kernel='magic' stands for no kernel"):
        KernelPCA(2, preimage=Ridge(kernel="magic")).fit(IRIS)


def test_indefinite_kernels_are_lifted(monkeypatch):
    Z, X = scores_and_rows(80)
    kernel = Sigmoid(1.0, -1.0)
    lowest = np.linalg.eigvalsh(kernel(Z))[0]
    assert lowest < -1
    few = Ridge().learn(Z, X, kernel)
    assert few.ridge_ > -lowest
    A = kernel(Z) + few.ridge_ * np.eye(80)
    np.testing.assert_allclose(A @ few.dual_coef_, X - X.mean(axis=0), atol=1e-8)
    for module in (ridge, regression):
        monkeypatch.setattr(module, "SMALL", 40)
    monkeypatch.setattr(regression, "SAMPLE", 10)
    many = Ridge().learn(Z, X, kernel)
    assert many.ridge_ > -lowest
    assert np.isfinite(Ridge(n_landmarks=20).learn(Z, X, kernel).points(Z)).all()
    with pytest.raises(ValueError, match=r"with ridge=0.1 is singular. Raise ridge \(try"):
        Ridge(0.1).learn(Z, X, kernel)


# through the estimator


def test_through_the_estimator():
    X = DIGITS[:500]
    model = KernelPCA(20, kernel=RBF(0.02), preimage=Ridge(kernel=RBF(), bounds=(0, 1))).fit(X)
    Z = model.transform(DIGITS[500:550])
    back = model.inverse_transform(Z)
    found = model.invert(Z)
    np.testing.assert_array_equal(found.points, back)
    assert (back.min(), back.max()) == (0, 1)
    assert found.converged.all()
    assert not found.iterations.any()
    assert np.median(found.reliability) > 0.9
    np.testing.assert_allclose(pickle.loads(pickle.dumps(model)).inverse_transform(Z), back, atol=1e-12)
    loose = KernelPCA(20, kernel=RBF(0.02), preimage=Ridge(kernel=RBF())).fit(X).inverse_transform(Z)
    np.testing.assert_allclose(np.clip(loose, 0, 1), back, atol=1e-12)


def test_errors_of_rows_left_out_foretell_those_of_new_rows():
    rows = np.random.default_rng(0).permutation(DIGITS)
    model = KernelPCA(20, kernel=RBF(0.02), preimage=Ridge(kernel=RBF())).fit(rows[:900])
    new = mean_square(model.denoise(rows[900:]) - rows[900:])
    assert model.preimage_.loo_error_ < new < 1.4 * model.preimage_.loo_error_


def test_scores_that_were_given_out_may_be_changed():
    model = KernelPCA(3, preimage=Ridge(0.1))
    Z = model.fit_transform(IRIS)
    before = model.inverse_transform(Z[:5].copy())
    given_out = Z[:5].copy()
    Z[:] = 0
    np.testing.assert_array_equal(model.inverse_transform(given_out), before)
    Z, X = scores_and_rows()
    learned = Ridge(0.1).learn(Z, X, RBF(0.2))
    before, new = learned.points(Z), Z.copy()
    Z[:], X[:] = 0, 0
    np.testing.assert_array_equal(learned.points(new), before)


@pytest.mark.parametrize("preimage", [Ridge(), Ridge(0.1), Ridge(n_landmarks=2)], ids=str)
def test_without_components_the_mean_is_all_there_is(preimage):
    with pytest.warns(UserWarning, match="no variance"):
        model = KernelPCA(preimage=preimage).fit(np.full((5, 3), 7.0))
    np.testing.assert_array_equal(model.denoise(np.full((2, 3), 7.0)), 7)
    learned = preimage.learn(np.zeros((6, 0)), np.arange(12.0).reshape(6, 2), RBF(1.0))
    np.testing.assert_array_equal(learned.points(np.zeros((2, 0))), [[5, 6], [5, 6]])


def test_no_ridge_at_all():
    Z, X = scores_and_rows()
    for m in (None, len(Z)):
        interpolated = Ridge(0, n_landmarks=m).learn(Z, X, RBF(1.0))
        np.testing.assert_allclose(interpolated.points(Z), X, atol=1e-6)
    with pytest.raises(ValueError, match=r"with ridge=0 is singular. Raise ridge \(try 1e-3 or 1\)"):
        Ridge(0.0).learn(np.repeat(Z, 2, axis=0), np.repeat(X, 2, axis=0), Linear())


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"ridge": -1.0}, r"Ridge\(ridge=-1.0\): ridge must be a number >= 0, such as 0.01, or None"),
        ({"ridge": np.nan}, "ridge must be a number >= 0"),
        ({"ridge": np.inf}, "ridge must be a number >= 0"),
        ({"ridge": "small"}, r"Ridge\(ridge='small'\): ridge must be a number"),
        ({"ridge": True}, "ridge must be a number"),
        ({"center": "yes"}, r"Ridge\(center='yes'\): center must be True or False"),
        ({"n_landmarks": 0}, r"Ridge\(n_landmarks=0\): n_landmarks must be a whole number >= 1"),
        ({"n_landmarks": 2.5}, "n_landmarks must be a whole number"),
        ({"n_landmarks": "all"}, r"n_landmarks must be 'auto', a whole number >= 1, or None for all rows"),
        (
            {"n_landmarks": 151},
            r"Ridge\(n_landmarks=151\): more landmarks than the 150 rows. Give at most 150, or None",
        ),
        ({"bounds": (1, 0)}, r"Ridge\(bounds=\(1, 0\)\): the lower limit must not be above"),
        ({"bounds": 3}, "bounds are two limits"),
    ],
    ids=str,
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        KernelPCA(2, preimage=Ridge(**params)).fit(IRIS)


def test_not_fitted():
    assert not hasattr(Ridge(), "dual_coef_")
    with pytest.raises(AttributeError, match="This Ridge is not fitted"):
        Ridge().dual_coef_  # noqa: B018


def test_units_of_the_inputs_do_not_matter():
    """The width between scores fits scores, whatever the units of the data."""
    errors = []
    for unit in (1e-3, 1.0, 1e4):
        X = IRIS * unit
        model = KernelPCA(2, preimage="ridge").fit(X[::2])
        errors.append(np.square(model.denoise(X[1::2]) - X[1::2]).mean() / X.var())
    np.testing.assert_allclose(errors, errors[1], rtol=1e-3)
    assert errors[1] < 0.05


def test_ridges_of_single_precision_stay_above_its_rounding():
    model = KernelPCA(2, kernel=RBF(0.5), preimage=Ridge()).fit(IRIS.astype(np.float32))
    assert model.preimage_.loo_curve_[0].min() >= np.finfo(np.float32).eps
