"""Tiles, memory, parts and extras."""

import os
import subprocess
import sys
from threading import Thread
from types import SimpleNamespace

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from kernelpca import tall, tiles
from kernelpca.extras import require
from kernelpca.kernels import RBF
from kernelpca.memory import _cached_files, free_bytes, granted_bytes, parse_bytes, readable_bytes
from kernelpca.parts import Part
from kernelpca.tiles import all_tiles, available_threads, blocks, half_tiles, share_out
from kernelpca.validation import as_generator


@pytest.mark.parametrize("n", [1, 5, 64, 65, 300])
@pytest.mark.parametrize("size", [1, 7, 64, 5000])
def test_tiles_cover_everything_once(n, size):
    seen = np.zeros((n, n + 3), dtype=int)
    for rows, cols in all_tiles(n, n + 3, size):
        seen[rows, cols] += 1
        assert rows.stop - rows.start <= size
    assert (seen == 1).all()
    half = np.zeros((n, n), dtype=int)
    for rows, cols in half_tiles(n, size):
        half[rows, cols] += 1
        if rows != cols:
            half[cols, rows] += 1
    assert (half == 1).all()
    assert blocks(0, 5) == [slice(0, 0)]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_work_is_shared_out(threads):
    tiles = all_tiles(100, 100, 10)
    states = share_out(tiles, lambda state, rows, cols: state.append((rows, cols)), list, threads)
    assert len(states) == threads
    assert sorted((r.start, c.start) for state in states for r, c in state) == [(r.start, c.start) for r, c in tiles]
    again = share_out(tiles, lambda state, rows, cols: state.append((rows, cols)), list, threads)
    assert states == again


def test_errors_in_workers_come_out():
    def fail(state, rows, cols):
        raise ValueError("inside")

    with pytest.raises(ValueError, match="inside"):
        share_out(all_tiles(10, 10, 2), fail, list, 3)


def test_blas_limits_are_restored_by_the_last_to_leave(monkeypatch):
    """Two callers overlap: whoever leaves first must not lift, or leave behind, the other's limit."""
    events = []
    libraries = [SimpleNamespace(num_threads=count, set_num_threads=events.append) for count in (3, 2)]
    monkeypatch.setattr(tiles, "_blas", lambda: libraries)
    guard = tiles._OneBlasThread()
    for _ in range(2):
        assert guard.granted_here() is None
        guard.__enter__()
        guard.__enter__()
        assert events == [1, 1]
        assert guard.granted_here() == 3
        guard.__exit__()
        assert events == [1, 1]
        guard.__exit__()
        assert events == [1, 1, 3, 2]
        events.clear()


def test_blas_limits_are_restored_if_setting_them_is_interrupted(monkeypatch):
    events = []

    def interrupt(threads):
        if threads == 1:
            raise KeyboardInterrupt

    first = SimpleNamespace(num_threads=3, set_num_threads=events.append)
    second = SimpleNamespace(num_threads=2, set_num_threads=interrupt)
    monkeypatch.setattr(tiles, "_blas", lambda: [first, second])
    guard = tiles._OneBlasThread()
    with pytest.raises(KeyboardInterrupt):
        guard.__enter__()
    assert events == [1, 3]
    assert guard.granted_here() is None


def test_the_first_to_enter_may_share_out_and_others_may_not():
    before = available_threads()
    elsewhere = []
    with threadpool_limits(2, user_api="blas"), tiles.one_blas_thread:
        assert available_threads() == 2
        thread = Thread(target=lambda: elsewhere.append(available_threads()))
        thread.start()
        thread.join()
    assert elsewhere == [1]
    assert available_threads() == before


def test_work_within_work_does_not_wait_for_itself():
    """As many workers as there can be, each sharing out again: none may wait for a helper that is waiting too."""
    answers = share_out(
        all_tiles(40, 1, 1),
        lambda state, rows, _: state.extend(share_out(all_tiles(3, 1, 1), lambda *_: None, lambda: rows.start, 3)),
        list,
        20,
    )
    assert sorted({start for state in answers for start in state}) == list(range(40))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_process_starts_helpers_of_its_own():
    code = (
        "import os\n"
        "from kernelpca.tiles import all_tiles, share_out\n"
        "def run(): return share_out(all_tiles(8, 1, 1), lambda s, r, c: s.append(r.start), list, 2)\n"
        "first = run()\n"
        "child = os.fork()\n"
        "if child == 0: os._exit(0 if run() == first else 1)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", code]
    assert subprocess.run(command, capture_output=True, text=True, timeout=60).stdout.strip() == "0"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_products_of_tall_matrices(monkeypatch, dtype, order):
    monkeypatch.setattr("kernelpca.tall.ROWS", 7)
    rng = np.random.default_rng(0)
    A, B = (np.asarray(rng.standard_normal((50, p)), dtype, order) for p in (4, 3))
    S, close = rng.standard_normal((4, 3)), 1e-5 if dtype == np.float32 else 1e-13
    exact = A.astype(float)
    assert tall.inner(A, B).dtype == float
    assert tall.inner(A[:, :0], B).shape == (0, 3)
    np.testing.assert_allclose(tall.inner(A, B), exact.T @ B, atol=20 * close)
    assert tall.times(A, S).dtype == dtype
    np.testing.assert_allclose(tall.times(A, S), exact @ S, atol=close)
    expected = B + exact @ S
    tall.add_product(B, A[:, :0], S[:0])
    tall.add_product(B, A, S)
    np.testing.assert_allclose(B, expected, atol=close)
    norms = tall.column_norms(50, 4, lambda rows: A[rows])
    np.testing.assert_allclose(norms, np.linalg.norm(exact, axis=0), rtol=close)


def test_blas_limits_hold_for_us():
    with threadpool_limits(1, user_api="blas"):
        assert available_threads() == 1


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (1000, 1000),
        (np.int64(5), 5),
        ("1e9", 10**9),
        ("4GB", 4 * 10**9),
        ("500 MiB", 500 * 2**20),
        ("1.5k", 1500),
        ("12", 12),
        ("2tb", 2 * 10**12),
    ],
)
def test_bytes_are_read(given, expected):
    assert parse_bytes(given) == expected
    assert granted_bytes(given) == expected


@pytest.mark.parametrize("given", ["much", "", "-1GB", -5, 0, 0.5, float("inf"), float("nan"), True, [1]])
def test_bytes_that_make_no_sense(given):
    with pytest.raises(ValueError, match="is not an amount of memory"):
        parse_bytes(given)


def test_free_memory():
    assert 2**20 < free_bytes() < 2**50
    assert granted_bytes(None) <= free_bytes() * 1.5
    assert readable_bytes(1.5e9) == "1.5 GB"
    assert readable_bytes(10) == "10 B"
    assert readable_bytes(3e15) == "3e+03 TB"


def test_missing_extras_are_named():
    with pytest.raises(ImportError, match=r"The picture needs nothing_there.*pip install 'kernelpca\[plot\]'"):
        require("nothing_there.at_all", "plot", "The picture")
    assert require("math", "plot", "Nothing") is __import__("math")


def test_parts_compare_by_parameters():
    class WithArray(Part):
        def __init__(self, array=None):
            self.array = array

    assert WithArray(np.arange(3)) == WithArray(np.arange(3))
    assert WithArray(np.arange(3)) != WithArray(np.arange(4))
    assert WithArray(np.arange(3)) != WithArray(None)
    assert RBF(0.1) != RBF(0.2)
    assert len({RBF(0.1), RBF(0.1)}) == 1


def test_generators():
    assert as_generator(None).integers(100) == as_generator(0).integers(100)
    given = np.random.default_rng(5)
    assert as_generator(given) is given
    for bad in (-1, "x", [1.5]):
        with pytest.raises(ValueError, match="is no seed"):
            as_generator(bad)


def test_files_that_were_read_do_not_count_as_held(tmp_path):
    statistics = tmp_path / "memory.stat"
    assert _cached_files(statistics) == 0  # no such file: all that is held counts
    statistics.write_text("anon 5\ninactive_file 4096\nactive_file 7\n")
    assert _cached_files(statistics) == 4096
    statistics.write_text("anon 5\n")
    assert _cached_files(statistics) == 0
