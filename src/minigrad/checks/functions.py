"""Visible tests of the functions with a forward and a backward."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

from minigrad.autodiff import Context
from minigrad.checks.expectation import Expectation, expect, hinting, kind_of
from minigrad.checks.runner import visible
from minigrad.functions import Function

BOX = "02 'A box that knows its slope'"
SAVE = "02 'What forward should save'"


def step(function: type[Function], *values: float, d_output: float = 1.0) -> tuple[Any, list[Any]]:
    """Run forward and then backward, and return the value and the derivatives."""
    ctx = Context()
    ctx.values = values
    value = function.forward(ctx, *values)
    return value, as_list(function.backward(ctx, d_output))


def as_list(derivatives: object) -> list[Any]:
    """Return the result of a backward as a list. A bare number counts as one derivative."""
    return list(derivatives) if isinstance(derivatives, tuple | list) else [derivatives]


def upstream_is_a_factor(function: type[Function], *values: float) -> None:
    """Expect ten times the function's own derivatives, right or wrong, where 10 arrives instead of 1."""
    own, seen = step(function, *values)[1], step(function, *values, d_output=10.0)[1]
    name = function.__name__
    for slope in own:
        if slope is None:
            hint = "backward returns a number for each input; is a `return` missing?"
            raise Expectation(own, None, f"{name}.backward gives None", hint, None)
        if not isinstance(slope, int | float):
            reason = f"{name}.backward gives {slope} of type {kind_of(slope)}"
            raise Expectation(own, None, reason, "backward returns a float for each input", None)
    forgotten = f"{name}.backward gives the same for every d_output; multiply the slope by it"
    hint = f"{name} was asked with a d_output of 1 and of 10; the second answer should be ten times the first"
    wanted = [10.0 * slope for slope in own]
    expect(seen, wanted, hint=hint, when={tuple(map(float, own)): forgotten})


@visible("functions.arithmetic", section=BOX)
def values_of_arithmetic(student: SimpleNamespace) -> None:
    """forward returns a * b, -a and 1 / a."""
    hint = "forward computes the function itself; its derivative belongs in backward"
    expect(student.Mul.forward(Context(), 3.0, 5.0), 15.0, hint=hint)
    expect(student.Neg.forward(Context(), 3.0), -3.0, hint=hint)
    expect(student.Inv.forward(Context(), 4.0), 0.25, hint=hint, when={-0.0625: "-1 / 16 is the derivative at 4"})


@visible("functions.arithmetic", section=BOX)
def derivatives_of_mul(student: SimpleNamespace) -> None:
    """The derivative of a * b is b in a, and a in b."""
    seen = step(student.Mul, 3.0, 5.0)[1]
    expect(
        seen,
        [5.0, 3.0],
        hint="return two derivatives, in the order of forward's arguments",
        when={(3.0, 5.0): "these two are swapped: how fast does a * b grow with a? As fast as b is large"},
    )


@visible("functions.arithmetic", section=BOX)
def derivative_of_neg(student: SimpleNamespace) -> None:
    """The derivative of -a is -1."""
    seen = step(student.Neg, 3.0)[1]
    expect(seen, [-1.0], hint="when a goes up by one, -a goes down by one", when={(1.0,): "the sign is missing"})


@visible("functions.arithmetic", section=BOX)
def derivative_of_inv(student: SimpleNamespace) -> None:
    """The derivative of 1 / a is -1 / a^2."""
    seen = step(student.Inv, 2.0)[1]
    meanings = {
        (0.25,): "1 / a falls: its slope is negative",
        (-4.0,): "a^2 belongs under the fraction line",
        (-0.5,): "is a squared?",
    }
    expect(seen, [-0.25], hint="the rule is -1 / a^2, with a as forward saved it", when=meanings)


@visible("functions.arithmetic", section="02 'Slopes multiply'")
def upstream_of_arithmetic(student: SimpleNamespace) -> None:
    """Every derivative is multiplied by d_output."""
    upstream_is_a_factor(student.Mul, 3.0, 5.0)
    upstream_is_a_factor(student.Neg, 3.0)
    upstream_is_a_factor(student.Inv, 2.0)


@visible("functions.arithmetic", section=BOX)
def inverse_of_zero(student: SimpleNamespace) -> None:
    """Inv of 0 is infinite, as floats have it."""
    hint = "operators.inv knows what 1 / 0 is; call it, as lesson 00 wrote it"
    with hinting(hint, ZeroDivisionError):
        expect(student.Inv.forward(Context(), 0.0), math.inf, hint=hint)


@visible("functions.elementary", section=BOX)
def values_of_elementary(student: SimpleNamespace) -> None:
    """forward returns log a, e^a, sigmoid a and relu a."""
    log_hint = "log is the natural logarithm, to the base e"
    expect(student.Log.forward(Context(), 2.0), math.log(2.0), hint=log_hint)
    expect(student.Exp.forward(Context(), 2.0), math.exp(2.0), hint="e to the power a")
    expect(student.Sigmoid.forward(Context(), 2.0), 1.0 / (1.0 + math.exp(-2.0)), hint="1 / (1 + e^-a)")
    expect([student.ReLU.forward(Context(), a) for a in (-2.0, 3.0)], [0.0, 3.0], hint="0 for what is negative")


@visible("functions.elementary", section=BOX)
def far_values(student: SimpleNamespace) -> None:
    """Nothing raises far out: log 0 is -inf, e^1000 is inf, sigmoid(-1000) is 0."""
    hint = "the functions in operators know what floats do there; call them instead of math"
    with hinting(hint, ValueError, OverflowError):
        expect(student.Log.forward(Context(), 0.0), -math.inf, hint=hint)
        expect(student.Exp.forward(Context(), 1000.0), math.inf, hint=hint)
        expect(student.Sigmoid.forward(Context(), -1000.0), 0.0, hint=hint)


@visible("functions.elementary", section=SAVE)
def derivative_of_log(student: SimpleNamespace) -> None:
    """The derivative of log a is 1 / a."""
    meanings = {
        (1.0 / math.log(4.0),): "this divides by log a: did forward save its output instead of a?",
        (4.0,): "divide by a",
    }
    expect(step(student.Log, 4.0)[1], [0.25], hint="save a in forward, divide by it in backward", when=meanings)


@visible("functions.elementary", section=SAVE)
def derivative_of_exp(student: SimpleNamespace) -> None:
    """The derivative of e^a is e^a."""
    meanings = {
        (2.0 * math.exp(1.0),): "n x^(n-1) is the rule for powers of x; here a is the exponent",
        (2.0 * math.exp(2.0),): "e^a alone, not a e^a: what did forward save?",
    }
    expect(step(student.Exp, 2.0)[1], [math.exp(2.0)], hint="e^a is its own slope, at every a", when=meanings)


@visible("functions.elementary", section=SAVE)
def derivative_of_sigmoid(student: SimpleNamespace) -> None:
    """The derivative of sigmoid is s (1 - s), with s the output."""
    slope = math.exp(-2.0) / (1.0 + math.exp(-2.0)) ** 2
    meanings = {(-2.0,): "this is a (1 - a): put sigmoid(a) in its place"}
    expect(step(student.Sigmoid, 2.0)[1], [slope], hint="s is sigmoid(a), not a", when=meanings)


@visible("functions.elementary", section=SAVE)
def derivative_of_relu(student: SimpleNamespace) -> None:
    """ReLU passes d_output where a is positive, and nothing elsewhere."""
    seen = [step(student.ReLU, a, d_output=d)[1][0] for a, d in [(3.0, -2.0), (-3.0, 2.0), (0.0, 2.0)]]
    meanings = {
        (0.0, 2.0, 2.0): "a decides, not d_output: what did forward save?",
        (-2.0, 0.0, 2.0): "at a = 0 nothing passes, by convention",
        (-6.0, 0.0, 0.0): "multiply by the slope, 1 or 0, not by the value",
    }
    expect(seen, [-2.0, 0.0, 0.0], hint="tried with a = 3, -3 and 0, and d_output = -2, 2 and 2", when=meanings)


@visible("functions.elementary", section="02 'Slopes multiply'")
def upstream_of_elementary(student: SimpleNamespace) -> None:
    """Every derivative is multiplied by d_output."""
    for function in (student.Log, student.Exp, student.Sigmoid, student.ReLU):
        upstream_is_a_factor(function, 2.0)


@visible("functions.elementary", section=SAVE)
def calls_do_not_mix(student: SimpleNamespace) -> None:
    """Two calls keep their saved values apart."""
    for function in (student.Log, student.Exp, student.Sigmoid):
        alone = [step(function, a)[1] for a in (1.0, 2.0)]
        contexts = [Context(), Context()]
        for ctx, a in zip(contexts, (1.0, 2.0), strict=True):
            function.forward(ctx, a)
        mixed = [as_list(function.backward(ctx, 1.0)) for ctx in contexts]
        expect(mixed, alone, hint="keep values in ctx: the class is shared by all calls")
