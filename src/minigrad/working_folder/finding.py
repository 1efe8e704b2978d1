"""Where the notebooks are that a command line names, from wherever it is typed."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from minigrad.errors import MissingPath
from minigrad.exercises import syllabus
from minigrad.exercises.lesson_files import FOLDER, folder_here, lessons_beside, lessons_in
from minigrad.tutor.progressing import working_folder


def located(path: Path, command: str) -> Path:
    """Return the file or folder that a path names.

    A lesson that is not at that path, named with or without ``.ipynb`` or by its number, is looked for in the
    current folder and the working folder; in the folders beside this one only if those have no lessons at all.

    Args:
        path: What was typed.
        command: The command it was typed for, for the message.

    Raises:
        MissingPath: If there is nothing; the message names the folder that has lessons, if one has.
    """
    if path.exists():
        return path
    name = path.name.removesuffix(".ipynb")
    lesson = _lesson_meant(name)
    found = [each for each in lessons_around() if each.stem == lesson]
    here = [each for each in _lessons_here() or found if each.stem == lesson]
    if here and path in (Path(name), Path(f"{name}.ipynb")):
        return _from_here(here[0])
    kind = "file " if path.suffix else ""
    raise MissingPath(f"{command}: there is no {kind}{str(path)!r}{_elsewhere(found or lessons_around())}")


def _lesson_meant(name: str) -> str:
    """Return the lesson of that name or number, or the only one whose name begins so; "" for none and for several."""
    lessons = [each["name"] for each in syllabus.course()["lessons"]]
    exact = [each for each in lessons if name in (each, each.partition("_")[0])]
    begun = exact or [each for each in lessons if name and each.startswith(name)]
    return begun[0] if len(begun) == 1 else ""


def _elsewhere(lessons: list[Path]) -> str:
    if not lessons:
        return ""
    place = _from_here(lessons[0])
    return f"; did you mean {place}?" if len(lessons) == 1 else f"; your lessons are in {place.parent}"


def lessons_around() -> list[Path]:
    """Return the student's lessons that can be found from the current folder, the nearest first."""
    beside = sorted(lessons_beside(folder_here()), key=lambda path: not (path.parent / FOLDER).is_dir())
    return list(dict.fromkeys(path.resolve() for path in (*_lessons_here(), *beside)))


def _lessons_here() -> list[Path]:
    """Return the lessons in the current folder and in the working folder."""
    folders = (folder_here(), working_folder())
    return [path.resolve() for each in folders if each is not None for path in lessons_in(each)]


def as_typed(path: Path) -> str:
    """Return a file or folder as it is typed behind a command, in quotes where its name has a space."""
    return shlex.quote(str(_from_here(path)))


def _from_here(path: Path) -> Path:
    """Return a path as it is typed: from the current folder, if that is not longer."""
    try:
        return min((Path(os.path.relpath(path)), path), key=lambda each: len(str(each)))
    except ValueError:  # another drive
        return path
