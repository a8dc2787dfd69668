"""What is asked of every kernel of appendix B: is its matrix valid, and what do kernel PCA's first scores show?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist, pdist

from kernelpca import KernelPCA
from kernelpca.kernels import Kernel, Laplacian
from kernelpca.kernels.base import values_of
from kernelpca_papers.claims import Claim
from kernelpca_papers.drawing import COLORS, MARKS, legend_below, new_figure
from kernelpca_papers.experiment import Found, Table

COMPONENTS = (1, 2, 10)
ROUNDINGS = 10  # of an entry of the matrix, each of one eps at most
REASON = (
    "rounding: n entries in a row, each off by up to ten times eps of the largest, move eigenvalues by up to 10 n eps "
    "of the largest one (Weyl)"
)
COLUMNS = ("data", "kernel", *(f"{k} score{'s' * (k > 1)}" for k in COMPONENTS), "least / largest eigenvalue")


def examine(kernel: Kernel, rows: Any, labels: np.ndarray) -> dict[str, np.ndarray]:
    """Return what is found of a kernel on labelled rows.

    "least" eigenvalue of the matrix as a part of the largest in size, "asymmetry" as a part of the largest entry, by
    how much rounding of squared lengths is "magnified" in an entry, the first two "scores" (n, 2), "accuracy" (3,)
    with 1, 2 and 10 scores, and "chance": the part of the largest class.
    """
    rows = kernel.check(rows)
    kernel = kernel.resolve(rows)
    K = values_of(kernel, rows, rows)
    values = np.linalg.eigvalsh((K + K.T) / 2)
    Z = KernelPCA(max(COMPONENTS), kernel=kernel, solver="dense").fit_transform(rows)
    Z = np.pad(Z, ((0, 0), (0, max(COMPONENTS) - Z.shape[1])))
    return {
        "least": values[0] / np.abs(values).max(),
        "asymmetry": np.abs(K - K.T).max() / np.abs(K).max(),
        "magnified": magnified(kernel, rows),
        "scores": Z[:, :2],
        "accuracy": np.array([leave_one_out(Z[:, :k], labels) for k in COMPONENTS]),
        "labels": labels,
        "chance": np.unique(labels, return_counts=True)[1].max() / len(labels),
    }


def leave_one_out(Z: np.ndarray, labels: np.ndarray) -> float:
    """(n, k), (n,) -> the part of samples whose nearest other sample has their label."""
    distances = cdist(Z, Z)
    np.fill_diagonal(distances, np.inf)
    return float(np.mean(labels[distances.argmin(axis=1)] == labels))


def validity(found: Found, data: str, slips: Mapping[str, str]) -> list[Claim]:
    """Claims that matrices on a data set are symmetric and positive semi-definite; slips: kernels that are not, why."""
    claims = []
    kernels = [piece["kernel"] for piece in found.pieces if piece["data"] == data]
    for kernel in kernels:
        n = len(found.one("labels", data=data, kernel=kernel))
        claims.append(
            Claim(
                f"{kernel} is a valid kernel: least eigenvalue of its matrix over the largest in size ({data})",
                "appendix B",
                0.0,
                float(found.one("least", data=data, kernel=kernel)),
                "at least",
                ROUNDINGS * n * np.finfo(np.float64).eps,
                REASON,
                expected="differ" if kernel in slips else "pass",
                evidence=slips.get(kernel, ""),
            )
        )
    worst = max(float(found.one("asymmetry", data=data, kernel=kernel)) for kernel in kernels)
    text = f"All {len(kernels)} matrices are symmetric: largest difference over the largest entry ({data})"
    roots = max(float(found.one("magnified", data=data, kernel=kernel)) for kernel in kernels)
    tolerance = max(100.0, ROUNDINGS * roots) * np.finfo(np.float64).eps
    reason = (
        "rounding: k(x, y) and k(y, x) may be summed in another order, and a power or an exponential magnifies it; a "
        "distance d, the root of a difference of terms of size |x|^2, is off by ten eps of |x|^2 / d"
    )
    return [*claims, Claim(text, "appendix B", 0.0, worst, "at most", tolerance, reason)]


def magnified(kernel: Kernel, rows: Any) -> float:
    """Return by how much a kernel of the distance itself magnifies rounding of squared lengths; 1 for others."""
    if not isinstance(kernel, Laplacian) or kernel.norm != "euclidean":
        return 1.0
    X = np.asarray(rows)
    return kernel.number() * float(np.square(X).sum(axis=1).max()) / float(pdist(X).min())


def informative(found: Found, data: str, kernels: Sequence[str]) -> Claim:
    """A claim that two scores of every kernel tell more of the classes than chance."""
    worst = min(float(found.one("accuracy", data=data, kernel=kernel)[1]) for kernel in kernels)
    chance = float(found.one("chance", data=data))
    text = "Kernel PCA finds structure: accuracy of the nearest neighbor in two scores less chance, for the worst of "
    text += f"{len(kernels)} kernels ({data})"
    return Claim(text, "section 5", 0.0, worst - chance, "at least")


def tabulate(found: Found, title: str, plain: Mapping[str, str]) -> Table:
    """Accuracy of every kernel beside linear PCA (`plain`, for each data set) and chance."""
    rows: list[list[str | float]] = []
    for data in found.options("data"):
        rows.append([data, "chance (null)", *[float(found.one("chance", data=data))] * len(COMPONENTS), ""])
        for piece in found.pieces:
            if piece["data"] == data:
                kernel = piece["kernel"]
                accuracy = found.one("accuracy", data=data, kernel=kernel)
                name = f"{kernel}: linear PCA (null)" if kernel == plain[data] else kernel
                least = float(found.one("least", data=data, kernel=kernel))
                rows.append([data, name, *map(float, accuracy), f"{least:.1e}"])
    notes = "Accuracy of the nearest other sample in as many scores. The paper prints no numbers for these kernels."
    return Table(title, COLUMNS, rows, notes)


def draw_scores(found: Found, data: str, names: Sequence[str], width: int = 4) -> Any:
    """Return a figure: the first two scores of every kernel, classes in color; names of classes, those beyond gray."""
    kernels = [piece["kernel"] for piece in found.pieces if piece["data"] == data]
    lines = -(-len(kernels) // width)
    figure, axes = new_figure(lines, width, 2.7 * width, 2.5 * lines + 0.5, squeeze=False)
    for axis in axes.flat[len(kernels) :]:
        axis.set_axis_off()
    for axis, kernel in zip(axes.flat, kernels, strict=False):
        Z, labels = found.one("scores", data=data, kernel=kernel), found.one("labels", data=data, kernel=kernel)
        classes = np.unique(labels)
        others = ~np.isin(labels, classes[: len(names)])
        axis.scatter(*Z[others].T, s=4, color="#dddddd")
        for i, (label, name) in enumerate(zip(classes, names, strict=False)):
            chosen = labels == label
            shape = {"color": COLORS[i % len(COLORS)], "marker": MARKS[i % len(MARKS)]}
            axis.scatter(*Z[chosen].T, s=9, linewidths=0, alpha=0.8, label=name, **shape)
        accuracy = found.one("accuracy", data=data, kernel=kernel)[1]
        axis.set_title(f"{kernel} ({accuracy:.0%})", fontsize=8.5)
        axis.set(xticks=[], yticks=[])
    for axis in axes[-1]:
        axis.set_xlabel("first score")
    for axis in axes[:, 0]:
        axis.set_ylabel("second score")
    legend_below(figure, axes.flat[0], columns=8)
    return figure
