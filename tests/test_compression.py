"""Models over fewer anchors: what is kept is what the formulas say, and what it costs is what is stated."""

import pickle
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import approx_fprime
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError

import kernelpca
import kernelpca.estimators.matching_pursuit as pursuit_module
from kernelpca import DualKernelPCA, IncrementalKernelPCA, KernelPCA, RobustKernelPCA, SparseKernelPCA
from kernelpca.estimators.anchor_search import Search
from kernelpca.estimators.compression import expansion_of, score_bounds
from kernelpca.estimators.matching_pursuit import MatchingPursuit
from kernelpca.estimators.reduced_set import distance, gradient, move_points
from kernelpca.features import Nystrom, RandomFourier
from kernelpca.kernels import RBF, Custom, Laplacian, Linear, Matern, Polynomial, Spectrum
from kernelpca.objectives import Huber
from kernelpca.preimage import FixedPoint, Gradient, Ridge, Weights
from real_data import path_of

DIGITS = load_digits(return_X_y=True)[0] / 16
KERNEL = RBF(0.02)


def normal(n=120, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def relative_change(model, small, X, train):
    """Root mean square change of scores over root mean square scores, in the worst component."""
    change = np.sqrt(np.square(small.transform(X) - model.transform(X)).mean(axis=0))
    return (change / np.sqrt(np.square(model.transform(train)).mean(axis=0))).max()


# the naive twin: dense algebra on the whole kernel matrix


def nearest_combination(K, S, target, total):
    """Coefficients a over rows S with a given sum that bring sum_s a_s phi_s nearest to sum_i target_i phi_i."""
    system = np.block([[K[np.ix_(S, S)], np.ones((len(S), 1))], [np.ones((1, len(S))), np.zeros((1, 1))]])
    if total is None:
        system = system[:-1, :-1]
    right = K[S] @ target if total is None else np.append(K[S] @ target, total)
    return np.linalg.lstsq(system, right, rcond=1e-14)[0][: len(S)]


def projected(K, S, W, mean):
    """(n, n), rows, (n, k), (n,) or None -> new coefficients (m, k), b (k,), mean (m,), |m - m'|, |v_j - v'_j|."""
    centered = mean is not None
    A = np.column_stack([nearest_combination(K, S, w, 0.0 if centered else None) for w in W.T])
    block = K[np.ix_(S, S)]
    values, Q = np.linalg.eigh(A.T @ block @ A)
    A = A @ (Q / np.sqrt(values)) @ Q.T
    c = nearest_combination(K, S, mean, 1.0) if centered else np.zeros(len(S))
    full, full_mean = np.zeros_like(W), np.zeros(len(K))
    full[S], full_mean[S] = A, c
    apart, off = full_mean - (mean if centered else 0.0), full - W
    lengths = np.sqrt(np.maximum([w @ K @ w for w in off.T], 0.0))
    return A, -(c @ block @ A), c, np.sqrt(max(apart @ K @ apart, 0.0)), lengths


def greedy(K, W, mean, weights, m):
    """Rows chosen one by one, each by trying all of them: the least weighted squared distance of what is projected."""
    chosen = [int((K.diagonal() - 2 * K @ mean).argmin())]
    while len(chosen) < m:
        best, pick = np.inf, -1
        for i in set(range(len(K))) - set(chosen):
            S = [*chosen, i]
            total = 0.0
            for target, weight, of_sum in [
                *((w, o, 0.0) for w, o in zip(W.T, weights, strict=False)),
                (mean, weights[-1], 1.0),
            ]:
                full = -target
                full = full.copy()
                full[S] += nearest_combination(K, S, target, of_sum)
                total += weight * (full @ K @ full)
            if total < best:
                best, pick = total, i
        chosen.append(pick)
    return chosen


@pytest.mark.parametrize("center", [True, False])
def test_directions_are_projected_as_the_formula_says(center):
    X = normal()
    model = KernelPCA(4, kernel=RBF(0.5), center=center).fit(X)
    small = model.compress(n_anchors=25, move=False)
    S, K = small.certificate_.compression.rows, RBF(0.5)(X)
    mean = np.full(len(X), 1 / len(X)) if center else None
    W, b, c, center_error, off = projected(K, S, model.components_.T, mean)
    np.testing.assert_allclose(small.transform(X), K[:, S] @ W + b, atol=1e-8)
    np.testing.assert_allclose(small._decomposition.mean_weights, c, atol=1e-6)
    stated = small.certificate_.compression
    assert stated.center_error == pytest.approx(center_error, abs=1e-7)
    np.testing.assert_allclose(stated.off, off, atol=1e-6)
    assert stated.error == pytest.approx(relative_change(model, small, X, X), rel=1e-6)
    change = np.abs(small.transform(X) - model.transform(X)) / np.sqrt(np.square(model.transform(X)).mean(axis=0))
    assert stated.worst == pytest.approx(change.max(), rel=1e-6)
    farther = np.sqrt(np.square(small.residuals(X) - model.residuals(X)).mean())
    assert stated.residual_error == pytest.approx(farther / (model._decomposition.total / len(X)), rel=1e-6)


def test_rows_are_those_that_trying_all_would_choose(monkeypatch):
    monkeypatch.setattr(pursuit_module, "NEAR", 1.0)
    X = normal(40, 2)
    model = KernelPCA(3, kernel=RBF(0.5)).fit(X)
    expansion = expansion_of(model, model._decomposition.features.anchors)
    pursuit = MatchingPursuit(expansion, expansion.rows, expansion.products(expansion.rows))
    pursuit.extend(8)
    assert pursuit.order == greedy(RBF(0.5)(X), model.components_.T, np.full(40, 1 / 40), expansion.weights, 8)


def test_the_error_that_a_pursuit_tells_is_that_of_its_rows():
    X = DIGITS[:300]
    model = KernelPCA(5, kernel=KERNEL).fit(X)
    search = Search(expansion_of(model, model._decomposition.features.anchors), False, np.dtype(float), None)
    for m in (10, 40, 120):
        found = search.with_anchors(m)
        assert found.error == pytest.approx(search.pursuit.error(), rel=1e-6)


@pytest.mark.parametrize(
    "kernel",
    [RBF(0.5), Matern(1.5, 0.5), Polynomial(2, 0.5, 1.0), RBF(0.3) + 0.1 * Linear()],
    ids=lambda k: type(k).__name__,
)
@pytest.mark.parametrize("center", [True, False])
def test_points_move_down_the_gradient(kernel, center):
    X = normal(60, 2)
    model = KernelPCA(3, kernel=kernel, center=center).fit(X)
    expansion = expansion_of(model, model._decomposition.features.anchors)
    Z = expansion.rows[:5] + 0.1
    slope = approx_fprime(Z.ravel(), lambda z: distance(expansion, expansion.onto(z.reshape(Z.shape))), 1e-6)
    np.testing.assert_allclose(gradient(expansion, expansion.onto(Z)).ravel(), slope, atol=1e-4 * np.abs(slope).max())
    moved = move_points(expansion, Z, 20)
    assert distance(expansion, moved) < 0.8 * distance(expansion, expansion.onto(Z))


# laws


MODELS = {
    "exact": KernelPCA(4, kernel=KERNEL),
    "uncentered": KernelPCA(4, kernel=KERNEL, center=False),
    "float32": KernelPCA(4, kernel=KERNEL),
    "nystrom": KernelPCA(4, kernel=KERNEL, approximation=Nystrom(150)),
    "polynomial": KernelPCA(4, kernel=Polynomial(2, 0.05, 1.0)),
    "laplacian": KernelPCA(4, kernel=Laplacian(0.05)),
    "dual": DualKernelPCA(4, kernel=KERNEL, objective=Huber("0.8max")),
    "robust": RobustKernelPCA(4, kernel=KERNEL),
    "sparse": SparseKernelPCA(4, kernel=KERNEL, sparsity=0.3),
    "stream": IncrementalKernelPCA(4, kernel=KERNEL, approximation=Nystrom(150)),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("move", [False, None])
def test_every_model_of_anchors_can_be_compressed(name, move):
    X, new = DIGITS[:300], DIGITS[300:400]
    if name == "float32":
        X, new = X.astype(np.float32), new.astype(np.float32)
    model = MODELS[name].fit(X)
    before, had = model.transform(new), len(model._decomposition.W)
    small = model.compress(tol=0.05, move=move)
    assert type(small) is (KernelPCA if name == "stream" else type(model))
    np.testing.assert_array_equal(model.transform(new), before)
    assert model.certificate_.compression is None
    stated, inside = small.certificate_.compression, small._decomposition
    assert stated.anchors == len(inside.W) < had == stated.of
    assert (stated.rows is None) == (move is None and name != "laplacian")
    assert stated.error <= 0.05
    after = small.transform(new)
    assert after.dtype == before.dtype == new.dtype
    assert (np.abs(after - before) <= score_bounds(small, new) + 1e-5).all()
    assert np.sqrt(np.square(after - before).mean()) < 0.1 * np.sqrt(np.square(before).mean())
    # the laws of a decomposition
    level = 1e-3 if name == "float32" else 1e-6
    anchors, W = inside.features.anchors.astype(np.float64), inside.W.astype(np.float64)
    K = inside.features.kernel(anchors)
    np.testing.assert_allclose(W.T @ K @ W, np.eye(4), atol=level)
    if name != "uncentered":
        np.testing.assert_allclose(W.sum(axis=0), 0, atol=level * np.abs(W).sum())
        assert inside.mean_weights.sum() == pytest.approx(1.0, abs=1e-4)
        np.testing.assert_allclose(inside.b, -(inside.mean_weights @ K @ W), atol=level)
        assert inside.mean_square == pytest.approx(inside.mean_weights @ K @ inside.mean_weights, abs=level)
    # all else works
    farther = small.residuals(new) - model.residuals(new)
    assert np.sqrt(np.square(farther).mean()) < 0.07 * model.total_variance_
    assert small.components_.shape == (4, stated.anchors)
    assert small.explained_variance_ratio_.sum() <= model.explained_variance_ratio_.sum() * (1 + 1e-6)
    assert small.explained_variance_ratio_.sum() >= 0.95**2 * model.explained_variance_ratio_.sum()
    assert small.score(new) == pytest.approx(model.score(new), abs=0.05 * model.total_variance_)
    assert small.denoise(new[:5]).shape == (5, 64)
    assert small.get_feature_names_out().tolist() == [f"{type(small).__name__.lower()}{i}" for i in range(4)]
    assert small.get_params().keys() == model.get_params().keys() or name == "stream"
    assert "stand for" in str(small.certificate_) or "are kept" in str(small.certificate_)
    assert "compressed" in str(small.plan_)
    assert len(pickle.dumps(small)) < 0.9 * len(pickle.dumps(model))
    assert not {"dual_coef_", "outlier_weights_", "n_samples_seen_"} & vars(small).keys()
    if name == "robust":
        assert (small.predict(new) == model.predict(new)).mean() > 0.95
    if name == "sparse" and move is False:
        np.testing.assert_array_equal(X[small.support_], inside.features.anchors + inside.features.origin)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(12, 60),
    k=st.integers(1, 4),
    center=st.booleans(),
    move=st.sampled_from([None, False]),
)
def test_bounds_hold_for_every_sample(seed, n, k, center, move):
    """New rows near and far, and rows of the training data."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    model = KernelPCA(k, kernel=RBF(0.5), center=center).fit(X)
    small = model.compress(n_anchors=int(rng.integers(k + center, n)), move=move)
    new = np.concatenate([X, rng.standard_normal((50, 2)), 10 * rng.standard_normal((20, 2))])
    change = np.abs(small.transform(new) - model.transform(new))
    bounds = score_bounds(small, new)
    assert (change <= bounds + 1e-9).all()
    far = np.sqrt(model.residuals(new) + np.square(model.transform(new)).sum(axis=1))
    assert (change <= far[:, None] * small.certificate_.compression.off + 1e-9).all()
    assert (bounds >= far[:, None] * small.certificate_.compression.off - 1e-7).all()


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 4), center=st.booleans())
def test_more_anchors_come_nearer(seed, k, center):
    """Without moving, anchors are added to those before: directions, all together, and the mean come nearer."""
    X = normal(50, 2, seed)
    model = KernelPCA(k, kernel=RBF(0.5), center=center).fit(X)
    lengths, means, rows = [], [], []
    for m in (k + 1, 2 * k + 2, 20, 35, 50):
        stated = model.compress(n_anchors=m, move=False).certificate_.compression
        lengths.append(np.linalg.norm(stated.off))
        means.append(stated.center_error)
        rows.append(stated.rows)
    assert (np.diff(lengths) <= 1e-6).all()
    assert (np.diff(means) <= 1e-6).all()
    for fewer, more in pairwise(rows[:-1]):
        np.testing.assert_array_equal(fewer, more[: len(fewer)])
    assert lengths[-1] == means[-1] == 0


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(5, 40), k=st.integers(1, 4), center=st.booleans())
def test_all_anchors_change_nothing(seed, n, k, center):
    X, new = normal(n, 2, seed), normal(30, 2, seed + 1)
    model = KernelPCA(k, kernel=RBF(0.5), center=center).fit(X)
    same = model.compress(n_anchors=n)
    np.testing.assert_allclose(same.transform(new), model.transform(new), atol=1e-8)
    np.testing.assert_allclose(same.residuals(new), model.residuals(new), atol=1e-8)
    np.testing.assert_array_equal(same.eigenvalues_, model.eigenvalues_)
    assert same.certificate_.compression.error == 0
    projection = expansion_of(model, model._decomposition.features.anchors).onto(model._decomposition.features.anchors)
    kernel, origin = model._decomposition.features.kernel, model._decomposition.features.origin
    products = projection.products(kernel, new - (0.0 if origin is None else origin))
    np.testing.assert_allclose(products[:, :-1] + projection.b, model.transform(new), atol=1e-8)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), center=st.booleans())
def test_the_order_of_rows_does_not_matter(seed, center):
    rng = np.random.default_rng(seed)
    X, new, order = rng.standard_normal((40, 3)), rng.standard_normal((20, 3)), rng.permutation(40)
    model = KernelPCA(2, kernel=RBF(0.3), center=center)
    one = model.fit(X).compress(n_anchors=10, move=False)
    other = model.fit(X[order]).compress(n_anchors=10, move=False)
    np.testing.assert_array_equal(order[other.certificate_.compression.rows], one.certificate_.compression.rows)
    np.testing.assert_allclose(np.abs(one.transform(new)), np.abs(other.transform(new)), atol=1e-7)


def test_eigenvalues_are_what_new_scores_have_of_the_variance():
    """Also with sample weights; and what is left of the training rows is what the model says."""
    X = DIGITS[:300]
    weights = np.random.default_rng(0).uniform(0, 2, 300)
    weights[:20] = 0
    for w in (None, weights):
        model = KernelPCA(5, kernel=KERNEL).fit(X, sample_weight=w)
        small = model.compress(tol=0.05, move=False)
        counted = X if w is None else X[w > 0]
        w = np.ones(300) if w is None else w[w > 0] * ((w > 0).sum() / w.sum())
        Z = small.transform(counted)
        np.testing.assert_allclose(w @ Z, 0, atol=1e-8)
        np.testing.assert_allclose(w @ np.square(Z), small.eigenvalues_, rtol=1e-5)
        np.testing.assert_allclose(small.explained_variance_, small.eigenvalues_ / (len(counted) - 1))
        total = small.total_variance_ * (len(counted) - 1)
        assert small.total_variance_ == model.total_variance_
        left = total - small.eigenvalues_.sum() + len(counted) * small.certificate_.compression.center_error**2
        assert w @ small.residuals(counted) == pytest.approx(left, rel=1e-6)


def test_eigenvalues_are_no_more_than_captured_where_rows_are_gone():
    """Landmarks do not tell the variance of all rows: what the old components have along new directions is certain."""
    X = DIGITS[:500]
    model = KernelPCA(5, kernel=KERNEL, approximation=Nystrom(100)).fit(X)
    small = model.compress(n_anchors=15)
    captured = np.square(small.transform(X)).sum(axis=0)
    assert (small.eigenvalues_ <= captured * (1 + 1e-9)).all()
    assert (small.eigenvalues_ >= 0.9 * captured).all()


def test_a_compressed_model_is_not_compressed_again():
    """Errors over its few anchors would not be those over the rows of the original."""
    X = DIGITS[:400]
    once = KernelPCA(4, kernel=KERNEL).fit(X).compress(n_anchors=100)
    with pytest.raises(ValueError, match=r"compressed already.*Compress that"):
        once.compress(n_anchors=40)
    whole = KernelPCA(4, kernel=KERNEL).fit(X).compress(n_anchors=400)
    stated = whole.compress(n_anchors=40, move=False).certificate_.compression
    assert (stated.anchors, stated.of) == (40, 400)
    np.testing.assert_allclose(
        X[stated.rows],
        whole.compress(n_anchors=40, move=False)._decomposition.features.anchors + whole._decomposition.features.origin,
    )


# what it is worth


def test_ten_times_fewer_anchors_and_one_percent():
    X, new = DIGITS[:1500], DIGITS[1500:]
    model = KernelPCA(10, kernel=RBF("scale")).fit(X)
    small = model.compress()
    stated = small.certificate_.compression
    assert stated.anchors < 150
    assert max(stated.error, stated.residual_error) <= 0.01
    assert relative_change(model, small, new, X) < 0.013
    rows = model.compress(move=False).certificate_.compression
    assert 2 * stated.anchors < rows.anchors < 500
    assert rows.error <= 0.01


@pytest.mark.parametrize("move", [None, False])
def test_better_than_as_many_landmarks(move):
    X, new = DIGITS[:1200], DIGITS[1200:]
    model = KernelPCA(8, kernel=RBF("scale")).fit(X)
    small = model.compress(n_anchors=80, move=move)
    assert len(small._decomposition.W) == 80
    change = relative_change(model, small, new, X)
    for seed in range(3):
        landmarks = KernelPCA(8, kernel=RBF("scale"), approximation=Nystrom(80), random_state=seed).fit(X)
        assert small.explained_variance_ratio_.sum() > landmarks.explained_variance_ratio_.sum()
        Z, scores = landmarks.transform(X), model.transform(X)
        U, _, V = np.linalg.svd(Z.T @ scores)  # the best that turning its axes can do
        off = np.sqrt(np.square(landmarks.transform(new) @ U @ V - model.transform(new)).mean(axis=0))
        assert 2 * change < (off / np.sqrt(np.square(scores).mean(axis=0))).max()


def test_points_are_added_to_those_moved_where_these_are_too_few(monkeypatch):
    from kernelpca.estimators import anchor_search

    X = DIGITS[:300]
    model = KernelPCA(5, kernel=KERNEL).fit(X)
    usual = model.compress(tol=0.02).certificate_.compression
    monkeypatch.setattr(anchor_search, "GAIN", 30.0)
    cautious = model.compress(tol=0.02).certificate_.compression
    assert max(cautious.error, cautious.residual_error) <= 0.02
    assert cautious.anchors <= usual.anchors


def test_usps_with_25_times_fewer_anchors():
    X = np.load(path_of("usps.npz"))["X"]
    X = X[np.random.default_rng(0).permutation(len(X))].astype(np.float32)
    model = KernelPCA(10, kernel=RBF("median")).fit(X[:3000])
    small = model.compress(tol=0.01)
    assert small.certificate_.compression.anchors < 120
    assert relative_change(model, small, X[3000:5000], X[:3000]) < 0.013
    assert len(pickle.dumps(small)) < len(pickle.dumps(model)) / 20


def test_the_documented_example_runs(capsys):
    code = re.search(r"```python\n(.*?)```", (Path(__file__).parents[1] / "docs" / "compression.md").read_text(), re.S)[
        1
    ]
    names = {}
    exec(code, names)
    assert "points stand for 1500 anchors" in capsys.readouterr().out
    assert (np.abs(names["scores"] - names["model"].transform(names["X"][1500:])) <= names["worst"]).all()
    assert names["stated"].anchors < 100
    assert names["tiny"].certificate_.compression.anchors == 30


def test_slow_spectra_keep_all_and_say_so():
    X = np.random.default_rng(0).standard_normal((60, 30))
    model = KernelPCA(20, kernel=Laplacian(1.0)).fit(X)
    with pytest.warns(UserWarning, match="All 60 anchors are kept"):
        same = model.compress(tol=0.001)
    np.testing.assert_array_equal(same.transform(X), model.transform(X))
    assert same.certificate_.compression.anchors == 60


def test_points_are_not_moved_where_that_does_not_pay():
    X = DIGITS[:200]
    model = KernelPCA(5, kernel=RBF(5.0)).fit(X)
    small = model.compress(tol=0.05)
    stated = small.certificate_.compression
    assert stated.rows is not None
    assert stated.anchors <= model.compress(tol=0.05, move=False).certificate_.compression.anchors < 200


def test_a_kernel_of_finite_rank_needs_no_more_anchors_than_that():
    X, new = normal(200, 3), normal(50, 3, 1)
    for center, m in ((True, 4), (False, 3)):
        model = KernelPCA(kernel="linear", center=center).fit(X)
        small = model.compress(tol=1e-9)
        assert small.certificate_.compression.anchors == m
        np.testing.assert_allclose(small.transform(new), model.transform(new), atol=1e-8)
        np.testing.assert_allclose(small.inverse_transform(small.transform(new)), new, atol=1e-7)
    more = KernelPCA(5, kernel="linear").fit(X)  # two components are zero
    small = more.compress(n_anchors=10)
    assert small.transform(new).shape == (50, 5)
    assert not small.transform(new)[:, 3:].any()


# rows of other kinds, the way back


def test_texts_and_sparse_rows():
    words = ["kernel", "principal", "component", "analysis", "feature", "space", "anchor", "direction", "vector"]
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words, 6)) for _ in range(80)]
    model = KernelPCA(3, kernel=Spectrum(3)).fit(texts)
    small = model.compress(n_anchors=40)
    assert small.certificate_.compression.rows is not None
    assert (np.abs(small.transform(texts) - model.transform(texts)) <= score_bounds(small, texts) + 1e-9).all()
    kept = [texts[i] for i in small.certificate_.compression.rows]
    assert list(small._decomposition.features.anchors) == kept
    rows = sparse.random(150, 40, 0.2, format="csr", random_state=0)
    model = KernelPCA(3, kernel=RBF(0.3)).fit(rows)
    small = model.compress(n_anchors=60)
    dense = KernelPCA(3, kernel=RBF(0.3)).fit(rows.toarray()).compress(n_anchors=60, move=False)
    assert sparse.issparse(small._decomposition.features.anchors)
    np.testing.assert_allclose(np.abs(small.transform(rows)), np.abs(dense.transform(rows.toarray())), atol=1e-7)


def test_a_function_of_the_users():
    X = normal(60)
    function = Custom(lambda A, B: np.tanh(A @ B.T) + 2 * A @ B.T, vectorized=True)
    with pytest.raises(ValueError, match="positive_definite=True"):
        KernelPCA(2, kernel=function).fit(X).compress()
    model = KernelPCA(2, kernel=Custom(lambda A, B: A @ B.T, vectorized=True, positive_definite=True)).fit(X)
    np.testing.assert_allclose(model.compress().transform(X), model.transform(X), atol=1e-8)


@pytest.mark.parametrize("preimage", [None, FixedPoint(), Gradient(bounds=(0, 1)), "gradient"])
def test_the_way_back_is_nearly_the_same(preimage):
    X, new = DIGITS[:400], DIGITS[400:430]
    model = KernelPCA(10, kernel=KERNEL, preimage=preimage).fit(X)
    small = model.compress(tol=0.02)
    assert type(small.preimage_) is type(model.preimage_)
    assert repr(small.preimage) == repr(preimage)
    one, other = model.denoise(new), small.denoise(new)
    assert np.sqrt(np.square(one - other).mean()) < 0.35 * np.sqrt(np.square(one - new).mean())
    error, former = small.reconstruction_error(new), model.reconstruction_error(new)
    assert error.input.mean() < 1.2 * former.input.mean()
    assert error.feature.mean() < 1.2 * former.feature.mean()
    found = small.invert(small.transform(new))
    assert found.converged.mean() > 0.9
    assert (found.reliability > 0.5).all()


@pytest.mark.parametrize("preimage", ["distances", "weights", Weights("inverse")])
def test_the_way_back_by_combining_anchors_has_fewer_of_them(preimage):
    X, new = DIGITS[:400], DIGITS[400:430]
    model = KernelPCA(10, kernel=KERNEL, preimage=preimage).fit(X)
    small = model.compress(tol=0.02, move=False)
    error, former = small.reconstruction_error(new).input.mean(), model.reconstruction_error(new).input.mean()
    assert error < 1.6 * former < np.square(new - X.mean(axis=0)).sum(axis=1).mean()


@pytest.mark.parametrize("approximation", [None, Nystrom(100)])
def test_what_a_way_back_has_learned_is_kept(approximation):
    X, new = DIGITS[:400], DIGITS[400:430]
    model = KernelPCA(10, kernel=KERNEL, approximation=approximation, preimage=Ridge()).fit(X)
    small = model.compress(n_anchors=60)
    Z = model.transform(new)
    np.testing.assert_array_equal(small.inverse_transform(Z), model.inverse_transform(Z))
    assert small.reconstruction_error(new).input.mean() < 1.05 * model.reconstruction_error(new).input.mean()


def test_a_way_back_that_nobody_asked_for_is_learned_from_the_new_anchors():
    X, new = DIGITS[:400], DIGITS[400:430]
    model = KernelPCA(10, kernel=Laplacian(0.05)).fit(X)
    small = model.compress(n_anchors=200)
    small.denoise(new)
    assert isinstance(small.preimage_, Ridge)
    assert small.preimage_.scores_.shape == (200, 10)


@pytest.mark.parametrize("move", [None, False])
def test_a_small_model_is_a_small_file(move, tmp_path):
    X = DIGITS[:400]
    model = KernelPCA(5, kernel=KERNEL).fit(X)
    small = model.compress(tol=0.02, move=move)
    model.save(tmp_path / "all.kpca")
    small.save(tmp_path / "few.kpca")
    assert (tmp_path / "few.kpca").stat().st_size < (tmp_path / "all.kpca").stat().st_size / 4
    again = kernelpca.load(tmp_path / "few.kpca")
    np.testing.assert_array_equal(again.transform(X), small.transform(X))
    assert str(again.certificate_) == str(small.certificate_)
    np.testing.assert_array_equal(score_bounds(again, X), score_bounds(small, X))


# what is refused


@pytest.mark.filterwarnings("ignore:There are negative eigenvalues")
def test_what_cannot_be_compressed_is_refused_by_name():
    X = normal(50)
    with pytest.raises(NotFittedError):
        KernelPCA().compress()
    with pytest.raises(ValueError, match=r"RandomFourier.*nothing to compress"):
        KernelPCA(2, approximation=RandomFourier(30)).fit(X).compress()
    with pytest.raises(ValueError, match="precomputed"):
        KernelPCA(2, kernel="precomputed").fit(RBF(0.5)(X)).compress()
    with pytest.raises(ValueError, match="not known to be positive definite"):
        KernelPCA(2, kernel="sigmoid").fit(X).compress()
    with pytest.warns(UserWarning, match="same point"), pytest.raises(ValueError, match="no component"):
        KernelPCA(2).fit(np.ones((5, 2))).compress()
    with pytest.raises(ValueError, match="not compressed"):
        score_bounds(KernelPCA(2).fit(X), X)


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({"tol": 0}, "above 0 and below 1"),
        ({"tol": 1.5}, "above 0 and below 1"),
        ({"tol": "small"}, "above 0 and below 1"),
        ({"tol": True}, "above 0 and below 1"),
        ({"tol": 0.1, "n_anchors": 10}, "give one"),
        ({"n_anchors": 3}, "from 4"),
        ({"n_anchors": 51}, "to 50"),
        ({"n_anchors": 0}, "from 4"),
        ({"n_anchors": 10.5}, "whole number"),
        ({"n_anchors": True}, "whole number"),
        ({"move": "yes"}, "True or False"),
    ],
)
def test_wishes_that_make_no_sense(wish, words):
    model = KernelPCA(3).fit(normal(50))
    with pytest.raises(ValueError, match=words):
        model.compress(**wish)


def test_anchors_that_cannot_be_moved():
    model = KernelPCA(2, kernel=Laplacian(0.5)).fit(normal(50))
    with pytest.raises(ValueError, match="move=True is not possible"):
        model.compress(move=True)
    assert model.compress(n_anchors=10).certificate_.compression.rows is not None


def test_names_of_columns_and_output_survive():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(normal(60), columns=["a", "b", "c"])
    model = KernelPCA(2).fit(frame).set_output(transform="pandas")
    small = model.compress(n_anchors=20)
    assert list(small.transform(frame).columns) == ["kernelpca0", "kernelpca1"]
    with pytest.raises(ValueError, match="feature names"):
        small.transform(frame[["c", "b", "a"]])


def test_many_rows_are_chosen_among_some(monkeypatch):
    """Where there are too many rows to look at, a random part of them is; a tight tol takes more."""
    from kernelpca.estimators import anchor_search

    monkeypatch.setattr(anchor_search, "CANDIDATES", 100)
    X = DIGITS[:800]
    model = KernelPCA(5, kernel=KERNEL).fit(X)
    loose, tight = model.compress(tol=0.05, move=False), model.compress(tol=0.002, move=False)
    for small, tol in ((loose, 0.05), (tight, 0.002)):
        assert small.certificate_.compression.error <= tol
        assert relative_change(model, small, X, X) == pytest.approx(small.certificate_.compression.error, rel=1e-4)
    assert loose.certificate_.compression.anchors < 100 < tight.certificate_.compression.anchors
    assert model.compress(n_anchors=30).certificate_.compression.anchors == 30
