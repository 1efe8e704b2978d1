"""Visible tests of the rules of PyTorch's flags."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

from minigrad.checks.expectation import expect
from minigrad.checks.runner import visible
from minigrad.errors import GraphError
from minigrad.flags import CONSTANT, PARAMETER, RESULT, Flags

KINDS = "06b 'Three kinds of tensors'"
_NAMES = {CONSTANT: "a constant", PARAMETER: "a parameter", RESULT: "a result", None: "nothing"}


def _kind(flags: Callable[[], Flags]) -> str:
    """Return what kind of tensor has the flags that a rule returns, or that it refuses."""
    try:
        found = flags()
    except GraphError:
        return "refused"
    return next((name for kind, name in _NAMES.items() if kind == found), f"{found}, which no tensor has")


@visible("flags.rules", section=KINDS)
def recorded(student: SimpleNamespace) -> None:
    """An operation on a constant and a parameter, or on a result, gives a result."""
    hint = "one input that requires gradients is enough"
    expect(_kind(lambda: student.flags_of_result([CONSTANT, PARAMETER])), "a result", hint=hint)
    expect(_kind(lambda: student.flags_of_result([RESULT])), "a result", hint="a result requires gradients, too")


@visible("flags.rules", section=KINDS)
def not_recorded(student: SimpleNamespace) -> None:
    """From constants alone, inside no_grad(), or by a comparison, there comes a constant."""
    hint = "nothing requires gradients, so nothing is recorded; what no recorded operation made is a leaf"
    expect(_kind(lambda: student.flags_of_result([CONSTANT])), "a constant", hint=hint)
    hint = "recording is off, as inside no_grad()"
    expect(_kind(lambda: student.flags_of_result([PARAMETER], recording=False)), "a constant", hint=hint)
    hint = "floating is False: the truths of a comparison have no slope"
    expect(_kind(lambda: student.flags_of_result([PARAMETER], floating=False)), "a constant", hint=hint)


@visible("flags.rules", section=KINDS)
def parameters_in_place(student: SimpleNamespace) -> None:
    """A parameter refuses a change in place; inside no_grad() it is changed and stays a parameter."""
    hint = "raise GraphError: a leaf that requires gradients cannot be changed while recording is on"
    expect(_kind(lambda: student.flags_after_change(PARAMETER, [CONSTANT])), "refused", hint=hint)
    hint = "where recording is off, only the values change"
    expect(_kind(lambda: student.flags_after_change(PARAMETER, [CONSTANT], recording=False)), "a parameter", hint=hint)
    expect(_kind(lambda: student.flags_after_change(RESULT, [], recording=False)), "a result", hint=hint)


@visible("flags.rules", section=KINDS)
def constants_in_place(student: SimpleNamespace) -> None:
    """A constant becomes a result when a parameter is added to it, and stays a constant with another constant."""
    hint = "its new values depend on a parameter"
    expect(_kind(lambda: student.flags_after_change(CONSTANT, [PARAMETER])), "a result", hint=hint)
    hint = "nothing here requires gradients"
    expect(_kind(lambda: student.flags_after_change(CONSTANT, [CONSTANT])), "a constant", hint=hint)
    expect(_kind(lambda: student.flags_after_change(RESULT, [CONSTANT])), "a result", hint="x itself counts as well")


@visible("flags.rules", section=KINDS)
def told_to_require(student: SimpleNamespace) -> None:
    """A leaf does as requires_grad_ tells it. A result refuses False, and ignores True."""
    hint = "of a leaf the value alone decides"
    expect(_kind(lambda: student.flags_after_requires_grad_(CONSTANT, True)), "a parameter", hint=hint)
    expect(_kind(lambda: student.flags_after_requires_grad_(CONSTANT, False)), "a constant", hint=hint)
    expect(_kind(lambda: student.flags_after_requires_grad_(PARAMETER, True)), "a parameter", hint=hint)
    expect(_kind(lambda: student.flags_after_requires_grad_(PARAMETER, False)), "a constant", hint=hint)
    hint = "a history cannot be taken back: raise GraphError"
    expect(_kind(lambda: student.flags_after_requires_grad_(RESULT, False)), "refused", hint=hint)
    hint = "it requires gradients already, and still has its history"
    expect(_kind(lambda: student.flags_after_requires_grad_(RESULT, True)), "a result", hint=hint)


@visible("flags.rules", section=KINDS)
def gradients_kept(student: SimpleNamespace) -> None:
    """A parameter keeps its gradient, a result does if asked to, a constant gets none."""
    hint = "leaves that require gradients keep theirs; a result keeps its own only if that was asked for"
    expect([bool(student.gets_grad(kind)) for kind in (CONSTANT, PARAMETER, RESULT)], [False, True, False], hint=hint)
    hint = "retained is True: retain_grad() was called"
    seen = [bool(student.gets_grad(kind, retained=True)) for kind in (CONSTANT, PARAMETER, RESULT)]
    expect(seen, [False, True, True], hint=hint)
