"""What kernel PCA maximizes: variance, or a function like it that outliers move less or that leaves rows out."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from kernelpca.parts import Part


class Objective(Part, ABC):
    """A function f of the scores Y (n, s), to be maximized over orthonormal directions: a Moreau envelope.

        f(Y) = min over V of 1/2 |Y - V|^2 + Psi(V)

    A subclass writes Psi (`value`), its conjugate Psi* (`conjugate`) and the proximal operator of that
    (`prox_conjugate`), as in table 1 of the paper. Psi must be convex, at least zero, and zero at zero. The dual
    variable H (n, s) that belongs to scores Y is the gradient of f, which is that proximal operator; the dual problem
    is to minimize 1/2 |H|^2 + Psi*(H) - tr sqrt(H'G H). The rest is known from the three, and may be sharpened.

    References
    ----------
    Tonin, Lambert, Patrinos, Suykens (2023), Extending kernel PCA through dualization: section 4.
    """

    by_rows: bool = True  # whether rows count one by one, so that a weight is a number of repetitions of a row

    @abstractmethod
    def value(self, Y: np.ndarray) -> float:
        """(n, s) -> Psi(Y)."""

    @abstractmethod
    def conjugate(self, H: np.ndarray) -> float:
        """(n, s) -> Psi*(H), the largest <H, Y> - Psi(Y) over all Y; infinite where there is none."""

    @abstractmethod
    def prox_conjugate(self, Y: np.ndarray) -> np.ndarray:
        """(n, s) -> (n, s): the H with the least 1/2 |Y - H|^2 + Psi*(H)."""

    def envelope(self, Y: np.ndarray) -> float:
        """(n, s) -> f(Y), by the equality of Fenchel and Young at H, the gradient."""
        H = self.prox_conjugate(Y)
        return float(np.vdot(H, Y)) - self.dual(H)

    def dual(self, H: np.ndarray) -> float:
        """(n, s) -> f*(H) = 1/2 |H|^2 + Psi*(H)."""
        return 0.5 * float(np.vdot(H, H)) + self.conjugate(H)

    def check(self) -> None:
        """Refuse parameters that have no meaning."""

    @property
    def relative(self) -> bool:
        """Whether a parameter is a fraction of what the square solution gives, so that `resolve` must come first."""
        return False

    def resolve(self, Y: np.ndarray) -> Objective:
        """Return the same with every parameter a number; Y (n, s) are the scores of the square solution, by axes."""
        return self

    def largest(self, Y: np.ndarray) -> float:
        """Return the largest useful value of the parameter, for scores Y (n, s) of the square solution, by axes."""
        return float("nan")

    def weighted(self, roots: np.ndarray) -> Objective:
        """Return the objective in which row i counts roots_i^2 times, as a function of rows times `roots` (n,)."""
        raise ValueError(f"{self!r} does not say what sample weights mean. Leave sample_weight out.")

    def majorant(self, Y: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, float]:
        """(n, s), (n,) -> weights (n,), constant c: f(Z) <= c + 1/2 sum_i weights_i |z_i|^2 where |z_i| <= lengths_i.

        It bounds what any directions can reach, the better the nearer it is to f at Y: by f <= 1/2 |.|^2 where no more
        is known.
        """
        return np.ones(len(Y)), 0.0
