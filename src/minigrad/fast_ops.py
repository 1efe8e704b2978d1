"""The loops of `minigrad.tensor_ops` as kernels that Numba compiles and runs on all cores.

They are written to be read and to be compiled: plain functions, whose helpers are plain functions too.
`minigrad.compiling.compile_kernel` compiles both together, and the backend does so by itself. Called as they are, they
run in Python, line by line, which is how to look for a mistake.

What makes them quick: the outermost loop is a `prange`, so that its iterations are shared out between the cores; where
all layouts agree there is no arithmetic on indices; and nothing that one iteration writes is touched by another one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from minigrad import tensor_data
from minigrad.machine._numba import numba
from minigrad.tensor_ops import MapKernel, ReduceKernel, Shape, Storage, Strides, ZipKernel

__all__ = ["_tensor_matrix_multiply", "is_map", "prange", "tensor_map", "tensor_reduce", "tensor_zip"]

prange = numba.prange


def tensor_map(fn: Callable[[float], float]) -> MapKernel:
    """Return a parallel kernel that applies fn to every element of a tensor.

    The kernel is `_map(out, out_shape, out_strides, in_storage, in_shape, in_strides)`
    and does the same as in lesson 05: the input is broadcast to the output's shape, and
    both may have any strides. It is written for speed:

    - each loop over elements runs in parallel, over `prange`;
    - all indices are NumPy arrays. An array that an iteration writes into belongs to
      that iteration alone;
    - where the two tensors have the same shape and the same strides, it runs over the
      storages without any indices.

    Args:
        fn: One number to one number.

    Returns:
        The kernel, as a plain function or compiled by `njit(parallel=True)`. Its out
        has exactly as many elements as out_shape says; in_shape broadcasts to
        out_shape.
    """

    ### BEGIN SOLUTION
    def _map(
        out: Storage, out_shape: Shape, out_strides: Strides, in_storage: Storage, in_shape: Shape, in_strides: Strides
    ) -> None:
        if len(out_shape) == len(in_shape) and (out_shape == in_shape).all() and (out_strides == in_strides).all():
            for position in prange(len(out)):
                out[position] = fn(in_storage[position])
        else:
            for ordinal in prange(len(out)):
                # Made anew in each iteration: a buffer outside of the loop would be shared by all threads.
                out_index = np.empty(len(out_shape), dtype=np.int64)
                in_index = np.empty(len(in_shape), dtype=np.int64)
                tensor_data.to_index(ordinal, out_shape, out_index)
                tensor_data.broadcast_index(out_index, out_shape, in_shape, in_index)
                out_position = tensor_data.index_to_position(out_index, out_strides)
                out[out_position] = fn(in_storage[tensor_data.index_to_position(in_index, in_strides)])

    return _map
    ### END SOLUTION


def is_map(tensor_map: Callable[..., Callable[..., object]]) -> bool:
    """Decide by trying whether a function does what `tensor_map` should.

    Only the numbers in the output count. The kernel runs in Python, so that an index
    out of bounds raises an error, and no two iterations meet.

    A wrong function may be right for some fn and for some layouts of the input and of
    the output. It may also raise an error: then the answer is False.

    Args:
        tensor_map: The function. Its kernel is called as ``kernel(*parts(out),
            *parts(x))`` for arrays of NumPy, where ``parts(x)`` is
            ``TensorData.of(x).tuple()``: storage, shape and strides. Where your answer
            is graded, that is there, and no ``parts`` of your notebook.

    Returns:
        True if the function is right.
    """
    ### BEGIN SOLUTION
    shapes = [((2, 3), (2, 3)), ((2, 3), (1, 3)), ((2, 2, 3), (2, 3)), ((3,), ()), ((), ())]
    parts_of = tensor_data.TensorData.of
    try:
        for out_shape, shape in shapes:
            for x_order, out_order in ("CC", "CF", "FC", "FF"):
                x = np.array(np.random.default_rng(0).normal(size=shape), order=x_order)  # type: ignore[call-overload]
                out = np.zeros(out_shape, order=out_order)  # type: ignore[call-overload]
                tensor_map(lambda number: 2.0 * number + 1.0)(*parts_of(out).tuple(), *parts_of(x).tuple())
                if not np.array_equal(out, np.broadcast_to(2.0 * x + 1.0, out_shape)):
                    return False
    except Exception:
        return False
    return True
    ### END SOLUTION


def tensor_zip(fn: Callable[[float, float], float]) -> ZipKernel:
    """Return a parallel kernel that combines two tensors, element by element, with fn.

    The kernel is `_zip(out, out_shape, out_strides, a_storage, a_shape, a_strides,
    b_storage, b_shape, b_strides)`: `tensor_map` with a second input.

    Args:
        fn: Two numbers, from a and from b in this order, to one number.

    Returns:
        The kernel, as a plain function or compiled by `njit(parallel=True)`. Its out
        has exactly as many elements as out_shape says; a_shape and b_shape broadcast to
        out_shape.
    """

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
        if (
            len(out_shape) == len(a_shape)
            and len(out_shape) == len(b_shape)
            and (out_shape == a_shape).all()
            and (out_shape == b_shape).all()
            and (out_strides == a_strides).all()
            and (out_strides == b_strides).all()
        ):
            for position in prange(len(out)):
                out[position] = fn(a_storage[position], b_storage[position])
        else:
            for ordinal in prange(len(out)):
                rest, place, a_place, b_place = np.int64(ordinal), 0, 0, 0
                for axis in range(1, len(out_shape) + 1):  # from the last one
                    index, rest = rest % out_shape[-axis], rest // out_shape[-axis]
                    place += index * out_strides[-axis]
                    if axis <= len(a_shape) and a_shape[-axis] > 1:
                        a_place += index * a_strides[-axis]
                    if axis <= len(b_shape) and b_shape[-axis] > 1:
                        b_place += index * b_strides[-axis]
                out[place] = fn(a_storage[a_place], b_storage[b_place])

    return _zip


def tensor_reduce(fn: Callable[[float, float], float]) -> ReduceKernel:
    """Return a parallel kernel that folds one dimension into one element, with fn.

    The kernel is `_reduce(out, out_shape, out_strides, a_storage, a_shape, a_strides,
    reduce_dim)` and does the same as in lesson 05: out has size 1 in the dimension
    reduce_dim and holds the start value; the elements are folded into it from the first
    to the last, the result so far as the first argument of fn; all strides are
    possible. It is written for speed:

    - the main loop, over the elements of out, runs in parallel, over `prange`;
    - all indices are NumPy arrays. An array that an iteration writes into belongs to
      that iteration alone;
    - the inner loop, over the dimension, is quickest without any index: the position
      moves by one stride, and a local variable holds the result so far.

    Args:
        fn: Two numbers, the result so far and the next element, to the new result.

    Returns:
        The kernel, as a plain function or compiled by `njit(parallel=True)`. Its out
        has exactly as many elements as out_shape says; reduce_dim counts from 0.
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
        for ordinal in prange(len(out)):
            index = np.empty(len(out_shape), dtype=np.int64)
            tensor_data.to_index(ordinal, out_shape, index)
            out_position = tensor_data.index_to_position(index, out_strides)
            start = tensor_data.index_to_position(index, a_strides)
            result = out[out_position]
            for place in range(a_shape[reduce_dim]):
                result = fn(result, a_storage[start + place * a_strides[reduce_dim]])
            out[out_position] = result

    return _reduce
    ### END SOLUTION


def _tensor_matrix_multiply(
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
    """Multiply a batch of matrices in parallel: out[n] = a[n] @ b[n] for every n.

    All three have three dimensions and any strides. Where a or b has a batch of size 1,
    its one matrix is used for every n. An element of out, in row i and column j, is the
    sum over k of a in row i and column k times b in row k and column j. It is written
    for speed:

    - a loop around the sums runs in parallel, over `prange`;
    - positions are quickest computed from the strides, without index arrays and calls
      of functions;
    - the inner loop, over k, multiplies once and writes to a local variable only. It is
      written to out after the loop.

    Args:
        out: The output's storage. What it holds before means nothing; every element is
            written.
        out_shape: (batch, rows, columns).
        out_strides: The output's strides.
        a_storage: The left factor's storage.
        a_shape: (batch or 1, rows, inner); inner may be 0, and the sum is then 0.
        a_strides: The left factor's strides.
        b_storage: The right factor's storage.
        b_shape: (batch or 1, inner, columns).
        b_strides: The right factor's strides.
    """
    ### BEGIN SOLUTION
    rows, columns, inner = out_shape[1], out_shape[2], a_shape[2]
    a_batch_stride = a_strides[0] if a_shape[0] > 1 else 0
    b_batch_stride = b_strides[0] if b_shape[0] > 1 else 0
    # One loop over the rows of all matrices: a batch of one has enough of them for every core.
    for row in prange(out_shape[0] * rows):
        n, i = row // rows, row % rows
        for j in range(columns):
            a_position = n * a_batch_stride + i * a_strides[1]
            b_position = n * b_batch_stride + j * b_strides[2]
            total = 0.0
            for _ in range(inner):
                total += a_storage[a_position] * b_storage[b_position]
                a_position += a_strides[2]
                b_position += b_strides[1]
            out[n * out_strides[0] + i * out_strides[1] + j * out_strides[2]] = total
    ### END SOLUTION
