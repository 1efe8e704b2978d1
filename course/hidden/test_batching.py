"""Hidden tests of batching by rules."""

import functools

import numpy as np
import pytest

from autograder import expect

vmap = functools.partial(pytest.mark.exercise, "batching.vmap")


def hashable(x):
    """Return an array as tuples of tuples."""
    return tuple(map(hashable, x)) if x.ndim else float(x)


@vmap(
    group="axes", because="batching.moved_axis: 'The axis, counted from the front: never 0, which counts the examples.'"
)
def test_sums_along_inner_axes(student):
    """A sum along an axis of one example, counted from either end, leaves the examples apart."""

    def observe(mg, x):
        found = [mg.batching.moved_axis(axis, 2) for axis in (0, 1, -1, -2)]
        sums = [mg.batching.Batched(mg.tensor(x)).sum(dim).value.tolist() for dim in (0, -2)]
        return [found, sums]

    x = np.arange(12.0).reshape(2, 3, 2)
    expect(
        student(observe, x),
        [[1, 2, 2, 1], [x.sum(1).tolist()] * 2],
        hint="count the axis from the front, then add one",
        misconception="one-added-to-negative-axes",
        when={
            ((0, 1, -1, -2), (hashable(x.sum(0)), hashable(x.sum(1)))): (
                "axes-not-shifted",
                "axis 0 counts the examples",
            ),
        },
    )


@vmap(group="axes", because="batching.aligned: 'the missing axes of x, of size 1, belong *behind* axis 0'")
def test_missing_axes(student):
    """Examples stay apart where one of two values has fewer axes, even if all sizes are equal."""

    def observe(mg, x, y):
        a, b = mg.batching.Batched(mg.tensor(x)), mg.batching.Batched(mg.tensor(y))
        return [(a * b).value.tolist(), (b - a).value.tolist()]

    x, y = np.array([[1.0, 2.0], [3.0, 4.0]]), np.arange(8.0).reshape(2, 2, 2)
    expect(
        student(observe, x, y),
        [(x[:, None] * y).tolist(), (y - x[:, None]).tolist()],
        hint="x.value.view(examples, 1, ...) for one missing axis",
        misconception="missing-axis-in-front",
    )


@vmap(
    group="axes",
    because="batching.aligned: 'What all examples share is returned as it is; its axes are those of one example.'",
)
def test_shared_values(student):
    """A tensor that all examples share may have more axes than theirs, or fewer; a number has none."""

    def observe(mg, x, table, row):
        a = mg.batching.Batched(mg.tensor(x))
        try:
            found = [a + mg.tensor(table), mg.tensor(row) - a, 2.0 - a]
            return [each.value.tolist() for each in found]
        except (AttributeError, ValueError, RuntimeError) as error:
            return type(error).__name__

    x, table, row = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[10.0, 20.0], [30.0, 40.0]]), np.array([5.0, 7.0])
    expect(
        student(observe, x, table, row),
        [(x[:, None] + table).tolist(), (row - x).tolist(), (2.0 - x).tolist()],
        hint="the larger rank counts, also where it is that of the shared value",
        misconception="rank-of-the-batch-only",
    )


@vmap(group="values", because="batching.vmap: 'what a loop over the examples would give, stacked along axis 0'")
def test_as_a_loop(student):
    """The function is called once, and gives what a loop would give."""

    def observe(mg, x, y):
        calls = []

        def f(a, b):
            calls.append(1)
            return (a * b).sum() + a.exp()

        found = mg.batching.vmap(f)(mg.tensor(x), mg.tensor(y))
        return [found.tolist(), len(calls)]

    x, y = np.arange(6.0).reshape(3, 2) / 4.0, np.arange(6.0).reshape(3, 2) - 2.0
    expect(
        student(observe, x, y),
        [((x * y).sum(1, keepdims=True) + np.exp(x)).tolist(), 1],
        hint="one call, with Batched arguments",
        misconception="a-loop",
    )


@vmap(group="values", because="batching.vmap: 'For each argument the axis that counts the examples'")
def test_axes_of_arguments(student):
    """Each argument says by in_axes which of its axes counts the examples; one number serves for all."""

    def observe(mg, x, y):
        def f(a, b):
            return a * 10.0 + b.sum()

        first = mg.batching.vmap(f, in_axes=(0, 2))(mg.tensor(x), mg.tensor(y))
        second = mg.batching.vmap(f, in_axes=-1)(mg.tensor(x.T), mg.tensor(y))
        return [first.tolist(), second.tolist()]

    x, y = np.arange(9.0).reshape(3, 3), np.arange(27.0).reshape(3, 3, 3)
    right = (x * 10.0 + y.sum((0, 1))[:, None]).tolist()
    expect(
        student(observe, x, y),
        [right, right],
        hint="axis_to_front(x, axis) for each argument with its own axis",
        misconception="axis-0-always",
    )


@vmap(
    group="values",
    because="batching.vmap: 'It raises a ValueError if the arguments disagree about the number of examples'",
)
def test_numbers_of_examples(student):
    """Arguments of three and of one example are refused, and so is a call without any."""

    def observe(mg, x, y):
        seen = []
        for in_axes in ((0, 0), (None, None)):
            try:
                mg.batching.vmap(lambda a, b: a * b, in_axes=in_axes)(mg.tensor(x), mg.tensor(y))
                seen.append("nothing")
            except Exception as error:
                seen.append(type(error).__name__)
        return seen

    expect(
        student(observe, np.ones((3, 2)), np.ones((1, 2))),
        ["ValueError", "ValueError"],
        hint="collect the sizes in a set: it must have one element",
        misconception="size-of-the-first",
    )


@vmap(group="gradients", because="batching.vmap: 'so that each example has a gradient of its own in it'")
def test_gradients_of_examples(student):
    """vmap(grad(loss), in_axes=(None, 0, 0)) gives one gradient in the shared weights for each example."""

    def observe(mg, w, x, y):
        def loss(w, x, y):
            return ((w * x).sum() - y) ** 2

        try:
            of_each = mg.batching.vmap(mg.functional.grad(loss), in_axes=(None, 0, 0))
            return of_each(mg.tensor(w), mg.tensor(x), mg.tensor(y)).tolist()
        except (TypeError, AttributeError) as error:
            return type(error).__name__

    w, x, y = np.array([1.0, 2.0]), np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([3.0, 1.0, 7.0])
    expect(
        student(observe, w, x, y),
        (2.0 * (x @ w - y)[:, None] * x).tolist(),
        hint="repeat what all examples share: a Batched for every argument",
        misconception="shared-argument-not-repeated",
        when={(((-14.0, -4.0),) * 3): ("gradients-added-up", "each example has a gradient of its own")},
    )


@vmap(group="special", because="batching.vmap: '`unbatched` makes its results'")
def test_constant_results(student):
    """A result that no argument moves is the same for all examples; of several results each is a batch."""

    def observe(mg, x):
        try:
            found = mg.batching.vmap(lambda a: (a * a, 7.0))(mg.tensor(x))
        except (AttributeError, TypeError) as error:
            return type(error).__name__
        return [each.tolist() for each in found]

    expect(
        student(observe, np.array([1.0, 2.0, 3.0])),
        [[1.0, 4.0, 9.0], [7.0, 7.0, 7.0]],
        hint="hand what the function returns to unbatched, with the number of examples",
        misconception="value-taken",
    )
