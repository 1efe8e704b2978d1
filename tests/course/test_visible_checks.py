"""The visible checks of a lesson, on answers that are known to be right."""

import importlib
import linecache
from functools import cache

import pytest

from autograder.building.notebooks import setup_texts
from autograder.course.loading import load_course
from autograder.proof.verify import ANSWERS
from minigrad.checks import run

COURSE = load_course(tree=False)
VARIANTS = sorted((ANSWERS / "variants").glob("*/*.py"))


@cache
def _setup(lesson):
    placed = {**COURSE.lessons, **COURSE.draft_lessons}[lesson]
    return setup_texts(placed.path) if placed.path.is_file() else [placed.setup]


def _namespace(exercise):
    """What a notebook holds above an exercise: the setup cells, and the library in the place of other answers."""
    namespace = {"__name__": "__main__"}
    for source in _setup(exercise.lesson):
        exec(compile(source, "<setup>", "exec", dont_inherit=True), namespace)
    for other in COURSE.of_lesson(exercise.lesson):
        for dotted in other.objects:
            module, _, name = dotted.rpartition(".")
            if other is not exercise:
                namespace[name] = getattr(importlib.import_module(f"minigrad.{module}"), name)
    return namespace


@pytest.mark.no_cover  # twice as quick; test_checks.py runs the same checks
@pytest.mark.parametrize("file", VARIANTS, ids=[f"{file.parent.name}/{file.stem}" for file in VARIANTS])
def test_a_right_answer_passes_every_visible_check(file):
    """An answer that earns full points by the hidden tests is not refused by the visible ones."""
    exercise = COURSE.exercise(file.parent.name)
    namespace = _namespace(exercise)
    text = "from __future__ import annotations\n" + file.read_text(encoding="utf-8")
    name = f"<{file.parent.name}/{file.name}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)  # as in a notebook
    exec(compile(text, name, "exec", dont_inherit=True), namespace)
    report = run(exercise.id, namespace)
    assert report.passed, str(report)
