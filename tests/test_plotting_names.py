"""Names of groups, columns, rows and models in pictures: written as they are, none lost, none merged, not too many."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.cbook import is_math_text
from sklearn.datasets import load_breast_cancer, load_iris

from kernelpca import PCA, KernelPCA
from kernelpca.plotting import (
    ErrorCurveDisplay,
    KernelMatrixDisplay,
    PreimageDisplay,
    ResidualsDisplay,
    ScoresDisplay,
    TraversalDisplay,
)
from kernelpca.plotting.form import find_form
from kernelpca.plotting.images import check_image_shape
from kernelpca.plotting.rows import groups_of
from kernelpca.plotting.style import as_written
from kernelpca.selection import error_curve

IRIS, SPECIES = load_iris(return_X_y=True)
ODD = ["_hidden", "$a_{$", ""]
DRAWN = [" _hidden", "$a_{$", "(empty)"]
COLUMNS = ["_x", "$y_{$", "z $", r"\$w$"]


def legend(display):
    """Return the names in the legend as a reader sees them."""
    return [seen(text) for text in display.figure_.legends[0].get_texts()]


def seen(text):
    assert not is_math_text(text.get_text())
    return text.get_text().replace(r"\$", "$")


@given(st.text() | st.text("_$\\ab{ "))
def test_every_name_is_written_as_it_is(name):
    written = as_written(name)
    assert not is_math_text(written)
    assert written
    assert not written.startswith("_")  # such names are left out of legends
    assert as_written(written) == written
    assert written.replace("\\", "").strip() == (name.replace("\\", "").strip() or ("" if name else "(empty)"))


@pytest.mark.parametrize("components", [(0, 1), (0, 1, 2)])
def test_odd_names_of_groups_are_in_legends_and_files(components):
    labels = np.array(ODD, object)[SPECIES]
    display = ScoresDisplay.from_estimator(PCA(3).fit(IRIS), IRIS, labels=labels, components=components)
    assert sorted(legend(display)) == sorted(DRAWN)
    assert display.to_bytes("svg")


def test_odd_names_of_many_groups_are_on_the_map():
    turn = np.arange(150) % 12
    labels = np.array([f"$_{{{i}$" for i in turn])
    X = np.column_stack([3 * np.cos(turn * np.pi / 6), 2 * np.sin(turn * np.pi / 6)])
    display = ScoresDisplay.from_estimator(PCA(2).fit(X), X, labels=labels)
    assert {seen(text) for text in display.ax_.texts} == set(labels)
    assert display.to_bytes()


def test_names_of_groups_at_one_place_are_in_the_legend_only():
    labels = np.array([f"a long name of group {i % 12}" for i in range(150)])
    display = ScoresDisplay.from_estimator(PCA(2).fit(IRIS), IRIS, labels=labels)
    boxes = [text.get_window_extent() for text in display.ax_.texts]
    assert 0 < len(boxes) < 12
    assert not any(box.count_overlaps(boxes[:i]) for i, box in enumerate(boxes))
    assert set(legend(display)) == set(labels)
    display.figure_.draw_without_rendering()
    whole, drawn = display.figure_.bbox, display.figure_.legends[0].get_window_extent()
    assert whole.x0 <= drawn.x0
    assert drawn.x1 <= whole.x1


def test_odd_names_of_groups_are_at_the_kernel_matrix():
    display = KernelMatrixDisplay.from_kernel("rbf", IRIS, labels=np.array(ODD, object)[SPECIES])
    assert sorted(seen(tick) for tick in display.ax_.get_yticklabels()) == sorted(DRAWN)
    assert display.to_bytes()


def test_odd_names_of_columns_models_and_curves_are_written():
    frame = pd.DataFrame(IRIS, columns=COLUMNS)
    model = KernelPCA(3).fit(frame)
    traversal = TraversalDisplay.from_estimator(model, components=(0,))
    assert legend(traversal) == [" _x", "$y_{$", "z $", r"$w$"]
    assert traversal.to_bytes()
    bars = PreimageDisplay.from_estimator({"_model": model, "$m_{$": model}, frame, samples=1)
    assert [seen(tick) for tick in bars.ax_.get_xticklabels()] == [" _x", "$y_{$", "z $", r"$w$"]
    assert [name.split(",")[0] for name in legend(bars)] == ["original", " _model", "$m_{$"]
    assert bars.to_bytes()
    images = PreimageDisplay.from_estimator({"$m_{$": model}, frame, image_shape=(2, 2))
    assert seen(images.ax_.get_yticklabels()[1]).startswith("$m_{$\nMSE")
    assert images.to_bytes()
    curve = error_curve(KernelPCA(3), IRIS, cv=2)
    curves = ErrorCurveDisplay.from_curve({"_a": curve, "$b_{$": curve})
    assert legend(curves) == [" _a", "$b_{$"]
    assert curves.to_bytes()


def test_what_the_user_writes_for_axes_may_hold_formulas():
    display = ScoresDisplay.from_estimator(PCA(2).fit(IRIS), IRIS, values=IRIS[:, 0], values_name=r"length ($\mu$m)")
    assert is_math_text(display.figure_.axes[1].get_ylabel())
    assert display.to_bytes()


def test_a_label_missing_is_not_the_lack_of_one():
    groups = groups_of(np.array(["missing", None, "zebra", np.nan, "missing"], object))
    assert {name: np.flatnonzero(mask).tolist() for name, mask in groups} == {
        "missing": [0, 4],
        "zebra": [2],
        "(no label)": [1, 3],
    }
    assert [name for name, _ in groups_of(np.array([2.0, np.nan, 1.0]))] == ["1.0", "2.0", "missing"]


@given(st.lists(st.sampled_from(["a", "missing", "b", None, float("nan")]), min_size=1, max_size=12))
def test_each_row_is_in_one_group_with_its_like(labels):
    groups = groups_of(np.array(labels, object))
    assert np.sum([mask for _, mask in groups], axis=0).tolist() == [1] * len(labels)
    assert len({name for name, _ in groups}) == len(groups)
    group = {i: name for name, mask in groups for i in np.flatnonzero(mask)}
    for i, one in enumerate(labels):
        for j, other in enumerate(labels):
            absent = [label is None or label != label for label in (one, other)]
            assert (group[i] == group[j]) == (all(absent) or (not any(absent) and one == other))


def test_outliers_have_the_names_of_their_rows():
    X = IRIS.copy()
    X[[7, 90]] += [[0, 4, 0, 4], [3, 0, 6, 0]]
    names = np.array([f"flower {i}" for i in range(150)], object)
    names[7], names[90] = "$a_{$", "a name that is much too long to be written there"
    model = PCA(2).fit(IRIS)
    display = ResidualsDisplay.from_estimator(model, X, row_names=names)
    written = [seen(text) for text in display.ax_.texts]
    assert {"$a_{$", "a name that is much too…"} <= set(written)
    assert not any(text.isdigit() for text in written)
    assert {"7", "90"} <= {text.get_text() for text in ResidualsDisplay.from_estimator(model, X).ax_.texts}
    canvas = display.figure_.canvas
    display.figure_.draw_without_rendering()
    boxes = [text.get_window_extent() for text in display.ax_.texts]
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])
        assert 0 <= box.x0 < box.x1 <= canvas.get_width_height()[0]
    with pytest.raises(ValueError, match=r"row_names has shape \(3,\); one for each of the 150 rows"):
        ResidualsDisplay.from_estimator(model, X, row_names=["a", "b", "c"])


def test_of_many_columns_those_with_the_largest_error_are_drawn():
    data = load_breast_cancer(as_frame=True).data
    frame = (data - data.mean()) / data.std()
    models = {"PCA": PCA(3).fit(frame), "kernel PCA": KernelPCA(3).fit(frame)}
    display = PreimageDisplay.from_estimator(models, frame, samples=[3, 5])
    errors = []
    for j in range(30):  # the naive twin: column by column
        errors.append(sum(np.mean((display.answers[name][:, j] - frame.iloc[:, j]) ** 2) for name in models))
    chosen = sorted(sorted(range(30), key=lambda j: -errors[j])[:12])
    assert [tick.get_text() for tick in display.axes_[-1].get_xticklabels()] == [frame.columns[j] for j in chosen]
    heights = [[bar.get_height() for bar in bars] for bars in display.axes_[1].containers]
    np.testing.assert_allclose(heights, [answer[5, chosen] for answer in display.answers.values()])
    assert "the 12 of 30 columns with the largest error" in [text.get_text() for text in display.ax_.texts]
    display.figure_.draw_without_rendering()
    boxes = [tick.get_window_extent() for tick in display.axes_[-1].get_xticklabels()]
    assert all(box.y0 >= 0 for box in boxes)
    few = PreimageDisplay.from_answers({"a": IRIS}, samples=1)
    assert len(few.ax_.containers[0]) == 4


def test_what_was_given_does_not_choose_columns():
    rng = np.random.default_rng(0)
    truth = rng.standard_normal((50, 20))
    noisy, mine = truth.copy(), truth.copy()
    noisy[:, :10] += 9
    mine[:, 5:] += 1
    display = PreimageDisplay.from_answers({"original": truth, "noisy": noisy, "mine": mine})
    assert [tick.get_text() for tick in display.axes_[-1].get_xticklabels()] == [f"column {i}" for i in range(5, 17)]


@pytest.mark.parametrize(("d", "kind"), [(1, "table"), (40, "table"), (41, "signals")])
def test_rows_without_names_are_records_up_to_forty_columns_counted_from_zero(d, kind):
    form = find_form(d, None, None, None, None, None, "value")
    assert form.kind == kind
    assert form.names[0] == "column 0"


def test_one_channel_is_gray():
    assert check_image_shape((8, 8, 1), 64) == (8, 8)
    assert check_image_shape((4, 4, 3), 48) == (4, 4, 3)
    rows = np.random.default_rng(0).random((5, 64))
    display = PreimageDisplay.from_answers({"a": rows}, image_shape=(8, 8, 1), samples=[2])
    np.testing.assert_array_equal(display.ax_.images[0].get_array(), rows[2].reshape(8, 8))
    with pytest.raises(ValueError, match="color"):
        check_image_shape((8, 4, 2), 64)


def test_names_of_outliers_cover_neither_one_another_nor_other_outliers():
    """Of five, two groups of neighbors: there is room beside, above and below them."""
    rng = np.random.default_rng(0)
    residuals, distances = rng.uniform(0, 0.1, 200), rng.uniform(0, 10, 200)
    residuals[:5], distances[:5] = [1.0, 0.995, 0.99, 0.7, 0.699], [4.9, 5.1, 5.3, 4.0, 6.0]
    names = np.array([f"a rather long name {i}" for i in range(200)])
    display = ResidualsDisplay(residuals, distances, 0.5, "as given", np.arange(200), row_names=names).plot()
    display.figure_.draw_without_rendering()
    written = [text for text in display.ax_.texts if text.get_text().startswith("a rather")]
    boxes = [text.get_window_extent() for text in written]
    assert len(boxes) >= 4
    marks = display.ax_.transData.transform(np.column_stack([distances, residuals])[:5])
    assert not any(box.count_contains(marks) for box in boxes)
    for i, box in enumerate(boxes):
        assert not box.count_overlaps(boxes[:i])
