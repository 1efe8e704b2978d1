"""Formulas of a lesson as MathML, so that Formgrader and feedback pages need no script and no network.

nbconvert leaves TeX in a page for a MathJax that it loads from a CDN; browsers show MathML by themselves.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from typing import Any

from latex2mathml.converter import convert
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode

from autograder.gradebook.harmless import in_a_moment

__all__ = ["MAX_FORMULA", "Formulas", "with_mathml"]

MAX_FORMULA = 2_000
"""Characters of the longest formula that is drawn; a longer one stays as it is."""

# Where something begins that has to be understood, and where that ends.
_BEGINS = re.compile(r"^(?:`{3,}|~{3,})|`+|\\\$|\$\$?", re.MULTILINE)
_TICKS = re.compile(r"`+")
_DOLLAR_OR_END = re.compile(r"\$|\n|\Z")

# Markdown would read these inside MathML as emphasis, links or line breaks.
_MARKDOWN = str.maketrans({"*": "&#42;", "_": "&#95;", "[": "&#91;", "`": "&#96;", "\\": "&#92;", "\n": " "})


def with_mathml(markdown: str) -> str:
    """Replace the formulas of a Markdown text by MathML, in time that is linear in the text's length.

    Args:
        markdown: Text with formulas between dollar signs; those in code are left alone.

    Returns:
        The text; a formula that is not valid TeX stays as it is.
    """
    parts, at = list[str](), 0
    ends = _Ends(markdown)
    while (found := _BEGINS.search(markdown, at)) is not None:
        begin, mark = found.span()[0], found[0]
        end, formula = ends.of(mark, *found.span())
        drawn = _drawn(markdown[slice(*formula)], display=mark == "$$") if formula else None
        parts += [markdown[at:begin], markdown[begin:end] if drawn is None else drawn]
        at = end
    return "".join([*parts, markdown[at:]])


class _Ends:
    """The ends of code and formulas of a text; each character is looked at a few times at most."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._displays_end = text.rfind("$$")
        self._runs: dict[int, list[int]] = defaultdict(list)  # where runs of so many backticks stand
        for run in _TICKS.finditer(text):
            self._runs[len(run[0])].append(run.start())

    def of(self, mark: str, begin: int, end: int) -> tuple[int, tuple[int, int] | None]:
        """Return the end of what a mark begins, and the place of its formula; the mark's own end if it is a sign."""
        if mark[:3] in ("```", "~~~") and self._text[begin - 1 : begin] in ("", "\n"):
            closing = self._text.find(f"\n{mark}", end)
            return (len(self._text) if closing < 0 else closing + 1 + len(mark)), None
        if mark[0] == "`":
            runs = self._runs[len(mark)]
            following = bisect_left(runs, end)
            return (runs[following] + len(mark) if following < len(runs) else end), None
        if mark == "$$" and self._displays_end > end:
            closing = self._text.index("$$", end + 1)
            return closing + 2, (end, closing)
        if mark == "$":
            return self._of_inline(end)
        return end, None

    def _of_inline(self, begin: int) -> tuple[int, tuple[int, int] | None]:
        """A formula in a line: no white space inside of its dollar signs, no digit after it: "$5 and $6" is money."""
        closing = _DOLLAR_OR_END.search(self._text, begin)
        assert closing is not None, "every text has an end"
        inner = self._text[begin : closing.start()]
        after = self._text[closing.end() : closing.end() + 1]
        if closing[0] != "$" or not inner or inner[0].isspace() or inner[-1].isspace() or inner[-1] == "\\":
            return begin, None
        return (begin, None) if after.isdigit() else (closing.end(), (begin, closing.start()))


def _drawn(formula: str, *, display: bool) -> str | None:
    """A formula as MathML; None if it is too long or not valid TeX."""
    if len(formula) > MAX_FORMULA:
        return None
    try:
        mathml: str = convert(formula.strip(), display="block" if display else "inline")
    except Exception:  # whatever the converter stumbles over: TeX that is shown as it is still reads
        return None
    return mathml.translate(_MARKDOWN)


class Formulas(Preprocessor):
    """nbconvert's step that puts MathML into the Markdown cells of a page."""

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Return the cell with its formulas as MathML."""
        if cell.cell_type == "markdown":
            source = str(cell.source)
            cell.source = in_a_moment(lambda: with_mathml(source), lambda: source)
        return cell, resources
