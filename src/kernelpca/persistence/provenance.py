"""Where a model comes from: what it is, on what it was fitted, when and by which versions."""

from __future__ import annotations

import platform
import re
from datetime import UTC, datetime
from typing import Any

import numpy as np
import scipy
import sklearn

from kernelpca.persistence import catalogue
from kernelpca.persistence.demands import MOST
from kernelpca.persistence.errors import damaged

NAMED, LENGTH = 1000, 100  # names of columns that are listed, and characters of each


def provenance_of(model: Any) -> dict[str, Any]:
    """Return what a reader wants to know before the model is loaded; None for what is not known."""
    columns = vars(model).get("feature_names_in_")
    values = vars(model).get("eigenvalues_")  # what a stream works out when it is asked is not asked for
    components = vars(model).get("n_components") if values is None else len(values)
    return {
        "class": catalogue.name_of(model),
        "description": re.sub(r" at 0x[0-9A-F]+", "", repr(model))[:1000],
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {
            "kernelpca": own_version(),
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
        },
        "n_samples": samples_of(model),
        "n_features": None if "n_features_in_" not in vars(model) else int(model.n_features_in_),
        "columns": None if columns is None else [str(name)[:LENGTH] for name in columns[:NAMED]],
        "n_components": components if type(components) is int and components >= 0 else None,
    }


def check_provenance(told: Any) -> None:
    """Refuse what is no description of a model, so that whoever reads it need not look twice."""
    good = isinstance(told, dict) and all(_is_text(told.get(name)) for name in ("class", "description", "created"))
    if not good or not isinstance(told.get("versions"), dict) or not all(map(_is_text, told["versions"].values())):
        raise damaged("It does not say what the model is, when it was made and by which versions")
    counts = [told.get(name, 0.5) for name in ("n_samples", "n_features", "n_components")]
    if not all(count is None or (type(count) is int and 0 <= count < MOST) for count in counts):
        raise damaged("It does not say how many rows, columns and components the model has")
    columns = told.get("columns", 0)
    if columns is not None and not (isinstance(columns, list) and all(isinstance(name, str) for name in columns)):
        raise damaged("Its names of columns are none")


def _is_text(value: Any) -> bool:
    """Whether a value is text that can be shown as it is, without control characters."""
    return isinstance(value, str) and all(line.isprintable() for line in value.split("\n"))


def own_version() -> str:
    """Return the version of this library."""
    import kernelpca

    return kernelpca.__version__


def samples_of(model: Any) -> int | None:
    """Return how many rows a model was fitted on; variances are eigenvalues over one less."""
    known = vars(model)
    if "n_samples_seen_" in known:
        return int(known["n_samples_seen_"])
    if "X_fit_" in known:
        return int(known["X_fit_"].shape[0])
    values, variances = known.get("eigenvalues_"), known.get("explained_variance_")
    if values is None or variances is None or not np.any(variances):
        return None
    first = int(np.flatnonzero(variances)[0])
    with np.errstate(over="ignore"):
        ratio = float(np.divide(values[first], variances[first]))
    return round(ratio) + 1 if np.isfinite(ratio) else None
