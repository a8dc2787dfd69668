"""The command line: the demo, and commands that other distributions bring."""

import importlib.metadata
import os
import subprocess
import sys

import pytest

from kernelpca.cli import app


def run(*words, **environment):
    return subprocess.run(
        [sys.executable, "-m", "kernelpca", *words],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "200", **environment},
        check=False,
    )


def test_demo_writes_a_picture_and_a_table(tmp_path):
    answer = run("demo", "--out", str(tmp_path))
    assert answer.returncode == 0, answer.stderr
    assert (tmp_path / "denoise.png").stat().st_size > 10_000
    assert "kernel PCA" in (tmp_path / "table.md").read_text()


@pytest.fixture
def alone(monkeypatch):
    """Run commands where no other distribution brings any; return the exit code."""

    def main(*words):
        monkeypatch.setattr(app, "entry_points", lambda group: importlib.metadata.EntryPoints())
        monkeypatch.setattr(sys, "argv", ["kernelpca", *words])
        with pytest.raises(SystemExit) as stop:
            app.main()
        return stop.value.code

    return main


@pytest.mark.parametrize("words", [(), ("--list",), ("--help",), ("ikpca/ecg", "--quick", "--out", "x")])
def test_without_the_experiments_one_sentence_says_what_brings_them(alone, words, capsys):
    assert alone("reproduce", *words) == app.USAGE == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert "pip install kernelpca-papers (from a checkout: pip install ./papers)" in told.err


def test_without_the_experiments_help_does_not_list_them(alone, capsys):
    assert alone("--help") == 0
    told = capsys.readouterr().out
    assert "denoise" in told
    assert "reproduce" not in told


@pytest.fixture
def other(tmp_path):
    """The address of a distribution that brings the command `count`, of a module that may be missing."""

    def make(code):
        information = tmp_path / "counting-1.0.dist-info"
        information.mkdir()
        (information / "METADATA").write_text("Metadata-Version: 2.1\nName: counting\nVersion: 1.0\n")
        (information / "entry_points.txt").write_text("[kernelpca.commands]\ncount = counting:tell\n")
        if code:
            (tmp_path / "counting.py").write_text(code)
        return os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])

    return make


def test_commands_of_other_distributions_are_listed_and_run(other):
    path = other("def tell(n: int) -> None:\n    'Count to a number.'\n    print(*range(n))\n")
    assert "Count to a number." in run("--help", PYTHONPATH=path).stdout
    assert run("count", "3", PYTHONPATH=path).stdout == "0 1 2\n"


@pytest.mark.parametrize("code", ["", "raise RuntimeError('broken')"])
def test_a_command_that_cannot_be_imported_costs_no_other(other, code):
    answer = run("--version", PYTHONPATH=other(code))
    assert answer.returncode == 0
    assert answer.stdout.startswith("kernelpca ")
    assert answer.stderr.startswith("Warning: the command count cannot be loaded from counting:tell: ")
    assert answer.stderr.count("\n") == 1
