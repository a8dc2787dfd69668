"""Readers of files that hold arrays: NumPy's, HDF5 and zarr."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kernelpca.extras import require
from kernelpca.io.protocol import BadFile, Reader

SPARSE = {"format", "shape", "data"}  # arrays that every file of scipy.sparse.save_npz has

HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def check_matrix(shape: tuple[int, ...], dtype: np.dtype, path: str, what: str = "") -> None:
    """Refuse an array that does not hold rows of numbers."""
    if len(shape) != 2:
        raise BadFile(
            f"{path}{what} has {len(shape)} dimensions, shape {tuple(shape)}; rows of numbers have 2."
            f"{say_reshape(shape)}"
        )
    if dtype.kind not in "biuf":
        raise BadFile(f"{path}{what} holds {dtype}, and numbers are needed.")


def say_reshape(shape: tuple[int, ...]) -> str:
    """Say how an array of images, or of numbers alone, becomes rows."""
    if len(shape) < 2:
        return " Numbers are rows of one by X.reshape(-1, 1)." if len(shape) else ""
    return " Make a row of each image, or other part: numpy.save('rows.npy', X.reshape(len(X), -1))."


@dataclass(frozen=True)
class Npy(Reader):
    """NumPy's file of one array, mapped into memory."""

    @cached_property
    def array(self) -> np.ndarray:
        """The array; only what is looked at is read."""
        try:
            array = np.load(self.path, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise BadFile(f"{self.path} is no array of numbers in NumPy's format: {error}") from error
        check_matrix(array.shape, array.dtype, self.path)
        return array

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.array.shape[0]

    @property
    def file_columns(self) -> Sequence[str] | int:
        """How many columns there are."""
        return self.array.shape[1]

    @property
    def dtype(self) -> np.dtype:
        """The type of the numbers."""
        return self.array.dtype

    def read(self, start: int, stop: int) -> np.ndarray:
        """Return rows where they are, in the mapped file: copied only where columns are picked."""
        return self._pick(np.asarray(self.array[start:stop]))


@dataclass(frozen=True)
class Npz(Npy):
    """NumPy's archive of arrays, of which one is read whole: it is compressed as a whole."""

    takes_key = True

    @cached_property
    def loaded(self) -> tuple[np.ndarray, Sequence[str] | int]:
        """The array that the key names, or the only one of rows of numbers; and names, from the array "columns"."""
        try:
            with np.load(self.path, allow_pickle=False) as archive:
                if self.key is None and set(archive.files) >= SPARSE:
                    raise BadFile(
                        f"{self.path} is a sparse matrix, as scipy.sparse.save_npz writes it. In Python: X = "
                        f"scipy.sparse.load_npz({self.path!r}), which estimators take as it is; or make a file of all "
                        "its numbers, if they fit into memory: numpy.save('rows.npy', X.toarray())."
                    )
                name = choose_key(self.path, self.key, shapes_in(archive))
                array = archive[name]
                names = archive["columns"] if "columns" in archive.files else np.empty(0, str)
        except BadFile:
            raise
        except Exception as error:  # zipfile and zlib have errors of many kinds for a broken archive
            raise BadFile(f"{self.path} is no archive of arrays of numbers: {error}") from error
        check_matrix(array.shape, array.dtype, self.path, f", array {name!r},")
        named = names.dtype.kind == "U" and names.shape == array.shape[1:]
        return array, tuple(map(str, names)) if named else array.shape[1]

    @property
    def array(self) -> np.ndarray:
        """The array."""
        return self.loaded[0]

    @property
    def file_columns(self) -> Sequence[str] | int:
        """Names of all columns, or how many there are."""
        return self.loaded[1]


def shapes_in(archive: Any) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the arrays in an archive of NumPy's, of which only the beginnings are read."""
    members, found = set(archive.zip.namelist()), {}
    for key in archive.files:
        if f"{key}.npy" in members:
            with archive.zip.open(f"{key}.npy") as member:
                read = HEADERS.get(np.lib.format.read_magic(member))
                found[key] = archive[key].shape if read is None else read(member)[0]
    return found


def choose_key(path: str, key: str | None, shapes: dict[str, tuple[int, ...]]) -> str:
    """Return which array of a file is meant, or list what there is."""
    keys = list(shapes)
    if key is not None:
        if key not in keys:
            raise BadFile(f"{path} has no array {key!r}; it has {', '.join(keys[:12]) or 'none'}.")
        return key
    fitting = [name for name in keys if len(shapes[name]) == 2]
    if not fitting:
        found = ", ".join(f"{name} of shape {tuple(map(int, shapes[name]))}" for name in keys[:12]) or "nothing"
        remedy = say_reshape(max(shapes.values(), key=len, default=()))
        raise BadFile(f"{path} has no array of rows, which has 2 dimensions; it has {found}.{remedy}")
    if len(fitting) > 1:
        raise BadFile(
            f"{path} has {len(fitting)} arrays of rows: {', '.join(fitting[:12])}. Choose one with key='...'; it has "
            f"{', '.join(keys[:12])}."
        )
    return fitting[0]


def as_names(given: Any, count: int, path: str) -> tuple[str, ...] | None:
    """Return the names of so many columns from an attribute of an array, if it has them."""
    if given is None:
        return None
    names = np.asarray(given).ravel().tolist() if np.ndim(given) == 1 else None
    if names is None or not all(isinstance(name, str | bytes) for name in names):
        raise BadFile(f"{path} has an attribute 'columns' that is no list of names: {given!r}. Remove or mend it.")
    if len(names) != count:
        plural = "s" if len(names) != 1 else ""
        raise BadFile(f"{path} has {len(names)} name{plural} for {count} columns in its attribute 'columns': mend it.")
    return tuple(name.decode("utf-8", "replace") if isinstance(name, bytes) else name for name in names)


@dataclass(frozen=True)
class Hdf5(Reader):
    """A data set of an HDF5 file."""

    takes_key = True

    @cached_property
    def facts(self) -> tuple[str, tuple[int, int], np.dtype, int, tuple[str, ...] | None]:
        """Name, shape, type, rows of a stored chunk, names of columns."""
        h5py = require("h5py", "io", "Reading HDF5 files")
        try:
            with h5py.File(self.path, "r") as file:
                found: dict[str, Any] = {}
                file.visititems(lambda name, item: found.update({name: item}) if hasattr(item, "shape") else None)
                name = choose_key(self.path, self.key, {key: item.shape or () for key, item in found.items()})
                data = found[name]
                check_matrix(data.shape, data.dtype, self.path, f", data set {name!r},")
                names = as_names(data.attrs.get("columns"), data.shape[1], self.path)
                return name, data.shape, data.dtype, data.chunks[0] if data.chunks else 1, names
        except OSError as error:
            raise BadFile(f"{self.path} is no HDF5 file that can be read: {error}") from error

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.facts[1][0]

    @property
    def file_columns(self) -> Sequence[str] | int:
        """Names from the attribute "columns", or how many there are."""
        return self.facts[1][1] if self.facts[4] is None else self.facts[4]

    @property
    def dtype(self) -> np.dtype:
        """The type of the numbers."""
        return self.facts[2]

    @property
    def step(self) -> int:
        """Rows of a stored chunk."""
        return self.facts[3]

    def read(self, start: int, stop: int) -> np.ndarray:
        """Return rows."""
        with require("h5py", "io", "Reading HDF5 files").File(self.path, "r") as file:
            return self._pick(file[self.facts[0]][start:stop])


@dataclass(frozen=True)
class Zarr(Reader):
    """An array of a zarr store."""

    takes_key = True
    in_folders = True

    @cached_property
    def array(self) -> Any:
        """The array; nothing of it is read."""
        zarr = require("zarr", "io", "Reading zarr stores")
        try:
            found = zarr.open(self.path, mode="r")
        except Exception as error:  # zarr has many kinds of errors for what is no store
            raise BadFile(f"{self.path} is no zarr store that can be read: {error}") from error
        if not hasattr(found, "shape"):
            arrays = {name: item for name, item in found.members(max_depth=None) if hasattr(item, "shape")}
            found = arrays[choose_key(self.path, self.key, {name: item.shape for name, item in arrays.items()})]
        elif self.key is not None:
            raise BadFile(f"{self.path} is one array, so that key={self.key!r} names nothing in it: leave key out.")
        check_matrix(found.shape, found.dtype, self.path)
        return found

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.array.shape[0]

    @property
    def file_columns(self) -> Sequence[str] | int:
        """Names from the attribute "columns", or how many there are."""
        names = as_names(self.array.attrs.get("columns"), self.array.shape[1], self.path)
        return self.array.shape[1] if names is None else names

    @property
    def dtype(self) -> np.dtype:
        """The type of the numbers."""
        return self.array.dtype

    @property
    def step(self) -> int:
        """Rows of a stored chunk."""
        return self.array.chunks[0]

    def read(self, start: int, stop: int) -> np.ndarray:
        """Return rows."""
        return self._pick(self.array[start:stop])
