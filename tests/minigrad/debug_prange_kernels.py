"""Kernels with prange loops: some with a race planted in them, some correct."""

import linecache
import math

import numpy as np

from minigrad.machine._numba import numba

njit, prange = numba.njit, numba.prange
HELD = np.zeros(4, dtype=np.int32)


# --- helpers, compiled or not, as a tensor library has them ---------------------------------------------------


def index_to_position(index, strides):
    position = 0
    for k in range(len(index)):
        position += index[k] * strides[k]
    return position


@njit
def to_index(ordinal, shape, out_index):
    rest = ordinal + 0
    for k in range(len(shape) - 1, -1, -1):
        out_index[k] = rest % shape[k]
        rest = rest // shape[k]


@njit(inline="always")
def to_index_inlined(ordinal, shape, out_index):
    for k in range(len(shape) - 1, -1, -1):
        out_index[k] = ordinal % shape[k]
        ordinal = ordinal // shape[k]


@njit
def broadcast_index(big_index, big_shape, shape, out_index):
    skip = len(big_shape) - len(shape)
    for k in range(len(shape)):
        out_index[k] = big_index[k + skip] if shape[k] > 1 else 0


def ints(*values):
    return np.array(values, dtype=np.int32)


def layout(array):
    strides = [s // array.itemsize for s in array.strides]
    return array.reshape(-1) if array.flags.c_contiguous else array.base, ints(*array.shape), ints(*strides)


MAP_ARGUMENTS = (*layout(np.zeros((3, 4))), *layout(np.arange(4.0)))


# --- ten planted races ----------------------------------------------------------------------------------------


def map_with_hoisted_buffers(fn):
    fn = njit(fn)

    def _map(out, out_shape, out_strides, in_storage, in_shape, in_strides):
        out_index = np.empty(len(out_shape), np.int32)
        in_index = np.empty(len(in_shape), np.int32)
        for i in prange(len(out)):
            to_index(i, out_shape, out_index)
            broadcast_index(out_index, out_shape, in_shape, in_index)
            out[index_to_position(out_index, out_strides)] = fn(in_storage[index_to_position(in_index, in_strides)])

    return njit(parallel=True)(_map)


@njit(parallel=True)
def add_to_slice(x):
    y = np.zeros(4)
    for i in prange(len(x)):
        y[:] += x[i]
    return y


@njit(parallel=True)
def add_to_element(out, x):
    for i in prange(len(x)):
        out[0] += x[i]


def neighbour(out, x):
    out[:] = x
    for i in prange(1, len(x)):
        out[i] = out[i - 1] + x[i]


def largest_by_if(x):
    best = -1.0
    for i in prange(len(x)):
        if x[i] > best:
            best = x[i]
    return best


def running_sum(out, x):
    total = 0.0
    for i in prange(len(x)):
        total += x[i]
        out[i] = total


def total_not_reset(out, a):
    total = 0.0
    for i in prange(a.shape[0]):
        for j in range(a.shape[1]):
            total += a[i, j]
        out[i] = total


def histogram(counts, bins):
    for i in prange(len(bins)):
        counts[bins[i]] += 1


def flag(found, x):
    for i in prange(len(x)):
        if x[i] > 1.0:
            found[0] = True


def transpose_in_place(a):
    for i in prange(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = a[j, i]


def shifted_views(out, x):
    for i in prange(len(x)):
        out[i] = 2.0 * x[i]


def matmul_swapped(out, a, b):
    for k in prange(a.shape[1]):
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                out[i, j] += a[i, k] * b[k, j]


def helper_loop(out, x):
    fill(out, x)


@njit(parallel=True)
def fill(out, x):
    for i in prange(len(x)):
        out[i // 2] = x[i]


def loop_variable(out, x):
    for i in prange(len(x)):
        if i > 2:
            i = i - 1
        out[i] = x[i]


def inlined_helper(out, x, shape):
    for i in prange(len(x)):
        index = np.empty(len(shape), np.int32)
        to_index_inlined(i, shape, index)
        out[i] = x[i]


def last_value(x):
    last = 0.0
    for i in prange(len(x)):
        last = x[i]
    return last


def buffer_from_outside(out, x):
    for i in prange(len(x)):
        HELD[0] = i
        out[i] = x[HELD[0]]


def array_made_anew(x):
    total = np.zeros(2)
    for i in prange(len(x)):
        total = total + x[i]
    return total


def product_and_sum(x):
    value = 1.0
    for i in prange(len(x)):
        value += x[i]
        value *= 2.0
    return value


def whole_rows(out, x):
    for i in prange(len(x) - 1):
        out[i : i + 2] = x[i]


def hoisted_list(out, x):
    index = [0] * 2
    for i in prange(len(x)):
        index[0] = i
        out[i] = x[index[0]]


def appended(x):
    found = [0.0]
    for i in prange(len(x)):
        found.append(x[i])
    return found


def copied_over(out, x):
    for _ in prange(len(x)):
        np.copyto(out, x)


x8 = np.arange(8.0)
_store = np.arange(10.0)
PLANTED = [
    (map_with_hoisted_buffers(lambda v: 2.0 * v), MAP_ARGUMENTS, {"write-write", "read-write"}, "out_index"),
    (add_to_slice, (x8,), {"write-write", "read-write"}, "y"),
    (add_to_element, (np.zeros(2), x8), {"write-write", "read-write"}, "out"),
    (neighbour, (np.zeros(8), x8), {"read-write"}, "out"),
    (largest_by_if, (x8,), {"carried", "lost"}, "best"),
    (running_sum, (np.zeros(8), x8), {"carried"}, "total"),
    (total_not_reset, (np.zeros(3), np.ones((3, 2))), {"carried"}, "total"),
    (histogram, (np.zeros(3, int), ints(0, 1, 2, 1)), {"write-write", "read-write"}, "counts"),
    (flag, (np.zeros(1, bool), x8), {"write-write"}, "found"),
    (transpose_in_place, (np.arange(9.0).reshape(3, 3),), {"read-write"}, "a"),
    (shifted_views, (_store[:-1], _store[1:]), {"read-write"}, "out"),
    (matmul_swapped, (np.zeros((2, 2)), np.ones((2, 3)), np.ones((3, 2))), {"write-write", "read-write"}, "out"),
    (helper_loop, (np.zeros(8), x8), {"write-write"}, "out"),
    (loop_variable, (np.zeros(8), x8), {"loop variable", "write-write"}, "i"),
    (inlined_helper, (np.zeros(8), x8, ints(2, 4)), {"loop variable"}, "i"),
    (last_value, (x8,), {"lost"}, "last"),
    (buffer_from_outside, (np.zeros(8), x8), {"write-write", "read-write"}, "HELD"),
    (array_made_anew, (x8,), {"carried"}, "total"),
    (product_and_sum, (x8,), {"carried", "lost"}, "value"),
    (whole_rows, (np.zeros(8), x8), {"write-write"}, "out"),
    (hoisted_list, (np.zeros(8), x8), {"write-write", "read-write"}, "index"),
    (appended, (x8,), {"write-write"}, "found"),
    (copied_over, (np.zeros(8), x8), {"write-write"}, "out"),
]


# --- correct kernels ------------------------------------------------------------------------------------------


def tensor_map(fn):
    fn = njit(fn)

    def _map(out, out_shape, out_strides, in_storage, in_shape, in_strides):
        if (
            len(out_shape) == len(in_shape)
            and (out_shape == in_shape).all()
            and np.array_equal(out_strides, in_strides)
        ):
            for i in prange(len(out)):
                out[i] = fn(in_storage[i])
        else:
            for i in prange(len(out)):
                out_index = np.empty(len(out_shape), np.int32)
                in_index = np.empty(len(in_shape), np.int32)
                to_index(i, out_shape, out_index)
                broadcast_index(out_index, out_shape, in_shape, in_index)
                position = index_to_position(out_index, out_strides)
                out[position] = fn(in_storage[index_to_position(in_index, in_strides)])

    return njit(parallel=True)(_map)


def tensor_zip(fn):
    fn = njit(fn)

    def _zip(out, out_shape, out_strides, a_storage, a_shape, a_strides, b_storage, b_shape, b_strides):
        for i in prange(len(out)):
            out_index: np.ndarray = np.zeros(len(out_shape), np.int32)
            a_index, b_index = np.zeros_like(a_shape), np.zeros_like(b_shape)
            to_index(i, out_shape, out_index)
            broadcast_index(out_index, out_shape, a_shape, a_index)
            broadcast_index(out_index, out_shape, b_shape, b_index)
            a = a_storage[index_to_position(a_index, a_strides)]
            b = b_storage[index_to_position(b_index, b_strides)]
            out[index_to_position(out_index, out_strides)] = fn(a, b)

    return njit(parallel=True)(_zip)


def tensor_reduce(fn):
    fn = njit(fn)

    def _reduce(out, out_shape, out_strides, a_storage, a_shape, a_strides, reduce_dim):
        size = a_shape[reduce_dim]
        step = a_strides[reduce_dim]
        for i in prange(len(out)):
            out_index = np.empty(len(out_shape), np.int32)
            to_index(i, out_shape, out_index)
            o = index_to_position(out_index, out_strides)
            j = index_to_position(out_index, a_strides)
            acc = out[o]
            for _ in range(size):
                acc = fn(acc, a_storage[j])
                j += step
            out[o] = acc

    return njit(parallel=True)(_reduce)


@njit(parallel=True)
def matmul(out, out_shape, out_strides, a, a_shape, a_strides, b, b_shape, b_strides):
    a_batch = a_strides[0] if a_shape[0] > 1 else 0
    b_batch = b_strides[0] if b_shape[0] > 1 else 0
    for n in prange(out_shape[0]):
        for i in prange(out_shape[1]):
            for j in range(out_shape[2]):
                acc = 0.0
                row, column = n * a_batch + i * a_strides[1], n * b_batch + j * b_strides[2]
                for _ in range(a_shape[2]):
                    acc += a[row] * b[column]
                    row += a_strides[2]
                    column += b_strides[1]
                out[n * out_strides[0] + i * out_strides[1] + j * out_strides[2]] = acc


@njit(parallel=True)
def reductions(x, a):
    total, product, largest, rows = 0.0, 1.0, -math.inf, np.zeros(2)
    positive = 0.0
    for i in prange(len(x)):
        total += x[i]
        product *= 1.0 + x[i]
        largest = max(largest, x[i])
        rows += a[i]
        if x[i] > 3.0:
            positive = positive + x[i]
    return total, product, largest, rows, positive


def stencil_out_of_place(out, x):
    n = len(x)
    for i in prange(n):
        left = x[i - 1] if i > 0 else 0.0
        right = x[i + 1] if i < n - 1 else 0.0
        out[i] = (left + x[i] + right) / 3.0


def two_dimensions(out, a):
    for i in prange(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = math.exp(a[i, j])


def rows_as_views(out, a):
    flat = out.reshape(-1)
    width = a.shape[1]
    for i in prange(a.shape[0]):
        row = a[i]
        target = flat[i * width : (i + 1) * width]
        target[:] = row - row.max()
        target /= np.sum(np.exp(target))


def one_loop_after_another(out, x):
    scratch = np.empty_like(x)
    for i in prange(len(x)):
        scratch[i] = x[i] * x[i]
    for i in prange(len(x)):
        out[i] = scratch[len(x) - 1 - i]


def private_from_before(out, x):
    value, k = 0.0, 0
    for i in prange(len(x)):
        value = x[i]
        k = 0
        while k < 3:
            value += 1.0
            k += 1
        out[i] = value
    k = 2
    return k


def assigned_in_no_iteration(out, x):
    scale = 2.0
    for i in prange(len(x)):
        if x[i] < 0.0:
            scale = 1.0
        out[i] = scale * x[i]


def even_and_odd(x):
    for i in prange(len(x) // 2):
        x[2 * i], x[2 * i + 1] = x[2 * i + 1], x[2 * i]


def in_helpers(out, x):
    for i in prange(len(x)):
        if i % 3 == 0:
            continue
        out[i] = polynomial(x, i, lambda v: v + 1.0)


@njit
def polynomial(x, i, fn):
    powers = np.ones(4)
    for k in range(1, 4):
        powers[k] = powers[k - 1] * fn(x[i])
    return powers.sum() + sum([p + 0.0 for p in powers])


def histogram_of_each_thread(counts, bins):
    own = np.zeros((numba.get_num_threads(), len(counts)), np.int64)
    for i in prange(len(bins)):
        own[numba.get_thread_id(), bins[i]] += 1
    counts[:] = own.sum(axis=0)


def over_indices(out, a):
    for index in numba.pndindex(a.shape):
        out[index] = -a[index]


_a, _b = np.arange(24.0).reshape(2, 3, 4), np.arange(20.0).reshape(1, 4, 5)
_t = np.arange(12.0).reshape(3, 4).T
CORRECT = [
    (tensor_map(lambda v: math.sqrt(v)), MAP_ARGUMENTS),
    (tensor_map(lambda v: v * 2.0), (*layout(np.zeros((3, 4))), *layout(np.arange(12.0).reshape(3, 4)))),
    (tensor_zip(lambda a, b: a - b), (*layout(np.zeros((4, 3))), *layout(_t), *layout(np.arange(3.0)))),
    (tensor_reduce(lambda a, b: a * b), (*layout(np.ones((3, 1))), *layout(np.arange(12.0).reshape(3, 4)), 1)),
    (matmul, (*layout(np.zeros((2, 3, 5))), *layout(_a), *layout(_b))),
    (reductions, (x8, np.ones((8, 2)))),
    (stencil_out_of_place, (np.zeros(8), x8)),
    (two_dimensions, (np.zeros((3, 4)), np.ones((3, 4)))),
    (rows_as_views, (np.zeros((3, 4)), np.arange(12.0).reshape(3, 4))),
    (one_loop_after_another, (np.zeros(8), x8)),
    (private_from_before, (np.zeros(8), x8)),
    (assigned_in_no_iteration, (np.zeros(8), x8)),
    (even_and_odd, (np.arange(8.0),)),
    (in_helpers, (np.zeros(8), x8)),
    (histogram_of_each_thread, (np.zeros(4, int), ints(0, 1, 2, 1, 3, 3, 3, 1, 1, 1))),
    (over_indices, (np.zeros((2, 3)), np.ones((2, 3)))),
]


def compiled(text):
    """The kernel of a text, which is kept for those who ask for its lines."""
    name = f"<test {len(linecache.cache)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace = {"prange": prange, "np": np}
    exec(compile(text, name, "exec"), namespace)
    return namespace["kernel"]
