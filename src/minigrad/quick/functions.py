"""Quick twins of the most frequent elementwise rules, on small arrays: no context, and nothing nobody asked for.

Each is called with the gradient of the output and the result, whose inputs are tensors and numbers, and returns one
gradient for each input or None. The tests compare them with the rules in `minigrad.functions`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from minigrad import functions
from minigrad.backward.steps import output_serves, rules
from minigrad.elementwise.entry import OPS
from minigrad.functions import Function
from minigrad.machine import overrides

if TYPE_CHECKING:
    from minigrad.tensors import Tensor

SHOWS = ("operators.backs", "functions")

Array = NDArray[Any]
Rule = Callable[[Array, "Tensor"], Sequence["Array | None"]]


def _rule_of(function: type[Function]) -> Callable[[Rule], Rule]:
    """Let a quick rule take the place of a function's own, unless a student has written one."""

    def declare(rule: Rule) -> Rule:
        overrides.twin(rules, function, rule, unless=("functions",))
        return rule

    return declare


@_rule_of(functions.Add)
def _add(d: Array, result: Tensor) -> Sequence[Array | None]:
    return d, d


@_rule_of(functions.Sub)
def _sub(d: Array, result: Tensor) -> Sequence[Array | None]:
    return d, -d if getattr(result._inputs[1], "requires_grad", False) else None


@_rule_of(functions.Mul)
def _mul(d: Array, result: Tensor) -> Sequence[Array | None]:
    a, b = result._inputs
    return (
        d * getattr(b, "_array", b) if getattr(a, "requires_grad", False) else None,
        d * getattr(a, "_array", a) if getattr(b, "requires_grad", False) else None,
    )


@_rule_of(functions.Div)
def _div(d: Array, result: Tensor) -> Sequence[Array | None]:
    a, b = result._inputs
    x, y = getattr(a, "_array", a), getattr(b, "_array", b)
    d_x = d / y if getattr(a, "requires_grad", False) else None
    if not getattr(b, "requires_grad", False):
        return d_x, None
    d_y = x / y
    d_y /= y  # in place, as below
    d_y *= -d
    return d_x, d_y


@_rule_of(functions.Neg)
def _neg(d: Array, result: Tensor) -> Sequence[Array | None]:
    return (-d,)


@_rule_of(functions.Exp)
def _exp(d: Array, result: Tensor) -> Sequence[Array | None]:
    return (d * result._array,)


@_rule_of(functions.Log)
def _log(d: Array, result: Tensor) -> Sequence[Array | None]:
    return (d / result._inputs[0]._array,)


@_rule_of(functions.ReLU)
def _relu(d: Array, result: Tensor) -> Sequence[Array | None]:
    # A comparison with the input: the output may have been changed in place, and the rule does not save it.
    return (np.where(result._inputs[0]._array <= 0.0, d.dtype.type(0), d),)


# Where the output is 0, or nan, so was the input cut off, or nan.
overrides.twin(output_serves, functions.ReLU, True, unless=("functions",))


@_rule_of(functions.Sigmoid)
def _sigmoid(d: Array, result: Tensor) -> Sequence[Array | None]:
    y = result._array
    d_x = d * y
    d_x *= 1.0 - y  # in place: with more arrays at once, the C library may fetch fresh memory each time
    return (d_x,)


def _of_the_table(rule: Callable[..., Array], saves: tuple[str, ...]) -> Rule:
    """Return the rule of an entry in `minigrad.elementwise.table` as a rule of arrays: it calls no other function."""
    if saves == ("out",):
        return lambda d, result: (rule(None, d, result._array),)
    return lambda d, result: (rule(None, d, result._inputs[0]._array),)


for _op in OPS.values():
    if _op.frequent and _op.rule is not None:
        _rule_of(getattr(functions, _op.function))(_of_the_table(_op.rule, _op.saves))
