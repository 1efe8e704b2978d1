"""Marks that are other ones when the same notebook is graded again.

`autograder regrade` and grading with `--fresh` both compare results here, so that no mark changes without a line in
the log.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.course import CourseError
from autograder.results import Graded
from autograder.results.ledger import Entry, read_entry

LATE = "(late penalty)"
"""The name that stands for an exercise where a notebook's mark changes by its penalty for lateness."""


@dataclass(frozen=True)
class Change:
    """A mark that is another one when it is graded again.

    Attributes:
        student: Whose.
        assignment: Of which assignment.
        lesson: Of which lesson.
        exercise: Of which exercise; or of the whole notebook, where a penalty for lateness is another one.
        old: Points that are recorded.
        old_points: The points that the exercise was worth.
        new: Points now.
        points: The points that it is worth now.
        tests: Hidden tests that decide otherwise, with a sign: ``+`` passes now, ``-`` fails now.
        why: The finding where the mark falls, in a sentence; where a penalty changes, the dates.
        reweighted: Whether other points are asked of it now, or of its groups.
    """

    student: str
    assignment: str
    lesson: str
    exercise: str
    old: float
    old_points: float
    new: float
    points: float
    tests: tuple[str, ...] = ()
    why: str = ""
    reweighted: bool = False

    @property
    def moves(self) -> bool:
        """True if the mark is another one; with other weights of groups it may be the same."""
        return (self.new, self.points) != (self.old, self.old_points)

    @property
    def falls(self) -> bool:
        """True if the student has less of the exercise than before."""
        return self._share(self.new, self.points) < self._share(self.old, self.old_points) - 1e-9

    @staticmethod
    def _share(earned: float, points: float) -> float:
        return earned / points if points else 1.0  # a dropped exercise takes nothing from anyone


def changes_of(old: Entry, new: Entry, exercises: Collection[str]) -> Iterator[Change]:
    """The marks of one notebook that differ."""
    before = {graded.exercise: graded for graded in old.submission.exercises}
    after = {graded.exercise: graded for graded in new.submission.exercises}
    for exercise in sorted(before.keys() - after.keys()):
        raise CourseError(
            f"{exercise} was graded and is no longer in course.toml, and nbgrader takes no cell away once something "
            "was handed in; put it back, and drop it by points and groups of 0"
        )
    for exercise in sorted(after.keys() - before.keys()):
        raise CourseError(
            f"{exercise} is new in course.toml, and nobody was asked it; give it points and groups of 0, or place it "
            "in another lesson"
        )
    for exercise, then in before.items():
        now = after[exercise]
        if (not exercises or exercise in exercises) and not _same_mark(then, now):
            place = (new.student, new.assignment, new.lesson, exercise)
            marks = (then.earned, then.points, now.earned, now.points)
            reweighted = weights(then) != weights(now)
            yield Change(*place, *marks, tuple(_tests(then, now)), _why(then, now), reweighted)


def _same_mark(one: Graded, other: Graded) -> bool:
    return (one.earned, weights(one)) == (other.earned, weights(other))


def weights(graded: Graded) -> dict[str, float]:
    """Return the points of an exercise's groups."""
    return {group.name: group.points for group in graded.groups}


def _tests(then: Graded, now: Graded) -> Iterator[str]:
    """The tests that decide otherwise, with a sign."""
    before = {verdict.test: verdict.passed for verdict in then.verdicts}
    after = {verdict.test: verdict.passed for verdict in now.verdicts}
    for test in sorted(before.keys() | after.keys()):
        if before.get(test, True) != after.get(test, True):
            yield f"{'+' if after.get(test, True) else '-'}{test}"


def _why(then: Graded, now: Graded) -> str:
    """The reason of a test that fails and passed before, or why nothing could be tested any more."""
    if now.reason and now.reason != then.reason:
        return now.reason
    passed = {verdict.test for verdict in then.verdicts if verdict.passed}
    return next((verdict.reason for verdict in now.verdicts if not verdict.passed and verdict.test in passed), "")


def merged(old: Entry, new: Entry, taken: Collection[str]) -> Entry:
    """The new result, with the earlier one of each exercise whose mark is not to change."""
    before = {graded.exercise: graded for graded in old.submission.exercises}
    exercises = tuple(
        graded if graded.exercise in taken or _same_mark(graded, before[graded.exercise]) else before[graded.exercise]
        for graded in new.submission.exercises
    )
    return replace(new, submission=replace(new.submission, exercises=exercises))


def afresh(course: Path, entries: Iterable[Entry]) -> list[Change]:
    """The marks of the ledger that results of the very same notebooks would change, if they were recorded.

    Args:
        course: The course's directory.
        entries: Results that are not recorded yet.
    """
    found: list[Change] = []
    for new in entries:
        old = read_entry(course, new.student, new.assignment, new.lesson)
        if old is not None and old.sha256 == new.sha256:
            both = {each.exercise for each in old.submission.exercises}
            both &= {each.exercise for each in new.submission.exercises}
            found += changes_of(_only(old, both), _only(new, both), ())
    return found


def is_recorded_already(course: Path, new: Entry) -> bool:
    """Return whether the ledger has a result of the very same notebook."""
    old = read_entry(course, new.student, new.assignment, new.lesson)
    return old is not None and old.sha256 == new.sha256


def _only(entry: Entry, exercises: Collection[str]) -> Entry:
    kept = tuple(each for each in entry.submission.exercises if each.exercise in exercises)
    return replace(entry, submission=replace(entry.submission, exercises=kept))
