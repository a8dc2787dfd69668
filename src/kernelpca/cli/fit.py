"""`kernelpca fit` and `kernelpca plan`: an estimator from options, fitted on a file, or only planned."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from kernelpca.cli.options import Columns, Data, DropMissing, Exclude, Force, Header, Json, Key, Out, with_options_of
from kernelpca.cli.tables import check_model_output, names_in, open_training
from kernelpca.cli.translation import translate
from kernelpca.cli.words import fit_callback, looking, say

LIMITS = ("components", "size", "set_")  # options that say how many components there may be
METHODS = {
    "kernel": "KernelPCA",
    "robust": "RobustKernelPCA",
    "sparse": "SparseKernelPCA",
    "invertible": "InvertibleKernelPCA",
    "pca": "PCA",
}
WITHOUT_ZEROS = METHODS["robust"], METHODS["sparse"]  # they have no components of variance 0, as centering leaves one
COMPONENTS = 10  # where no number is asked for
SIZES = {"nystrom": "n_landmarks", "fourier": "n_features", "relu": "n_features", "sketch": "n_features"}


def make_estimator(
    method: Annotated[str, typer.Option(help=f"What to fit: {', '.join(METHODS)}.")] = "kernel",
    components: Annotated[
        str | None,
        typer.Option(
            help="How many: a number, a fraction of the variance (0.95), relative:1e-3, or all.",
            show_default=f"{COMPONENTS}, or as many as there can be",
        ),
    ] = None,
    kernel: Annotated[
        str | None, typer.Option(help='Such as rbf, "rbf(gamma=0.1) + 2*linear", laplacian.', show_default="rbf")
    ] = None,
    approximation: Annotated[
        str | None, typer.Option(help="For many rows: nystrom, fourier, relu or sketch.", show_default="exact")
    ] = None,
    size: Annotated[
        int | None,
        typer.Option(help="Landmarks or features of the approximation; alone it means nystrom.", show_default=False),
    ] = None,
    preimage: Annotated[
        str | None, typer.Option(help="The way back: ridge, fixed_point, gradient, ...", show_default="the best")
    ] = None,
    center: Annotated[bool, typer.Option(help="Whether the mean in feature space is taken off.")] = True,
    tol: Annotated[float | None, typer.Option(help="Wanted accuracy.", show_default="1e-4")] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            help="Memory that the fit may use: 4GB. A file that takes more is read piece by piece.",
            show_default="half of what is free",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of random draws.", show_default="fixed")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Any other parameter: sparsity=0.6, preimage__ridge=0.1.")
    ] = None,
) -> Any:
    """Return the estimator that the options describe."""
    import kernelpca
    from kernelpca.features import as_approximation
    from kernelpca.kernels import as_kernel
    from kernelpca.preimage import as_preimage

    if method not in METHODS:
        raise ValueError(f"--method {method} is none: give {', '.join(METHODS)}.")
    wanted = COMPONENTS if components is None else read_components(components)
    estimator = getattr(kernelpca, METHODS[method])(wanted, center=center)
    given: dict[str, Any] = {
        "kernel": kernel,
        "preimage": preimage,
        "tol": tol,
        "memory_limit": memory,
        "random_state": seed,
    }
    if approximation is not None or size is not None:
        given["approximation"] = as_approximation(approximation or "nystrom")
        if size is not None:
            given["approximation"].set_params(**{SIZES[approximation or "nystrom"]: size})
    given = {name: value for name, value in given.items() if value is not None}
    for text in set_ or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"--set {text}: write name=value, such as --set sparsity=0.6.")
        given[name.strip()] = read_value(value.strip())
    known = estimator.get_params(deep=False)
    for name in given:
        if name.partition("__")[0] not in known:
            raise ValueError(
                f"{type(estimator).__name__} (--method {method}) has no parameter {name!r}; it has "
                f"{', '.join(sorted(known))}."
            )
    for name, understand in (("kernel", as_kernel), ("preimage", as_preimage)):
        if name in given:
            understand(given[name])  # what makes no sense is refused before the data are read
    return estimator.set_params(**given)


def limit_components(
    estimator: Any, shape: tuple[int, ...], components: str | None, size: int | None, set_: list[str] | None
) -> None:
    """Ask for no more components than data of this shape can have, where the user has named no number."""
    given = [text.partition("=")[0].strip() for text in set_ or ()]
    if components is not None or "n_components" in given:
        return
    name, center = type(estimator).__name__, bool(estimator.center)
    rows = shape[0] - (center and name in WITHOUT_ZEROS)
    linear = name == METHODS["pca"] or estimator.get_params(deep=False).get("kernel") == "linear"
    possible = min(rows, shape[1] if linear else rows, rows if size is None else size - center)
    estimator.set_params(n_components=max(min(COMPONENTS, possible), 1))


def read_components(text: str) -> Any:
    """Return the number, the fraction or the rule that a text means; None for all."""
    if text == "all":
        return None
    kind, colon, amount = text.partition(":")
    try:
        if colon:
            return (kind, float(amount))
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError as error:
        raise ValueError(
            f"--components {text}: give a number (10), a fraction of the variance (0.95), relative:1e-3 or all."
        ) from error


def read_value(text: str) -> Any:
    """Return the number, list or truth value that a text is in JSON, or else the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


@with_options_of(make_estimator)
def fit(
    data: Data,
    out: Out,
    columns: Columns = None,
    exclude: Exclude = None,
    key: Key = None,
    header: Header = None,
    drop_missing: DropMissing = False,
    force: Force = False,
    as_json: Json = False,
    **options: Any,
) -> None:
    """Fit a model to the rows of a file, and write it."""
    check_model_output(out, force, data)
    estimator = make_estimator(**options)
    memory = getattr(estimator, "memory_limit", None)
    table, dropped = open_training(data, names_in(columns), names_in(exclude), key, header, drop_missing, memory)
    limit_components(estimator, table.shape, *(options[name] for name in LIMITS))
    check_storable(estimator, table, data)
    began = time.perf_counter()
    model = fitted(estimator, table, fit_callback())
    seconds = time.perf_counter() - began
    model.save(out)
    from kernelpca.cli.info import facts_of, summary
    from kernelpca.memory import readable_bytes

    facts = {"model": str(out), "seconds": round(seconds, 3), **facts_of(model), "rows": table.shape[0]}
    facts |= {"rows_dropped": dropped} if drop_missing else {}
    text = f"{summary(model, table.shape[0])}\n{model.certificate_}\n" if hasattr(model, "certificate_") else ""
    text += f"{dropped} row{'' if dropped == 1 else 's'} dropped, for missing values\n" if drop_missing else ""
    say(
        facts, f"{text}Written: {out} ({readable_bytes(out.stat().st_size)}), after {seconds:.1f} s of fitting", as_json
    )


def check_storable(estimator: Any, table: Any, path: Path) -> None:
    """Refuse a model that would keep all rows of a file that is not loaded, before it is fitted."""
    from kernelpca.features import FeatureMap, as_approximation

    if not table.is_lazy or not hasattr(estimator, "approximation"):
        return
    given = estimator.approximation
    if given is None or not isinstance(as_approximation(given), FeatureMap):
        more = "" if estimator.memory_limit is None else " Or raise --memory."
        raise ValueError(
            f"{path} is too large to be loaded, and an exact model keeps all of its rows. Give --approximation "
            f"nystrom, which keeps some of them, or --method pca or invertible, which keep none.{more}"
        )


def fitted(estimator: Any, table: Any, callback: Any) -> Any:
    """Fit with a bar, which is not part of the model."""
    if callback is None:
        return estimator.fit(table)
    with callback, looking(table, callback.done):
        return estimator.set_params(callback=callback).fit(table).set_params(callback=None)


@with_options_of(make_estimator)
def plan(
    data: Data,
    columns: Columns = None,
    exclude: Exclude = None,
    key: Key = None,
    header: Header = None,
    drop_missing: DropMissing = False,
    as_json: Json = False,
    **options: Any,
) -> None:
    """Say what `fit` would do, how much memory and time it would take, and run nothing."""
    estimator = make_estimator(**options)
    if not hasattr(estimator, "explain_plan"):
        raise ValueError(f"{type(estimator).__name__} has no plan: its fit is one decomposition of a small matrix.")
    memory = getattr(estimator, "memory_limit", None)
    table, _ = open_training(data, names_in(columns), names_in(exclude), key, header, drop_missing, memory)
    limit_components(estimator, table.shape, *(options[name] for name in LIMITS))
    check_storable(estimator, table, data)
    found = estimator.explain_plan(table)
    facts = {
        "rows": table.shape[0],
        "columns": table.shape[1],
        "path": found.path,
        "solver": repr(found.solver),
        "reason": found.reason,
        "predicted_bytes": found.predicted_bytes,
        "memory_limit": found.memory_limit,
        "predicted_seconds": found.predicted_seconds,
        "advice": list(found.advice),
    }
    say(facts, f"{table.shape[0]} rows of {table.shape[1]} numbers: {translate(str(found))}", as_json)
