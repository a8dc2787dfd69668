"""Samples beside what models make of them: originals, noisy ones, and denoised by each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from kernelpca.plotting.fitted import Fitted
from kernelpca.plotting.form import Form, find_form
from kernelpca.plotting.form_display import FormDisplay
from kernelpca.plotting.images import Sheet, as_images, image_look
from kernelpca.plotting.rows import as_matrix, n_rows, spread_rows, take
from kernelpca.plotting.style import COLORS, GRAY, as_error, as_inches, as_written, line_look

PANEL = 1.15  # inches high, of curves and bars
MOST_COLUMNS = 12  # of a table, that are drawn: those with the largest error
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "----", "++++", "oooo")


@dataclass(eq=False, repr=False)
class PreimageDisplay(FormDisplay):
    """Rows of images, or curves or bars over one another: one for each way of making them.

    Parameters
    ----------
    answers : dict of str to ndarray of shape (n, d)
        Rows by the name of what they are: "original", "noisy", and each model.
    rows : ndarray of shape (n,)
        Which rows of the data these are.
    shown : ndarray of shape (m,)
        Which of these n are drawn.
    errors : dict of str to float
        Mean squared error of a number, over all n rows, of each but the first, from which it is measured.
    form : Form
        What a row is.
    given : tuple of str
        Names of rows that no model made, such as "noisy".
    ink : bool or None
        Whether images are dark ink on white paper.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from kernelpca import PCA, KernelPCA
    >>> from kernelpca.plotting import PreimageDisplay
    >>> X = load_digits(return_X_y=True)[0] / 16
    >>> noisy = X[1000:] + np.random.default_rng(0).normal(0, 0.3, X[1000:].shape)
    >>> models = {"PCA": PCA(16).fit(X[:1000]), "kernel PCA": KernelPCA(64, preimage="ridge").fit(X[:1000])}
    >>> display = PreimageDisplay.from_estimator(models, noisy, truth=X[1000:], image_shape=(8, 8))
    >>> display.errors["kernel PCA"] < display.errors["PCA"] < display.errors["noisy"]
    True
    """

    answers: dict[str, np.ndarray]
    rows: np.ndarray
    shown: np.ndarray
    errors: dict[str, float]
    form: Form
    given: tuple[str, ...] = ()
    ink: bool | None = None

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        *,
        truth: Any = None,
        truth_name: str = "original",
        given_name: str | None = None,
        image_shape: tuple[int, ...] | None = None,
        positions: Any = None,
        feature_names: Any = None,
        x_name: str | None = None,
        y_name: str = "value",
        samples: int | Any = None,
        max_rows: int = 1000,
        ink: bool | None = None,
        ax: Any = None,
        width: float | str = "column",
    ) -> Self:
        """Project samples, bring them back, and draw both.

        Parameters
        ----------
        model : estimator, or dict of str to estimator
            Fitted; or several, by the names that they have in the picture.
        X : array-like of shape (n, d)
            Samples to denoise.
        truth : array-like of shape (n, d), optional
            The same without noise. Errors are measured from it; when not given, from X.
        truth_name : str, default="original"
            What it is called.
        given_name : str, optional
            What X is called; "noisy" where there is a truth, else "original".
        image_shape : tuple, optional
            (height, width) of rows that are images.
        positions : array-like of shape (d,), optional
            Where the numbers of rows that are signals belong, such as times.
        feature_names : sequence of str, optional
            Names of the columns of rows that are records of a table. When none of the three is given, the names that
            the model knows; without any, rows of up to 40 numbers are records and longer ones signals. Of more than
            twelve columns those with the largest error are drawn.
        x_name, y_name : str, optional
            What the axes say; name the units too. Formulas stand between dollars.
        samples : int or array-like of int, optional
            How many rows are drawn, spread evenly, or which. Eight images, or three curves or groups of bars.
        max_rows : int, default=1000
            Of more rows so many are denoised, spread evenly, and errors are theirs.
        ink : bool, optional
            Whether images are dark ink on white paper; when not given, they are if most of their pixels are near the
            lowest value.
        ax, width
            See `Display.plot`; images need one pair of axes, curves and bars one for each sample.
        """
        models = dict(model) if isinstance(model, Mapping) else {"": model}
        fits = {name: Fitted(one) for name, one in models.items()}
        if not fits:
            raise ValueError("No model is given: give one that is fitted, or a dict of several.")
        n = n_rows(X)
        chosen = _choose(samples, n, 3 if image_shape is None else 8)
        rows = np.union1d(spread_rows(n, max_rows), chosen)
        X = take(X, rows)
        given = as_matrix(X)
        called = given_name or ("original" if truth is None else "noisy")
        answers = {called: given}
        if truth is not None:
            answers = {truth_name: _same_shape(take(_whole(truth, n), rows), given), called: given}
        for name, fitted in fits.items():
            name = name or fitted.name
            if name in answers:
                raise ValueError(f"{name!r} is the name of two rows: call the model something else.")
            answers[name] = np.asarray(fitted.denoised(X), np.float64)
        names = next(iter(fits.values())).feature_names
        form = find_form(given.shape[1], image_shape, positions, feature_names, names, x_name, y_name)
        return cls._of(answers, rows, chosen, form, (called,), ink).plot(ax, width=width)

    @classmethod
    def from_answers(
        cls,
        answers: Mapping[str, Any],
        *,
        given: Sequence[str] = ("noisy",),
        image_shape: tuple[int, ...] | None = None,
        positions: Any = None,
        feature_names: Any = None,
        x_name: str | None = None,
        y_name: str = "value",
        samples: int | Any = None,
        ink: bool | None = None,
        ax: Any = None,
        width: float | str = "column",
    ) -> Self:
        """Draw rows that are there already.

        Parameters
        ----------
        answers : dict of str to array-like of shape (n, d)
            Rows by name. The first are the truth, from which errors are measured.
        given : sequence of str, default=("noisy",)
            Which of them no model made: their curves are thin and gray.
        image_shape, positions, feature_names, x_name, y_name, samples, ink, ax, width
            See `from_estimator`.
        """
        if not answers:
            raise ValueError("No rows are given: give a dict of arrays by name, the first of which is the truth.")
        arrays: dict[str, np.ndarray] = {}
        for name, values in answers.items():
            arrays[name] = _same_shape(values, next(iter(arrays.values())), name) if arrays else as_matrix(values, name)
        n, d = next(iter(arrays.values())).shape
        form = find_form(d, image_shape, positions, feature_names, None, x_name, y_name)
        chosen = _choose(samples, n, 3 if image_shape is None else 8)
        return cls._of(arrays, np.arange(n), chosen, form, tuple(given), ink).plot(ax, width=width)

    @classmethod
    def _of(
        cls,
        answers: dict[str, np.ndarray],
        rows: np.ndarray,
        chosen: np.ndarray,
        form: Form,
        given: tuple[str, ...],
        ink: bool | None,
    ) -> Self:
        (_, truth), *others = answers.items()
        errors = {name: float(np.square(answer - truth).mean()) for name, answer in others}
        return cls(answers, rows, np.searchsorted(rows, chosen), errors, form, given, ink)

    def _name(self, name: str, separator: str) -> str:
        error = f"{separator}MSE {as_error(self.errors[name])}" if name in self.errors else ""
        return f"{as_written(name)}{error}"

    def _plot_images(self, ax: Any, width: float | str) -> None:
        rows = [as_images(answer[self.shown], self.form.image_shape) for answer in self.answers.values()]
        sheet = Sheet(rows, [self._name(name, "\n") for name in self.answers])
        with self._sheet(ax, width, sheet):
            sheet.draw(self.ax_, image_look(next(iter(self.answers.values())), self.ink))

    def _plot_signals(self, ax: Any, width: float | str) -> None:
        with self._canvas(ax, width, *self._panels(), sharex=True):
            for axis, row in zip(self.axes_, self.shown, strict=True):
                for i, (name, answer) in enumerate(self.answers.items()):
                    axis.plot(self.form.positions, answer[row], label=self._name(name, ", "), **self._line(i, name))
                axis.margins(x=0)
            self._finish()

    def _plot_table(self, ax: Any, width: float | str) -> None:
        count, columns = len(self.answers), self._columns()
        names = [as_written(self.form.names[column]) for column in columns]
        letters = max(len(name) for name in names) * len(names)
        turn = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if letters > 14 * as_inches(width) else {}
        with self._canvas(ax, width, *self._panels(), sharex=True):
            for axis, row in zip(self.axes_, self.shown, strict=True):
                for i, (name, answer) in enumerate(self.answers.items()):
                    places = np.arange(len(columns)) + (i - (count - 1) / 2) * 0.8 / count
                    look = {"color": COLORS[(i - 1) % len(COLORS)] if i else GRAY, "hatch": HATCHES[i % len(HATCHES)]}
                    heights = answer[row][columns]
                    axis.bar(places, heights, 0.8 / count, label=self._name(name, ", "), ec="white", lw=0, **look)
                axis.axhline(0, color="black", linewidth=0.6)
                axis.set_xticks(np.arange(len(columns)), names, **turn)
            if len(columns) < len(self.form.names):
                self._note(f"the {len(columns)} of {len(self.form.names)} columns with the largest error")
            self._finish()

    def _columns(self) -> np.ndarray:
        """(c,): the columns that are drawn, in their order: of many those with the largest error of a model."""
        (_, truth), *others = self.answers.items()
        made = [answer for name, answer in others if name not in self.given] or [answer for _, answer in others]
        errors = sum((np.square(answer - truth).mean(axis=0) for answer in made), np.zeros(truth.shape[1]))
        return np.sort(np.argsort(-errors, kind="stable")[:MOST_COLUMNS])

    def _line(self, i: int, name: str) -> dict[str, Any]:
        """Return the look of the i-th curve: the truth black, what was given thin and gray, models in color."""
        if i == 0:
            return {"color": "black", "linewidth": 0.9, "zorder": 3}
        if name in self.given:
            return {"color": "#a8a8a8", "linewidth": 0.6, "zorder": 1}
        return {**line_look(i - 1), "linewidth": 1.1, "zorder": 4}

    def _panels(self) -> tuple[float, int]:
        """Return height and number of panels: one for each sample, below one another, and a legend."""
        return PANEL * len(self.shown) + 0.3 + 0.16 * len(self.answers), len(self.shown)

    def _finish(self) -> None:
        """Label the panels and what is in them."""
        self._label_panels([f"sample {row}" for row in self.rows[self.shown]], self.form.x_name)
        self._legend(2)


def _choose(samples: Any, n: int, few: int) -> np.ndarray:
    """Return numbers of rows to draw."""
    if samples is None or isinstance(samples, int | np.integer):
        return spread_rows(n, few if samples is None else int(samples))
    chosen = np.asarray(samples)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu" or len(chosen) == 0 or chosen.min() < 0 or chosen.max() >= n:
        raise ValueError(f"samples={samples!r}: give how many rows to draw, or numbers of rows from 0 to {n - 1}.")
    return chosen


def _whole(truth: Any, n: int) -> Any:
    """Return the truth if it has as many rows as the data."""
    if n_rows(truth) != n:
        raise ValueError(f"truth has {n_rows(truth)} rows, and X has {n}: give the same rows, in the same order.")
    return truth


def _same_shape(given: Any, rows: np.ndarray, name: str = "truth") -> np.ndarray:
    """Return rows that must belong to others."""
    array = as_matrix(given, name)
    if array.shape != rows.shape:
        raise ValueError(
            f"{name} has shape {array.shape}, and the rows that it belongs to {rows.shape}: both must agree."
        )
    return array
