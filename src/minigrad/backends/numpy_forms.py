"""NumPy's form of every operator: equal to the kernel in `minigrad.operators`, for a whole array at once.

They serve small arrays, where starting a compiled parallel loop takes longer than the work. Whoever uses them switches
NumPy's floating-point warnings off first, once for everything that an operation computes: see `guarded.call`.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from minigrad import operators
from minigrad.elementwise.forms import constants_of

if TYPE_CHECKING:
    from minigrad.operators import Expression


def sigmoid(x: Any) -> Any:
    """Return 1 / (1 + e^-x)."""
    # 1 / (1 + e^-x); where e^-x overflows, 1 / infinity is the right 0.
    y = np.negative(x)
    if y.__class__ is not np.ndarray:
        return 1.0 / (1.0 + np.exp(y))
    np.exp(y, y)
    y += 1.0
    return np.reciprocal(y, y)


def rectified(x: Any) -> Any:
    """Return x where it is positive, else 0; nan stays nan, as in the kernel."""
    return np.maximum(x, x.dtype.type(0))


def chosen(condition: Any, x: Any, y: Any) -> Any:
    """Return x where the condition is not 0, else y."""
    chosen = condition if condition.__class__ is np.ndarray and condition.dtype == bool else condition != 0
    return np.where(chosen, x, y)


_erf = np.frompyfunc(math.erf, 1, 1)
_erfc = np.frompyfunc(math.erfc, 1, 1)


def error_function(x: Any) -> Any:
    """Return the error function, computed in float64."""
    return np.asarray(_erf(np.asarray(x, np.float64)), dtype=np.asarray(x).dtype)


def complementary_error_function(x: Any) -> Any:
    """Return 1 minus the error function, computed in float64."""
    return np.asarray(_erfc(np.asarray(x, np.float64)), dtype=np.asarray(x).dtype)


def gelu(x: Any) -> Any:
    """Return x times the probability of a smaller normal number, computed in float64."""
    wide = np.asarray(x, np.float64)
    return (0.5 * wide * np.asarray(_erfc(wide * -math.sqrt(0.5)), dtype=np.float64)).astype(x.dtype)


def sign_or_zero(x: Any) -> Any:
    """Return the sign; 0 for nan, where np.sign has nan."""
    return (x > 0).astype(x.dtype) - (x < 0).astype(x.dtype)


def clipped(x: Any, low: Any, high: Any) -> Any:
    """Return x moved into [low, high]."""
    return np.minimum(np.maximum(x, low), high)


def inverse(x: Any) -> Any:
    """Return 1 / x, in the type of x."""
    return np.true_divide(x.dtype.type(1.0), x)


def _named(name: str) -> Callable[..., Any]:
    """Return the function of this module or of NumPy that an operator names as its form."""
    return cast("Callable[..., Any]", globals().get(name) or getattr(np, name))


FORMS = {name: _named(form.numpy) for name, form in operators.FORMS.items() if form.numpy}
"""The NumPy form of each operator that has one."""


def evaluate(expression: Expression, inputs: Sequence[Any]) -> Any:
    """Compute an expression (see `minigrad.backends.arrays.evaluate`), operator by operator."""
    out = _computing(expression, constants_of(expression))(inputs)
    return out if out.__class__ is np.ndarray else np.asarray(out)


@functools.lru_cache(maxsize=4096)
def _computing(expression: Expression, constants: str) -> Callable[[Sequence[Any]], Any]:
    """Return the function that computes an expression, with these constants, from its inputs."""
    kernel, *arguments = expression
    if kernel == "in":
        return operator.itemgetter(arguments[0])
    if kernel == "const":
        return lambda inputs: arguments[0]
    form = FORMS.get(kernel) or functools.partial(_loop, kernel)
    parts = [_computing(argument, constants_of(argument)) for argument in arguments]

    def compute(inputs: Sequence[Any]) -> Any:
        values = [part(inputs) for part in parts]
        if not any(hasattr(x, "dtype") for x in values):
            values[0] = np.asarray(values[0], float)
        return form(*values)

    return compute


def _loop(kernel: str, *arguments: Any) -> Any:
    """Apply a kernel that has no NumPy form, number by number."""
    dtype = np.result_type(*[x for x in arguments if hasattr(x, "dtype")])
    return np.asarray(np.frompyfunc(getattr(operators, kernel), len(arguments), 1)(*arguments), dtype=dtype)


def reduce(kernel: str, x: Any, axes: tuple[int, ...], keepdims: bool, dtype: np.dtype[Any]) -> Any:
    """Fold axes away. nan passes through max and min."""
    fold: Any = FORMS[kernel]
    out = fold.reduce(x, axis=axes, dtype=dtype, keepdims=keepdims)
    return out if out.__class__ is np.ndarray else np.asarray(out)


def matmul(a: Any, b: Any) -> Any:
    """Multiply matrices."""
    return np.matmul(a, b)
