"""The backend `cuda`: what tensors on a device compute with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import operators
from minigrad.backends.gpu import launching, products, reductions, teaching
from minigrad.backends.gpu.array import DeviceArray, allocate, from_host
from minigrad.backends.gpu.calls import Calls
from minigrad.backends.gpu.expressions import compute_type, evaluate_into
from minigrad.machine import overrides
from minigrad.tensor_data import TensorData

if TYPE_CHECKING:
    from minigrad.operators import Expression

Array = DeviceArray
_KERNELS = overrides.Level("cuda_ops", "tensor_data")
"""Where an exercise is replaced, the kernels of the exercises run."""

INT64, BOOL = np.dtype(np.int64), np.dtype(np.bool_)


class CudaBackend:
    """Computes on a GPU, or where there is none in Python; everything stays on the device until someone asks for it.

    An expression is one kernel. Where an exercise of lesson 08, or the indexing that it stands on, is a student's, the
    kernels of `minigrad.cuda_ops` run instead, one for each operator.

    Raises:
        RuntimeError: If CUDA kernels cannot run here; it says what to do.
    """

    name = "cuda"

    def __init__(self) -> None:
        from minigrad.machine import _numba

        if why := _numba.why_no_cuda():
            raise RuntimeError(f"the backend 'cuda' cannot be used: {why}")

    # --- memory

    def empty(self, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
        """Return an array with arbitrary values."""
        return allocate(shape, dtype)

    def full(self, shape: Sequence[int], value: float, dtype: np.dtype[Any]) -> Array:
        """Return an array with one value everywhere."""
        out = allocate(shape, dtype)
        self.assign(out, value)
        return out

    def from_host(self, array: Any) -> Array:
        """Return a copy of a NumPy array on the device."""
        return from_host(array)

    def from_data(self, data: TensorData) -> Array:
        """Return the array that a `TensorData` describes: a view where its storage is on the device, else a copy."""
        array = data.array
        return array if isinstance(array, DeviceArray) else from_host(array)

    def contiguous(self, x: Array) -> Array:
        """Return a fresh row-major copy."""
        return self.elementwise(("in", 0), (x,), x.dtype)

    def assign(self, target: Array, value: Any) -> None:
        """Write values into an array, also through the strides of a view.

        Args:
            target: What is written; not one whose elements share memory.
            value: A number, a device array or a NumPy array, whose shape broadcasts.
        """
        source = from_host(value) if isinstance(value, np.ndarray | np.generic | list) else value
        if isinstance(source, DeviceArray) and source.storage is target.storage:
            source = self.contiguous(source)  # threads would read what others have already overwritten
        evaluate_into(target, ("in", 0), (source,))

    def calls(self) -> Calls:
        """Return what writes the launches of loops in a generated function."""
        return Calls()

    def synchronize(self) -> None:
        """Wait until the device has done all that it was given: for measuring time."""
        launching.synchronize()

    # --- elementwise

    def elementwise(self, expression: Expression, inputs: Sequence[Any], dtype: np.dtype[Any]) -> Array:
        """Compute an expression of operators for every element.

        Args:
            expression: ``("in", i)``, ``("const", number)`` or ``(operator, *expressions)``.
            inputs: Device arrays, which broadcast; numbers, and NumPy arrays without axes.
            dtype: The result's.

        Raises:
            ValueError: If shapes do not broadcast.
            TypeError: If an input is an array on the host.
        """
        given = _on_device(*inputs)
        shape = np.broadcast_shapes(*(x.shape for x in given if isinstance(x, DeviceArray)))
        out = allocate(shape, dtype)
        if not _KERNELS.is_quick and expression[0] not in ("in", "const"):
            self._node_by_node(out, expression, given)
        else:
            evaluate_into(out, expression, given)
        return out

    def _node_by_node(self, out: Array, expression: Expression, inputs: Sequence[Any]) -> None:
        """Compute an expression with map and zip, an array for each part; three inputs take the fused kernel."""
        name, *arguments = expression
        inside = compute_type(inputs, out.dtype)
        parts = [self._part(argument, inputs, inside) for argument in arguments]
        target = out if out.dtype == inside else allocate(out.shape, inside)
        function = getattr(operators, name)
        if len(parts) == 1:
            teaching.map_into(target, function, parts[0])
        elif len(parts) == 2:
            teaching.zip_into(target, function, *parts)
        else:
            evaluate_into(target, (name, *(("in", i) for i in range(len(parts)))), parts)
        if target is not out:
            evaluate_into(out, ("in", 0), (target,))

    def _part(self, expression: Expression, inputs: Sequence[Any], inside: Any) -> Array:
        name = expression[0]
        if name in ("in", "const"):
            value = inputs[expression[1]] if name == "in" else expression[1]
            return value.astype(inside, copy=False) if isinstance(value, DeviceArray) else self.full((), value, inside)
        used = [inputs[i] for i in sorted(_inputs_of(expression))]
        out = allocate(np.broadcast_shapes(*(x.shape for x in used if isinstance(x, DeviceArray))), inside)
        self._node_by_node(out, expression, inputs)
        return out

    # --- reductions and products

    def reduce(self, kernel: str, x: Array, axes: Sequence[int], dtype: np.dtype[Any]) -> Array:
        """Fold axes away.

        Args:
            kernel: "add", "mul", "max" or "min"; nan wins in the last two.
            x: Any array.
            axes: Sorted, from 0; without any, the result is a copy.
            dtype: The result's.

        Returns:
            A new array without these axes; the start value where nothing is folded.
        """
        dtype, axes = np.dtype(dtype), tuple(axes)
        if not axes:
            return self.elementwise(("in", 0), (x,), dtype)
        if x.size == 0:
            shape = [n for axis, n in enumerate(x.shape) if axis not in axes]
            return self.full(shape, reductions.start_value(kernel, dtype), dtype)
        if _KERNELS.is_quick:
            return reductions.fold(kernel, x, axes, dtype)
        inside = INT64 if dtype == BOOL else dtype
        start = reductions.start_value(kernel, inside)
        shape, out = [n for axis, n in enumerate(x.shape) if axis not in axes], x.astype(inside, copy=False)
        for axis in axes:
            out = teaching.reduce_axis(getattr(operators, kernel), out, axis, start, inside)
        return out.reshape(*shape).astype(dtype, copy=False)

    def matmul(self, a: Array, b: Array) -> Array:
        """Multiply matrices: (..., n, k) by (..., k, m), leading axes broadcast.

        Raises:
            ValueError: If the inner sizes differ.
        """
        a, b = _on_device(a, b)
        if a.shape[-1] != b.shape[-2]:
            raise ValueError(
                f"matmul: {a.shape} times {b.shape}: the last axis of the first has size {a.shape[-1]}, "
                f"the last but one of the second {b.shape[-2]}; they must be equal"
            )
        dtype = np.result_type(a.dtype, b.dtype)
        a, b = a.astype(dtype, copy=False), b.astype(dtype, copy=False)
        if not _KERNELS.is_quick:
            return teaching.matmul(a, b, dtype)
        return products.multiply(a, b, dtype)


def _inputs_of(expression: Expression) -> set[int]:
    if expression[0] == "in":
        return {expression[1]}
    if expression[0] == "const":
        return set()
    return set().union(*map(_inputs_of, expression[1:]))


def _on_device(*inputs: Any) -> list[Any]:
    """Return numbers and device arrays; NumPy's numbers and arrays without axes go to the device."""
    for x in inputs:
        if not isinstance(x, DeviceArray | int | float) and hasattr(x, "to_host"):
            x.to_host()  # of a tensor that has left its vmap or its trace: this says so
    return [_one_on_device(x) for x in inputs]


def _one_on_device(x: Any) -> Any:
    if isinstance(x, DeviceArray | int | float):
        return x
    if getattr(x, "shape", None) == ():
        return from_host(x)
    if isinstance(x, np.ndarray):
        raise TypeError(
            f"an array of shape {x.shape} is on the cpu and others are on the device 'cuda'; move it with .to('cuda')"
        )
    return x
