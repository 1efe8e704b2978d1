"""The visible checks of a lesson, on answers that are known to be right."""

import linecache

import pytest
from visible import COURSE, names_above, references

from autograder.course.loading import DEFAULT_COURSE
from minigrad.checks import run

KERNELS = pytest.mark.full("kernels are compiled, or run in the simulator of a GPU", share=24)
VARIANTS = [
    pytest.param(
        file, id=f"{file.parent.name}/{file.stem}", marks=KERNELS if COURSE.exercise(file.parent.name).uses else ()
    )
    for file in sorted((DEFAULT_COURSE / "variants").glob("*/*.py"))
]

ANSWERS = {lesson: references(lesson) for lesson in {each.lesson for each in COURSE.exercises.values()}}


def own_classes(exercise):
    """The reference answers to the lesson's other exercises that ask for a class."""
    return [cell for id, cell in ANSWERS[exercise.lesson].items() if id != exercise.id and "\nclass " in cell]


BELOW_CLASSES = [
    each for each in VARIANTS if not each.marks and own_classes(COURSE.exercise(each.values[0].parent.name))
]


@pytest.mark.no_cover  # twice as quick; test_checks.py runs the same checks
@pytest.mark.parametrize("file", VARIANTS)
def test_a_right_answer_passes_every_visible_check(file):
    """An answer that earns full points by the hidden tests is not refused by the visible ones."""
    assert_passes(file, names_above(COURSE.exercise(file.parent.name)))


@pytest.mark.no_cover
@pytest.mark.parametrize("file", BELOW_CLASSES)
def test_a_right_answer_passes_below_classes_of_the_notebook(file):
    """The classes that the notebook has written for the lesson's other exercises are not the library's."""
    exercise = COURSE.exercise(file.parent.name)
    namespace = names_above(exercise)
    for cell in own_classes(exercise):
        exec(compile(f"from __future__ import annotations\n{cell}", "<above>", "exec", dont_inherit=True), namespace)
    assert_passes(file, namespace)


def assert_passes(file, namespace):
    """Run an answer below what a notebook holds, and its visible checks."""
    exercise = COURSE.exercise(file.parent.name)
    text = "from __future__ import annotations\n" + file.read_text(encoding="utf-8")
    name = f"<{file.parent.name}/{file.name}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)  # as in a notebook
    exec(compile(text, name, "exec", dont_inherit=True), namespace)
    report = run(exercise.id, namespace)
    assert report.passed, str(report)
