"""What every kernel must do. A new kernel gives a case (its objects, its naive twin, its samples) and inherits all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import clone

from kernelpca.kernels import Kernel
from reference import kernel_matrix


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
