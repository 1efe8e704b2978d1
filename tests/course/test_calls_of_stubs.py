"""The check of an answer that calls an exercise which is not written yet names that exercise."""

import linecache

import pytest
from visible import COURSE, names_above, references

from autograder.course.answers import variants
from minigrad.checks import run
from minigrad.checks.explaining import NOT_WRITTEN
from minigrad.exercises.marker import marker
from minigrad.exercises.stubs import codes


def cell(text, name, namespace):
    """Run a cell, as a notebook does."""
    text = f"from __future__ import annotations\n{text}"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec", dont_inherit=True), namespace)


def answers(id):
    """Yield the right answers to an exercise."""
    yield "reference", references(COURSE.exercise(id).lesson)[id]
    yield from variants(COURSE.directory, id).items()


def functions(exercise):
    """Return the names of the functions that an exercise asks for."""
    names = [dotted.rpartition(".")[2] for dotted in exercise.objects]
    return [name for name in names if not name[0].isupper()]


def calls(id):
    """Yield the right answers to an exercise that call others of its lesson, with each of these."""
    exercise = COURSE.exercise(id)
    for kind, text in answers(id):
        namespace = names_above(exercise)
        cell(text, f"<{id}, {kind}>", namespace)
        own = [namespace[dotted.rpartition(".")[2]] for dotted in exercise.objects]
        used = {name for value in own for code in codes(value) for name in code.co_names}
        for other in COURSE.of_lesson(exercise.lesson):
            if other is not exercise and used.intersection(functions(other)):
                yield text, other


QUICK = ("autodiff.backpropagate", "operators.folds")


@pytest.mark.parametrize(
    "id",
    [
        pytest.param(id, marks=[] if id in QUICK else pytest.mark.full("each answer is run", share=16))
        for id, exercise in COURSE.exercises.items()
        if not exercise.uses  # kernels: no other exercise's function takes part in one
    ],
)
def test_the_other_exercise_is_named(id):
    """Each check that fails says which function is not written yet; none speaks of a line of this answer."""
    for text, other in calls(id):
        namespace = names_above(COURSE.exercise(id))
        stubs = "".join(f"def {name}(*args, **kwargs):\n    raise NotImplementedError()\n" for name in functions(other))
        cell(f"{marker(other.id)}\n{stubs}", f"<stub of {other.id}>", namespace)
        cell(f"{marker(id)}\n{text}", f"<{id} of a reader>", namespace)
        report = run(id, namespace)
        reasons = {each.reason for each in report.results if not each.passed}
        assert NOT_WRITTEN not in reasons
        assert reasons <= {f"it calls {name}, which is not written yet" for name in functions(other)}, str(report)
        assert reasons or id not in QUICK


PARTS = [each.id for each in COURSE.exercises.values() if not each.uses and len(each.objects) > 1]


WHOLE = ("functional.jacfwd", "program.trace", "program.jit")
"""Exercises whose functions are checked together."""


@pytest.mark.parametrize("id", PARTS)
def test_a_part_of_an_answer_is_checked_by_itself(id):
    """As after a cell that stopped half-way: what is there is checked, and what is not there is named, once."""
    exercise = COURSE.exercise(id)
    namespace = names_above(exercise)
    cell(f"{marker(id)}\n{references(exercise.lesson)[id]}", f"<a part of {id}>", namespace)
    last = exercise.objects[-1].rpartition(".")[2]
    del namespace[last]
    first, *others = run(id, namespace).results
    assert first.reason == f"{last} must be defined in this notebook: run the cell above first"
    reasons = {each.reason for each in others if not each.passed}
    assert reasons and all(last in reason and "not defined" in reason for reason in reasons), reasons
    assert any(each.passed for each in others) or id in WHOLE
