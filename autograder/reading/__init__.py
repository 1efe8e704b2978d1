"""Read a notebook that a student handed in, believing nothing about it.

Only three things are taken from a cell: its text, its grade id and its place. Everything else that a file
can be (a link, a pipe, half a download, a picture, a notebook of another decade) becomes one sentence in
`Unreadable`, or a notebook in today's format.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from autograder.common.effort import Effort
from autograder.common.marker import exercise_of
from autograder.common.unforeseen import unforeseen
from autograder.course.tables import LANGUAGE
from autograder.reading.damaged import decode, has_marks, sides, whole_cells
from autograder.reading.exports import is_archive, is_page, is_script, page_cells, script_cells
from autograder.reading.student_files import MAX_BYTES, MAX_CODE, Unreadable, too_large

MAX_CELL = 50_000
"""Longest text of a code cell, in characters: more than a thousand lines."""

MAX_WORDS = 200_000
"""Longest text of another cell, in characters; of a written answer less is taken, and that is said."""

MAX_CELLS = 2_000
"""Most cells of a notebook that are read; the course's have about a hundred."""

EFFORT = 10.0
"""Processor time for reading one notebook, and for grafting it, in seconds; the largest that is whole takes one."""

_TOO_MUCH = f"the file is no notebook as Jupyter saves it: it took more than {EFFORT:g} s of processor time to read"
_FENCE = re.compile(r"\s*```[^\n]*\n(.*)\n[ \t]*```\s*", re.DOTALL)


_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]*={0,2}")
_MAX_ATTACHMENTS = 20


@dataclass(frozen=True)
class Attachment:
    """A picture that is embedded in a Markdown cell; `data` is base64, and empty if it is not one that is kept."""

    name: str
    mime: str
    data: str


@dataclass(frozen=True)
class StudentCell:
    """A cell of a student's notebook.

    Attributes:
        text: Its text.
        code: Whether it is a code cell.
        grade_id: nbgrader's grade id, or the empty string.
        id: The notebook format's cell id, or the empty string.
        side: 1 or 2 for a cell of only one of the versions that git could not merge; else 0.
        damage: Why its text could not be read; empty where it could.
        attachments: The pictures embedded in a Markdown cell.
    """

    text: str
    code: bool
    grade_id: str = ""
    id: str = ""
    side: int = 0
    damage: str = ""
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True)
class StudentNotebook:
    """A student's notebook: its cells in order, what it says of itself, and what was repaired."""

    cells: tuple[StudentCell, ...]
    lesson: str = ""
    stamp: str = ""
    notes: tuple[str, ...] = ()
    language: str = ""


def read_notebook(data: bytes) -> StudentNotebook:
    """Read a notebook of any format that Jupyter knows, or what is left of one.

    Raises:
        Unreadable: If it is not a notebook.
    """
    if len(data) > MAX_BYTES:
        raise Unreadable(too_large("the notebook", len(data), MAX_BYTES))
    if not data.strip():
        raise Unreadable("the file is empty")
    if is_archive(data):
        raise Unreadable("the file is a zip archive, not a notebook; unpack it and hand in the notebook")
    try:
        with Effort(EFFORT, lambda: Unreadable(_TOO_MUCH)).spent():
            return _read(data)
    except Unreadable:
        raise
    except Exception as error:
        raise Unreadable(unforeseen("this file", error)) from error


def _read(data: bytes) -> StudentNotebook:
    text, strange = decode(data)
    notes = [strange] if strange else []
    try:
        document = _document(text)
    except Unreadable as error:
        notebook = _rescued(text, str(error))
        if notebook is None and strange and "not JSON" in str(error):
            raise Unreadable("the file is not text in UTF-8, so it is not a notebook") from error
        if notebook is None:
            raise
        return replace(notebook, notes=(*notes, *notebook.notes))
    return _notebook(document, notes)


def _document(text: str) -> dict[str, Any]:
    """The notebook that a text is, in format 4.

    Raises:
        Unreadable: If it is none.
    """
    try:
        document = json.loads(text)
    except RecursionError as error:
        raise Unreadable("the file nests too deeply to be a notebook") from error
    except ValueError as error:
        raise Unreadable(_not_json(text, error)) from error
    if not isinstance(document, dict):
        raise Unreadable("the file is JSON but not a notebook")
    major = document.get("nbformat")
    if not isinstance(document.get("cells"), list) and isinstance(document.get("worksheets"), list):
        major = major if major in (1, 2) else 3
    if not isinstance(major, int) or isinstance(major, bool):
        raise Unreadable("the file is JSON but not a notebook: it does not say which nbformat it is")
    if major > 4:
        raise Unreadable(f"the notebook has nbformat {major}, which is newer than 4; save it as 4")
    if major < 4:
        document = {**_upgraded(document, major), "read as": major}
    if not isinstance(document.get("cells"), list):
        raise Unreadable("the file is JSON but not a notebook: it has no list of cells")
    return document


def _notebook(document: Mapping[str, Any], notes: list[str]) -> StudentNotebook:
    if "read as" in document:
        notes.append(f"the notebook had the old format {document['read as']}; it was read as format 4")
    cells = tuple(_cells(document["cells"], notes))
    lesson, stamp, language = (_said(document, key) for key in ("lesson", "stamp", "language"))
    return StudentNotebook(cells, lesson, stamp, tuple(notes), language if LANGUAGE.fullmatch(language) else "")


def _not_json(text: str, error: ValueError) -> str:
    """Say whether the file is cut off, half merged, or no notebook at all."""
    if has_marks(text):
        return "the notebook holds conflict marks of git (<<<<<<<); resolve them and hand it in again"
    at_end = getattr(error, "pos", 0) >= len(text.rstrip()) - 1 or "Unterminated" in str(error)
    if text.lstrip().startswith("{") and at_end:
        return "the notebook ends in the middle: it was cut off while it was saved or sent"
    line = getattr(error, "lineno", None)
    where = f" (line {line})" if line else ""
    page = "a web page and " if is_page(text) else ""
    return f"the file is not a notebook: it is {page}not JSON{where}"


def _upgraded(document: dict[str, Any], major: int) -> dict[str, Any]:
    import nbformat

    try:
        upgraded = nbformat.convert(nbformat.from_dict({"metadata": {}, **document, "nbformat": major}), 4)
        return dict(upgraded)
    except Exception as error:  # whatever a malformed notebook makes the converter raise
        raise Unreadable(
            f"the notebook has the old format {major} and cannot be converted; save it in JupyterLab"
        ) from error


def _rescued(text: str, reason: str) -> StudentNotebook | None:
    """Return the readable part of a text that is no notebook as it stands, or None."""
    if is_page(text):
        return _exported(page_cells(text), "the file was a web page made of a notebook; its code cells were read")
    if is_script(text):
        return _exported(script_cells(text), "the file was a Python script, not a notebook; its cells were read")
    versions = sides(text) if has_marks(text) else None
    if versions is not None:
        return _merged(*versions)
    notes: list[str] = []
    cells = tuple(_cells(whole_cells(text), notes))
    if not cells:
        return None
    count = "1 whole cell" if len(cells) == 1 else f"{len(cells)} whole cells"
    return StudentNotebook(cells, notes=(f"{reason}; {count} could be read", *notes))


def _exported(texts: list[str], note: str) -> StudentNotebook | None:
    notes = [note]
    raw = [{"cell_type": "code", "source": text} for text in texts]
    cells = tuple(_cells(raw, notes))
    return StudentNotebook(cells, notes=tuple(notes)) if cells else None


def _merged(ours: str, theirs: str) -> StudentNotebook | None:
    """Both versions of a notebook as one: what only one of them has is marked as that side's."""
    note = "the notebook held conflict marks of git; what both versions have in common was read"
    first, second = _version(ours), _version(theirs)
    if first is None or second is None:
        found = first or second
        return found and replace(found, notes=(f"{note.partition(';')[0]}; one version was read", *found.notes))
    cells = tuple(_both(first.cells, second.cells))
    notes = (note, *first.notes, *second.notes)
    return StudentNotebook(cells, first.lesson, first.stamp or second.stamp, notes, first.language)


def _version(text: str) -> StudentNotebook | None:
    try:
        return _notebook(_document(text), [])
    except Unreadable as error:
        return None if has_marks(text) else _rescued(text, str(error))


def _both(ours: tuple[StudentCell, ...], theirs: tuple[StudentCell, ...]) -> Iterator[StudentCell]:
    """The cells of two versions: those in common once, the others of the second after what they followed."""

    def key(cell: StudentCell) -> StudentCell:
        return replace(cell, id="")

    left = Counter(key(cell) for cell in ours)
    following: dict[int, list[StudentCell]] = {}
    common = 0
    for cell in theirs:
        if left[key(cell)] > 0:
            left[key(cell)] -= 1
            common += 1
        else:
            following.setdefault(common, []).append(replace(cell, side=2))
    shared = Counter(key(cell) for cell in ours) - left
    common = 0
    yield from following.get(0, ())
    for cell in ours:
        if shared[key(cell)] > 0:
            shared[key(cell)] -= 1
            common += 1
            yield cell
            yield from following.get(common, ())
        else:
            yield replace(cell, side=1)


def _cells(raw: list[Any], notes: list[str]) -> Iterator[StudentCell]:
    broken, room, crowded = 0, MAX_CODE, False
    if len(raw) > MAX_CELLS:
        notes.append(f"the notebook has {len(raw):,} cells; the first {MAX_CELLS:,} cells were read")
    for item in raw[:MAX_CELLS]:
        cell = _cell(item)
        if cell is None or cell.damage:
            broken += 1
            if cell is None:
                continue
        most = MAX_CELL if cell.code else MAX_WORDS
        if len(cell.text) > most:
            notes.append(f"a cell of {len(cell.text)} characters was ignored; at most {most} are read")
            cell = replace(cell, text="", damage=f"its cell has more than {most:,} characters")
        if cell.code and len(cell.text) > room:  # smaller ones that follow may still fit
            crowded = True
            continue
        room -= len(cell.text) if cell.code else 0
        yield from _versions(cell)
    if crowded:
        notes.append(f"the notebook has more than {MAX_CODE:,} characters of code; the cells beyond were not read")
    if broken:
        notes.append(f"{broken} malformed cell{'s' if broken > 1 else ''} could not be read")


def _versions(cell: StudentCell) -> Iterator[StudentCell]:
    """The cell, or its two versions if it holds git's conflict marks."""
    versions = sides(cell.text) if has_marks(cell.text) else None
    if versions is None:
        yield cell
    else:
        yield replace(cell, text=versions[0], side=1)
        yield replace(cell, text=versions[1], side=2)


def _cell(item: object) -> StudentCell | None:
    if not isinstance(item, Mapping):
        return None
    kind, source = item.get("cell_type"), _source(item)
    metadata = item.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, Mapping) else None
    grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, Mapping) else None
    cell_id = item.get("id")
    code = kind == "code" or (kind not in ("markdown", "raw") and ("outputs" in item or "execution_count" in item))
    text = "" if source is None else _plain(source)
    fence = None if code else _FENCE.fullmatch(text)
    return StudentCell(
        text=fence[1] if fence and exercise_of(fence[1]) else text,
        code=code,
        grade_id=grade_id if isinstance(grade_id, str) else "",
        id=cell_id if isinstance(cell_id, str) else "",
        damage="its cell holds something other than text" if source is None else "",
        attachments=() if code else tuple(_attachments(item.get("attachments"))),
    )


def _attachments(raw: object) -> Iterator[Attachment]:
    """The pictures of a cell, by name."""
    for name, kinds in list(raw.items())[:_MAX_ATTACHMENTS] if isinstance(raw, Mapping) else ():
        if not isinstance(name, str) or not isinstance(kinds, Mapping):
            continue
        mime = next((kind for kind in _PICTURES if kind in kinds), "")
        data = kinds.get(mime, "")
        good = isinstance(data, str) and _BASE64.fullmatch(data.rstrip()) is not None
        yield Attachment(_plain(name), mime, data if good else "")


def _source(item: Mapping[Any, Any]) -> str | None:
    """A cell's text; None if it is none. Jupyter keeps a list of lines with their ends, some programs without."""
    source = item.get("source", item.get("input", ""))
    if isinstance(source, list) and all(isinstance(part, str) for part in source):
        ended = any(part.endswith(("\n", "\r")) for part in source)
        return ("" if ended else "\n").join(source)
    return source if isinstance(source, str) else None


def _plain(text: str) -> str:
    """A text with Unix line ends and without what no file can hold: half of a surrogate pair is legal in JSON."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return whole.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _said(document: Mapping[str, Any], key: str) -> str:
    """The notebook's metadata about itself."""
    metadata = document.get("metadata")
    minigrad = metadata.get("minigrad") if isinstance(metadata, Mapping) else None
    value = minigrad.get(key) if isinstance(minigrad, Mapping) else None
    return value if isinstance(value, str) else ""
