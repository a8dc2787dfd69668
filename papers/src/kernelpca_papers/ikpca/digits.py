"""Digits with noise, and ikPCA of them with the settings that the paper prints."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import train_test_split

from kernelpca import InvertibleKernelPCA
from kernelpca.datasets import load_usps
from kernelpca_papers.experiment import Setting

SIDE = 16  # pixels
GAMMA, FEATURES = 1e-4, 30_000  # of ikPCA
KPCA_GAMMA, KPCA_RIDGE = 5e-3, 1e-2  # of kPCA+SL
TRAIN, TEST = 1000, 400
MEAN = "training mean"
TINY = {"features": 600, "train": 120, "test": 40}  # for the smallest size

SETTINGS = (
    Setting("images", "USPS, 16 x 16, 0 for paper to 1 for ink", "printed, section IV.B; scale not printed"),
    Setting("split", "1000 images to train on, 400 to test, equally many of each digit", "printed, section IV.B"),
    Setting("seeds of the splits", "42, 43, ...", "not printed, those of the published script"),
    Setting("noise", "on training and test images; the clean test images are the truth", "printed, section IV"),
    Setting("gamma and number of random features of ikPCA", "1e-4 and 30,000", "printed, section IV.B"),
    Setting("random features", "drawn anew for each run", "not printed, chosen so that their spread is in ours"),
    Setting("precision", "single", "not printed, chosen for speed: errors agree with double precision to 1e-6"),
)


def noisy_digits(
    run: int, noise: float, train: int = TRAIN, test: int = TEST
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """-> (train, 256), (test, 256), (test, 256): images to train on and to test with noise, and the latter without."""
    images, digits = load_usps()
    T, truth = train_test_split(images, stratify=digits, random_state=42 + run, train_size=train, test_size=test)
    rng = np.random.default_rng([run, round(1000 * noise)])
    X, Y = (clean + rng.normal(0, noise, clean.shape) for clean in (T, truth))
    return X.astype(np.float32), Y.astype(np.float32), truth.astype(np.float32)


def labels(run: int, train: int = TRAIN, test: int = TEST) -> np.ndarray:
    """-> (test,): which digits the test images of a run are."""
    digits = load_usps()[1]
    return train_test_split(digits, stratify=digits, random_state=42 + run, train_size=train, test_size=test)[1]


def fit(X: np.ndarray, components: int, run: int, features: int = FEATURES) -> InvertibleKernelPCA:
    """Fit ikPCA with the printed gamma."""
    return InvertibleKernelPCA(components, gamma=GAMMA, n_features=features, random_state=run).fit(X)


def strength(ridge: float, features: int = FEATURES) -> float:
    """Return the ridge that does with so many features what `ridge` does with 30,000: W'W is about 2 gamma r I."""
    return ridge * features / FEATURES
