"""Eigenvalues beside those of data whose columns are unrelated: which components are more than chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from kernelpca.plotting.display import Display
from kernelpca.plotting.style import COLORS, GRAY
from kernelpca.selection import ParallelAnalysis, parallel_analysis


@dataclass(eq=False, repr=False)
class ParallelAnalysisDisplay(Display):
    """Eigenvalues on a logarithmic scale, the band of chance, and the number of components above it.

    Parameters
    ----------
    analysis : ParallelAnalysis
        What was measured.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpca import PCA
    >>> from kernelpca.plotting import ParallelAnalysisDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 3)) @ rng.standard_normal((3, 20)) + rng.standard_normal((300, 20))
    >>> ParallelAnalysisDisplay.from_estimator(PCA(10), X).analysis.n_components
    3
    """

    analysis: ParallelAnalysis

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, *, ax: Any = None, width: float | str = "column", **options: Any
    ) -> Self:
        """Compare with unrelated columns and draw; `options` go to `kernelpca.selection.parallel_analysis`."""
        return cls.from_analysis(parallel_analysis(model, X, **options), ax=ax, width=width)

    @classmethod
    def from_analysis(cls, analysis: ParallelAnalysis, *, ax: Any = None, width: float | str = "column") -> Self:
        """Draw what `kernelpca.selection.parallel_analysis` returned."""
        if not isinstance(analysis, ParallelAnalysis):
            raise TypeError(
                f"{analysis!r} is no parallel analysis: give what kernelpca.selection.parallel_analysis(model, X) "
                "returns."
            )
        return cls(analysis).plot(ax, width=width)

    def plot(self, ax: Any = None, *, width: float | str = "column") -> Self:
        """Draw eigenvalues and chance; see `Display.plot`."""
        found = self.analysis
        numbers = np.arange(1, len(found.eigenvalues) + 1)
        kept = numbers <= found.n_components
        with self._canvas(ax, width, 2.75):
            for mask, name, face in ((kept, "more than chance", COLORS[0]), (~kept, "not more", "white")):
                look = {"marker": "o", "linestyle": "", "color": COLORS[0], "markerfacecolor": face}
                self.ax_.plot(numbers[mask], found.eigenvalues[mask], label=f"{name} ({int(mask.sum())})", **look)
            self.ax_.plot(numbers, found.eigenvalues, color=COLORS[0], linewidth=0.8, zorder=1)
            limit = f"chance: {found.quantile:g} quantile of {len(found.null)}"
            self.ax_.plot(numbers, found.null_quantile, color=COLORS[1], linestyle="--", label=limit)
            low, high = found.null.min(axis=0), found.null.max(axis=0)
            self.ax_.fill_between(numbers, low, high, color=COLORS[1], alpha=0.2, linewidth=0, label="and its range")
            if (found.eigenvalues > 0).any():
                self.ax_.set_yscale("log")
            self.ax_.set(xlabel="component", ylabel="eigenvalue (logarithmic)", xlim=(0.5, len(numbers) + 0.5))
            self._whole_numbers()
            self.ax_.axvline(found.n_components + 0.5, color=GRAY, linestyle=":", linewidth=1.0)
            self._legend(2, side="upper")
            self._caption(str(found))
        return self
