"""`kernelpca report` and `kernelpca explore`: pages about a model and its data."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from kernelpca.cli.models import load_fitted
from kernelpca.cli.options import Data, Force, Header, Json, Key, Model
from kernelpca.cli.tables import check_output, open_for
from kernelpca.cli.words import bar, say

Page = Annotated[Path, typer.Option("--out", "-o", help="Where to write the page, an .html file.", show_default=False)]
Image = Annotated[str | None, typer.Option("--image", help="Rows are images: 28x28, or 32x32x3.", show_default=False)]
Kind = Annotated[str, typer.Option(help="What rows are: auto, image, signal or table.")]
Labels = Annotated[
    Path | None, typer.Option(help="A file with one label for each row, one in a line.", show_default=False)
]
Title = Annotated[str | None, typer.Option(help="The title of the page.", show_default=False)]


def page_command(name: str, module: str, help_text: str) -> Callable[..., None]:
    """Return the command that writes the page which a function of a module makes."""

    def command(
        model: Model,
        data: Data,
        out: Page,
        labels: Labels = None,
        image: Image = None,
        kind: Kind = "auto",
        title: Title = None,
        key: Key = None,
        header: Header = None,
        force: Force = False,
        as_json: Json = False,
    ) -> None:
        from kernelpca.atomic import write_atomically
        from kernelpca.io.writing import explained
        from kernelpca.memory import readable_bytes

        if out.suffix.lower() not in (".html", ".htm"):
            raise ValueError(f"{out}: a page is an .html file.")
        check_output(out, force, model, data)
        make, shape = getattr(import_module(module), name), read_shape(image)
        fitted = load_fitted(model, "transform")
        table = open_for(fitted, data, key, header)
        named = None if labels is None else read_labels(labels, len(table))
        with bar(name) as done:
            text = make(fitted, table, labels=named, image_shape=shape, kind=kind, title=title or data.stem, done=done)
        with explained(out):
            write_atomically(out, text.encode("utf-8"))
        size = out.stat().st_size
        say({"written": str(out), "bytes": size}, f"Written: {out} ({readable_bytes(size)})", as_json)

    command.__name__, command.__doc__ = name, help_text
    return command


report = page_command(
    "report",
    "kernelpca.pages.model_report",
    "Write a page about a model and data: plan, certificate, scores, reconstructions, outliers.",
)
explore = page_command(
    "explore",
    "kernelpca.pages.explorer",
    "Write a page in which the components can be explored: a map of scores, and the pre-image of any point.",
)


def read_labels(path: Path, rows: int) -> list[str]:
    """Return the lines of a file, one for each row."""
    if not path.exists():
        from kernelpca.io.reading import say_absent

        raise FileNotFoundError(f"--labels: {say_absent(path, path.suffix)}")
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"--labels {path} is no text in UTF-8: save it as such, or give labels of plain letters."
        ) from error
    if len(lines) != rows:
        remedy = "give a label for each row, one in a line."
        if len(lines) == rows + 1:
            remedy = f"the first line, {lines[0]!r}, may be a name. If it is, remove it."
        raise ValueError(f"--labels {path} has {len(lines)} lines, and there are {rows} rows: {remedy}")
    return lines


def read_shape(text: str | None) -> tuple[int, ...] | None:
    """Return the shape that a text such as 28x28 means."""
    if text is None:
        return None
    parts = text.lower().replace(",", "x").split("x")
    if len(parts) not in (2, 3) or not all(part.strip().isdecimal() for part in parts):
        raise ValueError(f"--image {text}: write height x width, such as 28x28, or 32x32x3 for colors.")
    return tuple(int(part) for part in parts)
