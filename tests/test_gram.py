"""Every Gram operator under one contract, and what is particular to each."""

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator

import reference
from contracts.gram import GramCase, GramContract
from kernelpca.gram import (
    BlockedGram,
    CallableGram,
    CenteredGram,
    DenseGram,
    LowRankGram,
    OperatorGram,
    TiledGram,
    WeightedGram,
    as_gram,
    cross_product,
)
from kernelpca.gram.budget import tile_size
from kernelpca.kernels import RBF, Custom, Linear, Polynomial, Spectrum

N = 50
rng = np.random.default_rng(0)
X = rng.standard_normal((N, 3))
F = rng.standard_normal((N, 4))
WEIGHTS = rng.uniform(0.5, 3, N)
KERNEL = RBF(0.2)
K = KERNEL(X)
K32 = KERNEL(X.astype(np.float32)).astype(np.float64)


def small_tiles(kernel, rows, threads):
    """Tiles of about nine rows, so that fifty make many."""
    gram = TiledGram(kernel, rows, threads=threads)
    gram._most_rows = lambda: 9
    return gram


def centered(weights=None):
    return reference.center(K, None if weights is None else weights / weights.sum())


def operator(matrix):
    return LinearOperator(matrix.shape, matvec=lambda v: matrix @ v, matmat=lambda V: matrix @ V, dtype=float)


CASES = {
    "dense": lambda: GramCase(DenseGram(K), K),
    "dense float32": lambda: GramCase(DenseGram(K.astype(np.float32)), K),
    "tiled": lambda: GramCase(TiledGram(KERNEL, X), K),
    "tiled, small, 1 thread": lambda: GramCase(small_tiles(KERNEL, X, 1), K),
    "tiled, small, 3 threads": lambda: GramCase(small_tiles(KERNEL, X, 3), K),
    "tiled float32": lambda: GramCase(small_tiles(KERNEL, X.astype(np.float32), 2), K32),
    "tiled custom": lambda: GramCase(TiledGram(Custom(lambda A, B: A @ B.T, vectorized=True), X), X @ X.T),
    "callable": lambda: GramCase(CallableGram(lambda rows, cols: K[np.ix_(rows, cols)], N), K),
    "operator": lambda: GramCase(OperatorGram(operator(K)), K),
    "low rank": lambda: GramCase(LowRankGram(F), F @ F.T),
    "blocked": lambda: GramCase(BlockedGram(N, 4, F.dtype, lambda rows: F[rows], 7), F @ F.T),
    "centered dense": lambda: GramCase(CenteredGram(DenseGram(K)), centered()),
    "centered tiled": lambda: GramCase(CenteredGram(small_tiles(KERNEL, X, 2)), centered()),
    "centered with weights": lambda: GramCase(CenteredGram(DenseGram(K), WEIGHTS), centered(WEIGHTS)),
    "centered operator": lambda: GramCase(CenteredGram(OperatorGram(operator(K))), centered()),
    "weighted": lambda: GramCase(WeightedGram(DenseGram(K), WEIGHTS), np.sqrt(WEIGHTS)[:, None] * K * np.sqrt(WEIGHTS)),
    "weighted and centered": lambda: GramCase(
        WeightedGram(CenteredGram(DenseGram(K), WEIGHTS), WEIGHTS),
        np.sqrt(WEIGHTS)[:, None] * centered(WEIGHTS) * np.sqrt(WEIGHTS),
    ),
}


class TestGrams(GramContract):
    @pytest.fixture(params=CASES)
    def case(self, request):
        return CASES[request.param]()


def test_centering_costs_no_pass_of_its_own():
    passes = []

    class Counted(DenseGram):
        def matmat(self, V):
            passes.append(V.shape[1])
            return super().matmat(V)

    gram = CenteredGram(Counted(K))
    gram.matmat(np.ones((N, 4)))
    gram.matmat(np.ones((N, 4)))
    gram.trace()
    assert passes == [5, 4]


def test_centered_rows_sum_to_zero():
    assert np.abs(CenteredGram(DenseGram(K)).dense().sum(axis=0)).max() < 1e-12
    weighted = CenteredGram(DenseGram(K), WEIGHTS)
    assert np.abs(weighted.dense() @ WEIGHTS).max() < 1e-11


def test_weights_stand_for_repeated_rows():
    counts = np.array([1, 2, 3] * 16 + [1, 1])
    repeated = np.repeat(np.arange(N), counts)
    once = WeightedGram(CenteredGram(DenseGram(K), counts), counts.astype(float)).dense()
    many = CenteredGram(DenseGram(K[np.ix_(repeated, repeated)])).dense()
    expected = np.linalg.eigvalsh(many)[::-1]
    np.testing.assert_allclose(np.linalg.eigvalsh(once)[::-1], expected[:N], atol=1e-12)


def test_sums_do_not_depend_on_timing():
    V = rng.standard_normal((N, 4))
    gram = small_tiles(KERNEL, X, 3)
    np.testing.assert_array_equal(gram.matmat(V), gram.matmat(V))


@pytest.mark.parametrize("threads", [1, 3])
def test_cross_product(threads):
    Y = rng.standard_normal((70, 3))
    V = rng.standard_normal((50, 5))
    np.testing.assert_allclose(cross_product(KERNEL, Y, X, V, threads=threads), KERNEL(Y, X) @ V, rtol=1e-12)
    texts = np.array(["abc", "bcd", ""], dtype=object)
    spectrum = Spectrum(2)
    np.testing.assert_allclose(cross_product(spectrum, texts, texts, np.eye(3)), spectrum(texts))


def test_cross_product_in_a_small_budget_makes_many_tiles():
    Y = rng.standard_normal((300, 3))
    rows = rng.standard_normal((400, 3))
    V = rng.standard_normal((400, 5))
    tight = cross_product(KERNEL, Y, rows, V, budget=300_000, threads=2)
    np.testing.assert_allclose(tight, KERNEL(Y, rows) @ V, rtol=1e-11, atol=1e-12)


# memory


def test_tile_size_keeps_the_budget():
    for block in (0, 2**20, 2**24):
        for workers in (1, 2, 16):
            for row_bytes in (0, 2048, 10**6):
                for budget in (2**22, 2**26, 2**28):
                    if budget < block + 2 * 4 * 64 + 16 * row_bytes:
                        continue
                    size, count = tile_size(budget, block, 4, workers, row_bytes)
                    assert count * (block + 2 * 4 * size**2 + 2 * row_bytes * size) <= budget
                    assert size >= 8
                    assert count <= workers


def test_wide_rows_are_no_obstacle():
    wide = rng.standard_normal((40, 200_000))
    linear = Linear()
    np.testing.assert_allclose(cross_product(linear, wide, wide, np.eye(40)), linear(wide), rtol=1e-9)


def test_a_budget_too_small_says_what_is_needed():
    with pytest.raises(MemoryError, match=r"needs at least .* are granted. Raise memory_limit"):
        TiledGram(KERNEL, X, budget=1000).matmat(np.ones((N, 2)))


# bad input


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.ones((3, 4)), r"must be a square matrix .* got \(3, 4\)"),
        (np.ones(3), "must be a square matrix"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "NaN or infinity"),
        (np.array([[1.0, 2.0], [3.0, 1.0]]), r"not symmetric: K\[0, 1\] = 2 but K\[1, 0\] = 3.*\(K \+ K.T\) / 2"),
        (operator(np.ones((3, 4))), r"must be a square matrix .* got \(3, 4\)"),
    ],
)
def test_bad_matrices_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        as_gram(given)


def test_asymmetry_is_found_far_from_the_diagonal():
    large = np.eye(1200)
    large[1100, 3] = 0.5
    with pytest.raises(ValueError, match=r"K\[3, 1100\] = 0 but K\[1100, 3\] = 0.5"):
        DenseGram(large)


def test_kernels_that_return_nan_are_named():
    broken = Custom(lambda A, B: np.full((len(A), len(B)), np.nan), vectorized=True)
    with pytest.raises(ValueError, match=r"The kernel Custom\(.* returned NaN or infinity. Check its parameters"):
        TiledGram(broken, X).matmat(np.ones((N, 1)))
    with pytest.raises(ValueError, match="The kernel function returned NaN"):
        CallableGram(lambda rows, cols: np.full((len(rows), len(cols)), np.inf), 5).columns(np.array([0]))
    with pytest.raises(ValueError, match="LinearOperator returned NaN"):
        OperatorGram(operator(np.full((3, 3), np.nan))).matmat(np.ones((3, 1)))
    with np.errstate(over="ignore"), pytest.raises(ValueError, match=r"Polynomial\(.* returned NaN or infinity"):
        TiledGram(Polynomial(300, 1e3, 0.0), X).matmat(np.ones((N, 1)))


def test_a_callable_of_the_wrong_shape_is_explained():
    with pytest.raises(ValueError, match=r"returned shape \(50, 50\) for 1 row and 1 column numbers"):
        CallableGram(lambda rows, cols: K, N).diagonal()


def test_features_must_be_a_matrix():
    with pytest.raises(ValueError, match=r"features of shape \(n, r\)"):
        LowRankGram(np.ones(3))


def test_integers_and_lists_become_floats():
    gram = as_gram([[2, 1], [1, 2]])
    assert gram.dtype == np.float64
    assert as_gram(gram) is gram


def test_tiles_are_kept_from_the_first_pass_on():
    X = np.random.default_rng(0).standard_normal((60, 3))
    inner = TiledGram(RBF(0.3), X, threads=1, cache=10**6)
    calls = []
    compute = inner.tile
    inner.tile = lambda *args: (calls.append(1), compute(*args))
    gram = WeightedGram(CenteredGram(inner), np.ones(60))
    for _ in range(3):
        gram.matmat(np.ones((60, 2)))
    assert len(calls) == 1


def test_the_size_of_entries_is_not_taken_from_what_is_not_finite():
    X = np.random.default_rng(0).standard_normal((40, 2))
    broken = TiledGram(Custom(lambda x, y: np.nan if x[0] != y[0] else 1.0), X)
    with pytest.raises(ValueError, match=r"NaN|not finite|infinite"):
        broken.magnitude()
