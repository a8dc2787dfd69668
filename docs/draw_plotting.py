"""The pictures of plotting.md, drawn anew into docs/images.

python docs/draw_plotting.py [name ...]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris

from kernelpca import PCA, InvertibleKernelPCA, KernelPCA
from kernelpca.datasets import load_beats, load_orl, load_usps
from kernelpca.kernels import RBF
from kernelpca.plotting import (
    ConvergenceDisplay,
    ErrorCurveDisplay,
    KernelMatrixDisplay,
    ParallelAnalysisDisplay,
    PreimageDisplay,
    ResidualsDisplay,
    ScoresDisplay,
    SpectrumDisplay,
    TraversalDisplay,
)
from kernelpca.plotting.display import Display
from kernelpca.preimage import FixedPoint
from kernelpca.selection import Denoising, error_curve
from kernelpca.solvers import BlockKrylov

IMAGES = Path(__file__).parent / "images"
X, DIGIT = load_usps()
X, DIGIT = X[:3000], DIGIT[:3000]
GAMMA = 0.01


def model_of_digits(n_components: int = 60) -> KernelPCA:
    """Kernel PCA of handwritten digits."""
    return KernelPCA(n_components, kernel=RBF(GAMMA), preimage=FixedPoint()).fit(X)


def scores() -> Display:
    """Iris, by species."""
    iris = load_iris()
    return ScoresDisplay.from_estimator(KernelPCA(2).fit(iris.data), iris.data, labels=iris.target_names[iris.target])


def scores_3d() -> Display:
    """Digits in three dimensions."""
    few = np.isin(DIGIT, [0, 1, 4, 7])
    model = KernelPCA(3, kernel=RBF(GAMMA)).fit(X[few])
    return ScoresDisplay.from_estimator(model, X[few], labels=DIGIT[few], components=(0, 1, 2))


def digits_map() -> Display:
    """Digits with pre-images along the way."""
    return ScoresDisplay.from_estimator(model_of_digits(20), X, labels=DIGIT, image_shape=(16, 16))


def faces_map() -> Display:
    """Faces, with faces."""
    faces, _ = smaller_faces()
    model = KernelPCA(2, kernel=RBF("median")).fit(faces)
    brightness = faces.mean(axis=1)
    return ScoresDisplay.from_estimator(
        model, faces, values=brightness, values_name="mean brightness", image_shape=(56, 46), thumbnails="samples"
    )


def smaller_faces() -> tuple[np.ndarray, np.ndarray]:
    """-> (400, 2576), (400,): faces at half size, and whose they are."""
    images, subject = load_orl()
    halves = images.reshape(400, 56, 2, 46, 2).mean(axis=(2, 4)) / 255
    return halves.reshape(400, -1), subject


def spectrum() -> Display:
    """How many components keep 80 percent."""
    return SpectrumDisplay.from_estimator(model_of_digits(100), n_components=0.8)


def kernel_matrix() -> Display:
    """Digits by class."""
    return KernelMatrixDisplay.from_estimator(model_of_digits(2), X, labels=DIGIT, max_rows=120)


def preimages() -> Display:
    """Digits with noise, by two methods."""
    train, test = X[:2000], X[2000:]
    noisy = test + np.random.default_rng(0).normal(0, 0.4, test.shape)
    models = {
        "PCA": PCA(20).fit(train),
        "kernel PCA": KernelPCA(60, kernel=RBF(GAMMA), preimage=FixedPoint()).fit(train),
    }
    return PreimageDisplay.from_estimator(models, noisy, truth=test, image_shape=(16, 16), samples=range(8))


def preimages_of_signals() -> Display:
    """Heart beats, of which the mean is taken for the truth."""
    beats = load_beats("c")
    train, test = beats[:28], beats[28:]
    models = {"PCA": PCA(1).fit(train), "ikPCA": InvertibleKernelPCA(1, gamma=5e-5, ridge=10.0).fit(train)}
    truth = np.tile(test.mean(axis=0), (len(test), 1))
    time = np.arange(beats.shape[1]) / beats.shape[1]
    names = {"truth_name": "mean beat", "given_name": "beat", "x_name": "time (beats)", "y_name": "potential (mV)"}
    return PreimageDisplay.from_estimator(models, test, truth=truth, positions=time, samples=2, **names)


def preimages_of_tables() -> Display:
    """Flowers with noise."""
    flowers = load_iris(as_frame=True).data
    noisy = flowers + np.random.default_rng(0).normal(0, 0.4, flowers.shape)
    models = {"PCA": PCA(2).fit(flowers), "kernel PCA": KernelPCA(4, kernel=RBF(0.1)).fit(flowers)}
    return PreimageDisplay.from_estimator(models, noisy, truth=flowers, y_name="cm", samples=2)


def traversal() -> Display:
    """What components of faces are."""
    faces, _ = smaller_faces()
    return TraversalDisplay.from_estimator(KernelPCA(10, kernel=RBF("median")).fit(faces), image_shape=(56, 46))


def traversal_of_tables() -> Display:
    """What components of flowers are."""
    flowers = load_iris(as_frame=True).data
    return TraversalDisplay.from_estimator(KernelPCA(2).fit(flowers), y_name="cm", components=(0, 1))


def residuals() -> Display:
    """Zeros, and digits that are none."""
    zeros, others = X[DIGIT == 0], X[DIGIT != 0][:40]
    train, known, test = zeros[:250], zeros[250:350], np.concatenate([zeros[350:], others])
    model = KernelPCA(20, kernel=RBF(GAMMA)).fit(train)
    return ResidualsDisplay.from_estimator(model, test, reference=known)


def convergence() -> Display:
    """A fit that ends with a bound."""
    solver = BlockKrylov(criterion="certified", landmarks=0)
    return ConvergenceDisplay.from_estimator(KernelPCA(20, kernel=RBF(GAMMA), solver=solver, tol=1e-8), X)


def error_curves() -> Display:
    """How many components denoise best, linear and not."""
    how = {"criterion": Denoising(0.4), "cv": 3}
    models = {"PCA": PCA(200), "kernel PCA": KernelPCA(384, kernel=RBF(0.006))}
    return ErrorCurveDisplay.from_curve({name: error_curve(model, X[:1000], **how) for name, model in models.items()})


def parallel_analysis() -> Display:
    """How many components are more than chance."""
    return ParallelAnalysisDisplay.from_estimator(PCA(80), X[:1000], n_permutations=20)


PICTURES: dict[str, Callable[[], Display]] = {
    "scores": scores,
    "scores-3d": scores_3d,
    "digits-map": digits_map,
    "faces-map": faces_map,
    "spectrum": spectrum,
    "kernel-matrix": kernel_matrix,
    "preimages": preimages,
    "preimages-signals": preimages_of_signals,
    "preimages-tables": preimages_of_tables,
    "traversal": traversal,
    "traversal-tables": traversal_of_tables,
    "residuals": residuals,
    "convergence": convergence,
    "error-curves": error_curves,
    "parallel-analysis": parallel_analysis,
}


def main() -> None:
    """Draw those that are named, or all."""
    for name in sys.argv[1:] or PICTURES:
        PICTURES[name]().save(IMAGES / f"plotting-{name}.png", dpi=150)


if __name__ == "__main__":
    main()
