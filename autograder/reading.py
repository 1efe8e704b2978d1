"""Read a notebook that a student handed in, believing nothing about it.

Only three things are taken from a cell: its text, its grade id and its place. Everything else that a file
can be (a link, a pipe, half a download, a picture, a notebook of another decade) becomes one sentence in
`Unreadable`, or a notebook in today's format.
"""

from __future__ import annotations

import ast
import json
import os
import re
import stat
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = [
    "MAX_BYTES",
    "StudentCell",
    "StudentNotebook",
    "Unreadable",
    "defined_names",
    "definitions_only",
    "exercise_line",
    "helper_names",
    "one_line",
    "parses",
    "read_bytes",
    "read_notebook",
]

MAX_BYTES = 20_000_000
"""Largest notebook that is read; pictures in its outputs count."""

MAX_CELL = 200_000
"""Longest text of a cell, in characters."""

_EXERCISE = re.compile(r"\s*#\s*exercise\s*:\s*([^\s#]+)\s*(?:\n|$)")
_ESCAPE = re.compile(r"^([ \t]*)[%!?].*$", re.MULTILINE)


MAX_CELLS = 2_000
"""Most cells of a notebook that are read; the course's have about a hundred."""

MAX_CODE = 2_000_000
"""Most characters of code that are read of a notebook."""


class Unreadable(Exception):
    """A file that cannot be graded; the message is the sentence for its author."""


@dataclass(frozen=True)
class StudentCell:
    """A cell of a student's notebook.

    Attributes:
        text: Its text.
        code: Whether it is a code cell.
        grade_id: nbgrader's grade id, or the empty string.
        id: The notebook format's cell id, or the empty string.
    """

    text: str
    code: bool
    grade_id: str = ""
    id: str = ""


@dataclass(frozen=True)
class StudentNotebook:
    """A student's notebook: its cells in order, the lesson and release it says it is, and what was repaired."""

    cells: tuple[StudentCell, ...]
    lesson: str = ""
    stamp: str = ""
    notes: tuple[str, ...] = ()


def one_line(name: str) -> str:
    """A file's name without what would steer a terminal, break a line or fit into no file."""
    return " ".join("".join(each if each.isprintable() else " " for each in name).split())


def read_bytes(path: Path, limit: int = MAX_BYTES) -> bytes:
    """Read a regular file of bounded size, without following a link or waiting for a pipe.

    Raises:
        Unreadable: If it is anything else.
    """
    name = one_line(path.name)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if path.is_symlink():
            raise Unreadable(f"{name} is a link, not a file; hand in the file itself") from error
        raise Unreadable(f"{name} cannot be opened ({error.strerror})") from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable(f"{name} is not a regular file; hand in the notebook itself")
        if status.st_size > limit:
            raise Unreadable(_too_large(name, status.st_size, limit))
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(limit + 1)
    finally:
        os.close(descriptor)
    if len(data) > limit:  # it grew while it was read
        raise Unreadable(_too_large(name, len(data), limit))
    return data


def _too_large(name: str, size: int, limit: int) -> str:
    return (
        f"{name} has {size / 1e6:.1f} MB; at most {limit / 1e6:g} MB are read: clear the outputs and hand it in again"
    )


def read_notebook(data: bytes) -> StudentNotebook:
    """Read a notebook of any format that Jupyter knows.

    Raises:
        Unreadable: If it is not a notebook.
    """
    document = _document(data)
    notes: list[str] = []
    major = document.get("nbformat")
    if not isinstance(major, int) or isinstance(major, bool):
        raise Unreadable("the file is JSON but not a notebook: it does not say which nbformat it is")
    if major > 4:
        raise Unreadable(f"the notebook has nbformat {major}, which is newer than 4; save it as 4")
    if major < 4:
        document = _upgrade(document, major)
        notes.append(f"the notebook had the old format {major}; it was read as format 4")
    raw = document.get("cells")
    if not isinstance(raw, list):
        raise Unreadable("the file is JSON but not a notebook: it has no list of cells")
    cells = tuple(_cells(raw, notes))
    return StudentNotebook(cells, _said(document, "lesson"), _said(document, "stamp"), tuple(notes))


def _document(data: bytes) -> dict[str, Any]:
    if len(data) > MAX_BYTES:
        raise Unreadable(_too_large("the notebook", len(data), MAX_BYTES))
    if not data.strip():
        raise Unreadable("the file is empty")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable("the file is not text in UTF-8, so it is not a notebook") from error
    try:
        document = json.loads(text)
    except RecursionError as error:
        raise Unreadable("the file nests too deeply to be a notebook") from error
    except ValueError as error:
        raise Unreadable(_not_json(text, error)) from error
    if not isinstance(document, dict):
        raise Unreadable("the file is JSON but not a notebook")
    return document


def _not_json(text: str, error: ValueError) -> str:
    """Say whether the file is cut off, half merged, or no notebook at all."""
    if "<<<<<<<" in text and ">>>>>>>" in text:
        return "the notebook holds conflict marks of git (<<<<<<<); resolve them and hand it in again"
    at_end = getattr(error, "pos", 0) >= len(text.rstrip()) - 1 or "Unterminated" in str(error)
    if text.lstrip().startswith("{") and at_end:
        return "the notebook ends in the middle: it was cut off while it was saved or sent"
    line = getattr(error, "lineno", None)
    where = f" (line {line})" if line else ""
    return f"the file is not a notebook: it is not JSON{where}"


def _upgrade(document: dict[str, Any], major: int) -> dict[str, Any]:
    import nbformat

    try:
        upgraded = nbformat.convert(nbformat.from_dict({"nbformat_minor": 0, **document}), 4)
        return dict(upgraded)
    except Exception as error:  # whatever a malformed notebook makes the converter raise
        raise Unreadable(
            f"the notebook has the old format {major} and cannot be converted; save it in JupyterLab"
        ) from error


def _cells(raw: list[object], notes: list[str]) -> Iterator[StudentCell]:
    broken, room, crowded = 0, MAX_CODE, False
    if len(raw) > MAX_CELLS:
        notes.append(f"the notebook has {len(raw):,} cells; the first {MAX_CELLS:,} cells were read")
    for item in raw[:MAX_CELLS]:
        cell = _cell(item)
        if cell is None:
            broken += 1
            continue
        if len(cell.text) > MAX_CELL:
            notes.append(f"a cell of {len(cell.text)} characters was ignored; at most {MAX_CELL} are read")
            continue
        if cell.code and len(cell.text) > room:  # smaller ones that follow may still fit
            crowded = True
            continue
        room -= len(cell.text) if cell.code else 0
        yield cell
    if crowded:
        notes.append(f"the notebook has more than {MAX_CODE:,} characters of code; the cells beyond were not read")
    if broken:
        notes.append(f"{broken} malformed cell{'s' if broken > 1 else ''} could not be read")


def _cell(item: object) -> StudentCell | None:
    if not isinstance(item, Mapping):
        return None
    source = item.get("source", item.get("input", ""))
    if isinstance(source, list) and all(isinstance(part, str) for part in source):
        source = "".join(source)
    if not isinstance(source, str):
        return None
    metadata = item.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, Mapping) else None
    grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, Mapping) else None
    cell_id = item.get("id")
    return StudentCell(
        # Half of a surrogate pair is legal in JSON but in no file and no source.
        text=source.encode("utf-8", "replace").decode("utf-8").replace("\r\n", "\n"),
        code=item.get("cell_type") == "code",
        grade_id=grade_id if isinstance(grade_id, str) else "",
        id=cell_id if isinstance(cell_id, str) else "",
    )


def _said(document: Mapping[str, Any], key: str) -> str:
    """What the notebook says about itself."""
    metadata = document.get("metadata")
    minigrad = metadata.get("minigrad") if isinstance(metadata, Mapping) else None
    value = minigrad.get(key) if isinstance(minigrad, Mapping) else None
    return value if isinstance(value, str) else ""


def exercise_line(text: str) -> str | None:
    """The exercise that a cell's first line names, or None."""
    match = _EXERCISE.match(text)
    return match[1] if match else None


def _parse(text: str) -> ast.Module | None:
    """The syntax tree, or None if there is none; lines of IPython's own language count as `pass`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for attempt in (text, _ESCAPE.sub(r"\1pass", text)):
            try:
                return ast.parse(attempt)
            # Hostile nesting ends in one of the last two, long before the stack does.
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
    return None


def parses(text: str) -> bool:
    """Whether the text is Python (or IPython)."""
    return _parse(text) is not None


def defined_names(text: str) -> set[str]:
    """Names that a text binds at its top level by def, class or assignment."""
    tree = _parse(text)
    names: set[str] = set()
    for node in tree.body if tree else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        else:
            names.update(_assigned(node))
    return names


def _assigned(node: ast.stmt) -> Iterator[str]:
    """Names that a statement binds by assignment, also several at once."""
    targets: list[ast.expr] = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        targets = [node.target]
    for target in targets:
        # What is read in a target, as in `table[index] = 1`, is bound elsewhere.
        yield from (n.id for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def _is_lambda(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Lambda)


def definitions_only(text: str) -> str:
    """The text with its top-level functions, classes and imports alone; what is left keeps its line numbers."""
    tree, lines = _parse(text), text.split("\n")
    kept: set[int] = set()
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom
    for node in tree.body if tree else ():
        if isinstance(node, kinds) or _is_lambda(node):
            first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
            kept.update(range(first, (node.end_lineno or first) + 1))
    return "\n".join(line if number in kept else "" for number, line in enumerate(lines, start=1))


def helper_names(text: str) -> set[str]:
    """Names of functions, classes, imports and what is assigned: what other cells may need from this one."""
    tree = _parse(text)
    names: set[str] = set()
    for node in tree.body if tree else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        else:
            names.update(_assigned(node))
    return names
