"""Kernel PCA through features, from data to scores: against the naive formulas and exact kernel PCA."""

import tracemalloc
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import reference
from kernelpca import KernelPCA
from kernelpca.features import (
    Downsample,
    FeatureGrouping,
    FeatureHashing,
    GaussianProjection,
    KernelSketch,
    Nystrom,
    RandomFourier,
    RandomReLU,
    SparseProjection,
)
from kernelpca.features.error import unused_rows
from kernelpca.features.moments import Moments, gather
from kernelpca.kernels import RBF, Polynomial, Sigmoid, Spectrum
from kernelpca.metrics import eigenvector_similarity
from kernelpca.tiles import all_tiles

KINDS = {
    "nystrom": Nystrom(40),
    "extension": Nystrom(40, form="extension"),
    "fourier": RandomFourier(60),
    "many fourier": RandomFourier(400),
    "sketch": KernelSketch(40),
    "printed sketch": KernelSketch(40, form="paper"),
}


def rows(n=120, d=4, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def model(approximation, k=5, kernel=None, **parameters):
    return KernelPCA(k, kernel=kernel or RBF(0.2), approximation=approximation, **parameters)


def center(K):
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


# against the formulas


@pytest.mark.parametrize("centering", [True, False])
@pytest.mark.parametrize("kernel", [RBF(0.2), Polynomial(2, 0.3)])
def test_nystrom_is_kernel_pca_of_the_approximate_matrix(centering, kernel):
    X, idx = rows(), np.arange(30)
    fitted = model(Nystrom(landmarks=idx), kernel=kernel, center=centering).fit(X)
    values, vectors = np.linalg.eigh(reference.landmark_approximation(kernel(X), idx, centering))
    values, vectors = values[::-1][:5], vectors[:, ::-1][:, :5]
    np.testing.assert_allclose(fitted.eigenvalues_, values, rtol=1e-9)
    scores = fitted.transform(X)
    np.testing.assert_allclose(np.abs(scores), np.abs(vectors * np.sqrt(values)), atol=1e-6 * np.sqrt(values[0]))
    np.testing.assert_allclose(np.square(scores).sum(axis=0), values, rtol=1e-8)


@pytest.mark.parametrize("centering", [True, False])
def test_extension_is_that_of_the_tutorial(centering):
    X, idx, kernel = rows(), np.arange(30), RBF(0.2)
    fitted = model(Nystrom(landmarks=idx, form="extension"), kernel=kernel, center=centering).fit(X)
    values, vectors = reference.landmark_extension(kernel(X), idx, 5, centering)
    np.testing.assert_allclose(fitted.eigenvalues_, values, rtol=1e-9)
    np.testing.assert_allclose(np.abs(fitted.transform(X)), np.abs(vectors * np.sqrt(values)), atol=1e-8)


def test_the_printed_sketch_is_algorithm_6():
    X, kernel = rows(), RBF(0.2)
    K = center(kernel(X))
    fitted = model(KernelSketch(40, form="paper"), random_state=3).fit(X)
    P = GaussianProjection().fit(120, 40, np.random.default_rng(3)).part(slice(0, 120))
    values, vectors = reference.sketch(K, P, 5)
    np.testing.assert_allclose(fitted.eigenvalues_, values, rtol=1e-8)
    directions = fitted.components_.T * np.sqrt(values)
    assert eigenvector_similarity(np.linalg.qr(vectors)[0], directions).min() > 1 - 1e-8


def test_random_features_are_linear_pca_on_them():
    X = rows()
    for size in (60, 400):  # fewer and more than rows
        fitted = model(RandomFourier(size), random_state=1).fit(X)
        F = RandomFourier(size).fit(RBF(0.2), X, np.random.default_rng(1)).map(X)
        truth = PCA(5, svd_solver="full").fit(F)
        np.testing.assert_allclose(fitted.explained_variance_, truth.explained_variance_, rtol=1e-9)
        np.testing.assert_allclose(fitted.explained_variance_ratio_, truth.explained_variance_ratio_, rtol=1e-9)
        np.testing.assert_allclose(np.abs(fitted.transform(X)), np.abs(truth.transform(F)), atol=1e-7)
        form = "Gram matrix, 120 x 120" if size > 120 else "covariance, 60 x 60"
        assert form in str(fitted.plan_)


# limits and laws


@pytest.mark.parametrize("kernel", [RBF(0.2), Polynomial(3, 0.1), "laplacian", "linear"])
def test_all_rows_as_landmarks_are_exact_kernel_pca(kernel):
    X = rows(60)
    fitted, exact = (KernelPCA(4, kernel=kernel, approximation=a).fit(X) for a in (Nystrom(60), None))
    np.testing.assert_allclose(fitted.eigenvalues_, exact.eigenvalues_, rtol=1e-9)
    new = rows(20, seed=9)
    np.testing.assert_allclose(np.abs(fitted.transform(new)), np.abs(exact.transform(new)), atol=1e-7)
    np.testing.assert_allclose(fitted.residuals(new), exact.residuals(new), atol=1e-7)
    np.testing.assert_allclose(fitted.explained_variance_ratio_, exact.explained_variance_ratio_, rtol=1e-9)
    assert fitted.certificate_.approximation.missed < 1e-8


def test_ritz_is_never_worse_than_extension_and_never_better_than_exact():
    X, exact = rows(200), model(None).fit(rows(200)).eigenvalues_.sum()
    for seed in range(5):
        captured = []
        for form in ("extension", "ritz"):
            fitted = model(Nystrom(20, form=form), random_state=seed).fit(X)
            captured.append(np.square(fitted.transform(X)).sum())
        assert captured[0] <= captured[1] * (1 + 1e-12)
        assert captured[1] <= exact * (1 + 1e-12)
        assert exact <= captured[1] * (1 + fitted.certificate_.approximation.missed)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("centering", [True, False])
def test_fit_transform_is_fit_and_transform(kind, centering):
    X = rows()
    scores = model(KINDS[kind], center=centering).fit_transform(X)
    again = model(KINDS[kind], center=centering).fit(X).transform(X)
    np.testing.assert_allclose(scores, again, atol=1e-8 * np.abs(scores).max())


@pytest.mark.parametrize("kind", ["nystrom", "fourier", "many fourier", "sketch"])
def test_what_is_captured_and_left_adds_up(kind):
    X = rows()
    fitted = model(KINDS[kind]).fit(X)
    scores = fitted.transform(X)
    np.testing.assert_allclose(scores.mean(axis=0), 0, atol=1e-10)
    total = fitted.total_variance_ * (len(X) - 1)
    assert fitted.residuals(X).sum() + np.square(scores).sum() == pytest.approx(total, rel=1e-9)
    assert (fitted.score_samples(X) <= 0).all()
    assert 0 < fitted.explained_variance_ratio_.sum() <= 1


@pytest.mark.parametrize("kind", ["nystrom", "extension", "fourier", "many fourier", "sketch"])
def test_weights_count_like_repeated_rows(kind):
    X = rows(40)
    weights = np.random.default_rng(0).integers(1, 4, 40)
    approximation = KINDS[kind]
    if "Nystrom" in type(approximation).__name__:
        approximation = clone(approximation).set_params(landmarks=np.arange(20))
    weighted = model(approximation).fit(X, sample_weight=weights)
    if "Nystrom" in type(approximation).__name__:
        firsts = np.cumsum(weights)[:20] - weights[:20]
        approximation = clone(approximation).set_params(landmarks=firsts)
    if kind == "sketch":  # random in each row: near the exact answer, which is the same
        approximation = None
    repeated = model(approximation).fit(np.repeat(X, weights, axis=0))
    rtol = 0.05 if kind == "sketch" else 1e-6
    np.testing.assert_allclose(weighted.explained_variance_ratio_, repeated.explained_variance_ratio_, rtol=rtol)
    if kind != "sketch":
        np.testing.assert_allclose(np.abs(weighted.transform(X)), np.abs(repeated.transform(X)), atol=1e-6)


def test_rows_of_weight_zero_are_left_out():
    """Landmarks are numbered as the rows were given."""
    X = rows(50)
    weights = np.ones(50)
    weights[::3] = 0
    numbers = np.flatnonzero(weights)[:12]
    weighted = model(Nystrom(landmarks=numbers)).fit(X, sample_weight=weights)
    dropped = model(Nystrom(landmarks=np.arange(12))).fit(X[weights > 0])
    np.testing.assert_allclose(weighted.eigenvalues_, dropped.eigenvalues_)
    K = RBF(0.2)(X)
    for matrix in (K, K[:, numbers]):
        given = KernelPCA(5, kernel="precomputed", approximation=Nystrom(landmarks=numbers))
        given.fit(matrix, sample_weight=weights)
        np.testing.assert_allclose(given.eigenvalues_, dropped.eigenvalues_, rtol=1e-7)
        np.testing.assert_allclose(np.abs(given.transform(matrix)), np.abs(weighted.transform(X)), atol=1e-6)
    with pytest.raises(ValueError, match="row 3 has a sample weight of 0"):
        model(Nystrom(landmarks=[1, 3])).fit(X, sample_weight=weights)


@pytest.mark.parametrize("kind", KINDS)
def test_seeds_repeat_and_inputs_stay_as_they_are(kind):
    X = rows()
    before = X.copy()
    first, second = (model(KINDS[kind], random_state=5).fit_transform(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("kind", ["nystrom", "fourier", "many fourier", "sketch"])
def test_single_precision_stays_single(kind):
    X = rows()
    fitted = model(KINDS[kind])
    scores = fitted.fit_transform(X.astype(np.float32))
    assert scores.dtype == fitted.transform(X.astype(np.float32)).dtype == np.float32
    double = model(KINDS[kind]).fit(X)
    np.testing.assert_allclose(fitted.eigenvalues_, double.eigenvalues_, rtol=1e-3)


@pytest.mark.parametrize("gamma", [0.3, 1e-4])
def test_answers_do_not_depend_on_where_whitening_happens(gamma):
    X = rows(5000, 5)
    landmarks = Nystrom(landmarks=np.arange(200))
    single = model(landmarks, kernel=RBF(gamma)).fit(X)
    double = model(landmarks, kernel=RBF(gamma), tol=1e-8).fit(X)
    np.testing.assert_allclose(single.eigenvalues_, double.eigenvalues_, rtol=1e-4)
    scores = np.abs(double.transform(X[:500]))
    assert np.abs(np.abs(single.transform(X[:500])) - scores).max() < 1e-3 * scores.max()
    np.testing.assert_allclose(
        model(landmarks, kernel=RBF(gamma)).fit_transform(X), single.transform(X), atol=2e-4 * scores.max()
    )


def test_features_that_do_not_fit_are_made_twice():
    X = rows(3000, 6).astype(np.float32)
    roomy = model(Nystrom(100)).fit_transform(X)
    tight = model(Nystrom(100), memory_limit="4MB")
    scores = tight.fit_transform(X)
    np.testing.assert_allclose(np.abs(scores), np.abs(roomy), atol=1e-3)
    assert tight.plan_.predicted_bytes <= 4e6
    many = model(RandomFourier(4000), memory_limit="200MB").fit(X[:500])
    few = model(RandomFourier(4000), memory_limit="14MB").fit(X[:500])
    np.testing.assert_allclose(many.eigenvalues_, few.eigenvalues_, rtol=1e-4)


def test_many_rows_of_double_precision_are_worked_on_in_single():
    X = rows(5000, 6)
    fitted = model(Nystrom(50)).fit(X)
    assert "float32" in str(fitted.plan_)
    tight = model(Nystrom(50), tol=1e-8).fit(X)
    assert "float64" in str(tight.plan_)
    np.testing.assert_allclose(fitted.eigenvalues_, tight.eigenvalues_, rtol=1e-4)
    assert fitted.transform(X[:10]).dtype == np.float64


# against scikit-learn and exact kernel PCA


def test_equal_to_scikit_learns_nystroem_on_the_same_landmarks():
    X = load_iris(return_X_y=True)[0]
    theirs = Nystroem(kernel="rbf", gamma=0.3, n_components=30, random_state=0).fit(X)
    features = theirs.transform(X)
    truth = PCA(4, svd_solver="full").fit(features)
    ours = model(Nystrom(landmarks=theirs.component_indices_), 4, RBF(0.3)).fit(X)
    # theirs has one direction more, towards the mean of the landmarks
    assert (ours.eigenvalues_ <= truth.explained_variance_ * 149 * (1 + 1e-9)).all()
    np.testing.assert_allclose(ours.eigenvalues_, truth.explained_variance_ * 149, rtol=0.02)
    uncentered = model(Nystrom(landmarks=theirs.component_indices_), 4, RBF(0.3), center=False).fit(X)
    np.testing.assert_allclose(uncentered.eigenvalues_, np.linalg.svd(features)[1][:4] ** 2, rtol=1e-8)


@pytest.mark.parametrize("landmarks", ["rpcholesky", "uniform", "leverage", "kmeans", "farthest", "column_norm"])
def test_digits_are_nearly_exact_with_300_landmarks(landmarks):
    X = load_digits(return_X_y=True)[0]
    exact = KernelPCA(8).fit(X)
    fitted = KernelPCA(8, approximation=Nystrom(300, landmarks=landmarks)).fit(X)
    assert fitted.eigenvalues_.sum() > 0.98 * exact.eigenvalues_.sum()
    assert eigenvector_similarity(exact.transform(X), fitted.transform(X))[:5].min() > 0.97
    assert fitted.explained_variance_ratio_.sum() == pytest.approx(exact.explained_variance_ratio_.sum(), rel=0.02)


@pytest.mark.parametrize(
    "projection",
    [GaussianProjection(), FeatureHashing(4), FeatureHashing(4, signed=False), SparseProjection(), FeatureGrouping()],
)
def test_sketches_are_near_exact_kernel_pca(projection):
    X = load_digits(return_X_y=True)[0]
    exact = KernelPCA(8).fit(X)
    fitted = KernelPCA(8, approximation=KernelSketch(200, projection)).fit(X)
    assert fitted.eigenvalues_.sum() > 0.99 * exact.eigenvalues_.sum()
    assert fitted.certificate_.approximation.error > 0


def test_neighboring_columns_of_a_series_can_be_averaged():
    t = np.linspace(0, 6, 400)
    X = np.column_stack([np.sin(t), np.cos(2 * t), t])
    exact = KernelPCA(4, kernel=RBF(0.1)).fit(X)
    fitted = KernelPCA(4, kernel=RBF(0.1), approximation=KernelSketch(40, Downsample((1, 400)))).fit(X)
    np.testing.assert_allclose(fitted.eigenvalues_, exact.eigenvalues_, rtol=1e-3)


@pytest.mark.filterwarnings("ignore:There are negative eigenvalues")
def test_an_indefinite_kernel_keeps_its_signs():
    X, kernel = rows(150, 5), Sigmoid(0.2, 0.0)
    exact = model(None, 5, kernel).fit(X)
    fitted = model(Nystrom(80), 5, kernel).fit(X)
    assert "Uniform" in str(fitted.plan_)
    np.testing.assert_allclose(fitted.eigenvalues_, exact.eigenvalues_, rtol=0.05)
    assert eigenvector_similarity(exact.transform(X), fitted.transform(X)).min() > 0.95
    np.testing.assert_allclose(fitted.fit_transform(X), fitted.transform(X), atol=1e-9)


# every kind of input


def test_matrices_and_blocks_of_columns_give_what_rows_give():
    X, idx = rows(), np.arange(7, 37)
    K = RBF(0.2)(X)
    of_rows = model(Nystrom(landmarks=idx)).fit(X)
    of_matrix = KernelPCA(5, kernel="precomputed", approximation=Nystrom(landmarks=idx)).fit(K)
    of_block = KernelPCA(5, kernel="precomputed", approximation=Nystrom(landmarks=idx)).fit(K[:, idx])
    for other, values in ((of_matrix, K), (of_block, K[:, idx])):
        np.testing.assert_allclose(other.eigenvalues_, of_rows.eigenvalues_, rtol=1e-7)
        np.testing.assert_allclose(np.abs(other.transform(values)), np.abs(of_rows.transform(X)), atol=1e-6)
    assert of_matrix.total_variance_ == pytest.approx(of_rows.total_variance_)
    assert of_block.total_variance_ < of_rows.total_variance_  # nothing is known of the rest
    assert "no other kernel values" in str(of_block.certificate_)
    np.testing.assert_allclose(of_matrix.residuals(K, diagonal=np.ones(120)), of_rows.residuals(X), atol=1e-7)
    chosen = KernelPCA(5, kernel="precomputed", approximation="nystrom").fit(K)
    assert "RPCholesky" in str(chosen.plan_)
    sketched = KernelPCA(5, kernel="precomputed", approximation=KernelSketch(60)).fit(K)
    np.testing.assert_allclose(sketched.eigenvalues_, model(None).fit(X).eigenvalues_, rtol=0.05)


def test_sparse_rows_give_what_dense_ones_give():
    X = np.abs(rows(80, 10)) * (rows(80, 10, 1) > 0.5)
    for approximation in (Nystrom(landmarks=np.arange(30)), RandomFourier(200)):
        dense, thin = (model(approximation).fit(data) for data in (X, sparse.csr_matrix(X)))
        np.testing.assert_allclose(
            thin.eigenvalues_, dense.eigenvalues_, rtol=1e-6 if approximation != RandomFourier(200) else 0.5
        )
        assert thin.transform(sparse.csr_matrix(X)).shape == (80, 5)


def test_strings_have_landmarks():
    words = ["apple", "apply", "maple", "ample", "people", "purple", "able", "cable", "table", "stable"]
    fitted = KernelPCA(3, kernel=Spectrum(2), approximation=Nystrom(6)).fit(words)
    assert fitted.transform(["staple"]).shape == (1, 3)
    given = KernelPCA(3, kernel=Spectrum(2), approximation=Nystrom(landmarks=words[:6])).fit(words)
    numbered = KernelPCA(3, kernel=Spectrum(2), approximation=Nystrom(landmarks=list(range(6)))).fit(words)
    np.testing.assert_allclose(given.eigenvalues_, numbered.eigenvalues_)


def test_own_points_need_not_be_rows():
    X = rows()
    points = rows(25, seed=7)
    fitted = model(Nystrom(landmarks=points)).fit(X)
    both = RBF(0.2)(np.vstack([points, X]))
    truth = reference.about_landmarks(both, np.arange(25))
    C, W = truth[25:, :25], truth[:25, :25]
    expected = np.linalg.eigvalsh(center(C @ np.linalg.pinv(W, rcond=1e-12, hermitian=True) @ C.T))[::-1][:5]
    np.testing.assert_allclose(fitted.eigenvalues_, expected, rtol=1e-7)


@pytest.mark.parametrize("approximation", ["nystrom", "fourier", "sketch"])
def test_degenerate_data_gives_a_correct_answer(approximation):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        constant = model(approximation, 2, RBF(1.0)).fit(np.ones((12, 3)))
        assert not constant.eigenvalues_.any()
        assert not constant.transform(np.ones((2, 3))).any()
    line = np.outer(np.arange(12.0), [1.0, 2.0])
    fitted = KernelPCA(3, kernel="linear", approximation=None if approximation == "fourier" else approximation).fit(
        line
    )
    truth = KernelPCA(3, kernel="linear").fit(line)
    np.testing.assert_allclose(fitted.eigenvalues_, truth.eigenvalues_, atol=1e-8 * truth.eigenvalues_[0])
    assert np.isfinite(fitted.transform(line)).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        two = model(approximation, 1, RBF(1.0)).fit(np.array([[0.0], [1.0]]))
    assert np.isfinite(two.transform(np.array([[0.5]]))).all()


# digits


def uneven(n=5000, seed=0):
    """Columns of very different sizes, as raw measurements have them."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 20)) * np.geomspace(1e4, 1e-1, 20) + rng.standard_normal(20) * 1e3


@pytest.mark.parametrize("kernel", ["linear", Polynomial(2), Polynomial(5, gamma=1.0), RBF()])
def test_single_precision_is_left_where_it_does_not_tell(kernel):
    """Eigenvalues over many orders of magnitude, and values that float32 cannot hold."""
    X, landmarks = uneven(), Nystrom(landmarks=np.arange(150))
    k = 12 if kernel == "linear" else 8
    fitted = KernelPCA(k, kernel=kernel, approximation=landmarks).fit(X)
    truth = KernelPCA(k, kernel=kernel, approximation=landmarks, tol=1e-9).fit(X)
    np.testing.assert_allclose(fitted.eigenvalues_, truth.eigenvalues_, rtol=1e-3)
    assert fitted.total_variance_ == pytest.approx(truth.total_variance_, rel=1e-3)
    scores = np.abs(truth.transform(X[:300]))
    difference = np.abs(np.abs(fitted.transform(X[:300])) - scores).max(axis=0) / scores.max(axis=0)
    assert difference.max() < 1e-2


def test_wide_kernels_have_their_whole_variance():
    X = rows(5000, 5)
    for gamma in (1e-9, 1e-7):
        fitted = model("fourier", 3, RBF(gamma)).fit(X)
        assert fitted.explained_variance_ratio_.sum() == pytest.approx(0.6, abs=0.1)  # three of five equal directions


def test_small_components_of_a_sketch_in_single_precision():
    X = rows(600, 3)
    exact = KernelPCA(10, kernel=RBF(0.01)).fit(X)
    fitted = KernelPCA(10, kernel=RBF(0.01), approximation=KernelSketch(100)).fit(X.astype(np.float32))
    np.testing.assert_allclose(fitted.eigenvalues_, exact.eigenvalues_, rtol=0.02)


def test_scores_have_the_precision_of_the_rows():
    X = rows(5000, 4)
    for approximation in (Nystrom(30), RandomFourier(30)):
        assert model(approximation, 2).fit_transform(X).dtype == np.float64
        assert model(approximation, 2).fit_transform(X.astype(np.float32)).dtype == np.float32


# what is promised


def test_more_points_than_rows_are_landmarks_too():
    X, points = rows(20, 4), rows(60, 4, seed=7)
    for kernel in (RBF(0.1), Sigmoid(0.1, 0.0)):
        fitted = model(Nystrom(landmarks=points), 3, kernel).fit(X)
        scores = fitted.transform(X)
        np.testing.assert_allclose(np.square(scores).sum(axis=0), np.abs(fitted.eigenvalues_), rtol=1e-6)
        exact = model(None, 3, kernel).fit(X)
        np.testing.assert_allclose(fitted.eigenvalues_, exact.eigenvalues_, rtol=0.1)
    assert fitted.explained_variance_ratio_.sum() < 1.01
    assert "their covariance" in fitted.plan_.reason  # which is what was decomposed


def test_bounds_hold_or_are_not_claimed():
    X = rows(400, 6)
    exact = model(None, 5).fit(X).eigenvalues_.sum()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stopped = model(Nystrom(200), 5, solver="lobpcg", callback=lambda event: True).fit(X)
    evidence = stopped.certificate_.approximation
    assert exact <= np.square(stopped.transform(X)).sum() * (1 + evidence.missed) * (1 + 1e-9)
    assert model(Nystrom(200, form="extension"), 5).fit(X).certificate_.approximation.missed is None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        single = model(Nystrom(landmarks=[0]), 1).fit(X)
    assert single.certificate_.approximation.missed is None
    for m in (10, 50, 300):
        fitted = model(Nystrom(m), 5).fit(X)
        assert exact <= fitted.eigenvalues_.sum() * (1 + fitted.certificate_.approximation.missed)


def test_extension_by_points_is_extension_by_numbers():
    X, idx = rows(), np.arange(30)
    by_number, by_point = (model(Nystrom(landmarks=z, form="extension")).fit(X) for z in (idx, X[idx]))
    np.testing.assert_allclose(by_point.eigenvalues_, by_number.eigenvalues_, rtol=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not model(Nystrom(3, form="extension"), 1).fit(np.ones((9, 2))).eigenvalues_.any()


def test_extension_of_an_indefinite_kernel_is_that_of_the_tutorial():
    X, idx, kernel = rows(), np.arange(40), Sigmoid(0.1, 1.0)
    fitted = model(Nystrom(landmarks=idx, form="extension"), 3, kernel, center=False).fit(X)
    values, vectors = reference.landmark_extension(kernel(X), idx, 3, False)
    np.testing.assert_allclose(fitted.eigenvalues_, values, rtol=1e-8)
    assert eigenvector_similarity(vectors, fitted.transform(X)).min() > 1 - 1e-8


def test_a_fraction_out_of_reach_is_told():
    X = load_digits(return_X_y=True)[0]
    with pytest.warns(UserWarning, match="the features have 0.5"):
        KernelPCA(0.95, approximation=Nystrom(50)).fit(X)


def test_given_matrices_stay_within_the_memory_granted():
    K = RBF(0.2)(rows(1000))
    with pytest.raises(MemoryError, match="columns of a matrix of 1000 rows need"):
        KernelPCA(3, kernel="precomputed", approximation=Nystrom(200), memory_limit="2MB").fit(K)


# as a part


def test_parameters_are_reached_by_name_and_tuned():
    X = rows(60)
    search = GridSearchCV(model("nystrom", 2), {"approximation__n_landmarks": [5, 20]}, cv=2).fit(X)
    assert search.best_params_ == {"approximation__n_landmarks": 20}
    assert model("fourier").set_params(approximation__n_features=10).approximation == RandomFourier(10)
    with pytest.raises(ValueError, match="approximation is None"):
        model(None).set_params(approximation__n_landmarks=5)
    piped = make_pipeline(model("nystrom", 2)).fit(X)
    assert piped.transform(X).shape == (60, 2)


def test_rules_for_the_number_of_components_hold():
    X = rows()
    fitted = model(Nystrom(60), 0.6).fit(X)
    assert fitted.explained_variance_ratio_.sum() >= 0.6
    assert fitted.explained_variance_ratio_[:-1].sum() < 0.6
    assert len(model(Nystrom(20), None).fit(X).eigenvalues_) == 19
    assert (model(RandomFourier(50), ("relative", 0.1)).fit(X).eigenvalues_ > 0).all()


def test_plans_tell_beforehand_what_happens():
    X = rows(6000, 5)
    estimator = model(Nystrom(100))
    plan = estimator.explain_plan(X)
    assert plan.path == "features"
    assert plan.predicted_seconds > 0
    fitted = estimator.fit(X)
    assert fitted.plan_.path == "features"
    assert fitted.plan_.measured_seconds > 0
    assert "RPCholesky" in fitted.plan_.reason
    assert "sketch" in str(model(KernelSketch(50)).explain_plan(X)).lower()
    K = RBF(0.2)(X[:200])
    assert KernelPCA(3, kernel="precomputed", approximation=Nystrom(50)).explain_plan(K).path == "features"
    block = KernelPCA(3, kernel="precomputed", approximation=Nystrom(landmarks=np.arange(50)))
    assert block.explain_plan(K[:, :50]).path == "features"
    with pytest.raises(ValueError, match="a kernel matrix was given"):
        KernelPCA(3, kernel="precomputed", approximation="fourier").explain_plan(K)
    with pytest.raises(ValueError, match='approximation="nystrom"'):
        KernelPCA(3, kernel="poly", approximation="fourier").explain_plan(X)
    with pytest.raises(ValueError, match="form must be"):
        model(Nystrom(50, form="paper")).explain_plan(X)


def test_preimages_work_on_features():
    X = load_iris(return_X_y=True)[0]
    fitted = KernelPCA(3, kernel=RBF(0.1), approximation=Nystrom(40), preimage="ridge").fit(X)
    back = fitted.inverse_transform(fitted.transform(X))
    assert np.square(back - X).mean() < np.square(X - X.mean(axis=0)).mean()


def test_certificates_speak_of_the_features():
    fitted = model(RandomFourier(50)).fit(rows())
    text = str(fitted.certificate_)
    assert "reproduce kernel values to" in text
    evidence = fitted.certificate_.approximation
    F = RandomFourier(50).fit(RBF(0.2), rows(), np.random.default_rng(0)).map(rows())
    off = ~np.eye(120, dtype=bool)
    truth = np.sqrt(np.square((RBF(0.2)(rows()) - F @ F.T)[off]).mean())
    assert abs(evidence.error - truth) < 5 * evidence.standard_error
    assert evidence.missed is None


# moments


def test_moments_are_those_of_numpy_whatever_the_blocks():
    rng = np.random.default_rng(0)
    F, w = rng.standard_normal((50, 4)) + 1e3, rng.random(50)
    for size in (50, 7):
        parts = gather(all_tiles(50, 1, size), F[0], lambda rows: (F[rows].copy(), np.ones(rows.stop - rows.start)), w)
        mean = np.average(F, axis=0, weights=w)
        np.testing.assert_allclose(parts.mean, mean)
        np.testing.assert_allclose(parts.scatter(True), (F - mean).T * w @ (F - mean), atol=1e-7)
        np.testing.assert_allclose(parts.scatter(False), F.T * w @ F, rtol=1e-9)
        assert parts.squares == pytest.approx(w.sum())
        R = rng.standard_normal((4, 3))
        np.testing.assert_allclose(parts.under(R).mean, mean @ R)
        np.testing.assert_allclose(parts.under(R).scatter(True), R.T @ parts.scatter(True) @ R, atol=1e-6)
    empty = Moments.about(F[0])
    assert empty.merge(parts).weight == pytest.approx(w.sum())


# bad input


@pytest.mark.parametrize(
    ("approximation", "kernel", "k", "message"),
    [
        ("nystrm", "rbf", 2, "Did you mean 'nystrom'"),
        ("rff", "rbf", 2, "Did you mean 'fourier'"),
        (Nystrom, "rbf", 2, "with parentheses"),
        (Nystrom(200), "rbf", 2, "more landmarks than the 120 rows"),
        (Nystrom(5), "rbf", 6, "n_components=6 needs at least as many features, and n_landmarks=5"),
        (RandomFourier(4), "rbf", 6, "n_components=6 needs at least as many features, and n_features=4"),
        (KernelSketch(4), "rbf", 6, "n_components=6 needs at least as many features"),
        (RandomFourier(10), "poly", 2, 'approximation="nystrom"'),
        (RandomReLU(10), "rbf", 2, "ArcCosine"),
        (Nystrom(0), "rbf", 2, "n_landmarks must be a whole number >= 1"),
        (Nystrom("100"), "rbf", 2, "n_landmarks must be a whole number >= 1"),
        (Nystrom(landmarks=[]), "rbf", 1, "row numbers"),
        (KernelSketch(0), "rbf", 2, "n_features must be a whole number >= 1"),
        (KernelSketch(10, projection="gauss"), "rbf", 2, "GaussianProjection"),
        (KernelSketch(10, form="best"), "rbf", 2, "form must be 'ritz'"),
        (RandomFourier(10), "precomputed", 2, "a kernel matrix was given"),
    ],
)
def test_bad_parameters_are_explained(approximation, kernel, k, message):
    X = rows() if kernel != "precomputed" else RBF(0.2)(rows())
    with pytest.raises(ValueError, match=message):
        KernelPCA(k, kernel=kernel, approximation=approximation).fit(X)


def test_bad_blocks_of_columns_are_explained():
    K = RBF(0.2)(rows())[:, :10]
    with pytest.raises(ValueError, match="must be a square matrix"):
        KernelPCA(2, kernel="precomputed").fit(K)
    with pytest.raises(ValueError, match="10 row numbers"):
        KernelPCA(2, kernel="precomputed", approximation="nystrom").fit(K)
    with pytest.raises(ValueError, match="not symmetric"):
        KernelPCA(2, kernel="precomputed", approximation=Nystrom(landmarks=np.arange(1, 11))).fit(K)


def test_too_little_memory_is_told_with_what_would_fit():
    with pytest.raises(MemoryError, match="give fewer landmarks, such as"):
        model(Nystrom(1000), memory_limit="2MB").fit(rows(2000))
    with pytest.raises(MemoryError, match="give fewer features, such as"):
        model(RandomFourier(2000), memory_limit="2MB").fit(rows(3000))


def test_a_sketch_has_a_solver_of_its_own():
    with pytest.raises(ValueError, match="leave solver='auto'"):
        KernelPCA(2, approximation="sketch", solver="dense").fit(rows())


def test_rows_for_an_estimate_need_no_list_of_all():
    rng = np.random.default_rng(0)
    tracemalloc.start()
    try:
        rows = unused_rows(10**9, np.arange(0, 10**9, 10**7), 384, rng)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(np.unique(rows)) == 384
    assert not (rows % 10**7 == 0).any()
    assert peak < 10**6
    assert sorted(unused_rows(10, np.array([2, 3]), 8, rng)) == [0, 1, 4, 5, 6, 7, 8, 9]
