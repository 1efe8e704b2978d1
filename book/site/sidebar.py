"""An extension of Sphinx: the list of all pages beside each page, in a fifth of the time.

For each page Sphinx copies the contents of all pages with every heading and every documented name, and then throws away
all but the titles. Here that is thrown away once, so that there is little left to copy; the list is the same.
"""

from __future__ import annotations

import copy
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment.adapters.toctree import global_toctree_for_doc

BEFORE_THE_THEME = 100  # which asks for the list at 500


def setup(app: Sphinx) -> dict[str, bool]:
    """Let pages ask for their list here."""
    app.connect("html-page-context", _list_quickly, priority=BEFORE_THE_THEME)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _list_quickly(app: Sphinx, page: str, template: str, context: dict[str, Any], *_: object) -> None:
    if not hasattr(app, "minigrad_titles"):
        titles = copy.copy(app.env)
        titles.tocs = {name: _titles_only(toc) for name, toc in app.env.tocs.items()}
        app.minigrad_titles = titles  # type: ignore[attr-defined]

    def toctree(**options: Any) -> str:
        tree = global_toctree_for_doc(app.minigrad_titles, page, app.builder, tags=app.tags, **options)  # type: ignore[attr-defined]
        if tree is not None and "_" in page.partition("/")[0]:  # a page of another language, such as "zh_CN"
            _own_first(tree)
        return str(app.builder.render_partial(tree)["fragment"])  # type: ignore[attr-defined]

    context["toctree"] = toctree


def _own_first(tree: nodes.Element) -> None:
    """Put the part that holds the page itself before the others, with its caption."""
    place = next((place for place, part in enumerate(tree.children) if _holds_the_page(part)), None)
    if place is not None:
        begins = place - 1 if place and isinstance(tree.children[place - 1], nodes.title) else place
        own = tree.children[begins : place + 1]
        del tree[begins : place + 1]
        tree[:0] = own


def _holds_the_page(part: nodes.Node) -> bool:
    return isinstance(part, nodes.bullet_list) and any("current" in each["classes"] for each in part.children)


def _titles_only(toc: nodes.bullet_list) -> nodes.bullet_list:
    """Return a page's contents with its title and the pages below it."""
    cut = toc.deepcopy()
    for entry in cut.children:
        if len(entry.children) > 1:
            below = list(entry.findall(addnodes.toctree))
            entry[1:] = [nodes.bullet_list("", *below)] if below else []
    return cut
