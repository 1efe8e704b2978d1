"""Grade one notebook file."""

from __future__ import annotations

from pathlib import Path

from autograder.building.masters import find_master
from autograder.course import Course, CourseError
from autograder.grafting.collecting import match
from autograder.grafting.graft import graft_notebook
from autograder.grafting.grafted import stubs
from autograder.judging.judge import Judge
from autograder.reading import StudentNotebook, read_notebook
from autograder.reading.student_files import Unreadable, without_outputs
from autograder.results import Submission


def grade_file(judge: Judge, path: Path, lesson: str | None = None) -> Submission:
    """Grade a notebook file; one that cannot be read earns nothing, with the reason.

    Args:
        judge: The grader.
        path: The file.
        lesson: Its lesson; found by the file's name or by its cells if None.

    Raises:
        CourseError: If the file or the lesson does not exist, or the lesson cannot be told.
    """
    course = judge.course
    if lesson is not None and lesson not in (*course.lessons, *course.draft_lessons):  # a draft is refused by its name
        raise CourseError(f"there is no lesson {lesson!r}; the lessons are {', '.join(course.lessons)}")
    if not path.exists() and not path.is_symlink():
        raise CourseError(f"{path}: there is no such file")
    try:
        student = read_notebook(without_outputs(path))
    except Unreadable as error:
        found = lesson or (path.stem if path.stem in course.lessons else None)
        if found is None:
            raise CourseError(f"{path}: {error}") from error
        return judge.grade(stubs(judge.master(found), str(error)), found)
    found = lesson or _lesson_of(course, judge, path, student)
    grafted = graft_notebook(student, find_master(course, found, student.stamp))
    return judge.grade(grafted, found)


def _lesson_of(course: Course, judge: Judge, path: Path, student: StudentNotebook) -> str:
    """The lesson that a notebook has most cells of; among equals the one that it is named after."""
    counts = {lesson: match(student, judge.master(lesson)) for lesson in course.lessons}
    best = max(counts, key=lambda lesson: (counts[lesson], path.stem == lesson))
    if counts[best]:
        return best
    for said in (path.stem, student.lesson):
        if said in course.lessons:
            return said
    raise CourseError(f"{path}: has no cell of any exercise; name its lesson by --lesson ({', '.join(course.lessons)})")
