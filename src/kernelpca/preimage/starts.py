"""Where iterative methods start: at the reference, at the nearest sample, or at the mean of a few."""

from __future__ import annotations

import numpy as np

from kernelpca.preimage.protocol import Target

NEIGHBORS = 10  # samples whose mean is a start


def nearest_samples(target: Target, which: int = 0) -> np.ndarray:
    """(n, d): for each point the sample that is nearest in feature space, or the next ones."""
    return target.space.samples[target.nearest(which + 1)[:, -1]]


def mean_of_nearest(target: Target, count: int = NEIGHBORS) -> np.ndarray:
    """(n, d): the mean of the samples that are nearest in feature space."""
    samples = target.space.samples
    near = target.nearest(count)
    total = np.zeros((len(near), samples.shape[1]), samples.dtype)
    for column in near.T:
        total += samples[column]
    return total / near.shape[1]
