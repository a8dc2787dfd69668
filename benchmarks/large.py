"""MNIST, 60,000 x 784: one bare half pass against whole fits, growth with n, memory, and predictions.

Each fit runs in a process of its own, which also times the bare pass (the tile products alone) just before, so that the
ratio is of one run and the peak memory is that of the fit.

    python benchmarks/large.py [--rows 60000]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np

from kernelpca import KernelPCA
from kernelpca.kernels import RBF
from kernelpca.solvers import BlockKrylov
from kernelpca.tiles import TILE, half_tiles, share_out
from tables import Table
from tasks import mnist

COMPONENTS = 20


def bare_pass(X: np.ndarray) -> float:
    """Return the seconds of the tile products alone, on all cores."""

    def work(tile: np.ndarray, rows: slice, cols: slice) -> None:
        height, width = rows.stop - rows.start, cols.stop - cols.start
        np.matmul(X[rows], X[cols].T, out=tile[: height * width].reshape(height, width))

    began = time.perf_counter()
    share_out(half_tiles(len(X)), work, lambda: np.empty(TILE * TILE, X.dtype))
    return time.perf_counter() - began


def fit(n: int, criterion: str, tol: float, memory_limit: str | None) -> dict[str, object]:
    """Fit and measure, in this process."""
    X = mnist(n)
    kernel = RBF("median").resolve(X)
    model = KernelPCA(
        COMPONENTS, kernel=kernel, solver=BlockKrylov(criterion=criterion), tol=tol, memory_limit=memory_limit
    )
    KernelPCA(2, kernel=kernel).fit(X[:1600])  # compile
    plan = model.explain_plan(X)
    bare = bare_pass(X)
    began = time.perf_counter()
    model.fit(X)
    seconds = time.perf_counter() - began
    certificate = model.certificate_
    return {
        "bare": bare,
        "seconds": seconds,
        "passes": certificate.passes,
        "captured": float(model.eigenvalues_.sum()),
        "says": certificate.achieved,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "predicted_seconds": plan.predicted_seconds,
        "predicted_bytes": plan.predicted_bytes,
        "measured_bytes": model.plan_.measured_bytes,
    }


def in_a_process(n: int, criterion: str, tol: float, memory_limit: str | None = None) -> dict[str, float]:
    """Fit in a process of its own."""
    code = f"import json, large; print(json.dumps(large.fit({n}, {criterion!r}, {tol!r}, {memory_limit!r})))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=sys.path[0])
    return json.loads(answer.stdout.splitlines()[-1])


def main() -> None:
    """Measure and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=60_000)
    most = parser.parse_args().rows
    table = Table(
        "MNIST, 20 components, Gaussian of median width",
        [
            "rows",
            "stopping",
            "seconds",
            "bare half pass",
            "ratio",
            "passes",
            "says",
            "true eta",
            "peak of the process, GB",
        ],
    )
    predictions = Table(
        "What explain_plan said, and what the fit took",
        ["rows", "stopping", "predicted s", "measured s", "ratio", "predicted MB", "measured MB", "ratio"],
    )
    best = in_a_process(most, "residual", 1e-4)["captured"]
    runs = {}
    for n in (most // 4, most // 2, most):
        for criterion in ("variance", "certified") if n == most else ("variance",):
            run = runs[n, criterion] = in_a_process(n, criterion, 1e-4, "1GB" if n == most else None)
            eta = f"{1 - run['captured'] / best:.1e}" if n == most else ""
            table.add(
                n, criterion, run["seconds"], run["bare"], run["seconds"] / run["bare"], run["passes"],
                f"{run['says']:.1e}", eta, run["peak"] / 1e9,
            )  # fmt: skip
            predictions.add(
                n, criterion, run["predicted_seconds"], run["seconds"], run["predicted_seconds"] / run["seconds"],
                run["predicted_bytes"] / 1e6, run["measured_bytes"] / 1e6,
                run["predicted_bytes"] / run["measured_bytes"],
            )  # fmt: skip
    for small, large in ((most // 4, most // 2), (most // 2, most)):
        a, b = runs[small, "variance"], runs[large, "variance"]
        table.notes.append(
            f"From {small} to {large} rows: time {b['seconds'] / a['seconds']:.2f} times, memory of the fit "
            f"{b['measured_bytes'] / a['measured_bytes']:.2f} times."
        )
        print(table.notes[-1])
    table.write("large")
    predictions.write("predictions")


if __name__ == "__main__":
    main()
