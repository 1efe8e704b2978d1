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
        run_cell(cell, "<above>", namespace)
    assert_passes(file, namespace)


@pytest.mark.no_cover
@pytest.mark.full("every exercise of a lesson is checked, beside every variant of the others", share=12)
@pytest.mark.parametrize("file", [each for each in VARIANTS if not each.marks])
def test_other_answers_pass_beside_a_right_answer(file):
    """An answer calls what the notebook defines for other exercises, however that is written."""
    written = COURSE.exercise(file.parent.name)
    for other, answer in ANSWERS[written.lesson].items():
        exercise = COURSE.exercise(other)
        if exercise is not written and not exercise.uses:
            namespace = names_above(exercise)
            run_cell(answer, f"<answer to {other}>", namespace)
            run_cell(file.read_text(encoding="utf-8"), f"<{file.parent.name}/{file.name}>", namespace)
            report = run(other, namespace)
            assert report.passed, str(report)


def assert_passes(file, namespace):
    """Run an answer below what a notebook holds, and its visible checks."""
    run_cell(file.read_text(encoding="utf-8"), f"<{file.parent.name}/{file.name}>", namespace)
    report = run(file.parent.name, namespace)
    assert report.passed, str(report)


def run_cell(source, name, namespace):
    """Run a cell's text as a notebook does, whose lines can be shown."""
    text = "from __future__ import annotations\n" + source
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec", dont_inherit=True), namespace)
