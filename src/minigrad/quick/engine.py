"""Quick forms of `engine.unbroadcast`: gradients that are arrays, added up to the shape of an input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import backends
from minigrad.backends import arrays
from minigrad.backends.arrays import Array
from minigrad.backward.steps import sums
from minigrad.machine import overrides

if TYPE_CHECKING:
    from minigrad.operators import Expression

SHOWS = ("engine.unbroadcast",)


def evaluate_and_sum(
    expression: Expression, inputs: Sequence[Array | float], shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Array:
    """Compute an expression and add it up to a shape that broadcasts to its own, in one pass where possible."""
    first = inputs[0]
    if first.__class__ is np.ndarray and backends.is_quick():
        for x in inputs:
            if x.__class__ is not float and not (x.__class__ is np.ndarray and x.shape == shape and x.dtype is dtype):
                break
        else:  # the most frequent case, without detours
            return backends.quickest().elementwise(expression, inputs, dtype)
    full_shape = np.broadcast_shapes(*[x.shape for x in inputs if hasattr(x, "shape")])
    if full_shape == shape:
        return arrays.evaluate(expression, inputs, dtype)
    form = getattr(backends.current(*inputs), "reduce_expression", None)
    axes = stretched_axes(full_shape, shape)
    if form is None or arrays.is_small(full_shape) or not backends.is_quick():
        return arrays.reshape(arrays.reduce("add", arrays.evaluate(expression, inputs, dtype), axes), shape)
    return arrays.reshape(form(expression, "add", inputs, axes, dtype), shape)


def stretched_axes(full_shape: Sequence[int], shape: Sequence[int]) -> tuple[int, ...]:
    """Return the axes along which a shape was repeated to become a full shape.

    >>> from minigrad.quick.engine import stretched_axes
    >>> stretched_axes((4, 3), (4, 1)), stretched_axes((4, 3), (3,))
    ((1,), (0,))
    """
    missing = len(full_shape) - len(shape)
    return tuple(axis for axis, n in enumerate(full_shape) if axis < missing or (shape[axis - missing] == 1 and n != 1))


def sum_to(x: Array, shape: tuple[int, ...]) -> Array:
    """Add up an array to a shape that broadcasts to its own.

    Raises:
        ValueError: If it does not.

    >>> from minigrad.quick.engine import sum_to
    >>> sum_to(np.ones((2, 3)), (3,))
    array([2., 2., 2.])
    """
    if x.shape == shape:
        return x
    missing = x.ndim - len(shape)
    x = arrays.reduce("add", x, stretched_axes(x.shape, shape), True)
    if x.shape[missing:] != shape:  # reshape would take whatever has as many elements
        raise ValueError(f"cannot add up an array to shape {shape}: {x.shape} is left where sizes may differ")
    return arrays.reshape(x, shape) if missing else x


for _form in (evaluate_and_sum, sum_to):
    overrides.twin(sums, _form.__name__, _form, unless=("engine",))
