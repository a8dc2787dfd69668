"""Inputs for scores with the evidence: blocks of points on all cores, judged in feature space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernelpca.preimage.protocol import Preimage, Target, check_bounds, clip
from kernelpca.preimage.space import Space
from kernelpca.tall import by_rows
from kernelpca.tiles import available_threads, row_blocks
from kernelpca.warn import warn

BLOCK_ROWS = 512  # answers that are sought at a time, where memory allows
UNRELIABLE = 0.1  # reliability below which the user is warned
UNUSUAL = 4.0  # standard deviations from which a score is looked at


@dataclass(frozen=True)
class Inversion:
    """Inputs for scores, with the evidence.

    Attributes
    ----------
    points : ndarray of shape (n, d)
        The inputs.
    distance : ndarray of shape (n,)
        How far each, mapped to feature space, lies from the point that the scores stand for. Methods can be compared
        by it; it is zero only where that point is the image of an input. NaN where an indefinite kernel, which has no
        distances, makes its square negative.
    reliability : ndarray of shape (n,)
        Between 0 and 1, from how near the answer's own scores lie to those asked for: 1 / (1 + q), q the squared
        difference over the mean squared length of the training samples' scores. Low where no input has such scores.
    iterations : ndarray of shape (n,)
        How many steps were taken; 0 for methods that take none.
    converged : ndarray of shape (n,)
        Whether the method was done when it stopped.
    method : str
        Which method it was.
    """

    points: np.ndarray
    distance: np.ndarray
    reliability: np.ndarray
    iterations: np.ndarray
    converged: np.ndarray
    method: str

    def __str__(self) -> str:
        n, stopped = len(self.points), int((~self.converged).sum())
        return (
            f"{n} pre-images by {self.method}: distance in feature space {np.median(self.distance):.3g} (median), "
            f"{self.distance.max(initial=0.0):.3g} (largest); reliability {self.reliability.min(initial=1.0):.3g} to "
            f"{self.reliability.max(initial=0.0):.3g}; "
            + (f"{stopped} not converged." if stopped else "all converged.")
        )


def invert(method: Preimage, space: Space, Z: np.ndarray, reference: np.ndarray | None = None) -> Inversion:
    """Find inputs for scores Z (n, k) and judge them in feature space."""
    X, iterations, converged = _solve(method, space, Z, reference)
    distance, reliability = judge(space, X, Z)
    _warn_of_unfinished(method, iterations, converged)
    _warn_of_unreliable(reliability, len(Z))
    return Inversion(_in_input_units(X, space, method), distance, reliability, iterations, converged, repr(method))


def joined(parts: Sequence[Inversion]) -> Inversion:
    """Return answers of one method, block after block, as one."""
    names = (item.name for item in fields(Inversion) if item.name != "method")
    arrays = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    return Inversion(**arrays, method=parts[0].method)


def find_points(method: Preimage, space: Space, Z: np.ndarray, reference: np.ndarray | None = None) -> np.ndarray:
    """(n, k) -> (n, d): inputs for scores; only those for unusual scores are judged, to warn of them."""
    X, iterations, converged = _solve(method, space, Z, reference)
    _warn_of_unfinished(method, iterations, converged)
    model = space.decomposition
    deviations = np.sqrt(np.abs(model.eigenvalues) / space.n)
    unusual = (np.abs(Z) > UNUSUAL * deviations).any(axis=1)
    if unusual.any():
        _warn_of_unreliable(judge(space, X[unusual], Z[unusual])[1], len(Z))
    return _in_input_units(X, space, method)


def _solve(
    method: Preimage, space: Space, Z: np.ndarray, reference: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(n, k) -> (n, d) local, (n,), (n,): points, iterations, converged; block by block on all cores."""
    Z = Z.astype(space.dtype, copy=False)
    narrow = space.narrow if method.rotates and method.bounds is None else None
    inside = space if narrow is None else narrow.space
    method.prepare(inside, reference is not None)
    X = np.empty((len(Z), space.width), space.dtype)
    iterations, converged = np.zeros(len(Z), int), np.ones(len(Z), bool)

    def work(rows: slice) -> None:
        block = None if reference is None else space.local(reference[rows].astype(space.dtype, copy=False))
        entered = narrow.enter(block) if narrow is not None and block is not None else block
        answer = method.solve(Target(inside, Z[rows], entered))
        X[rows] = answer.points if narrow is None else narrow.leave(answer.points, block, entered)
        if answer.iterations is not None:
            iterations[rows] = answer.iterations
        if answer.converged is not None:
            converged[rows] = answer.converged

    threads = available_threads()
    room = space.budget // (threads * max(method.numbers_per_row(inside), 1) * Z.dtype.itemsize)
    by_rows(len(Z), work, int(np.clip(min(room, -(-len(Z) // threads)), 1, BLOCK_ROWS)))
    return X, iterations, converged


def judge(space: Space, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n, d) local, (n, k) -> (n,), (n,): how far inputs lie from what scores stand for, and their reliability."""
    scores, residuals = space.project(X)
    off = np.square(scores - Z, dtype=np.float64)
    squared = residuals + off @ space.decomposition.signs
    below = np.nan if not space.decomposition.positive_definite else 0.0
    distance = np.sqrt(np.where(squared >= 0, squared, below))
    return distance, 1.0 / (1.0 + off.sum(axis=1) / max(space.spread, float(np.finfo(np.float64).tiny)))


def _in_input_units(X: np.ndarray, space: Space, method: Preimage) -> np.ndarray:
    """(n, d) local -> (n, d): points with the origin added, which may round beyond a bound."""
    X += np.asarray(space.origin, X.dtype)
    low, high = check_bounds(method.bounds, X.shape[1], method)
    for rows in row_blocks(X):
        X[rows] = clip(X[rows], low, high)
    return X


def _warn_of_unfinished(method: Preimage, iterations: np.ndarray, converged: np.ndarray) -> None:
    """Warn of answers that had not converged; a tolerance of zero asks for all the steps."""
    left = int((~converged).sum())
    if not left or getattr(method, "tol", 0) == 0:
        return
    name, most = type(method).__name__, method.max_iter
    spent = int((~converged & (iterations >= most)).sum())
    if spent:
        advice = f"{spent} took all steps that max_iter={most} allows: raise it, as in {name}(max_iter={10 * most})."
    else:
        advice = "More steps would not help: try another method, such as preimage='ridge'."
    warn(
        f"{left} of {len(converged)} answers had not converged when {name} stopped; invert(Z).converged tells which. "
        + advice,
        ConvergenceWarning,
    )


def _warn_of_unreliable(reliability: np.ndarray, n: int) -> None:
    """Warn of answers that stand for other scores than those asked for."""
    low = int((reliability < UNRELIABLE).sum())
    if low:
        warn(
            f"{low} of {n} answers have a reliability below {UNRELIABLE}: no input was found whose scores are near "
            "those asked for. Scores far outside the training range have none; invert(Z).reliability tells which."
        )
