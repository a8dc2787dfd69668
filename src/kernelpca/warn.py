"""Warnings that name the user's own line, however many calls lie between it and what is wrong."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from traceback import walk_stack

OWN = f"{Path(__file__).parent}{os.sep}"
# what calls the library for the user: wrappers of methods, searches, pools of threads and processes, the command line
BETWEEN = (
    *("sklearn", "joblib", "dask", "distributed", "typer", "click"),
    *("concurrent", "contextlib", "functools", "multiprocessing", "threading"),
)


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the nearest line that called this and is neither the library's nor of what calls it for the user.

    Where there is none, as in a thread of a pool, it is the line by which the library was entered.
    """
    calls = [frame for frame, _ in walk_stack(sys._getframe(1))]
    passed = ("<frozen ", OWN, *(place for name in BETWEEN if (place := _place(name))))
    users = (frame for frame in calls if not frame.f_code.co_filename.startswith(passed))
    line = next(users, None) or [frame for frame in calls if frame.f_code.co_filename.startswith(OWN)][-1]
    module, registry = line.f_globals.get("__name__"), line.f_globals.setdefault("__warningregistry__", {})
    # a module without a name is, to Python, one that is going out of existence, whose warnings it drops
    warnings.warn_explicit(text, category, line.f_code.co_filename, line.f_lineno, module or "<string>", registry)


def _place(name: str) -> str:
    """Return the folder of a package, or the file of a module; nothing if it was not imported: then none came by it."""
    file = getattr(sys.modules.get(name), "__file__", None) or ""
    return f"{Path(file).parent}{os.sep}" if Path(file).name == "__init__.py" else file
