"""The files that `autograder new course` lays out: a course of one exercise that can be built and graded at once.

Its answers stand in its lesson, so that it needs no package. An author replaces the exercise, and adds others. The
texts of the files stand in `first_course.toml`.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from autograder.common.files import write
from autograder.course import CourseError
from autograder.course.tables import NAME


def lay_out_course(folder: Path) -> list[Path]:
    """Write a course of one exercise into an empty folder, or a new one; it is named after the folder.

    Returns:
        The files.

    Raises:
        CourseError: If the folder is not empty, or its name cannot be a course's.
    """
    name = folder.resolve().name
    if not NAME.fullmatch(name):
        raise CourseError(f"{folder}: a course is named after its folder; use letters, digits, '_' and '-' only")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CourseError(f"{folder}: is there already, and not empty; name a new folder")
    texts = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    for each, text in texts.items():
        write(folder / each, text.replace("<<name>>", name))
    return [folder / each for each in texts]
