"""What commands say, and where: results on standard output, progress and warnings beside it, JSON for machines."""

from __future__ import annotations

import ast
import json
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from shlex import quote
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernelpca.progress import Done

QUIET = 2.0  # seconds that go by without a bar

# what the library calls parameters, and the command line options
OPTION = re.compile(r"(?<![\w-])--[a-z]")  # a message that names options already speaks to this reader
BEFORE = r"(?<![\w/\\.'\"-])(?<!\w\()"  # what is part of a path, of a name or of a call is none of our parameters
VALUE = r"'[^']*'|\"[^\"]*\"|\([^)]*\)|\[[^\]]*\]|[\w.+-]*\w"
WORDS = {
    f"{BEFORE}header=True\\b": "--header",
    f"{BEFORE}header=False\\b": "--no-header",
    f"{BEFORE}key='\\.\\.\\.'": "--key NAME",
    r"\bleave key out\b": "leave --key out",
    f"{BEFORE}columns=\\[\\.\\.\\.\\]": "--columns",
    r"\b([Rr])aise memory_limit\b(?!=)": r"\1aise --memory",
    r"\(n_components\)": "(--components)",
}
VALUES = {"n_components": "--components", "memory_limit": "--memory", "key": "--key", "columns": "--columns"}
PARAMETER = re.compile(f"{BEFORE}(?P<name>{'|'.join(VALUES)})=(?P<value>{VALUE})")
OF_COMPONENTS = {
    r"\bn_samples = (\d+)": r"\1 rows",
    r"\bn_features = (\d+)": r"\1 columns",
    r"\('relative', ([\w.-]+)\)": r"relative:\1",
    r"\bor None\b( for all)?": "or all",
    r"\ban int\b": "a number",
    r"\ba float between\b": "a fraction between",
}
OF_MEMORY = {
    r"\ba string such as \"(\w+)\" or \"(\w+)\"": r"an amount such as \1 or \2",
    r"\bor None for\b": "or leave it out for",
}


@contextmanager
def show_warnings() -> Iterator[None]:
    """Within the block, write each warning as one line, and once."""
    shown = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        text = told(message)
        if text not in shown:
            sys.stderr.write(f"Warning: {text}\n")
        shown.add(text)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("once", UserWarning)
        warnings.showwarning = show
        yield


def say(facts: dict[str, Any], text: str, as_json: bool) -> None:
    """Write what came out: facts for machines, or text for people."""
    shown = json.dumps(facts, default=_plain, indent=2) if as_json else "\n".join(map(printable, text.split("\n")))
    sys.stdout.write(shown + "\n")


def printable(text: str) -> str:
    """Return a text in which nothing moves a cursor or hides: other characters than those one sees are replaced."""
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in text)


def one_line(message: Any) -> str:
    """Return a message as one line that is safe to print."""
    return printable(" ".join(str(message).split()))


def told(message: Any) -> str:
    """Return an error or a warning of the library as one line about the command line's own options."""
    return one_line(translate(" ".join(str(message).split())))


def translate(text: str) -> str:
    """Return a message with the command line's options in the place of parameters, unless it names some already."""
    if OPTION.search(text):
        return text
    told = PARAMETER.sub(_with_value, _worded(text, WORDS))
    for option, words in (("--components", OF_COMPONENTS), ("--memory", OF_MEMORY)):
        if option in told:
            told = _worded(told, words)
    return told


def _worded(text: str, words: dict[str, str]) -> str:
    for pattern, word in words.items():
        text = re.sub(pattern, word, text)
    return text


def _with_value(found: re.Match[str]) -> str:
    """Return an option with the value that its parameter was given, as one writes it on the command line."""
    option = VALUES[found["name"]]
    try:
        value = ast.literal_eval(found["value"])
    except (SyntaxError, ValueError):
        value = found["value"]
    if value is None:
        return f"{option} all"
    if isinstance(value, tuple | list):
        value = (":" if isinstance(value, tuple) else ",").join(map(str, value))
    return f"{option} {quote(str(value))}"


def _plain(value: Any) -> Any:
    """Return arrays, numbers of NumPy's and all other things as JSON can hold them."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)


def watches_progress() -> bool:
    """Whether somebody looks at a terminal."""
    return sys.stderr.isatty()


def fit_callback() -> Any:
    """Return what shows the progress of a long fit, or None where nobody looks."""
    from kernelpca.progress import ProgressBar

    return ProgressBar(delay=QUIET, stays=False) if watches_progress() else None


def looking(table: Any, done: Done) -> AbstractContextManager[Any]:
    """Within the block, tell how far each look at a table has come that is not in memory."""
    if not table.is_lazy:
        return nullcontext()
    from kernelpca.dask.looks import Looks

    return Looks(done)


@contextmanager
def bar(what: str) -> Iterator[Done]:
    """Give a function `done(parts, all_parts)` that moves a bar with the time left, drawn after two seconds."""
    if not watches_progress():
        yield lambda parts, total: None
        return
    from kernelpca.progress import Bar

    with Bar(what, delay=QUIET, stays=False) as shown:
        yield shown.done
