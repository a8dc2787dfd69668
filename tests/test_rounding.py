"""What rounding does to kernel values: nothing that matters, or it is said."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from hard_rows import EXTENDED, SHAPES, attempt, problem, true_spectrum, true_values
from kernelpca import KernelPCA, RobustKernelPCA, SparseKernelPCA
from kernelpca.features import Nystrom
from kernelpca.gram import TiledGram
from kernelpca.kernels import (
    RBF,
    ArcCosine,
    Cauchy,
    ExponentialChiSquare,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
)
from kernelpca.kernels.base import values_of
from kernelpca.kernels.differences import WORTH, pair_distances
from kernelpca.kernels.origin import origin_of
from kernelpca.kernels.products import squared_distances

extended = pytest.mark.skipif(not EXTENDED, reason="the truth needs numpy.longdouble to be wider than float64")
OF_DISTANCES = [
    RBF(0.1),
    Cauchy(0.1),
    RationalQuadratic(2.0, 0.1),
    Matern(0.5, 0.1),
    Matern(1.5, 0.1),
    Matern(2.5, 0.1),
    Laplacian(0.3, norm="euclidean"),
    Laplacian(0.3),
    Linear().rbf(0.1),
    RBF(0.1) + Cauchy(0.1),
    3.0 * RBF(0.1) * Cauchy(0.2),
]


def normal(n=300, d=5, dtype=np.float64, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d)).astype(dtype)


def far_rows(name, dtype):
    """Rows of very different magnitude, as tables have them."""
    X = normal(dtype=dtype)
    if name == "sentinels":
        X[::10] = 99999 if dtype == np.float32 else 1e9
    elif name == "one row":
        X[7] = 1e6 if dtype == np.float32 else 1e10
    elif name == "clusters":
        X[::2] += 5000 if dtype == np.float32 else 1e9
    elif name == "offset":
        X += 1e4 if dtype == np.float32 else 1e8
    elif name == "all sentinels but one":
        X[1:] = 1e5
    return X


FAR = ["sentinels", "one row", "clusters", "offset", "all sentinels but one"]


@extended
@pytest.mark.parametrize("first", range(0, 600, 100))
def test_no_wrong_answer_has_a_satisfied_certificate(first):
    """All kernels, magnitudes, precisions, weights and unkind shapes (benchmarks/hard_rows.py has thousands)."""
    found = [(problem(seed), attempt(problem(seed))) for seed in range(first, first + 100)]
    wrong = [f"{p}: {outcome.detail}" for p, outcome in found if outcome.verdict == "wrong"]
    assert not wrong, "\n".join(wrong)
    assert sum(outcome.verdict == "right" for _, outcome in found) > 80
    assert {p.shape for p, _ in found} > set(SHAPES[:5])


@extended
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", FAR)
@pytest.mark.parametrize("kernel", OF_DISTANCES, ids=repr)
def test_rows_of_different_magnitude(kernel, name, dtype):
    X = far_rows(name, dtype)
    true = true_spectrum(true_values(kernel, X, X), None, True)[:3]
    model = KernelPCA(3, kernel=kernel).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, true, rtol=1e-5, atol=2 * model.certificate_.rounding)


@extended
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", FAR)
@pytest.mark.parametrize("kernel", OF_DISTANCES, ids=repr)
def test_direct_calls_and_new_rows(kernel, name, dtype):
    X = far_rows(name, dtype)
    known = kernel.rounding(X - X.mean(axis=0), np.dtype(dtype))
    allowed = 200 * np.finfo(dtype).eps * kernel.diag(X[:1])[0] + 4 * known
    Y = np.concatenate([X[:20], X[:20] + dtype(0.25)])
    for K, true in (
        (kernel(X), true_values(kernel, X, X)),
        (kernel(X, X[:50].copy()), true_values(kernel, X, X[:50])),
        (kernel(Y, X), true_values(kernel, Y, X)),
    ):
        assert np.abs(K - true).max() <= allowed
    model = KernelPCA(4, kernel=kernel).fit(X)
    reference = model.transform(X[:60])
    np.testing.assert_allclose(reference, model.fit_transform(X)[:60], atol=1e-3 * np.abs(reference).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["sentinels", "one row", "clusters"])
def test_landmarks_strips_and_tiles_are_alike(name, dtype):
    """What a dense fit finds is found through landmarks, in tiles, and where rows are elsewhere."""
    da = pytest.importorskip("dask.array")
    X = far_rows(name, dtype)
    whole = KernelPCA(3, kernel=RBF(0.1)).fit(X)
    rest = {
        "landmarks": KernelPCA(3, kernel=RBF(0.1), approximation=Nystrom(len(np.unique(X, axis=0)) - 1)),
        "tiles": KernelPCA(3, kernel=RBF(0.1), memory_limit="2MB", solver="block_krylov", tol=1e-5),
    }
    for model in rest.values():
        np.testing.assert_allclose(model.fit(X).eigenvalues_, whole.eigenvalues_, rtol=2e-3)
    remote = KernelPCA(3, kernel=RBF(0.1)).fit(da.from_array(X, chunks=(77, -1)))
    np.testing.assert_allclose(remote.eigenvalues_, whole.eigenvalues_, rtol=1e-4)


@settings(max_examples=60, deadline=None)
@given(
    arrays(np.float64, st.tuples(st.integers(1, 9), st.integers(1, 5)), elements=st.floats(-1e100, 1e100)),
    st.floats(1e-150, 1e50),
)
def test_squared_distances_keep_their_digits(X, scale):
    """Against SciPy's, which are made by differences, whatever the rows are."""
    S = np.empty((len(X), len(X)))
    squared_distances(X, X, S, scale)
    root = np.sqrt(scale)
    true = np.square(cdist(X, X) * root) if np.abs(X).max() > 1e-100 else np.square(cdist(X * root, X * root))
    with np.errstate(invalid="ignore"):
        close = (np.abs(S - true) <= 1e-11 * true) | (true == S)
    assert close.all() or (np.abs(S - true)[~close] <= 1e-300).all()
    assert (np.diag(S) == 0).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(-140, 140), st.sampled_from(OF_DISTANCES[:8]), st.integers(0, 9))
def test_units_do_not_matter(power, kernel, seed):
    """A power of two for all rows, and the width with it: the same values to the last digits."""
    X, unit = normal(20, 3, seed=seed), 2.0 ** (3 * power)
    width = unit if isinstance(kernel, Laplacian) else unit * unit
    if not 1e-290 < 1 / width < 1e290:
        return
    other = type(kernel)(**(kernel.get_params() | {"gamma": kernel.gamma / width}))
    np.testing.assert_allclose(other(X * unit), kernel(X), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 5, 16, 40])
def test_pairs_compiled_and_by_numpy(d, dtype):
    X, Y = normal(300, d, dtype), normal(200, d, dtype, seed=1)[:, ::-1]
    rows, cols = (np.random.default_rng(2).integers(0, n, WORTH // d + 3) for n in (300, 200))
    wide = np.ascontiguousarray(Y)
    true = 0.3 * np.square(X.astype(float)[rows] - Y[cols]).sum(axis=1)
    for other in (Y, wide):  # the columns of one lie the other way round
        np.testing.assert_allclose(pair_distances(X, other, rows, cols, 0.3), true, rtol=1e-12)
    np.testing.assert_allclose(pair_distances(X, wide, rows[:9], cols[:9], 0.3), true[:9], rtol=1e-12)


def test_pairs_of_sparse_rows():
    sparse = pytest.importorskip("scipy.sparse")
    X = sparse.random(60, 30, 0.2, "csr", random_state=0) + 1e6 * sparse.eye(60, 30, format="csr")
    dense = X.toarray()
    np.testing.assert_allclose(RBF(0.1)(X, X), RBF(0.1)(dense, dense), atol=1e-12)
    np.testing.assert_allclose(RBF(1e-13)(X), np.exp(-1e-13 * np.square(cdist(dense, dense))), atol=1e-12)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3])
def test_the_origin_is_not_dragged_along(share):
    X = normal(1000, 4)
    X[: int(share * 1000)] = 1e12
    np.random.default_rng(0).shuffle(X)
    origin = origin_of(RBF(1e-9), X, True)
    assert origin is None or np.abs(origin).max() < 2
    assert origin_of(Polynomial(2, 1.0), X, True) is None


def test_far_rows_are_not_rounded_to_float32():
    """Of float64 rows: a cluster far from the others would be one point there."""
    X = normal(4500, 3)
    X[::3] += 1e9
    gram = TiledGram(RBF(0.5), X)
    values = [part.matmat(np.eye(4500, 4)) for part in (gram, gram.single())]
    np.testing.assert_allclose(values[1], values[0], atol=1e-5)
    near = TiledGram(RBF(0.5), X[1::3]).single()
    assert isinstance(near, TiledGram)
    assert near.X.dtype == np.float32


@pytest.mark.parametrize("scale", [1e60, 1e100])
def test_transform_is_fit_transform_for_narrow_kernels(scale):
    X = scale * normal(30)
    for kernel in (RBF(1e-8), Laplacian(1e-8, norm="euclidean"), Matern(1.5, 1e-8), Cauchy(1e-8)):
        model = KernelPCA(kernel=kernel)
        Z = model.fit_transform(X)
        np.testing.assert_allclose(model.transform(X), Z, atol=1e-12)
        assert np.abs(Z).max() > 0.5


@pytest.mark.parametrize("kernel", [ExponentialChiSquare(1.0), RBF(1.0), Linear().rbf(1.0), Cauchy(1.0)], ids=repr)
@pytest.mark.parametrize("spread", [1e-2, 3e-5, 1e-7])
@extended
def test_small_variance_is_not_zero(kernel, spread):
    X = np.abs(1 + spread * normal(50, 3))
    model = KernelPCA(2, kernel=kernel).fit(X)
    K = true_values(kernel, X, X, less_one=True)
    np.testing.assert_allclose(model.eigenvalues_, true_spectrum(K, None, True)[:2], rtol=1e-5)


@pytest.mark.parametrize("kernel", [Matern(2.5, 1.0), Matern(0.7, 1.0), Polynomial(2, 1.0), Cauchy(1.0) * RBF(1.0)])
@pytest.mark.parametrize("spread", [1e-2, 1e-4, 1e-6])
@extended
def test_what_is_above_the_stated_rounding_is_kept(kernel, spread):
    X = 1 + spread * normal(50, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KernelPCA(10, kernel=kernel).fit(X)
    true = true_spectrum(true_values(kernel, X, X), None, True)[:10]
    rounding = model.certificate_.rounding
    assert np.abs(model.eigenvalues_ - true).max() <= rounding
    kept = true > max(2 * rounding, 2e-12 * true[0])
    assert (model.eigenvalues_[kept] > 0).all()


def test_rounding_of_kernel_values_is_said():
    """A Gaussian of lengths that hardly differ: what tells rows apart is below the digits of its entries."""
    X = (1e2 + normal(60, 3)).astype(np.float32)
    with pytest.warns(ConvergenceWarning, match=r"Rounding of the kernel values .* give float64 data"):
        model = KernelPCA(3, kernel=Polynomial(2, 1.0).rbf(1e-5)).fit(X)
    certificate = model.certificate_
    assert certificate.grade == "rounded"
    assert not certificate.satisfied
    assert "NOT the 1e-04 asked for" in str(certificate)
    assert KernelPCA(3, kernel=Linear().rbf(0.1)).fit(X).certificate_.satisfied


def test_through_landmarks_too():
    X = 1 + 1e-6 * normal(60, 3)
    with pytest.warns(ConvergenceWarning, match="Rounding of the kernel values"):
        model = KernelPCA(2, kernel=1e5 * Matern(1.5, 1.0), approximation=Nystrom(30)).fit(X)
    assert model.certificate_.grade == "rounded"


def test_angles_of_rows_that_are_nearly_parallel():
    for dtype, tolerance in ((np.float64, 1e-14), (np.float32, 1e-5)):
        X = (1 + 1e-3 * normal(40, 4)).astype(dtype)
        X[20:] *= -1
        true = true_values(ArcCosine(0), X, X)
        assert np.abs(values_of(ArcCosine(0), X, X) - true).max() < tolerance
        assert np.abs(ArcCosine(0)(np.zeros((2, 4), dtype)) - 0.5).max() == 0


@pytest.mark.parametrize(("dtype", "size"), [(np.float64, 1e200), (np.float32, 1e30)])
def test_infinite_squared_norms(dtype, size):
    """A right answer, or an error that says what to do."""
    X = normal(40, 3, dtype)
    X[::5] *= dtype(size)
    for kernel in OF_DISTANCES[:9]:
        model = KernelPCA(3, kernel=kernel).fit(X)
        assert model.eigenvalues_ == pytest.approx(true_spectrum(true_values(kernel, X, X), None, True)[:3], rel=1e-4)
        assert np.isfinite(model.transform(-X)).all()
    for kernel in (Linear(), Polynomial(2, 1.0)):
        with np.errstate(all="ignore"), pytest.raises(ValueError, match=r"[Ss]cale the data"):
            KernelPCA(3, kernel=kernel).fit(X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_subnormal_spreads(dtype):
    tiny = np.finfo(dtype).tiny
    X = (1e-3 * tiny / np.finfo(dtype).eps * normal(30, 2)).astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KernelPCA(2).fit(X)
    assert np.isfinite(model.transform(X)).all()
    widest = KernelPCA(2, kernel=RBF(1e300))
    assert np.isfinite(widest.fit_transform(X)).all()


def test_one_huge_row_at_transform_only():
    X = normal(200, 4)
    for model in (KernelPCA(3, kernel=RBF(0.1)), KernelPCA(3, kernel=RBF(0.1), approximation=Nystrom(50))):
        model.fit(X)
        new = X[:5].copy()
        new[2] = 1e300
        Z = model.transform(new)
        np.testing.assert_allclose(Z[[0, 1, 3, 4]], model.transform(X[:5])[[0, 1, 3, 4]], atol=1e-12)
        assert np.isfinite(Z).all()


def test_a_chunk_of_huge_rows():
    da = pytest.importorskip("dask.array")
    X = normal(400, 4)
    X[100:200] = 1e150 * normal(100, 4, seed=1)
    here = KernelPCA(3, kernel=RBF(0.1)).fit(X)
    there = KernelPCA(3, kernel=RBF(0.1)).fit(da.from_array(X, chunks=(100, -1)))
    np.testing.assert_allclose(there.eigenvalues_, here.eigenvalues_, rtol=1e-6)
    Z = KernelPCA(3, kernel=RBF(0.1)).fit(X[:100]).transform(da.from_array(X, chunks=(100, -1))).compute()
    assert np.isfinite(Z).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", [RBF(1e-4), Laplacian(1e-3), Laplacian(1e-3, norm="euclidean")], ids=str)
def test_one_huge_row_costs_the_others_no_digits_of_a_wide_kernel(dtype, kernel):
    X = normal(50, 4, dtype)
    new = X[:9].copy()
    new[2] = 1e10
    others = np.arange(9) != 2
    for approximation in (None, Nystrom(20)):
        model = KernelPCA(3, kernel=kernel, approximation=approximation).fit(X)
        Z = model.transform(X[:9])
        np.testing.assert_allclose(model.transform(new)[others], Z[others], atol=1e-4 * np.abs(Z).max())


@pytest.mark.parametrize("solver", ["auto", "dense", "block_krylov"])
@pytest.mark.parametrize("count", [2, 0.9])
def test_a_variance_that_rounding_hides_is_not_none(solver, count):
    """Eigenvalues below the rounding level are said to be zero, but not with a satisfied certificate."""
    X = normal(100, 3) + 1e8
    for kernel, rows in ((Polynomial(2, 1.0), X), ("precomputed", X @ X.T)):
        with pytest.warns(ConvergenceWarning, match="Rounding of the kernel values"):
            model = KernelPCA(count, kernel=kernel, solver=solver).fit(rows)
        certificate = model.certificate_
        assert not model.eigenvalues_.any()
        assert (certificate.grade, certificate.satisfied) == ("rounded", False)
    with pytest.warns(UserWarning, match="same point") as caught:
        nothing = KernelPCA(count, solver=solver).fit(np.full((100, 3), 1e8))
    assert nothing.certificate_.satisfied
    assert len(caught) == 1


@pytest.mark.parametrize("face", [KernelPCA, RobustKernelPCA, SparseKernelPCA])
@pytest.mark.parametrize("size", [1e3, 1e4])
def test_features_that_rounding_has_spoilt_are_not_called_good(face, size):
    X = (normal(60, 4) + size).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = face(3, kernel=Polynomial(1, 1.0), approximation=Nystrom(20)).fit(X)
    assert (model.certificate_.grade, model.certificate_.satisfied) == ("rounded", False)
