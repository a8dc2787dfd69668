"""The command line on models and files: there and back in every format, and one clear line for every bad input."""

import io
import json
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
from kernelpca.io import write_data
from kernelpca.kernels import RBF, Linear

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


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--kernel", "rbg"], "Did you mean 'rbf'"),
        (["--kernel", "rbf(gamma=0.1"], "cannot be read"),
        (["--components", "many"], "relative:1e-3 or all"),
        (["--components", "900"], "n_components=900 is not possible"),
        (["--method", "magic"], "give kernel, robust"),
        (["--method", "pca", "--kernel", "rbf"], "has no parameter 'kernel'"),
        (["--set", "sparsity"], "write name=value"),
        (["--set", "colour=red"], "has no parameter 'colour'"),
        (["--approximation", "magic"], "stands for no approximation"),
        (["--columns", "height"], "has no column 'height'"),
        (["--memory", "lots"], "lots"),
    ],
)
def test_options_that_make_no_sense(folder, tmp_path, words, says):
    refused("fit", folder / "numbers.csv", "-o", tmp_path / "m.kpca", *words, says=says)
    assert not (tmp_path / "m.kpca").exists()


def test_usage_errors(folder):
    assert run("fit", folder / "numbers.csv").returncode == 2
    assert run("fit", folder / "numbers.csv", "-o", "m.kpca", "--nonsense").returncode == 2
    assert run("nonsense").returncode == 2


def test_a_folder_that_does_not_exist(folder, tmp_path):
    refused("fit", folder / "numbers.csv", "-o", tmp_path / "no" / "m.kpca", says="does not exist: make it first")


def test_an_interrupted_run_goes_on(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("kernelpca.cli.tables.LEAST_ROWS", 20)
    monkeypatch.setattr("kernelpca.cli.tables.BLOCK", 4)
    transform, seen = KernelPCA.transform, []

    def watched(self, X):
        seen.append(len(X))
        if len(seen) == 5:
            raise KeyboardInterrupt
        return transform(self, X)

    monkeypatch.setattr(KernelPCA, "transform", watched)
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


def test_a_full_disk_leaves_the_old_files(folder, tmp_path, monkeypatch):
    full = OSError(28, "No space left on device")
    model, scores = tmp_path / "m.kpca", tmp_path / "scores.npy"
    for path in (model, scores):
        path.write_bytes(b"old")
    monkeypatch.setattr("pathlib.Path.replace", mock.Mock(side_effect=full))
    refused("fit", folder / "numbers.csv", "-o", model, "--force", says="No space left")
    refused("transform", folder / "iris.kpca", folder / "numbers.csv", "-o", scores, "--force", says="No space left")
    assert model.read_bytes() == scores.read_bytes() == b"old"
