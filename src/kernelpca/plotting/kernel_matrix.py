"""The kernel matrix as an image: which samples the kernel holds alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from kernelpca.kernels import as_kernel
from kernelpca.plotting.display import Display
from kernelpca.plotting.fitted import Fitted
from kernelpca.plotting.rows import check_labels, groups_of, n_rows, note_of, spread_rows, take
from kernelpca.plotting.style import AROUND_ZERO, IN_ORDER, as_written

MANY = 100  # rows from which on the image is drawn as pixels


@dataclass(eq=False, repr=False)
class KernelMatrixDisplay(Display):
    """Kernel values of samples with one another, in an order that shows structure.

    Parameters
    ----------
    matrix : ndarray of shape (m, m)
        Kernel values, in the order in which they are drawn.
    rows : ndarray of shape (m,)
        Which rows of the data these are.
    n_rows : int
        How many there are in all.
    groups : list of (str, int, int)
        Name of each group of rows, its first row in the picture, and the row after its last.
    order : str
        What the rows are ordered by.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernelpca.plotting import KernelMatrixDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = KernelMatrixDisplay.from_kernel("rbf", X, labels=y)
    >>> display.matrix.shape, [name for name, *_ in display.groups]
    ((150, 150), ['0', '1', '2'])
    """

    matrix: np.ndarray
    rows: np.ndarray
    n_rows: int
    groups: list[tuple[str, int, int]]
    order: str = "row"

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        *,
        labels: Any = None,
        order: str | None = None,
        max_rows: int = 500,
        ax: Any = None,
        width: float | str = "column",
    ) -> Self:
        """Draw the kernel matrix of samples, with the kernel of a fitted model; linear PCA has dot products.

        Parameters
        ----------
        model : estimator
            Fitted; or a pipeline that ends in one.
        X : array-like of shape (n, d)
            Samples; of a model of a kernel matrix that matrix, (n, n).
        labels : array-like of shape (n,), optional
            Groups: rows of a group are put together.
        order : {"labels", "component", "row"}, optional
            By what rows are ordered: by group, by their score on the first component, or not at all. When not given, by
            labels where there are any, else not.
        max_rows : int, default=500
            Of more rows so many are drawn, spread evenly; the picture says so.
        ax, width
            See `Display.plot`.
        """
        fitted = Fitted(model)
        n = n_rows(X)
        rows = spread_rows(n, max_rows)
        labels = check_labels(labels, n)

        def scores() -> np.ndarray:
            return fitted.scores(take(X, rows))[:, 0]

        matrix = fitted.kernel_matrix(X, rows)
        return cls._ordered(matrix, rows, n, None if labels is None else labels[rows], order, scores).plot(
            ax, width=width
        )

    @classmethod
    def from_kernel(
        cls,
        kernel: Any,
        X: Any,
        *,
        labels: Any = None,
        max_rows: int = 500,
        ax: Any = None,
        width: float | str = "column",
    ) -> Self:
        """Draw the matrix of a kernel (a name, or an object of `kernelpca.kernels`) before any model is fitted.

        Defaults such as gamma="scale" are worked out on the rows that are drawn.
        """
        n = n_rows(X)
        rows = spread_rows(n, max_rows)
        labels = check_labels(labels, n)
        samples = as_kernel(kernel).check(take(X, rows))
        matrix = np.asarray(as_kernel(kernel).resolve(samples)(samples, samples), np.float64)
        display = cls._ordered(matrix, rows, n, None if labels is None else labels[rows], None, None)
        return display.plot(ax, width=width)

    @classmethod
    def _ordered(
        cls, matrix: np.ndarray, rows: np.ndarray, n: int, labels: np.ndarray | None, order: str | None, scores: Any
    ) -> Self:
        order = order or ("row" if labels is None else "labels")
        if order not in ("labels", "component", "row"):
            raise ValueError(f"order={order!r} is not known: choose 'labels', 'component' or 'row'.")
        groups: list[tuple[str, int, int]] = []
        places = np.arange(len(rows))
        if order == "labels":
            if labels is None:
                raise ValueError("order='labels' needs labels: give labels=..., one for each row of X.")
            members = [(name, np.flatnonzero(mask)) for name, mask in groups_of(labels)]
            places = np.concatenate([inside for _, inside in members])
            ends = np.cumsum([len(inside) for _, inside in members])
            groups = [
                (name, int(end - len(inside)), int(end)) for (name, inside), end in zip(members, ends, strict=True)
            ]
        elif order == "component":
            places = np.argsort(scores(), kind="stable")
        return cls(matrix[np.ix_(places, places)], rows[places], n, groups, order)

    def plot(self, ax: Any = None, *, width: float | str = "column") -> Self:
        """Draw the matrix; see `Display.plot`."""
        with self._canvas(ax, width, -0.8):
            m, signed = len(self.matrix), bool((self.matrix < 0).any())
            size = float(np.abs(self.matrix).max()) or 1.0
            scale = {"cmap": AROUND_ZERO, "vmin": -size, "vmax": size} if signed else {"cmap": IN_ORDER}
            extent = (0, m, m, 0)
            image = self.ax_.imshow(
                self.matrix, extent=extent, interpolation="nearest", rasterized=m > MANY, aspect="equal", **scale
            )
            self._color_bar(image, "kernel value", aspect=30)
            self.ax_.spines[:].set_visible(False)
            if self.groups:
                self._draw_groups()
            else:
                by = {"component": "sample, by score on component 1", "row": "sample"}[self.order]
                self.ax_.set(xlabel=by, ylabel=by)
            self._note(note_of(m, self.n_rows))
        return self

    def _draw_groups(self) -> None:
        middles = [(first + stop) / 2 for _, first, stop in self.groups]
        names = [as_written(name) for name, *_ in self.groups]
        look = {"color": "black" if (self.matrix < 0).any() else "white", "linewidth": 0.5}
        for _, _, stop in self.groups[:-1]:
            self.ax_.axhline(stop, **look)
            self.ax_.axvline(stop, **look)
        long = max(len(name) for name in names) > 3
        self.ax_.set_yticks(middles, names)
        self.ax_.set_xticks(middles, names, rotation=45 if long else 0, ha="right" if long else "center")
        self.ax_.tick_params(length=0)
