"""Hidden tests of numerical derivatives."""

import math
import random

import pytest

from autograder import expect

# --- derivatives.central_difference -------------------------------------------------------------------------


@pytest.mark.exercise(
    "derivatives.central_difference",
    group="slope",
    because="derivatives.central_difference: 'by a step to either side', (f(x + epsilon) - f(x - epsilon)) / (2 epsilon)",
)
def test_central_looks_to_both_sides(student):
    """At a corner, the slope is the mean of both sides."""

    def observe(mg, epsilon):
        return mg.derivatives.central_difference(lambda x: 2.0 * x if x > 0.0 else 5.0 * x, 0.0, epsilon=epsilon)

    expect(
        student(observe, 0.25),
        3.5,
        hint="one point lies at x + epsilon, the other at x - epsilon; rise over run",
        misconception="not-the-central-slope",
        when={
            2.0: (
                "forward-instead-of-central",
                "2 is the slope on the right side alone: the other point is x - epsilon",
            ),
            5.0: (
                "backward-instead-of-central",
                "5 is the slope on the left side alone: the other point is x + epsilon",
            ),
            7.0: ("divides-by-one-epsilon", "7 is twice 3.5: the two points are 2 epsilon apart"),
            -3.5: ("sign-is-reversed", "the value at x + epsilon comes first, that at x - epsilon is subtracted"),
            1.75: "1.75 is how far f rises between the two points: divide it by their distance, 2 epsilon",
            0.875: "the distance of the two points is 2 epsilon, not 2",
            1.0: "1 is half the slope on the right: from x + epsilon it takes two steps back to reach x - epsilon",
            0.21875: (
                "multiplies-by-epsilon",
                "a / 2 * epsilon divides by 2 and then multiplies by epsilon; put 2 * epsilon in parentheses",
            ),
        },
    )


@pytest.mark.exercise(
    "derivatives.central_difference",
    group="steps",
    because="derivatives.central_difference: 'epsilon: The length of each step.'",
)
def test_central_takes_the_steps_it_is_given(student):
    """Each step has the length epsilon, also where that is large."""

    def observe(mg, epsilon):
        return mg.derivatives.central_difference(lambda x: x**3, 1.0, epsilon=epsilon)

    expect(
        student(observe, 2.0),
        7.0,
        hint="for x**3 at 1 with epsilon = 2: (3**3 + 1) / 4",
        misconception="epsilon-is-ignored",
        when={4.0: ("steps-are-halved", "each of the two steps has the full length epsilon")},
    )


@pytest.mark.exercise(
    "derivatives.central_difference",
    group="accuracy",
    because="derivatives.central_difference: 'with an error proportional to epsilon squared'",
)
def test_central_is_more_accurate(student):
    """With epsilon = 0.001 the slopes of sin, exp and a polynomial are right to a few millionths, at many points."""

    def observe(mg, seed):
        rng = random.Random(seed)
        functions = (math.sin, math.exp, lambda t: t**3 - 2.0 * t)
        points = [rng.uniform(-2.0, 2.0) for _ in range(50)]
        return [mg.derivatives.central_difference(f, x, epsilon=1e-3) for x in points for f in functions]

    rng = random.Random(11)
    points = [rng.uniform(-2.0, 2.0) for _ in range(50)]
    expect(
        student(observe, 11),
        [slope for x in points for slope in (math.cos(x), math.exp(x), 3.0 * x * x - 2.0)],
        tolerance=5e-6,
        hint="return the slope as it is; rounding it makes it wrong",
        misconception="slope-is-rounded",
    )


@pytest.mark.exercise(
    "derivatives.central_difference",
    group="arguments",
    because="derivatives.central_difference: 'arg: The index i of the argument to move'",
)
def test_central_moves_one_argument(student):
    """Only the chosen argument moves; the others stay."""

    def observe(mg):
        seen = []

        def f(x, y, z):
            seen.append([x, y, z])
            return x + 10.0 * y + 100.0 * z

        moved = []
        for arg in (0, 1, 2):
            seen.clear()
            mg.derivatives.central_difference(f, 1.0, 2.0, 3.0, arg=arg)
            moved.append([i for i in range(3) if any(point[i] != [1.0, 2.0, 3.0][i] for point in seen)])
        return moved

    expect(
        student(observe),
        [[0], [1], [2]],
        hint="for each arg, these are the arguments that moved; arg says which of vals does",
        misconception="arg-is-ignored",
        when={((0, 1, 2), (0, 1, 2), (0, 1, 2)): ("all-arguments-move", "only vals[arg] moves, the others stay")},
    )


@pytest.mark.exercise(
    "derivatives.central_difference", group="special", because="derivatives.central_difference: '-1 is the last'"
)
def test_central_counts_from_the_end(student):
    """The argument -1 is the last one."""

    def observe(mg):
        seen = []

        def f(x, y):
            seen.append([x, y])
            return x + 10.0 * y

        mg.derivatives.central_difference(f, 1.0, 2.0, arg=1)
        seen.clear()
        try:
            mg.derivatives.central_difference(f, 1.0, 2.0, arg=-1)
        except TypeError as error:
            if "positional" not in str(error):  # f got too many numbers, or too few
                raise
            return "TypeError"
        return [i for i in range(2) if any(point[i] != [1.0, 2.0][i] for point in seen)]

    expect(
        student(observe),
        [1],
        hint="vals[arg + 1:] is all of vals where arg is -1; a list with one changed element has no such trap",
        misconception="negative-arg-breaks",
        when={(0,): "the first argument moved: arg says which of vals does"},
    )


@pytest.mark.exercise(
    "derivatives.central_difference",
    group="arguments",
    because="derivatives.central_difference: 'f: A function of n numbers.'",
)
def test_central_asks_only_for_values(student):
    """Nothing but numbers reaches f, one for each of vals, and the two points differ in one of them."""

    def observe(mg):
        seen = []

        def f(x, y):
            seen.append([x, y])
            return x * y

        mg.derivatives.central_difference(f, 4, 3, arg=1, epsilon=0.5)
        moved = [(x, abs(y - 3)) for x, y in seen if (x, y) != (4, 3)]
        return sorted({(x, "a step below 1" if step < 1 else "a step of 1 or more") for x, step in moved})

    expect(
        student(observe),
        [[4.0, "a step below 1"]],
        hint="here vals are the ints 4 and 3, and epsilon is 0.5: f is asked at 4 and at points less than 1 from 3",
        misconception="moves-are-rounded",
        when={
            ((4.0, "a step of 1 or more"),): (
                "moves-are-rounded",
                "an array of ints rounds what is put into it; make floats of vals",
            )
        },
    )


# --- derivatives.gradient -----------------------------------------------------------------------------------


@pytest.mark.exercise(
    "derivatives.gradient",
    group="slopes",
    because="derivatives.gradient: 'The n partial derivatives, in the order of the arguments.'",
)
def test_one_slope_for_each_argument(student):
    """The gradient holds the slope in each argument, in their order."""

    def observe(mg):
        gradient = mg.derivatives.gradient(lambda x, y, z: x + 10.0 * y + 100.0 * z, 1.0, 2.0, 3.0)
        return [float(slope) for slope in gradient]

    expect(
        student(observe),
        [1.0, 10.0, 100.0],
        tolerance=1e-6,
        hint="as many slopes as arguments, and the i-th element is the slope in argument i: pass arg on",
        misconception="every-slope-in-the-first-argument",
    )


@pytest.mark.exercise(
    "derivatives.gradient",
    group="slopes",
    because="derivatives.gradient: 'the n numbers at which to measure the slopes'",
)
def test_every_slope_at_the_same_point(student):
    """All slopes are measured at the same point: moving one argument leaves the next measurement alone."""

    def observe(mg):
        gradient = mg.derivatives.gradient(lambda x, y: x * y, 2.0, 3.0, epsilon=0.5)
        return [float(slope) for slope in gradient]

    expect(
        student(observe),
        [3.0, 2.0],
        hint="the slope of x * y in y is x = 2; another value means that x had been moved and not put back",
        misconception="earlier-moves-remain",
    )


@pytest.mark.exercise(
    "derivatives.gradient",
    group="accuracy",
    because="derivatives.gradient: 'Approximate all partial derivatives of f, by central differences.'",
)
def test_gradient_looks_to_both_sides(student):
    """At a corner, each slope is the mean of both sides."""

    def observe(mg):
        corner = lambda x: 2.0 * x if x > 0.0 else 5.0 * x  # noqa: E731
        gradient = mg.derivatives.gradient(lambda x, y: corner(x) + 2.0 * corner(y), 0.0, 0.0)
        return [float(slope) for slope in gradient]

    expect(
        student(observe),
        [3.5, 7.0],
        tolerance=1e-6,
        hint="one step to either side, in each argument: central differences",
        misconception="gradient-is-one-sided",
    )


@pytest.mark.exercise(
    "derivatives.gradient", group="arguments", because="derivatives.gradient: 'epsilon: The length of each step.'"
)
def test_gradient_passes_epsilon_on(student):
    """Each step has the length epsilon that the caller gives."""

    def observe(mg):
        gradient = mg.derivatives.gradient(lambda x, y: x**3 + y**3, 0.0, 0.0, epsilon=0.5)
        return [float(slope) for slope in gradient]

    expect(
        student(observe),
        [0.25, 0.25],
        hint="pass epsilon on to central_difference, which has a default of its own",
        misconception="epsilon-is-not-passed-on",
    )


@pytest.mark.exercise(
    "derivatives.gradient",
    group="arguments",
    because="derivatives.gradient: '*vals: The n numbers at which to measure the slopes.'",
)
def test_gradient_of_any_number_of_arguments(student):
    """The gradient has as many elements as f has arguments, be it one or six."""

    def observe(mg):
        one = mg.derivatives.gradient(lambda x: 3.0 * x, 1.0)
        six = mg.derivatives.gradient(lambda *x: sum(i * v for i, v in enumerate(x)), *[1.0] * 6)
        return [[float(slope) for slope in gradient] for gradient in (one, six)]

    expect(
        student(observe),
        [[3.0], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]],
        tolerance=1e-6,
        hint="vals says how many arguments there are: len(vals)",
        misconception="gradient-of-three-only",
    )
