"""Arrays as members of an archive, in NumPy's own format: written in blocks, read or mapped into memory."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from kernelpca.persistence.archive import BLOCK, Archive, ArchiveWriter
from kernelpca.persistence.errors import ModelFileError, damaged

MAPPED = 2**24  # bytes from which an array is mapped and not read
LARGEST = 2**48  # entries of an array
AXES = 8  # that an array may have
KINDS = re.compile(r"\|b1|\|[iu]1|[<>]([iuf][248]|U[1-9][0-9]{0,6})")
LAST_CHARACTER = 0x10FFFF


@dataclass(frozen=True)
class Stored:
    """An array as the file's list of arrays describes it.

    Attributes
    ----------
    member : str
        The member that holds it.
    dtype : str
        The type of an entry, as NumPy writes it.
    shape : tuple of int
        Its shape; the last axis is contiguous.
    """

    member: str
    dtype: str
    shape: tuple[int, ...]

    @classmethod
    def parse(cls, index: int, description: Any) -> Stored:
        """Return the description of an array as it was read, or refuse it."""
        dtype, shape = description.get("dtype"), description.get("shape")
        good = isinstance(dtype, str) and KINDS.fullmatch(dtype) and isinstance(shape, list) and len(shape) <= AXES
        if not good or not all(type(n) is int and n >= 0 for n in shape) or prod(n or 1 for n in shape) > LARGEST:
            raise damaged(f"Array {index} is described by what is no type and shape")
        return cls(f"arrays/{index}.npy", dtype, tuple(shape))

    @property
    def header(self) -> bytes:
        """What stands before the numbers: NumPy's format 1.0, written out here so that no version changes it."""
        text = f"{{'descr': '{self.dtype}', 'fortran_order': False, 'shape': {self.shape!r}, }}"
        length = -(-(len(text) + 11) // 64) * 64
        return b"\x93NUMPY\1\0" + struct.pack("<H", length - 10) + text.encode().ljust(length - 11) + b"\n"

    @property
    def bytes(self) -> int:
        """How many bytes the numbers take."""
        return prod(self.shape) * np.dtype(self.dtype).itemsize


def put(writer: ArchiveWriter, index: int, array: np.ndarray) -> dict[str, Any]:
    """Write an array whose axes are in the order of memory, and return its description."""
    stored = Stored(f"arrays/{index}.npy", array.dtype.str, array.shape)
    size = len(stored.header) + stored.bytes
    digest = writer.add(stored.member, size, _blocks(stored.header, array))
    return {"dtype": stored.dtype, "shape": list(stored.shape), "bytes": size, "sha256": digest}


def _blocks(header: bytes, array: np.ndarray) -> Iterator[bytes | memoryview]:
    yield header
    if not array.size:
        return
    if array.flags.c_contiguous:
        data = array.reshape(-1).view(np.uint8).data
        yield from (data[i : i + BLOCK] for i in range(0, len(data), BLOCK))
        return
    rows = max(BLOCK // (array.nbytes // len(array)), 1)
    yield from (array[i : i + rows].tobytes() for i in range(0, len(array), rows))


def get(archive: Archive, stored: Stored, mapped: bool) -> np.ndarray:
    """Return an array whose digest was verified, read or mapped."""
    header, size = stored.header, archive.members[stored.member].size
    if size != len(header) + stored.bytes:
        raise damaged(f"{stored.member} has {size} bytes, which is not what its shape {stored.shape} needs")
    content = bytearray(len(header))
    archive.read_into(stored.member, 0, memoryview(content))
    if bytes(content) != header:
        raise damaged(f"{stored.member} does not begin as an array of type {stored.dtype} and shape {stored.shape}")
    dtype = np.dtype(stored.dtype)
    start = archive.members[stored.member].start + len(header)
    if mapped and stored.bytes and start % max(dtype.alignment, 1) == 0:
        array = archive.map(stored.member, len(header), dtype, stored.shape)
    else:
        array = np.empty(stored.shape, dtype)
        archive.read_into(stored.member, len(header), array.reshape(-1).view(np.uint8).data)
    if dtype.kind == "U" and array.size and array.reshape(-1).view(f"{dtype.str[0]}u4").max() > LAST_CHARACTER:
        raise damaged(f"{stored.member} holds what are no characters")
    if dtype.kind == "b" and array.size and array.view(np.uint8).max() > 1:
        raise damaged(f"{stored.member} holds what is neither true nor false")
    return array


def in_memory_order(array: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """Return the array with its axes in the order of memory, and the axes that bring it back."""
    order = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
    return array.transpose(order), [order.index(axis) for axis in range(array.ndim)]


def check_kind(array: np.ndarray, where: str) -> None:
    """Refuse arrays that other machines may not read."""
    if not KINDS.fullmatch(array.dtype.str):
        raise ModelFileError(
            f"{where} is an array of type {array.dtype}, which a model file does not hold: give numbers of at most 64 "
            "bits, or strings."
        )
    if array.ndim > AXES:
        raise ModelFileError(f"{where} is an array with {array.ndim} axes: a model file holds up to {AXES}.")
