"""Displays: the numbers on the artists are those of the model, files and axes behave, bad input gets a sentence."""

import subprocess
import sys
from dataclasses import dataclass

import matplotlib
import numpy as np
import pandas as pd
import pytest
import sklearn.decomposition
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image
from scipy import sparse
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernelpca.sklearn
from kernelpca import (
    PCA,
    IncrementalKernelPCA,
    InvertibleKernelPCA,
    KernelPCA,
    RobustKernelPCA,
    SparseKernelPCA,
)
from kernelpca.io.table import Table
from kernelpca.kernels import RBF
from kernelpca.plotting import (
    ConvergenceDisplay,
    ErrorCurveDisplay,
    FitHistory,
    KernelMatrixDisplay,
    ParallelAnalysisDisplay,
    PreimageDisplay,
    ResidualsDisplay,
    ScoresDisplay,
    SpectrumDisplay,
    TraversalDisplay,
)
from kernelpca.plotting.rows import groups_of, spread_rows, take
from kernelpca.plotting.style import COLORS, as_error, as_percent, group_look
from kernelpca.plotting.traversal import MINUS
from kernelpca.preimage import Ridge
from kernelpca.selection import Denoising, KernelPCACV, error_curve, parallel_analysis
from kernelpca.solvers import BlockKrylov
from kernelpca.solvers.watch import Progress

IRIS, SPECIES = load_iris(return_X_y=True)
NAMED = load_iris(as_frame=True).data
DIGITS, DIGIT = load_digits(return_X_y=True)
DIGITS, DIGIT = DIGITS[:400] / 16, DIGIT[:400]

ESTIMATORS = {
    "kernel": lambda: KernelPCA(3),
    "linear kernel": lambda: KernelPCA(3, kernel="linear"),
    "nystrom": lambda: KernelPCA(3, approximation="nystrom"),
    "invertible": lambda: InvertibleKernelPCA(3, gamma=0.05, n_features=64),
    "layers": lambda: InvertibleKernelPCA(gamma=0.05, n_features=64, layers=[{"n_components": 4}, {"n_components": 3}]),
    "robust": lambda: RobustKernelPCA(3),
    "sparse": lambda: SparseKernelPCA(3),
    "incremental": lambda: IncrementalKernelPCA(3),
    "PCA": lambda: PCA(3),
    "drop-in": lambda: kernelpca.sklearn.KernelPCA(3, kernel="rbf", fit_inverse_transform=True),
    "scikit-learn's PCA": lambda: sklearn.decomposition.PCA(3),
    "scikit-learn's kernel PCA": lambda: sklearn.decomposition.KernelPCA(3, kernel="rbf", fit_inverse_transform=True),
    "pipeline": lambda: make_pipeline(StandardScaler(), KernelPCA(3)),
}


@pytest.fixture(scope="module")
def fitted():
    return {name: make().fit(IRIS) for name, make in ESTIMATORS.items()}


@pytest.fixture(scope="module")
def digits_model():
    return KernelPCA(6, kernel=RBF(0.03), preimage=Ridge(ridge=0.1)).fit(DIGITS)


def last(model):
    return model[-1] if hasattr(model, "steps") else model


def texts(display):
    return [text for text in display.figure_.findobj(matplotlib.text.Text) if text.get_visible() and text.get_text()]


# rows


@given(st.integers(1, 3000), st.integers(1, 500))
def test_rows_are_spread_evenly(n, most):
    rows = spread_rows(n, most)
    if n <= most:
        assert rows.tolist() == list(range(n))
        return
    assert len(set(rows.tolist())) == most
    for i, row in enumerate(rows):  # one in each stretch of equal length
        assert int(i * n / most) <= row <= np.ceil((i + 1) * n / most) - 1 + 1e-9


def test_rows_do_not_follow_an_order_that_repeats():
    labels = np.arange(1000) % 10
    assert len(set(labels[spread_rows(1000, 100)].tolist())) == 10


def test_rows_are_taken_from_every_kind_of_data():
    rows = np.array([2, 5, 7])
    dask = pytest.importorskip("dask.array")
    kinds = {
        "array": IRIS,
        "frame": NAMED,
        "sparse": sparse.csr_matrix(IRIS),
        "list": IRIS.tolist(),
        "table": Table(IRIS, tuple("abcd")),
        "dask": dask.from_array(IRIS, chunks=(40, 4)),
    }
    for name, X in kinds.items():
        taken = take(X, rows)
        taken = taken.toarray() if sparse.issparse(taken) else np.asarray(taken)
        np.testing.assert_array_equal(taken, IRIS[rows], err_msg=name)
    assert take(["a", "b", "c"], np.array([0, 2])) == ["a", "c"]


def test_groups_are_sorted_and_rows_without_a_label_are_one():
    groups = groups_of(np.array(["b", None, "a", np.nan, "b"], dtype=object))
    assert {name: mask.tolist() for name, mask in groups} == {
        "a": [False, False, True, False, False],
        "b": [True, False, False, False, True],
        "missing": [False, True, False, True, False],
    }
    assert [name for name, _ in groups_of(np.array([1.0, np.nan, np.nan, 0.0]))] == ["0.0", "1.0", "missing"]


# scores


@pytest.mark.parametrize("name", ESTIMATORS)
def test_points_are_scores(fitted, name):
    model = fitted[name]
    display = ScoresDisplay.from_estimator(model, IRIS, components=(0, 2))
    points = np.asarray(display.ax_.collections[0].get_offsets())
    np.testing.assert_allclose(points, np.asarray(model.transform(IRIS))[:, [0, 2]], atol=1e-12)
    label = display.ax_.get_ylabel()
    ratio = getattr(last(model), "explained_variance_ratio_", None)
    assert label == ("component 3" if ratio is None else f"component 3 ({as_percent(ratio[2])} of variance)")


def test_groups_have_colors_marks_and_names(fitted):
    names = load_iris().target_names[SPECIES]
    display = ScoresDisplay.from_estimator(fitted["kernel"], IRIS, labels=names)
    scores = fitted["kernel"].transform(IRIS)
    assert [points.get_label() for points in display.ax_.collections] == ["setosa", "versicolor", "virginica"]
    for i, points in enumerate(display.ax_.collections):
        np.testing.assert_array_equal(points.get_offsets(), scores[i == SPECIES][:, :2])
        assert matplotlib.colors.to_hex(points.get_facecolor()[0]) == COLORS[i]
    marks = {tuple(points.get_paths()[0].vertices.ravel()) for points in display.ax_.collections}
    assert len(marks) == 3
    legend = display.figure_.legends[0]
    assert [text.get_text() for text in legend.get_texts()] == ["setosa", "versicolor", "virginica"]


def test_a_quantity_has_a_color_bar(fitted):
    values = IRIS[:, 0].copy()
    values[3] = np.nan
    display = ScoresDisplay.from_estimator(fitted["kernel"], IRIS, values=values, values_name="length (cm)")
    points = display.ax_.collections[0]
    np.testing.assert_array_equal(points.get_array().filled(np.nan), values)
    assert display.figure_.axes[1].get_ylabel() == "length (cm)"
    display.to_bytes()
    assert points.get_facecolor()[3, :3] == pytest.approx([0xBB / 255] * 3)  # not known is gray, not hidden


def test_three_components_make_three_dimensions(fitted):
    display = ScoresDisplay.from_estimator(fitted["kernel"], IRIS, components=(0, 1, 2), labels=SPECIES)
    assert display.ax_.name == "3d"
    drawn = np.concatenate([np.transpose(points._offsets3d) for points in display.ax_.collections])
    order = np.argsort(SPECIES, kind="stable")
    np.testing.assert_allclose(drawn, fitted["kernel"].transform(IRIS)[order])
    assert display.ax_.get_zlabel().startswith("component 3\n(")


def test_many_rows_are_thinned_and_the_picture_says_so(fitted):
    X = np.tile(IRIS, (20, 1)) + np.random.default_rng(0).normal(0, 0.01, (3000, 4))
    display = ScoresDisplay.from_estimator(fitted["kernel"], X, max_points=1500, labels=np.arange(3000) % 4)
    assert len(display.scores) == len(display.rows) == 1500
    np.testing.assert_allclose(display.scores, fitted["kernel"].transform(X)[display.rows][:, :2])
    np.testing.assert_array_equal(display.labels, display.rows % 4)
    assert "1500 of 3000 rows shown" in [text.get_text() for text in texts(display)]
    assert display.ax_.collections[0].get_rasterized()


def test_more_groups_than_colors_are_named_at_their_middle(digits_model):
    display = ScoresDisplay.from_estimator(digits_model, DIGITS, labels=DIGIT)
    written = {text.get_text(): text.get_position() for text in display.ax_.texts}
    for digit in range(10):
        middle = np.median(display.scores[digit == DIGIT], axis=0)
        assert written[str(digit)] == pytest.approx(tuple(middle))


def test_no_two_groups_look_alike():
    looks = [tuple(sorted((name, str(value)) for name, value in group_look(i).items())) for i in range(24)]
    assert len(set(looks)) == 24


def test_data_that_lies_elsewhere_is_drawn(fitted):
    dask = pytest.importorskip("dask.array")
    display = ScoresDisplay.from_estimator(fitted["kernel"], dask.from_array(IRIS, chunks=(50, 4)), max_points=30)
    np.testing.assert_allclose(display.scores, fitted["kernel"].transform(IRIS[display.rows])[:, :2])


# small images on the map


def boxes(display):
    return [child for child in display.ax_.get_children() if type(child).__name__ == "AnnotationBbox"]


def test_samples_as_small_images_lie_where_they_belong_and_do_not_meet(digits_model):
    display = ScoresDisplay.from_estimator(digits_model, DIGITS, image_shape=(8, 8), thumbnails="samples", grid=6)
    scores, small = display.scores, display.thumbnails
    cell = np.ptp(scores, axis=0) / 6
    for place, image in zip(small.places, small.images, strict=True):
        row = int(np.flatnonzero((scores == place).all(axis=1))[0])
        np.testing.assert_array_equal(image.ravel(), DIGITS[row])
        near = np.abs((small.places - place) / cell).max(axis=1)
        assert sorted(near)[1] >= 1  # the first is the image itself
    every = np.abs((scores[:, None] - small.places) / cell).max(axis=2).min(axis=1)
    assert every.max() < 1  # no sample is farther than a cell from an image
    for box, place, image in zip(boxes(display), small.places, small.images, strict=True):
        assert box.xy == pytest.approx(tuple(place))
        np.testing.assert_array_equal(box.offsetbox.get_data(), image)


@pytest.mark.parametrize("others", ["near", "zero"])
def test_pre_images_on_the_map_are_those_of_their_places(digits_model, others):
    display = ScoresDisplay.from_estimator(digits_model, DIGITS, image_shape=(8, 8), grid=4, others=others)
    Z = digits_model.transform(DIGITS)
    low, high = Z[:, :2].min(axis=0), Z[:, :2].max(axis=0)
    wanted, places = [], []
    for i in range(4):  # the naive twin: cell by cell
        for j in range(4):
            left, right = (low + (high - low) * np.array(ends) / 4 for ends in ((i, j), (i + 1, j + 1)))
            inside = [z for z in Z if all(left[a] <= z[a] and (z[a] < right[a] or (i, j)[a] == 3) for a in (0, 1))]
            if inside:
                z = np.mean(inside, axis=0) if others == "near" else np.zeros(Z.shape[1])
                z[:2] = (left + right) / 2
                wanted.append(z)
                places.append(z[:2])
    np.testing.assert_allclose(display.thumbnails.places, places, atol=1e-12)
    found = digits_model.invert(np.array(wanted))
    np.testing.assert_allclose(display.thumbnails.images.reshape(len(wanted), -1), found.points, atol=1e-10)
    np.testing.assert_allclose(display.thumbnails.reliability, found.reliability, atol=1e-10)
    for box, sure in zip(boxes(display), found.reliability, strict=True):
        assert box.patch.get_linestyle() == ("-" if sure >= 0.5 else ":")


def test_small_images_do_not_overlap_on_paper(digits_model):
    for width in ("column", "full"):
        options = {"image_shape": (8, 8), "labels": DIGIT, "width": width}
        display = ScoresDisplay.from_estimator(digits_model, DIGITS, **options)
        display.to_bytes()
        extents = [box.get_window_extent() for box in boxes(display)]
        for i, one in enumerate(extents):
            assert not any(one.overlaps(other) for other in extents[:i])


# spectrum


@pytest.mark.parametrize("name", ESTIMATORS)
def test_spectrum_shows_eigenvalues_and_what_they_add_up_to(fitted, name):
    model = fitted[name]
    display = SpectrumDisplay.from_estimator(model)
    values = getattr(last(model), "eigenvalues_", getattr(last(model), "explained_variance_", None))
    np.testing.assert_array_equal(display.ax_.lines[0].get_ydata(), values)
    assert display.ax_.get_yscale() == "log"
    ratio = getattr(last(model), "explained_variance_ratio_", None)
    if ratio is None:
        assert display.cumulative is None
        return
    np.testing.assert_allclose(display.twin_.lines[0].get_ydata(), np.cumsum(ratio))
    assert display.ax_.lines[1].get_xdata() == [3, 3]  # the choice
    assert f"3 components: {as_percent(sum(ratio))} of variance" in [text.get_text() for text in texts(display)]


def test_a_fraction_of_the_variance_marks_the_smallest_number_that_keeps_it():
    model = KernelPCA(40, kernel=RBF(0.03)).fit(DIGITS)
    display = SpectrumDisplay.from_estimator(model, n_components=0.7)
    kept, k = 0.0, 0
    while kept < 0.7:
        kept += model.explained_variance_ratio_[k]
        k += 1
    assert display.n_components == k
    assert display.ax_.lines[1].get_xdata() == [k, k]
    assert str(model.certificate_).split()[0] in display.figure_._supxlabel.get_text()
    caption = " ".join(display.figure_._supxlabel.get_text().split())
    assert caption == str(model.certificate_)


@pytest.mark.parametrize("name", ["kernel", "PCA", "pipeline", "invertible", "incremental"])
def test_data_show_the_components_that_were_left_out(name):
    model = ESTIMATORS[name]().fit(DIGITS)
    display = SpectrumDisplay.from_estimator(model, DIGITS, n_shown=12)
    assert len(display.eigenvalues) == 12
    np.testing.assert_allclose(display.eigenvalues[:3], last(model).eigenvalues_, rtol=1e-3)
    assert display.n_components == 3
    assert last(model).n_components_ == 3  # the model itself stays as it is
    assert len(SpectrumDisplay.from_estimator(PCA(3).fit(IRIS), IRIS).eigenvalues) == 4  # there are no more


def test_a_choice_out_of_view_is_not_marked(fitted):
    display = SpectrumDisplay.from_estimator(fitted["kernel"], n_shown=2)
    assert len(display.eigenvalues) == 2
    assert len(display.ax_.lines) == 1


# kernel matrix


def test_the_kernel_matrix_is_that_of_the_model_ordered_by_label():
    model = KernelPCA(2, kernel=RBF(0.3)).fit(IRIS)
    shuffled = np.random.default_rng(0).permutation(150)
    X, y = IRIS[shuffled], SPECIES[shuffled]
    display = KernelMatrixDisplay.from_estimator(model, X, labels=y)
    order = [row for label in range(3) for row in range(150) if y[row] == label]
    assert display.rows.tolist() == order
    naive = [[np.exp(-0.3 * ((X[a] - X[b]) ** 2).sum()) for b in order] for a in order]
    np.testing.assert_allclose(display.ax_.images[0].get_array(), naive, atol=1e-12)
    assert display.groups == [("0", 0, 50), ("1", 50, 100), ("2", 100, 150)]
    assert [tick.get_text() for tick in display.ax_.get_yticklabels()] == ["0", "1", "2"]
    assert display.ax_.get_yticks().tolist() == [25, 75, 125]


def test_rows_of_the_matrix_can_follow_the_first_component(fitted):
    display = KernelMatrixDisplay.from_estimator(fitted["kernel"], IRIS, order="component", max_rows=60)
    scores = fitted["kernel"].transform(IRIS)[display.rows, 0]
    assert (np.diff(scores) >= 0).all()
    assert display.matrix.shape == (60, 60)
    assert "60 of 150 rows shown" in [text.get_text() for text in texts(display)]


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name != "scikit-learn's kernel PCA"])
def test_every_estimator_has_its_kernel_matrix(fitted, name):
    model = fitted[name]
    display = KernelMatrixDisplay.from_estimator(model, IRIS)
    X = StandardScaler().fit_transform(IRIS) if name == "pipeline" else IRIS
    if name == "layers":
        X, kernel = model.layers_[0].transform(IRIS), model.layers_[1].kernel_
    elif name == "invertible":
        kernel = RBF(0.05)
    elif name == "drop-in":
        kernel = RBF(model.gamma_)
    else:
        kernel = getattr(last(model), "kernel_", None)
    naive = X @ X.T if kernel is None or name == "linear kernel" else kernel(X, X)
    np.testing.assert_allclose(display.matrix, naive, rtol=1e-6, atol=1e-9)
    signed = (naive < 0).any()
    assert display.ax_.images[0].get_cmap().name == ("PuOr" if signed else "viridis")


def test_a_given_kernel_matrix_is_drawn_as_it_is():
    K = RBF(0.3)(IRIS, IRIS)
    model = KernelPCA(2, kernel="precomputed").fit(K)
    rows = spread_rows(150, 40)
    display = KernelMatrixDisplay.from_estimator(model, K, max_rows=40)
    np.testing.assert_array_equal(display.matrix, K[np.ix_(rows, rows)])
    dask = pytest.importorskip("dask.array")
    kinds = [K.tolist(), pd.DataFrame(K), sparse.csr_matrix(K), dask.from_array(K, chunks=(50, 150))]
    for given_matrix in kinds:
        display = KernelMatrixDisplay.from_estimator(model, given_matrix, max_rows=40)
        np.testing.assert_array_equal(display.matrix, K[np.ix_(rows, rows)])
    for part in (K[:10], K[:10].tolist(), pd.DataFrame(K[:10])):
        with pytest.raises(ValueError, match=r"X has shape \(10, 150\).*square"):
            KernelMatrixDisplay.from_estimator(model, part)
    display = KernelMatrixDisplay.from_kernel(RBF(0.3), IRIS)
    np.testing.assert_allclose(display.matrix, K, atol=1e-12)
    texts = KernelMatrixDisplay.from_kernel("spectrum", ["abcabc", "abcab", "xyzxyz"])
    assert texts.matrix[0, 1] > texts.matrix[0, 2]


# pre-images


def test_images_are_those_of_the_models_with_their_errors(digits_model):
    noisy = DIGITS[:30] + np.random.default_rng(0).normal(0, 0.2, (30, 64))
    models = {"PCA": PCA(6).fit(DIGITS), "kernel PCA": digits_model}
    display = PreimageDisplay.from_estimator(models, noisy, truth=DIGITS[:30], image_shape=(8, 8), samples=[4, 0, 9])
    pca = models["PCA"]
    rows = {
        "original": DIGITS[:30],
        "noisy": noisy,
        "PCA": pca.inverse_transform(pca.transform(noisy)),
        "kernel PCA": digits_model.denoise(noisy),
    }
    assert list(display.answers) == list(rows)
    wanted = [answer[row].reshape(8, 8) for answer in rows.values() for row in (4, 0, 9)]
    for image, pixels in zip(display.ax_.images, wanted, strict=True):
        np.testing.assert_allclose(image.get_array(), pixels, atol=1e-9)
        assert (image.norm.vmin, image.norm.vmax) == (0, 1)  # one scale, that of the originals
    names = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert names[0] == "original"
    for name, label in zip(list(rows)[1:], names[1:], strict=True):
        naive = np.mean([(a - b) ** 2 for a, b in zip(rows[name].ravel(), DIGITS[:30].ravel(), strict=True)])
        assert display.errors[name] == pytest.approx(naive)
        assert label == f"{name}\nMSE {as_error(naive)}"
    extents = [tuple(image.get_extent()) for image in display.ax_.images]
    assert len(set(extents)) == len(wanted)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_brings_samples_back(fitted, name):
    model = fitted[name]
    display = PreimageDisplay.from_estimator(model, IRIS, samples=[7])
    *_, answer = display.answers.values()
    if hasattr(model, "denoise"):
        wanted = model.denoise(IRIS)
    elif name == "pipeline":
        scaled = model[0].transform(IRIS)
        wanted = model[0].inverse_transform(model[1].denoise(scaled))
    else:
        wanted = model.inverse_transform(model.transform(IRIS))
    np.testing.assert_allclose(answer, wanted)
    heights = [[bar.get_height() for bar in group] for group in display.ax_.containers]
    np.testing.assert_allclose(heights, [IRIS[7], wanted[7]])
    assert display.errors == {type(last(model)).__name__: pytest.approx(np.square(wanted - IRIS).mean())}


def test_signals_are_curves_at_their_positions():
    t = np.linspace(0, 1, 40)
    phases = np.random.default_rng(0).uniform(0, 1, 60)
    X = np.sin(2 * np.pi * (t + phases[:, None]))
    model = KernelPCA(4).fit(X)
    display = PreimageDisplay.from_estimator(model, X, positions=t, x_name="time (s)", y_name="mV", samples=[1, 5])
    assert [axis.get_title(loc="left") for axis in display.axes_] == ["sample 1", "sample 5"]
    for axis, row in zip(display.axes_, (1, 5), strict=True):
        np.testing.assert_array_equal(axis.lines[0].get_xdata(), t)
        np.testing.assert_array_equal(axis.lines[0].get_ydata(), X[row])
        np.testing.assert_allclose(axis.lines[1].get_ydata(), model.denoise(X)[row])
    assert (display.axes_[1].get_xlabel(), display.axes_[0].get_ylabel()) == ("time (s)", "mV")
    traversal = TraversalDisplay.from_estimator(model, positions=t, components=(1,), steps=3)
    for line, points in zip(traversal.ax_.lines, traversal.points[0], strict=True):
        np.testing.assert_array_equal(line.get_ydata(), points)
        np.testing.assert_array_equal(line.get_xdata(), t)


def test_columns_have_the_names_that_the_model_knows():
    model = KernelPCA(3).fit(NAMED)
    display = PreimageDisplay.from_estimator(model, NAMED, samples=2)
    ticks = [tick.get_text() for tick in display.axes_[-1].get_xticklabels()]
    assert ticks == list(NAMED.columns)
    traversal = TraversalDisplay.from_estimator(model, IRIS[3])
    assert {line.get_label() for line in traversal.ax_.lines} == set(NAMED.columns)


def test_rows_have_the_names_that_they_are_given(fitted):
    names = {"truth_name": "mean", "given_name": "flower"}
    display = PreimageDisplay.from_estimator(fitted["PCA"], IRIS, truth=IRIS * 0 + IRIS.mean(axis=0), **names)
    assert list(display.answers) == ["mean", "flower", "PCA"]
    assert display.errors["flower"] == pytest.approx(np.square(IRIS - IRIS.mean(axis=0)).mean())


def test_of_many_rows_some_are_denoised(fitted):
    display = PreimageDisplay.from_estimator(fitted["PCA"], IRIS, max_rows=20, samples=[149, 0])
    assert 20 <= len(display.rows) <= 22
    np.testing.assert_array_equal(display.answers["original"], IRIS[display.rows])
    assert display.rows[display.shown].tolist() == [149, 0]


def test_ink_is_dark_and_faces_are_not(digits_model):
    display = PreimageDisplay.from_answers({"a": DIGITS}, image_shape=(8, 8))
    assert display.ax_.images[0].get_cmap().name == "gray_r"
    display = PreimageDisplay.from_answers({"a": 1 - DIGITS}, image_shape=(8, 8))
    assert display.ax_.images[0].get_cmap().name == "gray"
    display = PreimageDisplay.from_answers({"a": DIGITS}, image_shape=(8, 8), ink=False)
    assert display.ax_.images[0].get_cmap().name == "gray"
    colored = PreimageDisplay.from_answers({"a": DIGITS[:, :48] * 255}, image_shape=(4, 4, 3), samples=[2])
    pixels = np.asarray(colored.ax_.images[0].get_array())
    assert pixels.shape == (4, 4, 3)
    np.testing.assert_allclose(pixels.ravel(), DIGITS[2, :48])


# traversal


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_traversal_goes_along_one_component_at_a_time(fitted, name):
    model = fitted[name]
    display = TraversalDisplay.from_estimator(model, components=(1, 0), spread=1.5, steps=3)
    variances = getattr(last(model), "explained_variance_", None)
    variances = last(model).eigenvalues_ / 149 if variances is None else variances
    Z = np.array([[0.0] * 3] * 6)
    for i, component in enumerate((1, 0)):
        for j, amount in enumerate((-1.5, 0.0, 1.5)):
            Z[3 * i + j, component] = amount * variances[component] ** 0.5
    np.testing.assert_allclose(display.points.reshape(6, 4), model.inverse_transform(Z), atol=1e-7)
    back = np.asarray(model.transform(display.points.reshape(6, 4)))
    naive = 1 / (1 + np.square(back - Z).sum(axis=1) / np.sum(variances))
    np.testing.assert_allclose(display.reliability.ravel(), naive, atol=0.02)  # n, or n - 1
    if name in ("PCA", "linear kernel", "scikit-learn's PCA"):
        np.testing.assert_allclose(display.reliability, 1.0)
    assert [len(axis.lines) for axis in display.axes_] == [4, 4]
    for i, axis in enumerate(display.axes_):
        for line, column in zip(axis.lines, display.points[i].T, strict=True):
            np.testing.assert_array_equal(line.get_xdata(), [-1.5, 0.0, 1.5])
            np.testing.assert_array_equal(line.get_ydata(), column)


def test_images_of_a_traversal_have_their_reliability_below_them(digits_model):
    display = TraversalDisplay.from_estimator(digits_model, DIGITS[5], components=(0, 3), image_shape=(8, 8), steps=5)
    for image, point in zip(display.ax_.images, display.points.reshape(10, 64), strict=True):
        np.testing.assert_array_equal(image.get_array(), point.reshape(8, 8))
    bars = [bar.get_width() for bar in display.ax_.patches]
    np.testing.assert_array_equal(bars[::2], np.ones(10))
    np.testing.assert_allclose(bars[1::2], display.reliability.ravel())
    middle = digits_model.inverse_transform(digits_model.transform(DIGITS[5:6]))
    np.testing.assert_allclose(display.points[:, 2], np.repeat(middle, 2, axis=0), atol=1e-6)
    assert [tick.get_text() for tick in display.ax_.get_xticklabels()] == [f"{MINUS}2", f"{MINUS}1", "0", "+1", "+2"]
    part = as_percent(digits_model.explained_variance_ratio_[3])
    assert display.ax_.get_yticklabels()[1].get_text() == f"component 4\n{part} of variance"


def test_a_traversal_far_out_is_unreliable_and_does_not_warn():
    model = KernelPCA(2, kernel=RBF(2.0)).fit(IRIS)
    display = TraversalDisplay.from_estimator(model, spread=40.0, positions=np.arange(4))
    assert display.reliability.min() < 0.1
    styles = [line.get_linestyle() for line in display.axes_[0].lines]
    assert styles == ["-" if sure >= 0.5 else ":" for sure in display.reliability[0]]


# residuals


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if "PCA" not in name and name != "drop-in"] + ["PCA"])
def test_residuals_and_outliers_by_the_rule_of_quartiles(fitted, name):
    model = fitted[name]
    display = ResidualsDisplay.from_estimator(model, IRIS)
    if name == "pipeline":
        wanted = model[1].residuals(model[0].transform(IRIS))
    elif hasattr(model, "residuals"):
        wanted = model.residuals(IRIS)
    else:
        wanted = model.reconstruction_error(IRIS).projection
    np.testing.assert_allclose(display.residuals, wanted)
    lower, upper = np.percentile(wanted, [25, 75], method="averaged_inverted_cdf")
    if name == "robust":
        assert display.threshold == -model.offset_
        np.testing.assert_array_equal(display.outliers, model.predict(IRIS) == -1)
        assert "the model's own" in display.rule
    else:
        assert display.threshold == pytest.approx(upper + 1.5 * (upper - lower))
        assert "of these residuals" in display.rule
    inside, outside = (np.asarray(points.get_offsets()) for points in display.ax_.collections)
    drawn = np.column_stack([display.distances, display.residuals])
    np.testing.assert_array_equal(inside, drawn[wanted <= display.threshold])
    np.testing.assert_array_equal(outside, drawn[wanted > display.threshold])
    assert display.ax_.lines[0].get_ydata() == [display.threshold] * 2


def test_the_distance_within_the_subspace_is_mahalanobis_distance():
    model = PCA(2).fit(IRIS)
    display = ResidualsDisplay.from_estimator(model, IRIS)
    Z = model.transform(IRIS)
    inverse = np.linalg.inv(np.cov(Z.T))
    naive = [float(np.sqrt(z @ inverse @ z)) for z in Z]
    np.testing.assert_allclose(display.distances, naive)


def test_the_limit_can_come_from_good_samples_or_be_given():
    train, fresh = IRIS[::2], IRIS[1::2] + np.array([0, 1.5, 0, 0])
    model = KernelPCA(3, kernel=RBF(0.3)).fit(train)
    display = ResidualsDisplay.from_estimator(model, fresh, reference=train, kind="histogram")
    lower, upper = np.percentile(model.residuals(train), [25, 75], method="averaged_inverted_cdf")
    assert display.threshold == pytest.approx(upper + 1.5 * (upper - lower))
    assert "of the 75 reference residuals" in display.rule
    counts = [sum(bar.get_height() for bar in bars) for bars in display.ax_.containers]
    assert counts == [int((~display.outliers).sum()), int(display.outliers.sum())]
    assert counts[1] > 10
    assert "Limit" in display.figure_._supxlabel.get_text()
    given = ResidualsDisplay.from_estimator(model, fresh, threshold=0.25)
    assert (given.threshold, given.rule) == (0.25, "as given")
    np.testing.assert_array_equal(given.outliers, model.residuals(fresh) > 0.25)


def test_no_outlier_is_left_out_of_a_thinned_picture():
    X = np.tile(IRIS, (4, 1)) + np.random.default_rng(0).normal(0, 0.05, (600, 4))
    X[[17, 301, 302, 599]] += [0, 3, 0, 3]
    display = ResidualsDisplay.from_estimator(PCA(2).fit(X), X, max_points=50)
    assert set(np.flatnonzero(display.outliers)) <= set(display.shown)
    assert len(display.ax_.collections[1].get_offsets()) == display.outliers.sum() >= 4
    assert {"17", "301", "302", "599"} & {text.get_text() for text in texts(display)}
    assert f"{len(display.shown)} of 600 rows shown" in [text.get_text() for text in texts(display)]


# convergence


def test_convergence_shows_what_the_solver_reported():
    history = FitHistory()
    model = KernelPCA(5, solver=BlockKrylov(criterion="certified", landmarks=0), tol=1e-6, callback=history).fit(DIGITS)
    display = ConvergenceDisplay.from_history(history, model)
    events = history.events
    assert len(events) == len(history) > 1
    lines = {line.get_label(): line for line in display.ax_.lines}
    for label, name in (
        ("relative residual (largest)", "relative_residual"),
        ("variance missed: estimate", "estimate"),
        ("variance missed: bound", "bound"),
    ):
        wanted = [(e.passes, getattr(e, name)) for e in events if getattr(e, name) not in (None, np.inf)]
        drawn = list(zip(lines[label].get_xdata(), lines[label].get_ydata(), strict=True))
        assert drawn == [pair for pair in wanted if pair[1] > 0]
    assert display.tol == 1e-6
    assert display.criterion == "certified"
    assert display.bound[-1] <= 1e-6 < display.bound[0]
    assert "asked of the bound: 1e-06" in [text.get_text() for text in texts(display)]
    caption = " ".join(display.figure_._supxlabel.get_text().split())
    assert caption == str(model.certificate_)


def test_convergence_of_a_copy_leaves_the_model_alone():
    model = KernelPCA(4, solver="block_krylov", tol=1e-7)
    display = ConvergenceDisplay.from_estimator(model, DIGITS, against="seconds")
    assert not hasattr(model, "eigenvalues_")
    assert model.callback is None
    np.testing.assert_array_equal(display.ax_.lines[0].get_xdata(), display.seconds)
    assert (np.diff(display.seconds) > 0).all()
    fitted = model.fit(DIGITS)
    assert display.passes[-1] == fitted.certificate_.passes


def test_stages_follow_one_another_with_a_gap():
    display = ConvergenceDisplay.from_estimator(RobustKernelPCA(2, solver="auto"), DIGITS)
    assert display.criterion == "criticality"
    events = [Progress(1, 0.1, 2, 0, 0.5), Progress(2, 0.2, 2, 2, 1e-5), Progress(1, 0.1, 2, None, 0.3)]
    events.append(Progress(3, 0.4, 2, None, 1e-6))
    display = ConvergenceDisplay.from_history(events)
    assert display.passes.tolist() == [1, 2, 3, 5]
    np.testing.assert_allclose(display.seconds, [0.1, 0.2, 0.3, 0.6])
    assert display.stages.tolist() == [2]
    np.testing.assert_array_equal(display.ax_.lines[0].get_ydata(), [0.5, 1e-5, np.nan, 0.3, 1e-6])
    assert display.ax_.lines[1].get_xdata() == [2.5, 2.5]


def test_two_events_of_one_pass_are_no_new_stage():
    events = [Progress(1, 0.1, 2, 0, 0.5), Progress(2, 0.2, 2, 2, 0.1), Progress(2, 0.3, 2, 2, 0.05)]
    display = ConvergenceDisplay.from_history([*events, Progress(3, 0.4, 2, 2, 0.01), Progress(1, 0.5, 2, 0, 0.2)])
    assert display.passes.tolist() == [1, 2, 2, 3, 4]
    assert display.stages.tolist() == [4]


@pytest.mark.parametrize("make", [lambda: PCA(2), lambda: InvertibleKernelPCA(2, gamma=0.05, n_features=64)])
def test_convergence_gives_no_advice_that_cannot_be_followed(make):
    with pytest.raises(ValueError, match="reported no errors") as caught:
        ConvergenceDisplay.from_estimator(make(), IRIS)
    assert "Fit with solver" not in str(caught.value)
    assert f"{type(make()).__name__} has no parameter `solver`" in str(caught.value)


def test_convergence_of_a_pipeline_names_the_way():
    pipeline = make_pipeline(StandardScaler(), KernelPCA(2, solver="block_krylov", tol=1e-8)).fit(IRIS)
    with pytest.raises(TypeError, match="give its last step and transformed rows"):
        ConvergenceDisplay.from_estimator(pipeline, IRIS)
    display = ConvergenceDisplay.from_estimator(pipeline[-1], pipeline[:-1].transform(IRIS))  # as it says
    assert display.residual[-1] <= 1e-8


def test_a_history_passes_events_on_and_may_stop_the_fit():
    seen = []

    def stop(event):
        seen.append(event)
        return len(seen) == 2

    history = FitHistory(stop)
    with pytest.warns(UserWarning, match="callback"):
        KernelPCA(5, solver="block_krylov", tol=1e-12, callback=history).fit(DIGITS)
    assert history.events == seen
    assert len(seen) == 2


def test_a_solver_s_own_history_is_drawn():
    from kernelpca.gram import DenseGram

    solution = BlockKrylov(landmarks=0).solve(DenseGram(RBF(0.03)(DIGITS, DIGITS)), 4, tol=1e-8)
    display = ConvergenceDisplay.from_history(solution.history, solution.certificate)
    assert display.residual[-1] == solution.history[-1].relative_residual
    assert display.sentence == str(solution.certificate)


# choices


def test_error_curves_show_fractions_their_spread_and_the_choice():
    model = KernelPCA(30, kernel=RBF(0.03))
    display = ErrorCurveDisplay.from_estimator(model, DIGITS[:200], cv=3, rule=0.6)
    curve = error_curve(model, DIGITS[:200], cv=3, rule=0.6)
    np.testing.assert_array_equal(display.ax_.lines[0].get_xdata(), curve.k)
    np.testing.assert_allclose(display.ax_.lines[0].get_ydata(), curve.per_fold.mean(axis=0) / curve.baseline)
    band = display.ax_.collections[0].get_paths()[0].vertices
    high = curve.fraction + curve.per_fold.std(axis=0, ddof=1) / 3**0.5 / curve.baseline
    assert band[:, 1].max() == pytest.approx(high.max())
    assert display.ax_.lines[1].get_xdata() == [curve.best] * 2
    naive = next(k for k, left in zip(curve.k, curve.fraction, strict=True) if k and left <= 0.4)
    assert curve.best == naive
    assert any(text.get_text().startswith(f"{naive} components: ") for text in texts(display))
    assert " ".join(display.figure_._supxlabel.get_text().split()) == str(curve)


def test_of_several_curves_the_best_is_marked():
    search = KernelPCACV(gammas=[0.003, 0.03, 0.3], n_components=[1, 4, 16, 32, 64], criterion=Denoising(0.3), cv=2)
    search.fit(DIGITS[:200])
    display = ErrorCurveDisplay.from_search(search)
    assert list(display.curves) == [curve.model for curve in search.curves_]
    lowest = min(search.curves_, key=lambda curve: curve.mean.min())
    assert display.curve is lowest
    assert lowest.model == str(search.best_params_["kernel"])
    assert [line.get_label() for line in display.ax_.lines[:3]] == list(display.curves)
    np.testing.assert_array_equal(  # a search is drawn like the model that it chose
        ScoresDisplay.from_estimator(search, DIGITS).scores, search.transform(DIGITS)[:, :2]
    )
    one = error_curve(KernelPCA(3), DIGITS[:100], cv=2)
    with pytest.raises(ValueError, match="fractions of different things"):
        ErrorCurveDisplay.from_curve({"a": one, "b": lowest})
    with pytest.raises(TypeError, match="is no curve of errors"):
        ErrorCurveDisplay.from_curve(search)
    with pytest.raises(TypeError, match="has no curves"):
        ErrorCurveDisplay.from_search(KernelPCA())


def test_parallel_analysis_separates_components_from_chance():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 2)) @ rng.standard_normal((2, 10)) * 2 + rng.standard_normal((100, 10))
    analysis = parallel_analysis(PCA(6), X, n_permutations=10)
    display = ParallelAnalysisDisplay.from_analysis(analysis)
    kept, rest, every, limit, mark = display.ax_.lines
    assert analysis.n_components == 2
    np.testing.assert_array_equal(kept.get_xydata(), np.column_stack([[1, 2], analysis.eigenvalues[:2]]))
    np.testing.assert_array_equal(rest.get_ydata(), analysis.eigenvalues[2:])
    np.testing.assert_array_equal(every.get_ydata(), analysis.eigenvalues)
    np.testing.assert_array_equal(limit.get_ydata(), analysis.null_quantile)
    assert mark.get_xdata() == [2.5, 2.5]
    band = display.ax_.collections[0].get_paths()[0].vertices
    assert (band[:, 1].min(), band[:, 1].max()) == pytest.approx((analysis.null.min(), analysis.null.max()))
    legend = [text.get_text() for text in display.figure_.legends[0].get_texts()]
    assert legend[:3] == ["more than chance (2)", "not more (4)", "chance: 0.95 quantile of 10"]
    with pytest.raises(TypeError, match="is no parallel analysis"):
        ParallelAnalysisDisplay.from_analysis(PCA())


# figures, files and axes


@dataclass
class Case:
    draw: object
    panels: int = 1


@pytest.fixture(scope="module")
def cases(fitted, digits_model):
    kernel, noisy = fitted["kernel"], DIGITS[:20] + 0.1
    history = [Progress(i, i / 10, 3, 0, 10.0**-i, None, 10.0 ** (-2 * i), 10.0 ** (1 - i)) for i in range(1, 6)]
    by_name = load_iris().target_names[SPECIES]
    curve = error_curve(KernelPCA(8), IRIS, cv=2)
    analysis = parallel_analysis(PCA(4), IRIS, n_permutations=3)
    return {
        "scores": Case(lambda **o: ScoresDisplay.from_estimator(kernel, IRIS, labels=by_name, **o)),
        "many groups": Case(lambda **o: ScoresDisplay.from_estimator(digits_model, DIGITS, labels=DIGIT, **o)),
        "quantity": Case(lambda **o: ScoresDisplay.from_estimator(kernel, IRIS, values=IRIS[:, 0], **o)),
        "thumbnails": Case(lambda **o: ScoresDisplay.from_estimator(digits_model, DIGITS, image_shape=(8, 8), **o)),
        "spectrum": Case(lambda **o: SpectrumDisplay.from_estimator(kernel, IRIS, **o)),
        "matrix": Case(lambda **o: KernelMatrixDisplay.from_estimator(kernel, IRIS, labels=by_name, **o)),
        "images": Case(lambda **o: PreimageDisplay.from_estimator(digits_model, noisy, image_shape=(8, 8), **o)),
        "bars": Case(lambda **o: PreimageDisplay.from_estimator(kernel, IRIS, **o), 3),
        "curves": Case(
            lambda **o: PreimageDisplay.from_estimator(digits_model, noisy, positions=np.arange(64), samples=2, **o), 2
        ),
        "traversal": Case(lambda **o: TraversalDisplay.from_estimator(digits_model, image_shape=(8, 8), **o)),
        "traversal of curves": Case(
            lambda **o: TraversalDisplay.from_estimator(digits_model, positions=np.arange(64), components=[0, 1], **o),
            2,
        ),
        "traversal of tables": Case(lambda **o: TraversalDisplay.from_estimator(kernel, components=[0, 1], **o), 2),
        "residuals": Case(lambda **o: ResidualsDisplay.from_estimator(fitted["PCA"], IRIS, **o)),
        "histogram": Case(lambda **o: ResidualsDisplay.from_estimator(fitted["PCA"], IRIS, kind="histogram", **o)),
        "convergence": Case(lambda **o: ConvergenceDisplay.from_history(history, kernel, **o)),
        "error curves": Case(lambda **o: ErrorCurveDisplay.from_curve({"a": curve, "b": curve}, **o)),
        "parallel analysis": Case(lambda **o: ParallelAnalysisDisplay.from_analysis(analysis, **o)),
    }


NAMES = [
    "scores",
    "many groups",
    "quantity",
    "thumbnails",
    "spectrum",
    "matrix",
    "images",
    "bars",
    "curves",
    "traversal",
    "traversal of curves",
    "traversal of tables",
    "residuals",
    "histogram",
    "convergence",
    "error curves",
    "parallel analysis",
]


def test_all_cases_are_named(cases):
    assert list(cases) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_cut_off_and_legends_cover_no_data(cases, name):
    for width in ("column", "full"):
        display = cases[name].draw(width=width)
        figure = display.figure_
        assert figure.get_figwidth() == {"column": 3.4, "full": 7.0}[width]
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        pixels = np.asarray(canvas.buffer_rgba())[..., :3].min(axis=2)
        for side, edge in zip(("top", "bottom", "left", "right"), (*pixels[[0, -1]], *pixels.T[[0, -1]]), strict=True):
            assert edge.min() == 255, f"something leaves the figure at its {side} ({width})"
        assert min(text.get_fontsize() for text in texts(display)) >= 6
        for legend in figure.legends:
            box = legend.get_window_extent()
            assert not any(axis.get_window_extent().overlaps(box) for axis in display.axes_)
            caption = getattr(figure, "_supxlabel", None)
            assert caption is None or not caption.get_window_extent().overlaps(box)


@pytest.mark.parametrize("name", NAMES)
def test_the_caller_s_axes_are_used_and_settings_stay_as_they_are(cases, name):
    before = dict(matplotlib.rcParams)
    figure = Figure(figsize=(5, 5))
    axes = figure.subplots(1, cases[name].panels)
    display = cases[name].draw(ax=axes)
    assert display.figure_ is figure
    assert all(ours is theirs for ours, theirs in zip(display.axes_, np.ravel(axes), strict=True))
    assert display.ax_ is np.ravel(axes)[0]
    assert display._repr_png_() is None  # the caller shows it
    assert dict(matplotlib.rcParams) == before


def test_a_figure_of_our_own_is_drawn_again_and_shown_by_notebooks(cases):
    before = dict(matplotlib.rcParams)
    display = cases["scores"].draw(ax=Figure().subplots())
    figure = display.figure_
    assert display.plot() is display
    assert display.figure_ is not figure
    assert display._repr_png_().startswith(b"\x89PNG")
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize("name", ["spectrum", "traversal"])
def test_the_same_numbers_give_the_same_bytes(cases, name):
    display = cases[name].draw()
    assert display.to_bytes("svg") == display.plot().to_bytes("svg")


def test_files_are_written_whole_as_their_suffix_says(cases, tmp_path, monkeypatch):
    display = cases["scores"].draw()
    for name, magic in (("a.png", b"\x89PNG"), ("a.pdf", b"%PDF"), ("a.svg", b"<?xml")):
        display.save(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(magic)
    display.save(str(tmp_path / "b.PNG"), dpi=100)
    with Image.open(tmp_path / "b.PNG") as image:
        assert image.width == 340
    with pytest.raises(ValueError, match=r"'a.jpeg' has no suffix of a picture: name it .png"):
        display.save(tmp_path / "a.jpeg")
    with pytest.raises(FileNotFoundError, match="does not exist: make it first"):
        display.save(tmp_path / "nowhere" / "a.png")
    with pytest.raises(ValueError, match="kind='gif' is not known"):
        display.to_bytes("gif")
    old = (tmp_path / "a.png").read_bytes()

    def fail(*args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr(display.figure_, "savefig", fail)
    with pytest.raises(OSError, match="disk full"):
        display.save(tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes() == old


def test_a_subfigure_can_be_drawn_on(cases):
    figure = Figure(figsize=(7, 3))
    left, right = figure.subfigures(1, 2)
    display = cases["quantity"].draw(ax=right.subplots())
    assert display.figure_ is figure
    assert len(right.axes) == 2  # the color bar too
    assert not left.axes


def test_a_display_says_what_it_holds(cases):
    assert repr(cases["spectrum"].draw()).startswith("SpectrumDisplay(eigenvalues=array(20,), ratio=array(20,), n_comp")


def test_pictures_need_neither_pyplot_nor_matplotlib_before_they_are_drawn():
    code = """
import sys
import kernelpca.plotting
print("matplotlib" in sys.modules)
from sklearn.datasets import load_iris
from kernelpca import PCA
X = load_iris().data
kernelpca.plotting.ScoresDisplay.from_estimator(PCA(2).fit(X), X).to_bytes()
print("matplotlib.pyplot" in sys.modules)
"""
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == ["False", "False"]


def test_without_matplotlib_the_extra_is_named(fitted, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"A picture needs matplotlib.*pip install 'kernelpca\[plot\]'.*'\.\[plot\]'"):
        ScoresDisplay.from_estimator(fitted["kernel"], IRIS)


@pytest.mark.parametrize(("fraction", "text"), [(0.234, "23%"), (0.0234, "2.3%"), (0.00041, "0.041%"), (0.0996, "10%")])
def test_percent(fraction, text):
    assert as_percent(fraction) == text


# bad input

BAD = {
    "fewer components": (lambda f: ScoresDisplay.from_estimator(f["kernel"], IRIS, components=(0, 3)), "0 to 2"),
    "one component": (lambda f: ScoresDisplay.from_estimator(f["kernel"], IRIS, components=(0,)), "2 or 3 whole"),
    "labels": (
        lambda f: ScoresDisplay.from_estimator(f["kernel"], IRIS, labels=[1, 2]),
        r"labels has shape \(2,\); one",
    ),
    "values": (lambda f: ScoresDisplay.from_estimator(f["kernel"], IRIS, values=[1, 2]), r"values has shape \(2,\)"),
    "both": (
        lambda f: ScoresDisplay.from_estimator(f["kernel"], IRIS, labels=SPECIES, values=SPECIES),
        "Both labels and values",
    ),
    "too many groups": (
        lambda f: ScoresDisplay.from_estimator(f["kernel"], IRIS, labels=np.arange(150)),
        "150 different values.*quantity as values",
    ),
    "image shape": (
        lambda f: ScoresDisplay.from_estimator(f["kernel"], IRIS, image_shape=(3, 3)),
        r"image_shape=\(3, 3\) has 9 numbers, and a row has 4 columns.*\(2, 2\) would fit",
    ),
    "no image shape": (
        lambda f: TraversalDisplay.from_estimator(f["kernel"], image_shape=4),
        "give \\(height, width\\)",
    ),
    "three with images": (
        lambda f: ScoresDisplay.from_estimator(f["kernel"], IRIS, components=(0, 1, 2), image_shape=(2, 2)),
        "two dimensions only",
    ),
    "thumbnails": (
        lambda f: ScoresDisplay.from_estimator(f["kernel"], IRIS, image_shape=(2, 2), thumbnails="all"),
        "choose 'pre-images' or 'samples'",
    ),
    "grid": (
        lambda f: ScoresDisplay.from_estimator(f["kernel"], IRIS, image_shape=(2, 2), grid=0),
        "grid=0: give how many",
    ),
    "max_points": (lambda f: ScoresDisplay.from_estimator(f["kernel"], IRIS, max_points=0), "At most 0 rows"),
    "width": (lambda f: ScoresDisplay.from_estimator(f["kernel"], IRIS, width="wide"), "width='wide' is no width"),
    "flat axes": (
        lambda f: ScoresDisplay.from_estimator(f["kernel"], IRIS, components=(0, 1, 2), ax=Figure().subplots()),
        "3 components, and ax has 2 dimensions",
    ),
    "axes": (lambda f: PreimageDisplay.from_estimator(f["kernel"], IRIS, ax=Figure().subplots()), "1 axes.*3 panels"),
    "spectrum beyond": (lambda f: SpectrumDisplay.from_estimator(f["kernel"], n_components=9), "from 1 to 3"),
    "spectrum fraction": (lambda f: SpectrumDisplay.from_estimator(f["kernel"], n_components=0.9999999), "keep 9"),
    "spectrum robust": (lambda f: SpectrumDisplay.from_estimator(f["robust"], IRIS), "Leave X out"),
    "order": (lambda f: KernelMatrixDisplay.from_estimator(f["kernel"], IRIS, order="labels"), "needs labels"),
    "unknown order": (lambda f: KernelMatrixDisplay.from_estimator(f["kernel"], IRIS, order="size"), "choose 'labels'"),
    "truth": (lambda f: PreimageDisplay.from_estimator(f["kernel"], IRIS, truth=IRIS[:9]), "truth has 9 rows"),
    "truth columns": (
        lambda f: PreimageDisplay.from_estimator(f["kernel"], IRIS, truth=IRIS[:, :2]),
        r"truth has shape \(150, 2\)",
    ),
    "names twice": (
        lambda f: PreimageDisplay.from_estimator({"original": f["kernel"]}, IRIS),
        "'original' is the name of two rows",
    ),
    "no models": (lambda f: PreimageDisplay.from_estimator({}, IRIS), "No model is given"),
    "samples": (lambda f: PreimageDisplay.from_estimator(f["kernel"], IRIS, samples=[150]), "from 0 to 149"),
    "two forms": (
        lambda f: PreimageDisplay.from_estimator(f["kernel"], IRIS, image_shape=(2, 2), positions=range(4)),
        "image_shape and positions are given",
    ),
    "positions": (
        lambda f: PreimageDisplay.from_estimator(f["kernel"], IRIS, positions=[1, 2]),
        r"positions has shape \(2,\), and a row has 4 columns",
    ),
    "no answers": (lambda f: PreimageDisplay.from_answers({}), "No rows are given"),
    "unequal answers": (
        lambda f: PreimageDisplay.from_answers({"a": IRIS, "b": IRIS[:3]}),
        r"b has shape \(3, 4\)",
    ),
    "steps": (lambda f: TraversalDisplay.from_estimator(f["kernel"], steps=1), "at least 2"),
    "spread": (lambda f: TraversalDisplay.from_estimator(f["kernel"], spread=-1), "positive number of standard dev"),
    "no way back": (
        lambda f: TraversalDisplay.from_estimator(KernelPCA(2, kernel="precomputed").fit(IRIS @ IRIS.T)),
        "no way back, so there are no pre-images to draw",
    ),
    "not asked for": (
        lambda f: TraversalDisplay.from_estimator(kernelpca.sklearn.KernelPCA(2).fit(IRIS)),
        "fit_inverse_transform=True",
    ),
    "kind": (lambda f: ResidualsDisplay.from_estimator(f["kernel"], IRIS, kind="pie"), "'scatter' or 'histogram'"),
    "threshold": (lambda f: ResidualsDisplay.from_estimator(f["kernel"], IRIS, threshold="x"), "squared distance such"),
    "against": (lambda f: ConvergenceDisplay.from_history([], against="time"), "'passes' or 'seconds'"),
    "nothing reported": (lambda f: ConvergenceDisplay.from_estimator(KernelPCA(2), IRIS), "solver='block_krylov'"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_a_sentence(fitted, name):
    call, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        call(fitted)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda f: ScoresDisplay.from_estimator(KernelPCA(2), IRIS), NotFittedError, "not fitted yet"),
        (lambda f: ScoresDisplay.from_estimator(KernelPCA, IRIS), TypeError, "is no fitted model"),
        (lambda f: SpectrumDisplay.from_estimator(StandardScaler().fit(IRIS)), TypeError, "has no components to draw"),
        (lambda f: ScoresDisplay.from_estimator(f["kernel"], IRIS, values=["a"] * 150), TypeError, "labels="),
        (lambda f: ScoresDisplay.from_estimator(f["kernel"], IRIS, ax=3), TypeError, "is no matplotlib axes"),
        (
            lambda f: ResidualsDisplay.from_estimator(f["scikit-learn's kernel PCA"], IRIS),
            TypeError,
            "does not know how far",
        ),
        (
            lambda f: KernelMatrixDisplay.from_estimator(f["scikit-learn's kernel PCA"], IRIS),
            TypeError,
            "no kernel that can be drawn",
        ),
        (lambda f: ConvergenceDisplay.from_estimator(f["scikit-learn's PCA"], IRIS), TypeError, "reports no progress"),
        (lambda f: PreimageDisplay.from_answers({"a": [["x"]]}), TypeError, "something else than numbers"),
        (
            lambda f: TraversalDisplay.from_estimator(make_pipeline(OneWay(), KernelPCA(2)).fit(IRIS)),
            TypeError,
            "one of the steps before it",
        ),
    ],
)
def test_what_is_no_model_or_no_data_is_refused(fitted, call, error, message):
    with pytest.raises(error, match=message):
        call(fitted)


class OneWay(sklearn.base.TransformerMixin, sklearn.base.BaseEstimator):
    """A step that cannot be taken back."""

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        return X


def test_inputs_are_not_changed(fitted):
    X, y = IRIS.copy(), SPECIES.copy()
    frame = pd.DataFrame(X.copy())
    ScoresDisplay.from_estimator(fitted["kernel"], X, labels=y)
    PreimageDisplay.from_estimator(fitted["kernel"], X, truth=frame.to_numpy())
    KernelMatrixDisplay.from_estimator(fitted["kernel"], X, labels=y)
    ResidualsDisplay.from_estimator(fitted["kernel"], X)
    np.testing.assert_array_equal(X, IRIS)
    np.testing.assert_array_equal(y, SPECIES)
