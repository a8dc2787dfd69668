"""Features that stand for a kernel: explicit maps, landmarks and sketches for data too large for the whole matrix."""

from kernelpca.features.fourier import RandomFourier
from kernelpca.features.kmeans import KMeans, ParallelKMeans
from kernelpca.features.landmark_names import LANDMARKS
from kernelpca.features.landmarks import ColumnNorm, Diagonal, Farthest, Landmarks, Leverage, RPCholesky, Uniform
from kernelpca.features.names import APPROXIMATIONS, as_approximation
from kernelpca.features.nystrom import Nystrom
from kernelpca.features.projections import (
    Downsample,
    FeatureGrouping,
    FeatureHashing,
    GaussianProjection,
    Projection,
    SparseProjection,
)
from kernelpca.features.protocol import ExplicitFeatures, FeatureMap, Features
from kernelpca.features.relu import RandomReLU
from kernelpca.features.sketch import KernelSketch
from kernelpca.features.suggest import suggest_n_features

__all__ = [
    "APPROXIMATIONS",
    "LANDMARKS",
    "ColumnNorm",
    "Diagonal",
    "Downsample",
    "ExplicitFeatures",
    "Farthest",
    "FeatureGrouping",
    "FeatureHashing",
    "FeatureMap",
    "Features",
    "GaussianProjection",
    "KMeans",
    "KernelSketch",
    "Landmarks",
    "Leverage",
    "Nystrom",
    "ParallelKMeans",
    "Projection",
    "RPCholesky",
    "RandomFourier",
    "RandomReLU",
    "SparseProjection",
    "Uniform",
    "as_approximation",
    "suggest_n_features",
]
