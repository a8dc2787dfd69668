"""From a tree that JSON has read to a model; nothing is made but plain values, arrays and listed classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from math import prod
from typing import Any

import numpy as np
from scipy import sparse

from kernelpca.persistence import catalogue
from kernelpca.persistence.arrays import KINDS, LARGEST
from kernelpca.persistence.encoding import GENERATORS, MOST, TAG, WIDEST
from kernelpca.persistence.errors import damaged
from kernelpca.persistence.hints import fits


class Decoder:
    """Decode objects that refer only to those before them.

    Parameters
    ----------
    arrays : sequence of ndarray
        What references to arrays stand for.
    check : callable
        Called with the name of the class and the instance, as soon as one is made: refuses what is inconsistent.
    """

    def __init__(self, arrays: Sequence[np.ndarray], check: Callable[[str, Any], None]) -> None:
        self._arrays = arrays
        self._check = check
        self._objects: list[Any] = []
        self._sizes: list[int] = []
        self._size = 0  # of the object that is being made
        self._kinds: dict[str, Callable[[dict[str, Any]], Any]] = {
            "array": self._array,
            "dict": self._dict,
            "dtype": self._dtype,
            "float": self._float,
            "generator": self._generator,
            "object": self._object,
            "random_state": self._random_state,
            "scalar": self._scalar,
            "slice": self._slice,
            "sparse": self._sparse,
            "texts": self._texts,
            "tuple": self._tuple,
        }

    def decode_all(self, objects: Any) -> Any:
        """Make all objects and return the last."""
        if not isinstance(objects, list) or not objects:
            raise damaged("It holds no objects")
        for node in objects:
            self._objects.append(self._make(node))
        return self._objects[-1]

    def _make(self, node: Any) -> Any:
        name, attributes = self._fields(node, "class", "attributes")
        if not isinstance(name, str) or not isinstance(attributes, dict):
            raise damaged("An object has no class or no attributes")
        plan = catalogue.blueprint(name)
        attributes = {part: value for part, value in attributes.items() if part not in catalogue.former(name)}
        unknown = attributes.keys() - plan.parameters.keys() - plan.fitted
        if unknown:
            raise damaged(f"{name} has no attribute {min(unknown)[:80]!r}")
        self._size = 1
        values = {part: self.decode(value) for part, value in attributes.items()}
        if self._size > MOST:
            raise damaged(f"It is made of more than {MOST} parts")
        self._sizes.append(self._size)
        for part, default in plan.parameters.items():
            if part not in values and default is catalogue.REQUIRED:
                raise damaged(f"{name} lacks {part!r}")
            values.setdefault(part, copy(default))
        for part, hint in plan.hints.items():
            if part in values and not fits(values[part], hint):
                raise damaged(f"{name}.{part} is a {type(values[part]).__name__}, which it cannot be")
        instance: Any = object.__new__(plan.cls)
        vars(instance).update(values)
        self._check(name, instance)
        return instance

    def decode(self, node: Any) -> Any:
        """Return the value that a node of the tree stands for."""
        if node is None or type(node) in (bool, str, float):
            return node
        if type(node) is int:
            if abs(node) >= WIDEST:
                raise damaged("An integer is far too large")
            return node
        if type(node) is list:
            return [self.decode(item) for item in node]
        kind = node.get(TAG)
        if not isinstance(kind, str) or kind not in self._kinds:
            raise damaged(f"A value is of the unknown kind {str(kind)[:80]!r}")
        return self._kinds[kind](node)

    def _object(self, node: dict[str, Any]) -> Any:
        (index,) = self._fields(node, "id")
        if not (type(index) is int and 0 <= index < len(self._objects)):
            raise damaged("A reference to an object leads nowhere")
        self._size += self._sizes[index]
        return self._objects[index]

    def _array(self, node: dict[str, Any]) -> np.ndarray:
        index, axes, writeable = self._fields(node, "id", axes=None, writeable=True)
        if not (type(index) is int and 0 <= index < len(self._arrays)):
            raise damaged("A reference to an array leads nowhere")
        array = self._arrays[index]
        if axes is not None:
            if not _are_whole(axes) or sorted(axes) != list(range(array.ndim)):
                raise damaged(f"The axes of array {index} are mixed up")
            array = array.transpose(axes)
        if writeable is not True:
            array = array.view()
            array.flags.writeable = False
        return array

    def _texts(self, node: dict[str, Any]) -> np.ndarray:
        shape, *given = self._fields(node, "shape", "characters", "ends")
        characters, ends = (self._part(part, kind) for part, kind in zip(given, (np.uint8, np.int64), strict=True))
        starts = np.append(0, ends)[: len(ends)]
        if (
            not _are_whole(shape)
            or len(shape) > 2
            or prod(shape) != len(ends)
            or not all(0 <= n <= LARGEST for n in shape)
        ):
            raise damaged("Texts are of no shape")
        if (ends < starts).any() or (len(ends) and ends[-1] != len(characters)):
            raise damaged("Texts end before they begin, or after the last")
        content = characters.tobytes()
        texts = np.empty(len(ends), dtype=object)
        try:
            for i, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
                texts[i] = content[start:end].decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise damaged("Texts hold what are no characters") from error
        return texts.reshape(shape)

    def _sparse(self, node: dict[str, Any]) -> Any:
        form, shape, *given = self._fields(node, "form", "shape", "data", "indices", "indptr")
        if form not in ("csr_array", "csr_matrix", "csc_array", "csc_matrix"):
            raise damaged("A sparse matrix is of no known form")
        data, indices, indptr = (self._part(part, np.number) for part in given)
        if not _are_whole(shape) or len(shape) != 2 or any(part.dtype.kind not in "iu" for part in (indices, indptr)):
            raise damaged("A sparse matrix is of no shape, or its places are no integers")
        try:
            matrix = getattr(sparse, form)((data, indices, indptr), shape=tuple(shape))
            matrix.check_format(full_check=True)
        except (TypeError, ValueError, IndexError, OverflowError) as error:
            raise damaged(f"A sparse matrix is not consistent ({error})") from error
        return matrix

    def _part(self, node: Any, kind: type) -> np.ndarray:
        """Return an array with one axis."""
        array = self.decode(node)
        if not (isinstance(array, np.ndarray) and array.ndim == 1 and np.issubdtype(array.dtype, kind)):
            raise damaged("An array is not what it should be")
        return array

    def _tuple(self, node: dict[str, Any]) -> tuple:
        (items,) = self._fields(node, "items")
        return tuple(self.decode(_list(items)))

    def _dict(self, node: dict[str, Any]) -> dict:
        (items,) = self._fields(node, "items")
        result = {}
        for pair in _list(items):
            if type(pair) is not list or len(pair) != 2 or type(pair[0]) not in (str, int):
                raise damaged("A dict is made of what are no pairs")
            result[pair[0]] = self.decode(pair[1])
        return result

    def _slice(self, node: dict[str, Any]) -> slice:
        return slice(*(self.decode(part) for part in self._fields(node, "start", "stop", "step")))

    def _float(self, node: dict[str, Any]) -> float:
        (value,) = self._fields(node, "value")
        if value not in ("nan", "inf", "-inf"):
            raise damaged("A number is none")
        return float(value)

    def _dtype(self, node: dict[str, Any]) -> np.dtype:
        (name,) = self._fields(node, "name")
        if not (isinstance(name, str) and KINDS.fullmatch(name)):
            raise damaged("A type of numbers is not known")
        return np.dtype(name)

    def _scalar(self, node: dict[str, Any]) -> Any:
        name, value = self._fields(node, "dtype", "value")
        dtype, value = self._dtype({TAG: "dtype", "name": name}), self.decode(value)
        kinds: dict[str, tuple[type, ...]] = {"b": (bool,), "i": (int,), "u": (int,), "f": (int, float), "U": (str,)}
        if type(value) not in kinds[dtype.kind]:
            raise damaged(f"A number of type {dtype} is none")
        try:
            return dtype.type(value)
        except (OverflowError, ValueError) as error:
            raise damaged(f"A number of type {dtype} is too large") from error

    def _generator(self, node: dict[str, Any]) -> np.random.Generator:
        state = self._state(node)
        generator = np.random.Generator(getattr(np.random, state["bit_generator"])(0))
        self._restore(lambda: setattr(generator.bit_generator, "state", state))
        _check_sizes(state, generator.bit_generator.state)
        return generator

    def _random_state(self, node: dict[str, Any]) -> np.random.RandomState:
        state, random_state = self._state(node), np.random.RandomState(0)
        self._restore(lambda: random_state.set_state(state))
        _check_sizes(state, random_state.get_state(legacy=False))
        return random_state

    def _state(self, node: dict[str, Any]) -> dict[str, Any]:
        (state,) = self._fields(node, "state")
        decoded = self.decode(state)
        if not isinstance(decoded, dict) or decoded.get("bit_generator") not in GENERATORS:
            raise damaged("A random generator is of no known kind")
        return decoded

    @staticmethod
    def _restore(action: Callable[[], None]) -> None:
        try:
            action()
        except (TypeError, ValueError, KeyError, IndexError, OverflowError, AttributeError) as error:
            raise damaged(f"A random generator has no valid state ({error})") from error

    @staticmethod
    def _fields(node: Any, *required: str, **optional: Any) -> list[Any]:
        """Return the values of a node's keys, of which there must be no others."""
        keys = node.keys() - {TAG} if isinstance(node, dict) else set()
        if not set(required) <= keys <= {*required, *optional}:
            raise damaged("A value is not described as it should be")
        return [node[name] for name in required] + [node.get(name, default) for name, default in optional.items()]


def _check_sizes(given: Any, taken: Any) -> None:
    """Refuse a state of which a random generator has taken a part alone."""
    if isinstance(taken, dict):
        for name in taken:
            _check_sizes(given[name], taken[name])
    elif np.shape(given) != np.shape(taken):
        raise damaged("A random generator has no valid state (its numbers are not as many as they should be)")


def _list(items: Any) -> list[Any]:
    if type(items) is not list:
        raise damaged("A list is none")
    return items


def _are_whole(numbers: Any) -> bool:
    return type(numbers) is list and all(type(n) is int for n in numbers)
