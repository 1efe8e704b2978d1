"""Ways through a course that leave something out, as `[path.NAME]` of course.toml describes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autograder.course.tables import DOTTED, LESSON, NAME, Table

if TYPE_CHECKING:
    from autograder.course import Exercise

ALL = "all"
"""The name of the way that leaves nothing out, which no file describes."""


@dataclass(frozen=True)
class PathPart:
    """The part of a path that lies in one lesson.

    Attributes:
        lesson: The lesson.
        exercises: The ids of the exercises that the path asks for.
        sections: Titles of sections to read besides those that hold these exercises.
        week: The week of a term in which it is done; 0 where there are no weeks.
    """

    lesson: str
    exercises: tuple[str, ...]
    sections: tuple[str, ...] = ()
    week: int = 0


@dataclass(frozen=True)
class CoursePath:
    """A way through a course.

    Attributes:
        name: Its name.
        title: The title people read.
        parts: What it asks of each lesson, in the order in which it is done.
    """

    name: str
    title: str
    parts: tuple[PathPart, ...]


def read_paths(top: Table, lessons: Sequence[str], exercises: Sequence[Exercise]) -> dict[str, CoursePath]:
    """Take the paths out of course.toml, by name.

    Args:
        top: The file.
        lessons: The lessons that students get.
        exercises: The course's exercises.

    Raises:
        CourseError: If a path names what is not there, or asks for nothing.
    """
    table = top.table("path", optional=True)
    return {name: _path(name, table, lessons, exercises) for name in table.keys()}  # noqa: SIM118 - a table of the file


def _path(name: str, table: Table, lessons: Sequence[str], exercises: Sequence[Exercise]) -> CoursePath:
    row = table.table(name)
    if name == ALL or not NAME.fullmatch(name):
        raise row.fail(f"is no name for a path; write letters, digits, '_' and '-' only, and not {ALL!r}")
    title = row.text("title")
    rank: str | None = row.take("rank", str, optional=True)
    asked = [each for each in exercises if rank in (None, each.rank)]
    parts: list[PathPart] = []
    for each in row.tables("part"):
        part = _part(each, lessons, asked)
        if part.lesson in (other.lesson for other in parts):
            raise each.fail(f"the lesson {part.lesson!r} has a part already; make the two one")
        if parts and part.week < parts[-1].week:
            raise each.fail(f"'week' is {part.week}, after week {parts[-1].week}; put the parts in order")
        parts.append(part)
    row.close()
    return CoursePath(name, title, tuple(parts))


def _part(row: Table, lessons: Sequence[str], asked: Sequence[Exercise]) -> PathPart:
    lesson = row.name("lesson", LESSON)
    if lesson not in lessons:
        raise row.fail(f"there is no lesson {lesson!r} that students get; correct the name")
    of_lesson = [each.id for each in asked if each.lesson == lesson]
    exercises = row.names("exercises", DOTTED, of_lesson)
    for each in exercises:
        if each not in of_lesson:
            raise row.fail(f"'exercises' names {each!r}, which the path cannot ask for in {lesson!r}; correct the name")
    if not exercises:
        raise row.fail(f"asks for no exercise of {lesson!r}; remove the part, or correct the path's 'rank'")
    sections: list[str] = row.take("sections", list, optional=True) or []
    week: int = row.take("week", int, optional=True) or 0
    row.close()
    return PathPart(lesson, exercises, tuple(map(str, sections)), week)
