"""What `model.compress` is worth: anchors, bytes, time of a transform, errors stated and met, beside other ways.

python benchmarks/compression.py [--parts sizes ways spectra] [--quick]
"""

from __future__ import annotations

import argparse
import pickle
import time
import warnings
from collections.abc import Iterator
from functools import partial

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from kernelpca import KernelPCA
from kernelpca.estimators.compression import expansion_of, score_bounds
from kernelpca.estimators.matching_pursuit import MatchingPursuit
from kernelpca.estimators.reduced_set import Expansion, move_points
from kernelpca.features import Nystrom
from kernelpca.features.landmarks import RPCholesky, Uniform
from kernelpca.gram import TiledGram
from kernelpca.kernels import RBF, Laplacian
from tables import Table, timed
from tasks import median, mnist, usps

COMPONENTS = 20
TOLERANCES = (0.05, 0.01, 0.002)
NEW = 2000  # rows that no model has seen
TURNS = 7  # of a transform


def data_sets(quick: bool) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield names, training rows and new rows."""
    X = load_digits().data[np.random.default_rng(0).permutation(1797)]
    yield "digits 1400 x 64", X[:1400], X[1400:]
    X = usps()[np.random.default_rng(0).permutation(9298)]
    n = 2000 if quick else 7298
    yield f"USPS {n} x 256", X[:n], X[-NEW:]
    n = 2000 if quick else 10_000
    X = mnist(n + NEW)
    yield f"MNIST {n} x 784", X[:n], X[n:]


def relative_change(A: np.ndarray, B: np.ndarray, model: KernelPCA, n: int) -> float:
    """Return the root mean square difference of scores over the root mean square score, in the worst component."""
    return float((np.sqrt(np.square(A - B).mean(axis=0)) / np.sqrt(model.eigenvalues_ / n)).max())


def turned(scores: np.ndarray, toward: np.ndarray) -> np.ndarray:
    """Return scores on axes of the same subspace that bring them nearest to others."""
    U, _, V = np.linalg.svd(scores.T @ toward)
    return scores @ (U @ V)


# how small for which error


def run_sizes(quick: bool) -> None:
    """Anchors, bytes and time of models within tolerances, and what was promised."""
    table = Table(
        f"Compressed models beside exact ones: RBF of median width, {COMPONENTS} components",
        [
            "data", "tol", "anchors", "fewer", "bytes", "transform, exact / compressed", "error, anchors", "new rows",
            "|v' - v|", "change / bound, new rows", "captured / exact", "Nyström of that size", "its scores",
            "compress / fit",
        ],
    )  # fmt: skip
    for name, train, new in data_sets(quick):
        kernel = median(train)
        fit = partial(KernelPCA(COMPONENTS, kernel=kernel).fit, train)
        began = time.perf_counter()
        model = fit()
        fitted = time.perf_counter() - began
        before, n = model.transform(new), len(train)
        for moving in (None, False):
            for tol in TOLERANCES:
                began = time.perf_counter()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # where all anchors are kept the table says so
                    small = model.compress(tol, move=moving)
                took = time.perf_counter() - began
                stated = small.certificate_.compression
                change = np.abs(small.transform(new) - before)
                runs = {"exact": partial(model.transform, new), "small": partial(small.transform, new)}
                turns = timed(runs, TURNS, present=2**26)
                landmarks = KernelPCA(COMPONENTS, kernel=kernel, approximation=Nystrom(stated.anchors)).fit(train)
                theirs = relative_change(turned(landmarks.transform(new), before), before, model, n)
                table.add(
                    name,
                    f"{tol:g}" + (", rows" if moving is False else ""),
                    stated.anchors,
                    f"{n / stated.anchors:.1f}",
                    f"{len(pickle.dumps(model)) / len(pickle.dumps(small)):.1f}",
                    f"{turns['exact'][0] / turns['small'][0]:.1f}",
                    f"{stated.error:.2%}",
                    f"{relative_change(small.transform(new), before, model, n):.2%}",
                    f"{stated.off.max():.3f}",
                    f"{(change / score_bounds(small, new)).max():.2f}",
                    f"{small.explained_variance_ratio_.sum() / model.explained_variance_ratio_.sum():.4f}",
                    f"{landmarks.explained_variance_ratio_.sum() / model.explained_variance_ratio_.sum():.4f}",
                    f"{theirs:.1%}",
                    f"{took / fitted:.1f}",
                )
    table.notes = [
        "Errors are root mean squares over those of the scores, in the worst component. Fewer and bytes (of a pickle):",
        "exact over compressed. Rows: anchors stay rows of the data (move=False). |v' - v|: the bound is this times",
        "the distance of a sample from the mean in feature space; change / bound is the largest of all new rows.",
        "Nyström: as many landmarks, captured variance over exact, and the error of its scores once its axes are",
        "turned to ours.",
        f"Shortest of {TURNS} turns of each transform.",
    ]
    table.write("compression_sizes")


# ways to choose points


def run_ways(quick: bool) -> None:
    """The same number of points, chosen in different ways, as they are and moved."""
    table = Table(
        f"Points that stand for all rows: RBF of median width, {COMPONENTS} components, projected on their span",
        ["data", "points", "chosen by", "error as chosen", "|v' - v|", "error once moved", "|v' - v| once moved"],
    )
    for name, train, _ in data_sets(quick):
        train = train[:4000].astype(np.float64)
        model = KernelPCA(COMPONENTS, kernel=median(train)).fit(train)
        expansion = expansion_of(model, model._decomposition.features.anchors)
        for m in (50, 150):
            for way, points in ways(expansion, m):
                cells = []
                for projection in (expansion.onto(points), move_points(expansion, points, 60)):
                    scores = projection.products(expansion.kernel, expansion.rows)[:, :-1] + projection.b
                    cells.append(f"{relative_change(scores, model.transform(train), model, len(train)):.2%}")
                    cells.append(f"{np.sqrt(2 - 2 * projection.overlap.diagonal()).max():.3f}")
                table.add(name.split()[0] + f" {len(train)}", m, way, *cells)
    table.notes = [
        "Error: root mean square change of the training scores over theirs, worst component. Moved: 60 steps."
    ]
    table.write("compression_ways")


def ways(expansion: Expansion, m: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield points chosen in different ways."""
    rows, rng = expansion.rows, np.random.default_rng(0)
    pursuit = MatchingPursuit(expansion, rows, expansion.products(rows))
    pursuit.extend(m)
    yield "matching pursuit", rows[pursuit.order]
    gram = TiledGram(RBF(expansion.kernel.kernel.gamma), rows)  # the kernel itself: it is kept less one
    yield "randomly pivoted Cholesky", rows[RPCholesky().select(gram, m, rng)]
    yield "k-means", KMeans(m, n_init=1, random_state=0).fit(rows).cluster_centers_
    yield "chance", rows[Uniform().select(gram, m, rng)]


# where it does not pay


def run_spectra(quick: bool) -> None:
    """How many anchors one percent takes as the kernel gets narrower, and on noise."""
    table = Table(
        "Anchors for 1%: 10 components of 2000 rows, as kernels get narrower, and on noise",
        ["data", "kernel", "variance in 10 components", "anchors", "rows only"],
    )
    digits = usps()[np.random.default_rng(0).permutation(9298)][:2000].astype(np.float64)
    noise = np.random.default_rng(0).standard_normal((2000, 64))
    gamma = median(digits).number()
    cases = [
        *(
            ("USPS", f"RBF, {times:g} times the median's gamma", digits, RBF(times * gamma))
            for times in (0.1, 1, 5, 20)
        ),
        ("USPS", "Laplacian (Manhattan), median", digits, Laplacian("median").resolve(digits)),
        ("normal 64 columns", "RBF, median", noise, median(noise)),
    ]
    for name, words, X, kernel in cases:
        model = KernelPCA(10, kernel=kernel).fit(X)
        counts = []
        for moving in (None, False):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                small = model.compress(0.01, move=moving)
            counts.append(str(small.certificate_.compression.anchors))
        if small.certificate_.compression.rows is not None and not kernel.differentiable:
            counts[0] = "cannot be moved"
        table.add(name, words, f"{model.explained_variance_ratio_.sum():.3f}", *counts)
    table.write("compression_spectra")


PARTS = {"sizes": run_sizes, "ways": run_ways, "spectra": run_spectra}


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--quick", action="store_true", help="fewer rows")
    arguments = parser.parse_args()
    for part in arguments.parts:
        PARTS[part](arguments.quick)


if __name__ == "__main__":
    main()
