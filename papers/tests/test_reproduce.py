"""`kernelpca reproduce`: what it lists, runs, writes and answers to bad input."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from functools import partial

import pytest

from kernelpca_papers import catalogue


def run(*words, **environment):
    return subprocess.run(
        [sys.executable, "-m", "kernelpca", *words],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "200", **environment},
        check=False,
    )


def test_list_names_every_experiment():
    answer = run("reproduce", "--list")
    assert answer.returncode == 0
    for name in catalogue.names():
        assert name in answer.stdout


@pytest.mark.parametrize(("wrong", "near"), [("ikpca/egc", "ikpca/ecg"), ("ecg", "ikpca/ecg"), ("ikcpa", "ikpca")])
def test_unknown_names_are_answered_with_near_ones(wrong, near, tmp_path):
    answer = run("reproduce", wrong, "--out", str(tmp_path / "out"))
    assert answer.returncode == 1
    assert answer.stderr.startswith(f"Error: There is no experiment {wrong!r}.")
    assert near in answer.stderr
    assert "Traceback" not in answer.stderr
    assert not (tmp_path / "out").exists()


def test_help_lists_the_command():
    assert re.search(r"^ +reproduce +Run experiments of the papers again", run("--help").stdout, re.M)


def test_nothing_asked_for_is_a_usage_error():
    answer = run("reproduce")
    assert answer.returncode == 2
    assert "--list" in answer.stderr


def test_a_folder_that_cannot_be_written_is_named_before_anything_runs(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    answer = run("reproduce", "ikpca/ecg", "--out", str(blocked / "out"))
    assert answer.returncode == 1
    assert str(blocked / "out") in answer.stderr
    assert "--out" in answer.stderr
    assert "Traceback" not in answer.stderr


def test_missing_data_is_a_skip_that_says_how_to_get_it(tmp_path):
    answer = run(
        "reproduce",
        "ikpca/ecg",
        "--quick",
        "--out",
        str(tmp_path / "out"),
        KERNELPCA_DATA=str(tmp_path),
        KERNELPCA_OFFLINE="1",
        XDG_CACHE_HOME=str(tmp_path / "cache"),
    )
    assert answer.returncode == 0
    assert "KERNELPCA_DATA" in answer.stdout
    assert answer.stdout.splitlines()[-1] == "0 claims: 0 pass, 0 differ, 0 not reproducible"
    assert json.loads((tmp_path / "out" / "results.json").read_text())["experiments"][0]["skipped"]


def test_a_corrupted_file_is_named_with_its_digest(tmp_path):
    (tmp_path / "cpsc_normal_beats.h5").write_bytes(b"not it")
    answer = run("reproduce", "ikpca/ecg", "--out", str(tmp_path / "out"), KERNELPCA_DATA=str(tmp_path))
    assert answer.returncode == 1
    assert "cpsc_normal_beats.h5" in answer.stdout
    assert "sha256" in answer.stdout


MADE = "digest/diagonalizations"  # needs little time, and no data


@pytest.mark.slow
def test_interrupted_runs_keep_what_is_finished(tmp_path):
    out = tmp_path / "out"
    command = [
        sys.executable,
        "-m",
        "kernelpca",
        "reproduce",
        MADE,
        "tutorial/complexity",
        "--quick",
        "--out",
        str(out),
    ]
    listens = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # also where this runs in the background
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=listens)
    began = time.monotonic()
    while not list((out / "cache" / "tutorial").rglob("*.npz")) and time.monotonic() - began < 300:
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    text, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Interrupted" in text + errors
    assert "Traceback" not in errors
    names = [one["name"] for one in json.loads((out / "results.json").read_text())["experiments"]]
    assert names == [MADE]
    assert MADE in (out / "report.html").read_text()
