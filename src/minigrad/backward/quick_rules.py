"""Quick twins of the most frequent elementwise rules, on small arrays: no context, and nothing nobody asked for.

Each is called with the gradient of the output and the result, whose inputs are tensors and numbers, and returns one
gradient for each input or None. The tests compare them with the rules in `minigrad.functions`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad import functions
from minigrad.functions import Function

__all__ = ["RULES"]


def _add(d: Any, result: Any) -> Sequence[Any]:
    return d, d


def _sub(d: Any, result: Any) -> Sequence[Any]:
    return d, -d if getattr(result._inputs[1], "requires_grad", False) else None


def _mul(d: Any, result: Any) -> Sequence[Any]:
    a, b = result._inputs
    return (
        d * getattr(b, "_array", b) if getattr(a, "requires_grad", False) else None,
        d * getattr(a, "_array", a) if getattr(b, "requires_grad", False) else None,
    )


def _div(d: Any, result: Any) -> Sequence[Any]:
    a, b = result._inputs
    x, y = getattr(a, "_array", a), getattr(b, "_array", b)
    return (
        d / y if getattr(a, "requires_grad", False) else None,
        -d * ((x / y) / y) if getattr(b, "requires_grad", False) else None,
    )


def _neg(d: Any, result: Any) -> Sequence[Any]:
    return (-d,)


def _exp(d: Any, result: Any) -> Sequence[Any]:
    return (d * result._array,)


def _log(d: Any, result: Any) -> Sequence[Any]:
    return (d / result._inputs[0]._array,)


def _relu(d: Any, result: Any) -> Sequence[Any]:
    # A comparison with the output, which is 0 where the input is not positive, and nan where it is nan.
    return (np.where(result._array == 0.0, d.dtype.type(0), d),)


def _sigmoid(d: Any, result: Any) -> Sequence[Any]:
    y = result._array
    return (d * y * (1.0 - y),)


def _tanh(d: Any, result: Any) -> Sequence[Any]:
    y = result._array
    return (d * (1.0 - y * y),)


def _square(d: Any, result: Any) -> Sequence[Any]:
    return (d * (2.0 * result._inputs[0]._array),)


RULES: dict[type[Function], Callable[[Any, Any], Sequence[Any]]] = {
    functions.Add: _add,
    functions.Sub: _sub,
    functions.Mul: _mul,
    functions.Div: _div,
    functions.Neg: _neg,
    functions.Exp: _exp,
    functions.Log: _log,
    functions.ReLU: _relu,
    functions.Sigmoid: _sigmoid,
    functions.Tanh: _tanh,
    functions.Square: _square,
}
