"""A hunt: a test that a student wrote, at work on right and wrong answers of another exercise.

The answers are those that the course keeps of that exercise, in `wrong` and `variants`. Each question about one has a
fork of its own, the first one two of them, all answers define the same names, and the student's test gets them in one
and the same wrapper, in an order that is drawn anew each time: files and hooks can count questions. So it can go by
what an answer does, and neither by its name, nor by the names in its code, nor by the number of questions, nor by
chance. The wrapper is no wall: its closure holds the answer, and Python hides no object.
"""

from __future__ import annotations
import __future__

import ast
import functools
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from autograder.common.comparing import same
from autograder.course.answers import variants, wrong_answers
from autograder.judging.student import UNSTABLE, HiddenTestError, Student, StudentFailure

__all__ = ["Hunt"]

WRAPPER = """
def wrapped(inner):
    def answer(*args, **kwargs):
        found = inner(*args, **kwargs)
        return wrapped(found) if callable(found) else found

    return answer
"""
"""The student's test gets each answer in this, and each function that an answer returns: all have the same code."""


class Hunt:
    """A student's test, and the exercise whose answers it judges.

    Args:
        exercise: The id of the exercise whose answers are judged, as a text in double quotes.
        verdict: The call of the student's test, of what an answer defines: ``"workers.is_ring(reduce_scatter)"``.
        given: Statements that stand above each answer.
        error: What an answer is if the student's test raises an error: "raises" where its docstring asks for False.
    """

    def __init__(self, exercise: str, verdict: str, given: str = "", error: str = "refused") -> None:
        self._exercise = exercise
        self._verdict = verdict
        self._given = given
        self._error = error

    def __call__(self, student: Student, *answers: str) -> list[Any]:
        """Return what the student's test says of some answers: "passes", "refused", or the word for an error.

        Args:
            student: The fixture.
            answers: A right answer first, then others: names of variants and of mistakes, or texts of a test's own.

        Raises:
            StudentFailure: If the student's test raises an error for the first answer, or says two things of it.
        """
        said = dict[int, Any]()
        order = [0, *range(len(answers))]
        random.SystemRandom().shuffle(order)
        for index in order:
            found = self._asked(student, answers[index], is_first=index == 0)
            if not same(said.setdefault(index, found), found):  # a forged answer may be an array
                raise StudentFailure(*UNSTABLE)
        return [said[index] for index in range(len(answers))]

    def _asked(self, student: Student, name: str, *, is_first: bool) -> Any:
        probe = _probe(self._given, self._text(student.answers, name), self._verdict)
        try:
            return student(probe)
        except StudentFailure as error:
            if is_first or error.kind != "error":
                raise
            return self._error

    def _text(self, folder: Path, name: str) -> str:
        if "\n" in name:
            return name
        known = variants(folder, self._exercise) | wrong_answers(folder, self._exercise)
        if name not in known:
            raise HiddenTestError(f"{self._exercise} has no known answer {name!r}, but {', '.join(known)}")
        return known[name]


@functools.cache
def _probe(given: str, text: str, verdict: str) -> Callable[..., Any]:
    """A probe that holds an answer: a report shows a probe's arguments, and this one must not be shown."""
    tree = ast.parse("def observe(mg): pass")
    test, _, suspects = verdict.rstrip(")").partition("(")
    asked = f"{WRAPPER}\nreturn 'passes' if mg.{test}(*[wrapped(each) for each in [{suspects}]]) else 'refused'"
    tree.body[0].body = [each for part in (given, text, asked) for each in ast.parse(part).body]  # type: ignore[attr-defined]
    code = compile(ast.fix_missing_locations(tree), "<hunt>", "exec", __future__.annotations.compiler_flag)
    scope: dict[str, Any] = {"math": math, "np": np}
    exec(code, scope)  # defines the probe, and runs nothing of it
    return scope["observe"]  # type: ignore[no-any-return]
