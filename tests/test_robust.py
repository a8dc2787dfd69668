"""Robust kernel PCA as an estimator: against the formulas, against ordinary kernel PCA, and against bad input."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import reference
from kernelpca import DualKernelPCA, KernelPCA, RobustKernelPCA
from kernelpca.features import Nystrom, RandomFourier
from kernelpca.gram import DenseGram, LowRankGram
from kernelpca.kernels import RBF, Linear, Sigmoid
from kernelpca.objectives import EpsilonInsensitive, Huber, Objective, Square
from kernelpca.preimage import FixedPoint, Ridge
from kernelpca.quantile import limit_between
from kernelpca.solvers import BlockKrylov, Dca, DualCertificate

IRIS = load_iris(return_X_y=True)[0]
TIGHT = 1e-9


def contaminated(seed=0, tau=50.0, share=0.08):
    """Iris with some rows multiplied by large random numbers, and which they are."""
    rng = np.random.default_rng(seed)
    X = IRIS.copy()
    rows = rng.choice(len(X), int(share * len(X)), replace=False)
    X[rows] *= rng.normal(0, tau, len(rows))[:, None]
    return X, np.isin(np.arange(len(X)), rows)


def same_span(A, B):
    """Whether scores span the same columns."""
    Qa, Qb = np.linalg.qr(A - A.mean(axis=0))[0], np.linalg.qr(B - B.mean(axis=0))[0]
    return np.linalg.norm(Qa - Qb @ (Qb.T @ Qa), 2)


# against the formulas


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("norm", ["2", "1", "fro"])
def test_projections_are_those_of_proposition_3_8(norm, center):
    X, _ = contaminated()
    X, new = X[:60], IRIS[60:70]
    kernel = RBF(0.5)
    model = RobustKernelPCA(3, kernel=kernel, kappa="0.5max", norm=norm, center=center, tol=TIGHT).fit(X)
    K, K_new = kernel(X), kernel(new, X)
    if center:
        mean, total = K.mean(axis=0), K.mean()
        K_new = K_new - mean - K_new.mean(axis=1)[:, None] + total
        K = K - mean - mean[:, None] + total
    twin = reference.dual_projections(K_new, K, model.dual_coef_)
    scores = model.transform(new)
    np.testing.assert_allclose(scores @ scores.T, twin @ twin.T, atol=1e-7)  # up to a rotation
    own = reference.dual_projections(K, K, model.dual_coef_)
    turn = np.linalg.lstsq(own, model.transform(X), rcond=None)[0]
    np.testing.assert_allclose(turn.T @ turn, np.eye(3), atol=1e-7)
    np.testing.assert_allclose(twin @ turn, scores, atol=1e-7)


@pytest.mark.parametrize("center", [True, False])
def test_directions_are_orthonormal_and_axes_principal(center):
    X, _ = contaminated()
    model = RobustKernelPCA(3, kernel=RBF(0.5), kappa="0.4max", center=center).fit(X)
    W = model.components_
    np.testing.assert_allclose(W @ RBF(0.5)(X) @ W.T, np.eye(3), atol=1e-8)
    Z = model.transform(X)
    np.testing.assert_allclose(Z.T @ Z, np.diag(model.eigenvalues_), atol=1e-8)
    np.testing.assert_allclose(model.explained_variance_, (Z**2).sum(axis=0) / (len(X) - 1))
    if center:
        np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-9)


@pytest.mark.parametrize("start", ["square", "random"])
@pytest.mark.parametrize("norm", ["2", "1"])
def test_a_limit_that_limits_nothing_is_ordinary_kernel_pca(start, norm):
    """Order and signs included, as KernelPCA has them."""
    X, _ = contaminated()
    classical = KernelPCA(3, kernel=RBF(0.5), tol=0).fit(X)
    model = RobustKernelPCA(3, kernel=RBF(0.5), kappa=1e6, norm=norm, solver=Dca(start, max_iter=5000), tol=1e-10).fit(
        X
    )
    np.testing.assert_allclose(model.eigenvalues_, classical.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(model.transform(X), classical.transform(X), atol=1e-6)
    np.testing.assert_array_equal(model.outlier_weights_, 1.0)


@pytest.mark.parametrize("norm", ["2", "1", "fro"])
def test_kappa_max_is_the_least_that_limits_nothing(norm):
    X, _ = contaminated()
    model = RobustKernelPCA(2, kernel=RBF(0.5), norm=norm).fit(X)
    assert model.kappa_ == pytest.approx(0.8 * model.kappa_max_)
    Z = KernelPCA(2, kernel=RBF(0.5), tol=0).fit_transform(X)
    sizes = {"2": np.linalg.norm(Z, axis=1), "1": np.abs(Z), "fro": np.linalg.norm(Z)}[norm]
    assert model.kappa_max_ == pytest.approx(np.max(sizes), rel=1e-6)
    just = RobustKernelPCA(2, kernel=RBF(0.5), kappa=1.0001 * model.kappa_max_, norm=norm, tol=1e-8).fit(X)
    np.testing.assert_allclose(just.transform(X), Z, atol=1e-5)
    np.testing.assert_array_equal(just.outlier_weights_, 1.0)


def test_the_frobenius_norm_leaves_directions_as_they_are():
    X, _ = contaminated()
    model = RobustKernelPCA(2, kernel=RBF(0.5), kappa="0.3max", norm="fro", tol=TIGHT).fit(X)
    np.testing.assert_allclose(model.transform(X), KernelPCA(2, kernel=RBF(0.5), tol=0).fit_transform(X), atol=1e-6)
    np.testing.assert_allclose(model.outlier_weights_, 0.3, rtol=1e-6)


def test_the_limit_holds_and_weights_say_by_how_much():
    X, _ = contaminated()
    model = RobustKernelPCA(2, kernel=RBF(0.5), kappa="0.5max", tol=TIGHT).fit(X)
    lengths = np.linalg.norm(model.dual_coef_, axis=1)
    assert lengths.max() <= model.kappa_
    scores = np.linalg.norm(model.transform(X), axis=1)
    np.testing.assert_allclose(model.outlier_weights_, np.minimum(model.kappa_ / scores, 1.0), rtol=1e-6)
    assert 0 < (model.outlier_weights_ < 1).sum() < len(X)


# what it is for


def test_a_gross_outlier_moves_the_directions_less():
    """Linear kernel, where an outlier has as much of a say as it is long."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 3)) * [3.0, 1.0, 0.3]
    bad = X.copy()
    bad[0] = [0.0, 0.0, 60.0]
    truth = KernelPCA(1, kernel="linear").fit(X).transform(X)
    square = KernelPCA(1, kernel="linear").fit(bad).transform(X)
    robust = RobustKernelPCA(1, kernel="linear", kappa="0.05max").fit(bad)
    assert same_span(square, truth) > 0.9
    assert same_span(robust.transform(X), truth) < 0.3
    assert robust.outlier_weights_.argmin() == 0


@pytest.mark.parametrize("seed", range(5))
def test_it_tells_outliers(seed):
    X, bad = contaminated(seed)
    model = RobustKernelPCA(2, kernel=RBF(0.1)).fit(X)
    far = np.abs(X).max(axis=1) > 20
    assert roc_auc_score(far, -model.score_samples(X)) > 0.95
    labels = model.predict(X)
    assert set(labels) <= {-1, 1}
    np.testing.assert_array_equal(labels == -1, model.decision_function(X) < 0)
    np.testing.assert_allclose(model.decision_function(X), model.score_samples(X) - model.offset_)
    assert (labels[far & bad] == -1).mean() > 0.9


def test_contamination_sets_the_number_of_outliers():
    X, _ = contaminated()
    for part in (0.02, 0.1, 0.5):
        labels = RobustKernelPCA(2, kernel="linear", contamination=part).fit_predict(X)
        assert (labels == -1).sum() == round(part * len(X))


def test_no_training_row_lies_at_the_limit():
    """Otherwise rounding decides whether it is an outlier: parts of which no number of rows is the whole."""
    X, _ = contaminated()
    for part in (0.017, 0.052, 0.249):
        model = RobustKernelPCA(2, kernel="linear", contamination=part).fit(X)
        distances = model.decision_function(X)
        assert np.abs(distances).min() > 1e-9 * np.abs(distances).max()
        assert (distances < 0).sum() == round(part * len(X))


@given(
    st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0, 7.0]), min_size=2, max_size=12),
    st.floats(0.05, 0.95),
    st.integers(1, 3),
)
def test_a_limit_lies_between_values_and_weights_are_counts(values, part, times):
    values = np.array(values)
    limit = limit_between(values, part)
    if np.ptp(values):
        assert not (values == limit).any()
        off = abs((values < limit).mean() - part)
        others = [other for other in (0.25, 0.75, 1.5, 2.5, 5.0) if values.min() < other < values.max()]
        assert all(off <= abs((values < other).mean() - part) + 1e-12 for other in others)
    assert limit_between(values, part, np.full(len(values), float(times))) == limit
    assert limit_between(np.repeat(values, times), part) == limit


# everything that KernelPCA has


@pytest.mark.parametrize("approximation", [None, Nystrom(60), RandomFourier(200)], ids=repr)
def test_fit_transform_equals_transform(approximation):
    X, _ = contaminated()
    model = RobustKernelPCA(3, kernel=RBF(0.5), approximation=approximation, kappa="0.5max")
    Z = model.fit_transform(X)
    np.testing.assert_allclose(Z, model.transform(X), atol=1e-8)
    assert 0 < model.explained_variance_ratio_.sum() < 1
    residuals = model.residuals(X)
    np.testing.assert_allclose(model.score_samples(X), -residuals)
    total = residuals.sum() + model.eigenvalues_.sum()
    assert total == pytest.approx(model.total_variance_ * (len(X) - 1), rel=1e-6)
    assert isinstance(model.certificate_, DualCertificate)
    assert "Dca goes on to Huber" in str(model.plan_)


@pytest.mark.parametrize("preimage", [None, FixedPoint(), Ridge(1.0)], ids=repr)
def test_the_way_back(preimage):
    X, _ = contaminated()
    model = RobustKernelPCA(5, kernel=RBF(0.1), preimage=preimage).fit(X)
    clean = IRIS[:20]
    back = model.inverse_transform(model.transform(clean))
    assert back.shape == clean.shape
    assert np.mean((back - clean) ** 2) < 0.5 * np.mean((X.mean(axis=0) - clean) ** 2)
    assert model.denoise(clean).shape == clean.shape
    assert len(model.invert(model.transform(clean)).distance) == 20


def test_nystrom_with_all_rows_as_landmarks_is_exact():
    X, _ = contaminated()
    X = X[:80]
    exact = RobustKernelPCA(3, kernel=RBF(0.5), kappa="0.5max", tol=1e-8).fit(X)
    nystrom = RobustKernelPCA(3, kernel=RBF(0.5), kappa="0.5max", tol=1e-8, approximation=Nystrom(80)).fit(X)
    np.testing.assert_allclose(nystrom.eigenvalues_, exact.eigenvalues_, rtol=1e-4)
    assert same_span(nystrom.transform(X), exact.transform(X)) < 1e-3
    assert nystrom.kappa_ == pytest.approx(exact.kappa_, rel=1e-4)
    assert "reproduce kernel values" in str(nystrom.certificate_)


def test_random_features_are_kernel_pca_of_their_own_kernel():
    X, _ = contaminated()
    model = RobustKernelPCA(2, kernel=RBF(0.5), kappa="0.5max", tol=1e-8, approximation=RandomFourier(50)).fit(X)
    F = model._decomposition.features.map(X)
    same = RobustKernelPCA(2, kernel="precomputed", kappa="0.5max", tol=1e-8).fit(LowRankGram(F))
    np.testing.assert_allclose(model.eigenvalues_, same.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(model.outlier_weights_, same.outlier_weights_, atol=1e-5)


def test_many_rows_in_float32_and_tiles():
    """Enough rows for tiles, float32 and block Krylov; the answer is that of a dense fit."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4500, 3)) * [3.0, 1.5, 0.5]
    X[:40] *= 10
    model = RobustKernelPCA(2, kernel=RBF(0.05), kappa="0.5max", solver=Dca(bound=False)).fit(X)
    K = RBF(0.05)(X)
    given = RobustKernelPCA(2, kernel="precomputed", kappa="0.5max", solver=Dca(bound=False)).fit(K)
    np.testing.assert_allclose(model.eigenvalues_, given.eigenvalues_, rtol=1e-3)
    assert same_span(model.transform(X), given.transform(K)) < 1e-2


def test_sample_weights_count_like_repetitions():
    X, _ = contaminated()
    X = X[:70]
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 4, len(X))
    repeated = np.repeat(X, counts, axis=0)
    settings = {"kernel": RBF(0.5), "kappa": 0.3, "tol": 1e-9}
    weighted = RobustKernelPCA(2, **settings).fit(X, sample_weight=counts)
    whole = RobustKernelPCA(2, **settings).fit(repeated)
    np.testing.assert_allclose(weighted.transform(X), whole.transform(X), atol=1e-6)
    np.testing.assert_allclose(weighted.explained_variance_ratio_, whole.explained_variance_ratio_, rtol=1e-6)
    assert np.isnan(weighted.outlier_weights_[counts == 0]).all()
    np.testing.assert_allclose(np.repeat(weighted.outlier_weights_, counts), whole.outlier_weights_, atol=1e-6)
    assert weighted.offset_ == pytest.approx(whole.offset_, abs=1e-6)
    np.testing.assert_allclose(np.repeat(weighted.dual_coef_, counts, axis=0), whole.dual_coef_, atol=1e-5)
    fro = RobustKernelPCA(2, kernel=RBF(0.5), norm="fro", kappa="0.5max", tol=1e-9)
    np.testing.assert_allclose(fro.fit(X, sample_weight=counts).outlier_weights_[counts > 0], 0.5, rtol=1e-6)


def test_precomputed_matrices_and_operators():
    X, _ = contaminated()
    K = RBF(0.5)(X)
    rows = RobustKernelPCA(2, kernel=RBF(0.5), tol=1e-8).fit(X)
    given = RobustKernelPCA(2, kernel="precomputed", tol=1e-8).fit(K)
    np.testing.assert_allclose(given.transform(K), rows.transform(X), atol=1e-6)
    np.testing.assert_allclose(given.outlier_weights_, rows.outlier_weights_, atol=1e-6)
    with pytest.raises(AttributeError, match="predict"):
        given.predict(K)


def test_pickled_cloned_and_tuned():
    X, _ = contaminated()
    model = RobustKernelPCA(2, kernel=RBF(0.5), kappa="0.5max").fit(X)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    assert clone(model).get_params()["kappa"] == "0.5max"
    pipeline = make_pipeline(StandardScaler(), RobustKernelPCA(2))
    search = GridSearchCV(
        pipeline, {"robustkernelpca__kappa": ["0.5max", "0.9max"], "robustkernelpca__kernel": [RBF(0.2)]}
    )
    assert search.fit(X).best_params_["robustkernelpca__kappa"] in ("0.5max", "0.9max")


def test_a_path_equals_single_fits():
    X, _ = contaminated()
    base = RobustKernelPCA(2, kernel=RBF(0.5), tol=1e-8, preimage=Ridge(1.0))
    path = base.kappa_path(X, ["1max", "0.8max", "0.5max", 0.2])
    assert [model.kappa for model in path] == ["1max", "0.8max", "0.5max", 0.2]
    for model in path:
        single = clone(model).fit(X)
        assert model.certificate_.loss == pytest.approx(single.certificate_.loss, rel=1e-7)
        np.testing.assert_allclose(model.transform(X), single.transform(X), atol=1e-4)
        assert model.n_features_in_ == 4
        assert model.inverse_transform(model.transform(X[:3])).shape == (3, 4)
    weights = np.array([model.outlier_weights_.min() for model in path])
    assert (np.diff(weights) < 0).all()
    assert len(base.kappa_path(X, 3)) == 3
    assert not hasattr(base, "kappa_")  # the estimator itself is not fitted


def test_any_objective_and_its_path():
    X, _ = contaminated()
    huber = DualKernelPCA(2, kernel=RBF(0.5), objective=Huber("0.5max"), tol=1e-8).fit(X)
    robust = RobustKernelPCA(2, kernel=RBF(0.5), kappa="0.5max", tol=1e-8).fit(X)
    np.testing.assert_allclose(huber.transform(X), robust.transform(X))
    assert huber.objective_ == robust.objective_
    square = DualKernelPCA(2, kernel=RBF(0.5), objective=Square()).fit(X)
    np.testing.assert_allclose(square.transform(X), KernelPCA(2, kernel=RBF(0.5)).fit(X).transform(X))
    models = DualKernelPCA(2, kernel=RBF(0.5)).path(X, [Huber("0.9max"), EpsilonInsensitive("0.1max"), Square()])
    assert [type(model.objective_) for model in models] == [Huber, EpsilonInsensitive, Square]

    class Half(Objective):
        def value(self, Y):
            return 0.5 * float(np.vdot(Y, Y))

        def conjugate(self, H):
            return 0.5 * float(np.vdot(H, H))

        def prox_conjugate(self, Y):
            return Y / 2

    own = DualKernelPCA(2, kernel=RBF(0.5), objective=Half(), tol=1e-9).fit(X)
    np.testing.assert_allclose(own.transform(X), KernelPCA(2, kernel=RBF(0.5), tol=0).fit(X).transform(X), atol=1e-6)
    with pytest.raises(TypeError, match=r"give an object of kernelpca\.objectives"):
        DualKernelPCA(2, objective="huber").fit(X)
    with pytest.raises(ValueError, match="Leave sample_weight out"):
        DualKernelPCA(2, objective=Half()).fit(X, sample_weight=np.ones(len(X)))


def test_the_plan_is_told_beforehand():
    X, _ = contaminated()
    plan = RobustKernelPCA(2).explain_plan(X)
    assert "Dca goes on to Huber(kappa='0.8max', norm='2')" in str(plan)
    with pytest.raises(MemoryError, match=r"Huber\(kappa='0.8max', norm='2'\) need about"):
        RobustKernelPCA(60, memory_limit="4MB", kernel=RBF(0.5)).fit(np.vstack([X] * 2))


def test_rules_for_the_number_of_components():
    X, _ = contaminated()
    model = RobustKernelPCA(0.8, kernel=RBF(0.5)).fit(X)
    assert model.n_components_ == KernelPCA(0.8, kernel=RBF(0.5)).fit(X).n_components_


def test_a_callback_is_told_and_may_stop():
    X, _ = contaminated()
    events = []
    RobustKernelPCA(3, kernel=RBF(0.5), kappa="0.4max", norm="1", callback=events.append).fit(X)
    assert len(events) > 3
    assert all(event.wanted == 3 for event in events)
    for when in (1, len(events) - 2):  # in the square solution, and in the dual
        told = []

        def stop(event, told=told, when=when):
            told.append(event)
            return len(told) == when

        with pytest.warns(ConvergenceWarning, match="The callback asked it to stop"):
            model = RobustKernelPCA(3, kernel=RBF(0.5), kappa="0.4max", norm="1", callback=stop).fit(X)
        assert len(told) == when
        assert np.abs(model.dual_coef_).max() <= model.kappa_  # the limit holds even so
        assert np.isfinite(model.certificate_.loss)
        assert not model.certificate_.satisfied


def test_attributes_of_an_earlier_fit_do_not_stay():
    model = DualKernelPCA(2, objective=Huber()).fit(IRIS)
    assert not hasattr(model.set_params(objective=None).fit(IRIS), "dual_coef_")
    robust = RobustKernelPCA(2).fit(IRIS)
    assert not hasattr(robust.set_params(kernel="precomputed").fit(RBF(0.5)(IRIS)), "offset_")


def test_rounding_is_no_outlier():
    """Four components of four columns leave nothing but rounding."""
    assert (RobustKernelPCA(4, kernel="linear").fit_predict(IRIS) == 1).all()


def test_many_components_at_the_edge_of_rounding():
    X = np.random.default_rng(0).standard_normal((150, 6)) * [1e3, 100, 10, 1, 0.1, 0.01]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = RobustKernelPCA(100, kappa="0.2max", norm="1", solver=Dca(max_iter=100)).fit(X)
    assert np.isfinite(model.transform(X)).all()


def test_the_papers_rule_is_not_met_by_running_out_of_steps():
    solver = Dca(stop="loss", max_iter=2, accelerate=False, bound=False)
    with pytest.warns(ConvergenceWarning, match="Raise max_iter, or tol.$"):
        model = RobustKernelPCA(3, kappa="0.3max", solver=solver).fit(IRIS)
    assert not model.certificate_.satisfied
    assert "and the loss still changes" in str(model.certificate_)
    done = RobustKernelPCA(3, kappa="0.3max", solver=Dca(stop="loss")).fit(IRIS)
    assert "and the loss no longer changes" in str(done.certificate_)


def test_a_failed_fit_leaves_the_model_as_it_was():
    X, _ = contaminated()
    model = RobustKernelPCA(2).fit(X)
    before = model.transform(X)
    with pytest.raises(ValueError, match="kappa must be positive"):
        model.set_params(kappa=-1.0).fit(X[:, :2])
    np.testing.assert_array_equal(model.transform(X), before)


# bad input


@pytest.mark.parametrize("kappa", [0, -0.5, "-0.5max", "large"])
def test_a_kappa_that_is_not_positive(kappa):
    with pytest.raises(ValueError, match=r"kappa must be positive: a number, or a fraction of the largest useful one"):
        RobustKernelPCA(2, kappa=kappa).fit(IRIS)


def test_an_unknown_norm():
    with pytest.raises(ValueError, match=r"choose one of '2' \(the length of each row is limited\)"):
        RobustKernelPCA(2, norm="inf").fit(IRIS)


def test_more_components_than_the_rank():
    with pytest.raises(
        ValueError, match=r"n_components=5 is above the rank of the kernel matrix, which is 4.*at most 4 comp"
    ):
        RobustKernelPCA(5, kernel="linear").fit(IRIS)
    with pytest.raises(ValueError, match=r"n_components=5 is above the rank"):
        RobustKernelPCA(5, kernel="linear", approximation=Nystrom(50)).fit(IRIS)
    with pytest.raises(ValueError, match="All samples are the same point"):
        RobustKernelPCA(1).fit(np.ones((10, 2)))


def test_an_indefinite_kernel():
    X = np.random.default_rng(0).standard_normal((200, 3))
    with pytest.raises(
        ValueError, match=r"The kernel matrix is indefinite: it has an eigenvalue of -.*positive semi-definite"
    ):
        RobustKernelPCA(2, kernel=Sigmoid(gamma=2.0, coef0=-1.0)).fit(X)
    K = Linear()(X)
    K[0, 0] -= 50.0
    with pytest.raises(ValueError, match="The kernel matrix is indefinite"):
        RobustKernelPCA(2, kernel="precomputed").fit(K)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = RobustKernelPCA(2, kernel="precomputed", solver=Dca(real_parts=True)).fit(K)
    assert np.isfinite(model.transform(K)).all()
    with pytest.raises(ValueError, match="indefinite"):
        RobustKernelPCA(2, kernel=Sigmoid(gamma=2.0, coef0=-1.0), approximation=Nystrom(50)).fit(X)


def test_all_rows_outliers():
    with pytest.warns(UserWarning, match=r"takes all 150 rows for outliers: .* Raise it; it limits nothing from"):
        model = RobustKernelPCA(2, kernel=RBF(0.5), kappa=1e-3).fit(IRIS)
    assert np.isfinite(model.transform(IRIS)).all()


def test_other_bad_parameters():
    with pytest.raises(ValueError, match=r"contamination=0.7: give the part of the training rows that are outliers"):
        RobustKernelPCA(2, contamination=0.7).fit(IRIS)
    with pytest.raises(ValueError, match="contamination='many'"):
        RobustKernelPCA(2, contamination="many").fit(IRIS)
    with pytest.raises(ValueError, match=r"BlockKrylov is not compatible with Huber"):
        RobustKernelPCA(2, solver=BlockKrylov()).fit(IRIS)
    with pytest.raises(ValueError, match="stands for no solver"):
        RobustKernelPCA(2, solver="magic").fit(IRIS)
    for kappas in (0, 0.5, None, "0.5max"):
        with pytest.raises(ValueError, match=r"kappas=.*: give how many values, at least 1, or a list"):
            RobustKernelPCA(2).kappa_path(IRIS, kappas)
    with pytest.raises(ValueError, match=r"objective__kappa cannot be set: objective is None"):
        DualKernelPCA().set_params(objective__kappa=1.0)
    with pytest.raises(ValueError, match=r"solver__max_iter cannot be set: solver is 'auto'"):
        RobustKernelPCA().set_params(solver__max_iter=10)
    with pytest.raises(
        ValueError, match=r"A start for 2 components of 150 rows is an array of \(150, 2\) finite numbers"
    ):
        Dca().solve(DenseGram(RBF(0.5)(IRIS)), 2, objective=Huber(1.0), start=np.full((150, 2), np.nan))
    with pytest.raises(ValueError, match="kappa must be positive"):
        RobustKernelPCA(2).kappa_path(IRIS, [1.0, -1.0])


def test_texts():
    """A kernel of strings: everything but the way back."""
    words = ["kernel", "kernels", "colonel", "principal", "principle", "component", "components", "analysis"]
    model = RobustKernelPCA(2, kernel="spectrum", kappa="0.5max").fit(words)
    assert model.transform(["kernal"]).shape == (1, 2)
    assert model.predict(words).shape == (8,)
    with pytest.raises(ValueError, match="no way back"):
        model.inverse_transform(np.zeros((1, 2)))


@pytest.mark.slow
def test_digits_with_outliers():
    """Noise images among digits: they are found, and the way back works."""
    X = load_digits(return_X_y=True)[0][:600] / 16
    rng = np.random.default_rng(0)
    X[:30] = rng.uniform(0, 1, (30, 64))
    model = RobustKernelPCA(15, kernel=RBF(0.05), contamination=0.05).fit(X)
    found = np.flatnonzero(model.predict(X) == -1)
    assert np.mean(np.isin(np.arange(30), found)) > 0.9
