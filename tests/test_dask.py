"""Kernel PCA on Dask: the same answers as on one machine, whatever the chunks, and workers that may die."""

import os
import signal
import threading
import time
import tracemalloc
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits

from kernelpca import PCA, IncrementalKernelPCA, InvertibleKernelPCA, KernelPCA, RobustKernelPCA, SparseKernelPCA
from kernelpca.features import Nystrom, RandomFourier
from kernelpca.kernels import RBF, Linear
from kernelpca.metrics import principal_angles

dask = pytest.importorskip("dask", reason="dask is not installed: pip install 'kernelpca[dask]'")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

from kernelpca.dask import DaskGram, as_rows  # noqa: E402
from kernelpca.dask.gram import meetings  # noqa: E402

X = load_digits(return_X_y=True)[0][:1100] / 16
CHUNKS = {"one": 1100, "three": 367, "seventeen": 65, "uneven": (5, 700, 1, 94, 300)}
TIGHT = 1e-12


def chunked(rows=X, chunks="uneven"):
    return da.from_array(rows, chunks=(CHUNKS[chunks], -1))


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes with one thread each."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        ) as running,
        distributed.Client(running) as client,
    ):
        yield client


@pytest.fixture(params=["threads", "cluster"])
def schedule(request):
    """Dask's threads here, or a cluster of processes."""
    if request.param == "cluster":
        request.getfixturevalue("cluster")
        yield
    else:
        with dask.config.set(scheduler="threads"):
            yield


def assert_same(model, other, tol, rows=X[:60]):
    """Equal eigenvalues and variances, and scores on the same axes."""
    np.testing.assert_allclose(model.eigenvalues_, other.eigenvalues_, rtol=0, atol=tol * other.eigenvalues_[0])
    for name in ("explained_variance_", "explained_variance_ratio_", "total_variance_"):
        if hasattr(other, name):
            np.testing.assert_allclose(getattr(model, name), getattr(other, name), rtol=tol, atol=tol)
    A, B = np.asarray(model.transform(rows)), other.transform(rows)
    np.testing.assert_allclose(A, B, rtol=0, atol=tol * np.abs(B).max())


# the same as on one machine


@pytest.mark.parametrize("chunks", CHUNKS)
def test_exact_fits_are_those_of_one_machine(cluster, chunks):
    local = KernelPCA(5, kernel=RBF(0.05), tol=TIGHT).fit(X)
    model = KernelPCA(5, kernel=RBF(0.05), tol=TIGHT, solver="block_krylov").fit(chunked(chunks=chunks))
    assert_same(model, local, 1e-8)
    assert model.components_.shape == local.components_.shape
    assert model.n_features_in_ == X.shape[1]
    assert model.certificate_.satisfied
    assert "strips" in str(model.plan_)


@pytest.mark.parametrize("chunks", CHUNKS)
@pytest.mark.parametrize(
    "approximation", [Nystrom(100), Nystrom(100, "uniform"), Nystrom(100, "kmeans||"), RandomFourier(128)], ids=repr
)
def test_approximate_fits_are_those_of_one_machine(cluster, approximation, chunks):
    local = KernelPCA(5, kernel="rbf", approximation=approximation).fit(X)
    model = KernelPCA(5, kernel="rbf", approximation=approximation).fit(chunked(chunks=chunks))
    assert model.kernel_.gamma == pytest.approx(local.kernel_.gamma, rel=1e-12)
    assert_same(model, local, 1e-6)
    assert model.certificate_.approximation.name == local.certificate_.approximation.name


def test_clusters_of_eigenvalues_are_compared_as_subspaces(cluster):
    rows = np.kron(np.eye(4), np.ones((50, 1))) + 1e-3 * np.random.default_rng(0).standard_normal((200, 4))
    local, model = KernelPCA(3, kernel=RBF(1.0), tol=TIGHT).fit(rows), KernelPCA(3, kernel=RBF(1.0), tol=TIGHT)
    model.fit(da.from_array(rows, chunks=(61, -1)))
    angles = principal_angles(np.asarray(model.transform(rows)), local.transform(rows))
    assert np.max(np.abs(angles)) < 1e-6


ESTIMATORS = [  # on threads and on a cluster
    lambda: KernelPCA(4, kernel=RBF(0.05)),
    lambda: KernelPCA(4, kernel="laplacian_euclidean", approximation=Nystrom(80)),
    lambda: RobustKernelPCA(2, kernel=RBF(0.05)),
    lambda: SparseKernelPCA(2, kernel=RBF(0.05)),
    lambda: InvertibleKernelPCA(4, gamma=0.01, n_features=128),
    lambda: PCA(4),
]
VARIANTS = [  # the same paths with other parameters: on threads
    lambda: KernelPCA(4, kernel=RBF(0.05), center=False),
    lambda: KernelPCA(0.5, kernel="linear"),
    lambda: KernelPCA(4, kernel="chi2", approximation=Nystrom(80, "kmeans")),
    lambda: KernelPCA(4, kernel=RBF(0.05), approximation=Nystrom(80, form="extension")),
    lambda: KernelPCA(4, kernel="poly", approximation=Nystrom(80, "diagonal")),
    lambda: KernelPCA(3, approximation="sketch"),
    lambda: RobustKernelPCA(2, kernel=RBF(0.05), approximation=RandomFourier(64)),
    lambda: InvertibleKernelPCA(4, layers=[{"n_components": 10, "gamma": 0.01}, {"gamma": 0.1}]),
    lambda: PCA(4, method="svd"),
    lambda: PCA(4, method="project", n_features=60),
    lambda: PCA(0.7, center=False),
]


@pytest.mark.parametrize("make", ESTIMATORS)
def test_every_estimator_takes_dask_arrays(schedule, make):
    check_estimator(make)


@pytest.mark.parametrize("make", VARIANTS)
def test_variants_take_dask_arrays(make):
    with dask.config.set(scheduler="threads"):
        check_estimator(make)


def check_estimator(make):
    """Fit, transform, back, denoise and score: as on one machine, lazily, in the chunks that were given."""
    rows = X[:400]
    local, model, array = make().fit(rows), make().fit(da.from_array(rows, chunks=(130, -1))), chunked()
    tol = 1e-3 if isinstance(local, RobustKernelPCA | SparseKernelPCA) else 1e-5
    assert_same(model, local, tol)
    scores = model.transform(array)
    assert isinstance(scores, da.Array)
    assert scores.chunks == (CHUNKS["uneven"], (local.n_components_,))
    np.testing.assert_allclose(scores.compute(), local.transform(X), atol=tol * np.abs(local.transform(X)).max())
    points = model.inverse_transform(scores)
    assert points.chunks == (CHUNKS["uneven"], (X.shape[1],))
    distances = model.score_samples(array)
    assert distances.chunks == (CHUNKS["uneven"],)
    np.testing.assert_allclose(distances.compute(), local.score_samples(X), atol=20 * tol)
    near = points[:20].compute(), local.inverse_transform(local.transform(X[:20]))
    np.testing.assert_allclose(*near, atol=0.05)
    cleaned = model.denoise(array)
    assert cleaned.chunks == points.chunks
    np.testing.assert_allclose(cleaned[:20].compute(), local.denoise(X[:20]), atol=0.05)


def test_nothing_is_computed_before_it_is_asked_for():
    model = KernelPCA(3, kernel=RBF(0.05), approximation=Nystrom(50)).fit(X)
    spoilt = chunked().map_blocks(lambda block: 1 / 0, dtype=X.dtype, meta=np.empty((0, 0)))
    scores = model.transform(spoilt)
    with pytest.raises(ZeroDivisionError):
        scores.compute()


def test_a_model_of_rows_elsewhere_takes_rows_here(cluster):
    local, model = KernelPCA(4, kernel=RBF(0.05)).fit(X), KernelPCA(4, kernel=RBF(0.05)).fit(chunked())
    assert isinstance(model.transform(X[:5]), np.ndarray)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X[:5])), local.denoise(X[:5]), atol=0.05)
    found = model.invert(model.transform(X[:5]))
    np.testing.assert_allclose(found.distance, local.invert(local.transform(X[:5])).distance, atol=1e-2)
    assert model.reconstruction_error(X[:5]).input.shape == (5,)


def test_references_come_in_chunks_too():
    model = InvertibleKernelPCA(4, gamma=0.01, n_features=128).fit(X)
    array = chunked(chunks="three")
    there = model.inverse_transform(model.transform(array), reference=chunked(chunks="seventeen"))
    np.testing.assert_allclose(there.compute(), model.denoise(X), atol=1e-6)


def test_weights(schedule):
    weights = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    for parameters in ({"approximation": Nystrom(landmarks=X[::30])}, {"solver": "block_krylov"}):
        given = {"n_components": 3, "kernel": RBF(0.05), "tol": 1e-10, **parameters}
        local = KernelPCA(**given).fit(X, sample_weight=weights)
        assert_same(KernelPCA(**given).fit(chunked(), sample_weight=weights), local, 1e-6)
    local = PCA(3).fit(X, sample_weight=weights)
    assert_same(PCA(3).fit(chunked(), sample_weight=da.from_array(weights)), local, 1e-6)


@pytest.mark.parametrize("rows", [100, 1100])
@pytest.mark.parametrize("kernel", ["rbf", RBF("median"), RBF("scale") + 0.1 * Linear()])
def test_widths_from_data(rows, kernel):
    weights = np.random.default_rng(0).uniform(0.5, 2, rows)
    array = da.from_array(X[:rows] + 100, chunks=(70, -1))
    for given in (None, weights):
        local = KernelPCA(2, kernel=kernel, approximation=Nystrom(20)).fit(X[:rows] + 100, sample_weight=given)
        model = KernelPCA(2, kernel=kernel, approximation=Nystrom(20)).fit(array, sample_weight=given)
        assert_same(model, local, 1e-6, X[:20] + 100)


def test_few_rows_cost_little_here():
    rows = as_rows(da.zeros((10**8, 2), chunks=(10**7, 2)))
    tracemalloc.start()
    try:
        rows.__dict__["_known"] = [(np.arange(1024), np.zeros((1024, 2)))]
        assert rows[:2].shape == (2, 2)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 10**6


def test_numpy_does_not_walk_through_rows():
    rows = as_rows(chunked())
    with pytest.raises(TypeError):
        np.ones(len(X)) @ rows
    with pytest.raises(TypeError, match="on purpose"):
        np.asarray(rows)
    np.testing.assert_array_equal(rows[[-1, 3]], X[[-1, 3]])


def test_containers_would_bring_all_here():
    model = KernelPCA(2, approximation=Nystrom(20)).set_output(transform="pandas").fit(chunked())
    with pytest.raises(ValueError, match="to_dask_dataframe"):
        model.transform(chunked())
    with pytest.raises(TypeError, match="compute"):
        model.set_output(transform="default").residuals(chunked(), diagonal=np.ones(len(X)))


def test_data_frames_bring_names():
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(X[:, 2:8], columns=list("abcdef"))
    there = dd.from_pandas(frame, npartitions=3)
    model = KernelPCA(2, approximation=Nystrom(50)).fit(there)
    local = KernelPCA(2, approximation=Nystrom(50)).fit(frame)
    assert list(model.feature_names_in_) == list("abcdef")
    np.testing.assert_allclose(model.transform(there).compute(), local.transform(frame), atol=1e-5)
    with pytest.raises(ValueError, match="feature names"):
        model.transform(there[list("fedcba")])
    with pytest.raises(ValueError, match=r"no numbers: g.*select_dtypes"):
        KernelPCA(2).fit(dd.from_pandas(frame.assign(g="text"), npartitions=2))


def test_integers_and_float32():
    whole = (X * 16).astype(int)
    local = KernelPCA(3, approximation=Nystrom(50)).fit(whole)
    assert_same(KernelPCA(3, approximation=Nystrom(50)).fit(chunked(whole)), local, 1e-6)
    single = KernelPCA(3, approximation=Nystrom(50)).fit(chunked(X.astype(np.float32)))
    assert single.transform(chunked(X.astype(np.float32))).dtype == np.float32


def test_what_a_plan_says(cluster):
    exact = KernelPCA(3, solver="block_krylov").explain_plan(chunked())
    assert exact.path == "remote"
    assert "2 workers" in str(exact)
    assert "a pass moves" in str(exact)
    features = KernelPCA(3, approximation=Nystrom(50)).explain_plan(chunked())
    assert "move" in str(features)


def test_progress_and_stopping(cluster):
    seen = []
    model = KernelPCA(3, kernel=RBF(0.05), tol=1e-10, solver="block_krylov")
    model.set_params(callback=lambda event: seen.append(event) or len(seen) == 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(chunked())
    assert len(seen) == 2
    assert not model.certificate_.satisfied


# streams


def in_frames(rows):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(rows, columns=[f"pixel {i}" for i in range(rows.shape[1])])
    return dd.from_pandas(frame, npartitions=min(len(rows), 2))


@pytest.mark.parametrize(
    "form", [lambda rows: da.from_array(rows, chunks=(64, -1)), in_frames], ids=["arrays", "frames"]
)
@pytest.mark.parametrize("kernel", ["rbf", RBF("median"), RBF(0.05)], ids=str)
@pytest.mark.parametrize("cuts", [[], [40], [1, 2, 60, 150], [100, 101]], ids=str)
def test_batches_of_a_stream_lie_elsewhere(form, kernel, cuts):
    """Those that wait for others are few, and brought here."""
    weights = np.random.default_rng(0).integers(0, 3, 400).astype(float)
    weights[[0, 1, 399, *cuts]] = 1.0
    for approximation in (Nystrom(70), RandomFourier(64)):
        for w, forget in ((None, None), (weights, 0.01)):
            streams = [
                IncrementalKernelPCA(3, kernel=kernel, approximation=approximation, forget=forget, tol=TIGHT)
                for _ in range(2)
            ]
            with dask.config.set(scheduler="threads"):
                for part in np.split(np.arange(400), cuts):
                    for model, rows in zip(streams, (X[part], form(X[part])), strict=True):
                        model.partial_fit(rows, sample_weight=None if w is None else w[part])
                    assert ("_waiting" in vars(streams[0])) == ("_waiting" in vars(streams[1]))
                    if "_waiting" in vars(streams[1]):
                        assert isinstance(streams[1]._waiting.rows, np.ndarray)
            assert streams[0].n_samples_seen_ == streams[1].n_samples_seen_
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "X does not have valid feature names")
                assert_same(streams[1], streams[0], 1e-8)


def test_rows_here_wait_for_rows_elsewhere_and_the_other_way_round():
    whole = IncrementalKernelPCA(3, kernel="rbf", approximation=Nystrom(70), tol=TIGHT).partial_fit(X[:300])
    forms = {"here": lambda rows: rows, "sparse": sparse.csr_array, "elsewhere": lambda rows: da.from_array(rows)}
    with dask.config.set(scheduler="threads"):
        for first, second in (("here", "elsewhere"), ("sparse", "elsewhere"), ("elsewhere", "here")):
            model = IncrementalKernelPCA(3, kernel="rbf", approximation=Nystrom(70), tol=TIGHT)
            model.partial_fit(forms[first](X[:50])).partial_fit(forms[second](X[50:300]))
            assert_same(model, whole, 1e-8)
        spoilt = X[:30].copy()
        spoilt[3, 3] = np.nan
        waits = IncrementalKernelPCA(3, approximation=Nystrom(70)).partial_fit(X[:20])
        with pytest.raises(ValueError, match="NaN"):
            waits.partial_fit(da.from_array(spoilt))
        assert waits.n_samples_seen_ == 20


# the matrix


@pytest.mark.parametrize("count", range(1, 12))
def test_every_two_strips_meet_once(count):
    pairs = [tuple(sorted(pair)) for pair in meetings(count)]
    assert sorted(pairs) == [(i, j) for i in range(count) for j in range(i, count)]
    leads = np.bincount([i for i, _ in meetings(count)], minlength=count)
    assert leads.max() - leads.min() <= 1


def test_products_do_not_depend_on_chunks():
    V = np.random.default_rng(0).standard_normal((len(X), 3))
    products = [DaskGram(RBF(0.05), as_rows(chunked(chunks=chunks))).matmat(V) for chunks in CHUNKS]
    np.testing.assert_allclose(products[0], RBF(0.05)(X) @ V, atol=1e-10)
    for product in products[1:]:
        np.testing.assert_array_equal(product, products[0])


def test_the_matrix_in_other_ways():
    gram, K = DaskGram(RBF(0.05), as_rows(chunked())), RBF(0.05)(X)
    idx = np.array([7, 3, 1000])
    np.testing.assert_allclose(gram.columns(idx), K[:, idx], atol=1e-12)
    np.testing.assert_allclose(gram.diagonal(), 1.0)
    np.testing.assert_allclose(gram.dense(), K, atol=1e-12)
    assert gram.frobenius_squared() == pytest.approx(np.square(K).sum())
    assert gram.single().matmat(np.ones((len(X), 1), np.float32)).dtype == np.float32
    linear = DaskGram(Linear(), as_rows(chunked()))
    np.testing.assert_allclose(linear.matmat(np.eye(len(X), 2)), X @ X[:2].T, atol=1e-10)


# workers that die


class KillOnce:
    """A callback that kills a worker while the pass after the first one is under way."""

    def __init__(self, client):
        self.client, self.passes, self.killed = client, 0, None

    def __call__(self, event):
        self.passes += 1
        if self.passes == 1:
            threading.Thread(target=self.kill, daemon=True).start()

    def kill(self):
        time.sleep(0.3)
        address, pid = next(iter(self.client.run(os.getpid).items()))
        os.kill(pid, signal.SIGKILL)
        self.killed = address


def test_a_worker_that_dies_costs_time_only():
    rows = np.random.default_rng(0).standard_normal((8_000, 40)) * np.linspace(2, 0.5, 40)
    array = da.from_array(rows, chunks=(1500, -1))
    given = {"n_components": 3, "kernel": RBF(0.02), "solver": "block_krylov", "tol": 1e-12}
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 60}
    with (
        distributed.LocalCluster(**options) as running,
        distributed.Client(running) as client,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # the graph holds the rows
        undisturbed = KernelPCA(**given).fit(array)
        callback = KillOnce(client)
        model = KernelPCA(**given, callback=callback).fit(array)
        assert callback.killed is not None
        assert callback.passes >= 2
        np.testing.assert_allclose(model.eigenvalues_, undisturbed.eigenvalues_, rtol=1e-12)
        np.testing.assert_allclose(model.transform(rows[:50]), undisturbed.transform(rows[:50]), rtol=0, atol=1e-10)


# bad input


def test_unknown_chunk_sizes():
    array = chunked()
    with pytest.raises(ValueError, match=r"X.compute_chunk_sizes\(\)"):
        KernelPCA(2).fit(array[array[:, 20] > 0])


def test_chunks_along_columns():
    with pytest.raises(ValueError, match=r"X.rechunk\(\{1: -1\}\)"):
        KernelPCA(2).fit(da.from_array(X, chunks=(100, 30)))
    with pytest.raises(ValueError, match=r"X.rechunk\(\{1: -1\}\)"):
        PCA(2).fit(da.from_array(X, chunks=(100, 30)))


def test_an_empty_chunk():
    array = da.from_array(X, chunks=((100, 0, 1000), -1))
    with pytest.raises(ValueError, match=r"Chunk .* is empty.*rechunk"):
        KernelPCA(2).fit(array)
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    frame = dd.from_pandas(pd.DataFrame(X[:200]).assign(number=np.arange(200.0)), npartitions=4)
    filtered = frame[frame.number >= 100]
    with pytest.raises(ValueError, match=r"is empty.*X.to_dask_array\(lengths=True\).rechunk"):
        KernelPCA(2).fit(filtered)
    mended = filtered.to_dask_array(lengths=True).rechunk({0: "auto", 1: -1})
    assert KernelPCA(2).fit(mended).n_components_ == 2


@pytest.mark.parametrize("estimator", [KernelPCA(2), KernelPCA(2, approximation="fourier"), PCA(2)])
def test_nan_is_named_by_chunk_and_row(schedule, estimator):
    spoilt = X.copy()
    spoilt[820, 5] = np.nan
    with pytest.raises(ValueError, match=r"nan in chunk 4, row 20 of it \(row 820 of all\), column 5"):
        estimator.fit(chunked(spoilt))
    model = KernelPCA(2, approximation=Nystrom(50)).fit(X)
    scores = model.transform(chunked(spoilt))
    with pytest.raises(ValueError, match="chunk 4, row 20"):
        scores.compute()


def test_mixed_dtypes():
    mixed = chunked().map_blocks(
        lambda block, block_info=None: block.astype("f4") if block_info[0]["chunk-location"][0] == 1 else block,
        dtype=X.dtype,
        meta=np.empty((0, 0)),
    )
    with pytest.raises(ValueError, match=r"Chunk 1 of X holds float32, and float64 was declared.*map_blocks"):
        KernelPCA(2).fit(mixed)
    with pytest.raises(ValueError, match=r"astype\('float64'\)"):
        KernelPCA(2).fit(chunked().astype(complex))


def test_chunks_of_another_shape_than_declared():
    wrong = chunked().map_blocks(lambda block: block[:, :10], dtype=X.dtype, meta=np.empty((0, 0)))
    with pytest.raises(ValueError, match=r"Chunk \d of X has shape .* was declared"):
        KernelPCA(2).fit(wrong)


def test_other_collections_and_kernels():
    with pytest.raises(TypeError, match="to_dataframe"):
        KernelPCA(2).fit(pytest.importorskip("dask.bag").from_sequence([1, 2]))
    with pytest.raises(ValueError, match="reshape"):
        KernelPCA(2).fit(da.ones(10))
    with pytest.raises(TypeError, match=r"X.compute\(\)"):
        KernelPCA(2, kernel="precomputed").fit(chunked())
    with pytest.raises(ValueError, match="Negative values"):
        KernelPCA(2, kernel="chi2").fit(-chunked())
    with pytest.raises(ValueError, match="Negative values"):
        KernelPCA(2, kernel="chi2", approximation=Nystrom(20)).fit(X).transform(-chunked()).compute()
    model = KernelPCA(2, approximation=Nystrom(20)).fit(X)
    with pytest.raises(ValueError, match="expecting 64 features"):
        model.transform(chunked()[:, :5])
    with pytest.raises(TypeError, match=r"compute\(\)"):
        model.invert(model.transform(chunked()))
    with pytest.raises(ValueError, match="2 components"):
        model.inverse_transform(chunked())


def test_a_worker_without_the_package(tmp_path):
    """A worker on whose machine nothing was installed: the import is refused there."""
    (tmp_path / "refuse.py").write_text(
        "import sys\n"
        "class Refuse:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'kernelpca':\n"
        "            raise ModuleNotFoundError(\"No module named 'kernelpca'\", name='kernelpca')\n"
        "sys.meta_path.insert(0, Refuse())\n"
    )
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 60}
    with (
        distributed.LocalCluster(**options, preload=[str(tmp_path / "refuse.py")]) as running,
        distributed.Client(running),
        pytest.raises(RuntimeError, match=r"cannot import 'kernelpca'.*PipInstall"),
    ):
        KernelPCA(2, approximation=Nystrom(20)).fit(chunked())
