"""Hidden tests of the `_back` twins, which carry a derivative back through an operator."""

import functools
import math

import pytest

from autograder import expect

backs = functools.partial(pytest.mark.exercise, "operators.backs")


@backs(
    group="values", because="lesson 02, 'The _back twins': It is always a product: what arrives, times my own slope."
)
def test_slope_of_log(student):
    """log_back multiplies by the slope of log, which is 1 / x."""

    def observe(mg, xs):
        return [mg.operators.log_back(x, 1.0) for x in xs]

    expect(
        student(observe, [0.25, 0.5, 3.0, 8.0, 5e-7]),  # a difference quotient would take a logarithm below 0
        [4.0, 2.0, 1.0 / 3.0, 0.125, 2e6],
        hint="the slope of log at x is 1 / x, and d is multiplied by it, not divided",
        misconception="divided-by-slope",
    )


@backs(group="special", because="operators.log_back: 'Return d times the derivative of log at x.'")
def test_slope_of_log_close_to_zero(student):
    """log_back is right for very small numbers."""

    def observe(mg, xs):
        return [mg.operators.log_back(x, 1.0) for x in xs]

    expect(
        student(observe, [1e-6, 1e-12]),
        [1e6, 1e12],
        hint="add nothing to x: log is the logarithm itself",
        misconception="log-adds-epsilon",
    )


@backs(group="values", because="lesson 02, 'The _back twins': It is negative on both sides of 0")
def test_slope_of_inv(student):
    """inv_back gives -1 / x^2: 1 / x falls on both sides of 0."""

    def observe(mg, xs):
        return [mg.operators.inv_back(x, 1.0) for x in xs]

    expect(
        student(observe, [-2.0, -0.5, 0.5, 4.0, 1e-3]),
        [-0.25, -4.0, -4.0, -0.0625, -1e6],
        hint="1 / x falls where it is defined, so its slope is negative everywhere",
        misconception="inv-sign-lost",
    )


@backs(group="values", because="operators.relu_back: 'd where x is positive, else 0.0'")
def test_slope_of_relu(student):
    """relu_back gives d itself for every positive x, and 0 for every negative one."""

    def observe(mg, xs):
        return [mg.operators.relu_back(x, 1.0) for x in xs]

    expect(
        student(observe, [-3.0, -0.1, 0.2, 5.0, 1e-9]),
        [0.0, 0.0, 1.0, 1.0, 1.0],
        hint="the slope of relu is 1 or 0; how large x is does not matter",
        misconception="relu-value-for-slope",
    )


@backs(
    group="upstream",
    because="lesson 02, 'Slopes multiply': each stage multiplies the number that arrives from above by its own slope",
)
def test_upstream_is_a_factor(student):
    """Twice the derivative from above gives twice the answer, and its sign is kept."""

    def observe(mg, pairs):
        ops = mg.operators
        return [[[f(x, d), f(x, 1.0)] for f in (ops.log_back, ops.inv_back, ops.relu_back)] for x, d in pairs]

    pairs = [(0.5, -3.0), (2.0, 0.75), (4.0, 10.0)]
    answers = student(observe, pairs)
    # Each twin against itself: that its slope is the right one is asked elsewhere, and lost there.
    slopes = [[alone if isinstance(alone, float) else math.nan for _, alone in row] for row in answers]
    expect(
        [[scaled for scaled, _ in row] for row in answers],
        [[d * slope for slope in row] for (_, d), row in zip(pairs, slopes, strict=True)],
        hint="d is what arrives from above; every answer is d times a slope",
        misconception="upstream-forgotten",
    )
    expect(len({log for log, _, _ in slopes}), 3, hint="the slope of log is a different one at each x")


@backs(
    group="special",
    because="lesson 02, 'The _back twins': At exactly 0 there is a kink and no slope; by convention, in PyTorch too, we take 0.",
)
def test_relu_at_zero(student):
    """relu_back gives 0 at 0, for both zeros."""

    def observe(mg, xs):
        return [mg.operators.relu_back(x, 3.0) for x in xs]

    expect(
        student(observe, [0.0, -0.0]),
        [0.0, 0.0],
        hint="at the kink relu has no slope; the convention, PyTorch's too, is 0",
        misconception="relu-slope-at-zero",
    )


@backs(group="special", because="operators.relu_back: 'd where x is nan'")
def test_relu_at_nan(student):
    """relu_back passes d on where x is nan, so that an alarm is not switched off."""

    def observe(mg, x):
        return mg.operators.relu_back(x, 2.6875)

    expect(
        student(observe, math.nan),
        2.6875,
        hint="every comparison with nan is false: ask whether x <= 0, not whether x > 0",
        misconception="nan-silenced",
    )
