"""Finished pieces on disk: written whole or not at all, read again only by the very code that made them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import scipy
import sklearn

import kernelpca
from kernelpca.atomic import write_atomically
from kernelpca_papers.experiment import Experiment, Piece, Values

LIBRARY, PAPERS = Path(kernelpca.__file__).parent, Path(__file__).parent
# of the library, what no result depends on
NO_RESULT = {
    "cli",
    "pages",
    "dask",
    "io",
    "persistence",
    "plotting",
    "selection",
    "demo.py",
    "__init__.py",
    "__main__.py",
}
COST = ("_seconds", "_peak")


@dataclass(frozen=True)
class Done:
    """What a piece gave, and what it took."""

    values: Values
    seconds: float
    peak: int


@cache
def fingerprint(paper: str) -> str:
    """Return a digest of everything that results of a paper depend on: the library, the paper's folder, versions."""
    digest = sha256(f"{np.__version__} {scipy.__version__} {sklearn.__version__}".encode())
    for folder, left_out in ((LIBRARY, NO_RESULT), (PAPERS / paper.replace("-", "_"), set())):
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).parts
            if parts[0] not in left_out:
                digest.update("/".join(parts).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


class Store:
    """A folder of finished pieces."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, experiment: Experiment, piece: Piece) -> Path:
        """Return where a piece is or will be."""
        key = json.dumps([experiment.name, piece, fingerprint(experiment.paper)], sort_keys=True)
        return self.folder / experiment.name / f"{sha256(key.encode()).hexdigest()[:24]}.npz"

    def get(self, path: Path) -> Done | None:
        """Return a finished piece, or None if there is none that can be read."""
        try:
            with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as file:
                values = {name: file[name] for name in file.files}
            seconds, peak = (values.pop(name) for name in COST)
        except (OSError, ValueError, KeyError, BadZipFile, EOFError):
            return None
        return Done(values, float(seconds), int(peak))


def keep(path: Path, done: Done) -> None:
    """Write a finished piece."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content: dict[str, Any] = {**done.values, **dict(zip(COST, (done.seconds, done.peak), strict=True))}
    buffer = BytesIO()
    np.savez_compressed(buffer, **content)
    write_atomically(path, buffer.getvalue())
