"""Real data sets as arrays."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from kernelpca.datasets.files import find
from kernelpca.extras import require

RECORDINGS = {"a": "ecg4_lead0", "b": "ecg1_lead0", "c": "ecg18_lead1"}


def load_usps() -> tuple[np.ndarray, np.ndarray]:
    """-> (9298, 256), (9298,): handwritten digits as float64 between 0 (paper) and 1 (ink), and which they are.

    The first 7291 are the training rows.
    """
    with np.load(find("usps.npz"), allow_pickle=False) as file:
        return file["X"].astype(np.float64), file["y"]


def load_mnist() -> tuple[np.ndarray, np.ndarray]:
    """-> (60000, 784), (60000,): the training digits of MNIST as uint8, and which they are."""
    with np.load(find("mnist.npz"), allow_pickle=False) as file:
        return file["x_train"].reshape(60_000, 784), file["y_train"]


def load_orl() -> tuple[np.ndarray, np.ndarray]:
    """-> (400, 112, 92), (400,): gray faces as uint8, and whose they are, 1 to 40."""
    with np.load(find("orl_faces.npz"), allow_pickle=False) as file:
        return file["images"], file["subject"]


def load_cifar10() -> tuple[np.ndarray, np.ndarray]:
    """-> (10000, 32, 32, 3), (10000,): the test images of CIFAR-10 as uint8, and what they show."""
    with np.load(find("cifar10_test.npz"), allow_pickle=False) as file:
        return file["images"], file["labels"]


def load_beats(recording: str) -> np.ndarray:
    """-> (beats, 512): normal heart beats of recording "a", "b" or "c" of table A-1 of the ikPCA paper."""
    h5py = require("h5py", "io", "Reading heart beats")
    with h5py.File(find("cpsc_normal_beats.h5")) as file:
        return file[RECORDINGS[recording]][:].T


def load_hands() -> np.ndarray:
    """-> (123, 60, 80): frames of a video of hands opening and closing, as uint8."""
    with np.load(find("hands_video.npz"), allow_pickle=False) as file:
        return file["frames"]


def load_protein() -> sparse.csr_matrix:
    """-> (2871, 357): the validation part of LIBSVM's protein."""
    return sparse.load_npz(find("protein_val.npz")).tocsr()


def load_rcv1() -> sparse.csr_matrix:
    """-> (1747, 47236): a sample of RCV1."""
    return sparse.load_npz(find("rcv1_vw_subset.npz")).tocsr()


def load_reuters() -> sparse.csr_matrix:
    """-> (11069, 8315): news of Reuters-21578."""
    return sparse.load_npz(find("reuters_tick.npz")).tocsr()
