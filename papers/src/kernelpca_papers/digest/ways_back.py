"""A frame mapped forward to three scores and back, by every rule of section 4 and by null models."""

from __future__ import annotations

import numpy as np

from kernelpca import PCA, KernelPCA
from kernelpca.kernels import RBF
from kernelpca.preimage import Weights
from kernelpca_papers.digest.backward import Digest, inverse_square

K = 3  # components
FALLING = {"1/d": "inverse", "1/d²": "inverse_square", "exp(-d)": "exponential"}
EQ33, EQ35 = "eq. 33 as printed", "eq. 35 as printed"
EQ35_OWN = "eq. 35, its own width"
SUMMED = {  # variants of the library: weights that sum to one
    "eq. 33, sum 1, 30 nearest": ("discrepancy", 30),
    "eq. 33, sum 1, 10 nearest": ("discrepancy", 10),
    "eq. 35, sum 1, 10 nearest": ("log_discrepancy", 10),
}
RULES = (*FALLING, EQ33, EQ35, EQ35_OWN, *SUMMED)
NEAREST, MEAN, BETWEEN, LINEAR = "nearest frame", "mean frame", "mean of neighbors in time", "PCA, 3 components"
BY_SCORES = "frame of nearest scores"
NULLS = (MEAN, NEAREST, BY_SCORES, BETWEEN, LINEAR)


def split(frames: np.ndarray, i: int) -> tuple[np.ndarray, np.ndarray]:
    """(n, d) -> (n - 1, d), (d,): frames to train on, and the one that is left out."""
    return np.delete(frames, i, axis=0), frames[i]


def by_rules(X: np.ndarray, y: np.ndarray, beta: float, beta_uncentered: float) -> dict[str, np.ndarray]:
    """(n, d), (d,) -> {rule: (d,)}: y mapped forward and back; logarithms in models without centering."""
    answers = {
        name: through(X, y, beta, Weights(rule, n_neighbors=None, scaling="digest")) for name, rule in FALLING.items()
    }
    answers[EQ33] = as_printed(Digest(X, beta, K, center=True), y, logarithm=False)
    answers[EQ35] = as_printed(Digest(X, beta, K, center=False), y, logarithm=True)
    answers[EQ35_OWN] = as_printed(Digest(X, beta_uncentered, K, center=False), y, logarithm=True)
    for name, (rule, count) in SUMMED.items():
        answers[name] = through(X, y, beta, Weights(rule, n_neighbors=count, scaling="digest"))
    return answers


def through(X: np.ndarray, y: np.ndarray, beta: float, weights: Weights) -> np.ndarray:
    """(n, d), (d,) -> (d,): forward and back by the library."""
    center = weights.rule != "log_discrepancy"
    model = KernelPCA(K, kernel=RBF(beta), center=center, preimage=weights).fit(X)
    return model.inverse_transform(model.transform(y[None]))[0]


def as_printed(model: Digest, y: np.ndarray, logarithm: bool) -> np.ndarray:
    """(d,) -> (d,): nonnegative weights of any sum, searched from 1/d^2 weights."""
    z = model.forward(y)
    return model.backward(z, inverse_square(model.distances(z)), logarithm).weights @ model.X


def by_nulls(frames: np.ndarray, i: int, beta: float) -> dict[str, np.ndarray]:
    """(n, d) -> {null model: (d,)}: what comes out for frame i without the paper's mapping."""
    X, y = split(frames, i)
    model, linear = Digest(X, beta, K, center=True), PCA(K).fit(X)
    return {
        MEAN: X.mean(axis=0),
        NEAREST: X[np.square(X - y).sum(axis=1).argmin()],
        BY_SCORES: X[model.distances(model.forward(y)).argmin()],
        BETWEEN: (frames[i - 1] + frames[i + 1]) / 2,
        LINEAR: linear.inverse_transform(linear.transform(y[None]))[0],
    }


def errors_of(answers: dict[str, np.ndarray], y: np.ndarray) -> dict[str, float]:
    """Return the mean squared error of a pixel of each answer."""
    return {name: float(np.square(answer - y).mean()) for name, answer in answers.items()}
