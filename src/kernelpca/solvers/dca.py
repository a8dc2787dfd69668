"""Kernel PCA for every objective: the difference-of-convex-functions algorithm on the dual."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernelpca.gram.centered import WeightedGram
from kernelpca.gram.protocol import Gram
from kernelpca.objectives import Objective, Square
from kernelpca.solvers.block_krylov import LARGE, SINGLE, BlockKrylov
from kernelpca.solvers.certificate import variance_gap
from kernelpca.solvers.cost import Cost, Size, digits_of, iterative
from kernelpca.solvers.dense import Dense
from kernelpca.solvers.dual import Polar, complete, polar, residual_norms, ritz_pairs, ritz_values, stalled
from kernelpca.solvers.dual_certificate import DualCertificate
from kernelpca.solvers.extrapolation import Extrapolation, Step
from kernelpca.solvers.protocol import Solver, fits_into
from kernelpca.solvers.solution import Dual, Ritz, Solution, leading_signs
from kernelpca.solvers.watch import Watch
from kernelpca.tall import inner, times

ROUND = 100  # passes after which an eigensolver turns to the axes
FEW = 1024  # rows up to which LAPACK tells the bound
TRIES = 3  # starts from the directions that the bound thinks best
ROUNDING = 8  # eps of the terms of the loss that it is known to
SLACK = {4: 1e-2, 8: 1e-6}  # rise of the loss, relative to its terms, that rounding may cause: sqrt(LOST eps) and more
STARTS = ("square", "random")
STOPS = ("criticality", "loss")

Decompose = Callable[[np.ndarray, np.ndarray], Polar]


@dataclass(frozen=True)
class Iterate:
    """A dual variable with all that one product with the matrix tells of it.

    Attributes
    ----------
    H, GH : ndarray of shape (n, s)
        The dual variable, and the matrix times it.
    polar : Polar
        The decomposition of H'G H.
    loss : float
        1/2 |H|^2 + Psi*(H) - tr sqrt(H'G H).
    scale : float
        The size of the terms of the loss.
    Y : ndarray of shape (n, s)
        The gradient of tr sqrt(H'G H): the scores on the directions that belong to H.
    next : ndarray of shape (n, s)
        Where the plain iteration goes.
    """

    H: np.ndarray
    GH: np.ndarray
    polar: Polar
    loss: float
    scale: float
    Y: np.ndarray
    next: np.ndarray
    changes: np.ndarray = field(init=False)
    sizes: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        axes = self.polar.axes
        object.__setattr__(self, "changes", np.linalg.norm(times(self.next - self.H, axes), axis=0))
        object.__setattr__(self, "sizes", np.linalg.norm(times(self.H, axes), axis=0))

    @property
    def criticality(self) -> float:
        """How much a plain step changes H, relative to it, along the eigenvector of H'G H where that is most."""
        return float(
            np.divide(self.changes, self.sizes, out=np.zeros_like(self.sizes), where=self.sizes > 0).max(initial=0)
        )

    def is_better(self, other: Iterate, dtype: np.dtype) -> bool:
        """Whether the loss is lower; where rounding does not tell, whether this is more nearly critical."""
        level = ROUNDING * float(np.finfo(dtype).eps) * self.scale
        if abs(self.loss - other.loss) > level:
            return self.loss < other.loss
        return self.criticality < other.criticality


@dataclass(frozen=True)
class Found:
    """Where a search ended, whether its rule held, the bound on all directions, its estimate, and the precision."""

    iterate: Iterate
    settled: bool
    upper: float
    estimate: float
    dtype: np.dtype


class Dca(Solver):
    """Minimize 1/2 |H|^2 + Psi*(H) - tr sqrt(H'K H) over H (n, k): kernel PCA for any objective.

    Each step linearizes the concave part and solves the rest: H <- prox(K H (H'K H)^(-1/2)), one pass over the matrix.
    The loss never rises. For the square objective this is an eigensolver like the others, and a slow one.

    Parameters
    ----------
    start : {"square", "random"}, default="square"
        The dual variable to start from, where none is given: the square solution, or standard normal numbers as in the
        paper.
    accelerate : bool, default=True
        Whether steps are extrapolated; a proposal that would raise the loss is dropped for a plain step.
    stop : {"criticality", "loss"}, default="criticality"
        Stop when a step would change H by less than `tol`, relative to it; or when the loss changes by no more than
        machine precision, as in the paper.
    max_iter : int, default=1000
        Passes at most.
    bound : bool, default=True
        Whether to bound what other directions could reach, which takes the leading eigenpairs of a weighted matrix, and
        to go on from those if they are better.
    real_parts : bool, default=False
        Whether to go on where H'K H has negative eigenvalues, with real parts of its square roots: the loss may then
        rise, and nothing is certain.
    indefinite : {"warn", "raise", "clip", "keep"}, default="warn"
        For the square objective, what to do with negative eigenvalues among the wanted ones.

    Notes
    -----
    Where H'K H is singular its inverse root is zero along the lost directions: they have no rows, and stay so. The
    certificate says how many are left.

    References
    ----------
    Tonin, Lambert, Patrinos, Suykens (2023), Extending kernel PCA through dualization: algorithm 1.
    """

    needs_definite = True
    any_objective = True

    def __init__(
        self,
        start: str = "square",
        accelerate: bool = True,
        stop: str = "criticality",
        max_iter: int = 1000,
        bound: bool = True,
        real_parts: bool = False,
        indefinite: str = "warn",
    ) -> None:
        self.start = start
        self.accelerate = accelerate
        self.stop = stop
        self.max_iter = max_iter
        self.bound = bound
        self.real_parts = real_parts
        self.indefinite = indefinite

    def check_parameters(self, tol: float) -> None:
        """Refuse parameters that have no meaning."""
        super().check_parameters(tol)
        for name, known in (("start", STARTS), ("stop", STOPS)):
            if getattr(self, name) not in known:
                raise ValueError(f"Dca({name}={getattr(self, name)!r}): choose {' or '.join(map(repr, known))}.")

    def cost(self, size: Size, tol: float) -> Cost:
        """Return the cost of passes with as many columns as components."""
        return iterative(size, int(4 * digits_of(tol) + 4), size.k, basis=3 * size.k)

    def run(self, watch: Watch, k: int, start: np.ndarray | None, rng: np.random.Generator) -> Ritz:
        """Find eigenpairs: the square objective, judged like every eigensolver by its Ritz pairs."""
        n = watch.gram.shape[0]
        if 2 * k >= n:  # the dual variable would be as large as the matrix
            return Dense().run(watch, k, start, rng)
        H = rng.standard_normal((n, k))
        if start is not None:
            H[:, : start.shape[1]] = start[:, :k]
        while True:
            turn = watch.passes + ROUND
            for iterate in self._descend(watch, H, Square()):
                values, axes = ritz_values(inner(iterate.H, iterate.H), inner(iterate.H, iterate.GH))
                residuals = residual_norms(iterate.H, iterate.GH, values, axes)
                done = watch.report(values, residuals, captured=-2 * iterate.loss)
                if done or watch.passes >= turn:
                    break
            ritz = ritz_pairs(iterate.H, iterate.GH.astype(watch.gram.dtype, copy=False))
            if done or watch.passes >= self.max_iter:
                return complete(ritz, k, watch, rng)
            # along the axes small components do not drown in the rounding of large ones
            H = ritz.vectors * np.sqrt(np.maximum(ritz.values, 0.0))

    def maximize(
        self, watch: Watch, k: int, objective: Objective, start: np.ndarray | None, rng: np.random.Generator
    ) -> Solution:
        """Find directions for any objective; `start` (n, k) is a dual variable."""
        n = watch.gram.shape[0]
        if start is not None and (start.shape != (n, k) or not np.isfinite(start).all()):
            raise ValueError(f"A start for {k} components of {n} rows is an array of {(n, k)} finite numbers.")
        if objective.relative or (start is None and self.start == "square"):
            square = _square_solution(watch, k, rng)
            objective = objective.resolve(square)
            start = square if start is None and self.start == "square" else start
        H = rng.standard_normal((n, k)) if start is None else start.astype(np.float64)
        gram, worked = watch.gram, self.worked_gram(watch.gram, watch.tol)
        with watch.on(worked, watch.tol, finer=worked is not gram):
            found = self._search(watch, H, objective)
        if worked is not gram and self._goes_on(watch) and not found.settled:
            worked.release()
            found = self._search(watch, found.iterate.H, objective)
        return self._answer(watch, found, objective)

    def working_dtype(self, dtype: np.dtype, tol: float, n: int) -> np.dtype:
        """Return float32 where the target is within its reach and the matrix large."""
        return np.dtype(np.float32) if tol >= SINGLE and n >= LARGE else dtype

    def worked_gram(self, gram: Gram, tol: float) -> Gram:
        """Return the matrix in the precision that it is worked on in."""
        n = gram.shape[0]
        wanted = self.working_dtype(gram.dtype, tol, n)
        return gram.single() if wanted != gram.dtype and fits_into(gram.magnitude(), n, wanted) else gram

    def _goes_on(self, watch: Watch) -> bool:
        return not watch.stopped and watch.passes < self.max_iter

    def _search(self, watch: Watch, H: np.ndarray, objective: Objective) -> Found:
        """Descend, and go on from where the bound shows something better."""
        iterate, settled = self._settle(watch, H, objective)
        upper = estimate = float("inf")
        for _ in range(TRIES if self.bound and iterate.polar.rank else 0):
            if not self._goes_on(watch):
                break
            most, likely, better = _look_elsewhere(watch, iterate, objective, partial(self._polar, watch))
            upper, estimate = min(upper, most), min(estimate, likely)
            if better is None:
                break
            iterate, settled = self._settle(watch, better, objective)
        return Found(iterate, settled, upper, estimate, watch.gram.dtype)

    def _settle(self, watch: Watch, H: np.ndarray, objective: Objective) -> tuple[Iterate, bool]:
        """Descend from H until the stopping rule holds; also return whether it did."""
        history: list[float] = []
        before, settled = np.inf, False
        for iterate in self._descend(watch, H, objective):
            criticality, finite = iterate.criticality, bool(np.isfinite(iterate.loss))
            history.append(criticality)
            told = watch.note(criticality, -2 * iterate.loss if finite else None)
            if self.stop == "loss":
                settled = bool(abs(before - iterate.loss) <= np.finfo(np.float64).eps)
            else:
                settled = bool(criticality <= watch.tol)
            done = settled or (self.stop != "loss" and stalled(history, watch.gram.dtype))
            settled = settled or (done and watch.tol == 0)  # as good as rounding allows was asked for
            if finite and (told or done or iterate.polar.rank == 0):
                break
            before = iterate.loss
        return iterate, settled or iterate.polar.rank == 0

    def _descend(self, watch: Watch, H: np.ndarray, objective: Objective) -> Iterator[Iterate]:
        """Yield one iterate after each pass that counts; the loss never rises."""
        now = self._evaluate(watch, H, objective)
        extrapolation = Extrapolation()
        while True:
            yield now
            if watch.passes >= self.max_iter:
                return
            proposal = self._propose(watch, extrapolation, now, objective) if self.accelerate else None
            if proposal is not None:
                then = self._evaluate(watch, proposal, objective)
                if then.is_better(now, watch.gram.dtype):
                    now = then
                    continue
                extrapolation.misled()
                if watch.passes >= self.max_iter:
                    return
            then = self._evaluate(watch, now.next, objective)
            if not self.real_parts and then.loss > now.loss + SLACK[watch.gram.dtype.itemsize] * then.scale:
                if watch.gram.positive_definite:  # directions at the edge of rounding come and go
                    return
                raise ValueError(
                    f"The loss rose from {now.loss:.6g} to {then.loss:.6g}, which it cannot for a positive "
                    "semi-definite matrix. Check that the matrix is symmetric and the kernel positive definite."
                )
            now = then

    def _propose(
        self, watch: Watch, extrapolation: Extrapolation, now: Iterate, objective: Objective
    ) -> np.ndarray | None:
        """Return a point that may be better than the plain step, if there is one."""
        Y = extrapolation.mix(Step(now.H, now.GH, now.Y, now.next - now.H))
        if Y is None:
            ahead = extrapolation.momentum()
            if ahead is None:
                return None
            Y = times(ahead[1], self._polar(watch, *ahead).inverse)
        return objective.prox_conjugate(Y)

    def _evaluate(self, watch: Watch, H: np.ndarray, objective: Objective) -> Iterate:
        """Multiply, and take from the product what it tells."""
        GH = watch.matmat(H.astype(watch.gram.dtype, copy=False)).astype(np.float64, copy=False)
        return iterate_of(H, GH, objective, partial(self._polar, watch))

    def _polar(self, watch: Watch, H: np.ndarray, GH: np.ndarray) -> Polar:
        return polar(H, GH, type(self).__name__, self.real_parts, watch.gram.dtype)

    def _answer(self, watch: Watch, answer: Found, objective: Objective) -> Solution:
        """Turn directions to principal axes, and say how good they are."""
        found, upper = answer.iterate, answer.upper
        k = found.H.shape[1]
        squares, turn = np.linalg.eigh(inner(found.Y, found.Y))
        values = np.where(np.arange(k) < found.polar.rank, np.maximum(squares[::-1], 0.0), 0.0)
        turn = turn[:, ::-1]
        scores = times(found.Y, turn)
        factors = leading_signs(scores) * np.sqrt(values)
        vectors, products = times(found.H, found.polar.inverse @ turn) * factors, scores * factors
        reached = objective.envelope(found.Y)
        rounding = ROUNDING * float(np.finfo(answer.dtype).eps) * found.scale
        gap = variance_gap(reached, upper + rounding)
        likely = variance_gap(reached, min(answer.estimate, upper) + rounding)
        certificate = DualCertificate(
            grade="certified" if gap <= watch.tol else "estimated",
            residuals=np.pad(found.changes, (0, k - found.polar.rank)),
            relative_residual=found.criticality,
            orthogonality_loss=0.0,
            lower=2 * reached,
            upper=2 * upper,
            clusters=(),
            passes=watch.passes,
            seconds=watch.seconds(),
            tol=watch.tol,
            rounding=rounding,
            satisfied=answer.settled,
            limited=not answer.settled and self._goes_on(watch),
            estimate=likely,
            criterion="criticality",
            objective=repr(objective),
            criticality=found.criticality,
            loss=found.loss,
            duality_gap=(found.loss + reached) / reached if reached > 0 else 0.0,
            scope="global" if min(gap, likely) <= watch.tol else "local",
            rank=found.polar.rank,
            rule=self.stop,
        )
        if not certificate.satisfied:
            self._warn(certificate, watch)
        lengths = np.linalg.norm(found.Y, axis=1)
        shares = np.divide(np.linalg.norm(found.next, axis=1), lengths, out=np.ones_like(lengths), where=lengths > 0)
        dual = Dual(objective, found.H, found.Y, shares)
        return Solution(values, vectors, products, certificate, watch.history, True, watch.stopped, dual)


def iterate_of(H: np.ndarray, GH: np.ndarray, objective: Objective, decompose: Decompose) -> Iterate:
    """(n, s), (n, s) G H -> all that they tell."""
    P = decompose(H, GH)
    dual = objective.dual(H)
    Y = times(GH, P.inverse)
    scale = P.nuclear + (dual if np.isfinite(dual) else 0.0)
    return Iterate(H, GH, P, dual - P.nuclear, scale, Y, objective.prox_conjugate(Y))


def _square_solution(watch: Watch, k: int, rng: np.random.Generator) -> np.ndarray:
    """(n, k): U sqrt(Lambda), the dual variable of the square objective in principal axes."""
    solution = _eigenpairs(watch.gram, k, watch.tol, rng)
    watch.passes += solution.certificate.passes
    return solution.vectors.astype(np.float64) * np.sqrt(np.maximum(solution.values, 0.0))


def _eigenpairs(gram: Gram, k: int, tol: float, rng: np.random.Generator) -> Solution:
    n = gram.shape[0]
    solver = Dense() if n <= FEW else BlockKrylov(indefinite="keep")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return solver.solve(gram, k, tol=tol, rng=rng)


def _look_elsewhere(
    watch: Watch, found: Iterate, objective: Objective, decompose: Decompose
) -> tuple[float, float, np.ndarray | None]:
    """Return a bound of the objective for all directions, an estimate of that bound, and a better H if it shows one.

    With f(Z) <= c + 1/2 sum_i omega_i |z_i|^2 (`Objective.majorant`) no k directions reach more than c + 1/2 the sum of
    the k largest eigenvalues of Omega^(1/2) G Omega^(1/2).
    """
    gram = watch.gram
    lengths = np.sqrt(np.maximum(gram.diagonal().astype(np.float64), 0.0))
    weights, constant = objective.majorant(found.Y, lengths)
    k, roots = found.H.shape[1], np.sqrt(weights)[:, None]
    solution = _eigenpairs(WeightedGram(gram, weights), k, min(watch.tol, 1e-4), np.random.default_rng(0))
    watch.passes += solution.certificate.passes
    upper = constant + solution.certificate.upper / 2
    estimate = constant + float(solution.values.sum()) / 2
    reached = objective.envelope(found.Y)
    if not roots.all() or estimate <= reached * (1 + watch.tol):
        return upper, estimate, None
    C, GC = (solution.vectors * roots).astype(np.float64), (solution.products / roots).astype(np.float64)
    there = iterate_of(C, GC, objective, decompose)
    better = objective.envelope(there.Y) > reached * (1 + watch.tol)
    return upper, estimate, there.next if better else None
