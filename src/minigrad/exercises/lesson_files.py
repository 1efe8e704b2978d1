"""The notebooks of a student: in the current folder, in folders that were named, in the folders beside."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from minigrad.errors import MissingPath
from minigrad.exercises import syllabus

__all__ = ["DEFAULT", "folder_here", "lessons_beside", "lessons_in", "notebooks_in"]

DEFAULT = "my-notebooks"
"""The folder that `minigrad start` makes where none is named."""


def lessons_in(folder: Path) -> list[Path]:
    """Return the notebooks of lessons in a folder, in the course's order."""
    names = [each["name"] for each in syllabus.course()["lessons"]]
    return [folder / f"{name}.ipynb" for name in names if (folder / f"{name}.ipynb").is_file()]


def folder_here() -> Path:
    """Return the current folder, or the student's folder in it if only that has lessons."""
    return Path(DEFAULT) if lessons_in(Path(DEFAULT)) and not lessons_in(Path()) else Path()


def notebooks_in(paths: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """Return the notebooks that were named, and those in the folders that were named."""
    found: list[Path] = []
    for path in map(Path, paths):
        if not path.exists():
            raise MissingPath(f"use: there is no {str(path)!r}; give a folder with notebooks, or a notebook")
        found += [path] if path.is_file() else sorted(path.glob("*.ipynb"))
    return found


def lessons_beside(folder: Path) -> list[Path]:
    """Return the lessons' notebooks, known by their names, in the folders beside a folder."""
    here = folder.resolve()
    lessons = {exercise.lesson for exercise in syllabus.catalogue().values()}
    found = [path for lesson in sorted(lessons) for path in here.parent.glob(f"*/{lesson}.ipynb")]
    return sorted(path for path in found if path.parent.resolve() != here)  # a link may lead back here
