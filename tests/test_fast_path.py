"""The fast path, part by part: what products tell, probes, bounds, estimates, landmarks, kept tiles, two precisions."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import LinearOperator, eigsh
from scipy.stats import binom, chi2
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

import reference
from contracts.gram import GramCase, GramContract
from contracts.solver import span_distance, with_spectrum
from kernelpca import KernelPCA
from kernelpca.gram import CallableGram, CenteredGram, DenseGram, LowRankGram, OperatorGram, TiledGram, WeightedGram
from kernelpca.gram.landmarks import whitening
from kernelpca.gram.single import SingleGram
from kernelpca.kernels import RBF
from kernelpca.solvers import BlockKrylov, Lanczos, Lbfgs
from kernelpca.solvers.block_krylov import LARGE, default_block
from kernelpca.solvers.bounds import nystrom_bound, ritz_bound
from kernelpca.solvers.cost import Size
from kernelpca.solvers.evidence import Evidence
from kernelpca.solvers.landmarks import default_count, landmark_start
from kernelpca.solvers.lbfgs import dual_cost
from kernelpca.solvers.probes import Probes
from kernelpca.solvers.rayleigh_ritz import orthonormal
from kernelpca.solvers.subspace import Subspace
from kernelpca.solvers.watch import Watch
from kernelpca.tiles import one_blas_thread

LAWS = settings(deadline=None, max_examples=30, derandomize=True)

# loosest relative error of small matrices, by dtype
CLOSE = {np.float32: 2e-4, np.float64: 1e-9}


def positive(n, decay=0.8, seed=0):
    """A positive definite matrix whose eigenvalues decay."""
    return with_spectrum(decay ** np.arange(n), seed)[0]


def half_features(K, m, seed=0):
    """(n, m): features with F F' <= K, from columns."""
    idx = np.random.default_rng(seed).choice(len(K), m, replace=False)
    return K[:, idx] @ whitening(K[np.ix_(idx, idx)])


def grown(K, widths, dtype=np.float64, F=None, seed=0):
    """A subspace of random orthonormal blocks, added one after the other."""
    rng = np.random.default_rng(seed)
    n, q = len(K), sum(widths)
    Q = np.linalg.qr(rng.standard_normal((n, q)))[0].astype(dtype)
    subspace = Subspace(n, q + 2, np.dtype(dtype), None if F is None else F.astype(dtype))
    begin = 0
    for width in widths:
        block = Q[:, begin : begin + width]
        subspace.add(block, (K @ block).astype(dtype))
        begin += width
    return subspace, Q.astype(float)


def approximation(K, Q, F=None):
    """The whole Nyström approximation by features and a basis, dense."""
    FF = np.zeros_like(K) if F is None else F.astype(float) @ F.T.astype(float)
    return FF + reference.nystrom(K - FF, Q)


problems = st.fixed_dictionaries(
    {
        "n": st.integers(10, 26),
        "decay": st.floats(0.6, 0.95),
        "m": st.integers(0, 5),
        "widths": st.lists(st.integers(1, 3), min_size=1, max_size=3),
        "dtype": st.sampled_from([np.float32, np.float64]),
        "seed": st.integers(0, 10**6),
    }
)


def build(problem):
    """The matrix, features or None, a subspace with its basis, and how close results must be."""
    K = positive(problem["n"], problem["decay"], problem["seed"])
    F = half_features(K, problem["m"], problem["seed"]) if problem["m"] else None
    subspace, Q = grown(K, problem["widths"], problem["dtype"], F, problem["seed"])
    return K, F, subspace, Q, CLOSE[problem["dtype"]]


# the subspace


@LAWS
@given(problems)
def test_ritz_pairs_products_and_residuals_equal_the_dense_ones(problem):
    K, _, subspace, Q, close = build(problem)
    values, S = subspace.ritz()
    np.testing.assert_allclose(values, np.linalg.eigvalsh(Q.T @ K @ Q)[::-1], atol=close)
    U = Q @ S
    np.testing.assert_allclose(subspace.vectors(S), U, atol=close)
    np.testing.assert_allclose(subspace.products(S), K @ U, atol=close)
    np.testing.assert_allclose(subspace.products(S[:, :1]), K @ U[:, :1], atol=close)
    R = K @ U - U * values
    np.testing.assert_allclose(subspace.coupling(values, S), R.T @ R, atol=close)


@LAWS
@given(problems)
def test_the_readout_is_the_nystrom_approximation_and_lies_between_ritz_and_truth(problem):
    K, F, subspace, Q, close = build(problem)
    L = approximation(K, Q, F)
    level = 1e-12 if problem["dtype"] == np.float64 else 1e-6
    readout = subspace.nystrom(level)
    s = len(readout.values)
    expected = np.linalg.eigvalsh(L)[::-1]
    np.testing.assert_allclose(readout.values[: len(K)], expected[:s], atol=close)
    assert readout.trace == pytest.approx(np.trace(L), abs=10 * close)
    truth = np.linalg.eigvalsh(K)[::-1]
    ritz = subspace.ritz()[0]
    for k in range(1, min(s, len(ritz), len(K)) + 1):
        assert readout.values[:k].sum() <= truth[:k].sum() + close
        assert readout.values[:k].sum() >= ritz[:k].sum() - close
    if problem["dtype"] == np.float64:
        strong = int((readout.values > 1e-6).sum())
        U = subspace.readout_vectors(readout, strong)
        np.testing.assert_allclose(U.T @ U, np.eye(strong), atol=1e-6)
        np.testing.assert_allclose(L @ U, U * readout.values[:strong], atol=1e-6)


@LAWS
@given(problems)
def test_what_is_unexplained(problem):
    K, F, subspace, Q, close = build(problem)
    X = np.random.default_rng(5).standard_normal((len(K), 3)).astype(problem["dtype"])
    readout = subspace.nystrom(1e-12 if problem["dtype"] == np.float64 else 1e-6)
    FF = np.zeros_like(K) if F is None else F @ F.T
    excess = subspace.excess(X, (K @ X).astype(problem["dtype"]))
    np.testing.assert_allclose(excess, (K - FF) @ X, atol=10 * close)
    rest = subspace.unexplained(X, excess, readout.root)
    np.testing.assert_allclose(rest, (K - approximation(K, Q, F)) @ X, atol=10 * close)
    inside = subspace.unexplained(subspace.Q, subspace.excess(subspace.Q, (K @ Q).astype(excess.dtype)), readout.root)
    np.testing.assert_allclose(inside, 0, atol=10 * close)  # the approximation is exact on the basis


def assert_same_subspace(actual, expected, close):
    assert actual.size == expected.size
    for name in ("Q", "Y", "A", "P", "T", "N", "FF"):
        np.testing.assert_allclose(getattr(actual, name), getattr(expected, name), atol=close, err_msg=name)


@LAWS
@given(problems)
def test_without_its_features_a_subspace_is_as_if_it_never_had_any(problem):
    K, _, subspace, _, close = build(problem)
    subspace.drop_features()
    plain, _ = grown(K, problem["widths"], problem["dtype"], None, problem["seed"])
    assert_same_subspace(subspace, plain, close)
    assert subspace.F.shape == (len(K), 0)


@LAWS
@given(problems, st.integers(1, 3))
def test_a_restart_keeps_a_part_as_if_only_that_had_been_added(problem, s):
    K, F, subspace, Q, close = build(problem)
    values, S = subspace.ritz()
    S = S[:, :s]
    U = Q @ S
    room = subspace.room + subspace.size - S.shape[1]
    subspace.restart(S)
    assert subspace.room == room
    alone = Subspace(len(K), room + S.shape[1], np.dtype(problem["dtype"]), subspace.F if F is not None else None)
    block = U.astype(problem["dtype"])
    alone.add(block, (K @ block).astype(problem["dtype"]))
    assert_same_subspace(subspace, alone, close)
    np.testing.assert_allclose(subspace.ritz()[0], values[:s], atol=close)
    extra = orthonormal(np.random.default_rng(1).standard_normal((len(K), 1)).astype(block.dtype), subspace.Q, 0.0)
    for grows in (subspace, alone):
        grows.add(extra, (K @ extra).astype(block.dtype))
    assert_same_subspace(subspace, alone, close)


def test_a_restart_in_many_blocks_of_rows(monkeypatch):
    monkeypatch.setattr("kernelpca.tall.ROWS", 7)
    K = positive(30)
    for dtype in (np.float32, np.float64):
        subspace, Q = grown(K, [3, 3], dtype, half_features(K, 4))
        S = subspace.ritz()[1][:, :2]
        subspace.restart(S)
        np.testing.assert_allclose(subspace.Q, Q @ S, atol=CLOSE[dtype])
        np.testing.assert_allclose(subspace.products(np.eye(2)), K @ Q @ S, atol=CLOSE[dtype])


def test_without_features_the_readout_goes_on_like_krylov():
    """What its eigenvectors have outside the basis is the span of K Q outside the basis."""
    K = positive(40, 0.9)
    subspace, Q = grown(K, [4])
    readout = subspace.nystrom(1e-13)
    from_readout = orthonormal(subspace.readout_vectors(readout, 4), subspace.Q, 1e-12)
    from_krylov = orthonormal(K @ Q, subspace.Q, 1e-12)
    assert from_readout.shape == from_krylov.shape == (40, 4)
    assert span_distance(from_readout, from_krylov) < 1e-9


def test_directions_at_the_rounding_level_are_left_out_of_the_readout():
    K = with_spectrum(np.where(np.arange(30) < 3, 1.0, 0.0))[0]
    subspace, _ = grown(K, [6])
    readout = subspace.nystrom(1e-12)
    assert readout.root.shape == (6, 3)
    np.testing.assert_allclose(readout.values, np.ones(3), atol=1e-9)
    assert readout.trace == pytest.approx(3.0)


def test_the_readout_in_float32_stays_below_the_truth():
    """Where the basis just reaches the rank, T is small in directions in which the products are not."""
    worst = 0.0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, p, k = 85, 6, 5
        K = with_spectrum(np.where(np.arange(n) < 18, rng.uniform(1, 2, n), 0.0), seed)[0]
        solver = BlockKrylov(criterion="variance", landmarks=0, block_size=p, max_iter=3)
        solution = solve(solver, DenseGram(K, positive_definite=True), k, tol=1e-3, rng=rng)
        truth = np.linalg.eigvalsh(K)[::-1][:k].sum()
        worst = max(worst, (solution.certificate.lower - truth) / truth)
    assert worst <= 0, f"lower bound above the truth by {worst:.1e} of it"


# probes


def residual_matrices(n, seed=0):
    """Positive semi-definite matrices of several spectra."""
    for values in (0.5 ** np.arange(n), np.ones(n), 1 / np.arange(1, n + 1), np.eye(n)[0]):
        yield with_spectrum(values, seed)[0], values.max()


def watched(E, count, rng, delta, steps, dtype=np.float64):
    """Probes that look at E by so many products."""
    probes = Probes(len(E), count, np.dtype(dtype), rng, delta)
    probes.take((E @ probes.riders()).astype(dtype))
    probes.freeze(lambda X, EX: EX, (E @ probes.Omega).astype(dtype))
    for _ in range(steps - 1):
        probes.take((E @ probes.riders()).astype(dtype))
    return probes


@pytest.mark.parametrize("steps", [1, 2, 4])
def test_the_sum_over_polynomials_equals_the_naive_one(steps):
    E = positive(20, 0.7)
    probes = watched(E, 3, np.random.default_rng(0), 1e-3, steps)
    for e in (0.3, 1.0, 1.7, 5.0):
        expected = reference.christoffel(E, probes.Omega, steps, e)
        assert probes._christoffel(e) == pytest.approx(expected, rel=1e-8)


def test_what_probes_see_solves_the_equation():
    """`largest` is where the sum equals one over the quantile of the chi-square distribution."""
    E = positive(30, 0.8)
    probes = watched(E, 4, np.random.default_rng(1), 0.02, 3)
    expected = 1 / chi2.ppf(0.01, 4)  # the first look has half of the failure probability
    assert reference.christoffel(E, probes.Omega, 3, probes.largest()) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("steps", [1, 3])
def test_probes_fail_as_seldom_as_stated(steps):
    delta, rounds, count = 0.2, 400, 3
    allowed = binom.ppf(1 - 1e-5, rounds, delta / 2)
    for E, largest in residual_matrices(25):
        rng = np.random.default_rng(steps)
        failures = sum(watched(E, count, rng, delta, steps).largest() < largest * (1 - 1e-12) for _ in range(rounds))
        assert failures <= allowed


def test_probes_are_not_more_careful_than_stated():
    """For a single eigenvalue the statement is exact: they fail just when the weight is below the quantile."""
    E, delta, rounds = np.diag(np.eye(12)[0]), 0.4, 600
    rng = np.random.default_rng(0)
    failures = 0
    for _ in range(rounds):
        probes = watched(E, 2, rng, delta, 1)
        failed = probes.largest() < 1 - 1e-9
        assert failed == (np.square(probes.Omega[0]).sum() < chi2.ppf(delta / 2, 2))
        failures += failed
    assert binom.ppf(1e-5, rounds, delta / 2) <= failures <= binom.ppf(1 - 1e-5, rounds, delta / 2)


def test_more_steps_of_lanczos_sharpen_what_probes_say():
    for E, largest in residual_matrices(25, seed=3):
        said = [watched(E, 4, np.random.default_rng(0), 1e-3, steps).largest() for steps in range(1, 8)]
        assert all(after <= before * (1 + 1e-9) for before, after in pairwise(said))
        assert said[-1] >= largest * (1 - 1e-9)
    steep = watched(positive(25, 0.3), 4, np.random.default_rng(0), 1e-3, 20).largest()
    assert steep == pytest.approx(1.0, rel=1e-6)


def test_each_look_anew_takes_half_of_what_failure_probability_is_left():
    E = positive(30, 0.8)
    probes = watched(E, 4, np.random.default_rng(0), 1e-2, 1)
    said = [probes.largest()]
    for j in (2, 3, 4):
        probes.freeze(lambda X, EX: EX, E @ probes.Omega)
        said.append(probes.largest())
        expected = 1 / chi2.ppf(1e-2 * 0.5**j, 4)
        assert reference.christoffel(E, probes.Omega, 1, said[-1]) == pytest.approx(expected, rel=1e-6)
    assert said == sorted(said)


def test_several_looks_together_fail_as_seldom_as_stated():
    """The matrix shrinks from look to look; a failure of any counts."""
    delta, rounds, n = 0.3, 300, 20
    rng = np.random.default_rng(4)
    failures = 0
    for _ in range(rounds):
        probes = None
        failed = False
        for shrink in (1.0, 0.5, 0.1):
            values = shrink * np.eye(n)[0] + 0.01
            E = np.diag(values)
            if probes is None:
                probes = watched(E, 2, rng, delta, 1)
            else:
                probes.freeze(lambda X, EX: EX, E @ probes.Omega)
            for _ in range(2):
                failed |= probes.largest() < values.max() * (1 - 1e-9)
                probes.take(E @ probes.riders())
        failures += failed
    assert failures <= binom.ppf(1 - 1e-5, rounds, delta)


def test_probes_of_nothing():
    probes = watched(np.zeros((10, 10)), 3, np.random.default_rng(0), 1e-3, 3)
    assert probes.largest() == 0
    assert np.isfinite(probes.riders()).all()


def test_probes_in_float32_say_the_same():
    E = positive(60, 0.8)
    said = [watched(E, 4, np.random.default_rng(0), 1e-3, 3, dtype).largest() for dtype in (np.float32, np.float64)]
    assert said[0] == pytest.approx(said[1], rel=1e-4)
    fresh = Probes(5, 2, np.dtype(np.float32), np.random.default_rng(0), 1e-3)
    assert not fresh.frozen
    assert fresh.riders() is fresh.Omega
    assert fresh.Omega.dtype == np.float32


# bounds


@LAWS
@given(problems, st.integers(1, 6), st.floats(0, 1.2))
def test_the_bound_from_the_readout_equals_the_naive_one(problem, k, mu):
    problem["dtype"] = np.float64
    K, F, subspace, Q, _ = build(problem)
    if subspace.size + subspace.F.shape[1] >= len(K):
        return
    L = approximation(K, Q, F)
    bound = nystrom_bound(subspace, subspace.nystrom(1e-12), k, len(K), mu)
    assert bound == pytest.approx(reference.nystrom_bound(L, Q, mu, k), abs=1e-6)


@LAWS
@given(problems, st.integers(1, 6))
def test_the_bound_from_the_readout_holds_and_gets_sharp(problem, k):
    problem["dtype"] = np.float64
    K, F, subspace, Q, _ = build(problem)
    if subspace.size + subspace.F.shape[1] >= len(K):
        return
    readout = subspace.nystrom(1e-12)
    truth = np.linalg.eigvalsh(K)[::-1][:k].sum()
    mu = np.linalg.eigvalsh(K - approximation(K, Q, F))[-1]
    for factor in (1.0, 2.0):
        assert nystrom_bound(subspace, readout, k, len(K), factor * mu) >= truth - 1e-8
    least = nystrom_bound(subspace, readout, k, len(K), 0.0)
    assert least == pytest.approx(readout.values[:k].sum(), abs=1e-8)


def test_the_bound_from_the_readout_needs_its_padding():
    """One direction is known; the other two of three wanted ones lie where only mu is known."""
    K = np.diag([1.0, 1.0, 1.0, 1.0, 0.0])
    subspace = Subspace(5, 1, np.dtype(float))
    block = np.eye(5)[:, :1]
    subspace.add(block, K @ block)
    assert nystrom_bound(subspace, subspace.nystrom(1e-12), 3, 5, 1.0) == pytest.approx(3.0)
    assert nystrom_bound(subspace, subspace.nystrom(1e-12), 4, 5, 1.0) == pytest.approx(4.0)


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"landmarks": 50, "block_size": 16}, id="features and basis together exceed the space"),
        pytest.param({"landmarks": 0, "block_size": 13, "max_basis": 130}, id="a basis of more than half the space"),
    ],
)
def test_the_bound_from_the_readout_of_a_basis_nearly_as_large_as_the_space(options):
    for seed in range(6):
        K = with_spectrum(np.random.default_rng(seed).uniform(0.9, 1.0, 60), seed)[0]
        solver = BlockKrylov(criterion="certified", **options)
        solution = solve(solver, DenseGram(K, positive_definite=True), 5, tol=1e-4)
        assert solution.certificate.lower <= np.linalg.eigvalsh(K)[-5:].sum() <= solution.certificate.upper


# estimates


def evidence_after_a_pass(K, k, p, m, seed, dtype=np.float64, landmarks=None):
    """Evidence after one pass from landmarks, and the captured sum's true relative error."""
    rng = np.random.default_rng(seed)
    gram = DenseGram(K.astype(dtype), positive_definite=True)
    if landmarks is None:
        start = landmark_start(gram, m, k, p, rng)
        directions, F = start.directions, start.F
    else:
        F = gram.landmark_features(landmarks)
        U, sizes, _ = np.linalg.svd(F, full_matrices=False)
        directions, F = U[:, :p].astype(dtype), (U * sizes).astype(dtype)
    subspace = Subspace(len(K), 10 * p, np.dtype(dtype), F)
    probes = Probes(len(K), 8, np.dtype(dtype), rng, 1e-3)
    evidence = Evidence(gram, k, subspace, probes)
    subspace.add(directions, gram.matmat(directions))
    probes.take(gram.matmat(probes.riders()))
    evidence.renew()
    evidence.read(gram.rounding())
    truth = np.linalg.eigvalsh(K)[::-1][:k].sum()
    return evidence, (truth - evidence.lower(k)) / truth


@pytest.mark.parametrize("k", [1, 5])
def test_the_estimate_is_near_the_true_error_where_the_spectrum_decays(k):
    ratios = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((200, 4)) * [2, 1, 0.5, 0.3]
        K = RBF(0.3)(X) if seed % 2 else with_spectrum(1 / np.arange(1, 201) ** 2.0, seed)[0]
        evidence, error = evidence_after_a_pass(K, k, k + 8, 30, seed)
        assert error > 1e-13
        ratios.append(evidence.estimate(k) / error)
    ratios = np.array(ratios)
    assert np.mean((ratios >= 1 / 3) & (ratios <= 10)) >= 0.95, np.sort(ratios)
    assert ratios.min() >= 0.1, np.sort(ratios)


def test_the_estimate_sees_what_landmarks_missed():
    """A small cluster far away without a landmark: its eigenvector is not in the start at all."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.standard_normal((180, 3)), 30 + 0.1 * rng.standard_normal((20, 3))])
    K = RBF(0.05)(X)
    for seed in range(20):
        landmarks = np.sort(np.random.default_rng(seed).choice(180, 40, replace=False))
        evidence, error = evidence_after_a_pass(K, 4, 12, 40, seed, landmarks=landmarks)
        assert error > 0.05  # the cluster's eigenvalue is among the four largest
        assert evidence.estimate(4) >= error / 3
        assert evidence.upper(4) >= np.linalg.eigvalsh(K)[-4:].sum()


def test_the_solver_finds_a_cluster_that_landmarks_missed():
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.standard_normal((580, 3)), 30 + 0.1 * rng.standard_normal((20, 3))])
    gram = TiledGram(RBF(0.2), X)
    truth = np.linalg.eigvalsh(gram.dense())[::-1][:8].sum()
    for seed in range(5):
        solver = BlockKrylov(criterion="variance", landmarks=20)
        solution = solver.solve(gram, 8, tol=1e-3, rng=np.random.default_rng(seed))
        assert solution.values.sum() >= truth * (1 - 1e-3)


def test_estimates_without_probes():
    """Of an indefinite matrix there is no readout; residuals tell what perturbation theory makes of them."""
    K = with_spectrum(np.concatenate([0.8 ** np.arange(60), [-0.5]]))[0]
    events = []
    solver = BlockKrylov(criterion="variance", block_size=8, indefinite="keep")
    solution = solver.solve(DenseGram(K), 3, tol=1e-4, callback=events.append)
    truth = (0.8 ** np.arange(3)).sum()
    assert solution.values.sum() >= truth * (1 - 1e-4)
    assert solution.certificate.satisfied
    for event in events:
        true = (truth - event.captured) / truth
        assert true / 5 <= event.estimate or event.estimate <= 1e-4
    assert solution.certificate.lower <= truth <= solution.certificate.upper


# landmarks


def test_landmarks_are_for_many_rows_only():
    assert default_count(2499, 5) == 0
    assert default_count(2500, 5) == 100
    assert default_count(6000, 5) == 200
    assert default_count(6000, 30) == 300
    assert default_count(10**6, 5) == 500
    assert default_count(2500, 63) == 0 or 4 * default_count(2500, 63) <= 2500
    for n in (2500, 5000, 20000):
        for k in (1, 10, 100, 1000):
            assert 4 * default_count(n, k) <= n


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_start_from_landmarks_is_orthonormal_with_leading_directions_first(dtype):
    K = positive(120, 0.8)
    gram = DenseGram(K.astype(dtype), positive_definite=True)
    start = landmark_start(gram, 40, 4, 6, np.random.default_rng(0))
    close = CLOSE[dtype]
    np.testing.assert_allclose(start.directions.T @ start.directions, np.eye(6), atol=close)
    values = np.square(start.F, dtype=float).sum(axis=0)
    np.testing.assert_allclose(start.F.T @ start.F, np.diag(values), atol=close)
    assert (np.diff(values) <= 0).all()
    assert start.captured == pytest.approx(values[:4].sum(), rel=10 * close)
    assert start.F.shape[1] == 24
    idx = np.sort(np.random.default_rng(0).choice(120, 40, replace=False))
    expected = np.linalg.eigvalsh(reference.nystrom_from_columns(K, idx))[::-1]
    np.testing.assert_allclose(values[:6], expected[:6], rtol=10 * close)
    FF = start.F.astype(float) @ start.F.T.astype(float)
    assert np.linalg.eigvalsh(FF - K)[-1] <= 10 * gram.rounding()


def test_a_start_from_duplicated_rows_and_from_nothing():
    X = np.repeat(np.random.default_rng(0).standard_normal((5, 2)), 12, axis=0)
    start = landmark_start(TiledGram(RBF(0.5), X), 30, 4, 8, np.random.default_rng(0))
    assert start.directions.shape == (60, 5)
    np.testing.assert_allclose(start.F @ start.F.T, RBF(0.5)(X), atol=1e-10)
    nothing = landmark_start(LowRankGram(np.zeros((20, 2))), 5, 2, 3, np.random.default_rng(0))
    assert nothing.directions.shape == nothing.F.shape == (20, 0)


def test_features_are_kept_where_they_are_worth_it():
    fast = landmark_start(DenseGram(positive(300, 0.8), True), 60, 4, 12, np.random.default_rng(0))
    assert fast.F.shape[1]
    assert fast.is_worth(float((0.8 ** np.arange(4)).sum()))
    assert not fast.is_worth(2 * float((0.8 ** np.arange(4)).sum()))  # the pass found far more
    level = np.where(np.arange(300) < 40, 1.0, 0.0)
    flat = landmark_start(DenseGram(with_spectrum(level)[0], True), 60, 4, 12, np.random.default_rng(0))
    assert flat.directions.shape == (300, 12)
    assert flat.F.shape[1] == 0  # no decay to be seen
    identity = landmark_start(DenseGram(with_spectrum(np.ones(300))[0], True), 60, 4, 12, np.random.default_rng(0))
    assert identity.directions.shape == (300, 0)  # landmarks that are strangers tell nothing


@pytest.mark.xfail(
    reason="whitening divides by pivots down to the rounding level, so that F has lost half of its digits",
    strict=True,
)
def test_features_of_a_wide_kernel_in_float32_stay_below_the_centered_matrix():
    worst = 0.0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        gram = CenteredGram(TiledGram(RBF(0.04), rng.standard_normal((130, 2)), threads=1))
        K, single = gram.dense(), gram.single()
        F = single.landmark_features(np.sort(rng.choice(130, 10, replace=False))).astype(float)
        worst = max(worst, np.linalg.eigvalsh(F @ F.T - K)[-1] / single.rounding())
    assert worst <= 10, f"F F' exceeds K by {worst:.0f} times the rounding level"


# criteria


@pytest.fixture(scope="module")
def images():
    """(2600, 64): digits, some of them twice, with noise."""
    digits = load_digits().data
    rng = np.random.default_rng(0)
    return digits[np.arange(2600) % len(digits)] + rng.normal(0, 0.5, (2600, 64))


@pytest.fixture(scope="module")
def image_gram(images):
    return CenteredGram(TiledGram(RBF(2e-4).for_centering(), images, cache=2**30), positive_definite=True)


@pytest.fixture(scope="module")
def image_truth(image_gram):
    values = eigsh(image_gram.linear_operator(), 10, tol=1e-12, v0=np.ones(2600))[0]
    return np.sort(values)[::-1].sum()


def solve(solver, gram, k, **options):
    """Solve, whether or not the goal is reached."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return solver.solve(gram, k, **options)


def captured(solution, gram):
    """What the vectors capture in truth."""
    U = np.linalg.qr(solution.vectors.astype(float))[0]
    return float(np.vdot(U, gram.matmat(U)))


def test_variance_takes_one_pass_where_the_spectrum_decays(image_gram, image_truth):
    solution = BlockKrylov(criterion="variance").solve(image_gram, 10, tol=1e-4)
    certificate = solution.certificate
    assert certificate.passes == 1
    assert certificate.satisfied
    assert certificate.criterion == "variance"
    assert captured(solution, image_gram) >= image_truth * (1 - 1e-4)
    assert solution.values.sum() >= image_truth * (1 - 1e-4)
    assert certificate.lower <= image_truth <= certificate.upper
    assert "estimated relative error of the captured variance" in str(certificate)
    np.testing.assert_allclose(solution.vectors.T @ solution.vectors, np.eye(10), atol=1e-5)


def test_certified_means_that_the_bound_is_below_tol(image_gram, image_truth):
    solution = BlockKrylov(criterion="certified").solve(image_gram, 10, tol=1e-3)
    certificate = solution.certificate
    assert certificate.satisfied
    assert certificate.grade == "certified"
    assert certificate.variance_gap <= 1e-3
    assert (image_truth - solution.values.sum()) / image_truth <= certificate.variance_gap
    assert certificate.lower <= image_truth <= certificate.upper
    assert "by a bound that holds" in str(certificate)


def test_landmarks_save_passes(image_gram):
    with_landmarks, without = (
        BlockKrylov(landmarks=count, block_size=24).solve(image_gram, 10, tol=1e-3).certificate for count in (None, 0)
    )
    assert with_landmarks.satisfied
    assert with_landmarks.passes < without.passes


def test_probes_make_the_bound_say_so():
    """A slow spectrum, where only probes give a bound: it is not for certain, and the certificate tells."""
    K = with_spectrum(np.concatenate([[30.0, 20.0], np.linspace(1, 0.5, 298)]))[0]
    solution = solve(
        BlockKrylov(criterion="certified", landmarks=0, failure_probability=1e-4),
        DenseGram(K, positive_definite=True),
        2,
        tol=1e-2,
    )
    assert solution.certificate.failure_probability in (0, 1e-4)
    without = BlockKrylov().solve(DenseGram(K, positive_definite=True), 2)
    assert without.certificate.failure_probability == 0


@pytest.mark.parametrize("criterion", ["residual", "variance", "certified"])
@pytest.mark.parametrize("landmarks", [0, 40])
@pytest.mark.parametrize("tol", [1e-2, 1e-6])
def test_every_criterion_reaches_what_it_promises(criterion, landmarks, tol):
    K = with_spectrum(1 / np.arange(1, 301) ** 2.0)[0]
    gram = DenseGram(K, positive_definite=True)
    truth = np.linalg.eigvalsh(K)[::-1][:4].sum()
    solution = BlockKrylov(criterion=criterion, landmarks=landmarks).solve(gram, 4, tol=tol)
    certificate = solution.certificate
    assert certificate.satisfied
    assert certificate.achieved <= tol
    assert (truth - solution.values.sum()) / truth <= tol
    assert certificate.lower <= truth <= certificate.upper
    if criterion == "residual":
        residuals = np.linalg.norm(K @ solution.vectors - solution.vectors * solution.values, axis=0)
        assert (residuals <= tol * solution.values).all()


def test_a_variance_read_off_in_float32_stays_there():
    K = positive(200, 0.7)
    gram = DenseGram(K, positive_definite=True)
    solver = BlockKrylov(criterion="variance")
    assert solver.working_dtype(np.dtype(float), 1e-4, 200) == np.float32
    assert solver.working_dtype(np.dtype(float), 1e-6, 200) == np.float64
    assert BlockKrylov().working_dtype(np.dtype(float), 1e-2, 200) == np.float64
    assert BlockKrylov().working_dtype(np.dtype(float), 1e-4, 5000) == np.float32
    assert BlockKrylov().working_dtype(np.dtype(float), 1e-6, 5000) == np.float64
    assert solver.solve(gram, 3, tol=1e-4).vectors.dtype == np.float32
    assert solver.solve(gram, 3, tol=1e-7).vectors.dtype == np.float64


def test_scores_of_many_rows_are_worked_out_in_float32(monkeypatch):
    """The target is the same; so are the scores, within it."""
    X = np.random.default_rng(0).standard_normal((LARGE, 4))
    model = KernelPCA(5, kernel=RBF(0.1))
    dtypes = []
    solve = BlockKrylov.solve

    def spy(self, *args, **options):
        solution = solve(self, *args, **options)
        dtypes.append(solution.vectors.dtype)
        return solution

    monkeypatch.setattr(BlockKrylov, "solve", spy)
    Z = model.fit_transform(X)
    exact = clone(model).set_params(tol=1e-9).fit_transform(X)
    assert dtypes == [np.float32, np.float64]
    assert Z.dtype == np.float64
    assert model.certificate_.satisfied
    np.testing.assert_allclose(Z, exact, atol=1e-4 * np.abs(exact).max())
    np.testing.assert_allclose(Z, model.transform(X), atol=1e-5 * np.abs(exact).max())


@pytest.mark.parametrize("last", [1e-3, 0.0])
def test_what_float32_cannot_reach_is_worked_out_in_float64(last):
    """The last component is a millionth of the first one's variance, or none at all."""
    rng = np.random.default_rng(0)
    X = np.linalg.qr(rng.standard_normal((LARGE, 4)))[0] * [1.0, 0.8, 0.6, last]
    X -= X.mean(axis=0)
    model = KernelPCA(4, kernel="linear")
    Z = model.fit_transform(X)
    values = np.square(np.linalg.svd(X, compute_uv=False))
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-7, atol=1e-12)
    assert model.certificate_.satisfied
    assert (Z[:, 3] != 0).any() == (last > 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": "trace"}, r"criterion='trace' is not known: choose 'residual' .* 'variance' .* or 'certified'"),
        ({"failure_probability": 0.0}, r"failure_probability=0.0: give a number between 0 and 1, such as 1e-3"),
        ({"failure_probability": 1.5}, r"failure_probability=1.5: give a number between 0 and 1"),
        ({"landmarks": -1}, r"BlockKrylov\(landmarks=-1\): landmarks must be a whole number >= 0"),
        ({"landmarks": 2.5}, r"landmarks must be a whole number >= 0"),
        ({"landmarks": True}, r"landmarks must be a whole number >= 0"),
        ({"max_basis": 0}, r"max_basis must be a whole number >= 1"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        BlockKrylov(**options).solve(DenseGram(positive(60), positive_definite=True), 2)


def test_a_failure_probability_that_is_no_number_is_named():
    with pytest.raises(ValueError, match="failure_probability='small': give a number between 0 and 1"):
        BlockKrylov(failure_probability="small").solve(DenseGram(positive(60), positive_definite=True), 2)


@pytest.mark.parametrize(
    "criterion",
    ["variance", "certified"],
)
def test_more_components_than_the_rank(criterion):
    F = np.random.default_rng(0).standard_normal((100, 3))
    solution = BlockKrylov(criterion=criterion).solve(LowRankGram(F), 5, tol=1e-4)
    np.testing.assert_allclose(solution.values[:3], np.linalg.eigvalsh(F.T @ F)[::-1], rtol=1e-4)
    np.testing.assert_allclose(solution.values[3:], 0, atol=1e-2)


@pytest.mark.parametrize("criterion", ["variance", "certified"])
def test_more_landmarks_than_rows_are_all_rows(criterion):
    K = positive(60, 0.7)
    solution = solve(BlockKrylov(criterion=criterion, landmarks=20, block_size=6), DenseGram(K, True), 2, tol=1e-3)
    assert solution.values.sum() == pytest.approx(1.7, rel=1e-3)
    whole = solve(BlockKrylov(landmarks=1000, block_size=6), DenseGram(K, True), 2, tol=1e-8)
    assert whole.values.sum() == pytest.approx(1.7, rel=1e-8)


def test_matrices_whose_columns_are_not_cheap_get_no_landmarks():
    K = positive(100, 0.7)
    asked = []
    operator = LinearOperator(K.shape, matvec=lambda v: K @ v, matmat=lambda V: asked.append(V.shape) or K @ V)
    gram = OperatorGram(operator, diagonal=K.diagonal(), positive_definite=True)
    solution = BlockKrylov(criterion="variance", landmarks=30).solve(gram, 3, tol=1e-3)
    assert len(asked) == solution.certificate.passes
    assert solution.values.sum() == pytest.approx((0.7 ** np.arange(3)).sum(), rel=1e-3)


def widths_of_passes(solver, K, k, tol, **options):
    """The columns of each pass."""
    widths = []

    class Counted(DenseGram):
        def matmat(self, V):
            widths.append(V.shape[1])
            return super().matmat(V)

    solution = solve(solver, Counted(K, positive_definite=True), k, tol=tol, **options)
    return widths, solution


def test_components_that_are_done_make_blocks_narrower():
    values = np.concatenate([[1e4, 1e3, 5e2, 2e2], 0.98 ** np.arange(296)])
    K = with_spectrum(values)[0]
    widths, solution = widths_of_passes(BlockKrylov(block_size=14, max_iter=60), K, 6, 1e-8)
    assert widths[0] == 14
    assert min(widths) < 14
    assert min(widths) >= 8
    assert solution.certificate.satisfied
    np.testing.assert_allclose(solution.values, values[:6], rtol=1e-8)


def test_probes_ride_along_in_the_first_pass_or_in_all():
    K = with_spectrum(0.97 ** np.arange(300))[0]
    for criterion, riders in (("variance", [8, 0, 0]), ("certified", [8, 8, 8])):
        solver = BlockKrylov(criterion=criterion, landmarks=0, block_size=10, max_iter=3)
        widths, _ = widths_of_passes(solver, K, 4, 1e-6)
        assert widths == [10 + more for more in riders]


@pytest.mark.parametrize("landmarks", [0, 30])
@pytest.mark.parametrize("criterion", ["residual", "variance", "certified"])
def test_restarts_do_not_spoil_the_answer(criterion, landmarks):
    K = with_spectrum(np.concatenate([[3.0, 2.5, 2.2], 0.97 ** np.arange(10, 207)]))[0]
    truth = np.linalg.eigvalsh(K)[::-1][:3].sum()
    solver = BlockKrylov(criterion=criterion, landmarks=landmarks, block_size=5, max_basis=13, max_iter=100)
    widths, solution = widths_of_passes(solver, K, 3, 1e-6)
    assert len(widths) > (3 if landmarks == 0 else 1)  # so that the basis was full more than once
    assert solution.certificate.satisfied
    assert (truth - solution.values.sum()) / truth <= 1e-6
    assert solution.certificate.lower <= truth <= solution.certificate.upper


def test_what_probes_say_after_a_restart_is_about_the_rest_of_now(monkeypatch):
    """After each look mu must be at least the largest eigenvalue of K - L, which a restart makes larger again."""
    looks, failures = 0, 0
    look = Evidence.look

    def checked(self, anew):
        nonlocal looks, failures
        look(self, anew)
        s = self.subspace
        L = s.F @ s.F.T + s.Y @ self.readout.root @ self.readout.root.T @ s.Y.T
        looks += 1
        failures += self._mu < np.linalg.eigvalsh(self.gram.dense() - L)[-1] * (1 - 1e-6)

    monkeypatch.setattr(Evidence, "look", checked)
    for seed in range(20):
        values = np.concatenate([np.random.default_rng(seed).uniform(1, 1.1, 15), np.full(105, 1e-4)])
        K = with_spectrum(values, seed)[0]
        solver = BlockKrylov(criterion="certified", landmarks=0, block_size=5, max_basis=14, max_iter=8)
        solve(solver, DenseGram(K, True), 4, tol=1e-8, rng=np.random.default_rng(seed))
    assert looks >= 100
    assert failures <= 1, f"{failures} of {looks}, where one in a thousand was promised"


def test_a_restart_forgets_what_was_known_of_the_rest():
    """The rest grows again: neither the old number nor the old look may be used."""
    evidence, _ = evidence_after_a_pass(positive(100, 0.9), 3, 8, 20, seed=0)
    evidence.look(anew=True)
    assert 0 < evidence._mu < float("inf")
    assert evidence.probes.frozen
    evidence.subspace.restart(evidence.S[:, :4])
    evidence.restarted()
    assert evidence._mu == float("inf")
    assert not evidence.probes.frozen
    assert evidence.probes.riders() is evidence.probes.Omega


@pytest.mark.parametrize("criterion", ["variance", "certified"])
def test_indefinite_matrices_do_without_probes(criterion):
    values = np.concatenate([[5.0, 4.0, 3.0], 0.8 ** np.arange(1, 95), [-1.0, -2.0]])
    K = with_spectrum(values)[0]
    solution = solve(BlockKrylov(criterion=criterion, indefinite="keep", max_iter=60), DenseGram(K), 3, tol=1e-4)
    np.testing.assert_allclose(solution.values.sum(), 12.0, rtol=1e-4)
    assert solution.certificate.failure_probability == 0
    assert solution.certificate.lower <= 12 <= solution.certificate.upper


class NoColumns(DenseGram):
    """A matrix that no landmark may be taken of."""

    def landmark_factors(self, idx):
        raise AssertionError("landmarks were asked for")

    def single(self):
        return NoColumns(self.K.astype(np.float32), self.positive_definite)


@pytest.mark.parametrize("criterion", ["residual", "variance", "certified"])
def test_a_given_start_is_used_instead_of_landmarks(criterion):
    K, Q = with_spectrum(0.9 ** np.arange(200))
    start = Q[:, :6] + 1e-4 * np.random.default_rng(0).standard_normal((200, 6))
    gram = NoColumns(K, positive_definite=True)
    solver = BlockKrylov(criterion=criterion, landmarks=30, block_size=12, max_iter=60)
    warm = solve(solver, gram, 4, tol=1e-2, start=start)
    cold = solve(BlockKrylov(criterion=criterion, landmarks=0, block_size=12, max_iter=60), gram, 4, tol=1e-2)
    assert warm.certificate.passes <= cold.certificate.passes
    assert warm.certificate.satisfied
    assert captured(warm, gram) >= (0.9 ** np.arange(4)).sum() * (1 - 1e-2)


# stopping and progress


@pytest.mark.parametrize("criterion", ["residual", "variance", "certified"])
@pytest.mark.parametrize("answer", [True, np.True_])
def test_a_callback_stops_under_each_criterion_and_the_certificate_is_honest(criterion, answer):
    K = with_spectrum(0.99 ** np.arange(200))[0]
    truth = (0.99 ** np.arange(4)).sum()
    solver = BlockKrylov(criterion=criterion, block_size=8)
    with pytest.warns(ConvergenceWarning, match="The callback asked it to stop"):
        solution = solver.solve(
            DenseGram(K, True), 4, tol=1e-8, callback=lambda event: answer if event.passes == 2 else None
        )
    certificate = solution.certificate
    assert solution.stopped
    assert certificate.passes == 2
    assert not certificate.satisfied
    assert certificate.achieved > 1e-8
    assert certificate.lower <= truth <= certificate.upper


def test_only_true_stops():
    K = positive(120, 0.9)
    for answer in (1, "stop", [1], None, False, np.False_):
        solution = BlockKrylov().solve(DenseGram(K), 3, tol=1e-6, callback=lambda event, answer=answer: answer)
        assert not solution.stopped
        assert solution.certificate.satisfied


@pytest.mark.parametrize("criterion", ["residual", "variance", "certified"])
def test_progress_tells_what_the_criterion_needs(criterion):
    K = with_spectrum(0.93 ** np.arange(200))[0]
    truth = (0.93 ** np.arange(4)).sum()
    events = []
    solver = BlockKrylov(criterion=criterion, landmarks=0, block_size=8, max_basis=80)
    solution = solve(solver, DenseGram(K, True), 4, tol=1e-6, callback=events.append)
    assert solution.certificate.satisfied
    assert solution.history == events
    assert [event.passes for event in events] == list(range(1, len(events) + 1))
    assert all(later.seconds >= sooner.seconds for sooner, later in pairwise(events))
    grows = [event.captured for event in events]
    assert all(later >= sooner - 1e-9 for sooner, later in pairwise(grows))
    assert grows[-1] == pytest.approx(truth, rel=1e-5)
    for event in events:
        assert event.wanted == 4
        assert event.captured <= truth * (1 + 1e-9)
        assert (event.estimate is None) == (criterion == "residual")
        assert (event.bound is None) == (criterion != "certified")
        if event.bound is not None:
            assert event.bound >= (truth - event.captured) / truth - 1e-9
    last = events[-1]
    assert {"residual": last.relative_residual, "variance": last.estimate, "certified": last.bound}[criterion] <= 1e-6
    if criterion == "residual":
        assert last.converged == 4


@pytest.mark.parametrize("criterion", ["residual", "variance", "certified"])
def test_what_remains_is_nothing_when_the_goal_is_reached(criterion):
    K = with_spectrum(0.93 ** np.arange(200))[0]
    events = []
    solve(BlockKrylov(criterion=criterion, block_size=8), DenseGram(K, True), 4, tol=1e-6, callback=events.append)
    told = [event.remaining for event in events if event.remaining is not None]
    assert told[-1] == 0
    assert all(remaining > 0 for remaining in told[:-1])
    assert len(told) >= 2


def test_what_remains_follows_the_rate_of_the_last_passes(monkeypatch):
    """Errors that fall tenfold a pass, one second each: as many seconds remain as digits are missing."""
    watch = Watch(DenseGram(np.eye(3)), 1, 1e-6, None)
    monkeypatch.setattr(watch, "seconds", lambda: float(watch.passes))
    told = []
    for _ in range(9):
        watch.passes += 1
        told.append(watch._remaining(10.0**-watch.passes * (1 + 1e-9)))
    assert told[0] is None
    assert told[1:5] == pytest.approx([5, 4, 3, 2], abs=1.01)
    assert all(later <= sooner for sooner, later in pairwise(told[1:]))
    assert told[-3:] == [0, 0, 0]
    assert watch._remaining(float("inf")) is None
    growing = Watch(DenseGram(np.eye(3)), 1, 1e-6, None)
    for growing.passes, error in ((1, 0.1), (2, 0.2)):
        assert growing._remaining(error) is None


# kept tiles


class CountedTiles(TiledGram):
    """Tiles of nine rows at most, counted as they are made."""

    made = 0

    def _most_rows(self):
        return 9

    def tile(self, rows, cols, out):
        self.made += 1
        super().tile(rows, cols, out)

    def kept_bytes(self):
        return sum(tile.nbytes for tile in getattr(self, "_kept", {}).values())


ROWS = np.random.default_rng(0).standard_normal((60, 3))
ALL_TILES = 28  # seven blocks of rows
WHOLE = 60 * 70 // 2 * 8  # bytes with room for all tiles


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("cache", [0, 100, 5000, WHOLE])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kept_tiles_change_no_result_and_take_no_more_than_granted(cache, threads, dtype):
    X = ROWS.astype(dtype)
    gram = CountedTiles(RBF(0.3), X, threads=threads, cache=cache)
    plain = CountedTiles(RBF(0.3), X, threads=threads)
    rng = np.random.default_rng(1)
    for number in range(4):
        V = rng.standard_normal((60, 4))
        before = gram.made
        np.testing.assert_array_equal(gram.matmat(V), plain.matmat(V))
        assert gram.kept_bytes() <= cache
        made = gram.made - before
        if number == 0:
            assert made == ALL_TILES
        elif cache == WHOLE:
            assert made == 0
        else:
            assert made == ALL_TILES - len(gram._kept)
    assert (len(gram._kept) > 0) == (cache >= 5000)
    assert gram.frobenius_squared() == plain.frobenius_squared()


def test_released_tiles_are_made_again():
    gram = CountedTiles(RBF(0.3), ROWS, cache=WHOLE)
    V = np.random.default_rng(1).standard_normal((60, 4))
    first = gram.matmat(V)
    gram.release()
    assert gram.kept_bytes() == 0
    np.testing.assert_array_equal(gram.matmat(V), first)
    assert gram.made == 2 * ALL_TILES
    for around in (CenteredGram(gram), WeightedGram(gram, np.ones(60)), SingleGram(gram)):
        around.matmat(V)
        assert gram.kept_bytes() > 0
        around.release()
        assert gram.kept_bytes() == 0


def test_tiles_of_another_size_replace_those_that_were_kept():
    """In a small budget wide blocks leave room for small tiles only."""
    X = np.random.default_rng(0).standard_normal((400, 3))
    gram = TiledGram(RBF(0.3), X, budget=400_000, threads=1, cache=10**7)
    K = RBF(0.3)(X)
    for width in (2, 100, 100, 2):
        V = np.random.default_rng(width).standard_normal((400, width))
        np.testing.assert_allclose(gram.matmat(V), K @ V, rtol=1e-10, atol=1e-10)
        assert sum(tile.nbytes for tile in gram._kept.values()) <= 10**7


def test_an_error_in_the_middle_of_a_pass_leaves_no_empty_tile_behind():
    class Interrupted(CountedTiles):
        fails = True

        def tile(self, rows, cols, out):
            super().tile(rows, cols, out)
            if self.fails and self.made == 10:
                out[...] = np.nan
                raise KeyboardInterrupt

    gram = Interrupted(RBF(0.3), ROWS, threads=1, cache=WHOLE)
    V = np.random.default_rng(1).standard_normal((60, 4))
    with pytest.raises(KeyboardInterrupt):
        gram.matmat(V)
    gram.fails = False
    np.testing.assert_allclose(gram.matmat(V), RBF(0.3)(ROWS) @ V, rtol=1e-12)
    assert gram.made == ALL_TILES + 1  # those before the interrupt were kept
    assert gram.frobenius_squared() == pytest.approx(np.square(RBF(0.3)(ROWS)).sum())


def test_functions_of_numbers_keep_tiles_too():
    K = positive(50)
    calls = []
    gram = CallableGram(lambda rows, cols: calls.append(1) or K[np.ix_(rows, cols)], 50, cache=10**6)
    V = np.ones((50, 2))
    np.testing.assert_allclose(gram.matmat(V), K @ V)
    once = len(calls)
    np.testing.assert_allclose(gram.matmat(V), K @ V)
    assert len(calls) == once


# two precisions


WEIGHTS = np.random.default_rng(3).uniform(0.5, 3, 60)
KERNEL = RBF(0.3)
K60 = KERNEL(ROWS)


def centered_matrix(K, weights=None):
    w = np.full(len(K), 1 / len(K)) if weights is None else weights / weights.sum()
    H = np.eye(len(K)) - np.outer(np.ones(len(K)), w)
    return H @ K @ H.T


def centered_weighted():
    return np.sqrt(WEIGHTS)[:, None] * centered_matrix(K60, WEIGHTS) * np.sqrt(WEIGHTS)


MORE_GRAMS = {
    "kept tiles": lambda: GramCase(CountedTiles(KERNEL, ROWS, threads=2, cache=WHOLE), K60),
    "some kept tiles": lambda: GramCase(CountedTiles(KERNEL, ROWS, threads=1, cache=9000), K60),
    "single dense": lambda: GramCase(DenseGram(K60, positive_definite=True).single(), K60),
    "single tiled": lambda: GramCase(TiledGram(KERNEL, ROWS).single(), K60),
    "single low rank": lambda: GramCase(LowRankGram(ROWS).single(), ROWS @ ROWS.T),
    "single centered": lambda: GramCase(CenteredGram(TiledGram(KERNEL, ROWS)).single(), centered_matrix(K60)),
    "definite, weighted and centered": lambda: GramCase(
        WeightedGram(CenteredGram(DenseGram(K60, True), WEIGHTS), WEIGHTS), centered_weighted()
    ),
    "single, weighted and centered": lambda: GramCase(
        WeightedGram(CenteredGram(DenseGram(K60, True), WEIGHTS), WEIGHTS).single(), centered_weighted()
    ),
}


class TestMoreGrams(GramContract):
    @pytest.fixture(params=MORE_GRAMS)
    def case(self, request):
        return MORE_GRAMS[request.param]()


def test_single_wraps_what_cannot_be_made_in_float32():
    assert isinstance(LowRankGram(ROWS).single(), SingleGram)
    assert isinstance(CallableGram(lambda rows, cols: K60[np.ix_(rows, cols)], 60).single(), SingleGram)
    tiled = TiledGram(KERNEL, ROWS, cache=123).single()
    assert isinstance(tiled, TiledGram)
    assert (tiled.dtype, tiled.cache) == (np.float32, 123)
    centered = CenteredGram(TiledGram(KERNEL, ROWS))
    assert centered.single() is centered.single()


def test_a_centered_matrix_learns_its_mean_from_its_twin_in_float32():
    class Counted(LowRankGram):
        passes = 0

        def matmat(self, V):
            self.passes += 1
            return super().matmat(V)

    inner = Counted(np.linalg.cholesky(K60 + 1e-9 * np.eye(60)))
    K = inner.dense()
    gram = CenteredGram(inner)
    gram.single().matmat(np.ones((60, 2)))
    np.testing.assert_allclose(gram.mean_column, K.mean(axis=1), rtol=1e-6)
    assert inner.passes == 1
    V = np.random.default_rng(0).standard_normal((60, 2))
    np.testing.assert_allclose(gram.matmat(V), centered_matrix(K) @ V, atol=1e-12)  # a pass in float64 says more
    np.testing.assert_allclose(gram.mean_column, K.mean(axis=1), rtol=1e-13)


def test_passes_in_float32_come_first_where_they_are_fast():
    """Tiles that are made anew each time: most passes in float32, few in float64, and the answer is float64's."""
    X = np.random.default_rng(0).standard_normal((300, 4)) * [2, 1, 0.5, 0.3]
    seen = []

    class Counted(RBF):
        def compute(self, X, Y, out):
            seen.append(out.dtype)
            super().compute(X, Y, out)

    gram = CenteredGram(TiledGram(Counted(0.2), X, threads=1))
    assert gram.single_is_fast
    solution = BlockKrylov(landmarks=0, block_size=8).solve(gram, 4, tol=1e-9)
    assert solution.certificate.satisfied
    assert solution.vectors.dtype == np.float64
    assert seen.count(np.float32) > 0
    assert seen.count(np.float64) > 0
    K = centered_matrix(RBF(0.2)(X))
    residuals = np.linalg.norm(K @ solution.vectors - solution.vectors * solution.values, axis=0)
    assert (residuals <= 2e-9 * solution.values).all()
    np.testing.assert_allclose(solution.values, np.linalg.eigvalsh(K)[::-1][:4], rtol=1e-12)
    kept = TiledGram(RBF(0.2), X, cache=10**8)
    assert not kept.single_is_fast


@pytest.mark.parametrize("tol", [1e-4, 1e-8])
def test_a_fit_in_little_memory_meets_its_tolerance_in_float64(tol):
    X = load_digits().data
    model = KernelPCA(4, kernel=RBF(1e-3), tol=tol, memory_limit="12MB").fit(X)
    assert model.plan_.path == "tiled"
    assert model.certificate_.satisfied
    K = centered_matrix(RBF(1e-3)(X))
    values = np.linalg.eigvalsh(K)[::-1][:4]
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=max(tol, 1e-11))
    U = model.components_.T * np.sqrt(model.eigenvalues_)
    residuals = np.linalg.norm(K @ U - U * model.eigenvalues_, axis=0)
    assert (residuals <= 1.01 * tol * model.eigenvalues_ + 1e-11).all()
    scores = KernelPCA(4, kernel=RBF(1e-3), tol=tol, memory_limit="12MB").fit_transform(X)
    np.testing.assert_allclose(scores, model.transform(X), atol=1e-8)


@pytest.mark.parametrize("criterion", ["variance", "certified"])
def test_models_that_stop_on_the_variance(criterion, images):
    model = KernelPCA(5, kernel=RBF(2e-4), solver=BlockKrylov(criterion=criterion), tol=1e-3)
    scores = model.fit_transform(images)
    assert model.certificate_.satisfied
    K = centered_matrix(RBF(2e-4)(images))
    truth = np.sort(eigsh(K, 5, tol=1e-10, v0=np.ones(len(K)))[0])[::-1]
    assert 1 - 1e-3 <= model.eigenvalues_.sum() / truth.sum() <= 1 + 1e-5
    U, _ = np.linalg.qr(model.components_.T.astype(float))
    assert np.vdot(U, K @ U) >= truth.sum() * (1 - 1e-3)
    largest = np.abs(scores).max()
    assert np.abs(scores - model.transform(images)).max() <= 0.1 * largest  # 1e-3 of the variance: 3e-2 of scores


# the dual


@LAWS
@given(st.integers(4, 12), st.integers(1, 3), st.integers(0, 10**6))
def test_the_dual_cost_and_its_gradient_equal_the_naive_ones(n, k, seed):
    K = positive(n, 0.7, seed)
    H = np.random.default_rng(seed).standard_normal((n, k))
    cost, gradient = dual_cost(H, K @ H)
    assert cost == pytest.approx(reference.dual_cost(K, H), rel=1e-10, abs=1e-12)
    np.testing.assert_allclose(gradient, reference.dual_gradient(K, H), atol=1e-5)


def test_at_the_optimum_the_dual_cost_is_minus_half_of_what_is_captured():
    K, Q = with_spectrum(0.7 ** np.arange(30))
    for k in (1, 4):
        H = Q[:, :k] * np.sqrt(0.7 ** np.arange(k))
        turned = H @ np.linalg.qr(np.random.default_rng(0).standard_normal((k, k)))[0]
        for optimum in (H, turned):  # any rotation of it is as good
            cost, gradient = dual_cost(optimum, K @ optimum)
            assert -2 * cost == pytest.approx((0.7 ** np.arange(k)).sum())
            np.testing.assert_allclose(gradient, 0, atol=1e-9)
        worse = H + 0.1 * np.random.default_rng(1).standard_normal(H.shape)
        assert dual_cost(worse, K @ worse)[0] > -((0.7 ** np.arange(k)).sum()) / 2


def test_the_dual_cost_of_dependent_columns_and_of_indefinite_matrices():
    K = positive(20, 0.7)
    h = np.random.default_rng(0).standard_normal((20, 1))
    H = np.hstack([h, h])
    cost, gradient = dual_cost(H, K @ H)
    assert cost == pytest.approx(reference.dual_cost(K, H), abs=1e-6)
    assert np.isfinite(gradient).all()
    with pytest.raises(ValueError, match="needs a positive semi-definite matrix"):
        dual_cost(np.eye(3), -np.eye(3))


def test_the_dual_tells_what_it_captures():
    K = positive(80, 0.6)
    events = []
    solution = Lbfgs().solve(DenseGram(K, True), 3, tol=1e-4, callback=events.append)
    assert events[-1].captured == pytest.approx((0.6 ** np.arange(3)).sum(), rel=1e-3)
    np.testing.assert_allclose(solution.values, 0.6 ** np.arange(3), rtol=1e-3)


# the width of a pass


def test_blocks_are_as_wide_as_hardly_makes_a_pass_longer():
    for k in (1, 5, 20, 100):
        narrow, usual, wide = default_block(k, 4), default_block(k), default_block(k, 60.0)
        assert narrow % 8 == usual % 8 == wide % 8 == 7  # and one more rides along
        assert k + 3 <= narrow <= usual <= wide <= 2 * k + 31
        assert k + 7 <= usual
    stored, made = (BlockKrylov().cost(Size(10000, 20, entry_cost=cost), 1e-4).columns for cost in (16.0, 256.0))
    assert (stored, made, BlockKrylov("variance").cost(Size(10000, 20), 1e-4).columns) == (23, 55, 31)


def test_converged_pairs_are_bounded_without_a_factorization():
    values = np.array([3.0, 2.0, 1.0])
    coupling = np.diag([1e-26, 0.0, 0.0])
    bound = ritz_bound(values, coupling, 2, 10, mu=0.5)
    assert 5.0 < bound < 5.0 + 1e-12
    assert ritz_bound(values, coupling, 3, 10, mu=2.5) == pytest.approx(8.0)  # what is outside counts
    assert ritz_bound(values, np.diag([1e-2, 0.0, 0.0]), 2, 10, mu=0.5) > 5.0 + 1e-3


def test_small_matrices_in_memory_are_read_once_by_lanczos():
    class Counted(DenseGram):
        calls = 0

        def matmat(self, V):
            Counted.calls += 1
            return super().matmat(V)

    K = positive(200, 0.9)
    solution = Lanczos().solve(CenteredGram(Counted(K, positive_definite=True)), 3)
    assert Counted.calls == 1  # for the mean
    truth = np.linalg.eigvalsh(CenteredGram(DenseGram(K)).dense())[::-1][:3]
    np.testing.assert_allclose(solution.values, truth, rtol=1e-10)
    assert solution.certificate.passes > 3


# what a review found


def smooth(n: int = 1700) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((n, 2))


@pytest.mark.parametrize("criterion", ["variance", "certified"])
def test_components_near_the_numerical_rank_are_orthonormal(criterion):
    model = KernelPCA(60, kernel=RBF(0.1), solver=BlockKrylov(criterion=criterion), tol=9e-6).fit(smooth())
    assert model.certificate_.orthogonality_loss < 1e-5
    assert model.certificate_.satisfied
    assert model.certificate_.lower == pytest.approx(model.certificate_.upper, rel=1e-4)


def test_in_float32_alone_a_bound_that_is_out_of_reach_ends_the_fit():
    X = smooth().astype(np.float32)
    model = KernelPCA(60, kernel=RBF(0.1), solver=BlockKrylov(criterion="certified"), tol=1e-7)
    with pytest.warns(ConvergenceWarning):
        model.fit(X)
    assert model.certificate_.passes < 20


@pytest.mark.parametrize("size", [1e-22, 1e18, 1e30])
@pytest.mark.parametrize("criterion", ["residual", "variance", "certified"])
def test_kernels_out_of_the_range_of_float32(size, criterion):
    X = np.random.default_rng(0).standard_normal((1700, 5))
    plain = KernelPCA(5, kernel=RBF(0.1)).fit(X)
    scaled = KernelPCA(5, kernel=size * RBF(0.1), solver=BlockKrylov(criterion=criterion)).fit(X)
    np.testing.assert_allclose(scaled.eigenvalues_ / size, plain.eigenvalues_, rtol=2e-3)
    truth = size * plain.eigenvalues_.sum()
    assert scaled.certificate_.lower <= truth * (1 + 1e-6)
    assert truth * (1 - 1e-6) <= scaled.certificate_.upper


def test_a_function_that_gives_parts_of_a_matrix_finds_it_unchanged():
    K = RBF(0.1)(np.random.default_rng(0).standard_normal((100, 3)))
    before = K.copy()
    gram = CallableGram(lambda rows, cols: K[rows[0] : rows[-1] + 1, cols[0] : cols[-1] + 1], 100, True)
    KernelPCA(3, kernel="precomputed").fit(gram)
    CenteredGram(gram).columns(np.arange(5))
    assert np.array_equal(K, before)


def test_kept_tiles_stay_kept_when_blocks_become_narrower(monkeypatch):
    X = np.random.default_rng(0).standard_normal((1500, 5))
    made = []
    gram = TiledGram(RBF(0.1), X, budget=6 * 10**6, cache=10**8)
    plain = TiledGram.tile
    monkeypatch.setattr(
        TiledGram, "tile", lambda self, rows, cols, out: (made.append(out.size), plain(self, rows, cols, out))
    )
    for width in (40, 30, 8, 1, 40):
        gram.matmat(np.ones((1500, width)))
    assert sum(made) < 0.6 * 1500**2 + 768 * 1500


def test_a_second_precision_does_not_exceed_the_passes_that_were_asked_for():
    X = np.random.default_rng(0).standard_normal((1700, 5))
    with pytest.warns(ConvergenceWarning):
        solution = BlockKrylov(max_iter=2).solve(CenteredGram(TiledGram(RBF(0.5), X)), 5, tol=1e-10)
    assert solution.certificate.passes <= 2


def test_lanczos_that_is_stopped_keeps_what_it_had():
    X = np.random.default_rng(0).standard_normal((1000, 5))
    exact = KernelPCA(3, kernel=RBF(0.1)).fit(X)
    with pytest.warns(ConvergenceWarning, match="The callback asked it to stop"):
        model = KernelPCA(3, kernel=RBF(0.1), solver="lanczos", callback=lambda event: event.passes >= 10).fit(X)
    assert model.eigenvalues_.sum() > 0.9 * exact.eigenvalues_.sum()


def test_an_interrupt_before_blas_is_limited_leaves_nothing_behind(monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("kernelpca.tiles._blas_threads", interrupted)
        with pytest.raises(KeyboardInterrupt), one_blas_thread:
            pass
    with one_blas_thread:
        assert one_blas_thread.granted_here() is not None
    assert one_blas_thread.granted_here() is None


@pytest.mark.parametrize("entries", ["alike", "near the identity"])
def test_sums_of_squares_in_float32_are_never_too_small(entries):
    """Matrices whose bound rests on them: half a million squares added up in float32 lost enough to make it fail."""
    n = 1600
    K = np.full((n, n), 0.3)
    if entries == "near the identity":
        noise = 1e-4 * np.random.default_rng(0).standard_normal((n, n))
        K = np.eye(n) + noise + noise.T
    true = float(np.square(K.astype(np.float32).astype(np.float64)).sum())
    tiles = DenseGram(K, True, symmetric=True).single()
    tiles.matmat(np.ones((n, 1), np.float32))
    for gram in (tiles, DenseGram(K.astype(np.float32), True)):
        assert true <= gram.frobenius_squared() <= true * (1 + 1e-5)
