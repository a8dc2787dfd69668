"""Objectives: what kernel PCA maximizes. Write three methods of `Objective` to add one.

>>> import numpy as np
>>> from kernelpca.objectives import Huber
>>> Huber(kappa=5.0).prox_conjugate(np.array([[3.0, 4.0], [30.0, 40.0]]))
array([[3., 4.],
       [3., 4.]])
"""

from kernelpca.objectives.epsilon_insensitive import EpsilonInsensitive
from kernelpca.objectives.huber import Huber
from kernelpca.objectives.protocol import Objective
from kernelpca.objectives.square import Square

__all__ = ["EpsilonInsensitive", "Huber", "Objective", "Square"]
