"""An experiment of a paper: settings and where they come from, pieces that run alone, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernelpca_papers.claims import Claim

SIZES = ("full", "quick", "tiny")
Piece = dict[str, Any]
Values = dict[str, np.ndarray]


@dataclass(frozen=True)
class Setting:
    """A number or a choice, and where it comes from: "printed, section 5.1", or "not printed, chosen by ..."."""

    name: str
    value: str
    source: str


@dataclass(frozen=True)
class Table:
    """Rows of cells under a title."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | float]]
    notes: str = ""


@dataclass(frozen=True)
class Picture:
    """A drawn figure, what the paper's shows, and what is seen in ours."""

    name: str
    figure: Any
    paper: str
    ours: str = ""


@dataclass(frozen=True)
class Findings:
    """What came out of an experiment."""

    claims: Sequence[Claim]
    tables: Sequence[Table] = ()
    pictures: Sequence[Picture] = ()
    notes: Sequence[str] = ()


class Found:
    """What all pieces gave: values by name, picked by the pieces' parameters."""

    def __init__(self, pieces: Sequence[Piece], values: Sequence[Values]) -> None:
        self.pieces, self.values = pieces, values

    def where(self, **fixed: Any) -> list[Values]:
        """Return what the pieces with these parameters gave, in order."""
        chosen = [
            values
            for piece, values in zip(self.pieces, self.values, strict=True)
            if all(piece.get(name) == value for name, value in fixed.items())
        ]
        if not chosen:
            raise KeyError(f"No piece has {fixed}.")
        return chosen

    def __call__(self, name: str, **fixed: Any) -> np.ndarray:
        """-> (pieces, ...): one value of each piece with these parameters, stacked."""
        return np.array([values[name] for values in self.where(**fixed)])

    def one(self, name: str, **fixed: Any) -> np.ndarray:
        """Return one value of the first piece with these parameters."""
        return self.where(**fixed)[0][name]

    def options(self, parameter: str) -> list[Any]:
        """List the values of a parameter, in order of appearance."""
        return list(dict.fromkeys(piece[parameter] for piece in self.pieces if parameter in piece))


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper that can be run again.

    Parameters
    ----------
    name : str
        Paper and experiment, such as "ikpca/ecg".
    title : str
        What it is, in one line.
    source : str
        Tables, figures or sections that it reruns.
    settings : sequence of Setting
        Every number, printed or chosen.
    null : str
        The null model that stands beside the methods, in one sentence; or why there is nothing to compare.
    sizes : mapping
        For "full", "quick" and "tiny" the arguments of `pieces`.
    pieces : callable
        `pieces(**sizes[size])` lists parameters of pieces: dictionaries that JSON can hold. Pieces run in any order, in
        processes of their own, and each is kept on disk once it is done.
    run : callable
        `run(**piece)` returns arrays by name. A function of a module, so that another process can find it.
    conclude : callable
        `conclude(found)` returns claims, tables and pictures. Quick: whatever takes time belongs into pieces.
    data : sequence of str
        Names of data files that it needs.
    seconds : mapping
        About how long each size takes on two cores.
    alone : bool
        Pieces are timed: they run one after the other, with all cores.
    """

    name: str
    title: str
    source: str
    settings: Sequence[Setting]
    null: str
    sizes: Mapping[str, Mapping[str, Any]]
    pieces: Callable[..., list[Piece]]
    run: Callable[..., Mapping[str, Any]]
    conclude: Callable[[Found], Findings]
    data: Sequence[str] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    alone: bool = False

    @property
    def paper(self) -> str:
        """The key of its paper."""
        return self.name.partition("/")[0]

    def plan(self, size: str) -> list[Piece]:
        """List the pieces of a size."""
        return self.pieces(**self.sizes[size])
