"""The book in other languages: lessons, front page and terms, with their prose from `course/locale`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from autograder.building.notebooks import Notebook
from autograder.building.sentences import faults_of_sentences, sentences
from autograder.building.translating import (
    Translate,
    catalogue_path,
    faults,
    paragraphs,
    prose_of,
    translate_with,
    translation,
    update,
)
from autograder.course import Course, CourseError
from book.course_facts import Facts
from book.executing import BookError
from book.front import front_page
from book.lessons import lesson_page, number_of
from book.lite.notebooks import address_of
from book.markdown import joined
from book.places import ROOT
from book.wording import BOXES, Said, say_with

# After autograder's: it spares jsonschema an import of a second.
import nbformat  # isort: skip

__all__ = ["pages_in_other_languages", "prose_of_pages", "translate"]

PAGES = ROOT / "book" / "pages"
TRANSLATED = ("index", "terms")
"""The pages of the book that are translated, beside the lessons."""

_LABEL = re.compile(r"\A\([\w-]+\)=\n")

SHOWN = 5
"""How many faults of a catalogue are told at once."""


def prose_of_pages(facts: Facts) -> Mapping[str, list[str]]:
    """Return the paragraphs of each page that need a translation, and the titles of boxes, by catalogue."""
    lessons = {name: list(prose_of(built.source)) for name, built in facts.lessons.items()}
    pages = {name: list(prose_of(_as_notebook(_text(name)))) for name in TRANSLATED}
    return lessons | pages | {BOXES: [str(each) for each in Said]}


def translate(
    facts: Facts, language: str, pages: Sequence[str] | None = None, tell: Callable[[str], None] = print
) -> bool:
    """Bring the catalogues of a language up to date, and tell what is missing.

    Args:
        facts: The course.
        language: The language, such as "zh_CN".
        pages: Names of pages; by default all.
        tell: Is told of each catalogue that changed or has a fault.

    Returns:
        Whether nothing is missing.

    Raises:
        CourseError: If there is no such page or language, or a catalogue cannot be read.
    """
    whole = True
    said = sentences(facts.course)
    known = {**prose_of_pages(facts), **said}
    for page in pages or known:
        if page not in known:
            raise CourseError(f"there is no page {page!r} to translate; choose some of: {', '.join(known)}")
        prose = known[page]
        changed = update(facts.course, language, page, prose)
        there = translation(facts.course, language, page)
        found = (faults_of_sentences if page in said else faults)(prose, there)
        if changed or found:
            share = f"{len(there)} of {len(prose)}, " if page in said else ""
            tell(f"{catalogue_path(facts.course, language, page).name}: {share}{_counted(found)}")
        for fault in found:
            tell(f"  {fault}")
        whole = whole and not found
    return whole


def pages_in_other_languages(
    facts: Facts, executed: Mapping[str, Notebook], run: str = ""
) -> Iterator[tuple[str, bytes]]:
    """Yield every page of the book's other languages, by its place.

    Args:
        facts: The course.
        executed: The executed notebooks, by the lessons' names.
        run: The folder of the site in which lessons run; empty if there is none.

    Raises:
        BookError: If a translation is incomplete or stale.
    """
    prose = prose_of_pages(facts)
    for language in facts.course.languages:
        known = {page: _complete(facts.course, language, page, prose[page]) for page in prose}
        yield f"{language}/index.md", _front_page(facts, known).encode()
        yield f"{language}/terms.md", translate_with(known["terms"])(_text("terms")).encode()
        say = say_with(known[BOXES])
        for name, notebook in executed.items():
            here = address_of(name, f"../../{run}/", language) if run else ""
            page = lesson_page(facts, facts.lessons[name], notebook, say, here)
            other = _lesson(page, language, translate_with(known[name]))
            yield f"{language}/lessons/{name}.ipynb", nbformat.writes(other).encode()
            download = ROOT / "notebooks" / language / f"{name}.ipynb"
            yield f"notebooks/{language}/{name}.ipynb", download.read_bytes()


def _complete(course: Course, language: str, page: str, prose: list[str]) -> Mapping[str, str]:
    known = translation(course, language, page)
    found = faults(prose, known)
    if found:
        first = "; ".join(found[:SHOWN])
        raise BookError(
            f"{catalogue_path(course, language, page)}: {_counted(found)}: {first}; "
            f"`python -m book translate {language}` brings it up to date and lists the rest"
        )
    return known


def _lesson(page: Notebook, language: str, translate: Translate) -> Notebook:
    """Translate the prose of a page. The labels of its boxes are those of the English page."""
    for cell in page.cells:
        if cell.cell_type == "markdown":
            cell.source = translate(_LABEL.sub("", cell.source)).replace("</notebooks/", f"</notebooks/{language}/")
    return page


def _front_page(facts: Facts, known: Mapping[str, Mapping[str, str]]) -> str:
    text = translate_with(known["index"])(_text("index"))
    titles = {name: translate_with(known[name])(f"# {built.title}")[2:] for name, built in facts.lessons.items()}
    lessons = (f"{number_of(name)} {title} <lessons/{name}>" for name, title in titles.items())
    listed = "\n".join(["```{toctree}", ":maxdepth: 1", "", "terms", *lessons, "```"])
    return joined([*(each for each in paragraphs(text) if not each.startswith("```{toctree}")), listed])


def _text(page: str) -> str:
    return front_page() if page == "index" else (PAGES / f"{page}.md").read_text(encoding="utf-8")


def _as_notebook(text: str) -> Notebook:
    cell = nbformat.v4.new_markdown_cell(text)
    notebook: Notebook = nbformat.v4.new_notebook(cells=[cell])
    return notebook


def _counted(found: list[str]) -> str:
    return "1 fault" if len(found) == 1 else f"{len(found)} faults"
