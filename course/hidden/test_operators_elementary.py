"""Hidden tests of the elementary functions."""

import math

import pytest

from autograder import expect


@pytest.mark.exercise(
    "operators.elementary",
    group="inverse",
    because="operators.id: 'Return x unchanged.' operators.inv: 'Return 1 / x.'",
)
def test_id_and_inv(student):
    """Id gives its argument back, and inv gives 1 / x."""

    def observe(mg, values):
        return [[mg.operators.id(x), mg.operators.inv(x)] for x in values]

    expect(
        student(observe, [4.0, -0.5, 1e-3]),
        [[4.0, 0.25], [-0.5, -2.0], [1e-3, 1e3]],
        hint="the inverse meant here is that of multiplication: x * inv(x) is 1",
        misconception="inv-is-negation",
    )


@pytest.mark.exercise(
    "operators.elementary", group="relu", because="operators.relu: 'Return x where x is positive, else 0.0'"
)
def test_relu_keeps_positive_numbers(student):
    """Relu gives positive numbers back and turns negative ones into 0.0."""

    def observe(mg, values):
        return [mg.operators.relu(x) for x in values]

    expect(
        student(observe, [3.5, -3.5, 0.25, -1e-9, 0.0, 100.0]),
        [3.5, 0.0, 0.25, 0.0, 0.0, 100.0],
        tolerance=1e-12,
        hint="x for positive numbers, 0.0 for all others; 1.0 for positive numbers would be its slope",
        misconception="relu-is-its-slope",
    )


@pytest.mark.exercise(
    "operators.elementary", group="special", because="operators.relu: 'Return x where x is positive, else 0.0'"
)
def test_relu_of_infinities(student):
    """Relu of minus infinity is 0.0, and of infinity infinity."""

    def observe(mg):
        return [mg.operators.relu(-math.inf), mg.operators.relu(math.inf)]

    expect(
        student(observe),
        [0.0, math.inf],
        hint="choose between x and 0.0; a product or a sum with infinity in it can be nan",
        misconception="relu-by-arithmetic",
    )


@pytest.mark.exercise("operators.elementary", group="exp", because="operators.exp: 'Return e to the power x.'")
def test_exp_is_exact(student):
    """Exp is right to the last digits."""

    def observe(mg, values):
        return [mg.operators.exp(x) for x in values]

    values = [0.0, 1.0, -2.0, 10.0]
    expect(
        student(observe, values),
        [math.exp(x) for x in values],
        tolerance=1e-12,
        hint="2.718 has three right digits after the point; math.exp has all that fit",
        misconception="exp-rounds-e",
    )


@pytest.mark.exercise(
    "operators.elementary", group="log", because="operators.log: 'Return the natural logarithm of x.'"
)
def test_log_is_natural(student):
    """Log undoes exp: it is the logarithm to base e."""

    def observe(mg, values):
        return [mg.operators.log(x) for x in values]

    expect(
        student(observe, [math.e, 10.0, 0.5]),
        [1.0, 2.302585092994046, -0.6931471805599453],
        tolerance=1e-5,
        hint="the natural logarithm has base e: log of e is 1",
        misconception="log-in-base-ten",
    )


@pytest.mark.exercise("operators.elementary", group="sigmoid", because="operators.sigmoid: 'Return 1 / (1 + e^-x)'")
def test_sigmoid_on_both_sides(student):
    """Sigmoid rises from 0 to 1: below 1/2 for negative x, above it for positive x."""

    def observe(mg, values):
        return [mg.operators.sigmoid(x) for x in values]

    values = [-4.0, -0.5, 0.0, 0.5, 4.0]
    expect(
        student(observe, values),
        [1.0 / (1.0 + math.exp(-x)) for x in values],
        hint="at x = -4 the value is near 0; look at the sign of your exponent for negative x, and at the parentheses",
        misconception="sigmoid-mirrors-negatives",
    )


@pytest.mark.exercise(
    "operators.elementary", group="stability", because="operators.sigmoid: 'Return 1 / (1 + e^-x) without overflow'"
)
def test_sigmoid_does_not_overflow(student):
    """Sigmoid of -1000 is 0.0 and of 1000 is 1.0; nothing overflows on the way."""

    def observe(mg, values):
        try:
            return [mg.operators.sigmoid(x) for x in values]
        except OverflowError:
            return "OverflowError"

    expect(
        student(observe, [-1000.0, 1000.0]),
        [0.0, 1.0],
        hint="e^1000 is beyond all floats; arrange the formula so that the exponent is never positive",
        misconception="sigmoid-overflows",
    )


@pytest.mark.exercise(
    "operators.elementary", group="stability", because="operators.sigmoid: 'for negative x as e^x / (1 + e^x)'"
)
def test_sigmoid_keeps_its_digits(student):
    """For very negative x sigmoid is tiny, but right: about e^x, not 0."""

    def observe(mg, x):
        return mg.operators.sigmoid(x)

    expect(
        student(observe, -40.0) / math.exp(-40.0),
        1.0,
        hint="1 - (a number next to 1) keeps none of the digits; e^x / (1 + e^x) keeps them all",
        misconception="sigmoid-cancels",
    )


@pytest.mark.exercise("operators.elementary", group="special", because="operators.relu: 'nan stays nan'")
def test_relu_passes_nan_on(student):
    """Relu of nan is nan."""

    def observe(mg):
        return mg.operators.relu(math.nan)

    expect(
        student(observe),
        math.nan,
        hint="x > 0 is false for nan, so the other branch hides it; ask whether x <= 0 instead",
        misconception="relu-loses-nan",
    )


@pytest.mark.exercise(
    "operators.elementary",
    group="special",
    because="lesson 00, 'Elementary functions': log needs no small number added to x",
)
def test_log_of_small_numbers(student):
    """Log is right for very small numbers."""

    def observe(mg, values):
        return [mg.operators.log(x) for x in values]

    values = [1e-6, 1e-12, 1e-300]
    expect(
        student(observe, values),
        [math.log(x) for x in values],
        hint="do not add anything to x: the library takes care of log 0",
        misconception="log-adds-epsilon",
    )


@pytest.mark.exercise(
    "operators.elementary",
    group="special",
    because="lesson 00, 'Elementary functions': in the library log(0.0) is -inf and log(-1.0) is nan",
)
def test_log_hides_nothing(student):
    """In the library, log of 0 is -inf and log of a negative number is nan."""

    def observe(mg):
        return [mg.operators.log(0.0), mg.operators.log(-1.0)]

    expect(
        student(observe),
        [-math.inf, math.nan],
        hint="leave out the special case: the decorator around log gives what IEEE says",
        misconception="log-hides-bad-input",
    )


@pytest.mark.exercise(
    "operators.elementary",
    group="special",
    because="lesson 00, 'Elementary functions': in the library inv(0.0) is inf and inv(-0.0) is -inf",
)
def test_inv_of_zero_is_infinite(student):
    """In the library, inv of 0.0 is inf and of -0.0 is -inf."""

    def observe(mg):
        return [mg.operators.inv(0.0), mg.operators.inv(-0.0)]

    expect(
        student(observe),
        [math.inf, -math.inf],
        hint="leave out the special case for 0: the decorator around inv gives what IEEE says",
        misconception="inv-hides-zero",
    )


@pytest.mark.exercise(
    "operators.elementary",
    group="special",
    because="lesson 00, 'Elementary functions': in the library exp(1000.0) is inf",
)
def test_exp_is_not_clipped(student):
    """In the library, exp of 1000 is inf, and exp of 705 is not yet."""

    def observe(mg):
        return [mg.operators.exp(1000.0), mg.operators.exp(705.0)]

    expect(
        student(observe),
        [math.inf, math.exp(705.0)],
        hint="do not limit x: the decorator around exp turns the overflow into inf",
        misconception="exp-is-clipped",
    )
