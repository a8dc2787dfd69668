"""Where iterative methods start: at the reference, at the nearest sample, or at the mean of a few."""

from __future__ import annotations

import numpy as np

from kernelpca.kernels.products import squared_distances
from kernelpca.preimage.protocol import Target

NEIGHBORS = 10  # samples whose mean is a start


def nearest_samples(target: Target) -> np.ndarray:
    """(n, d): for each point the sample that is nearest in feature space."""
    return target.space.samples[target.nearest(1)[:, 0]]


def nearest_by_scores(target: Target) -> np.ndarray:
    """(n, d): for each point the sample whose scores are nearest."""
    D = np.empty((len(target), len(target.space.samples)), target.Z.dtype)
    squared_distances(target.Z, target.space.scores.astype(target.Z.dtype, copy=False), D)
    return target.space.samples[D.argmin(axis=1)]


def mean_of_nearest(target: Target) -> np.ndarray:
    """(n, d): the mean of the samples that are nearest in feature space."""
    samples = target.space.samples
    near = target.nearest(NEIGHBORS)
    total = np.zeros((len(near), samples.shape[1]), samples.dtype)
    for column in near.T:
        total += samples[column]
    return total / near.shape[1]
