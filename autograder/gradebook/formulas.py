"""Formulas of a lesson as MathML, so that Formgrader and feedback pages need no script and no network.

nbconvert leaves TeX in a page for a MathJax that it loads from a CDN; browsers show MathML by themselves.
"""

from __future__ import annotations

import re
from typing import Any

from latex2mathml.converter import convert
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode

__all__ = ["Formulas", "with_mathml"]

_CODE_OR_FORMULA = re.compile(
    r"""
    (?P<code> ^(?P<fence>```+|~~~+) .*? ^(?P=fence) | (?P<ticks>`+) .+? (?P=ticks) )
    | \\\$                                                                # an escaped dollar
    | \$\$ (?P<display> .+? ) \$\$
    | \$ (?P<inline> [^\s$] (?: [^$\n]* [^\s$\\] )? ) \$ (?!\d)           # "$5 and $6" is money
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)

# Markdown would read these inside MathML as emphasis, links or line breaks.
_MARKDOWN = str.maketrans({"*": "&#42;", "_": "&#95;", "[": "&#91;", "`": "&#96;", "\\": "&#92;", "\n": " "})


def with_mathml(markdown: str) -> str:
    """Replace the formulas of a Markdown text by MathML.

    Args:
        markdown: Text with formulas between dollar signs; those in code are left alone.

    Returns:
        The text; a formula that is not valid TeX stays as it is.
    """
    return _CODE_OR_FORMULA.sub(_replacement, markdown)


def _replacement(match: re.Match[str]) -> str:
    display = match["display"] is not None
    formula = match["display"] if display else match["inline"]
    if formula is None:
        return match[0]
    try:
        mathml: str = convert(formula.strip(), display="block" if display else "inline")
    except Exception:  # whatever the converter stumbles over: TeX that is shown as it is still reads
        return match[0]
    return mathml.translate(_MARKDOWN)


class Formulas(Preprocessor):
    """nbconvert's step that puts MathML into the Markdown cells of a page."""

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Return the cell with its formulas as MathML."""
        if cell.cell_type == "markdown":
            cell.source = with_mathml(cell.source)
        return cell, resources
