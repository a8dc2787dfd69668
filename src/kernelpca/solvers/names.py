"""Names that stand for solvers."""

from __future__ import annotations

from typing import Any

from kernelpca.parts import explain_unknown
from kernelpca.solvers.block_krylov import BlockKrylov
from kernelpca.solvers.dca import Dca
from kernelpca.solvers.dense import Dense
from kernelpca.solvers.lanczos import Lanczos
from kernelpca.solvers.lbfgs import Lbfgs
from kernelpca.solvers.lobpcg import Lobpcg
from kernelpca.solvers.protocol import Solver
from kernelpca.solvers.randomized import Randomized

SOLVERS: dict[str, type[Solver]] = {
    "dense": Dense,
    "lanczos": Lanczos,
    "randomized": Randomized,
    "block_krylov": BlockKrylov,
    "lobpcg": Lobpcg,
    "lbfgs": Lbfgs,
    "dca": Dca,
}


ALIASES = {"arpack": "lanczos", "eigsh": "lanczos", "full": "dense", "eigh": "dense", "krylov": "block_krylov"}


def as_solver(solver: Any) -> Solver:
    """Return the solver that a name or an object stands for."""
    if isinstance(solver, Solver):
        return solver
    if isinstance(solver, str) and solver in SOLVERS:
        return SOLVERS[solver]()
    raise ValueError(explain_unknown(solver, "solver", "kernelpca.solvers", ["auto", *SOLVERS], ALIASES))
