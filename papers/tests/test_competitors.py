"""The competitors of the dualization paper: each against a twin written from its formula, and against its laws."""

import warnings
from itertools import product
from math import cos, pi, sin, sqrt

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelpca import KernelPCA
from kernelpca.kernels import RBF, Linear
from kernelpca.metrics import principal_angles
from kernelpca_papers.dualization import (
    ElasticNetKernelPCA,
    L1KernelPCA,
    SequentialSparseKernelPCA,
    UnsquaredKernelPCA,
)
from kernelpca_papers.dualization.elastic_net import Regressions
from kernelpca_papers.dualization.robust import reweight, settle_signs, smoothed_distances
from reference import jacobi

ROBUST = [L1KernelPCA, UnsquaredKernelPCA]
SPARSE = [ElasticNetKernelPCA, SequentialSparseKernelPCA]
ALL = ROBUST + SPARSE

# naive twins


def best_signs(K):
    """Of all 2^n sign vectors t, the one with the largest t'K t: its square root is the sum of absolute scores."""
    n = len(K)
    largest, best = -1.0, None
    for t in product([1.0, -1.0], repeat=n - 1):
        t = (1.0, *t)  # t and -t are the same direction
        value = sum(t[i] * K[i, j] * t[j] for i in range(n) for j in range(n))
        if value > largest:
            largest, best = value, np.array(t)
    return best, sqrt(largest)


def l1_scores(K, k):
    """Scores on k directions of largest L1 norm, each after those before were taken off; K is centered."""
    K, Z = K.copy(), []
    for _ in range(k):
        t, length = best_signs(K)
        z = np.array([sum(K[i, j] * t[j] for j in range(len(K))) / length for i in range(len(K))])
        for i in range(len(K)):
            for j in range(len(K)):
                K[i, j] -= z[i] * z[j]
        Z.append(z)
    return np.array(Z).T


def line_of_least_distances(X, steps=20000):
    """The angle of the line through the origin of the plane with the smallest sum of distances, by trying them all."""
    losses = [
        np.abs(X[:, 0] * sin(pi * step / steps) - X[:, 1] * cos(pi * step / steps)).sum() for step in range(steps)
    ]
    return pi * int(np.argmin(losses)) / steps, min(losses)


def rows_of(K):
    """Rows whose inner products are K: eigenvectors times roots of eigenvalues."""
    values, vectors = jacobi(K)
    kept = values > 1e-10 * values[0]
    return vectors[:, kept] * np.sqrt(values[kept])


def reweighted_projection(F, k, weights, delta, steps):
    """Rows F written out: weighted covariance, its eigenvectors, distances, weights; again and again."""
    for _ in range(steps + 1):
        covariance = np.zeros((F.shape[1], F.shape[1]))
        for weight, row in zip(weights, F, strict=True):
            covariance += weight * np.outer(row, row)
        V = jacobi(covariance)[1][:, :k]
        distances = [np.linalg.norm(row - V @ (V.T @ row)) for row in F]
        weights = [1 / max(distance, delta) for distance in distances]
    return V @ V.T, sum(d if d >= delta else (d * d / delta + delta) / 2 for d in distances)


def elastic_net(X, y, ridge, penalty, sweeps=3000):
    """min_b |y - X b|^2 + ridge |b|^2 + 2 penalty |b|_1: one coordinate after the other."""
    b = np.zeros(X.shape[1])
    for _ in range(sweeps):
        before = b.copy()
        for i in range(len(b)):
            rest = y - X @ b + X[:, i] * b[i]
            slope = float(X[:, i] @ rest)
            shrunk = max(abs(slope) - penalty, 0.0)
            b[i] = np.sign(slope) * shrunk / (float(X[:, i] @ X[:, i]) + ridge)
        if np.abs(b - before).max() < 1e-14:
            break
    return b


def alternating_elastic_nets(G, k, alpha, ridge, steps):
    """Sparse PCA of Zou, Hastie and Tibshirani (algorithm 1) with X = G^(1/2)."""
    values, U = jacobi(G)
    X = U @ np.diag(np.sqrt(np.maximum(values, 0))) @ U.T
    A = U[:, :k]
    penalty = alpha * max(abs(G @ A[:, j]).max() for j in range(k))
    for _ in range(steps):
        B = np.array([elastic_net(X, X @ A[:, j], ridge * values[0], penalty) for j in range(k)]).T
        P, _, Q = np.linalg.svd(G @ B, full_matrices=False)
        A = P @ Q
    return B


def sequential_elastic_nets(G, k, alpha, ridge):
    """Regress the scores of largest variance on the columns of G, take off what the answer has of all rows; repeat."""
    F, B = rows_of(G), []
    remaining, largest = F.copy(), jacobi(G)[0][0]
    for _ in range(k):
        values, vectors = jacobi(remaining @ remaining.T)
        z = np.sqrt(values[0]) * vectors[:, 0]
        b = elastic_net(G, z, ridge * largest**2, alpha * np.abs(G @ z).max())
        w = remaining.T @ b
        w /= np.linalg.norm(w)
        remaining = np.array([row - (row @ w) * w for row in remaining])
        B.append(b)
    return np.array(B).T


def same_up_to_signs(A, B):
    return np.allclose(A, B * np.sign((A * B).sum(axis=0)), rtol=0, atol=1e-6)


# data


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(3)


@pytest.fixture(scope="module")
def X(rng):
    return rng.normal(size=(40, 4)) * [3.0, 2.0, 1.0, 0.5]


@pytest.fixture(scope="module")
def few():
    return np.random.default_rng(8).normal(size=(9, 3)) * [3.0, 1.5, 0.7]


def centered(K):
    return K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()


def centered_matrix(kernel, X):
    return centered(kernel(X))


def make(cls, **params):
    return cls(**({"n_components": 2, "kernel": RBF(gamma=0.1)} | params))


# against the twins


def test_l1_finds_the_best_of_all_signs(few):
    kernel = RBF(gamma=0.2)
    model = L1KernelPCA(3, kernel=kernel, n_starts=3000).fit(few)  # more than there are signs
    K = centered_matrix(kernel, few)
    Z = l1_scores(K, 3)
    assert same_up_to_signs(K @ model.coefficients_, Z)
    assert model.objective_ == pytest.approx(np.abs(Z).sum(axis=0))
    assert principal_angles(model.transform(few), Z).max() < 1e-6


def test_unsquared_finds_the_line_of_least_distances():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 2)) * [3.0, 0.6]
    X[:3] = [[0.0, 9.0], [1.0, 8.0], [-1.0, 9.5]]
    model = UnsquaredKernelPCA(1, kernel="linear", center=False, delta=1e-5, tol=1e-12, max_iter=2000).fit(X)
    angle, loss = line_of_least_distances(X)
    direction = (model.components_ @ X)[0]
    assert abs(direction @ [cos(angle), sin(angle)]) == pytest.approx(1, abs=1e-6)
    assert np.sqrt(model.residuals(X)).sum() == pytest.approx(loss, rel=1e-4)
    square = KernelPCA(1, kernel="linear", center=False).fit(X)
    assert np.sqrt(square.residuals(X)).sum() > 1.01 * loss  # so that the twin says something


def test_unsquared_is_kernel_pca_reweighted(few):
    kernel = RBF(gamma=0.2)
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        model = UnsquaredKernelPCA(2, kernel=kernel, max_iter=6, tol=0.0, delta=1e-2).fit(few)
    assert model.n_iter_ == 6
    F = rows_of(centered_matrix(kernel, few))
    delta = 1e-2 * np.sqrt((F**2).sum() / len(F))
    starts = [[1.0] * len(F), [1 / (row @ row) for row in F]]
    P, loss = min((reweighted_projection(F, 2, start, delta, steps=6) for start in starts), key=lambda end: end[1])
    assert model.losses_[-1] == pytest.approx(loss)
    left = ((F - F @ P) ** 2).sum(axis=1)
    assert model.residuals(few) == pytest.approx(left, abs=1e-8)
    assert model.transform(few) @ model.transform(few).T == pytest.approx(F @ P @ F.T, abs=1e-8)


def test_elastic_nets_alternate(few):
    kernel = RBF(gamma=0.2)
    G = centered_matrix(kernel, few)
    model = ElasticNetKernelPCA(2, kernel=kernel, alpha=0.2, ridge=0.05, tol=1e-13, max_iter=5000).fit(few)
    B = alternating_elastic_nets(G, 2, 0.2, 0.05, steps=model.n_iter_)
    assert 0 < (B == 0).mean() < 1
    assert ((B == 0) == (model.coefficients_ == 0)).all()
    assert same_up_to_signs(model.coefficients_, B)


def test_sequential_elastic_nets(few):
    kernel = RBF(gamma=0.2)
    G = centered_matrix(kernel, few)
    model = SequentialSparseKernelPCA(3, kernel=kernel, alpha=0.2, ridge=0.05, tol=1e-13).fit(few)
    B = sequential_elastic_nets(G, 3, 0.2, 0.05)
    assert 0 < (B == 0).mean() < 1
    assert ((B == 0) == (model.coefficients_ == 0)).all()
    assert same_up_to_signs(model.coefficients_, B)


def test_regressions_are_elastic_nets():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(6, 8)), rng.normal(size=6)
    P, s, Ut = np.linalg.svd(X, full_matrices=False)
    regressions = Regressions(s, Ut.T, ridge=0.3, tol=1e-14)
    for penalty in (0.0, 0.1, 1.0):
        b, solved = regressions.solve(P.T @ y, penalty, np.zeros(8))
        assert solved
        start = b.copy()
        regressions.solve(P.T @ y, penalty / 2 + 0.01, start)
        assert (start == b).all()
        assert b == pytest.approx(elastic_net(X, y, 0.3, penalty), abs=1e-7)
    largest = regressions.largest_penalty(P.T @ y)
    assert not elastic_net(X, y, 0.3, 1.0001 * largest).any()
    assert elastic_net(X, y, 0.3, 0.9999 * largest).any()


# laws of all


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("center", [True, False])
def test_directions_are_orthonormal_and_scores_uncorrelated(cls, center, X):
    model = make(cls, n_components=3, center=center).fit(X)
    K, W = RBF(gamma=0.1)(X), model.components_.T
    assert W.shape == (40, 3)
    assert pytest.approx(np.eye(3), abs=1e-10) == W.T @ K @ W
    Z = model.transform(X)
    assert pytest.approx(np.diag(model.eigenvalues_), abs=1e-9) == Z.T @ Z
    assert (np.diff(model.eigenvalues_) <= 0).all()
    assert (Z[np.abs(Z).argmax(axis=0), range(3)] > 0).all()
    total = np.trace(centered_matrix(RBF(gamma=0.1), X)) if center else 40
    assert model.explained_variance_ratio_ == pytest.approx(model.eigenvalues_ / total)
    assert model.n_components_ == 3
    if center:
        assert W.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-12)
        assert Z.mean(axis=0) == pytest.approx(np.zeros(3), abs=1e-10)


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("center", [True, False])
def test_span_is_that_of_the_coefficients(cls, center, X):
    model = make(cls, center=center).fit(X)
    K = RBF(gamma=0.1)(X)
    K = centered(K) if center else K
    assert principal_angles(model.transform(X), K @ model.coefficients_).max() < 1e-6


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("center", [True, False])
def test_fit_transform_is_fit_then_transform(cls, center, X):
    before = X.copy()
    Z = make(cls, center=center).fit_transform(X)
    assert pytest.approx(make(cls, center=center).fit(X).transform(X)) == Z
    assert (before == X).all()


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("center", [True, False])
def test_a_given_matrix_is_as_good_as_rows(cls, center, X):
    K, new = RBF(gamma=0.1)(X), X[:5] + 0.3
    before = K.copy()
    rows = make(cls, center=center).fit(X)
    given = make(cls, kernel="precomputed", center=center).fit(K)
    assert (before == K).all()
    K_new = RBF(gamma=0.1)(new, X)
    assert given.transform(K_new) == pytest.approx(rows.transform(new), abs=1e-7)
    assert given.residuals(K_new, np.ones(5)) == pytest.approx(rows.residuals(new), abs=1e-7)
    with pytest.raises(ValueError, match="one number for each of 5 rows"):
        given.residuals(K_new, np.ones(4))


@pytest.mark.parametrize("cls", ALL)
def test_residuals_are_what_scores_leave(cls, X):
    model = make(cls).fit(X)
    K = centered_matrix(RBF(gamma=0.1), X)
    left = np.diag(K) - (model.transform(X) ** 2).sum(axis=1)
    assert model.residuals(X) == pytest.approx(left, abs=1e-9)


@pytest.mark.parametrize("cls", ALL)
def test_square_kernel_pca_captures_most(cls, X):
    square = make(KernelPCA, n_components=3).fit(X).explained_variance_ratio_.sum()
    assert 0.5 * square < make(cls, n_components=3).fit(X).explained_variance_ratio_.sum() <= square + 1e-12


@pytest.mark.parametrize("cls", ALL)
def test_rotated_and_permuted_rows_have_the_same_scores(cls, X):
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    order = rng.permutation(40)
    # random signs belong to other rows after a permutation, and coordinate descent takes another order
    params, exact = {"n_starts": 1} if cls is L1KernelPCA else {}, 1e-6 if cls in ROBUST else 1e-3
    Z = make(cls, **params).fit_transform(X)
    assert np.abs(make(cls, **params).fit_transform(X @ Q)) == pytest.approx(np.abs(Z), abs=exact)
    assert np.abs(make(cls, **params).fit_transform(X[order])) == pytest.approx(np.abs(Z[order]), abs=exact)


@pytest.mark.parametrize("cls", ALL)
def test_other_kinds_of_rows(cls, X):
    Z = make(cls).fit_transform(X)
    assert make(cls).fit_transform(sparse.csr_matrix(X)) == pytest.approx(Z, abs=1e-6)
    single = X.astype(np.float32)  # the rows are rounded, what is worked out from them is not
    assert make(cls).fit_transform(single) == pytest.approx(make(cls).fit_transform(single.astype(float)), abs=1e-12)
    words = ["stork", "storm", "stock", "flock", "clock", "cloak", "croak"]
    assert make(cls, kernel="spectrum").fit(words).transform(words[:2]).shape == (2, 2)


@pytest.mark.parametrize("cls", ALL)
def test_clone_and_global_randomness(cls, X):
    state = np.random.get_state()  # noqa: NPY002
    model = make(cls).fit(X)
    assert np.random.get_state()[2] == state[2]  # noqa: NPY002
    assert (np.random.get_state()[1] == state[1]).all()  # noqa: NPY002
    again = clone(model)
    assert again.get_params() == model.get_params()
    assert not hasattr(again, "components_")
    assert (again.fit(X).components_ == model.components_).all()
    with pytest.raises(NotFittedError):
        clone(model).transform(X)
    assert list(model.get_feature_names_out()) == [f"{cls.__name__.lower()}{i}" for i in range(2)]


@parametrize_with_checks([cls() for cls in ALL])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


# laws of each


def test_absolute_scores_never_decrease(X):
    K = centered_matrix(RBF(gamma=0.1), X)
    T = np.random.default_rng(5).choice([-1.0, 1.0], size=(40, 20))
    for _ in range(30):
        values = np.einsum("ij,ij->j", T, K @ T)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            T = settle_signs(K, T, max_iter=1)[0]
        assert (np.einsum("ij,ij->j", T, K @ T) >= values - 1e-12).all()
    assert (np.sign(K @ T) == T).all()


def test_a_sign_stays_where_its_sum_is_zero():
    K = np.diag([2.0, 0.0, 1.0])
    T = np.array([[1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    ends, iterations = settle_signs(K, T, max_iter=3)
    assert (ends == T).all()
    assert iterations == 1


@pytest.mark.parametrize("center", [True, False])
def test_signs_are_a_fixed_point(center, X):
    model = L1KernelPCA(3, kernel=RBF(gamma=0.1), center=center).fit(X)
    K = RBF(gamma=0.1)(X)
    K = centered(K) if center else K
    Z = K @ model.coefficients_
    for j in range(3):
        remaining = K - Z[:, :j] @ Z[:, :j].T
        t = model.signs_[:, j]
        assert (np.sign(remaining @ t) == t).all()
        assert model.objective_[j] == pytest.approx(np.sqrt(t @ remaining @ t))
    assert model.coefficients_.T @ K @ model.coefficients_ == pytest.approx(np.eye(3), abs=1e-10)


def test_more_starts_are_no_worse(X):
    few = [L1KernelPCA(1, kernel=RBF(gamma=0.5), n_starts=n).fit(X).objective_[0] for n in (1, 5, 50)]
    assert few[0] <= few[1] <= few[2]
    square = KernelPCA(1, kernel=RBF(gamma=0.5)).fit_transform(X)
    assert np.abs(square).sum() < few[0]


def test_unsquared_loss_decreases(X):
    model = UnsquaredKernelPCA(2, kernel=RBF(gamma=0.1), tol=1e-12, max_iter=2000).fit(X)
    assert len(model.losses_) == model.n_iter_ + 1
    assert (np.diff(model.losses_) <= 1e-10).all()
    square = KernelPCA(2, kernel=RBF(gamma=0.1), tol=0).fit(X)
    length = np.sqrt(np.trace(centered_matrix(RBF(gamma=0.1), X)) / 40)
    assert model.losses_[-1] < smoothed_distances(np.sqrt(square.residuals(X)), 1e-3 * length)
    r = np.sqrt(model.residuals(X))
    assert model.losses_[-1] == pytest.approx(smoothed_distances(r, 1e-3 * length))
    assert model.weights_ == pytest.approx(1 / np.maximum(r, 1e-3 * length), rel=1e-3)


def test_smoothed_distances_are_smooth_and_near():
    assert smoothed_distances(np.array([2.0, 0.5]), 0.5) == 2.5
    assert smoothed_distances(np.array([0.1, 0.0]), 0.5) == pytest.approx(0.26 + 0.25)
    below, above = smoothed_distances(np.array([0.5 - 1e-9]), 0.5), smoothed_distances(np.array([0.5 + 1e-9]), 0.5)
    assert (above - below) / 2e-9 == pytest.approx(1, rel=1e-5)


@pytest.mark.parametrize(("seed", "better"), [(1, 0), (3, 1)])
def test_the_better_of_two_starts_is_kept(seed, better):
    X = np.random.default_rng(seed).standard_t(2, size=(20, 4))
    K, model = X @ X.T, UnsquaredKernelPCA(2, kernel="linear", center=False).fit(X)
    delta = 1e-3 * np.sqrt(np.trace(K) / 20)
    losses = [reweight(K, 2, start, delta, 1e-7, 200)[2][-1] for start in (np.ones(20), 1 / np.diag(K))]
    assert losses[better] < losses[1 - better] - 0.1
    assert model.losses_[-1] == pytest.approx(losses[better])


@pytest.mark.parametrize("cls", ROBUST)
@pytest.mark.parametrize("center", [True, False])
def test_a_gross_outlier_moves_the_subspace_less(cls, center):
    X = np.random.default_rng(0).normal(size=(60, 5)) * [4.0, 3.0, 0.3, 0.3, 0.3]
    spoilt = np.vstack([X, [0.0, 0.0, 25.0, 0.0, 0.0]])

    def turned_by(estimator):
        true, found = estimator.fit(X).components_ @ X, clone(estimator).fit(spoilt).components_ @ spoilt
        return principal_angles(true.T, found.T).max()

    square = turned_by(KernelPCA(2, kernel=Linear(), center=center))
    robust = turned_by(cls(2, kernel=Linear(), center=center))
    assert square > 1
    assert robust < 0.5 * square


@pytest.mark.parametrize("cls", SPARSE)
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("ridge", [0.001, 0.1, 1.0])
def test_without_penalty_it_is_kernel_pca(cls, center, ridge, X):
    square = make(KernelPCA, n_components=3, center=center, tol=0).fit(X)
    for alpha, exact in ((0.0, 1e-8), (1e-6, 1e-3)):
        model = make(cls, n_components=3, center=center, alpha=alpha, ridge=ridge).fit(X)
        assert model.transform(X) == pytest.approx(square.transform(X), abs=exact)
        assert model.eigenvalues_ == pytest.approx(square.eigenvalues_, rel=1e-5)
    assert make(cls, alpha=0.0).fit(X).sparsity_ == 0
    assert len(make(cls, alpha=0.0).fit(X).support_) == 40


@pytest.mark.parametrize("cls", SPARSE)
@pytest.mark.parametrize("sparsity", [0, 0.1, 0.3, 0.5, 0.8])
def test_the_sparsity_asked_for_is_reached(cls, sparsity):
    X = np.random.default_rng(0).normal(size=(120, 5))
    model = make(cls, n_components=4, sparsity=sparsity).fit(X)
    assert model.sparsity_ == (model.coefficients_ == 0).mean()
    assert abs(model.sparsity_ - sparsity) <= 1 / 120 + 1e-9
    if cls is SequentialSparseKernelPCA:
        assert np.abs((model.coefficients_ == 0).mean(axis=0) - sparsity).max() <= 1 / 120 + 1e-9
        assert model.alpha_.shape == (4,)
    assert (model.support_ == np.flatnonzero(model.coefficients_.any(axis=1))).all()


@pytest.mark.parametrize("cls", SPARSE)
def test_a_search_that_fails_says_how_near_it_came(cls):
    X = np.repeat(np.random.default_rng(0).normal(size=(5, 2)), 6, axis=0)  # six rows are in or out together
    with pytest.warns(UserWarning, match=r"sparsity=0\.5 was not reached: 0\.[46] of the coefficients"):
        model = make(cls, n_components=1, sparsity=0.5).fit(X)
    assert model.sparsity_ in (0.4, 0.6)


@pytest.mark.parametrize("cls", SPARSE)
def test_zero_coefficients_do_not_matter(cls, X):
    new = X[:6] + 0.2
    model = make(cls, center=False, alpha=0.4).fit(X)
    assert 0 < len(model.support_) < 40
    others = np.setdiff1d(np.arange(40), model.support_)
    assert not model.components_[:, others].any()
    kept = RBF(gamma=0.1)(new, X[model.support_]) @ model.components_[:, model.support_].T
    assert kept == pytest.approx(model.transform(new), abs=1e-12)
    # with centring the mean of all rows remains
    model = make(cls, alpha=0.4).fit(X)
    others = np.setdiff1d(np.arange(40), model.support_)
    assert 0 < len(others) < 40
    assert np.ptp(model.components_[:, others], axis=1) == pytest.approx([0, 0], abs=1e-15)


@pytest.mark.parametrize("cls", SPARSE)
def test_a_stronger_penalty_leaves_fewer_rows(cls, X):
    models = [make(cls, alpha=alpha).fit(X) for alpha in (0.001, 0.05, 0.2, 0.5)]
    assert (np.diff([model.sparsity_ for model in models]) > 0).all()
    captured = [model.explained_variance_ratio_.sum() for model in models]
    assert (np.diff(captured) < 0).all()


def test_alternation_never_increases_the_criterion(X):
    model = make(ElasticNetKernelPCA, n_components=3, alpha=0.1, tol=1e-9, max_iter=5000).fit(X)
    assert model.n_iter_ > 2
    total = np.trace(centered_matrix(RBF(gamma=0.1), X))
    assert (np.diff(model.losses_) <= 1e-9 * total).all()
    assert model.losses_[-1] < total  # that of B = 0


def test_the_criterion_is_that_of_rebuilt_rows(few):
    kernel, ridge, alpha = RBF(gamma=0.2), 0.05, 0.2
    model = ElasticNetKernelPCA(2, kernel=kernel, alpha=alpha, ridge=ridge, tol=1e-12, max_iter=5000).fit(few)
    G, B = centered_matrix(kernel, few), model.coefficients_
    F, values = rows_of(G), jacobi(G)[0]
    P, _, Q = np.linalg.svd(G @ B, full_matrices=False)
    A, W = P @ Q, F.T @ B
    loss = 0.0
    for i in range(len(F)):
        loss += np.square(F[i] - sum(A[i, j] * W[:, j] for j in range(2))).sum()
    penalty = alpha * np.abs(G @ jacobi(G)[1][:, :2]).max()
    loss += ridge * values[0] * (B**2).sum() + 2 * penalty * np.abs(B).sum()
    assert model.losses_[-1] == pytest.approx(loss, rel=1e-9)


def test_directions_that_vanish_are_told():
    X, _ = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="Only 2 of 3 directions are left"):
        model = ElasticNetKernelPCA(3, alpha=0.3).fit(X)
    assert model.n_components_ == 2
    assert model.coefficients_.shape == (150, 3)
    assert model.transform(X).shape == (150, 2)


def test_unfinished_work_is_told(X):
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        make(ElasticNetKernelPCA, max_iter=1).fit(X)
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        make(UnsquaredKernelPCA, max_iter=1, tol=0).fit(X)
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        make(L1KernelPCA, max_iter=1, random_state=1).fit(X)
    with pytest.warns(ConvergenceWarning, match="component 0 was not solved"):
        make(SequentialSparseKernelPCA, n_components=1, tol=1e-300, ridge=0.01).fit(X)


# bad inputs


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("given", [0, 41, 1.5, None, True, "two"])
def test_bad_number_of_components(cls, given, X):
    with pytest.raises(ValueError, match="give an int from 1 to 3"):
        make(cls, n_components=given).fit(X)


@pytest.mark.parametrize("cls", ALL)
def test_bad_problems(cls, X):
    with pytest.raises(ValueError, match="span 4 dimensions"):
        make(cls, n_components=5, kernel="linear").fit(X)
    with pytest.raises(ValueError, match="positive semi-definite kernel"):
        make(cls, kernel="precomputed").fit(np.diag([1.0, 1.0, -2.0]))
    with pytest.raises(ValueError, match="same point in feature space"):
        make(cls, kernel="poly").fit(np.full((5, 2), 1.3))
    with pytest.raises(ValueError, match="center must be True or False"):
        make(cls, center="yes").fit(X)
    with pytest.raises(ValueError, match="square matrix"):
        make(cls, kernel="precomputed").fit(X)
    with pytest.raises(ValueError, match="Known names"):
        make(cls, kernel="rfb").fit(X)
    with pytest.raises(ValueError, match="minimum of 2"):
        make(cls).fit(X[:1])


@pytest.mark.parametrize(
    ("cls", "params", "message"),
    [
        (L1KernelPCA, {"n_starts": 0}, r"n_starts must be a whole number >= 1"),
        (L1KernelPCA, {"max_iter": 2.5}, r"L1KernelPCA\(max_iter=2.5\)"),
        (L1KernelPCA, {"random_state": "seed"}, r"is no seed"),
        (UnsquaredKernelPCA, {"delta": 0}, r"delta must be a number > 0"),
        (UnsquaredKernelPCA, {"tol": -1}, r"tol must be a number >= 0"),
        (UnsquaredKernelPCA, {"max_iter": 0}, r"max_iter must be a whole number >= 1"),
        *[(cls, {"alpha": 1.0}, r"alpha must be a number >= 0 and < 1") for cls in SPARSE],
        *[(cls, {"alpha": None}, r"alpha must be a number >= 0 and < 1") for cls in SPARSE],
        *[(cls, {"sparsity": 1}, r"sparsity must be a number >= 0 and < 1") for cls in SPARSE],
        *[(cls, {"sparsity": float("nan")}, r"sparsity must be a number >= 0 and < 1") for cls in SPARSE],
        *[(cls, {"ridge": -0.1}, r"ridge must be a number >= 0") for cls in SPARSE],
        *[(cls, {"tol": 0}, r"tol must be a number > 0") for cls in SPARSE],
        (ElasticNetKernelPCA, {"max_iter": 0}, r"max_iter must be a whole number >= 1"),
    ],
)
def test_bad_parameters(cls, params, message, X):
    model = make(cls, **params)
    with pytest.raises(ValueError, match=message):
        model.fit(X)
    assert not hasattr(model, "components_")
