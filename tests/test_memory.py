"""What fits, projections and pre-images hold beside the limit, and what they say of it."""

import io
import resource
import sys
import time
import tracemalloc
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.mixture import GaussianMixture

import kernelpca.memory
from kernelpca import PCA, KernelPCA, open_data
from kernelpca.decomposition import added
from kernelpca.features import Nystrom, RandomFourier
from kernelpca.gram import TiledGram
from kernelpca.kernels import RBF, Cosine, Fisher, KernelRBF, Laplacian, Linear
from kernelpca.kernels.base import HasGamma, diagonal, total_variance
from kernelpca.kernels.names import KERNELS
from kernelpca.kernels.origin import fits_single, lost_by_shift, origin_of
from kernelpca.memory import PeakMemory, resident_bytes
from kernelpca.tiles import row_blocks

MB = 10**6
MANY = 400_000  # rows that take 32 MB in float32
DTYPES = (np.float32, np.float64)
WIDTHS = [name for name, kernel in KERNELS.items() if isinstance(kernel, type) and issubclass(kernel, HasGamma)]


@contextmanager
def peak():
    """Tell the most that was allocated within a block beyond what was held before, in bytes."""
    tracemalloc.start()
    held, found = tracemalloc.get_traced_memory()[0], []
    try:
        tracemalloc.reset_peak()
        yield found
        found.append(tracemalloc.get_traced_memory()[1] - held)
    finally:
        tracemalloc.stop()


def sheet(n, d, dtype=np.float64):
    """Rows near a curved sheet, far from zero."""
    rng = np.random.default_rng(0)
    t = rng.standard_normal((n, 3))
    return (np.sin(t @ rng.standard_normal((3, d))) + 0.1 * rng.standard_normal((n, d)) + 5).astype(dtype)


@pytest.fixture(scope="module", params=DTYPES, ids=["float32", "float64"])
def many(request):
    """Nonnegative rows whose copy in float64 would take 64 MB."""
    return np.abs(sheet(MANY, 20, request.param))


# statistics of rows


def data_dependent():
    """Every kernel with a default that depends on data, and kernels made of them."""
    for name in WIDTHS:
        for gamma in ("scale", "median"):
            yield pytest.param(lambda name=name, gamma=gamma: KERNELS[name](gamma=gamma), id=f"{name} {gamma}")
    yield pytest.param(lambda: RBF() + Laplacian() * Linear(), id="a sum")
    yield pytest.param(lambda: KernelRBF(Cosine()), id="in a feature space")
    yield pytest.param(lambda: Fisher(mixture(), information="empirical"), id="fisher")


def mixture():
    """A fitted mixture of Gaussians."""
    return GaussianMixture(2, covariance_type="diag", random_state=0).fit(sheet(300, 20))


@pytest.mark.parametrize("make", list(data_dependent()))
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_defaults_that_depend_on_data_copy_no_data(make, weighted, many):
    weights = np.random.default_rng(1).random(len(many)) if weighted else None
    kernel = make()
    with peak() as found:
        kernel.resolve(many, weights)
    assert found[0] < 45 * MB


@settings(max_examples=30, deadline=None)
@given(
    n=st.integers(1, 150),
    d=st.sampled_from([1, 4000, 2**18 + 1]),
    dtype=st.sampled_from(DTYPES),
    offset=st.sampled_from([0.0, 3.0, -1e4]),
    drift=st.sampled_from([0.0, 10.0]),
    weighted=st.booleans(),
    sparsely=st.booleans(),
)
def test_variances_in_blocks_are_those_of_the_whole(n, d, dtype, offset, drift, weighted, sparsely):
    n = min(n, 2**19 // d + 1) if d > 1 else n
    rng = np.random.default_rng(n)
    X = (rng.standard_normal((n, d)) + offset + drift * np.arange(n)[:, None] / n).astype(dtype)
    weights = rng.random(n) * (rng.random(n) < 0.7) + 1e-3 if weighted else None
    exact, w = X.astype(np.longdouble), np.ones(n) if weights is None else weights
    mean = np.average(exact.mean(axis=1), weights=w)
    wanted = float(np.average(np.square(exact - mean).mean(axis=1), weights=w))
    found = total_variance(sparse.csr_array(X) if sparsely else X, weights)
    assert found == pytest.approx(wanted, rel=1e-9, abs=1e-20)


def test_blocks_cover_all_rows_and_are_few_numbers():
    for shape in ((10**6, 50), (3, 10**7), (1, 1), (0, 4), (1000, 0)):
        parts = row_blocks(np.broadcast_to(0.0, shape))
        assert [part.start for part in parts][1:] == [part.stop for part in parts][:-1]
        assert parts[0].start == 0
        assert parts[-1].stop == shape[0]
        assert all((part.stop - part.start) * shape[1] <= max(2**18, shape[1]) for part in parts)
    few = sparse.eye_array(10**5, 10**6, format="csr")
    assert len(row_blocks(few)) == 1  # what is stored counts
    assert sum(part.stop - part.start for part in row_blocks(["a"] * 10**6)) == 10**6


def test_looking_where_long_rows_lie_copies_few_of_them():
    X = sheet(3000, 2000)  # 48 MB
    with peak() as found:
        origin_of(RBF(1e-3), X, center=True)
        lost_by_shift(X, X[0])
        fits_single(RBF(1e-3), X, X[0], 1.0)
    assert found[0] < 45 * MB


@pytest.mark.parametrize("kernel", [KernelRBF(Cosine(), 1.0), Cosine() * RBF(0.1), KernelRBF(Linear(), 1.0)], ids=repr)
def test_what_kernel_values_lose_is_told_without_a_copy_of_the_rows(kernel, many):
    kernel = kernel.resolve(many[:100])
    with peak() as found:
        kernel.rounding(many, many.dtype)
    assert found[0] < 30 * MB


@pytest.mark.parametrize("kernel", [Cosine(), Fisher(mixture()), RBF(0.1) + Cosine()], ids=["cosine", "fisher", "sum"])
def test_the_diagonal_in_blocks_is_that_of_all_rows_less_the_origin(kernel):
    X = sheet(7000, 20)
    np.testing.assert_allclose(diagonal(kernel, X, X[0] / 2), kernel.diag(X - X[0] / 2), rtol=1e-12)
    np.testing.assert_allclose(diagonal(kernel, X), kernel.diag(X), rtol=1e-12)


# fits


@pytest.mark.parametrize("part", [Nystrom(100), RandomFourier(128)], ids=["nystrom", "fourier"])
@pytest.mark.parametrize("kernel", ["rbf", RBF(0.05)], ids=["default", "given"])
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_a_fit_through_features_stays_within_its_limit(part, kernel, weighted, many):
    weights = np.random.default_rng(1).random(len(many)) + 0.1 if weighted else None
    model = KernelPCA(5, kernel=kernel, approximation=part, memory_limit=40 * MB)
    with peak() as found:
        model.fit(many, sample_weight=weights)
    assert found[0] <= 1.1 * 40 * MB
    if resident_bytes() is not None:
        assert model.plan_.measured_bytes <= 1.2 * 40 * MB


@pytest.mark.parametrize("dtype", DTYPES, ids=["float32", "float64"])
@pytest.mark.parametrize("components", [10, 0.5])
@pytest.mark.parametrize("limit", [40, 120])
def test_an_exact_fit_stays_within_its_limit(dtype, components, limit):
    X = sheet(5000, 50, dtype)
    model = KernelPCA(components, memory_limit=limit * MB)
    with peak() as found:
        model.fit(X)
    assert found[0] <= 1.1 * limit * MB


@pytest.mark.parametrize("dtype", DTYPES, ids=["float32", "float64"])
@pytest.mark.parametrize("rule", [0.9, ("relative", 1e-3)], ids=["fraction", "relative"])
def test_what_cannot_fit_is_refused_before_the_work(dtype, rule):
    events = []
    model = KernelPCA(rule, memory_limit=30 * MB, callback=events.append)
    X = sheet(5000, 50, dtype)
    with peak() as found, pytest.raises(MemoryError) as caught:
        model.fit(X)
    assert not events  # no pass was made
    assert found[0] <= 1.1 * 30 * MB
    assert str(caught.value).startswith(f"n_components={rule} takes about ")
    assert "of the rows tell" in str(caught.value)
    assert "raise memory_limit" in str(caught.value)
    with pytest.raises(MemoryError, match="of the rows tell"):
        model.explain_plan(X)


def test_a_rule_starts_from_about_as_many_components_as_it_needs():
    X = sheet(4000, 20)
    model = KernelPCA(0.9, memory_limit="2GB").fit(X)
    planned = int(model.plan_.reason.split(" of 4000")[0])
    assert model.n_components_ <= planned <= 2 * model.n_components_
    weights = np.random.default_rng(0).random(4000) + 0.1
    weighted = KernelPCA(0.9, memory_limit="2GB").fit(X, sample_weight=weights)
    assert abs(weighted.n_components_ - model.n_components_) < 0.2 * model.n_components_


def test_a_matrix_gives_back_tiles_for_which_there_is_no_room_any_more():
    X = sheet(3000, 20)
    V = np.random.default_rng(0).standard_normal((3000, 4))
    gram = TiledGram(RBF(0.05), X, cache=80 * MB)
    before = gram.matmat(V)
    tracemalloc.start()
    gram.release()
    gram.matmat(V)
    whole = tracemalloc.get_traced_memory()[0]
    gram.grant(gram.budget, 10 * MB)
    after = gram.matmat(V)
    assert tracemalloc.get_traced_memory()[0] < 12 * MB < 30 * MB < whole
    tracemalloc.stop()
    np.testing.assert_allclose(after, before, rtol=1e-10)


def test_a_copy_of_the_rows_that_count_is_part_of_what_is_granted(many):
    weights = (np.arange(len(many)) % 4 > 0).astype(float)
    model = KernelPCA(5, approximation=Nystrom(50), memory_limit=60 * MB)
    with peak() as found:
        try:
            model.fit(many, sample_weight=weights)
        except MemoryError as error:
            assert "raise memory_limit" in str(error)  # noqa: PT017
    assert found[0] <= 1.1 * 60 * MB
    with pytest.raises(MemoryError, match=r"Leave rows of no weight out, X\[sample_weight > 0\], .* memory_limit"):
        KernelPCA(5, approximation=Nystrom(50), memory_limit="20MB").fit(many, sample_weight=weights)
    with pytest.raises(MemoryError, match="choose a pre-image that keeps no rows, or raise memory_limit"):
        KernelPCA(5, approximation=RandomFourier(64), preimage="gradient", memory_limit="20MB").fit(many)


# projections and pre-images


@pytest.mark.parametrize("part", [None, Nystrom(100), RandomFourier(128)], ids=["exact", "nystrom", "fourier"])
def test_new_rows_are_not_copied(part, many):
    model = KernelPCA(5, kernel=RBF(0.05), approximation=part, memory_limit=40 * MB).fit(many[:500])
    answer = 5 * len(many) * many.itemsize
    with peak() as found:
        model.transform(many)
    assert found[0] < answer + 22 * MB
    with peak() as found:
        model.score_samples(many)
    assert found[0] < 30 * MB


def test_rows_are_brought_back_beside_their_answer_alone(many):
    rows = many[: MANY // 8]
    model = KernelPCA(3, kernel=RBF(0.05), preimage="ridge", memory_limit=40 * MB).fit(many[:500])
    answer = rows.nbytes + 3 * len(rows) * many.itemsize
    with peak() as found:
        model.denoise(np.tile(rows, (4, 1)))
    assert found[0] < 4 * rows.nbytes + 4 * answer + 25 * MB  # the tiled rows, and what is made of them


def test_sums_with_a_constant_keep_the_precision_of_both():
    for first, second in ((np.float32, np.float64), (np.float64, np.float32), (np.float32, np.float32)):
        products, b = np.ones((3, 2), first), np.full(2, 0.1, second)
        wanted = products + b
        found = added(products, b)
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)


# what is said of it


class Greedy(RBF):
    """A kernel that takes 150 MB before anything else is done."""

    def resolve(self, X, weights=None):
        """Take it, and give it back."""
        block = np.ones(150 * MB // 8)
        time.sleep(0.1)
        del block
        return super().resolve(X, weights)


@pytest.mark.skipif(resident_bytes() is None, reason="this system does not tell how much memory a process holds")
@pytest.mark.parametrize("part", [None, Nystrom(50)], ids=["exact", "nystrom"])
def test_a_plan_tells_what_all_of_a_fit_took(part):
    X = sheet(4000, 5)
    model = KernelPCA(2, kernel=Greedy(), approximation=part, memory_limit="1GB").fit(X)
    assert model.plan_.measured_bytes > 140 * MB
    model.fit_transform(X)
    assert model.plan_.measured_bytes > 140 * MB
    assert PCA(2).fit(X).plan_.measured_seconds > 0


@pytest.mark.skipif(resident_bytes() is None, reason="this system does not tell how much memory a process holds")
def test_a_peak_between_two_looks_is_seen_where_it_is_the_highest(monkeypatch):
    monkeypatch.setattr(PeakMemory, "INTERVAL", 100.0)
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - resident_bytes() + 100 * MB
    with PeakMemory.watched() as taken:
        block = np.ones(size // 8)
        del block
    assert taken.bytes > 0.9 * size


def test_memory_where_the_system_does_not_tell(monkeypatch):
    monkeypatch.setattr(kernelpca.memory, "_sizes", dict)
    assert resident_bytes() is None
    with PeakMemory.watched() as taken:
        pass
    assert taken.bytes is None


def test_small_fits_start_no_thread(monkeypatch):
    def refuse(*_):
        raise AssertionError("a thread for few rows")

    monkeypatch.setattr(PeakMemory, "watched", refuse)
    for X in (sheet(2000, 50), sheet(300, 20).tolist(), sparse.csr_array(sheet(500, 4))):
        KernelPCA(2).fit(X)
    KernelPCA(2, kernel="precomputed").fit(np.eye(50))
    PCA(2).fit(sheet(2000, 50))


# files


def test_a_file_is_read_once_into_its_place(tmp_path):
    text = io.StringIO()
    np.savetxt(text, sheet(120_000, 8), fmt="%.4f", delimiter=",")
    path = tmp_path / "rows.csv"
    path.write_text(text.getvalue())
    pytest.importorskip("pyarrow")
    from kernelpca.io.reading import reader_of

    reader = reader_of(path)
    with peak() as found:
        values = reader.read(0, 120_000)
    assert found[0] < 1.7 * values.nbytes
    np.testing.assert_array_equal(reader.read(20_001, 20_005), values[20_001:20_005])
    pytest.importorskip("dask")
    lazy = open_data(path, memory_limit="4MB")
    assert lazy.is_lazy
    assert max(lazy.values.chunks[0]) * 8 * 8 <= 4 * MB / 4 / 16


def test_the_command_reads_a_file_that_is_larger_than_its_memory_piece_by_piece(tmp_path, monkeypatch, capsys):
    pytest.importorskip("typer")
    pytest.importorskip("dask")
    from kernelpca.cli.app import main

    path = tmp_path / "rows.csv"
    np.savetxt(path, sheet(5000, 20), fmt="%.4f", delimiter=",")  # 800 kB of numbers
    monkeypatch.setattr(sys, "argv", ["kernelpca", "plan", str(path), "--memory", "700kB"])
    with pytest.raises(SystemExit):
        main()
    told = capsys.readouterr().err
    assert "too large to be loaded" in told
    assert "Or raise --memory" in told
