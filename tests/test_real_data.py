"""Real data at real sizes."""

import numpy as np
import pytest
import sklearn.decomposition
from scipy import sparse

from kernelpca import KernelPCA
from kernelpca.gram import TiledGram
from kernelpca.kernels import RBF
from kernelpca.solvers import BlockKrylov
from real_data import path_of


@pytest.mark.slow
def test_usps_matrix_free_equals_stored_and_scikit_learn():
    X = np.load(path_of("usps.npz"))["X"][:4000]
    kernel = RBF("median").resolve(X)
    stored = KernelPCA(20, kernel=kernel).fit(X)
    tiled = KernelPCA(20, kernel=kernel, memory_limit="40MB").fit(X)
    assert (stored.plan_.path, tiled.plan_.path) == ("stored", "tiled")
    theirs = sklearn.decomposition.KernelPCA(
        20, kernel="rbf", gamma=kernel.gamma, eigen_solver="arpack", random_state=0
    )
    Z = theirs.fit_transform(X.astype(np.float64))
    for model in (stored, tiled):
        assert model.certificate_.satisfied
        np.testing.assert_allclose(model.eigenvalues_, theirs.eigenvalues_, rtol=1e-5)
        scores = model.transform(X)
        signs = np.sign((scores * Z).sum(axis=0))
        errors = np.linalg.norm(scores * signs - Z, axis=0) / np.linalg.norm(Z, axis=0)
        assert errors.max() < 1e-3  # tol is 1e-4 and the kernel is float32


@pytest.mark.slow
def test_usps_tiles_make_the_whole_matrix():
    X = np.load(path_of("usps.npz"))["X"]
    kernel = RBF("median").resolve(X)
    V = np.random.default_rng(0).standard_normal((len(X), 3)).astype(np.float32)
    product = TiledGram(kernel, X, threads=2).matmat(V)
    some = slice(4000, 4100)
    expected = kernel(X[some].astype(np.float64), X.astype(np.float64)) @ V
    np.testing.assert_allclose(product[some], expected, atol=2e-5 * np.abs(expected).max())


def test_sparse_news_equal_latent_semantic_analysis():
    """The linear kernel without centring on tf-idf vectors is truncated SVD."""
    X = sparse.load_npz(path_of("rcv1_vw_subset.npz"))
    model = KernelPCA(5, kernel="linear", center=False, tol=1e-9).fit(X)
    svd = sklearn.decomposition.TruncatedSVD(5, algorithm="arpack", random_state=0).fit(X)
    np.testing.assert_allclose(np.sqrt(model.eigenvalues_), svd.singular_values_, rtol=1e-7)


def test_faults_of_a_chemical_plant_stand_out():
    """Residuals from the normal state are larger for faults (Tennessee Eastman, fault 1 after sample 160)."""
    data = np.load(path_of("tennessee_eastman.npz"))
    normal = data["train"][data["train_fault"] == 0]
    mean, std = normal.mean(axis=0), normal.std(axis=0)
    run = (data["test"][1] - mean) / std
    model = KernelPCA(0.9, kernel=RBF("median")).fit((normal - mean) / std)
    scores = model.score_samples(run)
    assert np.median(scores[200:]) < np.quantile(scores[:160], 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("factor", [0.25, 4.0])
def test_more_landmarks_never_stall_a_fit(factor):
    """Rounding may make the landmarks' approximation exceed the matrix: blocks from it would stop helping."""
    X = np.load(path_of("usps.npz"))["X"].astype(np.float64)
    kernel = RBF(factor * RBF("median").resolve(X).gamma)
    passes = [
        KernelPCA(20, kernel=kernel, solver=BlockKrylov(landmarks=m)).fit(X).certificate_.passes
        for m in (100, 400, 800)
    ]
    assert max(passes[1:]) <= passes[0]
