"""What every eigensolver shares: the question, the answer, and the evidence."""

from __future__ import annotations

import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernelpca.gram.protocol import Gram
from kernelpca.parts import Part
from kernelpca.solvers.certificate import Certificate, find_clusters, reached, relative, upper_bound
from kernelpca.solvers.rayleigh_ritz import residual_matrix

# eps of the largest eigenvalue that hundreds of passes may lose: float64 has digits to spare, float32 has not
ROUNDING_UNITS = {4: 10, 8: 100}

Callback = Callable[["Progress"], object]


class IndefiniteKernelWarning(UserWarning):
    """The kernel matrix has significant negative eigenvalues among the wanted ones."""


@dataclass(frozen=True)
class Progress:
    """What a callback is told after each pass; if it returns True, the solver stops with what it has."""

    passes: int
    seconds: float
    wanted: int
    converged: int | None = None
    relative_residual: float | None = None


@dataclass
class Ritz:
    """What a solver found: pairs of a projected problem, in any order.

    `values` may hold more than the wanted ones (they tell gaps and sharpen the bound); `vectors` and `products`
    (the matrix times the vectors) hold at least the k largest, in the order of the values. `coupling` is R'R of the
    residuals of all values, where the solver knows it.
    """

    values: np.ndarray
    vectors: np.ndarray
    products: np.ndarray | None = None
    coupling: np.ndarray | None = None
    exact: bool = False


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
        The matrix times the vectors.
    history : list of Progress
        One entry for each pass.
    certificate : Certificate
        How good all this is.
    """

    values: np.ndarray
    vectors: np.ndarray
    products: np.ndarray
    certificate: Certificate
    history: list[Progress] = field(default_factory=list)


class Watch:
    """Counts passes over a Gram matrix, keeps time and tells the callback."""

    def __init__(self, gram: Gram, k: int, tol: float, callback: Callback | None) -> None:
        self.gram = gram
        self.k = k
        self.tol = tol
        self.rounding = 0.0
        self.callback = callback
        self.history: list[Progress] = []
        self.passes = 0
        self.began = time.perf_counter()

    def matmat(self, V: np.ndarray) -> np.ndarray:
        """(n, p) -> (n, p): one pass."""
        self.passes += 1
        return self.gram.matmat(V)

    def dense(self) -> np.ndarray:
        """() -> (n, n): one pass."""
        self.passes += 1
        return self.gram.dense()

    def see(self, values: np.ndarray) -> None:
        """Raise the rounding level to what residuals of eigenvalues of this size can be reduced to."""
        unit = ROUNDING_UNITS[self.gram.dtype.itemsize] * float(np.finfo(self.gram.dtype).eps)
        self.rounding = max(self.rounding, self.gram.rounding(), unit * float(np.abs(values).max()))

    def seconds(self) -> float:
        """Return the time since the start."""
        return time.perf_counter() - self.began

    def report(self, values: np.ndarray, residuals: np.ndarray) -> bool:
        """Note where the solver stands after a pass; True if it should stop: all is reached, or the user says so."""
        self.see(values)
        done = reached(values, residuals, self.tol, self.rounding)
        event = Progress(
            self.passes, self.seconds(), self.k, int(done.sum()), relative(values, residuals, self.rounding)
        )
        self.history.append(event)
        stop = self.callback is not None and self.callback(event) is True
        return stop or bool(done.all())


class Solver(Part, ABC):
    """Finds the k algebraically largest eigenpairs of a Gram matrix.

    A subclass writes `run`; order, signs, the certificate, warnings and the treatment of negative eigenvalues are
    here, the same for all.
    """

    indefinite: str = "warn"
    advice: str = "max_iter"

    @abstractmethod
    def run(self, watch: Watch, k: int, start: np.ndarray | None, rng: np.random.Generator) -> Ritz:
        """Find at least k Ritz pairs; read the matrix through `watch` only."""

    def solve(
        self,
        gram: Gram,
        k: int,
        *,
        tol: float = 1e-4,
        start: np.ndarray | None = None,
        rng: np.random.Generator | None = None,
        callback: Callback | None = None,
    ) -> Solution:
        """Return the k largest eigenpairs.

        Parameters
        ----------
        gram : Gram
            The matrix.
        k : int
            How many, at most n.
        tol : float, default=1e-4
            Wanted size of |r_i| / theta_i for every component; 0 for as good as rounding allows.
        start : ndarray of shape (n, p), optional
            Vectors to start from, where the solver can use them.
        rng : numpy Generator, optional
            Source of random starts.
        callback : callable, optional
            Told a `Progress` after each pass; returning True stops the solver.
        """
        n = gram.shape[0]
        if self.indefinite not in ("warn", "raise", "clip", "keep"):
            raise ValueError(
                f"indefinite={self.indefinite!r} is not known: choose 'warn' (keep negative eigenvalues and say so), "
                "'raise', 'clip' (set them to zero) or 'keep' (silently)."
            )
        if not 1 <= k <= n:
            raise ValueError(f"{k} eigenpairs of a {n} x {n} matrix were asked for; between 1 and {n} are possible.")
        if not (isinstance(tol, int | float | np.number) and 0 <= tol < 1):
            raise ValueError(f"tol={tol!r}: tol must be a number from 0 (machine precision) to below 1, such as 1e-4.")
        watch = Watch(gram, k, float(tol), callback)
        ritz = self.run(watch, k, start, rng or np.random.default_rng(0))
        watch.see(ritz.values)
        values, vectors, products = _leading(ritz, k, watch)
        certificate = _certify(ritz, values, vectors, products, watch)
        if not certificate.satisfied:
            warnings.warn(
                f"{type(self).__name__} stopped after {watch.passes} passes with relative residual "
                f"{certificate.relative_residual:.1e}; {tol:.0e} was asked for. Raise {self.advice}, or tol, or use "
                "solver='dense' if the matrix fits in memory.",
                ConvergenceWarning,
                stacklevel=2,
            )
        values = treat_negative(values, watch.rounding, self.indefinite)
        return Solution(values, vectors, products, certificate, watch.history)


def _leading(ritz: Ritz, k: int, watch: Watch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Put the k largest in order, fix their signs, and make sure their products are known."""
    order = np.argsort(-ritz.values[: ritz.vectors.shape[1]], kind="stable")[:k]
    vectors = np.ascontiguousarray(ritz.vectors[:, order])
    signs = leading_signs(vectors)
    vectors *= signs
    products = watch.matmat(vectors) if ritz.products is None else ritz.products[:, order] * signs
    return ritz.values[order].astype(np.float64), vectors, products


def leading_signs(vectors: np.ndarray) -> np.ndarray:
    """(n, k) -> (k,): the signs that make the entry of largest size positive; of equal ones, the first."""
    sizes = np.abs(vectors)
    first = np.argmax(sizes >= sizes.max(axis=0) * (1 - 1e-5), axis=0)
    return np.where(vectors[first, np.arange(vectors.shape[1])] < 0, -1.0, 1.0).astype(vectors.dtype)


def _certify(ritz: Ritz, values: np.ndarray, vectors: np.ndarray, products: np.ndarray, watch: Watch) -> Certificate:
    k, n = len(values), vectors.shape[0]
    R = residual_matrix(values, vectors, products)
    residuals = np.linalg.norm(R, axis=0)
    if ritz.exact:  # LAPACK is backward stable: what it leaves is rounding
        watch.rounding = max(watch.rounding, 2 * float(residuals.max()))
    loss = float(np.abs(vectors.T.astype(np.float64) @ vectors - np.eye(k)).max())
    following = np.sort(ritz.values)[::-1][k] if len(ritz.values) > k else None
    slack = k * watch.rounding
    lower = (
        float(np.einsum("ij,ij->", vectors, products, dtype=np.float64)) - slack - loss * float(np.abs(values).sum())
    )
    if ritz.exact:
        upper = float(values.sum()) + slack
    else:
        known, coupling = (values, R.T @ R) if ritz.coupling is None else (ritz.values, ritz.coupling)
        gram = watch.gram
        upper = slack + upper_bound(
            known, coupling, k, n, gram.trace(), gram.frobenius_squared(), gram.positive_definite
        )
    satisfied = bool(reached(values, residuals, watch.tol, watch.rounding).all())
    gap = (upper - lower) / lower if lower > 0 else 0.0
    return Certificate(
        grade="exact" if ritz.exact else "certified" if gap <= watch.tol else "estimated",
        residuals=residuals,
        relative_residual=relative(values, residuals, watch.rounding),
        orthogonality_loss=loss,
        lower=lower,
        upper=max(upper, lower),
        clusters=find_clusters(values, np.maximum(residuals, watch.rounding), following),
        passes=watch.passes,
        seconds=watch.seconds(),
        tol=watch.tol,
        rounding=watch.rounding,
        satisfied=satisfied,
    )


def treat_negative(values: np.ndarray, rounding: float, indefinite: str) -> np.ndarray:
    """(k,) -> (k,): values with what is zero up to rounding made zero, and negative ones treated as asked."""
    values = np.where(np.abs(values) <= rounding, 0.0, values)
    negative = values < 0
    if not negative.any() or indefinite == "keep":
        return values
    if indefinite == "clip":
        return np.where(negative, 0.0, values)
    largest = values.max(initial=0.0)
    ratio = f" ({-values.min() / largest:.2g} of the largest)" if largest > 0 else ""
    text = (
        f"There are significant negative eigenvalues{ratio}: {int(negative.sum())} of {len(values)} components. The "
        "kernel is not positive definite on this data, so these components are no directions of variance. Ask for "
        "fewer components, choose a positive definite kernel, or set the solver's indefinite='clip' or 'keep'."
    )
    if indefinite == "raise":
        raise ValueError(text)
    warnings.warn(text, IndefiniteKernelWarning, stacklevel=3)
    return values
