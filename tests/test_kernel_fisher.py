"""The Fisher kernel against its naive twin, finite differences of the likelihood, and Monte Carlo."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture

import reference as naive
from kernelpca.kernels.fisher import Fisher

W = np.array([0.2, 0.5, 0.3])
MU = np.array([[0.0, 1.0], [2.0, -1.0], [-1.0, -2.0]])
SIGMA = np.array([[1.0, 0.5], [0.7, 1.2], [2.0, 0.9]])
P = 3 + 6 + 6
X = np.random.default_rng(0).normal(scale=2, size=(12, 2))


def mixture(w: np.ndarray = W, mu: np.ndarray = MU, sigma: np.ndarray = SIGMA) -> GaussianMixture:
    """Return a mixture as if it had been fitted to these numbers."""
    model = GaussianMixture(len(w), covariance_type="diag", random_state=0)
    model.weights_, model.means_, model.covariances_ = w, mu, sigma**2
    model.precisions_cholesky_ = 1 / sigma
    return model


def positive_definite(p: int = P) -> np.ndarray:
    A = np.random.default_rng(1).normal(size=(p, p))
    return A @ A.T + np.eye(p)


KERNELS = [
    Fisher(mixture()),
    Fisher(mixture(), "identity"),
    Fisher(mixture(), "empirical", ridge=1e-3).resolve(X),
    Fisher(mixture(), positive_definite()),
]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=["diagonal", "identity", "empirical", "given"])


def log_likelihood(theta: np.ndarray) -> np.ndarray:
    """Log p(x) of every row of X, as scikit-learn computes it, for alpha, means and standard deviations."""
    w = np.exp(theta[:3]) / np.exp(theta[:3]).sum()
    return mixture(w, theta[3:9].reshape(3, 2), theta[9:].reshape(3, 2)).score_samples(X)


def test_gradient_is_that_of_scikit_learns_likelihood() -> None:
    theta, h = np.concatenate([np.log(W), MU.ravel(), SIGMA.ravel()]), 1e-5
    steps = h * np.eye(P)
    differences = [(log_likelihood(theta + step) - log_likelihood(theta - step)) / (2 * h) for step in steps]
    gradient = Fisher(mixture(), "identity").features(X)
    np.testing.assert_allclose(gradient, np.transpose(differences), rtol=1e-6, atol=1e-8)


def test_equals_naive_twin() -> None:
    G = np.array([naive.fisher_gradient(x, W, MU, SIGMA) for x in X])
    np.testing.assert_allclose(KERNELS[0](X), G @ np.diag(1 / naive.fisher_information(W, SIGMA)) @ G.T)
    np.testing.assert_allclose(KERNELS[1](X), G @ G.T)
    empirical = sum(np.outer(g, g) for g in G) / len(G)
    ridged = empirical + 1e-3 * np.mean(np.diag(empirical)) * np.eye(P)
    np.testing.assert_allclose(KERNELS[2].information, ridged, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(KERNELS[2](X), G @ np.linalg.inv(ridged) @ G.T, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(KERNELS[3](X), G @ np.linalg.inv(positive_definite()) @ G.T, rtol=1e-8)


def test_closed_form_information_is_that_of_separated_components() -> None:
    model = mixture(mu=20 * MU)
    sample, _ = model.sample(100_000)
    F = Fisher(model).features(sample)
    expected = np.eye(P)
    expected[:3, :3] -= np.sqrt(np.outer(W, W))  # the weights sum to one: alpha has one direction too many
    np.testing.assert_allclose(F.T @ F / len(F), expected, atol=0.06)


def test_weights_are_whitened_exactly() -> None:
    g = Fisher(mixture(), "identity").features(X)[:, :3]
    f = Fisher(mixture()).features(X)[:, :3]
    np.testing.assert_allclose(f @ f.T, g @ np.linalg.pinv(np.diag(W) - np.outer(W, W)) @ g.T)


def test_empirical_information_whitens_its_data() -> None:
    sample, _ = mixture().sample(2000)
    kernel = Fisher(mixture(), "empirical").resolve(sample)  # more rows than one block
    F = kernel.features(sample)
    np.testing.assert_allclose(kernel.diag(sample).mean(), P - 1, rtol=1e-3)
    np.testing.assert_allclose(np.linalg.eigvalsh(F.T @ F / len(F))[1:], 1, rtol=1e-3)


@every_kernel
@settings(deadline=None, max_examples=30)
@given(rows=arrays(float, st.tuples(st.integers(1, 6), st.just(2)), elements=st.floats(-30, 30)))
def test_laws(kernel: Fisher, rows: np.ndarray) -> None:
    K = kernel(rows, rows)
    F = kernel.features(rows)
    scale = np.trace(K) + 1e-12
    assert F.shape == (len(rows), P)
    np.testing.assert_allclose(K, K.T, atol=1e-12 * scale)
    np.testing.assert_allclose(K, F @ F.T, atol=1e-12 * scale)
    np.testing.assert_allclose(kernel.diag(rows), np.diag(K), atol=1e-12 * scale)
    assert np.linalg.eigvalsh(K).min() >= -1e-12 * scale


@every_kernel
def test_tiles_do_not_matter(kernel: Fisher) -> None:
    pieces = np.empty((12, 12))
    for rows in (slice(0, 5), slice(5, 12)):
        for cols in (slice(0, 1), slice(1, 12)):
            kernel.compute(X[rows], X[cols], pieces[rows, cols])
    np.testing.assert_allclose(pieces, kernel(X, X), rtol=1e-10, atol=1e-10)


@every_kernel
def test_single_precision(kernel: Fisher) -> None:
    K = kernel(X.astype(np.float32))
    assert K.dtype == kernel.features(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(K, kernel(X), rtol=1e-3, atol=1e-3 * np.abs(K).max())


def test_far_from_every_component() -> None:
    assert np.isfinite(Fisher(mixture())([[1e6, -1e6]])).all()


def test_unresolved_empirical_refuses() -> None:
    kernel = Fisher(mixture(), "empirical")
    for use in (kernel, kernel.diag, kernel.features):
        with pytest.raises(ValueError, match=r"depends on data: call kernel\.resolve\(X_train\) first"):
            use(X)
    resolved = kernel.resolve(X)
    assert kernel.information == "empirical"
    assert resolved.model is kernel.model
    assert resolved.ridge == kernel.ridge
    assert resolved.resolve(X[:3]) is resolved
    assert resolved == Fisher(mixture(), resolved.information)
    assert Fisher(mixture()).resolve(X).information == "diagonal"


@pytest.mark.parametrize("ridge", [0, -1.0, "much", None])
def test_bad_ridge(ridge: object) -> None:
    with pytest.raises(ValueError, match=r"Fisher\(ridge=.*\): ridge must be a positive number"):
        Fisher(mixture(), "empirical", ridge=ridge).resolve(X)  # type: ignore[arg-type]


def test_bad_models() -> None:
    with pytest.raises(NotFittedError, match=r"not fitted: call model\.fit\(X\)"):
        Fisher(GaussianMixture(2, covariance_type="diag"))(X)
    with pytest.raises(ValueError, match=r"needs covariance_type='diag'; the model has 'full'\. Fit"):
        Fisher(GaussianMixture(2).fit(X))(X)
    for model in (LogisticRegression(), BayesianGaussianMixture(covariance_type="diag"), "gmm"):
        with pytest.raises(
            TypeError, match="must be a scikit-learn GaussianMixture, fitted, with covariance_type='diag'"
        ):
            Fisher(model)(X)


def test_bad_information() -> None:
    cases = {
        "must be 'diagonal', 'empirical', 'identity' or a symmetric positive definite": "full",
        r"array of shape \(2, 2\)\): the model has 15 parameters .* must be \(15, 15\)": np.eye(2),
        r"must be symmetric and finite, .* Give \(A \+ A\.T\) / 2": np.triu(np.ones((P, P))),
        "must be symmetric and finite": np.diag([np.nan] * P),
        "must be positive definite, .* multiple of the identity": -np.eye(P),
    }
    for message, information in cases.items():
        with pytest.raises(ValueError, match=message):
            Fisher(mixture(), information)(X)  # type: ignore[arg-type]


def test_bad_width() -> None:
    with pytest.raises(ValueError, match="X has 3 features, but the model of Fisher was fitted on 2: give"):
        Fisher(mixture())(np.ones((4, 3)))


def test_cloning_keeps_the_fitted_model() -> None:
    model = GaussianMixture(2, covariance_type="diag", random_state=0).fit(X)
    kernel = Fisher(model)
    assert clone(kernel) == kernel
    assert clone(kernel).model is model
    np.testing.assert_array_equal(clone(kernel)(X), kernel(X))
    np.testing.assert_array_equal(clone(2.0 * kernel + 1.0)(X), (2.0 * kernel + 1.0)(X))


@every_kernel
def test_a_part_like_any_other(kernel: Fisher) -> None:
    assert set(kernel.get_params(deep=False)) == {"model", "information", "ridge"}
    assert kernel.get_params(deep=True).keys() == kernel.get_params(deep=False).keys()  # the model is a given
    for copy in (clone(kernel), pickle.loads(pickle.dumps(kernel))):
        assert copy == kernel
        assert hash(copy) == hash(kernel)
    assert kernel != Fisher(mixture(mu=MU + 1), kernel.information, kernel.ridge)
    assert kernel != Fisher(mixture(), "empirical", kernel.ridge)
    assert kernel != Fisher(mixture(), kernel.information, ridge=0.5)
    assert kernel != "fisher"
    assert kernel.positive_definite
    assert kernel.parallel
    assert not kernel.unit_diagonal


def test_unfitted_models_are_equal_only_if_they_are_one() -> None:
    model = GaussianMixture(2, covariance_type="diag")
    assert Fisher(model) == Fisher(model)
    assert Fisher(model) != Fisher(clone(model))


def test_repr() -> None:
    text = "Fisher(information='diagonal', model=GaussianMixture(covariance_type='diag'), ridge=1e-06)"
    assert repr(Fisher(GaussianMixture(covariance_type="diag"))) == text
