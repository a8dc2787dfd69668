"""Diagonalizing the covariance matrix or the Gram matrix gives the same components: sections 2.1 to 2.5, appendix B."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from kernelpca import PCA
from kernelpca.datasets import load_hands, load_usps
from kernelpca_papers.claims import Claim
from kernelpca_papers.digest.identities import CHECKS, PRINTED, Forms, check, printed
from kernelpca_papers.drawing import COLORS, legend_below, new_figure
from kernelpca_papers.experiment import Experiment, Findings, Found, Picture, Setting, Table

DATA = ("random, d < n", "random, d > n", "random, d = n", "USPS, d < n", "USPS, d > n", "hands, d < n", "hands, d > n")
REPEATS = 3
LIBRARY = {
    "values": "PCA by covariance and by dot products: eigenvalues",
    "axes": "PCA by covariance and by dot products: components",
}


def pieces(seeds: int, samples: int) -> list[dict[str, Any]]:
    """Every identity on every data set, random ones drawn several times; and the times of both ways."""
    drawn = [{"data": name, "seed": seed} for name in DATA for seed in range(seeds if "random" in name else 1)]
    return [*drawn, {"samples": samples}]


def run(data: str = "", seed: int = 0, samples: int = 0) -> dict[str, Any]:
    """Check the identities on one matrix, or time both ways."""
    if samples:
        return times(samples)
    X = load(data, seed)
    forms = Forms.of(X)
    return {
        "shape": X.shape,
        "sigma": forms.sigma,
        "norms_of_B": np.linalg.norm(forms.B, axis=0),
        "norms_of_XV": np.linalg.norm(X @ forms.V, axis=0),
        **check(forms),
        **printed(forms),
        **by_library(forms),
    }


def load(data: str, seed: int) -> np.ndarray:
    """-> (d, n): centered samples as columns, as in the paper."""
    rng = np.random.default_rng(seed)
    if "random" in data:
        d, n = {"random, d < n": (40, 300), "random, d > n": (300, 40), "random, d = n": (80, 80)}[data]
        X = rng.normal(size=(d, n)) * np.linspace(3, 0.5, d)[:, None]
    elif "USPS" in data:
        X = load_usps()[0][: 1000 if "d < n" in data else 100].T
    else:
        X = shrunk_hands(10) if "d < n" in data else shrunk_hands(2)[:, 14:83]
    return X - X.mean(axis=1, keepdims=True)


def shrunk_hands(side: int) -> np.ndarray:
    """-> (4800 / side^2, 123): frames averaged over squares of that side, gray values from 0 to 1."""
    frames = load_hands() / 255
    n, height, width = frames.shape
    squares = frames.reshape(n, height // side, side, width // side, side)
    return squares.mean(axis=(2, 4)).reshape(n, -1).T


def by_library(forms: Forms) -> dict[str, float]:
    """Compare the library's two forms of PCA, in units of rounding."""
    k = forms.rank
    one, other = (PCA(k, method=method, tol=0).fit(forms.X.T) for method in ("covariance", "dot"))
    values = np.abs(one.eigenvalues_ - other.eigenvalues_).max() / forms.rounding
    axes = forms.compared(one.components_.T, other.components_.T)
    return {"library_values": values, "library_axes": axes}


def times(samples: int) -> dict[str, Any]:
    """Time both eigenproblems of USPS images, in turns, the shortest of some repeats."""
    X = load_usps()[0][:samples].T
    matrices = {"covariance": X @ X.T, "gram": X.T @ X}
    seconds: dict[str, float] = dict.fromkeys(matrices, np.inf)
    for _ in range(REPEATS):
        for name, matrix in matrices.items():
            began = time.perf_counter()
            np.linalg.eigh(matrix)
            seconds[name] = min(seconds[name], time.perf_counter() - began)
    return {"timed": X.shape, **seconds}


def conclude(found: Found) -> Findings:
    """Take the worst of all matrices for what should hold, and the least for what does not."""
    claims = [
        Claim(
            f"{statement}: largest error over max(d, n) eps times what amplifies rounding (in the table)",
            source,
            1.0,
            max(float(values[name]) for values in of_data(found)),
            "at most",
        )
        for name, (statement, source, _) in CHECKS.items()
    ]
    claims += [
        Claim(
            f"{statement}: largest error over rounding",
            "section 2.5",
            1.0,
            max(float(values[f"library_{name}"]) for values in of_data(found)),
            "at most",
        )
        for name, statement in LIBRARY.items()
    ]
    claims += slips(found)
    return Findings(claims, [table_of_errors(found), table_of_slips(found)], [draw(found)], NOTES)


def of_data(found: Found) -> list[dict[str, np.ndarray]]:
    """Return what the pieces with data gave."""
    return [values for values in found.values if "shape" in values]


def slips(found: Found) -> list[Claim]:
    """What is printed and does not hold."""
    hands, square = found.where(data="hands, d > n")[0], found.where(data="random, d = n")[0]
    claims = []
    for name, slip in PRINTED.items():
        values = square if slip.square else hands
        claims.append(
            Claim(
                f"{slip.statement} ({'random, d = n' if slip.square else 'hands, d > n'})",
                slip.source,
                slip.target,
                float(values[name]),
                tolerance=slip.tolerance,
                reason="far above rounding" if slip.tolerance else "",
                expected="differ",
                evidence=slip.evidence,
            )
        )
    timed = next(values for values in found.values if "timed" in values)
    d, n = timed["timed"]
    claims.append(
        Claim(
            f"Diagonalizing G takes the effort of diagonalizing C: ratio of times (d = {d}, n = {n})",
            "section 2.5",
            2.0,
            float(timed["gram"] / timed["covariance"]),
            "at most",
            printed="equivalent",
            expected="differ",
            evidence=f"Eigenproblems cost the cube of their size, here (n/d)³ = {(n / d) ** 3:.0f} times as much. "
            "What is equivalent is the result: the smaller matrix gives both sets of vectors, since V = X'U Sigma^-1.",
        )
    )
    return claims


def table_of_errors(found: Found) -> Table:
    """Errors over rounding, by data set."""
    checks = {name: (statement, amplified) for name, (statement, _, amplified) in CHECKS.items()}
    checks |= {f"library_{name}": (statement, checks[AS_ABOVE[name]][1]) for name, statement in LIBRARY.items()}
    rows: list[list[str | float]] = [
        [statement, amplified, *(f"{found(name, data=data).max():.1e}" for data in DATA)]
        for name, (statement, amplified) in checks.items()
    ]
    shapes = (found.one("shape", data=data) for data in DATA)
    titles = [f"{data} ({d} x {n})" for data, (d, n) in zip(DATA, shapes, strict=True)]
    return Table(
        "Largest errors, over max(d, n) eps times what amplifies them: at most 1 is rounding",
        ["identity", "amplified by", *titles],
        rows,
        "lambda_j = sigma_j² are eigenvalues, gap_j is the distance of lambda_j from its neighbors.",
    )


AS_ABOVE = {"values": "eigenvalues", "axes": "U"}


def table_of_slips(found: Found) -> Table:
    """Factors that the printed identities lack."""
    rows: list[list[str | float]] = []
    for data in DATA:
        sigma, b, xv = (found.one(name, data=data) for name in ("sigma", "norms_of_B", "norms_of_XV"))
        for j in (0, 9):
            cells = (b[j], 1 / sigma[j], xv[j], sigma[j])
            rows.append([data, f"{j + 1}", *(f"{cell:.6g}" for cell in cells)])
    columns = ["data", "component", "|column of B|", "1/sigma", "|X v|, and scores of eq. 16 over the usual", "sigma"]
    return Table("Printed as 1: lengths that are powers of the singular values", columns, rows)


def draw(found: Found) -> Picture:
    """Lengths of the columns of B and X V."""
    figure, axes = new_figure(1, 2, 8.4, 3.4, sharex=True)
    for i, data in enumerate(("USPS, d < n", "hands, d > n")):
        sigma, b, xv = (found.one(name, data=data) for name in ("sigma", "norms_of_B", "norms_of_XV"))
        j = np.arange(1, len(sigma) + 1)
        for axis, lengths, law in ((axes[0], b, 1 / sigma), (axes[1], xv, sigma)):
            axis.plot(j, lengths, "os"[i], color=COLORS[i], markerfacecolor="none", label=data)
            axis.plot(j, law, "-", color="black", linewidth=0.8, label="1/sigma (left), sigma (right)")
    for axis, title in zip(axes, ("columns of B (eq. 13)", "columns of X V (eq. 18)"), strict=True):
        axis.axhline(1, color=COLORS[7], linestyle="--", label="as printed: 1")
        axis.set(title=title, xlabel="component", ylabel="length", yscale="log", xscale="log")
    legend_below(figure, *axes)
    return Picture(
        "lengths",
        figure,
        "The paper has no figure of this; its equations 14 and 18 say that all lengths are 1.",
        "Columns of B have length 1/sigma and columns of X V length sigma, as B = V Sigma^-1 and U = X V Sigma^-1 "
        "have it.",
    )


NOTES = (
    "Section 2.1 assumes many more samples than dimensions and section 2.3 recalls the contrary; the identities hold "
    "in both shapes, with min(d, n - 1) nonzero eigenvalues after centering, not d.",
    "Appendix B cancels G on both sides, which is singular for centered data; its result, GB = B Lambda, holds all the "
    "same, because the columns of B lie in the range of G. Columns are eigenvectors, but not of unit length.",
)

EXPERIMENT = Experiment(
    name="digest/diagonalizations",
    title="Covariance and Gram matrix give the same components",
    source="sections 2.1 to 2.5, appendix B",
    settings=(
        Setting("data", "random, USPS and hands, each with d < n and d > n", "not printed, ours: the paper shows none"),
        Setting(
            "random",
            "normal, standard deviations from 3 to 0.5; 20 draws, quick 5; seeds 0, 1, ...",
            "not printed, chosen",
        ),
        Setting("USPS", "the first 1000 and the first 100 images of 256 pixels", "not printed, chosen"),
        Setting("hands", "123 frames averaged to 6 x 8 pixels, and 69 averaged to 30 x 40", "not printed, chosen"),
        Setting(
            "components",
            "those with eigenvalues above 10 max(d, n) eps of the first",
            "not printed, chosen because others are rounding",
        ),
        Setting(
            "times", "eigenproblems of 1500 USPS images (quick 1000), shortest of 3 in turns", "not printed, chosen"
        ),
    ),
    null="Nothing is compared but identities: rounding, max(d, n) eps, is what errors are measured by.",
    sizes={
        "full": {"seeds": 20, "samples": 1500},
        "quick": {"seeds": 5, "samples": 1000},
        "tiny": {"seeds": 1, "samples": 300},
    },
    pieces=pieces,
    run=run,
    conclude=conclude,
    data=("usps.npz", "hands_video.npz"),
    seconds={"full": 5, "quick": 3},
    alone=True,
)
