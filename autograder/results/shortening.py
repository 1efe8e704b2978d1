"""The bound on a report's quotations from a student's code.

An error's message is text that the student's code chose, and that code can see the library's answers to the other
exercises. A report is for understanding one's own mistake, which takes a line or two: so all of an exercise's
messages share a budget, too small to carry answers away.

Leaving out lines of known answers would not do, since a message can encode them. Where nothing of the student's
making may be said, `unquoted` leaves out everything that the code chose.
"""

from __future__ import annotations

import builtins
import datetime as dt
import json
import re
from collections.abc import Iterable
from dataclasses import replace

from autograder.results import NOT_BEGUN, Example, Graded, Verdict, format_points
from autograder.results.causes import PLACE
from autograder.results.pictures import said

TOTAL = 400
"""Characters for everything that an exercise's failed tests and cells say."""

ONCE = 240
"""Characters for one message: an honest one with the line that it came from."""

SHORT = 60
"""A repeated message is not written again if it is longer."""

_CUT = " ... (cut here)"
_SAME = "the same as for another test of this exercise"
_NO_ROOM = (
    f"Some inputs that failed are not shown: a report repeats at most {TOTAL} characters of what came of the code."
)
_FULL = f"not shown: a report repeats at most {TOTAL} characters of what the code says"

_FAILURES = {
    "timeout": "there was no answer in time",
    "memory": "the code needed more memory than it may have",
    "unstable": "the answers to one question differ",
}
_ERRORS = frozenset(
    name for name, each in vars(builtins).items() if isinstance(each, type) and issubclass(each, BaseException)
)
_NAME = re.compile(r"[A-Za-z]+")
_CELL = re.compile(r"((?:answer to|solution of) \S+|(setup|added) cell \d+)\b")


class Budget:
    """The characters that are left for messages; the same message costs nothing a second time."""

    def __init__(self) -> None:
        self._left = TOTAL
        self._seen: set[str] = set()

    def take(self, text: str) -> str:
        """The message, as much of it as there is room for."""
        if not text:
            return text
        place = PLACE.search(text)
        message = text[: place.start()] if place else text
        if text in self._seen and len(text) <= SHORT:
            return text
        if message in self._seen and len(text) > SHORT:
            text = _SAME  # where it came from is worth a few characters
            if place and len(place[0]) <= min(SHORT, self._left):
                self._left -= len(place[0])
                text += place[0]
            return text
        self._seen |= {text, message}
        room = min(ONCE, self._left)
        self._left -= min(room, len(text))
        if len(text) <= room:
            return text
        return text[:room].rstrip() + _CUT if room >= SHORT else _FULL

    def verdict(self, verdict: Verdict) -> Verdict:
        """A failed test, with as much of its message and of its example as there is room for."""
        reason = self.take(verdict.reason)
        example = self._example(verdict.example, reason) if verdict.example is not None else None
        return replace(verdict, reason=reason, example=example)

    def _example(self, example: Example, reason: str) -> Example:
        """The example, if there is room for what came of the code: if not for all of it, then without its picture."""
        given = "".join(value for _, value in example.given if example.derived)
        came = "" if example.came in self._seen or example.came in reason else example.came
        if len(given) + len(came) > self._left:
            return Example(withheld=_NO_ROOM)
        self._left -= len(given) + len(came)
        self._seen.add(example.came)
        drawn = json.dumps(example.picture, sort_keys=True)
        if drawn in self._seen or said(example.picture) > self._left:  # the same picture once is enough
            return replace(example, picture=None)
        self._left -= said(example.picture)
        self._seen.add(drawn)
        return example


def shortened(graded: Graded) -> Graded:
    """The same result, with messages for which the budget of one exercise is enough; in the order of the report."""
    budget = Budget()
    reason = budget.take(graded.reason)
    failed = {verdict.test: budget.verdict(verdict) for verdict in graded.failures}
    verdicts = tuple(
        verdict
        if verdict.passed
        else replace(verdict, reason=failed[verdict.test].reason, example=failed[verdict.test].example)
        for verdict in graded.verdicts
    )
    notes = tuple(dict.fromkeys(budget.take(note) for note in graded.notes))
    return replace(graded, reason=reason, verdicts=verdicts, notes=notes)


def unquoted(graded: Graded, until: dt.date) -> Graded:
    """The same result without a word that the student's code has chosen.

    Args:
        graded: The result.
        until: The day from which the whole of it is shown.
    """
    verdicts = tuple(
        each if each.passed else replace(each, reason=_happened(each.reason, each.failure)) for each in graded.verdicts
    )
    reason = _own_reason(graded)
    note = f"What the code answered and said is shown from {until}, when the answers are open."
    return replace(graded, reason=reason, verdicts=verdicts, notes=(*unquoted_notes(graded.notes), note))


def when_all(opens: dt.date | None, *, is_dated: bool) -> str:
    """The sentence that says when the whole report is shown.

    Args:
        opens: The day from which the answers are open, if one is known.
        is_dated: Whether everybody has a due date.
    """
    if is_dated:
        return "The whole report is shown after the due date."
    if opens is not None:
        return f"The whole report is shown from {opens}, when the answers are open."
    return "The whole report is not shown: the assignment has no due date."


def outlined(graded: Graded, rest: str, *, groups: bool) -> Graded:
    """The same points, without what was seen: neither an input, nor which test failed, nor a word of the code's.

    Args:
        graded: The result.
        rest: The sentence that says when the rest is shown.
        groups: Whether to say the points of each group.
    """
    parts = ", ".join(
        f"{each.name} {format_points(each.earned)} of {format_points(each.points)}" for each in graded.groups
    )
    said = [f"Points by group: {parts}."] if groups and graded.verdicts else []
    notes = (*said, *unquoted_notes(graded.notes), rest)
    return replace(graded, verdicts=(), reason=_own_reason(graded), notes=notes)


def unquoted_notes(notes: Iterable[str]) -> tuple[str, ...]:
    """Return the notes of grafting on a notebook, without what cells said when they ran."""
    return tuple(note for note in notes if not _CELL.match(note))


def _own_reason(graded: Graded) -> str:
    """Why nothing could be tested, in the grader's own words."""
    return graded.reason if graded.reason in NOT_BEGUN else graded.reason and _happened(graded.reason, "error")


def _happened(reason: str, failure: str) -> str:
    """The event in the grader's own words; the kind of an error only if its name is one of Python's."""
    if failure != "error":
        return _FAILURES.get(failure, "there was no answer") if failure else "the answer is another one"
    name = next((word for word in _NAME.findall(reason[:ONCE]) if word in _ERRORS), "")
    return f"the code raised {name}" if name else "the code raised an error"


def shortened_notes(notes: Iterable[str]) -> tuple[str, ...]:
    """Notes on cells that belong to the whole notebook, within one budget."""
    budget = Budget()
    return tuple(dict.fromkeys(budget.take(note) for note in notes))
