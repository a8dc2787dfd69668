"""Fewer samples than features: the matrix of dot products in place of the covariance, figure 3."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy.linalg import eigh, eigvalsh

from kernelpca import PCA
from kernelpca.datasets import load_cifar10, load_orl
from kernelpca.metrics import eigenvector_similarity
from kernelpca_papers.claims import Claim
from kernelpca_papers.drawing import COLORS, new_figure
from kernelpca_papers.experiment import Experiment, Findings, Found, Picture, Setting, Table
from kernelpca_papers.tutorial.images import resized, rows_of

SMALL = "ORL, 56 x 46"  # few enough pixels for a covariance matrix to be decomposed
SETS = ("ORL", "CIFAR class 0", "CIFAR class 1", "CIFAR class 2")
FEW = 10  # axes; what "the first few" means here


def pieces(rows: int, both: int, side: int) -> list[dict[str, Any]]:
    """Each set by dot products, and some by the covariance matrix too."""
    dot = [{"data": name, "rows": rows} for name in SETS]
    return dot + [{"both_of": name, "rows": rows, "side": side} for name in (SMALL, *SETS[1:])[:both]]


def run(rows: int, data: str = "", both_of: str = "", side: int = 0) -> dict[str, Any]:
    """Decompose the matrix of dot products; where asked for, the covariance matrix too."""
    if both_of:
        return compare(load(both_of, rows, side))
    X = load(data, rows)
    model = PCA(method="dot").fit(X)
    W = model.components_
    scores = X @ W.T
    residual = X.T @ scores - W.T * model.eigenvalues_
    return {
        "eigenvalues": model.eigenvalues_,
        "shape": X.shape,
        "scores": scores[:, [0, 1, -1]],
        "residual": np.linalg.norm(residual, axis=0).max() / model.eigenvalues_[0],
        "not_orthonormal": np.abs(W @ W.T - np.eye(len(W))).max(),
    }


def load(name: str, rows: int, side: int = 0) -> np.ndarray:
    """-> (n, d): centered pixels; of CIFAR the first `side` of every row and column, if that is not zero."""
    if name.startswith("ORL"):
        images = load_orl()[0][:rows]
        return rows_of(resized(images, side or 56, side or 46) if name == SMALL else images)
    images, labels = load_cifar10()
    cut = slice(side or None)
    return rows_of(images[labels == int(name[-1])][:rows, cut, cut])


def compare(X: np.ndarray) -> dict[str, Any]:
    """Decompose both matrices; return how far eigenvalues and first axes are apart, and the seconds of each."""
    n, d = X.shape
    began = time.process_time()
    small, V = eigh(X @ X.T)
    axes = X.T @ V[:, ::-1][:, :FEW] / np.sqrt(small[::-1][:FEW])
    after = time.process_time()
    C = X.T @ X
    large = eigvalsh(C)
    end = time.process_time()
    first = eigh(C, subset_by_index=(d - FEW, d - 1))[1][:, ::-1]
    count = min(n, d) - 1
    apart = np.abs(small[::-1][:count] - large[::-1][:count]).max() / large[-1]
    return {
        "apart": apart,
        "beyond": np.abs(large[: d - n]).max(initial=0.0) / large[-1],
        "similarity": eigenvector_similarity(first, axes).min(),
        "seconds": [after - began, end - after],
        "shape": X.shape,
    }


def conclude(found: Found) -> Findings:
    """Compare both matrices, and draw figure 3."""
    claims: list[Claim] = []
    rows: list[list[str | float]] = []
    for name in SETS:
        values, (n, d) = found.one("eigenvalues", data=name), found.one("shape", data=name)
        share = np.cumsum(values) / values.sum()
        half = int(np.searchsorted(share, 0.5)) + 1
        flat = FEW / (n - 1)
        rows.append([name, f"{n} x {d}", len(values), share[0], share[FEW - 1], flat, half])
        claims.append(
            Claim(
                f"{name}: most of the variance is on the first few axes: share of the first {FEW}",
                "section 3.4",
                0.5,
                float(share[FEW - 1]),
                "at least",
            )
        )
    shares = Table(
        "Variance on the first axes",
        ["data", "n x d", "axes", "share of the first", f"of the first {FEW}", "no correlation", "axes for half"],
        rows,
        "Centered pixels. Without correlation every one of the n - 1 axes would have the same share: the null model.",
    )
    claims += [order(found), *laws(found)]
    return Findings(claims, [shares, both(found)], [draw(found)], NOTES)


def order(found: Found) -> Claim:
    """The first axis has the largest spread."""
    variances = [found.one("scores", data=name).var(axis=0) for name in SETS]
    return Claim(
        "Projections spread more along the first axis than along the second or last: largest ratio of variances",
        "figure 3",
        1.0,
        max(float(v[1:].max() / v[0]) for v in variances),
        "at most",
    )


def laws(found: Found) -> list[Claim]:
    """Both matrices have one eigenstructure; the smaller one is the cheaper."""
    rounding = "rounding: 1e-16 of the largest eigenvalue, and sums over up to 1e4 products"
    compared = [values for values in found.values if "similarity" in values]
    worst = {kind: max(float(values[kind]) for values in compared) for kind in ("apart", "beyond")}
    residual, skew = (max(float(found.one(kind, data=s)) for s in SETS) for kind in ("residual", "not_orthonormal"))
    cost = min(float(values["seconds"][1] / values["seconds"][0]) for values in compared)
    return [
        Claim(
            "Both matrices have the same eigenvalues: largest difference over the largest eigenvalue",
            "eq. 19 to 24",
            0.0,
            worst["apart"],
            tolerance=1e-11,
            reason=rounding,
        ),
        Claim(
            "The covariance matrix has no others: the largest of the rest over the largest eigenvalue",
            "eq. 19 to 24",
            0.0,
            worst["beyond"],
            tolerance=1e-11,
            reason=rounding,
        ),
        Claim(
            "Converted eigenvectors X v / sqrt(lambda) are those of the covariance matrix: least similarity of the "
            f"first {FEW}",
            "eq. 20, algorithm 2",
            1.0,
            min(float(values["similarity"]) for values in compared),
            tolerance=1e-8,
            reason="rounding over the relative gap between eigenvalues, above 1e-4",
        ),
        Claim(
            "All converted vectors are eigenvectors of the covariance matrix: largest residual over the largest "
            "eigenvalue",
            "eq. 20, algorithm 2",
            0.0,
            residual,
            tolerance=1e-10,
            reason=rounding,
        ),
        Claim(
            "Converted vectors are orthonormal: largest difference of their dot products from 0 and 1",
            "eq. 21",
            0.0,
            skew,
            tolerance=1e-8,
            reason="rounding over the smallest eigenvalue, 1e-6 of the largest",
        ),
        Claim(
            "For d > n the covariance matrix is the one to decompose: least ratio of its seconds to those of dot "
            "products",
            "section 3.3",
            1.0,
            cost,
            "at most",
            expected="differ",
            evidence="The two cases are exchanged in that sentence; the one before it says to take the smaller "
            "matrix, which is that of dot products. Eigenvalues of a 3072 x 3072 covariance take about ten times as "
            "long as eigenvalues and vectors of 1000 x 1000 dot products.",
        ),
    ]


def both(found: Found) -> Table:
    """Both decompositions side by side."""
    rows: list[list[str | float]] = []
    for name in found.options("both_of"):
        values = found.where(both_of=name)[0]
        n, d = values["shape"]
        rows.append(
            [name, f"{n} x {d}", *(float(values[kind]) for kind in ("apart", "similarity")), *values["seconds"]]
        )
    return Table(
        "Matrix of dot products and covariance matrix",
        ["data", "n x d", "eigenvalues apart", f"least similarity of {FEW} axes", "s, dot products", "s, covariance"],
        rows,
        "Seconds of a processor: eigenvalues and first axes from dot products, eigenvalues alone from the covariance.",
    )


def draw(found: Found) -> Picture:
    """Figure 3: a row for each set."""
    figure, axes = new_figure(4, 4, 10, 9)
    for line, name in zip(axes, SETS, strict=True):
        values = found.one("eigenvalues", data=name)
        number, n = np.arange(1, len(values) + 1), found.one("shape", data=name)[0]
        line[0].plot(number, values / n, color=COLORS[0])
        line[0].set(ylabel=f"{name}\neigenvalue", xlabel="axis", yscale="log")
        line[1].plot(number, np.cumsum(values) / values.sum(), color=COLORS[0], label="data")
        line[1].plot([0, n - 1], [0, 1], color=COLORS[7], linestyle=":", label="no correlation")
        line[1].set(ylabel="share of variance", xlabel="axes", ylim=(0, 1.05))
        first, second, last = found.one("scores", data=name).T
        for axis, other, label in ((line[2], second, "second"), (line[3], last, "last")):
            axis.scatter(first, other, s=4, color=COLORS[0], alpha=0.5, linewidths=0)
            axis.set(xlabel="first axis", ylabel=f"{label} axis")
    axes[0, 1].legend(loc="lower right")
    return Picture(
        "small-samples",
        figure,
        "Figure 3 shows eigenvalues, their cumulated share and projections on the first two and on the first and last "
        "axes for ORL and three classes of CIFAR; most of the variance is on the first few axes.",
        "The same, with eigenvalues on a logarithmic scale. Last is axis n - 1: centering leaves the n-th without "
        "variance.",
    )


NOTES = (
    "Centering leaves n - 1 axes with variance. Algorithm 2 divides by the square root of every eigenvalue; the n-th "
    "is zero and has to be left out.",
    "CIFAR's classes have 1000 images each in the test batch: as many as the paper takes, but others.",
    "The covariance matrix of the full ORL images, 10304 x 10304, is not made: that its converted vectors are "
    "eigenvectors is checked by their residuals.",
)

EXPERIMENT = Experiment(
    name="tutorial/small-sample",
    title="Fewer samples than features: dot products in place of the covariance",
    source="figure 3, section 3",
    settings=(
        Setting("ORL", "400 images of 112 x 92 pixels", "printed, section 3.4"),
        Setting("CIFAR", "classes 0, 1, 2, 1000 images each, of the test batch", "printed, but for the batch"),
        Setting("normalization", "pixels centered", "printed, algorithm 2"),
        Setting("first few axes", f"{FEW}", "not printed, chosen"),
        Setting(
            "covariance matrices",
            "ORL made smaller, and CIFAR class 0, 1, 2; quick: ORL alone",
            "not printed, chosen by what fits in memory",
        ),
    ),
    null="Features without correlation, where all axes have the same share of the variance.",
    sizes={
        "full": {"rows": 1000, "both": 4, "side": 0},
        "quick": {"rows": 1000, "both": 1, "side": 0},
        "tiny": {"rows": 60, "both": 2, "side": 8},
    },
    pieces=pieces,
    run=run,
    conclude=conclude,
    data=("orl_faces.npz", "cifar10_test.npz"),
    seconds={"full": 17, "quick": 6},
)
