"""`kernelpca reproduce`: run experiments of the papers again, with our number beside the printed one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer


def reproduce(
    experiments: Annotated[
        list[str] | None, typer.Argument(help="Names such as ikpca/ecg, or ikpca for all of a paper.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every experiment of every paper.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer repetitions: minutes instead of hours.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for report.html, results.json and figures.")] = Path("reproduction"),
    jobs: Annotated[int, typer.Option(min=1, help="Processes at a time.")] = os.cpu_count() or 1,
    listed: Annotated[bool, typer.Option("--list", help="List the experiments and run nothing.")] = False,
) -> None:
    """Run experiments of the papers again and compare with what they print.

    Finished pieces are kept in the folder: a run that was interrupted goes on where it stopped.
    """
    if not (listed or experiments or everything):
        raise typer.BadParameter("Name experiments (`kernelpca reproduce --list` lists them), or give --all.")
    from kernelpca_papers.terminal import list_experiments, run_experiments

    if listed:
        list_experiments()
    else:
        raise typer.Exit(run_experiments(None if everything else experiments, quick, out, jobs))
