"""Arguments and options that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

Data = Annotated[
    Path,
    typer.Argument(
        help="Rows of numbers: .csv, .tsv, .txt, .parquet, .npy, .npz, .h5, .hdf5 or .zarr.",
        show_default=False,
        readable=False,  # the reader says so itself
    ),
]
Model = Annotated[Path, typer.Argument(help="A model file, as `kernelpca fit` writes it.", show_default=False)]
Out = Annotated[
    Path, typer.Option("--out", "-o", help="Where to write; the suffix tells the format.", show_default=False)
]
MaybeOut = Annotated[Path | None, typer.Option("--out", "-o", help="Where to write all of them.", show_default=False)]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there.")]
Json = Annotated[bool, typer.Option("--json", help="Print facts for machines.")]
Key = Annotated[str | None, typer.Option(help="Which array, of a file with several.", show_default=False)]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header", help="Whether a text file begins with names (else guessed).", show_default=False
    ),
]
Columns = Annotated[str | None, typer.Option(help="Columns to take, by name or number: a,b,c.", show_default=False)]
Exclude = Annotated[
    str | None, typer.Option(help="Columns to leave out, by name or number: a,b,c.", show_default=False)
]
DropMissing = Annotated[bool, typer.Option("--drop-missing", help="Leave out rows with missing values.")]

Command = TypeVar("Command", bound=Callable[..., Any])


def with_options_of(other: Callable[..., Any]) -> Callable[[Command], Command]:
    """Give a command that takes `**options` the options of another function, which it passes on."""

    def join(command: Command) -> Command:
        own = inspect.signature(command, eval_str=True).parameters.values()
        more = inspect.signature(other, eval_str=True).parameters.values()
        joined = [part for part in own if part.kind is not part.VAR_KEYWORD] + list(more)
        command.__signature__ = inspect.Signature(joined)  # type: ignore[attr-defined]
        command.__annotations__ = {part.name: part.annotation for part in joined}
        return command

    return join
