"""The courses in `examples`, built aside, and classes that hand in there."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import nbformat

from autograder.building.build import build
from autograder.building.slicing import slice_exercise
from autograder.course import Course
from autograder.gradebook.exporting import read_marks
from autograder.proof.demo.classroom import prepare

GENERATED = ("source", "masters", "exchange", ".cache", ".grades")

Answers = Mapping[str, str]
"""The texts of solution cells, by exercise."""


def copied(example: Path, folder: Path) -> Path:
    """A copy of an example, built."""
    shutil.copytree(example, folder / example.name, ignore=shutil.ignore_patterns(*GENERATED))
    build(folder / example.name)
    return folder / example.name


def right(course: Course) -> Answers:
    """The right answers."""
    return {each: slice_exercise(course, each).reference for each in course.exercises}


def handed_in(course: Course, folder: Path, answers: Answers) -> Path:
    """A student's notebook of the only lesson, with answers in its solution cells."""
    (lesson,) = course.lessons
    notebook = nbformat.read(course.notebooks / f"{lesson}.ipynb", as_version=nbformat.NO_CONVERT)
    for cell in notebook.cells:
        exercise = cell.source.partition("\n")[0].removeprefix("# exercise: ")
        if exercise in answers:
            cell.source = f"# exercise: {exercise}\n{answers[exercise]}"
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, folder / f"{lesson}.ipynb")
    return folder / f"{lesson}.ipynb"


def graded(example: Path, folder: Path, answers: Mapping[str, Callable[[Course], Answers]]) -> dict[str, float]:
    """The points in nbgrader's gradebook of students with such answers, from the release to the feedback."""
    classroom = prepare(folder / "out", example)
    course, said = classroom.course, list[str]()
    build(course.directory)
    for command in ("generate_assignment", "release_assignment"):
        assert classroom.nbgrader(command, "week1", said=said.append) == 0, said
    for name, answer in answers.items():
        file = handed_in(course, folder / name, answer(course))
        classroom.submit(name, "week1", {file.name: file.read_bytes()})
    assert classroom.nbgrader("collect", "week1", said=said.append) == 0, said
    assert classroom.autograder("autograde", "week1", "--jobs", "1", said=said.append) == 0, said
    assert classroom.nbgrader("generate_feedback", "week1", said=said.append) == 0, said
    return {each.student: each.raw for each in read_marks(course, ["week1"])}
