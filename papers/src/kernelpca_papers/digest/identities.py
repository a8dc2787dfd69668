"""The identities of sections 2.1 to 2.5 on one matrix: as they hold, in units of rounding, and as they are printed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

K = 10  # components of a low-rank approximation
EPS = float(np.finfo(float).eps)

# name: (statement, source, what amplifies rounding)
CHECKS = {
    "eigenvalues": ("Nonzero eigenvalues of C and G are the same", "section 2.4, eq. 9", "lambda_1"),
    "squares": ("Eigenvalues are squared singular values", "section 2.3", "lambda_1"),
    "uncorrelated": ("ZZ' is Lambda: scores are uncorrelated", "section 2.1", "lambda_1"),
    "GB": ("GB = B Lambda: columns of B are eigenvectors of G", "appendix B", "lambda_1 |b_j| sigma_1/sigma_j"),
    "B": ("B = V Sigma^-1", "eq. 13, 14, corrected", "lambda_1/gap_j sigma_1/sigma_j"),
    "U": ("U = X V Sigma^-1", "eq. 18, corrected", "lambda_1/gap_j sigma_1/sigma_j"),
    "BG": ("Scores B'G are U'X", "eq. 15", "sigma_1 lambda_1/lambda_j"),
    "VG": ("Scores V'G are sqrt(lambda) times U'X", "eq. 16, corrected", "lambda_1/gap_j sigma_1/sigma_j"),
    "rebuilt": (
        f"X V Sigma^-1 Z with {K} components is the best approximation of that rank",
        "eq. 17, corrected",
        "sigma_1 lambda_1/gap sigma_1/sigma_k",
    ),
}


@dataclass(frozen=True)
class Slip:
    """An identity as printed: what is measured of it, and what it should be."""

    statement: str
    source: str
    target: float
    tolerance: float
    evidence: str
    square: bool = False


PRINTED = {
    "printed_14": Slip(
        "B is V: length of the first column of B",
        "eq. 14",
        1.0,
        1e-6,
        "B = V Sigma^-1: the length is 1/sigma on every matrix, to rounding. The proof's last line allows for a "
        "constant; it is another one for every column.",
    ),
    "printed_16": Slip(
        "Scores are V'G: length of the first row of V'G over that of U'X",
        "eq. 16",
        1.0,
        1e-6,
        "V'G = Sigma Sigma V': the ratio is sigma on every matrix, to rounding. Distances of such scores count a "
        "component by its eigenvalue once more.",
    ),
    "printed_17": Slip(
        "X V Z, with Z = V'G, is X but for small components: its relative distance from the best approximation of "
        f"rank {K}",
        "eq. 17",
        0.0,
        1e-6,
        "X V V'G = U Sigma³ V': every component comes back lambda times too large. X V Sigma^-2 V'G is right.",
    ),
    "printed_18": Slip(
        "U is X V: length of the first column of X V",
        "eq. 18",
        1.0,
        1e-6,
        "X V = U Sigma: the length is sigma on every matrix, to rounding.",
    ),
    "printed_rank": Slip(
        "There are d nonzero eigenvalues: those found over d",
        "sections 2.3 to 2.5",
        1.0,
        1e-6,
        "No more than min(d, n - 1) after centering; with 1200 pixels and 69 frames there are 68.",
    ),
    "printed_appendix": Slip(
        "GB = Lambda B: relative size of the difference, where d = n and the product exists",
        "appendix B",
        0.0,
        1e-6,
        "Eigenvalues belong to columns: GB = B Lambda. Where d is not n Lambda B does not exist.",
        square=True,
    ),
}


@dataclass(frozen=True)
class Forms:
    """Both diagonalizations of a matrix X (d, n): C = U Lambda U', G = V Lambda V', and its singular values.

    U (d, r) and V (n, r) have the components above rounding, B = X'U Lambda^-1 (n, r).
    """

    X: np.ndarray
    C: np.ndarray
    G: np.ndarray
    U: np.ndarray
    V: np.ndarray
    of_C: np.ndarray
    of_G: np.ndarray
    sigma: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray) -> Forms:
        """(d, n) -> the forms."""
        C, G = X @ X.T, X.T @ X
        (of_C, U), (of_G, V) = np.linalg.eigh(C), np.linalg.eigh(G)
        sigma = np.linalg.svd(X, compute_uv=False)
        r = int((sigma**2 > 10 * max(X.shape) * EPS * sigma[0] ** 2).sum())
        return cls(X, C, G, U[:, ::-1][:, :r], V[:, ::-1][:, :r], of_C[::-1], of_G[::-1], sigma[:r])

    @property
    def rank(self) -> int:
        """How many components are above rounding."""
        return len(self.sigma)

    @property
    def B(self) -> np.ndarray:
        """(n, r): equation 13."""
        return self.X.T @ self.U / self.sigma**2

    @property
    def rounding(self) -> float:
        """Error of an eigenvalue by rounding: max(d, n) eps times the largest."""
        return float(max(self.X.shape) * EPS * self.sigma[0] ** 2)

    @property
    def gaps(self) -> np.ndarray:
        """(r,): distances of the eigenvalues from their neighbors, or from zero."""
        steps = -np.diff(self.sigma**2, append=0.0)
        return np.minimum(steps, np.append(np.inf, steps[:-1]))

    def compared(self, P: np.ndarray, Q: np.ndarray) -> float:
        """(m, r), (m, r) -> largest distance of unit columns up to sign, over what rounding makes of eigenvectors."""
        signs = np.sign((P * Q).sum(axis=0))
        distances = np.linalg.norm(P - Q * signs, axis=0)
        bounds = self.rounding / self.gaps * (self.sigma[0] / self.sigma)
        return float((distances / bounds).max())


def check(forms: Forms) -> dict[str, float]:
    """Return the largest error of each identity as it holds, over rounding."""
    X, G, U, V, B, sigma, rounding = forms.X, forms.G, forms.U, forms.V, forms.B, forms.sigma, forms.rounding
    r, values, Z = forms.rank, sigma**2, U.T @ X
    signs = np.sign((B * V).sum(axis=0))
    residuals = np.linalg.norm(G @ B - B * values, axis=0) / np.linalg.norm(B, axis=0)
    scores = np.linalg.norm(B.T @ G - Z, axis=1)
    return {
        "eigenvalues": float(np.abs(forms.of_C[:r] - forms.of_G[:r]).max() / rounding),
        "squares": float(np.abs(forms.of_G[:r] - values).max() / rounding),
        "uncorrelated": float(np.abs(Z @ Z.T - np.diag(forms.of_C[:r])).max() / rounding),
        "GB": float((residuals * sigma / sigma[0]).max() / rounding),
        "B": forms.compared(B * sigma, V),
        "U": forms.compared(X @ V / sigma, U),
        "BG": float((scores * values / sigma[0]).max() / rounding),
        "VG": forms.compared((V.T @ G).T / values, Z.T / sigma),
        "rebuilt": rebuilt(forms, signs),
    }


def rebuilt(forms: Forms, signs: np.ndarray) -> float:
    """Return the error of eq. 17, with Sigma^-1, over rounding of the subspace of the first components."""
    k, sigma = min(K, forms.rank - 1), forms.sigma
    answer = forms.X @ (forms.V[:, :k] / sigma[:k] * signs[:k]) @ (forms.U[:, :k].T @ forms.X)
    gap = sigma[k - 1] ** 2 - sigma[k] ** 2
    bound = forms.rounding / gap * sigma[0] / sigma[k - 1] * sigma[0]
    return float(np.linalg.norm(answer - best(forms.X, k), 2) / bound)


def best(X: np.ndarray, k: int) -> np.ndarray:
    """(d, n) -> (d, n): the nearest matrix of rank k."""
    U, sigma, Vt = np.linalg.svd(X, full_matrices=False)
    return (U[:, :k] * sigma[:k]) @ Vt[:k]


def printed(forms: Forms) -> dict[str, Any]:
    """Measure the identities as they are printed."""
    X, G, V = forms.X, forms.G, forms.V
    k, d, n = min(K, forms.rank), *X.shape
    near = best(X, k)
    lengths = np.linalg.norm((V.T @ G)[0]), np.linalg.norm(forms.U[:, 0] @ X)
    found = {
        "printed_14": np.linalg.norm(forms.B[:, 0]),
        "printed_16": lengths[0] / lengths[1],
        "printed_17": np.linalg.norm(X @ V[:, :k] @ (V[:, :k].T @ G) - near) / np.linalg.norm(near),
        "printed_18": np.linalg.norm(X @ V[:, 0]),
        "printed_rank": forms.rank / d,
    }
    if d == n:
        B = X.T @ forms.U / forms.sigma**2
        Lambda = np.diag(np.append(forms.sigma**2, np.zeros(n - forms.rank)))
        found["printed_appendix"] = np.linalg.norm(G @ B - Lambda @ B) / np.linalg.norm(G @ B)
    return found
