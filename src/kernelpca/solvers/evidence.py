"""How far an answer is from the best: an estimate that is usually right, and a bound that holds."""

from __future__ import annotations

import numpy as np

from kernelpca.gram.protocol import Gram
from kernelpca.solvers.bounds import largest_outside, nystrom_bound, rigorous_bound, trace_error
from kernelpca.solvers.probes import Probes
from kernelpca.solvers.subspace import Readout, Subspace
from kernelpca.tall import inner

SAFETY = 1.5  # what estimates from probes are multiplied by


class Evidence:
    """What a subspace and probes tell of the largest eigenvalues; `renew` after each block.

    Parameters
    ----------
    gram : Gram
        The matrix.
    k : int
        How many eigenvalues are wanted.
    subspace : Subspace
        The basis and its products.
    probes : Probes or None
        Random columns, multiplied along with the first block.
    thorough : bool, default=True
        Whether to look for a bound that holds for certain even where probes give one.
    """

    def __init__(self, gram: Gram, k: int, subspace: Subspace, probes: Probes | None, thorough: bool = True) -> None:
        self.gram = gram
        self.k = k
        self.subspace = subspace
        self.probes = probes
        self.thorough = thorough
        self._ritz: tuple[np.ndarray, np.ndarray] | None = None
        self._residuals: np.ndarray | None = None
        self.readout: Readout | None = None
        self.rounding = 0.0
        self.failure_probability = 0.0
        self._lower = [0.0]  # after each pass, for k eigenvalues
        self._upper = float("inf")
        self._mu = float("inf")
        self._excess: np.ndarray | None = None  # K Omega - F F'Omega
        self._rest: np.ndarray | None = None  # E Omega
        self._seen = np.empty((0, 0))  # U'E Omega, U the leading eigenvectors of the readout

    def renew(self) -> None:
        """Take in a block that was added to the basis."""
        self._ritz = self._residuals = None

    @property
    def values(self) -> np.ndarray:
        """(q,): Ritz values, largest first."""
        return self._ritz_pairs()[0]

    @property
    def S(self) -> np.ndarray:
        """(q, q): the coefficients of their vectors on the basis."""
        return self._ritz_pairs()[1]

    def _ritz_pairs(self) -> tuple[np.ndarray, np.ndarray]:
        if self._ritz is None:
            self._ritz = self.subspace.ritz()
        return self._ritz

    @property
    def leading(self) -> np.ndarray:
        """(k,): the values that `residuals` are about; zero where the matrix has fewer."""
        if self._rest is None or self.readout is None:
            return self.values[: self.k]
        return np.pad(self.readout.values[: self.k], (0, max(self.k - len(self.readout.values), 0)))

    @property
    def residuals(self) -> np.ndarray:
        """(k,): of the Ritz pairs; where there are probes, of the readout: (u'E omega)^2 has |E u|^2 as its mean."""
        if self._residuals is None:
            if self._rest is None:
                self._residuals = self.subspace.residual_norms(self.values[: self.k], self.S[:, : self.k])
            else:
                self._residuals = np.zeros(self.k)
                self._residuals[: len(self._seen)] = np.sqrt(np.square(self._seen).mean(axis=1))
        return self._residuals

    def read(self, rounding: float) -> None:
        """Make the Nyström readout: for better directions, estimates, and bounds from probes."""
        subspace, probes = self.subspace, self.probes
        self.rounding = rounding
        self.readout = subspace.nystrom(rounding)
        self._lower.append(max(self.lower(self.k), self._lower[-1]))
        if probes is not None and probes.product is not None:
            if self._excess is None:
                self._excess = subspace.excess(probes.Omega, probes.product)
            self._rest = subspace.unexplained(probes.Omega, self._excess, self.readout.root)
            self._seen = subspace.readout_inner(self.readout, self.k, self._rest)

    def drop_features(self) -> None:
        """Go on without the features of the subspace; the readout is to be made again."""
        self.subspace.drop_features()
        self.readout = self._excess = None
        self._lower = [0.0]
        self._upper = float("inf")
        self.restarted()

    def lower(self, k: int) -> float:
        """Return what the answer captures with k components, of the readout where there is one."""
        known = self.values if self.readout is None else self.readout.values
        return float(known[:k].sum())

    def increase(self) -> float:
        """Return how much the last pass added to what is captured."""
        return self._lower[-1] - self._lower[-2] if len(self._lower) > 2 else float("inf")

    def look(self, anew: bool) -> None:
        """Let the probes bound what the readout leaves of the matrix.

        Parameters
        ----------
        anew : bool
            Whether to look at the readout of now; else the probes go on with the one they have, for a sharper look.
        """
        assert self.probes is not None
        if self.probes.frozen:
            self._mu = min(self._mu, self.probes.largest())  # what is left only shrinks: an old bound stays valid
        if anew:
            self._freeze()

    def _freeze(self) -> None:
        assert self.probes is not None
        assert self.readout is not None
        assert self._rest is not None
        subspace, root = self.subspace, self.readout.root
        self.probes.freeze(lambda X, KX: subspace.unexplained(X, subspace.excess(X, KX), root), self._rest)
        self._mu = min(self._mu, self.probes.largest())

    def restarted(self) -> None:
        """Forget what was known of the rest: it has grown again."""
        self._mu = float("inf")
        if self.probes is not None:
            self.probes.thaw()

    def estimate(self, k: int) -> float:
        """Estimate by how much the sum of the k largest eigenvalues exceeds what is captured, relatively."""
        lower = self.lower(k)
        if lower <= 0:
            return float("inf") if self.gram.trace() > 0 else 0.0
        if self._rest is not None:
            excess = SAFETY * self._seen_by_probes(k)
            if self.subspace.F.shape[1] == 0:  # a slow spectrum: second order is not all
                excess = max(excess, 2 * self.increase())
        else:
            rest = max(self.gram.shape[0] - len(self.values), 1)
            mean = (self.gram.trace() - float(self.values.sum())) / rest
            excess = SAFETY * second_order(self.values[:k], self.residuals[:k], mean)
        return max(excess / lower, 4 * float(np.finfo(self.gram.dtype).eps))

    def _seen_by_probes(self, k: int) -> float:
        """Estimate what is missing from the captured sum, by perturbation theory and the probes.

        With E = K - L: the first order is sum u'E u = sum w'E w, w the part of u outside the basis, on which E is
        zero; (w'omega)(w'E omega) is an unbiased sample of it. The second order needs |E u| and the size of the
        eigenvalues of E. Beyond perturbation, eigenvalues of E itself may belong to the k largest: the probes' own
        Nyström approximation of E shows those that are large.
        """
        assert self.readout is not None
        assert self._rest is not None
        assert self.probes is not None
        subspace, readout, Omega, rest = self.subspace, self.readout, self.probes.Omega, self._rest
        values, seen = readout.values[:k], self._seen[:k]
        inside = subspace.readout_on_basis(readout, k) @ inner(subspace.Q, Omega)
        samples = ((subspace.readout_inner(readout, k, Omega) - inside) * seen).sum(axis=0)
        first = samples.mean() + samples.std(ddof=1) / np.sqrt(len(samples))
        C, D = inner(Omega, rest), inner(rest, rest)
        typical = np.trace(D) / np.trace(C) if np.trace(C) > 0 else 0.0
        second = second_order(values, np.sqrt(np.square(seen).mean(axis=1)), typical)
        sizes, Z = np.linalg.eigh((C + C.T) / 2)
        kept = sizes > max(self.rounding * len(Omega), 1e-12 * sizes[-1])
        R = Z[:, kept] / np.sqrt(sizes[kept])
        missed = np.linalg.eigvalsh(R.T @ D @ R)
        merged = np.sort(np.concatenate([values, missed]))[::-1][:k]
        return max(float(first), 0.0) + second + float(merged.sum() - values.sum())

    def upper(self, k: int) -> float:
        """Bound the sum of the k largest eigenvalues from above; see `failure_probability`."""
        bound = self._upper if k == self.k else float("inf")  # an old bound stays valid
        if self.thorough or self._rest is None:
            bound = min(bound, self._certain(k))
        if self.readout is not None and self._rest is not None:
            likely = self._likely(k)
            if likely < bound:
                bound, self.failure_probability = likely, self.probes.failure_probability  # type: ignore[union-attr]
        if k == self.k:
            self._upper = bound
        return bound

    def _certain(self, k: int) -> float:
        """Bound the sum from what is known without probes."""
        gram, n = self.gram, self.gram.shape[0]
        coupling = self.subspace.coupling(self.values, self.S)
        bound = rigorous_bound(self.values, coupling, k, gram, self.rounding)
        if self.readout is None or self.subspace.size >= n:
            return bound
        left, error = self._trace_left(), trace_error(self.rounding, n)
        outside = largest_outside(self.values, coupling, n, gram.trace(), gram.frobenius_squared(), True, error)
        mu = min(left, outside)
        return min(bound, nystrom_bound(self.subspace, self.readout, k, n, mu), self.lower(k) + left)

    def _likely(self, k: int) -> float:
        """Bound the sum with the help of the probes."""
        assert self.readout is not None
        if self._mu == float("inf"):
            self._freeze()
        mu = min(self._mu, self._trace_left())
        return nystrom_bound(self.subspace, self.readout, k, self.gram.shape[0], mu)

    def _trace_left(self) -> float:
        """Return the trace of what the readout leaves, rounded up: no eigenvalue of it is larger."""
        assert self.readout is not None
        left = max(self.gram.trace() - self.readout.trace, 0.0)
        return left + trace_error(self.rounding, self.gram.shape[0])


def second_order(values: np.ndarray, residuals: np.ndarray, typical: float) -> float:
    """Sum what 2 x 2 problems [[theta, r], [r, typical]] add to each theta."""
    half = np.maximum(values - typical, 0.0) / 2
    return float((np.hypot(half, residuals) - half).sum())
