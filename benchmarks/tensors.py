"""The programs with tensors. Each takes a library, makes its inputs with it, and returns what is timed.

Forward alone runs on tensors that do not require gradients. Forward and backward starts from leaves without a gradient,
and goes back from a random upstream gradient.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.measure import process_memory

__all__ = [
    "broadcast",
    "chain",
    "conv2d",
    "matmul",
    "operation",
    "sigmoid",
    "small_backward",
    "small_product",
    "softmax",
    "sum_over",
    "teaching_matmul",
]

Run = Callable[[], object]
RANDOM = 1 << 20  # numbers that are drawn; larger arrays repeat them, which takes a tenth of the time


def numbers(*shape: int, dtype: str = "float64", seed: int = 0) -> Any:
    """Return random numbers between -1 and 1."""
    drawn = np.random.default_rng([seed, *shape]).uniform(-1.0, 1.0, min(math.prod(shape), RANDOM))
    return np.resize(drawn.astype(dtype), shape)


def leaves(library: Any, arrays: Sequence[Any], backward: bool) -> list[Any]:
    """Return tensors of arrays; arrays for NumPy itself."""
    if library is np:
        return list(arrays)
    return [library.from_numpy(x).requires_grad_(backward) for x in arrays]


def differentiated(library: Any, compute: Callable[..., Any], inputs: Sequence[Any], backward: bool) -> Run:
    """Return a program that computes, and goes back from a random upstream gradient if it is asked for."""
    if not backward:
        return lambda: compute(*inputs)
    upstream = library.from_numpy(numbers(*compute(*inputs).shape, dtype=str(inputs[0].dtype).split(".")[-1], seed=9))

    def run() -> None:
        for x in inputs:
            x.grad = None
        compute(*inputs).backward(upstream)

    return run


def operation(
    shapes: Sequence[tuple[int, ...]],
    compute: Callable[..., Any],
    backward: bool,
    of_numpy: Callable[..., Any] | None = None,
) -> Callable[[Any], Run]:
    """Any operation in float32 on inputs of these shapes; NumPy may need other words for it."""

    def program(library: Any) -> Run:
        arrays = [numbers(*shape, dtype="float32", seed=k) for k, shape in enumerate(shapes)]
        inputs = leaves(library, arrays, backward)
        if library is np:
            return lambda: (of_numpy or compute)(*inputs)
        return differentiated(library, compute, inputs, backward)

    return program


def sigmoid(size: int, dtype: str, backward: bool) -> Callable[[Any], Run]:
    """The sigmoid of a * b + c, all of one size."""

    def program(library: Any) -> Run:
        inputs = leaves(library, [numbers(size, dtype=dtype, seed=k) for k in range(3)], backward)
        if library is np:
            return lambda: 1.0 / (1.0 + np.exp(-(inputs[0] * inputs[1] + inputs[2])))
        return differentiated(library, lambda a, b, c: (a * b + c).sigmoid(), inputs, backward)

    return program


def broadcast(backward: bool) -> Callable[[Any], Run]:
    """A column times a row."""

    def program(library: Any) -> Run:
        inputs = leaves(library, [numbers(1000, 1), numbers(1, 1000)], backward)
        return differentiated(library, lambda a, b: a * b, inputs, backward)

    return program


def sum_over(dim: int) -> Callable[[Any], Run]:
    """The sums over one axis of a large matrix."""

    def program(library: Any) -> Run:
        (x,) = leaves(library, [numbers(4096, 4096)], False)
        return lambda: x.sum(dim)

    return program


def softmax(size: int, dtype: str, backward: bool) -> Callable[[Any], Run]:
    """The softmax of each row of a square matrix."""

    def program(library: Any) -> Run:
        inputs = leaves(library, [numbers(size, size, dtype=dtype)], backward)
        return differentiated(library, lambda x: x.softmax(1), inputs, backward)

    return program


def matmul(left: tuple[int, ...], right: tuple[int, ...]) -> Callable[[Any], Run]:
    """The product of two matrices, or of batches of them."""

    def program(library: Any) -> Run:
        a, b = leaves(library, [numbers(*left, seed=1), numbers(*right, seed=2)], False)
        return lambda: a @ b

    return program


def teaching_matmul(size: int, tiled: bool) -> Callable[[Any], Run]:
    """The matrix product that students write, or the tiled one, compiled; NumPy's own, which is BLAS, beside it."""

    def program(library: Any) -> Run:
        a, b = numbers(size, size, seed=1), numbers(size, size, seed=2)
        if library is np:
            return lambda: a @ b
        from minigrad import compiling, fast_ops, tiling

        written = compiling.compile_kernel(fast_ops._tensor_matrix_multiply, parallel=True)
        kernel = tiling.tiled_matrix_multiply if tiled else written
        out, shape, strides = np.zeros(size * size), np.array([1, size, size]), np.array([size * size, size, 1])
        rest = [(x.ravel(), shape, strides) for x in (a, b)]
        kernel(out, shape, strides, *rest[0], *rest[1])
        if not np.allclose(out.reshape(size, size), a @ b):
            raise ArithmeticError("the kernel's product is wrong")
        return lambda: kernel(out, shape, strides, *rest[0], *rest[1])

    return program


def conv2d(dtype: str, backward: bool) -> Callable[[Any], Run]:
    """16 images of 8 channels with 16 filters of 3 x 3, zeros around the images."""

    def program(library: Any) -> Run:
        arrays = [numbers(16, 8, 28, 28, dtype=dtype), numbers(16, 8, 3, 3, dtype=dtype)]
        inputs = leaves(library, arrays, backward)
        return differentiated(library, lambda x, w: library.nn.functional.conv2d(x, w, padding=1), inputs, backward)

    return program


def small_product(library: Any) -> Run:
    """One product of four numbers by four."""
    a, b = leaves(library, [numbers(4, seed=1), numbers(4, seed=2)], False)
    return lambda: a * b


def small_backward(library: Any) -> Run:
    """A dot product and its gradient."""
    a, b = leaves(library, [numbers(4, seed=1), numbers(4, seed=2)], True)

    def run() -> None:
        a.grad = b.grad = None
        (a * b).sum().backward()

    return run


def chain(length: int) -> Callable[[Any], Run]:
    """A product of many small tensors, forward and backward."""

    def program(library: Any) -> Run:
        x, factor, upstream = leaves(library, [numbers(4, seed=1), numbers(4, seed=2), np.ones(4)], False)
        x.requires_grad_()

        def run() -> None:
            x.grad = None
            y = x
            for _ in range(length):
                y = y * factor
            y.backward(upstream)

        return run

    return program


def held_by_a_chain(library: Any, length: int) -> float:
    """Return the bytes that one operation of a long chain of small products holds until it is differentiated."""
    x, factor = leaves(library, [numbers(4, seed=1), np.ones(4)], False)
    x.requires_grad_()
    y = x * factor
    before = process_memory()["now"]
    for _ in range(length):
        y = y * factor
    held = (process_memory()["now"] - before) / length
    if not math.isfinite(float(y.sum().item())):
        raise ArithmeticError("the chain's value is not finite")
    return held
