"""What every eigensolver shares: the question, the answer, and the evidence."""

from __future__ import annotations

import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernelpca.gram.protocol import Gram
from kernelpca.objectives import Objective, Square
from kernelpca.parts import Part
from kernelpca.solvers.bounds import rigorous_bound
from kernelpca.solvers.certificate import Approximation, Certificate, find_clusters, reached, relative, variance_gap
from kernelpca.solvers.evidence import SAFETY, Evidence, second_order
from kernelpca.solvers.rayleigh_ritz import residual_matrix
from kernelpca.tiles import one_blas_thread

# eps of the largest eigenvalue that hundreds of passes may lose: float64 has digits to spare, float32 has not
ROUNDING_UNITS = {4: 10, 8: 100}

NEAR = 4  # times the rounding level: residuals that stay there are rounding error too
STALLED = 0.9  # of the residual two passes ago

NEGLIGIBLE = 1e-5  # of the largest eigenvalue: negative ones smaller than this are noise, as in scikit-learn

Callback = Callable[["Progress"], object]
Keep = Callable[[np.ndarray, float, np.dtype], int | None]


class IndefiniteKernelWarning(UserWarning):
    """The kernel matrix has significant negative eigenvalues among the wanted ones."""


CRITERIA = ("residual", "variance", "certified")
ORTHOGONAL = 1e-3  # what products of different vectors may be at most, if an answer is to be called good

# parameters that are whole numbers, with the least that is allowed
WHOLE = {"max_iter": 1, "block_size": 1, "max_basis": 1, "ncv": 1, "oversampling": 0, "landmarks": 0, "memory": 1}


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


@dataclass
class Ritz:
    """What a solver found: pairs of a projected problem, in any order.

    `values` may hold more than the wanted ones (they tell gaps and sharpen the bound); `vectors` and `products`
    (the matrix times the vectors) hold at least the k largest, in the order of the values. `coupling` is R'R of the
    residuals of all values, where the solver knows it; `evidence` knows more. Where `residuals` are given they are
    estimates, and the products are not known. `approximation` is what a sketch knows of its own error.
    """

    values: np.ndarray
    vectors: np.ndarray
    products: np.ndarray | None = None
    coupling: np.ndarray | None = None
    exact: bool = False
    residuals: np.ndarray | None = None
    evidence: Evidence | None = None
    approximation: Approximation | None = None


@dataclass(frozen=True)
class Dual:
    """A solution of the dual problem.

    Attributes
    ----------
    objective : Objective
        What was maximized, with every parameter a number.
    H : ndarray of shape (n, k)
        The dual variable.
    Y : ndarray of shape (n, k)
        The scores that belong to it, not yet turned to principal axes.
    shares : ndarray of shape (n,)
        The part of each row of Y that counts: its length after the proximal operator over that before.
    largest : float
        The largest useful value of the objective's parameter, where it has one.
    """

    objective: Objective
    H: np.ndarray
    Y: np.ndarray
    shares: np.ndarray
    largest: float = float("nan")


@dataclass
class Solution:
    """The k algebraically largest eigenpairs of a Gram matrix, largest first, with their evidence.

    Attributes
    ----------
    values : ndarray of shape (k,)
        Eigenvalues, float64.
    vectors : ndarray of shape (n, k)
        Orthonormal eigenvectors; in each the entry of largest size is positive.
    products : ndarray of shape (n, k)
        The matrix times the vectors; vectors times values where the answer was read off fewer passes than that takes.
    history : list of Progress
        What the callback was told.
    certificate : Certificate
        How good all this is.
    enough : bool
        False if the rule `keep` needs more eigenpairs to decide.
    stopped : bool
        Whether the user's callback stopped the solver.
    dual : Dual or None
        The dual solution, for an objective other than the variance. Then `values` are the squared lengths of the scores
        by principal axes, `vectors` the coefficients of orthonormal directions times the roots of the values, and
        `products` the matrix times that: for the variance this is the same as above.
    """

    values: np.ndarray
    vectors: np.ndarray
    products: np.ndarray
    certificate: Certificate
    history: list[Progress] = field(default_factory=list)
    enough: bool = True
    stopped: bool = False
    dual: Dual | None = None


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
        unit = _unit(self.gram.dtype)
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


class Solver(Part, ABC):
    """Finds the k algebraically largest eigenpairs of a Gram matrix.

    A subclass writes `run`; order, signs, the certificate, warnings and the treatment of negative eigenvalues are
    here, the same for all.
    """

    indefinite: str = "warn"
    criterion: str = "residual"
    any_objective: bool = False  # whether it takes objectives other than the variance
    needs_definite: bool = False  # whether it works on positive semi-definite matrices only
    spreads_itself: bool = False  # whether it leaves the cores to BLAS
    advice: str = "max_iter"

    @abstractmethod
    def run(self, watch: Watch, k: int, start: np.ndarray | None, rng: np.random.Generator) -> Ritz:
        """Find at least k Ritz pairs; read the matrix through `watch` only."""

    def block_width(self, n: int, k: int, entry_cost: float) -> int:
        """Return how many columns a pass over an n x n matrix has, whose entries take so many multiply-adds."""
        return min(k + 10, n)

    def working_dtype(self, dtype: np.dtype, tol: float, n: int) -> np.dtype:
        """Return the precision that an n x n matrix of this dtype is worked on in for this target."""
        return dtype

    def solve(
        self,
        gram: Gram,
        k: int,
        *,
        objective: Objective | None = None,
        tol: float = 1e-4,
        start: np.ndarray | None = None,
        rng: np.random.Generator | None = None,
        callback: Callback | None = None,
        keep: Keep | None = None,
    ) -> Solution:
        """Return the k largest eigenpairs.

        Parameters
        ----------
        gram : Gram
            The matrix.
        k : int
            How many, at most n.
        objective : Objective, optional
            What to maximize, if not the variance; `Dca` takes any.
        tol : float, default=1e-4
            Wanted size of |r_i| / theta_i for every component, or of what the solver's criterion says; 0 for as good
            as rounding allows.
        start : ndarray of shape (n, p), optional
            Vectors to start from, where the solver can use them; for another objective the dual variable.
        rng : numpy Generator, optional
            Source of random starts.
        callback : callable, optional
            Told a `Progress` after each pass (`Dense` has no passes to tell of); returning True stops the solver.
        keep : callable, optional
            `keep(values, rounding, dtype)` chooses how many of the k eigenpairs, found in that precision, to keep,
            or None if it needs more to tell. Warnings and the certificate are about those that are kept.
        """
        self._check_question(gram, k, tol)
        watch = Watch(gram, k, float(tol), callback, self.criterion)
        rng = rng or np.random.default_rng(0)
        with nullcontext() if self.spreads_itself else one_blas_thread:
            if objective is None or isinstance(objective, Square):
                return self._solve(watch, k, start, rng, keep)
            objective.check()
            return self.maximize(watch, k, objective, start, rng)

    def maximize(
        self, watch: Watch, k: int, objective: Objective, start: np.ndarray | None, rng: np.random.Generator
    ) -> Solution:
        """Find k directions for an objective other than the variance; eigensolvers cannot."""
        raise ValueError(self.refusal(objective))

    def refusal(self, objective: Objective) -> str:
        """Say why an objective other than the variance cannot be given to an eigensolver."""
        return (
            f"{type(self).__name__} is not compatible with {objective!r}: it needs the variance as objective, whose "
            "directions are eigenvectors. Use kernelpca.solvers.Dca, which takes any objective."
        )

    def _solve(
        self, watch: Watch, k: int, start: np.ndarray | None, rng: np.random.Generator, keep: Keep | None
    ) -> Solution:
        """Run, choose how many to keep, and say how good they are."""
        ritz = self.run(watch, k, start, rng)
        values, vectors, products = _leading(ritz, k, watch)
        chosen = k if keep is None else keep(values, watch.rounding, vectors.dtype)
        if chosen is not None:
            values, vectors, products = values[:chosen], vectors[:, :chosen], products[:, :chosen]
        certificate = _certify(ritz, values, vectors, products, watch)
        if chosen is not None or watch.stopped:
            if not certificate.satisfied or chosen is None:
                self._warn(certificate, watch)
            values = treat_negative(values, watch.rounding, self.indefinite)
        return Solution(values, vectors, products, certificate, watch.history, chosen is not None, watch.stopped)

    def check_parameters(self, tol: float) -> None:
        """Refuse parameters that have no meaning."""
        if self.indefinite not in ("warn", "raise", "clip", "keep"):
            raise ValueError(
                f"indefinite={self.indefinite!r} is not known: choose 'warn' (keep negative eigenvalues and say so), "
                "'raise', 'clip' (set them to zero) or 'keep' (silently)."
            )
        if not (isinstance(tol, int | float | np.number) and 0 <= tol < 1):
            raise ValueError(f"tol={tol!r}: tol must be a number from 0 (machine precision) to below 1, such as 1e-4.")
        if self.criterion not in CRITERIA:
            raise ValueError(
                f"criterion={self.criterion!r} is not known: choose 'residual' (scores you can trust), 'variance' "
                "(estimated error of the captured variance) or 'certified' (a bound on it)."
            )
        for name, least in WHOLE.items():
            value = getattr(self, name, None)
            if value is not None and not (_is_whole(value) and value >= least):
                raise ValueError(f"{type(self).__name__}({name}={value!r}): {name} must be a whole number >= {least}.")

    def _check_question(self, gram: Gram, k: int, tol: float) -> None:
        self.check_parameters(tol)
        n = gram.shape[0]
        if not 1 <= k <= n:
            raise ValueError(f"{k} eigenpairs of a {n} x {n} matrix were asked for; between 1 and {n} are possible.")
        size = gram.magnitude()
        if not fits_into(size, n, gram.dtype):
            raise ValueError(
                f"The kernel matrix has entries of size {size:.1e}, whose squares {gram.dtype} cannot hold. Scale the "
                "data or the kernel (c * kernel), or lower its degree."
            )

    def _warn(self, certificate: Certificate, watch: Watch) -> None:
        dtype = watch.gram.dtype
        text = (
            f"{type(self).__name__} stopped after {certificate.passes} passes with "
            f"{certificate.measured()}; {certificate.tol:.0e} was asked for. "
        )
        if watch.stopped:
            text += "The callback asked it to stop."
        elif certificate.limited:
            text += f"That is as good as rounding in {dtype} allows: "
            text += "give float64 data, " if dtype == np.float32 else "ask for fewer components, "
            text += "widen the kernel's spectrum (a larger gamma), or raise tol."
        else:
            text += f"Raise {self.advice}, or tol"
            text += "." if self.any_objective else ", or use solver='dense' if the matrix fits in memory."
        warnings.warn(text, ConvergenceWarning, stacklevel=3)


def fits_into(largest: float, n: int, dtype: np.dtype) -> bool:
    """Whether sums of n squares of entries of this size are normal numbers of that dtype."""
    limits = np.finfo(dtype)
    return largest == 0 or bool(np.sqrt(float(limits.tiny)) * n <= largest <= np.sqrt(float(limits.max)) / n)


def _leading(ritz: Ritz, k: int, watch: Watch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Put the k largest in order, fix their signs, and make sure their products are known."""
    order = np.argsort(-ritz.values[: ritz.vectors.shape[1]], kind="stable")[:k]
    vectors = np.ascontiguousarray(ritz.vectors[:, order])
    signs = leading_signs(vectors)
    vectors *= signs
    if ritz.residuals is not None:
        products = vectors * ritz.values[order].astype(vectors.dtype)
    else:
        products = watch.matmat(vectors) if ritz.products is None else ritz.products[:, order] * signs
    watch.see(ritz.values)
    values = ritz.values[order].astype(np.float64)
    if ritz.exact:  # LAPACK is backward stable: what it leaves is rounding
        R = residual_matrix(values, vectors, products)
        watch.rounding = max(watch.rounding, 2 * float(np.linalg.norm(R, axis=0).max()))
    return values, vectors, products


def leading_signs(vectors: np.ndarray) -> np.ndarray:
    """(n, k) -> (k,): the signs that make the entry of largest size positive; of equal ones, the first."""
    sizes = np.abs(vectors)
    first = np.argmax(sizes >= sizes.max(axis=0) * (1 - 1e-5), axis=0)
    return np.where(vectors[first, np.arange(vectors.shape[1])] < 0, -1.0, 1.0).astype(vectors.dtype)


def _certify(ritz: Ritz, values: np.ndarray, vectors: np.ndarray, products: np.ndarray, watch: Watch) -> Certificate:
    """Gather the evidence for the leading pairs, which may be fewer than the Ritz pairs known."""
    k, rounding, tol = len(values), watch.rounding, watch.tol
    R = residual_matrix(values, vectors, products)
    residuals = np.linalg.norm(R, axis=0) if ritz.residuals is None else ritz.residuals[:k]
    loss = float(np.abs(vectors.T.astype(np.float64) @ vectors - np.eye(k)).max(initial=0.0))
    following = np.sort(ritz.values)[::-1][k] if len(ritz.values) > k else None
    slack = k * rounding
    captured = float(np.einsum("ij,ij->", vectors, products, dtype=np.float64))
    lower = captured - slack - loss * float(np.abs(values).sum())
    exact = ritz.exact or k == 0
    probability = 0.0
    if exact:
        upper, estimate = float(values.sum()) + slack, 0.0
    elif ritz.evidence is not None:
        upper = slack + ritz.evidence.upper(k)
        estimate = min(ritz.evidence.estimate(k), variance_gap(lower, upper))  # what is bounded need not be estimated
        probability = ritz.evidence.failure_probability
    else:
        known, coupling = (values, R.T @ R) if ritz.coupling is None else (ritz.values, ritz.coupling)
        upper = slack + rigorous_bound(known, coupling, k, watch.gram, rounding)
        estimate = _estimate(values, residuals, watch.gram) / lower if lower > 0 else 0.0
    met = reached(values, residuals, tol, rounding)
    if watch.criterion == "residual" or exact:
        small = reached(values, residuals, max(tol, _unit(watch.gram.dtype)), 0.0) | (np.abs(values) <= rounding)
        satisfied = bool(met.all() if exact or tol == 0 else (met & small).all())
    else:
        satisfied = (estimate if watch.criterion == "variance" else variance_gap(lower, upper)) <= tol
    satisfied = satisfied and loss <= ORTHOGONAL
    return Certificate(
        grade="exact" if exact else "certified" if variance_gap(lower, upper) <= tol else "estimated",
        residuals=residuals,
        relative_residual=relative(values, residuals, rounding),
        orthogonality_loss=loss,
        lower=lower,
        upper=upper,
        clusters=find_clusters(values, np.maximum(residuals, rounding), following),
        passes=watch.passes,
        seconds=watch.seconds(),
        tol=tol,
        rounding=rounding,
        satisfied=satisfied,
        limited=bool(met.all()) and not satisfied,
        estimate=estimate,
        criterion=watch.criterion,
        failure_probability=probability,
        approximation=ritz.approximation,
    )


def _estimate(values: np.ndarray, residuals: np.ndarray, gram: Gram) -> float:
    """Estimate by how much the sum of the largest eigenvalues exceeds that of these Ritz values."""
    rest = max(gram.shape[0] - len(values), 1)
    return SAFETY * second_order(values, residuals, (gram.trace() - float(values.sum())) / rest)


def treat_negative(values: np.ndarray, rounding: float, indefinite: str) -> np.ndarray:
    """(k,) -> (k,): values with what is zero up to rounding made zero, and negative ones treated as asked."""
    values = np.where(np.abs(values) <= rounding, 0.0, values)
    if indefinite == "keep" or not (values < 0).any():
        return values
    largest = float(values.max(initial=0.0))
    significant = values < -NEGLIGIBLE * largest
    if indefinite == "clip" or not significant.any():
        return np.maximum(values, 0.0)
    ratio = f" ({-values.min() / largest:.2g} of the largest)" if largest > 0 else ""
    text = (
        f"There are significant negative eigenvalues{ratio}: {int(significant.sum())} of {len(values)} components. The "
        "kernel is not positive definite on this data, so these components are no directions of variance. Ask for "
        "fewer components, choose a positive definite kernel, or set the solver's indefinite='clip' or 'keep'."
    )
    if indefinite == "raise":
        raise ValueError(text)
    warnings.warn(text, IndefiniteKernelWarning, stacklevel=4)
    return values


def _unit(dtype: np.dtype) -> float:
    """Return the relative residual that rounding allows."""
    return ROUNDING_UNITS[dtype.itemsize] * float(np.finfo(dtype).eps)


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
