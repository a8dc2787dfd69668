"""Eigensolvers on the Gram protocol, each answer with its certificate."""

from kernelpca.solvers.block_krylov import BlockKrylov
from kernelpca.solvers.certificate import Certificate
from kernelpca.solvers.dca import Dca
from kernelpca.solvers.dense import Dense
from kernelpca.solvers.dual_certificate import DualCertificate
from kernelpca.solvers.lanczos import Lanczos
from kernelpca.solvers.lbfgs import Lbfgs
from kernelpca.solvers.lobpcg import Lobpcg
from kernelpca.solvers.names import SOLVERS, as_solver
from kernelpca.solvers.protocol import Solver
from kernelpca.solvers.randomized import Randomized
from kernelpca.solvers.solution import IndefiniteKernelWarning, Solution
from kernelpca.solvers.watch import Progress

__all__ = [
    "SOLVERS",
    "BlockKrylov",
    "Certificate",
    "Dca",
    "Dense",
    "DualCertificate",
    "IndefiniteKernelWarning",
    "Lanczos",
    "Lbfgs",
    "Lobpcg",
    "Progress",
    "Randomized",
    "Solution",
    "Solver",
    "as_solver",
]
