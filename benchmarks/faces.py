"""Approximate kernel PCA of faces: figures 8 and 9 of the tutorial, as tables and pictures.

The 400 faces of the ORL database, 10304 pixels each, standardized; four kernels; sketches and Nyström with q numbers or
landmarks, ten times each. How alike the first ten components are to exact ones (eq. 66), and how far their
eigenvalues (eq. 67).

    python benchmarks/faces.py [--repeats 10]
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from kernelpca import KernelPCA
from kernelpca.features import FeatureHashing, GaussianProjection, KernelSketch, Nystrom
from kernelpca.kernels import RBF, Kernel, Polynomial, Sigmoid
from kernelpca.metrics import eigenvalue_difference, eigenvector_similarity
from tables import RESULTS, Table, data_file

SIZES = (50, 100, 150, 200, 250, 300)
PAIRS = 10
TANH, GAUSS, POWER = Sigmoid(1e-4, 0.0), RBF(1e-4), Polynomial(5, 1.0, 0.0)
KERNELS = {"tanh": TANH, "rbf": GAUSS, "polynomial": POWER, "sum": TANH + GAUSS + POWER}
METHODS = {
    "sketch, Gaussian (paper)": lambda q: KernelSketch(q, GaussianProjection(), form="paper"),
    "sketch, hashing (paper)": lambda q: KernelSketch(q, FeatureHashing(), form="paper"),
    "sketch, Gaussian": lambda q: KernelSketch(q, GaussianProjection()),
    "Nyström, uniform (paper)": lambda q: Nystrom(q, "uniform", form="extension"),
    "Nyström, diagonal (paper)": lambda q: Nystrom(q, "diagonal", form="extension"),
    "Nyström, column norm (paper)": lambda q: Nystrom(q, "column_norm", form="extension"),
    "Nyström, uniform": lambda q: Nystrom(q, "uniform"),
    "Nyström, diagonal": lambda q: Nystrom(q, "diagonal"),
    "Nyström, column norm": lambda q: Nystrom(q, "column_norm"),
    "Nyström, RPCholesky": lambda q: Nystrom(q, "rpcholesky"),
    "Nyström, by our rule": lambda q: Nystrom(q),
}


def faces() -> np.ndarray:
    """Return the faces, 400 x 10304, every pixel with mean zero and variance one."""
    X = np.load(data_file("orl_faces.npz"))["images"].reshape(400, -1).astype(np.float64)
    return (X - X.mean(axis=0)) / X.std(axis=0)


def compare(kernel: Kernel, X: np.ndarray, repeats: int) -> dict[str, np.ndarray]:
    """Return, for every method, similarity and difference of every size and repetition, (2, sizes, repeats)."""
    K = kernel(X)
    exact = KernelPCA(PAIRS, kernel="precomputed", solver="dense").fit(K)
    truth = exact.transform(K)
    results = {}
    for name, make in METHODS.items():
        if name == "Nyström, RPCholesky" and not kernel.positive_definite:
            continue  # which it needs
        figures = np.empty((2, len(SIZES), repeats))
        for i, q in enumerate(SIZES):
            for seed in range(repeats):
                model = KernelPCA(PAIRS, kernel=kernel, approximation=make(q), random_state=seed)
                scores = model.fit_transform(X)
                figures[0, i, seed] = eigenvector_similarity(truth, scores).mean()
                figures[1, i, seed] = eigenvalue_difference(exact.eigenvalues_, model.eigenvalues_).mean()
        results[name] = figures
    return results


def draw(results: dict[str, dict[str, np.ndarray]]) -> None:
    """Draw both figures, a panel for each kernel."""
    import matplotlib.pyplot as plt

    shown = [name for name in METHODS if name != "sketch, Gaussian"]
    colors = dict(zip(shown, plt.get_cmap("tab20").colors, strict=False))
    for which, title, file in (
        (0, "similarity of the first ten eigenvectors", "faces_similarity"),
        (1, "difference of the first ten eigenvalues", "faces_difference"),
    ):
        figure, axes = plt.subplots(1, 4, figsize=(15, 4.6), layout="constrained")
        for axis, (kernel, methods) in zip(axes, results.items(), strict=True):
            for name in shown:
                if name not in methods:
                    continue
                ours = "(paper)" not in name
                axis.plot(
                    SIZES,
                    methods[name][which].mean(axis=1),
                    color=colors[name],
                    linestyle="-" if ours else "--",
                    linewidth=2.5 if name == "Nyström, by our rule" else 1.3,
                    marker="o",
                    markersize=3,
                    label=name,
                )
            axis.set_title(kernel)
            axis.set_xlabel("q: landmarks, or numbers of a sketch")
            if which:
                axis.set_yscale("log")
        axes[0].set_ylabel(title)
        handles = {text: line for axis in axes for line, text in zip(*axis.get_legend_handles_labels(), strict=True)}
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=5, fontsize=8, frameon=False)
        RESULTS.mkdir(exist_ok=True)
        figure.savefig(RESULTS / f"{file}.png", dpi=110)
        plt.close(figure)


def main() -> None:
    """Run all, write the tables, draw the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=10)
    options = parser.parse_args()
    X = faces()
    results = {}
    table = Table("Faces: similarity / difference of the first ten pairs", ["kernel", "method", *map(str, SIZES)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of negative eigenvalues of the hyperbolic tangent
        for name, kernel in KERNELS.items():
            results[name] = compare(kernel, X, options.repeats)
            for method, (similarity, difference) in results[name].items():
                means = zip(similarity.mean(axis=1), difference.mean(axis=1), strict=True)
                table.add(name, method, *(f"{s:.3f} / {d:.2g}" for s, d in means))
            model = KernelPCA(PAIRS, kernel=kernel, approximation=Nystrom(100)).fit(X)
            table.notes.append(f"{name}: our rule took {model.plan_.reason.split(';')[0]}.")
    table.write("faces")
    draw(results)


if __name__ == "__main__":
    main()
