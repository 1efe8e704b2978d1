"""A backend made of the four kernels that students write: map, zip, reduce and matrix multiplication.

An expression is evaluated operator by operator: one input is a map, two are a zip. What the kernels need to know of an
array - storage, shape, strides - is taken apart here, and nothing else is computed here. The backends `python` and
`teaching` say where their kernels come from.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from minigrad import operators, tensor_data

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
    common: Sequence[int] = ()
    for shape in shapes:
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
        arrays = [x for x in inputs if isinstance(x, np.ndarray)]
        shape = broadcast(*[x.shape for x in arrays])
        inner = _inner_dtype(arrays, np.dtype(dtype))
        # Python's floats and NumPy's scalars warn of what IEEE 754 defines.
        with np.errstate(all="ignore"):
            return self._evaluate(expression, inputs, inner, np.dtype(dtype), shape)

    def _evaluate(
        self,
        expression: Expression,
        inputs: Sequence[Any],
        inner: Any,
        dtype: np.dtype[Any],
        shape: tuple[int, ...] | None,
    ) -> Array:
        kernel, *arguments = _made_of_pairs(expression)
        if kernel in ("in", "const"):
            value = inputs[arguments[0]] if kernel == "in" else arguments[0]
            array = value if isinstance(value, np.ndarray) else _number(value, inner)
            return array if shape is None else self._run(self.map_kernel(operators.id), [array], dtype, shape)
        operands = [self._evaluate(each, inputs, inner, inner, None) for each in arguments]
        if shape is None:
            shape = broadcast(*(x.shape for x in operands))
        if len(operands) > 2:
            raise TypeError(f"{kernel} has {len(operands)} inputs; kernels take one (map) or two (zip)")
        fn = getattr(operators, kernel)
        made = self.map_kernel(fn) if len(operands) == 1 else self.zip_kernel(fn)
        return self._run(made, operands, dtype, shape)

    def _run(self, kernel: Kernel, operands: Sequence[Array], dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
        out = self.empty(shape, dtype)
        if out.size:
            parts = _parts(out)
            for x in operands:
                parts += _parts(x)
            kernel(*parts)
        return out

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
            out = self.empty(tuple(shape), dtype)
            out.fill(start_value(kernel, dtype))
            if out.size:
                with np.errstate(all="ignore"):
                    made(*_parts(out), *_parts(result), axis)
            result = out
        return result.reshape([n for axis, n in enumerate(x.shape) if axis not in axes])

    def contiguous(self, x: Array) -> Array:
        """Return a fresh copy in row-major order: no kernel is needed, since nothing is computed."""
        return x.copy(order="C")

    def empty(self, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
        """Return a new row-major array with arbitrary elements."""
        return np.empty(tuple(shape), dtype)

    def _multiply(self, kernel: Kernel, a: Array, b: Array, shape: tuple[int, ...]) -> Array:
        out = self.empty(shape, np.result_type(a, b))
        if out.size:
            with np.errstate(all="ignore"):
                kernel(*_parts(out), *_parts(a), *_parts(b))
        return out


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


def _parts(x: Array) -> tuple[Any, ...]:
    """Return what a kernel gets of an array: the storage from the first element on, shape and strides."""
    shape = np.array(x.shape, np.int64)
    strides, rest = np.divmod(np.array(x.strides, np.int64), x.itemsize)
    if x.size and ((strides < 0) | (rest > 0))[shape > 1].any():
        return _parts(np.ascontiguousarray(x))  # a kernel counts whole elements, and only forwards
    strides = np.maximum(strides, 0)  # NumPy may leave anything for an axis along which nobody steps
    if x.flags.c_contiguous:
        return x.reshape(-1), shape, strides
    length = int((shape - 1) @ strides) + 1 if x.size else 0
    return np.lib.stride_tricks.as_strided(x, (length,), (x.itemsize,)), shape, strides


def _inner_dtype(arrays: Sequence[Array], dtype: np.dtype[Any]) -> Any:
    """Return the dtype of results between the operators of an expression."""
    if dtype.kind != "b":
        return dtype
    floats = [x.dtype for x in arrays if x.dtype.kind == "f"]
    return np.result_type(*floats) if floats else np.dtype(np.float64)


def _number(value: float, inner: Any) -> Array:
    """Return a number as an array without dimensions, which broadcasts to any shape."""
    is_exact = inner.kind == "f" or float(value).is_integer()
    return np.array(value, inner if is_exact else np.float64)


def _made_of_pairs(expression: Expression) -> Any:
    """Write an operator of three inputs as operators of two, where it says how."""
    form = operators.FORMS.get(expression[0])
    return _filled(form.in_pairs, expression[1:]) if form and form.in_pairs else expression


def _filled(pattern: Any, inputs: Sequence[Any]) -> Any:
    if isinstance(pattern, int):
        return inputs[pattern]
    kernel, *arguments = pattern
    return kernel, *[_filled(argument, inputs) for argument in arguments]
