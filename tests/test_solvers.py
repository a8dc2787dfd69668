"""Every eigensolver under one contract, and what is particular to each."""

import numpy as np
import pytest

from contracts.solver import SolverContract, span_distance, with_spectrum
from kernelpca.gram import DenseGram
from kernelpca.solvers import SOLVERS, BlockKrylov, Certificate, Dense, Lanczos, Randomized, as_solver
from kernelpca.solvers.block_krylov import orthonormal
from kernelpca.solvers.certificate import find_clusters, upper_bound
from kernelpca.solvers.protocol import leading_signs


class TestSolvers(SolverContract):
    @pytest.fixture(params=SOLVERS)
    def solver(self, request):
        return as_solver(request.param)


class TestBlockKrylovInLittleMemory(SolverContract):
    """The smallest blocks and the most restarts."""

    @pytest.fixture
    def solver(self):
        return BlockKrylov(block_size=3, max_basis=14, max_iter=2000)


def test_unknown_solver():
    with pytest.raises(ValueError, match=r"is not a solver. Known names: 'auto', 'dense'"):
        as_solver("magic")
    assert as_solver("lanczos") == Lanczos()


def test_block_krylov_needs_few_passes():
    K, Q = with_spectrum(1 / np.arange(1, 801) ** 2)
    krylov = BlockKrylov().solve(DenseGram(K), 10, tol=1e-6)
    power = Randomized(oversampling=8).solve(DenseGram(K), 10, tol=1e-6)
    assert krylov.certificate.passes <= power.certificate.passes / 2
    assert span_distance(krylov.vectors, Q[:, :10]) < 1e-5


def test_block_krylov_finds_what_its_start_misses():
    """A start orthogonal to the leading eigenvector, in an invariant subspace: it must look elsewhere."""
    K = np.diag(np.concatenate([[10.0], np.full(20, 1.0), np.zeros(79)]))
    start = np.zeros((100, 18))
    start[1:19, :] = np.eye(18)
    solution = BlockKrylov(block_size=18).solve(DenseGram(K), 19, tol=1e-8, start=start)
    assert solution.values[0] == pytest.approx(10.0)


def test_a_callback_can_stop_and_the_answer_is_honest():
    K, _ = with_spectrum(0.995 ** np.arange(400))
    with pytest.warns(match="stopped after 3 passes"):
        solution = BlockKrylov().solve(DenseGram(K), 5, tol=1e-9, callback=lambda event: event.passes == 3)
    assert solution.certificate.passes == 3
    assert not solution.certificate.satisfied
    assert [event.passes for event in solution.history] == [1, 2, 3]
    assert solution.history[-1].seconds >= solution.history[0].seconds


def test_dense_is_graded_exact_and_krylov_certified():
    K, _ = with_spectrum(0.5 ** np.arange(100))
    gram = DenseGram(K, positive_definite=True)
    assert Dense().solve(gram, 3).certificate.grade == "exact"
    assert BlockKrylov().solve(gram, 3).certificate.grade == "certified"


def test_orthonormal_leaves_out_what_is_known():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((50, 5)))[0]
    W = np.column_stack([Q @ rng.standard_normal((5, 3)), rng.standard_normal((50, 2))])
    block = orthonormal(W, Q, 1e-10)
    assert block.shape == (50, 2)
    np.testing.assert_allclose(np.column_stack([Q, block]).T @ np.column_stack([Q, block]), np.eye(7), atol=1e-14)


def test_signs_of_ties_go_by_the_first():
    vectors = np.array([[0.5, -0.5], [-0.5 - 1e-9, 0.5]])
    np.testing.assert_array_equal(leading_signs(vectors), [1.0, -1.0])


def test_clusters():
    assert find_clusters(np.array([4.0, 3.0, 1.0]), np.full(3, 1e-6), 0.5) == ()
    assert find_clusters(np.array([4.0, 4.0, 1.0]), np.full(3, 1e-6), 0.5) == ((0, 1),)
    assert find_clusters(np.array([4.0, 1.0, 1.0]), np.full(3, 1e-6), 0.5) == ((1, 2),)
    assert find_clusters(np.array([4.0, 3.0, 1.0]), np.full(3, 1e-6), 1.0) == ((2,),)  # cut by k
    assert find_clusters(np.array([4.0, 4.0, 1.0, 1.0]), np.full(4, 1e-6), None) == ((0, 1), (2, 3))


# the bounds hold


def spectra(n):
    rng = np.random.default_rng(n)
    yield "fast", 0.5 ** np.arange(n)
    yield "slow", 1 / np.arange(1, n + 1)
    yield "flat", np.ones(n)
    yield "step", np.where(np.arange(n) < 7, 1.0, 0.1)
    yield "clustered", np.repeat(0.6 ** np.arange(n // 4 + 1), 4)[:n]
    yield "noise", np.sort(rng.uniform(0, 1, n))[::-1]
    yield "low rank", np.where(np.arange(n) < 5, 2.0, 0.0)
    yield "one giant", np.concatenate([[1e6], 0.9 ** np.arange(n - 1)])


@pytest.mark.parametrize("psd", [True, False])
@pytest.mark.parametrize("k", [1, 4, 9])
def test_bounds_hold_for_any_basis(psd, k):
    """Not only for converged pairs: for every basis the truth lies between the bounds."""
    n = 40
    for name, values in spectra(n):
        values = values if psd else values - 0.3
        K, _ = with_spectrum(values, seed=k)
        truth = np.sort(values)[::-1][:k].sum()
        rng = np.random.default_rng(k)
        for q, powers in [(k, 0), (k, 1), (k + 5, 2), (2 * k + 3, 4), (n, 0)]:
            block = np.linalg.matrix_power(K, powers) @ rng.standard_normal((n, q)) + 1e-9 * rng.standard_normal((n, q))
            Q = np.linalg.qr(block)[0]
            ritz, S = np.linalg.eigh(Q.T @ K @ Q)
            U = Q @ S
            R = K @ U - U * ritz
            upper = upper_bound(ritz, R.T @ R, k, n, np.trace(K), np.square(K).sum(), psd)
            without = upper_bound(ritz, R.T @ R, k, n, np.trace(K), None, psd)
            slack = 1e-9 * np.abs(values).max()
            assert np.sort(ritz)[::-1][:k].sum() <= truth + slack, name
            assert upper >= truth - slack, (name, q, powers)
            assert without >= upper - slack, name


def test_the_padding_of_the_bound_is_needed():
    """A basis that misses everything: all wanted eigenvalues come from the part that is not seen."""
    K = np.diag([0.0, 1.0, 1.0, 1.0])
    upper = upper_bound(np.zeros(1), np.zeros((1, 1)), 3, 4, 3.0, 3.0, True)
    assert upper >= np.trace(K) - 1e-12


def test_without_frobenius_norm_an_indefinite_matrix_has_no_bound():
    assert upper_bound(np.ones(1), np.zeros((1, 1)), 1, 5, 1.0, None, False) == float("inf")


def test_certificate_of_fewer_components():
    K, _ = with_spectrum(0.8 ** np.arange(60))
    whole = BlockKrylov().solve(DenseGram(K, positive_definite=True), 8).certificate
    part = whole.first(3, 0.8 ** np.arange(8))
    assert isinstance(part, Certificate)
    assert len(part.residuals) == 3
    assert part.lower <= (0.8 ** np.arange(3)).sum() <= part.upper
    assert whole.first(8, 0.8 ** np.arange(8)) is whole
