"""Sphinx's configuration of the book; `book.making` writes the pages that it reads."""

import functools
import gc
import sys
import textwrap
from collections.abc import Mapping
from html import escape
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parent))

from docutils import nodes
from markupsafe import Markup
from sphinx.application import Sphinx

import minigrad

if TYPE_CHECKING:
    from autograder.course import Course

# Sphinx makes many small objects that stay: looking for garbage among them costs a third of the time, and finds little.
gc.set_threshold(2_000_000, 50, 1000)

project = "minigrad"
author = "The minigrad authors"
project_copyright = author
version = release = minigrad.__version__
language = "en"

extensions = [
    "docstrings",
    "myst_nb",
    "sidebar",
    "sphinx_design",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["notebooks"]

myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
myst_links_external_new_tab = False
nb_execution_mode = "off"  # the lessons come executed
nb_merge_streams = True
nb_remove_code_outputs = False

default_role = "code"  # docstrings have single backticks, as Markdown has
autodoc_member_order = "bysource"
autodoc_type_aliases = {"DTypeLike": "numpy.typing.DTypeLike"}  # else its nine alternatives fill each signature
autodoc_typehints_format = "short"
napoleon_numpy_docstring = False
napoleon_custom_sections = ["Source"]
napoleon_use_ivar = True
napoleon_use_rtype = False
# Other libraries' names in signatures: their indexes are not at hand where a page may not ask the network.
nitpick_ignore_regex = [
    (r"py:.*", rf"{library}\..*")
    for library in ("collections", "np", "numpy", "os", "pathlib", "random", "traitlets", "types")
]

html_theme = "furo"
html_title = "minigrad"
_BOOK = Path(__file__).parents[1]
templates_path = ["templates"]
html_static_path = [
    "static",
    str(Path(minigrad.__file__).parent / "widgets" / "widgets.css"),
    # For Python in cells-worker.js.
    *(str(_BOOK / name) for name in ("states.py", "explorers.py", "needed.py", "wording.py")),
]
html_css_files = ["widgets.css", "book.css", "versions.css"]
html_js_files = ["scrolling.js", *((name, {"defer": "defer"}) for name in ("explorers.js", "cells.js", "versions.js"))]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "default"  # of all light styles the one whose every colour can be read
pygments_dark_style = "github-dark"

# MathJax comes with a package that carries its files: no page asks the network for it.
_MATHJAX = Path(str(distribution("django-static-mathjax").locate_file("mathjax/static/mathjax/es5/tex-svg-full.js")))
html_static_path.append(str(_MATHJAX))
mathjax_path = _MATHJAX.name


def setup(app: Sphinx) -> None:
    """Say what browsers and screen readers ask and the theme leaves out, after the theme has said its part."""
    app.connect("html-page-context", _name_language, priority=900)
    app.connect("html-page-context", _level_captions, priority=900)
    app.connect("html-page-context", _describe, priority=900)
    app.connect("config-inited", lambda app, config: config.html_extra_path.append(str(app.srcdir / "extra")))


def _describe(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Say in a page's head what others show beside a link to it: title, first sentence, and a lesson's card."""
    if doctree is None:
        return
    paragraphs = list(doctree.findall(nodes.paragraph))
    of_text = [each for each in paragraphs if isinstance(each.parent, nodes.section)]  # not a lesson's head
    words = " ".join(next((each.astext() for each in of_text or paragraphs), "").split())
    said = {"og:title": Markup(context["title"]).striptags(), "og:type": "article", "og:site_name": project}
    said |= {"og:description": textwrap.shorten(words, 200, placeholder=" ...")}
    card = f"cards/{page.rpartition('/')[2]}.png"
    if (Path(app.srcdir) / "extra" / card).is_file() and "lessons/" in page:
        base = app.config.html_baseurl
        said |= {"og:image": f"{base}{card}" if base else context["pathto"](card, 1)}
        said |= {"og:image:width": "1200", "og:image:height": "630", "og:image:alt": said["og:title"]}
        said |= {"twitter:card": "summary_large_image"}
    context["metatags"] += "".join(f'<meta property="{name}" content="{escape(text)}"/>' for name, text in said.items())


def _level_captions(app: Sphinx, page: str, template: str, context: dict[str, Any], *_: object) -> None:
    tree = str(context.get("furo_navigation_tree", ""))
    context["furo_navigation_tree"] = tree.replace('role="heading"', 'role="heading" aria-level="2"')


def _name_language(app: Sphinx, page: str, template: str, context: dict[str, Any], *_: object) -> None:
    folder = page.partition("/")[0]
    if folder in _course().languages:
        context["language"] = folder.replace("_", "-")
        words = _words(folder)
        context["_"] = context["gettext"] = lambda text: words.get(text, text)


@functools.cache
def _course() -> "Course":
    from autograder.course.loading import DEFAULT_COURSE, load_course

    return load_course(DEFAULT_COURSE, tree=False)


@functools.cache
def _words(language: str) -> Mapping[str, str]:
    """The theme's words in a language, by those that stand in its templates."""
    from autograder.building.translating import translation
    from book.wording import BOXES

    return translation(_course(), language, BOXES)
