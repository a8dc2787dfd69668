"""Many descents at once beside scipy: how low each pre-image's objective ends, and what it costs.

    python benchmarks/descents.py [--points 100] [--only TEXT]

Every objective that pre-images minimize, on five data sets, 200 training rows and 15 components each: scores of rows
that the model has not seen, with noise, and scores drawn at random with the deviations of the components, as many of
one as of the other. Each point is minimized by the library, all at once, and by scipy's L-BFGS-B from the same start,
alone, with values over that at the start (so that its tolerances mean the same everywhere), its own tolerances, and as
many steps as the method allows.

Where there are several minima, two methods find different ones. So there is a null model: scipy itself, from a start
that is moved by a thousandth of its length. And scipy goes on from where the library ended: where it comes more than
1% lower that was no minimum.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.optimize import minimize as scipy_minimize
from sklearn.datasets import load_digits

from kernelpca import KernelPCA
from kernelpca.datasets import load_mnist, load_usps
from kernelpca.features import Nystrom, RandomFourier, RandomReLU
from kernelpca.kernels import KERNELS, RBF, ArcCosine
from kernelpca.preimage import Gradient, Preimage, Weights
from kernelpca.preimage.quasi_newton import Minimum, minimize
from tables import Table

TRAIN, COMPONENTS = 200, 15
BOUNDS = (0.05, 0.6)  # columns lie from 0 to 1: these cut off a part of most answers
NEAR = 0.01  # of a value: what is no nearer counts as another
MOVED = 1e-3  # of a start's length: how far it is moved for the null model
NOISE = 0.1
NARROW = 5.0  # times the usual gamma


def data_sets(points: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return training rows and other rows of each, all columns from 0 to 1."""
    folder = Path(os.environ["KERNELPCA_DATA"])
    table = np.load(folder / "tennessee_eastman.npz")["train"]
    low, high = table.min(axis=0), table.max(axis=0)
    rows = {
        "digits": load_digits(return_X_y=True)[0] / 16,
        "USPS": load_usps()[0].astype(np.float64),
        "Frey faces": np.load(folder / "frey_faces.npz")["images"].reshape(1965, -1) / 255,
        "Tennessee Eastman": (table - low) / (high - low),
        "MNIST": load_mnist()[0].astype(np.float64) / 255,
    }
    rng = np.random.default_rng(0)
    chosen = {name: X[rng.choice(len(X), TRAIN + points, replace=False)] for name, X in rows.items()}
    return {name: (X[:TRAIN], X[TRAIN:]) for name, X in chosen.items()}


@dataclass(frozen=True)
class Objective:
    """A method, and a model that it inverts; `settings` may depend on the training rows."""

    name: str
    method: Preimage
    settings: Callable[[np.ndarray], dict[str, Any]]


def fixed(**settings: Any) -> Callable[[np.ndarray], dict[str, Any]]:
    """Return settings that do not depend on rows."""
    return lambda X: settings


def narrow(X: np.ndarray) -> dict[str, Any]:
    """Return a Gaussian kernel of less than half the usual width."""
    return {"kernel": RBF(NARROW * RBF().resolve(X).number())}


def objectives() -> Iterator[Objective]:
    """Return all that the library minimizes."""
    smooth = {
        name: kernel
        for name, kernel in KERNELS.items()
        if name not in ("poly", "precomputed", "spectrum", "subsequence")
    }
    smooth = {name: kernel for name, kernel in smooth.items() if kernel().differentiable}
    counted = {"30 nearest": {}, "threshold": {"threshold": 0.5}, "all samples": {"n_neighbors": None}}
    for rule in ("discrepancy", "log_discrepancy"):
        settings = fixed(center=rule == "discrepancy")
        for which, limits in counted.items():
            for sums in (True, False):
                for bounds in (None, BOUNDS):
                    form = ("sum one" if sums else "any sum") + (", bounds" if bounds else "")
                    method = Weights(rule, **{"sum_to_one": sums, "bounds": bounds, **limits})
                    yield Objective(f"Weights, {rule}, {which}, {form}", method, settings)
        yield Objective(f"Weights, {rule}, digest's scaling", Weights(rule, scaling="digest"), settings)
    yield Objective("Weights, discrepancy, narrow Gaussian", Weights(), narrow)
    for name in smooth:
        if name != "rbf":
            yield Objective(f"Weights, discrepancy, {name}, sum one", Weights(), fixed(kernel=name))
            yield Objective(f"Weights, discrepancy, {name}, any sum", Weights(sum_to_one=False), fixed(kernel=name))
    features = {
        "landmarks": fixed(approximation=Nystrom(60)),
        "paired waves": fixed(approximation=RandomFourier(300)),
        "sines": fixed(approximation=RandomFourier(300, form="sin")),
        "cosines": fixed(approximation=RandomFourier(300, form="cos")),
        "ramps": fixed(kernel=ArcCosine(), approximation=RandomReLU(300)),
    }
    models = {name: fixed(kernel=name) for name in smooth if name != "sigmoid"} | {"narrow Gaussian": narrow} | features
    for bounds in (None, BOUNDS):
        for name, settings in models.items():
            yield Objective(f"Gradient, {name}" + (", bounds" if bounds else ""), Gradient(bounds=bounds), settings)


@dataclass(frozen=True)
class Block:
    """What was minimized at once: the problem, its starts (n, d) and limits (d,), and what came of it."""

    function: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
    starts: np.ndarray
    low: np.ndarray
    high: np.ndarray
    max_iter: int
    floor: np.ndarray
    found: Minimum
    evaluations: np.ndarray

    def from_scipy(self, i: int, start: np.ndarray, **options: float) -> tuple[float, int]:
        """Return the value to which L-BFGS-B comes for row i, and the evaluations that it takes."""
        rows, count = np.array([i]), 0
        unit = abs(float(self.function(start[None], rows)[0][0])) or 1.0

        def function(x: np.ndarray) -> tuple[float, np.ndarray]:
            nonlocal count
            count += 1
            value, slope = self.function(x[None], rows)
            return float(value[0]) / unit, slope[0] / unit

        free = np.isinf(self.low).all() and np.isinf(self.high).all()
        bounds = None if free else list(zip(self.low, self.high, strict=True))
        options = {"maxiter": self.max_iter, "maxfun": 100 * self.max_iter} | options
        answer = scipy_minimize(function, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        return float(answer.fun) * unit, count


def solved(objective: Objective, X: np.ndarray, new: np.ndarray) -> list[Block]:
    """Return what one model minimizes for these rows and as many random scores, half of each."""
    blocks: list[Block] = []

    def spy(function: Any, starts: np.ndarray, low: np.ndarray, high: np.ndarray, **options: Any) -> Minimum:
        evaluations = np.zeros(len(starts), int)

        def counted(Y: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            evaluations[rows] += 1
            return function(Y, rows)

        found = minimize(counted, starts, low, high, **options)
        starts = np.clip(starts, low, high)
        blocks.append(Block(function, starts, low, high, options["max_iter"], options["floor"], found, evaluations))
        return found

    rng, half = np.random.default_rng(1), len(new) // 2
    model = KernelPCA(COMPONENTS, preimage=objective.method, random_state=0, **objective.settings(X)).fit(X)
    Z = model.transform(np.maximum(new + rng.normal(0, NOISE, new.shape), 0))
    Z[half:] = rng.standard_normal(Z[half:].shape) * np.sqrt(np.abs(model.eigenvalues_) / len(X))
    with patch("kernelpca.preimage.weights.minimize", spy), patch("kernelpca.preimage.gradient.minimize", spy):
        model.inverse_transform(Z)
    return blocks


@dataclass
class Tally:
    """Counts of one objective."""

    points: int = 0
    unconverged: int = 0
    higher: int = 0  # than scipy's, by more than 1%
    lower: int = 0
    null: int = 0  # higher values of scipy's own, from a start that was moved
    unfinished: int = 0  # ends from which scipy comes lower

    def __post_init__(self) -> None:
        self.ratios: list[float] = []

    def add(self, block: Block, rng: np.random.Generator) -> None:
        """Compare all rows of a block."""
        for i, start in enumerate(block.starts):
            ours, rounding = block.found.values[i], 10 * float(block.floor[i])
            theirs, evaluations = block.from_scipy(i, start)
            step = rng.standard_normal(len(start))
            moved = start + MOVED * np.linalg.norm(start) * step / np.linalg.norm(step)
            again = block.from_scipy(i, np.clip(moved, block.low, block.high))[0]
            further = block.from_scipy(i, block.found.points[i], ftol=1e-12, gtol=1e-10)[0]
            self.points += 1
            self.unconverged += not block.found.converged[i]
            self.higher += above(ours, theirs, rounding)
            self.lower += above(theirs, ours, rounding)
            self.null += above(again, theirs, rounding)
            self.unfinished += above(ours, further, rounding)
            self.ratios.append(block.evaluations[i] / evaluations)


def above(value: float, other: float, rounding: float) -> bool:
    """Whether a value is higher by more than a hundredth, and more than rounding."""
    return bool(value > other + NEAR * abs(other) + rounding)


def main() -> None:
    """Compare all, or those whose name has a text in it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=100, help="of each data set")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    columns = ["objective", "points", "at most 1% above scipy", "scipy, start moved", "1% below scipy"]
    columns += ["scipy goes on, 1% lower", "not converged", "evaluations over scipy's"]
    table = Table("Descents: where they end beside L-BFGS-B", columns)
    sets = data_sets(options.points)
    warnings.simplefilter("ignore")  # unreliable, unconverged, indefinite: what is counted here
    for objective in objectives():
        if options.only not in objective.name:
            continue
        tally, rng = Tally(), np.random.default_rng(2)
        for X, new in sets.values():
            for block in solved(objective, X, new):
                tally.add(block, rng)
        shares = (tally.points - tally.higher, tally.points - tally.null, tally.lower, tally.unfinished)
        shown = [f"{share / tally.points:.1%}" for share in (*shares, tally.unconverged)]
        table.add(objective.name, tally.points, *shown, float(np.median(tally.ratios)))
    table.write("descents" if not options.only else "descents_some")


if __name__ == "__main__":
    main()
