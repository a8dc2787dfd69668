"""Solvers of the dual of kernel PCA, each beside its plain form.

L-BFGS on the paper's tasks beside scipy's on the formula, written down in NumPy: same start, same memory, and each
stopped as soon as its own true eta = |d - d_opt| / |d_opt| of the dual cost d is below the target. And the
difference-of-convex-functions algorithm with extrapolated steps beside plain ones, in passes to the same criticality.

    python benchmarks/dual.py [--part lbfgs] [--match TEXT] [--components 20] [--repeats 3]
    python benchmarks/dual.py --part dca [--match TEXT] [--splits 5]
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby

import numpy as np
from scipy.optimize import minimize
from scipy.sparse.linalg import eigsh
from sklearn.datasets import load_iris

from eigensolvers import TARGETS, stopped_at
from kernelpca.gram import CenteredGram, DenseGram, Gram
from kernelpca.kernels import RBF
from kernelpca.objectives import EpsilonInsensitive, Huber, Objective
from kernelpca.solvers import Dca, Dense, Lbfgs, Solution, dual
from tables import Table, timed
from tasks import MORE, REQUIRED, Task

LONG = ("15000", "Reuters")  # tasks that take minutes
TOLERANCES = (1e-4, 1e-6, 1e-8)
HALF = 0.5  # of the plain passes: what extrapolation should need at most
LIMIT = 20_000  # passes
SHORT = 20  # plain passes of which little can be saved
SAME = 1e-6  # relative difference of losses up to which two solutions count as one


# L-BFGS


class Reached(Exception):
    """The target is reached."""


def straightforward(K: np.ndarray, s: int, best: float, target: float) -> int:
    """Minimize 1/2 tr H'H - tr sqrt(H'K H) until -2 times it is within the target of `best`; return the products."""
    n, products = len(K), 0

    def cost(h: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal products
        products += 1
        H = h.reshape(n, s)
        KH = K @ H
        values, U = np.linalg.eigh(H.T @ KH)
        roots = np.sqrt(values)
        d = 0.5 * np.vdot(H, H) - roots.sum()
        if abs(-2 * d - best) / best < target:
            raise Reached
        return d, (H - KH @ (U / roots @ U.T)).ravel()

    start = np.random.default_rng(0).standard_normal((n, s)).ravel()
    options = {"maxcor": 10, "maxiter": 1000, "maxfun": 1000, "ftol": 0.0, "gtol": 0.0}
    try:
        minimize(cost, start, jac=True, method="L-BFGS-B", options=options)
    except Reached:
        return products
    raise SystemExit(f"scipy did not reach {target:.0e} in {products} products.")


def ours(gram: DenseGram, s: int, best: float, target: float) -> int:
    """The same with `Lbfgs`, which also gives eigenpairs and a certificate."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # stopped by the callback, on purpose
        solution = Lbfgs().solve(gram, s, tol=0, rng=np.random.default_rng(0), callback=stopped_at(best, target))
    return solution.certificate.passes


def race(task: Task, s: int, table: Table, repeats: int) -> None:
    """Run both on one task, in turns."""
    K = task.matrix()
    gram = DenseGram(K, positive_definite=True, symmetric=True)
    best = float(eigsh(K, k=s, v0=np.random.default_rng(0).standard_normal(len(K)))[0].sum())
    ours(gram, s, best, 0.5)  # warm up
    for target in TARGETS:
        runs = {
            "kernelpca": partial(ours, gram, s, best, target),
            "scipy": partial(straightforward, K, s, best, target),
        }
        turns = timed(runs, repeats)
        (mine, passes), (theirs, products) = turns["kernelpca"], turns["scipy"]
        each = (theirs / products) / (mine / passes)
        table.add(task.name, f"{target:.0e}", mine, theirs, passes, products, each, theirs / mine)


def lbfgs(match: str, s: int, repeats: int, everything: bool) -> None:
    """Race on the required tasks, and on the others that take no minutes."""
    table = Table(
        f"L-BFGS on the dual, s = {s}",
        [
            "task",
            "target eta",
            "kernelpca, s",
            "scipy, s",
            "passes",
            "products of scipy",
            "seconds a product, scipy / kernelpca",
            "seconds, scipy / kernelpca",
        ],
        notes=["Times of kernelpca are those of the whole answer: eigenpairs and certificate included."],
    )
    for task in [*REQUIRED, *MORE]:
        if match in task.name and (everything or not any(long in task.name for long in LONG)):
            race(task, s, table, repeats)
            table.write("dual_lbfgs")


# the difference-of-convex-functions algorithm


@dataclass(frozen=True)
class Case:
    """A matrix, an objective and a start, and the group that it is counted in."""

    group: str
    name: str
    gram: Gram
    s: int
    objective: Objective
    start: str


def contaminated_iris(seed: int, tau: float) -> Gram:
    """Return the centered matrix of 120 rows of Iris, 8% of them multiplied by normal numbers of deviation tau."""
    rng = np.random.default_rng(seed)
    X = load_iris().data[rng.permutation(150)[:120]]
    spoiled = rng.choice(len(X), int(0.08 * len(X)), replace=False)
    X[spoiled] *= tau * rng.standard_normal((len(spoiled), 1))
    return CenteredGram(DenseGram(RBF(0.5)(X), positive_definite=True, symmetric=True))


def robust_cases(splits: int) -> Iterator[Case]:
    """Huber's objective on contaminated Iris."""
    for tau in (10.0, 100.0):
        grams = [contaminated_iris(seed, tau) for seed in range(splits)]
        for objective in (Huber("0.8max", "2"), Huber("0.6max", "1")):
            for start in ("square", "random"):
                group = f"Iris, tau = {tau:g}, Huber {objective.norm}, {start} start"
                for seed, gram in enumerate(grams):
                    for s in range(1, 6):
                        yield Case(group, f"split {seed}, s = {s}", gram, s, objective, start)


def sparse_cases(splits: int) -> Iterator[Case]:
    """The epsilon-insensitive objective on normal rows, epsilon the median of what the square solution has."""
    for width in (40, 80):
        grams = []
        for seed in range(splits):
            X = np.random.default_rng(seed).standard_normal((1000, 20))
            grams.append(CenteredGram(DenseGram(RBF(1 / width)(X), positive_definite=True, symmetric=True)))
        scores = []
        for gram in grams:
            square = Dense().solve(gram, 15)
            scores.append(square.vectors * np.sqrt(square.values))
        for norm in ("2", "inf"):
            for start in ("square", "random"):
                group = f"normal, RBF(1/{width}), epsilon {norm}, {start} start"
                for seed, (gram, Y) in enumerate(zip(grams, scores, strict=True)):
                    for s in (5, 10, 15):
                        sizes = np.linalg.norm(Y[:, :s], axis=1) if norm == "2" else np.abs(Y[:, :s])
                        objective = EpsilonInsensitive(float(np.median(sizes)), norm)
                        yield Case(group, f"matrix {seed}, s = {s}", gram, s, objective, start)


def passes_to(case: Case, accelerate: bool) -> tuple[np.ndarray, Solution]:
    """Return the passes after which the criticality was first within each tolerance, of one run to the last of them."""
    solver = Dca(start=case.start, accelerate=accelerate, bound=False, max_iter=LIMIT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rng = np.random.default_rng(0)
        solution = solver.solve(case.gram, case.s, objective=case.objective, tol=TOLERANCES[-1], rng=rng)
    before = solution.history[0].passes - 1  # those of the square solution
    first = [
        next((event.passes - before for event in solution.history if event.relative_residual <= tol), np.nan)
        for tol in TOLERANCES
    ]
    return np.array(first), solution


def compare(group: str, cases: list[Case], table: Table) -> None:
    """Add the rows of one group, and a note for each case that is above half or cannot be compared.

    Where plain steps end before a tolerance, their passes until then are what is compared with.
    """
    counts = []
    for case in cases:
        (fast, found), (plain, other) = passes_to(case, True), passes_to(case, False)
        losses = found.certificate.loss, other.certificate.loss
        if found.certificate.rank == 0 and other.certificate.rank == 0:
            table.notes.append(f"- {group}, {case.name}: no row is left, after {fast[0]:g} and {plain[0]:g} passes")
        elif abs(losses[0] - losses[1]) > SAME * max(*np.abs(losses)):
            text = f"loss {losses[0]:.4g} after {fast[-1]:g} passes, {losses[1]:.4g} after {plain[-1]:g}"
            table.notes.append(f"- {group}, {case.name}: different solutions, {text}")
        else:
            counts.append((case.name, fast, np.where(np.isnan(plain), other.history[-1].passes, plain)))
    for which, tol in enumerate(TOLERANCES):
        mine, theirs = np.array([(fast[which], plain[which]) for _, fast, plain in counts]).reshape(-1, 2).T
        ratios = np.where(np.isnan(mine), np.inf, mine / theirs)
        for (name, *_), a, b, ratio in zip(counts, mine, theirs, ratios, strict=True):
            if ratio > HALF:
                table.notes.append(f"- {group}, {name}, {tol:.0e}: {a:g} beside {b:g}")
        if len(ratios):
            medians = [float(np.median(x)) for x in (mine, theirs, ratios)]
            above = ratios > HALF
            long = int((above & (theirs > SHORT)).sum())
            table.add(group, f"{tol:.0e}", len(ratios), *medians, float(ratios.max()), int(above.sum()), long)


def count_passes(splits: int, match: str) -> None:
    """Count passes with and without extrapolation, group by group."""
    dual.STALLED = LIMIT  # so that a slow descent goes on
    table = Table(
        "DCA with extrapolated steps beside plain ones, in passes to the same criticality",
        [
            "group",
            "criticality",
            "cases",
            "passes",
            "plain",
            "ratio, median",
            "worst",
            "above half",
            f"of these plain > {SHORT}",
        ],
        notes=["Passes are medians. Cases above half of the plain passes, and cases that cannot be compared:", ""],
    )
    for group, cases in groupby(
        chain(robust_cases(splits), sparse_cases((splits + 1) // 2)), key=lambda case: case.group
    ):
        if match in group:
            compare(group, list(cases), table)
            table.write("dual_dca")
    print("\n".join(table.notes))


def main() -> None:
    """Run one part and write its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=["lbfgs", "dca"], default="lbfgs")
    parser.add_argument("--match", default="", help="only tasks or groups whose name contains this text")
    parser.add_argument("--components", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--all", action="store_true", help="the tasks that take minutes too")
    parser.add_argument("--splits", type=int, default=5, help="random splits of Iris, and twice the random matrices")
    options = parser.parse_args()
    if options.part == "dca":
        count_passes(options.splits, options.match)
    else:
        lbfgs(options.match, options.components, options.repeats, options.all)


if __name__ == "__main__":
    main()
