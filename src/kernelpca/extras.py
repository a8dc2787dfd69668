"""Import an optional dependency where it is used, or name the extra that installs it."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Import `module`, or say which extra brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"{purpose} needs {package}, which is not installed. Install it with: pip install 'kernelpca[{extra}]' "
            f"(where kernelpca is installed), or pip install '.[{extra}]' in the folder of a clone."
        ) from error
