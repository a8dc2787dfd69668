"""scikit-learn's own checks of what an estimator must do, for every estimator here."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import kernelpca.sklearn
from kernelpca import DualKernelPCA, InvertibleKernelPCA, KernelPCA, RobustKernelPCA, SparseKernelPCA
from kernelpca.features import KernelSketch, RandomFourier
from kernelpca.objectives import Huber

ESTIMATORS = [
    KernelPCA(),
    KernelPCA(2, kernel="linear"),
    KernelPCA(2, kernel="poly", solver="block_krylov"),
    KernelPCA(2, kernel="chi2"),
    KernelPCA(1, kernel="cosine", center=False, solver="lanczos"),
    KernelPCA(2, preimage="ridge", solver="randomized"),
    KernelPCA(0.9, kernel="laplacian_euclidean"),
    KernelPCA(kernel="precomputed"),
    KernelPCA(2, approximation="nystrom"),
    KernelPCA(2, approximation=RandomFourier(40)),
    KernelPCA(1, approximation=KernelSketch(20), kernel="poly"),
    KernelPCA(2, kernel="precomputed", approximation="nystrom"),
    InvertibleKernelPCA(1),
    InvertibleKernelPCA(1, layers=[{"n_components": 2, "n_features": 40, "form": "paired"}, {}]),
    RobustKernelPCA(1),
    RobustKernelPCA(1, norm="1", kernel="laplacian_euclidean", center=False),
    RobustKernelPCA(1, kappa="0.5max", approximation=RandomFourier(40)),
    SparseKernelPCA(1),
    SparseKernelPCA(1, epsilon="0.2max", norm="inf", center=False),
    SparseKernelPCA(1, approximation="nystrom"),
    DualKernelPCA(1),
    DualKernelPCA(1, objective=Huber("0.5max")),
    kernelpca.sklearn.KernelPCA(),
    kernelpca.sklearn.KernelPCA(2, kernel="rbf", fit_inverse_transform=True),
]

EXCEPTIONS: dict[str, str] = {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda estimator: EXCEPTIONS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)  # raises where the contract is broken
