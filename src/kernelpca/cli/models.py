"""Model files that commands are given, and whether what is in them can do what is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def load(path: Path) -> Any:
    """Load what a model file holds; of one that does not exist, name those that do."""
    import kernelpca

    if not path.exists():
        from kernelpca.io.reading import say_absent

        raise FileNotFoundError(f"{say_absent(path, '.kpca')} `kernelpca fit` makes models.")
    from kernelpca.io.reading import FORMATS
    from kernelpca.persistence import ModelFileError

    try:
        return kernelpca.load(path)
    except ModelFileError as error:
        if path.suffix.lower() not in FORMATS:
            raise
        raise ValueError(
            f"{path} is a file of data, by its {path.suffix}, and no model. The model comes first and data after it: "
            "kernelpca transform MODEL DATA; `kernelpca fit` makes models of data."
        ) from error


def load_fitted(path: Path, method: str, of_numbers: bool = True) -> Any:
    """Load a fitted model that has a method, and is one of rows of numbers, or say what the file holds instead."""
    model = load(path)
    name = type(model).__name__
    if not is_model(model):
        raise ValueError(f"{path} holds {model!r}, a part of models: give a model, as `kernelpca fit` writes it.")
    if not is_fitted(model):
        raise ValueError(
            f"{path} holds a {name} that is not fitted: give one that is, as `kernelpca fit` writes it, or as "
            "model.fit(X).save(path) does in Python."
        )
    if of_numbers and not hasattr(model, "n_features_in_"):
        raise ValueError(
            f"{path} holds a {name} of texts or other objects, and commands work on rows of numbers: use it in Python, "
            f"model = kernelpca.load({str(path)!r})."
        )
    if not hasattr(model, method):
        raise ValueError(f"{path} holds a {name}, which has no method {method}: {_reason(model)}.")
    return model


def is_model(found: Any) -> bool:
    """Whether a file held an estimator, and not a part such as a kernel."""
    return hasattr(found, "fit") and hasattr(found, "transform")


def is_fitted(model: Any) -> bool:
    """Whether a model has seen data."""
    return hasattr(model, "eigenvalues_")


def columns_of(model: Any) -> list[str] | None:
    """Return the names of the columns that a model was fitted on, if it knows them."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _reason(model: Any) -> str:
    from kernelpca.kernels import Precomputed
    from kernelpca.sklearn import KernelPCA

    if isinstance(model, KernelPCA):
        return (
            "it is kernelpca.sklearn.KernelPCA, which has what scikit-learn's has. `kernelpca fit` makes one with all"
        )
    if isinstance(getattr(model, "kernel_", None), Precomputed):
        return "it was fitted on a kernel matrix. Fit on rows of numbers"
    return "fit a model of another kind, `kernelpca fit --method kernel`"
