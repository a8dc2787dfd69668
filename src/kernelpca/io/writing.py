"""Write rows of numbers block by block: the file appears when it is whole, and an interrupted run can go on."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from kernelpca.atomic import (
    PRIVATE,
    alone,
    followed,
    hidden_prefix,
    permissions,
    unguessable,
    write_atomically,
    writing_atomically,
)
from kernelpca.extras import require
from kernelpca.io.computed import Computed
from kernelpca.io.csv import is_numbering
from kernelpca.io.protocol import KINDS
from kernelpca.progress import Done, Parts
from kernelpca.tiles import blocks

STORES = (".zarr",)  # formats that are folders
STORE = ("zarr.json", ".zarray", ".zgroup")  # what makes a folder a zarr store
BLOCKS = ".blocks"  # what names of folders of blocks end in; in them
MARK, OLD = "key.json", "old"  # what the blocks depend on, and a store that was put aside
BLOCK_ROWS = 100_000  # of an array in memory, that are written at a time
LAYOUT, POINTER = 2**16, 64  # bytes, more than HDF5 needs for all but rows, and for a name beside its letters
Blocks = Iterator[np.ndarray]


def write_data(
    path: str | Path,
    values: Any,
    *,
    columns: Sequence[str] | None = None,
    key: str | None = None,
    force: bool = False,
    done: Done | None = None,
) -> Path:
    """Write rows (n, d), or one number for each of n rows, to a file whose suffix tells the format.

    Parameters
    ----------
    path : str or Path
        Where to: .npy, .npz, .csv, .parquet, .h5 or .zarr.
    values : ndarray, dask array or Computed
        What to write. Chunks of a Dask array are computed a few at a time, and blocks of `kernelpca.io.Computed` one at
        a time, so that it never has to fit into memory.
    columns : sequence of str, optional
        Names of the columns.
    key : str, optional
        What the values depend on, such as a digest of model and data. With it, blocks that an interrupted run with the
        same key has finished are not computed again.
    force : bool, default=False
        Whether a file that is there may be replaced. It stays as it was until the new one is whole.
    done : callable, optional
        Told `done(blocks, all_blocks)` after each block that was worked out, and again after each that was written to
        the file. Blocks of an interrupted run need not be worked out.
    """
    with explained(Path(path)):
        path = followed(Path(path))  # what a link leads to is replaced
    check_format(path)
    if path.exists() and not force:
        raise FileExistsError(f"{path} is there already: give another name, or force=True to replace it.")
    check_replaceable(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"The folder {path.parent} does not exist: make it first.")
    values = values if hasattr(values, "__dask_graph__") or isinstance(values, Computed) else np.asarray(values)
    like = values.like if isinstance(values, Computed) else values
    if like.ndim not in (1, 2) or like.dtype.kind not in "biuf":
        raise ValueError(f"Rows of numbers are written; got {like.ndim} dimensions of {like.dtype}.")
    shape, dtype = (like.shape[0] if like is values else len(values), *like.shape[1:], 1)[:2], like.dtype
    if np.isnan(shape[0]):
        raise ValueError(
            "The number of rows in each chunk is not known, as for results of a data frame: call "
            "values.compute_chunk_sizes() first, or give the model df.to_dask_array(lengths=True)."
        )
    if not shape[0]:
        raise ValueError("There are no rows to write.")
    names = [str(name) for name in columns] if columns is not None else None
    if names is not None and len(names) != shape[1]:
        raise ValueError(f"{len(names)} names for {shape[1]} columns: give one for each.")
    cut = values.chunks[0] if hasattr(values, "__dask_graph__") else getattr(values, "block_rows", None)
    with explained(path), alone(path), staged(path, key, [shape, str(dtype), cut]) as stage:
        parts = stage.finished(values, done)
        with stage.replacing(path) as new:
            WRITERS[path.suffix.lower()](new, parts, shape, dtype, names)
    return path


def check_format(path: Path) -> None:
    """Refuse a name whose suffix tells no format that can be written."""
    if path.suffix.lower() not in WRITERS:
        raise ValueError(
            f"{path}: files that end in {path.suffix or 'nothing'!r} cannot be written. Formats: {', '.join(WRITERS)}."
        )


def check_replaceable(path: Path) -> None:
    """Refuse to put anything in the place of a folder, unless it is a zarr store in the place of another."""
    kind = KINDS.get(stat.S_IFMT(path.stat().st_mode)) if path.exists() and not path.is_dir() else None
    if kind is not None:
        raise FileExistsError(f"{path} is {kind}, and only files are replaced: give another name.")
    if path.is_dir() and not (path.suffix.lower() in STORES and any((path / name).exists() for name in STORE)):
        raise IsADirectoryError(f"{path} is a folder, and folders are not replaced: give another name.")


class Stage:
    """A folder beside the file for nobody else, with a block in each file of it, and at the end the new file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def finished(self, values: Any, done: Done | None) -> Blocks:
        """Compute the blocks that are not here yet, and yield all of them in order."""
        if hasattr(values, "__dask_graph__"):
            compute = require("kernelpca.dask.files", "dask", "Writing a Dask array").computed_blocks
            count = values.numblocks[0]
        else:
            cut = blocks(len(values), values.block_rows if isinstance(values, Computed) else BLOCK_ROWS)
            count = len(cut)

            def compute(array: np.ndarray | Computed, missing: list[int]) -> Iterator[tuple[int, np.ndarray]]:
                return ((i, array[cut[i]]) for i in missing)

        missing = [i for i in range(count) if not self._is_whole(i)]
        worked_out = Parts(done, len(missing))
        for i, block in compute(values, missing):
            self._keep(i, np.asarray(block))
            worked_out(i)
        written = Parts(done, count)
        return (written(np.load(self._path(i), mmap_mode="r", allow_pickle=False)) for i in range(count))

    def _path(self, i: int) -> Path:
        return self.folder / f"{i:08d}.npy"

    def _is_whole(self, i: int) -> bool:
        try:
            np.load(self._path(i), mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError):  # it is not there, or shorter than its header says
            return False
        return True

    def _keep(self, i: int, block: np.ndarray) -> None:
        block = np.ascontiguousarray(block.reshape(len(block), -1))
        # np.save would not notice that the end was not written
        with writing_atomically(self._path(i), PRIVATE) as file:
            np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(block))
            file.write(block.data)

    @contextmanager
    def replacing(self, path: Path) -> Iterator[Path]:
        """Give a name to write to, which becomes `path` at the end; after an error all is as it was.

        A folder is put aside until the new one is in its place.
        """
        new, old = self.folder / f"new{path.suffix}", self.folder / OLD
        _remove(new)
        try:
            if path.suffix.lower() in STORES:
                yield new
                if path.is_dir():
                    shutil.copymode(path, new)
                    path.rename(old)
            else:
                mode = permissions(path)
                os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE))  # before anything is in it
                yield new
                new.chmod(mode)
            new.replace(path)
        finally:
            _settle(old, path)
            _remove(new)


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Name the file in what the disk says."""
    try:
        yield
    except OSError as error:
        told = OSError(f"{path} was not written: {_cause(error)}. What was there before is as it was.")
        told.errno = error.errno
        raise told from error


@contextmanager
def staged(path: Path, key: str | None, form: list[Any]) -> Iterator[Stage]:
    """Keep finished blocks in a folder until the file is whole; with a key also after an interrupt or a full disk.

    They are used again only by a run with the same key whose values have the same `form`: shape, type and blocks. After
    an error of the data itself these must change, and the key with them.
    """
    mark = sha256(json.dumps([key, form]).encode()).hexdigest()
    folder = unguessable(path, BLOCKS)
    folder.mkdir(0o700)
    try:
        for left in _left_behind(path, folder):
            _settle(left / OLD, path)
            if key is not None and not _mark_of(folder) and _mark_of(left) == mark:
                folder.rmdir()
                folder = left
            else:
                shutil.rmtree(left)
        write_atomically(folder / MARK, mark.encode(), PRIVATE)
        yield Stage(folder)
    except BaseException as error:
        if key is None or isinstance(error, ValueError | TypeError | ArithmeticError):
            shutil.rmtree(folder, ignore_errors=True)
        elif isinstance(error, OSError):
            kept = f"Finished blocks are kept in {folder}: the same again goes on from there"
            raise OSError(error.errno, f"{_cause(error)}. {kept}") from error
        raise
    shutil.rmtree(folder)


def _left_behind(path: Path, like: Path) -> list[Path]:
    """Return folders of earlier runs of ours: of nobody else, for nobody else, and no links, as this new one is."""
    name = re.compile(re.escape(hidden_prefix(path)) + "[0-9a-f]{16}" + re.escape(BLOCKS))
    try:
        found = [entry for entry in path.parent.iterdir() if name.fullmatch(entry.name) and entry != like]
    except PermissionError:  # files may be put into the folder, and not looked for
        return []
    own = like.lstat()
    states = [(entry, entry.lstat()) for entry in sorted(found)]
    return [entry for entry, state in states if (state.st_uid, state.st_mode) == (own.st_uid, own.st_mode)]


def _mark_of(folder: Path) -> str:
    """Return what the blocks in a folder depend on, if that is noted."""
    try:
        return (folder / MARK).read_text()
    except (OSError, UnicodeDecodeError):
        return ""


def _cause(error: OSError) -> str:
    return error.strerror or " ".join(str(error).split())


def _settle(old: Path, path: Path) -> None:
    """Bring back what was put aside, unless something else has taken its place."""
    if old.exists() and not path.exists():
        old.rename(path)
    _remove(old)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


# formats


def _npy(path: Path, parts: Blocks, shape: tuple[int, int], dtype: np.dtype, names: list[str] | None) -> None:
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for part in parts:
            file.write(np.ascontiguousarray(part, dtype).data)


def _npz(path: Path, parts: Blocks, shape: tuple[int, int], dtype: np.dtype, names: list[str] | None) -> None:
    arrays = {"X": np.concatenate(list(parts))}
    if names is not None:
        arrays["columns"] = np.array(names)
    with path.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def _csv(path: Path, parts: Blocks, shape: tuple[int, int], dtype: np.dtype, names: list[str] | None) -> None:
    arrow, csv = (require(name, "io", "Writing CSV files") for name in ("pyarrow", "pyarrow.csv"))
    labels = names or [str(i) for i in range(shape[1])]
    schema = arrow.schema([(label, arrow.from_numpy_dtype(dtype)) for label in labels])
    options = csv.WriteOptions(include_header=names is not None)
    with path.open("wb") as file, csv.CSVWriter(file, schema, write_options=options) as writer:
        for i, part in enumerate(parts):
            if not i and names is None and is_numbering([f"{value:g}" for value in part[0]]):
                file.write(",".join(f"{value:.1f}" for value in part[0]).encode() + b"\n")  # 0.0 is never a name
                part = part[1:]
            writer.write_table(_arrow(arrow, part, schema))


def _parquet(path: Path, parts: Blocks, shape: tuple[int, int], dtype: np.dtype, names: list[str] | None) -> None:
    arrow, parquet = (require(name, "io", "Writing parquet files") for name in ("pyarrow", "pyarrow.parquet"))
    schema = arrow.schema([(label, arrow.from_numpy_dtype(dtype)) for label in names or map(str, range(shape[1]))])
    with parquet.ParquetWriter(str(path), schema) as writer:
        for part in parts:
            writer.write_table(_arrow(arrow, part, schema))


def _arrow(arrow: Any, part: np.ndarray, schema: Any) -> Any:
    return arrow.Table.from_arrays([arrow.array(np.ascontiguousarray(column)) for column in part.T], schema=schema)


def _hdf5(path: Path, parts: Blocks, shape: tuple[int, int], dtype: np.dtype, names: list[str] | None) -> None:
    """Let HDF5 lay out the file, and write the rows past it: a write that fails inside HDF5 may end the process later.

    So that the layout does not fail either, room for the whole file is asked for first.
    """
    h5py = require("h5py", "io", "Writing HDF5 files")
    size = shape[0] * shape[1] * dtype.itemsize
    _check_room(path, size + LAYOUT + sum(len(name.encode()) + POINTER for name in names or ()))
    create = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    create.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    create.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    with h5py.File(path, "w", libver=("v108", "v108")) as file:  # names may be many
        array = file.create_dataset("X", shape, dtype, dcpl=create)
        if names is not None:
            array.attrs["columns"] = names
        start = array.id.get_offset()
    if size:
        with path.open("r+b") as raw:
            raw.seek(start)
            for part in parts:
                raw.write(np.ascontiguousarray(part, dtype).data)


def _check_room(path: Path, size: int) -> None:
    """Raise the operating system's error where a new file of so many bytes has no room, if it can tell."""
    reserve = getattr(os, "posix_fallocate", None)
    if reserve is not None:
        with path.open("wb") as file:
            reserve(file.fileno(), 0, size)


def _zarr(path: Path, parts: Blocks, shape: tuple[int, int], dtype: np.dtype, names: list[str] | None) -> None:
    rows = max(2**24 // max(shape[1] * dtype.itemsize, 1), 1)
    chunks = (min(rows, max(shape[0], 1)), shape[1])
    zarr = require("zarr", "io", "Writing zarr stores")
    array, start = zarr.create_array(store=str(path), shape=shape, dtype=dtype, chunks=chunks), 0
    for part in parts:
        array[start : start + len(part)] = np.asarray(part)
        start += len(part)
    if names is not None:
        array.attrs["columns"] = names


WRITERS: dict[str, Callable[[Path, Blocks, tuple[int, int], np.dtype, list[str] | None], None]] = {
    ".npy": _npy,
    ".npz": _npz,
    ".csv": _csv,
    ".parquet": _parquet,
    ".h5": _hdf5,
    ".zarr": _zarr,
}
