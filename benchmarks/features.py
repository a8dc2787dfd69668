"""Kernel PCA through features, beside scikit-learn's Nystroem followed by PCA.

MNIST 60000 x 784 with 1000 landmarks; scores of 100,000 new rows; a million rows of 50 numbers with landmarks and with
random features, and half as many, each in a process of its own for its peak of memory.

    python benchmarks/features.py [--quick]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import Pipeline, make_pipeline

from kernelpca import KernelPCA
from kernelpca.features import Nystrom, RandomFourier
from kernelpca.kernels import RBF
from tables import Table, timed
from tasks import median, mnist

COMPONENTS, LANDMARKS = 20, 1000
MILLION = {"500 landmarks": Nystrom(500), "1024 random features": RandomFourier(1024)}


def theirs(gamma: float) -> Pipeline:
    """Return scikit-learn's way."""
    return make_pipeline(
        Nystroem(kernel="rbf", gamma=gamma, n_components=LANDMARKS, random_state=0), PCA(COMPONENTS, random_state=0)
    )


def ours(gamma: float) -> KernelPCA:
    """Return ours, with the same number of landmarks."""
    return KernelPCA(COMPONENTS, kernel=RBF(gamma), approximation=Nystrom(LANDMARKS))


def captured(scores: np.ndarray) -> float:
    """Return the sum of the variances of scores, which both ways measure on orthonormal directions."""
    return float(np.square(scores - scores.mean(axis=0), dtype=np.float64).sum())


def fits(table: Table, n: int, repeats: int) -> None:
    """From rows to scores."""
    for dtype in (np.float32, np.float64):
        X = mnist(n).astype(dtype)
        gamma = median(X).number()
        runs = {
            "kernelpca": partial(ours(gamma).fit_transform, X),
            "scikit-learn": partial(theirs(gamma).fit_transform, X),
        }
        turns = timed(runs, repeats)
        for name, (seconds, scores) in turns.items():
            task = f"fit and scores, MNIST {n} x 784, {np.dtype(dtype)}"
            table.add(task, name, seconds, seconds / turns["kernelpca"][0], captured(scores))


def transforms(table: Table, n: int, repeats: int) -> None:
    """Scores of 100,000 new rows."""
    for dtype in (np.float32, np.float64):
        X = mnist(60_000).astype(dtype)
        gamma = median(X).number()
        sample, new = X[:10_000], np.vstack([X, X])[:n]
        models = {"kernelpca": ours(gamma).fit(sample), "scikit-learn": theirs(gamma).fit(sample)}
        turns = timed({name: partial(model.transform, new) for name, model in models.items()}, repeats)
        for name, (seconds, _) in turns.items():
            task = f"transform, {n} x 784, {np.dtype(dtype)}"
            table.add(task, name, seconds, seconds / turns["kernelpca"][0], "")


def fit_alone(n: int, name: str) -> None:
    """Fit random rows in this process and print seconds and the peak of its memory as JSON."""
    X = np.random.default_rng(0).standard_normal((n, 50), dtype=np.float32)
    model = KernelPCA(COMPONENTS, kernel=RBF(0.01), approximation=MILLION[name], memory_limit="3GB")
    began = time.perf_counter()
    model.fit(X)
    seconds = time.perf_counter() - began
    status = Path("/proc/self/status").read_text()  # getrusage would count the process that started this one
    peak = 1024 * int(status.split("VmHWM:")[1].split()[0])
    print(json.dumps({"seconds": seconds, "peak": peak}))


def millions(table: Table, n: int, repeats: int) -> None:
    """Time and memory as rows double, the shortest of a few runs in processes of their own."""
    for name in MILLION:
        before = None
        for rows in (n // 2, n):
            command = [sys.executable, __file__, "--alone", str(rows), name]
            runs = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(repeats)]
            answers = [json.loads(run) for run in runs]
            seconds, peak = (pick(answer[key] for answer in answers) for pick, key in ((min, "seconds"), (max, "peak")))
            growth = "" if before is None else f"{seconds / before:.2f} times half as many"
            before = seconds
            table.add(f"fit, {rows} x 50, {name}", "kernelpca", seconds, growth, f"{peak / 1e9:.2f} GB")


def main() -> None:
    """Run all and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--alone", nargs=2, metavar=("ROWS", "NAME"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        fit_alone(int(options.alone[0]), options.alone[1])
        return
    part = 10 if options.quick else 1
    table = Table("Features", ["task", "contestant", "seconds", "times ours", "captured variance, or peak of memory"])
    fits(table, 60_000 // part, 3)
    transforms(table, 100_000 // part, 3)
    millions(table, 1_000_000 // part, 3)
    table.write("features")


if __name__ == "__main__":
    main()
