"""Real data sets, found through the environment variable KERNELPCA_DATA; tests that need them say so when they skip."""

import os
from pathlib import Path

import pytest


def path_of(name):
    """The path of a data file, or a skip that says what to set."""
    folder = os.environ.get("KERNELPCA_DATA")
    if not folder:
        pytest.skip(f"needs {name}: set KERNELPCA_DATA to the folder of data sets")
    path = Path(folder) / name
    if not path.exists():
        pytest.skip(f"needs {name}, which is not in KERNELPCA_DATA={folder}")
    return path
