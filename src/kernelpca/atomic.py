"""Files that are written whole or not at all, under names that nobody can guess and for nobody else to read."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EAGAIN, EEXIST, EINVAL, ELOOP, EPERM
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

ANYONE = 0o666  # permissions of a new file, less what the process takes away from all its files (its umask)
PRIVATE = 0o600  # those of a file that is not whole yet
NAMED = 50  # characters of a file's name that its temporary names begin with
LINKS = 40  # that lead to one another
BUSY = "another process is writing it: wait for that, or give another name"


@contextmanager
def writing_atomically(path: Path, mode: int | None = None) -> Iterator[BinaryIO]:
    """Open a file under a temporary name, and rename it at the end: it is there whole, or as it was before.

    Until then nobody else can read it. A file that is replaced keeps its permissions, and a link goes on leading to
    what is then the new file. A new one has the permissions `mode`, or those that the system gives to new files.
    """
    path = followed(path)
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(EINVAL, "it is a device or a pipe, which cannot be replaced by a file", str(path))
    mode = permissions(path) if mode is None or path.is_file() else mode
    hidden = unguessable(path)
    try:
        with open(hidden, "xb", opener=lambda name, flags: os.open(name, flags, PRIVATE)) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # a disk that is full says so here at the latest
            if hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), mode)  # of this very file, whatever has its name
            else:
                hidden.chmod(mode)
        hidden.replace(path)
    except BaseException:
        hidden.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def write_atomically(path: Path, content: bytes, mode: int | None = None) -> None:
    """Write a file whole or not at all."""
    with writing_atomically(path, mode) as file:
        file.write(content)


def hidden_prefix(path: Path) -> str:
    """Return what the names of temporary files beside a file begin with: they are told from those of others by it."""
    name = path.name
    if len(name) > NAMED:
        name = f"{name[:NAMED]}-{sha256(os.fsencode(name)).hexdigest()[:8]}"
    return f".{name}."


def unguessable(path: Path, end: str = "") -> Path:
    """Return a name beside a file that nobody can have prepared."""
    return path.with_name(f"{hidden_prefix(path)}{secrets.token_hex(8)}{end}")


def permissions(path: Path) -> int:
    """Return those of a file or, where there is none, those that the system gives to a new one in its folder."""
    if path.is_file():
        return stat.S_IMODE(path.stat().st_mode) & 0o777
    try:
        handle = os.open(path.parent, os.O_WRONLY | os.O_TMPFILE, ANYONE)  # a file without a name
    except (AttributeError, OSError):  # not every system has those, or every disk
        empty = unguessable(path)
        handle = os.open(empty, os.O_WRONLY | os.O_CREAT | os.O_EXCL, ANYONE)
        empty.unlink()
    try:
        return stat.S_IMODE(os.fstat(handle).st_mode) & 0o777
    finally:
        os.close(handle)


def followed(path: Path) -> Path:
    """Return where links lead, or refuse those that another user has put into a folder for all, such as /tmp."""
    for _ in range(LINKS):
        if not path.is_symlink():
            return path
        link, folder = path.lstat(), path.parent.stat()
        for_all = folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH
        if for_all and link.st_uid not in (_own_number(), folder.st_uid):
            raise OSError(EPERM, "it is a link that another user has put there: give another name", str(path))
        path = path.parent / path.readlink()
    raise OSError(ELOOP, os.strerror(ELOOP), str(path))


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Within the block, be the only one to write a file; raise BlockingIOError where another process is at it.

    The lock ends with the process that holds it, however that ends. Systems without such locks have none.
    """
    if fcntl is None:
        yield
        return
    name = path.with_name(f"{hidden_prefix(path)}lock")
    busy = BlockingIOError(EAGAIN, BUSY)
    with os.fdopen(_open_lock(name), "rb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise busy from None
        try:
            same = os.path.samestat(name.lstat(), os.fstat(lock.fileno()))
        except FileNotFoundError:
            same = False
        if not same:
            raise busy  # the one that had it has just removed it
        try:
            yield
        finally:
            name.unlink(missing_ok=True)


def _open_lock(name: Path) -> int:
    """Make a file to be locked, or open the one that a run of ours has left; nobody else's, and no link."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK
    with suppress(FileExistsError):
        return os.open(name, flags | os.O_CREAT | os.O_EXCL, PRIVATE)
    theirs = OSError(EEXIST, f"another user is writing it, or has put {name} there: give another name")
    try:
        handle = os.open(name, flags)
    except FileNotFoundError:
        raise BlockingIOError(EAGAIN, BUSY) from None  # which has just finished
    except OSError as error:
        raise theirs from error
    status = os.fstat(handle)
    if stat.S_ISREG(status.st_mode) and status.st_uid == _own_number():
        return handle
    os.close(handle)
    raise theirs


def _own_number() -> int:
    """Return the number of the user, by which the system tells whose a file is."""
    return os.geteuid() if hasattr(os, "geteuid") else 0


def _sync_folder(folder: Path) -> None:
    """Have the new name on the disk, too, where the system can do that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
