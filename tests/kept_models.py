"""Model files of every format, kept in tests/models and read forever, with what their models told when they were made.

    python tests/kept_models.py tests/models/format-1

writes a file for each model below, and beside it the rows it was asked about and its answers. A file that is there is
left as it is: files of a version that people have are never made anew.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.mixture import GaussianMixture

import kernelpca.sklearn as dropin
from kernelpca import PCA, DualKernelPCA, IncrementalKernelPCA, InvertibleKernelPCA, KernelPCA, RobustKernelPCA
from kernelpca import SparseKernelPCA as Sparse
from kernelpca.features import Nystrom, RandomFourier
from kernelpca.kernels import RBF, Fisher, Linear
from kernelpca.objectives import Huber
from kernelpca.preimage import Ridge

FOLDER = Path(__file__).parent / "models"
EXACT = ("transform", "score_samples", "inverse_transform")


def kept_models():
    """Return fitted models by name, each with rows to ask it about."""
    X = load_digits().data[:30, 18:30] / 16
    new = load_digits().data[30:34, 18:30] / 16
    texts = np.array(["kernel", "kernels", "colonel", "eigen", "eigenvalue", "value", "principal", "component"])
    names = [f"pixel {i}" for i in range(X.shape[1])]
    mixture = GaussianMixture(2, covariance_type="diag", reg_covar=1e-2, random_state=0).fit(X)
    models = {
        "exact": KernelPCA(3).fit(X),
        "named-columns": KernelPCA(3).fit(pd.DataFrame(X, columns=names)),
        "combined-kernel": KernelPCA(3, kernel=RBF(0.5) + 2 * Linear() + 1.0).fit(X),
        "fisher": KernelPCA(3, kernel=Fisher(mixture, "empirical")).fit(X),
        "float32": KernelPCA(3).fit(X.astype(np.float32)),
        "weighted": KernelPCA(3).fit(X, sample_weight=np.arange(30) % 3),
        "nystrom": KernelPCA(3, approximation=Nystrom(12), random_state=np.random.default_rng(1)).fit(X),
        "fourier": KernelPCA(3, approximation=RandomFourier(32)).fit(X),
        "ridge": KernelPCA(3, preimage=Ridge(0.1)).fit(X),
        "dual": DualKernelPCA(2, objective=Huber(0.5)).fit(X),
        "robust": RobustKernelPCA(2, kappa=0.5).fit(X),
        "sparse": Sparse(2, sparsity=0.5).fit(X),
        "stream": IncrementalKernelPCA(2, approximation=RandomFourier(32)).partial_fit(X),
        "invertible": InvertibleKernelPCA(3, gamma=0.05, n_features=32).fit(X),
        "compressed": KernelPCA(2).fit(X).compress(n_anchors=12, move=False),
        "pca": PCA(3).fit(X),
        "drop-in": dropin.KernelPCA(3, kernel="rbf", fit_inverse_transform=True).fit(X),
        "unfitted": KernelPCA(3, kernel=RBF(0.1), preimage="ridge"),
    }
    cases = {name: (model, new) for name, model in models.items()}
    cases["texts"] = KernelPCA(2, kernel="spectrum").fit(texts), texts[:3]
    cases["sparse-rows"] = KernelPCA(2, kernel="cosine").fit(sparse.csr_matrix(X)), sparse.csr_matrix(new)
    return cases


def answers(model, rows):
    """Ask a model what it tells of rows, without pre-images that iterate."""
    if not hasattr(model, "n_features_in_") and not hasattr(model, "kernel_"):
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # rows without names
        found = {"transform": np.asarray(model.transform(rows))}
        if hasattr(model, "score_samples"):
            found["score_samples"] = model.score_samples(rows)
        exact = isinstance(model, PCA | dropin.KernelPCA) or isinstance(getattr(model, "preimage", None), Ridge)
        if exact:
            found["inverse_transform"] = model.inverse_transform(found["transform"])
    return found


def keep(folder):
    """Write the files that are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (model, rows) in kept_models().items():
        path = folder / f"{name}.kpca"
        if not path.exists():
            model.save(path)
            plain = rows.toarray() if sparse.issparse(rows) else rows
            np.savez(path.with_suffix(".npz"), rows=plain, **answers(model, rows))


def read_kept(path):
    """Return the rows that a kept model was asked about, and its answers."""
    with np.load(path.with_suffix(".npz"), allow_pickle=False) as content:
        found = dict(content)
    rows = found.pop("rows")
    return (sparse.csr_matrix(rows) if path.stem == "sparse-rows" else rows), found


if __name__ == "__main__":
    keep(Path(sys.argv[1]))
