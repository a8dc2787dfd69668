"""`kernelpca info`: what a model file holds, and how good the model is; `kernelpca --version`."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from kernelpca.cli.models import is_fitted, is_model, load
from kernelpca.cli.options import Json, Model
from kernelpca.cli.words import one_line, say


def info(model: Model, as_json: Json = False) -> None:
    """Say what a model is, how much variance it captures, how good it is, and where it comes from."""
    from kernelpca.memory import readable_bytes
    from kernelpca.persistence import describe

    found = load(model)
    provenance = describe(model)
    facts = {"file": str(model), "bytes": model.stat().st_size, **facts_of(found), "provenance": provenance}
    versions = ", ".join(f"{name} {number}" for name, number in provenance.get("versions", {}).items())
    texts = [*texts_of(found), ("created", provenance.get("created")), ("versions", versions)]
    lines = [
        f"{model}: {readable_bytes(model.stat().st_size)}",
        summary(found, provenance.get("n_samples")),
        *(f"{name:13}{one_line(value)}" for name, value in texts if value),
    ]
    say(facts, "\n".join(lines), as_json)


def summary(model: Any, rows: int | None) -> str:
    """Say in one line what a model is and what it captures."""
    name = type(model).__name__
    if not is_model(model):
        return f"{one_line(repr(model))}: a part of models, and no model."
    if not is_fitted(model):
        return f"{name}, not fitted."
    kernel = f" with {model.kernel_!r}" if hasattr(model, "kernel_") else ""
    of = "" if rows is None else f" of {rows} rows"
    columns = f" of {model.n_features_in_} numbers" if hasattr(model, "n_features_in_") else ""
    kept = float(model.explained_variance_ratio_.sum())
    components = len(model.eigenvalues_)
    plural = "s keep" if components != 1 else " keeps"
    return f"{name}{kernel}: {components} component{plural} {kept:.1%} of the variance{of}{columns}."


def texts_of(model: Any) -> list[tuple[str, str]]:
    """List what a model tells about itself, each as a name and a sentence."""
    if not is_model(model):
        return []
    if not is_fitted(model):
        return [("parameters", repr(model))]
    ratios = ", ".join(f"{ratio:.1%}" for ratio in model.explained_variance_ratio_[:8])
    more = ", ..." if len(model.eigenvalues_) > 8 else ""
    found = [("variance", ratios + more)]
    for name, attribute in (("certificate", "certificate_"), ("plan", "plan_"), ("way back", "preimage_")):
        value = getattr(model, attribute, None)
        if value is not None:
            found.append((name, str(value)))
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        found.append(("columns", ", ".join(map(str, names[:12])) + (", ..." if len(names) > 12 else "")))
    return found


def facts_of(model: Any) -> dict[str, Any]:
    """Return what a model tells about itself, for machines."""
    facts: dict[str, Any] = {"class": type(model).__name__, "fitted": is_model(model) and is_fitted(model)}
    if not facts["fitted"]:
        return facts | {"parameters": repr(model)}
    facts |= {
        "n_components": len(model.eigenvalues_),
        "explained_variance_ratio": model.explained_variance_ratio_,
        "captured": float(model.explained_variance_ratio_.sum()),
        "n_features": getattr(model, "n_features_in_", None),
        "columns": getattr(model, "feature_names_in_", None),
    }
    for name in ("kernel_", "certificate_", "plan_", "preimage_"):
        if getattr(model, name, None) is not None:
            facts[name.rstrip("_")] = str(getattr(model, name))
    return facts


def say_version(asked: bool) -> None:
    """Write which version this is, and end."""
    if asked:
        from kernelpca import __version__

        sys.stdout.write(f"kernelpca {__version__}\n")
        raise typer.Exit


def before_commands(
    version: Annotated[
        bool, typer.Option("--version", help="Say which version this is.", callback=say_version, is_eager=True)
    ] = False,
) -> None:
    """Take what is said before the name of a command."""
