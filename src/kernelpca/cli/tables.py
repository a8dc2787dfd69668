"""Files that commands read and write, with messages that name the command line's own options."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from kernelpca.io import Table

SHOWN = 5  # rows or columns that a message names
BLOCK = 2**18  # numbers of a block of rows that are worked on at a time, so that a bar moves
LEAST_ROWS = 256


def names_in(text: str | None) -> list[str] | None:
    """Return the names in a list with commas."""
    if text is None:
        return None
    return [name.strip() for name in text.split(",") if name.strip()]


def open_table(
    path: Path,
    columns: list[str] | None = None,
    exclude: list[str] | None = None,
    key: str | None = None,
    header: bool | None = None,
    drop_missing: bool | None = None,
) -> Table:
    """Open a file of rows.

    Parameters
    ----------
    path : Path
        The file.
    columns, exclude : list of str, optional
        Names or numbers of columns to take or to leave out.
    key, header
        As in `open_data`.
    drop_missing : bool or None
        Whether rows with missing values are left out; None where that cannot be asked for.
    """
    from kernelpca.io import Table, open_data
    from kernelpca.io.protocol import TextColumns
    from kernelpca.io.reading import unread

    wanted: list[str | int] | None = None
    if columns is not None or exclude is not None:
        have = unread(path, None, key, header).file_columns
        wanted = _choose(path, have, columns, exclude)
    try:
        table = open_data(path, columns=wanted, key=key, header=header)
    except TextColumns as error:
        wrong, good = (quote(",".join(names)) for names in (error.wrong, error.good[:4]))
        raise ValueError(
            f"{path} has columns that are no numbers: {', '.join(error.wrong)}. Leave them out with --exclude {wrong}, "
            f"or choose others with --columns {good}."
        ) from error
    if table.is_lazy:
        return table
    missing = rows_with_missing(table.values)
    if not missing.size:
        return table
    if drop_missing:
        import numpy as np

        return Table(np.delete(np.asarray(table.values), missing, axis=0), table.columns, table.path)
    raise ValueError(explain_missing(path, table, missing, drop_missing is not None))


def _choose(path: Path, have: Any, columns: list[str] | None, exclude: list[str] | None) -> list[str | int]:
    """Return the columns that are wanted, by name or, where a file has no names, by number."""
    known: list[str | int] = list(range(have)) if isinstance(have, int) else list(have)
    for name in [*(columns or ()), *(exclude or ())]:
        if name not in known and not (name.isdigit() and int(name) < len(known)):
            shown = ", ".join(map(str, known[:12])) + (", ..." if len(known) > 12 else "")
            raise ValueError(f"{path} has no column {name!r}; it has {shown}.")
    place = {name: name if name in known else known[int(name)] for name in [*(columns or ()), *(exclude or ())]}
    taken = known if columns is None else [place[name] for name in columns]
    left_out = {place[name] for name in exclude or ()}
    return [name for name in taken if name not in left_out]


def rows_with_missing(values: np.ndarray) -> np.ndarray:
    """(n, d) -> numbers of the rows in which something is missing, a block at a time."""
    import numpy as np

    from kernelpca.tiles import blocks

    parts = blocks(len(values), max(BLOCK // max(values.shape[1], 1), 1))
    found = [np.flatnonzero(np.isnan(values[part]).any(axis=1)) + part.start for part in parts]
    return np.concatenate([np.empty(0, int), *found])


def explain_missing(path: Path, table: Table, missing: np.ndarray, may_drop: bool) -> str:
    """Say how many values are missing, where, and what to do."""
    import numpy as np

    holes = np.isnan(table.values[missing])
    counts = holes.sum(axis=0)
    worst = counts.argsort()[::-1][: min(SHOWN, int((counts > 0).sum()))]
    label = table.columns or [f"column {i}" for i in range(table.shape[1])]
    columns = ", ".join(f"{label[i]} ({counts[i]})" for i in worst) + (", ..." if (counts > 0).sum() > SHOWN else "")
    rows = ", ".join(map(str, missing[:SHOWN])) + (", ..." if len(missing) > SHOWN else "")
    remedy = (
        "Leave those rows out with --drop-missing, or fill them first." if may_drop else "Fill or remove them first."
    )
    return (
        f"{path} has {int(holes.sum())} missing values in {len(missing)} of {table.shape[0]} rows (rows {rows}, "
        f"counted from 0), in columns {columns}. {remedy}"
    )


def open_for(model: Any, path: Path, key: str | None = None, header: bool | None = None) -> Table:
    """Open rows for a model: of a file with names, the columns that it was fitted on, wherever they stand."""
    names = getattr(model, "feature_names_in_", None)
    return open_named(path, None if names is None else [str(name) for name in names], model.n_features_in_, key, header)


def open_named(path: Path, names: list[str] | None, count: int, key: str | None, header: bool | None) -> Table:
    """Open rows of so many columns; those with these names, where the file has names, else in their order."""
    from kernelpca.io.reading import unread

    have = unread(path, None, key, header).file_columns
    if names is not None and not isinstance(have, int):
        missing = [name for name in names if name not in have]
        if missing:
            raise ValueError(
                f"{path} lacks {len(missing)} of the {len(names)} columns that the model was fitted on: "
                f"{', '.join(missing[:SHOWN])}{', ...' if len(missing) > SHOWN else ''}. It has "
                f"{', '.join(map(str, have[:SHOWN]))}{', ...' if len(have) > SHOWN else ''}."
            )
        return open_table(path, names, key=key, header=header)
    table = open_table(path, key=key, header=header)
    if table.shape[1] != count:
        raise ValueError(
            f"{path} has {table.shape[1]} columns, and the model needs {count}: give a file with the same columns."
        )
    return table if names is None else replace(table, columns=tuple(names))


def check_output(path: Path, force: bool, *inputs: Path) -> None:
    """Refuse an output that is there already, before anything is computed."""
    if any(path.resolve() == other.resolve() for other in inputs):
        raise ValueError(f"{path} is an input of this command: write to another file.")
    if path.exists() and not force:
        raise FileExistsError(f"{path} is there already: give another name, or --force to replace it.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"The folder {path.parent} does not exist: make it first.")


def write_applied(
    path: Path, method: Any, table: Table, names: list[str] | None, model_path: Path, verb: str, force: bool
) -> None:
    """Write what a method of a model makes of a table, block by block, with a bar.

    Blocks that an interrupted run has finished are not computed again.
    """
    from kernelpca.cli.words import bar
    from kernelpca.io import Computed, write_data
    from kernelpca.io import Table as Rows

    if table.is_lazy:
        values = method(table)
    else:
        rows = max(BLOCK // max(table.shape[1], 1), LEAST_ROWS)
        values = Computed(lambda block: method(Rows(block, table.columns)), table.values, rows)
    with bar(verb) as done:
        write_data(path, values, columns=names, key=_key(verb, model_path, table), force=force, done=done)


def _key(verb: str, model_path: Path, table: Table) -> str:
    """Return what results depend on: the model, the data, and what is done."""
    data = Path(table.path).stat()
    facts = [
        verb,
        str(model_path.stat().st_size),
        str(data.st_size),
        str(data.st_mtime_ns),
        table.path,
        str(table.columns),
    ]
    digest = sha256("\0".join(facts).encode())
    with model_path.open("rb") as file:
        while block := file.read(2**20):
            digest.update(block)
    return digest.hexdigest()
