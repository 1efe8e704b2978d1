"""Loops over tensors in plain Python: what every faster kernel must equal.

A kernel gets the *parts* of its tensors: for each one a flat storage, a shape and strides. It finds the place of an
element in three steps, which `minigrad.tensor_data` provides: from a position in the order of counting to an index
(`to_index`), from an index of the result to one of a smaller input (`broadcast_index`), and from an index to a
position in a storage (`index_to_position`).

`tensor_map`, `tensor_zip` and `tensor_reduce` make such kernels from a function of numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from minigrad import tensor_data

__all__ = [
    "Index",
    "MapKernel",
    "ReduceKernel",
    "Shape",
    "Storage",
    "Strides",
    "ZipKernel",
    "tensor_map",
    "tensor_matrix_multiply",
    "tensor_reduce",
    "tensor_zip",
]

Storage = NDArray[Any]
"""A flat array of numbers."""

Shape = NDArray[Any]
"""A flat array of ints: the size of each dimension."""

Strides = NDArray[Any]
"""A flat array of ints: how far one step in each dimension moves in the storage."""

Index = NDArray[Any]
"""A flat array of ints: a place in each dimension."""

MapKernel = Callable[[Storage, Shape, Strides, Storage, Shape, Strides], None]
ZipKernel = Callable[[Storage, Shape, Strides, Storage, Shape, Strides, Storage, Shape, Strides], None]
ReduceKernel = Callable[[Storage, Shape, Strides, Storage, Shape, Strides, int], None]


def tensor_map(fn: Callable[[float], float]) -> MapKernel:
    """Return a kernel that applies fn to every element of a tensor.

    The kernel is `_map(out, out_shape, out_strides, in_storage, in_shape, in_strides)`.
    It writes every element of out once and returns nothing. The input may be smaller
    than the output, and is then broadcast to its shape. Both may have any strides: an
    element stands where its index and the strides say.

    For each place of the output:

    - find its index, and the index in the input that belongs to it;
    - find the two positions in the storages;
    - set out at the one to fn of the input at the other.

    Args:
        fn: One number to one number.

    Returns:
        The kernel. Its out has exactly as many elements as out_shape says; in_shape
        broadcasts to out_shape.
    """

    ### BEGIN SOLUTION
    def _map(
        out: Storage, out_shape: Shape, out_strides: Strides, in_storage: Storage, in_shape: Shape, in_strides: Strides
    ) -> None:
        out_index = np.zeros(len(out_shape), dtype=np.int64)
        in_index = np.zeros(len(in_shape), dtype=np.int64)
        for ordinal in range(len(out)):
            tensor_data.to_index(ordinal, out_shape, out_index)
            tensor_data.broadcast_index(out_index, out_shape, in_shape, in_index)
            out_position = tensor_data.index_to_position(out_index, out_strides)
            in_position = tensor_data.index_to_position(in_index, in_strides)
            out[out_position] = fn(in_storage[in_position])

    return _map
    ### END SOLUTION


def tensor_zip(fn: Callable[[float, float], float]) -> ZipKernel:
    """Return a kernel that combines two tensors, element by element, with fn.

    The kernel is `_zip(out, out_shape, out_strides, a_storage, a_shape, a_strides,
    b_storage, b_shape, b_strides)`. It writes every element of out once and returns
    nothing. Each input is broadcast to the output's shape by itself: their shapes may
    differ, also in the number of dimensions, and all three may have any strides.

    Args:
        fn: Two numbers, from a and from b in this order, to one number.

    Returns:
        The kernel. Its out has exactly as many elements as out_shape says; a_shape and
        b_shape broadcast to out_shape.
    """

    ### BEGIN SOLUTION
    def _zip(
        out: Storage,
        out_shape: Shape,
        out_strides: Strides,
        a_storage: Storage,
        a_shape: Shape,
        a_strides: Strides,
        b_storage: Storage,
        b_shape: Shape,
        b_strides: Strides,
    ) -> None:
        out_index = np.zeros(len(out_shape), dtype=np.int64)
        a_index = np.zeros(len(a_shape), dtype=np.int64)
        b_index = np.zeros(len(b_shape), dtype=np.int64)
        for ordinal in range(len(out)):
            tensor_data.to_index(ordinal, out_shape, out_index)
            tensor_data.broadcast_index(out_index, out_shape, a_shape, a_index)
            tensor_data.broadcast_index(out_index, out_shape, b_shape, b_index)
            a = a_storage[tensor_data.index_to_position(a_index, a_strides)]
            b = b_storage[tensor_data.index_to_position(b_index, b_strides)]
            out[tensor_data.index_to_position(out_index, out_strides)] = fn(a, b)

    return _zip
    ### END SOLUTION


def tensor_reduce(fn: Callable[[float, float], float]) -> ReduceKernel:
    """Return a kernel that folds one dimension into a single element, with fn.

    The kernel is `_reduce(out, out_shape, out_strides, a_storage, a_shape, a_strides,
    reduce_dim)`. The output has the shape of a, with size 1 in the dimension
    reduce_dim. Before the kernel runs, every element of out holds the start value: 0
    for a sum, 1 for a product. The kernel folds the elements into it one after the
    other, from the first to the last: the result so far is the first argument of fn,
    the next element the second. Where the dimension has size 0, the start value is the
    result. All strides are possible.

    Args:
        fn: Two numbers, the result so far and the next element, to the new result.

    Returns:
        The kernel. Its out has exactly as many elements as out_shape says; reduce_dim
        counts from 0.
    """

    ### BEGIN SOLUTION
    def _reduce(
        out: Storage,
        out_shape: Shape,
        out_strides: Strides,
        a_storage: Storage,
        a_shape: Shape,
        a_strides: Strides,
        reduce_dim: int,
    ) -> None:
        index = np.zeros(len(out_shape), dtype=np.int64)
        for ordinal in range(len(out)):
            tensor_data.to_index(ordinal, out_shape, index)
            out_position = tensor_data.index_to_position(index, out_strides)
            for place in range(a_shape[reduce_dim]):
                index[reduce_dim] = place
                element = a_storage[tensor_data.index_to_position(index, a_strides)]
                out[out_position] = fn(out[out_position], element)

    return _reduce
    ### END SOLUTION


def tensor_matrix_multiply(
    out: Storage,
    out_shape: Shape,
    out_strides: Strides,
    a_storage: Storage,
    a_shape: Shape,
    a_strides: Strides,
    b_storage: Storage,
    b_shape: Shape,
    b_strides: Strides,
) -> None:
    """Multiply matrices: the last two dimensions are matrices, those before them are broadcast.

    An element of the output, in row i and column j, is the sum over k of a in row i and column k times b in row k
    and column j.

    Args:
        out: The output's storage; every element is written.
        out_shape: (..., rows, columns).
        out_strides: The output's strides.
        a_storage: The left factor's storage.
        a_shape: (..., rows, inner), broadcasting to the output before the last two dimensions.
        a_strides: The left factor's strides.
        b_storage: The right factor's storage.
        b_shape: (..., inner, columns), broadcasting likewise.
        b_strides: The right factor's strides.
    """
    out_index = np.zeros(len(out_shape), dtype=np.int64)
    a_index = np.zeros(len(a_shape), dtype=np.int64)
    b_index = np.zeros(len(b_shape), dtype=np.int64)
    for ordinal in range(len(out)):
        tensor_data.to_index(ordinal, out_shape, out_index)
        batch = out_index[:-2]
        tensor_data.broadcast_index(batch, out_shape[:-2], a_shape[:-2], a_index[:-2])
        tensor_data.broadcast_index(batch, out_shape[:-2], b_shape[:-2], b_index[:-2])
        a_index[-2], b_index[-1] = out_index[-2], out_index[-1]
        out_position = tensor_data.index_to_position(out_index, out_strides)
        out[out_position] = 0
        for inner in range(a_shape[-1]):
            a_index[-1] = b_index[-2] = inner
            a = a_storage[tensor_data.index_to_position(a_index, a_strides)]
            b = b_storage[tensor_data.index_to_position(b_index, b_strides)]
            out[out_position] += a * b
