"""Mika's denoising: a half circle, a square and USPS digits, as pictures.

    python benchmarks/denoising.py

Shapes: points with Gaussian noise across the curve, brought back by linear PCA and by kernel PCA with fixed points.
Digits: 300 training and 50 test images of each, Gaussian noise of 0.5 (images from -1 to 1), or speckle: a pixel turns
black or white with probability 0.4; 1, 4, 16, 64 and 256 components. Every image is stretched to its own range.
"""

from __future__ import annotations

import numpy as np

from kernelpca import PCA, KernelPCA
from kernelpca.kernels import RBF
from tables import RESULTS, Table, data_file

COUNTS = (1, 4, 16, 64, 256)
NOISE, SPECKLE = 0.5, 0.4


def mse(A: np.ndarray, B: np.ndarray) -> float:
    """Return the mean squared error of a pixel."""
    return float(np.square(A - B).mean())


def usps(per_class: int = 300, tests: int = 50, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return training and test images, so many of each digit, on the usual scale from -1 to 1."""
    data = np.load(data_file("usps.npz"))
    X, y = 2 * data["X"].astype(np.float64) - 1, data["y"]
    rng = np.random.default_rng(seed)
    chosen = [rng.permutation(np.flatnonzero(y == digit))[: per_class + tests] for digit in range(10)]
    train = np.concatenate([rows[:per_class] for rows in chosen])
    return X[rng.permutation(train)], X[np.concatenate([rows[per_class:] for rows in chosen])]


def half_circle(n: int, noise: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return points on the upper half of the unit circle with noise along the radius, and without it."""
    angle = rng.uniform(0, np.pi, n)
    clean = np.column_stack([np.cos(angle), np.sin(angle)])
    return clean * (1 + rng.normal(0, noise, (n, 1))), clean


def square(n: int, noise: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return points on the sides of the square from -1 to 1 with noise across the side, and without it."""
    along, side = rng.uniform(-1, 1, n), rng.integers(0, 4, n)
    clean, noisy = np.empty((n, 2)), np.empty((n, 2))
    for which in range(4):
        rows = side == which
        axis, sign = which // 2, 2 * (which % 2) - 1
        clean[rows, axis] = sign
        clean[rows, 1 - axis] = along[rows]
        noisy[rows] = clean[rows]
        noisy[rows, axis] += rng.normal(0, noise, rows.sum())
    return noisy, clean


def draw_shapes() -> None:
    """Draw both shapes, noisy and brought back."""
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(0)
    figure, axes = plt.subplots(2, 3, figsize=(10, 6), layout="constrained")
    table = Table("Shapes: mean squared distance from the point without noise", ["shape", "noisy", "PCA", "kernel PCA"])
    shapes = (("half circle", half_circle, 0.12, 4, 2.0), ("square", square, 0.1, 8, 2.0))
    for row, (name, make, noise, k, gamma) in zip(axes, shapes, strict=True):
        noisy, clean = make(400, noise, rng)
        linear = PCA(1).fit(noisy)
        model = KernelPCA(k, kernel=RBF(gamma), preimage="fixed_point").fit(noisy)
        answers = {
            f"{name} with noise": noisy,
            "PCA, 1 component": linear.inverse_transform(linear.transform(noisy)),
            f"kernel PCA, {k} components": model.denoise(noisy),
        }
        for axis, (title, points) in zip(row, answers.items(), strict=True):
            axis.plot(*clean.T, ",", color="0.6")
            axis.plot(*points.T, ".", markersize=3, color="tab:blue")
            axis.set(title=title, aspect="equal", xlim=(-1.5, 1.5), ylim=(-1.4, 1.5))
        table.add(name, *(2 * mse(points, clean) for points in answers.values()))
    table.write("shapes")
    figure.savefig(RESULTS / "shapes.png", dpi=110)
    plt.close(figure)


def with_noise(X: np.ndarray, kind: str, rng: np.random.Generator) -> np.ndarray:
    """Return images with Gaussian noise or speckle."""
    if kind == "Gaussian":
        return X + rng.normal(0, NOISE, X.shape)
    hit = rng.random(X.shape) < SPECKLE
    return np.where(hit, rng.choice([-1.0, 1.0], X.shape), X)


def draw_digits() -> None:
    """Draw one test image of each digit: with noise, and brought back by both methods."""
    import matplotlib.pyplot as plt

    train, test = usps()
    firsts = np.arange(10) * 50
    table = Table(
        "USPS: mean squared error of a pixel after denoising", ["noise", "method", "noisy", *map(str, COUNTS)]
    )
    for kind in ("Gaussian", "speckle"):
        noisy = with_noise(test, kind, np.random.default_rng(1))
        rows: list[tuple[str, np.ndarray]] = [("original", test), (f"{kind} noise", noisy)]
        errors: dict[str, list[float]] = {"PCA": [], "kernel PCA": []}
        for k in COUNTS:
            linear = PCA(k).fit(train)
            rows.append((f"PCA, {k}", linear.inverse_transform(linear.transform(noisy))))
            errors["PCA"].append(mse(rows[-1][1], test))
        for k in COUNTS:
            model = KernelPCA(k, kernel=RBF(1 / 128), preimage="fixed_point").fit(train)
            rows.append((f"kernel PCA, {k}", model.denoise(noisy)))
            errors["kernel PCA"].append(mse(rows[-1][1], test))
        for method, figures in errors.items():
            table.add(kind, method, mse(noisy, test), *figures)
        figure, axes = plt.subplots(len(rows), 10, figsize=(7.5, 0.72 * len(rows)), layout="constrained")
        for line, (title, images) in zip(axes, rows, strict=True):
            for axis, image in zip(line, images[firsts], strict=True):
                axis.imshow(image.reshape(16, 16), cmap="gray_r")  # each stretched to its own range
                axis.set(xticks=[], yticks=[])
            line[0].set_ylabel(title, rotation=0, ha="right", va="center", fontsize=8)
        figure.savefig(RESULTS / f"usps_{kind.lower()}.png", dpi=110)
        plt.close(figure)
    table.write("usps_denoising")


def main() -> None:
    """Draw everything."""
    draw_shapes()
    draw_digits()


if __name__ == "__main__":
    main()
