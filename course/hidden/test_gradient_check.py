"""Hidden tests of central differences for tensors."""

import functools

import numpy as np
import pytest

from autograder import expect

difference = functools.partial(pytest.mark.exercise, "gradient_check.grad_central_difference")


@difference(
    group="values",
    because="gradient_check.grad_central_difference: 'minus f with it moved down by epsilon, over the distance between the two, 2 epsilon.'",
)
def test_difference_of_a_cube(student):
    """Between 1.5 and 2.5 a cube rises by 12.25."""

    def observe(mg, x, epsilon):
        def cube(a):
            return (a * a * a).sum()

        return float(mg.gradient_check.grad_central_difference(cube, mg.tensor(x), epsilon=epsilon))

    expect(
        student(observe, np.array([2.0]), 0.5),
        12.25,
        hint="move the element by epsilon, the argument, whatever it is",
        misconception="epsilon-ignored",
        tolerance=1e-6,
        when={
            15.25: ("one-sided", "this is the rise from the middle upwards; the other side takes part too"),
            24.5: ("divided-by-epsilon", "the two places are 2 epsilon apart"),
            0.0: ("one-memory-for-both", "both sides see the same numbers: the two copies must not share memory"),
        },
    )


@difference(
    group="values",
    because="gradient_check.grad_central_difference: 'The index of the element, one number for each axis'",
)
def test_difference_in_one_element(student):
    """Only the element at ind moves; in a tensor without axes that is the only one."""

    def observe(mg, weights):
        def weighted(a):
            return (a * mg.tensor(weights)).sum()

        x = mg.tensor(np.zeros(weights.shape))
        found = [mg.gradient_check.grad_central_difference(weighted, x, ind=ind) for ind in ([0, 2], (1, 0))]
        found.append(mg.gradient_check.grad_central_difference(lambda a: a * 7.0, mg.tensor(np.array(1.0)), ind=()))
        return [float(each) for each in found]

    expect(
        student(observe, np.array([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]])),
        [4.0, 8.0, 7.0],
        hint="ind has one number for each axis: move x[tuple(ind)] and nothing else",
        misconception="first-element-moved",
        tolerance=1e-6,
        when={
            (63.0, 63.0, 7.0): ("every-element-moved", "this is the sum of all derivatives"),
            (7.0, 56.0, 7.0): ("whole-row-moved", "the first number of ind alone names a whole row"),
        },
    )


@difference(group="values", because="gradient_check.grad_central_difference: 'Which of them moves, counted from 0.'")
def test_difference_in_one_argument(student):
    """Only the tensor that arg names moves, the others reach f as they are; and gradcheck relies on it."""

    def observe(mg, x):
        a, b, c = (mg.tensor(x * n).requires_grad_() for n in (1.0, 2.0, 3.0))

        def mixture(p, q, r):
            return (p * 2.0 + q * r).sum()

        found = [mg.gradient_check.grad_central_difference(mixture, a, b, c, arg=arg) for arg in (0, 1, 2)]
        return [*(float(each) for each in found), mg.gradcheck(mixture, (a, b, c), raise_exception=False)]

    expect(
        student(observe, np.array([5.0, 7.0])),
        [2.0, 15.0, 10.0, True],
        hint="replace vals[arg], and hand all others on",
        misconception="first-argument-moved",
        tolerance=1e-6,
    )


@difference(
    group="inputs", because="gradient_check.grad_central_difference: 'they are left as they are, so work on copies'"
)
def test_tensors_are_left_as_they_are(student):
    """The tensors have the same numbers afterwards, to the last digit."""

    def observe(mg, x, ind):
        a, calls = mg.tensor(x), []

        def square(b):
            calls.append(b)
            return (b * b).sum()

        mg.gradient_check.grad_central_difference(square, a, ind=tuple(ind))
        return len(calls), a.tolist()

    x = np.array([0.1, 0.7, 1.3])
    calls, left = student(observe, x, [1])
    expect(
        [calls >= 2, left == x.tolist(), bool(np.allclose(left, x, 0.0, 1e-9))],
        [True, True, True],
        hint="move the element of a copy, not of the tensor",
        misconception="input-changed",
        when={(True, False, True): ("restored-inexactly", "adding and subtracting again does not restore every digit")},
    )
