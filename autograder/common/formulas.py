"""Formulas of a Markdown text, each written in another way: as MathML for a page, as plain text for a terminal."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable

MAX_FORMULA = 2_000
"""Characters of the longest formula that is drawn; a longer one stays as it is."""

# Where something begins that has to be understood, and where that ends.
_BEGINS = re.compile(r"^(?:`{3,}|~{3,})|`+|\\\$|\$\$?", re.MULTILINE)
_TICKS = re.compile(r"`+")
_DOLLAR_OR_END = re.compile(r"\$|\n|\Z")


def with_formulas(markdown: str, draw: Callable[[str, bool], str | None]) -> str:
    """Replace the formulas of a Markdown text, in time that is linear in the text's length.

    Args:
        markdown: Text with formulas between dollar signs; those in code are left alone.
        draw: Writes a formula, and is told whether it stands in a line of its own; where it returns None, the formula
            stays as it is.
    """
    parts, at = list[str](), 0
    ends = _Ends(markdown)
    while (found := _BEGINS.search(markdown, at)) is not None:
        begin, mark = found.span()[0], found[0]
        end, formula = ends.of(mark, *found.span())
        inside = slice(*formula) if formula and formula[1] - formula[0] <= MAX_FORMULA else None
        drawn = draw(markdown[inside], mark == "$$") if inside else None
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
