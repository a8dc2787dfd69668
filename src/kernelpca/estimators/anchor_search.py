"""How few anchors hold given directions: as many as an error allows, or a given number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelpca.estimators.matching_pursuit import MatchingPursuit
from kernelpca.estimators.reduced_set import Expansion, Projection, move_points
from kernelpca.gram.tiled import TiledGram
from kernelpca.kernels.base import n_rows
from kernelpca.progress import Done

CANDIDATES, EACH = 10_000, 5  # rows to choose among, where there are more, and for each that is asked for
FINE = 32  # parts of a number of rows, by which it grows
STEPS = 60  # of moving points, at most
GAIN = 5.0  # by which moving points lessens the error, as a first guess
WORTH = 2.0  # by which it must, to be worth while
CLOSER = 1.15  # that rows must come at least, where an attempt was not enough


@dataclass(frozen=True)
class Reduced:
    """Fewer anchors.

    Attributes
    ----------
    projection : Projection
        Directions and mean over them.
    rows : ndarray of shape (m,) or None
        Which of the rows they are; None where they were moved.
    error, worst : float
        Change of the scores of all rows: root mean square and largest, over `scale`, in the component where it is most.
    residual_error : float
        Change of their squared distances from the subspace: root mean square, over `spread`.
    off : ndarray of shape (k,)
        Distances of the new directions from the old ones.
    scores, before : ndarray of shape (n, k)
        Of all rows, on the new directions and on the old ones.
    """

    projection: Projection
    rows: np.ndarray | None
    error: float
    worst: float
    residual_error: float
    off: np.ndarray
    scores: np.ndarray
    before: np.ndarray

    def within(self, tol: float) -> bool:
        """Whether neither scores nor distances change by more."""
        return max(self.error, self.residual_error) <= tol


class Search:
    """Look for anchors among rows, and move them where that is possible.

    Parameters
    ----------
    expansion : Expansion
        The directions, over n rows.
    movable : bool
        Whether points may be moved away from rows.
    dtype : dtype
        The precision in which points will be kept.
    rng : Generator
        Draws rows to look at, where there are many.
    n_anchors : int or None
        How many will be asked for, if that is known.
    done : callable or None
        Told how far each stage is: kernel values with the directions, rows chosen, points moved, and again from there.
    """

    def __init__(
        self,
        expansion: Expansion,
        movable: bool,
        dtype: np.dtype,
        rng: np.random.Generator,
        n_anchors: int | None = None,
        done: Done | None = None,
    ) -> None:
        self.expansion, self.movable, self.dtype, self.rng = expansion, movable, dtype, rng
        self.n, self.done = n_rows(expansion.rows), done
        self.products = TiledGram(expansion.kernel, expansion.rows).matmat(expansion.V, done)
        self.before = self.products[:, :-1] + expansion.b
        self._choose_among(max(CANDIDATES, EACH * (n_anchors or 0)))

    def with_anchors(self, m: int) -> Reduced:
        """Return m anchors, or fewer where these are as good as all."""
        return self._reduce(m, 0.0, self.movable)

    def within(self, tol: float) -> Reduced | None:
        """Return about as few anchors as keep errors within tol; None where all are needed."""
        found = self._within(tol)
        while found is None and len(self.numbers) < self.n:
            self._choose_among(2 * len(self.numbers))
            found = self._within(tol)
        return found

    def _choose_among(self, count: int) -> None:
        """Take so many rows as candidates, at random; all of them where there are no more."""
        every = np.arange(self.n)
        self.numbers = every if count >= self.n else np.sort(self.rng.choice(self.n, count, replace=False))
        self.candidates = self.expansion.rows[self.numbers]
        self.pursuit = MatchingPursuit(self.expansion, self.candidates, self.products[self.numbers])

    def _within(self, tol: float) -> Reduced | None:
        """Return anchors among the candidates, or None if that takes all of them.

        How much moving points helps is seen at the first attempt: it tells how many are needed, or that rows will do.
        """
        pursuit, moving, points = self.pursuit, self.movable, None
        goal = tol * (GAIN if moving else 1.0)
        while True:
            errors = [pursuit.error()]
            while errors[-1] > goal and len(pursuit.order) < len(self.numbers) and not pursuit.exhausted:
                pursuit.extend(len(pursuit.order) + max(len(pursuit.order) // FINE, 1))
                errors.append(pursuit.error())
                self._tell(approach(errors, goal))
            m, as_rows = len(pursuit.order), errors[-1]
            if m == len(self.numbers):
                return None
            found = self._reduce(m, tol, moving, points)
            if found.within(tol):
                return found
            if pursuit.exhausted:
                return None
            gain = as_rows / max(found.error, found.residual_error)
            if moving and gain < WORTH:
                moving, gain = False, 1.0
            goal, points = min(gain * tol, as_rows / CLOSER), found.projection.points if moving else None

    def _reduce(self, m: int, tol: float, moving: bool, points: np.ndarray | None = None) -> Reduced:
        """Return m anchors, moved from where they are (the first of them given) until errors are within tol."""
        self.pursuit.extend(m)
        chosen = np.array(self.pursuit.order[:m])
        Z = self.candidates[chosen]
        if not moving or self.pursuit.exhausted:
            return self._judge(self.expansion.onto(Z), self.numbers[chosen])
        start = Z if points is None else np.concatenate([points, Z[len(points) :]])
        found = move_points(
            self.expansion,
            start,
            STEPS,
            good=lambda at: self._judge(at, None).within(tol),
            step=lambda taken: self._tell(taken / STEPS),
        )
        if self.dtype != np.float64:
            found = self.expansion.onto(found.points.astype(self.dtype).astype(np.float64))
        return self._judge(found, None)

    def _tell(self, part: float) -> None:
        """Tell how much of a stage is done."""
        if self.done is not None:
            self.done(round(STEPS * part), STEPS)

    def _judge(self, projection: Projection, rows: np.ndarray | None) -> Reduced:
        expansion, before = self.expansion, self.before
        products = projection.products(expansion.kernel, expansion.rows)
        scores = products[:, :-1] + projection.b
        change = np.abs(scores - before) / expansion.scale
        farther = 2.0 * (self.products[:, -1] - products[:, -1]) + projection.mean_square - expansion.mean_square
        farther += np.square(before).sum(axis=1) - np.square(scores).sum(axis=1)
        squares = np.einsum("ij,ij->j", expansion.V, self.products)[:-1]  # of the old directions: about one
        return Reduced(
            projection,
            rows,
            error=float(np.sqrt(np.square(change).mean(axis=0)).max()),
            worst=float(change.max()),
            residual_error=float(np.sqrt(np.square(farther).mean())) / expansion.spread,
            off=np.sqrt(np.maximum(squares - 2.0 * projection.overlap.diagonal() + 1.0, 0.0)),
            scores=scores,
            before=before,
        )


def approach(errors: list[float], goal: float) -> float:
    """Return how near the least of some errors is to a goal: 0 for the first, 1 for the goal, by factors."""
    known = [error for error in errors if np.isfinite(error)]
    if not known or known[0] <= goal:
        return float(bool(known))
    return float(np.log(known[0] / max(min(known), goal)) / np.log(known[0] / goal))
