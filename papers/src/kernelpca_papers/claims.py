"""A claim of a paper as data: what is measured, what it should be, how near it must come and why, and what came out."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isfinite, sqrt
from typing import Any, Literal

Relation = Literal["equal to", "at most", "at least"]
Verdict = Literal["pass", "differ", "not reproducible"]
NORMAL = 3.0  # standard errors: one in 370 true claims would fail by chance


@dataclass(frozen=True)
class Claim:
    """A number or an ordering that a paper states, beside ours.

    `measured` must be equal to, at most or at least `target`, within `tolerance`. An ordering is a claim about a ratio
    or a difference: "A's error over B's is at most 1".

    Parameters
    ----------
    statement : str
        What the paper says, in our words, with the quantity that is measured.
    source : str
        Where it says so: table, figure or section.
    target : float
        What `measured` is compared with.
    measured : float or None
        What came out; None only where nothing can be measured here.
    relation : {"equal to", "at most", "at least"}
    tolerance : float
        How far off it may be, in the unit of the target.
    reason : str
        Why that far and no farther: rounding of the printed figure, standard errors, other data.
    printed : str
        The paper's own figures, as printed, where the target is derived from them.
    error : float, optional
        Standard error of `measured`.
    expected : {"pass", "differ", "not reproducible"}
        What we know of it. A claim that is expected to pass and does not is a failure of the run, and so is one that
        cannot be compared, because what came out is no number.
    evidence : str
        Why it is not expected to pass: what was tried, and what came out.

    Examples
    --------
    >>> from kernelpca_papers.claims import Claim
    >>> Claim("error of PCA (1e-5)", "table A-1", 4.00, 4.06, tolerance=0.2, reason="3 standard errors").verdict
    'pass'
    """

    statement: str
    source: str
    target: float | None
    measured: float | None
    relation: Relation = "equal to"
    tolerance: float = 0.0
    reason: str = ""
    printed: str = ""
    error: float | None = None
    expected: Verdict = "pass"
    evidence: str = ""

    def __post_init__(self) -> None:
        if self.expected != "pass" and not self.evidence:
            raise ValueError(f"{self.statement!r} is expected to {self.expected}: give the evidence.")
        if self.expected != "not reproducible" and (self.target is None or self.measured is None):
            raise ValueError(f"{self.statement!r} has nothing to compare: give target and measured.")
        if self.tolerance and not self.reason:
            raise ValueError(f"{self.statement!r} has a tolerance of {self.tolerance}: give the reason.")

    @property
    def holds(self) -> bool:
        """Whether the measured number is where the paper says."""
        if self.measured is None or self.target is None or not isfinite(self.measured):
            return False
        off = self.measured - self.target
        if self.relation == "at most":
            return off <= self.tolerance
        if self.relation == "at least":
            return off >= -self.tolerance
        return abs(off) <= self.tolerance

    @property
    def verdict(self) -> Verdict:
        """What is said of the claim."""
        if self.expected == "not reproducible":
            return "not reproducible"
        return "pass" if self.holds else "differ"

    @property
    def fails(self) -> bool:
        """Whether it was expected to pass and did not, or came out as no number at all."""
        if self.expected == "not reproducible":
            return False
        return not self.holds and (self.expected == "pass" or not isfinite(self.measured or 0.0))

    def record(self) -> dict[str, Any]:
        """Return all fields and the verdict, for a JSON file."""
        return {**asdict(self), "verdict": self.verdict, "fails": self.fails}


def joint_error(*errors: float, normal: float = NORMAL) -> float:
    """Return so many standard errors of a difference of independent means: the tolerance of a figure that varies."""
    return normal * sqrt(sum(error**2 for error in errors))


def count_line(claims: list[Claim]) -> str:
    """Say how many claims came out in which way."""
    verdicts = [claim.verdict for claim in claims]
    text = f"{len(verdicts)} claims: {verdicts.count('pass')} pass, {verdicts.count('differ')} differ, "
    text += f"{verdicts.count('not reproducible')} not reproducible"
    failures = sum(claim.fails for claim in claims)
    return f"{text}; {failures} that should pass did not" if failures else text
