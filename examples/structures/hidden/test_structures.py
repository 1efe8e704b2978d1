"""Hidden tests of lesson 01: what the sentences of its docstrings promise."""

import pytest

from autograder import expect


@pytest.mark.exercise(
    "structures.History", group="order", because="structures.History: 'the last action that is not undone yet'"
)
def test_the_last_action_is_undone_first(student):
    """Three actions come back in the opposite order."""

    def observe(mg):
        history = mg.structures.History(5)
        for action in ("type", "cut", "paste"):
            history.push(action)
        return [history.pop() for _ in range(3)]

    expect(student(observe), ["paste", "cut", "type"], hint="which end did it go in?", misconception="oldest-first")


@pytest.mark.exercise("structures.History", group="order", because="structures.History: 'None if there is none'")
def test_nothing_is_left_to_undo(student):
    """A history without actions gives None."""

    def observe(mg):
        try:
            return str(mg.structures.History(5).pop())
        except IndexError:
            return "IndexError"

    expect(student(observe), "None", hint="there may be nothing to undo", misconception="empty-raises")


@pytest.mark.exercise(
    "structures.History", group="bound", because="structures.History: 'beyond the limit the oldest one is forgotten'"
)
def test_the_oldest_action_is_forgotten(student):
    """A history with a limit of 2 remembers the last two of three actions."""

    def observe(mg):
        history = mg.structures.History(2)
        for action in ("type", "cut", "paste"):
            history.push(action)
        return [history.pop() for _ in range(2)]

    expect(student(observe), ["paste", "cut"], hint="which action goes, if one must?", misconception="newest-refused")


@pytest.mark.exercise(
    "structures.sift_down", group="order", because="structures.sift_down: 'until none of its children is smaller'"
)
def test_an_item_goes_down_to_the_end(student):
    """An item that is larger than all others ends at the bottom."""

    def observe(mg, items):
        mg.structures.sift_down(items, 0)
        return items

    expect(
        student(observe, [9, 1, 2, 3, 4]),
        [1, 3, 2, 9, 4],
        hint="it has new children now",
        misconception="one-step-only",
    )


@pytest.mark.exercise("structures.sift_down", group="order", because="structures.sift_down: 'its smaller child'")
def test_the_smaller_child_comes_up(student):
    """Of two smaller children the smaller one takes the item's place."""

    def observe(mg, items):
        mg.structures.sift_down(items, 0)
        return items

    expect(student(observe, [5, 3, 1]), [1, 3, 5], hint="compare the children", misconception="left-child-first")


@pytest.mark.exercise(
    "structures.sift_down", group="edge", because="structures.sift_down: 'until none of its children is smaller'"
)
def test_the_last_item_may_be_an_only_child(student):
    """An item with one child, which is smaller, changes places with it."""

    def observe(mg, items):
        mg.structures.sift_down(items, 0)
        return items

    expect(student(observe, [2, 1]), [1, 2], hint="one child is a child", misconception="two-children-or-none")


@pytest.mark.exercise("structures.Sets", group="unions", because="structures.Sets: 'the sets of two numbers'")
def test_whole_sets_are_united(student):
    """What was united with a number before comes along."""

    def observe(mg):
        sets = mg.structures.Sets(4)
        sets.unite(0, 1)
        sets.unite(0, 2)
        return [sets.same(1, 2), sets.same(2, 3)]

    expect(student(observe), [True, False], hint="who stands for its set?", misconception="number-instead-of-set")


@pytest.mark.exercise(
    "structures.Sets", group="unions", because="structures.Sets: 'whether two numbers are in one set'"
)
def test_other_sets_stay_apart(student):
    """Two pairs that were united are two sets."""

    def observe(mg):
        sets = mg.structures.Sets(5)
        sets.unite(1, 2)
        sets.unite(3, 4)
        return [sets.same(1, 2), sets.same(1, 3)]

    expect(student(observe), [True, False], hint="nobody united the pairs", misconception="all-join-zero")


@pytest.mark.exercise("structures.Sets", group="depth", because="structures.Sets: 'it may be many thousands'")
def test_a_long_chain_is_followed(student):
    """Five thousand numbers that were united one by one are one set."""

    def observe(mg):
        sets = mg.structures.Sets(5001)
        try:
            for number in range(4999):
                sets.unite(number, number + 1)
            return [sets.same(0, 4999), sets.same(0, 5000)]
        except RecursionError:
            return "RecursionError"

    expect(student(observe), [True, False], hint="how deep may functions call?", misconception="recursive-find")
