"""Hidden tests of arithmetic and comparison."""

import math

import pytest

from autograder import expect

# --- operators.arithmetic -----------------------------------------------------------------------------------


@pytest.mark.exercise(
    "operators.arithmetic", group="digits", because="operators.add: 'Return x + y.' operators.mul: 'Return x * y.'"
)
def test_results_are_not_rounded(student):
    """Sums and products are exactly what Python's + and * give."""

    def observe(mg, pairs):
        return [[mg.operators.add(x, y), mg.operators.mul(x, y)] for x, y in pairs]

    pairs = [[0.1, 0.2], [2.0, -3.5], [1e-7, 1e-7], [123.456, 0.001]]
    expect(
        student(observe, pairs),
        [[x + y, x * y] for x, y in pairs],
        tolerance=0.0,
        hint="x + y and x * y as Python gives them; rounding is for printing",
        misconception="results-are-rounded",
    )


@pytest.mark.exercise("operators.arithmetic", group="values", because="operators.mul: 'Return x * y.'")
def test_factors_may_be_fractions_and_negative(student):
    """A product is right for fractions and for negative factors."""

    def observe(mg, pairs):
        return [mg.operators.mul(x, y) for x, y in pairs]

    pairs = [[3.0, 2.5], [3.0, -2.0], [-0.5, -0.5]]
    expect(
        student(observe, pairs),
        [7.5, -6.0, 0.25],
        hint="adding x to itself y times needs a y that counts; Python's * does not",
        misconception="mul-repeats-addition",
    )


@pytest.mark.exercise("operators.arithmetic", group="values", because="operators.neg: 'Return -x'")
def test_minus_of_a_negative_is_positive(student):
    """Neg turns the sign round, in both directions."""

    def observe(mg, values):
        return [mg.operators.neg(x) for x in values]

    expect(
        student(observe, [2.5, -2.5, -1e300]),
        [-2.5, 2.5, 1e300],
        hint="neg changes the sign; it does not make everything negative",
        misconception="neg-makes-negative",
    )


@pytest.mark.exercise(
    "operators.arithmetic", group="special", because="operators.neg: 'as a float also where x is an int'"
)
def test_neg_of_an_int_is_a_float(student):
    """Neg returns a float, whatever kind of number comes in."""

    def observe(mg, x):
        result = mg.operators.neg(x)
        return ["float" if isinstance(result, float) else type(result).__name__, result]  # NumPy's are floats

    expect(
        student(observe, 3),
        ["float", -3.0],
        hint="-3 is an int; make a float of x first",
        misconception="neg-returns-an-int",
    )


@pytest.mark.exercise("operators.arithmetic", group="special", because="lesson 00, 'Three lines': neg of 0.0 is -0.0")
def test_neg_keeps_the_two_zeros_apart(student):
    """Neg of 0.0 is -0.0, and the other way round."""

    def observe(mg):
        return [math.copysign(1.0, mg.operators.neg(zero)) for zero in (0.0, -0.0)]

    expect(
        student(observe),
        [-1.0, 1.0],
        hint="0.0 - 0.0 is 0.0: subtracting from zero loses the sign, the minus sign does not",
        misconception="neg-loses-the-sign-of-zero",
    )


# --- operators.comparison -----------------------------------------------------------------------------------


@pytest.mark.exercise(
    "operators.comparison", group="order", because="operators.lt: 'Return 1.0 if x is less than y, else 0.0.'"
)
def test_a_number_is_not_less_than_itself(student):
    """Lt is 0.0 for equal numbers."""

    def observe(mg, pairs):
        return [mg.operators.lt(x, y) * 1.0 for x, y in pairs]

    expect(
        student(observe, [[1.0, 2.0], [2.0, 1.0], [2.0, 2.0], [-3.0, -2.0], [3.0, 2.0], [2.5, 4.0]]),
        [1.0, 0.0, 0.0, 1.0, 0.0, 1.0],
        hint="less than is <, not <=",
        misconception="lt-includes-equal",
    )


@pytest.mark.exercise(
    "operators.comparison",
    group="order",
    because="lesson 00, 'Comparisons': the answers are the floats 1.0 and 0.0, not True and False",
)
def test_answers_are_floats(student):
    """Lt and eq answer with 1.0 and 0.0, which can be added and averaged, not with True and False."""

    def observe(mg):
        answers = [
            mg.operators.lt(1.0, 2.0),
            mg.operators.lt(2.0, 1.0),
            mg.operators.eq(1.0, 1.0),
            mg.operators.eq(1.0, 2.0),
        ]
        # 1 will do for 1.0, and so will a float of NumPy's.
        numbers = [isinstance(answer, int | float) and not isinstance(answer, bool) for answer in answers]
        return [
            "float" if is_number else type(answer).__name__ for answer, is_number in zip(answers, numbers, strict=True)
        ]

    expect(
        student(observe),
        ["float"] * 4,
        hint="x < y is a bool; choose between 1.0 and 0.0 by it",
        misconception="returns-a-bool",
    )


@pytest.mark.exercise(
    "operators.comparison",
    group="closeness",
    because="lesson 00, 'Comparisons': the answers are the floats 1.0 and 0.0, not True and False",
)
def test_closeness_is_a_float(student):
    """Is_close answers with 1.0 and 0.0 as well, not with True and False."""

    def observe(mg):
        answers = [mg.operators.is_close(1.0, y) for y in (1.001, 2.0)]
        numbers = [isinstance(answer, int | float) and not isinstance(answer, bool) for answer in answers]
        return [
            "float" if is_number else type(answer).__name__ for answer, is_number in zip(answers, numbers, strict=True)
        ]

    expect(
        student(observe),
        ["float"] * 2,
        hint="a comparison is a bool; choose between 1.0 and 0.0 by it",
        misconception="is-close-returns-a-bool",
    )


@pytest.mark.exercise(
    "operators.comparison", group="equality", because="operators.eq: 'Return 1.0 if x equals y, else 0.0.'"
)
def test_eq_allows_no_difference(student):
    """Eq tells 0.1 + 0.2 from 0.3; only is_close allows a difference."""

    def observe(mg, pairs):
        return [mg.operators.eq(x, y) * 1.0 for x, y in pairs]

    expect(
        student(observe, [[0.1 + 0.2, 0.3], [1.0, 1.0 + 1e-12], [-1.0, 1.0]]),
        [0.0, 0.0, 0.0],
        hint="eq is exact; the tolerance belongs to is_close",
        misconception="eq-has-a-tolerance",
    )


@pytest.mark.exercise(
    "operators.comparison", group="equality", because="operators.eq: 'Return 1.0 if x equals y, else 0.0.'"
)
def test_eq_compares_values_not_objects(student):
    """Two floats that were computed apart are equal if their values are."""

    def observe(mg, x, halves):
        return [mg.operators.eq(x, halves[0] + halves[1]) * 1.0, mg.operators.eq(x, halves[0]) * 1.0]

    expect(
        student(observe, 2.5, [1.25, 1.25]),
        [1.0, 0.0],
        hint="`is` asks whether two names mean one object in memory; == compares values",
        misconception="eq-compares-identity",
    )


@pytest.mark.exercise(
    "operators.comparison", group="special", because="lesson 00, 'Comparisons': every comparison with nan is false"
)
def test_nan_is_neither_less_nor_equal(student):
    """Lt and eq are 0.0 whenever nan takes part, also for nan and itself."""

    def observe(mg):
        nan, another = math.nan, math.inf - math.inf  # two objects, so that `is` fails on its own test alone
        lt, eq = mg.operators.lt, mg.operators.eq
        return [f(x, y) * 1.0 for f in (lt, eq) for x, y in ((nan, 1.0), (1.0, nan), (nan, another))]

    expect(
        student(observe),
        [0.0] * 6,
        hint="'not less and not greater' does not mean equal: nan is neither. Ask for what must be true",
        misconception="nan-falls-through",
    )


@pytest.mark.exercise(
    "operators.comparison",
    group="special",
    because="operators.max: 'Return the larger of x and y; nan if either is nan.'",
)
def test_max_passes_nan_on(student):
    """Max is nan if nan is on either side."""

    def observe(mg):
        return [mg.operators.max(math.nan, 1.0), mg.operators.max(1.0, math.nan)]

    expect(
        student(observe),
        [math.nan, math.nan],
        hint="x > y is false where x is nan, so y is returned and the nan is lost; x != x tells nan from all else",
        misconception="max-loses-nan",
    )


@pytest.mark.exercise("operators.comparison", group="largest", because="operators.max: 'Return the larger of x and y'")
def test_max_is_one_of_its_arguments(student):
    """Max is exactly the larger argument, also for very large numbers and infinities."""

    def observe(mg, pairs):
        return [mg.operators.max(x, y) for x, y in pairs]

    pairs = [[-1.0, -2.0], [0.1, 0.3], [1e308, 1.5e308], [-math.inf, 1.0], [-5.0, 2.0]]
    expect(
        student(observe, pairs),
        [-1.0, 0.3, 1.5e308, 1.0, 2.0],
        tolerance=0.0,
        hint="return the larger of the two arguments as it is; arithmetic on them can overflow",
        misconception="max-by-arithmetic",
    )


@pytest.mark.exercise(
    "operators.comparison",
    group="closeness",
    because="operators.is_close: 'Return 1.0 if x and y differ by less than 0.01'",
)
def test_the_bound_itself_is_not_close(student):
    """A difference of exactly 0.01 is not less than 0.01."""

    def observe(mg, pairs):
        return [mg.operators.is_close(x, y) * 1.0 for x, y in pairs]

    expect(
        student(observe, [[0.0, 0.01], [0.01, 0.0], [0.0, 0.0099]]),
        [0.0, 0.0, 1.0],
        hint="close means a distance less than 0.01; 0.01 itself is not: <, not <=",
        misconception="is-close-includes-the-bound",
    )


@pytest.mark.exercise(
    "operators.comparison",
    group="closeness",
    because="operators.is_close: 'Return 1.0 if x and y differ by less than 0.01'",
)
def test_closeness_has_two_sides(student):
    """A number far below is as far away as one far above."""

    def observe(mg, pairs):
        return [mg.operators.is_close(x, y) * 1.0 for x, y in pairs]

    expect(
        student(observe, [[1.0, 5.0], [5.0, 1.0], [-3.0, -3.005]]),
        [0.0, 0.0, 1.0],
        hint="x - y is very small where x is far below y; the distance is its absolute value",
        misconception="is-close-forgets-abs",
    )


@pytest.mark.exercise(
    "operators.comparison",
    group="closeness",
    because="operators.is_close: 'Return 1.0 if x and y differ by less than 0.01'",
)
def test_closeness_is_absolute(student):
    """The bound is 0.01 for large numbers and for small ones."""

    def observe(mg, pairs):
        return [mg.operators.is_close(x, y) * 1.0 for x, y in pairs]

    expect(
        student(observe, [[1000.0, 1001.0], [1e-5, 5e-3], [0.0, 1e-3]]),
        [0.0, 1.0, 1.0],
        hint="do not divide by the size of the numbers: 0.01 is meant absolutely",
        misconception="is-close-is-relative",
    )


@pytest.mark.exercise(
    "operators.comparison",
    group="closeness",
    because="operators.is_close: 'Return 1.0 if x and y differ by less than 0.01'",
)
def test_closeness_is_narrow(student):
    """Numbers that differ by 0.02 are not close."""

    def observe(mg, pairs):
        return [mg.operators.is_close(x, y) * 1.0 for x, y in pairs]

    expect(
        student(observe, [[2.0, 2.02], [2.0, 1.98], [0.0, 0.011], [2.0, 2.005]]),
        [0.0, 0.0, 0.0, 1.0],
        hint="count the zeros: 0.01 is 1e-2",
        misconception="is-close-is-too-wide",
    )


@pytest.mark.exercise(
    "operators.comparison", group="special", because="lesson 00, 'Comparisons': every comparison with nan is false"
)
def test_nan_is_close_to_nothing(student):
    """Is_close is 0.0 whenever nan takes part."""

    def observe(mg):
        nan = math.nan
        return [mg.operators.is_close(x, y) * 1.0 for x, y in ((nan, 1.0), (1.0, nan), (nan, nan))]

    expect(
        student(observe),
        [0.0, 0.0, 0.0],
        hint="'not far' does not mean close: for nan both questions answer False",
        misconception="is-close-lets-nan-through",
    )
