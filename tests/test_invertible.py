"""Invertible kernel PCA: against its naive twin, in its limits, and on the paper's data."""

from dataclasses import replace

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import make_s_curve
from sklearn.model_selection import GridSearchCV, train_test_split

import reference
from kernelpca import PCA, InvertibleKernelPCA, KernelPCA
from kernelpca.estimators.layout import Layout
from kernelpca.features import RandomFourier, RandomReLU
from kernelpca.features.factors import Factors
from kernelpca.kernels import RBF
from kernelpca.preimage import Ridge
from kernelpca.preimage.invertible import Invertible, rough_inverse
from kernelpca.preimage.protocol import Target
from real_data import path_of

FORMS = ("sin", "cos", "paired")


@pytest.fixture(scope="module")
def rows():
    """Rows far from the origin, on more branches of the sine than one."""
    rng = np.random.default_rng(3)
    return rng.normal(size=(60, 3)) * [1.0, 2.0, 0.5] + 5.0, rng.normal(size=(9, 3)) * [1.0, 2.0, 0.5] + 5.0


def twin_of(model, X, Y, k, ridge, form, branch="reflected", centering=True):
    """The naive answer with the features that a layer has drawn."""
    features = model.layers_[0]._decomposition.features
    b = np.zeros(len(features.W)) if features.b is None else features.b
    arguments = (features.W, b, features.amplitude, k, ridge, form, branch, centering)
    return reference.invertible_kernel_pca(X - features.origin, Y - features.origin, *arguments) + features.origin


def s_curve(n=1000, noise=0.25):
    """Training rows, test rows, and the test rows without noise."""
    points = make_s_curve(2 * n, random_state=0)[0]
    noisy = points + np.random.default_rng(0).normal(0, noise, points.shape)
    return noisy[:n], noisy[n:], points[n:]


# the formulas


@pytest.mark.parametrize("branch", ["reflected", "added"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("r", [24, 80])  # fewer features than rows, and more
def test_naive_twin(rows, form, branch, r):
    X, Y = rows
    model = InvertibleKernelPCA(4, gamma=0.3, n_features=r, ridge=0.7, form=form, branch=branch).fit(X)
    assert model.layers_[0]._decomposition.features.W.std() > 0.5  # several branches are visited
    np.testing.assert_allclose(model.denoise(Y), twin_of(model, X, Y, 4, 0.7, form, branch), rtol=0, atol=1e-10)


def test_naive_twin_without_centring(rows):
    X, Y = rows
    model = InvertibleKernelPCA(4, gamma=0.3, n_features=24, center=False).fit(X)
    expected = twin_of(model, X, Y, 4, 1.0, "sin", centering=False)
    np.testing.assert_allclose(model.denoise(Y), expected, rtol=0, atol=1e-10)


def test_naive_twin_of_relu(rows):
    X, Y = rows
    model = KernelPCA(4, kernel="arc_cosine", approximation=RandomReLU(24), preimage=Invertible(0.7)).fit(X)
    W = model._decomposition.features.W
    expected = reference.invertible_kernel_pca(X, Y, W, np.zeros(24), np.sqrt(2 / 24), 4, 0.7, "relu")
    np.testing.assert_allclose(model.denoise(Y), expected, rtol=0, atol=1e-10)


def test_it_is_composed_of_the_parts(rows):
    X, Y = rows
    model = InvertibleKernelPCA(3, gamma=0.3, n_features=40, ridge=0.5, random_state=7).fit(X)
    features, method = RandomFourier(40, "iid", "sin"), Invertible(0.5)
    parts = KernelPCA(3, kernel=RBF(0.3), approximation=features, preimage=method, random_state=7).fit(X)
    np.testing.assert_array_equal(model.transform(Y), parts.transform(Y))
    np.testing.assert_array_equal(model.denoise(Y), parts.denoise(Y))
    np.testing.assert_array_equal(model.eigenvalues_, parts.eigenvalues_)
    np.testing.assert_array_equal(model.explained_variance_ratio_, parts.explained_variance_ratio_)
    assert model.certificate_.approximation.name == parts.certificate_.approximation.name
    assert model.components_.shape == (3, 40)


def test_covariance_and_gram_form_agree(rows, monkeypatch):
    X, Y = rows
    found = {}
    for through_gram in (True, False):
        monkeypatch.setattr(Layout, "through_gram", property(lambda _, form=through_gram: form))
        model = InvertibleKernelPCA(4, gamma=0.3, n_features=50).fit(X)
        found[through_gram] = model.transform(Y), model.denoise(Y)
    for one, other in zip(found[True], found[False], strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-10)


# limits


@pytest.mark.parametrize("form", FORMS)
def test_nothing_is_lost_without_compression(rows, form):
    X, Y = rows
    model = InvertibleKernelPCA(40, gamma=0.3, n_features=40, ridge=0.0, form=form).fit(X)
    np.testing.assert_allclose(model.denoise(Y), Y, rtol=0, atol=1e-6 if form != "paired" else 1e-12)


def test_nothing_is_lost_without_compression_by_relu(rows):
    X, Y = rows
    model = KernelPCA(40, kernel="arc_cosine", approximation=RandomReLU(40), preimage=Invertible(0.0)).fit(X)
    np.testing.assert_allclose(model.denoise(Y), Y, rtol=0, atol=1e-12)


@pytest.mark.parametrize("shape", [(40, 5), (4, 9), (30, 30)])
def test_without_ridge_it_is_the_pseudo_inverse(shape):
    rng = np.random.default_rng(0)
    W, Y = rng.normal(size=shape), rng.normal(size=(7, shape[0]))
    W[:, -1] = W[:, 0]  # and of less than full rank
    factors = Factors(*np.linalg.svd(W, full_matrices=False))
    expected = Y @ np.linalg.pinv(W, rcond=1e-12).T
    np.testing.assert_allclose(factors.finish(Y @ factors.U, 0.0), expected, rtol=0, atol=1e-10)
    np.testing.assert_allclose(factors.finish(Y @ factors.U, 1e-12), expected, rtol=0, atol=1e-8)
    with_ridge = np.linalg.solve(W.T @ W + 0.3 * np.eye(shape[1]), W.T @ Y.T).T
    np.testing.assert_allclose(factors.finish(Y @ factors.U, 0.3), with_ridge, rtol=0, atol=1e-10)


def test_a_strong_ridge_gives_the_mean(rows):
    X, Y = rows
    model = InvertibleKernelPCA(4, gamma=0.3, n_features=40, ridge=1e9).fit(X)
    np.testing.assert_allclose(model.denoise(Y), np.tile(X.mean(axis=0), (len(Y), 1)), atol=1e-5)


def test_the_branch_of_the_reference_denoises_and_the_added_one_does_not():
    X, Y, truth = s_curve()
    model = InvertibleKernelPCA(12, gamma=0.5, n_features=2000).fit(X)
    noise = np.mean((Y - truth) ** 2)
    reflected = np.mean((model.denoise(Y) - truth) ** 2)
    model.layers_[0].preimage_.set_params(branch="added")
    added = np.mean((model.denoise(Y) - truth) ** 2)
    assert reflected < 0.8 * noise
    assert abs(added / noise - 1) < 0.05


def test_as_good_as_learned_pre_images_on_the_s_curve():
    X, Y, truth = s_curve()
    ours = InvertibleKernelPCA(12, gamma=0.5, n_features=500).fit(X).denoise(Y)
    learned = KernelPCA(12, kernel=RBF(1.0), preimage=Ridge(1.0, "model")).fit(X).denoise(Y)
    assert np.mean((ours - truth) ** 2) < 1.05 * np.mean((learned - truth) ** 2)


# what takes the place of a reference


def test_without_reference_it_is_the_nearest_training_sample(rows):
    X, Y = rows
    model = InvertibleKernelPCA(5, gamma=0.3, n_features=50).fit(X)
    Z, Z_train = model.transform(Y), model.transform(X)
    squared = np.square(Z[:, None] - Z_train[None]).sum(axis=2)
    nearest = X[squared.argmin(axis=1)]
    np.testing.assert_allclose(model.inverse_transform(Z), model.inverse_transform(Z, nearest), rtol=0, atol=1e-12)
    assert np.abs(model.inverse_transform(Z) - model.inverse_transform(Z, Y)).max() > 1e-3


def test_without_samples_it_is_the_origin(rows):
    X, Y = rows
    model = InvertibleKernelPCA(5, gamma=0.01, n_features=50).fit(X)
    inverse, Z = model.layers_[0]._inverse, model.transform(Y)
    alone = inverse.method.solve(Target(replace(inverse.space, rows=None), Z)).points
    at_origin = inverse.method.solve(Target(inverse.space, Z, np.zeros_like(Y))).points
    np.testing.assert_array_equal(alone, at_origin)


@pytest.mark.parametrize("approximation", [*(RandomFourier(400, form=form) for form in FORMS), RandomReLU(400)])
def test_rough_inverse_is_near(rows, approximation):
    X, _ = rows
    kernel = RBF(0.02) if isinstance(approximation, RandomFourier) else "arc_cosine"
    X = X - 5.0
    model = KernelPCA(10, kernel=kernel, approximation=approximation).fit(X)
    space = model._inverse.space
    found = rough_inverse(space.features, space.coefficients(model.transform(X))) + space.origin
    assert found.shape == X.shape
    assert np.square(found - X).sum() < 0.5 * np.square(X).sum()  # nearer than the origin


def test_rough_inverse_needs_features_that_can_be_inverted(rows):
    model = KernelPCA(2).fit(rows[0])
    with pytest.raises(TypeError, match="KernelFeatures cannot be inverted step by step"):
        rough_inverse(model._decomposition.features, np.ones((1, 60)))


# layers


def test_layers_are_inverted_in_turn(rows):
    X, Y = rows
    layers = [{"n_components": 8, "gamma": 0.1, "n_features": 60}, {"n_components": 3, "gamma": 0.5, "ridge": 0.1}]
    model = InvertibleKernelPCA(layers=layers, ridge=0.2).fit(X)
    first, second = model.layers_
    assert (first.preimage_.ridge, second.preimage_.ridge) == (0.2, 0.1)
    assert (model.n_components_, model.n_features_in_) == (3, 3)
    between = first.transform(Y)
    Z = second.transform(between)
    np.testing.assert_array_equal(model.transform(Y), Z)
    back = first.inverse_transform(second.inverse_transform(Z, reference=between), reference=Y)
    np.testing.assert_array_equal(model.denoise(Y), back)
    np.testing.assert_array_equal(model.inverse_transform(Z, reference=Y), back)
    np.testing.assert_array_equal(model.inverse_transform(Z), first.inverse_transform(second.inverse_transform(Z)))
    np.testing.assert_allclose(model.fit_transform(X), model.transform(X), rtol=0, atol=1e-10)
    np.testing.assert_array_equal(model.eigenvalues_, second.eigenvalues_)
    assert model.get_feature_names_out().tolist() == [f"invertiblekernelpca{i}" for i in range(3)]


def test_layers_as_estimators_and_as_dicts_are_the_same(rows):
    X, Y = rows
    parameters = [{"n_components": 6, "gamma": 0.1, "n_features": 40}, {"n_components": 2, "gamma": 0.5}]
    dicts = InvertibleKernelPCA(layers=parameters, random_state=1).fit(X)
    objects = InvertibleKernelPCA(layers=[InvertibleKernelPCA(**one) for one in parameters], random_state=1).fit(X)
    np.testing.assert_array_equal(dicts.denoise(Y), objects.denoise(Y))
    assert not np.array_equal(dicts.denoise(Y), dicts.set_params(random_state=2).fit(X).denoise(Y))
    np.testing.assert_array_equal(clone(objects).set_params(random_state=1).fit(X).denoise(Y), objects.denoise(Y))


def test_layers_lose_nothing_without_compression(rows):
    X, Y = rows
    wide = {"form": "paired", "ridge": 0.0}
    layers = [{"n_components": 10, "n_features": 10, **wide}, {"n_components": 24, "n_features": 24, **wide}]
    model = InvertibleKernelPCA(gamma=0.1, layers=layers).fit(X)
    np.testing.assert_allclose(model.denoise(Y), Y, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ([], "no list of layers"),
        ({"n_components": 2}, "no list of layers"),
        ([3], r"layers\[0\]=3 is no layer"),
        ([{"n_component": 2}], r"layers\[0\] has n_component; a layer has n_components, gamma"),
        ([{}, InvertibleKernelPCA(layers=[{}])], r"layers\[1\] has layers itself"),
    ],
)
def test_bad_layers(rows, layers, message):
    with pytest.raises(ValueError, match=message):
        InvertibleKernelPCA(layers=layers).fit(rows[0])


# evidence


@pytest.mark.parametrize("layers", [None, [{"n_components": 6, "gamma": 0.1, "n_features": 60}, {}]])
def test_invert_tells_how_good_it_is(rows, layers):
    X, Y = rows
    model = InvertibleKernelPCA(4, gamma=0.3, n_features=50, layers=layers).fit(X)
    last, Z = model.layers_[-1], model.transform(Y)
    found = model.invert(Z, reference=Y)
    np.testing.assert_array_equal(found.points, model.inverse_transform(Z, reference=Y))
    entered = found.points if layers is None else model.layers_[0].transform(found.points)
    off = np.square(last.transform(entered) - Z).sum(axis=1)
    np.testing.assert_allclose(found.distance**2, off + last.residuals(entered), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found.reliability, 1 / (1 + off * len(X) / last.eigenvalues_.sum()), rtol=1e-8)
    assert found.converged.all()
    assert not found.iterations.any()
    assert found.method.count("Invertible(") == len(model.layers_)
    error = model.reconstruction_error(Y)
    np.testing.assert_allclose(error.input, np.square(model.denoise(Y) - Y).sum(axis=1), rtol=1e-8)
    np.testing.assert_allclose(error.feature, found.distance**2, rtol=1e-6, atol=1e-12)
    before = Y if layers is None else model.layers_[0].transform(Y)
    np.testing.assert_allclose(error.projection, last.residuals(before), rtol=1e-8, atol=1e-12)


# as an estimator


def test_weights_are_decomposed_once(rows, monkeypatch):
    X, _ = rows
    model = InvertibleKernelPCA(4, gamma=0.3, n_features=50).fit(X)
    whole, calls = np.linalg.svd, []
    monkeypatch.setattr(np.linalg, "svd", lambda *a, **k: calls.append(1) or whole(*a, **k))
    Y = np.tile(X, (50, 1))  # several blocks, on all cores
    found = model.denoise(Y)
    model.layers_[0].preimage_.set_params(ridge=0.0)
    assert not np.array_equal(model.denoise(Y), found)
    assert len(calls) == 1
    assert model.layers_[0]._inverse.space.features.factors.U.shape == (50, 3)


def test_float32(rows):
    X, Y = rows
    for form in FORMS:
        model = InvertibleKernelPCA(4, gamma=0.3, n_features=50, form=form).fit(X.astype(np.float32))
        found = model.denoise(Y.astype(np.float32))
        expected = InvertibleKernelPCA(4, gamma=0.3, n_features=50, form=form).fit(X).denoise(Y)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, rtol=0, atol=2e-3)


def test_features_by_default(rows):
    X, _ = rows
    assert InvertibleKernelPCA(1).fit(X).components_.shape == (1, 512)
    wide = np.random.default_rng(0).normal(size=(20, 300))
    assert InvertibleKernelPCA(1).fit(wide).components_.shape == (1, 600)
    for form, enough in (("sin", 300), ("paired", 600)):
        with pytest.warns(UserWarning, match=f"is too few for 300 columns.*at least {enough}"):
            InvertibleKernelPCA(1, n_features=enough - 2, form=form).fit(wide)


def test_bounds(rows):
    X, Y = rows
    features = RandomFourier(50, form="sin")
    model = KernelPCA(4, approximation=features, preimage=Invertible(0.0, bounds=(4.0, [5.5, 6.0, 5.2]))).fit(X)
    found = model.denoise(Y)
    assert (found >= 4.0).all()
    assert (found <= [5.5, 6.0, 5.2]).all()
    free = KernelPCA(4, approximation=features, preimage=Invertible(0.0)).fit(X).denoise(Y)
    np.testing.assert_allclose(found, np.clip(free, 4.0, [5.5, 6.0, 5.2]), rtol=0, atol=1e-12)


def test_parameters_can_be_searched():
    X, _, _ = s_curve(100)

    def score(model, X, y=None):
        return -model.reconstruction_error(X).input.mean()

    grid = {"gamma": [0.1, 0.5], "ridge": [0.0, 100.0], "form": ["sin", "paired"]}
    search = GridSearchCV(InvertibleKernelPCA(8, n_features=100), grid, scoring=score, cv=2).fit(X)
    assert search.best_params_["ridge"] == 0.0
    copy = clone(search.best_estimator_)
    assert copy.get_params() == search.best_estimator_.get_params()
    np.testing.assert_array_equal(copy.fit(X).denoise(X), search.best_estimator_.denoise(X))


def test_data_frames_between_layers(rows):
    X, Y = rows
    model = InvertibleKernelPCA(2, gamma=0.3, layers=[{"n_components": 4}, {}]).fit(X)
    expected = model.denoise(Y)
    with sklearn.config_context(transform_output="pandas"):
        again = clone(model).fit(X)
        assert list(again.transform(Y).columns) == ["invertiblekernelpca0", "invertiblekernelpca1"]
        np.testing.assert_array_equal(again.denoise(Y), expected)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"ridge": -1.0}, r"Invertible\(ridge=-1.0\): ridge must be a number >= 0"),
        ({"ridge": np.nan}, "ridge must be a number >= 0"),
        ({"ridge": None}, "ridge must be a number >= 0"),
        ({"branch": "up"}, "branch must be 'reflected'"),
        ({"form": "tan"}, "form must be 'paired'"),
        ({"n_features": 0}, "n_features must be a whole number"),
        ({"n_features": 11, "form": "paired"}, "must be even"),
        ({"sampling": "some"}, "sampling"),
        ({"gamma": -1.0}, "gamma"),
        ({"n_components": 0}, "n_components"),
        ({"center": "yes"}, "center must be True or False"),
    ],
)
def test_bad_parameters_leave_the_model_as_it_was(rows, parameters, message):
    X, Y = rows
    model = InvertibleKernelPCA(2, n_features=20).fit(X)
    before = model.transform(Y)
    with pytest.raises(ValueError, match=message):
        model.set_params(**parameters).fit(X)
    np.testing.assert_array_equal(model.transform(Y), before)


def test_bad_input(rows):
    X, Y = rows
    model = InvertibleKernelPCA(2, n_features=20).fit(X)
    Z = model.transform(Y)
    with pytest.raises(ValueError, match=r"reference has shape \(8, 3\); 9 rows of scores need .* \(9, 3\)"):
        model.inverse_transform(Z, reference=Y[:8])
    with pytest.raises(ValueError, match="reference has shape"):
        model.invert(Z, reference=Y[:, :2])
    with pytest.raises(ValueError, match="reference contains NaN"):
        model.inverse_transform(Z, reference=np.full_like(Y, np.nan))
    with pytest.raises(ValueError, match="Z contains NaN"):
        model.inverse_transform(np.full_like(Z, np.nan))
    with pytest.raises(ValueError, match="Z has 1 columns; this model has 2 components"):
        model.inverse_transform(Z[:, :1])
    with pytest.raises(ValueError, match="features"):
        model.denoise(Y[:, :2])
    with pytest.raises(sklearn.exceptions.NotFittedError):
        InvertibleKernelPCA().denoise(Y)
    with pytest.raises(ValueError, match=r"it needs random Fourier or ReLU features \(approximation="):
        KernelPCA(2, preimage=Invertible()).fit(X)
    with pytest.raises(ValueError, match=r"Invertible\(ridge=-2\)"):
        KernelPCA(2, approximation="fourier", preimage=Invertible(-2)).fit(X)


# the paper's table


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*have a reliability below")  # the ridge makes every answer nearly the mean
@pytest.mark.parametrize(
    ("recording", "paper"),
    [
        ("ecg4_lead0", [(4.00e-5, 1.47e-5), (2.78e-5, 0.74e-5), (2.57e-5, 0.79e-5)]),
        ("ecg1_lead0", [(3.20e-5, 0.35e-5), (2.38e-5, 0.29e-5), (2.32e-5, 0.31e-5)]),
        ("ecg18_lead1", [(8.37e-4, 5.93e-4), (2.43e-4, 1.63e-4), (2.27e-4, 1.49e-4)]),
    ],
)
def test_table_of_heart_beats(recording, paper):
    """Table A-1 in small (`reproduce ikpca/ecg` has 500 splits): within four standard errors, in the same order."""
    path = path_of("cpsc_normal_beats.h5")
    h5py = pytest.importorskip("h5py", reason="h5py reads the heart beats")
    with h5py.File(path) as file:
        beats = file[recording][:].T
    splits, errors = 40, []
    for seed in range(splits):
        X, Y = train_test_split(beats, random_state=42 + seed, train_size=0.7)
        models = (
            PCA(1),
            KernelPCA(1, kernel=RBF(10.0), preimage=Ridge(15.0, "model")),
            InvertibleKernelPCA(1, gamma=5e-5, n_features=512, ridge=10.0, random_state=seed),
        )
        pca, learned, ours = (model.fit(X) for model in models)
        answers = pca.inverse_transform(pca.transform(Y)), learned.denoise(Y), ours.denoise(Y)
        errors.append([np.mean((answer - Y.mean(axis=0)) ** 2) for answer in answers])
    means, deviations = np.mean(errors, axis=0), np.std(errors, axis=0)
    for mean, deviation, (center, spread) in zip(means, deviations, paper, strict=True):
        assert abs(mean - center) < 4 * np.sqrt(deviation**2 / splits + spread**2 / 500)
    assert means[2] <= means[1] < means[0]
