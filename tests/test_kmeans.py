"""Centers of clusters as landmarks, of some rows and of all."""

import numpy as np
import pytest

from kernelpca import KernelPCA
from kernelpca.features import LANDMARKS, KMeans, Nystrom, ParallelKMeans
from kernelpca.features.kmeans import Count, Draw, nearest
from kernelpca.gram import DenseGram
from kernelpca.kernels import RBF


def blobs(n=3000, seed=0):
    """Ten tight clusters in four dimensions, the last of them a hundredth of the rows."""
    rng = np.random.default_rng(seed)
    which = np.minimum(rng.choice(1000, n) // 110, 9)
    return 10 * rng.standard_normal((10, 4))[which] + 0.1 * rng.standard_normal((n, 4))


def within_clusters(X, centers):
    return float(nearest(X, centers)[1].mean())


def test_nearest_is_the_formula():
    rng = np.random.default_rng(0)
    X, C = rng.standard_normal((40, 3)), rng.standard_normal((7, 3))
    D = ((X[:, None] - C) ** 2).sum(axis=2)
    which, distance = nearest(X, C)
    np.testing.assert_array_equal(which, D.argmin(axis=1))
    np.testing.assert_allclose(distance, D.min(axis=1), atol=1e-10)
    np.testing.assert_array_equal(Count(C)(X, 0), np.bincount(D.argmin(axis=1), minlength=7))


def test_draws_belong_to_row_numbers():
    X = blobs()
    draw = Draw(X[:1], seed=5, turn=2, rate=0.001)
    whole = draw(X, 0)
    parts = np.concatenate([draw(X[a:b], a) for a, b in [(0, 1), (1, 700), (700, 2999), (2999, 3000)]])
    np.testing.assert_array_equal(parts, whole)
    assert 0 < len(whole) < len(X)


def test_rows_are_drawn_in_proportion_to_their_distance():
    X = np.repeat([[0.0], [1.0], [2.0]], 20_000, axis=0)
    drawn = Draw(np.zeros((1, 1)), seed=1, turn=0, rate=0.1)(X, 0)
    near, mid, far = (int(((drawn >= a) & (drawn < a + 20_000)).sum()) for a in (0, 20_000, 40_000))
    assert near == 0
    assert mid == pytest.approx(2000, abs=5 * np.sqrt(2000))
    assert far == pytest.approx(8000, abs=5 * np.sqrt(8000))


def test_every_cluster_has_a_center():
    X = blobs()
    centers, numbers = ParallelKMeans().choose(DenseGram(np.eye(1)), X, 10, np.random.default_rng(0))
    assert numbers is None
    assert centers.shape == (10, 4)
    best = np.inf
    for seed in range(5):
        found, _ = KMeans(max_iter=100).choose(DenseGram(np.eye(1)), X, 10, np.random.default_rng(seed))
        best = min(best, within_clusters(X, found))
    assert within_clusters(X, centers) < 1.1 * best


def test_captures_as_much_as_other_landmarks():
    X = blobs(4000)
    ways = {
        way: KernelPCA(8, kernel=RBF(0.02), approximation=Nystrom(40, way)).fit(X) for way in ("kmeans||", "kmeans")
    }
    captured = {way: model.eigenvalues_.sum() for way, model in ways.items()}
    assert captured["kmeans||"] > 0.99 * captured["kmeans"]


def test_far_from_zero():
    X = np.round(blobs() * 64) / 64
    here, there = (
        KernelPCA(3, kernel=RBF(0.3), approximation=Nystrom(30, "kmeans||")).fit(X + off).eigenvalues_
        for off in (0.0, 2.0**30)
    )
    np.testing.assert_allclose(there, here, rtol=0.05)


def test_fewer_different_rows_than_landmarks():
    X = np.repeat(np.arange(6.0)[:, None], 50, axis=0)
    model = KernelPCA(2, kernel=RBF(0.1), approximation=Nystrom(20, "kmeans||")).fit(X)
    assert model.components_.shape[1] <= 6
    same = np.ones((50, 2))
    with pytest.warns(UserWarning, match="no variance"):
        KernelPCA(1, kernel=RBF(0.1), approximation=Nystrom(5, "kmeans||")).fit(same)


@pytest.mark.parametrize("way", ["kmeans", "kmeans||"])
def test_rows_of_numbers_are_needed(way):
    with pytest.raises(ValueError, match="rows of numbers, and a kernel matrix was given"):
        LANDMARKS[way]().select(DenseGram(np.eye(3)), 2, np.random.default_rng(0))
    with pytest.raises(ValueError, match="needs rows of numbers: choose"):
        KernelPCA(1, kernel="spectrum", approximation=Nystrom(2, way)).fit(["abc", "bcd", "cde", "xyz"])
