"""The way back: how near each pre-image method comes, how long it takes, and beside scikit-learn.

    python benchmarks/preimages.py [--part methods|speed|fixed_point|video]

`methods`: USPS digits denoised and digits reconstructed by every method, on one model each: squared distance in feature
space between the mapped answer and the point that was to be inverted, mean squared error of the pixels, time; and the
plain answer "the nearest training sample". Invertible has a model, and so a feature space, of its own.
`speed`: fit and inverse of all rows beside scikit-learn with fit_inverse_transform=True and its faster eigensolver.
`fixed_point`: ten iterations for 1000 images against 3000 training images, in kernel matrices of that size.
`video`: 69 frames of 2,073,600 pixels, one more brought back from three components; peak memory of the process.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import sklearn.decomposition
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from kernelpca import InvertibleKernelPCA, KernelPCA
from kernelpca.datasets import load_hands
from kernelpca.kernels import RBF
from kernelpca.preimage import Distances, FixedPoint, Gradient, Preimage, Ridge, Weights
from kernelpca.solvers import BlockKrylov
from kernelpca_papers.mika_analysis.digits import split
from tables import Table, mse, prepare, timed

FRAMES, HEIGHT, WIDTH = 69, 1080, 1920  # the digest's video
METHODS: dict[str, Preimage] = {
    "FixedPoint": FixedPoint(),
    "Gradient": Gradient(),
    "Ridge": Ridge(),
    "Ridge, the model's kernel": Ridge(kernel="model"),
    "Distances": Distances(),
    "Weights, discrepancy, 30 nearest": Weights(n_neighbors=30),
    "Weights, 1/d, 10 nearest": Weights("inverse", n_neighbors=10),
    "Weights, 1/d^2, 10 nearest": Weights("inverse_square", n_neighbors=10),
    "Weights, exp(-d), 10 nearest": Weights("exponential", n_neighbors=10),
}


@dataclass(frozen=True)
class Trial:
    """Rows to learn from, rows to bring back, and what they are without noise."""

    name: str
    train: np.ndarray
    given: np.ndarray
    truth: np.ndarray
    kernel: RBF
    n_components: int


def trials() -> list[Trial]:
    """Return the two common tests."""
    rng = np.random.default_rng(1)
    train, test = split(0, 300, 50)
    digits = load_digits(return_X_y=True)[0] / 16
    noisy = test + rng.normal(0, 0.5, test.shape)
    return [
        Trial("USPS denoising", train, noisy, test, RBF(1 / 128), 64),
        Trial("digits reconstruction", digits[:1000], digits[1000:], digits[1000:], RBF().resolve(digits[:1000]), 30),
    ]


def compare_methods() -> None:
    """Judge every method by one number."""
    columns = ["test", "method", "squared distance in feature space", "MSE", "s / 1000", "iterations", "converged"]
    table = Table("Pre-images: every method on the same model", columns)
    for trial in trials():
        base = KernelPCA(trial.n_components, kernel=trial.kernel).fit(trial.train)
        Z = base.transform(trial.given)
        space = base._inverse.space
        nearest = space.from_samples(Z)
        answer = trial.train[nearest.argmin(axis=1)]
        plain = float(nearest.min(axis=1).mean())
        table.add(trial.name, "nearest training sample", plain, mse(answer, trial.truth), "", "", "")
        for name, method in METHODS.items():
            model = KernelPCA(trial.n_components, kernel=trial.kernel, preimage=method).fit(trial.train)
            model.invert(Z[:2])  # what is prepared once
            prepare()
            began = time.perf_counter()
            found = model.invert(Z, reference=trial.given)
            seconds = (time.perf_counter() - began) * 1000 / len(Z)
            squared = float(np.square(found.distance).mean())
            table.add(
                trial.name,
                name,
                squared,
                mse(found.points, trial.truth),
                seconds,
                float(found.iterations.mean()),
                f"{found.converged.mean():.0%}",
            )
        model = InvertibleKernelPCA(trial.n_components, gamma=trial.kernel.gamma, n_features=4096).fit(trial.train)
        prepare()
        began = time.perf_counter()
        points = model.denoise(trial.given)
        seconds = (time.perf_counter() - began) * 1000 / len(Z)
        table.add(trial.name, "Invertible (its own features)", "", mse(points, trial.truth), seconds, "", "")
    table.write("preimages")


def compare_speed() -> None:
    """Time fit and inverse of all rows."""
    columns = ["data", "who", "seconds", "times faster than scikit-learn", "MSE of a pixel"]
    table = Table("Fit and inverse of all rows: 3000 USPS images, 50 components", columns)
    train, _ = split(0, 300, 50)
    gamma, alpha, k = 1 / 128, 0.1, 50
    for dtype in (np.float64, np.float32):
        X = train.astype(dtype)

        def theirs(solver, X=X):
            model = sklearn.decomposition.KernelPCA(
                k,
                kernel="rbf",
                gamma=gamma,
                alpha=alpha,
                fit_inverse_transform=True,
                eigen_solver=solver,
                random_state=0,
            )
            return model.inverse_transform(model.fit_transform(X))

        def ours(method, solver="auto", X=X):
            model = KernelPCA(k, kernel=RBF(gamma), solver=solver, preimage=method)
            return model.inverse_transform(model.fit_transform(X))

        runs = {
            "scikit-learn, arpack": lambda: theirs("arpack"),
            "scikit-learn, randomized": lambda: theirs("randomized"),
            "Ridge, residuals 1e-4 (default)": lambda: ours(Ridge(alpha, "model", n_landmarks=None)),
            "Ridge, variance 1e-4": lambda: ours(
                Ridge(alpha, "model", n_landmarks=None), BlockKrylov(criterion="variance")
            ),
            "Ridge on 500 landmarks, variance": lambda: ours(
                Ridge(alpha, "model", n_landmarks=500), BlockKrylov(criterion="variance")
            ),
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            results = timed(runs, repeats=5)
        best = min(seconds for name, (seconds, _) in results.items() if name.startswith("scikit"))
        for name, (seconds, points) in results.items():
            table.add(np.dtype(dtype).name, name, seconds, best / seconds, mse(points, X))
    table.write("preimage_speed")


def time_fixed_point() -> None:
    """Count ten iterations in kernel matrices."""
    columns = ["data", "kernel matrix 1000 x 3000 (s)", "ten iterations (s)", "ratio (at most 25)"]
    table = Table("Fixed point: ten iterations for 1000 USPS images, 3000 training images, 64 components", columns)
    train, test = split(0, 300, 100)
    for dtype in (np.float64, np.float32):
        X, T = train.astype(dtype), test.astype(dtype)
        kernel, method = RBF(1 / 128), FixedPoint(max_iter=10, tol=0.0)
        model = KernelPCA(64, kernel=kernel, preimage=method).fit(X)
        Z = model.transform(T)
        for name, reference in (("from the data", T), ("from scores alone", None)):

            def iterate(Z=Z, reference=reference, model=model):
                return model.inverse_transform(Z, reference)

            runs = {"matrix": lambda X=X, T=T, kernel=kernel: kernel(T, X), "fixed point": iterate}
            results = timed(runs, repeats=7)
            matrix, steps = results["matrix"][0], results["fixed point"][0]
            table.add(f"{np.dtype(dtype).name}, {name}", matrix, steps, steps / matrix)
    table.write("fixed_point")


def video() -> np.ndarray:
    """Return hand frames enlarged to the size of the digest's video, the middle one last, (70, 2073600) float32."""
    frames = load_hands()[: FRAMES + 1]
    rows, cols = (np.arange(size) * old // size for size, old in ((HEIGHT, 60), (WIDTH, 80)))
    X = np.empty((FRAMES + 1, HEIGHT * WIDTH), np.float32)
    order = [i for i in range(FRAMES + 1) if i != FRAMES // 2] + [FRAMES // 2]
    for i, frame in enumerate(order):
        X[i] = (frames[frame][rows[:, None], cols] / np.float32(255)).ravel()
    return X


def run_video() -> None:
    """Fit, project a frame that was left out, bring it back; say what it took."""
    began = time.perf_counter()
    X = video()
    made = time.perf_counter() - began
    began = time.perf_counter()
    model = KernelPCA(3, kernel=RBF(gamma="median"), preimage=Weights()).fit(X[:FRAMES])
    found = model.invert(model.transform(X[FRAMES:]))
    seconds = time.perf_counter() - began
    status = Path("/proc/self/status").read_text()
    peak = int(status.split("VmHWM:")[1].split()[0]) * 1024
    error = mse(found.points, X[FRAMES:])
    nearest = float(np.square(X[:FRAMES] - X[FRAMES]).mean(axis=1).min())
    kept = float(model.explained_variance_ratio_.sum())
    print(f"{made:.2f} {seconds:.2f} {peak} {kept:.3f} {error:.3g} {nearest:.3g} {float(found.reliability[0]):.4f}")
    np.save(Path(__file__).parent / "results" / "video.npy", found.points[0].reshape(HEIGHT, WIDTH)[::9, ::12])


def measure_video() -> None:
    """Run the video in a process of its own, so that its peak is its own."""
    columns = ["making the frames (s)", "fit, project, invert (s)", "peak memory (GB)", "variance kept"]
    columns += ["MSE", "MSE of the nearest frame", "reliability"]
    table = Table(f"Video: {FRAMES} frames of {HEIGHT * WIDTH:,} pixels, three components", columns)
    result = subprocess.run(
        [sys.executable, __file__, "--part", "run_video"], capture_output=True, text=True, check=True
    )
    made, seconds, peak, *rest = result.stdout.split()
    table.add(made, seconds, f"{int(peak) / 1e9:.2f}", *rest)
    table.write("video")


PARTS = {
    "methods": compare_methods,
    "speed": compare_speed,
    "fixed_point": time_fixed_point,
    "video": measure_video,
}


def main() -> None:
    """Run one part or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=[*PARTS, "run_video"])
    options = parser.parse_args()
    if options.part == "run_video":
        run_video()
        return
    for name, part in PARTS.items():
        if options.part in (None, name):
            part()


if __name__ == "__main__":
    main()
