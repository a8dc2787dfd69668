"""Rows on which kernels lose digits, and what their kernel matrices truly are: by differences, in extended precision.

Extended precision is that of `numpy.longdouble`: 64 bits and exponents to 10^4932 on x86; `EXTENDED` says whether there
is any.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigvalsh
from scipy.special import gamma as gamma_function
from scipy.special import kve

from kernelpca import KernelPCA
from kernelpca.features import Nystrom
from kernelpca.kernels import (
    RBF,
    AdditiveChiSquare,
    ArcCosine,
    Cauchy,
    ChiSquare,
    Cosine,
    ExponentialChiSquare,
    GeneralizedHistogramIntersection,
    Hellinger,
    HistogramIntersection,
    JensenShannon,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
)
from kernelpca.kernels.algebra import Normalized, Product, Scale, Shift, Sum
from kernelpca.kernels.kernel_rbf import KernelRBF

LONG = np.longdouble
EXTENDED = np.finfo(LONG).eps < 1e-18

# kernels as their formulas have them; rows are extended


def _dots(X, Y):
    return (X[:, None] * Y).sum(-1)


def _distances(X, Y):
    return np.square(X[:, None] - Y).sum(-1)


def _lengths(X):
    sizes = np.abs(X).max(axis=1)
    sizes = np.where(sizes > 0, sizes, 1)
    return sizes * np.sqrt(np.square(X / sizes[:, None]).sum(axis=1))


def _units(X):
    lengths = _lengths(X)
    return X / np.where(lengths > 0, lengths, 1)[:, None]


def _angles(X, Y):
    """Of rows: 2 atan2(|u - v|, |u + v|), which loses nothing near 0 and pi; a right angle to a zero row."""
    U, V = _units(X), _units(Y)
    apart, together = (np.sqrt(np.square(U[:, None] + sign * V).sum(-1)) for sign in (-1, 1))
    none = (_lengths(X) == 0)[:, None] | (_lengths(Y) == 0)
    return np.where(none, LONG(np.pi) / 2, 2 * np.arctan2(apart, together))


def _matern(nu: float, s):
    z = np.sqrt(4 * LONG(nu) * s)
    if nu == 0.5:
        return np.exp(-z)
    if nu in (1.5, 2.5):
        return (1 + z + (z * z / 3 if nu == 2.5 else 0)) * np.exp(-z)
    w = np.minimum(np.maximum(z.astype(float), 1e-150), 700.0)
    values = 2 ** (1 - nu) / gamma_function(nu) * w**nu * kve(nu, w) * np.exp(-w)
    return np.where(z == 0, 1, np.where(z > 700, 0, values)).astype(LONG)


def _where_positive(total, values):
    return np.where(total > 0, values, 0).sum(-1)


def _entropies(X, Y):
    """x log((x + y) / x) + y log((x + y) / y), in which nothing cancels."""
    x, y = np.broadcast_arrays(X[:, None], Y)
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where(x > 0, x * np.log1p(y / x), 0)
        second = np.where(y > 0, y * np.log1p(x / y), 0)
    return (first + second).sum(-1) / np.log(LONG(2))


def _minima(X, Y, alpha=1.0):
    return np.minimum(np.abs(X[:, None]) ** LONG(alpha), np.abs(Y) ** LONG(alpha)).sum(-1)


def true_values(kernel: Kernel, X: np.ndarray, Y: np.ndarray, less_one: bool = False) -> np.ndarray:
    """(n, d), (m, d) -> (n, m): kernel values of a resolved kernel in extended precision; or less one, where known."""
    X, Y = X.astype(LONG), Y.astype(LONG)
    with np.errstate(all="ignore"):
        if less_one and type(kernel) in _LESS_ONE:
            return _LESS_ONE[type(kernel)](kernel, X, Y)
        return _FORMULAS[type(kernel)](kernel, X, Y)


def _chi_squares(X, Y):
    total = X[:, None] + Y
    return _where_positive(total, np.square(X[:, None] - Y) / np.where(total > 0, total, 1))


def _harmonic(X, Y):
    total = X[:, None] + Y
    return _where_positive(total, X[:, None] * Y / np.where(total > 0, total, 1))


def _arc_cosine(kernel, X, Y):
    angles = _angles(X, Y)
    if kernel.order == 0:
        return 1 - angles / LONG(np.pi)
    lengths = np.multiply.outer(_lengths(X), _lengths(Y))
    return lengths * (np.sin(angles) + (LONG(np.pi) - angles) * np.cos(angles)) / LONG(np.pi)


def _gaussian_of(kernel, X, Y):
    """Distances in the inner kernel's feature space; of a linear kernel from differences."""
    inner, gamma = kernel.kernel, LONG(kernel.number())
    if type(inner) is Linear:
        return np.exp(-gamma * _distances(X, Y))
    own = [np.diag(_FORMULAS[type(inner)](inner, rows, rows)) for rows in (X, Y)]
    return np.exp(-gamma * np.maximum(own[0][:, None] + own[1] - 2 * _FORMULAS[type(inner)](inner, X, Y), 0))


def _normalized(kernel, X, Y):
    inner = kernel.kernel
    own = [np.sqrt(np.diag(_FORMULAS[type(inner)](inner, rows, rows))) for rows in (X, Y)]
    lengths = np.multiply.outer(*own)
    return np.where(lengths > 0, _FORMULAS[type(inner)](inner, X, Y) / np.where(lengths > 0, lengths, 1), 0)


def _inner(kernel, X, Y):
    return _FORMULAS[type(kernel)](kernel, X, Y)


def _exponent(kernel, X, Y):
    distances = {
        "euclidean": lambda: np.sqrt(_distances(X, Y)),
        "manhattan": lambda: np.abs(X[:, None] - Y).sum(-1),
    }
    return -LONG(kernel.number()) * distances[kernel.norm]()


def _exponent_of_linear(kernel, X, Y):
    if type(kernel.kernel) is not Linear:
        return np.log(_gaussian_of(kernel, X, Y))
    return -LONG(kernel.number()) * _distances(X, Y)


_LESS_ONE: dict[type, Callable] = {
    RBF: lambda k, X, Y: np.expm1(-LONG(k.number()) * _distances(X, Y)),
    Cauchy: lambda k, X, Y: -1 / (1 + 1 / (LONG(k.number()) * _distances(X, Y))),
    RationalQuadratic: lambda k, X, Y: np.expm1(
        -LONG(k.alpha) * np.log1p(LONG(k.number()) * _distances(X, Y) / LONG(k.alpha))
    ),
    Laplacian: lambda k, X, Y: np.expm1(_exponent(k, X, Y)),
    ExponentialChiSquare: lambda k, X, Y: np.expm1(-LONG(k.number()) * _chi_squares(X, Y)),
    KernelRBF: lambda k, X, Y: np.expm1(_exponent_of_linear(k, X, Y)),
}


_FORMULAS: dict[type, Callable] = {
    RBF: lambda k, X, Y: np.exp(-LONG(k.number()) * _distances(X, Y)),
    Cauchy: lambda k, X, Y: 1 / (1 + LONG(k.number()) * _distances(X, Y)),
    RationalQuadratic: lambda k, X, Y: (1 + LONG(k.number()) * _distances(X, Y) / LONG(k.alpha)) ** -LONG(k.alpha),
    Matern: lambda k, X, Y: _matern(k.nu, LONG(k.number()) * _distances(X, Y)),
    Laplacian: lambda k, X, Y: np.exp(_exponent(k, X, Y)),
    Linear: lambda k, X, Y: _dots(X, Y),
    Polynomial: lambda k, X, Y: (LONG(k.number()) * _dots(X, Y) + LONG(k.coef0)) ** int(k.degree),
    Sigmoid: lambda k, X, Y: np.tanh(LONG(k.number()) * _dots(X, Y) + LONG(k.coef0)),
    Cosine: lambda k, X, Y: _dots(_units(X), _units(Y)),
    ArcCosine: _arc_cosine,
    HistogramIntersection: lambda k, X, Y: _minima(X, Y),
    GeneralizedHistogramIntersection: lambda k, X, Y: _minima(X, Y, k.alpha),
    ChiSquare: lambda k, X, Y: _harmonic(X, Y),
    AdditiveChiSquare: lambda k, X, Y: -_chi_squares(X, Y),
    ExponentialChiSquare: lambda k, X, Y: np.exp(-LONG(k.number()) * _chi_squares(X, Y)),
    Hellinger: lambda k, X, Y: _dots(np.sqrt(X), np.sqrt(Y)),
    JensenShannon: lambda k, X, Y: _entropies(X, Y),
    KernelRBF: _gaussian_of,
    Normalized: _normalized,
    Sum: lambda k, X, Y: _inner(k.k1, X, Y) + _inner(k.k2, X, Y),
    Product: lambda k, X, Y: _inner(k.k1, X, Y) * _inner(k.k2, X, Y),
    Scale: lambda k, X, Y: LONG(k.factor) * _inner(k.kernel, X, Y),
    Shift: lambda k, X, Y: _inner(k.kernel, X, Y) + LONG(k.constant),
}


def true_spectrum(K: np.ndarray, weights: np.ndarray | None, center: bool) -> np.ndarray:
    """(n, n) -> (n,): eigenvalues of the centered, weighted matrix, largest first."""
    n = len(K)
    s = np.ones(n, LONG) if weights is None else weights.astype(LONG) * n / weights.astype(LONG).sum()
    if center:
        w = s / s.sum()
        mean = K @ w
        K = K - mean[:, None] - mean + w @ mean
    K = K * np.sqrt(s)[:, None] * np.sqrt(s)
    size = np.abs(K).max()
    if not size > 0:
        return np.zeros(n)
    return (eigvalsh((K / size).astype(np.float64)) * size).astype(np.float64)[::-1]


# problems


@dataclass
class Problem:
    """A fit, and the parts that it was made of."""

    seed: int
    shape: str
    kernel: Kernel
    X: np.ndarray
    weights: np.ndarray | None
    center: bool
    approximation: Nystrom | None
    k: int

    def __str__(self) -> str:
        return (
            f"seed {self.seed}: {self.kernel!r}, {self.shape} {self.X.shape} {self.X.dtype}"
            f"{'' if self.weights is None else ', weighted'}{'' if self.center else ', not centered'}"
            f"{'' if self.approximation is None else ', landmarks'}"
        )


def _rows(rng: np.random.Generator) -> tuple[str, np.ndarray]:
    """Return rows of one of many unkind shapes, of magnitude one."""
    n, d = int(rng.integers(6, 60)), int(rng.integers(1, 9))
    X = rng.standard_normal((n, d))
    far = 10.0 ** rng.uniform(0, 12)
    shape = str(rng.choice(SHAPES))
    if shape == "offset":
        X += far * rng.standard_normal(d)
    elif shape == "clusters":
        X += far * rng.standard_normal((3, d))[rng.integers(3, size=n)]
    elif shape == "sentinels":
        X[:: int(rng.integers(2, 8))] = far
    elif shape == "sentinel entries":
        X[rng.random((n, d)) < 0.1] = -far
    elif shape == "one row":
        X[int(rng.integers(n))] *= far
    elif shape == "heavy tails":
        X = rng.standard_cauchy((n, d)) ** 3
    elif shape == "magnitudes":
        X *= 10.0 ** rng.uniform(-8, 8, (n, 1))
    elif shape == "twins":
        X[n // 2 :] = X[: n - n // 2]
    elif shape == "near twins":
        X[n // 2 :] = X[: n - n // 2] * (1 + 1e-9 * rng.standard_normal((n - n // 2, d)))
    elif shape == "lattice":
        X = rng.integers(-2, 3, (n, d)) * 1.0
    elif shape == "small spread":
        X = rng.standard_normal(d) + X / far
    elif shape == "a line":
        X = X[:, :1] * rng.standard_normal(d)
    elif shape == "columns":
        X *= 10.0 ** rng.uniform(-6, 6, d)
    elif shape == "zeros":
        X[rng.random(n) < 0.3] = 0.0
    return shape, X


SHAPES = [
    "plain", "offset", "clusters", "sentinels", "sentinel entries", "one row", "heavy tails", "magnitudes", "twins",
    "near twins", "lattice", "small spread", "a line", "columns", "zeros",
]  # fmt: skip


def _kernel(rng: np.random.Generator, X: np.ndarray) -> Kernel:
    """Return any kernel, with a width of the data's size, or of another."""
    bulk = np.square(X - np.median(X, axis=0)).sum(axis=1)
    usual = float(np.median(bulk[bulk > 0])) if (bulk > 0).any() else 1.0
    usual = min(max(usual, 1e-290), 1e290)
    widths: list[float | str] = ["scale", "median", float(10.0 ** rng.uniform(-6, 3)) / usual, 1.0 / usual]
    gamma = widths[int(rng.integers(len(widths)))]
    root = gamma if isinstance(gamma, str) else float(np.sqrt(gamma))
    choices: list[Callable[[], Kernel]] = [
        lambda: RBF(gamma),
        lambda: RBF(gamma),
        lambda: Laplacian(root),
        lambda: Laplacian(root, norm="euclidean"),
        lambda: Matern(float(rng.choice([0.5, 0.8, 1.5, 2.5])), gamma),
        lambda: Cauchy(gamma),
        lambda: RationalQuadratic(float(rng.choice([0.5, 2.0])), gamma),
        Linear,
        lambda: Polynomial(int(rng.integers(1, 4)), gamma, float(rng.choice([0.0, 1.0]))),
        lambda: Sigmoid(gamma, float(rng.choice([-1.0, 0.0, 1.0]))),
        Cosine,
        lambda: ArcCosine(int(rng.integers(2))),
        HistogramIntersection,
        lambda: GeneralizedHistogramIntersection(0.5),
        ChiSquare,
        AdditiveChiSquare,
        lambda: ExponentialChiSquare(root),
        Hellinger,
        JensenShannon,
        lambda: Linear().rbf(gamma),
        lambda: Polynomial(2, gamma).rbf(float(10.0 ** rng.uniform(-2, 2))),
        lambda: Cosine().rbf(float(10.0 ** rng.uniform(-2, 4))),
        lambda: RBF(gamma) + float(rng.uniform(0, 2)) * Laplacian(root),
        lambda: RBF(gamma) * Cauchy(gamma),
        lambda: RBF(gamma) + 1e3,
        lambda: 1e5 * Matern(1.5, gamma),
        lambda: Polynomial(2, gamma).normalize(),
    ]
    return choices[int(rng.integers(len(choices)))]()


def problem(seed: int) -> Problem:
    """Return the problem of this number."""
    rng = np.random.default_rng(seed)
    shape, X = _rows(rng)
    single = bool(rng.random() < 0.4)
    magnitude = 0.0 if rng.random() < 0.5 else float(rng.uniform(-12, 12) if single else rng.uniform(-140, 140))
    limit = 3e38 if single else 1e300
    X = np.clip(X * 10.0**magnitude, -limit, limit).astype(np.float32 if single else np.float64)
    kernel = _kernel(rng, X.astype(np.float64))
    if kernel.domain == "nonnegative":
        X = np.abs(X)
    n = len(X)
    weights = rng.integers(1, 4, n) * rng.random() if rng.random() < 0.25 else None
    whole = Nystrom(landmarks=np.unique(X, axis=0, return_index=True)[1])
    whole = whole if kernel.positive_definite and rng.random() < 0.15 else None
    k = int(rng.integers(1, min(6, n - 1) + 1))
    return Problem(seed, shape, kernel, X, weights, bool(rng.random() < 0.8), whole, k)


@dataclass
class Outcome:
    """What came of a problem: "right", "said" (a certificate not satisfied), "refused" or "wrong", and why."""

    verdict: str
    detail: str = ""


def attempt(p: Problem, tol: float = 1e-4) -> Outcome:
    """Fit, and compare eigenvalues, scores and direct calls with the truth."""
    model = KernelPCA(p.k, kernel=p.kernel, center=p.center, approximation=p.approximation, tol=tol, preimage=None)
    before = p.X.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            Z = model.fit_transform(p.X, sample_weight=p.weights)
            again = model.transform(p.X)
            kernel = model.kernel_
            direct = kernel(p.X, p.X[: len(p.X) // 2 + 1])
        except (ValueError, MemoryError) as error:
            return Outcome("refused", str(error))
    if not np.array_equal(before, p.X):
        return Outcome("wrong", "the input was changed")
    K = true_values(kernel, p.X, p.X)
    eps = float(np.finfo(p.X.dtype).eps)
    certificate, values = model.certificate_, model.eigenvalues_
    source = true_values(kernel, p.X, p.X, less_one=p.center)
    true = true_spectrum(source, p.weights, p.center)[: len(values)]
    if not np.isfinite(true).all():
        return Outcome("refused", "the truth is no number")
    first = float(np.abs(true).max(initial=0.0))
    true = np.where((true < 0) & (true > -1e-5 * first), 0.0, true)  # counted as zero, as in scikit-learn
    zero = (2e-7 if p.X.dtype == np.float32 else 1e-12) * first
    unknown = 16 * len(K) * float(np.finfo(LONG).eps * np.abs(source).max()) * (3 if p.weights is not None else 1)
    allowed = 2 * tol * np.abs(true) + 2 * certificate.rounding + zero + unknown
    off = np.abs(values - true)
    if p.approximation is not None:
        allowed = allowed + 1e3 * np.sqrt(eps) * first  # landmarks that are hardly apart are one
    if not (off <= allowed).all():
        if not certificate.satisfied:
            return Outcome("said", f"grade {certificate.grade}")
        j = int(np.argmax(off / allowed))
        return Outcome(
            "wrong", f"eigenvalue {j} is {values[j]:.6g}, truly {true[j]:.6g}, rounding {certificate.rounding:.1e}"
        )
    if not certificate.satisfied:
        return Outcome("said", f"grade {certificate.grade}, and right")
    scale = np.abs(Z).max(initial=0.0)
    roots = np.sqrt(np.maximum(np.abs(values), max(certificate.rounding, 1e-300)))
    known = np.maximum(1e-3 * scale, 4 * certificate.rounding / roots)
    if p.approximation is None and scale > 0 and not (np.abs(again - Z) <= known).all():
        return Outcome("wrong", f"transform differs from fit_transform by {np.abs(again - Z).max():.2g} of {scale:.2g}")
    part = direct.shape[1]
    lengths = np.sqrt(np.abs(np.diag(K))).astype(np.float64)
    size = np.multiply.outer(lengths, lengths[:part])
    if not p.kernel.positive_definite:
        size = np.maximum(size, float(np.abs(K).max()))
    loose = 1e3 * eps * size + 2 * kernel.rounding(p.X, p.X.dtype) + float(np.finfo(p.X.dtype).tiny)
    wrong = ~(np.abs(direct - K[:, :part].astype(np.float64)) <= loose)
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        return Outcome("wrong", f"kernel(X, Y)[{i}, {j}] is {direct[i, j]:.9g}, truly {float(K[i, j]):.9g}")
    return Outcome("right")
