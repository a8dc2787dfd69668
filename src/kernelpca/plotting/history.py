"""A callback that remembers how a fit went."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kernelpca.solvers.watch import Progress


class FitHistory:
    """Keeps what a solver reports after each pass, for `ConvergenceDisplay`.

    One history serves one fit: a second fit with the same one goes on where the first ended, so give each its own.

    Parameters
    ----------
    callback : callable, optional
        Another callback that is told as well, and may stop the fit by returning True.

    Attributes
    ----------
    events : list of Progress
        What was reported, in order.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelpca import KernelPCA
    >>> from kernelpca.plotting import FitHistory
    >>> history = FitHistory()
    >>> X, _ = load_digits(return_X_y=True)
    >>> model = KernelPCA(5, solver="block_krylov", tol=1e-8, callback=history).fit(X)
    >>> history.events[-1].relative_residual < 1e-8
    True
    """

    def __init__(self, callback: Callable[[Progress], Any] | None = None) -> None:
        self.callback = callback
        self.events: list[Progress] = []

    def __call__(self, event: Progress) -> Any:
        """Note an event; pass it on, and the answer back."""
        self.events.append(event)
        return None if self.callback is None else self.callback(event)

    def __len__(self) -> int:
        return len(self.events)
