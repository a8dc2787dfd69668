"""How near the tiled kernel product comes to a plain matrix product, and how much memory it takes.

Both run in this process on the same threads. The plain product is a float32 GEMM with the flops that half the
tiles need (n^2 d); the tiled one also takes exponentials and multiplies by the block.

    python benchmarks/gram.py [--n 20000] [--d 256] [--p 20]
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable

import numpy as np

from kernelpca.gram import TiledGram
from kernelpca.gram.budget import BUDGET
from kernelpca.kernels import RBF


def best_in_turns(runs: list[Callable[[], object]], repeats: int = 11) -> list[float]:
    """Return the shortest time of each run, in seconds; they take turns, so that none has the quieter machine."""
    best = [float("inf")] * len(runs)
    for _ in range(repeats):
        for i, run in enumerate(runs):
            start = time.perf_counter()
            run()
            best[i] = min(best[i], time.perf_counter() - start)
    return best


def peak_extra_bytes(run: Callable[[], object]) -> int:
    """Return the most memory that `run` held at once, as NumPy reports it to tracemalloc."""
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--d", type=int, default=256)
    parser.add_argument("--p", type=int, default=20)
    options = parser.parse_args()
    n, d, p = options.n, options.d, options.p
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype=np.float32)
    V = rng.standard_normal((n, p), dtype=np.float32)
    gram = TiledGram(RBF().resolve(X), X)
    TiledGram(gram.kernel, X[:2048]).matmat(V[:2048])  # warm up threads and BLAS

    extra = peak_extra_bytes(lambda: gram.matmat(V))
    out = np.empty((2048, n), dtype=np.float32)
    flops = n * n * d  # half the tiles, a multiplication and an addition counted as two
    repeats = max(1, round(flops / (2 * 2048 * n * d)))
    tiled, plain = best_in_turns(
        [lambda: gram.matmat(V), lambda: [np.matmul(X[:2048], X.T, out=out) for _ in range(repeats)]]
    )
    plain *= flops / (repeats * 2 * 2048 * n * d)

    print(f"rows {n}, features {d}, columns {p}, float32")
    print(f"plain product of the same flops : {plain:7.3f} s  {flops / plain / 1e9:6.1f} Gflop/s")
    print(f"tiled kernel product            : {tiled:7.3f} s  {flops / tiled / 1e9:6.1f} Gflop/s")
    print(f"rate of the tiled product       : {plain / tiled:7.1%}  (wanted: at least 60%)")
    print(f"peak extra memory               : {extra / 2**20:7.1f} MiB (budget {BUDGET / 2**20:.0f} MiB)")


if __name__ == "__main__":
    main()
