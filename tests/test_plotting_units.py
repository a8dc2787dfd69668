"""Middles, spreads and color bars of displays: without centering and with whitening pictures tell the truth too."""

import matplotlib
import numpy as np
import pytest
import sklearn.decomposition
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelpca import PCA, IncrementalKernelPCA, InvertibleKernelPCA, KernelPCA, RobustKernelPCA, SparseKernelPCA
from kernelpca.features import Nystrom
from kernelpca.kernels import RBF
from kernelpca.plotting import ResidualsDisplay, ScoresDisplay, SpectrumDisplay, TraversalDisplay
from kernelpca.plotting.fitted import ENOUGH, Fitted
from kernelpca.plotting.scale import Scale

IRIS = load_iris().data
KEEP_ROWS = {
    "kernel": lambda: KernelPCA(3, center=False),
    "ridge": lambda: KernelPCA(3, center=False, preimage="ridge"),
    "linear kernel": lambda: KernelPCA(3, kernel="linear", center=False),
    "robust": lambda: RobustKernelPCA(3, center=False),
    "pipeline": lambda: make_pipeline(StandardScaler(), KernelPCA(3, center=False)),
}
FORGET_ROWS = {
    "sparse": lambda: SparseKernelPCA(3, center=False),
    "landmarks": lambda: KernelPCA(3, approximation=Nystrom(60), center=False),
    "features": lambda: KernelPCA(3, approximation="fourier", center=False),
    "invertible": lambda: InvertibleKernelPCA(3, gamma=0.05, n_features=64, center=False),
    "layers": lambda: InvertibleKernelPCA(
        gamma=0.05, n_features=64, layers=[{"n_components": 4}, {"n_components": 3, "center": False}]
    ),
    "incremental": lambda: IncrementalKernelPCA(3, center=False),
    "PCA": lambda: PCA(3, center=False),
}
ROWS = np.repeat(IRIS, 4, axis=0) + np.random.default_rng(0).normal(0, 0.02, (600, 4))  # more than landmarks


@pytest.mark.parametrize("name", KEEP_ROWS)
def test_without_centering_the_mean_comes_from_the_training_rows_where_they_are_kept(name):
    model = KEEP_ROWS[name]().fit(IRIS)
    scale = Fitted(model).scale
    Z = model.transform(IRIS)
    np.testing.assert_allclose(scale.middle, Z.mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(scale.spread, Z.std(axis=0, ddof=1), atol=1e-9)
    assert (scale.middle_name, scale.unit) == ("mean", "standard deviations")


@pytest.mark.parametrize("name", FORGET_ROWS)
def test_without_centering_and_rows_scores_are_measured_from_the_origin(name):
    model = FORGET_ROWS[name]().fit(ROWS)
    scale = Fitted(model).scale
    np.testing.assert_array_equal(scale.middle, np.zeros(3))
    squares = np.square(model.transform(ROWS)).sum(axis=0) / (len(ROWS) - 1)
    np.testing.assert_allclose(scale.spread, np.sqrt(squares), rtol=1e-2)
    assert (scale.middle_name, scale.unit) == ("origin", "root mean squares")


@pytest.mark.parametrize("make", [lambda: KernelPCA(3), lambda: PCA(3), lambda: SparseKernelPCA(3)])
def test_with_centering_all_stays_as_the_model_says(make):
    model = make().fit(IRIS)
    scale = Fitted(model).scale
    np.testing.assert_array_equal(scale.middle, np.zeros(3))
    np.testing.assert_array_equal(scale.spread, np.sqrt(model.explained_variance_))
    assert (scale.middle_name, scale.unit) == ("mean", "standard deviations")
    assert Fitted(model).whole == "variance"


def test_of_many_training_rows_some_tell_the_scale():
    X = np.random.default_rng(0).normal(2.0, 1.0, (ENOUGH + 400, 3))
    model = KernelPCA(2, kernel=RBF(0.05), center=False).fit(X)
    scale, Z = Fitted(model).scale, model.transform(X)
    np.testing.assert_allclose(scale.middle, Z.mean(axis=0), atol=4 * Z.std(axis=0).max() / ENOUGH**0.5)
    np.testing.assert_allclose(scale.spread, Z.std(axis=0), rtol=0.1)
    assert np.abs(scale.spread - Z.std(axis=0, ddof=1)).max() > 0  # not all of them


def test_a_kernel_matrix_or_a_constant_has_a_scale():
    K = RBF(0.3)(IRIS, IRIS)
    model = KernelPCA(2, kernel="precomputed", center=False).fit(K)
    scale = Fitted(model).scale
    Z = model.transform(K)
    wanted = Z.mean(axis=0) if scale.middle_name == "mean" else np.zeros(2)
    np.testing.assert_allclose(scale.middle, wanted, atol=1e-9)
    with pytest.warns(UserWarning, match="All samples are the same point"):
        one = PCA(1, center=False).fit(np.zeros((4, 2)))
    np.testing.assert_array_equal(Fitted(one).scale.distances(one.transform(np.zeros((3, 2)))), np.zeros(3))


@given(st.integers(1, 6), st.integers(1, 4), st.integers(0, 10**6))
def test_distances_are_those_of_loops(n, k, seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(3.0, 2.0, (n, k))
    scale = Scale.of(scores)
    for i, distance in enumerate(scale.distances(scores)):
        naive = sum(((scores[i, j] - scores[:, j].mean()) / scale.spread[j]) ** 2 for j in range(k) if scale.spread[j])
        assert distance == pytest.approx(naive**0.5)
    for j in range(k):
        wanted = np.var(scores[:, j], ddof=1) ** 0.5 if n > 1 else 0.0
        assert scale.spread[j] == pytest.approx(wanted)


def test_a_traversal_without_centering_stays_among_the_data():
    model = KernelPCA(3, center=False).fit(IRIS)
    Z = model.transform(IRIS)
    display = TraversalDisplay.from_estimator(model, components=(0, 1), spread=1.0, steps=3)
    wanted = np.tile(Z.mean(axis=0), (6, 1))
    for i in (0, 1):
        for j, amount in enumerate((-1, 0, 1)):
            wanted[3 * i + j, i] += amount * Z[:, i].std(ddof=1)
    np.testing.assert_allclose(display.points.reshape(6, 4), model.inverse_transform(wanted), atol=1e-6)
    assert display.axes_[-1].get_xlabel() == "standard deviations along the component"
    assert display.reliability.min() > 0.8


def test_a_sparse_traversal_says_what_it_measures_and_rows_tell_it_more():
    model = SparseKernelPCA(3, center=False).fit(IRIS)
    display = TraversalDisplay.from_estimator(model, components=(0,), spread=1.0, steps=3)
    assert display.ax_.get_xlabel() == "root mean squares along the component"
    roots = np.sqrt(model.explained_variance_)
    np.testing.assert_allclose(
        display.points[0], model.inverse_transform([[-roots[0], 0, 0], [0, 0, 0], [roots[0], 0, 0]]), atol=1e-6
    )
    display = TraversalDisplay.from_estimator(model, IRIS, components=(0,), spread=1.0, steps=3)
    Z = model.transform(IRIS)
    ends = [Z.mean(axis=0) + amount * np.array([Z[:, 0].std(ddof=1), 0, 0]) for amount in (-1, 0, 1)]
    np.testing.assert_allclose(display.points[0], model.inverse_transform(ends), atol=1e-6)
    assert display.ax_.get_xlabel() == "standard deviations along the component"
    images = TraversalDisplay.from_estimator(model, components=(0,), image_shape=(2, 2))
    assert "above: root mean squares; bars: reliability, full = 1" in [text.get_text() for text in images.ax_.texts]
    curves = TraversalDisplay.from_estimator(model, components=(0,), positions=range(4))
    assert curves.figure_.axes[-1].get_ylabel() == "root mean squares"


def test_residuals_say_where_distances_begin():
    model = KernelPCA(3, center=False).fit(IRIS)
    display, Z = ResidualsDisplay.from_estimator(model, IRIS), model.transform(IRIS)
    naive = [sum(((z - Z[:, j].mean()) / Z[:, j].std(ddof=1)) ** 2 for j, z in enumerate(row)) ** 0.5 for row in Z]
    np.testing.assert_allclose(display.distances, naive)
    assert display.ax_.get_xlabel() == "distance from the mean within the subspace\n(standard deviations)"
    sparse = SparseKernelPCA(3, center=False).fit(IRIS)
    display = ResidualsDisplay.from_estimator(sparse, IRIS)
    assert display.ax_.get_xlabel() == "distance from the origin within the subspace\n(root mean squares)"
    naive = np.sqrt((sparse.transform(IRIS) ** 2 / sparse.explained_variance_).sum(axis=1))
    np.testing.assert_allclose(display.distances, naive)


def test_without_centering_components_hold_parts_of_the_mean_square():
    model = KernelPCA(3, center=False).fit(IRIS)
    assert ScoresDisplay.from_estimator(model, IRIS).ax_.get_xlabel().endswith("% of mean square)")
    spectrum = SpectrumDisplay.from_estimator(model)
    assert spectrum.twin_.get_ylabel() == "fraction of mean square kept"
    assert any(text.get_text().endswith("% of mean square") for text in spectrum.ax_.texts)
    images = TraversalDisplay.from_estimator(model, components=(0,), image_shape=(2, 2))
    assert images.ax_.get_yticklabels()[0].get_text().endswith("% of mean square")


@pytest.mark.parametrize("kind", [sklearn.decomposition.PCA, sklearn.decomposition.IncrementalPCA])
def test_whitened_scores_have_a_deviation_of_one(kind):
    plain, white = kind(3).fit(IRIS), kind(3, whiten=True).fit(IRIS)
    options = {"components": (0, 1), "spread": 2.0, "steps": 5}
    one, other = (TraversalDisplay.from_estimator(model, **options) for model in (plain, white))
    np.testing.assert_allclose(one.points, other.points, atol=1e-6)  # the same way, in the same units
    np.testing.assert_allclose(Fitted(white).scale.spread, np.ones(3))


def test_colors_of_curves_are_those_of_the_color_bar():
    digits = load_digits().data[:200] / 16
    display = TraversalDisplay.from_estimator(PCA(3).fit(digits), positions=range(64), components=(0, 1), steps=5)
    bar = display.figure_.axes[-1]
    assert bar.get_ylim() == (-2.0, 2.0)
    levels = next(child for child in bar.get_children() if isinstance(child, matplotlib.collections.QuadMesh))
    for axis in display.axes_:
        for line, amount in zip(axis.lines, display.steps, strict=True):
            drawn = levels.cmap(levels.norm(amount))
            np.testing.assert_allclose(matplotlib.colors.to_rgba(line.get_color()), drawn, atol=0.02)
