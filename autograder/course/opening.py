"""A check before a run that a course's files can be worked with."""

from __future__ import annotations

import os
from pathlib import Path

from autograder.course import CourseError


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
