"""One zip file: members stored as they are, aligned for memory mapping, and read with suspicion."""

from __future__ import annotations

import hashlib
import io
import os
import struct
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from kernelpca.io.protocol import say_no_file
from kernelpca.persistence.errors import ModelFileError, damaged

ALIGNMENT = 64  # bytes: members begin at multiples of it
PADDING = 0xD935  # the field of a zip header that others use for alignment, too
LARGE = 2**31 - 1  # bytes from which a zip file needs its larger numbers
BLOCK = 2**20  # bytes that are read at a time
DIRECTORY = 2**20  # bytes that the list of members may take
LOCAL = struct.Struct("<4s22xHH")  # of the header before each member: mark, lengths of name and of extra fields


class ArchiveWriter:
    """Write members one after the other into an open file; use it in a `with` statement."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED)

    def add(self, name: str, size: int, blocks: Iterable[bytes | memoryview]) -> str:
        """Write a member of so many bytes and return its sha256."""
        info = zipfile.ZipInfo(name)  # dated 1980: the same model gives the same bytes
        info.external_attr = 0o644 << 16
        info.file_size, info.CRC = size, 0
        large = size >= LARGE
        begin = self._file.tell() + len(info.FileHeader(large)) + 4
        info.extra = struct.pack("<HH", PADDING, -begin % ALIGNMENT) + bytes(-begin % ALIGNMENT)
        digest = hashlib.sha256()
        with self._zip.open(info, "w", force_zip64=large) as member:
            for block in blocks:
                digest.update(block)
                member.write(block)
        return digest.hexdigest()

    def __enter__(self) -> ArchiveWriter:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        """Write the list of members; after an error nothing more is tried, as the file is given up."""
        if kind is not None:
            self._zip.fp = None
        self._zip.close()


@dataclass(frozen=True)
class Member:
    """Where a member's bytes lie in the file."""

    name: str
    start: int
    size: int


class _Bounded(io.FileIO):
    """A file of which only so much is read at a time: a list of members without end must not fill the memory."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, opener=_open_file)

    def read(self, size: int | None = -1) -> bytes:
        content = super().read(DIRECTORY + 1 if size is None or size < 0 else min(size, DIRECTORY + 1))
        if len(content) > DIRECTORY:
            raise damaged("Its list of members is far too long")
        return content


def _open_file(path: str, flags: int) -> int:
    """Open a file, and nothing that opening would wait for or set going, also where it takes the file's place now."""
    _check_file(Path(path).stat())
    handle = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    try:
        _check_file(os.fstat(handle))
    except ModelFileError:
        os.close(handle)
        raise
    return handle


def _check_file(status: os.stat_result) -> None:
    wrong = say_no_file(status.st_mode, "a model is")
    if wrong:
        raise ModelFileError(f"It {wrong}")


class Archive:
    """A zip file whose members are stored one after the other, without compression.

    Parameters
    ----------
    path : Path
        The file; it is kept open until `close`.
    """

    def __init__(self, path: Path) -> None:
        self._file = _Bounded(path)
        try:
            self.members = {member.name: member for member in self._find_members()}
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def blocks(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of a member, some at a time."""
        member = self._member(name)
        self._file.seek(member.start)
        left = member.size
        while left:
            block = self._file.read(min(left, BLOCK))
            if not block:
                raise damaged(f"{name} is cut short")
            left -= len(block)
            yield block

    def read(self, name: str, most: int) -> bytes:
        """Return the bytes of a member that must not be larger than so."""
        if self._member(name).size > most:
            raise damaged(f"{name} is far too large")
        return b"".join(self.blocks(name))

    def read_into(self, name: str, skip: int, target: memoryview) -> None:
        """Fill `target` with the bytes of a member after the first `skip`."""
        self._file.seek(self._member(name).start + skip)
        filled = 0
        while filled < len(target):
            count = self._file.readinto(target[filled : filled + BLOCK])
            if not count:
                raise damaged(f"{name} is cut short")
            filled += count

    def map(self, name: str, skip: int, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
        """Return the numbers of a member after the first `skip` bytes, read-only and left in the file.

        The file that was verified is mapped, also where another one has taken its name in the meantime.
        """
        return np.asarray(np.memmap(self._file, dtype, "r", self._member(name).start + skip, shape))

    def digest(self, name: str) -> str:
        """Return the sha256 of a member."""
        digest = hashlib.sha256()
        for block in self.blocks(name):
            digest.update(block)
        return digest.hexdigest()

    def _member(self, name: str) -> Member:
        if name not in self.members:
            raise damaged(f"{name} is missing")
        return self.members[name]

    def _find_members(self) -> Iterator[Member]:
        """List the members, or refuse a file in which they are not where and how they should be."""
        size = self._file.seek(0, io.SEEK_END)
        end = 0
        for info in sorted(self._directory(), key=lambda info: info.header_offset):
            name = info.filename
            if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size or info.flag_bits & 1:
                raise ModelFileError(
                    f"Its member {name[:80]!r} is compressed or encrypted, and a model file's are stored as they are. "
                    "If it was packed again, do so without compression: zip -0"
                )
            if not end <= info.header_offset <= size - LOCAL.size:
                raise damaged("Its members overlap, or lie outside of the file")
            self._file.seek(info.header_offset)
            header = self._file.read(LOCAL.size)
            if len(header) < LOCAL.size or not header.startswith(b"PK\3\4"):
                raise damaged(f"The header of {name[:80]!r} is missing")
            _, name_length, extra_length = LOCAL.unpack(header)
            start = info.header_offset + LOCAL.size + name_length + extra_length
            end = start + info.file_size
            if self._file.read(name_length) != info.orig_filename.encode() or end > size:
                raise damaged(f"{name[:80]!r} is not where the list of members says")
            yield Member(name, start, info.file_size)

    def _directory(self) -> list[zipfile.ZipInfo]:
        try:
            listed = zipfile.ZipFile(self._file).infolist()
        except ModelFileError:
            raise
        except Exception as error:  # of many kinds, whatever is wrong with a zip file
            raise damaged(f"It is cut short, or no model file ({error})") from error
        if len({info.filename for info in listed}) < len(listed):
            raise damaged("It has two members of the same name")
        return listed
