"""Approximations of the tutorial's kernels on its faces: figures 8 and 9 in small, and what our rule makes of them."""

import warnings

import numpy as np
import pytest

from kernelpca import KernelPCA
from kernelpca.features import FeatureHashing, GaussianProjection, KernelSketch, Nystrom
from kernelpca.kernels import RBF, Polynomial, Sigmoid
from kernelpca.metrics import eigenvalue_difference, eigenvector_similarity
from real_data import path_of

TANH, GAUSS, POWER = Sigmoid(1e-4, 0.0), RBF(1e-4), Polynomial(5, 1.0, 0.0)
KERNELS = {"tanh": TANH, "rbf": GAUSS, "polynomial": POWER, "sum": TANH + GAUSS + POWER}
SIZES, REPEATS = (50, 150, 300), 5


@pytest.fixture(scope="module")
def faces():
    X = np.load(path_of("orl_faces.npz"))["images"].reshape(400, -1).astype(np.float64)
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.fixture(scope="module", params=KERNELS)
def problem(request, faces):
    """A kernel's name, its matrix, and exact kernel PCA of it."""
    K = KERNELS[request.param](faces)
    return request.param, K, KernelPCA(10, kernel="precomputed", solver="dense").fit(K)


def figures(problem, make):
    """Mean similarity and difference of the first ten pairs, for each size."""
    _, K, exact = problem
    truth = exact.transform(K)
    results = np.empty((2, len(SIZES), REPEATS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of negative eigenvalues
        for i, q in enumerate(SIZES):
            for seed in range(REPEATS):
                model = KernelPCA(10, kernel="precomputed", approximation=make(q), random_state=seed)
                results[0, i, seed] = eigenvector_similarity(truth, model.fit_transform(K)).mean()
                results[1, i, seed] = eigenvalue_difference(exact.eigenvalues_, model.eigenvalues_).mean()
    return results.mean(axis=2)


@pytest.mark.parametrize(
    "make",
    [
        lambda q: KernelSketch(q, GaussianProjection()),
        lambda q: KernelSketch(q, FeatureHashing()),
        lambda q: Nystrom(q, "uniform"),
        lambda q: Nystrom(q, "diagonal"),
        lambda q: Nystrom(q, "column_norm"),
        lambda q: Nystrom(q, "uniform", form="extension"),
    ],
)
def test_similarity_increases_with_size(problem, make):
    similarity, difference = figures(problem, make)
    assert (np.diff(similarity) > -0.01).all()
    assert similarity[-1] > similarity[0]
    assert difference[-1] < difference[0]


def test_the_rule_chooses_well(problem):
    """As good, within noise, as the best of the paper's three samplings; and far better than its form of them."""
    name = problem[0]
    ours = figures(problem, lambda q: Nystrom(q, _choice(name)))
    ways = ("uniform", "diagonal", "column_norm")
    same = np.array([figures(problem, lambda q, w=w: Nystrom(q, w))[0] for w in ways])
    paper = np.array([figures(problem, lambda q, w=w: Nystrom(q, w, form="extension"))[0] for w in ways])
    assert (ours[0] > same.max(axis=0) - 0.05).all()
    assert (ours[0] > paper.max(axis=0)).all()


def _choice(name):
    return {"tanh": "uniform", "rbf": "rpcholesky"}.get(name, "diagonal")


@pytest.mark.parametrize("name", KERNELS)
def test_the_rule_says_what_it_took(faces, name):
    model = KernelPCA(10, kernel=KERNELS[name], approximation=Nystrom(60)).fit(faces)
    way = {"uniform": "Uniform", "rpcholesky": "RPCholesky", "diagonal": "Diagonal"}[_choice(name)]
    assert way in model.plan_.reason
