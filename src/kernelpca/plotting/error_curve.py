"""Errors of rows held out, by the number of components, and the number that was chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from kernelpca.extras import require
from kernelpca.plotting.display import Display
from kernelpca.plotting.style import COLORS, as_inches, as_written, look
from kernelpca.selection import ErrorCurve, error_curve

MOST_CURVES = 8  # that can be told apart


@dataclass(eq=False, repr=False)
class ErrorCurveDisplay(Display):
    """Errors as fractions of what there was to begin with, with one standard error, and the choice.

    Parameters
    ----------
    curves : dict of str to ErrorCurve
        What was measured, by name.
    best : str
        The name of the curve whose choice is marked.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelpca import KernelPCA
    >>> from kernelpca.plotting import ErrorCurveDisplay
    >>> X = load_digits().data[:300] / 16
    >>> display = ErrorCurveDisplay.from_estimator(KernelPCA(40), X, cv=3, rule=0.7)
    >>> display.curve.best, len(display.curve.k) - 1
    (31, 40)
    """

    curves: dict[str, ErrorCurve]
    best: str

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, *, ax: Any = None, width: float | str = "column", **options: Any
    ) -> Self:
        """Measure errors of rows held out and draw them; `options` go to `kernelpca.selection.error_curve`."""
        return cls.from_curve(error_curve(model, X, **options), ax=ax, width=width)

    @classmethod
    def from_curve(
        cls, curve: ErrorCurve | Mapping[str, ErrorCurve], *, ax: Any = None, width: float | str = "column"
    ) -> Self:
        """Draw what `error_curve` returned, or several of that by name; the choice of the lowest is marked."""
        curves = dict(curve) if isinstance(curve, Mapping) else {getattr(curve, "model", ""): curve}
        wrong = next((one for one in curves.values() if not isinstance(one, ErrorCurve)), None)
        if wrong is not None or not curves:
            raise TypeError(
                f"{wrong!r} is no curve of errors: give what kernelpca.selection.error_curve(model, X) returns, or a "
                "dict of several."
            )
        units = {one.of for one in curves.values()}
        if len(units) > 1:
            raise ValueError(
                f"The curves are fractions of different things ({', '.join(sorted(units))}): draw one picture of each."
            )
        best = min(curves, key=lambda name: curves[name].fraction[curves[name].at_best])
        return cls(curves, best).plot(ax, width=width)

    @classmethod
    def from_search(cls, search: Any, *, ax: Any = None, width: float | str = "column") -> Self:
        """Draw the curves of a `kernelpca.selection.KernelPCACV`: one for each kernel and width, the best eight."""
        if not hasattr(search, "curves_"):
            raise TypeError(f"{search!r} has no curves: give a KernelPCACV that is fitted.")
        chosen = sorted(search.curves_, key=lambda curve: curve.fraction[curve.at_best])[:MOST_CURVES]
        named = {curve.model: curve for curve in search.curves_ if any(curve is one for one in chosen)}
        return cls.from_curve(named, ax=ax, width=width)

    @property
    def curve(self) -> ErrorCurve:
        """The curve whose choice is marked."""
        return self.curves[self.best]

    def plot(self, ax: Any = None, *, width: float | str = "column") -> Self:
        """Draw the curves; see `Display.plot`."""
        several = len(self.curves) > 1
        with self._canvas(ax, width, 2.5 + 0.16 * len(self.curves) * several):
            for i, (name, curve) in enumerate(self.curves.items()):
                dense = {"marker": ""} if len(curve.k) > 40 else {}
                self.ax_.plot(curve.k, curve.fraction, label=as_written(name), **{**look(i), **dense})
                spread = curve.std_error / curve.baseline if curve.baseline > 0 else np.zeros(len(curve.k))
                if np.isfinite(spread).all():
                    low, high = curve.fraction - spread, curve.fraction + spread
                    self.ax_.fill_between(curve.k, low, high, color=COLORS[i % len(COLORS)], alpha=0.2, linewidth=0)
            ticker = require("matplotlib.ticker", "plot", "A picture")
            if _is_geometric(self.curve.k):
                self.ax_.set_xscale("symlog", base=2, linthresh=1)
                self.ax_.xaxis.set_major_formatter(ticker.FormatStrFormatter("%d"))
                self.ax_.xaxis.set_minor_locator(ticker.NullLocator())
            else:
                self._whole_numbers()
            self.ax_.yaxis.set_major_formatter(ticker.PercentFormatter(1.0))
            whole = " ".join(self.curve.of.split()[:2])  # the noise, or the variance
            self.ax_.set(xlabel="components", ylabel=f"{self.curve.criterion} error (part of {whole})")
            self.ax_.margins(x=0.02)
            self._mark_choice()
            if several:
                self._legend(1 if as_inches(width) < 5 else 2, side="upper")
            self._caption(str(self.curve))
        return self

    def _mark_choice(self) -> None:
        curve = self.curve
        k = curve.best
        self._mark_number(k, f"{k} component{'s' if k != 1 else ''}: {curve.fraction[curve.at_best]:.1%}")


def _is_geometric(k: np.ndarray) -> bool:
    """Whether numbers of components grow by factors, not by steps."""
    steps = np.diff(k)
    return bool(len(steps) > 3 and steps[-1] > 3 * steps[0])
