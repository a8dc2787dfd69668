"""How the documentation is built: `python -m sphinx -W --keep-going -b html docs build/docs`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
os.environ.setdefault("KERNELPCA_OFFLINE", "1")  # a build never downloads

import kernelpca  # noqa: E402

project = "kernelpca"
author = "The kernelpca developers"
project_copyright = author
version = release = kernelpca.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "plain_docstrings",
    "own_members",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_ext", "gallery/GALLERY_HEADER.rst", "gallery/*.ipynb", "gallery/*.py"]
default_role = "py:obj"  # `KernelPCA` in a docstring is a link where there is something to link to
smartquotes_action = "D"  # dashes alone: default="rbf" can be copied
toc_object_entries_show_parents = "hide"
maximum_signature_line_length = 100

# pages in Markdown
myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
myst_dmath_double_inline = True

# formulas, without a script or a network
html_math_renderer = "mathml"
math_eqref_format = "({number})"

# reference, from docstrings
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_class_signature = "mixed"
autosummary_generate = False
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

# gallery
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("display_scraper.scrape_displays", "matplotlib"),
    "capture_repr": (),
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "download_all_examples": False,
    "show_signature": False,
    "plot_gallery": "True",
}

# look
html_theme = "furo"
html_title = f"kernelpca {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
pygments_style = "tango"
pygments_dark_style = "monokai"
