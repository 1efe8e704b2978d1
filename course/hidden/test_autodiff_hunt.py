"""Hidden tests of a student's test of sorts: right sorts must pass, and wrong ones must not."""

import functools

import pytest

from autograder import Hunt, expect

is_sort = functools.partial(pytest.mark.exercise, "autodiff.is_sort")

SORTS = Hunt(
    "autodiff.topological_sort",
    "autodiff.is_sort(topological_sort, leaf, constant, result)",
    """
from minigrad import autodiff
from minigrad.checks.standins import constant, leaf, result
""",
)

FIRST_INPUT_FIRST = """
def topological_sort(variable):
    order, seen, stack = [], {variable.unique_id}, [(variable, False)]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
            continue
        stack.append((node, True))
        for parent in reversed(list(node.parents)):
            if parent.unique_id not in seen and not parent.is_constant():
                seen.add(parent.unique_id)
                stack.append((parent, False))
    return order[::-1]
"""

LAST_MISSING = """
def topological_sort(variable):
    return list(autodiff.topological_sort(variable))[:-1] or [variable]
"""

LAST_TWICE = """
def topological_sort(variable):
    order = list(autodiff.topological_sort(variable))
    return [*order, order[-1]]
"""


@is_sort(group="orders", because="autodiff.is_sort: 'Several orders of a graph may be right'")
def test_orders_that_differ(student):
    """Three right sorts, whose orders differ, pass, and one that turns its order round does not."""
    expect(
        SORTS(student, "stack_of_iterators", "counting_uses", "longest_distance", "leaves-first"),
        ["passes", "passes", "passes", "refused"],
        example="three right sorts, and one that begins with the leaves",
        hint="ask whether each variable comes before those that it was made from; do not ask for one order",
        misconception="compared-with-one-order",
    )


@is_sort(group="orders", because="autodiff.is_sort: 'A wrong function may be right for many graphs'")
def test_layer_by_layer(student):
    """A breadth-first walk is right on chains and on diamonds, and is refused."""
    expect(
        SORTS(student, "stack_of_iterators", "breadth-first-order"),
        ["passes", "refused"],
        example="a right sort, and a breadth-first walk",
        hint="let a variable be reached by a short way and by a longer one",
        misconception="chains-and-diamonds-only",
    )


@is_sort(group="orders", because="autodiff.is_sort: 'A wrong function may be right for many graphs'")
def test_a_mark_that_comes_too_early(student):
    """A sort that is right wherever an input stands in the first place of those that use it is refused."""
    expect(
        SORTS(student, "stack_of_iterators", "marked-too-early", FIRST_INPUT_FIRST),
        ["passes", "refused", "refused"],
        example="a right sort, and two that mark a variable as met too early",
        hint="exchange the inputs as well: a short way may come first or last",
        misconception="one-side-only",
    )


@is_sort(group="members", because="autodiff.is_sort: 'does what `topological_sort` should'")
def test_variables_that_come_twice(student):
    """A list with a variable twice is refused, also if the second place is a good one."""
    expect(
        SORTS(student, "stack_of_iterators", LAST_TWICE),
        ["passes", "refused"],
        example="a right sort, and one that lists its last variable twice",
        hint="count: a set of ids does not see that one comes twice",
        misconception="twice-not-noticed",
    )


@is_sort(group="members", because="autodiff.is_sort: 'does what `topological_sort` should'")
def test_variables_that_are_missing(student):
    """A sort that loses the last variable of its order is refused."""
    expect(
        SORTS(student, "stack_of_iterators", LAST_MISSING),
        ["passes", "refused"],
        example="a right sort, and one that loses its last variable",
        hint="all variables must be there: compare with those that you can reach",
        misconception="missing-not-noticed",
    )


@is_sort(group="members", because="autodiff.is_sort: 'does what `topological_sort` should'")
def test_constants_in_the_order(student):
    """A sort that lists constants is refused."""
    expect(
        SORTS(student, "stack_of_iterators", "constants-included"),
        ["passes", "refused"],
        example="a right sort, and one that lists constants",
        hint="put constants into your graphs: they have no place in the order",
        misconception="no-constants",
    )


@is_sort(group="calls", because="autodiff.is_sort: 'or the first time only'")
def test_a_second_call(student):
    """A sort that remembers what it has seen in an earlier call is refused."""
    expect(
        SORTS(student, "stack_of_iterators", "memory-between-calls"),
        ["passes", "refused"],
        example="a right sort, and one that remembers its earlier calls",
        hint="sort a graph again, and ask again",
        misconception="asked-once",
    )


@is_sort(group="calls", because="autodiff.is_sort: 'does what `topological_sort` should'")
def test_deep_graphs(student):
    """A sort that calls itself is refused."""
    expect(
        SORTS(student, "stack_of_iterators", "recursive-sort"),
        ["passes", "refused"],
        example="a right sort, and one that calls itself",
        hint="try a chain of some thousand variables; a RecursionError is an answer, too",
        misconception="shallow-graphs-only",
    )
