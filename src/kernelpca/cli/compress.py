"""`kernelpca compress`: a smaller, faster model from a model file."""

from __future__ import annotations

from typing import Annotated

import typer

from kernelpca.cli.models import load_fitted
from kernelpca.cli.options import Force, Json, Model, Out
from kernelpca.cli.tables import check_model_output
from kernelpca.cli.words import bar, say


def compress(
    model: Model,
    out: Out,
    tol: Annotated[
        float | None, typer.Option(help="How much scores may change, as a part of their size.", show_default="0.01")
    ] = None,
    anchors: Annotated[
        int | None, typer.Option(help="Instead: how many rows or points the model may keep.", show_default=False)
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Write a smaller, faster model with nearly the same scores, and say what that costs."""
    from kernelpca.memory import readable_bytes

    check_model_output(out, force, model)
    found = load_fitted(model, "compress", of_numbers=False)
    with bar("compress") as done:
        small = found.compress(tol, n_anchors=anchors, done=done)
    small.save(out)
    stated = small.certificate_.compression
    sizes = model.stat().st_size, out.stat().st_size
    facts = {
        "model": str(out),
        "anchors": stated.anchors,
        "error": stated.error,
        "worst": stated.worst,
        "residual_error": stated.residual_error,
        "bytes_before": sizes[0],
        "bytes": sizes[1],
    }
    before, after = map(readable_bytes, sizes)
    say(facts, f"{stated}\nWritten: {out} ({after}, from {before})", as_json)
