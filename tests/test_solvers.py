"""Every eigensolver under one contract, and what is particular to each."""

import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from contracts.solver import SolverContract, span_distance, with_spectrum
from kernelpca.gram import CenteredGram, DenseGram
from kernelpca.kernels import RBF
from kernelpca.solvers import SOLVERS, BlockKrylov, Dense, Lanczos, Randomized, as_solver, block_krylov
from kernelpca.solvers.bounds import largest_outside, ritz_bound
from kernelpca.solvers.certificate import find_clusters
from kernelpca.solvers.lanczos import SEEDED
from kernelpca.solvers.rayleigh_ritz import MANY, PROBES, orthogonality_loss, orthonormal, probed_residuals
from kernelpca.solvers.solution import leading_signs
from kernelpca.solvers.watch import Watch


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
    with pytest.raises(ValueError, match=r"solver='magic' stands for no solver. Known names: auto, block_krylov"):
        as_solver("magic")
    assert as_solver("lanczos") == Lanczos()
    with pytest.raises(ValueError, match=r"Did you mean 'lanczos'\?"):
        as_solver("arpack")
    with pytest.raises(ValueError, match="Dense is a class"):
        as_solver(Dense)


def test_block_krylov_needs_few_passes():
    K, Q = with_spectrum(1 / np.arange(1, 801) ** 2)
    krylov = BlockKrylov().solve(DenseGram(K), 10, tol=1e-6)
    power = Randomized(oversampling=8).solve(DenseGram(K), 10, tol=1e-6)
    assert krylov.certificate.passes <= power.certificate.passes / 2
    assert span_distance(krylov.vectors, Q[:, :10]) < 1e-5


@pytest.mark.skipif(not SEEDED, reason="before scipy 1.17 ARPACK has a seed of its own, which nobody can set")
def test_lanczos_repeats_where_it_runs_out_of_directions():
    """Where many eigenvalues are the same, the first directions are used up soon, and new ones must be drawn."""
    groups = np.arange(150) % 30
    K = (groups[:, None] == groups).astype(float)
    answers = [Lanczos().solve(DenseGram(K), 3).vectors for _ in range(3)]
    for answer in answers[1:]:
        np.testing.assert_array_equal(answer, answers[0])


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


def upper_bound(values, coupling, k, n, trace, squares, psd):
    """Both steps at once."""
    if len(values) >= n:
        return np.sort(values)[::-1][:k].sum()
    return ritz_bound(values, coupling, k, n, largest_outside(values, coupling, n, trace, squares, psd))


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


def test_certificate_is_about_what_is_kept():
    K, _ = with_spectrum(0.8 ** np.arange(60))
    gram = DenseGram(K, positive_definite=True)
    whole = BlockKrylov().solve(gram, 8)
    part = BlockKrylov().solve(gram, 8, keep=lambda values, rounding, dtype: 3)
    assert part.enough
    assert len(part.values) == len(part.certificate.residuals) == part.vectors.shape[1] == 3
    assert part.certificate.lower <= (0.8 ** np.arange(3)).sum() <= part.certificate.upper
    assert part.certificate.variance_gap < 1e-6
    np.testing.assert_array_equal(part.vectors, whole.vectors[:, :3])
    more = BlockKrylov(max_iter=1).solve(gram, 8, keep=lambda values, rounding, dtype: None)
    assert not more.enough
    nothing = BlockKrylov().solve(gram, 8, keep=lambda values, rounding, dtype: 0)
    assert nothing.vectors.shape == (60, 0)
    assert nothing.certificate.variance_gap == 0


def test_a_false_promise_of_positive_definiteness_is_noticed():
    values = np.concatenate([[5.0, 4.0, 3.0], -np.ones(97)])
    K, _ = with_spectrum(values)
    certificate = BlockKrylov(max_iter=60).solve(DenseGram(K, positive_definite=True), 3, tol=1e-6).certificate
    assert certificate.lower <= 12 <= certificate.upper


def test_bounds_survive_cancellation():
    """A tiny signal on a large constant: centring leaves few digits, and the bound must know."""
    rng = np.random.default_rng(0)
    u = rng.standard_normal(300)
    u -= u.mean()
    u /= np.linalg.norm(u)
    for size in (3e-8, 1e-6, 1e-10):
        gram = CenteredGram(DenseGram(1 + size * np.outer(u, u), positive_definite=True))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            certificate = BlockKrylov(max_iter=1).solve(gram, 1).certificate
        assert certificate.lower <= size <= certificate.upper


def test_residuals_that_stay_near_the_rounding_level_are_rounding():
    """Two passes that bring nothing are enough to see it; far from that level they may only be slow."""
    values, gram = np.array([10.0, 1.0]), DenseGram(np.eye(20, dtype=np.float32))
    for size, stops in ((2.0, True), (20.0, False)):
        watch = Watch(gram, 2, 1e-9, None)
        watch.see(values)
        level = watch.rounding
        reports = [watch.report(values, np.array([0.1, size]) * level) for _ in range(4)]
        assert reports == [False, False, stops, stops]
        assert watch.rounding == pytest.approx(size * level if stops else level)


def test_rounding_that_stands_in_the_way_is_said():
    X = np.random.default_rng(0).standard_normal((1200, 6)).astype(np.float32) * [3, 2, 1, 0.5, 0.3, 0.2]
    gram = CenteredGram(DenseGram(RBF(1e-5)(X.astype(np.float32)), positive_definite=True))
    with pytest.warns(ConvergenceWarning, match="as good as rounding in float32 allows: give float64 data"):
        certificate = BlockKrylov().solve(gram, 5).certificate
    assert certificate.limited
    assert "as good as rounding allows" in str(certificate)


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_numbers_whose_squares_overflow_are_refused(size):
    with pytest.raises(ValueError, match=r"whose squares float64 cannot hold. Scale"):
        Dense().solve(DenseGram(size * np.eye(5)), 2)


@pytest.mark.parametrize(
    "solver",
    [Randomized(oversampling=-5), BlockKrylov(block_size=2.5), BlockKrylov(max_iter="a"), Lanczos(ncv=0)],
    ids=repr,
)
def test_bad_parameters(solver):
    with pytest.raises(ValueError, match="must be a whole number >= "):
        solver.solve(DenseGram(np.eye(50)), 2)


def test_order_is_algebraic_not_by_size():
    K, _ = with_spectrum([3.0, -1.0, 2.0, -2.0])
    np.testing.assert_allclose(Dense(indefinite="keep").solve(DenseGram(K), 4).values, [3, 2, -1, -2], atol=1e-12)


def test_negative_noise_is_no_alarm():
    K, _ = with_spectrum([3.0, 2.0, 1.0, -1e-9])
    np.testing.assert_array_equal(Dense("raise").solve(DenseGram(K), 4).values[3], 0)
    assert Dense("keep").solve(DenseGram(K), 4).values[3] == pytest.approx(-1e-9, rel=1e-4)


@pytest.mark.parametrize("name", ["lanczos", "lobpcg", "randomized", "block_krylov"])
def test_every_iterative_solver_tells_of_its_passes_and_can_be_stopped(name):
    K, _ = with_spectrum(0.99 ** np.arange(300))
    events = []
    as_solver(name).solve(DenseGram(K), 3, tol=1e-3, callback=events.append)
    assert len(events) >= 3
    assert [event.passes for event in events] == sorted(event.passes for event in events)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        stopped = as_solver(name).solve(DenseGram(K), 3, tol=1e-9, callback=lambda event: event.passes >= 4)
    assert stopped.certificate.passes <= 6
    assert not stopped.certificate.satisfied


@pytest.mark.parametrize("k", [MANY, MANY + 1, 300])
def test_evidence_of_many_components_is_about_theirs(k):
    """Of many components residuals are estimated: they are near those of a product with the matrix."""
    K, _ = with_spectrum(0.97 ** np.arange(300))
    solution = Dense().solve(DenseGram(K), k)
    certificate = solution.certificate
    true = np.linalg.norm(K @ solution.vectors - solution.vectors * solution.values, axis=0)
    assert certificate.satisfied
    assert certificate.grade == "exact"
    # both are a few eps of the first eigenvalue, and the product itself is known no better
    assert np.abs(certificate.residuals - true).max() < 30 * np.finfo(float).eps
    loss = np.abs(solution.vectors.T @ solution.vectors - np.eye(k)).max()
    assert loss <= certificate.orthogonality_loss + 1e-15
    assert certificate.orthogonality_loss < 1e-12


def test_wrong_pairs_are_seen_by_probes():
    """Probes tell residuals to about an eighth and never call vectors orthogonal that are not."""
    rng = np.random.default_rng(0)
    K, _ = with_spectrum(0.97 ** np.arange(300))
    values, U = np.linalg.eigh(K)
    U = U + 10.0 ** rng.uniform(-9, -2, 300) * rng.standard_normal((300, 300)) / np.sqrt(300)
    true = np.linalg.norm(K @ U - U * values, axis=0)
    Z = rng.standard_normal((300, PROBES))
    found = probed_residuals(values, U, Z, K @ Z)
    assert (found / true).min() > 0.5
    assert (found / true).max() < 1.6
    for columns in (MANY, MANY + 1, 300):
        loss = np.abs(U[:, :columns].T @ U[:, :columns] - np.eye(columns)).max()
        assert (1 - 1e-9) * loss <= orthogonality_loss(U[:, :columns]) <= 10 * np.sqrt(columns) * loss


def test_a_target_is_not_out_of_reach_while_eigenvalues_still_rise():
    """Rounding beside the smallest Ritz value tells nothing as long as that is not what it will be."""
    solver, watch = BlockKrylov(), SimpleNamespace(tol=1e-4, rounding=1.2e-4, k=2)

    def gives_up(residual):
        evidence = SimpleNamespace(leading=np.array([10.0, 1.0]), residuals=np.array([0.01, residual]))
        return solver._out_of_reach(watch, evidence)

    assert not gives_up(0.4)
    assert gives_up(0.1)


@pytest.mark.parametrize("criterion", ["variance", "certified"])
def test_features_that_exceed_the_matrix_are_dropped(criterion, monkeypatch):
    """Rounding may make F F' larger than K; what is read off it would be more than there is."""
    K, _ = with_spectrum(0.9 ** np.arange(300.0), seed=3)
    made = block_krylov.landmark_start

    def enlarged(*args):
        start = made(*args)
        return replace(start, F=1.001 * start.F)

    monkeypatch.setattr(block_krylov, "landmark_start", enlarged)
    solution = BlockKrylov(criterion=criterion, landmarks=60).solve(DenseGram(K, positive_definite=True), 5, tol=1e-3)
    truth = float(np.linalg.eigvalsh(K)[-5:].sum())
    assert solution.certificate.satisfied
    assert solution.certificate.lower <= truth * (1 + 1e-6)
    assert solution.values.sum() == pytest.approx(truth, rel=1e-3)
    assert solution.values.sum() <= truth * (1 + 1e-5)
