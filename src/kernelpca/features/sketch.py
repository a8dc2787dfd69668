"""Kernel PCA by a sketch of the matrix: its rows, projected to few numbers as they are made (tutorial, algorithm 6)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from kernelpca.features.error import estimate_error
from kernelpca.features.projections import FeatureGrouping, GaussianProjection, Projection
from kernelpca.gram.protocol import Gram
from kernelpca.parts import Part, check_whole
from kernelpca.solvers.certificate import Approximation
from kernelpca.solvers.cost import Cost, Size, iterative
from kernelpca.solvers.protocol import Solver
from kernelpca.solvers.rayleigh_ritz import orthonormal_columns, rayleigh_ritz, residual_matrix
from kernelpca.solvers.solution import Ritz
from kernelpca.solvers.watch import Watch
from kernelpca.tall import times

LOOKED_AT = 256  # rows of the matrix that show which of its columns are alike
SPARE = 8  # vectors carried beyond the wanted ones


class KernelSketch(Part):
    """Approximate kernel PCA by a random projection of the rows of the kernel matrix.

    A row of the matrix is the empirical kernel map of a sample, and the scatter of these maps is the squared matrix:
    projected to q numbers by a map that keeps dot products, it has about the same leading eigenvectors. One more
    product with the matrix turns them into scores. The matrix is made twice (three times for the printed form), in
    tiles, and need not be stored.

    Parameters
    ----------
    n_features : int, default=200
        The q numbers that each row of the matrix becomes.
    projection : Projection, optional
        What projects them: an object of `kernelpca.features`, `GaussianProjection()` when not given. `FeatureGrouping`
        takes one column for each group of columns that are alike; `Downsample((1, n))` averages neighboring columns,
        where rows come in an order such as that of time.
    form : {"ritz", "paper"}, default="ritz"
        "ritz": eigenvalues and vectors are the best within the span that the sketch gives. "paper": eigenvalues are
        square roots of those of the projected scatter, and vectors the products with the matrix, as printed; brought
        to unit length, and orthogonal.

    References
    ----------
    Marukatat (2022), Tutorial on PCA and approximate PCA and approximate kernel PCA, algorithm 6.
    """

    def __init__(self, n_features: int = 200, projection: Projection | None = None, form: str = "ritz") -> None:
        self.n_features = n_features
        self.projection = projection
        self.form = form

    def solver(self, n: int, k: int | None) -> Sketch:
        """Return the solver that does it, for n samples and k components (None: as many as a rule says)."""
        q = check_whole(self.n_features, "n_features", self)
        if self.form not in ("ritz", "paper"):
            raise ValueError(f"KernelSketch(form={self.form!r}): form must be 'ritz' (the best) or 'paper'.")
        projection = GaussianProjection() if self.projection is None else self.projection
        if not isinstance(projection, Projection):
            raise ValueError(
                f"KernelSketch(projection={projection!r}): give an object of kernelpca.features, such as "
                "GaussianProjection() or FeatureHashing()."
            )
        if k is not None and k > min(q, n):
            raise ValueError(
                f"n_components={k} needs at least as many features, and n_features={q} were asked for. Raise it "
                "(ten for each component are a good start), or ask for fewer components."
            )
        return Sketch(q, projection, self.form)


class Sketch(Solver):
    """Few passes: a projection of the matrix, and a product with the vectors that it gives.

    Parameters
    ----------
    n_features : int
        Columns of the projection.
    projection : Projection
        What projects.
    form : {"ritz", "paper"}
        What the eigenpairs are taken from.
    """

    advice = "n_features"
    wide = False

    def __init__(self, n_features: int, projection: Projection, form: str = "ritz") -> None:
        self.n_features = n_features
        self.projection = projection
        self.form = form

    def cost(self, size: Size, tol: float) -> Cost:
        """Return the cost of two passes, the first with a column for each feature."""
        columns = min(self.n_features, size.n)
        return iterative(size, 2, columns, basis=3 * columns)

    def run(self, watch: Watch, k: int, start: np.ndarray | None, rng: np.random.Generator) -> Ritz:
        """Project, decompose what was projected, multiply once more."""
        gram = watch.gram
        n = gram.shape[0]
        rows = None
        if isinstance(self.projection, FeatureGrouping):
            rows = gram.columns(np.sort(rng.choice(n, min(n, LOOKED_AT), replace=False))).T
        P = self.projection.fit(n, min(self.n_features, n), rng, rows).part(slice(0, n))
        Y = watch.matmat(np.asarray(P.toarray() if sparse.issparse(P) else P, dtype=gram.dtype))
        Q, R = np.linalg.qr(Y)
        S, sizes, _ = np.linalg.svd(R)
        sizes = sizes[sizes > 10 * float(np.finfo(gram.dtype).eps) * sizes.max(initial=0.0)].astype(np.float64)
        V = times(Q, S[:, : len(sizes)])
        name = f"{self.n_features} numbers for each row of the matrix ({self.projection!r})"
        evidence = Approximation(name, *_error(gram, V, sizes, rng), of_matrix=True)
        V = orthonormal_columns(_filled(V[:, : min(k + SPARE, n)], k, rng))
        products = watch.matmat(V)
        if self.form == "ritz" or len(sizes) < k:
            values, vectors, products = rayleigh_ritz(V, products)
            R = residual_matrix(values, vectors, products)
            return Ritz(values, vectors[:, :k], products[:, :k], R.T @ R, approximation=evidence)
        return Ritz(sizes[:k], orthonormal_columns(products[:, :k]), approximation=evidence)

    def _warn(self, certificate: Any, watch: Watch) -> None:
        """Say nothing: these passes are what was asked for, and the certificate says how good they are."""


def _error(gram: Gram, V: np.ndarray, values: np.ndarray, rng: np.random.Generator) -> tuple[float, float, float]:
    """Compare entries of the matrix with those of V diag(values) V'."""

    def pairs(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        true = gram.columns(b)[a]
        return true - (V[a] * values.astype(V.dtype)) @ V[b].T, true

    return estimate_error(pairs, gram.shape[0], rng)


def _filled(V: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """(n, p) -> (n, at least k): random columns take the place of those that a matrix of low rank does not give."""
    missing = k - V.shape[1]
    return V if missing <= 0 else np.column_stack([V, rng.standard_normal((len(V), missing)).astype(V.dtype)])
