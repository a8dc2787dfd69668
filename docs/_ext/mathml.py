"""Formulas as MathML, which every current browser draws by itself: no script, no network, no pictures of text."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

LOGGER = logging.getLogger(__name__)


def visit_math(writer: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    writer.body.append(writer.starttag(node, "span", "", CLASS="math notranslate nohighlight"))
    writer.body.append(f"{translate(node, block=False)}</span>")
    raise nodes.SkipNode


def visit_display_math(writer: Any, node: nodes.math_block) -> None:
    """Write a formula of its own, with its number where it has one."""
    writer.body.append(writer.starttag(node, "div", "", CLASS="math notranslate nohighlight"))
    if node["number"]:
        writer.body.append(f'<span class="eqno">({get_node_equation_number(writer, node)})')
        writer.add_permalink_ref(node, "Link to this equation")
        writer.body.append("</span>")
    writer.body.append(f"{translate(node, block=True)}</div>\n")
    raise nodes.SkipNode


def translate(node: nodes.Element, block: bool) -> str:
    """Return a formula in MathML; one that cannot be read is a warning, and with that an error of the build."""
    try:
        return str(tex2mathml(node.astext(), as_block=block))
    except MathError as error:
        LOGGER.warning("formula cannot be read: %s (%s)", node.astext(), error, location=node)
        return f"<code>{node.astext()}</code>"


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer under the name "mathml"."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_display_math, None))  # type: ignore[arg-type]
    return {"parallel_read_safe": True, "parallel_write_safe": True}
