"""Inner loops written for LLVM, where NumPy cannot say what the processor should do.

LLVM comes with numba, but numba takes a second to translate a loop; written down directly a loop is ready in less than
a tenth of that. Vectors of numbers are spelled out, so that no compiler has to discover them. Functions are called
through ctypes, which lets other threads run meanwhile.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from ctypes import CFUNCTYPE, c_double, c_float, c_ssize_t, c_void_p
from functools import cache, wraps
from threading import Lock
from typing import Any, TypeVar

import numpy as np

Made = TypeVar("Made")

_translating = Lock()


def once(make: Callable[..., Made]) -> Callable[..., Made]:
    """Cache what `make` returns for its arguments; where threads ask at the same time, one makes it for all."""
    cached = cache(make)

    @wraps(make)
    def ask(*args: Any) -> Made:
        with _translating:
            return cached(*args)

    return ask


@cache
def processor() -> tuple[str, str] | None:
    """Return name and features of this processor, or None if it has no fused multiply-add: NumPy is better then."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features()
    if not (features.get("fma") or platform.machine().lower() in ("arm64", "aarch64")):
        return None
    return llvm.get_host_cpu_name(), features.flatten()


@cache
def vector_bytes() -> int:
    """Return the bytes of a vector that this processor works on at once."""
    import llvmlite.binding as llvm

    return 64 if llvm.get_host_cpu_features().get("avx512f") else 32


class Code:
    """Functions on numbers of one width.

    Parameters
    ----------
    itemsize : int
        4 for float32, 8 for float64.
    """

    def __init__(self, itemsize: int) -> None:
        from llvmlite import ir

        self.ir = ir
        self.itemsize = itemsize
        self.lanes = vector_bytes() // itemsize
        self.module = ir.Module()
        self.integer = ir.IntType(64)
        self.real = ir.FloatType() if itemsize == 4 else ir.DoubleType()
        self.pointer = self.real.as_pointer()
        self._kinds: dict[str, str] = {}  # by function

    def function(self, name: str, kinds: str) -> tuple[Any, Any, Sequence[Any]]:
        """Begin a function without result; return it, its writer and its arguments.

        `kinds` has a letter for each argument: p for a pointer to numbers, d for one to float64 numbers whatever the
        width, n for one to integers, i for an integer, x for a number, y for a float64 number.
        """
        double, integers = self.ir.DoubleType(), self.integer.as_pointer()
        pointers = {"p": self.pointer, "d": double.as_pointer(), "n": integers}
        types = {**pointers, "i": self.integer, "x": self.real, "y": double}
        self._kinds[name] = kinds
        kind = self.ir.FunctionType(self.ir.VoidType(), [types[letter] for letter in kinds])
        function = self.ir.Function(self.module, kind, name)
        return function, self.ir.IRBuilder(function.append_basic_block()), function.args

    def vector(self, lanes: int) -> Any:
        """Return the type of so many numbers side by side."""
        return self.ir.VectorType(self.real, lanes)

    def constant(self, lanes: int, value: float) -> Any:
        """Return a number in every lane."""
        return self.ir.Constant(self.vector(lanes), [value] * lanes)

    def spread(self, b: Any, number: Any, lanes: int) -> Any:
        """Put a number into every lane."""
        undefined = self.ir.Constant(self.vector(lanes), self.ir.Undefined)
        small = self.ir.IntType(32)
        first = b.insert_element(undefined, number, small(0))
        return b.shuffle_vector(first, undefined, self.ir.Constant(self.ir.VectorType(small, lanes), [0] * lanes))

    def load(self, b: Any, place: Any, lanes: int) -> Any:
        """Read numbers that lie side by side."""
        return b.load(b.bitcast(place, self.vector(lanes).as_pointer()), align=self.itemsize)

    def store(self, b: Any, value: Any, place: Any) -> None:
        """Write numbers side by side."""
        b.store(value, b.bitcast(place, value.type.as_pointer()), align=self.itemsize)

    def multiply_add(self, b: Any, x: Any, y: Any, z: Any) -> Any:
        """Return x y + z, rounded once."""
        name = f"llvm.fma.v{x.type.count}f{8 * self.itemsize}"
        kind = self.ir.FunctionType(x.type, [x.type] * 3)
        return b.call(self.module.globals.get(name) or self.ir.Function(self.module, kind, name), [x, y, z])

    @contextmanager
    def counting(self, b: Any, start: Any, stop: Any, step: int) -> Iterator[Any]:
        """Write a loop: for number in range(start, stop, step)."""
        before = b.block
        head, body, after = (b.append_basic_block() for _ in range(3))
        b.branch(head)
        b.position_at_end(head)
        number = b.phi(self.integer)
        number.add_incoming(start, before)
        b.cbranch(b.icmp_signed("<", number, stop), body, after)
        b.position_at_end(body)
        yield number
        number.add_incoming(b.add(number, self.integer(step)), b.block)
        b.branch(head)
        b.position_at_end(after)

    def translate(self, name: str) -> Callable[..., None] | None:
        """Return a function that can be called, with arrays for pointers; None where NumPy is better.

        It takes arrays, not their addresses: an array that nothing else holds must not be freed before it is read.
        """
        import llvmlite.binding as llvm

        host = processor()
        if host is None:
            return None
        machine = llvm.Target.from_default_triple().create_target_machine(*host, opt=3)  # the engine will own it
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(str(self.module)), machine)
        engine.finalize_object()
        real = c_float if self.itemsize == 4 else c_double
        types = {"p": c_void_p, "d": c_void_p, "n": c_void_p, "i": c_ssize_t, "x": real, "y": c_double}
        signature = CFUNCTYPE(None, *[types[letter] for letter in self._kinds[name]])
        function = signature(engine.get_function_address(name))

        def call(*args: Any) -> None:
            function(*[arg.ctypes.data if isinstance(arg, np.ndarray) else arg for arg in args])

        call.engine = engine  # type: ignore[attr-defined]  # which owns the code
        return call
