"""What every eigensolver must do. A new one gives itself, and inherits all."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from kernelpca.gram import CenteredGram, DenseGram, LowRankGram, TiledGram
from kernelpca.kernels import RBF
from kernelpca.solvers import IndefiniteKernelWarning
from reference import jacobi

TIGHT = 1e-10


def with_spectrum(values, seed=0):
    """A symmetric matrix with the given eigenvalues, and its eigenvectors."""
    values = np.asarray(values, dtype=float)
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values), len(values))))[0]
    K = Q * values @ Q.T
    return (K + K.T) / 2, Q


def span_distance(U, V):
    """The sine of the largest angle between two subspaces."""
    return np.linalg.norm(U - V @ (V.T @ U), 2)


class SolverContract:
    """Subclass, and give a fixture `solver`."""

    def test_equals_the_jacobi_method(self, solver):
        rng = np.random.default_rng(1)
        A = RBF(0.3)(rng.standard_normal((14, 3)))
        values, vectors = jacobi(A)
        solution = solver.solve(DenseGram(A), 2, tol=TIGHT)
        np.testing.assert_allclose(solution.values, values[:2], rtol=1e-9)
        np.testing.assert_allclose(np.abs(solution.vectors.T @ vectors[:, :2]), np.eye(2), atol=1e-7)

    @pytest.mark.parametrize("k", [1, 3, 8])
    def test_equals_lapack(self, solver, k):
        K, Q = with_spectrum(0.8 ** np.arange(120))
        solution = solver.solve(DenseGram(K), k, tol=TIGHT)
        np.testing.assert_allclose(solution.values, 0.8 ** np.arange(k), rtol=1e-9)
        assert span_distance(solution.vectors, Q[:, :k]) < 1e-7
        np.testing.assert_allclose(solution.products, K @ solution.vectors, atol=1e-12)
        np.testing.assert_allclose(solution.vectors.T @ solution.vectors, np.eye(k), atol=1e-10)
        assert solution.certificate.satisfied
        assert solution.certificate.lower <= (0.8 ** np.arange(k)).sum() <= solution.certificate.upper

    def test_works_on_tiles(self, solver):
        X = np.random.default_rng(0).standard_normal((150, 3))
        solution = solver.solve(CenteredGram(TiledGram(RBF(0.1), X)), 3, tol=TIGHT)
        truth = np.linalg.eigvalsh(CenteredGram(DenseGram(RBF(0.1)(X))).dense())[::-1][:3]
        np.testing.assert_allclose(solution.values, truth, rtol=1e-9)

    def test_signs_are_fixed(self, solver):
        K, _ = with_spectrum(0.7 ** np.arange(100))
        solution = solver.solve(DenseGram(K), 4, tol=TIGHT)
        largest = np.abs(solution.vectors).argmax(axis=0)
        assert (solution.vectors[largest, range(4)] > 0).all()

    def test_same_answer_twice(self, solver):
        K, _ = with_spectrum(0.7 ** np.arange(100))
        first, second = (solver.solve(DenseGram(K), 4) for _ in range(2))
        np.testing.assert_array_equal(first.vectors, second.vectors)

    def test_algebraically_largest_first(self, solver):
        values = np.concatenate([[5, 4, 3], 0.5 ** np.arange(1, 98), [-2.0, -3.0]])
        K, _ = with_spectrum(values)
        if solver.needs_definite:
            with pytest.raises(ValueError, match="needs a positive semi-definite matrix"):
                solver.solve(DenseGram(K - 2.5 * np.eye(len(K))), 3, tol=1e-8)
            return
        solution = solver.solve(DenseGram(K), 3, tol=1e-8)
        np.testing.assert_allclose(solution.values, [5, 4, 3], rtol=1e-7)

    @pytest.mark.parametrize("indefinite", ["warn", "raise", "clip", "keep"])
    def test_negative_eigenvalues(self, solver, indefinite):
        K, _ = with_spectrum([3.0, -1.0, 2.0, -2.0])
        solver = clone(solver).set_params(indefinite=indefinite)
        if indefinite == "raise":
            with pytest.raises(ValueError, match=r"significant negative eigenvalues \(0.33 of the largest\)"):
                solver.solve(DenseGram(K), 3, tol=TIGHT)
            return
        if indefinite == "warn":
            with pytest.warns(IndefiniteKernelWarning, match="Ask for fewer components"):
                solution = solver.solve(DenseGram(K), 3, tol=TIGHT)
        else:
            solution = solver.solve(DenseGram(K), 3, tol=TIGHT)
        np.testing.assert_allclose(solution.values, [3, 2, 0 if indefinite == "clip" else -1], atol=1e-9)

    def test_clustered_components_are_named(self, solver):
        values = np.concatenate([[9.0, 4.0, 4.0, 4.0, 2.0], 0.5 ** np.arange(95)])
        K, Q = with_spectrum(values)
        solution = solver.solve(DenseGram(K), 5, tol=1e-9)
        assert solution.certificate.clusters == ((1, 2, 3),)
        assert span_distance(solution.vectors[:, 1:4], Q[:, 1:4]) < 1e-6
        assert "1, 2, 3 are too close together" in str(solution.certificate)

    def test_a_cluster_cut_by_k_is_named(self, solver):
        K, _ = with_spectrum(np.concatenate([[9.0, 4.0, 4.0, 2.0], 0.5 ** np.arange(96)]))
        solution = solver.solve(DenseGram(K), 2, tol=1e-8)
        assert solution.values[1] == pytest.approx(4.0)

    def test_rank_deficient(self, solver):
        F = np.random.default_rng(0).standard_normal((100, 3))
        solution = solver.solve(LowRankGram(F), 5, tol=TIGHT)
        truth = np.linalg.eigvalsh(F.T @ F)[::-1]
        np.testing.assert_allclose(solution.values, [*truth, 0, 0], atol=1e-9)
        assert np.isfinite(solution.vectors).all()
        assert solution.certificate.satisfied

    def test_zero_matrix(self, solver):
        solution = solver.solve(DenseGram(np.zeros((60, 60))), 2)
        np.testing.assert_array_equal(solution.values, 0.0)
        assert np.isfinite(solution.vectors).all()

    def test_all_eigenpairs(self, solver):
        K, _ = with_spectrum(np.arange(12, 0, -1))
        solution = solver.solve(DenseGram(K), 12, tol=TIGHT)
        np.testing.assert_allclose(solution.values, np.arange(12, 0, -1), rtol=1e-9)

    def test_tol_zero_means_machine_precision(self, solver):
        K, _ = with_spectrum(0.5 ** np.arange(100))
        solution = solver.solve(DenseGram(K), 3, tol=0)
        np.testing.assert_allclose(solution.values, [1, 0.5, 0.25], rtol=1e-13)
        assert solution.certificate.satisfied

    def test_float32(self, solver):
        K, _ = with_spectrum(0.7 ** np.arange(100))
        solution = solver.solve(DenseGram(K.astype(np.float32)), 4)
        np.testing.assert_allclose(solution.values, 0.7 ** np.arange(4), rtol=1e-5)
        assert solution.vectors.dtype == np.float32
        assert solution.certificate.satisfied

    def test_the_matrix_is_not_modified(self, solver):
        K, _ = with_spectrum(0.7 ** np.arange(100))
        before = K.copy()
        solver.solve(DenseGram(K), 4)
        np.testing.assert_array_equal(K, before)

    def test_evidence(self, solver):
        K, _ = with_spectrum(0.9 ** np.arange(100))
        solution = solver.solve(DenseGram(K), 4, tol=1e-3)
        certificate = solution.certificate
        residuals = np.linalg.norm(K @ solution.vectors - solution.vectors * solution.values, axis=0)
        np.testing.assert_allclose(certificate.residuals, residuals, atol=1e-14)
        assert certificate.relative_residual <= 1e-3
        assert certificate.orthogonality_loss < 1e-10
        assert certificate.passes >= 1
        assert certificate.seconds > 0
        assert certificate.failure_probability == 0
        assert str(certificate).startswith("4 components")

    def test_start_and_callback_are_accepted(self, solver):
        K, _ = with_spectrum(0.7 ** np.arange(100))
        cold = solver.solve(DenseGram(K), 4, tol=1e-6)
        events = []
        warm = solver.solve(DenseGram(K), 4, tol=1e-6, start=cold.vectors, callback=events.append)
        assert warm.certificate.passes <= cold.certificate.passes
        np.testing.assert_allclose(warm.values, cold.values, rtol=1e-6)
        assert all(event.wanted == 4 and event.passes >= 1 for event in events)

    def test_bad_questions(self, solver):
        gram = DenseGram(np.eye(4))
        with pytest.raises(ValueError, match="between 1 and 4 are possible"):
            solver.solve(gram, 5)
        with pytest.raises(ValueError, match="between 1 and 4 are possible"):
            solver.solve(gram, 0)
        with pytest.raises(ValueError, match="tol must be a number from 0"):
            solver.solve(gram, 2, tol=-1.0)
        with pytest.raises(ValueError, match="choose 'warn'"):
            clone(solver).set_params(indefinite="ignore").solve(gram, 2)

    def test_not_reaching_the_goal_is_said(self, solver):
        if "max_iter" not in solver.get_params():
            pytest.skip("this solver does not iterate")
        K, _ = with_spectrum(0.999 ** np.arange(300))
        with pytest.warns(ConvergenceWarning, match=r"Raise max_iter, or tol"):
            solution = clone(solver).set_params(max_iter=1).solve(DenseGram(K), 4, tol=1e-9)
        assert not solution.certificate.satisfied
        assert "NOT the 1e-09 asked for" in str(solution.certificate)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert solution.certificate.lower <= (0.999 ** np.arange(4)).sum() <= solution.certificate.upper
