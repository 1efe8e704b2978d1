"""Checks before a run that a course's files can be worked with."""

from __future__ import annotations

import os
from pathlib import Path

from autograder.course import CourseError

__all__ = ["refuse_a_damaged_gradebook", "refuse_a_read_only_course"]

_SQLITE = "sqlite:///"
_MAGIC = b"SQLite format 3\0"


def refuse_a_damaged_gradebook(url: str) -> None:
    """Refuse a gradebook that is none; a file that is not there yet, or is empty, becomes one.

    Raises:
        CourseError: If the file is a folder, or not SQLite's.
    """
    path = Path(url.removeprefix(_SQLITE))
    if not url.startswith(_SQLITE) or not path.exists():
        return
    try:
        with path.open("rb") as file:
            first = file.read(len(_MAGIC))
    except OSError as error:
        what = "it is a folder" if path.is_dir() else error.strerror
        raise CourseError(f"{path}: is no gradebook ({what}); restore it from a copy") from error
    if first not in (b"", _MAGIC):
        raise CourseError(f"{path}: is no gradebook; restore it from a copy")


def refuse_a_read_only_course(root: Path) -> None:
    """Refuse a course into which nothing can be written.

    Raises:
        CourseError: If that is so.
    """
    folders = [root, *(root / name for name in ("submitted", "autograded", ".grades") if (root / name).is_dir())]
    for folder in folders:
        if not os.access(folder, os.W_OK):
            raise CourseError(
                f"{folder}: cannot be written to, and marks are kept there; make it writable or copy the course"
            )
