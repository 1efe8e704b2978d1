"""How much of what a student's code says a report repeats.

An error's message is text that the student's code chose, and that code can see the library's answers to the other
exercises. A report is for understanding one's own mistake, which takes a line or two: so all of an exercise's
messages share a budget, too small to carry answers away.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace

from autograder.causes import PLACE
from autograder.pictures import said
from autograder.results import Example, Graded, Verdict

__all__ = ["Budget", "shortened", "shortened_notes"]

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
        if message in self._seen and len(message) > SHORT:
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


def shortened_notes(notes: Iterable[str]) -> tuple[str, ...]:
    """Notes on cells that belong to the whole notebook, within one budget."""
    budget = Budget()
    return tuple(dict.fromkeys(budget.take(note) for note in notes))
