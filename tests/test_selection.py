"""Choices without labels: against naive twins, against the laws they obey, and against truth that they may not see."""

import io
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn.decomposition
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelpca import PCA, IncrementalKernelPCA, InvertibleKernelPCA, KernelPCA, RobustKernelPCA, SparseKernelPCA
from kernelpca.features import Nystrom, RandomFourier
from kernelpca.gram import DenseGram
from kernelpca.kernels import RBF, Cauchy, Laplacian, Linear, Polynomial, Precomputed, Sigmoid, Spectrum, as_kernel
from kernelpca.selection import (
    Denoising,
    KernelPCACV,
    Masked,
    Projection,
    Reconstruction,
    choose_components,
    denoising_score,
    error_curve,
    gamma_grid,
    gamma_median,
    gamma_scale,
    masked_score,
    parallel_analysis,
    projection_errors,
    reconstruction_score,
)
from kernelpca.selection.distances import mean_projection_errors
from kernelpca.selection.error_curve import ErrorCurve
from kernelpca.selection.family import Family, truncated
from kernelpca.selection.steps import Step, StepBar
from kernelpca.selection.trials import Found
from kernelpca.solvers import Dense
from real_data import path_of

IRIS = load_iris().data
DIGITS = load_digits().data / 16


def rows(n=60, d=4, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def low_rank(n, d, r, seed, noise=1.0):
    """Rows with r directions in common, and noise."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.standard_normal((d, max(r, 1))))[0][:, :r]
    strengths = np.linspace(5, 3, r)
    return (rng.standard_normal((n, r)) * strengths) @ axes.T + noise * rng.standard_normal((n, d))


# naive twins


def naive_errors(kernel, train, test, k, center=True):
    """(m, k + 1): squared distances from the first j directions, from kernel values alone, in loops."""
    n = len(train)
    K = np.array([[float(kernel(a[None], b[None])[0, 0]) for b in train] for a in train])
    mean = np.full(n, 1 / n) if center else np.zeros(n)
    C = np.eye(n) - np.outer(np.ones(n), mean)
    values, vectors = np.linalg.eigh(C @ K @ C.T)
    values, vectors = values[::-1], vectors[:, ::-1]
    errors = np.empty((len(test), k + 1))
    for i, x in enumerate(test):
        to_train = np.array([float(kernel(x[None], b[None])[0, 0]) for b in train])
        left = float(kernel(x[None], x[None])[0, 0]) - 2 * mean @ to_train + mean @ K @ mean
        errors[i, 0] = left
        for j in range(k):
            if abs(values[j]) > 1e-9 * values[0]:
                combination = C.T @ vectors[:, j]  # of mapped rows: phi(x_l) less the mean
                along = combination @ (to_train - K @ mean) / np.sqrt(abs(values[j]))
                left -= np.sign(values[j]) * along**2
            errors[i, j + 1] = left
    return errors


def naive_feature_errors(F, G, squares, k):
    """The same from explicit features of training rows F (n, r) and of others G (m, r), of squared length `squares`."""
    mean = F.mean(axis=0)
    V = np.linalg.svd(F - mean)[2]
    errors = np.empty((len(G), k + 1))
    for i, g in enumerate(G):
        for j in range(k + 1):
            left = g - mean
            for v in V[:j]:
                left = left - (g - mean) @ v * v
            errors[i, j] = left @ left + squares[i] - g @ g
    return errors


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("kernel", [RBF(0.3), Laplacian(0.2), Polynomial(3, 0.2, 1.0), Linear(), RBF(0.1) + Linear()])
def test_errors_of_all_numbers_of_components_are_those_of_the_formula(kernel, center):
    train, test = rows(25), rows(7, seed=1)
    most = 4 if isinstance(kernel, Linear) else 20
    model = KernelPCA(most, kernel=kernel, center=center, tol=0).fit(train)
    found = projection_errors(model, test)
    assert np.abs(found - naive_errors(kernel, train, test, most, center)).max() < 1e-10
    assert np.abs(mean_projection_errors(model, test) - found.mean(axis=0)).max() < 1e-14


@pytest.mark.parametrize("center", [True, False])
def test_directions_of_negative_eigenvalue_count_negatively(center):
    train, test, kernel = rows(12), rows(5, seed=1), Sigmoid(0.5, -1.0)
    model = KernelPCA(12, kernel=kernel, center=center, tol=0, solver=Dense(indefinite="keep")).fit(train)
    negative = model.eigenvalues_ < 0
    assert negative.sum() > 1
    found = projection_errors(model, test)
    assert np.abs(found - naive_errors(kernel, train, test, 12, center)).max() < 1e-10
    assert (np.diff(found, axis=1)[:, negative] >= 0).all()
    assert (np.diff(found, axis=1)[:, ~negative] <= 0).all()


def test_errors_with_random_features_are_those_in_their_space():
    train, test, features = rows(40), rows(9, seed=1), RandomFourier(30)
    model = KernelPCA(8, kernel=RBF(0.3), approximation=features, tol=0).fit(train)
    map_of = features.fit(RBF(0.3), train, np.random.default_rng(0)).map
    F, G = map_of(train), map_of(test)
    expected = naive_feature_errors(F, G, np.square(G).sum(axis=1), 8)
    assert np.abs(projection_errors(model, test) - expected).max() < 1e-10


def test_errors_with_landmarks_count_what_landmarks_leave_out():
    train, test, kernel, m = rows(40), rows(9, seed=1), RBF(0.3), 12
    landmarks = train[:m]
    model = KernelPCA(8, kernel=kernel, approximation=Nystrom(landmarks=landmarks), tol=0).fit(train)
    C = np.eye(m) - 1 / m
    values, vectors = np.linalg.eigh(C @ kernel(landmarks) @ C)
    axes = C @ vectors[:, 1:] / np.sqrt(values[1:])  # of the flat through the mapped landmarks

    def coordinates(X):
        return (kernel(X, landmarks) - kernel(landmarks).mean(axis=0)) @ axes

    from_mean = 1 - 2 * kernel(test, landmarks).mean(axis=1) + kernel(landmarks).mean()
    expected = naive_feature_errors(coordinates(train), coordinates(test), from_mean, 8)
    assert np.abs(projection_errors(model, test) - expected).max() < 1e-10


def test_the_linear_kernel_and_pca_agree_with_scikit_learns_pca():
    train, test = IRIS[::2], IRIS[1::2]
    expected = []
    for k in range(5):
        left = test - train.mean(axis=0)
        if k:
            axes = sklearn.decomposition.PCA(k).fit(train).components_
            left = left - left @ axes.T @ axes
        expected.append(np.square(left).sum(axis=1).mean())
    for model in (KernelPCA(4, kernel="linear"), PCA(4), PCA(4, method="svd")):
        assert np.abs(mean_projection_errors(model.fit(train), test) - expected).max() < 1e-12


def test_a_given_matrix_has_the_errors_of_its_kernel():
    train, test, kernel = rows(30), rows(8, seed=1), RBF(0.2)
    matrix = KernelPCA(6, kernel="precomputed").fit(kernel(train))
    found = projection_errors(matrix, kernel(test, train), np.ones(8))
    assert np.abs(found - projection_errors(KernelPCA(6, kernel=kernel).fit(train), test)).max() < 1e-12


def test_layers_are_judged_in_the_space_of_the_last():
    train, test = rows(50), rows(10, seed=1)
    model = InvertibleKernelPCA(layers=[{"n_components": 5, "n_features": 60}, {"n_components": 3}]).fit(train)
    expected = projection_errors(model.layers_[1], model.layers_[0].transform(test))
    assert np.array_equal(projection_errors(model, test), expected)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10_000),
    st.integers(5, 30),
    st.sampled_from(["rbf", "laplacian", "linear", "poly", "cauchy"]),
    st.booleans(),
)
def test_laws_of_the_errors(seed, n, name, center):
    train, test = rows(n, 3, seed), rows(6, 3, seed + 1)
    kernel = as_kernel(name).resolve(train)
    k = min(n - 1, 3 if name == "linear" else 10)
    model = KernelPCA(k, kernel=kernel, center=center).fit(train)
    errors = projection_errors(model, test)
    # without components: the squared distance from the mean, or the length
    K = kernel(test, train)
    total = kernel.diag(test) + center * (kernel(train).mean() - 2 * K.mean(axis=1))
    scale = 1 + np.abs(kernel.diag(test)).max()
    assert np.abs(errors[:, 0] - total).max() < 1e-9 * scale
    # every component takes something away, and never too much
    assert (np.diff(errors, axis=1) <= 0).all()
    assert errors.min() > -1e-9 * scale
    assert np.abs(errors[:, -1] - model.residuals(test)).max() < 1e-9 * scale
    # the order of rows does not matter
    order = np.random.default_rng(seed).permutation(n)
    again = projection_errors(KernelPCA(k, kernel=kernel, center=center).fit(train[order]), test[::-1])[::-1]
    separate = np.append(model.eigenvalues_[:-1] - model.eigenvalues_[1:] > 1e-3 * model.eigenvalues_[0], False)
    sound = np.concatenate([[True], separate])
    assert np.abs(again - errors)[:, sound].max() < 1e-7 * scale


# one fit for all numbers of components


FAMILIES = {
    "exact": KernelPCA(9, kernel=RBF(0.2)),
    "ridge": KernelPCA(9, kernel=RBF(0.2), preimage="ridge"),
    "fixed point": KernelPCA(9, kernel=RBF(0.2), preimage="fixed_point"),
    "linear": KernelPCA(4, kernel="linear"),
    "landmarks": KernelPCA(9, kernel=RBF(0.2), approximation=Nystrom(30)),
    "landmarks, ridge": KernelPCA(9, kernel=RBF(0.2), approximation=Nystrom(30), preimage="ridge"),
    "features": KernelPCA(9, kernel=RBF(0.2), approximation=RandomFourier(100)),
    "features, ridge": KernelPCA(9, kernel=RBF(0.2), approximation=RandomFourier(100), preimage="ridge"),
    "invertible": InvertibleKernelPCA(9, gamma=0.2, n_features=100),
    "layers": InvertibleKernelPCA(layers=[{"n_components": 6, "n_features": 60}, {"n_components": 5}]),
    "stream": IncrementalKernelPCA(9, kernel=RBF(0.2)),
    "pca": PCA(4),
    "robust": RobustKernelPCA(3, kernel=RBF(0.2)),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_the_first_components_are_the_model_with_fewer(name):
    estimator, train, test = FAMILIES[name], rows(80), rows(12, seed=1)
    family = Family(estimator, train)
    assert family.nested == (name != "robust")
    for k in (1, 2, family.size):
        small = family.first(k)
        if name == "layers":
            layers = [estimator.layers[0], {"n_components": k}]
            other = InvertibleKernelPCA(layers=layers).fit(train)
        else:
            other = clone(estimator).set_params(n_components=k).fit(train)
        assert small.n_components_ == k
        assert small.components_.shape == other.components_.shape
        Z = small.transform(test)
        assert np.abs(Z - other.transform(test)).max() < 1e-8
        assert np.abs(small.inverse_transform(Z) - other.inverse_transform(Z)).max() < 2e-4
        assert np.abs(projection_errors(small, test) - projection_errors(other, test)).max() < 1e-8
        if hasattr(small, "denoise"):
            assert np.abs(small.denoise(test) - other.denoise(test)).max() < 2e-4
    assert family.whole.n_components_ == family.size
    assert len(family.whole.eigenvalues_) == family.size


def test_other_objectives_are_fitted_for_each_number():
    X, cv = rows(60), KFold(3)
    for estimator in (RobustKernelPCA(3, kernel=RBF(0.2)), SparseKernelPCA(3, kernel=RBF(0.2), sparsity=0.2)):
        curve = error_curve(estimator, X, cv=cv)
        search = GridSearchCV(estimator, {"n_components": [1, 2, 3]}, cv=cv, refit=False).fit(X)
        assert np.allclose(curve.mean[1:], -search.cv_results_["mean_test_score"], rtol=1e-10)


# curves


def test_a_curve_is_what_a_fit_for_each_number_and_fold_gives():
    cv = KFold(4, shuffle=True, random_state=1)
    curve = error_curve(KernelPCA(12, kernel=RBF(0.1)), IRIS, cv=cv)
    search = GridSearchCV(KernelPCA(kernel=RBF(0.1)), {"n_components": range(1, 13)}, cv=cv, refit=False).fit(IRIS)
    assert np.array_equal(curve.k, np.arange(13))
    for i in range(4):
        assert np.allclose(curve.per_fold[i, 1:], -search.cv_results_[f"split{i}_test_score"], rtol=1e-9)
    assert np.allclose(curve.mean, curve.per_fold.mean(axis=0))
    assert np.allclose(curve.std_error, curve.per_fold.std(axis=0, ddof=1) / 2)
    assert curve.fraction[0] == 1
    assert curve.baseline == curve.mean[0]
    totals = []
    for train, test in cv.split(IRIS):
        K, C = RBF(0.1)(IRIS[test], IRIS[train]), RBF(0.1)(IRIS[train])
        totals.append((1 - 2 * K.mean(axis=1) + C.mean()).mean())
    assert curve.baseline == pytest.approx(np.mean(totals))


@pytest.mark.parametrize("criterion", [Reconstruction(), Denoising(0.2), Masked(0.3, rounds=2)])
def test_a_curve_in_input_space_is_what_scikit_learns_search_finds_with_the_same_scorer(criterion):
    cv, ks = KFold(3), [1, 2, 4]
    curve = error_curve(KernelPCA(kernel=RBF(0.2)), IRIS[::2], cv=cv, components=ks, criterion=criterion)
    search = GridSearchCV(KernelPCA(kernel=RBF(0.2)), {"n_components": ks}, cv=cv, scoring=criterion).fit(IRIS[::2])
    assert np.allclose(curve.mean, -search.cv_results_["mean_test_score"], rtol=1e-4)
    assert search.best_params_["n_components"] == curve.best


def test_without_components_the_answer_is_the_mean_of_the_training_rows():
    cv = KFold(3)
    curve = error_curve(KernelPCA(2), IRIS, cv=cv, criterion="reconstruction")
    expected = [np.square(IRIS[test] - IRIS[train].mean(axis=0)).sum(axis=1).mean() for train, test in cv.split(IRIS)]
    assert np.allclose(curve.per_fold[:, 0], expected)
    assert curve.fraction[0] == 1


def test_folds_take_rows_in_random_order():
    """Iris is sorted by species: folds in its order would each hold out one that the others have not seen."""
    random, again, other = (error_curve(KernelPCA(2), IRIS, cv=3, random_state=seed) for seed in (None, 0, 1))
    ordered = error_curve(KernelPCA(2), IRIS, cv=KFold(3))
    assert ordered.baseline > 1.2 * random.baseline
    assert np.array_equal(random.per_fold, again.per_fold)
    assert not np.array_equal(random.per_fold, other.per_fold)


def test_errors_are_fractions_of_what_there_was_before():
    cv, X = KFold(2), DIGITS[:60]
    noisy = error_curve(KernelPCA(2), X, cv=cv, criterion=Denoising(0.3), components=[0, 2])
    before = [Denoising(0.3).prepare(X[test]) for _, test in cv.split(X)]
    noise = np.mean([np.square(task.given - task.wanted).sum(axis=1).mean() for task in before])
    assert np.allclose(noisy.fraction, noisy.mean / noise)
    hidden = error_curve(KernelPCA(2), X, cv=cv, criterion=Masked(0.25), components=[0, 2])
    from_mean = 0.0  # of entries that were hidden only
    for train, test in cv.split(X):
        task = Masked(0.25).prepare(X[test])
        off = (X[test] - X[train].mean(axis=0))[task.hidden]
        from_mean += np.square(off).sum() / len(test) / 2
    assert hidden.baseline == pytest.approx(from_mean)
    assert hidden.fraction[0] == 1


def test_numbers_of_components():
    X = rows(40)
    assert error_curve(KernelPCA(0.9), X).k[-1] > 3  # a rule that each fold decides: what all of them have
    assert error_curve(KernelPCA(kernel="linear"), X).k.tolist() == [0, 1, 2, 3, 4]
    assert error_curve(PCA(4), X, cv=3).k.tolist() == [0, 1, 2, 3, 4]
    assert error_curve(KernelPCA(100), X).k[-1] == 32  # no more than a fold has rows
    assert error_curve(KernelPCA(20), X, components=[3, 1, 3]).k.tolist() == [1, 3]
    assert error_curve(KernelPCA(20), X, components=range(3)).k.tolist() == [0, 1, 2]
    with pytest.warns(UserWarning, match=r"components=\[15\] are not looked at: the model has no more than 10"):
        few = error_curve(KernelPCA(20, approximation=Nystrom(10)), X, criterion="denoising", components=[5, 10, 15])
    assert few.k.tolist() == [5, 10]
    assert error_curve(KernelPCA(20), X, cv=2, criterion="denoising").k.tolist() == [0, 1, 2, 3, 4, 6, 8, 12, 16, 20]
    with pytest.raises(ValueError, match="No number of components that was asked for"):
        error_curve(PCA(), X, components=[7])


def curve_of(mean, k=None, spread=0.1, of="the noise"):
    mean = np.asarray(mean, dtype=float)
    per_fold = np.stack([mean - spread, mean + spread])
    criterion = Denoising() if of == "the noise" else Projection()
    k = np.arange(len(mean)) if k is None else np.asarray(k)
    return ErrorCurve.from_folds(k, per_fold, np.full(2, mean[0]), criterion, "RBF(gamma=1)", "minimum")


def test_rules():
    curve = curve_of([10, 5, 2, 1.05, 1, 1.2])
    assert curve.best == 4
    assert choose_components(curve) == 4
    assert np.allclose(curve.std_error, 0.1)
    assert choose_components(curve, "one_std_error") == 3  # 1.05 is within 0.1 of 1
    assert choose_components(curve, 0.5) == 1
    assert choose_components(curve, 0.8) == 2
    assert curve.with_rule("one_std_error").best == 3
    assert curve.best == 4
    assert choose_components(curve_of([1, 2, 3])) == 1  # at least one, though none is better
    with pytest.raises(ValueError, match=r"up to 5 does away with so much of the noise; 0\.9"):
        choose_components(curve, 0.99)
    for bad in ("best", 0, 1.5, True, None):
        with pytest.raises(ValueError, match=r"rule=.* is not known"):
            choose_components(curve, bad)
    one = error_curve(KernelPCA(3), rows(30), cv=ShuffleSplit(1, random_state=0))
    assert np.isnan(one.std_error).all()
    assert len(one.per_fold) == 1
    with pytest.raises(ValueError, match="needs a standard error, and there is one fold only"):
        choose_components(one, "one_std_error")


def test_curves_say_what_they_found():
    curve = curve_of([10, 5, 2, 1.05, 1, 1.2])
    assert str(curve) == (
        "RBF(gamma=1) with 4 of up to 5 components (rule: minimum) leaves 0.1 of the noise in rows held out "
        "(denoising, 2 folds)."
    )
    assert "try more" in str(curve_of([3, 2, 1]))
    assert "does no worse" in str(curve_of([1, 2, 3]))
    assert "every component lowers the error" in str(curve_of([3, 2, 1], of="variance"))
    table = pd.DataFrame(curve.table())
    assert list(table.columns) == ["k", "mean", "std_error", "fraction", "fold0", "fold1"]
    assert len(table) == 6
    with pytest.raises(AttributeError):
        curve.best = 3


def test_kernels_of_other_things_have_curves_in_feature_space():
    texts = ["".join(word) for word in np.random.default_rng(0).choice(list("abc"), (40, 12))]
    model = KernelPCA(5, kernel=Spectrum(2))
    curve = error_curve(model, texts, cv=4)
    again = error_curve(KernelPCA(5, kernel="precomputed"), Spectrum(2)(texts), cv=4)
    assert np.allclose(curve.per_fold, again.per_fold)
    X = sparse.random(60, 30, 0.2, format="csr", random_state=0)
    for model in (KernelPCA(5, kernel="linear"), PCA(5)):
        assert np.allclose(error_curve(model, X).mean, error_curve(model, X.toarray()).mean)
    chosen = KernelPCACV(KernelPCA(kernel=Spectrum(2)), criterion="projection", n_components=[1, 3], cv=3).fit(texts)
    assert chosen.transform(texts[:2]).shape == (2, 3)


def test_rows_are_taken_in_blocks(monkeypatch):
    model = KernelPCA(5).fit(rows(40))
    X = rows(101, seed=2)
    whole = mean_projection_errors(model, X)
    monkeypatch.setattr("kernelpca.selection.distances.BUDGET", 32 * 6 * 10)
    assert np.allclose(mean_projection_errors(model, X), whole, rtol=1e-13)


def test_single_precision_and_repeatable():
    def curve(kind, seed=None):
        criterion = Denoising(random_state=seed)
        return error_curve(KernelPCA(), DIGITS[:90].astype(kind), cv=2, components=[4], criterion=criterion)

    a, b = curve(np.float32), curve(np.float64)
    assert np.allclose(a.fraction, b.fraction, rtol=0.05)
    assert np.array_equal(a.per_fold, curve(np.float32).per_fold)
    other = curve(np.float32, seed=1)
    assert not np.array_equal(a.per_fold, other.per_fold)


# criteria


def test_denoising_adds_the_noise_that_it_says():
    X = DIGITS[:500]
    task = Denoising(0.3).prepare(X)
    assert np.array_equal(task.wanted, X)
    assert (task.given - X).std() == pytest.approx(0.3, rel=0.02)
    assert task.before == pytest.approx(np.square(task.given - X).sum(axis=1).mean())
    share = Denoising("0.5std").prepare(X)
    assert (share.given - X).std() == pytest.approx(0.5 * np.sqrt(X.var(axis=0).mean()), rel=0.02)
    salt = Denoising(lambda rows, rng: np.where(rng.random(rows.shape) < 0.1, 1.0, rows)).prepare(X)
    assert 0.05 < (salt.given != X).mean() < 0.11
    assert np.array_equal(Denoising(0.3).prepare(X).given, task.given)


def test_noisy_rows_tell_the_error_against_rows_that_nobody_has():
    clean = low_rank(22_000, 10, 2, seed=3, noise=0.0)
    noisy = clean + np.random.default_rng(4).normal(0, 0.5, clean.shape)
    for k in (1, 2, 6):
        model = PCA(k).fit(noisy[:2000])
        criterion = Denoising(0.5, rows="noisy")
        task = criterion.prepare(noisy[2000:])
        told = criterion.error(model, task)
        truth = np.square(model.denoise(task.given) - clean[2000:]).sum(axis=1).mean()
        naive = np.square(model.denoise(task.given) - noisy[2000:]).sum(axis=1).mean()
        assert abs(told - truth) < 0.1 * truth  # from rows that have noise themselves
        assert abs(naive - truth) > 0.25 * truth or k == 1
    assert task.before == pytest.approx(10 * 0.25 * 1.25)


def test_what_is_hidden_is_not_seen():
    X = DIGITS[:50]
    criterion = Masked(0.25)
    task = criterion.prepare(X)
    assert (task.hidden.sum(axis=1) == 16).all()
    changed = np.where(task.hidden, 100.0, X)
    again = criterion.prepare(changed)
    assert np.array_equal(again.hidden, task.hidden)
    assert np.array_equal(again.given, task.given)
    model = KernelPCA(10, kernel=RBF(0.05)).fit(DIGITS[50:250])
    answer = criterion.answer(model, task)
    assert np.array_equal(answer, criterion.answer(model, again))
    filled = task.given.copy()
    for _ in range(3):
        cleaned = model.denoise(filled)
        for i in range(50):
            for j in range(64):
                if task.hidden[i, j]:
                    filled[i, j] = cleaned[i, j]
    assert np.array_equal(answer, filled)
    expected = sum((filled[i, j] - X[i, j]) ** 2 for i, j in zip(*np.nonzero(task.hidden), strict=True)) / 50
    assert criterion.error(model, task) == pytest.approx(expected)
    tiny = Masked(0.9).prepare(X[:1])
    assert np.isfinite(tiny.given).all()


def test_reconstruction_gives_the_way_back_no_reference():
    model = InvertibleKernelPCA(3, gamma=0.5, n_features=60).fit(IRIS[::2])
    X = IRIS[1::2]
    back = np.square(model.inverse_transform(model.transform(X)) - X).sum(axis=1).mean()
    assert Reconstruction()(model, X) == pytest.approx(-back)
    assert reconstruction_score(model, X) == pytest.approx(-back)
    with_reference = np.square(model.denoise(X) - X).sum(axis=1).mean()
    assert abs(with_reference - back) > 0.05 * back  # which would have told it the answer


def test_scorers_take_scikit_learns_models():
    theirs, ours = sklearn.decomposition.PCA(2).fit(IRIS), PCA(2).fit(IRIS)
    for scorer in (reconstruction_score, denoising_score(0.3), masked_score(0.3)):
        assert scorer(theirs, IRIS) == pytest.approx(scorer(ours, IRIS))


def test_histograms_are_given_no_negative_noise():
    X = DIGITS[:120] * 16
    curve = error_curve(KernelPCA(8, kernel="chi2"), X, cv=3, criterion=Denoising(2.0), components=[2, 8])
    assert np.isfinite(curve.mean).all()


def test_the_error_in_feature_space_does_not_choose_a_width():
    """Wide kernels are favored whatever the data, and a kernel of rank one has no error at all."""
    fractions = [error_curve(KernelPCA(16, kernel=RBF(g)), DIGITS[:300]).fraction[-1] for g in (0.003, 0.03, 0.3, 3.0)]
    assert (np.diff(fractions) > 0).all()
    degenerate = Linear()  # of one column: f(x) f(y)
    assert error_curve(KernelPCA(1, kernel=degenerate), DIGITS[:100, 20:21]).fraction[-1] < 1e-12


# searches


def quick(**changes):
    given = {"gammas": [0.02, 0.1], "n_components": [2, 8, 20], "criterion": Denoising(0.3), "cv": 3}
    return KernelPCACV(**(given | changes))


def test_a_search_finds_what_scikit_learns_search_finds():
    X, cv = DIGITS[:150], KFold(3)
    search = quick(cv=cv).fit(X)
    grid = {"kernel": [RBF(0.02), RBF(0.1)], "n_components": [2, 8, 20]}
    theirs = GridSearchCV(KernelPCA(), grid, cv=cv, scoring=denoising_score(0.3)).fit(X)
    for name in ("mean_test_score", "std_test_score", "split2_test_score"):
        assert np.allclose(search.cv_results_[name], theirs.cv_results_[name], rtol=1e-4, atol=1e-6)
    assert search.cv_results_["params"] == theirs.cv_results_["params"]
    assert np.array_equal(search.cv_results_["rank_test_score"], theirs.cv_results_["rank_test_score"])
    assert search.best_params_ == theirs.best_params_
    assert search.best_index_ == theirs.best_index_
    assert search.best_score_ == pytest.approx(theirs.best_score_, rel=1e-4)
    assert search.n_splits_ == 3
    table = pd.DataFrame(search.cv_results_)
    assert len(table) == 6
    assert list(table.param_gamma[::3]) == [0.02, 0.1]
    for curve, scores in zip(search.curves_, search.cv_results_["mean_test_score"].reshape(2, 3), strict=True):
        assert np.allclose(curve.mean, -scores)


def test_a_search_is_its_best_model():
    X, new = DIGITS[:150], DIGITS[150:160]
    search = quick().fit(X)
    best = KernelPCA(**search.best_params_).fit(X)
    Z = search.transform(new)
    assert np.allclose(Z, best.transform(new))
    assert np.allclose(search.inverse_transform(Z), best.inverse_transform(Z))
    assert np.allclose(search.inverse_transform(Z, new), best.inverse_transform(Z, new))
    assert np.allclose(search.denoise(new), best.denoise(new))
    assert np.allclose(search.score_samples(new), best.score_samples(new))
    assert search.score(new) == pytest.approx(Denoising(0.3)(best, new))
    assert len(search.get_feature_names_out()) == search.best_params_["n_components"]
    again = pickle.loads(pickle.dumps(search))
    assert np.array_equal(again.transform(new), Z)
    frame = pd.DataFrame(X, columns=[f"p{i}" for i in range(64)])
    named = quick().fit(frame)
    assert np.allclose(named.transform(frame[:10]), search.transform(X[:10]))
    assert list(named.feature_names_in_[:2]) == ["p0", "p1"]
    with pytest.raises(ValueError, match="feature names"):
        named.transform(frame.rename(columns={"p0": "q"}))
    scaled = make_pipeline(StandardScaler(), quick(criterion=Denoising(0.3), gammas=[0.01])).fit(X)
    assert scaled.transform(new).shape[1] in (2, 8, 20)


def test_candidates():
    X = DIGITS[:80]

    def tried(**given):
        search = KernelPCACV(**({"n_components": [2], "cv": 2, "criterion": "reconstruction"} | given)).fit(X)
        return list(search.cv_results_["param_kernel"]), search.cv_results_["param_gamma"]

    names, widths = tried(gammas=3)
    assert np.array_equal(widths, gamma_grid("rbf", X, 3))
    assert names[0] == f"RBF(gamma={widths[0]:g})"
    names, widths = tried(kernels=["rbf", "linear", Laplacian(0.05)])
    assert len(names) == 7 + 1 + 1
    assert names[7] == "Linear()"
    assert widths[8] == 0.05
    assert np.isnan(widths[7])
    names, widths = tried(kernels=[Cauchy(), RBF(0.3)], gammas=["median", 0.1])
    assert widths.tolist() == pytest.approx([gamma_median(X, "cauchy"), 0.1, gamma_median(X), 0.1])
    assert tried(kernels="linear")[0] == ["Linear()"]
    assert tried(gammas=None)[1] == pytest.approx([gamma_scale(X)])
    assert tried(estimator=KernelPCA(kernel=RBF(0.07)))[1].tolist() == [0.07]
    assert tried(estimator=PCA())[0] == ["PCA()"]
    names, widths = tried(estimator=InvertibleKernelPCA(n_features=130), gammas=[0.01, "scale"])
    assert widths.tolist() == pytest.approx([0.01, gamma_scale(X)])
    assert len(tried(estimator=KernelPCA(approximation=Nystrom(20)), gammas=2)[0]) == 2
    sums = [RBF(g) + Linear() for g in (0.01, 0.1)]
    assert tried(kernels=sums)[0] == [repr(kernel) for kernel in sums]


def test_numbers_of_components_that_a_search_tries():
    X = DIGITS[:30]
    search = KernelPCACV(gammas=[0.1], cv=3, criterion="projection").fit(X)
    assert search.curves_[0].k.tolist() == [1, 2, 4, 8, 16, 20]
    with pytest.warns(UserWarning, match=r"n_components=\[50, 60\] is more than some fold has.*not tried"):
        search = KernelPCACV(PCA(), cv=3, n_components=[1, 5, 50, 60]).fit(X)
    assert search.curves_[0].k.tolist() == [1, 5]
    search = KernelPCACV(InvertibleKernelPCA(n_features=130, layers=[{"n_components": 4}, {"n_features": 6}]), cv=3)
    assert search.set_params(gammas=[0.1]).fit(X).curves_[0].k.tolist() == [1, 2, 4, 6]
    search = KernelPCACV(KernelPCA(approximation=Nystrom(7)), gammas=[0.1], cv=3).fit(X)
    assert search.curves_[0].k.tolist() == [1, 2, 4, 7]
    with pytest.raises(ValueError, match=r"n_components=\[50\] is not possible with n_samples = 20 in a fold"):
        KernelPCACV(gammas=[0.1], cv=3, n_components=[50]).fit(X)


def test_one_standard_error_takes_the_fewest_components_of_all():
    """Of those within one standard error of the lowest: the fewest components, then the lowest error."""
    wide, narrow = curve_of([9, 5, 1.08, 1.0], k=[1, 2, 4, 8]), curve_of([9, 1.06, 1.04, 1.2], k=[1, 2, 4, 8])
    third = curve_of([9, 1.05, 2, 2], k=[1, 2, 4, 8])
    found = Found([], [], [wide, narrow, third])
    assert found.best("minimum") == 3
    assert found.best("one_std_error") == 9  # with 2 components 1.05 and 1.06 are good enough
    X = DIGITS[:100]
    search = quick(rule="one_std_error").fit(X)
    assert search.best_index_ == Found([], [], search.curves_).best("one_std_error")
    with pytest.raises(ValueError, match="needs a standard error"):
        quick(rule="one_std_error", cv=ShuffleSplit(1, random_state=0)).fit(X)


def test_a_search_that_was_stopped_too_early_for_its_rule_still_answers():
    X, message = DIGITS[:60], "callback has stopped after one fold: the lowest error is taken"
    with pytest.warns(UserWarning, match=message):
        search = quick(rule="one_std_error", callback=lambda step: True).fit(X)
    assert search.best_index_ == quick(callback=lambda step: True).fit(X).best_index_
    with pytest.warns(UserWarning, match=message):
        curve = error_curve(KernelPCA(4), X, rule="one_std_error", callback=lambda step: True)
    assert curve.rule == "minimum"
    steps = []
    with pytest.raises(ValueError, match="needs a standard error, and there is one fold only"):
        error_curve(KernelPCA(2), X, rule="one_std_error", cv=ShuffleSplit(1, random_state=0), callback=steps.append)
    assert steps == []  # before any work


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_of_errors_that_differ_by_rounding_the_fewest_components_win(dtype):
    """A linear kernel of rank 5: with more components than that nothing is left but rounding."""
    X = (rows(80, 5) @ rows(5, 9, seed=1)).astype(dtype)
    for criterion in ("reconstruction", "projection"):
        search = KernelPCACV(kernels="linear", criterion=criterion, n_components=[3, 5, 6, 7, 20], cv=4).fit(X)
        assert search.best_params_["n_components"] == 5
        assert search.curves_[0].best == 5
        errors = search.curves_[0].mean
        assert errors[0] > 1e-3 * search.curves_[0].baseline
        assert errors[1:].max() < 1e-7 * search.curves_[0].baseline
        assert error_curve(KernelPCA(kernel="linear"), X, criterion=criterion, components=range(1, 21)).best == 5


def test_columns_keep_their_names():
    X = pd.DataFrame(DIGITS[:60, 20:26], columns=list("abcdef"))
    search = quick(estimator=KernelPCA(preimage="ridge"), n_components=[2]).fit(X)  # warnings are errors here
    assert search.best_estimator_.feature_names_in_.tolist() == list("abcdef")
    unnamed = quick(estimator=KernelPCA(preimage="ridge"), n_components=[2]).fit(X.to_numpy())
    for name in ("transform", "denoise", "score_samples"):
        found, wanted = getattr(search, name)(X), getattr(unnamed, name)(X.to_numpy())
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=0, atol=1e-10)
        np.testing.assert_array_equal(np.asarray(getattr(search.best_estimator_, name)(X)), np.asarray(found))
    assert search.score(X) == pytest.approx(unnamed.score(X.to_numpy()))
    with pytest.raises(ValueError, match="feature names should match"):
        search.transform(X.rename(columns={"a": "z"}))
    for scorer in (masked_score(random_state=0), denoising_score(0.1, random_state=0), reconstruction_score):
        for model in (KernelPCA(3, preimage="ridge"), sklearn.decomposition.PCA(3)):
            grids = [
                GridSearchCV(model, {"n_components": [1, 3]}, scoring=scorer, cv=2).fit(x) for x in (X, X.to_numpy())
            ]
            assert grids[0].cv_results_["mean_test_score"] == pytest.approx(grids[1].cv_results_["mean_test_score"])


def test_iterators_are_as_good_as_lists():
    X = DIGITS[:60]
    given = {"kernels": ["rbf", "laplacian"], "gammas": [0.02, 0.1], "n_components": [2, 3]}
    wanted = quick(**given).fit(X)
    for once in (iter, lambda values: (value for value in values)):
        search = quick(**{name: once(values) for name, values in given.items()}, cv=iter(list(KFold(3).split(X))))
        kernels = search.kernels
        search.fit(X)
        assert search.kernels is kernels  # what was given stays what it is
        assert [curve.model for curve in search.curves_] == [curve.model for curve in wanted.curves_]
        assert search.transform(X[:2]).shape == (2, search.best_params_["n_components"])
    texts = KernelPCACV(kernels=iter([Spectrum()]), criterion="projection", n_components=[2], cv=2)
    assert texts.fit(["abab", "baba", "aabb", "bbaa"] * 3).transform(["ab"]).shape == (1, 2)


def test_folds_that_look_at_labels():
    X, y = IRIS[::3], np.arange(50) % 2
    search = KernelPCACV(gammas=[0.1, 1.0], n_components=[2], cv=StratifiedKFold(2)).fit(X, y)
    same = KernelPCACV(gammas=[0.1, 1.0], n_components=[2], cv=list(StratifiedKFold(2).split(X, y))).fit(X)
    assert np.array_equal(search.cv_results_["mean_test_score"], same.cv_results_["mean_test_score"])


def test_scikit_learns_search_with_the_models_own_score():
    grid = GridSearchCV(KernelPCA(kernel=RBF(0.05)), {"n_components": [1, 5, 10]}, cv=3).fit(DIGITS[:90])
    assert grid.best_params_["n_components"] == 10  # every component lowers the error
    masked = GridSearchCV(PCA(), {"n_components": [1, 3, 8, 30]}, scoring=masked_score(0.2, random_state=1), cv=3)
    assert masked.fit(low_rank(300, 40, 3, seed=5)).best_params_["n_components"] == 3


def test_progress():
    X, steps = DIGITS[:60], []
    quick(callback=steps.append).fit(X)
    assert [step.done for step in steps] == list(range(1, 7))
    assert steps[-1].total == 6
    assert steps[-1].remaining == 0
    assert steps[0].remaining > 0
    assert str(steps[0]).startswith("fit 1 of 6: RBF(gamma=0.02), about")
    search = quick(callback=lambda step: step.done == 3).fit(X)  # in the second fold, which is finished
    assert search.n_splits_ == 2
    assert "split2_test_score" not in search.cv_results_
    assert len(error_curve(KernelPCA(2), X, callback=lambda step: True).per_fold) == 1
    stopped = parallel_analysis(KernelPCA(2), X, callback=lambda step: step.done == 4)
    assert len(stopped.null) == 3
    text = io.StringIO()
    with StepBar(Console(file=text, force_terminal=True, width=100)) as bar:
        bar(Step(2, 5, 10.2, "RBF(gamma=1)"))
    assert "fit 2 of 5: RBF(gamma=1)" in text.getvalue()
    assert " 40%" in text.getvalue()
    assert "about 15 s left" in text.getvalue()
    with pytest.raises(TypeError, match="cannot be called"):
        quick(callback=3).fit(X)


def test_a_failed_search_leaves_what_was_there():
    search = quick().fit(DIGITS[:60])
    before = search.transform(DIGITS[:3])
    search.set_params(rule="fewest")
    with pytest.raises(ValueError, match="rule='fewest' is not known"):
        search.fit(DIGITS[:80])
    assert np.array_equal(search.transform(DIGITS[:3]), before)


@pytest.mark.filterwarnings("ignore:All samples are the same point:UserWarning")
@parametrize_with_checks(
    [
        KernelPCACV(gammas=[0.1], n_components=[1, 2], cv=2),
        KernelPCACV(PCA(), n_components=[1], cv=2, criterion="reconstruction"),
        KernelPCACV(KernelPCA(kernel="precomputed"), n_components=[1], criterion="projection", cv=2),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)  # raises where the contract is broken


# widths


def test_widths_are_those_that_kernels_find_themselves():
    for name in ("rbf", "laplacian", "matern", "poly"):
        kernel = as_kernel(name)
        assert gamma_scale(IRIS, name) == kernel.resolve(IRIS).number()
        assert gamma_median(IRIS, name) == clone(kernel).set_params(gamma="median").resolve(IRIS).number()
    pairs = [np.square(a - b).sum() for i, a in enumerate(IRIS) for b in IRIS[:i]]
    assert gamma_median(IRIS) == pytest.approx(1 / np.median(pairs))
    assert gamma_scale(IRIS) == pytest.approx(1 / (4 * IRIS.var()))
    assert gamma_scale(IRIS, RBF(7.0)) == gamma_scale(IRIS)  # whatever gamma it has


def test_the_grid_goes_from_nearly_linear_to_one_row_at_a_time():
    X = np.unique(IRIS, axis=0)
    distances = np.square(X[:, None] - X[None]).sum(axis=2)
    grid = gamma_grid("rbf", X, 5)
    assert len(grid) == 5
    assert (np.diff(grid) > 0).all()
    assert grid[0] == pytest.approx(0.1 / distances.max(), rel=5e-3)
    nearest = np.where(distances > 1e-12, distances, np.inf).min(axis=1)
    assert grid[-1] == pytest.approx(1 / np.median(nearest), rel=5e-3)
    assert np.allclose(grid[1:] / grid[:-1], grid[1] / grid[0], rtol=0.01)
    assert grid[0] < gamma_median(X) < grid[-1]
    assert grid[0] < gamma_scale(X) < grid[-1]
    assert np.allclose(gamma_grid("rbf", 10 * X, 5) * 100, grid, rtol=0.01)
    assert gamma_grid("rbf", X, 1).tolist() == [gamma_median(X)]
    assert gamma_grid("rbf", np.ones((5, 2))).tolist() == [1.0]
    poly = gamma_grid("poly", X, 3)
    assert poly[0] == pytest.approx(0.1 / np.square(X).sum(axis=1).max(), rel=0.02)
    assert poly[-1] == pytest.approx(10 * gamma_median(X, "poly"), rel=5e-3)
    # at the lower end components are those of the linear kernel, at the upper one rows are alone
    wide, linear = (KernelPCA(3, kernel=kernel).fit_transform(X) for kernel in (RBF(grid[0]), Linear()))
    for a, b in zip(wide.T, linear.T, strict=True):
        assert abs(np.corrcoef(a, b)[0, 1]) > 0.98
    assert np.median(np.sort(RBF(grid[-1])(X), axis=1)[:, -2]) == pytest.approx(np.exp(-1), rel=0.01)
    noise = rows(100, 50)  # where the nearest row is about as far as any other
    assert gamma_grid("rbf", noise)[-1] == pytest.approx(5 * gamma_median(noise), rel=5e-3)
    with pytest.raises(ValueError, match="has no gamma of its own"):
        gamma_grid("linear", X)
    for bad in (0, 2.5, True):
        with pytest.raises(ValueError, match="n must be a whole number"):
            gamma_grid("rbf", X, bad)


# parallel analysis


def test_parallel_analysis_compares_with_what_the_formula_gives():
    X, kernel = rows(30, 5), RBF(0.2)
    found = parallel_analysis(KernelPCA(6, kernel=kernel), X, n_permutations=8, quantile=0.9, random_state=3)
    rng = np.random.default_rng(3)

    def leading(Y):
        n = len(Y)
        K = np.array([[np.exp(-0.2 * np.square(a - b).sum()) for b in Y] for a in Y])
        C = np.eye(n) - 1 / n
        return np.linalg.eigvalsh(C @ K @ C)[::-1][:6]

    null = np.array([leading(rng.permuted(X, axis=0)) for _ in range(8)])
    values = leading(X)
    assert np.allclose(found.eigenvalues, values, rtol=1e-10)
    assert np.allclose(found.null, null, rtol=1e-10)
    assert np.allclose(found.null_mean, null.mean(axis=0))
    assert np.allclose(found.null_quantile, [np.quantile(column, 0.9) for column in null.T])
    counts = [sum(column >= value) for value, column in zip(values, null.T, strict=True)]
    assert np.allclose(found.p_values, [(1 + count) / 9 for count in counts])
    retained = 0
    while retained < 6 and values[retained] > found.null_quantile[retained]:
        retained += 1
    assert found.n_components == retained


@pytest.mark.parametrize("method", ["permutation", "signflip"])
@pytest.mark.parametrize("r", [0, 1, 3, 6])
def test_parallel_analysis_finds_how_many_directions_there_are(r, method):
    for seed in range(2):
        X = low_rank(200, 30, r, seed)
        for model in (KernelPCA(10, kernel="linear"), PCA(10)):
            found = parallel_analysis(model, X, n_permutations=15, quantile=1.0, method=method)
            assert found.n_components == r


def test_signs_keep_rows_of_different_size_apart_from_structure():
    """Rows of noise of very different size look like structure once columns are permuted, but not to sign flips."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 40)) * np.exp(1.5 * rng.standard_normal((300, 1)))
    model = PCA(10)
    assert parallel_analysis(model, X, method="signflip", n_permutations=20).n_components <= 1
    assert parallel_analysis(model, X, method="permutation", n_permutations=20).n_components > 3


def test_parallel_analysis_of_other_kernels_and_features():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 200)
    circle = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.1 * rng.standard_normal((200, 2))
    # uncorrelated columns: the linear kernel sees nothing, a Gaussian does
    assert parallel_analysis(KernelPCA(2, kernel="linear"), circle, n_permutations=10).n_components == 0
    seen = parallel_analysis(KernelPCA(10, kernel=RBF(2.0)), circle, n_permutations=10)
    assert seen.n_components >= 2
    for approximation in (Nystrom(100), RandomFourier(400)):
        model = KernelPCA(10, kernel=RBF(2.0), approximation=approximation)
        other = parallel_analysis(model, circle, n_permutations=10)
        assert abs(other.n_components - seen.n_components) <= 2
    model = InvertibleKernelPCA(10, gamma=2.0, n_features=400)
    assert parallel_analysis(model, circle, n_permutations=10).n_components >= 1


def test_parallel_analysis_says_what_it_found():
    found = parallel_analysis(PCA(5), low_rank(100, 10, 2, 0), n_permutations=10, quantile=1)
    assert str(found) == (
        "2 of the 5 components of PCA that were looked at are more than chance: their eigenvalues exceed the 1 "
        "quantile of 10 data sets with unrelated columns (permutation)."
    )
    table = pd.DataFrame(found.table())
    assert table.retained.tolist() == [True, True, False, False, False]
    assert table.component[0] == 1
    assert "look at a larger n_components" in str(parallel_analysis(PCA(1), low_rank(100, 10, 2, 0), n_permutations=5))
    assert parallel_analysis(KernelPCA(), rows(20), n_permutations=3).eigenvalues.shape == (19,)


# what goes wrong


def test_errors_say_what_to_do():
    X, dense, numbers = rows(30), DenseGram(np.eye(30)), np.arange(30)
    cases = [
        (lambda: error_curve(KernelPCA(2), X, cv=1), ValueError, "at least 2 folds are needed"),
        (lambda: error_curve(KernelPCA(2), X, criterion="denoise"), ValueError, "Did you mean 'denoising'"),
        (lambda: error_curve(KernelPCA(2), X, criterion=Denoising), ValueError, r"write Denoising\(\)"),
        (lambda: error_curve(KernelPCA(2), X, components=[0]), ValueError, "at least one of them above 0"),
        (lambda: error_curve(KernelPCA(2), X, components="all"), ValueError, "no numbers of components"),
        (lambda: error_curve(KernelPCA(2, kernel="precomputed"), dense), TypeError, "cannot be divided"),
        (lambda: error_curve(KernelPCA(2, kernel="precomputed"), X), ValueError, "square matrix of all samples"),
        (lambda: error_curve(sklearn.decomposition.PCA(2), X), TypeError, "no estimator that components can be chosen"),
        (lambda: parallel_analysis(StandardScaler(), X), TypeError, "no estimator that components can be chosen"),
        (lambda: KernelPCACV(make_pipeline(StandardScaler(), KernelPCA())).fit(X), TypeError, "end of a pipeline"),
        (lambda: error_curve(make_pipeline(StandardScaler(), KernelPCA(2)), X), TypeError, "end of a pipeline"),
        (lambda: KernelPCACV("abc").fit(X), TypeError, "str is no estimator that components can be chosen"),
        (lambda: quick(gammas=[None]).fit(X), ValueError, "how many widths to try"),
        (lambda: quick(gammas=[0.1, [1]]).fit(X), ValueError, "how many widths to try"),
        (lambda: quick(cv=StratifiedKFold(2)).fit(X), ValueError, r"labels or groups.*list\(splitter\.split\(X, y"),
        (lambda: error_curve(KernelPCA(2), X, cv=StratifiedKFold(2)), ValueError, "labels or groups"),
        (lambda: error_curve(KernelPCA(2), X, cv=GroupKFold(2)), ValueError, "labels or groups"),
        (lambda: error_curve(KernelPCA(2), X, cv=31), ValueError, "n_splits=31"),
        (
            lambda: error_curve(
                KernelPCA(9), X, components=[16], cv=[(numbers[:16], numbers[20:]), (numbers[:15], numbers[20:])]
            ),
            ValueError,
            r"asked for \(\[16\]\) is possible in every fold: the smallest has at most 15",
        ),
        (lambda: quick(criterion="projection").fit(X), ValueError, "own yardstick"),
        (lambda: quick(gammas="wide").fit(X), ValueError, "how many widths to try"),
        (lambda: quick(gammas=[]).fit(X), ValueError, "how many widths to try"),
        (lambda: quick(kernels=[]).fit(X), ValueError, "give a list of names or kernels"),
        (lambda: quick(kernels=["rfb"]).fit(X), ValueError, "Did you mean 'rbf'"),
        (lambda: quick(estimator=PCA(), kernels=["rbf"]).fit(X), ValueError, "has a kernel of its own"),
        (lambda: quick(n_components=[2, 0.5]).fit(X), ValueError, "no numbers of components"),
        (lambda: quick(criterion=Denoising(-1)).fit(X), ValueError, "noise must be a positive number"),
        (lambda: quick(criterion=Denoising("std")).fit(X), ValueError, "noise must be a positive number"),
        (lambda: quick(criterion=Denoising(1, rows="dirty")).fit(X), ValueError, '"clean" or "noisy"'),
        (lambda: quick(criterion=Denoising(abs, rows="noisy")).fit(X), ValueError, "Gaussian noise only"),
        (lambda: quick(criterion=Denoising(lambda X, _: X[:1])).fit(X), ValueError, "returned shape"),
        (lambda: quick(criterion=Masked(1.0)).fit(X), ValueError, "part of entries to hide"),
        (lambda: quick(criterion=Masked(rounds=0)).fit(X), ValueError, "rounds must be a whole number"),
        (lambda: quick(criterion="masked").fit(X[:, :1]), ValueError, "1 feature"),
        (lambda: quick().fit(sparse.csr_matrix(X)), TypeError, "compares dense rows of numbers"),
        (
            lambda: KernelPCACV(KernelPCA(kernel=Spectrum())).fit(["ab", "ba"] * 5),
            TypeError,
            "'projection' is possible",
        ),
        (lambda: parallel_analysis(KernelPCA(2), X, n_permutations=0), ValueError, "such as 40"),
        (lambda: parallel_analysis(KernelPCA(2), X, quantile=95), ValueError, "such as 0.95"),
        (lambda: parallel_analysis(KernelPCA(2), X, method="shuffle"), ValueError, "permutation, signflip"),
        (lambda: parallel_analysis(KernelPCA(2, kernel="precomputed"), X @ X.T), TypeError, "dense rows of numbers"),
        (lambda: parallel_analysis(KernelPCA(2, kernel=Precomputed()), X @ X.T), TypeError, "dense rows of numbers"),
        (
            lambda: parallel_analysis(KernelPCA(2, kernel="chi2"), abs(X), method="signflip"),
            ValueError,
            'other side of their column\'s mean, down to -.*take method="permutation"',
        ),
        (lambda: parallel_analysis(PCA(2), sparse.csr_matrix(X)), TypeError, "X.toarray"),
        (lambda: truncated(StandardScaler(), 1, X), TypeError, "no estimator that components can be chosen"),
        (lambda: projection_errors(StandardScaler(), X), TypeError, "no estimator that components can be chosen"),
    ]
    for call, kind, message in cases:
        with pytest.raises(kind, match=message):
            call()


def test_a_dask_collection_is_refused_with_a_way_out():
    dask = pytest.importorskip("dask.array")
    X = dask.from_array(rows(30))
    for call in (lambda: error_curve(KernelPCA(2), X), lambda: quick().fit(X), lambda: parallel_analysis(PCA(2), X)):
        with pytest.raises(TypeError, match="choose on some of its rows"):
            call()


def test_nothing_that_is_given_is_changed():
    X = DIGITS[:50].copy()
    before = X.copy()
    model = KernelPCA(5)
    error_curve(model, X, cv=2, components=[3], criterion="denoising")
    error_curve(model, X, cv=2, components=[3], criterion="masked")
    parallel_analysis(model, X, n_permutations=2)
    criterion = Denoising(0.2)
    quick(estimator=model, criterion=criterion).fit(X)
    assert np.array_equal(X, before)
    assert not hasattr(model, "eigenvalues_")
    assert model.kernel == "rbf"


def test_the_code_of_the_guide_runs(capsys):
    page = (Path(__file__).parents[1] / "docs" / "choosing.md").read_text()
    namespace = {}
    for code in re.findall(r"```python\n(.*?)```", page, re.S):
        exec(code, namespace)
    assert namespace["cleaned"].shape == (300, 64)
    assert namespace["grid"].best_params_["n_components"] == 16
    told = capsys.readouterr().out
    assert "leaves" in told
    assert "more than chance" in told


# truth that a choice may not see


def true_errors(X, noisy, clean, candidates, ks):
    """Error against clean rows of each candidate and number of components, fitted on X."""
    found = []
    for params in candidates:
        family = Family(KernelPCA(**params), X, max(ks))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found.append([np.square(family.first(k).denoise(noisy) - clean).sum(axis=1).mean() for k in ks])
    return np.array(found)


def near_best(search, X, noisy, clean):
    """True error of what a search chose, over the best on its grid, and the median over the grid."""
    ks = search.curves_[0].k.tolist()
    params = [{"kernel": p["kernel"]} for p in search.cv_results_["params"][:: len(ks)]]
    errors = true_errors(X, noisy, clean, params, ks)
    chosen = errors.ravel()[search.best_index_]
    return chosen / errors.min(), float(np.median(errors)) / errors.min()


@pytest.mark.parametrize("own", [0.0, 0.25])
def test_on_digits_the_choice_is_nearly_the_best(own):
    """The error against clean digits is near the least on the grid, whether training digits are clean or noisy."""
    rng = np.random.default_rng(0)
    X = DIGITS[rng.permutation(len(DIGITS))]
    train, test, noise = X[:400] + own * rng.standard_normal((400, 64)), X[400:550], own or 0.35
    criterion = Denoising(noise, rows="noisy" if own else "clean")
    search = KernelPCACV(gammas=4, n_components=[4, 16, 64, 128], criterion=criterion, cv=2).fit(train)
    ratio, typical = near_best(search, train, test + noise * rng.standard_normal(test.shape), test)
    assert ratio < 1.05
    assert typical > 1.25


def test_on_usps_the_choice_is_nearly_the_best():
    path_of("usps.npz")
    from kernelpca.datasets import load_usps

    rng = np.random.default_rng(1)
    X = load_usps()[0]
    X = X[rng.permutation(len(X))]
    train, test = X[:400] + 0.35 * rng.standard_normal((400, 256)), X[400:500]
    criterion, cv = Denoising(0.35, rows="noisy"), ShuffleSplit(2, test_size=100, random_state=0)
    search = KernelPCACV(gammas=3, n_components=[8, 32, 128], criterion=criterion, cv=cv).fit(train)
    ratio, typical = near_best(search, train, test + 0.35 * rng.standard_normal(test.shape), test)
    assert ratio < 1.05
    assert typical > 1.1
