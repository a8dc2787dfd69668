"""One pixel for its neighbors: images, dot products and eigenvalues before and after, figure 5 and eq. 26 to 35."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigvalsh
from scipy.stats import spearmanr

from kernelpca.datasets import load_orl
from kernelpca_papers.claims import Claim
from kernelpca_papers.drawing import COLORS, draw_images, new_figure
from kernelpca_papers.experiment import Experiment, Findings, Found, Picture, Setting, Table
from kernelpca_papers.tutorial.images import grouped, resized, rows_of, standardized

DOWN_UP, GROUPED, SHUFFLED = "downscale + upsample", "pixel grouping", "grouping of random pixels"
KINDS = (DOWN_UP, GROUPED, SHUFFLED)
SIDE = 2
FIRST = 10  # eigenvalues
SHOWN = (0, 105, 210)  # images


def pieces(images: int, pairs: int, blocks: int) -> list[dict[str, Any]]:
    """The three ways to group pixels, and blocks of single replacements."""
    ways = [{"kind": kind, "images": images} for kind in KINDS]
    return ways + [
        {"replaced": True, "images": images, "pairs": pairs, "seed": seed, "scaled": scaled}
        for scaled in (False, True)
        for seed in range(blocks)
    ]


def run(images: int, kind: str = "", **replaced: Any) -> dict[str, Any]:
    """Group all pixels, or replace single ones."""
    faces = load_orl()[0][:images]
    if not kind:
        X = rows_of(faces)
        return replace(
            standardized(X) if replaced["scaled"] else X, faces.shape[1:], replaced["pairs"], replaced["seed"]
        )
    return compare(faces, changed(faces, kind))


def changed(faces: np.ndarray, kind: str) -> np.ndarray:
    """(n, h, w) -> (n, h, w): images with a quarter of the values left."""
    n, height, width = faces.shape
    if kind == DOWN_UP:
        return resized(resized(faces, height // SIDE, width // SIDE), height, width)
    if kind == GROUPED:
        return grouped(faces, SIDE)
    order = np.random.default_rng(0).permutation(height * width)
    moved = faces.reshape(n, -1)[:, order].reshape(faces.shape)
    back = np.empty((n, height * width), faces.dtype)
    back[:, order] = grouped(moved, SIDE).reshape(n, -1)
    return back.reshape(faces.shape)


def compare(faces: np.ndarray, other: np.ndarray) -> dict[str, Any]:
    """Return how alike images, dot products and eigenvalues are, and the bounds of eq. 30."""
    A, B = (images.reshape(len(images), -1).astype(np.float64) for images in (faces, other))
    alike = [np.corrcoef(a, b)[0, 1] for a, b in zip(A, B, strict=True)]
    X, Y = rows_of(faces), rows_of(other)
    G, H = X @ X.T, Y @ Y.T
    D = G - H
    values, new = eigvalsh(G)[::-1], eigvalsh(H)[::-1]
    off = np.abs(eigvalsh(D))
    return {
        "alike": alike,
        "mean_face": [np.corrcoef(a, A.mean(axis=0))[0, 1] for a in A],
        "dots": np.linalg.norm(D) / np.linalg.norm(G),
        "change": np.abs(values - new).max(),
        "two_norm": off.max(),
        "frobenius": np.linalg.norm(D),
        "eigenvalues": values[:FIRST],
        "new_eigenvalues": new[:FIRST],
        "drawn": other[[i for i in SHOWN if i < len(other)]],
        "originals": faces[[i for i in SHOWN if i < len(faces)]],
    }


def replace(X: np.ndarray, shape: tuple[int, ...], pairs: int, seed: int) -> dict[str, Any]:
    """(n, d) -> for pairs of pixels a, b: what replacing a by b does to the eigenvalues, and eq. 30 and 35.

    Half of the pairs are neighbors, half are drawn from all pixels.
    """
    rng = np.random.default_rng(seed)
    height, width = shape
    G = X @ X.T
    values = eigvalsh(G)
    near = np.arange(pairs) % 2 == 0
    first = rng.integers(height, size=pairs) * width + rng.integers(width - 1, size=pairs)
    second = np.where(near, first + 1, (first + rng.integers(1, height * width, size=pairs)) % (height * width))
    results = []
    for a, b in zip(X[:, first].T, X[:, second].T, strict=True):
        D = np.outer(a, a) - np.outer(b, b)
        change = np.abs(eigvalsh(G - D) - values).max()
        aa, bb, ab = a @ a, b @ b, a @ b
        formula = np.sqrt(max(aa**2 + bb**2 - 2 * ab**2, 0.0))
        correlation = abs(ab) / np.sqrt(aa * bb)
        results.append((correlation, aa / bb, change, two_norm(aa, bb, ab), formula, np.linalg.norm(D)))
    names = ("correlation", "variances", "change", "two_norm", "formula", "frobenius")
    return {"near": near, "largest": values[-1], **dict(zip(names, np.array(results).T, strict=True))}


def two_norm(aa: float, bb: float, ab: float) -> float:
    """Return the 2-norm of aa' - bb' from three dot products: its eigenvalues are half of s +- sqrt(t)."""
    s, t = aa - bb, max((aa + bb) ** 2 - 4 * ab**2, 0.0)
    return float((abs(s) + np.sqrt(t)) / 2)


def conclude(found: Found) -> Findings:
    """Compare groupings, check bounds, and draw figure 5."""
    rows: list[list[str | float]] = []
    kept = {kind: found.where(kind=kind)[0] for kind in KINDS}
    for kind, one in kept.items():
        ratio = one["new_eigenvalues"] / one["eigenvalues"]
        bounds = [float(one[name] / one["eigenvalues"][0]) for name in ("change", "two_norm", "frobenius")]
        rows.append(
            [kind, float(one["alike"].mean()), float(one["dots"]), f"{ratio.min():.3f} to {ratio.max():.3f}", *bounds]
        )
    rows.append(["the mean face for every image", float(kept[GROUPED]["mean_face"].mean()), 1.0, "0", 1.0, 1.0, "-"])
    ways = Table(
        "A quarter of the values: images, dot products and eigenvalues",
        [
            "way",
            "correlation with the image",
            "dot products, relative error",
            f"first {FIRST} eigenvalues, ratio",
            "largest change",
            "2-norm of D",
            "Frobenius norm of D",
        ],
        rows,
        "Dot products of centered images, error in the Frobenius norm. Changes and norms over the largest eigenvalue.",
    )
    single = {scaled: gather(found, scaled) for scaled in (False, True)}
    return Findings(
        image_claims(kept) + bound_claims(kept, single),
        [ways, near_and_far(single)],
        [*draw(kept), scatter(single)],
        NOTES,
    )


def gather(found: Found, scaled: bool) -> dict[str, np.ndarray]:
    """Join blocks of pairs."""
    blocks = found.where(replaced=True, scaled=scaled)
    joined = {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0] if name != "largest"}
    return {**joined, "largest": blocks[0]["largest"]}


def near_and_far(single: dict[bool, dict[str, np.ndarray]]) -> Table:
    """What replacing one pixel does."""
    rows: list[list[str | float]] = []
    for scaled, pairs in single.items():
        for near in (True, False):
            chosen = pairs["near"] == near
            kind = ("neighbors" if near else "any two pixels") + (", standardized" if scaled else ", centered")
            figures = [float(pairs[name][chosen].mean()) for name in ("correlation", "change", "two_norm", "frobenius")]
            rows.append([kind, int(chosen.sum()), figures[0], *(f / float(pairs["largest"]) for f in figures[1:])])
    return Table(
        "One pixel replaced by another: means",
        ["pairs", "number", "|correlation|", "largest change of an eigenvalue", "2-norm of D", "Frobenius norm of D"],
        rows,
        "Changes and norms over the largest eigenvalue.",
    )


def image_claims(kept: dict[str, dict[str, np.ndarray]]) -> list[Claim]:
    """Figure 5: grouped images look like the original."""
    null = float(kept[GROUPED]["mean_face"].mean())
    claims = [
        Claim(
            f"{kind}: images are similar to the original: mean correlation, beside that of the mean face",
            "figure 5",
            null,
            float(kept[kind]["alike"].mean()),
            "at least",
        )
        for kind in (DOWN_UP, GROUPED)
    ]
    for name, text in (("dots", "dot products"), ("change", "eigenvalues")):
        ratio = max(float(kept[kind][name]) for kind in (DOWN_UP, GROUPED)) / float(kept[SHUFFLED][name])
        claims.append(
            Claim(
                f"Grouping neighbors keeps {text}: the larger error of both ways over that of grouping random pixels",
                "section 4.2",
                1.0,
                ratio,
                "at most",
            )
        )
    return claims


def bound_claims(kept: dict[str, dict[str, np.ndarray]], single: dict[bool, dict[str, np.ndarray]]) -> list[Claim]:
    """Eq. 30 and 35, and what follows for correlated pixels."""
    everything = [*kept.values(), *single.values()]
    first = max(float(np.max(one["change"] / one["two_norm"])) for one in everything)
    second = max(float(np.max(one["two_norm"] / one["frobenius"])) for one in everything)
    formula = max(float(np.max(np.abs(one["formula"] / one["frobenius"] - 1))) for one in single.values())
    rounding = "rounding of eigenvalues near 1e10, and of differences of nearly equal squares"
    claims = [
        Claim(
            "No eigenvalue changes by more than the 2-norm of D: largest ratio",
            "eq. 30",
            1.0,
            first,
            "at most",
            tolerance=1e-6,
            reason=rounding,
        ),
        Claim(
            "The 2-norm of D is at most its Frobenius norm: largest ratio",
            "eq. 30",
            1.0,
            second,
            "at most",
            tolerance=1e-9,
            reason=rounding,
        ),
        Claim(
            "The Frobenius norm of D follows from three entries of XX': largest relative error",
            "eq. 35",
            0.0,
            formula,
            tolerance=1e-6,
            reason=rounding,
        ),
    ]
    for scaled, pairs in single.items():
        near, kind = pairs["near"], "standardized" if scaled else "centered"
        ratio = pairs["change"][near].mean() / pairs["change"][~near].mean()
        claims.append(
            Claim(
                f"Replacing a pixel by its neighbor, highly correlated, alters eigenvalues only slightly ({kind} "
                "pixels): mean change over that for any two pixels",
                "section 4.2",
                1.0,
                float(ratio),
                "at most",
            )
        )
    order = float(spearmanr(single[True]["correlation"], single[True]["change"]).statistic)
    claims.append(
        Claim(
            "The higher the correlation, the less eigenvalues change (standardized pixels): rank correlation of both",
            "eq. 30, 35",
            0.0,
            order,
            "at most",
        )
    )
    return claims


def draw(kept: dict[str, dict[str, np.ndarray]]) -> list[Picture]:
    """Figure 5."""
    rows = {"original": list(255 - kept[GROUPED]["originals"].astype(float))}
    rows |= {kind.replace(" + ", " +\n"): list(255 - one["drawn"].astype(float)) for kind, one in kept.items()}
    rows["grouping of\nrandom pixels"] = rows.pop(SHUFFLED)
    return [
        Picture(
            "grouped",
            draw_images(rows, 1.3),
            "Figure 5 shows a face, made smaller and larger again, and with one pixel for each 2 x 2 pixels: all "
            "alike.",
            "The same for three faces; grouping random pixels, in the last row, destroys them.",
        )
    ]


def scatter(single: dict[bool, dict[str, np.ndarray]]) -> Picture:
    """Change of eigenvalues against correlation."""
    figure, axes = new_figure(1, 2, 9, 3.8, sharey=False)
    for axis, (scaled, pairs) in zip(axes, single.items(), strict=True):
        for near, color, mark, label in ((True, COLORS[0], "o", "neighbors"), (False, COLORS[1], "s", "any two")):
            chosen = pairs["near"] == near
            share = pairs["change"][chosen] / pairs["largest"]
            axis.scatter(pairs["correlation"][chosen], share, s=12, color=color, marker=mark, alpha=0.7, label=label)
        if scaled:
            r = np.linspace(0, 1, 200)
            n2 = pairs["frobenius"].max() / np.sqrt(2 * (1 - pairs["correlation"][pairs["frobenius"].argmax()] ** 2))
            axis.plot(r, n2 * np.sqrt(2 * (1 - r**2)) / pairs["largest"], color=COLORS[6], label="bound of eq. 35")
        axis.set(xlabel="|correlation| of both pixels", title="standardized pixels" if scaled else "centered pixels")
    axes[0].set_ylabel("largest change / largest eigenvalue")
    axes[1].legend()
    return Picture(
        "replaced",
        figure,
        "The paper has no such figure: it concludes from eq. 30 and 35.",
        "Each point is one pixel replaced by another. With equal variances (right) the change falls as the correlation "
        "rises, far below the bound; with different variances (left) changes spread more.",
    )


NOTES = (
    "Eq. 35 is zero only if both pixels have the same variance: s_aa^2 + s_bb^2 - 2 s_ab^2 is (s_aa - s_bb)^2 for "
    "correlation 1. High correlation alone, as the text has it, makes it small for standardized pixels only.",
    "Averages lose some variance, which all eigenvalues show; the top left pixel keeps it, and adds noise.",
)

EXPERIMENT = Experiment(
    name="tutorial/pixel-grouping",
    title="One pixel for its neighbors: images, dot products and eigenvalues",
    source="figure 5, eq. 26 to 35",
    settings=(
        Setting("images", "400 of ORL, 112 x 92, centered", "printed, section 4.2"),
        Setting("small size", "56 x 46", "printed, section 4.2"),
        Setting("group", "2 x 2 pixels, the top left one stands for all", "printed, section 4.2"),
        Setting("resizing", "averages over areas, both ways", "not printed, chosen"),
        Setting("single replacements", "pairs of pixels, half neighbors: 400; quick 100", "not printed, chosen"),
    ),
    null="Grouping random pixels, and the mean face for every image.",
    sizes={
        "full": {"images": 400, "pairs": 100, "blocks": 4},
        "quick": {"images": 400, "pairs": 100, "blocks": 1},
        "tiny": {"images": 50, "pairs": 10, "blocks": 1},
    },
    pieces=pieces,
    run=run,
    conclude=conclude,
    data=("orl_faces.npz",),
    seconds={"full": 6, "quick": 4},
)
