"""Find the master notebook that a submission is grafted onto."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import nbformat

from autograder.building.build import build_lesson
from autograder.building.slicing import slice_exercise
from autograder.course import Course, CourseError

_STAMP = re.compile(r"[0-9a-f]{6,64}")


def find_master(course: Course, lesson: str, stamp: str = "") -> nbformat.NotebookNode:
    """The notebook that was released: the one with the submission's stamp, else the present one.

    A stamp is the student's word, so an old master is used only where it grades the same exercises.

    Args:
        course: The course.
        lesson: The lesson's name.
        stamp: The stamp that the submission says it was made from.

    Raises:
        CourseError: If the course has no such lesson.
    """
    present = _present(course, lesson)
    if _STAMP.fullmatch(stamp) and stamp != present.metadata["minigrad"]["stamp"]:
        released = _read(course.directory / "masters" / stamp / f"{lesson}.ipynb")
        if released is not None and grade_ids(released) == grade_ids(present):
            return released
    return present


def _present(course: Course, lesson: str) -> nbformat.NotebookNode:
    if lesson in course.draft_lessons:
        raise CourseError(f"the lesson {lesson!r} is a draft, of which no notebook is made; grade another one")
    if lesson not in course.lessons:
        known = ", ".join(course.lessons)
        raise CourseError(f"there is no lesson {lesson!r}; the lessons are {known}")
    assignment = course.lessons[lesson].assignment
    source = _read(course.directory / "source" / assignment / f"{lesson}.ipynb")
    if source is not None:
        stamp = source.metadata.get("minigrad", {}).get("stamp", "")
        master = _read(course.directory / "masters" / stamp / f"{lesson}.ipynb")
        if master is not None:
            return master
    # Not built yet, as on a fresh clone: make it, and write nothing.
    sources = {each.id: slice_exercise(course, each.id) for each in course.of_lesson(lesson)}
    return build_lesson(course, course.lessons[lesson], sources).student


def _read(path: Path) -> nbformat.NotebookNode | None:
    if not path.is_file():
        return None
    try:
        content = _parsed(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CourseError(f"{path}: cannot be read ({error}); run `autograder build`") from error
    master: nbformat.NotebookNode = nbformat.from_dict(content)  # a copy, which its owner may change
    return master


@lru_cache(maxsize=32)  # all submissions of a class are grafted onto the same few
def _parsed(text: str) -> nbformat.NotebookNode:
    notebook: nbformat.NotebookNode = nbformat.reader.reads(text)
    return notebook


def grade_ids(notebook: nbformat.NotebookNode) -> set[str]:
    """nbgrader's ids of a notebook's solution and graded cells."""
    ids = (cell.metadata.get("nbgrader", {}).get("grade_id", "") for cell in notebook.cells)
    return {grade_id for grade_id in ids if grade_id}
