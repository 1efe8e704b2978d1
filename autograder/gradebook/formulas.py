"""Formulas of a lesson as MathML, so that Formgrader and feedback pages need no script and no network.

nbconvert leaves TeX in a page for a MathJax that it loads from a CDN; browsers show MathML by themselves.
"""

from __future__ import annotations

from typing import Any

from latex2mathml.converter import convert
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode

from autograder.common.formulas import with_formulas
from autograder.gradebook.harmless import in_a_moment, kept

# Markdown would read these inside MathML as emphasis, links or line breaks.
_MARKDOWN = str.maketrans({"*": "&#42;", "_": "&#95;", "[": "&#91;", "`": "&#96;", "\\": "&#92;", "\n": " "})


def with_mathml(markdown: str) -> str:
    """Replace the formulas of a Markdown text by MathML.

    Args:
        markdown: Text with formulas between dollar signs; those in code are left alone.

    Returns:
        The text; a formula that is not valid TeX stays as it is.
    """
    return with_formulas(markdown, _drawn)


def _drawn(formula: str, display: bool) -> str | None:
    """A formula as MathML; None if it is not valid TeX."""
    try:
        mathml: str = convert(formula.strip(), display="block" if display else "inline")
    except Exception:  # whatever the converter stumbles over: TeX that is shown as it is still reads
        return None
    return mathml.translate(_MARKDOWN)


@kept
def in_mathml(source: str) -> str:
    """`with_mathml` in bounded time; a text that takes longer stays as it is."""
    return in_a_moment(lambda: with_mathml(source), lambda: source)


class Formulas(Preprocessor):
    """nbconvert's step that puts MathML into the Markdown cells of a page."""

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Return the cell with its formulas as MathML."""
        if cell.cell_type == "markdown":
            cell.source = in_mathml(str(cell.source))
        return cell, resources
