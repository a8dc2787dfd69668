"""Pages with code tell the truth: every block runs, in order within its page, and prints what is written below it.

- A block of `python` is executed; a block of `text` right after it is what it printed, `...` standing for anything.
- One whose first line is a comment with a file's name, such as `# triangular.py`, becomes that file; files that
  begin with `test_` are run by pytest when the page is done.
- Lines of `console` that begin with `$ kernelpca` are commands; what follows is what they print.
"""

import doctest
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("guide/*.md"), *DOCS.glob("theory/*.md"), DOCS / "extending.md", DOCS / "migrating.md"])
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
FILE = re.compile(r"# (\w+\.py)\n")
SAME = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """Code of a page, what it prints (None where the page does not say), and where it is."""

    language: str
    code: str
    printed: str | None
    line: int


def blocks_of(text):
    found = list(BLOCK.finditer(text))
    for block, after in zip(found, [*found, None][1:], strict=True):
        shows = after is not None and after[1] == "text" and not text[block.end() : after.start()].strip()
        yield Block(block[1], block[2], after[2] if shows else None, text[: block.start()].count("\n") + 1)


def commands_of(block):
    """Pairs of a command and what it prints."""
    for part in re.split(r"^\$ ", block.code, flags=re.M)[1:]:
        command, _, printed = part.partition("\n")
        yield shlex.split(command), printed


def run_command(words):
    from kernelpca.cli import main

    before, sys.argv = sys.argv, words
    try:
        main()
    except SystemExit as error:
        if error.code:
            raise AssertionError(f"{' '.join(words)}: exit code {error.code}") from error
    finally:
        sys.argv = before


def check_printed(wanted, got, where):
    assert doctest.OutputChecker().check_output(wanted, got, SAME), f"{where} prints\n{got}\nand not\n{wanted}"


def run_tests(folder):
    path = os.pathsep.join([str(ROOT / "tests"), str(folder)])
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", str(folder)]
    done = subprocess.run(words, cwd=folder, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_code_of_a_page_runs(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    modules = set(sys.modules)
    namespace = {"__name__": page.stem}
    for block in blocks_of(page.read_text()):
        where = f"{page.name}:{block.line}"
        capsys.readouterr()
        if block.language == "console":
            for words, printed in commands_of(block):
                run_command(words)
                check_printed(printed, capsys.readouterr().out, f"{where}: {' '.join(words)}")
        elif block.language == "python" and (named := FILE.match(block.code)):
            (tmp_path / named[1]).write_text(block.code)
        elif block.language == "python":
            exec(compile("\n" * block.line + block.code, str(page), "exec"), namespace)
            if block.printed is not None:
                check_printed(block.printed, capsys.readouterr().out, where)
    if list(tmp_path.glob("test_*.py")):
        run_tests(tmp_path)
    for name in set(sys.modules) - modules:  # files of the page, which is gone with its folder
        if str(getattr(sys.modules[name], "__file__", "") or "").startswith(str(tmp_path)):
            del sys.modules[name]


def test_every_page_is_found():
    names = {str(page.relative_to(DOCS)) for page in PAGES}
    assert len([name for name in names if name.startswith("guide/")]) >= 13
    assert len([name for name in names if name.startswith("theory/")]) >= 7


def test_what_is_printed_is_compared():
    page = "```python\nprint(1)\n```\n\n```text\n2\n```\n"
    (block,) = (block for block in blocks_of(page) if block.language == "python")
    assert block.printed == "2\n"
    with pytest.raises(AssertionError, match="and not"):
        check_printed(block.printed, "1\n", "here")
    check_printed("0.9... in ... s\n", "0.95 in 0.2 s\n", "here")


@pytest.mark.parametrize("name", sorted(path.stem for path in (DOCS / "api").glob("*.rst") if path.stem != "index"))
def test_every_public_name_is_in_the_reference(name):
    from importlib import import_module

    text = (DOCS / "api" / f"{name}.rst").read_text()
    module = import_module(re.search(r"automodule:: (\S+)", text)[1])
    public = getattr(module, "__all__", [])
    listed = set(re.findall(r"^\.\. (?:auto\w+|data):: (?:\S+\.)?(\w+)$", text, re.M))
    assert {key for key in public if not key.startswith("__")} - listed == set()


EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_ask_a_question_and_need_no_download(path):
    text = path.read_text()
    title = text.removeprefix('"""\n').splitlines()[0]
    assert path.stem.startswith("plot_")  # others are not run by the build
    assert title.endswith("?")
    assert "# %%" in text
    assert "fetch_" not in text
    assert "kernelpca.datasets" not in text


def test_there_are_at_least_twelve_examples():
    assert len(EXAMPLES) >= 12
