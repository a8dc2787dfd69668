"""How well random maps keep dot products: figure 6."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.stats import norm, t

from kernelpca.datasets import load_orl
from kernelpca.features import FeatureHashing, GaussianProjection
from kernelpca.metrics import mean_absolute_proportional_error
from kernelpca_papers.claims import NORMAL, Claim
from kernelpca_papers.drawing import COLORS, draw_curves, legend_below, new_figure
from kernelpca_papers.experiment import Experiment, Findings, Found, Picture, Setting, Table
from kernelpca_papers.tutorial.images import FILTERED, cats_and_dogs, filtered

SIZES = (500, 1000, 2000, 3000, 5000)  # q
BLOCKS = 4  # hash functions, where there are several
GAUSS, HASH, HASHES, AS_PRINTED = "Gaussian", "hashing", "4 hash functions", "4 hash functions, factor 1/4"
METHODS = (GAUSS, HASH, HASHES, AS_PRINTED)
ORL = "ORL pixels"
SETS = (ORL, *FILTERED)
BY_DRAWS = "standard errors over draws, leaving out one at a time: three, or as rare for Student's t of so few draws"


def pieces(sets: int, images: int, draws: int, blocks: int, channels: int) -> list[dict[str, Any]]:
    """Each set of features, blocks of draws, Gaussian ones and hash functions apart."""
    return [
        {"data": name, "images": images, "first": block * draws, "draws": draws, "channels": channels, "hashed": hashed}
        for name in SETS[:sets]
        for block in range(blocks)
        for hashed in (False, True)
    ]


def run(data: str, images: int, first: int, draws: int, channels: int, hashed: bool) -> dict[str, Any]:
    """Measure the error of each q over draws: of dot products, and of those of centered rows."""
    X = features(data, images, channels)
    G = X.astype(np.float64) @ X.astype(np.float64).T
    pairs = np.triu_indices(len(X), 1)
    truth = G[pairs], centered(G)[pairs]
    errors: dict[str, list[np.ndarray]] = {}
    for seed in range(first, first + draws):
        for name, q, H in (by_hashing if hashed else by_gauss)(X, seed):
            one = [mean_absolute_proportional_error(t, M[pairs]) for t, M in zip(truth, (H, centered(H)), strict=True)]
            errors.setdefault(f"{name} {q}", []).append(np.array(one))
    cosine = G / np.sqrt(np.outer(np.diag(G), np.diag(G)))
    return {
        **{name: np.array(values) for name, values in errors.items()},
        "mean_for_all": mean_absolute_proportional_error(truth[0], np.full_like(truth[0], truth[0].mean())),
        "expected": np.mean(np.sqrt(2 / np.pi * (1 + cosine[pairs] ** -2.0))),
        "cosine": cosine[pairs].mean(),
        "d": X.shape[1],
    }


def features(data: str, images: int, channels: int = 0) -> np.ndarray:
    """-> (images, d): pixels of faces, or random filters on cats and dogs, float32."""
    if data == ORL:
        faces = load_orl()[0]
        return faces[:: max(len(faces) // images, 1)][:images].reshape(images, -1).astype(np.float32)
    grid, full = FILTERED[data]
    return filtered(cats_and_dogs(images // 2)[0], grid, channels or full)


def described(data: str) -> str:
    """Say what the features are: none of them is a network's."""
    return data if data == ORL else f"random filters (as {data})"


def centered(G: np.ndarray) -> np.ndarray:
    """(n, n) -> (n, n): dot products of the same rows, their mean taken off."""
    means = G.mean(axis=0)
    return G - means - means[:, None] + means.mean()


def by_gauss(X: np.ndarray, seed: int) -> Iterator[tuple[str, int, np.ndarray]]:
    """Yield q and dot products after Gaussian projections.

    Columns are independent, so the largest one is cut into as many smaller ones as it holds.
    """
    most = max(SIZES)
    Y = GaussianProjection().fit(X.shape[1], most, np.random.default_rng(seed)).apply(X).astype(np.float64)
    for q in SIZES:
        for start in range(0, most - q + 1, q):
            Z = Y[:, start : start + q]
            yield GAUSS, q, Z @ Z.T * (most / q)


def by_hashing(X: np.ndarray, seed: int) -> Iterator[tuple[str, int, np.ndarray]]:
    """Yield q and dot products after feature hashing; the factor of eq. 46 divides them by the number once more."""
    for q in SIZES:
        for name, count in ((HASH, 1), (HASHES, BLOCKS)):
            rng = np.random.default_rng([seed, q, count])
            Y = FeatureHashing(count).fit(X.shape[1], q, rng).apply(X).astype(np.float64)
            H = Y @ Y.T
            yield name, q, H
            if count > 1:
                yield AS_PRINTED, q, H / count


def gather(found: Found, data: str, method: str, kind: int = 0) -> list[np.ndarray]:
    """-> for each q (draws,): errors of all draws; of centered rows if kind is 1."""
    blocks = [values for values in found.where(data=data) if f"{method} {SIZES[0]}" in values]
    return [np.concatenate([block[f"{method} {q}"] for block in blocks])[:, kind] for q in SIZES]


def jackknife(statistic: Callable[[np.ndarray], float], draws: int) -> tuple[float, float]:
    """Return a statistic of all draws, and its standard error from leaving out one draw at a time.

    Errors of different q, cut from one draw, are not independent: a draw is left out with all that was cut from it.
    """
    everything = np.arange(draws)
    left_out = np.array([statistic(np.delete(everything, i)) for i in everything]) if draws > 1 else np.full(2, np.nan)
    return statistic(everything), float(np.sqrt((draws - 1) * left_out.var()))


def as_normal(draws: int) -> float:
    """Return what Student's t of so many draws exceeds as rarely as a normal number exceeds three."""
    return float(t.ppf(norm.cdf(NORMAL), max(draws - 1, 1)))


def means(errors: list[np.ndarray], draws: np.ndarray) -> np.ndarray:
    """-> (len(SIZES),): mean errors of some draws; there are as many draws as errors of the largest q."""
    return np.array([e.reshape(len(errors[-1]), -1)[draws].mean() for e in errors])


def slope(errors: list[np.ndarray]) -> tuple[float, float]:
    """Return the slope of log mean error on log q, and its standard error."""
    x = np.log(SIZES)
    x = (x - x.mean()) / np.square(x - x.mean()).sum()
    return jackknife(lambda draws: float(x @ np.log(means(errors, draws))), len(errors[-1]))


def conclude(found: Found) -> Findings:
    """Compare maps, and draw figure 6."""
    claims: list[Claim] = []
    rows: list[list[str | float]] = []
    sets = found.options("data")
    for data in sets:
        one = found.where(data=data)[0]
        name = f"{described(data)}, d = {one['d']}"
        for method in METHODS:
            errors = gather(found, data, method)
            fitted, error = slope(errors)
            rows.append([name, method, *(f"{100 * e.mean():.2f}" for e in errors), f"{fitted:.2f} ± {error:.2f}"])
            if method in (GAUSS, HASH):
                claims += slope_claims(name, method, fitted, error, len(errors[-1]))
        rows.append(
            [name, "theory, Gaussian", *(f"{100 * float(one['expected']) / np.sqrt(q):.2f}" for q in SIZES), "-0.50"]
        )
        rows.append([name, "the mean of all for each", *[f"{100 * float(one['mean_for_all']):.2f}"] * len(SIZES), "0"])
        for method in (GAUSS, HASH):
            middle = [f"{100 * np.median(e):.0f}" for e in gather(found, data, method, 1)]
            rows.append([name, f"{method}, centered rows", *middle, ""])
    claims += [*against_hashing(found, sets), *blocks_claims(found, sets), DEEP]
    table = Table(
        "Mean absolute proportional error of dot products, percent, mean over draws",
        ["features", "map", *(f"q = {q}" for q in SIZES), "slope"],
        rows,
        "Pairs of different images. Slope of the logarithms. Of centered rows, many of whose dot products are near "
        "zero, the median over draws. One number, the mean dot product, for every pair is the null model.",
    )
    return Findings(claims, [table], [draw(found, sets)], NOTES)


def slope_claims(name: str, method: str, fitted: float, error: float, draws: int) -> list[Claim]:
    """The error falls as q rises, like its inverse square root."""
    return [
        Claim(
            f"{name}: the error of {method} falls as q increases: slope of log error on log q",
            "figure 6",
            0.0,
            fitted,
            "at most",
            error=error,
        ),
        Claim(
            f"{name}: the error of {method} falls like 1/sqrt(q): slope of log error on log q",
            "eq. 36 and 40 (derived)",
            -0.5,
            fitted,
            tolerance=error * as_normal(draws),
            reason=BY_DRAWS,
            error=error,
        ),
    ]


def against_hashing(found: Found, sets: list[str]) -> list[Claim]:
    """Gaussian projection beside feature hashing: by one draw, as in the figure, and over all draws."""
    pairs = [(gather(found, data, GAUSS), gather(found, data, HASH)) for data in sets]
    wins = sum(bool(g[0] < h[0]) for gauss, hashed in pairs for g, h in zip(gauss, hashed, strict=True))

    def ratio(draws: np.ndarray) -> float:
        return float(np.exp(np.mean([np.log(means(g, draws) / means(h, draws)) for g, h in pairs])))

    draws = len(pairs[0][0][-1])
    mean_ratio, error = jackknife(ratio, draws)
    return [
        Claim(
            f"Gaussian projection has the smaller error in several cases: of {len(pairs) * len(SIZES)} (features and "
            "q, one draw each), at least three",
            "section 4.5",
            3,
            wins,
            "at least",
        ),
        Claim(
            "Over all draws neither map is the better one: ratio of the mean error of Gaussian projection to that of "
            "feature hashing, geometric mean over features and q",
            "eq. 36 and 40 (derived)",
            1.0,
            mean_ratio,
            tolerance=error * as_normal(draws),
            reason=BY_DRAWS,
            error=error,
        ),
    ]


def blocks_claims(found: Found, sets: list[str]) -> list[Claim]:
    """Eq. 46 with its printed factor."""
    printed = min(float(e.mean()) for data in sets for e in gather(found, data, AS_PRINTED))
    right = max(float(gather(found, data, HASHES)[-1].mean()) for data in sets)
    return [
        Claim(
            f"Several hash functions with the factor 1/l keep dot products: least error with l = {BLOCKS}, beside the "
            f"largest error with 1/sqrt(l) and q = {SIZES[-1]}",
            "eq. 46",
            right,
            printed,
            "at most",
            expected="differ",
            evidence=f"Dot products of l blocks with factor 1/l are 1/l of what they should be: the error is about "
            f"1 - 1/{BLOCKS} whatever q. With 1/sqrt(l) it is that of one hash function.",
        )
    ]


def draw(found: Found, sets: list[str]) -> Picture:
    """Figure 6, a panel for each set of features."""
    figure, axes = new_figure(1, len(sets), max(2.9 * len(sets), 6), 3.6, sharey=True, squeeze=False)
    for axis, data in zip(axes[0], sets, strict=True):
        one = found.where(data=data)[0]
        curves = {m: 100 * np.array([e.mean() for e in gather(found, data, m)]) for m in METHODS}
        draw_curves(axis, SIZES, curves, spread=False)
        theory = 100 * float(one["expected"]) / np.sqrt(SIZES)
        axis.plot(SIZES, theory, color=COLORS[6], linestyle=":", label="theory, Gaussian")
        axis.axhline(
            100 * float(one["mean_for_all"]), color=COLORS[7], linestyle="--", label="the mean of all for each"
        )
        axis.set(xscale="log", yscale="log", xlabel="q", title=f"{described(data)}\nd = {one['d']}")
        axis.set_xticks(SIZES, [str(q) for q in SIZES], rotation=45)
        axis.minorticks_off()
    axes[0, 0].set_yticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
    axes[0, 0].set_ylabel("error of dot products (%)")
    legend_below(figure, axes[0, 0], columns=3)
    return Picture(
        "dot-products",
        figure,
        "Figure 6 shows the error for q = 500 to 5000 under Gaussian projection and feature hashing, for features of "
        "four trained networks: it falls as q rises, and Gaussian projection is better in several cases.",
        "The same for faces and for random filters of the same dimensions: both maps follow 1/sqrt(q) and cannot be "
        "told apart. The printed factor of eq. 46 leaves an error of 75%, whatever q.",
    )


DEEP = Claim(
    "Errors of features of VGG16, DenseNet121, InceptionV3 and ResNet50 on Dogs vs Cats",
    "figure 6, table 3",
    None,
    None,
    expected="not reproducible",
    evidence="Neither the 25,000 images nor the weights of trained networks are among the data files; the text prints "
    "no number. Features of the same dimension stand for them.",
)
NOTES = (
    "Named substitutes: pixels of ORL faces (10,304), and cats and dogs of CIFAR-10's test images seen through random "
    "filters of 5 x 5 pixels, rectified and averaged over 7 x 7 or 5 x 5 places, with the channels of the four "
    "networks: the dimensions of table 3 exactly. They were not trained.",
    "Features that are never negative have a large mean in common: their dot products are mostly its square, so the "
    "error of a draw is mostly one random number, how much that one vector is stretched. Two curves from one draw "
    "each, as in figure 6, do not tell which map is better; means over draws do.",
    "The variance of a dot product after a Gaussian projection is (|x|^2 |y|^2 + (x'y)^2) / q, and after hashing 2 "
    "sum x_i^2 y_i^2 / q less: hashing is never worse on average, and not noticeably better for features as even as "
    "these.",
)

EXPERIMENT = Experiment(
    name="tutorial/dot-products",
    title="How well random maps keep dot products",
    source="figure 6",
    settings=(
        Setting("q", "500, 1000, 2000, 3000, 5000", "printed, section 4.5"),
        Setting("maps", "Gaussian projection, feature hashing", "printed, section 4.5"),
        Setting("hash functions", "1, and 4 with both factors", "not printed, chosen"),
        Setting(
            "d", "10,304; 25,088, 50,176, 51,200, 100,352 (quick: the first two)", "printed, table 3, but for the first"
        ),
        Setting(
            "features",
            "ORL pixels; random filters on cats and dogs",
            "not printed, chosen in place of data not to be had",
        ),
        Setting("images", "100", "not printed, chosen (25,000 in the paper)"),
        Setting("draws", "8 of q = 5000; Gaussian ones are cut into smaller ones", "not printed, chosen"),
        Setting("pairs", "different images, not centered", "not printed, chosen; centered ones in the table"),
    ),
    null="The mean of all dot products in place of each.",
    sizes={
        "full": {"sets": 5, "images": 100, "draws": 4, "blocks": 2, "channels": 0},
        "quick": {"sets": 2, "images": 100, "draws": 4, "blocks": 2, "channels": 0},
        "tiny": {"sets": 2, "images": 10, "draws": 2, "blocks": 1, "channels": 4},
    },
    pieces=pieces,
    run=run,
    conclude=conclude,
    data=("orl_faces.npz", "cifar10_test.npz"),
    seconds={"full": 95, "quick": 15},
)
