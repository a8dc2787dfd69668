"""What a fit will take and what it took: plans, memory, interrupts, and what is said when something cannot be."""

import mmap
import threading
import time
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import LinearOperator
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError

import kernelpca.memory
from kernelpca import KernelPCA
from kernelpca.estimators.components import as_components
from kernelpca.estimators.cost import Rates, Shape, approximation_that_fits, calibrate, seconds_of
from kernelpca.estimators.plan import Plan, advise, make_plan
from kernelpca.features import KernelSketch, Nystrom
from kernelpca.gram import CallableGram, DenseGram
from kernelpca.gram.budget import tile_size
from kernelpca.kernels import RBF, Custom, Spectrum
from kernelpca.memory import PeakMemory, parse_bytes, readable_bytes, resident_bytes
from kernelpca.progress import readable_seconds
from kernelpca.solvers import SOLVERS, BlockKrylov, Dense, Lanczos, Lbfgs, Lobpcg, Randomized, Solver, as_solver
from kernelpca.solvers.cost import Size, widest
from kernelpca.tiles import all_tiles, available_threads, share_out

RATES = Rates(entries=1e8, flops=1e10)
X = np.random.default_rng(0).standard_normal((1700, 6)) * [3, 2, 1, 0.5, 0.3, 0.2]
SMALL = X[:120]


def large_shape(**changes):
    return Shape(**{"n": 20_000, "k": 10, "row_bytes": 8 * 50, "itemsize": 8, **changes})


# plans


shapes = st.builds(
    Shape,
    n=st.integers(2, 300_000),
    k=st.integers(1, 60),
    row_bytes=st.integers(1, 2000).map(lambda width: 8 * width),
    itemsize=st.sampled_from([4, 8]),
    definite=st.booleans(),
    counted=st.booleans(),
).filter(lambda shape: shape.k <= shape.n)
solvers = st.sampled_from(
    ["auto", "dense", "lanczos", "randomized", BlockKrylov(), BlockKrylov("variance"), BlockKrylov(landmarks=50)]
)


def plan_or_refusal(shape, solver, limit, tol):
    """The plan, or None and why there is none."""
    try:
        return make_plan(shape, solver, limit, tol, rates=RATES), ""
    except MemoryError as error:
        return None, str(error)


@settings(deadline=None, max_examples=300, derandomize=True)
@given(shapes, solvers, st.integers(10**5, 10**11), st.sampled_from([1e-2, 1e-4, 1e-8]))
def test_a_plan_keeps_to_what_is_granted_or_says_that_it_cannot(shape, solver, limit, tol):
    plan, text = plan_or_refusal(shape, solver, limit, tol)
    if plan is None:
        assert "n_components" in text
        assert "memory_limit" in text
        return
    assert 0 < plan.predicted_bytes <= limit == plan.memory_limit
    assert plan.predicted_seconds > 0
    assert plan.path in ("dense", "stored", "tiled")
    assert (plan.path == "dense") == isinstance(plan.solver, Dense)
    if plan.path == "tiled":
        assert plan.tile_budget > 0
        assert 0 <= plan.cache < limit


def least_of(solver, shape):
    """What a solver needs beside its tiles, with one worker that sums up a product, or for its start."""
    cost = shape.cost(solver, 1e-4, False)
    return max(cost.most + shape.sum(cost), cost.start)


def granted_in_all(plan, shape):
    """What rows, basis and tiles may take together."""
    return shape.n * shape.row_bytes + shape.cost(plan.solver, 1e-4, False).most + plan.tile_budget + plan.cache


def test_what_tiles_and_basis_may_take_together_is_granted():
    shape = large_shape()
    for limit in (3 * 10**8, 5 * 10**8, 8 * 10**8):
        plan = make_plan(shape, BlockKrylov(), limit, 1e-4)
        assert plan.path == "tiled"
        assert granted_in_all(plan, shape) <= limit


def test_what_wide_rows_basis_and_tiles_may_take_together_is_granted():
    shape = large_shape(row_bytes=8 * 2000)
    limit = shape.n * shape.row_bytes + 4 * shape.cost(BlockKrylov(), 1e-4, False).most // 3 + 10
    plan = make_plan(shape, BlockKrylov(), limit, 1e-4)
    assert plan.path == "tiled"
    assert granted_in_all(plan, shape) <= limit


def test_a_given_matrix_keeps_to_what_is_granted_too():
    shape = large_shape(row_bytes=0)
    try:
        plan = make_plan(shape, BlockKrylov(), "1MB", 1e-4, given=True)
    except MemoryError:
        return
    assert plan.predicted_bytes <= plan.memory_limit


def test_paths_follow_from_size_and_memory():
    def path(solver="auto", limit=10**10, tol=1e-4, **changes):
        return make_plan(large_shape(**changes), solver, limit, tol).path

    assert path(n=120) == "dense"
    assert path(n=1000, k=130) == "dense"
    assert path(n=1000, k=120) == "stored"
    assert path(n=3000, k=160) == "dense"
    assert path(n=1000) == "stored"
    assert path() == "stored"
    assert path(limit=5 * 10**8) == "tiled"
    assert path(BlockKrylov("variance")) == "stored"
    assert make_plan(large_shape(), "auto", 10**10, 1e-4, given=True).path == "given"
    assert isinstance(make_plan(large_shape(n=1000), "auto", 10**10, 1e-4).solver, Lanczos)
    assert isinstance(make_plan(large_shape(), "auto", 10**10, 1e-4).solver, BlockKrylov)


@pytest.mark.parametrize("criterion", ["residual", "variance"])
def test_as_many_tiles_are_kept_as_memory_allows(criterion):
    plan = make_plan(large_shape(), BlockKrylov(criterion), 5 * 10**8, 1e-4)
    assert plan.cache > 0
    assert "of them are kept" in plan.reason


def test_in_little_memory_the_basis_shrinks_first_and_then_the_block():
    shape = large_shape(row_bytes=80)
    full = make_plan(shape, BlockKrylov(), 10**9, 1e-4).solver
    assert full.max_basis is None
    rows = shape.anchors + shape.n * shape.width * 4  # and their copy in float32
    tight = BlockKrylov(landmarks=0, max_basis=4 * shape.cost(BlockKrylov(), 1e-4, False).columns)
    small = make_plan(shape, BlockKrylov(landmarks=0), rows + 4 * least_of(tight, shape) // 3 + 10, 1e-4)
    assert small.solver == tight
    assert "a small basis" in small.reason
    narrowest = BlockKrylov(landmarks=0, block_size=18, max_basis=46)
    narrow = make_plan(shape, BlockKrylov(), rows + 4 * least_of(narrowest, shape) // 3 + 10, 1e-4)
    assert narrow.solver.landmarks == 0
    assert narrow.solver.block_size == 18
    assert "narrow blocks, no landmarks" in narrow.reason
    asked = BlockKrylov(block_size=30, landmarks=7)
    least = least_of(BlockKrylov(block_size=30, landmarks=7, max_basis=90), shape)
    kept = make_plan(shape, asked, rows + 2 * least, 1e-4)
    assert (kept.solver.block_size, kept.solver.landmarks) == (30, 7)  # what was asked for stays
    assert asked.max_basis is None  # and the user's object is not changed


def test_too_little_memory_says_what_would_help():
    with pytest.raises(MemoryError) as caught:
        make_plan(large_shape(), "auto", "12MB", 1e-4)
    text = str(caught.value)
    assert "10 components of 20000 rows need about" in text
    assert "12 MB are granted" in text
    assert "fewer components (n_components)" in text
    assert "raise memory_limit" in text
    assert "Or use approximation=Nystrom(" in text
    with pytest.raises(MemoryError, match="Even an approximation with landmarks would hardly fit: raise memory_limit"):
        make_plan(large_shape(), "auto", "100kB", 1e-4)
    with pytest.raises(MemoryError, match=r"A dense solution for 20000 rows needs about 6.4\d GB; 1 GB are granted"):
        make_plan(large_shape(), "dense", "1GB", 1e-4)


@pytest.mark.parametrize("limit", [12 * 10**6, 40 * 10**6])
def test_the_approximation_that_is_advised_fits(limit):
    text = approximation_that_fits(large_shape(), limit)
    m = int(text.split("Nystrom(")[1].split(")")[0])
    X = np.random.default_rng(0).standard_normal((20_000, 50))
    KernelPCA(10, approximation=Nystrom(m)).fit(X[:5000])  # the first of a process also makes machine code
    fitted = KernelPCA(10, approximation=Nystrom(m), memory_limit=limit).fit(X)
    assert fitted.plan_.predicted_bytes <= limit
    assert fitted.plan_.measured_bytes is None or fitted.plan_.measured_bytes <= limit


def test_readable_times():
    assert readable_seconds(0.0123) == "12 ms"
    assert readable_seconds(2.5) == "2.5 s"
    assert readable_seconds(600) == "10 min"


# rules that say how many components to keep, but not before the spectrum is known


DIGITS = load_digits().data[np.random.default_rng(0).permutation(1797)] / 16
NOISE = np.random.default_rng(0).standard_normal((1000, 50))
ASKED = [
    *sorted(SOLVERS.keys() - {"dense"}),
    Randomized(oversampling=5),
    BlockKrylov(landmarks=0),
    BlockKrylov("variance"),
    Lobpcg(oversampling=0),
    Lbfgs(memory=5),
]


@pytest.fixture
def solved(monkeypatch):
    """Each solver that was run, with the size of its question and the operations that it took."""
    calls, solve = [], Solver.solve

    def remember(self, gram, k, **options):
        solution, n = solve(self, gram, k, **options), gram.shape[0]
        cost = self.cost(Size(n, k, entry_cost=gram.entry_cost), 1e-4)
        operations = 2.0 * n**2 * cost.columns * solution.certificate.passes
        if isinstance(self, Dense):
            operations = cost.lapack
        calls.append((self, k, operations))
        return solution

    monkeypatch.setattr(Solver, "solve", remember)
    return calls


@pytest.mark.parametrize(
    ("rule", "n"),
    [*product((0.5, 0.9, 0.99, ("relative", 0.02), None), (200, 500)), (0.5, 1000), (0.9, 1000)],
    ids=str,
)
@pytest.mark.parametrize("rows", [DIGITS, NOISE], ids=["digits", "noise"])
def test_a_rule_costs_no_solver_much_more_than_the_best(rows, rule, n, solved):
    """Or it hands over, and the plan says so and is that of the solver that was used last."""

    def fit(solver):
        solved.clear()
        model = KernelPCA(rule, solver=solver).fit(rows[:n])
        assert type(model.plan_.solver) is type(solved[-1][0])
        return model, sum(operations for *_, operations in solved)

    best, least = fit("auto")
    least = min(least, fit("dense")[1])
    for asked in ASKED:
        model, operations = fit(asked)
        assert operations <= 3 * least, asked
        assert model.n_components_ == best.n_components_
        handed = type(model.plan_.solver) is not type(as_solver(asked))
        assert ("hands over" in model.plan_.reason) == handed
        assert model.plan_.reason.startswith(f"{type(as_solver(asked)).__name__} was asked for")


@settings(deadline=None, max_examples=300, derandomize=True)
@given(shapes, st.sampled_from([Dense("keep"), *map(as_solver, ASKED)]), st.integers(10**7, 10**11))
def test_who_takes_over(shape, asked, limit):
    """Nobody where a number was asked for, nor from LAPACK; from other criteria LAPACK alone, which meets them all."""
    asked = clone(asked).set_params(indefinite="keep")
    plan, _ = plan_or_refusal(shape, asked, limit, 1e-4)
    if plan is None:
        return
    handed = "hands over" in plan.reason
    assert handed == (type(plan.solver) is not type(asked))
    assert plan.solver.indefinite == "keep"
    if handed:
        assert not shape.counted
        assert not isinstance(asked, Dense)
        assert isinstance(plan.solver, Dense) or plan.solver.criterion == asked.criterion
        if not isinstance(plan.solver, Dense):
            assert shape.n <= 2000
    elif not shape.counted:
        best = make_plan(shape, "auto", limit, 1e-4).solver
        assert isinstance(asked, Dense) or not isinstance(best, Dense)


def test_a_flat_spectrum_is_not_tried_by_doubling(solved):
    """No eigenvalue is larger than the last one found, so that the next try begins where a fraction may be reached."""
    KernelPCA(0.9).fit(NOISE)
    assert [k for _, k, _ in solved] == [32, 1000]


@settings(deadline=None)
@given(st.lists(st.floats(1e-6, 1.0), min_size=2, max_size=50), st.floats(0.01, 0.99), st.data())
def test_no_fewer_can_do_than_the_next_try_has(values, fraction, data):
    values = np.sort(values)[::-1]
    rule, found = as_components(fraction, 50), data.draw(st.integers(1, len(values)))
    enough = rule.select(values, values.sum(), 0.0, len(values))
    if rule.select(values[:found], values.sum(), 0.0, len(values)) is None:
        assert found < rule.least(values[:found], values.sum()) <= enough + 1e-9 * len(values)


@pytest.mark.parametrize("criterion", ["residual", "variance", "certified"])
@pytest.mark.parametrize("weighted", [False, True])
def test_lapack_after_passes_in_float32_is_as_exact_as_ever(criterion, weighted, monkeypatch):
    monkeypatch.setattr("kernelpca.solvers.block_krylov.LARGE", 100)  # rows from which scores are found in float32
    monkeypatch.setattr("kernelpca.estimators.plan.EASY", 100)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 400) if weighted else None
    asked = KernelPCA(0.99, kernel=RBF(0.05), solver=BlockKrylov(criterion)).fit(DIGITS[:400], sample_weight=weights)
    exact = KernelPCA(0.99, kernel=RBF(0.05), solver="dense").fit(DIGITS[:400], sample_weight=weights)
    assert asked.plan_.reason.startswith("BlockKrylov was asked for, and hands over")
    np.testing.assert_allclose(asked.eigenvalues_, exact.eigenvalues_, rtol=1e-10)
    assert asked.certificate_.rounding == pytest.approx(exact.certificate_.rounding, rel=0.1)


def test_features_hand_over_too():
    for approximation in (Nystrom(300), KernelSketch(150)):
        solver = "randomized" if isinstance(approximation, Nystrom) else "auto"
        model = KernelPCA(0.9, approximation=approximation, solver=solver).fit(NOISE[:300])
        assert isinstance(model.plan_.solver, Dense)
        assert "was asked for, and hands over" in model.plan_.reason
        assert model.explained_variance_ratio_.sum() >= 0.9


# what a fit costs


def test_dense_costs_grow_as_lapack_does():
    few, many, all_of_them = (Dense().cost(Size(1000, k), 1e-4) for k in (5, 300, 1000))
    assert few.most < many.most < all_of_them.most
    assert few.lapack < many.lapack < all_of_them.lapack
    assert all_of_them.most >= 4 * 8 * 10**6


def test_landmarks_blocks_and_passes_are_the_solvers_own():
    shape = large_shape()

    def cost(solver, shape=shape, stored=True, tol=1e-4):
        return shape.cost(solver, tol, stored)

    assert cost(BlockKrylov(), stored=False).landmarks == 500
    assert cost(BlockKrylov()).landmarks == 100  # passes are cheap: a few are enough
    assert cost(BlockKrylov("variance")).landmarks == 500
    for stored in (True, False):
        assert cost(BlockKrylov(landmarks=50), stored=stored).landmarks == 50
        assert cost(BlockKrylov(), large_shape(definite=False), stored).landmarks == 0
        assert cost(BlockKrylov(), large_shape(cheap_columns=False), stored).landmarks == 0
        assert cost(Lanczos(), stored=stored).landmarks == 0
    assert cost(BlockKrylov(block_size=33), stored=False).columns == 33
    assert cost(BlockKrylov(), stored=False).columns >= cost(BlockKrylov()).columns >= 13
    assert cost(Lanczos()).columns == 1
    assert cost(BlockKrylov("variance")).passes == 1
    assert cost(BlockKrylov("certified")).passes == 2
    for solver in (BlockKrylov(), BlockKrylov("variance"), Lbfgs(), Randomized()):
        assert cost(solver, tol=1e-8).passes >= cost(solver, tol=1e-2).passes >= 1
        assert cost(solver, large_shape(definite=False)).passes >= cost(solver).passes


@pytest.mark.parametrize("criterion", ["residual", "variance"])
def test_predicted_passes_are_about_right_where_the_spectrum_decays(criterion):
    rows = np.repeat(X, 2, axis=0)[:2600] + np.random.default_rng(1).normal(0, 0.1, (2600, 6))
    model = KernelPCA(5, kernel=RBF(0.05), solver=BlockKrylov(criterion)).fit(rows)
    shape = Shape(2600, 5, 48, 8)
    assert abs(model.certificate_.passes - shape.cost(BlockKrylov(criterion), 1e-4, stored=True).passes) <= 2


def test_time_grows_with_rows_passes_and_slowness():
    def seconds(path="tiled", solver=None, tol=1e-4, rates=RATES, **changes):
        return seconds_of(path, solver or BlockKrylov(), large_shape(**changes), tol, rates)

    assert seconds(n=40_000) > 3 * seconds()
    assert seconds(tol=1e-8) > seconds()
    assert seconds("stored") < seconds()
    assert seconds("given") < seconds("stored")
    assert seconds(rates=Rates(1e7, 1e9)) > 5 * seconds()
    assert seconds(solver=BlockKrylov("variance")) < seconds()
    assert seconds("dense", Dense()) > seconds("dense", Dense(), n=5000)


def test_a_calibration_measures_the_kernel_and_the_machine():
    rates = calibrate(RBF(0.1), X)
    assert 1e5 < rates.entries < 1e12
    assert 1e7 < rates.flops < 1e14
    slow = Custom(lambda A, B: time.sleep(0.002) or A @ B.T, vectorized=True)
    assert calibrate(slow, X[:300]).entries < rates.entries
    assert calibrate(Spectrum(2), np.array(["ab", "bc", "cd", "de"], dtype=object)).entries > 0
    assert calibrate(RBF(0.1), X[:1]).entries > 0


# explain_plan


def state_of(model):
    return {name: (id(value), repr(value)) for name, value in vars(model).items()}


@pytest.mark.parametrize("fitted", [False, True])
def test_explaining_leaves_the_model_as_it_is(fitted):
    model = KernelPCA(3, kernel="rbf", solver=BlockKrylov(), memory_limit="20MB")
    if fitted:
        model.fit(X[:300])
    before = state_of(model)
    plan = model.explain_plan(X)
    assert isinstance(plan, Plan)
    assert state_of(model) == before
    assert hasattr(model, "plan_") == fitted
    assert clone(model).explain_plan(X).path == plan.path


def test_an_explanation_names_path_memory_and_time():
    tight = KernelPCA(3, kernel=RBF(0.05), memory_limit="12MB", tol=1e-6).explain_plan(X)
    text = str(tight)
    assert tight.path == "tiled"
    assert text.startswith("tiled path with BlockKrylov(")
    assert "of the 12 MB granted" in text
    assert " s, if the spectrum decays" in text or " ms, if the spectrum decays" in text
    assert "tiles are made in each pass" in text
    assert tight.advice
    assert any("tol=1e-04" in note for note in tight.advice)
    assert any("criterion='variance'" in note for note in tight.advice)
    assert all(note in text for note in tight.advice)
    assert "it took" not in text
    stored = KernelPCA(3, kernel=RBF(0.05), memory_limit="1GB").explain_plan(X)
    assert stored.path == "stored"
    assert not any("memory_limit" in note for note in stored.advice)
    dense = KernelPCA(3, kernel=RBF(0.05)).explain_plan(SMALL)
    assert dense.path == "dense"
    assert dense.predicted_seconds > 0
    assert not dense.advice


def memory_advised(shape, limit, tol=1e-6, rates=RATES):
    """What the advice says would be enough to store the matrix; None if it says nothing of that."""
    plan = make_plan(shape, BlockKrylov(), limit, tol, rates=rates)
    assert plan.path == "tiled"
    notes = [note for note in advise(plan, shape, BlockKrylov(), tol, rates).advice if "would be stored" in note]
    return notes[0].split("'")[1] if notes else None


def test_more_memory_is_advised_where_it_would_save_time():
    shape = large_shape()
    granted = memory_advised(shape, "1.5GB")
    assert make_plan(shape, BlockKrylov(), granted, 1e-6).path == "stored"  # the advice is true


def test_the_advice_on_memory_is_true_where_the_plan_had_to_be_frugal():
    shape = large_shape()
    assert make_plan(shape, BlockKrylov(), memory_advised(shape, "250MB"), 1e-6).path == "stored"


def test_the_advice_on_memory_is_true_with_many_workers(monkeypatch):
    monkeypatch.setattr("kernelpca.estimators.cost.available_threads", lambda: 64)
    shape = large_shape(n=8000, k=5)
    assert make_plan(shape, BlockKrylov(), memory_advised(shape, "400MB"), 1e-6).path == "stored"


def test_matrices_are_explained_too():
    K = RBF(0.05)(X[:300])
    model = KernelPCA(3, kernel="precomputed")
    for given_matrix in (K, DenseGram(K), LinearOperator(K.shape, matvec=lambda v: K @ v, dtype=float)):
        plan = model.explain_plan(given_matrix)
        assert plan.path == "given"
        assert "the matrix was given" in str(plan)
        assert not hasattr(model, "n_features_in_")


def test_what_is_explained_is_what_is_done():
    for options in ({"memory_limit": "12MB"}, {"memory_limit": "1GB"}, {"solver": "dense"}, {"solver": "lanczos"}):
        model = KernelPCA(3, kernel=RBF(0.05), **options)
        explained, done = model.explain_plan(X[:1600]), model.fit(X[:1600]).plan_
        assert (explained.path, explained.solver, explained.reason) == (done.path, done.solver, done.reason)
        assert explained.predicted_bytes == done.predicted_bytes


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_components": 0}, ValueError, "n_components=0 is not possible"),
        ({"n_components": 5000}, ValueError, "n_components=5000 is not possible with n_samples = 120"),
        ({"memory_limit": "much"}, ValueError, "memory_limit='much' is not an amount of memory"),
        ({"memory_limit": "10kB"}, MemoryError, "raise memory_limit"),
        ({"solver": "magic"}, ValueError, "stands for no solver"),
        ({"center": "yes"}, ValueError, "center must be True or False"),
        ({"kernel": "magic"}, ValueError, "magic"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(options, error, message):
    model = KernelPCA(**{"n_components": 3, **options})
    with pytest.raises(error, match=message):
        model.explain_plan(SMALL)
    with pytest.raises(error, match=message):
        model.fit(SMALL)
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize("bad", [[[np.nan, 1.0], [2.0, 3.0]], [1.0, 2.0], [[1.0, 2.0]]])
def test_bad_rows_are_refused(bad):
    with pytest.raises(ValueError):
        KernelPCA(1).explain_plan(bad)


def test_a_callback_that_cannot_be_called_is_refused_when_explained():
    with pytest.raises(TypeError, match="callback=3 cannot be called"):
        KernelPCA(3, callback=3).explain_plan(SMALL)


# what a fit took


def test_a_plan_tells_afterwards_what_it_took():
    began = time.perf_counter()
    model = KernelPCA(3, kernel=RBF(0.05)).fit(X)
    elapsed = time.perf_counter() - began
    assert 0 < model.plan_.measured_seconds <= elapsed
    assert "; it took " in str(model.plan_)
    assert model.plan_.measured_bytes is None  # not worth a thread for so few rows
    assert model.plan_.predicted_bytes <= model.plan_.memory_limit
    given_matrix = KernelPCA(3, kernel="precomputed").fit(RBF(0.05)(SMALL))
    assert given_matrix.plan_.measured_seconds > 0


def test_large_fits_are_timed_and_their_memory_is_watched():
    rows = np.random.default_rng(0).standard_normal((4000, 4)) * [3, 1, 0.3, 0.1]
    model = KernelPCA(2, kernel=RBF(0.05), solver=BlockKrylov("variance"), tol=1e-2, memory_limit="150MB").fit(rows)
    plan = model.plan_
    assert plan.predicted_seconds > 0
    assert plan.measured_seconds > 0
    if resident_bytes() is not None:
        assert plan.measured_bytes >= 0
        assert "it took" in str(plan)
    assert not any(thread.name == "kernelpca-memory" for thread in threading.enumerate())


def test_peak_memory_sees_what_was_held_for_a_while():
    if resident_bytes() is None:
        pytest.skip("this system does not tell how much memory a process holds")
    with PeakMemory.watched() as peak, mmap.mmap(-1, 48_000_000) as block:  # not from what was held and freed before
        block.write(bytes(1) * len(block))
        time.sleep(0.1)
    assert 40e6 <= peak.bytes <= 200e6
    with PeakMemory.watched() as idle:
        time.sleep(0.03)
    assert 0 <= idle.bytes < 40e6


def test_peak_memory_where_the_system_does_not_tell(monkeypatch):
    monkeypatch.setattr(kernelpca.memory, "resident_bytes", lambda: None)
    with PeakMemory.watched() as peak:
        pass
    assert peak.bytes is None


def test_the_watch_ends_with_an_error():
    with pytest.raises(KeyboardInterrupt), PeakMemory.watched():
        raise KeyboardInterrupt
    assert not any(thread.name == "kernelpca-memory" for thread in threading.enumerate())


# interrupts


def interrupting(at):
    """A kernel function that is interrupted at one of its calls, once."""
    calls = []

    def function(A, B):
        calls.append(1)
        if len(calls) == at:
            raise KeyboardInterrupt
        return A @ B.T

    return function


def public(model):
    return {name: value for name, value in vars(model).items() if name.endswith("_") or name.startswith("_")}


@pytest.mark.parametrize(("solver", "at"), [("dense", 1), ("dense", 3), (BlockKrylov(), 1), (BlockKrylov(), 100)])
def test_an_interrupt_in_the_kernel_leaves_an_unfitted_model_unfitted(at, solver):
    model = KernelPCA(2, kernel=Custom(interrupting(at), vectorized=True), solver=solver)
    with pytest.raises(KeyboardInterrupt):
        model.fit(SMALL)
    assert not public(model)
    with pytest.raises(NotFittedError):
        model.transform(SMALL)
    fresh = KernelPCA(2, kernel="linear", solver="dense").fit(SMALL)
    again = model.fit(SMALL)  # the interrupt does not come twice
    np.testing.assert_allclose(again.eigenvalues_, fresh.eigenvalues_, rtol=1e-6)


def stop_at(passes):
    def interrupt(event):
        if event.passes >= passes:
            raise KeyboardInterrupt

    return interrupt


@pytest.mark.parametrize("criterion", ["residual", "variance", "certified"])
@pytest.mark.parametrize("method", ["fit", "fit_transform"])
def test_an_interrupt_in_the_callback_keeps_what_was_fitted_before(criterion, method):
    model = KernelPCA(3, kernel=RBF(0.05), solver=BlockKrylov(criterion)).fit(X[:400])
    expected = model.transform(X[:7])
    before = public(model)
    model.set_params(callback=stop_at(1))
    with pytest.raises(KeyboardInterrupt):
        getattr(model, method)(X[400:900, :4])
    after = public(model)
    assert after.keys() == before.keys()
    assert all(after[name] is before[name] for name in before)
    assert model.n_features_in_ == 6
    np.testing.assert_array_equal(model.transform(X[:7]), expected)
    model.set_params(callback=None).fit(X[400:900, :4])
    assert model.n_features_in_ == 4


def test_an_interrupt_leaves_blas_as_it_was():
    from kernelpca.tiles import available_threads

    before = available_threads()
    with pytest.raises(KeyboardInterrupt):
        KernelPCA(3, kernel=RBF(0.05), callback=stop_at(1)).fit(X)
    assert available_threads() == before


class Slow:
    """Work that takes a while for each tile, counts them, and fails at one."""

    def __init__(self, fails_at, error):
        self.done, self.fails_at, self.error = 0, fails_at, error
        self.lock = threading.Lock()

    def __call__(self, state, rows, cols):
        if (rows.start, cols.start) == self.fails_at:
            raise self.error
        time.sleep(0.004)
        with self.lock:
            self.done += 1


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("no")])
def test_workers_stop_early_when_the_first_fails(error):
    tiles = all_tiles(200, 10, 1)
    work = Slow((0, 0), error)
    with pytest.raises(type(error)):
        share_out(tiles, work, lambda: None, threads=4)
    assert work.done < 40


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("no")])
def test_workers_stop_early_whichever_fails(error):
    tiles = all_tiles(200, 1, 1)
    work = Slow((tiles[3][0].start, tiles[3][1].start), error)
    with pytest.raises(type(error)):
        share_out(tiles, work, lambda: None, threads=4)
    assert work.done < 40


@pytest.mark.parametrize("form", ["rows", "numbers"])
def test_a_kernel_function_that_allocates_too_much_is_named(form):
    """And the estimator stays usable, with what it had before."""

    def greedy(a, b):
        return np.ones((10**8, 10**8))

    model = KernelPCA(2, kernel=RBF(0.05)).fit(X[:300])
    expected = model.transform(X[:5])
    given = X[:300] if form == "rows" else CallableGram(greedy, 300)
    model.set_params(kernel=Custom(greedy, vectorized=True) if form == "rows" else "precomputed")
    with pytest.raises(MemoryError, match=r"The kernel function asked for more memory .* must return an array"):
        model.fit(given)
    model.set_params(kernel=RBF(0.05))
    np.testing.assert_array_equal(model.transform(X[:5]), expected)
    assert model.fit(X[:200]).transform(X[:5]).shape == (5, 2)


def test_the_copy_that_lanczos_makes_of_a_small_matrix_is_counted():
    """Where it does not fit, tiles are made instead, and nothing is copied."""
    shape = Shape(1500, 3, 48, 8)
    roomy = make_plan(shape, "auto", "1GB", 1e-4)
    assert roomy.path == "stored"
    assert roomy.predicted_bytes >= 2 * shape.matrix
    tight = make_plan(shape, "auto", int(1.8 * shape.matrix), 1e-4)
    assert isinstance(tight.solver, Lanczos)
    assert tight.path == "tiled" or tight.tile_budget > 0
    assert tight.predicted_bytes <= 1.8 * shape.matrix


@pytest.mark.parametrize(("n", "row_bytes", "itemsize"), [(100_000, 80, 8), (60_000, 784 * 8, 8), (200_000, 200, 4)])
@pytest.mark.parametrize("limit", ["8GB", "100GB"])
def test_all_workers_have_room_for_the_sums_of_large_products(n, row_bytes, itemsize, limit):
    shape = Shape(n, 20, row_bytes, itemsize)
    plan = make_plan(shape, "auto", limit, 1e-4)
    block = n * widest(shape.cost(plan.solver, 1e-4, plan.path == "stored").columns) * itemsize
    size, workers = tile_size(plan.tile_budget, block, itemsize, available_threads(), row_bytes)
    assert workers == available_threads()
    assert size >= 256


def test_bytes_for_a_person_can_be_given_back():
    for count in (3, 999.4, 999.7, 999.7e3, 999.5e6, 999.7e9, 1e9, 123456789):
        assert parse_bytes(readable_bytes(count)) == pytest.approx(count, rel=6e-3)
    assert readable_seconds(0.8) == "0.8 s"


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"tol": None}, "tol=None"),
        ({"tol": "small"}, "tol='small'"),
        ({"solver": BlockKrylov(landmarks="many")}, "landmarks must be a whole number"),
        ({"solver": BlockKrylov(block_size="8")}, "block_size must be a whole number"),
        ({"solver": BlockKrylov(criterion="best")}, "criterion='best' is not known"),
        ({"solver": Lanczos(ncv=2)}, "ncv must be larger than their number, such as 24"),
    ],
    ids=str,
)
def test_parameters_are_checked_before_a_plan_is_made(changes, match):
    with pytest.raises(ValueError, match=match):
        KernelPCA(2).set_params(**changes).fit(X[:300])
    if "ncv" not in match:  # which is about the number of components
        with pytest.raises(ValueError, match=match):  # also by a solver that would hand over
            KernelPCA(0.9).set_params(**changes).fit(X[:300])
