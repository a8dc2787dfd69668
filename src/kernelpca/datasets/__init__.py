"""Data sets: real ones, found on this machine or downloaded, and checked; and made ones."""

from kernelpca.datasets.files import CorruptedData, DataError, MissingData, find
from kernelpca.datasets.generators import gaussians, half_circle, s_curve, square
from kernelpca.datasets.loaders import (
    load_beats,
    load_cifar10,
    load_hands,
    load_mnist,
    load_orl,
    load_protein,
    load_rcv1,
    load_reuters,
    load_usps,
)

__all__ = [
    "CorruptedData",
    "DataError",
    "MissingData",
    "find",
    "gaussians",
    "half_circle",
    "load_beats",
    "load_cifar10",
    "load_hands",
    "load_mnist",
    "load_orl",
    "load_protein",
    "load_rcv1",
    "load_reuters",
    "load_usps",
    "s_curve",
    "square",
]
