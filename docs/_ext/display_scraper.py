"""Pictures of the gallery: every display of `kernelpca.plotting` that an example makes, as it would be saved."""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

from sphinx_gallery.scrapers import figure_rst

from kernelpca.plotting.display import Display

DPI = 200
_SEEN: WeakSet[Display] = WeakSet()


def scrape_displays(block: tuple[Any, ...], block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the displays that a block has made and return the text that shows them."""
    made = {id(value): value for value in block_vars["example_globals"].values() if isinstance(value, Display)}
    new = [display for display in made.values() if display not in _SEEN]
    paths = []
    for display in new:
        _SEEN.add(display)
        path = block_vars["image_path_iterator"].next()
        display.save(path, dpi=DPI)
        paths.append(path)
    return figure_rst(paths, gallery_conf["src_dir"])
