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

NAMED = 1000  # names of columns that are listed


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
        "n_samples": _samples(model),
        "n_features": None if "n_features_in_" not in vars(model) else int(model.n_features_in_),
        "columns": None if columns is None else [str(name) for name in columns[:NAMED]],
        "n_components": components if isinstance(components, int) else None,
    }


def own_version() -> str:
    """Return the version of this library."""
    import kernelpca

    return kernelpca.__version__


def _samples(model: Any) -> int | None:
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
    return round(float(values[first] / variances[first])) + 1
