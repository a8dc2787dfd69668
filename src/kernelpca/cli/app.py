"""The commands, and how errors reach the user: one clear line and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import wraps
from importlib.metadata import entry_points
from typing import Any

from kernelpca.cli.words import show_warnings, told
from kernelpca.extras import require

BAD_INPUT, USAGE, INTERRUPTED = 1, 2, 130
TRACEBACK = "KERNELPCA_TRACEBACK"  # set, it shows where an error came from that nobody expected
GO_ON = ("transform", "inverse", "denoise")  # commands that keep what they have finished
OTHERS = "kernelpca.commands"  # the group of entry points by which other distributions bring commands


def interruptible(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that Ctrl-C ends with a word."""

    @wraps(command)
    def run(*words: Any, **options: Any) -> None:
        try:
            command(*words, **options)
        except KeyboardInterrupt:
            more = ", and the same command goes on from there" if command.__name__ in GO_ON else ""
            sys.stderr.write(f"Interrupted: no file was left half done{more}.\n")
            raise SystemExit(INTERRUPTED) from None

    return run


def commands_of_others() -> dict[str, Callable[..., None]]:
    """Return the commands that other distributions bring; one that cannot be imported is left out, with a warning."""
    found = {}
    for point in entry_points(group=OTHERS):
        try:
            found[point.name] = point.load()
        except Exception as error:
            sys.stderr.write(f"Warning: the command {point.name} cannot be loaded from {point.value}: {told(error)}\n")
    return found


def say_what_brings_reproduce() -> None:
    """Say how to install the experiments: they are no part of the library."""
    sys.stderr.write(
        "Error: `kernelpca reproduce` comes with the experiments of the papers: pip install kernelpca-papers "
        "(from a checkout: pip install ./papers).\n"
    )
    raise SystemExit(USAGE)


def main() -> None:
    """Run the command that is asked for."""
    try:
        typer = require("typer", "cli", "The command line")
        from kernelpca.cli import apply, compress, demo, fit, info, pages

        app = typer.Typer(
            help="Kernel PCA that is exact when it can be and always says how good its answer is.",
            no_args_is_help=True,
            add_completion=False,
            pretty_exceptions_enable=False,
            rich_markup_mode=None,  # plain help is there twice as fast
        )
        for command in (
            fit.fit,
            apply.transform,
            apply.inverse,
            apply.denoise,
            apply.score,
            info.info,
            fit.plan,
            compress.compress,
            pages.report,
            pages.explore,
            demo.demo,
        ):
            app.command()(interruptible(command))
        others = commands_of_others()
        for name, command in others.items():
            app.command(name)(interruptible(command))
        if "reproduce" not in others:
            anything = {"allow_extra_args": True, "ignore_unknown_options": True}
            show = app.command("reproduce", hidden=True, add_help_option=False, context_settings=anything)
            show(say_what_brings_reproduce)
        app.callback()(info.before_commands)
        with show_warnings():
            app()
    except KeyboardInterrupt:  # before a command has begun
        raise SystemExit(INTERRUPTED) from None
    except (ArithmeticError, ImportError, MemoryError, OSError, TypeError, ValueError) as error:
        sys.stderr.write(f"Error: {told(error)}\n")
        raise SystemExit(BAD_INPUT) from error
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        sys.stderr.write(f"Error: {type(error).__name__}: {told(error)} ({TRACEBACK}=1 shows where.)\n")
        raise SystemExit(BAD_INPUT) from error
