"""The report on a model: its numbers are the library's, it takes every model, and it works in a real browser."""

import io
import re
import sys
import tracemalloc
from contextlib import redirect_stdout
from html import unescape
from html.parser import HTMLParser
from unittest import mock

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA as TheirPCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernelpca.sklearn as dropin
from browsing import click, column, contrast, open_browser, set_screen
from kernelpca import (
    PCA,
    IncrementalKernelPCA,
    InvertibleKernelPCA,
    KernelPCA,
    RobustKernelPCA,
    SparseKernelPCA,
)
from kernelpca.features import Nystrom, RandomFourier
from kernelpca.io.table import Table
from kernelpca.kernels import RBF, Sigmoid
from kernelpca.pages import figures, quality
from kernelpca.pages.chosen import choose, choose_labels
from kernelpca.pages.model_report import _residuals, report
from kernelpca.plotting import ResidualsDisplay
from kernelpca.plotting.fitted import Fitted

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")
pd = pytest.importorskip("pandas")

DIGITS = load_digits()
X, Y = DIGITS.data[:400] / 16, DIGITS.target[:400]
IRIS, WINE = load_iris(), load_wine(as_frame=True)
HOSTILE = "</script><b>$\\bad$ & \"quotes\" <img src=x onerror='document.title=1'>"
PIXEL = figures.data_address(b"none")


class Page(HTMLParser):
    """The tables of a page by id, as rows of (text, data-value), and all its text."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.tags, self.words, self._rows, self._cell = {}, [], [], None, None
        self.feed(text)
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        if tag == "table":
            self._rows = self.tables.setdefault(attributes.get("id", len(self.tables)), [])
        elif tag == "tr":
            self._rows.append([])
        elif tag == "td":
            self._cell = [[], attributes.get("data-value")]
            self._rows[-1].append(self._cell)

    def handle_endtag(self, tag):
        if tag == "td":
            self._cell = None

    def handle_data(self, data):
        self.words.append(data)
        if self._cell is not None:
            self._cell[0].append(data)

    def cells(self, table, place):
        """The texts of a column."""
        return [" ".join("".join(row[place][0]).split()) for row in self.tables[table] if row]

    def values(self, table, place):
        """Its numbers."""
        return np.array([float(row[place][1]) for row in self.tables[table] if row])

    def rows_of(self, which):
        """Numbers of the rows that came back best or worst, as they stand on the page."""
        found, inside = [], False
        for tag, attributes in self.tags:
            inside = attributes["id"] == which if attributes.get("id") in ("best", "worst", "columns") else inside
            inside = inside and tag != "section"
            if inside and "data-row" in attributes:
                found.append(int(attributes["data-row"]))
        return found


@pytest.fixture
def quick(monkeypatch):
    """Draw figures, but do not make pictures of them."""
    monkeypatch.setattr(figures, "_png", lambda figure: PIXEL)


@pytest.fixture(scope="module")
def model():
    return KernelPCA(16, kernel=RBF(0.05), preimage="fixed_point").fit(X[:250])


# numbers


def test_numbers_are_the_librarys(model, quick):
    page = Page(report(model, X, labels=Y, image_shape=(8, 8)))
    cleaned = model.denoise(X)
    errors = np.array([sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) for x, y in zip(X, cleaned, strict=True)])
    mean = sum(X) / len(X)
    null = np.array([((x - mean) ** 2).sum() for x in X])
    linear = TheirPCA(16).fit(X)
    straight = ((X - linear.inverse_transform(linear.transform(X))) ** 2).sum(axis=1)
    known = model.reconstruction_error(X)
    np.testing.assert_allclose(errors, known.input, rtol=1e-6)
    names = page.cells("errors", 0)
    assert names == ["this model", "the mean of these rows", "linear PCA, 16 components"]
    for place, truth in enumerate((errors, null, straight)):
        roots = np.sqrt(truth / 64)
        wanted = [np.sqrt(truth.mean() / 64), np.quantile(roots, 0.95), truth.mean(), truth.mean() / null.mean()]
        found = [page.values("errors", i)[place] for i in range(1, 5)]
        np.testing.assert_allclose(found, wanted, rtol=1e-5)
    Z = model.transform(X)
    wanted = [known.projection.mean(), known.feature.mean(), (known.projection + (Z**2).sum(axis=1)).mean()]
    np.testing.assert_allclose(page.values("feature-errors", 1), wanted, rtol=1e-5)
    order = np.argsort(errors, kind="stable")
    assert page.rows_of("best") == order[:8].tolist()
    assert page.rows_of("worst") == order[::-1][:8].tolist()
    assert f"median {np.median(model.invert(Z, X).reliability):.3f}" in page.text.lower()


def test_variance_outliers_and_certificate_are_the_librarys(model, quick):
    text = report(model, X, labels=Y)
    page = Page(text)
    tiles = [attributes["data-value"] for tag, attributes in page.tags if tag == "b" and "data-value" in attributes]
    assert float(tiles[0]) == model.explained_variance_ratio_.sum()
    residuals = -model.score_samples(X)
    low, high = np.quantile(residuals, (0.25, 0.75))
    limit = high + 1.5 * (high - low)
    assert int(tiles[2]) == int((residuals > limit).sum()) > 0
    order = np.argsort(-residuals, kind="stable")[:20]
    assert page.cells("strangest", 0) == [str(row) for row in order]
    assert page.cells("strangest", 1) == [str(Y[row]) for row in order]
    np.testing.assert_allclose(page.values("strangest", 2), residuals[order], rtol=1e-9)
    np.testing.assert_allclose(page.values("strangest", 3), residuals[order] / limit, rtol=1e-2)
    assert page.cells("strangest", 5) == ["outlier" if residuals[row] > limit else "within" for row in order]
    assert str(model.certificate_) in page.text
    assert model.plan_.reason in page.text
    assert "upper quartile + 1.5 interquartile ranges" in page.text


def test_columns_that_come_back_badly(quick):
    frame = WINE.data
    model = KernelPCA(3, preimage="ridge").fit(frame)
    page = Page(report(model, frame))
    off = (model.denoise(frame) - frame.to_numpy()) ** 2
    lost = off.mean(axis=0) / frame.to_numpy().var(axis=0)
    order = np.argsort(-lost, kind="stable")
    assert page.cells("by-column", 0) == [frame.columns[i] for i in order]
    np.testing.assert_allclose(page.values("by-column", 1), lost[order], rtol=1e-6)
    np.testing.assert_allclose(page.values("by-column", 3), frame.to_numpy().std(axis=0)[order], rtol=1e-6)


def test_a_column_without_variance(quick):
    rows = np.column_stack([IRIS.data, np.full(150, 7.0)])
    page = Page(report(KernelPCA(2).fit(rows), rows))
    assert page.cells("by-column", 0)[-1] == "column 5"
    assert page.cells("by-column", 1)[-1] == "no variance"


def test_columns_off_most_are_marked(quick):
    rows = IRIS.data.copy()
    rows[42, 1] = 40.0  # a slipped decimal point
    page = report(PCA(1).fit(IRIS.data), rows, kind="table")
    first = page[page.index('data-row="42"') :]
    marked = re.findall(r'<tr class="marked"><td>(.*?)</td>', first[: first.index("</figure>")])
    assert marked == ["column 2"]
    assert Page(page).rows_of("worst")[0] == 42
    assert Page(page).cells("strangest", 0)[0] == "42"


def test_rows_are_spread_and_numbered_as_in_the_data(model, quick, monkeypatch):
    monkeypatch.setattr(quality, "BROUGHT_BACK", 60)
    rows = DIGITS.data[:900] / 16
    page = Page(report(model, rows, image_shape=(8, 8), max_rows=150))
    assert "looks at 150 of the 900 rows, spread evenly" in page.text
    assert "60 of these, spread evenly, are brought back" in page.text
    numbers = np.array([int(text) for text in page.cells("strangest", 0)])
    assert numbers.max() > 300  # not places among those chosen
    np.testing.assert_allclose(page.values("strangest", 2), -model.score_samples(rows[numbers]), rtol=1e-6)
    worst = page.rows_of("worst")
    errors = model.reconstruction_error(rows[worst]).input
    assert (np.diff(errors) <= 1e-9).all()
    chosen = choose(model, rows, 150)
    assert np.ptp(np.diff(chosen.numbers)) <= 12  # in steps of 6 on average
    assert set(numbers) <= set(chosen.numbers)


def test_numbers_in_the_figure_of_outliers_are_those_of_the_data(model):
    rows = DIGITS.data[:900] / 16
    chosen = choose(model, rows, 150)
    display, _ = _residuals(Fitted(model), chosen)
    figures.draw_outliers(display)
    written = {text.get_text() for text in display.ax_.texts if text.get_text().isdigit()}
    strangest = chosen.numbers[np.argsort(-display.residuals)[:5]]
    assert written
    assert written <= {str(number) for number in strangest}


def undated(page):
    return re.sub(r"Made [^<]*? by", "Made by", page)


def test_the_same_page_from_every_kind_of_table(quick):
    pytest.importorskip("dask.array")
    import dask.array as da

    frame = IRIS.data[:, :3]
    named = pd.DataFrame(frame, columns=["a", "b", "c"])
    model = KernelPCA(2, preimage="ridge").fit(named)
    wanted = undated(report(model, named, max_rows=70))
    assert "70 of the 150 rows" in wanted
    lazy = Table(da.from_array(frame, chunks=(40, 3)), ("a", "b", "c"))
    for given in (Table(frame, ("a", "b", "c")), lazy, frame, frame.tolist(), lazy.values):
        assert undated(report(model, given, max_rows=70)) == wanted


def test_memory_is_bounded(quick):
    few = np.random.default_rng(0).normal(size=(50, 4))
    model = PCA(2).fit(few)
    many = np.broadcast_to(few[:1], (20_000_000, 4))  # 640 MB, were it copied
    tracemalloc.start()
    try:
        page = Page(report(model, many, max_rows=500))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1e8
    assert "500 of the 20000000 rows" in page.text


# models


@pytest.mark.parametrize(
    "estimator",
    [
        KernelPCA(6, approximation=Nystrom(40)),
        KernelPCA(6, approximation=RandomFourier(128), preimage="ridge"),
        KernelPCA(6, kernel="poly", center=False),
        KernelPCA(6, kernel="rbf(gamma=0.02) + 2*linear"),
        KernelPCA(6, solver="block_krylov", preimage="ridge"),
        InvertibleKernelPCA(8, gamma=0.01),
        InvertibleKernelPCA(4, layers=[{"n_components": 12, "gamma": 0.01}, {"n_components": 4, "n_features": 64}]),
        RobustKernelPCA(4, kappa="0.5max"),
        SparseKernelPCA(4, sparsity=0.5),
        IncrementalKernelPCA(6, approximation=RandomFourier(128)),
        PCA(8),
        dropin.KernelPCA(6, kernel="rbf", fit_inverse_transform=True, alpha=0.1),
    ],
    ids=lambda estimator: repr(estimator)[:60],
)
def test_every_model(estimator, quick):
    rows = X[:200, 8:40]
    model = estimator.fit(rows[:150])
    page = Page(report(model, rows, labels=Y[:200]))
    assert str(model.certificate_) in page.text
    assert f"{type(model).__name__}" in page.text
    assert page.cells("errors", 0)[0] == "this model"
    back = model.denoise(rows) if hasattr(model, "denoise") else model.inverse_transform(model.transform(rows))
    np.testing.assert_allclose(page.values("errors", 3)[0], ((back - rows) ** 2).sum(axis=1).mean(), rtol=1e-4)
    assert ("strangest" in page.tables) == hasattr(model, "score_samples")
    assert ("feature-errors" in page.tables) == (hasattr(model, "score_samples") and not isinstance(model, PCA))
    linear = [name for name in page.cells("errors", 0) if name.startswith("linear PCA")]
    assert len(linear) == (0 if isinstance(model, PCA) else 1)
    if hasattr(model, "predict"):
        assert "the model's own, from its training rows" in page.text
        flagged = [
            int(row)
            for row, verdict in zip(*(page.cells("strangest", i) for i in (0, 5)), strict=True)
            if verdict == "outlier"
        ]
        assert flagged == [row for row in map(int, page.cells("strangest", 0)) if model.predict(rows[[row]])[0] == -1]


def test_what_scores_alone_bring_back_is_told_apart(quick):
    model, rows = InvertibleKernelPCA(4, gamma=0.05).fit(X[:250]), X[250:]
    page = Page(report(model, rows))
    assert page.cells("errors", 0)[1] == "this model, from the scores alone"
    alone = ((model.inverse_transform(model.transform(rows)) - rows) ** 2).sum(axis=1).mean()
    np.testing.assert_allclose(page.values("errors", 3)[1], alone, rtol=1e-5)


def test_a_compressed_model(model, quick):
    small = model.compress(tol=0.2)
    assert str(small.certificate_.compression) in Page(report(small, X[:80])).text


def test_models_without_a_way_back_say_so(quick):
    K = RBF(0.05)(X[:120])
    texts = [line.strip() for line in DIGITS.DESCR.splitlines() if len(line.strip()) > 20]
    rows = sparse.csr_array(X[:120])
    cases = [
        (KernelPCA(3, kernel="precomputed").fit(K), K, "rows of a kernel matrix", False),
        (KernelPCA(3, kernel="spectrum").fit(texts), texts, "texts", True),
        (KernelPCA(3, kernel="cosine").fit(rows), rows, "sparse rows", True),
        (dropin.KernelPCA(3, kernel="rbf").fit(X), X, "fit_inverse_transform=True", False),
    ]
    for model, given, reason, outliers in cases:
        page = Page(report(model, given))
        assert "This section, and the rows that come back best and worst, are missing" in page.text
        assert reason in page.text
        assert "errors" not in page.tables
        assert not page.rows_of("best")
        assert ("strangest" in page.tables) == outliers
        assert "denoise" not in page.text
    page = report(cases[1][0], texts)
    strangest = texts[np.argmax(-cases[1][0].score_samples(texts))]
    assert strangest[:80] in unescape(page)


def test_one_component_and_one_row(quick):
    model = KernelPCA(1).fit(IRIS.data)
    assert "Scores on the only component, colored by label" in report(model, IRIS.data, labels=IRIS.target)
    plain = report(model, IRIS.data, labels=np.linspace(0, 1, 150))
    assert "Scores on the only component. Look" in plain  # a histogram has no color for quantities
    assert "of 4 numbers" in report(model, IRIS.data[:1])


@pytest.mark.parametrize(("rows", "said"), [(1, "There is one row"), (7, "The 7 rows are all the same")])
def test_where_nothing_varies_no_part_of_the_variance_is_lost(quick, rows, said):
    page = Page(report(KernelPCA(2).fit(IRIS.data), np.repeat(IRIS.data[:1] + 0.1, rows, axis=0)))
    assert set(page.cells("errors", 4)) == {"-"}
    assert f"{said}: nothing varies, so there is no variance" in page.text
    assert "too long" not in page.text
    assert "of the variance of rows is lost" not in page.text
    assert "linear PCA" not in page.cells("errors", 0)


def test_models_that_are_not_centered_are_measured_from_the_origin(quick):
    for model in (KernelPCA(3, center=False), KernelPCA(3, center=False, approximation=Nystrom(60))):
        page = Page(report(model.fit(IRIS.data), IRIS.data))
        strange = ResidualsDisplay.from_estimator(model, IRIS.data)
        assert "mean square captured" in page.text.replace("Mean", "mean")
        assert f"from the {strange.middle_name}, each component in its own {strange.unit}" in page.text
        order = np.argsort(-strange.residuals, kind="stable")[:20]
        np.testing.assert_allclose(page.values("strangest", 3), strange.distances[order])
    assert strange.middle_name == "origin"
    captions = report(model, IRIS.data)
    assert "as far apart as scores usually are from the origin" in captions
    assert "Look for its gap to the origin" in captions


def test_indefinite_kernels_and_models_without_variance(quick):
    with pytest.warns(UserWarning, match="are no parts of a whole"):
        model = KernelPCA(5, kernel=Sigmoid(0.1, -2.0), preimage="ridge").fit(IRIS.data)
    assert model.residuals(IRIS.data).min() < 0
    assert Page(report(model, IRIS.data)).rows_of("worst")
    with pytest.warns(UserWarning, match="no variance"):
        model = KernelPCA(2, kernel=Sigmoid(1e3, -1.0), preimage="ridge").fit(IRIS.data)
    assert Page(report(model, IRIS.data)).rows_of("worst")


def test_images_of_every_form(quick):
    rows = np.random.default_rng(0).random((40, 48))
    model = PCA(3).fit(rows)
    for shape in ((4, 4, 3), (3, 4, 4), (6, 8), (6, 8, 1)):
        page = Page(report(model, rows, image_shape=shape))
        assert len(page.rows_of("best")) == len(page.rows_of("worst")) == 8
    display = figures.Display(
        "image",
        None,
        {"height": 4, "width": 4, "channels": 3, "channels_first": True},
        0,
        1,
        rows.mean(axis=0),
        rows.std(axis=0),
    )
    np.testing.assert_array_equal(figures.as_pictures(rows, display)[5, 1, 2], rows[5].reshape(3, 4, 4)[:, 1, 2])


def test_large_images_are_made_smaller(quick):
    rows = np.random.default_rng(0).random((24, 330 * 330))
    text = report(PCA(3).fit(rows), rows, image_shape=(330, 330))
    assert len(text) < 3_000_000
    assert "<th>image</th>" in text


# labels


def test_labels_are_classes_or_numbers():
    model = PCA(2).fit(X)
    chosen = choose(model, X, 5000)

    def of(labels):
        return choose_labels(labels, chosen)

    assert of(None) is None
    assert of(Y).groups is not None
    assert of(np.arange(400)).values.tolist() == list(range(400))
    assert of([str(i / 4) for i in range(400)]).values[3] == 0.75
    assert set(of([f"type {i % 30}" for i in range(400)]).groups) >= {"others"}
    assert len(set(of([f"type {i % 30}" for i in range(400)]).groups)) == 20
    long = of([("a" * 50) + str(i % 2) for i in range(400)])
    assert len(set(long.groups)) == 2
    assert set(of(np.array([True, False] * 200)).groups) == {"True", "False"}
    assert set(of(["_a", "$b$"] * 200).groups) == {" _a", r"\$b\$"}


# what is refused


def test_bad_input_is_refused_with_a_remedy(model):
    named = KernelPCA(2).fit(WINE.data)
    cases = [
        (lambda: report(model, X[:, :9]), ValueError, "X has 9 columns, and the model was fitted on 64: give the same"),
        (lambda: report(model, X, labels=Y[:5]), ValueError, "one for each of the 400 rows of X is needed"),
        (lambda: report(model, X, image_shape=(7, 7)), ValueError, "does not fit rows of 64 numbers"),
        (lambda: report(model, X, kind="image"), ValueError, "give image_shape="),
        (lambda: report(model, X, kind="movie"), ValueError, "choose one of"),
        (lambda: report(KernelPCA(2), X), ValueError, "not fitted yet"),
        (lambda: report(KernelPCA, X), TypeError, "no fitted model of kernelpca"),
        (lambda: report(TheirPCA(2).fit(X), X), TypeError, "no fitted model of kernelpca"),
        (lambda: report(make_pipeline(StandardScaler(), PCA(2)).fit(X), X), TypeError, r"report\(pipeline\[-1\]"),
        (lambda: report(model, X, max_rows=0), ValueError, "whole number of at least 1"),
        (lambda: report(model, X[:0]), ValueError, "X has no rows"),
        (lambda: report(model, 3), TypeError, "is no data"),
        (lambda: report(model, "digits.csv"), TypeError, "is no data"),
        (lambda: report(model, np.where(X > 0.9, np.nan, X)), ValueError, "NaN"),
        (lambda: report(named, WINE.data.rename(columns={"hue": "color"})), ValueError, "lacks 1 of the 13 .* 'hue'"),
        (
            lambda: report(named, WINE.data[WINE.data.columns[::-1]]),
            ValueError,
            r"in another order: give X\[list\(model.feature_names_in_\)\]",
        ),
        (
            lambda: report(KernelPCA(2, kernel="precomputed").fit(X @ X.T), X @ X.T, kind="table"),
            ValueError,
            "both out",
        ),
    ]
    for call, kind, words in cases:
        with pytest.raises(kind, match=words):
            call()


# use


def test_the_code_on_the_page_runs(model, quick, tmp_path, monkeypatch):
    text = report(model, X)
    code = unescape(re.search(r'<pre id="python"[^>]*><code>(.*?)</code>', text, re.DOTALL)[1])
    model.save(tmp_path / "model.kpca")
    monkeypatch.chdir(tmp_path)
    names, said = {"X": X}, io.StringIO()
    with redirect_stdout(said):
        exec(code, names)
    assert names["scores"].shape == (400, 16)
    assert names["inputs"].shape == names["cleaned"].shape == (400, 64)
    np.testing.assert_array_equal(names["strangeness"], -model.score_samples(X))
    assert said.getvalue().strip() == str(model.certificate_)


def test_from_the_command_line(tmp_path, quick):
    pytest.importorskip("typer")
    from kernelpca.cli import main

    WINE.data.to_csv(tmp_path / "wine.csv", index=False)
    (tmp_path / "labels.txt").write_text("\n".join(f"kind {label}" for label in WINE.target))
    KernelPCA(2).fit(WINE.data).save(tmp_path / "m.kpca")
    words = ["report", tmp_path / "m.kpca", tmp_path / "wine.csv", "--labels", tmp_path / "labels.txt"]
    argv = ["kernelpca", *map(str, words), "-o", str(tmp_path / "page.html")]
    with mock.patch.object(sys, "argv", argv), redirect_stdout(io.StringIO()), pytest.raises(SystemExit) as stop:
        main()
    assert not stop.value.code
    text = (tmp_path / "page.html").read_text()
    assert "<title>wine</title>" in text
    assert "kind 2" in text


# in a browser


@pytest.fixture(scope="module")
def pages(tmp_path_factory, model):
    folder = tmp_path_factory.mktemp("pages")
    names = [HOSTILE, *IRIS.feature_names[1:]]
    frame = pd.DataFrame(IRIS.data, columns=names)
    kinds = [f"{name} {HOSTILE}" for name in IRIS.target_names[IRIS.target]]
    found = {
        "table": report(KernelPCA(2).fit(frame), frame, labels=kinds, title=HOSTILE),
        "images": report(model, X, labels=Y, image_shape=(8, 8)),
        "signals": report(PCA(4).fit(np.tile(X, 4)[:90]), np.tile(X, 4)[:90], title="Signals"),
    }
    for name, text in found.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with open_browser(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


def test_pages_are_small_and_load_nothing(pages):
    for page in pages.iterdir():
        text = page.read_text(encoding="utf-8")
        assert len(text) < 3_000_000
        for address in ('src="http', 'href="http', "url(http", "@import", "//cdn"):
            assert address not in text


@pytest.mark.parametrize("name", ["table", "images", "signals"])
def test_no_errors_every_figure_loads_and_nothing_is_too_wide(browser, pages, name):
    browser.get((pages / f"{name}.html").as_uri())
    widths = browser.execute_async_script(
        "const done = arguments[0], images = [...document.images];"
        "const widths = () => done(images.map(i => i.naturalWidth));"
        "Promise.all(images.map(i => i.decode())).then(widths, e => done(String(e)))"
    )
    assert len([width for width in widths if width > 600]) >= 6
    assert min(widths) >= 8
    assert browser.execute_script("return [...document.images].every(i => i.alt)")
    for width, height in ((1280, 800), (390, 844)):
        set_screen(browser, width, height, touch=width < 600)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        outside = browser.execute_script(
            "return [...document.querySelectorAll('main *, header *')].filter(e => !e.closest('.wide, pre')"
            " && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80))"
        )
        assert outside == []
    assert browser.execute_script(
        "return [...document.querySelectorAll('a[href^=\"#\"]')].every(a => document.getElementById(a.hash.slice(1)))"
    )
    assert browser.get_log("browser") == []


def test_words_of_the_tiles_have_room(browser, pages):
    browser.get((pages / "table.html").as_uri())
    browser.execute_script("document.querySelectorAll('.tiles b').forEach(b => { b.textContent = 'estimated' })")
    for width in range(320, 1281, 20):
        set_screen(browser, width, 800)
        over = browser.execute_script(
            "return [...document.querySelectorAll('.tiles b')].map(b => b.scrollWidth - b.clientWidth)"
        )
        assert max(over) <= 0, width


def test_names_of_columns_are_not_broken_on_a_phone(browser, tmp_path):
    X = load_breast_cancer(as_frame=True).data
    (tmp_path / "page.html").write_text(report(PCA(3).fit(X), X), encoding="utf-8")
    set_screen(browser, 390, 844, touch=True)
    browser.get((tmp_path / "page.html").as_uri())
    broken, over = browser.execute_script(
        "const words = [...document.querySelectorAll('.sample td:first-child')].flatMap(td =>"
        "[...td.textContent.matchAll(/[^ ]+/g)].map(found => { const range = document.createRange();"
        "range.setStart(td.firstChild, found.index); range.setEnd(td.firstChild, found.index + found[0].length);"
        "return [found[0], range.getClientRects().length] }));"
        "const tables = [...document.querySelectorAll('.sample .wide')];"
        "return [words.filter(([, lines]) => lines > 1), Math.max(...tables.map(e => e.scrollWidth - e.clientWidth))]"
    )
    assert broken == []
    assert over <= 0


def test_on_paper_headings_stay_with_what_follows(browser, pages):
    browser.get((pages / "table.html").as_uri())
    set_screen(browser, 718, 1000)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    found = browser.execute_script(
        "const style = (s) => getComputedStyle(document.querySelector(s));"
        "return [style('h2').breakAfter, style('h3').breakAfter, style('.gauge i').printColorAdjust]"
    )
    assert found == ["avoid", "avoid", "exact"]


def test_text_of_users_is_text(browser, pages):
    browser.get((pages / "table.html").as_uri())
    assert browser.title == HOSTILE
    assert browser.execute_script("return document.querySelector('h1').textContent") == HOSTILE
    assert HOSTILE in column(browser, "#by-column", 0)
    assert any(text.endswith(HOSTILE) for text in column(browser, "#strangest", 1))
    assert browser.execute_script("return document.querySelectorAll('script, img[src=x]').length") == 1


def test_tables_sort(browser, pages):
    browser.get((pages / "images.html").as_uri())
    before = [int(text) for text in column(browser, "#strangest", 0)]
    click(browser, "#strangest", 0)
    assert [int(text) for text in column(browser, "#strangest", 0)] == sorted(before)
    click(browser, "#strangest", 3)
    click(browser, "#strangest", 3)
    assert [int(text) for text in column(browser, "#strangest", 0)] == before
    click(browser, "#errors", 4)
    shares = [float(text.removesuffix(" %")) for text in column(browser, "#errors", 4)]
    assert shares == sorted(shares)


def test_the_copy_button_copies(browser, pages):
    browser.get((pages / "images.html").as_uri())
    browser.execute_cdp_cmd(
        "Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    )
    found = browser.execute_async_script(
        "const done = arguments[0], button = document.querySelector('button.copy');"
        "let copied = null; document.addEventListener('copy', () => { copied = getSelection().toString(); });"
        "if (navigator.clipboard) { const write = navigator.clipboard.writeText.bind(navigator.clipboard);"
        "  navigator.clipboard.writeText = (text) => { copied = text; return write(text); }; }"
        "button.scrollIntoView(); button.click();"
        "const wait = () => button.textContent === 'Copy' ? setTimeout(wait, 20) : done([button.textContent, copied]);"
        "wait()"
    )
    code = browser.execute_script("return document.getElementById('python').textContent")
    assert found == ["Copied", code]
    assert code.startswith("import kernelpca")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_light_and_dark(browser, pages, scheme):
    browser.get((pages / "table.html").as_uri())
    set_screen(browser, scheme=scheme)
    colors = browser.execute_script(
        "const all = [...document.querySelectorAll('h1, h2, p, a, b, dt, dd, td, th, span, code, button, figcaption')];"
        "return [...new Set(all.map(e => { let b = e;"
        "while (b && getComputedStyle(b).backgroundColor === 'rgba(0, 0, 0, 0)') b = b.parentElement;"
        "return getComputedStyle(e).color + '|' + getComputedStyle(b).backgroundColor + '|' + e.tagName }))]"
    )
    assert len(colors) > 10
    for pair in colors:
        ink, paper, _ = pair.split("|")
        assert contrast(ink, paper) >= 4.5, pair


@pytest.mark.parametrize(
    ("value", "deviation", "text"),
    [(10_000_000.126, 1.1, "10000000.13"), (2254.3, 352.0, "2254"), (0.0123456, 0.002, "0.01235"), (3e9, 2e8, "3e+09")],
)
def test_values_are_written_to_the_digits_that_matter(value, deviation, text):
    from kernelpca.pages.extremes import written

    assert written(value, deviation) == text
