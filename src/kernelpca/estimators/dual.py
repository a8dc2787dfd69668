"""From the square solution to those of other objectives, on the same matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from kernelpca.estimators.plan import Plan
from kernelpca.gram import Gram
from kernelpca.memory import readable_bytes
from kernelpca.objectives import EpsilonInsensitive, Huber, Objective, Square
from kernelpca.solvers import Dca, Solution, Solver, as_solver
from kernelpca.solvers.sparsity import find_epsilon, zero_rows
from kernelpca.solvers.watch import Watch
from kernelpca.tiles import one_blas_thread
from kernelpca.warn import warn

ARRAYS = 28  # of the size of the dual variable, that a solver holds at most

NEGATIVE = 1e-5  # of the largest eigenvalue: negative ones of that size are no rounding
LOOK = 40  # products that look for a negative eigenvalue


@dataclass(frozen=True)
class Pursuit:
    """What is maximized instead of the variance.

    Attributes
    ----------
    objectives : tuple of Objective
        One after the other, each from the solution of the one before.
    solver : str or Solver
        What solves them; "auto" for `Dca`.
    sparsity : float or None
        The part of zero rows that epsilon is chosen for; its norm is that of the objective.
    reduce : bool
        Whether rows with a dual variable of zero are left out of the model.
    """

    objectives: tuple[Objective, ...]
    solver: Any = "auto"
    sparsity: float | None = None
    reduce: bool = False

    @property
    def dual_solver(self) -> Solver:
        """The solver."""
        auto = isinstance(self.solver, str) and self.solver == "auto"
        return Dca() if auto else clone(as_solver(self.solver))


def with_pursuit(plan: Plan, pursuit: Pursuit | None, n: int, k: int) -> Plan:
    """Return the plan of the square solution with what follows it, or say that there is no room for that.

    How long that takes depends on how far apart components are: no time is predicted.
    """
    if pursuit is None:
        return plan
    needed = ARRAYS * n * k * 8
    if plan.predicted_bytes + needed > plan.memory_limit:
        raise MemoryError(
            f"{k} components of {n} rows for {pursuit.objectives[0]!r} need about {readable_bytes(needed)} beyond the "
            f"{readable_bytes(plan.predicted_bytes)} of the square solution; {readable_bytes(plan.memory_limit)} are "
            "granted. Ask for fewer components (n_components), or raise memory_limit."
        )
    goal = repr(pursuit.objectives[0])
    if pursuit.sparsity is not None:
        kind = type(pursuit.objectives[0]).__name__
        goal = f"{kind} with the epsilon that leaves out {pursuit.sparsity:.0%} of the rows"
    then = f"{plan.reason}; from there {type(pursuit.dual_solver).__name__} goes on to {goal}"
    return replace(plan, reason=then, predicted_bytes=plan.predicted_bytes + needed, predicted_seconds=None)


def pursue(
    gram: Gram, square: Solution, pursuit: Pursuit, weights: np.ndarray | None, options: dict[str, Any]
) -> list[Solution]:
    """Return the solutions for the objectives of a pursuit.

    Parameters
    ----------
    gram : Gram
        The matrix, centered and weighted.
    square : Solution
        Its leading eigenpairs, as many as components are wanted.
    pursuit : Pursuit
        What is asked for.
    weights : ndarray of shape (n,) or None
        Sample weights: scores of the rows are those of the matrix divided by their roots.
    options : dict
        Target, random numbers and callback, for the solver.
    """
    solver, n, k = pursuit.dual_solver, gram.shape[0], len(square.values)
    if not getattr(solver, "real_parts", False):
        check_definite(gram, float(square.values.max(initial=0.0)))
    check_rank(square.values)
    H = square.vectors.astype(np.float64) * np.sqrt(square.values)
    roots = np.ones(n) if weights is None else np.sqrt(weights)
    from_square = getattr(solver, "start", "square") == "square"
    before = square.certificate.passes

    def scores(objective: Objective) -> np.ndarray:
        """(n, k): scores of the square solution as the objective sees them."""
        return H / roots[:, None] if objective.by_rows else H

    def solve(objective: Objective, start: np.ndarray | None) -> Solution:
        """Solve for one objective, from a dual variable of the weighted rows."""
        asked = Huber(np.inf) if isinstance(objective, Square) else objective
        weighted = asked if weights is None else asked.weighted(roots)
        start = H if start is None and from_square else start
        found = solver.solve(gram, k, objective=weighted, start=start, **options)
        assert found.dual is not None, "a solver for another objective gives its dual solution"
        passes = before + found.certificate.passes
        certificate = replace(found.certificate, passes=passes, objective=repr(objective))  # type: ignore[call-arg]
        largest = objective.largest(scores(objective))
        return replace(found, certificate=certificate, dual=replace(found.dual, objective=objective, largest=largest))

    objectives, start = tuple(objective.resolve(scores(objective)) for objective in pursuit.objectives), None
    if pursuit.sparsity is not None:
        norm = objectives[0].norm
        worked = solver.worked_gram(gram, options["tol"]) if isinstance(solver, Dca) else gram
        watch = Watch(worked, k, options["tol"] / 2, options["callback"])
        with one_blas_thread:
            epsilon, start = find_epsilon(watch, H, pursuit.sparsity, norm, roots, getattr(solver, "max_iter", 1000))
        objectives, before = (EpsilonInsensitive(epsilon, norm),), before + watch.passes
        if isinstance(solver, Dca):  # going on from elsewhere would lose the sparsity
            solver = solver.set_params(bound=False)
    solutions: list[Solution] = []
    for objective in objectives:
        if pursuit.sparsity is None:
            check_width(objective, scores(objective))
        solution = solve(objective, start)
        assert solution.dual is not None
        check_left(solution, objective, scores(objective), pursuit.sparsity)
        if pursuit.sparsity is not None and not solution.stopped:
            reached = float(np.average(zero_rows(solution.dual), weights=roots**2))
            say_how_sparse(reached, pursuit.sparsity, n, settled=watch.passes < getattr(solver, "max_iter", np.inf))
        start = solution.dual.H
        dual = replace(solution.dual, H=solution.dual.H / roots[:, None], Y=solution.dual.Y / roots[:, None])
        solutions.append(replace(solution, dual=dual))
    return solutions


def check_rank(values: np.ndarray) -> None:
    """Refuse more components than the matrix has directions."""
    rank = int((values > 0).sum())
    if rank < len(values) or rank == 0:
        advice = f"Ask for at most {rank} components" if rank else "All samples are the same point in feature space"
        raise ValueError(
            f"n_components={len(values)} is above the rank of the kernel matrix, which is {rank} up to rounding. "
            f"{advice}, or choose a kernel that tells more samples apart (a larger gamma)."
        )


def check_definite(gram: Gram, largest: float) -> None:
    """Refuse a matrix with negative eigenvalues: the dual takes a square root."""
    if gram.positive_definite:
        return
    least = least_ritz_value(gram)
    if least < -max(NEGATIVE * largest, 10 * gram.rounding()):
        raise ValueError(
            f"The kernel matrix is indefinite: it has an eigenvalue of {least:.3g}, and the largest is {largest:.3g}. "
            "Robust and sparse objectives are solved through a dual that needs a positive semi-definite matrix. Choose "
            "a positive definite kernel such as 'rbf', or solver=Dca(real_parts=True) to go on with real parts of "
            "square roots."
        )


def least_ritz_value(gram: Gram) -> float:
    """Return about the smallest eigenvalue, never less: the smallest Ritz value of a few products."""
    n = gram.shape[0]
    block = np.random.default_rng(0).standard_normal((n, min(8, n)))
    Q, Y = np.empty((n, 0)), np.empty((n, 0))
    for _ in range(LOOK // 8):
        block = np.linalg.qr(block - Q @ (Q.T @ block))[0]
        block = np.linalg.qr(block - Q @ (Q.T @ block))[0][:, : n - Q.shape[1]]
        product = gram.matmat(block.astype(gram.dtype)).astype(np.float64)
        Q, Y, block = np.hstack([Q, block]), np.hstack([Y, product]), product
        if Q.shape[1] >= n:
            break
    return float(np.linalg.eigvalsh(Q.T @ Y + Y.T @ Q)[0]) / 2


def check_width(objective: Objective, scores: np.ndarray) -> None:
    """Refuse an epsilon that leaves nothing of the scores (n, k) of the square solution."""
    if isinstance(objective, EpsilonInsensitive):
        largest = objective.largest(scores)
        if objective.epsilon >= largest:
            raise ValueError(
                f"epsilon={objective.epsilon:.4g} leaves nothing: the largest useful value is below {largest:.4g}, the "
                f'largest score of ordinary kernel PCA. Try epsilon="0.5max", or sparsity=0.5 to leave out half of '
                f"the rows."
            )


def check_left(solution: Solution, objective: Objective, scores: np.ndarray, sparsity: float | None) -> None:
    """Say so where directions are left without rows."""
    rank, k = solution.certificate.rank, len(solution.values)  # type: ignore[attr-defined]
    if rank < k and isinstance(objective, EpsilonInsensitive):
        text = f"sparsity={sparsity:.4g}" if sparsity is not None else f"epsilon={objective.epsilon:.4g}"
        text += f" leaves rows for {rank} of {k} directions"
        if sparsity is None:
            text += f"; the largest useful value is below {objective.largest(scores):.4g}"
        text += ". Take a smaller one, or ask for fewer components."
        if rank == 0:
            raise ValueError(text)
        warn(text)


def say_how_sparse(reached: float, wanted: float, n: int, settled: bool) -> None:
    """Warn where the part of zero rows is not that which was asked for."""
    if abs(reached - wanted) > max(2.0 / n, 0.01):
        why = (
            "rows that are alike are left out together. Ask for another sparsity, or give epsilon."
            if settled
            else "the search for epsilon did not settle. Raise the solver's max_iter, or give epsilon."
        )
        warn(f"sparsity={wanted:.3g} was asked for, and {reached:.3g} of the rows are left out: {why}")
