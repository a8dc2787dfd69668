"""Model files that are safe to read: arrays and JSON in one zip, with digests, and no code.

>>> import tempfile
>>> from kernelpca.kernels import RBF
>>> from kernelpca.persistence import describe, load, save
>>> with tempfile.TemporaryDirectory() as folder:
...     path = save(RBF(gamma=0.1), f"{folder}/kernel.kpca")
...     print(load(path), describe(path)["class"])
RBF(gamma=0.1) kernels.RBF
"""

from kernelpca.persistence.catalogue import skops_types
from kernelpca.persistence.errors import ModelFileError
from kernelpca.persistence.model_file import describe, load, save
from kernelpca.persistence.savable import Savable

__all__ = ["ModelFileError", "Savable", "describe", "load", "save", "skops_types"]
