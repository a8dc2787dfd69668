"""Block Krylov iteration from a Nyström start, with Rayleigh-Ritz over all blocks, locking and thick restarts.

What costs is a pass over the matrix; a pass with twenty columns costs little more than one with a single column. So
each pass multiplies a whole block, and everything learned so far takes part in what is read off it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from sklearn.base import clone

from kernelpca.solvers.certificate import reached, variance_gap
from kernelpca.solvers.cost import Cost, Size, digits_of, iterative
from kernelpca.solvers.evidence import Evidence
from kernelpca.solvers.landmarks import KEPT, Start, default_count, landmark_start
from kernelpca.solvers.probes import Probes
from kernelpca.solvers.protocol import Solver, fits_into
from kernelpca.solvers.rayleigh_ritz import orthonormal, orthonormal_columns, starting_block
from kernelpca.solvers.solution import Ritz
from kernelpca.solvers.subspace import Subspace
from kernelpca.solvers.watch import Watch

BASIS_BLOCKS = 10  # blocks kept before a restart
SPARE = 8  # columns of a block beyond the wanted ones; the first block has as many, or those, at random
LEAST_SPARE = 4  # where a pass costs next to nothing
PROBES = 8
SINGLE = 1e-5  # targets down to this are within reach of float32
LARGE = 4096  # rows from which scores are worked out in float32: fewer cost so little that all digits are as cheap
SETTLED = 0.5  # relative residual from which on an eigenvalue is about what it is
EASY = 0.5  # of the tolerance: what float32 is asked for before float64 finishes
TIGHTEST = 4  # blocks of a basis that is still worth having
LOCKED = 0.5  # of the tolerance: components below need no more work


class BlockKrylov(Solver):
    """The default solver for problems that are too large for a dense one.

    Parameters
    ----------
    criterion : {"residual", "variance", "certified"}, default="residual"
        What `tol` is about. "residual": the relative residual of every component, which is about the relative error
        of its scores. "variance": the estimated relative error of the captured variance; 1e-4 of that means scores
        good to about 1e-2 on the worst component, often after a single pass. "certified": the same, by a bound that
        holds but for `failure_probability`.
    landmarks : int, optional
        Rows whose columns of the matrix give the start; 0 for a random start. When not given, between 100 and 500
        where the matrix is positive definite and its columns are cheap.
    block_size : int, optional
        Columns of a pass; when not given k + 8 or more, as many as hardly make a pass longer.
    max_basis : int, optional
        Columns kept before a restart; ten blocks when not given. Memory is 2 n max_basis numbers.
    max_iter : int, default=200
        Passes at most.
    failure_probability : float, default=1e-3
        With which a bound from random probes may fail.
    indefinite : {"warn", "raise", "clip", "keep"}, default="warn"
        What to do with negative eigenvalues among the wanted ones.

    Notes
    -----
    With features F of the landmarks, K is F F' and an excess that is known on the basis Q: the Nyström approximation
    from both is the next block's source, and the answer where a variance is asked for. Without, the next block is
    what the last product has outside the basis, as in every Krylov method; the two are the same then.

    A restart keeps the leading Ritz vectors and the block that was to come next, which is orthogonal to all of them
    (the block form of the Krylov-Schur method), so that nothing is lost of the convergence so far.
    """

    tries_single = True

    def __init__(
        self,
        criterion: str = "residual",
        landmarks: int | None = None,
        block_size: int | None = None,
        max_basis: int | None = None,
        max_iter: int = 200,
        failure_probability: float = 1e-3,
        indefinite: str = "warn",
    ) -> None:
        self.criterion = criterion
        self.landmarks = landmarks
        self.block_size = block_size
        self.max_basis = max_basis
        self.max_iter = max_iter
        self.failure_probability = failure_probability
        self.indefinite = indefinite

    def run(self, watch: Watch, k: int, start: np.ndarray | None, rng: np.random.Generator) -> Ritz:
        """Solve in float32 where the target allows it, and finish in float64 where it does not."""
        delta = self.failure_probability
        if isinstance(delta, bool) or not isinstance(delta, int | float | np.number) or not 0 < delta < 1:
            raise ValueError(
                f"failure_probability={self.failure_probability!r}: give a number between 0 and 1, such as 1e-3."
            )
        gram = watch.gram
        fits = gram.dtype == np.float32 or fits_into(gram.magnitude(), gram.shape[0], np.dtype(np.float32))
        wanted = fits and self.working_dtype(gram.dtype, watch.tol, gram.shape[0]) == np.float32
        if fits and (wanted or (gram.single_is_fast and start is None)):
            single, finer = gram.single(), wanted and gram.dtype == np.float64
            with watch.on(single, tol=watch.tol if wanted else max(EASY * watch.tol, SINGLE), finer=finer):
                found = self._iterate(watch, k, start, rng)
                finished = wanted and not (finer and self._out_of_reach(watch, found.evidence))
            if finished or watch.stopped or watch.passes >= self.max_iter:
                return found
            start = found.vectors
            del found  # and the basis with it
            single.release()
            watch.forget()
        return self._iterate(watch, k, start, rng)

    def working_dtype(self, dtype: np.dtype, tol: float, n: int) -> np.dtype:
        """Return float32 where the target is within its reach and the answer a variance, or the matrix large."""
        large = self.criterion != "residual" or n >= LARGE
        return np.dtype(np.float32) if tol >= SINGLE and large else dtype

    def cost(self, size: Size, tol: float) -> Cost:
        """Return the cost of few passes with wide blocks, all of which are kept."""
        n, p, m, digits = size.n, self._block_width(size), self._landmark_count(size), digits_of(tol)
        if self.criterion == "residual":
            passes = int(np.ceil(0.75 * digits + (0.5 if m else 3.0)))
        else:
            passes = 1 if self.criterion == "variance" else 2
            passes += max(int(np.ceil((digits - 4) / 3)), 0) + (0 if m else 3)
        most = min(self._basis_size(size.k, p), n)
        single = replace(size, itemsize=size.working) if self.criterion == "variance" else size
        return iterative(single, passes, p, min(p * passes, most), most=most, landmarks=m, kept=min(m, KEPT * p))

    def frugal(self, size: Size) -> Iterator[tuple[Solver, str]]:
        """Return the same with a small basis, then with narrow blocks, unless the user has chosen the basis."""
        if self.max_basis is not None:
            return
        narrow = size.k + SPARE
        changes: tuple[tuple[dict[str, int], str], ...] = (
            ({"max_basis": TIGHTEST * self._block_width(size)}, "a small basis"),
            ({"max_basis": 2 * narrow + size.k, "block_size": narrow, "landmarks": 0}, "narrow blocks, no landmarks"),
        )
        for parameters, words in changes:
            free = {name: value for name, value in parameters.items() if getattr(self, name) is None}
            yield clone(self).set_params(**free), words

    def _basis_size(self, k: int, p: int) -> int:
        """Return how many columns the basis may have, for blocks of p."""
        return max(self.max_basis or BASIS_BLOCKS * p, k + 2 * p)

    def _landmark_count(self, size: Size) -> int:
        """Return how many landmarks to start from."""
        if not size.landmarks:
            return 0
        few = self.criterion == "residual" and size.stored
        return min(default_count(size.n, size.k, few) if self.landmarks is None else self.landmarks, size.n)

    def _block_width(self, size: Size) -> int:
        """Return how many columns a pass has."""
        # a pass over a stored matrix costs so little that narrow blocks pay; to read off a variance in one or two
        # passes some columns more are needed, and no wide block pays
        spare = max(size.entry_cost / 8, LEAST_SPARE) if self.criterion == "residual" else SPARE
        return min(self.block_size or default_block(size.k, spare), size.n)

    def _iterate(self, watch: Watch, k: int, start: np.ndarray | None, rng: np.random.Generator) -> Ritz:
        """Grow the basis by one block a pass until the criterion is met."""
        gram = watch.gram
        n, dtype = gram.shape[0], gram.dtype
        size = Size(n, k, entry_cost=gram.entry_cost, landmarks=gram.positive_definite and gram.cheap_columns)
        p = self._block_width(size)
        begun = self._landmarks(watch, size, p, rng) if start is None else None
        features = begun.F.shape[1] > 0 if begun else False
        block = starting_block(n, p, begun.directions if begun else start, rng, dtype)
        subspace = Subspace(n, min(self._basis_size(k, block.shape[1]), n), dtype, begun.F if begun else None)
        wants_variance = self.criterion != "residual"
        reads = gram.positive_definite and (wants_variance or features)
        probes = Probes(n, PROBES, dtype, rng, self.failure_probability) if reads and wants_variance else None
        evidence = Evidence(gram, k, subspace, probes, thorough=self.criterion == "certified")
        restarted = False
        before = watch.passes  # in another precision
        while True:
            first = watch.passes == before
            rides = probes is not None and (first or self.criterion == "certified")
            width = block.shape[1]
            product = watch.matmat(np.column_stack([block, probes.riders()]) if probes and rides else block)
            subspace.add(block, product[:, :width])
            evidence.renew()
            watch.see(evidence.leading)
            if probes and rides:
                probes.take(product[:, width:])
            if reads:
                evidence.read(watch.rounding)
            useless = begun and features and first and not begun.is_worth(evidence.lower(k))
            if useless or (features and subspace.features_exceed(watch.rounding)):
                features = False
                evidence.drop_features()
                reads = wants_variance
                if reads:
                    evidence.read(watch.rounding)
            if self.criterion == "certified" and probes:
                evidence.look(anew=restarted or _power_of_two(watch.passes - before))
            restarted = False
            complete = subspace.size >= n or watch.passes >= self.max_iter
            if subspace.size >= k and (self._report(watch, evidence, k) or complete):
                return self._answer(evidence, k, rng)
            block = self._next(watch, evidence, product[:, :width], p, rng)
            if block.shape[1] > subspace.room:
                kept = min(k + p, subspace.size + subspace.room - block.shape[1])
                subspace.restart(evidence.S[:, :kept])
                evidence.restarted()
                restarted = True

    def _landmarks(self, watch: Watch, size: Size, p: int, rng: np.random.Generator) -> Start | None:
        """Return a start from landmarks, if they are likely to be of use."""
        m, k = self._landmark_count(size), size.k
        if m == 0:
            return None
        # probes look for what landmarks miss; without them a few random directions in the first block do
        lead = p if self.criterion != "residual" else max(p - SPARE, min(k, p - 1))
        return landmark_start(watch.gram, m, k, lead, rng)

    def _report(self, watch: Watch, evidence: Evidence, k: int) -> bool:
        """Tell where the solver stands; True if it should stop."""
        values, residuals = evidence.leading, evidence.residuals
        if self.criterion == "residual":
            return watch.report(values, residuals) or (watch.finer and self._out_of_reach(watch, evidence))
        captured, estimate = evidence.lower(k), evidence.estimate(k)
        if self.criterion == "variance":
            return watch.report(values, residuals, captured, estimate)
        slack = k * watch.rounding
        bound = variance_gap(captured - slack, evidence.upper(k) + slack)
        return watch.report(values, residuals, captured, estimate, bound) or self._out_of_reach(watch, evidence)

    def _out_of_reach(self, watch: Watch, evidence: Evidence | None) -> bool:
        """Whether rounding alone may keep a residual, or the bound, above the tolerance."""
        if evidence is None or self.criterion == "variance":
            return False
        values, rounding = evidence.leading, watch.rounding
        if self.criterion == "certified":
            return 2 * watch.k * rounding > watch.tol * abs(float(values.sum()))
        residuals = evidence.residuals
        settled = reached(values, residuals, SETTLED, rounding).all()
        # Ritz values still rise, by about their residuals at most
        return bool(settled) and rounding > watch.tol * float((np.abs(values) + residuals).min(initial=np.inf))

    def _answer(self, evidence: Evidence, k: int, rng: np.random.Generator) -> Ritz:
        """Read off the eigenpairs: those whose residuals are known, or those that capture most."""
        subspace, readout = evidence.subspace, evidence.readout
        if evidence.probes is None or readout is None:
            lead = evidence.S[:, : k + SPARE]  # some more are a good start for a finish in float64
            return Ritz(evidence.values, subspace.vectors(lead), subspace.products(lead), evidence=evidence)
        U, values = subspace.readout_vectors(readout, k), readout.values
        U = orthonormal_columns(U)  # they are, but for rounding, which is all that the last ones may be
        missing = k - U.shape[1]
        if missing > 0:  # of eigenvalue zero: any others will do
            U = np.hstack([U, orthonormal(rng.standard_normal((len(U), missing)).astype(U.dtype), U, 0.0)])
            values = np.concatenate([values, np.zeros(missing)])
        return Ritz(values, U, residuals=evidence.residuals, evidence=evidence)

    def _next(
        self, watch: Watch, evidence: Evidence, product: np.ndarray, p: int, rng: np.random.Generator
    ) -> np.ndarray:
        """Return the next block: what is most likely missing from the basis.

        Components far below the tolerance are locked: they stay in the basis, and the block has fewer columns. What
        the last product has outside the basis is also the span of the residuals of the leading Ritz vectors, so
        that leaving out those of locked components loses nothing for the others.
        """
        subspace, k = evidence.subspace, evidence.k
        n, q = subspace.Q.shape
        locked = np.zeros(k, dtype=bool)
        if self.criterion == "residual":
            locked = reached(evidence.values[:k], evidence.residuals, LOCKED * watch.tol, LOCKED * watch.rounding)
        width = max(p - int(locked.sum()), min(p, SPARE))
        inside, features, readout = None, subspace.F.shape[1] > 0, evidence.readout
        # where rounding has made F F' larger than K the readout leaves directions out, and blocks from it, too
        if features and readout is not None and readout.root.shape[1] == q:
            values = readout.values
            free = _free(locked, min(max(p, k + SPARE), len(values)))[:width]
            W = subspace.readout_vectors(readout, int(free.max(initial=-1)) + 1)[:, free]
            W = W * values[free].astype(product.dtype)
        elif features or locked.any():
            W = subspace.products(evidence.S[:, _free(locked, q)[:width]])
        else:
            W, inside = product, subspace.T[:, q - product.shape[1] :]
        block = orthonormal(W, subspace.Q, watch.rounding, inside)
        if block.shape[1] == 0:  # the basis is invariant: look elsewhere
            block = orthonormal(rng.standard_normal((n, min(p, n - q))).astype(product.dtype), subspace.Q, 0.0)
        return block


def _free(locked: np.ndarray, count: int) -> np.ndarray:
    """Return the numbers below `count` of components that are not locked."""
    return np.concatenate([np.flatnonzero(~locked[:count]), np.arange(len(locked), count)])


def default_block(k: int, spare: float = SPARE) -> int:
    """Return how many columns a pass for k components has, with so many to spare.

    Vectors of the processor hold up to eight numbers: a multiple of that less one, for the column that a centered
    matrix multiplies along in its first pass.
    """
    spare = min(spare, k + 3 * SPARE)
    return 8 * max(2, int(np.ceil((k + spare) / 8))) - 1


def _power_of_two(passes: int) -> bool:
    return passes & (passes - 1) == 0
