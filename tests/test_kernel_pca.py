"""The estimator: against scikit-learn, against the laws of the papers, and against bad input."""

import pickle
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import sklearn.decomposition
from scipy import sparse
from scipy.sparse.linalg import LinearOperator
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_circles
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import reference
from kernelpca import KernelPCA
from kernelpca.gram import CallableGram, DenseGram, LowRankGram
from kernelpca.kernels import (
    KERNELS,
    RBF,
    Cauchy,
    Cosine,
    Custom,
    Fisher,
    Laplacian,
    Linear,
    Polynomial,
    Sigmoid,
    Spectrum,
    as_kernel,
)
from kernelpca.preimage import Ridge
from kernelpca.solvers import SOLVERS, BlockKrylov, Dense, IndefiniteKernelWarning

TIGHT = 1e-11


def random_data():
    return np.random.default_rng(0).standard_normal((500, 20))


DATA = {
    "iris": load_iris(return_X_y=True)[0],
    "digits": load_digits(return_X_y=True)[0] / 16,
    "random": random_data(),
}
SHARED = {
    "linear": (Linear(), {}),
    "poly": (Polynomial(3, 0.1, 1.0), {"degree": 3, "gamma": 0.1, "coef0": 1.0}),
    "rbf": (RBF(0.05), {"gamma": 0.05}),
    "cosine": (Cosine(), {}),
}


def aligned(Z, reference_scores):
    """Flip columns to the signs of the reference."""
    return Z * np.sign((Z * reference_scores).sum(axis=0))


# against scikit-learn


@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
@pytest.mark.parametrize("kernel", SHARED)
@pytest.mark.parametrize("data", DATA)
def test_equals_scikit_learn(data, kernel, solver):
    X = DATA[data]
    ours, params = SHARED[kernel]
    k = {"iris": 4, "digits": 10, "random": 8}[data]
    theirs = sklearn.decomposition.KernelPCA(k, kernel=kernel, eigen_solver="dense", **params)
    Z = theirs.fit_transform(X)
    model = KernelPCA(k, kernel=ours, solver=solver, tol=TIGHT)
    scores = model.fit_transform(X)
    np.testing.assert_allclose(model.eigenvalues_, theirs.eigenvalues_, rtol=1e-8)
    assert model.certificate_.clusters == ()
    scale = np.abs(Z).max()
    np.testing.assert_allclose(aligned(scores, Z), Z, rtol=1e-8, atol=1e-8 * scale)
    new = X[::7] + 0.01
    np.testing.assert_allclose(
        model.transform(new), aligned(theirs.transform(new), model.transform(new)), atol=1e-8 * scale
    )


def test_signs_are_scikit_learns():
    X = DATA["digits"]
    theirs = sklearn.decomposition.KernelPCA(8, kernel="rbf", gamma=0.05, eigen_solver="dense").fit_transform(X)
    for solver in SOLVERS:
        ours = KernelPCA(8, kernel=RBF(0.05), solver=solver, tol=1e-9).fit_transform(X)
        np.testing.assert_allclose(ours, theirs, atol=1e-6)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("solver", ["dense", "block_krylov", "lanczos"])
def test_linear_kernel_is_pca(data, solver):
    X = DATA[data]
    pca = sklearn.decomposition.PCA(3, svd_solver="full").fit(X)
    model = KernelPCA(3, kernel="linear", solver=solver, tol=1e-13).fit(X)
    Z = pca.transform(X)
    np.testing.assert_allclose(aligned(model.transform(X), Z), Z, atol=1e-10 * np.abs(Z).max())
    np.testing.assert_allclose(model.explained_variance_, pca.explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(model.explained_variance_ratio_, pca.explained_variance_ratio_, rtol=1e-10)


def test_equals_the_naive_twin():
    X, new = DATA["iris"][::6], DATA["iris"][3::20]
    K, K_new = RBF(0.2)(X), RBF(0.2)(new, X)
    values, scores = reference.kernel_pca(K, 3)
    model = KernelPCA(3, kernel=RBF(0.2))
    Z = model.fit_transform(X)
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-10)
    np.testing.assert_allclose(Z, aligned(scores, Z), atol=1e-10)
    expected = reference.kernel_pca_new(K, K_new, 3)
    np.testing.assert_allclose(model.transform(new), aligned(expected, model.transform(new)), atol=1e-10)


# laws of the papers


def test_reconstruction_error_is_the_sum_of_the_discarded_eigenvalues():
    """Tutorial 2.5, for every kernel: residuals in feature space add up to the eigenvalues left out."""
    X = DATA["digits"][:300]
    for kernel in (Linear(), RBF(0.05), Polynomial(2, 0.1, 1.0), "chi2", "arc_cosine", "jensen_shannon"):
        whole = KernelPCA(kernel=kernel, solver="dense").fit(X)
        part = KernelPCA(5, kernel=kernel, solver="dense").fit(X)
        discarded = whole.eigenvalues_[5:].sum()
        assert part.residuals(X).sum() == pytest.approx(discarded, rel=1e-8), kernel
        assert part.total_variance_ * 299 == pytest.approx(whole.eigenvalues_.sum(), rel=1e-10)
        assert -part.score(X) * 300 == pytest.approx(discarded, rel=1e-8)
        np.testing.assert_array_equal(part.score_samples(X), -part.residuals(X))


def test_reconstruction_error_in_input_space():
    """The same law for PCA itself, with the reconstruction written out."""
    X = DATA["iris"]
    model = KernelPCA(2, kernel="linear").fit(X)
    centered = X - X.mean(axis=0)
    directions = model.components_ @ X  # (2, d)
    reconstruction = centered @ directions.T @ directions
    mean_error = np.square(centered - reconstruction).sum(axis=1).mean()
    all_values = np.linalg.eigvalsh(centered.T @ centered)[::-1]
    assert mean_error == pytest.approx(all_values[2:].sum() / len(X), rel=1e-10)
    np.testing.assert_allclose(model.residuals(X), np.square(centered - reconstruction).sum(axis=1), atol=1e-10)


@pytest.mark.parametrize("shape", [(30, 8), (8, 30)])
def test_covariance_and_gram_forms_agree(shape):
    """Digest 2.4-2.5: the same nonzero eigenvalues, B = V Sigma^-1, U = X V Sigma^-1; tutorial 3.2 both ways."""
    X = np.random.default_rng(1).standard_normal(shape)
    centered = (X - X.mean(axis=0)).T  # columns are samples, as in the papers
    k = 4
    covariance_values, U = np.linalg.eigh(centered @ centered.T)
    covariance_values, U = covariance_values[::-1][:k], U[:, ::-1][:, :k]
    model = KernelPCA(k, kernel="linear").fit(X)
    np.testing.assert_allclose(model.eigenvalues_, covariance_values, rtol=1e-10)
    W = model.components_.T  # the digest's B: coefficients of unit directions over the samples
    from_gram = centered @ W
    np.testing.assert_allclose(from_gram.T @ from_gram, np.eye(k), atol=1e-12)
    np.testing.assert_allclose(np.abs(from_gram.T @ U), np.eye(k), atol=1e-10)
    V = W * np.sqrt(model.eigenvalues_)  # unit eigenvectors of the Gram matrix
    np.testing.assert_allclose(V.T @ V, np.eye(k), atol=1e-12)
    back = centered.T @ U / np.sqrt(covariance_values)
    np.testing.assert_allclose(np.abs(back.T @ V), np.eye(k), atol=1e-10)


@pytest.mark.parametrize("kernel", [RBF(0.05), Polynomial(2, 0.1), Cosine()], ids=repr)
def test_directions_are_orthonormal_and_scores_uncorrelated(kernel):
    X = DATA["digits"][:200]
    model = KernelPCA(6, kernel=kernel, solver="dense").fit(X)
    W = model.components_.T
    np.testing.assert_allclose(W.T @ kernel(X) @ W, np.eye(6), atol=1e-9)
    np.testing.assert_allclose(W.sum(axis=0), 0, atol=1e-12)
    covariance = np.cov(model.transform(X).T)
    np.testing.assert_allclose(covariance, np.diag(model.explained_variance_), atol=1e-10)


# fit_transform


DEGENERATE = {
    "full rank": DATA["iris"],
    "duplicated rows": np.repeat(DATA["iris"][:40], 3, axis=0),
    "rank one": np.outer(np.arange(30.0), [1.0, 2.0, 3.0]),
    "constant columns": np.column_stack([DATA["iris"], np.ones((150, 2))]),
    "one column": DATA["iris"][:, :1],
    "off zero": DATA["iris"] + 10,
}


@pytest.mark.parametrize("data", DEGENERATE)
@pytest.mark.parametrize("kernel", [Linear(), RBF(0.1), Polynomial(2, 0.01)], ids=lambda k: type(k).__name__)
@pytest.mark.parametrize("n_components", [None, 2, 6, 0.9, ("relative", 1e-2)], ids=str)
def test_fit_transform_is_fit_then_transform(data, kernel, n_components):
    X = DEGENERATE[data]
    model = KernelPCA(n_components, kernel=kernel)
    Z = model.fit_transform(X)
    scale = max(np.abs(Z).max(initial=0), np.sqrt(model.total_variance_))
    np.testing.assert_allclose(clone(model).fit(X).transform(X), Z, atol=1e-8 * scale)
    assert Z.shape == (len(X), model.n_components_)
    assert np.isfinite(Z).all()


@pytest.mark.parametrize("name", sorted(set(KERNELS) - {"precomputed", "spectrum", "subsequence"}))
@pytest.mark.parametrize("n_components", [None, 20])
@pytest.mark.filterwarnings("ignore:There are negative eigenvalues")  # of the sigmoid kernel
def test_fit_transform_is_fit_then_transform_for_every_kernel(name, n_components):
    X = np.repeat(DATA["iris"][:50], 3, axis=0)
    model = KernelPCA(n_components, kernel=name)
    Z = model.fit_transform(X)
    # a score is known to rounding / sqrt(eigenvalue): little, of a component that is hardly more than rounding
    roots = np.sqrt(np.maximum(model.eigenvalues_, model.certificate_.rounding))
    allowed = np.maximum(1e-8 * np.abs(Z).max(), model.certificate_.rounding / roots)
    assert (np.abs(model.transform(X) - Z) <= allowed).all()


@pytest.mark.parametrize("kernel", [RBF(1e-4), RBF(1e-8), Laplacian(1e-4), Cauchy(1e-4), 2 * RBF(1e-5) + 5], ids=repr)
def test_wide_kernels_keep_their_digits(kernel):
    """All values are near one, and centring leaves the difference: it is computed as such."""
    X = DATA["iris"]
    model = KernelPCA(4, kernel=kernel)
    Z = model.fit_transform(X)
    np.testing.assert_allclose(model.transform(X), Z, atol=1e-9 * np.abs(Z).max())
    half = KernelPCA(4, kernel=kernel).fit(X.astype(np.float32))
    np.testing.assert_allclose(half.eigenvalues_, model.eigenvalues_, rtol=2e-4)
    assert model.kernel_ == kernel
    assert model.residuals(X).sum() == pytest.approx(
        (model.total_variance_ - model.explained_variance_.sum()) * 149, rel=1e-5
    )


def test_a_gaussian_of_vanishing_gamma_is_pca():
    X = DATA["iris"]
    gamma = 1e-9
    wide = KernelPCA(3, kernel=RBF(gamma)).fit(X)
    np.testing.assert_allclose(
        wide.eigenvalues_ / (2 * gamma), KernelPCA(3, kernel="linear").fit(X).eigenvalues_, rtol=1e-6
    )


@pytest.mark.parametrize("solver", SOLVERS)
def test_fit_transform_is_fit_then_transform_even_at_a_loose_tol(solver):
    X = DATA["digits"]
    model = KernelPCA(5, kernel=RBF(0.05), solver=solver, tol=1e-2)
    np.testing.assert_allclose(model.fit_transform(X), model.transform(X), atol=1e-9)


@pytest.mark.parametrize("kernel", [Linear(), RBF(0.1), 2 * RBF(0.1) + Linear() + 3], ids=repr)
def test_where_the_data_lie_does_not_matter(kernel):
    X = DATA["iris"]
    near, far = KernelPCA(3, kernel=kernel), KernelPCA(3, kernel=kernel)
    Z = near.fit_transform(X)
    np.testing.assert_allclose(far.fit_transform(X + 1e6), Z, atol=1e-7)
    np.testing.assert_allclose(far.transform(X + 1e6), Z, atol=1e-7)
    np.testing.assert_allclose(far.residuals(X + 1e6), near.residuals(X), atol=1e-7)


def test_moving_to_the_origin_saves_digits():
    """Squared distances by matrix products cancel far from zero; the rows are moved there first."""
    X = DATA["iris"]
    near = KernelPCA(3, kernel=RBF(0.1)).fit(X)
    far = KernelPCA(3, kernel=RBF(0.1)).fit(X + 1e7)
    np.testing.assert_allclose(far.eigenvalues_, near.eigenvalues_, rtol=1e-7)
    np.testing.assert_allclose(far.transform(X + 1e7), near.transform(X), atol=1e-7)
    theirs = sklearn.decomposition.KernelPCA(3, kernel="rbf", gamma=0.1).fit(X + 1e7)
    assert np.abs(theirs.eigenvalues_ / near.eigenvalues_ - 1).max() > 1e-3  # what it saves


# number of components


def test_components_by_fraction():
    X = DATA["digits"]
    for solver in ("auto", "dense", "lanczos"):
        model = KernelPCA(0.8, kernel=RBF(0.05), solver=solver).fit(X)
        kept = np.cumsum(model.explained_variance_ratio_)
        assert kept[-1] >= 0.8
        assert kept[-2] < 0.8
    pca = sklearn.decomposition.PCA(0.8, svd_solver="full").fit(X)
    assert KernelPCA(0.8, kernel="linear").fit(X).n_components_ == pca.n_components_


def test_components_by_threshold():
    X = DATA["digits"]
    everything = KernelPCA(kernel="linear").fit(X).eigenvalues_
    for solver in ("auto", "dense"):
        model = KernelPCA(("relative", 0.05), kernel="linear", solver=solver).fit(X)
        assert model.n_components_ == (everything >= 0.05 * everything[0]).sum()


def test_all_components():
    X = DATA["digits"]
    model = KernelPCA(kernel="linear").fit(X)
    assert model.n_components_ == np.linalg.matrix_rank(X - X.mean(axis=0))
    assert model.explained_variance_ratio_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("given", [0, -1, 151, 1.0, 0.0, 1.5, True, "all", ("relative", 2.0), ("top", 0.1), np.nan])
def test_bad_numbers_of_components(given):
    with pytest.raises(ValueError, match=r"n_components=.*(Give an|must lie between)"):
        KernelPCA(given).fit(DATA["iris"])


# sample weights


@pytest.mark.parametrize("center", [True, False])
def test_weights_count_like_repeated_rows(center):
    X = DATA["iris"]
    counts = np.random.default_rng(0).integers(0, 4, 150)
    weighted = KernelPCA(4, kernel=RBF(0.2), center=center).fit(X, sample_weight=counts)
    repeated = KernelPCA(4, kernel=RBF(0.2), center=center).fit(np.repeat(X, counts, axis=0))
    Z = repeated.transform(X)
    np.testing.assert_allclose(aligned(weighted.transform(X), Z), Z, atol=1e-10)
    np.testing.assert_allclose(weighted.explained_variance_ratio_, repeated.explained_variance_ratio_, rtol=1e-10)
    np.testing.assert_allclose(weighted.residuals(X), repeated.residuals(X), atol=1e-10)


def test_only_ratios_of_weights_matter():
    X = DATA["iris"]
    plain = KernelPCA(3).fit(X)
    for weight in (0.01, 7.0):
        model = KernelPCA(3).fit(X, sample_weight=np.full(150, weight))
        np.testing.assert_allclose(model.eigenvalues_, plain.eigenvalues_, rtol=1e-10)
        np.testing.assert_allclose(model.transform(X), plain.transform(X), atol=1e-10)


def test_weights_of_fit_transform():
    X = DATA["iris"]
    weights = np.random.default_rng(0).uniform(0, 2, 150)
    weights[:5] = 0
    for solver in ("dense", "block_krylov"):
        model = KernelPCA(3, kernel=RBF(0.3), solver=solver)
        np.testing.assert_allclose(model.fit_transform(X, sample_weight=weights), model.transform(X), atol=1e-9)
        weights = np.maximum(weights, 0.1)


def test_weights_with_a_precomputed_kernel():
    X = DATA["iris"]
    weights = np.random.default_rng(0).integers(0, 3, 150)
    given = KernelPCA(3, kernel="precomputed").fit(RBF(0.3)(X), sample_weight=weights)
    direct = KernelPCA(3, kernel=RBF(0.3)).fit(X, sample_weight=weights)
    np.testing.assert_allclose(given.transform(RBF(0.3)(X)), direct.transform(X), atol=1e-10)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (-np.ones(150), "must be >= 0 and not all zero"),
        (np.zeros(150), "must be >= 0 and not all zero"),
        (np.ones(3), "one weight for each of the 150 samples"),
        (np.full(150, np.nan), "sample_weight contains NaN"),
        (np.eye(150)[0], "at least 2 are needed to center"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        KernelPCA(2).fit(DATA["iris"], sample_weight=weights)


# no centring


def test_without_centering():
    X = DATA["iris"]
    K = RBF(0.2)(X)
    model = KernelPCA(3, kernel=RBF(0.2), center=False).fit(X)
    values, vectors = np.linalg.eigh(K)
    np.testing.assert_allclose(model.eigenvalues_, values[::-1][:3], rtol=1e-10)
    Z = (vectors[:, ::-1] * np.sqrt(np.maximum(values[::-1], 0)))[:, :3]
    np.testing.assert_allclose(model.transform(X), aligned(Z, model.transform(X)), atol=1e-10)
    assert model.residuals(X).sum() == pytest.approx(values[::-1][3:].sum())
    one = KernelPCA(1, kernel=RBF(0.2), center=False).fit(X[:1])
    assert one.transform(X[:1])[0, 0] == pytest.approx(1.0)


# matrices instead of data


def test_precomputed_in_all_its_forms():
    X, new = DATA["iris"], DATA["iris"][::9] + 0.1
    kernel = RBF(0.2)
    K, K_new = kernel(X), kernel(new, X)
    expected = KernelPCA(3, kernel=kernel).fit(X)
    operator = LinearOperator(K.shape, matvec=lambda v: K @ v, matmat=lambda V: K @ V, dtype=float)
    values, vectors = np.linalg.eigh(K)
    factors = vectors * np.sqrt(np.maximum(values, 0))
    for given in (
        K,
        K.tolist(),
        operator,
        CallableGram(lambda rows, cols: K[np.ix_(rows, cols)], 150),
        DenseGram(K),
        LowRankGram(factors),
    ):
        model = KernelPCA(3, kernel="precomputed").fit(given)
        np.testing.assert_allclose(model.transform(K_new), expected.transform(new), atol=1e-9)
        np.testing.assert_allclose(model.explained_variance_ratio_, expected.explained_variance_ratio_, rtol=1e-9)
        np.testing.assert_allclose(
            model.residuals(K_new, diagonal=np.ones(len(new))), expected.residuals(new), atol=1e-9
        )
    with pytest.raises(ValueError, match="Pass it as diagonal="):
        model.residuals(K_new)
    with pytest.raises(ValueError, match="one number for each of"):
        model.residuals(K_new, diagonal=np.ones(3))


def test_precomputed_in_a_pipeline_with_cross_validation():
    X, y = make_circles(200, factor=0.3, noise=0.05, random_state=0)
    pipeline = make_pipeline(KernelPCA(2, kernel="precomputed"), LogisticRegression())
    search = GridSearchCV(pipeline, {"logisticregression__C": [1.0, 10.0]}, cv=3).fit(RBF(2.0)(X), y)
    assert search.best_score_ == 1.0


def test_kernel_parameters_in_a_grid_search():
    X, y = make_circles(200, factor=0.3, noise=0.05, random_state=0)
    pipeline = make_pipeline(KernelPCA(2, kernel=RBF() + 0.5 * Linear()), LogisticRegression())
    grid = {"kernelpca__kernel__k1__gamma": [0.001, 2.0], "kernelpca__kernel__k2__factor": [0.0, 0.1]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_score_ == 1.0
    assert search.best_params_["kernelpca__kernel__k1__gamma"] == 2.0


# kinds of data


def test_strings():
    texts = ["abracadabra", "abracadab", "banana", "bandana", "cabana"]
    model = KernelPCA(2, kernel=Spectrum(2))
    Z = model.fit_transform(texts)
    np.testing.assert_allclose(model.transform(texts), Z, atol=1e-10)
    np.testing.assert_allclose(model.transform(np.array(texts)), Z, atol=1e-10)
    assert model.transform(["bananas"]).shape == (1, 2)
    own = KernelPCA(2, kernel=Custom(lambda a, b: float(len(set(a) & set(b)))))
    np.testing.assert_allclose(own.fit_transform(texts), own.transform(texts), atol=1e-10)


def test_fisher_kernel():
    X = DATA["iris"]
    mixture = GaussianMixture(3, covariance_type="diag", random_state=0).fit(X)
    for information in ("diagonal", "empirical", "identity"):
        model = KernelPCA(3, kernel=Fisher(mixture, information=information))
        np.testing.assert_allclose(model.fit_transform(X), clone(model).fit(X).transform(X), atol=1e-8)


@pytest.mark.parametrize("name", sorted(set(KERNELS) - {"precomputed", "spectrum", "subsequence", "sigmoid"}))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_name_fits(name, dtype):
    X = DATA["digits"][:120].astype(dtype)
    model = KernelPCA(4, kernel=name)
    Z = model.fit_transform(X)
    assert Z.dtype == dtype
    assert model.transform(X).dtype == dtype
    np.testing.assert_allclose(model.transform(X), Z, atol=(1e-9 if dtype == np.float64 else 1e-3) * np.abs(Z).max())
    assert 0 < model.explained_variance_ratio_.sum() <= 1 + 1e-6
    assert model.residuals(X).min() >= 0


def test_sparse_data():
    dense = DATA["digits"] * (DATA["digits"] > 0.3)
    rows = sparse.csr_array(dense)
    for kernel in ("linear", RBF(0.05), "cosine", "hellinger"):
        theirs = KernelPCA(4, kernel=kernel, tol=1e-9).fit(dense)
        ours = KernelPCA(4, kernel=kernel, tol=1e-9).fit(rows)
        np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-7)
        np.testing.assert_allclose(ours.transform(rows), theirs.transform(dense), atol=1e-6)
    with pytest.raises(TypeError, match=r"does not take sparse input.*toarray"):
        KernelPCA(4, kernel="laplacian").fit(rows)


def test_pandas_and_polars():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X = DATA["iris"]
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = KernelPCA(2, preimage="ridge").set_output(transform="pandas").fit(frame)
    Z = model.transform(frame)
    assert list(Z.columns) == ["kernelpca0", "kernelpca1"]
    assert list(model.feature_names_in_) == list("abcd")
    assert model.denoise(frame).shape == (150, 4)
    pl = KernelPCA(2).set_output(transform="polars").fit(frame)
    assert isinstance(pl.transform(frame), polars.DataFrame)
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(frame.rename(columns={"a": "z"}))


# indefinite kernels


def test_sigmoid_is_indefinite_and_says_so():
    X = (DATA["iris"] - DATA["iris"].mean(axis=0)) / DATA["iris"].std(axis=0)
    kernel = Sigmoid(1.0, -1.0)
    K = kernel(X)
    H = np.eye(150) - 1 / 150
    values = np.linalg.eigvalsh(H @ K @ H)[::-1]
    positive = (values > 1e-9).sum()
    with pytest.warns(IndefiniteKernelWarning, match="are no parts of a whole"):
        model = KernelPCA(2, kernel=kernel).fit(X)
    assert model.explained_variance_ratio_.sum() > 1
    np.testing.assert_allclose(model.eigenvalues_, values[:2], rtol=1e-9)
    with pytest.raises(ValueError, match="there is no whole to keep a part of"):
        KernelPCA(0.9, kernel=Sigmoid()).fit(DATA["iris"])
    with pytest.warns(IndefiniteKernelWarning, match="negative eigenvalues"):
        everything = KernelPCA(150, kernel=kernel).fit(X)
    assert everything.eigenvalues_[-1] == pytest.approx(values[-1])
    clipped = KernelPCA(150, kernel=kernel, solver=Dense(indefinite="clip")).fit(X)
    assert clipped.eigenvalues_.min() == 0
    with pytest.raises(ValueError, match="negative eigenvalues"):
        KernelPCA(150, kernel=kernel, solver=Dense(indefinite="raise")).fit(X)
    kept = KernelPCA(150, kernel=kernel, solver=Dense(indefinite="keep"))
    Z = kept.fit_transform(X)
    np.testing.assert_allclose(kept.transform(X), Z, atol=1e-8)
    signs = np.sign(kept.eigenvalues_)
    np.testing.assert_allclose((Z * signs) @ Z.T, H @ K @ H, atol=1e-8)  # coordinates of a pseudo-Euclidean space
    np.testing.assert_allclose(kept.residuals(X), 0, atol=1e-8)
    assert positive < 150


# the plan


def test_plan_and_certificate_speak():
    X = DATA["digits"]
    small = KernelPCA(3).fit(X[:100])
    assert small.plan_.path == "dense"
    assert "100 rows are few" in str(small.plan_)
    large = KernelPCA(3).fit(X)
    assert large.plan_.path == "stored"
    assert isinstance(large.plan_.solver, BlockKrylov)
    assert "in few passes" in large.plan_.reason
    tight = KernelPCA(3, memory_limit="12MB").fit(X)
    assert tight.plan_.path == "tiled"
    assert "tiles are made in each pass" in tight.plan_.reason
    np.testing.assert_allclose(tight.transform(X[:9]), large.transform(X[:9]), atol=1e-4)
    assert "within the 1e-04 asked for" in str(large.certificate_)
    with pytest.raises(MemoryError, match=r"A dense solution for 1797 rows needs about .* Use solver='auto'"):
        KernelPCA(3, solver="dense", memory_limit="8MB").fit(X)
    with pytest.raises(MemoryError, match="even without storing the matrix"):
        KernelPCA(3, memory_limit="100kB").fit(X)


def test_not_converging_is_said():
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        model = KernelPCA(5, solver=BlockKrylov(max_iter=1), tol=1e-12).fit(DATA["digits"])
    assert not model.certificate_.satisfied


def test_progress_reaches_the_callback():
    events = []
    model = KernelPCA(5, callback=events.append).fit(DATA["digits"])
    assert [event.passes for event in events] == list(range(1, model.certificate_.passes + 1))
    assert events[-1].converged == 5


@pytest.mark.parametrize("seed", [0, np.random.default_rng(3), np.random.RandomState(3), None])
def test_random_states(seed):
    model = KernelPCA(3, random_state=seed).fit(DATA["digits"])
    np.testing.assert_allclose(model.eigenvalues_, KernelPCA(3).fit(DATA["digits"]).eigenvalues_, rtol=1e-6)


# bad input


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ([[0.0, np.nan], [1.0, 2.0]], ValueError, "contains NaN"),
        ([[0.0, np.inf], [1.0, 2.0]], ValueError, "contains infinity"),
        ([], ValueError, "Expected 2D array"),
        (np.empty((0, 3)), ValueError, "minimum of 2 is required"),
        (np.empty((3, 0)), ValueError, r"0 feature\(s\)"),
        ([[1.0, 2.0]], ValueError, "minimum of 2 is required"),
        ([1.0, 2.0], ValueError, "Reshape your data"),
        ([["a", "b"], ["c", "d"]], ValueError, "X holds text where numbers are needed .* OneHotEncoder"),
        (np.array([["a", 1], ["b", 2]], dtype=object), ValueError, "X holds text where numbers are needed"),
        (np.array([[1 + 2j], [2.0]]), ValueError, "Complex data not supported"),
        (np.zeros((2, 2, 2)), ValueError, r"dim <= 2|expected <= 2"),
        (3.0, ValueError, "Expected 2D array"),
        ("text", ValueError, "Expected 2D array|could not convert|text where numbers"),
    ],
    ids=str,
)
def test_bad_data(X, error, message):
    with pytest.raises(error, match=message):
        KernelPCA(1).fit(X)


def test_object_arrays_of_numbers_are_numbers():
    X = DATA["iris"]
    np.testing.assert_allclose(KernelPCA(2).fit_transform(X.astype(object)), KernelPCA(2).fit_transform(X))


def test_wrong_number_of_features():
    model = KernelPCA(2).fit(DATA["iris"])
    with pytest.raises(ValueError, match="X has 3 features, but KernelPCA is expecting 4"):
        model.transform(DATA["iris"][:, :3])
    with pytest.raises(NotFittedError, match="not fitted"):
        KernelPCA(2).transform(DATA["iris"])


@pytest.mark.parametrize("n_components", [None, 2])
def test_equal_rows_have_no_variance(n_components):
    X = np.full((10, 3), 0.1)
    with pytest.warns(UserWarning, match="no variance to find"):
        model = KernelPCA(n_components).fit(X)
    assert model.n_components_ == (n_components or 0)
    np.testing.assert_array_equal(model.eigenvalues_, 0)
    np.testing.assert_array_equal(model.explained_variance_ratio_, 0)
    np.testing.assert_array_equal(model.transform(X), 0)
    assert np.isfinite(model.residuals(X)).all()


def test_a_kernel_that_returns_nan():
    def broken(x, y):
        return float("nan")

    with pytest.raises(ValueError, match=r"returned NaN or infinity. Check its parameters"):
        KernelPCA(2, kernel=broken).fit(DATA["iris"])


def test_a_kernel_that_returns_nan_for_new_data_only():
    def broken(X, Y):
        return np.where(X[:, :1] > 100, np.nan, X @ Y.T)

    model = KernelPCA(2, kernel=Custom(broken, vectorized=True)).fit(DATA["iris"])
    with pytest.raises(ValueError, match="returned NaN or infinity"):
        model.transform(DATA["iris"] + 1000)


@pytest.mark.parametrize(
    ("K", "message"),
    [
        (np.ones((3, 4)), "square matrix"),
        (np.array([[1.0, 2.0], [3.0, 1.0]]), "not symmetric"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "contains NaN"),
    ],
)
def test_bad_precomputed_matrices(K, message):
    with pytest.raises(ValueError, match=message):
        KernelPCA(1, kernel="precomputed").fit(K)


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"kernel": RBF(0.0)}, ValueError, "gamma must be a positive number"),
        ({"kernel": "gauss"}, ValueError, "Did you mean 'rbf'"),
        ({"kernel": "chi2"}, ValueError, "Negative values in data"),
        ({"solver": "magic"}, ValueError, "stands for no solver"),
        ({"callback": True}, TypeError, "callback=True cannot be called"),
        ({"center": "no"}, ValueError, "center must be True or False"),
        ({"tol": -1}, ValueError, "tol must be"),
        ({"memory_limit": "much"}, ValueError, "is not an amount of memory"),
        ({"random_state": "seed"}, ValueError, "is no seed"),
        ({"kernel": "spectrum"}, TypeError, "needs one string for each sample; got ndarray"),
    ],
    ids=str,
)
def test_bad_parameters(params, error, message):
    with pytest.raises(error, match=message):
        KernelPCA(2, **params).fit(DATA["iris"] - 1)


def test_input_is_neither_modified_nor_kept():
    X = DATA["iris"].copy()
    for kernel in ("rbf", "linear", "chi2"):
        rows = X.copy()
        model = KernelPCA(2, kernel=kernel, preimage="ridge").fit(rows)
        Z = model.transform(rows)
        model.denoise(rows)
        np.testing.assert_array_equal(rows, X)
        rows[:] = 666
        np.testing.assert_array_equal(model.transform(X), Z)
    K = RBF(0.1)(X)
    before = K.copy()
    KernelPCA(2, kernel="precomputed").fit(K)
    np.testing.assert_array_equal(K, before)


def test_read_only_input():
    X = DATA["iris"].copy()
    X.setflags(write=False)
    assert KernelPCA(2).fit_transform(X).shape == (150, 2)


def test_parameters_are_not_overwritten_by_fit():
    kernel, preimage, solver = RBF(), Ridge(), BlockKrylov()
    model = KernelPCA(3, kernel=kernel, preimage=preimage, solver=solver).fit(DATA["iris"])
    assert model.kernel is kernel
    assert kernel.gamma == "scale"
    assert model.kernel_.gamma == as_kernel("rbf").resolve(DATA["iris"]).gamma
    assert not hasattr(preimage, "dual_coef_")
    assert model.solver is solver


def test_html_and_text_representation():
    model = KernelPCA(3, kernel=RBF(0.1) + Linear())
    assert "RBF(gamma=0.1)" in repr(model)
    assert "KernelPCA" in model._repr_html_()


# what a fitted model is


def test_setting_parameters_does_not_change_a_fitted_model():
    X = DATA["iris"]
    model = KernelPCA(2, kernel=RBF(0.1), preimage=Ridge(0.1, kernel=RBF(0.5)), solver=BlockKrylov()).fit(X)
    Z, back = model.transform(X), model.denoise(X)
    model.set_params(kernel__gamma=5.0, preimage__kernel__gamma=9.0, solver__max_iter=3)
    np.testing.assert_array_equal(model.transform(X), Z)
    np.testing.assert_array_equal(model.denoise(X), back)
    model.set_params(kernel="precomputed")
    np.testing.assert_array_equal(model.transform(X), Z)
    assert model.kernel_.gamma == 0.1
    assert model.plan_.solver.max_iter == 200


def test_parameters_of_parts_given_by_name_can_be_set():
    X, y = make_circles(120, factor=0.3, noise=0.05, random_state=0)
    model = KernelPCA(2, kernel="rbf", solver="block_krylov", preimage="ridge")
    model.set_params(kernel__gamma=2.0, solver__max_iter=7, preimage__ridge=0.5)
    assert (model.kernel, model.solver.max_iter, model.preimage.ridge) == (RBF(2.0), 7, 0.5)
    assert KernelPCA().set_params(kernel="poly", kernel__degree=2).kernel == Polynomial(2)
    pipeline = make_pipeline(KernelPCA(2, kernel="rbf"), LogisticRegression())
    search = GridSearchCV(pipeline, {"kernelpca__kernel__gamma": [1e-3, 2.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {"kernelpca__kernel__gamma": 2.0}
    with pytest.raises(ValueError, match="Invalid parameter 'width'"):
        KernelPCA(kernel="rbf").set_params(kernel__width=1.0)


def test_nothing_is_left_of_an_earlier_fit():
    pandas = pytest.importorskip("pandas")
    model = KernelPCA(2, kernel="precomputed")
    X = DATA["iris"][:20]
    model.fit(pandas.DataFrame(RBF(0.1)(X), columns=[f"s{i}" for i in range(20)]))
    model.fit(DenseGram(RBF(0.1)(X)))
    assert not hasattr(model, "feature_names_in_")
    model = KernelPCA(2, kernel=Custom(lambda a, b: float(np.all(a == b))))
    model.fit(X)
    model.fit(["a", "b", "c"])
    assert not hasattr(model, "n_features_in_")


def test_text_in_a_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"title": ["one", "two", "three", "four"], "body": ["a", "b", "c", "d"]})
    expected = KernelPCA(2, kernel="spectrum").fit_transform(list(frame["title"]))
    np.testing.assert_array_equal(KernelPCA(2, kernel="spectrum").fit_transform(frame["title"]), expected)
    np.testing.assert_array_equal(KernelPCA(2, kernel="spectrum").fit_transform(frame[["title"]]), expected)
    with pytest.raises(TypeError, match=r"got DataFrame of shape \(4, 2\). Choose one column"):
        KernelPCA(2, kernel="spectrum").fit(frame)


@pytest.mark.filterwarnings("ignore:There are negative eigenvalues")  # which are not kept
def test_components_that_are_not_kept_raise_no_alarm():
    X = np.random.default_rng(0).standard_normal((100, 4))
    kernel = Sigmoid(0.5, -1.0)
    for rule in (None, 0.5, ("relative", 0.1)):
        for solver in ("auto", Dense("raise")):
            assert KernelPCA(rule, kernel=kernel, solver=solver).fit(X).eigenvalues_.min() > 0


def test_a_fraction_that_needs_many_components_is_planned_anew():
    model = KernelPCA(0.99, kernel=RBF(0.05)).fit(DATA["digits"][:1100])
    assert model.plan_.path == "dense"
    assert f"{1100} of 1100" in model.plan_.reason
    assert model.explained_variance_ratio_.sum() >= 0.99


def test_float32_rows_of_a_float64_model():
    X = np.round(np.random.default_rng(0).standard_normal((60, 3)) * 10) + 1.6e7  # exact in float32
    model = KernelPCA(2, kernel=RBF(0.01)).fit(X)
    np.testing.assert_allclose(model.transform(X.astype(np.float32)), model.transform(X), atol=1e-6)


def test_ridge_with_kernels_that_do_not_take_scores():
    X = DATA["iris"]
    mixture = GaussianMixture(2, covariance_type="diag", random_state=0).fit(X)
    assert KernelPCA(2, kernel=Fisher(mixture), preimage="ridge").fit(X).denoise(X).shape == (150, 4)
    assert KernelPCA(2, preimage=Ridge(kernel="laplacian")).fit(X).denoise(X).shape == (150, 4)
    with pytest.warns(UserWarning, match="no variance"):
        nothing = KernelPCA(preimage="ridge").fit(np.ones((5, 3)))
    np.testing.assert_array_equal(nothing.denoise(np.ones((2, 3))), 1)
    with pytest.raises(MemoryError, match="A ridge pre-image of 1797 rows needs about"):
        KernelPCA(2, preimage=Ridge(n_landmarks=None), memory_limit="20MB").fit(DATA["digits"])


def test_a_function_of_numbers_must_be_wrapped():
    with pytest.raises(TypeError, match=r"Give kernelpca.gram.CallableGram\(function, n\)"):
        KernelPCA(2, kernel="precomputed").fit(lambda rows, cols: np.ones((len(rows), len(cols))))


def test_pickle_and_threads():
    X = DATA["digits"][:900]
    model = KernelPCA(3, preimage="ridge").fit(X)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    with ThreadPoolExecutor(3) as pool:
        for scores in pool.map(model.transform, [X] * 6):
            np.testing.assert_allclose(scores, model.transform(X), atol=1e-12)


def test_memory_stays_within_what_was_granted():
    X = np.random.default_rng(0).standard_normal((4000, 10))
    KernelPCA(1, kernel=RBF(0.02)).fit(X)  # a compiler's memory is not ours
    for options in (
        {"memory_limit": "40MB"},
        {"memory_limit": "200MB"},
        {"memory_limit": "60MB", "n_components": 0.05},
    ):
        tracemalloc.start()
        model = KernelPCA(**{"n_components": 5, "kernel": RBF(0.02), **options}).fit(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak <= model.plan_.memory_limit, (options, model.plan_)


def test_a_callback_stops_whatever_the_rule():
    with pytest.warns(ConvergenceWarning, match="The callback asked it to stop") as caught:
        model = KernelPCA(5, kernel=RBF(0.05), callback=lambda event: True).fit(DATA["digits"])
    assert len(caught) == 1
    assert model.certificate_.passes == 1
    with pytest.warns(ConvergenceWarning, match="The callback asked it to stop"):
        some = KernelPCA(0.95, kernel=RBF(0.05), callback=lambda event: event.passes >= 3).fit(DATA["digits"])
    assert some.n_components_ <= 32


def test_the_model_of_a_fisher_kernel_is_not_for_tuning():
    X = DATA["iris"]
    mixture = GaussianMixture(3, covariance_type="diag", random_state=0).fit(X)
    model = KernelPCA(2, kernel=Fisher(mixture))
    assert not any("model__" in name for name in model.get_params())
    with pytest.raises(ValueError, match="without fitting it again"):
        model.set_params(kernel__model__n_components=2)
    assert mixture.n_components == 3
