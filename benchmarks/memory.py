"""The memory of fits, projections, pre-images and commands, beside the limit that was granted.

Each case runs in a process of its own: imports, a small warm-up fit and the rows come first, then the high-water mark
of the operating system is set back. What it shows at the end, above what was resident before, is what the case took.
A command reads its rows itself: where it loads them all, their bytes are taken off.

python benchmarks/memory.py [--match TEXT] [--quick] [--folder FOLDER]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from kernelpca import KernelPCA
from kernelpca.features import Nystrom, RandomFourier
from kernelpca.kernels import RBF
from kernelpca.memory import parse_bytes
from tables import Table

ALLOWED = 1.1  # times the limit
WIDTH = 50  # numbers in a row
WARM = 2000  # rows of the fit that comes first
FEW = 400  # of them, that are brought back
LINES = 1_200_000  # of a CSV file of half a gigabyte
PARTS = {"nystrom": lambda: Nystrom(500), "random": lambda: RandomFourier(1024)}


def cases(quick: bool) -> Iterator[dict[str, Any]]:
    """List what is measured, as JSON can hold it."""
    for n in (6000, 20000) if quick else (6000, 10000, 20000):
        for limit in ("100MB", "300MB", "1GB"):
            for single in (False, True):
                for given in (False, True):
                    yield {"what": "exact", "n": n, "limit": limit, "single": single, "given": given}
                yield {"what": "exact", "n": n, "limit": limit, "single": single, "components": 0.9}
    for part in PARTS:
        for n in (300_000, 1_000_000) if quick else (300_000, 1_000_000, 5_000_000):
            for limit in ("100MB", "200MB", "300MB"):
                for single in (False, True):
                    for given in (False, True):
                        yield {"what": part, "n": n, "limit": limit, "single": single, "given": given}
    for part in ("exact", *PARTS):
        for limit in ("100MB", "300MB"):
            for single in (False, True):
                yield {"what": part, "n": 5000, "new": 500_000, "limit": limit, "single": single}
                yield {"what": part, "n": 5000, "inverse": 20_000, "limit": limit, "single": single}
    for limit in ("100MB", "300MB"):
        for verb in ("fit", "transform", "score"):
            yield {"what": "command", "n": LINES, "verb": verb, "limit": limit, "single": False}


def rows(n: int, single: bool, file: Path) -> None:
    """Write n rows near a curved sheet, some far away, far from zero."""
    rng = np.random.default_rng(0)
    X = np.lib.format.open_memmap(file, "w+", np.float32 if single else np.float64, (n, WIDTH))
    turn = rng.standard_normal((3, WIDTH))
    for start in range(0, n, 100_000):
        t = rng.standard_normal((min(100_000, n - start), 3))
        X[start : start + len(t)] = np.sin(t @ turn) + 0.1 * rng.standard_normal((len(t), WIDTH)) + 5
    X.flush()


def lines(n: int, file: Path) -> None:
    """Write n such rows as text."""
    rng = np.random.default_rng(0)
    turn = rng.standard_normal((3, WIDTH))
    with file.open("w") as out:
        out.write(",".join(f"x{i}" for i in range(WIDTH)) + "\n")
        for start in range(0, n, 100_000):
            t = rng.standard_normal((min(100_000, n - start), 3))
            X = np.sin(t @ turn) + 0.1 * rng.standard_normal((len(t), WIDTH)) + 5
            out.writelines(",".join(row) + "\n" for row in np.char.mod("%.6f", X))


def resident() -> int:
    """Return the bytes that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def high_water() -> int:
    """Return the most bytes that this process held since the mark was set back."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) * 1024


def model_of(case: dict[str, Any], limit: str) -> KernelPCA:
    """Return the model of a case."""
    part = PARTS[case["what"]]() if case["what"] in PARTS else None
    kernel = RBF(1 / (WIDTH * 0.5)) if case.get("given") else "rbf"
    return KernelPCA(case.get("components", 10), kernel=kernel, approximation=part, memory_limit=limit)


def run_command(case: dict[str, Any], file: Path) -> dict[str, Any]:
    """Measure a command in this process, after the same command on a few lines."""
    import kernelpca.dask.files  # noqa: F401  for files that are not loaded; a small one would not bring it
    from kernelpca.cli.app import main as command

    folder = Path(tempfile.mkdtemp(dir=file.parent))
    small, model, out = folder / "small.csv", folder / "model.kpca", folder / "scores.npy"
    with file.open() as text:
        small.write_text("".join(text.readline() for _ in range(WARM + 1)))
    options = ["--size", "500", "--memory", case["limit"]]

    def call(*words: Any) -> None:
        sys.argv = ["kernelpca", *map(str, words)]
        try:
            command()
        except SystemExit as end:
            if end.code:
                raise

    def verb(rows: Path) -> None:
        if case["verb"] == "fit":
            call("fit", rows, "--out", model, "--force", *options)
        else:
            call(case["verb"], model, rows, "--out", out, "--force")

    with contextlib.redirect_stdout(sys.stderr):
        call("fit", small, "--out", model, *options)
        verb(small)
        Path("/proc/self/clear_refs").write_text("5")
        before, began = resident(), time.perf_counter()
        verb(file)
        peak, seconds = high_water() - before, time.perf_counter() - began
    shutil.rmtree(folder)
    table = case["n"] * WIDTH * 8  # a fit loads what is no larger than its limit, another command what is granted
    loaded = table if case["verb"] != "fit" or table <= parse_bytes(case["limit"]) else 0
    return {"bytes": peak - loaded, "seconds": seconds}


def run(case: dict[str, Any], file: Path) -> dict[str, Any]:
    """Measure a case in this process."""
    warnings.simplefilter("ignore")
    if case["what"] == "command":
        return run_command(case, file)
    X = np.array(np.load(file))  # in memory, not mapped
    fitted = model_of(case, "1GB").fit(X[:WARM])
    fitted.inverse_transform(fitted.transform(X[:FEW]))
    model = model_of(case, case["limit"])
    if "new" in case or "inverse" in case:
        model.fit(X[: case["n"]])
    Path("/proc/self/clear_refs").write_text("5")
    before, began = resident(), time.perf_counter()
    try:
        if "new" in case:
            model.transform(X)
        elif "inverse" in case:
            model.denoise(X)
        else:
            model.fit(X)
    except MemoryError as error:
        return {"bytes": high_water() - before, "seconds": time.perf_counter() - began, "refused": str(error)}
    seconds, peak = time.perf_counter() - began, high_water() - before
    return {"bytes": peak, "seconds": seconds, "says": model.plan_.measured_bytes, "plan": model.plan_.predicted_bytes}


def measure(case: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Measure a case in a process of its own; rows are written once."""
    n, single = case.get("new") or case.get("inverse") or case["n"], case["single"]
    file = folder / (f"{n}.csv" if case["what"] == "command" else f"{n}-{single}.npy")
    if not file.exists():
        lines(n, file) if case["what"] == "command" else rows(n, single, file)
    asked = [sys.executable, __file__, "--case", json.dumps(case), "--rows", str(file)]
    answer = subprocess.run(asked, capture_output=True, text=True)
    if answer.returncode:
        return {"bytes": 0, "seconds": 0.0, "failed": answer.stderr.strip().splitlines()[-1]}
    return json.loads(answer.stdout.splitlines()[-1])


def name_of(case: dict[str, Any]) -> str:
    """Return what a case is, in words."""
    if case["what"] == "command":
        return f"kernelpca {case['verb']}, {case['n']} lines of CSV"
    text = f"{case['what']}, {case['n']} rows, {'float32' if case['single'] else 'float64'}"
    if "new" in case:
        return f"{text}: transform {case['new']}"
    if "inverse" in case:
        return f"{text}: denoise {case['inverse']}"
    if "components" in case:
        return f"{text}, {case['components']} of the variance"
    return f"{text}, width {'given' if case['given'] else 'by default'}"


def main() -> None:
    """Measure all cases and write the table, or one case and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--match", default="", help="only cases with this in their names")
    parser.add_argument("--quick", action="store_true", help="fewer sizes")
    parser.add_argument("--folder", type=Path, help="where rows are kept for the next run")
    parser.add_argument("--case", help="for the process of one case")
    parser.add_argument("--rows", type=Path, help="its rows")
    asked = parser.parse_args()
    if asked.case:
        print(json.dumps(run(json.loads(asked.case), asked.rows)))
        return
    table = Table(
        "Memory beside what was granted",
        ["case", "limit", "peak, MB", "over the limit", "the model says, MB", "predicted, MB", "seconds", "answer"],
        notes=["The operating system's high-water mark, above what was resident before."],
    )
    over = 0
    with tempfile.TemporaryDirectory() as made:
        for case in cases(asked.quick):
            name = name_of(case)
            if asked.match not in f"{name}, {case['limit']}":
                continue
            found = measure(case, asked.folder or Path(made))
            ratio = found["bytes"] / parse_bytes(case["limit"])
            over += ratio > ALLOWED or "failed" in found
            answer = found.get("failed") or found.get("refused", "")[:100]
            said, plan = (found.get(key) for key in ("says", "plan"))
            table.add(
                name,
                case["limit"],
                found["bytes"] / 1e6,
                ratio,
                "" if said is None else said / 1e6,
                "" if plan is None else plan / 1e6,
                found["seconds"],
                answer,
            )
    table.write("memory")
    print(f"{len(table.rows)} cases, {over} above {ALLOWED} times the limit")


if __name__ == "__main__":
    main()
