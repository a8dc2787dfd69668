"""Experiments on the terminal: a list of them, bars while they run, and what came out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Column, Table

from kernelpca.progress import readable_seconds
from kernelpca_papers.catalogue import PAPERS, names, select
from kernelpca_papers.claims import count_line
from kernelpca_papers.experiment import Experiment
from kernelpca_papers.output import Output
from kernelpca_papers.runner import Event, Result
from kernelpca_papers.runner import reproduce as run_all

COLORS = {"pass": "green", "differ": "yellow", "not reproducible": "cyan"}
FAILED, INTERRUPTED = 1, 130


def list_experiments() -> None:
    """Print a table of all experiments."""
    Console().print(list_of(select(names())))


def run_experiments(wanted: list[str] | None, quick: bool, out: Path, jobs: int) -> int:
    """Run the experiments of these names, or all; return the exit code."""
    console = Console()
    chosen = select(wanted if wanted is not None else names())
    output = Output(out)
    output.open()
    code = 0
    try:
        with Bars(console, chosen, "quick" if quick else "full") as bars:
            for result in run_all(chosen, bars.size, output.store, jobs, bars):
                output.add(result)
    except KeyboardInterrupt:
        console.print("Interrupted: what was finished is kept, and the same command goes on from there.")
        code = INTERRUPTED
    output.close([experiment.name for experiment in chosen])
    summarize(console, output, len(chosen))
    if any(result.fails for result in output.results):
        code = code or FAILED
    return code


def list_of(experiments: list[Experiment]) -> Table:
    """Return a table of experiments: name, what it is, what it reruns, and how long it takes."""
    names = Column("experiment", no_wrap=True, min_width=max(len(experiment.name) for experiment in experiments))
    table = Table(names, "what it is", "reruns", "quick", "full", title_justify="left")
    for paper in PAPERS:
        for experiment in experiments:
            if experiment.paper == paper:
                times = (readable_seconds(experiment.seconds.get(size, 0.0)) for size in ("quick", "full"))
                table.add_row(experiment.name, experiment.title, experiment.source, *times)
        table.add_section()
    return table


def summarize(console: Console, output: Output, asked: int) -> None:
    """Print what did not come out, where the page is, and the count."""
    for result in output.results:
        if result.skipped:
            console.print(f"[yellow]skipped[/] {result.experiment.name}: {result.skipped}", highlight=False)
        if result.error:
            console.print(f"[red]failed[/] {result.experiment.name}: {result.error}", highlight=False)
        for claim in result.findings.claims if result.findings else ():
            if claim.fails:
                text = f"{claim.measured:.4g}, {claim.relation} {claim.target:.4g} ± {claim.tolerance:.2g}"
                console.print(
                    f"[red]should pass[/] {result.experiment.name}: {claim.statement}: {text}", highlight=False
                )
    console.print(f"Written: {output.folder / 'report.html'}, results.json and figures/ beside it", highlight=False)
    skipped = sum(bool(result.skipped) for result in output.results)
    failed = sum(bool(result.error) for result in output.results)
    done = len(output.results) - skipped - failed
    console.print(
        f"{done} of {asked} experiments run, {skipped} skipped for want of data, {failed} failed", highlight=False
    )
    console.print(count_line(output.claims), highlight=False)


class Bars:
    """Two bars: all experiments, by the time they are known to take, and the pieces of the one that runs."""

    def __init__(self, console: Console, experiments: list[Experiment], size: str) -> None:
        self.size = size
        self.console = console
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[of]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._costs = {experiment.name: experiment.seconds.get(size, 1.0) for experiment in experiments}
        self._all: Any = None
        self._one: Any = None
        self._pieces = 1

    def __enter__(self) -> Bars:
        self._progress.start()
        self._all = self._progress.add_task(
            "all experiments", total=sum(self._costs.values()), of=f"of {len(self._costs)}"
        )
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def __call__(self, event: Event) -> None:
        """Show an event."""
        name = event.experiment.name
        if event.kind == "began":
            self._pieces = max(event.pieces, 1)
            self._one = self._progress.add_task(name, total=event.pieces, of=f"of {event.pieces} pieces")
        elif event.kind == "piece":
            self._progress.advance(self._one)
            self._progress.advance(self._all, self._costs[name] / self._pieces)
        elif event.result is not None:
            if self._one is not None:
                self._progress.remove_task(self._one)
                self._one = None
            else:
                self._progress.advance(self._all, self._costs[name])
            self.console.print(line_of(event.result), highlight=False)


def line_of(result: Result) -> str:
    """Return one line about a result."""
    if result.findings is None:
        return f"{result.experiment.name:32} {'skipped: no data' if result.skipped else 'failed'}"
    verdicts = [claim.verdict for claim in result.findings.claims]
    counts = (f"[{color}]{verdicts.count(kind)} {kind}[/]" for kind, color in COLORS.items() if kind in verdicts)
    return f"{result.experiment.name:32} {', '.join(counts) or 'no claims'} ({result.wall:.0f} s)"
