"""How long `import kernelpca.estimators` takes beside `import sklearn.decomposition`, in turns, best of several.

python benchmarks/import_time.py [--repeats 7]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time


def seconds(module: str) -> float:
    """Return the time of a fresh interpreter that imports `module`."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
    return time.perf_counter() - start


def measure(repeats: int) -> tuple[float, float]:
    """Return the best times of kernelpca and of sklearn.decomposition, run in turns."""
    ours, theirs = [], []
    for _ in range(repeats):
        ours.append(seconds("kernelpca.estimators"))
        theirs.append(seconds("sklearn.decomposition"))
    return min(ours), min(theirs)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    ours, theirs = measure(parser.parse_args().repeats)
    print(f"import kernelpca.estimators  : {ours:.2f} s")
    print(f"import sklearn.decomposition : {theirs:.2f} s")
    print(f"ratio                        : {ours / theirs:.2f}  (wanted: below 2)")


if __name__ == "__main__":
    main()
