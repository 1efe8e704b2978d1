"""The lessons' prose in other languages, from gettext catalogues in `course/locale`.

`course/locale/zh_CN/LC_MESSAGES/03_backprop.po` gives each paragraph of the lesson 03_backprop its Chinese. A paragraph
is what stands between empty lines of a Markdown cell; code, formulas in a paragraph of their own, and bare HTML are the
same in every language. A paragraph without a translation stays English in a notebook; `make book` and the tests refuse
it.
"""

from __future__ import annotations

import copy
import datetime as dt
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from babel.core import UnknownLocaleError
from babel.messages.catalog import Catalog
from babel.messages.pofile import PoFileError, read_po, write_po

from autograder.building.headers import without_numbers
from autograder.building.notebooks import Notebook
from autograder.building.questions import ASKS, is_answer
from autograder.building.slicing import without_markers
from autograder.common.files import write
from autograder.course import Course, CourseError

Translate = Callable[[str], str]
"""Returns a Markdown text in another language."""

_FENCE = re.compile(r"^(```+|~~~+|\$\$)")
_LAYOUT = re.compile(r":{3,}\{(?:div|grid)\}[^\n]*(?:\n:[\w-]+:[^\n]*)*")
"""The opening of a box that has no title."""

_SAME = re.compile(r"```.+?```|`[^`]+`|\$\$.+?\$\$|\$[^$]+\$|<[a-zA-Z/!][^>]*>|\]\([^)]+\)", re.DOTALL)
"""Code, formulas, HTML, and the targets of links: a translation keeps them letter by letter."""

_BEGUN = dt.datetime(2026, 11, 25, tzinfo=dt.UTC)
"""The date in every catalogue, always the same: git tells when a catalogue was written."""


def catalogue_path(course: Course, language: str, page: str) -> Path:
    """Return the place of a page's catalogue."""
    return course.directory / "locale" / language / "LC_MESSAGES" / f"{page}.po"


def paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a Markdown text; a fenced block is one, with its empty lines."""
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if fence:
            fence = "" if line.rstrip().endswith(fence) else fence
        elif found and not (found[1] == "$$" and line.rstrip().endswith("$$") and len(line.rstrip()) > 2):
            fence = found[1]
        if line.strip() or fence:
            lines.append(line)
        elif lines:
            yield "\n".join(lines)
            lines = []
    if lines:
        yield "\n".join(lines)


def prose_of(notebook: Notebook) -> dict[str, None]:
    """Return the paragraphs of a source notebook that need a translation, in order, model answers included."""
    texts = [_said(cell.source) if is_answer(cell) else _asked(cell.source) for cell in _prose_cells(notebook)]
    if any(cell.source.startswith(ASKS) for cell in notebook.cells):
        texts.append(ASKS)
    return dict.fromkeys(without_numbers(each)[0] for text in texts for each in paragraphs(text) if _is_prose(each))


def translation(course: Course, language: str, page: str) -> dict[str, str]:
    """Return the translated paragraphs of a page by their originals; none if it has no catalogue.

    Raises:
        CourseError: If the catalogue cannot be read.
    """
    found = (message for message in _read(course, language, page) if message.id and not message.fuzzy)
    return {str(message.id): str(message.string) for message in found if message.string}


def translate_with(known: Mapping[str, str]) -> Translate:
    """Return a function that translates a Markdown text, and leaves what it does not know."""

    def translated_paragraph(paragraph: str) -> str:
        sentence, numbers = without_numbers(paragraph)
        other = known.get(sentence, sentence)
        return other.format(**numbers) if numbers else other

    return lambda text: "\n\n".join(map(translated_paragraph, paragraphs(text)))


def translated(notebook: Notebook, language: str, translate: Translate) -> Notebook:
    """Return a student's notebook with its prose in another language; ids, code and answers stay."""
    other = copy.deepcopy(notebook)
    other.metadata["minigrad"]["language"] = language
    for cell in _prose_cells(other):
        if cell.source.startswith(ASKS):
            cell.source = f"{translate(ASKS)} {translate(_asked(cell.source))}"
        elif not is_answer(cell):
            cell.source = translate(cell.source)
    return other


def faults(prose: Iterable[str], known: Mapping[str, str]) -> list[str]:
    """Return what is wrong with a translation, a sentence for each fault.

    Args:
        prose: The paragraphs that need a translation.
        known: The translated ones.
    """
    wanted = list(prose)
    missing = [f"is not translated: {_begin(each)}" for each in wanted if each not in known]
    stale = [f"is not said any more: {_begin(each)}" for each in known if each not in set(wanted)]
    return missing + stale + [fault for each in wanted if each in known for fault in _differences(each, known[each])]


def update(course: Course, language: str, page: str, prose: Iterable[str]) -> bool:
    """Bring a catalogue up to date: new paragraphs come in, those that are gone go.

    A paragraph that was only reworded gets the old translation, marked as fuzzy: it counts when somebody has read it
    and taken the mark away.

    Returns:
        Whether the catalogue changed.

    Raises:
        CourseError: If the catalogue cannot be read, or there is no such language.
    """
    template = Catalog(
        header_comment=f"# The prose of {page}: `python -m book translate {language}` keeps this file up to date.",
        project="minigrad",
        version=course.version,
        msgid_bugs_address="",
        creation_date=_BEGUN,
        revision_date=_BEGUN,
        last_translator="",
        language_team="",
    )
    for text in prose:
        template.add(text)
    catalogue = _read(course, language, page)
    catalogue.update(template, update_header_comment=True)
    catalogue.obsolete.clear()
    catalogue.revision_date, catalogue.msgid_bugs_address = _BEGUN, ""
    buffer = io.BytesIO()
    write_po(buffer, catalogue, width=0)
    return write(catalogue_path(course, language, page), buffer.getvalue().decode())


def _read(course: Course, language: str, page: str) -> Catalog:
    path = catalogue_path(course, language, page)
    text = path.read_bytes() if path.is_file() else b""
    try:
        return read_po(io.BytesIO(text), locale=language, abort_invalid=True)
    except (PoFileError, UnicodeDecodeError) as error:
        raise CourseError(f"{path.name}: is not a gettext catalogue ({error}); correct it") from error
    except (UnknownLocaleError, ValueError) as error:
        raise CourseError(f"locale/{language}: there is no such language; name the folder as zh_CN or de") from error


def _prose_cells(notebook: Notebook) -> list[Notebook]:
    return [cell for cell in notebook.cells if cell.cell_type == "markdown"]


def _said(answer: str) -> str:
    """The model answer in a cell, without its heading."""
    return without_markers(answer.partition("\n")[2])


def _asked(text: str) -> str:
    """A cell's text, of a question without its first word."""
    return text.removeprefix(f"{ASKS} ")


def _is_prose(paragraph: str) -> bool:
    if _FENCE.match(paragraph) or _LAYOUT.fullmatch(paragraph):
        return False
    return re.search(r"[A-Za-z]{2}", _SAME.sub("", paragraph)) is not None


def _differences(original: str, other: str) -> Iterator[str]:
    """Yield how a translation differs where all languages are the same."""
    here, there = (Counter(" ".join(each.split()) for each in _SAME.findall(text)) for text in (original, other))
    if here != there:
        lost, new = list((here - there).elements()), list((there - here).elements())
        yield f"has other code, formulas or links (lost {lost}, new {new}): {_begin(original)}"
    for mark in ("# ", "> ", "- "):
        if original.startswith(mark) != other.startswith(mark):
            yield f"begins with {mark!r} in one language only: {_begin(original)}"
    if original.count("\n|") != other.count("\n|"):
        yield f"has another number of rows: {_begin(original)}"


def _begin(text: str) -> str:
    first = " ".join(text.split())
    return repr(first if len(first) <= 60 else f"{first[:57]}...")
