"""Images as rows: standardized, made smaller or larger, pixels grouped, and random filters of known dimension."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelpca.datasets import load_cifar10
from kernelpca.features.projections import averages

PATCH = 5  # pixels on a side of a random filter
CAT, DOG = 3, 5  # labels of CIFAR-10
FILTERED = {  # grid on a side and channels: as many numbers as the last maps of four networks have, table 3
    "VGG16": (7, 512),
    "DenseNet121": (7, 1024),
    "InceptionV3": (5, 2048),
    "ResNet50": (7, 2048),
}


def standardized(X: Any) -> np.ndarray:
    """(n, d) -> (n, d): every column with mean zero and variance one (z-score); constant columns become zero."""
    Z = np.array(X, dtype=np.float64)
    Z -= Z.mean(axis=0)
    deviation = Z.std(axis=0)
    Z /= np.where(deviation > 0, deviation, 1.0)
    return Z


def resized(images: np.ndarray, height: int, width: int) -> np.ndarray:
    """(n, h, w) -> (n, height, width): each new pixel is the average of the area that it covers."""
    down, across = (averages(*sides).toarray() for sides in zip(images.shape[1:], (height, width), strict=True))
    return down @ np.asarray(images, dtype=np.float64) @ across.T


def grouped(images: np.ndarray, side: int = 2) -> np.ndarray:
    """(n, h, w) -> (n, h, w): the top left pixel of every square of pixels stands for all of them."""
    _, height, width = images.shape
    corners = images[:, ::side, ::side]
    return corners.repeat(side, axis=1).repeat(side, axis=2)[:, :height, :width]


def rows_of(images: np.ndarray) -> np.ndarray:
    """(n, h, w) -> (n, h w): pixels in float64, the mean image taken off."""
    X = images.reshape(len(images), -1).astype(np.float64)
    return X - X.mean(axis=0)


def filtered(images: np.ndarray, grid: int, channels: int, seed: int = 0) -> np.ndarray:
    """(n, h, w, c) -> (n, grid grid channels): random filters of 5 x 5 pixels, rectified, averaged over a grid.

    A network of one layer that was never trained: its answers are sparse before averaging, never negative, and as many
    as wanted. Each patch is taken off its mean, so that filters answer to edges and colors, not to brightness.
    """
    filters = np.random.default_rng(seed).standard_normal((PATCH * PATCH * images.shape[3], channels), np.float32)
    patches = np.lib.stride_tricks.sliding_window_view(images, (PATCH, PATCH), axis=(1, 2))
    n, rows, columns = patches.shape[:3]
    down, across = (averages(side, grid).toarray().astype(np.float32) for side in (rows, columns))
    features = np.empty((n, grid * grid * channels), np.float32)
    for image, found in zip(patches, features, strict=True):
        flat = image.reshape(rows * columns, -1) / np.float32(255)
        flat -= flat.mean(axis=1, keepdims=True)
        maps = np.maximum(flat @ filters, 0).reshape(rows, columns * channels)
        found[:] = (across @ (down @ maps).reshape(grid, columns, channels)).ravel()
    return features


def cats_and_dogs(each: int) -> tuple[np.ndarray, np.ndarray]:
    """-> (2 each, 32, 32, 3), (2 each,): cats and dogs of the test images of CIFAR-10, in turn, and which are dogs."""
    images, labels = load_cifar10()
    chosen = np.stack([np.flatnonzero(labels == label)[:each] for label in (CAT, DOG)], axis=1).ravel()
    return images[chosen], labels[chosen] == DOG
