"""Hidden tests of numbers with a tangent, and of the derivative in a direction."""

import functools
import math

import numpy as np
import pytest

from autograder import expect

dual = functools.partial(pytest.mark.exercise, "dual.Dual")
jvp = functools.partial(pytest.mark.exercise, "dual.jvp")

RULES = "dual.Dual: 'Its operations return Duals, whose tangents follow from the rules of calculus.'"
CHAIN = "lesson 10, 'The rules once more': each function multiplies its slope by the tangent of its argument."


# --- dual.Dual ----------------------------------------------------------------------------------------------


def operated(mg, name, first, second):
    """Probe: the value and the tangent of an operation on two Duals, given as pairs."""
    result = getattr(mg.dual.Dual(*first), name)(mg.dual.Dual(*second))
    return [float(result.value), float(result.tangent)]


@dual(group="sums", because="dual.Dual.plus: 'their tangents add up as well'")
def test_sum(student):
    """In a sum both numbers move."""
    expect(
        student(operated, "plus", [3.0, 0.5], [5.0, -2.0]),
        [8.0, -1.5],
        hint="add the values, and add the tangents",
        misconception="second-number-stays",
        when={(8.0, -1.0): ("tangents-multiplied-in-a-sum", "the tangents of a sum are added")},
    )


@dual(group="products", because="dual.Dual.times: 'Both may move, and each motion is multiplied by the other number.'")
def test_product(student):
    """In a product each tangent is multiplied by the other value."""
    expect(
        student(operated, "times", [3.0, 0.5], [5.0, -2.0]),
        [15.0, -3.5],
        hint="the slope of a b is a' b + a b'",
        misconception="one-factor-moves",
        when={
            (15.0, -1.0): ("tangents-multiplied", "the tangents are multiplied with each other"),
            (15.0, -8.5): ("own-value-instead-of-the-other", "each tangent belongs to the other number's value"),
        },
    )


@dual(group="products", because="dual.Dual.over: 'its tangent is (a' b - a b') / b^2'")
def test_quotient(student):
    """In a quotient the divisor's motion counts against it."""
    expect(
        student(operated, "over", [6.0, 0.5], [2.0, -4.0]),
        [3.0, 6.25],
        hint="(a' b - a b') / b^2",
        misconception="sign-of-the-divisor-lost",
        when={
            (3.0, 12.5): ("divided-once", "divide by b^2, not by b"),
            (3.0, -6.25): ("difference-turned-round", "a' b comes first"),
        },
    )


@dual(group="products", because=CHAIN)
def test_power(student):
    """The slope of a power is that of the power below it, times the tangent; exponents may be negative or broken."""

    def observe(mg, pairs, exponents):
        powers = [mg.dual.Dual(*each) ** n for each in pairs for n in exponents]
        return [[float(each.value), float(each.tangent)] for each in powers]

    exponents = [1, 3, -2, 0.5]
    pairs = [[4.0, 0.25], [1.5, -2.0]]
    expect(
        student(observe, pairs, exponents),
        [[x**n, n * x ** (n - 1) * dx] for x, dx in pairs for n in exponents],
        hint="n x^(n - 1), times the tangent of x",
        misconception="exponent-not-lowered",
    )


@dual(group="functions", because="dual.Dual.cos: 'Return the cosine.'")
def test_sine_and_cosine(student):
    """The slope of the sine is the cosine, that of the cosine is the sine with a minus."""

    def observe(mg, x, dx):
        found = mg.dual.Dual(x, dx).sin(), mg.dual.Dual(x, dx).cos()
        return [[float(each.value), float(each.tangent)] for each in found]

    x, dx = 0.75, -2.0
    expect(
        student(observe, x, dx),
        [[math.sin(x), math.cos(x) * dx], [math.cos(x), -math.sin(x) * dx]],
        hint="where the cosine falls, its slope is negative",
        misconception="cosine-without-minus",
    )


@dual(group="functions", because=CHAIN)
def test_exponential_and_logarithm(student):
    """e^x has itself as its slope, log x has 1 / x; both are multiplied by the tangent of x."""

    def observe(mg, x, dx):
        found = mg.dual.Dual(x, dx).exp(), mg.dual.Dual(x, dx).log()
        return [[float(each.value), float(each.tangent)] for each in found]

    x, dx = 0.75, -2.0
    expect(
        student(observe, x, dx),
        [[math.exp(x), math.exp(x) * dx], [math.log(x), dx / x]],
        hint="the slope of the function, times the tangent of its argument",
        misconception="tangent-of-the-argument-forgotten",
        when={
            ((math.exp(x), math.exp(x) * dx), (math.log(x), dx * x)): (
                "logarithm-multiplied",
                "the slope of log x is 1 / x",
            )
        },
    )


@dual(group="functions", because="lesson 10, 'A number that carries its slope': all sixteen digits are right")
def test_far_out(student):
    """At 1e10 the slope of the sine is its cosine, to the last digit."""

    def observe(mg, x):
        return float(mg.dual.Dual(x, 1.0).sin().tangent)

    x = 1e10
    expect(
        student(observe, x),
        math.cos(x),
        hint="use the rule; a measured difference has no right digit here",
        misconception="measured",
        tolerance=1e-12,
    )


@dual(
    group="special", because="dual.Dual.__pow__: 'For n = 0 it is 1 everywhere, so that its tangent is 0, also at 0.'"
)
def test_power_of_zero(student):
    """x ** 0 does not move, not even at 0."""

    def observe(mg, xs, dx):
        try:
            powers = [mg.dual.Dual(x, dx) ** 0 for x in xs]
        except ZeroDivisionError:
            return "ZeroDivisionError"
        return [[float(power.value), float(power.tangent)] for power in powers]

    expect(
        student(observe, [3.0, 0.0], 2.0),
        [[1.0, 0.0], [1.0, 0.0]],
        hint="0 * 0 ** -1 divides by 0: give the exponent 0 a case of its own",
        misconception="zero-to-minus-one",
    )


@dual(group="special", because="dual.Dual: 'The number: a float, a tensor, or a Dual of a lower level.'")
def test_values_that_are_duals(student):
    """Values may be Duals themselves, and results keep the level: so second derivatives are right."""

    def observe(mg, x):
        def of(f):
            inner = mg.dual.Dual(mg.dual.Dual(x, 1.0, 3), 1.0, 8)
            found = f(inner)
            second = getattr(found.tangent, "tangent", "a number")
            return [
                found.level,
                getattr(found.tangent, "level", 0),
                second if isinstance(second, float) else "no number",
            ]

        functions = [lambda x: x.sin(), lambda x: x.cos(), lambda x: x.exp(), lambda x: x.log(), lambda x: x**4]
        functions += [lambda x: x.times(x), lambda x: x.plus(x * x), lambda x: x.over(x * x)]
        try:
            return [of(f) for f in functions]
        except (TypeError, ValueError) as error:
            return type(error).__name__
        except AttributeError:
            return "AttributeError"

    x = 0.75
    second = [-math.sin(x), -math.cos(x), math.exp(x), -1.0 / x**2, 12.0 * x**2, 2.0, 2.0, 2.0 / x**3]
    expect(
        student(observe, x),
        [[8, 3, each] for each in second],
        hint="sin, cos, exp and log of the module take any kind of value, and like() keeps the level",
        misconception="level-begins-at-1",
        when={"TypeError": ("floats-only", "math.sin takes floats alone: use the module's sin")},
    )


# --- dual.jvp -----------------------------------------------------------------------------------------------


@jvp(group="values", because="dual.jvp: 'and how fast its result moves when its arguments move'")
def test_one_argument(student):
    """The result moves with its slope times the speed of the argument."""

    def observe(mg, x, dx):
        value, tangent = mg.dual.jvp(lambda x: x * x + 3.0 / x, (x,), (dx,))
        return [float(value), float(tangent)]

    expect(
        student(observe, 2.0, 4.0),
        [5.5, 13.0],
        hint="give each Dual its own tangent",
        misconception="tangent-taken-as-1",
    )


@jvp(group="values", because="dual.jvp: 'How fast each of them moves, in the same order.'")
def test_several_arguments(student):
    """All arguments move at once, in one call of the function."""

    def observe(mg, primals, tangents):
        calls = []

        def f(x, y, z):
            calls.append(1)
            return x * y - z / y

        value, tangent = mg.dual.jvp(f, tuple(primals), tuple(tangents))
        return [float(value), float(tangent), len(calls)]

    expect(
        student(observe, [3.0, 2.0, 4.0], [1.0, 10.0, 100.0]),
        [4.0, -8.0, 1],
        hint="each argument becomes a Dual of the one new level; f is called once",
        misconception="first-argument-moves",
        when={
            (4.0, -8.0, 3): ("one-call-for-each-argument", "all of them may move at once, in one call"),
        },
    )


@jvp(
    group="levels",
    because="lesson 10, 'Whose tangent is it?': At the higher level, which belongs to the inner derivative, x is a constant",
)
def test_known_trap(student):
    """d/dx [x * d/dy (x + y)] is 1."""

    def observe(mg, x, y):
        def outer(x):
            return x * mg.dual.jvp(lambda y: x + y, (y,), (1.0,))[1]

        try:
            return float(mg.dual.jvp(outer, (x,), (1.0,))[1])
        except (TypeError, AttributeError) as error:
            return type(error).__name__

    expect(
        student(observe, 3.0, 1.0),
        1.0,
        hint="the inner derivative must not count the tangent of x, which belongs to the outer one: a new level each time",
        misconception="one-level-for-all",
        example="d/dx [x * d/dy (x + y)] at x = 3, y = 1",
    )


@jvp(group="nested", because="dual.jvp: 'floats, tensors, or Duals of another `jvp` around this one.'")
def test_derivatives_of_derivatives(student):
    """jvp of jvp of jvp gives the third derivative."""

    def observe(mg, x):
        def slope(f):
            return lambda x: mg.dual.jvp(f, (x,), (1.0,))[1]

        try:
            return float(slope(slope(slope(lambda x: x**4 + x.sin())))(x))
        except (TypeError, AttributeError) as error:
            return type(error).__name__

    expect(
        student(observe, 2.0),
        48.0 - math.cos(2.0),
        hint="an argument may be a Dual: keep it as it is, as the value of a new one",
        misconception="made-float",
    )


@jvp(group="levels", because="dual.same_level: 'as Duals of one level: of the higher one of theirs.'")
def test_the_higher_level(student):
    """Two numbers meet at the higher level: the other one becomes a value that does not move there."""

    def observe(mg, low, high):
        x, y = mg.dual.Dual(2.0, 5.0, low), mg.dual.Dual(3.0, 7.0, high)
        pairs = [mg.dual.same_level(x, y), mg.dual.same_level(y, x), mg.dual.same_level(4.0, y)]
        return [[[each.level, float(each.tangent)] for each in pair] for pair in pairs]

    expect(
        student(observe, 2, 6),
        [[[6, 0.0], [6, 7.0]], [[6, 7.0], [6, 0.0]], [[6, 0.0], [6, 7.0]]],
        hint="max of both levels, and both numbers lifted to it, in the order in which they came",
        misconception="lower-level-taken",
        when={
            (((6, 7.0), (6, 0.0)), ((6, 7.0), (6, 0.0)), ((6, 7.0), (6, 0.0))): (
                "order-lost",
                "x stays first and y second: a difference or a quotient needs their order",
            )
        },
    )


@jvp(group="special", because="dual.jvp: 'It may return something that does not move at this level, such as 3.0.'")
def test_result_that_does_not_move(student):
    """A constant has the tangent 0, and so has a number that moves at an outer level only."""

    def observe(mg, x):
        def outer(x):
            value, tangent = mg.dual.jvp(lambda y: x * x, (1.0,), (1.0,))
            return value + 100.0 * tangent

        try:
            constant = mg.dual.jvp(lambda x: 3.0, (x,), (1.0,))
            nested = mg.dual.jvp(outer, (x,), (1.0,))
            return [float(each) for each in (*constant, *nested)]
        except (TypeError, AttributeError) as error:
            return type(error).__name__

    expect(
        student(observe, 5.0),
        [3.0, 0.0, 25.0, 10.0],
        hint="lift what f returns to the level of this jvp, and take its two parts",
        misconception="result-not-lifted",
    )


@jvp(group="special", because="dual.lifted: 'the value of a new Dual, whose tangent is ``zero(x)``'")
def test_tensors_that_do_not_move(student):
    """A tensor that does not move has a tangent of zeros in its own shape."""

    def observe(mg, w):
        weights = mg.tensor(w)
        value, tangent = mg.dual.jvp(lambda x: weights, (2.0,), (1.0,))
        try:
            return [value.tolist(), tangent.tolist()]
        except AttributeError:
            return "a number"

    expect(
        student(observe, np.array([1.0, 2.0])),
        [[1.0, 2.0], [0.0, 0.0]],
        hint="zero(x) has the shape of x",
        misconception="zero-without-shape",
    )
