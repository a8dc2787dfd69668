"""Kernel PCA of streams: equal to the batch fit on the same features, whatever the batches."""

import pickle
from copy import copy

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError

from kernelpca import IncrementalKernelPCA, KernelPCA, load
from kernelpca.estimators.incremental import Waiting
from kernelpca.features import Nystrom, RandomFourier, RandomReLU
from kernelpca.features.moments import Moments
from kernelpca.kernels import RBF, ArcCosine, Polynomial
from kernelpca.persistence import ModelFileError

X = load_digits(return_X_y=True)[0][:900] / 16
TIGHT = 1e-12
MAPS = {
    "fourier": (RBF(0.05), RandomFourier(128)),
    "landmarks": (RBF(0.05), Nystrom(landmarks=X[::15])),
    "polynomial": (Polynomial(degree=2, gamma=0.1), Nystrom(landmarks=X[::15])),
    "extension": (RBF(0.05), Nystrom(landmarks=X[::15], form="extension")),
    "relu": (ArcCosine(order=1), RandomReLU(128)),
}


def make(name, **parameters):
    kernel, approximation = MAPS[name]
    return IncrementalKernelPCA(
        **{"n_components": 5, "kernel": kernel, "approximation": approximation, "tol": TIGHT, **parameters}
    )


def batch(name, rows=X, weights=None, **parameters):
    kernel, approximation = MAPS[name]
    given = {"n_components": 5, "kernel": kernel, "approximation": approximation, "tol": TIGHT, **parameters}
    return KernelPCA(**given).fit(rows, sample_weight=weights)


def stream(model, rows, size, weights=None):
    for start in range(0, len(rows), size):
        part = slice(start, start + size)
        model.partial_fit(rows[part], sample_weight=None if weights is None else weights[part])
    return model


def assert_same(model, other, rows=X[:50], tol=1e-8):
    """Equal eigenvalues, variances, scores, their signs included, and distances from the subspace."""
    scale = other.eigenvalues_[0]
    np.testing.assert_allclose(model.eigenvalues_, other.eigenvalues_, rtol=0, atol=tol * scale)
    np.testing.assert_allclose(model.explained_variance_ratio_, other.explained_variance_ratio_, rtol=0, atol=tol)
    A, B = model.transform(rows), other.transform(rows)
    np.testing.assert_allclose(A, B, rtol=0, atol=tol * np.abs(B).max())
    np.testing.assert_allclose(model.residuals(rows), other.residuals(rows), rtol=0, atol=10 * tol)


# equal to the batch fit


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("size", [1, 7, 100, 900])
@pytest.mark.parametrize("name", MAPS)
def test_equals_the_batch_fit(name, size, center):
    if size == 1 and name != "landmarks":
        pytest.skip("one row at a time is slow, and tested with landmarks")
    model = stream(make(name, center=center), X, size)
    assert model.n_samples_seen_ == len(X)
    assert_same(model, batch(name, center=center))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(1, 899), min_size=1, max_size=6, unique=True))
def test_neither_order_nor_batches_matter(seed, cuts):
    rows = np.random.default_rng(seed).permutation(X)
    model = make("landmarks")
    for part in np.split(rows, sorted(cuts)):
        model.partial_fit(part)
    assert model.n_samples_seen_ == len(rows)
    assert_same(model, batch("landmarks"))


@pytest.mark.parametrize("name", ["fourier", "landmarks"])
@pytest.mark.parametrize("begin", [0, 10, 300])
def test_a_batch_in_which_no_row_counts_changes_nothing(name, begin):
    """Masks as weights: some batches have no row that counts, the first ones, those that wait, and later ones."""
    for forget in (None, 0.01):
        model, other = make(name, forget=forget), make(name, forget=forget)
        for part in (X[:begin], X[begin:]):
            if len(part):
                model.partial_fit(part)
                other.partial_fit(part)
            model.partial_fit(X[:7], sample_weight=np.zeros(7))
        assert model.n_samples_seen_ == len(X)
        np.testing.assert_array_equal(model.eigenvalues_, other.eigenvalues_)
    with pytest.raises(ValueError, match="not all zero"):
        make(name).fit(X, sample_weight=np.zeros(len(X)))


def test_weights_count_rows():
    weights = np.random.default_rng(0).integers(0, 4, len(X)).astype(float)
    weights[:2] = 1.0
    model = stream(make("landmarks"), X, 100, weights)
    assert model.n_samples_seen_ == (weights > 0).sum()
    assert_same(model, batch("landmarks", weights=weights))
    repeated = stream(make("landmarks"), np.repeat(X, weights.astype(int), axis=0), 100)
    assert_same_directions(model, repeated)


def assert_same_directions(model, other):
    A, B = model.transform(X[:50]), other.transform(X[:50])
    np.testing.assert_allclose(A, B, rtol=0, atol=1e-8)


@pytest.mark.parametrize("size", [9, 200])
def test_forgetting_is_a_batch_fit_with_weights_that_fall(size):
    forget = 0.01
    weights = (1 - forget) ** np.arange(len(X))[::-1]
    model = stream(make("landmarks", forget=forget), X, size)
    assert_same(model, batch("landmarks", weights=weights))


def test_a_row_of_weight_two_is_forgotten_like_two_rows():
    weights = np.random.default_rng(0).integers(0, 4, 300).astype(float)
    weights[:2] = 1.0
    model = stream(make("landmarks", forget=0.02), X[:300], 50, weights)
    repeated = stream(make("landmarks", forget=0.02), np.repeat(X[:300], weights.astype(int), axis=0), 50)
    assert_same_directions(model, repeated)


def test_a_model_that_forgets_follows_drifting_data():
    rng = np.random.default_rng(0)
    before, after = rng.standard_normal((3000, 2)) * [3, 0.1], rng.standard_normal((3000, 2)) * [0.1, 3]
    kernel = {"kernel": "linear", "approximation": Nystrom(landmarks=np.eye(2)), "n_components": 1, "center": False}
    remembers = IncrementalKernelPCA(**kernel).partial_fit(before).partial_fit(after)
    forgets = IncrementalKernelPCA(**kernel, forget=0.005).partial_fit(before).partial_fit(after)
    along = np.array([[0.0, 1.0]])
    assert abs(forgets.transform(along)[0, 0]) > 0.999
    assert abs(remembers.transform(along)[0, 0]) < 0.999


def test_float32_where_the_target_allows_it():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((6000, 5))
    loose = IncrementalKernelPCA(3, kernel=RBF(0.1), approximation=RandomFourier(64)).partial_fit(rows)
    tight = IncrementalKernelPCA(3, kernel=RBF(0.1), approximation=RandomFourier(64), tol=1e-9).partial_fit(rows)
    assert loose._stream.map.dtype == np.float32
    assert tight._stream.map.dtype == np.float64
    assert_same(loose, tight, rows[:50], tol=1e-4)
    assert loose.transform(rows[:2]).dtype == np.float64


def test_what_float32_cannot_tell_is_worked_out_in_float64():
    rows = np.random.default_rng(0).standard_normal((6000, 5))
    model = IncrementalKernelPCA(50, kernel=RBF(0.01), approximation=Nystrom(100)).partial_fit(rows)
    assert model._stream.map.dtype == np.float64


# too few rows for a beginning


def cut(rows, weights, cuts, model):
    for part in np.split(np.arange(len(rows)), sorted(cuts)):
        if len(part):
            model.partial_fit(rows[part], sample_weight=None if weights is None else weights[part])
    return model


@st.composite
def beginnings(draw):
    """A stream whose features are chosen from n rows, and n of them."""
    n, seed = draw(st.integers(2, 60)), draw(st.integers(0, 2**32 - 1))
    rows = np.random.default_rng(seed).permutation(X)[:n, 20:40]
    weights = np.random.default_rng(seed).uniform(0.5, 2.0, n) if draw(st.booleans()) else None
    model = IncrementalKernelPCA(
        draw(st.sampled_from([1, 2, ("relative", 0.1), None])),
        kernel=draw(st.sampled_from(["rbf", RBF("median"), RBF(0.3), Polynomial(degree=2), "linear"])),
        approximation=draw(st.sampled_from([Nystrom(n), Nystrom(n, "uniform"), Nystrom(landmarks=[n - 1, 0])])),
        forget=draw(st.sampled_from([None, 0.02])),
        center=draw(st.booleans()),
        tol=TIGHT,
    )
    return model, rows, weights


@settings(max_examples=40, deadline=None)
@given(beginnings(), st.lists(st.integers(1, 59), max_size=5, unique=True))
def test_rows_that_wait_are_one_batch_with_those_that_end_it(beginning, cuts):
    model, rows, weights = beginning
    whole = clone(model).partial_fit(rows, sample_weight=weights)
    parts = cut(rows, weights, cuts, model)
    assert parts.n_samples_seen_ == len(rows)
    assert parts.kernel_ == whole.kernel_
    np.testing.assert_array_equal(parts.eigenvalues_, whole.eigenvalues_)
    np.testing.assert_array_equal(parts.transform(rows), whole.transform(rows))


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 60),
    st.lists(st.integers(1, 299), min_size=1, max_size=8, unique=True),
    st.sampled_from([None, 0.01]),
)
def test_cuts_matter_to_nothing_but_the_rows_that_landmarks_are_chosen_from(seed, m, cuts, forget):
    rows = np.random.default_rng(seed).permutation(X)[:300]
    weights = np.random.default_rng(seed).integers(0, 4, 300).astype(float)
    weights[[0, *cuts]] = 1.0  # every batch has a row that counts
    begun = next(end for end in [*sorted(cuts), 300] if (weights[:end] > 0).sum() >= max(m, 2))
    model = IncrementalKernelPCA(1, kernel="rbf", approximation=Nystrom(m), forget=forget, tol=TIGHT)
    other = cut(rows, weights, [begun], clone(model))
    cut(rows, weights, cuts, model)
    assert model.n_samples_seen_ == other.n_samples_seen_ == (weights > 0).sum()
    assert model.kernel_ == other.kernel_
    np.testing.assert_allclose(model.eigenvalues_, other.eigenvalues_, rtol=1e-12)
    scores = other.transform(rows)
    np.testing.assert_allclose(model.transform(rows), scores, rtol=0, atol=1e-9 * np.abs(scores).max(initial=1e-9))


ASK = {
    **{name: lambda model, name=name: getattr(model, name)(X[:2]) for name in ("transform", "residuals", "denoise")},
    "score": lambda model: model.score(X),
    "inverse_transform": lambda model: model.inverse_transform([[0.0, 0.0]]),
    "eigenvalues_": lambda model: model.eigenvalues_,
    "fork": lambda model: model.fork(),
    "merge": lambda model: model.merge(model),
    "be merged": lambda model: make("fourier").partial_fit(X).merge(model),
    "compress": lambda model: model.compress(),
}


@pytest.mark.parametrize("ask", ASK)
def test_a_model_that_waits_says_for_what(ask):
    model = IncrementalKernelPCA(2, kernel=RBF(0.05), approximation=Nystrom(50))
    for end, seen in ((1, 1), (30, 30), (49, 49)):
        model.partial_fit(X[0 if end == 1 else model.n_samples_seen_ : end])
        assert model.n_samples_seen_ == seen
        assert model.n_features_in_ == X.shape[1]
        message = f"{seen} of the 50 rows that it needs.* {50 - seen} more to partial_fit"
        with pytest.raises(NotFittedError, match=message):
            ASK[ask](model)
        assert not hasattr(model, "eigenvalues_")
    begun = model.partial_fit(X[49:60])
    assert begun.transform(X).shape == (len(X), 2)


@pytest.mark.parametrize(
    ("parameters", "needed"),
    [
        ({"approximation": Nystrom(30)}, 30),
        ({"approximation": "nystrom", "n_components": 20}, 21),
        ({"approximation": "nystrom", "n_components": 20, "center": False}, 20),
        ({"approximation": "nystrom", "n_components": 0.1}, 2),
        ({"approximation": "nystrom", "n_components": 0.5, "center": False}, 1),
        ({"approximation": Nystrom(landmarks=[3, 17, 5])}, 18),
        ({"approximation": Nystrom(landmarks=X[:40])}, 2),
        ({"approximation": RandomFourier(64)}, 2),
        ({"approximation": RandomFourier(64), "center": False}, 1),
    ],
    ids=str,
)
def test_no_more_rows_are_kept_than_are_needed(parameters, needed):
    model = IncrementalKernelPCA(2, kernel="rbf").set_params(**parameters)
    for i in range(needed):
        assert "_stream" not in vars(model)
        row = X[i : i + 1].copy()
        model.partial_fit(row)
        row[:] = np.nan  # what was given may be used again
    assert "_waiting" not in vars(model)
    whole = clone(model).partial_fit(X[:needed])
    assert whole.kernel_ == model.kernel_
    for one in (model, whole):
        one.partial_fit(X[needed : needed + 1])  # a single row has one component at most
    np.testing.assert_array_equal(model.transform(X[:5]), whole.transform(X[:5]))


def test_whatever_rows_are_they_can_wait():
    texts = ["ab", "abc", "bcd", "cdefghi", "abcd", "bc", "xyz", "x"]
    spectrum = IncrementalKernelPCA(2, kernel="spectrum", approximation=Nystrom(8))
    whole, parts = clone(spectrum).partial_fit(texts), spectrum.partial_fit(texts[:3]).partial_fit(texts[3:])
    np.testing.assert_array_equal(parts.transform(texts), whole.transform(texts))
    make = IncrementalKernelPCA(3, kernel=RBF(0.1), approximation=Nystrom(60))
    rows, thin = X[:100], sparse.csr_array(X[:100])
    whole = clone(make).partial_fit(thin)
    for first, second in ((thin, thin), (thin, rows), (rows, thin), (sparse.csr_matrix(rows), thin)):
        parts = clone(make).partial_fit(first[:40]).partial_fit(second[40:])
        np.testing.assert_allclose(parts.transform(thin), whole.transform(thin), atol=1e-12)
    mixed = clone(make).partial_fit(rows[:40].astype(np.float32)).partial_fit(rows[40:])
    assert mixed.transform(rows).dtype == np.float64
    single = clone(make).partial_fit(rows[:40].astype(np.float32)).partial_fit(rows[40:].astype(np.float32))
    assert single._stream.dtype == np.float32


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": RBF(-1.0)}, "gamma must be"),
        ({"approximation": Nystrom(50, "best")}, "Known names"),
        ({"approximation": Nystrom(50, form="new")}, "form must be"),
        ({"approximation": Nystrom(2.5)}, "must be a whole number"),
        ({"n_components": 51}, "n_components=51 needs at least as many features"),
        ({"n_components": "many"}, "n_components='many' is not understood"),
        ({"center": "no"}, "center must be True or False"),
        ({"preimage": "invertible"}, "invertible|Invertible"),
    ],
    ids=str,
)
def test_bad_parameters_do_not_wait(parameters, message):
    model = IncrementalKernelPCA(2, kernel=RBF(0.1), approximation=Nystrom(50)).set_params(**parameters)
    with pytest.raises((TypeError, ValueError), match=message):
        model.partial_fit(X[:10])
    assert not hasattr(model, "n_samples_seen_")


def test_a_batch_that_cannot_be_taken_leaves_those_that_wait():
    model = IncrementalKernelPCA(2, kernel="chi2", approximation=Nystrom(50)).partial_fit(X[:30])
    for bad, message in ((-X[30:60], "Negative values"), (X[30:60, :9], "Every batch needs the columns of the first")):
        with pytest.raises(ValueError, match=message):
            model.partial_fit(bad)
        assert model.n_samples_seen_ == 30
    tight = clone(model).set_params(memory_limit=1000).partial_fit(X[:30])
    with pytest.raises(MemoryError):
        tight.partial_fit(X[30:60])
    assert tight.n_samples_seen_ == 30
    tight.set_params(memory_limit=None)
    for one in (model, tight):
        whole = clone(one).partial_fit(X[:60])
        np.testing.assert_array_equal(one.partial_fit(X[30:60]).transform(X), whole.transform(X))


def test_features_that_wait_for_nothing_still_need_a_row_for_each_component():
    model = IncrementalKernelPCA(20).partial_fit(X[:7]).partial_fit(X[7:19])
    with pytest.raises(NotFittedError, match="19 rows have been seen, and 20 are needed for 20 components"):
        model.transform(X)
    assert model.partial_fit(X[19:20]).transform(X).shape == (len(X), 20)


def test_all_of_the_rows_cannot_wait_for_more():
    model = IncrementalKernelPCA(2, kernel=RBF(0.1), approximation=Nystrom(50))
    for ask in (model.fit, model.fit_transform, model.explain_plan):
        with pytest.raises(
            ValueError, match=r"X has 30 rows that count, and at least 50 are needed.*batches to partial_fit"
        ):
            ask(X[:30])
    with pytest.raises(ValueError, match="X has 1 rows that count, and at least 2 are needed to be centered"):
        make("fourier").fit(X[:3], sample_weight=[0, 1, 0])
    waits = model.partial_fit(X[:30])
    np.testing.assert_array_equal(waits.fit(X).transform(X), clone(model).partial_fit(X).transform(X))


# merging, saving


def test_merged_models_equal_one_model():
    first = make("fourier").partial_fit(X[:200])
    workers = [first.fork() for _ in range(3)]
    assert all(worker.n_samples_seen_ == 0 for worker in workers)
    for worker, part in zip(workers, np.array_split(X[200:], 3), strict=True):
        stream(worker, part, 50)
    for worker in reversed(workers):
        assert first.merge(worker) is first
    assert first.n_samples_seen_ == len(X)
    assert_same(first, batch("fourier"))


def test_merging_moves_sums_to_one_point():
    """Models that began on other batches add up about other points; where features are the same they can be merged."""
    a, b = make("relu").partial_fit(X[:500]), make("relu").partial_fit(X[500:])
    assert not np.array_equal(a._stream.moments.shift, b._stream.moments.shift)
    assert_same(a.merge(b), batch("relu"))


def test_moments_about_another_point():
    F = np.random.default_rng(0).standard_normal((40, 3))
    here, there = Moments.about(np.zeros(3)), Moments.about(np.array([1.0, -2.0, 0.5]))
    here.add(F.copy(), np.ones(40))
    there.add(F.copy(), np.ones(40))
    moved = here.moved(there.shift)
    np.testing.assert_allclose(moved.first, there.first, atol=1e-12)
    np.testing.assert_allclose(moved.second, there.second, atol=1e-12)


@pytest.mark.parametrize("way", ["pickle", "joblib", "file"])
@pytest.mark.parametrize("waits", [False, True])
def test_saved_and_resumed(tmp_path, way, waits):
    made = make("fourier") if not waits else make("fourier", approximation=Nystrom(600), forget=1e-3)
    weights = np.linspace(0.5, 2.0, len(X))
    model = stream(made, X[:500], 100, weights[:500])
    if way == "pickle":
        resumed = pickle.loads(pickle.dumps(model))
    elif way == "joblib":
        joblib.dump(model, tmp_path / "model")
        resumed = joblib.load(tmp_path / "model")
    else:
        resumed = load(model.save(tmp_path / "model.kpca"))
    assert ("_waiting" in vars(resumed)) == waits
    for one in (model, resumed):
        stream(one, X[500:], 100, weights[500:])
    np.testing.assert_array_equal(resumed.transform(X), model.transform(X))


def test_a_file_of_rows_that_wait_must_fit_together(tmp_path):
    good = IncrementalKernelPCA(2, approximation=Nystrom(50)).partial_fit(X[:30], sample_weight=np.ones(30))
    assert load(good.save(tmp_path / "good.kpca")).n_samples_seen_ == 30
    for change in (
        {"n_samples_seen_": 29},
        {"n_features_in_": 3},
        {"kernel_": RBF(0.1)},
        {"_waiting": Waiting(X[:30], np.ones(29))},
        {"_waiting": Waiting(X[:30], np.zeros(30))},
        {"_waiting": Waiting(X[:29], None)},
        {"_waiting": RBF(0.1)},
    ):
        bad = copy(good)
        vars(bad).update(change)
        with pytest.raises(ModelFileError, match="not consistent"):
            load(bad.save(tmp_path / "bad.kpca"))


def test_a_model_is_worked_out_once_and_anew_after_a_batch(monkeypatch):
    model = make("landmarks").partial_fit(X[:300])
    count = []
    concluded = IncrementalKernelPCA._conclude
    monkeypatch.setattr(IncrementalKernelPCA, "_conclude", lambda self: count.append(1) or concluded(self))
    before = model.eigenvalues_
    assert model.transform(X).shape == (len(X), 5)
    assert len(count) == 1
    model.partial_fit(X[300:])
    assert len(count) == 1
    assert model.eigenvalues_[0] > before[0]
    assert len(count) == 2


def test_fit_begins_anew():
    model = make("fourier").partial_fit(X[:300])
    model.fit(X)
    assert_same(model, batch("fourier"))
    np.testing.assert_allclose(model.fit_transform(X), model.transform(X))


def test_the_way_back():
    model = stream(make("landmarks", n_components=20), X, 100)
    noisy = X[:50] + 0.2 * np.random.default_rng(0).standard_normal((50, X.shape[1]))
    cleaned = model.denoise(noisy)
    assert np.square(cleaned - X[:50]).mean() < np.square(noisy - X[:50]).mean()
    assert model.inverse_transform(model.transform(X[:5])).shape == (5, X.shape[1])
    fourier = stream(make("fourier"), X, 100)
    assert fourier.inverse_transform(fourier.transform(X[:5])).shape == (5, X.shape[1])


def test_certificate_and_plan():
    model = stream(make("landmarks"), X, 100)
    assert "landmarks" in str(model.certificate_)
    assert model.plan_.path == "features"
    assert "features" in str(make("fourier").explain_plan(X[:100]))
    assert not hasattr(clone(model), "eigenvalues_")


# bad input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"approximation": None}, "features must stand for the kernel"),
        ({"approximation": "sketch"}, "features must stand for the kernel"),
        ({"kernel": "precomputed", "approximation": "nystrom"}, "a kernel of rows"),
        ({"preimage": "ridge"}, "learns from training rows"),
        ({"forget": 1.0}, "such as 1e-4"),
        ({"forget": True}, "such as 1e-4"),
        ({"forget": "slowly"}, "such as 1e-4"),
        ({"n_components": 40, "approximation": Nystrom(30)}, "n_components=40 needs at least as many features"),
    ],
)
def test_what_a_stream_cannot_have(parameters, message):
    model = make("fourier").set_params(**parameters)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X[:100])
    assert not hasattr(model, "n_samples_seen_")


def test_batches_of_another_width():
    model = make("fourier").partial_fit(X[:100])
    before = model.eigenvalues_
    with pytest.raises(ValueError, match=r"Every batch needs the columns of the first one.*clone"):
        model.partial_fit(X[:100, :10])
    np.testing.assert_array_equal(model.eigenvalues_, before)


def test_a_bad_batch_leaves_the_model_as_it_was():
    model = make("fourier").partial_fit(X[:100])
    before = model.transform(X)
    spoilt = X[100:200].copy()
    spoilt[3, 3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(spoilt)
    assert model.n_samples_seen_ == 100
    np.testing.assert_array_equal(model.transform(X), before)


def test_models_that_cannot_be_merged():
    model = make("fourier").partial_fit(X[:100])
    with pytest.raises(ValueError, match="different features"):
        model.merge(make("fourier", random_state=1).partial_fit(X[100:200]))
    with pytest.raises(ValueError, match="which rows came first"):
        make("fourier", forget=0.1).partial_fit(X[:100]).merge(model)
    with pytest.raises(ValueError, match="give a batch"):
        model.fork().transform(X)


@pytest.mark.parametrize("first", [X[:0], np.repeat(X[:1], 10, axis=0)], ids=["no others", "all the same"])
@pytest.mark.parametrize("size", [2, len(X)])
def test_the_stated_error_is_that_of_rows_that_chose_no_features(first, size):
    """Also where the first batches were too few, or all the same, to tell."""
    rows = np.vstack([first, X])
    model = IncrementalKernelPCA(2, kernel=RBF(0.1), approximation=Nystrom(landmarks=np.arange(8)), center=False)
    for begin in (0, *range(max(len(first), 8), len(rows), size)):
        model.partial_fit(rows[begin : begin + size] if begin else rows[: max(len(first), 8)])
    C = RBF(0.1)(rows, rows[:8])
    wrong = RBF(0.1)(rows) - C @ np.linalg.pinv(C[:8], rcond=1e-10, hermitian=True) @ C.T
    stated = model.certificate_.approximation.error
    assert 0.5 < stated / np.sqrt(np.mean(wrong[8:, 8:] ** 2)) < 2
