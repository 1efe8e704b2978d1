"""Hidden tests of the boxes with a forward and a backward: functions.arithmetic and functions.elementary."""

import functools
import math

import pytest

from autograder import expect

arithmetic = functools.partial(pytest.mark.exercise, "functions.arithmetic")
elementary = functools.partial(pytest.mark.exercise, "functions.elementary")

UPSTREAM = "lesson 02, 'A box that knows its slope': backward returns d_output times the derivative"
SAVED = "lesson 02, 'What forward should save': Save inputs or the output, not a slope that you have computed."


# --- functions.arithmetic -----------------------------------------------------------------------------------


@arithmetic(
    group="forward",
    because="functions.Mul, functions.Neg and functions.Inv: 'return a * b', 'return -a', 'return 1 / a'",
)
def test_values_of_arithmetic(student):
    """forward returns the value of the function, not of its derivative."""

    def observe(mg, a, b):
        x, y = mg.Scalar(a), mg.Scalar(b)
        return [(x * y).data, (-x).data, mg.functions.Inv.apply(x).data]

    hint = "forward computes the function itself; its derivative belongs in backward"
    for a, b in [(4.0, 2.5), (-0.5, 3.0)]:
        expect(student(observe, a, b), [a * b, -a, 1.0 / a], hint=hint, misconception="forward-computes-slope")


@arithmetic(
    group="special", because="lesson 02, 'A box that knows its slope': operators.inv(0.0) is inf, as floats have it."
)
def test_inverse_of_zero(student):
    """Inv of 0 is an infinity with the sign of the zero, and no error."""

    def observe(mg, xs):
        try:
            return [mg.functions.Inv.apply(x).data for x in xs]
        except ZeroDivisionError:
            return "ZeroDivisionError"

    expect(
        student(observe, [0.0, -0.0]),
        [math.inf, -math.inf],
        hint="use operators.inv instead of a division of your own",
        misconception="division-by-zero-raises",
    )


@arithmetic(group="mul", because="lesson 02, 'A box that knows its slope': As fast as $b$ is large.")
def test_derivatives_of_mul(student):
    """The derivative of a * b in a is b, and in b it is a, in this order."""

    def observe(mg, a, b):
        x, y = mg.Scalar(a), mg.Scalar(b)
        (x * y).backward()
        return [x.grad, y.grad]

    expect(
        student(observe, 3e10, -5.0),  # so large that a difference quotient is 0
        [-5.0, 3e10],
        hint="how fast does a * b grow with a? as fast as b is large",
        misconception="mul-derivatives-swapped",
    )


@arithmetic(group="neg", because="functions.Neg: 'Return d_output times the derivative in a.'")
def test_derivative_of_neg(student):
    """Neg turns the sign of the derivative."""

    def observe(mg, a):
        x = mg.Scalar(a)
        (-x).backward()
        return x.grad

    expect(
        student(observe, 2e10),
        -1.0,
        hint="when a goes up, -a goes down",
        misconception="neg-sign-lost",
    )


@arithmetic(group="inv", because="lesson 02, 'The _back twins': It is negative on both sides of 0")
def test_derivative_of_inv(student):
    """The derivative of 1 / a is -1 / a^2."""

    def observe(mg, values):
        leaves = [mg.Scalar(a) for a in values]
        for x in leaves:
            mg.functions.Inv.apply(x).backward()
        return [x.grad for x in leaves]

    expect(
        student(observe, [-2.0, 0.5, 4.0, 1e-3]),
        [-0.25, -4.0, -0.0625, -1e6],
        hint="1 / a falls: its slope is -1 / a^2",
        misconception="inv-sign-lost",
    )


@arithmetic(group="upstream", because=UPSTREAM)
def test_upstream_of_arithmetic(student):
    """Every derivative is multiplied by the one that arrives from above."""

    def observe(mg, a, b, d):
        grads = []
        for start in (d, 1.0):
            x, y, z, u = (mg.Scalar(v) for v in (a, b, a, a))
            (x * y).backward(start)
            (-z).backward(start)
            mg.functions.Inv.apply(u).backward(start)
            grads.append([x.grad, y.grad, z.grad, u.grad])
        return grads

    scaled, alone = student(observe, 2.0, 3.0, -2.5)
    # Whether each slope is right is asked elsewhere; here one rule may be wrong, so that d_output is a factor of something.
    is_right = [math.isclose(a, b, rel_tol=1e-6) for a, b in zip(alone, [3.0, 2.0, -1.0, -0.25], strict=True)]
    expect(is_right.count(False) <= 2, True, hint="most slopes are wrong already where 1.0 arrives")
    expect(
        scaled,
        [-2.5 * slope for slope in alone],
        hint="d_output is a factor of everything that backward returns",
        misconception="upstream-forgotten",
    )


@arithmetic(group="saving", because=SAVED)
def test_saved_values_of_arithmetic(student):
    """A backward pass that is itself recorded works, since only inputs or the output were saved."""

    def observe(mg, a):
        x = mg.Scalar(a)
        try:
            (mg.functions.Inv.apply(x) * x * -x).backward(create_graph=True)
        except mg.errors.GraphError:
            return "GraphError"
        return float(x.grad)

    expect(
        student(observe, 3.0),
        -1.0,
        hint="a saved a * a is neither an input nor the output, so the library cannot tell how it depends on a",
        misconception="saved-intermediate",
    )


# --- functions.elementary -----------------------------------------------------------------------------------


@elementary(
    group="forward",
    because="functions.Log, Exp, Sigmoid and ReLU: 'The natural logarithm of a.', 'e to the power a.', '1 / (1 + e^-a).', 'a where it is positive, else 0.'",
)
def test_values_of_elementary(student):
    """forward returns log a, e^a, sigmoid a and relu a."""

    def observe(mg, a):
        return [getattr(mg.Scalar(a), name)().data for name in ("log", "exp", "sigmoid", "relu")]

    for a in (0.5, 2.0, 10.0):
        expect(
            student(observe, a),
            [math.log(a), math.exp(a), 1.0 / (1.0 + math.exp(-a)), a],
            hint="log is the natural logarithm: log e = 1",
            misconception="wrong-log-base",
        )
    expect(student(lambda mg, a: mg.Scalar(a).relu().data, -2.0), 0.0, hint="relu of a negative number is 0")


@elementary(
    group="special", because="lesson 02, 'A box that knows its slope': forward calls the operator of lesson 00."
)
def test_extreme_values(student):
    """log 0 is -inf, exp 1000 is inf, and sigmoid is 0 or 1 far out, without an error."""

    def observe(mg, pairs):
        try:
            return [getattr(mg.Scalar(a), name)().data for name, a in pairs]
        except (OverflowError, ValueError, ZeroDivisionError) as error:
            return type(error).__name__

    expect(
        student(observe, [["log", 0.0], ["exp", 1000.0], ["sigmoid", -1000.0], ["sigmoid", 1000.0]]),
        [-math.inf, math.inf, 0.0, 1.0],
        hint="use operators.log, operators.exp and operators.sigmoid instead of formulas of your own",
        misconception="overflow-raises",
    )


@elementary(group="log", because="lesson 02, 'What forward should save': For log the input is the better choice.")
def test_derivative_of_log(student):
    """The derivative of log a is 1 / a, with a the input."""

    def observe(mg, values):
        leaves = [mg.Scalar(a) for a in values]
        for x in leaves:
            x.log().backward()
        return [x.grad for x in leaves]

    expect(
        student(observe, [0.5, 4.0, 10.0, 5e-7]),  # a difference quotient would take a logarithm below 0
        [2.0, 0.25, 0.1, 2e6],
        hint="what did forward save: a, or log a?",
        misconception="log-saved-output",
    )


@elementary(group="exp", because="lesson 02, 'What forward should save': The slope of $e^a$ is $e^a$")
def test_derivative_of_exp(student):
    """The derivative of e^a is e^a again."""

    def observe(mg, values):
        leaves = [mg.Scalar(a) for a in values]
        for x in leaves:
            x.exp().backward()
        return [x.grad for x in leaves]

    expect(
        student(observe, [-1.0, 0.0, 2.0, 709.782712]),  # a difference quotient would overflow
        [math.exp(-1.0), 1.0, math.exp(2.0), math.exp(709.782712)],
        hint="the rule n x^(n-1) is for powers of x; here x is the exponent",
        misconception="power-rule-for-exp",
    )


@elementary(group="sigmoid", because="lesson 02, 'The _back twins': the slope of sigmoid, written with its output")
def test_derivative_of_sigmoid(student):
    """The derivative of sigmoid is s (1 - s), with s the output."""

    def observe(mg, values):
        leaves = [mg.Scalar(a) for a in values]
        for x in leaves:
            x.sigmoid().backward()
        return [x.grad for x in leaves]

    values = [-2.0, 0.0, 0.5, 3.0]
    slopes = [math.exp(-a) / (1.0 + math.exp(-a)) ** 2 for a in values]
    expect(
        student(observe, values),
        slopes,
        hint="s (1 - s) is meant with s = sigmoid(a), not with a",
        misconception="sigmoid-slope-from-input",
    )


@elementary(group="relu", because="functions.ReLU: 'Return d_output where a is positive, else 0.'")
def test_derivative_of_relu(student):
    """ReLU passes the derivative where a is positive, whatever the derivative's own sign."""

    def observe(mg, pairs):
        grads = []
        for a, d in pairs:
            x = mg.Scalar(a)
            x.relu().backward(d)
            grads.append(x.grad)
        return grads

    expect(
        student(observe, [[2.0, -3.0], [-2.0, 3.0], [-1.0, -4.0], [0.5, 0.25], [1e-9, 2.0]]),
        [-3.0, 0.0, 0.0, 0.25, 2.0],
        hint="the input a decides what passes, not the sign of d_output",
        misconception="relu-asks-upstream",
    )


@elementary(group="special", because="lesson 02, 'The _back twins': by convention, in PyTorch too, we take 0")
def test_relu_box_at_zero(student):
    """ReLU passes nothing at 0."""

    def observe(mg, d):
        at_zero, above = mg.Scalar(0.0), mg.Scalar(3.0)
        for x in (at_zero, above):
            x.relu().backward(d)
        return [at_zero.grad, above.grad]

    expect(
        student(observe, 2.0),
        [0.0, 2.0],
        hint="at the kink the convention, PyTorch's too, is 0",
        misconception="relu-slope-at-zero",
    )


@elementary(group="upstream", because=UPSTREAM)
def test_upstream_of_elementary(student):
    """Every derivative is multiplied by the one that arrives from above."""

    def observe(mg, a, d):
        grads = []
        for start in (d, 1.0):
            leaves = [mg.Scalar(a) for _ in range(4)]
            for x, name in zip(leaves, ("log", "exp", "sigmoid", "relu"), strict=True):
                getattr(x, name)().backward(start)
            grads.append([x.grad for x in leaves])
        return grads

    scaled, alone = student(observe, 2.0, -3.0)
    # Whether each slope is right is asked elsewhere; here one may be wrong, so that d_output is a factor of something.
    right = [0.5, math.exp(2.0), math.exp(-2.0) / (1.0 + math.exp(-2.0)) ** 2, 1.0]
    is_right = [math.isclose(a, b, rel_tol=1e-6) for a, b in zip(alone, right, strict=True)]
    expect(is_right.count(False) <= 1, True, hint="most slopes are wrong already where 1.0 arrives")
    expect(
        scaled,
        [-3.0 * slope for slope in alone],
        hint="d_output is a factor of everything that backward returns",
        misconception="upstream-forgotten",
    )


@elementary(
    group="saving",
    because="lesson 02, 'What forward should save': A value kept elsewhere, on the class or in a global, is overwritten by the next call",
)
def test_two_calls_do_not_mix(student):
    """Each call has its own saved values, also where a function is used twice in one expression."""

    def observe(mg, a, b):
        grads = []
        for name in ("exp", "log", "sigmoid"):
            x, y = mg.Scalar(a), mg.Scalar(b)
            (getattr(x, name)() + getattr(y, name)()).backward()
            grads += [x.grad, y.grad]
        return grads

    def slope(a):
        return math.exp(-a) / (1.0 + math.exp(-a)) ** 2

    expect(
        student(observe, 0.5, 2.0),
        [math.exp(0.5), math.exp(2.0), 2.0, 0.5, slope(0.5), slope(2.0)],
        hint="save in ctx: it belongs to one call, while a class or a global is shared by all",
        misconception="saved-outside-ctx",
    )


@elementary(group="saving", because=SAVED)
def test_saved_values_of_elementary(student):
    """A backward pass that is itself recorded works, since only inputs or the output were saved."""

    def observe(mg, a):
        grads = []
        for name in ("log", "exp", "sigmoid", "relu"):
            x = mg.Scalar(a)
            try:
                getattr(x, name)().backward(create_graph=True)
            except mg.errors.GraphError:
                return f"GraphError in {name}"
            grads.append(float(x.grad))
        return grads

    s = 1.0 / (1.0 + math.exp(-2.0))
    expect(
        student(observe, 2.0),
        [0.5, math.exp(2.0), s * (1.0 - s), 1.0],
        hint="a finished slope is neither an input nor the output, so the library cannot differentiate it",
        misconception="saved-intermediate",
    )
