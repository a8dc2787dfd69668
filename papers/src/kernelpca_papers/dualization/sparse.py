"""Sparse kernel PCA by others: elastic nets, so that directions need few of the training rows."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any

import numpy as np
from scipy.linalg import eigh
from sklearn.exceptions import ConvergenceWarning

from kernelpca_papers.dualization.competitor import Competitor, MappedRows, check_count, check_number
from kernelpca_papers.dualization.elastic_net import Regressions, reach_sparsity


class SparseCompetitor(Competitor):
    """What both have in common: the strength of the penalties, and what is told of zero coefficients."""

    alpha: Any
    sparsity: Any
    ridge: Any
    tol: Any

    def _find(self, mapped: MappedRows, k: int) -> tuple[np.ndarray, dict[str, Any]]:
        alpha, ridge = check_number(self, "alpha", below=1.0), check_number(self, "ridge")
        sparsity = None if self.sparsity is None else check_number(self, "sparsity", below=1.0)
        tol = check_number(self, "tol", open_end=True)
        B, found = self._find_sparse(mapped, k, alpha, sparsity, ridge, tol)
        support = np.flatnonzero((B != 0).any(axis=1))
        return B, {"support_": support, "sparsity_": float((B == 0).mean()), **found}

    @abstractmethod
    def _find_sparse(
        self, mapped: MappedRows, k: int, alpha: float, sparsity: float | None, ridge: float, tol: float
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Return coefficients (n, k) for that alpha, or for that sparsity if there is one; and attributes to store."""


class ElasticNetKernelPCA(SparseCompetitor):
    """Sparse kernel PCA by alternating elastic nets: each mapped row is rebuilt from few directions of few rows.

    With G = Phi Phi' the (centered) kernel matrix, coefficients B (n, k) and orthonormal A (n, k) minimize

        sum_i |phi_i - sum_j a_ij w_j|^2 + sum_j (rho |b_j|^2 + 2 lambda |b_j|_1),    w_j = sum_i b_ij phi_i,  A'A = I.

    This is the sparse PCA of Zou, Hastie and Tibshirani with the training rows as *variables*: their matrix X is Phi'
    or, since only X'X = G counts, G^(1/2). So b_j are coefficients over mapped rows, and a row whose coefficients are
    all zero is not needed (with `center` it is still part of the mean). The other reading of X = G^(1/2), in which its
    rows are the samples, makes coordinates in a basis of feature space sparse, w_j = Phi' G^(-1/2) b_j, and all rows
    are needed. Since the first term is tr G - 2 tr A'G B + tr B'G B, the steps are

        b_j: elastic net of G^(1/2) a_j on the columns of G^(1/2), by coordinate descent with G and G a_j alone;
        A = U V' with the singular value decomposition G B = U D V'.

    None increases the criterion, and they end where it stays, which need not be its global minimum. With lambda = 0 it
    is kernel PCA, whatever rho is. A strong penalty makes whole columns of B zero, those of least variance first: with
    lambdas of their own the leading direction would only move to the column with the smallest.

    The algorithm of the paper below (SKPCA) is known here only as one of elastic nets and G^(-1/2), so this one has a
    name of its own.

    Parameters
    ----------
    n_components : int, default=2
        How many directions.
    kernel : str, Kernel or callable, default="rbf"
        What similarity means, as for `kernelpca.KernelPCA`; it must be positive semi-definite.
    center : bool, default=True
        Whether the mean in feature space is taken off. Then b_j are coefficients over centered mapped rows, and the
        mean needs all rows: only with center=False are rows outside the support not needed at all.
    alpha : float, default=0.05
        Strength of the penalty that makes zeros, from 0 to below 1: lambda is this fraction of max_ij |G u_j|_i with
        the eigenvectors u_j of G, at which the first regressions have zeros only.
    sparsity : float, optional
        Instead of alpha, the wanted fraction of zeros in `coefficients_`, from 0 to below 1; alpha is searched for.
        Each alpha begins with the answer for the next smaller one that was tried, so where it ends need not be where a
        fit with this alpha alone does.
    ridge : float, default=0.1
        rho, as a fraction of the largest eigenvalue of G.
    tol : float, default=1e-5
        The iteration ends when the criterion decreases by no more than this fraction of tr G; regressions are solved to
        a duality gap of a tenth of it.
    max_iter : int, default=200
        Most iterations, for each alpha.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_samples)
        Orthonormal directions as combinations of mapped training samples. They span what was found, and are turned
        within it to uncorrelated scores, largest variance first.
    eigenvalues_ : ndarray of shape (n_components_,)
        Sums of squared training scores.
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        As fractions of the whole variance in feature space.
    coefficients_ : ndarray of shape (n_samples, n_components)
        B: sparse, over (centered) mapped samples.
    support_ : ndarray
        Samples with a coefficient that is not zero.
    sparsity_ : float
        The fraction of zeros in `coefficients_`.
    alpha_ : float
        What was given or found.
    losses_ : ndarray of shape (n_iter_,)
        The criterion after each iteration.
    n_iter_ : int
        Iterations with that alpha.
    kernel_ : Kernel
        The kernel with every parameter a number.
    n_components_ : int
        How many directions there are.

    References
    ----------
    Zou, H., Hastie, T. and Tibshirani, R. (2006). Sparse principal component analysis. Journal of Computational and
    Graphical Statistics 15(2), 265-286. (Algorithm 1.)
    Wang, D. and Tanaka, T. (2016). Sparse kernel principal component analysis based on elastic net regularization.
    IJCNN, 3703-3708. (The idea.)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernelpca_papers.dualization import ElasticNetKernelPCA
    >>> X, _ = load_iris(return_X_y=True)
    >>> model = ElasticNetKernelPCA(n_components=3, sparsity=0.5).fit(X)
    >>> print(f"{model.sparsity_:.2f} of the coefficients are zero")
    0.50 of the coefficients are zero
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: Any = "rbf",
        center: bool = True,
        alpha: float = 0.05,
        sparsity: float | None = None,
        ridge: float = 0.1,
        tol: float = 1e-5,
        max_iter: int = 200,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.center = center
        self.alpha = alpha
        self.sparsity = sparsity
        self.ridge = ridge
        self.tol = tol
        self.max_iter = max_iter

    def _find_sparse(
        self, mapped: MappedRows, k: int, alpha: float, sparsity: float | None, ridge: float, tol: float
    ) -> tuple[np.ndarray, dict[str, Any]]:
        max_iter, n = check_count(self, "max_iter"), len(mapped.K)
        regressions = Regressions(np.sqrt(mapped.values), mapped.vectors, ridge * mapped.values[0], tol / 10)
        ends = {0.0: Alternation(regressions, mapped.vectors[:, :k], np.zeros((n, k)))}

        def solve(alpha: float) -> np.ndarray:
            below = max(tried for tried in ends if tried <= alpha)
            ends[alpha] = ends[below].with_penalty(alpha).run(tol, max_iter)
            return ends[alpha].B

        if sparsity is None:
            B = solve(alpha)
        else:
            alpha, B = reach_sparsity(solve, sparsity, 1 / n, "the coefficients")
        end = ends[alpha]
        if not end.converged:
            warnings.warn(
                f"The criterion still decreases after {len(end.losses)} iterations, or a regression was not solved to "
                f"tol. Raise max_iter, tol or ridge.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return B, {"alpha_": alpha, "losses_": np.array(end.losses), "n_iter_": len(end.losses)}


class Alternation:
    """The alternating steps for one penalty.

    Parameters
    ----------
    regressions : Regressions
        On X = G^(1/2), up to a rotation of its rows.
    A, B : ndarray of shape (n, k)
        Where to begin.
    alpha : float
        The penalty lambda, as a fraction of that at which regressions of the eigenvectors have zeros only.
    """

    def __init__(self, regressions: Regressions, A: np.ndarray, B: np.ndarray, alpha: float = 0.0) -> None:
        self.regressions = regressions
        self.A = A
        self.B = B
        values, k = regressions.s**2, A.shape[1]
        self.penalty = alpha * float((values[:k] * np.abs(regressions.U[:, :k])).max())
        self.losses: list[float] = []
        self.converged = False

    def with_penalty(self, alpha: float) -> Alternation:
        """Return the steps for another penalty, from here."""
        return Alternation(self.regressions, self.A, self.B, alpha)

    def run(self, tol: float, max_iter: int) -> Alternation:
        """Alternate until the criterion stays, and return this."""
        X, values = self.regressions.X, self.regressions.s**2
        for _ in range(max_iter):
            Y = np.asfortranarray(X @ self.A)
            answers = [self.regressions.solve(y, self.penalty, b) for y, b in zip(Y.T, self.B.T, strict=True)]
            columns, solved = zip(*answers, strict=True)
            self.B = np.column_stack(columns)
            XB = X @ self.B
            U, d, Vt = np.linalg.svd(X.T @ XB, full_matrices=False)
            self.A = U @ Vt
            fit = values.sum() - 2 * d.sum() + np.square(XB).sum()
            penalty = self.regressions.ridge * np.square(self.B).sum() + 2 * self.penalty * np.abs(self.B).sum()
            self.losses.append(float(fit + penalty))
            if len(self.losses) > 1 and self.losses[-2] - self.losses[-1] <= tol * values.sum():
                self.converged = all(solved)
                break
        return self


class SequentialSparseKernelPCA(SparseCompetitor):
    """Sparse kernel PCA by elastic nets, one component after the other.

    With G = Phi Phi' the (centered) kernel matrix, the scores z of the mapped rows on their direction of largest
    variance are regressed on the columns of G:

        min_b |z - G b|^2 + rho |b|^2 + 2 lambda |b|_1,    w = sum_i b_i phi_i,

    so that w has about these scores and needs few rows. Then w is taken off all mapped rows (together with the
    directions before), and what remains has the next direction of largest variance. Regressions are always on the
    columns of the whole G, so that b are coefficients over mapped rows. With lambda = 0
    it is kernel PCA, whatever rho is.

    The paper below (SSKPCA) describes an iteration that is not reproduced here, so this one has a name of its own.

    Parameters
    ----------
    n_components : int, default=2
        How many directions.
    kernel : str, Kernel or callable, default="rbf"
        What similarity means, as for `kernelpca.KernelPCA`; it must be positive semi-definite.
    center : bool, default=True
        Whether the mean in feature space is taken off. Then b are coefficients over centered mapped rows, and the mean
        needs all rows: only with center=False are rows outside the support not needed at all.
    alpha : float, default=0.05
        Strength of the penalty that makes zeros, from 0 to below 1: lambda is this fraction of max_i |G z|_i, at which
        all coefficients are zero.
    sparsity : float, optional
        Instead of alpha, the wanted fraction of zeros in each column of `coefficients_`, from 0 to below 1; alpha is
        searched for, one for each component.
    ridge : float, default=0.1
        rho, as a fraction of the largest eigenvalue of G^2.
    tol : float, default=1e-8
        Regressions are solved to a duality gap of this fraction of |z|^2.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_samples)
        Orthonormal directions as combinations of mapped training samples. They span what was found, and are turned
        within it to uncorrelated scores, largest variance first.
    eigenvalues_ : ndarray of shape (n_components_,)
        Sums of squared training scores.
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        As fractions of the whole variance in feature space.
    coefficients_ : ndarray of shape (n_samples, n_components)
        Columns b: sparse, over (centered) mapped samples.
    support_ : ndarray
        Samples with a coefficient that is not zero.
    sparsity_ : float
        The fraction of zeros in `coefficients_`.
    alpha_ : ndarray of shape (n_components,)
        What was given or found, for each component.
    kernel_ : Kernel
        The kernel with every parameter a number.
    n_components_ : int
        How many directions there are.

    References
    ----------
    Guo, L., Wu, P., Gao, J. and Lou, S. (2019). Sparse kernel principal component analysis via sequential approach for
    nonlinear process monitoring. IEEE Access 7, 47550-47563. (The idea.)
    Zou, H., Hastie, T. and Tibshirani, R. (2006). Sparse principal component analysis. Journal of Computational and
    Graphical Statistics 15(2), 265-286. (Theorem 1: components by regression.)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernelpca_papers.dualization import SequentialSparseKernelPCA
    >>> X, _ = load_iris(return_X_y=True)
    >>> model = SequentialSparseKernelPCA(n_components=3, sparsity=0.5).fit(X)
    >>> print(f"{model.sparsity_:.2f} of the coefficients are zero")
    0.50 of the coefficients are zero
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: Any = "rbf",
        center: bool = True,
        alpha: float = 0.05,
        sparsity: float | None = None,
        ridge: float = 0.1,
        tol: float = 1e-8,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.center = center
        self.alpha = alpha
        self.sparsity = sparsity
        self.ridge = ridge
        self.tol = tol

    def _find_sparse(
        self, mapped: MappedRows, k: int, alpha: float, sparsity: float | None, ridge: float, tol: float
    ) -> tuple[np.ndarray, dict[str, Any]]:
        # in coordinates in which mapped rows are U diag(roots), G is U diag(values) U' and scores on v are U (roots v)
        values, U, n = mapped.values, mapped.vectors, len(mapped.K)
        roots, r = np.sqrt(values), len(values)
        regressions = Regressions(values, U, ridge * values[0] ** 2, tol)
        B, V, alphas = np.zeros((n, k)), np.zeros((r, 0)), np.full(k, alpha)
        for j in range(k):
            remaining = np.eye(r) - V @ V.T
            v = eigh(remaining @ (values[:, None] * remaining), subset_by_index=[r - 1, r - 1])[1][:, 0]
            B[:, j], alphas[j] = self._regress(regressions, roots * v, alpha, sparsity, j)
            V = np.linalg.qr(roots[:, None] * (U.T @ B[:, : j + 1]))[0]
        return B, {"alpha_": alphas}

    def _regress(
        self, regressions: Regressions, y: np.ndarray, alpha: float, sparsity: float | None, j: int
    ) -> tuple[np.ndarray, float]:
        """(r,) -> (n,), float: the coefficients of component j, and the alpha that they were found with."""
        n, largest = len(regressions.U), regressions.largest_penalty(y)
        answers = {1.0: (np.zeros(n), True)}

        def solve(alpha: float) -> np.ndarray:
            last, _ = answers[next(reversed(answers))]
            answers[alpha] = regressions.solve(y, alpha * largest, last)
            return answers[alpha][0]

        if sparsity is None:
            b = solve(alpha)
        else:
            alpha, b = reach_sparsity(solve, sparsity, 1 / n, f"the coefficients of component {j}")
        if not answers[alpha][1]:
            warnings.warn(
                f"The regression of component {j} was not solved to tol. Raise tol or ridge.",
                ConvergenceWarning,
                stacklevel=5,
            )
        return b, alpha
