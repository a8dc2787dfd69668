"""Beyond one machine's memory: Dask beside the local path, growth with the number of rows, and streams.

Every fit runs in a process of its own, with a cluster of its own of two worker processes with one thread each, so that
peaks of memory are those of that fit. Rows come from a file.

    python benchmarks/scaling.py                      # all parts
    python benchmarks/scaling.py --parts overhead     # growth, overhead, exact, stream
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from tables import Table

COLUMNS = 50
WARM = 5000  # rows of a fit before that which is timed, here as there
MAPS = ("fourier", "nystrom")


def rows_of(n: int, seed: int = 0) -> np.ndarray:
    """-> (n, 50) float32: clusters on a curved sheet with noise."""
    rng = np.random.default_rng(seed)
    latent = rng.standard_normal((n, 6), dtype=np.float32)
    mixing = np.random.default_rng(1).standard_normal((6, COLUMNS)).astype(np.float32) / 2
    return np.tanh(latent @ mixing) + 0.1 * rng.standard_normal((n, COLUMNS), dtype=np.float32)


def write(path: Path, n: int) -> None:
    """Write rows to an .npy file or a .zarr store, in parts."""
    size = 100_000
    if path.suffix == ".npy":
        array = np.lib.format.open_memmap(path, "w+", np.float32, (n, COLUMNS))
    else:
        import zarr

        array = zarr.create_array(store=str(path), shape=(n, COLUMNS), dtype="float32", chunks=(size, COLUMNS))
    for i, start in enumerate(range(0, n, size)):
        stop = min(start + size, n)
        array[start:stop] = rows_of(stop - start, i)


def estimator(kind: str) -> object:
    """Return what is fitted."""
    from kernelpca import KernelPCA
    from kernelpca.features import Nystrom, RandomFourier
    from kernelpca.kernels import RBF

    approximation = {"fourier": RandomFourier(1024), "nystrom": Nystrom(500), "exact": None}[kind]
    return KernelPCA(20, kernel=RBF(0.02), approximation=approximation)


def peak() -> float:
    """Return the most memory that this process has held, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def shortest(kind: str, rows: object, repeats: int) -> tuple[float, object]:
    """Return the shortest time of some fits, after one of few rows that imports and translates what is needed."""
    estimator(kind).fit(rows[:WARM])
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        model = estimator(kind).fit(rows)
        times.append(time.perf_counter() - began)
    return min(times), model


def one(kind: str, path: str, where: str, repeats: int) -> dict[str, float]:
    """Fit in this process; return seconds, peaks of memory and what was captured."""
    from kernelpca import open_data

    if where == "local":
        rows = np.asarray(open_data(path).values)
        seconds, model = shortest(kind, rows, repeats)
        return {"seconds": seconds, "client": peak(), "captured": float(model.eigenvalues_.sum())}
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        rows = open_data(path, chunks=100_000 if kind != "exact" else 5000).values
        seconds, model = shortest(kind, rows, repeats)
        workers = max(client.run(peak).values())
    return {"seconds": seconds, "client": peak(), "worker": workers, "captured": float(model.eigenvalues_.sum())}


def apart(kind: str, path: Path, where: str, repeats: int = 1) -> dict[str, float]:
    """Run `one` in a process of its own."""
    command = [sys.executable, __file__, "--one", kind, str(path), where, str(repeats)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(answer.stdout.splitlines()[-1])


def growth(folder: Path) -> None:
    """Time and memory from 500,000 to 2,000,000 rows."""
    table = Table(
        "Growth with the number of rows, two workers",
        ["features", "rows", "seconds", "times half", "worker GB", "client GB"],
    )
    for kind, suffix in zip(MAPS, (".zarr", ".npy"), strict=True):
        before = None
        for n in (500_000, 1_000_000, 2_000_000):
            path = folder / f"rows{n}{suffix}"
            if not path.exists():
                write(path, n)
            found = apart(kind, path, "dask")
            ratio = "" if before is None else f"{found['seconds'] / before:.2f}"
            table.add(f"{kind}, {suffix}", n, found["seconds"], ratio, found["worker"], found["client"])
            before = found["seconds"]
    table.write("scaling_growth")


def overhead(folder: Path) -> None:
    """Dask beside the local path at 200,000 rows: the shortest of five fits in a process, two processes in turns."""
    path = folder / "rows200000.npy"
    write(path, 200_000)
    table = Table(
        "Dask beside the local path, 200,000 x 50 float32",
        ["features", "local s", "Dask s", "ratio", "difference of what is captured"],
    )
    for kind in MAPS:
        found: dict[str, list[dict[str, float]]] = {"local": [], "dask": []}
        for where in ("local", "dask") * 2:
            found[where].append(apart(kind, path, where, 5))
        local, there = (min(one["seconds"] for one in found[where]) for where in ("local", "dask"))
        captured = [found[where][0]["captured"] for where in ("local", "dask")]
        table.add(kind, local, there, there / local, f"{abs(captured[0] - captured[1]) / captured[0]:.1e}")
    table.write("scaling_overhead")


def exact(folder: Path) -> None:
    """Exact kernel PCA of 40,000 rows, where the local path keeps tiles as memory allows."""
    path = folder / "rows40000.npy"
    write(path, 40_000)
    table = Table(
        "Exact kernel PCA of 40,000 x 50 float32", ["where", "seconds", "over local", "worker GB", "client GB"]
    )
    local = apart("exact", path, "local")
    table.add("one machine", local["seconds"], 1.0, "", local["client"])
    there = apart("exact", path, "dask")
    table.add(
        "Dask, 2 workers", there["seconds"], there["seconds"] / local["seconds"], there["worker"], there["client"]
    )
    table.write("scaling_exact")


def stream(folder: Path) -> None:
    """`partial_fit` of 1,000,000 rows in batches of 10,000 beside one batch fit, the shortest of two in turns."""
    from kernelpca import IncrementalKernelPCA

    X = np.concatenate([rows_of(100_000, i) for i in range(10)])
    table = Table(
        "Streams beside the batch fit, 1,000,000 x 50",
        ["features", "numbers", "batch rows/s", "stream rows/s", "ratio"],
    )
    for dtype in (np.float32, np.float64):
        rows = X.astype(dtype)
        for kind in MAPS:
            template = estimator(kind)
            times: dict[str, list[float]] = {"batch": [], "stream": []}
            for _ in range(2):
                began = time.perf_counter()
                template.fit(rows)
                times["batch"].append(time.perf_counter() - began)
                began = time.perf_counter()
                model = IncrementalKernelPCA(20, kernel=template.kernel, approximation=template.approximation)
                for start in range(0, len(rows), 10_000):
                    model.partial_fit(rows[start : start + 10_000])
                assert len(model.eigenvalues_) == 20  # which works out the model
                times["stream"].append(time.perf_counter() - began)
            batch, streamed = (len(rows) / min(times[name]) for name in ("batch", "stream"))
            table.add(kind, np.dtype(dtype).name, f"{batch:.3g}", f"{streamed:.3g}", streamed / batch)
    table.write("scaling_stream")


PARTS = {"growth": growth, "overhead": overhead, "exact": exact, "stream": stream}


def main() -> None:
    """Run the parts that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument(
        "--one", nargs=4, metavar=("KIND", "PATH", "WHERE", "REPEATS"), help="a single fit, for the parts"
    )
    chosen = parser.parse_args()
    if chosen.one:
        kind, path, where, repeats = chosen.one
        print(json.dumps(one(kind, path, where, int(repeats))))
        return
    with tempfile.TemporaryDirectory() as folder:
        for part in chosen.parts:
            PARTS[part](Path(folder))


if __name__ == "__main__":
    main()
