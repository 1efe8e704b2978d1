"""The visible checks of a lesson, on answers that are known to be right."""

import linecache

import pytest
from visible import COURSE, names_above, references

from autograder.course.answers import variants
from minigrad.checks import run

KERNELS = pytest.mark.full("kernels are compiled, or run in the simulator of a GPU", share=24)
VARIANTS = [
    pytest.param(exercise, name, text, id=f"{exercise.id}/{name}", marks=KERNELS if exercise.uses else ())
    for exercise in COURSE.exercises.values()
    for name, text in variants(COURSE.directory, exercise.id).items()
]

ANSWERS = {lesson: references(lesson) for lesson in {each.lesson for each in COURSE.exercises.values()}}


def own_classes(exercise):
    """The reference answers to the lesson's other exercises that ask for a class."""
    return [cell for id, cell in ANSWERS[exercise.lesson].items() if id != exercise.id and "\nclass " in cell]


BELOW_CLASSES = [each for each in VARIANTS if not each.marks and own_classes(each.values[0])]


@pytest.mark.no_cover  # twice as quick; test_checks.py runs the same checks
@pytest.mark.parametrize(("exercise", "name", "text"), VARIANTS)
def test_a_right_answer_passes_every_visible_check(exercise, name, text):
    """An answer that earns full points by the hidden tests is not refused by the visible ones."""
    assert_passes(exercise, name, text, names_above(exercise))


@pytest.mark.no_cover
@pytest.mark.parametrize(("exercise", "name", "text"), BELOW_CLASSES)
def test_a_right_answer_passes_below_classes_of_the_notebook(exercise, name, text):
    """The classes that the notebook has written for the lesson's other exercises are not the library's."""
    namespace = names_above(exercise)
    for cell in own_classes(exercise):
        run_cell(cell, "<above>", namespace)
    assert_passes(exercise, name, text, namespace)


@pytest.mark.no_cover
@pytest.mark.full("every exercise of a lesson is checked, beside every variant of the others", share=12)
@pytest.mark.parametrize(("exercise", "name", "text"), [each for each in VARIANTS if not each.marks])
def test_other_answers_pass_beside_a_right_answer(exercise, name, text):
    """An answer calls what the notebook defines for other exercises, however that is written."""
    for id, answer in ANSWERS[exercise.lesson].items():
        other = COURSE.exercise(id)
        if other is not exercise and not other.uses:
            namespace = names_above(other)
            run_cell(answer, f"<answer to {id}>", namespace)
            run_cell(text, f"<{exercise.id}/{name}>", namespace)
            report = run(id, namespace)
            assert report.passed, str(report)


def assert_passes(exercise, name, text, namespace):
    """Run an answer below what a notebook holds, and its visible checks."""
    run_cell(text, f"<{exercise.id}/{name}>", namespace)
    report = run(exercise.id, namespace)
    assert report.passed, str(report)


def run_cell(source, name, namespace):
    """Run a cell's text as a notebook does, whose lines can be shown."""
    text = "from __future__ import annotations\n" + source
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec", dont_inherit=True), namespace)
