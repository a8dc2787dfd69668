"""Find a data file: in the folder that KERNELPCA_DATA names, in the user's cache, or at its public source."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from kernelpca.datasets.catalogue import FILES, DataFile
from kernelpca.datasets.digest import digest_of_arrays, digest_of_file, read_arrays
from kernelpca.datasets.download import DownloadError
from kernelpca.datasets.download import download as get

FOLDER = "KERNELPCA_DATA"
OFFLINE = "KERNELPCA_OFFLINE"


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


def find(name: str, download: bool = True) -> Path:
    """Return the path of a data file whose content is right.

    Parameters
    ----------
    name : str
        A name in `kernelpca.datasets.catalogue.FILES`.
    download : bool, default=True
        Whether a file that is not on this machine may be downloaded. Never, if KERNELPCA_OFFLINE is set to 1.

    Raises
    ------
    MissingData
        If it is nowhere; the message says where it was looked for, what the download said, and how to get it.
    CorruptedData
        If the file that was found has another content.
    """
    if name not in FILES:
        raise DataError(f"There is no data file {name!r}; there are {', '.join(FILES)}.")
    wanted = FILES[name]
    folders = [Path(os.environ[FOLDER])] if os.environ.get(FOLDER) else []
    folders.append(cache_folder())
    for path in (folder / name for folder in folders):
        if path.is_file():
            return _checked(path, wanted)
    if not wanted.sources:
        problem = "It cannot be downloaded ready for use."
    elif not download or os.environ.get(OFFLINE, "0") not in ("", "0"):
        problem = f"Downloads are switched off (download=False or {OFFLINE})."
    else:
        try:
            get(wanted, cache_folder() / name)
            return _checked(cache_folder() / name, wanted)
        except DownloadError as error:
            problem = f"The download failed: {error}."
    places = " or ".join(str(folder) for folder in folders)
    raise MissingData(f"{name} ({wanted.origin}) is not in {places}. {problem} {_how(wanted)}")


def _how(wanted: DataFile) -> str:
    """Return how to get a file by hand."""
    by_hand = wanted.by_hand or (
        f'on a machine with a network, python -c "from kernelpca.datasets import find; print(find({wanted.name!r}))" '
        f"makes it from {' and '.join(wanted.sources[0].addresses)}."
    )
    return f"By hand: {by_hand} Put {wanted.name} into a folder and set {FOLDER} to that folder."


def _checked(path: Path, wanted: DataFile) -> Path:
    status = path.stat()
    if problem := _problem(path, wanted, status.st_mtime_ns, status.st_size):
        raise CorruptedData(f"{path} is not the {wanted.name} that results were made with: {problem}")
    return path


@cache
def _problem(path: Path, wanted: DataFile, changed: int, size: int) -> str:
    """Return what is wrong with a file, or "": its bytes are the known ones, or its arrays are."""
    found = digest_of_file(path)
    if found == wanted.sha256:
        return ""
    problem = f"its sha256 is {found}, expected {wanted.sha256}"
    if wanted.arrays:
        try:
            arrays = digest_of_arrays(read_arrays(path))
        except Exception as error:  # whatever a broken archive brings about
            problem += f", and its arrays cannot be read ({type(error).__name__}: {error})"
        else:
            if arrays == wanted.arrays:
                return ""
            problem += f", and the sha256 of its arrays is {arrays}, expected {wanted.arrays}"
    return f"{problem}. Remove it and get it again."
