"""Counter-examples: the question with which a hidden test failed, and the answer that came, in words and as a picture.

The input that is shown went into the sandbox, so it tells nothing that the student's code was not told. The answer
that is shown is the student's own. The wanted value stays here, unless the test's author says `show="wanted"` in its
marker.

Where a test asks for a list of values at once, the example is the first of them that was answered wrongly; else it is
the question that the test asked last.
"""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from autograder.common.wording import in_words
from autograder.course import Course
from autograder.judging.expect import Expectation, Shown, expect
from autograder.judging.student import Asked, StudentFailure, StudentStopped
from autograder.results import Example, Graded, Submission, Verdict
from autograder.results.shortening import unquoted, unquoted_notes

_UNDRAWN = (
    ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError,
    StudentFailure, StudentStopped,
)  # fmt: skip
"""Errors that an answer of a strange form causes in the function that draws it."""


def example_of(asked: Sequence[Asked], error: BaseException, *, show_wanted: bool = False) -> Example | None:
    """The example of a failed test.

    Args:
        asked: The questions of the test, in order.
        error: Why it failed.
        show_wanted: Whether the test's author lets the student see what is right.

    Returns:
        The example; None if the test has asked nothing that says something.
    """
    if not asked:
        return None
    expectation = error if isinstance(error, Expectation) else None
    question, wanted = asked[-1], None
    if expectation is not None:
        question, wanted = _failing(asked, expectation)
    shown: Shown = getattr(error, "shown", Shown())
    given = (("", shown.example),) if shown.example else _given(question)
    example = Example(
        given=given,
        came=_came(question, expectation, shown),
        wanted=in_words(wanted) if show_wanted and expectation is not None else "",
        picture=_picture(shown),
        derived=not shown.example and question is not asked[0],
    )
    return example if given or example.picture is not None or example.wanted else None


def _failing(asked: Sequence[Asked], error: Expectation) -> tuple[Asked, Any]:
    """The question whose answer is the first that differs, and what was wanted of it."""
    seen, wanted = error.seen, error.wanted
    answered = [each for each in asked if each.answered]
    listed = isinstance(seen, list) and isinstance(wanted, list) and len(seen) == len(wanted) == len(answered)
    if listed and all(answer is each.value for answer, each in zip(seen, answered, strict=True)):
        tolerance = getattr(error, "shown", Shown()).tolerance
        for question, right in zip(answered, wanted, strict=True):
            try:
                expect(question.value, right, tolerance=tolerance)
            except Expectation:
                return question, right
    return (answered or list(asked))[-1], wanted


def _came(question: Asked, error: Expectation | None, shown: Shown) -> str:
    """The answer, beside inputs that say something: as it came where it was compared so, else what was made of it."""
    if error is None or shown.example or not question.args:
        return ""
    parts = error.seen if isinstance(error.seen, list) else ()
    return in_words(question.value if any(question.value is each for each in (error.seen, *parts)) else error.seen)


def _given(question: Asked) -> tuple[tuple[str, str], ...]:
    return tuple((name, in_words(value)) for name, value in zip(question.names, question.args, strict=False))


def _picture(shown: Shown) -> Mapping[str, Any] | None:
    with contextlib.suppress(*_UNDRAWN):
        return shown.picture() if shown.picture is not None else None
    return None


def released(submission: Submission, course: Course, today: dt.date) -> Submission:
    """The report as a student may see it on a day: examples and quotes wait for it, where the assignment says so."""
    exercises = tuple(_released(each, course, today) for each in submission.exercises)
    waits = any(_wait_for_quotes(each, course, today) for each in submission.exercises)
    notes = unquoted_notes(submission.notes) if waits else submission.notes
    return replace(submission, exercises=exercises, notes=notes)


def _wait_for_quotes(graded: Graded, course: Course, today: dt.date) -> dt.date | None:
    """The day on which a report may repeat what the code said; None if it may today."""
    opens = course.assignment_of(course.exercise(graded.exercise)).quotes_open
    return opens if opens is not None and today < opens else None


def _released(graded: Graded, course: Course, today: dt.date) -> Graded:
    opens = course.assignment_of(course.exercise(graded.exercise)).examples_open
    quotes = _wait_for_quotes(graded, course, today)
    if quotes is not None:
        graded, opens = unquoted(graded, quotes), quotes  # what came of the code may stand in an example
    if opens is None or today >= opens:
        return graded
    sentence = f"The inputs that failed are shown from {opens}, when the answers are open."
    return replace(graded, verdicts=tuple(_withheld(verdict, sentence) for verdict in graded.verdicts))


def _withheld(verdict: Verdict, sentence: str) -> Verdict:
    return verdict if verdict.example is None else replace(verdict, example=Example(withheld=sentence))
