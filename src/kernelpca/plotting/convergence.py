"""How a fit came to its end: error and bound against passes over the matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from kernelpca.plotting.display import Display
from kernelpca.plotting.fitted import Fitted
from kernelpca.plotting.history import FitHistory
from kernelpca.plotting.style import GRAY, NOTE, as_inches, look
from kernelpca.solvers.certificate import Certificate
from kernelpca.solvers.dual_certificate import DualCertificate

CURVES = {
    "residual": "relative residual (largest)",
    "estimate": "variance missed: estimate",
    "bound": "variance missed: bound",
}
ASKED = {"residual": "residual", "variance": "estimate", "certified": "bound", "criticality": "criticality"}


@dataclass(eq=False, repr=False)
class ConvergenceDisplay(Display):
    """Errors after each pass on a logarithmic scale, what was asked for, and what the certificate says.

    Parameters
    ----------
    passes, seconds : ndarray of shape (m,)
        Products with the matrix so far, and time so far; where a fit has several stages, of all of them.
    residual : ndarray of shape (m,)
        The largest residual over its eigenvalue (in a robust or sparse fit, the criticality); NaN where not known.
    estimate, bound : ndarray of shape (m,)
        Estimated relative error of the captured variance, and the bound on it; NaN where not known.
    stages : ndarray of int
        Numbers of the events with which a later stage begins.
    tol : float or None
        What was asked for.
    criterion : str
        Of which error that was asked: "residual", "variance" (the estimate), "certified" (the bound), or "criticality".
    sentence : str
        What the certificate says.
    against : {"passes", "seconds"}
        What is drawn along the horizontal axis.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelpca import KernelPCA
    >>> from kernelpca.plotting import ConvergenceDisplay
    >>> X, _ = load_digits(return_X_y=True)
    >>> model = KernelPCA(10, solver="block_krylov", tol=1e-9)
    >>> display = ConvergenceDisplay.from_estimator(model, X)
    >>> bool(display.residual[-1] <= display.tol < display.residual[0])
    True
    """

    passes: np.ndarray
    seconds: np.ndarray
    residual: np.ndarray
    estimate: np.ndarray
    bound: np.ndarray
    stages: np.ndarray
    tol: float | None = None
    criterion: str = "residual"
    sentence: str = ""
    against: str = "passes"

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, *, against: str = "passes", ax: Any = None, width: float | str = "column"
    ) -> Self:
        """Fit a copy of the model on X and draw how it went; the model itself stays as it is.

        Parameters
        ----------
        model : estimator
            Fitted or not.
        X : array-like of shape (n, d)
            Training data.
        against : {"passes", "seconds"}, default="passes"
            What the horizontal axis shows.
        ax, width
            See `Display.plot`.
        """
        if isinstance(model, Pipeline):
            raise TypeError(
                "A pipeline does not tell how its fit goes: give its last step and transformed rows, "
                "ConvergenceDisplay.from_estimator(pipeline[-1], pipeline[:-1].transform(X))."
            )
        if isinstance(model, type) or "callback" not in getattr(model, "get_params", dict)():
            raise TypeError(
                f"{model!r} reports no progress: give an estimator of kernelpca, which has a parameter `callback`."
            )
        history = FitHistory()
        own = model.callback if callable(model.callback) else None
        history.callback = own
        fitted = clone(model.__class__(**{**model.get_params(deep=False), "callback": None}))
        fitted.callback = history
        fitted.fit(X)
        return cls.from_history(history, fitted, against=against, ax=ax, width=width)

    @classmethod
    def from_history(
        cls,
        history: FitHistory | Sequence[Any],
        model: Any = None,
        *,
        against: str = "passes",
        ax: Any = None,
        width: float | str = "column",
    ) -> Self:
        """Draw how a fit went that was watched.

        Parameters
        ----------
        history : FitHistory or list of Progress
            What was reported; `Solution.history` of a solver too.
        model : estimator or Certificate, optional
            The fitted model, or its certificate: for what was asked for, and for what it says.
        against, ax, width
            As in `from_estimator`.
        """
        if against not in ("passes", "seconds"):
            raise ValueError(f"against={against!r} is not known: choose 'passes' or 'seconds'.")
        events = history.events if isinstance(history, FitHistory) else list(history)
        columns = {name: _column(events, name) for name in ("passes", "seconds", "estimate", "bound")}
        residual = _column(events, "relative_residual")
        known = np.isfinite([residual, columns["estimate"], columns["bound"]]).any(axis=0)
        if not known.any():
            raise ValueError(
                "This fit reported no errors to draw: it was solved at once (by LAPACK or ARPACK, as small problems "
                f"are), without passes that could be watched. {_advice(model)}"
            )
        certificate = model if model is None or isinstance(model, Certificate) else Fitted(model).last.certificate_
        again = (np.diff(columns["passes"]) < 0) | (np.diff(columns["seconds"]) < 0)  # each stage counts from 0
        stages = np.flatnonzero(again) + 1
        for start in stages:
            for name in ("passes", "seconds"):
                columns[name][start:] += columns[name][start - 1]
        display = cls(
            columns["passes"],
            columns["seconds"],
            residual,
            columns["estimate"],
            columns["bound"],
            stages,
            None if certificate is None else float(certificate.tol),
            "residual" if certificate is None else _criterion(certificate),
            "" if certificate is None else str(certificate),
            against,
        )
        return display.plot(ax, width=width)

    def plot(self, ax: Any = None, *, width: float | str = "column") -> Self:
        """Draw the curves; see `Display.plot`."""
        with self._canvas(ax, width, 2.4 + 0.16 * self._n_curves()):
            x = self.passes if self.against == "passes" else self.seconds
            for i, (name, label) in enumerate(CURVES.items()):
                errors = getattr(self, name)
                known = np.isfinite(errors) & (errors > 0)
                if known.any():
                    if name == "residual" and self.criterion == "criticality":
                        label = "relative residual, then criticality"
                    self.ax_.plot(*self._broken(x, np.where(known, errors, np.nan), known), label=label, **look(i))
            self.ax_.set_yscale("log")
            self.ax_.set_ylabel("relative error (logarithmic)")
            self.ax_.set_xlabel("passes over the matrix" if self.against == "passes" else "time (s)")
            if self.against == "passes":
                self._whole_numbers()
            self._draw_goal()
            for start in self.stages:
                self.ax_.axvline((x[start - 1] + x[start]) / 2, color=GRAY, linestyle=":", linewidth=0.8)
            self._legend(1 if as_inches(width) < 5 else 3, side="upper")
            self._caption(self.sentence)
        return self

    def _n_curves(self) -> int:
        return sum(bool(np.isfinite(getattr(self, name)).any()) for name in CURVES)

    def _broken(self, x: np.ndarray, errors: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the points that are known, with a gap where a stage begins."""
        stage = np.zeros(len(x), int)
        stage[self.stages] = 1
        gaps = np.flatnonzero(np.diff(stage.cumsum()[known])) + 1
        return np.insert(x[known], gaps, np.nan), np.insert(errors[known], gaps, np.nan)

    def _draw_goal(self) -> None:
        if not self.tol:
            return
        self.ax_.axhline(self.tol, color=GRAY, linestyle="--", linewidth=0.9)
        place: dict[str, Any] = {"xytext": (2, 2), "textcoords": "offset points", "ha": "left", "va": "bottom"}
        place["bbox"] = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
        where = (0.0, self.tol)
        self.ax_.annotate(
            f"asked of the {ASKED[self.criterion]}: {self.tol:.0e}",
            where,
            xycoords=("axes fraction", "data"),
            fontsize=NOTE,
            color=GRAY,
            **place,
        )


def _advice(model: Any) -> str:
    """Say what to fit in order to see errors."""
    if model is None or isinstance(model, Certificate) or "solver" in model.get_params():
        return "Fit with solver='block_krylov' to see one that is iterative."
    return f"{type(model).__name__} has no parameter `solver` to change that; KernelPCA(solver='block_krylov') has."


def _criterion(certificate: Certificate) -> str:
    """Return what had to become small."""
    return "criticality" if isinstance(certificate, DualCertificate) else certificate.criterion


def _column(events: Sequence[Any], name: str) -> np.ndarray:
    """Return one number of each event, NaN where it is not known."""
    values = [getattr(event, name) for event in events]
    return np.array([np.nan if value is None else value for value in values], np.float64)
