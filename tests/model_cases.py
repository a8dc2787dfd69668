"""Small fitted models of every kind, and rows for them: what model files must be able to hold."""

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator
from sklearn.datasets import load_digits
from sklearn.mixture import GaussianMixture

import kernelpca.sklearn as dropin
from kernelpca import (
    PCA,
    DualKernelPCA,
    IncrementalKernelPCA,
    InvertibleKernelPCA,
    KernelPCA,
    RobustKernelPCA,
    SparseKernelPCA,
)
from kernelpca.features import (
    LANDMARKS,
    Downsample,
    FeatureGrouping,
    FeatureHashing,
    GaussianProjection,
    KernelSketch,
    Nystrom,
    RandomFourier,
    SparseProjection,
)
from kernelpca.kernels import KERNELS, RBF, Fisher, HistogramIntersection, Laplacian, Linear, Spectrum
from kernelpca.objectives import EpsilonInsensitive, Huber
from kernelpca.preimage import Distances, FixedPoint, Invertible, Ridge, Weights
from kernelpca.solvers import SOLVERS

DIGITS = load_digits()
X = DIGITS.data[:90] / 16
NEW = DIGITS.data[90:97] / 16
TEXTS = [line.strip() for line in DIGITS.DESCR.splitlines() if len(line.strip()) > 20]
SEEN, UNSEEN = TEXTS[:18], TEXTS[18:22]
K = RBF(0.05)(X)
WEIGHTS = np.arange(len(X)) % 3.0  # a third of the rows does not count
CENTERS = GaussianMixture(3, covariance_type="diag", reg_covar=1e-2, random_state=0).fit(X[:, 8:20])


def _fit(model, rows=X, new=NEW, **given):
    return lambda: (model.fit(rows, **given), new)


CASES = {}
for _name in KERNELS:
    if _name in ("spectrum", "subsequence"):
        CASES[f"kernel {_name}"] = _fit(KernelPCA(3, kernel=_name), SEEN, UNSEEN)
    elif _name != "precomputed":
        CASES[f"kernel {_name}"] = _fit(KernelPCA(3, kernel=_name))
CASES |= {
    "kernel fisher": _fit(KernelPCA(3, kernel=Fisher(CENTERS)), X[:, 8:20], NEW[:, 8:20]),
    "kernel empirical fisher": _fit(KernelPCA(3, kernel=Fisher(CENTERS, "empirical")), X[:, 8:20], NEW[:, 8:20]),
    "kernel sum": _fit(KernelPCA(3, kernel=RBF() + 2 * Linear() + 1.0)),
    "kernel product": _fit(KernelPCA(3, kernel=Laplacian() * HistogramIntersection().normalize())),
    "kernel rbf of spectrum": _fit(KernelPCA(3, kernel=Spectrum(3).rbf()), SEEN, UNSEEN),
    "kernel text": _fit(KernelPCA(3, kernel="rbf(gamma=0.1) + 2*linear")),
    "kernel wide": _fit(KernelPCA(3, kernel=RBF(1e-8))),
    "precomputed": _fit(KernelPCA(3, kernel="precomputed"), K, RBF(0.05)(NEW, X)),
    "precomputed weighted": _fit(KernelPCA(3, kernel="precomputed"), K, RBF(0.05)(NEW, X), sample_weight=WEIGHTS),
    "precomputed operator": _fit(KernelPCA(3, kernel="precomputed"), aslinearoperator(K), RBF(0.05)(NEW, X)),
    "precomputed nystrom": _fit(KernelPCA(3, kernel="precomputed", approximation=Nystrom(30)), K, RBF(0.05)(NEW, X)),
    "precomputed nystrom weighted": _fit(
        KernelPCA(3, kernel="precomputed", approximation=Nystrom(30)), K, RBF(0.05)(NEW, X), sample_weight=WEIGHTS
    ),
    "precomputed columns": _fit(
        KernelPCA(3, kernel="precomputed", approximation=Nystrom(landmarks=np.arange(0, 90, 3))),
        K[:, ::3],
        RBF(0.05)(NEW, X[::3]),
    ),
    "float32": _fit(KernelPCA(3), X.astype(np.float32), NEW.astype(np.float32)),
    "float32 nystrom": _fit(KernelPCA(3, approximation=Nystrom(30)), X.astype(np.float32), NEW.astype(np.float32)),
    "sparse rows": _fit(KernelPCA(3, kernel="cosine"), sparse.csr_matrix(X), sparse.csr_matrix(NEW)),
    "sparse array": _fit(KernelPCA(3, kernel="rbf"), sparse.csr_array(X), sparse.csr_array(NEW)),
    "sparse nystrom": _fit(KernelPCA(3, approximation=Nystrom(30)), sparse.csr_matrix(X), sparse.csr_matrix(NEW)),
    "sparse fourier": _fit(KernelPCA(3, approximation="fourier"), sparse.csr_matrix(X), sparse.csr_matrix(NEW)),
    "weighted": _fit(KernelPCA(3), sample_weight=WEIGHTS),
    "not centered": _fit(KernelPCA(3, center=False)),
    "all components": _fit(KernelPCA()),
    "fraction": _fit(KernelPCA(0.9)),
    "relative": _fit(KernelPCA(("relative", 1e-2))),
    "named columns": _fit(KernelPCA(3), pd.DataFrame(X).add_prefix("pixel "), pd.DataFrame(NEW).add_prefix("pixel ")),
    "generator": _fit(KernelPCA(3, approximation=Nystrom(30), random_state=np.random.default_rng(3))),
    "random state": _fit(KernelPCA(3, approximation=Nystrom(30), random_state=np.random.RandomState(3))),
    "constant": _fit(KernelPCA(2, kernel="linear"), np.outer(np.arange(9.0), np.ones(3)), np.ones((2, 3))),
}
for _name in SOLVERS:
    CASES[f"solver {_name}"] = _fit(KernelPCA(3, solver=_name))
for _name in LANDMARKS:
    CASES[f"landmarks {_name}"] = _fit(KernelPCA(3, approximation=Nystrom(30, landmarks=_name)))
CASES |= {
    "landmarks by number": _fit(KernelPCA(3, approximation=Nystrom(landmarks=[1, 5, 9, 20, 33]))),
    "no more landmarks than components": _fit(KernelPCA(6, approximation=Nystrom(6))),
    "landmarks given": _fit(KernelPCA(3, approximation=Nystrom(landmarks=X[:20] + 0.01))),
    "landmarks of texts": _fit(KernelPCA(3, kernel="spectrum", approximation=Nystrom(10)), SEEN, UNSEEN),
    "landmarks given texts": _fit(
        KernelPCA(2, kernel="spectrum", approximation=Nystrom(landmarks=np.array(SEEN[:6]))), SEEN, UNSEEN
    ),
    "extension": _fit(KernelPCA(3, approximation=Nystrom(30, form="extension"))),
    "relu": _fit(KernelPCA(3, kernel="arc_cosine", approximation="relu")),
}
for _form in ("paired", "cos", "sin"):
    for _sampling in ("iid", "orthogonal", "quasi"):
        CASES[f"fourier {_form} {_sampling}"] = _fit(KernelPCA(3, approximation=RandomFourier(64, _sampling, _form)))
for _projection in (None, GaussianProjection(), FeatureHashing(), SparseProjection(), FeatureGrouping()):
    CASES[f"sketch {_projection}"] = _fit(KernelPCA(3, approximation=KernelSketch(30, _projection)))
for _preimage in ("combination", "distances", "fixed_point", "gradient", "ridge", "weights"):
    _kernel = "linear" if _preimage == "combination" else "rbf"
    CASES[f"preimage {_preimage}"] = _fit(KernelPCA(4, kernel=_kernel, preimage=_preimage))
CASES |= {
    "preimage distances of neighbors": _fit(KernelPCA(4, preimage=Distances(n_neighbors=5))),
    "preimage fixed point of landmarks": _fit(
        KernelPCA(4, approximation=Nystrom(30), preimage=FixedPoint(bounds=(0, 1)))
    ),
    "preimage weights discrepancy": _fit(KernelPCA(4, preimage=Weights("discrepancy", max_iter=20))),
    "preimage weights log": _fit(KernelPCA(4, center=False, preimage=Weights("log_discrepancy", max_iter=20))),
    "preimage ridge of model": _fit(KernelPCA(4, preimage=Ridge(0.1, kernel="model"))),
    "preimage ridge of landmarks": _fit(KernelPCA(4, preimage=Ridge(n_landmarks=20, bounds=(np.zeros(64), None)))),
    "preimage ridge of long rows": _fit(KernelPCA(4, preimage="ridge"), X[:30], NEW),
    "preimage ridge of random features": _fit(KernelPCA(4, approximation="fourier", preimage="ridge")),
    "preimage invertible": _fit(KernelPCA(8, approximation=RandomFourier(256, form="sin"), preimage=Invertible(0.1))),
    "long rows": _fit(KernelPCA(4, preimage="gradient"), np.tile(X[:20], 3), np.tile(NEW, 3)),
    "dual": _fit(DualKernelPCA(3)),
    "dual huber": _fit(DualKernelPCA(3, objective=Huber(2.0, "1"))),
    "dual epsilon": _fit(DualKernelPCA(3, objective=EpsilonInsensitive(0.05))),
    "robust": _fit(RobustKernelPCA(3, kappa=0.5)),
    "robust weighted": _fit(RobustKernelPCA(3, kappa=0.5, contamination=0.1), sample_weight=WEIGHTS),
    "robust nystrom": _fit(RobustKernelPCA(3, kappa=0.5, approximation=Nystrom(30))),
    "robust precomputed": _fit(RobustKernelPCA(3, kappa=0.5, kernel="precomputed"), K, RBF(0.05)(NEW, X)),
    "sparse": _fit(SparseKernelPCA(3, sparsity=0.5)),
    "sparse epsilon": _fit(SparseKernelPCA(3, epsilon=0.05, center=False)),
    "sparse precomputed": _fit(SparseKernelPCA(3, sparsity=0.5, kernel="precomputed"), K, RBF(0.05)(NEW, X)),
    "stream": _fit(IncrementalKernelPCA(3, approximation=RandomFourier(64))),
    "stream nystrom": _fit(IncrementalKernelPCA(3, approximation=Nystrom(30), preimage="fixed_point")),
    "stream raw": _fit(IncrementalKernelPCA(3, approximation=Nystrom(30), tol=0.05)),
    "stream extension": _fit(IncrementalKernelPCA(3, approximation=Nystrom(30, form="extension"))),
    "stream forgets": _fit(IncrementalKernelPCA(3, approximation=RandomFourier(64), forget=0.01)),
    "stream of texts": _fit(IncrementalKernelPCA(2, kernel="spectrum", approximation=Nystrom(10)), SEEN, UNSEEN),
    "invertible": _fit(InvertibleKernelPCA(6, gamma=0.01)),
    "invertible layers": _fit(
        InvertibleKernelPCA(4, layers=[{"n_components": 12, "gamma": 0.01}, {"n_components": 4, "n_features": 64}])
    ),
    "invertible layers of estimators": _fit(
        InvertibleKernelPCA(layers=[InvertibleKernelPCA(12, gamma=0.01), InvertibleKernelPCA(4, gamma=0.1)])
    ),
    "compressed": lambda: (KernelPCA(3).fit(X).compress(0.05), NEW),
    "compressed to rows": lambda: (SparseKernelPCA(2, sparsity=0.5).fit(X).compress(n_anchors=30, move=False), NEW),
    "compressed texts": lambda: (KernelPCA(2, kernel="spectrum").fit(SEEN).compress(n_anchors=8), UNSEEN),
    "compressed ridge": lambda: (KernelPCA(3, preimage="ridge").fit(X).compress(n_anchors=30), NEW),
    "drop-in": _fit(dropin.KernelPCA(3)),
    "drop-in rbf": _fit(dropin.KernelPCA(3, kernel="rbf", fit_inverse_transform=True, alpha=0.1)),
    "drop-in arpack": _fit(dropin.KernelPCA(3, kernel="poly", eigen_solver="arpack", random_state=0)),
    "drop-in precomputed": _fit(dropin.KernelPCA(3, kernel="precomputed"), K, RBF(0.05)(NEW, X)),
    "drop-in sparse": _fit(dropin.KernelPCA(3, kernel="cosine"), sparse.csr_matrix(X), sparse.csr_matrix(NEW)),
    "pca sparse": _fit(PCA(3), sparse.csr_matrix(X), sparse.csr_matrix(NEW)),
    "pca float32": _fit(PCA(3), X.astype(np.float32), NEW.astype(np.float32)),
    "pca downsample": _fit(PCA(3, method="downsample", n_features=16, projection=Downsample((8, 8)))),
    "pca project": _fit(PCA(3, method="project", n_features=32, projection=SparseProjection())),
}
for _method in ("auto", "svd", "covariance", "dot"):
    CASES[f"pca {_method}"] = _fit(PCA(3, method=_method, center=_method != "dot"))


def figures(model, new):
    """Everything that a model tells of new rows, by name."""
    found = {"transform": np.asarray(model.transform(new))}
    if hasattr(model, "score_samples"):
        found["score_samples"] = model.score_samples(new)
    if getattr(model, "preimage", None) is not None or "layers_" in vars(model):
        found["denoise"] = model.denoise(new)
        inversion = model.invert(found["transform"][:3])
        found |= {"points": inversion.points, "distance": inversion.distance, "reliability": inversion.reliability}
    if getattr(model, "fit_inverse_transform", False) or isinstance(model, PCA):
        found["inverse_transform"] = model.inverse_transform(found["transform"])
    if hasattr(model, "decision_function") and hasattr(model, "offset_"):
        found["decision_function"] = model.decision_function(new)
    return found
