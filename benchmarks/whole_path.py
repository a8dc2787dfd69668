"""From rows to scores: the whole path, beside scikit-learn and others, on USPS and on few rows.

python benchmarks/whole_path.py [--only widths many given digits]
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.decomposition import KernelPCA as Theirs

from kernelpca import KernelPCA
from kernelpca.gram import CenteredGram, DenseGram
from kernelpca.kernels import RBF
from kernelpca.solvers import BlockKrylov
from kernelpca.tiles import TILE, half_tiles, share_out
from tables import Table, timed
from tasks import usps

try:
    import primme  # pip install primme, which needs LAPACK's headers
except ImportError:
    primme = None

COMPONENTS = 20
TABLES = ("digits", "widths", "many", "given")
LIMIT = 120.0  # seconds that a contestant may take


def score_error(Z: np.ndarray, exact: np.ndarray) -> float:
    """Return the largest relative error of a component's scores, whatever its sign."""
    signs = np.sign((Z * exact).sum(axis=0))
    return float((np.linalg.norm(Z * signs - exact, axis=0) / np.linalg.norm(exact, axis=0)).max())


def keops(X: np.ndarray, gamma: float, limit: float) -> tuple[object, np.ndarray | None]:
    """Return the seconds and the scores of kernel PCA by PyKeOps and eigsh, or why there are none."""
    try:
        from pykeops.numpy import LazyTensor
    except ImportError:
        return "PyKeOps is not installed", None
    n = len(X)
    K = (-gamma * ((LazyTensor(X[:, None, :]) - LazyTensor(X[None, :, :])) ** 2).sum(-1)).exp()

    def centered(v: np.ndarray) -> np.ndarray:
        v = np.asarray(v, dtype=X.dtype).reshape(n, 1)
        y = K @ np.ascontiguousarray(v - v.mean())
        return (y - y.mean()).ravel()

    centered(X[:, 0])  # compile
    began = time.perf_counter()
    centered(X[:, 0])
    product = time.perf_counter() - began
    if 2 * COMPONENTS * product > limit:
        return f"over {limit:.0f}: one product takes {product:.1f}", None
    began = time.perf_counter()
    values, U = eigsh(LinearOperator((n, n), matvec=centered, dtype=X.dtype), COMPONENTS)
    return time.perf_counter() - began, U[:, ::-1] * np.sqrt(values[::-1])


def kernlab(X: np.ndarray, gamma: float, limit: float) -> str:
    """Return the seconds of R's kernlab::kpca, or why there are none."""
    if not shutil.which("Rscript"):
        return "R is not installed"
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.bin"
        X.astype(np.float64).T.tofile(rows)  # R reads columns
        code = (
            "suppressMessages(library(kernlab)); "
            f"x <- matrix(readBin('{rows}', 'double', {X.size}), {X.shape[0]}, {X.shape[1]}); "
            f"t <- system.time(kpca(x, kernel='rbfdot', kpar=list(sigma={gamma}), features={COMPONENTS})); "
            "cat(t[['elapsed']])"
        )
        try:
            answer = subprocess.run(["Rscript", "-e", code], capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return f"over {limit:.0f} s"
    return answer.stdout.strip() or "failed: " + answer.stderr.strip().splitlines()[-1]


def digits(table: Table) -> None:
    """All rows of USPS, in both precisions."""
    X32 = usps()
    gamma = RBF("median").resolve(X32).gamma
    exact = KernelPCA(COMPONENTS, kernel=RBF(gamma), tol=1e-9).fit(X32.astype(np.float64))
    Z, best = exact.transform(X32.astype(np.float64)), float(exact.eigenvalues_.sum())
    for X in (X32, X32.astype(np.float64)):
        runs: dict[str, Callable[[], object]] = {
            "kernelpca, variance 1e-4": lambda X=X: _fitted(
                KernelPCA(COMPONENTS, kernel=RBF(gamma), solver=BlockKrylov(criterion="variance")), X
            ),
            "kernelpca, default": lambda X=X: _fitted(KernelPCA(COMPONENTS, kernel=RBF(gamma)), X),
        }
        for solver in ("arpack", "randomized"):
            runs[f"scikit-learn, {solver}"] = lambda X=X, solver=solver: _fitted(
                Theirs(COMPONENTS, kernel="rbf", gamma=gamma, eigen_solver=solver, random_state=0), X
            )
        best_times = timed(runs, 5)
        fastest = min(seconds for name, (seconds, _) in best_times.items() if name.startswith("scikit"))
        for name, (seconds, (values, scores)) in best_times.items():
            eta, error = 1 - float(values.sum()) / best, score_error(scores, Z)
            table.add(f"USPS 9298 x 256 {X.dtype}", name, seconds, fastest / seconds, f"{eta:.1e}", f"{error:.1e}")
        seconds, scores = keops(X, gamma, LIMIT)
        cells: list[object] = ["", "", ""]
        if scores is not None:
            eta = 1 - float(np.square(scores).sum()) / best
            cells = [fastest / float(seconds), f"{eta:.1e}", f"{score_error(scores, Z):.1e}"]
        table.add(f"USPS 9298 x 256 {X.dtype}", "PyKeOps and eigsh", seconds, *cells)
    table.add("USPS, first 2000 rows", "R kernlab::kpca", kernlab(X32[:2000], gamma, LIMIT), "", "", "")
    table.add("USPS, first 2000 rows", "kernelpca, default", _seconds(X32[:2000], gamma), "", "", "")


def _seconds(X: np.ndarray, gamma: float) -> float:
    return timed({"": lambda: KernelPCA(COMPONENTS, kernel=RBF(gamma)).fit(X)})[""][0]


def _fitted(model: KernelPCA | Theirs, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scores = model.fit_transform(X)
    return model.eigenvalues_, scores


def half_pass(X: np.ndarray, gamma: float) -> None:
    """Make the Gaussian kernel matrix of float32 rows once, half of it, in tiles on all cores, with NumPy alone."""
    norms = np.einsum("ij,ij->i", X, X)

    def work(tile: np.ndarray, rows: slice, cols: slice) -> None:
        height, width = rows.stop - rows.start, cols.stop - cols.start
        T = np.matmul(X[rows], X[cols].T, out=tile[: height * width].reshape(height, width))
        T *= 2
        T -= norms[rows, None]
        T -= norms[cols]
        T *= gamma
        np.exp(T, out=T)

    share_out(half_tiles(len(X)), work, lambda: np.empty(TILE * TILE, X.dtype))


def widths(table: Table) -> None:
    """Narrow and wide Gaussians on all rows of USPS: spectra that decay slowly, and fast."""
    X32 = usps()
    median = RBF("median").resolve(X32).gamma
    for factor in (0.25, 0.5, 1.0, 2.0, 4.0):
        gamma = factor * median
        for X in (X32.astype(np.float64), X32):
            runs: dict[str, Callable[[], object]] = {
                "variance": lambda X=X, gamma=gamma: KernelPCA(
                    COMPONENTS, kernel=RBF(gamma), solver=BlockKrylov(criterion="variance")
                ).fit_transform(X),
                "default": lambda X=X, gamma=gamma: KernelPCA(COMPONENTS, kernel=RBF(gamma)).fit_transform(X),
                "bare": lambda gamma=gamma: half_pass(X32, gamma),
            }
            for solver in ("arpack", "randomized"):
                runs[solver] = lambda X=X, gamma=gamma, solver=solver: Theirs(
                    COMPONENTS, kernel="rbf", gamma=gamma, eigen_solver=solver, random_state=0
                ).fit_transform(X)
            seconds = {name: taken for name, (taken, _) in timed(runs, 5).items()}
            fastest = min(seconds["arpack"], seconds["randomized"])
            for name in ("variance", "default"):
                taken = seconds[name]
                table.add(factor, X.dtype, name, taken, fastest, fastest / taken, taken / seconds["bare"])


def given_matrix(table: Table) -> None:
    """A kernel matrix of all rows of USPS, beside scikit-learn, and beside eigensolvers that get it centered."""
    for dtype in (np.float64, np.float32):
        X = usps().astype(dtype)
        K = RBF("median").resolve(X)(X)
        centered = CenteredGram(DenseGram(K, symmetric=True)).dense()

        def worst(values: np.ndarray, U: np.ndarray, centered: np.ndarray = centered) -> float:
            """Return the largest relative residual of eigenpairs."""
            values, U = values.astype(np.float64), U.astype(np.float64)
            return float((np.linalg.norm(centered @ U - U * values, axis=0) / np.abs(values)).max())

        def fitted(model: Any, K: np.ndarray = K) -> tuple[np.ndarray, np.ndarray]:
            scores = model.fit_transform(K)
            return model.eigenvalues_, scores / np.linalg.norm(scores, axis=0)

        runs: dict[str, Callable[[], Any]] = {
            "kernelpca, default": lambda fitted=fitted: fitted(KernelPCA(COMPONENTS, kernel="precomputed"))
        }
        for solver in ("arpack", "randomized"):
            runs[f"scikit-learn, {solver}"] = lambda solver=solver, fitted=fitted: fitted(
                Theirs(COMPONENTS, kernel="precomputed", eigen_solver=solver, random_state=0)
            )
        for tol in (1e-2, 1e-3, 1e-4):
            runs[f"eigsh, tol {tol:.0e}"] = lambda tol=tol, centered=centered: eigsh(
                centered, COMPONENTS, which="LA", tol=tol, v0=np.ones(len(centered), centered.dtype)
            )
            if primme is not None:
                runs[f"PRIMME, tol {tol:.0e}"] = lambda tol=tol, centered=centered: primme.eigsh(
                    centered, COMPONENTS, which="LA", tol=tol
                )
        times = timed(runs, 5)
        ours = times["kernelpca, default"][0]
        for name, (seconds, (values, U)) in times.items():
            table.add(np.dtype(dtype), name, seconds, seconds / ours, f"{worst(values, U):.1e}")


def many_components(table: Table) -> None:
    """Few rows and many components, where LAPACK does the work: never slower than scikit-learn's default."""
    X = usps().astype(np.float64)
    for n, k in ((200, 5), (1000, None), (2000, 200)):
        rows, gamma = X[:n], 1 / (256 * X[:n].var())
        runs: dict[str, Callable[[], object]] = {
            "ours": lambda rows=rows, k=k, gamma=gamma: KernelPCA(k, kernel=RBF(gamma)).fit_transform(rows),
            "theirs": lambda rows=rows, k=k, gamma=gamma: Theirs(k, kernel="rbf", gamma=gamma).fit_transform(rows),
        }
        times = timed(runs, 9, np.median)
        ours, theirs = times["ours"][0], times["theirs"][0]
        table.add(n, "all" if k is None else k, ours, theirs, theirs / ours)


def few_rows(table: Table) -> None:
    """Up to a thousand rows: never slower than scikit-learn."""
    X = usps().astype(np.float64)
    for n in (100, 200, 300, 500, 700, 1000):
        for k in (2, 5, 10, 20):
            rows, gamma = X[:n], 1 / (256 * X[:n].var())
            times = timed(
                {
                    "ours": lambda rows=rows, k=k, gamma=gamma: KernelPCA(k, kernel=RBF(gamma)).fit_transform(rows),
                    "theirs": lambda rows=rows, k=k, gamma=gamma: Theirs(k, kernel="rbf", gamma=gamma).fit_transform(
                        rows
                    ),
                    "arpack": lambda rows=rows, k=k, gamma=gamma: Theirs(
                        k, kernel="rbf", gamma=gamma, eigen_solver="arpack", random_state=0
                    ).fit_transform(rows),
                },
                15,
                np.median,
                present=0,
            )
            ours, theirs, arpack = (times[name][0] for name in ("ours", "theirs", "arpack"))
            table.add(
                f"{n} rows, {k} components",
                "kernelpca, default",
                ours,
                theirs / ours,
                "",
                f"arpack {arpack / ours:.2f}",
            )


def main() -> None:
    """Measure and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", choices=TABLES, help="which tables; all without it")
    only = parser.parse_args().only or TABLES
    if "widths" in only:
        table = Table(
            "USPS, 9298 x 256, Gaussians of five widths, 20 components",
            ["gamma, over 1 / median", "data", "stops by", "seconds", "scikit-learn", "times faster", "half passes"],
            notes=["The shortest of five times, against scikit-learn's fastest setting and a bare float32 half pass."],
        )
        widths(table)
        table.write("widths")
    if "many" in only:
        table = Table(
            "Small and dense fits",
            ["rows", "components", "seconds", "scikit-learn's default", "times faster"],
            notes=["Medians of nine."],
        )
        many_components(table)
        table.write("many_components")
    if "given" in only:
        table = Table(
            "A given matrix, 9298 x 9298, 20 components",
            ["data", "contestant", "seconds", "over ours", "worst relative residual"],
            notes=["The shortest of five times. eigsh and PRIMME are given the matrix centered and checked."],
        )
        given_matrix(table)
        table.write("given")
    if "digits" not in only:
        return
    table = Table(
        "From rows to scores",
        ["data", "contestant", "seconds", "times faster than scikit-learn", "eta", "worst score"],
        notes=[
            "USPS: the shortest of five times, against scikit-learn's fastest setting. Few rows: the median of "
            "fifteen, against scikit-learn's default, and against its ARPACK in the last column."
        ],
    )
    digits(table)
    few_rows(table)
    table.write("whole_path")


if __name__ == "__main__":
    main()
