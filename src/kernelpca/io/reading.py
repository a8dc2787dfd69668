"""Open a file as rows of numbers: in memory where it is small, else as a Dask array of which nothing is read yet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from kernelpca.extras import require
from kernelpca.io.arrays import Hdf5, Npy, Npz, Zarr
from kernelpca.io.csv import Csv
from kernelpca.io.parquet import Parquet
from kernelpca.io.protocol import BadFile, Reader, check_file
from kernelpca.io.table import Table
from kernelpca.memory import granted_bytes
from kernelpca.progress import Done
from kernelpca.tiles import available_threads
from kernelpca.warn import warn

FORMATS: dict[str, type[Reader]] = {
    ".npy": Npy,
    ".npz": Npz,
    ".csv": Csv,
    ".tsv": Csv,
    ".txt": Csv,
    ".parquet": Parquet,
    ".h5": Hdf5,
    ".hdf5": Hdf5,
    ".zarr": Zarr,
}
REMEDIES = {
    **dict.fromkeys((".xlsx", ".xls", ".ods", ".numbers"), " It is a spreadsheet: save it as CSV where it was made."),
    **dict.fromkeys((".gz", ".zip", ".bz2", ".xz", ".zst", ".7z", ".tar", ".tgz"), " It is packed: unpack it first."),
    **dict.fromkeys((".feather", ".arrow", ".pkl", ".json", ".dta", ".sas7bdat"), " Write it as .parquet with pandas."),
    ".kpca": " It is a model by its name: give a file of rows.",
}
NEAR = 5  # files that a message names
SHARE = 0.25  # of the memory granted, that a file which is loaded may take
CHUNKS = 16  # of a larger file that would take as much, for each thread: what is made of them needs room too


def open_data(
    path: str | Path,
    *,
    columns: Iterable[str | int] | None = None,
    key: str | None = None,
    header: bool | None = None,
    chunks: int | str | None = None,
    memory_limit: int | float | str | None = None,
    done: Done | None = None,
) -> Table:
    """Open a file as rows of numbers.

    Parameters
    ----------
    path : str or Path
        The file; its suffix tells the format: .npy, .npz, .csv, .parquet, .h5, .zarr.
    columns : iterable of str or int, optional
        Which columns, by name or number; all when not given.
    key : str, optional
        Which array, of a file with several (.npz, .h5, .zarr).
    header : bool, optional
        Whether the first line of a text file has names of columns; None to guess: it has if any of them is no number,
        or if they count from 0 or 1.
    chunks : int, "auto" or None, default=None
        Rows of a chunk of the Dask array that the file becomes, or "auto" for some that make about 32 MB, less where
        little memory is granted. None for an array in memory, if it takes at most an eighth of what is free (.npy is
        mapped into memory and takes none), and "auto" for larger files.
    memory_limit : int, str or None, default=None
        Memory, of which a quarter may be taken for a file that is loaded; half of what is free when not given.
    done : callable, optional
        Told `done(pieces, all_pieces)` as a file is loaded, to show or log how far that is.

    Returns
    -------
    table : Table
        Give it to any estimator. `table.values` are the numbers, `table.columns` the names.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> from kernelpca import open_data
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rows.csv"
    >>> _ = path.write_text("height,weight\\n1.8,80\\n1.6,60\\n")
    >>> table = open_data(path)
    >>> table.columns, table.shape
    (('height', 'weight'), (2, 2))
    """
    reader = reader_of(path, columns, key, header)
    if chunks is None:
        if type(reader) is Npy and reader.wanted is None:
            return Table(reader.array, None, reader.path)
        if reader.nbytes <= SHARE * granted_bytes(memory_limit):
            return Table(reader.read_all(done), reader.columns, reader.path)
    most = int(SHARE * granted_bytes(memory_limit)) // (CHUNKS * available_threads())
    rows = reader.block_rows(most) if chunks in (None, "auto") else check_chunks(chunks)
    array = require("kernelpca.dask.files", "dask", f"Opening {path}, which is large,").from_reader(reader, rows)
    return Table(array, reader.columns, reader.path)


def reader_of(
    path: str | Path,
    columns: Iterable[str | int] | None = None,
    key: str | None = None,
    header: bool | None = None,
) -> Reader:
    """Return the reader of a file, whose shape has been looked at."""
    reader = unread(path, columns, key, header)
    if not all(reader.shape):
        raise BadFile(f"{path} has {reader.shape[0]} rows of {reader.shape[1]} columns: there is nothing to work on.")
    if isinstance(reader, Csv):
        for doubt in reader.doubts():
            warn(doubt)
        offsets, edges = reader.index
        reader = replace(reader, offsets=offsets, edges=edges)
    return reader


def unread(
    path: str | Path,
    columns: Iterable[str | int] | None = None,
    key: str | None = None,
    header: bool | None = None,
) -> Reader:
    """Return the reader of a file that is there; its rows have not been counted."""
    path = Path(path)
    kind = FORMATS.get(path.suffix.lower())
    if kind is None:
        remedy = REMEDIES.get(path.suffix.lower(), "")
        raise BadFile(
            f"{path}: files that end in {path.suffix or 'nothing'!r} cannot be opened. Formats: "
            f"{', '.join(FORMATS)}.{remedy}"
        )
    if not path.exists():
        raise FileNotFoundError(say_absent(path, path.suffix))
    if not (kind.in_folders and path.is_dir()):
        check_file(path)
    if isinstance(columns, str):
        raise TypeError(f"columns={columns!r} is one name: give a list, [{columns!r}].")
    if key is not None and not kind.takes_key:
        raise BadFile(f"{path} is one table, so that key={key!r} names nothing in it: leave key out.")
    reader = kind(str(path), None if columns is None else tuple(columns), key)
    return replace(reader, header=header) if isinstance(reader, Csv) else reader


def say_absent(path: Path, suffix: str) -> str:
    """Say that a file does not exist, and name some with this suffix beside it."""
    near = sorted(other.name for other in path.parent.glob(f"*{suffix}"))[:NEAR] if path.parent.is_dir() else []
    there = f" In its folder: {', '.join(near)}." if near else ""
    return f"{path} does not exist.{there}"


def check_chunks(chunks: int | str | None) -> int:
    """Return rows of a chunk, or say what is allowed."""
    if isinstance(chunks, bool) or not isinstance(chunks, int) or chunks < 1:
        raise ValueError(f'chunks={chunks!r}: give the number of rows of a chunk, "auto", or None.')
    return chunks
