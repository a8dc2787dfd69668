"""What a model is, what was done to fit it, how good it is and how to use it, in words for its reader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelpca.estimators import PCA
from kernelpca.estimators.plan import Plan
from kernelpca.memory import readable_bytes
from kernelpca.pages.chosen import Chosen
from kernelpca.pages.model_kernels import kernels_of
from kernelpca.persistence.provenance import provenance_of
from kernelpca.plotting.fitted import Fitted
from kernelpca.progress import readable_seconds
from kernelpca.solvers.certificate import USEFUL, Certificate
from kernelpca.solvers.dual_certificate import DualCertificate

GRADES = {
    "exact": "The eigenproblem was solved directly, by LAPACK: nothing but rounding is left.",
    "certified": "It was solved step by step, and the bounds below show that it is as good as was asked for.",
    "estimated": "It was solved step by step. Residuals and probes say how good it is; the bounds prove less.",
    "rounded": "Rounding of the kernel values leaves more error than was asked for, however exactly they are solved.",
}
PATHS = {
    "dense": "the whole kernel matrix was decomposed by LAPACK",
    "stored": "the kernel matrix was kept in memory, and an iterative solver multiplied by it",
    "tiled": "the kernel matrix was made anew in tiles in each pass, and never stored as a whole",
    "given": "the kernel matrix was given by the user",
    "features": "features stand for the kernel, and their covariance was decomposed",
    "remote": "tiles of the kernel matrix were made where the rows are",
    "covariance": "the covariance matrix of the columns was decomposed",
    "dot": "the matrix of dot products of the rows was decomposed",
    "svd": "the rows themselves were factorized",
    "matrix-free": "no matrix was made: an iterative solver multiplied by the rows",
    "downsample": "dot products were taken of smaller images",
    "project": "dot products were taken of projected rows",
}
ROUNDING = 1e-15
CAREFUL = {
    "residual": "How far the worst component is from being an exact one, as a part of its own eigenvalue; scores are "
    "good to about this part of their size.",
    "dual estimate": "How much more of the objective other directions could have, as a part of what these have; an "
    "estimate.",
    "estimate": "How much more variance the best components of all could capture, as a part of what these do. Usually "
    "right, but no bound.",
    "criticality": "By how much one more step would change the solution, as a part of it.",
    "gap": "How far the two sides of the problem (primal and dual) are still apart, as a part of the objective.",
}


@dataclass(frozen=True)
class Fact:
    """A name, a value, and what it means."""

    name: str
    value: str
    meaning: str = ""


def facts_of_model(fitted: Fitted, chosen: Chosen) -> list[Fact]:
    """List what the model is."""
    model = fitted.last
    kernels, known = kernels_of(model), provenance_of(model)
    facts = [Fact("Class", fitted.name, _first_sentence(model))]
    if kernels:
        kernel = ", then ".join(map(repr, kernels))
        facts.append(Fact("Kernel", kernel, "what similarity of two rows means, with every parameter a number"))
    elif isinstance(model, PCA):
        facts.append(Fact("Kernel", "none", "linear PCA: directions in the space of the columns themselves"))
    else:
        facts.append(Fact("Kernel", "precomputed", "the matrix of kernel values was given"))
    if getattr(model, "approximation", None) is not None:
        facts.append(Fact("Approximation", repr(model.approximation), "features that stand for the kernel"))
    if len(getattr(model, "layers_", ())) > 1:
        facts.append(Fact("Layers", str(len(model.layers_)), "each of the scores of the one before"))
    facts.append(Fact("Components", str(fitted.n_components), "numbers that each row is reduced to"))
    ratio = fitted.ratio
    if ratio is not None:
        first = ", ".join(f"{part:.1%}" for part in ratio[:5]) + (", ..." if len(ratio) > 5 else "")
        where = "of the training rows" + (" in feature space" if kernels else "")
        where += "" if fitted.centered else ", measured from the origin: nothing was centered"
        name = "Variance captured" if fitted.centered else "Mean square captured"
        facts.append(Fact(name, f"{ratio.sum():.1%}", f"{where}; component by component {first}"))
    fitted_on = [f"{known['n_samples']} rows"] if known.get("n_samples") else []
    columns = getattr(model, "n_features_in_", None)
    if columns is not None and chosen.what not in ("texts", "rows of a kernel matrix"):
        fitted_on.append(f"{columns} column{'s' if columns != 1 else ''}")
    if fitted_on:
        facts.append(Fact("Fitted on", " of ".join(fitted_on), "the training data"))
    facts.append(Fact("Parameters", repr(model), "as they were given"))
    return facts


def _first_sentence(model: Any) -> str:
    text = " ".join((type(model).__doc__ or "").split())
    return text.split(". ")[0].rstrip(".").replace("`", "")


@dataclass(frozen=True)
class PlanTold:
    """A plan for a reader.

    Attributes
    ----------
    done, reason : str
        What was done, and why.
    memory, time : tuple of two str
        Predicted and measured.
    granted : str
        Memory that the fit was allowed to use.
    advice : tuple of str
        What would change what.
    """

    done: str
    reason: str
    memory: tuple[str, str]
    time: tuple[str, str]
    granted: str
    advice: tuple[str, ...]


def tell_plan(model: Any) -> PlanTold | None:
    """Return the plan in words; None where the model has none."""
    plan: Plan | None = getattr(model, "plan_", None)
    if plan is None:
        return None
    done = f"{plan.path} path with {plan.solver!r}"
    if plan.path in PATHS:
        done += f": {PATHS[plan.path]}"
    soon = "not predicted: measuring the machine would take longer than the fit"
    memory = (
        f"about {readable_bytes(plan.predicted_bytes)}",
        "not measured" if plan.measured_bytes is None else readable_bytes(plan.measured_bytes),
    )
    time = (
        soon if plan.predicted_seconds is None else f"about {readable_seconds(plan.predicted_seconds)}",
        "not measured" if plan.measured_seconds is None else readable_seconds(plan.measured_seconds),
    )
    return PlanTold(done, plan.reason, memory, time, readable_bytes(plan.memory_limit), plan.advice)


def facts_of_certificate(certificate: Certificate) -> list[Fact]:
    """List what a certificate says, each with what it means."""
    dual = isinstance(certificate, DualCertificate)
    facts = [Fact("Grade", certificate.grade, GRADES[certificate.grade])]
    if isinstance(certificate, DualCertificate):
        facts += _of_dual(certificate)
    else:
        facts.append(Fact("Relative residual", f"{certificate.relative_residual:.1e}", CAREFUL["residual"]))
    if certificate.grade != "exact":
        if np.isfinite(certificate.estimate):
            meaning = CAREFUL["dual estimate" if dual else "estimate"]
            facts.append(Fact("Estimate", _small(certificate.estimate), meaning))
        facts.append(_bound(certificate, dual))
        reached = "reached" if certificate.satisfied else "NOT reached"
        limited = "; rounding does not allow more" if certificate.limited else ""
        facts.append(Fact("Asked for", f"{certificate.tol:.0e}, {reached}", f"{certificate.measured()}{limited}"))
        facts.append(Fact("Passes", str(certificate.passes), "how often the matrix was read"))
    if certificate.approximation is not None:
        about = certificate.approximation
        good = "not known" if np.isnan(about.error) else f"{about.error:.2g} ± {about.standard_error:.1g}"
        meaning = f"Error of kernel values (root mean square; that of the values is {about.scale:.2g}) by {about.name}."
        if not about.of_matrix:
            meaning += " All of the above is about their matrix, which stands for the kernel's."
        facts.append(Fact("Error of the features", good, meaning))
        if about.missed is not None:
            missed = "At most so much more variance is captured by exact kernel PCA, as a part of what this captures."
            facts.append(Fact("Lost by the features", f"at most {about.missed:.2%}", missed))
    if certificate.compression is not None:
        facts.append(Fact("Compression", certificate.compression.kept(), f"{certificate.compression}."))
    return facts


def _of_dual(certificate: DualCertificate) -> list[Fact]:
    sure = "" if certificate.grade == "certified" else " That is an estimate, and not proved."
    scope = {
        "global": f"No other directions are better by more than what was asked for.{sure}",
        "local": "The problem has many solutions of which each is the best nearby; that this is the best of all is not "
        "proved.",
    }
    facts = [
        Fact("Objective", certificate.objective, "what was maximized instead of the variance"),
        Fact("Optimum", certificate.scope, scope[certificate.scope]),
        Fact("Criticality", f"{certificate.criticality:.1e}", CAREFUL["criticality"]),
        Fact("Duality gap", f"{certificate.duality_gap:.1e}", CAREFUL["gap"]),
    ]
    if certificate.rows:
        facts.append(Fact("Rows kept", str(certificate.rows), "training rows that the model needs"))
    return facts


def _bound(certificate: Certificate, dual: bool) -> Fact:
    """Say how much better any other answer could be."""
    what = "of the objective" if dual else "variance"
    if certificate.variance_gap > USEFUL:
        return Fact("Bound", "none of use", f"How much more {what} other directions could have is not known.")
    sure = "for certain"
    if certificate.failure_probability:
        sure = f"with probability {1 - certificate.failure_probability:.4g}"
    meaning = f"Other directions could have at most this much more {what}, as a part of what these have; {sure}."
    return Fact("Bound", _small(certificate.variance_gap), meaning)


def _small(error: float) -> str:
    """Write an error; what is less than rounding is not told apart."""
    return f"{error:.1e}" if error >= ROUNDING else f"below {ROUNDING:.0e}"


def code_for(fitted: Fitted, way_back: bool, outliers: bool) -> str:
    """Return lines of Python that load the model and use it."""
    k = fitted.n_components
    lines = [
        "import kernelpca",
        "",
        'model = kernelpca.load("model.kpca")  # written by model.save("model.kpca")',
        f"scores = model.transform(X)  # (rows, {k})",
    ]
    if way_back:
        lines.append("inputs = model.inverse_transform(scores)  # from scores back to rows")
        if hasattr(fitted.last, "denoise"):
            lines.append("cleaned = model.denoise(X)  # project and come back")
    if outliers:
        lines.append("strangeness = -model.score_samples(X)  # squared distance from the subspace; large: outlier")
    if hasattr(fitted.last, "predict") and outliers:
        lines.append("inlier = model.predict(X) == 1  # by the model's own limit")
    if hasattr(fitted.last, "certificate_"):
        lines.append("print(model.certificate_)  # how exact the components are")
    return "\n".join(lines)


def commands_for(way_back: bool, outliers: bool) -> str:
    """Return the same for a shell."""
    lines = ["kernelpca info model.kpca", "kernelpca transform model.kpca data.csv -o scores.csv"]
    if way_back:
        lines.append("kernelpca denoise model.kpca data.csv -o cleaned.csv")
    if outliers:
        lines.append("kernelpca score model.kpca data.csv")
    return "\n".join(lines)
