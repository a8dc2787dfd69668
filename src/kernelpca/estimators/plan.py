"""Which path an exact fit takes: dense or iterative, with the matrix stored or made in tiles, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import clone

from kernelpca.estimators.cost import Rates, Shape, approximation_that_fits, seconds_of
from kernelpca.memory import granted_bytes, readable_bytes
from kernelpca.progress import readable_seconds
from kernelpca.solvers import BlockKrylov, Dense, Lanczos, Solver, as_solver
from kernelpca.solvers.lanczos import EASY
from kernelpca.tiles import TILE

SMALL = 120  # rows up to which a dense solution costs next to nothing
SQUARE = 2 * TILE  # rows up to which a stored matrix is square: too few tiles to share out
MANY, MANY_SQUARE = 20, 8  # from this part of all components on LAPACK is faster than block Krylov, or than ARPACK
GIVEN = "; the matrix was given"


@dataclass(frozen=True)
class Plan:
    """What a fit does and why, with what was predicted and, after the fit, what was measured.

    Attributes
    ----------
    path : {"dense", "stored", "tiled", "given", "features", "remote"}
        Dense LAPACK on the stored matrix; an iterative solver on the stored matrix; an iterative solver on tiles
        that are made anew in each pass; a matrix or operator given by the user; features that stand for the kernel;
        tiles that are made where the rows are (Dask).
    solver : Solver
        What solves it.
    reason : str
        Why.
    predicted_bytes : int
        Peak memory of the fit, beyond the data.
    memory_limit : int
        What was granted.
    predicted_seconds : float or None
        Time of the fit on this machine where the spectrum decays; None for small fits, where measuring the machine
        would take longer than the fit.
    measured_bytes, measured_seconds : int and float, or None
        What all of the fit took, beside the data; bytes of large fits only. The first fit of a process also makes
        machine code, some 15 MB.
    advice : tuple of str
        What would change with more memory or another target.
    tile_budget, cache : int
        Bytes that one product of tiles may use, and bytes of tiles that may be kept.
    """

    path: str
    solver: Solver
    reason: str
    predicted_bytes: int
    memory_limit: int
    predicted_seconds: float | None = None
    measured_bytes: int | None = None
    measured_seconds: float | None = None
    advice: tuple[str, ...] = ()
    tile_budget: int = 0
    cache: int = 0

    def __str__(self) -> str:
        text = (
            f"{self.path} path with {self.solver!r}: {self.reason}. About {readable_bytes(self.predicted_bytes)} of "
            f"the {readable_bytes(self.memory_limit)} granted"
        )
        if self.predicted_seconds is not None:
            text += f" and about {readable_seconds(self.predicted_seconds)}, if the spectrum decays"
        if self.measured_seconds is not None:
            memory = "" if self.measured_bytes is None else f" and {readable_bytes(self.measured_bytes)}"
            text += f"; it took {readable_seconds(self.measured_seconds)}{memory}"
        return ". ".join([text, *self.advice]) + "."

    def measured(self, seconds: float, peak: int | None) -> Plan:
        """Return the plan with what the fit took."""
        return replace(self, measured_seconds=seconds, measured_bytes=peak)


def make_plan(
    shape: Shape,
    solver: Any,
    memory_limit: int | float | str | None,
    tol: float,
    *,
    given: bool = False,
    rates: Rates | None = None,
) -> Plan:
    """Choose the path for a problem of this shape (k = n when all components are wanted).

    Parameters
    ----------
    shape : Shape
        Its size.
    solver : str or Solver
        What the user asked for, or "auto".
    memory_limit : int, str or None
        What the user grants.
    tol : float
        The target.
    given : bool
        Whether the matrix itself was given.
    rates : Rates, optional
        The speed of this machine, for a prediction of the time.
    """
    limit = granted_bytes(memory_limit)
    chosen, why = _choose_solver(shape, solver, limit, tol, given)
    if isinstance(chosen, Dense):
        needed = _dense_bytes(shape, chosen, given)
        if needed > limit:
            raise MemoryError(
                f"A dense solution for {shape.n} rows needs about {readable_bytes(needed)}; {readable_bytes(limit)} "
                "are granted. Use solver='auto' with fewer components (n_components), or raise memory_limit."
            )
        plan = Plan("given" if given else "dense", chosen, why, needed, limit)
    else:
        plan = _iterative(shape.for_solver(chosen, tol), chosen, why, limit, tol, given)
    if rates is not None:
        plan = replace(plan, predicted_seconds=seconds_of(plan.path, plan.solver, shape, tol, rates))
    return plan


def advise(plan: Plan, shape: Shape, solver: Any, tol: float, rates: Rates) -> Plan:
    """Return the plan with what would change with more memory or another target; `solver` is what was asked for."""
    wished = _choose_solver(shape, solver, plan.memory_limit, tol, given=plan.path == "given")[0]
    notes = []
    now = plan.predicted_seconds or seconds_of(plan.path, plan.solver, shape, tol, rates)
    if plan.path == "tiled" and shape.cost(plan.solver, tol, False).passes > 1:
        worked = shape.for_solver(wished, tol)
        cost = worked.cost(wished, tol, True)
        room = worked.anchors + max(worked.tiles + worked.product(cost) + cost.most, cost.start)
        stored = seconds_of("stored", plan.solver, shape, tol, rates)
        if stored < now:
            notes.append(
                f"With memory_limit='{readable_bytes(1.05 * room)}' the matrix would be stored: about "
                f"{readable_seconds(stored)} instead of {readable_seconds(now)}"
            )
    looser = min(100 * tol, 1e-2)
    if looser > tol and not isinstance(plan.solver, Dense):
        notes.append(
            f"With tol={looser:.0e} about {readable_seconds(seconds_of(plan.path, plan.solver, shape, looser, rates))}"
        )
    if isinstance(plan.solver, BlockKrylov) and plan.solver.criterion == "residual" and shape.definite:
        variance = clone(plan.solver).set_params(criterion="variance")
        likely = seconds_of(plan.path, variance, shape, max(tol, 1e-4), rates)
        if likely < now:
            notes.append(
                "With solver=BlockKrylov(criterion='variance'), which stops on the captured variance instead of the "
                f"scores, about {readable_seconds(likely)}"
            )
    return replace(plan, advice=tuple(notes))


def _choose_solver(shape: Shape, solver: Any, limit: int, tol: float, given: bool) -> tuple[Solver, str]:
    """Return the solver and the beginning of the reason."""
    best, why = _best_solver(shape, limit, given)
    auto = isinstance(solver, str) and solver == "auto"
    asked = best if auto else clone(as_solver(solver))
    asked.check_parameters(tol)
    if auto:
        return best, why
    name = f"{type(asked).__name__} was asked for"
    if shape.counted or not _takes_over(best, asked, shape.n):
        return asked, name
    best = best.set_params(indefinite=asked.indefinite)
    return best, f"{name}, and hands over, as it is slow at finding how many components are enough: {why}"


def _takes_over(best: Solver, asked: Solver, n: int) -> bool:
    """Whether the best solver is to do what another was asked for, where more and more components are tried.

    LAPACK does wherever components have become many. On few rows it is not worth it to begin with wide blocks either.
    """
    if isinstance(best, Dense) or isinstance(asked, Dense):
        return not isinstance(asked, Dense)
    return n <= EASY and asked.wide and type(asked) is not type(best) and asked.criterion == best.criterion


def _best_solver(shape: Shape, limit: int, given: bool) -> tuple[Solver, str]:
    """Return the solver that is likely to be fastest, and why."""
    n, k = shape.n, shape.k
    few, many = n <= SMALL, (MANY_SQUARE if n <= SQUARE else MANY) * k >= n
    dense = Dense()
    if (few or many) and _dense_bytes(shape, dense, given) <= limit:
        why = f"{n} rows are few" if few else f"{k} of {n} possible components are many"
        return dense, why + ", so LAPACK is exact and fast"
    if n <= SQUARE:
        return Lanczos(), f"{n} rows are few enough for ARPACK"
    return BlockKrylov(), f"{k} of {n} components in few passes"


def _dense_bytes(shape: Shape, solver: Dense, given: bool) -> int:
    """Return what LAPACK needs, with the matrix unless it is there."""
    return shape.cost(solver, 0.0, stored=True).most + (0 if given else shape.matrix)


def _iterative(shape: Shape, solver: Solver, why: str, limit: int, tol: float, given: bool) -> Plan:
    """Choose between the stored matrix and tiles."""
    cost = shape.cost(solver, tol, True)
    if given:
        summing = shape.product(cost) if shape.single else 0
        most = max(cost.start, cost.most + summing)
        if most > limit:
            raise MemoryError(
                f"{shape.k} components of a {shape.n} x {shape.n} matrix need about {readable_bytes(most)} beside it; "
                f"{readable_bytes(limit)} are granted. Ask for fewer components (n_components), or raise memory_limit."
            )
        copied = shape.single and shape.in_memory and most + shape.tiles <= limit
        cache = shape.tiles if copied else 0
        needed = max(cost.start, cost.likely + summing + cache)
        return Plan("given", solver, why + GIVEN, needed, limit, cache=cache)
    anchors = shape.anchors
    if shape.n <= SQUARE and anchors + shape.matrix + max(cost.start, cost.most) <= limit:
        needed = anchors + shape.matrix + max(cost.start, cost.likely)
        return Plan("stored", solver, why + "; the matrix fits in memory", needed, limit)
    working, held = shape.product(cost), cost.most + shape.tiles
    if anchors + max(cost.start, held + working) <= limit:
        needed = anchors + max(cost.start, shape.tiles + working + cost.likely)
        why += "; the matrix (half of it, for it is symmetric) fits in memory"
        return Plan("stored", solver, why, needed, limit, tile_budget=limit - anchors - held, cache=shape.tiles)
    why += f"; half the matrix would take {readable_bytes(shape.tiles)}, so tiles are made in each pass"
    if solver.tries_single and shape.number == 8:
        anchors += shape.n * shape.width * 4  # passes in float32 come first, on rows of their own
    solver, frugal = _frugal(shape, solver, limit, anchors, tol)
    if frugal:
        why += f" with {frugal}"
    cost = shape.cost(solver, tol, False)
    budget = limit - anchors - cost.most
    tiles = min(shape.product(cost), budget)
    cache = max(budget - 2 * tiles, 0)  # what is left keeps some of them
    kept = min(cache / shape.tiles, 1.0)
    if kept > 0.02:
        why += f"; {kept:.0%} of them are kept"
    needed = anchors + max(cost.start, cost.likely + tiles + int(kept * shape.tiles))
    return Plan("tiled", solver, why, min(needed, limit), limit, tile_budget=budget - cache, cache=cache)


def _frugal(shape: Shape, solver: Solver, limit: int, anchors: int, tol: float) -> tuple[Solver, str]:
    """Return a solver whose memory leaves a quarter of the room for tiles, and what it goes without."""
    needed = 0
    for candidate, words in ((solver, ""), *shape.frugal(solver)):
        cost = shape.cost(candidate, tol, False)
        needed = max(cost.most + shape.sum(cost), cost.start)  # with one worker that sums up a product
        if 4 * needed <= 3 * (limit - anchors):
            return candidate, words
    total = anchors + 4 * needed / 3
    raise MemoryError(
        f"{shape.k} components of {shape.n} rows need about {readable_bytes(total)} even without storing the matrix; "
        f"{readable_bytes(limit)} are granted. Ask for fewer components (n_components), or raise memory_limit. "
        f"{approximation_that_fits(shape, limit)}"
    )
