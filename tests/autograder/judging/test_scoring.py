"""Points from verdicts: a group is all or nothing, and a group without a test is a mistake of its author."""

import dataclasses

import pytest

from autograder.course.loading import load_course
from autograder.judging.scoring import scored, scored_again
from autograder.judging.student import HiddenTestError
from autograder.results import Verdict

EXERCISE = load_course().exercise("trees.tree_map")
FIRST = next(iter(EXERCISE.groups))


def verdicts(*, failing=None):
    """Two tests of each group, which pass but for the second one of a group."""
    return [
        Verdict(f"test_{n}", "What is expected.", group, "its source", passed=not (n == 2 and group == failing))
        for group in EXERCISE.groups
        for n in (1, 2)
    ]


@pytest.mark.parametrize("failing", [None, *EXERCISE.groups])
def test_one_failing_test_costs_its_group_and_no_other(failing):
    """A group earns its points if each of its tests passed, and none otherwise."""
    graded = scored(EXERCISE, verdicts(failing=failing))
    earned = {group.name: group.earned for group in graded.groups}
    assert earned == EXERCISE.groups | ({failing: 0} if failing else {})


def test_a_failure_costs_the_group_in_which_it_is_counted():
    """A known mistake that shows in two groups is counted in one."""
    first, *_, last = EXERCISE.groups
    moved = [dataclasses.replace(each, counted_in=first) for each in verdicts(failing=last)]
    earned = {group.name: group.earned for group in scored(EXERCISE, moved).groups}
    assert earned == EXERCISE.groups | {first: 0}


def test_a_group_without_a_test_is_refused():
    """Its points would mean nothing."""
    with pytest.raises(HiddenTestError, match=f"no hidden test is in the group '{FIRST}'"):
        scored(EXERCISE, [each for each in verdicts() if each.group != FIRST])


def test_other_points_are_counted_from_the_same_verdicts():
    """A kept result runs no code when only the points of the course have changed."""
    before = scored(EXERCISE, verdicts(failing=FIRST))
    doubled = dataclasses.replace(EXERCISE, groups={name: 2 * points for name, points in EXERCISE.groups.items()})
    after = scored_again(doubled, before)
    assert {group.name: group.earned for group in after.groups} == doubled.groups | {FIRST: 0}
