"""How far long work has come: what pages and searches tell, and the bar that a terminal shows."""

import io
import os
import pty
import re
import select
import sys
import time
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris

from kernelpca import PCA, InvertibleKernelPCA, KernelPCA
from kernelpca.features import Nystrom
from kernelpca.gram import DenseGram
from kernelpca.preimage import Ridge
from kernelpca.progress import Parts
from kernelpca.solvers import BlockKrylov
from kernelpca.solvers.watch import Progress

X = load_iris().data


@pytest.fixture(scope="module")
def model():
    return KernelPCA(n_components=3).fit(X)


def check_told(told):
    """Counts never pass the number that they are counted to, and go back only where another stage begins."""
    assert told
    assert all(0 <= done <= total for done, total in told)
    return 1 + sum(before[0] > after[0] for before, after in pairwise(told))


def test_parts_are_counted_and_handed_on():
    told = []
    part = Parts(lambda *state: told.append(state), 2)
    assert part("a") == "a"
    assert part(None) is None
    assert told == [(1, 2), (2, 2)]
    assert Parts(None, 2)("a") == "a"


@pytest.mark.parametrize("name", ["report", "explore"])
@pytest.mark.parametrize("kind", ["table", "signal"])
def test_pages_tell_of_every_part(model, name, kind):
    pytest.importorskip("matplotlib")
    from kernelpca import pages

    told = []
    getattr(pages, name)(model, X, kind=kind, done=lambda *state: told.append(state))
    total = told[-1][1]
    assert total > 2
    assert told == [(i + 1, total) for i in range(total)]


def test_a_report_without_a_way_back_tells_of_every_part_too():
    pytest.importorskip("matplotlib")
    from kernelpca.kernels import Spectrum
    from kernelpca.pages import report

    told = []
    texts = ["abab", "baba", "aabb", "bbaa", "abba"]
    report(KernelPCA(2, kernel=Spectrum(2)).fit(texts), texts, done=lambda *state: told.append(state))
    assert told[-1][0] == told[-1][1] == len(told)


@pytest.mark.parametrize("move", [True, False])
def test_compression_tells_how_far_it_is_and_finds_the_same(model, move):
    told = []
    small = model.compress(1e-3, move=move, done=lambda *state: told.append(state))
    assert check_told(told) >= 2
    np.testing.assert_array_equal(small.transform(X), model.compress(1e-3, move=move).transform(X))


def test_compression_to_a_number_of_anchors_tells_too(model):
    told = []
    model.compress(n_anchors=12, done=lambda *state: told.append(state))
    check_told(told)
    assert {total for _, total in told} == {1, 60}  # one tile, and steps of moving points


def test_compression_that_tries_again_has_more_stages():
    """Kernel values, rows, points; and rows and points again where the first attempt was not enough."""
    told = []
    KernelPCA(2).fit(load_digits().data[:400]).compress(0.05, done=lambda *state: told.append(state))
    assert check_told(told) > 3


def drawn(monkeypatch, work, quiet):
    """Return what a bar writes on a terminal during some work."""
    pytest.importorskip("rich")
    from kernelpca.cli import words

    here, there = pty.openpty()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(words, "QUIET", quiet)
    with os.fdopen(there, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        with words.bar("report") as done:
            work(done)
        terminal.flush()
        text = b""
        while select.select([here], [], [], 0.1)[0]:
            text += os.read(here, 65536)
    os.close(here)
    return text.decode()


def test_a_bar_appears_while_the_first_part_still_runs(monkeypatch):
    text = drawn(monkeypatch, lambda done: time.sleep(0.6), quiet=0.05)
    assert "report" in text


def test_a_bar_shows_what_is_done(monkeypatch):
    def work(done):
        done(1, 4)
        time.sleep(0.6)

    assert "25%" in drawn(monkeypatch, work, quiet=0.05)


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand."""
    from kernelpca import progress

    now = [100.0]
    monkeypatch.setattr(progress.time, "perf_counter", lambda: now[0])
    return now


def test_a_bar_counts_down_by_the_parts_that_are_done(clock):
    console = pytest.importorskip("rich.console")
    from kernelpca.progress import Bar

    with Bar("read", console.Console(file=io.StringIO()), delay=60.0) as bar:
        clock[0] += 1
        bar.done(1, 60)
        assert f"{bar._left}" == "about 59 s left"
        clock[0] += 9
        assert f"{bar._left}" == "about 50 s left"
        bar.done(10, 60)
        assert f"{bar._left}" == "about 50 s left"


def test_a_stage_that_begins_again_has_its_own_pace(clock):
    console = pytest.importorskip("rich.console")
    from kernelpca.progress import Bar

    with Bar("write", console.Console(file=io.StringIO()), delay=60.0) as bar:
        for parts in (1, 2):
            clock[0] += 10
            bar.done(parts, 2)
        clock[0] += 0.1
        bar.done(1, 300)
        assert f"{bar._left}" == "about 30 s left"  # not 6010


def test_a_countdown_that_was_wrong_says_so(monkeypatch):
    from kernelpca import progress

    left = progress.Countdown()
    assert f"{left}" == ""
    left.set(3.2)
    assert f"{left}" == "about 3 s left"
    left.set(600.0)
    assert f"{left}" == "about 10 min left"
    left.set(-0.5)
    assert f"{left}" == "about 0 s left"
    left.set(-2.0)
    assert f"{left}" == "longer than expected"


def test_short_work_draws_nothing(monkeypatch):
    assert drawn(monkeypatch, lambda done: done(1, 2), quiet=60.0) == ""


def test_the_bar_of_a_fit_appears_before_the_first_pass_is_told():
    console = pytest.importorskip("rich.console")
    from kernelpca.progress import ProgressBar

    out = io.StringIO()
    with ProgressBar(console.Console(file=out, force_terminal=True, width=100), delay=0.05):
        time.sleep(0.6)
    assert "kernel PCA" in out.getvalue()


class Expecting:
    """A callback that asks how long stages of a fit will take."""

    def __init__(self):
        self.told, self.events = [], []

    def expect(self, seconds, what):
        self.told.append((what, seconds))

    def __call__(self, event):
        self.events.append(event)


@pytest.mark.parametrize(
    "model",
    [
        KernelPCA(2),
        KernelPCA(2, solver="dense"),
        KernelPCA(2, approximation="nystrom"),
        KernelPCA(2, approximation="fourier"),
        KernelPCA(2, approximation="sketch"),
        InvertibleKernelPCA(2),
        PCA(2),
    ],
    ids=lambda model: repr(model)[:60],
)
def test_a_callback_that_asks_is_told_how_long_a_fit_will_take(model):
    asked = Expecting()
    clone(model).set_params(callback=asked).fit(X)
    (what, seconds), *more = asked.told
    assert what == "kernel PCA"
    assert 0 < seconds < 60
    assert not more


def test_a_callback_that_asks_is_told_of_the_way_back():
    asked = Expecting()
    KernelPCA(2, preimage="ridge", callback=asked).fit(X)
    assert [what for what, _ in asked.told] == ["kernel PCA", "learning the way back"]
    assert all(0 < seconds < 60 for _, seconds in asked.told)
    assert Ridge().operations(20_000, 10) < Ridge(n_landmarks=None).operations(20_000, 10)
    assert Ridge(n_landmarks=500).operations(20_000, 10) < Ridge().operations(20_000, 10)


def test_small_fits_are_timed_only_if_somebody_asks():
    plain = []
    assert KernelPCA(2, callback=plain.append).fit(X).plan_.predicted_seconds is None
    assert KernelPCA(2, callback=Expecting()).fit(X).plan_.predicted_seconds > 0


def test_time_left_does_not_count_the_pass_that_made_the_matrix():
    class Slow(DenseGram):
        passes = 0

        def matmat(self, V):
            self.passes += 1
            time.sleep(1.0 if self.passes == 1 else 0.01)
            return super().matmat(V)

    told = []
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((300, 300)))[0]
    K = Slow((Q * 0.9 ** np.arange(300)) @ Q.T, True)
    BlockKrylov(landmarks=0, block_size=4).solve(K, 3, tol=1e-8, callback=told.append)
    left = [event.remaining for event in told if event.remaining is not None]
    assert len(left) > 3
    assert max(left) < 0.9


def test_the_bar_of_a_fit_shows_what_is_expected_until_a_pass_tells_more():
    console = pytest.importorskip("rich.console")
    from kernelpca.progress import ProgressBar

    out = io.StringIO()
    with ProgressBar(console.Console(file=out, force_terminal=True, width=100)) as bar:
        bar.expect(100.0, "kernel PCA")
        time.sleep(0.2)
        bar(Progress(1, 0.2, 2, 1, 0.5))  # which does not know what is left
        time.sleep(0.2)
        text = out.getvalue()
        assert "about 2 min left" in text
        assert "pass 1, 1 of 2 components, residual 5e-01" in text
        assert "about 2 min left" in text[text.index("pass 1") :]
        bar(Progress(2, 0.2, 2, 1, 0.5, remaining=7.0))
        time.sleep(0.2)
    assert "about 7 s left" in out.getvalue()


def test_a_bar_of_time_moves_while_nothing_is_told():
    console = pytest.importorskip("rich.console")
    from kernelpca.progress import ProgressBar

    out = io.StringIO()
    with ProgressBar(console.Console(file=out, force_terminal=True, width=100)) as bar:
        bar.expect(1.0, "kernel PCA")
        time.sleep(0.8)
    shown = sorted({int(percent) for percent in re.findall(r"(\d+)%", out.getvalue())})
    assert len(shown) > 4
    assert shown[0] < 20 < 60 < shown[-1] < 100


def test_work_on_tiles_tells_of_the_callers_share():
    from kernelpca.tiles import half_tiles, share_out

    told, seen = [], []
    tiles = half_tiles(100, 10)
    share_out(tiles, lambda *tile: seen.append(tile), lambda: None, 2, lambda *state: told.append(state))
    assert len(seen) == len(tiles)
    own = len(tiles[::2])
    assert told == [(i + 1, own) for i in range(own)]


def test_looks_at_data_that_lie_elsewhere_are_counted():
    da = pytest.importorskip("dask.array")
    from kernelpca.dask.looks import Looks

    told, rows = [], np.random.default_rng(0).standard_normal((1500, 3))  # more than the first look brings here
    with Looks(lambda *state: told.append(state)):
        KernelPCA(2, approximation=Nystrom(50)).fit(da.from_array(rows, chunks=(300, -1)))
    assert check_told(told) > 2
    assert told[-1][0] == told[-1][1]
    before = len(told)
    da.ones(10).sum().compute()
    assert len(told) == before


def test_a_short_fit_draws_nothing():
    console = pytest.importorskip("rich.console")
    from kernelpca.progress import ProgressBar

    out = io.StringIO()
    with ProgressBar(console.Console(file=out, force_terminal=True, width=100), delay=60.0) as bar:
        clone(KernelPCA(2, callback=bar)).fit(X)
    assert out.getvalue() == ""
