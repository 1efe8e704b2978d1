"""A backend made of the four kernels that students write: map, zip, reduce and matrix multiplication.

An expression is evaluated operator by operator: one input is a map, two are a zip. What the kernels need to know of an
array - storage, shape, strides - is taken apart here, and nothing else is computed here. The backends `python` and
`teaching` say where their kernels come from.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from minigrad import layout, operators, tensor_data

if TYPE_CHECKING:
    from minigrad.operators import Expression

Array = NDArray[Any]
Kernel = Callable[..., Any]


def broadcast(*shapes: Sequence[int]) -> tuple[int, ...]:
    """Return the shape that shapes broadcast to, by the rule that students write.

    >>> from minigrad.backends.loops import broadcast
    >>> broadcast((4, 1), (3,))
    (4, 3)
    """
    common: Sequence[int] = shapes[0] if shapes else ()
    for shape in shapes[1:]:
        common = tensor_data.shape_broadcast(common, shape)
    return tuple(common)


class LoopBackend(ABC):
    """Backend methods over kernels with MiniTorch's signatures.

    Attributes:
        name: What users call the backend.
    """

    name = "loops"

    @abstractmethod
    def map_kernel(self, fn: Callable[[float], float]) -> Kernel:
        """Return `_map` for a function of one number."""

    @abstractmethod
    def zip_kernel(self, fn: Callable[[float, float], float]) -> Kernel:
        """Return `_zip` for a function of two numbers."""

    @abstractmethod
    def reduce_kernel(self, fn: Callable[[float, float], float]) -> Kernel:
        """Return `_reduce` for a function of two numbers."""

    @abstractmethod
    def matmul(self, a: Array, b: Array) -> Array:
        """Multiply (..., n, k) by (..., k, m). Leading dimensions broadcast."""

    def elementwise(self, expression: Expression, inputs: Sequence[Any], dtype: np.dtype[Any]) -> Array:
        """Evaluate an expression of operators for every element.

        Args:
            expression: ``("in", i)``, ``("const", number)``, or ``(operator, *expressions)``.
            inputs: Arrays, which broadcast, and numbers.
            dtype: Of the result.

        Raises:
            TypeError: If an operator has more than two inputs, and is not known to be made of others.
        """
        inner = np.dtype(dtype) if np.dtype(dtype).kind != "b" else _inner_dtype(inputs)
        arrays = [x if isinstance(x, np.ndarray) else _number(x, inner) for x in inputs]
        shape = broadcast(*map(np.shape, arrays))
        if expression[0] in ("in", "const"):
            expression = ("id", expression)
        return self._evaluate(expression, arrays, inner, np.dtype(dtype), shape)

    def _evaluate(
        self,
        expression: Expression,
        arrays: Sequence[Array],
        inner: np.dtype[Any],
        dtype: np.dtype[Any],
        shape: tuple[int, ...] | None = None,
    ) -> Array:
        """Evaluate an operator, and those inside of it first: each by one kernel, to an array of its own."""
        kernel, *arguments = expression
        if kernel == "in":
            return arrays[arguments[0]]
        if kernel == "const":
            return _number(arguments[0], inner)
        form = operators.FORMS.get(kernel)
        if form is not None and form.in_pairs:  # an operator of three inputs, made of operators of two
            return self._evaluate(_filled(form.in_pairs, arguments), arrays, inner, dtype, shape)
        operands = [arrays[x[1]] if x[0] == "in" else self._evaluate(x, arrays, inner, inner) for x in arguments]
        if len(operands) > 2:
            raise TypeError(f"{kernel} has {len(operands)} inputs; kernels take one (map) or two (zip)")
        fn = getattr(operators, kernel)
        made = self.map_kernel(fn) if len(operands) == 1 else self.zip_kernel(fn)
        out = np.empty(broadcast(*map(np.shape, operands)) if shape is None else shape, dtype)
        return _run(made, out, *operands)

    def reduce(self, kernel: str, x: Array, axes: Sequence[int], dtype: np.dtype[Any]) -> Array:
        """Fold axes away, one after the other.

        Args:
            kernel: "add", "mul", "max" or "min".
            x: Any array.
            axes: The axes, counted from 0, sorted. Without any, the result is a copy.
            dtype: Of the result.
        """
        dtype = np.dtype(dtype)
        if not axes:
            return self.elementwise(("in", 0), [x], dtype)
        made = self.reduce_kernel(getattr(operators, kernel))
        shape, result = list(x.shape), x
        for axis in axes:
            shape[axis] = 1
            out = np.full(shape, start_value(kernel, dtype), dtype)
            result = _run(made, out, result, more=(axis,))
        return result.reshape([n for axis, n in enumerate(x.shape) if axis not in axes])

    def contiguous(self, x: Array) -> Array:
        """Return a fresh copy in row-major order: no kernel is needed, since nothing is computed."""
        return x.copy(order="C")

    def empty(self, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
        """Return a new row-major array with arbitrary elements."""
        return np.empty(tuple(shape), dtype)

    def _multiply(self, kernel: Kernel, a: Array, b: Array, shape: tuple[int, ...]) -> Array:
        out = np.empty(shape, np.result_type(a, b))
        return _run(kernel, out, a, b)


def start_value(kernel: str, dtype: np.dtype[Any]) -> Any:
    """Return the start of a reduction: the element that changes no other one.

    >>> from minigrad.backends.loops import start_value
    >>> start_value("add", np.dtype(np.float64)), start_value("mul", np.dtype(np.float64))
    (0.0, 1.0)
    """
    form = operators.FORMS.get(kernel)
    if form is None or form.start is None:
        folds = " ".join(name for name, form in operators.FORMS.items() if form.start is not None)
        raise ValueError(f"reduce has no start value for {kernel!r}; these operators have one: {folds}")
    if dtype.kind == "f" or math.isfinite(form.start):
        return form.start if dtype.kind == "f" else int(form.start)
    limits = np.iinfo(dtype) if dtype.kind == "i" else None
    lowest, highest = (limits.min, limits.max) if limits else (False, True)
    return lowest if form.start < 0 else highest


def _run(kernel: Kernel, out: Array, *arrays: Array, more: tuple[Any, ...] = ()) -> Array:
    """Call a kernel with the parts of the output and of its inputs, and return the output."""
    if out.size:
        parts = [layout.parts_of(x) or layout.parts_of(np.ascontiguousarray(x)) for x in (out, *arrays)]
        with np.errstate(all="ignore"):  # Python's floats and NumPy's scalars warn of what IEEE 754 defines
            kernel(*itertools.chain(*cast(Any, parts)), *more)
    return out


def _inner_dtype(inputs: Sequence[Any]) -> np.dtype[Any]:
    """Return the dtype of results between the operators of an expression whose result is true or false."""
    floats = [x.dtype for x in inputs if isinstance(x, np.ndarray) and x.dtype.kind == "f"]
    return np.result_type(*floats) if floats else np.dtype(np.float64)


def _number(value: float, inner: Any) -> Array:
    """Return a number as an array without dimensions, which broadcasts to any shape."""
    is_exact = inner.kind == "f" or float(value).is_integer()
    return np.array(value, inner if is_exact else np.float64)


def _filled(pattern: Any, inputs: Sequence[Any]) -> Any:
    if isinstance(pattern, int):
        return inputs[pattern]
    kernel, *arguments = pattern
    return kernel, *[_filled(argument, inputs) for argument in arguments]
