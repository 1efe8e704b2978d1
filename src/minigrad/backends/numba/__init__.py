"""The fast engine of the CPU: loops compiled by LLVM, on NumPy arrays of any layout.

    expressions, vector, intrinsics     what one element costs: generated code, functions without branches, LLVM
    tiles                               sums of products in vector registers
    elementwise, reductions, ...        the loops
    fused, programs, calls              loops of compiled graphs: their text, one kernel of several, its calls
    translating, pipeline               the language of these texts; functions of users and students, by Numba
    compiler, threads, pool             machine code kept on disk, one driver for all cores, buffers used again

LLVM comes with Numba, as do the threads. Numba itself is imported only for a function that somebody else wrote: it
takes a third of a second, and then ten times as long as LLVM for its own work on the types of a kernel.

`backends.geometry` says which loop to run: axes merged, blocks that stay in the cache. Nothing here knows tensors or
gradients, and small arrays never come here: NumPy is quicker for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.machine.packages import require

require("numba")

from minigrad.backends.numba import (  # noqa: E402 (after the sentence on what is missing)
    convolution,
    elementwise,
    pool,
    pooling,
    products,
    reductions,
    scattering,
    softmax,
    ufuncs,
)

if TYPE_CHECKING:
    from minigrad.backends.numba.calls import Calls
    from minigrad.operators import Expression

__all__ = ["NumbaBackend"]

Array = np.ndarray[Any, Any]
Pair = tuple[int, int]


class NumbaBackend:
    """Computes on NumPy arrays with compiled loops on all cores. Results are new and row-major."""

    name = "numba"

    def elementwise(
        self, expression: Expression, inputs: Sequence[Any], dtype: np.dtype[Any], out: Array | None = None
    ) -> Array:
        """Compute an expression of operators for every element. The inputs broadcast.

        Args:
            expression: ``("in", i)``, ``("const", number)`` or ``(operator, *expressions)``.
            inputs: Arrays and Python numbers.
            dtype: The dtype of the result.
            out: Where to put the result: an array of its shape that is none of the inputs, or exactly one of them.
        """
        dtype = np.dtype(dtype)
        if out is None and dtype.kind == "f" and (found := ufuncs.apply(expression, inputs, dtype)) is not None:
            return found
        return elementwise.elementwise(expression, inputs, dtype, out)

    def reduce(self, kernel: str, x: Array, axes: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """Fold axes away with "add", "mul", "max" or "min". nan wins over every other number."""
        return reductions.reduce_expression(("in", 0), kernel, [x], tuple(axes), np.dtype(dtype))

    def reduce_expression(
        self, expression: Expression, kernel: str, inputs: Sequence[Any], axes: tuple[int, ...], dtype: Any
    ) -> Array:
        """Compute an expression and fold axes of it away, in one loop and without an array between."""
        return reductions.reduce_expression(expression, kernel, inputs, tuple(axes), np.dtype(dtype))

    def matmul(self, a: Array, b: Array) -> Array:
        """Multiply matrices in the last two axes. Leading axes broadcast."""
        return products.matmul(a, b)

    def add_rows(self, out: Array, places: Array, rows: Array) -> None:
        """Add each row to the one of out that its place names."""
        scattering.add_rows(out, places, rows)

    def contiguous(self, x: Array) -> Array:
        """Return a fresh row-major copy."""
        return products.contiguous(x)

    def empty(self, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
        """Return an array with arbitrary values. A large one comes from the pool of buffers."""
        return pool.empty(shape, dtype)

    def calls(self) -> Calls:
        """Return what writes the calls of loops in a generated function."""
        from minigrad.backends.numba.calls import Calls

        return Calls()

    def softmax(self, x: Array) -> Array:
        """Return e^x over its sum along the last axis."""
        return softmax.softmax(x)

    def softmax_backward(self, d: Array, y: Array) -> Array:
        """Return the gradient in x, from that of y = softmax(x)."""
        return softmax.softmax_backward(d, y)

    def log_softmax(self, x: Array) -> Array:
        """Return the logarithm of softmax(x) along the last axis."""
        return softmax.log_softmax(x)

    def log_softmax_backward(self, d: Array, y: Array) -> Array:
        """Return the gradient in x, from that of y = log_softmax(x)."""
        return softmax.log_softmax_backward(d, y)

    def conv2d(
        self,
        x: Array,
        weight: Array,
        stride: Pair = (1, 1),
        padding: Pair = (0, 0),
        dilation: Pair = (1, 1),
        groups: int = 1,
    ) -> Array:
        """Return the sums of windows times weights. x is (n, c, h, w), weight (o, c / groups, kh, kw)."""
        return convolution.conv2d(x, weight, stride, padding, dilation, groups)

    def conv2d_backward_input(
        self,
        d: Array,
        weight: Array,
        size: Pair,
        stride: Pair = (1, 1),
        padding: Pair = (0, 0),
        dilation: Pair = (1, 1),
        groups: int = 1,
    ) -> Array:
        """Return the gradient in an input of height and width `size`, from that of the output."""
        return convolution.conv2d_backward_input(d, weight, size, stride, padding, dilation, groups)

    def conv2d_backward_weight(
        self,
        d: Array,
        x: Array,
        kernel: Pair,
        stride: Pair = (1, 1),
        padding: Pair = (0, 0),
        dilation: Pair = (1, 1),
        groups: int = 1,
    ) -> Array:
        """Return the gradient in weights of height and width `kernel`, from that of the output."""
        return convolution.conv2d_backward_weight(d, x, kernel, stride, padding, dilation, groups)

    def max_pool(self, x: Array, kernel: Pair, size: Pair, stride: Pair, dilation: Pair) -> tuple[Array, Array]:
        """Return the largest element of each of `size` windows, and its place in the window. x is (n, c, h, w)."""
        return pooling.max_pool(x, kernel, size, stride, dilation)

    def max_pool_backward(
        self, d: Array, places: Array, kernel: Pair, size: Pair, stride: Pair, dilation: Pair
    ) -> Array:
        """Return the gradient in an image of height and width `size`, from that of the largest elements."""
        return pooling.max_pool_backward(d, places, kernel, size, stride, dilation)

    def avg_pool(self, x: Array, kernel: Pair, size: Pair, stride: Pair, dilation: Pair, divided: bool = True) -> Array:
        """Return the mean of each of `size` windows, or its sum if it is not divided. x is (n, c, h, w)."""
        return pooling.avg_pool(x, kernel, size, stride, dilation, divided)

    def avg_pool_backward(self, d: Array, kernel: Pair, size: Pair, stride: Pair, dilation: Pair) -> Array:
        """Return the gradient in an image of height and width `size`, from that of the means."""
        return pooling.avg_pool_backward(d, kernel, size, stride, dilation)
