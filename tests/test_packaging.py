"""What is in the distributions: the library without an experiment, and the experiments."""

import subprocess
import sys
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest

import kernelpca

ROOT = Path(__file__).parents[1]
PAPERS = ROOT / "papers"


def wheel_of(project, folder):
    """Build the wheel of a project: the files in it, each with a function that reads it."""
    pytest.importorskip("hatchling")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=project, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    with ZipFile(path) as wheel:
        return {name: wheel.read(name).decode(errors="replace") for name in wheel.namelist()}


def files_of(folder):
    return {
        path.relative_to(folder.parent).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }


def test_the_wheel_of_the_library_has_no_experiment(tmp_path):
    wheel = wheel_of(ROOT, tmp_path)
    inside = {name for name in wheel if ".dist-info/" not in name}
    assert inside == files_of(ROOT / "src" / "kernelpca")
    experiments = {path.stem for path in PAPERS.glob("src/kernelpca_papers/*/") if path.stem != "__pycache__"}
    assert experiments >= {"ikpca", "digest", "mika_analysis", "dualization", "tutorial"}
    assert not [name for name in inside if "papers" in name or experiments & set(Path(name).parts)]
    assert not [name for name in inside if "kernelpca_papers" in wheel[name]]


def test_the_wheel_of_the_experiments_brings_a_command_and_nothing_else(tmp_path):
    wheel = wheel_of(PAPERS, tmp_path)
    assert {name for name in wheel if ".dist-info/" not in name} == files_of(PAPERS / "src" / "kernelpca_papers")
    (points,) = (text for name, text in wheel.items() if name.endswith("entry_points.txt"))
    assert points.split() == ["[kernelpca.commands]", "reproduce", "=", "kernelpca_papers.reproduce:reproduce"]


def test_both_have_one_version_and_one_license():
    project = tomllib.loads((PAPERS / "pyproject.toml").read_text())["project"]
    assert project["version"] == kernelpca.__version__
    assert project["dependencies"] == [f"kernelpca[cli]=={kernelpca.__version__}"]
    assert (PAPERS / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
