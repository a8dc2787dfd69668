"""scikit-learn's own checks of what an estimator must do, for every estimator here."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernelpca.sklearn
from kernelpca import (
    DualKernelPCA,
    IncrementalKernelPCA,
    InvertibleKernelPCA,
    KernelPCA,
    RobustKernelPCA,
    SparseKernelPCA,
)
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
    IncrementalKernelPCA(2, approximation=RandomFourier(40)),
    IncrementalKernelPCA(1, approximation="nystrom", forget=0.01),
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


def exceptions(estimator):
    """Checks that an estimator cannot pass, and why."""
    if getattr(estimator, "forget", None) is None:
        return {}
    why = "rows are forgotten in their order, which the check changes"
    return {f"check_sample_weight_equivalence_on_{kind}_data": why for kind in ("dense", "sparse")}


# some checks have four different rows, of which no half can be left out
@pytest.mark.filterwarnings(
    "ignore:sparsity=0.5 was asked for:UserWarning", "ignore:The mean cannot be fitted:UserWarning"
)
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=exceptions)
def test_scikit_learn_contract(estimator, check):
    check(estimator)  # raises where the contract is broken
