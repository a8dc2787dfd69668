"""Files that commands read and write, with messages that name the command line's own options."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from kernelpca.cli.models import columns_of
from kernelpca.cli.words import bar
from kernelpca.warn import warn

if TYPE_CHECKING:
    from kernelpca.io import Table

SHOWN = 5  # rows or columns that a message names
BLOCK = 2**18  # numbers of a block of rows that are worked on at a time, so that a bar moves
LEAST_ROWS = 256
SAMPLE = 2**22  # numbers that show how much columns vary
DECIDES = 0.95  # of the variance: a column that has more decides nearly alone


def names_in(text: str | None) -> list[str] | None:
    """Return the names in a list with commas; of nothing at all, the name of a column without one."""
    if text is None:
        return None
    return [name.strip() for name in text.split(",") if name.strip()] or [""]


def open_table(
    path: Path, columns: list[str] | None = None, key: str | None = None, header: bool | None = None
) -> Table:
    """Open a file of rows without holes, all columns or those with these names or numbers."""
    table = read_table(path, columns, None, key, header, "The model needs them: give a file in which they are numbers.")
    return without_holes(path, table, "Fill or remove them first.")


def open_training(
    path: Path,
    columns: list[str] | None,
    exclude: list[str] | None,
    key: str | None,
    header: bool | None,
    drop_missing: bool,
    memory: Any = None,
) -> tuple[Table, int]:
    """Open rows for a fit; return them, and how many were left out for missing values.

    Parameters
    ----------
    path : Path
        The file.
    columns, exclude : list of str, optional
        Names or numbers of columns to take or to leave out.
    key, header
        As in `open_data`.
    drop_missing : bool
        Whether rows with missing values are left out.
    memory : int or str, optional
        Memory that the user grants: a file that takes more is read piece by piece.
    """
    table = read_table(path, columns, exclude, key, header, memory=memory)
    if drop_missing and table.is_lazy:
        raise ValueError(
            f"{path} is too large to be loaded, and --drop-missing looks at all rows first: remove rows with missing "
            "values from the file, and leave the option out."
        )
    kept = without_missing(path, table) if drop_missing else table
    remedy = "Leave those rows out with --drop-missing, or fill them first."
    whole = without_holes(path, kept, remedy)
    warn_of_scales(path, whole)
    return whole, table.shape[0] - kept.shape[0]


def warn_of_scales(path: Path, table: Table) -> None:
    """Warn where one column varies so much more than all others that distances are nearly its own."""
    if table.is_lazy or table.shape[1] < 2:
        return
    import numpy as np

    some = table.values[:: -(-len(table) * table.shape[1] // SAMPLE)]
    variances = np.var(some, axis=0, dtype=np.float64)
    most, total = int(variances.argmax()), float(variances.sum())
    if variances[most] > DECIDES * total:
        name = f"column {most}" if table.columns is None else table.columns[most]
        warn(
            f"{name} has {variances[most] / total:.1%} of all variance in {path}, so that it alone nearly decides "
            "which rows are alike. If columns have different units bring them to one scale first: divide each by its "
            f"standard deviation. Or leave it out: --exclude {quote(name.removeprefix('column '))}."
        )


def read_table(
    path: Path,
    columns: list[str] | None,
    exclude: list[str] | None,
    key: str | None,
    header: bool | None,
    remedy: str = "",
    memory: Any = None,
) -> Table:
    """Open the chosen columns of a file, whatever values they have; `remedy` is for those that hold text."""
    from kernelpca.io import open_data
    from kernelpca.io.protocol import TextColumns
    from kernelpca.io.reading import SHARE, unread
    from kernelpca.memory import parse_bytes

    limit = None if memory is None else int(parse_bytes(memory) / SHARE)  # all of it, beside what a fit takes
    wanted: list[int] | None = None
    if columns is not None or exclude is not None:
        have = unread(path, None, key, header).file_columns
        wanted = _choose(path, have, columns, exclude)
    try:
        with bar("read") as done:
            return open_data(path, columns=wanted, key=key, header=header, memory_limit=limit, done=done)
    except TextColumns as error:
        wrong, good = (quote(",".join(names)) for names in (error.wrong, error.good[:4]))
        others = f", or choose others with --columns {good}" if error.good else ""
        raise ValueError(
            f"{path} has columns that are no numbers: {', '.join(error.wrong)}. "
            f"{error.hint or remedy or f'Leave them out with --exclude {wrong}{others}.'}"
        ) from error


def without_missing(path: Path, table: Table) -> Table:
    """Return the rows in which no value is missing."""
    import numpy as np

    from kernelpca.io import Table as Rows
    from kernelpca.validation import places

    missing, counts = places(np.isnan, table.values)
    if len(missing) == len(table):
        worst = int(counts.argmax())
        name = f"column {worst}" if table.columns is None else table.columns[worst]
        raise ValueError(
            f"All {len(table)} rows of {path} have missing values, most of them in {name} ({counts[worst]}), so that "
            "--drop-missing would leave none: leave such columns out with --exclude, or fill them first."
        )
    return (
        Rows(np.delete(np.asarray(table.values), missing, axis=0), table.columns, table.path) if missing.size else table
    )


def without_holes(path: Path, table: Table, remedy: str) -> Table:
    """Return a table, or say where values are missing or infinite, and what to do."""
    if table.is_lazy:
        return table
    import numpy as np

    from kernelpca.progress import Parts
    from kernelpca.tiles import blocks
    from kernelpca.validation import say_places

    parts = blocks(len(table), max(BLOCK // max(table.shape[1], 1), 1))
    with bar("check") as done:
        looked = Parts(done, len(parts))
        if all(looked(bool(np.isfinite(table.values[part]).all())) for part in parts):
            return table
    for test, what, then in (
        (np.isnan, "missing", remedy),
        (np.isinf, "infinite", "Replace them by numbers, or remove those rows first."),
    ):
        found = say_places(test, table.values, table.columns, what)
        if found:
            raise ValueError(f"{path} has {found}. {then}")
    return table


def _choose(path: Path, have: Any, columns: list[str] | None, exclude: list[str] | None) -> list[int]:
    """Return the numbers of the columns that are wanted, by name or number."""
    from kernelpca.io.protocol import check_once

    known = list(map(str, range(have) if isinstance(have, int) else have))
    asked = [*(columns or ()), *(exclude or ())]
    check_once(path, known, asked)
    places = {str(i): i for i in range(len(known))} | {name: i for i, name in enumerate(known)}
    for name in asked:
        if name not in places:
            shown = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
            raise ValueError(f"{path} has no column {name!r}; it has {shown}.")
    left_out = {places[name] for name in exclude or ()}
    taken = range(len(known)) if columns is None else dict.fromkeys(places[name] for name in columns)
    chosen = [i for i in taken if i not in left_out]
    times = Counter(known[i] for i in chosen)
    check_once(path, known, [name for name in times if times[name] > 1])
    return chosen


def open_for(model: Any, path: Path, key: str | None = None, header: bool | None = None) -> Table:
    """Open rows for a model: of a file with names, the columns that it was fitted on, wherever they stand."""
    return open_named(path, columns_of(model), model.n_features_in_, key, header)


def open_named(
    path: Path,
    names: list[str] | None,
    count: int,
    key: str | None,
    header: bool | None,
    what: str = "columns that the model was fitted on",
) -> Table:
    """Open rows of so many columns; those with these names, where the file has names, else in their order."""
    from kernelpca.io.reading import unread

    have = unread(path, None, key, header).file_columns
    if names is not None and not isinstance(have, int):
        there = set(have)
        missing = [name for name in names if name not in there]
        if missing:
            raise ValueError(
                f"{path} lacks {len(missing)} of the {len(names)} {what}: "
                f"{', '.join(missing[:SHOWN])}{', ...' if len(missing) > SHOWN else ''}. It has "
                f"{', '.join(map(str, have[:SHOWN]))}{', ...' if len(have) > SHOWN else ''}."
            )
        return open_table(path, names, key, header)
    table = open_table(path, key=key, header=header)
    if table.shape[1] != count:
        raise ValueError(
            f"{path} has {table.shape[1]} columns, and the model needs {count}: give a file with the same columns."
        )
    return table if names is None else replace(table, columns=tuple(names))


def check_output(path: Path, force: bool, *inputs: Path) -> None:
    """Refuse an output that is there already, before anything is computed."""
    from kernelpca.io.writing import check_replaceable

    if any(path.resolve() == other.resolve() for other in inputs):
        raise ValueError(f"{path} is an input of this command: write to another file.")
    if path.exists() and not force:
        raise FileExistsError(f"{path} is there already: give another name, or --force to replace it.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"The folder {path.parent} does not exist: make it first.")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"You may not write into the folder {path.parent}: give a file in another one.")
    check_replaceable(path)


def check_table_output(path: Path, force: bool, *inputs: Path) -> None:
    """Refuse an output of rows that cannot be written, before anything is computed."""
    from kernelpca.io.writing import check_format

    check_format(path)
    check_output(path, force, *inputs)


def check_model_output(path: Path, force: bool, *inputs: Path) -> None:
    """Refuse a model file that would be there already, or be taken for data by its name."""
    from kernelpca.io.reading import FORMATS

    if path.suffix.lower() in FORMATS:
        raise ValueError(
            f"{path}: {path.suffix} is a format of data, for which a model must not be taken. Give another name, such "
            f"as {path.with_suffix('.kpca').name}."
        )
    check_output(path, force, *inputs)


def write_applied(
    path: Path,
    method: Any,
    table: Table,
    names: list[str] | None,
    asked: tuple[str, str | None, bool | None],
    model_path: Path,
    force: bool,
    most: int,
) -> None:
    """Write what a method of a model makes of a table, block by block, with a bar.

    Blocks that an interrupted run has finished are not computed again, if it was `asked` for the same: verb, array of
    the file, and whether it begins with names. A block has at most so many rows.
    """
    from kernelpca.io import Computed, write_data
    from kernelpca.io import Table as Rows

    if table.is_lazy:
        values = method(table)
    else:
        rows = min(max(BLOCK // max(table.shape[1], 1), LEAST_ROWS), most)
        values = Computed(lambda block: method(Rows(block, table.columns)), table.values, rows)
    with bar(asked[0]) as done:
        write_data(path, values, columns=names, key=_key(asked, model_path, table), force=force, done=done)


def _key(asked: tuple[str, str | None, bool | None], model_path: Path, table: Table) -> str:
    """Return what results depend on: this library, the model, the data, and what is done."""
    from kernelpca import __version__

    data = Path(table.path)
    files = sorted(file for file in data.rglob("*") if file.is_file()) if data.is_dir() else [data]
    states = [(str(file.relative_to(data)), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    digest = sha256(repr((__version__, asked, table.path, table.columns, states)).encode())
    with model_path.open("rb") as file:
        while block := file.read(2**20):
            digest.update(block)
    return digest.hexdigest()
