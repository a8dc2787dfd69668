"""Samples that the model does not explain: how far they lie from its subspace, and from its middle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from kernelpca.plotting.display import Display
from kernelpca.plotting.fitted import Fitted
from kernelpca.plotting.rows import as_samples, check_labels, n_rows, note_of, spread_rows
from kernelpca.plotting.scores import LEGEND_MARK, MANY, point_size
from kernelpca.plotting.style import COLORS, GRAY, NOTE, as_error, as_written
from kernelpca.quantile import quantile

FENCE = 1.5  # interquartile ranges above the upper quartile, beyond which a sample is an outlier, as in RobustKernelPCA
NAMED = 5  # outliers that have their row number or name beside them
LONGEST = 24  # letters of a name that stands there instead
SIDES: tuple[dict[str, Any], ...] = (  # of a point, where its name may stand
    {"xytext": (4, 0), "ha": "left", "va": "center"},
    {"xytext": (-4, 0), "ha": "right", "va": "center"},
    {"xytext": (0, 4), "ha": "center", "va": "bottom"},
    {"xytext": (0, -4), "ha": "center", "va": "top"},
)
FENCE_RULE = "upper quartile + 1.5 interquartile ranges"


@dataclass(eq=False, repr=False)
class ResidualsDisplay(Display):
    """Squared distances from the subspace, with the limit beyond which samples count as outliers.

    Parameters
    ----------
    residuals : ndarray of shape (n,)
        Squared distance of each sample from the subspace, in feature space.
    distances : ndarray of shape (n,)
        Distance within it from the mean: the root of the sum of squared scores over their variances. Of a model without
        centering that does not know the mean, from the origin, and over mean squares.
    threshold : float
        Residuals above it are outliers.
    rule : str
        Where it comes from.
    shown : ndarray
        Numbers of the rows that are drawn: all outliers, and as many others as can be seen.
    kind : {"scatter", "histogram"}
        What is drawn.
    row_names : ndarray of shape (n,) or None
        What is written beside the largest residuals; row numbers where it is None.
    middle_name, unit : str
        Where distances begin, and what they are measured in.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from kernelpca import PCA
    >>> from kernelpca.plotting import ResidualsDisplay
    >>> X = load_iris().data.copy()
    >>> X[7] += [0, 2, 0, 2]
    >>> display = ResidualsDisplay.from_estimator(PCA(2).fit(X), X)
    >>> int(display.residuals.argmax()), bool(display.outliers[7])
    (7, True)
    """

    residuals: np.ndarray
    distances: np.ndarray
    threshold: float
    rule: str
    shown: np.ndarray
    kind: str = "scatter"
    row_names: np.ndarray | None = None
    middle_name: str = "mean"
    unit: str = "standard deviations"

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        *,
        threshold: float | None = None,
        reference: Any = None,
        kind: str = "scatter",
        row_names: Any = None,
        max_points: int = 5000,
        ax: Any = None,
        width: float | str = "column",
    ) -> Self:
        """Work out residuals of samples and draw them.

        Parameters
        ----------
        model : estimator
            Fitted; or a pipeline that ends in one.
        X : array-like of shape (n, d)
            Samples.
        threshold : float, optional
            Squared distance above which a sample is an outlier. When not given, the model's own (`RobustKernelPCA` has
            one, from its training rows), else one and a half interquartile ranges above the upper quartile of the
            residuals of `reference`, or of X itself.
        reference : array-like of shape (m, d), optional
            Samples that are known to be good: the limit is theirs. Better not those that the model was fitted on, whose
            residuals are smaller than those of others.
        kind : {"scatter", "histogram"}, default="scatter"
            Residuals against the distance within the subspace, or their histogram.
        row_names : array-like of shape (n,), optional
            Names of the samples, written beside the largest residuals instead of row numbers.
        max_points : int, default=5000
            Of more samples so many are drawn, spread evenly, and all outliers.
        ax, width
            See `Display.plot`.
        """
        fitted = Fitted(model)
        if kind not in ("scatter", "histogram"):
            raise ValueError(f"kind={kind!r} is not known: choose 'scatter' or 'histogram'.")
        X = as_samples(X)
        residuals = fitted.residuals(X)
        names = check_labels(row_names, n_rows(X), "row_names")
        scale = fitted.scale
        distances = scale.distances(fitted.scores(X))
        if reference is None:
            limit, rule = _limit(fitted.last, residuals, threshold, "these")
        else:
            known = fitted.residuals(as_samples(reference))
            limit, rule = _limit(None, known, threshold, f"the {len(known)} reference")
        shown = np.union1d(spread_rows(n_rows(X), max_points), np.flatnonzero(residuals > limit))
        display = cls(residuals, distances, limit, rule, shown, kind, names, scale.middle_name, scale.unit)
        return display.plot(ax, width=width)

    @property
    def outliers(self) -> np.ndarray:
        """(n,): which samples lie beyond the threshold."""
        return self.residuals > self.threshold

    def plot(self, ax: Any = None, *, width: float | str = "column") -> Self:
        """Draw residuals; see `Display.plot`."""
        with self._canvas(ax, width, 2.9):
            if self.kind == "scatter":
                self._draw_scatter()
            else:
                self._draw_histogram()
            scale = (LEGEND_MARK / point_size(len(self.shown))) ** 0.5 if self.kind == "scatter" else 1.0
            self._legend(2, side="upper", markerscale=scale)
            self._caption(f"Limit {as_error(self.threshold)}: {self.rule}.")
            if self.kind == "scatter":
                self._name_worst()
        return self

    def _draw_scatter(self) -> None:
        out = self.outliers[self.shown]
        look = {"s": point_size(len(self.shown)), "alpha": 0.8, "rasterized": len(self.shown) > MANY}
        for mask, name, style in (
            (
                ~out,
                self._count(~self.outliers, "within the limit"),
                {"color": COLORS[0], "marker": "o", "linewidth": 0},
            ),
            (out, self._count(self.outliers, "outliers"), {"color": COLORS[1], "marker": "x", "linewidth": 0.9}),
        ):
            rows = self.shown[mask]
            size = {"s": 1.6 * look["s"]} if style["marker"] == "x" else {}
            self.ax_.scatter(self.distances[rows], self.residuals[rows], label=name, **{**look, **style, **size})
        self.ax_.axhline(self.threshold, color=GRAY, linestyle="--", linewidth=0.9)
        self.ax_.set(xlabel=f"distance from the {self.middle_name} within the subspace\n({self.unit})")
        self.ax_.set_ylabel("squared distance from the subspace")
        self.ax_.set_ylim(bottom=min(0.0, float(self.residuals.min())))
        self._note(note_of(len(self.shown), len(self.residuals)))

    def _name_worst(self) -> None:
        """Write the names of the largest residuals, where they do not cover one another; all else is drawn already."""
        self.figure_.draw_without_rendering()  # puts the axes where they will be
        worst = np.argsort(-self.residuals, kind="stable")[: min(NAMED, int(self.outliers.sum()))]
        marks = self.ax_.transData.transform(np.column_stack([self.distances, self.residuals])[self.outliers])
        frame = self.ax_.get_window_extent()
        taken: list[Any] = []
        for row in worst:
            name = _short(row if self.row_names is None else self.row_names[row])
            where = (self.distances[row], self.residuals[row])
            for place in SIDES:
                text = self.ax_.annotate(as_written(name), where, textcoords="offset points", fontsize=NOTE, **place)
                box = text.get_window_extent()
                inside = frame.x0 <= box.x0 and box.x1 <= frame.x1
                if inside and not box.count_contains(marks) and not box.count_overlaps(taken):
                    taken.append(box)
                    break
                text.remove()

    def _draw_histogram(self) -> None:
        edges = np.histogram_bin_edges(self.residuals, "auto")
        count = int(np.clip(len(edges) - 1, 10, 60))
        edges = np.linspace(edges[0], edges[-1], count + 1)
        parts = [self.residuals[~self.outliers], self.residuals[self.outliers]]
        names = [self._count(~self.outliers, "within the limit"), self._count(self.outliers, "outliers")]
        _, _, bars = self.ax_.hist(parts, edges, stacked=True, label=names, color=[COLORS[0], COLORS[1]])
        for patch in bars[1]:
            patch.set(hatch="////", edgecolor="white", linewidth=0)
        self.ax_.axvline(self.threshold, color=GRAY, linestyle="--", linewidth=0.9)
        self.ax_.set(xlabel="squared distance from the subspace", ylabel="samples")

    def _count(self, mask: np.ndarray, name: str) -> str:
        return f"{name} ({int(mask.sum())})"


def _short(name: Any) -> str:
    text = str(name)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _limit(model: Any, residuals: np.ndarray, threshold: float | None, whose: str) -> tuple[float, str]:
    """Return the residual beyond which a sample is an outlier, and why."""
    if threshold is not None:
        if (
            not isinstance(threshold, int | float | np.number)
            or isinstance(threshold, bool)
            or not np.isfinite(threshold)
        ):
            raise ValueError(f"threshold={threshold!r}: give a squared distance such as 0.3, or None.")
        return float(threshold), "as given"
    if hasattr(model, "offset_"):
        part = model.contamination
        rule = FENCE_RULE if isinstance(part, str) else f"{part:.2g} of the training rows lie beyond it"
        return -float(model.offset_), f"the model's own, from its training rows ({rule})"
    lower, upper = quantile(residuals, 0.25), quantile(residuals, 0.75)
    return upper + FENCE * (upper - lower), f"{FENCE_RULE} of {whose} residuals"
