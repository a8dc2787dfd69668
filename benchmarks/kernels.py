"""Kernel matrices beside scikit-learn's and scipy's, on the same data and cores, in turns.

python benchmarks/kernels.py [--n 3000] [--d 128]
"""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise

from gram import best_in_turns, peak_extra_bytes
from kernelpca.kernels import RBF, ChiSquare, ExponentialChiSquare, HistogramIntersection, JensenShannon, Laplacian


def main() -> None:
    """Measure and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=3000)
    parser.add_argument("--d", type=int, default=128)
    options = parser.parse_args()
    X = np.random.default_rng(0).random((options.n, options.d))
    pairs = [
        (RBF(0.1), "sklearn rbf_kernel", partial(pairwise.rbf_kernel, X, X, gamma=0.1)),
        (Laplacian(0.1), "sklearn laplacian_kernel", partial(pairwise.laplacian_kernel, X, X, gamma=0.1)),
        (ExponentialChiSquare(0.1), "sklearn chi2_kernel", partial(pairwise.chi2_kernel, X, X, gamma=0.1)),
        (ChiSquare(), "sklearn additive_chi2_kernel", partial(pairwise.additive_chi2_kernel, X, X)),
        (HistogramIntersection(), "scipy cdist cityblock", partial(cdist, X, X, "cityblock")),
        (JensenShannon(), "scipy cdist jensenshannon", partial(cdist, X, X, "jensenshannon")),
    ]
    print(f"{options.n} x {options.n} matrices of {options.d} features, float64")
    print("| kernel | seconds | peer | seconds | times faster | one core | extra memory |")
    print("|---|---|---|---|---|---|---|")
    for kernel, name, peer in pairs:
        kernel(X, X)  # compile
        ours, alone, theirs = best_in_turns(
            [partial(kernel, X, X), partial(kernel, X, X, threads=1), peer],
            repeats=2,
        )
        extra = peak_extra_bytes(partial(kernel, X, X)) - 8 * options.n**2
        print(
            f"| {type(kernel).__name__} | {ours:.3f} | {name} | {theirs:.3f} | {theirs / ours:.1f} | "
            f"{alone / ours:.1f} x slower | {extra / 2**20:.1f} MiB |"
        )


if __name__ == "__main__":
    main()
