"""`kernelpca transform`, `inverse`, `denoise` and `score`: a model applied to files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from kernelpca.cli.models import columns_of, load_fitted
from kernelpca.cli.options import Data, Force, Header, Json, Key, MaybeOut, Model, Out
from kernelpca.cli.tables import check_table_output, open_for, open_named, write_applied
from kernelpca.cli.words import bar, looking, say


def names_of_scores(model: Any) -> list[str]:
    """Return the names of a model's scores."""
    return [str(name) for name in model.get_feature_names_out()]


def row_command(name: str, names_of: Callable[[Any], list[str] | None], help_text: str) -> Callable[..., None]:
    """Return the command that writes what a method of a model makes of rows, under these names."""

    def command(
        model: Model,
        data: Data,
        out: Out,
        key: Key = None,
        header: Header = None,
        force: Force = False,
        as_json: Json = False,
    ) -> None:
        from kernelpca.estimators.way_back import rows_at_a_time

        check_table_output(out, force, model, data)
        fitted = load_fitted(model, name)
        table = open_for(fitted, data, key, header)
        names = names_of(fitted)
        most = len(table) if name == "transform" else rows_at_a_time(fitted)
        write_applied(out, getattr(fitted, name), table, names, (name, key, header), model, force, most)
        done(out, table.shape[0], len(names or range(fitted.n_features_in_)), as_json)

    command.__name__, command.__doc__ = name, help_text
    return command


transform = row_command("transform", names_of_scores, "Write the scores of rows: their coordinates on the components.")
denoise = row_command(
    "denoise",
    columns_of,
    "Write rows without what the components do not explain: projected, and brought back.",
)


def inverse(
    model: Model,
    scores: Annotated[Path, typer.Argument(help="Scores, as `transform` writes them.", show_default=False)],
    out: Out,
    key: Key = None,
    header: Header = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Write rows that have these scores, or come near: pre-images."""
    from kernelpca.estimators.way_back import rows_at_a_time

    check_table_output(out, force, model, scores)
    fitted = load_fitted(model, "inverse_transform")
    names = names_of_scores(fitted)
    table = open_named(scores, names, len(names), key, header, "scores of the model, as `transform` writes them")

    def back(rows: Any) -> Any:
        return fitted.inverse_transform(rows.values)

    most = rows_at_a_time(fitted)
    write_applied(out, back, table, columns_of(fitted), ("inverse", key, header), model, force, most)
    done(out, table.shape[0], fitted.n_features_in_, as_json)


def score(
    model: Model,
    data: Data,
    out: MaybeOut = None,
    worst: Annotated[int, typer.Option(min=0, help="How many of the strangest rows to print.")] = 10,
    key: Key = None,
    header: Header = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Say how well the model explains each row: low scores are outliers."""
    import numpy as np

    from kernelpca.cli.tables import BLOCK
    from kernelpca.io import Table, write_data
    from kernelpca.tiles import blocks

    if out is not None:
        check_table_output(out, force, model, data)
    fitted = load_fitted(model, "score_samples")
    table = open_for(fitted, data, key, header)
    if table.is_lazy:
        with bar("score") as progress, looking(table, progress):
            values = np.asarray(fitted.score_samples(table).compute())
    else:
        parts = blocks(len(table), max(BLOCK // max(table.shape[1], 1), 1))
        values = np.empty(len(table))
        with bar("score") as progress:
            for i, part in enumerate(parts):
                values[part] = fitted.score_samples(Table(table.values[part], table.columns))
                progress(i + 1, len(parts))
    if out is not None:
        write_data(out, values, columns=["score"], force=force)
    order = values.argsort(kind="stable")[:worst]
    facts = {
        "rows": len(values),
        "mean": float(values.mean()),
        "median": float(np.median(values)),
        "lowest": [{"row": int(i), "score": float(values[i])} for i in order],
        "written": None if out is None else str(out),
    }
    lines = [f"{len(values)} rows: mean {values.mean():.4g}, median {np.median(values):.4g} (0 is best)"]
    strangest = "the strangest row" if len(order) == 1 else f"the {len(order)} strangest rows"
    lines += [f"{strangest}, counted from 0:"] if len(order) else []
    lines += [f"  {i:>8}  {values[i]:.4g}" for i in order]
    lines += [] if out is None else [f"Written: {out}"]
    say(facts, "\n".join(lines), as_json)


def done(out: Path, rows: int, columns: int, as_json: bool) -> None:
    """Say what was written."""
    say(
        {"written": str(out), "rows": rows, "columns": columns},
        f"Written: {out}, {rows} rows of {columns} numbers",
        as_json,
    )
