"""What commands say, and where: results on standard output, progress and warnings beside it, JSON for machines."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from kernelpca.cli.translation import translate

if TYPE_CHECKING:
    from kernelpca.progress import Done

QUIET = 2.0  # seconds that go by without a bar


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
