"""Which path an exact fit takes: dense or iterative, with the matrix stored or made in tiles, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from kernelpca.memory import granted_bytes, readable_bytes
from kernelpca.solvers import BlockKrylov, Dense, Solver, as_solver
from kernelpca.solvers.block_krylov import BASIS_BLOCKS, default_block

SMALL = 500  # rows up to which a dense solution costs next to nothing


@dataclass(frozen=True)
class Plan:
    """What a fit does and why.

    Attributes
    ----------
    path : {"dense", "stored", "tiled", "given"}
        Dense LAPACK on the stored matrix; an iterative solver on the stored matrix; an iterative solver on tiles
        that are made anew in each pass; a matrix or operator given by the user.
    solver : Solver
        What solves it.
    reason : str
        Why.
    predicted_bytes : int
        Memory for the matrix and the solver.
    memory_limit : int
        What was granted.
    """

    path: str
    solver: Solver
    reason: str
    predicted_bytes: int
    memory_limit: int

    def __str__(self) -> str:
        return (
            f"{self.path} path with {self.solver!r}: {self.reason}. About {readable_bytes(self.predicted_bytes)} of "
            f"the {readable_bytes(self.memory_limit)} granted."
        )

    @property
    def tile_budget(self) -> int:
        """Bytes that one product of tiles may use: what the rest of the fit leaves."""
        return max(self.memory_limit - self.predicted_bytes, self.memory_limit // 4)


def make_plan(
    n: int, k: int, itemsize: int, solver: Any, memory_limit: int | float | str | None, given: bool = False
) -> Plan:
    """Choose the path for n rows and k components (n of them when all are wanted)."""
    limit = granted_bytes(memory_limit)
    matrix = n * n * itemsize
    dense = dense_bytes(n, k, 0 if given else matrix)
    if isinstance(solver, str) and solver == "auto":
        many = 20 * k >= n
        chosen: Solver = Dense() if (n <= SMALL or many) and dense <= limit else BlockKrylov()
        why = f"{k} of {n} components in few passes"
        if isinstance(chosen, Dense):
            why = f"{n} rows are few" if n <= SMALL else f"{k} of {n} possible components are many"
            why += ", so LAPACK is exact and fast"
    else:
        chosen = clone(as_solver(solver))
        why = f"{type(chosen).__name__} was asked for"
    if isinstance(chosen, Dense):
        if dense > limit:
            raise MemoryError(
                f"A dense solution for {n} rows needs about {readable_bytes(dense)}; {readable_bytes(limit)} are "
                "granted. Use solver='auto' with fewer components (n_components), or raise memory_limit."
            )
        return Plan("given" if given else "dense", chosen, why, dense, limit)
    block = block_bytes(n, k, itemsize)
    if given:
        return Plan("given", chosen, why + "; the matrix was given", block, limit)
    if matrix + block <= limit:
        return Plan("stored", chosen, why + "; the matrix fits in memory", matrix + block, limit)
    if 4 * block > 3 * limit:  # a quarter is for tiles
        raise MemoryError(
            f"{k} components of {n} rows need about {readable_bytes(4 * block / 3)} even without storing the matrix; "
            f"{readable_bytes(limit)} are granted. Ask for fewer components (n_components), or raise memory_limit."
        )
    why += f"; the matrix would take {readable_bytes(matrix)}, so tiles are made in each pass"
    return Plan("tiled", chosen, why, block, limit)


def dense_bytes(n: int, k: int, matrix: int) -> int:
    """Return what LAPACK needs: the matrix, a float64 copy, its work space, vectors and their products."""
    work = 3 * n * n * 8 if 3 * (k + 1) > n else 26 * n * 8
    return matrix + n * n * 8 + work + 5 * n * k * 8


def block_bytes(n: int, k: int, itemsize: int) -> int:
    """Return what block Krylov needs: its basis, the products with it, and a few blocks."""
    p = default_block(k)
    return (2 * BASIS_BLOCKS * p + 6 * p) * n * itemsize + 3 * n * k * 8
