"""Criteria by name: what components leave of a row, what comes back, how well noise goes and gaps are filled."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from kernelpca.estimators import KernelPCA
from kernelpca.kernels import as_kernel
from kernelpca.parts import check_whole, explain_unknown
from kernelpca.selection.criterion import Criterion, InputCriterion, Task, as_numbers, denoised, with_names
from kernelpca.selection.distances import mean_projection_errors
from kernelpca.selection.family import Family
from kernelpca.validation import as_generator

ADDED = 0.5  # how much of its own noise is added to a noisy row before it is denoised

Corrupt = Callable[[np.ndarray, np.random.Generator], np.ndarray]
Held = tuple[Any, np.ndarray | None]  # rows, and k(x, x) where a matrix was given


class Projection(Criterion):
    """Squared distance from the subspace in feature space: what the components leave of a row.

    It falls with every component of a positive definite kernel, so it has no minimum; and it is measured with the
    kernel's own yardstick, so it does not compare kernels or widths (a wide kernel has little variance, nearly all of
    it along few directions; a kernel of rank one leaves nothing). What it tells is how much of the variance of new rows
    so many components keep.
    """

    name = "projection"
    own_yardstick = True
    every = True

    def prepare(self, rows: Any, diagonal: np.ndarray | None = None) -> Held:
        """Keep the rows as they are."""
        return rows, diagonal

    def error(self, model: Any, task: Held) -> float:
        """Return the mean squared distance."""
        return float(mean_projection_errors(model, *task)[-1])

    def errors(self, family: Family, ks: Iterable[int], task: Held) -> tuple[np.ndarray, float]:
        """Take them all from one projection, where the components are nested."""
        whole = mean_projection_errors(family.whole, *task)
        if family.nested:
            return whole[list(ks)], float(whole[0])
        return np.array([self.error(family.first(k), task) if k else whole[0] for k in ks]), float(whole[0])


class Reconstruction(InputCriterion):
    """Squared distance between a row and what comes back from its scores alone.

    With a given number of components it compares kernels and widths: which k numbers tell most about a row? The row
    itself is no reference on the way back. More components nearly always tell more, so it seldom has a minimum in k.
    """

    name = "reconstruction"

    def prepare(self, rows: Any, diagonal: np.ndarray | None = None) -> Task:
        """Ask for the rows themselves."""
        rows = as_numbers(rows, self)
        return Task(rows, rows)

    def answer(self, model: Any, task: Task) -> np.ndarray:
        """(n, d): from rows to scores and back."""
        return np.asarray(model.inverse_transform(np.asarray(model.transform(with_names(task.given, model)))))


class Denoising(InputCriterion):
    """Squared error that is left when noisy rows are denoised.

    It compares everything: too few components or too narrow a kernel lose the signal, too many or too wide a one keep
    the noise, so it has a minimum. What is best depends on how much noise there is.

    Parameters
    ----------
    noise : float, str or callable, default="0.5std"
        Standard deviation of Gaussian noise in every column: a number, or a multiple of the data's own (the root of the
        mean variance of the columns) such as "0.5std"; or a function `noise(rows, rng)` that returns noisy rows.
    rows : {"clean", "noisy"}, default="clean"
        What the data are. "clean": rows get this noise, and should come back as they were. "noisy": they have it
        already, Gaussian, independent and of this size. With fresh noise e of the same size, row + e/2 is denoised and
        compared with row - 2e: the noises of both are independent, so that the mean error, less a constant that is
        known, is the error against rows without noise, though nobody has them.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the noise; all models get the same.

    References
    ----------
    Pang, Zheng, Quan and Ji (2021), Recorrupted-to-recorrupted: unsupervised deep learning for image denoising.
    Oliveira, Lei and Tibshirani (2021), Unbiased risk estimation in the normal means problem via coupled bootstrap
    techniques.
    """

    name = "denoising"
    of = "the noise"

    def __init__(self, noise: float | str | Corrupt = "0.5std", rows: str = "clean", random_state: Any = None) -> None:
        self.noise = noise
        self.rows = rows
        self.random_state = random_state

    def prepare(self, rows: Any, diagonal: np.ndarray | None = None) -> Task:
        """Add noise."""
        rows, rng = as_numbers(rows, self), as_generator(self.random_state)
        if not (isinstance(self.rows, str) and self.rows in ("clean", "noisy")):
            raise ValueError(f'Denoising(rows={self.rows!r}): rows must be "clean" or "noisy".')
        if callable(self.noise):
            noisy = self._corrupted(self.noise, rows, rng)
            return Task(noisy, rows, before=_mean_square(noisy - rows))
        sigma = self._deviation(rows)
        fresh = (sigma * rng.standard_normal(rows.shape)).astype(rows.dtype)
        if self.rows == "clean":
            return Task(rows + fresh, rows, before=_mean_square(fresh))
        own, target = rows.shape[1] * sigma**2, fresh / ADDED
        unavoidable, before = own + _mean_square(target), own * (1 + ADDED**2)
        return Task(rows + ADDED * fresh, rows - target, unavoidable=unavoidable, before=before)

    def answer(self, model: Any, task: Task) -> np.ndarray:
        """(n, d): rows denoised; kernels of histograms are given no negative numbers."""
        nonnegative = isinstance(model, KernelPCA) and as_kernel(model.kernel).domain == "nonnegative"
        return denoised(model, np.maximum(task.given, 0) if nonnegative else task.given)

    def _corrupted(self, noise: Corrupt, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        if self.rows == "noisy":
            raise ValueError(
                'Denoising(rows="noisy") can split Gaussian noise only: give its standard deviation as a number, or '
                'rows="clean" where they are.'
            )
        noisy = np.asarray(noise(rows.copy(), rng), dtype=rows.dtype)
        if noisy.shape != rows.shape:
            raise ValueError(
                f"Denoising(noise=...): the function returned shape {noisy.shape} for rows of shape {rows.shape}; it "
                "must return rows of the same shape."
            )
        return noisy

    def _deviation(self, rows: np.ndarray) -> float:
        """Return the standard deviation of the noise, or say what is allowed."""
        noise: Any = self.noise
        if isinstance(noise, str) and noise.endswith("std"):
            try:
                share = float(noise.removesuffix("std"))
            except ValueError:
                share = np.nan
            if 0 < share < np.inf:
                return share * (float(np.sqrt(rows.var(axis=0, dtype=np.float64).mean())) or 1.0)
        elif isinstance(noise, int | float | np.number) and not isinstance(noise, bool) and 0 < noise < np.inf:
            return float(noise)
        raise ValueError(
            f"Denoising(noise={noise!r}): noise must be a positive number (the standard deviation), a multiple of the "
            'data\'s own such as "0.5std", or a function noise(rows, rng) that returns noisy rows.'
        )


class Masked(InputCriterion):
    """Squared error of entries that were hidden, and that the model fills in from the others.

    It compares everything, needs no noise level and has a minimum: what is filled in cannot follow the noise of an
    entry that was hidden, where that is independent of the noise of others. It fits where columns tell about each other
    (pixels, signals, spectra). It judges how well gaps are filled: where rows have little noise of their own that is
    harder than denoising, and it smooths more than `Denoising` would.

    Parameters
    ----------
    hidden : float, default=0.1
        The part of entries that is hidden, at random in each row; at least one.
    rounds : int, default=3
        How many times gaps are filled with what `denoise` makes of the row so far; they begin as the mean of what is
        seen of their column.
    random_state : int, Generator, RandomState or None, default=None
        Seed of what is hidden; it is the same for all models.

    References
    ----------
    Batson and Royer (2019), Noise2Self: blind denoising by self-supervision. Bro, Kjeldahl, Smilde and Kiers (2008),
    Cross-validation of component models: a critical look at current methods.
    """

    name = "masked"

    def __init__(self, hidden: float = 0.1, rounds: int = 3, random_state: Any = None) -> None:
        self.hidden = hidden
        self.rounds = rounds
        self.random_state = random_state

    def prepare(self, rows: Any, diagonal: np.ndarray | None = None) -> Task:
        """Hide entries; nothing that a model is given depends on them."""
        rows, rng, part = as_numbers(rows, self), as_generator(self.random_state), self.hidden
        check_whole(self.rounds, "rounds", self)
        if isinstance(part, bool) or not isinstance(part, int | float | np.number) or not 0 < part < 1:
            raise ValueError(f"Masked(hidden={part!r}): hidden is the part of entries to hide, between 0 and 1.")
        d = rows.shape[1]
        if d < 2:
            raise ValueError(
                "Masked() hides some columns and looks at the others, and X has 1 feature(s). Choose another "
                'criterion, such as "denoising".'
            )
        count = min(max(round(part * d), 1), d - 1)
        hidden = rng.random(rows.shape).argsort(axis=1) < count
        seen, sums = (~hidden).sum(axis=0), np.where(hidden, 0.0, rows).sum(axis=0)
        means = np.where(seen > 0, sums / np.maximum(seen, 1), sums.sum() / seen.sum())
        return Task(np.where(hidden, means.astype(rows.dtype), rows), rows, hidden)

    def answer(self, model: Any, task: Task) -> np.ndarray:
        """(n, d): rows with gaps filled, again and again."""
        filled, hidden = task.given, task.hidden
        assert hidden is not None
        for _ in range(self.rounds):
            filled = np.where(hidden, denoised(model, filled), task.given)
        return filled


CRITERIA: dict[str, type[Criterion]] = {kind.name: kind for kind in (Projection, Reconstruction, Denoising, Masked)}


def as_criterion(criterion: Any) -> Criterion:
    """Return the criterion that a name or an object stands for."""
    if isinstance(criterion, Criterion):
        return criterion
    if isinstance(criterion, str) and criterion in CRITERIA:
        return CRITERIA[criterion]()
    raise ValueError(explain_unknown(criterion, "criterion", "kernelpca.selection", CRITERIA, {"noise": "denoising"}))


def denoising_score(
    noise: float | str | Corrupt = "0.5std", rows: str = "clean", random_state: Any = None
) -> Denoising:
    """Return a scorer for `GridSearchCV(scoring=...)`: minus the squared error that denoising leaves."""
    return Denoising(noise, rows, random_state)


def masked_score(hidden: float = 0.1, rounds: int = 3, random_state: Any = None) -> Masked:
    """Return a scorer for `GridSearchCV(scoring=...)`: minus the squared error of entries that were hidden."""
    return Masked(hidden, rounds, random_state)


def reconstruction_score(estimator: Any, X: Any, y: Any = None) -> float:
    """Return minus the mean squared distance between rows and what comes back from their scores: a scorer itself."""
    return Reconstruction()(estimator, X)


def _mean_square(noise: np.ndarray) -> float:
    return float(np.square(noise, dtype=np.float64).sum(axis=1).mean())
