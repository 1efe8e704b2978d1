"""NumPy's form of every operator: equal to the kernel in `minigrad.operators`, for a whole array at once.

They serve small arrays, where starting a compiled parallel loop takes longer than the work. Whoever uses them switches
NumPy's floating-point warnings off first, once for everything that an operation computes: see `call`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

__all__ = ["FORMS", "evaluate", "ieee", "matmul", "reduce"]


def _sigmoid(x: Any) -> Any:
    # 1 / (1 + e^-x); where e^-x overflows, 1 / infinity is the right 0.
    y = np.negative(x)
    if y.__class__ is not np.ndarray:
        return 1.0 / (1.0 + np.exp(y))
    np.exp(y, y)
    y += 1.0
    return np.reciprocal(y, y)


def _relu(x: Any) -> Any:
    return np.maximum(x, x.dtype.type(0))  # nan stays nan, as in the kernel


def _where(condition: Any, x: Any, y: Any) -> Any:
    chosen = condition if condition.__class__ is np.ndarray and condition.dtype == bool else condition != 0
    return np.where(chosen, x, y)


_erf = np.frompyfunc(math.erf, 1, 1)
_erfc = np.frompyfunc(math.erfc, 1, 1)


def _error_function(x: Any) -> Any:
    return np.asarray(_erf(np.asarray(x, np.float64)), dtype=np.asarray(x).dtype)


def _gelu(x: Any) -> Any:
    wide = np.asarray(x, np.float64)
    return (0.5 * wide * np.asarray(_erfc(wide * -math.sqrt(0.5)), dtype=np.float64)).astype(x.dtype)


def _sign(x: Any) -> Any:
    return (x > 0).astype(x.dtype) - (x < 0).astype(x.dtype)  # 0 for nan, where np.sign has nan


def _clip(x: Any, low: Any, high: Any) -> Any:
    return np.minimum(np.maximum(x, low), high)


FORMS: dict[str, Callable[..., Any]] = {
    "abs": np.absolute,
    "add": np.add,
    "clip": _clip,
    "cos": np.cos,
    "div": np.true_divide,
    "eq": np.equal,
    "erf": _error_function,
    "exp": np.exp,
    "ge": np.greater_equal,
    "gelu": _gelu,
    "gt": np.greater,
    "id": np.positive,
    "inv": lambda x: np.true_divide(x.dtype.type(1.0), x),
    "le": np.less_equal,
    "log": np.log,
    "lt": np.less,
    "max": np.maximum,
    "min": np.minimum,
    "mul": np.multiply,
    "ne": np.not_equal,
    "neg": np.negative,
    "pow": np.power,
    "relu": _relu,
    "sigmoid": _sigmoid,
    "sign": _sign,
    "sin": np.sin,
    "sqrt": np.sqrt,
    "square": np.square,
    "sub": np.subtract,
    "tanh": np.tanh,
    "where": _where,
}


def ieee() -> AbstractContextManager[Any]:
    """Let NumPy follow IEEE 754 without a warning, in a ``with`` block."""
    return np.errstate(all="ignore")


try:  # np.errstate costs five times as much as a small product; NumPy's own switch below it does not
    from numpy._core._multiarray_umath import (  # type: ignore[import-not-found]
        _extobj_contextvar,
        _make_extobj,
    )
except ImportError:  # pragma: no cover (another NumPy: then with the public, slower context)
    silence: Callable[[], Any] | None = None
    speak: Callable[[Any], None] | None = None
else:
    _silent = _make_extobj(all="ignore")

    # Switches floating-point warnings off; what it returns is for `speak`. No function of Python's, to be quick.
    silence = functools.partial(_extobj_contextvar.set, _silent)
    speak = _extobj_contextvar.reset


def call(form: Callable[..., Any], *inputs: Any, **options: Any) -> Any:
    """Apply a NumPy function without floating-point warnings."""
    if silence is None or speak is None:  # pragma: no cover
        with ieee():
            return form(*inputs, **options)
    token = silence()
    try:
        return form(*inputs, **options)
    finally:
        speak(token)


def evaluate(expression: Any, inputs: Sequence[Any]) -> Any:
    """Compute an expression (see `minigrad.backends.arrays.evaluate`), operator by operator."""
    out = _evaluate(expression, inputs)
    return out if out.__class__ is np.ndarray else np.asarray(out)


def _evaluate(expression: Any, inputs: Sequence[Any]) -> Any:
    kernel = expression[0]
    if kernel == "in":
        return inputs[expression[1]]
    if kernel == "const":
        return expression[1]
    arguments = [_evaluate(argument, inputs) for argument in expression[1:]]
    if not any(hasattr(x, "dtype") for x in arguments):
        arguments[0] = np.asarray(arguments[0], float)
    form = FORMS.get(kernel)
    if form is None:
        return _loop(kernel, arguments)
    return form(*arguments)


def _loop(kernel: str, arguments: Sequence[Any]) -> Any:
    """Apply a kernel that has no NumPy form, number by number."""
    from minigrad import operators

    dtype = np.result_type(*[x for x in arguments if hasattr(x, "dtype")])
    return np.asarray(np.frompyfunc(getattr(operators, kernel), len(arguments), 1)(*arguments), dtype=dtype)


_REDUCTIONS: dict[str, Any] = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def reduce(kernel: str, x: Any, axes: tuple[int, ...], keepdims: bool, dtype: Any) -> Any:
    """Fold axes away. nan passes through max and min."""
    out = _REDUCTIONS[kernel].reduce(x, axis=axes, dtype=dtype, keepdims=keepdims)
    return out if out.__class__ is np.ndarray else np.asarray(out)


def matmul(a: Any, b: Any) -> Any:
    """Multiply matrices."""
    return np.matmul(a, b)
