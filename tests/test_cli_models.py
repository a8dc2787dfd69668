"""The command line on models and files: there and back in every format, and one clear line for every bad input."""

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from unittest import mock

import numpy as np
import pytest
from sklearn.datasets import load_iris

import kernelpca
from kernelpca import KernelPCA, open_data
from kernelpca.cli import main
from kernelpca.cli.translation import translate
from kernelpca.io import write_data
from kernelpca.kernels import RBF, Linear, Spectrum
from kernelpca.sklearn import KernelPCA as DropIn

pytest.importorskip("typer")
pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

IRIS = load_iris(as_frame=True)
NUMBERS = IRIS.data.rename(columns=lambda name: name.replace(" (cm)", "").replace(" ", "_"))
NAMES = list(NUMBERS.columns)


@dataclass
class Answer:
    returncode: int
    stdout: str
    stderr: str


def run(*words):
    """Run a command in this process, which spares the import of the library each time."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with mock.patch.object(sys, "argv", ["kernelpca", *map(str, words)]), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
    return Answer(code, out.getvalue(), err.getvalue())


def good(*words):
    answer = run(*words)
    assert answer.returncode == 0, answer.stderr
    assert answer.stderr == ""
    return answer.stdout


def refused(*words, says):
    """Refused with one line that says what is wrong and what to do."""
    answer = run(*words)
    assert answer.returncode == 1, (answer.stdout, answer.stderr)
    assert answer.stderr.startswith("Error: ")
    assert answer.stderr.count("\n") == 1
    assert says in answer.stderr, answer.stderr
    assert answer.stdout == ""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a file of numbers, one with text beside them, and a model."""
    path = tmp_path_factory.mktemp("models")
    NUMBERS.to_csv(path / "numbers.csv", index=False)
    with_text = NUMBERS.assign(species=[IRIS.target_names[i] for i in IRIS.target])
    with_text[["species", *NAMES[::-1]]].to_csv(path / "iris.csv", index=False)
    good("fit", path / "iris.csv", "-o", path / "iris.kpca", "--columns", ",".join(NAMES), "--components", 3)
    return path


def rows_of(path):
    return np.asarray(open_data(path))


# there and back


def test_fit_equals_the_library(folder):
    model, here = kernelpca.load(folder / "iris.kpca"), KernelPCA(3).fit(NUMBERS)
    np.testing.assert_array_equal(model.transform(NUMBERS), here.transform(NUMBERS))
    assert list(model.feature_names_in_) == NAMES
    assert model.callback is None


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npy", ".npz", ".h5", ".zarr"])
def test_every_verb_in_every_format(folder, tmp_path, suffix):
    pytest.importorskip({".h5": "h5py", ".zarr": "zarr"}.get(suffix, "numpy"))
    model = kernelpca.load(folder / "iris.kpca")
    data = write_data(tmp_path / f"rows{suffix}", NUMBERS.to_numpy(), columns=NAMES)
    scores, back, clean = (tmp_path / f"{name}{suffix}" for name in ("scores", "back", "clean"))
    good("transform", folder / "iris.kpca", data, "-o", scores)
    good("inverse", folder / "iris.kpca", scores, "-o", back)
    good("denoise", folder / "iris.kpca", data, "-o", clean)
    Z = model.transform(NUMBERS)
    np.testing.assert_allclose(rows_of(scores), Z, rtol=1e-12)
    np.testing.assert_allclose(rows_of(back), model.inverse_transform(Z), rtol=1e-8)
    np.testing.assert_allclose(rows_of(clean), model.denoise(NUMBERS), rtol=1e-8)
    if suffix != ".npy":
        assert open_data(scores).columns == ("kernelpca0", "kernelpca1", "kernelpca2")
        assert open_data(back).columns == open_data(clean).columns == tuple(NAMES)


def test_columns_are_found_by_name_wherever_they_stand(folder, tmp_path):
    good("transform", folder / "iris.kpca", folder / "iris.csv", "-o", tmp_path / "scores.npy")
    expected = kernelpca.load(folder / "iris.kpca").transform(NUMBERS)
    np.testing.assert_allclose(rows_of(tmp_path / "scores.npy"), expected, rtol=1e-12)


def test_scores_of_rows_name_the_strangest(folder, tmp_path):
    facts = json.loads(
        good("score", folder / "iris.kpca", folder / "numbers.csv", "-o", tmp_path / "s.csv", "--worst", 4, "--json")
    )
    values = kernelpca.load(folder / "iris.kpca").score_samples(NUMBERS)
    assert [one["row"] for one in facts["lowest"]] == values.argsort()[:4].tolist()
    assert facts["mean"] == pytest.approx(values.mean())
    np.testing.assert_allclose(rows_of(tmp_path / "s.csv")[:, 0], values, rtol=1e-12)
    assert str(values.argmin()) in good("score", folder / "iris.kpca", folder / "numbers.csv")


@pytest.mark.parametrize(
    ("words", "name", "check"),
    [
        (["--kernel", "rbf(gamma=0.1) + 2*linear"], "KernelPCA", lambda m: m.kernel_ == RBF(0.1) + 2.0 * Linear()),
        (["--approximation", "nystrom", "--size", 40], "KernelPCA", lambda m: m.components_.shape[1] == 40),
        (["--method", "robust", "--set", "kappa=0.5max"], "RobustKernelPCA", lambda m: m.kappa == "0.5max"),
        (["--method", "sparse", "--set", "sparsity=0.6"], "SparseKernelPCA", lambda m: len(m.support_) == 60),
        (["--method", "invertible", "--set", "gamma=0.01"], "InvertibleKernelPCA", lambda m: m.gamma == 0.01),
        (["--method", "pca"], "PCA", lambda m: m.n_components_ == 3),
        (["--preimage", "ridge", "--set", "preimage__ridge=0.1"], "KernelPCA", lambda m: m.preimage_.ridge == 0.1),
        (["--no-center", "--tol", 1e-8, "--seed", 3], "KernelPCA", lambda m: not m.center and m.random_state == 3),
    ],
)
def test_options_reach_the_estimator(folder, tmp_path, words, name, check):
    out = tmp_path / "m.kpca"
    facts = json.loads(good("fit", folder / "numbers.csv", "-o", out, "--components", 3, "--json", *words))
    model = kernelpca.load(out)
    assert facts["class"] == type(model).__name__ == name
    assert facts["n_components"] == 3
    assert check(model)
    text = good("info", out)
    assert name in text
    assert "of the variance of 150 rows of 4 numbers" in text


@pytest.mark.parametrize(("text", "kept"), [("0.9", 3), ("relative:0.3", 1), ("all", 4)])
def test_rules_for_the_number_of_components(folder, tmp_path, text, kept):
    out = tmp_path / "m.kpca"
    good("fit", folder / "numbers.csv", "-o", out, "--kernel", "linear", "--components", text)
    n = kernelpca.load(out).n_components_
    expected = {"0.9": 0.9, "relative:0.3": ("relative", 0.3), "all": None}[text]
    assert n == KernelPCA(expected, kernel="linear").fit(NUMBERS).n_components_ <= kept


@pytest.mark.parametrize("verb", ["report", "explore"])
def test_pages(folder, tmp_path, verb):
    pytest.importorskip("jinja2")
    labels = tmp_path / "labels.txt"
    labels.write_text("\n".join(IRIS.target_names[i] for i in IRIS.target))
    out = tmp_path / "page.html"
    good(verb, folder / "iris.kpca", folder / "iris.csv", "-o", out, "--labels", labels, "--title", "Flowers & <more>")
    text = out.read_text()
    assert "Flowers &amp; &lt;more&gt;" in text
    assert "versicolor" in text
    assert "sepal_length" in text
    refused(verb, folder / "iris.kpca", folder / "iris.csv", "-o", out, says="--force")
    refused(verb, folder / "iris.kpca", folder / "iris.csv", "-o", tmp_path / "page.pdf", says="an .html file")
    refused(verb, folder / "iris.kpca", folder / "iris.csv", "-o", tmp_path / "p.html", "--image", "2by2", says="28x28")
    refused(verb, folder / "iris.kpca", folder / "iris.csv", "-o", tmp_path / "p.html", "--image", "²x²", says="28x28")
    refused(verb, folder / "iris.kpca", folder / "iris.csv", "-o", tmp_path / "p.html", "--image", "3x3", says="4")


def test_info_and_plan_for_machines(folder):
    facts = json.loads(good("info", folder / "iris.kpca", "--json"))
    assert facts["n_components"] == 3
    assert facts["columns"] == NAMES
    assert facts["provenance"]["n_samples"] == 150
    assert "certificate" in facts
    facts = json.loads(good("plan", folder / "numbers.csv", "--json"))
    assert facts["rows"] == 150
    assert facts["predicted_bytes"] > 0
    assert "150 rows of 4 numbers" in good("plan", folder / "numbers.csv", "--components", 3)


def test_help_needs_nothing_heavy():
    code = (
        "import sys; sys.argv = ['kernelpca', '--help']\n"
        "from kernelpca.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print([m for m in ('numpy', 'scipy', 'sklearn', 'pandas', 'matplotlib', 'dask') if m in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.splitlines()[-1] == "[]"


# bad input


def test_text_columns_are_named(folder, tmp_path):
    refused("fit", folder / "iris.csv", "-o", tmp_path / "m.kpca", says="--exclude species")
    good("fit", folder / "iris.csv", "-o", tmp_path / "m.kpca", "--exclude", "species")
    assert sorted(kernelpca.load(tmp_path / "m.kpca").feature_names_in_) == sorted(NAMES)


def test_missing_values_are_counted(folder, tmp_path):
    holes = NUMBERS.copy()
    holes.iloc[[3, 7], 1] = np.nan
    holes.iloc[7, 2] = np.nan
    holes.to_csv(tmp_path / "holes.csv", index=False)
    says = "3 missing values in 2 of 150 rows (rows 3, 7, counted from 0), in columns sepal_width (2), petal_length (1)"
    refused("fit", tmp_path / "holes.csv", "-o", tmp_path / "m.kpca", says=says)
    refused("transform", folder / "iris.kpca", tmp_path / "holes.csv", "-o", tmp_path / "s.csv", says=says)
    good("fit", tmp_path / "holes.csv", "-o", tmp_path / "m.kpca", "--drop-missing", "--components", 2)
    expected = KernelPCA(2).fit(holes.dropna())
    np.testing.assert_array_equal(kernelpca.load(tmp_path / "m.kpca").eigenvalues_, expected.eigenvalues_)


def test_an_output_that_is_there(folder, tmp_path):
    out = tmp_path / "scores.csv"
    out.write_text("mine")
    refused("transform", folder / "iris.kpca", folder / "iris.csv", "-o", out, says="--force")
    assert out.read_text() == "mine"
    good("transform", folder / "iris.kpca", folder / "iris.csv", "-o", out, "--force")
    assert len(rows_of(out)) == 150
    refused("denoise", folder / "iris.kpca", folder / "iris.csv", "-o", folder / "iris.csv", says="is an input")
    refused("fit", folder / "numbers.csv", "-o", folder / "iris.kpca", says="--force")


def test_a_model_of_other_columns(folder, tmp_path):
    NUMBERS.rename(columns={NAMES[0]: "other"}).to_csv(tmp_path / "other.csv", index=False)
    says = "lacks 1 of the 4 columns that the model was fitted on: sepal_length. It has other, sepal_width"
    refused("transform", folder / "iris.kpca", tmp_path / "other.csv", "-o", tmp_path / "s.csv", says=says)
    np.save(tmp_path / "wide.npy", np.zeros((5, 7)))
    says = "has 7 columns, and the model needs 4"
    refused("denoise", folder / "iris.kpca", tmp_path / "wide.npy", "-o", tmp_path / "s.csv", says=says)
    np.save(tmp_path / "scores.npy", np.zeros((5, 2)))
    says = "has 2 columns, and the model needs 3"
    refused("inverse", folder / "iris.kpca", tmp_path / "scores.npy", "-o", tmp_path / "s.csv", says=says)


def test_models_that_are_none(folder, tmp_path):
    whole = (folder / "iris.kpca").read_bytes()
    (tmp_path / "cut.kpca").write_bytes(whole[: len(whole) // 2])
    refused("info", tmp_path / "cut.kpca", says="cut.kpca")
    refused("info", folder / "iris.csv", says="iris.csv")
    refused("info", tmp_path / "none.kpca", says="none.kpca")
    refused("info", tmp_path, says="is a folder, and a model is one file. Give a file in it.")
    (tmp_path / "store.zarr").mkdir()
    refused("info", tmp_path / "store.zarr", says="is a file of data, by its .zarr, and no model")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_pipes_are_not_waited_for(folder, tmp_path):
    for name in ("m.kpca", "rows.csv"):
        os.mkfifo(tmp_path / name)
    model, data, out = folder / "iris.kpca", folder / "numbers.csv", tmp_path / "out.npy"
    says = "is a named pipe, and a {} is one file. Save what comes out of it in a file first, and give that."
    refused("info", tmp_path / "m.kpca", says=says.format("model"))
    refused("transform", tmp_path / "m.kpca", data, "-o", out, says=says.format("model"))
    refused("transform", model, tmp_path / "rows.csv", "-o", out, says=says.format("table of this format"))
    refused("fit", tmp_path / "rows.csv", "-o", tmp_path / "n.kpca", says=says.format("table of this format"))
    refused("transform", model, data, "-o", tmp_path / "rows.csv", "--force", says="only files are replaced")
    refused("fit", data, "-o", tmp_path / "m.kpca", "--force", says="only files are replaced")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--kernel", "rbg"], "Did you mean 'rbf'"),
        (["--kernel", "rbf(gamma=0.1"], "cannot be read"),
        (["--components", "many"], "relative:1e-3 or all"),
        (["--components", "900"], "--components 900 is not possible with 150 rows: at least 1"),
        (
            ["--components", "9", "--method", "pca"],
            "with 150 rows and 4 columns: give a number from 1 to 4, a fraction",
        ),
        (["--components", "1.5"], "--components 1.5 is not understood. Give a number"),
        (["--components", "1.5"], "relative:eps (all eigenvalues above eps times the first) or all"),
        (["--components", "relative:3"], "between 0 and 1, such as relative:1e-3 for all"),
        (["--method", "sparse", "--kernel", "linear", "--components", 7], "--components 7 is above the rank"),
        (["--method", "magic"], "give kernel, robust"),
        (["--method", "pca", "--kernel", "rbf"], "has no parameter 'kernel'"),
        (["--set", "sparsity"], "write name=value"),
        (["--set", "colour=red"], "has no parameter 'colour'"),
        (["--approximation", "magic"], "stands for no approximation"),
        (["--columns", "height"], "has no column 'height'"),
        (
            ["--memory", "lots"],
            "--memory lots is not an amount of memory. Give a number of bytes or an amount such as 4GB",
        ),
        (["--memory", "1kB"], "or --method pca or invertible, which keep none. Or raise --memory."),
        (["--key", "X"], "is one table, so that --key X names nothing in it: leave --key out."),
    ],
)
def test_options_that_make_no_sense(folder, tmp_path, words, says):
    refused("fit", folder / "numbers.csv", "-o", tmp_path / "m.kpca", *words, says=says)
    assert not (tmp_path / "m.kpca").exists()


@pytest.mark.parametrize(
    ("rows", "words", "kept"),
    [
        (150, ["--method", "pca"], 4),
        (3, ["--method", "pca"], 3),
        (5, [], 5),
        (5, ["--method", "robust"], 4),
        (150, ["--method", "robust", "--kernel", "linear"], 4),
        (150, ["--size", 6], 5),
        (150, [], 10),
        (150, ["--set", "n_components=12"], 12),
    ],
)
def test_as_many_components_as_there_can_be(tmp_path, rows, words, kept):
    NUMBERS[:rows].to_csv(tmp_path / "rows.csv", index=False)
    good("fit", tmp_path / "rows.csv", "-o", tmp_path / "m.kpca", *words)
    assert kernelpca.load(tmp_path / "m.kpca").n_components_ == kept
    if "pca" not in words:
        good("plan", tmp_path / "rows.csv", *words)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Choose one with key='...'; it has a.", "Choose one with --key NAME; it has a."),
        ("no rows. (header=False says so, header=True not.)", "no rows. (--no-header says so, --header not.)"),
        ("Choose others with columns=['a b', 'c'].", "Choose others with --columns 'a b,c'."),
        ("n_components=None: too many.", "--components all: too many."),
        ("n_components=('relative', 2.0): no.", "--components relative:2.0: no."),
        ("With memory_limit='1 GB' it would.", "With --memory '1 GB' it would."),
        ("/data/key=3/n_components=2.csv has no column 'n_components'.", None),
        ("leave it out: columns=[...], or --exclude '' on the command line.", None),
        ("say header=True (--header on the command line).", None),
        ("an int, a float between 0 and 1, or None", None),
        ("KernelPCA(n_components=3): X.drop(columns=['a'])", None),
    ],
)
def test_messages_speak_of_options(text, told):
    assert translate(text) == (text if told is None else told)


def test_a_plan_speaks_of_options(folder, tmp_path):
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).random((4000, 3)))
    assert "With --memory " in good("plan", tmp_path / "rows.npy", "--memory", "60MB")


def test_the_version():
    assert good("--version") == f"kernelpca {kernelpca.__version__}\n"


def test_rows_that_were_dropped_are_counted(tmp_path):
    holes = NUMBERS.copy()
    holes.iloc[[3, 7], 1] = np.nan
    holes.to_csv(tmp_path / "holes.csv", index=False)
    words = ("fit", tmp_path / "holes.csv", "-o", tmp_path / "m.kpca", "--drop-missing", "--force")
    assert "\n2 rows dropped, for missing values\n" in good(*words)
    facts = json.loads(good(*words, "--json"))
    assert facts["rows_dropped"] == 2
    assert facts["rows"] == 148
    holes.iloc[:, 1] = np.nan
    holes.to_csv(tmp_path / "holes.csv", index=False)
    refused(*words, says="have missing values, most of them in sepal_width (150), so that --drop-missing would leave")


def test_each_warning_is_written_once(folder, tmp_path):
    KernelPCA(2).fit(NUMBERS.to_numpy()).save(tmp_path / "bare.kpca")
    answer = run("denoise", tmp_path / "bare.kpca", folder / "numbers.csv", "-o", tmp_path / "clean.csv")
    assert answer.returncode == 0
    assert answer.stderr.count("has feature names") == answer.stderr.count("\n") == 1


def test_data_in_the_place_of_a_model(folder, tmp_path):
    says = "numbers.csv is a file of data, by its .csv, and no model. The model comes first"
    refused("info", folder / "numbers.csv", says=says)
    refused("denoise", folder / "numbers.csv", folder / "iris.kpca", "-o", tmp_path / "clean.csv", says=says)
    refused("fit", folder / "iris.kpca", "-o", tmp_path / "m.kpca", says="It is a model by its name")


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["species", *"a" * 150], "has 151 lines, and there are 150 rows: the first line, 'species', may be a name."),
        (["a"] * 7, "has 7 lines, and there are 150 rows: give a label for each row, one in a line."),
        (None, "labels.txt does not exist."),
    ],
)
def test_labels_of_other_rows(folder, tmp_path, lines, says):
    pytest.importorskip("jinja2")
    if lines is not None:
        (tmp_path / "labels.txt").write_text("\n".join(lines))
    words = ("-o", tmp_path / "page.html", "--labels", tmp_path / "labels.txt")
    refused("report", folder / "iris.kpca", folder / "numbers.csv", *words, says=says)


def test_decimal_commas_are_told(tmp_path):
    NUMBERS.to_csv(tmp_path / "commas.csv", index=False, sep=";", decimal=",")
    says = "Cells such as 5,1 look like numbers with a decimal comma; a point is needed."
    refused("fit", tmp_path / "commas.csv", "-o", tmp_path / "m.kpca", says=says)


@pytest.mark.parametrize("words", [["--kernel", "rbg"], ["--preimage", "magic"]])
def test_options_are_looked_at_before_the_data(folder, tmp_path, words):
    refused("fit", folder / "none.csv", "-o", tmp_path / "m.kpca", *words, says=f"{words[1]}' stands for no")


def test_usage_errors(folder):
    assert run("fit", folder / "numbers.csv").returncode == 2
    assert run("fit", folder / "numbers.csv", "-o", "m.kpca", "--nonsense").returncode == 2
    assert run("nonsense").returncode == 2


@pytest.fixture(scope="module")
def others(tmp_path_factory):
    """A folder with files that hold something else than a fitted model of rows."""
    path = tmp_path_factory.mktemp("others")
    KernelPCA(2).save(path / "unfitted.kpca")
    kernelpca.persistence.save(RBF(0.1), path / "kernel.kpca")
    KernelPCA(2, kernel=Spectrum(2)).fit(["abab", "bcbc", "abcb", "cacb"]).save(path / "texts.kpca")
    DropIn(2, kernel="rbf").fit(NUMBERS).save(path / "dropin.kpca")
    KernelPCA(2, kernel="precomputed").fit(NUMBERS @ NUMBERS.T).save(path / "matrix.kpca")
    KernelPCA(2, approximation="fourier").fit(NUMBERS).save(path / "fourier.kpca")
    np.save(path / "matrix.npy", NUMBERS @ NUMBERS.T)
    return path


@pytest.mark.parametrize("verb", ["transform", "denoise", "score", "inverse", "report", "explore"])
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("unfitted", "holds a KernelPCA that is not fitted: give one that is"),
        ("kernel", "holds RBF(gamma=0.1), a part of models: give a model"),
        ("texts", "holds a KernelPCA of texts or other objects, and commands work on rows of numbers"),
    ],
)
def test_files_that_hold_something_else(folder, others, tmp_path, verb, name, says):
    out = tmp_path / ("page.html" if verb in ("report", "explore") else "rows.csv")
    refused(verb, others / f"{name}.kpca", folder / "numbers.csv", "-o", out, says=f"{name}.kpca {says}")
    assert not out.exists()


def test_models_that_cannot_do_all(folder, others, tmp_path):
    out = tmp_path / "rows.csv"
    says = "dropin.kpca holds a KernelPCA, which has no method {}: it is kernelpca.sklearn.KernelPCA"
    refused("denoise", others / "dropin.kpca", folder / "numbers.csv", "-o", out, says=says.format("denoise"))
    refused("score", others / "dropin.kpca", folder / "numbers.csv", says=says.format("score_samples"))
    says = "has no method score_samples: it was fitted on a kernel matrix. Fit on rows of numbers."
    refused("score", others / "matrix.kpca", others / "matrix.npy", says=says)
    good("transform", others / "matrix.kpca", others / "matrix.npy", "-o", out)
    good("transform", others / "dropin.kpca", folder / "numbers.csv", "-o", out, "--force")
    np.testing.assert_allclose(rows_of(out), kernelpca.load(others / "dropin.kpca").transform(NUMBERS), rtol=1e-12)


def test_info_on_all_that_a_file_holds(others):
    for name, says in [
        ("unfitted", "KernelPCA, not fitted."),
        ("kernel", "RBF(gamma=0.1): a part of models, and no model."),
        ("dropin", "KernelPCA: 2 components keep"),
        ("texts", "KernelPCA with Spectrum(decay=1.0, length=2, up_to=False): 2 components keep"),
    ]:
        assert good("info", others / f"{name}.kpca").splitlines()[1].startswith(says)
        facts = json.loads(good("info", others / f"{name}.kpca", "--json"))
        assert facts["fitted"] == (name in ("dropin", "texts"))
        assert facts.get("n_components", 2) == 2


def test_info_without_knowing_where_it_comes_from(folder):
    with mock.patch("kernelpca.persistence.describe", return_value={}):
        text = good("info", folder / "iris.kpca")
    assert "certificate" in text
    assert "versions" not in text


def test_a_model_that_is_not_there(folder, tmp_path):
    says = f"Error: {folder / 'irs.kpca'} does not exist. In its folder: iris.kpca."
    for words in (["info"], ["transform", "-o", tmp_path / "s.csv"], ["report", "-o", tmp_path / "p.html"]):
        rows = [folder / "numbers.csv"] if len(words) > 1 else []
        refused(words[0], folder / "irs.kpca", *rows, *words[1:], says=says)


def test_what_a_file_says_cannot_move_the_cursor(folder, tmp_path):
    odd = NUMBERS.rename(columns={NAMES[0]: "a\x1b[2Jb\u202ec", NAMES[1]: "ä ✓"})
    KernelPCA(2).fit(odd).save(tmp_path / "odd.kpca")
    text = good("info", tmp_path / "odd.kpca")
    assert "a\ufffd[2Jb\ufffdc, ä ✓" in text
    assert all(one.isprintable() for one in text.replace("\n", ""))
    answer = run("transform", tmp_path / "odd.kpca", folder / "numbers.csv", "-o", tmp_path / "s.csv")
    assert answer.returncode == 1
    assert "\x1b" not in answer.stderr


def test_compress(folder, others, tmp_path):
    out = tmp_path / "small.kpca"
    text = good("compress", folder / "iris.kpca", "-o", out, "--tol", 0.05)
    model, small = kernelpca.load(folder / "iris.kpca"), kernelpca.load(out)
    expected = model.compress(tol=0.05)
    np.testing.assert_allclose(small.transform(NUMBERS), expected.transform(NUMBERS), rtol=1e-9, atol=1e-12)
    stated = small.certificate_.compression
    assert f"{stated.anchors} points stand for 150 anchors" in text
    assert stated.error <= 0.05
    refused("compress", folder / "iris.kpca", "-o", out, says="--force")
    facts = json.loads(good("compress", folder / "iris.kpca", "-o", out, "--anchors", 20, "--force", "--json"))
    assert facts["anchors"] == 20
    assert facts["bytes"] == out.stat().st_size < facts["bytes_before"]
    refused("compress", folder / "iris.kpca", "-o", tmp_path / "small.npz", says="small.kpca")
    refused("compress", others / "dropin.kpca", "-o", tmp_path / "s.kpca", says="no method compress")
    refused("compress", others / "fourier.kpca", "-o", tmp_path / "s.kpca", says="anchors")
    refused("compress", others / "kernel.kpca", "-o", tmp_path / "s.kpca", says="a part of models")


def test_names_of_outputs_that_cannot_be(folder, tmp_path):
    for suffix in (".csv", ".npz", ".txt", ".zarr"):
        out = tmp_path / f"model{suffix}"
        refused("fit", folder / "none.csv", "-o", out, says=f"{suffix} is a format of data")
        assert not out.exists()
    good("fit", folder / "numbers.csv", "-o", tmp_path / "model.bin", "--components", 2)
    for verb in ("transform", "inverse", "denoise", "score"):
        refused(verb, folder / "none.kpca", folder / "none.csv", "-o", tmp_path / "x.txt", says="cannot be written")


def test_folders_are_not_replaced(folder, tmp_path):
    for name in ("rows.csv", "rows.zarr", "m.kpca", "p.html"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "notes.txt").write_text("keep")
    model, data = folder / "iris.kpca", folder / "numbers.csv"
    for verb in ("transform", "denoise", "score"):
        for name in ("rows.csv", "rows.zarr"):
            refused(verb, model, data, "-o", tmp_path / name, "--force", says=f"{name} is a folder")
    refused("fit", data, "-o", tmp_path / "m.kpca", "--force", says="m.kpca is a folder")
    refused("report", model, data, "-o", tmp_path / "p.html", "--force", says="p.html is a folder")
    assert len(list(tmp_path.glob("*/notes.txt"))) == 4


def test_a_table_with_the_index_of_pandas(folder, tmp_path):
    NUMBERS.to_csv(tmp_path / "index.csv")
    answer = run("fit", tmp_path / "index.csv", "-o", tmp_path / "m.kpca")
    assert answer.returncode == 0
    assert "Warning: " in answer.stderr
    assert "a column without a name, column 0 counted from 0" in answer.stderr
    good("fit", tmp_path / "index.csv", "-o", tmp_path / "m.kpca", "--exclude", "", "--components", 3, "--force")
    good("transform", tmp_path / "m.kpca", tmp_path / "index.csv", "-o", tmp_path / "scores.csv")
    expected = kernelpca.load(folder / "iris.kpca").transform(NUMBERS)
    np.testing.assert_allclose(rows_of(tmp_path / "scores.csv"), expected, atol=1e-10)
    NUMBERS.set_axis(range(4), axis=1).to_csv(tmp_path / "bare.csv", index=False)
    answer = run("fit", tmp_path / "bare.csv", "-o", tmp_path / "m.kpca", "--force", "--json")
    assert json.loads(answer.stdout)["rows"] == 150
    assert answer.stderr.count("begins with 0,1,2,3") == answer.stderr.count("\n") == 1


def test_a_name_that_stands_for_two_columns(folder, tmp_path):
    twice = NUMBERS.assign(again=0.0).rename(columns={"again": NAMES[0]})
    twice.to_csv(tmp_path / "twice.csv", index=False)
    says = "2 columns named 'sepal_length' (columns 0 and 4, counted from 0)"
    for verb in ("transform", "denoise"):
        refused(verb, folder / "iris.kpca", tmp_path / "twice.csv", "-o", tmp_path / "s.csv", says=says)
    words = ("fit", tmp_path / "twice.csv", "-o", tmp_path / "m.kpca", "--components", 3)
    refused(*words, says=says)
    refused(*words, "--exclude", "2", says=says)
    refused(*words, "--columns", NAMES[0], says=says)
    good(*words, "--exclude", "4")
    assert list(kernelpca.load(tmp_path / "m.kpca").feature_names_in_) == NAMES


def test_infinite_values_are_counted(folder, tmp_path):
    holes = NUMBERS.copy()
    holes.iloc[[3, 7], 1] = [np.inf, -np.inf]
    holes.iloc[9, 2] = np.nan
    holes.to_csv(tmp_path / "holes.csv", index=False)
    says = "2 infinite values in 2 of 149 rows (rows 3, 7, counted from 0), in columns sepal_width (2). Replace them"
    refused("fit", tmp_path / "holes.csv", "-o", tmp_path / "m.kpca", "--drop-missing", says=says)


def test_columns_of_scores_are_called_so(folder, tmp_path):
    says = "lacks 3 of the 3 scores of the model, as `transform` writes them: kernelpca0, kernelpca1, kernelpca2."
    refused("inverse", folder / "iris.kpca", folder / "numbers.csv", "-o", tmp_path / "s.csv", says=says)


def test_a_parquet_file_with_text_beside_the_numbers(folder, tmp_path):
    NUMBERS.assign(kind="x").to_parquet(tmp_path / "rows.parquet")
    good("transform", folder / "iris.kpca", tmp_path / "rows.parquet", "-o", tmp_path / "s.csv")
    refused("fit", tmp_path / "rows.parquet", "-o", tmp_path / "m.kpca", says="--exclude kind")
    good("fit", tmp_path / "rows.parquet", "-o", tmp_path / "m.kpca", "--exclude", "kind")


def test_a_folder_that_does_not_exist(folder, tmp_path):
    refused("fit", folder / "numbers.csv", "-o", tmp_path / "no" / "m.kpca", says="does not exist: make it first")


def interrupt_the_fifth(monkeypatch):
    """Work on few rows at a time, and stop in the fifth call of `transform`; return it, and the rows of each call."""
    monkeypatch.setattr("kernelpca.cli.tables.LEAST_ROWS", 20)
    monkeypatch.setattr("kernelpca.cli.tables.BLOCK", 4)
    transform, seen = KernelPCA.transform, []

    def watched(self, X):
        seen.append(len(X))
        if len(seen) == 5:
            raise KeyboardInterrupt
        return transform(self, X)

    monkeypatch.setattr(KernelPCA, "transform", watched)
    return transform, seen


def test_an_interrupted_run_goes_on(folder, tmp_path, monkeypatch):
    transform, seen = interrupt_the_fifth(monkeypatch)
    words = ("transform", folder / "iris.kpca", folder / "numbers.csv", "-o", tmp_path / "scores.npy")
    answer = run(*words)
    assert answer.returncode == 130
    assert answer.stderr.startswith("Interrupted")
    assert not (tmp_path / "scores.npy").exists()
    good(*words)
    assert sum(size > 1 for size in seen) == 8 + 1  # each block once, and again the one that was interrupted
    np.testing.assert_allclose(
        rows_of(tmp_path / "scores.npy"), transform(kernelpca.load(words[1]), NUMBERS), rtol=1e-12
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scores.npy"]


@pytest.mark.parametrize("change", ["data", "array", "version", "nothing"])
def test_results_of_other_data_are_not_used(folder, tmp_path, monkeypatch, change):
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(str(tmp_path / "rows.zarr"), mode="w")
    for name in ("X", "Y"):
        rows = NUMBERS.to_numpy() + (name == "Y")
        group.create_array(name, shape=rows.shape, dtype=rows.dtype, chunks=(10, 4))[:] = rows
    transform, seen = interrupt_the_fifth(monkeypatch)
    words = ["transform", folder / "iris.kpca", tmp_path / "rows.zarr", "-o", tmp_path / "scores.npy", "--key"]
    assert run(*words, "X").returncode == 130
    if change == "data":
        group["X"][:] = rows  # in place: the store's folder itself has the same size and time
    elif change == "version":
        monkeypatch.setattr("kernelpca.__version__", "another")
    good(*words, "Y" if change == "array" else "X")
    assert sum(size > 1 for size in seen) == 8 + (1 if change == "nothing" else 4)
    model, moved = kernelpca.load(folder / "iris.kpca"), change in ("data", "array")
    expected = transform(model, NUMBERS + float(moved))
    np.testing.assert_allclose(rows_of(tmp_path / "scores.npy"), expected, rtol=1e-12)


def test_only_what_goes_on_says_so(folder, tmp_path, monkeypatch):
    for name in ("fit", "transform", "inverse_transform", "denoise", "score_samples"):
        monkeypatch.setattr(KernelPCA, name, mock.Mock(side_effect=KeyboardInterrupt))
    model, data = folder / "iris.kpca", folder / "numbers.csv"
    np.save(tmp_path / "scores.npy", np.zeros((5, 3)))
    for verb, rows in (("transform", data), ("denoise", data), ("inverse", tmp_path / "scores.npy")):
        answer = run(verb, model, rows, "-o", tmp_path / "s.csv")
        assert answer.stderr == "Interrupted: no file was left half done, and the same command goes on from there.\n"
    for words in (["fit", data, "-o", tmp_path / "m.kpca"], ["score", model, data]):
        answer = run(*words)
        assert answer.returncode == 130
        assert answer.stderr == "Interrupted: no file was left half done.\n"


def test_a_full_disk_leaves_the_old_files(folder, tmp_path, monkeypatch):
    full = OSError(28, "No space left on device")
    model, scores, page = tmp_path / "m.kpca", tmp_path / "scores.npy", tmp_path / "page.html"
    for path in (model, scores, page):
        path.write_bytes(b"old")
    monkeypatch.setattr("pathlib.Path.replace", mock.Mock(side_effect=full))
    refused("fit", folder / "numbers.csv", "-o", model, "--force", says="No space left")
    refused("transform", folder / "iris.kpca", folder / "numbers.csv", "-o", scores, "--force", says="No space left")
    says = f"{page} was not written: No space left on device. What was there before is as it was."
    refused("explore", folder / "iris.kpca", folder / "numbers.csv", "-o", page, "--force", says=says)
    assert model.read_bytes() == scores.read_bytes() == page.read_bytes() == b"old"


# files that are too large to be loaded, and what nobody expects


@pytest.fixture
def large(folder, monkeypatch):
    pytest.importorskip("dask.array")
    monkeypatch.setattr("kernelpca.io.reading.SHARE", 0.0)
    return folder / "numbers.csv"


def test_an_exact_model_of_a_large_file_is_refused_before_it_is_fitted(large, tmp_path, monkeypatch):
    monkeypatch.setattr("kernelpca.estimators.kernel_pca.KernelPCA.fit", lambda *_: pytest.fail("it was fitted"))
    for verb in (("fit", large, "-o", tmp_path / "m.kpca"), ("plan", large)):
        refused(*verb, says="an exact model keeps all of its rows. Give --approximation nystrom")
    refused("plan", large, "--method", "sparse", says="--approximation nystrom")
    refused("plan", large, "--drop-missing", says="leave the option out")


@pytest.mark.parametrize("options", [("--approximation", "nystrom", "--size", 30), ("--method", "invertible")])
def test_models_of_large_files(large, tmp_path, options):
    good("fit", large, "-o", tmp_path / "m.kpca", "--components", 2, *options)
    assert "150 rows" in good("score", tmp_path / "m.kpca", large)


def test_what_nobody_expects_is_one_line_too(folder, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("a part\nis broken")

    monkeypatch.setattr("kernelpca.cli.info.summary", fail)
    refused("info", folder / "iris.kpca", says="RuntimeError: a part is broken (KERNELPCA_TRACEBACK=1 shows where.)")
    monkeypatch.setenv("KERNELPCA_TRACEBACK", "1")
    with pytest.raises(RuntimeError):
        run("info", folder / "iris.kpca")


def test_a_folder_that_may_not_be_written_is_seen_before_the_fit(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda *_: False)
    refused("fit", folder / "numbers.csv", "-o", tmp_path / "m.kpca", says="You may not write into the folder")


def test_text_in_a_column_that_the_model_needs(folder, tmp_path):
    (tmp_path / "rows.csv").write_text(",".join(NAMES) + "\n1,2,3,4\n5,x,7,8\n")
    says = f"no numbers: {NAMES[1]}. The model needs them: give a file in which they are numbers."
    refused("transform", folder / "iris.kpca", tmp_path / "rows.csv", "-o", tmp_path / "s.csv", says=says)


@pytest.mark.parametrize("cell", ["", "NULL", "None", "n/a", "?", "#N/A"])
def test_spellings_of_a_missing_value(tmp_path, cell):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n3,4\n" + f"5,{cell}\n" + "7,9\n2,1\n")
    refused("plan", tmp_path / "rows.csv", says="1 missing value")
    assert "4 rows of 2 numbers" in good("plan", tmp_path / "rows.csv", "--drop-missing")


def test_a_column_that_decides_alone_is_warned_of(tmp_path):
    NUMBERS.assign(sepal_width=NUMBERS.sepal_width * 1000).to_csv(tmp_path / "x.csv", index=False)
    answer = run("fit", tmp_path / "x.csv", "-o", tmp_path / "m.kpca", "--components", 2)
    assert answer.returncode == 0
    assert answer.stderr.startswith("Warning: sepal_width has 100.0% of all variance")
    assert answer.stderr.endswith("Or leave it out: --exclude sepal_width.\n")
    assert good("plan", tmp_path / "x.csv", "--exclude", "sepal_width")
