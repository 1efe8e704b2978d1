"""The visible checks of a lesson, on answers that are known to be right."""

import linecache

import pytest
from visible import COURSE, names_above

from autograder.course.answers import variants
from minigrad.checks import run

KERNELS = pytest.mark.full("kernels are compiled, or run in the simulator of a GPU", share=24)
VARIANTS = [
    pytest.param(exercise, name, text, id=f"{exercise.id}/{name}", marks=KERNELS if exercise.uses else ())
    for exercise in COURSE.exercises.values()
    for name, text in variants(COURSE.directory, exercise.id).items()
]


@pytest.mark.no_cover  # twice as quick; test_checks.py runs the same checks
@pytest.mark.parametrize(("exercise", "name", "text"), VARIANTS)
def test_a_right_answer_passes_every_visible_check(exercise, name, text):
    """An answer that earns full points by the hidden tests is not refused by the visible ones."""
    namespace = names_above(exercise)
    text, name = f"from __future__ import annotations\n{text}", f"<{exercise.id}/{name}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)  # as in a notebook
    exec(compile(text, name, "exec", dont_inherit=True), namespace)
    report = run(exercise.id, namespace)
    assert report.passed, str(report)
