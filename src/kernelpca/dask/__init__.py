"""Kernel PCA on Dask: the tile functions of one machine under another schedule.

Give a `dask.array` (chunked by rows) or a `dask.dataframe` to any estimator: nothing else changes. This package is the
only one that imports dask.
"""

from kernelpca.dask.collections import as_rows
from kernelpca.dask.gram import DaskGram
from kernelpca.dask.rows import DaskRows

__all__ = ["DaskGram", "DaskRows", "as_rows"]
