"""Digests that tell data apart: of a file's bytes, and of arrays whatever file they are in."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import file_digest, sha256
from pathlib import Path

import numpy as np


def digest_of_file(path: Path) -> str:
    """Return the sha256 of a file."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def digest_of_arrays(arrays: Mapping[str, np.ndarray]) -> str:
    """Return the sha256 of names, types, shapes and values.

    Two .npz files with the same arrays have the same digest, even where packing, dates or the order of members differ.
    """
    digest = sha256()
    for name in sorted(arrays):
        array = arrays[name].astype(arrays[name].dtype.newbyteorder("<"), copy=False)
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Return all arrays of a .npz file."""
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}
