"""How long a lesson takes: what there is to read, counted, and the exercises, as course.toml estimates them.

A reader takes in 130 words or 8 lines of code in a minute, and half a minute to run an example and look at what it
shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from autograder.building.headers import is_header
from autograder.building.notebooks import Cell, Notebook, text_cell
from autograder.course import Course, CourseError
from autograder.course.paths import PathPart

WORDS, LINES, EXAMPLES = 130, 8, 2.4
"""Words, lines of code, and examples run, in a minute."""

ROUNDED = 5
"""Minutes of a lesson are a multiple of this: nobody knows them better."""

HEAD = ""
"""The title under which the text above the first section is kept."""

_SECTION = re.compile(r"^(?=## )", re.MULTILINE)


def lesson_minutes(course: Course, lesson: str, source: Notebook) -> int:
    """Return the minutes of a lesson with all its exercises; 0 if the course does not say how long these take."""
    told = all(each.minutes for each in course.of_lesson(lesson))
    return _rounded(minutes_of(course, source.cells)) if told else 0


def part_minutes(course: Course, part: PathPart, source: Notebook) -> int:
    """Return the minutes of what a path asks of a lesson.

    To read are the text above the first section, the sections that hold the exercises, and those that the path names;
    or the whole lesson, where all of its exercises are asked for.

    Raises:
        CourseError: If the path names a section that the lesson does not have.
    """
    of_lesson = [each.id for each in course.of_lesson(part.lesson)]
    if set(part.exercises) == set(of_lesson):
        return lesson_minutes(course, part.lesson, source)
    sections = sections_of(source)
    for title in part.sections:
        if title not in sections:
            raise CourseError(
                f"{course.path.name}: a path names the section {title!r}, which lesson {part.lesson!r} does not have; "
                "correct the title"
            )
    solutions = {course.exercise(each).solution_id for each in part.exercises}
    read = [
        cell
        for title, cells in sections.items()
        if title in (HEAD, *part.sections) or any(_grade_id(cell) in solutions for cell in cells)
        for cell in cells
    ]
    return _rounded(reading_minutes(read) + sum(course.exercise(each).minutes for each in part.exercises))


def minutes_of(course: Course, cells: Sequence[Cell]) -> float:
    """Return the minutes of some cells of a source notebook, exercises among them."""
    ids = {_grade_id(cell) for cell in cells}
    return reading_minutes(cells) + sum(each.minutes for each in course.released if each.solution_id in ids)


def sections_of(source: Notebook) -> dict[str, list[Cell]]:
    """Return the cells of a lesson by the titles of its sections, a cell of text with several headings in pieces."""
    found: dict[str, list[Cell]] = {HEAD: []}
    for piece in _pieces(source.cells):
        if piece.cell_type == "markdown" and piece.source.startswith("## "):
            found[piece.source.partition("\n")[0].removeprefix("## ")] = []
        found[list(found)[-1]].append(piece)
    return found


def reading_minutes(cells: Iterable[Cell]) -> float:
    """Return the minutes that text and examples take, without exercises and their checks."""
    texts = [cell for cell in cells if cell.cell_type == "markdown" and not is_header(cell.source)]
    examples = [cell for cell in cells if cell.cell_type == "code" and not _grade_id(cell)]
    words = sum(len(cell.source.split()) for cell in texts)
    lines = sum(bool(line.strip()) for cell in examples for line in cell.source.split("\n"))
    return words / WORDS + lines / LINES + len(examples) / EXAMPLES


def _rounded(minutes: float) -> int:
    return ROUNDED * round(minutes / ROUNDED)


def _pieces(cells: Iterable[Cell]) -> Iterator[Cell]:
    for cell in cells:
        if cell.cell_type == "markdown":
            yield from map(text_cell, filter(None, _SECTION.split(cell.source)))
        else:
            yield cell


def _grade_id(cell: Cell) -> str:
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))
