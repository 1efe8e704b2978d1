"""CUDA kernels: some correct, with what they compute, and some with a mistake planted in them."""

import math

import numpy as np

from minigrad.machine._numba import cuda, numba

SIZE = 8
TILE = 4


# --- correct kernels ------------------------------------------------------------------------------------------


@cuda.jit
def block_sum(out, a, size):
    cache = cuda.shared.array(SIZE, numba.float64)
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    position = cuda.threadIdx.x
    cache[position] = a[i] if i < size else 0.0
    cuda.syncthreads()
    step = SIZE // 2
    while step > 0:
        if position < step:
            cache[position] += cache[position + step]
        cuda.syncthreads()
        step //= 2
    if position == 0:
        out[cuda.blockIdx.x] = cache[0]


@cuda.jit
def tiled_matmul(out, a, b, size):
    a_tile = cuda.shared.array((TILE, TILE), numba.float64)
    b_tile = cuda.shared.array((TILE, TILE), numba.float64)
    i, j = cuda.grid(2)
    y, x = cuda.threadIdx.x, cuda.threadIdx.y
    acc = 0.0
    for start in range(0, size, TILE):
        a_tile[y, x] = a[i, start + x] if i < size and start + x < size else 0.0
        b_tile[y, x] = b[start + y, j] if start + y < size and j < size else 0.0
        cuda.syncthreads()
        for k in range(TILE):
            acc += a_tile[y, k] * b_tile[k, x]
        cuda.syncthreads()
    if i < size and j < size:
        out[i, j] = acc


@cuda.jit
def histogram(counts, bins):
    local = cuda.shared.array(4, numba.int32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if t < 4:
        local[t] = 0
    cuda.syncthreads()
    if i < len(bins):
        cuda.atomic.add(local, bins[i], 1)
    cuda.syncthreads()
    if t < 4:
        cuda.atomic.add(counts, t, local[t])


@cuda.jit
def stencil(out, a):
    window = cuda.shared.array(SIZE + 2, numba.float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    n = a.shape[0]
    window[t + 1] = a[i] if i < n else 0.0
    if t == 0:
        window[0] = a[i - 1] if i > 0 else 0.0
    if t == cuda.blockDim.x - 1:
        window[t + 2] = a[i + 1] if i + 1 < n else 0.0
    cuda.syncthreads()
    if i < n:
        out[i] = window[t] + window[t + 1] + window[t + 2]


@cuda.jit(device=True)
def to_index(ordinal, shape, index):
    for k in range(len(shape) - 1, -1, -1):
        index[k] = ordinal % shape[k]
        ordinal //= shape[k]


def tensor_map(fn):
    fn = cuda.jit(device=True)(fn)

    def _map(out, shape, strides, size, a):
        index = cuda.local.array(4, numba.int32)
        i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        if i >= size:
            return
        to_index(i, shape, index)
        position = 0
        for k in range(len(shape)):
            position += index[k] * strides[k]
        out[position] = fn(a[i]) + 0 * shape[-1]

    return cuda.jit()(_map)


@cuda.jit
def neighbours_by_grid_stride(out, a):
    for i in range(cuda.grid(1), a.shape[0], cuda.gridsize(1)):
        out[i] = math.sqrt(a[i])


@cuda.jit(device=True)
def sum_of_block(cache):
    t = cuda.threadIdx.x
    for power in range(3):
        step = 2**power
        if t % (2 * step) == 0:
            cache[t] = cache[t] + cache[t + step]
        cuda.syncthreads()


@cuda.jit
def barrier_in_helper(out, a):
    cache = cuda.shared.array(SIZE, numba.float32)
    t = cuda.threadIdx.x
    cache[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    sum_of_block(cache)
    if t == 0:
        cuda.atomic.max(out, 0, cache[0])


@cuda.jit
def votes(out, a):
    t = cuda.threadIdx.x
    count = cuda.syncthreads_count(a[t] > 2.0)
    every, some = cuda.syncthreads_and(a[t] > 2.0), cuda.syncthreads_or(a[t] > 2.0)
    out[t] = 100 * count + 10 * every + some


@cuda.jit
def dynamic_memory(out, a):
    cache = cuda.shared.array(0, numba.float64)
    t = cuda.threadIdx.x
    cache[t] = a[t]
    cuda.syncthreads()
    out[t] = cache[cuda.blockDim.x - 1 - t]


x20, x8 = np.arange(20.0), np.arange(8.0)
_a, _b = np.arange(36.0).reshape(6, 6), np.arange(36.0).reshape(6, 6).T
_bins = np.array([0, 1, 3, 3, 3, 0, 1, 3, 2, 3])
_strides = np.array([1, 5])


@cuda.jit
def arrays_on_one_line(out, a):
    first, second = cuda.shared.array(SIZE, numba.float64), cuda.shared.array(SIZE, numba.float64)
    t = cuda.threadIdx.x
    first[t], second[t] = a[t], 0.0
    out[t] = first[t] + second[t]


CORRECT = [
    (arrays_on_one_line, 1, SIZE, (np.zeros(8), x8), x8.tolist()),
    (block_sum, 3, SIZE, (np.zeros(3), x20, 20), [28.0, 92.0, 70.0]),
    (tiled_matmul, (2, 2), (TILE, TILE), (np.zeros((6, 6)), _a, _b, 6), (_a @ _b).tolist()),
    (histogram, 2, SIZE, (np.zeros(4, np.int32), _bins), [2, 2, 1, 5]),
    (stencil, 3, SIZE, (np.zeros(20), np.ones(20)), [2.0] + [3.0] * 18 + [2.0]),
    (tensor_map(lambda v: -v), 3, SIZE, (np.zeros(20), np.array([5, 4]), _strides, 20, x20), None),
    (neighbours_by_grid_stride, 2, 3, (np.zeros(20), x20), np.sqrt(x20).tolist()),
    (barrier_in_helper, 2, SIZE, (np.zeros(1), np.arange(16.0)), [92.0]),
    (votes, 1, SIZE, (np.zeros(8), x8), [501.0] * 8),
]


# --- planted mistakes -----------------------------------------------------------------------------------------


@cuda.jit
def sum_without_first_barrier(out, a):
    cache = cuda.shared.array(SIZE, numba.float64)
    t = cuda.threadIdx.x
    cache[t] = a[t]
    step = SIZE // 2
    while step > 0:
        if t < step:
            cache[t] += cache[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[0] = cache[0]


@cuda.jit
def sum_without_inner_barrier(out, a):
    cache = cuda.shared.array(SIZE, numba.float64)
    t = cuda.threadIdx.x
    cache[t] = a[t]
    cuda.syncthreads()
    step = SIZE // 2
    while step > 0:
        if t < step:
            cache[t] += cache[t + step]
        step //= 2
    if t == 0:
        out[0] = cache[0]


@cuda.jit
def matmul_without_second_barrier(out, a, b, size):
    a_tile = cuda.shared.array((TILE, TILE), numba.float64)
    b_tile = cuda.shared.array((TILE, TILE), numba.float64)
    i, j = cuda.grid(2)
    y, x = cuda.threadIdx.x, cuda.threadIdx.y
    acc = 0.0
    for start in range(0, size, TILE):
        a_tile[y, x] = a[i, start + x] if i < size and start + x < size else 0.0
        b_tile[y, x] = b[start + y, j] if start + y < size and j < size else 0.0
        cuda.syncthreads()
        for k in range(TILE):
            acc += a_tile[y, k] * b_tile[k, x]
    if i < size and j < size:
        out[i, j] = acc


@cuda.jit
def barrier_in_branch(out, a, size):
    cache = cuda.shared.array(SIZE, numba.float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    cache[t] = 0.0
    if i < size:
        cache[t] = a[i]
        cuda.syncthreads()
        out[i] = cache[t]


@cuda.jit
def return_before_barrier(out, a, size):
    i = cuda.grid(1)
    if i >= size:
        return
    out[i] = a[i]
    cuda.syncthreads()


@cuda.jit
def two_barriers(out, a):
    t = cuda.threadIdx.x
    if t % 2:
        cuda.syncthreads()
    else:
        cuda.syncthreads()
    out[t] = a[t]


@cuda.jit
def no_guard(out, a):
    i = cuda.grid(1)
    out[i] = a[i]


@cuda.jit
def guard_too_wide(out, a, size):
    i = cuda.grid(1)
    if i <= size:
        out[i] = a[i]


@cuda.jit
def left_of_the_first(out, a):
    i = cuda.grid(1)
    if i < a.shape[0]:
        out[i] = a[i] - a[i - 1]


@cuda.jit(device=True)
def new_buffer():
    return cuda.shared.array(SIZE, numba.float64)


@cuda.jit
def arrays_of_one_call(out, a):
    first = new_buffer()
    second = new_buffer()
    t = cuda.threadIdx.x
    first[t] = a[t]
    second[t] = 0.0
    out[t] = first[t]


@cuda.jit
def total_of_all(out, a):
    i = cuda.grid(1)
    out[0] += a[i]


@cuda.jit
def same_from_all(out, a):
    out[0] = 1.0


@cuda.jit
def in_place_shift(a):
    i = cuda.grid(1)
    if i + 1 < a.shape[0]:
        a[i] = a[i + 1]


@cuda.jit
def histogram_without_atomics(counts, bins):
    i = cuda.grid(1)
    if i < len(bins):
        counts[bins[i]] += 1


@cuda.jit
def counts_not_cleared(counts, bins):
    local = cuda.shared.array(4, numba.int32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    cuda.atomic.add(local, bins[i], 1)
    cuda.syncthreads()
    if t < 4:
        cuda.atomic.add(counts, t, local[t])


@cuda.jit
def half_filled(out, a):
    cache = cuda.shared.array(SIZE, numba.float64)
    t = cuda.threadIdx.x
    if t < SIZE // 2:
        cache[t] = a[t]
    cuda.syncthreads()
    out[t] = cache[t]


@cuda.jit
def local_not_filled(out, a):
    index = cuda.local.array(2, numba.int32)
    index[0] = cuda.threadIdx.x
    out[index[0]] = a[index[0]] + index[1]
    index[1] = 0


@cuda.jit
def atomic_beside_plain(out, a):
    i = cuda.grid(1)
    cuda.atomic.add(out, 0, a[i])
    a[i] = out[0]


WRITES = {"write-write", "read-write"}
PLANTED = [
    (sum_without_first_barrier, 1, SIZE, (np.zeros(1), x8), {"read-write"}, "cache"),
    (sum_without_inner_barrier, 1, SIZE, (np.zeros(1), x8), {"read-write"}, "cache"),
    (matmul_without_second_barrier, (2, 2), (TILE, TILE), (np.zeros((6, 6)), _a, _b, 6), {"read-write"}, "a_tile"),
    (barrier_in_branch, 2, SIZE, (np.zeros(12), x20, 12), {"barrier"}, ""),
    (return_before_barrier, 2, SIZE, (np.zeros(12), x20, 12), {"barrier"}, ""),
    (two_barriers, 1, SIZE, (np.zeros(8), x8), {"barrier"}, ""),
    (no_guard, 2, SIZE, (np.zeros(12), np.ones(12)), {"out of bounds"}, "out"),
    (guard_too_wide, 2, SIZE, (np.zeros(12), np.ones(12), 12), {"out of bounds"}, "a"),
    (left_of_the_first, 1, SIZE, (np.zeros(8), x8), {"out of bounds"}, "a"),
    (arrays_of_one_call, 1, SIZE, (np.zeros(8), x8), {"alias"}, "second"),
    (total_of_all, 2, SIZE, (np.zeros(1), np.ones(16)), WRITES, "out"),
    (same_from_all, 2, 1, (np.zeros(1), np.ones(16)), {"write-write"}, "out"),
    (in_place_shift, 1, SIZE, (np.arange(8.0),), {"read-write"}, "a"),
    (histogram_without_atomics, 2, SIZE, (np.zeros(4, int), _bins), WRITES, "counts"),
    (counts_not_cleared, 1, SIZE, (np.zeros(4, np.int32), _bins), {"uninitialised"}, "local"),
    (half_filled, 1, SIZE, (np.zeros(8), x8), {"uninitialised"}, "cache"),
    (local_not_filled, 1, SIZE, (np.zeros(8), x8), {"uninitialised"}, "index"),
    (atomic_beside_plain, 1, SIZE, (np.zeros(1), x8), {"read-write"}, "out"),
]
