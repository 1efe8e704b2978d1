"""Hidden tests of a student's test of batching: a vmap that agrees with a loop must pass, and others must not."""

import functools

import pytest

from autograder import Hunt, expect

is_vmap = functools.partial(pytest.mark.exercise, "functional.is_vmap")

VMAPS = Hunt(
    "batching.vmap",
    "functional.is_vmap(whole)",
    """
import minigrad
from minigrad import batching as library
from minigrad import creation
from minigrad.batching import Batched, axis_to_front, unbatched


def whole(f, in_axes=0):
    inner = vmap(f, in_axes)

    def of_batch(*args):
        kept = library.moved_axis, library.aligned
        library.moved_axis, library.aligned = moved_axis, aligned
        try:
            return inner(*args)
        finally:
            library.moved_axis, library.aligned = kept

    return of_batch
""",
)
"""All three functions of an answer are at work while a batch is computed, and only then."""

VMAP = """
from minigrad.batching import aligned, moved_axis


def swapped(x, axis):
    order = list(range(x.ndim))
    order[0], order[axis] = order[axis], order[0]
    return x.permute(*order)


def each(y, change):
    return tuple(map(change, y)) if isinstance(y, tuple) else change(y)


def vmap(f, in_axes=0):
    def of_batch(*args):
        axes = in_axes if isinstance(in_axes, tuple) else {one_number}
        sizes = {{x.shape[axis] for x, axis in zip(args, axes) if axis is not None}}
        if {refused}:
            raise ValueError("sizes")
        size = max(sizes, default=1)
        moved = [x.expand(size, *x.shape) if axis is None else {front} for x, axis in zip(args, axes)]
        y = f(*[Batched({examples}) for x in moved])
        return {result}

    return of_batch
"""


def batched(
    one_number="(in_axes,) * len(args)",
    refused="len(sizes) != 1",
    front="axis_to_front(x, axis)",
    examples="x",
    result="each(y, lambda z: unbatched(z, size))",
):
    """The text of an answer; what is not given is right."""
    return VMAP.format(one_number=one_number, refused=refused, front=front, examples=examples, result=result)


AXES_SWAPPED = batched(front="swapped(x, axis)")
FIRST_BY_NUMBER = batched(one_number="(in_axes, *[in_axes and 0] * (len(args) - 1))")
LARGEST_SIZE = batched(refused="not sizes")
NONE_COUNTED = batched(refused="len(sizes) > 1")
CONSTANTS_NOT_REPEATED = batched(
    result="each(y, lambda z: z.value if isinstance(z, Batched) else creation.as_tensor(z))"
)
EXAMPLES_REVERSED = batched(result="each(y, lambda z: creation.stack(list(unbatched(z, size))[::-1]))")
FIRST_FOR_ALL = batched(examples="creation.stack([x[0]] * size)")


@is_vmap(group="axes", because="functional.is_vmap: 'all that a `Batched` can do'")
def test_axes(student):
    """A vmap that sums over the examples is refused, also where only axes counted from the back go wrong."""
    expect(
        VMAPS(student, "step_by_step", "by_cases", "axes-not-shifted", "one-added-to-negative-axes"),
        ["passes", "passes", "refused", "refused"],
        example="two right functions, and two that take the wrong axis: any one, or one counted from the back",
        hint="let the function of one example sum along an axis, counted from the front, and from the back",
        misconception="no-axis-named",
        when={("passes", "passes", "refused", "passes"): ("counted-from-the-front", "sum along dim=-1, too")},
    )


@is_vmap(group="axes", because="functional.is_vmap: 'use tensors that are no arguments'")
def test_ranks(student):
    """A vmap that misplaces missing axes is refused, also where only a tensor from elsewhere has more of them."""
    expect(
        VMAPS(student, "by_cases", batched(), "missing-axis-in-front", "rank-of-the-batch-only"),
        ["passes", "passes", "refused", "refused"],
        example="two right functions, and two that misplace missing axes: any ones, or beside tensors from elsewhere",
        hint="let values of different numbers of axes meet",
        misconception="equal-ranks",
        when={
            ("passes", "passes", "refused", "passes"): (
                "all-given-as-arguments",
                "let the function use a tensor that is no argument, and has more axes than all of them",
            )
        },
    )


@is_vmap(group="arguments", because="functional.is_vmap: 'for each argument the axis that counts the examples'")
def test_in_axes(student):
    """A vmap that overlooks in_axes is refused, and ones that exchange axes, or take one number for one argument."""
    expect(
        VMAPS(student, "step_by_step", "axis-0-always", AXES_SWAPPED, FIRST_BY_NUMBER),
        ["passes", "refused", "refused", "refused"],
        example="a right function; three that overlook in_axes, exchange two axes, use one number for one argument",
        hint="let another axis than the first one count the examples",
        misconception="axis-0-counts",
        when={
            ("passes", "refused", "passes", "refused"): (
                "two-axes-at-most",
                "take an argument of three axes, and the last one",
            ),
            ("passes", "refused", "refused", "passes"): (
                "an-axis-for-each",
                "give one number for two arguments, and not 0",
            ),
        },
    )


@is_vmap(
    group="arguments",
    because="functional.is_vmap: 'a call raises a ValueError if its arguments disagree about the number of examples'",
)
def test_refusals(student):
    """A vmap that repeats a single example to fit others is refused, and one that calls no example one."""
    expect(
        VMAPS(student, "by_cases", "size-of-the-first", LARGEST_SIZE, NONE_COUNTED),
        ["passes", "refused", "refused", "refused"],
        example="a right function, two that take 3 examples of one argument and 1 of another, one that needs no batch",
        hint="try 3 examples of one argument and 1 of another: broadcasting would take them",
        misconception="errors-not-asked",
        when={("passes", "refused", "refused", "passes"): ("none-counts-not-asked", "try in_axes=None")},
    )


@is_vmap(
    group="gradients",
    because="functional.is_vmap: 'It may be the `grad` of another one, also in an argument that all examples share'",
)
def test_gradients(student):
    """A vmap that does not repeat a shared argument is refused: no value shows it, and each gradient does."""
    expect(
        VMAPS(student, "step_by_step", "shared-argument-not-repeated"),
        ["passes", "refused"],
        example="a right function, and one that hands shared arguments on as they are",
        hint="try vmap of grad, with None in in_axes",
        misconception="values-only",
    )


@is_vmap(group="results", because="functional.is_vmap: 'return a tuple of results, and a result such as 7.0'")
def test_results(student):
    """A vmap that knows one result alone is refused, and one that does not repeat what is the same for all."""
    expect(
        VMAPS(student, "by_cases", "value-taken", CONSTANTS_NOT_REPEATED),
        ["passes", "refused", "refused"],
        example="a right function, one that takes a single Batched for the result, and one that leaves 7.0 alone",
        hint="let the function of one example return several results, of which one is a number",
        misconception="one-result",
        when={("passes", "refused", "passes"): ("shapes-not-compared", "7.0 is near [7.0, 7.0]: compare shapes, too")},
    )


@is_vmap(
    group="results", because="functional.is_vmap: 'in its shape, in its numbers, and in the order of the examples'"
)
def test_order(student):
    """A vmap that gives the examples in the opposite order is refused, and one that gives the first for all."""
    expect(
        VMAPS(student, "step_by_step", EXAMPLES_REVERSED, FIRST_FOR_ALL),
        ["passes", "refused", "refused"],
        example="a right function, one that turns the order of the examples round, and one that repeats the first",
        hint="give each example other numbers",
        misconception="examples-alike",
    )


@is_vmap(
    group="results",
    because="functional.is_vmap: 'A function that agrees with a loop over the examples is right, even if it is a loop.'",
)
def test_a_loop(student):
    """A vmap that is a loop is right."""
    expect(
        VMAPS(student, "a-loop", batched()),
        ["passes", "passes"],
        example="a function that is a loop, and one that calls the function once",
        hint="ask for results, and not for how they are made",
        misconception="how-not-what",
    )
