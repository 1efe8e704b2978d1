"""Hidden tests of a student's test of folds: right ones must pass, and wrong ones must not."""

import functools

import pytest

from autograder import Hunt, expect

is_reduce = functools.partial(pytest.mark.exercise, "operators.is_reduce")

FOLDS = Hunt("operators.higher_order", "operators.is_reduce(reduce)", error="raises")

PYTHONS_OWN = """
import functools

def reduce(fn, start):
    return lambda values: functools.reduce(fn, values, start)
"""

READS_ALL_FIRST = """
def reduce(fn, start):
    def fold(values):
        result, rest = start, [*values]
        rest.reverse()
        while rest:
            result = fn(result, rest.pop())
        return result

    return fold
"""

LAST_FORGOTTEN = """
def reduce(fn, start):
    def fold(values):
        result = start
        for x in list(values)[:-1]:
            result = fn(result, x)
        return result

    return fold
"""

EMPTIES_THE_LIST = """
def reduce(fn, start):
    def fold(values):
        result = start
        if not isinstance(values, list):
            values = list(values)
        while values:
            result = fn(result, values.pop(0))
        return result

    return fold
"""

KEEPS_A_LIST = """
def reduce(fn, start):
    results = [start]

    def fold(values):
        for x in values:
            results.append(fn(results[-1], x))
        return results[-1]

    return fold
"""

ASKS_FOR_THE_LENGTH = """
def reduce(fn, start):
    def fold(values):
        result = start
        for i in range(len(values)):
            result = fn(result, values[i])
        return result

    return fold
"""

NOTHING_IS_ZERO = """
def reduce(fn, start):
    def fold(values):
        values = list(values)
        if not values:
            return 0.0
        result = start
        for x in values:
            result = fn(result, x)
        return result

    return fold
"""


@is_reduce(group="order", because="operators.is_reduce: 'True if the function is right.'")
def test_right_folds(student):
    """Three right functions pass, and one that forgets the last value does not."""
    expect(
        FOLDS(student, "minitorch", PYTHONS_OWN, READS_ALL_FIRST, LAST_FORGOTTEN),
        ["passes", "passes", "passes", "refused"],
        example="three right functions, and one that forgets the last value",
        hint="ask for what was promised alone, and for numbers for which the right result is exact",
        misconception="more-than-promised",
    )


@is_reduce(group="order", because="operators.is_reduce: 'A wrong function may be right for some fn'")
def test_orders(student):
    """A fold from the right is refused, and one that hands the element to fn first."""
    expect(
        FOLDS(student, "minitorch", "reduce-folds-from-the-right", "reduce-swaps-arguments"),
        ["passes", "refused", "refused"],
        example="a right function, one that begins with the last value, and one that hands the element to fn first",
        hint="addition is the same in any order; a difference or a mean shows one order and hides another",
        misconception="sums-only",
        when={
            ("passes", "passes", "refused"): ("differences-only", "s - x - y is s - y - x: double the result in fn"),
            ("passes", "refused", "passes"): ("symmetric-fn", "fn(x, y) must not be fn(y, x)"),
        },
    )


@is_reduce(group="start", because="operators.is_reduce: 'A wrong function may be right for some fn, for some start'")
def test_starts(student):
    """A fold that begins with the first value, and not with start, is refused."""
    expect(
        FOLDS(student, PYTHONS_OWN, "reduce-ignores-start"),
        ["passes", "refused"],
        example="a right function, and one that forgets start unless there is nothing else",
        hint="choose a start that changes the result",
        misconception="neutral-start",
    )


@is_reduce(group="start", because="operators.is_reduce: 'It may also raise an error: then the answer is False.'")
def test_nothing_to_fold(student):
    """A fold that cannot do without a value is refused, and one that makes 0 of nothing."""
    expect(
        FOLDS(student, PYTHONS_OWN, "reduce-needs-an-element", NOTHING_IS_ZERO),
        ["passes", "refused", "refused"],
        example="a right function, one that raises an error for an empty list, and one that returns 0 for it",
        hint="an empty list is a list, too",
        misconception="never-empty",
        when={("passes", "raises", "refused"): ("errors-not-caught", "an error is an answer: try, and return False")},
    )


@is_reduce(group="calls", because="operators.is_reduce: 'or the first time only'")
def test_a_second_call_of_the_fold(student):
    """A fold that goes on where the last call ended is refused."""
    expect(
        FOLDS(student, PYTHONS_OWN, "reduce-remembers", KEEPS_A_LIST),
        ["passes", "refused", "refused"],
        example="a right function, that of the lesson, and another one that goes on",
        hint="call what reduce returns twice",
        misconception="asked-once",
    )


@is_reduce(group="values", because="operators.is_reduce: 'is called with values: a list, or anything else that a for'")
def test_generators(student):
    """A fold that asks for the length of its values is refused."""
    expect(
        FOLDS(student, PYTHONS_OWN, ASKS_FOR_THE_LENGTH),
        ["passes", "refused"],
        example="a right function, and one that asks for the length of its values",
        hint="a generator can be walked through, and has no length",
        misconception="lists-only",
        when={("passes", "raises"): ("errors-not-caught", "an error is an answer: try, and return False")},
    )


@is_reduce(group="values", because="lesson 00, 'Functions that make functions': the list that comes in stays as it is.")
def test_the_list_afterwards(student):
    """A fold that takes the values out of the list is refused."""
    expect(
        FOLDS(student, PYTHONS_OWN, EMPTIES_THE_LIST),
        ["passes", "refused"],
        example="a right function, and one that leaves an empty list behind",
        hint="hand over one list twice, and no copies of it, or look at it after the call",
        misconception="copies-of-the-list",
    )
