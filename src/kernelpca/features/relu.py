"""Random ReLU features: a wide layer of rectified linear units stands for the arc-cosine kernel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np
from scipy import sparse

from kernelpca.features.factors import Factors
from kernelpca.features.protocol import ExplicitFeatures, RandomFeatures, check_width
from kernelpca.gram.budget import BUDGET
from kernelpca.kernels.base import Kernel, Rows, dtype_of, n_rows
from kernelpca.kernels.dot import ArcCosine
from kernelpca.kernels.spectral import sample


class RandomReLU(RandomFeatures):
    """Random ReLU features sqrt(2/r) max(W x, 0) of the arc-cosine kernel of order 1, rows of W from N(0, I).

    z(x)'z(y) is an unbiased estimate of |x||y| (sin t + (pi - t) cos t) / pi, t the angle between x and y; with
    independent rows its variance for x = y is 5 |x|^4 / r.

    Parameters
    ----------
    n_features : int, default=1024
        The number of features r.
    sampling : {"orthogonal", "iid", "quasi"}, default="orthogonal"
        Rows of W that are orthogonal to each other in blocks of d, independent ones, or ones from a scrambled Sobol
        sequence. All are unbiased.

    References
    ----------
    Cho and Saul (2009), Kernel methods for deep learning, section 2. Gedon, Ribeiro, Wahlström and Schön, Invertible
    kernel PCA with random Fourier features, section III.A (the inverse of these features).

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpca.features.relu import RandomReLU
    >>> from kernelpca.kernels import ArcCosine
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> Z = RandomReLU(4096).fit(ArcCosine(order=1), X, np.random.default_rng(0)).map(X)
    >>> bool(abs(Z[0] @ Z[1] - 1 / np.pi) < 0.05)
    True
    """

    def __init__(self, n_features: int = 1024, sampling: str = "orthogonal") -> None:
        self.n_features = n_features
        self.sampling = sampling

    def fit(
        self, kernel: Kernel, X: Rows, rng: np.random.Generator, center: bool = True, dtype: np.dtype | None = None
    ) -> ReLUFeatures:
        """Draw weights for rows X (n, d), in float64 whatever `dtype`."""
        r = self.size_of(n_rows(X))
        if not (isinstance(kernel, ArcCosine) and kernel.order == 1):
            raise ValueError(
                f"RandomReLU stands for ArcCosine(order=1) alone; {kernel!r} was given. Use that kernel "
                '(kernel="arc_cosine"), RandomFourier for stationary kernels such as RBF, or Nyström features for any '
                'kernel: approximation="nystrom".'
            )
        W = sample(lambda draw: draw.normals(), self.sampling, r, X.shape[1], rng)
        name = f"{r} random ReLU features ({self.sampling})"
        return ReLUFeatures(np.asfortranarray(W), sqrt(2.0 / r), kernel, name)


@dataclass(frozen=True, eq=False)
class ReLUFeatures(ExplicitFeatures):
    """x -> amplitude * max(W x, 0).

    Attributes
    ----------
    W : ndarray of shape (r, d)
        The weights, float64, with columns contiguous: products with sparse rows then need no copy.
    amplitude : float
        sqrt(2/r).
    kernel : Kernel
        What they stand for.
    name : str
        What they are.
    budget : int
        Bytes of working memory.
    """

    origin = None
    W: np.ndarray
    amplitude: float
    kernel: Kernel
    name: str
    budget: int = BUDGET

    @property
    def size(self) -> int:  # type: ignore[override]
        """The number of features r."""
        return len(self.W)

    def map(self, X: Rows, dtype: np.dtype | None = None, out: np.ndarray | None = None) -> np.ndarray:
        """(n, d) -> (n, r): in the precision of X, or in that which is asked for; a fresh array, or `out`."""
        dtype = dtype_of(X) if dtype is None else dtype
        W = self._single if dtype == np.float32 else self.W
        check_width(X, W.shape[1])
        # max(c t, 0) = c max(t, 0): rows are scaled in place of their many features
        scaled = X.astype(dtype, copy=False) * self.amplitude
        if sparse.issparse(X):
            F = scaled @ W.T
        else:
            F = np.empty((n_rows(X), self.size), dtype) if out is None else out
            np.matmul(scaled, W.T, out=F)
        return np.maximum(F, 0.0, out=F)

    def discrepancy(self, X: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, d), (n, r) -> (n,), (n, d): |z(x)|^2 - 2 z(x)'c, and its gradient."""
        F = self.map(X)
        off = F - 2 * C
        slopes = np.where(F > 0, F - C, 0)
        return np.einsum("ij,ij->i", F, off), (2 * self.amplitude) * slopes @ self.W.astype(F.dtype, copy=False)

    @cached_property
    def factors(self) -> Factors:
        """The decomposition of W, made when it is first asked for."""
        return Factors.of(self.W)

    @cached_property
    def _single(self) -> np.ndarray:
        return self.W.astype(np.float32)
