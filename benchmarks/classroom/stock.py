"""The course as a stock grader has it: the same notebooks, with the hidden tests in their graded cells."""

from __future__ import annotations

import json
import os
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path

import nbformat

from autograder.building.build import build_lesson
from autograder.building.notebooks import dump
from autograder.building.slicing import slice_exercise
from autograder.course import Course, Exercise

__all__ = [
    "environment",
    "graded_source",
    "is_check",
    "is_graded_part",
    "make_otter_files",
    "make_stock_course",
    "without_checks",
]

ROOT = Path(__file__).parents[2]

CONFIG = """c = get_config()
c.CourseDirectory.course_id = "stock"
c.CourseDirectory.root = ROOT
"""


def graded_source(exercise: Exercise) -> str:
    """The graded cell of a stock course: its hidden tests, whose last line is a number of points."""
    return (
        "### BEGIN HIDDEN TESTS\n"
        "from benchmarks.classroom.inkernel import grade\n"
        f"grade({exercise.id!r}, {dict(exercise.groups)!r}, globals())\n"
        "### END HIDDEN TESTS"
    )


def make_stock_course(course: Course, assignment: str, folder: Path, *, parts: bool) -> Path:
    """Make a course of one assignment for nbgrader as it comes, still to be generated.

    Args:
        course: The course whose lessons it has.
        assignment: The assignment.
        folder: Where it is to be.
        parts: Whether to leave the lessons' own examples out.

    Returns:
        The folder.
    """
    source = folder / "source" / assignment
    source.mkdir(parents=True)
    (folder / "nbgrader_config.py").write_text(CONFIG.replace("ROOT", repr(str(folder))))
    for lesson in course.assignments[assignment].lessons:
        sources = {each.id: slice_exercise(course, each.id) for each in course.of_lesson(lesson)}
        notebook = build_lesson(course, course.lessons[lesson], sources).source
        graded = {each.graded_id: graded_source(each) for each in course.of_lesson(lesson)}
        for cell in notebook.cells:
            if is_check(cell):
                cell.source = graded[cell.metadata.nbgrader.grade_id]
        if parts:
            notebook.cells = [cell for cell in notebook.cells if is_graded_part(cell)]
        (source / f"{lesson}.ipynb").write_text(dump(notebook))
    return folder


def is_check(cell: nbformat.NotebookNode) -> bool:
    """Whether a cell is graded by running it; what a person marks has its solution in the same cell."""
    nbgrader = cell.metadata.get("nbgrader", {})
    return bool(nbgrader.get("grade") and not nbgrader.get("solution"))


def is_graded_part(cell: nbformat.NotebookNode) -> bool:
    """Whether a cell is more than an example of the lesson: setup, answer, graded, or added by the student."""
    is_setup = "setup" in cell.metadata.get("tags", ())
    return is_setup or "nbgrader" in cell.metadata or cell.get("id", "").startswith("added-")


def environment(python: str = sys.executable) -> dict[str, str]:
    """What graders and the kernels that they start find: this project, the Python that is meant, no settings."""
    path = os.pathsep.join([str(Path(python).parent), os.environ.get("PATH", "")])
    ours = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    return os.environ | {"PATH": path, "PYTHONPATH": ours, "JUPYTER_CONFIG_DIR": os.devnull, "PYTHONWARNINGS": "ignore"}


OTTER_TEST = """
from otter.test_files import test_case

OK_FORMAT = False
name = {name!r}
points = None

{cases}
"""

OTTER_CASE = """
@test_case(points={points}, hidden=True)
def test_{number}(env):
    from benchmarks.classroom.inkernel import passed
    assert {group!r} in passed({exercise!r}, env)
"""


def make_otter_files(course: Course, lessons: Iterable[str], folder: Path) -> dict[str, Path]:
    """Write otter's configuration of each lesson, as `otter generate` does.

    Returns:
        Each lesson's file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for lesson in lessons:
        found[lesson] = folder / f"{lesson}.zip"
        with zipfile.ZipFile(found[lesson], "w") as archive:
            archive.writestr("otter_config.json", json.dumps({"lang": "python", "show_hidden": True}))
            for exercise in course.of_lesson(lesson):
                archive.writestr(f"tests/{exercise.solution_id}.py", _otter_test(exercise))
    return found


def _otter_test(exercise: Exercise) -> str:
    cases = [
        OTTER_CASE.format(points=points, number=number, group=group, exercise=exercise.id)
        for number, (group, points) in enumerate(exercise.groups.items(), start=1)
    ]
    return OTTER_TEST.format(name=exercise.solution_id, cases="\n".join(cases))


def without_checks(data: bytes) -> bytes:
    """A submitted notebook without its graded cells: otter brings its own."""
    notebook = nbformat.reads(data.decode(), as_version=4)
    notebook.cells = [cell for cell in notebook.cells if not is_check(cell)]
    return dump(notebook).encode()
