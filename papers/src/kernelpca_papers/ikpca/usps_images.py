"""Digits and what each method makes of them: figures 4 and A-7."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelpca_papers.claims import Claim
from kernelpca_papers.drawing import draw_images
from kernelpca_papers.experiment import Experiment, Findings, Found, Picture, Setting, Table
from kernelpca_papers.ikpca.digits import (
    FEATURES,
    KPCA_GAMMA,
    KPCA_RIDGE,
    MEAN,
    SETTINGS,
    SIDE,
    TEST,
    TINY,
    TRAIN,
    fit,
    labels,
    noisy_digits,
)
from kernelpca_papers.ikpca.errors import SIMILAR, WHY_SIMILAR
from kernelpca_papers.ikpca.methods import by_kpca, by_pca, by_ridges, mse

NOISES = (0.25, 0.5)
PRINTED = 1.3  # ridge of ikPCA
RIDGES = {0.25: (PRINTED,), 0.5: (0.25, 0.5, 1.0, PRINTED, 1.6, 2.0, 3.0)}
COMPONENTS = (10, 15, 20, 30, 45, 65, 100)
KPCA, PCA, IKPCA = "kPCA+SL", "PCA", "ikPCA"
METHODS = (PCA, KPCA, IKPCA)


def pieces(features: int, train: int, test: int) -> list[dict[str, Any]]:
    """One run with each noise."""
    return [{"noise": noise, "features": features, "train": train, "test": test} for noise in NOISES]


def run(noise: float, features: int, train: int, test: int) -> dict[str, Any]:
    """Denoise the test images; keep one of each digit with the best settings of each method."""
    X, Y, truth = noisy_digits(0, noise, train, test)
    ks = [k for k in COMPONENTS if k < train]
    inverted = by_ridges(fit(X, max(ks), 0, features), Y, ks, RIDGES[noise])
    tried = {
        PCA: {(k, 0.0): answer for k, answer in zip(ks, by_pca(X, Y, ks), strict=True)},
        KPCA: {
            (k, KPCA_RIDGE): answer for k, answer in zip(ks, by_kpca(X, Y, KPCA_GAMMA, KPCA_RIDGE, ks), strict=True)
        },
        IKPCA: {(k, ridge): answer for ridge in RIDGES[noise] for k, answer in zip(ks, inverted[ridge], strict=True)},
    }
    first = np.array([np.flatnonzero(labels(0, train, test) == digit)[0] for digit in range(10)])
    found: dict[str, Any] = {
        "clean": truth[first],
        "noisy": Y[first],
        f"{MEAN} error": mse(X.mean(axis=0), truth),
        "noisy error": mse(Y, truth),
        MEAN: np.tile(X.mean(axis=0), (10, 1)),
    }
    for method, answers in tried.items():
        errors = {setting: mse(answer, truth) for setting, answer in answers.items()}
        setting = min(errors, key=errors.__getitem__)
        found |= {method: answers[setting][first], f"{method} setting": setting, f"{method} error": errors[setting]}
    return found


def conclude(found: Found) -> Findings:
    """Draw the images, and compare the errors."""
    rows: list[list[str | float]] = []
    for noise in NOISES:
        values = found.where(noise=noise)[0]
        rows += [[noise, name, f"{float(values[f'{name} error']):.4f}", "", ""] for name in ("noisy", MEAN)]
        for method in METHODS:
            k, ridge = values[f"{method} setting"]
            strength = "" if method == PCA else f"{ridge:g}"
            rows.append([noise, method, f"{float(values[f'{method} error']):.4f}", f"{k:.0f}", strength])
    table = Table(
        "Mean squared error over all test images, one run",
        ["noise", "method", "mean squared error", "components", "ridge"],
        rows,
        "The paper prints no numbers for these figures.",
    )
    claims = [similar(found, noise, method) for noise in NOISES for method in (KPCA, PCA)]
    return Findings(claims, [table], [draw(found, noise) for noise in NOISES], [NOTE])


def similar(found: Found, noise: float, method: str) -> Claim:
    """All methods give comparable images; what can be measured is the error."""
    values = found.where(noise=noise)[0]
    return Claim(
        f"All methods denoise comparably: error of ikPCA over that of {method}, noise of {noise}",
        "figures 4 and A-7, section IV.B, appendix B",
        1.0,
        float(values[f"{IKPCA} error"] / values[f"{method} error"]),
        tolerance=SIMILAR,
        reason=WHY_SIMILAR,
        expected="differ" if (noise, method) in DIFFER else "pass",
        evidence=DIFFER.get((noise, method), ""),
    )


def draw(found: Found, noise: float) -> Picture:
    """Rows of images, one for each method."""
    values = found.where(noise=noise)[0]
    rows = {"clean": values["clean"], f"noise of {noise}": values["noisy"]}
    rows |= {method: values[method] for method in METHODS} | {MEAN: values[MEAN]}
    figure = draw_images({name: [image.reshape(SIDE, SIDE) for image in images] for name, images in rows.items()})
    parts = ", ".join(f"{name} {float(values[f'{name} error']):.4f}" for name in METHODS)
    return Picture(
        f"noise_{noise:g}".replace(".", "_"),
        figure,
        "Figures 4 and A-7 show digits with noise and what each method makes of them: comparable images.",
        f"Errors over all test images: {parts}. The images of the three methods are of one kind.",
    )


DIFFER = {
    (
        0.25,
        KPCA,
    ): "kPCA+SL goes on to 0.0254 with 100 components, where ikPCA with the printed ridge has 0.0287 with 65: "
    "13% more. With 30 components, beyond the range of the published script, they have 0.0338 and 0.0330. The images "
    "cannot be told apart by eye.",
    (0.5, PCA): "PCA at its best, 20 components, has 0.0608 and ikPCA 0.0522: 14% less, of which about half comes from "
    "shrinking answers towards the mean, which PCA can do as well (ikpca/usps-ridge).",
}
NOTE = "Each method has the number of components, and ikPCA at noise 0.5 the ridge, with the least error of this run."

EXPERIMENT = Experiment(
    name="ikpca/usps-images",
    title="Digits and what each method makes of them",
    source="figures 4 and A-7, section IV.B, appendix B",
    settings=(
        *SETTINGS,
        Setting("noise", "0.25 for figure 4; 0.5 for the second panel of figure A-7", "printed; not printed, chosen"),
        Setting("ridge of ikPCA", "1.3 with noise 0.25", "printed, section IV.B"),
        Setting("ridge of ikPCA with noise 0.5", "the best of 7 from 0.25 to 3", "not printed, by the test error"),
        Setting("kPCA+SL", "gamma 5e-3, ridge 1e-2", "printed, section IV.B, for noise 0.5; used for both"),
        Setting("components", "the best of 7 from 10 to 100 for each method", "printed as a rule, section IV.B"),
        Setting("images shown", "the first test image of each digit", "not printed, chosen"),
    ),
    null="The training mean and the noisy images stand beside the methods.",
    sizes={
        "full": {"features": FEATURES, "train": TRAIN, "test": TEST},
        "quick": {"features": FEATURES, "train": TRAIN, "test": TEST},
        "tiny": {**TINY, "test": 100},
    },
    pieces=pieces,
    run=run,
    conclude=conclude,
    data=("usps.npz",),
    seconds={"full": 10, "quick": 10},
)
