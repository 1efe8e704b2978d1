"""Hidden tests of the tensors' engine: gradients get their inputs' shapes."""

import functools

import numpy as np
import pytest

from autograder import expect

unbroadcast = functools.partial(pytest.mark.exercise, "engine.unbroadcast")

REPEATED = "engine.unbroadcast: 'its derivative is the sum over all of them.'"


def mixed(shape, seed):
    """Numbers without any order in them."""
    return np.random.default_rng(seed).normal(size=shape)


# --- unbroadcast --------------------------------------------------------------------------------------------


def summed(mg, gradient, shape):
    """Probe: the shape and the elements of a gradient that was summed to a shape."""
    try:
        found = mg.engine.unbroadcast(mg.tensor(gradient), tuple(shape))
    except (ValueError, IndexError) as error:
        return f"{type(error).__name__}: {error}"
    return [list(found.shape), found.tolist()]


@unbroadcast(group="values", because="engine.unbroadcast: 'and those where its size is 1 and the gradient's is not'")
def test_an_axis_of_size_one(student):
    """Where a column was repeated to the right, each of its elements gets the sum of its row."""
    expect(
        student(summed, np.array([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]]), [2, 1]),
        [[2, 1], [[7.0], [56.0]]],
        hint="an axis of size 1 was repeated along the gradient's axis: sum over it, and keep it with size 1",
        misconception="missing-axes-only",
        when={
            ((2, 1), ((7.0 / 3.0,), (56.0 / 3.0,))): ("mean-instead-of-sum", "add up: the element moved all of them"),
            ((2, 1), ((1.0,), (8.0,))): ("first-one-taken", "every place that the element was repeated to counts"),
            ((2,), (7.0, 56.0)): ("axis-dropped", "the input has this axis, with size 1"),
        },
    )


@unbroadcast(
    group="values", because="engine.unbroadcast: 'those that it does not have (shapes are aligned at their last axes)'"
)
def test_a_missing_axis(student):
    """Where a row was repeated down, each of its elements gets the sum of its column."""
    expect(
        student(summed, np.array([[1.0, 2.0], [4.0, 8.0]]), [2]),
        [[2], [5.0, 10.0]],
        hint="the gradient has axes in front that the input does not have: sum over them",
        misconception="axes-of-size-one-only",
        when={
            ((2,), (3.0, 12.0)): ("aligned-at-the-first-axis", "the missing axes are the first ones of the gradient")
        },
    )


@unbroadcast(group="values", because=REPEATED)
def test_inputs_of_several_ranks(student):
    """In a product of three tensors of several ranks each gets a gradient of its own shape."""

    def observe(mg, x, y, z, upstream):
        inputs = [mg.tensor(value).requires_grad_() for value in (x, y, np.array(z))]
        try:
            (inputs[0] * inputs[1] * inputs[2]).backward(mg.tensor(upstream))
        except (ValueError, mg.errors.MinigradError) as error:
            return f"{type(error).__name__}: {error}"
        return [a.grad.tolist() for a in inputs]

    x, y, z, upstream = mixed((2, 1, 4), 1), mixed((3, 1), 2), -1.5, mixed((2, 3, 4), 3)
    wanted = [
        (upstream * y * z).sum(1, keepdims=True).tolist(),
        (upstream * x * z).sum((0, 2))[:, None].tolist(),
        float((upstream * x * y).sum()),
    ]
    expect(
        student(observe, x, y, z, upstream),
        wanted,
        hint="several axes may have been repeated at once: sum over all of them",
        misconception="first-repeated-axis-only",
    )


@unbroadcast(group="empty", because="engine.unbroadcast: 'and the gradient's is not, be it even 0.'")
def test_repeated_not_once(student):
    """An element that was repeated no times has the derivative 0."""
    expect(
        [student(summed, np.zeros((0, 3)), [1, 3]), student(summed, np.zeros((2, 0)), [])],
        [[[1, 3], [[0.0, 0.0, 0.0]]], [[], 0.0]],
        hint="broadcasting makes 0 of a size of 1 too: ask whether the sizes differ, not which is larger",
        misconception="only-larger-sizes-summed",
    )


@unbroadcast(
    group="higher",
    because="engine.unbroadcast: 'These methods are recorded where the gradient is to be differentiated again'",
)
def test_summed_gradients_can_be_differentiated(student):
    """The gradient of a number that multiplies a row changes with the row."""

    def observe(mg, x, factor):
        row, scale = mg.tensor(x).requires_grad_(), mg.tensor(np.array(factor)).requires_grad_()
        (row * row * scale).sum().backward(create_graph=True)
        first, row.grad = scale.grad, None
        if not first.requires_grad:
            return "a constant"
        first.backward()
        return row.grad.tolist()

    expect(
        student(observe, np.array([1.0, -2.0, 0.5]), 3.0),
        [2.0, -4.0, 1.0],
        hint="use the gradient's own methods, sum and view: what goes by way of an array has no history",
        misconception="cut-off-the-graph",
    )
