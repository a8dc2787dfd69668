"""Download a data file from its public source, turn it into ours, and keep it only if its content is right."""

from __future__ import annotations

import logging
import time
from hashlib import sha256
from http.client import HTTPException
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import numpy as np

from kernelpca.atomic import write_atomically
from kernelpca.datasets.catalogue import DataFile, Source
from kernelpca.datasets.digest import digest_of_arrays

PATIENCE = 10.0  # seconds without any answer
DEADLINE = 900.0  # seconds for one file
MEMORY = 60.0  # seconds in which a host that cannot be reached is not asked again
LIMIT = 256 * 2**20  # bytes of one file
HERE = {"127.0.0.1", "localhost"}

_log = logging.getLogger(__name__)
_unreachable: dict[str, float] = {}


class DownloadError(Exception):
    """No source gave the right content; the message says what each of them did."""


def download(wanted: DataFile, path: Path) -> None:
    """Write a data file, from the first of its sources that gives the right content; whole or not at all."""
    failures = []
    for source in wanted.sources:
        try:
            content = _obtain(wanted, source)
        except DownloadError as error:
            failures.append(str(error))
        else:
            _keep(content, path)
            return
    raise DownloadError("; ".join(failures))


def _keep(content: bytes, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content)
    except OSError as error:
        raise DownloadError(f"{path} cannot be written ({error})") from error
    _log.info("Kept %s", path)


def _obtain(wanted: DataFile, source: Source) -> bytes:
    """Return the bytes of our file as made from a source."""
    origin = " and ".join(source.addresses)
    raw = [fetch(address) for address in source.addresses]
    if source.convert is None:
        (content,) = raw
        found, expected = sha256(content).hexdigest(), wanted.sha256
    else:
        try:
            arrays = source.convert(*raw)
        except Exception as error:  # whatever a parser says of bytes that came from elsewhere
            text = f"{type(error).__name__}: {error}"
            raise DownloadError(f"{origin} gave what cannot be read as {wanted.name} ({text})") from error
        found, expected = digest_of_arrays(arrays), wanted.arrays
        buffer = BytesIO()
        np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
        content = buffer.getvalue()
    if found != expected:
        raise DownloadError(f"{origin} gave another {wanted.name}: sha256 of the content {found}, expected {expected}")
    return content


def fetch(address: str) -> bytes:
    """Return what is at an address: over https (or from this machine), within limits of time and size."""
    _refuse_unsafe(address)
    host = urlsplit(address).netloc
    if time.monotonic() - _unreachable.get(host, -MEMORY) < MEMORY:
        raise DownloadError(f"{address} was not asked for, as {host} could not be reached a moment ago")
    _log.info("Downloading %s", address)
    end = time.monotonic() + DEADLINE
    content = bytearray()
    try:
        with build_opener(_SafeRedirects).open(
            Request(address, headers={"User-Agent": "kernelpca"}), timeout=PATIENCE
        ) as answer:
            while chunk := answer.read(2**16):
                content += chunk
                if len(content) > LIMIT:
                    raise DownloadError(f"{address} gave more than {LIMIT} bytes")
                if time.monotonic() > end:
                    raise DownloadError(f"{address} took more than {DEADLINE:.0f} seconds")
            length = answer.headers.get("Content-Length")
    except HTTPError as error:
        with error:
            raise DownloadError(f"{address} answered {error.code} {error.reason}") from error
    except (OSError, HTTPException) as error:
        if isinstance(error, URLError):
            _unreachable[host] = time.monotonic()
        raise DownloadError(f"{address} could not be downloaded ({error})") from error
    if length is not None and len(content) != int(length):
        raise DownloadError(f"{address} broke off after {len(content)} of {length} bytes")
    return bytes(content)


class _SafeRedirects(HTTPRedirectHandler):
    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        _refuse_unsafe(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _refuse_unsafe(address: str) -> None:
    parts = urlsplit(address)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in HERE):
        raise DownloadError(f"{address} is refused: only https is safe")
