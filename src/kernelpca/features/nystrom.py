"""Features from landmarks: coordinates of each mapped sample in the span of a few others (Nyström)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from kernelpca.features.kernel import KernelFeatures
from kernelpca.features.landmark_names import LANDMARKS, as_landmarks
from kernelpca.features.landmarks import Landmarks
from kernelpca.features.protocol import ExplicitFeatures, FeatureMap, Folded, move
from kernelpca.features.span import LandmarkSpace, landmark_space
from kernelpca.gram import Gram, TiledGram
from kernelpca.gram.dense import check_symmetric
from kernelpca.gram.protocol import check_finite
from kernelpca.kernels.base import Kernel, Rows, diagonal, dtype_of, n_rows
from kernelpca.kernels.origin import origin_of
from kernelpca.parts import check_whole
from kernelpca.remote import RemoteRows
from kernelpca.tiles import blocks

MOST = 1000  # landmarks when the user sets no number
LOOKED_AT = 3000  # rows looked at to choose landmarks, at least
GIVEN = "given"


@dataclass(frozen=True)
class NystromFeatures(ExplicitFeatures):
    """x -> coordinates of phi(x) in the span of the landmarks.

    Attributes
    ----------
    kernel : Kernel
        Resolved; with centring it may differ by a constant from what was given.
    landmarks : rows
        Shifted by `origin`.
    origin : ndarray of shape (d,) or None
        What is taken off rows first.
    space : LandmarkSpace
        Their span.
    indices : ndarray or None
        Row numbers of the landmarks in the training data, where they are rows of it.
    name : str
        What they are and how they were chosen.
    """

    kernel: Kernel
    landmarks: Rows
    origin: np.ndarray | None
    space: LandmarkSpace
    indices: np.ndarray | None
    name: str

    @property
    def size(self) -> int:  # type: ignore[override]
        """The number of features."""
        return self.space.size

    @property
    def width(self) -> int:
        """Numbers that are held for a row."""
        return self.size + 2 * n_rows(self.landmarks)

    @property
    def signs(self) -> np.ndarray:
        """(r,): whether each counts positively."""
        return self.space.signs

    def map(self, X: Rows, dtype: np.dtype | None = None, out: np.ndarray | None = None) -> np.ndarray:
        """(n, d) -> (n, r): a fresh array."""
        return self.space.coordinates(self._values(move(X, self.origin, dtype)))

    def map_and_squares(
        self, X: Rows, dtype: np.dtype | None = None, out: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """(n, d) -> (n, r), (n,): features, and squared distances of the mapped samples from their origin."""
        C, squares = self.values_and_squares(X, dtype)
        return self.space.coordinates(C), squares

    def values_and_squares(
        self, X: Rows, dtype: np.dtype | None = None, out: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """(n, d) -> (n, m), (n,): kernel values with the landmarks, fresh or in `out`, and the same distances."""
        X = move(X, self.origin, dtype)
        C = self._values(X, out)
        return C, self.space.squares(self.kernel.diag(X), C)

    def error(self, A: Rows, B: Rows) -> np.ndarray:
        """(a, d), (b, d) -> (a, b): k(x, y) less what the features say it is."""
        A, B = move(A, self.origin), move(B, self.origin)
        true = np.empty((n_rows(A), n_rows(B)), dtype_of(A))
        self.kernel.compute(A, B, true)
        return self.space.error(true, self._values(A), self._values(B))

    def fold(self, U: np.ndarray, mean: np.ndarray) -> Folded:
        """(r, k), (r,): directions and mean in terms of kernel values with the landmarks."""
        anchors = self.landmarks
        return Folded(KernelFeatures(self.kernel, anchors, self.origin, self.budget), *self.space.fold(U, mean))

    def _values(self, X: Rows, out: np.ndarray | None = None) -> np.ndarray:
        Z = self.landmarks
        if isinstance(X, np.ndarray) and X.dtype != getattr(Z, "dtype", X.dtype):
            Z = Z.astype(X.dtype)
        C = np.empty((n_rows(X), n_rows(Z)), dtype_of(X)) if out is None else out
        size = self.kernel.tile
        for rows in blocks(n_rows(X), size):
            for cols in blocks(n_rows(Z), size):
                self.kernel.compute(X[rows], Z[cols], C[rows, cols])
        return check_finite(C, f"The kernel {self.kernel!r}")


class Nystrom(FeatureMap):
    """The Nyström approximation: directions are sought in the span of some mapped samples, the landmarks.

    What it captures is never more than what exact kernel PCA captures, and the certificate bounds the difference.

    Parameters
    ----------
    n_landmarks : int, optional
        How many; at most one for each row. 1000, or all rows, when not given.
    landmarks : str, Landmarks or array, default="auto"
        How they are chosen: "rpcholesky", "uniform", "diagonal", "column_norm", "leverage", "kmeans", "kmeans||" (all
        rows, in a few passes), "farthest"; or
        row numbers; or landmarks themselves, rows as the kernel takes them. "auto" prefers rows that others do not
        explain ("rpcholesky"), long rows where lengths in feature space differ much ("diagonal"), and takes all
        alike for kernels that are not positive definite ("uniform"); `plan_` says which it took.
    form : {"ritz", "extension"}, default="ritz"
        "ritz": the best directions within the span. "extension": the landmarks' own components extended to all rows
        (tutorial, eq. 62 and 63, with the factor sqrt(q/n) that unit vectors need); never better.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelpca import KernelPCA
    >>> from kernelpca.features import Nystrom
    >>> X, _ = load_digits(return_X_y=True)
    >>> KernelPCA(n_components=5, approximation=Nystrom(200)).fit_transform(X).shape
    (1797, 5)
    """

    spans_rows = True
    count_name = "n_landmarks"

    def __init__(self, n_landmarks: int | None = None, landmarks: Any = "auto", form: str = "ritz") -> None:
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.form = form

    def fit(
        self, kernel: Kernel, X: Rows, rng: np.random.Generator, center: bool = True, dtype: np.dtype | None = None
    ) -> NystromFeatures:
        """Choose landmarks among rows X of a resolved kernel."""
        self.check()
        origin = origin_of(kernel, X, center)
        definite = kernel.positive_definite
        Z, indices, name = self._choose(kernel, X, rng, origin, dtype)
        worked = kernel.for_centering() if center else kernel
        block = move(Z, None, np.dtype(np.float64))
        W = check_finite(worked.matrix(block), f"The kernel {kernel!r}")
        eps = float(np.finfo(dtype or dtype_of(X)).eps)
        space, order = landmark_space(W.astype(np.float64), center, definite, self.form == "extension", eps)
        return NystromFeatures(worked, Z[order], origin, space, None if indices is None else indices[order], name)

    def check(self) -> None:
        """Refuse parameters that have no meaning."""
        if self.form not in ("ritz", "extension"):
            raise ValueError(
                f"Nystrom(form={self.form!r}): form must be 'ritz' (the best) or 'extension' (the paper's)."
            )
        if self.n_landmarks is not None:
            check_whole(self.n_landmarks, "n_landmarks", self)

    def check_for(self, kernel: Kernel, X: Rows) -> None:
        """Refuse parameters that have no meaning for this kernel; two rows tell nothing of landmarks."""
        self.check()
        if self.given() is None:
            as_landmarks(self.landmarks, kernel.positive_definite, np.ones(1))

    def least_rows(self, k: int) -> tuple[int, str]:
        """Return as many rows as there are to be landmarks, or up to the last of those that are given by number."""
        self.check()
        given = self.given()
        if given is None:
            m = self.n_landmarks
            return (m, f"to choose {m} landmarks among them") if m else (k, "to choose landmarks among them")
        numbers = np.asarray(given) if np.ndim(given) == 1 else np.empty(0)
        if not (numbers.size and numbers.dtype.kind in "iu"):
            return super().least_rows(k)
        last = max(int(numbers.max()) + 1, -int(numbers.min()))
        return last, f"to have row {last - 1}, which is to be a landmark"

    def size_of(self, n: int) -> int:
        """Return how many landmarks n rows give, or say what is wrong with the number asked for."""
        self.check()
        given = self.given()
        if given is not None:
            return max(n_rows(given) if np.ndim(given) or sparse.issparse(given) else 1, 1)
        if self.n_landmarks is not None and self.n_landmarks > n:
            raise ValueError(
                f"Nystrom(n_landmarks={self.n_landmarks}): more landmarks than the {n} rows. Give at most {n}, or None."
            )
        return min(MOST, n) if self.n_landmarks is None else int(self.n_landmarks)

    def candidates(self, n: int) -> int:
        """Return how many of n rows are at most looked at to choose landmarks."""
        way = LANDMARKS.get(self.landmarks) if isinstance(self.landmarks, str) else self.landmarks
        each = getattr(way, "candidates", Landmarks.candidates)
        return 0 if each is None or self.given() is not None else candidate_count(n, self.size_of(n), each)

    def among(self, counted: np.ndarray) -> Nystrom:
        """Return the same for the rows that count: landmarks given by number are numbered anew."""
        given = self.given()
        if given is None or not _are_numbers_of_rows(given):
            return self
        idx = as_indices(given, len(counted))
        if not counted[idx].all():
            raise ValueError(f"landmarks: row {idx[~counted[idx]][0]} has a sample weight of 0, so it is left out.")
        return Nystrom(self.n_landmarks, (np.cumsum(counted) - 1)[idx], self.form)

    def given(self) -> Any:
        """Return the user's own landmarks, or None where a way to choose them was given."""
        ways = isinstance(self.landmarks, str) or hasattr(self.landmarks, "select")
        return None if ways or isinstance(self.landmarks, type) else self.landmarks

    def select(self, gram: Gram, definite: bool, rng: np.random.Generator) -> tuple[np.ndarray, str]:
        """(n, n) matrix -> (m,) row numbers, and what they are."""
        self.check()
        given = self.given()
        if given is not None:
            return as_indices(given, gram.shape[0]), _describe(len(given), GIVEN)
        way, why = as_landmarks(self.landmarks, definite, gram.diagonal())
        m = self.size_of(gram.shape[0])
        return way.select(gram, m, rng), _describe(m, f"{type(way).__name__}: {why}")

    def indices_of(self, C: np.ndarray) -> np.ndarray:
        """(n, m) block of columns -> (m,): the rows that they belong to, which must have been given."""
        self.check()
        given = self.given()
        if given is None or len(np.asarray(given)) != C.shape[1]:
            raise ValueError(
                f"A kernel matrix of shape {C.shape} is not square: as a block of columns it needs "
                f"Nystrom(landmarks=[...]) with the {C.shape[1]} row numbers that its columns belong to."
            )
        idx = as_indices(given, len(C))
        check_symmetric(C[idx])
        return idx

    def _choose(
        self, kernel: Kernel, X: Rows, rng: np.random.Generator, origin: np.ndarray | None, dtype: np.dtype | None
    ) -> tuple[Rows, np.ndarray | None, str]:
        """Return landmarks less the origin, their row numbers if they are rows, and how they were chosen."""
        n, given = n_rows(X), self.given()
        if given is not None:
            if _are_numbers_of_rows(given):
                idx = as_indices(given, n)
                return move(X[idx], origin), idx, _describe(len(idx), GIVEN)
            Z = _checked(kernel, given, X)
            return move(Z, origin, dtype_of(X)), None, _describe(n_rows(Z), GIVEN)
        m = self.size_of(n)
        looked_at = np.sort(rng.choice(n, LOOKED_AT, replace=False)) if n > LOOKED_AT else slice(None)
        lengths = np.ones(1) if kernel.unit_diagonal else diagonal(kernel, X[looked_at])
        way, why = as_landmarks(self.landmarks, kernel.positive_definite, lengths)
        name = _describe(m, f"{type(way).__name__}: {why}")
        if way.candidates is None:
            gram = X.gram(kernel) if isinstance(X, RemoteRows) else TiledGram(kernel, X)
            Z, chosen = way.choose(gram, X, m, rng)
            return move(Z, origin), chosen, name
        rows = np.sort(rng.choice(n, candidate_count(n, m, way.candidates), replace=False))
        candidates = move(X[rows], origin, dtype)
        Z, chosen = way.choose(TiledGram(kernel, candidates), candidates, m, rng)
        if chosen is None:
            return Z.astype(dtype_of(X), copy=False), None, name
        idx = rows[chosen]
        return move(X[idx], origin), idx, name


def candidate_count(n: int, m: int, each: int) -> int:
    """Return how many of n rows are looked at to choose m landmarks, so many for each."""
    return min(n, max(each * m, LOOKED_AT))


def _describe(m: int, way: str) -> str:
    return f"Nyström features of {m} landmarks ({way})"


def as_indices(given: Any, n: int) -> np.ndarray:
    """Return row numbers, or say what is wrong with them."""
    idx = np.asarray(given)
    if idx.ndim != 1 or idx.dtype.kind not in "iu" or len(idx) == 0:
        raise ValueError(
            f"landmarks={given!r}: give the name of a way to choose them, a list of row numbers, or the landmarks "
            "themselves as rows; their number is n_landmarks, and np.flatnonzero(mask) turns a mask into row numbers."
        )
    if idx.min() < -n or idx.max() >= n:
        raise ValueError(
            f"landmarks: row numbers must be below the number of rows, {n}; got {idx.min()} to {idx.max()}."
        )
    idx = idx % n
    values, counts = np.unique(idx, return_counts=True)
    if (counts > 1).any():
        raise ValueError(f"landmarks: row {values[counts > 1][0]} is given more than once. Give each row once.")
    return idx


def _are_numbers_of_rows(given: Any) -> bool:
    """Whether what was given are row numbers, or a single one, and not landmarks themselves."""
    return np.ndim(given) < 2 and not sparse.issparse(given) and np.asarray(given).dtype.kind in "iufb"


def _checked(kernel: Kernel, given: Any, X: Rows) -> Rows:
    """Return landmarks that were given as rows for the kernel, or say what is wrong with them."""
    try:
        Z = kernel.check(given)
    except (TypeError, ValueError) as error:
        raise ValueError(f"landmarks: {error}") from error
    if getattr(X, "ndim", 1) == 2 and Z.shape[1] != X.shape[1]:
        raise ValueError(f"landmarks have {Z.shape[1]} columns, and X has {X.shape[1]}: both need the same columns.")
    _refuse_twins(Z)
    return Z


def _refuse_twins(Z: Rows) -> None:
    """Refuse landmarks of which two are the same."""
    if isinstance(Z, np.ndarray) and Z.dtype != object and len(np.unique(Z, axis=0)) < len(Z):
        raise ValueError(
            f"landmarks: of the {len(Z)} points given, only {len(np.unique(Z, axis=0))} are different. Give each once: "
            "np.unique(landmarks, axis=0)."
        )
