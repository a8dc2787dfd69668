"""Find a data file: in the folder that KERNELPCA_DATA names, or in the user's cache; and see that it is the right one."""

from __future__ import annotations

import os
from functools import cache
from hashlib import file_digest
from pathlib import Path

from kernelpca.datasets.catalogue import FILES, DataFile

VARIABLE = "KERNELPCA_DATA"


class DataError(Exception):
    """A data set cannot be used."""


class MissingData(DataError, FileNotFoundError):
    """A data set is not on this machine; the message says how to get it."""


class CorruptedData(DataError, ValueError):
    """A data file is not the one it should be."""


def cache_folder() -> Path:
    """Return the folder of files that were downloaded."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "kernelpca"


def find(name: str) -> Path:
    """Return the path of a data file whose digest is right.

    Raises
    ------
    MissingData
        If it is nowhere; the message says where it was looked for and how to get it.
    CorruptedData
        If the file that was found has another digest.
    """
    wanted = FILES[name]
    folders = [Path(os.environ[VARIABLE])] if os.environ.get(VARIABLE) else []
    folders.append(cache_folder())
    for folder in folders:
        path = folder / name
        if path.is_file():
            _check(path, wanted)
            return path
    places = " or ".join(str(folder) for folder in folders)
    raise MissingData(
        f"{name} ({wanted.origin}) is not in {places}. Put it into a folder and set {VARIABLE} to that folder."
    )


def _check(path: Path, wanted: DataFile) -> None:
    status = path.stat()
    found = _digest(path, status.st_mtime_ns, status.st_size)
    if found != wanted.sha256:
        raise CorruptedData(
            f"{path} is not the {wanted.name} that results were made with: its sha256 is {found}, "
            f"expected {wanted.sha256}. Remove it and get it again."
        )


@cache
def _digest(path: Path, changed: int, size: int) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
