"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EAGAIN, EINVAL
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

ANYONE = 0o666  # permissions of a new file, less what the process takes away from all its files (its umask)
NAMED = 50  # characters of a file's name that its temporary name begins with


@contextmanager
def writing_atomically(path: Path) -> Iterator[BinaryIO]:
    """Open a file under a temporary name, and rename it at the end: it is there whole, or as it was before.

    A file that is replaced keeps its permissions, and a link goes on leading to what is then the new file.
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(EINVAL, "it is a device or a pipe, which cannot be replaced by a file", str(path))
    mode = path.stat().st_mode & 0o777 if path.is_file() else None
    hidden = path.with_name(f".{path.name[:NAMED]}.{secrets.token_hex(8)}")

    def create(name: str, flags: int) -> int:
        return os.open(name, flags, ANYONE if mode is None else mode)

    try:
        with open(hidden, "xb", opener=create) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # a disk that is full says so here at the latest
        if mode is not None:
            hidden.chmod(mode)
        hidden.replace(path)
    except BaseException:
        hidden.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    with writing_atomically(path) as file:
        file.write(content)


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Within the block, be the only one to write a file; raise BlockingIOError where another process is at it.

    The lock ends with the process that holds it, however that ends. Systems without such locks have none.
    """
    if fcntl is None:
        yield
        return
    name = path.with_name(f".{path.name}.lock")
    busy = BlockingIOError(EAGAIN, "another process is writing it: wait for that, or give another name")
    with name.open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise busy from None
        if not (name.exists() and os.path.samestat(name.stat(), os.fstat(lock.fileno()))):
            raise busy  # the one that had it has just removed it
        try:
            yield
        finally:
            name.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Have the new name on the disk, too, where the system can do that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
