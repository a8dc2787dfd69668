"""The dual of kernel PCA: gradient, propositions of the paper, descent, safeguards, and what the certificate says."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import reference
from contracts.solver import span_distance, with_spectrum
from kernelpca.gram import CenteredGram, DenseGram, LowRankGram, WeightedGram
from kernelpca.kernels import RBF
from kernelpca.objectives import EpsilonInsensitive, Huber, Square
from kernelpca.solvers import SOLVERS, Dca, Dense, as_solver
from kernelpca.solvers.dca import iterate_of
from kernelpca.solvers.dual import polar, ritz_pairs
from kernelpca.solvers.sparsity import find_epsilon
from kernelpca.solvers.watch import Watch

OBJECTIVES = [
    Huber("0.8max"),
    Huber("0.4max"),
    Huber("0.6max", "1"),
    Huber("0.5max", "fro"),
    EpsilonInsensitive("0.3max"),
    EpsilonInsensitive("0.3max", "inf"),
]
PAPERS = {"start": "random", "stop": "loss", "accelerate": False, "bound": False}


def centered(n=60, d=3, gamma=0.3, seed=0, outliers=4):
    """The centered Gram matrix of a cloud with some rows far away."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:outliers] *= 6
    return CenteredGram(DenseGram(RBF(gamma)(X), positive_definite=True)).dense()


def gram_of(G):
    return DenseGram((G + G.T) / 2, positive_definite=True)


def square_solution(G, k):
    values, vectors = np.linalg.eigh(G)
    return vectors[:, ::-1][:, :k] * np.sqrt(values[::-1][:k]), values[::-1][:k]


def losses_of(solver, gram, k, objective):
    """The dual loss after each pass that counts."""
    losses = []
    solver.solve(
        gram,
        k,
        objective=objective,
        tol=1e-9,
        callback=lambda e: losses.append(np.inf if e.captured is None else -e.captured / 2),
    )
    return losses


# the gradient and the paper's propositions


def test_the_gradient_equals_finite_differences():
    G, rng = centered(12), np.random.default_rng(1)
    H, D = rng.standard_normal((12, 3)), rng.standard_normal((12, 3))
    P = polar(H, G @ H, "Dca")
    assert P.nuclear == pytest.approx(reference.nuclear(H, G), rel=1e-9)
    gradient = G @ H @ P.inverse
    np.testing.assert_allclose(gradient, reference.nuclear_gradient(H, G), rtol=1e-7, atol=1e-9)
    step = 1e-6
    slope = (reference.nuclear(H + step * D, G) - reference.nuclear(H - step * D, G)) / (2 * step)
    assert slope == pytest.approx(np.vdot(gradient, D), rel=1e-6)


def test_proposition_3_6_critical_points_of_the_dual_are_critical_for_the_reconstruction():
    """At any critical point, not only at the best: H H'H = G H."""
    G = centered(30)
    values, vectors = np.linalg.eigh(G)
    chosen = [29, 27, 24]  # the first, third and sixth: critical, but not the maximum
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    H = vectors[:, chosen] * np.sqrt(values[chosen]) @ Q
    state = iterate_of(H, G @ H, Square(), lambda H, GH: polar(H, GH, "Dca"))
    assert state.criticality < 1e-10
    np.testing.assert_allclose(H @ H.T @ H - G @ H, 0, atol=1e-10)
    found = Dca(bound=False).solve(gram_of(G), 3, objective=Huber(np.inf), tol=1e-10).dual.H
    np.testing.assert_allclose(found @ found.T @ found, G @ found, atol=1e-8)


def test_proposition_3_7_the_svd_gives_a_dual_solution():
    G = centered(30)
    H, values = square_solution(G, 4)
    assert 0.5 * np.sum(H**2) - reference.nuclear(H, G) == pytest.approx(-0.5 * values.sum())
    np.testing.assert_allclose(H, reference.nuclear_gradient(H, G), atol=1e-8)


def test_proposition_3_8_gives_projections_on_orthonormal_directions():
    G = centered(40)
    solution = Dca().solve(gram_of(G), 3, objective=Huber("0.5max"), tol=1e-8)
    alpha = solution.vectors / np.sqrt(solution.values)
    np.testing.assert_allclose(alpha.T @ G @ alpha, np.eye(3), atol=1e-9)  # orthonormal in feature space
    scores = solution.products / np.sqrt(solution.values)
    twin = reference.dual_projections(G, G, solution.dual.H)
    np.testing.assert_allclose(scores @ scores.T, twin @ twin.T, atol=1e-7)  # equal up to a rotation
    np.testing.assert_allclose(scores.T @ scores, np.diag(solution.values), atol=1e-8)  # by principal axes
    assert (np.diff(solution.values) < 0).all()


@pytest.mark.parametrize(
    "objective", [Huber(np.inf), Huber(1e6, "1"), EpsilonInsensitive(0), EpsilonInsensitive(0, "inf")]
)
@pytest.mark.parametrize("accelerate", [True, False])
def test_limits_recover_the_square_solution_from_a_random_start(objective, accelerate):
    G = centered(80)
    classical = Dense().solve(gram_of(G), 3)
    solution = Dca("random", accelerate, max_iter=5000).solve(gram_of(G), 3, objective=objective, tol=1e-9)
    np.testing.assert_allclose(solution.values, classical.values, rtol=1e-6)
    np.testing.assert_allclose(solution.vectors, classical.vectors, atol=1e-6)  # order and sign as well
    np.testing.assert_allclose(solution.products, classical.products, atol=1e-6)


# descent


@pytest.mark.parametrize("objective", OBJECTIVES, ids=repr)
@pytest.mark.parametrize("start", ["square", "random"])
def test_the_plain_iteration_equals_algorithm_1(objective, start):
    G = centered(20, outliers=2)
    H0, _ = square_solution(G, 2)
    if start == "random":
        H0 = np.random.default_rng(0).standard_normal((20, 2))
    resolved = objective.resolve(square_solution(G, 2)[0])
    solver = Dca(accelerate=False, bound=False, max_iter=6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = solver.solve(gram_of(G), 2, objective=resolved, start=H0, tol=0).dual.H
    np.testing.assert_allclose(found, reference.dca(G, H0, resolved.prox_conjugate, 5), atol=1e-8)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6), index=st.integers(0, len(OBJECTIVES) - 1), accelerate=st.booleans(), k=st.integers(1, 4)
)
@pytest.mark.parametrize("start", ["square", "random"])
def test_the_loss_never_rises(start, seed, index, accelerate, k):
    G = centered(40, seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        losses = losses_of(Dca(start, accelerate, bound=False, max_iter=300), gram_of(G), k, OBJECTIVES[index])
    finite = np.array(losses)[np.isfinite(losses)]
    assert len(finite) >= 1
    assert (np.diff(finite) <= 1e-10 * (1 + np.abs(finite[1:]))).all()


@pytest.mark.parametrize("norm", ["2", "1", "fro"])
@pytest.mark.parametrize("accelerate", [True, False])
def test_hubers_limit_holds_at_every_iterate(norm, accelerate):
    G = centered(50)
    H0, _ = square_solution(G, 3)
    huber = Huber("0.5max", norm).resolve(H0)
    watch = Watch(gram_of(G), 3, 1e-10, None)
    iterates = Dca(accelerate=accelerate, max_iter=40)._descend(watch, H0, huber)
    assert next(iterates).loss == np.inf  # the square solution lies outside
    for count, iterate in enumerate(iterates):  # noqa: B007
        sizes = {"2": np.linalg.norm(iterate.H, axis=1), "1": np.abs(iterate.H), "fro": np.linalg.norm(iterate.H)}[norm]
        assert np.max(sizes) <= huber.kappa
        assert np.isfinite(iterate.loss)
    assert count > 5


@pytest.mark.parametrize("objective", OBJECTIVES, ids=repr)
def test_critical_points_are_fixed_points(objective):
    G = centered(60)
    solution = Dca().solve(gram_of(G), 3, objective=objective, tol=1e-8)
    dual = solution.dual
    again = dual.objective.prox_conjugate(reference.nuclear_gradient(dual.H, G))
    assert np.linalg.norm(again - dual.H) <= 1e-7 * np.linalg.norm(dual.H)
    certificate = solution.certificate
    assert certificate.satisfied
    assert certificate.criticality <= 1e-8
    assert certificate.duality_gap == pytest.approx(0, abs=1e-12)
    assert -certificate.loss == pytest.approx(certificate.lower / 2, rel=1e-10)


@pytest.mark.parametrize("objective", OBJECTIVES, ids=repr)
def test_acceleration_reaches_a_point_as_good(objective):
    G = centered(80)
    plain, fast = (
        Dca(accelerate=fast, bound=False, max_iter=5000).solve(gram_of(G), 3, objective=objective, tol=1e-7)
        for fast in (False, True)
    )
    assert fast.certificate.loss == pytest.approx(plain.certificate.loss, rel=1e-2)
    assert fast.certificate.passes <= plain.certificate.passes + 2


def test_acceleration_halves_the_passes_of_a_slow_problem():
    X = np.random.default_rng(0).standard_normal((300, 20))
    G = CenteredGram(DenseGram(RBF(0.025)(X), positive_definite=True)).dense()
    passes = {}
    for fast in (False, True):
        solver = Dca(accelerate=fast, bound=False, max_iter=5000)
        passes[fast] = solver.solve(gram_of(G), 5, objective=EpsilonInsensitive("0.5max"), tol=1e-6).certificate.passes
    assert passes[True] <= passes[False] / 2


def test_the_papers_stopping_rule():
    G = centered(40)
    solver = Dca(**PAPERS)
    losses = losses_of(solver, gram_of(G), 2, Huber("0.8max"))
    assert abs(losses[-1] - losses[-2]) <= np.finfo(float).eps
    assert all(abs(a - b) > np.finfo(float).eps for a, b in pairwise(losses[1:-1]))
    assert len(losses) < 1000
    certificate = solver.solve(gram_of(G), 2, objective=Huber("0.8max")).certificate
    assert certificate.satisfied
    assert certificate.criticality < 1e-6


def test_a_given_start_is_used():
    G = centered(60)
    cold = Dca(bound=False).solve(gram_of(G), 3, objective=Huber("0.5max"), tol=1e-6)
    warm = Dca(bound=False).solve(gram_of(G), 3, objective=cold.dual.objective, start=cold.dual.H, tol=1e-6)
    assert warm.certificate.passes == 1
    assert cold.certificate.passes > 5


# safeguards


def test_lost_directions_stay_lost_and_nothing_becomes_nan():
    """A start of rank one: the lost directions have no gradient, and stay lost."""
    G = centered(30)
    start = np.zeros((30, 3))
    start[:5] = [1.0, 2.0, -1.0]
    solution = Dca(bound=False).solve(gram_of(G), 3, objective=EpsilonInsensitive(0.05), start=start, tol=1e-8)
    for part in (solution.values, solution.vectors, solution.products, solution.dual.H):
        assert np.isfinite(part).all()
    assert solution.certificate.rank == 1
    assert solution.values[0] > 0
    assert (solution.values[1:] == 0).all()
    assert "directions have no rows left" in str(solution.certificate)


def test_nothing_remains_without_nan():
    G = centered(30)
    solution = Dca().solve(gram_of(G), 3, objective=EpsilonInsensitive(100.0), tol=1e-8)
    assert solution.certificate.rank == 0
    assert not solution.dual.H.any()
    np.testing.assert_array_equal(solution.values, 0)
    assert np.isfinite(solution.vectors).all()


def test_a_rank_deficient_matrix():
    F = np.random.default_rng(0).standard_normal((40, 2))
    solution = Dca().solve(LowRankGram(F), 4, objective=Huber("0.5max"), tol=1e-7)
    assert solution.certificate.rank == 2
    assert (solution.values[2:] == 0).all()
    assert np.isfinite(solution.vectors).all()


def test_indefinite_matrices_are_refused_unless_real_parts_are_asked_for():
    K, _ = with_spectrum(np.concatenate([[5.0, 4.0, 3.0], np.full(47, -2.0)]))
    start = np.random.default_rng(0).standard_normal((50, 3))
    with pytest.raises(ValueError, match=r"Dca needs a positive semi-definite matrix.*Dca\(real_parts=True\)"):
        Dca().solve(DenseGram(K), 3, objective=Huber(1.0), start=start)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solution = Dca(real_parts=True, bound=False, max_iter=50).solve(
            DenseGram(K), 3, objective=Huber(1.0), start=start
        )
    assert np.isfinite(solution.vectors).all()


def test_a_loss_that_rises_is_noticed():
    """A matrix that is not the same twice."""

    class Liar(DenseGram):
        def matmat(self, V):
            self.K = self.K * 0.5
            return super().matmat(V)

    G = centered(30)
    start, _ = square_solution(G, 2)
    with pytest.raises(ValueError, match=r"The loss rose from .* Check that the matrix is symmetric"):
        Dca(accelerate=False).solve(Liar(G), 2, objective=EpsilonInsensitive(1e-3), start=start, tol=1e-8)


def test_eigensolvers_refuse_other_objectives():
    gram = gram_of(centered(30))
    for name in SOLVERS:
        if name != "dca":
            with pytest.raises(
                ValueError, match=r"is not compatible with Huber\(kappa=1.0, norm='2'\): it needs the variance"
            ):
                as_solver(name).solve(gram, 2, objective=Huber(1.0))
        np.testing.assert_allclose(
            as_solver(name).solve(gram, 2, objective=Square(), tol=1e-9).values, square_solution(centered(30), 2)[1]
        )


def test_bad_parameters():
    gram = gram_of(centered(30))
    with pytest.raises(ValueError, match="choose 'square' or 'random'"):
        Dca(start="warm").solve(gram, 2, objective=Huber(1.0))
    with pytest.raises(ValueError, match="choose 'criticality' or 'loss'"):
        Dca(stop="soon").solve(gram, 2, objective=Huber(1.0))
    with pytest.raises(ValueError, match="max_iter must be a whole number >= 1"):
        Dca(max_iter=0).solve(gram, 2, objective=Huber(1.0))
    with pytest.raises(ValueError, match="kappa must be positive"):
        Dca().solve(gram, 2, objective=Huber(-1.0))


def test_not_reaching_the_goal_is_said():
    gram = gram_of(centered(60))
    with pytest.warns(ConvergenceWarning, match="criticality residual .* 1e-12 was asked for. Raise max_iter"):
        solution = Dca(max_iter=3).solve(gram, 3, objective=Huber("0.3max", "1"), tol=1e-12)
    assert not solution.certificate.satisfied
    assert "NOT the 1e-12 asked for" in str(solution.certificate)


def test_a_callback_can_stop():
    gram = gram_of(centered(60))
    events = []

    def stop(event):
        events.append(event)
        return len(events) == 3

    with pytest.warns(ConvergenceWarning, match="The callback asked it to stop"):
        solution = Dca().solve(gram, 3, objective=Huber("0.3max", "1"), tol=1e-12, callback=stop)
    assert len(events) == 3
    assert solution.stopped
    assert not solution.certificate.satisfied


# what the certificate says


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), index=st.integers(0, len(OBJECTIVES) - 1), k=st.integers(1, 3))
def test_the_bound_holds_for_all_directions(seed, index, k):
    """Random directions, the square solution's and those of other starts never exceed `upper`."""
    G = centered(30, seed=seed)
    solution = Dca().solve(gram_of(G), k, objective=OBJECTIVES[index], tol=1e-6)
    objective, upper = solution.dual.objective, solution.certificate.upper / 2
    rng = np.random.default_rng(seed)
    for _ in range(20):
        A = rng.standard_normal((30, k)) * rng.choice([0.0, 1.0], (30, 1), p=[0.7, 0.3])
        P = polar(A, G @ A, "Dca")
        assert objective.envelope(G @ A @ P.inverse) <= upper * (1 + 1e-9)
    other = Dca("random").solve(gram_of(G), k, objective=objective, tol=1e-6, rng=rng)
    assert other.certificate.lower <= solution.certificate.upper * (1 + 1e-9)
    assert solution.certificate.lower <= solution.certificate.upper * (1 + 1e-9)


@pytest.mark.parametrize("objective", [Huber("0.8max"), Huber("0.5max"), Huber("0.5max", "fro")], ids=repr)
def test_hubers_solutions_are_proved_global_where_components_are_apart(objective):
    G = centered(60)
    solution = Dca().solve(gram_of(G), 2, objective=objective, tol=1e-6)
    assert solution.certificate.scope == "global"
    assert solution.certificate.grade == "certified"
    assert "a global optimum: no other directions are better" in str(solution.certificate)


def test_a_poor_critical_point_is_left_or_called_local():
    """Started at the second and third eigenvectors, which are critical for a limit that limits nothing."""
    G = centered(40)
    H, values = square_solution(G, 3)
    huber = Huber(100.0)
    stuck = Dca(bound=False).solve(gram_of(G), 2, objective=huber, start=H[:, 1:], tol=1e-6)
    assert stuck.values.sum() == pytest.approx(values[1:].sum())
    assert stuck.certificate.scope == "local"
    freed = Dca().solve(gram_of(G), 2, objective=huber, start=H[:, 1:], tol=1e-6)
    assert freed.values.sum() == pytest.approx(values[:2].sum())
    assert freed.certificate.scope == "global"


def test_a_local_optimum_is_called_local():
    X = np.random.default_rng(0).standard_normal((100, 5))
    G = CenteredGram(DenseGram(RBF(0.1)(X), positive_definite=True)).dense()
    certificate = Dca().solve(gram_of(G), 3, objective=EpsilonInsensitive("0.6max"), tol=1e-6).certificate
    assert certificate.scope == "local"
    assert "a critical point, local as far as is known" in str(certificate)


def test_many_rows_are_bounded_without_lapack():
    X = np.random.default_rng(0).standard_normal((1500, 2))
    gram = CenteredGram(DenseGram(RBF(0.1)(X), positive_definite=True))
    certificate = Dca().solve(gram, 2, objective=Huber("0.5max"), tol=1e-4).certificate
    assert certificate.scope == "global"


def test_float32():
    G = centered(80)
    fine = Dca().solve(gram_of(G), 3, objective=Huber("0.5max"), tol=1e-6)
    rough = Dca().solve(DenseGram(G.astype(np.float32), True), 3, objective=Huber("0.5max"), tol=1e-4)
    np.testing.assert_allclose(rough.values, fine.values, rtol=1e-3)
    assert span_distance(np.linalg.qr(rough.vectors)[0], np.linalg.qr(fine.vectors)[0]) < 1e-2
    assert rough.certificate.satisfied


def test_weighted_rows():
    """A row of weight two counts like the row given twice."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2))
    counts = rng.integers(1, 4, 30)
    repeated = np.repeat(X, counts, axis=0)
    G, G2 = RBF(0.5)(X), RBF(0.5)(repeated)
    huber = Huber(0.3)
    whole = Dca().solve(gram_of(G2), 2, objective=huber, tol=1e-8)
    gram = WeightedGram(gram_of(G), counts.astype(float))
    short = Dca().solve(gram, 2, objective=huber.weighted(np.sqrt(counts)), tol=1e-8)
    np.testing.assert_allclose(short.values, whole.values, rtol=1e-6)
    assert short.certificate.loss == pytest.approx(whole.certificate.loss, rel=1e-9)


def test_ritz_pairs_of_a_dependent_block():
    G = centered(30)
    H = np.random.default_rng(0).standard_normal((30, 2))
    pairs = ritz_pairs(np.column_stack([H, H[:, 0]]), G @ np.column_stack([H, H[:, 0]]))
    assert len(pairs.values) == 2
    np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(2), atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_small_components_do_not_drown_in_large_ones(dtype):
    """Eigenvalues of H'G H span the square of those of G: twelve digits here, which float32 does not have."""
    rng = np.random.default_rng(0)
    values = np.array([1.0, 1e-3, 1e-6])
    Q = np.linalg.qr(rng.standard_normal((50, 3)))[0]
    H = (Q * np.sqrt(values)).astype(dtype)
    GH = (Q * values**1.5).astype(dtype)
    P = polar(H, GH, "Dca")
    assert P.rank == 3
    np.testing.assert_allclose(P.roots, values, rtol=1e-4)
    np.testing.assert_allclose(GH @ P.inverse, H, rtol=2e-2, atol=1e-6)


# a wanted sparsity


@pytest.mark.parametrize("norm", ["2", "inf"])
@pytest.mark.parametrize("sparsity", [0.0, 0.1, 0.5, 0.9])
def test_the_wanted_part_of_the_rows_is_left_out(norm, sparsity):
    X = np.random.default_rng(0).standard_normal((200, 5))
    G = CenteredGram(DenseGram(RBF(0.1)(X), positive_definite=True)).dense()
    H0, _ = square_solution(G, 3)
    watch = Watch(gram_of(G), 3, 1e-5, None)
    epsilon, H = find_epsilon(watch, H0, sparsity, norm, np.ones(200), 5000)
    assert np.mean(~H.any(axis=1)) == pytest.approx(sparsity)
    solution = Dca(bound=False).solve(gram_of(G), 3, objective=EpsilonInsensitive(epsilon, norm), start=H, tol=1e-5)
    assert np.mean(~solution.dual.H.any(axis=1)) == pytest.approx(sparsity, abs=0.011)
    assert solution.certificate.passes < 10
