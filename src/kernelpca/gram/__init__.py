"""Gram operators: the n x n kernel matrix, stored or not, as something that can be multiplied."""

from kernelpca.gram.blocked import BlockedGram
from kernelpca.gram.centered import CenteredGram, WeightedGram
from kernelpca.gram.dense import DenseGram
from kernelpca.gram.lowrank import LowRankGram
from kernelpca.gram.operator import OperatorGram, as_gram
from kernelpca.gram.protocol import Gram
from kernelpca.gram.tiled import CallableGram, TiledGram, cross_product

__all__ = [
    "BlockedGram",
    "CallableGram",
    "CenteredGram",
    "DenseGram",
    "Gram",
    "LowRankGram",
    "OperatorGram",
    "TiledGram",
    "WeightedGram",
    "as_gram",
    "cross_product",
]
