"""What the library says of its parameters, in the words of the command line's options."""

from __future__ import annotations

import ast
import re
from shlex import quote

OPTION = re.compile(r"(?<![\w-])--[a-z]")  # a message that names options already speaks to this reader
BEFORE = r"(?<![\w/\\.'\"-])(?<!\w\()"  # what is part of a path, of a name or of a call is none of our parameters
VALUE = r"'[^']*'|\"[^\"]*\"|\([^)]*\)|\[[^\]]*\]|[\w.+-]*\w"
WORDS = {
    f"{BEFORE}header=True\\b": "--header",
    f"{BEFORE}header=False\\b": "--no-header",
    f"{BEFORE}key='\\.\\.\\.'": "--key NAME",
    r"\bleave key out\b": "leave --key out",
    f"{BEFORE}columns=\\[\\.\\.\\.\\]": "--columns",
    r"\b([Rr])aise memory_limit\b(?!=)": r"\1aise --memory",
    r"\(n_components\)": "(--components)",
}
VALUES = {"n_components": "--components", "memory_limit": "--memory", "key": "--key", "columns": "--columns"}
PARAMETER = re.compile(f"{BEFORE}(?P<name>{'|'.join(VALUES)})=(?P<value>{VALUE})")
OF_COMPONENTS = {
    r"\bn_samples = (\d+)": r"\1 rows",
    r"\bn_features = (\d+)": r"\1 columns",
    r"\('relative', ([\w.-]+)\)": r"relative:\1",
    r"\bor None\b( for all)?": "or all",
    r"\ban int\b": "a number",
    r"\ba float between\b": "a fraction between",
}
OF_MEMORY = {
    r"\ba string such as \"(\w+)\" or \"(\w+)\"": r"an amount such as \1 or \2",
    r"\bor None for\b": "or leave it out for",
}


def translate(text: str) -> str:
    """Return a message with the command line's options in the place of parameters, unless it names some already."""
    if OPTION.search(text):
        return text
    told = PARAMETER.sub(_with_value, _worded(text, WORDS))
    for option, words in (("--components", OF_COMPONENTS), ("--memory", OF_MEMORY)):
        if option in told:
            told = _worded(told, words)
    return told


def _worded(text: str, words: dict[str, str]) -> str:
    for pattern, word in words.items():
        text = re.sub(pattern, word, text)
    return text


def _with_value(found: re.Match[str]) -> str:
    """Return an option with the value that its parameter was given, as one writes it on the command line."""
    option = VALUES[found["name"]]
    try:
        value = ast.literal_eval(found["value"])
    except (SyntaxError, ValueError):
        value = found["value"]
    if value is None:
        return f"{option} all"
    if isinstance(value, tuple | list):
        value = (":" if isinstance(value, tuple) else ",").join(map(str, value))
    return f"{option} {quote(str(value))}"
