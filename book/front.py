"""The front page: what the course is, shown by what its own lessons draw and print.

`book/pages/index.md` has the words. A comment `<!-- 07_parallel_cpu: draw.races(report) -->` stands for what the first
cell of that lesson with this code shows, and `<!-- README: Beside other courses -->` for the README's table of that
section. A link to `lesson:00_fundamentals` leads to where that lesson runs, or, in a site that runs none, to its page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import Any

from autograder.building.notebooks import Notebook
from book.executing import BookError
from book.explorers import explorer
from book.lite.notebooks import address_of
from book.places import ROOT
from book.states import EXPLORER

__all__ = ["front_page", "with_lessons"]

_SECTION = re.compile(r"^<!-- README: (.+) -->$", re.MULTILINE)
_LESSON = re.compile(r'href="lesson:(\w+)"')
_OUTPUT = re.compile(r"^<!-- (\w+): (.+) -->$", re.MULTILINE)


def front_page() -> str:
    """Return the words of the front page, with the README's table, and places for what lessons show."""
    text = (ROOT / "book" / "pages" / "index.md").read_text(encoding="utf-8")
    return _SECTION.sub(lambda found: _table(found[1]), text)


def _table(section: str) -> str:
    """The table in a section of the README."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    _, found, rest = readme.partition(f"\n## {section}\n")
    rows = [line for line in rest.partition("\n## ")[0].split("\n") if line.startswith("|")]
    if not found or not rows:
        raise BookError(f"book/pages/index.md: README.md has no table under {section!r}")
    return "\n".join(rows)


def with_lessons(text: str, executed: Mapping[str, Notebook], run: str, language: str = "") -> str:
    """Put what cells of lessons show in the place of the comments that name them, and let links lead to lessons.

    Args:
        text: The front page.
        executed: The executed notebooks, by the lessons' names.
        run: The address of the site in which lessons run, from this page on; empty if there is none.
        language: The page's language; English if empty.

    Raises:
        BookError: If no cell of that lesson shows anything.
    """
    text = _OUTPUT.sub(lambda found: _shown(executed, found[1], found[2]), text)
    return _LESSON.sub(
        lambda found: f'href="{(run and address_of(found[1], run, language)) or f"lessons/{found[1]}.html"}"', text
    )


def _shown(executed: Mapping[str, Notebook], lesson: str, code: str) -> str:
    there = executed[lesson].cells if lesson in executed else ()
    cells = (cell for cell in there if cell.cell_type == "code" and code in cell.source)
    outputs = next((cell.get("outputs", ()) for cell in cells), ())
    shown = "".join(map(_html, outputs))
    if not shown:
        raise BookError(f"book/pages/index.md: no cell of {lesson} with {code!r} shows anything")
    return f"```{{raw}} html\n{shown}\n```"


def _html(output: Any) -> str:
    """An output as HTML; nothing of one that is neither a drawing nor HTML nor printed."""
    data = output.get("data", {})
    if EXPLORER in data:
        return explorer(data[EXPLORER])
    if found := data.get("image/svg+xml") or data.get("text/html"):
        return "".join(found)  # a notebook may keep a text as its lines
    return f"<pre>{escape(''.join(output.text))}</pre>" if output.get("text") else ""
