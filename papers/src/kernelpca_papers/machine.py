"""The machine and the versions that a run was made with."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

LIBRARIES = ("kernelpca", "numpy", "scipy", "scikit-learn", "numba", "matplotlib")


def describe_machine() -> str:
    """Describe processor, memory and BLAS in one sentence."""
    cpu = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    blas: dict[str, Any] = next((library for library in threadpool_info() if library["user_api"] == "blas"), {})
    text = f"{cpu}, {os.cpu_count()} cores"
    if hasattr(os, "sysconf"):
        text += f", {os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
    return f"{text}; {blas.get('internal_api', 'BLAS')} {blas.get('version', '')}; {platform.system()}."


def versions() -> dict[str, str]:
    """Return the version of Python and of each library that results may depend on."""
    found = {}
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return {**found, "Python": platform.python_version()}
