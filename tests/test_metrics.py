"""Measures of likeness, against their formulas."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelpca.metrics import (
    eigenvalue_difference,
    eigenvector_similarity,
    mean_absolute_proportional_error,
    principal_angles,
)


def test_proportional_error_is_a_mean_over_entries_that_are_not_zero():
    assert mean_absolute_proportional_error([[2.0, 0.0], [-4.0, 1.0]], [[1.0, 5.0], [-5.0, 1.0]]) == pytest.approx(0.25)
    with pytest.raises(ValueError, match="All exact values are zero"):
        mean_absolute_proportional_error([0.0], [1.0])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.1, 10), st.sampled_from([-1.0, 1.0]))
def test_similarity_forgets_length_and_sign(seed, factor, sign):
    rng = np.random.default_rng(seed)
    U, V = rng.standard_normal((2, 20, 3))
    similarity = eigenvector_similarity(U, V)
    for j in range(3):
        u, v = U[:, j], V[:, j]
        assert similarity[j] == pytest.approx(abs(u @ v) / np.sqrt((u @ u) * (v @ v)))
    np.testing.assert_allclose(eigenvector_similarity(U, factor * sign * V), similarity)
    np.testing.assert_allclose(eigenvector_similarity(U, -U), 1)
    assert eigenvector_similarity(U, 0 * V).sum() == 0


def test_similarity_of_huge_tiny_and_single_vectors():
    V = np.random.default_rng(0).standard_normal((5, 2))
    np.testing.assert_allclose(eigenvector_similarity(1e200 * V, 1e-200 * V), 1)
    assert eigenvector_similarity([1.0, 0.0], [1.0, 1.0]) == pytest.approx(np.sqrt(0.5))


def test_differences_of_eigenvalues():
    np.testing.assert_allclose(
        eigenvalue_difference([4.0, -2.0, 0.0, 0.0], [3.0, -3.0, 0.0, 1.0]), [0.25, 0.5, 0, np.inf]
    )


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_angles_do_not_depend_on_the_basis(seed):
    rng = np.random.default_rng(seed)
    A, B = rng.standard_normal((2, 10, 3))
    angles = principal_angles(A, B)
    np.testing.assert_allclose(principal_angles(A @ rng.standard_normal((3, 3)), B), angles, atol=1e-5)
    cosines = np.linalg.svd(np.linalg.qr(A)[0].T @ np.linalg.qr(B)[0])[1]
    np.testing.assert_allclose(np.cos(angles), cosines, atol=1e-9)


def test_shapes_that_do_not_match_are_told():
    with pytest.raises(ValueError, match="both must have the same"):
        eigenvalue_difference([1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="columns of one length"):
        principal_angles(np.eye(3), np.eye(4))
