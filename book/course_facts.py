"""The course as the book needs it: lessons built, and of each exercise what its author wrote beside it."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from autograder.building.build import BuiltLesson, build_lesson
from autograder.building.hints import load_hints
from autograder.building.slicing import ExerciseSource, find_object, slice_exercise
from autograder.course import Course, Exercise
from autograder.course.answers import variants, wrong_answers
from autograder.course.loading import load_course
from book.places import ROOT
from minigrad.checks import runner

__all__ = ["Answer", "Facts", "VisibleCheck"]

ANSWERS = ROOT / "course"


@dataclass(frozen=True)
class Answer:
    """A known answer to an exercise, wrong or right.

    Attributes:
        name: The name of its file: of a wrong answer, the misconception.
        says: What it says of itself.
        code: Its text without that.
    """

    name: str
    says: str
    code: str


@dataclass(frozen=True)
class VisibleCheck:
    """A check that students see: its sentence, and its code."""

    says: str
    code: str


class Facts:
    """The course, read once.

    Args:
        course: The course; by default the project's own.
    """

    def __init__(self, course: Course | None = None) -> None:
        self.course = course or load_course()

    @cached_property
    def sources(self) -> Mapping[str, ExerciseSource]:
        """Stub and reference of every exercise that is released, in the order of a reader alone."""
        order = [each for lesson in self.course.order for each in self.course.of_lesson(lesson)]
        return {each.id: slice_exercise(self.course, each.id) for each in order}

    @cached_property
    def lessons(self) -> Mapping[str, BuiltLesson]:
        """The lessons as the build makes them, in the order of a reader alone."""
        built = (build_lesson(self.course, self.course.lessons[name], self.sources) for name in self.course.order)
        return {each.lesson.name: each for each in built}

    @cached_property
    def hints(self) -> Mapping[str, Mapping[str, str]]:
        """For each exercise its three hints."""
        return load_hints(self.course)

    def exercises(self) -> list[Exercise]:
        """Return the exercises that are released, in the order of a reader alone."""
        return [source.exercise for source in self.sources.values()]

    def wrong(self, exercise: str) -> list[Answer]:
        """Return the wrong answers that the grader knows."""
        return _answers(wrong_answers(ANSWERS, exercise))

    def variants(self, exercise: str) -> list[Answer]:
        """Return right answers that are written in another way than the reference."""
        return _answers(variants(ANSWERS, exercise))

    def checks(self, exercise: str) -> list[VisibleCheck]:
        """Return the visible checks."""
        return [
            VisibleCheck(inspect.getdoc(test) or test.__name__, inspect.getsource(test))
            for test, _ in runner._tests_of(exercise)
        ]

    @cached_property
    def needs(self) -> Mapping[str, tuple[str, ...]]:
        """For each exercise the earlier ones whose objects its reference uses by name."""
        owners = {dotted: each.id for each in self.exercises() for dotted in each.objects}
        order = list(self.sources)
        found: dict[str, tuple[str, ...]] = {}
        for each in self.exercises():
            used = {owners[name] for name in self._used(each) if name in owners} - {each.id}
            found[each.id] = tuple(id for id in order[: order.index(each.id)] if id in used)
        return found

    def _used(self, exercise: Exercise) -> set[str]:
        """The names of the library, dotted, that the objects of an exercise mention."""
        used: set[str] = set()
        for dotted in exercise.objects:
            source = find_object(self.course.source, dotted)
            imported = _imported(source.file)
            module = dotted.rpartition(".")[0]
            for node in ast.walk(source.node):
                if isinstance(node, ast.Name):
                    used |= {imported.get(node.id, f"{module}.{node.id}")}
                elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                    used |= {f"{imported.get(node.value.id, node.value.id)}.{node.attr}"}
        return used


def _imported(file: Path) -> Mapping[str, str]:
    """Return the dotted name, without "minigrad.", behind each imported name of a module."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}".removeprefix("minigrad.")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("minigrad")
        for alias in node.names
    }


def _answers(texts: Mapping[str, str]) -> list[Answer]:
    return [_answer(name, text) for name, text in texts.items()]


def _answer(name: str, text: str) -> Answer:
    tree = ast.parse(text)
    says = ast.get_docstring(tree) or name
    first = tree.body[0]
    is_said = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    begin = (first.end_lineno or 0) if is_said else 0
    return Answer(name, says, "\n".join(text.split("\n")[begin:]).strip("\n"))
