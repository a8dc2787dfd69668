"""How far long work has come: what pages and searches tell, and the bar that a terminal shows."""

import io
import os
import pty
import select
import sys
import time
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris

from kernelpca import KernelPCA
from kernelpca.progress import count_parts

X = load_iris().data


@pytest.fixture(scope="module")
def model():
    return KernelPCA(n_components=3).fit(X)


def check_told(told):
    """Counts never go back, and never pass the number that they are counted to."""
    assert told
    assert all(0 <= done <= total for done, total in told)
    assert all(before[0] <= after[0] for before, after in pairwise(told))


def test_parts_are_counted_and_handed_on():
    told = []
    part = count_parts(lambda *state: told.append(state), 2)
    assert part("a") == "a"
    assert part(None) is None
    assert told == [(1, 2), (2, 2)]
    assert count_parts(None, 2)("a") == "a"


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
    check_told(told)
    np.testing.assert_array_equal(small.transform(X), model.compress(1e-3, move=move).transform(X))


def test_compression_to_a_number_of_anchors_tells_too(model):
    told = []
    model.compress(n_anchors=12, done=lambda *state: told.append(state))
    check_told(told)


def test_compression_that_tries_again_adds_steps():
    """A search whose first attempt fails goes on counting instead of starting anew."""
    told = []
    KernelPCA(2).fit(load_digits().data[:400]).compress(0.05, done=lambda *state: told.append(state))
    check_told(told)
    assert len({total for _, total in told}) > 1


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


def test_short_work_draws_nothing(monkeypatch):
    assert drawn(monkeypatch, lambda done: done(1, 2), quiet=60.0) == ""


def test_the_bar_of_a_fit_appears_before_the_first_pass_is_told():
    console = pytest.importorskip("rich.console")
    from kernelpca.progress import ProgressBar

    out = io.StringIO()
    with ProgressBar(console.Console(file=out, force_terminal=True, width=100), delay=0.05):
        time.sleep(0.6)
    assert "kernel PCA" in out.getvalue()


def test_a_short_fit_draws_nothing():
    console = pytest.importorskip("rich.console")
    from kernelpca.progress import ProgressBar

    out = io.StringIO()
    with ProgressBar(console.Console(file=out, force_terminal=True, width=100), delay=60.0) as bar:
        clone(KernelPCA(2, callback=bar)).fit(X)
    assert out.getvalue() == ""
