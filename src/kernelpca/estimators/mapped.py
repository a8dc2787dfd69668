"""Training samples in the space of features that stand for a kernel, made of rows or of columns of a matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernelpca.features.kernel import GivenFeatures
from kernelpca.features.nystrom import Nystrom, NystromFeatures, landmark_space
from kernelpca.features.protocol import FeatureMap, Folded
from kernelpca.gram import Gram
from kernelpca.kernels.base import Kernel, Rows, n_rows

LOOKED_AT = 300  # rows of a given matrix that show whether it is positive definite
NEGATIVE = 1e-8  # of the largest eigenvalue: negative ones smaller than this are rounding

Pairs = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Mapped:
    """n samples with r features each, which are made a block of rows at a time.

    Attributes
    ----------
    n, size : int
        Samples and features.
    dtype : dtype
        The precision of the features.
    block : callable
        `block(rows)` returns the features (b, r) of a slice of samples, which the caller may overwrite, and the
        squared lengths (b,) of the samples in the kernel's own feature space.
    signs : ndarray of shape (r,)
        Whether each feature counts positively or negatively.
    fold : callable
        `fold(U, mean)` turns directions among the features into an affine map of new samples.
    name : str
        What the features are.
    pairs : callable or None
        `pairs(a, b)` returns errors of the features and kernel values of pairs of samples, for an estimate.
    used : ndarray or None
        Samples that the features were chosen by.
    bounded : bool
        Whether the features are coordinates in a part of the kernel's own feature space, and the kernel positive
        definite: then what they leave out bounds what they miss.
    own_values : ndarray or None
        Eigenvalues of the landmarks' own matrix, where they are asked for.
    whitening : ndarray of shape (r0, r) or None
        Where `block` returns r0 numbers g instead of features: features are g times this, and it is enough to apply
        it to sums over all samples.
    """

    n: int
    size: int
    dtype: np.dtype
    block: Callable[[slice], tuple[np.ndarray, np.ndarray]]
    signs: np.ndarray
    fold: Callable[[np.ndarray, np.ndarray], Folded]
    name: str
    pairs: Pairs | None = None
    used: np.ndarray | None = None
    bounded: bool = False
    own_values: np.ndarray | None = None
    whitening: np.ndarray | None = None

    @property
    def width(self) -> int:
        """Numbers that a block has for each sample."""
        return self.size if self.whitening is None else len(self.whitening)

    def from_block(self, U: np.ndarray) -> np.ndarray:
        """(r, k) directions among the features -> (width, k): among what a block has."""
        return U if self.whitening is None else self.whitening @ U


def map_rows(
    approximation: FeatureMap,
    kernel: Kernel,
    X: Rows,
    center: bool,
    dtype: np.dtype,
    rng: np.random.Generator,
    k: int | None = None,
) -> Mapped:
    """Choose features for rows X of a resolved kernel, of which k components are wanted (None: not known)."""
    features = approximation.fit(kernel, X, rng, center, dtype)
    landmarks = features if isinstance(features, NystromFeatures) else None
    eps = float(np.finfo(dtype).eps) / 2
    raw = landmarks is not None and k is not None and landmarks.space.keeps_digits(eps, k)

    def block(rows: slice) -> tuple[np.ndarray, np.ndarray]:
        if landmarks is not None:
            return landmarks.map_and_squares(X[rows], dtype, whiten=not raw)
        return features.map_and_squares(X[rows], dtype)

    return Mapped(
        n_rows(X),
        features.size,
        dtype,
        block,
        features.signs,
        features.fold,
        features.name,
        lambda a, b: (features.error(X[a], X[b]), kernel(X[a], X[b])),
        landmarks.indices if landmarks else None,
        landmarks is not None and kernel.positive_definite,
        landmarks.space.values if landmarks and getattr(approximation, "form", "") == "extension" else None,
        landmarks.space.R if landmarks and raw else None,
    )


def map_columns(approximation: Nystrom, matrix: Gram | np.ndarray, center: bool, rng: np.random.Generator) -> Mapped:
    """Choose landmarks among the samples of a given matrix; an (n, m) array holds the columns of given landmarks."""
    if isinstance(matrix, np.ndarray):
        idx, C, name, diagonal = approximation.indices_of(matrix), matrix, "The columns that were given", None
        definite = looks_definite(C[idx])
    else:
        sample = rng.choice(matrix.shape[0], min(matrix.shape[0], LOOKED_AT), replace=False)
        definite = matrix.positive_definite or looks_definite(matrix.columns(sample)[sample])
        idx, name = approximation.select(matrix, definite, rng)
        C, diagonal = matrix.columns(idx), matrix.diagonal()
    extension = approximation.form == "extension"
    eps = float(np.finfo(C.dtype).eps)
    space, order = landmark_space(C[idx].astype(np.float64), center, definite, extension, eps)
    C = np.ascontiguousarray(C[:, order])
    new = GivenFeatures(len(idx), order) if diagonal is None else GivenFeatures(len(C), idx[order])

    def block(rows: slice) -> tuple[np.ndarray, np.ndarray]:
        F = space.coordinates(C[rows].copy())
        if diagonal is None:  # nothing is known of what the landmarks leave out
            return F, np.square(F) @ space.signs.astype(F.dtype)
        return F, space.squares(diagonal[rows], C[rows])

    def pairs(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values = matrix.columns(b)[a]  # type: ignore[union-attr]
        return space.error(values, C[a], C[b]), values

    return Mapped(
        len(C),
        space.size,
        C.dtype,
        block,
        space.signs,
        lambda U, mean: Folded(new, *space.fold(U, mean)),
        name,
        None if diagonal is None else pairs,
        idx,
        definite and diagonal is not None,
        space.values if extension else None,
    )


def looks_definite(W: np.ndarray) -> bool:
    """Whether a block on the diagonal of a matrix has no negative eigenvalues."""
    values = np.linalg.eigvalsh((W + W.T).astype(np.float64) / 2)
    allowed = max(NEGATIVE, 100 * float(np.finfo(W.dtype).eps)) * float(np.abs(values).max(initial=0.0))
    return bool(values.min(initial=0.0) >= -allowed)
