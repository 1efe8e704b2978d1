"""A student's lines in exported tables of marks, rosters and grading worksheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.gradebook.exporting import defused

PLACES = ("*.csv", "reports/*.csv", "downloaded/*/*.csv")
"""The tables of a course, from its folder."""

_IDS = frozenset(
    {"student_id", "username", "sis login id", "sis user id", "login id", "id number", "email", "email address"}
)
"""Columns that hold a student's id or address, in small letters; "ID" is Canvas's own number, and "id" nbgrader's."""


def without(path: Path, student: str, email: str) -> tuple[bytes, int]:
    """Return a table without a student's lines, and how many those are; all other bytes stay.

    Args:
        path: The file.
        student: nbgrader's student id.
        email: The student's address; empty if it is not known.

    Returns:
        The content and the number of lines left out: 0 where the file is no table with a column of ids.
    """
    content = path.read_bytes()
    try:
        rows = list(_rows(content.decode("utf-8")))
    except (UnicodeDecodeError, csv.Error):
        return content, 0
    head = rows[0][0] if rows else []
    columns = [index for index, name in enumerate(head) if name == "id" or _plain(name) in _IDS]
    own = (student, defused(student))
    left = [
        raw
        for fields, raw in rows
        if not any(field in own or field.casefold() == email.casefold() for field in _some(fields, columns))
    ]
    return "".join(left).encode(), len(rows) - len(left)


def _rows(text: str) -> Iterator[tuple[list[str], str]]:
    """The fields of each line, and the line as it stands; a quoted field may go on in the next line."""
    lines = list(io.StringIO(text, newline=""))
    begin, reader = 0, csv.reader(lines)
    for fields in reader:
        yield fields, "".join(lines[begin : reader.line_num])
        begin = reader.line_num


def _plain(name: str) -> str:
    return name.removeprefix("\ufeff").strip().casefold()


def _some(fields: Sequence[str], columns: Sequence[int]) -> list[str]:
    """The fields of some columns that are not empty."""
    found = (fields[index].strip() for index in columns if index < len(fields))
    return [field for field in found if field]
