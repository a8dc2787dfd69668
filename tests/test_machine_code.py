"""Loops written for LLVM against NumPy, and what happens where they cannot be used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from threading import Barrier, Event, Thread

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelpca import machine_code
from kernelpca.gram import squares, thin
from kernelpca.gram.thin import ThinBlock
from kernelpca.kernels import differences, exponential

needs_code = pytest.mark.skipif(
    machine_code.processor() is None, reason="this processor has no fused multiply-add: NumPy does the work"
)


def both_products(T, V, rows, cols):
    """The formula, in float64."""
    total = np.zeros(V.shape)
    total[rows] += T.astype(np.float64) @ V[cols]
    if rows != cols:
        total[cols] += T.T.astype(np.float64) @ V[rows]
    return total


@pytest.fixture
def always(monkeypatch):
    """Machine code for matrices of every size."""
    monkeypatch.setattr(thin, "WORTH", 0)
    monkeypatch.setattr(exponential, "SMALL", 0)


@needs_code
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@settings(max_examples=60, deadline=None)
@given(st.integers(1, 150), st.integers(1, 150), st.integers(1, 60), st.booleans(), st.integers(0, 2**31))
def test_thin_products_are_the_formula(dtype, height, length, columns, diagonal, seed):
    rng = np.random.default_rng(seed)
    rows = slice(3, 3 + height)
    cols = rows if diagonal else slice(rows.stop + 2, rows.stop + 2 + length)
    n = cols.stop + 1
    T = rng.standard_normal((height, cols.stop - cols.start)).astype(dtype)
    V = rng.standard_normal((n, columns)).astype(dtype)
    given_V = V.copy()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thin, "WORTH", 0)
        block = ThinBlock(V)
    assert block._code is not None
    total = block.zeros()
    block.add(T, rows, cols, total)
    expected = both_products(T, V, rows, cols)
    size = both_products(np.abs(T), np.abs(V), rows, cols)
    error = np.abs(block.result(total) - expected)
    assert np.all(error <= 8 * np.finfo(dtype).eps * size)  # and exactly zero where nothing was added
    assert np.array_equal(V, given_V)
    block.add(T, rows, cols, total)
    np.testing.assert_allclose(block.result(total), 2 * expected, atol=32 * np.finfo(dtype).eps * size.max())


@needs_code
def test_thin_products_read_columns_in_any_order(always):
    V = np.asfortranarray(np.random.default_rng(0).standard_normal((50, 7)))
    T = np.random.default_rng(1).standard_normal((20, 30))
    block, rows, cols = ThinBlock(V[:, ::-1]), slice(0, 20), slice(20, 50)
    total = block.zeros()
    block.add(T, rows, cols, total)
    np.testing.assert_allclose(block.result(total), both_products(T, V[:, ::-1], rows, cols))


@needs_code
def test_thin_products_keep_nan_where_it_is(always):
    T, V = np.ones((5, 6)), np.ones((20, 3))
    T[2, 4] = np.nan
    block = ThinBlock(V)
    total = block.zeros()
    block.add(T, slice(0, 5), slice(5, 11), total)
    assert set(np.flatnonzero(np.isnan(total).any(axis=1))) == {2, 9}


@pytest.mark.parametrize("vectors", range(20))
def test_panels_cover_a_block(vectors):
    threes, twos, ones = thin._panels(vectors)
    assert min(threes, twos, ones) >= 0
    assert 3 * threes + 2 * twos + ones == vectors


@needs_code
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("less_one", [False, True])
def test_exponential_to_the_last_digit(always, dtype, less_one):
    rng = np.random.default_rng(0)
    x = np.concatenate([-rng.exponential(1, (30, 501)), -(10.0 ** rng.uniform(-20, 1.9, (30, 501)))]).astype(dtype)
    T = x.copy()
    exponential.exponential(T, less_one)
    exact = (np.expm1 if less_one else np.exp)(x.astype(np.longdouble))
    assert np.max(np.abs(T - exact) / np.spacing(np.abs(exact).astype(dtype))) < 1.5


@needs_code
def test_exponential_of_a_part_leaves_the_rest_alone(always):
    whole = np.full((10, 20), -1.0)
    exponential.gaussian(whole[2:5, 3:10], 2.0, np.full(3, 0.5), np.arange(0.0, -7.0, -1.0))
    expected = np.full((10, 20), -1.0)
    expected[2:5, 3:10] = np.exp(-1.5 + np.arange(0.0, -7.0, -1.0))
    np.testing.assert_allclose(whole, expected, rtol=1e-15)


@needs_code
def test_exponential_of_limits(always):
    T = np.array([[np.nan, -np.inf, 0.0, 3.0, -1e9, -0.0]])
    exponential.exponential(T)
    assert np.isnan(T[0, 0])
    assert T[0, 1] == T[0, 4] < 1e-300
    assert T[0, 2] == T[0, 3] == T[0, 5] == 1.0


@pytest.mark.parametrize("compiled", [pytest.param(True, marks=needs_code), False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@settings(max_examples=60, deadline=None)
@given(st.integers(1, 20), st.integers(1, 70), st.booleans(), st.integers(0, 2**31))
def test_rows_with_something_near_are_told(compiled, dtype, height, width, infinite, seed):
    """Whatever becomes of a tile: the largest argument of each row tells, and NaN is never far."""
    rng = np.random.default_rng(seed)
    T = rng.standard_normal((height, width)).astype(dtype)
    T[rng.random(T.shape) < 0.02] = np.nan
    a, b = -rng.random(height).astype(dtype), -rng.random(width).astype(dtype)
    near = rng.normal(2, 2, height).astype(dtype)
    near[rng.random(height) < 0.3] = np.inf
    if infinite:
        near[:] = -np.inf
    x = 2 * T + a[:, None] + b
    clear = ~(np.abs(x - near[:, None]) < 1e-5).any(axis=1)
    expected = (~(x < near[:, None])).any(axis=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exponential, "SMALL", 0 if compiled else 2**60)
        for less_one in (False, True):
            values = T.copy()
            found = np.isin(np.arange(height), exponential.gaussian(values, 2.0, a, b, less_one, near))
            assert np.array_equal(found[clear], expected[clear])
            np.testing.assert_allclose(values, np.exp(np.minimum(x, 0)) - less_one, rtol=1e-5, atol=1e-6)
        distances = T.copy()
        found = np.isin(np.arange(height), exponential.falling(distances, 2.0, a, b, near))
        assert np.array_equal(found[clear], expected[clear])
        np.testing.assert_allclose(distances, np.maximum(-x, 0), rtol=1e-5, atol=1e-6)


def test_without_machine_code_numpy_does_the_work(monkeypatch):
    """On a processor without fused multiply-add."""
    monkeypatch.setattr(thin, "WORTH", 0)
    monkeypatch.setattr(exponential, "SMALL", 0)
    monkeypatch.setattr(machine_code, "processor", lambda: None)
    assert machine_code.Code(8).translate("none") is None
    monkeypatch.setattr(thin, "_machine_code", lambda itemsize: None)
    monkeypatch.setattr(exponential, "_machine_code", lambda itemsize, kind: None)
    rng = np.random.default_rng(0)
    T, V = rng.standard_normal((20, 30)), rng.standard_normal((50, 7))
    block, rows, cols = ThinBlock(V), slice(0, 20), slice(20, 50)
    total = block.zeros()
    block.add(T, rows, cols, total)
    np.testing.assert_allclose(block.result(total), both_products(T, V, rows, cols))
    T = -np.abs(T)
    expected = np.exp(T)
    exponential.exponential(T)
    np.testing.assert_allclose(T, expected, rtol=1e-15)


def test_threads_that_ask_at_the_same_time_get_one_translation():
    made = []
    barrier = Barrier(4)

    @machine_code.once
    def make(number):
        made.append(number)
        return number

    def ask():
        barrier.wait()
        assert make(3) == 3

    threads = [Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [3]
    assert make(4) == 4


@needs_code
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1), (3, 700), (300, 299), (715, 717)])
def test_sums_of_squares_are_exact_to_rounding(monkeypatch, dtype, shape):
    rng = np.random.default_rng(0)
    for T in (np.full(shape, 0.3, dtype), rng.standard_normal((shape[0], shape[1] + 5)).astype(dtype)[:, 2:-3]):
        monkeypatch.setattr(squares, "WORTH", 0)
        exact = float(np.square(T.astype(np.longdouble)).sum())
        assert squares.sum_of_squares(T) == pytest.approx(exact, rel=1e-14)
        monkeypatch.setattr(squares, "WORTH", 10**9)
        assert squares.sum_of_squares(T) == pytest.approx(exact, rel=1e-13)


@needs_code
def test_each_translation_owns_its_machine():
    """A machine shared by two engines would be freed twice."""
    code = "from kernelpca.machine_code import Code\nfor _ in range(3):\n    c = Code(8)\n"
    code += "    b = c.function('f', 'i')[1]\n    b.ret_void()\n    c.translate('f').engine.close()\n"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@needs_code
def test_numbers_are_not_read_after_they_are_freed():
    """Threads that make small arrays all the time would write into memory that a loop is about to read."""
    X = np.random.default_rng(0).standard_normal((100, 128)).astype(np.float32)
    rows, cols = (numbers.ravel() for numbers in np.indices((100, 100)))
    expected = 0.25 * np.square(X[:, None] - X.astype(np.float64)).sum(axis=2).ravel()
    stop = Event()

    def disturb():
        while not stop.is_set():
            np.array([7.0])

    threads, interval = [Thread(target=disturb) for _ in range(3)], sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for _ in range(300):
            found = differences.pair_distances(X, X, rows, cols, 0.25)
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)
    finally:
        stop.set()
        sys.setswitchinterval(interval)
        for thread in threads:
            thread.join()


def test_addresses_of_arrays_are_taken_in_one_place_only():
    """Where arrays are held until the loop has ended."""
    library = Path(machine_code.__file__).parent
    users = {path.name for path in library.rglob("*.py") if ".ctypes" in path.read_text()}
    assert users == {"machine_code.py"}
