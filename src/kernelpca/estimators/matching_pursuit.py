"""Rows whose span comes nearest to given directions, chosen one by one."""

from __future__ import annotations

import numpy as np

from kernelpca.estimators.reduced_set import Expansion
from kernelpca.gram.tiled import TiledGram
from kernelpca.kernels.base import Rows

BLOCK = 32  # rows whose kernel values are fetched together
NEAR = 0.7  # of the largest gain: a row at hand that gains as much is taken
EXHAUSTED = 1e-12  # of the largest squared length: what is left of a row is rounding


class MatchingPursuit:
    """Each row is the one that, with those before it, brings the projections of directions nearest to these.

    With r_j what the rows before leave of direction j, and p what they leave of a mapped row, a row gains
    sum_j weight_j <r_j, p>^2 / |p|^2. A Cholesky factor grows with every row; kernel values are fetched for the most
    promising rows together. With centring all is about the row that is nearest to the mean, which is the first.

    Parameters
    ----------
    expansion : Expansion
        What is to be spanned.
    candidates : rows
        q rows to choose among.
    products : ndarray of shape (q, k + 1)
        `expansion.products(candidates)`.

    Attributes
    ----------
    order : list of int
        The rows chosen so far, by their numbers among the candidates.
    scores : ndarray of shape (q, k)
        Those of the candidates on the directions themselves.
    exhausted : bool
        Whether no other row would change anything.

    References
    ----------
    Tropp, Gilbert and Strauss (2006), Algorithms for simultaneous sparse approximation. Part I: greedy pursuit.
    """

    def __init__(self, expansion: Expansion, candidates: Rows, products: np.ndarray) -> None:
        self.gram = TiledGram(expansion.kernel, candidates)
        self.order: list[int] = []
        self.exhausted = False
        self._weights, self._scale = expansion.weights, expansion.scale
        self._A = products.copy()  # of what is left of directions and mean with rows
        self.scores = self._A[:, :-1] + expansion.b
        self._left = self.gram.diagonal().astype(np.float64)  # (q,): squared lengths of what is left of rows
        self._offset = np.zeros(len(self.scores))
        self._center = np.zeros(len(expansion.b))  # <m - first, v_j>
        if expansion.centered:
            first = int((self._left - 2.0 * self._A[:, -1]).argmin())
            values = self.gram.columns(np.array([first]))[:, 0]
            self.order.append(first)
            self._offset = values - values[first] / 2.0
            self._center = -expansion.b - self._A[first, :-1]
            self._A[:, -1] -= self._offset
            self._A -= self._A[first].copy()
            self._left -= 2.0 * self._offset
        self._least = EXHAUSTED * float(self._left.max())
        self._free = self._left > self._least
        self._free[self.order] = False
        self._G = np.empty((BLOCK, len(self.scores)))  # (t, q): the Cholesky factor
        self._coordinates = np.empty((BLOCK, self._A.shape[1]))  # (t, k + 1): of directions and mean in the span
        self._t = 0
        self._at_hand, self._columns = np.empty(0, int), np.empty((0, len(self.scores)))

    def extend(self, m: int) -> None:
        """Choose rows until there are m, or until no other would change anything."""
        while len(self.order) < m and not self.exhausted:
            gains = np.divide(
                np.square(self._A) @ self._weights, self._left, out=np.zeros_like(self._left), where=self._free
            )
            best = float(gains.max())
            if best <= 0.0:
                self.exhausted = True
                return
            if not self._at_hand.size or gains[self._at_hand].max() < NEAR * best:
                self._fetch(gains)
            self._take(int(gains[self._at_hand].argmax()))

    def error(self) -> float:
        """Return the root mean square change of the candidates' scores, relative, in the component where it is most."""
        a = self._coordinates[: self._t]
        values, Q = np.linalg.eigh(a[:, :-1].T @ a[:, :-1])
        if values[0] <= EXHAUSTED:
            return np.inf
        T = Q / np.sqrt(values) @ Q.T
        lost = self._A[:, :-1] - (self._center - a[:, -1] @ a[:, :-1])  # <phi_i - m, r_j>
        change = ((self.scores - lost) @ T - self.scores) / self._scale
        return float(np.sqrt(np.square(change).mean(axis=0)).max())

    def _fetch(self, gains: np.ndarray) -> None:
        """Get kernel values of the rows that gain most, less what is in the span already."""
        count = min(BLOCK, len(gains))
        self._at_hand = np.argpartition(-gains, count - 1)[:count]
        C = self.gram.columns(self._at_hand).T - self._offset - self._offset[self._at_hand, None]
        G = self._G[: self._t]
        self._columns = C - G[:, self._at_hand].T @ G

    def _take(self, which: int) -> None:
        """Add a row that is at hand to the span."""
        row = int(self._at_hand[which])
        length = np.sqrt(self._left[row])
        g, a = self._columns[which] / length, self._A[row] / length
        if self._t == len(self._G):
            self._G = np.concatenate([self._G, np.empty_like(self._G)])
            self._coordinates = np.concatenate([self._coordinates, np.empty_like(self._coordinates)])
        self._G[self._t], self._coordinates[self._t] = g, a
        self._t += 1
        self._A -= np.outer(g, a)
        self._left -= g * g
        self._columns -= np.outer(g[self._at_hand], g)
        self._free &= self._left > self._least
        self._free[row] = False
        self.order.append(row)
