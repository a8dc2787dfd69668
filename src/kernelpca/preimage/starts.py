"""Where iterative methods start: at the reference, at the nearest sample, or at the mean of a few."""

from __future__ import annotations

import numpy as np

from kernelpca.preimage.protocol import Target
from kernelpca.preimage.weight_rules import squared_score_distances

NEIGHBORS = 10  # samples whose mean is a start


def nearest_samples(target: Target) -> np.ndarray:
    """(n, d): for each point the sample that is nearest in feature space."""
    return target.space.samples[target.nearest(1)[:, 0]]


def nearest_by_scores(target: Target) -> np.ndarray:
    """(n, d): for each point the sample whose scores are nearest."""
    return target.space.samples[squared_score_distances(target, np.ones(target.Z.shape[1])).argmin(axis=1)]


def mean_of_nearest(target: Target) -> np.ndarray:
    """(n, d): the mean of the samples that are nearest in feature space."""
    samples = target.space.samples
    near = target.nearest(NEIGHBORS)
    total = np.zeros((len(near), samples.shape[1]), samples.dtype)
    for column in near.T:
        total += samples[column]
    return total / near.shape[1]
