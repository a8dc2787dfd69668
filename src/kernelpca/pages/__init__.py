"""Self-contained HTML pages."""

from importlib import import_module
from typing import Any

from kernelpca.pages.page import data_address, render

__all__ = ["data_address", "explore", "render", "report", "write_explorer"]

LATER = {"explore": "explorer", "write_explorer": "explorer", "report": "model_report"}


def __getattr__(name: str) -> Any:
    """Import report and explorer when they are first asked for: they bring every estimator with them."""
    if name in LATER:
        return getattr(import_module(f"{__name__}.{LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
