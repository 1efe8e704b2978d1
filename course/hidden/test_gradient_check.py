"""Hidden tests of central differences for tensors, and of a judge of backward rules."""

import functools

import numpy as np
import pytest

from autograder import expect

difference = functools.partial(pytest.mark.exercise, "gradient_check.grad_central_difference")
judge = functools.partial(pytest.mark.exercise, "gradient_check.is_right")


# --- central differences --------------------------------------------------------------------------------------------


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


# --- a judge of rules: each test asks for right rules as well, since a judge that refuses everything is none ---------


@judge(
    group="upstream", because="gradient_check.is_right: 'A right rule agrees with the slopes of f for all inputs and'"
)
def test_rules_that_ones_cannot_tell(student):
    """Elements in the wrong order, sums along the wrong axis and a forgotten upstream gradient are refused."""

    def observe(mg):
        def turned(a):
            return a.transpose(1, 2, 0)

        cases = [
            (turned, lambda d, a: [d.transpose(2, 0, 1)], (2, 2, 2)),
            (turned, lambda d, a: [d.transpose(1, 2, 0)], (2, 2, 2)),
            (lambda a: a.sum(1), lambda d, a: [np.repeat(d[:, None], 3, 1)], (3, 3)),
            (lambda a: a.sum(1), lambda d, a: [np.repeat(d[None], 3, 0)], (3, 3)),
            (lambda a: a.sum(), lambda d, a: [np.ones((2, 3))], (2, 3)),
        ]
        return ["passes" if mg.gradient_check.is_right(*case) else "refused" for case in cases]

    expect(
        student(observe),
        ["passes", "refused", "passes", "refused", "refused"],
        hint="an upstream gradient of ones looks the same in any order: draw its numbers at random",
        misconception="ones-upstream",
    )


@judge(group="upstream", because="gradient_check.is_right: 'A wrong rule may be right for half of all inputs, for'")
def test_upstream_of_both_signs(student):
    """A rule that loses the sign of d_output, or what is negative in it, is refused."""

    def observe(mg):
        def leaky(x):
            return np.maximum(x, 0.5 * x)

        cases = [
            (leaky, lambda d, x: [np.where(x > 0.0, d, 0.5 * d)], (6,)),
            (leaky, lambda d, x: [np.where(x > 0.0, np.maximum(d, 0.0), 0.5 * d)], (6,)),
            (lambda x: 3.0 * x, lambda d, x: [3.0 * abs(d)], (4,)),
        ]
        return ["passes" if mg.gradient_check.is_right(*case) else "refused" for case in cases]

    expect(
        student(observe),
        ["passes", "refused", "refused"],
        hint="an upstream gradient may be negative, too",
        misconception="positive-upstream",
    )


@judge(group="inputs", because="gradient_check.is_right: 'A right rule agrees with the slopes of f for all inputs and'")
def test_functions_that_bend(student):
    """Right rules of a square and of a cube pass; that of a cube without its factor does not."""

    def observe(mg):
        cases = [
            (lambda x: x * x, lambda d, x: [2.0 * d * x], (6,)),
            (lambda x: x * x * x, lambda d, x: [3.0 * d * x * x], (6,)),
            (lambda x: x * x * x, lambda d, x: [d * x * x], (6,)),
        ]
        return ["passes" if mg.gradient_check.is_right(*case) else "refused" for case in cases]

    expect(
        student(observe),
        ["passes", "passes", "refused"],
        hint="measure the slope at the input, with small steps to both sides; what f makes of a 1 among zeros is its "
        "slope only if f is linear",
        misconception="taken-for-linear",
        when={("passes", "refused", "refused"): ("step-too-large", "with a large step a difference is no slope")},
    )


@judge(group="inputs", because="gradient_check.is_right: 'Its numbers may be any, positive or negative.'")
def test_inputs_of_both_signs(student):
    """A rule that is right above 0 only, or below 0 only, is refused."""

    def observe(mg):
        cases = [
            (np.abs, lambda d, x: [d * np.sign(x)], (8,)),
            (np.abs, lambda d, x: [d], (8,)),
            (np.abs, lambda d, x: [-d], (8,)),
            (lambda x: x * x, lambda d, x: [d * (x + abs(x))], (2, 4)),
        ]
        return ["passes" if mg.gradient_check.is_right(*case) else "refused" for case in cases]

    expect(
        student(observe),
        ["passes", "refused", "refused", "refused"],
        hint="try negative inputs, too",
        misconception="positive-inputs",
    )


@judge(group="inputs", because="gradient_check.is_right: 'A right rule agrees with the slopes of f for all inputs and'")
def test_rules_that_are_right_at_whole_numbers(student):
    """A rule that is right at -1, 0 and 1 only is refused."""

    def observe(mg):
        cases = [
            (lambda x: x * x * x, lambda d, x: [3.0 * d * x * x], (5,)),
            (lambda x: x * x * x, lambda d, x: [3.0 * d * abs(x)], (5,)),
        ]
        return ["passes" if mg.gradient_check.is_right(*case) else "refused" for case in cases]

    expect(
        student(observe),
        ["passes", "refused"],
        hint="at 0 and at 1 many wrong formulas are right: draw inputs that are no whole numbers",
        misconception="ones-as-inputs",
    )


@judge(group="inputs", because="gradient_check.is_right: 'A wrong rule may be right for half of all inputs, for'")
def test_a_single_number(student):
    """For one number, a rule that is right on one side of 0 shows in every second try, and is refused all the same."""

    def observe(mg):
        right = mg.gradient_check.is_right(np.abs, lambda d, x: [d * np.sign(x)], (1,))
        above = [mg.gradient_check.is_right(np.abs, lambda d, x: [d], (1,)) for _ in range(8)]
        below = [mg.gradient_check.is_right(np.abs, lambda d, x: [-d], (1,)) for _ in range(8)]
        return ["passes" if right else "refused", "some pass" if any(above + below) else "all refused"]

    expect(
        student(observe),
        ["passes", "all refused"],
        hint="one number is drawn on the wrong side of 0 in every second try: try often",
        misconception="one-try",
    )


@judge(group="places", because="gradient_check.is_right: 'and for all numbers of a gradient but one'")
def test_one_wrong_element(student):
    """A rule that is wrong in its last element is refused."""

    def observe(mg):
        cases = [
            (lambda x: x * x, lambda d, x: [2.0 * d * x], (2, 3)),
            (lambda x: x * x, lambda d, x: [2.0 * d * x * np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 2.0]])], (2, 3)),
        ]
        return ["passes" if mg.gradient_check.is_right(*case) else "refused" for case in cases]

    expect(
        student(observe),
        ["passes", "refused"],
        hint="compare every element, the last one too",
        misconception="first-element-only",
    )


@judge(group="places", because="gradient_check.is_right: 'and for all numbers of a gradient but one'")
def test_exchanged_elements(student):
    """A gradient whose elements stand in another order is refused, though their sum is right."""

    def observe(mg):
        cases = [
            (lambda x: x * x, lambda d, x: [2.0 * d * x], (5,)),
            (lambda x: x * x, lambda d, x: [(2.0 * d * x)[::-1]], (5,)),
        ]
        return ["passes" if mg.gradient_check.is_right(*case) else "refused" for case in cases]

    expect(
        student(observe),
        ["passes", "refused"],
        hint="sums are equal in any order: compare element by element, or along a direction drawn at random",
        misconception="mean-compared",
    )


@judge(group="places", because="gradient_check.is_right: 'returns a gradient for each input,'")
def test_the_second_input(student):
    """Of a product of square matrices, a missing transpose in either gradient is refused."""

    def observe(mg):
        def product(a, b):
            return a @ b

        cases = [
            (product, lambda d, a, b: (d @ b.T, a.T @ d), (3, 3), (3, 3)),
            (product, lambda d, a, b: (d @ b.T, a @ d), (3, 3), (3, 3)),
            (product, lambda d, a, b: (d @ b, a.T @ d), (3, 3), (3, 3)),
        ]
        return ["passes" if mg.gradient_check.is_right(*case) else "refused" for case in cases]

    expect(
        student(observe),
        ["passes", "refused", "refused"],
        hint="look at the gradient of every input",
        misconception="first-input-only",
    )


@judge(group="places", because="gradient_check.is_right: 'another shape than its input'")
def test_another_shape(student):
    """A gradient that broadcasting would make right is refused, and so is one that was not summed."""

    def observe(mg):
        cases = [
            (lambda a: a.sum(0), lambda d, a: [np.repeat(d[None], 2, 0)], (2, 3)),
            (lambda a: a.sum(0), lambda d, a: [d[None]], (2, 3)),
            (lambda a, row: a * row, lambda d, a, row: [d * row, d * a], (2, 3), (3,)),
            (lambda a, row: a * row, lambda d, a, row: [d * row, (d * a).sum(0)], (2, 3), (3,)),
        ]
        return ["passes" if mg.gradient_check.is_right(*case) else "refused" for case in cases]

    expect(
        student(observe),
        ["passes", "refused", "refused", "passes"],
        hint="compare the shapes first: a difference of arrays broadcasts",
        misconception="shape-not-compared",
    )


@judge(group="places", because="gradient_check.is_right: 'it is nan'")
def test_nan_in_a_gradient(student):
    """A rule that gives nan in one place or in all is refused."""

    def observe(mg):
        def square(x):
            return x * x

        cases = [
            (square, lambda d, x: [2.0 * d * x], (6,)),
            (square, lambda d, x: [np.where(x > 0.0, 2.0 * d * x, np.nan)], (6,)),
            (square, lambda d, x: [d * np.nan], (6,)),
        ]
        return ["passes" if mg.gradient_check.is_right(*case) else "refused" for case in cases]

    expect(
        student(observe),
        ["passes", "refused", "refused"],
        hint="nan is neither smaller nor larger than a tolerance: ask whether all differences are small",
        misconception="nan-passes",
    )


@judge(group="places", because="gradient_check.is_right: 'It returns an array or a number'")
def test_numbers_in_place_of_arrays(student):
    """f may return a number of Python, and an input may have no axes."""

    def observe(mg):
        def total(a):
            return float(a.sum())

        def power(x):
            return float(np.exp(x))

        cases = [
            (total, lambda d, a: [np.full((2, 3), d)], (2, 3)),
            (power, lambda d, x: [d * np.exp(x)], ()),
            (power, lambda d, x: [d * x], ()),
        ]
        try:
            return ["passes" if mg.gradient_check.is_right(*case) else "refused" for case in cases]
        except (AttributeError, IndexError, TypeError):
            return "an error"

    expect(
        student(observe),
        ["passes", "passes", "refused"],
        hint="np.shape(...) knows the shape of a number, too",
        misconception="numbers-refused",
    )


@judge(group="scales", because="gradient_check.is_right: 'off by a thousandth of the gradient's largest one or more'")
def test_a_thousandth_too_much(student):
    """Gradients that are a thousandth too large are refused."""

    def observe(mg):
        cases = [
            (lambda x: 3.0 * x, lambda d, x: [3.0 * d], (5,)),
            (lambda x: 3.0 * x, lambda d, x: [3.003 * d], (5,)),
            (lambda x: x * x, lambda d, x: [2.002 * d * x], (5,)),
        ]
        return ["passes" if mg.gradient_check.is_right(*case) else "refused" for case in cases]

    expect(
        student(observe),
        ["passes", "refused", "refused"],
        hint="in float64 differences agree with a right rule to eight digits or more: ask for five",
        misconception="tolerance-too-large",
    )


@judge(group="scales", because="gradient_check.is_right: 'size: 1e8, or 1e-8'")
def test_large_and_tiny_functions(student):
    """A right rule passes and one without its factor is refused, whether gradients are about 1e8 or 1e-8."""

    def observe(mg):
        def large(x):
            return 1e8 * x * x

        def tiny(x):
            return 1e-8 * x * x

        cases = [
            (large, lambda d, x: [2e8 * d * x], (5,)),
            (tiny, lambda d, x: [2e-8 * d * x], (5,)),
            (tiny, lambda d, x: [1e-8 * d * x], (5,)),
            (large, lambda d, x: [1e8 * d * x], (5,)),
        ]
        return ["passes" if mg.gradient_check.is_right(*case) else "refused" for case in cases]

    expect(
        student(observe),
        ["passes", "passes", "refused", "refused"],
        hint="np.allclose adds 1e-8 to its tolerance if it is told nothing else: take a part of the largest slope",
        misconception="tolerance-adds-a-number",
        when={
            ("refused", "passes", "passes", "refused"): (
                "absolute-tolerance",
                "a tolerance must grow with the gradients: take a part of the largest slope",
            )
        },
    )


@judge(group="scales", because="gradient_check.is_right: 'off by a thousandth of the gradient's largest one or more'")
def test_slopes_of_zero(student):
    """A slope of 0 comes out of differences as a tiny number, beside slopes that are not 0."""

    def observe(mg):
        def ends(x):
            return np.stack([x.sum() - x[1:].sum(), x.sum() - x[:3].sum()])

        cases = [
            (ends, lambda d, x: [np.array([d[0], 0.0, 0.0, d[1]])], (4,)),
            (ends, lambda d, x: [np.array([d[0], 0.0, 0.0, -d[1]])], (4,)),
        ]
        return ["passes" if mg.gradient_check.is_right(*case) else "refused" for case in cases]

    expect(
        student(observe),
        ["passes", "refused"],
        hint="relative to itself, 0 allows no rounding at all: take a part of the largest slope",
        misconception="each-by-its-own-size",
    )
