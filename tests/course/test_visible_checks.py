"""The visible checks of a lesson, on answers that are known to be right."""

import linecache

import pytest
from visible import COURSE, names_above

from autograder.course.loading import DEFAULT_COURSE
from minigrad.checks import run

KERNELS = pytest.mark.full("kernels are compiled, or run in the simulator of a GPU", share=24)
VARIANTS = [
    pytest.param(
        file, id=f"{file.parent.name}/{file.stem}", marks=KERNELS if COURSE.exercise(file.parent.name).uses else ()
    )
    for file in sorted((DEFAULT_COURSE / "variants").glob("*/*.py"))
]


@pytest.mark.no_cover  # twice as quick; test_checks.py runs the same checks
@pytest.mark.parametrize("file", VARIANTS)
def test_a_right_answer_passes_every_visible_check(file):
    """An answer that earns full points by the hidden tests is not refused by the visible ones."""
    exercise = COURSE.exercise(file.parent.name)
    namespace = names_above(exercise)
    text = "from __future__ import annotations\n" + file.read_text(encoding="utf-8")
    name = f"<{file.parent.name}/{file.name}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)  # as in a notebook
    exec(compile(text, name, "exec", dont_inherit=True), namespace)
    report = run(exercise.id, namespace)
    assert report.passed, str(report)
