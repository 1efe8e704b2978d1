"""The kernels of `minigrad.cuda_ops`, the exercises, at work: what they need to know is taken apart here.

They serve as soon as one of the exercises that they consist of is replaced by a student's. Each kernel gets its arrays'
storages (from the first element on), shapes and strides; shapes and strides are arrays on the device, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from minigrad import cuda_ops
from minigrad.backends.gpu import launching
from minigrad.backends.gpu.array import DeviceArray, allocate

__all__ = [
    "map_into",
    "matmul",
    "reduce_axis",
    "run_map",
    "run_matmul",
    "run_reduce",
    "run_zip",
    "sum_practice",
    "zip_into",
]

Fn = Callable[..., float]
Ints = tuple[int, ...]


def run_map(kernel: Any, out: DeviceArray, x: DeviceArray) -> None:
    """Launch a kernel of `tensor_map`, one thread for each element."""
    if out.size:
        _launch_flat(kernel, out, *_parts(x))


def run_zip(kernel: Any, out: DeviceArray, a: DeviceArray, b: DeviceArray) -> None:
    """Launch a kernel of `tensor_zip`, one thread for each element."""
    if out.size:
        _launch_flat(kernel, out, *_parts(a), *_parts(b))


def _launch_flat(kernel: Any, out: DeviceArray, *parts: Any) -> None:
    threads = cuda_ops.THREADS_PER_BLOCK
    launching.launch(kernel, -(-out.size // threads), threads, *_parts(out), out.size, *parts)


def run_reduce(kernel: Any, out: DeviceArray, x: DeviceArray, axis: int, start: float) -> None:
    """Launch a kernel of `tensor_reduce`, one block for each element of out."""
    if out.size:
        block = launching.block_dim(kernel, cuda_ops.BLOCK_DIM)
        launching.launch(kernel, out.size, block, *_parts(out), out.size, *_parts(x), axis, start)


def run_matmul(kernel: Any, out: DeviceArray, a: DeviceArray, b: DeviceArray) -> None:
    """Launch a kernel of matrix multiplication on stacks of matrices, one block for each tile of each matrix."""
    if out.size:
        tile = launching.block_dim(kernel, cuda_ops.BLOCK_DIM)
        stack, n, m = out.shape
        grid = (-(-m // tile), -(-n // tile), stack)  # x counts columns
        launching.launch(kernel, grid, (tile, tile, 1), *_parts(out), out.size, *_parts(a), *_parts(b))


def _parts(x: DeviceArray) -> tuple[Any, Any, Any]:
    return x.flat, _on_device(x.shape), _on_device(x.strides)


@lru_cache(maxsize=1024)
def _on_device(numbers: Ints) -> Any:
    """Return a tuple as an array on the device; the same few come again and again."""
    return cuda_ops.cuda.to_device(np.array(numbers, dtype=np.int64))


def map_into(out: DeviceArray, fn: Fn, x: DeviceArray) -> DeviceArray:
    """Apply a function of one number to every element of an array that broadcasts to out."""
    run_map(cuda_ops.tensor_map(fn), out, x)
    return out


def zip_into(out: DeviceArray, fn: Fn, a: DeviceArray, b: DeviceArray) -> DeviceArray:
    """Combine two arrays that broadcast to out with a function of two numbers."""
    run_zip(cuda_ops.tensor_zip(fn), out, a, b)
    return out


def reduce_axis(fn: Fn, x: DeviceArray, axis: int, start: float, dtype: np.dtype[Any]) -> DeviceArray:
    """Fold an axis to size 1: a block folds BLOCK_DIM elements, and the blocks' results are folded in turn.

    Args:
        fn: Combines two numbers; the order in which it gets them is not fixed.
        x: An array with at least one element.
        axis: From 0.
        start: The value that changes nothing.
        dtype: The result's.
    """
    kernel = cuda_ops.tensor_reduce(fn)
    block = launching.block_dim(kernel, cuda_ops.BLOCK_DIM)
    while True:
        sizes = list(x.shape)
        sizes[axis] = -(-x.shape[axis] // block)
        out = allocate(sizes, dtype)
        run_reduce(kernel, out, x, axis, start)
        if sizes[axis] == 1:
            return out
        if block == 1:  # a block of one thread would go on forever
            raise ValueError("tensor_reduce: a block of one thread folds nothing; BLOCK_DIM must be at least 2")
        x = out


def sum_practice(x: DeviceArray) -> DeviceArray:
    """Return the sum of each block of an array's elements, computed by the exercise `_sum_practice`."""
    kernel = cuda_ops._sum_practice
    block = launching.block_dim(kernel, cuda_ops.BLOCK_DIM)
    flat = x.ravel()
    out = allocate((-(-flat.size // block),), x.dtype)
    if out.size:
        launching.launch(kernel, out.size, block, out.flat, flat.flat, flat.size)
    return out


def matmul(a: DeviceArray, b: DeviceArray, dtype: np.dtype[Any]) -> DeviceArray:
    """Multiply matrices with the exercise's kernel, which knows stacks of matrices: three axes.

    Args:
        a: Shape (..., n, k).
        b: Shape (..., k, m); the leading axes broadcast.
        dtype: The result's.
    """
    n, m = a.shape[-2], b.shape[-1]
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    out = allocate((math.prod(batch), n, m), dtype)
    run_matmul(cuda_ops._tensor_matrix_multiply, out, _stacked(a, batch), _stacked(b, batch))
    return out.reshape(*batch, n, m)


def _stacked(x: DeviceArray, batch: Ints) -> DeviceArray:
    """Return an array with three axes: a stack of one matrix where that serves all, else one for each product."""
    matrix = x.shape[-2:]
    if math.prod(x.shape[:-2]) == 1:
        return x.reshape(1, *matrix)
    return x.expand(*batch, *matrix).reshape(math.prod(batch), *matrix)
