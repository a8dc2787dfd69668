"""From a model to a tree that JSON can write, and a list of arrays; what is shared is stored once."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from kernelpca.persistence import catalogue
from kernelpca.persistence.arrays import check_kind, in_memory_order
from kernelpca.persistence.errors import ModelFileError
from kernelpca.remote import RemoteRows

TAG = "$"  # the key that says what a JSON object stands for
WIDEST = 2**256  # integers below this in size are stored
MOST = 10_000  # parts of a model, those counted again that are used in several places
GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


class Encoder:
    """Encode objects; `objects` and `arrays` are what their references stand for.

    Attributes
    ----------
    objects : list of dict
        Instances of classes, each after those that it refers to.
    arrays : list of ndarray
        With their axes in the order of memory.
    """

    def __init__(self) -> None:
        self.objects: list[dict[str, Any]] = []
        self.arrays: list[np.ndarray] = []
        self._sizes: list[int] = []
        self._size = 0  # of the object that is being encoded
        self._known_objects: dict[int, int] = {}
        self._known_arrays: dict[tuple, int] = {}

    def encode(self, value: Any, where: str) -> Any:
        """Return what JSON can write in place of a value; `where` names it in errors."""
        if value is None or type(value) in (bool, str):
            return value
        if type(value) is int:
            return self._integer(value, where)
        if type(value) is float:
            return value if isfinite(value) else {TAG: "float", "value": str(value)}
        if isinstance(value, np.generic):
            return self._scalar(value, where)
        if isinstance(value, np.dtype):
            return {TAG: "dtype", "name": _named(value, where)}
        if type(value) in (np.ndarray, np.memmap):
            return self._array(value, where)
        if type(value) in (list, tuple):
            items = [self.encode(item, f"{where}[{i}]") for i, item in enumerate(value)]
            return items if type(value) is list else {TAG: "tuple", "items": items}
        if type(value) is dict:
            return self._dict(value, where)
        if isinstance(value, slice):
            bounds = {name: self.encode(getattr(value, name), where) for name in ("start", "stop", "step")}
            return {TAG: "slice", **bounds}
        if sparse.issparse(value) and value.format in ("csr", "csc"):
            parts = {name: self.encode(getattr(value, name), where) for name in ("data", "indices", "indptr")}
            form = value.format + ("_array" if isinstance(value, sparse.sparray) else "_matrix")
            return {TAG: "sparse", "form": form, "shape": [int(n) for n in value.shape], **parts}
        if isinstance(value, np.random.Generator | np.random.RandomState):
            return self._generator(value, where)
        if catalogue.name_of(value):
            return {TAG: "object", "id": self._object(value, where)}
        raise ModelFileError(_refusal(value, where))

    def _object(self, value: Any, where: str) -> int:
        if id(value) not in self._known_objects:
            plan = catalogue.blueprint(catalogue.name_of(value))
            outer, self._size = self._size, 1
            attributes = {
                name: self.encode(part, f"{where}.{name}") for name, part in _parts(value, plan, where).items()
            }
            if self._size > MOST:
                raise ModelFileError(
                    f"{where} is made of more than {MOST} parts, those counted again that are used in several places, "
                    "and a model file holds no more. Write a sum of equal kernels as a multiple, such as 8 * kernel."
                )
            self._sizes.append(self._size)
            self._size = outer
            self.objects.append({"class": plan.name, "attributes": attributes})
            self._known_objects[id(value)] = len(self.objects) - 1
        index = self._known_objects[id(value)]
        self._size += self._sizes[index]
        return index

    def _array(self, array: np.ndarray, where: str) -> dict[str, Any]:
        if array.dtype == object:
            return self._texts(array, where)
        check_kind(array, where)
        stored, axes = in_memory_order(np.asarray(array))
        key = (stored.__array_interface__["data"][0], stored.dtype.str, stored.shape, stored.strides)
        if key not in self._known_arrays:
            self._known_arrays[key] = len(self.arrays)
            self.arrays.append(stored)
        node: dict[str, Any] = {TAG: "array", "id": self._known_arrays[key]}
        if axes != sorted(axes):
            node["axes"] = axes
        if not array.flags.writeable:
            node["writeable"] = False
        return node

    def _texts(self, array: np.ndarray, where: str) -> dict[str, Any]:
        """Encode an array of strings: their characters in UTF-8 one after the other, and where each ends."""
        texts = array.reshape(-1).tolist()
        odd = next((text for text in texts if not isinstance(text, str)), None)
        if odd is not None:
            raise ModelFileError(
                f"{where} is an array of objects, one of them {type(odd).__name__}: a model file holds arrays of "
                "numbers or of strings. Give np.asarray(..., dtype=float), or strings alone."
            )
        if array.ndim > 2:
            raise ModelFileError(f"{where} is an array of strings with {array.ndim} axes: a model file holds up to 2.")
        pieces = [text.encode("utf-8", "surrogatepass") for text in texts]
        ends = np.cumsum([len(piece) for piece in pieces], dtype=np.int64)
        characters = np.frombuffer(b"".join(pieces), np.uint8)
        return {
            TAG: "texts",
            "shape": list(array.shape),
            "characters": self._kept(characters, where),
            "ends": self._kept(ends, where),
        }

    def _kept(self, array: np.ndarray, where: str) -> dict[str, Any]:
        """Encode an array that nobody else has."""
        self.arrays.append(array)
        return {TAG: "array", "id": len(self.arrays) - 1}

    def _generator(self, value: Any, where: str) -> dict[str, Any]:
        legacy = isinstance(value, np.random.RandomState)
        state = value.get_state(legacy=False) if legacy else value.bit_generator.state
        if state["bit_generator"] not in (GENERATORS[:1] if legacy else GENERATORS):
            raise ModelFileError(
                f"{where} draws from {state['bit_generator']}, which a model file does not hold: give an int as "
                "random_state, or numpy.random.default_rng(seed)."
            )
        return {TAG: "random_state" if legacy else "generator", "state": self._copied(state, where)}

    def _copied(self, state: Any, where: str) -> Any:
        """Encode a state, whose arrays are copies made for us."""
        if isinstance(state, dict):
            return {TAG: "dict", "items": [[key, self._copied(part, where)] for key, part in state.items()]}
        return self._kept(state, where) if isinstance(state, np.ndarray) else self.encode(state, where)

    def _dict(self, value: dict, where: str) -> dict[str, Any]:
        items = []
        for key, item in value.items():
            if type(key) not in (str, int):
                raise ModelFileError(f"{where} is a dict with the key {key!r}: a model file holds strings and ints.")
            items.append([self.encode(key, where), self.encode(item, f"{where}[{key!r}]")])
        return {TAG: "dict", "items": items}

    def _integer(self, value: int, where: str) -> int:
        if abs(value) >= WIDEST:
            raise ModelFileError(f"{where} is an integer of {value.bit_length()} bits: a model file holds up to 256.")
        return value

    def _scalar(self, value: np.generic, where: str) -> dict[str, Any]:
        return {TAG: "scalar", "dtype": _named(value.dtype, where), "value": self.encode(value.item(), where)}


def _named(dtype: np.dtype, where: str) -> str:
    check_kind(np.empty(0, dtype), where)
    return dtype.str


def _parts(value: Any, plan: catalogue.Blueprint, where: str) -> dict[str, Any]:
    """Return what an instance is made of, by name."""
    parts = {name: part for name, part in vars(value).items() if name in plan.parameters or name in plan.fitted}
    if not plan.hints and plan.name != catalogue.MIXTURE:  # what dataclasses have besides their fields is made anew
        unknown = vars(value).keys() - parts.keys() - catalogue.LEFT_OUT.keys()
        if unknown:
            raise ModelFileError(
                f"{where} has the attribute {min(unknown)!r}, which is no part of a {type(value).__name__}: delete it "
                "before saving, and keep it beside the file."
            )
    if callable(parts.get("callback")):
        parts["callback"] = catalogue.LEFT_OUT["callback"]
    return parts


def _refusal(value: Any, where: str) -> str:
    """Say why something cannot be stored, and what to do."""
    if isinstance(value, RemoteRows):
        return (
            f"{where} are rows on a Dask cluster, and a model file holds its rows itself. Fit with landmarks "
            "(approximation='nystrom'), which are here, or bring the rows here first: model.fit(X.compute())."
        )
    function = getattr(value, "function", value)
    if callable(function) and not isinstance(function, BaseEstimator):  # kernels can be called, too
        name = getattr(function, "__name__", type(function).__name__)
        return (
            f"{where} holds the function {name!r}, and a model file holds no code. Ways out: fit with "
            "kernel='precomputed' on kernel values that you compute; build the kernel from those of kernelpca.kernels; "
            "or joblib.dump(model, path), for readers who have your function and trust the file."
        )
    return (
        f"{where} is of the class {type(value).__module__}.{type(value).__qualname__}, which a model file does not "
        "hold. Give plain numbers, strings, arrays or parts of kernelpca; or use joblib.dump(model, path), for readers "
        "who have that class and trust the file."
    )
