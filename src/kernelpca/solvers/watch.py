"""How a solver stands: passes over a matrix counted and timed, what the user is told, and when to stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from kernelpca.gram.protocol import Gram
from kernelpca.solvers.certificate import reached, relative

# eps of the largest eigenvalue that hundreds of passes may lose: float64 has digits to spare, float32 has not
ROUNDING_UNITS = {4: 10, 8: 100}

NEAR = 4  # times the rounding level: residuals that stay there are rounding error too
STALLED = 0.9  # of the residual two passes ago

Callback = Callable[["Progress"], object]


@dataclass(frozen=True)
class Progress:
    """What a callback is told after each pass; if it returns True, the solver stops with what it has.

    Attributes
    ----------
    passes : int
        Products with the matrix so far.
    seconds : float
        Time so far.
    wanted : int
        Components asked for.
    converged : int or None
        How many have a residual within `tol`.
    relative_residual : float or None
        The largest residual over its eigenvalue.
    captured : float or None
        The sum of the k eigenvalues as they stand.
    estimate, bound : float or None
        Estimated relative error of the captured variance, and the bound on it, where the criterion needs them.
    remaining : float or None
        Seconds that are likely to remain, from the progress of the last passes.
    """

    passes: int
    seconds: float
    wanted: int
    converged: int | None = None
    relative_residual: float | None = None
    captured: float | None = None
    estimate: float | None = None
    bound: float | None = None
    remaining: float | None = None


class Stopped(Exception):
    """The user's callback asked a solver to stop."""


class Watch:
    """Counts passes over a Gram matrix, keeps time and tells the callback."""

    def __init__(self, gram: Gram, k: int, tol: float, callback: Callback | None, criterion: str = "residual") -> None:
        self.gram = gram
        self.k = k
        self.tol = tol
        self.criterion = criterion
        self.rounding = 0.0
        self.finer = False  # whether a finer precision can follow
        self.callback = callback
        self.history: list[Progress] = []
        self._errors: list[tuple[int, float, float]] = []
        self._residuals: list[float] = []
        self.stopped = False
        self.passes = 0
        self.began = time.perf_counter()

    @contextmanager
    def on(self, gram: Gram, tol: float, finer: bool) -> Iterator[None]:
        """Watch another form of the matrix for a while, with another target; `finer` if a finer one can follow."""
        before = self.gram, self.tol, self.finer
        self.gram, self.tol, self.finer = gram, tol, finer
        try:
            yield
        finally:
            self.gram, self.tol, self.finer = before

    def forget(self) -> None:
        """Start anew in another precision: rounding levels and rates of before do not count."""
        self.rounding = 0.0
        self._errors.clear()
        self._residuals.clear()

    def matmat(self, V: np.ndarray) -> np.ndarray:
        """(n, p) -> (n, p): one pass."""
        self.passes += 1
        return self.gram.matmat(V)

    def tick(self) -> None:
        """Tell the callback of a pass of which no more is known; raise `Stopped` if the user says so."""
        if self.callback is not None and self._tell(Progress(self.passes, self.seconds(), self.k)):
            raise Stopped

    def dense(self) -> np.ndarray:
        """() -> (n, n): one pass."""
        self.passes += 1
        return self.gram.dense()

    def see(self, values: np.ndarray) -> None:
        """Raise the rounding level to what residuals of eigenvalues of this size can be reduced to."""
        unit = unit_of(self.gram.dtype)
        self.rounding = max(self.rounding, self.gram.rounding(), unit * float(np.abs(values).max()))

    def seconds(self) -> float:
        """Return the time since the start."""
        return time.perf_counter() - self.began

    def report(
        self,
        values: np.ndarray,
        residuals: np.ndarray,
        captured: float | None = None,
        estimate: float | None = None,
        bound: float | None = None,
    ) -> bool:
        """Note where the solver stands after a pass; True if it should stop: all is reached, or the user says so."""
        self.see(values)
        done = reached(values, residuals, self.tol, self.rounding)
        residual = relative(values, residuals, self.rounding)
        largest = float(residuals[~done].max(initial=0.0))
        if self.criterion == "residual" and self._stalled(residual, largest):
            self.rounding = largest
            done[:] = True
        error = {"residual": residual, "variance": estimate, "certified": bound}[self.criterion]
        event = Progress(
            self.passes,
            self.seconds(),
            self.k,
            int(done.sum()),
            residual,
            float(values.sum()) if captured is None else captured,
            estimate,
            bound,
            self._remaining(error),
        )
        if self.criterion == "residual":  # at the rounding level, go on as long as it helps
            best = min(self._residuals, default=np.inf)
            self._residuals.append(residual)
            finished = bool(done.all()) and (residual <= self.tol or residual > best / 2)
        else:
            finished = error is not None and error <= self.tol
        return self._tell(event) or finished

    def note(self, criticality: float, captured: float | None) -> bool:
        """Note where a descent on the dual stands; True if the user wants it to stop."""
        remaining = self._remaining(criticality)
        return self._tell(
            Progress(
                self.passes,
                self.seconds(),
                self.k,
                relative_residual=criticality,
                captured=captured,
                remaining=remaining,
            )
        )

    def _stalled(self, residual: float, largest: float) -> bool:
        """Whether two passes brought nothing, near the rounding level of float32: then rounding is what is left."""
        near = self.gram.dtype == np.float32 and self.rounding < largest <= NEAR * self.rounding
        return near and len(self._residuals) > 1 and residual > STALLED * self._residuals[-2]

    def _remaining(self, error: float | None) -> float | None:
        """Extrapolate the error of the last passes, as if it went on shrinking by the same factor."""
        if error is None or not 0 < error < float("inf"):
            return None
        self._errors.append((self.passes, self.seconds(), error))
        if error <= self.tol:
            return 0.0
        if len(self._errors) < 2 or self.tol == 0:
            return None
        before, then, old = self._errors[max(len(self._errors) - 4, 0)]
        if error >= old or self.passes == before:
            return None
        passes, seconds = self.passes - before, self.seconds() - then  # the first pass may have made the matrix
        rate = np.log(old / error) / passes
        return float(np.ceil(np.log(error / self.tol) / rate)) * seconds / passes

    def _tell(self, event: Progress) -> bool:
        """Keep the event, tell the callback; True if it wants to stop."""
        self.history.append(event)
        if self.callback is not None:
            answer = self.callback(event)
            self.stopped = self.stopped or (isinstance(answer, bool | np.bool_) and bool(answer))
        return self.stopped


def unit_of(dtype: np.dtype) -> float:
    """Return the relative residual that rounding allows."""
    return ROUNDING_UNITS[dtype.itemsize] * float(np.finfo(dtype).eps)
