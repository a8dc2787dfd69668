"""Pre-images as combinations of samples, against the digest's formulas point by point, scipy, and what must hold."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import lsq_linear, nnls
from scipy.optimize import minimize as scipy_minimize
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

import reference
from contracts.preimage import PreimageContract
from kernelpca import KernelPCA
from kernelpca.features import Nystrom, RandomFourier
from kernelpca.kernels import (
    RBF,
    Cauchy,
    ChiSquare,
    Cosine,
    HistogramIntersection,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Sigmoid,
)
from kernelpca.preimage.protocol import Target
from kernelpca.preimage.weight_rules import FALLING, Counted, FromMean, Shares
from kernelpca.preimage.weights import Weights, _discrepancy, _log_discrepancy

DIGITS = load_digits(return_X_y=True)[0] / 16
METHODS = {
    "inverse": (Weights("inverse"), {"kernel": RBF(0.05)}),
    "inverse square of few": (Weights("inverse_square", n_neighbors=10), {"kernel": HistogramIntersection()}),
    "exponential of landmarks": (Weights("exponential"), {"kernel": RBF(0.05), "approximation": Nystrom(60)}),
    "discrepancy": (Weights(n_neighbors=12), {"kernel": RBF(0.05)}),
    "discrepancy of landmarks": (Weights(n_neighbors=8), {"kernel": RBF(0.05), "approximation": Nystrom(60)}),
    "discrepancy by a threshold": (Weights(threshold=0.3), {"kernel": Cauchy(0.05), "center": False}),
    "discrepancy of a polynomial": (Weights(n_neighbors=8), {"kernel": Polynomial(2, 0.05, 1.0)}),
    "discrepancy of any sum": (Weights(n_neighbors=12, sum_to_one=False), {"kernel": RBF(0.05)}),
    "logarithms": (Weights("log_discrepancy", n_neighbors=8, tol=1e-10), {"kernel": RBF(0.05), "center": False}),
    "logarithms of landmarks": (
        Weights("log_discrepancy", n_neighbors=8, tol=1e-10),
        {"kernel": RBF(0.05), "center": False, "approximation": Nystrom(60)},
    ),
}
DIFFERENTIABLE = [RBF(0.05), Matern(2.5, 0.05), Polynomial(3, 0.05, 1.0), Linear(), Cosine(), ChiSquare()]
DIFFERENTIABLE += [RBF(0.05) + Linear(), Sigmoid(0.02, 0.0)]


@pytest.fixture(params=METHODS, scope="module")
def case(request):
    return METHODS[request.param]


@pytest.fixture(scope="module")
def method(case):
    return case[0]


@pytest.fixture(scope="module")
def X():
    return DIGITS[:150]


@pytest.fixture(scope="module")
def new():
    return DIGITS[300:312]


@pytest.fixture(scope="module")
def model(case, X):
    return KernelPCA(10, preimage=case[0], **case[1]).fit(X)


class TestWeights(PreimageContract):
    pass


def space_of(model):
    return model._inverse.space


def cloud(n=25, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d)) + 2.0


def directions_of(K, model, X, center):
    """(n, k): unit directions as combinations of mapped samples, from a matrix, with the model's signs."""
    K = reference.center(K) if center else K
    k = model.n_components_
    values, V = np.linalg.eigh(K)
    directions = V[:, ::-1][:, :k] / np.sqrt(values[::-1][:k])
    return directions * np.sign((K @ directions * model.transform(X)).sum(axis=0))


# weights that fall with the distance


@pytest.mark.parametrize("rule", FALLING)
@pytest.mark.parametrize("scaling", ["scores", "digest"])
@pytest.mark.parametrize("settings_of", [{}, {"n_neighbors": 7}, {"threshold": 0.6}, {"threshold": 1e-9}], ids=str)
def test_points_are_those_of_the_formulas(rule, scaling, settings_of):
    X, kernel = cloud(), RBF(0.2)
    model = KernelPCA(
        4, kernel=kernel, preimage=Weights(rule, **{"n_neighbors": None} | settings_of, scaling=scaling)
    ).fit(X)
    Z, S = model.transform(cloud(6, seed=1)), model.transform(X)
    factors = np.sqrt(model.eigenvalues_) if scaling == "digest" else np.ones(4)
    sizes = set()
    for z, x in zip(Z, model.inverse_transform(Z), strict=True):
        distances = np.array([np.sqrt(reference.squared_distance(z * factors, s * factors)) for s in S])
        order = np.argsort(distances)
        count = settings_of.get("n_neighbors", len(X))
        if "threshold" in settings_of:
            count = max(int((distances < settings_of["threshold"]).sum()), 1)
        sizes.add(count)
        near = order[:count]
        w = reference.falling_weights(z * factors, S[near] * factors, rule)
        np.testing.assert_allclose(x, w @ X[near], rtol=1e-9, atol=1e-10)
    if settings_of == {"threshold": 0.6} and scaling == "scores":
        assert len(sizes) > 2  # rows that are filled up, and rows that are not


@settings(deadline=None, max_examples=80, derandomize=True)
@given(
    arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 9)), elements=st.floats(0, 1e300)),
    st.sampled_from(FALLING),
    st.one_of(st.none(), st.integers(1, 12)),
    st.one_of(st.none(), st.floats(1e-12, 1e12)),
)
def test_weights_are_shares(squares, rule, n_neighbors, threshold):
    counted = Counted.among(squares, n_neighbors, threshold)
    n, m = squares.shape
    w = counted.spread(counted.weigh(rule), np.arange(n), m)
    assert w.shape == (n, m)
    assert (w >= 0).all()
    np.testing.assert_allclose(w.sum(axis=1), 1)
    order = np.array([np.lexsort((-shares, row)) for shares, row in zip(w, squares, strict=True)])
    assert (np.diff(np.take_along_axis(w, order, axis=1), axis=1) <= 1e-12).all()
    if threshold is not None:
        outside = (squares >= threshold**2) & (squares > squares.min(axis=1, keepdims=True))
        assert (w[outside] == 0).all()
    elif n_neighbors is not None:
        assert ((w > 0).sum(axis=1) <= n_neighbors).all()


@pytest.mark.parametrize("rule", FALLING)
def test_samples_at_distance_zero_share_all_the_weight(rule):
    w = Counted(np.array([[0.0, 4.0, 0.0, 1e-300], [1.0, 0.0, 2.0, 3.0]])).weigh(rule)
    np.testing.assert_array_equal(w, [[0.5, 0.0, 0.5, 0.0], [0.0, 1.0, 0.0, 0.0]])


@pytest.mark.parametrize("rule", [*FALLING, "discrepancy"])
@pytest.mark.parametrize("kernel", [RBF(0.05), Polynomial(2, 0.05)], ids=repr)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_samples_come_back(rule, kernel, dtype):
    X = DIGITS[:100].astype(dtype)
    model = KernelPCA(20, kernel=kernel, preimage=Weights(rule)).fit(X)
    found = model.inverse_transform(model.transform(X))
    np.testing.assert_allclose(found, X, atol=1e-13 if dtype == np.float64 else 1e-5)


# the discrepancy of scores


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("scaling", ["scores", "digest"])
def test_discrepancies_are_those_of_the_formula(center, scaling):
    X, kernel = cloud(12), RBF(0.2)
    model = KernelPCA(3, kernel=kernel, center=center, solver="dense").fit(X)
    rng = np.random.default_rng(0)
    Z, w = model.transform(cloud(4, seed=1)), rng.uniform(0, 0.4, (4, 12))
    K = kernel(X)
    factors = model.eigenvalues_ if scaling == "digest" else np.ones(3)
    directions = directions_of(K, model, X, center)
    points = np.array([reference.combination_about_mean(row, X) for row in w])
    space = space_of(model)
    values, _ = _discrepancy(Target(space, Z), factors).objective(space.local(points), np.arange(4))

    def k(x, y):
        return reference.rbf(x, y, 0.2)

    expected = [reference.discrepancy(w[i], Z[i], X, k, directions, K, center, factors) for i in range(4)]
    np.testing.assert_allclose(values, expected, rtol=1e-8)


@pytest.mark.parametrize("kernel", DIFFERENTIABLE, ids=repr)
@pytest.mark.parametrize("center", [True, False])
def test_gradients_of_discrepancies(kernel, center):
    X, new = DIGITS[:60], DIGITS[200:203] + 0.05
    model = KernelPCA(5, kernel=kernel, center=center, approximation=Nystrom(30)).fit(X)
    space = space_of(model)
    problem = _discrepancy(Target(space, model.transform(DIGITS[100:103])), np.array([1.0, 2.0, 0.5, 3.0, 0.1]))
    check_gradients(problem.objective, space.local(new))


def test_gradients_of_logarithms():
    X, new = DIGITS[:60], DIGITS[200:203] + 0.05
    model = KernelPCA(5, kernel=RBF(0.05), center=False).fit(X)
    space = space_of(model)
    check_gradients(_log_discrepancy(Target(space, model.transform(DIGITS[100:103]))).objective, space.local(new))


def check_gradients(objective, X, step=1e-5):
    """Slopes along random directions against central differences."""
    rows, rng = np.arange(len(X)), np.random.default_rng(0)
    gradients = objective(X, rows)[1]
    for _ in range(6):
        along = rng.standard_normal(X.shape)
        ahead, behind = objective(X + step * along, rows)[0], objective(X - step * along, rows)[0]
        slopes = np.einsum("ij,ij->i", gradients, along)
        np.testing.assert_allclose(slopes, (ahead - behind) / (2 * step), rtol=1e-4, atol=1e-8)


@pytest.mark.parametrize("settings_of", [{}, {"center": False}, {"approximation": Nystrom(60)}], ids=str)
@pytest.mark.parametrize("scaling", ["scores", "digest"])
@pytest.mark.parametrize("limit", ["n_neighbors", "threshold"])
def test_scipy_finds_nothing_lower(settings_of, scaling, limit):
    """From where the search ended it gets no lower; from the same start it may end lower, in another valley."""
    X, new = DIGITS[:100], DIGITS[200:208]
    limits = {"n_neighbors": 6} if limit == "n_neighbors" else {"threshold": 0.4 if scaling == "scores" else 0.5}
    method = Weights(scaling=scaling, sum_to_one=False, tol=1e-9, max_iter=2000, **limits)
    model = KernelPCA(15, kernel=RBF(0.03), preimage=method, **settings_of).fit(X)
    space = space_of(model)
    Z, samples = model.transform(new), space.samples + space.origin
    factors = np.abs(model.eigenvalues_) if scaling == "digest" else np.ones(15)
    mean, S = samples.mean(axis=0), model.transform(samples)
    spread, lower = (model.transform(X) ** 2 @ factors).mean(), []
    for z, point in zip(Z, model.inverse_transform(Z), strict=True):
        distances = np.sqrt(np.square(z - S) @ factors)
        count = 6 if limit == "n_neighbors" else max(1, int((distances < limits["threshold"]).sum()))
        near = np.argsort(distances)[:count]

        def value(x, z=z):
            return float(np.square(z - model.transform(x[None])[0]) @ factors)

        weights, start = weights_of(point, samples[near], mean), 1 / distances[near] ** 2
        from_here, from_start = (peer(value, w, samples[near], mean) for w in (weights, start / start.sum()))
        assert value(point) <= from_here * (1 + 1e-3) + 1e-6 * spread
        lower.append(from_start * (1 + 1e-3) + 1e-6 * spread < value(point))
    assert sum(lower) <= 1


def weights_of(point, samples, mean):
    """Nonnegative weights of differences from the mean that make a point of it."""
    weights, off = nnls((samples - mean).T, point - mean)
    assert off < 1e-6
    return weights


def peer(value, weights, samples, mean):
    """The least value that scipy finds from these weights."""
    return scipy_minimize(
        lambda w: value(mean + w @ (samples - mean)),
        weights,
        method="L-BFGS-B",
        bounds=[(0, None)] * len(weights),
        options={"ftol": 1e-13, "gtol": 1e-9},
    ).fun


def test_with_all_samples_scores_are_met():
    X, new = DIGITS[:200], DIGITS[300:320]
    model = KernelPCA(15, kernel=RBF(0.03), preimage=Weights(n_neighbors=None, sum_to_one=False)).fit(X)
    found = model.invert(model.transform(new))
    assert found.converged.all()
    assert (found.iterations > 0).all()
    assert found.reliability.min() > 1 - 1e-6
    plain = KernelPCA(15, kernel=RBF(0.03), preimage=Weights("inverse_square", None)).fit(X).denoise(new)
    assert np.square(found.points - new).mean() < 0.5 * np.square(plain - new).mean()


@pytest.mark.parametrize("blend", [Shares, FromMean])
def test_slopes_in_the_weights(blend):
    rng = np.random.default_rng(0)
    blend = blend(rng.standard_normal((7, 3)))
    weights, c, h = rng.uniform(0, 1, (4, 7)), rng.standard_normal((4, 3)), 1e-6
    slopes = blend.slopes(c, blend.combine(weights), weights)
    for j in range(7):
        step = h * np.eye(7)[j]
        change = (blend.combine(weights + step) - blend.combine(weights - step)) / (2 * h)
        np.testing.assert_allclose(slopes[:, j], (c * change).sum(axis=1), atol=1e-8)


def test_shares_are_as_good_as_those_of_scipy():
    """Weights that sum to one: the least discrepancy in the convex hull of the neighbors."""
    X, new = DIGITS[:100], DIGITS[200:208]
    model = KernelPCA(15, kernel=RBF(0.03), preimage=Weights(n_neighbors=6, tol=1e-9, max_iter=2000)).fit(X)
    Z, S = model.transform(new), model.transform(X)
    for z, point in zip(Z, model.inverse_transform(Z), strict=True):
        near = X[np.argsort(np.square(z - S).sum(axis=1))[:6]]

        def value(w, z=z, near=near):
            return float(np.square(z - model.transform((w @ near)[None])[0]).sum())

        A, b = np.vstack([near.T, 100 * np.ones(6)]), np.append(point, 100.0)
        weights = lsq_linear(A, b, bounds=(0, np.inf), method="bvls", tol=1e-14).x
        np.testing.assert_allclose(weights @ near, point, atol=1e-6)
        np.testing.assert_allclose(weights.sum(), 1, atol=1e-6)
        sums = {"type": "eq", "fun": lambda w: w.sum() - 1}
        peer = scipy_minimize(value, weights, method="SLSQP", bounds=[(0, 1)] * 6, constraints=sums)
        assert value(weights) <= peer.fun * (1 + 1e-3) + 1e-6


def test_what_was_stopped_is_not_converged():
    model = KernelPCA(15, kernel=RBF(0.03), preimage=Weights(max_iter=3, sum_to_one=False)).fit(DIGITS[:100])
    with pytest.warns(ConvergenceWarning, match="10 of 10 answers .* raise it, as in Weights"):
        found = model.invert(model.transform(DIGITS[200:210]))
    assert not found.converged.any()
    assert (found.iterations == 3).all()


@pytest.mark.filterwarnings("ignore:.*had not converged")
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("scaling", ["scores", "digest"])
def test_nothing_runs_away(center, scaling):
    X, new = DIGITS[:150], DIGITS[300:400]
    model = KernelPCA(
        10, kernel=RBF(0.3), center=center, preimage=Weights(n_neighbors=10, scaling=scaling, sum_to_one=False)
    ).fit(X)
    found = model.invert(model.transform(new))
    farthest = np.linalg.norm(X - X.mean(axis=0), axis=1).max()
    assert np.linalg.norm(found.points - X.mean(axis=0), axis=1).max() < 2 * farthest
    nowhere = model.invert(model.transform(np.full((1, 64), 1e6)))  # scores of points far from all samples
    assert not nowhere.converged.any()
    np.testing.assert_array_equal(np.square(nowhere.points - X).sum(axis=1).min(), 0)


def test_a_threshold_that_leaves_one_sample_leaves_a_ray():
    X, new = DIGITS[:100], DIGITS[200:205]
    model = KernelPCA(10, kernel=RBF(0.03), preimage=Weights(threshold=1e-6, sum_to_one=False)).fit(X)
    Z, mean = model.transform(new), X.mean(axis=0)
    nearest = X[np.square(Z[:, None] - model.transform(X)[None]).sum(axis=2).argmin(axis=1)]
    for point, sample in zip(model.inverse_transform(Z), nearest, strict=True):
        share = (point - mean) @ (sample - mean) / np.square(sample - mean).sum()
        assert share >= 0
        np.testing.assert_allclose(point, mean + share * (sample - mean), atol=1e-10)


def test_a_threshold_and_a_number_of_neighbors_are_two_ways_to_say_the_same():
    X, new = DIGITS[:100], DIGITS[200:201]
    few = KernelPCA(10, kernel=RBF(0.03), preimage=Weights(n_neighbors=5)).fit(X)
    z = few.transform(new)
    distances = np.sort(np.sqrt(np.square(z - few.transform(X)).sum(axis=1)))
    near = KernelPCA(10, kernel=RBF(0.03), preimage=Weights(threshold=distances[4:6].mean())).fit(X)
    others = near.transform(DIGITS[210:214])  # with more samples each, so that rows are filled up
    together = near.inverse_transform(np.vstack([z, others]))[:1]
    np.testing.assert_allclose(together, few.inverse_transform(z), atol=1e-6)


def test_bounds_are_kept_on_the_way():
    X, new, bounds = DIGITS[:100], DIGITS[200:206], (0.2, 0.8)
    model = KernelPCA(15, kernel=RBF(0.03), preimage=Weights(n_neighbors=8, bounds=bounds, sum_to_one=False)).fit(X)
    Z, S, mean = model.transform(new), model.transform(X), X.mean(axis=0)
    found = model.inverse_transform(Z)
    assert found.min() == pytest.approx(0.2)
    assert found.max() == pytest.approx(0.8)
    ours, peers = [], []
    for z, point in zip(Z, found, strict=True):

        def value(x, z=z):
            return float(np.square(z - model.transform(np.clip(x, *bounds)[None])[0]).sum())

        squares = np.square(z - S).sum(axis=1)
        near = np.argsort(squares)[:8]
        ours.append(value(point))
        peers.append(peer(value, 1 / squares[near] / (1 / squares[near]).sum(), X[near], mean))
    assert np.median(np.divide(ours, peers)) < 1.002  # one of them ends in another valley


def test_kernels_of_histograms_have_nonnegative_answers():
    X, new = DIGITS[:100], DIGITS[200:210]
    model, start = (
        KernelPCA(15, kernel=ChiSquare(), preimage=Weights(rule, n_neighbors=20)).fit(X)
        for rule in ("discrepancy", "inverse_square")
    )
    Z = model.transform(new)
    found = model.invert(Z)
    assert found.points.min() == 0  # clipped there, which the search has to see
    assert found.converged.mean() > 0.8
    assert (found.reliability > start.invert(Z).reliability).all()


# the discrepancy of logarithms


def test_logarithms_are_those_of_the_formula():
    X, kernel = cloud(12), RBF(0.2)
    model = KernelPCA(4, kernel=kernel, center=False, solver="dense").fit(X)
    Z, w = model.transform(cloud(4, seed=1)), np.random.default_rng(0).uniform(0, 0.3, (4, 12))
    K, space = kernel(X), space_of(model)
    directions = directions_of(K, model, X, False)
    V = directions * np.sqrt(model.eigenvalues_)  # the digest's: unit eigenvectors
    points = np.array([reference.combination_about_mean(row, X) for row in w])
    values, _ = _log_discrepancy(Target(space, Z)).objective(space.local(points), np.arange(4))
    reconstructed = [V @ (np.sqrt(model.eigenvalues_) * z) for z in Z]
    expected = [reference.log_discrepancy(w[i], reconstructed[i], X, 0.2) for i in range(4)]
    np.testing.assert_allclose(values, expected, rtol=1e-8)


def test_scipy_finds_no_lower_logarithms():
    X, new, gamma = DIGITS[:100], DIGITS[200:206], 0.02
    method = Weights("log_discrepancy", n_neighbors=6, sum_to_one=False, tol=1e-10, max_iter=3000)
    model = KernelPCA(10, kernel=RBF(gamma), center=False, preimage=method).fit(X)
    Z, S, mean = model.transform(new), model.transform(X), X.mean(axis=0)
    found = model.invert(Z)
    for z, point in zip(Z, found.points, strict=True):
        distances = np.sqrt(np.square(z - S).sum(axis=1))
        near = np.argsort(distances)[:6]
        g = S @ z
        used = g > 1e-6 * g.max()

        def value(x, g=g, used=used):
            return float(np.square(np.log(g[used]) + gamma * np.square(X[used] - x).sum(axis=1)).sum())

        start = 1 / distances[near] ** 2
        for w in (weights_of(point, X[near], mean), start / start.sum()):
            assert value(point) <= peer(value, w, X[near], mean) * (1 + 1e-3)


def test_samples_come_back_from_logarithms():
    X = DIGITS[:60]
    method = Weights("log_discrepancy", n_neighbors=10)
    model = KernelPCA(kernel=RBF(0.03), center=False, preimage=method).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-6)


@pytest.mark.filterwarnings("ignore:.*reliability below")
def test_without_positive_values_there_are_no_logarithms():
    X = DIGITS[:60]
    models = [
        KernelPCA(5, kernel=RBF(0.03), center=False, preimage=Weights(rule, n_neighbors=10)).fit(X)
        for rule in ("log_discrepancy", "inverse_square")
    ]
    Z = models[0].transform(X[:4])
    Z[:2] *= -1  # kernel values of opposite points are negative, all of them
    with pytest.warns(ConvergenceWarning, match="2 of 4 answers .* try another method"):
        found = models[0].invert(Z)
    np.testing.assert_array_equal(found.converged, [False, False, True, True])
    np.testing.assert_allclose(found.points[:2], models[1].inverse_transform(Z)[:2], atol=1e-12)


@pytest.mark.parametrize("approximation", [None, Nystrom(40)])
def test_logarithms_need_a_model_without_centring(approximation):
    model = KernelPCA(5, kernel=RBF(0.03), approximation=approximation, preimage=Weights("log_discrepancy"))
    with pytest.raises(ValueError, match=r"needs a model without centring.*Fit with center=False, or set rule='disc"):
        model.fit(DIGITS[:60])


# laws


@settings(deadline=None, max_examples=25, derandomize=True)
@given(st.integers(0, 10**6), st.floats(-50, 50), st.sampled_from(FALLING), st.sampled_from([RBF(0.1), Cauchy(0.2)]))
def test_answers_turn_and_move_with_the_data(seed, shift, rule, kernel):
    rng = np.random.default_rng(seed)
    X, new = rng.standard_normal((20, 4)), rng.standard_normal((5, 4))
    R = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    method = Weights(rule, n_neighbors=6)
    here = KernelPCA(3, kernel=kernel, solver="dense", preimage=method).fit(X).denoise(new)
    there = KernelPCA(3, kernel=kernel, solver="dense", preimage=method).fit(X @ R + shift).denoise(new @ R + shift)
    np.testing.assert_allclose(there, here @ R + shift, atol=1e-6)


@pytest.mark.parametrize(
    "method", [Weights(n_neighbors=6, tol=1e-12), Weights("log_discrepancy", n_neighbors=6)], ids=repr
)
def test_found_weights_turn_and_move_with_the_data(method):
    X, new = DIGITS[:80], DIGITS[200:215]
    R = np.linalg.qr(np.random.default_rng(0).standard_normal((64, 64)))[0]
    center = method.rule == "discrepancy"
    here, there = (
        KernelPCA(12, kernel=RBF(0.03), center=center, preimage=method).fit(A).denoise(B)
        for A, B in ((X, new), (X @ R + 7, new @ R + 7))
    )
    np.testing.assert_allclose(there, here @ R + 7, atol=1e-3)


def test_where_the_model_puts_its_origin_does_not_matter():
    X = DIGITS[:80]
    method = Weights(n_neighbors=6, tol=1e-12)
    model = KernelPCA(12, kernel=RBF(0.03), preimage=method).fit(X)
    space = space_of(model)
    features = replace(space.decomposition.features, anchors=X.copy(), origin=None)
    unmoved = replace(space, decomposition=replace(space.decomposition, features=features))
    Z = model.transform(DIGITS[200:210])
    here, there = (method.solve(Target(s, Z)).points + s.origin for s in (space, unmoved))
    np.testing.assert_allclose(there, here, atol=1e-4)


@pytest.mark.parametrize("rule", ["discrepancy", "log_discrepancy", "inverse_square"])
def test_long_rows(rule):
    X = np.random.default_rng(0).standard_normal((30, 400)) * np.linspace(3, 0.1, 400) + 1
    settings_of = {"kernel": RBF(0.001), "center": rule != "log_discrepancy"}
    model = KernelPCA(8, preimage=Weights(rule, n_neighbors=5), **settings_of).fit(X)
    assert space_of(model).narrow is not None
    plain = KernelPCA(8, preimage=Weights(rule, n_neighbors=5, bounds=(None, None)), **settings_of).fit(X)
    Z = model.transform(X[:10] + 0.1)
    np.testing.assert_allclose(model.inverse_transform(Z), plain.inverse_transform(Z), atol=1e-3)


@pytest.mark.parametrize("rule", ["discrepancy", "inverse"])
def test_blocks_of_any_size_give_the_same(rule):
    model = KernelPCA(8, preimage=Weights(rule, n_neighbors=5)).fit(DIGITS[:100])
    Z = model.transform(DIGITS[200:220])
    expected = model.inverse_transform(Z)
    model._inverse.space = replace(space_of(model), budget=1)
    np.testing.assert_allclose(model.inverse_transform(Z), expected, atol=1e-4)


def test_tiles_of_any_size_give_the_same(monkeypatch):
    model = KernelPCA(8, kernel=RBF(0.03), preimage=Weights(n_neighbors=5)).fit(DIGITS[:100])
    Z = model.transform(DIGITS[200:220])
    expected = model.inverse_transform(Z)
    monkeypatch.setattr(RBF, "tile", 7)
    np.testing.assert_allclose(model.inverse_transform(Z), expected, atol=1e-4)


# refusals


@pytest.mark.parametrize(
    ("method", "settings_of", "message"),
    [
        (Weights(), {"kernel": Laplacian()}, r"can be differentiated.*\(rules for any: 'inverse', 'inverse_square'"),
        (
            Weights("log_discrepancy"),
            {"kernel": Cauchy()},
            "the Gaussian kernel, whose logarithm is a squared distance",
        ),
        (Weights("inverse"), {"kernel": RBF(), "approximation": RandomFourier(50)}, "rows that the model keeps"),
        (Weights("nearest"), {}, r"Weights\(rule='nearest'\): rule must be one of 'discrepancy', 'log_discrepancy'"),
        (Weights(scaling="unit"), {}, r"Weights\(scaling='unit'\): scaling must be 'scores'.* or 'digest'"),
        (Weights(n_neighbors="few"), {}, "n_neighbors must be a whole number >= 1, 'auto', or None"),
        (Weights(sum_to_one=1), {}, "sum_to_one must be True or False"),
        (Weights(n_neighbors=0), {}, "n_neighbors must be a whole number >= 1"),
        (Weights(n_neighbors=2.5), {}, "n_neighbors must be a whole number >= 1"),
        (Weights(threshold=0), {}, "threshold must be a positive number"),
        (Weights(threshold="near"), {}, "threshold must be a positive number"),
        (Weights(threshold=True), {}, "threshold must be a positive number"),
        (Weights(n_neighbors=3, threshold=1.0), {}, "both say which samples count. Give one of them"),
        (Weights(max_iter=0), {}, "max_iter must be a whole number >= 1"),
        (Weights(tol=2), {}, "tol must be a number from 0 to below 1"),
    ],
    ids=str,
)
def test_what_cannot_work_is_said_before_anything_is_computed(method, settings_of, message):
    with pytest.raises(ValueError, match=message):
        KernelPCA(3, preimage=method, **settings_of).fit(DIGITS[:50])


@pytest.mark.parametrize("rule", FALLING)
def test_rules_of_distance_work_with_any_kernel(rule):
    model = KernelPCA(5, kernel=Laplacian(), preimage=Weights(rule)).fit(DIGITS[:50])
    assert model.denoise(DIGITS[100:104]).shape == (4, 64)
