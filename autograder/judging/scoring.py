"""Points from what hidden tests found.

A cached result holds verdicts, and they are counted by today's points: other points in `course.toml` run no code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from autograder.course import Exercise
from autograder.judging.student import HiddenTestError
from autograder.results import Graded, GroupScore, Verdict


def zero(exercise: Exercise, reason: str, notes: tuple[str, ...] = ()) -> Graded:
    """No points for an exercise, for a reason that stands above any test."""
    groups = tuple(GroupScore(name, points, 0) for name, points in exercise.groups.items())
    return Graded(exercise.id, exercise.points, groups, reason=reason, notes=notes)


def scored(exercise: Exercise, verdicts: Sequence[Verdict], notes: tuple[str, ...] = ()) -> Graded:
    """Points from verdicts: a group earns all of its points if each of its tests passed, else none.

    A failure that a known mistake explains costs the group of that mistake alone (`results.causes`).

    Raises:
        HiddenTestError: If a group has no test, so that its points would mean nothing.
    """
    groups, tested = [], {verdict.group for verdict in verdicts}
    lost = {verdict.counted_in or verdict.group for verdict in verdicts if not verdict.passed}
    for name, points in exercise.groups.items():
        if name not in tested:
            raise HiddenTestError(f"{exercise.id}: no hidden test is in the group {name!r}; write one")
        groups.append(GroupScore(name, points, 0 if name in lost else points))
    return Graded(exercise.id, exercise.points, tuple(groups), tuple(verdicts), notes=notes)


def scored_again(exercise: Exercise, graded: Graded) -> Graded:
    """Count the same verdicts by today's points, which may be others than when the exercise was judged."""
    none = tuple(GroupScore(name, points, 0) for name, points in exercise.groups.items())
    groups = scored(exercise, graded.verdicts).groups if graded.verdicts else none
    return replace(graded, points=exercise.points, groups=groups)
