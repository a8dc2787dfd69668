"""How much each component holds, how much they hold together, and how many were chosen."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from kernelpca.extras import require
from kernelpca.plotting.display import Display
from kernelpca.plotting.fitted import Fitted
from kernelpca.plotting.rows import n_rows
from kernelpca.plotting.style import COLORS, TICKS, as_percent

LEAST = 20  # eigenvalues that are shown, where the model is fitted again for more
MANY = 60  # components from which on they have no marks of their own


@dataclass(eq=False, repr=False)
class SpectrumDisplay(Display):
    """Eigenvalues on a logarithmic scale, and the fraction of the whole variance that they add up to.

    Parameters
    ----------
    eigenvalues : ndarray of shape (k,)
        Largest first.
    ratio : ndarray of shape (k,) or None
        As fractions of the `whole`, kept or not.
    n_components : int
        How many are chosen: marked, if they are in view.
    sentence : str
        What the model's certificate says, written below.
    name : str
        What the values are.
    whole : str
        What `ratio` is a fraction of: "variance", or "mean square" (from the origin) without centering.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelpca import KernelPCA
    >>> from kernelpca.plotting import SpectrumDisplay
    >>> X, _ = load_digits(return_X_y=True)
    >>> display = SpectrumDisplay.from_estimator(KernelPCA(40).fit(X), n_components=0.5)
    >>> display.n_components, round(float(display.cumulative[display.n_components - 1]), 2)
    (11, 0.51)
    """

    eigenvalues: np.ndarray
    ratio: np.ndarray | None
    n_components: int
    sentence: str = ""
    name: str = "eigenvalue"
    whole: str = "variance"

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any = None,
        *,
        n_components: int | float | None = None,
        n_shown: int | None = None,
        ax: Any = None,
        width: float | str = "column",
    ) -> Self:
        """Draw the spectrum of a fitted model.

        Parameters
        ----------
        model : estimator
            Fitted; or a pipeline that ends in one.
        X : array-like of shape (n, d), optional
            The training data: a copy of the model is then fitted with more components, so that those that it left out
            are seen too. Not possible where components depend on how many there are (robust and sparse models).
        n_components : int or float, optional
            The number to mark: that many, or the smallest number that keeps this fraction of the variance. When not
            given, as many as the model has.
        n_shown : int, optional
            How many eigenvalues to show at most; with X, twice those of the model, 20 or more, when not given.
        ax, width
            See `Display.plot`.
        """
        fitted = Fitted(model)
        if n_shown is not None and (not isinstance(n_shown, Integral) or n_shown < 1):
            raise ValueError(f"n_shown={n_shown!r}: give a whole number of at least 1, or None.")
        longer = fitted if X is None else _with_more(fitted, X, n_shown)
        shown = slice(None if n_shown is None else int(n_shown))
        ratio = longer.ratio
        name = "eigenvalue" if hasattr(fitted.last, "eigenvalues_") else "variance"
        ratio = None if ratio is None else ratio[shown]
        values = longer.eigenvalues[shown]
        number = fitted.n_components if n_components is None else _number(n_components, ratio, len(values))
        display = cls(values, ratio, number, fitted.sentence, name, fitted.whole)
        return display.plot(ax, width=width)

    @property
    def cumulative(self) -> np.ndarray | None:
        """(k,): the fraction of the whole variance that the first 1, 2, ... components keep."""
        return None if self.ratio is None else self.ratio.cumsum()

    def plot(self, ax: Any = None, *, width: float | str = "column") -> Self:
        """Draw the spectrum; see `Display.plot`. `twin_` are the axes of the cumulative variance."""
        with self._canvas(ax, width, 2.3):
            numbers = np.arange(1, len(self.eigenvalues) + 1)
            positive = np.where(self.eigenvalues > 0, self.eigenvalues, np.nan)
            marks = {"marker": "o" if len(numbers) <= MANY else "", "color": COLORS[0]}
            self.ax_.plot(numbers, positive, linestyle="-", label=self.name, zorder=3, **marks)
            if np.isfinite(positive).any():
                self.ax_.set_yscale("log")
            self.ax_.set(xlabel="component", ylabel=f"{self.name} (logarithmic)")
            self.ax_.yaxis.label.set_color(COLORS[0])
            self._whole_numbers()
            self.ax_.set_xlim(0.5, len(numbers) + 0.5)
            self._mark_choice()
            if self.ratio is not None:
                self._draw_cumulative(numbers)
            left_out = int((self.eigenvalues <= 0).sum())
            unseen = f"Not shown: {left_out} {self.name}s at or below zero. " if left_out else ""
            self._caption(unseen + self.sentence)
        return self

    def _mark_choice(self) -> None:
        """Mark the number that was chosen, if it is in view, and what it keeps."""
        k = self.n_components
        if k > len(self.eigenvalues):
            return
        text = f"{k} component{'s' if k != 1 else ''}"
        if self.cumulative is not None:
            text += f": {as_percent(self.cumulative[k - 1])} of {self.whole}"
        self._mark_number(k, text)

    def _draw_cumulative(self, numbers: np.ndarray) -> None:
        assert self.cumulative is not None
        self.twin_ = twin = self.ax_.twinx()
        look = {"color": COLORS[1], "linestyle": "--", "marker": "s" if len(numbers) <= MANY else "", "markersize": 2.5}
        twin.plot(numbers, self.cumulative, label="kept so far", **look)
        twin.set_ylim(0.0, max(1.0, float(self.cumulative.max())))
        twin.set_ylabel(f"fraction of {self.whole} kept")
        twin.yaxis.label.set_color(COLORS[1])
        twin.yaxis.set_major_formatter(require("matplotlib.ticker", "plot", "A picture").PercentFormatter(1.0, 0))
        twin.spines["right"].set_visible(True)
        if self._own:
            twin.tick_params(labelsize=TICKS)


def _with_more(fitted: Fitted, X: Any, n_shown: int | None) -> Fitted:
    """Fit a copy of the model with more components."""
    last = fitted.last
    if (
        hasattr(last, "objective_")
        or getattr(last, "layers", None)
        or "n_components" not in last.get_params(deep=False)
    ):
        raise ValueError(
            f"{fitted.name} cannot be fitted again with more components only: with more of them all would be others. "
            "Leave X out to draw those that it has."
        )
    rows = fitted.enter(X)
    columns = (
        last.components_.shape[1] if hasattr(last, "components_") else n_rows(rows)
    )  # there are no more than these
    most = min(n_rows(rows) - 1, columns)
    wanted = max(2 * fitted.n_components, LEAST) if n_shown is None else int(n_shown)
    copy = clone(last).set_params(n_components=max(min(wanted, most), 1))
    return Fitted(copy.fit(rows))


def _number(chosen: Any, ratio: np.ndarray | None, k: int) -> int:
    """Read the number to mark."""
    whole = isinstance(chosen, Integral) and not isinstance(chosen, bool)
    if whole and 1 <= int(chosen) <= k:
        return int(chosen)
    if isinstance(chosen, Real) and not isinstance(chosen, Integral) and 0 < float(chosen) < 1 and ratio is not None:
        kept = ratio.cumsum()
        enough = np.flatnonzero(kept >= float(chosen) * (1 - 1e-12))
        if len(enough):
            return int(enough[0]) + 1
        raise ValueError(
            f"n_components={chosen!r}: the {k} components shown keep {as_percent(kept[-1])} of the variance. Fit with "
            "more of them, or give X and n_shown."
        )
    fraction = ", or a fraction of the variance such as 0.9" if ratio is not None else ""
    raise ValueError(f"n_components={chosen!r} cannot be marked: give a whole number from 1 to {k}{fraction}.")
