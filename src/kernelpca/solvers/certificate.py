"""The evidence that comes with every answer: how far from exact it can be."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

USEFUL = 0.1  # a bound on the captured variance wider than this says nothing to a user
CLUSTERED = 0.05  # residual over gap beyond which single components are not told apart
NOTHING = 1e-6  # of what rounding may do: eigenvalues that are no larger come from entries that are all the same


@dataclass(frozen=True)
class Approximation:
    """How well features stand for a kernel, from kernel values that were not used to choose them.

    Attributes
    ----------
    name : str
        What the features are.
    error, standard_error : float
        Root mean square of k(x, y) less what the features say it is, and how uncertain that figure is.
    scale : float
        Root mean square of the kernel values themselves.
    missed : float or None
        At most this fraction more variance than captured here is captured by exact kernel PCA; None where no bound
        is known.
    of_matrix : bool
        Whether the residuals of the certificate are those of the kernel matrix itself, and not of the features'.
    """

    name: str
    error: float
    standard_error: float
    scale: float
    missed: float | None = None
    of_matrix: bool = False

    def __str__(self) -> str:
        if np.isnan(self.error):
            return f"{self.name} stand for the kernel; no other kernel values are known to compare with"
        text = (
            f"{self.name} reproduce kernel values to {self.error:.2g} ± {self.standard_error:.1g} (root mean square; "
            f"that of the values is {self.scale:.2g})"
        )
        if self.missed is None:
            return text
        return text + f"; exact kernel PCA captures at most {self.missed:.2%} more variance than this"


@dataclass(frozen=True)
class Compression:
    """What it costs that a few anchors stand for all those that a model had (`model.compress`).

    Attributes
    ----------
    anchors, of : int
        How many there are, and how many there were.
    rows : ndarray of shape (anchors,) or None
        Which of those there were they are; None where they were moved.
    error, worst : float
        Change of the scores of the former anchors: root mean square and largest, as a part of the root mean square
        score, in the component where it is most.
    residual_error : float
        Change of their squared distances from the subspace: root mean square, as a part of the mean squared distance
        from the mean.
    off : ndarray of shape (k,)
        |v' - v| for each direction: scores of any sample change by at most this times its distance from the mean in
        feature space.
    center_error : float
        How far the mean of the model has moved in feature space. Scores are still those about the former one.
    """

    anchors: int
    of: int
    rows: np.ndarray | None
    error: float
    worst: float
    residual_error: float
    off: np.ndarray
    center_error: float

    def kept(self) -> str:
        """Say how many anchors there are."""
        if self.rows is None:
            return f"{self.anchors} points stand for {self.of} anchors"
        return f"{self.anchors} of {self.of} anchors are kept"

    def __str__(self) -> str:
        return (
            f"{self.kept()}: in the worst component scores of anchors change by {self.error:.2%} of their root mean "
            f"square, and by {self.worst:.2%} at most; those of any other sample change by at most "
            f"{self.off.max(initial=0.0):.2g} times its distance from the mean in feature space"
        )


@dataclass(frozen=True)
class Certificate:
    """How good the eigenpairs of a symmetric matrix are, from residuals alone.

    Attributes
    ----------
    grade : {"exact", "certified", "estimated", "rounded"}
        "exact": solved densely; "certified": the bounds on the captured variance agree to within `tol`; "estimated":
        residuals and probes say how good it is, but the bounds are wider than that; "rounded": rounding of the kernel
        values themselves leaves more than `tol` allows, however exactly their matrix is solved.
    residuals : ndarray of shape (k,)
        |K u_i - theta_i u_i|: some eigenvalue lies within this distance of theta_i. Computed, or estimated from random
        probes where the answer is read off a single pass (`criterion` "variance" or "certified").
    relative_residual : float
        The largest residual over its eigenvalue; on real data the worst score is good to about this.
    orthogonality_loss : float
        Largest entry of |U'U - I|.
    lower, upper : float
        The sum of the k largest eigenvalues lies between these, up to the rounding level, for certain or but for
        `failure_probability`.
    estimate : float
        Estimated relative error of the captured variance: usually right, but no bound.
    criterion : {"residual", "variance", "certified"}
        What was to be below `tol`: the relative residual, the estimate, or the bound `variance_gap`.
    clusters : tuple of tuples
        Components (counted from 0) too close together to be told apart: only their span is determined.
    passes : int
        How often the matrix was read.
    seconds : float
        Time taken.
    tol, rounding : float
        What was asked for, and what the rounding of kernel values and of products may have moved eigenvalues by.
    satisfied : bool
        Whether what was asked for was reached.
    limited : bool
        Whether it was not reached because rounding does not allow it.
    failure_probability : float
        Of the upper bound; 0 where no random probe was needed.
    approximation : Approximation or None
        Where features stand for the kernel, how well they do; all of the above is about their matrix then.
    compression : Compression or None
        Where the model was compressed after that, what it cost.
    """

    grade: str
    residuals: np.ndarray
    relative_residual: float
    orthogonality_loss: float
    lower: float
    upper: float
    clusters: tuple[tuple[int, ...], ...]
    passes: int
    seconds: float
    tol: float
    rounding: float
    satisfied: bool
    limited: bool = False
    estimate: float = 0.0
    criterion: str = "residual"
    failure_probability: float = 0.0
    approximation: Approximation | None = None
    compression: Compression | None = None

    def rounded_to(self, rounding: float, values: np.ndarray) -> Certificate:
        """Return the same where what was decomposed was rounded too, which may have moved these eigenvalues so far."""
        if rounding <= self.rounding:
            return self
        if not drowned(values, self.tol, rounding):
            return replace(self, rounding=rounding)
        return replace(self, rounding=rounding, grade="rounded", satisfied=False, limited=True)

    @property
    def variance_gap(self) -> float:
        """(upper - lower) / lower: the captured variance is optimal to within this fraction."""
        return variance_gap(self.lower, self.upper)

    @property
    def achieved(self) -> float:
        """What was to be below `tol`."""
        return {"residual": self.relative_residual, "variance": self.estimate, "certified": self.variance_gap}[
            self.criterion
        ]

    def measured(self) -> str:
        """Say what was measured against `tol`."""
        if self.criterion == "residual":
            return f"relative residual {self.relative_residual:.1e}"
        kind = "estimated" if self.criterion == "variance" else "certified"
        return f"{kind} relative error of the captured variance {self.achieved:.1e}"

    def rounded(self) -> str:
        """Say what rounding of the kernel values leaves open."""
        return f"rounding of the kernel values may have moved eigenvalues by {self.rounding:.1e}"

    def __str__(self) -> str:
        k = len(self.residuals)
        count = f"{k} component{'s' if k != 1 else ''}"
        if self.grade == "rounded":
            solved = f"NOT the {self.tol:.0e} asked for, as good as rounding allows: {self.rounded()}"
        elif self.grade == "exact":
            solved = f"solved densely: exact up to rounding (relative residual {self.relative_residual:.1e})"
        else:
            passes = f"after {self.passes} pass{'es' if self.passes != 1 else ''}"
            solved = f"{passes}: {self.measured()}, {self._verdict()}"
        if self.approximation is not None and not self.approximation.of_matrix:
            sentences = [f"{count} through features. {self.approximation}", f"Their own eigenproblem, {solved}"]
        else:
            direct = self.grade in ("exact", "rounded")
            sentences = [f"{count}, {solved}" if direct else f"{count} {solved}; {self._bounded()}"]
            sentences += [] if self.approximation is None else [str(self.approximation)]
        sentences += [_hard_to_tell(group) for group in self.clusters]
        return ". ".join([*sentences, *([] if self.compression is None else [str(self.compression)])]) + "."

    def _verdict(self) -> str:
        verdict = f"within the {self.tol:.0e} asked for" if self.satisfied else f"NOT the {self.tol:.0e} asked for"
        return verdict + (", as good as rounding allows" if self.limited else "")

    def _bounded(self) -> str:
        if self.variance_gap > USEFUL:
            return "no useful bound on the variance left out is known (the spectrum decays too slowly for one)"
        sure = f"with probability {1 - self.failure_probability:.4g}" if self.failure_probability else "for certain"
        best = f"the variance captured is within {self.variance_gap:.1e} of the best possible"
        return f"{best}, by a bound that holds {sure}"


def _hard_to_tell(group: tuple[int, ...]) -> str:
    """Say of which components the order, or the end, is not certain."""
    if len(group) == 1:
        return f"Component {group[0]} is hard to tell from those that follow and are left out"
    numbers = ", ".join(str(i) for i in group)
    return f"Components {numbers} are too close together to be told apart: trust their span only"


def reached(values: np.ndarray, residuals: np.ndarray, tol: float, rounding: float) -> np.ndarray:
    """(k,), (k,) -> (k,): which components have a residual within tol of their eigenvalue, or of rounding."""
    return residuals <= np.maximum(tol * np.abs(values), rounding)


def relative(values: np.ndarray, residuals: np.ndarray, rounding: float) -> float:
    """Return the largest residual over its eigenvalue; components at the rounding level do not count."""
    size = np.abs(values)
    counted = size > rounding
    return float((residuals[counted] / size[counted]).max(initial=0.0))


def drowned(values: np.ndarray, tol: float, rounding: float, blurred: bool = False) -> bool:
    """Whether rounding is more than tol of the first eigenvalue; of any that counts, where entries are `blurred`.

    A tol of 0 asks for no more than rounding allows. What is usual for the precision hides small components behind
    large ones, as their residuals say. Where no eigenvalue is above rounding, all that there is may be hidden.
    """
    size = np.abs(values)
    counted = size[size > rounding]
    if not counted.size:
        return bool(tol and size.max(initial=0.0) > NOTHING * rounding)
    least = counted.min(initial=np.inf) if blurred else counted.max(initial=0.0)
    return bool(tol and rounding > tol * least)


def find_clusters(values: np.ndarray, residuals: np.ndarray, following: float | None) -> tuple[tuple[int, ...], ...]:
    """Group neighboring components whose residuals reach across the gap between them."""
    if len(values) == 0:
        return ()
    ends = np.append(values, values[-1:] if following is None else following)
    close = np.maximum(residuals, np.append(residuals[1:], 0.0)) > CLUSTERED * np.abs(np.diff(ends))
    if following is None:
        close[-1] = False
    groups: list[tuple[int, ...]] = []
    start = 0
    for i in range(len(values)):
        if not close[i] or i == len(values) - 1:
            if i > start or (close[i] and i == len(values) - 1):
                groups.append(tuple(range(start, i + 1)))
            start = i + 1
    return tuple(groups)


def variance_gap(lower: float, upper: float) -> float:
    """(upper - lower) / lower; infinite where the lower bound says nothing."""
    if upper <= lower:
        return 0.0
    return (upper - lower) / lower if lower > 0 else float("inf")
