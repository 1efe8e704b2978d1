"""Kernels for an NVIDIA GPU, as one of its threads runs them: map, zip, reduce and matrix multiplication.

A kernel is one function that many threads run at once. Each finds out which one it is (``cuda.blockIdx``,
``cuda.threadIdx``) and does its own small part. Threads come in blocks; those of one block have some fast memory of
their own (``cuda.shared.array``) and can wait for each other (``cuda.syncthreads``).

Kernels are plain Python functions here. `minigrad.backends.gpu.launching` compiles them, and the helper functions that
they call, for the GPU; without one it runs them thread by thread in Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad.machine import _numba
from minigrad.tensor_data import MAX_DIMS, broadcast_index, index_to_position, to_index

__all__ = [
    "BLOCK_DIM",
    "MAX_DIMS",
    "PADDED_DIM",
    "THREADS_PER_BLOCK",
    "TILE_DIM",
    "Kernel",
    "broadcast_index",
    "cuda",
    "index_to_position",
    "numba",
    "tensor_map",
    "tensor_reduce",
    "tensor_zip",
    "to_index",
]

cuda: Any = _numba.cuda
numba: Any = _numba.numba

THREADS_PER_BLOCK = 32
"""Threads in a block of map and zip."""

BLOCK_DIM = 8
"""Threads along a side of a block that uses shared memory, and elements along a side of what it keeps there.

A power of two, so that a block can fold in pairs.
"""

TILE_DIM = 32
"""Threads along a side of the block that turns a tile: as many as run together, so that each row is read at once."""

PADDED_DIM = TILE_DIM + 1
"""Columns of shared memory for a tile whose columns lie in different banks. Inside a kernel a sum is no constant."""

Kernel = Callable[..., None]
"""The function that a launch runs: it writes its result into its first argument."""

# The names of tensor_data are imported one by one, as a lesson's setup cell does it, and not through the module:
# `launch` puts the functions that are installed there in the place of those that a kernel mentions.


def tensor_map(fn: Callable[[float], float]) -> Kernel:
    """Return a CUDA kernel that applies fn to every element of a tensor.

    It takes one thread for each element.

    The kernel is `_map(out, out_shape, out_strides, out_size, in_storage, in_shape,
    in_strides)`. The thread whose number in the whole grid is i computes the element of
    the output that is number i in row-major order: it finds the index, the index in the
    input that belongs to it, and the two positions in the storages.

    The grid has whole blocks only, so there may be more threads than elements: those
    left over touch nothing. The input may be smaller than the output, and is then
    broadcast to its shape. Both may have any strides.

    Args:
        fn: One number to one number.

    Returns:
        The kernel: a function, or what ``cuda.jit`` makes of it. Index buffers are
        ``cuda.local.array(MAX_DIMS, numba.int32)``; `to_index`, `broadcast_index` and
        `index_to_position` can be called as they are.
    """

    ### BEGIN SOLUTION
    def _map(
        out: Any, out_shape: Any, out_strides: Any, out_size: int, in_storage: Any, in_shape: Any, in_strides: Any
    ) -> None:
        out_index = cuda.local.array(MAX_DIMS, numba.int32)
        in_index = cuda.local.array(MAX_DIMS, numba.int32)
        i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        if i < out_size:
            to_index(i, out_shape, out_index)
            broadcast_index(out_index, out_shape, in_shape, in_index)
            position = index_to_position(in_index, in_strides)
            out[index_to_position(out_index, out_strides)] = fn(in_storage[position])

    return _map
    ### END SOLUTION


def tensor_zip(fn: Callable[[float, float], float]) -> Kernel:
    """Return a CUDA kernel that combines two tensors, element by element.

    It takes one thread for each element.

    The kernel is `_zip(out, out_shape, out_strides, out_size, a_storage, a_shape,
    a_strides, b_storage, b_shape, b_strides)`: `tensor_map` with a second input.

    Args:
        fn: Two numbers, from a and from b in this order, to one number.

    Returns:
        The kernel.
    """

    def _zip(
        out: Any,
        out_shape: Any,
        out_strides: Any,
        out_size: int,
        a_storage: Any,
        a_shape: Any,
        a_strides: Any,
        b_storage: Any,
        b_shape: Any,
        b_strides: Any,
    ) -> None:
        out_index = cuda.local.array(MAX_DIMS, numba.int32)
        a_index = cuda.local.array(MAX_DIMS, numba.int32)
        b_index = cuda.local.array(MAX_DIMS, numba.int32)
        i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        if i < out_size:
            to_index(i, out_shape, out_index)
            broadcast_index(out_index, out_shape, a_shape, a_index)
            broadcast_index(out_index, out_shape, b_shape, b_index)
            a = a_storage[index_to_position(a_index, a_strides)]
            b = b_storage[index_to_position(b_index, b_strides)]
            out[index_to_position(out_index, out_strides)] = fn(a, b)

    return _zip


def _pool_practice(out: Any, a: Any, size: int) -> None:
    """Add up each element and the two before it, through shared memory: a CUDA kernel.

    out[i] becomes a[i - 2] + a[i - 1] + a[i], as far as these are there. The thread
    whose number in the whole grid is i reads a[i] from global memory, once, into shared
    memory, all threads of the block wait, and it writes out[i], once. It finds the two
    neighbours in shared memory, where other threads have brought them. Only the first
    two threads of a block do not: theirs were brought by the block before, into its own
    shared memory, so they read them from a, each once.

    Args:
        out: For the sums, as many numbers as in a.
        a: The numbers, one after the other.
        size: How many there are. The last block may have more threads than elements:
            those neither read nor write global memory.

    A block has BLOCK_DIM threads. Shared memory is ``cuda.shared.array(BLOCK_DIM,
    numba.float64)``, and every thread of a block must come to every
    ``cuda.syncthreads()``.
    """
    ### BEGIN SOLUTION
    cache = cuda.shared.array(BLOCK_DIM, numba.float64)
    thread = cuda.threadIdx.x
    i = cuda.blockIdx.x * BLOCK_DIM + thread
    if i < size:
        cache[thread] = a[i]
    cuda.syncthreads()
    if i < size:
        window = cache[thread]
        for back in range(1, 3):
            if thread >= back:
                window += cache[thread - back]
            elif i >= back:
                window += a[i - back]
        out[i] = window
    ### END SOLUTION


def _sum_practice(out: Any, a: Any, size: int) -> None:
    """Add up an array, block by block: a CUDA kernel, to rehearse `tensor_reduce`.

    Block b adds up the elements from b * BLOCK_DIM to (b + 1) * BLOCK_DIM - 1, as far
    as there are any, and writes the sum to out[b]. Each of its threads reads one
    element from global memory, once, into shared memory. Then the threads add up in
    pairs: in each step half as many threads are at work as before, until one sum is
    left. Between the steps all threads of the block wait for each other.

    Args:
        out: One element for each block.
        a: The numbers, one after the other.
        size: How many there are. The last block may have more threads than elements:
            those put 0.0 into shared memory and read nothing, since what shared memory
            holds at first is not known.

    A block has BLOCK_DIM threads. Shared memory is ``cuda.shared.array(BLOCK_DIM,
    numba.float64)``, and every thread of a block must come to every
    ``cuda.syncthreads()``, also those that have nothing to add.
    """
    ### BEGIN SOLUTION
    cache = cuda.shared.array(BLOCK_DIM, numba.float64)
    thread = cuda.threadIdx.x
    i = cuda.blockIdx.x * BLOCK_DIM + thread
    cache[thread] = a[i] if i < size else 0.0
    cuda.syncthreads()
    step = 1
    while step < BLOCK_DIM:
        if thread % (2 * step) == 0:
            cache[thread] += cache[thread + step]
        cuda.syncthreads()
        step *= 2
    if thread == 0:
        out[cuda.blockIdx.x] = cache[0]
    ### END SOLUTION


def _scan_practice(out: Any, a: Any, size: int) -> None:
    """Compute all running totals of an array, block by block: a CUDA kernel.

    Block b looks at the elements from b * BLOCK_DIM to (b + 1) * BLOCK_DIM - 1, as far
    as there are any: out[i] becomes the sum of these elements up to a[i], a[i]
    included.

    Each thread reads one element from global memory, once, and writes one total. In
    between, every thread keeps a total, and the block works in steps, with a distance
    that is 1 at first and doubles: in each step a thread adds the total that the thread
    at this distance before it had at the step's beginning, if there is such a thread.
    It reads at most two places of shared memory in a step.

    Args:
        out: For the totals, as many numbers as in a.
        a: The numbers, one after the other.
        size: How many there are. The last block may have more threads than elements:
            those neither read nor write global memory.

    A block has BLOCK_DIM threads. Shared memory is ``cuda.shared.array(BLOCK_DIM,
    numba.float64)``, and every thread of a block must come to every
    ``cuda.syncthreads()``.
    """
    ### BEGIN SOLUTION
    cache = cuda.shared.array(BLOCK_DIM, numba.float64)
    thread = cuda.threadIdx.x
    i = cuda.blockIdx.x * BLOCK_DIM + thread
    running = a[i] if i < size else 0.0
    step = 1
    while step < BLOCK_DIM:
        cache[thread] = running
        cuda.syncthreads()
        if thread >= step:
            running += cache[thread - step]
        cuda.syncthreads()
        step *= 2
    if i < size:
        out[i] = running
    ### END SOLUTION


def tensor_reduce(fn: Callable[[float, float], float]) -> Kernel:
    """Return a CUDA kernel that folds a tensor along one dimension, with fn.

    It takes one block for each element of the output.

    The kernel is `_reduce(out, out_shape, out_strides, out_size, a_storage, a_shape,
    a_strides, reduce_dim, reduce_value)`. The block whose number is o writes element o
    of the output, in row-major order. Say its index has c in dimension reduce_dim: then
    the block folds the elements of a from c * BLOCK_DIM to (c + 1) * BLOCK_DIM - 1
    along reduce_dim, as far as there are any, at this index otherwise. (If a has at
    most BLOCK_DIM elements along reduce_dim, the output has one, and c is 0. If it has
    more, the kernel is launched again on the output.)

    As in `_sum_practice`, each thread brings one element into shared memory, threads
    without an element put reduce_value there, and the block folds in pairs.

    Args:
        fn: Two numbers to one. The order in which it gets the elements makes no
            difference to it: it is associative and commutative.

    Returns:
        The kernel. Tensors may have any strides; blocks beyond out_size, if there are
        any, touch nothing. reduce_value is the value that changes nothing: 0.0 for a
        sum, 1.0 for a product.
    """

    ### BEGIN SOLUTION
    def _reduce(
        out: Any,
        out_shape: Any,
        out_strides: Any,
        out_size: int,
        a_storage: Any,
        a_shape: Any,
        a_strides: Any,
        reduce_dim: int,
        reduce_value: float,
    ) -> None:
        cache = cuda.shared.array(BLOCK_DIM, numba.float64)
        index = cuda.local.array(MAX_DIMS, numba.int32)
        block = cuda.blockIdx.x
        thread = cuda.threadIdx.x
        if block < out_size:  # the same for all threads of a block: they stay together
            to_index(block, out_shape, index)
            out_position = index_to_position(index, out_strides)
            index[reduce_dim] = index[reduce_dim] * BLOCK_DIM + thread
            if index[reduce_dim] < a_shape[reduce_dim]:
                cache[thread] = a_storage[index_to_position(index, a_strides)]
            else:
                cache[thread] = reduce_value
            cuda.syncthreads()
            step = 1
            while step < BLOCK_DIM:
                if thread % (2 * step) == 0:
                    cache[thread] = fn(cache[thread], cache[thread + step])
                cuda.syncthreads()
                step *= 2
            if thread == 0:
                out[out_position] = cache[0]

    return _reduce
    ### END SOLUTION


def _turn_practice(out: Any, a: Any, size: int) -> None:
    """Transpose a square matrix tile by tile: a CUDA kernel.

    It is a rehearsal of what memory costs. The matrix lies row by row, a[i, j] at
    ``a[i * size + j]``, and out[j, i] becomes a[i, j]. Block (x, y) turns the tile
    of a whose columns begin at x * TILE_DIM and whose rows begin at y * TILE_DIM.

    Threads that are neighbours in x read elements of a that lie side by side, and write
    elements of out that lie side by side. So the tile goes through shared memory: the
    threads bring it in, all of them wait, and each writes an element that another one
    has brought.

    Args:
        out: size * size numbers, which are overwritten.
        a: size * size numbers.
        size: Of the matrix, perhaps no multiple of TILE_DIM. A block has TILE_DIM x
            TILE_DIM threads: what lies outside the matrix is neither read nor written.

    Shared memory is ``cuda.shared.array((TILE_DIM, PADDED_DIM), numba.float32)``: with
    one column more than is used, the elements of a column lie in different banks, as
    those of a row do. Threads of a warp never ask one bank for several elements.
    """
    ### BEGIN SOLUTION
    tile = cuda.shared.array((TILE_DIM, PADDED_DIM), numba.float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    left = cuda.blockIdx.x * TILE_DIM
    top = cuda.blockIdx.y * TILE_DIM
    if top + y < size and left + x < size:
        tile[y, x] = a[(top + y) * size + left + x]
    cuda.syncthreads()
    if left + y < size and top + x < size:
        out[(left + y) * size + top + x] = tile[x, y]
    ### END SOLUTION


def _mm_practice(out: Any, a: Any, b: Any, size: int) -> None:
    """Multiply two small square matrices with one block: a CUDA kernel.

    It is a rehearsal for the next one.

    The matrices lie row by row, a[i, j] at ``a[i * size + j]``. Thread (x, y) of the
    block is responsible for row y and column x.

    Args:
        out: size * size numbers, which are overwritten.
        a: size * size numbers.
        b: size * size numbers.
        size: At most BLOCK_DIM. The block has BLOCK_DIM x BLOCK_DIM threads: those
            outside the matrix write nothing.
    """
    a_shared = cuda.shared.array((BLOCK_DIM, BLOCK_DIM), numba.float64)
    b_shared = cuda.shared.array((BLOCK_DIM, BLOCK_DIM), numba.float64)
    row = cuda.threadIdx.y
    column = cuda.threadIdx.x
    if row < size and column < size:
        a_shared[row, column] = a[row * size + column]
        b_shared[row, column] = b[row * size + column]
    cuda.syncthreads()
    if row < size and column < size:
        total = 0.0
        for k in range(size):
            total += a_shared[row, k] * b_shared[k, column]
        out[row * size + column] = total


def _tensor_matrix_multiply(
    out: Any,
    out_shape: Any,
    out_strides: Any,
    out_size: int,
    a_storage: Any,
    a_shape: Any,
    a_strides: Any,
    b_storage: Any,
    b_shape: Any,
    b_strides: Any,
) -> None:
    """Multiply stacks of matrices with a CUDA kernel, tile by tile.

    Element (z, i, j) of out is the sum over k of a[z, i, k] * b[z, k, j]. A block
    computes one tile of BLOCK_DIM x BLOCK_DIM elements: block (x, y, z) those of matrix
    z with rows from y * BLOCK_DIM and columns from x * BLOCK_DIM on, and thread (x, y)
    of the block the one at row y and column x of the tile. So threads that are
    neighbours in x touch elements that lie side by side in a row, or the same one: of
    a, of b and of out, and in the tiles.

    The block moves along k in steps of BLOCK_DIM. In each step its threads bring one
    tile of a and one tile of b into shared memory, each thread one element of each (0.0
    where the matrix has ended); all threads wait; each adds BLOCK_DIM products, read
    from shared memory only, to a sum of its own; and all wait again, before the next
    step overwrites the tiles. Each thread writes to out once, at the end, if its
    element is there.

    Args:
        out: The storage of the result.
        out_shape: (stack, n, m). Any of these sizes, and k, may be no multiple of
            BLOCK_DIM.
        out_strides: Any strides, as for a and b.
        out_size: stack * n * m.
        a_storage: The storage of a.
        a_shape: (stack, n, k), or (1, n, k) if one matrix serves all of the stack.
        a_strides: One for each dimension.
        b_storage: The storage of b.
        b_shape: (stack, k, m), or (1, k, m).
        b_strides: One for each dimension.
    """
    ### BEGIN SOLUTION
    a_shared = cuda.shared.array((BLOCK_DIM, BLOCK_DIM), numba.float64)
    b_shared = cuda.shared.array((BLOCK_DIM, BLOCK_DIM), numba.float64)
    batch = cuda.blockIdx.z
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    row = cuda.blockIdx.y * BLOCK_DIM + y
    column = cuda.blockIdx.x * BLOCK_DIM + x
    n = a_shape[1]
    depth = a_shape[2]
    m = b_shape[2]
    a_start = batch * a_strides[0] if a_shape[0] > 1 else 0
    b_start = batch * b_strides[0] if b_shape[0] > 1 else 0
    total = 0.0
    for start in range(0, depth, BLOCK_DIM):
        a_shared[y, x] = 0.0
        b_shared[y, x] = 0.0
        if row < n and start + x < depth:
            a_shared[y, x] = a_storage[a_start + row * a_strides[1] + (start + x) * a_strides[2]]
        if start + y < depth and column < m:
            b_shared[y, x] = b_storage[b_start + (start + y) * b_strides[1] + column * b_strides[2]]
        cuda.syncthreads()
        for k in range(BLOCK_DIM):
            total += a_shared[y, k] * b_shared[k, x]
        cuda.syncthreads()
    if row < n and column < m:
        out[batch * out_strides[0] + row * out_strides[1] + column * out_strides[2]] = total
    ### END SOLUTION
