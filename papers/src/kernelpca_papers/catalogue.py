"""Every experiment by name."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module

from kernelpca_papers.experiment import Experiment

PAPERS = {
    "ikpca": "Gedon, Ribeiro, Wahlström and Schön (2023): Invertible kernel PCA with random Fourier features",
    "digest": "García-González, Huerta, Zlotnik and Díez (2021): A kernel PCA digest with a new backward mapping "
    "strategy",
    "mika-analysis": "Baldassarre, Brodard, Fanghella and Rodés i Guirao: Analysis of Mika et al. (1998), "
    "Kernel PCA and de-noising in feature spaces",
    "dualization": "Tonin, Lambert, Patrinos and Suykens (2023): Extending kernel PCA through dualization",
    "tutorial": "Marukatat (2022): Tutorial on PCA and approximate PCA and approximate kernel PCA",
}
EXPERIMENTS = {  # modules of each paper, in the order of the paper
    "ikpca": ("s_curve", "usps_ridge", "usps_features", "usps_noise", "usps_images", "ecg", "cost"),
    "digest": ("diagonalizations", "centering", "video", "enlarged_video"),
    "mika-analysis": ("gaussians", "half_circle", "square", "usps_denoising", "usps_reconstruction"),
    "dualization": ("training_time", "decay", "components", "robustness", "kappa", "sparsity", "epsilon"),
    "tutorial": (
        "spectra",
        "outlier_digit",
        "small_sample",
        "eigenfaces",
        "pixel_grouping",
        "dot_products",
        "approximate_pca",
        "approximate_kernel_pca",
        "complexity",
        "kernel_catalogue",
        "histogram_kernels",
        "string_kernels",
        "fisher_kernel",
    ),
}


def names() -> list[str]:
    """List every experiment, paper by paper."""
    return [f"{paper}/{module.replace('_', '-')}" for paper, modules in EXPERIMENTS.items() for module in modules]


def load(name: str) -> Experiment:
    """Return the experiment of that name."""
    paper, _, module = name.partition("/")
    found = import_module(f"kernelpca_papers.{paper.replace('-', '_')}.{module.replace('-', '_')}")
    return found.EXPERIMENT


def select(wanted: Sequence[str]) -> list[Experiment]:
    """Return experiments by name; a paper's name stands for all of its experiments."""
    known = names()
    chosen: dict[str, None] = {}
    for name in wanted:
        matches = [one for one in known if one == name or one.startswith(f"{name}/")]
        if not matches:
            raise ValueError(_unknown(name, known))
        chosen.update(dict.fromkeys(matches))
    return [load(name) for name in chosen]


def _unknown(name: str, known: list[str]) -> str:
    short = {one.partition("/")[2]: one for one in known}
    near = get_close_matches(name, [*known, *PAPERS], 3, 0.5)
    near += [short[match] for match in get_close_matches(name.rpartition("/")[2], short, 3, 0.5)]
    text = f"There is no experiment {name!r}."
    if near:
        text += f" Did you mean {' or '.join(dict.fromkeys(near))}?"
    return f"{text} `kernelpca reproduce --list` lists all {len(known)}."
