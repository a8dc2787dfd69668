r"""Docstrings as they are read in an editor: bars, stars and trailing underscores mean themselves.

Our docstrings write \|x\| for a length and eigenvalues\_ for an attribute. To the documentation's markup these are
references; here they are made plain text, outside of `code`, examples and directives. Types of parameters are words,
not links: a name such as KernelPCA stands for several classes.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx
from sphinx.domains.python import PyObject

AFTER_NAPOLEON = 600  # napoleon, which reads the sections, has 500
CODE = re.compile(r"(``.*?``|`[^`]*`)")
TYPE = re.compile(r"^(\s*:(?:type|vartype) [^:]+:) (.+)$")
MARKS = re.compile(r"(?<!\\)([|*]|(?<=\w)_(?!\w))")


def escape(line: str) -> str:
    """Return a line whose marks are plain text."""
    parts = CODE.split(line)
    return "".join(part if part.startswith("`") else MARKS.sub(r"\\\1", part) for part in parts)


def make_plain(app: Sphinx, what: str, name: str, obj: object, options: Any, lines: list[str]) -> None:
    """Escape a docstring, but for examples (from >>> to an empty line) and directives."""
    example = False
    for i, line in enumerate(lines):
        text = line.strip()
        example = bool(text) and (example or text.startswith(">>>"))
        if not example and not text.startswith(".. "):
            typed = TYPE.match(line)
            lines[i] = f"{typed[1]} *{escape(typed[2])}*" if typed else escape(line)


def setup(app: Sphinx) -> dict[str, Any]:
    """Listen to docstrings after napoleon has read their sections."""
    for field in PyObject.doc_field_types:
        if field.name == "variable":
            field.label = "Attributes"  # what our docstrings call them
    app.connect("autodoc-process-docstring", make_plain, priority=AFTER_NAPOLEON)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
