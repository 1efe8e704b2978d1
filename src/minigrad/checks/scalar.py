"""Visible tests of the recorder, and of the operators that call it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from minigrad import functions
from minigrad.autodiff import Context, no_grad
from minigrad.checks.expectation import Expectation, expect, expect_that
from minigrad.checks.runner import visible
from minigrad.exercises import install
from minigrad.functions import Function
from minigrad.scalar import Scalar

RECORDER = "02 'The recorder'"
MINUS = "02 'What a minus sign does'"


class Twofold(Function):
    """2a + 3b; saves both."""

    @staticmethod
    def forward(ctx: Context, a: float, b: float) -> float:
        """Save both inputs."""
        ctx.save_for_backward(a, b)
        return 2.0 * a + 3.0 * b

    @staticmethod
    def backward(ctx: Context, d_output: Any) -> Any:
        """The slopes are 2 and 3."""
        return d_output * 2.0, d_output * 3.0


class Larger(Twofold):
    """Whether a is larger, which has no slope."""

    differentiable = False


def recorded(student: SimpleNamespace, function: type[Function], *inputs: Any) -> Scalar:
    """Return what the recorder returns, if it is a Scalar."""
    found = student.record(function, list(inputs))
    if not isinstance(found, Scalar):
        hint = "pack what _forward returns into a new Scalar, and return that"
        raise Expectation(found, None, f"returned a {type(found).__name__}, expected a Scalar", hint, None)
    return found


def kind(x: Scalar) -> str:
    """Return which of the three kinds a Scalar is."""
    return "a constant" if x.is_constant() else "a leaf" if x.is_leaf() else "a result"


def names(inputs: Sequence[Scalar]) -> list[Any]:
    """Return the names of leaves, and the values of what has no name."""
    return [getattr(x, "_name", None) or x.data for x in inputs]


@visible("scalar.record", section=RECORDER)
def function_and_inputs(student: SimpleNamespace) -> None:
    """The result has the value, and remembers the function and its inputs in their order."""
    x, y = Scalar(5.0, name="x"), Scalar(7.0, name="y")
    seen = recorded(student, Twofold, x, y)
    expect(seen.data, 31.0, hint="the value is what _forward returns for the inputs' data")
    expect(kind(seen), "a result", hint="set result.history where an input is a variable")
    history = seen.history
    assert history is not None
    hint = "the history holds the very Scalars that came in: a copy is another variable, whose derivative nobody sees"
    is_there = {id(x), id(y)} <= set(map(id, history.inputs))
    expect_that(is_there, "the history does not hold the very Scalars that came in", hint)
    seen_names, hint = (
        names(history.inputs),
        "History(function, ctx, scalars), with the Scalars in the order of the inputs",
    )
    expect([history.last_fn.__name__, seen_names], ["Twofold", ["x", "y"]], hint=hint)


@visible("scalar.record", section=RECORDER)
def the_context_of_forward(student: SimpleNamespace) -> None:
    """The history has the context that forward was given, and each call has one of its own."""
    x, y = Scalar(5.0), Scalar(7.0)
    first, _second = recorded(student, Twofold, x, y), recorded(student, Twofold, y, y)
    expect(kind(first), "a result", hint="set result.history where an input is a variable")
    ctx: Any = first.history.ctx  # type: ignore[union-attr]
    meanings = {
        (): "this context is not the one that forward was given",
        (7.0, 7.0): "the next call has overwritten it: make a new Context in each call",
    }
    expect(ctx.saved_values, (5.0, 7.0), hint="one new Context() for each call", when=meanings)
    hint = "call function._forward, which notes in ctx how many values came in; forward alone does not"
    expect(len(ctx.values), 2, hint=hint, of="the number of values that the context has noted")


@visible("scalar.record", section=RECORDER)
def a_number_among_the_inputs(student: SimpleNamespace) -> None:
    """A plain number becomes a constant, in its own place."""
    x = Scalar(5.0, name="x")
    seen = recorded(student, Twofold, 7.0, x)
    expect(kind(seen), "a result", hint="one variable among the inputs is enough")
    inputs = seen.history.inputs  # type: ignore[union-attr]
    expect(
        names(inputs), [7.0, "x"], hint="keep the number among the inputs: backward returns a derivative for it, too"
    )
    meanings = {("a leaf", "a leaf"): "Scalar(7.0) is a variable; Scalar(7.0, requires_grad=False) is a constant"}
    expect([kind(each) for each in inputs], ["a constant", "a leaf"], when=meanings)


@visible("scalar.record", section=RECORDER)
def constants_alone(student: SimpleNamespace) -> None:
    """Of constants and numbers alone the result is a constant."""
    meanings = {
        "a leaf": "Scalar(value) is a leaf, a number that you chose: give it requires_grad=False",
        "a result": "nothing is remembered where no input is a variable",
    }
    expect(kind(recorded(student, Twofold, 7.0, Scalar(5.0, requires_grad=False))), "a constant", when=meanings)


@visible("scalar.record", section=RECORDER)
def nothing_under_no_grad(student: SimpleNamespace) -> None:
    """Inside of no_grad the result is a constant, whatever goes in."""
    with no_grad():
        seen = kind(recorded(student, Twofold, Scalar(5.0), Scalar(7.0)))
    meanings = {
        "a leaf": "Scalar(value) is a leaf, a number that you chose: give it requires_grad=False",
        "a result": "ask is_grad_enabled() before you set the history",
    }
    expect(seen, "a constant", when=meanings)


@visible("scalar.record", section=RECORDER)
def nothing_without_a_slope(student: SimpleNamespace) -> None:
    """The result of a function that is not differentiable is a constant."""
    seen = kind(recorded(student, Larger, Scalar(5.0), Scalar(7.0)))
    expect(seen, "a constant", hint="ask function.differentiable before you set the history")


class Remembered(Scalar):
    """What the stand-in for the recorder returns."""

    __slots__ = ()


OPERATIONS: dict[type[Function], Callable[..., float]] = {
    functions.Add: operator.add,
    functions.Sub: operator.sub,
    functions.Mul: operator.mul,
    functions.Div: operator.truediv,
    functions.Neg: operator.neg,
}


def noted(function: type[Function], inputs: Sequence[Any]) -> Scalar:
    """Stand in for the recorder: its results can be told from a Scalar that was made without it."""
    values = [x.data if isinstance(x, Scalar) else x for x in inputs]
    return Remembered(OPERATIONS[function](*values), requires_grad=False)


NO_METHOD = "Python finds no method for it"


def outcome(compute: Callable[[], Any]) -> Any:
    """Return the value of an expression that the recorder made, and a sentence about anything else."""
    with install({"scalar.record": noted}):
        try:
            found = compute()
        except TypeError as error:
            if "unsupported operand" not in str(error):
                raise
            return NO_METHOD
    if isinstance(found, Remembered):
        return found.data
    return f"a {type(found).__name__} that the recorder has not made"


FORGOTTEN = "the value alone has no history: give the box and both operands to operate"


@visible("scalar.Arithmetic", section=MINUS)
def differences(student: SimpleNamespace) -> None:
    """5 - 7 is -2, with Scalars on both sides, and with a number on the right."""
    x, y = Scalar(5.0), Scalar(7.0)
    meanings = {(2.0, 2.0): "this is 7 - 5: self stands on the left"}
    expect([outcome(lambda: x - y), outcome(lambda: x - 7.0)], [-2.0, -2.0], hint=FORGOTTEN, when=meanings)


@visible("scalar.Arithmetic", section=MINUS)
def differences_from_a_number(student: SimpleNamespace) -> None:
    """10 - 7 is 3 also if only the 7 is a Scalar: then self stands on the right."""
    y = Scalar(7.0)
    meanings = {-3.0: "this is 7 - 10: in __rsub__, other stands on the left of the minus sign"}
    expect(outcome(lambda: 10.0 - y), 3.0, hint=FORGOTTEN, when=meanings)


@visible("scalar.Arithmetic", section=MINUS)
def products(student: SimpleNamespace) -> None:
    """Products with a Scalar, and with a number on either side."""
    x, y = Scalar(5.0), Scalar(7.0)
    seen = [outcome(lambda: x * y), outcome(lambda: x * 3.0), outcome(lambda: 3.0 * x)]
    meanings = {(35.0, 15.0, NO_METHOD): "for 3.0 * x Python asks x.__rmul__(3.0), since the float has no answer"}
    expect(seen, [35.0, 15.0, 15.0], hint=FORGOTTEN, when=meanings)
