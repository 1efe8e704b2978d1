"""The visible checks of the course, run on the text of an answer."""

import importlib
import linecache
from functools import cache

from autograder.building.notebooks import setup_texts
from autograder.building.slicing import slice_exercise
from autograder.course.loading import load_course
from minigrad.checks import run

COURSE = load_course(tree=False)


def references(lesson):
    """The right answers, by exercise."""
    return {each.id: slice_exercise(COURSE, each.id).reference_cell for each in COURSE.of_lesson(lesson)}


@cache
def _setup(lesson):
    placed = {**COURSE.lessons, **COURSE.draft_lessons}[lesson]
    return setup_texts(placed.path) if placed.path.is_file() else [placed.setup]


def names_above(exercise):
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


def check(id, answer):
    """The report of the visible checks on the text of an answer."""
    namespace = names_above(COURSE.exercise(id))
    text = f"from __future__ import annotations\n{answer}"
    name = f"<answer to {id}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)  # as in a notebook
    exec(compile(text, name, "exec", dont_inherit=True), namespace)
    return run(id, namespace)
