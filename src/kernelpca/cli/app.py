"""The commands, and how errors reach the user: one clear line and an exit code."""

from __future__ import annotations

import sys

from kernelpca.extras import require

BAD_INPUT = 1


def main() -> None:
    """Run the command that is asked for."""
    try:
        typer = require("typer", "cli", "The command line")
        from kernelpca.cli import demo, reproduce

        app = typer.Typer(
            help="Kernel PCA that is exact when it can be and always says how good its answer is.",
            no_args_is_help=True,
            add_completion=False,
            pretty_exceptions_enable=False,
        )
        app.command()(demo.demo)
        app.command()(reproduce.reproduce)
        app()
    except (ImportError, OSError, ValueError) as error:
        sys.stderr.write(f"Error: {error}\n")
        raise SystemExit(BAD_INPUT) from error
