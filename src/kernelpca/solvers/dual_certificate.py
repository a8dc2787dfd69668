"""The evidence for a dual solution: how nearly critical it is, and how far from the best of all it can be."""

from __future__ import annotations

from dataclasses import dataclass

from kernelpca.solvers.certificate import USEFUL, Certificate


@dataclass(frozen=True)
class DualCertificate(Certificate):
    """How good a solution for an objective other than the variance is.

    The problem is not convex: what an iteration reaches is a critical point, where a further step would change nothing.
    `lower` and `upper` are twice the objective: what these directions reach, and what no directions can exceed. For
    Huber's objective of row lengths the bound is tight at most solutions, and proves them global.

    Attributes
    ----------
    objective : str
        What was maximized.
    criticality : float
        By how much one more step would change the dual variable, relative to it, in the direction where that is most.
    loss : float
        The dual loss reached, 1/2 |H|^2 + Psi*(H) - tr sqrt(H'G H); minus `lower` / 2 at a critical point.
    duality_gap : float
        (loss + objective) / objective: how far apart the two still are; it shrinks with the square of the criticality.
    scope : {"global", "local"}
        "global": no other directions are better by more than `tol`, by the bound (grade "certified") or by its estimate
        (grade "estimated"). "local": that is not known.
    rank : int
        Directions that are left; those beyond have no rows.
    rule : {"criticality", "loss"}
        What was to become small: the change of the dual variable, or that of the loss, to machine precision.
    rows : int
        Rows that the model keeps; 0 where it keeps all.
    center_error, score_error : float
        Where not all rows are kept the mean is fitted on those that are: its distance from the mean of all rows in
        feature space, and by how much the scores of a row (as a vector, on the same axes) can at most differ for that
        from those about the true mean, for rows no farther from the mean than the training rows are.
    """

    objective: str = ""
    criticality: float = 0.0
    loss: float = 0.0
    duality_gap: float = 0.0
    scope: str = "local"
    rank: int = 0
    rule: str = "criticality"
    rows: int = 0
    center_error: float = 0.0
    score_error: float = 0.0

    @property
    def achieved(self) -> float:
        """What was to be below `tol`."""
        return self.criticality

    def measured(self) -> str:
        """Say what was measured against `tol`."""
        return f"criticality residual {self.criticality:.1e}"

    def __str__(self) -> str:
        k = len(self.residuals)
        count = f"{k} component{'s' if k != 1 else ''}"
        sentences = [
            f"{count} of {self.objective} after {self.passes} passes: {self.measured()}, {self._verdict()}; "
            f"{self._bounded()}"
        ]
        if self.approximation is not None:
            sentences.insert(0, f"Through features: {self.approximation}")
        if self.rank < k:
            sentences.append(f"{k - self.rank} of the {k} directions have no rows left")
        if self.rows:
            kept = f"{self.rows} rows are kept"
            if self.score_error:
                kept += (
                    f"; the mean, fitted on them, is off by {self.center_error:.1e} in feature space, and scores by "
                    f"{self.score_error:.1e} at most for that"
                )
            sentences.append(kept)
        sentences += [] if self.compression is None else [str(self.compression)]
        return ". ".join(sentences) + "."

    def _bounded(self) -> str:
        if self.scope == "global" and self.grade == "certified":
            best = f"a global optimum: no other directions are better by more than {self.variance_gap:.1e}"
            return best + ", by a bound that holds for certain"
        if self.scope == "global":
            return f"a global optimum to within {self.estimate:.1e}, by an estimate"
        gap = min(self.variance_gap, self.estimate)
        point = "a critical point, local as far as is known" if self.satisfied else "not yet critical"
        if gap > USEFUL:
            return f"{point}; no useful bound on what other directions could reach is known"
        sure = "for certain" if self.variance_gap <= gap else "by an estimate"
        return f"{point}; other directions could be better by {gap:.1e} at most, {sure}"

    def _verdict(self) -> str:
        if self.rule == "criticality":
            return super()._verdict()
        return "and the loss no longer changes" if self.satisfied else "and the loss still changes"
