"""Scratch courses to grade one class in, one for each grader, and what the class hands in there."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat

from autograder.building.build import build
from autograder.building.notebooks import dump
from autograder.course import Course, Exercise
from autograder.course.loading import DEFAULT_COURSE, load_course
from autograder.proof.demo.classes import HONEST, Files, Member, make_class
from autograder.proof.demo.classroom import Classroom, prepare
from benchmarks.classroom.stock import (
    ROOT,
    environment,
    is_graded_part,
    make_otter_files,
    make_stock_course,
    without_checks,
)

__all__ = ["Rooms", "graded_parts", "make_rooms", "some_lessons"]


@dataclass(frozen=True)
class Rooms:
    """A class's work, once for each grader.

    Attributes:
        course: Our course; what the class of students hands in is there.
        through_nbgrader: A second one, for nbgrader's own command.
        stock: Stock nbgrader's course, the same notebooks; None where it is not wanted.
        stock_parts: The same with the graded parts of the notebooks only.
        otter: Otter's configuration and the notebooks, the graded parts of them.
        assignment: What is handed in.
        kinds: The kind of each student's work.
        sample: Students whose work is honest: any grader can be asked for them.
    """

    course: Course
    through_nbgrader: Path
    stock: Path | None
    stock_parts: Path
    otter: Path
    assignment: str
    kinds: Mapping[str, str]
    sample: tuple[str, ...]


def make_rooms(
    folder: Path, assignment: str, size: int, sample: int, lessons: Sequence[str] = (), *, whole: bool = True
) -> Rooms:
    """Make the courses and let a class hand in.

    Args:
        folder: An empty or missing folder.
        assignment: What is handed in; with lessons, its name in a course of these lessons alone.
        size: Students in the class.
        sample: How many of them also hand in for the other graders.
        lessons: Lessons, perhaps drafts', that are the course; the whole course if empty.
        whole: Whether stock nbgrader gets the whole notebooks as well; a draft's have no more than their graded cells.
    """
    room = _our_room(folder / "ours", assignment, lessons)
    course = room.course
    members = list(make_class(course, course.assignments[assignment].lessons, size, course.seed))
    honest = _varied([member for member in members if member[1] in HONEST], sample)
    whole = whole and not _are_drafts(lessons)
    stock = make_stock_course(course, assignment, folder / "stock", parts=False) if whole else None
    stock_parts = make_stock_course(course, assignment, folder / "stock-parts", parts=True)
    _generate(assignment, course.directory, stock_parts, *([stock] if stock else []))
    shutil.copytree(room.out, folder / "through-nbgrader")
    rooms = Rooms(
        course,
        folder / "through-nbgrader" / "course",
        stock,
        stock_parts,
        folder / "otter",
        assignment,
        {student: kind for student, kind, _ in members},
        tuple(student for student, _, _ in honest),
    )
    make_otter_files(course, course.assignments[assignment].lessons, rooms.otter)
    _hand_in(course.directory, assignment, members)
    _hand_in(rooms.through_nbgrader, assignment, honest)
    if stock:
        _hand_in(stock, assignment, honest)
    parts = [(student, kind, graded_parts(files)) for student, kind, files in honest]
    _hand_in(rooms.stock_parts, assignment, parts)
    _hand_in(rooms.otter, assignment, [(s, k, {n: without_checks(d) for n, d in f.items()}) for s, k, f in parts])
    return rooms


def _are_drafts(lessons: Sequence[str]) -> bool:
    return any(each in load_course(DEFAULT_COURSE, tree=False).draft_lessons for each in lessons)


def _varied(members: list[Member], count: int) -> list[Member]:
    """Some members, of as many kinds as there can be."""
    waiting = {kind: [each for each in members if each[1] == kind] for kind in HONEST}
    chosen: list[Member] = []
    while len(chosen) < min(count, len(members)):
        chosen += [each.pop(0) for each in waiting.values() if each]
    return chosen[:count]


def _our_room(out: Path, assignment: str, lessons: Sequence[str]) -> Classroom:
    """Our course, built."""
    room = prepare(out, DEFAULT_COURSE)
    original = load_course(DEFAULT_COURSE, tree=False)
    toml = room.root / "course.toml"
    toml.write_bytes(original.path.read_bytes())  # the demo has limits of its own
    if lessons:
        toml.write_text(some_lessons(original, lessons, assignment))
    build(room.root)
    return Classroom(out, load_course(room.root, tree=False))


def _generate(assignment: str, *folders: Path) -> None:
    """Let nbgrader generate an assignment, and make its gradebooks."""
    command = [sys.executable, "-m", "benchmarks.classroom.generate", assignment, *map(str, folders)]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])


def some_lessons(course: Course, lessons: Sequence[str], assignment: str) -> str:
    """The course.toml of a course with some lessons."""
    return "\n".join(
        [
            f'[course]\nname = "{course.name}"\nversion = "{course.version}"\nseed = {course.seed}',
            f'[[assignment]]\nname = "{assignment}"\ntitle = "{assignment}"\nlessons = {json.dumps(list(lessons))}',
            *(_exercise(each) for lesson in lessons for each in course.of_lesson(lesson)),
            f"[limits]\n{_lines(course.limits)}" if course.limits else "",
        ]
    )


def _exercise(exercise: Exercise) -> str:
    lists = {name: list(getattr(exercise, name)) for name in ("objects", "gives_away", "hides", "uses")}
    head = {"id": exercise.id, "lesson": exercise.lesson, **lists, "points": exercise.points}
    tables = {"groups": exercise.groups, "limits": exercise.limits}
    inline = [f"{name} = {{ {_lines(table, ', ')} }}" for name, table in tables.items() if table]
    return "\n".join(["[[exercise]]", _lines(head), *inline])


def _lines(table: Mapping[str, object], separator: str = "\n") -> str:
    """A table's keys and values; a string, a number and a list are the same in JSON and in TOML."""
    return separator.join(f"{key} = {json.dumps(value)}" for key, value in table.items())


def graded_parts(files: Files) -> Files:
    """Notebooks without the lesson's own examples: setup, answers, graded cells, and what the student added."""
    found = {}
    for name, data in files.items():
        notebook = nbformat.reads(data.decode(), as_version=4)
        notebook.cells = [cell for cell in notebook.cells if is_graded_part(cell)]
        found[name] = dump(notebook).encode()
    return found


def _hand_in(root: Path, assignment: str, members: Iterable[Member]) -> None:
    for student, _, files in members:
        folder = root / "submitted" / student / assignment
        folder.mkdir(parents=True)
        for name, data in files.items():
            (folder / name).write_bytes(data)
