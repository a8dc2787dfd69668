"""Invertible kernel PCA against learned pre-images and PCA: table A-1 and figures 2 and 3 of its paper.

Denoising of heart beats, of points on an s-curve and of digits. ikPCA goes back through random features step by step;
kPCA+SL learns the way back by kernel ridge regression, with one kernel both ways as in scikit-learn. Every setting is
that of the paper (Gedon, Ribeiro, Wahlström and Schön 2023); errors are means over all entries.

    python benchmarks/invertible.py [--parts ecg beats scurve usps] [--runs 5] [--splits 500]
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

import h5py
import numpy as np
from joblib import Parallel, delayed
from sklearn.datasets import make_s_curve
from sklearn.model_selection import train_test_split

from denoising import mse
from kernelpca import PCA, InvertibleKernelPCA, KernelPCA
from kernelpca.kernels import RBF
from kernelpca.preimage import Ridge
from tables import RESULTS, Table, data_file

RECORDINGS = {"a": "ecg4_lead0", "b": "ecg1_lead0", "c": "ecg18_lead1"}
PAPER_RUNS = 500
PAPER = {  # table A-1: mean and standard deviation
    "a": {"PCA": (4.00e-5, 1.47e-5), "kPCA+SL": (2.78e-5, 0.74e-5), "ikPCA": (2.57e-5, 0.79e-5)},
    "b": {"PCA": (3.20e-5, 0.35e-5), "kPCA+SL": (2.38e-5, 0.29e-5), "ikPCA": (2.32e-5, 0.31e-5)},
    "c": {"PCA": (8.37e-4, 5.93e-4), "kPCA+SL": (2.43e-4, 1.63e-4), "ikPCA": (2.27e-4, 1.49e-4)},
}
CURVE_SIZES, CURVE_COMPONENTS = (50, 500, 5000), tuple(range(2, 21, 2))
DIGIT_RIDGES, DIGIT_COMPONENTS = (0.1, 0.5, 2.0), (5, 10, 15, 20, 25)


def beats(recording: str) -> np.ndarray:
    """Return the beats of a recording, (number of beats, 512)."""
    with h5py.File(data_file("cpsc_normal_beats.h5")) as file:
        return file[RECORDINGS[recording]][:].T


def learned(X: np.ndarray, Y: np.ndarray, gamma: float, ridge: float, components: tuple[int, ...]) -> list[np.ndarray]:
    """Denoise Y by kPCA+SL with each number of components; one decomposition is enough for all."""
    kernel = RBF(gamma)
    model = KernelPCA(max(components), kernel=kernel)
    Z, Z_new = model.fit_transform(X), model.transform(Y)
    return [Ridge(ridge).learn(Z[:, :k], X, kernel).points(Z_new[:, :k]) for k in components]


def inverted(
    model: InvertibleKernelPCA, Y: np.ndarray, components: tuple[int, ...], **method: object
) -> list[np.ndarray]:
    """Denoise Y with each number of components (scores of the others are zero), and with parameters of the way back.

    They can be changed on the fitted model: features, components and the factors of the linear map stay.
    """
    model.layers_[0].preimage_.set_params(**method)
    Z = model.transform(Y)
    return [model.inverse_transform(Z * (np.arange(Z.shape[1]) < k), reference=Y) for k in components]


def projected(X: np.ndarray, Y: np.ndarray, components: tuple[int, ...]) -> list[np.ndarray]:
    """Denoise Y by linear PCA with each number of components."""
    model = PCA(max(components)).fit(X)
    Z = model.transform(Y)
    return [model.inverse_transform(Z * (np.arange(Z.shape[1]) < k)) for k in components]


def over_runs(one: Callable[[int], dict[str, list[float]]], runs: int) -> dict[str, np.ndarray]:
    """Call `one(run)` for each run, on all cores; return (runs, figures) for each name."""

    def quiet(run: int) -> dict[str, list[float]]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of scores far out, which noise makes
            return one(run)

    found = Parallel(n_jobs=-1)(delayed(quiet)(run) for run in range(runs))
    return {name: np.array([figures[name] for figures in found]) for name in found[0]}


# heart beats


def split_of_beats(recording: str, run: int) -> dict[str, list[float]]:
    """Denoise the test beats of one split with one component; the mean test beat is the truth."""
    X, Y = train_test_split(beats(recording), random_state=42 + run, train_size=0.7)
    truth = Y.mean(axis=0)
    model = InvertibleKernelPCA(1, gamma=5e-5, n_features=512, ridge=10.0, random_state=run).fit(X)
    return {
        "PCA": [mse(truth, projected(X, Y, (1,))[0])],
        "kPCA+SL": [mse(truth, learned(X, Y, 10.0, 15.0, (1,))[0])],
        "ikPCA": [mse(truth, model.denoise(Y))],
        "ikPCA, branch added": [mse(truth, inverted(model, Y, (1,), branch="added")[0])],
        "training mean alone": [mse(truth, X.mean(axis=0))],
    }


def run_ecg(splits: int) -> None:
    """Table A-1."""
    table = Table(
        f"Denoising heart beats, table A-1: mean squared error over {splits} splits",
        ["recording", "method", "mean", "deviation", "paper", "difference / standard error"],
    )
    for recording, paper in PAPER.items():
        unit = 1e-4 if recording == "c" else 1e-5
        figures = over_runs(lambda run, recording=recording: split_of_beats(recording, run), splits)
        for method, errors in figures.items():
            mean, deviation = errors.mean(), errors.std()
            row = ["", ""]
            if method in paper:
                center, spread = paper[method]
                error = np.sqrt(deviation**2 / splits + spread**2 / PAPER_RUNS)
                row = [f"{center / unit:.2f} ± {spread / unit:.2f}", f"{(mean - center) / error:+.1f}"]
            table.add(f"{recording} ({unit:.0e})", method, f"{mean / unit:.2f}", f"{deviation / unit:.2f}", *row)
    table.notes = [
        "49, 43 and 28 beats to train on, the others to test; one component; PCA, kPCA+SL (gamma 10, ridge 15) and",
        "ikPCA (gamma 5e-5, ridge 10, 512 features, drawn anew for each split). The truth is the mean of the test",
        "beats. With that truth a component can only harm, and the best a method can do is to leave it out: W'W is",
        "about 0.05 I beside a ridge of 10, so ikPCA answers with the mean of the training beats, and the mean alone",
        "does as well. Splits have the seeds 42, 43, ... of the published script: PCA and kPCA+SL see the same beats.",
    ]
    table.write("invertible_ecg")
    draw_beats()


def split_of_noisy_beats(run: int) -> dict[str, list[float]]:
    """Add noise to beats of the recording that varies most; each beat itself is the truth."""
    rng = np.random.default_rng(run)
    X, truth = train_test_split(beats("c"), random_state=42 + run, train_size=0.7)
    X, Y = X + rng.normal(0, 0.05, X.shape), truth + rng.normal(0, 0.05, truth.shape)
    model = InvertibleKernelPCA(1, gamma=5e-5, n_features=4096, ridge=0.02, random_state=run).fit(X)
    return {
        "noisy beats": [mse(truth, Y)],
        "training mean alone": [mse(truth, X.mean(axis=0))],
        "PCA": [mse(truth, projected(X, Y, (1,))[0])],
        "kPCA+SL, gamma 0.01, ridge 0.001": [mse(truth, learned(X, Y, 0.01, 1e-3, (1,))[0])],
        "ikPCA, gamma 5e-5, ridge 0.02, 4096 features": [mse(truth, model.denoise(Y))],
        "ikPCA, branch added": [mse(truth, inverted(model, Y, (1,), branch="added")[0])],
    }


def run_beats(splits: int) -> None:
    """A task in which a component matters."""
    table = Table(
        f"Heart beats with noise, each beat its own truth: mean squared error (1e-4) over {splits} splits",
        ["method", "mean", "deviation"],
    )
    for method, errors in over_runs(split_of_noisy_beats, splits).items():
        table.add(method, f"{errors.mean() * 1e4:.2f}", f"{errors.std() * 1e4:.2f}")
    table.notes = ["Recording c, noise of deviation 0.05 on training and test beats, one component."]
    table.write("invertible_beats")


def draw_beats() -> None:
    """Draw figure A-8: the answers of ikPCA for the test beats of one split of each recording."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
    for axis, recording in zip(axes, RECORDINGS, strict=True):
        X, Y = train_test_split(beats(recording), random_state=42, train_size=0.7)
        answers = InvertibleKernelPCA(1, gamma=5e-5, n_features=512, ridge=10.0).fit(X).denoise(Y)
        time = np.arange(Y.shape[1])
        axis.fill_between(
            time, Y.min(axis=0), Y.max(axis=0), color="tab:blue", alpha=0.25, label="test beats, min to max"
        )
        axis.plot(time, Y.mean(axis=0), color="tab:blue", label="their mean")
        lines = axis.plot(time, answers.T, color="tab:red", linestyle="--", linewidth=0.8, alpha=0.6)
        lines[0].set_label(f"ikPCA of {len(Y)} beats")
        axis.set_title(f"recording {recording}")
        axis.set_xlabel("sample")
        axis.legend(fontsize=8, frameon=False)
    save(figure, "invertible_ecg")


# the s-curve


def run_of_curve(run: int) -> dict[str, list[float]]:
    """Denoise points near the s-curve; the points on it are the truth."""
    rng = np.random.default_rng(run)
    points = make_s_curve(4000, random_state=run)[0]
    noisy = points + rng.normal(0, 0.25, points.shape)
    X, Y, truth = noisy[:2000], noisy[2000:], points[2000:]
    figures = {"kPCA+SL": [mse(truth, answer) for answer in learned(X, Y, 1.0, 1.0, CURVE_COMPONENTS)]}
    for r in CURVE_SIZES:
        model = InvertibleKernelPCA(max(CURVE_COMPONENTS), gamma=0.5, n_features=r, ridge=1.0, random_state=run).fit(X)
        figures[f"ikPCA, r = {r}"] = [mse(truth, answer) for answer in inverted(model, Y, CURVE_COMPONENTS)]
        if r == 500:
            answers = inverted(model, Y, CURVE_COMPONENTS, branch="added")
            figures["ikPCA, r = 500, branch added"] = [mse(truth, answer) for answer in answers]
    model = InvertibleKernelPCA(max(CURVE_COMPONENTS), gamma=0.5, n_features=500, form="paired", random_state=run).fit(
        X
    )
    figures["ikPCA, r = 500, paired"] = [mse(truth, answer) for answer in inverted(model, Y, CURVE_COMPONENTS)]
    return figures


def run_scurve(runs: int) -> None:
    """Figure 2."""
    figures = over_runs(run_of_curve, runs)
    tabulate("invertible_scurve", f"S-curve, figure 2: mean squared error, {runs} runs", CURVE_COMPONENTS, figures)
    draw("invertible_scurve", "s-curve with noise 0.25", CURVE_COMPONENTS, figures, top=0.08)


# digits


def run_of_digits(run: int) -> dict[str, list[float]]:
    """Denoise digits with noise added; the images without it are the truth."""
    rng = np.random.default_rng(run)
    with np.load(data_file("usps.npz")) as file:
        images, digits = file["X"].astype(np.float64), file["y"]
    T, truth = train_test_split(images, stratify=digits, random_state=42 + run, train_size=1000, test_size=400)
    X, Y = T + rng.normal(0, 0.5, T.shape), truth + rng.normal(0, 0.5, truth.shape)
    k = DIGIT_COMPONENTS
    figures = {
        "PCA": [mse(truth, answer) for answer in projected(X, Y, k)],
        "kPCA+SL": [mse(truth, answer) for answer in learned(X, Y, 5e-3, 1e-2, k)],
    }
    model = InvertibleKernelPCA(max(k), gamma=1e-4, n_features=30000, random_state=run).fit(X)
    for ridge in DIGIT_RIDGES:
        figures[f"ikPCA, ridge {ridge}"] = [mse(truth, answer) for answer in inverted(model, Y, k, ridge=ridge)]
    answers = inverted(model, Y, k, ridge=0.5, branch="added")
    figures["ikPCA, ridge 0.5, branch added"] = [mse(truth, answer) for answer in answers]
    return figures


def run_usps(runs: int) -> None:
    """Figure 3."""
    figures = over_runs(run_of_digits, runs)
    tabulate("invertible_usps", f"USPS, figure 3: mean squared error, {runs} runs", DIGIT_COMPONENTS, figures)
    draw("invertible_usps", "USPS digits with noise 0.5", DIGIT_COMPONENTS, figures, top=0.08)


# tables and pictures


def tabulate(name: str, title: str, components: tuple[int, ...], figures: dict[str, np.ndarray]) -> None:
    """Write a table with a row for each method: the mean for each number of components, and the best of them."""
    table = Table(title, ["method", *(f"k = {k}" for k in components), "best", "/ kPCA+SL"])
    best = {method: errors.mean(axis=0).min() for method, errors in figures.items()}
    for method, errors in figures.items():
        means = (f"{error:.4f}" for error in errors.mean(axis=0))
        table.add(method, *means, f"{best[method]:.4f}", f"{best[method] / best['kPCA+SL']:.3f}")
    table.write(name)


def draw(name: str, title: str, components: tuple[int, ...], figures: dict[str, np.ndarray], top: float) -> None:
    """Draw error against number of components, with the deviation over runs."""
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    for method, errors in figures.items():
        line = {"kPCA+SL": ("black", ":"), "PCA": ("black", "--")}.get(method, (None, "-"))
        style = "-." if "added" in method else line[1]
        mean, deviation = errors.mean(axis=0), errors.std(axis=0)
        if mean.min() > top:
            label = f"{method}: {mean.min():.2f} (outside)"
            axis.plot([], [], linestyle=style, label=label)
            continue
        axis.errorbar(components, mean, deviation, color=line[0], linestyle=style, capsize=2, label=method)
    axis.set(title=title, xlabel="components", ylabel="mean squared error", xticks=components, ylim=(None, top))
    axis.legend(fontsize=8, frameon=False)
    save(figure, name)


def save(figure: object, name: str) -> None:
    """Write a picture beside the tables."""
    figure.savefig(RESULTS / f"{name}.png", dpi=110)  # type: ignore[attr-defined]


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = ("ecg", "beats", "scurve", "usps")
    parser.add_argument("--parts", nargs="+", choices=parts, default=parts)
    parser.add_argument("--runs", type=int, default=5, help="of the s-curve and the digits (the paper has 20)")
    parser.add_argument("--splits", type=int, default=500, help="of the heart beats")
    options = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    for part in options.parts:
        {
            "ecg": lambda: run_ecg(options.splits),
            "beats": lambda: run_beats(min(options.splits, 50)),
            "scurve": lambda: run_scurve(options.runs),
            "usps": lambda: run_usps(options.runs),
        }[part]()


if __name__ == "__main__":
    main()
