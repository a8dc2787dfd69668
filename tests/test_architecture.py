"""Dependencies point one way, imports are light, and nothing global is touched."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import kernelpca

SOURCE = Path(kernelpca.__file__).parent
PAPERS = Path(__file__).parents[1] / "papers" / "src" / "kernelpca_papers"
FOUNDATIONS = {
    "parts",
    "quantile",
    "tiles",
    "tall",
    "machine_code",
    "memory",
    "extras",
    "validation",
    "warn",
    "progress",
    "metrics",
    "atomic",
    "datasets",
    "remote",
    "io",
    "persistence",
}
LAYERS = dict.fromkeys(FOUNDATIONS, 0) | {
    "kernels": 1,
    "objectives": 1,
    "gram": 2,
    "solvers": 3,
    "features": 4,
    "decomposition": 5,
    "preimage": 6,
    "estimators": 7,
    "sklearn": 8,
    "dask": 8,
    "selection": 8,
    "plotting": 9,
    "__init__": 9,
    "pages": 10,
    "demo": 11,
    "cli": 12,
    "__main__": 13,
}
# a solver knows the Gram protocol and nothing else of what lies below
FORBIDDEN = {("solvers", "kernels"), ("solvers", "gram.tiled"), ("solvers", "gram.dense"), ("solvers", "gram.operator")}


def modules(source=SOURCE):
    for path in source.rglob("*.py"):
        yield path, path.relative_to(source).with_suffix("").parts


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("kernelpca."):
            yield node.module.removeprefix("kernelpca.")


def test_every_module_has_a_layer():
    assert {parts[0] for _, parts in modules()} == set(LAYERS)


def test_dependencies_point_one_way():
    for path, parts in modules():
        for target in imports(path):
            package = target.split(".")[0]
            assert LAYERS[package] <= LAYERS[parts[0]], f"{path} imports {target}"
            assert not any(parts[0] == a and target.startswith(b) for a, b in FORBIDDEN), f"{path} imports {target}"


def test_the_library_knows_nothing_of_experiments_and_these_nothing_of_its_commands():
    for path, _ in modules():
        assert not re.search(r"^\s*(from|import) kernelpca_papers", path.read_text(), re.M), path
    for path, _ in modules(PAPERS):
        assert not any(target.startswith("cli") for target in imports(path)), path


def test_nothing_prints_or_uses_global_randomness():
    for path, _ in [*modules(), *modules(PAPERS)]:
        text = path.read_text()
        calls = {getattr(node.func, "id", "") for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)}
        assert not calls & {"print", "eval", "exec"}, path
        for call in ("np.random.seed", "np.random.rand", "np.random.normal", "import pickle"):
            assert call not in text, f"{path} uses {call}"


def test_import_brings_no_heavy_library():
    heavy = ("numba", "matplotlib", "pandas", "dask")
    code = f"import sys, kernelpca.estimators; print([m for m in {heavy} if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() in ("[]", "['pandas']")  # scikit-learn may bring pandas itself


def test_the_package_itself_imports_nothing():
    code = "import sys, kernelpca; print([m for m in ('numpy', 'scipy', 'sklearn') if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
    for name in kernelpca.__all__:
        assert getattr(kernelpca, name) is not None
        assert name in dir(kernelpca)
    assert kernelpca.kernels.RBF is not None


def test_import_takes_less_than_twice_scikit_learns():
    sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
    try:
        from import_time import measure
    finally:
        sys.path.pop(0)
    ours, theirs = measure(3)
    assert ours < 2 * theirs
