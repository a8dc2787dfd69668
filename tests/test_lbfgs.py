"""L-BFGS on the dual of kernel PCA: the paper's propositions, indefinite matrices, and what the solver reports."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from contracts.solver import with_spectrum
from kernelpca.gram import DenseGram, LowRankGram
from kernelpca.kernels import RBF
from kernelpca.solvers import IndefiniteKernelWarning, Lbfgs
from kernelpca.solvers.lbfgs import dual_cost, residual_norms, ritz_values


def noisy(n=200, c=0.1, noise=0.01, seed=0):
    """The matrices of the paper's figure 1: noise (X + X') + U D U' with D_ii = exp(-c i)."""
    X = np.random.default_rng(seed + 1).standard_normal((n, n))
    return noise * (X + X.T) + with_spectrum(np.exp(-c * np.arange(n)), seed)[0]


def slopes(function, H, step=1e-5):
    """The gradient by differences, an entry at a time."""
    gradient = np.empty_like(H)
    for index in np.ndindex(H.shape):
        ahead, behind = H.copy(), H.copy()
        ahead[index] += step
        behind[index] -= step
        gradient[index] = (function(ahead) - function(behind)) / (2 * step)
    return gradient


def largest(K, s):
    return np.linalg.eigvalsh(K)[::-1][:s]


# the paper's propositions


@pytest.mark.parametrize("s", [1, 3])
def test_the_gradient_is_that_of_the_cost(s):
    """Proposition 3.4."""
    K, _ = with_spectrum(0.8 ** np.arange(15))
    H = np.random.default_rng(s).standard_normal((15, s))
    expected = slopes(lambda H: dual_cost(H, K @ H)[0], H)
    np.testing.assert_allclose(dual_cost(H, K @ H)[1], expected, atol=1e-8)


@pytest.mark.parametrize("chosen", [[0, 1, 2], [0, 2, 5], [7]])
def test_critical_points_of_the_dual_are_critical_for_reconstruction(chosen):
    """Proposition 3.6: the gradient of 1/4 |K - H H'|^2 vanishes too, at optimal and at other critical points."""
    values = 0.8 ** np.arange(15)
    K, Q = with_spectrum(values)
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((len(chosen), len(chosen))))[0]

    def misfit(H):
        return np.square(K - H @ H.T).sum() / 4

    H = Q[:, chosen] * np.sqrt(values[chosen]) @ turn
    np.testing.assert_allclose(dual_cost(H, K @ H)[1], 0, atol=1e-12)
    np.testing.assert_allclose(slopes(misfit, H), 0, atol=1e-8)
    elsewhere = 1.1 * H
    assert np.abs(dual_cost(elsewhere, K @ elsewhere)[1]).max() > 0.01
    assert np.abs(slopes(misfit, elsewhere)).max() > 0.01


def test_what_the_solver_finds_is_critical_for_reconstruction():
    """Proposition 3.6 at the solution, where H H'H = K H."""
    K, _ = with_spectrum(0.8 ** np.arange(60))
    solution = Lbfgs().solve(DenseGram(K), 4, tol=1e-10)
    H = solution.vectors * np.sqrt(solution.values)
    np.testing.assert_allclose(H @ (H.T @ H), K @ H, atol=1e-9)


@pytest.mark.parametrize("s", [1, 4])
def test_the_leading_eigenvectors_solve_the_dual(s):
    """Proposition 3.7: H = U sqrt(Lambda) has the cost -1/2 sum lambda, a zero gradient, and nothing is lower."""
    values = 0.7 ** np.arange(30)
    K, Q = with_spectrum(values)
    H = Q[:, :s] * np.sqrt(values[:s])
    cost, gradient = dual_cost(H, K @ H)
    assert cost == pytest.approx(-values[:s].sum() / 2, rel=1e-12)
    np.testing.assert_allclose(gradient, 0, atol=1e-12)
    rng = np.random.default_rng(0)
    for size in (1e-3, 0.1, 1.0):
        other = H + size * rng.standard_normal(H.shape)
        assert dual_cost(other, K @ other)[0] > cost


# indefinite matrices


def test_indefinite_matrices_are_refused_with_a_next_step():
    with pytest.raises(ValueError, match=r"(?s)needs a positive semi-definite matrix.*Lbfgs\(real_parts=True\)"):
        Lbfgs().solve(DenseGram(noisy()), 10)


@pytest.mark.parametrize("noise", [0.0001, 0.001, 0.01])
def test_real_parts_find_the_leading_pairs_of_nearly_definite_matrices(noise):
    K = noisy(noise=noise)
    assert np.linalg.eigvalsh(K)[0] < -noise
    solution = Lbfgs(real_parts=True).solve(DenseGram(K), 5, tol=1e-6)
    np.testing.assert_allclose(solution.values, largest(K, 5), rtol=1e-6)
    assert solution.certificate.satisfied


def test_real_parts_change_nothing_where_the_matrix_is_definite():
    K, _ = with_spectrum(0.9 ** np.arange(80))
    plain, real = (Lbfgs(real_parts=choice).solve(DenseGram(K), 3) for choice in (False, True))
    np.testing.assert_array_equal(plain.vectors, real.vectors)


@pytest.mark.parametrize("c", [0.1, 1.0])
def test_real_parts_find_the_leading_pairs_where_half_of_the_spectrum_is_negative(c):
    K = noisy(n=400, c=c, noise=0.02)
    assert (np.linalg.eigvalsh(K) < 0).sum() > 150
    solution = Lbfgs(real_parts=True).solve(DenseGram(K), 20)
    np.testing.assert_allclose(solution.values, largest(K, 20), rtol=1e-5)
    assert solution.certificate.satisfied


def test_where_directions_are_lost_the_answer_is_finite_and_says_so():
    """Most of the positive part is asked for: columns of H vanish, and what replaces them is no eigenvector."""
    K = noisy(n=60, c=2.0, noise=0.1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        solution = Lbfgs(real_parts=True, max_iter=300).solve(DenseGram(K), 20)
    assert np.isfinite(solution.values).all()
    assert np.isfinite(solution.vectors).all()
    np.testing.assert_allclose(solution.vectors.T @ solution.vectors, np.eye(20), atol=1e-8)
    assert solution.values[0] == pytest.approx(largest(K, 1)[0], rel=1e-3)
    assert not solution.certificate.satisfied
    assert {warning.category for warning in caught} == {ConvergenceWarning, IndefiniteKernelWarning}


def test_where_every_direction_is_lost_there_is_a_next_step():
    with pytest.raises(ValueError, match=r"has lost every direction.*block_krylov"):
        Lbfgs(real_parts=True).solve(DenseGram(-np.diag(np.arange(1.0, 31.0))), 3)


# passes and reports


class Counting(DenseGram):
    """Counts its products."""

    products = 0

    def matmat(self, V):
        self.products += 1
        return super().matmat(V)


@pytest.mark.parametrize("max_iter", [1, 2, 3, 10, 40])
def test_never_more_passes_than_asked_for(max_iter):
    K, _ = with_spectrum(0.99 ** np.arange(100))
    gram = Counting(K)
    with pytest.warns(ConvergenceWarning, match=f"stopped after {max_iter} passes"):
        solution = Lbfgs(max_iter=max_iter).solve(gram, 6, tol=1e-13)
    assert solution.certificate.passes == gram.products == solution.history[-1].passes == max_iter


@pytest.mark.parametrize("max_iter", range(1, 40))
def test_nor_where_lost_columns_are_replaced(max_iter):
    """Columns of H vanish after some passes, whichever that is."""
    K, _ = with_spectrum(np.where(np.arange(100) < 4, 0.2 ** np.arange(100), 0.0))
    gram = Counting(K)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solution = Lbfgs(max_iter=max_iter).solve(gram, 6, tol=1e-13)
    assert solution.certificate.passes == gram.products <= max_iter
    assert solution.vectors.shape == (100, 6)
    np.testing.assert_allclose(solution.vectors.T @ solution.vectors, np.eye(6), atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_residuals_are_those_of_the_vectors(dtype):
    rng = np.random.default_rng(0)
    K = RBF(0.1)(rng.standard_normal((1500, 3)).astype(dtype))
    K /= K.sum(axis=1).max()
    H = rng.standard_normal((1500, 4))
    H[:, 3] = H[:, 0] + H[:, 1]  # dependent
    GH = K @ H.astype(dtype)
    values, turn = ritz_values(H.T @ H, H.T @ GH)
    U = H @ turn
    assert U.shape == (1500, 3)
    np.testing.assert_allclose(U.T @ U, np.eye(3), atol=1e-12)
    close = 1e-5 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(U.T @ K @ U, np.diag(values), atol=close)
    np.testing.assert_allclose(
        residual_norms(H, GH, values, turn), np.linalg.norm(K @ U - U * values, axis=0), rtol=100 * close
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_last_report_is_what_the_certificate_says(dtype):
    K = with_spectrum(0.9 ** np.arange(200))[0].astype(dtype)
    solution = Lbfgs().solve(DenseGram(K), 5, tol=1e-3)
    assert solution.vectors.dtype == dtype
    assert solution.history[-1].relative_residual == pytest.approx(solution.certificate.relative_residual, rel=1e-2)
    assert solution.history[-1].relative_residual <= 1e-3
    assert all(event.relative_residual > 1e-3 for event in solution.history[:-1])


def test_where_scipy_gives_up_a_plain_step_goes_on(monkeypatch):
    """H = K H (H'K H)^(-1/2), by which the cost always falls."""
    monkeypatch.setattr("kernelpca.solvers.lbfgs.minimize", lambda evaluate, h, **_: evaluate(h))
    K, _ = with_spectrum(0.5 ** np.arange(100))
    solution = Lbfgs().solve(DenseGram(K), 3, tol=1e-8)
    captured = np.array([event.captured for event in solution.history])
    assert (np.diff(captured) > -1e-12).all()
    assert captured[-1] == pytest.approx(1.75, rel=1e-8)
    np.testing.assert_allclose(solution.values, [1, 0.5, 0.25], rtol=1e-8)


def test_lost_columns_are_replaced():
    F = np.random.default_rng(0).standard_normal((100, 3))
    solution = Lbfgs().solve(LowRankGram(F), 5)
    np.testing.assert_allclose(solution.vectors.T @ solution.vectors, np.eye(5), atol=1e-10)
    np.testing.assert_allclose(solution.values, [*np.linalg.eigvalsh(F.T @ F)[::-1], 0, 0], rtol=1e-6, atol=1e-8)
