"""`kernelpca --version`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer


def say_version(asked: bool) -> None:
    """Write which version this is, and end."""
    if asked:
        from kernelpca import __version__

        sys.stdout.write(f"kernelpca {__version__}\n")
        raise typer.Exit


def before_commands(
    version: Annotated[
        bool, typer.Option("--version", help="Say which version this is.", callback=say_version, is_eager=True)
    ] = False,
) -> None:
    """Take what is said before the name of a command."""
