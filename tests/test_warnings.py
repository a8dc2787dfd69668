"""Every warning of the library names the line of the user's own file that led to it."""

import ast
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from importlib import import_module
from pathlib import Path

import joblib
import pytest
import sklearn

import kernelpca
from kernelpca.warn import BETWEEN, warn

SOURCE = Path(kernelpca.__file__).parent
BEGIN = """
import numpy as np
from pathlib import Path
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from kernelpca import *
from kernelpca.cli.tables import warn_of_scales
from kernelpca.features import Nystrom
from kernelpca.io.table import Table
from kernelpca.kernels import RBF, Laplacian, Matern, Sigmoid
from kernelpca.preimage import Gradient
from kernelpca.selection import KernelPCACV, error_curve
from kernelpca.solvers import BlockKrylov
same = lambda: StandardScaler(with_mean=False, with_std=False)
X = np.random.default_rng(0).standard_normal((60, 5))
model = KernelPCA(2, kernel=RBF(0.1)).fit(X)
far = 100 * model.transform(X[:3])
"""
# how a user fits an estimator
FITS = (
    "{}.fit(X)",
    "make_pipeline(same(), {}).fit(X)",
    "{}.set_output(transform='pandas').fit_transform(X)",
    "make_pipeline(same(), {}).set_output(transform='pandas').fit_transform(X)",
)


def fits(estimator, rows="X"):
    return [fit.format(estimator).replace("(X)", f"({rows})") for fit in FITS]


# lines that lead to each place in the source where a warning is given
LINES = {
    "cli/tables.py warn_of_scales": ["warn_of_scales('rows.csv', Table(X * [1, 1, 1, 1, 1e9]))"],
    "estimators/approximate.py _warn_of_what_is_out_of_reach": fits("KernelPCA(0.95, approximation=Nystrom(5))"),
    "estimators/approximate.py assemble": fits(
        "KernelPCA(2, kernel=1e5 * Matern(1.5, 1.0), approximation=Nystrom(30))", "1 + 1e-6 * X"
    ),
    "estimators/compression.py compress": ["KernelPCA(20, kernel=Laplacian(9.0)).fit(X).compress(tol=1e-3)"],
    "estimators/dual.py check_left": fits("SparseKernelPCA(3, kernel=RBF(0.1), sparsity=0.985, center=False)"),
    "estimators/dual.py say_how_sparse": fits("SparseKernelPCA(1, kernel=RBF(0.1))", "np.repeat(X[:3], 20, axis=0)"),
    "estimators/invertible.py _layer": fits("InvertibleKernelPCA(1, n_features=4)"),
    "estimators/kernel_pca.py _store": [
        *fits("KernelPCA(1)", "np.ones((9, 2))"),
        "IncrementalKernelPCA(1).partial_fit(np.ones((9, 2))).eigenvalues_",
        "GridSearchCV(KernelPCA(), {'n_components': [1]}, cv=2).fit(np.ones((9, 2)))",
    ],
    "estimators/pca.py _store": fits("PCA(1)", "np.ones((9, 2))"),
    "estimators/robust.py _store": fits("RobustKernelPCA(2, kernel=RBF(0.5), kappa=1e-3)"),
    "estimators/support.py certify": fits("SparseKernelPCA(3, kernel=RBF(0.1), sparsity=0.95)"),
    "io/reading.py reader_of": ["open_data(path.with_suffix('.csv'))"],
    "preimage/inversion.py _warn_of_unfinished": [
        "KernelPCA(2, kernel=RBF(0.1), preimage=Gradient(max_iter=1)).fit(X).inverse_transform(far / 100)",
        "KernelPCA(2, kernel=RBF(0.1), preimage=Gradient(max_iter=1)).fit(X).denoise(X)",
    ],
    "preimage/inversion.py _warn_of_unreliable": [
        "model.inverse_transform(far)",
        "model.invert(far)",
        "make_pipeline(same(), model).fit(X).inverse_transform(far)",
        "model.set_output(transform='pandas').inverse_transform(far)",
    ],
    "selection/error_curve.py error_curve": [
        "error_curve(KernelPCA(9, approximation=Nystrom(9)), X, criterion='denoising', components=[5, 15])"
    ],
    "selection/error_curve.py stopped_early": [
        "error_curve(KernelPCA(4), X, rule='one_std_error', callback=lambda step: True)",
        *fits("KernelPCACV(KernelPCA(4), gammas=[0.1], rule='one_std_error', callback=lambda step: True)"),
    ],
    "selection/search.py _tell_left_out": fits("KernelPCACV(PCA(), n_components=[2, 50])"),
    "solvers/protocol.py _warn": [
        *fits("KernelPCA(3, kernel=RBF(0.1), solver=BlockKrylov(max_iter=1, landmarks=0))"),
        "RobustKernelPCA(2, kernel=RBF(0.1), callback=lambda event: True).fit(X)",
    ],
    "solvers/solution.py treat_negative": fits("KernelPCA(60, kernel=Sigmoid(1.0, -1.0))"),
    "solvers/solution.py warn_of_shares": fits("KernelPCA(5, kernel=Sigmoid(1.0, -1.0))"),
}


def modules():
    """Each file of the library, with what it says."""
    for path in sorted(SOURCE.rglob("*.py")):
        if path != SOURCE / "warn.py":
            yield path, ast.parse(path.read_text())


def calls(node):
    return [one for one in ast.walk(node) if isinstance(one, ast.Call) and ast.unparse(one.func) == "warn"]


@cache
def sites():
    """Each call of `warn` in the source: its name, file, and first and last line."""
    found = {}
    for path, tree in modules():
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                for i, call in enumerate(calls(function), 1):
                    name = f"{path.relative_to(SOURCE).as_posix()} {function.name}" + (f" {i}" if i > 1 else "")
                    assert name not in found
                    found[name] = (str(path), call.lineno, call.end_lineno)
    return found


def provoked(code, filename):
    """Run code as a file of that name; return what it warned of, and the calls of `warn` that did."""
    called, give = [], warnings.warn_explicit

    def remember(*given):
        caller = sys._getframe(2)
        called.append((caller.f_code.co_filename, caller.f_lineno))
        give(*given)

    with warnings.catch_warnings(record=True) as caught, pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("always")
        patch.setattr(warnings, "warn_explicit", remember)
        exec(compile(code, filename, "exec"), {"__name__": "a_user", "path": Path(filename), "kernelpca": kernelpca})
    return caught, called


def test_every_place_that_warns_is_known_here():
    assert set(sites()) == set(LINES)
    assert sum(len(calls(tree)) for _, tree in modules()) == len(LINES)


def test_there_is_one_way_to_warn():
    for path, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module in ("warnings", "kernelpca.warn"):
                assert ast.unparse(node) == "from kernelpca.warn import warn", path
            if isinstance(node, ast.Attribute):
                assert ast.unparse(node) not in ("warnings.warn", "warnings.warn_explicit"), path


@pytest.mark.parametrize("name", LINES)
def test_warnings_name_the_users_line(name, tmp_path):
    file, first, last = sites()[name]
    script = tmp_path / "script.py"
    script.with_suffix(".csv").write_text(",a,b\n0,0.5,1.5\n1,2.5,3.5\n")
    for line in LINES[name]:
        code = f"{BEGIN}\n{line}\n"
        caught, called = provoked(code, str(script))
        assert any(path == file and first <= at <= last for path, at in called), line
        assert {(one.filename, code.split("\n")[one.lineno - 1]) for one in caught} == {(str(script), line)}
        assert len(caught) == len(called)


@pytest.mark.parametrize(
    "filename",
    [
        "<stdin>",
        "<doctest kernelpca.estimators.kernel_pca[0]>",
        str(SOURCE.with_name("kernelpca_of_mine.py")),
        str(Path(sklearn.__file__).parent.with_name("sklearn_extra") / "fit.py"),
    ],
)
def test_what_only_begins_like_the_library_is_the_users(filename):
    caught, _ = provoked("import numpy, kernelpca\nkernelpca.KernelPCA(1).fit(numpy.ones((9, 2)))", filename)
    assert [(one.filename, one.lineno) for one in caught] == [(filename, 2)]


def test_a_subclass_of_the_users_is_the_users():
    code = "import numpy, kernelpca\nclass Mine(kernelpca.KernelPCA):\n    def fit(self, X, y=None):\n"
    code += "        return super().fit(X)\nMine(1).fit(numpy.ones((9, 2)))"
    caught, _ = provoked(code, "mine.py")
    assert [(one.filename, one.lineno) for one in caught] == [("mine.py", 4)]


@pytest.mark.parametrize("way", ["pool", "joblib", "search"])
def test_where_no_line_is_the_users_the_way_in_is_named(way):
    """The stack of a thread begins in the pool: what it called of the library is all that there is."""
    model, rows = kernelpca.KernelPCA(1), [[1.0, 2.0]] * 9
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if way == "pool":
            with ThreadPoolExecutor(1) as pool:
                pool.submit(model.fit, rows).result()
        elif way == "joblib":
            joblib.Parallel(2, backend="threading")(joblib.delayed(model.fit)(rows) for _ in range(2))
        else:
            from sklearn.model_selection import cross_validate

            with joblib.parallel_backend("threading"):
                cross_validate(model, rows, cv=3, n_jobs=2)
    ours = [one for one in caught if "same point" in str(one.message)]
    assert ours
    for one in ours:
        line = Path(one.filename).read_text().split("\n")[one.lineno - 1]
        assert (one.filename, line.strip()) == (
            str(SOURCE / "estimators" / "kernel_pca.py"),
            "self._fit(X, sample_weight)",
        )


def test_a_warning_is_shown_once_for_each_line_of_the_user():
    """Python's own rule for warnings that were not filtered."""
    code = "from kernelpca.warn import warn\nfor _ in range(3):\n    warn('again')\nwarn('again')"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        exec(compile(code, "user.py", "exec"), {"__name__": "user"})
    assert [one.lineno for one in caught] == [3, 4]


@pytest.mark.parametrize("name", [*BETWEEN, "<frozen runpy>"])
def test_what_calls_for_the_user_is_passed_over(name):
    file = name if name.startswith("<") else import_module(name).__file__
    between = {}
    exec(compile("def call(function):\n    function()", file, "exec"), between)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec(compile("\n\ncall(go)", "user.py", "exec"), {**between, "go": partial(warn, "from C, without a frame")})
    assert [(one.filename, one.lineno) for one in caught] == [("user.py", 3)]
