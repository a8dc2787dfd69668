"""What every eigensolver shares: the question, and the way to the answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import nullcontext

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernelpca.gram.protocol import Gram
from kernelpca.objectives import Objective, Square
from kernelpca.parts import Part
from kernelpca.solvers.certificate import Certificate
from kernelpca.solvers.cost import Cost, Size, digits_of, iterative
from kernelpca.solvers.solution import Ritz, Solution, certify, leading, say_rounded, treat_negative
from kernelpca.solvers.watch import Callback, Watch
from kernelpca.tiles import one_blas_thread
from kernelpca.warn import warn

Keep = Callable[[np.ndarray, float, np.dtype], int | None]

CRITERIA = ("residual", "variance", "certified")

# parameters that are whole numbers, with the least that is allowed
WHOLE = {"max_iter": 1, "block_size": 1, "max_basis": 1, "ncv": 1, "oversampling": 0, "landmarks": 0, "memory": 1}


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
    wide: bool = True  # whether its passes have a column for each component
    tries_single: bool = False  # whether passes in float32 may come before those in float64
    advice: str = "max_iter"

    @abstractmethod
    def run(self, watch: Watch, k: int, start: np.ndarray | None, rng: np.random.Generator) -> Ritz:
        """Find at least k Ritz pairs; read the matrix through `watch` only."""

    def cost(self, size: Size, tol: float) -> Cost:
        """Return what it is likely to take for a problem of this size and this target."""
        columns = min(size.k + 10, size.n)
        return iterative(size, int(4 * digits_of(tol) + 4), columns, basis=3 * columns)

    def frugal(self, size: Size) -> Iterator[tuple[Solver, str]]:
        """Return solvers that need less memory, more and more frugal, each with what it goes without."""
        yield from ()

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
        values, vectors, products = leading(ritz, k, watch)
        chosen = k if keep is None else keep(values, watch.rounding, vectors.dtype)
        if chosen is not None:
            values, vectors, products = values[:chosen], vectors[:, :chosen], products[:, :chosen]
        certificate = certify(ritz, values, vectors, products, watch)
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
        elif certificate.grade == "rounded":
            text = say_rounded(certificate, dtype)
        elif certificate.limited:
            text += f"That is as good as rounding in {dtype} allows: "
            text += "give float64 data, " if dtype == np.float32 else "ask for fewer components, "
            text += "widen the kernel's spectrum (a larger gamma), or raise tol."
        else:
            text += f"Raise {self.advice}, or tol"
            text += "." if self.any_objective else ", or use solver='dense' if the matrix fits in memory."
        warn(text, ConvergenceWarning)


def fits_into(largest: float, n: int, dtype: np.dtype) -> bool:
    """Whether sums of n squares of entries of this size are normal numbers of that dtype."""
    limits = np.finfo(dtype)
    return largest == 0 or bool(np.sqrt(float(limits.tiny)) * n <= largest <= np.sqrt(float(limits.max)) / n)


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
