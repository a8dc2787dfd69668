"""A page about one model and one data set: what it is, how good it is, and what it does to the rows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np

from kernelpca.pages import figures
from kernelpca.pages.chosen import Chosen, Labels, check_model, choose, choose_labels
from kernelpca.pages.display import Display, display_of
from kernelpca.pages.explained import (
    code_for,
    commands_for,
    facts_of_certificate,
    facts_of_model,
    tell_plan,
)
from kernelpca.pages.extremes import list_columns, show_extremes
from kernelpca.pages.model_kernels import kernels_of, name_kernels
from kernelpca.pages.page import render
from kernelpca.pages.quality import ALONE, MEAN, Reconstruction, bring_back, cut, unwarned
from kernelpca.persistence.provenance import provenance_of
from kernelpca.plotting import ResidualsDisplay
from kernelpca.plotting.fitted import Fitted
from kernelpca.plotting.thumbnails import UNRELIABLE
from kernelpca.progress import Done, Parts

EXTRA = "pages"  # brings jinja2
STRANGEST = 20  # outliers that are listed
PARTS = 8  # of the work, of which `done` is told, beside rows that are brought back
EXCERPT = 90  # letters of a text that are shown


def report(
    model: Any,
    X: Any,
    *,
    labels: Any = None,
    image_shape: Any = None,
    kind: str = "auto",
    title: str | None = None,
    max_rows: int = 5000,
    done: Done | None = None,
) -> str:
    """Return a page of HTML about a model and a data set: one file that needs no server and no network.

    It tells what the model is, how it was fitted and how exact it is (plan and certificate), and shows the spectrum, a
    map of the scores, how well rows come back beside the mean and linear PCA, the rows that come back best and worst,
    outliers, and code to use the model.

    Parameters
    ----------
    model : estimator
        A fitted estimator of kernelpca: `KernelPCA` of any kind, `InvertibleKernelPCA`, `RobustKernelPCA`,
        `SparseKernelPCA`, `IncrementalKernelPCA`, `PCA`, or the drop-in class. Sections that need a way back say so
        where the model has none.
    X : array-like of shape (n, d), data frame, Table, Dask collection, or list of str
        Rows to report on, with the columns that the model was fitted on: the training rows, or better others.
    labels : array-like of shape (n,), optional
        Classes or numbers that rows are colored by.
    image_shape : tuple, optional
        (height, width) or (height, width, 3) of rows that are images.
    kind : {"auto", "image", "signal", "table"}, default="auto"
        What rows are. "auto" takes them for images where `image_shape` is given, for tables where there are names or at
        most 40 columns, and for signals otherwise.
    title : str, optional
        Heading of the page.
    max_rows : int, default=5000
        Most rows that are looked at; of more, so many are taken, spread evenly. Pre-images are found for 500 of them,
        or fewer where rows are long. The page says so.
    done : callable, optional
        Called as done(parts, all_parts) when a part of the work is finished, to show or log how far it has come.

    Returns
    -------
    page : str
        The HTML text.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernelpca import KernelPCA
    >>> from kernelpca.pages import report
    >>> iris = load_iris()
    >>> model = KernelPCA(n_components=3).fit(iris.data)
    >>> page = report(model, iris.data, labels=iris.target_names[iris.target])
    >>> page.startswith("<!doctype html>")
    True
    """
    check_model(model, "report")
    fitted = Fitted(model)
    if not fitted.n_components:
        raise ValueError("This model has no components, so there is nothing to report: fit with n_components >= 1.")
    with unwarned():
        chosen = choose(model, X, max_rows)
        known = choose_labels(labels, chosen)
        display = _display(chosen, kind, image_shape)
        pieces = 0 if chosen.rows is None else 2 * len(cut(fitted.last, chosen.rows))
        part = Parts(done, PARTS + pieces)
        Z = part(fitted.scores(chosen.given).astype(np.float64))
        found, no_way_back = _bring_back(fitted, chosen, Z, part)
        part.reach(1 + pieces)
        strange, no_residuals = part(_residuals(fitted, chosen))
        heading = f"{fitted.name} of {chosen.total} rows" if title is None else str(title)
        return render(
            "model_report.html",
            EXTRA,
            title=heading,
            about=_about(fitted, chosen, display, found, strange),
            facts=facts_of_model(fitted, chosen),
            plan=tell_plan(model),
            certificate=getattr(model, "certificate_", None),
            certified=facts_of_certificate(model.certificate_) if hasattr(model, "certificate_") else [],
            spectrum=part(figures.draw_spectrum(fitted)),
            map=part(figures.draw_map(fitted, Z, known, chosen)),
            pictured=part(figures.draw_thumbnails(fitted, Z, chosen, display) if display and found else None),
            quality=part(_quality(fitted, found, strange, Z) if found else None),
            no_way_back=no_way_back,
            samples=part(show_extremes(found, chosen, display, known) if found and display else None),
            columns=list_columns(found, display) if found and display and display.kind == "table" else None,
            outliers=part(_outliers(strange, chosen, known, display) if strange else None),
            no_residuals=no_residuals,
            code=code_for(fitted, found is not None, strange is not None),
            commands=commands_for(found is not None, strange is not None) if chosen.rows is not None else "",
            versions=provenance_of(model)["versions"],
            made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        )


def _display(chosen: Chosen, kind: str, image_shape: Any) -> Display | None:
    """Decide how rows are shown; None where they are no dense rows of numbers."""
    if chosen.rows is not None:
        return display_of(chosen.rows, kind, image_shape, chosen.names)
    if image_shape is not None or kind != "auto":
        raise ValueError(
            f"kind={kind!r} and image_shape={image_shape!r} are for dense rows of numbers, and X holds {chosen.what}: "
            "leave both out."
        )
    return None


def _bring_back(fitted: Fitted, chosen: Chosen, Z: np.ndarray, part: Parts) -> tuple[Reconstruction | None, str]:
    """Return what came back, or why nothing does."""
    if chosen.rows is None:
        return None, f"X holds {chosen.what}, and a way back leads to dense rows of numbers."
    try:
        return bring_back(fitted, chosen.rows, Z, part), ""
    except (TypeError, ValueError) as error:
        return None, str(error)


def _residuals(fitted: Fitted, chosen: Chosen) -> tuple[ResidualsDisplay | None, str]:
    """Return distances from the subspace, or why they are not known."""
    if hasattr(fitted.last, "score_samples"):
        numbers = chosen.numbers
        return ResidualsDisplay.from_estimator(fitted.last, chosen.given, row_names=numbers, width=figures.WIDTH), ""
    if not kernels_of(fitted.last) or chosen.what == "rows of a kernel matrix":
        return None, "The model was fitted on a kernel matrix, which does not tell k(x, x) of other rows."
    return None, f"{fitted.name} has no score_samples, as scikit-learn's has none: use kernelpca.KernelPCA."


def _about(
    fitted: Fitted,
    chosen: Chosen,
    display: Display | None,
    found: Reconstruction | None,
    strange: ResidualsDisplay | None,
) -> dict[str, Any]:
    """Return what the head of the page says."""
    return {
        "estimator": fitted.name,
        "kernel": name_kernels(fitted.last),
        "components": fitted.n_components,
        "kept": None if fitted.ratio is None else float(fitted.ratio.sum()),
        "whole": fitted.whole,
        "used": len(chosen.numbers),
        "total": chosen.total,
        "columns": None if chosen.rows is None else chosen.rows.shape[1],
        "what": chosen.what
        or {"image": "images", "signal": "signals", "table": "rows"}[display.kind if display else ""],
        "brought": 0 if found is None else len(found.places),
        "lost": None if found is None else found.lost(found.errors.get(ALONE, found.own)),
        "outliers": None if strange is None else int(strange.outliers.sum()),
    }


def _quality(fitted: Fitted, found: Reconstruction, strange: ResidualsDisplay | None, Z: np.ndarray) -> dict[str, Any]:
    """Return errors in input space and in feature space, as tables and figures."""
    in_input = [
        {
            "name": name,
            "mean": float(errors.mean()),
            "root": float(np.sqrt(errors.mean() / found.rows.shape[1])),
            "most": float(np.quantile(found.root(errors), 0.95)),
            "lost": found.lost(errors),
        }
        for name, errors in found.errors.items()
    ]
    curves: dict[str, np.ndarray] = {}
    if strange is not None and kernels_of(fitted.last):
        left_out = strange.residuals[found.places]
        signs = np.sign(fitted.eigenvalues)
        middle = "the mean" if fitted.centered else "the origin (nothing was centered)"
        curves["left out by the components"] = left_out
        if found.feature is not None and np.isfinite(found.feature).any():  # indefinite kernels have no distances
            curves["from the projection to what came back"] = found.feature
        curves[f"from {middle}"] = left_out + np.square(Z[found.places]) @ signs
    means = {name: float(np.nanmean(values)) for name, values in curves.items()}
    whole = list(means.values())[-1] if means else 0.0
    in_feature = [
        {"name": name, "mean": mean, "part": mean / whole if whole > 0 else None} for name, mean in means.items()
    ]
    low = [int((found.reliability < limit).sum()) for limit in (UNRELIABLE, 0.1)]
    return {
        "method": found.method,
        "notes": found.notes,
        "unfinished": found.unfinished,
        "input": in_input,
        "null": MEAN,
        "input_figure": figures.draw_errors(found),
        "feature": in_feature,
        "feature_figure": figures.draw_feature_errors(curves, fitted.centered) if curves else None,
        "reliability": {"median": float(np.median(found.reliability)), "least": float(found.reliability.min())},
        "low": low,
        "reliability_figure": figures.draw_reliability(found, fitted.centered),
    }


def _outliers(
    found: ResidualsDisplay, chosen: Chosen, labels: Labels | None, display: Display | None
) -> dict[str, Any]:
    """Return the rows that lie farthest from the subspace."""
    order = np.argsort(-found.residuals, kind="stable")[:STRANGEST]
    texts = chosen.texts()
    pictures: list[str] = []
    if display is not None and display.kind == "image" and chosen.rows is not None:
        look = figures.look_of(chosen.rows)
        pictures = figures.picture_addresses(figures.as_pictures(chosen.rows[order], display), look)
    rows = [
        {
            "number": int(chosen.numbers[i]),
            "label": None if labels is None else labels.texts[i],
            "text": None if texts is None else texts[i][:EXCERPT] + ("…" if len(texts[i]) > EXCERPT else ""),
            "residual": float(found.residuals[i]),
            "times": float(found.residuals[i] / found.threshold) if found.threshold > 0 else None,
            "distance": float(found.distances[i]),
            "outlier": bool(found.outliers[i]),
            "picture": pictures[place] if pictures else None,
        }
        for place, i in enumerate(order)
    ]
    return {
        "rows": rows,
        "count": int(found.outliers.sum()),
        "of": len(found.residuals),
        "threshold": found.threshold,
        "rule": found.rule,
        "middle": found.middle_name,
        "unit": found.unit,
        "figure": figures.draw_outliers(found),
        "labeled": labels is not None,
        "texts": texts is not None,
        "pictures": bool(pictures),
    }
