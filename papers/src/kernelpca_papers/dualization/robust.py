"""Robust kernel PCA by others: absolute instead of squared scores, and distances instead of squared distances."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.linalg import eigh
from sklearn.exceptions import ConvergenceWarning

from kernelpca.validation import as_generator
from kernelpca_papers.dualization.competitor import Competitor, MappedRows, check_count, check_number


class L1KernelPCA(Competitor):
    """L1-norm kernel PCA: directions with the largest sum of *absolute* scores.

    One direction after the other maximizes sum_i |<phi_i, w>| over |w| = 1, where phi_i are mapped rows, less their
    mean if `center`, and less what the directions before have of them. The best w is Phi't / |Phi't| for signs t that
    maximize t'K t, and they are looked for by

        t <- sign(K t),    a sign staying as it is where (K t)_i is zero up to rounding,

    until no sign changes. With s = sign(K t), t'K t <= s'K t <= (s'K s)^(1/2) (t'K t)^(1/2): so t'K t, the square of
    the sum at the end, never decreases, and stays the same only if t stays. It is a local search: the first start is
    the signs of the scores on the direction of largest variance, the others are random, and the best end is kept (where
    K is nearly diagonal, as for narrow kernels, almost any signs stay, and more starts help). Then K <- K - z z' with
    the scores z on w.

    Parameters
    ----------
    n_components : int, default=2
        How many directions.
    kernel : str, Kernel or callable, default="rbf"
        What similarity means, as for `kernelpca.KernelPCA`; it must be positive semi-definite.
    center : bool, default=True
        Whether the mean in feature space is taken off; it is the usual mean, which is not robust itself.
    n_starts : int, default=10
        How many starts for each direction.
    max_iter : int, default=1000
        Most iterations of a start; few are needed.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the random starts; None is a fixed seed.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_samples)
        Orthonormal directions as combinations of mapped training samples. They span what was found, and are turned
        within it to uncorrelated scores, largest variance first.
    eigenvalues_ : ndarray of shape (n_components_,)
        Sums of squared training scores.
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        As fractions of the whole variance in feature space.
    coefficients_ : ndarray of shape (n_samples, n_components_)
        The directions as they were found, one after the other, over (centered) mapped samples.
    signs_ : ndarray of shape (n_samples, n_components_)
        The signs t of each direction.
    objective_ : ndarray of shape (n_components_,)
        The sum of absolute scores on each direction as it was found.
    n_iter_ : int
        Iterations of the longest start.
    kernel_ : Kernel
        The kernel with every parameter a number.
    n_components_ : int
        How many directions there are.

    References
    ----------
    Kim, C. and Klabjan, D. (2020). A simple and fast algorithm for L1-norm kernel PCA. IEEE Transactions on Pattern
    Analysis and Machine Intelligence 42(8), 1842-1855. (The problem; starts, ties and rotation are as stated here.)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernelpca_papers.dualization import L1KernelPCA
    >>> X, _ = load_iris(return_X_y=True)
    >>> L1KernelPCA(n_components=3).fit_transform(X).shape
    (150, 3)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: Any = "rbf",
        center: bool = True,
        n_starts: int = 10,
        max_iter: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.center = center
        self.n_starts = n_starts
        self.max_iter = max_iter
        self.random_state = random_state

    def _find(self, mapped: MappedRows, k: int) -> tuple[np.ndarray, dict[str, Any]]:
        n, K, rng = len(mapped.K), mapped.K.copy(), as_generator(self.random_state)
        n_starts, max_iter = check_count(self, "n_starts"), check_count(self, "max_iter")
        rounding = n * float(np.finfo(K.dtype).eps * np.abs(K).max())
        C, T, Z = np.zeros((n, k)), np.zeros((n, k)), np.zeros((n, k))
        n_iter = 0
        for j in range(k):
            u = eigh(K, subset_by_index=[n - 1, n - 1])[1]
            starts = np.hstack([np.where(u < 0, -1.0, 1.0), rng.choice([-1.0, 1.0], size=(n, n_starts - 1))])
            ends, iterations = settle_signs(K, starts, max_iter, rounding)
            n_iter = max(n_iter, iterations)
            KT = K @ ends
            squares = np.einsum("ij,ij->j", ends, KT)
            best = int(np.argmax(squares))
            T[:, j], length = ends[:, best], np.sqrt(squares[best])
            Z[:, j] = KT[:, best] / length
            # Phi_j't, the rows less what was found before, as a combination of the rows themselves
            C[:, j] = (T[:, j] - C[:, :j] @ (Z[:, :j].T @ T[:, j])) / length
            K -= np.outer(Z[:, j], Z[:, j])
        return C, {"signs_": T, "objective_": np.abs(Z).sum(axis=0), "n_iter_": n_iter}


def settle_signs(K: np.ndarray, T: np.ndarray, max_iter: int, rounding: float = 0.0) -> tuple[np.ndarray, int]:
    """(n, n), (n, s) -> (n, s), int: t <- sign(K t) for every column until none changes, and how often that was.

    Where |(K t)_i| <= rounding the sign stays.
    """
    for iteration in range(1, max_iter + 1):
        KT = K @ T
        changed = (np.abs(KT) > rounding) & (np.sign(KT) != T)
        if not changed.any():
            return T, iteration
        T = np.where(changed, -T, T)
    warnings.warn(f"Signs still change after {max_iter} iterations. Raise max_iter.", ConvergenceWarning, stacklevel=4)
    return T, max_iter


class UnsquaredKernelPCA(Competitor):
    """Kernel PCA with unsquared distances: the subspace with the smallest sum of distances from mapped rows.

    It minimizes sum_i r_i with r_i = |phi_i - P phi_i| over projections P on n_components dimensions, the l2,1 norm of
    what is left out; phi_i are mapped rows, less their mean if `center`. Kernel PCA minimizes the sum of r_i^2, in
    which far rows count more. It is solved by kernel PCA with weights 1 / max(r_i, d), again and again. A step never
    increases the smoothed loss

        sum_i h(r_i),    h(r) = r for r >= d,  (r^2 / d + d) / 2 below,

    since h is concave in r^2 and half a weight is its slope. It ends where the loss stays, which need not be its global
    minimum: a row that the subspace goes through has a large weight, and so an outlier that kernel PCA has taken for a
    direction is kept. So there are two starts, equal weights (kernel PCA) and 1 / |phi_i|^2 (kernel PCA of rows of one
    length), and the better end is kept.

    The algorithm of the paper below (l2,1-RKPCA) has further variables and penalties that are not reproduced here: this
    one has the loss in common with it, and a name of its own.

    Parameters
    ----------
    n_components : int, default=2
        The dimension of the subspace.
    kernel : str, Kernel or callable, default="rbf"
        What similarity means, as for `kernelpca.KernelPCA`; it must be positive semi-definite.
    center : bool, default=True
        Whether the mean in feature space is taken off; it is the usual mean, which is not robust itself.
    delta : float, default=1e-3
        The distance d below which the loss is smooth, as a fraction of the root mean square length of the mapped rows.
    tol : float, default=1e-7
        The iteration ends when a step decreases the loss by no more than this fraction.
    max_iter : int, default=200
        Most steps from each start.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_samples)
        Orthonormal directions as combinations of mapped training samples, turned within the subspace to uncorrelated
        scores, largest variance first.
    eigenvalues_ : ndarray of shape (n_components_,)
        Sums of squared training scores.
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        As fractions of the whole variance in feature space.
    coefficients_ : ndarray of shape (n_samples, n_components_)
        The last weighted kernel PCA's directions over (centered) mapped samples.
    weights_ : ndarray of shape (n_samples,)
        Weights of the samples in it: small for outliers.
    losses_ : ndarray of shape (n_iter_ + 1,)
        The smoothed loss, at the start that was the better one and after each step from it.
    n_iter_ : int
        How many steps there were from it.
    kernel_ : Kernel
        The kernel with every parameter a number.
    n_components_ : int
        How many directions there are.

    References
    ----------
    Wang, D. and Tanaka, T. (2020). Robust kernel principal component analysis with l2,1-regularized loss minimization.
    IEEE Access 8, 81864-81875. (The loss; not the algorithm.)
    Ding, C., Zhou, D., He, X. and Zha, H. (2006). R1-PCA: rotational invariant L1-norm principal component analysis for
    robust subspace factorization. ICML. (The same loss without a kernel.)
    Locantore, N. et al. (1999). Robust principal component analysis for functional data. Test 8(1), 1-73. (Rows of one
    length.)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernelpca_papers.dualization import UnsquaredKernelPCA
    >>> X, _ = load_iris(return_X_y=True)
    >>> model = UnsquaredKernelPCA(n_components=3).fit(X)
    >>> bool(model.losses_[-1] < model.losses_[0])
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: Any = "rbf",
        center: bool = True,
        delta: float = 1e-3,
        tol: float = 1e-7,
        max_iter: int = 200,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.center = center
        self.delta = delta
        self.tol = tol
        self.max_iter = max_iter

    def _find(self, mapped: MappedRows, k: int) -> tuple[np.ndarray, dict[str, Any]]:
        K, n = mapped.K, len(mapped.K)
        tol, max_iter = check_number(self, "tol"), check_count(self, "max_iter")
        delta = check_number(self, "delta", open_end=True) * float(np.sqrt(np.trace(K) / n))
        lengths = np.sqrt(np.maximum(K.diagonal(), 0.0))
        starts = [np.ones(n), 1 / np.maximum(lengths, delta) ** 2]
        ends = [reweight(K, k, weights, delta, tol, max_iter) for weights in starts]
        C, weights, losses, converged = min(ends, key=lambda end: end[2][-1])
        if not converged:
            warnings.warn(
                f"The loss still decreases after {max_iter} steps, by {losses[-2] - losses[-1]:.2g} in the last. Raise "
                f"max_iter, tol or delta.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return C, {"weights_": weights, "losses_": np.array(losses), "n_iter_": len(losses) - 1}


def reweight(
    K: np.ndarray, k: int, weights: np.ndarray, delta: float, tol: float, max_iter: int
) -> tuple[np.ndarray, np.ndarray, list[float], bool]:
    """(n, n), (n,) -> (n, k), (n,): directions and their weights, from a start; with all losses, and if they stay."""
    losses: list[float] = []
    while True:
        C = weighted_directions(K, weights, k)
        r = np.sqrt(np.maximum(K.diagonal() - np.square(K @ C).sum(axis=1), 0.0))
        losses.append(smoothed_distances(r, delta))
        converged = len(losses) > 1 and losses[-2] - losses[-1] <= tol * losses[-2]
        if converged or len(losses) > max_iter:
            return C, weights, losses, converged
        weights = 1 / np.maximum(r, delta)


def weighted_directions(K: np.ndarray, weights: np.ndarray, k: int) -> np.ndarray:
    """(n, n), (n,) -> (n, k): coefficients of the orthonormal directions that leave least of sum_i weights_i r_i^2.

    With S the weights and S^(1/2) K S^(1/2) u = theta u they are S^(1/2) u / theta^(1/2).
    """
    n, roots = len(K), np.sqrt(weights)
    theta, U = eigh(roots[:, None] * K * roots, subset_by_index=[n - k, n - 1])
    return roots[:, None] * U / np.sqrt(theta)


def smoothed_distances(r: np.ndarray, delta: float) -> float:
    """(n,) -> sum_i h(r_i): distances, made smooth where they are below delta."""
    return float(np.where(r >= delta, r, (r**2 / delta + delta) / 2).sum())
