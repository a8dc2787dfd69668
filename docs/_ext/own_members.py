"""The reference lists what is ours: what estimators inherit from scikit-learn is documented there."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx


def skip_others(app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out members that scikit-learn has defined."""
    module = getattr(obj, "__module__", None) or ""
    return True if module.startswith("sklearn.") else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Listen to every member that is about to be documented."""
    app.connect("autodoc-skip-member", skip_others)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
