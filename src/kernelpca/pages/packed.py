"""Arrays inside a page: text that JavaScript turns back into typed arrays (`templates/arrays.js`)."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import numpy as np

BYTE, WORD = 2**8, 2**16  # different numbers that one or two bytes can count
WORTH = 8  # entries for each different number, from which a list of these is shorter


def pack(array: Any, dtype: Any = np.float32) -> dict[str, Any]:
    """Return an array of numbers as JSON: its shape, its type and its bytes.

    An array with few different numbers, such as pixels of 8 bits, is stored as places in a list of them (`values`):
    a quarter of the size, and nothing is lost.
    """
    array = np.ascontiguousarray(array, dtype=dtype)
    few = _few(array)
    if few is not None:
        return _listed(*few)
    return {"shape": list(array.shape), "type": array.dtype.name, "data": _text(array)}


def pack_moved(local: np.ndarray, origin: np.ndarray | None, dtype: Any = np.float32) -> dict[str, Any]:
    """Return rows (m, d) of which an origin (d,) has been taken off: as they are, or as they were before.

    Moved rows have many different numbers where the rows had few. So if these are few, they are stored with the origin,
    to be taken off again (`less`); otherwise the moved rows are, which keeps their digits where the origin is large.
    """
    if origin is None or not local.size:
        return pack(local, dtype)
    rows = local.astype(np.float64) + origin
    few = _few(rows.astype(np.float32))
    if few is None:
        return pack(local, dtype)
    values, places = few
    exact = np.zeros(len(values))
    exact[places.ravel()] = rows.ravel()
    rounding = 8 * np.finfo(local.dtype).eps * np.abs(rows).max()
    if np.abs(exact[places] - rows).max() > rounding:
        return pack(local, dtype)
    return {**_listed(exact, places), "less": pack(origin, np.float64)}


def pack_shades(rows: np.ndarray, low: float, high: float) -> dict[str, Any]:
    """Return rows (m, d) that are only looked at, with no more than 256 shades between low and high."""
    exact = pack(rows)
    if exact["type"] == "uint8":
        return exact
    shades = np.linspace(low, high, BYTE)
    places = np.rint((np.clip(rows, low, high) - low) * ((BYTE - 1) / max(high - low, np.finfo(np.float64).tiny)))
    return _listed(shades, places)


def _few(array: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the different numbers of an array and which is where, or None where they are too many to be listed."""
    some = array.ravel()[:: max(array.size // (4 * WORD), 1)]  # a look that spares sorting all
    if len(np.unique(some)) > min(WORD, max(array.size // WORTH, 0)):
        return None
    values, places = np.unique(array, return_inverse=True)
    if len(values) > WORD or len(values) * WORTH > array.size:
        return None
    return values, places.reshape(array.shape)


def _listed(values: np.ndarray, places: np.ndarray) -> dict[str, Any]:
    kind = np.uint8 if len(values) <= BYTE else np.uint16
    listed = {"shape": [len(values)], "type": values.dtype.name, "data": _text(values)}
    return {
        "shape": list(places.shape),
        "type": np.dtype(kind).name,
        "data": _text(places.astype(kind)),
        "values": listed,
    }


def _text(array: np.ndarray) -> str:
    return b64encode(array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()).decode("ascii")
