"""What is wrong with a model file."""

from __future__ import annotations


class ModelFileError(ValueError):
    """A model that cannot be stored, or a file that is no model, damaged, inconsistent or too new."""


def damaged(what: str) -> ModelFileError:
    """Return the error of a file that is not as it was written."""
    return ModelFileError(
        f"{what}. The file is damaged or was changed: copy it again from where it came from, or save the model anew."
    )
