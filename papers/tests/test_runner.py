"""Pieces run once, are kept, and survive interruption; failures and missing data cost one experiment only."""

import os

import numpy as np
import pytest

from kernelpca.atomic import write_atomically
from kernelpca.datasets import files
from kernelpca_papers import store as store_module
from kernelpca_papers.claims import Claim
from kernelpca_papers.experiment import Experiment, Findings, Found, Setting
from kernelpca_papers.runner import reproduce
from kernelpca_papers.store import Done, Store, keep

CALLS = []


def square(x, fail=False, stop=False, die=False):
    CALLS.append(x)
    if die:
        os._exit(3)
    if fail:
        raise RuntimeError("boom")
    if stop:
        raise KeyboardInterrupt
    return {"square": x * x, "name": np.array(["a", "b"])}


def conclude(found):
    total = float(found("square").sum())
    return Findings([Claim("sum of squares", "table 1", 5.0, total)])


def experiment(name="ikpca/made", pieces=({"x": 1}, {"x": 2}), **more):
    return Experiment(
        name,
        "made",
        "table 1",
        (Setting("x", "1 and 2", "printed"),),
        "nothing to compare",
        {"full": {}},
        lambda: [dict(piece) for piece in pieces],
        square,
        conclude,
        **more,
    )


@pytest.fixture(autouse=True)
def no_calls():
    CALLS.clear()


def test_pieces_are_run_and_kept(tmp_path):
    store = Store(tmp_path)
    events = []
    (first,) = reproduce([experiment()], "full", store, 1, events.append)
    assert not first.fails
    assert first.findings.claims[0].measured == 5.0
    assert [event.kind for event in events] == ["began", "piece", "piece", "finished"]
    assert CALLS == [1, 2]
    (again,) = reproduce([experiment()], "full", store, 1, events.append)
    assert CALLS == [1, 2]
    assert events[-2].from_store
    assert again.seconds == first.seconds
    assert again.findings.claims == first.findings.claims


def test_in_processes_of_their_own_it_is_the_same(tmp_path):
    (here,) = reproduce([experiment()], "full", Store(tmp_path / "a"), 1)
    (there,) = reproduce([experiment()], "full", Store(tmp_path / "b"), 2)
    assert there.findings.claims == here.findings.claims
    assert CALLS == [1, 2]  # those of the other processes are not seen here
    assert there.peak > 10**6


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path):
    store = Store(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        list(reproduce([experiment(pieces=({"x": 1}, {"x": 2, "stop": True}))], "full", store, 1))
    CALLS.clear()
    list(reproduce([experiment()], "full", store, 1))
    assert CALLS == [2]


def test_many_experiments_share_the_processes(tmp_path):
    several = [experiment(f"ikpca/made{i}", alone=i == 2) for i in range(4)]
    broken = experiment("ikpca/broken", pieces=({"x": 1, "fail": True}, {"x": 2}))
    results = list(reproduce([*several[:1], broken, *several[1:]], "full", Store(tmp_path), 2))
    # the one that is timed comes last, when nothing else runs
    names = ["made0", "broken", "made1", "made3", "made2"]
    assert [result.experiment.name for result in results] == [f"ikpca/{name}" for name in names]
    assert [bool(result.error) for result in results] == [False, True, False, False, False]
    assert [result.findings.claims[0].measured for result in results if result.findings] == [5.0] * 4


def test_a_process_that_dies_costs_one_experiment(tmp_path):
    dying = experiment("ikpca/dying", pieces=({"x": 1, "die": True},))
    results = list(reproduce([dying, experiment()], "full", Store(tmp_path), 2))
    assert "Terminated" in results[0].error
    assert not results[1].fails


def test_a_failure_costs_one_experiment(tmp_path):
    broken = experiment("ikpca/broken", pieces=({"x": 1, "fail": True},))
    results = list(reproduce([broken, experiment()], "full", Store(tmp_path), 1))
    assert results[0].error == "RuntimeError: boom"
    assert "square" in results[0].trace
    assert [result.fails for result in results] == [True, False]


def test_a_claim_that_should_pass_fails_the_result(tmp_path):
    (result,) = reproduce([experiment(pieces=({"x": 3},))], "full", Store(tmp_path), 1)
    assert result.fails


def test_missing_data_is_a_skip_with_instructions(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNELPCA_DATA", str(tmp_path))
    monkeypatch.setenv("KERNELPCA_OFFLINE", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "none"))
    (result,) = reproduce([experiment(data=("usps.npz",))], "full", Store(tmp_path), 1)
    assert not result.fails
    assert "KERNELPCA_DATA" in result.skipped
    assert not CALLS


def test_a_corrupted_file_fails_with_both_digests(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNELPCA_DATA", str(tmp_path))
    (tmp_path / "usps.npz").write_bytes(b"not it")
    (result,) = reproduce([experiment(data=("usps.npz",))], "full", Store(tmp_path), 1)
    assert result.fails
    assert "sha256" in result.error
    assert files.FILES["usps.npz"].sha256 in result.error
    assert not CALLS


def test_objects_are_not_kept(tmp_path):
    odd = experiment()
    object.__setattr__(odd, "run", lambda x: {"odd": object()})
    (result,) = reproduce([odd], "full", Store(tmp_path), 1)
    assert "give arrays of numbers or text" in result.error


def test_a_damaged_piece_is_made_again(tmp_path):
    store = Store(tmp_path)
    list(reproduce([experiment()], "full", store, 1))
    path = store.path(experiment(), {"x": 2})
    path.write_bytes(path.read_bytes()[:50])
    CALLS.clear()
    (result,) = reproduce([experiment()], "full", store, 1)
    assert CALLS == [2]
    assert not result.fails


def test_pieces_of_other_code_are_not_used(tmp_path, monkeypatch):
    store = Store(tmp_path)
    list(reproduce([experiment()], "full", store, 1))
    CALLS.clear()
    monkeypatch.setattr(store_module, "fingerprint", lambda paper: "changed")
    list(reproduce([experiment()], "full", store, 1))
    assert CALLS == [1, 2]


def test_a_fingerprint_is_of_the_library_and_one_paper(tmp_path, monkeypatch):
    assert store_module.fingerprint("ikpca") != store_module.fingerprint("tutorial")
    assert len(store_module.fingerprint("mika-analysis")) == 64

    def changed(path):
        before = store_module.fingerprint.__wrapped__("mika-analysis")
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
        return store_module.fingerprint.__wrapped__("mika-analysis") != before

    monkeypatch.setattr(store_module, "LIBRARY", tmp_path / "library")
    monkeypatch.setattr(store_module, "PAPERS", tmp_path / "papers")
    assert changed("library/kernels/dot.py")
    assert changed("papers/mika_analysis/square.py")
    assert not changed("library/plotting/scores.py")
    assert not changed("papers/ikpca/ecg.py")


def test_the_store_gives_back_what_it_got(tmp_path):
    store = Store(tmp_path)
    path = store.path(experiment(), {"x": 1, "name": "größe"})
    values = {"a": np.arange(6.0).reshape(2, 3), "b": np.array(["x", "yz"]), "c": np.array(3)}
    assert store.get(path) is None
    keep(path, Done(values, 1.5, 10**9))
    back = store.get(path)
    assert (back.seconds, back.peak) == (1.5, 10**9)
    for name, value in values.items():
        np.testing.assert_array_equal(back.values[name], value)


def test_writing_is_all_or_nothing(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def full(self, target):
        raise OSError("disk full")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_found_picks_pieces_by_their_parameters():
    found = Found([{"a": 1, "b": 1}, {"a": 1, "b": 2}, {"a": 2}], [{"v": 1}, {"v": 2}, {"v": 3}])
    np.testing.assert_array_equal(found("v", a=1), [1, 2])
    assert found.one("v", a=2) == 3
    assert found.options("a") == [1, 2]
    assert found.options("b") == [1, 2]
    with pytest.raises(KeyError, match="No piece"):
        found("v", a=3)
