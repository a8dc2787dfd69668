"""Estimators that can be written to a file."""

from __future__ import annotations

from os import PathLike
from pathlib import Path


class Savable:
    """Give an estimator `save`; `kernelpca.load` reads what it writes."""

    def save(self, path: str | PathLike[str]) -> Path:
        """Write this model to a file that `kernelpca.load` reads; one that is there is replaced, whole or not at all.

        Parameters
        ----------
        path : path
            Where to; the usual suffix is .kpca.

        Returns
        -------
        path : Path
            The file.
        """
        from kernelpca.persistence.model_file import save

        return save(self, path)
