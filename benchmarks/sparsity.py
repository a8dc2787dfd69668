"""What a sparse model of half the rows is worth: time, bytes, the error of its scores, and what it costs on digits.

Table 8 and figures 4 and 5 of the dualization paper are `kernelpca reproduce dualization/sparsity dualization/epsilon`.

    python benchmarks/sparsity.py [--parts model digits]
"""

from __future__ import annotations

import argparse
import io
import pickle
import warnings
from collections.abc import Iterator
from functools import partial

import joblib
import numpy as np
from scipy.linalg import orthogonal_procrustes
from sklearn.datasets import load_digits

from kernelpca import KernelPCA, SparseKernelPCA
from kernelpca.features import Nystrom
from tables import Table, mse, timed
from tasks import median, usps

FASTER, SMALLER = 1.7, 0.6  # of a model with half of the rows
TURNS = 15  # of a transform, which takes a few milliseconds in places


# a model with half of the rows


def data_sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield names, training rows, and 4000 new rows."""
    noise = np.random.default_rng(0).standard_normal((8000, 64))
    yield "normal 4000 x 64", noise[:4000], noise[4000:]
    X = usps().astype(np.float64)[np.random.default_rng(0).permutation(9298)]
    yield "USPS 4000 x 256", X[:4000], X[4000:8000]
    X = load_digits().data[np.random.default_rng(0).permutation(1797)]
    yield "digits 1000 x 64", X[:1000], np.tile(X[1000:], (6, 1))[:4000]


def run_model() -> None:
    """Time, bytes, and the error of scores."""
    table = Table(
        "Models with half of the rows beside the square model: 10 components, 4000 new rows",
        ["data", "centered", "dtype", "transform, square / sparse", "bytes, joblib", "pickle", "arrays of all rows"],
    )
    scores = Table(
        "Scores of models with half of the rows beside those about the true mean, largest of all rows",
        ["data", "mean off by", "stated", "training rows / stated", "new rows / stated", "largest score", "farthest"],
    )
    for name, train, new in data_sets():
        kernel = median(train)
        for center in (True, False):
            for dtype in (np.float64, np.float32):
                A, B = train.astype(dtype), new.astype(dtype)
                square = KernelPCA(10, kernel=kernel, center=center).fit(A)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    sparse = SparseKernelPCA(10, kernel=kernel, center=center, sparsity=0.5).fit(A)
                runs = {"square": partial(square.transform, B), "sparse": partial(sparse.transform, B)}
                turns = timed(runs, TURNS, present=2**26)
                ratios = [size(sparse) / size(square) for size in (joblib_bytes, pickle_bytes)]
                whole = [shape for shape in arrays_of(sparse) if len(A) in shape]
                faster = turns["square"][0] / turns["sparse"][0]
                table.add(name, center, np.dtype(dtype), f"{faster:.2f}", *(f"{r:.3f}" for r in ratios), len(whole))
                if center and dtype is np.float64:
                    compare_scores(scores, name, sparse, train, new)
    table.notes = [
        f"Wanted: transform at least {FASTER} times faster, at most {SMALLER} of the bytes (without compression).",
        "Beside the kept rows, their coefficients and the mean's weights, which the square model has for all rows, a",
        f"sparse model stores support_ and dual_coef_. Shortest of {TURNS} turns.",
    ]
    scores.notes = [
        "Stated: certificate_.score_error, a bound on the length of the difference of a row's scores on the same axes,",
        "for rows no farther from the mean than the training rows. Axes are made the same by the rotation that brings",
        "the training scores nearest. Farthest: distance from the mean, new over training rows.",
    ]
    table.write("sparsity_model")
    scores.write("sparsity_scores")


def joblib_bytes(model: object) -> int:
    """Return the bytes of a file that joblib writes."""
    file = io.BytesIO()
    joblib.dump(model, file)
    return len(file.getvalue())


def pickle_bytes(model: object) -> int:
    """Return the bytes of a pickle."""
    return len(pickle.dumps(model))


def arrays_of(model: object) -> list[tuple[int, ...]]:
    """Return the shapes of all arrays in a model."""
    shapes = []

    class Watcher(pickle.Pickler):
        def persistent_id(self, item: object) -> None:
            if isinstance(item, np.ndarray):
                shapes.append(item.shape)

    Watcher(io.BytesIO()).dump(model)
    return shapes


def compare_scores(table: Table, name: str, model: SparseKernelPCA, train: np.ndarray, new: np.ndarray) -> None:
    """Compare with scores about the true mean, from the dual variable by eq. 8, turned to the same axes."""
    H = np.zeros((len(train), model.n_components_))
    H[model.support_] = model.dual_coef_
    K = model.kernel_(train)
    means, mean = K.mean(axis=1), K.mean()

    def centered(values: np.ndarray) -> np.ndarray:
        return values - values.mean(axis=1, keepdims=True) - means + mean

    GH = centered(K) @ H
    values, U = np.linalg.eigh(H.T @ GH)
    C = (U / np.sqrt(values)) @ U.T
    C = C @ orthogonal_procrustes(GH @ C, model.transform(train))[0]
    bound, off, far = model.certificate_.score_error, [], []
    for rows in (train, new):
        values = model.kernel_(rows, train)
        off.append(float(np.linalg.norm(model.transform(rows) - centered(values) @ (H @ C), axis=1).max()))
        far.append(float(np.sqrt(1 - 2 * values.mean(axis=1) + mean).max()))
    table.add(
        name, model.certificate_.center_error, bound, *(error / bound for error in off),
        float(np.linalg.norm(GH @ C, axis=1).max()), f"{far[1] / far[0]:.4f}",
    )  # fmt: skip


# what sparsity costs on digits


def run_digits() -> None:
    """2000 digits, 10 components: sparse models, landmarks, and the best directions on the sparse model's rows."""
    X = usps().astype(np.float64)[np.random.default_rng(1).permutation(9298)]
    train, test = X[:2000], X[2000:4000]
    noisy = test + np.random.default_rng(2).normal(0, 0.25, test.shape)
    kernel = median(train)
    square = KernelPCA(10, kernel=kernel).fit(train)
    captured, left = square.explained_variance_ratio_.sum(), square.residuals(test).mean()
    table = Table(
        "USPS, 2000 rows, 10 components, Gaussian kernel of median width: what leaving out rows costs",
        [
            "rows left out",
            "model",
            "captured / square",
            "residuals of test rows / square",
            "MSE of denoising",
            "bytes / square",
        ],
    )

    def bytes_of(model: KernelPCA) -> float:
        return pickle_bytes(model) / pickle_bytes(square)

    def add(part: float, name: str, model: KernelPCA) -> None:
        ratio = model.explained_variance_ratio_.sum() / captured
        residuals = model.residuals(test).mean() / left
        error = mse(test, model.denoise(noisy))
        table.add(f"{part:.0%}", name, f"{ratio:.4f}", f"{residuals:.4f}", f"{error:.5f}", f"{bytes_of(model):.3f}")

    add(0.0, "square", square)
    for part in (0.0, 0.3, 0.5, 0.7, 0.9):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for norm in ("2", "inf"):
                model = SparseKernelPCA(10, kernel=kernel, sparsity=part, norm=norm).fit(train)
                add(model.sparsity_, f'sparse, norm "{norm}"', model)
                if part and norm == "2":
                    support = train[model.support_]
                    best = KernelPCA(10, kernel=kernel, approximation=Nystrom(landmarks=support)).fit(train)
                    add(part, "its rows as landmarks", best)
            if part:
                kept = len(train) - round(part * len(train))
                landmarks = KernelPCA(10, kernel=kernel, approximation=Nystrom(kept), random_state=0).fit(train)
                add(part, f"{kept} landmarks", landmarks)
    noise = mse(test, noisy)
    table.notes = [
        f"Pixels from 0 to 1, noise of deviation 0.25 (mean squared error {noise:.4f}) on 2000 test rows, default",
        "pre-images. Landmarks: Nystrom as it comes, which keeps as many rows. Rows given as landmarks are stored",
        "twice, since they are a parameter too.",
    ]
    table.write("sparsity_digits")


PARTS = {"model": run_model, "digits": run_digits}


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    for part in parser.parse_args().parts:
        PARTS[part]()


if __name__ == "__main__":
    main()
