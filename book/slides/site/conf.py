"""Sphinx's configuration of the decks; `book.slides.making` writes the pages that it reads."""

from importlib.metadata import distribution
from pathlib import Path

import minigrad

project = "minigrad"
author = "The minigrad authors"
version = release = minigrad.__version__
language = "en"

extensions = ["myst_parser", "sphinx.ext.mathjax", "sphinx_revealjs"]
myst_enable_extensions = ["amsmath", "attrs_inline", "dollarmath"]

revealjs_style_theme = "white"
revealjs_css_files = ["slides.css"]
revealjs_static_path = ["static"]
# On a screen of 16:9 a slide has these sizes, and is scaled as a whole.
revealjs_script_conf = {
    "width": 1280,
    "height": 720,
    "margin": 0.05,
    "center": False,
    "hash": True,
    "slideNumber": True,
    "transition": "none",
}

# MathJax comes with a package that carries its files: no page asks the network for it.
_MATHJAX = Path(str(distribution("django-static-mathjax").locate_file("mathjax/static/mathjax/es5/tex-svg-full.js")))
revealjs_static_path.append(str(_MATHJAX))
mathjax_path = _MATHJAX.name
