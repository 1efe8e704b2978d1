"""Paths through the course, of which a working folder may follow one: `minigrad start --path weekend`.

Of a lesson a path asks for some exercises and leaves others out. The folder remembers its path in
`.minigrad/path.txt`; without that file all exercises are asked for.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from minigrad.errors import MinigradError
from minigrad.exercises import syllabus
from minigrad.exercises.lesson_files import FOLDER, working_folder
from minigrad.machine.files import write

ALL = "all"
"""The name of the way that leaves nothing out."""

FILE = "path.txt"


@dataclass(frozen=True)
class PathPart:
    """The part of a path that lies in one lesson.

    Attributes:
        lesson: The lesson.
        exercises: The ids of the exercises that the path asks for.
        minutes: They and what is to be read for them.
        sections: Sections to read besides those that hold the exercises.
        week: The week of a term in which it is done; 0 where there are no weeks.
    """

    lesson: str
    exercises: tuple[str, ...]
    minutes: int
    sections: tuple[str, ...] = ()
    week: int = 0


@dataclass(frozen=True)
class CoursePath:
    """A way through the course.

    Attributes:
        name: Its name.
        title: The title people read.
        parts: What it asks of each lesson, in the order in which it is done.
    """

    name: str
    title: str
    parts: tuple[PathPart, ...]

    @property
    def exercises(self) -> tuple[str, ...]:
        """The ids of the exercises that it asks for, in its order."""
        return tuple(id for part in self.parts for id in part.exercises)

    @property
    def lessons(self) -> tuple[str, ...]:
        """The lessons from which it asks for exercises, in its order."""
        return tuple(dict.fromkeys(part.lesson for part in self.parts))

    @property
    def which_lessons(self) -> str:
        """Which lessons belong to it and which do not, in two sentences, by their numbers."""
        others = [each["name"] for each in syllabus.course()["lessons"] if each["name"] not in self.lessons]
        its, rest = (", ".join(name.partition("_")[0] for name in names) for names in (self.lessons, others))
        said = f"Its {'lessons' if self.lessons[1:] else 'lesson'}: {its}."
        return f"{said} Not on it: {rest}." if rest else said

    @property
    def minutes(self) -> int:
        """The minutes that it takes, with reading."""
        return sum(part.minutes for part in self.parts)


@cache
def paths() -> Mapping[str, CoursePath]:
    """Return the course's paths by name.

    >>> from minigrad.exercises.paths import paths
    >>> len(paths()["weekend"].exercises)
    27
    """
    return {each["name"]: _path(each) for each in syllabus.course().get("paths", ())}


def _path(each: Mapping[str, Any]) -> CoursePath:
    parts = [
        PathPart(
            part["lesson"],
            tuple(part["exercises"]),
            part["minutes"],
            tuple(part.get("sections", ())),
            part.get("week", 0),
        )
        for part in each["parts"]
    ]
    return CoursePath(each["name"], each["title"], tuple(parts))


def named(name: str) -> CoursePath | None:
    """Return the path of a name; None for "all", which leaves nothing out.

    Raises:
        MinigradError: If there is no such path.
    """
    if name not in (ALL, *paths()):
        raise MinigradError(f"start: there is no path {name!r}; choose one of: {', '.join((*paths(), ALL))}")
    return paths().get(name)


def choose(folder: Path, path: CoursePath | None) -> None:
    """Let a working folder follow a path from now on; None leaves nothing out."""
    file = folder / FOLDER / FILE
    if path is None:
        file.unlink(missing_ok=True)
    else:
        write(file, f"{path.name}\n".encode())


def chosen(start: Path | None = None) -> CoursePath | None:
    """Return the path that a working folder follows; None where none leaves anything out, and for a grader.

    Args:
        start: The folder to look for the working folder from. By default the current one.
    """
    folder = working_folder(start)
    if folder is None or os.environ.get("MINIGRAD_SANDBOX"):
        return None
    try:
        name = (folder / FOLDER / FILE).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return paths().get(name)
