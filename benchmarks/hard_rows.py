"""Does rounding ever give a wrong answer with a satisfied certificate? Thousands of hard problems, and the truth.

python benchmarks/hard_rows.py [--count 5000] [--first 0]

Every kernel, rows of magnitudes from 1e-150 to 1e150, offsets, clusters, sentinels, twins, float32 and float64,
weights, with and without centring, landmarks. Truth comes from direct differences in extended precision
(tests/hard_rows.py makes the problems). A problem is also put to a plain computation, the one that scikit-learn makes,
for comparison.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from hard_rows import EXTENDED, SHAPES, attempt, problem, true_spectrum, true_values
from kernelpca.kernels import RBF
from tables import Table

VERDICTS = ("right", "said", "refused", "wrong")


def plain_is_wrong(p, tol=1e-4):
    """Whether eigenvalues of the plain Gaussian matrix are off by more than tol, with nobody to say so."""
    kernel = p.kernel.resolve(p.X)
    K = rbf_kernel(p.X, gamma=kernel.number()).astype(np.float64)
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    found = np.linalg.eigvalsh(K)[::-1][: p.k]
    true = true_spectrum(true_values(kernel, p.X, p.X, less_one=True), None, True)[: p.k]
    return bool((np.abs(found - true) > 2 * tol * np.abs(true) + 1e-6 * true[0]).any())


def main():
    """Try problems one after the other; the exit code says whether any answer was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--first", type=int, default=0)
    arguments = parser.parse_args()
    if not EXTENDED:
        sys.exit("numpy.longdouble is no wider than float64 on this machine: there is no truth to compare with.")
    warnings.simplefilter("ignore")
    verdicts = {shape: Counter() for shape in SHAPES}
    plain = Counter()
    for seed in range(arguments.first, arguments.first + arguments.count):
        p = problem(seed)
        outcome = attempt(p)
        verdicts[p.shape][outcome.verdict] += 1
        if outcome.verdict == "wrong":
            print(f"{p}: {outcome.detail}")
        if type(p.kernel) is RBF and p.center and p.weights is None:
            plain["problems"] += 1
            plain["wrong"] += plain_is_wrong(p)
    table = Table("Rounding: hard problems, and what came of them", ["rows", *VERDICTS])
    for shape, counts in verdicts.items():
        table.add(shape, *(str(counts[verdict]) for verdict in VERDICTS))
    total = sum(verdicts.values(), Counter())
    table.add("all", *(str(total[verdict]) for verdict in VERDICTS))
    of_plain = (
        f"{plain['wrong']} of {plain['problems']} Gaussian matrices made by the plain formula give wrong eigenvalues"
    )
    table.notes.append(f"{of_plain}, and nothing says so.")
    print(table.notes[0])
    table.write("hard_rows")
    sys.exit(total["wrong"] > 0)


if __name__ == "__main__":
    main()
