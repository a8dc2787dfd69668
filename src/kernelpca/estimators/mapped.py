"""Training samples in the space of features that stand for a kernel, made of rows or of columns of a matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelpca.estimators.exact import Request
from kernelpca.estimators.row_map import RemoteMap, RowMap
from kernelpca.features.kernel import GivenFeatures
from kernelpca.features.nystrom import Nystrom, NystromFeatures
from kernelpca.features.protocol import FeatureMap, Folded
from kernelpca.features.span import LandmarkSpace, landmark_space
from kernelpca.gram import Gram
from kernelpca.kernels.base import Kernel, Rows, n_rows
from kernelpca.remote import RemoteRows

LOOKED_AT = 300  # rows of a given matrix that show whether it is positive definite
FEW = 256  # rows that show how long rows of features are
LEFT_OUT = 1e-3  # of the smallest wanted eigenvalue: landmarks' directions that may be left out as rounding
NEGATIVE = 1e-8  # of the largest eigenvalue: negative ones smaller than this are rounding

Pairs = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, kw_only=True)
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
    noise : float
        Length of the rounding error of a sample's features, in eps.
    blur : float
        By how much kernel values may be off beyond a few eps (`Kernel.rounding`), as landmarks tell it.
    pairs : callable or None
        `pairs(a, b)` returns errors of the features and kernel values of pairs of samples, for an estimate.
    landmarks : int
        How many landmarks the features come from; 0 for features that are the whole of a feature space.
    used : ndarray or None
        Samples that are landmarks.
    floor : float
        Eigenvalues of the landmarks' own matrix below this were left out as rounding.
    bounded : bool
        Whether the kernel is positive definite and all of its variance is known: then what landmarks leave out bounds
        what they miss.
    own_values : ndarray or None
        Eigenvalues of the landmarks' own matrix, where their components are wanted as they are.
    whitening : ndarray of shape (r0, r) or None
        Where `block` returns r0 numbers g instead of features: features are g times this, and it is enough to apply
        it to sums over all samples.
    elsewhere : RemoteMap or None
        For samples that lie elsewhere: what is done with their features where they are.
    """

    n: int
    size: int
    dtype: np.dtype
    block: Callable[[slice], tuple[np.ndarray, np.ndarray]]
    signs: np.ndarray
    fold: Callable[[np.ndarray, np.ndarray], Folded]
    name: str
    noise: float
    blur: float = 0.0
    pairs: Pairs | None = None
    landmarks: int = 0
    used: np.ndarray | None = None
    floor: float = 0.0
    bounded: bool = False
    own_values: np.ndarray | None = None
    whitening: np.ndarray | None = None
    elsewhere: RemoteMap | None = None

    @property
    def definite(self) -> bool:
        """Whether all features count positively."""
        return bool((self.signs > 0).all())

    @property
    def width(self) -> int:
        """Numbers that a block has for each sample."""
        return self.size if self.whitening is None else len(self.whitening)

    def from_block(self, U: np.ndarray) -> np.ndarray:
        """(r, k) directions among the features -> (width, k): among what a block has."""
        return U if self.whitening is None else self.whitening @ U

    def rounding(self, theta: float) -> float:
        """Return by how much an eigenvalue of this size may be off: features are rounded, and directions left out."""
        return max(self._rounding_of_features(theta), self._left_out())

    def digits_lost(self, values: np.ndarray, tol: float) -> bool:
        """Whether rounding of the features may have moved the components of these eigenvalues by more than tol."""
        positive = np.abs(values[values != 0])
        if not positive.size:
            return False
        theta = float(positive.min())
        return self._rounding_of_features(theta) > tol * theta or self._left_out() > LEFT_OUT * theta

    def _rounding_of_features(self, theta: float) -> float:
        """Random errors of length e in the features move S u by about e sqrt(theta), and add n e^2 to eigenvalues."""
        error = float(np.finfo(self.dtype).eps) / 2 * self.noise
        return max(3 * error * float(np.sqrt(theta)), self.n * error**2, float(np.sqrt(self.n)) * self.blur)

    def _left_out(self) -> float:
        return self.floor * self.n / max(self.landmarks, 1) if self.bounded else 0.0


def map_rows(
    approximation: FeatureMap, kernel: Kernel, X: Rows, request: Request, dtype: np.dtype, rng: np.random.Generator
) -> Mapped:
    """Choose features for rows X of a resolved kernel, to be made in this precision."""
    return rows_under(choose_map(approximation, kernel, X, request, dtype, rng), approximation, kernel, X)


def choose_map(
    approximation: FeatureMap,
    kernel: Kernel,
    X: Rows,
    request: Request,
    dtype: np.dtype,
    rng: np.random.Generator,
    expected: int | None = None,
) -> RowMap:
    """Choose features for rows X of a resolved kernel, and what of them is made of each row.

    More rows than these may be `expected` to follow: the more are added up, the less rounding counts.
    """
    features = approximation.fit(kernel, X, rng, request.center, dtype)
    if not isinstance(features, NystromFeatures):
        return RowMap(features, dtype)
    k = request.components.count if request.pursuit is None else None  # other objectives need features of each sample
    eps = float(np.finfo(dtype).eps) / 2
    n = expected or n_rows(X)
    return RowMap(features, dtype, k is not None and features.space.keeps_digits(eps, k, n, request.tol))


def rows_under(make: RowMap, approximation: FeatureMap, kernel: Kernel, X: Rows) -> Mapped:
    """Return rows X as they are under a map that was chosen."""
    features = make.features
    known: dict[str, Any] = {
        "n": n_rows(X),
        "size": features.size,
        "dtype": make.dtype,
        "signs": features.signs,
        "fold": features.fold,
        "name": features.name,
        "pairs": lambda a, b: (features.error(X[a], X[b]), kernel(X[a], X[b])),
        "block": lambda rows: make(X[rows]),
        "elsewhere": RemoteMap(make, X) if isinstance(X, RemoteRows) else None,
    }
    if not isinstance(features, NystromFeatures):
        return Mapped(noise=float(np.sqrt(make(X[:FEW])[1].max())) * features.blur(X, make.dtype), **known)
    return Mapped(
        used=features.indices,
        bounded=kernel.positive_definite,
        whitening=features.space.R if make.raw else None,
        blur=features.kernel.rounding(features.landmarks, make.dtype),
        **_of_landmarks(features.space, approximation),
        **known,
    )


def map_columns(
    approximation: Nystrom, matrix: Gram | np.ndarray, request: Request, rng: np.random.Generator
) -> Mapped:
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
    space, order = landmark_space(C[idx].astype(np.float64), request.center, definite, extension, eps)
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
        n=len(C),
        size=space.size,
        dtype=C.dtype,
        block=block,
        signs=space.signs,
        fold=lambda U, mean: Folded(new, *space.fold(U, mean)),
        name=name,
        pairs=None if diagonal is None else pairs,
        used=idx,
        bounded=definite and diagonal is not None,
        **_of_landmarks(space, approximation),
    )


def _of_landmarks(space: LandmarkSpace, approximation: FeatureMap) -> dict[str, Any]:
    """Return what the span of landmarks tells, whatever they are landmarks of."""
    extension = isinstance(approximation, Nystrom) and approximation.form == "extension"
    return {
        "noise": space.entry * float(np.linalg.norm(space.R)),
        "landmarks": len(space.offset),
        "floor": space.level,
        "own_values": space.values if extension else None,
    }


def looks_definite(W: np.ndarray) -> bool:
    """Whether a block on the diagonal of a matrix has no negative eigenvalues."""
    values = np.linalg.eigvalsh((W + W.T).astype(np.float64) / 2)
    allowed = max(NEGATIVE, 100 * float(np.finfo(W.dtype).eps)) * float(np.abs(values).max(initial=0.0))
    return bool(values.min(initial=0.0) >= -allowed)
