"""Pre-images: the way back from scores to inputs."""

from __future__ import annotations

from typing import Any

from kernelpca.parts import explain_unknown
from kernelpca.preimage.ridge import Ridge

PREIMAGES = {"ridge": Ridge}


def as_preimage(preimage: Any) -> Ridge:
    """Return the pre-image method that a name or an object stands for."""
    if isinstance(preimage, Ridge):
        return preimage
    if isinstance(preimage, str) and preimage in PREIMAGES:
        return PREIMAGES[preimage]()
    raise ValueError(explain_unknown(preimage, "preimage", "kernelpca.preimage", PREIMAGES, {}))


__all__ = ["PREIMAGES", "Ridge", "as_preimage"]
