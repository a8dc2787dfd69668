"""Eigensolvers side by side: the Gram matrix is given, the captured variance is the target.

Each contestant is stopped as soon as its own true eta (dual cost for L-BFGS, captured variance for the others) is below
the target, as in the dualization paper; what cannot be stopped so is run with settings that grow until it is. Beside it
stand our own stopping rules, which know nothing of the exact answer.

Then fits that keep a fraction of the variance, by every solver that can be asked for.

    python benchmarks/eigensolvers.py [--all] [--match TEXT] [--components 20] [--limit 20]
    python benchmarks/eigensolvers.py --fractions
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.sparse.linalg import eigsh, lobpcg
from sklearn.datasets import load_digits
from sklearn.utils.extmath import _randomized_eigsh

from kernelpca import KernelPCA
from kernelpca.features import KernelSketch
from kernelpca.gram import DenseGram
from kernelpca.solvers import SOLVERS, BlockKrylov, Lbfgs, Solution
from tables import Table, prepare, timed
from tasks import MORE, REQUIRED, Task, noise

TARGETS = (1e-2, 1e-4)
FRACTIONS = (0.5, 0.9, 0.99)
ROWS = (200, 500, 1000, 2000)


def eta_of(values: np.ndarray, best: float) -> float:
    """Return the relative error of the captured variance."""
    return abs(float(np.sum(values)) - best) / best


def stopped_at(best: float, target: float) -> Callable[[object], bool]:
    """Return a callback that stops a solver once its true eta is below the target."""
    return lambda event: event.captured is not None and abs(event.captured - best) / best < target


def ours(gram: DenseGram, s: int, criterion: str, tol: float, callback: object = None) -> Solution:
    """Solve with block Krylov."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # stopped by the callback, on purpose
        return BlockKrylov(criterion=criterion, max_iter=30).solve(gram, s, tol=tol, callback=callback)


def dual(gram: DenseGram, s: int, best: float, target: float) -> tuple[float, int]:
    """Return the seconds and passes of the paper's method until its dual cost is within the target."""
    prepare()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        history = Lbfgs().solve(gram, s, tol=0, callback=stopped_at(best, target)).history
    return history[-1].seconds, history[-1].passes


def growing(
    run: Callable[[int], np.ndarray], settings: list[int], best: float, target: float, limit: float
) -> tuple[float, str]:
    """Return the seconds of the first run that is within the target, and its setting."""
    spent = 0.0
    for setting in settings:
        seconds, values = timed({"": partial(run, setting)}, 1)[""]
        if eta_of(values, best) < target:
            return seconds, str(setting)
        spent += seconds
        if spent > limit:
            break
    return float("nan"), f"not within {limit:.0f} s"


def contest(task: Task, s: int, limit: float, table: Table, repeats: int = 3) -> None:
    """Run all contestants on one task."""
    K = task.matrix()
    n = len(K)
    rng = np.random.default_rng(0)
    gram = DenseGram(K, positive_definite=True, symmetric=True, cache=K.nbytes // 3)
    lanczos = partial(eigsh, K, k=s, v0=rng.standard_normal(n))
    # a second opinion: one vector has every eigenvalue once, and misses copies
    best = max(float(lanczos()[0].sum()), float(ours(gram, s, "residual", 1e-8).values.sum()))
    ours(gram, s, "variance", 1e-2)  # warm up
    for target in TARGETS:
        run = partial(ours, gram, s, "variance", min(target, 1e-5), stopped_at(best, target))
        turns = timed({"ours": run, "eigsh": lanczos}, repeats)
        mine, answer = turns["ours"]
        true = eta_of(answer.values, best)

        def row(
            name: str, seconds: float, passes: object, eta: object, mine: float = mine, target: float = target
        ) -> None:
            table.add(task.name, f"{target:.0e}", name, seconds, passes, eta, seconds / mine)

        row("kernelpca, stopped at eta", mine, answer.certificate.passes, f"{true:.1e}")
        for criterion, tries in (("variance", repeats), ("certified", 1)):
            seconds, own = timed({"": partial(ours, gram, s, criterion, target)}, tries)[""]
            reached = "" if own.certificate.satisfied else ", not reached"
            figures = f"{eta_of(own.values, best):.1e} (says {own.certificate.achieved:.1e}{reached})"
            row(f"kernelpca, own rule: {criterion}", seconds, own.certificate.passes, figures)
        seconds, passes = dual(gram, s, best, target)
        row("L-BFGS on the dual (the paper)", seconds, passes, f"< {target:.0e}")
        row("eigsh, default", turns["eigsh"][0], "", "0")
        run = partial(eigsh, K, k=s, tol=target, v0=rng.standard_normal(n))
        seconds, loose = timed({"": run}, 1)[""]
        row(f"eigsh, tol={target:.0e}", seconds, "", f"{eta_of(loose[0], best):.1e}")
        X0 = rng.standard_normal((n, s))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seconds, setting = growing(
                lambda m, X0=X0: lobpcg(K, X0.copy(), largest=True, tol=1e-12, maxiter=m)[0],
                [2, 4, 8, 12, 16, 24, 32, 48, 64, 96],
                best,
                target,
                limit,
            )
        row("lobpcg", seconds, f"maxiter {setting}", f"< {target:.0e}" if seconds == seconds else "-")
        seconds, setting = growing(
            lambda p: _randomized_eigsh(K, s, n_oversamples=p, random_state=0)[0],
            [10, 20, 40, 80, 160, 320, 640],
            best,
            target,
            limit,
        )
        row(
            "scikit-learn randomized",
            seconds,
            f"oversampling {setting}",
            f"< {target:.0e}" if seconds == seconds else "-",
        )


def kept(X: np.ndarray, fraction: float, parameters: dict[str, object], limit: float) -> KernelPCA:
    """Fit a model that keeps this fraction of the variance, or what it has when the time is over."""
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # stopped by the callback, on purpose
        model = KernelPCA(fraction, **parameters, callback=lambda event: time.perf_counter() - began > limit)
        return model.fit(X)


def fractions(limit: float) -> None:
    """Compare solvers where a fraction of the variance says how many components there are."""
    ways = {name: {"solver": name} for name in ("auto", *SOLVERS)} | {"sketch": {"approximation": KernelSketch(200)}}
    table = Table(
        "A fraction of the variance: time over that of the fastest, and who found it if that is another",
        ["data", "rows", "fraction", "components", "seconds of the fastest", *ways],
    )
    digits = load_digits().data / 16
    more = digits[:300] + 0.1 * np.random.default_rng(0).standard_normal((300, 64))
    sets = {"digits": np.random.default_rng(1).permutation(np.vstack([digits, more])), "noise": noise(max(ROWS), 50)}
    kept(digits[:150], 0.5, {}, limit)  # warm up
    for name, X in sets.items():
        for n in ROWS:
            for fraction in FRACTIONS:
                runs = {way: partial(kept, X[:n], fraction, given, limit) for way, given in ways.items()}
                found = timed(runs, 3 if n < 2000 else 1, present=8)
                best = min(seconds for seconds, _ in found.values())
                cells = []
                for way, (seconds, model) in found.items():
                    who = type(model.plan_.solver).__name__
                    handed = "" if way == "auto" or "hands over" not in model.plan_.reason else f" {who}"
                    cells.append(f"{seconds / best:.1f}{handed}")
                table.add(name, n, fraction, found["dense"][1].n_components_, f"{best:.3f}", *cells)
                table.write("eigensolvers_fractions")


def main() -> None:
    """Run the contest and write its tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="all tasks, not only the three of the claims")
    parser.add_argument("--components", type=int, default=20)
    parser.add_argument("--limit", type=float, default=20.0, help="seconds a contestant may take to find its setting")
    parser.add_argument("--match", default="", help="only tasks whose name contains this text")
    parser.add_argument("--fractions", action="store_true", help="only fits that keep a fraction of the variance")
    options = parser.parse_args()
    if options.fractions:
        fractions(options.limit)
        return
    table = Table(
        "Eigensolvers on a given Gram matrix",
        ["task", "target eta", "contestant", "seconds", "passes or setting", "eta reached", "times ours"],
    )
    first = REQUIRED[0]
    tasks = [(task, options.components, 3) for task in REQUIRED]
    if options.all:
        tasks += [(task, options.components, 1) for task in MORE]
        tasks += [(Task(f"{first.name}, s = {s}", first.rows, first.kernel), s, 1) for s in (5, 50, 100, 200)]
    for task, components, repeats in tasks:
        if options.match in task.name:
            contest(task, components, options.limit, table, repeats)
            table.write("eigensolvers_all" if options.all else "eigensolvers")
    fractions(options.limit)


if __name__ == "__main__":
    main()
