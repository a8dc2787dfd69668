"""Eigenvalues and first and last axes of five standardized data sets: figure 1, tables 1 and 2."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from kernelpca import PCA
from kernelpca.datasets import load_cifar10, load_mnist
from kernelpca_papers.claims import Claim, joint_error
from kernelpca_papers.drawing import COLORS, new_figure
from kernelpca_papers.experiment import Experiment, Findings, Found, Picture, Setting, Table
from kernelpca_papers.tutorial.images import standardized

SHARES = (0.90, 0.95, 0.99)
PRINTED = {  # table 2
    "Diabetes": (7, 8, 8),
    "Wisconsin breast cancer": (7, 10, 17),
    "Iris": (2, 2, 3),
    "MNIST": (236, 331, 543),
    "CIFAR": (103, 221, 662),
}
SHAPES = {  # table 1: samples, dimension
    "Diabetes": (442, 10),
    "Wisconsin breast cancer": (569, 30),
    "Iris": (150, 50),
    "MNIST": (60_000, 784),
    "CIFAR": (50_000, 3072),
}
Z_SCORE, CENTERED = "z-score", "centered only"
DRAWN = 1500  # points of a scatter plot
PARTS = (1, 2, 4)  # the whole, halves and quarters of the CIFAR images


def pieces(rows: int, partitions: int, centered: bool) -> list[dict[str, Any]]:
    """Each data set, and parts of CIFAR."""
    sets = [{"data": name, "rows": rows} for name in PRINTED]
    scalings = (Z_SCORE, CENTERED) if centered else (Z_SCORE,)
    return sets + [
        {"part_of": "CIFAR", "rows": rows, "seed": seed, "parts": parts, "number": number, "scaling": scaling}
        for scaling in scalings
        for seed in range(partitions)
        for parts in PARTS[1:]
        for number in range(parts)
    ]


def run(data: str = "", part_of: str = "", rows: int = 0, **part: Any) -> dict[str, Any]:
    """Decompose a data set, or find the eigenvalues of a part of one."""
    X = load(data or part_of)[:rows]
    if part_of:
        return {"eigenvalues": spectrum(chosen(X, part["seed"], part["parts"], part["number"]), part["scaling"])}
    Z = standardized(X)
    model = PCA(method="covariance" if len(Z) > Z.shape[1] else "dot").fit(Z)
    scores = Z @ model.components_[[0, 1, -1]].T
    return {
        "eigenvalues": model.eigenvalues_ / len(Z),
        "centered": spectrum(X, CENTERED),
        "variances": scores.var(axis=0),
        "scores": scores[np.union1d(np.arange(0, len(Z), ceil(len(Z) / DRAWN)), np.abs(scores).argmax(axis=0))],
        "shape": Z.shape,
        "constant": np.sum(X.max(axis=0) == X.min(axis=0)),
    }


def load(name: str) -> np.ndarray:
    """-> (n, d): a data set of table 1."""
    if name == "MNIST":
        return load_mnist()[0]
    if name == "CIFAR":
        return load_cifar10()[0].reshape(10_000, 3072)
    loaders = {"Diabetes": load_diabetes, "Wisconsin breast cancer": load_breast_cancer, "Iris": load_iris}
    return loaders[name]().data


def chosen(X: np.ndarray, seed: int, parts: int, number: int) -> np.ndarray:
    """Return one of so many random parts of the rows; those of one seed have no row in common."""
    order = np.random.default_rng(seed).permutation(len(X))
    return X[np.array_split(order, parts)[number]]


def spectrum(X: np.ndarray, scaling: str) -> np.ndarray:
    """(n, d) -> (min(n, d),): variances on principal axes, largest first, in single precision where X is large."""
    Z = standardized(X) if scaling == Z_SCORE else X - X.mean(axis=0)
    if Z.size > 10**6:
        Z = Z.astype(np.float32)
    matrix = Z.T @ Z if len(Z) > Z.shape[1] else Z @ Z.T
    return np.maximum(eigvalsh(matrix, overwrite_a=True)[::-1].astype(np.float64), 0.0) / len(Z)


def crossings(eigenvalues: np.ndarray) -> np.ndarray:
    """(k,) -> (3,): where the cumulated share, drawn as a line, crosses 90, 95 and 99%; rounded up, that many axes."""
    share = np.concatenate([[0.0], np.cumsum(eigenvalues) / eigenvalues.sum()])
    return np.interp(SHARES, share, np.arange(len(share)))


def axes_needed(eigenvalues: np.ndarray) -> list[int]:
    """(k,) -> the least numbers of axes that keep 90, 95 and 99% of the variance."""
    return [ceil(count - 1e-9) for count in crossings(eigenvalues)]


def extrapolated(means: np.ndarray, times: float) -> np.ndarray:
    """(3, k) -> (k,): from the whole, halves and quarters to so many times the rows, by a parabola in 1/n.

    What n rows change in an eigenvalue is a series in 1/n.
    """
    x = 1.0 / times
    weights = [np.prod([(x - b) / (a - b) for b in PARTS if b != a]) for a in PARTS]
    return np.asarray(weights) @ means


def conclude(found: Found) -> Findings:
    """Compare with table 2, and draw figure 1."""
    spectra = {name: found.one("eigenvalues", data=name) for name in PRINTED}
    rows: list[list[str | float]] = []
    claims: list[Claim] = []
    for name, eigenvalues in spectra.items():
        n, d = found.one("shape", data=name)
        counts, centered = axes_needed(eigenvalues), axes_needed(found.one("centered", data=name))
        rows.append([name, f"{n} x {d}", *map(text, (counts, PRINTED[name], centered, [ceil(p * d) for p in SHARES]))])
        if name != "CIFAR":
            claims += [
                Claim(f"Axes that keep {p:.0%} of {name}", "table 2", printed, count)
                for p, count, printed in zip(SHARES, counts, PRINTED[name], strict=True)
            ]
    large, more = cifar(found)
    claims += large + shapes(found) + fractions(spectra, found) + figure_claims(found, spectra)
    table = Table(
        "Axes that keep 90 / 95 / 99% of the variance (table 2)",
        ["data", "n x d", "ours", "printed", CENTERED, "features without correlation"],
        rows + more,
        "Z-score of every feature, as printed. MNIST: constant pixels become zero. Features without correlation are "
        "the null model: a share of the axes for every share of the variance.",
    )
    return Findings(claims, [table], [draw(found, spectra)], NOTES)


def text(counts: Any) -> str:
    """Join counts for a table."""
    return " / ".join(map(str, counts))


def cifar(found: Found) -> tuple[list[Claim], list[list[str | float]]]:
    """Extrapolate from the 10,000 test images to the paper's 50,000."""
    n, d = found.one("shape", data="CIFAR")
    times = SHAPES["CIFAR"][0] / n
    claims: list[Claim] = []
    rows: list[list[str | float]] = []
    for scaling in found.options("scaling"):
        whole = found.one("eigenvalues" if scaling == Z_SCORE else "centered", data="CIFAR")
        halves, quarters = (
            np.array([crossings(one) for one in found("eigenvalues", part_of="CIFAR", parts=parts, scaling=scaling)])
            for parts in PARTS[1:]
        )
        answer = extrapolated(np.stack([crossings(whole), halves.mean(axis=0), quarters.mean(axis=0)]), times)
        kind = f"CIFAR, {scaling}, extrapolated to {SHAPES['CIFAR'][0]} images"
        printed = text(PRINTED["CIFAR"]) if scaling == Z_SCORE else "not printed"
        rows.append([kind, f"{n} x {d}", text(ceil(value) for value in answer), printed, "", ""])
        if scaling == Z_SCORE:
            errors = quarters.reshape(-1, 4, 3).std(axis=1, ddof=1).mean(axis=0) / 2
            claims += [
                Claim(
                    f"Axes that keep {p:.0%} of CIFAR's 50,000 training images, extrapolated from 2,500, 5,000 and "
                    "10,000 test images (where the cumulated share crosses, before rounding up)",
                    "table 2",
                    axes - 0.5,
                    float(value),
                    tolerance=0.5 + joint_error(float(error), float(error) / np.sqrt(times)),
                    reason="the printed number is rounded up; three standard errors of the test images, from their "
                    "quarters, and of the training images",
                    printed=str(axes),
                    error=float(error),
                )
                for p, axes, value, error in zip(SHARES, PRINTED["CIFAR"], answer, errors, strict=True)
            ]
    return claims, rows


def shapes(found: Found) -> list[Claim]:
    """Table 1, figure by figure."""
    ours = {name: tuple(int(size) for size in found.one("shape", data=name)) for name in SHAPES}
    doubtful = {("Iris", 1), ("CIFAR", 0)}
    same = [ours[s][i] == SHAPES[s][i] for s in SHAPES for i in (0, 1) if (s, i) not in doubtful]
    return [
        Claim("Features of Iris", "table 1", 50, ours["Iris"][1], expected="differ", evidence=IRIS),
        Claim(
            "Images of CIFAR",
            "table 1",
            50_000,
            ours["CIFAR"][0],
            expected="not reproducible",
            evidence="Only the 10,000 test images are among the data files; they stand for the training images.",
        ),
        Claim("Of the other eight figures, how many are those of the data", "table 1", 8, sum(same)),
    ]


def fractions(spectra: dict[str, np.ndarray], found: Found) -> list[Claim]:
    """Which sets need few axes for their dimension."""
    part = {name: axes_needed(values)[0] / found.one("shape", data=name)[1] for name, values in spectra.items()}
    others = max(value for name, value in part.items() if name != "Diabetes")
    small = "a small part of the dimension keeps 90%: axes over dimension, at most that of the printed figures"
    return [
        Claim(f"CIFAR: {small}", "section 2.6", 103 / 3072, part["CIFAR"], "at most", printed="103 of 3072"),
        Claim(
            f"Iris: {small}",
            "section 2.6",
            2 / 50,
            part["Iris"],
            "at most",
            printed="2 of 50",
            expected="differ",
            evidence=f"{IRIS} Two of four axes are half of them: no small part.",
        ),
        Claim(
            "Diabetes needs a larger part of its axes for 90% than any other set: its part less the largest of the "
            "others",
            "section 2.6",
            0.0,
            part["Diabetes"] - others,
            "at least",
            printed="7 of 10",
        ),
    ]


def figure_claims(found: Found, spectra: dict[str, np.ndarray]) -> list[Claim]:
    """What the text says of figure 1."""
    variances = {name: found.one("variances", data=name) for name in PRINTED}
    ratio = max(float(v[1:].max() / v[0]) for v in variances.values())
    off = max(float(np.abs(v / spectra[s][[0, 1, -1]] - 1).max()) for s, v in variances.items())
    return [
        Claim(
            "Projections spread more along the first axis than along the second or last: largest ratio of variances",
            "figure 1",
            1.0,
            ratio,
            "at most",
        ),
        Claim(
            "The variance of a projection is the eigenvalue of its axis: largest relative difference",
            "eq. 15",
            0.0,
            off,
            tolerance=1e-6,
            reason="rounding of the smallest eigenvalue, 1e-16 of the largest, which is up to 1e7 times as large",
        ),
    ]


def draw(found: Found, spectra: dict[str, np.ndarray]) -> Picture:
    """Figure 1: a row for each set."""
    figure, axes = new_figure(5, 4, 10, 11)
    for line, (name, eigenvalues) in zip(axes, spectra.items(), strict=True):
        number = np.arange(1, len(eigenvalues) + 1)
        few = {"marker": "o"} if len(number) < 50 else {}
        line[0].plot(number, eigenvalues, color=COLORS[0], **few)
        line[0].set(ylabel=f"{name}\neigenvalue", xlabel="axis")
        line[1].plot(number, np.cumsum(eigenvalues) / eigenvalues.sum(), color=COLORS[0], label=Z_SCORE, **few)
        d = found.one("shape", data=name)[1]
        line[1].plot([0, d], [0, 1], color=COLORS[7], linestyle=":", label="no correlation")
        line[1].set(ylabel="share of variance", xlabel="axes", ylim=(0, 1.05))
        first, second, last = found.one("scores", data=name).T
        for axis, other, label in ((line[2], second, "second"), (line[3], last, "last")):
            axis.scatter(first, other, s=6, color=COLORS[0], alpha=0.5, linewidths=0)
            axis.set(xlabel="first axis", ylabel=f"{label} axis")
    axes[0, 1].legend(loc="lower right")
    return Picture(
        "spectra",
        figure,
        "Figure 1 shows, for each set, eigenvalues, their cumulated share, and the projections on the first two and "
        "on the first and last axes; the last plot of MNIST is strange because of an outlier.",
        "The same; of large sets about 1500 points and the most extreme ones are drawn. Last is the last axis that has "
        "any variance. One image among 60,000 decides the scale of MNIST's: see outlier-digit.",
    )


IRIS = "Iris has four features (150 x 4): 50 is the number of flowers of a kind."
NOTES = (
    "Twelve numbers of table 2 come out to the last digit with the z-score of each feature. MNIST without it needs "
    "87, 154 and 331 axes (331 twice is chance).",
    "CIFAR: 10,000 test images need fewer axes than 50,000, because fewer rows have a steeper spectrum: 5,000 need "
    "fewer still, 2,500 fewer again. The parabola through the three in 1/n comes within one axis of the printed "
    "numbers for the z-score of each feature; centering alone leads to 99, 217 and 659 (full size).",
    "Of MNIST's 784 pixels 67 are constant, and five more directions have no variance at all, because pixels that "
    "carry ink in one or two images only are linearly dependent: 712 axes are left.",
)

EXPERIMENT = Experiment(
    name="tutorial/spectra",
    title="Eigenvalues and first and last axes of five data sets",
    source="figure 1, tables 1 and 2",
    settings=(
        Setting(
            "normalization", "z-score of each feature", "printed, section 2.6 (each feature: ours, tells by table 2)"
        ),
        Setting("constant pixels", "zero after the z-score", "not printed, the only choice without division by zero"),
        Setting("shares", "90%, 95%, 99%", "printed, table 2"),
        Setting(
            "CIFAR",
            "10,000 test images in place of 50,000 training images",
            "not printed, chosen because those are not to be had",
        ),
        Setting("extrapolation", "whole, 2 halves, 4 quarters; parabola in 1/n", "not printed, chosen: ours"),
        Setting("random partitions", "4; quick 1", "not printed, chosen"),
        Setting("precision", "float64; eigenvalues of parts and of centered rows in float32", "not printed, chosen"),
    ),
    null="Features without correlation, where a share of the variance needs that share of the axes.",
    sizes={
        "full": {"rows": 60_000, "partitions": 4, "centered": True},
        "quick": {"rows": 60_000, "partitions": 1, "centered": False},
        "tiny": {"rows": 200, "partitions": 1, "centered": True},
    },
    pieces=pieces,
    run=run,
    conclude=conclude,
    data=("mnist.npz", "cifar10_test.npz"),
    seconds={"full": 60, "quick": 20},
)
