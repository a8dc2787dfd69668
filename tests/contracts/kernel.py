"""What every kernel must do. A new kernel gives a case (its objects, its naive twin, its samples) and inherits all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import clone

from kernelpca.kernels import Kernel
from reference import gradient_of_kernel_sum, kernel_matrix


@dataclass(frozen=True)
class KernelCase:
    """A kernel, the same as a function of two samples, and samples in its domain."""

    kernel: Kernel
    twin: Callable
    samples: Callable[[int, int], object]  # (number, seed) -> samples


class KernelContract:
    """Subclass, and give a fixture `case` (usually parametrized)."""

    def test_equals_its_naive_twin(self, case):
        X, Y = case.samples(7, 0), case.samples(5, 1)
        expected = kernel_matrix(case.twin, X, Y)
        np.testing.assert_allclose(case.kernel(X, Y), expected, rtol=1e-9, atol=1e-12 * np.abs(expected).max())

    def test_float32_stays_float32(self, case):
        X = case.samples(7, 0)
        if not isinstance(X, np.ndarray) or X.dtype.kind != "f":
            pytest.skip("samples of this kernel are no floats")
        K = case.kernel(X.astype(np.float32))
        assert K.dtype == np.float32
        np.testing.assert_allclose(K, case.kernel(X), rtol=2e-3, atol=2e-5 * np.abs(case.kernel(X)).max())

    def test_symmetric_with_its_diagonal(self, case):
        X = case.samples(9, 0)
        K = case.kernel(X)
        np.testing.assert_array_equal(K, K.T)
        np.testing.assert_array_equal(case.kernel.diag(case.kernel.check(X)), K.diagonal())
        np.testing.assert_allclose(K, case.kernel(X, X), rtol=1e-7, atol=1e-9 * np.abs(K).max())
        np.testing.assert_allclose(K.diagonal(), kernel_matrix(case.twin, X, X).diagonal(), rtol=1e-7, atol=1e-12)

    def test_flags_are_true(self, case):
        X = case.samples(12, 2)
        K = case.kernel(X)
        values = np.linalg.eigvalsh(K)
        if case.kernel.positive_definite:
            assert values.min() >= -1e-10 * max(values.max(), 1.0)
        if case.kernel.unit_diagonal:
            np.testing.assert_array_equal(K.diagonal(), 1.0)
        if case.kernel.stationary:
            shift = np.linspace(-1, 1, X.shape[1])
            np.testing.assert_allclose(case.kernel(X + shift), K, rtol=1e-9, atol=1e-12)
        if case.kernel.rotatable and case.kernel.domain == "real":
            turn, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((X.shape[1] + 2, X.shape[1])))
            np.testing.assert_allclose(case.kernel(X @ turn.T), K, rtol=1e-7, atol=1e-9 * np.abs(K).max())
        if case.kernel.radial:
            assert case.kernel.stationary
            assert case.kernel.rotatable

    def test_gradients_are_those_of_its_naive_twin(self, case):
        kernel = case.kernel
        if not kernel.differentiable:
            for refused in (lambda: kernel.pull(None, None, None), lambda: kernel.pull_diagonal(None)):
                with pytest.raises(ValueError, match=r"has no gradient.*Kernels that have one: RBF") as error:
                    refused()
                assert repr(kernel) in str(error.value)
            return
        X, Y = case.samples(5, 0) + 0.11, case.samples(6, 1)  # no zero row, no zero entry, no row of Y
        C = np.random.default_rng(2).standard_normal((5, 6))
        sums, gradients = kernel.pull(X, Y, C)
        np.testing.assert_allclose(sums, (C * kernel_matrix(case.twin, X, Y)).sum(axis=1), rtol=1e-9, atol=1e-11)
        expected = gradient_of_kernel_sum(case.twin, X, Y, C)
        np.testing.assert_allclose(gradients, expected, rtol=1e-6, atol=1e-7 * max(np.abs(expected).max(), 1.0))
        own = np.vstack([gradient_of_kernel_sum(lambda x, _: case.twin(x, x), [x], [x], np.eye(1)) for x in X])
        np.testing.assert_allclose(kernel.pull_diagonal(X), own, rtol=1e-6, atol=1e-7 * max(np.abs(own).max(), 1.0))

    def test_slopes_are_what_pulls(self, case):
        kernel = case.kernel
        if not (kernel.differentiable and kernel.rotatable):
            with pytest.raises(ValueError, match=r"has no slopes.*Kernels that have them: RBF"):
                kernel.slopes(None, None)
            return
        X, Y = case.samples(5, 0), case.samples(6, 1)  # with zero rows
        C = np.random.default_rng(2).standard_normal((5, 6))
        slopes = kernel.slopes(X, Y)
        assert (slopes.along is None) == kernel.radial
        np.testing.assert_allclose(slopes.values, kernel(X, Y), rtol=1e-12, atol=1e-13)
        along = -slopes.toward if slopes.along is None else slopes.along
        expected = sum(C[:, j, None] * (along[:, j, None] * X + slopes.toward[:, j, None] * Y[j]) for j in range(6))
        np.testing.assert_allclose(kernel.pull(X, Y, C)[1], expected, rtol=1e-9, atol=1e-11)

    def test_float32_gradients_stay_float32(self, case):
        if not case.kernel.differentiable:
            pytest.skip("this kernel has no gradients")
        X, Y = case.samples(5, 0) + 0.11, case.samples(6, 1)
        C = np.random.default_rng(2).standard_normal((5, 6))
        single = [array.astype(np.float32) for array in (X, Y, C)]
        pairs = [*zip(case.kernel.pull(*single), case.kernel.pull(X, Y, C), strict=True)]
        pairs += [(case.kernel.pull_diagonal(single[0]), case.kernel.pull_diagonal(X))]
        for ours, truth in pairs:
            assert ours.dtype == np.float32
            np.testing.assert_allclose(ours, truth, rtol=2e-3, atol=1e-5 * max(np.abs(truth).max(), 1.0))

    def test_gradients_are_finite_everywhere(self, case):
        if not case.kernel.differentiable:
            pytest.skip("this kernel has no gradients")
        for dtype in (np.float64, np.float32):
            X = case.samples(6, 0).astype(dtype)  # with zero rows, equal rows and, for histograms, zero entries
            for array in (*case.kernel.pull(X, X, np.ones((6, 6), dtype)), case.kernel.pull_diagonal(X)):
                assert np.isfinite(array).all()

    def test_distances_and_products_come_back(self, case):
        X, Y = case.samples(7, 0), case.samples(5, 1)
        if case.kernel.tells_distance:
            truth = ((X[:, None] - Y) ** 2).sum(axis=2)
            np.testing.assert_allclose(case.kernel.distances_from(case.kernel(X, Y)), truth, rtol=1e-9, atol=1e-12)
        else:
            with pytest.raises(ValueError, match=r"does not tell the distance.*Kernels that do.*: RBF"):
                case.kernel.distances_from(np.ones(3))
        if case.kernel.tells_product:
            np.testing.assert_allclose(case.kernel.products_from(case.kernel(X, Y)), X @ Y.T, rtol=1e-9, atol=1e-12)
        else:
            with pytest.raises(ValueError, match=r"does not tell the dot product.*Kernels that do.*: Linear"):
                case.kernel.products_from(np.ones(3))

    def test_tiles_and_threads_change_nothing(self, case):
        X = case.samples(40, 0)
        whole = case.kernel(X)
        small = _with_tile(case.kernel, 7)
        for threads in (1, 3):
            tiled = type(small).__call__(small, X, threads=threads)
            np.testing.assert_allclose(tiled, whole, rtol=1e-9, atol=1e-12 * np.abs(whole).max())
            pair = small(X, X, threads=threads)
            np.testing.assert_allclose(pair, case.kernel(X, X), rtol=1e-9, atol=1e-12 * np.abs(whole).max())

    def test_input_is_not_modified(self, case):
        X = case.samples(6, 0)
        before = X.copy()
        case.kernel(X)
        case.kernel(X, X)
        case.kernel.diag(case.kernel.check(X))
        case.kernel.resolve(X)
        assert np.array_equal(X, before)

    def test_parameters_copies_and_text(self, case):
        kernel = case.kernel
        twin = clone(kernel)
        assert twin == kernel
        assert hash(twin) == hash(kernel)
        assert kernel != 3
        assert repr(kernel).startswith(type(kernel).__name__ + "(")
        twin.set_params(**kernel.get_params(deep=False))
        assert twin == kernel
        assert kernel.resolve(case.samples(5, 0)) == kernel  # every parameter is a number already

    def test_nan_and_empty_are_refused(self, case):
        X = case.samples(4, 0)
        if not isinstance(X, np.ndarray) or X.dtype.kind != "f" or case.kernel.domain == "any":
            pytest.skip("samples of this kernel are no floats")
        bad = X.copy()
        bad[1, 0] = np.nan
        with pytest.raises(ValueError, match="NaN"):
            case.kernel(bad)
        with pytest.raises(ValueError, match="minimum of 1 is required"):
            case.kernel(X[:0])
        with pytest.raises(ValueError, match="features"):
            case.kernel(X, X[:, :1])


def _with_tile(kernel: Kernel, tile: int) -> Kernel:
    """The same kernel with a small tile, so that small samples make many."""
    small = type("Small" + type(kernel).__name__, (type(kernel),), {"tile": tile, "__init__": type(kernel).__init__})
    return small(**kernel.get_params(deep=False))
