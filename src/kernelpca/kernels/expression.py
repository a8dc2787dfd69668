"""Kernels written as text, such as "rbf(gamma=0.1) + 2*linear": read, never executed."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Mapping
from functools import reduce
from inspect import signature
from operator import add, mul
from typing import Any

from kernelpca.kernels.base import Kernel
from kernelpca.parts import explain_unknown

LONGEST, LARGEST = 1000, 1e300  # characters, numbers
MOST = 100  # operations, and with them parts of the kernel within one another: a model file has room for those
GRAMMAR = (
    "Write names of kernels with parameters in parentheses, joined by + and *, such as 'rbf(gamma=0.1) + 2*linear'; "
    "normalize(...) and rbf_of(..., gamma=...) take a kernel."
)
Makers = Mapping[str, Callable[[], Kernel]]


_NOTHING = object()


class KernelSyntaxError(ValueError):
    """Text that stands for no kernel; it says what is wrong with it."""


def is_expression(text: str) -> bool:
    """Whether a text is more than a name."""
    return not text.isidentifier()


def parse_kernel(text: str, makers: Makers, aliases: dict[str, str]) -> Kernel:
    """Return the kernel that a text describes.

    Sums, products, numbers, names of kernels and their parameters are all there is: the text is taken apart, and
    nothing in it is executed.

    Parameters
    ----------
    text : str
        Such as "rbf(gamma=0.1) + 2*linear", "normalize(poly(degree=2, coef0=1))" or "rbf_of(chi2, gamma=0.5)".
    makers : mapping
        Kernels by name.
    aliases : dict
        Names of others for them, to suggest.
    """
    if len(text) > LONGEST:
        raise KernelSyntaxError(f"The kernel's text has {len(text)} characters, and at most {LONGEST} are read.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python's, about text that is no program
            tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f" at character {error.offset}" if isinstance(error, SyntaxError) and error.offset else ""
        raise KernelSyntaxError(f"kernel={text!r} cannot be read{where}. {GRAMMAR}") from error
    try:
        found = _Reading(text, makers, aliases).value(tree.body)
    except RecursionError as error:  # where whoever asks is deep in calls, too
        raise KernelSyntaxError(f"kernel={text!r} has too many operations within one another. {GRAMMAR}") from error
    if not isinstance(found, Kernel):
        raise KernelSyntaxError(f"kernel={text!r} is a number and no kernel. {GRAMMAR}")
    return found


class _Reading:
    """One text that is being read."""

    def __init__(self, text: str, makers: Makers, aliases: dict[str, str]) -> None:
        self.text, self.makers, self.aliases = text, makers, aliases
        self.operations = 0

    def value(self, node: ast.expr) -> Kernel | float:
        """Return the kernel or the number that a part of the text stands for."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
            first, *others = (self.value(part) for part in self._side_by_side(node))
            return reduce(add if isinstance(node.op, ast.Add) else mul, others, first)
        if isinstance(node, ast.Name):
            return self._named(node.id)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self._called(node.func.id, node)
        number = self._literal(node)
        if isinstance(number, int | float) and not isinstance(number, bool):
            return float(number)
        raise KernelSyntaxError(f"{self._quote(node)} is no kernel and no number. {GRAMMAR}")

    def _side_by_side(self, node: ast.BinOp) -> list[ast.expr]:
        """Return the terms of a sum, or the factors of a product, in their order."""
        kind, found = type(node.op), []
        left: ast.expr = node
        while isinstance(left, ast.BinOp) and isinstance(left.op, kind):
            found.append(left.right)
            left = left.left
        self._count(len(found))
        return [left, *reversed(found)]

    def _count(self, operations: int) -> None:
        """Refuse a text with too many operations, before any of those within others are looked at."""
        self.operations += operations
        if self.operations > MOST:
            raise KernelSyntaxError(
                f"The kernel's text has more than {MOST} operations: write a kernel of fewer parts."
            )

    def _named(self, name: str) -> Kernel:
        if name not in self.makers:
            raise KernelSyntaxError(explain_unknown(name, "kernel", "kernelpca.kernels", self.makers, self.aliases))
        return self.makers[name]()

    def _called(self, name: str, node: ast.Call) -> Kernel:
        if name == "normalize" and len(node.args) == 1 and not node.keywords:
            return self._inner(node.args[0]).normalize()
        if name == "rbf_of" and len(node.args) == 1:
            wide = {str(part.arg): self._parameter(part.value) for part in node.keywords}
            if set(wide) <= {"gamma"}:
                return self._inner(node.args[0]).rbf(**wide)
        if name in ("normalize", "rbf_of"):
            raise KernelSyntaxError(f"{self._quote(node)}: write normalize(kernel) or rbf_of(kernel, gamma=0.1).")
        kernel = self._named(name)
        allowed = [each for each in signature(type(kernel)).parameters if each in kernel.get_params(deep=False)]
        given: dict[str, Any] = {}
        for place, argument in enumerate(node.args):
            if place >= len(allowed):
                raise KernelSyntaxError(
                    f"{self._quote(node)} gives more than {len(allowed)} parameters. {_list(allowed)}"
                )
            given[allowed[place]] = self._parameter(argument)
        for part in node.keywords:
            if part.arg is None or part.arg in given or part.arg not in allowed:
                problem = "is given twice" if part.arg in given else "is none of its parameters"
                raise KernelSyntaxError(f"{self._quote(node)}: {part.arg or '**'} {problem}. {_list(allowed)}")
            given[part.arg] = self._parameter(part.value)
        return kernel.set_params(**given)

    def _inner(self, node: ast.expr) -> Kernel:
        """Return the kernel that `normalize` or `rbf_of` is given."""
        self._count(1)
        inner = self.value(node)
        if not isinstance(inner, Kernel):
            raise KernelSyntaxError(f"{self._quote(node)} is a number, and a kernel is needed there. {GRAMMAR}")
        return inner

    def _parameter(self, node: ast.expr) -> Any:
        """Return a number, a word (with or without quotes), True, False or None."""
        if isinstance(node, ast.Name):
            return node.id
        value = self._literal(node)
        if value is _NOTHING:
            raise KernelSyntaxError(f"{self._quote(node)}: a parameter is a number or a word, such as 0.1 or scale.")
        return value

    def _literal(self, node: ast.expr) -> Any:
        """Return a constant, or a number with a sign; else nothing."""
        sign, signed = 1, False
        while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            sign, signed, node = -sign if isinstance(node.op, ast.USub) else sign, True, node.operand
        if not isinstance(node, ast.Constant) or not isinstance(node.value, int | float | str | None):
            return _NOTHING
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            return _NOTHING if signed else node.value
        if abs(node.value) > LARGEST:
            raise KernelSyntaxError(f"{self._quote(node)} is too large a number.")
        return sign * node.value

    def _quote(self, node: ast.expr) -> str:
        return repr(ast.get_source_segment(self.text.strip(), node) or self.text)


def _list(names: list[str]) -> str:
    return f"Its parameters: {', '.join(names)}." if names else "It has no parameters."
