"""What the speed experiments of the dualization paper rest on: matrices, eta, and the least effort that is enough."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from kernelpca_papers.dualization.contest import (
    EXACT,
    FULL,
    LANCZOS,
    LBFGS,
    OURS,
    RSVD,
    Answer,
    Entry,
    Problem,
    enter,
    full,
    lanczos,
    once,
    randomized,
    settle,
    take_turns,
)
from kernelpca_papers.dualization.decay import DECAYS, decaying, least, spread
from kernelpca_papers.dualization.tasks import correlated, gram_matrix, made_symmetric, normal, variance

S = 4


@pytest.fixture
def X() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((60, 5))


@pytest.fixture
def problem(X: np.ndarray) -> Problem:
    return Problem(gram_matrix("gaussian", X), S)


def dual_cost(G: np.ndarray, H: np.ndarray) -> float:
    """Return 1/2 tr H'H - tr sqrt(H'G H), as the paper writes it."""
    return 0.5 * np.trace(H.T @ H) - sum(np.sqrt(value) for value in np.linalg.eigvals(H.T @ G @ H).real)


@pytest.mark.parametrize("kernel", ["laplace", "gaussian"])
def test_gram_matrix_is_the_centered_formula(X: np.ndarray, kernel: str) -> None:
    n, d = X.shape
    K = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            distance = np.sqrt(((X[i] - X[j]) ** 2).sum())
            sigma = 0.1 * np.sqrt(d * X.var())  # section 5.1, sigma_x read as the variance
            laplace = np.exp(-distance / (2 * sigma**2))
            K[i, j] = laplace if kernel == "laplace" else np.exp(-(distance**2) / (2 * d * X.var()))
    J = np.eye(n) - 1 / n
    G = gram_matrix(kernel, X)
    np.testing.assert_allclose(G, J @ K @ J, atol=1e-12)
    assert (G == G.T).all()


def test_the_judge_knows_eigenvalues_that_are_repeated() -> None:
    """Copies of rows make eigenvalues repeat, and a Krylov space of one vector has each of them once."""
    rng = np.random.default_rng(0)
    values = np.concatenate([[3.0, 2.9, 2.8], np.full(40, 2.0), rng.uniform(0.9, 1.1, 957)])
    Q = np.linalg.qr(rng.standard_normal((1000, 1000)))[0]
    problem = Problem(made_symmetric(Q * values @ Q.T), 20)
    assert problem.best == pytest.approx(3 + 2.9 + 2.8 + 17 * 2, rel=1e-6)
    assert lanczos(problem, 1e-6, 3000).values.sum() < 0.99 * problem.best


def test_sparse_rows_give_the_same_matrix(X: np.ndarray) -> None:
    X = np.where(X > 0.5, X, 0)
    rows = sparse.csr_matrix(X)
    assert variance(rows) == pytest.approx(X.var())
    np.testing.assert_allclose(gram_matrix("gaussian", rows), gram_matrix("gaussian", X), atol=1e-12)


def test_made_symmetric_is_the_mean_with_the_transpose() -> None:
    A = np.random.default_rng(0).standard_normal((1100, 1100))
    wanted = (A + A.T) / 2
    np.testing.assert_array_equal(made_symmetric(A.copy()), wanted)


def test_correlated_rows_have_unit_variance_and_correlated_neighbors() -> None:
    X = correlated(2000, 30)
    C = np.corrcoef(X.T)
    np.testing.assert_allclose(X.var(axis=0), 1, atol=0.2)
    np.testing.assert_allclose(np.diag(C, 1), 0.9, atol=0.03)
    np.testing.assert_allclose(np.diag(C, 2), 0.81, atol=0.05)
    assert normal(7, 3).shape == (7, 3)


def test_eta_is_that_of_the_dual_cost(problem: Problem) -> None:
    values = np.linalg.eigvalsh(problem.G)[::-1]
    optimum = -0.5 * values[:S].sum()
    assert problem.best == pytest.approx(-2 * optimum, rel=1e-10)
    rng = np.random.default_rng(1)
    for _ in range(3):  # any positive values and any vectors
        S_hat, U_hat = rng.uniform(0.5, 2, S), np.linalg.qr(rng.standard_normal((60, S)))[0]
        wanted = abs(dual_cost(problem.G, U_hat * np.sqrt(S_hat)) - optimum) / abs(optimum)
        assert problem.eta(S_hat, U_hat) == pytest.approx(wanted, rel=1e-8)


def test_eta_of_ritz_pairs_is_the_error_of_the_captured_variance(problem: Problem) -> None:
    Q = np.linalg.qr(problem.rng().standard_normal((60, S)))[0]
    captured = np.trace(Q.T @ problem.G @ Q)
    assert problem.eta_at_random() == pytest.approx((problem.best - captured) / problem.best, rel=1e-8)


def test_exact_solvers_have_no_eta(problem: Problem) -> None:
    for answer in (full(problem), lanczos(problem, 0.0), randomized(problem, 56)):
        assert problem.eta(answer.values, answer.vectors) < 1e-10
        assert answer.vectors.shape == (60, S)
        assert (np.diff(answer.values) <= 0).all()


@pytest.mark.parametrize("name", [LANCZOS, RSVD, LBFGS, OURS])
@pytest.mark.parametrize("target", [1e-2, 1e-4])
def test_contestants_reach_the_target(problem: Problem, name: str, target: float) -> None:
    entry = enter(problem, target, name)
    assert entry.reached
    assert entry.eta < target
    again = entry.run()
    assert again.products == entry.products
    assert problem.eta(again.values, again.vectors) < target  # Ritz pairs are no worse than the dual cost


@pytest.mark.parametrize("name", [EXACT, FULL])
def test_those_without_a_target_are_run_once(problem: Problem, name: str) -> None:
    entry, seconds = once(problem, name)
    assert entry.eta < 1e-10
    assert seconds > 0


def test_lanczos_gives_what_it_has_after_its_restarts() -> None:
    rng = np.random.default_rng(0)
    G = np.diag(1 + 1e-3 * rng.uniform(size=400))  # eigenvalues nearly alike
    problem = Problem(G, S)
    answer = lanczos(problem, 0.0, restarts=1)
    assert len(answer.values) == answer.vectors.shape[1] < S
    assert problem.eta(answer.values, answer.vectors) > 0.1
    assert problem.best == pytest.approx(np.sort(G.diagonal())[-S:].sum(), rel=1e-6)


def test_settle_takes_the_first_that_is_enough(problem: Problem) -> None:
    tried = []

    def run(problem: Problem, setting: float) -> Answer:
        tried.append(setting)
        return randomized(problem, 56) if setting >= 3 else randomized(problem, 0)

    hard = problem.eta(*(lambda a: (a.values, a.vectors))(randomized(problem, 0))) / 2
    entry = settle(problem, run, [1, 2, 3, 4], hard)
    assert (entry.setting, entry.reached, tried) == (3, True, [1, 2, 3])
    assert not settle(problem, run, [1, 2], hard).reached


def test_nothing_below_an_easier_setting_is_tried(problem: Problem) -> None:
    assert enter(problem, 0.5, LANCZOS).setting == 1.0
    assert enter(problem, 0.5, LANCZOS, easier=0.01).setting == 0.01
    assert enter(problem, 0.5, RSVD).setting == 10


def test_turns_are_taken_and_the_shortest_counts(problem: Problem) -> None:
    order: list[str] = []
    entries = {name: Entry(lambda name=name: order.append(name), 0.0, 0) for name in "ab"}
    seconds = take_turns(entries, 8, 3)
    assert order == list("ababab")
    assert all(0 <= seconds[name] < 0.1 for name in "ab")


def test_least_is_that_of_trying_all() -> None:
    for wanted in range(40):
        assert least(lambda p, wanted=wanted: p >= wanted, 39) == wanted
    assert np.isnan(least(lambda p: False, 39))


def test_forms_of_the_decaying_matrix() -> None:
    n, c = 80, DECAYS[3]
    noisy, clipped, plain = (decaying(form, n, c, 0) for form in ("printed", "clipped", "plain"))
    np.testing.assert_allclose(np.linalg.eigvalsh(plain)[::-1], np.exp(-c * np.arange(1, n + 1)), atol=1e-12)
    values = np.linalg.eigvalsh(noisy)
    assert values[0] < -0.05
    np.testing.assert_allclose(np.linalg.eigvalsh(clipped), np.maximum(values, 0), atol=1e-12)
    noise = noisy - plain
    assert np.abs(np.linalg.eigvalsh(noise)).max() == pytest.approx(0.02 * np.sqrt(2 * n), rel=0.15)


def test_spread_says_what_never_got_there() -> None:
    assert spread(np.array([1.0, 3.0])) == "2 (1 to 3)"
    assert spread(np.array([np.nan, 3.0])) == "3 (3 to 3, 1 never)"
    assert spread(np.array([np.nan, np.nan])) == "never"
