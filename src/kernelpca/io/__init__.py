"""Files as rows of numbers: opened without loading the whole where that is possible, written block by block."""

from kernelpca.io.computed import Computed
from kernelpca.io.reading import open_data
from kernelpca.io.table import Table
from kernelpca.io.writing import write_data

__all__ = ["Computed", "Table", "open_data", "write_data"]
