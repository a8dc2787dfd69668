"""Whether what a file holds is a model, judged object by object as soon as the parts of each are there.

Rules know classes by their names in files only.
"""

from __future__ import annotations

from typing import Any

from kernelpca.persistence.estimator_rules import ESTIMATORS
from kernelpca.persistence.part_rules import PARTS

RULES = PARTS | ESTIMATORS


def check(name: str, instance: Any) -> None:
    """Refuse an instance that cannot be, or cannot be used."""
    if name in RULES:
        RULES[name](instance)
