"""Models and rows of which one lies elsewhere: where a model is applied, and what may be brought here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import validate_data

from kernelpca.kernels.base import Rows
from kernelpca.memory import readable_bytes
from kernelpca.remote import RemoteRows, as_remote, is_remote

SHARE = 0.25  # of the memory granted, that rows which are brought here may take


class Applicable(Protocol):
    """A fitted model that can be sent to where rows are."""

    @property
    def elsewhere(self) -> RemoteRows | None:
        """Its own rows, where they are not here."""

    def with_anchors(self, anchors: Rows) -> Self:
        """Return the same with these rows in their place."""


Model = TypeVar("Model", bound=Applicable)


def apply(
    function: Callable[..., np.ndarray], model: Applicable, width: int | None, dtype: Any, rows: Any, *others: Any
) -> Any:
    """Return `function(model, rows, *others)`: here, or lazily where rows lie elsewhere.

    A model whose own rows lie elsewhere goes there, with the rows it is given.
    """
    if isinstance(rows, RemoteRows):
        return rows.lazily(function, model, width, dtype, *others)
    if model.elsewhere is None:
        return function(model, rows, *others)
    around = model.elsewhere.around
    sent = [None if other is None else around(other) for other in others]
    return around(rows).lazily(function, model, width, dtype, *sent).compute()


def bring(rows: Rows, limit: int) -> Rows:
    """Return rows that are needed here, if they fit into a part of the memory granted."""
    if not isinstance(rows, RemoteRows):
        return rows
    needed = rows.shape[0] * rows.shape[1] * rows.dtype.itemsize
    if needed > SHARE * limit:
        raise MemoryError(
            f"This needs the {rows.shape[0]} training rows here, {readable_bytes(needed)}, and of the memory granted "
            f"{readable_bytes(SHARE * limit)} are for that. Choose a pre-image that needs no training rows, such as "
            "'fixed_point' with landmarks, or raise memory_limit."
        )
    return rows[:]


def brought_here(model: Model) -> Model:
    """Return a model with all of its rows here."""
    return model if model.elsewhere is None else model.with_anchors(model.elsewhere[:])


def here(X: Any, method: str) -> Any:
    """Return what was given, or refuse what lies elsewhere."""
    if X is not None and is_remote(X):
        raise TypeError(
            f"{method} answers here, in memory, so that it cannot take a Dask collection so: give it a part, such as "
            f"model.{method}(X[:1000].compute()). transform, inverse_transform, denoise and score_samples take all."
        )
    return X


def check_remote_rows(estimator: Any, X: Any, *, reset: bool) -> RemoteRows:
    """Return rows that lie elsewhere, with names and number of columns noted or compared.

    At a fit all chunks are looked at; later each is when it is used.
    """
    container = _get_output_config("transform", estimator)["dense"]
    if container != "default" and not reset:
        raise ValueError(
            f"set_output(transform={container!r}) would bring all results here. Set it to 'default' for Dask's "
            "collections; results are Dask arrays then, and to_dask_dataframe() makes data frames of them."
        )
    rows = as_remote(X, lengths=reset)
    validate_data(estimator, rows.sample_of_none(), reset=reset, skip_check_array=True)
    least = 2 if reset and getattr(estimator, "center", False) else 1
    if reset and rows.shape[0] < least:
        raise ValueError(
            f"Found array with {rows.shape[0]} sample(s) (shape={rows.shape}) while a minimum of {least} is required "
            f"by {type(estimator).__name__}."
        )
    if reset:
        rows.moments()
    return rows


def check_remote_scores(Z: Any, reference: Any, k: int, d: int) -> tuple[RemoteRows, RemoteRows | None]:
    """Return scores (n, k) that lie elsewhere, and the inputs (n, d) that they came from, if they are given."""
    scores = as_remote(Z, name="Z", lengths=False)
    if scores.shape[1] != k:
        raise ValueError(f"Z has {scores.shape[1]} columns; this model has {k} components.")
    if reference is None:
        return scores, None
    if not is_remote(reference):
        raise TypeError("Z is a Dask collection, so the reference must be one too: dask.array.from_array(reference).")
    rows = as_remote(reference, name="reference", lengths=False)
    if rows.shape[1] != d:
        raise ValueError(f"reference has {rows.shape[1]} columns; the rows that this model was fitted on have {d}.")
    return scores, rows
