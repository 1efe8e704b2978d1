"""The notebooks of a student: in the current folder, in folders that were named, in the folders beside."""

from __future__ import annotations

import itertools
import os
import shlex
from collections.abc import Iterable
from pathlib import Path

from minigrad.errors import MissingPath
from minigrad.exercises import syllabus

FOLDER = ".minigrad"
"""What makes a folder a working folder: `minigrad start` puts it there."""

PROGRESS = "progress.json"
"""The file in it that keeps what was checked."""

DEFAULT = "my-notebooks"
"""The folder that `minigrad start` makes where none is named."""


def lessons_in(folder: Path) -> list[Path]:
    """Return the notebooks of lessons in a folder, in the course's order."""
    names = [each["name"] for each in syllabus.course()["lessons"]]
    return [folder / f"{name}.ipynb" for name in names if (folder / f"{name}.ipynb").is_file()]


def working_folders_in(folder: Path) -> list[Path]:
    """Return the working folders in a folder, whatever they are called: the one that was used last comes first.

    One in which nothing was ever checked comes behind those in which something was, however new it is.
    """
    found = [path for path in folder.glob(f"*/{FOLDER}") if path.is_dir()]
    return [path.parent for path in sorted(found, key=_last_use, reverse=True)]


def working_folder(start: Path | None = None) -> Path | None:
    """Return the working folder that a folder is, or holds, or lies in; None if there is none.

    Of several in a folder it is the one that was used last.
    """
    here = (start or Path.cwd()).resolve()
    if (here / FOLDER).is_dir():
        return here
    around = (each for each in here.parents if (each / FOLDER).is_dir())
    return next(itertools.chain(working_folders_in(here), around), None)


def _last_use(folder: Path) -> tuple[int, int]:
    progress = folder / PROGRESS
    return progress.stat().st_mtime_ns if progress.is_file() else 0, folder.stat().st_mtime_ns


def folder_here() -> Path:
    """Return the current folder, or the student's folder in it if that has lessons and the current one has none."""
    below = [] if lessons_in(Path()) else [*working_folders_in(Path()), Path(DEFAULT)]
    return next((each for each in below if lessons_in(each)), Path())


def fresh_copy(notebook: Path) -> str:
    """Return how to get a lesson's notebook anew; the empty string for a notebook that is no lesson.

    >>> from pathlib import Path
    >>> from minigrad.exercises.lesson_files import fresh_copy
    >>> fresh_copy(Path("work/03_backprop.ipynb"))
    'move it away, then `minigrad start work` gives a fresh copy'
    """
    if notebook.stem not in [each["name"] for each in syllabus.course()["lessons"]]:
        return ""
    return f"move it away, then `minigrad start {shlex.quote(str(notebook.parent))}` gives a fresh copy"


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
    return [path for path in lessons_below(here.parent) if path.parent.resolve() != here]  # a link may lead back here


def lessons_below(folder: Path) -> list[Path]:
    """Return the lessons' notebooks, known by their names, in the folders of a folder: fetched assignments lie so."""
    lessons = {exercise.lesson for exercise in syllabus.catalogue().values()}
    return sorted(path for lesson in lessons for path in folder.glob(f"*/{lesson}.ipynb"))
