"""Pages of one file: style, script and pictures are in it, so that it opens anywhere, without a network."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from kernelpca.extras import require

TEMPLATES = files("kernelpca.pages") / "templates"


def render(template: str | Traversable, extra: str, **content: Any) -> str:
    """Return the page that a template makes of its content: one of ours by name, or a file; all text is escaped."""
    environment = _environment(extra)
    if isinstance(template, str):
        return environment.get_template(template).render(**content)
    return environment.from_string(template.read_text(encoding="utf-8")).render(**content)


def data_address(picture: bytes, kind: str = "image/png") -> str:
    """Return an address that holds the picture itself."""
    return f"data:{kind};base64,{b64encode(picture).decode('ascii')}"


@cache
def _environment(extra: str) -> Any:
    jinja = require("jinja2", extra, "A page")
    environment = jinja.Environment(
        loader=jinja.FunctionLoader(lambda name: (TEMPLATES / name).read_text(encoding="utf-8")),
        autoescape=True,
        undefined=jinja.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["figure"] = as_figure
    return environment


def as_figure(value: Any) -> str:
    """Return a number with four digits that count, other things as they are."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
